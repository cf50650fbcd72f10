/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "export_folder.h"

#include "disk/dirfd.h"
#include "stamp.h"
#include "util/clock.h"
#include "util/composed.h"
#include "view/page.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <unistd.h>

#define TEMPORARY ".animfs-text~"
#define MODE_FILE 0666
#define MODE_FOLDER 0777

/* ---- files and folders ---- */

int export_put_file(int folder, const char *name, struct bytes text, const struct timespec *mtime)
{
	const struct timespec times[2] = {*mtime, *mtime};
	int fd, error = dirfd_make(folder, name, MODE_FILE, &fd);

	if (error)
		return error;
	error = dirfd_write(fd, text);
	if (!error && futimens(fd, times) != 0)
		error = errno;
	if (close(fd) != 0 && !error)
		error = errno;
	return error;
}

static int make_export_folder(int parent, const char *name, int *fd)
{
	if (mkdirat(parent, name, MODE_FOLDER) != 0 && errno != EEXIST) {
		*fd = -1;
		return errno;
	}
	return dirfd_open(parent, name, O_RDONLY | O_DIRECTORY, 0, fd);
}

void export_remove(int parent, const char *name)
{
	struct dirent *entry;
	DIR *dir;

	if (unlinkat(parent, name, 0) == 0 || dirfd_list(parent, name, &dir) != 0)
		return;
	while ((entry = dirfd_next(dir)))
		export_remove(dirfd(dir), entry->d_name);
	closedir(dir);
	unlinkat(parent, name, AT_REMOVEDIR);
}

int export_make_folders(int root, const char *path, int *fd)
{
	int error = dirfd_walk(root, path, O_RDONLY | O_DIRECTORY, fd);
	char name[NAME_MAX + 1];

	if (error != ENOENT)
		return error;
	*fd = fcntl(root, F_DUPFD_CLOEXEC, 0);
	error = *fd < 0 ? errno : 0;
	while (!error && *path) {
		int above = *fd;
		size_t length = strcspn(path, "/");

		snprintf(name, sizeof(name), "%.*s", (int)length, path);
		error = make_export_folder(above, name, fd);
		close(above);
		path += length + (path[length] == '/');
	}
	return error;
}

/* ---- parts ---- */

/* Does the lock's name still belong to the locked file? The last holder may have removed it. */
static bool is_lock(const struct export_part *part)
{
	struct stat locked, named;

	return fstat(part->lock, &locked) == 0 &&
	       fstatat(part->parent, part->lock_name, &named, AT_SYMLINK_NOFOLLOW) == 0 &&
	       locked.st_dev == named.st_dev && locked.st_ino == named.st_ino;
}

/*
 * On a filesystem without locks, continues without one. If interrupted, returns EINTR; the lock
 * file then stays, since another process holds it.
 */
