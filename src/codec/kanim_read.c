/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * kanim_read.c - finds the elements and attributes of a text, by the rules of the engine that plays
 * it: a text that it would not load is refused.
 */
#include "kanim_read.h"

#include "text/num.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

const char *const kanim_names[KANIM_ATTRIBUTES] = {"name", "loop", "backwards", "scenes_per_time",
						   "equality_epsilon"};

static struct kanim_place kanim_read_place_of(const struct xml_attribute *attribute)
{
	return (struct kanim_place){attribute->begin, attribute->at, attribute->length};
}

static size_t attributes_end(const struct xml_tag *tag)
{
	const struct xml_attribute *last;

	if (tag->attribute_count == 0)
		return tag->begin + 1 + tag->name.size;
	last = &tag->attributes[tag->attribute_count - 1];
	return last->at + last->length + 1;
}

static bool kanim_read_refuse_value(struct kanim *k, const struct xml_attribute *attribute,
				    const char *accepted)
{
	return xml_refuse(&k->xml, attribute->at, attribute->length, accepted,
			  "%.*s cannot be this", (int)attribute->name.size,
			  (const char *)attribute->name.data);
}

/* ---- values ---- */

static bool kanim_read_copy_text(struct kanim *k, struct bytes value, const char **out)
{
	*out = arena_text(&k->arena, (const char *)value.data, value.size);
	return *out || err_memory(k->xml.err);
}

/* Returns the text of a number: the engine skips spaces before it, but not after it. */
static struct bytes kanim_read_number_of(struct bytes value)
{
	while (value.size > 0 && value.data[0] == ' ') {
		value.data++;
		value.size--;
	}
	return value;
}

static bool kanim_read_is_word(struct bytes value, const char *word)
{
	return value.size == strlen(word) &&
	       strncasecmp((const char *)value.data, word, value.size) == 0;
}

/* Reads a boolean: "true", "false", or a number, which means true if it is not 0. */
static bool read_switch(struct kanim *k, const struct xml_attribute *attribute, bool *out)
{
	struct bytes value = attribute->value, digits = kanim_read_number_of(value);
	double number = 0;

	*out = kanim_read_is_word(value, "true");
	if (*out || kanim_read_is_word(value, "false"))
		return true;
	if (!num_parse((const char *)digits.data, digits.size, '.', &number) || !isfinite(number))
		return kanim_read_refuse_value(k, attribute, "true or false");
	*out = number != 0;
	return true;
}

static bool read_integer(struct kanim *k, const struct xml_attribute *attribute, int32_t *out)
{
	struct bytes value = kanim_read_number_of(attribute->value);
	bool negative = value.size > 0 && value.data[0] == '-';
	size_t i = negative || (value.size > 0 && value.data[0] == '+');
	int64_t number = 0;
	bool fine = i < value.size;

	for (; fine && i < value.size; i++) {
		fine = value.data[i] >= '0' && value.data[i] <= '9' && number <= INT32_MAX;
		number = 10 * number + value.data[i] - '0';
	}
	number = negative ? -number : number;
	if (!fine || number < INT32_MIN || number > INT32_MAX)
		return kanim_read_refuse_value(k, attribute, "a whole number such as 30");
	*out = (int32_t)number;
	return true;
}

static bool read_float(struct kanim *k, const struct xml_attribute *attribute, const char *accepted,
		       float *out)
{
	struct bytes value = kanim_read_number_of(attribute->value);

	if (num_parse_f32((const char *)value.data, value.size, '.', out) && isfinite(*out))
		return true;
	return kanim_read_refuse_value(k, attribute, accepted);
}

/* ---- elements ---- */

static bool read_attribute(struct kanim *k, struct kanim_values *values, enum kanim_attribute which,
			   const struct xml_attribute *attribute)
{
	switch (which) {
	case KANIM_NAME:
		return kanim_read_copy_text(k, attribute->value, &values->name);
	case KANIM_LOOP:
		return read_switch(k, attribute, &values->loop);
	case KANIM_BACKWARDS:
		return read_switch(k, attribute, &values->backwards);
	case KANIM_SCENES:
		return read_integer(k, attribute, &values->scenes);
	case KANIM_EPSILON:
		return read_float(k, attribute, "a number such as 0.001", &values->epsilon);
	}
	return true;
}

/* Reads a known attribute. "optimization" belongs to older engines and has no effect. */
static bool read_known(struct kanim *k, struct kanim_animation *a,
		       const struct xml_attribute *attribute)
{
	for (enum kanim_attribute which = 0; which < KANIM_ATTRIBUTES; which++) {
		if (!xml_is(attribute->name, kanim_names[which]))
			continue;
		a->attribute[which] = kanim_read_place_of(attribute);
		return read_attribute(k, &a->values, which, attribute);
	}
	return xml_is(attribute->name, "optimization") ||
	       xml_refuse(&k->xml, (size_t)(attribute->name.data - k->xml.text.data),
			  attribute->name.size,
			  "name, loop, backwards, scenes_per_time, equality_epsilon",
			  "an <animation> has no attribute %.*s", (int)attribute->name.size,
			  (const char *)attribute->name.data);
}

static bool open_animation(struct kanim *k, const struct xml_tag *tag)
{
	struct kanim_animation *a;

	if (!xml_is(tag->name, "animation"))
		return xml_refuse_tag(&k->xml, tag, "<animation>", "this is not an <animation>");
	a = array_room(k->animations, k->animation_count, &k->animation_room, sizeof(*a));
	if (!a)
		return err_memory(k->xml.err);
	k->animations = a;
	a += k->animation_count++;
	*a = (struct kanim_animation){
		.begin = tag->begin,
		.head = tag->end,
		.attributes_end = attributes_end(tag),
		.values = {.name = "", .scenes = 30, .epsilon = 0.001f},
		.first_frame = k->frame_count,
	};
	for (size_t i = 0; i < tag->attribute_count; i++) {
		a->last = kanim_read_place_of(&tag->attributes[i]);
		if (!read_known(k, a, &tag->attributes[i]))
			return false;
	}
	return true;
}

