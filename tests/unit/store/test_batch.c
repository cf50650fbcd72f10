/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The result of the texts that one program saves, in every order: small sets of texts in all
 * orders, whole trees in a sample of orders. The expected result is given bone by bone, as the
 * texts of versions that were made without a batch.
 */
#include "sample.h"

#include "random.h"
#include "store/batch.h"
#include "store/statement.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define VERSIONS_MAX 12
#define TEXTS_MAX 160

/* ---- versions ---- */

static struct anim *edit_bone(const struct sample *s, uint32_t bone, double by)
{
	struct anim *edited = anim_edit(s->anim);
	struct track *track = anim_edit_track(edited, 0, bone);

	for (unsigned role = 0; role < ROLE_COUNT; role++) {
		const struct curve *was = track->curve[role];
		unsigned width = was ? curve_width(was) : 0;
		struct curve *now;
		double *values;

		if (!was || width == 4 || (track->keyframes && role != ROLE_TRANSLATION))
			continue;
		now = arena_alloc(&edited->arena, 1, sizeof(*now));
		values = arena_alloc(&edited->arena, was->count, width * sizeof(*values));
		*now = *was;
		now->stored = NULL;
		now->values = values;
		for (uint32_t i = 0; i < was->count; i++)
			for (unsigned axis = 0; axis < width; axis++)
				values[i * width + axis] = curve_value(was, i, axis) + by;
		track->curve[role] = now;
	}
	return edited;
}

static struct sample store(const struct sample *s, struct anim *edited)
{
	struct buf bytes = BUF_INIT;
	struct err err = {0};
	bool fine = s->codec->encode(edited, buf_bytes(&s->bytes), &bytes, &err);

	ck_assert_msg(fine, "%s: %s", s->name, err.message);
	anim_free(edited);
	return sample_decode(s->name, bytes);
}

/* Makes the version with another bone of the first clip moved. */
static struct sample with_bone(const struct sample *s, uint32_t bone, double by)
{
	return store(s, edit_bone(s, bone, by));
}

/*
 * Returns whether the format has a loop. For the fields of clip.json, tests edit the loop or, in a
 * format without one, another field.
 */
static bool has_loop(const struct sample *s)
{
	return s->anim->format->has_loop && s->anim->clips[0].field_count > 0;
}

static struct sample with_loop(const struct sample *s)
{
	struct shown at = sample_shown(s, 0, NULL);

	return store(s, view_edit_ok(&view_clip_json, &at, "\"loop\": true", "\"loop\": false"));
}

/* ---- texts ---- */

struct saved {
	char path[256];
	struct buf text;
	const struct view *view;
};

struct tree_of_texts {
	struct saved texts[TEXTS_MAX];
	size_t count;
};

static void path_of(char out[256], const struct sample *s, const struct view *view,
		    const struct shown *at)
{
	const struct clip *clip = s->anim->clip_count ? &s->anim->clips[at->clip] : NULL;
	char raw[NAME_MAX + 1];

	tree_raw_name(s->name, s->anim->format, raw);
	if (view->place == VIEW_OF_FILE)
		snprintf(out, 256, "%s", view->whole ? raw : view->file);
	else if (view->place == VIEW_OF_CLIP)
		snprintf(out, 256, "%s/%s", clip->label, view->file);
	else
		snprintf(out, 256, "%s/bones/%s%s", clip->label, clip->tracks[at->track].label,
			 view->file);
}

static void add_text(struct tree_of_texts *t, const struct sample *s, const struct view *view,
		     const struct shown *at)
{
	struct saved *saved = &t->texts[t->count++];

	ck_assert_uint_le(t->count, TEXTS_MAX);
	path_of(saved->path, s, view, at);
	saved->text = view_text(view, at);
	saved->view = view;
}

/*
 * Returns all texts of the first clip that a copy of the folder has. Stills are left out: saving
 * them has no effect.
 */
static struct tree_of_texts *texts_of(const struct sample *s)
{
	struct tree_of_texts *t = calloc(1, sizeof(*t));

	for (const struct view *const *v = views; *v; v++) {
		uint32_t places = (*v)->place == VIEW_OF_BONE ? s->anim->clips[0].track_count : 1;

		for (uint32_t i = 0; i < places && (*v)->place != VIEW_OF_FRAME; i++) {
			struct shown at = sample_shown(s, 0, NULL);

			at.track = i;
			if (strcmp((*v)->file, "skeleton.csv") != 0 &&
			    (!(*v)->present || (*v)->present(&at)) &&
			    (!(*v)->check || (*v)->check(&at) == 0))
				add_text(t, s, *v, &at);
		}
	}
	return t;
}

static void texts_free(struct tree_of_texts *t)
{
	for (size_t i = 0; i < t->count; i++)
		buf_release(&t->texts[i].text);
	free(t);
}

static struct saved *text_at(struct tree_of_texts *t, const char *path)
{
	for (size_t i = 0; i < t->count; i++) {
		if (strcmp(t->texts[i].path, path) == 0)
			return &t->texts[i];
	}
	ck_abort_msg("no %s", path);
	return NULL;
}

/* ---- a world: versions that are known, and a batch of texts ---- */

struct world {
	const char *name;
	struct sample v[VERSIONS_MAX]; /* versions made by hand */
	size_t count;
	struct buf known; /* the known versions, as digests_write stores them */
	uint32_t number;
	size_t start; /* index in `v` of the version that the batch starts from */
	view_set listed;
	const struct saved *texts[TEXTS_MAX];
	size_t text_count;
	struct sample now; /* the file as the texts saved so far make it */
	unsigned silent, saved, rewritten;
	bool others; /* another program moves `others_bone` before a random text */
	uint32_t others_bone;
};

static void world_begin(struct world *w, const char *name)
{
	*w = (struct world){.name = name, .listed = VIEW_SET_ALL};
	w->v[w->count++] = sample_open(name);
}

static void world_end(struct world *w)
{
	for (size_t i = 0; i < w->count; i++)
		sample_close(&w->v[i]);
	buf_release(&w->known);
}

static size_t add_version(struct world *w, struct sample s)
{
	ck_assert_uint_lt(w->count, VERSIONS_MAX);
	w->v[w->count] = s;
	return w->count++;
}

