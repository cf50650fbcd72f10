/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "state.h"
#include "dirfd.h"
#include "portable.h"
#include "util/clock.h"
#include "util/lock_classes.h"
#include "util/timing.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <unistd.h>

#define FOLDER (O_PATH | O_DIRECTORY)
#define ENTRY_LIMIT                                                                                \
	((size_t)16 << 20) /* size of the largest list in mounts/ that we can have written */
#define FOLDER_TRIES                                                                               \
	100 /* attempts to put a file into a folder that other processes may remove                \
	     */
#define PREFIX ".animfs-"
#define SUFFIX ".tmp"
#define WAY "-to-"

static const char *const area_names[STATE_AREA_COUNT] = {"extra", "rejected", "history", "staging"};

static const char readme[] =
	"This folder belongs to animfs, which shows animation files as folders of text.\n"
	"\n"
	"extra/     Ordinary files that you or your programs put beside the texts (notes,\n"
	"           an editor's backups and swap files), by the path of their folder.\n"
	"rejected/  Texts that could not be saved, as NAME.rejected, and why, as NAME.error.\n"
	"history/   Animation files as they were before they were saved; animfs log FILE\n"
	"           lists them, and animfs undo FILE puts one back.\n"
	"staging/   Names the folders that are still to become clips or animation files.\n"
	"mounts/    One file for each mount; the next one cleans up after a killed one.\n"
	"partial/   Files that are being written for the others, until they are complete.\n"
	"lock       Held while an animation file is being replaced.\n"
	"\n"
	"While nothing is mounted you can copy things out of this folder or remove it;\n"
	"what is in extra/, rejected/ and history/ is nowhere else.\n";

/*
 * A folder of SOURCE in this mount's list, with the number of temporaries that are in it or about
 * to be made.
 */
struct flight {
	struct flight *next;
	unsigned count;
	char path[];
};

struct state {
	int source;
	/*
	 * Descriptor of the folder that contains DIR. DIR is opened by name each time, since people
	 * may remove or replace it.
	 */
	int parent;
	char *name; /* name of DIR in `parent`; "": `parent` is DIR (state_move) */
	bool read_only;

	struct lock replacing; /* lock of state_lock among our threads, since flock only works
				  between open files */
	int lock GUARDED_BY(replace_class);

	struct lock mutex;
	int entry
		GUARDED_BY(state_class); /* descriptor of mounts/ID; -1 until the first temporary */
	char id[17] GUARDED_BY(state_class);
	uint64_t counter GUARDED_BY(state_class);
	struct flight *flights GUARDED_BY(state_class);
	state_overlay_open *overlay; /* opens the root of loose files; may be NULL */
	void *overlay_closure;
};

/* Was the open file unlinked? */
static bool state_is_gone(int fd)
{
	struct stat st;

	return fstat(fd, &st) || !st.st_nlink;
}

static int lock_file(int fd, int how)
{
	while (flock(fd, how)) {
		if (errno != EINTR)
			return errno;
	}
	return 0;
}

static int write_readme(int root)
{
	int fd, error = dirfd_open(root, "README", O_WRONLY | O_CREAT | O_EXCL, 0600, &fd);

	if (error)
		return error == EEXIST ? 0 : error;
	error = dirfd_write(fd, bytes_of(readme));
	close(fd);
	return error;
}

static int make_root(struct state *s, int *root)
{
	int error;

	if (mkdirat(s->parent, s->name, 0700) && errno != EEXIST)
		return errno;
	error = dirfd_open(s->parent, s->name, FOLDER, 0, root);
	if (error)
		return error;
	error = write_readme(*root);
	if (error)
		close(*root);
	return error;
}

static int state_open_root(struct state *s, bool make, int *root)
{
	int error;

	if (make && s->read_only)
		return EROFS;
	if (!*s->name)
		return dirfd_walk(s->parent, "", FOLDER, root);
	error = dirfd_open(s->parent, s->name, FOLDER, 0, root);
	return error == ENOENT && make ? make_root(s, root) : error;
}

static int open_below(int folder, const char *path, bool make, int *fd)
{
	return make ? dirfd_make_folders(folder, path, fd) : dirfd_walk(folder, path, FOLDER, fd);
}

