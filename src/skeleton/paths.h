/* SPDX-License-Identifier: GPL-3.0-or-later */
/* paths.h - parents from the names of bones, in formats whose names are paths. */
#ifndef ANIMFS_SKELETON_PATHS_H
#define ANIMFS_SKELETON_PATHS_H

#include "skeleton.h"

/*
 * The parent of a bone is the one whose path lacks its last part; a bone that the clip has no track
 * for is made. If there is a bone of the empty path, it is above all others. Rest poses are not
 * known. Tracks must have labels. NULL: no memory.
 */
struct skeleton *skeleton_of_paths(const struct anim *a);

#endif
