/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "batches.h"
#include "diagnostics.h"
#include "known.h"
#include "program.h"

#include "store/create.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct program_batch {
	struct program_batch *next;
	/* the program whose saves the batch has; referenced; NULL: unknown */
	struct program *program;
	struct program_end end;
	/*
	 * NULL: the batch has ended, and is only kept until the end of the program can be noted in
	 * history
	 */
	struct batch *batch;
	/* id of the batch in history; mostly the program's run (program_run) */
	uint64_t id;
	int64_t last;     /* when the last save of the batch was done (clock_ms) */
	size_t charged;   /* bytes charged to --drafts-max */
	bool busy;        /* a save is using it */
	bool ended;       /* the batch has ended: no text may be added any more */
	bool has_version; /* a save of this batch has made a version in history */
	/* the version that this batch has in history is marked as unfinished */
	bool unfinished;
};

/*
 * Keeps the node of the animation's folder, by a reference. If the kernel forgets the node, the
 * next lookup of its name must find the same animation, which has the batches and the known
 * versions that are not stored yet.
 */
static void keep_folder(struct vfs *v, struct animation *a) EXCLUDES(vfs_class)
	REQUIRES(writer_class)
{
	vfs_lock(v);
	if (!a->kept && a->folder && a->folder->node)
		a->kept = node_get(a->folder->node);
	vfs_unlock(v);
}

static void let_folder_go(struct vfs *v, struct animation *a) EXCLUDES(vfs_class)
	REQUIRES(writer_class)
{
	vfs_lock(v);
	if (a->kept)
		node_put(&v->nodes, a->kept);
	a->kept = NULL;
	vfs_unlock(v);
}

/* ---- one batch ---- */

/*
 * Returns the id in history for a new batch: the program's run or, if another thread of the program
 * is saving in a batch with that id, a new one, so that the two do not share a version.
 */
static uint64_t batch_id_for(const struct batches_save *s) REQUIRES(writer_class)
{
	const uint64_t run = program_run(s->program);

	for (const struct program_batch *b = s->a->batches; b; b = b->next) {
		if (b->busy && b != s->batch && b->id == run)
			return program_run(NULL);
	}
	return run;
}

static struct program_batch *new_batch(struct batches_save *s, int64_t now) REQUIRES(writer_class)
{
	struct program_batch *b = calloc(1, sizeof(*b));

	if (!b)
		return NULL;
	b->batch = batch_new(s->now, s->number, known_digests(s->a->known), s->v->options->listed,
			     s->where->name);
	if (!b->batch) {
		free(b);
		return NULL;
	}
	b->id = batch_id_for(s);
	b->last = now;
	if (s->program) {
		b->program = program_get(s->program);
		program_end_await(&b->end, b->program, &s->a->end);
	}
	history_begin_batch(store_history(s->v->store), b->id);
	b->next = s->a->batches;
	s->a->batches = b;
	return b;
}

/* Frees the texts and versions of a batch that no save uses. */
static void drop_texts(struct vfs *v, struct program_batch *b)
{
	budget_give(&v->drafts, b->charged);
	b->charged = 0;
	batch_free(b->batch);
	b->batch = NULL;
}

static void free_batch(struct vfs *v, struct program_batch *b)
{
	drop_texts(v, b);
	history_end_batch(store_history(v->store), b->id);
	program_end_clear(&b->end);
	program_put(b->program);
	free(b);
}

/* Asks whether the batch's program was killed. EBUSY: that is not known yet. */
static int ask_killed(const struct program_batch *b, bool *killed)
{
	enum process_end how;
	bool ended = b->program && program_has_ended(b->program, &how);

	*killed = ended && how == PROCESS_KILLED;
	return ended && how == PROCESS_UNKNOWN && clock_ms() - b->last < END_MS ? EBUSY : 0;
}

static int mark_in_history(struct vfs *v, const struct where *where, struct program_batch *b,
			   bool unfinished)
{
	const struct history_file file = where_file(where);
	int error = state_trylock(v->state);

	if (error)
		return error;
	error = history_set_unfinished(store_history(v->store), &file, b->id, unfinished);
	state_unlock(v->state);
	if (!error)
		b->unfinished = unfinished;
	return error;
}

/*
 * Notes in history that the batch is finished, unless its program was killed. EBUSY: the caller
 * tries again later.
 */
