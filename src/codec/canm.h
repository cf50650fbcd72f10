/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * canm.h - shared by decode and encode of CANM: a checked file, and its tables' entries. The format
 * itself is described in canm.c.
 */
#ifndef ANIMFS_CODEC_CANM_H
#define ANIMFS_CODEC_CANM_H

#include "animfs/codec.h"

#define VERSION_EDF5 0x200u
#define VERSION_EDF6 0x300u

#define HEADER_SIZE 0x20
#define CLIP_SIZE 0x1C
#define ROW_SIZE 8
#define NAME_SIZE 4
#define NONE 0xFFFFu      /* number in a row that means no channel */
#define COUNT_MAX 0xFFFFu /* limit on channels, bone names and frames */

/* The members of struct format that CANM files and their containers share. */
#define CANM_FORMAT                                                                                \
	.rate = 60, .length = "m", .many_clips = true, .has_loop = true, .has_frame_time = true,   \
	.has_duration = true, .max_frames = COUNT_MAX

enum kind { KIND_VECTOR, KIND_VECTORS, KIND_QUATERNION, KIND_QUATERNIONS };

struct table {
	uint32_t count;
	int32_t offset;
	size_t at;
};

/* A string: its offset, and its length in code units without the NUL. */
struct text {
	size_t at;
	size_t units;
};

/* A file in which all counts and offsets have been checked. */
struct canm {
	struct arena arena;
	struct bytes src;
	uint32_t version;
	struct table clips, channels, names;
	size_t closed; /* strings that begin before this offset are terminated */
	size_t text_count;
	struct text *texts; /* the strings that are used, by offset */
};

struct channel {
	uint32_t kind, count;
	uint32_t base[4], step[4]; /* float32 values, as bits */
	int32_t offset;
	uint32_t spare;
	const uint8_t *keys; /* stored keys, for channels of kinds 1 and 3 */
};

struct entry {
	int32_t loop;
	size_t name_at;
	float duration, frame_time;
	int32_t frames;
	uint32_t row_count;
	int32_t row_offset;
	size_t rows_at;
};

struct row {
	uint16_t name, channel[ROLE_COUNT];
};

static inline size_t canm_channel_size(uint32_t version)
{
	return version == VERSION_EDF5 ? 0x20 : 0x30;
}

static inline bool kind_is_keyed(uint32_t kind)
{
	return kind & 1;
}

static inline bool kind_is_quaternion(uint32_t kind)
{
	return kind >= KIND_QUATERNION;
}

static inline size_t key_size(uint32_t kind)
{
	return kind == KIND_VECTORS ? 6 : 16;
}

static inline size_t keys_size(const struct channel *c)
{
	return kind_is_keyed(c->kind) ? c->count * key_size(c->kind) : 0;
}

static inline const uint8_t *canm_bytes(const struct canm *f, size_t at)
{
	return f->src.data + at;
}

static inline size_t canm_clip_place(const struct canm *f, uint32_t i)
{
	return f->clips.at + (size_t)i * CLIP_SIZE;
}

/*
 * Gets the place that an offset in the table entry at `entry` points to. False if that is outside
 * the file.
 */
bool canm_follow(struct bytes src, size_t entry, int32_t offset, size_t *at);

/* Checks a whole file. Allocates in f->arena, which the caller releases, also after a failure. */
bool canm_read(struct canm *f, struct bytes src, struct err *err);
/*
 * Gets the size of the CANM file at the beginning of `src`: up to the end of everything that it
 * refers to.
 */
bool canm_extent(struct bytes src, size_t *extent, struct err *err);

struct channel canm_channel(const struct canm *f, uint32_t i);
struct entry canm_entry(const struct canm *f, uint32_t i);
struct row canm_row(const struct canm *f, const struct entry *e, uint32_t i);
size_t canm_name_place(const struct canm *f, uint32_t i);
/*
 * Writes a table entry of a channel: the reverse of reading it. Offsets are written as they are in
 * the struct, but not the name's.
 */
void canm_put_channel(uint32_t version, const struct channel *c, uint8_t *p);
void canm_put_entry(const struct entry *e, uint8_t *p);
void canm_get_words(const uint8_t *p, unsigned count, uint32_t *out);

/* Return the index of the string at an offset, and all strings. */
size_t canm_find_text(const struct canm *f, size_t at);
const char **canm_texts(const struct canm *f, struct arena *arena);

/*
 * canm_curve: the curve of a channel, read as that role. canm_unit: the unit of a curve's values.
 */
struct curve canm_curve(const struct canm *f, uint32_t channel, enum role role);
double canm_unit(enum curve_kind kind);

/* The format, for the codec entry at the end of canm_write.c. */
extern const struct format canm_format;
bool canm_probe(struct bytes src);
struct anim *canm_decode(struct bytes src, const struct hints *hints, struct err *err);

#endif
