/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "copied.h"

#include "create.h"
#include "edit/assembly_facts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- texts of a file of another name ---- */

static bool ends_with(const char *path, const char *end)
{
	size_t length = strlen(path), size = strlen(end);

	return length >= size && strcmp(path + length - size, end) == 0;
}

/* Returns the file name that the texts state; NULL: none. The caller frees it. */
static char *stated_name(const struct copied *c)
{
	char *name = NULL;

	for (size_t i = 0; i < c->count && !name; i++) {
		struct doc facts;
		const char *file;

		if (!ends_with(c->texts[i].path, ".json"))
			continue;
		doc_read(&facts, c->texts[i].text, NULL);
		file = facts_text(facts.root, "file");
		name = file && *file && !strchr(file, '/') ? strdup(file) : NULL;
		doc_release(&facts);
	}
	return name;
}

/* Decodes the base under the file name that its texts give, if possible. */
static struct version *find_base(struct copied *c, struct where *where, const char *stated)
{
	struct version *base = NULL;

	/* A loose file has the name of the member that it replaces. */
	if (stated && !where->loose && strcmp(stated, where->name) != 0) {
		where->name = stated;
		base = source_decode(c->source, where, buf_bytes(&c->base->bytes), NULL);
	}
	if (base && base->codec == c->base->codec)
		return base;
	version_put(base);
	where->name = c->where->name;
	return version_get(c->base);
}

/* Sets up the known versions for the batch. False: no memory. */
static bool copied_find_known(struct copied *c)
{
	if (c->known)
		return true;
	c->own = digests_new();
	c->number = c->own ? digests_add(c->own, c->over, NULL) : 0;
	return c->number != 0;
}

/* ---- one text ---- */

struct reading_text {
	struct copied *c;
	const struct where *where; /* with the file name that the texts give */
	struct copied_text *text;
	struct batch_text as;
	char path[PATH_MAX];
	struct anim *edited;
};

/*
 * Maps a path to the one in the model: a nameless clip is named after the file, so the texts'
 * folder may differ.
 */
static void place_path(const struct anim *a, const char *path, char out[PATH_MAX])
{
	const char *slash = strchr(path, '/');
	bool own = slash && a->format->nameless && a->clip_count == 1;

	snprintf(out, PATH_MAX, "%s%s", own ? a->clips[0].label : path, own ? slash : "");
}

static bool copied_find_place(struct reading_text *r, struct version *v)
{
	const struct tree tree = {v, where_label(r->where)};

	place_path(v->anim, r->text->path, r->path);
	if (!tree_walk(&tree, r->path, &r->as.place) || r->as.place.kind != PLACE_VIEW)
		return false;
	r->as.base = v;
	return true;
}

/* Applies the texts read so far; later texts are then parsed against the resulting version. */
static bool settle_texts(struct reading_text *r, struct err *err)
{
	struct copied *c = r->c;
	struct version *over;
	struct anim *edited;

	if (!c->is_stale)
		return true;
	if (!batch_outcome(c->batch, &over, &edited, err))
		return false;
	version_put(c->now);
	c->now =
		edited ? source_edited(c->source, r->where, over, edited, NULL) : version_get(over);
	anim_free(edited);
	c->is_stale = false;
	return true;
}

static bool copied_is_rendered(const struct reading_text *r)
{
	const struct tree tree = {r->as.base, where_label(r->where)};
	struct buf now = BUF_INIT;
	bool same = !tree_render(&tree, &r->as.place, &now) &&
		    bytes_equal(buf_bytes(&now), r->text->text);

	buf_release(&now);
	return same;
}

/* Parses a text; false if it is refused, or out of memory (text->err). */
static bool parse_text(struct reading_text *r)
{
	const struct tree tree = {r->as.base, where_label(r->where)};
	const struct shown at = tree_shown(&tree, &r->as.place);

	err_clear(&r->text->err);
	if (r->as.place.view->whole) {
		r->as.whole = source_decode(r->c->source, r->where, r->text->text, &r->text->err);
		return r->as.whole != NULL;
	}
	r->text->same = copied_is_rendered(r);
	if (r->text->same) {
		r->as.edited = r->as.base->anim;
		return true;
	}
	r->edited = r->as.place.view->parse(&at, r->text->text, &r->text->err);
	r->as.edited = r->edited;
	return r->edited != NULL;
}

/* Parses a text against the base or, if that fails, against the outcome of the earlier texts. */
static bool read_over(struct reading_text *r, struct err *err)
{
	const struct batch_text first = r->as;
	struct err why;

	if (r->as.base && parse_text(r))
		return true;
	why = r->text->err;
	if (why.code == ERR_MEMORY || !settle_texts(r, err))
		return err_memory(err);
	if (r->c->now && copied_find_place(r, r->c->now) && parse_text(r))
		return true;
	r->as = first;
	r->text->err = why;
	return true;
}

