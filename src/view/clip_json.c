/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * clip.json: what a clip is called, how long it is, what else the format stores about it, and its
 * bones in file order. Times are the stored numbers, in "time_unit".
 *
 * "clip", "loop", "frames", "frame_time", "duration", the format's own member and "bones" can be
 * edited; "was" in an entry of "bones" names the bone that is renamed.
 */
#include "clip.h"
#include "json.h"
#include "names.h"
#include "num.h"
#include "views.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct clip *shown_clip(const struct shown *at)
{
	return &at->anim->clips[at->clip];
}

/* ---- render ---- */

static void write_times(const struct shown *at, struct buf *out)
{
	const struct format *format = at->anim->format;
	const struct clip *clip = shown_clip(at);
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

static void write_bones(const struct clip *clip, struct buf *out)
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
	const struct clip *clip = shown_clip(at);

	buf_text(out, "{\n  \"format\": \"animfs.clip/1\",\n  \"file\": ");
	json_write_name(out, at->file_name);
	buf_text(out, ", \"clip\": ");
	json_write_name(out, clip->label);
	buf_text(out, ", \"name\": ");
	json_write_name(out, clip->name);
	buf_text(out, ",\n  ");
	if (at->anim->format->has_loop)
		buf_format(out, "\"loop\": %s, ", clip->loop ? "true" : "false");
	write_times(at, out);
	buf_text(out, ",\n");
	if (clip->field_count > 0) {
		buf_text(out, "  ");
		json_write_fields(out, at->anim->format->name, clip->fields, clip->field_count);
		buf_text(out, ",\n");
	}
	write_bones(clip, out);
	buf_text(out, "}\n");
}

/* ---- parse ---- */

struct parse {
	const struct shown *at;
	struct doc doc;
	struct spot root;
	json_t *served;
	struct anim *edited;
	struct clip *clip; /* in edited */
	struct err *err;
};

/* A member that the text gives and that is not what was served. */
static bool is_changed(const struct parse *p, const struct spot *s)
{
	return s->value && !spot_unchanged(s, json_object_get(p->served, s->member), NULL, NULL);
}

/* Members that other formats have and this one does not. */
static bool check_format_has(const struct parse *p)
{
	static const char *const names[] = {"loop", "frame_time", "duration"};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		struct spot s = spot_member(&p->root, names[i]);

		if (s.value && !json_object_get(p->served, names[i]))
			return spot_refuse(&s, p->err, ERR_STORE, "a %s file stores no \"%s\"",
					   p->at->anim->format->name, names[i]);
	}
	return true;
}

/* ---- names ---- */

static bool refuse_label(const struct parse *p, const struct spot *s, const char *label,
			 size_t limit)
{
	struct buf right = BUF_INIT;

	name_escape(label, limit, &right);
	buf_char(&right, '\0');
	spot_refuse(s, p->err, ERR_TEXT, "\"%s\" cannot be the file name of a clip or bone", label);
	if (!right.failed)
		err_accept(p->err, "\"%s\"", (const char *)right.data);
	buf_release(&right);
	return false;
}

/* The stored name that a file-name form stands for; both go to the arena. */
static bool read_label(const struct parse *p, const struct spot *s, size_t limit,
		       const char **label, const char **name)
{
	struct arena *arena = &p->edited->arena;
	struct buf stored = BUF_INIT, again = BUF_INIT;
	const char *text;
	bool possible;

	if (!spot_text(s, p->err, &text))
		return false;
	possible = name_unescape(text, &stored);
	*label = arena_text(arena, text, strlen(text));
	*name = arena_text(arena, (const char *)stored.data, stored.size);
	if (*name)
		name_escape(*name, limit, &again);
	possible = possible && bytes_equal(buf_bytes(&again), bytes_of(text));
	arena->failed |= stored.failed || again.failed;
	buf_release(&stored);
	buf_release(&again);
	if (arena->failed)
		return err_memory(p->err);
	return possible || refuse_label(p, s, text, limit);
}

