/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * exports.h - what the page calls in the WebAssembly module; src/web/page/core.js does.
 *
 * Bytes and names lie in memory that the page took with web_room. Each call that has something to
 * say leaves it as the answer, which stays until the next one. A call that fails leaves why, as
 * JSON: {"text", "message", "accepted", "line", "column", "at", "cell", "heading"}, where "text" is
 * what animfs put prints, and what does not apply is left out.
 */
#ifndef ANIMFS_WEB_EXPORTS_H
#define ANIMFS_WEB_EXPORTS_H

#include "document.h"

void *web_room(size_t size); /* NULL when out of memory */
void web_give(void *room);

const uint8_t *web_answer(void);
size_t web_answer_size(void);

struct document *web_new(const char *name);
void web_free(struct document *d);
/* These two take the room over. */
bool web_add(struct document *d, const char *name, uint8_t *data, size_t size);
bool web_open(struct document *d, uint8_t *data, size_t size);
/* The answers: JSON, the text. */
bool web_list(const struct document *d, const char *path);
bool web_text(const struct document *d, const char *path);
/* The answer, unless it is refused: JSON {"beside", "ignored"}, each only where it applies. */
enum document_saved web_save(struct document *d, const char *path, const uint8_t *data,
			     size_t size);
/* The answers: bytes or text; empty where there is nothing. */
void web_bytes(const struct document *d);
void web_beside(const struct document *d, const char *name);
void web_notices(const struct document *d);

#endif
