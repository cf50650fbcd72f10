/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * watch.h - tells when something changes in a folder, whoever changes it (inotify).
 *
 * One thread reads the events and calls `changed`, without any lock held: it may call watch_add and
 * watch_drop, and must not call watch_free. Thread-safe. Made after a daemon has detached, since
 * threads do not survive fork.
 *
 * Cookies are the caller's words for folders, never 0. A folder may be watched under several
 * cookies; each hears of every event. A call for a cookie may still come just after watch_drop.
 * Writes through a mapping are heard of when the writer closes its file, not before.
 */
#ifndef ANIMFS_WATCH_H
#define ANIMFS_WATCH_H

#include "animfs/base.h"

struct watch;

/*
 * mask: IN_CREATE, IN_DELETE, IN_MOVED_FROM, IN_MOVED_TO, IN_MODIFY, IN_ATTRIB, IN_CLOSE_WRITE of
 * the entry `name`; with name NULL, IN_ATTRIB, IN_DELETE_SELF, IN_MOVE_SELF, IN_UNMOUNT, IN_IGNORED
 * (the watch is over, the cookie dropped) of the folder itself. Cookie 0, name NULL,
 * IN_Q_OVERFLOW: events were lost, anything may have changed.
 */
typedef void watch_changed(void *closure, uint64_t cookie, const char *name, uint32_t mask);

/* NULL and errno on failure (EMFILE: the user's limit of inotify instances). */
struct watch *watch_new(watch_changed *changed, void *closure);
void watch_free(struct watch *w); /* no call comes after it; NULL is fine */

/*
 * `folder` may be O_PATH and need not stay open. Watching a cookie again moves it to that folder.
 * Returns 0 or an errno: ENOSPC when the user's limit of watches is reached, EOPNOTSUPP on network
 * and FUSE filesystems, where changes made elsewhere would not be heard of, EACCES when the folder
 * cannot be read.
 */
int watch_add(struct watch *w, int folder, uint64_t cookie);
void watch_drop(struct watch *w, uint64_t cookie);

#endif
