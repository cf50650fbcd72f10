/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "animfs/anim.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- curves and time ---- */

/* Makes a curve of vectors whose three components are all values[key]. */
static struct curve *vector(struct arena *arena, const double *values, size_t count)
{
	struct curve *c = arena_alloc(arena, 1, sizeof(*c));
	double *out = arena_alloc(arena, 3 * count, sizeof(*out));

	*c = (struct curve){
		.kind = CURVE_VECTOR, .keyed = count > 1, .count = (uint32_t)count, .values = out};
	for (size_t i = 0; i < 3 * count; i++)
		out[i] = values[i / 3];
	for (unsigned axis = 0; axis < 3; axis++)
		c->lane[axis] = (struct lane){.form = LANE_DOUBLE, .unit = 1};
	return c;
}

/* Makes the same curve stored as floats, or on a grid; values are in `unit`. */
static struct curve *stored_as(struct arena *arena, enum lane_form form, double unit,
			       const double *values, size_t count, float base, float step)
{
	struct curve *c = vector(arena, values, count);
	size_t size = form == LANE_GRID ? 2 : 4;
	uint8_t *out = arena_alloc(arena, 3 * count, size);

	c->values = NULL;
	c->stored = out;
	for (unsigned axis = 0; axis < 3; axis++)
		c->lane[axis] = (struct lane){form, base, step, unit, 0, false};
	for (size_t i = 0; i < 3 * count; i++) {
		if (form == LANE_GRID)
			put_u16(out + 2 * i, (uint16_t)values[i / 3]);
		else
			put_f32(out + 4 * i, (float)values[i / 3]);
	}
	return c;
}

static double sample(const struct curve *c, double frame)
{
	double out[4];

	curve_sample(c, frame, out);
	return out[0];
}

START_TEST(sampling_holds_before_the_first_key_and_after_the_last)
{
	struct arena arena = ARENA_INIT;
	const double values[] = {1, 3};
	const uint32_t frames[] = {2, 4};
	struct curve *c = vector(&arena, values, 2);

	c->frames = frames;
	ck_assert(sample(c, 0) == 1 && sample(c, 2) == 1 && sample(c, 4) == 3 && sample(c, 9) == 3);
	ck_assert(sample(c, 3) == 2 && sample(c, 2.5) == 1.5);
	c->interpolation = INTERPOLATION_STEP;
	ck_assert(sample(c, 3) == 1 && sample(c, 4) == 3);
	arena_release(&arena);
}
END_TEST

START_TEST(of_keys_in_one_frame_the_last_counts)
{
	struct arena arena = ARENA_INIT;
	const double values[] = {50, 1, 50, 50, 3, 5, 50, 7};
	const uint32_t frames[] = {2, 2, 4, 4, 4, 6, 8, 8};
	struct curve *c = vector(&arena, values, 8);

	c->frames = frames;
	ck_assert_uint_eq(curve_last_in_frame(c, 0), 1);
	ck_assert_uint_eq(curve_last_in_frame(c, 3), 4);
	ck_assert_uint_eq(curve_last_in_frame(c, 5), 5);
	ck_assert_uint_eq(curve_last_in_frame(c, 7), 7);
	for (uint32_t frame = 2; frame <= 8; frame++)
		ck_assert(sample(c, frame) == frame - 1);
	ck_assert(sample(c, 0) == 1 && sample(c, 9) == 7 && sample(c, 3.5) == 2.5);
	c->interpolation = INTERPOLATION_STEP;
	ck_assert(sample(c, 3.5) == 1 && sample(c, 4) == 3 && sample(c, 7) == 5);
	arena_release(&arena);
}
END_TEST

START_TEST(sampling_a_static_curve_gives_its_value_anywhere)
{
	struct arena arena = ARENA_INIT;
	const double value = 7;
	struct curve *c = vector(&arena, &value, 1);

	ck_assert(sample(c, 0) == 7 && sample(c, 100) == 7);
	arena_release(&arena);
}
END_TEST

START_TEST(sampling_a_key_gives_its_bits)
{
	struct arena arena = ARENA_INIT;
	const double values[] = {0.1, NAN, -0.0, 0.3};
	struct curve *c = vector(&arena, values, 4);

	for (uint32_t i = 0; i < 4; i++)
		ck_assert(f64_same(sample(c, i), values[i]));
	arena_release(&arena);
}
END_TEST

START_TEST(quaternions_go_the_shorter_way_at_even_speed)
{
	const double half = sqrt(0.5), eighth = M_PI / 8;
	/* No rotation, and a quarter turn about x with the other sign of the quaternion. */
	const double values[] = {0, 0, 0, 1, -half, 0, 0, -half};
	struct curve c = {.kind = CURVE_QUATERNION, .keyed = true, .count = 2, .values = values};
	double out[4];

	curve_sample(&c, 0.5, out);
	ck_assert_double_eq_tol(out[0], sin(eighth), 1e-12);
	ck_assert_double_eq_tol(out[3], cos(eighth), 1e-12);
	curve_sample(&c, 0.25, out);
	ck_assert_double_eq_tol(out[0], sin(eighth / 2), 1e-12);
}
END_TEST

