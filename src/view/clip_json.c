/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * clip_json.c - clip.json: a clip's name, its length, the format's own fields, and its bones in
 * file order. Times are the stored numbers, in "time_unit".
 *
 * "clip", "loop", "frames", "frame_time", "duration", the format's own member and "bones" can be
 * edited; "was" in an entry of "bones" names the bone that is renamed. A text that names another
 * file was copied from there: its names of the file and of the clip say nothing here.
 */
#include "clip_text.h"
#include "model/clip.h"
#include "text/num.h"
#include "views.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- render ---- */

static void clip_json_write_times(const struct shown *at, struct buf *out)
{
	const struct format *format = at->anim->format;
	const struct clip *clip = clip_shown(at);
	double spf = anim_seconds_per_frame(at->anim, clip);
	char unit[32];

	buf_text(out, "\"frames\": ");
	buf_unsigned(out, clip->frames);
	if (format->has_frame_time) {
		buf_text(out, ", \"frame_time\": ");
		json_write_f32(out, clip->frame_time);
	}
	if (format->has_duration) {
		buf_text(out, ", \"duration\": ");
		json_write_f32(out, clip->duration);
	}
	anim_time_unit(at->anim, unit);
	buf_format(out, ", \"time_unit\": \"%s\", \"seconds\": ", unit);
	buf_seconds(out, clip->frames > 0 ? (clip->frames - 1) * spf : 0);
}

static void clip_json_write_bones(const struct clip *clip, struct buf *out)
{
	bool first = true;

	buf_text(out, "  \"bones\": [");
	for (uint32_t i = 0; i < clip->track_count; i++) {
		json_write_comma(out, &first, "\n    ");
		buf_text(out, "{\"bone\": ");
		json_write_name(out, clip->tracks[i].label);
		buf_text(out, ", \"name\": ");
		json_write_name(out, clip->tracks[i].name);
		buf_char(out, '}');
	}
	buf_text(out, first ? "]\n" : "\n  ]\n");
}

static void clip_json_render(const struct shown *at, struct buf *out)
{
	const struct clip *clip = clip_shown(at);

	buf_text(out, "{\n  \"format\": \"animfs.clip/1\",\n  \"file\": ");
	json_write_name(out, at->file_name);
	buf_text(out, ", \"clip\": ");
	json_write_name(out, clip->label);
	buf_text(out, ", \"name\": ");
	json_write_name(out, clip->name);
	buf_text(out, ",\n  ");
	if (at->anim->format->has_loop)
		buf_format(out, "\"loop\": %s, ", clip->loop ? "true" : "false");
	clip_json_write_times(at, out);
	buf_text(out, ",\n");
	if (clip->field_count > 0) {
		buf_text(out, "  ");
		json_write_fields(out, at->anim->format->name, clip->fields, clip->field_count);
		buf_text(out, ",\n");
	}
	clip_json_write_bones(clip, out);
	buf_text(out, "}\n");
}

/* ---- parse ---- */

/* Refuses members that clip.json has only for other formats. */
static bool check_format_has(const struct clip_text *p)
{
	static const char *const names[] = {"loop", "frame_time", "duration"};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		struct spot s = spot_member(&p->root, names[i]);

		if (!s.value || token_member(p->own.root, names[i]))
			continue;
		spot_refuse(&s, p->err, ERR_STORE, "%s files store no \"%s\"",
			    p->at->anim->format->name, names[i]);
		return err_accept(p->err, "the member left out");
	}
	return true;
}

/* ---- fields and loop ---- */

static bool edit_field(struct clip_text *p, const struct spot *s)
{
	bool found;
	struct field *field = clip_edit_field(p->edited, p->clip, s->member, &found);

	return field ? json_read_field(s, p->err, field) : err_memory(p->err);
}

static bool is_derived(const struct clip *clip, const char *name)
{
	for (uint32_t i = 0; i < clip->field_count; i++) {
		if (strcmp(clip->fields[i].name, name) == 0)
			return clip->fields[i].derived;
	}
	return false;
}

