/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "fill.h"

#include "bones.h"
#include "fill_facts.h"
#include "names.h"
#include "structure.h"

#include "animfs/view.h"
#include "view/clip.h"
#include "view/label.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BONES "bones/"
#define FRAMES "frames/"
#define NAME_SIZE FILL_LABEL_SIZE
#define TOLD 0.5000001e-6 /* seconds in a text are rounded to the microsecond */

struct kept {
	struct kept *next;
	struct anim *model;
};

struct fill {
	const char *file_name;
	const struct anim *model; /* the base, or one of those kept */
	struct kept *kept;        /* models point into those that they were edited from */
	struct fill *next;        /* texts of other formats, each a fill of its own */
	struct format format;     /* of such texts */
	struct anim *blank;
};

struct fill *fill_new(const struct anim *base, const char *file_name)
{
	struct fill *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	f->model = base;
	f->file_name = file_name;
	return f;
}

void fill_free(struct fill *f)
{
	while (f) {
		struct fill *next_fill = f->next;

		while (f->kept) {
			struct kept *next = f->kept->next;

			anim_free(f->kept->model);
			free(f->kept);
			f->kept = next;
		}
		anim_free(f->blank);
		free(f);
		f = next_fill;
	}
}

const struct anim *fill_model(const struct fill *f)
{
	return f->model;
}

/* Takes the model over, which may be NULL. False when there is none, or no memory. */
static bool keep(struct fill *f, struct anim *model)
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

void fill_label(const struct anim *model, const char *file_name, const char *folder,
		char label[FILL_LABEL_SIZE])
{
	size_t stem = name_stem(file_name);
	struct buf form = BUF_INIT;

	snprintf(label, FILL_LABEL_SIZE, "%s", folder);
	if (!model->format->nameless)
		return;
	if (file_name[stem])
		snprintf(label, FILL_LABEL_SIZE, "%.*s", (int)stem, file_name);
	name_escape(label, NAME_LIMIT, &form);
	if (!form.failed)
		snprintf(label, FILL_LABEL_SIZE, "%.*s", (int)form.size, (const char *)form.data);
	buf_release(&form);
}

/* ---- which texts they are ---- */

/* In the order in which they are read: what comes later goes before what came earlier. */
enum kind { KIND_EXTRA, KIND_GENERATED, KIND_CURVES, KIND_BONE_JSON, KIND_BONE_CSV, KIND_CLIP };

/* The view of this place whose file, or suffix, ends the name. */
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

static enum kind kind_of(const char *path, const struct view **view)
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

bool fill_reads(const char *path)
{
	const struct view *view;

	return kind_of(path, &view) > KIND_GENERATED;
}

bool fill_reads_of_file(const char *path)
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

/* A text of which nothing was written yet says nothing. */
static enum kind begin_text(struct fill_text *text, const struct view **view)
{
	enum kind kind = kind_of(text->path, view);

	if (kind > KIND_GENERATED && text->text.size == 0)
		kind = KIND_GENERATED;
	text->fate = kind == KIND_EXTRA ? FILL_EXTRA : FILL_GENERATED;
	err_clear(&text->err);
	return kind;
}

/* ---- a clip that is there: what differs from what it says ---- */

/* The name that a JSON text gives its file: it may have been copied from another. */
static const char *told_file(const json_t *facts, const char *otherwise)
{
	const char *file = facts_text(facts, "file");

	return file ? file : otherwise;
}

static bool says_the_same(const struct view *view, const struct shown *at, struct bytes text)
{
	struct buf now = BUF_INIT;
	bool same;

	view->render(at, &now);
	same = !now.failed && bytes_equal(buf_bytes(&now), text);
	buf_release(&now);
	return same;
}

/* One text as an edit of `base`, applied to the model. */
static bool edit(struct fill *f, const struct view *view, const struct shown *base,
		 const struct shown *now, struct fill_text *text)
{
	struct anim *edited;

	text->fate = FILL_USED;
	if (says_the_same(view, base, text->text))
		return true;
	edited = view->parse(now, text->text, &text->err);
	if (edited && !keep(f, edited))
		return err_memory(&text->err);
	if (edited)
		f->model = edited;
	else
		text->fate = FILL_REFUSED;
	return text->err.code != ERR_MEMORY;
}

/*
 * A clip that is called as its file is, while a text is read that may have been copied from a file
 * of another name.
 */
