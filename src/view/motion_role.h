/* SPDX-License-Identifier: GPL-3.0-or-later */
/* motion_role.h - what a motion says of one role of one bone, as an edit of its curve. */
#ifndef ANIMFS_VIEW_MOTION_ROLE_H
#define ANIMFS_VIEW_MOTION_ROLE_H

#include "figure.h"
#include "motion.h"

/* One call of motion_apply. */
struct applying {
	const struct shown *at;
	const struct figure *figure;
	struct bytes text;
	struct anim *edited;
	struct err *err;
};

/* The channel as an edit of `edited`. False and err when refused. */
bool motion_role(const struct applying *a, const struct motion_channel *channel);

#endif
