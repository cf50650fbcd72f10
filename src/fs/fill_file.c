/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * fill_file.c - a folder of texts under the name of an animation file becomes that file.
 *
 * Its raw.* is the file, and texts that differ from what that says are edits of it. Without one the
 * clips make a new file. Its skeleton is put beside that. When the new bytes are known the folder
 * is moved aside, and they are put in its place. If they cannot be, it is moved back; the next
 * mount after one was killed does so, or goes on. Neither replaces or removes a file of others that
 * has come by the name.
 *
 * The file is its maker's, who owns the folder from mkdir on, and has what was given to the folder
 * or to raw.* (filling_say). Where nothing was given, or a kill made us forget it, it has the mode
 * of raw.*, and whom the folder kept out the file keeps out.
 */
#include "../names.h"
#include "../structure.h"
#include "texts.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FILE_MODE 0666 /* of a folder's mode: its x is not a file's */

/* One folder of texts in it, which is to be a clip. */
struct clip_folder {
	char *name;
	int fd;
	struct texts texts;
	char label[NAME_MAX + 1]; /* of the clip that it came to; "": to none */
};

struct filled {
	struct fs *fs;
	struct node *node;
	int parent;      /* the folder of SOURCE that it is in */
	int fd;          /* the folder itself */
	struct buf path; /* of it, from SOURCE, with a NUL */
	char name[NAME_MAX + 1], aside[NAME_MAX + 1];
	struct file *file; /* what it becomes */
	struct snap *base; /* what raw.* says, or NULL */
	struct snap *made; /* what all of it says */
	struct buf raw;
	struct attributes as; /* what the file is to have beside its bytes */
	struct texts texts;   /* directly in it */
	struct clip_folder *clips;
	size_t clip_count;
	struct err err;
};

/* ---- what is in it ---- */

static bool has_texts(const struct texts *texts)
{
	for (size_t i = 0; i < texts->count; i++) {
		if (fill_reads(texts->list[i].path))
			return true;
	}
	return false;
}

static int read_clip(struct filled *f, const char *name)
{
	struct clip_folder *clip = &f->clips[f->clip_count];
	int error = at_open(f->fd, name, O_RDONLY | O_DIRECTORY, 0, &clip->fd);

	if (error)
		return 0; /* it went just now */
	f->clip_count++;
	clip->name = strdup(name);
	return clip->name ? texts_read(f->fs, clip->fd, fill_reads, &clip->texts) : ENOMEM;
}

/* The name of the file's own bytes in it. */
static void raw_name(struct filled *f, char out[NAME_MAX + 1])
{
	const struct codec *codec;
	bool probe;

	out[0] = '\0';
	if (store_claims(f->fs->store, f->name, &codec, &probe) && codec)
		tree_raw_name(f->name, codec->format, out);
}

static int read_all(struct filled *f)
{
	char raw[NAME_MAX + 1];
	struct stat st;
	int error = texts_read(f->fs, f->fd, fill_reads_of_file, &f->texts);

	f->clips = calloc(f->texts.count + 1, sizeof(*f->clips));
	if (!error && !f->clips)
		error = ENOMEM;
	for (size_t i = 0; i < f->texts.count && !error; i++) {
		const struct text_name *name = &f->texts.names[i];

		if (name->folder && name->path[0] != '.' && !strchr(name->path, '/'))
			error = read_clip(f, name->path);
	}
	raw_name(f, raw);
	if (!error && raw[0] &&
	    at_read(f->fd, raw, f->fs->options->store.max_file, &f->raw, &st) != 0)
		buf_clear(&f->raw);
	return error;
}

/* Is there anything in it that an animation could be made of? */
static bool is_something(const struct filled *f)
{
	bool some = f->raw.size > 0;

	for (size_t i = 0; i < f->clip_count && !some; i++)
		some = has_texts(&f->clips[i].texts);
	return some;
}

static void release(struct filled *f)
{
	for (size_t i = 0; i < f->clip_count; i++) {
		texts_release(&f->clips[i].texts);
		free(f->clips[i].name);
		close(f->clips[i].fd);
	}
	free(f->clips);
	texts_release(&f->texts);
	attributes_release(&f->as);
	buf_release(&f->raw);
	buf_release(&f->path);
	if (f->fd >= 0)
		close(f->fd);
	snap_put(f->base);
	snap_put(f->made);
	file_free(f->file);
}

