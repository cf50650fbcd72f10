/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The kanim codec. The engine itself (version 4.2.0 of its viewer) was asked which files it
 * accepts; where the codec is stricter, the test says so.
 */
#include "coding.h"
#include "random.h"
#include "sample.h"
#include "util/utf8.h"

#include <iconv.h>
#include <libxml/parser.h>
#include <math.h>

#define SCENE "<X3D version='3.2'><Scene><Shape><Box/></Shape></Scene></X3D>"
#define F0 "<frame url='a.x3d' time='0'/>"
#define F1 "<frame url='b.x3d' time='1'/>"

static const struct codec *codec(void)
{
	return codec_named("kanim");
}

static struct sample open_text(const char *text)
{
	struct buf bytes = BUF_INIT;

	buf_text(&bytes, text);
	return sample_decode("t.kanim", bytes);
}

static struct buf encode(const struct anim *a, struct bytes old)
{
	return encode_ok(codec(), a, old);
}

static void assert_encodes_to_itself(const struct sample *s)
{
	struct buf out = encode(s->anim, buf_bytes(&s->bytes));

	ck_assert_uint_eq(out.size, s->bytes.size);
	ck_assert_mem_eq(out.data, s->bytes.data, out.size);
	buf_release(&out);
}

/* ---- encodings ---- */

static const struct {
	const char *name, *mark, *declaration;
} encodings[] = {
	{"UTF-8", "", ""},
	{"UTF-8", "\xef\xbb\xbf", "<?xml version='1.0'?>\n"},
	{"UTF-8", "", "<?xml version='1.0' encoding='utf-8'?>\n"},
	{"UTF-16LE", "\xff\xfe", ""},
	{"UTF-16BE", "\xfe\xff", "<?xml version='1.0' encoding='UTF-16' ?>\n"},
	{"ISO-8859-1", "", "<?xml version=\"1.0\" encoding=\"Iso-8859-1\"?>\n"},
};
#define ENCODINGS ((int)ARRAY_SIZE(encodings))

static struct buf in_encoding(int which, const char *text)
{
	struct buf utf8 = BUF_INIT, out = BUF_INIT;
	char *from, *to;
	size_t left, room;
	iconv_t iconv_state = iconv_open(encodings[which].name, "UTF-8");

	buf_text(&utf8, encodings[which].declaration);
	buf_text(&utf8, text);
	buf_text(&out, encodings[which].mark);
	buf_reserve(&out, 4 * utf8.size);
	ck_assert(!utf8.failed && !out.failed && iconv_state != (iconv_t)-1);
	from = (char *)utf8.data;
	left = utf8.size;
	to = (char *)out.data + out.size;
	room = 4 * utf8.size;
	ck_assert(iconv(iconv_state, &from, &left, &to, &room) == 0);
	out.size = (size_t)(to - (char *)out.data);
	iconv_close(iconv_state);
	buf_release(&utf8);
	return out;
}

static struct sample open_encoded(int which, const char *text)
{
	return sample_decode("t.kanim", in_encoding(which, text));
}

/* ---- reading ---- */

static const char *const samples[] = {"stick.kanim", "stick_backwards.kanim", "stick_noloop.kanim",
				      "frames.castle-anim-frames", "utf16.kanim"};

START_TEST(samples_encode_to_themselves)
{
	for (size_t i = 0; i < ARRAY_SIZE(samples); i++) {
		char path[128];
		struct sample s;

		snprintf(path, sizeof(path), "tests/data/kanim/%s", samples[i]);
		s = sample_decode(samples[i], load_file(path));
		ck_assert_ptr_eq(s.codec, codec());
		assert_encodes_to_itself(&s);
		sample_close(&s);
	}
}
END_TEST

static const struct field *field_of(const struct clip *clip, const char *name)
{
	for (uint32_t i = 0; i < clip->field_count; i++)
		if (strcmp(clip->fields[i].name, name) == 0)
			return &clip->fields[i];
	ck_abort_msg("no field %s", name);
}

static void assert_values(const struct clip *clip, const char *name, bool loop, int64_t backwards,
			  int64_t scenes, float epsilon)
{
	ck_assert_str_eq(clip->name, name);
	ck_assert_int_eq(clip->loop, loop);
	ck_assert_int_eq(field_of(clip, "backwards")->integer, backwards);
	ck_assert_int_eq(field_of(clip, "scenes_per_time")->integer, scenes);
	ck_assert(field_of(clip, "equality_epsilon")->real == (double)epsilon);
}

static void assert_still(const struct clip *clip, uint32_t i, float time, const char *url)
{
	ck_assert_uint_lt(i, clip->frames);
	ck_assert_uint_eq(f32_bits(clip->stills[i].time), f32_bits(time));
	ck_assert_str_eq(clip->stills[i].url, url);
	ck_assert_uint_eq(clip->stills[i].origin, i);
}

START_TEST(every_attribute_is_read)
{
	struct buf bytes = load_file("tests/data/kanim/frames.castle-anim-frames");
	struct sample s = sample_decode("frames.castle-anim-frames", bytes);
	const struct clip *walk = &s.anim->clips[0], *run = &s.anim->clips[1];

	ck_assert_uint_eq(s.anim->clip_count, 2);
	assert_values(walk, "walk", true, 0, 30, 1e-4f);
	assert_values(run, "run", false, 1, 0, 0.001f);
	ck_assert_uint_eq(walk->frames, 3);
	assert_still(walk, 0, 0, "frame_0.x3d");
	assert_still(walk, 1, 1, "");
	assert_still(walk, 2, 1.5f, "frame_1.x3d");
	ck_assert_uint_eq(run->frames, 2);
	assert_still(run, 0, -0.0f, "frame_0.x3d");
	assert_still(run, 1, 0.5f, "frame_1.x3d");
	sample_close(&s);
}
END_TEST

