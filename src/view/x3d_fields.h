/* SPDX-License-Identifier: GPL-3.0-or-later */
/* x3d_fields.h - the table of fields of X3D nodes that an interpolator can animate. */
#ifndef ANIMFS_VIEW_X3D_FIELDS_H
#define ANIMFS_VIEW_X3D_FIELDS_H

#include "animfs/base.h"

struct x3d_interpolator {
	const char *name;
	unsigned width; /* numbers in one value */
	bool many;      /* the field is a list of values */
	/* the interpolator works in HSV, not linearly in RGB: keys must be close together */
	bool hues;
	/*
	 * the interpolator is of level 3 of the component Interpolation, which no profile but Full
	 * has
	 */
	bool level3;
};

struct x3d_field {
	const char *node, *name;
	const struct x3d_interpolator *interpolator;
	const char *usual; /* default value of the field; NULL: none, or versions of X3D differ */
};

/* Finds a field of a node by its name. Returns NULL if no interpolator can animate it. */
const struct x3d_field *x3d_field_find(struct bytes node, struct bytes name);
/* Returns the default containerField of a node. */
const char *x3d_container(struct bytes node);

#endif
