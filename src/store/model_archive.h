/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * model_archive.h - the model of an animation that is a file, in an archive beside it: that of
 * X.CAS is in X.MRAB.
 *
 * It counts like a model beside the file (find_skeleton.h), after one that is a file itself. The
 * archive has the animation's name, with an extension of archives in upper or lower case. One that
 * cannot be read has no models.
 */
#ifndef ANIMFS_STORE_MODEL_ARCHIVE_H
#define ANIMFS_STORE_MODEL_ARCHIVE_H

#include "skeleton/find_skeleton.h"

/*
 * Where an animation's model was looked for, and what was there. {0}: not looked for yet. The
 * caller serializes calls with the same struct, and releases it at the end.
 */
struct model_archive {
	bool looked, settled; /* as in struct found_skeleton */
	struct file_version folder, animation, file;
	char *name;   /* of the archive; NULL: there is none */
	char *barred; /* name of one that the guard bars, which was reported; NULL: none */
};
void model_archive_release(struct model_archive *m);
/* Releases it when no archive counts any more, and takes a report back. */
void model_archive_drop(struct model_archive *m, skeleton_reporter *report, void *closure);

/* Could an archive of this name have models of files beside it? */
bool model_archive_has_name(const char *name);
/* Would model_archive_skeleton find the same again? */
bool model_archive_same(struct model_archive *m, int dir, const char *file_name,
			const struct guard *guard);
/* The skeleton, with a reference for the caller, as of find_skeleton_in; NULL: none. */
struct shared_skeleton *model_archive_skeleton(struct model_archive *m, int dir,
					       const char *file_name, const struct format *format,
					       const struct guard *guard, skeleton_reporter *report,
					       void *closure);

#endif