START_TEST(attributes_that_are_not_there_have_their_defaults)
{
	struct sample s = open_text("<animation>" F0 "</animation>");

	assert_values(&s.anim->clips[0], "", false, 0, 30, 0.001f);
	ck_assert_str_eq(s.anim->clips[0].label, "%");
	sample_close(&s);
}
END_TEST

static const char *const accepted[] = {
	"<animation scenes_per_time='-1'>" F0 "</animation>",
	"<animation scenes_per_time='+3'>" F0 "</animation>",
	"<animation scenes_per_time='2147483647'>" F0 "</animation>",
	"<animation scenes_per_time='-2147483648'>" F0 "</animation>",
	"<animation equality_epsilon='1e-3'>" F0 "</animation>",
	"<animation equality_epsilon='-.5'>" F0 "</animation>",
	"<animation equality_epsilon='+5.'>" F0 "</animation>",
	"<animation scenes_per_time=' 3' equality_epsilon='  .5' loop=' 1'>" F0 "</animation>",
	"<animation loop='TRUE' backwards='False'>" F0 "</animation>",
	"<animation loop='0.5' backwards='-1'>" F0 "</animation>",
	"<animation loop='1e0' backwards='0'>" F0 "</animation>",
	"<animation name='x' optimization='y'>" F0 "</animation>",
	"<animation name=''>" F0 "</animation>",
	"<animation><frame url='a' time='0'/><frame url='a' time='1e-40'/></animation>",
	"<animation><frame url='a' time='-1'/><frame url='a' time='0'/></animation>",
	"<animation>text" F0 "<![CDATA[<frame/>]]><!-- <frame/> --><?frame?></animation>",
	"<animation><frame file_name='a.x3d' time='0'/></animation>",
	"<animation><frame file_name='a.x3d' url='b.x3d' time='0'/></animation>",
	"<animation><frame url='a.x3d' time='0' foo='x'>text<foo/></frame></animation>",
	"<animation><frame time='0'>" SCENE "</frame></animation>",
	"<animation><frame time='0'>text<foo/>" SCENE "</frame></animation>",
	"<animation><frame time='0'><p:a/><X3D><X3D/><X3D/></X3D></frame></animation>",
	"<animation><frame url='a.x3d' time='0'>" SCENE SCENE "</frame></animation>",
	"<animations foo='1' xmlns='u:x'>t<animation>" F0 "</animation></animations>",
	"<animations><animation name='a'>" F0 "</animation><animation name='a'>" F0
	"</animation></animations>",
	"<!DOCTYPE animation><animation>" F0 "</animation>",
	"<!DOCTYPE animation SYSTEM 'nowhere.dtd'><animation>" F0 "</animation>",
	"<animation><frame url='frame_0&#x2e;x3d' time='&#48;'/></animation>",
	"<animation\r\n\tloop\t=\r\n'true'\r\n>\r\n" F0 "\r\n\r\n</animation\t>\r\n<!-- -->\r\n",
	"<!-- c -->\n<animation>" F0 "</animation>\n<?end?>\n",
	"<animation><frame url='a&amp;b&#38;&lt;&quot;&apos;.x3d'\ttime = "
	"\"0\"></frame></animation>",
	"<animation name='caf\xc3\xa9'><!-- \xc3\xbc -->" F0 "</animation>",
};

START_TEST(what_the_engine_loads_is_kept_to_the_byte)
{
	const char *text = accepted[_i];

	for (int e = 0; e < ENCODINGS; e++) {
		struct sample s = open_encoded(e, text);

		assert_encodes_to_itself(&s);
		ck_assert(codec()->probe(buf_bytes(&s.bytes)));
		sample_close(&s);
	}
}
END_TEST

