/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * lock_classes.h - every class of lock in the program, in the order in which a thread may take
 * them: a lock of a later line may be taken while one of an earlier line is held, never the other
 * way round. The ranks leave room between them.
 */
#ifndef ANIMFS_UTIL_LOCK_CLASSES_H
#define ANIMFS_UTIL_LOCK_CLASSES_H

#include "lock.h"

/*           class               rank  guards */
#define LOCK_CLASSES(X)                                                                            \
	X(staging_class, 100)     /* staged: one folder at a time becomes a clip or file */        \
	X(writer_class, 200)      /* an animation: taken to change its file, never to read it  */  \
	X(moves_class, 300)       /* names that move on disk and in the table as one */            \
	X(opening_class, 350)     /* an archive: its tables are read */                            \
	X(work_class, 400)        /* an animation: its file is read and decoded, or replaced */    \
	X(replace_class, 450)     /* the lock in the state directory, among our threads */         \
	X(siblings_class, 480)    /* archives in which models of others are looked for */          \
	X(vfs_class, 500)         /* the tree of a mount: nodes, things, handles, drafts */        \
	X(facts_class, 600)       /* facts about an animation's file: stamp, verdict */            \
	X(refusals_class, 630)    /* the total size of refused texts */                            \
	X(history_class, 645)     /* renames of folders of old versions */                         \
	X(state_class, 650)       /* the state directory */                                        \
	X(models_class, 690)      /* the names of models in folders that were listed */            \
	X(naming_class, 700)      /* the table of bones' names */                                  \
	X(sharing_class, 740)     /* which folders of the state directory are watched */           \
	X(watch_class, 750)       /* the folders that inotify watches */                           \
	X(upper_class, 760)       /* the total size of files beside the views */                   \
	X(diagnostics_class, 770) /* the list behind .animfs/errors */                             \
	X(listings_class, 780)    /* the folders that are being listed */                          \
	X(invalidate_class, 800)  /* the queue of notifications for the kernel */                  \
	X(program_class, 805)     /* known programs, and the work that waits for their end */      \
	X(deadline_class, 810)    /* the list of deadlines, and the functions to call at them */   \
	X(unpacking_class, 880)   /* members of an archive: unpacked once */                       \
	X(archive_class, 890)     /* the reader of a ZIP archive, which serves one at a time */    \
	X(cache_class, 900)       /* the list of unreferenced versions */                          \
	X(served_class, 905)      /* a version: which texts of it were served */                   \
	X(recent_class, 910)      /* the most recently rendered texts */                           \
	X(loop_class, 920)        /* the threads that answer requests */

#define LOCK_CLASS_DECLARE(class, rank) extern struct lock_class class;
LOCK_CLASSES(LOCK_CLASS_DECLARE)

#endif
