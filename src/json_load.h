/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * json_load.h - jansson's parser, with an end to the memory that it takes.
 *
 * Where its memory runs out, jansson 2.14 aborts within a long number or string, blames the text,
 * or goes on with a part of a word; and what it makes of a text takes up to a hundred times the
 * text. So its allocations are made here: the first that fails, or goes beyond the limit, ends the
 * whole load, and all that was allocated for it is freed.
 */
#ifndef ANIMFS_JSON_LOAD_H
#define ANIMFS_JSON_LOAD_H

#include "animfs/base.h"
#include <jansson.h>

struct json_fault {
	enum {
		JSON_MALFORMED, /* `syntax` says what and where */
		JSON_MEMORY,    /* there was none left */
		JSON_LIMIT,     /* the values would take more than the limit */
	} why;
	json_error_t syntax;
};

/* NULL and *fault when it cannot be read. The caller json_decref's it. */
json_t *json_load_bytes(struct bytes text, size_t flags, struct json_fault *fault);

/* Bytes that the values of one text may take, for all loads that begin later: 1 GiB at first. */
void json_load_limit(size_t bytes);

#endif
