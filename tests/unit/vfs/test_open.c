/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * test_open.c - opening a file that is replaced; creating one that exists again, or is absent;
 * entries.
 */
#include "mounted.h"

#include "vfs/attr.h"
#include "vfs/deadline.h"
#include "vfs/folder.h"
#include "vfs/lookup.h"
#include "vfs/open.h"
#include "vfs/view.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define SAMPLE "tests/data/canm/wiki512.canm" /* this sample has a clip walk */
#define VIEW "clip.json"

static struct request who;
static struct target clip;

static void begin(void)
{
	struct entry entry;

	mounted_begin_in(SAMPLE);
	who = (struct request){.uid = getuid(), .gid = getgid(), .pid = getpid()};
	ck_assert_int_eq(vfs_lookup(mounted.v, &who, mounted.folder.node->id, "walk", &entry), 0);
	ck_assert_int_eq(target_get(mounted.v, entry.node, &clip), 0);
}

static void end(void)
{
	target_put(mounted.v, &clip);
	mounted_end();
}

static int create(int flags, struct opened *out)
{
	struct entry entry;

	return vfs_create(mounted.v, &who, clip.node->id, VIEW, 0644, flags, &entry, out);
}

static void set_absent(void)
{
	bool absent;

	vfs_lock(mounted.v);
	absent = name_set_absent(mounted.v, mounted.a, clip.node, VIEW, NULL);
	vfs_unlock(mounted.v);
	ck_assert(absent);
}

START_TEST(what_is_there_again_is_not_created_but_looked_at)
{
	struct opened opened;

	ck_assert_int_eq(create(O_RDWR | O_APPEND, &opened), ESTALE);
	ck_assert_int_eq(create(O_RDWR | O_EXCL, &opened), EEXIST);
	ck_assert_ptr_null(opened.handle);
}
END_TEST

START_TEST(what_is_absent_is_created_empty)
{
	struct opened opened;
	size_t size;

	set_absent();
	ck_assert_int_eq(create(O_RDWR, &opened), 0);
	vfs_lock(mounted.v);
	size = text_bytes(opened.handle->node->thing->view.draft->text).size;
	vfs_unlock(mounted.v);
	ck_assert_uint_eq(size, 0);
	vfs_release(mounted.v, opened.handle);
}
END_TEST

static const struct view *find_view(void)
{
	struct version *now = source_get(
		mounted.a->source,
		&(struct where){.dir = scratch_root, .folder = "", .name = MOUNTED_FILE}, NULL);
	const struct tree tree = {now, MOUNTED_FILE};
	struct place place;

	ck_assert_ptr_nonnull(now);
	ck_assert(tree_walk(&tree, "walk/" VIEW, &place));
	version_put(now);
	return place.view;
}

static void ck_not_created(int error)
{
	const struct place place = {.kind = PLACE_VIEW, .view = find_view()};
	struct opened opened;
	struct entry entry;
	bool absent;

	set_absent();
	ck_assert_int_eq(view_create(mounted.v, &who, &clip, VIEW, &place, O_RDWR, &opened, &entry),
			 error);
	vfs_lock(mounted.v);
	absent = name_is_absent(mounted.a, clip.node, VIEW);
	vfs_unlock(mounted.v);
	ck_assert(absent);
}

START_TEST(what_cannot_be_opened_stays_absent)
{
	mounted.v->read_only = true;
	ck_not_created(EROFS);
	mounted.v->read_only = false;
}
END_TEST

/*
 * Called when the view has just been opened: removes the file, and makes memory for the old version
 * short.
 */
static int lose_file(void *closure, uint64_t id, bool pages)
{
	struct view_state *view;
	struct target t;

	(void)closure, (void)pages;
	ck_assert_int_eq(unlinkat(scratch_root, MOUNTED_FILE, 0), 0);
	ck_assert_int_eq(target_get(mounted.v, id, &t), 0);
	vfs_lock(mounted.v);
	view = &t.thing->view;
	view->lost = true;
	version_put(view->version);
	view->version = NULL;
	vfs_unlock(mounted.v);
	target_put(mounted.v, &t);
	return 0;
}

START_TEST(what_has_no_attributes_stays_absent)
{
	const struct kernel kernel = {lose_file, mounted_name, mounted_name, mounted_store, NULL};

	mounted.v->kernel = &kernel;
	ck_not_created(EIO);
	mounted.v->kernel = &mounted_kernel;
}
END_TEST

