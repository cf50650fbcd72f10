/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "history.h"

#include "attributes.h"
#include "dirfd.h"
#include "history_room.h"
#include "util/clock.h"
#include "util/timing.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/fs.h>
#include <linux/limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define PATH "path"
#define BLOB "blob"
#define BLOB_MAX ((size_t)64 << 20)
#define COUNT ".count"
#define COUNT_SIZE 256
#define COUNT_AGE ((int64_t)3600 * 1000000000) /* then all is counted again */
#define WHAT_MAX 400
#define PROGRAM_MAX 64
#define VIEW_MAX 2048
#define THIN_EVERY 64 /* a file's versions are thinned out each time this many were added */
#define SLACK 16      /* when the limit is exceeded, drop another 1/SLACK of it beyond that */
#define RUNNING_MAX 64

/* A batch that is running, and the number of files in which it runs. */
struct running {
	uint64_t batch; /* id of the batch; 0: the slot is free */
	unsigned files;
};

struct history {
	struct state *state;
	uint64_t limit;
	struct lock lock;
	struct running running[RUNNING_MAX] GUARDED_BY(history_class);
	pthread_cond_t changed;
	bool moving GUARDED_BY(
		history_class); /* a rename in SOURCE and in the history is in progress */
	unsigned opening GUARDED_BY(history_class); /* saves that are opening their folder */
	/* Bytes of all versions, as they were counted at `counted`; since then added up. */
	uint64_t total GUARDED_BY(replace_class);
	int64_t counted GUARDED_BY(replace_class);
};

UNSHARED struct history *history_new(struct state *state, uint64_t limit)
{
	struct history *h = calloc(1, sizeof(*h));

	if (!h)
		return NULL;
	h->state = state;
	h->limit = limit;
	lock_init(&h->lock);
	lock_condition_init(&h->changed);
	return h;
}

UNSHARED void history_free(struct history *h)
{
	if (!h)
		return;
	pthread_cond_destroy(&h->changed);
	lock_destroy(&h->lock);
	free(h);
}

struct state *history_state(const struct history *h)
{
	return h->state;
}

/* ---- names that move ---- */

void history_begin_move(struct history *h)
{
	if (!h)
		return;
	lock_acquire(&h->lock, &history_class);
	h->moving = true;
	while (h->opening)
		lock_wait(&h->lock, &history_class, &h->changed);
	lock_release(&h->lock, &history_class);
}

void history_end_move(struct history *h)
{
	if (!h)
		return;
	lock_acquire(&h->lock, &history_class);
	h->moving = false;
	pthread_cond_broadcast(&h->changed);
	lock_release(&h->lock, &history_class);
}

static void begin_opening(struct history *h)
{
	lock_acquire(&h->lock, &history_class);
	while (h->moving)
		lock_wait(&h->lock, &history_class, &h->changed);
	h->opening++;
	lock_release(&h->lock, &history_class);
}

static void end_opening(struct history *h)
{
	lock_acquire(&h->lock, &history_class);
	h->opening--;
	pthread_cond_broadcast(&h->changed);
	lock_release(&h->lock, &history_class);
}

static int64_t ns_of(const struct timespec *t)
{
	return (int64_t)t->tv_sec * 1000000000 + t->tv_nsec;
}

/* ---- folders ---- */

#define KEY_SIZE 33

static void history_key_of(const char *path, char out[KEY_SIZE])
{
	struct history_digest d = history_digest_of(bytes_of(path));

	snprintf(out, KEY_SIZE, "%016" PRIx64 "%016" PRIx64, d.high, d.low);
}

static bool history_path_of(const struct history_file *f, struct buf *out)
{
	buf_text(out, f->folder);
	if (*f->folder)
		buf_char(out, '/');
	buf_text(out, f->name);
	buf_char(out, '\0');
	return !out->failed;
}

/* Opens the history folder. With `make`, creates a missing one and hides it from git. */
static int open_top(struct state *state, bool make, int *top)
{
	int error = state_folder(state, STATE_HISTORY, "", make, top), fd;

	if (error || !make)
		return error;
	if (!dirfd_open(*top, ".gitignore", O_WRONLY | O_CREAT | O_EXCL, 0600, &fd)) {
		dirfd_write(fd, bytes_of("*\n"));
		close(fd);
	}
	return 0;
}

/*
 * Reads the path of the animation file whose versions are in the folder. ENOENT if none is
 * stored.
 */
static int read_path(int folder, struct buf *out)
{
	struct stat st;
	int error = dirfd_read(folder, PATH, PATH_MAX, out, &st);

	if (error)
		return error;
	buf_char(out, '\0');
	if (out->failed)
		return ENOMEM;
	return out->size > 1 ? 0
			     : ENOENT; /* empty if a power cut came before the path was written */
}

static int write_path(struct state *state, int folder, const char *path)
{
	return state_put(state, folder, NULL, PATH, 0600, bytes_of(path), STATE_PUT_SYNC);
}

/*
 * Makes a key available: renames the key's folder, whose versions belong to another path or
 * owner.
 */
static int set_aside(int top, const char *key)
{
	char name[KEY_SIZE + 16];

	for (unsigned i = 1; i < 10000; i++) {
		snprintf(name, sizeof(name), "%s-%u", key, i);
		if (faccessat(top, name, F_OK, AT_SYMLINK_NOFOLLOW) && errno == ENOENT)
			return renameat(top, key, top, name) ? errno : 0;
	}
	return EEXIST;
}

bool history_earlier(const char *path, unsigned i, char out[PATH_MAX])
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	const size_t stem =
		(size_t)(name - path) + (*name == '.') + strcspn(name + (*name == '.'), ".");
	const int size = snprintf(out, PATH_MAX, "%.*s~%u~%s", (int)stem, path, i, path + stem);

	return size < PATH_MAX && strlen(out + (name - path)) <= NAME_MAX;
}

/*
 * Moves a folder to the key of another path. The path file is changed first: after a kill,
 * history_recover renames the folder to match.
 */
static int give_path(struct state *state, int top, const char *key, const char *path)
{
	char right[KEY_SIZE];
	int folder, error = dirfd_walk(top, key, O_PATH | O_DIRECTORY, &folder);

	if (error)
		return error;
	error = write_path(state, folder, path);
	close(folder);
	history_key_of(path, right);
	return error ? error : dirfd_rename(top, key, top, right, RENAME_NOREPLACE);
}

/*
 * Frees the key of a path whose file is gone: the file's versions become those of an earlier file
 * (history_earlier).
 */
static void set_earlier(struct state *state, int top, const char *path)
{
	char key[KEY_SIZE], free_key[KEY_SIZE], to[PATH_MAX];
	struct stat st;

	history_key_of(path, key);
	for (unsigned i = 1; i <= HISTORY_EARLIER_MAX && history_earlier(path, i, to); i++) {
		history_key_of(to, free_key);
		if (!faccessat(top, free_key, F_OK, AT_SYMLINK_NOFOLLOW) ||
		    !fstatat(state_source(state), to, &st, AT_SYMLINK_NOFOLLOW))
			continue;
		if (!give_path(state, top, key, to))
			return;
		break;
	}
	set_aside(top, key);
}

/*
 * Frees a key whose folder has another path. Two paths have the same key only if they were
 * constructed to; otherwise another process is moving the folder, or was killed meanwhile.
 */
