/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "layout.h"

#include <stdlib.h>
#include <string.h>

/*
 * The sides order the parts that share an old position, from front to back. A part placed directly
 * behind another has its side plus 1, except that SIDE_EMPTY stays: parts with it are ordered by
 * rank.
 */
enum { SIDE_EMPTY = 0, SIDE_RUN = 2, SIDE_OLD = 4 };

/* limit on the size of the parts when they are taken apart, as a multiple of the old file's size */
#define APART_LIMIT 4

bool layout_init(struct layout *l, struct arena *arena, struct bytes old, size_t room)
{
	/* Between any two parts there may be one of unknown bytes. */
	room = 2 * room + 1;
	*l = (struct layout){.old = old, .room = room};
	l->parts = arena_alloc(arena, room, sizeof(*l->parts));
	l->row = arena_alloc(arena, room, sizeof(struct part *));
	return l->parts && l->row;
}

struct part *layout_add(struct layout *l, unsigned rank, size_t align, size_t old_at,
			size_t old_size)
{
	struct part *p = &l->parts[l->count];

	l->row[l->count++] = p;
	*p = (struct part){.old_at = old_at, .old_size = old_size, .rank = rank, .align = align};
	return p;
}

static bool part_is_old(const struct part *p)
{
	return p->old_at != LAYOUT_NEW;
}

/*
 * Does the part still have its old bytes? Compares only the address, which is fast and
 * sufficient.
 */
static bool part_untouched(const struct layout *l, const struct part *p)
{
	return part_is_old(p) && p->size == p->old_size && p->data == l->old.data + p->old_at;
}

static bool layout_part_changed(const struct layout *l, const struct part *p)
{
	return !part_untouched(l, p) && memcmp(p->data, l->old.data + p->old_at, p->size) != 0;
}

static int compare_sizes(size_t a, size_t b)
{
	return a < b ? -1 : a > b;
}

static int by_old_place(const void *a, const void *b)
{
	const struct part *p = *(struct part *const *)a, *q = *(struct part *const *)b;
	int order = compare_sizes(p->old_at, q->old_at);

	if (!order)
		order = compare_sizes(p->old_size, q->old_size);
	if (!order)
		order = compare_sizes(p->rank, q->rank);
	return order ? order : compare_sizes(p->old_order, q->old_order);
}

static int by_spot(const void *a, const void *b)
{
	const struct part *p = *(struct part *const *)a, *q = *(struct part *const *)b;
	int order = compare_sizes(p->spot.at, q->spot.at);

	if (!order)
		order = compare_sizes(p->spot.side, q->spot.side);
	if (!order)
		order = compare_sizes(p->rank, q->rank);
	return order ? order : compare_sizes(p->order, q->order);
}

/* Returns the first old part of a rank if all of them are adjacent and in order, otherwise NULL. */
static const struct part *find_run(const struct layout *l, unsigned rank)
{
	const struct part *first = NULL, *last = NULL;
	size_t i;

	for (i = 0; i < l->count; i++) {
		const struct part *p = l->row[i];

		if (p->rank != rank || !part_is_old(p) || p->old_size == 0)
			continue;
		if (last &&
		    (p->old_at != last->old_at + last->old_size || p->old_order < last->old_order))
			return NULL;
		if (!first)
			first = p;
		last = p;
	}
	return first;
}

/*
 * Must the parts of this rank be moved? True if the format requires their order, the old file had
 * it, and the new parts would not have it in their old places.
 */
static bool order_changed(const struct layout *l, unsigned rank)
{
	const struct part *before = NULL;
	size_t i;

	if (!(l->ordered >> rank & 1) || !find_run(l, rank))
		return false;
	for (i = 0; i < l->count; i++) {
		if (l->row[i]->rank != rank || l->row[i]->size == 0)
			continue;
		if (before && l->row[i]->order < before->order)
			return true;
		before = l->row[i];
	}
	return false;
}

bool layout_stay(struct layout *l)
{
	unsigned rank;
	size_t i;

	for (i = 0; i < l->count; i++) {
		struct part *p = &l->parts[i];

		if (!part_is_old(p) || p->size != p->old_size)
			return false;
		p->at = p->old_at;
	}
	qsort(l->row, l->count, sizeof(struct part *), by_old_place);
	for (rank = 0; rank < LAYOUT_RANKS; rank++)
		if (order_changed(l, rank))
			return false;
	l->size = l->old.size;
	return true;
}

bool layout_clash(const struct layout *l)
{
	size_t end = 0, changed_end = 0, i;

	for (i = 0; i < l->count; i++) {
		const struct part *p = l->row[i];
		bool changed;

		if (p->size == 0)
			continue;
		changed = layout_part_changed(l, p);
		if (p->old_at < (changed ? end : changed_end))
			return true;
		if (p->old_at + p->size > end)
			end = p->old_at + p->size;
		if (changed)
			changed_end = end;
	}
	return false;
}

/* ---- packing ---- */