static bool copied_add_text(struct reading_text *r, struct err *err)
{
	struct buf copy = BUF_INIT;
	enum batch_effect effect;

	buf_add(&copy, r->text->text.data, r->text->text.size);
	r->as.path = r->path;
	r->as.text = text_new(&copy);
	effect = r->as.text ? batch_add(r->c->batch, &r->as, err) : BATCH_FAILED;
	text_put(r->as.text);
	r->text->fate =
		effect == BATCH_REFUSED || effect == BATCH_ANOTHER ? COPIED_REFUSED : COPIED_USED;
	r->c->is_stale |= !r->text->same && r->as.place.view->place != VIEW_OF_BONE;
	return effect != BATCH_FAILED || err_memory(err);
}

static bool copied_is_generated(const struct view *view)
{
	return !view->whole && !view->parse && !view->parse_skeleton;
}

static bool copied_read_text(struct copied *c, const struct where *where, size_t i, struct err *err)
{
	struct reading_text r = {.c = c, .where = where, .text = &c->texts[i]};
	bool fine = true;

	r.text->fate = COPIED_OTHER;
	r.as.draft = i + 1;
	r.as.number = c->number;
	if (!copied_find_place(&r, c->over)) {
		if (!settle_texts(&r, err))
			return false;
		if (!c->now || !copied_find_place(&r, c->now))
			return true;
	}
	if (r.as.place.view->parse_skeleton)
		r.text->fate = COPIED_SKELETON;
	else if (copied_is_generated(r.as.place.view) || !r.text->text.size)
		r.text->fate = COPIED_GENERATED;
	else
		fine = read_over(&r, err) && copied_add_text(&r, err);
	version_put(r.as.whole);
	anim_free(r.edited);
	return fine;
}

/* ---- all of them ---- */

/* Returns the rank of a text; texts are read in rising order. */
static unsigned rank(const char *path)
{
	static const char *const ends[] = {"file.json", "/clip.json", "frames.csv"};
	bool bone = strstr(path, "/bones/") != NULL;

	if (!strchr(path, '/') && strncmp(path, "raw.", 4) == 0)
		return 0;
	for (unsigned i = 0; i < ARRAY_SIZE(ends) && !bone; i++) {
		if (ends_with(path, ends[i]))
			return 1;
	}
	if (bone)
		return ends_with(path, ".csv") ? 5 : 4;
	return ends_with(path, "/curves.csv") ? 3 : 2;
}
#define RANKS 6

static bool copied_read_all(struct copied *c, const struct where *where, struct err *err)
{
	for (unsigned now = 0; now < RANKS; now++) {
		for (size_t i = 0; i < c->count; i++) {
			if (rank(c->texts[i].path) == now && !copied_read_text(c, where, i, err))
				return false;
		}
	}
	return true;
}

static void copied_find_fate(struct copied *c, struct copied_text *text)
{
	char path[PATH_MAX];

	place_path(c->over->anim, text->path, path);
	switch (batch_fate(c->batch, path)) {
	case BATCH_SAVE:
		text->fate = COPIED_USED;
		break;
	case BATCH_NOTHING:
		text->fate = COPIED_SILENT;
		break;
	case BATCH_REFUSED:
		text->fate = COPIED_REFUSED;
		if (!text->err.code)
			err_set(&text->err, ERR_CONFLICT,
				"it cannot be read together with other texts that were edited");
		break;
	default:
		break;
	}
	if (text->fate != COPIED_REFUSED)
		err_clear(&text->err);
}

bool copied_read(struct copied *c, struct err *err)
{
	struct where where = *c->where;
	char *stated = c->known ? NULL : stated_name(c);
	bool fine;

	c->over = find_base(c, &where, stated);
	if (copied_find_known(c))
		c->batch = batch_new(c->over, c->number, c->own ? c->own : c->known, 0,
				     where_label(&where));
	if (c->batch && c->origin)
		batch_set_origin(c->batch, c->origin);
	fine = c->batch && copied_read_all(c, &where, err);
	if (fine) {
		version_put(c->over);
		c->over = NULL;
		fine = batch_outcome(c->batch, &c->over, &c->edited, err);
		c->over = version_get(c->over);
	}
	for (size_t i = 0; fine && i < c->count; i++)
		copied_find_fate(c, &c->texts[i]);
	free(stated);
	return fine || err_memory(err);
}

struct version *copied_outcome(const struct copied *c, struct err *err)
{
	if (c->edited)
		return source_edited(c->source, c->where, c->over, c->edited, err);
	return version_get(c->over);
}

void copied_release(struct copied *c)
{
	anim_free(c->edited);
	batch_free(c->batch);
	version_put(c->now);
	version_put(c->over);
	digests_free(c->own);
}
