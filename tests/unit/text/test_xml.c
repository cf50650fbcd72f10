/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_xml.c - the places of values in an XML text, and their bytes in its own encoding. */
#include "load.h"
#include "text/xml.h"

#include <check.h>
#include <string.h>

/* Everything that the reader reported about a text, one line each. */
struct told {
	struct xml xml;
	struct buf lines;
	const char *stop; /* the element that on_open refuses */
};

static void add_part(struct told *t, size_t begin, size_t end)
{
	buf_char(&t->lines, '[');
	buf_add(&t->lines, t->xml.text.data + begin, end - begin);
	buf_char(&t->lines, ']');
}

static bool on_open(void *user, const struct xml_tag *tag)
{
	struct told *t = user;

	if (t->stop && bytes_equal(tag->name, bytes_of(t->stop)))
		return xml_refuse_tag(&t->xml, tag, "another", "not this one");
	buf_format(&t->lines, "%u %.*s ", tag->depth, (int)tag->name.size, tag->name.data);
	add_part(t, tag->begin, tag->end);
	for (size_t i = 0; i < tag->attribute_count; i++) {
		const struct xml_attribute *a = &tag->attributes[i];

		add_part(t, a->begin, a->at + a->length + 1);
		buf_format(&t->lines, "%.*s=%.*s", (int)a->name.size, a->name.data,
			   (int)a->value.size, a->value.data);
	}
	buf_text(&t->lines, tag->namespaced ? " namespaced\n" : "\n");
	return true;
}

static bool on_close(void *user, unsigned depth, size_t end)
{
	struct told *t = user;

	buf_format(&t->lines, "%u closed %zu\n", depth, end);
	return true;
}

static bool on_text(void *user, size_t at, size_t length)
{
	struct told *t = user;

	buf_text(&t->lines, "text ");
	add_part(t, at, at + length);
	buf_char(&t->lines, '\n');
	return true;
}

static bool on_doctype(void *user, size_t at, size_t length)
{
	struct told *t = user;

	buf_text(&t->lines, "doctype ");
	add_part(t, at, at + length);
	buf_char(&t->lines, '\n');
	return true;
}

static const struct xml_events all = {on_open, on_close, on_text, on_doctype};

static bool tell(struct told *t, struct bytes file, const struct xml_events *events,
		 struct err *err)
{
	bool fine = xml_open(&t->xml, file, err) && xml_read(&t->xml, events, t);

	buf_char(&t->lines, '\0');
	return fine;
}

static void told_release(struct told *t)
{
	xml_release(&t->xml);
	buf_release(&t->lines);
}

static const struct {
	const char *text, *wanted;
} texts[] = {
	{"<a/>", "0 a [<a/>]\n0 closed 4\n"},
	{"<a\n>x</a >", "0 a [<a\n>]\ntext [x]\n0 closed 10\n"},
	{" <!-- <b> --><a b='1'\tc = \">\"><d/></a>",
	 "0 a [<a b='1'\tc = \">\">][ b='1']b=1[\tc = \">\"]c=>\n1 d [<d/>]\n1 closed 34\n"
	 "0 closed 38\n"},
	{"<a b='&lt;&#65;&amp;&quot;\n'/>", "0 a [<a b='&lt;&#65;&amp;&quot;\n'/>]"
					    "[ b='&lt;&#65;&amp;&quot;\n']b=<A&\" \n0 closed 30\n"},
	{"<p:a xmlns:p='u&amp;' q:b='1' xmlns='v' c=''/>",
	 "0 p:a [<p:a xmlns:p='u&amp;' q:b='1' xmlns='v' c=''/>][ xmlns:p='u&amp;']"
	 "xmlns:p=u&amp;[ q:b='1']q:b=1[ xmlns='v']xmlns=v[ c='']c= namespaced\n0 closed 46\n"},
	{"\xef\xbb\xbf<a>\xc3\xa9</a>", "0 a [<a>]\ntext [\xc3\xa9]\n0 closed 12\n"},
	{"<!DOCTYPE a SYSTEM 'x'><a/>", "doctype [<!DOCTYPE a SYSTEM 'x']\n0 a [<a/>]\n"
					"0 closed 27\n"},
	{"<a> \n<![CDATA[ <b/> ]]></a>", NULL},
};

