/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "assembly.h"

#include "assembly_facts.h"
#include "model/bones.h"
#include "model/names.h"
#include "structure.h"

#include "animfs/view.h"
#include "model/clip.h"
#include "model/label.h"
#include "util/string_map.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BONES "bones/"
#define FRAMES "frames/"
#define NAME_SIZE ASSEMBLY_LABEL_SIZE
#define ROUNDING                                                                                   \
	0.5000001e-6 /* texts round times to a microsecond; how far a stated time may be off */

struct kept {
	struct kept *next;
	struct anim *model;
};

struct assembly {
	const char *file_name;
	const struct anim *model; /* the model so far: the base, or one of `kept` */
	struct kept *kept;        /* intermediate models, which later ones point into */
	struct assembly
		*next; /* assemblies of texts from other formats, one per format, as a list */
	struct format format; /* format that the texts of this assembly are in */
	struct anim *blank;
	const struct hierarchy *hierarchy; /* see assembly_hierarchy */
};

struct assembly *assembly_new(const struct anim *base, const char *file_name)
{
	struct assembly *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	f->model = base;
	f->file_name = file_name;
	return f;
}

void assembly_free(struct assembly *f)
{
	while (f) {
		struct assembly *next = f->next;

		while (f->kept) {
			struct kept *after = f->kept->next;

			anim_free(f->kept->model);
			free(f->kept);
			f->kept = after;
		}
		anim_free(f->blank);
		free(f);
		f = next;
	}
}

void assembly_hierarchy(struct assembly *f, const struct hierarchy *hierarchy)
{
	f->hierarchy = hierarchy;
}

const struct anim *assembly_model(const struct assembly *f)
{
	return f->model;
}

/* Keeps a model, which it takes over. False if it is NULL, or out of memory. */
static bool assembly_keep_model(struct assembly *f, struct anim *model)
{
	struct kept *kept = model ? malloc(sizeof(*kept)) : NULL;

	if (!kept) {
		anim_free(model);
		return false;
	}
	*kept = (struct kept){f->kept, model};
	f->kept = kept;
	return true;
}

void assembly_label(const struct format *format, const char *file_name, const char *folder,
		    char label[ASSEMBLY_LABEL_SIZE])
{
	size_t stem = name_stem(file_name);
	struct buf form = BUF_INIT;

	snprintf(label, ASSEMBLY_LABEL_SIZE, "%s", folder);
	if (!format->nameless)
		return;
	if (file_name[stem])
		snprintf(label, ASSEMBLY_LABEL_SIZE, "%.*s", (int)stem, file_name);
	name_escape(label, NAME_LIMIT, &form);
	if (!form.failed)
		snprintf(label, ASSEMBLY_LABEL_SIZE, "%.*s", (int)form.size,
			 (const char *)form.data);
	buf_release(&form);
}

/* ---- the kinds of texts ---- */

/*
 * The kinds of texts, in the order in which they are read; a later text overrides an earlier
 * one.
 */
enum kind { KIND_EXTRA, KIND_GENERATED, KIND_CURVES, KIND_BONE_JSON, KIND_BONE_CSV, KIND_CLIP };

/* Finds the view in `place` that has this file name or suffix. */
static const struct view *find_view(enum view_place place, const char *name)
{
	size_t length = strlen(name);

	for (const struct view *const *v = views; *v; v++) {
		size_t suffix = strlen((*v)->file);
		bool whole_name = place != VIEW_OF_BONE;

		if ((*v)->place == place && (whole_name ? length == suffix : length > suffix) &&
		    strcmp(name + length - suffix, (*v)->file) == 0)
			return *v;
	}
	return NULL;
}

static enum kind assembly_kind_of(const char *path, const struct view **view)
{
	bool bone = strncmp(path, BONES, strlen(BONES)) == 0;