/* Makes versions known, in that order; the last is the current one when the batch begins. */
static void know(struct world *w, const size_t *order, size_t count)
{
	struct digests *d = digests_new();

	for (size_t i = 0; i < count; i++) {
		const struct sample *s = &w->v[order[i]];
		struct tree_of_texts *t = texts_of(s);

		w->number = digests_add(d, s->version, NULL);
		ck_assert_uint_ne(w->number, 0);
		/* A reader has copied these texts, so their digests are known. */
		for (size_t k = 0; k < t->count; k++)
			ck_assert(digests_note_text(d, t->texts[k].path,
						    buf_bytes(&t->texts[k].text), w->number));
		texts_free(t);
	}
	w->start = order[count - 1];
	buf_clear(&w->known);
	digests_write(d, &w->known);
	digests_free(d);
}
#define KNOW(w, ...)                                                                               \
	know(w, (const size_t[]){__VA_ARGS__},                                                     \
	     sizeof((const size_t[]){__VA_ARGS__}) / sizeof(size_t))

static struct buf copy_of(struct bytes bytes)
{
	struct buf copy = BUF_INIT;

	buf_add(&copy, bytes.data, bytes.size);
	ck_assert(!copy.failed);
	return copy;
}

struct running {
	struct world *w;
	struct digests *known;
	struct batch *batch;
	struct sample now;
	uint32_t number;
};

static void take(struct running *r, struct sample next)
{
	uint32_t number = digests_add(r->known, next.version, NULL);

	ck_assert_uint_ne(number, 0);
	sample_close(&r->now);
	r->now = next;
	r->number = number;
}

static void take_bytes(struct running *r, struct buf bytes)
{
	if (bytes_equal(buf_bytes(&bytes), buf_bytes(&r->now.bytes)))
		buf_release(&bytes);
	else
		take(r, sample_decode(r->w->name, bytes));
}

static struct buf encoded(const struct running *r, const struct version *over,
			  const struct anim *edited)
{
	struct buf bytes = BUF_INIT;
	struct err err = {0};

	ck_assert_msg(r->now.codec->encode(edited, buf_bytes(&over->bytes), &bytes, &err), "%s",
		      err.message);
	return bytes;
}

static void take_edit(struct running *r, const struct version *over, const struct anim *edited)
{
	take_bytes(r, encoded(r, over, edited));
}

static void rewrite(struct running *r)
{
	struct version *over;
	struct anim *edited;
	struct err err = {0};

	ck_assert_msg(batch_outcome(r->batch, &over, &edited, &err), "%s", err.message);
	if (edited)
		take_edit(r, over, edited);
	else
		take_bytes(r, copy_of(buf_bytes(&over->bytes)));
	anim_free(edited);
	batch_saved(r->batch, r->now.version, r->number);
}

static void begin_batch(struct running *r)
{
	batch_free(r->batch);
	r->batch = batch_new(r->now.version, r->number, r->known, r->w->listed, r->w->name);
	ck_assert_ptr_nonnull(r->batch);
}

/* Applies the text's own edit of its base to the current file. */
static void save_edit(struct running *r, const struct batch_text *text)
{
	const struct version *now = r->now.version;
	struct err err = {0};
	struct anim *merged =
		anim_merge(text->base->anim, text->edited, NULL, now->anim, NULL, &err);

	ck_assert_msg(merged != NULL, "%s: %s", text->path, err.message);
	take_edit(r, now, merged);
	anim_free(merged);
}

/*
 * Saves a whole file. It is not stored over a save that another program made since it was opened.
 */
static void save_whole(struct running *r, const struct batch_text *text)
{
	struct bytes now = buf_bytes(&r->now.bytes);

	ck_assert(bytes_equal(buf_bytes(&text->base->bytes), now) ||
		  bytes_equal(buf_bytes(&text->whole->bytes), now));
	take_bytes(r, copy_of(buf_bytes(&text->whole->bytes)));
}

/* The version that a text was opened with. */
struct opened {
	struct version *version;
	uint32_t number;
};

static struct opened open_now(const struct running *r)
{
	return (struct opened){r->now.version, r->number};
}

/* Saves a text in the way a save of the mount does. */
static void save_text(struct running *r, const struct saved *saved, struct opened opened)
{
	const struct tree tree = {opened.version, r->w->name};
	struct buf copy = copy_of(buf_bytes(&saved->text));
	struct batch_text text = {.path = saved->path,
				  .draft = (uint64_t)(uintptr_t)saved,
				  .base = opened.version,
				  .number = opened.number,
				  .since = opened.number,
				  .text = text_new(&copy)};
	struct sample whole = {0};
	struct anim *edited = NULL;
	struct err err = {0};
	struct shown at;

	/* The view of a bone that does not exist is an ordinary file. */
	if (!tree_walk(&tree, saved->path, &text.place)) {
		text_put(text.text);
		return;
	}
	at = tree_shown(&tree, &text.place);
	if (saved->view->whole) {
		whole = sample_decode(r->w->name, copy_of(buf_bytes(&saved->text)));
		text.whole = whole.version;
	} else if (saved->view->parse) {
		text.edited = edited = saved->view->parse(&at, buf_bytes(&saved->text), &err);
	}
	for (bool again = true; again;) {
		again = false;
		switch (batch_add(r->batch, &text, &err)) {
		case BATCH_SAVE:
			r->w->saved++;
			if (whole.version)
				save_whole(r, &text);
			else
				save_edit(r, &text);
			batch_saved(r->batch, r->now.version, r->number);
			break;
		case BATCH_NOTHING:
			r->w->silent++;
			break;
		case BATCH_REWRITE:
			r->w->rewritten++;
			rewrite(r);
			break;
		case BATCH_ANOTHER:
			begin_batch(r);
			again = true;
			break;
		case BATCH_REFUSED:
			break;
		case BATCH_FAILED:
			ck_abort_msg("%s", err.message);
		}
	}
	anim_free(edited);
	text_put(text.text);
	if (whole.version)
		sample_close(&whole);
}

