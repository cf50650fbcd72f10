/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "overlay.h"

#include "disk/dirfd.h"
#include "model/names.h"
#include "where.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

/* ---- the overlay ---- */

#define STATE_OVERLAY "overlay"
#define MODS "Mods"
#define FOLDER (O_PATH | O_DIRECTORY)

struct overlay {
	struct state *state;
	char *shown; /* path of OVERLAY as the user named it; NULL: it is in the state directory */
	char *name;  /* name of OVERLAY in the folder `above` */
	int above;
};

/* Sets OVERLAY's parent folder and its name there. Links in the user's own path are followed. */
static bool locate(struct overlay *o, const char *dir, struct err *err)
{
	char *path = realpath(dir, NULL), *slash;
	int error;

	if (!path && errno == ENOENT)
		path = strdup(dir);
	if (!path)
		return err_system(err, errno, dir);
	for (size_t length = strlen(path); length > 1 && path[length - 1] == '/'; length--)
		path[length - 1] = '\0';
	slash = strrchr(path, '/');
	o->shown = strdup(dir);
	o->name = strdup(slash ? slash + 1 : path);
	if (slash)
		slash[slash == path] = '\0';
	o->above = open(slash ? path : ".", FOLDER | O_CLOEXEC);
	error = o->above < 0 ? errno : !o->shown || !o->name ? ENOMEM : 0;
	if (!error && !dirfd_is_name(o->name))
		error = EINVAL;
	free(path);
	return !error || err_system(err, error, dir);
}

/* Returns the last part of a path. */
static const char *last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static int make_and_open(int dir, const char *name, bool make, int *fd)
{
	struct stat above;

	/* A mount runs with umask 0, so use the mode of the folder above. */
	if (make && fstat(dir, &above))
		return errno;
	if (make && mkdirat(dir, name, above.st_mode & 0777) && errno != EEXIST)
		return errno;
	return dirfd_open(dir, name, FOLDER, 0, fd);
}

/* Opens OVERLAY with O_PATH. 0 or an errno; ENOENT if it does not exist and !make. */
static int overlay_open(const struct overlay *o, bool make, int *fd)
{
	int state, error;

	if (o->above >= 0)
		return make_and_open(o->above, o->name, make, fd);
	error = make ? state_make(o->state, &state) : state_open(o->state, &state);
	if (error)
		return error;
	error = make_and_open(state, STATE_OVERLAY, make, fd);
	close(state);
	return error;
}

static int open_for_state(void *overlay, int *fd)
{
	return overlay_open(overlay, false, fd);
}

struct overlay *overlay_new(struct state *state, const char *dir, struct err *err)
{
	struct overlay *o = calloc(1, sizeof(*o));

	if (!o) {
		err_memory(err);
		return NULL;
	}
	o->state = state;
	o->above = -1;
	if (!dir || locate(o, dir, err)) {
		state_overlay(state, open_for_state, o);
		return o;
	}
	overlay_free(o);
	return NULL;
}

void overlay_free(struct overlay *o)
{
	if (!o)
		return;
	state_overlay(o->state, NULL, NULL);
	if (o->above >= 0)
		close(o->above);
	free(o->shown);
	free(o->name);
	free(o);
}

int overlay_above(const struct overlay *o)
{
	return o->above;
}

/* ---- the game ---- */

static bool is_one_of(const char *name, const char *const *names)
{
	for (; *names; names++) {
		if (strcasecmp(name, *names) == 0)
			return true;
	}
	return false;
}

/* Is this the folder of a game? It must contain the exe and Root.cpk. */
static bool is_game(int folder)
{
	static const char *const programs[] = {"EDF41.exe", "EDF5.exe", "EDF6.exe", NULL};
	bool has_program = false, has_root = false;
	struct dirent *entry;
	DIR *dir;

	if (dirfd_list(folder, "", &dir))
		return false;
	while ((entry = dirfd_next(dir))) {
		has_program |= is_one_of(entry->d_name, programs);
		has_root |= strcasecmp(entry->d_name, "Root.cpk") == 0;
	}
	closedir(dir);
	return has_program && has_root;
}

const char *const game_archives[] = {"Root.cpk", "Chunk01.cpk", "Chunk02.cpk", "DX11.cpk", NULL};

