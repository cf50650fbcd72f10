/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A sequence: a list of Vib-Ribbon files (ribbon.c) that play one after the other as one clip.
 *
 *	file
 *	jump1.anm
 *	jump2.anm
 *
 * The game splits long movements into several files, which do not record that they belong together.
 * A list beside them, NAME.sequence.csv, does. It is a CSV of any dialect with the one column
 * `file`, in the order in which they play; a file may be there more than once.
 *
 * Frames are counted through, 30 a second, with no frame between two files. The bones are those of
 * all files: an object that a file does not have is not drawn in its frames.
 *
 * The clip cannot be edited; edit the files.
 */
#include "codecs.h"
#include "model/join.h"
#include "ribbon.h"
#include "text/table.h"

#include <limits.h>
#include <stdlib.h>

#define FILES_MAX 1024

static const char fixed[] = "a sequence is not edited: its files are, and the list of them";

static const struct format sequence_format = {
	.name = "sequence",
	.suffix = "csv",
	.beside = ".csv",
	.parts = &ribbon_format,
	.text = true,
	.max_frames = UINT32_MAX,
	RIBBON_MEMBERS,
};

/* ---- the list ---- */

enum { FILE_COLUMN };

static const struct column columns[] = {[FILE_COLUMN] = {"file", NULL, NULL, 0}};
static const struct table_form form = {columns, 1, 1, 1, 1};

/* The state while a list is read. */
struct list {
	const struct hints *hints;
	struct table table;
	struct join join;
	struct anim **files; /* decoded files, in order */
	const char **names;  /* names of the files, in the arena */
	size_t count;
	struct anim *whole;
};

static bool sequence_check_name(const struct cell *cell, struct err *err)
{
	bool fine = cell->size > 0 && cell->size <= NAME_MAX && !cell_is(cell, ".") &&
		    !cell_is(cell, "..") && !memchr(cell->text, '/', cell->size);

	if (fine)
		return true;
	err_at(err, ERR_FORMAT, cell->at, cell->length, "\"%s\" is no file beside the list",
	       cell_excerpt(cell).text);
	return err_accept(err, "the name of a file in the same folder, without a slash");
}

/* Reports an error of a file at its row. */
static bool refuse_file(const struct cell *cell, const struct err *why, struct err *err)
{
	const struct excerpt name = cell_excerpt(cell);

	if (why->code == ERR_MEMORY)
		return err_memory(err);
	if (why->placed)
		err_at(err, ERR_FORMAT, cell->at, cell->length, "%s: byte %zu: %s", name.text,
		       why->at, why->message);
	else
		err_at(err, ERR_FORMAT, cell->at, cell->length, "%s: %s", name.text, why->message);
	return err_accept(err, "a Vib-Ribbon file (ANM) that can be read");
}

static bool sequence_read_file(struct list *l, const struct cell *cell, struct err *err)
{
	const struct neighbours *beside = l->hints ? l->hints->neighbours : NULL;
	struct err why = {.code = ERR_NONE};
	struct anim *file = NULL;
	struct bytes bytes;
	const char *name = arena_text(&l->whole->arena, cell->text, cell->size);

	if (!name)
		return err_memory(err);
	if (!beside)
		err_set(&why, ERR_SYSTEM, "the files beside the list are not at hand");
	else if (beside->read(beside->closure, name, &bytes, &why))
		file = ribbon_codec.decode(bytes, l->hints, &why);
	if (!file)
		return refuse_file(cell, &why, err);
	l->names[l->count] = name;
	l->files[l->count++] = file;
	return join_add(&l->join, &file->clips[0], err);
}

static bool sequence_read_row(struct list *l, struct err *err)
{
	const struct cell *cell = table_of(&l->table, FILE_COLUMN);

	if (l->count == FILES_MAX)
		return err_at(err, ERR_FORMAT, cell->at, cell->length,
			      "the list has more than %u files", FILES_MAX);
	return sequence_check_name(cell, err) && sequence_read_file(l, cell, err);
}

static bool sequence_read_rows(struct list *l, struct err *err)
{
	while (table_row(&l->table, err) && !l->table.done) {
		if (!sequence_read_row(l, err))
			return false;
	}
	return l->table.done && (l->count || err_at(err, ERR_FORMAT, l->table.text.size, 0,
						    "the list names no file"));
}

static bool sequence_read_list(struct list *l, struct bytes src, struct err *err)
{
	struct err why = {.code = ERR_NONE};
	bool fine = table_open(&l->table, src, &why) && table_header(&l->table, &form, &why) &&
		    sequence_read_rows(l, &why);

	/* A wrong, a truncated and an empty text are all one error of the file. */
	if (!fine && why.code != ERR_MEMORY)
		why.code = ERR_FORMAT;
	if (!fine)
		err_copy(err, &why);
	return fine;
}

/* ---- decode ---- */

static bool sequence_make_parts(struct list *l)
{
	struct anim *a = l->whole;
	struct clip_part *parts = arena_alloc(&a->arena, l->count, sizeof(*parts));
	uint32_t first = 0;

	for (size_t i = 0; parts && i < l->count; i++) {
		uint32_t frames = l->files[i]->clips[0].frames;

		parts[i] = (struct clip_part){l->names[i], first, frames};
		first += frames;
	}
	a->parts = parts;
	a->part_count = (uint32_t)l->count;
	return parts != NULL;
}

static bool make_whole(struct list *l)
{
	struct anim *a = l->whole;
	struct clip *clip = arena_alloc(&a->arena, 1, sizeof(*clip));

	if (!clip || !sequence_make_parts(l) || !join_end(&l->join, &a->arena, clip))
		return false;
	clip->name = "";
	clip->frame_time = 1;
	a->format = &sequence_format;
	a->rate = sequence_format.rate;
	a->bone_names = l->join.names;
	a->read_only = fixed;
	a->clip_count = 1;
	a->clips = clip;
	return true;
}

static bool begin_list(struct list *l)
{
	l->whole = calloc(1, sizeof(*l->whole));
	l->files = calloc(FILES_MAX, sizeof(*l->files));
	l->names = calloc(FILES_MAX, sizeof(*l->names));
	return l->whole && l->files && l->names;
}

static void end_list(struct list *l)
{
	for (size_t i = 0; i < l->count; i++)
		anim_free(l->files[i]);
	free(l->files);
	free(l->names);
	table_close(&l->table);
	join_release(&l->join);
}

static struct anim *sequence_decode(struct bytes src, const struct hints *hints, struct err *err)
{
	struct list l = {.hints = hints, .join.format = &ribbon_format};
	bool fine;

	l.join.names = hints ? hints->bone_names : NULL;
	fine = begin_list(&l) || err_memory(err);
	fine = fine && sequence_read_list(&l, src, err) && (make_whole(&l) || err_memory(err));
	end_list(&l);
	if (fine)
		return l.whole;
	anim_free(l.whole);
	return NULL;
}

/* ---- the rest of a codec ---- */

/*
 * Does not recognize lists by content: any table with a column of this name would fit, so only the
 * name makes a file a list.
 */
static bool sequence_probe(struct bytes src)
{
	(void)src;
	return false;
}

static bool sequence_encode(const struct anim *a, struct bytes old, struct buf *out,
			    struct err *err)
{
	(void)a;
	(void)old;
	(void)out;
	return err_set(err, ERR_STORE, "%s", fixed);
}

static const char *const sequence_patterns[] = {"*.sequence.csv", NULL};

const struct codec sequence_codec = {
	.format = &sequence_format,
	.patterns = sequence_patterns,
	.probe = sequence_probe,
	.decode = sequence_decode,
	.encode = sequence_encode,
};