/* Texts that are refused. `place`: the expected place of the error; "": it is not checked. */
static const struct refusal {
	const char *text, *words, *place;
} refusals[] = {
	{"<animation scenes_per_time='29.97'>" F0 "</animation>", "scenes_per_time", "29.97"},
	{"<animation scenes_per_time=' 3 '>" F0 "</animation>", "whole number", " 3 "},
	{"<animation scenes_per_time='1e1'>" F0 "</animation>", "whole number", "1e1"},
	{"<animation scenes_per_time=''>" F0 "</animation>", "whole number", ""},
	{"<animation scenes_per_time='-'>" F0 "</animation>", "whole number", "-"},
	/* The engine reads integers as Pascal does, and would accept these. */
	{"<animation scenes_per_time='$1F'>" F0 "</animation>", "whole number", "$1F"},
	{"<animation scenes_per_time='2147483648'>" F0 "</animation>", "whole number", ""},
	{"<animation scenes_per_time='99999999999999999999999'>" F0 "</animation>", "whole", ""},
	{"<animation equality_epsilon='1,5'>" F0 "</animation>", "equality_epsilon", "1,5"},
	{"<animation equality_epsilon=' 0 '>" F0 "</animation>", "equality_epsilon", " 0 "},
	/* The engine loads these values, too, but then computes wrong poses. */
	{"<animation equality_epsilon='nan'>" F0 "</animation>", "equality_epsilon", "nan"},
	{"<animation equality_epsilon='1e39'>" F0 "</animation>", "equality_epsilon", "1e39"},
	{"<animation loop='yes'>" F0 "</animation>", "true or false", "yes"},
	{"<animation loop=' true '>" F0 "</animation>", "true or false", " true "},
	{"<animation loop=''>" F0 "</animation>", "true or false", ""},
	{"<animation loop='nan'>" F0 "</animation>", "true or false", "nan"},
	{"<animation backwards='on'>" F0 "</animation>", "backwards", "on"},
	{"<animation foo='1'>" F0 "</animation>", "scenes_per_time", "foo"},
	{"<animation  LOOP='true'>" F0 "</animation>", "no attribute LOOP", "LOOP"},
	{"<animation xmlns='http://x'>" F0 "</animation>", "no attribute xmlns", "xmlns"},
	{"<animation xmlns:q='http://x'>" F0 "</animation>", "no attribute xmlns:q", "xmlns:q"},
	{"<animation></animation>", "no frame", "<animation>"},
	{"<animation/>", "no frame", "<animation/>"},
	{"<animations><animation>" F0 "</animation><animation/></animations>", "no frame",
	 "<animation/>"},
	{"<animations></animations>", "no animation", ""},
	{"<Animation>" F0 "</Animation>", "no kanim", "<Animation>"},
	{"<p:animation xmlns:p='x'>" F0 "</p:animation>", "no kanim", ""},
	{"<html><body/></html>", "no kanim", "<html>"},
	{"<animations><animations/></animations>", "not an <animation>", "<animations/>"},
	{"<animation>" F0 "<foo/></animation>", "not a <frame>", "<foo/>"},
	{"<animation><p:frame url='a' time='0'/></animation>", "not a <frame>", ""},
	{"<animation><Frame url='a' time='0'/></animation>", "not a <frame>", ""},
	{"<animation><frame url='a'/></animation>", "no time", "<frame url='a'/>"},
	{"<animation><frame time='0'/></animation>", "no url", "<frame time='0'/>"},
	{"<animation><frame time='0'></frame></animation>", "no url", "<frame time='0'>"},
	{"<animation><frame time='0'><a><X3D/></a></frame></animation>", "no scene", ""},
	{"<animation><frame time='0'><p:X3D/></frame></animation>", "no scene", ""},
	{"<animation><frame time='0'>" SCENE SCENE "</frame></animation>", "more than one", ""},
	{"<animation><frame url='' time='0'/></animation>", "url", ""},
	{"<animation><frame url='' time='0'>" SCENE "</frame></animation>", "url", ""},
	{"<animation>" F0 F0 "</animation>", "not after", "0"},
	{"<animation>" F1 F0 "</animation>", "not after", "0"},
	{"<animation>" F1 "<frame url='a' time='1.00000001'/></animation>", "float32",
	 "1.00000001"},
	{"<animation>" F0 "<frame url='a' time='1e-46'/></animation>", "float32", "1e-46"},
	{"<animation><frame url='a' time='-0'/>" F0 "</animation>", "not after", "0"},
	{"<animation><frame url='a' time=' 0 '/></animation>", "time", " 0 "},
	{"<animation><frame url='a' time='0x10'/></animation>", "time", "0x10"},
	{"<animation><frame url='a' time='1f'/></animation>", "time", "1f"},
	{"<animation><frame url='a' time=''/></animation>", "time", ""},
	{"<animation><frame url='a' time='nan'/></animation>", "time", "nan"},
	{"<animation><frame url='a' time='inf'/></animation>", "time", "inf"},
	{"<animation><frame url='a' time='1e39'/></animation>", "time", "1e39"},
	{"<animation>" F0 "</animation>x", "not XML", ""},
	{"<animation>" F0 "</animation><animation>" F0 "</animation>", "not XML", ""},
	{"<animation loop='1' loop='1'>" F0 "</animation>", "not XML", ""},
	{"<animation loop=1>" F0 "</animation>", "not XML", ""},
	{"<animation>" F0, "ends before", ""},
	{"", "empty", ""},
	{"\xef\xbb\xbf", "ends before", ""},
	{"text", "not XML", ""},
	{"<?xml version='1.0' encoding='windows-1252'?><animation>" F0 "</animation>", "encoding",
	 "windows-1252"},
	{"<?xml version='1.0' encoding='UTF-16'?><animation>" F0 "</animation>", "encoding",
	 "UTF-16"},
	{"<animation name='\xe9'>" F0 "</animation>", "not XML", ""},
	{"<animation name='\xed\xa0\x80'>" F0 "</animation>", "not XML", ""},
	{"<!DOCTYPE animation []><animation>" F0 "</animation>", "declarations", ""},
	{"<!DOCTYPE animation [<!ATTLIST animation loop CDATA 'true'>]><animation>" F0
	 "</animation>",
	 "declarations", ""},
	{"<!DOCTYPE animation SYSTEM 'x'><animation><frame url='&e;' time='0'/></animation>", "&e;",
	 ""},
	{"<!DOCTYPE animation SYSTEM 'x'><animation>&e;" F0 "</animation>", "&e;", ""},
};

static void assert_refused(struct bytes bytes, const struct refusal *r)
{
	struct err err = {0};
	struct anim *a = codec()->decode(bytes, NULL, &err);

	ck_assert_msg(!a, "accepted: %s", r->text);
	ck_assert_int_eq(err.code, ERR_FORMAT);
	ck_assert_msg(err.placed, "%s", r->text);
	ck_assert_uint_le(err.at, bytes.size);
	ck_assert_msg(strstr(err.message, r->words) || strstr(err.accepted, r->words),
		      "\"%s\" is not in \"%s\" (%s): %s", r->words, err.message, err.accepted,
		      r->text);
	ck_assert(!codec()->probe(bytes));
	ck_assert_ptr_null(codec()->decode(bytes, NULL, NULL));
}

START_TEST(what_the_engine_does_not_load_is_refused)
{
	const struct refusal *r = &refusals[_i];
	size_t length = strlen(r->place);
	struct err err = {0};

	assert_refused(bytes_of(r->text), r);
	codec()->decode(bytes_of(r->text), NULL, &err);
	if (length == 0)
		return;
	ck_assert_msg(err.length == length && memcmp(r->text + err.at, r->place, length) == 0,
		      "%s: at %zu, %zu", r->text, err.at, err.length);
}
END_TEST

