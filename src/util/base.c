/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "animfs/base.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct bytes bytes_of(const char *text)
{
	return (struct bytes){(const uint8_t *)text, strlen(text)};
}

bool bytes_equal(struct bytes a, struct bytes b)
{
	return a.size == b.size && (a.size == 0 || memcmp(a.data, b.data, a.size) == 0);
}

bool bytes_hold(struct bytes src, uint64_t at, uint64_t count, uint64_t size)
{
	if (at > src.size)
		return false;
	return size == 0 || count <= (src.size - at) / size;
}

/* ---- errors ---- */

static bool err_free(const struct err *err)
{
	return err && err->code == ERR_NONE;
}

/* Sets the error, unless an earlier one is set, which stays; always returns false. */
static bool err_write(struct err *err, enum err_code code, const char *format, va_list args)
{
	if (!err_free(err))
		return false;
	err->code = code;
	vsnprintf(err->message, sizeof(err->message), format, args);
	return true;
}

bool err_set(struct err *err, enum err_code code, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	err_write(err, code, format, args);
	va_end(args);
	return false;
}

bool err_at(struct err *err, enum err_code code, size_t at, size_t length, const char *format, ...)
{
	va_list args;
	bool first;

	va_start(args, format);
	first = err_write(err, code, format, args);
	va_end(args);
	if (first) {
		err->placed = true;
		err->at = at;
		err->length = length;
	}
	return false;
}

bool err_system(struct err *err, int number, const char *what)
{
	if (!err_free(err))
		return false;
	err_set(err, number == ENOMEM ? ERR_MEMORY : ERR_SYSTEM, "%s: %s", what, strerror(number));
	err->number = number;
	return false;
}

bool err_memory(struct err *err)
{
	return err_system(err, ENOMEM, "animfs");
}

bool err_accept(struct err *err, const char *format, ...)
{
	va_list args;

	if (!err || err->accepted[0])
		return false;
	va_start(args, format);
	vsnprintf(err->accepted, sizeof(err->accepted), format, args);
	va_end(args);
	return false;
}

void err_copy(struct err *err, const struct err *from)
{
	if (err_free(err))
		*err = *from;
}

void err_clear(struct err *err)
{
	*err = (struct err){.code = ERR_NONE};
}

/* ---- reading bytes ---- */

struct reader reader_at(struct bytes src, size_t at)
{
	return (struct reader){src, at, at > src.size};
}

/* Returns the next `size` bytes, or NULL once the reader is bad. */
static const uint8_t *reader_take(struct reader *r, size_t size)
{
	const uint8_t *p;

	if (r->bad || size > r->src.size - r->at) {
		r->bad = true;
		return NULL;
	}
	p = r->src.data + r->at;
	r->at += size;
	return p;
}

uint8_t read_u8(struct reader *r)
{
	const uint8_t *p = reader_take(r, 1);

	return p ? *p : 0;
}

uint16_t read_u16(struct reader *r)
{
	const uint8_t *p = reader_take(r, 2);

	return p ? get_u16(p) : 0;
}

uint32_t read_u32(struct reader *r)
{
	const uint8_t *p = reader_take(r, 4);

	return p ? get_u32(p) : 0;
}

/* ---- arrays ---- */

void *array_grow(void *array, size_t *room, size_t size)
{
	size_t more = *room ? 2 * *room : 16;

	array = reallocarray(array, more, size);
	if (array)
		*room = more;
	return array;
}

/* ---- writing bytes ---- */

bool buf_reserve(struct buf *b, size_t more)
{
	size_t capacity;
	uint8_t *data;

	if (b->failed)
		return false;
	if (more <= b->capacity - b->size)
		return true;
	if (more > (b->limit ? b->limit : SIZE_MAX / 2) - b->size) {
		b->failed = b->full = true;
		return false;
	}
	capacity = b->size + more;
	if (capacity < b->capacity + b->capacity / 2)
		capacity = b->capacity + b->capacity / 2;
	if (capacity < 256)
		capacity = 256;
	if (b->limit && capacity > b->limit)
		capacity = b->limit;
	data = realloc(b->data, capacity);
	if (!data) {
		b->failed = true;
		return false;
	}
	b->data = data;
	b->capacity = capacity;
	return true;
}

void buf_add(struct buf *b, const void *data, size_t size)
{
	if (size == 0 || !buf_reserve(b, size))
		return;
	memcpy(b->data + b->size, data, size);
	b->size += size;
}

void buf_text(struct buf *b, const char *text)
{
	buf_add(b, text, strlen(text));
}

void buf_char(struct buf *b, char c)
{
	buf_add(b, &c, 1);
}

