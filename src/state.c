/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "state.h"
#include "at.h"
#include "util/lock_classes.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#define FOLDER (O_PATH | O_DIRECTORY)
#define ENTRY_LIMIT ((size_t)16 << 20) /* of a list in mounts/: no honest one is larger */
#define PREFIX ".animfs-"
#define SUFFIX ".tmp"

static const char *const area_names[STATE_AREA_COUNT] = {"extra", "rejected", "backup", "filling"};

static const char readme[] =
	"This folder belongs to animfs, which shows animation files as folders of text.\n"
	"\n"
	"extra/     Ordinary files that you or your programs put beside the texts (notes,\n"
	"           an editor's backups and swap files), by the path of their folder.\n"
	"rejected/  Texts that could not be saved, as NAME.rejected, and why, as NAME.error.\n"
	"backup/    Animation files as they were before something was removed from them;\n"
	"           animfs undo FILE puts one back.\n"
	"filling/   Names the folders that are still to become clips or animation files.\n"
	"mounts/    One file for each mount; what a killed one left is cleaned by the next.\n"
	"partial/   What is being written for the others, until it is whole.\n"
	"lock       Held while an animation file is being replaced.\n"
	"\n"
	"While nothing is mounted you can copy things out of this folder or remove it;\n"
	"what is in extra/, rejected/ and backup/ is nowhere else.\n";

/* A folder of SOURCE that is listed, and how many temporaries are in it, or are about to be. */
struct flight {
	struct flight *next;
	unsigned count;
	char path[];
};

struct state {
	int source;
	/* DIR is opened anew each time, by its name, since people may remove or replace it. */
	int parent;
	char *name; /* "" when `parent` is DIR: state_move */
	bool read_only;

	struct lock replacing; /* state_lock: flock is between open files, not threads */
	int lock GUARDED_BY(replace_class);

	struct lock mutex;
	int entry GUARDED_BY(state_class); /* mounts/ID, -1 until the first temporary */
	char id[17] GUARDED_BY(state_class);
	uint64_t counter GUARDED_BY(state_class);
	struct flight *flights GUARDED_BY(state_class);
};

/* Was the file of this descriptor removed? */
static bool is_gone(int fd)
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
	int fd, error = at_open(root, "README", O_WRONLY | O_CREAT | O_EXCL, 0600, &fd);

	if (error)
		return error == EEXIST ? 0 : error;
	error = at_write(fd, bytes_of(readme));
	close(fd);
	return error;
}

static int make_root(struct state *s, int *root)
{
	int error;

	if (mkdirat(s->parent, s->name, 0700) && errno != EEXIST)
		return errno;
	error = at_open(s->parent, s->name, FOLDER, 0, root);
	if (error)
		return error;
	error = write_readme(*root);
	if (error)
		close(*root);
	return error;
}

static int open_root(struct state *s, bool make, int *root)
{
	int error;

	if (make && s->read_only)
		return EROFS;
	if (!*s->name)
		return at_walk(s->parent, "", FOLDER, root);
	error = at_open(s->parent, s->name, FOLDER, 0, root);
	return error == ENOENT && make ? make_root(s, root) : error;
}

static int reach(int folder, const char *path, bool make, int *fd)
{
	return make ? at_make_folders(folder, path, fd) : at_walk(folder, path, FOLDER, fd);
}

