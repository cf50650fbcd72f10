/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "merge_files.h"

#include <math.h>

/* ---- theirs as an edit of base ---- */

static void relate_tracks(struct clip *clip, const struct clip *base, struct track *tracks)
{
	for (uint32_t i = 0; i < clip->track_count; i++) {
		const struct track *was = base ? track_labelled(base, i, tracks[i].label) : NULL;

		tracks[i].origin = was ? (uint32_t)(was - base->tracks) : ANIM_NEW;
	}
}

struct anim *merge_edit(const struct anim *base, const struct anim *theirs)
{
	struct anim *a = anim_edit(theirs);

	for (uint32_t i = 0; a && i < a->clip_count; i++) {
		struct clip *clip = anim_edit_clip(a, i);
		const struct clip *was = clip ? clip_labelled(base, i, clip->label) : NULL;

		if (!clip) {
			anim_free(a);
			return NULL;
		}
		clip->origin = was ? (uint32_t)(was - base->clips) : ANIM_NEW;
		relate_tracks(clip, was, (struct track *)clip->tracks);
	}
	return a;
}

/* ---- the frames that one side changed ---- */

/* Returns how far a key may move because its neighbours got another grid of values. */
static double axis_tolerance(const struct curve *a, const struct curve *b, unsigned axis)
{
	double x = fabs(a->lane[axis].unit * (double)a->lane[axis].step);
	double y = fabs(b->lane[axis].unit * (double)b->lane[axis].step);

	return fmax(x, y) * 0.5000001;
}

static bool key_moved(const struct curve *a, uint32_t i, const struct curve *b, uint32_t j,
		      bool exact)
{
	for (unsigned axis = 0; axis < curve_width(a); axis++) {
		double x = curve_value(a, i, axis), y = curve_value(b, j, axis);

		if (!f64_same(x, y) && (exact || !(fabs(x - y) <= axis_tolerance(a, b, axis))))
			return true;
	}
	return false;
}

/* Collects numbers, which must ascend, and prints runs of them as ranges: "1-3 7". */
struct ranges {
	struct buf *out;
	bool any;
	uint32_t first, last;
};

static void ranges_flush(struct ranges *r)
{
	if (r->any && r->first == r->last)
		buf_format(r->out, "%u", r->first);
	else if (r->any)
		buf_format(r->out, "%u-%u", r->first, r->last);
}

static void ranges_add(struct ranges *r, uint32_t frame)
{
	if (r->any && frame <= r->last + 1) {
		r->last = frame;
		return;
	}
	ranges_flush(r);
	if (r->any)
		buf_char(r->out, ' ');
	r->any = true;
	r->first = r->last = frame;
}

/* Lists the frames in which two keyed curves of one kind differ. */
static bool merge_files_list_frames(const struct curve *was, const struct curve *now, bool exact,
				    struct buf *out)
{
	struct ranges ranges = {.out = out};
	uint32_t i = 0, j = 0;

	while (i < was->count || j < now->count) {
		uint32_t a = i < was->count ? curve_frame(was, i) : UINT32_MAX;
		uint32_t b = j < now->count ? curve_frame(now, j) : UINT32_MAX;

		if (a != b || key_moved(was, i, now, j, exact))
			ranges_add(&ranges, a < b ? a : b);
		i += a <= b;
		j += b <= a;
	}
	ranges_flush(&ranges);
	return ranges.any;
}

static void merge_files_write_frames(const struct curve *was, const struct curve *now,
				     struct buf *out)
{
	if (!was || !now || was->kind != now->kind || !was->keyed || !now->keyed)
		buf_text(out, "all");
	else if (!merge_files_list_frames(was, now, false, out))
		merge_files_list_frames(was, now, true, out);
}

/* ---- conflicts ---- */

struct sides {
	const struct clip *base, *ours, *theirs;
	struct buf *out;
};

static void merge_files_write_row(const struct sides *s, const char *bone, const char *role)
{
	buf_format(s->out, "%s,%s,%s,,\n", s->base ? s->base->label : "", bone, role);
}

static void merge_files_compare_curves(const struct sides *s, const struct track *base,
				       const struct track *ours, const struct track *theirs)
{
	for (unsigned role = 0; role < ROLE_COUNT; role++) {
		const struct curve *was = base->curve[role];
		const struct curve *a = ours->curve[role], *b = theirs->curve[role];

		if (curve_same(a, was) || curve_same(b, was) || curve_same(a, b))
			continue;
		buf_format(s->out, "%s,%s,%s,", s->base->label, base->label, role_names[role]);
		merge_files_write_frames(was, a, s->out);
		buf_char(s->out, ',');
		merge_files_write_frames(was, b, s->out);
		buf_char(s->out, '\n');
	}
}

