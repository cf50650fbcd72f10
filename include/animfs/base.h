/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * base.h - bytes in, bytes out, memory, errors: used by every other file.
 *
 * Ownership, for the whole program: the caller of x_new, x_load or x_get owns the result (x_free,
 * x_put). A pointer to const that a function returns belongs to the object passed to it. x_init
 * makes a struct usable, x_release frees what it holds, x_clear empties it for reuse.
 */
#ifndef ANIMFS_BASE_H
#define ANIMFS_BASE_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

/*
 * Makes room for one more element in an array that grows: returns the array, or its replacement of
 * twice the size. Returns NULL when out of memory; the array is unchanged then. *room is the
 * array's capacity, 0 at first.
 */
void *array_grow(void *array, size_t *room, size_t size);
static inline void *array_room(void *array, size_t count, size_t *room, size_t size)
{
	return count < *room ? array : array_grow(array, room, size);
}

/* Bytes that belong to another object. data may be NULL if size is 0. */
struct bytes {
	const uint8_t *data;
	size_t size;
};

struct bytes bytes_of(const char *text);
bool bytes_equal(struct bytes a, struct bytes b);

/*
 * An error: the reason, the place, and the form that would be accepted. The first failure wins:
 * err_set on a struct that already holds one changes nothing. Positions are byte offsets into the
 * text or the file at hand; the edge of the program turns them into line and column (err_locate).
 */
enum err_code {
	ERR_NONE,
	ERR_MEMORY,   /* out of memory */
	ERR_SYSTEM,   /* a system call failed; `number` is its errno */
	ERR_FORMAT,   /* the file's bytes are invalid in its format */
	ERR_UNKNOWN,  /* the file's bytes are of no known format */
	ERR_TEXT,     /* the text does not parse, or has a value that is not allowed */
	ERR_STORE,    /* the text parses, but the format cannot store its values */
	ERR_CONFLICT, /* another program changed the same curve in the meantime */
	ERR_OPERAND,  /* the operand does not exist, or is of the wrong kind */
	ERR_EARLY,    /* the only fault is that the text ends too early */
	ERR_EMPTY,    /* the text is empty, or a header without rows although the curve has keys */
};

struct err {
	enum err_code code;
	int number;          /* errno for ERR_SYSTEM, otherwise 0 */
	bool placed;         /* at and length are set */
	size_t at;           /* byte offset of the fault */
	size_t length;       /* length of the faulty text; 0: the fault is a place, not a text */
	size_t line, column; /* line and column of `at`, in a text file; 0: unknown */
	char cell[12];       /* the faulty cell of a table, as spreadsheets count: "C12"; or "" */
	char heading[48];    /* heading of the faulty cell's column; or "" */
	char message[320];   /* the reason, without full stop and newline */
	char accepted[320];  /* the form that would be accepted; "" if the message has it */
};

