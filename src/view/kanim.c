/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * kanim.c - clip.kanim: a Castle Game Engine animation made of the stills in frames/.
 *
 *   <?xml version="1.0" encoding="UTF-8"?>
 *   <animation scenes_per_time="30" loop="true">
 *     <frame url="frames/frame_00000.x3d" time="0"/>
 *
 * The engine requires times that ascend in float32, and bakes round(step * scenes_per_time) scenes
 * per frame: one per frame, so that nothing is lost or interpolated. "loop" can be edited, and all
 * times together: time i must be i times the new frame time.
 */
#include "model/clip.h"
#include "text/num.h"
#include "text/xml.h"
#include "views.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define URL_FORMAT "frames/frame_%05u.x3d"

static const struct clip *kanim_shown_clip(const struct shown *at)
{
	return &at->anim->clips[at->clip];
}

/*
 * Returns the seconds per frame, within limits so that the times of 65535 frames differ and are
 * finite in float32.
 */
static double shown_step(const struct shown *at)
{
	return fmin(fmax(anim_seconds_per_frame(at->anim, kanim_shown_clip(at)), 1e-30), 1e30);
}

static float kanim_time_of(double step, uint32_t frame)
{
	return (float)(frame * step);
}

static uint32_t scenes_per_time(double step)
{
	return (uint32_t)fmin(fmax(round(1 / step), 1), 1e6);
}

/* ---- render ---- */

static void kanim_render(const struct shown *at, struct buf *out)
{
	const struct clip *clip = kanim_shown_clip(at);
	double step = shown_step(at);

	buf_text(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<animation scenes_per_time=\"");
	buf_unsigned(out, scenes_per_time(step));
	buf_format(out, "\" loop=\"%s\">\n", clip->loop ? "true" : "false");
	for (uint32_t frame = 0; frame < clip->frames; frame++) {
		buf_format(out, "  <frame url=\"" URL_FORMAT "\" time=\"", (unsigned)frame);
		buf_f32_text(out, kanim_time_of(step, frame));
		buf_text(out, "\"/>\n");
	}
	buf_text(out, "</animation>\n");
}

/* ---- parse ---- */

struct value {
	const char *text;
	size_t size;
	size_t at, length; /* place of the value in the whole text */
};

struct parse {
	const struct shown *at;
	struct xml xml;

	bool loop;
	size_t loop_at, loop_length;
	double scenes; /* "scenes_per_time"; NAN: not given */
	size_t scenes_at, scenes_length;
	bool has_url, has_time; /* attributes that the current <frame> has */
	uint32_t count;
	struct frame_time {
		double seconds;
		size_t at, length;
	} * frames;
};

static bool kanim_refuse(struct parse *p, size_t at, size_t length, const char *message,
			 const char *accepted)
{
	return xml_refuse(&p->xml, at, length, accepted, "%s", message);
}

/*
 * Returns an attribute's value without the white space around it, and the value's place in the
 * text.
 */
static struct value kanim_value_of(const struct xml_attribute *attribute)
{
	const char *text = (const char *)attribute->value.data;
	struct value v = {text, attribute->value.size, attribute->at, attribute->length};

	if (v.size != v.length)
		return v;
	for (; v.size > 0 && xml_is_space((uint8_t)*v.text); v.text++, v.at++)
		v.size--;
	while (v.size > 0 && xml_is_space((uint8_t)v.text[v.size - 1]))
		v.size--;
	v.length = v.size;
	return v;
}

static bool value_is(const struct value *v, const char *text)
{
	return v->size == strlen(text) && memcmp(v->text, text, v->size) == 0;
}

static bool kanim_is_word(const struct value *v, const char *word)
{
	return v->size == strlen(word) && strncasecmp(v->text, word, v->size) == 0;
}

static bool read_loop(struct parse *p, const struct value *v)
{
	double number = 0;

	p->loop_at = v->at;
	p->loop_length = v->length;
	if (!kanim_is_word(v, "true") && !kanim_is_word(v, "false") &&
	    !num_parse(v->text, v->size, '.', &number))
		return kanim_refuse(p, v->at, v->length, "this is neither true nor false",
				    "true or false");
	p->loop = kanim_is_word(v, "true") || number != 0;
	return true;
}

static bool read_scenes(struct parse *p, const struct value *v)
{
	p->scenes_at = v->at;
	p->scenes_length = v->length;
	return num_parse(v->text, v->size, '.', &p->scenes) ||
	       kanim_refuse(p, v->at, v->length, "this is not a number", "a whole number");
}

