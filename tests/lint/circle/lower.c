/* SPDX-License-Identifier: GPL-3.0-or-later */
/* lower.c - uses upper.c by an initializer. */
#include "all.h"

static int (*const steps[])(void) = {
	upper_step,
};

int lower_run(void)
{
	return steps[0]();
}
