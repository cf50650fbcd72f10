/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The CAS codec. The test has its own reader of records (read_records), and its own writer (struct
 * maker) for files of kinds that the samples lack.
 */
#include "animfs/codec.h"
#include "coding.h"
#include "load.h"
#include "model/names.h"
#include "text/utf.h"

#include <check.h>
#include <jansson.h>
#include <string.h>

static const char *const samples[] = {"v200", "v203", "v204"};

static struct buf load_sample(const char *name)
{
	char path[64];

	snprintf(path, sizeof(path), "tests/data/cas/%s.cas", name);
	return load_file(path);
}

static struct anim *decode(struct bytes src)
{
	static const char *const reserved[] = {"file.json", "raw.cas", NULL};
	struct anim *a = decode_ok(codec_named("cas"), src, NULL);

	ck_assert(names_label(a, reserved));
	return a;
}

static struct buf encode(const struct anim *a, struct bytes old)
{
	return encode_ok(codec_named("cas"), a, old);
}

static void encode_refused(const struct anim *a, struct bytes old, const char *why)
{
	struct err err = {.code = ERR_NONE};
	struct buf out = BUF_INIT;

	ck_assert(!codec_named("cas")->encode(a, old, &out, &err));
	ck_assert_int_eq(err.code, ERR_STORE);
	ck_assert_msg(strstr(err.message, why) != NULL, "%s, not: %s", err.message, why);
	buf_release(&out);
}

static void decode_refused(struct bytes src, size_t at, const char *why)
{
	struct err err = {.code = ERR_NONE};

	ck_assert_ptr_null(codec_named("cas")->decode(src, NULL, &err));
	ck_assert_int_eq(err.code, ERR_FORMAT);
	ck_assert_msg(strstr(err.message, why) != NULL, "%s, not: %s", err.message, why);
	ck_assert_uint_eq(err.at, at);
}

static void check_identity(struct bytes src, const struct anim *a)
{
	struct buf out = encode(a, src);

	ck_assert(bytes_equal(buf_bytes(&out), src));
	buf_release(&out);
}

/* ---- the records ---- */

struct reading {
	struct bytes src;
	struct buf fields; /* bytes before the CANM, with the offsets of names set to 0 */
};

/*
 * Returns a part of the file. It calls ck_assert only on failure: each is a system call, too slow
 * here.
 */
static const uint8_t *inside(const struct reading *r, size_t at, size_t size)
{
	if (!bytes_hold(r->src, at, 1, size))
		ck_abort_msg("it says that something is at %zx", at);
	return r->src.data + at;
}

static uint32_t word(const struct reading *r, size_t at)
{
	return get_u32(inside(r, at, 4));
}

static size_t follow(const struct reading *r, size_t record, size_t field)
{
	return record + (size_t)(int32_t)word(r, record + field);
}

static json_t *read_name(struct reading *r, size_t record)
{
	struct arena arena = ARENA_INIT;
	struct buf text = BUF_INIT;
	size_t at = follow(r, record, 0), units = 0;
	json_t *name;

	memset(r->fields.data + record, 0, 4);
	if (at == record)
		return json_null();
	while (get_u16(inside(r, at + 2 * units, 2)) != 0)
		units++;
	utf8_printable(utf8_from_utf16(&arena, r->src.data + at, units), &text);
	buf_char(&text, '\0');
	name = json_string((const char *)text.data);
	buf_release(&text);
	arena_release(&arena);
	ck_assert_ptr_nonnull(name);
	return name;
}

static json_t *read_words(const struct reading *r, size_t at, size_t count)
{
	json_t *list = json_array();
	size_t i;

	for (i = 0; i < count; i++)
		json_array_append_new(list, json_integer(word(r, at + 4 * i)));
	return list;
}

static json_t *read_group(const struct reading *r, size_t group)
{
	json_t *list = json_array();
	size_t words = word(r, 4) == 0x200 ? 9 : 13, i;

	for (i = 0; i < word(r, group); i++)
		json_array_append_new(list,
				      read_words(r, follow(r, group, 4) + 4 * words * i, words));
	return list;
}

static json_t *read_slot(const struct reading *r, size_t record, size_t field)
{
	return word(r, record + field) ? read_group(r, follow(r, record, field)) : json_null();
}

/* Reads a record whose words are all plain except for the offset. */
static json_t *read_anm_data(const struct reading *r, size_t at)
{
	json_t *words = read_words(r, at, 2), *rest = read_words(r, at + 0xC, 5);

	json_array_extend(words, rest);
	json_decref(rest);
	return json_pack("{s:o, s:o}", "words", words, "group", read_slot(r, at, 8));
}

static json_t *read_mc_anm(struct reading *r, size_t at)
{
	json_t *more = json_array();
	uint32_t i;

	for (i = 0; i < word(r, at + 8); i++)
		json_array_append_new(more, read_anm_data(r, follow(r, at, 0xC) + 0x20 * i));
	return json_pack("{s:o, s:I, s:I, s:o, s:o, s:[o, o, o]}", "name", read_name(r, at), "type",
			 (json_int_t)word(r, at + 0x1C), "value", (json_int_t)word(r, at + 0x20),
			 "first", read_anm_data(r, follow(r, at, 4)), "more", more, "groups",
			 read_slot(r, at, 0x10), read_slot(r, at, 0x14), read_slot(r, at, 0x18));
}

static json_t *read_anm_group(struct reading *r, size_t at)
{
	json_t *list = json_array();
	uint32_t i;

	for (i = 0; i < word(r, at + 4); i++)
		json_array_append_new(list, read_mc_anm(r, follow(r, at, 8) + 0x24 * i));
	return json_pack("{s:o, s:o}", "name", read_name(r, at), "mcanms", list);
}

static json_t *read_t_control(struct reading *r, size_t at)
{
	json_t *name = read_name(r, at);

	return json_pack("{s:o, s:o}", "name", name, "clips",
			 read_words(r, follow(r, at, 8), word(r, at + 4)));
}