START_TEST(everything_is_told_with_its_place)
{
	struct told t = {.lines = BUF_INIT};
	struct err err = {0};

	ck_assert_msg(tell(&t, bytes_of(texts[_i].text), &all, &err), "%s", err.message);
	if (texts[_i].wanted)
		ck_assert_str_eq((const char *)t.lines.data, texts[_i].wanted);
	told_release(&t);
}
END_TEST

/* libxml2 gets the text in pieces, and moves the part that it has not parsed yet. */
START_TEST(places_stay_true_in_long_texts)
{
	struct buf text = BUF_INIT;
	struct told t = {.lines = BUF_INIT};
	struct err err = {0};
	const char *line;
	unsigned count = 0;

	buf_text(&text, "<a>");
	for (unsigned i = 0; i < 20000; i++)
		buf_format(&text, "<b c='%u'/>%*s", i, (int)(i % 50), "");
	buf_text(&text, "<b c='");
	for (unsigned i = 0; i < 100000; i++)
		buf_char(&text, 'x');
	buf_text(&text, "'/></a>");
	ck_assert_msg(tell(&t, buf_bytes(&text), &all, &err), "%s", err.message);
	for (line = (const char *)t.lines.data; (line = strstr(line, "\n1 b ")); line++) {
		char wanted[64];

		snprintf(wanted, sizeof(wanted), "\n1 b [<b c='%u'/>][ c='%u']c=%u\n", count, count,
			 count);
		if (count++ < 20000)
			ck_assert(strncmp(line, wanted, strlen(wanted)) == 0);
	}
	ck_assert_uint_eq(count, 20001);
	told_release(&t);
	buf_release(&text);
}
END_TEST

START_TEST(a_reader_can_say_no)
{
	struct told t = {.lines = BUF_INIT, .stop = "b"};
	struct err err = {0};

	ck_assert(!tell(&t, bytes_of("<a><b/><c/><"), &all, &err));
	ck_assert_int_eq(err.code, ERR_TEXT);
	ck_assert_str_eq(err.message, "not this one");
	ck_assert_str_eq(err.accepted, "another");
	ck_assert_uint_eq(err.at, 3);
	ck_assert_uint_eq(err.length, 4);
	ck_assert_str_eq((const char *)t.lines.data, "0 a [<a>]\n");
	told_release(&t);
}
END_TEST

START_TEST(events_may_be_left_out)
{
	static const struct xml_events none = {NULL, NULL, NULL, NULL};
	struct told t = {.lines = BUF_INIT};

	ck_assert(tell(&t, bytes_of("<!DOCTYPE a><a>x<b/></a>"), &none, NULL));
	told_release(&t);
	t = (struct told){.lines = BUF_INIT};
	ck_assert(!tell(&t, bytes_of("<a>"), &none, NULL));
	told_release(&t);
}
END_TEST

/* A text that is cut before the end of its root has one fault: the end. */
START_TEST(a_text_that_is_cut_ends_early)
{
	static const char text[] =
		"<?xml version='1.0'?><!DOCTYPE a ><!-- c --><a b='x>' c='&amp;'>"
		"\xc3\xa9<![CDATA[x]]><?p i?><b><c/>&#65;</b ></a>";

	for (size_t size = 1; size < sizeof(text) - 1; size++) {
		struct told t = {.lines = BUF_INIT};
		struct err err = {0};

		ck_assert(!tell(&t, (struct bytes){(const uint8_t *)text, size}, &all, &err));
		ck_assert_msg(err.code == ERR_EARLY, "%zu: %s", size, err.message);
		ck_assert_uint_eq(err.at, size);
		told_release(&t);
	}
}
END_TEST

/* ---- limits ---- */

static void add_attributes(struct buf *text, unsigned count, const char *prefix)
{
	for (unsigned i = 0; i < count; i++)
		buf_format(text, " %sb%u='x'", prefix, i);
}

/*
 * Converts a text to another encoding; *before is the number of bytes at its start that places do
 * not count.
 */
