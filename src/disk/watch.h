/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * watch.h - reports changes in folders, by any process (inotify).
 *
 * One thread reads the events and calls `changed`, without any lock held: it may call watch_add and
 * watch_drop, and must not call watch_free. Thread-safe. Create it after the daemon has detached,
 * since threads do not survive fork.
 *
 * The caller identifies folders by cookies, which are never 0. A folder may be watched under
 * several cookies; `changed` is called for each. A call for a cookie may still come just after
 * watch_drop. Writes through a mapping are reported when the writer closes its file, not before.
 */
#ifndef ANIMFS_DISK_WATCH_H
#define ANIMFS_DISK_WATCH_H

#include "animfs/base.h"

struct watch;

/*
 * mask: IN_CREATE, IN_DELETE, IN_MOVED_FROM, IN_MOVED_TO, IN_MODIFY, IN_ATTRIB, IN_CLOSE_WRITE of
 * the entry `name`; with name NULL, IN_ATTRIB, IN_DELETE_SELF, IN_MOVE_SELF, IN_UNMOUNT, IN_IGNORED
 * (the watch is over, the cookie dropped) of the folder itself. Cookie 0, name NULL,
 * IN_Q_OVERFLOW: events were lost, anything may have changed.
 */
typedef void watch_changed(void *closure, uint64_t cookie, const char *name, uint32_t mask);

/* Starts watching. NULL and errno on failure (EMFILE: the user's limit of inotify instances). */
struct watch *watch_new(watch_changed *changed, void *closure);
void watch_free(struct watch *w); /* no callback runs after it returns; NULL is ignored */

/*
 * `folder` may be O_PATH and can be closed afterwards. Adding a cookie again moves it to that
 * folder. Returns 0 or an errno: ENOSPC at the user's limit of watches; EOPNOTSUPP on network and
 * FUSE filesystems, which report no changes made elsewhere; EACCES if the folder cannot be read.
 */
int watch_add(struct watch *w, int folder, uint64_t cookie);
void watch_drop(struct watch *w, uint64_t cookie);
/* Waits until every earlier change has been reported; false if that takes longer than `ms`. */
bool watch_settle(struct watch *w, int64_t ms);

#endif
