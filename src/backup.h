/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * backup.h - animation files as they were before something was removed from them, and the way back.
 *
 * Those of the file PATH of SOURCE lie in DIR/backup/PATH/ of the state directory:
 *
 *   last      with BACKUP_SIMPLE: the only one
 *   1, 2 ...  with BACKUP_NUMBERED: each, the newest with the highest number
 *   next      what an undo is about to replace, while it does
 *   run       its mtime is when something was removed last
 *
 * Removals that follow each other within 2 seconds are a run, before which the file is kept once.
 * Their mtime tells which is the newest. Functions return 0 or an errno; paths are as in state.h.
 */
#ifndef ANIMFS_BACKUP_H
#define ANIMFS_BACKUP_H

#include "state.h"

enum backup_mode { BACKUP_SIMPLE, BACKUP_NUMBERED, BACKUP_NONE };

/*
 * Before something is removed from the file, whose bytes these are; its attributes are those of
 * the descriptor `like`, where that is not -1. With state_lock held.
 */
int backup_keep(struct state *s, enum backup_mode mode, const char *path, int like,
		struct bytes bytes);
/* After it was removed: the run goes on from now. With state_lock held. */
void backup_removed(struct state *s, const char *path);

/*
 * Puts a backup in the place of the file `name` of the folder `dir`, which is PATH from SOURCE
 * (`folder` is that of the file). which: its name in the list above, NULL for the newest. What was
 * there becomes the newest backup, so that undoing it is possible, too. ENODATA when there is none,
 * EALREADY when it is what is there, EBUSY when another program has the file open for writing.
 */
int backup_undo(struct state *s, int dir, const char *folder, const char *name, const char *which);

/* Each backup of a file, the newest first. ENODATA when there is none. */
typedef void backup_each(void *closure, const char *which, const struct stat *st);
int backup_list(struct state *s, const char *path, backup_each *each, void *closure);

#endif
