/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * anim.h - the model: file > clip > track > curve > key.
 *
 *   anim    one file: clips, in file order, and the fields of the whole file
 *   clip    one animation: a name, a number of frames, the time of a frame, tracks
 *   track   one bone in one clip: up to three curves, one a role
 *   curve   the keys of one role of one bone: a value of 3 or 4 components at each key
 *
 * In a format whose clips are lists of stills (kanim), clips have stills instead of tracks. In a
 * format whose files are lists of other files (sequence), a file has one clip, joined from the
 * clips of those files.
 *
 * A model is made by a codec from bytes, or by editing another (anim_edit). Once it is shared it is
 * immutable. A model owns one arena. It points into the bytes that it was decoded from or, if it
 * was edited, into the model that it was edited from: keep those until you have freed it.
 *
 * Curves are shared by pointer wherever the file shares them. An edit makes new curves and keeps
 * the old ones: two tracks with the same pointer have the same curve, and an unedited curve is the
 * same pointer before and after.
 *
 * Units are those that the views show: translation in the format's length (canm: metres), rotation
 * in degrees or as a quaternion, scale as a factor. Values are absolute and relative to the parent
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

/* Degrees in one angle step: PlayStation games divide a turn into 4096 steps. */
#define DEGREES_PER_STEP (360.0 / 4096)

/* XXH3_128 of the values that a text gives for a curve (said.h); all zero: none. */
struct digest {
	uint64_t low, high;
};

/*
 * Times and tangents of a curve in a `timed` format; all numbers are float32, little-endian.
 *
 * A key has a time in seconds, and tangents into and out of it, in units of its value per second:
 * between keys each component is a cubic Hermite spline. A tangent that is not finite makes a step.
 * A component that is NaN has no key at that time.
 *
 * Times ascend and may repeat. `frames` has the frame nearest to each; if `between`, keys may be
 * between frames, and the exact frame of a key is its time * rate (curve_moment).
 */
struct curve_timing {
	const uint8_t *times; /* `count` times */
	/* count * 2 * width tangents: of each key in, then out. NULL: none are known */
	const uint8_t *tangents;
	double rate; /* frames per second */
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
		*stored; /* count keys: u16 k[width] each (LANE_GRID) or f32[width] (LANE_FLOAT) */
	const double *values;              /* count * width values, if `stored` is NULL */
	const struct curve_timing *timing; /* NULL: keys are at frames and have no tangents */
	struct digest said; /* digest of the cells that curve_edit.h made the curve of; else zero */
};

static inline unsigned curve_width(const struct curve *c)
{
	return c->kind == CURVE_QUATERNION ? 4 : 3;
}

/* Returns component `axis` of key `key`, which must be below count. */
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

/* curve_time and curve_tangent return stored numbers of a curve with `timing`. */
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

/*
 * Returns the frame of a key. If keys may be between frames, the frame need not be whole, and may
 * be negative.
 */
static inline double curve_moment(const struct curve *c, uint32_t key)
{
	return c->timing && c->timing->between ? (double)curve_time(c, key) * c->timing->rate
					       : curve_frame(c, key);
}

/* Returns the number of keys that a clip of `frames` frames shows. */
uint32_t curve_shown(const struct curve *c, uint32_t frames);
/*
 * Returns whether two curves have the same kind, interpolation, `keyed`, frames and values; values
 * compare by their bits. a and b may be NULL.
 */
bool curve_same(const struct curve *a, const struct curve *b);
/* Returns the number of keys before a frame; works for sparse and dense curves. */
uint32_t curve_keys_before(const struct curve *c, double frame);
/*
 * Returns the last key in the frame of this key. Only the last one has an effect; the others are
 * kept.
 */
uint32_t curve_last_in_frame(const struct curve *c, uint32_t key);
/*
 * Computes the value at a frame: constant before the first key and after the last, interpolated
 * between keys.
 */
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
	/* flags of the format, one set per keyframe; the roles' bits are in `roles` */
	const uint8_t *flags;
	const uint8_t *roles; /* bits (1 << role): the roles that each keyframe has a key of */
};

bool keyframes_same(const struct keyframes *a, const struct keyframes *b); /* a and b may be NULL */
/*
 * Returns the keyframe with index `occurrence` among those at `frame`, or -1. *first moves up to
 * the first keyframe of the frame, so that a search in ascending order of frames is cheap.
 */
int64_t keyframes_find(const struct keyframes *k, uint32_t frame, uint32_t occurrence,
		       uint32_t *first);

