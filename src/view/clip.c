/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "clip.h"

#include <math.h>
#include <string.h>

struct field *clip_edit_field(struct anim *a, struct clip *c, const char *name, bool *found)
{
	struct field *fields;
	uint32_t i = 0;

	while (i < c->field_count && strcmp(c->fields[i].name, name) != 0)
		i++;
	*found = i < c->field_count;
	if (!*found)
		return NULL;
	fields = arena_alloc(&a->arena, c->field_count, sizeof(*fields));
	if (!fields)
		return NULL;
	memcpy(fields, c->fields, c->field_count * sizeof(*fields));
	c->fields = fields;
	return &fields[i];
}

bool clip_set_loop(struct anim *a, struct clip *c, bool loop)
{
	bool found;
	struct field *field = clip_edit_field(a, c, "loop", &found);

	if (found && !field)
		return false;
	if (field)
		field->integer = loop;
	c->loop = loop;
	return true;
}

void clip_follow_duration(const struct anim *a, struct clip *c)
{
	float duration = a->format->has_frame_time
				 ? c->frame_time * (float)(c->frames - 1)
				 : (float)((c->frames - 1) * anim_seconds_per_frame(a, c));

	if (a->format->has_duration && c->frames > 0 && isfinite(duration))
		c->duration = duration;
}

void clip_follow_frame_time(const struct anim *a, struct clip *c)
{
	if (a->format->has_frame_time && a->format->has_duration && c->frames > 1)
		c->frame_time = c->duration / (float)(c->frames - 1);
}