/* One of the folders in DIR. */
static int open_part(struct state *s, const char *name, bool make, int *fd)
{
	int root, error = open_root(s, make, &root);

	*fd = -1;
	if (error)
		return error;
	error = reach(root, name, make, fd);
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

/* The entries of a folder, one after the other; `folder` is taken over. */
static int each_name(int folder, int (*visit)(void *closure, int dir, const char *name),
		     void *closure)
{
	DIR *dir = fdopendir(folder);
	struct dirent *entry;
	int error = 0;

	if (!dir) {
		error = errno;
		close(folder);
		return error;
	}
	while ((entry = readdir(dir))) {
		int failed = visit(closure, dirfd(dir), entry->d_name);

		if (failed)
			error = failed;
	}
	closedir(dir);
	return error;
}

static int remove_temporary(void *id, int dir, const char *name)
{
	if (!is_temporary_of(name, id) || !unlinkat(dir, name, 0) || errno == ENOENT)
		return 0;
	return errno;
}

/* What is no folder of SOURCE, or no longer, needs no cleaning. */
static int clean_folder(struct state *s, const char *path, char *id)
{
	int folder, error = at_walk(s->source, path, O_RDONLY | O_DIRECTORY, &folder);

	if (error)
		return error == ENOENT || error == ENOTDIR || error == EINVAL ? 0 : error;
	return each_name(folder, remove_temporary, id);
}

/* A path without its NUL was never used: nothing is made before all of it is written. */
static int clean_folders(struct state *s, struct bytes list, char *id)
{
	const char *path = (const char *)list.data, *end = path + list.size, *stop;
	int error = 0;

	while (path < end && (stop = memchr(path, '\0', (size_t)(end - path)))) {
		int failed = clean_folder(s, path, id);

		if (failed)
			error = failed;
		path = stop + 1;
	}
	return error;
}

static int clean_listed(struct state *s, int mounts, char *id)
{
	struct buf list = BUF_INIT;
	struct stat st;
	int error = at_read(mounts, id, ENTRY_LIMIT, &list, &st);

	if (!error)
		error = clean_folders(s, buf_bytes(&list), id);
	buf_release(&list);
	return error;
}

/* An entry whose lock can be had belongs to a mount that is gone; the others are left alone. */
static int clean_entry(void *state, int mounts, const char *name)
{
	char *id = NULL;
	int fd;

	if (at_open(mounts, name, O_RDWR | O_NONBLOCK, 0, &fd))
		return 0;
	if (!lock_file(fd, LOCK_EX | LOCK_NB) && !is_gone(fd))
		id = strdup(name);
	if (id && !clean_listed(state, mounts, id))
		unlinkat(mounts, name, 0);
	free(id);
	close(fd);
	return 0;
}

/* What was being written by a mount that has no entry any more, so that none goes on with it. */
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
	int mounts, partial;

	if (at_walk(root, "mounts", FOLDER, &mounts))
		return;
	if (!at_walk(root, "partial", O_RDONLY | O_DIRECTORY, &partial))
		each_name(partial, remove_partial, &mounts);
	close(mounts);
}

/* What cannot be cleaned now stays for the next mount, so no failure matters here. */
static void clean(struct state *s)
{
	int root, mounts;

	if (open_root(s, false, &root))
		return;
	if (!at_walk(root, "mounts", O_RDONLY | O_DIRECTORY, &mounts))
		each_name(mounts, clean_entry, s);
	clean_partial(root);
	close(root);
}

/*
 * Beginning and end
 */

/* `path` is cut in two: the folder that DIR is in, and its name there. */
static int open_parent(struct state *s, char *path)
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

/* --state: the user's own path, so links in it are followed, once, here. */
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
	error = open_parent(s, path);
	free(path);
	if (error)
		return error;
	error = open_root(s, false, &root);
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
	if (!read_only)
		clean(s);
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

/* Where something is left the entry stays, so that the next mount looks there. */
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
 * What it is and holds
 */

int state_writable(struct state *s)
{
	int folder, error;

	if (s->read_only)
		return EROFS;
	error = open_root(s, false, &folder);
	if (error == ENOENT)
		error = at_walk(s->parent, "", FOLDER, &folder);
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
	return open_root(s, false, fd);
}

int state_hold(struct state *s, int *fd)
{
	return open_root(s, !s->read_only, fd);
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
	int top, error = open_part(s, area_names[area], make, &top);

	*fd = -1;
	if (error)
		return error;
	error = reach(top, path, make, fd);
	close(top);
	return error;
}

/* The folder above the last name of a path; *name points into path. */
static int reach_parent(int top, const char *path, bool make, const char **name, int *fd)
{
	const char *slash = strrchr(path, '/');
	char *parent = slash ? strndup(path, (size_t)(slash - path)) : strdup("");
	int error = parent ? reach(top, parent, make, fd) : ENOMEM;

	free(parent);
	*name = slash ? slash + 1 : path;
	return error;
}

