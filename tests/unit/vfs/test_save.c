/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_save.c - texts of views that were saved and closed: how long they are kept, and errors for
 * their writers.
 */
#include "asleep.h"
#include "mounted.h"
#include "store/create.h"
#include "vfs/save.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>

extern void (*before_look)(const char *name); /* defined in test_source.c */

#define SAMPLE "tests/data/canm/wiki512.canm" /* this sample has a clip walk */

static struct request who;
static uint64_t bones;

static uint64_t find(uint64_t folder, const char *name)
{
	struct entry entry;

	ck_assert_int_eq(vfs_lookup(mounted.v, &who, folder, name, &entry), 0);
	return entry.node;
}

static void begin(void)
{
	mounted_unwatched = true; /* so that no timer ends a draft */
	mounted_begin_in(SAMPLE);
	mounted_unwatched = false;
	who = (struct request){.uid = getuid(), .gid = getgid(), .pid = getpid()};
	bones = find(find(mounted.folder.node->id, "walk"), "bones");
}

static struct handle *open_view(const char *name, int flags)
{
	struct opened opened;

	ck_assert_int_eq(vfs_open(mounted.v, &who, find(bones, name), flags, &opened), 0);
	return opened.handle;
}

/* Saves the view as a text with a key in frame 0 only, and closes it. */
static void save(const char *name)
{
	static const char text[] = "frame,time,tx,ty,tz\n0,0,7.5,0,0\n";
	struct handle *h = open_view(name, O_WRONLY | O_TRUNC);
	const struct bytes bytes = {(const uint8_t *)text, strlen(text)};

	ck_assert_int_eq(vfs_write(mounted.v, h, bytes, 0, 0, false), (ssize_t)bytes.size);
	ck_assert_int_eq(vfs_flush(mounted.v, &who, h), 0);
	vfs_release(mounted.v, h);
}

static struct version *latest(void)
{
	struct version *now;
	struct stat st;

	ck_assert_int_eq(animation_look(mounted.v, mounted.a, &now, &st), 0);
	return now;
}

/* Returns the state of a view, which is valid until the next request. */
static const struct view_state *state_of(const char *name)
{
	const struct view_state *view;
	struct target t;

	ck_assert_int_eq(target_get(mounted.v, find(bones, name), &t), 0);
	view = &t.thing->view;
	target_put(mounted.v, &t);
	return view;
}

START_TEST(a_closed_view_keeps_its_text_and_no_old_version)
{
	const struct view_state *view;
	struct version *first, *now;

	save("Bone01.csv");
	first = latest();
	save("Scene_Root.csv");
	now = latest();
	view = state_of("Bone01.csv");
	vfs_lock(mounted.v);
	ck_assert_ptr_nonnull(view->draft);
	ck_assert_int_eq(view->draft->state, DRAFT_SAVED);
	ck_assert_ptr_eq(view->draft->base, now);
	ck_assert_ptr_null(view->draft->last.saved);
	ck_assert_ptr_null(view->draft->last.ground);
	vfs_unlock(mounted.v);
	ck_assert_ptr_ne(now, first);
	version_put(first);
	version_put(now);
}
END_TEST

START_TEST(nor_while_a_program_reads_it)
{
	const struct view_state *view;
	struct handle *reader;
	struct version *now;

	save("Bone01.csv");
	reader = open_view("Bone01.csv", O_RDONLY);
	save("Scene_Root.csv");
	now = latest();
	view = state_of("Bone01.csv");
	vfs_lock(mounted.v);
	ck_assert_ptr_nonnull(view->draft);
	ck_assert_ptr_eq(view->draft->base, now);
	ck_assert_ptr_eq(view->version, now);
	vfs_unlock(mounted.v);
	version_put(now);
	vfs_release(mounted.v, reader);
}
END_TEST

