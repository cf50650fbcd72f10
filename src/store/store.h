/* SPDX-License-Identifier: GPL-3.0-or-later */
/* store.h - what all animation files of a mount or command have in common. */
#ifndef ANIMFS_STORE_H
#define ANIMFS_STORE_H

#include "../backup.h"
#include "../guard.h"
#include "../naming.h"
#include "../rest.h"
#include "../state.h"
#include "cache.h"

struct store;
struct store_options {
	size_t cache;    /* bytes of versions kept though nobody holds them */
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
 * Called with skeletons that cannot be used (rest.h), by their path from SOURCE. It must not ask
 * the store.
 */
void store_rests(struct store *s, rest_told *told, void *closure);
/* Which files beside animations are used, and written; stays the caller's. Before the first source.
 */
void store_guard(struct store *s, const struct guard *guard);
void store_free(struct store *s);           /* after its sources; NULL is fine */
size_t store_cached(const struct store *s); /* bytes, for .animfs/status */
/* Could a file of this name be one? Patterns of the options first. *probe: by content alone. */
bool store_claims(const struct store *s, const char *file_name, const struct codec **codec,
		  bool *probe);

/* ---- for the other files of src/store ---- */

struct cache *store_cache(const struct store *s);
struct state *store_state(const struct store *s);         /* NULL: nothing can be committed */
const struct guard *store_guarded(const struct store *s); /* may be NULL */
const struct store_options *store_settings(const struct store *s);
struct naming_table *store_naming(const struct store *s, const struct format *format);
/* Are faults of skeletons asked for? */
bool store_wants_rests(const struct store *s);
void store_rest_fault(const struct store *s, const char *path, const char *fault);
/*
 * What the options and the table of names say about a file of this name and format; codec NULL: of
 * any. The caller releases how.names.
 */
struct decoding store_decoding(const struct store *s, const char *file_name,
			       const struct codec *codec);

#endif
