/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * canm_edit.h - a model on its way into a CANM file: first it is planned which channel every curve
 * is and which string every name (canm_plan.c), then the file is put together (canm_write.c).
 */
#ifndef ANIMFS_CANM_EDIT_H
#define ANIMFS_CANM_EDIT_H

#include "codec/canm.h"
#include "codec/index.h"
#include "codec/layout.h"

/* What a curve of the model is: the number of its record, or of its pair, or EMPTY for none. */
#define SLOT_PAIR 0x80000000u
#define EMPTY UINT32_MAX

/* A curve that is another than the channel that was in its place. */
struct pair {
	const struct curve *want;
	uint32_t was, is; /* channels, as numbers of records */
	uint32_t clip, track;
	enum role role;
};

/* Curves that were compared with a channel: the last that was equal, and the last that was not. */
struct compared {
	const struct curve *equal, *other;
};

/* A channel of the new file. The first ones are those of the old file, under their old numbers. */
struct record {
	struct channel is;
	bool changed;
	uint32_t had, users; /* how many roles used it, and how many do */
	uint32_t number;     /* in the new table */
	struct part *keys;
	size_t keys_at; /* in that part */
};

/* A bone name of the new file. */
struct bone {
	size_t text;
	uint32_t users;
	const char *seen; /* a name in the model that was found to be this one */
};

struct string {
	const char *name;
	const uint8_t *units;
	size_t size; /* with the zero at the end */
	size_t order;
	bool used;
	struct part *part;
};

/* An animation of the new file. */
struct target {
	const struct clip *clip;
	uint32_t was; /* its number in the old file, or ANIM_NEW */
	struct entry old;
	size_t first; /* its first track, among those of all clips */
	size_t text;
	int32_t loop;
	uint8_t *rows;
	size_t place; /* of its rows in the old file, or LAYOUT_NEW */
	struct part *part;
};

struct edit {
	struct canm old;
	const struct anim *a;
	struct err *err;
	uint32_t version;
	struct target *targets;
	size_t track_count;
	uint32_t *slots;   /* of each track and role */
	uint32_t *named;   /* of each track: its bone */
	size_t name_count; /* not more different names do the tracks have */
	struct pair *pairs;
	uint32_t pair_count;
	struct record *records;
	uint32_t record_count;
	struct bone *bones;
	uint32_t bone_count;
	struct string *strings;
	size_t string_count;
	struct compared *compared[2]; /* of each old channel: as a vector, as a rotation */
	struct index pair_index, record_index, bone_index, string_index, row_index;
	bool records_indexed;
	struct layout layout;
	struct piece {
		struct part *part;
		uint8_t *bytes;
	} header, channels, clips, names; /* what holds offsets, and is filled in last */
	uint32_t channel_count;
	bool too_far; /* an offset does not fit */
};

/* Memory that lasts as long as the edit. NULL, and the error is set, when there is none. */
void *edit_alloc(struct edit *e, size_t count, size_t size);

/* From the model and the old file, which is read: targets, pairs, records, bones, strings. */
bool edit_plan(struct edit *e);
/* Is this channel in the new file? */
bool edit_keeps(const struct edit *e, uint32_t record);
/* The record that a slot leads to, or EMPTY. */
uint32_t edit_record(const struct edit *e, uint32_t slot);

#endif
