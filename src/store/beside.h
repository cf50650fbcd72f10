/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * beside.h - the name of the folder beside an animation file: "walk.kanim.d" beside "walk.kanim",
 * "jump.sequence.d" beside "jump.sequence.csv" (format.beside); with ".d~2" if a real file has that
 * name.
 */
#ifndef ANIMFS_STORE_BESIDE_H
#define ANIMFS_STORE_BESIDE_H

#include "store.h"

#include <limits.h>

#define BESIDE_NAMES 2
/* Makes the first or second name of the folder. False if it is too long for a name. */
bool beside_folder(const struct store *s, const char *file_name, unsigned which,
		   char out[NAME_MAX + 1]);
/*
 * Makes the i-th possible name of the file that a folder belongs to. *end, unless NULL, gets the
 * suffix that replaces the folder's: "", ".csv". False if there is no such name.
 */
bool beside_file(const char *folder_name, unsigned i, char out[NAME_MAX + 1], const char **end);
/* Returns the length of the name, or path, without the folder's suffix; 0: it has none. */
size_t beside_length(const char *name, size_t length);
/*
 * Does the name have the form of the first or the second name of such a folder? BESIDE_NAMES:
 * neither.
 */
unsigned beside_which(const char *folder_name);

#endif
