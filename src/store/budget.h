/* SPDX-License-Identifier: GPL-3.0-or-later */
/* budget.h - a shared limit of memory (--drafts-max). Thread-safe, lock-free. */
#ifndef ANIMFS_STORE_BUDGET_H
#define ANIMFS_STORE_BUDGET_H

#include <stdbool.h>
#include <stddef.h>

struct budget {
	size_t limit;
	_Atomic size_t used; /* bytes in use; may exceed the limit, see budget_force */
};

/*
 * Charges `size` bytes to the budget; false if that would exceed the limit. budget_force always
 * charges them.
 */
bool budget_take(struct budget *b, size_t size);
void budget_force(struct budget *b, size_t size);
void budget_give(struct budget *b, size_t size);

#endif
