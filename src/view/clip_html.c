/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * clip.html: a page that plays the clip.
 *
 * Its data are the keys that the file has, not a pose for each frame. All is little-endian; "text"
 * is its length as a u16, and the bytes. player/data.js reads it.
 *
 *	u8 'C', u8 1       a clip, and the version of this layout
 *	u8 format          FORMAT_*
 *	text               the file, the format, the unit of length, the clip
 *	u8 loop, u32 frames, f64 seconds of a frame
 *	u32 bones, u32 nodes
 *	nodes              text name, u32 parent + 1 (0: none), u8 rest; f32[9] translation, angles
 *	                   in degrees and scale at rest, if `rest` is 1
 *	bones              of the first nodes: three curves (translation, rotation, scale); then,
 *	                   with FORMAT_KEYFRAMES, u32 count, u16 frames[], u8 flags[], u8 roles[]
 *	curve              u8 CURVE_*; if any: u32 count; with FRAMES u16 frames[count]; with GRID
 *	                   of each component f64 base and step, and u16 keys; else f32 keys
 */
#include "figure.h"
#include "html.h"
#include "model/clip.h"
#include "views.h"

enum {
	KEYS_HERE = 1,
	KEYS_STEP = 2,
	KEYS_VARY = 4, /* the curve has more than one value */
	KEYS_FRAMES = 8,
	KEYS_GRID = 16,
	KEYS_TURN = 32, /* angles modulo 360: interpolated along the shorter way */
	KEYS_EULER = 64,
	KEYS_QUATERNION = 128,
};

/* ---- nodes ---- */

static void add_rest(struct page *p, const struct joint *joint)
{
	page_u8(p, joint != NULL);
	for (unsigned role = 0; joint && role < ROLE_COUNT; role++)
		for (unsigned axis = 0; axis < 3; axis++)
			page_f32(p, joint->rest[role][axis]);
}

static void clip_html_add_nodes(struct page *p, const struct figure *f)
{
	page_u32(p, f->bones);
	page_u32(p, f->count);
	for (uint32_t i = 0; i < f->count; i++) {
		const struct figure_node *node = &f->nodes[i];

		page_text(p, node->name);
		page_u32(p, node->parent == FIGURE_NONE ? 0 : node->parent + 1);
		add_rest(p, node->joint);
	}
}

/* ---- keys ---- */

static bool has_grid(const struct curve *c)
{
	return c->stored && c->lane[0].form == LANE_GRID;
}

static unsigned clip_html_describe(const struct curve *c)
{
	unsigned bits = KEYS_HERE;

	bits |= c->interpolation == INTERPOLATION_STEP ? KEYS_STEP : 0;
	bits |= c->keyed ? KEYS_VARY : 0;
	bits |= c->frames ? KEYS_FRAMES : 0;
	bits |= has_grid(c) ? KEYS_GRID : 0;
	bits |= c->lane[0].turn > 0 ? KEYS_TURN : 0;
	bits |= c->kind == CURVE_EULER ? KEYS_EULER : 0;
	bits |= c->kind == CURVE_QUATERNION ? KEYS_QUATERNION : 0;
	return bits;
}

static void add_frames(struct page *p, const uint32_t *frames, uint32_t count)
{
	if (!p->out) {
		page_skip(p, (size_t)count * 2);
		return;
	}
	for (uint32_t i = 0; i < count; i++)
		page_u16(p, frames[i]);
}

static void add_grid(struct page *p, const struct curve *c, uint32_t count)
{
	for (unsigned axis = 0; axis < curve_width(c); axis++) {
		const struct lane *lane = &c->lane[axis];

		page_f64(p, lane->unit * (double)lane->base);
		page_f64(p, lane->unit * (double)lane->step);
	}
	page_add(p, c->stored, (size_t)count * curve_width(c) * 2);
}

static void clip_html_add_floats(struct page *p, const struct curve *c, uint32_t count)
{
	if (!p->out) {
		page_skip(p, (size_t)count * curve_width(c) * 4);
		return;
	}
	for (uint32_t key = 0; key < count; key++)
		for (unsigned axis = 0; axis < curve_width(c); axis++)
			page_f32(p, curve_value(c, key, axis));
}

static void clip_html_add_curve(struct page *p, const struct curve *c, uint32_t clip_frames)
{
	const uint32_t count = c ? curve_shown(c, clip_frames) : 0;

	if (count == 0) {
		page_u8(p, 0);
		return;
	}
	page_u8(p, clip_html_describe(c));
	page_u32(p, count);
	if (c->frames)
		add_frames(p, c->frames, count);
	if (has_grid(c))
		add_grid(p, c, count);
	else
		clip_html_add_floats(p, c, count);
}

/*
 * Appends a bone's keyframes. A u16 holds each frame number, since no keyframe is at or past the
 * clip's end in formats that store keyframes.
 */
static void add_keyframes(struct page *p, const struct keyframes *k)
{
	page_u32(p, k ? k->count : 0);
	if (!k)
		return;
	add_frames(p, k->frames, k->count);
	page_add(p, k->flags, k->count);
	page_add(p, k->roles, k->count);
}

/* ---- the page ---- */

static void add_clip_data(struct page *p, const struct shown *at, const struct figure *f)
{
	const struct clip *clip = f->clip;

	html_begin(p, 'C', at);
	page_text(p, clip->label);
	page_u8(p, clip->loop);
	page_u32(p, clip->frames);
	page_f64(p, f->seconds);
	clip_html_add_nodes(p, f);
	for (uint32_t i = 0; i < f->bones; i++) {
		const struct track *track = &clip->tracks[i];

		for (unsigned role = 0; role < ROLE_COUNT; role++)
			clip_html_add_curve(p, track->curve[role], clip->frames);
		if (at->anim->format->keyframes)
			add_keyframes(p, track->keyframes);
	}
}

static bool clip_html_write_page(const struct shown *at, struct buf *out, uint64_t *size)
{
	struct arena arena = ARENA_INIT;
	struct figure figure;
	struct page page;
	const bool made = figure_make(&figure, at, &arena);

	if (made) {
		page_begin(&page, out);
		add_clip_data(&page, at, &figure);
		*size = page_end(&page);
	}
	arena_release(&arena);
	return made;
}

static void clip_html_render(const struct shown *at, struct buf *out)
{
	uint64_t size;

	if (!clip_html_write_page(at, out, &size))
		out->failed = true;
}

static bool clip_html_size(const struct shown *at, uint64_t *out)
{
	return clip_html_write_page(at, NULL, out);
}

const struct view view_clip_html = {
	.name = "html",
	.unlisted = true,
	.place = VIEW_OF_CLIP,
	.file = "clip.html",
	.present = figure_present,
	.explain = figure_explain,
	.render = clip_html_render,
	.size = clip_html_size,
	.every_key = true,
	.posed = true,
	.names_file = true,
	.composed = true,
};
