/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * batch.h - combines the texts that one program saves below one animation file.
 *
 * The views of a folder contain each value several times. If a copy of the folder is edited in one
 * text and copied back, that text has the new value and all others still have the old one. So the
 * texts that one program saves are read together. Which of them count is a function of their values
 * (as digests), of the versions known when the batch began, and, only where texts contradict each
 * other without being such a copy, of their order. A text that does not count is stale: it is
 * ignored, in whole or for some of its values.
 *
 * 1. As long as no two texts have different values of a unit, all count, old or new.
 * 2. Otherwise the origin is the version that most of the texts equal, at least two; of several,
 *    the newest. Texts that equal it are stale. The others are edits of it, in the order saved:
 *    only their values that differ from the origin count.
 * 3. Without an origin, texts count in the order saved, except an old text (one that equals a
 *    version) that is contradicted by a new one that has values of all its units.
 * 4. In a batch with a generated text, a listed view that was not saved contradicts others as if
 *    its text had been saved; and contradicts the other view of its bone as in 3. This applies only
 *    below the folder that all texts of the batch have in common: copying only a clip's folder, or
 *    having git track only bones/, implies nothing about views outside of it.
 * 5. If others changed a value after the text was opened, and the text has its base's value, theirs
 *    stays. It also stays if the text has another value, but is as a whole the text of a known
 *    version: it counts as saved just before theirs. A new text with another value is a conflict.
 *
 *	struct batch *b = batch_new(now, number, known, listed, "ranger.canm");
 *	...
 *	effect = batch_add(b, &text, &err);
 *	... BATCH_SAVE: commit the text as the edit that it is (draft.h)
 *	... BATCH_REWRITE: batch_outcome(), and commit that
 *	... after either: digests_add(), batch_saved()
 *	while (batch_next_silent(b, &silent)) ... a line in .animfs/errors ...
 *
 * It holds references to the texts and versions it was given. Not thread-safe: callers hold the
 * writer's lock. `known` is not owned, must outlive the batch, and may grow; versions after the one
 * at the start, made by the batch itself or by others, cannot be origins.
 */
#ifndef ANIMFS_STORE_BATCH_H
#define ANIMFS_STORE_BATCH_H

#include "digests.h"
#include "text.h"
#include "tree.h"

struct batch;

/*
 * `start`: the current version; `number`: its number in `known`. `listed`: the views that are
 * listed. NULL when out of memory.
 */
struct batch *batch_new(struct version *start, uint32_t number, const struct digests *known,
			view_set listed, const char *file_name);
void batch_free(struct batch *b); /* NULL is fine */
/*
 * Sets the origin: the texts are a copy of this known version, with edits. Call it before the first
 * text is added.
 */
void batch_set_origin(struct batch *b, uint32_t number);
/* Returns the memory of the batch's texts, in bytes. */
size_t batch_size(const struct batch *b);

/* A saved text. The batch takes references of its own. */
struct batch_text {
	const char *path;     /* path of the view in the file's folder, as tree_walk takes it */
	uint64_t draft;       /* a later text of the same draft replaces this one */
	struct text *text;    /* the text as saved */
	struct version *base; /* the version that the text edits; */
	uint32_t number;      /* the base's number; */
	/*
	 * The version that its draft committed last, or number. 0: no other program saves
	 * meanwhile.
	 */
	uint32_t since;
	struct place place; /* the view's place in the base */
	/* The text parsed as an edit of the base. NULL: refused, generated, or whole. */
	const struct anim *edited;
	struct version *whole; /* the decoded file, if the text is raw.*; else NULL */
};

enum batch_effect {
	BATCH_SAVE,    /* the text counts: commit it as an edit of its base */
	BATCH_NOTHING, /* the text is stale: there is nothing to commit */
	/* The stored file is not the outcome of the texts: commit batch_outcome. */
	BATCH_REWRITE,
	BATCH_REFUSED, /* the text was refused; without the fault it would count */
	BATCH_ANOTHER, /* the view was already saved in this batch: begin another batch */
	BATCH_FAILED,  /* out of memory; the batch is unchanged */
};

enum batch_effect batch_add(struct batch *b, const struct batch_text *text, struct err *err);

/*
 * The resulting file: the bytes of `over` if *edited is NULL; else *edited, which was edited from
 * over->anim, encoded over its bytes. `over` is the version at the start (with later saves by
 * others, see batch_follow), or a whole file among the texts; it belongs to the batch. *edited
 * points into models of the batch: anim_free it before the next call. False and err when out of
 * memory.
 */
bool batch_outcome(struct batch *b, struct version **over, struct anim **edited, struct err *err);

/* After batch_outcome: was the text that was added last refused, although it would count? */
bool batch_is_refused(const struct batch *b);
/* Is the text that was added last a conflict (5)? */
bool batch_conflicts(const struct batch *b);

/*
 * ---- for callers that have all texts at once; after batch_outcome ----
 *
 * The fate of the text of this path. BATCH_SAVE: it is part of the outcome; BATCH_NOTHING: it is
 * not; BATCH_REFUSED: it would be, but was refused; BATCH_ANOTHER: it is not in the batch, since it
 * is generated, a skeleton, or was refused and matches no known version.
 */
enum batch_effect batch_fate(const struct batch *b, const char *path);
/*
 * Finds a clip and bone (either may be NULL) for which this text and another one, which both count,
 * have different values. False: none.
 */
bool batch_contradicts(struct batch *b, const char *path, const char **clip, const char **bone);
/*
 * Like batch_contradicts, but compares the text, if it counts, with the changes that other programs
 * made between version `since` and the start of the batch.
 */
bool batch_overrules(const struct batch *b, const char *path, uint32_t since, const char **clip,
		     const char **bone);

/*
 * After a commit: the current version, and its number. Returns whether it has all values of the
 * text that was added last.
 */
bool batch_saved(struct batch *b, struct version *now, uint32_t number);
/* Returns the version that the batch's last commit made; not a new reference. */
struct version *batch_left(const struct batch *b);
/*
 * Removes the text that was added last, because it could not be stored; its writer gets the error.
 */
void batch_take_back(struct batch *b);
/* Returns the number of texts saved in the batch. */
size_t batch_count(const struct batch *b);

/*
 * Others have saved: `now` is the current version with this number, not batch_left. Their changes
 * stay, whatever the earlier texts contain. *ground: the version that batch_outcome starts from
 * (batch_ground) with their changes, for the caller to encode over its bytes, decode, and pass to
 * batch_set_ground. False if they added or removed clips or bones, or when out of memory: then end
 * the batch.
 */
bool batch_follow(struct batch *b, struct version *now, uint32_t number, struct anim **ground);
struct version *batch_ground(const struct batch *b);
void batch_set_ground(struct batch *b, struct version *ground);

/* A stale text, or one with stale values (5), that was not returned before. */
struct batch_silent {
	const char *path;
	bool in_part; /* some values of the text are stale; the others count */
	/* clip and bone of the first value that the text would have changed; may be NULL */
	const char *clip, *bone;
	uint32_t since; /* the version in which that value last changed; 0: unknown */
};
bool batch_next_silent(struct batch *b, struct batch_silent *out);
/* Returns the path of a text that batch_next_silent returned, but that counts now; NULL: none. */
const char *batch_next_counting(struct batch *b);

#endif