	*view = NULL;
	if (strncmp(path, FRAMES, strlen(FRAMES)) == 0)
		return strncmp(path + strlen(FRAMES), "frame_", 6) == 0 ? KIND_GENERATED
									: KIND_EXTRA;
	*view = bone ? find_view(VIEW_OF_BONE, path + strlen(BONES))
		     : find_view(VIEW_OF_CLIP, path);
	if (!*view || (bone && strlen(path) - strlen(BONES) >= NAME_SIZE))
		return KIND_EXTRA;
	if (strcmp((*view)->file, "clip.json") == 0)
		return KIND_CLIP;
	if (strcmp((*view)->file, "curves.csv") == 0)
		return KIND_CURVES;
	if (!bone || !(*view)->parse)
		return KIND_GENERATED;
	return strcmp((*view)->name, "csv") == 0 ? KIND_BONE_CSV : KIND_BONE_JSON;
}

bool assembly_reads(const char *path)
{
	const struct view *view;

	return assembly_kind_of(path, &view) > KIND_GENERATED;
}

bool assembly_reads_of_file(const char *path)
{
	const struct view *view = find_view(VIEW_OF_FILE, path);

	return view && (view->parse || view->parse_skeleton);
}

static void bone_label(const char *path, const struct view *view, char label[NAME_SIZE])
{
	size_t length = strlen(path) - strlen(BONES) - strlen(view->file);

	memcpy(label, path + strlen(BONES), length);
	label[length] = '\0';
}

enum assembly_fate assembly_fate_of(const char *path, bool of_file)
{
	const struct view *view;

	if (of_file)
		return find_view(VIEW_OF_FILE, path) ? ASSEMBLY_GENERATED : ASSEMBLY_UPPER;
	return assembly_kind_of(path, &view) == KIND_EXTRA ? ASSEMBLY_UPPER : ASSEMBLY_GENERATED;
}

/* Determines the kind of a text by its view; an empty text counts as generated. */
static enum kind begin_text(struct assembly_text *text, const struct view **view)
{
	enum kind kind = assembly_kind_of(text->path, view);

	if (kind > KIND_GENERATED && text->text.size == 0)
		kind = KIND_GENERATED;
	text->fate = assembly_fate_of(text->path, false);
	err_clear(&text->err);
	return kind;
}

/* The file name in a JSON text, which may have been copied from another file. */
static const char *stated_file(const struct token *facts, const char *otherwise)
{
	const char *file = facts_text(facts, "file");

	return file ? file : otherwise;
}

/* ---- a new clip ---- */

struct bone {
	char *label;
	const char *name; /* from clip.json; NULL: derived from the label */
	enum kind kind;   /* kind of the text that the bone was read from; KIND_EXTRA: none yet */
	struct track track;
};

struct making {
	struct assembly *f;
	const char *label;
	struct assembly_text *texts;
	size_t count;
	struct doc facts; /* parsed clip.json, if there is one */
	struct assembly_text *clip_text;
	const struct clip *like; /* the model's clip that the texts were copied from; or NULL */
	struct clip clip;        /* the new clip's values, without tracks */
	struct bone *bones;
	size_t bone_count, bone_room;
	struct string_map
		by_label; /* index of a bone by its label, valid until bones are dropped */
	struct err *err;
};

/* Returns a model with only this clip, to parse texts against. */
static struct anim only_clip(const struct making *m, const struct clip *clip)
{
	struct anim one = *m->f->model;

	one.arena = (struct arena)ARENA_INIT;
	one.clips = clip;
	one.clip_count = 1;
	return one;
}

static struct bone *need_bone(struct making *m, const char *label)
{
	const int64_t at = string_map_find(&m->by_label, label);
	struct bone *bone;

	if (at >= 0)
		return &m->bones[at];
	bone = array_room(m->bones, m->bone_count, &m->bone_room, sizeof(*bone));
	if (!bone)
		return NULL;
	m->bones = bone;
	bone += m->bone_count;
	*bone = (struct bone){.label = strdup(label)};
	if (!bone->label)
		return NULL;
	if (string_map_add(&m->by_label, bone->label, (uint32_t)m->bone_count) < 0) {
		free(bone->label);
		return NULL;
	}
	m->bone_count++;
	return bone;
}

