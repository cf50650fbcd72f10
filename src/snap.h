/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * snap.h - one version of an animation file, decoded; and the cache of those that nobody holds.
 *
 * A snap never changes and lives as long as somebody holds it, or until the cache drops it.
 * Thread-safe.
 */
#ifndef ANIMFS_SNAP_H
#define ANIMFS_SNAP_H

#include "ages.h"
#include "animfs/codec.h"
#include "animfs/view.h"
#include "naming.h"
#include "rest.h"

struct snap {
	_Atomic unsigned references;
	uint64_t generation; /* differs between any two snaps of this process; never 0 */
	/*
	 * Versions of a file that have it in common came of each other by edits of their models:
	 * what no model says is the same in them. A version that was read has its own.
	 */
	uint64_t lineage;
	const struct codec *codec;
	struct buf bytes;
	struct anim *anim;          /* labelled */
	struct naming_table *names; /* that its bones are called by; may be NULL */
	struct rest_skeleton *rest; /* of its bones; may be NULL */
	struct style style;         /* of its views */

	struct ages ages;         /* of a file's snap: set before others see it, empty otherwise */
	struct snap_index *index; /* of snap_clip and snap_track */
	size_t size;              /* all its memory */
	/* Of the cache; NULL for a snap that is in none. */
	struct cache *cache;
	struct snap **home; /* the place that knows it, cleared when it is dropped */
	struct snap *newer, *older;
};

/* What a file is read with beside its bytes. */
struct decoding {
	double rate; /* 0: the format's, or the file's own */
	enum rotations rotations;
	struct style style;
	struct naming_table *names; /* the caller's; hints.bone_names are its own */
	struct rest_skeleton *rest; /* the caller's */
	struct hints hints;
};

/*
 * Decodes `bytes`, which are taken over, failing or not, with a holder for the caller. codec NULL:
 * found by content. `file_name` is the animation file's own. how NULL: nothing is asked for.
 */
struct snap *snap_of_bytes(const struct codec *codec, struct buf *bytes, const char *file_name,
			   const struct decoding *how, struct err *err);
struct snap *snap_get(struct snap *s); /* one more holder */
void snap_put(struct snap *s);         /* one less; NULL is fine */

/* By label, hashed. -1 when there is none. */
int64_t snap_clip(const struct snap *s, const char *label);
int64_t snap_track(const struct snap *s, uint32_t clip, const char *label);

/* An animation file's extension, without its dot: its own, or the format's where it has none. */
const char *file_extension(const char *file_name, const struct format *format);

/*
 * Snaps that have a home, which is a pointer to the latest one of a file. Held by nobody they stay
 * while all such together take at most `limit` bytes; those put down longest ago go first.
 */
struct cache *cache_new(size_t limit);
void cache_free(struct cache *c); /* when no snap has a home in it any more; NULL is fine */
size_t cache_size(struct cache *c);
/* A holder of the snap at home, or NULL. */
struct snap *cache_take(struct cache *c, struct snap **home);
/* Another one moves in, or none (NULL); the one that was there lives on with its holders. */
void cache_settle(struct cache *c, struct snap **home, struct snap *s);

#endif