/* Is it the name of a file that stands beside the clips? */
static bool is_view_file(const char *label)
{
	for (const struct view *const *v = views; *v; v++) {
		size_t length = strlen((*v)->file);

		if ((*v)->place != VIEW_OF_FILE)
			continue;
		if ((*v)->whole ? strncmp(label, (*v)->file, length) == 0
				: strcmp(label, (*v)->file) == 0)
			return true;
	}
	return false;
}

static bool edit_name(struct parse *p)
{
	struct spot s = spot_member(&p->root, "clip");
	const struct anim *anim = p->at->anim;
	const char *label, *name;

	if (!is_changed(p, &s))
		return true;
	if (!read_label(p, &s, NAME_LIMIT, &label, &name))
		return false;
	if (is_view_file(label))
		return spot_refuse(&s, p->err, ERR_TEXT, "\"%s\" is the name of a view", label);
	for (uint32_t i = 0; i < anim->clip_count; i++)
		if (i != p->at->clip && strcmp(anim->clips[i].label, label) == 0)
			return spot_refuse(&s, p->err, ERR_TEXT,
					   "another clip of this file is called \"%s\"", label);
	p->clip->label = label;
	p->clip->name = name;
	return true;
}

/* ---- fields and loop ---- */

static bool edit_field(struct parse *p, const struct spot *s)
{
	bool found;
	struct field *field = clip_edit_field(p->edited, p->clip, s->member, &found);

	if (!field)
		return err_memory(p->err);
	if (!field->editable)
		return spot_refuse(s, p->err, ERR_TEXT, "\"%s\" cannot be changed here", s->member);
	if (field->type == FIELD_REAL)
		return spot_real(s, p->err, &field->real);
	return spot_integer(s, INT32_MIN, INT32_MAX, p->err, &field->integer);
}

static bool edit_fields(struct parse *p)
{
	struct spot fields = spot_member(&p->root, p->at->anim->format->name);
	const json_t *served = json_object_get(p->served, p->at->anim->format->name);
	const char *name;
	json_t *value;

	if (!is_changed(p, &fields))
		return true;
	if (!spot_object(&fields, p->err) || !spot_known(&fields, served, p->err))
		return false;
	json_object_foreach(fields.value, name, value)
	{
		struct spot s = spot_member(&fields, name);

		if (!spot_unchanged(&s, json_object_get(served, name), NULL, NULL) &&
		    !edit_field(p, &s))
			return false;
	}
	return true;
}

/* A format's own field "loop" is the same thing as it is stored: the one that changed leads. */
static bool edit_loop(struct parse *p)
{
	struct spot s = spot_member(&p->root, "loop");
	struct spot fields = spot_member(&p->root, p->at->anim->format->name);
	struct spot stored = spot_member(&fields, "loop");
	const json_t *served = json_object_get(p->served, fields.member);
	bool changed = is_changed(p, &s), loop = false;
	bool stored_changed = stored.value &&
			      !spot_unchanged(&stored, json_object_get(served, "loop"), NULL, NULL);

	if (stored_changed)
		p->clip->loop = json_real_value(stored.value) == 1;
	if (!changed)
		return true;
	if (!spot_bool(&s, p->err, &loop))
		return false;
	if (stored_changed)
		return loop == p->clip->loop ||
		       spot_refuse(&stored, p->err, ERR_TEXT, "this is not what \"loop\" says");
	return clip_set_loop(p->edited, p->clip, loop) || err_memory(p->err);
}

/* ---- times ---- */

static bool read_time(const struct parse *p, const struct spot *s, float *out)
{
	if (!spot_f32(s, p->err, out))
		return false;
	return *out >= 0 ||
	       spot_refuse(s, p->err, ERR_TEXT, "\"%s\" cannot be below zero", s->member);
}

/* Keys past the new end go; a longer clip holds its last values without new keys. */
static bool cut_tracks(struct parse *p)
{
	for (uint32_t i = 0; i < p->clip->track_count; i++) {
		for (enum role role = 0; role < ROLE_COUNT; role++) {
			const struct curve *old = p->clip->tracks[i].curve[role];
			uint32_t keys = old ? curve_shown(old, p->clip->frames) : 0;
			struct track *track;
			struct curve *cut;

			if (!old || !old->keyed || keys == old->count)
				continue;
			track = anim_edit_track(p->edited, p->at->clip, i);
			cut = arena_alloc(&p->edited->arena, 1, sizeof(*cut));
			if (!track || !cut)
				return err_memory(p->err);
			*cut = *old;
			cut->count = keys;
			track->curve[role] = keys > 0 ? cut : NULL;
		}
	}
	return true;
}