static int clear_key(int top, const char *key, const char *there)
{
	char right[KEY_SIZE];

	history_key_of(there, right);
	if (strcmp(right, key) != 0 && !dirfd_rename(top, key, top, right, RENAME_NOREPLACE))
		return 0;
	return set_aside(top, key);
}

static int check_path(struct state *state, int top, const char *key, const char *path, bool make,
		      int *folder)
{
	struct buf there = BUF_INIT;
	const int unread = read_path(*folder, &there);
	bool said = unread == 0;
	int error = 0;

	if (said && strcmp((const char *)there.data, path) != 0) {
		close(*folder);
		*folder = -1;
		error = make ? clear_key(top, key, (const char *)there.data) : ENOENT;
		if (!error)
			error = dirfd_make_folders(top, key, folder);
		said = false;
	}
	if (!error && !said)
		error = make ? write_path(state, *folder, path) : unread;
	if (error && *folder >= 0) {
		close(*folder);
		*folder = -1;
	}
	buf_release(&there);
	return error;
}

/*
 * Opens the folder of a file's versions. Without `make`, ENOENT if it does not exist. Another errno
 * if its path file cannot be read: treating the folder as missing would replace its content.
 */
static int history_open_folder(struct state *state, const char *path, bool make, int *folder)
{
	char key[KEY_SIZE];
	int top, error = open_top(state, make, &top);

	*folder = -1;
	if (error)
		return error;
	history_key_of(path, key);
	error = make ? dirfd_make_folders(top, key, folder)
		     : dirfd_walk(top, key, O_PATH | O_DIRECTORY, folder);
	if (!error)
		error = check_path(state, top, key, path, make, folder);
	close(top);
	return error;
}

/* ---- the count ---- */

/*
 * The file COUNT holds the bytes of all versions, for whichever process saves next, and the mtime
 * that the folder got with it. If the folder has another one, the count is out of date.
 */
static bool history_read_count(struct history *h) REQUIRES(replace_class)
{
	struct buf text = BUF_INIT;
	int64_t seconds, counted, age;
	uint64_t total;
	long ns;
	struct stat top, st;
	int fd;
	bool valid;

	if (open_top(h->state, false, &fd))
		return false;
	valid = !fstat(fd, &top) && !dirfd_read(fd, COUNT, COUNT_SIZE, &text, &st);
	close(fd);
	buf_char(&text, '\0');
	valid = valid && !text.failed &&
		sscanf((const char *)text.data, "%" SCNu64 " %" SCNd64 " %" SCNd64 ".%ld\n", &total,
		       &counted, &seconds, &ns) == 4;
	buf_release(&text);
	if (!valid || seconds != top.st_mtim.tv_sec || ns != top.st_mtim.tv_nsec)
		return false;
	age = clock_wall_ns() - counted;
	h->total = total;
	h->counted = counted;
	return age >= 0 && age < COUNT_AGE;
}

static void history_write_count(struct history *h) REQUIRES(replace_class)
{
	struct timespec times[2] = {{.tv_nsec = UTIME_OMIT}};
	char line[COUNT_SIZE];
	const int flags = O_WRONLY | O_CREAT | O_NONBLOCK | O_NOCTTY;
	struct stat st;
	int top, fd, size, error;

	if (open_top(h->state, false, &top))
		return;
	/* First: a new file changes the folder's mtime. */
	error = dirfd_open(top, COUNT, flags, 0600, &fd);
	/* Another user's: root saved in our state directory. */
	if (error == EACCES && !unlinkat(top, COUNT, 0))
		error = dirfd_open(top, COUNT, flags, 0600, &fd);
	if (!error) {
		times[1] = clock_wall();
		if (!utimensat(top, ".", times, 0) && !fstat(top, &st)) {
			size = snprintf(line, sizeof(line),
					"%020" PRIu64 " %020" PRId64 " %020" PRId64 ".%09ld\n",
					h->total, h->counted, (int64_t)st.st_mtim.tv_sec,
					st.st_mtim.tv_nsec);
			(void)!pwrite(fd, line, (size_t)size, 0);
		}
		close(fd);
	}
	close(top);
}

/*
 * Makes the next save count all versions. The file is kept, since a full disk might not let us
 * create it again.
 */
static void history_forget_count(struct history *h) REQUIRES(replace_class)
{
	h->counted = 0;
	history_write_count(h);
}

/* ---- lines ---- */

/*
 * Appends a line. A line that was written only in part is removed, since the next line would
 * continue it.
 */
static int append_line(int folder, struct bytes line)
{
	struct stat before;
	const int flags = O_WRONLY | O_APPEND | O_CREAT | O_NONBLOCK | O_NOCTTY;
	int fd, error = dirfd_open(folder, HISTORY_LOG, flags, 0600, &fd);

	if (error)
		return error;
	if (fstat(fd, &before)) {
		error = errno;
	} else if (!S_ISREG(before.st_mode)) {
		error = EINVAL;
	} else {
		error = dirfd_write(fd, line);
		if (error && ftruncate(fd, before.st_size))
			error = errno;
	}
	close(fd);
	return error;
}

/*
 * Makes the log durable: after a power cut, a version's bytes are only found through a line with
 * its number.
 */
static int sync_log(int folder)
{
	int fd, error = dirfd_open(folder, HISTORY_LOG, O_RDONLY | O_NONBLOCK, 0, &fd);

	if (error)
		return error;
	if (fsync(fd) && errno != EINVAL)
		error = errno;
	close(fd);
	return error;
}

static int append_entry(struct history_save *s, const struct history_entry *e)
	REQUIRES(replace_class)
{
	struct buf line = BUF_INIT;
	int error;

	if (s->log.torn)
		buf_char(&line, '\n');
	history_log_line(e, &line);
	error = line.failed ? ENOMEM : append_line(s->folder, buf_bytes(&line));
	if (history_yield(s->history, error, -1, line.size, geteuid()))
		error = append_line(s->folder, buf_bytes(&line));
	if (!error)
		s->log.torn = false;
	buf_release(&line);
	return error;
}

/* ---- the beginning of a save ---- */

static bool has_digest(int dir, const char *name, const struct history_digest *digest)
{
	struct buf bytes = BUF_INIT;
	struct history_digest now;
	struct stat st;
	int error = dirfd_read(dir, name, SIZE_MAX, &bytes, &st);

	now = history_digest_of(buf_bytes(&bytes));
	buf_release(&bytes);
	return !error && history_digest_same(&now, digest);
}

#define TICK 10000000 /* nanoseconds by which the kernel's clock for files may be late */

/*
 * Did the file exist before the version was recorded? False if the filesystem stores no birth
 * time.
 */
static bool is_older(int dir, const char *name, int64_t time)
{
	struct statx st;

	if (statx(dir, name, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT, STATX_BTIME, &st) ||
	    !(st.stx_mask & STATX_BTIME))
		return false;
	return st.stx_btime.tv_sec * 1000000000 + st.stx_btime.tv_nsec < time - TICK;
}

/*
 * Is the file still the one of this log entry? A new file may have got the inode number of a
 * removed one.
 */
static bool is_same_file(const struct history_entry *e, int dir, const char *name,
			 const struct stat *st)
{
	return e->dev == st->st_dev && e->ino == st->st_ino &&
	       (is_older(dir, name, e->time) || has_digest(dir, name, &e->digest));
}