static int finish_in_history(struct vfs *v, const struct where *where, struct program_batch *b)
{
	bool killed = false;
	int error = b->unfinished ? ask_killed(b, &killed) : 0;

	return error || !b->unfinished || killed ? error : mark_in_history(v, where, b, false);
}

/*
 * Once the batch has a second text, marks the version that the first text made as unfinished. The
 * save of the first text did not, since that might have been the only text; the second text may
 * make no version of its own.
 */
static void note_unfinished(const struct batches_save *s) REQUIRES(writer_class)
{
	struct program_batch *b = s->batch;

	if (b->has_version && !b->unfinished && batch_count(b->batch) > 1)
		(void)mark_in_history(s->v, s->where, b, true);
}

static bool is_late(const struct program_batch *b, int64_t now)
{
	return b->ended || now - b->last >= END_MS;
}

static bool is_over(const struct program_batch *b, int64_t now)
{
	enum process_end how;

	return is_late(b, now) || (b->program && program_has_ended(b->program, &how));
}

/* ---- changes by others ---- */

/*
 * Notes in the batch that others have made the version `now`, which counts when the batch is
 * computed again.
 */
static bool follow_others(const struct batches_save *s, struct program_batch *b,
			  struct version *now, uint32_t number)
{
	struct err why = {.code = ERR_NONE};
	struct version *ground;
	struct anim *edited;

	if (!batch_follow(b->batch, now, number, &edited))
		return false;
	ground = source_edited(s->a->source, s->where, batch_ground(b->batch), edited, &why);
	anim_free(edited);
	if (!ground)
		return false;
	batch_set_ground(b->batch, ground);
	version_put(ground);
	return true;
}

/* Returns whether the batch can continue from the current version; if not, ends the batch. */
static bool goes_on(const struct batches_save *s, struct program_batch *b) REQUIRES(writer_class)
{
	if (version_same_bytes(batch_left(b->batch), s->now))
		return true;
	if (!follow_others(s, b, s->now, s->number))
		b->ended = true;
	return !b->ended;
}

/* ---- a save ---- */

static struct program_batch *find_batch(const struct batches_save *s) REQUIRES(writer_class)
{
	struct program_batch *b = s->a->batches;

	while (b && (b->busy || b->ended || !s->program || b->program != s->program))
		b = b->next;
	return b;
}

/*
 * Finds the program's batch for this save, or begins one. `another`: ends the batch so far. Returns
 * false when out of memory; then the save keeps the batch that it has, for batches_finish.
 */
static bool enter_batch(struct batches_save *s, bool another) REQUIRES(writer_class)
{
	struct history_note note = program_note(s->program);
	int64_t now = clock_ms();
	struct program_batch *was = s->batch ? s->batch : find_batch(s), *b = was;

	if (was && (another || is_late(was, now) || !goes_on(s, was))) {
		was->ended = true;
		b = NULL;
	}
	if (!b)
		b = new_batch(s, now);
	if (!b)
		return false;
	if (was && b != was) {
		was->busy = false;
		drop_texts(s->v, was);
	}
	s->batch = b;
	s->batch->busy = true;
	note.batch = s->batch->id;
	note.apart = !s->batch->has_version;
	s->note = note;
	return true;
}

/*
 * Adds the version that the text edits and the current version to the known ones: the current one
 * last, since the last version added counts as the current one.
 */
static bool look_at_versions(struct batches_save *s, struct version *now) EXCLUDES(vfs_class)
	REQUIRES(writer_class)
{
	struct version *last = s->attempt->last.saved;

	keep_folder(s->v, s->a);
	if (!s->a->known)
		s->a->known = known_load(s->v, s->where);
	if (!s->a->known)
		return false;
	known_learn(s->a->known, s->v, s->where, s->a->source, now);
	s->base = known_number(s->a->known, s->attempt->base);
	s->since = last ? known_number(s->a->known, last) : s->base;
	s->number = known_look(s->a->known, s->a->source, now);
	return s->base && s->since && s->number;
}

bool batches_begin(struct batches_save *s, struct version *now, struct err *err)
{
	s->now = version_get(now);
	s->batch = NULL;
	if (look_at_versions(s, now) && enter_batch(s, false)) {
		s->where->note = &s->note;
		return true;
	}
	version_put(s->now);
	return err_memory(err);
}