static bool kanim_read_url(struct kanim *k, struct kanim_frame *f,
			   const struct xml_attribute *attribute)
{
	f->url = kanim_read_place_of(attribute);
	if (attribute->value.size == 0)
		return kanim_read_refuse_value(k, attribute,
					       "the file of the still, or the attribute left "
					       "out where the scene stands in the frame");
	return kanim_read_copy_text(k, attribute->value, &f->still.url);
}

/*
 * Reads the attributes of a frame. The old name of "url" counts if the new one is missing; other
 * attributes are ignored.
 */
static bool read_frame_attributes(struct kanim *k, struct kanim_frame *f, const struct xml_tag *tag)
{
	const struct xml_attribute *url = NULL, *time = NULL;

	for (size_t i = 0; i < tag->attribute_count; i++) {
		const struct xml_attribute *attribute = &tag->attributes[i];

		if (xml_is(attribute->name, "url") ||
		    (!url && xml_is(attribute->name, "file_name")))
			url = attribute;
		if (xml_is(attribute->name, "time"))
			time = attribute;
	}
	if (!time)
		return xml_refuse_tag(&k->xml, tag, "<frame url=\"still.x3d\" time=\"0.5\"/>",
				      "this frame has no time");
	f->time = kanim_read_place_of(time);
	return read_float(k, time, "seconds such as 0.5", &f->still.time) &&
	       (!url || kanim_read_url(k, f, url));
}

static bool open_frame(struct kanim *k, const struct xml_tag *tag)
{
	struct kanim_animation *a = &k->animations[k->animation_count - 1];
	struct kanim_frame *f;

	if (!xml_is(tag->name, "frame"))
		return xml_refuse_tag(&k->xml, tag, "<frame>", "this is not a <frame>");
	f = array_room(k->frames, k->frame_count, &k->frame_room, sizeof(*f));
	if (!f)
		return err_memory(k->xml.err);
	k->frames = f;
	f += k->frame_count++;
	*f = (struct kanim_frame){
		.begin = tag->begin,
		.head = tag->end,
		.attributes_end = attributes_end(tag),
		.still = {.url = "", .origin = a->frame_count++},
	};
	if (!read_frame_attributes(k, f, tag))
		return false;
	if (a->frame_count > 1 && !(f->still.time > f[-1].still.time))
		return xml_refuse(&k->xml, f->time.at, f->time.length,
				  "times that ascend, to be told apart as float32",
				  "this time is not after that of the frame before");
	return true;
}

static bool close_frame(struct kanim *k, size_t end)
{
	struct kanim_frame *f = &k->frames[k->frame_count - 1];

	f->end = end;
	if (f->url.at || f->scenes == 1)
		return true;
	return xml_refuse(&k->xml, f->begin, f->head - f->begin,
			  "a url, or one <X3D> element in the frame",
			  f->scenes ? "this frame has more than one scene"
				    : "this frame has no url and no scene of its own");
}

static bool close_animation(struct kanim *k, size_t end)
{
	struct kanim_animation *a = &k->animations[k->animation_count - 1];

	a->end = end;
	return a->frame_count > 0 || xml_refuse(&k->xml, a->begin, a->head - a->begin,
						"at least one <frame> in each <animation>",
						"this animation has no frame");
}

/* ---- the whole text ---- */

static bool kanim_read_open_root(struct kanim *k, const struct xml_tag *tag)
{
	if (xml_is(tag->name, "animation"))
		return open_animation(k, tag);
	k->depth = 1;
	return xml_is(tag->name, "animations") ||
	       xml_refuse_tag(&k->xml, tag, "<animation>, or <animations> around some of them",
			      "this is no kanim");
}

static bool kanim_read_on_open(void *user, const struct xml_tag *tag)
{
	struct kanim *k = user;

	if (tag->depth == 0)
		return kanim_read_open_root(k, tag);
	if (tag->depth == k->depth)
		return open_animation(k, tag);
	if (tag->depth == k->depth + 1)
		return open_frame(k, tag);
	if (tag->depth == k->depth + 2 && xml_is(tag->name, "X3D"))
		k->frames[k->frame_count - 1].scenes++;
	return true;
}

static bool kanim_read_on_close(void *user, unsigned depth, size_t end)
{
	struct kanim *k = user;

	if (depth == k->depth + 1)
		return close_frame(k, end);
	if (depth == k->depth)
		return close_animation(k, end);
	return depth > 0 || k->animation_count > 0 ||
	       xml_refuse(&k->xml, 0, 0, "<animation> elements", "there is no animation in this");
}

bool kanim_read(struct kanim *k, struct bytes file, struct err *err)
{
	static const struct xml_events events = {.open = kanim_read_on_open,
						 .close = kanim_read_on_close};

	*k = (struct kanim){.depth = 0};
	if (xml_open(&k->xml, file, err) && xml_read(&k->xml, &events, k))
		return true;
	if (k->xml.err->code != ERR_MEMORY)
		k->xml.err->code = ERR_FORMAT;
	return false;
}

void kanim_release(struct kanim *k)
{
	xml_release(&k->xml);
	arena_release(&k->arena);
	free(k->animations);
	free(k->frames);
}
