/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_remove.c - removing names that other programs replace meanwhile. */
#include "mounted.h"

#include "vfs/end.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#define SAMPLE "tests/data/canm/wiki512.canm"
#define PLAIN "plain.txt"
#define REFUSED "file.json.rejected"
#define REFUSALS ".animfs/rejected/" MOUNTED_FILE "/"

static struct request who;

static void begin(void)
{
	int folder;

	mounted_begin_in(SAMPLE);
	who = (struct request){.uid = getuid(), .gid = getgid(), .pid = getpid()};
	ck_assert_int_eq(state_folder(mounted.state, STATE_REJECTED, MOUNTED_FILE, true, &folder),
			 0);
	close(folder);
}

/*
 * Replaces a file as another program does; the file beside a view that holds a refused text can be
 * replaced, too.
 */
static void replace(const char *path, const char *text)
{
	mounted_put("new", bytes_of(text));
	ck_assert_int_eq(rename("new", path), 0);
}

/* After ESTALE, the kernel looks the name up again, once. */
START_TEST(a_file_that_was_replaced_is_looked_up_again_before_it_is_removed)
{
	const char *path = _i ? REFUSALS REFUSED : PLAIN, *name = _i ? REFUSED : PLAIN;
	uint64_t folder = _i ? mounted.folder.node->id : NODE_ROOT;
	struct entry entry;

	replace(path, "1");
	ck_assert_int_eq(vfs_lookup(mounted.v, &who, folder, name, &entry), 0);
	replace(path, "2");
	ck_assert_int_eq(vfs_unlink(mounted.v, &who, folder, name), ESTALE);
	ck_assert_int_eq(access(path, F_OK), 0);
	ck_assert_int_eq(vfs_lookup(mounted.v, &who, folder, name, &entry), 0);
	ck_assert_int_eq(vfs_unlink(mounted.v, &who, folder, name), 0);
	ck_assert_int_ne(access(path, F_OK), 0);
}
END_TEST

/* ---- clips ---- */

#define CLIP "walk"

struct names {
	char name[64][64];
	unsigned count;
};

static bool add_name(void *closure, const char *name, const struct entry *entry, off_t next)
{
	struct names *to = closure;

	(void)entry, (void)next;
	ck_assert_uint_lt(to->count, 64);
	snprintf(to->name[to->count++], sizeof(to->name[0]), "%s", name);
	return true;
}

static uint64_t find(uint64_t folder, const char *name)
{
	struct entry entry;

	ck_assert_int_eq(vfs_lookup(mounted.v, &who, folder, name, &entry), 0);
	return entry.node;
}

static void list(uint64_t folder, struct names *out)
{
	out->count = 0;
	ck_assert_int_eq(vfs_readdir(mounted.v, &who, folder, NULL, 0, false, add_name, out), 0);
}

/* Saves a text of the clip as another program. */
static void save_curve(void)
{
	static const char text[] = "frame,time,tx,ty,tz\n0,0,7.5,0,0\n";
	const struct request other = {.uid = who.uid, .gid = who.gid, .pid = getppid()};
	struct opened opened;
	uint64_t bones = find(find(mounted.folder.node->id, CLIP), "bones");

	ck_assert_int_eq(
		vfs_open(mounted.v, &other, find(bones, "Bone01.csv"), O_WRONLY | O_TRUNC, &opened),
		0);
	ck_assert_int_eq(vfs_write(mounted.v, opened.handle, bytes_of(text), 0, 0, false),
			 (ssize_t)strlen(text));
	ck_assert_int_eq(vfs_flush(mounted.v, &other, opened.handle), 0);
	vfs_release(mounted.v, opened.handle);
}

/* Removes a folder file by file, as rm -r does. `meanwhile` is called after the first file. */
static void remove_folder(uint64_t parent, const char *folder, void (*meanwhile)(void))
{
	const uint64_t node = find(parent, folder);
	struct names *in = malloc(sizeof(*in));

	list(node, in);
	for (unsigned i = 0; i < in->count; i++) {
		const char *name = in->name[i];
		int error;

		if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
			continue;
		error = vfs_unlink(mounted.v, &who, node, name);
		if (error == EISDIR)
			remove_folder(node, name, NULL);
		else
			ck_assert_int_eq(error, 0);
		if (meanwhile)
			meanwhile();
		meanwhile = NULL;
	}
	free(in);
	ck_assert_int_eq(vfs_rmdir(mounted.v, &who, parent, folder), 0);
}

static UNSHARED int end_removal(void)
{
	struct changes changes = CHANGES_INIT;
	int error = end_now(mounted.v, mounted.a, &changes);

	changes_send_all(mounted.v, &changes);
	return error;
}

static bool has_clip(void)
{
	struct version *now;
	struct stat st;
	bool has;

	ck_assert_int_eq(animation_look(mounted.v, mounted.a, &now, &st), 0);
	has = version_clip(now, CLIP) >= 0;
	version_put(now);
	return has;
}

START_TEST(a_clip_goes_with_its_folder)
{
	if (_i)
		save_curve();
	remove_folder(mounted.folder.node->id, CLIP, NULL);
	ck_assert_int_eq(end_removal(), 0);
	ck_assert(!has_clip());
}
END_TEST

START_TEST(a_clip_that_another_program_changes_meanwhile_stays)
{
	remove_folder(mounted.folder.node->id, CLIP, save_curve);
	ck_assert_int_eq(end_removal(), EBADMSG);
	ck_assert(has_clip());
	remove_folder(mounted.folder.node->id, CLIP, NULL);
	ck_assert_int_eq(end_removal(), 0);
	ck_assert(!has_clip());
}
END_TEST

Suite *remove_suite(void);

Suite *remove_suite(void)
{
	Suite *s = suite_create("remove");
	TCase *t = tcase_create("remove");

	tcase_add_checked_fixture(t, begin, mounted_end);
	tcase_add_loop_test(t, a_file_that_was_replaced_is_looked_up_again_before_it_is_removed, 0,
			    2);
	tcase_add_loop_test(t, a_clip_goes_with_its_folder, 0, 2);
	tcase_add_test(t, a_clip_that_another_program_changes_meanwhile_stays);
	suite_add_tcase(s, t);
	return s;
}
