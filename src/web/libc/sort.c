/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sort.c - qsort and qsort_r as glibc has them: what is equal stays in order, and so a file has the
 * same bytes wherever it was edited.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef int sort_compare(const void *a, const void *b, void *closure);

struct sort {
	size_t size;
	sort_compare *compare;
	void *closure;
};

static void sort_merge(const struct sort *s, const uint8_t *a, size_t a_count, const uint8_t *b,
		       size_t b_count, uint8_t *out)
{
	for (; a_count && b_count; out += s->size) {
		const uint8_t **from = s->compare(a, b, s->closure) <= 0 ? &a : &b;

		a_count -= from == &a;
		b_count -= from == &b;
		memcpy(out, *from, s->size);
		*from += s->size;
	}
	memcpy(out, a_count ? a : b, (a_count + b_count) * s->size);
}

static void sort_part(const struct sort *s, uint8_t *array, size_t count, uint8_t *room)
{
	const size_t half = count / 2;

	if (count < 2)
		return;
	sort_part(s, array, half, room);
	sort_part(s, array + half * s->size, count - half, room);
	memcpy(room, array, count * s->size);
	sort_merge(s, room, half, room + half * s->size, count - half, array);
}

void qsort_r(void *array, size_t count, size_t size, sort_compare *compare, void *closure)
{
	const struct sort s = {size, compare, closure};
	uint8_t *room = count > 1 ? malloc(count * size) : NULL;

	if (count < 2)
		return;
	/* Nobody could be told; the page makes a new instance. */
	if (!room)
		abort();
	sort_part(&s, array, count, room);
	free(room);
}

static int sort_plain(const void *a, const void *b, void *closure)
{
	int (**compare)(const void *, const void *) = closure;

	return (*compare)(a, b);
}

void qsort(void *array, size_t count, size_t size, int (*compare)(const void *a, const void *b))
{
	qsort_r(array, count, size, sort_plain, &compare);
}
