/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * bones.h - bones of formats that store a number in place of a name.
 *
 * A bone is named by a table of names, or else by its format ("bone_%04X"). The table is a CSV text
 * with the columns id and name; id is decimal, or hexadecimal behind 0x, as 32 bits.
 */
#ifndef ANIMFS_MODEL_BONES_H
#define ANIMFS_MODEL_BONES_H

#include "animfs/anim.h"

struct bone_names;

/*
 * NULL and err (line and column) if the text is not a table, has an id or a name twice, or gives a
 * bone the default name of another number. The result owns copies of all names.
 */
struct bone_names *bone_names_read(struct bytes text, const struct format *format, struct err *err);
void bone_names_free(struct bone_names *names); /* NULL is fine */

/*
 * The name of bone `number`, from the table (which may be NULL) or made in the arena. NULL: no
 * memory.
 */
const char *bone_name(const struct format *format, const struct bone_names *names,
		      struct arena *arena, uint32_t number);
/* The number of the bone with this name; false if there is none. */
bool bone_number(const struct format *format, const struct bone_names *names, const char *name,
		 uint32_t *number);

#endif
