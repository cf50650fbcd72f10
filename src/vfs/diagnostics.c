/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diagnostics.h"

#include "animation.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <xxhash.h>

#define EVENTS_MAX 1024
#define ENTRIES_MAX 1024
#define SLOTS 1024 /* slots in the table of entries; a power of two */

struct diagnostic {
	/* links of an entry in the list of all entries, and in the chain of its slot */
	struct diagnostic *newer, *older, *next_in_slot;
	const char *how; /* kind of the problem or event; a string constant */
	char *reason;
	char path[];
};

struct diagnostics {
	struct lock lock;
	struct diagnostic *newest GUARDED_BY(diagnostics_class);
	struct diagnostic *oldest GUARDED_BY(diagnostics_class);
	/* hash table of entries, by path */
	struct diagnostic *slots[SLOTS] GUARDED_BY(diagnostics_class);
	size_t count GUARDED_BY(diagnostics_class);
	/* A ring of events; once it is full, the oldest event is at event_count % EVENTS_MAX. */
	struct diagnostic *events[EVENTS_MAX] GUARDED_BY(diagnostics_class);
	uint64_t event_count GUARDED_BY(diagnostics_class); /* number of all events so far */
};

/* ---- the log ---- */

static void write_to_stderr(const char *line)
{
	fprintf(stderr, "animfs: %s\n", line);
}

void (*log_write)(const char *line) = write_to_stderr;

void log_warning(const char *format, ...)
{
	struct buf line = BUF_INIT;
	va_list args;

	va_start(args, format);
	buf_vformat(&line, format, args);
	va_end(args);
	buf_one_line(&line, 0);
	buf_char(&line, '\0');
	if (!line.failed)
		log_write((const char *)line.data);
	buf_release(&line);
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
	if (!entry)
		return;
	free(entry->reason);
	free(entry);
}

