/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * bvh_import.c - reads a clip.bvh that another program has written back into the clip.
 *
 * Rows are frames, and the frame time is the clip's, unless --gltf-rate=resample takes another:
 * rows are frames also then if there are as many, else the motion is read between them. A bone's
 * rotation is the product of its rotation channels in their order, the first outermost. Position
 * channels replace the offset, as in Blender. Only roots may move; all other joints must be where
 * clip.bvh has them.
 *
 * A ROOT above several roots, as in clip.bvh, is not a bone: it must keep its place and rotation. A
 * text without it is read as well, unless Y points down, since then it would not show which way is
 * up. A ROOT without channels may have any name.
 *
 * By default Blender rotates what it imports so that Z is up, and exports it like that. The offsets
 * reveal this, and everything is rotated back.
 */
#include "bvh_read.h"
#include "bvh_text.h"
#include "model/clip.h"
#include "model/rotation.h"
#include "motion.h"
#include "util/composed.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SAME_LENGTH 1e-5
/* relative tolerance of offsets: programs compute them in float32 and in model space */
#define SAME_PART 1e-6
#define SAME_ANGLE (0.01 / 180 * M_PI)
/* relative tolerance of the frame time: some programs write it with six decimals */
#define SAME_TIME 1e-3
/* relative tolerance of a frame time with three decimals; the rates 24 and 25 differ by more */
#define SAME_BVH_RATE 2e-2

/*
 * Near gimbal lock (the second of three rotations close to 90 degrees) the other two rotate about
 * nearly the same axis. A program that computes them from a float32 matrix gets them wrong by about
 * float32's precision divided by the cosine of the second.
 */
#define LOCKED 0.01
#define LOCKED_LEAST 1e-5
#define LOCKED_ANGLE 3e-7

/* A joint of the text, matched to a node of the figure. */
struct part {
	/* its node; FIGURE_NONE: a root that only groups other joints (bvh_has_figure) */
	uint32_t node;
	double served[3]; /* the joint's position in the served text; of a root, the offset */
	double reach; /* upper bound of the joint's distance from its root in the current frame */
	double *rotations; /* rotations by row; NULL if the joint has no rotation channels */
	double *positions; /* by row, for a root that is a bone of the clip; else NULL */
};

struct import {
	const struct shown *at;
	struct figure f;
	struct bvh text;
	struct bytes whole;
	struct part *parts; /* what each joint of the text is matched to */
	struct word *apart; /* list_words(in, true), once it is needed */
	double step;        /* clip frames per row of the text */
	struct buf figure_name;
	bool turned; /* the format's Y points down */
	bool z_up;
	struct arena arena;
	struct err *err;
};

static size_t name_at(const struct import *in, const struct bvh_joint *joint)
{
	return (size_t)(joint->name.data - in->whole.data);
}

static const char *node_name(const struct import *in, uint32_t node)
{
	return node == FIGURE_NONE ? "nothing" : in->f.nodes[node].name;
}

/* ---- matching bones ---- */

struct word {
	struct bytes text;
	uint32_t node;
};

static int bvh_import_by_text(const void *pa, const void *pb)
{
	const struct bytes *a = &((const struct word *)pa)->text;
	const struct bytes *b = &((const struct word *)pb)->text;
	int order = memcmp(a->data, b->data, a->size < b->size ? a->size : b->size);

	return order ? order : (a->size > b->size) - (a->size < b->size);
}

/*
 * Lists the names of all nodes as BVH words, sorted. apart: with their characters taken apart.
 * Returns NULL when out of memory.
 */
static struct word *list_words(struct import *in, bool apart)
{
	struct word *words = arena_alloc(&in->arena, in->f.count, sizeof(*words));
	struct buf word = BUF_INIT;

