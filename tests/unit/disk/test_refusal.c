/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "disk/refusal.h"
#include "scratch.h"

#include <pthread.h>
#include <stdatomic.h>

static struct state *state;
static struct refusals *refusals;
static struct refusal_owner owner;

static void begin(void)
{
	struct err err = {.code = ERR_NONE};
	int folder;

	scratch_begin();
	state = state_new(scratch_root, NULL, false, &err);
	ck_assert_ptr_nonnull(state);
	refusals = refusals_new(state, 100000);
	ck_assert_ptr_nonnull(refusals);
	owner = (struct refusal_owner){geteuid(), getegid(), 0640};
	ck_assert_int_eq(state_folder(state, STATE_REJECTED, "", true, &folder), 0);
	close(folder);
	ck_assert_int_eq(chdir(".animfs/rejected"), 0);
}

static void end(void)
{
	refusals_free(refusals);
	state_free(state);
	scratch_end();
}

static struct err fault(size_t at, size_t length)
{
	struct err err = {.code = ERR_NONE};

	err_at(&err, ERR_TEXT, at, length, "\"12..5\" is not a number");
	err_accept(&err, "a decimal number such as 12.5");
	return err;
}

static void ck_explained(const char *text, size_t at, const char *kept, const char *expected)
{
	struct err err = fault(at, 0);
	struct buf out = BUF_INIT;

	refusal_explain("a.canm/walk/bones/hips.csv", bytes_of(text), &err, kept, &out);
	buf_char(&out, '\0');
	ck_assert_str_eq((const char *)out.data, expected);
	buf_release(&out);
}

START_TEST(an_error_shows_the_place)
{
	ck_explained("frame,tx\n12,12..5,0\n", 12, "hips.csv.rejected",
		     "a.canm/walk/bones/hips.csv:2:4: \"12..5\" is not a number\n"
		     "  12,12..5,0\n"
		     "     ^\n"
		     "accepted here: a decimal number such as 12.5\n"
		     "the binary is unchanged; the text as you saved it is in hips.csv.rejected\n");
}
END_TEST

/* The place of the error counts in the text's UTF-8 form. */
START_TEST(a_text_in_utf16_is_shown)
{
	static const char text[] = "\xFF\xFE"
				   "f\0\n\0\xE9\0,\0x\0\r\0\n\0";
	struct err err = fault(5, 1);
	struct buf out = BUF_INIT;

	refusal_explain("a/hips.csv", (struct bytes){(const uint8_t *)text, sizeof(text) - 1}, &err,
			NULL, &out);
	buf_char(&out, '\0');
	ck_assert_str_eq((const char *)out.data, "a/hips.csv:2:3: \"12..5\" is not a number\n"
						 "  \xC3\xA9,x\n"
						 "    ^\n"
						 "accepted here: a decimal number such as 12.5\n");
	buf_release(&out);
}
END_TEST

START_TEST(a_caret_stands_under_characters_and_tabs)
{
	ck_explained("\xE5\x8F\xB3\tx\r\n", 4, NULL,
		     "a.canm/walk/bones/hips.csv:1:3: \"12..5\" is not a number\n"
		     "  \xE5\x8F\xB3\tx\n"
		     "   \t^\n"
		     "accepted here: a decimal number such as 12.5\n");
}
END_TEST

START_TEST(a_place_at_the_end_is_shown)
{
	ck_explained("ab", 2, NULL,
		     "a.canm/walk/bones/hips.csv:1:3: \"12..5\" is not a number\n"
		     "  ab\n"
		     "    ^\n"
		     "accepted here: a decimal number such as 12.5\n");
}
END_TEST

START_TEST(of_bytes_that_are_no_text_the_offset_is_told)
{
	struct err err = {.code = ERR_NONE};
	struct buf out = BUF_INIT;

	err_at(&err, ERR_FORMAT, 12, 4, "channel 1 is of the unknown kind 625");
	refusal_explain("a.canm/raw.canm", bytes_of("CANM\n\1\2\3\4\5\6\7\10\11"), &err, NULL,
			&out);
	buf_char(&out, '\0');
	ck_assert_str_eq((const char *)out.data,
			 "a.canm/raw.canm: byte 12: channel 1 is of the unknown kind 625\n");
	buf_release(&out);
}
END_TEST

/* The first line is one of .animfs/errors. */
START_TEST(a_name_stays_in_its_line)
{
	struct err err = fault(0, 1);
	struct buf out = BUF_INIT;

	refusal_explain("a.canm/x\nb.canm/hips.csv", bytes_of("1"), &err, NULL, &out);
	buf_char(&out, '\0');
	ck_assert_ptr_eq(strstr((const char *)out.data, "a.canm/x?b.canm/hips.csv:1:1: "),
			 out.data);
	buf_release(&out);
}
END_TEST