/*
 * Does the file belong to another owner than the last version, and is it another file? (chown keeps
 * it the same file.)
 */
static bool is_foreign(const struct history_entry *last, const struct history_file *f,
		       const struct stat *st)
{
	return last->uid != st->st_uid && !is_same_file(last, f->dir, f->name, st);
}

/*
 * Removes the bytes of a version that are a hard link to the live file: an earlier save was killed
 * before its rename.
 */
static void history_drop_link(int folder, uint64_t number, const struct stat *live)
{
	char name[HISTORY_NAME_SIZE];
	struct stat st;

	history_name(number, name);
	if (!fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) && st.st_dev == live->st_dev &&
	    st.st_ino == live->st_ino)
		unlinkat(folder, name, 0);
}

static void note_last(struct history_save *s)
{
	const struct history_entry *last = history_log_last(&s->log);

	s->has_last = last != NULL;
	if (last)
		s->last = *last;
}

/* Reads the end of the log, where the last version is. */
static int history_read_end(struct history_save *s, const struct bytes *was)
{
	const struct history_file *f = s->file;
	struct stat st;
	int error = history_log_read_end(s->folder, &s->log);

	note_last(s);
	if (error)
		return error;
	s->had_file = was != NULL;
	if (was)
		s->was = s->file->was ? *s->file->was : history_digest_of(*was);
	if (!s->has_last)
		return 0;
	if (!was) {
		s->is_strange = s->last.kind != HISTORY_REMOVED;
		s->is_unnoted = s->is_strange && history_log_keeps(s->folder, s->last.number);
		return 0;
	}
	if (fstatat(f->dir, f->name, &st, AT_SYMLINK_NOFOLLOW))
		return errno;
	history_drop_link(s->folder, s->last.number, &st);
	s->is_foreign = is_foreign(&s->last, f, &st);
	s->is_unnoted = history_log_keeps(s->folder, s->last.number);
	s->is_strange = s->is_unnoted || s->last.kind == HISTORY_REMOVED ||
			!history_digest_same(&s->last.digest, &s->was);
	return 0;
}

/* Sets aside versions that belong to another owner, and begins a new history. */
static int begin_anew(struct history_save *s)
{
	char key[KEY_SIZE];
	int top, error = open_top(s->history->state, true, &top);

	close(s->folder);
	s->folder = -1;
	if (error)
		return error;
	history_key_of((const char *)s->path.data, key);
	error = set_aside(top, key);
	close(top);
	if (!error)
		error = history_open_folder(s->history->state, (const char *)s->path.data, true,
					    &s->folder);
	history_log_release(&s->log);
	s->has_last = s->is_foreign = s->is_unnoted = false;
	s->is_strange = true;
	s->last = (struct history_entry){.number = 0};
	return error;
}

static void describe_file(struct history_entry *e, const struct stat *st)
{
	e->size = (uint64_t)st->st_size;
	e->mtime = ns_of(&st->st_mtim);
	e->dev = st->st_dev;
	e->ino = st->st_ino;
	e->uid = st->st_uid;
}

/*
 * Returns the number for the next version. A power cut may have left bytes whose line is lost; they
 * are not overwritten.
 */
static uint64_t next_number(const struct history_save *s)
{
	uint64_t number = s->last.number + 1;

	while (history_log_keeps(s->folder, number))
		number++;
	return number;
}

/* Adds a line for the version on disk if it has none. */
static int note_found(struct history_save *s) REQUIRES(replace_class)
{
	static const char unnoted[] = "saved by a program that was killed";
	struct history_entry e = {.number = next_number(s),
				  .kind = HISTORY_FOUND,
				  .view = "",
				  .program = "",
				  .what = s->is_unnoted ? unnoted
					  : s->has_last ? "changed by another program"
							: "as it was found"};
	struct stat st;
	int error;

	if (fstatat(s->file->dir, s->file->name, &st, AT_SYMLINK_NOFOLLOW))
		return errno;
	describe_file(&e, &st);
	e.time = s->is_unnoted ? clock_wall_ns() : e.mtime;
	e.digest = s->was;
	error = append_entry(s, &e);
	if (!error) {
		s->last = e;
		s->has_last = true;
	}
	return error;
}

static int note_lost(struct history_save *s) REQUIRES(replace_class)
{
	struct history_entry e = {.number = next_number(s),
				  .kind = HISTORY_REMOVED,
				  .time = clock_wall_ns(),
				  .uid = s->last.uid,
				  .view = "",
				  .program = "",
				  .what = "removed by another program"};
	int error = append_entry(s, &e);

	if (!error)
		s->last = e;
	return error;
}

/* Makes the last line describe the file as it is now. */
static int history_catch_up(struct history_save *s) REQUIRES(replace_class)
{
	int error = s->is_foreign ? begin_anew(s) : 0;

	if (error || (s->has_last && !s->is_strange))
		return error;
	if (s->had_file)
		return note_found(s);
	return s->has_last ? note_lost(s) : 0;
}

static bool joins_last(const struct history_save *s, uint64_t batch)
{
	return batch && s->has_last && s->last.batch == batch &&
	       (s->last.kind == HISTORY_EDIT || s->last.kind == HISTORY_MADE);
}

static void release_save(struct history_save *s)
{
	if (s->folder >= 0)
		close(s->folder);
	s->folder = -1;
	history_log_release(&s->log);
	buf_release(&s->path);
}

/* Is the folder still at the path that the caller gave? */
static bool history_is_there(const struct state *state, const struct history_file *f)
{
	struct stat there, here;
	bool same;
	int fd;

	if (state_walk(state, f->folder, &fd))
		return false;
	same = fstat(fd, &there) == 0 && fstatat(f->dir, "", &here, AT_EMPTY_PATH) == 0 &&
	       there.st_dev == here.st_dev && there.st_ino == here.st_ino;
	close(fd);
	return same;
}

static bool path_of_folder(int fd, char out[PATH_MAX])
{
	char link[DIRFD_PROC_SIZE];
	ssize_t size = dirfd_proc_path(fd, NULL, link, sizeof(link))
			       ? -1
			       : readlinkat(AT_FDCWD, link, out, PATH_MAX - 1);

	if (size > 0)
		out[size] = '\0';
	return size > 0;
}

/* Finds the present path of the folder from SOURCE. False if it is not known. */
static bool history_find_folder(const struct state *state, const struct history_file *f,
				char out[PATH_MAX])
{
	char source[PATH_MAX], here[PATH_MAX];
	struct history_file found = *f;
	size_t length;

	if (!path_of_folder(state_source(state), source) || !path_of_folder(f->dir, here))
		return false;
	length = strcmp(source, "/") == 0 ? 0 : strlen(source);
	if (strncmp(here, source, length) != 0 || (here[length] && here[length] != '/'))
		return false;
	strcpy(out, here + length + (here[length] == '/'));
	found.folder = out;
	return history_is_there(state, &found);
}

/*
 * Returns the present path of the file. A folder above may have been renamed since the caller
 * looked; the file itself is not renamed during a save.
 */
static bool path_now(const struct state *state, const struct history_file *f, struct buf *out)
{
	struct history_file found = *f;
	char folder[PATH_MAX];

	if (f->dir >= 0 && !history_is_there(state, f) && history_find_folder(state, f, folder))
		found.folder = folder;
	return history_path_of(&found, out);
}