/* Opens one of the folders in DIR, such as mounts/. */
static int open_part(struct state *s, const char *name, bool make, int *fd)
{
	int root, error = state_open_root(s, make, &root);

	*fd = -1;
	if (error)
		return error;
	error = open_below(root, name, make, fd);
	close(root);
	return error;
}

/*
 * Temporaries of mounts that were killed
 */

static bool is_temporary_of(const char *name, const char *id)
{
	size_t length = strlen(name), head = strlen(PREFIX), own = strlen(id);

	return length > head + own + strlen(SUFFIX) && !strncmp(name, PREFIX, head) &&
	       !strncmp(name + head, id, own) && name[head + own] == '-' &&
	       !strcmp(name + length - strlen(SUFFIX), SUFFIX);
}

/* Calls `visit` for each entry of the folder at a path below `root`. */
static int each_name(int root, const char *path,
		     int (*visit)(void *closure, int dir, const char *name), void *closure)
{
	struct dirent *entry;
	DIR *dir;
	int error = dirfd_list(root, path, &dir);

	if (error)
		return error;
	while ((entry = dirfd_next(dir))) {
		int failed = visit(closure, dirfd(dir), entry->d_name);

		if (failed)
			error = failed;
	}
	closedir(dir);
	return error;
}

/* Returns the name that a temporary of state_on_its_way was to get; NULL for other temporaries. */
static const char *way_of(const char *name, const char *id)
{
	char head[64];
	int length = snprintf(head, sizeof(head), PREFIX "%s" WAY, id);

	return length > 0 && (size_t)length < sizeof(head) &&
			       strncmp(name, head, (size_t)length) == 0
		       ? name + length
		       : NULL;
}

/*
 * Renames a temporary to the name `way` or, if that is in use, to a similar one; an empty folder is
 * removed.
 */
static int state_arrive(int dir, const char *name, const char *way)
{
	char apart[NAME_MAX + 1];
	int error = dirfd_rename(dir, name, dir, way, RENAME_NOREPLACE);

	if (error != EEXIST)
		return error;
	return unlinkat(dir, name, AT_REMOVEDIR) == 0
		       ? 0
		       : dirfd_rename_apart(dir, name, dir, way, apart);
}

/* The mount whose temporaries are removed, and the folder that is cleaned. */
struct cleaning {
	struct state *state;
	state_rescue *rescue;
	const char *id, *folder;
};

static int remove_temporary(void *cleaning, int dir, const char *name)
{
	const struct cleaning *c = cleaning;
	const char *way = way_of(name, c->id);
	int error = ENOENT;

	if (way)
		return state_arrive(dir, name, way);
	if (!is_temporary_of(name, c->id))
		return 0;
	if (c->rescue)
		error = c->rescue(c->state, c->folder, dir, name);
	if (error != ENOENT)
		return error;
	return !unlinkat(dir, name, 0) || errno == ENOENT ? 0 : errno;
}

/* Cleans one folder; a path that is no longer a folder of SOURCE needs no cleaning. */
static int clean_folder(struct cleaning *c, const char *path)
{
	int folder, error = state_walk(c->state, path, &folder);

	c->folder = path;
	if (!error) {
		error = each_name(folder, "", remove_temporary, c);
		close(folder);
	}
	return error == ENOENT || error == ENOTDIR || error == EINVAL ? 0 : error;
}

/*
 * Cleans all folders of a list. A path without its final NUL was never used: temporaries are made
 * only once all of it is written.
 */
static int clean_folders(struct cleaning *c, struct bytes list)
{
	const char *path = (const char *)list.data, *end = path + list.size, *stop;
	int error = 0;

	while (path < end && (stop = memchr(path, '\0', (size_t)(end - path)))) {
		int failed = clean_folder(c, path);

		if (failed)
			error = failed;
		path = stop + 1;
	}
	return error;
}

static int clean_listed(struct cleaning *c, int mounts)
{
	struct buf list = BUF_INIT;
	struct stat st;
	int error = dirfd_read(mounts, c->id, ENTRY_LIMIT, &list, &st);

	if (!error)
		error = clean_folders(c, buf_bytes(&list));
	buf_release(&list);
	return error;
}