START_TEST(long_lines_are_cut_around_the_fault)
{
	struct err err = fault(50000, 1);
	struct buf text = BUF_INIT, out = BUF_INIT;

	for (int i = 0; i < 100000; i++)
		buf_char(&text, (char)('0' + i % 10));
	refusal_explain("x", buf_bytes(&text), &err, NULL, &out);
	ck_assert_uint_lt(out.size, 600);
	buf_release(&text);
	buf_release(&out);
}
END_TEST

static int refuse(const char *name, const char *text)
{
	struct err err = fault(0, 5);
	unsigned own = 0;

	return refusal_write(refusals, name, bytes_of(text), &err, &owner, &own);
}

START_TEST(both_files_are_written)
{
	ck_assert_int_eq(refuse("x.csv", "12..5\n"), 0);
	ck_text("x.csv.rejected", "12..5\n");
	ck_assert(is_there("x.csv.error"));
	ck_assert_int_eq(count_entries("."), 2);
	ck_assert_uint_eq(stat_of("x.csv.rejected").st_mode, S_IFREG | 0640);
	ck_assert_uint_eq(stat_of("x.csv.error").st_mode, S_IFREG | 0640);
	ck_assert(refusal_remove(refusals, "x.csv"));
	ck_assert_int_eq(count_entries("."), 0);
	ck_assert(!refusal_remove(refusals, "x.csv"));
}
END_TEST

START_TEST(another_text_gets_a_number_and_the_same_does_not)
{
	ck_assert_int_eq(refuse("x.csv", "one"), 0);
	ck_assert_int_eq(refuse("x.csv", "two"), 0);
	ck_assert_int_eq(refuse("x.csv", "two"), 0);
	ck_assert_int_eq(refuse("x.csv", "one"), 0);
	ck_assert_int_eq(refuse("x.csv", "three"), 0);
	ck_text("x.csv.rejected", "one");
	ck_text("x.csv.rejected.~2~", "two");
	ck_text("x.csv.rejected.~3~", "three");
	ck_assert_int_eq(count_entries("."), 4);
	ck_assert(refusal_remove(refusals, "x.csv"));
	ck_assert_int_eq(count_entries("."), 0);
}
END_TEST

START_TEST(more_of_a_text_is_written_over_less_of_it)
{
	struct err err = fault(0, 5);
	unsigned own = 0;

	ck_assert_int_eq(refuse("x.csv", "of another day"), 0);
	ck_assert_int_eq(refusal_write(refusals, "x.csv", bytes_of("a"), &err, &owner, &own), 0);
	ck_assert_int_eq(refusal_write(refusals, "x.csv", bytes_of("ab"), &err, &owner, &own), 0);
	ck_text("x.csv.rejected", "of another day");
	ck_text("x.csv.rejected.~2~", "ab");
	ck_assert_int_eq(count_entries("."), 3);
	ck_assert(refusal_remove(refusals, "x.csv"));
}
END_TEST

START_TEST(the_files_are_the_caller_s)
{
	owner = (struct refusal_owner){12345, 12346, 0};
	ck_assert_int_eq(refuse("x.csv", "text"), 0);
	ck_assert_uint_eq(stat_of("x.csv.error").st_mode, S_IFREG | 0600);
	if (geteuid() == 0) {
		ck_assert_uint_eq(stat_of("x.csv.rejected").st_uid, 12345);
		ck_assert_uint_eq(stat_of("x.csv.rejected").st_gid, 12346);
	}
}
END_TEST

/* The user may have removed some of the view's files. */
START_TEST(all_of_a_view_go_whatever_is_left_of_them)
{
	put("x.csv.rejected.~3~", "third");
	put("x.csv.rejected.~12~", "twelfth");
	put("x.csv.rejected.~03~", "another's");
	put("x.csv.rejected.txt", "another's");
	put("xx.csv.rejected", "another's");
	ck_assert(refusal_remove(refusals, "x.csv"));
	ck_assert(!is_there("x.csv.rejected.~3~") && !is_there("x.csv.rejected.~12~"));
	ck_assert_int_eq(count_entries("."), 3);
}
END_TEST