	for (uint32_t node = 0; words && node < in->f.count; node++) {
		char *copy;

		buf_clear(&word);
		bvh_word(in->f.nodes[node].name, &word);
		buf_char(&word, '\0');
		copy = word.failed ? NULL
		       : apart     ? composed_copy((const char *)word.data, &in->arena)
				   : arena_text(&in->arena, (const char *)word.data, word.size - 1);
		if (copy)
			words[node] = (struct word){bytes_of(copy), node};
		else
			words = NULL;
	}
	buf_release(&word);
	if (words)
		qsort(words, in->f.count, sizeof(*words), bvh_import_by_text);
	return words;
}

static bool name_figure(struct import *in)
{
	bvh_figure_name(&in->f, &in->figure_name);
	return !in->figure_name.failed || err_memory(in->err);
}

static bool is_figure(const struct import *in, const struct bvh_joint *joint)
{
	return bytes_equal(joint->name, buf_bytes(&in->figure_name));
}

/*
 * Returns whether a joint is a ROOT, or below a ROOT that is no bone and has no channels. Some
 * programs write such a ROOT above everything.
 */
static bool is_outermost(const struct import *in, const struct bvh_joint *joint)
{
	return joint->parent == BVH_NONE || (in->parts[joint->parent].node == FIGURE_NONE &&
					     in->text.joints[joint->parent].count == 0);
}

/*
 * Returns whether a joint is the ROOT above several roots (bvh_has_figure). Blender writes one
 * without channels and with a name of its own, and gives ours all channels.
 */
static bool is_group(const struct import *in, const struct bvh_joint *joint)
{
	return is_outermost(in, joint) && (joint->count == 0 || is_figure(in, joint)) &&
	       joint->offset[0].value == 0 && joint->offset[1].value == 0 &&
	       joint->offset[2].value == 0;
}

static const struct word *find_word(const struct import *in, const struct word *words,
				    struct bytes name)
{
	const struct word wanted = {name, 0};

	return bsearch(&wanted, words, in->f.count, sizeof(*words), bvh_import_by_text);
}

/* Finds the node whose name differs only in the form of composed characters. */
static bool find_alike_node(struct import *in, struct bytes name, const struct word **out)
{
	const char *text = arena_text(&in->arena, (const char *)name.data, name.size);
	const char *apart;

	if (text && !composed_may_differ(text))
		return true;
	if (text && !in->apart)
		in->apart = list_words(in, true);
	apart = text ? composed_copy(text, &in->arena) : NULL;
	if (!apart || !in->apart)
		return err_memory(in->err);
	*out = find_word(in, in->apart, bytes_of(apart));
	return true;
}

static bool bvh_import_find_node(struct import *in, const struct word *words, uint32_t i,
				 bool *taken)
{
	const struct bvh_joint *joint = &in->text.joints[i];
	const struct word *word = find_word(in, words, joint->name);

	if (!word && !find_alike_node(in, joint->name, &word))
		return false;
	in->parts[i].node = word ? word->node : FIGURE_NONE;
	if (!word && !is_group(in, joint)) {
		err_at(in->err, ERR_TEXT, name_at(in, joint), joint->name.size,
		       "no bone of this clip has this name");
		return err_accept(in->err, "a name that clip.bvh has; bones are added, renamed and "
					   "removed in clip.json");
	}
	if (word && taken[word->node])
		return err_at(in->err, ERR_TEXT, name_at(in, joint), joint->name.size,
			      "\"%s\" is listed twice", in->f.nodes[word->node].name);
	if (word)
		taken[word->node] = true;
	return true;
}

static bool check_parent(const struct import *in, uint32_t i)
{
	const struct bvh_joint *joint = &in->text.joints[i];
	uint32_t node = in->parts[i].node, wanted, parent;

	if (node == FIGURE_NONE)
		return true;
	parent = joint->parent == BVH_NONE ? FIGURE_NONE : in->parts[joint->parent].node;
	wanted = in->f.nodes[node].parent;
	if (parent == wanted && (joint->parent != BVH_NONE || !in->turned))
		return true;
	err_at(in->err, ERR_TEXT, name_at(in, joint), joint->name.size,
	       "the parent of \"%s\" is %s here, and %s in the clip", in->f.nodes[node].name,
	       node_name(in, parent), parent == wanted ? "the figure" : node_name(in, wanted));
	return err_accept(in->err, "the hierarchy of clip.bvh");
}

