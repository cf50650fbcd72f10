/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "text.h"

#include "util/later.h"

#include <stdlib.h>

struct text {
	struct later later;
	_Atomic unsigned references;
	struct buf bytes;
};

struct text *text_new(struct buf *bytes)
{
	struct text *t = bytes->failed ? NULL : malloc(sizeof(*t));

	if (!t) {
		buf_release(bytes);
		return NULL;
	}
	*t = (struct text){.references = 1, .bytes = *bytes};
	*bytes = (struct buf)BUF_INIT;
	return t;
}

struct text *text_get(struct text *t)
{
	if (t)
		t->references++;
	return t;
}

static void text_free(struct later *l)
{
	struct text *t = (struct text *)l;

	buf_release(&t->bytes);
	free(t);
}

void text_put(struct text *t)
{
	if (t && --t->references == 0)
		later_free(&t->later, text_free);
}

struct bytes text_bytes(const struct text *t)
{
	return t ? buf_bytes(&t->bytes) : (struct bytes){NULL, 0};
}

size_t text_capacity(const struct text *t)
{
	return t ? t->bytes.capacity : 0;
}

bool text_is_shared(const struct text *t)
{
	return t && t->references > 1;
}

/* Copies a text; `t` may be NULL, which has no bytes. */
static struct text *copy_text(const struct text *t, size_t room)
{
	struct bytes from = text_bytes(t);
	struct buf bytes = BUF_INIT;

	if (!buf_reserve(&bytes, room > from.size ? room : from.size))
		return NULL;
	buf_add(&bytes, from.data, from.size);
	return text_new(&bytes);
}

struct text *text_copy(const struct text *t)
{
	return copy_text(t, 0);
}

struct buf *text_writable(struct text **t, size_t room)
{
	struct text *own;

	if (*t && !text_is_shared(*t)) {
		struct buf *bytes = &(*t)->bytes;

		if (room <= bytes->size || buf_reserve(bytes, room - bytes->size))
			return bytes;
		bytes->failed = false;
		return NULL;
	}
	own = copy_text(*t, room);
	if (!own)
		return NULL;
	text_put(*t);
	*t = own;
	return &own->bytes;
}
