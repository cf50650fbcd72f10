/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * fill.h - what the texts in a folder come to: a new clip, or edits of one that is there.
 *
 *   struct fill *f = fill_new(model, "ranger.canm");
 *   fill_clip(f, "walk2", texts, count, &err);
 *   ... store fill_model(f), look at the fates of the texts ...
 *   fill_free(f);
 *
 * A clip that is there is edited by the texts that differ from what it says, so that a folder that
 * was copied out, edited in one text and copied back says that edit, whatever the other texts say.
 *
 * A new clip has a bone for every bone's CSV or JSON that parses, and for those of curves.csv and
 * clip.json; where they disagree, a CSV goes before a JSON before curves.csv. Its bones are in the
 * order of clip.json or curves.csv, else in that of the texts. Texts that were copied from a clip
 * of the same model are read as edits of that one, so that what they leave keeps its stored form.
 */
#ifndef ANIMFS_FILL_H
#define ANIMFS_FILL_H

#include "animfs/anim.h"

enum fill_fate {
	FILL_EXTRA,     /* no view's text: an ordinary file */
	FILL_GENERATED, /* says nothing of its own */
	FILL_USED,
	FILL_REFUSED, /* see err */
};

struct fill_text {
	const char *path; /* in the folder: "clip.json", "bones/hips.csv" */
	struct bytes text;
	enum fill_fate fate;
	struct err err;
};

struct fill;

/*
 * What the clip that a folder of texts is to be is called in the model: the one clip of a file that
 * stores no name for it is called as the file, and not as its folder.
 */
#define FILL_LABEL_SIZE 256
void fill_label(const struct anim *model, const char *file_name, const char *folder,
		char label[FILL_LABEL_SIZE]);

/* Is a text of this path in a clip's folder needed? Of the others only the path is looked at. */
bool fill_reads(const char *path);
/* The same in the file's own folder. */
bool fill_reads_of_file(const char *path);

/* `base`, which the caller keeps until the fill is freed, is edited. NULL: no memory. */
struct fill *fill_new(const struct anim *base, const char *file_name);
void fill_free(struct fill *f); /* NULL is fine */
/* base, if nothing was filled or nothing of it came to an edit. */
const struct anim *fill_model(const struct fill *f);

/*
 * The texts of one folder. False and err when no such clip can be, and then nothing was changed;
 * single texts that are refused are no reason.
 */
bool fill_clip(struct fill *f, const char *label, struct fill_text *texts, size_t count,
	       struct err *err);
/*
 * The texts that stand in the file's own folder, for a model that has all clips. The skeleton is
 * none of the model, and left to the caller.
 */
bool fill_file(struct fill *f, struct fill_text *texts, size_t count, struct err *err);

#endif