/* The err_ functions return false, so that a caller can `return err_...(...)`. err may be NULL. */
bool err_set(struct err *err, enum err_code code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
bool err_at(struct err *err, enum err_code code, size_t at, size_t length, const char *format, ...)
	__attribute__((format(printf, 5, 6)));
bool err_system(struct err *err, int number, const char *what);
bool err_memory(struct err *err);
/* Copies another error. */
void err_copy(struct err *err, const struct err *from);
/* Adds the form that would be accepted to the error just set. Returns false. */
bool err_accept(struct err *err, const char *format, ...) __attribute__((format(printf, 2, 3)));
void err_clear(struct err *err);

struct position {
	size_t line, column; /* line and column, counted from 1; columns count characters (UTF-8) */
	size_t begin, end;   /* the line's bytes, without its line end */
};
/*
 * Converts a byte offset to a line and column. In a text in UTF-16 with a byte order mark, offsets
 * count bytes of the text's UTF-8 form (util/utf8.h).
 */
struct position err_locate(struct bytes text, size_t at);

/*
 * A reader of little-endian numbers that goes bad and stays bad: read everything that you need,
 * then check `bad` once. A read past the end gives 0.
 */
struct reader {
	struct bytes src;
	size_t at;
	bool bad;
};

struct reader reader_at(struct bytes src, size_t at);
uint8_t read_u8(struct reader *r);
uint16_t read_u16(struct reader *r);
uint32_t read_u32(struct reader *r);
/* Returns whether [at, at + count * size) is inside src. Never overflows. */
bool bytes_hold(struct bytes src, uint64_t at, uint64_t count, uint64_t size);

/* Read and write little-endian numbers without checks, at places whose bounds were checked. */
static inline uint16_t get_u16(const uint8_t *p)
{
	return (uint16_t)(p[0] | p[1] << 8);
}

static inline uint32_t get_u32(const uint8_t *p)
{
	return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static inline void put_u16(uint8_t *p, uint16_t v)
{
	p[0] = (uint8_t)v;
	p[1] = (uint8_t)(v >> 8);
}

static inline void put_u32(uint8_t *p, uint32_t v)
{
	put_u16(p, (uint16_t)v);
	put_u16(p + 2, (uint16_t)(v >> 16));
}

/*
 * f32_bits returns the bits of a float; f32_same compares by them: NaN equals itself, -0 differs
 * from 0.
 */
static inline uint32_t f32_bits(float v)
{
	uint32_t bits;

	memcpy(&bits, &v, sizeof(bits));
	return bits;
}

static inline float f32_from_bits(uint32_t bits)
{
	float v;

	memcpy(&v, &bits, sizeof(v));
	return v;
}

static inline bool f64_same(double a, double b)
{
	return memcmp(&a, &b, sizeof(a)) == 0;
}

static inline float get_f32(const uint8_t *p)
{
	return f32_from_bits(get_u32(p));
}

static inline void put_f32(uint8_t *p, float v)
{
	put_u32(p, f32_bits(v));
}

/* A growing writer; after a failed allocation nothing more is written and `failed` stays set. */
struct buf {
	uint8_t *data;
	size_t size, capacity;
	bool failed;
	size_t limit; /* exceeding this size counts as a failed allocation; 0: no limit */
	bool full;    /* `failed` was set because of `limit` */
};
#define BUF_INIT                                                                                   \
	{                                                                                          \
		NULL, 0, 0, false, 0, false                                                        \
	}

bool buf_reserve(struct buf *b, size_t more); /* makes room for `more` bytes after size */
void buf_add(struct buf *b, const void *data, size_t size);
void buf_text(struct buf *b, const char *text);
void buf_char(struct buf *b, char c);
void buf_format(struct buf *b, const char *format, ...) __attribute__((format(printf, 2, 3)));
void buf_vformat(struct buf *b, const char *format, va_list args)
	__attribute__((format(printf, 2, 0)));
/*
 * Replaces control characters from offset `at` on by '?', so that an added name stays on one line.
 */
void buf_one_line(struct buf *b, size_t at);
/* Like buf_format, but appends one line: control characters become '?', and a newline is added. */
void buf_line(struct buf *b, const char *format, ...) __attribute__((format(printf, 2, 3)));
void buf_zero(struct buf *b, size_t count);
void buf_align(struct buf *b, size_t alignment); /* pads with zero bytes */
void buf_u16(struct buf *b, uint16_t v);
void buf_u32(struct buf *b, uint32_t v);
void buf_f32(struct buf *b, float v);
struct bytes buf_bytes(const struct buf *b);
void buf_clear(struct buf *b);   /* sets size to 0, and keeps the memory */
void buf_release(struct buf *b); /* frees the memory; the buf is usable again, as an empty one */

/*
 * Memory that is freed as a whole. Allocations are zeroed and aligned for any type; NULL when out
 * of memory, and then `failed` stays set, so that a long construction can check it once.
 */
struct arena {
	struct arena_chunk *chunks;
	size_t total; /* bytes of memory that the arena holds */
	bool failed;
};
#define ARENA_INIT                                                                                 \
	{                                                                                          \
		NULL, 0, false                                                                     \
	}

/* allocates count * size bytes, checked for overflow */
void *arena_alloc(struct arena *a, size_t count, size_t size);
/* returns a NUL-terminated copy */
char *arena_text(struct arena *a, const char *text, size_t size);
char *arena_format(struct arena *a, const char *format, ...) __attribute__((format(printf, 2, 3)));
void arena_release(struct arena *a);

#endif
