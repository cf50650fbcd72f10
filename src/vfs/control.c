/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "control.h"

#include "diagnostics.h"
#include "disk/dirfd.h"
#include "disk/watch.h"
#include "invalidate.h"
#include "pinned.h"
#include "program.h"
#include "sandbox/confine.h"
#include "upper.h"
#include "util/clock.h"
#include "util/timing.h"
#include "view.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CONTROL_FILES 4
#define DEPTH_MAX 64           /* how deep folders of refusals are searched */
#define ADVANCE_MAX 1000000000 /* limit of one step of the stopped clock, in ms */
#define REASON_MAX (64 * 1024)

/* For a kernel that opens no files: each text as it was when its size was sent. */
struct control {
	struct sent {
		struct text *text;
		struct timespec since; /* when the text last changed */
		int64_t made;          /* when the text was rendered (clock_real_ms); 0: never */
	} sent[CONTROL_FILES] GUARDED_BY(vfs_class);
};

struct control *control_new(void)
{
	return calloc(1, sizeof(struct control));
}

UNSHARED void control_free(struct control *c)
{
	for (size_t i = 0; c && i < CONTROL_FILES; i++)
		text_put(c->sent[i].text);
	free(c);
}

/* ---- texts ---- */

/* Appends the node's path, with line breaks replaced, so that it stays in one line. */
static void control_add_path(const struct node *node, struct buf *out) REQUIRES(vfs_class)
{
	size_t begin = out->size;

	if (node_path(node, out) != 0)
		return;
	out->size--; /* Drop the NUL at the end of the path. */
	buf_one_line(out, begin);
}

/*
 * Returns the kind of unsaved work at the node, as a word for .animfs/status; NULL if there is
 * none.
 */
static const char *pending_kind(const struct node *node) REQUIRES(vfs_class)
{
	const struct thing *thing = node->thing;
	const struct draft *draft = thing->kind == THING_VIEW ? thing->view.draft : NULL;

	if (draft && draft_is_unsaved(draft) && thing->view.standing != DETACHED)
		return "text";
	return thing->kind == THING_PLAIN && thing->plain.staging ? "folder" : NULL;
}

/*
 * Appends the clips whose folders were removed but which are still in the file. Returns their
 * number.
 */
static size_t control_add_removals(const struct vfs *v, const struct node *node, struct buf *out)
	REQUIRES(vfs_class)
{
	const struct thing *thing = node->thing;
	size_t count = 0, begin;

	/* Skip an animation's folder without a name, which was removed with all its clips. */
	if (thing->kind != THING_ANIMATION || !node_link(node))
		return 0;
	for (const struct mark *m = thing->animation->absent.first; m; m = m->next) {
		if (m->parent != node || !m->base)
			continue;
		count++;
		if (v->options->allow_other)
			continue;
		buf_text(out, "pending_removal ");
		control_add_path(node, out);
		buf_char(out, '/');
		begin = out->size;
		buf_text(out, m->name);
		buf_one_line(out, begin);
		buf_char(out, '\n');
	}
	return count;
}

/*
 * Appends unsaved work; in a mount with allow_other only how much there is, since other users must
 * not see which files a user edits.
 */
static void render_pending(struct vfs *v, struct buf *out) REQUIRES(vfs_class)
{
	const struct node *node;
	const char *kind;
	size_t at = 0, count = 0, removals = 0;

	while ((node = nodes_next(&v->nodes, &at))) {
		removals += control_add_removals(v, node, out);
		kind = pending_kind(node);
		count += kind != NULL;
		if (!kind || v->options->allow_other)
			continue;
		buf_format(out, "pending_%s ", kind);
		control_add_path(node, out);
		buf_char(out, '\n');
	}
	buf_format(out, "pending %zu\nremovals %zu\n", count + removals, removals);
}

static void render_status(struct vfs *v, struct buf *out)
{
	struct buf pending = BUF_INIT;
	size_t nodes, pinned;

	vfs_lock(v);
	nodes = v->nodes.count;
	pinned = pinned_size(v);
	render_pending(v, &pending);
	vfs_unlock(v);
	buf_format(out, "version %s\npid %d\n", ANIMFS_VERSION, (int)getpid());
	buf_line(out, "source %s", v->options->source);
	buf_line(out, "mountpoint %s", v->options->mountpoint);
	if (v->options->state)
		buf_line(out, "state %s", v->options->state);
	buf_format(out, "read_only %s\nconfined ", v->read_only ? "yes" : "no");
	confine_describe(v->confined, out);
	buf_char(out, '\n');
	buf_format(out, "cache_bytes %zu\ncache_limit %zu\nheld_bytes %zu\nheld_limit %zu\n",
		   store_cached(v->store), v->options->store.cache, pinned, v->options->pinned_max);
	buf_format(out, "drafts_bytes %zu\ndrafts_limit %zu\n", v->drafts.used, v->drafts.limit);
	buf_format(out, "extra_limit %zu\nrejected_limit %zu\nhistory_limit %zu\n",
		   v->options->upper_max, v->options->rejected_max, v->options->store.history);
	buf_format(out, "nodes %zu\ntexts %" PRIu64 "\nsince %" PRId64 "\n", nodes, v->rendered,
		   v->since);
	buf_add(out, pending.data, pending.size);
	buf_release(&pending);
	/* Other users must not see which commands a user runs. */
	if (!v->options->allow_other)
		programs_render(v->programs, out);
}

