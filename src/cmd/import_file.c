/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "import_file.h"

#include "disk/dirfd.h"
#include "disk/refusal.h"
#include "disk/replace.h"
#include "edit/assembly_facts.h"
#include "edit/structure.h"
#include "export_folder.h"
#include "import_texts.h"
#include "store/commit.h"
#include "store/commit_skeleton.h"
#include "store/create.h"
#include "store/digests_kept.h"
#include "store/overlay.h"
#include "store/typed.h"
#include "text/table.h"
#include "view/json.h"
#include "view/own_digest.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

struct importing {
	struct import_file *f;
	struct where where; /* place of the file; dir is -1 if the folder does not exist */
	struct stamp stamp;
	struct import_texts texts;
	struct source *source;
	struct version *version; /* present version of the file; NULL: the file does not exist */
	struct digests *known;   /* known versions of the file; NULL: none */
	struct copied copied;
	struct import_clips clips;
	struct skeleton *hierarchy; /* skeleton of a new file whose names are paths; or NULL */
	struct version *raw;        /* raw.* of a new file, decoded; or NULL */
	struct version *made;       /* the outcome; NULL: the file is unchanged */
	struct err *err;
};

/* Gets the hash of a view's present text. False if the file has no such view, or out of memory. */
static bool import_file_look_up(const struct importing *m, const struct import_text *text,
				text_hash *now)
{
	const struct tree tree = {m->version, m->f->name};
	struct buf out = BUF_INIT;
	struct place place;
	bool found = tree_walk(&tree, text->path, &place) && place.kind == PLACE_VIEW &&
		     tree_render(&tree, &place, &out) == 0;

	*now = text_hash_of(buf_bytes(&out));
	buf_release(&out);
	return found;
}

/* ---- refusing ---- */

void import_reject(struct import_file *f, const char *path, struct bytes text,
		   const struct err *err)
{
	struct position where = err_locate(text, err->at);
	struct buf *out = &f->rejects;

	buf_text(out, ", {\"path\": ");
	json_write_name(out, path);
	if (err->placed && err->code == ERR_FORMAT && !err->line)
		buf_format(out, ", \"byte\": %zu", err->at);
	else if (err->placed)
		buf_format(out, ", \"line\": %zu, \"column\": %zu", where.line, where.column);
	if (*err->cell)
		buf_format(out, ", \"cell\": \"%s\"", err->cell);
	if (*err->heading) {
		buf_text(out, ", \"column_name\": ");
		json_write_name(out, err->heading);
	}
	buf_text(out, ", \"message\": ");
	json_write_name(out, err->message);
	if (*err->accepted) {
		buf_text(out, ", \"accepted\": ");
		json_write_name(out, err->accepted);
	}
	buf_char(out, '}');
}

