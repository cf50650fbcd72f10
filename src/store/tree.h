/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * tree.h - the folder that shows an animation file: its names, and the kind of each.
 *
 * A place is a folder or view in it, identified by indices that are valid in one version; in
 * another version it must be looked up again by name (tree_again). Does no I/O; the mount and the
 * commands both use it.
 */
#ifndef ANIMFS_STORE_TREE_H
#define ANIMFS_STORE_TREE_H

#include "animfs/view.h"
#include "version.h"
#include <limits.h>

enum place_kind {
	PLACE_FILE,   /* the folder of the file itself */
	PLACE_CLIP,   /* a clip's folder */
	PLACE_BONES,  /* the folder bones/ of a clip */
	PLACE_FRAMES, /* the folder frames/ of a clip */
	PLACE_VIEW,   /* a view in one of these folders */
};

struct place {
	enum place_kind kind;
	const struct view *view;     /* the view, if kind is PLACE_VIEW */
	uint32_t clip, track, frame; /* indices, as far as they apply to the kind or view */
};

/* The folders that a clip's folder may have: bones, frames. */
extern const char *const tree_inner_folders[2];

/* A version, with the name of its file. */
struct tree {
	const struct version *version;
	const char *file_name; /* the animation file's own name */
};

/* Bits of the views in views[] that are listed; others can still be opened by name. */
typedef uint64_t view_set;
#define VIEW_SET_ALL UINT64_MAX
view_set view_set_usual(void); /* the views that are listed by default */
/* Parses "csv,json" or "all" (also with ':' as separator). False and err: an unknown word. */
bool view_set_parse(const char *list, view_set *out, struct err *err);

/* Finds `name` in a folder: 0, ENOENT or ENOMEM. */
int tree_find(const struct tree *t, const struct place *folder, const char *name,
	      struct place *out);
/* Like tree_find; returns false if there is no such name. */
bool tree_lookup(const struct tree *t, const struct place *folder, const char *name,
		 struct place *out);
/*
 * Like tree_lookup, for a path with '/'; "" is the folder of the file. A missing name stands for
 * the existing one that differs only in the form of its characters (util/composed.h).
 */
bool tree_walk(const struct tree *t, const char *path, struct place *out);
/* Finds the name in a folder that differs from this one only in that form. */
bool tree_find_alike(const struct tree *t, const struct place *folder, const char *name,
		     struct place *out);
/* Like tree_walk; err is ERR_OPERAND with suggestions of names, or the reason of tree_explain. */
bool tree_resolve(const struct tree *t, const char *path, struct place *out, struct err *err);

/* Longest path of a view in the form of tree_walk. */
#define TREE_PATH_MAX (3 * (NAME_MAX + 1))
void tree_path(const struct tree *t, const struct place *place, char out[TREE_PATH_MAX]);

/* Sets err to the reason why tree_walk did not find a view at this path, if one is known. */
void tree_explain(const struct tree *t, const char *path, struct err *err);

/*
 * Finds the same place in another version, by the labels of its clip and bone. False if not there.
 */
bool tree_again(const struct tree *t, const struct tree *was, const struct place *place,
		struct place *out);

/*
 * Returns the generation since which this view's text, or this folder's names, have been the same.
 * It may be too new, but never too old.
 */
uint64_t tree_since(const struct tree *t, const struct place *place);

/*
 * Calls `each` for every name in a folder, in order. Stops and returns false if `each` does, or
 * when out of memory.
 */
typedef bool tree_each(void *closure, const char *name, const struct place *place);
bool tree_list(const struct tree *t, const struct place *folder, view_set listed, tree_each *each,
	       void *closure);

struct shown tree_shown(const struct tree *t, const struct place *place);
/*
 * Like tree_shown, for a model that was edited from the version's: later texts are parsed against
 * it. The caller frees *made afterwards, unless it is NULL. False when out of memory.
 */
bool tree_shown_model(const struct tree *t, const struct place *place, const struct anim *model,
		      struct shown *out, struct anim **made);
/*
 * Renders the text of a view into `out`, which is empty. 0, ENOMEM, or EFBIG if it exceeds the
 * limit: a file may share curves, which its texts cannot, so a small file could have terabytes of
 * text.
 */
int tree_render(const struct tree *t, const struct place *place, struct buf *out);
/*
 * Gets the size of a rendered text, if it is known without rendering: 0, EFBIG, ENOMEM; ENOSYS: not
 * known.
 */
int tree_size(const struct tree *t, const struct place *place, uint64_t *out);
/* Sets the limit of texts that are rendered later: DEFAULT_MAX_TEXT at first, at most TEXT_MAX. */
void tree_text_limit(size_t bytes);
#define DEFAULT_MAX_TEXT ((size_t)256 << 20)
#define TEXT_MAX ((size_t)1 << 30)
/* Is the place a view of a frame, with the same text for every frame? */
bool tree_alike(const struct tree *t, const struct place *place);

/* Makes "raw.canm", the name of the view of the file's own bytes. */
void tree_raw_name(const char *file_name, const struct format *format, char out[NAME_MAX + 1]);

#endif
