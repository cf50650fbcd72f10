/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * stills_html.c - clip.html of a clip of stills: a page that plays their drawable parts
 * (stills_figure.h).
 *
 * All is little-endian; "text" is as in clip_html.c. player/data.js reads it.
 *
 *	u8 'S', u8 1       stills, and the version of this layout
 *	...                as in clip_html.c up to the clip's name
 *	u8 loop, u8 backwards, u32 stills, f32[] seconds from the first still
 *	u32 nodes          text name, u32 parent + 1 (0: none), translation, rotation (a
 *	                   quaternion), scale
 *	u32 shapes         u32 node, u8 STILLS_*, colour, transparency, u32 numbers of points,
 *	                   points, u32 count, i32[] index
 *	values             u8 0: none; 1: of all stills; 2: of each; then f32[]
 */
#include "html.h"
#include "stills.h"
#include "stills_figure.h"
#include "views.h"

enum { VALUES_NONE, VALUES_ONE, VALUES_EACH };

struct writing {
	struct page *page;
	uint32_t stills;
};

static void stills_html_add_floats(const struct writing *w, const float *values, size_t count)
{
	if (!w->page->out) {
		page_skip(w->page, count * sizeof(*values));
		return;
	}
	for (size_t i = 0; i < count; i++)
		page_f32(w->page, (double)values[i]);
}

static void add_values(const struct writing *w, const struct stills_values *v)
{
	if (!v->values) {
		page_u8(w->page, VALUES_NONE);
		return;
	}
	page_u8(w->page, v->moves ? VALUES_EACH : VALUES_ONE);
	stills_html_add_floats(w, v->values, v->moves ? v->width * w->stills : v->width);
}

/* Appends a translation to a node's center or, negated, back from it. */
static void stills_html_add_place(const struct writing *w, const struct stills_node *n)
{
	const struct stills_values *t = &n->translation, *c = &n->center;
	const bool moves = (t->values && t->moves) || (c->values && c->moves);

	if (!c->values) {
		add_values(w, t);
		return;
	}
	page_u8(w->page, moves ? VALUES_EACH : VALUES_ONE);
	for (uint32_t still = 0; still < (moves ? w->stills : 1); still++) {
		const struct pose pose = stills_node_pose(n, still);

		for (unsigned axis = 0; axis < 3; axis++)
			page_f32(w->page, pose.translation[axis]);
	}
}

static void add_turns(const struct writing *w, const struct stills_node *n)
{
	const struct stills_values *v = &n->rotation;

	if (!v->values) {
		page_u8(w->page, VALUES_NONE);
		return;
	}
	page_u8(w->page, v->moves ? VALUES_EACH : VALUES_ONE);
	for (uint32_t still = 0; still < (v->moves ? w->stills : 1); still++) {
		const struct pose pose = stills_node_pose(n, still);

		for (unsigned i = 0; i < 4; i++)
			page_f32(w->page, pose.rotation[i]);
	}
}

static void stills_html_add_nodes(const struct writing *w, const struct stills_figure *f)
{
	page_u32(w->page, f->node_count);
	for (uint32_t i = 0; i < f->node_count; i++) {
		const struct stills_node *n = &f->nodes[i];

		page_text(w->page, n->name);
		page_u32(w->page, n->parent == STILLS_NONE ? 0 : n->parent + 1);
		stills_html_add_place(w, n);
		add_turns(w, n);
		add_values(w, &n->scale);
	}
}

static void stills_html_add_shapes(const struct writing *w, const struct stills_figure *f)
{
	page_u32(w->page, f->shape_count);
	for (uint32_t i = 0; i < f->shape_count; i++) {
		const struct stills_shape *s = &f->shapes[i];

		page_u32(w->page, s->node);
		page_u8(w->page, s->kind);
		add_values(w, &s->colour);
		add_values(w, &s->transparency);
		page_u32(w->page, (uint32_t)s->points.width);
		add_values(w, &s->points);
		page_u32(w->page, (uint32_t)s->index_count);
		if (!w->page->out)
			page_skip(w->page, s->index_count * sizeof(*s->index));
		for (size_t k = 0; w->page->out && k < s->index_count; k++)
			page_u32(w->page, (uint32_t)s->index[k]);
	}
}

static void stills_html_add_clip(struct page *p, const struct shown *at,
				 const struct stills_figure *f)
{
	const struct clip *clip = &at->anim->clips[at->clip];
	const struct x3d_play play = stills_play(at);
	const struct writing w = {p, clip->frames};

	html_begin(p, 'S', at);
	page_text(p, clip->label);
	page_u8(p, play.loop);
	page_u8(p, play.backwards);
	page_u32(p, clip->frames);
	for (uint32_t i = 0; i < clip->frames; i++)
		page_f32(p, (double)clip->stills[i].time - (double)clip->stills[0].time);
	stills_html_add_nodes(&w, f);
	stills_html_add_shapes(&w, f);
}

static bool stills_html_write_page(const struct shown *at, struct buf *out, uint64_t *size)
{
	struct arena arena = ARENA_INIT;
	struct stills_figure f;
	struct page page;
	const bool made = stills_figure_make(&f, at->stills->joined, &arena);

	if (made) {
		page_begin(&page, out);
		stills_html_add_clip(&page, at, &f);
		*size = page_end(&page);
	}
	arena_release(&arena);
	return made;
}

static bool stills_html_present(const struct shown *at)
{
	return stills_present(at) && stills_figure_present(at->stills->joined, NULL);
}

static void stills_html_explain(const struct shown *at, struct err *err)
{
	if (stills_present(at))
		(void)stills_figure_present(at->stills->joined, err);
	else
		stills_explain(at, err);
}

static void stills_html_render(const struct shown *at, struct buf *out)
{
	uint64_t size;

	if (!stills_html_write_page(at, out, &size))
		out->failed = true;
}

static bool stills_html_size(const struct shown *at, uint64_t *out)
{
	return stills_html_write_page(at, NULL, out);
}

const struct view view_stills_html = {
	.name = "html",
	.unlisted = true,
	.place = VIEW_OF_CLIP,
	.file = "clip.html",
	.stills = true,
	.present = stills_html_present,
	.explain = stills_html_explain,
	.render = stills_html_render,
	.size = stills_html_size,
	.names_file = true,
};