static void report_text(struct importing *m, const struct import_text *text, const struct err *err)
{
	char path[2 * PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", m->f->shown, text->path);
	refusal_explain(path, buf_bytes(&text->text), err, NULL, &m->f->messages);
	import_reject(m->f, path, buf_bytes(&text->text), err);
	m->f->rejected++;
}

/* Reports what was ignored in a text that was not refused. */
static void report_ignored(struct importing *m, const struct import_text *text)
{
	const char *ignored = table_ignored(text->path, buf_bytes(&text->text));

	if (text->used && ignored)
		buf_format(&m->f->messages, "animfs: %s/%s: %s\n", m->f->shown, text->path,
			   ignored);
}

/* Reports each text; returns false if one was refused. */
static bool report_texts(struct importing *m)
{
	bool fine = true;

	for (size_t i = 0; i < m->texts.count; i++) {
		const struct import_text *text = &m->texts.list[i];

		if (text->err.code)
			report_text(m, text, &text->err);
		else
			report_ignored(m, text);
		fine = fine && !text->err.code;
	}
	return fine;
}

static bool was_said_otherwise(const struct importing *m, const struct import_text *text)
{
	text_hash now;

	return text->noted &&
	       !(import_file_look_up(m, text, &now) && XXH128_isEqual(now, text->noted->said));
}

static void refuse_stale(struct import_text *text)
{
	err_set(&text->err, ERR_CONFLICT,
		"the animation file says something else here since the text was exported");
	err_accept(&text->err, "the edit in a text that was exported since, with the same options");
}

/*
 * Would the edit change the file's bytes? Also false, with err set, if the edit cannot be
 * stored.
 */
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

/* Would this text by itself change the file's bytes? True if unknown. */
static bool changes_file(const struct importing *m, const struct import_text *text)
{
	const struct tree tree = {m->version, m->f->name};
	struct err err = {.code = ERR_NONE};
	struct anim *edited = NULL;
	struct place place;
	struct shown at;
	bool changes;

	if (tree_walk(&tree, text->path, &place) && place.kind == PLACE_VIEW && place.view->parse) {
		at = tree_shown(&tree, &place);
		edited = place.view->parse(&at, buf_bytes(&text->text), &err);
	}
	changes = !edited || changes_bytes(m, edited, &err) || err.code;
	anim_free(edited);
	return changes;
}

/* Returns the version that the text was exported from or imported into last; 0: unknown. */
static uint32_t version_of_text(const struct importing *m, const struct import_text *text)
{
	struct digest version = text->noted && !digest_is_none(text->noted->version)
					? text->noted->version
					: m->stamp.version;

	return digest_is_none(version) ? 0 : digests_of_file(m->known, version);
}

/*
 * Refuses an edited text if the file was changed as well, unless both have the same values.
 * Compares curves and values if the version that the text came from is known.
 */
static void refuse_conflict(struct importing *m, struct import_text *text)
{
	uint32_t since = version_of_text(m, text);
	const char *clip, *bone;

	if (was_said_otherwise(m, text) &&
	    (!since || batch_overrules(m->copied.batch, text->path, since, &clip, &bone)) &&
	    changes_file(m, text))
		refuse_stale(text);
}

/*
 * Refuses texts that contradict each other: imported texts have no order in time, so none of them
 * wins.
 */
static void refuse_contradiction(struct importing *m, struct import_text *text)
{
	const char *clip, *bone;

	if (!batch_contradicts(m->copied.batch, text->path, &clip, &bone))
		return;
	err_set(&text->err, ERR_CONFLICT, "another edited text contradicts this one about %s",
		bone   ? bone
		: clip ? clip
		       : m->f->name);
	err_accept(&text->err, "the same edit in both, or one of them as it was exported");
}

static void import_file_check_text(struct importing *m, struct import_text *text, bool same)
{
	text_hash now;

	if (text->fate == COPIED_OTHER && text->noted && !m->clips.all)
		err_set(&text->err, ERR_CONFLICT,
			"the animation file has nothing of this name any more");
	else if (text->fate == COPIED_GENERATED && !own_digest_recognized(buf_bytes(&text->text)) &&
		 !(m->version && import_file_look_up(m, text, &now) &&
		   XXH128_isEqual(now, text_hash_of(buf_bytes(&text->text)))))
		typed_refuse_generated(m->version && m->version->codec->format->stills, &text->err);
	text->used = text->fate == COPIED_USED || text->fate == COPIED_SILENT;
	if (text->fate != COPIED_USED)
		return;
	refuse_contradiction(m, text);
	if (!text->err.code && !same && m->version && !m->clips.all)
		refuse_conflict(m, text);
}

/* ---- the edited model ---- */

/* Counts stale texts that would change the file if they were not ignored. */
static void report_silent(struct importing *m)
{
	struct batch_silent silent;

	while (batch_next_silent(m->copied.batch, &silent)) {
		m->f->silent++;
		if (!m->f->verbose)
			continue;
		buf_format(&m->f->messages, "animfs: %s/%s: an old text, which says nothing",
			   m->f->shown, silent.path);
		if (silent.clip)
			buf_format(&m->f->messages, "; it would have changed %s%s%s", silent.clip,
				   silent.bone ? " " : "", silent.bone ? silent.bone : "");
		buf_char(&m->f->messages, '\n');
	}
}

/* Reads all texts except `but`, which may be NULL. */
static bool import_file_read_texts(struct importing *m, const struct import_text *but)
{
	struct copied *c = &m->copied;
	struct copied_text *texts = calloc(m->texts.count + 1, sizeof(*texts));
	bool fine;

	if (!texts)
		return err_memory(m->err);
	for (size_t i = 0; i < m->texts.count; i++) {
		const struct import_text *text = &m->texts.list[i];

		if (text != but)
			texts[c->count++] = (struct copied_text){.path = text->path,
								 .text = buf_bytes(&text->text)};
	}
	c->source = m->source;
	c->where = &m->where;
	c->texts = texts;
	fine = copied_read(c, m->err);
	for (size_t i = 0, k = 0; fine && i < m->texts.count; i++) {
		struct import_text *text = &m->texts.list[i];

		if (text == but)
			continue;
		text->fate = texts[k].fate;
		text->err = texts[k].err;
		import_file_check_text(m, text, texts[k++].same);
	}
	free(texts);
	c->texts = NULL;
	if (fine)
		report_silent(m);
	return fine;
}

/* Makes the edited model, with new clips. False also if a text is refused. */
static bool make_model(struct importing *m, const struct import_text *but)
{
	struct import_clips *clips = &m->clips;
	bool fine;

	if (!import_file_read_texts(m, but))
		return false;
	clips->file_name = m->f->name;
	clips->texts = m->texts.list;
	clips->count = m->texts.count;
	clips->model = m->copied.edited ? m->copied.edited : m->copied.over->anim;
	fine = import_clips(clips, m->err);
	return report_texts(m) && fine;
}

/* Sets m->made to the version that results from the model. */
static bool make_version(struct importing *m)
{
	struct version *over = m->copied.over;

	m->made = m->clips.model == over->anim
			  ? version_get(over)
			  : source_edited(m->source, &m->where, over, m->clips.model, m->err);
	return m->made != NULL;
}

/* ---- skeletons ---- */

static bool is_skeleton(const struct importing *m, const struct import_text *text)
{
	text_hash now;

	return strcmp(text->path, SKELETON_FILE) == 0 && m->version &&
	       !(import_file_look_up(m, text, &now) &&
		 XXH128_isEqual(now, text_hash_of(buf_bytes(&text->text))));
}

static struct import_text *find_skeleton_text(const struct importing *m)
{
	for (size_t i = 0; i < m->texts.count; i++) {
		if (is_skeleton(m, &m->texts.list[i]))
			return &m->texts.list[i];
	}
	return NULL;
}

/*
 * Parses the skeleton's text. *edited is NULL if the file has no skeleton view, or the text is
 * refused (text->err).
 */
static void read_skeleton(const struct importing *m, struct import_text *text,
			  struct skeleton **edited)
{
	const struct tree tree = {m->version, m->f->name};
	struct place place;
	struct shown at;

	*edited = NULL;
	if (!tree_walk(&tree, text->path, &place))
		return;
	text->used = true;
	if (!m->clips.all && was_said_otherwise(m, text))
		refuse_stale(text);
	if (text->err.code)
		return;
	at = tree_shown(&tree, &place);
	*edited = place.view->parse_skeleton(&at, buf_bytes(&text->text), &text->err);
}

/*
 * Returns whether the skeleton would be saved; checked first, so that all of a file's texts are
 * saved or none.
 */
static bool import_file_check_skeleton(struct importing *m, const struct skeleton *edited)
{
	return !edited || m->f->dry_run ||
	       source_check_skeleton(m->source, &m->where, m->version, edited, m->err);
}

/* Saves the skeleton, which is a file of its own; done last, when everything else is saved. */
static bool import_file_save_skeleton(struct importing *m, const struct skeleton *edited,
				      bool *changed)
{
	struct version *now = NULL;
	enum commit commit;

	if (!edited || skeleton_same(edited, shared_skeleton(m->version->skeleton)))
		return true;
	*changed = true;
	if (m->f->dry_run)
		return true;
	commit = source_commit_skeleton(m->source, &m->where, m->version, edited, NULL, NULL, &now,
					m->err);
	version_put(now);
	return commit != COMMIT_REFUSED;
}

/* ---- saving ---- */

/* Notes the versions before and after this import. Failure to do so is harmless. */
static void note_known(struct importing *m, struct version *now)
{
	const struct history_file file = where_file(&m->where);
	struct digests *d;

	if (!m->f->state || state_lock(m->f->state) != 0)
		return;
	d = digests_load(m->f->state, &file);
	if (d && (!m->version || digests_add(d, m->version, NULL)) &&
	    digests_add(d, now, m->version))
		(void)digests_store(m->f->state, &file, d);
	digests_free(d);
	state_unlock(m->f->state);
}

static bool save_model(struct importing *m, bool *changed)
{
	const struct bytes *whole = NULL;
	struct version *now = NULL;
	enum commit commit;
	struct bytes bytes;

	if (m->clips.model == m->version->anim)
		return true;
	if (m->copied.over != m->version) {
		if (!make_version(m))
			return false;
		bytes = buf_bytes(&m->made->bytes);
		whole = &bytes;
		*changed = !version_same_bytes(m->made, m->version);
	} else {
		*changed = changes_bytes(m, m->clips.model, m->err);
	}
	if (m->err->code || !*changed || m->f->dry_run)
		return !m->err->code;
	commit = source_commit(m->source, &m->where, m->version, whole ? NULL : m->clips.model,
			       NULL, whole, &now, m->err);
	if (now)
		note_known(m, now);
	version_put(now);
	return commit != COMMIT_REFUSED;
}

/*
 * Notes in the stamp which texts the file has now. A failure (read-only folder) is only
 * reported.
 */
static void import_file_note_all(struct importing *m)
{
	struct err err = {.code = ERR_NONE};
	struct version *now;
	bool noted = false;
	int error;

	if (!m->stamp.file || m->f->dry_run)
		return;
	now = source_get(m->source, &m->where, &err);
	version_put(m->version);
	m->version = now;
	for (size_t i = 0; now && i < m->texts.count; i++) {
		struct import_text *text = &m->texts.list[i];
		text_hash said;

		if (!text->used || !text->noted || !import_file_look_up(m, text, &said) ||
		    (text->fate == COPIED_SILENT && changes_file(m, text)))
			continue;
		text->noted->text = text_hash_of(buf_bytes(&text->text));
		text->noted->said = said;
		text->noted->version = digest_of_file(buf_bytes(&now->bytes));
		noted = true;
	}
	error = noted ? stamp_write(m->f->texts, &m->stamp) : 0;
	if (error)
		buf_format(&m->f->messages, "animfs: %s/" STAMP_FILE ": %s\n", m->f->shown,
			   strerror(error));
}

/* ---- an existing file ---- */

static bool import_file_find_known(struct importing *m)
{
	const struct history_file file = where_file(&m->where);

	m->known = m->f->state ? digests_load(m->f->state, &file) : digests_new();
	if (m->known && m->f->state)
		digests_learn(m->known, m->f->state, &m->where, m->source);
	m->copied.known = m->known;
	m->copied.base = m->version;
	m->copied.number = m->known ? digests_add(m->known, m->version, NULL) : 0;
	if (!m->copied.number)
		return err_memory(m->err);
	if (!m->stamp.file || m->clips.all)
		return true;
	/*
	 * Without a known version of the export, texts are compared with the present one
	 * (refuse_conflict).
	 */
	if (!digest_is_none(m->stamp.version))
		m->copied.origin = digests_of_file(m->known, m->stamp.version);
	if (!m->copied.origin)
		m->copied.origin = m->copied.number;
	return true;
}

static enum import_outcome import_edits(struct importing *m)
{
	struct skeleton *skeleton = NULL;
	struct import_text *text;
	bool changed = false, saved, fine;

	if (!import_file_find_known(m))
		return IMPORT_REJECTED;
	text = find_skeleton_text(m);
	if (text)
		read_skeleton(m, text, &skeleton);
	fine = (text && text->err.code ? (report_text(m, text, &text->err), false) : true);
	fine = make_model(m, text) && fine && import_file_check_skeleton(m, skeleton) &&
	       save_model(m, &changed);
	saved = fine && changed;
	fine = fine && import_file_save_skeleton(m, skeleton, &changed);
	skeleton_free(skeleton);
	if (!fine && !saved)
		return IMPORT_REJECTED;
	if (!fine)
		text->used = false; /* only the skeleton was refused: m->err */
	import_file_note_all(m);
	return changed ? IMPORT_CHANGED : IMPORT_SAME;
}

/*
 * Was a text of the folder imported since the export? Then the folder is not a copy of one
 * version.
 */
static bool is_worked_on(const struct stamp *stamp)
{
	for (size_t i = 0; i < stamp->count; i++) {
		if (!digest_is_none(stamp->texts[i].version))
			return true;
	}
	return false;
}

/* Is the file unchanged since the export, by size and time? */
static bool is_as_exported(const struct importing *m)
{
	struct stat st;
	char words[64];

	if (m->f->loose ? loose_stat(m->f->loose, m->where.dir, &st)
			: fstatat(m->where.dir, m->f->name, &st, AT_SYMLINK_NOFOLLOW))
		return false;
	snprintf(words, sizeof(words), "%lld %lld.%09ld ", (long long)st.st_size,
		 (long long)st.st_mtim.tv_sec, st.st_mtim.tv_nsec);
	return strncmp(m->stamp.made_of, words, strlen(words)) == 0;
}

/*
 * If texts were edited since the export, imports those; the others are known to be copies. If none
 * was, the folder as a whole is a copy of a version, and restores that; so does a folder without a
 * stamp.
 */
static enum import_outcome import_into(struct importing *m)
{
	if (!import_texts_read(&m->texts, m->f->texts, &m->stamp, m->err))
		return IMPORT_REJECTED;
	if (!m->texts.count) {
		if (!m->stamp.file || is_worked_on(&m->stamp) || is_as_exported(m))
			return IMPORT_SAME;
		m->texts.all = m->clips.all = true;
		if (!import_texts_read(&m->texts, m->f->texts, &m->stamp, m->err))
			return IMPORT_REJECTED;
	}
	m->version = source_get(m->source, &m->where, m->err);
	return m->version ? import_edits(m) : IMPORT_REJECTED;
}

/* ---- a new file ---- */

static bool is_of_clip(const struct import_text *text)
{
	const char *slash = strchr(text->path, '/');

	return slash && assembly_reads(slash + 1);
}

/* Returns the version of the file's format, from its file.json. */
static uint32_t import_file_version_of(const struct importing *m, const struct format *format)
{
	uint32_t version = 0;

	for (size_t i = 0; i < m->texts.count; i++) {
		struct doc facts;
		const char *type;

		if (strcmp(m->texts.list[i].path, "file.json") != 0)
			continue;
		doc_read(&facts, buf_bytes(&m->texts.list[i].text), NULL);
		type = facts_text(facts.root, "type");
		if (type && strcmp(type, format->name) == 0)
			version = (uint32_t)facts_number(facts.root, "version", 0);
		doc_release(&facts);
	}
	return version;
}

/* The skeleton among the texts, if names of the file's bones are to be paths; else NULL. */
static struct skeleton *import_file_read_hierarchy(const struct importing *m,
						   const struct format *format)
{
	for (size_t i = 0; format->paths && i < m->texts.count; i++) {
		if (strcmp(m->texts.list[i].path, SKELETON_FILE) == 0)
			return skeleton_read(buf_bytes(&m->texts.list[i].text), NULL, NULL);
	}
	return NULL;
}

/* Makes a file from clips, as a staged folder in a mount does. */
static bool make_of_clips(struct importing *m, const struct codec *codec)
{
	struct anim *blank = anim_blank(codec->format, NULL);
	struct hierarchy hierarchy = {skeleton_parent, NULL};
	bool fine;

	if (!blank)
		return err_memory(m->err);
	m->hierarchy = import_file_read_hierarchy(m, codec->format);
	hierarchy.closure = m->hierarchy;
	m->clips.hierarchy = &hierarchy;
	blank->version = import_file_version_of(m, codec->format);
	m->clips.file_name = m->f->name;
	m->clips.texts = m->texts.list;
	m->clips.count = m->texts.count;
	m->clips.model = blank;
	fine = import_clips(&m->clips, m->err);
	fine = report_texts(m) && fine;
	if (fine && m->clips.model->clip_count > 0)
		m->made = source_made(m->source, &m->where, codec, m->clips.model, m->err);
	import_clips_release(&m->clips);
	m->clips.assembly = NULL;
	m->clips.hierarchy = NULL;
	anim_free(blank);
	return m->made != NULL;
}

/* Makes a file from raw.*, and applies the other texts as edits. */
static bool make_of_raw(struct importing *m, struct import_text *raw)
{
	m->raw = source_decode(m->source, &m->where, buf_bytes(&raw->text), &raw->err);
	m->copied.base = m->raw;
	if (!m->raw)
		return report_texts(m);
	return make_model(m, raw) && make_version(m);
}

/*
 * Does the skeleton lack all bones of the file? The bones of a PlayStation block have other names
 * in paths.
 */
static bool is_of_other_names(const struct importing *m)
{
	const struct clip *clip = m->version->anim->clip_count ? m->version->anim->clips : NULL;

	for (uint32_t i = 0; clip && i < clip->track_count; i++) {
		if (skeleton_joint(m->hierarchy, clip->tracks[i].label))
			return false;
	}
	return m->hierarchy != NULL;
}

/*
 * Adds the skeleton, which is saved beside the file, and so only after the file exists. Adds none
 * if only its hierarchy could be used, since the paths already contain it.
 */
static void add_skeleton(struct importing *m)
{
	struct skeleton *skeleton;
	struct import_text *text;
	bool changed;

	m->version = source_get(m->source, &m->where, m->err);
	text = m->version && !is_of_other_names(m) ? find_skeleton_text(m) : NULL;
	if (!text)
		return;
	read_skeleton(m, text, &skeleton);
	if (!skeleton || !import_file_save_skeleton(m, skeleton, &changed))
		report_text(m, text, skeleton ? m->err : &text->err);
	skeleton_free(skeleton);
}

static enum import_outcome save_new(struct importing *m)
{
	struct version *base = m->raw;

	if (m->f->dry_run)
		return IMPORT_MADE;
	if (base && version_same_bytes(base, m->made))
		base = NULL;
	if (!source_put_new(m->source, &m->where, base, m->made, NULL, m->err))
		return IMPORT_REJECTED;
	note_known(m, m->made);
	add_skeleton(m);
	return IMPORT_MADE;
}

static enum import_outcome make_imported_file(struct importing *m, const struct codec *codec)
{
	struct import_text *raw = NULL;
	char raw_name[NAME_MAX + 1];
	bool any = false;

	tree_raw_name(m->f->name, codec->format, raw_name);
	for (size_t i = 0; i < m->texts.count; i++) {
		if (strcmp(m->texts.list[i].path, raw_name) == 0)
			raw = &m->texts.list[i];
		any |= is_of_clip(&m->texts.list[i]);
	}
	if (!raw && !any)
		return IMPORT_SAME;
	if (raw ? make_of_raw(m, raw) : make_of_clips(m, codec))
		return save_new(m);
	return m->err->code || m->f->rejected ? IMPORT_REJECTED : IMPORT_SAME;
}

/* Makes a new file. A stamp in the folder is ignored: the file it was made from is gone. */
static enum import_outcome import_new(struct importing *m)
{
	const struct codec *codec;
	bool probe;

	stamp_release(&m->stamp);
	if (!store_claims(m->f->store, m->f->name, &codec, &probe) || !codec)
		return IMPORT_SAME;
	if (!import_texts_read(&m->texts, m->f->texts, &m->stamp, m->err))
		return IMPORT_REJECTED;
	return make_imported_file(m, codec);
}

/* ---- all of it ---- */

static int import_file_open_folder(struct importing *m)
{
	const struct import_file *f = m->f;
	int error;

	if (f->loose) {
		if (loose_folder(f->loose, false, &m->where.dir))
			m->where.dir = -1;
		return 0;
	}
	if (!f->dry_run)
		return export_make_folders(f->source, f->folder, &m->where.dir);
	error = dirfd_walk(f->source, f->folder, O_RDONLY | O_DIRECTORY, &m->where.dir);
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
	if (m->f->loose)
		return import_into(m);
	return m->where.dir >= 0 && fstatat(m->where.dir, m->f->name, &st, AT_SYMLINK_NOFOLLOW) == 0
		       ? import_into(m)
		       : import_new(m);
}

enum import_outcome import_file(struct import_file *f)
{
	struct importing m = {
		.f = f,
		.where = {.dir = -1, .folder = f->folder, .name = f->name, .note = f->note},
		.stamp = STAMP_INIT,
		.texts = {.max_text = f->max_text, .max_file = f->max_file},
		.err = &f->err};
	int error;
	enum import_outcome outcome = IMPORT_REJECTED;

	if (f->loose) {
		m.where.folder = f->loose->folder;
		m.where.name = f->loose->name;
		m.where.loose = f->loose;
	}
	error = import_file_open_folder(&m);

	if (error)
		err_system(&f->err, error, f->path);
	else
		outcome = import_opened(&m);
	f->read = m.texts.read;
	import_clips_release(&m.clips);
	copied_release(&m.copied);
	skeleton_free(m.hierarchy);
	version_put(m.raw);
	digests_free(m.known);
	import_texts_release(&m.texts);
	version_put(m.made);
	version_put(m.version);
	source_free(m.source);
	stamp_release(&m.stamp);
	if (m.where.dir >= 0)
		close(m.where.dir);
	return outcome;
}