static bool find_parts(struct import *in)
{
	struct word *words = list_words(in, false);
	bool *taken = arena_alloc(&in->arena, in->f.count, sizeof(*taken));

	in->parts = arena_alloc(&in->arena, in->text.count, sizeof(*in->parts));
	if (!words || !taken || !in->parts)
		return err_memory(in->err);
	for (uint32_t i = 0; i < in->text.count; i++)
		if (!bvh_import_find_node(in, words, i, taken) || !check_parent(in, i))
			return false;
	return true;
}

/* ---- offsets ---- */

static void turn_back(const struct import *in, double v[3])
{
	double y = v[1];

	if (!in->z_up)
		return;
	v[1] = v[2];
	v[2] = -y;
}

static double bvh_import_size_of(const double v[3])
{
	return fmax(fabs(v[0]), fmax(fabs(v[1]), fabs(v[2])));
}

static bool bvh_import_is_near(const double a[3], const double b[3], double reach)
{
	double room = SAME_LENGTH + SAME_PART * reach;

	for (unsigned axis = 0; axis < 3; axis++)
		if (!(fabs(a[axis] - b[axis]) <= room))
			return false;
	return true;
}

static void bvh_import_read_offset(const struct bvh_joint *joint, double out[3])
{
	for (unsigned axis = 0; axis < 3; axis++)
		out[axis] = joint->offset[axis].value;
}

/*
 * Offsets that differ between the two axis systems: how many are as served, and how many have Z up.
 */
struct axes {
	uint32_t kept, turned;
};

static void see_axes(struct axes *axes, const double served[3], const double read[3], double reach)
{
	const struct import turning = {.z_up = true};
	double back[3] = {read[0], read[1], read[2]};
	bool kept = bvh_import_is_near(read, served, reach);

	turn_back(&turning, back);
	if (kept == bvh_import_is_near(back, served, reach))
		return;
	axes->kept += kept;
	axes->turned += !kept;
}

static void bvh_import_find_axes(struct import *in)
{
	struct axes axes = {0, 0};

	for (uint32_t i = 0; i < in->text.count; i++) {
		const struct bvh_joint *joint = &in->text.joints[i];
		struct part *part = &in->parts[i];
		double end[3], read[3];

		part->reach = joint->parent == BVH_NONE ? 0 : in->parts[joint->parent].reach;
		if (part->node == FIGURE_NONE)
			continue;
		bvh_offset(&in->f, part->node, part->served);
		for (unsigned axis = 0; axis < 3; axis++)
			part->served[axis] = (double)finite_f32(part->served[axis]);
		part->reach += bvh_import_size_of(part->served);
		bvh_import_read_offset(joint, read);
		see_axes(&axes, part->served, read, part->reach);
		bvh_end(&in->f, part->node, end);
		if (joint->has_end && in->f.nodes[part->node].first_child == FIGURE_NONE)
			see_axes(&axes, end, joint->end, part->reach + bvh_import_size_of(end));
	}
	in->z_up = axes.turned > 0 && axes.kept == 0;
}

static bool has_position(const struct bvh_joint *joint)
{
	for (unsigned i = 0; i < joint->count; i++)
		if (joint->channels[i] <= BVH_Z_POSITION)
			return true;
	return false;
}

static bool has_rotation(const struct bvh_joint *joint)
{
	for (unsigned i = 0; i < joint->count; i++)
		if (joint->channels[i] >= BVH_X_ROTATION)
			return true;
	return false;
}

