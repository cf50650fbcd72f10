/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The digests of a file's versions outlive the process, and the file's name. */
#include "sample.h"
#include "scratch.h"
#include "store/digests_kept.h"

static struct state *state;
static struct history_file file = {.dir = -1, .folder = "", .name = "wiki512.canm"};

static void begin(void)
{
	struct err err = {.code = ERR_NONE};

	scratch_begin();
	state = state_new(scratch_root, NULL, false, &err);
	ck_assert_ptr_nonnull(state);
	file.dir = scratch_root;
}

static void end(void)
{
	state_free(state);
	scratch_end();
}

/* Loads the digests like the next process does. */
static struct digests *load(void)
{
	struct err err = {.code = ERR_NONE};

	state_free(state);
	state = state_new(scratch_root, NULL, false, &err);
	return digests_load(state, &file);
}

static void store(const struct digests *d)
{
	ck_locks(state_lock(state));
	ck_assert_int_eq(digests_store(state, &file, d), 0);
	state_unlock(state);
}

static struct sample sample(void)
{
	struct sample s;

	ck_assert_int_eq(fchdir(scratch_before), 0);
	s = sample_open(file.name);
	ck_assert_int_eq(fchdir(scratch_root), 0);
	return s;
}

START_TEST(versions_and_texts_are_known_to_the_next_process)
{
	struct sample s;
	struct digests *d = load();

	ck_assert_uint_eq(digests_last(d), 0);
	s = sample();
	ck_assert_uint_eq(digests_add(d, s.version, NULL), 1);
	ck_assert(digests_note_text(d, "walk/clip.gltf", bytes_of("text"), 1));
	store(d);
	digests_free(d);
	d = load();
	ck_assert_uint_eq(digests_of_bytes(d, buf_bytes(&s.bytes)), 1);
	ck_assert_uint_eq(digests_of_text(d, "walk/clip.gltf", bytes_of("text")), 1);
	ck_assert_uint_eq(digests_of_text(d, "walk/clip.bvh", bytes_of("text")), 0);
	digests_free(d);
	sample_close(&s);
}
END_TEST

/* Finds the path of the stored digests, or of another file beside them. */
static void find_stored(const char *name, char path[], size_t size)
{
	DIR *dir = opendir(".animfs/history");
	const struct dirent *entry;

	ck_assert_ptr_nonnull(dir);
	while ((entry = readdir(dir)) && entry->d_name[0] == '.')
		continue;
	ck_assert_ptr_nonnull(entry);
	snprintf(path, size, ".animfs/history/%s/%s", entry->d_name, name);
	closedir(dir);
	ck_assert(is_there(path));
}

/* A read error of the disk may be temporary, so the file must not be overwritten. */
START_TEST(what_could_not_be_read_is_not_replaced)
{
	static const char *const names[] = {"blob", "path"};
	struct sample s = sample();
	struct digests *d = load();
	char stored[512];

	ck_assert_uint_eq(digests_add(d, s.version, NULL), 1);
	store(d);
	digests_free(d);
	find_stored(names[_i], stored, sizeof(stored));
	ck_assert_int_eq(rename(stored, "kept"), 0);
	ck_assert_int_eq(mkdir(stored, 0700), 0);
	d = load();
	ck_assert_uint_eq(digests_last(d), 0);
	ck_assert_int_eq(rmdir(stored), 0);
	ck_assert_int_eq(rename("kept", stored), 0);
	ck_locks(state_lock(state));
	ck_assert_int_eq(digests_store(state, &file, d), EIO);
	state_unlock(state);
	digests_free(d);
	d = load();
	ck_assert_uint_eq(digests_last(d), 1);
	store(d);
	digests_free(d);
	sample_close(&s);
}
END_TEST

START_TEST(what_cannot_be_read_is_as_if_nothing_were_known)
{
	static const char *const blobs[] = {"x", "animfs digests 1",
					    "animfs digests 2\0xxxxxxxxxxxxxxxx"};
	struct digests *d;

	for (size_t i = 0; i < ARRAY_SIZE(blobs); i++) {
		ck_locks(state_lock(state));
		ck_assert_int_eq(history_blob_put(state, &file, bytes_of(blobs[i])), 0);
		state_unlock(state);
		d = load();
		ck_assert_ptr_nonnull(d);
		ck_assert_uint_eq(digests_last(d), 0);
		digests_free(d);
	}
}
END_TEST

START_TEST(it_goes_with_the_file)
{
	struct digests *d = load();
	struct sample s = sample();

	ck_assert_uint_eq(digests_add(d, s.version, NULL), 1);
	store(d);
	digests_free(d);
	put("b.canm", "renamed");
	history_rename(state, file.name, "b.canm");
	d = load();
	ck_assert_uint_eq(digests_last(d), 0);
	digests_free(d);
	file.name = "b.canm";
	d = load();
	ck_assert_uint_eq(digests_last(d), 1);
	digests_free(d);
	file.name = "wiki512.canm";
	sample_close(&s);
}
END_TEST

Suite *digests_kept_suite(void);

Suite *digests_kept_suite(void)
{
	Suite *s = suite_create("digests_kept");
	TCase *t = tcase_create("digests_kept");

	tcase_add_checked_fixture(t, begin, end);
	tcase_add_test(t, versions_and_texts_are_known_to_the_next_process);
	tcase_add_test(t, what_cannot_be_read_is_as_if_nothing_were_known);
	tcase_add_test(t, it_goes_with_the_file);
	tcase_add_loop_test(t, what_could_not_be_read_is_not_replaced, 0, 2);
	suite_add_tcase(s, t);
	return s;
}
