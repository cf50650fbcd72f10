/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * asker.c - guesses who will ask for the attributes of the views in a folder.
 *
 * Sending them with the names (readdirplus) saves a request each. But a view's size may need
 * rendering, which only programs that want the size should wait for. So a program that looked up
 * most of the views of a kind in one folder gets them with the names in the next few folders that
 * it lists; after those it has to look them up once more.
 */
#include "asker.h"

#include <stdlib.h>

#define FOLDERS 15 /* folders listed with attributes for one that was looked up */

/* Not locked: races only make the guess worse. */
struct asker {
	_Atomic pid_t pid;
	_Atomic unsigned folders; /* folders still to be sent with attributes */
	_Atomic view_set sent;    /* the kinds of views in them */
	/* by view: names sent without attributes, and of those looked up */
	_Atomic unsigned listed[64], asked[64];
};

struct asker *asker_new(void)
{
	return calloc(1, sizeof(struct asker));
}

void asker_asked(struct asker *a, pid_t pid, unsigned view)
{
	if (a->pid == pid)
		a->asked[view]++;
}

view_set asker_begin(struct asker *a, pid_t pid)
{
	view_set sent = 0;

	if (a->pid == pid && a->folders) {
		a->folders--;
		return a->sent;
	}
	for (unsigned i = 0; i < ARRAY_SIZE(a->listed); i++) {
		if (a->pid == pid && a->asked[i] && 2 * a->asked[i] >= a->listed[i])
			sent |= (view_set)1 << i;
		a->listed[i] = a->asked[i] = 0;
	}
	a->pid = pid;
	a->folders = sent ? FOLDERS - 1 : 0;
	a->sent = sent;
	return sent;
}

bool asker_is_sent(struct asker *a, view_set sent, unsigned view)
{
	bool is = sent >> view & 1;

	if (!is)
		a->listed[view]++;
	return is;
}

view_set asker_goes_on(const struct asker *a, pid_t pid)
{
	return a->pid == pid ? a->sent : 0;
}
