/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Texts of versions whose bytes are gone, recognised by their contents. */
#include "sample.h"

#include "store/digests.h"
#include "store/statement.h"

#include <math.h>

static const char *const kanims[] = {"stick.kanim", "stick_backwards.kanim", NULL};

/* ---- another version of a sample ---- */

/* Makes a curve with other values in some keys; a value that is not finite stays. */
static struct curve *other_values(const struct curve *c, unsigned salt, struct arena *arena)
{
	unsigned width = curve_width(c);
	struct curve *made = arena_alloc(arena, 1, sizeof(*made));
	double *values = arena_alloc(arena, c->count, width * sizeof(*values));

	*made = *c;
	made->stored = NULL;
	made->values = values;
	for (uint32_t key = 0; key < c->count; key++) {
		for (unsigned axis = 0; axis < width; axis++) {
			double value = curve_value(c, key, axis);

			if ((key + salt) % 3 == 0 && isfinite(value))
				value = width == 4 ? (axis == salt % 4)
						   : value * 0.5 + 0.0078125 * (axis + salt % 5);
			values[key * width + axis] = value;
		}
	}
	return made;
}

/*
 * Makes another version of a sample: tries changes role by role, and keeps those that the format
 * accepts.
 */
static struct sample another(const struct sample *s, unsigned salt)
{
	struct buf copy = BUF_INIT;
	struct sample now;

	buf_add(&copy, s->bytes.data, s->bytes.size);
	now = sample_decode(s->name, copy);

	for (uint32_t c = 0; c < s->anim->clip_count; c++) {
		for (uint32_t t = 0; t < s->anim->clips[c].track_count; t++) {
			for (unsigned role = 0; role < ROLE_COUNT; role++) {
				const struct curve *was = now.anim->clips[c].tracks[t].curve[role];
				struct buf bytes = BUF_INIT;
				struct err err = {0};
				struct anim *edited;

				if (!was || (c + t + role + salt) % 4 == 0)
					continue;
				edited = anim_edit(now.anim);
				anim_edit_track(edited, c, t)->curve[role] =
					other_values(was, salt + t, &edited->arena);
				if (now.codec->encode(edited, buf_bytes(&now.bytes), &bytes,
						      &err)) {
					struct sample next = sample_decode(s->name, bytes);

					anim_free(edited);
					sample_close(&now);
					now = next;
				} else {
					anim_free(edited);
					buf_release(&bytes);
				}
			}
		}
	}
	return now;
}

/* ---- texts of old versions are known again ---- */

static bool is_lossy(const struct view *view)
{
	return strcmp(view->name, "gltf") == 0 || strcmp(view->name, "bvh") == 0;
}

/* number of texts recognised by their values, and by the text only */
static unsigned by_value, by_text;

/*
 * Returns whether a text cannot show all of a version. A value that is not finite has no form in
 * the other kind of rotation, and is served as a blank.
 */
static bool says_less(const struct sample *old)
{
	if (strcmp(old->name, "json_odd.anim") == 0)
		return old->anim->rotations == ROTATIONS_EULER;
	return strcmp(old->name, "nan512.canm") == 0 &&
	       old->anim->rotations == ROTATIONS_QUATERNION;
}

static void check_known(const struct sample *old, const struct digests *d, const char *file,
			const struct statement *said)
{
	for (size_t i = 0; i < said->count; i++) {
		struct digest was = digests_at(d, said->units[i].unit, 1);
		uint64_t set = 6; /* a set of the versions 1 and 2 */

		if (!said->units[i].changed && says_less(old))
			continue;
		ck_assert_msg(digest_same(was, said->units[i].digest),
			      "%s %s: unit %zu of %zu is not known again", old->name, file, i,
			      said->count);
		digests_match(d, said->units[i].unit, said->units[i].digest, &set, 2);
		ck_assert_uint_eq(set, said->units[i].changed ? 2 : 6);
	}
}

