/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "svg.h"
#include "text/utf.h"

#include "text/num.h"

#include <math.h>
#include <string.h>

#define REPLACEMENT "\xef\xbf\xbd"

double svg_round(double v)
{
	/* Adding 0 turns -0 into 0. */
	return rint(v * 10) / 10 + 0.0;
}

void svg_number(double v, struct buf *out)
{
	buf_f32_text(out, (float)svg_round(v));
}

void svg_point(double x, double y, struct buf *out)
{
	svg_number(x, out);
	buf_char(out, ',');
	svg_number(y, out);
}

/*
 * The style for a dark background. Viewers without media queries ignore it and draw the light
 * attributes. It selects by class, not by "svg": embedded in a page, the style applies to the whole
 * page.
 */
static const char style[] = "<style>@media(prefers-color-scheme:dark)"
			    "{.animfs{color:#ddd}.animfs-paper{fill:#1b1b1b}}</style>\n";

void svg_begin(double width, double height, struct buf *out)
{
	buf_text(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		      "<svg xmlns=\"http://www.w3.org/2000/svg\" version=\"1.1\" width=\"");
	svg_number(width, out);
	buf_text(out, "\" height=\"");
	svg_number(height, out);
	buf_text(out, "\" viewBox=\"0 0 ");
	svg_number(width, out);
	buf_char(out, ' ');
	svg_number(height, out);
	buf_text(out, "\" class=\"animfs\" role=\"img\" color=\"#222\" fill=\"currentColor\""
		      " font-family=\"sans-serif\" font-size=\"11\">\n");
}

void svg_ground(double width, double height, struct buf *out)
{
	buf_text(out, style);
	buf_text(out, "<rect class=\"animfs-paper\" fill=\"#fff\" width=\"");
	svg_number(width, out);
	buf_text(out, "\" height=\"");
	svg_number(height, out);
	buf_text(out, "\"/>\n");
}

void svg_end(struct buf *out)
{
	buf_text(out, "</svg>\n");
}

/* ---- texts ---- */

/* Returns the size of a character in bytes. The text is valid UTF-8. */
static size_t character_size(const uint8_t *p)
{
	return p[0] < 0x80 ? 1 : p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : 4;
}

/* Returns whether XML allows a character: it excludes U+FFFE, U+FFFF and control characters. */
static bool is_xml(const uint8_t *p)
{
	return p[0] >= ' ' && !(p[0] == 0xef && p[1] == 0xbf && p[2] >= 0xbe);
}

static void write_character(const uint8_t *p, size_t size, struct buf *out)
{
	if (!is_xml(p))
		buf_text(out, REPLACEMENT);
	else if (*p == '<')
		buf_text(out, "&lt;");
	else if (*p == '>')
		buf_text(out, "&gt;");
	else if (*p == '&')
		buf_text(out, "&amp;");
	else if (*p == '"')
		buf_text(out, "&quot;");
	else
		buf_add(out, p, size);
}

void svg_escape(const char *text, unsigned limit, struct buf *out)
{
	struct buf plain = BUF_INIT;
	unsigned width = 0;

	utf8_printable(text, &plain);
	out->failed |= plain.failed;
	for (size_t at = 0, size; at < plain.size; at += size) {
		const uint8_t *p = plain.data + at;

		size = character_size(p);
		/* An approximation: most characters of three and more UTF-8 bytes are wide. */
		width += size < 3 ? 1 : 2;
		if (width > limit) {
			buf_text(out, "\xe2\x80\xa6");
			break;
		}
		write_character(p, size, out);
	}
	buf_release(&plain);
}

void svg_text_begin(double x, double y, const char *more, struct buf *out)
{
	buf_text(out, "<text x=\"");
	svg_number(x, out);
	buf_text(out, "\" y=\"");
	svg_number(y, out);
	buf_char(out, '"');
	buf_text(out, more);
	buf_char(out, '>');
}

void svg_text_end(struct buf *out)
{
	buf_text(out, "</text>\n");
}
