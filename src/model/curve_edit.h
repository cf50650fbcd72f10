/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Layer model: edits of the model that include/animfs/anim.h defines: names, rotations, merging and
 * summarizing models, and the edit of a curve by the numbers of a text (this file). Everything here
 * is in memory: no files, no formats, no views. A model is immutable; an edit makes a new one that
 * shares the unchanged parts.
 *
 * Start reading in animfs/anim.h; then this file.
 *
 * May use: util text
 */
/*
 * curve_edit.h - defines what rows and cells mean: turns the numbers of a text into the new curve
 * of one role.
 *
 * The text views (bone CSV, bone JSON, curves.csv) only split text; this file decides which cells
 * are unchanged and keep their stored bits, which frames are filled in, which curves become static,
 * and which texts are refused.
 */
#ifndef ANIMFS_MODEL_CURVE_EDIT_H
#define ANIMFS_MODEL_CURVE_EDIT_H

#include "animfs/anim.h"
#include "text/num.h"

/* Tangents of a key, incoming [0] and outgoing [1], that a row gives in a format that has them. */
struct curve_edit_tangents {
	uint8_t given[2], exact[2]; /* bits per axis: component is not blank; component is the bits
				       of a float32 */
	double value[2][4];
	size_t at[2][4];
	uint16_t length[2][4];
};

/* A row of a text for one role. Byte offsets and lengths are for error messages. */
struct curve_edit_key {
	uint32_t frame;
	uint32_t occurrence; /* which of several keys of this frame the row means, if the text says
				so */
	uint8_t given;       /* a bit per axis: the cell is not blank */
	uint8_t exact;       /* a bit per axis: the value is the bits of a float32 (JSON "raw") */
	uint16_t row_length; /* of the text of the frame */
	/* byte offset of that text; also the order of rows with equal frames */
	size_t row_at;
	double value[4]; /* numbers as given; each rounds to the float32 that its text rounds to */
	size_t at[4];    /* byte offset of each cell, also of a blank one */
	uint16_t length[4]; /* length of each cell */
	/*
	 * exact frame of the text minus `frame`, if keys may be between frames; may be negative
	 * where frame is 0
	 */
	double between;
	struct curve_edit_tangents *tangents; /* tangents that the row gives; NULL: none */
};

/* The content of a text for one role of one bone. */
struct curve_edit_role {
	enum role role;
	enum curve_kind kind; /* kind (angles, quaternion, vector) of the text's columns */
	uint8_t columns; /* bit per axis: the text has that column; a missing one is not edited */
	int is_static;   /* JSON: 1 or 0; -1: derived from the rows */
	uint32_t count;
	struct curve_edit_key *keys; /* keys in the order of the text; sorted in place */
	struct bytes text;           /* the whole text, for the line numbers in messages */
	/* place of the role's name in the text: of its columns, or its JSON member */
	size_t at, length;
};

/*
 * Makes the new curve of a role from the track's old one and `text`. *out is the old pointer if
 * nothing changed, and NULL if the role gets no keys. New curves live in `arena`. Returns false and
 * sets err if the text is refused.
 */
bool curve_edit_curve(const struct anim *a, const struct clip *clip, const struct track *track,
		      const struct curve_edit_role *text, struct arena *arena,
		      const struct curve **out, struct err *err);

/* The flags of a keyframe, if a row gives them. */
struct curve_edit_flags {
	bool given;
	uint8_t value;
	size_t at;
	uint16_t length;
};

/* One row of a bone with keyframes, without its roles. */
struct curve_edit_row {
	uint32_t frame, occurrence; /* frame of the keyframe, and which of several keyframes in it,
				       as in curve_edit_key */
	size_t row_at;
	uint16_t row_length;
	struct curve_edit_flags flags; /* flags of the keyframe; if not given, old flags are kept
					  and new ones are 0 */
};

/* The content of a text for a bone with keyframes: each row is one keyframe. */
struct curve_edit_rows {
	uint32_t count;
	struct curve_edit_row *rows; /* rows in the order of the text; sorted in place */
	struct curve_edit_role
		*roles; /* ROLE_COUNT elements, each with one key per row, or with no columns */
	struct bytes text;
};