struct renamed {
	struct anim anim; /* the model with that clip; another's arena */
	struct clip clip;
	char label[NAME_SIZE];
};

static void rename_clip(struct renamed *r, const struct anim *model, const char *file_name)
{
	struct buf label = BUF_INIT;
	char *stem = strndup(file_name, name_stem(file_name));

	r->anim = *model;
	if (stem)
		name_escape(stem, NAME_LIMIT, &label);
	buf_char(&label, '\0');
	if (model->format->nameless && model->clip_count == 1 && stem && !label.failed &&
	    label.size <= NAME_SIZE) {
		memcpy(r->label, label.data, label.size);
		r->clip = model->clips[0];
		r->clip.label = r->label;
		r->clip.name = r->label;
		r->anim.clips = &r->clip;
	}
	free(stem);
	buf_release(&label);
}

/* The same for such a text: afterwards the clip is called as it was. */
static bool edit_as_told(struct fill *f, const struct view *view, const struct shown *base,
			 const struct shown *now, struct fill_text *text)
{
	const struct anim *before = f->model;
	struct shown was = *base, is = *now;
	struct renamed old, current;
	struct clip *clip;

	rename_clip(&old, base->anim, base->file_name);
	rename_clip(&current, now->anim, now->file_name);
	was.anim = &old.anim;
	is.anim = &current.anim;
	if (!edit(f, view, &was, &is, text))
		return false;
	if (f->model == before || !before->format->nameless || before->clip_count != 1)
		return true;
	clip = (struct clip *)&f->model->clips[0]; /* which anim_edit made for the new model */
	clip->label = before->clips[0].label;
	clip->name = before->clips[0].name;
	return true;
}

static bool find_place(const struct anim *model, const char *label, const char *path,
		       const struct view *view, struct shown *at)
{
	const struct clip *clip = clip_labelled(model, at->clip, label);
	char bone[NAME_SIZE];
	const struct track *track;

	if (!clip)
		return false;
	at->anim = model;
	at->clip = (uint32_t)(clip - model->clips);
	if (view->place != VIEW_OF_BONE)
		return true;
	bone_label(path, view, bone);
	track = track_labelled(clip, 0, bone);
	if (track)
		at->track = (uint32_t)(track - clip->tracks);
	return track != NULL;
}

/* A bone that the clip has not is made by curves.csv or clip.json alone: an ordinary file. */
static bool edit_clip_by(struct fill *f, const struct anim *base, const char *label,
			 const struct view *view, struct fill_text *text)
{
	json_t *facts = facts_of(text->text);
	struct shown was = {.file_name = told_file(facts, f->file_name)}, now = was;
	bool fine = true;

	if (find_place(base, label, text->path, view, &was) &&
	    find_place(f->model, label, text->path, view, &now))
		fine = edit_as_told(f, view, &was, &now, text);
	else
		text->fate = FILL_EXTRA;
	json_decref(facts);
	return fine;
}

static bool edit_clip(struct fill *f, const char *label, struct fill_text *texts, size_t count,
		      struct err *err)
{
	const struct anim *base = f->model;

	for (enum kind kind = KIND_CURVES; kind <= KIND_CLIP; kind++) {
		for (size_t i = 0; i < count; i++) {
			const struct view *view;

			if (kind_of(texts[i].path, &view) != kind || texts[i].text.size == 0)
				continue;
			if (!edit_clip_by(f, base, label, view, &texts[i]))
				return err_memory(err);
		}
	}
	return true;
}

/* ---- a new clip ---- */

struct bone {
	char *label;
	const char *name; /* as clip.json says; NULL: what the label stands for */
	enum kind kind;   /* of the text that made it; KIND_EXTRA: none did yet */
	struct track track;
};

struct making {
	struct fill *f;
	const char *label;
	struct fill_text *texts;
	size_t count;
	json_t *facts; /* of clip.json; may be NULL */
	struct fill_text *clip_text;
	const struct clip *like; /* of the model: what the texts were copied from; or NULL */
	struct clip clip;        /* the values of what is made; no tracks */
	struct bone *bones;
	size_t bone_count, bone_room;
	struct err *err;
};

/* A model of one clip: texts are read as those of a file that has no other. */
static struct anim only(const struct making *m, const struct clip *clip)
{
	struct anim one = *m->f->model;

	one.arena = (struct arena)ARENA_INIT;
	one.clips = clip;
	one.clip_count = 1;
	return one;
}

