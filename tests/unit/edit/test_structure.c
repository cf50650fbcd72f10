/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Clips and bones as wholes, within a file, between files and between formats. */
#include "edit/structure.h"
#include "edited.h"
#include "model/rotation.h"

#include <math.h>

static struct sample store(void)
{
	return sample_store(&sample, edited);
}

static void refused(bool result, const char *words)
{
	ck_assert(!result);
	ck_assert_msg(strstr(err.message, words) || strstr(err.accepted, words),
		      "\"%s\" is not in \"%s\" (%s)", words, err.message, err.accepted);
	ck_assert(!err.placed);
	err_clear(&err);
}

/* ---- clips ---- */

START_TEST(a_renamed_clip_keeps_its_place_and_curves)
{
	struct sample now;

	setup("edf6_768.canm");
	ck_assert(anim_clip_rename(edited, 0, "stride", &err));
	now = store();
	ck_assert_str_eq(now.anim->clips[0].name, "stride");
	ck_assert_uint_eq(now.anim->clip_count, sample.anim->clip_count);
	ck_assert_uint_eq(now.anim->clips[0].track_count, sample.anim->clips[0].track_count);
	sample_close(&now);
	teardown();
}
END_TEST

START_TEST(names_that_cannot_be_are_refused)
{
	setup("wiki512.canm");
	ck_assert(anim_clip_copy(edited, sample.anim, 0, "second", NULL, &err));
	refused(anim_clip_rename(edited, 0, "second", &err), "another clip of this file");
	refused(anim_clip_rename(edited, 0, "file.json", &err), "name of a view");
	refused(anim_clip_rename(edited, 0, "raw.bin", &err), "name of a view");
	refused(anim_clip_rename(edited, 0, "a/b", &err), "\"a%2Fb\"");
	refused(anim_bone_rename(edited, 0, 0, "+x", &err), "\"%2Bx\"");
	refused(anim_bone_rename(edited, 0, 0, "Bone01", &err), "already");
	teardown();
	setup("small.006");
	refused(anim_clip_rename(edited, 0, "x", &err), "another name for the file");
	refused(anim_clip_remove(edited, 0, &err), "always have one clip");
	refused(anim_clip_new(edited, "x", 1, &err), "hold one clip");
	refused(anim_bone_rename(edited, 0, 0, "hips", &err), "bone_0012");
	teardown();
}
END_TEST

START_TEST(a_removed_clip_takes_nothing_along)
{
	struct sample now;

	setup("edf6_768.canm");
	ck_assert(anim_clip_copy(edited, sample.anim, 0, "a", NULL, &err));
	ck_assert(anim_clip_copy(edited, sample.anim, 0, "b", NULL, &err));
	ck_assert(anim_clip_remove(edited, sample.anim->clip_count, &err));
	now = store();
	ck_assert_uint_eq(now.anim->clip_count, sample.anim->clip_count + 1);
	ck_assert_str_eq(now.anim->clips[now.anim->clip_count - 1].name, "b");
	sample_close(&now);
	teardown();
}
END_TEST

START_TEST(a_new_clip_has_frames_and_no_bones)
{
	struct sample now;
	const struct clip *clip;

	setup("wiki512.canm");
	ck_assert(anim_clip_new(edited, "idle", 31, &err));
	now = store();
	clip = &now.anim->clips[now.anim->clip_count - 1];
	ck_assert_str_eq(clip->name, "idle");
	ck_assert_uint_eq(clip->frames, 31);
	ck_assert_uint_eq(clip->track_count, 0);
	ck_assert(!clip->loop);
	ck_assert_float_eq(clip->frame_time, 1);
	ck_assert_float_eq(clip->duration, 30);
	sample_close(&now);
	refused(anim_clip_new(edited, "none", 0, &err), "0 frames");
	teardown();
}
END_TEST

/* The copy has the same bits, hidden keys and fields. */
START_TEST(a_copy_within_a_format_is_the_same)
{
	static const char *const names[] = {"wiki512.canm", "odd512.canm", "edf6_768.canm"};

	for (size_t n = 0; n < ARRAY_SIZE(names); n++) {
		struct sample now;
		const struct clip *was, *is;

		setup(names[n]);
		ck_assert_msg(anim_clip_copy(edited, sample.anim, 0, "copy", NULL, &err), "%s",
			      err.message);
		now = store();
		was = &now.anim->clips[0];
		is = &now.anim->clips[now.anim->clip_count - 1];
		ck_assert_uint_eq(is->track_count, was->track_count);
		ck_assert(fields_same(is->fields, is->field_count, was->fields, was->field_count));
		ck_assert_uint_eq(f32_bits(is->duration), f32_bits(was->duration));
		for (uint32_t i = 0; i < is->track_count; i++) {
			ck_assert_str_eq(is->tracks[i].name, was->tracks[i].name);
			for (enum role role = 0; role < ROLE_COUNT; role++)
				ck_assert(curve_same(is->tracks[i].curve[role],
						     was->tracks[i].curve[role]));
		}
		sample_close(&now);
		teardown();
	}
}
END_TEST