static bool read_animation_attribute(struct parse *p, struct bytes name, const struct value *v)
{
	if (xml_is(name, "loop"))
		return read_loop(p, v);
	if (xml_is(name, "scenes_per_time"))
		return read_scenes(p, v);
	return kanim_refuse(p, v->at, v->length, "there is no place for this attribute",
			    "the attributes loop and scenes_per_time");
}

static bool kanim_read_animation(struct parse *p, const struct xml_tag *tag)
{
	for (size_t i = 0; i < tag->attribute_count; i++) {
		const struct xml_attribute *attribute = &tag->attributes[i];
		struct value v = kanim_value_of(attribute);

		if (!read_animation_attribute(p, attribute->name, &v))
			return false;
	}
	return true;
}

static bool view_kanim_read_url(struct parse *p, const struct value *v)
{
	char url[32];

	p->has_url = true;
	snprintf(url, sizeof(url), URL_FORMAT, (unsigned)p->count);
	return value_is(v, url) ||
	       kanim_refuse(p, v->at, v->length, "the stills cannot be changed or moved",
			    "the frames in their order; keys are edited in "
			    "bones/NAME.csv, the number of frames in clip.json");
}

static bool read_seconds(struct parse *p, const struct value *v)
{
	struct frame_time *f = &p->frames[p->count];

	p->has_time = true;
	f->at = v->at;
	f->length = v->length;
	return (num_parse(v->text, v->size, '.', &f->seconds) && isfinite((float)f->seconds)) ||
	       kanim_refuse(p, v->at, v->length, "this is not a time", "seconds such as 0.5");
}

static bool read_frame_attribute(struct parse *p, struct bytes name, const struct value *v)
{
	if (xml_is(name, "url"))
		return view_kanim_read_url(p, v);
	if (xml_is(name, "time"))
		return read_seconds(p, v);
	return kanim_refuse(p, v->at, v->length, "there is no place for this attribute",
			    "the attributes url and time");
}

static bool kanim_read_frame(struct parse *p, const struct xml_tag *tag)
{
	if (p->count == kanim_shown_clip(p->at)->frames)
		return xml_refuse_tag(&p->xml, tag,
				      "as many frames as \"frames\" in clip.json says; edit that",
				      "the clip has fewer frames");
	p->has_url = p->has_time = false;
	for (size_t i = 0; i < tag->attribute_count; i++) {
		const struct xml_attribute *attribute = &tag->attributes[i];
		struct value v = kanim_value_of(attribute);

		if (!read_frame_attribute(p, attribute->name, &v))
			return false;
	}
	p->count++;
	return (p->has_url && p->has_time) ||
	       xml_refuse_tag(&p->xml, tag, "<frame url=\"frames/frame_00000.x3d\" time=\"0\"/>",
			      "a frame needs url and time");
}

static bool kanim_on_open(void *user, const struct xml_tag *tag)
{
	struct parse *p = user;
	const char *wanted = tag->depth == 0 ? "animation" : tag->depth == 1 ? "frame" : "";

	if (tag->namespaced || !xml_is(tag->name, wanted))
		return xml_refuse_tag(&p->xml, tag,
				      "<animation> with one <frame> for each frame in it",
				      "there is no place for this element");
	return tag->depth == 0 ? kanim_read_animation(p, tag) : kanim_read_frame(p, tag);
}

static bool kanim_on_close(void *user, unsigned depth, size_t end)
{
	struct parse *p = user;
	size_t begin = end - 1;

	if (depth > 0 || p->count == kanim_shown_clip(p->at)->frames)
		return true;
	while (p->xml.text.data[begin] != '<')
		begin--;
	return kanim_refuse(p, begin, end - begin, "the clip has more frames",
			    "as many frames as \"frames\" in clip.json says; edit that");
}

static bool kanim_on_text(void *user, size_t at, size_t length)
{
	return kanim_refuse(user, at, length, "there is no place for text", "elements");
}

static bool kanim_on_doctype(void *user, size_t at, size_t length)
{
	return kanim_refuse(user, at, length, "a DOCTYPE is not read", "<animation> first");
}

static const struct xml_events events = {.open = kanim_on_open,
					 .close = kanim_on_close,
					 .text = kanim_on_text,
					 .doctype = kanim_on_doctype};

/* ---- applying the text ---- */