/*
 * Overwatch files have such quaternions: their three stored components leave nothing for the
 * fourth.
 */
START_TEST(a_quaternion_of_any_length_turns_as_far)
{
	const double half = sqrt(0.5), eighth = M_PI / 8;
	const double values[] = {0, 0, 0, 3, 0.2 * half, 0, 0, 0.2 * half, 0, 0, 0, 0};
	struct curve c = {.kind = CURVE_QUATERNION, .keyed = true, .count = 3, .values = values};
	double out[4];

	curve_sample(&c, 0.5, out);
	ck_assert_double_eq_tol(out[0], sin(eighth), 1e-12);
	ck_assert_double_eq_tol(out[3], cos(eighth), 1e-12);
	curve_sample(&c, 0, out);
	ck_assert(out[3] == 3);
	curve_sample(&c, 1.5, out);
	ck_assert(isfinite(out[0]) && isfinite(out[3]));
}
END_TEST

START_TEST(a_clip_shows_the_keys_below_its_end)
{
	struct arena arena = ARENA_INIT;
	const double values[] = {1, 2, 3, 4};
	const uint32_t frames[] = {0, 5, 5, 9};
	struct curve *c = vector(&arena, values, 4);

	ck_assert_uint_eq(curve_shown(c, 3), 3);
	ck_assert_uint_eq(curve_shown(c, 9), 4);
	c->frames = frames;
	ck_assert_uint_eq(curve_shown(c, 5), 1);
	ck_assert_uint_eq(curve_shown(c, 6), 3);
	ck_assert_uint_eq(curve_shown(c, 10), 4);
	arena_release(&arena);
}
END_TEST

START_TEST(curves_are_the_same_by_the_bits_of_what_they_say)
{
	struct arena arena = ARENA_INIT;
	const double zeros[] = {0, 0}, minus[] = {0, -0.0}, nans[] = {NAN, 2}, k[] = {0, 4};
	const uint32_t frames[] = {0, 1}, others[] = {0, 2};
	struct curve *a = vector(&arena, zeros, 2), *b = vector(&arena, zeros, 2);

	ck_assert(curve_same(NULL, NULL) && !curve_same(a, NULL) && !curve_same(NULL, a));
	ck_assert(curve_same(a, b));
	b->frames = frames;
	ck_assert(curve_same(a, b));
	b->frames = others;
	ck_assert(!curve_same(a, b));
	ck_assert(!curve_same(a, vector(&arena, minus, 2)));
	ck_assert(curve_same(vector(&arena, nans, 2), vector(&arena, nans, 2)));
	ck_assert(!curve_same(vector(&arena, zeros, 1), a));
	/* The values 0 and 2 are the same in either stored form. */
	ck_assert(curve_same(stored_as(&arena, LANE_GRID, 1, k, 2, 0, 0.5f),
			     stored_as(&arena, LANE_FLOAT, 0.5, k, 2, 0, 0)));
	ck_assert(!curve_same(stored_as(&arena, LANE_GRID, 1, k, 2, 0, 0.5f),
			      stored_as(&arena, LANE_GRID, 1, k, 2, 1, 0.5f)));
	ck_assert(curve_same(stored_as(&arena, LANE_GRID, 1, k, 2, 1, 0.5f),
			     stored_as(&arena, LANE_GRID, 1, k, 2, 1, 0.5f)));
	*b = *a;
	b->interpolation = INTERPOLATION_STEP;
	ck_assert(!curve_same(a, b));
	*b = *a;
	b->kind = CURVE_EULER;
	ck_assert(!curve_same(a, b));
	arena_release(&arena);
}
END_TEST

START_TEST(tracks_are_the_same_by_curves_and_keyframes)
{
	const uint32_t frames[] = {0, 4};
	const uint8_t flags[] = {1, 2}, others[] = {1, 3}, roles[] = {1, 0};
	const double values[] = {1, 2, 3};
	const struct curve curve = {.kind = CURVE_VECTOR, .count = 1, .values = values};
	const struct keyframes keyframes = {2, frames, flags, roles};
	const struct keyframes copy = keyframes, flagged = {2, frames, others, roles};
	const struct track track = {.label = "a", .curve = {&curve}, .keyframes = &keyframes};
	struct track other = track;

	other.label = "b";
	other.name = "b";
	other.rotation = CURVE_QUATERNION;
	other.keyframes = &copy;
	ck_assert(track_same(&track, &other));
	other.keyframes = &flagged;
	ck_assert(!track_same(&track, &other));
	other.keyframes = NULL;
	ck_assert(!track_same(&track, &other));
	other = track;
	other.curve[ROLE_SCALE] = &curve;
	ck_assert(!track_same(&track, &other));
}
END_TEST

