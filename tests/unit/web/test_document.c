/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_document.c - an animation file in memory says and takes what one on disk does. */
#include "sample.h"
#include "store/tree.h"
#include "web/document.h"

#include <limits.h>

#define NAME "wiki512.canm"
#define VIEW "walk/bones/hip.csv"

static const char edited[] = "frame,time,tx,ty,tz\n0,,0.25,-1,2\n1,,0.5000076,1,2.00001\n"
			     "2,,1,-1,2.65535\n";
static const char skeleton[] = "bone,parent,tx,ty,tz,rx,ry,rz,sx,sy,sz\n"
			       "hip,,0,1,0,0,0,0,1,1,1\n";

static struct err err;
static char beside[NAME_MAX + 1];
static const char *ignored;

static struct document *open_sample(const char *name)
{
	struct document *d = document_new(name);
	struct buf bytes;
	char path[128];

	ck_assert_ptr_nonnull(d);
	snprintf(path, sizeof(path), "tests/data/%s/%s", codec_for_name(name)->format->name, name);
	bytes = load_file(path);
	err_clear(&err);
	ck_assert_msg(document_open(d, &bytes, &err), "%s: %s", name, err.message);
	return d;
}

static struct buf text_of(const struct document *d, const char *path)
{
	struct buf out = BUF_INIT;

	ck_assert_msg(document_text(d, path, &out, &err), "%s: %s", path, err.message);
	return out;
}

static enum document_saved save(struct document *d, const char *path, const char *text)
{
	err_clear(&err);
	return document_save(d, path, bytes_of(text), beside, &ignored, &err);
}

static bool add_text(struct document *d, const char *name, const char *text)
{
	struct buf bytes = BUF_INIT;

	buf_text(&bytes, text);
	return document_add(d, name, &bytes);
}

static void open_again(struct document *d)
{
	struct bytes now = document_bytes(d);
	struct buf bytes = BUF_INIT;

	buf_add(&bytes, now.data, now.size);
	ck_assert_msg(document_open(d, &bytes, &err), "%s", err.message);
}

struct walk {
	const struct document *document;
	const struct tree *tree;
	char path[2 * TREE_PATH_MAX];
	unsigned views;
};

static bool check_view(void *closure, const char *name, const struct place *place)
{
	struct walk *w = closure, inner = *w;
	struct buf wanted = BUF_INIT, text;
	int length = snprintf(inner.path, sizeof(inner.path), "%s%s%s", w->path,
			      *w->path ? "/" : "", name);

	ck_assert_uint_lt((size_t)length, sizeof(inner.path));
	if (place->kind != PLACE_VIEW) {
		tree_list(w->tree, place, VIEW_SET_ALL, check_view, &inner);
	} else {
		inner.views++;
		ck_assert_int_eq(tree_render(w->tree, place, &wanted), 0);
		text = text_of(w->document, inner.path);
		ck_assert_msg(bytes_equal(buf_bytes(&text), buf_bytes(&wanted)), "%s", inner.path);
		buf_release(&text);
		buf_release(&wanted);
	}
	w->views = inner.views;
	return true;
}

START_TEST(every_text_is_that_of_the_file)
{
	const char *name = sample_names[_i];
	struct sample s = sample_open(name);
	struct document *d = open_sample(name);
	const struct tree tree = {s.version, name};
	const struct place top = {.kind = PLACE_FILE};
	struct walk w = {d, &tree, "", 0};

	s.anim->rotations = ROTATIONS_IN_TABLES; /* as the program shows them */
	ck_assert(tree_list(&tree, &top, VIEW_SET_ALL, check_view, &w));
	ck_assert_uint_gt(w.views, 5);
	document_free(d);
	sample_close(&s);
}
END_TEST