/* Cleans up after a mount that has ended: its entry can be locked. */
static int clean_entry(void *cleaning, int mounts, const char *name)
{
	struct cleaning c = *(const struct cleaning *)cleaning;
	char *id = NULL;
	int fd;

	if (dirfd_open(mounts, name, O_RDWR | O_NONBLOCK, 0, &fd))
		return 0;
	if (!lock_file(fd, LOCK_EX | LOCK_NB) && !state_is_gone(fd))
		id = strdup(name);
	c.id = id;
	if (id && !clean_listed(&c, mounts))
		unlinkat(mounts, name, 0);
	free(id);
	close(fd);
	return 0;
}

/* Removes a file in partial/ whose mount has no entry any more. */
static int remove_partial(void *mounts, int dir, const char *name)
{
	char id[17];

	if (sscanf(name, PREFIX "%16[0-9a-f]-", id) == 1 &&
	    faccessat(*(int *)mounts, id, F_OK, AT_SYMLINK_NOFOLLOW) && errno == ENOENT)
		unlinkat(dir, name, 0);
	return 0;
}

static void clean_partial(int root)
{
	int mounts;

	if (dirfd_walk(root, "mounts", FOLDER, &mounts))
		return;
	(void)each_name(root, "partial", remove_partial, &mounts);
	close(mounts);
}

/* Errors are ignored: the next mount cleans up the rest. */
void state_clean(struct state *s, state_rescue *rescue)
{
	struct cleaning c = {s, rescue, NULL, NULL};
	int root;

	if (s->read_only || state_open_root(s, false, &root))
		return;
	(void)each_name(root, "mounts", clean_entry, &c);
	clean_partial(root);
	close(root);
}

/*
 * Beginning and end
 */

/* Splits `path` into the folder that contains DIR and DIR's name; opens the folder. */
static int state_open_parent(struct state *s, char *path)
{
	size_t length = strlen(path);
	const char *parent = ".", *name = path;
	char *slash;

	while (length > 1 && path[length - 1] == '/')
		path[--length] = '\0';
	slash = strrchr(path, '/');
	if (slash) {
		*slash = '\0';
		parent = slash == path ? "/" : path;
		name = slash + 1;
	}
	if (!*name)
		return EINVAL;
	s->name = strdup(name);
	if (!s->name)
		return ENOMEM;
	s->parent = open(parent, FOLDER | O_CLOEXEC);
	return s->parent < 0 ? errno : 0;
}

/*
 * Opens the folder of --state. Links in this path are followed, once, since it is the user's
 * own.
 */
static int locate_given(struct state *s, const char *dir)
{
	char *path = realpath(dir, NULL);
	int root, error = 0;

	if (!path && errno != ENOENT)
		return errno;
	if (!path)
		path = strdup(dir);
	if (!path)
		return ENOMEM;
	error = state_open_parent(s, path);
	free(path);
	if (error)
		return error;
	error = state_open_root(s, false, &root);
	if (!error)
		close(root);
	return error == ENOENT ? 0 : error;
}

static int locate_in_source(struct state *s)
{
	s->name = strdup(".animfs");
	if (!s->name)
		return ENOMEM;
	s->parent = fcntl(s->source, F_DUPFD_CLOEXEC, 0);
	return s->parent < 0 ? errno : 0;
}

UNSHARED struct state *state_new(int source, const char *dir, bool read_only, struct err *err)
{
	struct state *s = calloc(1, sizeof(*s));
	int error;

	if (!s) {
		err_memory(err);
		return NULL;
	}
	s->source = source;
	s->read_only = read_only;
	s->parent = s->lock = s->entry = -1;
	lock_init(&s->replacing);
	lock_init(&s->mutex);
	error = dir ? locate_given(s, dir) : locate_in_source(s);
	if (error) {
		err_system(err, error, dir ? dir : "SOURCE");
		state_free(s);
		return NULL;
	}
	return s;
}

static void forget_flights(struct state *s) REQUIRES(state_class)
{
	while (s->flights) {
		struct flight *first = s->flights;

		s->flights = first->next;
		free(first);
	}
}