START_TEST(time_is_told_in_the_unit_of_the_format)
{
	static const struct format frames = {.rate = 60}, seconds = {.rate = 0};
	struct anim a = {.format = &frames, .rate = 60};
	struct clip clip = {.frame_time = 2};
	char unit[32];

	anim_time_unit(&a, unit);
	ck_assert_str_eq(unit, "1/60 s");
	ck_assert_double_eq_tol(anim_seconds_per_frame(&a, &clip), 2.0 / 60, 1e-15);
	a.rate = 29.97;
	anim_time_unit(&a, unit);
	ck_assert_str_eq(unit, "1/29.97 s");
	a.format = &seconds;
	a.rate = 4;
	anim_time_unit(&a, unit);
	ck_assert_str_eq(unit, "s");
	ck_assert(anim_seconds_per_frame(&a, &clip) == 0.5);
}
END_TEST

START_TEST(a_time_that_is_none_counts_as_one_over_the_rate)
{
	static const float times[] = {0, -1, NAN, INFINITY};
	struct anim a = {.rate = 25};

	for (unsigned i = 0; i < ARRAY_SIZE(times); i++) {
		struct clip clip = {.frame_time = times[i]};

		ck_assert(anim_seconds_per_frame(&a, &clip) == 1 / 25.0);
	}
}
END_TEST

/* ---- models ---- */

#define CLIPS 2
#define BONES 3

static const struct format format = {.name = "test", .suffix = "test", .rate = 30};
static const char *const clip_names[CLIPS] = {"walk", "run"};
static const char *const bone_names[BONES] = {"hips", "spine", "head"};

/* Makes a model as if decoded: bone j of clip i has the translation 10 * i + j, and the scale 1. */
static struct anim *model(void)
{
	struct anim *a = calloc(1, sizeof(*a));
	struct clip *clips = arena_alloc(&a->arena, CLIPS, sizeof(*clips));
	const double one = 1;

	a->format = &format;
	a->clip_count = CLIPS;
	a->clips = clips;
	a->bone_count = BONES;
	a->bones = bone_names;
	for (uint32_t i = 0; i < CLIPS; i++) {
		struct track *tracks = arena_alloc(&a->arena, BONES, sizeof(*tracks));

		clips[i] = (struct clip){.name = clip_names[i],
					 .label = clip_names[i],
					 .origin = i,
					 .frames = 4,
					 .track_count = BONES,
					 .tracks = tracks};
		for (uint32_t j = 0; j < BONES; j++) {
			double value = 10 * i + j;

			tracks[j] = (struct track){
				.name = bone_names[j], .label = bone_names[j], .origin = j};
			tracks[j].curve[ROLE_TRANSLATION] = vector(&a->arena, &value, 1);
			tracks[j].curve[ROLE_SCALE] = vector(&a->arena, &one, 1);
		}
	}
	return a;
}

static void set(struct anim *a, uint32_t clip, uint32_t bone, enum role role, double value)
{
	anim_edit_track(a, clip, bone)->curve[role] = vector(&a->arena, &value, 1);
}

static double get(const struct anim *a, uint32_t clip, uint32_t bone, enum role role)
{
	return curve_value(a->clips[clip].tracks[bone].curve[role], 0, 0);
}

/* Removes a bone; the bones after it move up. */
static void remove_bone(struct anim *a, uint32_t clip, uint32_t bone)
{
	struct clip *c = anim_edit_clip(a, clip);
	struct track *tracks = (struct track *)c->tracks;

	c->track_count--;
	memmove(&tracks[bone], &tracks[bone + 1], (c->track_count - bone) * sizeof(*tracks));
}

static void remove_clip(struct anim *a, uint32_t clip)
{
	struct clip *clips = (struct clip *)a->clips;

	a->clip_count--;
	memmove(&clips[clip], &clips[clip + 1], (a->clip_count - clip) * sizeof(*clips));
}

/* Makes an edited model look as if it had been written and decoded: origins are indices again. */
static void settle(struct anim *a)
{
	for (uint32_t i = 0; i < a->clip_count; i++) {
		struct clip *clip = anim_edit_clip(a, i);

		clip->origin = i;
		for (uint32_t j = 0; j < clip->track_count; j++)
			anim_edit_track(a, i, j)->origin = j;
	}
}

static struct anim *base, *other, *current, *edited, *last, *merged;
static struct err err;

static void begin(void)
{
	base = model();
	other = model();
	current = anim_edit(other);
	edited = anim_edit(base);
	last = anim_edit(base);
	merged = NULL;
	err_clear(&err);
}