static void begin(struct running *r, struct world *w)
{
	*r = (struct running){.w = w, .known = digests_read(buf_bytes(&w->known))};
	ck_assert_ptr_nonnull(r->known);
	r->now = sample_decode(w->name, copy_of(buf_bytes(&w->v[w->start].bytes)));
	r->number = w->number;
	begin_batch(r);
}

static void end(struct running *r)
{
	batch_free(r->batch);
	digests_free(r->known);
	sample_close(&r->now);
}

/* ---- expected results ---- */

struct expected {
	size_t bone[3];             /* for each bone, the version whose value it has */
	size_t clip;                /* the version whose clip fields the clip has */
	const struct sample *whole; /* the version that the file equals byte for byte; or NULL */
};

/*
 * Returns whether two texts have the same words, and numbers that are equal up to the grid. Edits
 * change numbers by more.
 */
static bool is_near(const char *a, const char *b)
{
	while (*a && *b) {
		char *a_end, *b_end;
		double x = strtod(a, &a_end), y = strtod(b, &b_end);

		if (a_end != a && b_end != b && *a != '-' && fabs(x - y) < 0.01) {
			a = a_end;
			b = b_end;
		} else if (*a++ != *b++) {
			return false;
		}
	}
	return *a == *b;
}

static void check_view(const struct sample *is, const struct sample *as, const struct view *view,
		       uint32_t bone, const char *about)
{
	struct shown at = sample_shown(is, 0, NULL), other = sample_shown(as, 0, NULL);
	struct buf a, b;

	at.track = other.track = bone;
	a = view_text(view, &at);
	b = view_text(view, &other);
	ck_assert_msg(is_near((const char *)a.data, (const char *)b.data), "%s\n%s\nand not\n%s",
		      about, (const char *)a.data, (const char *)b.data);
	buf_release(&a);
	buf_release(&b);
}

static void check(const struct world *w, const struct sample *now, const struct expected *e,
		  const uint32_t bones[3], const char *about)
{
	for (size_t i = 0; i < 3; i++)
		check_view(now, &w->v[e->bone[i]], &view_bone_csv, bones[i], about);
	check_view(now, &w->v[e->clip], &view_clip_json, 0, about);
	if (e->whole)
		ck_assert_msg(bytes_equal(buf_bytes(&now->bytes), buf_bytes(&e->whole->bytes)),
			      "%s: not to the byte", about);
}

static void describe(char out[4096], const struct world *w, const char *what)
{
	size_t size = (size_t)snprintf(out, 4096, "%s, %s:", w->name, what);

	for (size_t i = 0; i < w->text_count && size < 4000; i++)
		size += (size_t)snprintf(out + size, 4096 - size, " %s", w->texts[i]->path);
}

/* Moves a bone as another program does. */
static void save_of_other(struct running *r)
{
	struct anim *ground;
	struct sample moved;

	take(r, with_bone(&r->now, r->w->others_bone, 1));
	ck_assert(batch_follow(r->batch, r->now.version, r->number, &ground));
	moved = sample_decode(r->w->name, encoded(r, batch_ground(r->batch), ground));
	batch_set_ground(r->batch, moved.version);
	anim_free(ground);
	sample_close(&moved);
}

static void run(struct world *w, const struct expected *e, const uint32_t bones[3],
		const char *what)
{
	size_t others = w->others ? below((uint32_t)w->text_count) : w->text_count;
	bool is_open = below(2); /* whether the text is open when another program saves */
	struct running r;
	char about[4096];

	begin(&r, w);
	for (size_t i = 0; i < w->text_count; i++) {
		struct opened opened = open_now(&r);
		struct version *kept = version_get(opened.version);

		if (i == others)
			save_of_other(&r);
		save_text(&r, w->texts[i], i == others && is_open ? opened : open_now(&r));
		version_put(kept);
	}
	describe(about, w, what);
	check(w, &r.now, e, bones, about);
	end(&r);
}

/* ---- orders ---- */

static void swap(struct world *w, size_t a, size_t b)
{
	const struct saved *text = w->texts[a];

	w->texts[a] = w->texts[b];
	w->texts[b] = text;
}

static void all_orders(struct world *w, size_t from, const struct expected *e,
		       const uint32_t bones[3], const char *what)
{
	if (from >= w->text_count)
		run(w, e, bones, what);
	for (size_t i = from; i < w->text_count; i++) {
		swap(w, from, i);
		all_orders(w, from + 1, e, bones, what);
		swap(w, from, i);
	}
}

static unsigned samples; /* number of orders that are tried for a whole tree */

static void in_every_order(struct world *w, const struct expected *e, const uint32_t bones[3],
			   const char *what)
{
	if (w->text_count <= 5) {
		all_orders(w, 0, e, bones, what);
		return;
	}
	for (unsigned i = 0; i < samples; i++) {
		for (size_t k = w->text_count; i > 0 && k > 1; k--)
			swap(w, k - 1, below((uint32_t)k));
		run(w, e, bones, what);
	}
}

/* ---- batches ---- */

static void use(struct world *w, struct saved *text)
{
	w->texts[w->text_count++] = text;
}

static void use_all(struct world *w, struct tree_of_texts *t)
{
	for (size_t i = 0; i < t->count; i++)
		use(w, &t->texts[i]);
}

/* Uses the text of another tree in place of the text with this path. */
static void use_instead(struct world *w, struct tree_of_texts *t, const char *path)
{
	for (size_t i = 0; i < w->text_count; i++) {
		if (strcmp(w->texts[i]->path, path) == 0) {
			w->texts[i] = text_at(t, path);
			return;
		}
	}
	ck_abort_msg("no %s", path);
}

/* Keeps only the texts that differ from those of the tree `there`. */
static void leave_equal(struct world *w, struct tree_of_texts *there)
{
	size_t count = 0;

	for (size_t i = 0; i < w->text_count; i++) {
		const struct saved *is = text_at(there, w->texts[i]->path);

		if (!bytes_equal(buf_bytes(&is->text), buf_bytes(&w->texts[i]->text)))
			w->texts[count++] = w->texts[i];
	}
	w->text_count = count;
}

static bool is_bone_view(const struct saved *s, const char *suffixes)
{
	const char *own = strrchr(s->path, '.');

	return s->view->place == VIEW_OF_BONE && strstr(suffixes, own) != NULL;
}