static json_t *read_v_control(struct reading *r, size_t at)
{
	return json_pack("{s:o, s:o}", "name", read_name(r, at), "words", read_words(r, at + 4, 4));
}

static json_t *read_table(struct reading *r, size_t field, size_t size,
			  json_t *(*each)(struct reading *, size_t))
{
	json_t *list = json_array();
	uint32_t i;

	for (i = 0; i < word(r, field); i++)
		json_array_append_new(list, each(r, word(r, field + 4) + i * size));
	return list;
}

static json_t *read_records(struct bytes src, struct buf *fields)
{
	struct reading r = {src, BUF_INIT};
	json_t *all;

	buf_add(&r.fields, src.data, word(&r, 8));
	all = json_pack("{s:I, s:o, s:o, s:o, s:o, s:o}", "version", (json_int_t)word(&r, 4),
			"tcontrols", read_table(&r, 0x0C, 0x0C, read_t_control), "vcontrols",
			read_table(&r, 0x14, 0x14, read_v_control), "bones",
			read_table(&r, 0x24, 4, read_name), "unnamed",
			read_group(&r, word(&r, 0x2C)), "anmgroups",
			read_table(&r, 0x1C, 0x0C, read_anm_group));
	ck_assert_ptr_nonnull(all);
	if (fields)
		*fields = r.fields;
	else
		buf_release(&r.fields);
	return all;
}

/* Checks that every resolved record, and every other word, is unchanged. */
static void check_kept(struct bytes was, struct bytes is)
{
	struct buf was_fields, is_fields;
	json_t *before = read_records(was, &was_fields), *after = read_records(is, &is_fields);

	ck_assert(json_equal(before, after));
	ck_assert(bytes_equal(buf_bytes(&was_fields), buf_bytes(&is_fields)));
	buf_release(&was_fields);
	buf_release(&is_fields);
	json_decref(before);
	json_decref(after);
}

/* ---- edits ---- */

static void set_loop(struct anim *a, struct clip *clip, bool loop)
{
	struct field *field = arena_alloc(&a->arena, 1, sizeof(*field));

	*field = (struct field){
		.name = "loop", .type = FIELD_INT, .integer = loop, .editable = true};
	clip->loop = loop;
	clip->fields = field;
	clip->field_count = 1;
}

static bool loop_other(struct anim *a)
{
	struct clip *clip = anim_edit_clip(a, 0);

	set_loop(a, clip, !clip->loop);
	return true;
}

static bool rename_clip(struct anim *a)
{
	anim_edit_clip(a, 0)->name = "another animation's name";
	return true;
}

/* Renames a bone in all animations, so that no record uses its old name. */
static bool rename_bone(struct anim *a, const char *name)
{
	const char *was = a->clips[0].tracks[0].name;

	for (uint32_t c = 0; c < a->clip_count; c++)
		for (uint32_t t = 0; t < a->clips[c].track_count; t++)
			if (strcmp(a->clips[c].tracks[t].name, was) == 0)
				anim_edit_track(a, c, t)->name = name;
	return true;
}

static bool rename_longer(struct anim *a)
{
	return rename_bone(a, "a_bone_with_quite_a_long_name");
}

static bool rename_shorter(struct anim *a)
{
	return rename_bone(a, "b");
}

static bool rename_alike(struct anim *a)
{
	return strlen(a->clips[0].tracks[0].name) == 10 && rename_bone(a, "Scene_Boot");
}

static bool remove_bone(struct anim *a)
{
	anim_edit_clip(a, 0)->track_count--;
	return true;
}

/* Replaces a curve by one with a value in every frame. */
static bool key_position(struct anim *a)
{
	struct track *track = anim_edit_track(a, 0, 0);
	uint32_t count = a->clips[0].frames, i;
	struct curve *curve = arena_alloc(&a->arena, 1, sizeof(*curve));
	double *values = arena_alloc(&a->arena, count, 3 * sizeof(*values));

	*curve = (struct curve){.kind = CURVE_VECTOR,
				.interpolation = INTERPOLATION_LINEAR,
				.keyed = true,
				.count = count,
				.values = values};
	for (i = 0; i < 3; i++)
		curve->lane[i].unit = 1;
	for (i = 0; i < 3 * count; i++)
		values[i] = 0.25 * i * i - 3;
	track->curve[ROLE_TRANSLATION] = curve;
	return true;
}

static struct clip *set_clips(struct anim *a, uint32_t count)
{
	struct clip *clips = arena_alloc(&a->arena, count, sizeof(*clips));

	memcpy(clips, a->clips, (count < a->clip_count ? count : a->clip_count) * sizeof(*clips));
	a->clips = clips;
	a->clip_count = count;
	return clips;
}

static bool append_clip(struct anim *a)
{
	uint32_t last = a->clip_count;
	struct clip *clip = &set_clips(a, last + 1)[last];

	*clip = (struct clip){.name = "one more",
			      .label = "one more",
			      .origin = ANIM_NEW,
			      .frames = 3,
			      .frame_time = 1,
			      .duration = 2};
	set_loop(a, clip, false);
	return true;
}

static bool remove_last(struct anim *a)
{
	set_clips(a, a->clip_count - 1);
	return true;
}

static bool remove_first(struct anim *a)
{
	memmove(set_clips(a, a->clip_count), a->clips + 1,
		(a->clip_count - 1) * sizeof(struct clip));
	return remove_last(a);
}

static bool swap_last(struct anim *a)
{
	struct clip *clips = set_clips(a, a->clip_count), last = clips[a->clip_count - 1];

	clips[a->clip_count - 1] = clips[a->clip_count - 2];
	clips[a->clip_count - 2] = last;
	return true;
}

static bool insert_clip(struct anim *a)
{
	struct clip last = a->clips[a->clip_count - 1];

	append_clip(a);
	((struct clip *)a->clips)[a->clip_count - 2] = a->clips[a->clip_count - 1];
	((struct clip *)a->clips)[a->clip_count - 1] = last;
	return true;
}