START_TEST(all_together_have_a_limit_and_what_is_removed_is_free)
{
	char text[3001];
	unsigned count = 0;

	memset(text, 't', 3000);
	text[3000] = '\0';
	for (; count < 100; count++) {
		text[0] = (char)(' ' + count);
		int error = refuse("x.csv", text);

		if (error) {
			ck_assert_int_eq(error, ENOSPC);
			break;
		}
	}
	ck_assert_uint_ge(count, 5);
	ck_assert_uint_lt(count, 15);
	ck_assert_int_eq(count_entries("."), count + 1);
	ck_assert(refusal_remove(refusals, "x.csv"));
	ck_assert_int_eq(refuse("x.csv", text), 0);
}
END_TEST

extern void (*when_synced)(void); /* defined in test_replace.c */

static atomic_bool stop_removing;

static void *remove_folders(void *closure)
{
	(void)closure;
	while (!atomic_load(&stop_removing)) {
		rmdir("a.canm/walk");
		rmdir("a.canm");
		usleep(2000);
	}
	return NULL;
}

START_TEST(its_folder_may_be_removed_meanwhile)
{
	pthread_t remover;

	atomic_store(&stop_removing, false);
	ck_assert_int_eq(pthread_create(&remover, NULL, remove_folders, NULL), 0);
	for (unsigned i = 0; i < 200; i++) {
		ck_assert_int_eq(refuse("a.canm/walk/x.csv", "text"), 0);
		ck_text("a.canm/walk/x.csv.rejected", "text");
		ck_assert(refusal_remove(refusals, "a.canm/walk/x.csv"));
	}
	atomic_store(&stop_removing, true);
	pthread_join(remover, NULL);
}
END_TEST

static unsigned removed;

static void remove_empty(void)
{
	removed += rmdir("a.canm/walk") == 0;
	rmdir("a.canm");
}

/* Even if writing a text takes long, it is put into an existing folder. */
START_TEST(it_may_be_removed_whenever_a_text_is_written)
{
	removed = 0;
	when_synced = remove_empty;
	ck_assert_int_eq(refuse("a.canm/walk/x.csv", "text"), 0);
	when_synced = NULL;
	ck_assert_uint_eq(removed, 1);
	ck_text("a.canm/walk/x.csv.rejected", "text");
	ck_assert_int_eq(access("a.canm/walk/x.csv.error", F_OK), 0);
}
END_TEST

START_TEST(there_may_be_more_than_a_hundred)
{
	char text[8];

	refusals_free(refusals);
	refusals = refusals_new(state, 100 << 20);
	for (unsigned i = 1; i <= 120; i++) {
		snprintf(text, sizeof(text), "%u", i);
		ck_assert_int_eq(refuse("x.csv", text), 0);
	}
	ck_text("x.csv.rejected.~120~", "120");
	ck_assert(refusal_remove(refusals, "x.csv"));
	ck_assert_int_eq(count_entries("."), 0);
}
END_TEST

START_TEST(a_name_that_is_too_long_says_so)
{
	char name[256];

	memset(name, 'n', 255);
	name[255] = '\0';
	ck_assert_int_eq(refuse(name, "t"), ENAMETOOLONG);
	ck_assert_int_eq(count_entries("."), 0);
}
END_TEST

Suite *refusal_suite(void);
Suite *refusal_suite(void)
{
	Suite *suite = suite_create("refusal");
	TCase *tc = tcase_create("refusal");

	tcase_add_checked_fixture(tc, begin, end);
	tcase_add_test(tc, an_error_shows_the_place);
	tcase_add_test(tc, a_text_in_utf16_is_shown);
	tcase_add_test(tc, a_caret_stands_under_characters_and_tabs);
	tcase_add_test(tc, a_place_at_the_end_is_shown);
	tcase_add_test(tc, of_bytes_that_are_no_text_the_offset_is_told);
	tcase_add_test(tc, a_name_stays_in_its_line);
	tcase_add_test(tc, long_lines_are_cut_around_the_fault);
	tcase_add_test(tc, both_files_are_written);
	tcase_add_test(tc, another_text_gets_a_number_and_the_same_does_not);
	tcase_add_test(tc, more_of_a_text_is_written_over_less_of_it);
	tcase_add_test(tc, the_files_are_the_caller_s);
	tcase_add_test(tc, all_of_a_view_go_whatever_is_left_of_them);
	tcase_add_test(tc, all_together_have_a_limit_and_what_is_removed_is_free);
	tcase_add_test(tc, there_may_be_more_than_a_hundred);
	tcase_add_test(tc, its_folder_may_be_removed_meanwhile);
	tcase_add_test(tc, it_may_be_removed_whenever_a_text_is_written);
	tcase_add_test(tc, a_name_that_is_too_long_says_so);
	suite_add_tcase(suite, tc);
	return suite;
}