/* ---- whose the file is ---- */

/* raw.*, and who it is; *fd is -1 where there is none that counts. */
static int open_raw(struct filled *f, struct identity *id, int *fd)
{
	char name[NAME_MAX + 1];
	struct stat st;
	int error;

	*fd = -1;
	raw_name(f, name);
	if (!f->raw.size)
		return 0;
	error = at_open(f->fd, name, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0, fd);
	return error ? error : identity_at(*fd, "", id, &st);
}

static void take_rights(struct attributes *to, struct attributes *from)
{
	to->mode = from->mode;
	buf_clear(&to->acl);
	buf_add(&to->acl, from->acl.data, from->acl.size);
}

/* Who may enter the folder may do with raw.* what that lets him. */
static mode_t let_in(mode_t folder)
{
	return (folder & 0777) | (folder & 0111) << 1 | (folder & 0111) << 2;
}

/* `as` has the folder's. */
static void choose_rights(struct attributes *as, struct attributes *raw, enum say say)
{
	mode_t both = let_in(as->mode) & raw->mode;

	as->mode &= FILE_MODE;
	if (say == SAY_FOLDER)
		return;
	if (say == SAY_RAW || raw->acl.size)
		take_rights(as, raw);
	if (say == SAY_NOBODY)
		as->mode = both;
}

static void choose(struct filled *f, struct attributes *raw, const struct identity *id)
{
	struct fs *fs = f->fs;

	if (filling_say(fs, f->node, id, GIVEN_OWNER) == SAY_RAW)
		f->as.uid = raw->uid;
	if (filling_say(fs, f->node, id, GIVEN_GROUP) == SAY_RAW)
		f->as.gid = raw->gid;
	choose_rights(&f->as, raw, filling_say(fs, f->node, id, GIVEN_MODE));
	if (filling_say(fs, f->node, id, GIVEN_TIME) != SAY_FOLDER)
		f->as.mtime = raw->mtime;
	f->as.has_mtime = true;
}

/* The extended attributes of both: those of raw.* are given after the folder's. */
static int find_attributes(struct filled *f)
{
	struct attributes raw = ATTRIBUTES_INIT;
	struct identity id;
	int fd, error = attributes_read(f->fd, &f->as);

	if (error)
		return error;
	if (filling_say(f->fs, f->node, NULL, GIVEN_MODE) == SAY_FOLDER)
		acl_for_file(&f->as.acl);
	f->as.has_mtime = filling_say(f->fs, f->node, NULL, GIVEN_TIME) == SAY_FOLDER;
	error = open_raw(f, &id, &fd);
	if (!error && fd >= 0)
		error = attributes_read(fd, &raw);
	if (!error && fd >= 0) {
		choose(f, &raw, &id);
		buf_add(&f->as.xattrs, raw.xattrs.data, raw.xattrs.size);
	}
	if (fd >= 0)
		close(fd);
	else
		f->as.mode &= FILE_MODE;
	attributes_release(&raw);
	return error ? error : f->as.acl.failed || f->as.xattrs.failed ? ENOMEM : 0;
}

/* ---- what it says ---- */

/* All folders and texts as edits of the model. A clip that cannot be is told, and stays. */
static bool fill_all(struct filled *f, struct fill *fill)
{
	for (size_t i = 0; i < f->clip_count; i++) {
		struct clip_folder *clip = &f->clips[i];
		struct err err = {.code = ERR_NONE};
		char label[FILL_LABEL_SIZE];

		if (!has_texts(&clip->texts))
			continue;
		fill_label(fill_model(fill), f->name, clip->name, label);
		if (fill_clip(fill, label, clip->texts.list, clip->texts.count, &err))
			snprintf(clip->label, sizeof(clip->label), "%s", label);
		else if (err.code == ERR_MEMORY)
			return err_memory(&f->err);
		else
			err_set(&f->err, err.code, "%s: %s", clip->name, err.message);
	}
	return fill_file(fill, f->texts.list, f->texts.count, &f->err);
}

/* ---- the file ---- */