static int rename_in_area(int top, const char *from, const char *to)
{
	const char *old_name, *new_name;
	int old_folder, new_folder, error;

	error = reach_parent(top, from, false, &old_name, &old_folder);
	if (error)
		return error;
	if (faccessat(old_folder, old_name, F_OK, AT_SYMLINK_NOFOLLOW))
		error = errno;
	if (!error)
		error = reach_parent(top, to, true, &new_name, &new_folder);
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

	for (size_t i = 0; i < ARRAY_SIZE(area_names); i++) {
		int top, error = open_part(s, area_names[i], false, &top);

		if (!error) {
			error = rename_in_area(top, from, to);
			close(top);
		}
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
	int root, error = open_root(s, true, &root);

	if (error)
		return error;
	error = at_open(root, "lock", O_RDWR | O_CREAT, 0600, &s->lock);
	close(root);
	return error;
}

static void close_lock(struct state *s) REQUIRES(replace_class)
{
	if (s->lock >= 0)
		close(s->lock);
	s->lock = -1;
}

/* People may remove the file: the next one locks a new one, and so must we. */
static int take_lock(struct state *s) REQUIRES(replace_class)
{
	int error;

	do {
		close_lock(s);
		error = open_lock(s);
		if (!error)
			error = lock_file(s->lock, LOCK_EX | LOCK_NB);
	} while (!error && is_gone(s->lock));
	if (error)
		close_lock(s);
	return error == EWOULDBLOCK ? EBUSY : error;
}

int state_trylock(struct state *s)
{
	int error;

	lock_acquire(&s->replacing, &replace_class);
	error = take_lock(s);
	if (error)
		lock_release(&s->replacing, &replace_class);
	return error;
}

void state_unlock(struct state *s)
{
	close_lock(s);
	lock_release(&s->replacing, &replace_class);
}

static int64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

#define WAIT_STEP_MS 5

/* There is no flock with an end of its waiting. */
int state_wait(struct state *s, int64_t ms)
{
	const struct timespec step = {.tv_nsec = WAIT_STEP_MS * 1000000};
	const int64_t end = now_ms() + ms;
	int error;

	while ((error = state_trylock(s)) == EBUSY) {
		if (now_ms() >= end)
			return ETIMEDOUT;
		nanosleep(&step, NULL);
	}
	if (!error)
		state_unlock(s);
	return error;
}

int state_lock(struct state *s)
{
	int error;

	while ((error = state_trylock(s)) == EBUSY) {
		error = state_wait(s, INT32_MAX);
		if (error && error != ETIMEDOUT)
			break;
	}
	return error;
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

/* Until it is locked, another mount may take the new entry for a stale one and remove it. */
static int make_entry(struct state *s, int mounts) REQUIRES(state_class)
{
	int error;

	do {
		if (s->entry >= 0)
			close(s->entry);
		s->entry = -1;
		error = random_id(s->id);
		if (!error)
			error = at_open(mounts, s->id, O_RDWR | O_CREAT | O_EXCL | O_APPEND, 0600,
					&s->entry);
		if (!error)
			error = lock_file(s->entry, LOCK_EX);
	} while (error == EEXIST || (!error && is_gone(s->entry)));
	if (error && s->entry >= 0) {
		unlinkat(mounts, s->id, 0);
		close(s->entry);
		s->entry = -1;
	}
	return error;
}

/* What a removed entry listed is lost with it; what comes now is listed in a new one. */
static int need_entry(struct state *s) REQUIRES(state_class)
{
	int mounts, error;

	if (s->entry >= 0 && !is_gone(s->entry))
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

/* Half a path must not stay: the next one would be appended to it. */
static int list_path(struct state *s, const char *path, size_t size) REQUIRES(state_class)
{
	struct stat before;
	int error;

	if (fstat(s->entry, &before))
		return errno;
	error = at_write(s->entry, (struct bytes){(const uint8_t *)path, size});
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
	error = list_path(s, path, size);
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

/* Where a file is written, whose it is, and where it goes then. */
struct put {
	int via, folder;
	const char *temporary, *name;
	const struct state_owner *owner; /* NULL: ours */
	unsigned how;
};

static int give(int fd, const struct state_owner *owner)
{
	mode_t mode = owner->mode & 0777;
	struct stat st;

	if (fstat(fd, &st))
		return errno;
	if ((st.st_uid != owner->uid || st.st_gid != owner->gid) &&
	    fchown(fd, owner->uid, owner->gid)) {
		if (errno != EPERM)
			return errno;
		/* Only root can give files away. Another group may what the others may. */
		if (st.st_gid != owner->gid && fchown(fd, (uid_t)-1, owner->gid))
			mode = (mode & 0707) | (mode & 07) << 3;
	}
	return fchmod(fd, mode) ? errno : 0;
}

static int write_via(const struct put *p, mode_t mode, struct bytes data)
{
	int fd, error = at_open(p->via, p->temporary, O_WRONLY | O_CREAT | O_EXCL, mode, &fd);

	if (error)
		return error;
	error = at_write(fd, data);
	if (!error && p->owner)
		error = give(fd, p->owner);
	if (!error && p->how & STATE_PUT_SYNC && fsync(fd))
		error = errno;
	if (close(fd) && !error)
		error = errno;
	if (!error)
		error = at_rename(p->via, p->temporary, p->folder, p->name,
				  p->how & STATE_PUT_NEW ? RENAME_NOREPLACE : 0);
	if (error)
		unlinkat(p->via, p->temporary, 0);
	return error;
}

static int put(struct state *s, struct put *p, const char *in_source, mode_t mode,
	       struct bytes data)
{
	char temporary[STATE_TEMPORARY_SIZE];
	int error = in_source ? state_temporary(s, in_source, temporary, sizeof(temporary))
			      : state_partial(s, &p->via, temporary, sizeof(temporary));

	if (error)
		return error;
	p->temporary = temporary;
	error = write_via(p, mode, data);
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

	return put(s, &p, in_source, mode, data);
}

int state_put_as(struct state *s, int folder, const char *in_source, const char *name,
		 const struct state_owner *owner, struct bytes data, unsigned how)
{
	struct put p = {.via = folder, .folder = folder, .name = name, .owner = owner, .how = how};

	return put(s, &p, in_source, 0600, data);
}
