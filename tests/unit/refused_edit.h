/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ANIMFS_TESTS_UNIT_REFUSED_EDIT_H
#define ANIMFS_TESTS_UNIT_REFUSED_EDIT_H

#include <stddef.h>

/* An edit of a text that is refused: the change, the place, and words of the error. */
struct refused_edit {
	const char *was, *is;
	size_t line, column;
	const char *words;
};

#endif
