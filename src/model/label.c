/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "label.h"

#include "bones.h"
#include "names.h"

#include <string.h>

const char *const label_view_files[] = {
	"raw.", "file.json", "skeleton.csv", "frames.csv", "parts.csv", "file.html", NULL};

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

/* Is `label` a fixed file name in the folder that contains the clips' folders? */
static bool label_is_view_file(const char *label)
{
	for (const char *const *name = label_view_files; *name; name++) {
		size_t length = strlen(*name);

		if ((*name)[length - 1] == '.' ? strncmp(label, *name, length) == 0
					       : strcmp(label, *name) == 0)
			return true;
	}
	return false;
}

const char *label_new_clip(struct anim *a, uint32_t clip, const char *label, size_t at,
			   size_t length, struct err *err)
{
	const char *name = stored_name(a, label, NAME_LIMIT, at, length, err);

	if (name && label_is_view_file(label)) {
		err_at(err, ERR_TEXT, at, length, "\"%s\" is the name of a view", label);
		name = NULL;
	}
	for (uint32_t i = 0; name && i < a->clip_count; i++) {
		if (i == clip || strcmp(a->clips[i].label, label) != 0)
			continue;
		err_at(err, ERR_TEXT, at, length, "another clip of this file is called \"%s\"",
		       label);
		err_accept(err, "a name that no other clip has");
		name = NULL;
	}
	return name;
}

static const char *refuse_path(const char *label, size_t at, size_t length, struct err *err)
{
	err_at(err, ERR_TEXT, at, length, "\"%s\" is a path, and bones are named by its last part",
	       label);
	err_accept(err, "a name without %%2F; \"name\" in clip.json says the path");
	return NULL;
}

const char *label_bone(struct anim *a, const char *label, size_t at, size_t length, struct err *err)
{
	const char *name = stored_name(a, label, NAME_LIMIT - NAME_SUFFIX_ROOM, at, length, err);
	const char *example;
	uint32_t number;

	if (name && a->format->paths && strchr(name, '/'))
		return refuse_path(label, at, length, err);
	if (!name || !a->format->bone_name || bone_number(a->format, a->bone_names, name, &number))
		return name;
	err_at(err, ERR_STORE, at, length,
	       "%s files store the number of a bone, and \"%s\" has none", a->format->name, name);
	example = bone_name(a->format, NULL, &a->arena, 18);
	err_accept(err, "a name such as \"%s\", or one of bone-names.csv", example ? example : "");
	return NULL;
}