static bool has_temporaries(const struct state *s) REQUIRES(state_class)
{
	const struct flight *flight = s->flights;

	while (flight && !flight->count)
		flight = flight->next;
	return flight != NULL;
}

/*
 * Ends this mount's entry. The entry stays while a temporary exists, so that the next mount cleans
 * it up.
 */
static void end_entry(struct state *s) REQUIRES(state_class)
{
	int mounts;

	if (!has_temporaries(s) && !open_part(s, "mounts", false, &mounts)) {
		unlinkat(mounts, s->id, 0);
		close(mounts);
	}
	close(s->entry);
}

UNSHARED void state_free(struct state *s)
{
	if (!s)
		return;
	if (s->entry >= 0)
		end_entry(s);
	forget_flights(s);
	if (s->parent >= 0)
		close(s->parent);
	lock_destroy(&s->replacing);
	lock_destroy(&s->mutex);
	free(s->name);
	free(s);
}

/*
 * The directory and its folders
 */

int state_writable(struct state *s)
{
	int folder, error;

	if (s->read_only)
		return EROFS;
	error = state_open_root(s, false, &folder);
	if (error == ENOENT)
		error = dirfd_walk(s->parent, "", FOLDER, &folder);
	if (error)
		return error;
	if (faccessat(folder, ".", W_OK | X_OK, AT_EACCESS))
		error = errno;
	close(folder);
	return error;
}

bool state_is(struct state *s, const struct stat *st)
{
	struct stat own;

	return S_ISDIR(st->st_mode) &&
	       !fstatat(s->parent, s->name, &own, AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH) &&
	       own.st_dev == st->st_dev && own.st_ino == st->st_ino;
}

int state_open(struct state *s, int *fd)
{
	return state_open_root(s, false, fd);
}

int state_make(struct state *s, int *fd)
{
	return state_open_root(s, !s->read_only, fd);
}

void state_overlay(struct state *s, state_overlay_open *open, void *closure)
{
	s->overlay = open;
	s->overlay_closure = closure;
}

int state_walk(const struct state *s, const char *folder, int *fd)
{
	int root, error = dirfd_walk(s->source, folder, FOLDER, fd);

	if ((error != ENOENT && error != ENOTDIR) || !s->overlay ||
	    s->overlay(s->overlay_closure, &root) != 0)
		return error;
	error = dirfd_walk(root, folder, FOLDER, fd);
	close(root);
	return error;
}

int state_source(const struct state *s)
{
	return s->source;
}

const char *state_name(const struct state *s)
{
	return *s->name ? s->name : ".";
}

int state_above(const struct state *s)
{
	return s->parent;
}

int state_move(struct state *s, int folder, bool itself)
{
	if (dup3(folder, s->parent, O_CLOEXEC) < 0)
		return errno;
	if (itself)
		*s->name = '\0';
	return 0;
}

int state_folder(struct state *s, enum state_area area, const char *path, bool make, int *fd)
{
	struct buf stored = BUF_INIT;
	int top, error = portable_path(path, &stored);

	*fd = -1;
	if (!error)
		error = open_part(s, area_names[area], make, &top);
	if (!error) {
		error = open_below(top, (const char *)stored.data, make, fd);
		close(top);
	}
	buf_release(&stored);
	/* A name that cannot be stored does not exist. */
	return error == ENAMETOOLONG && !make ? ENOENT : error;
}

int state_parent(struct state *s, enum state_area area, const char *path, bool make,
		 const char **name, int *fd)
{
	const char *slash = strrchr(path, '/');
	char *parent = strndup(path, slash ? (size_t)(slash - path) : 0);
	int error = parent ? state_folder(s, area, parent, make, fd) : ENOMEM;

	free(parent);
	*name = slash ? slash + 1 : path;
	return error;
}

int state_place(struct state *s, enum state_area area, const char *path, bool make,
		char stored[NAME_MAX + 1], int *fd)
{
	const char *name;
	int error = state_parent(s, area, path, make, &name, fd);

	if (error)
		return error;
	error = portable_name(name, stored);
	if (error)
		close(*fd);
	return error == ENAMETOOLONG && !make ? ENOENT : error;
}

