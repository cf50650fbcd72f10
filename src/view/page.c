/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "page.h"
#include "own_digest.h"

/*
 * Generated from player/ (see the Makefile): PLAYER_SCRIPT, PLAYER_STYLE, and the base64 of their
 * SHA-256.
 */
#include "player.h"

#include <assert.h>

#define DIGEST_LINE 67
#define TEXT_LIMIT UINT16_MAX

/*
 * The head of a page, with the policy that restricts the browser. The icon is empty: browsers ask a
 * web server for /favicon.ico if a page names none, and log an error because the policy forbids it.
 */
#define HEAD(script, style)                                                                        \
	"<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"                  \
	"<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "              \
	"script-src " script "; style-src " style "; img-src data:; "                              \
	"base-uri 'none'; form-action 'none'\">\n<link rel=\"icon\" href=\"data:,\">\n"            \
	"<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"               \
	"<meta name=\"generator\" content=\"animfs\">\n<title>animfs</title>\n"
#define BODY                                                                                       \
	"</head>\n<body>\n<noscript><p>This page plays an animation. It needs JavaScript, "        \
	"from itself only.</p></noscript>\n"                                                       \
	"<script type=\"application/octet-stream\" id=\"data\">"
#define DATA_END "</script>\n"
#define END "</body>\n</html>\n"

static const char before[] =
	HEAD("'sha256-" PLAYER_SCRIPT_SHA256 "'",
	     "'sha256-" PLAYER_STYLE_SHA256 "'") "<style>" PLAYER_STYLE "</style>\n" BODY;
static const char behind[] = DATA_END "<script>" PLAYER_SCRIPT "</script>\n" END;

/* The source 'self' matches no page opened from disk, since it has no origin; file: does. */
static const char shared_head[] = HEAD("'self' file:", "'self' file:");

const char *const page_script = PLAYER_SCRIPT;
const char *const page_style = PLAYER_STYLE;

/* ---- the page ---- */

void page_begin(struct page *p, struct buf *out)
{
	*p = (struct page){.out = out, .base64 = {.out = out}};
	if (out)
		buf_add(out, before, sizeof(before) - 1);
}

size_t page_size(size_t data)
{
	return sizeof(before) - 1 + (data + 2) / 3 * 4 + sizeof(behind) - 1 + DIGEST_LINE;
}

size_t page_end(struct page *p)
{
	if (p->out) {
		base64_end(&p->base64);
		buf_add(p->out, behind, sizeof(behind) - 1);
		own_digest_add(p->out);
	}
	return page_size(p->size);
}

/* ---- its data ---- */

void page_add(struct page *p, const void *data, size_t size)
{
	p->size += size;
	if (p->out && !p->out->failed)
		base64_add(&p->base64, data, size);
}

void page_skip(struct page *p, size_t size)
{
	assert(!p->out);
	p->size += size;
}

void page_u8(struct page *p, unsigned v)
{
	const uint8_t byte = (uint8_t)v;

	page_add(p, &byte, sizeof(byte));
}

void page_u16(struct page *p, unsigned v)
{
	uint8_t bytes[2];

	put_u16(bytes, (uint16_t)v);
	page_add(p, bytes, sizeof(bytes));
}

void page_u32(struct page *p, uint32_t v)
{
	uint8_t bytes[4];

	put_u32(bytes, v);
	page_add(p, bytes, sizeof(bytes));
}

void page_f32(struct page *p, double v)
{
	page_u32(p, f32_bits((float)v));
}

void page_f64(struct page *p, double v)
{
	uint64_t bits;

	memcpy(&bits, &v, sizeof(bits));
	page_u32(p, (uint32_t)bits);
	page_u32(p, (uint32_t)(bits >> 32));
}

void page_text(struct page *p, const char *text)
{
	const size_t length = strnlen(text, TEXT_LIMIT);

	page_u16(p, (unsigned)length);
	page_add(p, text, length);
}

/* ---- with its player elsewhere ---- */

static bool begins(struct bytes text, const char *begin, size_t size)
{
	return text.size >= size && memcmp(text.data, begin, size) == 0;
}

static void add_reference(const char *before_it, unsigned depth, const char *name, struct buf *out)
{
	buf_text(out, before_it);
	for (unsigned i = 0; i < depth; i++)
		buf_text(out, "../");
	buf_text(out, name);
}

bool page_shared(struct bytes page, unsigned depth, struct buf *out)
{
	const size_t rest = sizeof(behind) - 1 + DIGEST_LINE;
	struct bytes data;

	if (!begins(page, before, sizeof(before) - 1) || page.size < sizeof(before) - 1 + rest ||
	    !own_digest_valid(page))
		return false;
	data = (struct bytes){page.data + sizeof(before) - 1,
			      page.size - rest - (sizeof(before) - 1)};
	buf_add(out, shared_head, sizeof(shared_head) - 1);
	add_reference("<link rel=\"stylesheet\" href=\"", depth, "player.css\">\n" BODY, out);
	buf_add(out, data.data, data.size);
	add_reference(DATA_END "<script src=\"", depth, "player.js\"></script>\n" END, out);
	own_digest_add(out);
	return true;
}