void archive_place_settle(struct archive_place *a, const struct overlay *o)
{
	a->is_game =
		o->above < 0 && is_one_of(last_part(a->path), game_archives) && is_game(a->dir);
}

/* Is the part the name of a Windows device, which no file can have, whatever its extension? */
static bool is_device(const char *part, size_t size)
{
	static const char *const devices[] = {"con", "prn", "aux", "nul", NULL};
	const char *dot = memchr(part, '.', size);
	char stem[8] = "";

	if (dot)
		size = (size_t)(dot - part);
	while (size > 0 && part[size - 1] == ' ')
		size--;
	if (size < 3 || size > 4)
		return false;
	memcpy(stem, part, size);
	return is_one_of(stem, devices) ||
	       (size == 4 && stem[3] >= '1' && stem[3] <= '9' &&
		(strncasecmp(stem, "com", 3) == 0 || strncasecmp(stem, "lpt", 3) == 0));
}

/* Returns the reason why Windows cannot have a file or folder of this name; NULL: it can. */
static const char *fault_of_part(const char *part, size_t size)
{
	if (size == 0 || (size == 1 && *part == '.') || (size == 2 && memcmp(part, "..", 2) == 0))
		return "a part of its path is no name";
	if (size > NAME_LIMIT)
		return "a part of its path is too long";
	for (size_t i = 0; i < size; i++) {
		if ((unsigned char)part[i] < ' ' || strchr("<>:\"|?*\\/\x7f", part[i]))
			return "a part of its path has a character that no file on Windows can "
			       "have";
	}
	if (part[size - 1] == '.' || part[size - 1] == ' ')
		return "a part of its path ends in a dot or space, which no file on Windows can";
	return is_device(part, size) ? "a part of its path is the name of a device on Windows"
				     : NULL;
}

/* Folders of Mods that EDFModLoader uses for other things. */
static const char *const reserved[] = {"plugins", "patches", NULL};

#define PARTS_MAX 32
/* The longest path in an archive that, put below Mods, Windows opens. */
#define GAME_PATH_MAX 250

/*
 * Returns the reason why the game cannot open the path, or does not read it from Mods; NULL: it
 * does.
 */
static const char *fault_of_path(const struct member *m)
{
	const char *at = m->folder, *fault = NULL;
	size_t size = strcspn(at, "/");
	char first[16] = "";
	bool more = *at;

	if (strlen(m->folder) + strlen(m->name) > GAME_PATH_MAX)
		return "its path is longer than the game opens";
	snprintf(first, sizeof(first), "%.*s", (int)(more ? size : strlen(m->name)),
		 more ? at : m->name);
	for (unsigned parts = 1; more && !fault; parts++) {
		size = strcspn(at, "/");
		fault = parts < PARTS_MAX ? fault_of_part(at, size) : "it is in too many folders";
		more = at[size] == '/';
		at += size + more;
	}
	if (!fault)
		fault = fault_of_part(m->name, strlen(m->name));
	if (!fault && *first == '.')
		fault = "names with a leading dot in Mods belong to tools";
	if (!fault && *m->folder && is_one_of(first, reserved))
		fault = "that folder of Mods has plugins and patches of EDFModLoader in it";
	return fault;
}

/* ---- spellings ---- */

/*
 * The files and folders on disk whose path equals the wanted one except for the case of ASCII
 * letters, as Windows would find them: those of the wanted spelling first.
 */
struct spellings {
	const char *const *parts; /* parts of the wanted path, ended by NULL */
	size_t found;             /* number of files with that path */
	struct buf path, other;   /* the first and the second such path; if there is none: */
	struct buf best;          /* the path of the deepest existing folder on the way, */
	size_t depth;             /* and its number of parts */
	int error;
	struct buf at;
};

static void overlay_add_file(struct spellings *s)
{
	if (s->found++ < 2) {
		struct buf *out = s->found == 1 ? &s->path : &s->other;

		buf_add(out, s->at.data, s->at.size);
		buf_char(out, '\0');
	}
}

