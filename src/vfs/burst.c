/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "burst.h"

#include <stdlib.h>
#include <string.h>

void burst_forget(struct animation *a) REQUIRES(writer_class)
{
	struct burst *burst = &a->burst;

	version_put(burst->before);
	burst->before = NULL;
	burst->passed = 0;
	while (burst->saved) {
		struct saved *next = burst->saved->next;

		free(burst->saved);
		burst->saved = next;
	}
}

bool burst_is_over(struct vfs *v, struct animation *a)
{
	bool over;

	vfs_lock(v);
	over = clock_ms() - a->touched >= END_MS;
	vfs_unlock(v);
	return over;
}

void burst_begin(struct vfs *v, struct animation *a, struct version *now)
{
	if (a->burst.before && burst_is_over(v, a))
		burst_forget(a);
	if (!a->burst.before)
		a->burst.before = version_get(now);
}

static bool was_saved(const struct animation *a, const char *path) REQUIRES(writer_class)
{
	const struct saved *saved = a->burst.saved;

	while (saved && strcmp(saved->path, path) != 0)
		saved = saved->next;
	return saved != NULL;
}

void burst_saved(struct animation *a, const char *path)
{
	size_t size = strlen(path) + 1;
	struct saved *saved = was_saved(a, path) ? NULL : malloc(sizeof(*saved) + size);

	if (!saved)
		return;
	memcpy(saved->path, path, size);
	saved->next = a->burst.saved;
	a->burst.saved = saved;
}

static bool says(const struct version *version, const char *file_name, const char *path,
		 struct bytes text)
{
	const struct tree tree = {version, file_name};
	struct buf was = BUF_INIT;
	struct place place;
	bool same;

	if (!tree_walk(&tree, path, &place) || place.kind != PLACE_VIEW)
		return false;
	(void)tree_render(&tree, &place, &was);
	same = !was.failed && bytes_equal(buf_bytes(&was), text);
	buf_release(&was);
	return same;
}

bool burst_is_stale(struct vfs *v, struct animation *a, const char *path, const struct version *now,
		    struct bytes text)
{
	char name[NAME_MAX + 1] = "";
	bool stale;

	if (!a->burst.before || !text.size || now->generation == a->burst.before->generation ||
	    was_saved(a, path))
		return false;
	vfs_lock(v);
	animation_name(a, name);
	vfs_unlock(v);
	stale = says(a->burst.before, name, path, text) && !says(now, name, path, text);
	a->burst.passed += stale;
	return stale;
}
