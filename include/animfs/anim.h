/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * anim.h - the model: file > clip > track > curve > key.
 *
 *   anim    one file: clips, in file order, and the fields of the whole file
 *   clip    one animation: a name, a number of frames, the time of a frame, tracks
 *   track   one bone in one clip: up to three curves, one a role
 *   curve   the keys of one role of one bone: a value of 3 or 4 components at each key
 *
 * In a format whose clips are lists of stills (kanim), clips have stills instead of tracks. In one
 * whose files are lists of other files (sequence), a file has one clip, joined from theirs.
 *
 * A model is made by a codec from bytes, or by editing another (anim_edit). Once it is shared it is
 * immutable. It owns one arena. It points into the bytes it was decoded from, and an edited one
 * into the model it was edited from: keep those until you have freed it.
 *
 * Curves are shared by pointer wherever the file shares them. An edit makes new curves and keeps
 * the old ones: two tracks with the same pointer have the same curve, and an unedited curve is the
 * same pointer before and after.
 *
 * Units as the views show them: translation in the format's length (canm: metres), rotation in
 * degrees or as a quaternion, scale as a factor. Values are absolute and relative to the parent
 * bone. Stored numbers that are not finite are values like any other.
 *
 * Names are UTF-8; a lone surrogate of a UTF-16 name is kept in its three-byte form (WTF-8).
 */
#ifndef ANIMFS_ANIM_H
#define ANIMFS_ANIM_H

#include "animfs/base.h"
#include "animfs/lane.h"

enum role { ROLE_TRANSLATION, ROLE_ROTATION, ROLE_SCALE };
#define ROLE_COUNT 3

extern const char *const role_names[ROLE_COUNT]; /* "translation", "rotation", "scale" */

enum curve_kind {
	CURVE_VECTOR, /* x y z */
	CURVE_EULER,  /* x y z in degrees; R = Rz * Ry * Rx on column vectors ("XYZ": X first) */
	CURVE_QUATERNION, /* x y z w */
};

enum interpolation { INTERPOLATION_LINEAR, INTERPOLATION_STEP };

/* Degrees in one of the 4096 steps of a turn that PlayStation games count angles in. */
#define DEGREES_PER_STEP (360.0 / 4096)

/* XXH3_128 of the values that a text gives (said.h); all zero: none. */
struct digest {
	uint64_t low, high;
};

/*
 * Times and tangents of a curve in a `timed` format; all numbers are float32, little-endian.
 *
 * A key has a time in seconds, and tangents into and out of it, in units of its value per second:
 * between keys each component is a cubic Hermite spline. A tangent that is not finite makes a step.
 * If a component is NaN, it has no key there.
 *
 * Times ascend and may repeat. `frames` has the frame nearest to each; if `between`, keys may be
 * between frames, and the exact frame of a key is its time * rate (curve_moment).
 */
struct curve_timing {
	const uint8_t *times;    /* count of them */
	const uint8_t *tangents; /* count * 2 * width: in, then out. NULL: none are known */
	double rate;             /* frames a second */
	bool between;
};

/*
 * The keys of one role. Key i is at frame `frames[i]`, or at frame i if frames is NULL (dense). Not
 * keyed: one value for the whole clip (count is 1). Frames ascend but may repeat where the format
 * allows it (curve_last_in_frame).
 *
 * A dense curve may have fewer keys than its clip has frames (the last one holds) or more (those at
 * or past clip->frames are not shown, but kept).
 */
struct curve {
	enum curve_kind kind;
	enum interpolation interpolation;
	bool keyed;
	uint32_t count;
	const uint32_t *frames;
	struct lane lane[4];
	const uint8_t
		*stored; /* count keys of u16 k[width] (LANE_GRID) or f32[width] (LANE_FLOAT) */
	const double *values;              /* count * width, when stored is NULL */
	const struct curve_timing *timing; /* NULL: keys are at frames and have no tangents */
	struct digest said; /* of the cells that curve_edit.h made it of; else zero */
};

static inline unsigned curve_width(const struct curve *c)
{
	return c->kind == CURVE_QUATERNION ? 4 : 3;
}