/* What its edits come to, if they are refused all together: the file stays what raw.* said. */
static void refuse_edits(struct filled *f, const struct err *err)
{
	for (size_t i = 0; i < f->clip_count; i++) {
		struct texts *texts = &f->clips[i].texts;

		for (size_t j = 0; j < texts->count; j++) {
			if (texts->list[j].fate != FILL_USED)
				continue;
			texts->list[j].fate = FILL_REFUSED;
			texts->list[j].err = *err;
			texts->list[j].err.placed = false;
		}
	}
}

static bool edit_raw(struct filled *f)
{
	struct fill *fill = fill_new(f->base->anim, f->name);
	struct err err = {.code = ERR_NONE};
	bool fine;

	if (!fill)
		return err_memory(&f->err);
	fine = fill_all(f, fill);
	if (fine && fill_model(fill) != f->base->anim) {
		f->made =
			source_edited(f->file->source, f->parent, f->base, fill_model(fill), &err);
		if (!f->made)
			refuse_edits(f, &err);
	}
	if (fine && !f->made)
		f->made = snap_get(f->base);
	fill_free(fill);
	return fine;
}

/* False where raw.* is no animation. */
static bool make_of_raw(struct filled *f)
{
	struct err err = {.code = ERR_NONE};

	f->base = source_decode(f->file->source, f->parent, buf_bytes(&f->raw), &err);
	if (!f->base)
		return err_set(&f->err, err.code, "%s", err.message);
	return edit_raw(f);
}

static bool make_of_clips(struct filled *f)
{
	const struct codec *codec;
	struct fill *fill = NULL;
	struct anim *blank;
	bool probe;

	if (!store_claims(f->fs->store, f->name, &codec, &probe) || !codec)
		return false;
	blank = anim_blank(codec->format, NULL);
	if (blank)
		fill = fill_new(blank, f->name);
	if (!fill)
		err_memory(&f->err);
	else if (fill_all(f, fill) && fill_model(fill)->clip_count > 0)
		f->made = source_made(f->file->source, f->parent, codec, fill_model(fill), &f->err);
	fill_free(fill);
	anim_free(blank);
	return f->made != NULL;
}

/* What the file is to be. Nothing is written yet. */
static bool make(struct filled *f)
{
	if (f->raw.size && make_of_raw(f))
		return true;
	if (f->err.code == ERR_MEMORY || f->err.code == ERR_SYSTEM)
		return false;
	if (f->raw.size)
		fuse_log(FUSE_LOG_WARNING, "animfs: %s: its raw.* cannot be read: %s\n",
			 (const char *)f->path.data, f->err.message);
	return make_of_clips(f);
}

/* ---- its skeleton ---- */

/* Nobody asks for this in a request: it is done for the owner of the folder, made by him here. */
static struct caller *folder_owner(const struct filled *f)
{
	struct caller *who;
	struct stat st;

	if (!f->fs->options->allow_other || fstat(f->fd, &st) != 0)
		return NULL;
	who = caller_new(st.st_uid, st.st_gid, NULL, 0);
	if (who)
		who->makes = true;
	return who;
}

static enum verdict save_skeleton(struct filled *f, struct snap *base, struct bytes text,
				  struct err *err)
{
	const struct tree tree = {base, f->name};
	struct draft *draft = draft_new();
	enum verdict verdict = VERDICT_REFUSED;
	struct buf copy = BUF_INIT;
	struct place place;

	buf_add(&copy, text.data, text.size);
	if (draft)
		draft_save_for(draft, folder_owner(f));
	if (!draft || copy.failed) {
		err_memory(err);
	} else if (!tree_walk(&tree, REST_FILE, &place)) {
		verdict = VERDICT_NOTHING;
	} else {
		draft_begin(draft, base, &place);
		draft_replace(draft, &copy);
		verdict =
			draft_commit(draft, DRAFT_DEMAND, f->file->source, f->parent, f->name, err);
	}
	buf_release(&copy);
	draft_free(draft);
	return verdict;
}

/* A text of it that says what is known without it comes to nothing. */
static void fill_skeleton(struct filled *f)
{
	for (size_t i = 0; i < f->texts.count; i++) {
		struct fill_text *text = &f->texts.list[i];
		struct snap *base;

		if (strcmp(text->path, REST_FILE) != 0 || !text->text.size)
			continue;
		base = source_get(f->file->source, f->parent, &text->err);
		if (!base || save_skeleton(f, base, text->text, &text->err) == VERDICT_REFUSED)
			text->fate = FILL_REFUSED;
		snap_put(base);
	}
}

