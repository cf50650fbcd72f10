/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * owanim_file.h - shared by the parts of the Overwatch codec: a checked file, and its keys. The
 * format is described in owanim.c.
 */
#ifndef ANIMFS_CODEC_OWANIM_FILE_H
#define ANIMFS_CODEC_OWANIM_FILE_H

#include "animfs/codec.h"

#define HEADER_SIZE 80
#define ENTRY_SIZE 32
#define ID_SIZE 4
#define INDEX_MAX 0xFFFFu /* largest index, and number of keys in a list */
#define FRAMES_MAX (INDEX_MAX + 1)
#define NARROW_MAX 255u  /* with up to this many frames, indices have one byte */
#define PAGE_NARROW 254u /* with up to this many keys, if each list has its own width */

/* Offsets of the header's fields. */
enum field_at {
	AT_COUNTER = 0,
	AT_NEWER = 2, /* not zero in headers of later games, which are not supported */
	AT_DURATION = 4,
	AT_FPS = 8,
	AT_BONES = 12,
	AT_FLAG = 14,
	AT_UNKNOWN = 16,
	AT_EFFECT = 24,
	AT_PADDING = 32,
	AT_BONE_LIST = 40,
	AT_TABLE = 48,
	AT_END1 = 56,
	AT_END2 = 64,
	AT_ZERO = 72,
};

/* The lists of a table entry, in the order of the file. */
enum list_kind { LIST_SCALES, LIST_POSITIONS, LIST_ROTATIONS };
#define LIST_COUNT 3

/* What determines the width of an index. */
enum width_rule {
	WIDTH_BY_LIMIT, /* an index is as wide as the number of things that can be indexed requires
			 */
	WIDTH_BY_COUNT, /* an index is as wide as the number of indices in the list requires */
};

/* The interpretation of a file, found by trying (owanim_fit.c). */
struct owfit {
	bool by_frame;   /* entries are frames and indices are bones; otherwise the reverse */
	uint32_t frames; /* number of frames of the clip */
	enum width_rule rule;
	bool wide; /* WIDTH_BY_LIMIT: indices are u16 */
};

/* A file in which all counts and offsets have been checked. */
struct owanim {
	struct arena arena;
	struct bytes src;
	uint16_t bones;
	uint64_t bones_at, table_at; /* offsets of the list of bones and of the table, if the file
					has bones and entries */
	struct owfit fit;
	uint64_t wrong; /* number of indices and bytes that contradict the interpretation */
};

/* A list of a table entry. */
struct owlist {
	uint32_t count;
	bool wide;
	const uint8_t *index, *data; /* arrays of indices and of values, if count is not 0 */
};

/* A key of a bone, and where it is in the file. */
struct owkey {
	uint32_t frame;
	uint32_t place; /* index of the key in its list */
	const uint8_t *data;
};

/* index of the first key of each list, by bone * LIST_COUNT + kind, with one more for the end */
struct owkeys {
	size_t *first; /* by bone * LIST_COUNT + kind; one more for the end */
	struct owkey *keys;
};

static inline uint64_t owanim_u64(const uint8_t *p)
{
	return get_u32(p) | (uint64_t)get_u32(p + 4) << 32;
}

static inline size_t owanim_data_size(enum list_kind kind)
{
	return kind == LIST_POSITIONS ? 12 : 6;
}

static inline uint32_t owanim_entries(const struct owfit *fit, uint32_t bones)
{
	return fit->by_frame ? fit->frames : bones;
}

static inline bool owanim_wide(const struct owfit *fit, uint32_t count)
{
	return fit->rule == WIDTH_BY_LIMIT ? fit->wide : count > PAGE_NARROW;
}

static inline const uint8_t *owanim_entry(const struct owanim *f, uint32_t entry)
{
	return f->src.data + f->table_at + (size_t)entry * ENTRY_SIZE;
}

static inline uint32_t owanim_index(const struct owlist *list, uint32_t i)
{
	/* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): i is below list->count */
	return list->wide ? get_u16(list->index + 2 * (size_t)i) : list->index[i];
}

enum list_kind owanim_kind(enum role role);

/*
 * Sets f->fit to the interpretation with the least evidence against it, and f->wrong. The header
 * must be checked. False and err if the lists lead out of the file in every interpretation.
 */
bool owanim_read(struct owanim *f, struct bytes src, struct err *err);
/*
 * Finds f->fit, the reading with the least evidence against it, and f->wrong. The header was
 * checked. False and err where the lists lead out of the file in every reading.
 */
bool owanim_find_fit(struct owanim *f, struct err *err);

/* Finds where the indices or the data of a list begin. */
bool owanim_follow(const struct owanim *f, uint32_t entry, unsigned field, uint64_t *at);
struct owlist owanim_list(const struct owanim *f, uint32_t entry, enum list_kind kind);
/* Returns a curve of a kind, without keys. */
bool owanim_keys(struct owanim *f, struct owkeys *keys);
/* A curve of a kind, without keys. */
struct curve owanim_curve(enum list_kind kind);

/* The format, for the codec entry at the end of owanim_write.c. */
extern const struct format owanim_format;
bool owanim_probe(struct bytes src);
struct anim *owanim_decode(struct bytes src, const struct hints *hints, struct err *err);

#endif
