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
	struct node *parent; /* referenced */
	struct node *folder; /* what had the name, where that is a folder; referenced */
	char name[];
};

/* A view, by its path in the file's folder, that was saved in the burst. */
struct saved {
	struct saved *next;
	char path[];
};

struct file {
	pthread_mutex_t lock; /* see file_lock */
	pthread_cond_t closed;
	_Atomic unsigned closing; /* last words of handles that were read and not yet acted on */
	/* The animation file's own name; its link's has ".d" behind it with --beside. Old ones stay
	 * allocated (retired) for who is just reading them. */
	char *_Atomic name;
	struct retired *retired;
	struct source *source;
	struct node *node;    /* NODE_FILE */
	struct node *members; /* the nodes in its folder, by next_in_file */
	struct away *away;
	unsigned open;       /* handles on its views; under the nodes' lock, as `good` is */
	struct snap *good;   /* while there are some: the last version that decoded */
	int64_t burst;       /* when the last change came, in ms of the monotonic clock */
	struct snap *before; /* the version that was there before the burst; NULL: no save in it */
	struct saved *saved; /* what was saved in it */
	unsigned passed;     /* how many texts were passed over in it */
	/* The text that was saved last, by its hash, and the version that it made. */
	struct {
		uint64_t hash, generation;
	} text;
	/* How long each still of a clip is that stands still, in the snap of this generation. */
	struct {
		uint64_t generation, size;
		uint32_t clip;
	} still;
	/* What the kernel was told last: the snap, and which names are in it; the file on disk. */
	_Atomic uint64_t generation;
	uint64_t names, ino;
	struct timespec ctime;
	bool told_damaged;
	_Atomic bool damaged; /* it does not decode: what is shown is `good` */
	_Atomic bool linked;  /* it has other names: others may change it unheard */
	bool look;            /* others may have changed the file */
	/* What it is now is being read for the notifier; it was, and is to be looked at. */
	_Atomic bool loading, loaded;
	/* Looks until the kernel is told again to forget names, or what is in folders; 0: never. */
	unsigned tell_names;
	_Atomic unsigned tell_folders;
	bool watched; /* is on the notifier's list */
	struct file *next_watched;
};

struct file *file_new(struct store *store, const char *folder, const char *name);
void file_free(struct file *f);

/*
 * A program whose close() returned takes it for done, but the kernel tells of a close later, and
 * waits for no answer. So whoever reads the requests says at once that there is one (it needs no
 * lock for that), and all that is asked of the file after it waits until it was acted on, which
 * begins with file_lock_to_close.
 */
void file_begin_close(struct file *f);
void file_lock_to_close(struct file *f);
void file_lock(struct file *f);
bool file_trylock(struct file *f);
/* False where others have it for longer. */
bool file_lock_within(struct file *f, unsigned ms);
void file_unlock(struct file *f);

/* Has somebody read a newer version than the kernel was told of? */
bool file_is_replaced(const struct file *f);

/* False when out of memory. */
bool file_rename(struct file *f, const char *name);

bool file_is_away(const struct file *f, const struct node *parent, const char *name);
/* The table's lock must not be held: the parent node is held for as long as the name is away. */
bool file_set_away(struct file *f, struct nodes *t, struct node *parent, const char *name);
/* The same for a folder, whose own names stay away with it. */
bool file_set_folder_away(struct file *f, struct nodes *t, struct node *folder, struct node *parent,
			  const char *name);
void file_clear_away(struct file *f, struct nodes *t, const struct node *parent, const char *name);
/* The folder that had a name which is away; NULL where it was none. */
struct node *file_folder_away(const struct file *f, const struct node *parent, const char *name);
/* What is away in folder `old` is away in folder `now`, which stands in its place. */
void file_move_away(struct file *f, struct nodes *t, const struct node *old, struct node *now);

/* The version `now` is the one before the burst, if none is. */
void file_begin_burst(struct file *f, struct snap *now);
/* False when out of memory. */
bool file_note_saved(struct file *f, const char *path);
bool file_was_saved(const struct file *f, const char *path);
void file_end_burst(struct file *f);

int64_t clock_ms(void);

#endif
