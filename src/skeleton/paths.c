/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "paths.h"

#include "model/names.h"
#include "util/string_map.h"

#include <stdlib.h>
#include <string.h>

#define DEPTH_MAX 64 /* limit of the parts of a path; bones of deeper paths have no parents */
#define PATH_SIZE_MAX 4096

struct making {
	struct arena arena;
	struct string_map paths, labels; /* numbers of joints, by path and by label */
	struct joint *joints;
	uint32_t count;
	size_t room;
	bool failed;
};

/*
 * Returns a free label for a bone that exists only as a part of paths: its name, or the first free
 * form of it.
 */
static const char *paths_new_label(struct making *m, const char *path)
{
	const char *slash = strrchr(path, '/'), *label;
	struct buf text = BUF_INIT;

	name_escape(slash ? slash + 1 : path, NAME_LIMIT - NAME_SUFFIX_ROOM - 12, &text);
	buf_char(&text, '\0');
	label = text.failed ? NULL : arena_text(&m->arena, (char *)text.data, text.size - 1);
	for (unsigned i = 2; label && string_map_find(&m->labels, label) >= 0; i++)
		label = arena_format(&m->arena, "%s~%u", (char *)text.data, i);
	buf_release(&text);
	return label;
}

static int64_t add_joint(struct making *m, const char *path, const char *label)
{
	struct joint *joints = array_room(m->joints, m->count, &m->room, sizeof(*joints));
	int64_t known = joints ? string_map_add(&m->paths, path, m->count) : -1;

	m->joints = joints ? joints : m->joints;
	if (known >= 0 && known < m->count)
		return known;
	if (known < 0 || !label || string_map_add(&m->labels, label, m->count) < 0) {
		m->failed = true;
		return -1;
	}
	m->joints[m->count] = (struct joint){.bone = label,
					     .parent = JOINT_ROOT,
					     .bare = true,
					     .rest = {[ROLE_SCALE] = {1, 1, 1}}};
	return m->count++;
}

/*
 * Returns the number of the bone at this path, which is made if there is none; -1 when out of
 * memory.
 */
static int64_t joint_at(struct making *m, const char *path)
{
	int64_t known = string_map_find(&m->paths, path);

	return known >= 0 ? known : add_joint(m, path, paths_new_label(m, path));
}

/*
 * Returns whether a path has too many parts. Each part may make a bone, and a hostile file may have
 * thousands of parts.
 */
static bool is_deep(const char *path)
{
	unsigned depth = 0;

	for (const char *p = path; *p; p++)
		depth += *p == '/';
	return depth > DEPTH_MAX || strlen(path) > PATH_SIZE_MAX;
}

static void paths_hang_joint(struct making *m, const char *path)
{
	int64_t joint = joint_at(m, path), above = string_map_find(&m->paths, "");
	const char *slash = is_deep(path) ? NULL : strrchr(path, '/');

	while (slash && joint >= 0 && m->joints[joint].parent == JOINT_ROOT) {
		const char *parent = arena_text(&m->arena, path, (size_t)(slash - path));
		int64_t number = parent ? joint_at(m, parent) : -1;

		if (number < 0) {
			m->failed = true;
			return;
		}
		m->joints[joint].parent = (int32_t)number;
		joint = number;
		path = parent;
		slash = strrchr(path, '/');
	}
	if (!slash && above >= 0 && joint >= 0 && joint != above)
		m->joints[joint].parent = (int32_t)above;
}

static void make_joints(struct making *m, const struct anim *a)
{
	for (uint32_t c = 0; c < a->clip_count; c++)
		for (uint32_t i = 0; i < a->clips[c].track_count && !m->failed; i++)
			add_joint(m, a->clips[c].tracks[i].name, a->clips[c].tracks[i].label);
	for (uint32_t c = 0; c < a->clip_count; c++)
		for (uint32_t i = 0; i < a->clips[c].track_count && !m->failed; i++)
			paths_hang_joint(m, a->clips[c].tracks[i].name);
}

/* Makes the skeleton. Labels are copied, since a skeleton lives longer than a model. */
static struct skeleton *finish(struct making *m)
{
	struct joint *joints = arena_alloc(&m->arena, m->count, sizeof(*joints));

	for (uint32_t i = 0; joints && i < m->count; i++) {
		joints[i] = m->joints[i];
		joints[i].bone = arena_text(&m->arena, joints[i].bone, strlen(joints[i].bone));
	}
	if (joints && !m->arena.failed)
		return skeleton_new(&m->arena, joints, m->count);
	return NULL;
}

struct skeleton *skeleton_of_paths(const struct anim *a)
{
	struct making m = {.arena = ARENA_INIT};
	struct skeleton *s = NULL;

	make_joints(&m, a);
	if (!m.failed)
		s = finish(&m);
	if (!s)
		arena_release(&m.arena);
	string_map_release(&m.paths);
	string_map_release(&m.labels);
	free(m.joints);
	return s;
}
