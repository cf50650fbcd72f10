/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Layer model: edits of the model that include/animfs/anim.h defines: names, rotations, models
 * merged and summed up, and the edit of a curve by the numbers of a text (this file). Everything
 * here is memory only: no files, no formats, no views. A model never changes; an edit makes a new
 * one that shares what it did not touch.
 *
 * Start reading in animfs/anim.h; then this file.
 *
 * May use: util text
 */
/*
 * curve_edit.h - what rows and cells mean: from the numbers of a text to the new curve of one role.
 *
 * The text views (bone CSV, bone JSON, curves.csv) only split text; here is decided which cells are
 * unchanged (and keep their stored bits), what is filled in, what is static, and what is refused.
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

/* One row of one role. What says where it stands is for errors. */
struct curve_edit_key {
	uint32_t frame;
	uint32_t occurrence; /* where the text says it: which of those of this frame */
	uint8_t given;       /* bit per axis: the cell is not blank */
	uint8_t exact;       /* bit per axis: value is a float32's bits, spelt out (JSON "raw") */
	uint16_t row_length; /* of the text that says the frame */
	size_t row_at;       /* its byte offset; also the order of rows with equal frames */
	double value[4];     /* rounds to the float32 that the text rounds to */
	size_t at[4];        /* byte offset of each cell, also of a blank one */
	uint16_t length[4];  /* of its text */
	double between;      /* what the text's frame has beyond `frame`, where keys stand between
				frames; may be negative where frame is 0 */
	struct curve_edit_tangents *tangents; /* NULL: none are given */
};

/* Everything that a text says about one role of one bone. */
struct curve_edit_role {
	enum role role;
	enum curve_kind kind; /* of the text's columns */
	uint8_t columns; /* bit per axis: the text has that column; a missing one is not edited */
	int is_static;   /* JSON: 1 or 0; -1: derived from the rows */
	uint32_t count;
	struct curve_edit_key *keys; /* in the text's order; sorted in place */
	struct bytes text;           /* the whole text, for the line numbers in messages */
	size_t at, length;           /* what names the role in it: a column's name, a JSON member */
};

/*
 * The curve that `text` asks for in place of the track's: the same pointer when nothing changed,
 * NULL in *out when the role is to have no keys. New curves live in `arena`. False and err when
 * refused.
 */
bool curve_edit_curve(const struct anim *a, const struct clip *clip, const struct track *track,
		      const struct curve_edit_role *text, struct arena *arena,
		      const struct curve **out, struct err *err);

/* The flags of a keyframe, where a row says them. */
struct curve_edit_flags {
	bool given;
	uint8_t value;
	size_t at;
	uint16_t length;
};

/* One row of a bone with keyframes: what it says beside the roles. */
struct curve_edit_row {
	uint32_t frame, occurrence; /* as of curve_edit_key */
	size_t row_at;
	uint16_t row_length;
	struct curve_edit_flags flags; /* not given: as they are, or 0 */
};

/* Everything that a text says about a bone with keyframes: each row is one of them. */
struct curve_edit_rows {
	uint32_t count;
	struct curve_edit_row *rows; /* in the text's order; sorted in place */
	struct curve_edit_role
		*roles; /* ROLE_COUNT, each with a key for every row, or no columns */
	struct bytes text;
};

/*
 * The keyframes and curves that `text` asks for, into `edited`, a copy of the track; *changed when
 * they are other ones. A keyframe is matched by frame and by its place among those of its frame.
 */
bool curve_edit_keyframes(const struct anim *a, const struct clip *clip, const struct track *track,
			  struct curve_edit_rows *text, struct arena *arena, struct track *edited,
			  bool *changed, struct err *err);

/*
 * A shorter way for a role of a dense format whose keys are all given, one after another and each
 * as a plain number, as they were served: false where curve_edit_curve must be asked, which may
 *come to another answer or refuse.
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
	double *values; /* NULL as long as all keys are what they were */
	struct curve_edit *edit; /* likewise; private to curve_edit.c */
	struct said *said;       /* what has been said so far; likewise */
};

bool curve_edit_plain_begin(struct curve_edit_plain *p, const struct anim *a,
			    const struct clip *clip, const struct track *track, enum role role,
			    struct arena *arena);
bool curve_edit_plain_key(struct curve_edit_plain *p, uint32_t key, const struct num_plain *cells);
bool curve_edit_plain_end(const struct curve_edit_plain *p, const struct curve **out);

/* Sets the frame of a row to any number; false if it is none, or far from all frames. */
bool curve_edit_set_moment(struct curve_edit_key *key, double moment);
double curve_edit_moment(const struct curve_edit_key *key);
/* Do the keys of the clip stand between frames? */
bool curve_edit_between(const struct clip *clip);
/* How the frame of a key is written there: so that the number gives the stored time again. */
struct lane curve_edit_moment_lane(double rate);

/* Does the number in the cell say what is served for this value? */
bool curve_edit_unchanged(double cell, double value, const struct lane *lane);

/* The kind that a rotation of this bone has, or would have. */
enum curve_kind curve_edit_rotation(const struct track *track);
/* The kind that texts show it in. */
enum curve_kind curve_edit_shown_rotation(const struct anim *a, const struct track *track);
/*
 * The track with its rotations in that kind, and in the one that texts show. A curve that was
 * converted for this lives in `arena`, whose `failed` is set when there was no memory for it.
 */
struct track curve_edit_shown_as(const struct track *track, enum curve_kind rotation,
				 struct arena *arena);
struct track curve_edit_shown(const struct anim *a, const struct track *track, struct arena *arena);

#endif