static int open_save(struct history_save *s, const struct bytes *was)
{
	struct history *h = s->history;
	int error = ENOMEM;

	begin_opening(h);
	if (path_now(h->state, s->file, &s->path))
		error = history_open_folder(h->state, (const char *)s->path.data, true, &s->folder);
	end_opening(h);
	return error ? error : history_read_end(s, was);
}

/* Must the replaced version be kept, unless it is kept already? */
static bool wants_bytes(const struct history_save *s)
{
	return s->folder >= 0 && s->has_last && !s->is_joined && !s->copy;
}

/* Finds a kept version that has the file's present bytes, as after an undo or redo; 0: none. */
static uint64_t find_copy(const struct history_save *s)
{
	if (!s->has_last || s->last.kind != HISTORY_STEP || *s->last.view)
		return 0;
	for (size_t i = s->log.count; i-- > 0;) {
		const struct history_entry *e = &s->log.list[i];

		if (e->number < s->last.number && e->size == s->last.size &&
		    history_digest_same(&e->digest, &s->last.digest) &&
		    history_log_keeps(s->folder, e->number))
			return e->number;
	}
	return 0;
}

static int begin_save(struct history_save *s, const struct bytes *was, uint64_t batch)
	REQUIRES(replace_class)
{
	const bool is_counted = history_read_count(s->history);
	int error = open_save(s, was);

	/* The first save of a file makes a folder, which changes the mtime and not the count. */
	if (is_counted && !history_read_count(s->history))
		history_write_count(s->history);
	if (!error)
		error = history_catch_up(s);
	if (error)
		return error;
	s->is_joined = joins_last(s, batch);
	s->copy = find_copy(s);
	return wants_bytes(s) ? sync_log(s->folder) : 0;
}

int history_begin(struct history *h, struct history_save *s, const struct history_file *file,
		  const struct bytes *was, uint64_t batch)
{
	int error;

	*s = (struct history_save){
		.history = h, .file = file, .folder = -1, .log = HISTORY_LOG_INIT};
	if (was)
		s->there = *was;
	if (!h || !h->limit)
		return 0;
	error = begin_save(s, was, batch);
	if (history_yield(h, error, -1, 0, geteuid())) {
		release_save(s);
		error = begin_save(s, was, batch);
	}
	if (error)
		release_save(s);
	return history_needs_room(error) ? 0 : error;
}

const char *history_line(const struct history_save *s)
{
	return s->folder >= 0 && s->is_joined ? s->last.what : "";
}

/* ---- keeping ---- */

/*
 * Fills a copy from a file or from bytes. *payer gets the user whose quota is full, if the result
 * is EDQUOT.
 */
static int fill_copy(int from, int to, const struct bytes *bytes, uid_t *payer)
{
	struct attributes attributes = ATTRIBUTES_INIT;
	int error = 0;

	if (from < 0)
		error = dirfd_write(to, *bytes);
	else if (ioctl(to, FICLONE, from))
		error = dirfd_copy(from, to);
	if (!error && from >= 0)
		error = attributes_read(from, &attributes);
	if (!error && from >= 0) {
		*payer = attributes.uid;
		error = attributes_give(&attributes, to);
	}
	attributes_release(&attributes);
	return error;
}

/* Makes a copy of a file or, if `from` is -1, of the bytes. */
static int copy_once(struct history_save *s, int from, const struct bytes *bytes, const char *name,
		     uid_t *payer)
{
	char temporary[STATE_TEMPORARY_SIZE];
	int via, to, error = state_partial(s->history->state, &via, temporary, sizeof(temporary));

	if (error)
		return error;
	error = dirfd_open(via, temporary, O_WRONLY | O_CREAT | O_EXCL, 0600, &to);
	if (!error) {
		error = fill_copy(from, to, bytes, payer);
		if (!error && fsync(to))
			error = errno;
		close(to);
	}
	if (!error)
		error = dirfd_rename(via, temporary, s->folder, name, RENAME_NOREPLACE);
	if (!error)
		error = dirfd_sync_folder(s->folder);
	if (error)
		unlinkat(via, temporary, 0);
	close(via);
	return error;
}

/*
 * Keeps a copy of the old version. If the disk is full, the version is not kept, but the save
 * continues.
 */
static int keep_copy(struct history_save *s, int from, const struct bytes *bytes, uint64_t size)
	REQUIRES(replace_class)
{
	char name[HISTORY_NAME_SIZE];
	uid_t payer = geteuid();
	int error;

	history_name(s->last.number, name);
	error = copy_once(s, from, bytes, name, &payer);
	if (history_yield(s->history, error, -1, size, payer))
		error = copy_once(s, from, bytes, name, &payer);
	if (!error)
		s->added += history_cost(size);
	return history_needs_room(error) ? 0 : error;
}

static int history_copy_file(struct history_save *s, int dir, const char *file, uint64_t size)
	REQUIRES(replace_class)
{
	int from, error = dirfd_open(dir, file, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0, &from);

	if (error)
		return error;
	error = keep_copy(s, from, NULL, size);
	close(from);
	return error;
}

/*
 * Drops the page cache of a kept version, which is unlikely to be read soon: the next save can use
 * these pages, and allocating new ones is the most expensive part of a save.
 */
static void drop_pages(int dir, const char *name)
{
	int fd;

	if (dirfd_open(dir, name, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0, &fd))
		return;
	posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
	close(fd);
}

/*
 * Keeps the old version by a link or, if that is impossible, a copy. A file with other hard links
 * is copied, since it can be written to through them; so is a file that cannot be linked (EPERM on
 * FAT, or for another user's file; EXDEV).
 */
static int history_keep_old(struct history_save *s, int dir, const char *name, bool spare)
	REQUIRES(replace_class)
{
	char kept[HISTORY_NAME_SIZE];
	struct stat st;
	int error = EPERM;

	if (s->folder < 0)
		return 0;
	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW))
		return errno;
	s->is_linked = st.st_nlink > 1;
	if (!wants_bytes(s))
		return 0;
	history_name(s->last.number, kept);
	if (st.st_nlink == 1 && spare)
		error = dirfd_rename(dir, name, s->folder, kept, RENAME_NOREPLACE);
	else if (st.st_nlink == 1)
		error = linkat(dir, name, s->folder, kept, 0) ? errno : 0;
	if (error)
		return error == EEXIST ? EAGAIN
				       : history_copy_file(s, dir, name, (uint64_t)st.st_size);
	s->added += history_cost((uint64_t)st.st_size);
	if (spare)
		drop_pages(s->folder, kept);
	return 0;
}

/* Called by replace_place, whose caller holds the lock. */
UNSHARED int history_keep(void *save, int dir, const char *name, bool spare)
{
	return history_keep_old(save, dir, name, spare);
}

int history_base(struct history_save *s, struct bytes base, const struct history_note *note)
{
	struct history_entry e = {.number = next_number(s),
				  .kind = HISTORY_MADE,
				  .batch = note->batch,
				  .time = clock_wall_ns(),
				  .size = base.size,
				  .digest = history_digest_of(base),
				  .uid = s->last.uid,
				  .view = "",
				  .program = note->program ? note->program : "",
				  .what = "as it came"};
	int error;

	if (s->folder < 0)
		return 0;
	error = append_entry(s, &e);
	if (error)
		return error;
	s->last = e;
	s->has_last = s->had_file = true;
	s->is_joined = false;
	s->copy = 0;
	return keep_copy(s, -1, &base, base.size);
}