/* Checks the offset of a joint without position channels: it must be the served position. */
static bool check_offset(const struct import *in, uint32_t i)
{
	const struct bvh_joint *joint = &in->text.joints[i];
	const struct part *part = &in->parts[i];
	const struct bvh_cell *first = &joint->offset[0], *last = &joint->offset[2];
	double read[3];

	bvh_import_read_offset(joint, read);
	turn_back(in, read);
	if (part->node == FIGURE_NONE || has_position(joint) ||
	    bvh_import_is_near(read, part->served, part->reach))
		return true;
	err_at(in->err, ERR_TEXT, first->at, last->at + last->length - first->at,
	       "\"%s\" has another offset in the clip", in->f.nodes[part->node].name);
	return err_accept(in->err,
			  "OFFSET %.9g %.9g %.9g; a bone is moved in bones/%s.csv, and at rest in "
			  "skeleton.csv",
			  part->served[0], part->served[1], part->served[2],
			  in->f.nodes[part->node].name);
}

/*
 * Sets the position of a root that has position channels, or that only the skeleton has: neither is
 * at its offset.
 */
static void place_root(struct import *in, struct part *part)
{
	struct channel c = channel_of(&in->f, part->node, ROLE_TRANSLATION);

	channel_next(&c);
	memcpy(part->served, c.value, sizeof(part->served));
}

static bool is_moved(const struct import *in, uint32_t node)
{
	return node < in->f.bones && bvh_is_root(&in->f, node);
}

static bool begin_parts(struct import *in)
{
	size_t rows = in->text.frames;

	bvh_import_find_axes(in);
	for (uint32_t i = 0; i < in->text.count; i++) {
		const struct bvh_joint *joint = &in->text.joints[i];
		struct part *part = &in->parts[i];

		if (!check_offset(in, i))
			return false;
		if (part->node == FIGURE_NONE)
			continue;
		if (bvh_is_root(&in->f, part->node))
			place_root(in, part);
		if (part->node < in->f.bones && has_rotation(joint))
			part->rotations = arena_alloc(&in->arena, rows, 4 * sizeof(double));
		if (is_moved(in, part->node) && has_position(joint))
			part->positions = arena_alloc(&in->arena, rows, 3 * sizeof(double));
	}
	return !in->arena.failed || err_memory(in->err);
}

/* ---- rows ---- */

static void bvh_import_multiply(double q[4], const double by[4])
{
	const double a[4] = {q[0], q[1], q[2], q[3]};

	q[0] = a[3] * by[0] + a[0] * by[3] + a[1] * by[2] - a[2] * by[1];
	q[1] = a[3] * by[1] - a[0] * by[2] + a[1] * by[3] + a[2] * by[0];
	q[2] = a[3] * by[2] + a[0] * by[1] - a[1] * by[0] + a[2] * by[3];
	q[3] = a[3] * by[3] - a[0] * by[0] - a[1] * by[1] - a[2] * by[2];
}

static void read_rotation(const struct import *in, const struct bvh_joint *joint,
			  const struct bvh_cell *cells, double q[4])
{
	static const double none[4] = {0, 0, 0, 1};

	memcpy(q, none, sizeof(none));
	for (unsigned i = 0; i < joint->count; i++) {
		double angles[3] = {0, 0, 0}, turn[4];

		if (joint->channels[i] < BVH_X_ROTATION)
			continue;
		angles[joint->channels[i] - BVH_X_ROTATION] = cells[i].value;
		rotation_quaternion(angles, none, turn);
		bvh_import_multiply(q, turn);
	}
	turn_back(in, q);
}

/* Reads a joint's position from a row. A component without a channel is taken from the offset. */
static void read_position(const struct import *in, const struct bvh_joint *joint,
			  const struct bvh_cell *cells, double out[3])
{
	bvh_import_read_offset(joint, out);
	for (unsigned i = 0; i < joint->count; i++)
		if (joint->channels[i] <= BVH_Z_POSITION)
			out[joint->channels[i]] = cells[i].value;
	turn_back(in, out);
}

