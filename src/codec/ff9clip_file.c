/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ff9clip_file.c - the model-independent form of a clip, read from either form of a file. */
#include "ff9clip_file.h"

#include <stdlib.h>

struct clip_curve *ff9clip_add(struct ff9clip *f, enum role role, uint32_t keys)
{
	struct clip_curve *curves = array_room(f->curves, f->count, &f->room, sizeof(*curves)), *c;
	size_t size = 4 * (size_t)clip_width(role);

	if (!curves)
		return NULL;
	f->curves = curves;
	c = &curves[f->count];
	*c = (struct clip_curve){.role = role,
				 .before = CLIP_HOLD,
				 .after = CLIP_HOLD,
				 .count = keys,
				 .times = arena_alloc(&f->arena, keys, 4),
				 .values = arena_alloc(&f->arena, keys, size),
				 .tangents = arena_alloc(&f->arena, keys, 2 * size)};
	if (f->arena.failed)
		return NULL;
	f->count++;
	return c;
}

void ff9clip_release(struct ff9clip *f)
{
	doc_release(&f->doc);
	free(f->curves);
	free(f->entries);
	arena_release(&f->arena);
}
