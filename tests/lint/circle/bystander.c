/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bystander.c - has names of upper.c that are no uses of it: in comments, such as upper_step(), in
 * strings, as members and as tags. outer_value is a local, as nothing declares the other one here.
 */
#include "all.h"

struct upper_step {
	int (*upper_step)(void);
};

static int none(void) /* upper_step() isn't called */
{
	return 0;
}

int (*const bystander_hook)(void) = none;

int bystander_count(void)
{
	const struct upper_step step = {.upper_step = none};
	const char *const text = "upper_step()";
	int outer_value = step.upper_step();

	return outer_value + text[0];
}
