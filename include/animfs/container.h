/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * container.h - an archive: the list of its members, and their bytes.
 *
 * A container is a kind of archive, as a codec is a format. `list` reads the archive's tables and
 * nothing else, so that an archive of gigabytes opens at once; `read` unpacks one member. Neither
 * trusts a byte. An archive whose tables are damaged is refused with ERR_FORMAT, the byte offset
 * and the reason; a member that cannot be read is refused, and the others are not.
 *
 * Archives are read through a struct input, part of a file or of memory, so that a member of one
 * can be an archive itself. No archive is ever written.
 */
#ifndef ANIMFS_CONTAINER_H
#define ANIMFS_CONTAINER_H

#include "animfs/base.h"

/* ---- input ---- */

/* A range of a file, or of memory. Copied by value; owns neither. */
struct input {
	int fd; /* read with pread; -1: memory */
	const uint8_t *data;
	uint64_t at; /* of the range, in the file */
	uint64_t size;
};

/* All of a regular file that is open for reading. */
bool input_of_file(int fd, struct input *out, struct err *err);
struct input input_of_bytes(struct bytes bytes);
/* Is [at, at + size) inside? Never overflows. */
bool input_holds(const struct input *in, uint64_t at, uint64_t size);
/* Makes a range that is inside an input of its own. */
struct input input_range(const struct input *in, uint64_t at, uint64_t size);
/* Reads a range; ERR_FORMAT if it is not inside. Thread-safe. */
bool input_read(const struct input *in, uint64_t at, void *out, size_t size, struct err *err);

/* ---- members ---- */

#define MEMBER_UNSIZED UINT64_MAX

struct member {
	const char *folder; /* as stored, parts separated by '/'; "": at the top */
	const char *name;   /* as stored, any '/' included; NULL: this is only a folder */
	uint64_t at;        /* of its bytes in the archive, or its number there */
	uint64_t stored;    /* bytes in the archive */
	uint64_t size;      /* bytes unpacked; MEMBER_UNSIZED: see archive_measure */
	int64_t time;       /* seconds since 1970; 0: none is stored */
	const char *fault;  /* the reason why it cannot be read; NULL: it may be readable */
	bool packed;        /* false: its bytes are stored as they are */
};

/* ---- archives ---- */

struct archive {
	const struct container *container;
	struct input in;
	struct arena arena; /* all of the list is in it */
	size_t limit;       /* bytes of memory that `list` may use */
	struct member *members;
	uint32_t count;
	void *own; /* the container's, freed by its `close` */
};

struct container {
	const char *name;            /* "cpk" */
	const char *const *patterns; /* of file names: "*" and a suffix in any case; then NULL */
	/* Sets members and count. */
	bool (*list)(struct archive *a, struct err *err);
	/* Sets the size and `packed` of a member whose size is not in the tables; may be NULL. */
	bool (*measure)(const struct archive *a, struct member *m, struct err *err);
	/* Appends m->size bytes, unpacked; only for members that are packed. Thread-safe. */
	bool (*read)(const struct archive *a, const struct member *m, struct buf *out,
		     struct err *err);
	void (*close)(struct archive *a); /* may be NULL */
	/*
	 * Appends the archive `old`, opened with `limit`, with other bytes for a member. The game
	 * opens such an archive as a whole, so its members have no loose files. NULL: they have.
	 */
	bool (*replace)(struct bytes old, size_t limit, uint32_t number, struct bytes bytes,
			struct buf *out, struct err *err);
};

/* Longer stored names are refused. */
#define CONTAINER_NAME_MAX 4095

extern const struct container *const containers[]; /* ends with NULL */

const struct container *container_for_name(const char *file_name); /* by pattern, or NULL */

/*
 * Opens an archive and lists it, using at most `limit` bytes of memory for the list. The file or
 * memory of `in` must stay until archive_close. NULL, with err set, on failure.
 */
struct archive *archive_open(const struct container *container, const struct input *in,
			     size_t limit, struct err *err);
void archive_close(struct archive *a); /* NULL is fine */
/* The unpacked size. Reads the member's first bytes if the tables do not have it. */
bool archive_measure(const struct archive *a, uint32_t member, uint64_t *size, struct err *err);
/* Appends a member to `out`. One of more than `limit` bytes is refused before it is unpacked. */
bool archive_read(const struct archive *a, uint32_t member, size_t limit, struct buf *out,
		  struct err *err);
/*
 * A member as an input: a range of the archive's own, or, if it is packed, of `room`, into which it
 * is unpacked. The caller keeps `room` as long as the input.
 */
bool archive_input(const struct archive *a, uint32_t member, size_t limit, struct buf *room,
		   struct input *out, struct err *err);

/* Makes room for that many members, within the archive's limit. */
bool archive_room(struct archive *a, uint64_t count, struct err *err);

#endif
