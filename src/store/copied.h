/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * copied.h - reads texts of an animation file's folder that are available all at once, as one batch
 * (batch.h): an exported folder, or one that was copied into a mount.
 *
 *	struct copied c = {.source = s, .where = &where, .base = v, .known = d, .number = n,
 *			   .texts = texts, .count = count};
 *	fine = copied_read(&c, &err);
 *	... c.texts[i].fate; the resulting file is c.edited over c.over ...
 *	copied_release(&c);
 */
#ifndef ANIMFS_STORE_COPIED_H
#define ANIMFS_STORE_COPIED_H

#include "batch.h"
#include "source.h"

enum copied_fate {
	COPIED_OTHER,     /* the file has no view of this path */
	COPIED_GENERATED, /* generated, or empty */
	COPIED_SKELETON,  /* a skeleton text; left to the caller */
	COPIED_USED,      /* part of the outcome, even if it changes nothing */
	COPIED_SILENT,    /* a stale text, ignored (batch.h) */
	COPIED_REFUSED,   /* the text was refused; err says why */
};

struct copied_text {
	const char *path; /* path of the text in the folder of the file */
	struct bytes text;
	/* fields below are results */
	enum copied_fate fate;
	bool same; /* the text equals the base's, byte for byte */
	struct err err;
};

struct copied {
	struct source *source;
	const struct where *where; /* where the file is */
	struct version *base;      /* the version that the texts are compared with */
	/*
	 * Known versions; NULL: only the base, which was made from the raw.* in the same folder.
	 * Then the texts may come from a file with another name, under which the base is decoded.
	 */
	const struct digests *known;
	uint32_t number; /* the base's number in `known` */
	/* number of the version that the texts were made from; 0: found out */
	uint32_t origin;
	struct copied_text *texts; /* texts, each with another path */
	size_t count;
	/*
	 * Results: the new file is `over` unchanged if `edited` is NULL; else `edited`, which was
	 * edited from over->anim. `over` is the base, a version with the same bytes, or a raw.*
	 * among the texts.
	 */
	struct version *over;
	struct anim *edited;
	struct batch *batch;

	struct digests *own; /* used if `known` is NULL */
	/*
	 * The version that later texts are parsed against, once texts have changed the file's
	 * structure.
	 */
	struct version *now;
	bool is_stale;
};

/*
 * If texts contradict each other, the later in this list wins: raw.*, file.json and clip.json,
 * other texts of whole clips, curves.csv, a bone's JSON, its CSV.
 *
 * A refused text is not a failure. False and err when out of memory.
 */
bool copied_read(struct copied *c, struct err *err);
void copied_release(struct copied *c);
/*
 * Returns the version of the new file, with a reference for the caller; NULL and err as
 * source_edited.
 */
struct version *copied_outcome(const struct copied *c, struct err *err);

#endif
