/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * view.h - a view: a file that shows a model, and parses an edited text of it.
 *
 * A view knows no format and no file system. The rendered text depends only on `struct shown`, so
 * it is always the same, and its size is exact.
 */
#ifndef ANIMFS_VIEW_H
#define ANIMFS_VIEW_H

#include "animfs/anim.h"

enum view_place {
	VIEW_OF_FILE,  /* in the file's folder */
	VIEW_OF_CLIP,  /* in the clip's folder */
	VIEW_OF_FRAME, /* in the clip's frames/ */
	VIEW_OF_BONE,  /* in the clip's bones/ */
};

/* Choices for the views of a whole mount. {0}: the defaults. */
struct style {
	bool lines;      /* --bones=lines: in pictures, bones are lines and not octahedra */
	bool lossy_bvh;  /* --bvh=lossy: clip.bvh is present even if it has to drop scales */
	bool plain_gltf; /* --gltf=plain: clip.gltf has no mesh */
	bool resample;   /* --gltf-rate=resample: glTF and BVH of another frame rate are taken */
	bool tangents;   /* --tangents: tables have columns for them, where the format has them */
	bool left_hand;  /* --ff9clip-hand=left: the space of its models is left-handed */
};

/*
 * The stills of a clip, which are other files, or embedded in the file: joined, or the reason why
 * not.
 */
struct shown_stills {
	const struct x3d_joined *joined; /* x3d_join.h; NULL: they cannot be joined */
	const struct err *why;           /* the reason for that; or NULL */
	const char *folder;              /* from the clip's folder to theirs: "../../" */
};

/* The subject of a view. clip, track and frame count from 0; which are set depends on the place. */
struct shown {
	const struct anim *anim;
	struct bytes raw;      /* the loose file that is shown in place of a member; or NULL */
	const char *file_name; /* the animation file's own name, without folders */
	const char *from;      /* a file of a mod that is shown in place of the member; or NULL */
	const struct skeleton *skeleton; /* rest pose and parents (skeleton.h); NULL: none known */
	/*
	 * The stills of the clip; for a view of the file, of all its clips. NULL if there are none.
	 */
	const struct shown_stills *stills;
	struct style style;
	/*
	 * For parse: the text is known to be a rendered one, of some version, so nothing is missing
	 * in it by mistake.
	 */
	bool as_rendered;
	uint32_t clip, track, frame;
	/*
	 * In views that are `composed`, for a clip that is shown on top of another
	 * (model/compose.h): `anim` is the composed model, `stored` the file's own, and `base`
	 * the clip below. A view of the whole file has no `base`.
	 * NULL: `anim` is the file's own.
	 */
	const struct anim *stored;
	uint32_t base;
};

struct view {
	const char *name; /* for --views: "csv", "json", "curves", "kanim", ... */
	enum view_place place;
	/* The file's name. VIEW_OF_BONE: what follows the bone's label, ".csv". VIEW_OF_FRAME: what
	 * follows frame_NNNNN. A name that ends in "." gets the animation file's extension (raw.).
	 */
	const char *file;
	bool (*present)(const struct shown *at); /* would the text have content? NULL: always */
	/* Instead of present, if the check needs memory: 0, ENOENT or ENOMEM. Or NULL. */
	int (*check)(const struct shown *at);
	/* Appends the whole text. A failed allocation shows in out->failed. */
	void (*render)(const struct shown *at, struct buf *out);
	/*
	 * The size of that text, if it can be computed without rendering; false: no memory. Or
	 * NULL.
	 */
	bool (*size)(const struct shown *at, uint64_t *out);
	/*
	 * Makes the model of the text, edited from at->anim (anim_edit); curves and values that the
	 * text did not change are the same pointers and bits. NULL and err (position in the text)
	 * when refused; ERR_EARLY and ERR_EMPTY mean a half-written text rather than a wrong one.
	 * parse is NULL if the text is generated and cannot be edited.
	 */
	struct anim *(*parse)(const struct shown *at, struct bytes text, struct err *err);
	/* As parse, for a text that shows at->skeleton, which is kept in a file of its own. */
	struct skeleton *(*parse_skeleton)(const struct shown *at, struct bytes text,
					   struct err *err);
	/* Sets err to the reason why it is not present. NULL: there is no reason to give. */
	void (*explain)(const struct shown *at, struct err *err);
	/* VIEW_OF_FRAME: is the text of every frame the same? NULL: no. */
	bool (*alike)(const struct shown *at);
	bool stills;   /* VIEW_OF_CLIP: only of clips of stills */
	bool unlisted; /* not listed by default, as it would slow down grep -r */
	bool whole; /* the text is the animation file itself (raw.*); it is decoded, not parsed */
	bool every_key;  /* VIEW_OF_CLIP: the text has at least a few bytes for every key */
	bool posed;      /* the text depends on at->skeleton or at->stills, */
	bool names_file; /* and on at->file_name */
	bool lists;      /* of a file: it depends on the list of curves, not on their content */
	bool composed;   /* additive clips are shown on their base */
};

extern const struct view *const views[]; /* ends with NULL */

#endif