/* edits a model; returns false if the model has no place for the edit */
typedef bool edit(struct anim *a);

static edit *const edits[] = {
	loop_other,   rename_clip, rename_longer, rename_shorter,
	rename_alike, remove_bone, key_position,  append_clip,
};

/*
 * Returns the file that an edit makes, after checking that only the animations differ and that it
 * can be read again.
 */
static struct buf check_edit(struct bytes src, edit *change)
{
	struct anim *a = decode(src), *wanted = anim_edit(a), *stored;
	struct err err = {.code = ERR_NONE};
	struct buf out;

	ck_assert_ptr_null(a->read_only);
	if (!change(wanted)) {
		anim_free(wanted);
		anim_free(a);
		return (struct buf)BUF_INIT;
	}
	out = encode(wanted, src);
	ck_assert(!bytes_equal(buf_bytes(&out), src));
	check_kept(src, buf_bytes(&out));
	stored = decode(buf_bytes(&out));
	ck_assert_ptr_null(stored->read_only);
	ck_assert_msg(anim_stored(wanted, a, stored, &err), "%s", err.message);
	check_identity(buf_bytes(&out), stored);
	anim_free(stored);
	anim_free(wanted);
	anim_free(a);
	return out;
}

static void check_edits(struct bytes src)
{
	size_t i, k;

	for (i = 0; i < ARRAY_SIZE(edits); i++) {
		struct buf once = check_edit(src, edits[i]);

		/* Make another edit of the result. */
		for (k = 0; once.size && k < ARRAY_SIZE(edits); k++) {
			if (k != i) {
				struct buf twice = check_edit(buf_bytes(&once), edits[k]);

				buf_release(&twice);
			}
		}
		buf_release(&once);
	}
}

static void check_edit_refused(struct bytes src, edit *change, const char *why)
{
	struct anim *a = decode(src), *wanted = anim_edit(a);

	ck_assert(change(wanted));
	encode_refused(wanted, src, why);
	anim_free(wanted);
	anim_free(a);
}

/* ---- a writer of other files ---- */

enum { INDICES_MAX = 8, NAMES_MAX = 256, LOOKS_MAX = 512 };

enum making {
	MAKE_EMPTY = 1,      /* no records except the unnamed group */
	MAKE_NAMELESS = 2,   /* some records have no name */
	MAKE_INSIDE = 4,     /* some names are texts of the CANM */
	MAKE_UNKNOWN = 8,    /* commands of unknown meaning */
	MAKE_POINTING = 16,  /* commands with words that look like the offset of a name */
	MAKE_TRAILING = 32,  /* an odd number of bytes after the last name */
	MAKE_UNALIGNED = 64, /* the CANM is aligned to 8 bytes, not more */
};

struct maker {
	struct buf out;
	uint32_t version, seed;
	unsigned making;
	const char *canm;
	uint32_t indices[INDICES_MAX];
	unsigned index_count;
	size_t names[NAMES_MAX], looks[LOOKS_MAX], look_records[LOOKS_MAX];
	unsigned name_count, look_count;
};

static uint32_t pick(struct maker *m, uint32_t below)
{
	m->seed = m->seed * 1664525 + 1013904223;
	return (uint32_t)((uint64_t)m->seed * below >> 32);
}

/*
 * Makes room for records, and writes their offset into `field` of `record`. Record 0 is the header.
 */
static size_t make(struct maker *m, size_t record, size_t field, size_t size)
{
	size_t at = m->out.size;

	buf_zero(&m->out, size);
	ck_assert(!m->out.failed);
	put_u32(m->out.data + record + field, (uint32_t)(at - record));
	return at;
}

static void make_word(struct maker *m, size_t at, uint32_t value)
{
	put_u32(m->out.data + at, value);
}

static void make_name(struct maker *m, size_t record)
{
	ck_assert_uint_lt(m->name_count, NAMES_MAX);
	if (!(m->making & MAKE_NAMELESS) || pick(m, 3))
		m->names[m->name_count++] = record;
}

/* Makes a word that is no offset. Some look like one, relative to the record or to the word. */
static void make_stale(struct maker *m, size_t record, size_t at)
{
	static const uint32_t words[] = {0, 1, 2, 0xFFFFFFFF, 0x3F800000, 0x30, 0x80000000};

	make_word(m, at, words[pick(m, ARRAY_SIZE(words))]);
	if ((m->making & MAKE_POINTING) || pick(m, 4) == 0) {
		ck_assert_uint_lt(m->look_count, LOOKS_MAX);
		m->looks[m->look_count] = at;
		m->look_records[m->look_count++] = pick(m, 2) ? at : record;
	}
}

static void make_data(struct maker *m, size_t at, size_t size)
{
	bool known = !(m->making & MAKE_UNKNOWN) || (!(m->making & MAKE_POINTING) && pick(m, 2));
	size_t word_at;

	make_word(m, at, known ? pick(m, 2) : 40 + 100 * pick(m, 3));
	for (word_at = at + 4; word_at < at + size; word_at += 4) {
		if (known || (m->making & MAKE_POINTING))
			make_stale(m, at, word_at);
		else
			make_word(m, word_at, pick(m, 50));
	}
}

static void make_group(struct maker *m, size_t record, size_t field)
{
	size_t group = make(m, record, field, 8), size = m->version == 0x200 ? 0x24 : 0x34, at;
	uint32_t count = m->making & MAKE_EMPTY ? 0 : m->making & MAKE_POINTING ? 2 : pick(m, 3), i;

	make_word(m, group, count);
	at = make(m, group, 4, count * size);
	for (i = 0; i < count; i++)
		make_data(m, at + i * size, size);
}

static void make_slot(struct maker *m, size_t record, size_t field)
{
	if (pick(m, 2))
		make_group(m, record, field);
}