/* ---- files that are replaced ---- */

#define PLAIN "plain.txt"

static uint64_t look_up(void)
{
	struct entry entry;

	ck_assert_int_eq(vfs_lookup(mounted.v, &who, NODE_ROOT, PLAIN, &entry), 0);
	return entry.node;
}

/* Replaces a file from another thread. */
static void replace(bool through_the_mount, const char *text)
{
	const struct request other = {.uid = who.uid, .gid = who.gid, .pid = who.pid + 1};
	struct after *after = NULL;
	struct entry entry;

	put("new", text);
	if (!through_the_mount) {
		ck_assert_int_eq(rename("new", PLAIN), 0);
		return;
	}
	ck_assert_int_eq(vfs_lookup(mounted.v, &other, NODE_ROOT, "new", &entry), 0);
	ck_assert_int_eq(
		vfs_rename(mounted.v, &other, NODE_ROOT, "new", NODE_ROOT, PLAIN, 0, &after), 0);
	vfs_after(mounted.v, after);
}

static int open_node(uint64_t node, struct opened *out)
{
	*out = (struct opened){.handle = NULL};
	return vfs_open(mounted.v, &who, node, O_RDONLY, out);
}

static char letter_in(const struct opened *opened)
{
	char letter = '\0';

	vfs_lock(mounted.v);
	ck_assert_int_eq(pread(opened->handle->fd, &letter, 1, 0), 1);
	vfs_unlock(mounted.v);
	return letter;
}

/* After an ESTALE, the kernel looks a name up again, but only once. */
START_TEST(a_file_that_is_replaced_again_is_the_one_that_was_found_again)
{
	struct opened opened;
	uint64_t first, second;

	put(PLAIN, "1");
	first = look_up();
	replace(_i, "2");
	ck_assert_int_eq(open_node(first, &opened), ESTALE);
	second = look_up();
	ck_assert_uint_ne(second, first);
	replace(_i, "3");
	ck_assert_int_eq(open_node(second, &opened), 0);
	ck_assert_int_eq(letter_in(&opened), '2');
	vfs_release(mounted.v, opened.handle);
	/* The file was kept for this open only. */
	ck_assert_int_eq(open_node(second, &opened), ESTALE);
	ck_assert_int_eq(open_node(look_up(), &opened), 0);
	ck_assert_int_eq(letter_in(&opened), '3');
	vfs_release(mounted.v, opened.handle);
}
END_TEST

/*
 * The kernel looks the name up twice: to test whether it has the same node, and for the new node.
 */
START_TEST(a_file_that_was_not_found_at_first_is_kept)
{
	struct opened opened;
	struct entry entry;
	uint64_t node;

	put(PLAIN, "1");
	node = look_up();
	replace(false, "2");
	ck_assert_int_eq(open_node(node, &opened), ESTALE);
	ck_assert_int_eq(unlink(PLAIN), 0);
	ck_assert_int_eq(vfs_lookup(mounted.v, &who, NODE_ROOT, PLAIN, &entry), ENOENT);
	put(PLAIN, "3");
	node = look_up();
	replace(false, "4");
	ck_assert_int_eq(open_node(node, &opened), 0);
	ck_assert_int_eq(letter_in(&opened), '3');
	vfs_release(mounted.v, opened.handle);
}
END_TEST

static int leased;

/*
 * Answers, as another program, the request to release a lease: replaces the file by a FIFO, or
 * releases the lease.
 */
static void leave_fifo(int signal)
{
	(void)signal;
	if (rename(PLAIN, "before") != 0 || mkfifo(PLAIN, 0600) != 0)
		abort();
	fcntl(leased, F_SETLEASE, F_UNLCK);
}

static void give_lease_up(int signal)
{
	(void)signal;
	fcntl(leased, F_SETLEASE, F_UNLCK);
}

static void take_lease(void (*handler)(int))
{
	const struct f_owner_ex us = {F_OWNER_TID, gettid()};
	const struct sigaction action = {.sa_handler = handler};

	leased = open(PLAIN, O_RDONLY | O_CLOEXEC);
	ck_assert_int_eq(sigaction(SIGUSR1, &action, NULL), 0);
	ck_assert_int_eq(fcntl(leased, F_SETLEASE, F_WRLCK), 0);
	ck_assert_int_eq(fcntl(leased, F_SETSIG, SIGUSR1), 0);
	ck_assert_int_eq(fcntl(leased, F_SETOWN_EX, &us), 0);
}

