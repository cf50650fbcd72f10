/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "exports.h"

#include "util/explain.h"
#include "util/utf8.h"
#include "view/json.h"

#include <limits.h>
#include <stdlib.h>

static struct buf answer;
static struct bytes answered; /* the answer, or what of a document is */

void *web_room(size_t size)
{
	return malloc(size ? size : 1);
}

void web_give(void *room)
{
	free(room);
}

const uint8_t *web_answer(void)
{
	return answered.data;
}

size_t web_answer_size(void)
{
	return answered.size;
}

static void exports_answer(struct bytes bytes)
{
	answered = bytes;
}

/* ---- why it failed ---- */

static void exports_add_text(const char *name, const char *text)
{
	buf_format(&answer, ", \"%s\": ", name);
	json_write_name(&answer, text);
}

static void exports_add_place(struct bytes text, const struct err *err)
{
	struct buf decoded = BUF_INIT;
	struct position where = {.line = err->line, .column = err->column};

	buf_format(&answer, ", \"at\": %zu", err->at);
	if (err->code == ERR_FORMAT && !err->line)
		return;
	if (!err->line) {
		text = utf8_text(text, &decoded);
		where = err_locate(text, err->at < text.size ? err->at : text.size);
	}
	buf_format(&answer, ", \"line\": %zu, \"column\": %zu", where.line, where.column);
	if (err->cell[0])
		exports_add_text("cell", err->cell);
	if (err->heading[0])
		exports_add_text("heading", err->heading);
	buf_release(&decoded);
}

/* `explained` is what the program prints, and is released. */
static bool exports_refuse(struct buf *explained, struct bytes text, const struct err *err)
{
	buf_char(explained, '\0');
	buf_clear(&answer);
	buf_text(&answer, "{\"text\": ");
	json_write_name(&answer, explained->failed ? "" : (const char *)explained->data);
	exports_add_text("message", err->message);
	if (err->accepted[0])
		exports_add_text("accepted", err->accepted);
	if (err->placed)
		exports_add_place(text, err);
	buf_text(&answer, "}");
	buf_release(explained);
	exports_answer(buf_bytes(&answer));
	return false;
}

/* As command_error() prints it. */
static bool exports_refuse_path(const char *path, const struct err *err)
{
	struct buf explained = BUF_INIT;

	buf_text(&explained, path);
	if (err->line)
		buf_format(&explained, ":%zu:%zu", err->line, err->column);
	else if (err->placed && err->code == ERR_FORMAT)
		buf_format(&explained, ":0x%zx", err->at);
	buf_format(&explained, ": %s\n", err->message);
	if (err->accepted[0])
		buf_format(&explained, "accepted here: %s\n", err->accepted);
	return exports_refuse(&explained, (struct bytes){NULL, 0}, err);
}

static bool exports_begin(void)
{
	buf_clear(&answer);
	exports_answer(buf_bytes(&answer));
	return true;
}

/* The answer was made, or why it was not. */
static bool exports_end(bool fine, const char *path, const struct err *err)
{
	if (!fine)
		return exports_refuse_path(path, err);
	exports_answer(buf_bytes(&answer));
	return true;
}

/* ---- documents ---- */

struct document *web_new(const char *name)
{
	return document_new(name);
}

void web_free(struct document *d)
{
	document_free(d);
}

static struct buf exports_taken(uint8_t *data, size_t size)
{
	return (struct buf){.data = data, .size = size, .capacity = size};
}

bool web_add(struct document *d, const char *name, uint8_t *data, size_t size)
{
	struct buf bytes = exports_taken(data, size);
	bool fine = document_add(d, name, &bytes);

	buf_release(&bytes);
	return fine;
}

bool web_open(struct document *d, uint8_t *data, size_t size)
{
	struct err err = {.code = ERR_NONE};
	struct buf bytes = exports_taken(data, size);

	return exports_begin() &&
	       exports_end(document_open(d, &bytes, &err), document_name(d), &err);
}

bool web_list(const struct document *d, const char *path)
{
	struct err err = {.code = ERR_NONE};

	return exports_begin() && exports_end(document_list(d, path, &answer, &err), path, &err);
}

bool web_text(const struct document *d, const char *path)
{
	struct err err = {.code = ERR_NONE};

	return exports_begin() && exports_end(document_text(d, path, &answer, &err), path, &err);
}

/* As animfs put says it of the same text. */
static void exports_refuse_text(const struct document *d, const char *path, struct bytes text,
				const struct err *err)
{
	struct buf name = BUF_INIT, explained = BUF_INIT;

	buf_format(&name, "%s/%s%c", document_name(d), path, '\0');
	refusal_explain(name.failed ? path : (const char *)name.data, text, err, NULL, &explained);
	exports_refuse(&explained, text, err);
	buf_release(&name);
}

enum document_saved web_save(struct document *d, const char *path, const uint8_t *data, size_t size)
{
	const struct bytes text = {data, size};
	struct err err = {.code = ERR_NONE};
	char beside[NAME_MAX + 1] = "";
	const char *ignored;
	enum document_saved saved = document_save(d, path, text, beside, &ignored, &err);
	bool first = true;

	if (saved == DOCUMENT_REFUSED) {
		exports_refuse_text(d, path, text, &err);
		return saved;
	}
	exports_begin();
	buf_char(&answer, '{');
	if (saved == DOCUMENT_SAVED_BESIDE) {
		json_write_comma(&answer, &first, "");
		buf_text(&answer, "\"beside\": ");
		json_write_name(&answer, beside);
	}
	if (ignored) {
		json_write_comma(&answer, &first, "");
		buf_text(&answer, "\"ignored\": ");
		json_write_name(&answer, ignored);
	}
	buf_char(&answer, '}');
	exports_answer(buf_bytes(&answer));
	return saved;
}

void web_bytes(const struct document *d)
{
	exports_answer(document_bytes(d));
}

void web_beside(const struct document *d, const char *name)
{
	exports_answer(document_beside(d, name));
}

void web_notices(const struct document *d)
{
	exports_answer(document_notices(d));
}