static void note_folder(struct spellings *s, size_t depth)
{
	if (depth <= s->depth)
		return;
	s->depth = depth;
	buf_clear(&s->best);
	buf_add(&s->best, s->at.data, s->at.size);
}

static void overlay_search_folder(struct spellings *s, int dir, const char *wanted, size_t depth);

/* Searches an entry whose name equals part `depth` except for case. */
/* NOLINTNEXTLINE(misc-no-recursion) */
static void search_entry(struct spellings *s, int dir, const char *name, size_t depth)
{
	const char *below = s->parts[depth + 1];
	size_t size = s->at.size;
	struct stat st;
	int fd;

	if (s->at.size)
		buf_char(&s->at, '/');
	buf_text(&s->at, name);
	if (s->at.failed) {
		s->error = ENOMEM;
	} else if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW)) {
		s->error = errno == ENOENT ? s->error : errno;
	} else if (S_ISLNK(st.st_mode)) {
		s->error = ELOOP;
	} else if (!below) {
		/* Skip a folder, as the loader does. */
		if (!S_ISDIR(st.st_mode))
			overlay_add_file(s);
	} else if (S_ISDIR(st.st_mode)) {
		note_folder(s, depth + 1);
		s->error = dirfd_open(dir, name, O_RDONLY | O_DIRECTORY, 0, &fd);
		if (!s->error) {
			overlay_search_folder(s, fd, below, depth + 1);
			close(fd);
		}
	}
	if (s->error != ELOOP)
		s->at.size = size;
}

/* Searches the entries named like `wanted`, which is part `depth`, whatever the case. */
/* NOLINTNEXTLINE(misc-no-recursion) */
static void overlay_search_folder(struct spellings *s, int dir, const char *wanted, size_t depth)
{
	struct dirent *entry;
	struct stat st;
	DIR *list;
	int error;

	if (!fstatat(dir, wanted, &st, AT_SYMLINK_NOFOLLOW))
		search_entry(s, dir, wanted, depth);
	error = s->error ? s->error : dirfd_list(dir, "", &list);
	if (error) {
		s->error = error;
		return;
	}
	while (!s->error && (entry = dirfd_next(list))) {
		if (strcasecmp(entry->d_name, wanted) == 0 && strcmp(entry->d_name, wanted) != 0)
			search_entry(s, dir, entry->d_name, depth);
	}
	closedir(list);
}

static void spellings_release(struct spellings *s)
{
	buf_release(&s->path);
	buf_release(&s->other);
	buf_release(&s->best);
	buf_release(&s->at);
}

/* ---- the place of a loose file ---- */

static uint32_t member_number(const struct loose *l)
{
	return l->member.contents->entries[l->member.entry].member;
}

static const struct member *stored_member(const struct loose *l)
{
	return &l->member.archive->members[member_number(l)];
}

static char *overlay_text_of(struct buf *b)
{
	buf_char(b, '\0');
	if (!b->failed)
		return (char *)b->data;
	buf_release(b);
	return NULL;
}

/* Writes the path of OVERLAY, as the user named it. */
static void show_overlay(const struct overlay *o, struct buf *out)
{
	if (o->shown)
		buf_text(out, o->shown);
	else
		buf_format(out, "%s/" STATE_OVERLAY, state_name(o->state));
}

/* Sets the loose file's paths. `path`: from the root of loose files; `prefix`: of that root. */
static bool overlay_set_path(struct loose *l, const char *prefix, size_t prefix_size,
			     const char *path, struct err *err)
{
	const char *slash = strrchr(path, '/');
	struct buf folder = BUF_INIT, shown = BUF_INIT;

	buf_add(&folder, prefix, prefix_size);
	if (prefix_size && slash)
		buf_char(&folder, '/');
	l->below_at = folder.size;
	if (slash)
		buf_add(&folder, path, (size_t)(slash - path));
	if (!l->archive.is_game)
		show_overlay(l->overlay, &shown);
	else
		buf_add(&shown, prefix, prefix_size);
	if (shown.size)
		buf_char(&shown, '/');
	buf_text(&shown, path);
	l->folder = overlay_text_of(&folder);
	l->shown = overlay_text_of(&shown);
	l->name = strdup(last_part(path));
	return (l->folder && l->shown && l->name) || err_memory(err);
}