static void end(void)
{
	anim_free(merged);
	anim_free(last);
	anim_free(edited);
	anim_free(current);
	anim_free(other);
	anim_free(base);
}

START_TEST(an_edit_shares_what_it_does_not_change)
{
	struct track *track = anim_edit_track(edited, 0, 1);

	ck_assert_ptr_eq(edited->clips[1].tracks, base->clips[1].tracks);
	ck_assert_ptr_ne(edited->clips[0].tracks, base->clips[0].tracks);
	ck_assert_ptr_eq(track->curve[0], base->clips[0].tracks[1].curve[0]);
	track->name = "changed";
	anim_edit_clip(edited, 0)->frames = 9;
	ck_assert_str_eq(base->clips[0].tracks[1].name, "spine");
	ck_assert_uint_eq(base->clips[0].frames, 4);
}
END_TEST

START_TEST(the_second_call_gives_the_same_copy)
{
	struct track *track = anim_edit_track(edited, 0, 1);

	ck_assert_ptr_eq(anim_edit_track(edited, 0, 1), track);
	ck_assert_ptr_eq(anim_edit_clip(edited, 0)->tracks, track - 1);
}
END_TEST

START_TEST(an_edit_of_an_edit_leaves_the_first_alone)
{
	struct anim *second;

	set(edited, 0, 1, ROLE_SCALE, 2);
	second = anim_edit(edited);
	set(second, 0, 1, ROLE_SCALE, 3);
	ck_assert(get(edited, 0, 1, ROLE_SCALE) == 2 && get(second, 0, 1, ROLE_SCALE) == 3);
	anim_free(second);
}
END_TEST

START_TEST(a_clip_without_tracks_can_be_edited)
{
	struct clip *clip = anim_edit_clip(edited, 0);

	clip->track_count = 0;
	clip->tracks = NULL;
	clip->tracks_own = false;
	ck_assert_ptr_eq(anim_edit_clip(edited, 0), clip);
}
END_TEST

/* ---- merging ---- */

static void merge_with(const struct anim *before)
{
	merged = anim_merge(base, edited, before, current, NULL, &err);
	ck_assert_msg(merged != NULL, "%s", err.message);
}

static void ck_conflict(const struct anim *before, const char *message)
{
	merged = anim_merge(base, edited, before, current, NULL, &err);
	ck_assert_ptr_null(merged);
	ck_assert_int_eq(err.code, ERR_CONFLICT);
	ck_assert_str_eq(err.message, message);
}

START_TEST(where_nobody_else_saved_the_edit_is_the_result)
{
	set(edited, 0, 1, ROLE_SCALE, 2);
	merged = anim_merge(base, edited, NULL, base, NULL, &err);
	ck_assert_ptr_nonnull(merged);
	ck_assert_ptr_eq(merged->clips[0].tracks, edited->clips[0].tracks);
	ck_assert_ptr_eq(merged->clips[1].tracks, base->clips[1].tracks);
}
END_TEST

START_TEST(edits_of_different_curves_are_both_kept)
{
	set(edited, 0, 1, ROLE_SCALE, 2);
	set(current, 0, 1, ROLE_TRANSLATION, 3);
	set(current, 0, 0, ROLE_SCALE, 4);
	set(current, 1, 0, ROLE_SCALE, 5);
	anim_edit_clip(current, 0)->loop = true;
	anim_edit_clip(edited, 0)->frames = 8;
	merge_with(NULL);
	ck_assert(get(merged, 0, 1, ROLE_SCALE) == 2 && get(merged, 0, 1, ROLE_TRANSLATION) == 3 &&
		  get(merged, 0, 0, ROLE_SCALE) == 4 && get(merged, 1, 0, ROLE_SCALE) == 5);
	ck_assert(merged->clips[0].loop && merged->clips[0].frames == 8);
	/* An unedited curve is the pointer of the current file's curve, so it keeps its bits. */
	ck_assert_ptr_eq(merged->clips[0].tracks[1].curve[ROLE_TRANSLATION],
			 current->clips[0].tracks[1].curve[ROLE_TRANSLATION]);
	ck_assert_ptr_eq(merged->clips[1].tracks, current->clips[1].tracks);
}
END_TEST

START_TEST(the_same_curve_edited_twice_is_a_conflict)
{
	set(edited, 0, 1, ROLE_SCALE, 2);
	set(current, 0, 1, ROLE_SCALE, 3);
	ck_conflict(NULL, "another program changed the scale of spine in walk in the meantime");
}
END_TEST

START_TEST(a_curve_that_both_removed_or_set_alike_is_none)
{
	set(edited, 0, 1, ROLE_SCALE, 2);
	set(current, 0, 1, ROLE_SCALE, 2);
	anim_edit_track(edited, 0, 2)->curve[ROLE_SCALE] = NULL;
	anim_edit_track(current, 0, 2)->curve[ROLE_SCALE] = NULL;
	merge_with(NULL);
	ck_assert(get(merged, 0, 1, ROLE_SCALE) == 2);
	ck_assert_ptr_null(merged->clips[0].tracks[2].curve[ROLE_SCALE]);
}
END_TEST

