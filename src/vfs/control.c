/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "control.h"

#include "at.h"
#include "confine.h"
#include "diagnostics.h"
#include "held.h"
#include "upper.h"
#include "view.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define CONTROL_FILES 3
#define SENT_MS 100  /* a text stays what it is for so long: whoever reads it gets to its end */
#define DEPTH_MAX 64 /* folders of refusals below one another */
#define REASON_MAX (64 * 1024)

/* Without handles: what each text was when its size was asked for. */
struct control {
	struct sent {
		struct text *text;
		struct timespec since; /* when it became that */
		int64_t made;          /* clock_ms; 0: never */
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

static void render_status(struct vfs *v, struct buf *out)
{
	size_t nodes, held;

	vfs_lock(v);
	nodes = v->nodes.count;
	held = held_size(v);
	vfs_unlock(v);
	buf_format(out, "version %s\npid %d\nsource %s\nmountpoint %s\n", ANIMFS_VERSION,
		   (int)getpid(), v->options->source, v->options->mountpoint);
	buf_format(out, "read_only %s\nconfined ", v->read_only ? "yes" : "no");
	confine_tell(v->confined, out);
	buf_char(out, '\n');
	buf_format(out, "cache_bytes %zu\ncache_limit %zu\nheld_bytes %zu\nheld_limit %zu\n",
		   store_cached(v->store), v->options->store.cache, held, v->options->held_max);
	buf_format(out, "nodes %zu\ntexts %" PRIu64 "\n", nodes, v->rendered);
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

/* The first line of a NAME.error: place and reason. */
static void add_reason(int folder, const char *name, struct buf *out)
{
	struct buf text = BUF_INIT;
	const uint8_t *end;
	struct stat st;

	if (at_read(folder, name, REASON_MAX, &text, &st) == 0 && text.size) {
		end = memchr(text.data, '\n', text.size);
		buf_add(out, text.data, end ? (size_t)(end - text.data) : text.size);
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
	int fd = depth > DEPTH_MAX
			 ? -1
			 : openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;

	if (!dir) {
		if (fd >= 0)
			close(fd);
		return;
	}
	while ((entry = readdir(dir))) {
		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		if (ends_in(entry->d_name, ".error"))
			add_reason(fd, entry->d_name, out);
		else
			add_refusals(fd, entry->d_name, depth + 1, out);
	}
	closedir(dir);
}

static void render_errors(struct vfs *v, struct buf *out)
{
	int folder;

	diagnostics_render(v, out);
	upper_list_orphans(v, out);
	if (state_folder(v->state, STATE_REJECTED, "", false, &folder) == 0) {
		add_refusals(folder, ".", 0, out);
		close(folder);
	}
}

static const struct control_file {
	const char *name;
	mode_t mode; /* errors quote texts that not everybody may read */
	void (*render)(struct vfs *v, struct buf *out);
} control_files[CONTROL_FILES] = {
	{"status", 0444, render_status},
	{"formats", 0444, render_formats},
	{"errors", 0400, render_errors},
};

const char *control_name(unsigned index)
{
	return index < CONTROL_FILES ? control_files[index].name : NULL;
}

/* Which of control_files it is; -1 where it is none. */
static int index_of_name(const char *name)
{
	for (int i = 0; i < CONTROL_FILES; i++) {
		if (strcmp(control_files[i].name, name) == 0)
			return i;
	}
	return -1;
}

static int index_of(const struct node *node) REQUIRES(vfs_class)
{
	const struct link *link = node_link(node);

	return link ? index_of_name(link->name) : -1;
}

/* ---- texts that are read without a handle ---- */

/* The kernel drops its pages when `since` is another. */
static void sent_renew(struct sent *sent, struct text *text)
{
	sent->made = clock_ms();
	if (!sent->text || !bytes_equal(text_bytes(text), text_bytes(sent->text))) {
		clock_gettime(CLOCK_REALTIME, &sent->since);
		text_put(sent->text);
		sent->text = text_get(text);
	}
}

/* Renders it anew, where it is time for that; *st gets its size and age. */
static void send_text(struct vfs *v, int index, struct stat *st)
{
	struct buf rendered = BUF_INIT;
	struct text *text;
	struct sent *sent;
	bool old;

	vfs_lock(v);
	sent = &v->control->sent[index];
	old = !sent->made || clock_ms() - sent->made >= SENT_MS;
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

/* ---- nodes ---- */

static int make(struct vfs *v, struct node *parent, const char *name, bool folder,
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
		error = make(v, parent->node, name, folder, out);
	vfs_unlock(v);
	return error;
}

/* Who is shown as the owner of everything can read it. */
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
	clock_gettime(CLOCK_REALTIME, &st->st_mtim);
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
