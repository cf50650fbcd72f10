/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * ff9clip_file.h - shared by the parts of the codec of Final Fantasy IX's clips (Steam): a file of
 * either form that was checked, and its curves. The format is described in ff9clip.c.
 */
#ifndef ANIMFS_CODEC_FF9CLIP_FILE_H
#define ANIMFS_CODEC_FF9CLIP_FILE_H

#include "animfs/codec.h"
#include "text/json.h"

#define CLIP_RATE 30 /* frames per second, if the file has no usable rate */
/* The least usable rate: below it, times of frames would soon be too large for float32. */
#define CLIP_RATE_LEAST 0.001f
#define CLIP_HOLD 2            /* motion before and after the keys of a new curve */
#define CLIP_FRAMES_MAX 16384u /* float32 times of later frames may be off by 0.001 frames */
#define CLIP_FRAMES_SHOWN 0x1000000u
#define CLIP_GRID 0.001 /* tolerance, in frames, for a time to count as being at a frame */

/* A curve of the file. In JSON a bone's components share the keys of one list. */
struct clip_curve {
	enum role role;
	uint32_t track;
	const char *path;
	int32_t before, after;
	uint32_t count;
	/* float32s, little-endian, in the order of the keys in the file */
	uint8_t *times, *values, *tangents;
	uint32_t *order; /* the keys in order of time; NULL: they are stored in that order */
	uint8_t *absent; /* JSON: a bit for each component that a key does not have; or NULL */
	/* Binary: all of its bytes. JSON: its list of keys. */
	size_t at, end;
	size_t path_at;                   /* binary: the length of the path */
	const struct token *list, **keys; /* JSON: `keys` are those with a time */
};

/* An entry of "transform" that names a bone. */
struct clip_entry {
	const struct token *token;
	uint32_t track;
};

enum clip_tail { TAIL_NONE, TAIL_USUAL, TAIL_OTHER };

/* A file in which everything has been checked. Its parts live in the arena. */
struct ff9clip {
	struct arena arena;
	struct bytes src;
	bool json;
	struct doc doc;
	const char *name; /* name of the clip; NULL: none */
	float rate;
	bool has_rate;
	size_t rate_at;             /* binary: offset of the rate */
	int32_t wrap;               /* binary with a tail: wrap mode */
	uint8_t flags[4];           /* binary: flags such as legacy and compressed */
	enum clip_tail tail;        /* binary: what the file ends with */
	size_t section[ROLE_COUNT]; /* binary: offset of the count of curves, for each role */
	size_t section_end[ROLE_COUNT];
	uint32_t count;
	size_t room;
	struct clip_curve *curves;
	size_t entry_count, entry_room;
	struct clip_entry *entries; /* JSON: entries of "transform" */
	uint32_t track_count;
	const char **paths; /* paths of the tracks, in their order; equal paths only if the file is
			       read-only */
	uint32_t frames;
	bool others;           /* it has curves of other kinds */
	bool between;          /* keys are between frames */
	const char *read_only; /* the reason why the file is read-only; NULL: it is not */
};

static inline unsigned clip_width(enum role role)
{
	return role == ROLE_ROTATION ? 4 : 3;
}

#define USUAL_TAIL 1912
/* Fills in the tail as Hades Workshop writes it. The caller has zeroed the buffer. */
void ff9clip_usual_tail(uint8_t *tail);
/* Returns the stored index of the key that has index `key` in order of time. */
static inline uint32_t clip_key(const struct clip_curve *c, uint32_t key)
{
	return c->order ? c->order[key] : key;
}
static inline float clip_time(const struct clip_curve *c, uint32_t stored)
{
	return get_f32(c->times + 4 * (size_t)stored);
}
/* Returns the rate by which times are converted to frames. */
double ff9clip_rate(float stored);
/* Checks a whole file. The caller calls ff9clip_release, also after a failure. */
bool ff9clip_read(struct ff9clip *f, struct bytes src, struct err *err);
void ff9clip_release(struct ff9clip *f);
/* Adds a curve whose numbers are still to be filled in; NULL when out of memory. */
struct clip_curve *ff9clip_add(struct ff9clip *f, enum role role, uint32_t keys);

/* Reads the JSON form (ff9clip_json.c). */
bool ff9clip_read_json(struct ff9clip *f, struct err *err);
/* Returns the name of a number in JSON: "x", "xInnerTangent", "xOuterTangent" for `part` 0 to 2. */
const char *ff9clip_json_name(unsigned part, unsigned axis);
extern const char *const ff9clip_json_roles[ROLE_COUNT];

/* A curve to be written. Keys are as they are to be stored. */
struct clip_write {
	const struct track *track;
	const struct clip_curve *old; /* the old curve; NULL: the curve is new */
	bool same;                    /* the curve equals the old one, except for the path */
	enum role role;
	int32_t before, after;
	uint32_t count;
	uint8_t *times, *values, *tangents;
	int64_t *from; /* for each key: the stored index of the old key that it replaces or equals,
			  or -1 */
};

/* Everything to be written. */
struct clip_edit {
	struct ff9clip old; /* the old file; of no bytes if the file is new */
	struct anim *model; /* model of the old bytes, or NULL */
	const struct anim *a;
	const struct clip *clip;
	struct arena arena;
	/* Curves of the old file, by track and role; NULL: the track has no such curve. */
	const struct clip_curve **old_curves;
	struct clip_write *curves; /* curves, track by track */
	uint32_t count;
	float rate;
	int32_t wrap;
	struct buf *out;
	struct err *err;
};

/* Writes the JSON form (ff9clip_json_write.c). */
bool ff9clip_write_json(struct clip_edit *e);

/* The format, for the codec entry at the end of ff9clip_write.c. */
extern const struct format ff9clip_format;
bool ff9clip_probe(struct bytes src);
struct anim *ff9clip_decode(struct bytes src, const struct hints *hints, struct err *err);

#endif