static void encode_text(struct buf *text, enum xml_encoding encoding, size_t *before)
{
	static const char *const begins[] = {"", "\xff\xfe", "\xfe\xff",
					     "<?xml version='1.0' encoding='ISO-8859-1'?>"};
	static const size_t sizes[] = {0, 2, 2, 43}, places[] = {0, 0, 0, 43};
	struct xml x = {.encoding = encoding};
	struct buf out = BUF_INIT;

	buf_char(text, '\0');
	buf_add(&out, begins[encoding], sizes[encoding]);
	ck_assert(xml_encode(&x, (const char *)text->data, &out));
	buf_release(text);
	*text = out;
	*before = places[encoding];
}

/* In each encoding, also with namespace declarations among the attributes. */
START_TEST(a_tag_has_so_many_attributes)
{
	enum xml_encoding encoding = (enum xml_encoding)_i;

	for (unsigned more = 0; more < 2; more++) {
		struct told t = {.lines = BUF_INIT};
		struct buf text = BUF_INIT;
		struct err err = {0};
		size_t size;
		bool fine;

		buf_text(&text, "<a>\n<b");
		add_attributes(&text, 3000, "");
		add_attributes(&text, XML_ATTRIBUTES_MAX - 3000 + more, "xmlns:");
		buf_text(&text, "/></a>");
		encode_text(&text, encoding, &size);
		fine = tell(&t, buf_bytes(&text), &all, &err);
		ck_assert_msg(fine == !more, "%s", err.message);
		if (more) {
			ck_assert_int_eq(err.code, ERR_TEXT);
			ck_assert_str_eq(err.message, "this tag has more than 4096 attributes");
			ck_assert_uint_eq(err.at, size + 4);
		}
		told_release(&t);
		buf_release(&text);
	}
}
END_TEST

/* Text inside these is no attribute. */
static const char *const quoting[][2] = {
	{"<a><!--", "--></a>"},
	{"<!--", "--><a/>"},
	{"<a><![CDATA[", "]]></a>"},
	{"<a>", "</a>"},
	{"<?p", "?><a/>"},
	{"<a><?p ' ", "?></a>"},
	{"<!DOCTYPE a SYSTEM \"", "\"><a/>"},
	{"<!DOCTYPE a PUBLIC '-//a' \"<", "\"><a/>"},
	{"<a b=\"", "\"/>"},
	{"<a b=\">", "\"/>"},
	{"<a/><!-- <a", "-->"},
};

START_TEST(what_only_looks_like_attributes_is_not_counted)
{
	struct told t = {.lines = BUF_INIT};
	struct buf text = BUF_INIT;
	struct err err = {0};

	buf_text(&text, quoting[_i][0]);
	add_attributes(&text, XML_ATTRIBUTES_MAX + 1, "");
	buf_text(&text, quoting[_i][1]);
	ck_assert_msg(tell(&t, buf_bytes(&text),
			   &(const struct xml_events){on_open, on_close, NULL, NULL}, &err),
		      "%s", err.message);
	told_release(&t);
	buf_release(&text);
}
END_TEST

/* After each of these beginnings there is a tag, although it does not look so. */
static const char *const hiding[] = {
	"<a><!-- ' -->",
	"<a><!----><!-- - ' -> -->",
	"<a><![CDATA[ <!-- ]] ' ]]>",
	"<a><?p <!-- \" ?>",
	"<?xml version='1.0'?><!-- ' --><a>",
	"<!DOCTYPE a SYSTEM \"<!--\"><a>",
	"<!DOCTYPE a SYSTEM '<!-- \">'><a>",
	"<a c='\"'>",
	"<a c=\"'>\" d='--> ?> ]]>'>",
	"<a>\"'",
	"<a>x]]&gt;' <c/>",
	"<a c='&lt;!--'>",
	"<a\nc = '1'\n>",
};

START_TEST(attributes_cannot_be_hidden)
{
	struct told t = {.lines = BUF_INIT};
	struct buf text = BUF_INIT;
	struct err err = {0};

	buf_text(&text, hiding[_i]);
	buf_text(&text, "<b");
	add_attributes(&text, XML_ATTRIBUTES_MAX + 1, "");
	buf_text(&text, "/></a>");
	ck_assert(!tell(&t, buf_bytes(&text), &all, &err));
	ck_assert_str_eq(err.message, "this tag has more than 4096 attributes");
	ck_assert_uint_eq(err.at, strlen(hiding[_i]));
	told_release(&t);
	buf_release(&text);
}
END_TEST

