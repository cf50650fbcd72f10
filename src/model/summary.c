/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "summary.h"

#include <stdlib.h>
#include <string.h>

struct summary {
	struct buf *out;
	const char *clip; /* the clip that the next parts are about; NULL: the file */
	bool headed;      /* the name of `clip` has been written */
	unsigned named, more;
};

/* ---- parts ---- */

/* Begins a part. Returns false if the line has no more room, and the part is only counted. */
static bool begin_part(struct summary *s)
{
	if (s->named == SUMMARY_PARTS) {
		s->more++;
		return false;
	}
	if (s->headed)
		buf_text(s->out, ", ");
	else if (s->named)
		buf_text(s->out, "; ");
	if (!s->headed && s->clip)
		buf_format(s->out, "%s: ", s->clip);
	s->headed = true;
	s->named++;
	return true;
}

static void summary_about(struct summary *s, const char *clip)
{
	s->clip = clip;
	s->headed = false;
}

static void end_summary(struct summary *s)
{
	if (s->more)
		buf_format(s->out, "%sand %u more", s->named ? "; " : "", s->more);
}

/* Writes a part about the list of clips, such as "walk removed". */
static void say_clip(struct summary *s, const char *label, const char *what)
{
	summary_about(s, NULL);
	if (begin_part(s))
		buf_format(s->out, "clip %s %s", label, what);
	s->headed = false;
}

static void say_part(struct summary *s, const char *name, const char *what)
{
	if (begin_part(s))
		buf_format(s->out, "%s %s", name, what);
}

/* ---- keys ---- */

static bool summary_key_same(const struct curve *a, uint32_t i, const struct curve *b, uint32_t j)
{
	for (unsigned axis = 0; axis < curve_width(a); axis++) {
		if (!f64_same(curve_value(a, i, axis), curve_value(b, j, axis)))
			return false;
	}
	return true;
}

/* Returns the number of changed, new and removed keys; keys of one frame are matched in order. */
static uint32_t count_changes(const struct curve *a, const struct curve *b)
{
	uint32_t i = 0, j = 0, count = 0, m = a ? a->count : 0, n = b ? b->count : 0;

	if (!a || !b || a->kind != b->kind)
		return m > n ? m : n;
	while (i < m || j < n) {
		uint64_t x = i < m ? curve_frame(a, i) : UINT64_MAX;
		uint64_t y = j < n ? curve_frame(b, j) : UINT64_MAX;

		count += x != y || !summary_key_same(a, i, b, j);
		i += x <= y;
		j += y <= x;
	}
	return count;
}

static void summary_compare_curves(struct summary *s, const char *bone, enum role role,
				   const struct curve *a, const struct curve *b)
{
	uint32_t keys;

	if (curve_same(a, b) || !begin_part(s))
		return;
	keys = count_changes(a, b);
	buf_format(s->out, "%s %s", bone, role_names[role]);
	if (!b)
		buf_text(s->out, " removed");
	else if (keys && (b->keyed || (a && a->keyed)))
		buf_format(s->out, " %u key%s", keys, keys == 1 ? "" : "s");
}

static void summary_compare_tracks(struct summary *s, const struct track *a, const struct track *b)
{
	if (track_same(a, b))
		return;
	for (enum role role = 0; role < ROLE_COUNT; role++)
		summary_compare_curves(s, b->label, role, a->curve[role], b->curve[role]);
	if (!keyframes_same(a->keyframes, b->keyframes))
		say_part(s, b->label, "keyframes");
}

/* ---- bones ---- */

static void summary_compare_bones(struct summary *s, const struct clip *a, const struct clip *b)
{
	for (uint32_t i = 0; i < a->track_count; i++) {
		const struct track *t = track_labelled(b, i, a->tracks[i].label);

		if (!t)
			say_part(s, a->tracks[i].label, "removed");
		else
			summary_compare_tracks(s, &a->tracks[i], t);
	}
	for (uint32_t i = 0; i < b->track_count; i++) {
		if (!track_labelled(a, i, b->tracks[i].label))
			say_part(s, b->tracks[i].label, "added");
	}
}

/* ---- values ---- */

static const struct field *summary_find_field(const struct clip *c, const char *name)
{
	for (uint32_t i = 0; i < c->field_count; i++) {
		if (strcmp(c->fields[i].name, name) == 0)
			return &c->fields[i];
	}
	return NULL;
}

static bool f32_same(float a, float b)
{
	return f32_bits(a) == f32_bits(b);
}

static bool still_same(const struct still *a, const struct still *b)
{
	return f32_same(a->time, b->time) && strcmp(a->url, b->url) == 0;
}

static bool summary_stills_same(const struct clip *a, const struct clip *b)
{
	if (!a->stills || !b->stills || a->frames != b->frames)
		return !a->stills && !b->stills;
	for (uint32_t i = 0; i < a->frames; i++) {
		if (!still_same(&a->stills[i], &b->stills[i]))
			return false;
	}
	return true;
}

