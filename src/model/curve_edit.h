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

/* The tangents that a row gives, of a format that has them: in, then out. */
struct curve_edit_tangents {
	uint8_t given[2], exact[2]; /* as of curve_edit_key */
	double value[2][4];
	size_t at[2][4];
	uint16_t length[2][4];
};

/* One row of one role. Its places in the text are for errors. */
struct curve_edit_key {
	uint32_t frame;
	uint32_t occurrence; /* if the text gives it: which of the keys of this frame */
	uint8_t given;       /* a bit per axis: the cell is not blank */
	uint8_t exact;       /* a bit per axis: the value is the bits of a float32 (JSON "raw") */
	uint16_t row_length; /* of the text of the frame */
	/* byte offset of that text; also the order of rows with equal frames */
	size_t row_at;
	double value[4];    /* rounds to the float32 that the text rounds to */
	size_t at[4];       /* byte offset of each cell, also of a blank one */
	uint16_t length[4]; /* length of each cell */
	/*
	 * exact frame of the text minus `frame`, if keys may be between frames; may be negative
	 * where frame is 0
	 */
	double between;
	struct curve_edit_tangents *tangents; /* NULL: none are given */
};

/* The content of a text for one role of one bone. */
struct curve_edit_role {
	enum role role;
	enum curve_kind kind; /* of the text's columns */
	uint8_t columns; /* bit per axis: the text has that column; a missing one is not edited */
	int is_static;   /* JSON: 1 or 0; -1: derived from the rows */
	uint32_t count;
	struct curve_edit_key *keys; /* in the text's order; sorted in place */
	struct bytes text;           /* the whole text, for the line numbers in messages */
	/* place of the role's name in the text: of its columns, or its JSON member */
	size_t at, length;
};

/*
 * Makes the curve of `text` from the track's: the same pointer if nothing changed, NULL in *out if
 * the role gets no keys. New curves live in `arena`. False and err when refused.
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
	uint32_t frame, occurrence; /* as of curve_edit_key */
	size_t row_at;
	uint16_t row_length;
	struct curve_edit_flags flags; /* not given: as they are, or 0 */
};

/* The content of a text for a bone with keyframes: each row is one keyframe. */
struct curve_edit_rows {
	uint32_t count;
	struct curve_edit_row *rows; /* in the text's order; sorted in place */
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
	uint32_t count; /* of keys; 0: the role has none */
	unsigned width; /* of a key, and of its cells where it is blank; 0: the bone has no such
			   role */
	double *values; /* NULL as long as all keys are unchanged */
	struct curve_edit *edit; /* likewise; private to curve_edit.c */
	struct said *said;       /* digest of the keys so far; likewise */
};

bool curve_edit_plain_begin(struct curve_edit_plain *p, const struct anim *a,
			    const struct clip *clip, const struct track *track, enum role role,
			    struct arena *arena);
bool curve_edit_plain_key(struct curve_edit_plain *p, uint32_t key, const struct num_plain *cells);
bool curve_edit_plain_end(const struct curve_edit_plain *p, const struct curve **out);

/* Sets the frame of a row to any number; false if it is not finite, or far from all frames. */
bool curve_edit_set_moment(struct curve_edit_key *key, double moment);
double curve_edit_moment(const struct curve_edit_key *key);
/* May the keys of the clip be between frames? */
bool curve_edit_between(const struct clip *clip);
/* The form in which such a frame is written, so that the number gives the stored time again. */
struct lane curve_edit_moment_lane(double rate);

/* Does the number in the cell equal the one that is served for this value? */
bool curve_edit_unchanged(double cell, double value, const struct lane *lane);

/* The kind that a rotation of this bone has, or would have. */
enum curve_kind curve_edit_rotation(const struct track *track);
/*
 * The kind that texts show it in, and the one of tables. A curve of quaternions of which one is not
 * finite or not nearly of length 1 has no angles, and is shown as it is.
 */
enum curve_kind curve_edit_shown_rotation(const struct anim *a, const struct track *track);
enum curve_kind curve_edit_table_rotation(const struct anim *a, const struct track *track);
/*
 * The track with its rotations in that kind, or in the kind that texts show. A converted curve
 * lives in `arena`, whose `failed` is set when out of memory.
 */
struct track curve_edit_shown_as(const struct track *track, enum curve_kind rotation,
				 struct arena *arena);
struct track curve_edit_shown(const struct anim *a, const struct track *track, struct arena *arena);

#endif
