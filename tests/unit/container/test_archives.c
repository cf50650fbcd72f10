/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The samples of each container: their contents, cut at every length, with every byte changed. */
#include "archives.h"
#include "container/containers.h"

static const struct kind {
	const struct container *container;
	const char *samples;
	const char *
		folder; /* the member of NAME.expect.json that has the place of an archive member */
} kinds[] = {
	{&cpk_container, "tests/data/cpk/*.cpk", "dir"},
	{&rab_container, "tests/data/rab/*rab", "type"},
	{&zip_container, "tests/data/zip/*.zip", "folder"},
};

static const struct kind *kind; /* the kind of archive that the running test is about */

static void says_what_is_expected(const char *path)
{
	check_archive(path, kind->container, kind->folder);
}

static void stands_cuts(const char *path)
{
	cut_archive(path, kind->container);
}

static void stands_changes(const char *path)
{
	change_archive(path, kind->container);
}

START_TEST(samples_are_what_they_should_be)
{
	kind = &kinds[_i];
	for_each_archive(kind->samples, says_what_is_expected);
}
END_TEST

START_TEST(samples_cut_at_every_length)
{
	kind = &kinds[_i];
	for_each_archive(kind->samples, stands_cuts);
}
END_TEST

START_TEST(samples_with_every_byte_changed)
{
	kind = &kinds[_i];
	for_each_archive(kind->samples, stands_changes);
}
END_TEST

Suite *archives_suite(void);

Suite *archives_suite(void)
{
	const int count = sizeof(kinds) / sizeof(kinds[0]);
	Suite *s = suite_create("archives");
	TCase *t = tcase_create("archives");

	tcase_add_loop_test(t, samples_are_what_they_should_be, 0, count);
	tcase_add_loop_test(t, samples_cut_at_every_length, 0, count);
	tcase_add_loop_test(t, samples_with_every_byte_changed, 0, count);
	suite_add_tcase(s, t);
	return s;
}