static void render_formats(struct vfs *v, struct buf *out)
{
	(void)v;
	for (unsigned i = 0; codecs[i]; i++) {
		const struct format *format = codecs[i]->format;

		buf_text(out, format->name);
		for (unsigned j = 0; codecs[i]->patterns[j]; j++)
			buf_format(out, "%c%s", j ? ',' : ' ', codecs[i]->patterns[j]);
		buf_format(out, " %s\n", format->sparse ? "sparse" : "dense");
	}
}

/* Appends the first line of a NAME.error file: place and reason. */
static void add_reason(int folder, const char *name, struct buf *out)
{
	struct buf text = BUF_INIT;
	const uint8_t *end;
	struct stat st;
	size_t begin;

	if (dirfd_read(folder, name, REASON_MAX, &text, &st) == 0 && text.size) {
		end = memchr(text.data, '\n', text.size);
		begin = out->size;
		buf_add(out, text.data, end ? (size_t)(end - text.data) : text.size);
		buf_one_line(out, begin);
		buf_char(out, '\n');
	}
	buf_release(&text);
}

static bool ends_in(const char *name, const char *suffix)
{
	size_t a = strlen(name), b = strlen(suffix);

	return a > b && strcmp(name + a - b, suffix) == 0;
}

static void add_refusals(int parent, const char *name, int depth, struct buf *out)
{
	struct dirent *entry;
	DIR *dir;

	if (depth > DEPTH_MAX || dirfd_list(parent, name, &dir) != 0)
		return;
	while ((entry = dirfd_next(dir))) {
		if (ends_in(entry->d_name, ".error"))
			add_reason(dirfd(dir), entry->d_name, out);
		else
			add_refusals(dirfd(dir), entry->d_name, depth + 1, out);
	}
	closedir(dir);
}

static void render_errors(struct vfs *v, struct buf *out)
{
	int folder;

	diagnostics_render(v, out);
	upper_list_orphans(v, out);
	if (state_folder(v->state, STATE_REJECTED, "", false, &folder) == 0) {
		add_refusals(folder, "", 0, out);
		close(folder);
	}
}

/* ---- the stopped clock ---- */

static void render_clock(struct vfs *v, struct buf *out)
{
	(void)v;
	buf_format(out, "%" PRId64 "\n", clock_ms());
}

/*
 * Waits until earlier events are noticed here, then moves the stopped clock on by `ms`. Returns 0
 * when all work that was due by then is done; ETIMEDOUT if that takes too long.
 */
static int control_settle(struct vfs *v, int64_t ms)
{
	if (!vfs_await_releases(v, ADVANCE_LIMIT_MS))
		return ETIMEDOUT;
	programs_settle(v->programs);
	if (v->watch && !watch_settle(v->watch, ADVANCE_LIMIT_MS))
		return ETIMEDOUT;
	return deadlines_advance(v->deadlines, ms);
}

/*
 * Moves the stopped clock on by the number of milliseconds in `text`, then settles again for the
 * effects of that work.
 */
static int control_move_clock(struct vfs *v, struct bytes text)
{
	char digits[16] = "", *end;
	int64_t ms;
	int error;

	if (text.size >= sizeof(digits))
		return EINVAL;
	memcpy(digits, text.data, text.size);
	ms = strtol(digits, &end, 10);
	if (digits[0] < '0' || digits[0] > '9' || ms > ADVANCE_MAX || (*end && *end != '\n'))
		return EINVAL;
	error = control_settle(v, ms);
	if (!error)
		error = control_settle(v, 0);
	return error ? error : invalidate_settle(v);
}

/* ---- the files ---- */

static const struct control_file {
	const char *name;
	mode_t mode; /* 0600: errors quote texts that other users may not be allowed to read */
	void (*render)(struct vfs *v, struct buf *out);
	/* takes a text that is written to the file, and returns 0 or an errno; NULL: read-only */
	int (*write)(struct vfs *v, struct bytes text);
} control_files[CONTROL_FILES] = {
	{"status", 0444, render_status, NULL},
	{"formats", 0444, render_formats, NULL},
	{"errors", 0400, render_errors, NULL},
	{"clock", 0600, render_clock, control_move_clock}, /* only exists if the clock is stopped */
};

const char *control_name(unsigned index)
{
	unsigned count = CONTROL_FILES - !clock_is_stopped();

	return index < count ? control_files[index].name : NULL;
}

/* Returns the index of the name in control_files; -1 if it is not there. */
static int index_of_name(const char *name)
{
	const char *known;

	for (unsigned i = 0; (known = control_name(i)); i++) {
		if (strcmp(known, name) == 0)
			return (int)i;
	}
	return -1;
}