static struct bone *find_bone(struct making *m, const char *label)
{
	for (size_t i = 0; i < m->bone_count; i++) {
		if (strcmp(m->bones[i].label, label) == 0)
			return &m->bones[i];
	}
	return NULL;
}

static struct bone *need_bone(struct making *m, const char *label)
{
	struct bone *bone = find_bone(m, label);

	if (bone)
		return bone;
	bone = array_room(m->bones, m->bone_count, &m->bone_room, sizeof(*bone));
	if (!bone)
		return NULL;
	m->bones = bone;
	bone += m->bone_count;
	*bone = (struct bone){.label = strdup(label)};
	if (!bone->label)
		return NULL;
	m->bone_count++;
	return bone;
}

/* The bone of the same name in another clip tells what it is like. */
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

/* Where bones are told by their place, those behind the first are not like it. */
static bool stands_first(const struct anim *a, const char *label)
{
	uint32_t number;

	return !a->format->bones_counted ||
	       !bone_number(a->format, a->bone_names, label, &number) || number == 0;
}

/* A bone without keys, as far as the format has such. */
static bool new_track(struct making *m, const char *label, uint32_t frames, struct track *out,
		      struct err *err)
{
	struct clip clip = m->clip;
	struct anim one = only(m, &clip);
	struct anim *edited = anim_edit(&one);
	struct track first;

	if (!edited || !keep(m->f, edited))
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

/* The bone that a text says, in a clip of so many frames. */
static bool read_bone(struct making *m, const struct view *view, const char *label, uint32_t frames,
		      struct fill_text *text, struct track *out)
{
	const struct track *like = m->like ? track_labelled(m->like, 0, label) : NULL;
	struct clip clip = m->like ? *m->like : m->clip;
	struct track track;
	struct anim one = only(m, &clip);
	/* No text is of a file of this name: what a JSON says of its place is not asked for. */
	struct shown at = {.anim = &one, .file_name = m->like ? m->f->file_name : ""};
	struct anim *edited;

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
	if (!keep(m->f, edited))
		return err_memory(&text->err);
	if (edited->clips[0].track_count != 1)
		return false;
	*out = edited->clips[0].tracks[0];
	return true;
}

/* A curve may end before its clip does, where a key in every frame is not asked for. */
static bool read_bone_text(struct making *m, const struct view *view, const char *label,
			   struct fill_text *text, struct track *out)
{
	const struct format *format = m->f->model->format;
	struct span span = {0};
	struct err first;

	if (read_bone(m, view, label, m->clip.frames, text, out))
		return true;
	if (format->full || format->sparse || text->err.code == ERR_MEMORY)
		return false;
	(kind_of(text->path, &view) == KIND_BONE_CSV ? span_of_csv : span_of_json)(text->text,
										   &span);
	if (m->like || span.frames == 0 || span.frames >= m->clip.frames)
		return false;
	first = text->err;
	err_clear(&text->err);
	if (read_bone(m, view, label, span.frames, text, out))
		return true;
	text->err = first;
	return false;
}

static bool make_bone(struct making *m, const struct view *view, enum kind kind,
		      struct fill_text *text)
{
	char label[NAME_SIZE];
	struct track track;
	struct bone *bone;

	bone_label(text->path, view, label);
	text->fate = FILL_REFUSED;
	if (!read_bone_text(m, view, label, text, &track))
		return text->err.code != ERR_MEMORY || err_memory(m->err);
	text->fate = FILL_USED;
	bone = need_bone(m, label);
	if (!bone)
		return err_memory(m->err);
	bone->track = track;
	bone->kind = kind;
	return true;
}

/* Against the clip that it was copied from, or, where it is no edit of that one, for itself. */
static const struct clip *read_curves(struct making *m, const struct view *view,
				      struct fill_text *text)
{
	struct clip clip = m->like ? *m->like : m->clip;
	struct anim one = only(m, &clip);
	struct shown at = {.anim = &one, .file_name = m->f->file_name};
	struct anim *edited = view->parse(&at, text->text, m->like ? NULL : &text->err);