#define ANIM_NEW UINT32_MAX /* the origin of something that is not in the file yet */

/* A number or text that only one format stores, such as "loop" of canm, a raw int. */
struct field {
	const char *name;
	/* type of the value; of a FIELD_BOOL, integer is 1 or 0 */
	enum { FIELD_INT, FIELD_REAL, FIELD_BOOL, FIELD_TEXT } type;
	int64_t integer;
	double real;
	const char *text;
	bool editable;
	/* the field follows from others; a text may have its value from before they changed */
	bool derived;
	/* the field says how the file stores something, and so nothing about another file */
	bool storage;
};

struct track {
	const char *name; /* name of the bone as stored */
	/* name of the bone in file-name form, unique among the clip's tracks; all texts use it */
	const char *label;
	/* index among the clip's tracks in the file that the clip came from, or ANIM_NEW */
	uint32_t origin;
	uint8_t roles; /* bit (1 << role): roles that the format can store for this bone */
	enum curve_kind rotation; /* the kind that a new rotation curve of this bone is stored as */
	const struct curve *curve[ROLE_COUNT]; /* curve of each role; NULL: the role has no keys */
	const struct keyframes *keyframes;     /* NULL if the format has no keyframes */
	/* digest of the rows that keyframes and curves were made of; else zero */
	struct digest said;
};

/* A still: one frame of a clip of stills. */
struct still {
	float time;      /* time of the still in seconds */
	const char *url; /* URL as in the file; "": the still is embedded in the file */
	/* index among the clip's stills in the file that the clip came from, or ANIM_NEW */
	uint32_t origin;
	/* the still's text in the file, which the codec writes again; or none */
	struct bytes written;
};

/* One of the files that a clip was joined from. */
struct clip_part {
	const char *file; /* name of the file */
	/* index of the file's first frame in the clip, and number of its frames */
	uint32_t first, frames;
};

struct clip {
	const char *name;
	const char *label; /* name of the clip in file-name form, unique among the file's clips */
	uint32_t origin;   /* index among the file's clips, or ANIM_NEW */
	uint32_t frames;
	/* time of a frame as stored, in anim_time_unit; may be 0, negative or not finite */
	float frame_time;
	float duration; /* duration as stored, in anim_time_unit */
	bool loop;
	uint32_t track_count;
	const struct track *tracks;
	/* `tracks` was made for this model by anim_edit_clip; otherwise it may be shared */
	bool tracks_own;
	const struct still *stills; /* `frames` stills, if the format has stills */
	uint32_t field_count;
	const struct field *fields;
};

/* The properties of a format, which all of its files share. */
struct format {
	/* name of the format ("canm"), and of the member of clip.json that holds its fields */
	const char *name;
	const char *suffix; /* extension of raw.* ("canm") for a file whose own name has none */
	/*
	 * frame times count 1/rate seconds; 0: they count seconds, and each file has a frame rate
	 * of its own
	 */
	double rate;
	bool sparse; /* curves have keys at any frames; otherwise they are dense */
	/* curves are dense, and every role that a bone can have has a key in every frame */
	bool full;
	/* curves are sparse, tracks have keyframes, and keys hold instead of interpolating */
	bool keyframes;
	uint8_t flags; /* bits of a keyframe's flags that can be set */
	bool stills;   /* clips have stills and no tracks */
	/*
	 * In place of the file's suffix, the folder beside the file has ".d". NULL: the file is
	 * shown as the folder itself, not beside one.
	 */
	const char *beside;
	/*
	 * Files of this format list other files beside them, which are of the format `parts`. NULL:
	 * they list none.
	 */
	const struct format *parts;
	bool text; /* files are text: places in them are given as line and column */
	bool many_clips;
	bool flat; /* bones have no parents: their values are in the space of the model */
	/* in the space of the format's models, Y points down and Z away from the viewer */
	bool y_down;
	const char *length; /* unit of translations: "m", or "game unit" */
	/* files do not store the name of their one clip, which is named after the file */
	bool nameless;
	bool has_loop;
	/* files store the frame time, the duration; a stored one can be edited */
	bool has_frame_time, has_duration;
	/* name of the clip's field that is the file's own frame rate, or NULL */
	const char *rate_field;
	/*
	 * The name of a bone whose number is stored: a printf format that ends in %0Nu or %0NX.
	 * NULL: names are stored.
	 */
	const char *bone_name;
	bool bones_counted; /* the stored number of a bone is its index */
	/* bones are sorted by their stored number, or by name: the file stores no other order */
	bool bones_sorted;
	/*
	 * Names of bones are paths, "root/hip/knee": the parent of a bone is the path without its
	 * last part, and its label is of the last part.
	 */
	bool paths;
	/*
	 * Curves are sparse, keys have times and tangents (struct curve_timing), and a clip ends
	 * with its last key.
	 */
	bool timed;
	bool quaternions; /* rotations are quaternions in every file */
	/* bits (1 << role): roles that the first bone, and the other bones, can have; 0: all */
	uint8_t roles[2];
	/*
	 * The stored form of each component of a role in every file. NULL: the form differs by
	 * curve.
	 */
	const struct lane *lanes[ROLE_COUNT];
	uint32_t max_frames;
};