/* Component `axis` of key `key`; key must be below count. */
static inline double curve_value(const struct curve *c, uint32_t key, unsigned axis)
{
	size_t i = (size_t)key * curve_width(c) + axis;
	const struct lane *lane = &c->lane[axis];

	if (!c->stored)
		return c->values[i];
	if (lane->form == LANE_GRID)
		return lane->unit *
		       ((double)lane->base + get_u16(c->stored + 2 * i) * (double)lane->step);
	return lane->unit * (double)get_f32(c->stored + 4 * i);
}

static inline uint32_t curve_frame(const struct curve *c, uint32_t key)
{
	return c->frames ? c->frames[key] : key;
}

/* Stored times and tangents of a curve with `timing`. */
static inline float curve_time(const struct curve *c, uint32_t key)
{
	return get_f32(c->timing->times + 4 * (size_t)key);
}

enum tangent { TANGENT_IN, TANGENT_OUT };

static inline float curve_tangent(const struct curve *c, uint32_t key, enum tangent side,
				  unsigned axis)
{
	return get_f32(c->timing->tangents +
		       4 * (((size_t)key * 2 + side) * curve_width(c) + axis));
}

/* The frame of a key; if keys may be between frames it need not be whole, and may be negative. */
static inline double curve_moment(const struct curve *c, uint32_t key)
{
	return c->timing && c->timing->between ? (double)curve_time(c, key) * c->timing->rate
					       : curve_frame(c, key);
}

/* The number of keys that a clip of `frames` frames shows. */
uint32_t curve_shown(const struct curve *c, uint32_t frames);
/* Same kind, interpolation, keyedness, frames and values, values by their bits. Either may be NULL.
 */
bool curve_same(const struct curve *a, const struct curve *b);
/* The number of keys before a frame, for sparse and dense curves. */
uint32_t curve_keys_before(const struct curve *c, double frame);
/*
 * The last of the keys in the frame of this one. Only that one has an effect; the others are kept.
 */
uint32_t curve_last_in_frame(const struct curve *c, uint32_t key);
/* The pose at a frame: holds before the first key and after the last, interpolates between. */
void curve_sample(const struct curve *c, double frame, double out[4]);

/*
 * For formats with `keyframes`: the keyframes of a track, in the order of their frames, which may
 * repeat. Each has keys of some roles: the first key of a curve belongs to the first keyframe with
 * the role's bit in `roles`, and so on. A keyframe without roles still counts: the bone is drawn in
 * its frame.
 */
struct keyframes {
	uint32_t count;
	const uint32_t *frames;
	const uint8_t *flags; /* the format's own flags; `roles` has those of the roles */
	const uint8_t *roles; /* bit (1 << role) */
};

bool keyframes_same(const struct keyframes *a, const struct keyframes *b); /* either may be NULL */
/*
 * The keyframe with index `occurrence` among those at `frame`, or -1. *first moves up to the first
 * keyframe of the frame, so that a search in ascending order of frames is cheap.
 */
int64_t keyframes_find(const struct keyframes *k, uint32_t frame, uint32_t occurrence,
		       uint32_t *first);

#define ANIM_NEW UINT32_MAX /* an origin that is not in the file yet */

/* A number or text that only this format stores ("loop" of canm as its raw int). */
struct field {
	const char *name;
	/* FIELD_BOOL: integer is 1 or 0 */
	enum { FIELD_INT, FIELD_REAL, FIELD_BOOL, FIELD_TEXT } type;
	int64_t integer;
	double real;
	const char *text;
	bool editable;
	bool derived; /* follows from others; a text may say what it was before they changed */
	bool storage; /* says how the file stores something, and so nothing of another file */
};

struct track {
	const char *name;  /* as stored */
	const char *label; /* as file name: unique among the clip's tracks; all texts use it */
	uint32_t origin;   /* place among the clip's tracks in the file it came from, or ANIM_NEW */
	uint8_t roles;     /* bit (1 << role): roles that the format can store for this bone */
	enum curve_kind rotation; /* the kind a rotation of this bone is stored as by default */
	const struct curve *curve[ROLE_COUNT]; /* NULL: the role has no keys */
	const struct keyframes *keyframes;     /* NULL where the format has none */
	struct digest said; /* of the rows that keyframes and curves were made of; else zero */
};

