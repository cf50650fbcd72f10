/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * file.h - an animation file while the mount shows it: what is going on in its folder.
 *
 * Its lock is held for everything that writes into the folder, and for what reads a view's text.
 * Order of locks: file, then the inode table, then folders; source and state have their own.
 */
#ifndef ANIMFS_FILE_H
#define ANIMFS_FILE_H

#include "node.h"
#include "source.h"

/* Milliseconds after which what happened below one file belongs together no more. */
#define BURST_MS 2000

/* A name whose view was removed or renamed away: absent until something of that name appears. */
struct away {
	struct away *next;
	struct node *parent;
	char name[];
};

struct file {
	pthread_mutex_t lock;
	/* The animation file's own name; its link's has ".d" behind it with --beside. Old ones stay
	 * allocated (retired) for who is just reading them. */
	char *_Atomic name;
	struct retired *retired;
	struct source *source;
	struct node *node;   /* NODE_FILE */
	struct node *views;  /* those nodes that are views, by next_in_file */
	struct away *away;
	unsigned open;       /* handles on its views; under the nodes' lock, as `good` is */
	struct snap *good;   /* while there are some: the last version that decoded */
	int64_t burst;       /* when the last change came, in ms of the monotonic clock */
	_Atomic uint64_t generation; /* the snap that the kernel was told about last */
	bool look;           /* others may have changed the file */
	bool watched;        /* is on the notifier's list */
	struct file *next_watched;
};

struct file *file_new(struct store *store, const char *folder, const char *name);
void file_free(struct file *f);

/* False when out of memory. */
bool file_rename(struct file *f, const char *name);

bool file_is_away(const struct file *f, const struct node *parent, const char *name);
/* The table's lock must not be held: the parent node is held for as long as the name is away. */
bool file_set_away(struct file *f, struct nodes *t, struct node *parent, const char *name);
void file_clear_away(struct file *f, struct nodes *t, const struct node *parent, const char *name);

int64_t clock_ms(void);

#endif
