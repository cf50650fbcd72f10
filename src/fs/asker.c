/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * asker.c - who will ask for the attributes of the views in a folder?
 *
 * To tell them with the names spares a request for each. But a size costs a rendering, which only
 * those are to pay who ask for it. So a program that looked up most of the views of a kind in one
 * folder is told them in the next few folders that it lists; then it has to look them up once more.
 */
#include "fs.h"

#include <stdlib.h>

#define FOLDERS 15 /* that are told for one that was looked up */

/* What threads do to it at once makes a worse guess, and nothing else. */
struct asker {
	_Atomic pid_t pid;
	_Atomic unsigned folders;               /* to be told */
	_Atomic view_set told;                  /* the kinds of views in them */
	_Atomic unsigned listed[64], asked[64]; /* by kind: not told, and then looked up */
};

struct asker *asker_new(void)
{
	return calloc(1, sizeof(struct asker));
}

void asker_asked(struct asker *a, pid_t pid, const struct node *node)
{
	if (node->kind == NODE_VIEW && a->pid == pid)
		a->asked[node->view]++;
}

view_set asker_begin(struct asker *a, pid_t pid)
{
	view_set told = 0;

	if (a->pid == pid && a->folders) {
		a->folders--;
		return a->told;
	}
	for (unsigned i = 0; i < ARRAY_SIZE(a->listed); i++) {
		if (a->pid == pid && a->asked[i] && 2 * a->asked[i] >= a->listed[i])
			told |= (view_set)1 << i;
		a->listed[i] = a->asked[i] = 0;
	}
	a->pid = pid;
	a->folders = told ? FOLDERS - 1 : 0;
	a->told = told;
	return told;
}

bool asker_is_told(struct asker *a, view_set told, unsigned view)
{
	bool is = told >> view & 1;

	if (!is)
		a->listed[view]++;
	return is;
}

view_set asker_goes_on(const struct asker *a, pid_t pid)
{
	return a->pid == pid ? a->told : 0;
}
