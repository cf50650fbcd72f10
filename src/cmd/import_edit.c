/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "import_edit.h"

#include "../fill_facts.h"
#include "../view/clip.h"

#include <stdlib.h>
#include <string.h>

/* ---- one text ---- */

static bool is_edit(const struct import_text *text)
{
	return text->found && text->place.view->parse && !text->place.view->whole;
}

static bool is_of_clip_json(const struct import_text *text)
{
	return is_edit(text) && strcmp(text->place.view->file, "clip.json") == 0;
}

static bool is_of_file(const struct import_text *text)
{
	return is_edit(text) && text->place.view->place == VIEW_OF_FILE;
}

static bool is_of_curves(const struct import_text *text)
{
	return is_edit(text) && !is_of_clip_json(text) && !is_of_file(text);
}

static bool find_clip(const struct anim *model, uint32_t origin, uint32_t *clip)
{
	for (*clip = 0; *clip < model->clip_count; ++*clip) {
		if (model->clips[*clip].origin == origin)
			return true;
	}
	return false;
}

static bool find_track(const struct clip *clip, uint32_t origin, uint32_t *track)
{
	for (*track = 0; *track < clip->track_count; ++*track) {
		if (clip->tracks[*track].origin == origin)
			return true;
	}
	return false;
}

/* The place of a view in a model that was edited from that of the file. */
static bool find_place(const struct import_edit *e, const struct anim *model, struct place *place,
		       struct err *err)
{
	const struct clip *was;

	if (place->view->place == VIEW_OF_FILE || model == e->tree.version->anim)
		return true;
	was = &e->tree.version->anim->clips[place->clip];
	if (!find_clip(model, was->origin, &place->clip))
		return err_set(err, ERR_CONFLICT, "file.json removes this clip");
	return place->view->place != VIEW_OF_BONE ||
	       find_track(&model->clips[place->clip], was->tracks[place->track].origin,
			  &place->track) ||
	       err_set(err, ERR_CONFLICT, "clip.json removes this bone");
}

/* Reads a text as an edit of the model. False: it is refused. */
static bool read_text(struct import_edit *e, struct import_text *text, const struct anim *model)
{
	struct place place = text->place;
	struct shown at;

	if (!find_place(e, model, &place, &text->err))
		return false;
	at = tree_shown(&e->tree, &place);
	at.anim = model;
	text->place = place;
	text->used = true;
	text->edited = place.view->parse(&at, buf_bytes(&text->text), &text->err);
	return text->edited != NULL;
}

/* ---- texts of clips and files as wholes ---- */

/* Each is read as an edit of what those before it made. */
static bool apply_whole(struct import_edit *e, bool (*is)(const struct import_text *text))
{
	bool fine = true;

	for (size_t i = 0; i < e->count; i++) {
		struct import_text *text = &e->texts[i];

		if (!is(text))
			continue;
		if (read_text(e, text, e->model))
			e->model = text->edited;
		else
			fine = false;
	}
	return fine;
}

/* ---- texts of curves ---- */

static bool disagrees(struct import_text *text, const char *about)
{
	err_set(&text->err, ERR_CONFLICT, "another text that was edited says something else of %s",
		about);
	return err_accept(&text->err, "the same edit in both, or one of them as it was exported");
}

/* Its tracks, where they are not as they were in the whole. */
static bool take_tracks(struct import_edit *e, struct import_text *text, const struct clip *was)
{
	const uint32_t clip = text->place.clip;
	const struct clip *is = &text->edited->clips[clip];

	for (uint32_t i = 0; i < was->track_count && i < is->track_count; i++) {
		const struct track *now = &e->merged->clips[clip].tracks[i];
		struct track *track;

		if (track_same(&is->tracks[i], &was->tracks[i]))
			continue;
		if (!track_same(now, &was->tracks[i])) {
			if (track_same(now, &is->tracks[i]))
				continue;
			return disagrees(text, was->tracks[i].label);
		}
		track = anim_edit_track(e->merged, clip, i);
		if (!track)
			return err_memory(&text->err);
		*track = is->tracks[i];
	}
	return true;
}

/* Bones that the text adds. */
static bool take_bones(struct import_edit *e, struct import_text *text, const struct clip *was)
{
	const struct clip *is = &text->edited->clips[text->place.clip];
	struct clip *clip;

	if (is->track_count <= was->track_count)
		return true;
	clip = anim_edit_clip(e->merged, text->place.clip);
	if (!clip)
		return err_memory(&text->err);
	if (clip->track_count > was->track_count)
		return disagrees(text, "new bones");
	return clip_add_tracks(e->merged, clip, is->tracks + was->track_count,
			       is->track_count - was->track_count) ||
	       err_memory(&text->err);
}

static bool is_same_clip(const struct clip *a, const struct clip *b)
{
	return a->loop == b->loop && a->frames == b->frames &&
	       f32_bits(a->frame_time) == f32_bits(b->frame_time) &&
	       f32_bits(a->duration) == f32_bits(b->duration) &&
	       fields_same(a->fields, a->field_count, b->fields, b->field_count);
}

/* What it says of the clip itself: a loop, times. */
static bool take_clip(struct import_edit *e, struct import_text *text, const struct clip *was)
{
	const struct clip *is = &text->edited->clips[text->place.clip];
	const struct clip *now = &e->merged->clips[text->place.clip];
	struct clip *clip;

	if (is_same_clip(is, was) || is_same_clip(is, now))
		return true;
	if (!is_same_clip(now, was))
		return disagrees(text, was->label);
	clip = anim_edit_clip(e->merged, text->place.clip);
	if (!clip)
		return err_memory(&text->err);
	clip->loop = is->loop;
	clip->frames = is->frames;
	clip->frame_time = is->frame_time;
	clip->duration = is->duration;
	clip->fields = is->fields;
	clip->field_count = is->field_count;
	return true;
}

