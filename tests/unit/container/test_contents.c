/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "archives.h"
#include "container/contents.h"

#include <unistd.h>

static struct archive *open_sample(const char *path, struct buf *file)
{
	struct err err = {.code = ERR_NONE};
	struct archive *a;
	struct input in;

	*file = load_file(path);
	in = input_of_bytes(buf_bytes(file));
	a = archive_open(container_for_name(path), &in, LIMIT, &err);
	ck_assert_msg(a != NULL, "%s: %s", path, err.message);
	return a;
}

static void write_names(const struct contents *c, uint32_t folder, unsigned depth, struct buf *out)
{
	for (uint32_t i = c->entries[folder].first; i != CONTENTS_NONE; i = c->entries[i].next) {
		bool is_folder = c->entries[i].member == CONTENTS_NONE;

		buf_format(out, "%*s%s%s\n", (int)(2 * depth), "", c->entries[i].label,
			   is_folder ? "/" : "");
		if (is_folder)
			write_names(c, i, depth + 1, out);
	}
}

static void check_names(const char *path, const char *expected)
{
	struct err err = {.code = ERR_NONE};
	struct buf file, out = BUF_INIT;
	struct archive *a = open_sample(path, &file);
	struct contents *c = contents_new(a, &err);

	ck_assert_msg(c != NULL, "%s", err.message);
	write_names(c, CONTENTS_TOP, 0, &out);
	buf_char(&out, '\0');
	ck_assert_str_eq((const char *)out.data, expected);
	buf_release(&out);
	contents_free(c);
	archive_close(a);
	buf_release(&file);
}

START_TEST(hostile_and_equal_names_are_file_names)
{
	check_names("tests/data/cpk/names.cpk", "OBJECT/\n"
						"  A.CANM\n"
						"  A.CANM~2\n"
						"  %2E.%2Fevil\n"
						"  A.CANM%2Finside\n"
						"  %\n"
						"object/\n"
						"  a.canm\n"
						"%2E%2E/\n"
						"  %2E%2E/\n"
						"    evil\n"
						"C%3A%5Cx/\n"
						"  a%5Cb\n"
						"%2Fetc%2Fpasswd\n"
						"x%0Ay/\n"
						"  tab%09here\n");
	check_names("tests/data/rab/names.rab", "A/\n"
						"  same\n"
						"  same~2\n"
						"B/\n"
						"  same\n"
						"  %2E%2E\n"
						"  %2E.%2Fx\n"
						"  C%3A%5Cx\n"
						"  a%0Ab\n"
						"  %ED%A0%80\n"
						"  %\n"
						"  zeros\n"
						"  tail\n");
}
END_TEST

START_TEST(a_file_that_is_a_folder_too_gets_a_number)
{
	check_names("tests/data/zip/names.zip", "a/\n"
						"  same.txt\n"
						"  same.txt~2\n"
						"  %/\n"
						"    b\n"
						"  same.txt~3/\n"
						"    inside\n"
						"%2E%2E/\n"
						"  evil\n"
						"%/\n"
						"  etc/\n"
						"    passwd\n"
						"C%3A%5Cx\n"
						"x%0Ay/\n"
						"  tab%09here\n"
						"%2E\n");
}
END_TEST

START_TEST(folders_without_files_are_there)
{
	check_names("tests/data/zip/mod.zip", "Mods/\n"
					      "  OBJECT/\n"
					      "    walker.canm\n"
					      "    WALKER.CAS\n"
					      "    WALKER.MRAB\n"
					      "Root.cpk\n"
					      "empty.bin\n"
					      "歩行.txt\n"
					      "zeros.bin\n"
					      "bz.txt\n"
					      "readme.txt\n");
}
END_TEST

static uint32_t find(const struct contents *c, const char *path)
{
	uint32_t at = CONTENTS_TOP;

	while (at != CONTENTS_NONE && *path) {
		size_t size = strcspn(path, "/");

		at = contents_find(c, at, path, size);
		path += size + (path[size] == '/');
	}
	return at;
}

/* Opens a member of the archive. The bytes of a packed one are in `room`. */
static struct archive *open_member(const struct archive *outer, const char *path, struct buf *room)
{
	struct err err = {.code = ERR_NONE};
	struct contents *c = contents_new(outer, &err);
	uint32_t at = find(c, path);
	struct archive *a;
	struct input in;

	ck_assert(at != CONTENTS_NONE);
	ck_assert_msg(archive_input(outer, c->entries[at].member, LIMIT, room, &in, &err), "%s",
		      err.message);
	a = archive_open(container_for_name(path), &in, LIMIT, &err);
	ck_assert_msg(a != NULL, "%s: %s", path, err.message);
	contents_free(c);
	return a;
}

static void check_bytes(const struct archive *a, const char *path, const char *same)
{
	struct err err = {.code = ERR_NONE};
	struct contents *c = contents_new(a, &err);
	struct buf bytes = BUF_INIT, expected = load_file(same);
	uint32_t at = find(c, path);
	uint64_t size;

	ck_assert(at != CONTENTS_NONE);
	ck_assert(archive_measure(a, c->entries[at].member, &size, &err));
	ck_assert(archive_read(a, c->entries[at].member, LIMIT, &bytes, &err));
	ck_assert(bytes_equal(buf_bytes(&bytes), buf_bytes(&expected)));
	ck_assert_uint_eq(size, expected.size);
	buf_release(&bytes);
	buf_release(&expected);
	contents_free(c);
}