/*
 * Keeps another program's file as a version of its own: we moved it away and cannot move it back,
 * since its name is in use again.
 */
static int keep_other(struct history_save *s, int dir, const char *name, struct bytes bytes)
	REQUIRES(replace_class)
{
	struct history_entry e = {.number = next_number(s),
				  .kind = HISTORY_FOUND,
				  .time = clock_wall_ns(),
				  .digest = history_digest_of(bytes),
				  .view = "",
				  .program = "",
				  .what = "changed by another program"};
	char kept[HISTORY_NAME_SIZE];
	struct stat st;
	int error;

	if (s->folder < 0 || fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW))
		/* leave the file under its temporary name; a later mount moves it back */
		return EAGAIN;
	describe_file(&e, &st);
	error = append_entry(s, &e);
	if (error)
		return error;
	history_name(e.number, kept);
	error = dirfd_rename(dir, name, s->folder, kept, RENAME_NOREPLACE);
	return error && error != EXDEV ? error : EAGAIN;
}

/*
 * Checks the file that was moved to a private name. If another program, which takes no lock, had
 * replaced the file before, moves it back and returns EAGAIN.
 */
static int check_moved(struct history_save *s, int dir, const char *name) REQUIRES(replace_class)
{
	const struct history_file *f = s->file;
	struct buf bytes = BUF_INIT;
	struct stat st;
	int error = dirfd_read(dir, name, SIZE_MAX, &bytes, &st), back;

	if (!error && !bytes_equal(buf_bytes(&bytes), s->there))
		error = EAGAIN;
	if (error) {
		back = dirfd_rename(dir, name, f->dir, f->name, RENAME_NOREPLACE);
		if (back == EEXIST && error == EAGAIN)
			back = keep_other(s, dir, name, buf_bytes(&bytes));
		error = back ? back : error;
	}
	buf_release(&bytes);
	return error;
}

/* Removes the file that was moved to a private name; if that fails, renames it back. */
static int remove_checked(struct history_save *s, const char *moved, uint64_t size)
	REQUIRES(replace_class)
{
	const struct history_file *f = s->file;
	int error = wants_bytes(s) ? history_copy_file(s, f->dir, moved, size) : 0;

	if (!error && unlinkat(f->dir, moved, 0))
		error = errno;
	if (error)
		dirfd_rename(f->dir, moved, f->dir, f->name, RENAME_NOREPLACE);
	return error;
}

/*
 * Removes the file after moving it to a private name, since another program may put its own file at
 * the old name at any time. If the disk is full, the file is removed by its own name.
 */
static int remove_moved(struct history_save *s, uint64_t size) REQUIRES(replace_class)
{
	const struct history_file *f = s->file;
	char moved[NAME_MAX + 1];
	/* The private name is noted, so that after a kill the file gets its own name back. */
	int error = state_on_its_way(s->history->state, f->folder, f->name, moved);

	/* Without room to note even a private name, remove the file directly, which makes room. */
	if (history_needs_room(error))
		return unlinkat(f->dir, f->name, 0) ? errno : 0;
	if (error)
		return error;
	error = dirfd_rename(f->dir, f->name, f->dir, moved, RENAME_NOREPLACE);
	if (!error)
		error = check_moved(s, f->dir, moved);
	if (!error)
		error = remove_checked(s, moved, size);
	/*
	 * If the file is still there under its private name, a later mount renames it back, since
	 * that name is noted.
	 */
	if (faccessat(f->dir, moved, F_OK, AT_SYMLINK_NOFOLLOW) != 0)
		state_temporary_gone(s->history->state, f->folder);
	return error;
}

int history_remove(struct history_save *s)
{
	const struct history_file *f = s->file;
	char kept[HISTORY_NAME_SIZE];
	struct stat st;

	if (fstatat(f->dir, f->name, &st, AT_SYMLINK_NOFOLLOW))
		return errno;
	history_name(s->last.number, kept);
	if (!wants_bytes(s) || st.st_nlink > 1 ||
	    dirfd_rename(f->dir, f->name, s->folder, kept, RENAME_NOREPLACE))
		return remove_moved(s, (uint64_t)st.st_size);
	s->added += history_cost((uint64_t)st.st_size);
	return check_moved(s, s->folder, kept);
}

/* ---- room ---- */

/* Returns the free space of the filesystem that holds the versions. */
static bool free_space(struct state *state, uint64_t *out)
{
	struct statvfs fs;
	int fd, error = open_top(state, false, &fd);

	if (error)
		return false;
	error = fstatvfs(fd, &fs);
	close(fd);
	*out = (uint64_t)fs.f_bavail * fs.f_frsize;
	return !error;
}

/* Returns the limit for all versions, or a tenth of the free space if that is less. */
static uint64_t limit_now(const struct history *h)
{
	uint64_t space;

	if (!free_space(h->state, &space) || space / 10 > h->limit)
		return h->limit;
	return space / 10;
}

static size_t list_running(struct history *h, uint64_t batch, uint64_t out[RUNNING_MAX + 1])
{
	size_t count = 0;

	lock_acquire(&h->lock, &history_class);
	for (size_t i = 0; i < RUNNING_MAX; i++) {
		if (h->running[i].batch)
			out[count++] = h->running[i].batch;
	}
	lock_release(&h->lock, &history_class);
	if (batch)
		out[count++] = batch;
	return count;
}

/* False: not all could be counted. */
static bool disk_history_make_room(struct history *h, uint64_t target, uint64_t batch)
	REQUIRES(replace_class)
{
	uint64_t batches[RUNNING_MAX + 1];
	struct history_running running = {batches, list_running(h, batch, batches)};

	if (history_make_room(h->state, target, &running, &h->total)) {
		history_forget_count(h);
		return false;
	}
	h->counted = clock_wall_ns();
	history_write_count(h);
	return true;
}

/* Accounts for `added` more bytes and drops old versions if there are too many. */
static void limit_space(struct history *h, uint64_t added, uint64_t batch) REQUIRES(replace_class)
{
	const uint64_t limit = limit_now(h);

	if (history_read_count(h)) {
		if (h->total + added <= limit) {
			h->total += added;
			if (added)
				history_write_count(h);
			return;
		}
	} else if (disk_history_make_room(h, UINT64_MAX, batch) && h->total <= limit) {
		return;
	}
	disk_history_make_room(h, limit - limit / SLACK, batch);
}

/*
 * Space that a save needs besides the file: folders, its path, its log line, the list of
 * temporaries.
 */
#define SPARE ((uint64_t)16384)

/*
 * Returns how many bytes a save of `size` bytes lacks on this filesystem; 0 if space is not the
 * problem.
 */
static uint64_t lacking(const struct statvfs *fs, uint64_t size)
{
	uint64_t need = history_cost(size) + SPARE, space = (uint64_t)fs->f_bavail * fs->f_frsize;

	if (need > space)
		return need - space;
	return fs->f_files && !fs->f_favail; /* a version also needs an inode */
}

