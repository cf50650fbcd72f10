/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "staging_file.h"
#include "access.h"
#include "at.h"
#include "diagnostics.h"
#include "save.h"
#include "store/create.h"
#include "structure.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FILE_MODE 0666 /* of a folder's mode: its x is not a file's */

static struct where where_of(const struct staged_file *f, const struct turn *turn)
{
	return (struct where){f->parent, f->folder, f->name, turn};
}

/* ---- what is in it ---- */

int staged_file_name(struct staged_file *f, char *path)
{
	const char *slash = path ? strrchr(path, '/') : NULL;

	f->path = path;
	f->folder = path ? strndup(path, slash ? (size_t)(slash - path) : 0) : NULL;
	if (!f->folder)
		return ENOMEM;
	snprintf(f->name, sizeof(f->name), "%s", slash ? slash + 1 : path);
	if ((size_t)snprintf(f->aside, sizeof(f->aside), "%s%s", f->name, ASIDE) >=
	    sizeof(f->aside))
		return ENAMETOOLONG;
	return 0;
}

static bool has_texts(const struct texts *texts)
{
	for (size_t i = 0; i < texts->count; i++) {
		if (fill_reads(texts->list[i].path))
			return true;
	}
	return false;
}

static bool read_clip(struct staged_file *f, const char *name)
{
	struct clip_folder *clip = &f->clips[f->clip_count];
	int error = at_open(f->fd, name, O_RDONLY | O_DIRECTORY, 0, &clip->fd);

	if (error)
		return error == ENOENT || err_system(&f->err, error, name);
	f->clip_count++;
	clip->name = strdup(name);
	if (!clip->name)
		return err_memory(&f->err);
	return texts_read(f->v, clip->fd, fill_reads, &clip->texts, &f->err);
}

static bool read_clips(struct staged_file *f)
{
	f->clips = calloc(f->texts.count + 1, sizeof(*f->clips));
	if (!f->clips)
		return err_memory(&f->err);
	for (size_t i = 0; i < f->texts.count; i++) {
		const struct text_name *name = &f->texts.names[i];

		if (S_ISDIR(name->st.st_mode) && name->path[0] != '.' && !strchr(name->path, '/') &&
		    !read_clip(f, name->path))
			return false;
	}
	return true;
}

/* The name of the file's own bytes in it; "" where there can be none. */
static void raw_name(const struct staged_file *f, char out[NAME_MAX + 1])
{
	const struct codec *codec;
	bool probe;

	out[0] = '\0';
	if (store_claims(f->v->store, f->name, &codec, &probe) && codec)
		tree_raw_name(f->name, codec->format, out);
}

/* What is no regular file is not it. */
static bool read_raw(struct staged_file *f)
{
	char name[NAME_MAX + 1];
	struct stat st;
	int error;

	raw_name(f, name);
	if (!name[0])
		return true;
	error = at_read(f->fd, name, f->v->options->store.max_file, &f->raw, &st);
	if (!error)
		return true;
	buf_clear(&f->raw);
	return error == ENOENT || error == EISDIR || error == EINVAL || error == ELOOP ||
	       err_system(&f->err, error, name);
}

bool staged_file_is_something(const struct staged_file *f)
{
	bool some = f->raw.size > 0;

	for (size_t i = 0; i < f->clip_count && !some; i++)
		some = has_texts(&f->clips[i].texts);
	return some;
}

void staged_file_release(struct staged_file *f)
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
	free(f->path);
	free(f->folder);
	if (f->fd >= 0)
		close(f->fd);
	version_put(f->base);
	version_put(f->made);
	vfs_lock(f->v);
	animation_put(f->v, f->animation);
	vfs_unlock(f->v);
}

/* ---- whose the file is ---- */

static enum say given_by(const struct staged_file *f, const struct identity *raw,
			 enum staging_given what)
{
	enum say who;

	if (!f->staging)
		return SAY_NOBODY;
	vfs_lock(f->v);
	who = gifts_say(&f->staging->gifts, raw, what);
	vfs_unlock(f->v);
	return who;
}

