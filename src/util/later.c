/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "later.h"

#include <stdbool.h>
#include <stddef.h>

static _Thread_local bool is_later;
static _Thread_local struct later *noted; /* objects that later_end will free, most recent first */

void later_begin(void)
{
	is_later = true;
}

void later_end(void)
{
	struct later *list = noted;

	is_later = false;
	noted = NULL;
	while (list) {
		struct later *next = list->next;

		list->free(list);
		list = next;
	}
}

void later_free(struct later *l, void (*free)(struct later *l))
{
	if (!is_later) {
		free(l);
		return;
	}
	*l = (struct later){noted, free};
	noted = l;
}