/* An open that waits for a FIFO fails the test (test_dirfd.c). */
START_TEST(a_fifo_in_place_of_a_file_with_a_lease_blocks_nothing)
{
	struct opened opened;
	uint64_t node;

	put(PLAIN, "1");
	node = look_up();
	take_lease(leave_fifo);
	ck_assert_int_eq(open_node(node, &opened), ESTALE);
	close(leased);
}
END_TEST

START_TEST(a_file_with_a_lease_is_opened_when_that_is_given_up)
{
	struct opened opened;
	uint64_t node;

	put(PLAIN, "1");
	node = look_up();
	take_lease(give_lease_up);
	ck_assert_int_eq(open_node(node, &opened), 0);
	ck_assert_int_eq(letter_in(&opened), '1');
	vfs_release(mounted.v, opened.handle);
	close(leased);
}
END_TEST

START_TEST(a_file_that_is_there_when_it_is_created_is_kept_when_it_is_found)
{
	struct opened opened;
	struct entry entry;
	uint64_t node;

	put(PLAIN, "1");
	ck_assert_int_eq(
		vfs_create(mounted.v, &who, NODE_ROOT, PLAIN, 0644, O_RDONLY, &entry, &opened),
		ESTALE);
	node = look_up();
	if (_i)
		replace(false, "2");
	else
		ck_assert_int_eq(unlink(PLAIN), 0);
	ck_assert_int_eq(open_node(node, &opened), 0);
	ck_assert_int_eq(letter_in(&opened), '1');
	vfs_release(mounted.v, opened.handle);
}
END_TEST

/* Opens a file that was replaced, and looks the name up again. */
static uint64_t find_again(void)
{
	struct opened opened;
	uint64_t node;

	put(PLAIN, "1");
	node = look_up();
	replace(false, "2");
	ck_assert_int_eq(open_node(node, &opened), ESTALE);
	return look_up();
}

START_TEST(a_file_that_was_found_again_is_not_kept_if_it_is_not_opened)
{
	struct opened opened;
	uint64_t node;
	int before;

	clock_stop();
	find_again();
	ck_assert_int_eq(deadlines_advance(mounted.v->deadlines, END_MS), 0);
	before = count_descriptors();
	node = find_again();
	ck_assert_int_eq(count_descriptors(), before + 1);
	ck_assert_int_eq(deadlines_advance(mounted.v->deadlines, END_MS - 1), 0);
	ck_assert_int_eq(count_descriptors(), before + 1);
	ck_assert_int_eq(deadlines_advance(mounted.v->deadlines, 1), 0);
	ck_assert_int_eq(count_descriptors(), before);
	/* A file that is looked up later is not kept either. */
	ck_assert_uint_eq(look_up(), node);
	ck_assert_int_eq(count_descriptors(), before);
	replace(false, "3");
	ck_assert_int_eq(open_node(node, &opened), ESTALE);
}
END_TEST

#define FEW 256

static struct rlimit limit;

static void begin_with_few_descriptors(void)
{
	struct rlimit few;

	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
	few = (struct rlimit){.rlim_cur = FEW, .rlim_max = limit.rlim_max};
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &few), 0);
	begin();
}

static void end_with_few_descriptors(void)
{
	end();
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
}

/* If few descriptors are left, no file is kept: the free ones are reserved for requests. */
START_TEST(without_descriptors_a_file_that_was_found_again_is_not_kept)
{
	struct opened opened;
	int fds[FEW], count = 0, next;
	uint64_t node;

	put(PLAIN, "1");
	node = look_up();
	replace(false, "2");
	ck_assert_int_eq(open_node(node, &opened), ESTALE);
	do
		fds[count] = dup(scratch_root);
	while (fds[count++] < descriptors_end(mounted.v->folders) - 1);
	node = look_up();
	next = dup(scratch_root);
	ck_assert_int_eq(next, fds[count - 1] + 1);
	/* Remove the name, which was looked up again. */
	ck_assert_int_eq(unlink(PLAIN), 0);
	close(next);
	while (count > 0)
		close(fds[--count]);
	ck_assert_int_eq(open_node(node, &opened), ENOENT);
}
END_TEST

