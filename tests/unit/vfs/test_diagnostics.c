/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_diagnostics.c - the list behind .animfs/errors: one entry per name, and a limit. */
#include "mounted.h"

#define SAMPLE "tests/data/canm/wiki512.canm"
#define KEPT 1024
#define MANY (3 * KEPT)

static void begin(void)
{
	mounted_begin_in(SAMPLE);
}

static void end(void)
{
	mounted_end();
}

static void note(unsigned n, const char *reason)
{
	char path[32];

	snprintf(path, sizeof(path), "file%u.canm", n);
	diagnose(mounted.v, path, "not decoded", reason);
}

static bool says(unsigned n, const char *reason)
{
	struct buf text = BUF_INIT;
	char line[64];
	bool found;

	snprintf(line, sizeof(line), "file%u.canm: not decoded: %s\n", n, reason);
	diagnostics_render(mounted.v, &text);
	buf_add(&text, "", 1);
	found = strstr((const char *)text.data, line) != NULL;
	buf_release(&text);
	return found;
}

static unsigned count_lines(void)
{
	struct buf text = BUF_INIT;
	unsigned lines = 0;

	diagnostics_render(mounted.v, &text);
	for (size_t i = 0; i < text.size; i++)
		lines += text.data[i] == '\n';
	buf_release(&text);
	return lines;
}

START_TEST(the_last_ones_are_kept)
{
	for (unsigned i = 0; i < MANY; i++)
		note(i, "why");
	ck_assert_uint_eq(count_lines(), KEPT);
	for (unsigned i = 0; i < MANY; i++)
		ck_assert_int_eq(says(i, "why"), i >= MANY - KEPT);
}
END_TEST

START_TEST(a_name_has_one_entry)
{
	for (unsigned i = 0; i < 5; i++)
		note(i, "why");
	note(2, "another");
	ck_assert_uint_eq(count_lines(), 5);
	ck_assert(says(2, "another"));
	for (unsigned i = 0; i < 5; i++)
		note(i, NULL);
	ck_assert_uint_eq(count_lines(), 0);
	note(3, "again");
	ck_assert(says(3, "again"));
}
END_TEST

START_TEST(an_entry_goes_with_its_name)
{
	const struct request who = {.uid = getuid(), .pid = getpid()};
	struct entry entry;

	mounted_put("file1.canm", (struct bytes){(const uint8_t *)"x", 1});
	ck_assert_int_eq(vfs_lookup(mounted.v, &who, NODE_ROOT, "file1.canm", &entry), 0);
	note(1, "why");
	note(2, "why");
	ck_assert_int_eq(vfs_unlink(mounted.v, &who, NODE_ROOT, "file1.canm"), 0);
	ck_assert(!says(1, "why"));
	ck_assert(says(2, "why"));
}
END_TEST

static char *last_line;

static void keep_line(const char *line)
{
	free(last_line);
	last_line = strdup(line);
}

/* Line feeds in a name are replaced, so that no name can look like a line about another file. */
START_TEST(a_name_is_in_one_line)
{
	static const char said[] = "a?file1.canm: not decoded: forged?: not decoded: why?or not";
	struct buf text = BUF_INIT;

	log_write = keep_line;
	diagnose(mounted.v, "a\nfile1.canm: not decoded: forged\x7f", "not decoded", "why\nor not");
	log_write = mounted_quiet;
	ck_assert(!says(1, "forged"));
	ck_assert_uint_eq(count_lines(), 1);
	diagnostics_render(mounted.v, &text);
	ck_assert_uint_eq(text.size, strlen(said) + 1);
	ck_assert_mem_eq(text.data, said, strlen(said));
	ck_assert_str_eq(last_line, said);
	buf_release(&text);
	free(last_line);
	last_line = NULL;
}
END_TEST

Suite *diagnostics_suite(void);

Suite *diagnostics_suite(void)
{
	Suite *s = suite_create("diagnostics");
	TCase *t = tcase_create("diagnostics");

	tcase_add_checked_fixture(t, begin, end);
	tcase_add_test(t, the_last_ones_are_kept);
	tcase_add_test(t, a_name_has_one_entry);
	tcase_add_test(t, an_entry_goes_with_its_name);
	tcase_add_test(t, a_name_is_in_one_line);
	suite_add_tcase(s, t);
	return s;
}