/* ---- what is left ---- */

/* Moves what is not text into the folder's own extras; it may be on another filesystem. */
static void keep_extra(struct filled *f, int from, const char *name, int to)
{
	struct buf data = BUF_INIT;
	struct stat st;
	int fd;

	if (renameat(from, name, to, name) == 0 || errno != EXDEV ||
	    at_read(from, name, f->fs->options->store.max_file, &data, &st) != 0)
		return;
	if (at_open(to, name, O_WRONLY | O_CREAT | O_EXCL, st.st_mode & 0777, &fd) == 0) {
		if (fchown(fd, st.st_uid, st.st_gid) != 0)
			fchmod(fd, st.st_mode & S_IRWXU);
		if (at_write(fd, buf_bytes(&data)) == 0)
			unlinkat(from, name, 0);
		close(fd);
	}
	buf_release(&data);
}

static void keep_extras(struct filled *f, int folder, const char *path)
{
	struct dirent *entry;
	int fd, to;
	DIR *dir;

	if (at_walk(folder, "", O_RDONLY | O_DIRECTORY, &fd) != 0)
		return;
	dir = fdopendir(fd);
	while (dir && (entry = readdir(dir))) {
		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0 ||
		    state_folder(f->fs->state, STATE_EXTRA, path, true, &to) != 0)
			continue;
		keep_extra(f, folder, entry->d_name, to);
		close(to);
	}
	if (dir)
		closedir(dir);
	else
		close(fd);
}

static void put_clip_away(struct filled *f, struct clip_folder *clip)
{
	char *path;

	if (!clip->label[0] ||
	    asprintf(&path, "%s/%s", (const char *)f->path.data, clip->label) < 0)
		return; /* all of it is an extra */
	texts_put_away(f->fs, clip->fd, path, &clip->texts);
	keep_extras(f, clip->fd, path);
	free(path);
	unlinkat(f->fd, clip->name, AT_REMOVEDIR);
}

static void keep_refused(struct filled *f)
{
	texts_keep_refused(f->fs, f->fd, (const char *)f->path.data, &f->texts);
	for (size_t i = 0; i < f->clip_count; i++) {
		struct clip_folder *clip = &f->clips[i];
		char *path;

		if (!clip->label[0] ||
		    asprintf(&path, "%s/%s", (const char *)f->path.data, clip->label) < 0)
			continue;
		texts_keep_refused(f->fs, clip->fd, path, &clip->texts);
		free(path);
	}
}

/* The bytes of raw.* are the file's; a raw.* that was of no use stays. True when nothing does. */
static bool put_away(struct filled *f)
{
	char raw[NAME_MAX + 1];

	raw_name(f, raw);
	for (size_t i = 0; i < f->texts.count; i++) {
		if (strcmp(f->texts.names[i].path, raw) == 0)
			f->texts.list[i].fate = FILL_GENERATED;
	}
	texts_put_away(f->fs, f->fd, (const char *)f->path.data, &f->texts);
	for (size_t i = 0; i < f->clip_count; i++)
		put_clip_away(f, &f->clips[i]);
	keep_extras(f, f->fd, (const char *)f->path.data);
	return unlinkat(f->parent, f->aside, AT_REMOVEDIR) == 0;
}

/* Whoever is in the folder, or in that of a clip, stays there. */
static void adopt(struct filled *f)
{
	struct fs *fs = f->fs;

	f->file->node = f->node;
	nodes_lock(&fs->nodes);
	node_become_folder(fs, f->node, NODE_FILE, f->file);
	nodes_unlock(&fs->nodes);
	for (size_t i = 0; i < f->clip_count; i++) {
		struct node *clip = fs_child(fs, f->node, f->clips[i].name);

		if (clip && clip->kind == NODE_REAL && f->clips[i].label[0]) {
			fill_adopt_clip(fs, clip, f->file, &f->clips[i].texts);
			if (strcmp(f->clips[i].label, f->clips[i].name) != 0)
				clip_follow(fs, clip, f->clips[i].label);
		}
		if (clip)
			fs_reference(fs, clip, -1);
	}
	for (size_t i = 0; i < f->texts.count; i++)
		notify_entry(fs, f->node, f->texts.names[i].path);
	notify_listing(fs, f->node);
	f->file = NULL; /* it is the node's */
}