/* A frame of a clip of stills. */
struct still {
	float time;      /* seconds */
	const char *url; /* as in the file; "": the still is embedded in the file */
	uint32_t origin; /* place among the clip's stills in the file it came from, or ANIM_NEW */
	/* text of the still in the file, for the codec to write it again; or none */
	struct bytes written;
};

/* A file that a clip was joined from. */
struct clip_part {
	const char *file; /* name of the file */
	/* index of the file's first frame in the clip, and number of its frames */
	uint32_t first, frames;
};

struct clip {
	const char *name;
	const char *label; /* as file name: unique among the file's clips */
	uint32_t origin;   /* place among the file's clips, or ANIM_NEW */
	uint32_t frames;
	float frame_time; /* as stored, in anim_time_unit; may be 0, negative or not finite */
	float duration;   /* as stored, in the same unit */
	bool loop;
	uint32_t track_count;
	const struct track *tracks;
	bool tracks_own; /* anim_edit_clip made `tracks` for this model; otherwise they may be
			    shared */
	const struct still *stills; /* `frames` of them, where the format has stills */
	uint32_t field_count;
	const struct field *fields;
};

/* The properties of a format, which all of its files share. */
struct format {
	const char *name;   /* "canm": the id, and the member of clip.json that holds the fields */
	const char *suffix; /* "canm": the extension of raw.* where the file's own name has none */
	double rate;    /* frame times count 1/rate seconds; 0: the file says its rate, times are
			   seconds */
	bool sparse;    /* a key exists or not, at any frame; otherwise dense */
	bool full;      /* dense, and every role that a bone can have has a key in every frame */
	bool keyframes; /* sparse, tracks have keyframes; keys hold and do not interpolate */
	uint8_t flags;  /* of keyframes: the bits that can be set */
	bool stills;    /* clips have stills and no tracks */
	/*
	 * A file of the format stays a file, with its folder beside it, whose name has ".d" instead
	 * of this suffix. NULL: it is shown as a folder itself.
	 */
	const char *beside;
	/* A file of the format lists others beside it, of this format. NULL: it lists none. */
	const struct format *parts;
	bool text; /* the file is text: a place in it is a line and a column */
	bool many_clips;
	bool flat;   /* bones have no parents: their values are in the space of the model */
	bool y_down; /* in the space of its models Y points down, and Z away from the viewer */
	const char *length; /* the unit of translations: "m", or "game unit" */
	bool nameless;      /* stores no name of its one clip, which is named after the file */
	bool has_loop;
	bool has_frame_time, has_duration; /* stored, and so editable */
	const char *rate_field; /* the clip's field that is the file's own rate, or NULL */
	/*
	 * The name of a bone whose number is stored: a printf format that ends in %0Nu or %0NX.
	 * NULL: names are stored.
	 */
	const char *bone_name;
	bool bones_counted; /* that number is the bone's index */
	bool bones_sorted;  /* by that number, or by name: no order of their own is stored */
	/*
	 * Names of bones are paths, "root/hip/knee": the parent of a bone is the path without its
	 * last part, and its label is of the last part.
	 */
	bool paths;
	/*
	 * Sparse; keys have times and tangents (struct curve_timing), and a clip ends with its last
	 * key.
	 */
	bool timed;
	bool quaternions; /* rotations are quaternions in every file */
	uint8_t roles[2]; /* bits: the roles that the first bone and the others can have; 0: all */
	/* The stored form of each component of a role in every file. NULL: it differs by curve. */
	const struct lane *lanes[ROLE_COUNT];
	uint32_t max_frames;
};

/*
 * How rotations are shown: --rotations. By default tables have degrees, so that a column means the
 * same in all files, and JSON, which names its unit, has what is stored.
 */
enum rotations { ROTATIONS_STORED, ROTATIONS_EULER, ROTATIONS_QUATERNION, ROTATIONS_IN_TABLES };