static enum batch_effect batches_add_text(struct batches_save *s, struct version *whole,
					  struct err *err)
{
	const struct attempt *attempt = s->attempt;
	const struct batch_text text = {.path = s->in_file,
					.draft = attempt->id,
					.text = attempt->text,
					.base = attempt->base,
					.number = s->base,
					.since = s->since,
					.place = attempt->place,
					.edited = attempt->edited,
					.whole = whole};

	return batch_add(s->batch->batch, &text, err);
}

/* Charges the batch's memory; if it takes too much, the next save begins another batch. */
static void charge_batch(struct batches_save *s)
{
	struct program_batch *b = s->batch;
	size_t size = batch_size(b->batch);

	if (size <= b->charged) {
		budget_give(&s->v->drafts, b->charged - size);
		b->charged = size;
	} else if (budget_take(&s->v->drafts, size - b->charged)) {
		b->charged = size;
	} else {
		b->ended = true;
	}
}

/*
 * Returns whether the text's clip has been renamed: in the version that the text edits, or when the
 * draft was last saved, it had another name than now.
 */
static bool is_renamed(const struct attempt *a)
{
	return a->is_renamed ||
	       (a->called && strcmp(a->called, a->base->anim->clips[a->place.clip].label) != 0);
}

enum batch_effect batches_add(struct batches_save *s, struct version *whole, struct err *err)
{
	enum batch_effect effect;

	s->attempt->is_renamed = is_renamed(s->attempt);
	if (s->attempt->is_renamed) {
		if (!s->attempt->edited && !whole)
			return BATCH_REFUSED;
		s->alone = enter_batch(s, true);
		return s->alone || err_memory(err) ? BATCH_SAVE : BATCH_FAILED;
	}
	effect = batches_add_text(s, whole, err);
	/* The batch has this very text already. */
	if (effect == BATCH_ANOTHER && s->attempt->once_more)
		return BATCH_SAVE;
	if (effect == BATCH_ANOTHER && !enter_batch(s, true)) {
		err_memory(err);
		return BATCH_FAILED;
	}
	if (effect == BATCH_ANOTHER)
		effect = batches_add_text(s, whole, err);
	charge_batch(s);
	/* A batch with a single text is complete. */
	s->note.unfinished = batch_count(s->batch->batch) > 1;
	/*
	 * Rewrite the file without the draft's earlier commit, which counts for nothing now, or was
	 * part of a rewrite.
	 */
	if (effect == BATCH_NOTHING && s->attempt->last.saved)
		return BATCH_REWRITE;
	if (effect == BATCH_SAVE && attempt_is_stored_otherwise(s->attempt))
		return BATCH_REWRITE;
	return effect;
}

void batches_take_back(struct batches_save *s)
{
	if (!s->alone)
		batch_take_back(s->batch->batch);
}

/* ---- saves that revert other saves ---- */

struct went_back {
	const struct batches_save *save;
	uint32_t number;             /* number of the version that this save made */
	const struct known_save *of; /* the first save whose change this save reverted */
	const char *clip, *bone;     /* clip and bone whose value was reverted first */
	unsigned values;
};

static void look_back(struct went_back *w, unit_id unit, const char *clip, const char *bone)
	REQUIRES(writer_class)
{
	const struct known *k = w->save->a->known;
	const struct digests *d = known_digests(k);
	struct digest now = digests_at(d, unit, w->number);
	uint32_t since = digests_since(d, unit, w->save->number);
	const struct known_save *of;

	if (digest_same(now, digests_at(d, unit, w->save->number)) || since < 2 ||
	    !digest_same(now, digests_at(d, unit, since - 1)))
		return;
	of = known_save_of(k, since);
	if (!of || clock_ms() - of->when >= END_MS ||
	    of->program == (w->save->program ? w->save->program->id : 0))
		return;
	if (!w->values++) {
		w->of = of;
		w->clip = clip;
		w->bone = bone;
	}
}

static void look_back_in_track(struct went_back *w, const struct anim *anim,
			       const struct clip *clip, const struct track *track)
	REQUIRES(writer_class)
{
	if (anim->format->keyframes) {
		look_back(w, unit_of_curve(clip->label, track->label, UNIT_KEYFRAMES), clip->label,
			  track->label);
		return;
	}
	for (unsigned role = 0; role < ROLE_COUNT; role++)
		look_back(w, unit_of_curve(clip->label, track->label, role), clip->label,
			  track->label);
}

