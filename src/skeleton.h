/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * skeleton.h - the rest pose of a model and which bone hangs from which.
 *
 * An animation file says neither. A skeleton comes from a model beside it or from a CSV text:
 *
 *	bone,parent,tx,ty,tz,rx,ry,rz,sx,sy,sz
 *
 * Bones go by their file-name form, as everywhere. Poses are relative to the parent: translation in
 * the format's length, rotation as Euler angles in degrees (R = Rz * Ry * Rx), scale as a factor.
 * A skeleton never changes once it is made.
 */
#ifndef ANIMFS_SKELETON_H
#define ANIMFS_SKELETON_H

#include "animfs/anim.h"

#define JOINT_ROOT (-1)

struct joint {
	const char *bone;
	int32_t parent; /* place among the joints, before or behind this one; or JOINT_ROOT */
	double rest[ROLE_COUNT][3];
};

struct skeleton {
	struct arena arena;
	uint32_t count;
	const struct joint *joints;
	const uint32_t *by_name; /* places of the joints, sorted by their bones */
};

/*
 * From a CSV text. NULL and err (line and column) when it is no table, when a parent is not there,
 * a bone is there twice, bones hang from themselves, or one hangs from another in a format where
 * none does; `format` NULL: any. Blank cells are the rest of no pose at all: no parent, translation
 * and angles 0, scale 1. A row of them says nothing, and its bone is only known if another hangs
 * from it.
 */
struct skeleton *skeleton_read(struct bytes text, const struct format *format, struct err *err);
/*
 * The same for a text that is saved in place of skeleton_text(old, a). A column that is not there
 * leaves what `old`, which may be NULL, says. A bone of the model that `old` knows must have a row:
 * a text cut short would forget it. ERR_EMPTY: a header alone; ERR_EARLY: the text's one fault may
 * be its end.
 */
struct skeleton *skeleton_edit(const struct skeleton *old, const struct anim *a, struct bytes text,
			       struct err *err);
/*
 * From joints that live in the arena, which is taken over, failing or not. No two have the same
 * bone, and none hangs from itself. NULL: no memory.
 */
struct skeleton *skeleton_new(struct arena *arena, const struct joint *joints, uint32_t count);
void skeleton_free(struct skeleton *s); /* NULL is fine */
/* Do they say the same of the same bones? Numbers as the text shows them. Either may be NULL. */
bool skeleton_same(const struct skeleton *a, const struct skeleton *b);
/* The same of a joint of each. */
bool joint_same(const struct skeleton *a, const struct joint *x, const struct skeleton *b,
		const struct joint *y);
/* By the bone's name; NULL when there is none. s may be NULL. */
const struct joint *skeleton_joint(const struct skeleton *s, const char *bone);
/*
 * The text that skeleton_read reads: every bone of the model, with blank cells where the skeleton,
 * which may be NULL, does not know it, and then the bones that only the skeleton has.
 */
void skeleton_text(const struct skeleton *s, const struct anim *a, struct buf *out);
/* The row of one bone in it. */
void skeleton_row(const struct skeleton *s, const char *bone, struct buf *out);

/* A bone of a clip, posed or at rest, in the space of the model. Column vectors. */
struct transform {
	double m[3][4];
};

/* How the bones of one clip hang together. */
struct rig {
	uint32_t count;            /* the clip's tracks */
	const int32_t *parents;    /* of each track: the track of its parent, or JOINT_ROOT */
	const uint32_t *order;     /* all tracks, parents before children */
	const struct joint **rest; /* of each track, or NULL: nothing is known */
	/* Of each track: joints that the clip does not move stand between it and its parent. */
	const struct transform *between;
};

/* skeleton NULL, or a bone that it does not name: a bone without a parent. NULL: no memory. */
const struct rig *rig_make(const struct skeleton *skeleton, const struct clip *clip,
			   struct arena *arena);
/*
 * The pose of one track at a frame, relative to its parent: what its curves say, and where they say
 * nothing what the skeleton does, or no pose at all. Rotation as a unit quaternion. What is not
 * finite is taken for nothing said.
 */
struct pose {
	double translation[3], rotation[4], scale[3];
};
struct pose rig_pose(const struct rig *rig, const struct clip *clip, uint32_t track, double frame);
/* Of a joint at rest; NULL: no pose at all. */
struct pose joint_pose(const struct joint *joint);
/* Translation * rotation * scale. These two are always finite, as those of rig_world are. */
struct transform pose_transform(const struct pose *p);
struct transform transform_product(const struct transform *a, const struct transform *b);
/*
 * All tracks in the space of the model; out has room for rig->count. Always finite: further off
 * than can be told, a bone stays at the end of the world.
 */
void rig_world(const struct rig *rig, const struct clip *clip, double frame, struct transform *out);

#endif
