/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "compare.h"

#include "listing.h"
#include "model/curve_edit.h"
#include "model/rotation.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Rotating by an angle changes each component of the quaternion by at most half the angle. */
#define NEAR_ANGLE (0.1 * M_PI / 180)
#define NEAR_PART                                                                                  \
	1e-5 /* relative tolerance for values of two formats: float32s in different units never    \
		match exactly */
#define NEAR_SECONDS 1e-6

struct diff {
	const struct anim *a, *b;
	bool other; /* the two files have different formats */
	bool same;  /* no difference was found so far */
	struct buf *out;
	/*
	 * Clip and bone that the next lines are about. Without a bone, the lines are about the
	 * clip; without a clip, about the file.
	 */
	const char *clip, *bone;
	bool headed; /* the heading of `clip` or `bone` has been printed */
};

/* ---- lines ---- */

static void diff_about(struct diff *d, const char *clip, const char *bone)
{
	d->clip = clip;
	d->bone = bone;
	d->headed = false;
}

static void print_head(struct diff *d)
{
	d->same = false;
	if (d->headed || !d->clip)
		return;
	d->headed = true;
	if (d->bone)
		buf_format(d->out, "bone %s/%s\n", d->clip, d->bone);
	else
		buf_format(d->out, "clip %s\n", d->clip);
}

static void compare_print_line(struct diff *d, char sign, struct bytes line)
{
	print_head(d);
	buf_char(d->out, sign);
	buf_add(d->out, line.data, line.size);
}

static void print_listed(struct diff *d, char sign, const struct listing *l, size_t i)
{
	compare_print_line(d, sign, listing_line(l, i));
}

static void print_clip(struct diff *d, char sign, const struct clip *c)
{
	d->same = false;
	buf_format(d->out, "%cclip %s (%u frames, %u bones)\n", sign, c->label, c->frames,
		   c->track_count);
}

/* The number of keys of a bone. */
static uint32_t compare_count_keys(const struct track *t)
{
	uint32_t count = 0;

	for (unsigned role = 0; role < ROLE_COUNT; role++)
		count += t->curve[role] ? t->curve[role]->count : 0;
	return count;
}

static void print_bone(struct diff *d, char sign, const struct track *t)
{
	print_head(d);
	buf_format(d->out, "%c  bone %s (%u keys)\n", sign, t->label, compare_count_keys(t));
}

static bool lines_same(const struct listing *a, size_t i, const struct listing *b, size_t j)
{
	return bytes_equal(listing_line(a, i), listing_line(b, j));
}

static void drop_listings(struct diff *d, struct listing *a, struct listing *b)
{
	d->out->failed |= listing_failed(a) || listing_failed(b);
	listing_release(a);
	listing_release(b);
}

/* Compares lines by frame; lines of the same frame are matched in order. */
static void merge_lines(struct diff *d, struct listing *a, struct listing *b)
{
	size_t i = 0, j = 0, m = listing_count(a), n = listing_count(b);

	while (i < m || j < n) {
		uint64_t x = i < m ? listing_row(a, i)->frame : UINT64_MAX;
		uint64_t y = j < n ? listing_row(b, j)->frame : UINT64_MAX;

		if (x != y || !lines_same(a, i, b, j)) {
			if (x <= y)
				print_listed(d, '-', a, i);
			if (y <= x)
				print_listed(d, '+', b, j);
		}
		i += x <= y;
		j += y <= x;
	}
	drop_listings(d, a, b);
}

/* Pairs lines with the same first word; most have the same index. */
static void pair_lines(struct diff *d, struct listing *a, struct listing *b)
{
	size_t m = listing_count(a), n = listing_count(b), end = 0, begin = 0;

	while (begin < m && begin < n && lines_same(a, begin, b, begin))
		begin++;
	while (end < m - begin && end < n - begin && lines_same(a, m - 1 - end, b, n - 1 - end))
		end++;
	for (size_t i = begin; i < m - end || i < n - end; i++) {
		bool both = i < m - end && i < n - end;

		if (both && lines_same(a, i, b, i))
			continue;
		if (i < m - end)
			print_listed(d, '-', a, i);
		if (i < n - end)
			print_listed(d, '+', b, i);
	}
	drop_listings(d, a, b);
}

/* ---- curves of one format ---- */

static void compare_curve(struct diff *d, enum role role, const struct curve *a,
			  const struct curve *b)
{
	struct listing x = LISTING_INIT, y = LISTING_INIT;

	if (curve_same(a, b))
		return;
	listing_curve(&x, role, a);
	listing_curve(&y, role, b);
	merge_lines(d, &x, &y);
}

