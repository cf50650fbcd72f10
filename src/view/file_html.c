/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * file.html: all clips of the file, each as a small figure that moves.
 *
 * Its data are little-endian and begin as those of clip.html (clip_html.c), but with 'F', or with
 * 'G' where the clips are made of stills:
 *
 *	u32 clips, u32 shown        of the file, and here
 *	clips       text name, u32 frames, f64 seconds of a frame, u8 CLIP_*, u32 bones, u32 keys,
 *	            u8 poses, u8 joints; if there are poses: of 'F' u8 parent + 1 (0: none) of each
 *	            joint, of 'G' u8 parts and, of each, u8 corner[3] and u8 colour[3]
 *	            (stills_sketch.h); f32 least[3], most[3]; u16 place[3] of each joint in each
 *	            pose, from 0 at the least to 65534 at the most; 65535: it is not drawn
 *
 * Of stills, bones are the shapes, and keys the stills. The page stays below 2 MB: the more clips,
 * the fewer poses each, and in the end not all clips are shown.
 */
#include "figure.h"
#include "html.h"
#include "model/clip.h"
#include "stills.h"
#include "stills_sketch.h"
#include "views.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#define PAGE_LIMIT 2000000
#define MOST_POSES 24
#define MOST_JOINTS 32
#define PLACES 65534
#define NOT_DRAWN 65535

#define HEAD_SIZE (4 + 8 + 1 + 4 + 4 + 1 + 1) /* bytes of data for a clip, after its name */
#define BOX_SIZE (6 * 4)
#define PART_SIZE 6
#define PLACE_SIZE (3 * 2)

enum { CLIP_LOOPS = 1, CLIP_HAS_PAGE = 2 };

/* The visible parts of a clip. */
struct outline {
	bool page; /* the clip has a clip.html to link to */
	uint8_t poses, joints;
	uint8_t parts; /* of a clip of stills: the number of parts of its sketch */
	/* of a clip of stills: the number of shapes, or of Transforms if it has no shapes */
	uint32_t shapes;
};

struct gallery {
	const struct shown *at;
	struct outline *outlines; /* the visible parts of each clip */
	struct page *page;
	/* maximum number of poses per clip; number of clips shown */
	unsigned poses;
	uint32_t clips;
	size_t size; /* bytes of data for all clips */
};

static struct shown file_html_shown_clip(const struct shown *at, uint32_t clip)
{
	struct shown one = *at;

	one.clip = clip;
	one.stills = at->stills ? at->stills + clip : NULL;
	return one;
}

/* ---- the size of the data ---- */

static unsigned joints_of(const struct clip *clip)
{
	return clip->track_count < MOST_JOINTS ? clip->track_count : MOST_JOINTS;
}

static struct outline outline_bones(const struct shown *at)
{
	const struct clip *clip = clip_shown(at);

	if (!figure_present(at))
		return (struct outline){.page = false};
	return (struct outline){
		.page = true,
		.poses = (uint8_t)(clip->frames < MOST_POSES ? clip->frames : MOST_POSES),
		.joints = (uint8_t)joints_of(clip),
	};
}

/* Returns the time of a still in seconds, counted from the first. */
static double file_html_time_of(const struct clip *clip, uint32_t still)
{
	return (double)clip->stills[still].time - (double)clip->stills[0].time;
}

/* Returns whether the page has enough poses for each still, and all stills last equally long. */
static bool is_even(const struct clip *clip)
{
	const double last = file_html_time_of(clip, clip->frames - 1);

	for (uint32_t i = 1; i < clip->frames; i++)
		if (fabs(file_html_time_of(clip, i) - last * i / (clip->frames - 1)) > last * 1e-3)
			return false;
	return true;
}

/*
 * Returns the number of frames of a clip; one that is played forward and back has the frames of the
 * way back as well.
 */
static uint32_t frames_of(const struct shown *at)
{
	const uint32_t frames = clip_shown(at)->frames;

	return stills_play(at).backwards ? 2 * frames - 1 : frames;
}

static unsigned poses_of_stills(const struct shown *at)
{
	const uint32_t frames = frames_of(at);

	return frames < MOST_POSES && is_even(clip_shown(at)) ? frames : MOST_POSES;
}

/* Fills in the outline of a clip of stills. Returns false when out of memory. */
static bool outline_stills(const struct shown *at, struct outline *out)
{
	struct arena arena = ARENA_INIT;
	struct stills_figure figure;
	struct stills_sketch sketch;
	bool made;

	*out = (struct outline){.page = view_stills_html.present(at)};
	if (!out->page)
		return true;
	made = stills_figure_make(&figure, at->stills->joined, &arena) &&
	       stills_sketch_make(&sketch, &figure, clip_shown(at)->frames, &arena);
	if (made && sketch.point_count > 0) {
		out->poses = (uint8_t)poses_of_stills(at);
		out->joints = (uint8_t)sketch.point_count;
		out->parts = (uint8_t)sketch.part_count;
		out->shapes = figure.shape_count > 0 ? figure.shape_count : figure.node_count - 1;
	}
	arena_release(&arena);
	return made;
}

