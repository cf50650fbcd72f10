/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * assembly.h - makes a new clip of the texts in a folder.
 *
 *   struct assembly *f = assembly_new(model, "ranger.canm");
 *   assembly_clip(f, "walk2", texts, count, &err);
 *   ... store assembly_model(f), look at the fates of the texts ...
 *   assembly_free(f);
 *
 * (Texts of an existing clip are edits of it, and handled as one batch: copied.h.)
 *
 * A new clip has a bone for every bone's CSV or JSON that parses, and for those in curves.csv and
 * clip.json; if they disagree, CSV wins over JSON, and JSON over curves.csv. Bones are in the order
 * of clip.json or curves.csv, else of the texts. Texts that were copied from a clip of the same
 * model are parsed as edits of that clip, so that unchanged values keep their stored form.
 */
#ifndef ANIMFS_EDIT_ASSEMBLY_H
#define ANIMFS_EDIT_ASSEMBLY_H

#include "animfs/anim.h"

enum assembly_fate {
	ASSEMBLY_UPPER,     /* not a view's text: an ordinary file */
	ASSEMBLY_GENERATED, /* a generated text: ignored */
	ASSEMBLY_USED,
	ASSEMBLY_REFUSED, /* a text that could not be parsed; err says why */
};

struct assembly_text {
	const char *path; /* path of the text in the folder: "clip.json", "bones/hips.csv" */
	struct bytes text;
	enum assembly_fate fate;
	struct err err;
};

struct assembly;

/*
 * The label of the clip that a folder of texts becomes: the folder's name, except that in a format
 * that stores one nameless clip it is named after the file.
 */
#define ASSEMBLY_LABEL_SIZE 256
void assembly_label(const struct format *format, const char *file_name, const char *folder,
		    char label[ASSEMBLY_LABEL_SIZE]);

/*
 * Returns whether assembling a clip needs the content of the text with this path in the clip's
 * folder. If not, the path is enough.
 */
bool assembly_reads(const char *path);
/* Like assembly_reads, for a text in the folder of the animation file, not of a clip. */
bool assembly_reads_of_file(const char *path);

/* The fate of a text whose content is not needed: ASSEMBLY_UPPER or ASSEMBLY_GENERATED. */
enum assembly_fate assembly_fate_of(const char *path, bool of_file);

/* `base` is the model to add clips to; it must outlive the assembly. NULL: no memory. */
struct assembly *assembly_new(const struct anim *base, const char *file_name);
void assembly_free(struct assembly *f); /* NULL is ignored */
struct hierarchy;
/*
 * Sets the hierarchy (structure.h) for texts that are copied from other formats. The caller keeps
 * it, and it must outlive the assembly.
 */
void assembly_hierarchy(struct assembly *f, const struct hierarchy *hierarchy);
/* Returns the model with the new clips; `base` itself if there are none. */
const struct anim *assembly_model(const struct assembly *f);

/*
 * Adds a clip from the texts of one folder; the model has no clip with this label. Refused texts
 * are not a failure. False and err if there can be no such clip; then nothing has changed.
 */
bool assembly_clip(struct assembly *f, const char *label, struct assembly_text *texts, size_t count,
		   struct err *err);
#endif
