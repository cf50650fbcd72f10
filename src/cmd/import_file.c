/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "import_file.h"

#include "../at.h"
#include "../fill_facts.h"
#include "../refusal.h"
#include "../replace.h"
#include "../store/commit.h"
#include "../store/commit_skeleton.h"
#include "../store/create.h"
#include "../store/draft.h"
#include "../structure.h"
#include "../view/json.h"
#include "../view/own_digest.h"
#include "export_folder.h"
#include "import_texts.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

struct importing {
	struct import_file *f;
	struct where where; /* dir is -1 where the folder is not there */
	struct stamp stamp;
	struct import_texts texts;
	struct source *source;
	struct version *version; /* NULL: the file is not there */
	struct err *err;
};

/* ---- which texts say something else than the file ---- */

/* What the file says under the text's name. False and err when that cannot be made. */
static bool look_up(struct importing *m, struct import_text *text)
{
	const struct tree tree = {m->version, m->f->name};
	struct buf now = BUF_INIT;
	int error;

	text->found = tree_walk(&tree, text->path, &text->place) && text->place.kind == PLACE_VIEW;
	if (!text->found)
		return true;
	error = tree_render(&tree, &text->place, &now);
	text->now = text_hash_of(buf_bytes(&now));
	buf_release(&now);
	return !error || err_system(m->err, error, text->path);
}

static bool says_the_same(const struct import_text *text)
{
	return text->found && XXH128_isEqual(text->now, text_hash_of(buf_bytes(&text->text)));
}

/* The text and the file are in step: what an export would have noted. */
static void note(struct import_text *text)
{
	if (!text->noted)
		return;
	text->noted->text = text_hash_of(buf_bytes(&text->text));
	text->noted->said = text->now;
}

/* Keeps those texts that the file does not say. */
static bool drop_same_texts(struct importing *m)
{
	size_t kept = 0, i;
	bool fine = true;

	for (i = 0; i < m->texts.count; i++) {
		struct import_text *text = &m->texts.list[i];

		fine = fine && look_up(m, text);
		if (fine && says_the_same(text)) {
			note(text);
			free(text->path);
			buf_release(&text->text);
		} else {
			m->texts.list[kept++] = *text;
		}
	}
	m->texts.count = kept;
	return fine;
}

/* ---- refusing ---- */

void import_reject(struct import_file *f, const char *path, struct bytes text,
		   const struct err *err)
{
	struct position where = err_locate(text, err->at < text.size ? err->at : text.size);
	struct buf *out = &f->rejects;

	buf_text(out, ", {\"path\": ");
	json_write_name(out, path);
	if (err->placed && err->code == ERR_FORMAT)
		buf_format(out, ", \"byte\": %zu", err->at);
	else if (err->placed)
		buf_format(out, ", \"line\": %zu, \"column\": %zu", where.line,
			   err->column ? err->column : where.column);
	buf_text(out, ", \"message\": ");
	json_write_name(out, err->message);
	if (*err->accepted) {
		buf_text(out, ", \"accepted\": ");
		json_write_name(out, err->accepted);
	}
	buf_char(out, '}');
}

