/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * page.h - a page with the player (player/) and its data: clip.html and file.html.
 *
 * The page is self-contained: it needs no network and no other file. Everything from an animation
 * file is in one block of base64, which can never be markup or script; the page's policy names the
 * digest of the one script that the browser may run.
 *
 *	struct page page;
 *	page_begin(&page, out);        out NULL: only counts
 *	page_u8(&page, 1) ...
 *	size = page_end(&page);
 */
#ifndef ANIMFS_VIEW_PAGE_H
#define ANIMFS_VIEW_PAGE_H

#include "base64.h"

struct page {
	struct buf *out; /* receives the page; NULL: only the size is computed */
	/* private to page.c */
	struct base64 base64;
	size_t size; /* bytes of data so far */
};

void page_begin(struct page *p, struct buf *out);
/* Completes the page, with its digest (own_digest.h), and returns its size. */
size_t page_end(struct page *p);
/* Returns the size of a page with `data` bytes of data. */
size_t page_size(size_t data);

/* page_add and the functions below append to the page's data, in little-endian order. */
void page_add(struct page *p, const void *data, size_t size);
/* Counts `size` bytes of data; allowed only if p->out is NULL. */
void page_skip(struct page *p, size_t size);
void page_u8(struct page *p, unsigned v);
void page_u16(struct page *p, unsigned v);
void page_u32(struct page *p, uint32_t v);
void page_f32(struct page *p, double v);
void page_f64(struct page *p, double v);
/* Appends a text: the length as a u16, and the bytes, which need not be UTF-8. */
void page_text(struct page *p, const char *text);

/*
 * For a site of many pages. page_script and page_style are the contents of the site's player.js and
 * player.css. page_shared appends a page that refers to these files, `depth` folders above it,
 * instead of containing them. False if `page` was not made by this program.
 */
extern const char *const page_script, *const page_style;
bool page_shared(struct bytes page, unsigned depth, struct buf *out);

#endif
