/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * ff9anim.h - shared by decode and encode of a Final Fantasy IX block: a checked block, and its
 * parts. The format itself is described in ff9anim.c.
 */
#ifndef ANIMFS_CODEC_FF9ANIM_H
#define ANIMFS_CODEC_FF9ANIM_H

#include "animfs/codec.h"

#define HEADER_SIZE 0x14
#define TRANSLATION_AT 4 /* offset in the header of the record of translations */
#define RECORD_SIZE 8
#define AXES 3
#define FLAG_CONSTANT(axis)                                                                        \
	(1u << (axis)) /* bit of a record's mask: the axis has one value for all frames */
#define MASK_USED 7u

#define FRAMES_MAX 0xFFFFu
#define BONES_MAX 0xFFFFu
/*
 * Limit on bones times frames, since constant values make a short block long. 255 bones over 65535
 * frames are fewer.
 */
#define KEYS_MAX 0x1000000u

/* A bone's angle has two parts, which are stored apart. */
enum part { PART_TRANSLATION, PART_HIGH, PART_LOW };

/* One vector: for each axis the value of all frames, or the place of its stream. */
struct record {
	uint16_t field[AXES], mask;
};

/* A checked block: all tables and streams are inside of it. */
struct block {
	struct bytes src;
	uint16_t word0;
	uint32_t frames, bones;
	size_t high, low; /* offsets of the tables; low 0: there is none */
};

static inline bool is_constant(const struct record *r, unsigned axis)
{
	return r->mask & FLAG_CONSTANT(axis);
}

/* Returns the size of a stream with the values of that many frames. */
static inline size_t stream_size(enum part part, uint32_t frames)
{
	return part == PART_TRANSLATION ? 2 * (size_t)frames
	       : part == PART_HIGH      ? frames
					: ((size_t)frames + 1) / 2;
}

/* Checks a whole block. `bones` is the number of bones if the block does not determine it, or 0. */
bool ff9_read(struct block *b, struct bytes src, uint32_t bones, struct err *err);
/*
 * Returns the record of a bone, or of the translation (bone 0). A missing table gives 0 in all
 * frames.
 */
struct record ff9_record(const struct block *b, enum part part, uint32_t bone);

/* The bytes behind the last part and its padding. */
struct bytes ff9_trailing(const struct block *b);

/* The keys of a curve, u16[3] a frame: steps of a turn, and for a translation steps from -32768. */
#define KEY_SIZE (2 * AXES)
void ff9_translation(const struct block *b, uint8_t *keys);
void ff9_rotation(const struct block *b, uint32_t bone, uint8_t *keys);

/* The format, for the codec entry at the end of ff9anim_write.c. */
extern const struct format ff9anim_format;
bool ff9_probe(struct bytes src);
bool ff9_incomplete(struct bytes src);
struct anim *ff9_decode(struct bytes src, const struct hints *hints, struct err *err);

#endif