/* ---- between formats ---- */

static const struct hierarchy *hierarchy; /* hierarchy that make_file passes on */

/*
 * Makes a file of that name from the sample's first clip only; or returns false, with the refusal
 * in err.
 */
static bool make_file(const struct sample *from, const char *name, struct sample *now)
{
	const struct codec *codec = codec_for_name(name);
	struct anim *made = anim_blank(codec->format, NULL);
	struct buf bytes = BUF_INIT;
	char stem[64] = "";
	bool fine;

	memcpy(stem, name, strcspn(name, "."));
	err_clear(&err);
	ck_assert_ptr_nonnull(made);
	fine = anim_clip_copy(made, from->anim, 0, stem, hierarchy, &err) &&
	       codec->encode(made, (struct bytes){NULL, 0}, &bytes, &err);
	if (fine) {
		*now = sample_decode(name, bytes);
		ck_assert_msg(anim_stored(made, NULL, now->anim, &err), "%s", err.message);
	} else {
		buf_release(&bytes);
	}
	anim_free(made);
	return fine;
}

/*
 * Returns the difference of two values: of vectors above 1 relative to them; a quaternion and its
 * negative are equal.
 */
static double difference(const double a[4], const double b[4], bool rotation)
{
	double most = 0, other = 0;

	for (unsigned axis = 0; axis < (rotation ? 4 : 3); axis++) {
		most = fmax(most, fabs(a[axis] - b[axis]) / fmax(1, fabs(a[axis])));
		other = fmax(other, fabs(a[axis] + b[axis]));
	}
	return rotation ? fmin(most, other) : most;
}

/* Returns a rotation as a unit quaternion, or a vector as it is. */
static void pose(const struct curve *c, double frame, double out[4])
{
	static const double near[4] = {0, 0, 0, 1};
	double value[4], length = 0;

	curve_sample(c, frame, value);
	if (c->kind == CURVE_EULER)
		rotation_quaternion(value, near, out);
	else
		memcpy(out, value, sizeof(value));
	if (c->kind == CURVE_VECTOR)
		return;
	for (unsigned axis = 0; axis < 4; axis++)
		length += out[axis] * out[axis];
	for (unsigned axis = 0; axis < 4; axis++)
		out[axis] /= sqrt(length);
}

static void assert_same_movement(const struct clip *a, const struct clip *b, double room)
{
	ck_assert_uint_eq(a->frames, b->frames);
	ck_assert_uint_eq(a->track_count, b->track_count);
	for (uint32_t i = 0; i < a->track_count; i++) {
		for (enum role role = 0; role < ROLE_COUNT; role++) {
			const struct curve *x = a->tracks[i].curve[role];
			const struct curve *y = b->tracks[i].curve[role];
			double p[4] = {0, 0, 0, 1}, q[4] = {0, 0, 0, 1};

			ck_assert(!x || y);
			for (uint32_t frame = 0; x && frame < a->frames; frame++) {
				pose(x, frame, p);
				pose(y, frame, q);
				ck_assert_msg(difference(p, q, x->kind != CURVE_VECTOR) < room,
					      "%s %s frame %u: %g %g %g, %g %g %g",
					      a->tracks[i].label, role_names[role], frame, p[0],
					      p[1], p[2], q[0], q[1], q[2]);
			}
		}
	}
}

/* Overwatch bones have names that any format with names can store. */
START_TEST(an_overwatch_clip_becomes_canm_and_comes_back)
{
	struct sample canm, again;

	setup("small.006");
	ck_assert_msg(make_file(&sample, "small.canm", &canm), "%s", err.message);
	assert_same_movement(&sample.anim->clips[0], &canm.anim->clips[0], 1e-3);
	ck_assert_double_eq_tol(anim_seconds_per_frame(canm.anim, &canm.anim->clips[0]),
				anim_seconds_per_frame(sample.anim, &sample.anim->clips[0]), 1e-7);
	ck_assert_msg(make_file(&canm, "small.006", &again), "%s (%s)", err.message, err.accepted);
	assert_same_movement(&sample.anim->clips[0], &again.anim->clips[0], 2e-3);
	sample_close(&again);
	sample_close(&canm);
	teardown();
}
END_TEST