static bool outline_clips(struct gallery *g)
{
	const struct anim *a = g->at->anim;

	g->outlines = calloc(a->clip_count, sizeof(*g->outlines));
	for (uint32_t i = 0; g->outlines && i < a->clip_count; i++) {
		const struct shown at = file_html_shown_clip(g->at, i);

		if (!a->format->stills)
			g->outlines[i] = outline_bones(&at);
		else if (!outline_stills(&at, &g->outlines[i]))
			return false;
	}
	return g->outlines != NULL;
}

static unsigned poses_shown(const struct gallery *g, uint32_t clip)
{
	const unsigned poses = g->outlines[clip].poses;

	return poses < g->poses ? poses : g->poses;
}

static size_t clip_size(const struct gallery *g, uint32_t clip)
{
	const struct outline *o = &g->outlines[clip];
	const unsigned poses = poses_shown(g, clip);
	size_t size = 2 + strlen(g->at->anim->clips[clip].label) + HEAD_SIZE;

	if (poses > 0)
		size += (g->at->anim->format->stills ? 1u + (size_t)o->parts * PART_SIZE
						     : o->joints) +
			BOX_SIZE + (size_t)poses * o->joints * PLACE_SIZE;
	return size;
}

static size_t clips_size(const struct gallery *g)
{
	size_t size = 0;

	for (uint32_t i = 0; i < g->clips; i++)
		size += clip_size(g, i);
	return size;
}

/*
 * Chooses how many poses and clips the page has. `begin` is the size of the data before the clips.
 */
static void choose_size(struct gallery *g, size_t begin)
{
	static const unsigned steps[] = {MOST_POSES, 16, 12, 8, 6, 4, 3, 2, 1, 0};

	g->clips = g->at->anim->clip_count;
	for (size_t i = 0; i < ARRAY_SIZE(steps); i++) {
		g->poses = steps[i];
		g->size = clips_size(g);
		if (page_size(begin + g->size) <= PAGE_LIMIT)
			return;
	}
	while (g->clips > 0 && page_size(begin + g->size) > PAGE_LIMIT)
		g->size -= clip_size(g, --g->clips);
}

/* ---- a clip of bones ---- */

static uint32_t file_html_count_keys(const struct clip *clip)
{
	uint64_t keys = 0;

	for (uint32_t i = 0; i < clip->track_count; i++)
		for (unsigned role = 0; role < ROLE_COUNT; role++) {
			const struct curve *c = clip->tracks[i].curve[role];

			keys += c ? curve_shown(c, clip->frames) : 0;
		}
	return keys < UINT32_MAX ? (uint32_t)keys : UINT32_MAX;
}

/* A clip as poses of the joints nearest to the roots; parents come before children. */
struct thumbnail {
	const struct clip *clip;
	const struct rig *rig; /* of a clip of bones; else NULL */
	unsigned poses, joints;
	uint32_t track[MOST_JOINTS];
	float (*places)[3]; /* by pose and joint; NAN: the joint is not drawn */
	float least[3], most[3];
};

/* Chooses joints level by level from the roots, so that those left out are at the ends of limbs. */
static bool choose_joints(struct thumbnail *t, struct arena *arena)
{
	uint32_t *depth = arena_alloc(arena, t->rig->count, sizeof(*depth));
	unsigned chosen = 0;

	if (!depth)
		return false;
	for (uint32_t i = 0; i < t->rig->count; i++) {
		const int32_t parent = t->rig->parents[t->rig->order[i]];

		depth[t->rig->order[i]] = parent == JOINT_ROOT ? 0 : depth[parent] + 1;
	}
	for (uint32_t level = 0; chosen < t->joints; level++)
		for (uint32_t i = 0; i < t->rig->count && chosen < t->joints; i++)
			if (depth[i] == level)
				t->track[chosen++] = i;
	return true;
}

static bool file_html_is_drawn(const struct clip *clip, uint32_t track, uint32_t frame)
{
	const struct keyframes *k = clip->tracks[track].keyframes;
	uint32_t first = 0;

	return !k || keyframes_find(k, frame, 0, &first) >= 0;
}

static uint32_t file_html_frame_of(const struct thumbnail *t, unsigned pose)
{
	return t->poses > 1 ? pose * (t->clip->frames - 1) / (t->poses - 1) : 0;
}