START_TEST(a_file_that_was_found_again_is_not_kept_once_another_is_looked_up)
{
	struct opened opened;
	struct entry entry;
	uint64_t node;

	put(PLAIN, "1");
	node = look_up();
	replace(false, "2");
	ck_assert_int_eq(open_node(node, &opened), ESTALE);
	node = look_up();
	ck_assert_int_eq(vfs_lookup(mounted.v, &who, NODE_ROOT, "nothing", &entry), ENOENT);
	replace(false, "3");
	ck_assert_int_eq(open_node(node, &opened), ESTALE);
}
END_TEST

static int ask_attributes(uint64_t node)
{
	double timeout;
	struct stat st;

	return vfs_getattr(mounted.v, &who, node, NULL, &st, &timeout);
}

/*
 * The kernel may ask for attributes before it opens a file, and looks the name up again after an
 * ESTALE of that request, too.
 */
START_TEST(a_file_without_attributes_is_the_one_that_was_found_again)
{
	struct opened opened;
	uint64_t node;

	put(PLAIN, "1");
	node = look_up();
	replace(false, "2");
	ck_assert_int_eq(ask_attributes(node), ESTALE);
	node = look_up();
	replace(false, "3");
	ck_assert_int_eq(ask_attributes(node), 0);
	ck_assert_int_eq(open_node(node, &opened), 0);
	ck_assert_int_eq(letter_in(&opened), '2');
	vfs_release(mounted.v, opened.handle);
}
END_TEST

static int set_mode(uint64_t node, mode_t mode, mode_t *now)
{
	const struct stat wanted = {.st_mode = mode};
	double timeout;
	struct stat st = {.st_mode = 0};
	int error = vfs_setattr(mounted.v, &who, node, NULL, &wanted, SET_MODE, &st, &timeout);

	*now = st.st_mode & 07777;
	return error;
}

static mode_t mode_of(const char *name)
{
	struct stat st;

	ck_assert_int_eq(stat(name, &st), 0);
	return st.st_mode & 07777;
}

START_TEST(attributes_are_set_on_what_was_found_again)
{
	uint64_t node;
	mode_t now;

	put(PLAIN, "1");
	node = look_up();
	replace(false, "2");
	ck_assert_int_eq(set_mode(node, 0600, &now), ESTALE);
	node = look_up();
	ck_assert_int_eq(link(PLAIN, "found"), 0);
	if (_i) {
		replace(false, "3");
		ck_assert_int_eq(chmod(PLAIN, 0640), 0);
	} else {
		ck_assert_int_eq(unlink(PLAIN), 0);
	}
	ck_assert_int_eq(set_mode(node, 0604, &now), 0);
	ck_assert_int_eq(now, 0604);
	ck_assert_int_eq(mode_of("found"), 0604);
	if (_i)
		ck_assert_int_eq(mode_of(PLAIN), 0640);
}
END_TEST

/*
 * The file is replaced once more by one of the same kind; removing the name works as if it had been
 * looked up only now.
 */
START_TEST(what_has_replaced_what_was_found_again_is_removed)
{
	put(PLAIN, "1");
	look_up();
	replace(false, "2");
	ck_assert_int_eq(vfs_unlink(mounted.v, &who, NODE_ROOT, PLAIN), ESTALE);
	look_up();
	replace(false, "3");
	ck_assert_int_eq(vfs_unlink(mounted.v, &who, NODE_ROOT, PLAIN), 0);
	ck_assert_int_eq(access(PLAIN, F_OK), -1);
}
END_TEST

START_TEST(but_not_what_is_of_another_kind)
{
	put(PLAIN, "1");
	look_up();
	replace(false, "2");
	ck_assert_int_eq(vfs_unlink(mounted.v, &who, NODE_ROOT, PLAIN), ESTALE);
	look_up();
	ck_assert_int_eq(unlink(PLAIN), 0);
	ck_assert_int_eq(symlink("nowhere", PLAIN), 0);
	ck_assert_int_eq(vfs_unlink(mounted.v, &who, NODE_ROOT, PLAIN), ESTALE);
}
END_TEST

static void replace_folder(const char *before)
{
	ck_assert_int_eq(rename("folder", before), 0);
	ck_assert_int_eq(mkdir("folder", 0755), 0);
}