static int rename_in_area(struct state *s, enum state_area area, const char *from, const char *to)
{
	char old_name[NAME_MAX + 1], new_name[NAME_MAX + 1];
	int old_folder, new_folder, error;

	/*
	 * A staged entry may be a file; a path below it gives ENOTDIR, and means that nothing is
	 * there.
	 */
	error = state_place(s, area, from, false, old_name, &old_folder);
	if (error)
		return error == ENOTDIR ? ENOENT : error;
	if (faccessat(old_folder, old_name, F_OK, AT_SYMLINK_NOFOLLOW))
		error = errno;
	if (!error)
		error = state_place(s, area, to, true, new_name, &new_folder);
	if (!error) {
		if (renameat(old_folder, old_name, new_folder, new_name))
			error = errno;
		close(new_folder);
	}
	close(old_folder);
	return error;
}

int state_rename(struct state *s, const char *from, const char *to)
{
	int result = 0;

	for (unsigned i = 0; i < ARRAY_SIZE(area_names); i++) {
		int error = i == STATE_HISTORY ? ENOENT
					       : rename_in_area(s, (enum state_area)i, from, to);

		if (error && error != ENOENT)
			result = error;
	}
	return result;
}

/*
 * The lock
 */

static int open_lock(struct state *s) REQUIRES(replace_class)
{
	int root, error = state_open_root(s, true, &root);

	if (error)
		return error;
	error = dirfd_open(root, "lock", O_RDWR | O_CREAT, 0600, &s->lock);
	close(root);
	return error;
}

static void close_lock(struct state *s) REQUIRES(replace_class)
{
	if (s->lock >= 0)
		close(s->lock);
	s->lock = -1;
}

/*
 * People may remove the lock file; others then lock a new one, so check that ours is still there.
 */
static int state_take_lock(struct state *s) REQUIRES(replace_class)
{
	int error;

	do {
		close_lock(s);
		error = open_lock(s);
		if (!error)
			error = lock_file(s->lock, LOCK_EX | LOCK_NB);
	} while (!error && state_is_gone(s->lock));
	if (error)
		close_lock(s);
	return error == EWOULDBLOCK ? EBUSY : error;
}

int state_trylock(struct state *s)
{
	int error;

	lock_acquire(&s->replacing, &replace_class);
	error = state_take_lock(s);
	if (error)
		lock_release(&s->replacing, &replace_class);
	return error;
}

void state_unlock(struct state *s)
{
	close_lock(s);
	lock_release(&s->replacing, &replace_class);
}

/* flock has no time limit, so poll. */
int state_lock_within(struct state *s, int64_t ms)
{
	const int64_t end = clock_real_ms() + ms;
	int error;

	while ((error = state_trylock(s)) == EBUSY && clock_real_ms() < end)
		clock_sleep(LOCK_STEP_MS);
	return error;
}

int state_wait(struct state *s, int64_t ms)
{
	int error = state_lock_within(s, ms);

	if (!error)
		state_unlock(s);
	return error;
}

int state_lock(struct state *s)
{
	return state_lock_within(s, STATE_LOCK_MS);
}

/*
 * Temporaries of this mount
 */

static int random_id(char id[17])
{
	uint64_t bits;

	if (getrandom(&bits, sizeof(bits), 0) != (ssize_t)sizeof(bits))
		return errno;
	snprintf(id, 17, "%016" PRIx64, bits);
	return 0;
}

/*
 * Makes this mount's entry. Until the entry is locked, another mount may take it for that of an
 * ended mount, and remove it.
 */
static int make_entry(struct state *s, int mounts) REQUIRES(state_class)
{
	int error;

	do {
		if (s->entry >= 0)
			close(s->entry);
		s->entry = -1;
		error = random_id(s->id);
		if (!error)
			error = dirfd_open(mounts, s->id, O_RDWR | O_CREAT | O_EXCL | O_APPEND,
					   0600, &s->entry);
		if (!error)
			error = lock_file(s->entry, LOCK_EX);
	} while (error == EEXIST || (!error && state_is_gone(s->entry)));
	if (error && s->entry >= 0) {
		unlinkat(mounts, s->id, 0);
		close(s->entry);
		s->entry = -1;
	}
	return error;
}