/* Appends `count` nested elements. */
static void nest(struct buf *text, unsigned count, const char *inner)
{
	for (unsigned i = 0; i < count; i++)
		buf_format(text, "<a xmlns:b%u='x'>", i);
	buf_text(text, inner);
	for (unsigned i = 0; i < count; i++)
		buf_text(text, "</a>");
}

START_TEST(so_many_namespaces_are_around_an_element)
{
	static const struct xml_events none = {NULL, NULL, NULL, NULL};

	for (unsigned more = 0; more < 2; more++) {
		struct told t = {.lines = BUF_INIT};
		struct buf text = BUF_INIT;
		struct err err = {0};
		bool fine;

		/* Attributes of elements that are closed do not count. */
		buf_text(&text, "<r>\n");
		nest(&text, XML_ATTRIBUTES_MAX, "<b xml:c='x'/>");
		nest(&text, XML_ATTRIBUTES_MAX - 1,
		     more ? "<b xmlns='x' xmlns:c='x'/>" : "<b xmlns='x'/><b xmlns='x'/>");
		buf_text(&text, "</r>");
		fine = tell(&t, buf_bytes(&text), &none, &err);
		ck_assert_msg(fine == !more, "%s", err.message);
		if (more) {
			ck_assert_str_eq(err.message,
					 "more than 4096 namespaces are declared around this");
			ck_assert(memcmp(text.data + err.at, "<b xmlns", 8) == 0);
		}
		told_release(&t);
		buf_release(&text);
	}
}
END_TEST

/*
 * Values are as long as libxml2 accepts, which is 10 MB, and contain the bytes that it looks for in
 * every piece.
 */
START_TEST(a_long_value_is_whole)
{
	static const char wanted[] = "\n1 d [<d e='f'/>][ e='f']e=f\n";
	static const size_t sizes[] = {40000, 4000000, 6000000, 9950000};

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		struct told t = {.lines = BUF_INIT};
		struct buf text = BUF_INIT;
		struct err err = {0};
		const char *line;

		buf_text(&text, "<a><b c='");
		ck_assert(buf_reserve(&text, sizes[i]));
		memset(text.data + text.size, '>', sizes[i]);
		text.size += sizes[i];
		buf_text(&text, "'/>\n<d e='f'/></a>");
		ck_assert_msg(tell(&t, buf_bytes(&text), &all, &err), "%s", err.message);
		line = strstr((const char *)t.lines.data, "\n1 d ");
		ck_assert(line && strncmp(line, wanted, strlen(wanted)) == 0);
		ck_assert_uint_gt(t.lines.size, 3 * sizes[i]);
		told_release(&t);
		buf_release(&text);
	}
}
END_TEST

/* ---- values ---- */

static const struct {
	const char *file, *value;
	char quote;
	const char *wanted; /* NULL: XML cannot express the value */
} values[] = {
	{"<a/>", "plain", '"', "plain"},
	{"<a/>", "a&b<c>\"d'", '"', "a&amp;b&lt;c>&#34;d'"},
	{"<a/>", "\"d'", '\'', "\"d&#39;"},
	{"<a/>", "\t\n\r", '"', "&#9;&#10;&#13;"},
	{"<a/>", "\xc3\xa9\xe6\x94\xbb\xf0\x9f\x98\x80", '"',
	 "\xc3\xa9\xe6\x94\xbb\xf0\x9f\x98\x80"},
	{"<a/>", "\x1f", '"', NULL},
	{"<a/>", "\xef\xbf\xbe", '"', NULL},
	{"<a/>", "\xed\xa0\x80", '"', NULL},
	{"<a/>", "a\xa1z", '"', NULL},
	{"<a/>", "cut\xc3", '"', NULL},
	{"<a/>", "cut\xf0\x9f\x98", '"', NULL},
	{"<?xml version='1.0' encoding='ISO-8859-1'?><a/>", "cut\xc3", '"', NULL},
	{"<?xml version='1.0' encoding='ISO-8859-1'?><a/>", "\xc3\xbf\xc4\x80\xf0\x9f\x98\x80", '"',
	 "\xc3\xbf&#256;&#128512;"},
};

