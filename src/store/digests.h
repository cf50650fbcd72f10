/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * digests.h - recognizes texts of old versions of a file, whose bytes may be gone, by a digest of
 * each value and of the whole file.
 *
 * A unit is a value: a curve; a bone with keyframes; a clip's loop, name, times, list of bones or
 * field; a field of the file, or its list of clips. Its id is a hash of the labels of its clip and
 * bone, and of its kind. Versions are numbered from 1 in the order in which they are added. For
 * each only the units that differ from the previous version are stored.
 *
 * A curve's digest is that of its values as they are served (model/said.h), so a text can be
 * compared without parsing it against the version that it is from. A rotation that is shown in
 * another form than the stored one (--rotations) has a second digest, which maps to the first. So
 * texts in that form are recognized only if the version was added by a mount or command that shows
 * it; every one that serves texts of a version adds it.
 *
 * Two kinds of texts cannot be recognized by values: lossy ones (glTF, BVH), and texts of versions
 * with other bones or frames, which cannot be parsed against the current version. They are
 * recognized by a digest of the whole text, noted when it was rendered for a reader.
 *
 * Not thread-safe. Bounded: the oldest versions and texts are forgotten.
 */
#ifndef ANIMFS_STORE_DIGESTS_H
#define ANIMFS_STORE_DIGESTS_H

#include "model/said.h"
#include "version.h"

struct digests;

#define DIGESTS_VERSIONS_MAX 1024
#define DIGESTS_UNITS_MAX (1u << 20) /* limit of entries, which take 48 bytes each */
#define DIGESTS_TEXTS_MAX 8192

struct digests *digests_new(void);    /* NULL when out of memory */
void digests_free(struct digests *d); /* NULL is fine */
/* More is stored, but could not be read now: digests_store must not replace it. */
void digests_set_partial(struct digests *d);
bool digests_is_partial(const struct digests *d);
uint32_t digests_last(const struct digests *d); /* number of the newest version; 0: none */
/* number of the oldest version that is still known */
uint32_t digests_first(const struct digests *d);

/*
 * Adds a version and returns its number; 0 when out of memory. If the newest version has the same
 * bytes, returns its number, and only adds the form in which rotations are shown. `before`: the
 * version that was added last, whose unchanged parts (by ages) are not hashed again; or NULL.
 */
uint32_t digests_add(struct digests *d, const struct version *v, const struct version *before);
/* Returns the newest version with these bytes; 0: none. */
uint32_t digests_of_bytes(const struct digests *d, struct bytes bytes);

/*
 * digest_of_file returns the digest of a file's bytes: 128 bits of XXH3, as in the history, and
 * never {0}. digests_of_file is as digests_of_bytes, by that digest.
 */
struct digest digest_of_file(struct bytes bytes);
uint32_t digests_of_file(const struct digests *d, struct digest whole);

/* ---- units ---- */

typedef uint64_t unit_id;

#define UNIT_KEYFRAMES 3 /* instead of a role: everything of a bone with keyframes */
unit_id unit_of_curve(const char *clip, const char *bone, unsigned role);
/*
 * Returns the id of a clip's own value: "loop", "name", "frames", "frame_time", "duration",
 * "bones", "stills".
 */
unit_id unit_of_value(const char *clip, const char *name);
unit_id unit_of_field(const char *clip, const char *name);

/* Calls `each` for each unit of a model. Stops and returns false if `each` does. */
struct unit_value {
	unit_id unit;
	struct digest digest;
	struct digest other;       /* digest of a rotation in the other form; else none */
	const struct track *track; /* track of a curve or of keyframes */
};
typedef bool unit_each(void *closure, const struct unit_value *value);
/* Bits for sets of a clip's own values. */
#define UNITS_LOOP 1u
#define UNITS_STILLS 2u
#define UNITS_OTHERS 4u /* name, frames, times, fields, the list of bones */
/* `label`: the clip's name in the ids of its units. */
bool units_of_clip(const struct anim *a, const struct clip *c, const char *label, unsigned which,
		   unit_each *each, void *closure);
bool units_of_track(const struct anim *a, const struct clip *c, const struct track *track,
		    unit_each *each, void *closure);
bool units_of_file(const struct anim *a, unit_each *each, void *closure);

/*
 * Returns the unit's digest in version `number`; none if the version has no such unit, or it has no
 * keys.
 */
struct digest digests_at(const struct digests *d, unit_id u, uint32_t number);
/*
 * Returns the version since which the unit has had the value that it has in `number`; 0:
 * unknown.
 */
uint32_t digests_since(const struct digests *d, unit_id u, uint32_t number);
/*
 * Maps the digest of a value in a text to the file's form, if any version has it in the other form.
 */
struct digest digests_in_form(const struct digests *d, unit_id u, struct digest said);
/*
 * Clears the bits of versions in which the unit has another digest; `set` has a bit for each
 * version number up to `last`.
 */
void digests_match(const struct digests *d, unit_id u, struct digest digest, uint64_t *set,
		   uint32_t last);

/* Like digests_match, for the bytes of the whole file. */
void digests_match_bytes(const struct digests *d, struct bytes bytes, uint64_t *set, uint32_t last);

/* ---- texts ---- */

/* Returns the digest of a view's text together with its path (as of tree_walk). */
struct digest digests_text(const char *path, struct bytes text);
/* Notes that the view had this text in that version. False when out of memory. */
bool digests_note(struct digests *d, struct digest text, uint32_t number);
bool digests_note_text(struct digests *d, const char *path, struct bytes text, uint32_t number);
/* Returns the newest version for which this text was noted, or 0. */
uint32_t digests_of_text(const struct digests *d, const char *path, struct bytes text);

/* ---- bytes ---- */

/*
 * Appends a serialized form, in which versions are numbered from 1 again. Sets out->failed if an
 * allocation failed.
 */
void digests_write(const struct digests *d, struct buf *out);
/*
 * Restores digests from bytes; NULL if the bytes are not from digests_write, or when out of
 * memory.
 */
struct digests *digests_read(struct bytes bytes);

#endif