START_TEST(faults_are_placed_by_line_and_character)
{
	static const char text[] =
		"<animation name='\xc3\xa9\xc3\xa9'>" F0 "<frame url='b' time='x'/></animation>";

	for (int e = 0; e < ENCODINGS; e++) {
		struct buf bytes = in_encoding(e, text);
		struct buf decoded = BUF_INIT;
		struct bytes utf8 = utf8_text(buf_bytes(&bytes), &decoded);
		struct err err = {0};
		struct position place;

		ck_assert_ptr_null(codec()->decode(buf_bytes(&bytes), NULL, &err));
		ck_assert_uint_eq(err.length, 1);
		ck_assert_uint_lt(err.at, utf8.size);
		ck_assert_uint_eq(utf8.data[err.at], 'x');
		place = err_locate(buf_bytes(&bytes), err.at);
		ck_assert_uint_eq(place.line, encodings[e].declaration[0] ? 2 : 1);
		ck_assert_uint_eq(place.column,
				  strlen("<animation name='ee'>" F0 "<frame url='b' time='x"));
		buf_release(&decoded);
		buf_release(&bytes);
	}
}
END_TEST

START_TEST(half_a_unit_and_nuls_are_refused)
{
	static const struct refusal half = {"half a unit", "half a character", ""};
	static const struct refusal nul = {"a NUL", "NUL", ""};
	static const struct refusal mark = {"a mark alone", "ends before", ""};
	struct buf bytes = in_encoding(3, "<animation>" F0 "</animation>");

	assert_refused((struct bytes){bytes.data, bytes.size - 1}, &half);
	assert_refused((struct bytes){bytes.data, 2}, &mark);
	bytes.data[40] = bytes.data[41] = 0;
	assert_refused(buf_bytes(&bytes), &nul);
	buf_release(&bytes);
}
END_TEST

/*
 * libxml2 would recognise these encodings by their first bytes, but the codec could not find the
 * places of its attributes.
 */
START_TEST(texts_of_other_encodings_are_refused)
{
	static const char *const names[] = {"UTF-16LE", "UTF-16BE", "UCS-4LE", "UCS-4BE",
					    "EBCDIC-US"};
	static const struct refusal other = {"another encoding", "XML", ""};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		char text[] = "<?xml version='1.0'?><animation>" F0 "</animation>", out[1024];
		char *from = text, *to = out;
		size_t left = sizeof(text) - 1, room = sizeof(out);
		iconv_t iconv_state = iconv_open(names[i], "UTF-8");

		ck_assert(iconv_state != (iconv_t)-1);
		ck_assert(iconv(iconv_state, &from, &left, &to, &room) == 0);
		assert_refused((struct bytes){(const uint8_t *)out, sizeof(out) - room}, &other);
		iconv_close(iconv_state);
	}
}
END_TEST

/* ---- nothing is fetched, nothing unfolds ---- */

static xmlParserInput *refuse_to_load(const char *url, const char *id, xmlParserCtxt *parser)
{
	(void)id;
	(void)parser;
	ck_abort_msg("%s would be opened", url ? url : "something");
}

static const char *const bombs[] = {
	"<!DOCTYPE a [<!ENTITY a 'aaaaaaaaaa'><!ENTITY b '&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;'>"
	"<!ENTITY c '&b;&b;&b;&b;&b;&b;&b;&b;&b;&b;'><!ENTITY d '&c;&c;&c;&c;&c;&c;&c;&c;&c;&c;'>"
	"<!ENTITY e '&d;&d;&d;&d;&d;&d;&d;&d;&d;&d;'><!ENTITY f '&e;&e;&e;&e;&e;&e;&e;&e;&e;&e;'>]>"
	"<animation name='&f;'>" F0 "&f;</animation>",
	"<!DOCTYPE a SYSTEM 'file:///etc/passwd' [<!ENTITY x SYSTEM 'file:///etc/passwd'>]>"
	"<animation>" F0 "&x;</animation>",
	"<!DOCTYPE a [<!ENTITY % p SYSTEM 'http://127.0.0.1/x.dtd'> %p;]><animation>" F0
	"</animation>",
	"<!DOCTYPE a [<!ENTITY % p '<!ENTITY x \"y\">'> %p;]><animation name='&x;'>" F0
	"</animation>",
	"<!DOCTYPE a PUBLIC '-//x//y' 'http://127.0.0.1/x.dtd'><animation name='&x;'>" F0
	"</animation>",
	"<!DOCTYPE a SYSTEM 'http://127.0.0.1/x.dtd' [%x;]><animation>" F0 "</animation>",
	"<?xml version='1.0' standalone='no'?><!DOCTYPE a SYSTEM 'x.dtd'><animation>" F0
	"&x;</animation>",
};

START_TEST(entities_do_not_unfold)
{
	struct err err = {0};

	xmlSetExternalEntityLoader(refuse_to_load);
	ck_assert_ptr_null(codec()->decode(bytes_of(bombs[_i]), NULL, &err));
	ck_assert_int_eq(err.code, ERR_FORMAT);
}
END_TEST

START_TEST(a_named_dtd_is_not_fetched)
{
	struct sample s;

	xmlSetExternalEntityLoader(refuse_to_load);
	s = open_text("<!DOCTYPE a SYSTEM 'http://127.0.0.1/x.dtd'><animation>" F0 "</animation>");
	assert_encodes_to_itself(&s);
	sample_close(&s);
}
END_TEST

/* ---- damage ---- */

static void assert_sound(const uint8_t *data, size_t size)
{
	uint8_t *exact = malloc(size ? size : 1);
	struct bytes bytes = {exact, size};
	struct buf decoded = BUF_INIT;
	struct err err = {0};
	struct anim *a;

	ck_assert_ptr_nonnull(exact);
	memcpy(exact, data, size);
	a = codec()->decode(bytes, NULL, &err);
	if (a) {
		struct buf out = encode(a, bytes);

		ck_assert(bytes_equal(buf_bytes(&out), bytes));
		buf_release(&out);
	} else {
		ck_assert_int_eq(err.code, ERR_FORMAT);
		ck_assert_uint_gt(strlen(err.message), 1);
		ck_assert_uint_le(err.at, utf8_text(bytes, &decoded).size);
	}
	buf_release(&decoded);
	anim_free(a);
	free(exact);
}