static void summary_compare_values(struct summary *s, const struct clip *a, const struct clip *b)
{
	if (a->loop != b->loop)
		say_part(s, "clip.json", "loop");
	if (a->frames != b->frames)
		say_part(s, "clip.json", "frames");
	if (!f32_same(a->frame_time, b->frame_time))
		say_part(s, "clip.json", "frame_time");
	if (!f32_same(a->duration, b->duration))
		say_part(s, "clip.json", "duration");
	for (uint32_t i = 0; i < b->field_count; i++) {
		const struct field *field = &b->fields[i],
				   *was = summary_find_field(a, field->name);

		/* "loop" has been compared already. */
		if ((!was || !fields_same(was, 1, field, 1)) && strcmp(field->name, "loop") != 0)
			say_part(s, "clip.json", field->name);
	}
	if (!summary_stills_same(a, b) && begin_part(s))
		buf_text(s->out, "frames.csv");
}

/* ---- clips ---- */

/* Finds a clip with the same bones and keys under another name: a renamed one. */
static const struct clip *summary_renamed_clip(const struct anim *before, const struct clip *a,
					       const struct anim *after)
{
	for (uint32_t i = 0; i < after->clip_count; i++) {
		const struct clip *b = &after->clips[i];

		if (b->track_count == a->track_count && b->frames == a->frames &&
		    (b->tracks == a->tracks ||
		     (a->track_count && track_same(&a->tracks[0], &b->tracks[0]))) &&
		    !clip_labelled(before, i, b->label))
			return b;
	}
	return NULL;
}

static void say_lost(struct summary *s, const struct anim *before, const struct clip *a,
		     const struct anim *after)
{
	const struct clip *now = summary_renamed_clip(before, a, after);

	summary_about(s, NULL);
	if (!now)
		say_clip(s, a->label, "removed");
	else if (begin_part(s))
		buf_format(s->out, "clip %s is called %s", a->label, now->label);
	s->headed = false;
}

static bool was_renamed(const struct anim *before, const struct clip *b, const struct anim *after)
{
	for (uint32_t i = 0; i < before->clip_count; i++) {
		if (!clip_labelled(after, i, before->clips[i].label) &&
		    summary_renamed_clip(before, &before->clips[i], after) == b)
			return true;
	}
	return false;
}

static void compare_header(struct summary *s, const struct anim *a, const struct anim *b)
{
	summary_about(s, NULL);
	if (a->version != b->version)
		say_part(s, "file.json", "version");
	for (uint32_t i = 0; i < b->field_count; i++) {
		if (i >= a->field_count || !fields_same(&a->fields[i], 1, &b->fields[i], 1))
			say_part(s, "file.json", b->fields[i].name);
	}
}

void summary_files(const struct anim *before, const struct anim *after, struct buf *out)
{
	struct summary s = {.out = out};

	for (uint32_t i = 0; i < before->clip_count; i++) {
		const struct clip *a = &before->clips[i], *b = clip_labelled(after, i, a->label);

		if (!b) {
			say_lost(&s, before, a, after);
			continue;
		}
		summary_about(&s, b->label);
		if (a->tracks != b->tracks || a->track_count != b->track_count)
			summary_compare_bones(&s, a, b);
		summary_compare_values(&s, a, b);
	}
	for (uint32_t i = 0; i < after->clip_count; i++) {
		const struct clip *b = &after->clips[i];

		if (!clip_labelled(before, i, b->label) && !was_renamed(before, b, after))
			say_clip(&s, b->label, "added");
	}
	compare_header(&s, before, after);
	end_summary(&s);
}

/* ---- two lines ---- */

/*
 * Returns the length of the subject of a part, which ends before the number: of "walk: hips
 * translation 12 keys", the length of "walk: hips translation".
 */
static size_t subject_length(const char *part, size_t length)
{
	size_t end = length;

	if (length > 4 && (memcmp(part + length - 4, " key", 4) == 0 ||
			   memcmp(part + length - 5, " keys", 5) == 0)) {
		end -= part[length - 1] == 's' ? 5 : 4;
		while (end > 0 && part[end - 1] >= '0' && part[end - 1] <= '9')
			end--;
	}
	return end;
}

/* Does the later line begin with all parts of the earlier one, and so include it? */
static bool summary_is_said(const char *earlier, const char *later)
{
	size_t a = strlen(earlier), b = strlen(later);
	size_t x = subject_length(earlier, a), y = subject_length(later, b);

	return !a || (x == y && memcmp(earlier, later, x) == 0);
}

void summary_join(const char *earlier, const struct buf *later, struct buf *out)
{
	char *text = strndup(later->size ? (const char *)later->data : "", later->size);

	if (!text)
		out->failed = true;
	else if (*text && summary_is_said(earlier, text))
		buf_text(out, text);
	else
		buf_text(out, earlier);
	if (text && *text && !summary_is_said(earlier, text) && !strstr(earlier, text))
		buf_format(out, "; %s", text);
	free(text);
}