static int wait_for_lock(const struct export_part *part, const struct progress *progress)
{
	while (flock(part->lock, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
		if (progress_stopped(progress))
			return EINTR;
		clock_sleep(10);
	}
	return 0;
}

static int export_folder_take_lock(struct export_part *part, const struct progress *progress)
{
	int error;

	for (;;) {
		error = dirfd_open(part->parent, part->lock_name, O_RDWR | O_CREAT, MODE_FILE,
				   &part->lock);
		if (error)
			return error;
		error = wait_for_lock(part, progress);
		if (!error && is_lock(part))
			return 0;
		close(part->lock);
		part->lock = -1;
		if (error)
			return error;
	}
}

int export_part_begin(struct export_part *part, int parent, const char *name,
		      const struct progress *progress)
{
	unsigned long long hash = XXH3_64bits(name, strlen(name));
	int error;

	*part = (struct export_part){.parent = parent, .lock = -1};
	snprintf(part->name, PART_NAME_SIZE, ".animfs-part-%016llx~", hash);
	snprintf(part->lock_name, PART_NAME_SIZE, ".animfs-lock-%016llx~", hash);
	error = export_folder_take_lock(part, progress);
	if (!error)
		export_remove(parent, part->name);
	return error;
}

int export_part_folder(const struct export_part *part, int *fd)
{
	return make_export_folder(part->parent, part->name, fd);
}

void export_part_end(struct export_part *part)
{
	if (part->lock < 0)
		return;
	export_remove(part->parent, part->name);
	unlinkat(part->parent, part->lock_name, 0);
	close(part->lock);
}

/* ---- the texts ---- */

struct writing {
	struct folder_export *x;
	bool fresh;       /* the folder is new */
	struct stamp old; /* stamp of the existing folder */
	struct stamp stamp;
	struct buf text;    /* the last rendered text, */
	struct place shown; /* and the view that the text is of */
	struct buf there;
	struct err *err;
};

/* A folder of the tree, with its path, which is empty or ends in '/'. */
struct level {
	struct writing *w;
	int fd; /* descriptor of the folder; -1: it does not exist */
	char path[PATH_MAX];
};

typedef bool at_text(const struct level *l, const char *name, const char *path,
		     const struct place *place);

static bool fail_writing(struct writing *w, int error, const char *path)
{
	return err_system(w->err, error, path);
}

/*
 * Was the text rendered already? Frames without motion have the same text, so it is rendered
 * once.
 */
static bool export_folder_is_rendered(const struct writing *w, const struct place *place)
{
	return w->shown.view == place->view && place->view->place == VIEW_OF_FRAME &&
	       w->shown.clip == place->clip && tree_alike(&w->x->tree, place);
}

/* Makes a page of a site use the shared player; other texts stay unchanged. */
static bool share_player(struct writing *w, const struct place *place)
{
	const unsigned depth = w->x->site_depth + (place->view->place == VIEW_OF_CLIP);
	struct buf shared = BUF_INIT;

	if (w->x->site_depth == 0 || strcmp(place->view->name, "html") != 0)
		return true;
	if (!page_shared(buf_bytes(&w->text), depth, &shared) || shared.failed) {
		buf_release(&shared);
		return err_memory(w->err);
	}
	buf_release(&w->text);
	w->text = shared;
	return true;
}

static bool render_text(struct writing *w, const char *path, const struct place *place)
{
	int error;

	if (export_folder_is_rendered(w, place))
		return true;
	w->shown = *place;
	buf_clear(&w->text);
	error = tree_render(&w->x->tree, place, &w->text);
	if (!error)
		return share_player(w, place);
	buf_release(&w->text);
	return fail_writing(w, error, path);
}

static bool read_there(struct writing *w, const struct level *l, const char *name)
{
	struct stat st;

	buf_clear(&w->there);
	return l->fd >= 0 && dirfd_read(l->fd, name, SIZE_MAX, &w->there, &st) == 0;
}

/* Is the existing text the exported one, or equal to the new one? */
static bool export_folder_check_text(const struct level *l, const char *name, const char *path,
				     const struct place *place)
{
	struct writing *w = l->w;
	const struct stamp_text *noted = stamp_find(&w->old, path);

	if (!read_there(w, l, name))
		return true;
	if (noted && XXH128_isEqual(noted->text, text_hash_of(buf_bytes(&w->there))))
		return true;
	if (!render_text(w, path, place))
		return false;
	return bytes_equal(buf_bytes(&w->text), buf_bytes(&w->there)) ||
	       err_set(w->err, ERR_CONFLICT,
		       "%s: was edited since it was exported: import it, or export with --force",
		       path);
}

static int replace_text(const struct level *l, const char *name)
{
	struct writing *w = l->w;
	int error;

	if (w->fresh)
		return export_put_file(l->fd, name, buf_bytes(&w->text), &w->x->mtime);
	if (read_there(w, l, name) && bytes_equal(buf_bytes(&w->text), buf_bytes(&w->there)))
		return 0;
	error = export_put_file(l->fd, TEMPORARY, buf_bytes(&w->text), &w->x->mtime);
	if (!error && renameat(l->fd, TEMPORARY, l->fd, name) != 0)
		error = errno;
	if (error)
		unlinkat(l->fd, TEMPORARY, 0);
	return error;
}

/*
 * Notes the version of an editable text, since it may be imported after the file has changed. If
 * the first one is known already, all are.
 */
static bool export_folder_note_text(struct writing *w, const char *path, const struct place *place)
{
	struct folder_export *x = w->x;
	struct bytes text = buf_bytes(&w->text);

	if (!x->known || !place->view->parse)
		return true;
	if (digests_of_text(x->known, path, text) != x->number)
		return digests_note_text(x->known, path, text, x->number) || err_memory(w->err);
	x->known = NULL;
	return true;
}

static bool export_folder_write_text(const struct level *l, const char *name, const char *path,
				     const struct place *place)
{
	struct writing *w = l->w;
	int error;

	if (progress_stopped(w->x->progress))
		return err_system(w->err, EINTR, path);
	if (!render_text(w, path, place))
		return false;
	error = replace_text(l, name);
	if (error)
		return fail_writing(w, error, path);
	w->x->bytes += w->text.size;
	return export_folder_note_text(w, path, place) &&
	       (stamp_add(&w->stamp, path, text_hash_of(buf_bytes(&w->text))) ||
		err_memory(w->err));
}

/* ---- all of them ---- */

struct visit {
	struct level level;
	at_text *each;
	bool make; /* make missing folders */
};

static bool visit_place(void *closure, const char *name, const struct place *place);

static bool visit_names(struct visit *v, const struct place *place)
{
	struct writing *w = v->level.w;

	if (v->make && !w->fresh)
		unlinkat(v->level.fd, TEMPORARY, 0); /* remove what a killed export left */
	return tree_list(&w->x->tree, place, w->x->listed, visit_place, v) || err_memory(w->err);
}

static bool visit_folder(const struct visit *above, const char *path, const char *name,
			 const struct place *place)
{
	struct visit v = {.each = above->each, .make = above->make};
	struct writing *w = above->level.w;
	int error = 0;
	bool fine;

	v.level.w = w;
	v.level.fd = -1;
	if ((size_t)snprintf(v.level.path, sizeof(v.level.path), "%s/", path) >=
	    sizeof(v.level.path))
		return fail_writing(w, ENAMETOOLONG, path);
	if (v.make)
		error = make_export_folder(above->level.fd, name, &v.level.fd);
	else if (above->level.fd >= 0)
		(void)dirfd_open(above->level.fd, name, O_RDONLY | O_DIRECTORY, 0, &v.level.fd);
	fine = error ? fail_writing(w, error, path) : visit_names(&v, place);
	if (v.level.fd >= 0)
		close(v.level.fd);
	return fine;
}

static bool visit_place(void *closure, const char *name, const struct place *place)
{
	const struct visit *v = closure;
	char path[PATH_MAX];

	if ((size_t)snprintf(path, sizeof(path), "%s%s", v->level.path, name) >= sizeof(path))
		return fail_writing(v->level.w, ENAMETOOLONG, name);
	return place->kind == PLACE_VIEW ? v->each(&v->level, name, path, place)
					 : visit_folder(v, path, name, place);
}

static bool visit_all(struct writing *w, int fd, at_text *each, bool make)
{
	const struct place top = {PLACE_FILE, NULL, 0, 0, 0};
	struct visit v = {.level = {.w = w, .fd = fd, .path = ""}, .each = each, .make = make};

	return visit_names(&v, &top);
}

static bool put_stamp(struct writing *w, int fd)
{
	int error;

	stamp_sort(&w->stamp);
	w->stamp.file = w->x->tree.file_name;
	w->stamp.made_of = w->x->made_of;
	w->stamp.version = digest_of_file(buf_bytes(&w->x->tree.version->bytes));
	error = stamp_write(fd, &w->stamp);
	return !error || fail_writing(w, error, STAMP_FILE);
}

/* ---- a new folder ---- */

static bool export_folder_write_new(struct writing *w, const struct export_part *part)
{
	struct folder_export *x = w->x;
	int fd, error = export_part_folder(part, &fd);
	bool fine = !error ? visit_all(w, fd, export_folder_write_text, true) && put_stamp(w, fd)
			   : fail_writing(w, error, x->name);

	if (fine && renameat(x->parent, part->name, x->parent, x->name) != 0)
		fine = fail_writing(w, errno, x->name);
	if (fd >= 0)
		close(fd);
	return fine;
}

/* ---- an existing folder ---- */

/*
 * Opens the folder that contains a path, which may be gone (-1); `name` is the last part of the
 * path.
 */
static int export_folder_open_above(int fd, const char *path, const char **name)
{
	const char *slash = strrchr(path, '/');
	char *above = strndup(path, slash ? (size_t)(slash - path) : 0);
	int opened = -1;

	*name = slash ? slash + 1 : path;
	if (above && dirfd_walk(fd, above, O_PATH | O_DIRECTORY, &opened) != 0)
		opened = -1;
	free(above);
	return opened;
}

/* Removes the folders above a removed text that are empty now. */
static void remove_above(int fd, const char *path)
{
	char above[PATH_MAX];
	char *slash;

	snprintf(above, sizeof(above), "%s", path);
	while ((slash = strrchr(above, '/'))) {
		*slash = '\0';
		if (unlinkat(fd, above, AT_REMOVEDIR) != 0)
			break;
	}
}

/* Removes a text of an earlier export whose clip or bone is gone. */
static void remove_text(struct writing *w, int fd, const struct stamp_text *gone)
{
	struct level l = {.w = w};
	const char *name;

	l.fd = export_folder_open_above(fd, gone->path, &name);
	if (read_there(w, &l, name) &&
	    XXH128_isEqual(gone->text, text_hash_of(buf_bytes(&w->there)))) {
		unlinkat(l.fd, name, 0);
		remove_above(fd, gone->path);
	}
	if (l.fd >= 0)
		close(l.fd);
}

static void remove_old_texts(struct writing *w, int fd)
{
	for (size_t i = 0; i < w->old.count; i++) {
		if (!stamp_find(&w->stamp, w->old.texts[i].path))
			remove_text(w, fd, &w->old.texts[i]);
	}
}

static bool write_over(struct writing *w, int fd)
{
	int error = stamp_read(fd, w->x->tree.file_name, &w->old);

	if (error)
		return fail_writing(w, error, STAMP_FILE);
	if ((!w->x->force && !visit_all(w, fd, export_folder_check_text, false)) ||
	    !visit_all(w, fd, export_folder_write_text, true))
		return false;
	stamp_sort(&w->stamp);
	remove_old_texts(w, fd);
	return put_stamp(w, fd);
}

/*
 * Where the disk takes two names for the same, by their case or the form of their characters, the
 * folder is that of the file that came first.
 */
static bool check_same_name(struct writing *w, int fd)
{
	const char *name = w->x->tree.file_name;
	char *other = stamp_file_name(fd), others[NAME_MAX + 1], own[NAME_MAX + 1], form[600] = "";
	bool fine = !other || strcmp(other, name) == 0 ||
		    (strcasecmp(other, name) != 0 && !composed_same(other, name));

	if (!fine) {
		composed_points(other, others, sizeof(others));
		composed_points(name, own, sizeof(own));
		if (strcasecmp(other, name) != 0)
			snprintf(form, sizeof(form), " (it is written %s and not %s)", others, own);
		err_set(w->err, ERR_CONFLICT,
			"the folder of this name is that of \"%s\"%s, which this file system "
			"takes for the same name",
			other, form);
		err_accept(w->err, "another name for one of them, or a DIR on a filesystem that "
				   "keeps the two names apart");
	}
	free(other);
	return fine;
}

static bool write_folder(struct writing *w, const struct export_part *part)
{
	const struct folder_export *x = w->x;
	int fd, error = dirfd_open(x->parent, x->name, O_RDONLY | O_DIRECTORY, 0, &fd);
	bool fine;

	w->fresh = error == ENOENT;
	if (w->fresh)
		fine = export_folder_write_new(w, part);
	else
		fine = error ? fail_writing(w, error, x->name)
			     : check_same_name(w, fd) && write_over(w, fd);
	if (fd >= 0)
		close(fd);
	return fine;
}

bool export_folder(struct folder_export *x, struct err *err)
{
	struct writing w = {.x = x,
			    .old = STAMP_INIT,
			    .stamp = STAMP_INIT,
			    .text = BUF_INIT,
			    .there = BUF_INIT,
			    .err = err};
	struct export_part part;
	int error = export_part_begin(&part, x->parent, x->name, x->progress);
	bool fine = error ? fail_writing(&w, error, x->name) : write_folder(&w, &part);

	export_part_end(&part);
	stamp_release(&w.old);
	stamp_release(&w.stamp);
	buf_release(&w.text);
	buf_release(&w.there);
	return fine;
}

bool export_is_current(int parent, const char *name, const char *file_name, const char *made_of)
{
	struct stamp stamp = STAMP_INIT;
	bool current = false;
	int fd;

	if (dirfd_open(parent, name, O_PATH | O_DIRECTORY, 0, &fd) != 0)
		return false;
	if (stamp_read(fd, file_name, &stamp) == 0)
		current = stamp.made_of && strcmp(stamp.made_of, made_of) == 0;
	close(fd);
	stamp_release(&stamp);
	return current;
}
