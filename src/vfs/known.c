/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "known.h"
#include "deadline.h"
#include "program.h"

#include "store/create.h"
#include "store/digests_kept.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SAVES_MAX 256

struct known {
	struct digests *digests;
	bool is_changed;
	bool has_learned;
	/* history has got a version of a save: if it has none later, the versions were forgotten */
	bool is_kept;
	struct known_save saves[SAVES_MAX]; /* the latest saves, as a ring; `next` is the oldest */
	size_t next;
};

struct known *known_load(struct vfs *v, const struct where *where)
{
	const struct history_file file = where_file(where);
	struct known *k = calloc(1, sizeof(*k));

	if (!k)
		return NULL;
	k->digests = v->options->store.history ? digests_load(v->state, &file) : digests_new();
	if (k->digests)
		return k;
	free(k);
	return NULL;
}

void known_free(struct known *k)
{
	if (!k)
		return;
	for (size_t i = 0; i < SAVES_MAX; i++)
		free(k->saves[i].path);
	digests_free(k->digests);
	free(k);
}

const struct digests *known_digests(const struct known *k)
{
	return k->digests;
}

/* ---- versions ---- */

/* Returns the digest of the version's bytes, which the version computes once. */
static struct digest known_digest_of(struct version *v)
{
	const struct history_digest *whole = version_digest(v);

	return (struct digest){whole->low, whole->high};
}

static uint32_t vfs_known_add(struct known *k, struct version *v, const struct version *before)
{
	uint32_t last = digests_last(k->digests), number;

	if (last && v->anim->rotations == ROTATIONS_STORED &&
	    digests_of_file(k->digests, known_digest_of(v)) == last)
		return last;
	number = digests_add(k->digests, v, before);
	k->is_changed |= number != last;
	return number;
}

static void note_served(struct known *k, struct version *v, uint32_t number)
{
	struct digest *served;
	size_t count = version_served(v, &served);

	for (size_t i = 0; i < count && number; i++)
		(void)digests_note(k->digests, served[i], number);
	k->is_changed |= count > 0;
	free(served);
}

void known_learn(struct known *k, struct vfs *v, const struct where *where, struct source *source,
		 struct version *now)
{
	uint32_t last = digests_last(k->digests);

	if (k->has_learned && digests_of_file(k->digests, known_digest_of(now)))
		return;
	k->has_learned = true;
	if (v->options->store.history)
		digests_learn(k->digests, v->state, where, source);
	k->is_changed |= digests_last(k->digests) != last;
}

uint32_t known_number(struct known *k, struct version *v)
{
	uint32_t number = digests_of_file(k->digests, known_digest_of(v));

	if (!number)
		number = vfs_known_add(k, v, NULL);
	note_served(k, v, number);
	return number;
}

uint32_t known_look(struct known *k, struct source *source, struct version *now)
{
	struct version *replaced[REPLACED_MAX];
	size_t count = source_replaced(source, replaced);
	uint32_t number;

	for (size_t i = 0; i < count; i++) {
		(void)known_number(k, replaced[i]);
		version_put(replaced[i]);
	}
	number = vfs_known_add(k, now, NULL);
	note_served(k, now, number);
	return number;
}

uint32_t known_add(struct known *k, struct version *saved, struct version *before,
		   const struct program *program, const char *path)
{
	uint32_t number = vfs_known_add(k, saved, before);
	struct known_save *save = &k->saves[k->next];

	if (!number)
		return 0;
	k->next = (k->next + 1) % SAVES_MAX;
	free(save->path);
	*save = (struct known_save){.number = number,
				    .program = program ? program->id : 0,
				    .path = strdup(path),
				    .when = clock_ms(),
				    .time = clock_wall().tv_sec};
	if (program)
		snprintf(save->name, sizeof(save->name), "%s", program->process.name);
	return number;
}

void known_kept(struct known *k)
{
	k->is_kept = true;
}

void known_note(struct known *k, const char *in_file, struct bytes text, uint32_t number)
{
	(void)digests_note(k->digests, digests_text(in_file, text), number);
}

const struct known_save *known_save_of(const struct known *k, uint32_t number)
{
	for (size_t i = 0; i < SAVES_MAX; i++) {
		const struct known_save *save =
			&k->saves[(k->next + SAVES_MAX - 1 - i) % SAVES_MAX];

		if (save->path && save->number == number)
			return save;
	}
	return NULL;
}

/* ---- in the state directory ---- */

bool known_is_changed(const struct known *k)
{
	return k->is_changed;
}

static int known_put_blob(struct vfs *v, const struct history_file *file, struct bytes blob,
			  bool make)
{
	int error = state_trylock(v->state);

	if (error)
		return error;
	error = history_keep_blob(store_history(v->store), file, blob, make);
	state_unlock(v->state);
	return error;
}

int known_store(struct known *k, struct vfs *v, const struct where *where)
{
	const struct history_file file = where_file(where);
	struct buf blob = BUF_INIT;
	int error;

	/*
	 * If the stored digests could not be read completely, do not replace them: they are worth
	 * more.
	 */
	if (digests_is_partial(k->digests)) {
		k->is_changed = false;
		return 0;
	}
	digests_write(k->digests, &blob);
	error = blob.failed ? ENOMEM : known_put_blob(v, &file, buf_bytes(&blob), !k->is_kept);
	buf_release(&blob);
	k->is_changed = error != 0;
	return error;
}

/* ---- texts ---- */

void known_serve(struct version *version, const struct place *place, struct bytes text)
{
	const struct view *view = place->view;
	const struct tree tree = {version, version->file_name};
	char path[TREE_PATH_MAX];

	if (!view->parse)
		return;
	tree_path(&tree, place, path);
	version_serve(version, digests_text(path, text));
}