/* Adds unknown bytes as a part of their own, without the padding of the part behind them. */
static void add_gap(struct layout *l, size_t from, struct part *next)
{
	size_t to = next ? next->old_at : l->old.size;
	struct part *gap;

	if (next && next->old_at % next->align == 0) {
		while (to > from && next->pad + 1 < next->align && l->old.data[to - 1] == 0) {
			to--;
			next->pad++;
		}
	}
	if (to == from)
		return;
	gap = layout_add(l, LAYOUT_RANKS, 1, from, to - from);
	gap->data = l->old.data + from;
	gap->size = to - from;
	gap->spot = (struct spot){from, SIDE_OLD};
}

/* Finds the gaps between parts; the row is sorted by old place. */
static void find_gaps(struct layout *l)
{
	size_t end = 0, count = l->count, i;

	for (i = 0; i < count; i++) {
		struct part *p = l->row[i];

		if (!part_is_old(p) || p->old_size == 0)
			continue;
		if (p->old_at > end)
			add_gap(l, end, p);
		if (p->old_at + p->old_size > end)
			end = p->old_at + p->old_size;
	}
	if (end < l->old.size)
		add_gap(l, end, NULL);
}

/* Returns the last old part of a rank, preferably of those that were not empty. */
static const struct part *find_last(const struct layout *l, unsigned rank)
{
	const struct part *last = NULL;
	size_t i;

	for (i = 0; i < l->count; i++) {
		const struct part *p = l->row[i];

		if (p->rank == rank && part_is_old(p) && (p->old_size || !last || !last->old_size))
			last = p;
	}
	return last;
}

static struct spot own_spot(const struct part *p)
{
	return (struct spot){p->old_at, p->old_size ? SIDE_OLD : SIDE_EMPTY};
}

static struct spot spot_after(struct spot s)
{
	return (struct spot){s.at, s.side == SIDE_EMPTY ? SIDE_EMPTY : s.side + 1};
}

/* Determines the places of the parts of one rank; new ones go behind *anchor. */
static void find_spots(struct layout *l, unsigned rank, struct spot *anchor)
{
	const struct part *last = find_last(l, rank), *run = NULL;
	bool together = false;
	size_t i;

	if (l->ordered >> rank & 1) {
		run = find_run(l, rank);
		together = run || !last || !last->old_size;
	}
	if (run)
		*anchor = (struct spot){run->old_at, SIDE_RUN};
	else if (last && !together)
		*anchor = own_spot(last);
	for (i = 0; i < l->count; i++) {
		struct part *p = &l->parts[i];

		if (p->rank != rank)
			continue;
		if (run)
			p->spot = *anchor;
		else if (part_is_old(p) && !together)
			p->spot = own_spot(p);
		else
			p->spot = spot_after(*anchor);
	}
}

/*
 * Can overlapping parts be taken apart? Each is then written once; limits the growth of the
 * file.
 */
static bool can_part(const struct layout *l, struct err *err)
{
	size_t limit = APART_LIMIT * l->old.size, i;

	for (i = 0; i < l->count; i++) {
		const struct part *p = &l->parts[i];

		if (!part_untouched(l, p))
			continue;
		if (p->size > limit)
			return err_set(
				err, ERR_STORE,
				"the blocks of this file overlap too often to be rearranged");
		limit -= p->size;
	}
	return true;
}

bool layout_pack(struct layout *l, struct err *err)
{
	struct spot anchor = {0, SIDE_EMPTY};
	unsigned rank;
	size_t i;

	if (!can_part(l, err))
		return false;
	qsort(l->row, l->count, sizeof(struct part *), by_old_place);
	for (rank = 0; rank < LAYOUT_RANKS; rank++)
		find_spots(l, rank, &anchor);
	find_gaps(l);
	qsort(l->row, l->count, sizeof(struct part *), by_spot);
	l->size = 0;
	for (i = 0; i < l->count; i++) {
		struct part *p = l->row[i];

		p->at = l->size;
		if (p->size == 0)
			continue;
		if (part_is_old(p) && l->size + p->pad == p->old_at)
			p->at = p->old_at;
		else
			p->at = (l->size + p->align - 1) & ~(p->align - 1);
		l->size = p->at + p->size;
	}
	l->packed = true;
	return true;
}

static void write_packed(const struct layout *l, struct buf *out)
{
	size_t start = out->size, i;

	buf_reserve(out, l->size);
	for (i = 0; i < l->count; i++) {
		const struct part *p = l->row[i];

		if (!p->size)
			continue;
		buf_zero(out, start + p->at - out->size);
		buf_add(out, p->data, p->size);
	}
}

void layout_write(const struct layout *l, struct buf *out)
{
	size_t start = out->size, i;

	if (l->packed) {
		write_packed(l, out);
		return;
	}
	buf_add(out, l->old.data, l->old.size);
	for (i = 0; !out->failed && i < l->count; i++) {
		const struct part *p = &l->parts[i];

		if (p->size && !part_untouched(l, p))
			memcpy(out->data + start + p->at, p->data, p->size);
	}
}