static void pose_joints(struct thumbnail *t, unsigned pose, struct transform *world)
{
	const uint32_t frame = file_html_frame_of(t, pose);

	rig_world(t->rig, t->clip, frame, world);
	for (unsigned i = 0; i < t->joints; i++) {
		float *place = t->places[pose * t->joints + i];
		const bool drawn = file_html_is_drawn(t->clip, t->track[i], frame);

		for (unsigned axis = 0; axis < 3; axis++)
			place[axis] = drawn ? finite_f32(world[t->track[i]].m[axis][3]) : NAN;
	}
}

static bool pose_bones(struct thumbnail *t, const struct shown *at, struct arena *arena)
{
	struct transform *world = arena_alloc(arena, t->clip->track_count, sizeof(*world));

	t->rig = rig_make(at->skeleton, t->clip, arena);
	if (arena->failed || !choose_joints(t, arena))
		return false;
	for (unsigned pose = 0; pose < t->poses; pose++)
		pose_joints(t, pose, world);
	return true;
}

static unsigned file_html_parent_of(const struct thumbnail *t, unsigned joint)
{
	for (unsigned i = 0; i < joint; i++)
		if ((int32_t)t->track[i] == t->rig->parents[t->track[joint]])
			return i + 1;
	return 0;
}

static bool file_html_add_bones(struct page *p, struct thumbnail *t, const struct shown *at,
				struct arena *arena)
{
	if (!pose_bones(t, at, arena))
		return false;
	for (unsigned i = 0; i < t->joints; i++)
		page_u8(p, file_html_parent_of(t, i));
	return true;
}

/* ---- a clip of stills ---- */

/*
 * Returns the still at or before a time, and as a fraction how far the time is on the way to the
 * next still.
 */
static uint32_t still_at(const struct clip *clip, double time, double *part)
{
	uint32_t still = 0;
	double from, to;

	while (still + 2 < clip->frames && file_html_time_of(clip, still + 1) <= time)
		still++;
	from = file_html_time_of(clip, still);
	to = still + 1 < clip->frames ? file_html_time_of(clip, still + 1) : from;
	*part = to > from ? fmin(fmax((time - from) / (to - from), 0), 1) : 0;
	return still;
}

static void pose_still(const struct thumbnail *t, struct stills_sketch *s, unsigned pose,
		       bool backwards)
{
	float(*out)[3] = t->places + (size_t)pose * t->joints, next[SKETCH_POINTS][3];
	const double last = file_html_time_of(t->clip, t->clip->frames - 1);
	double time = t->poses > 1 ? (backwards ? 2 : 1) * last * pose / (t->poses - 1) : 0, part;
	const uint32_t still = still_at(t->clip, time > last ? 2 * last - time : time, &part);

	stills_sketch_pose(s, still, out);
	if (!(part > 0))
		return;
	stills_sketch_pose(s, still + 1, next);
	for (unsigned i = 0; i < t->joints; i++)
		for (unsigned axis = 0; axis < 3; axis++)
			out[i][axis] += (float)part * (next[i][axis] - out[i][axis]);
}

static void file_html_add_parts(struct page *p, const struct stills_sketch *s)
{
	page_u8(p, s->part_count);
	for (unsigned i = 0; i < s->part_count; i++) {
		page_add(p, s->parts[i].corners, 3);
		page_add(p, s->parts[i].colour, 3);
	}
}

static bool add_stills(struct page *p, struct thumbnail *t, const struct shown *at,
		       struct arena *arena)
{
	struct stills_figure figure;
	struct stills_sketch sketch;

	assert(at->stills);
	if (!stills_figure_make(&figure, at->stills->joined, arena) ||
	    !stills_sketch_make(&sketch, &figure, t->clip->frames, arena))
		return false;
	for (unsigned pose = 0; pose < t->poses; pose++)
		pose_still(t, &sketch, pose, stills_play(at).backwards);
	file_html_add_parts(p, &sketch);
	return true;
}

/* ---- a clip ---- */

static void find_box(struct thumbnail *t)
{
	for (unsigned axis = 0; axis < 3; axis++) {
		float least = INFINITY, most = -INFINITY;

		for (unsigned i = 0; i < t->poses * t->joints; i++) {
			least = fminf(least, t->places[i][axis]);
			most = fmaxf(most, t->places[i][axis]);
		}
		t->least[axis] = least > most ? 0 : least;
		t->most[axis] = least > most ? 0 : most;
	}
}

static unsigned file_html_place_in(const struct thumbnail *t, float place, unsigned axis)
{
	const double size = (double)t->most[axis] - (double)t->least[axis];

	if (isnan(place))
		return NOT_DRAWN;
	return size > 0 ? (unsigned)lrint(((double)place - (double)t->least[axis]) / size * PLACES)
			: 0;
}