START_TEST(removing_a_curve_that_another_changed_is_a_conflict)
{
	anim_edit_track(edited, 0, 1)->curve[ROLE_SCALE] = NULL;
	set(current, 0, 1, ROLE_SCALE, 3);
	ck_conflict(NULL, "another program changed the scale of spine in walk in the meantime");
}
END_TEST

START_TEST(what_the_draft_committed_before_is_no_conflict)
{
	set(last, 0, 1, ROLE_SCALE, 2);
	set(current, 0, 1, ROLE_SCALE, 2);
	set(edited, 0, 1, ROLE_SCALE, 3);
	merge_with(last);
	ck_assert(get(merged, 0, 1, ROLE_SCALE) == 3);
}
END_TEST

START_TEST(what_the_draft_committed_before_is_known_on_its_grid)
{
	const double k = 2;

	set(last, 0, 1, ROLE_SCALE, 2.2);
	anim_edit_track(current, 0, 1)->curve[ROLE_SCALE] =
		stored_as(&current->arena, LANE_GRID, 1, &k, 1, 0, 1);
	set(edited, 0, 1, ROLE_SCALE, 3);
	merge_with(last);
	ck_assert(get(merged, 0, 1, ROLE_SCALE) == 3);
}
END_TEST

START_TEST(what_the_draft_committed_before_and_takes_back_goes)
{
	set(last, 0, 1, ROLE_SCALE, 2);
	set(current, 0, 1, ROLE_SCALE, 2);
	anim_edit_clip(last, 1)->loop = true;
	anim_edit_clip(current, 1)->loop = true;
	merge_with(last);
	ck_assert(get(merged, 0, 1, ROLE_SCALE) == 1);
	ck_assert(!merged->clips[1].loop);
}
END_TEST

START_TEST(what_another_changed_since_the_last_commit_stays)
{
	set(last, 0, 1, ROLE_SCALE, 2);
	set(current, 0, 1, ROLE_SCALE, 3);
	set(current, 0, 0, ROLE_SCALE, 4);
	merge_with(last);
	ck_assert(get(merged, 0, 1, ROLE_SCALE) == 3 && get(merged, 0, 0, ROLE_SCALE) == 4);
}
END_TEST

START_TEST(committing_the_same_again_keeps_what_was_stored)
{
	const double k = 2;

	set(last, 0, 1, ROLE_SCALE, 2.2);
	set(edited, 0, 1, ROLE_SCALE, 2.2);
	anim_edit_track(current, 0, 1)->curve[ROLE_SCALE] =
		stored_as(&current->arena, LANE_GRID, 1, &k, 1, 0, 1);
	merge_with(last);
	ck_assert_ptr_eq(merged->clips[0].tracks[1].curve[ROLE_SCALE],
			 current->clips[0].tracks[1].curve[ROLE_SCALE]);
}
END_TEST

START_TEST(a_clip_value_that_both_changed_is_a_conflict)
{
	anim_edit_clip(edited, 1)->duration = 2;
	anim_edit_clip(current, 1)->duration = 3;
	ck_conflict(NULL, "another program changed the duration of run in the meantime");
}
END_TEST

START_TEST(a_field_that_both_changed_is_a_conflict)
{
	static const struct field two = {.name = "loop", .type = FIELD_INT, .integer = 2};
	static const struct field three = {.name = "loop", .type = FIELD_INT, .integer = 3};
	struct clip *clip = anim_edit_clip(edited, 1);

	clip->fields = &two;
	clip->field_count = 1;
	clip = anim_edit_clip(current, 1);
	clip->fields = &three;
	clip->field_count = 1;
	ck_conflict(NULL, "another program changed the format's own fields of run in the meantime");
	clip->fields = &two;
	err_clear(&err);
	merge_with(NULL);
	ck_assert_int_eq(merged->clips[1].fields->integer, 2);
}
END_TEST

START_TEST(bones_that_moved_are_found_by_their_label)
{
	set(edited, 0, 2, ROLE_SCALE, 2);
	remove_bone(current, 0, 0);
	settle(current);
	merge_with(NULL);
	ck_assert_uint_eq(merged->clips[0].track_count, 2);
	ck_assert_str_eq(merged->clips[0].tracks[1].label, "head");
	ck_assert(get(merged, 0, 1, ROLE_SCALE) == 2);
	ck_assert_uint_eq(merged->clips[0].tracks[1].origin, 1);
}
END_TEST