/*
 * How rotations are shown (--rotations). By default tables show degrees, so that a column means the
 * same in all files, and JSON, which names the unit, shows what is stored.
 */
enum rotations { ROTATIONS_STORED, ROTATIONS_EULER, ROTATIONS_QUATERNION, ROTATIONS_IN_TABLES };

struct anim {
	struct arena arena;
	const struct format *format;
	uint32_t version;
	/* frame times count 1/rate seconds: format->rate, --rate, or the file's own rate */
	double rate;
	enum rotations rotations;
	const struct bone_names
		*bone_names; /* names by number, for formats with bone_name; may be NULL */
	/* the reason why the model cannot be edited; NULL: it can be edited */
	const char *read_only;
	/* contents of the file that the model does not have, in words; or NULL */
	const char *beyond;
	uint32_t clip_count;
	const struct clip *clips;
	uint32_t bone_count; /* number of names in the file's own list of bones, if it has one */
	const char *const *bones;
	uint32_t field_count;
	const struct field *fields; /* header fields beyond version */
	uint32_t part_count;
	const struct clip_part *parts; /* files of format->parts that the clip was joined from */
};

void anim_free(struct anim *a); /* a may be NULL */

/* Returns the format of the stored keys: that of the parts, if the file has any. */
static inline const struct format *format_stored(const struct format *f)
{
	return f->parts ? f->parts : f;
}

/* Writes the unit of frame_time and duration: "1/60 s" or "s". */
void anim_time_unit(const struct anim *a, char out[32]);
/*
 * Returns the time of a frame of the clip in seconds; if the stored time is not usable, one over
 * the rate.
 */
double anim_seconds_per_frame(const struct anim *a, const struct clip *clip);

/*
 * Returns whether two tracks have the same curves and keyframes. Names, roles and the default kind
 * of rotation may differ; callers that need these compare them, too.
 */
bool track_same(const struct track *a, const struct track *b);
/* Finds a clip by its label; returns NULL if there is none. `hint` is the probable index. */
const struct clip *clip_labelled(const struct anim *a, uint32_t hint, const char *label);
const struct track *track_labelled(const struct clip *c, uint32_t hint, const char *label);
/*
 * Returns whether two lists of fields have the same names, types and values. Values compare by
 * their bits.
 */
bool fields_same(const struct field *a, uint32_t a_count, const struct field *b, uint32_t b_count);

/*
 * Begins an edit: makes a new model, at first equal to `old`. anim_edit_clip and anim_edit_track
 * return a writable copy of a part; everything below it stays shared. All
 * three return NULL when out of memory.
 */
struct anim *anim_edit(const struct anim *old);
struct clip *anim_edit_clip(struct anim *a, uint32_t clip);
struct track *anim_edit_track(struct anim *a, uint32_t clip, uint32_t track);

/* A clip that another program has renamed since `base`. */
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

/*
 * Returns whether both models have the same clips with the same bones, by label, in the same order.
 */
bool anim_same_names(const struct anim *a, const struct anim *b);
/* Returns whether the edited model shares everything that texts can change with its base. */
bool anim_is_unedited(const struct anim *edited, const struct anim *base);

/*
 * Returns whether `stored`, a model decoded from what was written, equals `wanted`. Curves that
 * `wanted` shares with `old` must have the same bits; others the same keys, each value the nearest
 * that the stored lane can hold. Names, loops, frame counts and times must be equal. old is NULL
 * for a new file; fields of it, or of a new clip, that `wanted` does not set have the format's
 * defaults.
 */
bool anim_stored(const struct anim *wanted, const struct anim *old, const struct anim *stored,
		 struct err *err);

#endif
