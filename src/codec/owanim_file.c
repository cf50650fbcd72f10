/* SPDX-License-Identifier: GPL-3.0-or-later */
/* owanim_file.c - finds the lists of a table entry. */
#include "owanim_file.h"

bool owanim_follow(const struct owanim *f, uint32_t entry, unsigned field, uint64_t *at)
{
	int64_t from = (int64_t)f->table_at + (int64_t)entry * ENTRY_SIZE;
	int64_t to = from + 4 * (int64_t)(int32_t)get_u32(owanim_entry(f, entry) + 8 + 4 * field);

	*at = to < 0 ? f->src.size : (uint64_t)to;
	return to >= 0;
}

struct owlist owanim_list(const struct owanim *f, uint32_t entry, enum list_kind kind)
{
	struct owlist list = {.count = get_u16(owanim_entry(f, entry) + 2 * kind)};
	uint64_t at;

	if (list.count == 0)
		return list;
	list.wide = owanim_wide(&f->fit, list.count);
	owanim_follow(f, entry, kind, &at);
	list.index = f->src.data + at;
	owanim_follow(f, entry, LIST_COUNT + kind, &at);
	list.data = f->src.data + at;
	return list;
}