START_TEST(editing_a_bone_or_clip_that_another_removed_is_a_conflict)
{
	set(edited, 0, 0, ROLE_SCALE, 2);
	remove_bone(current, 0, 0);
	settle(current);
	ck_conflict(NULL, "another program removed hips from walk in the meantime");
	remove_clip(current, 0);
	settle(current);
	err_clear(&err);
	ck_conflict(NULL, "another program removed walk in the meantime");
}
END_TEST

START_TEST(a_clip_that_another_removed_and_nobody_edited_stays_away)
{
	set(edited, 1, 0, ROLE_SCALE, 2);
	remove_clip(current, 0);
	settle(current);
	merge_with(NULL);
	ck_assert_uint_eq(merged->clip_count, 1);
	ck_assert_str_eq(merged->clips[0].label, "run");
	ck_assert(get(merged, 0, 0, ROLE_SCALE) == 2);
	ck_assert_uint_eq(merged->clips[0].origin, 0);
}
END_TEST

START_TEST(removed_and_renamed_bones_leave_room_for_others_curves)
{
	remove_bone(edited, 0, 0);
	anim_edit_track(edited, 0, 0)->name = anim_edit_track(edited, 0, 0)->label = "chest";
	set(current, 0, 2, ROLE_SCALE, 2);
	merge_with(NULL);
	ck_assert_uint_eq(merged->clips[0].track_count, 2);
	ck_assert_str_eq(merged->clips[0].tracks[0].name, "chest");
	ck_assert_uint_eq(merged->clips[0].tracks[0].origin, 1);
	ck_assert(get(merged, 0, 1, ROLE_SCALE) == 2);
}
END_TEST

START_TEST(removing_a_bone_that_another_edited_is_a_conflict)
{
	remove_bone(edited, 0, 0);
	set(current, 0, 0, ROLE_SCALE, 2);
	ck_conflict(NULL, "another program changed hips in walk, which this removes");
}
END_TEST

START_TEST(lists_of_bones_that_both_changed_are_a_conflict)
{
	remove_bone(edited, 0, 0);
	remove_bone(current, 0, 1);
	settle(current);
	ck_conflict(NULL, "the list of bones of walk was changed in the meantime");
}
END_TEST

START_TEST(removed_and_added_clips_leave_room_for_others_curves)
{
	struct clip *clips;

	remove_clip(edited, 0);
	clips = arena_alloc(&edited->arena, 2, sizeof(*clips));
	clips[1] = edited->clips[0];
	clips[0] = edited->clips[0];
	clips[0].origin = ANIM_NEW;
	clips[0].name = clips[0].label = "sprint";
	edited->clips = clips;
	edited->clip_count = 2;
	set(current, 1, 1, ROLE_SCALE, 2);
	merge_with(NULL);
	ck_assert_uint_eq(merged->clip_count, 2);
	ck_assert_str_eq(merged->clips[0].label, "sprint");
	ck_assert_uint_eq(merged->clips[0].origin, ANIM_NEW);
	ck_assert_uint_eq(merged->clips[1].origin, 1);
	ck_assert(get(merged, 0, 1, ROLE_SCALE) == 1 && get(merged, 1, 1, ROLE_SCALE) == 2);
	/* A merged model can be edited further. */
	set(merged, 0, 1, ROLE_SCALE, 3);
	ck_assert(get(edited, 0, 1, ROLE_SCALE) == 1);
}
END_TEST

START_TEST(removing_a_clip_that_another_edited_is_a_conflict)
{
	remove_clip(edited, 0);
	set(current, 0, 1, ROLE_SCALE, 2);
	ck_conflict(NULL, "another program changed walk, which this removes");
}
END_TEST

START_TEST(lists_of_clips_that_both_changed_are_a_conflict)
{
	remove_clip(edited, 0);
	remove_clip(current, 1);
	settle(current);
	ck_conflict(NULL, "the list of clips was changed in the meantime");
}
END_TEST

START_TEST(the_file_s_own_bones_are_changed_by_one_at_a_time)
{
	static const char *const two[] = {"hips", "spine"}, *const four[] = {"a", "b", "c", "d"};

	edited->bones = two;
	edited->bone_count = 2;
	merge_with(NULL);
	ck_assert_uint_eq(merged->bone_count, 2);
	anim_free(merged);
	current->bones = four;
	current->bone_count = 4;
	ck_conflict(NULL, "another program changed the file's bones in the meantime");
}
END_TEST

/* ---- stored values ---- */

static void store(struct anim *a, uint32_t clip, uint32_t bone, const struct curve *c)
{
	anim_edit_track(a, clip, bone)->curve[ROLE_TRANSLATION] = c;
}

#define CANNOT "the format cannot hold this edit exactly: "

static void ck_stored(bool expected, const char *message)
{
	err_clear(&err);
	ck_assert_msg(anim_stored(edited, base, current, &err) == expected, "%s", err.message);
	ck_assert_str_eq(err.message, message);
	ck_assert_int_eq(err.code, expected ? ERR_NONE : ERR_STORE);
}

