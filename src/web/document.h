/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Layer web: an animation file in memory, for a page in a browser. The same codecs, views and
 * checks as in a mount, compiled to WebAssembly, over bytes in place of files: document.h is what
 * can be done with them, exports.c what the page calls.
 *
 * Start reading here; then exports.c.
 *
 * May use: util text model skeleton view store
 */
/*
 * document.h - an animation file that was opened, and the files beside it.
 *
 * A path is one as `animfs cat` takes it behind FILE: "walk/bones/hips.csv", "" for the file's own
 * folder. A text is saved as `animfs put` saves it, and refused with the same words.
 */
#ifndef ANIMFS_WEB_DOCUMENT_H
#define ANIMFS_WEB_DOCUMENT_H

#include "animfs/base.h"

/* Of one file. */
#define DOCUMENT_MAX ((size_t)64 << 20)

struct document;

struct document *document_new(const char *name); /* of the file; NULL when out of memory */
void document_free(struct document *d);          /* NULL is fine */
const char *document_name(const struct document *d);
/*
 * Adds a file that lies beside it: a skeleton, a model, names of bones, a clip that the file lists.
 * The bytes are taken over, and replace what had the name. It counts from the next document_open.
 * False when out of memory.
 */
bool document_add(struct document *d, const char *name, struct buf *bytes);
/* Decodes the file's bytes, which it takes over. If it fails, what was open stays open. */
bool document_open(struct document *d, struct buf *bytes, struct err *err);

/* What was not used of the files beside it, and why: a line each. */
struct bytes document_notices(const struct document *d);
struct bytes document_bytes(const struct document *d); /* of the file as it is now */
/* A file beside it as it is now; data is NULL where there is none. */
struct bytes document_beside(const struct document *d, const char *name);

/* The names in a folder, as JSON: [{"name", "type", "view", "editable"}]. */
bool document_list(const struct document *d, const char *path, struct buf *out, struct err *err);
bool document_text(const struct document *d, const char *path, struct buf *out, struct err *err);

enum document_saved {
	DOCUMENT_REFUSED, /* err says why; nothing has changed */
	DOCUMENT_SAME,    /* the text changes nothing */
	DOCUMENT_SAVED,
	/* The text is a skeleton's: the file beside it of the name in `beside` has changed. */
	DOCUMENT_SAVED_BESIDE,
};
/* `beside`: room for a file's name. *ignored: what of the text does not count; or NULL. */
enum document_saved document_save(struct document *d, const char *path, struct bytes text,
				  char *beside, const char **ignored, struct err *err);

#endif