	if (!edited && m->like) {
		clip = m->clip;
		edited = view->parse(&at, text->text, &text->err);
	}
	if (edited && !keep(m->f, edited)) {
		err_memory(&text->err);
		return NULL;
	}
	return edited ? &edited->clips[0] : NULL;
}

static bool make_bones(struct making *m, const struct view *view, struct fill_text *text)
{
	const struct clip *clip = read_curves(m, view, text);

	text->fate = clip ? FILL_USED : FILL_REFUSED;
	for (uint32_t i = 0; clip && i < clip->track_count; i++) {
		struct bone *bone = need_bone(m, clip->tracks[i].label);

		if (!bone)
			return err_memory(m->err);
		bone->track = clip->tracks[i];
		bone->kind = KIND_CURVES;
	}
	return text->err.code != ERR_MEMORY || err_memory(m->err);
}

/* ---- what clip.json says ---- */

/* Is `name` what is stored of the bone that a file calls `label`? "a~2" may be a second "a". */
static bool is_name_of(const char *name, const char *label)
{
	struct buf form = BUF_INIT;
	bool is;

	name_escape(name, NAME_LIMIT, &form);
	is = !form.failed && strncmp(label, (const char *)form.data, form.size) == 0 &&
	     label[form.size] == '~';
	buf_release(&form);
	return is;
}

/* The bones in its order, each still to be made. */
static bool note_order(struct making *m)
{
	const json_t *list = json_object_get(m->facts, "bones");

	for (size_t i = 0; i < json_array_size(list); i++) {
		const char *label = facts_text(json_array_get(list, i), "bone");
		const char *name = facts_text(json_array_get(list, i), "name");
		struct bone *bone = label ? need_bone(m, label) : NULL;

		if (label && !bone)
			return err_memory(m->err);
		if (bone && name && is_name_of(name, label))
			bone->name = name;
	}
	return true;
}

/* Of the same format: "canm": {...} */
static bool is_own_format(const struct making *m)
{
	return json_object_get(m->facts, m->f->model->format->name) != NULL;
}

static void find_like(struct making *m)
{
	const char *file = facts_text(m->facts, "file"), *label = facts_text(m->facts, "clip");

	if (file && label && strcmp(file, m->f->file_name) == 0)
		m->like = clip_labelled(m->f->model, 0, label);
}

/* How far the texts go, and what a frame takes where they tell. */
static struct span find_span(const struct making *m)
{
	struct span span = {0};

	for (size_t i = 0; i < m->count; i++) {
		const struct view *view;
		enum kind kind = kind_of(m->texts[i].path, &view);

		if (kind == KIND_BONE_CSV || kind == KIND_CURVES)
			span_of_csv(m->texts[i].text, &span);
		else if (kind == KIND_BONE_JSON)
			span_of_json(m->texts[i].text, &span);
	}
	return span;
}

/* A frame takes as long as the texts say: the whole number, where that is as good. */
static void set_frame_time(const struct anim *model, struct clip *clip, const struct span *span)
{
	double time = span->seconds_per_frame * model->rate;
	double tolerance = span->timed ? TOLD * model->rate / span->timed : 0;

	if (!span->timed || !model->format->has_frame_time)
		return;
	clip->frame_time = (float)(fabs(time - round(time)) <= tolerance ? round(time) : time);
	clip_follow_duration(model, clip);
}

/*
 * How many frames the texts are of. clip.json may have been given another number since: then the
 * time that it tells, which cannot be edited, is that of the old one.
 */
static uint32_t count_frames(const struct making *m, const struct span *span)
{
	const struct anim *model = m->f->model;
	uint32_t frames = span->frames > 1 ? span->frames : 1;
	double told = facts_number(m->facts, "frames", 0);
	double seconds_per_frame = facts_number(m->facts, "frame_time", 0) / model->rate;
	double seconds = facts_number(m->facts, "seconds", -1);

	if (m->like && m->like->frames >= frames)
		return m->like->frames;
	if (told <= frames || told > model->format->max_frames ||
	    fabs((frames - 1) * seconds_per_frame - seconds) <= TOLD)
		return frames;
	return (uint32_t)told;
}

/* The fields of a file that has no clip yet are those that the text has. */
static bool take_fields(struct making *m, struct anim *edited)
{
	const struct format *format = edited->format;
	json_t *told = json_object_get(m->facts, format->name), *value;
	struct field *fields;
	const char *name;

	if (m->f->model->clip_count > 0 || !json_is_object(told))
		return true;
	fields = arena_alloc(&edited->arena, json_object_size(told), sizeof(*fields));
	m->clip.fields = fields;
	m->clip.field_count = 0;
	json_object_foreach(told, name, value)
	{
		bool real = json_is_real(value) ||
			    (format->rate_field && strcmp(name, format->rate_field) == 0);

		if (!fields)
			break;
		fields[m->clip.field_count++] = (struct field){
			.name = arena_text(&edited->arena, name, strlen(name)),
			.type = json_is_boolean(value) ? FIELD_BOOL
				: real                 ? FIELD_REAL
						       : FIELD_INT,
			.integer = json_is_boolean(value) ? json_is_true(value)
							  : json_integer_value(value),
			.real = json_number_value(value),
			.editable = true};
	}
	return !edited->arena.failed || err_memory(m->err);
}

/* An empty clip of the right length, behind the others in a model of its own. */
static struct anim *begin_clip(struct making *m)
{
	struct anim *edited = anim_edit(m->f->model);
	struct span span = find_span(m);