static const char damage_text[] =
	"<?xml version='1.0' encoding='UTF-8'?>\r\n<!-- \xc3\xa9 -->\n"
	"<!DOCTYPE animations>\n<animations>\n <animation name=\"w&amp;\" loop='true'>\n"
	"  <frame url='a.x3d' time=\"0\"/>\n  <frame time='0.5' x:y='z'><X3D a=\"'\"/></frame>\n"
	" </animation>\n <animation backwards='1' scenes_per_time='2'>" F1
	"</animation>\n</animations>\n";

START_TEST(cut_at_every_length)
{
	struct buf bytes = _i < ENCODINGS ? in_encoding(_i, damage_text + 40)
					  : load_file("tests/data/kanim/frames.castle-anim-frames");

	for (size_t size = 0; size <= bytes.size; size++)
		assert_sound(bytes.data, size);
	buf_release(&bytes);
}
END_TEST

START_TEST(every_byte_changed)
{
	static const uint8_t values[] = {0, '<', '>', '"', '\'', '&', '/', ' ', '9', 0x80, 0xff};
	struct buf bytes = in_encoding(_i, damage_text + (encodings[_i].declaration[0] ? 40 : 0));

	for (size_t i = 0; i < bytes.size; i++) {
		uint8_t was = bytes.data[i];

		for (size_t k = 0; k < ARRAY_SIZE(values); k++) {
			bytes.data[i] = values[k];
			assert_sound(bytes.data, bytes.size);
		}
		bytes.data[i] = was;
	}
	buf_release(&bytes);
}
END_TEST

/* ---- attributes edited ---- */

static struct clip *edit_clip(struct anim *a, uint32_t clip)
{
	struct clip *c = anim_edit_clip(a, clip);
	struct field *fields = arena_alloc(&a->arena, c->field_count, sizeof(*fields));

	memcpy(fields, c->fields, c->field_count * sizeof(*fields));
	c->fields = fields;
	return c;
}

static void set_field(struct clip *clip, const char *name, double value)
{
	struct field *field = (struct field *)(uintptr_t)field_of(clip, name);

	if (field->type == FIELD_REAL)
		field->real = value;
	else
		field->integer = (int64_t)value;
}

/* Sets the attributes in a list like "name=x loop=1". */
static void set_all(struct clip *clip, const char *edits)
{
	static char kept[64];
	char name[64], value[64];

	for (int used; sscanf(edits, " %63[^=]=%63s%n", name, value, &used) == 2; edits += used) {
		if (strcmp(name, "name") == 0)
			clip->name = strcpy(kept, value);
		else if (strcmp(name, "loop") == 0)
			clip->loop = value[0] == '1';
		else
			set_field(clip, name, (double)strtof(value, NULL));
	}
}

static const struct {
	const char *text, *edits, *wanted;
} attribute_edits[] = {
	{"<animation loop='true' backwards = \"TRUE\">" F0 "</animation>", "loop=0",
	 "<animation loop='false' backwards = \"TRUE\">" F0 "</animation>"},
	{"<animation loop='1' backwards='2'>" F0 "</animation>", "loop=1 backwards=1",
	 "<animation loop='1' backwards='2'>" F0 "</animation>"},
	{"<animation loop='1' backwards='2'>" F0 "</animation>", "backwards=0",
	 "<animation loop='1' backwards='false'>" F0 "</animation>"},
	{"<animation scenes_per_time='+030'>" F0 "</animation>", "scenes_per_time=30",
	 "<animation scenes_per_time='+030'>" F0 "</animation>"},
	{"<animation scenes_per_time='+030'>" F0 "</animation>", "scenes_per_time=-4",
	 "<animation scenes_per_time='-4'>" F0 "</animation>"},
	{"<animation equality_epsilon='1e-3'>" F0 "</animation>", "equality_epsilon=0.001",
	 "<animation equality_epsilon='1e-3'>" F0 "</animation>"},
	{"<animation equality_epsilon='1e-3'>" F0 "</animation>", "equality_epsilon=1e-7",
	 "<animation equality_epsilon='0.0000001'>" F0 "</animation>"},
	{"<animation name='a'>" F0 "</animation>", "name=\xc3\xa9<&'\">",
	 "<animation name='\xc3\xa9&lt;&amp;&#39;\">'>" F0 "</animation>"},
	/* An attribute that is absent is written only if its value is not the default. */
	{"<animation>" F0 "</animation>",
	 "loop=0 backwards=0 scenes_per_time=30 equality_epsilon=0.001",
	 "<animation>" F0 "</animation>"},
	{"<animation>" F0 "</animation>", "loop=1", "<animation loop=\"true\">" F0 "</animation>"},
	{"<animation\n  optimization = 'x'\n>" F0 "</animation>", "loop=1 name=w",
	 "<animation\n  optimization = 'x'\n  name='w'\n  loop='true'\n>" F0 "</animation>"},
	{"<animation\tloop=\"true\" >" F0 "</animation>", "scenes_per_time=1 loop=0",
	 "<animation\tloop=\"false\"\tscenes_per_time=\"1\" >" F0 "</animation>"},
	{"<animation equality_epsilon='1' scenes_per_time='1' backwards='0' loop='0' name='n'>" F0
	 "</animation>",
	 "name=m loop=1 backwards=1 scenes_per_time=2 equality_epsilon=2",
	 "<animation equality_epsilon='2' scenes_per_time='2' backwards='true' loop='true' "
	 "name='m'>" F0 "</animation>"},
};

START_TEST(an_edit_of_an_attribute_changes_just_its_bytes)
{
	for (int e = 0; e < ENCODINGS; e++) {
		struct sample s = open_encoded(e, attribute_edits[_i].text), now;
		struct buf wanted = in_encoding(e, attribute_edits[_i].wanted);
		struct anim *edited = anim_edit(s.anim);

		set_all(edit_clip(edited, 0), attribute_edits[_i].edits);
		now = sample_store(&s, edited);
		ck_assert_msg(bytes_equal(buf_bytes(&now.bytes), buf_bytes(&wanted)), "%s: %.*s",
			      encodings[e].name, (int)now.bytes.size, now.bytes.data);
		sample_close(&now);
		anim_free(edited);
		buf_release(&wanted);
		sample_close(&s);
	}
}
END_TEST

