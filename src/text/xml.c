/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "xml.h"
#include "utf.h"

#include <libxml/globals.h>
#include <libxml/parser.h>
#include <libxml/threads.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define PIECE 16384        /* least number of bytes of a text that are given to libxml2 at once */
#define LOOKUP_MAX 9900000 /* bytes that libxml2 may hold back; beyond 10,000,000 it gives up */
#define NUL_FAULT "a NUL has no place in XML"

/* ---- encodings ---- */

/*
 * Returns the place for an error: an offset in the result of utf8_text(), which lacks the mark of
 * UTF-16.
 */
static size_t error_place(const struct xml *x, size_t at)
{
	bool utf16 = x->encoding == XML_UTF16LE || x->encoding == XML_UTF16BE;
	size_t mark = utf16 ? utf8_mark(x->text) : 0;

	return at < mark ? 0 : at - mark;
}

/* Refuses declared encodings that cannot be read, or cannot be written back. */
static bool read_declared(struct xml *x, struct bytes file)
{
	struct bytes name = utf8_declared(file);

	/* If a declaration is wrong, libxml2 reports it. */
	if (!name.data ||
	    (name.size == 5 && strncasecmp((const char *)name.data, "UTF-8", name.size) == 0))
		return true;
	x->encoding = XML_LATIN1;
	if (utf8_is_latin1(name))
		return true;
	err_at(x->err, ERR_TEXT, (size_t)(name.data - file.data), name.size,
	       "a text in this encoding is not read here");
	return err_accept(x->err, "UTF-8, ISO-8859-1, or UTF-16 with a byte order mark");
}

static void swap_units(const uint8_t *units, size_t count, uint8_t *out)
{
	for (size_t i = 0; i < count; i++) {
		uint8_t first = units[2 * i];

		out[2 * i] = units[2 * i + 1];
		out[2 * i + 1] = first;
	}
}

static bool has_utf16_mark(struct bytes file)
{
	return file.size >= 2 && ((file.data[0] == 0xff && file.data[1] == 0xfe) ||
				  (file.data[0] == 0xfe && file.data[1] == 0xff));
}

#define MARK "\xef\xbb\xbf"

/* Converts the text to UTF-8. The byte order mark of UTF-16 stays, so that it is written back. */
static bool convert_encoding(struct xml *x, struct bytes file)
{
	bool utf16 = has_utf16_mark(file);

	if (utf16)
		x->encoding = file.data[0] == 0xff ? XML_UTF16LE : XML_UTF16BE;
	if (!utf16 && !read_declared(x, file))
		return false;
	if (x->encoding == XML_UTF8)
		return true;
	if (utf16)
		buf_text(&x->own, MARK);
	x->text = utf8_text(file, &x->own);
	if (x->own.failed)
		return err_memory(x->err);
	return !utf16 || file.size % 2 == 0 ||
	       err_at(x->err, ERR_TEXT, error_place(x, x->text.size - 1), 1, "half a character");
}

/*
 * Checks the first bytes: from unusual ones libxml2 would conclude another encoding, with other
 * positions.
 */
static bool check_begin(struct xml *x)
{
	struct bytes text = x->text;
	size_t begin = utf8_mark(text);
	const uint8_t *nul;

	if (begin < text.size && text.data[begin] != '<' && !xml_is_space(text.data[begin]))
		return xml_refuse(x, begin, 1, "a text that begins with <", "this is not XML");
	nul = memchr(text.data, '\0', text.size);
	return !nul ||
	       err_at(x->err, ERR_TEXT, error_place(x, (size_t)(nul - text.data)), 1, NUL_FAULT);
}

bool xml_open(struct xml *x, struct bytes file, struct err *err)
{
	*x = (struct xml){.text = file};
	x->err = err ? err : &x->unused;
	if (file.size == 0)
		return err_at(x->err, ERR_EMPTY, 0, 0, "the text is empty");
	return convert_encoding(x, file) && check_begin(x);
}

static bool utf8_to_latin1(const char *text, struct buf *out)
{
	for (const uint8_t *p = (const uint8_t *)text; *p; p++) {
		uint8_t lead = *p;

		if (lead >= 0xc4)
			return false;
		if (lead < 0xc0)
			buf_char(out, (char)lead);
		else
			buf_char(out, (char)(lead << 6 | (*++p & 0x3f)));
	}
	return true;
}