static void make_anm_data(struct maker *m, size_t record, size_t field, uint32_t count)
{
	size_t at = make(m, record, field, 0x20 * count), stale;

	for (; count--; at += 0x20) {
		for (stale = 0; stale < 0x20; stale += 4)
			if (stale != 8)
				make_stale(m, at, at + stale);
		make_slot(m, at, 8);
	}
}

static void make_mc_anm(struct maker *m, size_t at)
{
	uint32_t more = pick(m, 3), slot;

	make_name(m, at);
	make_word(m, at + 8, more);
	make_stale(m, at, at + 0x20);
	make_anm_data(m, at, 0xC, more);
	make_anm_data(m, at, 4, 1);
	for (slot = 0x10; slot < 0x1C; slot += 4)
		make_slot(m, at, slot);
}

static size_t make_table(struct maker *m, size_t record, size_t field, uint32_t count, size_t size)
{
	size_t at = make(m, record, field + 4, count * size);

	make_word(m, record + field, count);
	if (count == 0 && pick(m, 2))
		make_word(m, record + field + 4, 0);
	return at;
}

static uint32_t make_count(struct maker *m, uint32_t below)
{
	return m->making & MAKE_EMPTY ? 0 : pick(m, below);
}

static void make_t_controls(struct maker *m)
{
	uint32_t count = m->making & MAKE_EMPTY ? 0 : 1 + pick(m, 3), i, k;
	size_t at = make_table(m, 0, 0x0C, count, 0x0C), numbers;

	for (i = 0; i < count; i++, at += 0x0C) {
		uint32_t has = i ? pick(m, m->index_count + 1) : m->index_count;

		make_name(m, at);
		numbers = make_table(m, at, 4, has, 4);
		for (k = 0; k < has; k++)
			make_word(m, numbers + 4 * k, m->indices[k]);
	}
}

static void make_others(struct maker *m)
{
	uint32_t count = make_count(m, 4), i;
	size_t at = make_table(m, 0, 0x24, count, 4);

	for (i = 0; i < count; i++)
		make_name(m, at + 4 * i);
	count = make_count(m, 3);
	at = make_table(m, 0, 0x14, count, 0x14);
	for (i = 0; i < count; i++, at += 0x14) {
		make_name(m, at);
		make_stale(m, at, at + 8);
	}
}

static void make_anm_groups(struct maker *m)
{
	uint32_t count = make_count(m, 4), i, k;
	size_t at = make_table(m, 0, 0x1C, count, 0x0C), anm;

	for (i = 0; i < count; i++, at += 0x0C) {
		uint32_t has = pick(m, 3);

		make_name(m, at);
		anm = make_table(m, at, 4, has, 0x24);
		for (k = 0; k < has; k++)
			make_mc_anm(m, anm + 0x24 * k);
	}
}

static const char *const made_names[] = {"main", "main", "", "\xE6\x94\xBB\xE6\x92\x83", "Scene"};

/*
 * Makes the texts: those of made_names after the CANM, and one inside it that every CANM here has.
 */
static void make_texts(struct maker *m, size_t canm)
{
	size_t texts[ARRAY_SIZE(made_names)], inside, i;
	struct buf root = BUF_INIT;
	const uint8_t *found;

	utf8_to_utf16("Scene_Root", &root);
	buf_u16(&root, 0);
	found = memmem(m->out.data + canm, m->out.size - canm, root.data, root.size);
	ck_assert_ptr_nonnull(found);
	inside = (size_t)(found - m->out.data);
	for (i = 0; i < ARRAY_SIZE(made_names); i++) {
		texts[i] = m->out.size;
		utf8_to_utf16(made_names[i], &m->out);
		buf_u16(&m->out, 0);
	}
	for (i = 0; i < m->name_count; i++) {
		bool in = (m->making & MAKE_INSIDE) && pick(m, 2);
		/* Let some names use the end of a text, too. */
		size_t at = in ? inside + 2 * pick(m, 2) : texts[pick(m, ARRAY_SIZE(texts))];

		make_word(m, m->names[i], (uint32_t)(at - m->names[i]));
	}
	for (i = 0; i < m->look_count; i++)
		make_word(m, m->looks[i],
			  (uint32_t)(texts[pick(m, ARRAY_SIZE(texts))] - m->look_records[i]));
	buf_release(&root);
}

static struct buf made(struct maker m)
{
	struct buf canm;
	size_t at;

	buf_zero(&m.out, 0x30);
	memcpy(m.out.data, "CAS", 4);
	make_word(&m, 4, m.version);
	make_others(&m);
	make_t_controls(&m);
	make_anm_groups(&m);
	make_group(&m, 0, 0x2C);
	buf_align(&m.out, 16);
	if (m.making & MAKE_UNALIGNED)
		buf_zero(&m.out, 8);
	canm = load_file(m.canm);
	at = m.out.size;
	make_word(&m, 8, (uint32_t)at);
	buf_add(&m.out, canm.data, canm.size);
	make_texts(&m, at);
	if (m.making & MAKE_TRAILING)
		buf_add(&m.out, "abc", 3);
	buf_release(&canm);
	ck_assert(!m.out.failed);
	return m.out;
}

static struct maker maker(unsigned kind, uint32_t seed, unsigned making)
{
	static const uint32_t versions[] = {0x200, 0x203, 0x204};

	return (struct maker){
		.version = versions[kind],
		.seed = seed,
		.making = making,
		.canm = kind == 2 ? "tests/data/canm/edf6_768.canm"
				  : "tests/data/canm/wiki512.canm",
		.index_count = 1,
	};
}

/* ---- tests ---- */

START_TEST(a_cas_is_known_by_name_and_content)
{
	struct buf bytes = load_sample(samples[_i]), canm;

	ck_assert_ptr_eq(codec_for_name("RANGER.CAS"), codec_named("cas"));
	ck_assert_ptr_eq(codec_probe(buf_bytes(&bytes)), codec_named("cas"));
	put_u32(bytes.data + 4, 0x201);
	ck_assert_ptr_null(codec_probe(buf_bytes(&bytes)));
	put_u32(bytes.data + 4, 0x203);
	bytes.data[get_u32(bytes.data + 8)] = 'c';
	ck_assert_ptr_null(codec_probe(buf_bytes(&bytes)));
	buf_release(&bytes);
	canm = load_file("tests/data/canm/wiki512.canm");
	ck_assert_ptr_eq(codec_probe(buf_bytes(&canm)), codec_named("canm"));
	buf_release(&canm);
}
END_TEST

