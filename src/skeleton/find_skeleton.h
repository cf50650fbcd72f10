/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * find_skeleton.h - decides which skeleton belongs to an animation file, and loads it.
 *
 * Looks for NAME.skeleton.csv (NAME with the extension) beside the file, then for a model
 * (find_model.h), then for skeleton.csv, which applies to all files of the folder. The first that
 * exists is used, even if it turns out to be invalid. A file that the guard bars, since not every
 * reader of the animation may read it, is treated as absent.
 */
#ifndef ANIMFS_SKELETON_FIND_SKELETON_H
#define ANIMFS_SKELETON_FIND_SKELETON_H

#include "disk/dirfd.h"
#include "sandbox/guard.h"
#include "skeleton.h"
#include <limits.h>

#define SKELETON_FILE "skeleton.csv"
/* Size limit of a skeleton's text. */
#define SKELETON_TEXT_MAX ((size_t)16 << 20)

/* Makes NAME.skeleton.csv. Returns false if that is too long for a file name. */
bool skeleton_own_name(const char *file_name, char name[NAME_MAX + 1]);

/* Returns whether `name` has the form NAME.skeleton.csv. Sets *length to the length of NAME. */
bool skeleton_is_own_name(const char *name, size_t *length);
/* Returns whether a file of this name could be the skeleton of several animations in its folder. */
bool skeleton_is_shared_name(const char *name);

/* A skeleton with a reference count. Thread-safe. */
struct shared_skeleton;
const struct skeleton *
shared_skeleton(const struct shared_skeleton *r); /* returns NULL if r is NULL */
struct shared_skeleton *
shared_skeleton_get(struct shared_skeleton *r); /* takes a reference; r may be NULL */
/*
 * Makes a shared skeleton that was read from no file. Takes over `s`. Returns NULL when out of
 * memory.
 */
struct shared_skeleton *shared_skeleton_made(struct skeleton *s);
void shared_skeleton_put(struct shared_skeleton *r);          /* drops a reference; r may be NULL */
size_t shared_skeleton_size(const struct shared_skeleton *r); /* returns the bytes of memory used */
/* Returns the mtime of the file that the skeleton was read from; {0} if r is NULL. */
struct timespec shared_skeleton_mtime(const struct shared_skeleton *r);

/*
 * The result of the search for an animation's skeleton: which file, and which version of it. {0}:
 * not searched yet. The caller serializes calls with the same struct, and calls
 * found_skeleton_release at the end.
 */
struct found_skeleton {
	/* settled: the files are old enough that any later change gives other versions */
	bool looked, settled;
	struct file_version folder, file;
	char *name; /* name of the file; NULL: none */
	uint64_t hash;
	bool faulty; /* the fault of the file `name` has been reported */
	/*
	 * With a guard: the animation that the guard was asked about, and the files that it barred.
	 */
	struct file_version animation;
	struct barred_skeleton {
		char *name;
		struct file_version version;
	} barred[3];
	unsigned barred_count;
	/*
	 * No file counts, since the folder has several models of which none has the animation's
	 * name: one of them. NULL: it is otherwise.
	 */
	char *rival;
	bool rival_told; /* that has been reported */
};
void found_skeleton_release(struct found_skeleton *r);

/* Returns whether a file of this name was found, but barred by the guard. */
bool found_skeleton_bars(const struct found_skeleton *r, const char *name);

/*
 * Returns whether find_skeleton would find the same skeleton again. Costs a few fstatat() while the
 * folder is unchanged.
 */
bool found_skeleton_same(struct found_skeleton *r, int dir, const char *file_name,
			 const struct format *format, const struct guard *guard);

/*
 * Called with the reason when a file cannot be used, and with NULL when it can be used again, or is
 * gone.
 */
typedef void skeleton_reporter(void *closure, const char *name, const char *fault);
/* Reports that the guard bars the file `name`, which would count for the animation. */
void skeleton_report_barred(const char *name, const char *file_name, skeleton_reporter *report,
			    void *closure);
/*
 * Finds and reads the skeleton, and stores in `r` where it was found. The caller gets a reference.
 * Returns NULL when no file can be used, or when out of memory.
 */
struct shared_skeleton *find_skeleton(struct found_skeleton *r, int dir, const char *file_name,
				      const struct format *format, const struct guard *guard,
				      skeleton_reporter *report, void *closure);

/*
 * Reports that the rival is not used. If the animation has got a skeleton elsewhere, takes an
 * earlier report back.
 */
void found_skeleton_tell_rival(struct found_skeleton *r, const char *file_name, bool elsewhere,
			       skeleton_reporter *report, void *closure);

/* The files of an archive, for a search as in a folder. */
struct skeleton_files {
	size_t count;
	const char *(*name)(void *closure, size_t i);
	bool (*read)(void *closure, size_t i, size_t limit, struct buf *out, struct err *err);
	void *closure;
};
/*
 * Finds a skeleton as find_skeleton does, among files that do not change. If there are several
 * models and none has the animation's name, none is used, and one is reported.
 */
struct shared_skeleton *find_skeleton_in(const struct skeleton_files *files, const char *file_name,
					 const struct format *format, skeleton_reporter *report,
					 void *closure);
/*
 * Returns the number of bones in the Final Fantasy IX model, as model_bones does, among the files
 * of an archive.
 */
uint32_t model_bones_in(const struct skeleton_files *files, const char *file_name);

#endif