bool xml_encode(const struct xml *x, const char *text, struct buf *out)
{
	size_t begin = out->size;

	if (x->encoding == XML_LATIN1)
		return utf8_to_latin1(text, out);
	if (x->encoding == XML_UTF8)
		buf_text(out, text);
	else
		utf8_to_utf16(text, out);
	if (x->encoding == XML_UTF16BE && !out->failed)
		swap_units(out->data + begin, (out->size - begin) / 2, out->data + begin);
	return true;
}

/* ---- values ---- */

/* Returns the next character of a valid text and moves *p behind it. */
static uint32_t take_character(const uint8_t **p)
{
	uint8_t lead = *(*p)++;
	unsigned more = lead >= 0xf0 ? 3 : lead >= 0xe0 ? 2 : lead >= 0xc0;
	uint32_t c = more ? lead & (0x3fu >> more) : lead;

	for (; more > 0; more--)
		c = c << 6 | (*(*p)++ & 0x3f);
	return c;
}

static bool is_xml_character(uint32_t c)
{
	if (c < 0x20)
		return c == '\t' || c == '\n' || c == '\r';
	return (c < 0xd800 || c > 0xdfff) && c != 0xfffe && c != 0xffff;
}

bool xml_escape(const struct xml *x, const char *value, char quote, struct buf *out)
{
	const uint8_t *p = (const uint8_t *)value;

	if (!xmlCheckUTF8(p))
		return false;
	while (*p) {
		const uint8_t *begin = p;
		uint32_t c = take_character(&p);

		if (!is_xml_character(c))
			return false;
		if (c == '&')
			buf_text(out, "&amp;");
		else if (c == '<')
			buf_text(out, "&lt;");
		else if (c < 0x20 || c == (uint8_t)quote || (x->encoding == XML_LATIN1 && c > 0xff))
			buf_format(out, "&#%u;", c);
		else
			buf_add(out, begin, (size_t)(p - begin));
	}
	return true;
}

/* ---- places and faults ---- */

/*
 * Is the text cut off within a tag? libxml2 reports a fault in such a tag at the end of the text;
 * the only fault is the missing rest.
 */
static bool is_cut(const struct xml *x)
{
	return x->ending && !x->closed;
}

bool xml_refuse(struct xml *x, size_t at, size_t length, const char *accepted, const char *format,
		...)
{
	size_t place = error_place(x, at);
	char message[sizeof(x->err->message)];
	va_list args;

	if (is_cut(x))
		return false;
	va_start(args, format);
	vsnprintf(message, sizeof(message), format, args);
	va_end(args);
	err_at(x->err, ERR_TEXT, place, error_place(x, at + length) - place, "%s", message);
	return err_accept(x->err, "%s", accepted);
}

bool xml_refuse_tag(struct xml *x, const struct xml_tag *tag, const char *accepted,
		    const char *message)
{
	return xml_refuse(x, tag->begin, tag->end - tag->begin, accepted, "%s", message);
}

/* Returns libxml2's position: it calls back before a tag's '>', and after everything else. */
static size_t offset_now(const struct xml *x)
{
	long at = xmlByteConsumed(x->parser);

	return at < 0 ? 0 : (size_t)at < x->text.size ? (size_t)at : x->text.size;
}

/*
 * Returns where the current element begins: at the last '<', since no attribute's value can contain
 * one.
 */
static size_t tag_begin(const struct xml *x, size_t at)
{
	while (at > 0 && (at >= x->text.size || x->text.data[at] != '<'))
		at--;
	return at;
}

/* ---- counting attributes ---- */

/*
 * libxml2 compares each attribute of a tag with all earlier ones, and calls back only after that.
 * So they are counted before it gets the text.
 *
 * This must see the same tags as libxml2. Up to its first fault libxml2 does; after a fault it
 * ends, at the latest behind that tag. No attribute can contain a '<', so each '<' begins the count
 * again.
 */

/* Returns the place behind the next `ending`, or the end of the text. */
static size_t find_behind(struct bytes text, size_t at, const char *ending)
{
	size_t length = strlen(ending);
	const uint8_t *found =
		at < text.size ? memmem(text.data + at, text.size - at, ending, length) : NULL;

	return found ? (size_t)(found - text.data) + length : text.size;
}

static bool xml_starts_with(struct bytes text, size_t at, const char *with)
{
	size_t length = strlen(with);

	return text.size - at >= length && memcmp(text.data + at, with, length) == 0;
}

/*
 * Skips a quoted string, from its quote to behind the closing quote or, with `tag`, to an earlier
 * '<'.
 */
