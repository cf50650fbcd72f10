/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * portable.h - names as the state directory stores them, which every filesystem accepts.
 *
 * %XX stands for a byte that some filesystem refuses or changes: control bytes, " * : < > ? \ | of
 * FAT, exFAT and NTFS, bytes that are no UTF-8, and a dot or space at the end, which FAT drops; and
 * for % itself, so that every name is stored in one way and read back as it was. If the escaped
 * name would be too long, the name is stored unescaped: the filesystem that it comes from accepts
 * it. Names that differ only in case are the same name on a filesystem that ignores case.
 */
#ifndef ANIMFS_DISK_PORTABLE_H
#define ANIMFS_DISK_PORTABLE_H

#include "animfs/base.h"

#include <limits.h>

/*
 * The stored form of a name. 0; EINVAL for "." and ".."; or ENAMETOOLONG, also for a long name that
 * is the stored form of another, or would be another on FAT, which drops dots and spaces at the
 * end: then `out` is "", which every call refuses.
 */
int portable_name(const char *name, char out[NAME_MAX + 1]);
/*
 * Writes the name that a stored form stands for; a text that is not a stored form is returned
 * unchanged.
 */
void portable_read(const char *stored, char out[NAME_MAX + 1]);
/*
 * Appends the stored form of each name of a relative path, each with a NUL. Errors as above, or
 * ENOMEM.
 */
int portable_path(const char *path, struct buf *out);

#endif