/* Takes properties from the bone of the same name in another clip. */
static void take_after(const struct making *m, const char *label, struct track *track)
{
	for (uint32_t i = 0; i < m->f->model->clip_count; i++) {
		const struct track *like = track_labelled(&m->f->model->clips[i], 0, label);

		if (!like)
			continue;
		track->roles = like->roles;
		track->rotation = like->rotation;
		return;
	}
}

/*
 * Returns false for all bones but the first in a format that identifies bones by position, where
 * the first may have other properties than the rest.
 */
static bool stands_first(const struct anim *a, const char *label)
{
	uint32_t number;

	return !a->format->bones_counted ||
	       !bone_number(a->format, a->bone_names, label, &number) || number == 0;
}

/* Makes a bone without keys, or with as few as the format allows. */
static bool new_track(struct making *m, const char *label, uint32_t frames, struct track *out,
		      struct err *err)
{
	struct clip clip = m->clip;
	struct anim one = only_clip(m, &clip);
	struct anim *edited = anim_edit(&one);
	struct track first;

	if (!edited || !assembly_keep_model(m->f, edited))
		return err_memory(err);
	clip.frames = frames;
	first = clip_new_track(m->f->model, &clip);
	if (!stands_first(m->f->model, label)) {
		clip.tracks = &first;
		clip.track_count = 1;
	}
	*out = clip_new_track(m->f->model, &clip);
	take_after(m, label, out);
	out->name = label_bone(edited, label, 0, 0, err);
	out->label = arena_text(&edited->arena, label, strlen(label));
	if (!out->name || !out->label)
		return err_memory(err);
	return m->f->model->format->keyframes || clip_begin_track(edited, &clip, out, err);
}

/*
 * What the bone's JSON gave, if that was read before: where the table has other numbers they count,
 * and where it says the same in degrees, quaternions keep their bits.
 */
static const struct track *given_track(const struct making *m, const char *label)
{
	const int64_t at = string_map_find(&m->by_label, label);

	return at >= 0 && m->bones[at].kind == KIND_BONE_JSON ? &m->bones[at].track : NULL;
}

/* Parses a bone's text in a clip of `frames` frames. */
static bool assembly_read_bone(struct making *m, const struct view *view, const char *label,
			       uint32_t frames, struct assembly_text *text, struct track *out)
{
	const struct track *like = m->like ? track_labelled(m->like, 0, label) : NULL;
	struct clip clip = m->like ? *m->like : m->clip;
	struct track track;
	struct anim one = only_clip(m, &clip);
	/*
	 * With the empty file name, a JSON text never names this file: it counts as a copy from
	 * another file, and the path in it is not checked.
	 */
	struct shown at = {.anim = &one, .file_name = m->like ? m->f->file_name : ""};
	struct anim *edited;

	if (!like)
		like = given_track(m, label);
	if (like)
		track = *like;
	else if (!new_track(m, label, frames, &track, &text->err))
		return false;
	clip.frames = frames;
	clip.tracks = &track;
	clip.track_count = 1;
	clip.tracks_own = false;
	edited = view->parse(&at, text->text, &text->err);
	if (!edited)
		return false;
	if (!assembly_keep_model(m->f, edited))
		return err_memory(&text->err);
	if (edited->clips[0].track_count != 1)
		return false;
	*out = edited->clips[0].tracks[0];
	return true;
}

/*
 * Parses a bone's text; if that fails, again with only as many frames as the text has, since a
 * curve may end before its clip.
 */
static bool read_bone_text(struct making *m, const struct view *view, const char *label,
			   struct assembly_text *text, struct track *out)
{
	const struct format *format = m->f->model->format;
	struct span span = {0};
	struct err first;

	if (assembly_read_bone(m, view, label, m->clip.frames, text, out))
		return true;
	if (format->full || format->sparse || text->err.code == ERR_MEMORY)
		return false;
	(assembly_kind_of(text->path, &view) == KIND_BONE_CSV ? span_of_csv
							      : span_of_json)(text->text, &span);
	if (m->like || span.frames == 0 || span.frames >= m->clip.frames)
		return false;
	first = text->err;
	err_clear(&text->err);
	if (assembly_read_bone(m, view, label, span.frames, text, out))
		return true;
	text->err = first;
	return false;
}