static bool edit_fields(struct clip_text *p)
{
	struct spot fields = spot_member(&p->root, p->at->anim->format->name);
	const struct token *served = token_member(p->own.root, fields.member);
	bool any = false;

	if (!clip_text_changed(p, &fields))
		return true;
	if (!spot_object(&fields, p->err) || !spot_known(&fields, NULL, served, p->err))
		return false;
	for (const struct token *t = token_first(served); t; t = token_next(served, t)) {
		struct spot s = spot_member(&fields, token_name(t));

		if (!s.value || is_derived(p->clip, s.member) || spot_unchanged(&s, t, NULL, NULL))
			continue;
		any = true;
		if (!edit_field(p, &s))
			return false;
	}
	/*
	 * A member that follows from a changed field may have its value from before or after the
	 * change.
	 */
	return any || spot_unchanged(&fields, served, NULL, p->err);
}

/*
 * In formats where keys have times, the number of frames and the length follow from the rate, which
 * is a field. An editor that saves a text twice has them from before.
 */
static bool may_be_stale(const struct clip_text *p)
{
	struct spot fields = spot_member(&p->root, p->at->anim->format->name);

	return p->at->anim->format->timed && clip_text_changed(p, &fields);
}

/*
 * Applies "loop" or the format's own field of that name, which are the same value: whichever
 * changed.
 */
static bool edit_loop(struct clip_text *p)
{
	struct spot s = spot_member(&p->root, "loop");
	struct spot fields = spot_member(&p->root, p->at->anim->format->name);
	struct spot stored = spot_member(&fields, "loop");
	const struct token *served = token_member(p->own.root, fields.member);
	bool changed = clip_text_changed(p, &s), loop = false;
	bool stored_changed =
		stored.value && !spot_unchanged(&stored, token_member(served, "loop"), NULL, NULL);

	if (stored_changed)
		p->clip->loop = token_number(stored.value, 0) == 1;
	if (!changed)
		return true;
	if (!spot_bool(&s, p->err, &loop))
		return false;
	if (stored_changed)
		return loop == p->clip->loop ||
		       spot_refuse(&stored, p->err, ERR_TEXT, "it contradicts \"loop\"");
	return clip_set_loop(p->edited, p->clip, loop) || err_memory(p->err);
}

/* ---- times ---- */

static bool clip_json_read_time(const struct clip_text *p, const struct spot *s, float *out)
{
	if (!spot_f32(s, p->err, out))
		return false;
	return *out >= 0 ||
	       spot_refuse(s, p->err, ERR_TEXT, "\"%s\" cannot be below zero", s->member);
}

static bool edit_frames(struct clip_text *p, const struct spot *s)
{
	int64_t frames;

	if (p->at->anim->format->timed) {
		spot_refuse(s, p->err, ERR_STORE, "a clip of %s ends with its last key",
			    p->at->anim->format->name);
		return err_accept(p->err, "keys added or removed in bones/*.csv or curves.csv");
	}
	if (!spot_integer(s, 1, p->at->anim->format->max_frames, p->err, &frames))
		return false;
	return clip_set_frames(p->edited, p->at->clip, (uint32_t)frames) || err_memory(p->err);
}

/* Derives the number of frames from the new duration, for a format that stores no frame time. */
static bool follow_frames(struct clip_text *p, const struct spot *duration)
{
	double frames =
		round((double)p->clip->duration / anim_seconds_per_frame(p->edited, p->clip)) + 1;

	if (frames > p->at->anim->format->max_frames)
		return spot_refuse(duration, p->err, ERR_STORE,
				   "that is more than %u frames, the most that %s files have",
				   (unsigned)p->at->anim->format->max_frames,
				   p->at->anim->format->name);
	return clip_set_frames(p->edited, p->at->clip, (uint32_t)frames) || err_memory(p->err);
}

/*
 * Returns whether the frame rate changed, in a format whose files have it as a field. The number of
 * frames stays then, and the duration follows.
 */
