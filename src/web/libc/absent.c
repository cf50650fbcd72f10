/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * absent.c - what needs libxml2 or a folder, and is not in a page: stills, and texts that are XML.
 *
 * document.c keeps all of it out; whatever gets here all the same ends the instance.
 */
#include "store/stills.h"
#include "text/xml.h"

#include <assert.h>
#include <stdlib.h>

struct stills *stills_load(const struct stills_of *of)
{
	(void)of;
	abort();
}

void stills_free(struct stills *s)
{
	assert(!s);
}

const struct shown_stills *stills_of_clip(const struct stills *s, uint32_t clip)
{
	(void)s;
	(void)clip;
	abort();
}

size_t stills_size(const struct stills *s)
{
	(void)s;
	abort();
}

bool xml_open(struct xml *x, struct bytes file, struct err *err)
{
	(void)x;
	(void)file;
	(void)err;
	abort();
}

bool xml_read(struct xml *x, const struct xml_events *events, void *user)
{
	(void)x;
	(void)events;
	(void)user;
	abort();
}

void xml_release(struct xml *x)
{
	(void)x;
	abort();
}

bool xml_refuse(struct xml *x, size_t at, size_t length, const char *accepted, const char *format,
		...)
{
	(void)x;
	(void)at;
	(void)length;
	(void)accepted;
	(void)format;
	abort();
}

bool xml_refuse_tag(struct xml *x, const struct xml_tag *tag, const char *accepted,
		    const char *message)
{
	(void)x;
	(void)tag;
	(void)accepted;
	(void)message;
	abort();
}

bool xml_escape(const struct xml *x, const char *value, char quote, struct buf *out)
{
	(void)x;
	(void)value;
	(void)quote;
	(void)out;
	abort();
}

bool xml_encode(const struct xml *x, const char *text, struct buf *out)
{
	(void)x;
	(void)text;
	(void)out;
	abort();
}