bool history_is_beside(const struct history *h, int dir)
{
	struct stat here, there;
	bool same;
	int top;

	if (!h || open_top(h->state, false, &top))
		return false;
	same = !fstat(top, &here) && !fstatat(dir, "", &there, AT_EMPTY_PATH) &&
	       there.st_dev == here.st_dev;
	close(top);
	return same;
}

/*
 * Returns how many bytes of versions to drop for a save of `size` bytes; 0: none. If the limit does
 * not show in the free space, as with a quota, all bytes of the save must come from versions.
 */
static uint64_t needed_room(const struct history *h, int error, uint64_t size)
{
	struct statvfs fs;
	uint64_t need = 0;
	int top;

	if (open_top(h->state, false, &top))
		return 0;
	if (error == ENOSPC && !fstatvfs(top, &fs))
		need = lacking(&fs, size);
	close(top);
	return need ? need : history_cost(size) + SPARE;
}

bool history_yield(struct history *h, int error, int dir, uint64_t size, uid_t payer)
{
	const uid_t owner = geteuid() ? geteuid() : payer;
	uint64_t batches[RUNNING_MAX + 1], need;
	struct history_running running = {batches, 0};
	bool made;

	if (!h || !history_needs_room(error) || (dir >= 0 && !history_is_beside(h, dir)))
		return false;
	need = needed_room(h, error, size);
	if (!need)
		return false;
	running.count = list_running(h, 0, batches);
	if (history_free_room(h->state, need, error == EDQUOT ? &owner : NULL, &running, &made))
		return false;
	if (made)
		history_forget_count(h);
	return made;
}

/*
 * Returns the slot of a batch in `running`; an empty slot if the batch has none; NULL if all slots
 * are in use.
 */
static struct running *history_find_running(struct history *h, uint64_t batch)
	REQUIRES(history_class)
{
	struct running *empty = NULL;

	for (size_t i = 0; i < RUNNING_MAX; i++) {
		if (h->running[i].batch == batch)
			return &h->running[i];
		if (!h->running[i].batch && !empty)
			empty = &h->running[i];
	}
	return empty;
}

void history_begin_batch(struct history *h, uint64_t batch)
{
	struct running *r;

	lock_acquire(&h->lock, &history_class);
	r = history_find_running(h, batch);
	if (r)
		*r = (struct running){batch, r->files + 1};
	lock_release(&h->lock, &history_class);
}

void history_end_batch(struct history *h, uint64_t batch)
{
	struct running *r;

	lock_acquire(&h->lock, &history_class);
	r = history_find_running(h, batch);
	if (r && r->files && --r->files == 0)
		r->batch = 0;
	lock_release(&h->lock, &history_class);
}

/* ---- the end of a save ---- */

static const char *text_or(const char *text, char *cut, size_t size)
{
	snprintf(cut, size, "%s", text ? text : "");
	return cut;
}

static int note_save(struct history_save *s, const struct bytes *now,
		     const struct history_note *note) REQUIRES(replace_class)
{
	char what[WHAT_MAX + 1], program[PROGRAM_MAX + 1], view[VIEW_MAX + 1];
	struct history_entry e = {.number = s->is_joined ? s->last.number : next_number(s),
				  .batch = note->batch,
				  .unfinished = note->unfinished,
				  .time = clock_wall_ns(),
				  .back = note->step || !now ? note->back : 0,
				  .uid = s->last.uid};
	struct stat st;

	e.view = text_or(note->step ? note->view : NULL, view, sizeof(view));
	e.program = text_or(note->program, program, sizeof(program));
	snprintf(what, sizeof(what), "%s%s", note->what ? note->what : "",
		 s->is_linked ? " (its other names stay as they were)" : "");
	e.what = what;
	e.kind = note->step     ? HISTORY_STEP
		 : !now         ? HISTORY_REMOVED
		 : s->is_joined ? s->last.kind
		 : s->had_file  ? HISTORY_EDIT
				: HISTORY_MADE;
	if (now && fstatat(s->file->dir, s->file->name, &st, AT_SYMLINK_NOFOLLOW))
		return errno;
	if (now) {
		describe_file(&e, &st);
		e.size = now->size;
		e.digest = s->file->now ? *s->file->now : history_digest_of(*now);
	}
	return append_entry(s, &e);
}

/* A new file that takes the name of another owner's removed file starts without versions. */
static int begin_for_owner(struct history_save *s, const struct bytes *now)
{
	struct stat st;

	if (s->had_file || !now || !s->has_last ||
	    fstatat(s->file->dir, s->file->name, &st, AT_SYMLINK_NOFOLLOW) ||
	    s->last.uid == st.st_uid)
		return 0;
	return begin_anew(s);
}

/*
 * Renames the kept bytes of an older version, which equal those of the replaced one, to the newer
 * number, so that they are dropped last, not first.
 */
static void keep_as_newer(const struct history_save *s)
{
	char older[HISTORY_NAME_SIZE], newer[HISTORY_NAME_SIZE];

	history_name(s->copy, older);
	history_name(s->last.number, newer);
	(void)dirfd_rename(s->folder, older, s->folder, newer, RENAME_NOREPLACE);
}

void history_end(struct history_save *s, const struct bytes *now, const struct history_note *note)
{
	if (s->folder < 0)
		return;
	if (s->copy)
		keep_as_newer(s);
	if (!begin_for_owner(s, now))
		note_save(s, now, note);
	if ((s->last.number + 1) % THIN_EVERY == 0 && s->folder >= 0)
		history_thin(s->history->state, s->folder);
	limit_space(s->history, s->added, note->batch);
	release_save(s);
}

/*
 * Cancels a save after a failed rename. A version kept as a link is still the live file, so the
 * link is removed; a version that was moved stays.
 */
void history_cancel(struct history_save *s)
{
	struct stat st;

	if (s->folder >= 0 && s->has_last &&
	    !fstatat(s->file->dir, s->file->name, &st, AT_SYMLINK_NOFOLLOW))
		history_drop_link(s->folder, s->last.number, &st);
	if (s->folder >= 0 && s->added)
		limit_space(s->history, s->added, 0);
	release_save(s);
}

/* ---- reading ---- */

static int check_owner(const struct history_book *b, const struct history_file *f)
{
	const struct history_entry *last = history_log_last(&b->log);
	struct stat st;

	if (!last)
		return ENODATA;
	if (f->dir < 0 || fstatat(f->dir, f->name, &st, AT_SYMLINK_NOFOLLOW))
		return 0;
	return is_foreign(last, f, &st) ? ENODATA : 0;
}

typedef int read_log(int folder, struct history_log *out);

static int open_book(struct state *state, const struct history_file *file, read_log *read,
		     struct history_book *b)
{
	struct buf path = BUF_INIT;
	int error = history_path_of(file, &path) ? 0 : ENOMEM;

	*b = (struct history_book)HISTORY_BOOK_INIT;
	if (!error)
		error = history_open_folder(state, (const char *)path.data, false, &b->folder);
	buf_release(&path);
	if (error)
		return error == ENOENT ? ENODATA : error;
	error = read(b->folder, &b->log);
	return error ? error : check_owner(b, file);
}

int history_open(struct state *state, const struct history_file *file, struct history_book *b)
{
	return open_book(state, file, history_log_read, b);
}

int history_open_end(struct state *state, const struct history_file *file, struct history_book *b)
{
	int error = open_book(state, file, history_log_read_end, b);

	for (size_t i = 0; i < b->log.count; i++)
		b->log.list[i].kept = history_log_keeps(b->folder, b->log.list[i].number);
	return error;
}