/* ---- all of it ---- */

static int find_names(struct filled *f, struct folder *parent)
{
	struct fs *fs = f->fs;
	struct node *above = NULL;
	int error;

	nodes_lock(&fs->nodes);
	error = node_path(f->node, &f->path);
	if (!error) {
		above = node_link(f->node)->parent;
		above->references++;
		strcpy(f->name, node_link(f->node)->name);
	}
	nodes_unlock(&fs->nodes);
	if (error)
		return error;
	if ((size_t)snprintf(f->aside, sizeof(f->aside), "%s%s", f->name, FILLED) >=
	    sizeof(f->aside))
		error = ENAMETOOLONG;
	if (!error)
		error = folder_open(&fs->folders, above, parent);
	fs_reference(fs, above, -1);
	return error;
}

/* `now`: the folder's name, which may be the one aside. */
static int begin(struct filled *f, const char *now)
{
	char *folder = strdup((const char *)f->path.data), *slash;
	int error = at_open(f->parent, now, O_RDONLY | O_DIRECTORY, 0, &f->fd);

	if (error || !folder) {
		free(folder);
		return error ? error : ENOMEM;
	}
	slash = strrchr(folder, '/');
	*(slash ? slash : folder) = '\0';
	f->file = file_new(f->fs->store, folder, f->name);
	free(folder);
	error = f->file ? read_all(f) : ENOMEM;
	return error ? error : find_attributes(f);
}

/*
 * Another file has come by the name and stays: the folder gets a name beside it that nothing else
 * has, where people find it.
 */
static void set_apart(struct filled *f)
{
	size_t above = f->path.size - 1 - strlen(f->name);
	char name[NAME_MAX + 1], *path = NULL;
	int error = EEXIST;

	for (unsigned i = 1; error == EEXIST && i < 1000; i++) {
		if ((size_t)snprintf(name, sizeof(name), "%s.~%u~", f->name, i) >= sizeof(name))
			error = ENAMETOOLONG;
		else
			error = at_rename(f->parent, f->aside, f->parent, name, RENAME_NOREPLACE);
	}
	if (asprintf(&path, "%.*s%s", (int)above, (const char *)f->path.data,
		     error ? f->aside : name) >= 0)
		journal_note(f->fs, path, "not an animation yet",
			     "another file has come by the name that it had");
	free(path);
	err_clear(&f->err);
}

/* Between the two names the file has none: who looks for it then waits. */
static int put_in_place(struct filled *f)
{
	struct attributes as = f->as;
	int error = at_rename(f->parent, f->name, f->parent, f->aside, RENAME_NOREPLACE);

	/* What is not the raw.* that came changed now: rsync is to see that. */
	if (f->base && !bytes_equal(buf_bytes(&f->base->bytes), buf_bytes(&f->made->bytes)))
		as.has_mtime = false;
	if (error || source_put_new(f->file->source, f->parent, f->base, f->made, &as, &f->err))
		return error;
	error = errno_of(&f->err);
	if (at_rename(f->parent, f->aside, f->parent, f->name, RENAME_NOREPLACE) == EEXIST) {
		set_apart(f);
		error = ENOENT;
	}
	return error;
}

static int become(struct filled *f)
{
	struct folders *folders = &f->fs->folders;
	int error;

	if (!make(f))
		return errno_of(&f->err);
	folders_hold_still(folders);
	error = put_in_place(f);
	if (!error) {
		fill_skeleton(f);
		adopt(f);
	}
	folders_let_move(folders);
	return error;
}

/* ---- what an earlier mount left ---- */

/* By the file's path, for what has no node. The caller closes `parent`, where it returns 0. */
static int find_path(struct filled *f, const char *path)
{
	const char *slash = strrchr(path, '/');
	char *folder = strndup(path, slash ? (size_t)(slash - path) : 0);
	int error = folder ? 0 : ENOMEM;

	buf_add(&f->path, path, strlen(path) + 1);
	snprintf(f->name, sizeof(f->name), "%s", slash ? slash + 1 : path);
	if ((size_t)snprintf(f->aside, sizeof(f->aside), "%s%s", f->name, FILLED) >=
	    sizeof(f->aside))
		error = ENAMETOOLONG;
	if (!error && f->path.failed)
		error = ENOMEM;
	if (!error)
		error = at_walk(f->fs->root, folder, O_PATH | O_DIRECTORY, &f->parent);
	free(folder);
	return error;
}