static bool make_bone(struct making *m, const struct view *view, enum kind kind,
		      struct assembly_text *text)
{
	char label[NAME_SIZE];
	struct track track;
	struct bone *bone;

	bone_label(text->path, view, label);
	text->fate = ASSEMBLY_REFUSED;
	if (!read_bone_text(m, view, label, text, &track))
		return text->err.code != ERR_MEMORY || err_memory(m->err);
	text->fate = ASSEMBLY_USED;
	bone = need_bone(m, label);
	if (!bone)
		return err_memory(m->err);
	bone->track = track;
	bone->kind = kind;
	return true;
}

/*
 * Parses curves.csv against the clip that it was copied from or, if that fails, against an empty
 * one.
 */
static const struct clip *read_curves(struct making *m, const struct view *view,
				      struct assembly_text *text)
{
	struct clip clip = m->like ? *m->like : m->clip;
	struct anim one = only_clip(m, &clip);
	struct shown at = {.anim = &one, .file_name = m->f->file_name};
	struct anim *edited = view->parse(&at, text->text, m->like ? NULL : &text->err);

	if (!edited && m->like) {
		clip = m->clip;
		edited = view->parse(&at, text->text, &text->err);
	}
	if (edited && !assembly_keep_model(m->f, edited)) {
		err_memory(&text->err);
		return NULL;
	}
	return edited ? &edited->clips[0] : NULL;
}

static bool make_bones(struct making *m, const struct view *view, struct assembly_text *text)
{
	const struct clip *clip = read_curves(m, view, text);

	text->fate = clip ? ASSEMBLY_USED : ASSEMBLY_REFUSED;
	for (uint32_t i = 0; clip && i < clip->track_count; i++) {
		struct bone *bone = need_bone(m, clip->tracks[i].label);

		if (!bone)
			return err_memory(m->err);
		bone->track = clip->tracks[i];
		bone->kind = KIND_CURVES;
	}
	return text->err.code != ERR_MEMORY || err_memory(m->err);
}

/* ---- the facts of clip.json ---- */

/* Is `name` the stored name of the bone with this label? "a~2" may be a second "a". */
static bool is_name_of(const struct format *format, const char *name, const char *label)
{
	struct buf form = BUF_INIT;
	bool is;

	name_escape(name_of_bone(format, name), NAME_LIMIT, &form);
	is = !form.failed && strncmp(label, (const char *)form.data, form.size) == 0 &&
	     (label[form.size] == '~' || (format->paths && label[form.size] == '\0'));
	buf_release(&form);
	return is;
}

/* Notes the bones of clip.json, in its order. */
static bool note_order(struct making *m)
{
	const struct token *list = token_member(m->facts.root, "bones");

	for (const struct token *t = token_first(list); t; t = token_next(list, t)) {
		const char *label = facts_text(t, "bone"), *name = facts_text(t, "name");
		struct bone *bone = label ? need_bone(m, label) : NULL;

		if (label && !bone)
			return err_memory(m->err);
		if (bone && name && is_name_of(m->f->model->format, name, label))
			bone->name = name;
	}
	return true;
}

/* Does clip.json have the format's own member, such as "canm": {...}? */
static bool is_own_format(const struct making *m)
{
	return token_member(m->facts.root, m->f->model->format->name) != NULL;
}

static void find_like(struct making *m)
{
	const char *file = facts_text(m->facts.root, "file"),
		   *label = facts_text(m->facts.root, "clip");

	if (file && label && strcmp(file, m->f->file_name) == 0)
		m->like = clip_labelled(m->f->model, 0, label);
}

/* Finds the range of the texts' keys and, if they contain it, the frame time. */
static struct span assembly_find_span(const struct making *m)
{
	struct span span = {0};

	for (size_t i = 0; i < m->count; i++) {
		const struct view *view;
		enum kind kind = assembly_kind_of(m->texts[i].path, &view);

		if (kind == KIND_BONE_CSV || kind == KIND_CURVES)
			span_of_csv(m->texts[i].text, &span);
		else if (kind == KIND_BONE_JSON)
			span_of_json(m->texts[i].text, &span);
	}
	return span;
}