START_TEST(what_the_encoding_has_not_is_written_by_its_number)
{
	static const char wanted[] = "name='&#25915;\xe9'";
	struct sample s = open_encoded(5, "<animation name='a'>" F0 "</animation>"), now;
	struct anim *edited = anim_edit(s.anim);

	edit_clip(edited, 0)->name = "\xe6\x94\xbb\xc3\xa9";
	now = sample_store(&s, edited);
	ck_assert_ptr_nonnull(memmem(now.bytes.data, now.bytes.size, wanted, sizeof(wanted) - 1));
	sample_close(&now);
	anim_free(edited);
	sample_close(&s);
}
END_TEST

/* ---- frames edited ---- */

/*
 * Sets the stills to a list like "1:0.5:b.x3d -:2:c.x3d": old frame ("-": a new one), time and url
 * ("=": the old value).
 */
static void set_stills(struct anim *a, uint32_t clip, const char *text)
{
	struct clip *c = anim_edit_clip(a, clip);
	struct still *stills = arena_alloc(&a->arena, strlen(text), sizeof(*stills));
	const struct still *old = c->stills;
	char frame[8], time[32], url[64];
	int used;

	c->stills = stills;
	c->frames = 0;
	for (; sscanf(text, " %7[^:]:%31[^:]:%63s%n", frame, time, url, &used) == 3; text += used) {
		struct still *still = &stills[c->frames++];

		*still = (struct still){.url = "", .origin = ANIM_NEW};
		if (frame[0] != '-')
			*still = old[atoi(frame)];
		if (time[0] != '=')
			still->time = strtof(time, NULL);
		if (url[0] != '=')
			still->url = arena_text(&a->arena, url, strlen(url));
	}
}

#define HEAD "<animation loop='true'> <!-- first -->"
#define TAIL "\n <!-- last --> </animation>\n"
#define A "\n  <frame url='a.x3d' time='0.0' />"
#define B "\r\n  <frame  time=\"1.0\"  file_name=\"b.x3d\" foo='x'/>"
#define C "\n\n  <!-- c -->  <frame time='2'>" SCENE "</frame>"
#define D "\n  <frame url='d.x3d' time='3'>\n  </frame>"

static const struct {
	const char *edit, *wanted;
} frame_edits[] = {
	{"0:=:= 1:=:= 2:=:= 3:=:=", HEAD A B C D TAIL},
	{"0:=:= 1:1.25:= 2:=:= 3:=:=",
	 HEAD A "\r\n  <frame  time=\"1.25\"  file_name=\"b.x3d\" foo='x'/>" C D TAIL},
	{"0:-1:z&.x3d 1:=:\"' 2:2.5:= 3:=:=",
	 HEAD "\n  <frame url='z&amp;.x3d' time='-1' />"
	      "\r\n  <frame  time=\"1.0\"  file_name=\"&#34;'\" foo='x'/>"
	      "\n\n  <!-- c -->  <frame time='2.5'>" SCENE "</frame>" D TAIL},
	/* Frames that are removed with their line. */
	{"0:=:= 2:=:= 3:=:=", HEAD A C D TAIL},
	{"1:=:= 2:=:= 3:=:=", HEAD B C D TAIL},
	{"0:=:= 1:=:= 2:=:=", HEAD A B C TAIL},
	{"0:=:= 1:=:= 3:=:=", HEAD A B "\n\n  <!-- c -->" D TAIL},
	{"2:=:=", HEAD C TAIL},
	/* New frames, written like their neighbours. */
	{"0:=:= -:0.5:n.x3d 1:=:= 2:=:= 3:=:=",
	 HEAD A "\n  <frame url='n.x3d' time='0.5' />" B C D TAIL},
	{"0:=:= 1:=:= -:1.5:n.x3d 2:=:= 3:=:=",
	 HEAD A B "\r\n  <frame  time=\"1.5\"  file_name=\"n.x3d\"/>" C D TAIL},
	{"0:=:= 1:=:= 2:=:= -:2.5:n.x3d -:2.75:m.x3d 3:=:=",
	 HEAD A B C "  <frame url='n.x3d' time='2.5'/>  <frame url='m.x3d' time='2.75'/>" D TAIL},
	{"0:=:= 1:=:= 2:=:= 3:=:= -:4:n.x3d",
	 HEAD A B C D "\n  <frame url='n.x3d' time='4'/>" TAIL},
	{"-:-1:n.x3d 0:=:= 1:=:= 2:=:= 3:=:=",
	 HEAD "\n  <frame url='n.x3d' time='-1' />" A B C D TAIL},
	{"-:7:n.x3d -:8:m.x3d",
	 HEAD "\n  <frame url='n.x3d' time='7' />\n  <frame url='m.x3d' time='8' />"
	      "\n\n  <!-- c -->" TAIL},
	{"-:0.5:n.x3d 3:=:=", HEAD "\n\n  <!-- c -->\n  <frame url='n.x3d' time='0.5'/>" D TAIL},
	/* Exchanged times: whole elements change places. */
	{"1:0:= 0:1:= 2:=:= 3:=:=", HEAD "\n  <frame  time=\"0\"  file_name=\"b.x3d\" foo='x'/>"
					 "\r\n  <frame url='a.x3d' time='1' />" C D TAIL},
	{"3:0:= 1:1:= 0:2:=", NULL},
};