START_TEST(archives_in_archives)
{
	struct buf file, rooms[2] = {BUF_INIT, BUF_INIT};
	struct archive *zip = open_sample("tests/data/zip/mod.zip", &file);
	struct archive *cpk = open_member(zip, "Root.cpk", &rooms[0]);
	struct archive *rab = open_member(cpk, "OBJECT/WALKER.MRAB", &rooms[1]);

	/* The member is stored there as it is, so it is not copied. */
	ck_assert_uint_eq(rooms[1].size, 0);
	check_bytes(cpk, "OBJECT/walker.canm", "tests/data/canm/wiki512.canm");
	check_bytes(rab, "ANIMATION/walker.canm", "tests/data/canm/wiki512.canm");
	archive_close(rab);
	archive_close(cpk);
	archive_close(zip);
	buf_release(&rooms[0]);
	buf_release(&rooms[1]);
	buf_release(&file);
}
END_TEST

START_TEST(archives_are_read_from_files)
{
	FILE *file = fopen("tests/data/cpk/nested.cpk", "rb");
	struct err err = {.code = ERR_NONE};
	struct buf room = BUF_INIT;
	struct archive *cpk, *rab;
	struct input in;

	ck_assert(file && input_of_file(fileno(file), &in, &err));
	cpk = archive_open(container_for_name("Root.CPK"), &in, LIMIT, &err);
	ck_assert_msg(cpk != NULL, "%s", err.message);
	rab = open_member(cpk, "OBJECT/WALKER.MRAB", &room);
	ck_assert_uint_eq(room.size, 0);
	check_bytes(rab, "ANIMATION/walker.canm", "tests/data/canm/wiki512.canm");
	archive_close(rab);
	archive_close(cpk);
	fclose(file);
}
END_TEST

START_TEST(a_file_that_becomes_shorter)
{
	FILE *file = tmpfile();
	struct buf bytes = load_file("tests/data/cpk/nested.cpk"), out = BUF_INIT;
	struct err err = {.code = ERR_NONE};
	struct archive *a;
	struct input in;

	ck_assert(file && fwrite(bytes.data, 1, bytes.size, file) == bytes.size);
	ck_assert(fflush(file) == 0 && input_of_file(fileno(file), &in, &err));
	a = archive_open(container_for_name("a.cpk"), &in, LIMIT, &err);
	ck_assert_msg(a != NULL, "%s", err.message);
	ck_assert(ftruncate(fileno(file), 0x800) == 0);
	ck_assert(!archive_read(a, 0, LIMIT, &out, &err));
	ck_assert_str_eq(err.message, "the file became shorter while it was read");
	archive_close(a);
	buf_release(&bytes);
	buf_release(&out);
	fclose(file);
}
END_TEST

START_TEST(limits_are_the_callers)
{
	struct err err = {.code = ERR_NONE};
	struct buf file, out = BUF_INIT;
	struct archive *a = open_sample("tests/data/cpk/nested.cpk", &file);
	struct input in = input_of_bytes(buf_bytes(&file));

	ck_assert(archive_read(a, 0, 3434, &out, &err));
	ck_assert(!archive_read(a, 0, 3433, &out, &err));
	ck_assert_str_eq(err.message, "3434 bytes unpacked are more than 3433, the limit");
	ck_assert_uint_eq(out.size, 3434);
	err_clear(&err);
	a->limit = 1;
	ck_assert(contents_new(a, &err) == NULL);
	ck_assert_str_eq(err.message, "the folders of the members take more memory than 1 bytes, "
				      "the limit");
	archive_close(a);
	for (size_t limit = 0; limit < 8192; limit++) {
		err_clear(&err);
		a = archive_open(container_for_name("a.cpk"), &in, limit, &err);
		ck_assert((a != NULL) == (err.code == ERR_NONE));
		archive_close(a);
	}
	buf_release(&out);
	buf_release(&file);
}
END_TEST

START_TEST(names_say_what_may_be_an_archive)
{
	ck_assert_str_eq(container_for_name("Root.cpk")->name, "cpk");
	ck_assert_str_eq(container_for_name("X.MRAB")->name, "rab");
	ck_assert_str_eq(container_for_name("fx.efarc")->name, "rab");
	ck_assert_str_eq(container_for_name("a.rab")->name, "rab");
	ck_assert_str_eq(container_for_name("mod.Zip")->name, "zip");
	ck_assert(container_for_name("walker.canm") == NULL);
	ck_assert(container_for_name(".zip") == NULL);
	ck_assert(container_for_name("a.skla") == NULL); /* the template is not listed */
}
END_TEST

/* The date, read from the file by hand: 0x07E8 02 1D 0C 22 00 is 2024-02-29 12:34:00. */
START_TEST(dates_are_utc)
{
	struct buf file;
	struct archive *a = open_sample("tests/data/cpk/toc_end.cpk", &file);

	ck_assert_int_eq(a->members[0].time, 1709210040);
	archive_close(a);
	buf_release(&file);
	a = open_sample("tests/data/rab/tools.rab", &file);
	/* 132048891509131584 / 10^7 - 11644473600 */
	ck_assert_int_eq(a->members[0].time, 1560415550);
	ck_assert_int_eq(a->members[3].time, 0);
	archive_close(a);
	buf_release(&file);
}
END_TEST

Suite *contents_suite(void);

Suite *contents_suite(void)
{
	Suite *s = suite_create("contents");
	TCase *t = tcase_create("contents");

	tcase_add_test(t, hostile_and_equal_names_are_file_names);
	tcase_add_test(t, a_file_that_is_a_folder_too_gets_a_number);
	tcase_add_test(t, folders_without_files_are_there);
	tcase_add_test(t, archives_in_archives);
	tcase_add_test(t, archives_are_read_from_files);
	tcase_add_test(t, a_file_that_becomes_shorter);
	tcase_add_test(t, limits_are_the_callers);
	tcase_add_test(t, names_say_what_may_be_an_archive);
	tcase_add_test(t, dates_are_utc);
	suite_add_tcase(s, t);
	return s;
}
