/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * burst.h - saves below one animation in quick succession belong together. A folder that was copied
 * out, edited in one text and copied back says in all its other texts what was there before. In the
 * burst in which that one is saved these are stale, whatever their order; but a text that was saved
 * in the burst is taken at its word, since going back is an edit.
 */
#ifndef ANIMFS_VFS_BURST_H
#define ANIMFS_VFS_BURST_H

#include "animation.h"

/* Something is about to be saved over this version. */
void burst_begin(struct vfs *v, struct animation *a, struct version *now) REQUIRES(writer_class);
/* The view of this path (place_path) was saved. */
void burst_saved(struct animation *a, const char *path) REQUIRES(writer_class);
/* Is this text, to be saved as the view of this path, no edit but what was there before? */
bool burst_is_stale(struct vfs *v, struct animation *a, const char *path, const struct version *now,
		    struct bytes text) REQUIRES(writer_class);
/* Nothing has changed below the animation for END_MS. */
bool burst_is_over(struct vfs *v, struct animation *a) EXCLUDES(vfs_class);
void burst_forget(struct animation *a) REQUIRES(writer_class);

#endif
