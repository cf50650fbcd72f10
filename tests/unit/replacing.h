/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * replacing.h - does both steps of a replacement at once, in one folder and with the temporary
 * "tmp".
 */
#ifndef ANIMFS_TESTS_UNIT_REPLACING_H
#define ANIMFS_TESTS_UNIT_REPLACING_H

#include "disk/replace.h"

static inline int replace_now(struct replacement r, struct bytes data, struct file_version *now,
			      bool *settled)
{
	int error;

	r.via = r.dir;
	r.temporary = r.temporary ? r.temporary : "tmp";
	error = replace_prepare(&r, data);
	if (!error)
		error = replace_place(&r, now, settled);
	replace_end(&r);
	return error;
}

#endif