static bool refuse_move(const struct import *in, uint32_t frame, const struct part *part,
			const struct bvh_cell *cell, const char *what)
{
	const char *name = in->f.nodes[part->node].name;

	err_at(in->err, ERR_TEXT, cell->at, cell->length, "\"%s\" %s in frame %u", name, what,
	       (unsigned)frame);
	if (part->node >= in->f.bones)
		return err_accept(in->err,
				  "the values of clip.bvh: \"%s\" is a bone of the skeleton "
				  "and not of the clip",
				  name);
	return err_accept(in->err,
			  "%.9g %.9g %.9g; in a BVH only roots move, bones/%s.csv any bone",
			  part->served[0], part->served[1], part->served[2], name);
}

static bool is_same_rotation(const double a[4], const double b[4], double room)
{
	double dot = a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3];

	return 2 * acos(fmin(fabs(dot), 1)) <= room;
}

/* Returns the cosine of the second of a joint's three rotations; 1 if the joint has fewer. */
static double middle_cosine(const struct bvh_joint *joint, const struct bvh_cell *cells)
{
	double middle = 0;
	unsigned turns = 0;

	for (unsigned i = 0; i < joint->count; i++)
		if (joint->channels[i] >= BVH_X_ROTATION && ++turns == 2)
			middle = cells[i].value;
	return turns == 3 ? fabs(cos(middle / 180 * M_PI)) : 1;
}

/*
 * Replaces a rotation near gimbal lock by the served one, if a text's numbers are not exact enough
 * to distinguish the two.
 */
static void settle_locked(const struct import *in, uint32_t frame, const struct part *part,
			  double cosine, double q[4])
{
	double room = SAME_ANGLE + LOCKED_ANGLE / fmax(cosine, LOCKED_LEAST);
	struct pose served;

	if (cosine > LOCKED)
		return;
	served = rig_pose(in->f.rig, in->f.clip, part->node, frame * in->step);
	if (is_same_rotation(q, served.rotation, room))
		memcpy(q, served.rotation, sizeof(served.rotation));
}

/*
 * Checks the rotation of a joint that only the skeleton has: it must be the rest pose, since the
 * clip cannot store motion of such a joint.
 */
static bool check_rotation(const struct import *in, uint32_t frame, const struct part *part,
			   const struct bvh_cell *cells, const double q[4])
{
	struct pose rest = joint_pose(in->f.nodes[part->node].joint);

	return is_same_rotation(q, rest.rotation, SAME_ANGLE) ||
	       refuse_move(in, frame, part, cells, "turns");
}

/* Returns whether a joint has no channels and lies above another that may rotate the figure. */
static bool is_above_group(const struct import *in, uint32_t i)
{
	return in->text.joints[i].count == 0 && i + 1 < in->text.count &&
	       in->text.joints[i + 1].parent == i && in->parts[i + 1].node == FIGURE_NONE;
}

/*
 * Checks a ROOT above the figure's roots: it may rotate the figure upright where that is needed,
 * and do nothing else.
 */
static bool check_group(const struct import *in, uint32_t frame, uint32_t i,
			const struct bvh_cell *cells)
{
	static const double none[4] = {0, 0, 0, 1}, half[4] = {1, 0, 0, 0}, origin[3];
	const struct bvh_joint *joint = &in->text.joints[i];
	double q[4], position[3];

	if (is_above_group(in, i))
		return true;
	read_rotation(in, joint, cells, q);
	read_position(in, joint, cells, position);
	if (is_same_rotation(q, in->turned ? half : none, SAME_ANGLE) &&
	    bvh_import_is_near(position, origin, 0))
		return true;
	if (joint->count > 0)
		err_at(in->err, ERR_TEXT, cells->at, cells->length,
		       "the root above the bones moves in frame %u", (unsigned)frame);
	else
		err_at(in->err, ERR_TEXT, name_at(in, joint), joint->name.size,
		       "the root above the bones does not turn them upright");
	return err_accept(in->err, "its numbers in clip.bvh, since this root is no bone");
}

