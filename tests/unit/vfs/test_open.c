/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_open.c - opening what is replaced meanwhile; creating a view that is there again, or absent.
 */
#include "mounted.h"

#include "vfs/lookup.h"
#include "vfs/open.h"

#include <errno.h>
#include <fcntl.h>

#define SAMPLE "tests/data/canm/wiki512.canm" /* has a clip walk */
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

START_TEST(what_cannot_be_opened_stays_absent)
{
	const struct place place = {.kind = PLACE_VIEW, .view = find_view()};
	struct opened opened;
	struct entry entry;
	bool absent;

	set_absent();
	mounted.v->read_only = true;
	ck_assert_int_eq(view_create(mounted.v, &who, &clip, VIEW, &place, O_RDWR, &opened, &entry),
			 EROFS);
	mounted.v->read_only = false;
	vfs_lock(mounted.v);
	absent = name_is_absent(mounted.a, clip.node, VIEW);
	vfs_unlock(mounted.v);
	ck_assert(absent);
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
	seen.st.st_ctim.tv_sec--; /* from before a chmod */
	ck_assert_int_eq(lookup_virtual(mounted.v, &clip, VIEW, &seen, &entry), 0);
	ck_assert_ptr_eq(seen.version, version);
	ck_assert_double_eq(entry.entry_timeout, 0);
	ck_assert_double_eq(entry.attr_timeout, 0);
	seen_release(&seen);
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
	tcase_add_test(t, an_entry_that_is_outdated_once_it_is_made_is_not_cached);
	suite_add_tcase(s, t);
	return s;
}
