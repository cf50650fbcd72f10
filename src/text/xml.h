/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * xml.h - reads an XML text with libxml2, with the position of everything in it.
 *
 * The text may be UTF-8, UTF-16 with its mark, or ISO-8859-1 where it says so. It is read as UTF-8,
 * and places count in that; places of errors count in the result of utf8_text(). Only XML's own
 * five entities are known, a DOCTYPE must not declare anything, and no other file is ever opened.
 *
 *	struct xml x;
 *	bool fine = xml_open(&x, file, err) && xml_read(&x, &events, user);
 *	... places in x.text are good for as long as x is open ...
 *	xml_release(&x);
 */
#ifndef ANIMFS_TEXT_XML_H
#define ANIMFS_TEXT_XML_H

#include "animfs/base.h"
#include <string.h>

/*
 * How many attributes a tag can have, namespace declarations included, and how many namespaces can
 * be declared around one place. libxml2 compares each of them with each.
 */
#define XML_ATTRIBUTES_MAX 4096

static inline bool xml_is_space(uint8_t c)
{
	return memchr(" \t\r\n", c, 4) != NULL;
}

/* Does the name or value equal `text`? */
static inline bool xml_is(struct bytes name, const char *text)
{
	return bytes_equal(name, bytes_of(text));
}

enum xml_encoding { XML_UTF8, XML_UTF16LE, XML_UTF16BE, XML_LATIN1 };

/* An attribute, as written and with its value: entities replaced, line ends made spaces. */
struct xml_attribute {
	struct bytes name;  /* name with its prefix; points into the text */
	struct bytes value; /* value; valid during the tag's event */
	size_t begin;       /* offset of the spaces before the name */
	size_t at, length;  /* offset and length of the value as written, between its quotes */
};

/* A tag that opens an element, or is all of it. */
struct xml_tag {
	struct bytes name; /* name with its prefix; points into the text */
	unsigned depth;    /* nesting depth; 0: the root */
	size_t begin, end; /* offsets of the '<', and of the place behind '>' */
	bool namespaced;   /* one of the attributes declares a namespace */
	const struct xml_attribute *attributes;
	size_t attribute_count;
};

/*
 * Callbacks; each may be NULL. They return false to stop reading, after calling xml_refuse or
 * err_memory.
 */
struct xml_events {
	bool (*open)(void *user, const struct xml_tag *tag);
	/* called after an element; `end` is the offset of the place after its end tag */
	bool (*close)(void *user, unsigned depth, size_t end);
	/* called for text between tags other than spaces; at and length are approximate */
	bool (*text)(void *user, size_t at, size_t length);
	bool (*doctype)(void *user, size_t at, size_t length);
};

struct xml {
	struct bytes text; /* the text as UTF-8 */
	enum xml_encoding encoding;
	struct err *err;

	/* fields below are private to xml.c */
	struct buf own; /* memory of `text` if the file is not in UTF-8 */
	struct err unused;
	const struct xml_events *events;
	void *user;
	struct _xmlParserCtxt *parser;
	struct xml_attribute *attributes;
	size_t room;
	unsigned depth;
	struct xml_scope *scopes; /* the open elements that declare namespaces */
	size_t scope_count, scope_room;
	size_t declared; /* number of namespaces that the open elements declare */
	bool closed;     /* the root is closed: the text cannot be the beginning of a longer one */
	bool ending;     /* there is no more text */
};

/*
 * Opens a text. False and ERR_EMPTY or ERR_TEXT on failure; err may be NULL. Call xml_release in
 * either case.
 */
bool xml_open(struct xml *x, struct bytes file, struct err *err);
/*
 * Reads the text; can be called only once. ERR_EARLY if the text ends before its root element
 * does; else ERR_TEXT, or ERR_MEMORY. Takes time linear in the length of the text, whatever its
 * content.
 */
bool xml_read(struct xml *x, const struct xml_events *events, void *user);
void xml_release(struct xml *x);

/*
 * Sets ERR_TEXT at a place of the text, and the form that would be accepted there; does nothing if
 * the text is known to be cut off. Returns false.
 */
bool xml_refuse(struct xml *x, size_t at, size_t length, const char *accepted, const char *format,
		...) __attribute__((format(printf, 5, 6)));
bool xml_refuse_tag(struct xml *x, const struct xml_tag *tag, const char *accepted,
		    const char *message);

/*
 * Appends a value for use between two quotes `quote`; characters that the encoding lacks are
 * written by number. False if the value is not UTF-8, or has a character that XML cannot
 * express.
 */
bool xml_escape(const struct xml *x, const char *value, char quote, struct buf *out);
/*
 * Appends a NUL-terminated text in the file's own encoding, if that encoding has all of its
 * characters.
 */
bool xml_encode(const struct xml *x, const char *text, struct buf *out);

#endif