START_TEST(samples_say_what_is_expected)
{
	struct buf bytes = load_sample(samples[_i]);
	struct anim *a = decode(buf_bytes(&bytes));
	json_t *records = read_records(buf_bytes(&bytes), NULL), *expected, *clips, *control;
	const char *key;
	json_t *value;
	char path[64];
	size_t i;

	snprintf(path, sizeof(path), "tests/data/cas/%s.expect.json", samples[_i]);
	expected = json_load_file(path, 0, NULL);
	ck_assert_ptr_nonnull(expected);
	json_array_foreach(json_object_get(expected, "tcontrols"), i, control)
		json_object_del(control, "clip_names");
	json_object_foreach(records, key, value)
		ck_assert_msg(json_equal(value, json_object_get(expected, key)), "%s", key);
	ck_assert_ptr_null(a->read_only);
	ck_assert_str_eq(a->format->name, "cas");
	ck_assert_int_eq(a->version, json_integer_value(json_object_get(expected, "version")));
	clips = json_object_get(json_object_get(expected, "canm"), "clips");
	ck_assert_uint_eq(a->clip_count, json_array_size(clips));
	for (i = 0; i < a->clip_count; i++)
		ck_assert_str_eq(a->clips[i].name, json_string_value(json_array_get(clips, i)));
	check_identity(buf_bytes(&bytes), a);
	json_decref(expected);
	json_decref(records);
	anim_free(a);
	buf_release(&bytes);
}
END_TEST

/* The embedded CANM, cut at the end that the expectations give, is the same model. */
START_TEST(the_model_is_that_of_the_canm)
{
	struct buf bytes = load_sample(samples[_i]);
	struct anim *a = decode(buf_bytes(&bytes)), *inner;
	struct bytes canm;
	json_t *expected;
	char path[64];

	snprintf(path, sizeof(path), "tests/data/cas/%s.expect.json", samples[_i]);
	expected = json_load_file(path, 0, NULL);
	canm.data = bytes.data + get_u32(bytes.data + 8);
	canm.size = (size_t)json_integer_value(
		json_object_get(json_object_get(expected, "canm"), "length"));
	inner = codec_named("canm")->decode(canm, NULL, NULL);
	ck_assert_ptr_nonnull(inner);
	inner->version = a->version;
	ck_assert_uint_eq(inner->clip_count, a->clip_count);
	for (uint32_t c = 0; c < a->clip_count; c++) {
		ck_assert_uint_eq(inner->clips[c].track_count, a->clips[c].track_count);
		for (uint32_t t = 0; t < a->clips[c].track_count; t++)
			for (unsigned role = 0; role < ROLE_COUNT; role++)
				ck_assert(curve_same(inner->clips[c].tracks[t].curve[role],
						     a->clips[c].tracks[t].curve[role]));
	}
	check_identity(buf_bytes(&bytes), inner);
	json_decref(expected);
	anim_free(inner);
	anim_free(a);
	buf_release(&bytes);
}
END_TEST

START_TEST(edits_of_samples_leave_the_records)
{
	struct buf bytes = load_sample(samples[_i]);

	check_edits(buf_bytes(&bytes));
	buf_release(&bytes);
}
END_TEST

/* Edits that grow or shrink the file add no padding. */
START_TEST(edits_change_the_length)
{
	struct buf bytes = load_sample(samples[_i]), longer, shorter, alike;

	longer = check_edit(buf_bytes(&bytes), rename_longer);
	shorter = check_edit(buf_bytes(&bytes), rename_shorter);
	alike = check_edit(buf_bytes(&bytes), rename_alike);
	ck_assert_uint_eq(longer.size, bytes.size + 2 * (29 - 10));
	ck_assert_uint_eq(shorter.size, bytes.size - 2 * (10 - 1));
	ck_assert_uint_eq(alike.size, bytes.size);
	buf_release(&longer);
	buf_release(&shorter);
	buf_release(&alike);
	buf_release(&bytes);
}
END_TEST

START_TEST(edits_of_made_files_leave_the_records)
{
	static const unsigned makings[] = {0,
					   MAKE_EMPTY,
					   MAKE_NAMELESS,
					   MAKE_INSIDE,
					   MAKE_UNKNOWN,
					   MAKE_TRAILING,
					   MAKE_NAMELESS | MAKE_INSIDE | MAKE_UNKNOWN |
						   MAKE_TRAILING};

	for (unsigned kind = 0; kind < 3; kind++) {
		for (uint32_t seed = 0; seed < 4; seed++) {
			struct buf bytes = made(maker(kind, seed, makings[_i]));
			struct anim *a = decode(buf_bytes(&bytes));

			ck_assert_ptr_null(a->read_only);
			check_identity(buf_bytes(&bytes), a);
			check_edits(buf_bytes(&bytes));
			anim_free(a);
			buf_release(&bytes);
		}
	}
}
END_TEST

/* Returns how many names have their text before `end`. */
static size_t count_inside(struct bytes src, size_t end)
{
	struct buf fields;
	json_t *records = read_records(src, &fields);
	size_t count = 0, at;

	for (at = 0x30; at < fields.size; at += 4) {
		int64_t to = (int64_t)at + (int32_t)get_u32(src.data + at);

		if (get_u32(fields.data + at) != get_u32(src.data + at) && to < (int64_t)end)
			count++;
	}
	json_decref(records);
	buf_release(&fields);
	return count;
}