START_TEST(so_is_a_folder)
{
	struct entry folder;

	ck_assert_int_eq(mkdir("folder", 0755), 0);
	ck_assert_int_eq(vfs_lookup(mounted.v, &who, NODE_ROOT, "folder", &folder), 0);
	replace_folder("first");
	ck_assert_int_eq(vfs_rmdir(mounted.v, &who, NODE_ROOT, "folder"), ESTALE);
	ck_assert_int_eq(vfs_lookup(mounted.v, &who, NODE_ROOT, "folder", &folder), 0);
	replace_folder("second");
	ck_assert_int_eq(vfs_rmdir(mounted.v, &who, NODE_ROOT, "folder"), 0);
	ck_assert_int_eq(access("folder", F_OK), -1);
	ck_assert_int_eq(access("second", F_OK), 0);
}
END_TEST

START_TEST(so_is_a_file_in_a_folder_that_was_replaced)
{
	struct opened opened;
	struct entry folder, entry;

	ck_assert_int_eq(mkdir("folder", 0755), 0);
	put("folder/" PLAIN, "1");
	ck_assert_int_eq(vfs_lookup(mounted.v, &who, NODE_ROOT, "folder", &folder), 0);
	ck_assert_int_eq(rename("folder", "before"), 0);
	ck_assert_int_eq(mkdir("folder", 0755), 0);
	put("folder/" PLAIN, "2");
	ck_assert_int_eq(vfs_lookup(mounted.v, &who, folder.node, PLAIN, &entry), ESTALE);
	ck_assert_int_eq(vfs_lookup(mounted.v, &who, NODE_ROOT, "folder", &folder), 0);
	ck_assert_int_eq(vfs_lookup(mounted.v, &who, folder.node, PLAIN, &entry), 0);
	ck_assert_int_eq(unlink("folder/" PLAIN), 0);
	put("folder/" PLAIN, "3");
	ck_assert_int_eq(open_node(entry.node, &opened), 0);
	ck_assert_int_eq(letter_in(&opened), '2');
	vfs_release(mounted.v, opened.handle);
}
END_TEST

/* A file that another thread has found is closed in the meantime. */
START_TEST(who_looks_again_is_not_forgotten_before_the_time)
{
	struct opened opened;
	uint64_t node;

	clock_stop();
	find_again();
	ck_assert_int_eq(deadlines_advance(mounted.v->deadlines, END_MS - 1), 0);
	who.pid++;
	put(PLAIN, "1");
	node = look_up();
	replace(false, "2");
	ck_assert_int_eq(open_node(node, &opened), ESTALE);
	ck_assert_int_eq(deadlines_advance(mounted.v->deadlines, 1), 0);
	node = look_up();
	replace(false, "3");
	ck_assert_int_eq(open_node(node, &opened), 0);
	ck_assert_int_eq(letter_in(&opened), '2');
	vfs_release(mounted.v, opened.handle);
}
END_TEST

/* ---- views that are replaced ---- */

/* Replaces a view as another program: by renaming a copy onto it. */
static void put_copy(uint64_t node)
{
	const struct request other = {.uid = who.uid, .gid = who.gid, .pid = who.pid + 1};
	struct after *after = NULL;
	struct entry entry;
	struct target view;
	struct text *text;

	ck_assert_int_eq(target_get(mounted.v, node, &view), 0);
	ck_assert_int_eq(view_text(mounted.v, &view, &text), 0);
	target_put(mounted.v, &view);
	mounted_put("new", text_bytes(text));
	text_put(text);
	ck_assert_int_eq(vfs_lookup(mounted.v, &other, NODE_ROOT, "new", &entry), 0);
	ck_assert_int_eq(
		vfs_rename(mounted.v, &other, NODE_ROOT, "new", clip.node->id, VIEW, 0, &after), 0);
	vfs_after(mounted.v, after);
}

/* A text written to the view would not be saved, so the kernel must look the name up again. */
START_TEST(a_view_that_is_replaced_by_a_file_after_it_was_found_is_looked_up_again)
{
	struct opened opened = {.handle = NULL};
	struct entry entry, other;

	ck_assert_int_eq(vfs_lookup(mounted.v, &who, clip.node->id, VIEW, &entry), 0);
	put_copy(entry.node);
	if (_i) {
		ck_assert_int_eq(vfs_lookup(mounted.v, &who, NODE_ROOT, MOUNTED_FILE, &other), 0);
		ck_assert_int_eq(ask_attributes(entry.node), ESTALE);
	} else {
		ck_assert_int_eq(vfs_open(mounted.v, &who, entry.node, O_RDWR, &opened), ESTALE);
	}
	ck_assert_int_eq(vfs_lookup(mounted.v, &who, clip.node->id, VIEW, &entry), 0);
	put_copy(entry.node);
	ck_assert_int_eq(vfs_open(mounted.v, &who, entry.node, O_RDWR, &opened), 0);
	vfs_release(mounted.v, opened.handle);
}
END_TEST

