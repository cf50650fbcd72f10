/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * canm_edit.h - encoding a model as CANM: canm_plan.c assigns a channel to each curve and a string
 * to each name, then canm_write.c writes the file.
 */
#ifndef ANIMFS_CODEC_CANM_EDIT_H
#define ANIMFS_CODEC_CANM_EDIT_H

#include "canm.h"
#include "index.h"
#include "layout.h"

/* The stored form of a curve: the index of a record, or of a pair, or EMPTY. */
#define SLOT_PAIR 0x80000000u
#define EMPTY UINT32_MAX

/* A curve that differs from the channel that it was decoded from. */
struct pair {
	const struct curve *want;
	uint32_t was, is; /* old and new channel of the curve, as indices of records */
	uint32_t clip, track;
	enum role role;
};

/*
 * Cached results of comparing curves with a channel: the last curve that was equal, and the last
 * that was not.
 */
struct compared {
	const struct curve *equal, *other;
};

/* A channel of the new file. Those of the old file come first, with their old indices. */
struct record {
	struct channel is;
	bool changed;
	uint32_t had, users; /* number of roles that used the channel in the old file, and that use
				it now */
	uint32_t number;     /* index in the table of the new file */
	struct part *keys;
	size_t keys_at; /* offset of the channel's keys in the part that holds them */
};

/* A bone name of the new file. */
struct bone {
	size_t text;
	uint32_t users;
	const char *seen; /* a name of the model that is known to be equal */
};

struct string {
	const char *name;
	const uint8_t *units;
	size_t size; /* size of the name in bytes, with the NUL */
	size_t order;
	bool used;
	struct part *part;
};

/* An animation of the new file. */
struct target {
	const struct clip *clip;
	uint32_t was; /* index in the old file, or ANIM_NEW */
	struct entry old;
	size_t first; /* index of its first track among those of all clips */
	size_t text;
	int32_t loop;
	uint8_t *rows;
	size_t place; /* offset of its rows in the old file, or LAYOUT_NEW */
	struct part *part;
};

struct edit {
	struct canm old;
	const struct anim *a;
	struct err *err;
	uint32_t version;
	struct target *targets;
	size_t track_count;
	uint32_t *slots;   /* slot of each curve, by track and role */
	uint32_t *named;   /* bone of each track */
	size_t name_count; /* upper limit of the number of different names */
	struct pair *pairs;
	uint32_t pair_count;
	struct record *records;
	uint32_t record_count;
	struct bone *bones;
	uint32_t bone_count;
	struct string *strings;
	size_t string_count;
	struct compared
		*compared[2]; /* for each old channel: results for it as a vector, as a rotation */
	struct index pair_index, record_index, bone_index, string_index, row_index;
	bool records_indexed;
	struct layout layout;
	struct piece {
		struct part *part;
		uint8_t *bytes;
	} header, channels, clips, names; /* parts that contain offsets: filled in last */
	uint32_t channel_count;
	bool too_far; /* an offset does not fit its field */
};

/* Allocates memory that is freed with the edit. NULL, with the error set, when out of memory. */
void *edit_alloc(struct edit *e, size_t count, size_t size);

/* Plans the new file from the model and the old file: targets, pairs, records, bones, strings. */
bool edit_plan(struct edit *e);
/* Is this record part of the new file? */
bool edit_keeps(const struct edit *e, uint32_t record);
/* Returns the record of a slot, or EMPTY. */
uint32_t edit_record(const struct edit *e, uint32_t slot);

#endif