struct habit {
	const char *name; /* name of the sample */
	uint32_t bones[3];
	char path[3][256]; /* paths of the bones' CSV */
	char json[3][256];
	struct world w;
	/*
	 * Trees of texts. 0: the sample. 1: bone 0 moved. 2: bones 0 and 2 moved. 3: bone 0 moved
	 * to another place. 4: bone 1 moved. 5: another loop. 6: bones 0 and 1 moved.
	 */
	struct tree_of_texts *t[VERSIONS_MAX];
};

static void habit_begin(struct habit *h, const char *name, uint32_t a, uint32_t b, uint32_t c)
{
	struct world *w = &h->w;

	*h = (struct habit){.name = name, .bones = {a, b, c}};
	world_begin(w, name);
	add_version(w, with_bone(&w->v[0], a, 1));
	add_version(w, with_bone(&w->v[1], c, 1));
	add_version(w, with_bone(&w->v[0], a, 2));
	add_version(w, with_bone(&w->v[0], b, 1));
	add_version(w, has_loop(&w->v[0]) ? with_loop(&w->v[0]) : with_bone(&w->v[0], a, 3));
	add_version(w, with_bone(&w->v[1], b, 1));
	for (size_t i = 0; i < w->count; i++)
		h->t[i] = texts_of(&w->v[i]);
	for (size_t i = 0; i < 3; i++) {
		struct shown at = sample_shown(&w->v[0], 0, NULL);

		at.track = h->bones[i];
		path_of(h->path[i], &w->v[0], &view_bone_csv, &at);
		path_of(h->json[i], &w->v[0], &view_bone_json, &at);
	}
}

static void habit_end(struct habit *h)
{
	for (size_t i = 0; i < h->w.count; i++)
		texts_free(h->t[i]);
	world_end(&h->w);
}

/* Begins a batch that saves all texts of a version. */
static void begin_tree(struct habit *h, size_t version)
{
	h->w.text_count = 0;
	h->w.listed = VIEW_SET_ALL;
	use_all(&h->w, h->t[version]);
}

#define EXPECT(h, what, ...)                                                                       \
	in_every_order(&(h)->w, &(const struct expected){__VA_ARGS__}, (h)->bones, what)

static void copies_back(struct habit *h)
{
	KNOW(&h->w, 0);
	begin_tree(h, 0);
	EXPECT(h, "the same copy", {0, 0, 0}, 0, &h->w.v[0]);
	use_instead(&h->w, h->t[1], h->path[0]);
	EXPECT(h, "one text edited", {1, 0, 0}, 0, NULL);
	KNOW(&h->w, 0, 1);
	EXPECT(h, "the same copy again", {1, 0, 0}, 0, &h->w.v[1]);
	use_instead(&h->w, h->t[4], h->path[1]);
	EXPECT(h, "then another bone", {1, 4, 0}, 0, NULL);
	begin_tree(h, 0);
	use_instead(&h->w, h->t[3], h->path[0]);
	EXPECT(h, "then another value", {3, 0, 0}, 0, NULL);
	KNOW(&h->w, 0, 1, 2);
	EXPECT(h, "another program's edit in between", {3, 0, 2}, 0, NULL);
	begin_tree(h, 0);
	use_instead(&h->w, h->t[1], h->path[0]);
	EXPECT(h, "the same copy, another's edit in between", {1, 0, 2}, 0, &h->w.v[2]);
	KNOW(&h->w, 0, 1);
	begin_tree(h, 1);
	use_instead(&h->w, h->t[4], h->path[1]);
	EXPECT(h, "saved, copied out, another edited", {1, 4, 0}, 0, NULL);
	begin_tree(h, 1);
	use_instead(&h->w, h->t[0], h->path[0]);
	EXPECT(h, "one text set back", {0, 0, 0}, 0, NULL);
}

static void older_trees(struct habit *h)
{
	KNOW(&h->w, 0, 1, 2);
	begin_tree(h, 0);
	EXPECT(h, "backup", {0, 0, 0}, 0, &h->w.v[0]);
	leave_equal(&h->w, h->t[2]);
	EXPECT(h, "checkout", {0, 0, 0}, 0, &h->w.v[0]);
	KNOW(&h->w, 2);
	EXPECT(h, "checkout of what was never seen", {0, 0, 0}, 0, &h->w.v[0]);
	begin_tree(h, 0);
	EXPECT(h, "backup of what was never seen", {0, 0, 0}, 0, &h->w.v[0]);
	KNOW(&h->w, 0, 2);
	begin_tree(h, 6);
	leave_equal(&h->w, h->t[2]);
	EXPECT(h, "bisect", {6, 6, 0}, 0, &h->w.v[6]);
}

static bool has_generated(const struct world *w)
{
	for (size_t i = 0; i < w->text_count; i++) {
		if (!w->texts[i]->view->whole && !w->texts[i]->view->parse)
			return true;
	}
	return false;
}

static void rsyncs(struct habit *h)
{
	KNOW(&h->w, 0, 1);
	begin_tree(h, 0);
	use_instead(&h->w, h->t[1], h->path[0]);
	leave_equal(&h->w, h->t[1]);
	EXPECT(h, "rsync again", {1, 0, 0}, 0, &h->w.v[1]);
	h->w.text_count = 0;
	(void)view_set_parse("csv,json,svg", &h->w.listed, &(struct err){0});
	for (size_t i = 0; i < h->t[0]->count; i++)
		if (is_bone_view(&h->t[0]->texts[i], ".json.svg"))
			use(&h->w, &h->t[0]->texts[i]);
	leave_equal(&h->w, h->t[1]);
	if (has_generated(&h->w))
		EXPECT(h, "rsync again, of few views", {1, 0, 0}, 0, &h->w.v[1]);
}