/*
 * Makes the entry if there is none, or if another process removed it. A new entry lists only the
 * folders that are used from now on.
 */
static int need_entry(struct state *s) REQUIRES(state_class)
{
	int mounts, error;

	if (s->entry >= 0 && !state_is_gone(s->entry))
		return 0;
	forget_flights(s);
	error = open_part(s, "mounts", true, &mounts);
	if (error)
		return error;
	error = make_entry(s, mounts);
	close(mounts);
	return error;
}

static struct flight **find_flight(struct state *s, const char *path) REQUIRES(state_class)
{
	struct flight **at = &s->flights;

	while (*at && strcmp((*at)->path, path) != 0)
		at = &(*at)->next;
	return at;
}

/*
 * Appends a path to the list. A path that was written only in part is removed, since the next one
 * would continue it.
 */
static int state_list_path(struct state *s, const char *path, size_t size) REQUIRES(state_class)
{
	struct stat before;
	int error;

	if (fstat(s->entry, &before))
		return errno;
	error = dirfd_write(s->entry, (struct bytes){(const uint8_t *)path, size});
	if (!error && fsync(s->entry))
		error = errno;
	if (error && ftruncate(s->entry, before.st_size))
		error = errno;
	return error;
}

static int add_flight(struct state *s, const char *path) REQUIRES(state_class)
{
	size_t size = strlen(path) + 1;
	struct flight *flight = *find_flight(s, path);
	int error;

	if (flight) {
		flight->count++;
		return 0;
	}
	flight = malloc(sizeof(*flight) + size);
	if (!flight)
		return ENOMEM;
	error = state_list_path(s, path, size);
	if (error) {
		free(flight);
		return error;
	}
	memcpy(flight->path, path, size);
	flight->count = 1;
	flight->next = s->flights;
	s->flights = flight;
	return 0;
}

static int name_temporary(struct state *s, char *name, size_t size) REQUIRES(state_class)
{
	int length = snprintf(name, size, PREFIX "%s-%ld-%" PRIu64 SUFFIX, s->id, (long)getpid(),
			      s->counter++);

	return length > 0 && (size_t)length < size ? 0 : ENAMETOOLONG;
}

int state_temporary(struct state *s, const char *path, char *name, size_t size)
{
	int error;

	lock_acquire(&s->mutex, &state_class);
	error = need_entry(s);
	if (!error)
		error = name_temporary(s, name, size);
	if (!error)
		error = add_flight(s, path);
	lock_release(&s->mutex, &state_class);
	return error;
}

int state_on_its_way(struct state *s, const char *path, const char *new_name,
		     char name[NAME_MAX + 1])
{
	int length, error;

	lock_acquire(&s->mutex, &state_class);
	error = need_entry(s);
	if (!error) {
		length = snprintf(name, NAME_MAX + 1, PREFIX "%s" WAY "%s", s->id, new_name);
		if (length > NAME_MAX)
			snprintf(name, NAME_MAX + 1, "%.*s.%s~",
				 dirfd_name_head(new_name, NAME_MAX - sizeof(s->id) - 1), new_name,
				 s->id);
	}
	if (!error)
		error = add_flight(s, path);
	lock_release(&s->mutex, &state_class);
	return error;
}

void state_temporary_gone(struct state *s, const char *path)
{
	struct flight *flight;

	lock_acquire(&s->mutex, &state_class);
	flight = *find_flight(s, path);
	if (flight && flight->count)
		flight->count--;
	lock_release(&s->mutex, &state_class);
}

/*
 * Files that are there whole or not at all
 */

int state_partial(struct state *s, int *fd, char *name, size_t size)
{
	int error;

	lock_acquire(&s->mutex, &state_class);
	error = need_entry(s);
	if (!error)
		error = name_temporary(s, name, size);
	lock_release(&s->mutex, &state_class);
	return error ? error : open_part(s, "partial", true, fd);
}