static size_t pass_quoted(struct bytes text, size_t at, bool tag)
{
	uint8_t quote = text.data[at++];

	while (at < text.size && text.data[at] != quote && !(tag && text.data[at] == '<'))
		at++;
	return at < text.size && text.data[at] == quote ? at + 1 : at;
}

/* Skips a DOCTYPE. One with declarations is refused before they are read. */
static size_t pass_doctype(struct bytes text, size_t at)
{
	while (at < text.size && text.data[at] != '>') {
		uint8_t c = text.data[at];

		if (c == '[')
			return text.size;
		at = c == '"' || c == '\'' ? pass_quoted(text, at, false) : at + 1;
	}
	return at;
}

/* Counts the attributes of a tag, from its '<' to behind the tag, or to the next '<'. */
static bool count_attributes(struct xml *x, size_t *at)
{
	struct bytes text = x->text;
	size_t begin = (*at)++, count = 0;

	while (*at < text.size && text.data[*at] != '>' && text.data[*at] != '<') {
		bool quoted = text.data[*at] == '"' || text.data[*at] == '\'';

		*at = quoted ? pass_quoted(text, *at, true) : *at + 1;
		count += quoted;
		if (count > XML_ATTRIBUTES_MAX)
			return xml_refuse(x, begin, *at - begin, "4096 attributes at most",
					  "this tag has more than %d attributes",
					  XML_ATTRIBUTES_MAX);
	}
	return true;
}

static bool check_attributes(struct xml *x)
{
	struct bytes text = x->text;
	const uint8_t *next;
	size_t at = 0;

	while (at < text.size && (next = memchr(text.data + at, '<', text.size - at))) {
		at = (size_t)(next - text.data);
		if (xml_starts_with(text, at, "<!--"))
			at = find_behind(text, at + 4, "-->");
		else if (xml_starts_with(text, at, "<![CDATA["))
			at = find_behind(text, at + 9, "]]>");
		else if (xml_starts_with(text, at, "<?"))
			at = find_behind(text, at + 2, "?>");
		else if (xml_starts_with(text, at, "<!"))
			at = pass_doctype(text, at);
		else if (!count_attributes(x, &at))
			return false;
	}
	return true;
}

/* ---- tags ---- */

/* An open element that declares namespaces, with their number. */
struct xml_scope {
	unsigned depth, count;
};

/* Limits the open namespaces, since libxml2 walks through all of them for each name. */
static bool open_scope(struct xml *x, const struct xml_tag *tag, int count)
{
	struct xml_scope *more;

	if (count <= 0)
		return true;
	more = array_room(x->scopes, x->scope_count, &x->scope_room, sizeof(*more));
	if (!more)
		return err_memory(x->err);
	x->scopes = more;
	x->scopes[x->scope_count++] = (struct xml_scope){tag->depth, (unsigned)count};
	x->declared += (size_t)count;
	return x->declared <= XML_ATTRIBUTES_MAX ||
	       xml_refuse(x, tag->begin, tag->end - tag->begin, "4096 namespaces at most",
			  "more than %d namespaces are declared around this", XML_ATTRIBUTES_MAX);
}

static void close_scope(struct xml *x)
{
	if (x->scope_count > 0 && x->scopes[x->scope_count - 1].depth == x->depth)
		x->declared -= x->scopes[--x->scope_count].count;
}

static bool is_namespace(struct bytes name)
{
	return xml_is(name, "xmlns") || (name.size > 6 && memcmp(name.data, "xmlns:", 6) == 0);
}

/*
 * Reads the next attribute of a tag that libxml2 has read, from *at on, which is behind a name or
 * value.
 */
static bool next_attribute(const struct xml *x, size_t *at, size_t end, struct xml_attribute *out)
{
	const uint8_t *text = x->text.data, *closing;
	size_t name;

	out->begin = *at;
	while (*at < end && xml_is_space(text[*at]))
		++*at;
	name = *at;
	while (*at < end && !xml_is_space(text[*at]) && !memchr("=/>", text[*at], 3))
		++*at;
	if (*at == name)
		return false;
	out->name = (struct bytes){text + name, *at - name};
	while (*at < end && text[*at] != '"' && text[*at] != '\'')
		++*at;
	closing = *at < end ? memchr(text + *at + 1, text[*at], end - *at - 1) : NULL;
	if (!closing)
		return false;
	out->at = *at + 1;
	out->length = (size_t)(closing - text) - out->at;
	*at = out->at + out->length + 1;
	return true;
}