/* Saves few texts, in every order. */
static void few_texts(struct habit *h)
{
	struct world *w = &h->w;

	KNOW(w, 0, 1);
	w->listed = VIEW_SET_ALL;
	w->text_count = 0;
	use(w, text_at(h->t[3], h->path[0]));
	use(w, text_at(h->t[1], h->json[0]));
	EXPECT(h, "CSV new, JSON as it is", {3, 0, 0}, 0, NULL);
	w->texts[1] = text_at(h->t[0], h->json[0]);
	EXPECT(h, "CSV new, JSON old", {3, 0, 0}, 0, NULL);
	w->text_count = 0;
	use(w, text_at(h->t[4], h->path[1]));
	use(w, text_at(h->t[0], h->path[0]));
	EXPECT(h, "merged and fast-forwarded", {0, 4, 0}, 0, NULL);
	use(w, text_at(h->t[1], h->path[2]));
	EXPECT(h, "save all, one undone", {0, 4, 0}, 0, NULL);
	if (!has_loop(&w->v[0]))
		return;
	w->text_count = 0;
	use(w, text_at(h->t[3], h->path[0]));
	use(w, text_at(h->t[5], "walk/clip.json"));
	EXPECT(h, "a value and the loop", {3, 0, 0}, 5, NULL);
	KNOW(w, 5, 0);
	EXPECT(h, "a value, and the loop set back", {3, 0, 0}, 5, NULL);
	begin_tree(h, 0);
	use_instead(w, h->t[3], h->path[0]);
	use_instead(w, h->t[5], "walk/clip.json");
	EXPECT(h, "a working copy with both", {3, 0, 0}, 5, NULL);
}

/* Saves in an order that matters. */
static void scripts(struct habit *h)
{
	struct expected old = {{0, 0, 0}, 0, NULL}, new = {{3, 0, 0}, 0, NULL};
	struct world *w = &h->w;
	char curves[256], raw[256];

	snprintf(curves, sizeof(curves), "%s/curves.csv", w->v[0].anim->clips[0].label);
	tree_raw_name(h->name, w->v[0].anim->format, raw);
	KNOW(w, 0, 1);
	w->listed = VIEW_SET_ALL;
	for (int i = 0; i < 2; i++) {
		w->text_count = 0;
		use(w, text_at(h->t[3], h->path[0]));
		use(w, text_at(h->t[0], i ? curves : raw));
		run(w, &old, h->bones, "an edit, then an older whole");
		swap(w, 0, 1);
		run(w, &new, h->bones, "an older whole, then an edit");
	}
	w->text_count = 0;
	use(w, text_at(h->t[3], h->path[0]));
	use(w, text_at(h->t[1], h->path[0]));
	use(w, text_at(h->t[0], h->path[0]));
	run(w, &old, h->bones, "save, undo, save of one view");
	swap(w, 0, 2);
	run(w, &new, h->bones, "save, undo, save of one view");
}

/* Checks that a save of another program, at any moment, is kept. */
static void others_between(struct habit *h)
{
	struct world *w = &h->w;

	w->others = true;
	w->others_bone = h->bones[2];
	KNOW(w, 0);
	begin_tree(h, 0);
	use_instead(w, h->t[1], h->path[0]);
	EXPECT(h, "one text edited, another program", {1, 0, 2}, 0, NULL);
	KNOW(w, 0, 1);
	use_instead(w, h->t[4], h->path[1]);
	EXPECT(h, "another text edited, another program", {1, 4, 2}, 0, NULL);
	w->text_count = 0;
	use(w, text_at(h->t[3], h->path[0]));
	use(w, text_at(h->t[0], h->json[0]));
	use(w, text_at(h->t[4], h->path[1]));
	EXPECT(h, "few texts, another program", {3, 4, 2}, 0, NULL);
	w->others = false;
}

static void all_habits(const char *name, uint32_t a, uint32_t b, uint32_t c)
{
	struct habit h;

	habit_begin(&h, name, a, b, c);
	few_texts(&h);
	scripts(&h);
	copies_back(&h);
	older_trees(&h);
	rsyncs(&h);
	others_between(&h);
	habit_end(&h);
}

START_TEST(habits_of_canm)
{
	samples = 100;
	all_habits("wiki512.canm", 1, 2, 0);
}
END_TEST

START_TEST(habits_of_cas)
{
	samples = 60;
	all_habits("v203.cas", 1, 2, 0);
}
END_TEST

START_TEST(habits_of_owanim)
{
	samples = 60;
	all_habits("small.006", 0, 1, 2);
}
END_TEST

START_TEST(habits_of_ff9anim)
{
	samples = 60;
	all_habits("bones024.ff9anim", 0, 1, 2);
}
END_TEST

START_TEST(habits_of_ribbon)
{
	samples = 60;
	all_habits("frames030.anm", 0, 1, 2);
}
END_TEST

START_TEST(trees_in_2000_orders)
{
	struct habit h;

	samples = 2000;
	habit_begin(&h, "wiki512.canm", 1, 2, 0);
	KNOW(&h.w, 0, 1);
	begin_tree(&h, 0);
	use_instead(&h.w, h.t[1], h.path[0]);
	use_instead(&h.w, h.t[4], h.path[1]);
	EXPECT(&h, "another bone edited", {1, 4, 0}, 0, NULL);
	KNOW(&h.w, 0, 1, 2);
	begin_tree(&h, 0);
	EXPECT(&h, "backup", {0, 0, 0}, 0, &h.w.v[0]);
	habit_end(&h);
}
END_TEST

/* ---- other clips and bones ---- */

/* Saves texts of a version whose structure differs: other frames, or fewer bones. */
static void tree_over(struct habit *h, size_t version, size_t there, const char *about)
{
	struct world *w = &h->w;

	KNOW(w, version, there);
	begin_tree(h, version);
	for (unsigned i = 0; i < samples; i++) {
		struct running r;
		char order[4096];

		for (size_t k = w->text_count; k > 1; k--)
			swap(w, k - 1, below((uint32_t)k));
		begin(&r, w);
		for (size_t k = 0; k < w->text_count; k++)
			save_text(&r, w->texts[k], open_now(&r));
		describe(order, w, about);
		ck_assert_msg(bytes_equal(buf_bytes(&r.now.bytes), buf_bytes(&w->v[version].bytes)),
			      "%s", order);
		end(&r);
	}
}