static void look_back_in_clip(struct went_back *w, const struct version *saved, uint32_t at)
	REQUIRES(writer_class)
{
	static const char *const values[] = {"loop", "name", "frame_time", "duration"};
	const struct clip *clip = &saved->anim->clips[at];
	uint64_t before = w->save->now->generation;

	if (version_since(saved, at, -1) <= before)
		return;
	for (size_t i = 0; i < ARRAY_SIZE(values); i++)
		look_back(w, unit_of_value(clip->label, values[i]), clip->label, NULL);
	for (uint32_t i = 0; i < clip->field_count; i++)
		look_back(w, unit_of_field(clip->label, clip->fields[i].name), clip->label, NULL);
	for (uint32_t i = 0; i < clip->track_count; i++) {
		if (version_since(saved, at, i) > before)
			look_back_in_track(w, saved->anim, clip, &clip->tracks[i]);
	}
}

/* Reports a save that restores values from before another program's recent change. */
static void note_back(const struct batches_save *s, const struct version *saved, uint32_t number)
	REQUIRES(writer_class)
{
	struct went_back w = {.save = s, .number = number};
	char more[40] = "", reason[1024];

	for (uint32_t i = 0; i < saved->anim->clip_count; i++)
		look_back_in_clip(&w, saved, i);
	if (!w.values)
		return;
	if (w.values > 1)
		snprintf(more, sizeof(more), " and %u more values", w.values - 1);
	snprintf(reason, sizeof(reason),
		 "%s%s%s%s as before %s by %s, which another program saved a moment ago; animfs "
		 "undo returns what that changed",
		 w.clip, w.bone ? " " : "", w.bone ? w.bone : "", more, w.of->path,
		 *w.of->name ? w.of->name : "an unknown program");
	diagnose_event(s->v, s->path, "went back", reason);
}

/* ---- stored digests ---- */

/*
 * Adds the version that others made after this save took the current version and before its commit
 * to the known versions, and to the batch.
 */
static void batches_catch_up(struct batches_save *s, struct version *was) REQUIRES(writer_class)
{
	if (!was || version_same_bytes(was, s->now))
		return;
	s->number = known_look(s->a->known, s->a->source, was);
	if (!follow_others(s, s->batch, was, s->number))
		s->batch->ended = true;
	version_put(s->now);
	s->now = version_get(was);
}

/*
 * Notes that the history has the version of this save, so that a later absence means that it was
 * forgotten. Not if the history had no room for it.
 */
static void note_kept(const struct batches_save *s) REQUIRES(writer_class)
{
	const struct history_file file = where_file(s->where);

	if (s->v->options->store.history && history_has(store_history(s->v->store), &file))
		known_kept(s->a->known);
}

static void batches_note_saved(struct batches_save *s) REQUIRES(writer_class)
{
	struct version *saved = s->attempt->last.saved;
	uint32_t number;

	if (version_same_bytes(saved, s->now)) {
		s->attempt->as_said = batch_saved(s->batch->batch, saved, s->number);
		return;
	}
	number = known_add(s->a->known, saved, s->now, s->program, s->path);
	if (!number) {
		s->batch->ended = true;
		return;
	}
	note_kept(s);
	s->attempt->as_said = batch_saved(s->batch->batch, saved, number);
	s->batch->has_version = true;
	s->batch->unfinished = s->note.unfinished;
	note_back(s, saved, number);
}

/* Returns whether the stored version was made by nothing but the attempt's text. */
static bool made_by_text(const struct batches_save *s) REQUIRES(writer_class)
{
	const struct attempt *attempt = s->attempt;

	return attempt->last.edited && version_same_bytes(attempt->base, s->now) &&
	       !version_same_bytes(attempt->last.saved, s->now);
}

void batches_saved(struct batches_save *s)
{
	batches_catch_up(s, s->attempt->last.was);
	version_put(s->attempt->last.was);
	s->attempt->last.was = NULL;
	batches_note_saved(s);
	if (made_by_text(s))
		known_note(s->a->known, s->in_file, text_bytes(s->attempt->text),
			   digests_last(known_digests(s->a->known)));
}

