/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Layer skeleton: rest poses and parents, which animation files do not store. The layer finds which
 * skeleton belongs to a file (find_skeleton.h, find_model.h), reads the games' models
 * (model_formats.h) and the CSV form (this file), poses a clip with it, and reads bone-names.csv
 * (naming.h). sandbox/guard.h decides whether these files may be used.
 *
 * Start reading here; then find_skeleton.h.
 *
 * May use: util text disk sandbox model
 */
/*
 * skeleton.h - the rest pose and parents of bones.
 *
 * An animation file does not store them. A skeleton is read from a model beside it or from a CSV
 * text:
 *
 * 	bone,parent,tx,ty,tz,rx,ry,rz,sx,sy,sz
 *
 * Bones are identified by their file-name form (model/names.h). Poses are relative to the parent:
 * translation in the format's unit of length, rotation as Euler angles in degrees (R = Rz * Ry *
 * Rx), scale as a factor. A skeleton is immutable.
 */
#ifndef ANIMFS_SKELETON_SKELETON_H
#define ANIMFS_SKELETON_SKELETON_H

#include "animfs/anim.h"

#define JOINT_ROOT (-1)

struct joint {
	const char *bone;
	int32_t parent; /* index of the parent, before or after the joint's own; or JOINT_ROOT */
	bool bare;      /* only the parent of the joint is known; `rest` is unset */
	double rest[ROLE_COUNT][3];
};

struct skeleton {
	struct arena arena;
	uint32_t count;
	const struct joint *joints;
	const uint32_t *by_name; /* indices of the joints, sorted by bone */
};

/*
 * Parses a CSV text. NULL and err (line and column) if it is not such a table, if a parent is
 * missing, a bone is listed twice, there is a cycle, or bones have parents though the format (NULL:
 * any) has none. Blank cells are no parent, translation and angles 0, scale 1. A row of blank cells
 * only makes the bone known if it is the parent of another.
 */
struct skeleton *skeleton_read(struct bytes text, const struct format *format, struct err *err);
/*
 * Parses a text that replaces skeleton_text(old, a). A missing column keeps the values of `old`,
 * which may be NULL. A bone of the model that `old` has must have a row, so that a text that was
 * cut short loses nothing. ERR_EMPTY: only a header; ERR_EARLY: the text may only be incomplete.
 */
struct skeleton *skeleton_edit(const struct skeleton *old, const struct anim *a, struct bytes text,
			       struct err *err);
/*
 * Makes a skeleton of joints in the arena, which it takes over even if it fails. Bones must be
 * unique and parents without a cycle. NULL: no memory.
 */
struct skeleton *skeleton_new(struct arena *arena, const struct joint *joints, uint32_t count);
void skeleton_free(struct skeleton *s); /* s may be NULL */
/*
 * Returns whether both have the same bones, parents and poses. Numbers compare as the text shows
 * them. a and b may be NULL.
 */
bool skeleton_same(const struct skeleton *a, const struct skeleton *b);
/* Compares one joint of each skeleton, as skeleton_same does. */
bool joint_same(const struct skeleton *a, const struct joint *x, const struct skeleton *b,
		const struct joint *y);
/* Finds a joint by its bone's name; NULL if there is none. s may be NULL. */
const struct joint *skeleton_joint(const struct skeleton *s, const char *bone);
/* The bone above this one, for struct hierarchy (edit/structure.h); NULL if there is none. */
const char *skeleton_parent(const void *skeleton, const char *bone);
/*
 * Appends the text that skeleton_read reads: a row for every bone of the model, with blank cells if
 * the skeleton (which may be NULL) lacks it, then rows for the bones that only the skeleton has.
 */
void skeleton_text(const struct skeleton *s, const struct anim *a, struct buf *out);
/* Appends the row of one bone. */
void skeleton_row(const struct skeleton *s, const char *bone, struct buf *out);

/*
 * An affine transform of column vectors: its first three columns are the axes, the last the
 * position.
 */
struct transform {
	double m[3][4];
};

/* The hierarchy of a clip's bones. */
struct rig {
	uint32_t count;            /* number of the clip's tracks */
	const int32_t *parents;    /* by track: the track of the parent, or JOINT_ROOT */
	const uint32_t *order;     /* all tracks, parents before children */
	const struct joint **rest; /* by track: the joint with its rest pose; NULL: unknown */
	/*
	 * by track: the product of the joints between the track and its parent track, for which the
	 * clip has no tracks
	 */
	const struct transform *between;
};

/*
 * Makes a rig in the arena. A bone has no parent if the skeleton lacks it, or is NULL. Returns NULL
 * when out of memory.
 */
const struct rig *rig_make(const struct skeleton *skeleton, const struct clip *clip,
			   struct arena *arena);
/*
 * The pose of one track at a frame, relative to its parent: from its curves; for roles without
 * keys, and components that are not finite, from the skeleton; else the identity. The rotation is a
 * unit quaternion.
 */
struct pose {
	double translation[3], rotation[4], scale[3];
};
struct pose rig_pose(const struct rig *rig, const struct clip *clip, uint32_t track, double frame);
/* Returns the rest pose of a joint; the identity if it is NULL. */
struct pose joint_pose(const struct joint *joint);
/*
 * Returns translation * rotation * scale of a pose. The results of pose_transform, of
 * transform_product and of rig_world are always finite.
 */
struct transform pose_transform(const struct pose *p);
struct transform transform_product(const struct transform *a, const struct transform *b);
double transform_determinant(const struct transform *t);
/* Inverts a transform. Returns false if it has no inverse. */
bool transform_inverse(const struct transform *t, struct transform *out);
/*
 * Computes all tracks' transforms in model space; `out` has room for rig->count. Positions are
 * clamped to a large finite range.
 */
void rig_world(const struct rig *rig, const struct clip *clip, double frame, struct transform *out);

#endif