static bool grow_attributes(struct xml *x, size_t count)
{
	struct xml_attribute *more = array_room(x->attributes, count, &x->room, sizeof(*more));

	if (!more)
		return err_memory(x->err);
	x->attributes = more;
	return true;
}

/*
 * Pairs the attributes of the tag with libxml2's list, which has the same order, but without those
 * that declare a namespace. For each it gives name, prefix, URI, begin and end.
 */
static bool read_attributes(struct xml *x, struct xml_tag *tag, size_t at, const xmlChar **values,
			    size_t count)
{
	struct xml_attribute next;
	size_t used = 0;

	while (next_attribute(x, &at, tag->end, &next)) {
		if (!grow_attributes(x, tag->attribute_count))
			return false;
		if (is_namespace(next.name)) {
			next.value = (struct bytes){x->text.data + next.at, next.length};
			tag->namespaced = true;
		} else if (used < count) {
			const xmlChar **value = values + 5 * used++;

			next.value = (struct bytes){value[3], (size_t)(value[4] - value[3])};
		} else {
			break;
		}
		x->attributes[tag->attribute_count++] = next;
	}
	tag->attributes = x->attributes;
	return true;
}

/* Finds the end of the tag; false if the text ends inside of it. */
static bool find_tag(const struct xml *x, struct xml_tag *tag)
{
	const uint8_t *text = x->text.data;
	size_t at = offset_now(x), name;

	tag->begin = tag_begin(x, at);
	if (at < x->text.size && text[at] == '/')
		at++;
	if (at >= x->text.size || text[at] != '>')
		return false;
	tag->end = at + 1;
	name = tag->begin + 1;
	while (name < tag->end && !xml_is_space(text[name]) && !memchr("/>", text[name], 2))
		name++;
	tag->name = (struct bytes){text + tag->begin + 1, name - tag->begin - 1};
	return true;
}

static void finish_parse(struct xml *x, bool go_on)
{
	if (!go_on)
		xmlStopParser(x->parser);
}

static void on_start(void *user, const xmlChar *name, const xmlChar *prefix, const xmlChar *uri,
		     int namespace_count, const xmlChar **namespaces, int count, int defaulted,
		     const xmlChar **values)
{
	struct xml *x = user;
	struct xml_tag tag = {.depth = x->depth++};

	(void)name;
	(void)prefix;
	(void)uri;
	(void)namespaces;
	(void)defaulted;
	/* After a fault, libxml2 reports the part of the tag that it has read; ignore it. */
	if (x->err->code != ERR_NONE || !find_tag(x, &tag))
		return;
	finish_parse(x, open_scope(x, &tag, namespace_count) &&
				read_attributes(x, &tag, tag.begin + 1 + tag.name.size, values,
						(size_t)count) &&
				(!x->events->open || x->events->open(x->user, &tag)));
}

static void on_end(void *user, const xmlChar *name, const xmlChar *prefix, const xmlChar *uri)
{
	struct xml *x = user;

	(void)name;
	(void)prefix;
	(void)uri;
	x->depth--;
	close_scope(x);
	x->closed = x->depth == 0;
	if (x->err->code == ERR_NONE && x->events->close)
		finish_parse(x, x->events->close(x->user, x->depth, offset_now(x)));
}

/* ---- other content ---- */

/*
 * Returns the offset of a text that libxml2 reports: it points into its copy of the whole text, or
 * into the current piece.
 */
static size_t xml_place_of(const struct xml *x, const xmlChar *part, size_t size)
{
	const xmlParserInput *in = x->parser->input;
	size_t now = offset_now(x);

	if (part >= in->base && part < in->end)
		return in->consumed + (size_t)(part - in->base);
	return now > size ? now - size : 0;
}

static void xml_on_text(void *user, const xmlChar *text, int size)
{
	struct xml *x = user;
	int spaces = 0;
	size_t left;

	while (spaces < size && xml_is_space(text[spaces]))
		spaces++;
	left = (size_t)(size - spaces);
	if (left > 0 && x->events->text)
		finish_parse(x,
			     x->events->text(x->user, xml_place_of(x, text + spaces, left), left));
}