START_TEST(names_inside_the_canm_move_behind_it_once)
{
	struct buf bytes = made(maker(0, 1, MAKE_INSIDE)), loop, longer, again;
	struct buf canm = load_file("tests/data/canm/wiki512.canm");
	size_t end = get_u32(bytes.data + 8) + canm.size, grown;

	ck_assert_uint_gt(count_inside(buf_bytes(&bytes), end), 2);
	/* If a name's text is not moved, the name's offset stays. */
	loop = check_edit(buf_bytes(&bytes), loop_other);
	ck_assert_uint_eq(loop.size, bytes.size);
	ck_assert_mem_eq(loop.data, bytes.data, get_u32(bytes.data + 8));
	/* The CANM has two texts that are names: "Scene_Root" and its end. */
	longer = check_edit(buf_bytes(&bytes), rename_longer);
	grown = 2 * (29 - 10);
	ck_assert_uint_eq(longer.size, bytes.size + grown + 22 + 20);
	ck_assert_uint_eq(count_inside(buf_bytes(&longer), end + grown), 0);
	again = check_edit(buf_bytes(&longer), rename_shorter);
	ck_assert_uint_eq(again.size, longer.size - 2 * (29 - 1));
	buf_release(&loop);
	buf_release(&longer);
	buf_release(&again);
	buf_release(&canm);
	buf_release(&bytes);
}
END_TEST

START_TEST(an_unknown_command_that_may_name_something_stops_a_move)
{
	struct buf bytes = made(maker((unsigned)_i, 3, MAKE_UNKNOWN | MAKE_POINTING)), same;

	same = check_edit(buf_bytes(&bytes), loop_other);
	buf_release(&same);
	check_edit_refused(buf_bytes(&bytes), rename_longer, "unknown command");
	buf_release(&bytes);
}
END_TEST

START_TEST(commands_are_known_by_version)
{
	/* Words that may have any value: in all versions, in one version, and in none. */
	static const struct {
		uint32_t command;
		bool known[3];
	} commands[] = {
		{0, {true, true, true}},     {1, {true, true, true}},
		{2, {true, true, true}},     {3, {true, false, false}},
		{5, {false, false, false}},  {6, {false, true, false}},
		{7, {true, false, false}},   {8, {true, false, true}},
		{9, {true, true, false}},    {10, {true, true, false}},
		{11, {true, true, true}},    {15, {false, true, true}},
		{17, {false, true, true}},   {18, {false, false, true}},
		{22, {true, true, false}},   {24, {true, false, true}},
		{27, {true, false, false}},  {28, {false, true, false}},
		{29, {false, true, false}},  {33, {false, true, true}},
		{34, {false, false, false}}, {35, {false, false, true}},
		{63, {false, false, false}}, {64, {false, false, false}},
		{65, {false, false, false}}, {0x80000000, {false, false, false}},
	};

	for (size_t i = 0; i < ARRAY_SIZE(commands); i++) {
		struct buf bytes = load_sample(samples[_i]);
		size_t group = get_u32(bytes.data + 0x2C),
		       data = group + get_u32(bytes.data + group + 4);
		size_t control = get_u32(bytes.data + 0x10);
		uint32_t text = (uint32_t)control + get_u32(bytes.data + control);

		ck_assert_uint_gt(get_u32(bytes.data + group), 0);
		put_u32(bytes.data + data, commands[i].command);
		put_u32(bytes.data + data + 0x20, text - (uint32_t)(data + 0x20));
		if (commands[i].known[_i]) {
			struct buf out = check_edit(buf_bytes(&bytes), rename_longer);

			buf_release(&out);
		} else {
			check_edit_refused(buf_bytes(&bytes), rename_longer, "unknown command");
		}
		buf_release(&bytes);
	}
}
END_TEST

START_TEST(animations_keep_their_numbers)
{
	struct maker m = maker(0, 0, 0);
	struct buf bytes, out;

	m.indices[0] = 1;
	bytes = made(m);
	check_edit_refused(buf_bytes(&bytes), swap_last, "keep their order");
	check_edit_refused(buf_bytes(&bytes), insert_clip, "keep their order");
	check_edit_refused(buf_bytes(&bytes), remove_first, "names animation 1");
	out = check_edit(buf_bytes(&bytes), append_clip);
	buf_release(&out);
	/* Remove the last clip, until only one with a name is left. */
	out = check_edit(buf_bytes(&bytes), append_clip);
	buf_release(&bytes);
	for (;;) {
		struct anim *a = decode(buf_bytes(&out));
		uint32_t count = a->clip_count;

		anim_free(a);
		if (count == 2)
			break;
		bytes = check_edit(buf_bytes(&out), remove_last);
		buf_release(&out);
		out = bytes;
	}
	check_edit_refused(buf_bytes(&out), remove_last, "names animation 1");
	buf_release(&out);
}
END_TEST

START_TEST(a_number_of_no_animation_stays_one)
{
	struct maker m = maker(0, 0, 0);
	struct buf bytes = made(m), out;
	struct anim *a = decode(buf_bytes(&bytes));

	m.indices[0] = a->clip_count;
	anim_free(a);
	buf_release(&bytes);
	bytes = made(m);
	check_edit_refused(buf_bytes(&bytes), append_clip, "by its number");
	out = check_edit(buf_bytes(&bytes), key_position);
	buf_release(&out);
	out = check_edit(buf_bytes(&bytes), remove_last);
	buf_release(&out);
	buf_release(&bytes);
}
END_TEST

START_TEST(what_cannot_be_stored_is_refused)
{
	struct buf bytes = load_sample("v203");
	struct anim *a = decode(buf_bytes(&bytes));

	encode_refused(a, (struct bytes){NULL, 0}, "a CAS cannot be made from animations only");
	a->version = 0x200;
	encode_refused(a, buf_bytes(&bytes), "version");
	anim_free(a);
	a = decode(buf_bytes(&bytes));
	anim_edit_clip(a, 0)->frames = 0;
	encode_refused(a, buf_bytes(&bytes), "cannot have 0 frames");
	anim_free(a);
	buf_release(&bytes);
}
END_TEST

/* ---- broken files ---- */