static void other_structure(const char *name, const char *was, const char *is)
{
	struct habit h;
	struct world *w = &h.w;
	struct shown at;
	size_t other;

	habit_begin(&h, name, 1, 2, 0);
	at = sample_shown(&w->v[0], 0, NULL);
	other = add_version(w, store(&w->v[0], view_edit_ok(&view_clip_json, &at, was, is)));
	h.t[other] = texts_of(&w->v[other]);
	tree_over(&h, other, 0, was);
	tree_over(&h, 0, other, is);
	habit_end(&h);
}

START_TEST(trees_of_other_structure)
{
	samples = 200;
	other_structure("wiki512.canm", "\"frames\": 3", "\"frames\": 5");
	other_structure("wiki512.canm", "\"frames\": 3", "\"frames\": 2");
	other_structure("wiki512.canm", ",\n    {\"bone\": \"hip\", \"name\": \"hip\"}", "");
}
END_TEST

/* ---- single saves ---- */

static size_t count_silent(struct batch *b)
{
	struct batch_silent silent;
	size_t count = 0;

	while (batch_next_silent(b, &silent))
		count++;
	return count;
}

/* Returns whether the view shows the text already, up to the grid. */
static bool is_shown(const struct sample *s, const struct saved *text)
{
	struct tree_of_texts *t = texts_of(s);
	bool is = is_near((const char *)text_at(t, text->path)->text.data,
			  (const char *)text->text.data);

	texts_free(t);
	return is;
}

/* A process that changes a value by one view after the other makes the same requests as a copy. */
START_TEST(toggled_by_several_views)
{
	size_t silent = 0;
	struct habit h;
	struct running r;

	habit_begin(&h, "wiki512.canm", 1, 2, 0);
	KNOW(&h.w, 0);
	begin(&r, &h.w);
	for (size_t i = 0; i < 600; i++) {
		const char *const paths[] = {h.path[0], h.json[0], "walk/curves.csv"};
		struct saved *text = text_at(h.t[i % 2 ? 0 : 1], paths[i % 3]);
		bool is_there = is_shown(&r.now, text);
		uint32_t number = r.number;
		size_t lines;

		save_text(&r, text, open_now(&r));
		lines = count_silent(r.batch);
		silent += lines;
		ck_assert(is_there || number != r.number || lines);
	}
	ck_assert_uint_gt(silent, 0);
	end(&r);
	/* If each text is saved by a process of its own, none is lost. */
	begin(&r, &h.w);
	for (size_t i = 0; i < 600; i++) {
		const char *const paths[] = {h.path[0], h.json[0], "walk/curves.csv"};
		uint32_t number = r.number;

		begin_batch(&r);
		save_text(&r, text_at(h.t[i % 2 ? 0 : 1], paths[i % 3]), open_now(&r));
		ck_assert_uint_ne(number, r.number);
	}
	end(&r);
	habit_end(&h);
}
END_TEST

START_TEST(silent_texts_are_named)
{
	struct batch_silent silent;
	struct running r;
	struct habit h;

	habit_begin(&h, "wiki512.canm", 1, 2, 0);
	KNOW(&h.w, 0, 1);
	begin(&r, &h.w);
	save_text(&r, text_at(h.t[0], "walk/curves.csv"), open_now(&r));
	ck_assert(!batch_next_silent(r.batch, &silent));
	save_text(&r, text_at(h.t[4], h.path[1]), open_now(&r));
	ck_assert(!batch_next_silent(r.batch, &silent));
	save_text(&r, text_at(h.t[0], h.json[1]), open_now(&r));
	/* Two texts are now of the first version: it is the origin, and bone 0 is as before. */
	ck_assert(batch_next_silent(r.batch, &silent));
	ck_assert_str_eq(silent.path, "walk/curves.csv");
	ck_assert_str_eq(silent.clip, "walk");
	ck_assert_uint_gt(silent.since, 2);
	ck_assert(batch_next_silent(r.batch, &silent));
	ck_assert_str_eq(silent.path, h.json[1]);
	ck_assert_str_eq(silent.bone, "hip");
	ck_assert(!batch_next_silent(r.batch, &silent));
	end(&r);
	habit_end(&h);
}
END_TEST

/* Saves a text in pieces, which counts as one save of the whole. */
static enum batch_effect add_csv(struct running *r, const struct saved *saved, struct opened opened)
{
	const struct tree tree = {opened.version, r->w->name};
	struct buf copy = copy_of(buf_bytes(&saved->text));
	struct batch_text text = {.path = saved->path,
				  .draft = 1,
				  .base = opened.version,
				  .number = opened.number,
				  .since = opened.number,
				  .text = text_new(&copy)};
	enum batch_effect effect;
	struct anim *edited;
	struct err err = {0};
	struct shown at;

	ck_assert(tree_walk(&tree, saved->path, &text.place));
	at = tree_shown(&tree, &text.place);
	text.edited = edited = saved->view->parse(&at, buf_bytes(&saved->text), &err);
	effect = batch_add(r->batch, &text, &err);
	anim_free(edited);
	text_put(text.text);
	return effect;
}

/* Another program moves the bone while the text of bone 0 is open. */
START_TEST(values_that_others_changed)
{
	struct batch_silent silent;
	struct opened opened;
	struct running r;
	struct habit h;

	habit_begin(&h, "wiki512.canm", 1, 2, 0);
	KNOW(&h.w, 0, 1);
	h.w.others_bone = h.bones[0];
	for (unsigned is_new = 0; is_new < 2; is_new++) {
		struct sample moved = with_bone(&h.w.v[0], h.bones[0], is_new ? 5 : 0);
		struct tree_of_texts *t = texts_of(&moved);
		struct version *kept;

		begin(&r, &h.w);
		opened = open_now(&r);
		kept = version_get(opened.version);
		save_of_other(&r);
		if (is_new) {
			/* Saved by the draft's own edit, the text is refused. */
			ck_assert_int_eq(add_csv(&r, text_at(t, h.path[0]), opened), BATCH_SAVE);
			ck_assert(batch_conflicts(r.batch));
		} else {
			ck_assert_int_eq(add_csv(&r, text_at(t, h.path[0]), opened), BATCH_REWRITE);
			ck_assert(!batch_conflicts(r.batch));
			rewrite(&r);
			ck_assert(batch_next_silent(r.batch, &silent));
			ck_assert_str_eq(silent.path, h.path[0]);
			ck_assert(silent.in_part);
			ck_assert(!batch_next_silent(r.batch, &silent));
			ck_assert(!batch_next_counting(r.batch));
			check_view(&r.now, &h.w.v[3], &view_bone_csv, h.bones[0], "others' value");
		}
		version_put(kept);
		end(&r);
		texts_free(t);
		sample_close(&moved);
	}
	habit_end(&h);
}
END_TEST

