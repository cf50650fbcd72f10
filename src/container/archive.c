/* SPDX-License-Identifier: GPL-3.0-or-later */
/* archive.c - an archive of any kind: opens it, and reads its members. */
#include "containers.h"

#include <stdlib.h>

struct archive *archive_open(const struct container *container, const struct input *in,
			     size_t limit, struct err *err)
{
	struct archive *a = calloc(1, sizeof(*a));

	if (!a) {
		err_memory(err);
		return NULL;
	}
	*a = (struct archive){
		.container = container, .in = *in, .arena = ARENA_INIT, .limit = limit};
	if (container->list(a, err))
		return a;
	archive_close(a);
	return NULL;
}

void archive_close(struct archive *a)
{
	if (!a)
		return;
	if (a->container->close)
		a->container->close(a);
	arena_release(&a->arena);
	free(a);
}

bool archive_room(struct archive *a, uint64_t count, struct err *err)
{
	if (count >= UINT32_MAX || count > a->limit / sizeof(*a->members))
		return err_set(err, ERR_FORMAT,
			       "a list of %llu members takes more memory than %zu bytes, the limit",
			       (unsigned long long)count, a->limit);
	a->members = arena_alloc(&a->arena, (size_t)count, sizeof(*a->members));
	return a->members || err_memory(err);
}

bool member_fault(struct err *err, const struct err *why, const struct member *m)
{
	if (err && err->code == ERR_NONE) {
		*err = *why;
		err->at += (size_t)m->at;
	}
	return false;
}

static bool measured(const struct archive *a, uint32_t member, struct member *m, struct err *err)
{
	*m = a->members[member];
	if (m->fault)
		return err_set(err, ERR_FORMAT, "%s", m->fault);
	return m->size != MEMBER_UNSIZED || a->container->measure(a, m, err);
}

bool archive_measure(const struct archive *a, uint32_t member, uint64_t *size, struct err *err)
{
	struct member m;
	bool fine = measured(a, member, &m, err);

	*size = fine ? m.size : 0;
	return fine;
}

static bool archive_check_limit(const struct member *m, size_t limit, struct err *err)
{
	return m->size <= limit ||
	       err_set(err, ERR_FORMAT, "%llu bytes unpacked are more than %zu, the limit",
		       (unsigned long long)m->size, limit);
}

static bool archive_read_member(const struct archive *a, const struct member *m, struct buf *out,
				struct err *err)
{
	size_t before = out->size;

	if (m->size == 0 && !m->packed)
		return true;
	if (!m->packed) {
		if (!buf_reserve(out, (size_t)m->size))
			return err_memory(err);
		if (!input_read(&a->in, m->at, out->data + before, (size_t)m->size, err))
			return false;
		out->size += (size_t)m->size;
		return true;
	}
	if (a->container->read(a, m, out, err) && !out->failed)
		return true;
	out->size = before;
	return err_memory(err);
}

bool archive_read(const struct archive *a, uint32_t member, size_t limit, struct buf *out,
		  struct err *err)
{
	struct member m;

	return measured(a, member, &m, err) && archive_check_limit(&m, limit, err) &&
	       archive_read_member(a, &m, out, err);
}

bool archive_input(const struct archive *a, uint32_t member, size_t limit, struct buf *room,
		   struct input *out, struct err *err)
{
	struct member m;

	if (!measured(a, member, &m, err))
		return false;
	if (!m.packed && input_holds(&a->in, m.at, m.size)) {
		*out = input_range(&a->in, m.at, m.size);
		return true;
	}
	if (!archive_check_limit(&m, limit, err) || !archive_read_member(a, &m, room, err))
		return false;
	*out = input_of_bytes(buf_bytes(room));
	return true;
}
