/* SPDX-License-Identifier: GPL-3.0-or-later */
/* budget.h - memory that many share (--drafts-max). Thread-safe, without a lock. */
#ifndef ANIMFS_BUDGET_H
#define ANIMFS_BUDGET_H

#include <stdbool.h>
#include <stddef.h>

struct budget {
	size_t limit;
	_Atomic size_t used; /* may be more than the limit: budget_force */
};
#define BUDGET_OF(size)                                                                            \
	{                                                                                          \
		(size), 0                                                                          \
	}

/* False when there is not so much left. */
bool budget_take(struct budget *b, size_t size);
void budget_force(struct budget *b, size_t size);
void budget_give(struct budget *b, size_t size);

#endif