static void check_text(const struct sample *old, const struct sample *now, struct digests *d,
		       const struct view *view, const struct shown *at)
{
	struct shown over = *at;
	struct buf text = view_text(view, at);
	struct place place = {
		.kind = PLACE_VIEW, .view = view, .clip = at->clip, .track = at->track};
	struct statement said = {0};
	struct err err = {0};
	struct anim *edited;

	over.anim = now->anim;
	edited = view->parse(&over, buf_bytes(&text), &err);
	if (edited && !is_lossy(view)) {
		ck_assert(statement_of_text(&said, d, now->version, 2, &place, edited));
		by_value++;
	} else {
		ck_assert_uint_eq(digests_of_text(d, view->file, buf_bytes(&text)), 0);
		ck_assert(digests_note_text(d, view->file, buf_bytes(&text), 1));
		ck_assert_uint_eq(digests_of_text(d, view->file, buf_bytes(&text)), 1);
		ck_assert_uint_eq(digests_of_text(d, "x", buf_bytes(&text)), 0);
		ck_assert(statement_of_noted(&said, d, now->version, 2, &place, 1));
		by_text++;
	}
	check_known(old, d, view->file, &said);
	statement_release(&said);
	anim_free(edited);
	buf_release(&text);
}

static void check_texts(const struct sample *old, const struct sample *now, struct digests *d)
{
	for (const struct view *const *v = views; *v; v++) {
		uint32_t clips = (*v)->place == VIEW_OF_FILE ? 1 : old->anim->clip_count;

		if (!(*v)->parse || (*v)->whole)
			continue;
		for (uint32_t c = 0; c < clips; c++) {
			for (uint32_t i = 0; i < view_places(*v, &old->anim->clips[c]); i++) {
				struct shown at = sample_shown(old, c, NULL);

				at.track = (*v)->place == VIEW_OF_BONE ? i : 0;
				if (!(*v)->present || (*v)->present(&at))
					check_text(old, now, d, *v, &at);
			}
		}
	}
}

static void check_sample(const char *name)
{
	struct sample old = sample_open(name);

	for (unsigned salt = 0; salt < 4; salt++) {
		struct sample now = another(&old, salt);

		for (int a = 0; a < 9; a++) {
			struct digests *d = digests_new();

			old.anim->rotations = ROTATIONS_STORED;
			ck_assert_uint_eq(digests_add(d, old.version, NULL), 1);
			/* First the texts of the old version are served, */
			old.anim->rotations = (enum rotations)(a / 3);
			ck_assert_uint_eq(digests_add(d, old.version, NULL), 1);
			/* then they are saved over another version. */
			now.anim->rotations = (enum rotations)(a % 3);
			ck_assert_uint_ne(digests_add(d, now.version, NULL), 0);
			check_texts(&old, &now, d);
			digests_free(d);
		}
		old.anim->rotations = ROTATIONS_STORED;
		sample_close(&now);
	}
	sample_close(&old);
}

START_TEST(old_texts_are_known)
{
	for (size_t i = 0; sample_names[i]; i++)
		check_sample(sample_names[i]);
	for (size_t i = 0; kanims[i]; i++)
		check_sample(kanims[i]);
	ck_assert_uint_gt(by_value, 3000);
	ck_assert_uint_gt(by_text, 100);
}
END_TEST

/* ---- differences, bytes, bounds ---- */

/* Makes three versions of a sample, of which the last equals the first. */
static struct digests *three_versions(struct sample v[2])
{
	struct digests *d = digests_new();

	v[0] = sample_open("wiki512.canm");
	v[1] = another(&v[0], 1);
	ck_assert_uint_eq(digests_add(d, v[0].version, NULL), 1);
	ck_assert_uint_eq(digests_add(d, v[1].version, NULL), 2);
	ck_assert_uint_eq(digests_add(d, v[1].version, NULL), 2);
	ck_assert_uint_eq(digests_add(d, v[0].version, NULL), 3);
	return d;
}

static bool is_as_in_first(void *closure, const struct unit_value *value)
{
	const struct digests *d = closure;
	uint32_t since = digests_since(d, value->unit, 3);

	ck_assert(digest_same(digests_at(d, value->unit, 1), value->digest));
	ck_assert(digest_same(digests_at(d, value->unit, 3), value->digest));
	ck_assert(digests_at(d, value->unit, 2).low == value->digest.low ? since < 2 : since == 3);
	return true;
}

static void check_three(struct digests *d, const struct sample *first)
{
	const struct clip *clip = &first->anim->clips[0];

	ck_assert_uint_eq(digests_last(d), 3);
	ck_assert_uint_eq(digests_of_bytes(d, buf_bytes(&first->bytes)), 3);
	ck_assert(units_of_file(first->anim, is_as_in_first, d));
	ck_assert(units_of_clip(first->anim, clip, clip->label, ~0u, is_as_in_first, d));
	for (uint32_t t = 0; t < clip->track_count; t++)
		ck_assert(units_of_track(first->anim, clip, &clip->tracks[t], is_as_in_first, d));
}