/*
 * Sets the frame time from the texts, rounded to a whole number if that is within their precision.
 */
static void assembly_set_frame_time(const struct anim *model, struct clip *clip,
				    const struct span *span)
{
	double time = span->seconds_per_frame * model->rate;
	double tolerance = span->timed ? ROUNDING * model->rate / span->timed : 0;

	if (!span->timed || !model->format->has_frame_time)
		return;
	clip->frame_time = (float)(fabs(time - round(time)) <= tolerance ? round(time) : time);
	clip_follow_duration(model, clip);
}

/*
 * Returns the number of frames of the clip that the texts were made from. "frames" in clip.json may
 * have been edited; "seconds" cannot be edited, and so still fits the old number.
 */
static uint32_t assembly_count_frames(const struct making *m, const struct span *span)
{
	const struct anim *model = m->f->model;
	uint32_t frames = span->frames > 1 ? span->frames : 1;
	double stated = facts_number(m->facts.root, "frames", 0);
	double seconds_per_frame = facts_number(m->facts.root, "frame_time", 0) / model->rate;
	double seconds = facts_number(m->facts.root, "seconds", -1);

	if (m->like && m->like->frames >= frames)
		return m->like->frames;
	if (stated <= frames || stated > model->format->max_frames ||
	    fabs((frames - 1) * seconds_per_frame - seconds) <= ROUNDING)
		return frames;
	return (uint32_t)stated;
}

/* For a file without clips, takes the format's fields from the text. */
static bool assembly_take_fields(struct making *m, struct anim *edited)
{
	const struct format *format = edited->format;
	const struct token *stated = token_member(m->facts.root, format->name);
	struct field *fields;

	if (m->f->model->clip_count > 0 || !token_is(stated, TOKEN_OBJECT))
		return true;
	fields = arena_alloc(&edited->arena, token_count(stated), sizeof(*fields));
	m->clip.fields = fields;
	m->clip.field_count = 0;
	for (const struct token *t = token_first(stated); fields && t; t = token_next(stated, t)) {
		const char *name = token_name(t);
		bool yes = t->type == TOKEN_TRUE, is_bool = yes || t->type == TOKEN_FALSE;
		double number = token_number(t, 0);
		bool real = t->type == TOKEN_NUMBER &&
			    (!token_is_integer(t) || fabs(number) > INT32_MAX);

		real |= format->rate_field && strcmp(name, format->rate_field) == 0;
		fields[m->clip.field_count++] =
			(struct field){.name = arena_text(&edited->arena, name, strlen(name)),
				       .type = is_bool ? FIELD_BOOL
					       : real  ? FIELD_REAL
						       : FIELD_INT,
				       .integer = real ? 0 : yes + (int64_t)number,
				       .real = number,
				       .editable = true};
	}
	return !edited->arena.failed || err_memory(m->err);
}

/* Makes a model with a new empty clip of the right length at the end. */
static struct anim *begin_clip(struct making *m)
{
	struct anim *edited = anim_edit(m->f->model);
	struct span span = assembly_find_span(m);

	if (!edited || !assembly_keep_model(m->f, edited)) {
		err_memory(m->err);
		return NULL;
	}
	if (!anim_clip_new(edited, m->label, assembly_count_frames(m, &span), m->err))
		return NULL;
	m->clip = edited->clips[edited->clip_count - 1];
	assembly_set_frame_time(edited, &m->clip, &span);
	return assembly_take_fields(m, edited) ? edited : NULL;
}

/*
 * Returns the clip to compare clip.json with. It already has the values that cannot be edited, and
 * the times, since changing one of the times would change the others.
 */
static struct clip clip_as_stated(const struct making *m)
{
	const char *label = facts_text(m->facts.root, "clip"),
		   *name = facts_text(m->facts.root, "name");
	struct clip clip = m->like ? *m->like : m->clip;

	if (m->like)
		return clip;
	clip.label = label ? label : clip.label;
	clip.name = name ? name : clip.name;
	if (!is_own_format(m))
		return clip;
	clip.frame_time = (float)facts_number(m->facts.root, "frame_time", (double)clip.frame_time);
	clip.duration = (float)facts_number(m->facts.root, "duration", (double)clip.duration);
	return clip;
}

