/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * codec.h - a format: bytes to model and back.
 *
 * decode trusts no byte. It either understands the whole file or refuses it with ERR_FORMAT, the
 * byte offset and the reason. The model may point into src.
 *
 * encode gets the bytes that the model (or the model it was edited from) was decoded from; what the
 * model does not say comes from them. It reads them beside the model and keeps the stored form of
 * every value that is still the same, so that encode(decode(src), src) is src, byte for byte.
 * Clips and tracks say by `origin` which old ones they are; a curve that is equal to what is there
 * keeps its place. `old` is empty for a new file.
 *
 * A file that can be read, though not all of it is understood, decodes to a model that says so in
 * `read_only`; encode then refuses every change, with ERR_STORE.
 */
#ifndef ANIMFS_CODEC_H
#define ANIMFS_CODEC_H

#include "animfs/anim.h"

/* The files beside one that is decoded, for a format whose files list others. */
struct neighbours {
	/* All of the file of this name; the bytes stay until decode returns. False and err. */
	bool (*read)(void *closure, const char *name, struct bytes *out, struct err *err);
	void *closure;
};

/* What a file may need to be read and does not say. All of it can be left out: {0}, or NULL. */
struct hints {
	uint32_t bones;                      /* how many there are; 0: not known */
	const struct bone_names *bone_names; /* of numbers; the model keeps the pointer */
	const struct neighbours *neighbours; /* NULL: there are none */
};

struct codec {
	const struct format *format;
	const char *const *patterns; /* of file names: "*" and their end, without case; then NULL */
	bool (*probe)(struct bytes src);      /* could it be one? strict: claims no other kind */
	bool (*incomplete)(struct bytes src); /* readable only with hints? NULL: never */
	struct anim *(*decode)(struct bytes src, const struct hints *hints, struct err *err);
	bool (*encode)(const struct anim *a, struct bytes old, struct buf *out, struct err *err);
};

extern const struct codec *const codecs[]; /* ends with NULL */

const struct codec *codec_named(const char *name);
const struct codec *codec_for_name(const char *file_name); /* by pattern, or NULL */
const struct codec *codec_probe(struct bytes src);         /* by content, or NULL */
/* How many bytes of a file's name stand before what says its format: all where nothing does. */
size_t codec_stem(const struct codec *codec, const char *file_name);

#endif