START_TEST(versions_are_told_apart)
{
	struct sample v[2];
	struct digests *d = three_versions(v);

	check_three(d, &v[0]);
	ck_assert_uint_eq(digests_of_bytes(d, buf_bytes(&v[1].bytes)), 2);
	digests_free(d);
	sample_close(&v[0]);
	sample_close(&v[1]);
}
END_TEST

/* Reads a copy in a block of exactly its size, so that sanitizers detect reads past the end. */
static struct digests *read_copy(struct bytes bytes)
{
	uint8_t *copy = malloc(bytes.size ? bytes.size : 1);
	struct digests *d;

	memcpy(copy, bytes.data, bytes.size);
	d = digests_read((struct bytes){copy, bytes.size});
	free(copy);
	return d;
}

START_TEST(bytes_are_read_back)
{
	struct sample v[2];
	struct digests *d = three_versions(v), *read;
	struct buf bytes = BUF_INIT, again = BUF_INIT;

	digests_note_text(d, "clip.gltf", bytes_of("one"), 1);
	digests_note_text(d, "clip.gltf", bytes_of("two"), 2);
	digests_write(d, &bytes);
	read = read_copy(buf_bytes(&bytes));
	ck_assert_ptr_nonnull(read);
	check_three(read, &v[0]);
	ck_assert_uint_eq(digests_of_text(read, "clip.gltf", bytes_of("one")), 1);
	ck_assert_uint_eq(digests_of_text(read, "clip.gltf", bytes_of("two")), 2);
	digests_write(read, &again);
	ck_assert(bytes_equal(buf_bytes(&bytes), buf_bytes(&again)));
	digests_free(read);
	for (size_t size = 0; size < bytes.size; size++)
		ck_assert_ptr_null(read_copy((struct bytes){bytes.data, size}));
	for (size_t i = 0; i < bytes.size; i++) {
		for (unsigned bit = 0; bit < 8; bit++) {
			bytes.data[i] ^= (uint8_t)(1u << bit);
			read = read_copy(buf_bytes(&bytes));
			if (read) {
				digests_add(read, v[1].version, NULL);
				digests_of_text(read, "x", bytes_of("one"));
			}
			digests_free(read);
			bytes.data[i] ^= (uint8_t)(1u << bit);
		}
	}
	digests_free(d);
	buf_release(&bytes);
	buf_release(&again);
	sample_close(&v[0]);
	sample_close(&v[1]);
}
END_TEST

START_TEST(oldest_versions_are_forgotten)
{
	struct sample v[2];
	struct digests *d = three_versions(v);
	uint32_t last = 3;

	digests_note_text(d, "clip.gltf", bytes_of("one"), 1);
	while (last < 3 * DIGESTS_VERSIONS_MAX)
		ck_assert_uint_eq(digests_add(d, v[last++ % 2].version, NULL), last);
	ck_assert_uint_le(last - digests_first(d), DIGESTS_VERSIONS_MAX);
	ck_assert_uint_gt(digests_first(d), DIGESTS_VERSIONS_MAX);
	ck_assert_uint_eq(digests_of_text(d, "clip.gltf", bytes_of("one")), 0);
	for (uint32_t number = digests_first(d); number <= last; number++) {
		const struct sample *s = &v[(number - 1) % 2];
		const struct clip *c = &s->anim->clips[0];

		for (uint32_t t = 0; t < c->track_count; t++)
			for (unsigned role = 0; role < ROLE_COUNT; role++) {
				struct digest is = said_curve(c->tracks[t].curve[role], c->frames);
				struct digest was = digests_at(
					d, unit_of_curve(c->label, c->tracks[t].label, role),
					number);

				ck_assert(digest_same(is, was));
			}
	}
	digests_free(d);
	sample_close(&v[0]);
	sample_close(&v[1]);
}
END_TEST

Suite *digests_suite(void);

Suite *digests_suite(void)
{
	Suite *s = suite_create("digests");
	TCase *t = tcase_create("digests");

	tcase_add_test(t, old_texts_are_known);
	tcase_add_test(t, versions_are_told_apart);
	tcase_add_test(t, bytes_are_read_back);
	tcase_add_test(t, oldest_versions_are_forgotten);
	suite_add_tcase(s, t);
	return s;
}
