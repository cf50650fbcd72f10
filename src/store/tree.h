/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * tree.h - the folder that an animation file appears as: which names it has, and what each one is.
 *
 * A place is a thing in that folder, by position in one version: ask again for another one, by
 * name. Knows no FUSE and no disk; the mount and the commands stand on it alike.
 */
#ifndef ANIMFS_TREE_H
#define ANIMFS_TREE_H

#include "animfs/view.h"
#include "version.h"
#include <limits.h>

enum place_kind {
	PLACE_FILE,   /* the folder of the file itself */
	PLACE_CLIP,   /* a clip's folder */
	PLACE_BONES,  /* its bones/ */
	PLACE_FRAMES, /* its frames/ */
	PLACE_VIEW,   /* a view in one of them */
};

struct place {
	enum place_kind kind;
	const struct view *view;     /* PLACE_VIEW */
	uint32_t clip, track, frame; /* as far as the kind or the view has them */
};

/* The folders that a clip's may have. */
extern const char *const tree_inner_folders[2];

/* The file whose folder it is. */
struct tree {
	const struct version *version;
	const char *file_name; /* the animation file's own name */
};

/* Which of views[] are listed; each opens by its name all the same. */
typedef uint64_t view_set;
#define VIEW_SET_ALL UINT64_MAX
/* "csv,json" and the like; also with ':' between. False, and the word at fault, when unknown. */
bool view_set_parse(const char *list, view_set *out, struct err *err);

/* What `name` is in a folder: 0, ENOENT, or ENOMEM. */
int tree_find(const struct tree *t, const struct place *folder, const char *name,
	      struct place *out);
/* The same; false when it is not found. */
bool tree_lookup(const struct tree *t, const struct place *folder, const char *name,
		 struct place *out);
/* The same along a path with '/'; "" is the folder of the file. */
bool tree_walk(const struct tree *t, const char *path, struct place *out);

/* Says in err why a view, which tree_walk has not found at the path, is not there, if it knows. */
void tree_explain(const struct tree *t, const char *path, struct err *err);

/* The same place in another version, by the labels of its clip and bone. False when it is not
 * there.
 */
bool tree_again(const struct tree *t, const struct tree *was, const struct place *place,
		struct place *out);

/*
 * The generation since which the text of this view, or the names in this folder, have been the
 * same. Never too old; it may be too new, up to the version's own.
 */
uint64_t tree_since(const struct tree *t, const struct place *place);

/*
 * Differs between two versions where there are other clips, bones or frames; a view that is there
 * or not for what curves say makes no difference.
 */
uint64_t tree_names(const struct version *version);

/* Every name in a folder, in order. Stops and returns false when `each` does, or out of memory. */
typedef bool tree_each(void *closure, const char *name, const struct place *place);
bool tree_list(const struct tree *t, const struct place *folder, view_set listed, tree_each *each,
	       void *closure);

struct shown tree_shown(const struct tree *t, const struct place *place);
/*
 * The text of a view, to an empty `out`. 0, ENOMEM, or EFBIG when it is longer than the limit:
 * curves are shared in a file and not in its texts, so a small one can say terabytes.
 */
int tree_render(const struct tree *t, const struct place *place, struct buf *out);
/* Of all texts that are rendered later: DEFAULT_MAX_TEXT at first, and never above TEXT_MAX. */
void tree_text_limit(size_t bytes);
#define DEFAULT_MAX_TEXT ((size_t)256 << 20)
#define TEXT_MAX ((size_t)1 << 30)
/* Is the view of a frame, and would every other frame's have the same text? */
bool tree_alike(const struct tree *t, const struct place *place);

/* "raw.canm": the name of the view of the file's own bytes. */
void tree_raw_name(const char *file_name, const struct format *format, char out[NAME_MAX + 1]);

#endif