static bool read_clip_json(struct making *m, const struct track *tracks, uint32_t count,
			   struct clip *out)
{
	struct clip clip = clip_as_stated(m);
	struct anim one = only_clip(m, &clip);
	struct shown at = {.anim = &one, .file_name = m->f->file_name};
	struct anim *edited;

	if (is_own_format(m))
		at.file_name = stated_file(m->facts.root, at.file_name);
	clip.tracks = tracks;
	clip.track_count = count;
	edited = find_view(VIEW_OF_CLIP, m->clip_text->path)
			 ->parse(&at, m->clip_text->text, &m->clip_text->err);
	m->clip_text->fate = edited ? ASSEMBLY_USED : ASSEMBLY_REFUSED;
	if (edited && !assembly_keep_model(m->f, edited))
		return err_memory(m->err);
	if (!edited)
		return m->clip_text->err.code != ERR_MEMORY || err_memory(m->err);
	*out = edited->clips[0];
	out->label = m->clip.label;
	out->name = m->clip.name;
	return true;
}

/* ---- all of it ---- */

static bool assembly_read_texts(struct making *m)
{
	for (enum kind kind = KIND_CURVES; kind <= KIND_BONE_CSV; kind++) {
		for (size_t i = 0; i < m->count; i++) {
			struct assembly_text *text = &m->texts[i];
			const struct view *view;

			if (assembly_kind_of(text->path, &view) != kind || text->text.size == 0)
				continue;
			if (!(kind == KIND_CURVES ? make_bones(m, view, text)
						  : make_bone(m, view, kind, text)))
				return false;
		}
	}
	return true;
}

/*
 * Makes the bones that only clip.json names; they have no keys. Drops those of them that the format
 * cannot store without keys.
 */
static bool make_named_bones(struct making *m)
{
	size_t kept = 0;

	for (size_t i = 0; i < m->bone_count; i++) {
		struct bone *bone = &m->bones[i];
		struct err why = {.code = ERR_NONE};

		if (bone->kind != KIND_EXTRA ||
		    (!m->f->model->format->keyframes &&
		     new_track(m, bone->label, m->clip.frames, &bone->track, &why))) {
			m->bones[kept++] = *bone;
			continue;
		}
		free(bone->label);
		if (why.code == ERR_MEMORY) {
			m->bone_count = kept;
			return err_memory(m->err);
		}
	}
	m->bone_count = kept;
	return true;
}

static const struct track *assembly_take_tracks(struct making *m, struct anim *edited)
{
	struct track *tracks = arena_alloc(&edited->arena, m->bone_count + 1, sizeof(*tracks));

	for (size_t i = 0; tracks && i < m->bone_count; i++) {
		const struct bone *bone = &m->bones[i];

		tracks[i] = bone->track;
		tracks[i].origin = ANIM_NEW;
		tracks[i].label = arena_text(&edited->arena, bone->label, strlen(bone->label));
		if (bone->name)
			tracks[i].name = arena_text(&edited->arena, bone->name, strlen(bone->name));
	}
	if (!edited->arena.failed)
		return tracks;
	err_memory(m->err);
	return NULL;
}

/* Returns the number of bones that clip.json lists; they come first in the list of bones. */
static uint32_t listed_bones(const struct making *m)
{
	size_t count = token_count(token_member(m->facts.root, "bones"));

	return (uint32_t)(count < m->bone_count ? count : m->bone_count);
}

/* Orders the tracks: those that clip.json lists, then the others. */
static bool join_tracks(struct making *m, struct anim *edited, const struct track *tracks,
			struct clip *made)
{
	uint32_t listed = listed_bones(m);

	if (m->clip_text && !read_clip_json(m, tracks, listed, made))
		return false;
	if (!m->clip_text || m->clip_text->fate != ASSEMBLY_USED) {
		made->tracks = tracks;
		made->track_count = (uint32_t)m->bone_count;
		return true;
	}
	return clip_add_tracks(edited, made, tracks + listed, (uint32_t)m->bone_count - listed) ||
	       err_memory(m->err);
}