/* A file to be put into a folder: its temporary place, its name and its owner. */
struct put {
	int via, folder;
	const char *temporary, *name;
	const struct state_owner *owner; /* owner of the file; NULL: this process */
	unsigned how;
	/* path of `folder` in the area, which is made again if it was removed; or NULL */
	const char *path;
	enum state_area area;
};

/* Does the error come from a filesystem where all files have the owner and mode of its mount? */
static bool lacks_owners(int error)
{
	return error == ENOSYS || error == EOPNOTSUPP;
}

static int give_file(int fd, const struct state_owner *owner)
{
	mode_t mode = owner->mode & 0777;
	struct stat st;

	if (fstat(fd, &st))
		return errno;
	if (((owner->uid != (uid_t)-1 && st.st_uid != owner->uid) ||
	     (owner->gid != (gid_t)-1 && st.st_gid != owner->gid)) &&
	    fchown(fd, owner->uid, owner->gid)) {
		if (errno != EPERM && !lacks_owners(errno))
			return errno;
		/* Only root can chown to others. Another group gets the rights of others. */
		if (st.st_gid != owner->gid && fchown(fd, (uid_t)-1, owner->gid))
			mode = (mode & 0707) | (mode & 07) << 3;
	}
	if (owner->mtime)
		futimens(fd, (struct timespec[]){{.tv_nsec = UTIME_OMIT}, *owner->mtime});
	return fchmod(fd, mode) == 0 || lacks_owners(errno) ? 0 : errno;
}

static int name_written(struct state *s, const struct put *p)
{
	unsigned flags = p->how & STATE_PUT_NEW ? RENAME_NOREPLACE : 0;
	int folder, error = dirfd_rename(p->via, p->temporary, p->folder, p->name, flags);
	const char *name;

	for (unsigned i = 0; i < FOLDER_TRIES && error == ENOENT && p->path; i++) {
		error = state_parent(s, p->area, p->path, true, &name, &folder);
		if (error)
			continue;
		error = dirfd_rename(p->via, p->temporary, folder, p->name, flags);
		close(folder);
	}
	return error;
}

static int write_via(struct state *s, const struct put *p, mode_t mode, struct bytes data)
{
	int fd, error = dirfd_open(p->via, p->temporary, O_WRONLY | O_CREAT | O_EXCL, mode, &fd);

	if (error)
		return error;
	error = dirfd_write(fd, data);
	if (!error && p->owner)
		error = give_file(fd, p->owner);
	if (!error && p->how & STATE_PUT_SYNC && fsync(fd))
		error = errno;
	if (close(fd) && !error)
		error = errno;
	if (!error)
		error = name_written(s, p);
	if (error)
		unlinkat(p->via, p->temporary, 0);
	return error;
}

static int state_put_file(struct state *s, struct put *p, const char *in_source, mode_t mode,
			  struct bytes data)
{
	char temporary[STATE_TEMPORARY_SIZE];
	int error = in_source ? state_temporary(s, in_source, temporary, sizeof(temporary))
			      : state_partial(s, &p->via, temporary, sizeof(temporary));

	if (error)
		return error;
	p->temporary = temporary;
	error = write_via(s, p, mode, data);
	p->temporary = NULL;
	if (in_source)
		state_temporary_gone(s, in_source);
	else
		close(p->via);
	return error;
}

int state_put(struct state *s, int folder, const char *in_source, const char *name, mode_t mode,
	      struct bytes data, unsigned how)
{
	struct put p = {.via = folder, .folder = folder, .name = name, .how = how};

	return state_put_file(s, &p, in_source, mode, data);
}

int state_put_as(struct state *s, int folder, const char *in_source, const char *name,
		 const struct state_owner *owner, struct bytes data, unsigned how)
{
	struct put p = {.via = folder, .folder = folder, .name = name, .owner = owner, .how = how};

	return state_put_file(s, &p, in_source, 0600, data);
}

int state_put_below(struct state *s, enum state_area area, const char *path, int folder,
		    const char *name, const struct state_owner *owner, struct bytes data,
		    unsigned how)
{
	struct put p = {.via = -1,
			.folder = folder,
			.name = name,
			.owner = owner,
			.how = how,
			.path = path,
			.area = area};

	return state_put_file(s, &p, NULL, 0600, data);
}