	if (!edited || !keep(m->f, edited)) {
		err_memory(m->err);
		return NULL;
	}
	if (!anim_clip_new(edited, m->label, count_frames(m, &span), m->err))
		return NULL;
	m->clip = edited->clips[edited->clip_count - 1];
	set_frame_time(edited, &m->clip, &span);
	return take_fields(m, edited) ? edited : NULL;
}

/*
 * What the text says is held against a clip that already has what cannot be edited, and the times,
 * of which one that changed would move the others.
 */
static struct clip clip_as_told(const struct making *m)
{
	const char *label = facts_text(m->facts, "clip"), *name = facts_text(m->facts, "name");
	struct clip clip = m->like ? *m->like : m->clip;

	if (m->like)
		return clip;
	clip.label = label ? label : clip.label;
	clip.name = name ? name : clip.name;
	if (!is_own_format(m))
		return clip;
	clip.frame_time = (float)facts_number(m->facts, "frame_time", (double)clip.frame_time);
	clip.duration = (float)facts_number(m->facts, "duration", (double)clip.duration);
	return clip;
}

static bool read_clip_json(struct making *m, const struct track *tracks, uint32_t count,
			   struct clip *out)
{
	struct clip clip = clip_as_told(m);
	struct anim one = only(m, &clip);
	struct shown at = {.anim = &one, .file_name = m->f->file_name};
	struct anim *edited;

	if (is_own_format(m))
		at.file_name = told_file(m->facts, at.file_name);
	clip.tracks = tracks;
	clip.track_count = count;
	edited = find_view(VIEW_OF_CLIP, m->clip_text->path)
			 ->parse(&at, m->clip_text->text, &m->clip_text->err);
	m->clip_text->fate = edited ? FILL_USED : FILL_REFUSED;
	if (edited && !keep(m->f, edited))
		return err_memory(m->err);
	if (!edited)
		return m->clip_text->err.code != ERR_MEMORY || err_memory(m->err);
	*out = edited->clips[0];
	out->label = m->clip.label;
	out->name = m->clip.name;
	return true;
}

/* ---- all of it ---- */

static bool read_texts(struct making *m)
{
	for (enum kind kind = KIND_CURVES; kind <= KIND_BONE_CSV; kind++) {
		for (size_t i = 0; i < m->count; i++) {
			struct fill_text *text = &m->texts[i];
			const struct view *view;

			if (kind_of(text->path, &view) != kind || text->text.size == 0)
				continue;
			if (!(kind == KIND_CURVES ? make_bones(m, view, text)
						  : make_bone(m, view, kind, text)))
				return false;
		}
	}
	return true;
}

/* Bones that only clip.json names; where every bone must have keys it then says too much. */
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

static const struct track *take_tracks(struct making *m, struct anim *edited)
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

/* How many of the bones, which come first, clip.json lists. */
static uint32_t listed_bones(const struct making *m)
{
	const json_t *list = json_object_get(m->facts, "bones");
	size_t count = json_array_size(list);

	return (uint32_t)(count < m->bone_count ? count : m->bone_count);
}

/* Those that clip.json lists as it has them; the others behind. */
static bool join_tracks(struct making *m, struct anim *edited, const struct track *tracks,
			struct clip *made)
{
	uint32_t listed = listed_bones(m);