/* raw.*, and what it is; *fd is -1 where there is none that counts. */
static int open_raw(const struct staged_file *f, struct identity *id, int *fd)
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

static void take_rights(struct attributes *to, const struct attributes *from)
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
static void choose_rights(struct attributes *as, const struct attributes *raw, enum say who)
{
	mode_t both = let_in(as->mode) & raw->mode;

	as->mode &= FILE_MODE;
	if (who == SAY_FOLDER)
		return;
	if (who == SAY_RAW || raw->acl.size)
		take_rights(as, raw);
	if (who == SAY_NOBODY)
		as->mode = both;
}

/* The extended attributes of both: those of raw.* are given after the folder's. */
static void choose_attributes(struct staged_file *f, const struct attributes *raw,
			      const struct identity *id)
{
	if (given_by(f, id, GIVEN_OWNER) == SAY_RAW)
		f->as.uid = raw->uid;
	if (given_by(f, id, GIVEN_GROUP) == SAY_RAW)
		f->as.gid = raw->gid;
	choose_rights(&f->as, raw, given_by(f, id, GIVEN_MODE));
	if (given_by(f, id, GIVEN_TIME) != SAY_FOLDER)
		f->as.mtime = raw->mtime;
	f->as.has_mtime = true;
	buf_add(&f->as.xattrs, raw->xattrs.data, raw->xattrs.size);
}

static int find_attributes(struct staged_file *f)
{
	struct attributes raw = ATTRIBUTES_INIT;
	struct identity id;
	int fd, error = attributes_read(f->fd, &f->as);

	if (error)
		return error;
	if (given_by(f, NULL, GIVEN_MODE) == SAY_FOLDER)
		acl_for_file(&f->as.acl);
	f->as.has_mtime = given_by(f, NULL, GIVEN_TIME) == SAY_FOLDER;
	error = open_raw(f, &id, &fd);
	if (fd < 0) {
		f->as.mode &= FILE_MODE;
		return error;
	}
	if (!error)
		error = attributes_read(fd, &raw);
	if (!error)
		choose_attributes(f, &raw, &id);
	close(fd);
	attributes_release(&raw);
	return error ? error : f->as.acl.failed || f->as.xattrs.failed ? ENOMEM : 0;
}

int staged_file_read(struct staged_file *f, const char *now)
{
	int error = at_open(f->parent, now, O_RDONLY | O_DIRECTORY, 0, &f->fd);

	if (error)
		return error;
	f->animation = animation_new(f->v, false);
	if (!f->animation)
		return ENOMEM;
	if (!texts_read(f->v, f->fd, fill_reads_of_file, &f->texts, &f->err) || !read_clips(f) ||
	    !read_raw(f))
		return errno_of(&f->err);
	return find_attributes(f);
}

/* ---- what it says ---- */

/* A clip that cannot be made is an extra, and the reason for what fails later. */
static bool fill_clips(struct staged_file *f, struct fill *fill)
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
	return true;
}

static bool fill_all(struct staged_file *f, struct fill *fill)
{
	return fill_clips(f, fill) && fill_file(fill, f->texts.list, f->texts.count, &f->err);
}

/* The edits together cannot be stored: the file stays what raw.* says. */
static void refuse_edits(struct staged_file *f, const struct err *err)
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

static bool is_trouble(const struct err *err)
{
	return err->code == ERR_MEMORY || err->code == ERR_SYSTEM;
}

static bool store_edits(struct staged_file *f, const struct anim *edited)
{
	const struct where where = where_of(f, NULL);
	struct err err = {.code = ERR_NONE};

	f->made = source_edited(f->animation->source, &where, f->base, edited, &err);
	if (!f->made && is_trouble(&err)) {
		f->err = err;
		return false;
	}
	if (!f->made)
		refuse_edits(f, &err);
	return true;
}

static bool edit_raw(struct staged_file *f)
{
	struct fill *fill = fill_new(f->base->anim, f->name);
	bool fine;

	if (!fill)
		return err_memory(&f->err);
	fine = fill_all(f, fill);
	if (fine && fill_model(fill) != f->base->anim)
		fine = store_edits(f, fill_model(fill));
	if (fine && !f->made)
		f->made = version_get(f->base);
	fill_free(fill);
	return fine;
}

