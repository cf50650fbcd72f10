/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * version.h - one version of an animation file, decoded.
 *
 * It never changes and lives as long as somebody holds it, or until the cache (cache.h) drops it.
 * Thread-safe.
 */
#ifndef ANIMFS_VERSION_H
#define ANIMFS_VERSION_H

#include "../naming.h"
#include "../rest.h"
#include "ages.h"
#include "animfs/codec.h"
#include "animfs/view.h"

struct cache;

struct version {
	_Atomic unsigned references;
	uint64_t generation; /* rises from version to version of this process; never 0 */
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
	const char *file_name;      /* that it was decoded under: the anim's arena has it */

	/* Set before others see it (version_settle_ages); empty in a version of no file. */
	struct ages ages;
	struct timespec mtime; /* of the file */
	uint64_t rest_since;   /* the generation since which the skeleton is the same, */
	uint64_t named_since;  /* and the file's name */
	struct labels *labels;
	size_t size; /* all its memory */
	/* Of the cache; NULL for a version that is in none. */
	struct cache *cache;
	void (*put_last)(struct version *v);
	struct version **home; /* the place that knows it, cleared when it is dropped */
	struct version *newer, *older;
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
struct version *version_of_bytes(const struct codec *codec, struct buf *bytes,
				 const char *file_name, const struct decoding *how,
				 struct err *err);
struct version *version_get(struct version *v); /* one more holder */
void version_put(struct version *v);            /* one less; NULL is fine */
void version_free(struct version *v);           /* for the cache, which has the last one */

/* By label, hashed. -1 when there is none. */
int64_t version_clip(const struct version *v, const char *label);
int64_t version_track(const struct version *v, uint32_t clip, const char *label);

/*
 * Tells its ages from the version before, or NULL where that is not known; `edit` is as in ages.h.
 * Before others see it. Out of memory everything only looks as new as the version.
 */
void version_settle_ages(struct version *v, struct timespec mtime, const struct version *before,
			 const struct anim *edit);
/* When the clip (track -1) or the track last changed; the beginning of time in one of no file. */
struct timespec version_time(const struct version *v, uint32_t clip, int64_t track);
/*
 * The generation since which all texts that the clip (track -1) or the track alone decide have been
 * the same. Views that show the skeleton or the file's name depend on rest_since and named_since,
 * too; tree_since takes care of that.
 */
uint64_t version_since(const struct version *v, uint32_t clip, int64_t track);

/* Do both have the same bytes? */
bool version_same_bytes(const struct version *a, const struct version *b);

/* An animation file's extension, without its dot: its own, or the format's where it has none. */
const char *file_extension(const char *file_name, const struct format *format);

#endif
