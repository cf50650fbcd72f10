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
	int fd; /* the range is of this file, read with pread; -1: it is of memory */
	const uint8_t *data;
	uint64_t at; /* offset of the range in the file */
	uint64_t size;
};

/* Makes an input of all of a regular file that is open for reading. */
bool input_of_file(int fd, struct input *out, struct err *err);
struct input input_of_bytes(struct bytes bytes);
/* Returns whether [at, at + size) is inside the input. Never overflows. */
bool input_holds(const struct input *in, uint64_t at, uint64_t size);
/* Returns a range of an input as an input of its own. The range must be inside. */
struct input input_range(const struct input *in, uint64_t at, uint64_t size);
/* Reads a range. ERR_FORMAT if the range is not inside the input. Thread-safe. */
bool input_read(const struct input *in, uint64_t at, void *out, size_t size, struct err *err);

/* ---- members ---- */

#define MEMBER_UNSIZED UINT64_MAX

struct member {
	const char *folder; /* folder as stored, parts separated by '/'; "": at the top */
	const char *name; /* name as stored, with any '/' in it; NULL: the entry is only a folder */
	uint64_t at;      /* offset of the member's bytes in the archive, or its number there */
	uint64_t stored;  /* size in the archive, in bytes */
	uint64_t size;    /* size unpacked, in bytes; MEMBER_UNSIZED: see archive_measure */
	int64_t time;     /* seconds since 1970; 0: none is stored */
	const char *fault; /* the reason why the member cannot be read; NULL: it may be readable */
	bool packed;       /* false: the member's bytes are stored as they are */
};

/* ---- archives ---- */

struct archive {
	const struct container *container;
	struct input in;
	struct arena arena; /* memory of the whole list of members */
	size_t limit;       /* bytes of memory that `list` may use */
	struct member *members;
	uint32_t count;
	void *own; /* private to the container, freed by its `close` */
};

struct container {
	const char *name; /* name of the kind: "cpk" */
	/* patterns of file names: "*" and an extension, ".NAME", in any case; ends with NULL */
	const char *const *patterns;
	/* Lists the members: sets `members` and `count`. */
	bool (*list)(struct archive *a, struct err *err);
	/*
	 * Sets `size` and `packed` of a member whose size is not in the archive's tables; may be
	 * NULL.
	 */
	bool (*measure)(const struct archive *a, struct member *m, struct err *err);
	/*
	 * Unpacks a member, and appends its m->size bytes; called only for packed members.
	 * Thread-safe.
	 */
	bool (*read)(const struct archive *a, const struct member *m, struct buf *out,
		     struct err *err);
	void (*close)(struct archive *a); /* may be NULL */
	/*
	 * Appends the archive `old`, opened with `limit`, with other bytes for a member. The game
	 * opens an archive of this kind as a whole, so loose files cannot replace its members.
	 * NULL: loose files can.
	 */
	bool (*replace)(struct bytes old, size_t limit, uint32_t number, struct bytes bytes,
			struct buf *out, struct err *err);
};

/* Limit of the length of a stored name. */
#define CONTAINER_NAME_MAX 4095

extern const struct container *const containers[]; /* ends with NULL */

/* finds a container by file name; or NULL */
const struct container *container_for_name(const char *file_name);

/*
 * Opens an archive and lists it, using at most `limit` bytes of memory for the list. The file or
 * memory of `in` must stay until archive_close. NULL, with err set, on failure.
 */
struct archive *archive_open(const struct container *container, const struct input *in,
			     size_t limit, struct err *err);
void archive_close(struct archive *a); /* a may be NULL */
/* Computes the unpacked size of a member. Reads its first bytes if the tables lack the size. */
bool archive_measure(const struct archive *a, uint32_t member, uint64_t *size, struct err *err);
/*
 * Appends a member to `out`. A member of more than `limit` bytes is refused before it is unpacked.
 */
bool archive_read(const struct archive *a, uint32_t member, size_t limit, struct buf *out,
		  struct err *err);
/*
 * Makes an input of a member: a range of the archive's own input or, if the member is packed, of
 * `room`, into which it is unpacked. The caller keeps `room` as long as the input.
 */
bool archive_input(const struct archive *a, uint32_t member, size_t limit, struct buf *room,
		   struct input *out, struct err *err);

/* Makes room for `count` members, within the archive's limit. */
bool archive_room(struct archive *a, uint64_t count, struct err *err);

#endif
