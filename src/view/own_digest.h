/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * own_digest.h - the last line of generated texts, which tells them from edited ones:
 *
 *	<!-- animfs generated, digest 0123456789abcdef0123456789abcdef -->
 *
 * The digest is the XXH3_128 of all bytes before the line. So a copy of a text is recognized
 *without rendering the version that it was made of. It is no protection against forgery.
 */
#ifndef ANIMFS_VIEW_OWN_DIGEST_H
#define ANIMFS_VIEW_OWN_DIGEST_H

#include "animfs/base.h"

/* Ends an XML text, which `out` holds from its first byte to a line end, and nothing else. */
void own_digest_add(struct buf *out);
/* Does the text end in such a line, to the byte, and is the digest right? */
bool own_digest_valid(struct bytes text);

#endif
