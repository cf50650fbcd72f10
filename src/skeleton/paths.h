/* SPDX-License-Identifier: GPL-3.0-or-later */
/* paths.h - parents from the names of bones, in formats whose names are paths. */
#ifndef ANIMFS_SKELETON_PATHS_H
#define ANIMFS_SKELETON_PATHS_H

#include "skeleton.h"

/*
 * Makes a skeleton from paths: the parent of a bone is the bone with its path without the last
 * part, and a missing parent is made. A bone of the empty path is above all others. Rest poses are
 * unknown. Tracks must have labels. Returns NULL when out of memory.
 */
struct skeleton *skeleton_of_paths(const struct anim *a);

#endif
