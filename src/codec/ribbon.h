/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ribbon.h - shared by reading and writing of Vib-Ribbon files. ribbon.c describes the format. */
#ifndef ANIMFS_CODEC_RIBBON_H
#define ANIMFS_CODEC_RIBBON_H

#include "animfs/codec.h"

#define MAGIC 0x8000
#define HEADER_SIZE 6
#define PLACE_SIZE 2
#define PLACE_UNIT 2u
#define PLACE_MAX (PLACE_UNIT * UINT16_MAX)
#define FRAMES_MAX 65531 /* with more, the table would leave no byte for keyframes */
#define OBJECTS 256

#define KEYFRAME_SIZE 2 /* size of a keyframe without its parts */
#define PART_SIZE 6
#define PART_COUNT 3
#define PART_BITS ((1u << PART_COUNT) - 1)

/* The roles of bits 0, 1 and 2 of the flags, and the order of the parts in the file. */
static const enum role part_roles[PART_COUNT] = {ROLE_ROTATION, ROLE_SCALE, ROLE_TRANSLATION};

/* A checked file; src is empty if there is none yet. */
struct ribbon {
	struct bytes src;
	uint32_t frames;
	size_t table_end, end; /* offset of the end of the table, and of the end of the frames */
};

static inline size_t place_field(uint32_t frame)
{
	return HEADER_SIZE + PLACE_SIZE * (size_t)frame;
}

/* Returns the offset where a frame begins, and the frame before it ends. */
static inline size_t frame_place(const struct ribbon *f, uint32_t frame)
{
	return PLACE_UNIT * (size_t)get_u16(f->src.data + place_field(frame));
}

/* A keyframe in its stored form. */
struct keyframe {
	uint8_t object, flags;
	const uint8_t *parts;
};

static inline size_t keyframe_size(unsigned flags)
{
	unsigned parts = (flags & 1) + (flags >> 1 & 1) + (flags >> 2 & 1);

	return KEYFRAME_SIZE + PART_SIZE * (size_t)parts;
}

/* Reads the keyframe at *at and moves *at behind it. False if none ends by `end`. */
static inline bool ribbon_next(const struct ribbon *f, size_t *at, size_t end, struct keyframe *k)
{
	const uint8_t *p = f->src.data + *at;

	if (end - *at < KEYFRAME_SIZE || end - *at < keyframe_size(p[1]))
		return false;
	*k = (struct keyframe){p[0], p[1], p + KEYFRAME_SIZE};
	*at += keyframe_size(k->flags);
	return true;
}

/* Reads and checks all of src; false and err if that fails. */
bool ribbon_read(struct ribbon *f, struct bytes src, struct err *err);
/* Functions for the codec entry at the end of ribbon_write.c. */
bool ribbon_probe(struct bytes src);
struct anim *ribbon_decode(struct bytes src, const struct hints *hints, struct err *err);

extern const struct format ribbon_format;
extern const struct lane ribbon_translation, ribbon_rotation, ribbon_scale;

/*
 * Initializers of struct format that ribbon_format shares with the format of joined files
 * (sequence).
 */
#define RIBBON_MEMBERS                                                                             \
	.rate = 30, .sparse = true, .keyframes = true, .flags = (uint8_t)~PART_BITS, .flat = true, \
	.y_down = true, .length = "game unit", .nameless = true, .bone_name = "object_%03u",       \
	.bones_sorted = true, .lanes = {&ribbon_translation, &ribbon_rotation, &ribbon_scale}

static inline enum curve_kind ribbon_kind(enum role role)
{
	return role == ROLE_ROTATION ? CURVE_EULER : CURVE_VECTOR;
}

#endif