static void compare_keyframes(struct diff *d, const struct track *a, const struct track *b)
{
	struct listing x = LISTING_INIT, y = LISTING_INIT;

	listing_keyframes(&x, a);
	listing_keyframes(&y, b);
	merge_lines(d, &x, &y);
}

/* ---- curves of two formats ---- */

static bool vectors_near(const struct curve *a, const double *x, const struct curve *b,
			 const double *y)
{
	for (unsigned axis = 0; axis < 3; axis++) {
		const struct lane *p = &a->lane[axis], *q = &b->lane[axis];
		double room = NEAR_PART * fmax(1, fabs(x[axis]));

		room += fabs(p->form == LANE_GRID ? p->unit * (double)p->step : 0) / 2;
		room += fabs(q->form == LANE_GRID ? q->unit * (double)q->step : 0) / 2;
		if (!f64_same(x[axis], y[axis]) && !(fabs(x[axis] - y[axis]) <= room))
			return false;
	}
	return true;
}

/* Compares rotations: lengths do not matter, and q equals -q. */
static bool rotations_near(const double *x, const double *y)
{
	double dot = 0, lengths[2] = {0, 0}, far = 0;

	for (unsigned axis = 0; axis < 4; axis++) {
		dot += x[axis] * y[axis];
		lengths[0] += x[axis] * x[axis];
		lengths[1] += y[axis] * y[axis];
	}
	for (unsigned axis = 0; axis < 4; axis++) {
		double p = x[axis] / sqrt(lengths[0]), q = y[axis] / sqrt(lengths[1]);

		far = fmax(far, fabs(dot < 0 ? p + q : p - q));
	}
	return far <= NEAR_ANGLE / 2;
}

static bool near_in_frame(const struct curve *a, const struct curve *b, uint32_t frame)
{
	double x[4], y[4];

	curve_sample(a, frame, x);
	curve_sample(b, frame, y);
	return a->kind == CURVE_VECTOR ? vectors_near(a, x, b, y) : rotations_near(x, y);
}

static bool has_key(const struct curve *c, uint32_t *next, uint32_t frame)
{
	while (*next < c->count && curve_frame(c, *next) < frame)
		++*next;
	return *next < c->count && curve_frame(c, *next) == frame;
}

/* Compares curves of any kind by their poses, with rotations converted to one form. */
static void compare_movement(struct diff *d, enum role role, const struct curve *a,
			     const struct curve *b, uint32_t frames)
{
	struct listing x = LISTING_INIT, y = LISTING_INIT;
	uint32_t i = 0, j = 0;

	if (!a || !b) {
		listing_curve(&x, role, a);
		listing_curve(&y, role, b);
	}
	for (uint32_t frame = 0; a && b && frame < frames; frame++) {
		bool of_a = has_key(a, &i, frame), of_b = has_key(b, &j, frame);

		if ((!of_a && !of_b) || near_in_frame(a, b, frame))
			continue;
		listing_sample(&x, role, a, frame);
		listing_sample(&y, role, b, frame);
	}
	merge_lines(d, &x, &y);
}

/* Returns a copy of the track with rotations as quaternions, in the caller's arena. */
static struct track as_quaternions(const struct track *t, struct arena *arena)
{
	const struct curve *c = t->curve[ROLE_ROTATION];
	struct track shown = *t;

	if (c && c->kind != CURVE_QUATERNION)
		shown.curve[ROLE_ROTATION] = rotation_convert(c, CURVE_QUATERNION, arena);
	return shown;
}

static void compare_movements(struct diff *d, const struct clip *clip, const struct track *a,
			      const struct track *b)
{
	struct arena arena = ARENA_INIT;
	struct track x = as_quaternions(a, &arena), y = as_quaternions(b, &arena);

	for (enum role role = 0; !arena.failed && role < ROLE_COUNT; role++)
		compare_movement(d, role, x.curve[role], y.curve[role], clip->frames);
	d->out->failed |= arena.failed;
	arena_release(&arena);
}

/* ---- bones ---- */

static void compare_tracks(struct diff *d, const struct clip *clip, const struct track *a,
			   const struct track *b)
{
	struct arena arena = ARENA_INIT;
	struct track x, y;

	diff_about(d, clip->label, a->label);
	if (d->other) {
		compare_movements(d, clip, a, b);
		return;
	}
	if (track_same(a, b))
		return;
	if (a->keyframes && b->keyframes) {
		compare_keyframes(d, a, b);
		return;
	}
	x = curve_edit_shown(d->a, a, &arena);
	y = curve_edit_shown(d->b, b, &arena);
	for (enum role role = 0; !arena.failed && role < ROLE_COUNT; role++)
		compare_curve(d, role, x.curve[role], y.curve[role]);
	d->out->failed |= arena.failed;
	arena_release(&arena);
}