static bool edit_frames(struct parse *p, const struct spot *s)
{
	uint32_t before = p->clip->frames;
	int64_t frames;

	if (!spot_integer(s, 1, p->at->anim->format->max_frames, p->err, &frames))
		return false;
	p->clip->frames = (uint32_t)frames;
	return p->clip->frames >= before || cut_tracks(p);
}

/* Where exactly one of the three changed, the others follow; several are taken as they are. */
static bool edit_times(struct parse *p)
{
	struct spot frames = spot_member(&p->root, "frames");
	struct spot frame_time = spot_member(&p->root, "frame_time");
	struct spot duration = spot_member(&p->root, "duration");
	bool new_frames = is_changed(p, &frames), new_frame_time = is_changed(p, &frame_time);
	bool new_duration = is_changed(p, &duration);

	if ((new_frames && !edit_frames(p, &frames)) ||
	    (new_frame_time && !read_time(p, &frame_time, &p->clip->frame_time)) ||
	    (new_duration && !read_time(p, &duration, &p->clip->duration)))
		return false;
	if (new_frames + new_frame_time + new_duration != 1)
		return true;
	if (new_duration)
		clip_follow_frame_time(p->edited, p->clip);
	else
		clip_follow_duration(p->edited, p->clip);
	return true;
}

/* ---- the list of bones ---- */

/* Labels of bones, hashed: of the old ones with their place, of the new ones to find doubles. */
struct bones {
	json_t *old, *taken, *made;
	json_t *members; /* that an entry of the list may have */
};

/* What a new bone can store: what others of the clip can, or of the file. */
static struct track new_track(const struct anim *anim, const struct clip *clip)
{
	struct track track = {
		.origin = ANIM_NEW, .roles = (1u << ROLE_COUNT) - 1, .rotation = CURVE_EULER};

	for (uint32_t i = 0; clip->track_count == 0 && i < anim->clip_count; i++)
		if (anim->clips[i].track_count > 0)
			clip = &anim->clips[i];
	if (clip->track_count > 0) {
		track.roles = clip->tracks[clip->track_count - 1].roles;
		track.rotation = clip->tracks[clip->track_count - 1].rotation;
	}
	return track;
}

/* Notes a label; false and err when the list has it already. */
static bool note_label(const struct parse *p, json_t *labels, const char *label,
		       const struct spot *s)
{
	if (json_object_get(labels, label))
		return spot_refuse(s, p->err, ERR_TEXT, "\"%s\" is in the list twice", label);
	return json_object_set_new_nocheck(labels, label, json_true()) == 0 || err_memory(p->err);
}

/* "name" is for reading: what is stored for the bone that the entry says. */
static bool check_stored_name(const struct parse *p, const struct spot *entry, const char *name)
{
	struct spot s = spot_member(entry, "name");
	struct buf printable = BUF_INIT;
	const char *text;
	bool same, failed;

	if (!s.value)
		return true;
	if (!spot_text(&s, p->err, &text))
		return false;
	name_printable(name, &printable);
	same = bytes_equal(buf_bytes(&printable), bytes_of(text));
	failed = printable.failed;
	buf_release(&printable);
	if (failed)
		return err_memory(p->err);
	if (same)
		return true;
	spot_refuse(&s, p->err, ERR_TEXT, "\"name\" cannot be changed here");
	return err_accept(p->err, "another \"bone\", with \"was\" to say which bone is renamed");
}

/* One entry: an old bone, an old bone under a new name, or a new bone. */
static bool read_bone(struct parse *p, struct bones *b, const struct spot *entry,
		      struct track *track)
{
	struct spot bone = spot_member(entry, "bone"), was = spot_member(entry, "was");
	const struct spot *from = was.value ? &was : &bone;
	const char *label, *old_label;
	const json_t *old;

