/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "explain.h"

#include "utf8.h"

#define LINE_SHOWN 160 /* bytes of a long line that are shown around the fault */

/* The line with the fault and a caret under it; a long line is cut on both sides. */
static void explain_place(struct bytes text, const struct position *where, size_t at,
			  struct buf *out)
{
	size_t begin = where->begin, end = where->end;

	if (at > begin + LINE_SHOWN / 2)
		begin = at - LINE_SHOWN / 2;
	while (begin < at && (text.data[begin] & 0xC0) == 0x80)
		begin++;
	if (end - begin > LINE_SHOWN)
		end = begin + LINE_SHOWN;
	buf_text(out, "  ");
	buf_add(out, text.data + begin, end - begin);
	buf_text(out, "\n  ");
	for (size_t i = begin; i < at && i < end; i++) {
		if ((text.data[i] & 0xC0) != 0x80)
			buf_char(out, text.data[i] == '\t' ? '\t' : ' ');
	}
	buf_text(out, "^\n");
}

void refusal_explain(const char *path, struct bytes text, const struct err *err, const char *kept,
		     struct buf *out)
{
	struct buf decoded = BUF_INIT;
	size_t at, begin = out->size;

	buf_text(out, path);
	buf_one_line(out, begin);
	text = utf8_text(text, &decoded);
	at = err->at < text.size ? err->at : text.size;
	if (err->code == ERR_FORMAT && err->placed && !err->line) {
		/* A binary file: an animation file written as a whole. */
		buf_format(out, ": byte %zu: %s\n", err->at, err->message);
	} else if (err->placed) {
		struct position where = err_locate(text, at);

		buf_format(out, ":%zu:%zu: %s\n", where.line, where.column, err->message);
		if (text.size)
			explain_place(text, &where, at, out);
		if (err->cell[0])
			buf_format(out, "cell %s%s%s\n", err->cell,
				   err->heading[0] ? ", column " : "", err->heading);
	} else {
		buf_format(out, ": %s\n", err->message);
	}
	if (err->accepted[0])
		buf_format(out, "accepted here: %s\n", err->accepted);
	if (kept)
		buf_format(out, "the binary is unchanged; the text as you saved it is in %s\n",
			   kept);
	buf_release(&decoded);
}