/* Returns whether the draft would be refused if it were saved by itself. */
static bool conflicts(const struct batches_save *s, struct err *err)
{
	const struct attempt *a = s->attempt;
	const struct clip_renamed renamed = {a->place.clip, a->called};
	struct anim *merged;

	if (!batch_conflicts(s->batch->batch) || attempt_is_stored_otherwise(a))
		return false;
	if (!a->edited) {
		err_set(err, ERR_CONFLICT, "another program changed the file in the meantime");
		return true;
	}
	merged = anim_merge(a->base->anim, a->edited, a->last.edited, s->now->anim,
			    a->called ? &renamed : NULL, err);
	anim_free(merged);
	return !merged;
}

/* Computes the outcome of all texts of the batch, as a version. NULL on failure. */
static struct version *outcome(const struct batches_save *s, struct err *err)
{
	struct version *over, *made;
	struct anim *edited;

	if (!batch_outcome(s->batch->batch, &over, &edited, err))
		return NULL;
	made = edited ? source_edited(s->a->source, s->where, over, edited, err)
		      : version_get(over);
	anim_free(edited);
	return made;
}

static enum commit commit_outcome(const struct batches_save *s, struct version **saved,
				  struct err *err)
{
	struct version *made = outcome(s, err);
	enum commit commit = COMMIT_REFUSED;
	struct bytes bytes;

	*saved = NULL;
	if (!made)
		return commit;
	bytes = buf_bytes(&made->bytes);
	commit = source_commit(s->a->source, s->where, s->now, NULL, NULL, &bytes, saved, err);
	version_put(made);
	return commit;
}

/*
 * Looks at the file again after another program changed it during the commit. Returns whether the
 * batch can continue.
 */
static bool look_again(struct batches_save *s) REQUIRES(writer_class)
{
	struct version *now = source_get(s->a->source, s->where, NULL);
	bool changed = now && !version_same_bytes(now, s->now);

	if (changed)
		batches_catch_up(s, now);
	version_put(now);
	return changed && !s->batch->ended;
}

#define REWRITE_TRIES 8

enum verdict batches_rewrite(struct batches_save *s, struct err *err)
{
	struct version *saved = NULL;
	enum commit commit = COMMIT_REFUSED;
	struct err why;

	if (conflicts(s, err))
		return VERDICT_REFUSED;
	for (unsigned i = 0; i < REWRITE_TRIES && commit == COMMIT_REFUSED; i++) {
		why = (struct err){.code = ERR_NONE};
		commit = commit_outcome(s, &saved, &why);
		if (commit == COMMIT_REFUSED && (why.code != ERR_CONFLICT || !look_again(s)))
			break;
	}
	if (commit == COMMIT_REFUSED) {
		s->batch->ended = true;
		*err = why;
		return VERDICT_REFUSED;
	}
	attempt_stored(s->attempt, saved);
	version_put(saved);
	batches_note_saved(s);
	if (!batch_is_refused(s->batch->batch))
		return commit == COMMIT_DONE ? VERDICT_SAVED : VERDICT_SAME;
	if (s->attempt->edited)
		err_set(err, ERR_CONFLICT,
			"its clips or bones are no longer what they were when it was opened");
	return VERDICT_REFUSED;
}

/* ---- entries in .animfs/errors ---- */

#define STALE "stale"

/* Returns the path of a text from SOURCE, which the caller frees. NULL when out of memory. */
static char *path_of_text(const struct batches_save *s, const char *in_file)
{
	int top = (int)(strlen(s->path) - strlen(s->in_file));
	char *path;

	return asprintf(&path, "%.*s%s", top, s->path, in_file) < 0 ? NULL : path;
}

static void say_silent(const struct batches_save *s, const struct batch_silent *silent)
	REQUIRES(writer_class)
{
	const struct known_save *of = known_save_of(s->a->known, silent->since);
	char *path = path_of_text(s, silent->path);
	char reason[1024];
	const char *effect = silent->in_part ? "what that changed stays" : "it changes nothing";

	if (of)
		snprintf(reason, sizeof(reason), "a copy from before the save of %s by %s; %s",
			 of->path, *of->name ? of->name : "an unknown program", effect);
	else
		snprintf(reason, sizeof(reason), "a copy of an older version%s%s%s%s; %s",
			 silent->clip ? " of " : "", silent->clip ? silent->clip : "",
			 silent->bone ? " " : "", silent->bone ? silent->bone : "", effect);
	if (path)
		diagnose_event(s->v, path, STALE, reason);
	free(path);
}

static void take_back_line(const struct batches_save *s, const char *in_file)
{
	char *path = path_of_text(s, in_file);

	if (path)
		diagnose_event_gone(s->v, path, STALE);
	free(path);
}

