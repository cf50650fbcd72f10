/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "import_clips.h"

#include "edit/assembly_facts.h"
#include "model/clip.h"

#include <stdlib.h>
#include <string.h>

/*
 * Returns the length of the clip's name in a path from the file's folder; 0 if the path is not in a
 * clip's folder.
 */
static size_t clip_length(const char *path)
{
	const char *slash = strchr(path, '/');

	return slash ? (size_t)(slash - path) : 0;
}

static bool import_clips_is_in(const char *path, const char *clip)
{
	return strncmp(path, clip, strlen(clip)) == 0 && path[strlen(clip)] == '/';
}

/* Is the text in a clip's folder, and not one that the file has a view for? */
static bool import_clips_is_new(const struct import_clips *c, const struct import_text *text)
{
	size_t length = clip_length(text->path);

	return text->fate == COPIED_OTHER && (c->all || !text->noted) && length &&
	       assembly_reads(text->path + length + 1);
}

static void take_fates(struct import_text **from, const struct assembly_text *texts, size_t count,
		       bool *fine)
{
	for (size_t i = 0; i < count; i++) {
		from[i]->used = true;
		if (texts[i].fate != ASSEMBLY_REFUSED)
			continue;
		from[i]->err = texts[i].err;
		*fine = false;
	}
}

/* Makes a clip of all texts in a folder. */
static bool import_clips_make(struct import_clips *c, const char *folder, struct err *err)
{
	struct import_text **from = calloc(c->count, sizeof(struct import_text *));
	struct assembly_text *texts = calloc(c->count, sizeof(*texts));
	char label[ASSEMBLY_LABEL_SIZE];
	size_t count = 0;
	bool fine = from && texts;

	for (size_t i = 0; fine && i < c->count; i++) {
		if (!import_clips_is_new(c, &c->texts[i]) ||
		    !import_clips_is_in(c->texts[i].path, folder))
			continue;
		from[count] = &c->texts[i];
		texts[count++] =
			(struct assembly_text){.path = c->texts[i].path + strlen(folder) + 1,
					       .text = buf_bytes(&c->texts[i].text)};
	}
	if (!fine) {
		err_memory(err);
	} else {
		assembly_label(assembly_model(c->assembly)->format, c->file_name, folder, label);
		fine = assembly_clip(c->assembly, label, texts, count, err);
		if (fine)
			take_fates(from, texts, count, &fine);
	}
	free(from);
	free(texts);
	return fine;
}

/*
 * Refuses a bone's text that would add a bone: in an existing clip only curves.csv can, since it
 * has all of the clip's keys.
 */
static bool import_clips_refuse_bone(struct import_text *text)
{
	text->used = true;
	err_set(&text->err, ERR_TEXT, "the clip has no bone of this name");
	return err_accept(&text->err, "rows of it in curves.csv, which add the bone");
}

static bool import_clips_add(struct import_clips *c, const struct anim *had,
			     struct import_text *text, struct err *err)
{
	char *clip;
	bool fine;

	if (text->used || !import_clips_is_new(c, text))
		return true;
	clip = strndup(text->path, clip_length(text->path));
	if (!clip)
		return err_memory(err);
	if (clip_labelled(had, 0, clip)) {
		fine = import_clips_refuse_bone(text);
	} else {
		if (!c->assembly)
			c->assembly = assembly_new(c->model, c->file_name);
		if (c->assembly)
			assembly_hierarchy(c->assembly, c->hierarchy);
		fine = c->assembly ? import_clips_make(c, clip, err) : err_memory(err);
		if (c->assembly)
			c->model = assembly_model(c->assembly);
	}
	free(clip);
	return fine;
}

/* Adds the clips of a new file in the order of its file.json. */
static bool add_listed_clips(struct import_clips *c, const struct anim *had, struct bytes file_json,
			     struct err *err)
{
	const struct token *list;
	struct doc facts;
	bool fine = true;

	doc_read(&facts, file_json, NULL);
	list = token_member(facts.root, "clips");
	for (const struct token *t = token_first(list); t; t = token_next(list, t)) {
		const char *clip = facts_text(t, "clip");

		for (size_t k = 0; clip && k < c->count && !err->code; k++) {
			if (import_clips_is_in(c->texts[k].path, clip))
				fine &= import_clips_add(c, had, &c->texts[k], err);
		}
	}
	doc_release(&facts);
	return fine;
}

bool import_clips(struct import_clips *c, struct err *err)
{
	const struct anim *had = c->model;
	bool fine = true;

	for (size_t i = 0; i < c->count && !err->code; i++) {
		if (strcmp(c->texts[i].path, "file.json") == 0 && had->clip_count == 0)
			fine &= add_listed_clips(c, had, buf_bytes(&c->texts[i].text), err);
	}
	for (size_t i = 0; i < c->count && !err->code; i++)
		fine &= import_clips_add(c, had, &c->texts[i], err);
	return fine && !err->code;
}

void import_clips_release(struct import_clips *c)
{
	assembly_free(c->assembly);
}