void history_release(struct history_book *b)
{
	if (b->folder >= 0)
		close(b->folder);
	b->folder = -1;
	history_log_release(&b->log);
}

size_t history_kept(const struct history_log *l, size_t i)
{
	if (l->list[i].kept)
		return i;
	for (size_t j = l->count; j-- > 0;) {
		if (l->list[j].kept && l->list[i].kind != HISTORY_REMOVED &&
		    l->list[j].size == l->list[i].size &&
		    history_digest_same(&l->list[j].digest, &l->list[i].digest))
			return j;
	}
	return SIZE_MAX;
}

int history_bytes(const struct history_book *b, size_t i, struct buf *out, int *fd)
{
	char name[HISTORY_NAME_SIZE];
	struct stat st;
	int error;

	history_name(b->log.list[i].number, name);
	error = dirfd_read(b->folder, name, SIZE_MAX, out, &st);
	if (!error && fd)
		error = dirfd_open(b->folder, name, O_RDONLY | O_NONBLOCK, 0, fd);
	return error;
}

/* ---- all of them ---- */

static bool history_is_key(const char *name)
{
	return strlen(name) == KEY_SIZE - 1 && strspn(name, "0123456789abcdef") == KEY_SIZE - 1;
}

typedef void each_folder(void *closure, int top, const char *key, const char *path);

static void history_visit_folder(int top, const char *key, each_folder *each, void *closure)
{
	struct buf path = BUF_INIT;
	int folder;

	if (history_is_key(key) && !dirfd_walk(top, key, O_PATH | O_DIRECTORY, &folder)) {
		const int error = read_path(folder, &path);

		close(folder);
		if (!error)
			each(closure, top, key, (const char *)path.data);
	}
	buf_release(&path);
}

static int for_each_folder(struct state *state, each_folder *each, void *closure)
{
	int top, error = open_top(state, false, &top);
	struct dirent *entry;
	DIR *dir = NULL;

	if (error)
		return error == ENOENT ? 0 : error;
	error = dirfd_list(top, "", &dir);
	while (!error && (entry = dirfd_next(dir)))
		history_visit_folder(top, entry->d_name, each, closure);
	if (dir)
		closedir(dir);
	close(top);
	return error;
}

struct pass {
	history_each *each;
	void *closure;
};

static void pass_path(void *pass, int top, const char *key, const char *path)
{
	const struct pass *p = pass;

	(void)top, (void)key;
	p->each(p->closure, path);
}

int history_for_each(struct state *state, history_each *each, void *closure)
{
	struct pass pass = {each, closure};

	return for_each_folder(state, pass_path, &pass);
}

/* ---- renames ---- */

static void history_move_folder(struct state *state, int top, const char *key, const char *to)
{
	char now[KEY_SIZE];

	history_key_of(to, now);
	if (strcmp(now, key) == 0)
		return;
	if (give_path(state, top, key, to) != EEXIST)
		return;
	set_earlier(state, top, to);
	(void)dirfd_rename(top, key, top, now, RENAME_NOREPLACE);
}

struct renaming {
	struct state *state;
	const char *from, *to;
};

static void rename_one(void *renaming, int top, const char *key, const char *path)
{
	const struct renaming *r = renaming;
	size_t length = strlen(r->from);
	struct buf to = BUF_INIT;

	if (strncmp(path, r->from, length) != 0 || (path[length] && path[length] != '/'))
		return;
	buf_text(&to, r->to);
	buf_text(&to, path + length);
	buf_char(&to, '\0');
	if (!to.failed)
		history_move_folder(r->state, top, key, (const char *)to.data);
	buf_release(&to);
}

void history_rename(struct state *state, const char *from, const char *to)
{
	struct renaming r = {state, from, to};
	char key[KEY_SIZE];
	struct stat st;
	int top;

	/*
	 * A path that is not in SOURCE is a clip's, which has no versions. Renaming does not take
	 * the state lock: it would have to wait for other processes, and a save that is running has
	 * the folder open.
	 */
	if (open_top(state, false, &top))
		return;
	if (!fstatat(state_source(state), to, &st, AT_SYMLINK_NOFOLLOW)) {
		history_key_of(from, key);
		if (S_ISDIR(st.st_mode))
			for_each_folder(state, rename_one, &r);
		else
			history_visit_folder(top, key, rename_one, &r);
	}
	close(top);
}

/* ---- forgetting ---- */

static int empty_folder(int top, const char *key)
{
	struct dirent *entry;
	DIR *dir;
	int error = dirfd_list(top, key, &dir);

	if (error)
		return error;
	while ((entry = dirfd_next(dir))) {
		if (entry->d_name[0] != '.' && unlinkat(dirfd(dir), entry->d_name, 0))
			error = errno;
	}
	closedir(dir);
	return error;
}

int history_forget(struct state *state, const struct history_file *file)
{
	struct history_book book;
	char key[KEY_SIZE];
	struct buf path = BUF_INIT;
	int top, error = history_open(state, file, &book);
	bool only_blob = error == ENODATA && book.folder >= 0 && !book.log.count;

	history_release(&book);
	if (only_blob)
		error = 0;
	if (!error)
		error = history_path_of(file, &path) ? open_top(state, false, &top) : ENOMEM;
	if (!error) {
		history_key_of((const char *)path.data, key);
		error = empty_folder(top, key);
		if (!error && unlinkat(top, key, AT_REMOVEDIR))
			error = errno;
		close(top);
	}
	buf_release(&path);
	return !error && only_blob ? ENODATA : error;
}

int history_set_unfinished(struct history *h, const struct history_file *file, uint64_t batch,
			   bool unfinished)
{
	struct history_save s = {.history = h, .file = file, .folder = -1, .log = HISTORY_LOG_INIT};
	int error = history_path_of(file, &s.path) ? 0 : ENOMEM;

	if (!error)
		error = history_open_folder(h->state, (const char *)s.path.data, false, &s.folder);
	if (!error)
		error = history_log_read_end(s.folder, &s.log);
	for (size_t i = s.log.count; !error && i-- > 0;) {
		struct history_entry *e = &s.log.list[i];

		if (e->batch != batch || e->unfinished == unfinished)
			continue;
		e->unfinished = unfinished;
		error = append_entry(&s, e);
		break;
	}
	release_save(&s);
	return error == ENOENT ? 0 : error;
}

/* ---- the caller's blob ---- */

int history_blob_get(struct state *state, const struct history_file *file, struct buf *out)
{
	struct history_book book;
	struct stat st;
	int error = history_open(state, file, &book);

	/* If the folder has no versions yet, check_owner cannot decide. */
	if (book.folder >= 0 && (!error || !book.log.count))
		error = dirfd_read(book.folder, BLOB, BLOB_MAX, out, &st);
	history_release(&book);
	return error == ENOENT ? ENODATA : error;
}

static int history_put_blob(struct state *state, const struct history_file *file, struct bytes blob,
			    bool make)
{
	struct buf path = BUF_INIT;
	int folder = -1, error = path_now(state, file, &path) ? 0 : ENOMEM;

	if (!error)
		error = history_open_folder(state, (const char *)path.data, make, &folder);
	if (!error && blob.size)
		error = state_put(state, folder, NULL, BLOB, 0600, blob, 0);
	else if (!error && unlinkat(folder, BLOB, 0))
		error = errno;
	if (folder >= 0)
		close(folder);
	buf_release(&path);
	return error == ENOENT ? 0 : error;
}

