/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * control.c - .animfs at the top of the mount: what the mount knows about itself. It answers by
 * name and is not listed, so that grep -r and rsync do not meet it.
 */
#include "fs.h"

#include "confine.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define CONTROL_FILES 3
#define TOLD_MS 100  /* a text stays what it is for so long: whoever reads it gets to its end */
#define DEPTH_MAX 64 /* folders of refusals below one another */
#define REASON_MAX (64 * 1024)

/* ---- files that do not decode, or that cannot be edited ---- */

struct journal_entry {
	struct journal_entry *next;
	const char *how; /* a constant text */
	char *reason;
	char path[];
};

struct journal {
	pthread_mutex_t lock;
	struct journal_entry *first;
	/* Without handles: what each text was when its size was asked for. */
	pthread_mutex_t telling;
	struct told {
		struct buf text;
		struct timespec since;
		int64_t made; /* clock_ms; 0: never */
	} told[CONTROL_FILES];
};

struct journal *journal_new(void)
{
	struct journal *j = calloc(1, sizeof(*j));

	if (!j)
		return NULL;
	pthread_mutex_init(&j->lock, NULL);
	pthread_mutex_init(&j->telling, NULL);
	return j;
}

static void entry_free(struct journal_entry *entry)
{
	free(entry->reason);
	free(entry);
}

void journal_free(struct journal *j)
{
	while (j && j->first) {
		struct journal_entry *next = j->first->next;

		entry_free(j->first);
		j->first = next;
	}
	for (size_t i = 0; j && i < CONTROL_FILES; i++)
		buf_release(&j->told[i].text);
	free(j);
}