static bool take(struct import_edit *e, const struct anim *whole, struct import_text *text)
{
	const struct clip *was;

	if (!read_text(e, text, whole))
		return false;
	was = &whole->clips[text->place.clip];
	return take_tracks(e, text, was) && take_bones(e, text, was) && take_clip(e, text, was);
}

static bool apply_curves(struct import_edit *e)
{
	const struct anim *whole = e->model;
	bool fine = true;

	for (size_t i = 0; i < e->count; i++) {
		if (!is_of_curves(&e->texts[i]))
			continue;
		if (!e->merged)
			e->merged = anim_edit(whole);
		if (!e->merged)
			return err_memory(&e->texts[i].err);
		e->model = e->merged;
		fine &= take(e, whole, &e->texts[i]);
	}
	return fine;
}

/* ---- new clips ---- */

/* Of a path in the folder of the file: the length of its clip's name, 0 where it is in none. */
static size_t clip_length(const char *path)
{
	const char *slash = strchr(path, '/');

	return slash ? (size_t)(slash - path) : 0;
}

static bool is_in(const char *path, const char *clip)
{
	return strncmp(path, clip, strlen(clip)) == 0 && path[strlen(clip)] == '/';
}

/* A text of a clip's folder that the file has no place for. */
static bool is_new(const struct import_text *text)
{
	size_t length = clip_length(text->path);

	return !text->found && !text->noted && length && fill_reads(text->path + length + 1);
}

static void take_fates(struct import_text **from, const struct fill_text *texts, size_t count,
		       bool *fine)
{
	for (size_t i = 0; i < count; i++) {
		from[i]->used = true;
		if (texts[i].fate != FILL_REFUSED)
			continue;
		from[i]->err = texts[i].err;
		*fine = false;
	}
}

/* All texts of a folder that is to become a clip. */
static bool make_clip(struct import_edit *e, const char *clip, struct err *err)
{
	struct import_text **from = calloc(e->count, sizeof(struct import_text *));
	struct fill_text *texts = calloc(e->count, sizeof(*texts));
	char label[FILL_LABEL_SIZE];
	size_t count = 0;
	bool fine = from && texts;

	for (size_t i = 0; fine && i < e->count; i++) {
		if (!is_new(&e->texts[i]) || !is_in(e->texts[i].path, clip))
			continue;
		from[count] = &e->texts[i];
		texts[count++] = (struct fill_text){.path = e->texts[i].path + strlen(clip) + 1,
						    .text = buf_bytes(&e->texts[i].text)};
	}
	if (!fine) {
		err_memory(err);
	} else {
		fill_label(fill_model(e->fill), e->tree.file_name, clip, label);
		fine = fill_clip(e->fill, label, texts, count, err);
		if (fine)
			take_fates(from, texts, count, &fine);
	}
	free(from);
	free(texts);
	return fine;
}

/* A clip that is there makes bones in curves.csv alone, where all of its keys are in sight. */
static bool refuse_bone(struct import_text *text)
{
	text->used = true;
	err_set(&text->err, ERR_TEXT, "the clip has no bone of this name");
	return err_accept(&text->err, "rows of it in curves.csv, which add the bone");
}

static bool add_clip(struct import_edit *e, struct import_text *text, struct err *err)
{
	char *clip;
	bool fine;

	if (text->used || !is_new(text))
		return true;
	clip = strndup(text->path, clip_length(text->path));
	if (!clip)
		return err_memory(err);
	if (clip_labelled(e->tree.version->anim, 0, clip)) {
		fine = refuse_bone(text);
	} else {
		if (!e->fill)
			e->fill = fill_new(e->model, e->tree.file_name);
		fine = e->fill ? make_clip(e, clip, err) : err_memory(err);
		if (e->fill)
			e->model = fill_model(e->fill);
	}
	free(clip);
	return fine;
}

/* A file that is made has its clips in the order of its file.json. */
static bool add_listed_clips(struct import_edit *e, struct bytes file_json, struct err *err)
{
	json_t *facts = facts_of(file_json), *list = json_object_get(facts, "clips");
	bool fine = true;

	for (size_t i = 0; i < json_array_size(list); i++) {
		const char *clip = facts_text(json_array_get(list, i), "clip");

		for (size_t k = 0; clip && k < e->count && !err->code; k++) {
			if (is_in(e->texts[k].path, clip))
				fine &= add_clip(e, &e->texts[k], err);
		}
	}
	json_decref(facts);
	return fine;
}

static bool add_clips(struct import_edit *e, struct err *err)
{
	bool fine = true;

	for (size_t i = 0; i < e->count && !err->code; i++) {
		if (!e->texts[i].found && strcmp(e->texts[i].path, "file.json") == 0)
			fine &= add_listed_clips(e, buf_bytes(&e->texts[i].text), err);
	}
	for (size_t i = 0; i < e->count && !err->code; i++)
		fine &= add_clip(e, &e->texts[i], err);
	return fine;
}

/* ---- all of them ---- */

bool import_edit(struct import_edit *e, struct err *err)
{
	bool fine;

	e->model = e->tree.version->anim;
	fine = apply_whole(e, is_of_clip_json);
	fine &= apply_whole(e, is_of_file);
	if (!fine)
		return false;
	fine = apply_curves(e);
	return add_clips(e, err) && fine;
}

void import_edit_release(struct import_edit *e)
{
	fill_free(e->fill);
	anim_free(e->merged);
	for (size_t i = 0; i < e->count; i++) {
		anim_free(e->texts[i].edited);
		e->texts[i].edited = NULL;
	}
}
