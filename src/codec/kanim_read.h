/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * kanim_read.h - a kanim as kanim_read.c finds it in its text, with the place of everything that
 * kanim_write.c may have to change.
 */
#ifndef ANIMFS_CODEC_KANIM_READ_H
#define ANIMFS_CODEC_KANIM_READ_H

#include "animfs/codec.h"
#include "text/xml.h"

enum kanim_attribute { KANIM_NAME, KANIM_LOOP, KANIM_BACKWARDS, KANIM_SCENES, KANIM_EPSILON };
#define KANIM_ATTRIBUTES 5

extern const char *const kanim_names[KANIM_ATTRIBUTES];

/* The place of an attribute in the text. */
struct kanim_place {
	size_t begin;      /* offset of the spaces before the attribute's name */
	size_t at, length; /* offset and length of the attribute's value; at 0: the attribute is
			      missing */
};

/* The values of the attributes of an <animation>, with defaults for missing ones. */
struct kanim_values {
	const char *name;
	bool loop, backwards;
	int32_t scenes;
	float epsilon;
};

struct kanim_animation {
	size_t begin, head, end; /* offsets of '<', behind the '>' of the start tag, and behind the
				    whole element */
	size_t attributes_end; /* offset behind the last attribute, or behind the element's name */
	struct kanim_place attribute[KANIM_ATTRIBUTES];
	struct kanim_place last; /* place of the last attribute, whichever it is */
	struct kanim_values values;
	uint32_t first_frame, frame_count;
};

struct kanim_frame {
	size_t begin, head, end;
	size_t attributes_end;
	struct kanim_place time;
	struct kanim_place url; /* of url, or of file_name, its old name */
	struct still still;
	unsigned scenes; /* number of <X3D> elements in the frame */
};

struct kanim {
	struct xml xml;
	struct arena arena; /* memory of the texts of animations and frames */
	unsigned depth;     /* depth of the <animation> element */
	struct kanim_animation *animations;
	struct kanim_frame *frames; /* frames of all animations */
	uint32_t animation_count, frame_count;
	size_t animation_room, frame_room;
};

/*
 * Reads a kanim. False and ERR_FORMAT or ERR_MEMORY. Call kanim_release in either case. err may be
 * NULL.
 */
bool kanim_read(struct kanim *k, struct bytes file, struct err *err);
void kanim_release(struct kanim *k);

/* Returns the values of a clip; fields that it lacks have the defaults. */
struct kanim_values kanim_values_of(const struct clip *clip);

/* The format, for the codec entry at the end of kanim_write.c. */
extern const struct format kanim_format;
bool kanim_probe(struct bytes src);
struct anim *kanim_decode(struct bytes src, const struct hints *hints, struct err *err);

#endif
