/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "label.h"

#include "bones.h"
#include "names.h"

static bool refuse_label(const char *label, size_t limit, size_t at, size_t length, struct err *err)
{
	struct buf right = BUF_INIT;

	name_escape(label, limit, &right);
	buf_char(&right, '\0');
	err_at(err, ERR_TEXT, at, length, "\"%s\" cannot be the file name of a clip or bone",
	       label);
	if (!right.failed)
		err_accept(err, "\"%s\"", (const char *)right.data);
	buf_release(&right);
	return false;
}

static const char *stored_name(struct anim *a, const char *label, size_t limit, size_t at,
			       size_t length, struct err *err)
{
	struct buf stored = BUF_INIT, again = BUF_INIT;
	bool possible = name_unescape(label, &stored);
	const char *name = arena_text(&a->arena, (const char *)stored.data, stored.size);

	if (name)
		name_escape(name, limit, &again);
	possible = possible && bytes_equal(buf_bytes(&again), bytes_of(label));
	a->arena.failed |= stored.failed || again.failed;
	buf_release(&stored);
	buf_release(&again);
	if (a->arena.failed)
		err_memory(err);
	else if (possible || refuse_label(label, limit, at, length, err))
		return name;
	return NULL;
}

const char *label_clip(struct anim *a, const char *label, size_t at, size_t length, struct err *err)
{
	return stored_name(a, label, NAME_LIMIT, at, length, err);
}

const char *label_bone(struct anim *a, const char *label, size_t at, size_t length, struct err *err)
{
	const char *name = stored_name(a, label, NAME_LIMIT - NAME_SUFFIX_ROOM, at, length, err);
	const char *example;
	uint32_t number;

	if (!name || !a->format->bone_name || bone_number(a->format, a->bone_names, name, &number))
		return name;
	err_at(err, ERR_STORE, at, length,
	       "%s files store the number of a bone, and \"%s\" has none", a->format->name, name);
	example = bone_name(a->format, NULL, &a->arena, 18);
	err_accept(err, "a name such as \"%s\", or one of bone-names.csv", example ? example : "");
	return NULL;
}
