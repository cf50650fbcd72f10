/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "watch.h"
#include "dirfd.h"
#include "util/clock.h"
#include "util/lock_classes.h"
#include "util/thread.h"
#include "util/timing.h"
#include <errno.h>
#include <linux/magic.h>
#include <poll.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/vfs.h>
#include <unistd.h>

#define EVENTS                                                                                     \
	(IN_CREATE | IN_DELETE | IN_MOVE | IN_MODIFY | IN_ATTRIB | IN_CLOSE_WRITE |                \
	 IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR)

/* A folder with an inotify watch, and its cookies. */
struct watched_folder {
	int wd;
	struct listener *
		listeners; /* listeners of the folder; never NULL while the folder is in the tree */
};

struct listener {
	uint64_t cookie;
	struct watched_folder *folder;
	struct listener *next; /* next listener of the same folder */
};

struct watch {
	watch_changed *changed;
	void *closure;
	int inotify, stop;
	_Atomic bool ends; /* the thread shall end, since `stop` is readable */
	_Atomic bool busy; /* the thread reads, or reports an event that it has read */
	pthread_t thread;
	struct lock lock; /* guards the fields below and the set of inotify watches */
	void *folders
		GUARDED_BY(watch_class); /* tree of folders by inotify watch descriptor (tsearch) */
	void *listeners GUARDED_BY(watch_class); /* tree of listeners by cookie (tsearch) */
};

static int by_wd(const void *a, const void *b)
{
	const struct watched_folder *x = a, *y = b;

	return (x->wd > y->wd) - (x->wd < y->wd);
}

static int by_cookie(const void *a, const void *b)
{
	const struct listener *x = a, *y = b;

	return (x->cookie > y->cookie) - (x->cookie < y->cookie);
}

static struct watched_folder *watch_find_folder(struct watch *w, int wd) REQUIRES(watch_class)
{
	struct watched_folder key = {.wd = wd};
	struct watched_folder **found = tfind(&key, &w->folders, by_wd);

	return found ? *found : NULL;
}

static struct listener *find_listener(struct watch *w, uint64_t cookie) REQUIRES(watch_class)
{
	struct listener key = {.cookie = cookie};
	struct listener **found = tfind(&key, &w->listeners, by_cookie);

	return found ? *found : NULL;
}

static void watch_remove_folder(struct watch *w, struct watched_folder *folder)
	REQUIRES(watch_class)
{
	inotify_rm_watch(w->inotify, folder->wd);
	tdelete(folder, &w->folders, by_wd);
	free(folder);
}

/* Removes a listener, and with the last one the folder's watch. */
static void remove_listener(struct watch *w, struct listener *listener) REQUIRES(watch_class)
{
	struct watched_folder *folder = listener->folder;
	struct listener **at = &folder->listeners;

	while (*at != listener)
		at = &(*at)->next;
	*at = listener->next;
	tdelete(listener, &w->listeners, by_cookie);
	free(listener);
	if (!folder->listeners)
		watch_remove_folder(w, folder);
}

static int insert_folder(struct watch *w, int wd, struct watched_folder **folder)
	REQUIRES(watch_class)
{
	*folder = calloc(1, sizeof(**folder));
	if (!*folder)
		return ENOMEM;
	(*folder)->wd = wd;
	if (tsearch(*folder, &w->folders, by_wd))
		return 0;
	free(*folder);
	return ENOMEM;
}

static int insert_listener(struct watch *w, struct watched_folder *folder, uint64_t cookie)
	REQUIRES(watch_class)
{
	struct listener *listener = malloc(sizeof(*listener));

	if (!listener)
		return ENOMEM;
	*listener = (struct listener){cookie, folder, folder->listeners};
	if (!tsearch(listener, &w->listeners, by_cookie)) {
		free(listener);
		return ENOMEM;
	}
	folder->listeners = listener;
	return 0;
}

/*
 * Adds a listener for a watch descriptor. The kernel returns the same descriptor for the same
 * folder, whatever its path.
 */
static int listen_to(struct watch *w, int wd, uint64_t cookie) REQUIRES(watch_class)
{
	struct listener *before = find_listener(w, cookie);
	struct watched_folder *folder;
	int error = 0;

	if (before && before->folder->wd == wd)
		return 0;
	if (before)
		remove_listener(w, before);
	folder = watch_find_folder(w, wd);
	if (!folder)
		error = insert_folder(w, wd, &folder);
	if (error) {
		inotify_rm_watch(w->inotify, wd);
		return error;
	}
	error = insert_listener(w, folder, cookie);
	if (error && !folder->listeners)
		watch_remove_folder(w, folder);
	return error;
}

/*
 * Is this a local filesystem? Otherwise other machines, or the filesystem's server, can change
 * files without inotify events.
 */
static bool notices_all(int folder)
{
	static const uint32_t unwatched[] = {
		NFS_SUPER_MAGIC,  SMB_SUPER_MAGIC,  CIFS_SUPER_MAGIC,  SMB2_SUPER_MAGIC,
		FUSE_SUPER_MAGIC, V9FS_MAGIC,       CEPH_SUPER_MAGIC,  AFS_SUPER_MAGIC,
		AFS_FS_MAGIC,     CODA_SUPER_MAGIC, OCFS2_SUPER_MAGIC,
	};
	struct statfs fs;

	if (fstatfs(folder, &fs))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(unwatched); i++) {
		if ((uint32_t)fs.f_type == unwatched[i])
			return false;
	}
	return true;
}

