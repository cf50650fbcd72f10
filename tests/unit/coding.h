/* SPDX-License-Identifier: GPL-3.0-or-later */
/* coding.h - decodes and encodes, which must succeed, for the tests of codecs. */
#ifndef ANIMFS_TESTS_UNIT_CODING_H
#define ANIMFS_TESTS_UNIT_CODING_H

#include "animfs/codec.h"

#include "model/names.h"

#include <check.h>

static inline struct anim *decode_ok(const struct codec *c, struct bytes src,
				     const struct hints *hints)
{
	struct err err = {.code = ERR_NONE};
	struct anim *a = c->decode(src, hints, &err);

	ck_assert_msg(a != NULL, "at %zu: %s", err.at, err.message);
	return a;
}

/* Decodes a file, and sets the labels that the file's folder would have. */
static inline struct anim *decode_labelled(const struct codec *c, struct bytes src)
{
	static const char *const reserved[] = {NULL};
	struct anim *a = decode_ok(c, src, NULL);

	ck_assert(names_label(a, reserved));
	return a;
}

static inline struct buf encode_ok(const struct codec *c, const struct anim *a, struct bytes old)
{
	struct err err = {.code = ERR_NONE};
	struct buf out = BUF_INIT;

	ck_assert_msg(c->encode(a, old, &out, &err), "%s", err.message);
	return out;
}

#endif