/* Every save through a handle is an edit of the version that the handle opened. */
START_TEST(a_view_open_for_writing_keeps_its_base)
{
	const struct view_state *view;
	struct version *first = latest();
	struct handle *writer;

	writer = open_view("Bone01.csv", O_WRONLY | O_TRUNC);
	save("Scene_Root.csv");
	view = state_of("Bone01.csv");
	vfs_lock(mounted.v);
	ck_assert_ptr_eq(view->draft->base, first);
	vfs_unlock(mounted.v);
	version_put(first);
	vfs_release(mounted.v, writer);
}
END_TEST

/* Ends drafts as the animation's deadline does. */
static void end_drafts(void)
{
	vfs_lock(mounted.v);
	animation_get(mounted.a);
	vfs_unlock(mounted.v);
	mounted.v->animation_ends(mounted.v, mounted.a);
}

/* Returns whether the draft of a saved view has ended, so that no handle continues it. */
static bool has_ended(const char *name)
{
	const struct view_state *view = state_of(name);
	bool ended;

	vfs_lock(mounted.v);
	ended = !view->draft || !view->draft->base;
	vfs_unlock(mounted.v);
	return ended;
}

START_TEST(a_view_is_ended_when_it_was_closed_for_a_while)
{
	struct handle *writer;

	clock_stop();
	save("Bone01.csv");
	writer = open_view("Bone01.csv", O_WRONLY);
	clock_move(clock_ms() + 2 * END_MS);
	end_drafts();
	ck_assert(!has_ended("Bone01.csv"));
	vfs_release(mounted.v, writer);
	end_drafts();
	ck_assert(!has_ended("Bone01.csv"));
	clock_move(clock_ms() + END_MS);
	end_drafts();
	ck_assert(has_ended("Bone01.csv"));
}
END_TEST

static void set_state(const struct view_state *view, enum draft_state state)
{
	vfs_lock(mounted.v);
	view->draft->state = state;
	vfs_unlock(mounted.v);
}

/* Another thread is saving the view. */
START_TEST(so_is_one_that_was_closed_during_a_commit)
{
	const struct view_state *view;
	struct handle *writer;

	clock_stop();
	save("Bone01.csv");
	writer = open_view("Bone01.csv", O_WRONLY);
	clock_move(clock_ms() + 2 * END_MS);
	view = state_of("Bone01.csv");
	set_state(view, DRAFT_COMMITTING);
	vfs_release(mounted.v, writer);
	set_state(view, DRAFT_SAVED);
	end_drafts();
	ck_assert(!has_ended("Bone01.csv"));
	clock_move(clock_ms() + END_MS);
	end_drafts();
	ck_assert(has_ended("Bone01.csv"));
}
END_TEST

/* ---- two programs that have a view open for writing ---- */

#define WRONG "frame,time,tx,ty,tz\n0,0,wrong,0,0\n"

static struct handle *open_and_write(const char *text)
{
	struct handle *h = open_view("Bone01.csv", O_RDWR);

	ck_assert_int_eq(vfs_write(mounted.v, h, bytes_of(text), 0, 0, false),
			 (ssize_t)strlen(text));
	return h;
}

static int end_writing(struct handle *h, bool by_sync)
{
	return by_sync ? vfs_fsync(mounted.v, &who, h, false) : vfs_flush(mounted.v, &who, h);
}

/* The writer gets the error at fsync or at close, whichever is first. */
START_TEST(each_writer_of_a_refused_text_gets_the_error)
{
	struct handle *first = open_and_write(WRONG), *second = open_and_write("frame,");

	ck_assert_int_eq(end_writing(first, _i & 1), EBADMSG);
	ck_assert_int_eq(end_writing(second, _i & 2), EBADMSG);
	/* Once the writer has got the error, there is nothing new to refuse. */
	ck_assert_int_eq(vfs_flush(mounted.v, &who, first), 0);
	ck_assert_int_eq(vfs_flush(mounted.v, &who, second), 0);
	vfs_release(mounted.v, first);
	vfs_release(mounted.v, second);
}
END_TEST