static void create_again(const struct request *other)
{
	struct opened opened;
	struct entry entry;

	ck_assert_int_eq(
		vfs_create(mounted.v, other, clip.node->id, VIEW, 0644, O_WRONLY, &entry, &opened),
		0);
	vfs_release(mounted.v, opened.handle);
}

/* The kernel passes a second ESTALE on to the program. */
START_TEST(a_view_that_was_found_again_has_its_attributes_when_it_is_gone)
{
	const struct request other = {.uid = who.uid, .gid = who.gid, .pid = who.pid + 1};
	struct entry entry;
	struct stat st;
	double timeout;

	ck_assert_int_eq(vfs_lookup(mounted.v, &who, clip.node->id, VIEW, &entry), 0);
	ck_assert_int_eq(vfs_unlink(mounted.v, &other, clip.node->id, VIEW), 0);
	ck_assert_int_eq(ask_attributes(entry.node), ESTALE);
	create_again(&other);
	ck_assert_int_eq(vfs_lookup(mounted.v, &who, clip.node->id, VIEW, &entry), 0);
	ck_assert_int_eq(vfs_unlink(mounted.v, &other, clip.node->id, VIEW), 0);
	ck_assert_int_eq(vfs_getattr(mounted.v, &who, entry.node, NULL, &st, &timeout), 0);
	ck_assert_int_eq(st.st_size, entry.st.st_size);
	ck_assert_uint_eq(st.st_ino, entry.st.st_ino);
}
END_TEST

static struct handle *writer;
static _Atomic uint64_t dropped; /* the node whose pages the kernel last had to drop */

/* Called while the text is on its way to the kernel: another program writes another text. */
static int store_late(void *closure, uint64_t node, struct bytes text)
{
	const struct request other = {.uid = who.uid, .gid = who.gid, .pid = who.pid + 1};
	struct opened opened;

	(void)closure, (void)text;
	ck_assert_int_eq(vfs_open(mounted.v, &other, node, O_WRONLY | O_TRUNC, &opened), 0);
	writer = opened.handle;
	ck_assert(!opened.keep_cache);
	return 0;
}

static int ignore_attributes(void *closure, uint64_t node, bool pages)
{
	(void)closure, (void)node, (void)pages;
	return 0;
}

static int note_dropped(uint64_t node)
{
	dropped = node;
	return 0;
}

START_TEST(pages_that_were_given_go_if_others_have_written_meanwhile)
{
	const struct kernel kernel = {ignore_attributes, mounted_name, mounted_name, store_late,
				      NULL};
	struct opened opened;
	struct entry entry;

	ck_assert_int_eq(vfs_lookup(mounted.v, &who, clip.node->id, VIEW, &entry), 0);
	mounted.v->kernel = &kernel;
	mounted_drops = note_dropped;
	ck_assert_int_eq(vfs_open(mounted.v, &who, entry.node, O_RDONLY, &opened), 0);
	mounted.v->kernel = &mounted_kernel;
	ck_assert(!opened.keep_cache);
	ck_assert_int_eq(invalidate_settle(mounted.v), 0);
	mounted_drops = NULL;
	ck_assert_uint_eq(dropped, entry.node);
	vfs_release(mounted.v, opened.handle);
	vfs_release(mounted.v, writer);
}
END_TEST

/* ---- entries ---- */

START_TEST(an_entry_that_is_outdated_once_it_is_made_is_not_cached)
{
	struct seen seen = {.version = NULL};
	struct version *version;
	struct entry entry;

	ck_assert_int_eq(lookup_virtual(mounted.v, &clip, VIEW, &seen, &entry), 0);
	ck_assert_double_gt(entry.entry_timeout, 0);
	ck_assert_double_gt(entry.attr_timeout, 0);
	version = seen.version;
	seen.st.st_ctim.tv_sec--; /* makes the attributes older, as before a chmod */
	ck_assert_int_eq(lookup_virtual(mounted.v, &clip, VIEW, &seen, &entry), 0);
	ck_assert_ptr_eq(seen.version, version);
	ck_assert_double_eq(entry.entry_timeout, 0);
	ck_assert_double_eq(entry.attr_timeout, 0);
	seen_release(&seen);
}
END_TEST