START_TEST(an_edit_of_frames_changes_just_theirs)
{
	struct sample s = open_text(HEAD A B C D TAIL), now;
	struct anim *edited = anim_edit(s.anim);

	set_stills(edited, 0, frame_edits[_i].edit);
	now = sample_store(&s, edited);
	assert_encodes_to_itself(&now);
	if (frame_edits[_i].wanted)
		ck_assert_msg(bytes_equal(buf_bytes(&now.bytes), bytes_of(frame_edits[_i].wanted)),
			      "%.*s", (int)now.bytes.size, now.bytes.data);
	sample_close(&now);
	anim_free(edited);
	sample_close(&s);
}
END_TEST

START_TEST(frames_are_edited_in_every_encoding)
{
	struct sample s = open_encoded(_i, HEAD A B C D TAIL), now;
	struct buf wanted = in_encoding(_i, HEAD A C "  <frame url='\xc3\xa9' time='2.5'/>" TAIL);
	struct anim *edited = anim_edit(s.anim);

	set_stills(edited, 0, "0:=:= 2:=:= -:2.5:\xc3\xa9");
	now = sample_store(&s, edited);
	ck_assert(bytes_equal(buf_bytes(&now.bytes), buf_bytes(&wanted)));
	sample_close(&now);
	anim_free(edited);
	buf_release(&wanted);
	sample_close(&s);
}
END_TEST

START_TEST(a_frame_that_comes_back_is_as_it_was)
{
	struct sample s = open_encoded(_i, HEAD A B C D TAIL), less, now;
	struct anim *edited = anim_edit(s.anim), *again;
	struct still *stills;

	set_stills(edited, 0, "0:=:= 3:=:=");
	less = sample_store(&s, edited);
	again = anim_edit(less.anim);
	set_stills(again, 0, "0:=:= -:1:x -:2.5:x 1:=:=");
	stills = (struct still *)(uintptr_t)again->clips[0].stills;
	for (unsigned i = 1; i <= 2; i++) {
		float time = stills[i].time;

		stills[i] = s.anim->clips[0].stills[i];
		stills[i].origin = ANIM_NEW;
		stills[i].time = time;
	}
	now = sample_store(&less, again);
	ck_assert_str_eq(now.anim->clips[0].stills[1].url, "b.x3d");
	ck_assert_str_eq(now.anim->clips[0].stills[2].url, "");
	if (_i == 0)
		ck_assert_ptr_nonnull(memmem(now.bytes.data, now.bytes.size, "foo='x'", 7));
	sample_close(&now);
	anim_free(again);
	sample_close(&less);
	anim_free(edited);
	sample_close(&s);
}
END_TEST

/* Chooses some of the old stills in any order and some new ones, at ascending times. */
static void shuffle_stills(struct anim *a)
{
	struct clip *c = anim_edit_clip(a, below(a->clip_count));
	uint32_t old = c->frames, *order = arena_alloc(&a->arena, old, sizeof(*order));
	struct still *stills = arena_alloc(&a->arena, 2 * old + 1, sizeof(*stills));
	const struct still *from = c->stills;
	float time = (float)below(10);

	for (uint32_t i = 0; i < old; i++) {
		uint32_t j = below(i + 1);

		order[i] = order[j];
		order[j] = i;
	}
	c->frames = 0;
	for (uint32_t i = 0; i < old; i++) {
		uint32_t pick = below(3) ? i : order[i];
		bool used = false;

		for (uint32_t k = 0; k < c->frames; k++)
			used |= stills[k].origin == pick;
		if (!used && below(4))
			stills[c->frames++] = from[pick];
		if (below(4) == 0)
			stills[c->frames++] = (struct still){.url = "n.x3d", .origin = ANIM_NEW};
	}
	if (c->frames == 0)
		stills[c->frames++] = (struct still){.url = "n.x3d", .origin = ANIM_NEW};
	for (uint32_t i = 0; i < c->frames; i++)
		stills[i].time = time += 0.25f * (float)(1 + below(8));
	c->stills = stills;
}

START_TEST(any_edit_comes_back_as_it_was_wanted)
{
	for (int chain = 0; chain < 50; chain++) {
		struct sample s =
			open_encoded(chain % ENCODINGS,
				     "<animations>\n <animation>\n" A B C D "\n </animation>\n"
				     " <animation name='b' >" F0 F1 "<frame time='9'>" SCENE
				     "</frame></animation>\n</animations>");

		for (int edit = 0; edit < 20; edit++) {
			struct anim *edited = anim_edit(s.anim);
			struct sample now;

			shuffle_stills(edited);
			now = sample_store(&s, edited);
			assert_encodes_to_itself(&now);
			anim_free(edited);
			sample_close(&s);
			s = now;
		}
		ck_assert_ptr_nonnull(memmem(s.bytes.data, s.bytes.size, "n", 1));
		sample_close(&s);
	}
}
END_TEST

/* ---- edits that cannot be stored ---- */

static void assert_not_stored(const struct sample *s, const struct anim *edited, const char *words)
{
	struct buf out = BUF_INIT;
	struct err err = {0};

	ck_assert(!codec()->encode(edited, buf_bytes(&s->bytes), &out, &err));
	ck_assert_int_eq(err.code, ERR_STORE);
	ck_assert_msg(strstr(err.message, words) || strstr(err.accepted, words),
		      "\"%s\" is not in \"%s\" (%s)", words, err.message, err.accepted);
	buf_release(&out);
}

static const struct {
	const char *edit, *words;
} bad_frames[] = {
	{"", "at least one frame"},
	{"0:=:= 1:0:= 2:=:= 3:=:=", "not after"},
	{"0:=:= 1:nan:= 2:=:= 3:=:=", "not after"},
	{"0:=:= 1:=:= 2:=:= 3:inf:=", "not after"},
	{"0:=:= 1:=:= 2:=:x.x3d", "scene of the frame at 2 s"},
	{"0:=:= 0:0.5:=", "no frame of the file"},
	{"0:=:\x01", "XML"},
	{"0:=:= -:1:x\xef\xbf\xbf", "XML"},
};

