/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * kanim.c - Castle Game Engine's kanim and its successor castle-anim-frames: stills, each with the
 * time at which it is shown.
 *
 *   <?xml version="1.0"?>
 *   <animation scenes_per_time="30" loop="true">
 *     <frame url="frame_0.x3d" time="0.0" />
 *     <frame url="frame_1.x3d" time="1.0" />
 *   </animation>
 *
 *   <animations>                        one or more, each with its name
 *     <animation name="walk">
 *       <frame time="0"><X3D>...</X3D></frame>    the still itself, in place of a url
 *
 * Attributes of <animation>, all of which may be left out:
 *
 *   scenes_per_time   30      scenes a second that are made in between
 *   equality_epsilon  0.001   below which two scenes are the same
 *   loop, backwards   false
 *   name
 *
 * Times ascend strictly as float32. An edit replaces the bytes of the values that it changes, and
 * takes out and puts in whole <frame> elements; all other bytes stay.
 */
#include "kanim_read.h"

#include <stdlib.h>
#include <string.h>

#define FIELDS 3

const struct format kanim_format = {
	.name = "kanim",
	.suffix = "kanim",
	.stills = true,
	.beside = "",
	.text = true,
	.many_clips = true,
	.has_loop = true,
	.max_frames = UINT32_MAX,
};

static bool kanim_decode_fields(struct arena *arena, struct clip *clip,
				const struct kanim_values *values)
{
	struct field *fields = arena_alloc(arena, FIELDS, sizeof(*fields));

	if (!fields)
		return false;
	fields[0] = (struct field){.name = kanim_names[KANIM_BACKWARDS],
				   .type = FIELD_BOOL,
				   .integer = values->backwards,
				   .editable = true};
	fields[1] = (struct field){.name = kanim_names[KANIM_SCENES],
				   .type = FIELD_INT,
				   .integer = values->scenes,
				   .editable = true};
	fields[2] = (struct field){.name = kanim_names[KANIM_EPSILON],
				   .type = FIELD_REAL,
				   .real = (double)values->epsilon,
				   .editable = true};
	clip->fields = fields;
	clip->field_count = FIELDS;
	return true;
}

struct kanim_values kanim_values_of(const struct clip *clip)
{
	struct kanim_values values = {
		.name = clip->name, .loop = clip->loop, .scenes = 30, .epsilon = 0.001f};

	for (uint32_t i = 0; i < clip->field_count; i++) {
		const struct field *f = &clip->fields[i];

		if (strcmp(f->name, kanim_names[KANIM_BACKWARDS]) == 0)
			values.backwards = f->integer != 0;
		else if (strcmp(f->name, kanim_names[KANIM_SCENES]) == 0)
			values.scenes = (int32_t)f->integer;
		else if (strcmp(f->name, kanim_names[KANIM_EPSILON]) == 0)
			values.epsilon = (float)f->real;
	}
	return values;
}

/* Returns the file's own text for an embedded still, if that was read. */
static struct bytes frame_text(struct arena *arena, const struct kanim *k,
			       const struct kanim_frame *f)
{
	struct bytes text = {k->xml.text.data + f->begin, f->end - f->begin};

	if (k->xml.encoding != XML_UTF8)
		text.data = (const uint8_t *)arena_text(arena, (const char *)text.data, text.size);
	return text;
}

static bool decode_stills(struct arena *arena, struct clip *clip, const struct kanim *k,
			  const struct kanim_frame *frames)
{
	struct still *stills = arena_alloc(arena, clip->frames, sizeof(*stills));

	for (uint32_t i = 0; stills && i < clip->frames; i++) {
		const char *url = frames[i].still.url;

		stills[i] = frames[i].still;
		stills[i].url = arena_text(arena, url, strlen(url));
		stills[i].written = frame_text(arena, k, &frames[i]);
	}
	clip->stills = stills;
	return !arena->failed;
}

static bool decode_animation(struct arena *arena, const struct kanim *k, uint32_t i,
			     struct clip *clip)
{
	const struct kanim_animation *a = &k->animations[i];

	*clip = (struct clip){
		.name = arena_text(arena, a->values.name, strlen(a->values.name)),
		.origin = i,
		.frames = a->frame_count,
		.frame_time = 1,
		.loop = a->values.loop,
	};
	return clip->name && kanim_decode_fields(arena, clip, &a->values) &&
	       decode_stills(arena, clip, k, k->frames + a->first_frame);
}

static bool kanim_decode_all(struct anim *anim, const struct kanim *k)
{
	struct clip *clips = arena_alloc(&anim->arena, k->animation_count, sizeof(*clips));

	if (!clips)
		return false;
	anim->format = &kanim_format;
	anim->rate = 1;
	anim->clip_count = k->animation_count;
	anim->clips = clips;
	for (uint32_t i = 0; i < k->animation_count; i++) {
		if (!decode_animation(&anim->arena, k, i, &clips[i]))
			return false;
	}
	return true;
}

struct anim *kanim_decode(struct bytes src, const struct hints *hints, struct err *err)
{
	struct anim *anim = NULL;
	struct kanim k;

	(void)hints;
	if (kanim_read(&k, src, err)) {
		anim = calloc(1, sizeof(*anim));
		if (!anim || !kanim_decode_all(anim, &k)) {
			anim_free(anim);
			anim = NULL;
			err_memory(err);
		}
	}
	kanim_release(&k);
	return anim;
}

/* Recognizes a kanim by its first element; a file that the engine would not load is not a kanim. */
bool kanim_probe(struct bytes src)
{
	struct kanim k;
	bool is_kanim = kanim_read(&k, src, NULL);

	kanim_release(&k);
	return is_kanim;
}