START_TEST(a_ribbon_becomes_canm_with_steps_in_every_frame)
{
	struct sample canm;

	setup("extremes.anm");
	if (make_file(&sample, "x.canm", &canm)) {
		assert_same_movement(&sample.anim->clips[0], &canm.anim->clips[0], 1e-3);
		sample_close(&canm);
	} else {
		ck_assert_int_eq(err.code, ERR_STORE);
	}
	teardown();
	setup("duplicate.anm");
	refused(make_file(&sample, "x.canm", &canm), "two keys in frame");
	teardown();
	setup("flags7.anm");
	ck_assert(make_file(&sample, "x.anm", &canm));
	assert_same_movement(&sample.anim->clips[0], &canm.anim->clips[0], 1e-9);
	sample_close(&canm);
	teardown();
}
END_TEST

START_TEST(what_cannot_be_carried_is_refused_by_name)
{
	struct sample now;

	setup("wiki512.canm");
	refused(make_file(&sample, "x.006", &now), "loops");
	refused(make_file(&sample, "x.cas", &now), "a copy of a CAS");
	refused(make_file(&sample, "x.kanim", &now), "made of curves");
	teardown();
	setup("stick.kanim");
	refused(make_file(&sample, "x.canm", &now), "a list of stills");
	ck_assert(make_file(&sample, "x.kanim", &now));
	sample_close(&now);
	teardown();
	setup("bones024.ff9anim");
	refused(make_file(&sample, "x.anm", &now), "bone_000");
	ck_assert_msg(make_file(&sample, "x.canm", &now), "%s", err.message);
	assert_same_movement(&sample.anim->clips[0], &now.anim->clips[0], 1e-2);
	sample_close(&now);
	teardown();
}
END_TEST

/* Every sample is converted to every format: it is stored as wanted, or refused with a message. */
START_TEST(every_clip_into_every_format)
{
	static const char *const names[] = {
		"wiki512.canm", "edf6_768.canm", "nan512.canm",           "v203.cas",
		"walk.006",     "long.006",      "frames033_low.ff9anim", "extremes.anm",
		"flags3.anm",   "stick.kanim"};
	static const char *const targets[] = {"t.canm", "t.cas",     "t.006",
					      "t.anm",  "t.ff9anim", "t.kanim"};
	unsigned stored = 0;

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		setup(names[i]);
		for (size_t j = 0; j < ARRAY_SIZE(targets); j++) {
			struct sample now;

			if (make_file(&sample, targets[j], &now)) {
				assert_same_movement(&sample.anim->clips[0], &now.anim->clips[0],
						     INFINITY);
				sample_close(&now);
				stored++;
			} else {
				ck_assert_msg(err.code == ERR_STORE, "%s into %s: %s", names[i],
					      targets[j], err.message);
				ck_assert_uint_gt(strlen(err.message), 10);
			}
		}
		teardown();
	}
	ck_assert_uint_ge(stored, 12);
}
END_TEST

/* A bone is copied into a file whose bones have quaternions: angles are converted. */
START_TEST(angles_become_what_the_other_bones_have)
{
	struct sample from = sample_open("wiki512.canm"), now;
	const struct clip *made;

	setup("edf6_768.canm");
	ck_assert(anim_clip_copy(edited, from.anim, 0, "wiki", NULL, &err));
	now = store();
	made = &now.anim->clips[now.anim->clip_count - 1];
	ck_assert_int_eq(made->tracks[1].curve[ROLE_ROTATION]->kind, CURVE_QUATERNION);
	assert_same_movement(&from.anim->clips[0], made, 1e-3);
	sample_close(&now);
	sample_close(&from);
	teardown();
}
END_TEST

/* Of each bone the one of half its number, above bone_001 one that only the skeleton has. */
static const char *parent_by_number(const void *closure, const char *label)
{
	static char names[2][sizeof("bone_000")];
	static unsigned turn;
	unsigned number;

	(void)closure;
	if (strcmp(label, "bone_000") == 0)
		return "top";
	if (sscanf(label, "bone_%3u", &number) != 1)
		return NULL;
	turn = !turn;
	snprintf(names[turn], sizeof(names[turn]), "bone_%03u", number / 2 % 1000);
	return names[turn];
}

static const char *parent_before(const void *closure, const char *label)
{
	static char name[sizeof("bone_000")];
	unsigned number;

	(void)closure;
	if (sscanf(label, "bone_%3u", &number) != 1 || number == 0)
		return NULL;
	snprintf(name, sizeof(name), "bone_%03u", (number - 1) % 1000);
	return name;
}

static const struct track *track_of_path(const struct sample *s, const char *path)
{
	for (uint32_t i = 0; i < s->anim->clips[0].track_count; i++)
		if (strcmp(s->anim->clips[0].tracks[i].name, path) == 0)
			return &s->anim->clips[0].tracks[i];
	return NULL;
}

