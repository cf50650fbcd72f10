/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diagnostics.h"

#include "animation.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct diagnostic {
	struct diagnostic *next;
	const char *how; /* a constant text */
	char *reason;
	char path[];
};

struct diagnostics {
	struct lock lock;
	struct diagnostic *first GUARDED_BY(diagnostics_class); /* newest first */
};

/* ---- the log ---- */

static void write_to_stderr(const char *line)
{
	fprintf(stderr, "animfs: %s\n", line);
}

void (*log_write)(const char *line) = write_to_stderr;

void log_warning(const char *format, ...)
{
	va_list args;
	char *line;

	va_start(args, format);
	if (vasprintf(&line, format, args) >= 0) {
		log_write(line);
		free(line);
	}
	va_end(args);
}

/* ---- the list ---- */

struct diagnostics *diagnostics_new(void)
{
	struct diagnostics *d = calloc(1, sizeof(*d));

	if (d)
		lock_init(&d->lock);
	return d;
}

static void diagnostic_free(struct diagnostic *entry)
{
	free(entry->reason);
	free(entry);
}

UNSHARED void diagnostics_free(struct diagnostics *d)
{
	if (!d)
		return;
	while (d->first) {
		struct diagnostic *next = d->first->next;

		diagnostic_free(d->first);
		d->first = next;
	}
	lock_destroy(&d->lock);
	free(d);
}

static struct diagnostic *diagnostic_new(const char *path, const char *how, const char *reason)
{
	size_t size = strlen(path) + 1;
	struct diagnostic *entry = malloc(sizeof(*entry) + size);

	if (!entry)
		return NULL;
	entry->how = how;
	entry->reason = strdup(reason);
	memcpy(entry->path, path, size);
	if (entry->reason)
		return entry;
	free(entry);
	return NULL;
}

/* Puts it in the place of what was known of the path. False: that was the same. */
static bool replace(struct diagnostics *d, const char *path, const char *how, const char *reason)
	REQUIRES(diagnostics_class)
{
	struct diagnostic **at = &d->first, *old, *new;

	while (*at && strcmp((*at)->path, path) != 0)
		at = &(*at)->next;
	old = *at;
	if (old && reason && old->how == how && strcmp(old->reason, reason) == 0)
		return false;
	if (old) {
		*at = old->next;
		diagnostic_free(old);
	}
	new = reason ? diagnostic_new(path, how, reason) : NULL;
	if (new) {
		new->next = d->first;
		d->first = new;
	}
	return true;
}

void diagnose(struct vfs *v, const char *path, const char *how, const char *reason)
{
	struct diagnostics *d = v->diagnostics;
	bool is_new;

	lock_acquire(&d->lock, &diagnostics_class);
	is_new = replace(d, path, how, reason);
	lock_release(&d->lock, &diagnostics_class);
	if (is_new && reason)
		log_warning("%s: %s: %s", path, how, reason);
}

void diagnose_animation(struct vfs *v, struct animation *a, const char *name, const char *how,
			const char *reason)
{
	struct buf path = BUF_INIT;
	const struct node *folder;
	int error = 0;

	vfs_lock(v);
	folder = a->folder ? a->folder->node : NULL;
	if (folder)
		error = name ? node_path_of(folder, name, &path) : node_path(folder, &path);
	vfs_unlock(v);
	if (folder && !error)
		diagnose(v, (const char *)path.data, how, reason);
	buf_release(&path);
}

void diagnostics_render(struct vfs *v, struct buf *out)
{
	struct diagnostics *d = v->diagnostics;

	lock_acquire(&d->lock, &diagnostics_class);
	for (const struct diagnostic *entry = d->first; entry; entry = entry->next)
		buf_format(out, "%s: %s: %s\n", entry->path, entry->how, entry->reason);
	lock_release(&d->lock, &diagnostics_class);
}