/* libxml2 calls this before the declarations of a DOCTYPE, if there are any. */
static void xml_on_doctype(void *user, const xmlChar *name, const xmlChar *external,
			   const xmlChar *system)
{
	struct xml *x = user;
	size_t at = offset_now(x), begin = tag_begin(x, at);

	(void)name;
	(void)external;
	(void)system;
	if (x->events->doctype && !x->events->doctype(x->user, begin, at - begin))
		xmlStopParser(x->parser);
	else if (at < x->text.size && x->text.data[at] == '[')
		finish_parse(x,
			     xml_refuse(x, begin, at + 1 - begin, "a DOCTYPE without [ ], or none",
					"declarations are not read here"));
}

/* libxml2 calls this for any entity but XML's own. */
static xmlEntity *on_entity(void *user, const xmlChar *name)
{
	struct xml *x = user;

	finish_parse(x, xml_refuse(x, offset_now(x), 0,
				   "&amp; &lt; &gt; &quot; &apos; and characters by their number",
				   "this is not XML by itself: &%s; is declared nowhere",
				   (const char *)name));
	return NULL;
}

static void on_fault(void *user, xmlError *fault)
{
	struct xml *x = user;
	int size = fault->message ? (int)strcspn(fault->message, "\n") : 0;

	if (fault->code == XML_ERR_NO_MEMORY)
		err_memory(x->err);
	if (fault->level != XML_ERR_FATAL || x->err->code != ERR_NONE)
		return;
	xml_refuse(x, offset_now(x), 0, "XML with every element closed", "this is not XML: %.*s",
		   size, fault->message);
}

/* ---- the whole text ---- */

/*
 * Returns the size of the next piece. libxml2 moves its whole buffer each time it has consumed a
 * part, and may search an unfinished tag again with each piece; so a piece is at least as long as
 * the bytes that libxml2 holds back.
 */
static size_t next_piece(const struct xml *x, size_t left)
{
	size_t pending = x->text.size - left - offset_now(x), piece = PIECE;

	if (pending > PIECE)
		piece = pending < LOOKUP_MAX / 2 ? pending : LOOKUP_MAX - pending;
	if (piece < PIECE || pending > LOOKUP_MAX)
		piece = PIECE;
	return piece < left ? piece : left;
}

static bool parse_all(struct xml *x)
{
	const char *text = (const char *)x->text.data;
	size_t left = x->text.size;

	/*
	 * With NOENT an '&' in a value is a plain '&'. There is no other entity that libxml2 could
	 * replace.
	 */
	xmlCtxtUseOptions(x->parser, XML_PARSE_NONET | XML_PARSE_IGNORE_ENC | XML_PARSE_NOENT);
	while (left > 0 && x->err->code == ERR_NONE) {
		size_t piece = next_piece(x, left);

		xmlParseChunk(x->parser, text + (x->text.size - left), (int)piece, 0);
		left -= piece;
	}
	x->ending = true;
	if (x->err->code == ERR_NONE)
		xmlParseChunk(x->parser, text, 0, 1);
	if (x->err->code == ERR_NONE && !x->closed) {
		err_at(x->err, ERR_EARLY, error_place(x, x->text.size), 0,
		       "the text ends before its XML does");
		err_accept(x->err, "the whole text, with its first element closed");
	}
	return x->err->code == ERR_NONE;
}

/*
 * Checks that libxml2 can allocate its state of this thread: without memory for it, libxml2 crashes
 * or recurses forever. The block that is allocated and freed here is available for it.
 */
static bool has_thread_state(void)
{
#if LIBXML_VERSION >= 21200
	return xmlCheckThreadLocalStorage() == 0;
#else
	void *volatile room = malloc(sizeof(xmlGlobalState));
	bool has = room != NULL;

	free(room);
	return has && xmlGetGlobalState() != NULL;
#endif
}

bool xml_read(struct xml *x, const struct xml_events *events, void *user)
{
	xmlSAXHandler handler = {
		.initialized = XML_SAX2_MAGIC,
		.startElementNs = on_start,
		.endElementNs = on_end,
		.characters = xml_on_text,
		.cdataBlock = xml_on_text,
		.internalSubset = xml_on_doctype,
		.getEntity = on_entity,
		.serror = on_fault,
	};

	if (!has_thread_state())
		return err_memory(x->err);
	x->events = events;
	x->user = user;
	x->parser = xmlCreatePushParserCtxt(&handler, x, NULL, 0, NULL);
	return x->parser ? check_attributes(x) && parse_all(x) : err_memory(x->err);
}

void xml_release(struct xml *x)
{
	if (x->parser)
		xmlFreeParserCtxt(x->parser);
	free(x->attributes);
	free(x->scopes);
	buf_release(&x->own);
	*x = (struct xml){.text = {NULL, 0}};
}