START_TEST(values_are_escaped)
{
	struct buf out = BUF_INIT;
	struct xml x;
	bool possible;

	ck_assert(xml_open(&x, bytes_of(values[_i].file), NULL));
	possible = xml_escape(&x, values[_i].value, values[_i].quote, &out);
	ck_assert_int_eq(possible, values[_i].wanted != NULL);
	buf_char(&out, '\0');
	if (possible)
		ck_assert_str_eq((const char *)out.data, values[_i].wanted);
	buf_release(&out);
	xml_release(&x);
}
END_TEST

/* ---- encodings ---- */

/* "<a b='é😀'/>", except in ISO-8859-1, which lacks the second character. */
static const struct {
	const char *bytes;
	size_t size;
	enum xml_encoding encoding;
	const char *text;
} encoded[] = {
	{"<a b='\xc3\xa9'/>", 11, XML_UTF8, "<a b='\xc3\xa9'/>"},
	{"\xff\xfe<\0a\0 \0b\0=\0'\0\xe9\0\x3d\xd8\x00\xde'\0/\0>\0", 26, XML_UTF16LE,
	 "\xef\xbb\xbf<a b='\xc3\xa9\xf0\x9f\x98\x80'/>"},
	{"\xfe\xff\0<\0a\0 \0b\0=\0'\0\xe9\xd8\x3d\xde\x00\0'\0/\0>", 26, XML_UTF16BE,
	 "\xef\xbb\xbf<a b='\xc3\xa9\xf0\x9f\x98\x80'/>"},
	{"<?xml version='1.0' encoding='iso-8859-1'?><a b='\xe9\x80'/>", 54, XML_LATIN1,
	 "<?xml version='1.0' encoding='iso-8859-1'?><a b='\xc3\xa9\xc2\x80'/>"},
};

START_TEST(texts_come_back_in_their_own_encoding)
{
	struct bytes file = {(const uint8_t *)encoded[_i].bytes, encoded[_i].size};
	struct told t = {.lines = BUF_INIT};
	struct buf out = BUF_INIT;
	struct err err = {0};

	ck_assert_msg(tell(&t, file, &all, &err), "%s", err.message);
	ck_assert_int_eq(t.xml.encoding, encoded[_i].encoding);
	ck_assert(bytes_equal(t.xml.text, bytes_of(encoded[_i].text)));
	ck_assert(xml_encode(&t.xml, encoded[_i].text, &out));
	ck_assert(bytes_equal(buf_bytes(&out), file));
	buf_release(&out);
	told_release(&t);
}
END_TEST

START_TEST(what_an_encoding_has_not_is_not_written)
{
	struct bytes file = bytes_of(encoded[3].bytes);
	struct buf out = BUF_INIT;
	struct xml x;

	ck_assert(xml_open(&x, file, NULL));
	ck_assert(xml_encode(&x, "\xc3\xbf", &out));
	ck_assert(out.size == 1 && out.data[0] == 0xff);
	ck_assert(!xml_encode(&x, "\xc4\x80", &out));
	buf_release(&out);
	xml_release(&x);
}
END_TEST

Suite *xml_suite(void);

Suite *xml_suite(void)
{
	Suite *suite = suite_create("xml");
	TCase *t = tcase_create("xml");

	suite_add_tcase(suite, t);
	tcase_add_loop_test(t, everything_is_told_with_its_place, 0, (int)ARRAY_SIZE(texts));
	tcase_add_test(t, places_stay_true_in_long_texts);
	tcase_add_test(t, a_reader_can_say_no);
	tcase_add_test(t, events_may_be_left_out);
	tcase_add_test(t, a_text_that_is_cut_ends_early);
	tcase_add_loop_test(t, a_tag_has_so_many_attributes, 0, XML_LATIN1 + 1);
	tcase_add_loop_test(t, what_only_looks_like_attributes_is_not_counted, 0,
			    (int)ARRAY_SIZE(quoting));
	tcase_add_loop_test(t, attributes_cannot_be_hidden, 0, (int)ARRAY_SIZE(hiding));
	tcase_add_test(t, so_many_namespaces_are_around_an_element);
	tcase_add_test(t, a_long_value_is_whole);
	tcase_add_loop_test(t, values_are_escaped, 0, (int)ARRAY_SIZE(values));
	tcase_add_loop_test(t, texts_come_back_in_their_own_encoding, 0, (int)ARRAY_SIZE(encoded));
	tcase_add_test(t, what_an_encoding_has_not_is_not_written);
	return suite;
}