/* False where raw.* is no animation. */
static bool make_of_raw(struct staged_file *f)
{
	const struct where where = where_of(f, NULL);
	struct err err = {.code = ERR_NONE};

	f->base = source_decode(f->animation->source, &where, buf_bytes(&f->raw), &err);
	if (f->base)
		return edit_raw(f);
	f->err = err;
	return false;
}

static bool make_of_clips(struct staged_file *f)
{
	const struct where where = where_of(f, NULL);
	const struct codec *codec;
	struct fill *fill = NULL;
	struct anim *blank;
	bool probe;

	if (!store_claims(f->v->store, f->name, &codec, &probe) || !codec)
		return false;
	blank = anim_blank(codec->format, NULL);
	if (blank)
		fill = fill_new(blank, f->name);
	if (!fill)
		err_memory(&f->err);
	else if (fill_all(f, fill) && fill_model(fill)->clip_count > 0)
		f->made =
			source_made(f->animation->source, &where, codec, fill_model(fill), &f->err);
	fill_free(fill);
	anim_free(blank);
	return f->made != NULL;
}

bool staged_file_make(struct staged_file *f)
{
	if (f->raw.size && make_of_raw(f))
		return true;
	if (is_trouble(&f->err))
		return false;
	if (f->raw.size)
		log_warning("%s: its raw.* cannot be read: %s", f->path, f->err.message);
	return make_of_clips(f);
}

/* ---- its skeleton ---- */

/* No request asks for this: it is done for the owner of the folder, made by him here. */
static struct caller *folder_owner(const struct staged_file *f)
{
	struct caller *who;
	struct stat st;

	if (!f->v->options->allow_other || fstat(f->fd, &st) != 0)
		return NULL;
	who = caller_new(st.st_uid, st.st_gid, NULL, 0);
	if (who)
		who->makes = true;
	return who;
}

/* A draft that nobody else knows. */
static enum verdict save_as(struct staged_file *f, struct version *base, const struct place *place,
			    struct text *text, struct err *err)
{
	const struct where where = where_of(f, NULL);
	struct draft *draft = draft_new(base, place, NULL, NULL);
	enum verdict verdict = VERDICT_SAME;
	struct attempt attempt;

	if (!draft) {
		text_put(text);
		err_memory(err);
		return VERDICT_REFUSED;
	}
	draft_save_for(draft, folder_owner(f));
	draft_replace(draft, text);
	if (draft_attempt(draft, DRAFT_SAVE, &attempt)) {
		verdict = attempt_commit(&attempt, f->animation->source, &where, err);
		draft_conclude(draft, &attempt, verdict);
		attempt_release(&attempt);
	}
	draft_free(draft);
	return verdict;
}

/* A text of it that says what is known without it comes to nothing. */
static bool save_skeleton(struct staged_file *f, struct bytes said, struct err *err)
{
	const struct where where = where_of(f, NULL);
	struct version *base = source_get(f->animation->source, &where, err);
	enum verdict verdict = VERDICT_SAME;
	struct buf copy = BUF_INIT;
	struct text *text;
	struct place place;

	if (!base)
		return false;
	buf_add(&copy, said.data, said.size);
	text = text_new(&copy);
	if (!text) {
		err_memory(err);
		verdict = VERDICT_REFUSED;
	} else if (tree_walk(&(struct tree){base, f->name}, REST_FILE, &place)) {
		verdict = save_as(f, base, &place, text, err);
	} else {
		text_put(text);
	}
	version_put(base);
	return verdict != VERDICT_REFUSED;
}

void staged_file_save_skeleton(struct staged_file *f)
{
	for (size_t i = 0; i < f->texts.count; i++) {
		struct fill_text *text = &f->texts.list[i];

		if (strcmp(text->path, REST_FILE) == 0 && text->text.size &&
		    !save_skeleton(f, text->text, &text->err))
			text->fate = FILL_REFUSED;
	}
}