int watch_add(struct watch *w, int folder, uint64_t cookie)
{
	char path[DIRFD_PROC_SIZE];
	int wd, error;

	if (!notices_all(folder))
		return EOPNOTSUPP;
	error = dirfd_proc_path(folder, NULL, path, sizeof(path));
	if (error)
		return error;
	lock_acquire(&w->lock, &watch_class);
	wd = inotify_add_watch(w->inotify, path, EVENTS);
	error = wd < 0 ? errno : listen_to(w, wd, cookie);
	lock_release(&w->lock, &watch_class);
	return error;
}

void watch_drop(struct watch *w, uint64_t cookie)
{
	struct listener *listener;

	lock_acquire(&w->lock, &watch_class);
	listener = find_listener(w, cookie);
	if (listener)
		remove_listener(w, listener);
	lock_release(&w->lock, &watch_class);
}

/*
 * Appends the cookies of the event's folder to `to`. IN_IGNORED means that the folder's watch is
 * gone.
 */
static void collect_event(struct watch *w, const struct inotify_event *event, struct buf *to)
{
	struct watched_folder *folder;
	struct listener *at, *next;

	lock_acquire(&w->lock, &watch_class);
	folder = watch_find_folder(w, event->wd);
	for (at = folder ? folder->listeners : NULL; at; at = next) {
		next = at->next;
		buf_add(to, &at->cookie, sizeof(at->cookie));
		if (event->mask & IN_IGNORED)
			remove_listener(w, at);
	}
	lock_release(&w->lock, &watch_class);
}

static void notify_listeners(struct watch *w, const struct inotify_event *event,
			     struct buf *cookies)
{
	buf_clear(cookies);
	collect_event(w, event, cookies);
	if (event->mask & IN_Q_OVERFLOW || cookies->failed) {
		buf_release(cookies);
		w->changed(w->closure, 0, NULL, IN_Q_OVERFLOW);
		return;
	}
	for (size_t at = 0; at < cookies->size; at += sizeof(uint64_t)) {
		uint64_t cookie;

		memcpy(&cookie, cookies->data + at, sizeof(cookie));
		w->changed(w->closure, cookie, event->len ? event->name : NULL, event->mask);
	}
}

static void notify_all(struct watch *w, const char *events, size_t size, struct buf *cookies)
{
	for (size_t at = 0; at < size;) {
		const struct inotify_event *event = (const void *)(events + at);

		notify_listeners(w, event, cookies);
		at += sizeof(*event) + event->len;
	}
}

static void *run_watch(void *watch)
{
	_Alignas(struct inotify_event) char events[16384];
	struct watch *w = watch;
	struct pollfd ready[] = {{w->inotify, POLLIN, 0}, {w->stop, POLLIN, 0}};
	struct buf cookies = BUF_INIT;

	while (!w->ends) {
		ssize_t size;

		/*
		 * poll() failed, for example when out of memory. Try again, since changes would go
		 * unnoticed from now on.
		 */
		if (poll(ready, ARRAY_SIZE(ready), -1) < 0) {
			if (errno != EINTR)
				clock_sleep(POLL_AGAIN_MS);
			continue;
		}
		if (ready[1].revents)
			break;
		w->busy = true;
		size = read(w->inotify, events, sizeof(events));
		if (size > 0)
			notify_all(w, events, (size_t)size, &cookies);
		w->busy = false;
	}
	buf_release(&cookies);
	return NULL;
}

bool watch_settle(struct watch *w, int64_t ms)
{
	struct pollfd ready = {w->inotify, POLLIN, 0};
	int64_t end = clock_real_ms() + ms;

	/* Check for events first, then `busy`: the thread sets `busy` before it reads. */
	while (poll(&ready, 1, 0) > 0 || w->busy) {
		if (clock_real_ms() >= end)
			return false;
		clock_sleep(1);
	}
	return true;
}

static UNSHARED void release(struct watch *w)
{
	if (w->inotify >= 0)
		close(w->inotify);
	if (w->stop >= 0)
		close(w->stop);
	tdestroy(w->listeners, free);
	tdestroy(w->folders, free);
	lock_destroy(&w->lock);
	free(w);
}

struct watch *watch_new(watch_changed *changed, void *closure)
{
	struct watch *w = calloc(1, sizeof(*w));
	int error = 0;

	if (!w)
		return NULL;
	w->changed = changed;
	w->closure = closure;
	lock_init(&w->lock);
	w->stop = eventfd(0, EFD_CLOEXEC);
	w->inotify = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	if (w->inotify < 0 || w->stop < 0)
		error = errno;
	if (!error)
		error = thread_start(&w->thread, run_watch, w);
	if (!error)
		return w;
	release(w);
	errno = error;
	return NULL;
}

void watch_free(struct watch *w)
{
	if (!w)
		return;
	w->ends = true;
	eventfd_write(w->stop, 1);
	pthread_join(w->thread, NULL);
	release(w);
}