START_TEST(a_listing_says_what_can_be_edited)
{
	struct document *d = open_sample(NAME);
	struct buf out = BUF_INIT;

	ck_assert(document_list(d, "walk/bones", &out, &err));
	buf_char(&out, '\0');
	ck_assert_ptr_nonnull(strstr((const char *)out.data,
				     "{\"name\": \"hip.csv\", \"type\": \"view\", \"view\": "
				     "\"csv\", \"editable\": true}"));
	ck_assert_ptr_nonnull(strstr((const char *)out.data, "\"hip.svg\", \"type\": \"view\", "
							     "\"view\": \"svg\", \"editable\": "
							     "false}"));
	buf_clear(&out);
	ck_assert(!document_list(d, "walk/nothing", &out, &err));
	ck_assert_int_eq(err.code, ERR_OPERAND);
	err_clear(&err);
	ck_assert(!document_list(d, VIEW, &out, &err));
	buf_release(&out);
	document_free(d);
}
END_TEST

START_TEST(an_edit_changes_the_bytes_and_every_text)
{
	struct document *d = open_sample(NAME);
	struct buf before = BUF_INIT, text;

	buf_add(&before, document_bytes(d).data, document_bytes(d).size);
	ck_assert_int_eq(save(d, VIEW, edited), DOCUMENT_SAVED);
	ck_assert(!bytes_equal(buf_bytes(&before), document_bytes(d)));
	text = text_of(d, VIEW);
	buf_char(&text, '\0');
	ck_assert_ptr_nonnull(strstr((const char *)text.data, "0,0,0.25"));
	ck_assert_int_eq(save(d, VIEW, edited), DOCUMENT_SAME);
	/* Undo is other bytes. */
	ck_assert(document_open(d, &before, &err));
	buf_release(&text);
	text = text_of(d, VIEW);
	buf_char(&text, '\0');
	ck_assert_ptr_null(strstr((const char *)text.data, "0,0,0.25"));
	buf_release(&text);
	document_free(d);
}
END_TEST

START_TEST(what_is_refused_changes_nothing)
{
	struct document *d = open_sample(NAME);
	struct buf before = BUF_INIT;

	buf_add(&before, document_bytes(d).data, document_bytes(d).size);
	ck_assert_int_eq(save(d, VIEW, "frame,time,tx\n0,,1\n1,,12..5\n"), DOCUMENT_REFUSED);
	ck_assert_int_eq(err.code, ERR_TEXT);
	ck_assert(err.placed);
	ck_assert_int_eq(save(d, VIEW, ""), DOCUMENT_REFUSED);
	ck_assert_int_eq(save(d, "walk/bones/hip.svg", "<svg/>"), DOCUMENT_REFUSED);
	ck_assert_int_eq(save(d, "walk/clip.kanim", "<animation/>"), DOCUMENT_REFUSED);
	ck_assert_int_eq(save(d, "raw.canm", "CANM"), DOCUMENT_REFUSED);
	ck_assert_int_eq(save(d, "walk", "x"), DOCUMENT_REFUSED);
	ck_assert(bytes_equal(buf_bytes(&before), document_bytes(d)));
	buf_release(&before);
	document_free(d);
}
END_TEST

START_TEST(a_whole_file_is_saved)
{
	struct document *d = open_sample(NAME), *other = open_sample("odd512.canm");

	err_clear(&err);
	ck_assert_int_eq(document_save(d, "raw.canm", document_bytes(d), beside, &ignored, &err),
			 DOCUMENT_SAME);
	ck_assert_int_eq(
		document_save(d, "raw.canm", document_bytes(other), beside, &ignored, &err),
		DOCUMENT_SAVED);
	ck_assert(bytes_equal(document_bytes(d), document_bytes(other)));
	document_free(other);
	document_free(d);
}
END_TEST

START_TEST(a_generated_text_may_be_saved_as_it_is)
{
	struct document *d = open_sample(NAME);
	struct buf text = text_of(d, "walk/bones/hip.svg");

	err_clear(&err);
	ck_assert_int_eq(
		document_save(d, "walk/bones/hip.svg", buf_bytes(&text), beside, &ignored, &err),
		DOCUMENT_SAME);
	buf_release(&text);
	document_free(d);
}
END_TEST