struct anim {
	struct arena arena;
	const struct format *format;
	uint32_t version;
	double rate; /* frame times count 1/rate seconds: format->rate, --rate, or the file's own */
	enum rotations rotations;
	const struct bone_names
		*bone_names;   /* by number, for formats with bone_name; may be NULL */
	const char *read_only; /* the reason why it cannot be edited; NULL: it can be */
	const char *beyond;    /* what the file has that is not in the model, in words; or NULL */
	uint32_t clip_count;
	const struct clip *clips;
	uint32_t bone_count; /* the file's own list of bone names, where it has one */
	const char *const *bones;
	uint32_t field_count;
	const struct field *fields; /* header fields beyond version */
	uint32_t part_count;
	const struct clip_part *parts; /* of format->parts, that its clip was joined from */
};

void anim_free(struct anim *a); /* NULL is fine */

/* The format of the stored keys: that of the parts, if there are any. */
static inline const struct format *format_stored(const struct format *f)
{
	return f->parts ? f->parts : f;
}

/* "1/60 s" or "s": the unit of frame_time and duration. */
void anim_time_unit(const struct anim *a, char out[32]);
/* The time of a frame of the clip; if the stored one is not usable, one over the rate. */
double anim_seconds_per_frame(const struct anim *a, const struct clip *clip);

/*
 * Do both have the same curves and keyframes? Names, roles and the default kind of rotation may
 * differ; callers that need these compare them, too.
 */
bool track_same(const struct track *a, const struct track *b);
/* Finds by label, NULL if there is none; `hint` is the probable index. */
const struct clip *clip_labelled(const struct anim *a, uint32_t hint, const char *label);
const struct track *track_labelled(const struct clip *c, uint32_t hint, const char *label);
/* Compares names, types and values, the latter by their bits. */
bool fields_same(const struct field *a, uint32_t a_count, const struct field *b, uint32_t b_count);

/*
 * Editing: makes a new model, at first equal to `old`. anim_edit_clip and anim_edit_track give the
 * writable copy of a part; its parts stay shared. NULL when out of memory.
 */
struct anim *anim_edit(const struct anim *old);
struct clip *anim_edit_clip(struct anim *a, uint32_t clip);
struct track *anim_edit_track(struct anim *a, uint32_t clip, uint32_t track);

/* A clip that another program has renamed meanwhile. */
struct clip_renamed {
	uint32_t clip;     /* index of the clip in `base` */
	const char *label; /* present label of the clip */
};

/*
 * Applies the change from `base` to `edited` to `current`, which is `base` after saves by others.
 * `last` is the model that the same draft committed before, also edited from `base`, or NULL:
 * changes of it that `edited` does not have are taken back. Clips and tracks of `current` are
 * matched by label, except for the clip of base in `renamed` (or NULL); `base` and `current` were
 * decoded, so that an origin is an index in them.
 *
 * A curve, or one of a clip's own values, that `edited` changes must in `current` still equal that
 * of `base`, or the result of `last`; otherwise ERR_CONFLICT. The same holds for the list of bones
 * of a clip and the list of clips, each as a whole, and for removed bones and clips.
 *
 * The result has the origins of `current` and points into edited, current and base. NULL on
 * failure.
 */
struct anim *anim_merge(const struct anim *base, const struct anim *edited, const struct anim *last,
			const struct anim *current, const struct clip_renamed *renamed,
			struct err *err);

/* Do both have the same clips with the same bones, by label, in the same order? */
bool anim_same_names(const struct anim *a, const struct anim *b);
/* Does the edited model share everything that texts can change with its base? */
bool anim_is_unedited(const struct anim *edited, const struct anim *base);

/*
 * Does `stored`, which was decoded again, equal `wanted`? Curves that `wanted` shares with `old`
 * must have the same bits; others the same keys, each value the nearest that the stored lane can
 * hold. Names, loops, frame counts and times must be equal. old is NULL for a new file; fields of
 * it, or of a new clip, that `wanted` does not set have the format's defaults.
 */
bool anim_stored(const struct anim *wanted, const struct anim *old, const struct anim *stored,
		 struct err *err);

#endif
