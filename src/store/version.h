/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * version.h - one version of an animation file, decoded.
 *
 * Immutable. It lives while it is referenced, and after that until the cache (cache.h) drops it.
 * Thread-safe.
 */
#ifndef ANIMFS_STORE_VERSION_H
#define ANIMFS_STORE_VERSION_H

#include "ages.h"
#include "animfs/codec.h"
#include "animfs/view.h"
#include "cache.h"
#include "disk/history_log.h"
#include "model/compose.h"
#include "skeleton/find_skeleton.h"
#include "skeleton/naming.h"
#include "stills.h"
#include "util/lock_classes.h"
#include "where.h"

struct version {
	struct cached cached; /* the first member */
	/*
	 * Never 0. A new version has a higher number than all others of this process; the same one
	 * read again has its old number (version_resume).
	 */
	uint64_t generation;
	/*
	 * Versions of a file with the same lineage were made from each other by edits of models, so
	 * data that the model does not represent are the same in them. A version that was read has
	 * a new lineage, unless it is the same one read again.
	 */
	uint64_t lineage;
	const struct codec *codec;
	struct buf bytes;
	struct anim *anim;     /* the model, with labels */
	struct anim *composed; /* shows additive clips on their base; NULL: there are none */
	uint32_t *bases; /* for each clip: the clip that it is shown on (compose.h); or NULL */
	struct naming_table *names;       /* the table that names the bones; may be NULL */
	struct shared_skeleton *skeleton; /* skeleton of the version; may be NULL */
	struct stills *stills;            /* stills, if the format has them; may be NULL */
	struct style style;               /* style of the version's texts */
	struct history_digest
		digest; /* digest of the bytes; if has_digest, it is set and no longer changes */
	_Atomic bool has_digest; /* set by version_digest */
	const char *file_name;   /* name under which the version was decoded; in the anim's arena */
	const char *from;        /* path of the loose file that the version is from; or NULL */
	_Atomic bool is_served;  /* a text of the version has been read */
	struct lock serving;
	struct digest *served GUARDED_BY(
		served_class); /* digests of the texts that were served (version_serve) */
	size_t served_count GUARDED_BY(served_class), served_room GUARDED_BY(served_class);

	/*
	 * Ages of clips and tracks. Set by version_settle_ages before the version is shared; empty
	 * if it does not come from a file.
	 */
	struct ages ages;
	struct timespec mtime;       /* mtime of the file, or of the latest of its parts */
	struct timespec parts_mtime; /* mtime of the latest part; {0}: there are no parts */
	uint64_t skeleton_since;     /* generation since which the skeleton is the same, */
	uint64_t named_since;        /* and that since which the file's name is the same */
	struct labels *labels;
};

/* Inputs of decoding besides the bytes. */
struct decoding {
	double rate; /* frames per second; 0: the format's, or the file's own */
	enum rotations rotations;
	struct style style;
	/* rules for the bases of additive clips; must stay until the version is decoded */
	const struct base_rule *bases;
	unsigned base_count;
	struct naming_table
		*names; /* table of bone names, not owned; hints.bone_names point into it */
	struct shared_skeleton *skeleton; /* skeleton, not owned */
	struct hints hints;
	/* path of the loose file that the bytes are from (overlay.h); NULL: not from one */
	const char *from;
	/* place of the file, to find its stills; NULL: do not look for them */
	const struct where *where;
	const struct guard *guard; /* guard to ask before stills are read */
};

/*
 * Decodes `bytes`, which it takes over even if it fails. Returns a reference. codec NULL: found by
 * content. `file_name`: the animation file's own name. how NULL: defaults.
 */
struct version *version_of_bytes(const struct codec *codec, struct buf *bytes,
				 const char *file_name, const struct decoding *how,
				 struct err *err);
struct version *version_get(struct version *v); /* takes a reference */
void version_put(struct version *v);            /* drops a reference; NULL is fine */
/* The version at home in a cache, with a reference; or NULL. */
struct version *version_take(struct cache *c, struct cached **home);

/* Return the index of a clip or track by its label; -1: none. */
int64_t version_clip(const struct version *v, const char *label);
int64_t version_track(const struct version *v, uint32_t clip, const char *label);

/*
 * Computes the version's ages from the previous version (NULL: unknown); `edit`: see ages.h. Call
 * it before the version is shared. When out of memory, everything counts as new.
 */
void version_settle_ages(struct version *v, struct timespec mtime, const struct version *before,
			 const struct anim *edit);
/*
 * The facts about a version that are kept when the cache drops it. If the same bytes are read
 * again, they become the same version (in a format with stills: another version with the same
 * times). {0}: no facts, for example for a sequence: its bytes do not include those of its parts.
 */
struct trace {
	struct history_digest digest;
	uint64_t outline; /* version_outline of the version */
	uint64_t context; /* hash of all other inputs of the version's texts, except the names */
	struct naming_table
		*names; /* table of names, referenced, so that no other table has its address */
	uint64_t generation, lineage, skeleton_since, named_since;
	struct ages ages; /* ages of the version, owned */
};
/* Sets *trace to the facts about `v`. */
void version_leave_trace(struct version *v, struct trace *trace);
void trace_release(struct trace *trace);
/*
 * After version_settle_ages with an unknown previous version: if `trace` is of the same bytes, the
 * ages stay as they were; if nothing else has changed, it becomes that version again.
 */
void version_resume(struct version *v, const struct trace *trace);
/* Returns the base that the clip is shown on in composed views, or COMPOSE_NONE. */
uint32_t version_base(const struct version *v, uint32_t clip);
/*
 * Returns a hash that differs between versions with different names of clips, bones and frames
 * (labels.h), and with different clips that are hidden because of their stills.
 */
uint64_t version_outline(const struct version *v);
/* Does the clip have a folder? A clip of stills has none if they cannot be joined. */
bool version_shows_clip(const struct version *v, uint32_t clip);
/*
 * Returns when the clip (track -1) or track last changed; {0} for a version that does not come from
 * a file.
 */
struct timespec version_time(const struct version *v, uint32_t clip, int64_t track);
/*
 * Returns the generation since which all texts that depend only on the clip (track -1) or track are
 * the same. Views that show the skeleton or the file's name also depend on skeleton_since and
 * named_since; tree_since considers those.
 */
uint64_t version_since(const struct version *v, uint32_t clip, int64_t track);

/* Notes that this text (digests_text) was served; at most SERVED_MAX texts per version. */
#define SERVED_MAX 8192
void version_serve(struct version *v, struct digest text);
/* Takes the texts noted so far, and returns their number; the caller frees *out. */
size_t version_served(struct version *v, struct digest **out);

/* Returns the digest of the version's bytes, computed once. Thread-safe. */
const struct history_digest *version_digest(struct version *v);
/*
 * Do both versions have the same bytes? For versions of a file the digests are known, and
 * compared.
 */
bool version_same_bytes(const struct version *a, const struct version *b);

/* Returns a file name's extension without the dot; the format's if the name has none. */
const char *file_extension(const char *file_name, const struct format *format);

#endif
