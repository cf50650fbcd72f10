/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * codec.h - a format: converts bytes to a model and back.
 *
 * decode trusts no byte. It either understands the whole file or refuses it with ERR_FORMAT, the
 * byte offset and the reason. The model may point into src.
 *
 * encode gets the bytes that the model (or its base) was decoded from; everything that is not in
 * the model comes from them. It keeps the stored form of every unchanged value, so that
 * encode(decode(src), src) is src, byte for byte. The `origin` of clips and tracks is their index
 * in the old file; a curve that is equal to the old one keeps its place. `old` is empty for a new
 * file.
 *
 * A file that can be read but is not fully understood decodes to a model with a reason in
 * `read_only`; encode then refuses every change with ERR_STORE.
 */
#ifndef ANIMFS_CODEC_H
#define ANIMFS_CODEC_H

#include "animfs/anim.h"

/* The files beside the file that is decoded, for a format whose files list others. */
struct neighbours {
	/*
	 * Reads the file of this name; the bytes stay until decode returns. False, with err set, on
	 * failure.
	 */
	bool (*read)(void *closure, const char *name, struct bytes *out, struct err *err);
	void *closure;
};

/*
 * Facts that decoding a file may need, and that the file does not store. All are optional: {0}, or
 * NULL.
 */
struct hints {
	uint32_t bones; /* number of bones; 0: unknown */
	/* names of bones by number; the model keeps the pointer */
	const struct bone_names *bone_names;
	/* files beside the decoded one; NULL: none can be read */
	const struct neighbours *neighbours;
};

struct codec {
	const struct format *format;
	/* patterns of file names: "*" and an extension, ".NAME", in any case; ends with NULL */
	const char *const *patterns;
	/* returns whether src may be of this format; never true for a file of another */
	bool (*probe)(struct bytes src);
	/* returns whether src can only be decoded with hints; NULL: never */
	bool (*incomplete)(struct bytes src);
	struct anim *(*decode)(struct bytes src, const struct hints *hints, struct err *err);
	bool (*encode)(const struct anim *a, struct bytes old, struct buf *out, struct err *err);
};

extern const struct codec *const codecs[]; /* ends with NULL */

const struct codec *codec_named(const char *name);
const struct codec *codec_for_name(const char *file_name); /* finds a codec by file name; or NULL */
const struct codec *codec_probe(struct bytes src);         /* finds a codec by content; or NULL */
/*
 * Returns the size of a file's name without the part that identifies its format; the whole size if
 * there is no such part.
 */
size_t codec_stem(const struct codec *codec, const char *file_name);

#endif
