/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * diagnostics.h - the list behind .animfs/errors: problems by path, and events. Each new entry is
 * also logged once.
 */
#ifndef ANIMFS_VFS_DIAGNOSTICS_H
#define ANIMFS_VFS_DIAGNOSTICS_H

#include "archive.h"

struct diagnostics *diagnostics_new(void); /* NULL: no memory */
void diagnostics_free(struct diagnostics *d);
/*
 * Replaces the entry of this path, or adds one; a path has at most one entry, and the last 1024 are
 * kept. how: the kind of entry, a string constant such as "read-only" or "not a clip yet". reason
 * NULL: removes the entry, of any kind.
 */
void diagnose(struct vfs *v, const char *path, const char *how, const char *reason);
/* Removes the entry of the name `name` in `folder`, which is gone. */
void diagnose_gone(struct vfs *v, const struct node *folder, const char *name) EXCLUDES(vfs_class);
/* Adds an event, with the current time. The last 1024 events are kept. */
void diagnose_event(struct vfs *v, const char *path, const char *how, const char *reason);
/* Removes the last event of this path and kind. */
void diagnose_event_gone(struct vfs *v, const char *path, const char *how);
/* Describes a fault with its place in a text, and with the form that would be accepted. */
#define FAULT_SIZE                                                                                 \
	(sizeof(((struct err *)NULL)->message) + sizeof(((struct err *)NULL)->accepted) + 96)
void fault_describe(const struct err *err, char *out, size_t size);
/* Calls spot_of; reports the reason if an archive cannot be read. */
int member_spot(struct vfs *v, const struct node *node, struct spot *out) EXCLUDES(vfs_class);
/* Reports the reason why a file in an archive cannot be read. Returns the errno. */
int member_failed(struct vfs *v, const struct node *node, const struct err *err)
	EXCLUDES(vfs_class);
/*
 * Reports that nothing can be changed in this folder of an archive, with the reason (NULL: the
 * usual one). Returns EROFS.
 */
int refuse_in_archive(struct vfs *v, const struct node *folder, const char *name,
		      const char *reason) EXCLUDES(vfs_class);
/* Calls animation_check; reports the reason if this virtual folder or view cannot be changed. */
int check_editable(struct vfs *v, const struct target *t, const char *name) EXCLUDES(vfs_class);
/* Like diagnose, for an animation, or for `name` (unless NULL) in its folder. */
void diagnose_animation(struct vfs *v, struct animation *a, const char *name, const char *how,
			const char *reason) EXCLUDES(vfs_class);
/* Reports why clips of stills have no folder, or removes the report if all have one. */
void diagnose_stills(struct vfs *v, struct animation *a, const struct version *version)
	EXCLUDES(vfs_class);
/* Renders the whole list, one entry per line. */
void diagnostics_render(struct vfs *v, struct buf *out);
/* Writes a line to the log only, not to the list; like printf. */
__attribute__((format(printf, 1, 2))) void log_warning(const char *format, ...);
/* writes a line to the log: standard error or, if fuse/ has set the function, syslog */
extern void (*log_write)(const char *line);

#endif