void buf_one_line(struct buf *b, size_t at)
{
	for (; at < b->size; at++) {
		if (b->data[at] < ' ' || b->data[at] == 0x7f)
			b->data[at] = '?';
	}
}

void buf_vformat(struct buf *b, const char *format, va_list args)
{
	va_list again;
	int size;

	va_copy(again, args);
	size = vsnprintf(NULL, 0, format, again);
	va_end(again);
	if (size < 0 || !buf_reserve(b, (size_t)size + 1)) {
		b->failed = true;
		return;
	}
	vsnprintf((char *)b->data + b->size, (size_t)size + 1, format, args);
	b->size += (size_t)size;
}

void buf_format(struct buf *b, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	buf_vformat(b, format, args);
	va_end(args);
}

void buf_line(struct buf *b, const char *format, ...)
{
	size_t begin = b->size;
	va_list args;

	va_start(args, format);
	buf_vformat(b, format, args);
	va_end(args);
	buf_one_line(b, begin);
	buf_char(b, '\n');
}

void buf_zero(struct buf *b, size_t count)
{
	if (count == 0 || !buf_reserve(b, count))
		return;
	memset(b->data + b->size, 0, count);
	b->size += count;
}

void buf_align(struct buf *b, size_t alignment)
{
	buf_zero(b, (alignment - b->size % alignment) % alignment);
}

void buf_u16(struct buf *b, uint16_t v)
{
	uint8_t p[2];

	put_u16(p, v);
	buf_add(b, p, sizeof(p));
}

void buf_u32(struct buf *b, uint32_t v)
{
	uint8_t p[4];

	put_u32(p, v);
	buf_add(b, p, sizeof(p));
}

void buf_f32(struct buf *b, float v)
{
	buf_u32(b, f32_bits(v));
}

struct bytes buf_bytes(const struct buf *b)
{
	return (struct bytes){b->data, b->size};
}

void buf_clear(struct buf *b)
{
	b->size = 0;
	b->failed = false;
}

void buf_release(struct buf *b)
{
	free(b->data);
	*b = (struct buf)BUF_INIT;
}

/* ---- memory freed as one thing ---- */

struct arena_chunk {
	struct arena_chunk *next;
	size_t used, size;
	max_align_t data[];
};

#define ARENA_FIRST 4096
#define ARENA_LARGEST ((size_t)1 << 20)

/*
 * Adds a chunk. Each is twice as large as the last, up to a megabyte, so that a small model takes
 * little memory and a large one has few chunks.
 */
static struct arena_chunk *arena_grow(struct arena *a, size_t need)
{
	size_t size = a->chunks ? 2 * a->chunks->size : ARENA_FIRST;
	struct arena_chunk *chunk;

	if (size > ARENA_LARGEST)
		size = ARENA_LARGEST;
	if (size < need)
		size = need;
	chunk = calloc(1, sizeof(*chunk) + size);
	if (!chunk)
		return NULL;
	chunk->size = size;
	chunk->next = a->chunks;
	a->chunks = chunk;
	a->total += sizeof(*chunk) + size;
	return chunk;
}

void *arena_alloc(struct arena *a, size_t count, size_t size)
{
	struct arena_chunk *chunk = a->chunks;
	size_t need;

	if (a->failed)
		return NULL;
	if (__builtin_mul_overflow(count, size, &need) || need > SIZE_MAX / 4) {
		a->failed = true;
		return NULL;
	}
	need = (need + sizeof(max_align_t) - 1) / sizeof(max_align_t) * sizeof(max_align_t);
	if (need == 0)
		need = sizeof(max_align_t);
	if (!chunk || need > chunk->size - chunk->used)
		chunk = arena_grow(a, need);
	if (!chunk) {
		a->failed = true;
		return NULL;
	}
	chunk->used += need;
	return (char *)chunk->data + chunk->used - need;
}

char *arena_text(struct arena *a, const char *text, size_t size)
{
	char *copy = size < SIZE_MAX ? arena_alloc(a, size + 1, 1) : NULL;

	if (copy && size)
		memcpy(copy, text, size);
	return copy;
}

char *arena_format(struct arena *a, const char *format, ...)
{
	va_list args;
	char *text;
	int size;

	va_start(args, format);
	size = vsnprintf(NULL, 0, format, args);
	va_end(args);
	text = size < 0 ? NULL : arena_alloc(a, (size_t)size + 1, 1);
	if (!text)
		return NULL;
	va_start(args, format);
	vsnprintf(text, (size_t)size + 1, format, args);
	va_end(args);
	return text;
}

void arena_release(struct arena *a)
{
	while (a->chunks) {
		struct arena_chunk *next = a->chunks->next;

		free(a->chunks);
		a->chunks = next;
	}
	*a = (struct arena)ARENA_INIT;
}
