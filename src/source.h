/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * source.h - an animation file of SOURCE: its bytes, its codec, its model, and how it is replaced.
 *
 * A `source` is the file itself through all its versions; it knows the latest snap (snap.h) and
 * decodes again when the file changed. Thread-safe.
 */
#ifndef ANIMFS_SOURCE_H
#define ANIMFS_SOURCE_H

#include "at.h"
#include "attributes.h"
#include "backup.h"
#include "snap.h"
#include "state.h"

/* What belongs to the whole mount. */
struct store;
struct store_options {
	size_t cache;    /* bytes of snaps kept though nobody holds them */
	size_t max_file; /* larger files are not decoded */
	struct rate {    /* --rate FORMAT=HZ */
		const struct format *format;
		double hz;
	} rates[16];
	unsigned rate_count;
	struct pattern { /* --type GLOB=FORMAT[:BONES]; codec NULL: auto */
		char *glob;
		const struct codec *codec;
		uint32_t bones; /* 0: not given */
	} * patterns;
	unsigned pattern_count;
	enum rotations rotations; /* --rotations */
	struct style style;       /* --bones, --bvh */
	enum backup_mode backup;  /* --backup */
};
/*
 * The options are copied, their patterns are not. state NULL: nothing can be committed. NULL when
 * out of memory.
 */
struct store *store_new(const struct store_options *options, struct state *state);
/*
 * Bones are called as the table in this folder says (naming.h), which the caller keeps open. In
 * place of the folder that was named before; while nothing else uses the store.
 */
bool store_names(struct store *s, int folder, naming_told *told, void *closure);
/*
 * Who is told of skeletons that cannot be used (rest.h), by their path from SOURCE. It must not ask
 * the store.
 */
void store_rests(struct store *s, rest_told *told, void *closure);
/* Which files beside animations are used, and written; stays the caller's. Before the first source.
 */
void store_guard(struct store *s, const struct guard *guard);
/* Versions that are replaced stay until source_told: for source_replaced. */
void store_keep_replaced(struct store *s);
void store_free(struct store *s);           /* after its sources; NULL is fine */
size_t store_cached(const struct store *s); /* bytes, for .animfs/status */
/* Could a file of this name be one? Patterns of the options first. *probe: by content alone. */
bool store_claims(const struct store *s, const char *file_name, const struct codec **codec,
		  bool *probe);

/*
 * A file. `folder` is its folder's path from SOURCE's root, for temporaries; both texts are copied.
 * The descriptor of the folder is given anew at each call, since nobody keeps one open per file.
 */
struct source *source_new(struct store *s, const char *folder, const char *name);
void source_free(struct source *s); /* NULL is fine; snaps live on with their holders */
/* Out of memory: the source keeps the old name. Waits until nobody reads or saves the file. */
bool source_renamed(struct source *s, const char *folder, const char *name);
/*
 * A folder above it was renamed: its folder's path is another. What is known of the file stays
 * true, and nothing is waited for. False when out of memory.
 */
bool source_moved(struct source *s, const char *folder);
/*
 * The latest version, a holder for the caller. NULL and err: ERR_FORMAT where the file does not
 * decode, ERR_UNKNOWN where it is of no known format; this verdict is kept by version, so that
 * asking again costs one fstatat. ERR_SYSTEM where there is no regular file, or it cannot be read.
 */
struct snap *source_get(struct source *s, int dir, struct err *err);
/* The latest version that was asked for, if it is at hand; the file is not looked at. */
struct snap *source_last(struct source *s);
/* The version of this generation, where it was replaced since source_told; or NULL. */
struct snap *source_replaced(struct source *s, uint32_t generation);
/*
 * This one stays as if it were replaced just now: it was shown although the file had been damaged.
 */
void source_keep(struct source *s, struct snap *replaced);
/*
 * All who were shown a version know of this generation now, and hold another one if they need it.
 * It may have been replaced already; then it is the one that stays. 0: none does.
 */
void source_told(struct source *s, uint64_t generation);
/* Was the file when it was read what *st says? */
bool source_is_read(struct source *s, const struct stat *st);
/* The same as source_get, and what the file was just before; st_mode is 0 where there is none. */
struct snap *source_look(struct source *s, int dir, struct stat *st, struct err *err);
/* Would that have its answer at once? */
bool source_is_known(struct source *s, int dir);

