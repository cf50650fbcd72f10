/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "json_load.h"

#include <malloc.h>
#include <setjmp.h>
#include <stdatomic.h>
#include <stdlib.h>

/* In front of what jansson gets: one of a ring, which is alone once its load has succeeded. */
union block {
	struct {
		union block *before, *after;
	};
	max_align_t aligned;
};

struct load {
	union block held;
	size_t taken, limit;
	jmp_buf out;
	struct json_fault *fault;
};

static _Thread_local struct load *current;
static atomic_size_t limit_of_all = (size_t)1 << 30;

void json_load_limit(size_t bytes)
{
	limit_of_all = bytes;
}

/* ---- blocks ---- */

static void block_alone(union block *b)
{
	b->before = b;
	b->after = b;
}

static void block_insert(union block *ring, union block *b)
{
	b->before = ring;
	b->after = ring->after;
	ring->after->before = b;
	ring->after = b;
}

static void block_remove(union block *b)
{
	b->before->after = b->after;
	b->after->before = b->before;
	block_alone(b);
}

/* With what the C library puts in front of it. */
static size_t block_size(union block *b)
{
	return malloc_usable_size(b) + sizeof(size_t);
}

/* ---- jansson's memory ---- */

__attribute__((noreturn)) static void give_up(struct load *l, bool over_limit)
{
	l->fault->why = over_limit ? JSON_LIMIT : JSON_MEMORY;
	longjmp(l->out, 1);
}

static void *take(size_t size)
{
	struct load *l = current;
	union block *b;

	if (l && (size > l->limit || l->taken > l->limit - size))
		give_up(l, true);
	b = size > SIZE_MAX - sizeof(*b) ? NULL : malloc(sizeof(*b) + size);
	if (!b) {
		if (l)
			give_up(l, false);
		return NULL;
	}
	block_alone(b);
	if (l) {
		block_insert(&l->held, b);
		l->taken += block_size(b);
	}
	return b + 1;
}

static void give_back(void *p)
{
	union block *b = p;

	if (!p)
		return;
	b--;
	if (current)
		current->taken -= block_size(b);
	block_remove(b);
	free(b);
}

/*
 * Before there is any value, and any thread: what one function took the other must give back, and
 * values are made elsewhere too, without a load (view/curves_csv.c).
 */
__attribute__((constructor)) static void use_own_memory(void)
{
	json_set_alloc_funcs(take, give_back);
}

/* ---- loading ---- */

/* What is held at the end of a load: freed, or each on its own from here on. */
static void load_end(struct load *l, bool keep)
{
	while (l->held.after != &l->held) {
		union block *b = l->held.after;

		/* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): what is freed is taken out before */
		block_remove(b);
		if (!keep)
			free(b);
	}
}

static json_t *load_or_give_up(struct load *l, struct bytes text, size_t flags)
{
	if (setjmp(l->out))
		return NULL;
	return json_loadb((const char *)text.data, text.size, flags, &l->fault->syntax);
}

json_t *json_load_bytes(struct bytes text, size_t flags, struct json_fault *fault)
{
	struct load l = {.limit = limit_of_all, .fault = fault};
	json_t *value;

	fault->why = JSON_MALFORMED;
	block_alone(&l.held);
	current = &l;
	value = load_or_give_up(&l, text, flags);
	current = NULL;
	load_end(&l, value != NULL);
	return value;
}