START_TEST(no_cas_is_refused_with_its_place)
{
	struct buf bytes = load_sample("v203");
	size_t canm = get_u32(bytes.data + 8);

	decode_refused((struct bytes){bytes.data, 0x2F}, 0x2F, "header");
	bytes.data[3] = ' ';
	decode_refused(buf_bytes(&bytes), 0, "does not begin with CAS");
	bytes.data[3] = 0;
	put_u32(bytes.data + 4, 0x300);
	decode_refused(buf_bytes(&bytes), 4, "version 0x300 is unknown");
	put_u32(bytes.data + 4, 0x203);
	put_u32(bytes.data + 8, (uint32_t)bytes.size + 1);
	decode_refused(buf_bytes(&bytes), 8, "behind the end");
	put_u32(bytes.data + 8, (uint32_t)bytes.size);
	decode_refused(buf_bytes(&bytes), bytes.size, "header");
	put_u32(bytes.data + 8, (uint32_t)canm);
	put_u32(bytes.data + canm + 4, 0x100);
	decode_refused(buf_bytes(&bytes), canm + 4, "version 0x100 is unknown");
	buf_release(&bytes);
}
END_TEST

/*
 * Checks that a file is shown, encodes to itself, and refuses edits of any length with its reason.
 */
static void check_read_only(struct bytes src, const char *why)
{
	struct anim *a = decode(src);

	ck_assert_msg(a->read_only != NULL, "can be edited: %s", why);
	ck_assert_msg(strstr(a->read_only, why) != NULL, "%s, not: %s", a->read_only, why);
	ck_assert_uint_gt(a->clip_count, 0);
	check_identity(src, a);
	check_edit_refused(src, loop_other, a->read_only);
	check_edit_refused(src, rename_longer, a->read_only);
	check_edit_refused(src, remove_bone, a->read_only);
	anim_edit_clip(a, 0)->frames = 0;
	encode_refused(a, src, a->read_only);
	anim_free(a);
}

#define OUTSIDE "do not stand between"
#define OVERLAP "overlap another record"

/* Changes of words of the sample v203; each word is found by offsets from the header. */
static const struct {
	const char *why;
	/* field of the header with the offset of a record; 0: the record is the header */
	size_t header;
	size_t path[3]; /* fields with the offsets of further records; 0 ends the list */
	size_t field;
	uint32_t value;
	bool add; /* add the value to the old one */
} damages[] = {
	{OUTSIDE, 0, {0}, 0x0C, 0x10000000, false},
	{OUTSIDE, 0, {0}, 0x0C, 0xFFFFFFFF, false},
	{OUTSIDE, 0, {0}, 0x10, 0x2C, false},
	{OUTSIDE, 0, {0}, 0x10, 0xFFFFFFF0, false},
	{OUTSIDE, 0, {0}, 0x18, 0x10000, false},
	{OUTSIDE, 0, {0}, 0x20, 0, false},
	{OUTSIDE, 0, {0}, 0x24, 0x1000, false},
	{OUTSIDE, 0, {0}, 0x2C, 0, false},
	{OVERLAP, 0, {0}, 0x18, 0x30, false},
	{OVERLAP, 0, {0}, 0x28, 0x34, false},
	{OVERLAP, 0, {0}, 0x2C, 0x30, false},
	{"belongs to no record", 0, {0}, 0x24, 0, false},
	{OUTSIDE, 0x10, {0}, 8, 0xFFFFFFD0, false},
	{OVERLAP, 0x10, {0}, 8, 0, false},
	{OUTSIDE, 0x10, {0}, 4, 0x40000000, false},
	{OUTSIDE, 0x2C, {0}, 4, 0x7FFFFFFF, false},
	{OUTSIDE, 0x2C, {0}, 0, 0x80000000, false},
	{OUTSIDE, 0x20, {0}, 8, 0x80000000, false},
	{OVERLAP, 0x20, {8}, 4, 0, false},
	{OUTSIDE, 0x20, {8}, 4, 0x10000, false},
	{OUTSIDE, 0x20, {8}, 8, 0x10000, false},
	{OVERLAP, 0x20, {8}, 0x10, 0x1, false},
	{OVERLAP, 0x20, {8}, 0x14, 0x4, false},
	{OVERLAP, 0x20, {8}, 0x18, 0xFFFFFFFC, false},
	{OUTSIDE, 0x20, {8}, 0x18, 0x7FFFFFFF, false},
	{OVERLAP, 0x20, {8, 4}, 8, 0xFFFFFFFC, false},
	{"odd offset", 0x10, {0}, 0, 1, true},
	{"odd offset", 0x20, {8}, 0, 1, true},
	{"not behind the records", 0x18, {0}, 0, 0x7FFFFFFF, false},
	{"not behind the records", 0x28, {0}, 0, 0x80000000, false},
	{"not behind the records", 0x20, {0}, 0, 4, false},
};

START_TEST(a_file_that_is_not_understood_is_read_only)
{
	struct buf bytes = load_sample("v203");
	size_t record = 0, i;

	if (damages[_i].header)
		record = get_u32(bytes.data + damages[_i].header);
	for (i = 0; damages[_i].path[i]; i++)
		record += get_u32(bytes.data + record + damages[_i].path[i]);
	record += damages[_i].field;
	put_u32(bytes.data + record,
		damages[_i].value + (damages[_i].add ? get_u32(bytes.data + record) : 0));
	check_read_only(buf_bytes(&bytes), damages[_i].why);
	buf_release(&bytes);
}
END_TEST

START_TEST(other_versions_and_places_of_the_canm_are_read_only)
{
	struct buf bytes = load_sample("v203");

	put_u32(bytes.data + 4, 0x204);
	check_read_only(buf_bytes(&bytes), "holds no CANM of version 0x200");
	buf_release(&bytes);
	bytes = load_sample("v204");
	put_u32(bytes.data + 4, 0x203);
	check_read_only(buf_bytes(&bytes), "holds no CANM of version 0x300");
	buf_release(&bytes);
	bytes = made(maker(1, 0, MAKE_UNALIGNED));
	check_read_only(buf_bytes(&bytes), "no multiple of 16");
	buf_release(&bytes);
}
END_TEST

