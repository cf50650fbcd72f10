/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "html.h"

#define LAYOUT 1 /* version of the data's layout */

enum {
	FORMAT_Y_DOWN = 1,
	FORMAT_FLAT = 2,
	FORMAT_KEYFRAMES = 4,
	FORMAT_LOOP = 8,
	FORMAT_STILLS = 16
};

void html_begin(struct page *p, char kind, const struct shown *at)
{
	const struct format *format = at->anim->format;

	page_u8(p, (unsigned char)kind);
	page_u8(p, LAYOUT);
	page_u8(p, (format->y_down ? FORMAT_Y_DOWN : 0u) | (format->flat ? FORMAT_FLAT : 0u) |
			   (format->keyframes ? FORMAT_KEYFRAMES : 0u) |
			   (format->has_loop ? FORMAT_LOOP : 0u) |
			   (format->stills ? FORMAT_STILLS : 0u));
	page_text(p, at->file_name);
	page_text(p, format->name);
	page_text(p, format->length ? format->length : "");
}