static bool overlay_refuse(struct loose *l, struct err *err, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static bool overlay_refuse(struct loose *l, struct err *err, const char *format, ...)
{
	va_list args;
	int size;

	if (l->refusal)
		return true;
	va_start(args, format);
	size = vasprintf(&l->refusal, format, args);
	va_end(args);
	if (size < 0)
		l->refusal = NULL;
	return size >= 0 || err_memory(err);
}

/* Splits Mods/DIR/NAME into its parts, in `room`. */
static bool split_member(const struct member *m, struct buf *room, const char *parts[])
{
	size_t count = 0, at = 0;

	buf_text(room, MODS "/");
	buf_text(room, m->folder);
	buf_text(room, *m->folder ? "/" : "");
	buf_text(room, m->name);
	buf_char(room, '\0');
	while (!room->failed && count < PARTS_MAX + 2) {
		char *part = (char *)room->data + at;
		size_t size = strcspn(part, "/");
		bool last = !part[size];

		parts[count++] = part;
		part[size] = '\0';
		at += size + 1;
		if (last)
			break;
	}
	parts[count] = NULL;
	return !room->failed;
}

static bool search(const struct loose *l, struct spellings *s, struct err *err)
{
	s->error = 0;
	overlay_search_folder(s, l->archive.dir, s->parts[0], 0);
	if (s->error == ELOOP) {
		buf_char(&s->at, '\0');
		return err_set(err, ERR_SYSTEM, "%s is a symbolic link, and links are not followed",
			       s->at.failed ? MODS : (const char *)s->at.data);
	}
	if (s->error)
		return err_system(err, s->error, MODS);
	return !(s->path.failed || s->other.failed || s->best.failed) || err_memory(err);
}

/* Makes the path for a new file: existing folders as they are spelled, then the other parts. */
static bool new_path(const struct spellings *s, struct buf *out)
{
	buf_add(out, s->best.data, s->best.size);
	for (size_t i = s->depth; s->parts[i]; i++) {
		if (out->size)
			buf_char(out, '/');
		buf_text(out, s->parts[i]);
	}
	buf_char(out, '\0');
	return !out->failed;
}

static bool find_in_mods(struct loose *l, struct err *err)
{
	const char *parts[PARTS_MAX + 3];
	struct spellings s = {.parts = parts};
	struct buf room = BUF_INIT, path = BUF_INIT;
	const char *slash = strrchr(l->archive.path, '/');
	bool fine;

	fine = split_member(stored_member(l), &room, parts);
	if (!fine)
		err_memory(err);
	fine = fine && search(l, &s, err);
	l->is_there = fine && s.found > 0;
	if (fine && !l->is_there)
		fine = new_path(&s, &path) || err_memory(err);
	fine = fine &&
	       overlay_set_path(l, l->archive.path, slash ? (size_t)(slash - l->archive.path) : 0,
				(const char *)(l->is_there ? s.path.data : path.data), err);
	if (fine && s.found > 1)
		fine = overlay_refuse(l, err, "%s and %s are both there; the game sees one of them",
				      (const char *)s.path.data, (const char *)s.other.data);
	spellings_release(&s);
	buf_release(&room);
	buf_release(&path);
	return fine;
}

static void write_labels(const struct contents *c, uint32_t entry, struct buf *out)
{
	if (entry == CONTENTS_TOP)
		return;
	write_labels(c, c->entries[entry].parent, out);
	buf_char(out, '/');
	buf_text(out, c->entries[entry].label);
}

static bool find_in_folder(struct loose *l, struct err *err)
{
	struct buf path = BUF_INIT;
	struct stat st;
	bool fine;
	int root, error;

	buf_text(&path, l->archive.path);
	if (!l->is_file)
		write_labels(l->member.contents, l->member.entry, &path);
	buf_char(&path, '\0');
	fine = path.failed ? err_memory(err)
			   : overlay_set_path(l, "", 0, (const char *)path.data, err);
	buf_release(&path);
	if (!fine)
		return false;
	error = l->is_nowhere ? ENOENT : loose_folder(l, false, &root);
	if (!error) {
		error = fstatat(root, l->name, &st, AT_SYMLINK_NOFOLLOW) ? errno : 0;
		l->is_there = !error && S_ISREG(st.st_mode);
		close(root);
	}
	return !error || error == ENOENT || error == ENOTDIR || err_system(err, error, l->shown);
}

static bool set_label(struct loose *l, struct err *err)
{
	struct buf room = BUF_INIT;

	name_escape(stored_member(l)->name, NAME_LIMIT, &room);
	l->label = overlay_text_of(&room);
	return l->label || err_memory(err);
}

bool loose_find(struct loose *l, const struct overlay *o, const struct archive_place *a,
		const struct member_of *m, struct err *err)
{
	const char *fault;

	*l = (struct loose){.overlay = o, .archive = *a, .member = *m};
	if (!set_label(l, err))
		return false;
	if (!a->is_game)
		return find_in_folder(l, err);
	fault = fault_of_path(stored_member(l));
	if (!fault)
		return find_in_mods(l, err);
	l->is_nowhere = true;
	return find_in_folder(l, err) &&
	       overlay_refuse(l, err, "it cannot be a loose file: %s", fault);
}

bool loose_find_file(struct loose *l, const struct overlay *o, const struct archive_place *a,
		     struct err *err)
{
	*l = (struct loose){.overlay = o, .archive = *a, .is_file = true};
	l->archive.is_game = false;
	l->label = strdup(last_part(a->path));
	return l->label ? find_in_folder(l, err) : err_memory(err);
}

static const char *const unwritten =
	"archives are not written; animfs export takes it out of the archive";

bool loose_find_inner(struct loose *l, const struct loose *outer, const struct stat *st,
		      const struct member_of *m, bool rebuild, struct err *err)
{
	bool can = !outer->is_nowhere && !outer->rab && m->archive->container->replace;

	*l = (struct loose){.overlay = outer->overlay,
			    .archive = outer->archive,
			    .member = *m,
			    .rab = can ? outer : NULL,
			    .below_at = outer->below_at,
			    .is_nowhere = !can};
	l->archive.st = *st;
	l->folder = strdup(outer->folder);
	l->name = strdup(outer->name);
	l->shown = strdup(outer->shown);
	if (!l->folder || !l->name || !l->shown)
		return err_memory(err);
	if (!set_label(l, err))
		return false;
	if (outer->refusal)
		return overlay_refuse(l, err, "%s is in an archive, and %s", outer->label,
				      outer->refusal);
	if (can && !rebuild)
		return overlay_refuse(
			l, err,
			"a member of %s cannot be a loose file, since the game opens that "
			"archive as a whole; --rebuild writes a new one, animfs export takes "
			"the member out",
			outer->label);
	return can || overlay_refuse(l, err, "it is in %s, which is in an archive, too; %s",
				     outer->label, unwritten);
}

bool loose_may_be(const struct overlay *o, const struct archive_place *a)
{
	struct dirent *entry;
	bool may = false;
	DIR *dir;
	int fd;

	if (!a->is_game) {
		may = overlay_open(o, false, &fd) == 0;
		if (may)
			close(fd);
		return may;
	}
	if (dirfd_list(a->dir, "", &dir))
		return false;
	while (!may && (entry = dirfd_next(dir)))
		may = strcasecmp(entry->d_name, MODS) == 0;
	closedir(dir);
	return may;
}

void loose_release(struct loose *l)
{
	free(l->folder);
	free(l->name);
	free(l->shown);
	free(l->label);
	free(l->refusal);
	*l = (struct loose){.folder = NULL};
}

/* ---- writing ---- */

/* Returns another member whose path differs only in case; NULL: none. */
static const struct member *find_twin(const struct archive *a, const struct member *m)
{
	for (uint32_t i = 0; i < a->count; i++) {
		const struct member *other = &a->members[i];

		if (other != m && other->name && strcasecmp(other->name, m->name) == 0 &&
		    strcasecmp(other->folder, m->folder) == 0)
			return other;
	}
	return NULL;
}

bool loose_check(const struct loose *l, struct err *err)
{
	const struct member *twin = NULL;

	if (!l->refusal && l->archive.is_game && !l->rab && !l->is_file)
		twin = find_twin(l->member.archive, stored_member(l));
	if (twin)
		return err_set(
			err, ERR_STORE,
			"it cannot be a loose file: the game would load that for two members, "
			"since it ignores case: %.80s/%.80s is there, too",
			twin->folder, twin->name);
	return !l->refusal || err_set(err, ERR_STORE, "%s", l->refusal);
}

int loose_open_archive(const struct loose *l, int *fd)
{
	return dirfd_open(l->archive.dir, last_part(l->archive.path),
			  O_RDONLY | O_NONBLOCK | O_NOCTTY, 0, fd);
}

int loose_folder(const struct loose *l, bool make, int *fd)
{
	const char *path = l->folder + l->below_at;
	int root = -1, error;

	if (l->is_nowhere)
		return ENOENT;
	if (l->archive.is_game)
		error = dirfd_walk(l->archive.dir, "", FOLDER, &root);
	else
		error = overlay_open(l->overlay, make, &root);
	*fd = root;
	while (!error && *path) {
		char part[NAME_MAX + 1];
		size_t size = strcspn(path, "/");

		if (size > NAME_MAX) {
			error = ENAMETOOLONG;
		} else {
			memcpy(part, path, size);
			part[size] = '\0';
			error = make_and_open(root, part, make, fd);
		}
		close(root);
		root = *fd;
		path += size + (path[size] == '/');
	}
	return error;
}

/* ---- reading ---- */

/* Does the error mean that the loose file does not exist? The loader skips folders. */
static bool says_absent(int error)
{
	return error == ENOENT || error == ENOTDIR || error == EISDIR;
}

static int overlay_file_stat(const struct loose *l, int dir, struct stat *st)
{
	if (l->is_nowhere || dir < 0)
		return ENOENT;
	if (fstatat(dir, l->name, st, AT_SYMLINK_NOFOLLOW))
		return errno;
	return S_ISREG(st->st_mode) ? 0 : S_ISDIR(st->st_mode) ? EISDIR : EINVAL;
}

/* Sets size and time to those of the member, where the archive stores them. */
static void set_member(const struct loose *l, struct stat *st)
{
	const struct member *m = l->is_file ? NULL : stored_member(l);
	uint64_t size;

	if (m && archive_measure(l->member.archive, member_number(l), &size, NULL))
		st->st_size = (off_t)size;
	if (m && m->time)
		st->st_mtim = (struct timespec){.tv_sec = (time_t)m->time};
}

int loose_stat(const struct loose *l, int dir, struct stat *st)
{
	int error = l->rab ? loose_stat(l->rab, dir, st) : overlay_file_stat(l, dir, st);

	if (!l->rab && !says_absent(error))
		return error;
	if (!l->rab)
		*st = l->archive.st;
	if (l->rab && error)
		return error;
	set_member(l, st);
	return 0;
}

/* Reads the bytes of the archive itself. */
static bool overlay_read_archive(const struct loose *l, size_t limit, struct buf *out,
				 struct err *err)
{
	struct stat st;
	int error = dirfd_read(l->archive.dir, last_part(l->archive.path), limit, out, &st);

	return !error || err_system(err, error, l->archive.path);
}

bool loose_read_from(const struct loose *l, struct bytes rab, size_t limit, struct buf *out,
		     struct err *err)
{
	const struct input in = input_of_bytes(rab);
	struct archive *a = archive_open(l->member.archive->container, &in, ARCHIVE_LIST_MAX, err);
	const struct member *m = stored_member(l);
	uint32_t i = member_number(l);
	bool fine = a != NULL;

	if (fine && (i >= a->count || strcmp(a->members[i].name, m->name) != 0 ||
		     strcmp(a->members[i].folder, m->folder) != 0))
		fine = err_set(err, ERR_CONFLICT, "%s has other members by now", l->rab->label);
	fine = fine && archive_read(a, i, limit, out, err);
	archive_close(a);
	return fine;
}

static bool read_inner(const struct loose *l, int dir, size_t limit, struct buf *out,
		       struct stat *st, struct err *err)
{
	const struct file_version opened = file_version_of(&l->archive.st);
	struct file_version now;
	struct buf rab = BUF_INIT;
	int error = loose_stat(l->rab, dir, st);
	bool fine;

	if (error)
		return err_system(err, error, l->rab->shown);
	now = file_version_of(st);
	if (file_version_same(&now, &opened))
		fine = archive_read(l->member.archive, member_number(l), limit, out, err);
	else
		fine = loose_read(l->rab, dir, limit, &rab, st, err) &&
		       loose_read_from(l, buf_bytes(&rab), limit, out, err);
	buf_release(&rab);
	set_member(l, st);
	return fine;
}

bool loose_read(const struct loose *l, int dir, size_t limit, struct buf *out, struct stat *st,
		struct err *err)
{
	int error = ENOENT;

	if (l->rab)
		return read_inner(l, dir, limit, out, st, err);
	if (!l->is_nowhere && dir >= 0)
		error = dirfd_read(dir, l->name, limit, out, st);
	if (error == EFBIG)
		return err_set(err, ERR_FORMAT, "the file is larger than %zu bytes, the limit",
			       limit);
	if (!says_absent(error))
		return !error || err_system(err, error, l->shown);
	error = loose_stat(l, -1, st);
	if (error)
		return err_system(err, error, l->shown);
	return l->is_file ? overlay_read_archive(l, limit, out, err)
			  : archive_read(l->member.archive, member_number(l), limit, out, err);
}

bool loose_wrap(const struct loose *l, struct bytes was, struct bytes bytes, struct buf *out,
		struct err *err)
{
	if (l->rab)
		return l->member.archive->container->replace(was, l->member.archive->limit,
							     member_number(l), bytes, out, err);
	buf_add(out, bytes.data, bytes.size);
	return !out->failed || err_memory(err);
}

const char *where_label(const struct where *where)
{
	return where->loose ? where->loose->label : where->name;
}

/* ---- listing all loose files ---- */

struct listing {
	loose_each *each;
	void *closure;
	struct buf path;
	struct err *err;
};

static bool overlay_list_folder(struct listing *l, int folder, bool is_mods, unsigned depth);

/* NOLINTNEXTLINE(misc-no-recursion) */
static bool list_entry(struct listing *l, int folder, const char *name, unsigned depth)
{
	struct stat st;
	int fd, error;
	bool fine;

	if (fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW))
		return true; /* another process removed the file meanwhile */
	if (S_ISREG(st.st_mode))
		return l->each(l->closure, (const char *)l->path.data, &st);
	if (!S_ISDIR(st.st_mode) || depth > PARTS_MAX)
		return true;
	error = dirfd_open(folder, name, O_RDONLY | O_DIRECTORY, 0, &fd);
	if (error)
		return error == ENOENT || err_system(l->err, error, (const char *)l->path.data);
	fine = overlay_list_folder(l, fd, false, depth + 1);
	close(fd);
	return fine;
}