/* ---- what is left ---- */

/* A copy, from another filesystem. */
static void copy_extra(const struct staged_file *f, int from, const char *name, int to)
{
	struct buf data = BUF_INIT;
	struct stat st;
	int fd, error = at_read(from, name, f->v->options->store.max_file, &data, &st);

	if (!error)
		error = at_open(to, name, O_WRONLY | O_CREAT | O_EXCL, st.st_mode & 0777, &fd);
	if (!error) {
		if (fchown(fd, st.st_uid, st.st_gid) != 0)
			fchmod(fd, st.st_mode & S_IRWXU);
		error = at_write(fd, buf_bytes(&data));
		close(fd);
		unlinkat(error ? to : from, name, 0);
	}
	buf_release(&data);
}

/* Moves what is no text into the upper folder of that path. */
static void keep_extras(const struct staged_file *f, int folder, const char *path)
{
	struct dirent *entry;
	int fd, to;
	DIR *dir;

	if (at_walk(folder, "", O_RDONLY | O_DIRECTORY, &fd) != 0)
		return;
	dir = fdopendir(fd);
	while (dir && (entry = readdir(dir))) {
		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0 ||
		    state_folder(f->v->state, STATE_EXTRA, path, true, &to) != 0)
			continue;
		if (renameat(folder, entry->d_name, to, entry->d_name) != 0 && errno == EXDEV)
			copy_extra(f, folder, entry->d_name, to);
		close(to);
	}
	if (dir)
		closedir(dir);
	else
		close(fd);
}

/* The path of the clip that the folder came to; NULL: to none, and all of it is an extra. */
static char *clip_path(const struct staged_file *f, const struct clip_folder *clip)
{
	char *path;

	return clip->label[0] && asprintf(&path, "%s/%s", f->path, clip->label) >= 0 ? path : NULL;
}

void staged_file_keep_refused(struct staged_file *f)
{
	texts_keep_refused(f->v, f->fd, f->path, &f->texts);
	for (size_t i = 0; i < f->clip_count; i++) {
		struct clip_folder *clip = &f->clips[i];
		char *path = clip_path(f, clip);

		if (path)
			texts_keep_refused(f->v, clip->fd, path, &clip->texts);
		free(path);
	}
}

static void put_clip_away(struct staged_file *f, struct clip_folder *clip)
{
	char *path = clip_path(f, clip);

	if (!path)
		return;
	texts_put_away(clip->fd, &clip->texts);
	keep_extras(f, clip->fd, path);
	free(path);
	unlinkat(f->fd, clip->name, AT_REMOVEDIR);
}

/* The bytes of raw.* are the file's; a raw.* that was of no use stays. */
bool staged_file_put_away(struct staged_file *f)
{
	char raw[NAME_MAX + 1];

	raw_name(f, raw);
	for (size_t i = 0; i < f->texts.count; i++) {
		if (strcmp(f->texts.names[i].path, raw) == 0)
			f->texts.list[i].fate = FILL_GENERATED;
	}
	texts_put_away(f->fd, &f->texts);
	for (size_t i = 0; i < f->clip_count; i++)
		put_clip_away(f, &f->clips[i]);
	keep_extras(f, f->fd, f->path);
	return unlinkat(f->parent, f->aside, AT_REMOVEDIR) == 0;
}

void staged_file_set_apart(struct staged_file *f)
{
	char name[NAME_MAX + 1], *path = NULL;
	int error = EEXIST;

	for (unsigned i = 1; error == EEXIST && i < 1000; i++) {
		if ((size_t)snprintf(name, sizeof(name), "%s.~%u~", f->name, i) >= sizeof(name))
			error = ENAMETOOLONG;
		else
			error = at_rename(f->parent, f->aside, f->parent, name, RENAME_NOREPLACE);
	}
	if (asprintf(&path, "%s%s%s", f->folder, f->folder[0] ? "/" : "",
		     error ? f->aside : name) >= 0)
		diagnose(f->v, path, "not an animation yet",
			 "another file has come by the name that it had");
	free(path);
	err_clear(&f->err);
}