START_TEST(pieces_of_a_text)
{
	struct saved piece;
	struct running r;
	struct habit h;

	habit_begin(&h, "wiki512.canm", 1, 2, 0);
	KNOW(&h.w, 0);
	begin(&r, &h.w);
	piece = *text_at(h.t[3], h.path[0]);
	save_text(&r, text_at(h.t[0], h.json[0]), open_now(&r));
	save_text(&r, &piece, open_now(&r));
	piece = *text_at(h.t[0], h.path[0]);
	/* The draft's last save agrees with the other text. */
	save_text(&r, &piece, open_now(&r));
	check_view(&r.now, &h.w.v[0], &view_bone_csv, 1, "first piece");
	ck_assert_uint_eq(count_silent(r.batch), 0);
	end(&r);
	habit_end(&h);
}
END_TEST

/* ---- random batches, against the rules read literally ---- */

/*
 * A model for the rules: three bones, each moved or not. A text has a number for each bone, or
 * nothing.
 */
#define PLACES 3
#define VALUES 3
#define MODELS 27
#define SILENT (-1)

struct abstract {
	int says[PLACES];
	bool whole; /* the text has more than these numbers, unlike any other text */
	int view; /* number of the view, from 0 to 7; views 2 * p and 2 * p + 1 show only bone p */
};

/* Views that are listed and were not saved, in a batch that has a generated text. */
struct abstract_unsaved {
	bool view[8];
};

/* The state of each bone afterwards. */
struct abstract_outcome {
	int is[PLACES];
};

static bool abstract_is(const struct abstract *t, int model)
{
	int values[PLACES] = {model % 3, model / 3 % 3, model / 9};
	bool same = true;

	for (int p = 0; p < PLACES; p++)
		same = same && (t->says[p] == SILENT || t->says[p] == values[p]);
	return same;
}

static bool abstract_contradict(const struct abstract *a, const struct abstract *b)
{
	bool contradict = false;

	for (int p = 0; p < PLACES; p++)
		contradict |=
			a->says[p] != SILENT && b->says[p] != SILENT && a->says[p] != b->says[p];
	return contradict;
}

/* Returns whether `a` has nothing that `b` does not have. */
static bool abstract_within(const struct abstract *a, const struct abstract *b)
{
	bool within = !a->whole;

	for (int p = 0; p < PLACES; p++)
		within &= a->says[p] == SILENT || b->says[p] != SILENT;
	return within;
}

static bool abstract_is_old(const struct abstract *t, const int *known, size_t known_count)
{
	bool old = false;

	for (size_t i = 0; i < known_count; i++)
		old |= abstract_is(t, known[i]);
	return old;
}

static void abstract_apply(struct abstract_outcome *o, const struct abstract *t,
			   const struct abstract *origin)
{
	for (int p = 0; p < PLACES; p++)
		if (t->says[p] != SILENT && !(origin && origin->says[p] == t->says[p]))
			o->is[p] = t->says[p];
}

static struct abstract abstract_text(int view, int model)
{
	int values[PLACES] = {model % 3, model / 3 % 3, model / 9};
	struct abstract t = {.whole = view == 7, .view = view};

	for (int p = 0; p < PLACES; p++)
		t.says[p] = view >= 6 || view / 2 == p ? values[p] : SILENT;
	return t;
}

/*
 * Computes the expected outcome. `known` are models, the oldest first; the last one is current at
 * the start.
 */
static struct abstract_outcome abstract_rules(const struct abstract *t, size_t count,
					      const int *known, size_t known_count,
					      const struct abstract_unsaved *unsaved)
{
	int start = known[known_count - 1], most = 1, origin = -1;
	struct abstract_outcome o = {{start % 3, start / 3 % 3, start / 9}};
	struct abstract of_origin;
	bool agree = true;

	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; k < i; k++)
			agree = agree && !abstract_contradict(&t[i], &t[k]);
	for (size_t i = 0; i < count; i++)
		for (int view = 0; view < 8; view++) {
			struct abstract other = abstract_text(view, start);

			agree = agree &&
				!(unsaved->view[view] && abstract_contradict(&t[i], &other));
		}
	for (size_t v = known_count; v-- > 0;) {
		int equal = 0;

		for (size_t i = 0; i < count; i++)
			equal += abstract_is(&t[i], known[v]);
		if (equal > most) {
			most = equal;
			origin = known[v];
		}
	}
	of_origin = abstract_text(7, origin);
	for (size_t i = 0; i < count; i++) {
		struct abstract other = abstract_text(t[i].view ^ 1, start);
		bool twin = t[i].view < 6 && unsaved->view[t[i].view ^ 1] &&
			    abstract_contradict(&t[i], &other) &&
			    abstract_is_old(&t[i], known, known_count);

		for (size_t k = 0; k < count; k++)
			twin |= abstract_is_old(&t[i], known, known_count) &&
				!abstract_is_old(&t[k], known, known_count) &&
				abstract_contradict(&t[i], &t[k]) && abstract_within(&t[i], &t[k]);
		if (agree)
			abstract_apply(&o, &t[i], NULL);
		else if (origin >= 0 && !abstract_is(&t[i], origin))
			abstract_apply(&o, &t[i], &of_origin);
		else if (origin < 0 && !twin)
			abstract_apply(&o, &t[i], NULL);
	}
	return o;
}

/* The model of the rules, with real files. */
struct grid {
	struct world w;
	uint32_t bones[PLACES];
	struct sample models[MODELS];
	struct tree_of_texts *t[MODELS];
	char paths[8][256]; /* paths of CSV and JSON of each bone, of curves.csv, and of raw.* */
};

