/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Two edits of one file, each stored and decoded by itself, and merged. */
#include "edit/merge_files.h"
#include "edit/structure.h"
#include "sample.h"

/* The place of a curve in a sample. */
struct at {
	uint32_t track;
	unsigned role;
};

/*
 * Returns a curve with the same keys and their values in reverse order, which any grid of the curve
 * can store.
 */
static struct curve *reversed(const struct curve *c, struct arena *arena)
{
	unsigned width = curve_width(c);
	double *values = arena_alloc(arena, (size_t)c->count * width, sizeof(*values));
	struct curve *to = arena_alloc(arena, 1, sizeof(*to));

	for (uint32_t key = 0; key < c->count; key++) {
		for (unsigned axis = 0; axis < width; axis++)
			values[key * width + axis] = curve_value(c, c->count - 1 - key, axis);
	}
	*to = *c;
	to->stored = NULL;
	to->values = values;
	to->said = (struct digest){0, 0};
	return to;
}

/* Returns whether reversing changes the curve, by far more than half a step. */
static bool can_reverse(const struct curve *c)
{
	double far = 0;

	for (uint32_t key = 0; c && c->keyed && key < c->count; key++) {
		for (unsigned axis = 0; axis < curve_width(c); axis++) {
			double d = curve_value(c, key, axis) -
				   curve_value(c, c->count - 1 - key, axis);

			if (!(d * d < 1e12))
				return false;
			far = d * d > far ? d * d : far;
		}
	}
	return far > 1e-4;
}

/* Finds two curves of different bones in clip 0. */
static bool find_curves(const struct clip *clip, struct at out[2])
{
	unsigned found = 0;

	for (uint32_t i = 0; i < clip->track_count && found < 2; i++) {
		for (unsigned role = 0; role < ROLE_COUNT; role++) {
			if (!can_reverse(clip->tracks[i].curve[role]))
				continue;
			out[found++] = (struct at){i, role};
			break;
		}
	}
	return found == 2;
}

static struct sample edited(const struct sample *base, struct at at)
{
	struct anim *a = anim_edit(base->anim);
	struct track *track = anim_edit_track(a, 0, at.track);
	struct sample stored;

	track->curve[at.role] = reversed(track->curve[at.role], &a->arena);
	stored = sample_store(base, a);
	anim_free(a);
	return stored;
}

static const struct curve *curve_of(const struct sample *s, struct at at)
{
	return s->anim->clips[0].tracks[at.track].curve[at.role];
}

static void check_merge(const struct sample *base, const struct at at[2])
{
	struct sample ours = edited(base, at[0]), theirs = edited(base, at[1]), now;
	struct anim *edit = merge_edit(base->anim, theirs.anim);
	struct err err = {0};
	struct anim *merged = anim_merge(base->anim, edit, NULL, ours.anim, NULL, &err);

	ck_assert_msg(merged != NULL, "%s: %s", base->name, err.message);
	now = sample_store(&ours, merged);
	ck_assert(!curve_same(curve_of(&now, at[0]), curve_of(base, at[0])));
	ck_assert(curve_same(curve_of(&now, at[0]), curve_of(&ours, at[0])));
	ck_assert(!curve_same(curve_of(&now, at[1]), curve_of(base, at[1])));
	ck_assert(curve_same(curve_of(&now, at[1]), curve_of(&theirs, at[1])));
	for (uint32_t i = 0; i < base->anim->clips[0].track_count; i++) {
		if (i != at[0].track && i != at[1].track)
			ck_assert(track_same(&now.anim->clips[0].tracks[i],
					     &base->anim->clips[0].tracks[i]));
	}
	sample_close(&now);
	anim_free(merged);
	anim_free(edit);
	sample_close(&ours);
	sample_close(&theirs);
}

START_TEST(edits_of_two_curves_are_both_there_in_every_format)
{
	unsigned formats = 0;
	const struct codec *last = NULL;

	for (const char *const *name = sample_names; *name; name++) {
		struct sample base = sample_open(*name);
		struct at at[2];

		if (find_curves(&base.anim->clips[0], at)) {
			check_merge(&base, at);
			formats += base.codec != last;
			last = base.codec;
		}
		sample_close(&base);
	}
	ck_assert_uint_ge(formats, 4);
}
END_TEST

START_TEST(edits_of_one_curve_are_listed)
{
	struct sample base = sample_open("wiki512.canm");
	struct sample ours, theirs;
	struct buf table = BUF_INIT;
	struct err err = {0};
	struct anim *edit, *a;
	struct at at[2];

	ck_assert(find_curves(&base.anim->clips[0], at));
	ours = edited(&base, at[0]);
	a = anim_edit(base.anim);
	anim_edit_track(a, 0, at[0].track)->curve[at[0].role] = NULL;
	theirs = sample_store(&base, a);
	anim_free(a);
	edit = merge_edit(base.anim, theirs.anim);
	ck_assert_ptr_null(anim_merge(base.anim, edit, NULL, ours.anim, NULL, &err));
	ck_assert_int_eq(err.code, ERR_CONFLICT);
	merge_conflicts(base.anim, ours.anim, theirs.anim, &table);
	buf_char(&table, '\0');
	/* The middle one of three keys stays where it is. */
	ck_assert_str_eq((const char *)table.data, "clip,bone,role,frames_ours,frames_theirs\n"
						   "walk,Bone01,rotation,0 2,all\n");
	buf_release(&table);
	anim_free(edit);
	sample_close(&ours);
	sample_close(&theirs);
	sample_close(&base);
}
END_TEST

START_TEST(clips_and_bones_are_those_of_the_same_name)
{
	struct sample base = sample_open("wiki512.canm");
	struct anim *a = anim_edit(base.anim), *edit;
	struct err err = {0};

	ck_assert(anim_bone_remove(a, 0, 0, &err));
	ck_assert(anim_bone_add(a, 0, "new", &err));
	ck_assert(anim_clip_copy(a, base.anim, 0, "second", NULL, &err));
	edit = merge_edit(base.anim, a);
	ck_assert_uint_eq(edit->clips[0].origin, 0);
	ck_assert_uint_eq(edit->clips[0].tracks[0].origin, 1);
	ck_assert_uint_eq(edit->clips[0].tracks[edit->clips[0].track_count - 1].origin, ANIM_NEW);
	ck_assert_uint_eq(edit->clips[edit->clip_count - 1].origin, ANIM_NEW);
	ck_assert_uint_eq(edit->clips[edit->clip_count - 1].tracks[0].origin, ANIM_NEW);
	anim_free(edit);
	anim_free(a);
	sample_close(&base);
}
END_TEST

Suite *merge_files_suite(void);

Suite *merge_files_suite(void)
{
	Suite *s = suite_create("merge_files");
	TCase *t = tcase_create("merge_files");

	tcase_add_test(t, edits_of_two_curves_are_both_there_in_every_format);
	tcase_add_test(t, edits_of_one_curve_are_listed);
	tcase_add_test(t, clips_and_bones_are_those_of_the_same_name);
	suite_add_tcase(s, t);
	return s;
}