START_TEST(a_value_is_stored_on_the_nearest_point_of_its_grid)
{
	const double k = 3;

	/* 1 + 3 * 0.5 */
	store(current, 0, 1, stored_as(&current->arena, LANE_GRID, 1, &k, 1, 1, 0.5f));
	set(edited, 0, 1, ROLE_TRANSLATION, 2.5);
	ck_stored(true, "");
	set(edited, 0, 1, ROLE_TRANSLATION, 2.75);
	ck_stored(true, "");
	/* rounds to the same float32 as 2.75, the stored value */
	set(edited, 0, 1, ROLE_TRANSLATION, 2.7500001);
	ck_stored(true, "");
	set(edited, 0, 1, ROLE_TRANSLATION, 2.750001);
	ck_stored(false, CANNOT "the translation of spine in walk comes back different in frame 0");
	set(edited, 0, 1, ROLE_TRANSLATION, 2.25);
	ck_stored(true, "");
	set(edited, 0, 1, ROLE_TRANSLATION, 2.249999);
	ck_stored(false, CANNOT "the translation of spine in walk comes back different in frame 0");
}
END_TEST

START_TEST(a_value_is_stored_as_the_nearest_float)
{
	const double value = (double)(float)0.1, near = nextafterf(0.1f, 1);

	set(edited, 0, 1, ROLE_TRANSLATION, 0.1);
	store(current, 0, 1, stored_as(&current->arena, LANE_FLOAT, 1, &value, 1, 0, 0));
	ck_stored(true, "");
	store(current, 0, 1, stored_as(&current->arena, LANE_FLOAT, 1, &near, 1, 0, 0));
	ck_stored(false, CANNOT "the translation of spine in walk comes back different in frame 0");
}
END_TEST

START_TEST(a_constant_needs_no_step)
{
	const double zero = 0;

	set(edited, 0, 1, ROLE_TRANSLATION, 0.1);
	store(current, 0, 1, stored_as(&current->arena, LANE_GRID, 1, &zero, 1, 0.1f, 0));
	ck_stored(true, "");
	store(current, 0, 1, stored_as(&current->arena, LANE_GRID, 1, &zero, 1, 0.1001f, 0));
	ck_stored(false, CANNOT "the translation of spine in walk comes back different in frame 0");
}
END_TEST

START_TEST(degrees_are_compared_in_the_unit_of_the_file)
{
	const double degree = 180 / M_PI;

	for (int i = -720; i <= 720; i++) {
		double radians = (double)(float)(i / degree);

		set(edited, 0, 1, ROLE_TRANSLATION, i);
		store(current, 0, 1,
		      stored_as(&current->arena, LANE_FLOAT, degree, &radians, 1, 0, 0));
		ck_stored(true, "");
	}
}
END_TEST

START_TEST(not_a_number_is_stored_by_its_bits)
{
	const double nan = NAN, one = 1;

	set(edited, 0, 1, ROLE_TRANSLATION, nan);
	store(current, 0, 1, stored_as(&current->arena, LANE_FLOAT, 1, &nan, 1, 0, 0));
	ck_stored(true, "");
	store(current, 0, 1, stored_as(&current->arena, LANE_FLOAT, 1, &one, 1, 0, 0));
	ck_stored(false, CANNOT "the translation of spine in walk comes back different in frame 0");
}
END_TEST

START_TEST(a_curve_that_nobody_edited_keeps_every_bit)
{
	double near = nextafter(1, 2);

	store(current, 0, 1, vector(&current->arena, &near, 1));
	ck_stored(false, CANNOT "it would change the translation of spine in walk, which was not "
				"edited");
	set(edited, 0, 1, ROLE_TRANSLATION, 1);
	ck_stored(true, "");
}
END_TEST

START_TEST(a_curve_that_comes_or_goes_does_so_in_the_file)
{
	const double two[] = {1, 1};

	store(edited, 0, 1, NULL);
	ck_stored(false, CANNOT "the translation of spine in walk comes back in another form");
	store(current, 0, 1, NULL);
	ck_stored(true, "");
	set(edited, 0, 1, ROLE_TRANSLATION, 1);
	ck_stored(false, CANNOT "the translation of spine in walk comes back in another form");
	store(current, 0, 1, vector(&current->arena, two, 2));
	ck_stored(false, CANNOT "the translation of spine in walk comes back in another form");
}
END_TEST

START_TEST(names_and_values_of_clips_are_stored)
{
	anim_edit_clip(edited, 0)->frame_time = 2;
	ck_stored(false, CANNOT "the frame time of walk comes back different");
	anim_edit_clip(current, 0)->frame_time = 2;
	ck_stored(true, "");
	anim_edit_track(edited, 0, 0)->name = "pelvis";
	ck_stored(false, CANNOT "the name of hips in walk comes back different");
	remove_bone(edited, 0, 0);
	ck_stored(false, CANNOT "walk comes back with 3 bones instead of 2");
	remove_clip(edited, 0);
	ck_stored(false, CANNOT "2 clips come back instead of 1");
}
END_TEST