static void grid_begin(struct grid *g, const char *name, uint32_t a, uint32_t b, uint32_t c)
{
	*g = (struct grid){.bones = {a, b, c}};
	world_begin(&g->w, name);
	for (int m = 0; m < MODELS; m++) {
		int values[PLACES] = {m % 3, m / 3 % 3, m / 9};

		g->models[m] = sample_open(name);
		for (int p = 0; p < PLACES; p++) {
			struct sample next = with_bone(&g->models[m], g->bones[p], values[p]);

			sample_close(&g->models[m]);
			g->models[m] = next;
		}
		g->t[m] = texts_of(&g->models[m]);
	}
	for (int p = 0; p < PLACES; p++) {
		struct shown at = sample_shown(&g->models[0], 0, NULL);

		at.track = g->bones[p];
		path_of(g->paths[2 * p], &g->models[0], &view_bone_csv, &at);
		path_of(g->paths[2 * p + 1], &g->models[0], &view_bone_json, &at);
	}
	snprintf(g->paths[6], sizeof(g->paths[6]), "%s/curves.csv",
		 g->models[0].anim->clips[0].label);
	tree_raw_name(name, g->models[0].anim->format, g->paths[7]);
}

static void grid_end(struct grid *g)
{
	for (int m = 0; m < MODELS; m++) {
		texts_free(g->t[m]);
		sample_close(&g->models[m]);
	}
	world_end(&g->w);
}

static void grid_know(struct grid *g, const int *known, size_t count)
{
	struct digests *d = digests_new();

	for (size_t i = 0; i < count; i++)
		g->w.number = digests_add(d, g->models[known[i]].version, NULL);
	buf_clear(&g->w.known);
	digests_write(d, &g->w.known);
	digests_free(d);
	/* begin() takes the bytes of the first version */
	sample_close(&g->w.v[0]);
	g->w.v[0] =
		sample_decode(g->w.name, copy_of(buf_bytes(&g->models[known[count - 1]].bytes)));
	g->w.start = 0;
}

static void grid_check(struct grid *g, const struct sample *now, const struct abstract_outcome *o,
		       const char *about)
{
	for (int p = 0; p < PLACES; p++) {
		const int factor[PLACES] = {1, 3, 9};

		check_view(now, &g->models[o->is[p] * factor[p]], &view_bone_csv, g->bones[p],
			   about);
	}
}

/* Inserts a generated text at a random place. */
static void use_generated(struct grid *g, int model)
{
	for (size_t i = 0; i < g->t[model]->count; i++) {
		if (strcmp(g->t[model]->texts[i].view->file, "clip.svg") != 0)
			continue;
		use(&g->w, &g->t[model]->texts[i]);
		swap(&g->w, g->w.text_count - 1, below((uint32_t)g->w.text_count));
		/* The texts after it keep their order. */
		for (size_t k = g->w.text_count; k-- > 1;) {
			if (strcmp(g->w.texts[k - 1]->view->file, "clip.svg") == 0)
				break;
			swap(&g->w, k, k - 1);
		}
	}
}

static void random_batch(struct grid *g)
{
	struct abstract_unsaved unsaved = {{false}};
	bool generated = below(2), few = below(2), taken[8] = {false};
	size_t known_count = 1 + below(4), count = 1 + below(6), used = 0;
	struct abstract says[8];
	struct abstract_outcome o;
	struct running r;
	int known[4];
	char about[2048] = "";

	for (size_t i = 0; i < known_count; i++) {
		do {
			known[i] = (int)below(MODELS);
		} while (i > 0 && known[i] == known[i - 1]);
		snprintf(about + strlen(about), 100, "known %d; ", known[i]);
	}
	grid_know(g, known, known_count);
	(void)view_set_parse(few ? "csv,json,svg" : "raw,csv,json,curves,svg", &g->w.listed,
			     &(struct err){0});
	g->w.text_count = 0;
	while (used < count) {
		int view = (int)below(8);
		/* Most texts are old ones, which this test is about. */
		int model = below(3) ? known[below((uint32_t)known_count)] : (int)below(MODELS);

		if (taken[view])
			continue;
		taken[view] = true;
		says[used++] = abstract_text(view, model);
		use(&g->w, text_at(g->t[model], g->paths[view]));
		snprintf(about + strlen(about), 300, "%s of %d; ", g->paths[view], model);
	}
	if (generated)
		use_generated(g, known[0]);
	for (int view = 0; view < 8; view++)
		/* raw.* is outside of the clip's folder, which has all other texts. */
		unsaved.view[view] = generated && !taken[view] && !(few && view >= 6) && view != 7;
	snprintf(about + strlen(about), 100, "%s, %s", generated ? "generated" : "-",
		 few ? "few" : "all");
	o = abstract_rules(says, count, known, known_count, &unsaved);
	begin(&r, &g->w);
	for (size_t i = 0; i < g->w.text_count; i++)
		save_text(&r, g->w.texts[i], open_now(&r));
	grid_check(g, &r.now, &o, about);
	end(&r);
}

static void random_batches(const char *name, uint32_t a, uint32_t b, uint32_t c)
{
	struct grid *g = malloc(sizeof(*g));

	grid_begin(g, name, a, b, c);
	for (int i = 0; i < 2000; i++)
		random_batch(g);
	grid_end(g);
	free(g);
}

START_TEST(random_batches_keep_the_rules)
{
	random_batches("wiki512.canm", 1, 2, 0);
	random_batches("small.006", 0, 1, 2);
}
END_TEST

Suite *batch_suite(void);

Suite *batch_suite(void)
{
	Suite *s = suite_create("batch");
	TCase *t = tcase_create("batch");

	tcase_add_test(t, habits_of_canm);
	tcase_add_test(t, habits_of_cas);
	tcase_add_test(t, habits_of_owanim);
	tcase_add_test(t, habits_of_ff9anim);
	tcase_add_test(t, habits_of_ribbon);
	tcase_add_test(t, trees_in_2000_orders);
	tcase_add_test(t, trees_of_other_structure);
	tcase_add_test(t, toggled_by_several_views);
	tcase_add_test(t, silent_texts_are_named);
	tcase_add_test(t, values_that_others_changed);
	tcase_add_test(t, pieces_of_a_text);
	suite_add_tcase(s, t);
	t = tcase_create("rules");
	tcase_add_test(t, random_batches_keep_the_rules);
	suite_add_tcase(s, t);
	return s;
}
