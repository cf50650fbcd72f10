/* SPDX-License-Identifier: GPL-3.0-or-later */
/* upper.c - uses lower.c by a call, and bystander.c, which does not use it. */
#include "all.h"

int upper_step(void)
{
	return lower_run() + bystander_count() + bystander_hook();
}