START_TEST(what_cannot_be_stored_is_refused_by_name)
{
	struct sample s = open_text(HEAD A B C D TAIL);
	struct anim *edited = anim_edit(s.anim);

	set_stills(edited, 0, bad_frames[_i].edit);
	assert_not_stored(&s, edited, bad_frames[_i].words);
	anim_free(edited);
	sample_close(&s);
}
END_TEST

START_TEST(stills_without_a_scene_cannot_be_stored)
{
	struct sample s = open_text(HEAD A B C D TAIL);
	struct anim *edited = anim_edit(s.anim);
	struct still *stills;

	set_stills(edited, 0, "0:=:= 1:=:=");
	stills = (struct still *)(uintptr_t)edited->clips[0].stills;
	stills[1].url = "";
	assert_not_stored(&s, edited, "a url for each frame");
	stills[1].origin = ANIM_NEW;
	assert_not_stored(&s, edited, "a url for each frame");
	stills[1].written = (struct bytes){NULL, 0};
	assert_not_stored(&s, edited, "a url for each frame");
	anim_free(edited);
	sample_close(&s);
}
END_TEST

START_TEST(animations_cannot_be_added_or_moved)
{
	struct buf bytes = load_file("tests/data/kanim/frames.castle-anim-frames");
	struct sample s = sample_decode("frames.castle-anim-frames", bytes);
	struct anim *edited = anim_edit(s.anim);
	struct clip *clips = (struct clip *)(uintptr_t)edited->clips, first = clips[0];

	clips[0] = clips[1];
	clips[1] = first;
	assert_not_stored(&s, edited, "animations");
	edited->clip_count = 1;
	clips[0] = first;
	assert_not_stored(&s, edited, "animations");
	anim_free(edited);
	sample_close(&s);
}
END_TEST

START_TEST(a_field_that_is_not_finite_is_refused)
{
	struct sample s = open_text("<animation>" F0 "</animation>");
	struct anim *edited = anim_edit(s.anim);

	set_field(edit_clip(edited, 0), "equality_epsilon", (double)INFINITY);
	assert_not_stored(&s, edited, "equality_epsilon");
	anim_free(edited);
	sample_close(&s);
}
END_TEST

START_TEST(a_new_file_says_what_the_model_says)
{
	static const struct bytes none = {NULL, 0};
	struct sample s = _i ? sample_decode("frames.castle-anim-frames",
					     load_file("tests/data/kanim/"
						       "frames.castle-anim-frames"))
			     : sample_open("stick.kanim");
	struct sample now = sample_decode(s.name, encode(s.anim, none));
	struct err err = {0};

	ck_assert_msg(anim_stored(s.anim, s.anim, now.anim, &err), "%s", err.message);
	assert_encodes_to_itself(&now);
	if (_i == 0)
		ck_assert_msg(bytes_equal(buf_bytes(&now.bytes),
					  bytes_of("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
						   "<animation loop=\"true\">\n"
						   "  <frame url=\"frame_0.x3d\" time=\"0.0\" />\n"
						   "  <frame url=\"frame_1.x3d\" time=\"1.0\" />\n"
						   "  <frame url=\"frame_2.x3d\" time=\"2.0\" />\n"
						   "</animation>\n")),
			      "%.*s", (int)now.bytes.size, now.bytes.data);
	sample_close(&now);
	sample_close(&s);
}
END_TEST

Suite *kanim_codec_suite(void);

Suite *kanim_codec_suite(void)
{
	Suite *suite = suite_create("kanim_codec");
	TCase *reading = tcase_create("reading"), *writing = tcase_create("writing");

	suite_add_tcase(suite, reading);
	tcase_add_test(reading, samples_encode_to_themselves);
	tcase_add_test(reading, every_attribute_is_read);
	tcase_add_test(reading, attributes_that_are_not_there_have_their_defaults);
	tcase_add_loop_test(reading, what_the_engine_loads_is_kept_to_the_byte, 0,
			    (int)ARRAY_SIZE(accepted));
	tcase_add_loop_test(reading, what_the_engine_does_not_load_is_refused, 0,
			    (int)ARRAY_SIZE(refusals));
	tcase_add_test(reading, faults_are_placed_by_line_and_character);
	tcase_add_test(reading, half_a_unit_and_nuls_are_refused);
	tcase_add_test(reading, texts_of_other_encodings_are_refused);
	tcase_add_loop_test(reading, entities_do_not_unfold, 0, (int)ARRAY_SIZE(bombs));
	tcase_add_test(reading, a_named_dtd_is_not_fetched);
	tcase_add_loop_test(reading, cut_at_every_length, 0, ENCODINGS + 1);
	tcase_add_loop_test(reading, every_byte_changed, 0, ENCODINGS);

	suite_add_tcase(suite, writing);
	tcase_add_loop_test(writing, an_edit_of_an_attribute_changes_just_its_bytes, 0,
			    (int)ARRAY_SIZE(attribute_edits));
	tcase_add_test(writing, what_the_encoding_has_not_is_written_by_its_number);
	tcase_add_loop_test(writing, an_edit_of_frames_changes_just_theirs, 0,
			    (int)ARRAY_SIZE(frame_edits));
	tcase_add_loop_test(writing, frames_are_edited_in_every_encoding, 0, ENCODINGS);
	tcase_add_loop_test(writing, a_frame_that_comes_back_is_as_it_was, 0, ENCODINGS);
	tcase_add_test(writing, any_edit_comes_back_as_it_was_wanted);
	tcase_add_loop_test(writing, what_cannot_be_stored_is_refused_by_name, 0,
			    (int)ARRAY_SIZE(bad_frames));
	tcase_add_test(writing, stills_without_a_scene_cannot_be_stored);
	tcase_add_test(writing, animations_cannot_be_added_or_moved);
	tcase_add_test(writing, a_field_that_is_not_finite_is_refused);
	tcase_add_loop_test(writing, a_new_file_says_what_the_model_says, 0, 2);
	return suite;
}