static bool take_rotation(const struct import *in, uint32_t frame, uint32_t i,
			  const struct bvh_cell *cells)
{
	const struct bvh_joint *joint = &in->text.joints[i];
	const struct part *part = &in->parts[i];
	double q[4];

	if (!has_rotation(joint))
		return true;
	read_rotation(in, joint, cells, q);
	if (!part->rotations)
		return check_rotation(in, frame, part, cells, q);
	settle_locked(in, frame, part, middle_cosine(joint, cells), q);
	memcpy(part->rotations + 4 * (size_t)frame, q, sizeof(q));
	return true;
}

static bool take_position(const struct import *in, uint32_t frame, uint32_t i,
			  const struct bvh_cell *cells)
{
	const struct bvh_joint *joint = &in->text.joints[i];
	struct part *part = &in->parts[i];
	double position[3];

	part->reach = (joint->parent == BVH_NONE ? 0 : in->parts[joint->parent].reach) +
		      bvh_import_size_of(part->served);
	if (!has_position(joint))
		return true;
	read_position(in, joint, cells, position);
	if (!part->positions)
		return bvh_import_is_near(position, part->served, part->reach) ||
		       refuse_move(in, frame, part, cells, "moves");
	part->reach = fmax(bvh_import_size_of(position), bvh_import_size_of(part->served));
	memcpy(part->positions + 3 * (size_t)frame, position, sizeof(position));
	return true;
}

/* Returns whether the text's frame time is the clip's, within a relative tolerance. */
static bool has_own_time(const struct import *in, double part)
{
	return fabs(in->text.frame_time.value - in->f.seconds) <= part * in->f.seconds + 1e-6;
}

/*
 * Refuses rows at another rate than the clip's: they are not the clip's frames, even if there are
 * as many, since a program with a rate of its own can have moved them. Texts written by animfs may
 * date from when the clip had another rate.
 */
static bool bvh_import_check_rate(const struct import *in)
{
	const struct bvh_cell *time = &in->text.frame_time;

	if (has_own_time(in, SAME_BVH_RATE) || in->at->style.resample || in->at->as_rendered)
		return true;
	err_at(in->err, ERR_TEXT, time->at, time->length,
	       "these rows were written at %.6g frames a second, and the clip has %.6g",
	       1 / time->value, 1 / in->f.seconds);
	return err_accept(
		in->err,
		"Frame Time: %.9g; in Blender, import clip.bvh with Update Scene FPS; or "
		"--gltf-rate=resample, which takes these rows; the clip's own is edited in "
		"clip.json",
		in->f.seconds);
}

/*
 * Returns whether rows at another rate can be resampled: the text is large enough to have that many
 * (each number takes two bytes or more), and so is the clip.
 */
static bool can_resample(const struct import *in)
{
	size_t cells = in->text.cells > 0 ? in->text.cells : 1;
	double length = (double)in->text.frames * in->text.frame_time.value / in->f.seconds;

	return in->at->style.resample && !has_own_time(in, SAME_BVH_RATE) && in->text.frames > 0 &&
	       in->text.frames <= in->whole.size / 2 / cells && length > 0 &&
	       length <= 2.0 * in->f.clip->frames;
}

static bool bvh_import_check_frames(struct import *in)
{
	const struct bytes *text = &in->text.frames_text;
	uint32_t frames = in->f.clip->frames;

	in->step = 1;
	if (in->text.frames == frames)
		return true;
	if (can_resample(in)) {
		in->step = in->text.frame_time.value / in->f.seconds;
		return true;
	}
	err_at(in->err, ERR_TEXT, (size_t)(text->data - in->whole.data), text->size,
	       "Frames: %u is not the number of the clip, which is %u", (unsigned)in->text.frames,
	       (unsigned)frames);
	return err_accept(in->err, "Frames: %u; how many there are is edited in clip.json",
			  (unsigned)frames);
}