START_TEST(a_skeleton_is_the_file_beside_it)
{
	struct document *d = open_sample(NAME);
	struct buf text;

	ck_assert(add_text(d, NAME ".skeleton.csv", skeleton));
	open_again(d);
	ck_assert_uint_eq(document_notices(d).size, 0);
	text = text_of(d, "skeleton.csv");
	buf_char(&text, '\0');
	ck_assert_ptr_nonnull(strstr((const char *)text.data, "hip,,0,1,0,0,0,0,1,1,1\n"));
	buf_release(&text);
	/* A bone that it has must have a row. */
	ck_assert_int_eq(save(d, "skeleton.csv", "bone,parent\nBone01,\n"), DOCUMENT_REFUSED);
	text = text_of(d, "skeleton.csv");
	ck_assert_int_eq(document_save(d, "skeleton.csv", buf_bytes(&text), beside, &ignored, NULL),
			 DOCUMENT_SAME);
	memcpy(strstr((char *)text.data, "hip,,0,1"), "hip,,0,7", 8);
	ck_assert_int_eq(document_save(d, "skeleton.csv", buf_bytes(&text), beside, &ignored, NULL),
			 DOCUMENT_SAVED_BESIDE);
	ck_assert_str_eq(beside, NAME ".skeleton.csv");
	ck_assert(bytes_equal(document_beside(d, beside), buf_bytes(&text)));
	buf_release(&text);
	document_free(d);
}
END_TEST

START_TEST(a_damaged_skeleton_is_told_and_not_overwritten)
{
	struct document *d = open_sample(NAME);
	struct buf notices = BUF_INIT;

	ck_assert(add_text(d, NAME ".skeleton.csv", "bone,parent\nhip,nobody\n"));
	open_again(d);
	buf_add(&notices, document_notices(d).data, document_notices(d).size);
	buf_char(&notices, '\0');
	ck_assert_ptr_eq(
		strstr((const char *)notices.data, NAME ".skeleton.csv: not used: line 2: "),
		notices.data);
	buf_release(&notices);
	document_free(d);
}
END_TEST

START_TEST(what_cannot_be_opened_says_why)
{
	struct document *d = open_sample(NAME), *kanim = document_new("stick.kanim");
	struct buf bytes = load_file("tests/data/canm/bad_truncated.canm");
	struct buf stick = load_file("tests/data/kanim/stick.kanim"), text;

	err_clear(&err);
	ck_assert(!document_open(d, &bytes, &err));
	ck_assert_int_eq(err.code, ERR_FORMAT);
	text = text_of(d, VIEW); /* of what was open before */
	err_clear(&err);
	ck_assert(!document_open(kanim, &stick, &err));
	ck_assert_int_eq(err.code, ERR_UNKNOWN);
	err_clear(&err);
	ck_assert(!document_text(kanim, "", &bytes, &err));
	buf_release(&text);
	document_free(kanim);
	document_free(d);
}
END_TEST

START_TEST(a_name_that_says_nothing_leaves_it_to_the_content)
{
	struct document *d = document_new("animation.bin"), *none = document_new("x.bin");
	struct buf bytes = load_file("tests/data/canm/" NAME), junk = BUF_INIT, text;

	err_clear(&err);
	ck_assert_msg(document_open(d, &bytes, &err), "%s", err.message);
	text = text_of(d, VIEW);
	buf_text(&junk, "nothing of the kind");
	ck_assert(!document_open(none, &junk, &err));
	ck_assert_int_eq(err.code, ERR_UNKNOWN);
	buf_release(&text);
	document_free(none);
	document_free(d);
}
END_TEST

Suite *document_suite(void);

Suite *document_suite(void)
{
	Suite *s = suite_create("document");
	TCase *t = tcase_create("document");

	tcase_add_loop_test(t, every_text_is_that_of_the_file, 0, ARRAY_SIZE(sample_names) - 1);
	tcase_add_test(t, a_listing_says_what_can_be_edited);
	tcase_add_test(t, an_edit_changes_the_bytes_and_every_text);
	tcase_add_test(t, what_is_refused_changes_nothing);
	tcase_add_test(t, a_whole_file_is_saved);
	tcase_add_test(t, a_generated_text_may_be_saved_as_it_is);
	tcase_add_test(t, a_skeleton_is_the_file_beside_it);
	tcase_add_test(t, a_damaged_skeleton_is_told_and_not_overwritten);
	tcase_add_test(t, what_cannot_be_opened_says_why);
	tcase_add_test(t, a_name_that_says_nothing_leaves_it_to_the_content);
	suite_add_tcase(s, t);
	return s;
}