START_TEST(a_hierarchy_becomes_paths_and_they_come_back)
{
	static const struct hierarchy halves = {parent_by_number, NULL};
	static const struct hierarchy chain = {parent_before, NULL};
	struct sample clip, again;

	setup("bones024.ff9anim");
	ck_assert_msg(make_file(&sample, "x.anim", &clip), "%s", err.message);
	ck_assert_ptr_nonnull(track_of_path(&clip, "bone013"));
	sample_close(&clip);
	hierarchy = &halves;
	ck_assert_msg(make_file(&sample, "x.anim", &clip), "%s", err.message);
	ck_assert_ptr_nonnull(track_of_path(&clip, "top/bone000"));
	ck_assert_ptr_nonnull(track_of_path(&clip, "top/bone000/bone001/bone003/bone006/bone013"));
	ck_assert_msg(make_file(&clip, "x.ff9anim", &again), "%s", err.message);
	assert_same_movement(&sample.anim->clips[0], &again.anim->clips[0], 1e-6);
	sample_close(&again);
	sample_close(&clip);
	teardown();

	setup("bones255.ff9anim");
	hierarchy = &chain;
	refused(make_file(&sample, "x.anim", &clip), "bone064 is below more than 63");
	teardown();
	hierarchy = NULL;
}
END_TEST

/* ---- bones ---- */

START_TEST(bones_come_and_go)
{
	struct sample now;
	const struct clip *clip;

	setup("wiki512.canm");
	ck_assert(anim_bone_rename(edited, 0, 1, "hips", &err));
	ck_assert(anim_bone_add(edited, 0, "tail", &err));
	ck_assert(anim_bone_remove(edited, 0, 0, &err));
	now = store();
	clip = &now.anim->clips[0];
	ck_assert_uint_eq(clip->track_count, sample.anim->clips[0].track_count);
	ck_assert_str_eq(clip->tracks[0].name, "hips");
	ck_assert_str_eq(clip->tracks[clip->track_count - 1].name, "tail");
	for (enum role role = 0; role < ROLE_COUNT; role++) {
		ck_assert(curve_same(clip->tracks[0].curve[role],
				     sample.anim->clips[0].tracks[1].curve[role]));
		ck_assert_ptr_null(clip->tracks[clip->track_count - 1].curve[role]);
	}
	sample_close(&now);
	teardown();
}
END_TEST

START_TEST(a_new_bone_is_what_the_format_can_store)
{
	struct sample now;

	setup("frames007_low.ff9anim");
	ck_assert(anim_bone_add(
		edited, 0,
		arena_format(&edited->arena, "bone_%03u", sample.anim->clips[0].track_count),
		&err));
	now = store();
	ck_assert_uint_eq(now.anim->clips[0].track_count, sample.anim->clips[0].track_count + 1);
	sample_close(&now);
	teardown();
	setup("flags3.anm");
	refused(anim_bone_add(edited, 0, "object_200", &err), "without keyframes");
	teardown();
	setup("small.006");
	ck_assert(anim_bone_add(edited, 0, "bone_0FFF", &err));
	now = store();
	ck_assert_uint_eq(now.anim->clips[0].track_count, sample.anim->clips[0].track_count + 1);
	sample_close(&now);
	teardown();
	setup("stick.kanim");
	refused(anim_bone_add(edited, 0, "b", &err), "have no bones");
	teardown();
}
END_TEST

Suite *structure_suite(void);
Suite *structure_suite(void)
{
	Suite *s = suite_create("structure");
	TCase *tc = tcase_create("structure");

	tcase_add_test(tc, a_renamed_clip_keeps_its_place_and_curves);
	tcase_add_test(tc, names_that_cannot_be_are_refused);
	tcase_add_test(tc, a_removed_clip_takes_nothing_along);
	tcase_add_test(tc, a_new_clip_has_frames_and_no_bones);
	tcase_add_test(tc, a_copy_within_a_format_is_the_same);
	tcase_add_test(tc, an_overwatch_clip_becomes_canm_and_comes_back);
	tcase_add_test(tc, a_ribbon_becomes_canm_with_steps_in_every_frame);
	tcase_add_test(tc, what_cannot_be_carried_is_refused_by_name);
	tcase_add_test(tc, every_clip_into_every_format);
	tcase_add_test(tc, angles_become_what_the_other_bones_have);
	tcase_add_test(tc, a_hierarchy_becomes_paths_and_they_come_back);
	tcase_add_test(tc, bones_come_and_go);
	tcase_add_test(tc, a_new_bone_is_what_the_format_can_store);
	suite_add_tcase(s, tc);
	return s;
}
