/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * clip.bvh: the clip in the form of motion capture data: a hierarchy, and a row of numbers for each
 * frame.
 *
 *   HIERARCHY
 *   ROOT hips
 *   {
 *     OFFSET 0 0 0
 *     CHANNELS 6 Xposition Yposition Zposition Zrotation Yrotation Xrotation
 *     JOINT spine
 *   ...
 *   MOTION
 *   Frames: 31
 *   Frame Time: 0.016666668
 *
 * The ROOT is a bone if that is the only one without a parent. Several such bones are joints of a
 * ROOT "figure" with CHANNELS 0. In a format whose Y points down there is always such a ROOT, with
 * three channels: it is rotated by half a turn about X in every row, as the root of clip.gltf is.
 * BVH has no mirror, for --ff9clip-hand=left.
 *
 * The positions of a root include its offset, which is 0, since programs differ in whether to add
 * one. All other bones only rotate. So the file is absent if it would lose something: if a bone is
 * scaled, or moves relative to its parent.
 *
 * With --bvh=lossy, scales are left out, and a bone that moves relative to its parent has positions
 * too. They replace its offset, as in Blender and most motion capture data; the offset is its
 * position in the first frame, for programs that move only roots. Such a text cannot be saved.
 */
#include "bvh_text.h"
#include "model/clip.h"
#include "model/rotation.h"
#include "text/num.h"
#include "views.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#define INDENT_MAX 40

/*
 * Every frame has a row even if nothing moves, so an animation file of a few bytes could claim a
 * text of gigabytes. A clip of this many cells (bones times frames) is always shown; larger ones
 * need keys in proportion.
 */
#define CELLS_FREE 65536
#define CELLS_PER_KEY 16

/* ---- can BVH express it? ---- */

/*
 * Returns the first frame in which the role's value differs from `as`, or from its own first value
 * if `as` is NULL; -1 if it never does.
 */
static int64_t frame_off(struct channel c, const double *as)
{
	double first[3];

	channel_next(&c);
	memcpy(first, as ? as : c.value, sizeof(first));
	do {
		for (unsigned axis = 0; axis < 3; axis++)
			if (fabs(c.value[axis] - first[axis]) > SAME)
				return c.frame;
	} while (channel_next(&c));
	return -1;
}

/* Returns the first frame in which the node moves relative to its parent, or -1. */
static int64_t frame_moved(const struct figure *f, uint32_t node)
{
	return bvh_is_root(f, node) ? -1 : frame_off(channel_of(f, node, ROLE_TRANSLATION), NULL);
}

static bool node_fits(const struct figure *f, uint32_t node, struct err *err)
{
	static const double one[3] = {1, 1, 1};
	int64_t frame = frame_off(channel_of(f, node, ROLE_SCALE), one);

	if (frame >= 0)
		return err_set(err, ERR_STORE,
			       "a BVH has no scale, and \"%s\" is scaled in frame %lld",
			       f->nodes[node].name, (long long)frame);
	frame = frame_moved(f, node);
	if (frame >= 0)
		return err_set(err, ERR_STORE,
			       "in a BVH only a root moves, and \"%s\" moves in frame %lld",
			       f->nodes[node].name, (long long)frame);
	return true;
}

static bool length_fits(const struct figure *f, struct err *err)
{
	uint64_t cells = (uint64_t)f->count * f->clip->frames, keys = 0;

	for (uint32_t bone = 0; bone < f->bones; bone++)
		for (unsigned role = 0; role < ROLE_COUNT; role++) {
			const struct channel c = channel_of(f, bone, (enum role)role);

			keys += channel_count(&c);
		}
	return cells <= CELLS_FREE || cells / CELLS_PER_KEY <= keys ||
	       err_set(err, ERR_STORE,
		       "a BVH has a row for every frame, and nearly all %u would be the same",
		       (unsigned)f->clip->frames);
}

/*
 * Returns whether BVH can store all of the figure's motion. If not, err names the bone and what
 * would be lost.
 */
static bool bvh_is_lossless(const struct figure *f, struct err *err)
{
	for (uint32_t node = 0; node < f->count; node++)
		if (!node_fits(f, node, err))
			return err_accept(err, "--bvh=lossy, which leaves scales out");
	return true;
}

static bool figure_fits(const struct figure *f, const struct shown *at, struct err *err)
{
	return length_fits(f, err) && (at->style.lossy_bvh || bvh_is_lossless(f, err));
}

static int bvh_check(const struct shown *at)
{
	struct arena arena = ARENA_INIT;
	struct figure f;
	int error = ENOMEM;

	if (!figure_present(at))
		return ENOENT;
	if (figure_make(&f, at, &arena))
		error = figure_fits(&f, at, NULL) ? 0 : ENOENT;
	arena_release(&arena);
	return error;
}

/*
 * Returns whether the clip has a clip.bvh. Out of memory the answer is yes; reading the file then
 * reports the failure.
 */
static bool bvh_present(const struct shown *at)
{
	return bvh_check(at) != ENOENT;
}

static void bvh_explain(const struct shown *at, struct err *err)
{
	struct arena arena = ARENA_INIT;
	struct figure f;

	figure_explain(at, err);
	if (figure_present(at) && (figure_make(&f, at, &arena) || err_memory(err)))
		figure_fits(&f, at, err);
	arena_release(&arena);
}

/* ---- the hierarchy ---- */

struct writing {
	const struct figure *f;
	struct buf *out;
	uint32_t *order; /* nodes in the text's order */
	bool *placed;    /* by node: whether it has position channels */
	uint32_t count;
	bool turned; /* the format's Y points down */
	/* number of joints above the figure's roots: 1 with a ROOT "figure", else 0 */
	uint32_t above;
};

static void bvh_begin_line(const struct writing *w, uint32_t depth)
{
	for (uint32_t i = 0; i < depth && i < INDENT_MAX; i++)
		buf_text(w->out, "  ");
}

static void write_offset(const struct writing *w, const double offset[3], uint32_t depth)
{
	bvh_begin_line(w, depth);
	buf_text(w->out, "OFFSET");
	for (unsigned axis = 0; axis < 3; axis++) {
		buf_char(w->out, ' ');
		buf_f32_text(w->out, finite_f32(offset[axis]));
	}
	buf_char(w->out, '\n');
}

static void bvh_enter_node(void *user, uint32_t node, uint32_t depth)
{
	struct writing *w = user;
	double offset[3];

	depth += w->above;
	w->order[w->count++] = node;
	w->placed[node] = bvh_is_root(w->f, node) || frame_moved(w->f, node) >= 0;
	bvh_begin_line(w, depth);
	buf_text(w->out, depth == 0 ? "ROOT " : "JOINT ");
	bvh_word(w->f->nodes[node].name, w->out);
	buf_char(w->out, '\n');
	bvh_begin_line(w, depth);
	buf_text(w->out, "{\n");
	bvh_offset(w->f, node, offset);
	write_offset(w, offset, depth + 1);
	bvh_begin_line(w, depth + 1);
	buf_text(w->out,
		 w->placed[node] ? "CHANNELS 6 Xposition Yposition Zposition" : "CHANNELS 3");
	buf_text(w->out, " Zrotation Yrotation Xrotation\n");
}

static void bvh_write_end(const struct writing *w, uint32_t node, uint32_t depth)
{
	double end[3];

	bvh_end(w->f, node, end);
	bvh_begin_line(w, depth);
	buf_text(w->out, "End Site\n");
	bvh_begin_line(w, depth);
	buf_text(w->out, "{\n");
	write_offset(w, end, depth + 1);
	bvh_begin_line(w, depth);
	buf_text(w->out, "}\n");
}

static void bvh_leave_node(void *user, uint32_t node, uint32_t depth)
{
	struct writing *w = user;

	depth += w->above;
	if (w->f->nodes[node].first_child == FIGURE_NONE)
		bvh_write_end(w, node, depth + 1);
	bvh_begin_line(w, depth);
	buf_text(w->out, "}\n");
}

static void bvh_write_hierarchy(struct writing *w)
{
	static const struct figure_walk hierarchy = {bvh_enter_node, bvh_leave_node};

	buf_text(w->out, "HIERARCHY\n");
	if (w->above) {
		buf_text(w->out, "ROOT ");
		bvh_figure_name(w->f, w->out);
		buf_text(w->out, "\n{\n  OFFSET 0 0 0\n");
		buf_text(w->out, w->turned ? "  CHANNELS 3 Zrotation Yrotation Xrotation\n"
					   : "  CHANNELS 0\n");
	}
	figure_walk(w->f, &hierarchy, w);
	if (w->above)
		buf_text(w->out, "}\n");
}

/* ---- the frames ---- */

/*
 * Evaluates one role of a node, frame by frame, interpolating between the two keys around the
 * frame.
 */
struct runner {
	struct channel before, after;
	bool more;
};

struct moving {
	struct runner position, rotation;
	const struct curve *euler; /* the rotation's curve if it stores Euler angles; else NULL */
	double angles[3];
};

static struct runner runner_of(const struct figure *f, uint32_t node, enum role role)
{
	struct runner r = {.before = channel_of(f, node, role)};

	channel_next(&r.before);
	r.after = r.before;
	r.more = channel_next(&r.after);
	return r;
}

static void run_to(struct runner *r, uint32_t frame, double out[4])
{
	for (; r->more && r->after.frame <= frame; r->more = channel_next(&r->after))
		r->before = r->after;
	memcpy(out, r->before.value, sizeof(r->before.value));
	if (!r->more || r->before.step || frame <= r->before.frame)
		return;

	unsigned width = r->before.width;
	const uint32_t frames[] = {r->before.frame, r->after.frame};
	double ends[8];
	const struct curve way = {.kind = width == 4 ? CURVE_QUATERNION : CURVE_VECTOR,
				  .keyed = true,
				  .count = 2,
				  .frames = frames,
				  .values = ends};

	for (unsigned axis = 0; axis < width; axis++) {
		ends[axis] = (double)finite_f32(r->before.value[axis]);
		ends[width + axis] = (double)finite_f32(r->after.value[axis]);
	}
	curve_sample(&way, frame, out);
}

static struct moving moving_of(const struct figure *f, uint32_t node)
{
	const struct joint *joint = f->nodes[node].joint;
	struct moving m = {.position = runner_of(f, node, ROLE_TRANSLATION),
			   .rotation = runner_of(f, node, ROLE_ROTATION)};
	const struct curve *c = node < f->bones ? f->clip->tracks[node].curve[ROLE_ROTATION] : NULL;

	if (c && c->kind == CURVE_EULER)
		m.euler = c;
	if (joint)
		memcpy(m.angles, joint->rest[ROLE_ROTATION], sizeof(m.angles));
	return m;
}

/*
 * Computes a node's angles in a frame. At a key they are the stored ones; elsewhere, of all
 * equivalent angles, those nearest to the previous row's.
 */
static void move_to(struct moving *m, uint32_t frame, double cells[6])
{
	double angles[4], value[4];

	if (m->euler) {
		curve_sample(m->euler, frame, angles);
		if (isfinite(angles[0] + angles[1] + angles[2]))
			memcpy(m->angles, angles, sizeof(m->angles));
	}
	run_to(&m->rotation, frame, value);
	rotation_euler(value, m->angles, m->angles);
	run_to(&m->position, frame, value);
	for (unsigned axis = 0; axis < 3; axis++) {
		cells[axis] = value[axis];
		cells[3 + axis] = m->angles[2 - axis];
	}
}

static void bvh_write_frame(const struct writing *w, uint32_t frame, struct moving *moving)
{
	if (w->turned)
		buf_text(w->out, "0 0 180 ");
	for (uint32_t i = 0; i < w->count && !w->out->failed; i++) {
		uint32_t node = w->order[i];
		double cells[6];
		unsigned first = w->placed[node] ? 0 : 3;

		move_to(&moving[node], frame, cells);
		for (unsigned cell = first; cell < 6; cell++) {
			if (i > 0 || cell > first)
				buf_char(w->out, ' ');
			buf_f32_text(w->out, finite_f32(cells[cell]));
		}
	}
	buf_char(w->out, '\n');
}

static void bvh_write_motion(const struct writing *w, struct moving *moving)
{
	buf_text(w->out, "MOTION\nFrames: ");
	buf_unsigned(w->out, w->f->clip->frames);
	buf_text(w->out, "\nFrame Time: ");
	buf_f32_text(w->out, (float)w->f->seconds);
	buf_char(w->out, '\n');
	for (uint32_t frame = 0; frame < w->f->clip->frames && !w->out->failed; frame++)
		bvh_write_frame(w, frame, moving);
}

static void bvh_render(const struct shown *at, struct buf *out)
{
	struct arena arena = ARENA_INIT;
	struct figure f;
	struct writing w = {.f = &f, .out = out, .turned = at->anim->format->y_down};

	if (figure_make(&f, at, &arena)) {
		struct moving *moving = arena_alloc(&arena, f.count, sizeof(*moving));

		w.order = arena_alloc(&arena, f.count, sizeof(*w.order));
		w.placed = arena_alloc(&arena, f.count, sizeof(*w.placed));
		if (!arena.failed) {
			w.above = bvh_has_figure(&f, w.turned);
			bvh_write_hierarchy(&w);
			for (uint32_t node = 0; node < f.count; node++)
				moving[node] = moving_of(&f, node);
			bvh_write_motion(&w, moving);
		}
	}
	out->failed |= arena.failed;
	arena_release(&arena);
}

/* ---- saving ---- */

static bool is_own_text(const struct shown *at, struct bytes text)
{
	struct buf own = BUF_INIT;
	bool same;

	bvh_render(at, &own);
	same = !own.failed && bytes_equal(buf_bytes(&own), text);
	buf_release(&own);
	return same;
}

static struct anim *refuse_lossy(const struct err *loss, struct err *err)
{
	err_set(err, ERR_STORE, "a text that leaves something out cannot be saved: %s",
		loss->message);
	err_accept(err, "edits of bones/*.csv, bones/*.json or clip.json; this view follows them");
	return NULL;
}

/* Parses a lossy text: it is accepted only if unchanged. */
static struct anim *lossy_parse(const struct shown *at, struct bytes text, const struct err *loss,
				struct err *err)
{
	struct anim *edited;

	if (!is_own_text(at, text))
		return refuse_lossy(loss, err);
	edited = anim_edit(at->anim);
	if (!edited)
		err_memory(err);
	return edited;
}

static struct anim *bvh_parse(const struct shown *at, struct bytes text, struct err *err)
{
	struct arena arena = ARENA_INIT;
	struct anim *edited = NULL;
	struct err loss = {.code = ERR_NONE};
	struct figure f;

	if (!figure_present(at))
		figure_explain(at, err);
	else if (!figure_make(&f, at, &arena))
		err_memory(err);
	else if (figure_fits(&f, at, err))
		edited = bvh_is_lossless(&f, &loss) ? bvh_import(at, text, err)
						    : lossy_parse(at, text, &loss, err);
	arena_release(&arena);
	return edited;
}

const struct view view_bvh = {
	.name = "bvh",
	.place = VIEW_OF_CLIP,
	.file = "clip.bvh",
	.present = bvh_present,
	.check = bvh_check,
	.explain = bvh_explain,
	.render = bvh_render,
	.every_key = true,
	.parse = bvh_parse,
	.posed = true,
};