static int overlay_by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/*
 * Reads the names in a folder, or with `folders` only those of folders, sorted. The caller frees
 * each name, and the list.
 */
static int overlay_read_names(int folder, bool folders, char ***names, size_t *count)
{
	struct dirent *entry;
	size_t room = 0;
	DIR *dir;
	int error = dirfd_list(folder, "", &dir);

	*names = NULL;
	*count = 0;
	if (error)
		return error;
	while (!error && (entry = dirfd_next(dir))) {
		char **grown;

		if (folders && entry->d_type != DT_DIR && entry->d_type != DT_UNKNOWN)
			continue;
		grown = array_room(*names, *count, &room, sizeof(*grown));
		if (grown)
			*names = grown;
		if (!grown || !(grown[*count] = strdup(entry->d_name)))
			error = ENOMEM;
		else
			++*count;
	}
	closedir(dir);
	if (*count)
		qsort(*names, *count, sizeof(**names), overlay_by_name);
	return error;
}

/* NOLINTNEXTLINE(misc-no-recursion) */
static bool overlay_list_folder(struct listing *l, int folder, bool is_mods, unsigned depth)
{
	size_t length = l->path.size, count;
	char **names;
	int error = overlay_read_names(folder, false, &names, &count);
	bool fine = !error || err_system(l->err, error, "the loose files");

	for (size_t i = 0; i < count; i++) {
		if (fine && !(is_mods && (*names[i] == '.' || is_one_of(names[i], reserved)))) {
			if (length)
				buf_char(&l->path, '/');
			buf_text(&l->path, names[i]);
			buf_char(&l->path, '\0');
			l->path.size--;
			fine = l->path.failed ? err_memory(l->err)
					      : list_entry(l, folder, names[i], depth);
			l->path.size = length;
		}
		free(names[i]);
	}
	free(names);
	return fine;
}