static struct handle *closing;
static _Atomic pid_t closer;

static void *close_it(void *error)
{
	closer = gettid();
	*(int *)error = vfs_flush(mounted.v, &who, closing);
	return NULL;
}

static UNSHARED void refuse_while_it_closes(const struct target *t, pthread_t *thread, int *error)
{
	struct changes changes = CHANGES_INIT;

	writer_lock(mounted.a);
	ck_assert_int_eq(pthread_create(thread, NULL, close_it, error), 0);
	while (!closer || !is_asleep(closer))
		sched_yield();
	ck_assert_int_eq(view_commit_locked(mounted.v, t, DRAFT_SAVE, &changes), EBADMSG);
	writer_unlock(mounted.a);
	changes_send_all(mounted.v, &changes);
}

/* The refused text includes the writes of this writer, who closes the view during the commit. */
START_TEST(so_does_one_that_closes_it_meanwhile)
{
	struct handle *first = open_and_write(WRONG);
	pthread_t thread;
	struct target t;
	int error = 0;

	closing = open_and_write("frame,");
	closer = 0;
	handle_target(mounted.v, first, &t);
	refuse_while_it_closes(&t, &thread, &error);
	pthread_join(thread, NULL);
	ck_assert_int_eq(error, EBADMSG);
	target_put(mounted.v, &t);
	vfs_release(mounted.v, first);
	vfs_release(mounted.v, closing);
}
END_TEST

/* ---- others that keep changing the file ---- */

#define CHANGES_MAX 100
/* changes the file every third time that the mount looks at it: more than once per attempt */
#define CHANGES_EVERY 3

static struct buf contents[CHANGES_MAX + 1];
static unsigned changes_made, looks;

static void make_contents(unsigned i)
{
	struct version *now = latest(), *made;
	struct anim *model = anim_edit(now->anim);
	struct err err = {.code = ERR_NONE};
	struct site site;

	ck_assert_int_eq(site_open(mounted.v, mounted.a, &site), 0);
	anim_edit_clip(model, 0)->frame_time = 0.01f * (float)(i + 1);
	made = source_edited(mounted.a->source, &site.where, now, model, &err);
	ck_assert_msg(made != NULL, "%s", err.message);
	buf_add(&contents[i], made->bytes.data, made->bytes.size);
	version_put(made);
	version_put(now);
	anim_free(model);
	site_close(mounted.v, &site);
}

static void change_file(const char *name)
{
	if (strcmp(name, MOUNTED_FILE) != 0 || changes_made == CHANGES_MAX ||
	    ++looks % CHANGES_EVERY)
		return;
	mounted_put("other", buf_bytes(&contents[changes_made++]));
	ck_assert_int_eq(rename("other", MOUNTED_FILE), 0);
}

START_TEST(a_raw_text_is_not_tried_for_ever)
{
	const uint64_t raw = find(mounted.folder.node->id, "raw.canm");
	struct opened opened;

	for (unsigned i = 0; i <= CHANGES_MAX; i++) {
		contents[i] = (struct buf)BUF_INIT;
		make_contents(i);
	}
	changes_made = looks = 0;
	ck_assert_int_eq(vfs_open(mounted.v, &who, raw, O_WRONLY | O_TRUNC, &opened), 0);
	ck_assert_int_eq(
		vfs_write(mounted.v, opened.handle, buf_bytes(&contents[CHANGES_MAX]), 0, 0, false),
		(ssize_t)contents[CHANGES_MAX].size);
	before_look = change_file;
	ck_assert_int_eq(vfs_flush(mounted.v, &who, opened.handle), EBADMSG);
	before_look = NULL;
	ck_assert_uint_lt(changes_made, CHANGES_MAX);
	vfs_release(mounted.v, opened.handle);
	for (unsigned i = 0; i <= CHANGES_MAX; i++)
		buf_release(&contents[i]);
}
END_TEST