static void merge_files_compare_bones(const struct sides *s, uint32_t track)
{
	const struct track *base = &s->base->tracks[track];
	const struct track *ours = track_labelled(s->ours, track, base->label);
	const struct track *theirs = track_labelled(s->theirs, track, base->label);

	if (!ours || !theirs) {
		const struct track *left = ours ? ours : theirs;

		if (left && !track_same(left, base))
			merge_files_write_row(s, base->label,
					      ours ? "removed by theirs" : "removed by ours");
	} else if (!base->keyframes) {
		merge_files_compare_curves(s, base, ours, theirs);
	} else if (!track_same(ours, base) && !track_same(theirs, base) &&
		   !track_same(ours, theirs)) {
		merge_files_write_row(s, base->label, "keyframes");
	}
}

static bool merge_files_same_bones(const struct clip *a, const struct clip *b)
{
	bool same = a->track_count == b->track_count;

	for (uint32_t i = 0; same && i < a->track_count; i++)
		same = strcmp(a->tracks[i].label, b->tracks[i].label) == 0;
	return same;
}

static void merge_files_compare_values(const struct sides *s)
{
	const struct clip *base = s->base, *a = s->ours, *b = s->theirs;
	const uint32_t times[][3] = {
		{base->frames, a->frames, b->frames},
		{base->loop, a->loop, b->loop},
		{f32_bits(base->frame_time), f32_bits(a->frame_time), f32_bits(b->frame_time)},
		{f32_bits(base->duration), f32_bits(a->duration), f32_bits(b->duration)}};
	static const char *const names[] = {"number of frames", "loop", "frame time", "duration"};

	for (size_t i = 0; i < ARRAY_SIZE(times); i++) {
		if (times[i][1] != times[i][0] && times[i][2] != times[i][0] &&
		    times[i][1] != times[i][2])
			merge_files_write_row(s, "", names[i]);
	}
	if (!merge_files_same_bones(base, a) && !merge_files_same_bones(base, b))
		merge_files_write_row(s, "", "list of bones");
}

static bool clip_unchanged(const struct clip *a, const struct clip *b)
{
	bool same = merge_files_same_bones(a, b) && a->frames == b->frames && a->loop == b->loop &&
		    f32_bits(a->frame_time) == f32_bits(b->frame_time) &&
		    f32_bits(a->duration) == f32_bits(b->duration) &&
		    fields_same(a->fields, a->field_count, b->fields, b->field_count);

	for (uint32_t i = 0; same && i < a->track_count; i++)
		same = track_same(&a->tracks[i], &b->tracks[i]);
	return same;
}

static void compare_clips(const struct anim *ours, const struct anim *theirs, struct sides *s,
			  uint32_t clip)
{
	s->ours = clip_labelled(ours, clip, s->base->label);
	s->theirs = clip_labelled(theirs, clip, s->base->label);
	if (!s->ours || !s->theirs) {
		const struct clip *left = s->ours ? s->ours : s->theirs;

		if (left && !clip_unchanged(left, s->base))
			merge_files_write_row(s, "",
					      s->ours ? "removed by theirs" : "removed by ours");
		return;
	}
	merge_files_compare_values(s);
	for (uint32_t i = 0; i < s->base->track_count; i++)
		merge_files_compare_bones(s, i);
}

static bool same_clips(const struct anim *a, const struct anim *b)
{
	bool same = a->clip_count == b->clip_count;

	for (uint32_t i = 0; same && i < a->clip_count; i++)
		same = strcmp(a->clips[i].label, b->clips[i].label) == 0;
	return same;
}

void merge_conflicts(const struct anim *base, const struct anim *ours, const struct anim *theirs,
		     struct buf *out)
{
	struct sides s = {.out = out};
	size_t header;

	buf_text(out, "clip,bone,role,frames_ours,frames_theirs\n");
	header = out->size;
	if (!same_clips(base, ours) && !same_clips(base, theirs))
		merge_files_write_row(&s, "", "list of clips");
	for (uint32_t i = 0; i < base->clip_count; i++) {
		s.base = &base->clips[i];
		compare_clips(ours, theirs, &s, i);
	}
	s.base = NULL;
	if (out->size == header)
		merge_files_write_row(&s, "", "header");
}
