/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * gltf_rest.h - takes back what a program did to the bones' own axes.
 *
 * Blender gives a bone's axes other places, so that it points to its children, and keeps directions
 * in float32: what it saves of a bone is relative to axes that are not those of the file which it
 * opened. They stand in the skin's inverse bind matrices. A bone that is where it was at rest, but
 * with its axes exchanged, gets its own ones back; one that is elsewhere or turned otherwise is at
 * rest in a pose that somebody made, and is taken as it is.
 */
#ifndef ANIMFS_VIEW_GLTF_REST_H
#define ANIMFS_VIEW_GLTF_REST_H

#include "figure.h"
#include "gltf_read.h"

/* Changes the values of the motion, which gltf_read_motion made for these nodes. */
bool gltf_rest_restore(struct gltf_file *f, const struct gltf_nodes *nodes, const struct shown *at,
		       struct motion *motion, struct err *err);

#endif