static TCase *curve_case(void)
{
	TCase *tc = tcase_create("curves and time");

	tcase_add_test(tc, sampling_holds_before_the_first_key_and_after_the_last);
	tcase_add_test(tc, of_keys_in_one_frame_the_last_counts);
	tcase_add_test(tc, sampling_a_static_curve_gives_its_value_anywhere);
	tcase_add_test(tc, sampling_a_key_gives_its_bits);
	tcase_add_test(tc, a_quaternion_of_any_length_turns_as_far);
	tcase_add_test(tc, quaternions_go_the_shorter_way_at_even_speed);
	tcase_add_test(tc, a_clip_shows_the_keys_below_its_end);
	tcase_add_test(tc, curves_are_the_same_by_the_bits_of_what_they_say);
	tcase_add_test(tc, tracks_are_the_same_by_curves_and_keyframes);
	tcase_add_test(tc, time_is_told_in_the_unit_of_the_format);
	tcase_add_test(tc, a_time_that_is_none_counts_as_one_over_the_rate);
	return tc;
}

static TCase *merge_case(void)
{
	TCase *tc = tcase_create("editing and merging");

	tcase_add_checked_fixture(tc, begin, end);
	tcase_add_test(tc, an_edit_shares_what_it_does_not_change);
	tcase_add_test(tc, the_second_call_gives_the_same_copy);
	tcase_add_test(tc, an_edit_of_an_edit_leaves_the_first_alone);
	tcase_add_test(tc, a_clip_without_tracks_can_be_edited);
	tcase_add_test(tc, where_nobody_else_saved_the_edit_is_the_result);
	tcase_add_test(tc, edits_of_different_curves_are_both_kept);
	tcase_add_test(tc, the_same_curve_edited_twice_is_a_conflict);
	tcase_add_test(tc, a_curve_that_both_removed_or_set_alike_is_none);
	tcase_add_test(tc, removing_a_curve_that_another_changed_is_a_conflict);
	tcase_add_test(tc, what_the_draft_committed_before_is_no_conflict);
	tcase_add_test(tc, what_the_draft_committed_before_is_known_on_its_grid);
	tcase_add_test(tc, what_the_draft_committed_before_and_takes_back_goes);
	tcase_add_test(tc, what_another_changed_since_the_last_commit_stays);
	tcase_add_test(tc, committing_the_same_again_keeps_what_was_stored);
	tcase_add_test(tc, a_clip_value_that_both_changed_is_a_conflict);
	tcase_add_test(tc, a_field_that_both_changed_is_a_conflict);
	tcase_add_test(tc, bones_that_moved_are_found_by_their_label);
	tcase_add_test(tc, editing_a_bone_or_clip_that_another_removed_is_a_conflict);
	tcase_add_test(tc, a_clip_that_another_removed_and_nobody_edited_stays_away);
	tcase_add_test(tc, removed_and_renamed_bones_leave_room_for_others_curves);
	tcase_add_test(tc, removing_a_bone_that_another_edited_is_a_conflict);
	tcase_add_test(tc, lists_of_bones_that_both_changed_are_a_conflict);
	tcase_add_test(tc, removed_and_added_clips_leave_room_for_others_curves);
	tcase_add_test(tc, removing_a_clip_that_another_edited_is_a_conflict);
	tcase_add_test(tc, lists_of_clips_that_both_changed_are_a_conflict);
	tcase_add_test(tc, the_file_s_own_bones_are_changed_by_one_at_a_time);
	return tc;
}

static TCase *stored_case(void)
{
	TCase *tc = tcase_create("what was stored");

	tcase_add_checked_fixture(tc, begin, end);
	tcase_add_test(tc, a_value_is_stored_on_the_nearest_point_of_its_grid);
	tcase_add_test(tc, a_value_is_stored_as_the_nearest_float);
	tcase_add_test(tc, a_constant_needs_no_step);
	tcase_add_test(tc, degrees_are_compared_in_the_unit_of_the_file);
	tcase_add_test(tc, not_a_number_is_stored_by_its_bits);
	tcase_add_test(tc, a_curve_that_nobody_edited_keeps_every_bit);
	tcase_add_test(tc, a_curve_that_comes_or_goes_does_so_in_the_file);
	tcase_add_test(tc, names_and_values_of_clips_are_stored);
	return tc;
}

Suite *anim_suite(void)
{
	Suite *s = suite_create("anim");

	suite_add_tcase(s, curve_case());
	suite_add_tcase(s, merge_case());
	suite_add_tcase(s, stored_case());
	return s;
}
