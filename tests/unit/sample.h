/* SPDX-License-Identifier: GPL-3.0-or-later */
/* sample.h - the sample files, decoded and labelled, and steps that the tests of views share. */
#ifndef ANIMFS_TESTS_UNIT_SAMPLE_H
#define ANIMFS_TESTS_UNIT_SAMPLE_H

#include "load.h"
#include "store/version.h"
#include "view/views.h"

#include <check.h>
#include <string.h>

/* Samples of every format; those of CANM come first. */
static const char *const sample_names[] = {"wiki512.canm",
					   "odd512.canm",
					   "edf6_768.canm",
					   "nan512.canm",
					   "v203.cas",
					   "small.006",
					   "oddrot.006",
					   "tail.006",
					   "frames007_low.ff9anim",
					   "frames008_nolow.ff9anim",
					   "padnibble.ff9anim",
					   "duplicate.anm",
					   "empty_mid.anm",
					   "flags0.anm",
					   "walk.anim",
					   "odd.anim",
					   "floats.anim",
					   "walk_json6.anim",
					   "json_odd.anim",
					   NULL};

struct sample {
	const char *name;
	struct version *version;
	/* The file's codec, bytes and model. */
	const struct codec *codec;
	struct buf bytes;
	struct anim *anim;
};

static inline struct sample sample_decode_as(const char *name, struct buf bytes,
					     const struct decoding *how)
{
	struct err err = {0};
	struct sample s = {.name = name, .codec = codec_for_name(name)};

	s.version = version_of_bytes(s.codec, &bytes, name, how, &err);
	ck_assert_msg(s.version != NULL, "%s: %s", name, err.message);
	s.bytes = s.version->bytes;
	s.anim = s.version->anim;
	return s;
}

/* Decodes a sample, which owns the bytes from then on. */
static inline struct sample sample_decode(const char *name, struct buf bytes)
{
	return sample_decode_as(name, bytes, NULL);
}

/*
 * Opens a sample by its name; the extension is that of its folder: "wiki512.canm" is in
 * tests/data/canm/.
 */
static inline struct sample sample_open(const char *name)
{
	char path[128];

	ck_assert_msg(codec_for_name(name) != NULL, "%s is of no format", name);
	snprintf(path, sizeof(path), "tests/data/%s/%s", codec_for_name(name)->format->name, name);
	return sample_decode(name, load_file(path));
}

/* Returns the file that an edit of the sample makes, and checks that it equals the edit. */
static inline struct sample sample_store(const struct sample *s, const struct anim *edited)
{
	struct buf bytes = BUF_INIT;
	struct err err = {0};
	struct sample stored;

	ck_assert_msg(s->codec->encode(edited, buf_bytes(&s->bytes), &bytes, &err), "%s",
		      err.message);
	stored = sample_decode(s->name, bytes);
	ck_assert_msg(anim_stored(edited, s->anim, stored.anim, &err), "%s", err.message);
	return stored;
}

static inline void sample_close(struct sample *s)
{
	version_put(s->version);
}

/*
 * Returns the subject of a view. `bone` is the label of a bone; NULL for a view that is not of a
 * bone.
 */
static inline struct shown sample_shown(const struct sample *s, uint32_t clip, const char *bone)
{
	struct shown at = {
		.anim = s->anim, .raw = buf_bytes(&s->bytes), .file_name = s->name, .clip = clip};

	while (bone && strcmp(s->anim->clips[clip].tracks[at.track].label, bone) != 0)
		ck_assert_uint_lt(++at.track, s->anim->clips[clip].track_count);
	return at;
}

/* Renders the text of a view, with a NUL after it that is not counted. */
static inline struct buf view_text(const struct view *view, const struct shown *at)
{
	struct buf out = BUF_INIT;

	view->render(at, &out);
	buf_char(&out, '\0');
	ck_assert(!out.failed);
	out.size--;
	return out;
}

static inline uint32_t view_places(const struct view *view, const struct clip *clip)
{
	if (view->place == VIEW_OF_BONE)
		return clip->track_count;
	return view->place == VIEW_OF_FRAME ? clip->frames : 1;
}