START_TEST(a_name_without_an_end_is_read_only)
{
	struct buf bytes = load_sample("v200");

	put_u16(bytes.data + bytes.size - 2, 'x');
	check_read_only(buf_bytes(&bytes), "has no end");
	buf_release(&bytes);
}
END_TEST

/*
 * Makes a long text, and many bones whose names are the ends of that text from each of its
 * characters on.
 */
START_TEST(names_that_overlap_too_often_are_read_only)
{
	enum { BONES = 2000 };
	struct buf bytes = made(maker(0, 0, MAKE_EMPTY)), out = BUF_INIT;
	size_t canm = get_u32(bytes.data + 8), i;

	buf_add(&out, bytes.data, canm);
	put_u32(out.data + 0x24, BONES);
	put_u32(out.data + 0x28, (uint32_t)canm);
	buf_zero(&out, 4 * BONES);
	put_u32(out.data + 8, (uint32_t)out.size);
	buf_add(&out, bytes.data + canm, bytes.size - canm);
	for (i = 0; i < BONES; i++) {
		put_u32(out.data + canm + 4 * i, (uint32_t)(out.size - canm - 4 * i));
		buf_u16(&out, 'n');
	}
	buf_u16(&out, 0);
	check_read_only(buf_bytes(&out), "overlap too often");
	buf_release(&out);
	buf_release(&bytes);
}
END_TEST

/*
 * Decodes from a heap block of exactly the file's size, so that a sanitizer detects reads past the
 * end.
 */
START_TEST(cut_at_every_length)
{
	struct buf bytes = load_sample(samples[_i]);

	for (size_t size = 0; size < bytes.size; size++) {
		uint8_t *cut = malloc(size ? size : 1);
		struct bytes src = {cut, size};
		struct err err = {.code = ERR_NONE};
		struct anim *a;

		memcpy(cut, bytes.data, size);
		a = codec_named("cas")->decode(src, NULL, &err);
		if (a) {
			ck_assert_ptr_nonnull(a->read_only);
			check_identity(src, a);
		} else {
			ck_assert_int_eq(err.code, ERR_FORMAT);
			ck_assert_uint_le(err.at, size);
		}
		anim_free(a);
		free(cut);
	}
	buf_release(&bytes);
}
END_TEST

/*
 * Checks any file: if it decodes, it encodes to itself, and an edit that is not refused keeps the
 * records.
 */
static void check_any(struct bytes src)
{
	struct err err = {.code = ERR_NONE};
	struct anim *a = codec_named("cas")->decode(src, NULL, &err), *wanted;
	struct buf out = BUF_INIT;

	if (!a) {
		ck_assert_int_eq(err.code, ERR_FORMAT);
		return;
	}
	check_identity(src, a);
	wanted = anim_edit(a);
	if (a->clip_count && a->clips[0].track_count && rename_longer(wanted)) {
		bool stored = codec_named("cas")->encode(wanted, src, &out, &err);

		ck_assert(stored != (err.code == ERR_STORE));
		ck_assert(!stored || !a->read_only);
		if (stored)
			check_kept(src, buf_bytes(&out));
	}
	buf_release(&out);
	anim_free(wanted);
	anim_free(a);
}

START_TEST(every_byte_changed)
{
	static const uint8_t masks[] = {0x01, 0x02, 0x10, 0x80, 0xFF};
	struct buf bytes = load_sample(samples[_i]);

	for (size_t at = 0; at < bytes.size; at++) {
		for (size_t i = 0; i < ARRAY_SIZE(masks); i++) {
			bytes.data[at] ^= masks[i];
			check_any(buf_bytes(&bytes));
			bytes.data[at] ^= masks[i];
		}
	}
	buf_release(&bytes);
}
END_TEST

Suite *cas_suite(void);
Suite *cas_suite(void)
{
	Suite *suite = suite_create("cas");
	TCase *tcase = tcase_create("cas");

	tcase_add_loop_test(tcase, a_cas_is_known_by_name_and_content, 0, ARRAY_SIZE(samples));
	tcase_add_loop_test(tcase, samples_say_what_is_expected, 0, ARRAY_SIZE(samples));
	tcase_add_loop_test(tcase, the_model_is_that_of_the_canm, 0, ARRAY_SIZE(samples));
	tcase_add_loop_test(tcase, edits_of_samples_leave_the_records, 0, ARRAY_SIZE(samples));
	tcase_add_loop_test(tcase, edits_change_the_length, 0, ARRAY_SIZE(samples));
	tcase_add_loop_test(tcase, edits_of_made_files_leave_the_records, 0, 7);
	tcase_add_test(tcase, names_inside_the_canm_move_behind_it_once);
	tcase_add_loop_test(tcase, an_unknown_command_that_may_name_something_stops_a_move, 0, 3);
	tcase_add_loop_test(tcase, commands_are_known_by_version, 0, 3);
	tcase_add_test(tcase, animations_keep_their_numbers);
	tcase_add_test(tcase, a_number_of_no_animation_stays_one);
	tcase_add_test(tcase, what_cannot_be_stored_is_refused);
	tcase_add_test(tcase, no_cas_is_refused_with_its_place);
	tcase_add_loop_test(tcase, a_file_that_is_not_understood_is_read_only, 0,
			    ARRAY_SIZE(damages));
	tcase_add_test(tcase, other_versions_and_places_of_the_canm_are_read_only);
	tcase_add_test(tcase, a_name_without_an_end_is_read_only);
	tcase_add_test(tcase, names_that_overlap_too_often_are_read_only);
	tcase_add_loop_test(tcase, cut_at_every_length, 0, ARRAY_SIZE(samples));
	tcase_add_loop_test(tcase, every_byte_changed, 0, ARRAY_SIZE(samples));
	suite_add_tcase(suite, tcase);
	return suite;
}