static void add_places(struct page *p, const struct thumbnail *t)
{
	for (unsigned axis = 0; axis < 3; axis++)
		page_f32(p, (double)t->least[axis]);
	for (unsigned axis = 0; axis < 3; axis++)
		page_f32(p, (double)t->most[axis]);
	for (unsigned i = 0; i < t->poses * t->joints; i++)
		for (unsigned axis = 0; axis < 3; axis++)
			page_u16(p, file_html_place_in(t, t->places[i][axis], axis));
}

static bool file_html_add_thumbnail(struct page *p, const struct shown *at, unsigned poses,
				    unsigned joints)
{
	struct arena arena = ARENA_INIT;
	struct thumbnail t = {.clip = clip_shown(at), .poses = poses, .joints = joints};
	bool made;

	t.places = arena_alloc(&arena, (size_t)poses * joints, sizeof(*t.places));
	made = t.places && (at->anim->format->stills ? add_stills(p, &t, at, &arena)
						     : file_html_add_bones(p, &t, at, &arena));
	if (made) {
		find_box(&t);
		add_places(p, &t);
	}
	arena_release(&arena);
	return made;
}

/* Returns the seconds per frame, as clip.html has them. */
static double seconds_of(const struct shown *at)
{
	const struct clip *clip = clip_shown(at);
	const uint32_t frames = clip->frames;
	double last;

	if (!at->anim->format->stills)
		return anim_seconds_per_frame(at->anim, clip);
	last = file_html_time_of(clip, frames - 1);
	return frames > 1 && last > 0 ? last / (frames - 1) : 1;
}

static void file_html_add_facts(struct page *p, const struct shown *at, const struct outline *o)
{
	const struct clip *clip = clip_shown(at);
	const bool stills = at->anim->format->stills;

	page_text(p, clip->label);
	page_u32(p, stills ? frames_of(at) : clip->frames);
	page_f64(p, seconds_of(at));
	page_u8(p, (clip->loop ? CLIP_LOOPS : 0u) | (o->page ? CLIP_HAS_PAGE : 0u));
	page_u32(p, stills ? o->shapes : clip->track_count);
	page_u32(p, stills ? clip->frames : file_html_count_keys(clip));
}

static bool file_html_add_clip(const struct gallery *g, uint32_t clip)
{
	const struct outline *o = &g->outlines[clip];
	const struct shown at = file_html_shown_clip(g->at, clip);
	const unsigned poses = poses_shown(g, clip);

	file_html_add_facts(g->page, &at, o);
	page_u8(g->page, poses);
	page_u8(g->page, o->joints);
	return poses == 0 || file_html_add_thumbnail(g->page, &at, poses, o->joints);
}

/* ---- the page ---- */

static bool file_html_present(const struct shown *at)
{
	bool found = !at->anim->format->stills && at->anim->clip_count > 0;

	for (uint32_t i = 0; at->stills && i < at->anim->clip_count && !found; i++) {
		const struct shown clip = file_html_shown_clip(at, i);

		found = view_stills_html.present(&clip);
	}
	return found;
}

/* Begins the page and its data. Returns false when out of memory. */
static bool begin_file(struct gallery *g, struct page *p, const struct shown *at)
{
	*g = (struct gallery){.at = at, .page = p};
	html_begin(p, at->anim->format->stills ? 'G' : 'F', at);
	page_u32(p, at->anim->clip_count);
	if (!outline_clips(g))
		return false;
	choose_size(g, p->size + 4);
	page_u32(p, g->clips);
	return true;
}

static void file_html_render(const struct shown *at, struct buf *out)
{
	struct gallery g;
	struct page page;
	bool made;

	page_begin(&page, out);
	made = begin_file(&g, &page, at);
	for (uint32_t i = 0; made && i < g.clips && !out->failed; i++)
		made = file_html_add_clip(&g, i);
	page_end(&page);
	out->failed |= !made;
	free(g.outlines);
}

static bool file_html_size(const struct shown *at, uint64_t *out)
{
	struct gallery g;
	struct page page;
	bool made;

	page_begin(&page, NULL);
	made = begin_file(&g, &page, at);
	if (made)
		page_skip(&page, g.size);
	*out = page_end(&page);
	free(g.outlines);
	return made;
}

/*
 * Explains why the page is absent, by the first clip's reason. Those of other clips are in the
 * mount's errors, too.
 */
static void file_html_explain(const struct shown *at, struct err *err)
{
	const struct shown clip = file_html_shown_clip(at, 0);

	if (at->stills && at->anim->clip_count > 0)
		view_stills_html.explain(&clip, err);
}

const struct view view_file_html = {
	.name = "html",
	.unlisted = true,
	.place = VIEW_OF_FILE,
	.file = "file.html",
	.present = file_html_present,
	.explain = file_html_explain,
	.render = file_html_render,
	.size = file_html_size,
	.posed = true,
	.names_file = true,
	.composed = true,
};