static bool is_retimed(const struct parse *p)
{
	double step = shown_step(p->at);

	for (uint32_t i = 0; i < p->count; i++)
		if ((float)p->frames[i].seconds != kanim_time_of(step, i))
			return true;
	return false;
}

/* Finds the step whose multiples all times are, within a microsecond or float32's precision. */
static bool read_step(struct parse *p, double *step)
{
	const struct frame_time *f = p->frames;

	if (p->count < 2)
		return kanim_refuse(p, f->at, f->length, "a clip of one frame begins at 0",
				    "0; the frame time is edited in clip.json");
	*step = f[p->count - 1].seconds / (p->count - 1);
	for (uint32_t i = 0; i < p->count; i++) {
		double even = i * *step;

		if (fabs(f[i].seconds - even) <= 1e-6 + fabs(even) * 0x1p-22 &&
		    (i == 0 || f[i].seconds > f[i - 1].seconds))
			continue;
		return kanim_refuse(
			p, f[i].at, f[i].length, "the times of a clip begin at 0 and are even",
			"each time a multiple of one step; keys are moved in bones/NAME.csv");
	}
	return true;
}

/*
 * Of the float32 nearest to v and its neighbours, which the times cannot distinguish, returns the
 * one with the fewest digits.
 */
static float plainest(double v)
{
	float near = (float)v;
	float candidates[] = {near, nextafterf(near, 0), nextafterf(near, INFINITY)};
	float best = near;
	char text[NUM_MAX];

	for (size_t i = 1; i < ARRAY_SIZE(candidates); i++)
		if (num_f32(text, candidates[i]) < num_f32(text, best))
			best = candidates[i];
	return best;
}

static bool set_step(struct parse *p, struct anim *edited, struct clip *clip, double step)
{
	double unit = edited->format->rate > 0 ? edited->rate : 1;
	float stored = plainest(step * unit);

	if (!isfinite(stored) || !(stored > 0))
		return kanim_refuse(p, p->frames[1].at, p->frames[1].length,
				    "this frame time cannot be stored", "a step of ordinary size");
	if (edited->format->has_frame_time)
		clip->frame_time = stored;
	else if (edited->format->has_duration)
		clip->duration = plainest(step * unit * (clip->frames - 1));
	else
		return kanim_refuse(p, p->frames[1].at, p->frames[1].length,
				    "the format stores no frame time",
				    "the times that were served");
	clip_follow_duration(edited, clip);
	return true;
}

static bool check_scenes(struct parse *p, double step)
{
	if (isnan(p->scenes) || p->scenes == scenes_per_time(step) ||
	    p->scenes == scenes_per_time(shown_step(p->at)))
		return true;
	return kanim_refuse(p, p->scenes_at, p->scenes_length,
			    "scenes_per_time follows from the times of the frames",
			    "the value that was served, or the attribute left out");
}

static bool apply_text(struct parse *p, struct anim *edited)
{
	struct clip *clip = edited ? anim_edit_clip(edited, p->at->clip) : NULL;
	bool retimed = is_retimed(p);
	double step = shown_step(p->at);

	if (!clip)
		return err_memory(p->xml.err);
	if ((retimed && !read_step(p, &step)) || !check_scenes(p, step) ||
	    (retimed && !set_step(p, edited, clip, step)))
		return false;
	if (p->loop == clip->loop)
		return true;
	if (!edited->format->has_loop)
		return kanim_refuse(p, p->loop_at, p->loop_length, "the format stores no loop",
				    "false");
	return clip_set_loop(edited, clip, p->loop) || err_memory(p->xml.err);
}

static struct anim *kanim_parse(const struct shown *at, struct bytes text, struct err *err)
{
	struct parse p = {.at = at, .scenes = NAN};
	struct anim *edited = NULL;

	p.frames = calloc(kanim_shown_clip(at)->frames, sizeof(*p.frames));
	if (!p.frames)
		err_memory(err);
	else if (xml_open(&p.xml, text, err) && xml_read(&p.xml, &events, &p))
		edited = anim_edit(at->anim);
	if (edited && !apply_text(&p, edited)) {
		anim_free(edited);
		edited = NULL;
	}
	if (!edited)
		err_memory(err); /* does nothing if another error is set */
	xml_release(&p.xml);
	free(p.frames);
	return edited;
}

const struct view view_kanim = {
	.name = "kanim",
	.place = VIEW_OF_CLIP,
	.file = "clip.kanim",
	.present = clip_has_stills,
	.render = kanim_render,
	.parse = kanim_parse,
};
