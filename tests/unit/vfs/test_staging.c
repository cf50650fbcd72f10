/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_staging.c - when a staged folder becomes a clip or a file, while requests take long. */
#include "asleep.h"
#include "mounted.h"

#include "vfs/gate.h"
#include "vfs/lookup.h"
#include "vfs/staging.h"

extern void (*before_rename)(void); /* defined in test_replace.c */

#define SAMPLE "tests/data/canm/wiki512.canm"

static struct request maker, other;
static struct target staged; /* a staged folder without a text: it becomes an ordinary folder */

static void begin(void)
{
	struct entry entry;

	mounted_begin_in(SAMPLE);
	clock_stop();
	maker = (struct request){.uid = getuid(), .pid = getpid()};
	other = (struct request){.uid = getuid(), .pid = getppid()};
	ck_assert_int_eq(vfs_mkdir(mounted.v, &maker, mounted.folder.node->id, "new", 0755, &entry),
			 0);
	ck_assert_int_eq(target_get(mounted.v, entry.node, &staged), 0);
}

static void end(void)
{
	target_put(mounted.v, &staged);
	mounted_end();
}

static bool is_staged_after(int64_t ms)
{
	ck_assert_int_eq(deadlines_advance(mounted.v->deadlines, ms), 0);
	return is_staged(mounted.v, staged.node);
}

static bool stayed;

/* Called in the middle of a request: waits as if the request took long. */
static bool take_long(void *closure, const char *name, const struct entry *entry, off_t next)
{
	(void)closure, (void)name, (void)entry, (void)next;
	stayed = is_staged_after(3 * END_MS);
	return false;
}

static bool stays_beside(const struct request *who, uint64_t folder)
{
	ck_assert_int_eq(vfs_readdir(mounted.v, who, folder, NULL, 0, false, take_long, NULL), 0);
	return stayed;
}

START_TEST(it_ends_after_a_pause)
{
	ck_assert(is_staged_after(END_MS - 1));
	ck_assert(!is_staged_after(1));
}
END_TEST

START_TEST(the_time_of_a_look_into_it_is_no_pause)
{
	ck_assert(is_staged_after(END_MS - 2));
	ck_assert(stays_beside(&other, staged.node->id));
	ck_assert(is_staged_after(1));
	ck_assert(!is_staged_after(1));
}
END_TEST

/* The process that fills the folder looks at the folders above, too. */
START_TEST(nor_is_that_of_its_maker_anywhere)
{
	ck_assert(stays_beside(&maker, NODE_ROOT));
	ck_assert(is_staged_after(END_MS - 1));
	ck_assert(!is_staged_after(1));
}
END_TEST

START_TEST(what_others_do_elsewhere_does_not_count)
{
	ck_assert(!stays_beside(&other, NODE_ROOT));
}
END_TEST

/* While several lookups overlap, each moment counts at most once. */
START_TEST(looks_do_not_put_it_off_for_longer_than_a_change)
{
	struct look first, second;

	look_begin(mounted.v, &other, staged.node->id, &first);
	look_begin(mounted.v, &other, staged.node->id, &second);
	ck_assert(is_staged_after(END_MS + 1));
	look_end(mounted.v, &first);
	ck_assert(is_staged_after(END_MS));
	look_end(mounted.v, &second);
	ck_assert(is_staged_after(END_MS - 1));
	ck_assert(!is_staged_after(1));
}
END_TEST

/* ---- texts that are written while it ends ---- */

#define UPPER ".animfs/extra/" MOUNTED_FILE "/new/"
#define TEXT "bone,channel,frame,time,x,y,z,w\nhip,translation,0,0,1,2,3,\n"
#define OTHER "bone,channel,frame,time,x,y,z,w\nhip,translation,0,0,7,2,3,\n"

static ssize_t write_text(struct handle *h, const char *text, size_t at)
{
	return vfs_write(mounted.v, h, bytes_of(text + at), (off_t)at, 0, false);
}

static struct handle *create_text(const char *name)
{
	struct opened opened;
	struct entry entry;

	ck_assert_int_eq(vfs_create(mounted.v, &maker, staged.node->id, name, 0644, O_WRONLY,
				    &entry, &opened),
			 0);
	return opened.handle;
}

static void put_text(const char *name, const char *text)
{
	struct handle *h = create_text(name);

	ck_assert_int_eq(write_text(h, text, 0), (ssize_t)strlen(text));
	ck_assert_int_eq(vfs_flush(mounted.v, &maker, h), 0);
	vfs_release(mounted.v, h);
}

static bool is_clip(void)
{
	struct version *now;
	struct stat st;
	bool has;

	ck_assert_int_eq(animation_look(mounted.v, mounted.a, &now, &st), 0);
	has = version_clip(now, "new") >= 0;
	version_put(now);
	return has;
}

/* Any program may sync the folder, as `sync DIR` does. */
START_TEST(a_text_that_is_open_for_writing_stays_at_fsync)
{
	struct handle *h = create_text("curves.csv");
	const size_t half = strlen(TEXT) - 8;

	ck_assert_int_eq(
		vfs_write(mounted.v, h, (struct bytes){(const uint8_t *)TEXT, half}, 0, 0, false),
		(ssize_t)half);
	ck_assert_int_eq(stagings_finish(mounted.v, mounted.folder.node), 0);
	ck_assert(is_staged_after(0));
	ck_assert_int_eq(write_text(h, TEXT, half), (ssize_t)(strlen(TEXT) - half));
	ck_assert_int_eq(vfs_flush(mounted.v, &maker, h), 0);
	ck_text(UPPER "curves.csv", TEXT);
	vfs_release(mounted.v, h);
	ck_assert_int_eq(stagings_finish(mounted.v, mounted.folder.node), 0);
	ck_assert(is_clip());
	ck_assert(!is_there(UPPER "curves.csv"));
}
END_TEST

