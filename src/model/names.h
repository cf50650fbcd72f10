/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * names.h - converts stored names to file names and back.
 *
 * UTF-8 as it is; %XX for '/', control bytes, % # : \ , ; ", for a leading . = + - @ or space, a
 * trailing space or dot, and for lone surrogates (three bytes each); the empty name is "%". Of
 * equal names the first keeps its form; each further one, and one that meets a reserved name, gets
 * the first free ~2, ~3 ... in file order. Longer than fits: cut on a character, then '~' and a
 * hash.
 */
#ifndef ANIMFS_MODEL_NAMES_H
#define ANIMFS_MODEL_NAMES_H

#include "animfs/anim.h"

#define NAME_LIMIT 255 /* bytes of a file name */
/* Kept free behind a bone's label, for ".json.rejected.~999~" and its like. */
#define NAME_SUFFIX_ROOM 24

/*
 * Appends the file-name form of a stored name, at most `limit` bytes, without regard to other names
 * of the folder.
 */
void name_escape(const char *stored, size_t limit, struct buf *out);
/*
 * Appends the stored name of a file-name form. False if no stored name has this form or, with
 * out->failed set, when out of memory.
 */
bool name_unescape(const char *label, struct buf *out);
/*
 * Sets the labels of all clips and tracks of a model that is not shared yet. `reserved` are the
 * fixed names of the file's folder, ending with NULL. False when out of memory.
 */
bool names_label(struct anim *a, const char *const *reserved);

/*
 * Returns the part of a bone's stored name that its label is made of: the last component if names
 * are paths, else the whole name.
 */
const char *name_of_bone(const struct format *format, const char *name);

/*
 * Returns the length of a file name without its extension; the whole length if there is no
 * extension (".canm").
 */
size_t name_stem(const char *file_name);

/*
 * The set of characters behind a name's dots, by five bits each. It rules out most extensions
 * without a comparison: names are matched with dozens, for each entry of a folder.
 */
uint32_t name_dots(const char *file_name);
/*
 * Returns where the name ends with `end`, a dot and more, in any case; NULL if it does not. `dots`:
 * those of the name.
 */
const char *name_end(const char *file_name, uint32_t dots, const char *end);

#endif