/*
 * Puts the keyframes and curves of `text` into `edited`, a copy of the track; *changed if any
 * differ. A keyframe is matched by frame and by its place among those of its frame.
 */
bool curve_edit_keyframes(const struct anim *a, const struct clip *clip, const struct track *track,
			  struct curve_edit_rows *text, struct arena *arena, struct track *edited,
			  bool *changed, struct err *err);

/*
 * A shorter way for a role of a dense format if all keys are given in order and as plain numbers,
 * as they were served. False if the text is not of this kind: then call curve_edit_curve, which may
 * change or refuse it.
 *
 *	struct curve_edit_plain p;
 *	bool plain = curve_edit_plain_begin(&p, anim, clip, track, role, arena);
 *	for (uint32_t key = 0; plain && key < p.count; key++)
 *		plain = curve_edit_plain_key(&p, key, ... p.width numbers ...);
 *	plain = plain && curve_edit_plain_end(&p, &curve);
 */
struct curve_edit_plain {
	const struct anim *anim;
	const struct clip *clip;
	const struct track *track;
	struct curve_edit_role text;
	struct arena *arena;
	const struct curve *old;
	uint32_t count; /* number of keys to be given; 0: the role has no keys */
	unsigned width; /* numbers in a key, and empty cells in a blank row; 0: the bone has no such
			   role */
	double *values; /* new values; NULL as long as all keys are unchanged */
	struct curve_edit *edit; /* state of the full edit; private to curve_edit.c */
	struct said *said;       /* digest of the keys so far; private to curve_edit.c */
};

bool curve_edit_plain_begin(struct curve_edit_plain *p, const struct anim *a,
			    const struct clip *clip, const struct track *track, enum role role,
			    struct arena *arena);
bool curve_edit_plain_key(struct curve_edit_plain *p, uint32_t key, const struct num_plain *cells);
bool curve_edit_plain_end(const struct curve_edit_plain *p, const struct curve **out);

/* Sets the frame of a row to any number; false if it is not finite, or far from all frames. */
bool curve_edit_set_moment(struct curve_edit_key *key, double moment);
double curve_edit_moment(const struct curve_edit_key *key);
/* Can keys of the clip be between frames? */
bool curve_edit_between(const struct clip *clip);
/*
 * Returns the form in which a frame number with a fraction is written, so that reading it gives the
 * stored time again.
 */
struct lane curve_edit_moment_lane(double rate);

/*
 * Is this the time that is served for a key at `seconds`, computed from the frame in the text? That
 * is a microsecond's rounding away, and a frame that is not whole has the digits of a float32 only.
 */
bool curve_edit_is_time_of(double time, double seconds);
/* Refuses a text that changes nothing but the time of a key. */
bool curve_edit_refuse_time(const struct format *format, size_t at, size_t length, struct err *err);

/* Does the number in a cell equal the one that is served for `value`? */
bool curve_edit_unchanged(double cell, double value, const struct lane *lane);

/*
 * Returns the kind (angles or quaternion) in which this bone stores rotations, or would store new
 * ones.
 */
enum curve_kind curve_edit_rotation(const struct track *track);
/*
 * Are the rotations of this curve, which may be NULL, quaternions of which one is not finite or not
 * nearly of length 1? Then they have no angles, and are shown as they are stored.
 */
bool curve_edit_lacks_angles(const struct curve *c);
/*
 * The kind in which texts show the rotations of the track, and the one in which tables do.
 */
enum curve_kind curve_edit_shown_rotation(const struct anim *a, const struct track *track);
enum curve_kind curve_edit_table_rotation(const struct anim *a, const struct track *track);
/*
 * Returns the track with its rotations in the kind `kind`, or in the kind that texts show. A
 * converted curve lives in `arena`, whose `failed` is set when out of memory.
 */
struct track curve_edit_shown_as(const struct track *track, enum curve_kind rotation,
				 struct arena *arena);
struct track curve_edit_shown(const struct anim *a, const struct track *track, struct arena *arena);

#endif