/* Writes a file as another program, by its path, after the texts were read. */
static void write_by_path(void)
{
	put(UPPER "curves.csv", OTHER);
	put(UPPER "clip.json", "{}");
	put(UPPER "note", "new");
}

START_TEST(what_is_written_there_meanwhile_is_kept_apart)
{
	put_text("curves.csv", TEXT);
	before_rename = write_by_path;
	ck_assert_int_eq(stagings_finish(mounted.v, mounted.folder.node), 0);
	ck_assert(is_clip());
	ck_assert(!is_there(UPPER "curves.csv"));
	ck_text(UPPER "curves.csv.~1~", OTHER);
	ck_assert(!is_there(UPPER "clip.json"));
	ck_text(UPPER "clip.json.~1~", "{}");
	ck_text(UPPER "note", "new");
}
END_TEST

/* A thread that sets an attribute of the folder. */
static struct setter {
	pthread_t thread;
	_Atomic pid_t id; /* thread id; 0: the thread has not begun */
	_Atomic bool answered;
	int error;
} setter;

static void *set_attribute(void *unused)
{
	(void)unused;
	setter.id = gettid();
	setter.error =
		vfs_setxattr(mounted.v, &other, staged.node->id, "user.tag", bytes_of("1"), 0);
	setter.answered = true;
	return NULL;
}

static void set_and_wait(void)
{
	ck_assert_int_eq(pthread_create(&setter.thread, NULL, set_attribute, NULL), 0);
	while (!setter.answered && !(setter.id && is_asleep(setter.id)))
		sched_yield();
}

START_TEST(an_attribute_that_is_set_meanwhile_is_the_clips)
{
	struct buf value = BUF_INIT;

	setter = (struct setter){.error = -1};
	put_text("curves.csv", TEXT);
	before_rename = set_and_wait;
	ck_assert_int_eq(stagings_finish(mounted.v, mounted.folder.node), 0);
	pthread_join(setter.thread, NULL);
	ck_assert(is_clip());
	ck_assert_int_eq(setter.error, 0);
	ck_assert_int_eq(vfs_getxattr(mounted.v, staged.node->id, "user.tag", &value), 0);
	ck_assert(bytes_equal(buf_bytes(&value), bytes_of("1")));
	buf_release(&value);
}
END_TEST

#define NEW_FILE "new.canm"

static void write_new_file_by_path(void)
{
	put(NEW_FILE "/clip/curves.csv", OTHER);
	put(NEW_FILE "/clip/bones/hip.csv", "x");
	put(NEW_FILE "/raw.canm", "x");
}

START_TEST(also_where_it_becomes_a_file)
{
	const struct target clip = staged;
	struct entry file, folder;

	ck_assert_int_eq(stagings_finish(mounted.v, mounted.folder.node), 0);
	ck_assert_int_eq(vfs_mkdir(mounted.v, &maker, NODE_ROOT, NEW_FILE, 0755, &file), 0);
	ck_assert_int_eq(vfs_mkdir(mounted.v, &maker, file.node, "clip", 0755, &folder), 0);
	ck_assert_int_eq(target_get(mounted.v, folder.node, &staged), 0);
	put_text("curves.csv", TEXT);
	ck_assert_int_eq(vfs_mkdir(mounted.v, &maker, folder.node, "bones", 0755, &folder), 0);
	target_put(mounted.v, &staged);
	staged = clip;
	mounted_put(NEW_FILE "/raw.canm", buf_bytes(&mounted.sample));
	before_rename = write_new_file_by_path;
	ck_assert_int_eq(stagings_finish(mounted.v, NULL), 0);
	ck_assert(S_ISREG(stat_of(NEW_FILE).st_mode));
	ck_text(".animfs/extra/" NEW_FILE "/clip/curves.csv.~1~", OTHER);
	ck_text(".animfs/extra/" NEW_FILE "/clip/bones/hip.csv.~1~", "x");
	ck_text(".animfs/extra/" NEW_FILE "/raw.canm.~1~", "x");
}
END_TEST

Suite *staging_suite(void);

Suite *staging_suite(void)
{
	Suite *s = suite_create("staging");
	TCase *t = tcase_create("staging");

	tcase_add_checked_fixture(t, begin, end);
	tcase_add_test(t, it_ends_after_a_pause);
	tcase_add_test(t, the_time_of_a_look_into_it_is_no_pause);
	tcase_add_test(t, nor_is_that_of_its_maker_anywhere);
	tcase_add_test(t, what_others_do_elsewhere_does_not_count);
	tcase_add_test(t, looks_do_not_put_it_off_for_longer_than_a_change);
	tcase_add_test(t, a_text_that_is_open_for_writing_stays_at_fsync);
	tcase_add_test(t, what_is_written_there_meanwhile_is_kept_apart);
	tcase_add_test(t, also_where_it_becomes_a_file);
	tcase_add_test(t, an_attribute_that_is_set_meanwhile_is_the_clips);
	suite_add_tcase(s, t);
	return s;
}