static bool assembly_make_clip(struct making *m)
{
	struct anim *edited = begin_clip(m);
	const struct track *tracks;
	struct clip made, *clip;

	if (!edited || !note_order(m) || !assembly_read_texts(m) || !make_named_bones(m))
		return false;
	tracks = assembly_take_tracks(m, edited);
	made = m->clip;
	if (!tracks || !join_tracks(m, edited, tracks, &made))
		return false;
	/* anim_clip_new allocated the array for this model, so it may be written. */
	clip = (struct clip *)&edited->clips[edited->clip_count - 1];
	*clip = made;
	clip->origin = ANIM_NEW;
	m->f->model = edited;
	return true;
}

/* ---- texts of another format ---- */

/*
 * Does the first line of a table contain `in_table`, or any part of a JSON text the other
 * string?
 */
static bool texts_mention(const struct making *m, const char *in_table, const char *in_json)
{
	for (size_t i = 0; i < m->count; i++) {
		const struct view *view;
		enum kind kind = assembly_kind_of(m->texts[i].path, &view);
		struct bytes text = m->texts[i].text;
		const char *word = kind == KIND_BONE_JSON ? in_json : in_table;
		const uint8_t *end = text.size ? memchr(text.data, '\n', text.size) : NULL;
		size_t size =
			kind == KIND_BONE_JSON || !end ? text.size : (size_t)(end - text.data);

		if (kind > KIND_GENERATED && kind < KIND_CLIP && size &&
		    memmem(text.data, size, word, strlen(word)))
			return true;
	}
	return false;
}

static bool assembly_is_foreign(const struct making *m)
{
	return facts_text(m->facts.root, "file") && !m->like && !is_own_format(m);
}

/*
 * Texts of another format are parsed as a made-up format that can store anything texts can contain.
 * The resulting clip is then converted, like any clip of another format.
 */
static struct assembly *begin_foreign(const struct making *m)
{
	const struct format *wanted = m->f->model->format;
	struct assembly *g = assembly_new(NULL, "");

	if (!g)
		return NULL;
	g->format = (struct format){.name = "text",
				    .suffix = "",
				    .sparse = true,
				    .keyframes = texts_mention(m, "flags", "\"keyframes\""),
				    .flags = UINT8_MAX,
				    .many_clips = true,
				    .length = wanted->length,
				    .has_loop = wanted->has_loop,
				    .has_frame_time = true,
				    .has_duration = true,
				    .quaternions = texts_mention(m, "qw", "\"quaternion\""),
				    .max_frames = wanted->max_frames};
	g->blank = anim_blank(&g->format, NULL);
	g->model = g->blank;
	if (g->model)
		return g;
	assembly_free(g);
	return NULL;
}

static bool make_foreign(struct making *m)
{
	struct assembly *f = m->f, *g = begin_foreign(m);
	struct anim *edited = g ? anim_edit(f->model) : NULL;

	if (!g || !assembly_keep_model(f, edited)) {
		assembly_free(g);
		return err_memory(m->err);
	}
	g->next = f->next;
	f->next = g;
	m->f = g;
	if (!assembly_make_clip(m))
		return false;
	if (!anim_clip_copy(edited, g->model, 0, m->label, f->hierarchy, m->err))
		return false;
	f->model = edited;
	return true;
}

bool assembly_clip(struct assembly *f, const char *label, struct assembly_text *texts, size_t count,
		   struct err *err)
{
	struct making m = {.f = f, .label = label, .texts = texts, .count = count, .err = err};
	const struct view *view;
	bool fine;

	for (size_t i = 0; i < count; i++) {
		if (begin_text(&texts[i], &view) == KIND_CLIP)
			m.clip_text = &texts[i];
	}
	if (m.clip_text)
		doc_read(&m.facts, m.clip_text->text, NULL);
	find_like(&m);
	fine = assembly_is_foreign(&m) ? make_foreign(&m) : assembly_make_clip(&m);
	for (size_t i = 0; i < m.bone_count; i++)
		free(m.bones[i].label);
	free(m.bones);
	string_map_release(&m.by_label);
	doc_release(&m.facts);
	return fine;
}