/* Finds a track of equal content whose label the other clip lacks: a renamed bone. */
static const struct track *renamed_track(const struct clip *a, const struct clip *b, uint32_t i)
{
	for (uint32_t j = 0; j < b->track_count && compare_count_keys(&a->tracks[i]); j++) {
		uint32_t at = (uint32_t)(((uint64_t)i + j) % b->track_count);

		if (track_same(&a->tracks[i], &b->tracks[at]) &&
		    !track_labelled(a, at, b->tracks[at].label))
			return &b->tracks[at];
	}
	return NULL;
}

/* partner[i]: index in b of bone i of a, or UINT32_MAX; taken[j]: bone j of b is a partner. */
static void match_tracks(struct diff *d, const struct clip *a, const struct clip *b,
			 uint32_t *partner, bool *taken)
{
	for (uint32_t i = 0; i < a->track_count; i++) {
		const struct track *t = track_labelled(b, i, a->tracks[i].label);

		if (!t) {
			t = renamed_track(a, b, i);
			if (t && taken[t - b->tracks])
				t = NULL;
			if (t) {
				print_head(d);
				buf_format(d->out, "   bone %s is called %s\n", a->tracks[i].label,
					   t->label);
			}
		}
		partner[i] = t ? (uint32_t)(t - b->tracks) : UINT32_MAX;
		if (t)
			taken[partner[i]] = true;
		else
			print_bone(d, '-', &a->tracks[i]);
	}
	for (uint32_t j = 0; j < b->track_count; j++) {
		if (!taken[j])
			print_bone(d, '+', &b->tracks[j]);
	}
}

/* Are the bones with partners in the same order? */
static bool compare_in_order(const uint32_t *partner, uint32_t count)
{
	uint32_t last = 0;

	for (uint32_t i = 0; i < count; i++) {
		if (partner[i] == UINT32_MAX)
			continue;
		if (partner[i] < last)
			return false;
		last = partner[i];
	}
	return true;
}

static void compare_all_tracks(struct diff *d, const struct clip *a, const struct clip *b,
			       uint32_t *partner, bool *taken)
{
	match_tracks(d, a, b, partner, taken);
	if (!d->other && !compare_in_order(partner, a->track_count)) {
		print_head(d);
		buf_text(d->out, "   the bones stand in another order\n");
	}
	for (uint32_t i = 0; i < a->track_count; i++) {
		if (partner[i] != UINT32_MAX)
			compare_tracks(d, a, &a->tracks[i], &b->tracks[partner[i]]);
	}
}

static void compare_bodies(struct diff *d, const struct clip *a, const struct clip *b)
{
	uint32_t *partner = calloc((size_t)a->track_count + 1, sizeof(*partner));
	bool *taken = calloc((size_t)b->track_count + 1, sizeof(*taken));

	if (partner && taken)
		compare_all_tracks(d, a, b, partner, taken);
	else
		d->out->failed = true;
	free(partner);
	free(taken);
}

/* ---- clips ---- */

/* Lists what clips of all formats have. */
static void list_common(struct listing *l, const struct anim *a, const struct clip *c)
{
	struct format plain = {.name = a->format->name, .has_loop = true};
	struct anim shown = {.format = &plain, .rate = a->rate};
	struct clip values = {.frames = c->frames, .loop = c->loop, .stills = c->stills};

	listing_values(l, &shown, &values);
}

static double clip_seconds(const struct anim *a, const struct clip *c)
{
	return c->frames > 0 ? (c->frames - 1) * anim_seconds_per_frame(a, c) : 0;
}

static void compare_values(struct diff *d, const struct clip *a, const struct clip *b)
{
	struct listing x = LISTING_INIT, y = LISTING_INIT;

	if (d->other) {
		list_common(&x, d->a, a);
		list_common(&y, d->b, b);
	} else {
		listing_values(&x, d->a, a);
		listing_values(&y, d->b, b);
	}
	pair_lines(d, &x, &y);
	if (d->other && fabs(clip_seconds(d->a, a) - clip_seconds(d->b, b)) > NEAR_SECONDS) {
		print_head(d);
		buf_format(d->out, "-  seconds %.6f\n+  seconds %.6f\n", clip_seconds(d->a, a),
			   clip_seconds(d->b, b));
	}
}

