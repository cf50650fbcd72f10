/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "budget.h"

#include <stdatomic.h>

bool budget_take(struct budget *b, size_t size)
{
	size_t used = b->used;

	do {
		if (size > b->limit || used > b->limit - size)
			return false;
	} while (!atomic_compare_exchange_weak(&b->used, &used, used + size));
	return true;
}

void budget_force(struct budget *b, size_t size)
{
	b->used += size;
}

void budget_give(struct budget *b, size_t size)
{
	b->used -= size;
}