	if (m->clip_text && !read_clip_json(m, tracks, listed, made))
		return false;
	if (!m->clip_text || m->clip_text->fate != FILL_USED) {
		made->tracks = tracks;
		made->track_count = (uint32_t)m->bone_count;
		return true;
	}
	return clip_add_tracks(edited, made, tracks + listed, (uint32_t)m->bone_count - listed) ||
	       err_memory(m->err);
}

static bool make_clip(struct making *m)
{
	struct anim *edited = begin_clip(m);
	const struct track *tracks;
	struct clip made, *clip;

	if (!edited || !note_order(m) || !read_texts(m) || !make_named_bones(m))
		return false;
	tracks = take_tracks(m, edited);
	made = m->clip;
	if (!tracks || !join_tracks(m, edited, tracks, &made))
		return false;
	/* anim_clip_new made the array for this model. */
	clip = (struct clip *)&edited->clips[edited->clip_count - 1];
	*clip = made;
	clip->origin = ANIM_NEW;
	m->f->model = edited;
	return true;
}

/* ---- texts of another format ---- */

/* Does the first line of a table, or any of a JSON text, say this? */
static bool mentions(const struct making *m, const char *in_table, const char *in_json)
{
	for (size_t i = 0; i < m->count; i++) {
		const struct view *view;
		enum kind kind = kind_of(m->texts[i].path, &view);
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

static bool is_foreign(const struct making *m)
{
	return facts_text(m->facts, "file") && !m->like && !is_own_format(m);
}

/*
 * A format that says all that texts can say: a key wherever a row is. What it is read as is then
 * copied to the format that is wanted, as any clip of another format is.
 */
static struct fill *begin_foreign(const struct making *m)
{
	const struct format *wanted = m->f->model->format;
	struct fill *g = fill_new(NULL, "");

	if (!g)
		return NULL;
	g->format = (struct format){.name = "text",
				    .suffix = "",
				    .sparse = true,
				    .keyframes = mentions(m, "flags", "\"keyframes\""),
				    .flags = UINT8_MAX,
				    .many_clips = true,
				    .length = wanted->length,
				    .has_loop = wanted->has_loop,
				    .has_frame_time = true,
				    .has_duration = true,
				    .quaternions = mentions(m, "qw", "\"quaternion\""),
				    .max_frames = wanted->max_frames};
	g->blank = anim_blank(&g->format, NULL);
	g->model = g->blank;
	if (g->model)
		return g;
	fill_free(g);
	return NULL;
}

static bool make_foreign(struct making *m)
{
	struct fill *f = m->f, *g = begin_foreign(m);
	struct anim *edited = g ? anim_edit(f->model) : NULL;

	if (!g || !keep(f, edited)) {
		fill_free(g);
		return err_memory(m->err);
	}
	g->next = f->next;
	f->next = g;
	m->f = g;
	if (!make_clip(m))
		return false;
	if (!anim_clip_copy(edited, g->model, 0, m->label, m->err))
		return false;
	f->model = edited;
	return true;
}

bool fill_clip(struct fill *f, const char *label, struct fill_text *texts, size_t count,
	       struct err *err)
{
	struct making m = {.f = f, .label = label, .texts = texts, .count = count, .err = err};
	const struct view *view;
	bool fine;

	for (size_t i = 0; i < count; i++) {
		if (begin_text(&texts[i], &view) == KIND_CLIP)
			m.clip_text = &texts[i];
	}
	if (clip_labelled(f->model, 0, label))
		return edit_clip(f, label, texts, count, err);
	if (m.clip_text)
		m.facts = facts_of(m.clip_text->text);
	find_like(&m);
	fine = is_foreign(&m) ? make_foreign(&m) : make_clip(&m);
	for (size_t i = 0; i < m.bone_count; i++)
		free(m.bones[i].label);
	free(m.bones);
	json_decref(m.facts);
	return fine;
}

bool fill_file(struct fill *f, struct fill_text *texts, size_t count, struct err *err)
{
	const struct anim *base = f->model;

	for (size_t i = 0; i < count; i++) {
		const struct view *view = find_view(VIEW_OF_FILE, texts[i].path);
		json_t *facts = facts_of(texts[i].text);
		struct shown was = {.anim = base, .file_name = told_file(facts, f->file_name)};
		struct shown now = was;
		bool fine = true;

		texts[i].fate = view ? FILL_GENERATED : FILL_EXTRA;
		now.anim = f->model;
		if (view && view->parse && !view->whole && texts[i].text.size)
			fine = edit_as_told(f, view, &was, &now, &texts[i]);
		json_decref(facts);
		if (!fine)
			return err_memory(err);
	}
	return true;
}