static struct node *sent_for;
static unsigned sent, sent_uncounted;

/* Counts notifications; the kernel does not know the node yet. */
static int count_sent(uint64_t node)
{
	vfs_lock(mounted.v);
	if (node == sent_for->id) {
		sent++;
		sent_uncounted += sent_for->lookups == 0;
	}
	vfs_unlock(mounted.v);
	return ENOENT;
}

static void begin_unwatched(void)
{
	mounted_unwatched = true;
	begin();
}

static void end_unwatched(void)
{
	end();
	mounted_unwatched = false;
}

/*
 * The entry is counted before its attributes are read, so that a change in between is sent again.
 */
START_TEST(an_entry_is_counted_before_its_attributes_are_taken)
{
	struct target view;
	struct entry entry;

	ck_assert_int_eq(vfs_lookup(mounted.v, &who, clip.node->id, VIEW, &entry), 0);
	ck_assert_int_eq(target_get(mounted.v, entry.node, &view), 0);
	vfs_forget(mounted.v, entry.node, 1);
	sent_for = view.node;
	mounted_drops = count_sent;
	ck_assert_int_eq(chmod(MOUNTED_FILE, 0600), 0);
	ck_assert_int_eq(entry_of(mounted.v, &view, &entry), 0);
	ck_assert_uint_gt(sent, 0);
	ck_assert_uint_eq(sent_uncounted, 0);
	mounted_drops = NULL;
	target_put(mounted.v, &view);
}
END_TEST

Suite *open_suite(void);

Suite *open_suite(void)
{
	Suite *s = suite_create("open");
	TCase *t = tcase_create("open");

	tcase_add_checked_fixture(t, begin, end);
	tcase_add_test(t, what_is_there_again_is_not_created_but_looked_at);
	tcase_add_test(t, what_is_absent_is_created_empty);
	tcase_add_test(t, what_cannot_be_opened_stays_absent);
	tcase_add_loop_test(t, a_file_that_is_replaced_again_is_the_one_that_was_found_again, 0, 2);
	tcase_add_test(t, a_file_that_was_not_found_at_first_is_kept);
	tcase_add_test(t, a_fifo_in_place_of_a_file_with_a_lease_blocks_nothing);
	tcase_add_test(t, a_file_with_a_lease_is_opened_when_that_is_given_up);
	tcase_add_loop_test(t, a_file_that_is_there_when_it_is_created_is_kept_when_it_is_found, 0,
			    2);
	tcase_add_test(t, a_file_that_was_found_again_is_not_kept_if_it_is_not_opened);
	tcase_add_test(t, a_file_that_was_found_again_is_not_kept_once_another_is_looked_up);
	tcase_add_test(t, a_file_without_attributes_is_the_one_that_was_found_again);
	tcase_add_test(t, so_is_a_file_in_a_folder_that_was_replaced);
	tcase_add_loop_test(t, attributes_are_set_on_what_was_found_again, 0, 2);
	tcase_add_test(t, what_has_replaced_what_was_found_again_is_removed);
	tcase_add_test(t, so_is_a_folder);
	tcase_add_test(t, but_not_what_is_of_another_kind);
	tcase_add_test(t, who_looks_again_is_not_forgotten_before_the_time);
	tcase_add_loop_test(
		t, a_view_that_is_replaced_by_a_file_after_it_was_found_is_looked_up_again, 0, 2);
	tcase_add_test(t, a_view_that_was_found_again_has_its_attributes_when_it_is_gone);
	tcase_add_test(t, an_entry_that_is_outdated_once_it_is_made_is_not_cached);
	tcase_add_test(t, what_has_no_attributes_stays_absent);
	tcase_add_test(t, pages_that_were_given_go_if_others_have_written_meanwhile);
	suite_add_tcase(s, t);
	t = tcase_create("unwatched");
	tcase_add_checked_fixture(t, begin_unwatched, end_unwatched);
	tcase_add_test(t, an_entry_is_counted_before_its_attributes_are_taken);
	suite_add_tcase(s, t);
	t = tcase_create("few_descriptors");
	tcase_add_checked_fixture(t, begin_with_few_descriptors, end_with_few_descriptors);
	tcase_add_test(t, without_descriptors_a_file_that_was_found_again_is_not_kept);
	suite_add_tcase(s, t);
	return s;
}