static int index_of(const struct node *node) REQUIRES(vfs_class)
{
	const struct link *link = node_link(node);

	return link ? index_of_name(link->name) : -1;
}

/* ---- texts that are read without a handle ---- */

/*
 * Replaces the text, if it has changed. A new `since` (the mtime) makes the kernel drop its pages.
 */
static void sent_renew(struct sent *sent, struct text *text)
{
	sent->made = clock_real_ms();
	if (!sent->text || !bytes_equal(text_bytes(text), text_bytes(sent->text))) {
		sent->since = clock_wall();
		text_put(sent->text);
		sent->text = text_get(text);
	}
}

/* Renders the text again if the last time is long enough ago; sets size and times in *st. */
static void send_text(struct vfs *v, int index, struct stat *st)
{
	struct buf rendered = BUF_INIT;
	struct text *text;
	struct sent *sent;
	bool old;

	vfs_lock(v);
	sent = &v->control->sent[index];
	old = !sent->made || clock_real_ms() - sent->made >= SENT_MS;
	vfs_unlock(v);
	if (old)
		control_files[index].render(v, &rendered);
	text = old ? text_new(&rendered) : NULL;
	vfs_lock(v);
	if (text)
		sent_renew(sent, text);
	st->st_size = (off_t)text_bytes(sent->text).size;
	st->st_mtim = st->st_ctim = sent->since;
	vfs_unlock(v);
	text_put(text);
}

void control_text(struct vfs *v, const struct target *t, bool as_sent, struct buf *out)
{
	struct text *sent = NULL;
	int index;

	vfs_lock(v);
	index = index_of(t->node);
	if (index >= 0 && as_sent)
		sent = text_get(v->control->sent[index].text);
	vfs_unlock(v);
	if (index >= 0 && !as_sent)
		control_files[index].render(v, out);
	buf_add(out, text_bytes(sent).data, text_bytes(sent).size);
	text_put(sent);
}

bool control_is_writable(struct vfs *v, const struct target *t)
{
	int index;

	vfs_lock(v);
	index = index_of(t->node);
	vfs_unlock(v);
	return index >= 0 && control_files[index].write;
}

int control_write(struct vfs *v, const struct target *t, struct bytes text)
{
	int index;

	vfs_lock(v);
	index = index_of(t->node);
	vfs_unlock(v);
	return index >= 0 && control_files[index].write ? control_files[index].write(v, text)
							: EACCES;
}

/* ---- nodes of .animfs ---- */

static int make_node(struct vfs *v, struct node *parent, const char *name, bool folder,
		     struct target *out) REQUIRES(vfs_class)
{
	struct thing *thing = thing_of(&v->nodes, THING_CONTROL, NULL);
	struct node *node = thing ? nodes_add(&v->nodes, thing, name) : NULL;

	if (!node || !nodes_link(&v->nodes, node, parent, name)) {
		node_put(&v->nodes, node);
		thing_put(&v->nodes, thing);
		return ENOMEM;
	}
	thing->folder = folder;
	node->shown_ino = virtual_ino(parent, name);
	*out = (struct target){node, thing};
	return 0;
}

int control_find(struct vfs *v, const struct target *parent, const char *name, struct target *out)
{
	bool folder = parent->thing->kind != THING_CONTROL;
	struct node *node;
	int error = 0;

	if (!folder && index_of_name(name) < 0)
		return ENOENT;
	vfs_lock(v);
	node = nodes_by_name(&v->nodes, parent->node, name);
	if (node && node->thing->kind == THING_CONTROL)
		*out = (struct target){node_get(node), thing_get(node->thing)};
	else
		error = make_node(v, parent->node, name, folder, out);
	vfs_unlock(v);
	return error;
}

/*
 * Returns the owner given by uid= or gid=, so that this user can read .animfs/errors; else our own
 * id.
 */
static unsigned owner(int given, unsigned own)
{
	return given >= 0 ? (unsigned)given : own;
}

void control_attributes(struct vfs *v, const struct target *t, struct stat *st)
{
	struct buf text = BUF_INIT;
	int index;

	*st = (struct stat){.st_nlink = 1,
			    .st_mode = S_IFDIR | 0555,
			    .st_uid = owner(v->options->uid, geteuid()),
			    .st_gid = owner(v->options->gid, getegid()),
			    .st_blksize = 4096};
	vfs_lock(v);
	st->st_ino = t->node->shown_ino;
	index = index_of(t->node);
	vfs_unlock(v);
	st->st_mtim = clock_wall();
	st->st_atim = st->st_ctim = st->st_mtim;
	if (index < 0)
		return;
	st->st_mode = S_IFREG | control_files[index].mode;
	if (v->unopened_files) {
		send_text(v, index, st);
		return;
	}
	control_files[index].render(v, &text);
	st->st_size = (off_t)text.size;
	buf_release(&text);
}