/*
 * Lists the loose files below a folder; `path` is the folder's, and begins the paths given to
 * `each`.
 */
static bool overlay_list_below(struct listing *l, int folder, const char *path, bool is_mods)
{
	buf_clear(&l->path);
	buf_text(&l->path, path);
	return overlay_list_folder(l, folder, is_mods, 0);
}

/* Lists the loose files of the game in the folder at l->path. */
static bool list_game(struct listing *l, int game)
{
	static const char *const mods[] = {MODS, NULL};
	size_t length = l->path.size;
	struct buf path = BUF_INIT;
	struct dirent *entry;
	bool fine = true;
	DIR *dir;
	int fd;

	if (dirfd_list(game, "", &dir))
		return true;
	while (fine && (entry = dirfd_next(dir))) {
		if (!is_one_of(entry->d_name, mods) ||
		    dirfd_open(game, entry->d_name, O_RDONLY | O_DIRECTORY, 0, &fd))
			continue;
		buf_clear(&path);
		buf_add(&path, l->path.data, length);
		buf_text(&path, path.size ? "/" : "");
		buf_text(&path, entry->d_name);
		buf_char(&path, '\0');
		fine = path.failed ? err_memory(l->err)
				   : overlay_list_below(l, fd, (const char *)path.data, true);
		l->path.size = length;
		close(fd);
	}
	closedir(dir);
	buf_release(&path);
	return fine;
}