/* ---- permission to make a file beside the animation ---- */

static struct handle *open_skeleton_as(uid_t uid)
{
	const struct request other = {.uid = uid, .gid = uid, .pid = who.pid};
	const uint64_t view = find(mounted.folder.node->id, "skeleton.csv");
	struct opened opened;

	ck_assert_int_eq(vfs_open(mounted.v, &other, view, O_RDWR, &opened), 0);
	return opened.handle;
}

static void ck_saved_as(struct handle *written, bool by_mapping, uid_t uid)
{
	const struct bytes text = {(const uint8_t *)"b", 1};
	const struct caller *maker;

	ck_assert_int_eq(vfs_write(mounted.v, written, text, 0, 0, by_mapping), 1);
	vfs_lock(mounted.v);
	maker = written->node->thing->view.draft->who;
	ck_assert_ptr_nonnull(maker);
	ck_assert_uint_eq(maker->uid, uid);
	ck_assert_uint_eq(maker->groups[0], uid);
	vfs_unlock(mounted.v);
}

START_TEST(a_skeleton_is_made_by_who_wrote_last)
{
	struct handle *first, *second;

	mounted.options.allow_other = true;
	first = open_skeleton_as(1001);
	second = open_skeleton_as(1002);
	ck_saved_as(first, false, 1001);
	ck_saved_as(second, false, 1002);
	ck_saved_as(first, false, 1001);
	ck_saved_as(second, true, 1001);
	vfs_release(mounted.v, first);
	vfs_release(mounted.v, second);
	mounted.options.allow_other = false;
}
END_TEST

/* The commit takes the handle of the writer along, and restores it afterwards. */
START_TEST(nor_by_whose_handle_pages_come_during_the_commit)
{
	const struct bytes page = {(const uint8_t *)"c", 1};
	struct handle *first, *second;
	struct attempt attempt;
	struct draft *draft;

	mounted.options.allow_other = true;
	first = open_skeleton_as(1001);
	second = open_skeleton_as(1002);
	ck_saved_as(first, false, 1001);
	vfs_lock(mounted.v);
	draft = first->node->thing->view.draft;
	ck_assert(draft_attempt(draft, DRAFT_SAVE, &attempt));
	vfs_unlock(mounted.v);
	ck_assert_int_eq(vfs_write(mounted.v, second, page, 0, 0, true), 1);
	vfs_lock(mounted.v);
	draft_conclude(draft, &attempt, VERDICT_REFUSED);
	attempt_release(&attempt);
	ck_assert_ptr_nonnull(draft->who);
	ck_assert_uint_eq(draft->who->uid, 1001);
	vfs_unlock(mounted.v);
	vfs_release(mounted.v, first);
	vfs_release(mounted.v, second);
	mounted.options.allow_other = false;
}
END_TEST

Suite *save_suite(void);

Suite *save_suite(void)
{
	Suite *s = suite_create("save");
	TCase *tc = tcase_create("save");

	tcase_add_checked_fixture(tc, begin, mounted_end);
	tcase_add_test(tc, a_closed_view_keeps_its_text_and_no_old_version);
	tcase_add_test(tc, nor_while_a_program_reads_it);
	tcase_add_test(tc, a_view_open_for_writing_keeps_its_base);
	tcase_add_test(tc, a_view_is_ended_when_it_was_closed_for_a_while);
	tcase_add_test(tc, so_is_one_that_was_closed_during_a_commit);
	tcase_add_loop_test(tc, each_writer_of_a_refused_text_gets_the_error, 0, 4);
	tcase_add_test(tc, so_does_one_that_closes_it_meanwhile);
	tcase_add_test(tc, a_raw_text_is_not_tried_for_ever);
	tcase_add_test(tc, a_skeleton_is_made_by_who_wrote_last);
	tcase_add_test(tc, nor_by_whose_handle_pages_come_during_the_commit);
	suite_add_tcase(s, tc);
	return s;
}
