/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * layout.h - a file as a row of parts, written again with some of them changed.
 *
 * A codec lists every part of the old file that it knows: its old place, and its new content. The
 * bytes between them are unknown and are kept. Then
 *
 *   layout_init, layout_add for each part, `data` and `size` set
 *   layout_stay: every part keeps its place, if none came, went or changed its size or order
 *   layout_pack: otherwise the parts are placed again, in their old order
 *   the codec writes the parts that hold offsets, which it can do now
 *   layout_write
 *
 * A part may overlap others: files share blocks. As long as all stay, that does not matter, unless
 * one of two that overlap has changed (layout_clash); packing takes them apart.
 *
 * In a pack a new part goes behind the last old one of its rank, or of the nearest rank before its
 * own: with ranks numbered in the canonical order of a format, a canonical file stays canonical. A
 * rank that is `ordered`, and whose old parts are adjacent and in ascending old_order, is placed in
 * ascending `order`, the new ones among the old.
 */
#ifndef ANIMFS_CODEC_LAYOUT_H
#define ANIMFS_CODEC_LAYOUT_H

#include "animfs/base.h"

#define LAYOUT_NEW SIZE_MAX /* marks a new part, which has no old place */
#define LAYOUT_RANKS 16

struct part {
	size_t old_at, old_size;
	unsigned rank;
	size_t old_order,
		order; /* position among the parts of the rank, in the old and in the new file */
	size_t align;  /* alignment, a power of two */
	const uint8_t *data; /* the new content; belongs to the codec */
	size_t size;         /* size of the new content; 0: the part is removed */
	size_t at;           /* the new place: set by layout_stay and layout_pack */

	size_t pad; /* number of zero bytes before the part that align it */
	struct spot {
		size_t at;     /* old position that the spot is at */
		unsigned side; /* orders the parts that share that position */
	} spot;
};

struct layout {
	struct bytes old;
	struct part *parts;
	struct part **row; /* the parts, sorted */
	size_t count, room;
	unsigned ordered; /* bit for each rank whose parts must keep their order */
	bool packed;
	size_t size; /* size of the new file */
};

/*
 * Initializes a layout that `room` parts can be added to, in the arena's memory. False when out of
 * memory.
 */
bool layout_init(struct layout *l, struct arena *arena, struct bytes old, size_t room);
struct part *layout_add(struct layout *l, unsigned rank, size_t align, size_t old_at,
			size_t old_size);
bool layout_stay(struct layout *l);
bool layout_clash(const struct layout *l); /* after layout_stay */
/* False (ERR_STORE) when the old parts overlap so often that they cannot be taken apart. */
bool layout_pack(struct layout *l, struct err *err);
void layout_write(const struct layout *l, struct buf *out);

#endif