/* Below SOURCE, a game is this deep at most: steamapps/common/EDF6. */
#define GAME_DEPTH 3

static bool list_games(struct listing *l, int folder, unsigned depth);

/* NOLINTNEXTLINE(misc-no-recursion) */
static bool list_games_in(struct listing *l, int folder, const char *name, unsigned depth)
{
	size_t length = l->path.size;
	bool fine;
	int fd;

	if (*name == '.' || dirfd_open(folder, name, O_RDONLY | O_DIRECTORY | O_NONBLOCK, 0, &fd))
		return true;
	buf_text(&l->path, length ? "/" : "");
	buf_text(&l->path, name);
	fine = l->path.failed ? err_memory(l->err) : list_games(l, fd, depth + 1);
	l->path.size = length;
	close(fd);
	return fine;
}

/* Lists those of all games in the folder at l->path and below. */
/* NOLINTNEXTLINE(misc-no-recursion) */
static bool list_games(struct listing *l, int folder, unsigned depth)
{
	size_t count;
	char **names;
	int error;
	bool fine;

	if (is_game(folder))
		return list_game(l, folder);
	if (depth == GAME_DEPTH)
		return true;
	error = overlay_read_names(folder, true, &names, &count);
	/* Nobody can have made a loose file in a folder that cannot be read. */
	fine = !error || (depth > 0 && error != ENOMEM) || err_system(l->err, error, "SOURCE");
	for (size_t i = 0; i < count; i++) {
		fine = fine && list_games_in(l, folder, names[i], depth);
		free(names[i]);
	}
	free(names);
	return fine;
}

bool overlay_for_each(const struct overlay *o, int source, loose_each *each, void *closure,
		      struct err *err)
{
	struct listing l = {each, closure, BUF_INIT, err};
	struct buf shown = BUF_INIT;
	int root, error = overlay_open(o, false, &root);
	bool fine = list_games(&l, source, 0);

	show_overlay(o, &shown);
	buf_char(&shown, '\0');
	if (!error) {
		if (fine)
			fine = shown.failed ? err_memory(err)
					    : overlay_list_below(&l, root, (const char *)shown.data,
								 false);
		close(root);
	} else if (fine && error != ENOENT) {
		fine = err_system(err, error, o->shown ? o->shown : STATE_OVERLAY);
	}
	buf_release(&shown);
	buf_release(&l.path);
	return fine;
}
