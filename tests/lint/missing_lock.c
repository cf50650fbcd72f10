/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * missing_lock.c - faults that clang must find: `make lint` compiles this and expects a warning for
 * each line with FAULT. It is part of no program.
 */
#include "util/lock.h"

#include <stddef.h>

static struct lock_class table_class = {"table", 1};

struct table {
	struct lock lock;
	size_t count GUARDED_BY(table_class);
};

static struct lock_class other_class = {"other", 2};

static void grow(struct table *t) REQUIRES(table_class)
{
	t->count++;
}

size_t unlocked_read(const struct table *t)
{
	return t->count; /* FAULT */
}

void unlocked_call(struct table *t)
{
	grow(t); /* FAULT */
}

void wrong_class(struct table *t)
{
	lock_acquire(&t->lock, &other_class);
	t->count++; /* FAULT */
	lock_release(&t->lock, &other_class);
}

void locked(struct table *t)
{
	lock_acquire(&t->lock, &table_class);
	grow(t);
	lock_release(&t->lock, &table_class);
}
