/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * stamp.h - the file .animfs-export, which `animfs export` writes into the folder of each animation
 * file: the inputs of its texts, and a hash of each.
 *
 *	animfs export 1
 *	file ranger.canm
 *	made of 18234 1700000000.123456789 ...
 *	version 91b0...2c
 *	6c5f...e1 = walk/bones/hips.csv
 *	6c5f...e1 0b1d...77 @5d0e...10 walk/clip.json
 *
 * So the next export knows whether it would write the same, and an import which texts were edited
 * since. A second hash is of the text as rendered from the animation file when both had the same
 * values: an imported text keeps its own form of numbers. Versions, of the export and of the import
 * of a text, are digests (store/digests.h).
 */
#ifndef ANIMFS_CMD_STAMP_H
#define ANIMFS_CMD_STAMP_H

#include "model/said.h"
#include <xxhash.h>

#define STAMP_FILE ".animfs-export"

typedef XXH128_hash_t text_hash;
static inline text_hash text_hash_of(struct bytes text)
{
	return XXH3_128bits(text.data, text.size);
}

struct stamp_text {
	const char *path;      /* path of the text in the folder: "walk/bones/hips.csv" */
	text_hash text;        /* hash of the exported text */
	text_hash said;        /* hash of the text that the animation file had at that time */
	struct digest version; /* version that the text was imported into; none: not imported */
};

struct stamp {
	struct arena arena;
	const char *file;      /* name of the animation file; NULL: there is no stamp */
	const char *made_of;   /* everything that the texts depend on, as text */
	struct digest version; /* the version that was exported; none: unknown */
	struct stamp_text *texts;
	size_t count, room;
};
#define STAMP_INIT                                                                                 \
	{                                                                                          \
		ARENA_INIT, NULL, NULL, {0, 0}, NULL, 0, 0                                         \
	}

/*
 * Reads the stamp in the folder; one of another file, or an invalid one, leaves *s empty. Returns
 * 0, or ENOMEM.
 */
int stamp_read(int folder, const char *file, struct stamp *s);
void stamp_release(struct stamp *s);
/* The name of the file that the stamp in the folder is of, which the caller frees; NULL: none. */
char *stamp_file_name(int folder);
/* Finds a text in a stamp that was read or sorted; NULL: none. */
struct stamp_text *stamp_find(const struct stamp *s, const char *path);

/* Adds a text; false when out of memory. */
bool stamp_add(struct stamp *s, const char *path, text_hash hash);
void stamp_sort(struct stamp *s);
/* Writes the stamp atomically. 0 or an errno. */
int stamp_write(int folder, const struct stamp *s);

#endif