static void tell(struct importing *m, const struct import_text *text, const struct err *err)
{
	char path[2 * PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", m->f->shown, text->path);
	refusal_explain(path, buf_bytes(&text->text), err, NULL, &m->f->messages);
	import_reject(m->f, path, buf_bytes(&text->text), err);
	m->f->rejected++;
}

static bool tell_all(struct importing *m)
{
	bool fine = true;

	for (size_t i = 0; i < m->texts.count; i++) {
		if (!m->texts.list[i].err.code)
			continue;
		tell(m, &m->texts.list[i], &m->texts.list[i].err);
		fine = false;
	}
	return fine;
}

static bool was_said_otherwise(const struct import_text *text)
{
	return text->noted && text->used &&
	       !(text->found && XXH128_isEqual(text->now, text->noted->said));
}

static void refuse_stale(struct import_text *text)
{
	err_set(&text->err, ERR_CONFLICT,
		"the animation file says something else here since the text was exported");
	err_accept(&text->err, "the edit in a text that was exported since, with the same options");
}

/* Would it be stored as other bytes? False and err, too, where it cannot be. */
static bool changes_bytes(const struct importing *m, const struct anim *edited, struct err *err)
{
	struct bytes now = buf_bytes(&m->version->bytes);
	struct buf bytes = BUF_INIT;
	bool fine = m->version->codec->encode(edited, now, &bytes, err);
	bool changes = fine && !bytes_equal(now, buf_bytes(&bytes));

	if (bytes.failed)
		err_memory(err);
	buf_release(&bytes);
	return changes;
}

/* A text that was edited here while the file was changed otherwise there, and not to the same. */
static void refuse_conflicts(struct importing *m)
{
	for (size_t i = 0; i < m->texts.count; i++) {
		struct import_text *text = &m->texts.list[i];
		struct err err = {.code = ERR_NONE};

		if (!text->err.code && was_said_otherwise(text) &&
		    (!text->edited || changes_bytes(m, text->edited, &err) || err.code))
			refuse_stale(text);
	}
}

/* ---- texts that are no edit of the model ---- */

static bool is_whole(const struct import_text *text)
{
	return text->found && text->place.view->whole;
}

static bool is_skeleton(const struct import_text *text)
{
	return text->found && text->place.view->parse_skeleton;
}

/* One that is not there any more, or that is generated and was changed by hand. */
static void refuse_others(struct importing *m)
{
	for (size_t i = 0; i < m->texts.count; i++) {
		struct import_text *text = &m->texts.list[i];

		if (text->used || text->err.code)
			continue;
		if (!text->found && text->noted)
			err_set(&text->err, ERR_CONFLICT,
				"the animation file has nothing of this name any more");
		else if (text->found && !is_whole(text) && !is_skeleton(text) &&
			 !own_digest_valid(buf_bytes(&text->text)))
			draft_refuse_generated(&text->err);
	}
}

static struct import_text *find_text(const struct importing *m,
				     bool (*is)(const struct import_text *text))
{
	for (size_t i = 0; i < m->texts.count; i++) {
		if (is(&m->texts.list[i]))
			return &m->texts.list[i];
	}
	return NULL;
}

static struct skeleton *read_skeleton(const struct importing *m, struct import_text *text)
{
	const struct tree tree = {m->version, m->f->name};
	const struct shown at = tree_shown(&tree, &text->place);

	text->used = true;
	if (was_said_otherwise(text))
		refuse_stale(text);
	return text->err.code
		       ? NULL
		       : text->place.view->parse_skeleton(&at, buf_bytes(&text->text), &text->err);
}

/* ---- saving ---- */

static bool save_model(struct importing *m, const struct anim *model, bool *changed)
{
	struct version *now = NULL;
	enum commit commit;

	if (model == m->version->anim)
		return true;
	*changed = changes_bytes(m, model, m->err);
	if (m->err->code || !*changed || m->f->dry_run)
		return !m->err->code;
	commit = source_commit(m->source, &m->where, m->version, model, NULL, NULL, &now, m->err);
	version_put(now);
	return commit != COMMIT_REFUSED;
}

/* It is a file of its own: the last thing that is written, once all that can be refused was not. */
static bool save_skeleton(struct importing *m, const struct skeleton *edited, bool *changed)
{
	struct version *now = NULL;
	enum commit commit;

	if (!edited || skeleton_same(edited, rest_skeleton(m->version->rest)))
		return true;
	*changed = true;
	if (m->f->dry_run)
		return true;
	commit = source_commit_skeleton(m->source, &m->where, m->version, edited, NULL, NULL, &now,
					m->err);
	version_put(now);
	return commit != COMMIT_REFUSED;
}

static enum import_outcome save_edit(struct importing *m, struct import_edit *edit)
{
	struct import_text *text = find_text(m, is_skeleton);
	struct skeleton *skeleton = NULL;
	bool changed = false, fine;

	fine = import_edit(edit, m->err);
	if (text)
		skeleton = read_skeleton(m, text);
	if (fine)
		refuse_conflicts(m);
	refuse_others(m);
	fine = tell_all(m) && fine && save_model(m, edit->model, &changed) &&
	       save_skeleton(m, skeleton, &changed);
	skeleton_free(skeleton);
	return fine ? changed ? IMPORT_CHANGED : IMPORT_SAME : IMPORT_REJECTED;
}

/* The file as a whole leaves no room for edits of parts of it. */
static enum import_outcome save_whole(struct importing *m, struct import_text *text)
{
	struct bytes bytes = buf_bytes(&text->text);
	struct buf copy = BUF_INIT;
	struct version *now = NULL;
	bool fine;

	text->used = true;
	if (was_said_otherwise(text))
		refuse_stale(text);
	else if (m->texts.count > 1)
		err_set(&text->err, ERR_CONFLICT,
			"this is the whole file, and texts of parts of it were edited, too");
	if (text->err.code)
		return tell_all(m) ? IMPORT_SAME : IMPORT_REJECTED;
	buf_add(&copy, bytes.data, bytes.size);
	if (m->f->dry_run)
		now = version_of_bytes(m->version->codec, &copy, m->f->name, NULL, &text->err);
	else
		source_commit(m->source, &m->where, m->version, NULL, NULL, &bytes, &now,
			      &text->err);
	buf_release(&copy);
	fine = now != NULL;
	version_put(now);
	return fine || tell_all(m) ? IMPORT_CHANGED : IMPORT_REJECTED;
}

/* ---- after it ---- */

/* What was saved is in step with the file from here on. A folder that cannot be written stays. */
static void note_all(struct importing *m)
{
	struct err err = {.code = ERR_NONE};
	struct version *now;
	int error;

	if (!m->stamp.file || m->f->dry_run)
		return;
	now = source_get(m->source, &m->where, &err);
	version_put(m->version);
	m->version = now;
	for (size_t i = 0; now && i < m->texts.count; i++) {
		if (m->texts.list[i].used && look_up(m, &m->texts.list[i]))
			note(&m->texts.list[i]);
	}
	error = stamp_write(m->f->texts, &m->stamp);
	if (error)
		buf_format(&m->f->messages, "animfs: %s/" STAMP_FILE ": %s\n", m->f->shown,
			   strerror(error));
}

/* ---- a file that is there ---- */

static enum import_outcome import_edits(struct importing *m)
{
	struct import_edit edit = {.tree = {m->version, m->f->name}};
	struct import_text *whole;
	enum import_outcome outcome;

	if (!drop_same_texts(m))
		return IMPORT_REJECTED;
	edit.texts = m->texts.list;
	edit.count = m->texts.count;
	whole = find_text(m, is_whole);
	outcome = whole ? save_whole(m, whole) : save_edit(m, &edit);
	import_edit_release(&edit);
	if (outcome != IMPORT_REJECTED)
		note_all(m);
	return outcome;
}

static enum import_outcome import_into(struct importing *m)
{
	if (!import_texts_read(&m->texts, m->f->texts, &m->stamp, m->err))
		return IMPORT_REJECTED;
	if (!m->texts.count)
		return IMPORT_SAME;
	m->version = source_get(m->source, &m->where, m->err);
	return m->version ? import_edits(m) : IMPORT_REJECTED;
}

/* ---- one that is not ---- */

static bool is_of_clip(const struct import_text *text)
{
	const char *slash = strchr(text->path, '/');

	return slash && fill_reads(slash + 1);
}

/* Which version of its format it was, as its file.json says. */
static uint32_t version_of(const struct importing *m, const struct format *format)
{
	uint32_t version = 0;

	for (size_t i = 0; i < m->texts.count; i++) {
		json_t *facts = strcmp(m->texts.list[i].path, "file.json") == 0
					? facts_of(buf_bytes(&m->texts.list[i].text))
					: NULL;
		const char *type = facts_text(facts, "type");

		if (type && strcmp(type, format->name) == 0)
			version = (uint32_t)facts_number(facts, "version", 0);
		json_decref(facts);
	}
	return version;
}

/* The clips make the file, as a folder that is filled in a mount does. */
static enum import_outcome make_of_clips(struct importing *m, const struct codec *codec)
{
	struct version blank = {.codec = codec, .anim = anim_blank(codec->format, NULL)};
	struct import_edit edit = {
		.tree = {&blank, m->f->name}, .texts = m->texts.list, .count = m->texts.count};
	enum import_outcome outcome = IMPORT_REJECTED;
	struct buf bytes = BUF_INIT;
	bool fine;

	if (!blank.anim) {
		err_memory(m->err);
		return outcome;
	}
	blank.anim->version = version_of(m, codec->format);
	fine = import_edit(&edit, m->err);
	fine = tell_all(m) && fine;
	if (fine && edit.model->clip_count == 0)
		outcome = IMPORT_SAME;
	else if (fine &&
		 (m->f->dry_run ? codec->encode(edit.model, (struct bytes){NULL, 0}, &bytes, m->err)
				: source_create(m->source, &m->where, codec, edit.model, m->err)))
		outcome = IMPORT_MADE;
	buf_release(&bytes);
	import_edit_release(&edit);
	anim_free(blank.anim);
	return outcome;
}

static bool put_raw(struct importing *m, struct bytes bytes)
{
	char temporary[STATE_TEMPORARY_SIZE];
	struct file_version now;
	int error = state_temporary(m->f->state, m->f->folder, temporary, sizeof(temporary));

	if (!error) {
		error = replace_file(m->where.dir, m->f->name, NULL, NULL, temporary, bytes, &now,
				     NULL);
		state_temporary_gone(m->f->state, m->f->folder);
	}
	return !error || err_system(m->err, error, m->f->name);
}

/* Its raw.* is the file, if it decodes, and the other texts are edits of it. */
static enum import_outcome make_of_raw(struct importing *m, const struct codec *codec,
				       struct import_text *raw)
{
	enum import_outcome outcome = IMPORT_REJECTED;
	struct buf copy = BUF_INIT;

	buf_add(&copy, raw->text.data, raw->text.size);
	m->version = version_of_bytes(codec, &copy, m->f->name, NULL, &raw->err);
	if (!m->version) {
		tell_all(m);
		return outcome;
	}
	if (!m->f->dry_run) {
		if (!put_raw(m, buf_bytes(&raw->text)))
			return outcome;
		version_put(m->version);
		m->version = source_get(m->source, &m->where, m->err);
	}
	if (m->version)
		outcome = import_edits(m);
	if (outcome == IMPORT_REJECTED && !m->f->dry_run)
		unlinkat(m->where.dir, m->f->name, 0);
	return outcome == IMPORT_REJECTED ? outcome : IMPORT_MADE;
}

/* The skeleton stands beside the file, so that had to be there first. */
static void add_skeleton(struct importing *m)
{
	struct skeleton *skeleton;
	struct import_text *text;
	bool changed;

	m->version = source_get(m->source, &m->where, m->err);
	for (size_t i = 0; m->version && i < m->texts.count; i++) {
		text = &m->texts.list[i];
		if (strcmp(text->path, REST_FILE) != 0 || !look_up(m, text) || says_the_same(text))
			continue;
		skeleton = read_skeleton(m, text);
		if (!skeleton || !save_skeleton(m, skeleton, &changed))
			tell(m, text, skeleton ? m->err : &text->err);
		skeleton_free(skeleton);
	}
}

static enum import_outcome make(struct importing *m, const struct codec *codec)
{
	enum import_outcome outcome = IMPORT_SAME;
	char raw_name[NAME_MAX + 1];
	bool any = false;

	tree_raw_name(m->f->name, codec->format, raw_name);
	for (size_t i = 0; i < m->texts.count; i++) {
		if (strcmp(m->texts.list[i].path, raw_name) == 0)
			return make_of_raw(m, codec, &m->texts.list[i]);
		any |= is_of_clip(&m->texts.list[i]);
	}
	if (any)
		outcome = make_of_clips(m, codec);
	if (outcome == IMPORT_MADE && !m->f->dry_run)
		add_skeleton(m);
	return outcome;
}

/* A stamp, if the folder has one, is that of a file which has gone: all its texts count. */
static enum import_outcome import_new(struct importing *m)
{
	const struct codec *codec;
	bool probe;

	stamp_release(&m->stamp);
	if (!store_claims(m->f->store, m->f->name, &codec, &probe) || !codec)
		return IMPORT_SAME;
	if (!import_texts_read(&m->texts, m->f->texts, &m->stamp, m->err))
		return IMPORT_REJECTED;
	return make(m, codec);
}

/* ---- all of it ---- */

static int open_folder(struct importing *m)
{
	const struct import_file *f = m->f;
	int error;

	if (!f->dry_run)
		return export_make_folders(f->source, f->folder, &m->where.dir);
	error = at_walk(f->source, f->folder, O_RDONLY | O_DIRECTORY, &m->where.dir);
	return error == ENOENT ? 0 : error;
}

static enum import_outcome import_opened(struct importing *m)
{
	struct stat st;
	int error = stamp_read(m->f->texts, m->f->name, &m->stamp);

	m->source = source_new(m->f->store);
	if (error || !m->source) {
		err_memory(m->err);
		return IMPORT_REJECTED;
	}
	return m->where.dir >= 0 && fstatat(m->where.dir, m->f->name, &st, AT_SYMLINK_NOFOLLOW) == 0
		       ? import_into(m)
		       : import_new(m);
}

enum import_outcome import_file(struct import_file *f)
{
	struct importing m = {.f = f,
			      .where = {-1, f->folder, f->name, NULL},
			      .stamp = STAMP_INIT,
			      .texts = {.max_text = f->max_text, .max_file = f->max_file},
			      .err = &f->err};
	int error = open_folder(&m);
	enum import_outcome outcome = IMPORT_REJECTED;

	if (error)
		err_system(&f->err, error, f->path);
	else
		outcome = import_opened(&m);
	f->read = m.texts.read;
	import_texts_release(&m.texts);
	version_put(m.version);
	source_free(m.source);
	stamp_release(&m.stamp);
	if (m.where.dir >= 0)
		close(m.where.dir);
	return outcome;
}