/* Calls `law` for every text that the sample shows. */
static inline void for_each_text(const struct sample *s,
				 void (*law)(const struct view *view, const struct shown *at))
{
	for (const struct view *const *v = views; *v; v++) {
		uint32_t clips = (*v)->place == VIEW_OF_FILE ? 1 : s->anim->clip_count;

		for (uint32_t c = 0; c < clips; c++) {
			for (uint32_t i = 0; i < view_places(*v, &s->anim->clips[c]); i++) {
				struct shown at = sample_shown(s, c, NULL);

				at.track = (*v)->place == VIEW_OF_BONE ? i : 0;
				at.frame = (*v)->place == VIEW_OF_FRAME ? i : 0;
				if (!(*v)->present || (*v)->present(&at))
					law(*v, &at);
			}
		}
	}
}

/* Returns the text with the first occurrence of `was` replaced by `is`; the caller frees it. */
static inline char *text_edit(const char *text, const char *was, const char *is)
{
	const char *found = strstr(text, was);
	struct buf out = BUF_INIT;

	ck_assert_msg(found != NULL, "no \"%s\" in:\n%s", was, text);
	buf_add(&out, text, (size_t)(found - text));
	buf_text(&out, is);
	buf_text(&out, found + strlen(was));
	buf_char(&out, '\0');
	ck_assert(!out.failed);
	return (char *)out.data;
}

/* Saves the view's own text with `was` replaced by `is`. */
static inline struct anim *view_edit(const struct view *view, const struct shown *at,
				     const char *was, const char *is, struct err *err)
{
	struct buf own = view_text(view, at);
	char *text = text_edit((const char *)own.data, was, is);
	struct anim *edited = view->parse(at, bytes_of(text), err);

	free(text);
	buf_release(&own);
	return edited;
}

static inline struct anim *view_edit_ok(const struct view *view, const struct shown *at,
					const char *was, const char *is)
{
	struct err err = {0};
	struct anim *edited = view_edit(view, at, was, is, &err);

	ck_assert_msg(edited != NULL, "%s", err.message);
	return edited;
}

/* Checks that an edit is refused at that line and column, with a message that contains `words`. */
static inline void view_edit_refused(const struct view *view, const struct shown *at,
				     const char *was, const char *is, enum err_code code,
				     size_t line, size_t column, const char *words)
{
	struct buf own = view_text(view, at);
	char *text = text_edit((const char *)own.data, was, is);
	struct err err = {0};
	struct anim *edited = view->parse(at, bytes_of(text), &err);
	struct position p = err_locate(bytes_of(text), err.at);

	ck_assert_msg(edited == NULL, "accepted: %s", is);
	ck_assert_msg(err.code == code, "%s: code %d: %s", is, err.code, err.message);
	ck_assert(err.placed);
	ck_assert_msg(p.line == line && p.column == column, "%s: at %zu:%zu, not %zu:%zu: %s", is,
		      p.line, p.column, line, column, err.message);
	ck_assert_msg(strstr(err.message, words) || strstr(err.accepted, words),
		      "\"%s\" is not in \"%s\" (%s)", words, err.message, err.accepted);
	free(text);
	buf_release(&own);
}

static inline bool clip_same(const struct clip *a, const struct clip *b)
{
	bool same = strcmp(a->name, b->name) == 0 && strcmp(a->label, b->label) == 0 &&
		    a->origin == b->origin && a->frames == b->frames && a->loop == b->loop &&
		    f32_bits(a->frame_time) == f32_bits(b->frame_time) &&
		    f32_bits(a->duration) == f32_bits(b->duration) &&
		    a->track_count == b->track_count && a->field_count == b->field_count;

	for (uint32_t i = 0; same && i < a->field_count; i++)
		same = a->fields[i].integer == b->fields[i].integer &&
		       f64_same(a->fields[i].real, b->fields[i].real);
	for (uint32_t i = 0; same && i < a->track_count; i++)
		same = a->tracks[i].origin == b->tracks[i].origin &&
		       strcmp(a->tracks[i].label, b->tracks[i].label) == 0 &&
		       memcmp(a->tracks[i].curve, b->tracks[i].curve, sizeof(a->tracks[i].curve)) ==
			       0;
	return same;
}

/*
 * Returns whether two models have the same clips with the same values, and curves by the same
 * pointers.
 */
static inline bool model_same(const struct anim *a, const struct anim *b)
{
	bool same = a->clip_count == b->clip_count && a->version == b->version;

	for (uint32_t i = 0; same && i < a->clip_count; i++)
		same = clip_same(&a->clips[i], &b->clips[i]);
	return same;
}

#endif