static bool is_rate_changed(struct clip_text *p)
{
	const char *name = p->at->anim->format->rate_field;
	const struct clip *old = clip_shown(p->at);
	double rate = 0;

	for (uint32_t i = 0; name && i < p->clip->field_count; i++) {
		if (strcmp(p->clip->fields[i].name, name) != 0)
			continue;
		rate = p->clip->fields[i].real;
		if (f64_same(rate, old->fields[i].real) || !isfinite(rate) || !(rate > 0))
			return false;
		p->edited->rate = rate;
		return true;
	}
	return false;
}

/*
 * Applies frames, frame_time and duration. If exactly one of them changed, the others are derived
 * from it; if several did, all are taken as written.
 */
static bool edit_times(struct clip_text *p)
{
	struct spot frames = spot_member(&p->root, "frames");
	struct spot frame_time = spot_member(&p->root, "frame_time");
	struct spot duration = spot_member(&p->root, "duration");
	bool new_frames = clip_text_changed(p, &frames),
	     new_frame_time = clip_text_changed(p, &frame_time);
	bool new_duration = clip_text_changed(p, &duration);

	new_frames = new_frames && !may_be_stale(p);
	if ((new_frames && !edit_frames(p, &frames)) ||
	    (new_frame_time && !clip_json_read_time(p, &frame_time, &p->clip->frame_time)) ||
	    (new_duration && !clip_json_read_time(p, &duration, &p->clip->duration)))
		return false;
	if (new_frames + new_frame_time + new_duration + is_rate_changed(p) != 1)
		return true;
	if (!new_duration)
		clip_follow_duration(p->edited, p->clip);
	else if (p->edited->format->has_frame_time)
		clip_follow_frame_time(p->edited, p->clip);
	else
		return follow_frames(p, &duration);
	return true;
}

/* ---- all of it ---- */

/* Applies a text of a clip of this format. `copied`: the text comes from another file. */
static bool clip_json_edit(struct clip_text *p, bool copied)
{
	bool fields = clip_shown(p->at)->field_count > 0;
	const char *const editable[] = {"clip",
					"loop",
					"frames",
					"frame_time",
					"duration",
					fields ? p->at->anim->format->name : "bones",
					"bones",
					may_be_stale(p) ? "seconds" : "bones",
					copied ? "file" : NULL,
					"name",
					"seconds",
					NULL};

	/* Bones come last: shortening the clip finds tracks by their old index. */
	return check_format_has(p) && spot_unchanged(&p->root, p->own.root, editable, p->err) &&
	       (copied || clip_text_rename(p)) && edit_fields(p) && edit_loop(p) && edit_times(p) &&
	       clip_text_bones(p);
}

static bool parse_clip_json(struct clip_text *p, struct bytes text)
{
	struct buf own = BUF_INIT;
	const char *name;
	struct spot file;
	bool fine;

	if (!doc_read(&p->doc, text, p->err))
		return false;
	p->root = spot_root(&p->doc);
	clip_json_render(p->at, &own);
	fine = doc_served(&p->own, &own, p->err);
	buf_release(&own);
	p->edited = anim_edit(p->at->anim);
	p->clip = p->edited ? anim_edit_clip(p->edited, p->at->clip) : NULL;
	if (!fine || !p->clip)
		return err_memory(p->err);
	if (clip_text_is_copy(p))
		return clip_text_copy(p);
	file = spot_member(&p->root, "file");
	return (!file.value || spot_text(&file, p->err, &name)) &&
	       clip_json_edit(p, clip_text_changed(p, &file));
}

static struct anim *clip_json_parse(const struct shown *at, struct bytes text, struct err *err)
{
	struct clip_text p = {.at = at, .err = err};

	if (!parse_clip_json(&p, text)) {
		anim_free(p.edited);
		p.edited = NULL;
	}
	doc_release(&p.doc);
	doc_release(&p.own);
	return p.edited;
}

const struct view view_clip_json = {
	.name = "json",
	.place = VIEW_OF_CLIP,
	.file = "clip.json",
	.render = clip_json_render,
	.parse = clip_json_parse,
	.names_file = true,
};
