/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * diagnostics.h - the list behind .animfs/errors: what is not as it should be, by path. Each also
 * goes to the log, once.
 */
#ifndef ANIMFS_VFS_DIAGNOSTICS_H
#define ANIMFS_VFS_DIAGNOSTICS_H

#include "vfs.h"

struct diagnostics *diagnostics_new(void); /* NULL: no memory */
void diagnostics_free(struct diagnostics *d);
/* how: a constant, "read-only", "not a clip yet". reason NULL: it is as it should be again. */
void diagnose(struct vfs *v, const char *path, const char *how, const char *reason);
/* About an animation, or about a name in its folder (or NULL). */
void diagnose_animation(struct vfs *v, struct animation *a, const char *name, const char *how,
			const char *reason) EXCLUDES(vfs_class);
/* All of it as lines. */
void diagnostics_render(struct vfs *v, struct buf *out);
/* For the log alone; as printf. */
__attribute__((format(printf, 1, 2))) void log_warning(const char *format, ...);
/* Who writes the log: standard error, or syslog, by what fuse/ sets. */
extern void (*log_write)(const char *line);

#endif