UNSHARED void diagnostics_free(struct diagnostics *d)
{
	if (!d)
		return;
	while (d->newest) {
		struct diagnostic *older = d->newest->older;

		diagnostic_free(d->newest);
		d->newest = older;
	}
	for (size_t i = 0; i < EVENTS_MAX; i++)
		diagnostic_free(d->events[i]);
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

/*
 * Returns where the path's entry is in the chain of its slot, or where the chain ends if there is
 * none.
 */
static struct diagnostic **diagnostics_slot_of(struct diagnostics *d, const char *path)
	REQUIRES(diagnostics_class)
{
	struct diagnostic **at = &d->slots[XXH3_64bits(path, strlen(path)) & (SLOTS - 1)];

	while (*at && strcmp((*at)->path, path) != 0)
		at = &(*at)->next_in_slot;
	return at;
}

static void remove_entry(struct diagnostics *d, struct diagnostic *entry)
	REQUIRES(diagnostics_class)
{
	*diagnostics_slot_of(d, entry->path) = entry->next_in_slot;
	*(entry->newer ? &entry->newer->older : &d->newest) = entry->older;
	*(entry->older ? &entry->older->newer : &d->oldest) = entry->newer;
	d->count--;
	diagnostic_free(entry);
}

static void diagnostics_add_entry(struct diagnostics *d, struct diagnostic *entry)
	REQUIRES(diagnostics_class)
{
	if (d->count >= ENTRIES_MAX)
		remove_entry(d, d->oldest);
	entry->newer = NULL;
	entry->older = d->newest;
	*(d->newest ? &d->newest->newer : &d->oldest) = entry;
	d->newest = entry;
	entry->next_in_slot = NULL;
	*diagnostics_slot_of(d, entry->path) = entry;
	d->count++;
}

/*
 * Replaces the path's entry, of whatever kind, or removes it if `reason` is NULL. Returns false if
 * the entry was the same.
 */
static bool replace_entry(struct diagnostics *d, const char *path, const char *how,
			  const char *reason) REQUIRES(diagnostics_class)
{
	struct diagnostic *old = *diagnostics_slot_of(d, path), *new;

	if (old && reason && old->how == how && strcmp(old->reason, reason) == 0)
		return false;
	if (old)
		remove_entry(d, old);
	new = reason ? diagnostic_new(path, how, reason) : NULL;
	if (new)
		diagnostics_add_entry(d, new);
	return true;
}

void diagnose(struct vfs *v, const char *path, const char *how, const char *reason)
{
	struct diagnostics *d = v->diagnostics;
	bool is_new;

	lock_acquire(&d->lock, &diagnostics_class);
	is_new = replace_entry(d, path, how, reason);
	lock_release(&d->lock, &diagnostics_class);
	if (is_new && reason)
		log_warning("%s: %s: %s", path, how, reason);
}

void diagnose_gone(struct vfs *v, const struct node *folder, const char *name)
{
	struct diagnostics *d = v->diagnostics;
	char *path = NULL;
	bool some;

	lock_acquire(&d->lock, &diagnostics_class);
	some = d->count > 0;
	lock_release(&d->lock, &diagnostics_class);
	if (some && path_of(v, folder, name, &path) == 0)
		diagnose(v, path, NULL, NULL);
	free(path);
}

/* Formats the present time to the millisecond, which also makes lines distinct. */
static void say_time(char out[32])
{
	struct timespec now;
	struct tm parts;

	now = clock_wall();
	localtime_r(&now.tv_sec, &parts);
	snprintf(out, 32, "%02d:%02d:%02d.%03ld", parts.tm_hour, parts.tm_min, parts.tm_sec,
		 now.tv_nsec / 1000000);
}

static void add_event(struct diagnostics *d, struct diagnostic *event) REQUIRES(diagnostics_class)
{
	struct diagnostic **at = &d->events[d->event_count++ % EVENTS_MAX];

	diagnostic_free(*at);
	*at = event;
}

void diagnose_event(struct vfs *v, const char *path, const char *how, const char *reason)
{
	struct diagnostics *d = v->diagnostics;
	struct diagnostic *event;
	char time[32], *timed;

	log_warning("%s: %s: %s", path, how, reason);
	say_time(time);
	if (asprintf(&timed, "%s: %s", time, reason) < 0)
		return;
	event = diagnostic_new(path, how, timed);
	free(timed);
	lock_acquire(&d->lock, &diagnostics_class);
	if (event)
		add_event(d, event);
	lock_release(&d->lock, &diagnostics_class);
}

/* Removes the last event of this path and kind, which leaves a gap in the ring. */
static void remove_event(struct diagnostics *d, const char *path, const char *how)
	REQUIRES(diagnostics_class)
{
	for (uint64_t i = d->event_count; i > 0 && i + EVENTS_MAX > d->event_count; i--) {
		struct diagnostic **at = &d->events[(i - 1) % EVENTS_MAX];

		if (!*at || strcmp((*at)->how, how) != 0 || strcmp((*at)->path, path) != 0)
			continue;
		diagnostic_free(*at);
		*at = NULL;
		return;
	}
}

void diagnose_event_gone(struct vfs *v, const char *path, const char *how)
{
	struct diagnostics *d = v->diagnostics;

	lock_acquire(&d->lock, &diagnostics_class);
	remove_event(d, path, how);
	lock_release(&d->lock, &diagnostics_class);
	log_warning("%s: %s: it is used after all", path, how);
}

void fault_describe(const struct err *err, char *out, size_t size)
{
	char place[64] = "";

	if (err->line)
		snprintf(place, sizeof(place), "line %zu, column %zu: ", err->line, err->column);
	snprintf(out, size, "%s%s%s%s", place, err->message, err->accepted[0] ? "; accepted: " : "",
		 err->accepted);
}

int member_failed(struct vfs *v, const struct node *node, const struct err *err)
{
	char reason[FAULT_SIZE];
	char *path;

	if (path_of(v, node, NULL, &path) != 0)
		return spot_errno(err);
	fault_describe(err, reason, sizeof(reason));
	diagnose(v, path, "not read", reason);
	free(path);
	return spot_errno(err);
}

int member_spot(struct vfs *v, const struct node *node, struct spot *out)
{
	struct err err = {.code = ERR_NONE};
	int error = spot_of(v, node, out, &err);

	return err.code == ERR_NONE ? error : member_failed(v, node, &err);
}

int refuse_in_archive(struct vfs *v, const struct node *folder, const char *name,
		      const char *reason)
{
	char *path;

	if (path_of(v, folder, name, &path) == 0)
		diagnose_event(v, path, "not changed",
			       reason ? reason
				      : "archives are only read; edits of animations in them "
					"become loose files, and animfs export takes members out");
	free(path);
	return EROFS;
}

int check_editable(struct vfs *v, const struct target *t, const char *name)
{
	struct err err = {.code = ERR_NONE};
	int error = animation_check(v, t->thing->animation, &err);

	return error == EROFS ? refuse_in_archive(v, t->node, name, err.message) : error;
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

#define UNJOINED "not joined"

/*
 * Returns the reason why the first clip without a folder has none, and the number of others, as a
 * string to be freed. NULL if all clips have folders.
 */
static char *unjoined(const struct version *version)
{
	const struct err *why = NULL;
	const char *label = "";
	uint32_t count = 0;
	char more[32] = "", *out;

	for (uint32_t i = 0; i < version->anim->clip_count; i++) {
		if (version_shows_clip(version, i))
			continue;
		if (count++ > 0)
			continue;
		why = stills_of_clip(version->stills, i)->why;
		label = version->anim->clips[i].label;
	}
	if (count > 1)
		snprintf(more, sizeof(more), " (and %u more)", (unsigned)count - 1);
	if (!why || asprintf(&out, "%s: %s%s%s%s", label, why->message,
			     why->accepted[0] ? "; accepted: " : "", why->accepted, more) < 0)
		return NULL;
	return out;
}

/*
 * Returns whether this version or a newer one has been reported on: if two threads have seen
 * different versions, the newer one counts, whichever comes last.
 */
static bool is_explained(const struct animation *a, const struct version *version)
	REQUIRES(vfs_class)
{
	return !version->stills || a->explained >= version->generation;
}

static bool diagnostics_explain_stills(struct vfs *v, struct animation *a,
				       const struct version *version, const char *reason,
				       struct buf *path) REQUIRES(vfs_class)
{
	struct diagnostics *d = v->diagnostics;
	const struct node *folder = a->folder ? a->folder->node : NULL;
	bool is_new;

	if (is_explained(a, version) || !folder || node_path_of(folder, "clip.x3d", path))
		return false;
	a->explained = version->generation;
	lock_acquire(&d->lock, &diagnostics_class);
	is_new = replace_entry(d, (const char *)path->data, UNJOINED, reason);
	lock_release(&d->lock, &diagnostics_class);
	return is_new;
}

void diagnose_stills(struct vfs *v, struct animation *a, const struct version *version)
{
	struct buf path = BUF_INIT;
	char *reason;
	bool explained, is_new;

	vfs_lock(v);
	explained = is_explained(a, version);
	vfs_unlock(v);
	if (explained)
		return;
	reason = unjoined(version);
	vfs_lock(v);
	is_new = diagnostics_explain_stills(v, a, version, reason, &path);
	vfs_unlock(v);
	if (is_new && reason)
		log_warning("%s: %s: %s", (const char *)path.data, UNJOINED, reason);
	buf_release(&path);
	free(reason);
}

static void vfs_diagnostics_render(const struct diagnostic *entry, struct buf *out)
{
	buf_line(out, "%s: %s: %s", entry->path, entry->how, entry->reason);
}

void diagnostics_render(struct vfs *v, struct buf *out)
{
	struct diagnostics *d = v->diagnostics;

	lock_acquire(&d->lock, &diagnostics_class);
	for (const struct diagnostic *entry = d->newest; entry; entry = entry->older)
		vfs_diagnostics_render(entry, out);
	for (uint64_t i = d->event_count; i > 0 && i + EVENTS_MAX > d->event_count; i--)
		if (d->events[(i - 1) % EVENTS_MAX])
			vfs_diagnostics_render(d->events[(i - 1) % EVENTS_MAX], out);
	lock_release(&d->lock, &diagnostics_class);
}