static void compare_two(struct diff *d, const struct clip *a, const struct clip *b)
{
	diff_about(d, a->label, NULL);
	compare_values(d, a, b);
	if (a->tracks != b->tracks || a->track_count != b->track_count)
		compare_bodies(d, a, b);
}

static bool compare_clip_same(const struct clip *a, const struct clip *b)
{
	if (a->frames != b->frames || a->track_count != b->track_count || !a->track_count)
		return false;
	for (uint32_t i = 0; i < a->track_count; i++) {
		if (strcmp(a->tracks[i].label, b->tracks[i].label) != 0 ||
		    !track_same(&a->tracks[i], &b->tracks[i]))
			return false;
	}
	return true;
}

static uint32_t compare_renamed_clip(const struct anim *a, const struct anim *b, uint32_t i)
{
	for (uint32_t j = 0; j < b->clip_count; j++) {
		uint32_t at = (uint32_t)(((uint64_t)i + j) % b->clip_count);

		if (compare_clip_same(&a->clips[i], &b->clips[at]) &&
		    !clip_labelled(a, at, b->clips[at].label))
			return at;
	}
	return UINT32_MAX;
}

/* The index in b of clip i of a, or UINT32_MAX. A clip named after its file matches any name. */
static uint32_t partner_of(struct diff *d, uint32_t i, const bool *taken)
{
	const char *label = d->a->clips[i].label;
	const struct clip *b = clip_labelled(d->b, i, label);
	uint32_t at;

	if (b)
		return (uint32_t)(b - d->b->clips);
	if ((d->a->format->nameless || d->b->format->nameless) && d->a->clip_count == 1 &&
	    d->b->clip_count == 1)
		return 0;
	at = compare_renamed_clip(d->a, d->b, i);
	if (at == UINT32_MAX || taken[at])
		return UINT32_MAX;
	d->same = false;
	buf_format(d->out, " clip %s is called %s\n", label, d->b->clips[at].label);
	return at;
}

static void compare_all_clips(struct diff *d, uint32_t *partner, bool *taken)
{
	for (uint32_t i = 0; i < d->a->clip_count; i++) {
		partner[i] = partner_of(d, i, taken);
		if (partner[i] != UINT32_MAX)
			taken[partner[i]] = true;
		else
			print_clip(d, '-', &d->a->clips[i]);
	}
	for (uint32_t j = 0; j < d->b->clip_count; j++) {
		if (!taken[j])
			print_clip(d, '+', &d->b->clips[j]);
	}
	if (!compare_in_order(partner, d->a->clip_count)) {
		d->same = false;
		buf_text(d->out, " the clips stand in another order\n");
	}
	for (uint32_t i = 0; i < d->a->clip_count; i++) {
		if (partner[i] != UINT32_MAX)
			compare_two(d, &d->a->clips[i], &d->b->clips[partner[i]]);
	}
}

static struct diff begin_diff(const struct anim *a, const struct anim *b, struct buf *out)
{
	return (struct diff){
		.a = a, .b = b, .other = a->format != b->format, .same = true, .out = out};
}

bool compare_files(const struct anim *a, const struct anim *b, struct buf *out)
{
	struct diff d = begin_diff(a, b, out);
	struct listing x = LISTING_INIT, y = LISTING_INIT;
	uint32_t *partner = calloc((size_t)a->clip_count + 1, sizeof(*partner));
	bool *taken = calloc((size_t)b->clip_count + 1, sizeof(*taken));

	if (!d.other) {
		listing_header(&x, a);
		listing_header(&y, b);
		pair_lines(&d, &x, &y);
	}
	if (partner && taken)
		compare_all_clips(&d, partner, taken);
	else
		out->failed = true;
	free(partner);
	free(taken);
	return d.same;
}

bool compare_clips(const struct anim *a, uint32_t a_clip, const struct anim *b, uint32_t b_clip,
		   struct buf *out)
{
	struct diff d = begin_diff(a, b, out);

	compare_two(&d, &a->clips[a_clip], &b->clips[b_clip]);
	return d.same;
}

bool compare_bones(const struct anim *a, uint32_t a_clip, uint32_t a_track, const struct anim *b,
		   uint32_t b_clip, uint32_t b_track, struct buf *out)
{
	struct diff d = begin_diff(a, b, out);

	compare_tracks(&d, &a->clips[a_clip], &a->clips[a_clip].tracks[a_track],
		       &b->clips[b_clip].tracks[b_track]);
	return d.same;
}