/* Is the file that has the name now what the folder aside came to? */
static bool is_made(struct filled *f)
{
	int fd, error = begin(f, f->aside);

	if (error || !make(f) ||
	    at_open(f->parent, f->name, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0, &fd) != 0)
		return false;
	error = at_compare(fd, buf_bytes(&f->made->bytes));
	close(fd);
	return !error;
}

/* Goes on where the last mount was killed; nothing has gone from the folder yet. */
static void finish_made(struct filled *f)
{
	fill_skeleton(f);
	keep_refused(f);
	filling_noted(f->fs, (const char *)f->path.data);
	if (put_away(f))
		filling_put_away(f->fs, (const char *)f->path.data);
}

/* A file that has the name was put there by the last mount, or by somebody else, and stays. */
static void recover_aside(struct filled *f)
{
	struct stat st;

	if (fstatat(f->parent, f->aside, &st, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISDIR(st.st_mode) ||
	    at_rename(f->parent, f->aside, f->parent, f->name, RENAME_NOREPLACE) != EEXIST ||
	    unlinkat(f->parent, f->aside, AT_REMOVEDIR) == 0)
		return;
	if (is_made(f))
		finish_made(f);
	else
		set_apart(f);
}

void fill_recover(struct fs *fs, const char *path)
{
	struct filled f = {.fs = fs, .fd = -1, .as = ATTRIBUTES_INIT};

	if (find_path(&f, path) == 0) {
		recover_aside(&f);
		close(f.parent);
	}
	release(&f);
}

/* Texts that were refused are kept already; those that are left came to something. */
static void note_fates(struct filled *f, const struct anim *blank)
{
	for (size_t i = 0; i < f->texts.count; i++) {
		if (fill_reads_of_file(f->texts.list[i].path))
			f->texts.list[i].fate = FILL_GENERATED;
	}
	for (size_t i = 0; i < f->clip_count; i++) {
		struct clip_folder *clip = &f->clips[i];

		fill_label(blank, f->name, clip->name, clip->label);
		for (size_t j = 0; j < clip->texts.count; j++) {
			if (fill_reads(clip->texts.list[j].path))
				clip->texts.list[j].fate = FILL_GENERATED;
		}
	}
}

/* True when there is nothing left to do. */
static bool recover_rest(struct filled *f)
{
	const struct codec *codec;
	struct anim *blank;
	bool probe, done = false;
	int error = at_open(f->parent, f->aside, O_RDONLY | O_DIRECTORY, 0, &f->fd);

	if (error || !store_claims(f->fs->store, f->name, &codec, &probe) || !codec)
		return error == ENOENT;
	blank = anim_blank(codec->format, NULL);
	if (blank && read_all(f) == 0) {
		note_fates(f, blank);
		done = put_away(f);
	}
	anim_free(blank);
	return done;
}

void fill_recover_rest(struct fs *fs, const char *path)
{
	struct filled f = {.fs = fs, .fd = -1, .as = ATTRIBUTES_INIT};

	if (find_path(&f, path) == 0) {
		if (recover_rest(&f))
			filling_put_away(fs, path);
		close(f.parent);
	}
	release(&f);
}

int fill_make_file(struct fs *fs, struct node *folder)
{
	struct filled f = {.fs = fs, .node = folder, .fd = -1, .as = ATTRIBUTES_INIT};
	struct folder parent = FOLDER_NONE;
	int error = find_names(&f, &parent);

	f.parent = parent.fd;
	if (!error)
		error = begin(&f, f.name);
	if (!error && !is_something(&f))
		error = ENODATA;
	if (!error)
		error = become(&f);
	if (!error) {
		keep_refused(&f);
		/* From here on the file has all of it. */
		filling_made(fs, folder, (const char *)f.path.data);
		if (put_away(&f))
			filling_put_away(fs, (const char *)f.path.data);
	}
	if (f.path.size)
		journal_note(fs, (const char *)f.path.data, "not an animation yet",
			     f.err.code ? f.err.message : NULL);
	release(&f);
	folder_close(&fs->folders, &parent);
	return error;
}