static void go_on(struct batches_save *s) REQUIRES(writer_class)
{
	struct program_batch *b = s->batch;

	b->last = clock_ms();
	(void)program_run(b->program);
	b->busy = false;
	b->ended |= s->alone;
	if (b->ended)
		drop_texts(s->v, b);
}

void batches_finish(struct batches_save *s)
{
	struct batch_silent silent;
	const char *path;

	while ((path = batch_next_counting(s->batch->batch)))
		take_back_line(s, path);
	while (batch_next_silent(s->batch->batch, &silent))
		say_silent(s, &silent);
	note_unfinished(s);
	go_on(s);
	program_end_hasten(&s->batch->end);
	s->where->note = NULL;
	version_put(s->now);
	s->now = NULL;
}

/* ---- the end of a batch ---- */

/* Ends a batch. Returns false if it is kept, since it is not known yet how the program ended. */
static bool end_batch(struct vfs *v, const struct where *where, struct program_batch **at, bool all)
	REQUIRES(writer_class)
{
	struct program_batch *b = *at;

	if (where && finish_in_history(v, where, b) == EBUSY && !all) {
		b->ended = true;
		drop_texts(v, b);
		return false;
	}
	*at = b->next;
	free_batch(v, b);
	return true;
}

static void end_batches(struct vfs *v, struct animation *a, const struct where *where, bool all)
	REQUIRES(writer_class)
{
	struct program_batch **at = &a->batches;
	int64_t now = clock_ms();

	while (*at) {
		if ((*at)->busy || !(all || is_over(*at, now)) || !end_batch(v, where, at, all))
			at = &(*at)->next;
	}
}

/* Adds the versions that other programs replaced to the known ones, even if nothing is saved. */
static void take_replaced(struct vfs *v, struct animation *a, const struct where *where)
	EXCLUDES(vfs_class) REQUIRES(writer_class)
{
	struct version *now;

	if (!source_has_replaced(a->source))
		return;
	keep_folder(v, a);
	if (!a->known)
		a->known = known_load(v, where);
	now = a->known ? source_get(a->source, where, NULL) : NULL;
	if (now)
		(void)known_look(a->known, a->source, now);
	version_put(now);
}

/*
 * Stores the known digests, if no batch is left, and frees them. Without --history, or if the disk
 * fails, they are only kept in memory. Returns false if the caller must try again soon.
 */
static bool store_known(struct vfs *v, struct animation *a, const struct where *where)
	REQUIRES(writer_class)
{
	int error = 0;

	if (!a->known || a->batches || !v->options->store.history)
		return true;
	if (where && known_is_changed(a->known))
		error = known_store(a->known, v, where);
	if (error)
		return error != EBUSY;
	known_free(a->known);
	a->known = NULL;
	return true;
}

static int64_t batches_next_end(const struct animation *a) REQUIRES(writer_class)
{
	int64_t now = clock_ms(), next = 0;

	for (const struct program_batch *b = a->batches; b; b = b->next) {
		int64_t end = is_over(b, now) ? now + AGAIN_MS : b->last + END_MS;

		if (!next || end < next)
			next = end;
	}
	return next;
}

int64_t batches_end(struct vfs *v, struct animation *a, enum batches_when when)
{
	bool all = when == BATCHES_LAST, fine, stored;
	struct site site;
	int64_t next;

	if (!a->batches && !a->known && !source_has_replaced(a->source))
		return 0;
	fine = site_open(v, a, &site) == 0;
	for (struct program_batch *b = a->batches; b && when == BATCHES_SYNC; b = b->next)
		b->ended = true;
	if (fine && all)
		(void)state_wait(v->state, STATE_LOCK_MS);
	end_batches(v, a, fine ? &site.where : NULL, all);
	if (fine)
		take_replaced(v, a, &site.where);
	stored = when == BATCHES_BUSY ? !a->known : store_known(v, a, fine ? &site.where : NULL);
	if (fine)
		site_close(v, &site);
	/*
	 * Keep the node only for batches or, with --history, for digests that are not stored yet.
	 * Without --history the digests last only as long as the kernel knows the folder.
	 */
	if (all || (!a->batches && !(a->known && v->options->store.history)))
		let_folder_go(v, a);
	next = batches_next_end(a);
	return next || stored ? next : clock_ms() + END_MS;
}