int history_blob_put(struct state *state, const struct history_file *file, struct bytes blob)
{
	return history_put_blob(state, file, blob, blob.size > 0);
}

bool history_has(struct history *h, const struct history_file *file)
{
	struct buf path = BUF_INIT;
	int folder = -1;

	begin_opening(h);
	if (path_now(h->state, file, &path))
		(void)history_open_folder(h->state, (const char *)path.data, false, &folder);
	end_opening(h);
	if (folder >= 0)
		close(folder);
	buf_release(&path);
	return folder >= 0;
}

int history_keep_blob(struct history *h, const struct history_file *file, struct bytes blob,
		      bool make)
{
	int error;

	begin_opening(h);
	error = history_put_blob(h->state, file, blob, make);
	end_opening(h);
	return error;
}

/* ---- after a kill ---- */

/* Splits a path into `folder` and the name, which it returns. */
static const char *cut_path(const char *path, char folder[PATH_MAX])
{
	const char *slash = strrchr(path, '/');

	snprintf(folder, PATH_MAX, "%.*s", slash ? (int)(slash - path) : 0, path);
	return slash ? slash + 1 : path;
}

/* A temporary that a killed program left: perhaps the old version of a file that it replaced. */
struct orphan {
	struct state *state;
	const char *folder;
	int dir;
	const char *name;
	struct stat st;
	struct history_digest digest;
	bool is_taken;
};

/*
 * Finds the newest version with the orphan's bytes; NULL if those bytes are already kept. Looks at
 * all versions, since other mounts may have saved after this one.
 */
static const struct history_entry *history_find_version(const struct orphan *o,
							const struct history_log *log)
{
	const struct history_entry *found = NULL;

	for (size_t i = 0; i < log->count; i++) {
		const struct history_entry *e = &log->list[i];

		if (e->kind == HISTORY_REMOVED || e->size != (uint64_t)o->st.st_size ||
		    !history_digest_same(&e->digest, &o->digest))
			continue;
		if (e->kept)
			return NULL;
		found = e;
	}
	return found;
}

/* Was the orphan replaced by the present file? Not if both have the same bytes. */
static bool was_replaced(const struct orphan *o, const char *name)
{
	struct stat live;

	return fstatat(o->dir, name, &live, AT_SYMLINK_NOFOLLOW) == 0 &&
	       live.st_ino != o->st.st_ino && !has_digest(o->dir, name, &o->digest);
}

static int take_orphan(const struct orphan *o, int versions, uint64_t number)
	REQUIRES(replace_class)
{
	struct history h = {.state = o->state, .limit = 1};
	struct history_save s = {.history = &h, .folder = versions, .last = {.number = number}};
	char name[HISTORY_NAME_SIZE];

	history_name(number, name);
	if (!dirfd_rename(o->dir, o->name, versions, name, RENAME_NOREPLACE))
		return 0;
	return history_copy_file(&s, o->dir, o->name, (uint64_t)o->st.st_size);
}

UNSHARED static void claim(void *orphan, int top, const char *key, const char *path)
{
	struct orphan *o = orphan;
	struct history_log log = HISTORY_LOG_INIT;
	const struct history_entry *version;
	char folder[PATH_MAX];
	const char *name = cut_path(path, folder);
	int versions;

	if (o->is_taken || strcmp(folder, o->folder) != 0 || !was_replaced(o, name) ||
	    dirfd_walk(top, key, O_PATH | O_DIRECTORY, &versions))
		return;
	if (!history_log_read(versions, &log)) {
		version = history_find_version(o, &log);
		o->is_taken = version && !take_orphan(o, versions, version->number);
	}
	history_log_release(&log);
	close(versions);
}

static bool read_orphan(struct orphan *o)
{
	struct buf bytes = BUF_INIT;
	int error = dirfd_read(o->dir, o->name, SIZE_MAX, &bytes, &o->st);

	o->digest = history_digest_of(buf_bytes(&bytes));
	buf_release(&bytes);
	return !error;
}

/*
 * Moves an orphan into history. A mount does not wait long for the lock, since the next mount can
 * recover as well.
 */
static int rescue_orphan(struct state *state, const char *folder, int dir, const char *name)
{
	struct orphan o = {.state = state, .folder = folder, .dir = dir, .name = name};
	int top, error;

	if (open_top(state, false, &top))
		return ENOENT;
	close(top);
	if (!read_orphan(&o))
		return ENOENT;
	error = state_lock_within(state, MEND_WAIT_MS);
	if (error)
		return error;
	for_each_folder(state, claim, &o);
	state_unlock(state);
	if (!o.is_taken)
		return ENOENT;
	/* If the version was copied and not moved, the temporary still exists. */
	return !unlinkat(dir, name, 0) || errno == ENOENT ? 0 : errno;
}

/*
 * Adds a line for the version on disk if the last line is about another version, and renames the
 * folder if its path has changed.
 */
static void mend_folder(struct state *state, int top, const char *key, const char *path)
	REQUIRES(replace_class)
{
	struct history h = {.state = state, .limit = UINT64_MAX};
	char folder[PATH_MAX], right[KEY_SIZE];
	struct history_file file = {.name = cut_path(path, folder), .folder = folder};
	struct buf there = BUF_INIT;
	struct bytes was;
	struct history_save save;
	struct stat st;
	int error;

	history_key_of(path, right);
	if (strcmp(right, key) != 0) {
		history_move_folder(state, top, key, path);
		return;
	}
	if (state_walk(state, folder, &file.dir))
		return;
	error = dirfd_read(file.dir, file.name, SIZE_MAX, &there, &st);
	was = buf_bytes(&there);
	/* A file that cannot be read now is not treated as removed. */
	if ((!error || error == ENOENT) && !history_begin(&h, &save, &file, error ? NULL : &was, 0))
		history_cancel(&save);
	buf_release(&there);
	close(file.dir);
}

/*
 * Repairs the history of one file after a kill: a save was interrupted if the bytes of the last
 * version are kept, and a rename if the folder's key is not that of its path.
 */
UNSHARED static void mend_one(void *state, int top, const char *key, const char *path)
{
	struct history_log log = HISTORY_LOG_INIT;
	const struct history_entry *last;
	char right[KEY_SIZE];
	bool is_due = false;
	int folder;

	history_key_of(path, right);
	if (dirfd_walk(top, key, O_PATH | O_DIRECTORY, &folder))
		return;
	if (!history_log_read_end(folder, &log)) {
		last = history_log_last(&log);
		is_due = strcmp(right, key) != 0 ||
			 (last && history_log_keeps(folder, last->number));
	}
	history_log_release(&log);
	close(folder);
	if (is_due)
		mend_folder(state, top, key, path);
}

void history_clean(struct state *state)
{
	state_clean(state, rescue_orphan);
}

int history_recover(struct state *state)
{
	int top, error;

	history_clean(state);
	if (state_writable(state) || open_top(state, false, &top))
		return 0;
	close(top);
	error = state_lock_within(state, MEND_WAIT_MS);
	if (error)
		return error;
	for_each_folder(state, mend_one, state);
	state_unlock(state);
	return 0;
}
