/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * beside.h - what the folder is called that stands beside an animation file: "walk.kanim.d" beside
 * "walk.kanim", "jump.sequence.d" beside "jump.sequence.csv" (format.beside), and with ".d~2" where
 * something real has that name.
 */
#ifndef ANIMFS_STORE_BESIDE_H
#define ANIMFS_STORE_BESIDE_H

#include "store.h"

#include <limits.h>

#define BESIDE_NAMES 2
/* The folder's name, the first or the second. False: it is too long for a name. */
bool beside_folder(const struct store *s, const char *file_name, unsigned which,
		   char out[NAME_MAX + 1]);
/*
 * The names that a file can have whose folder this is: the i-th, and in *end, if that is not NULL,
 * what it has in place of the folder's suffix: "", ".csv". False: there is no such name.
 */
bool beside_file(const char *folder_name, unsigned i, char out[NAME_MAX + 1], const char **end);
/* The length of the name, or path, without the folder's suffix; 0: it has none. */
size_t beside_length(const char *name, size_t length);
/* Which of the two the folder's name is, or would be. BESIDE_NAMES: neither. */
unsigned beside_which(const char *folder_name);

#endif