static bool bvh_import_read_rows(struct import *in)
{
	struct bvh_cell *cells = arena_alloc(&in->arena, in->text.cells, sizeof(*cells));

	if (!cells)
		return err_memory(in->err);
	for (uint32_t frame = 0; frame < in->text.frames; frame++) {
		if (!bvh_row(&in->text, cells))
			return false;
		for (uint32_t i = 0; i < in->text.count; i++) {
			const struct bvh_cell *own = cells + in->text.joints[i].first;

			if (!(in->parts[i].node == FIGURE_NONE
				      ? check_group(in, frame, i, own)
				      : take_rotation(in, frame, i, own) &&
						take_position(in, frame, i, own)))
				return false;
		}
	}
	return bvh_close(&in->text);
}

/* ---- the motion of the rows ---- */

static void bvh_import_add_channel(const struct import *in, struct motion_channel *channels,
				   uint32_t *count, uint32_t i, enum role role, const double *times,
				   const double *values)
{
	if (values)
		channels[(*count)++] = (struct motion_channel){
			.track = in->parts[i].node,
			.role = role,
			.interpolation = MOTION_LINEAR,
			.count = in->text.frames,
			.times = times,
			.values = values,
			.at = name_at(in, &in->text.joints[i]),
			.length = in->text.joints[i].name.size,
		};
}

static struct anim *apply_import(struct import *in)
{
	uint32_t rows = in->text.frames, count = 0;
	double *times = arena_alloc(&in->arena, rows, sizeof(*times));
	struct motion_channel *channels =
		arena_alloc(&in->arena, in->text.count, 2 * sizeof(*channels));

	if (!times || !channels) {
		err_memory(in->err);
		return NULL;
	}
	for (uint32_t row = 0; row < rows; row++)
		times[row] = row * in->step * in->f.seconds;
	for (uint32_t i = 0; i < in->text.count; i++) {
		const struct part *part = &in->parts[i];

		bvh_import_add_channel(in, channels, &count, i, ROLE_TRANSLATION, times,
				       part->positions);
		bvh_import_add_channel(in, channels, &count, i, ROLE_ROTATION, times,
				       part->rotations);
	}
	return motion_apply(in->at, &(struct motion){count, channels}, in->whole, in->err);
}

static bool bvh_import_is_unchanged(const struct import *in, const struct anim *edited)
{
	const struct clip *now = &edited->clips[in->at->clip];

	for (uint32_t i = 0; i < now->track_count; i++)
		for (unsigned role = 0; role < ROLE_COUNT; role++)
			if (now->tracks[i].curve[role] != in->f.clip->tracks[i].curve[role])
				return false;
	return true;
}

/*
 * Checks the frame time of a text written by animfs, which may differ from the clip's. If nothing
 * else was changed, the change was meant, and is refused.
 */
static bool bvh_import_check_time(const struct import *in, const struct anim *edited)
{
	const struct bvh_cell *time = &in->text.frame_time;

	if (has_own_time(in, SAME_TIME) || in->at->style.resample ||
	    !bvh_import_is_unchanged(in, edited))
		return true;
	err_at(in->err, ERR_TEXT, time->at, time->length,
	       "nothing but the time of a frame was changed, which is not edited here");
	return err_accept(in->err, "Frame Time: %.9g; the clip's own is edited in clip.json",
			  in->f.seconds);
}

struct anim *bvh_import(const struct shown *at, struct bytes text, struct err *err)
{
	struct import in = {.at = at,
			    .whole = text,
			    .turned = at->anim->format->y_down,
			    .arena = ARENA_INIT,
			    .err = err};
	struct anim *edited = NULL;

	if (!figure_make(&in.f, at, &in.arena))
		err_memory(err);
	else if (name_figure(&in) && bvh_open(&in.text, text, &in.arena, err) && find_parts(&in) &&
		 bvh_import_check_rate(&in) && bvh_import_check_frames(&in) && begin_parts(&in) &&
		 bvh_import_read_rows(&in))
		edited = apply_import(&in);
	if (edited && !bvh_import_check_time(&in, edited)) {
		anim_free(edited);
		edited = NULL;
	}
	buf_release(&in.figure_name);
	arena_release(&in.arena);
	return edited;
}