static struct journal_entry *entry_new(const char *path, const char *how, const char *reason)
{
	size_t size = strlen(path) + 1;
	struct journal_entry *entry = malloc(sizeof(*entry) + size);

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

void journal_note(struct fs *fs, const char *path, const char *how, const char *reason)
{
	struct journal *j = fs->journal;
	struct journal_entry **at, *old;
	bool news = reason != NULL;

	pthread_mutex_lock(&j->lock);
	for (at = &j->first; *at && strcmp((*at)->path, path) != 0; at = &(*at)->next)
		;
	old = *at;
	if (old && reason && old->how == how && strcmp(old->reason, reason) == 0)
		news = false;
	if (old && (news || !reason)) {
		*at = old->next;
		entry_free(old);
	}
	if (news) {
		struct journal_entry *entry = entry_new(path, how, reason);

		if (entry) {
			entry->next = j->first;
			j->first = entry;
		}
	}
	pthread_mutex_unlock(&j->lock);
	if (news)
		fuse_log(FUSE_LOG_WARNING, "animfs: %s: %s: %s\n", path, how, reason);
}

void file_note(struct fs *fs, struct file *file, const char *name, const char *how,
	       const char *reason)
{
	struct buf path = BUF_INIT;
	int error;

	nodes_lock(&fs->nodes);
	error = node_path(file->node, &path);
	nodes_unlock(&fs->nodes);
	if (!error && name) {
		path.data[path.size - 1] = '/';
		buf_add(&path, name, strlen(name) + 1);
	}
	if (!error && !path.failed)
		journal_note(fs, (const char *)path.data, how, reason);
	buf_release(&path);
}

/* ---- texts ---- */

static void render_status(struct fs *fs, struct buf *out)
{
	size_t nodes;

	nodes_lock(&fs->nodes);
	nodes = fs->nodes.count;
	nodes_unlock(&fs->nodes);
	buf_format(out, "version %s\npid %d\nsource %s\nmountpoint %s\n", ANIMFS_VERSION,
		   (int)getpid(), fs->options->source, fs->options->mountpoint);
	buf_format(out, "read_only %s\nconfined ", fs->read_only ? "yes" : "no");
	confine_tell(fs->confined, out);
	buf_char(out, '\n');
	buf_format(out, "cache_bytes %zu\ncache_limit %zu\nnodes %zu\ntexts %" PRIu64 "\n",
		   store_cached(fs->store), fs->options->store.cache, nodes, fs->texts);
}

static void render_formats(struct fs *fs, struct buf *out)
{
	(void)fs;
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
	struct dirent *entry;
	DIR *dir;
	int fd;

	if (depth > DEPTH_MAX)
		return;
	fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	dir = fd < 0 ? NULL : fdopendir(fd);
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

static void render_errors(struct fs *fs, struct buf *out)
{
	struct journal *j = fs->journal;
	int folder;

	pthread_mutex_lock(&j->lock);
	for (struct journal_entry *e = j->first; e; e = e->next)
		buf_format(out, "%s: %s: %s\n", e->path, e->how, e->reason);
	pthread_mutex_unlock(&j->lock);
	extra_tell_orphans(fs, out);
	if (state_folder(fs->state, STATE_REJECTED, "", false, &folder) == 0) {
		add_refusals(folder, ".", 0, out);
		close(folder);
	}
}

static const struct control_file {
	const char *name;
	void (*render)(struct fs *fs, struct buf *out);
} control_files[CONTROL_FILES] = {
	{"status", render_status},
	{"formats", render_formats},
	{"errors", render_errors},
};

/* Which of control_files it is; -1 where it is none. */
static int control_index(const char *name)
{
	for (int i = 0; i < CONTROL_FILES; i++) {
		if (strcmp(control_files[i].name, name) == 0)
			return i;
	}
	return -1;
}

static int index_of(struct fs *fs, const struct node *node)
{
	int index = -1;

	nodes_lock(&fs->nodes);
	if (node_link(node))
		index = control_index(node_link(node)->name);
	nodes_unlock(&fs->nodes);
	return index;
}

void control_render(struct fs *fs, const struct node *node, struct buf *out)
{
	int index = index_of(fs, node);

	if (index >= 0)
		control_files[index].render(fs, out);
}

/* Made anew, where it is time for that. The kernel drops its pages when `since` is another. */
static void renew(struct fs *fs, int index, struct told *told)
{
	int64_t now = clock_ms();
	struct buf text = BUF_INIT;

	if (told->made && now - told->made < TOLD_MS)
		return;
	control_files[index].render(fs, &text);
	if (!told->made || !bytes_equal(buf_bytes(&text), buf_bytes(&told->text))) {
		clock_gettime(CLOCK_REALTIME, &told->since);
		buf_release(&told->text);
		told->text = text;
	} else {
		buf_release(&text);
	}
	told->made = now;
}

static void tell_text(struct fs *fs, int index, struct stat *st)
{
	struct journal *j = fs->journal;

	pthread_mutex_lock(&j->telling);
	renew(fs, index, &j->told[index]);
	st->st_size = (off_t)j->told[index].text.size;
	st->st_mtim = st->st_ctim = j->told[index].since;
	pthread_mutex_unlock(&j->telling);
}

void control_text(struct fs *fs, const struct node *node, struct buf *out)
{
	struct journal *j = fs->journal;
	int index = index_of(fs, node);

	if (index < 0)
		return;
	pthread_mutex_lock(&j->telling);
	buf_add(out, j->told[index].text.data, j->told[index].text.size);
	pthread_mutex_unlock(&j->telling);
}

/* ---- nodes ---- */

int control_lookup(struct fs *fs, struct node *parent, const char *name, struct fuse_entry_param *e)
{
	bool folder = parent->kind != NODE_CONTROL;
	struct node *node;
	int error;

	if (!folder && control_index(name) < 0)
		return ENOENT;
	nodes_lock(&fs->nodes);
	node = nodes_by_name(&fs->nodes, parent, name);
	if (!node || node->kind != NODE_CONTROL) {
		node = nodes_add(&fs->nodes, NODE_CONTROL, name);
		if (node) {
			node->folder = folder;
			node->shown_ino = fs_virtual_ino(parent, name);
			node->references++;
			if (!nodes_link(&fs->nodes, node, parent, name)) {
				nodes_drop(&fs->nodes, node, 0, 1);
				node = NULL;
			}
		}
	} else {
		node->references++;
	}
	nodes_unlock(&fs->nodes);
	if (!node)
		return ENOMEM;
	error = fs_entry(fs, node, e);
	fs_reference(fs, node, -1);
	return error;
}

/* Errors quote texts that not everybody may read. */
static mode_t file_mode(struct fs *fs, const struct node *node)
{
	int index = index_of(fs, node);

	return S_IFREG | (index >= 0 && control_files[index].render == render_errors ? 0400 : 0444);
}

/* Whom everything is said to belong to is who reads it. */
static unsigned mounter(int given, unsigned own)
{
	return given >= 0 ? (unsigned)given : own;
}

void control_attributes(struct fs *fs, const struct node *node, struct stat *st)
{
	struct buf text = BUF_INIT;

	*st = (struct stat){.st_ino = node->shown_ino,
			    .st_nlink = 1,
			    .st_mode = node->folder ? S_IFDIR | 0555 : file_mode(fs, node),
			    .st_uid = mounter(fs->options->uid, geteuid()),
			    .st_gid = mounter(fs->options->gid, getegid()),
			    .st_blksize = 4096};
	clock_gettime(CLOCK_REALTIME, &st->st_mtim);
	st->st_atim = st->st_ctim = st->st_mtim;
	if (node->folder)
		return;
	if (fs->unopened_files && index_of(fs, node) >= 0) {
		tell_text(fs, index_of(fs, node), st);
		return;
	}
	control_render(fs, node, &text);
	st->st_size = (off_t)text.size;
	buf_release(&text);
}
