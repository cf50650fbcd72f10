/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * own_digest.h - the last line of generated texts, by which they are recognized as unedited:
 *
 *	<!-- animfs generated, digest 0123456789abcdef0123456789abcdef -->
 *
 * The digest is the XXH3_128 of all bytes before the line, so that a copy of a text is recognized
 * without rendering the version that it was made from. It does not protect against forgery.
 */
#ifndef ANIMFS_VIEW_OWN_DIGEST_H
#define ANIMFS_VIEW_OWN_DIGEST_H

#include "animfs/base.h"

/* Appends the line. `out` holds the XML text and nothing else, and ends in a newline. */
void own_digest_add(struct buf *out);
/* Returns whether the text ends in exactly such a line, with the right digest. */
bool own_digest_valid(struct bytes text);
/*
 * Like own_digest_valid, but accepts what git's core.autocrlf and editors change: a byte order
 * mark, CRLF instead of LF, more or no line ends at the end.
 */
bool own_digest_recognized(struct bytes text);

#endif
