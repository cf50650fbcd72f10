/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * gltf_rest.h - undoes the changes that a program made to the bones' own axes.
 *
 * Blender rotates a bone's axes so that it points at its children, and stores directions as
 * float32: the motion that it saves is relative to axes that differ from those in the file it
 * opened. The skin's inverse bind matrices decide. A bone that is at its rest position but with its
 * axes permuted gets its original axes back; one that is elsewhere, or rotated otherwise, has a
 * rest pose that the user made, and is taken as it is.
 */
#ifndef ANIMFS_VIEW_GLTF_REST_H
#define ANIMFS_VIEW_GLTF_REST_H

#include "figure.h"
#include "gltf_read.h"

/* Changes the values of `motion` in place; gltf_read_motion made it for these nodes. */
bool gltf_rest_restore(struct gltf_file *f, const struct gltf_nodes *nodes, const struct shown *at,
		       struct motion *motion, struct err *err);

#endif