	if (!spot_text(&bone, p->err, &label) || !spot_text(from, p->err, &old_label) ||
	    !note_label(p, b->made, label, &bone))
		return false;
	old = json_object_get(b->old, old_label);
	if (was.value && !old)
		return spot_refuse(&was, p->err, ERR_TEXT, "the clip has no bone \"%s\"",
				   old_label);
	if (old && !note_label(p, b->taken, old_label, from))
		return false;
	*track = old ? p->clip->tracks[json_integer_value(old)] : new_track(p->at->anim, p->clip);
	if (old && !check_stored_name(p, entry, track->name))
		return false;
	if (old && strcmp(label, old_label) == 0)
		return true;
	if (!read_label(p, &bone, NAME_LIMIT - NAME_SUFFIX_ROOM, &track->label, &track->name))
		return false;
	return old || check_stored_name(p, entry, track->name);
}

static bool hash_bones(const struct parse *p, struct bones *b)
{
	b->old = json_object();
	b->taken = json_object();
	b->made = json_object();
	b->members = json_pack("{s:n, s:n, s:n}", "bone", "name", "was");
	if (!b->old || !b->taken || !b->made || !b->members)
		return err_memory(p->err);
	for (uint32_t i = 0; i < p->clip->track_count; i++)
		if (json_object_set_new_nocheck(b->old, p->clip->tracks[i].label, json_integer(i)))
			return err_memory(p->err);
	return true;
}

static bool read_bones(struct parse *p, struct bones *b, const struct spot *list)
{
	size_t count = json_array_size(list->value);
	struct track *tracks = arena_alloc(&p->edited->arena, count + 1, sizeof(*tracks));
	struct spot s;

	if (!tracks || !hash_bones(p, b))
		return err_memory(p->err);
	for (s = spot_first(list); s.value; spot_next(&s))
		if (!spot_object(&s, p->err) || !spot_known(&s, b->members, p->err) ||
		    !read_bone(p, b, &s, &tracks[s.index]))
			return false;
	p->clip->tracks = tracks;
	p->clip->tracks_own = true;
	p->clip->track_count = (uint32_t)count;
	return true;
}

static bool edit_bones(struct parse *p)
{
	struct spot list = spot_member(&p->root, "bones");
	struct bones b = {0};
	bool fine;

	if (!is_changed(p, &list))
		return true;
	if (!spot_array(&list, p->err))
		return false;
	fine = read_bones(p, &b, &list);
	json_decref(b.old);
	json_decref(b.taken);
	json_decref(b.made);
	json_decref(b.members);
	return fine;
}

/* ---- all of it ---- */

static bool read_clip(struct parse *p, struct bytes text)
{
	const char *const editable[] = {"clip",
					"loop",
					"frames",
					"frame_time",
					"duration",
					"bones",
					p->at->anim->format->name,
					NULL};
	struct buf own = BUF_INIT;

	if (!doc_read(&p->doc, text, p->err))
		return false;
	p->root = spot_root(&p->doc);
	clip_json_render(p->at, &own);
	p->served = json_served(&own, p->err);
	buf_release(&own);
	p->edited = anim_edit(p->at->anim);
	p->clip = p->edited ? anim_edit_clip(p->edited, p->at->clip) : NULL;
	if (!p->served || !p->clip)
		return err_memory(p->err);
	/* Bones come last: cutting a track finds it by its old place. */
	return check_format_has(p) && spot_unchanged(&p->root, p->served, editable, p->err) &&
	       edit_name(p) && edit_fields(p) && edit_loop(p) && edit_times(p) && edit_bones(p);
}

static struct anim *clip_json_parse(const struct shown *at, struct bytes text, struct err *err)
{
	struct parse p = {.at = at, .err = err};

	if (!read_clip(&p, text)) {
		anim_free(p.edited);
		p.edited = NULL;
	}
	doc_release(&p.doc);
	json_decref(p.served);
	return p.edited;
}

const struct view view_clip_json = {
	.name = "json",
	.place = VIEW_OF_CLIP,
	.file = "clip.json",
	.render = clip_json_render,
	.parse = clip_json_parse,
};