enum commit { COMMIT_SAME, COMMIT_DONE, COMMIT_REFUSED };

/* What a draft committed last, to be replaced by its next commit. {0}: nothing yet. */
struct committed {
	struct anim *edited; /* what was committed, edited from the draft's base */
	struct snap *saved;  /* the version that it left */
	struct snap *ground; /* the file without it: see source_commit_draft; NULL: not known */
};
void committed_clear(struct committed *c);

/*
 * Saves `edited` (made from base->anim by anim_edit), or for raw.* `whole` in place of it.
 * `last` is what the same writer committed before, or NULL: for `edited` the model that was
 * `edited` then, from the same base; for `whole` the model of the snap that it left.
 *
 * Merges with what others saved, encodes, decodes again, compares, keeps the old file where keys,
 * bones or clips are removed from it (--backup), replaces. ERR_CONFLICT when
 * others changed the same; ERR_STORE when the format cannot hold it; ERR_SYSTEM when nothing can be
 * written. COMMIT_SAME: nothing had to be written. *now gets a holder of the version that is there
 * afterwards (NULL when refused).
 */
enum commit source_commit(struct source *s, int dir, struct snap *base, const struct anim *edited,
			  const struct anim *last, const struct bytes *whole, struct snap **now,
			  struct err *err);

/*
 * The same for a draft that may commit more than once. What is stored depends on `base`, `edited`
 * and what others saved, and not on what the draft committed before, to the byte: a text that
 * arrives in pieces is stored as one that comes at once, also where the format stores equal values
 * in more than one way (the order of keys, the grid of a curve, bits that no value needs).
 *
 * For that, `edited` is not stored over the bytes that the last commit left but over the `ground`:
 * the file as it would be had the draft committed nothing. That is the version before its first
 * commit, with all that others saved since: the difference between the models of c->saved and of
 * the file, which is stored over the ground. That is all of it where the versions between came of
 * edits in this process (snap.h, lineage). Where another program changed the file it is taken for
 * all only if the draft's last commit leads from the new ground to the file, byte for byte. Else,
 * and where others changed what the draft has, or added and removed bones, the ground is lost: this
 * commit and later ones are stored over what is there, and equal in value alone.
 *
 * Success replaces what is in *c and takes `edited` over.
 */
enum commit source_commit_draft(struct source *s, int dir, struct snap *base, struct anim *edited,
				const struct bytes *whole, struct committed *c, struct err *err);

/*
 * Saves what was made of base's skeleton: as the file's own (rest.h), in a text beside it, which is
 * made where there is none; the file stays as it is. `last` is what the same draft committed
 * before, or NULL. ERR_CONFLICT when others changed the skeleton, or when the text that is there
 * cannot be read. A text from which bones are removed is kept as a file is. With a guard it is
 * written, or made, only as `who` could do it, and one that is made is his. The rest is as of
 * source_commit.
 */
enum commit source_commit_skeleton(struct source *s, int dir, struct snap *base,
				   const struct skeleton *edited, const struct skeleton *last,
				   const struct caller *who, struct snap **now, struct err *err);

/*
 * Makes the file, which must not be there yet (ERR_CONFLICT), of a model that was not edited from
 * another's (anim_blank). False and err, as of source_commit.
 */
bool source_create(struct source *s, int dir, const struct codec *codec, const struct anim *made,
		   struct err *err);
/*
 * The same in steps. What the file would be, with a holder for the caller: with these bytes; with a
 * model that was edited from base's; with one that was not. NULL and err, as of source_commit.
 */
struct snap *source_decode(struct source *s, int dir, struct bytes bytes, struct err *err);
struct snap *source_edited(struct source *s, int dir, struct snap *base, const struct anim *edited,
			   struct err *err);
struct snap *source_made(struct source *s, int dir, const struct codec *codec,
			 const struct anim *made, struct err *err);
/*
 * Makes the file of it, with these attributes (replace.h; NULL: the folder's usual ones). base:
 * what it was edited from, kept where something was removed; or NULL.
 */
bool source_put_new(struct source *s, int dir, struct snap *base, struct snap *made,
		    const struct attributes *as, struct err *err);

/* Removes the file, and keeps it as --backup says. 0 or an errno. */
int source_remove(struct source *s, int dir);

#endif
