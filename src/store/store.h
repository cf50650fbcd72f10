/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Layer store: an animation file through its versions. It reads and decodes a file once, keeps
 * versions that are immutable and shared, turns a saved text into an edit, commits it to the file
 * after checking that no other program has changed it, and decides which of the texts that one
 * program saves count (batch.h). It knows names below SOURCE but no nodes, kernel or mount; the
 * commands use it as the mount does.
 *
 * Start reading in source.h; then version.h, commit.h and draft.h.
 *
 * May use: util text disk sandbox model skeleton codec view container edit
 */
/* store.h - shared by all animation files of a mount or command: options, cache, history. */
#ifndef ANIMFS_STORE_STORE_H
#define ANIMFS_STORE_STORE_H

#include "disk/history.h"
#include "disk/state.h"
#include "model/compose.h"
#include "sandbox/guard.h"
#include "skeleton/find_skeleton.h"
#include "skeleton/naming.h"
#include "util/lock_classes.h"
#include "version.h"

struct store;
struct store_options {
	size_t cache;    /* limit, in bytes, of unreferenced versions in the cache */
	size_t max_file; /* limit in bytes; larger files are not decoded */
	struct rate {    /* values of --rate FORMAT=HZ */
		const struct format *format;
		double hz;
	} rates[16];
	unsigned rate_count;
	struct pattern { /* values of --type GLOB=FORMAT[:BONES]; codec NULL: auto */
		char *glob;
		const struct codec *codec;
		uint32_t bones; /* number of bones; 0: not given */
	} * patterns;
	unsigned pattern_count;
	struct base_rule bases[16]; /* rules of --base */
	unsigned base_count;
	enum rotations rotations; /* value of --rotations */
	struct style style;       /* values of --bones and --bvh */
	size_t history;           /* --history: bytes of old versions; 0: none are kept */
};
/*
 * Makes a store. The options are copied, but not their patterns. `state` NULL: nothing can be
 * committed. NULL when out of memory.
 */
struct store *store_new(const struct store_options *options, struct state *state);
/*
 * Names bones by the table in this folder (naming.h), which the caller keeps open. Replaces an
 * earlier folder; call it while nothing else uses the store. False when out of memory.
 */
bool store_names(struct store *s, int folder, naming_reporter *report, void *closure);
/*
 * Sets the function that is called about skeletons that cannot be used (find_skeleton.h), with
 * their path from SOURCE. It must not call the store.
 */
void store_report_skeletons(struct store *s, skeleton_reporter *report, void *closure);
/*
 * Sets the guard, which decides which files beside animations are used and written; not owned. Call
 * it before the first source is made.
 */
void store_guard(struct store *s, const struct guard *guard);
void store_free(struct store *s); /* call it after freeing the store's sources; NULL is ignored */
size_t store_cached(const struct store *s); /* bytes, for .animfs/status */
/*
 * Could a file of this name be an animation? Patterns of the options come first. *probe: it depends
 * on the content.
 */
bool store_claims(const struct store *s, const char *file_name, const struct codec **codec,
		  bool *probe);

/* ---- for the other files of src/store ---- */

/* The archives that siblings.c has opened last; the cache owns them. */
#define OPENED_ARCHIVES 8
struct opened_archives {
	struct lock lock;
	struct {
		struct file_version version;
		struct cached *home;
		bool refused; /* its tables are damaged */
	} slots[OPENED_ARCHIVES] GUARDED_BY(siblings_class);
	unsigned next GUARDED_BY(siblings_class);
};
struct opened_archives *store_opened(struct store *s);

struct cache *store_cache(const struct store *s);
struct state *store_state(const struct store *s);         /* NULL if nothing can be committed */
struct history *store_history(const struct store *s);     /* NULL only if there is no state */
const struct guard *store_guarded(const struct store *s); /* may be NULL */
const struct store_options *store_settings(const struct store *s);
struct naming_table *store_naming(const struct store *s, const struct format *format);
/* Returns whether a function for faults of skeletons is set (store_report_skeletons). */
bool store_reports_skeletons(const struct store *s);
void store_report_skeleton(const struct store *s, const char *path, const char *fault);
/*
 * Returns how to decode a file of this name and format (codec NULL: any), by the options and the
 * table of names. The caller drops how.names.
 */
struct decoding store_decoding(const struct store *s, const char *file_name,
			       const struct codec *codec);

#endif
