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
	VIEW_OF_FILE,  /* the view is in the folder of the file */
	VIEW_OF_CLIP,  /* the view is in the folder of a clip */
	VIEW_OF_FRAME, /* the view is in a clip's frames/ */
	VIEW_OF_BONE,  /* the view is in a clip's bones/ */
};

/* Options for the views of a whole mount. {0}: the defaults. */
struct style {
	bool lines; /* --bones=lines: in pictures, bones are lines and not octahedra */
	/* --bvh=lossy: clip.bvh is present even if it loses scales or keeps positions of bones */
	bool lossy_bvh;
	bool plain_gltf; /* --gltf=plain: clip.gltf has no mesh */
	bool resample;   /* --gltf-rate=resample: glTF and BVH at another frame rate are accepted */
	/* --tangents: tables have columns for tangents, if the format has tangents */
	bool tangents;
	bool left_hand; /* --ff9clip-hand=left: the space of the format's models is left-handed */
};

/*
 * The stills of a clip, which are other files or embedded in the file: joined, or the reason why
 * they cannot be.
 */
struct shown_stills {
	/* the joined stills (x3d_join.h); NULL: they cannot be joined */
	const struct x3d_joined *joined;
	const struct err *why; /* the reason why the stills cannot be joined; or NULL */
	const char *folder;    /* path from the clip's folder to that of the stills: "../../" */
};

/*
 * The subject of a view. clip, track and frame count from 0; which of them are set depends on the
 * view's place.
 */
struct shown {
	const struct anim *anim;
	/* bytes of the loose file that is shown in place of an archive's member; or NULL */
	struct bytes raw;
	const char *file_name; /* the animation file's own name, without folders */
	const char *from; /* name of the mod's file that is shown in place of the member; or NULL */
	const struct skeleton *skeleton; /* rest pose and parents (skeleton.h); NULL: none known */
	/*
	 * The stills of the clip or, for a view of the file, of each of its clips. NULL if the
	 * format has none.
	 */
	const struct shown_stills *stills;
	struct style style;
	/*
	 * For parse: the text is known to be a rendered one, of some version. So what it lacks was
	 * not left out by mistake.
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
	const char *name; /* name of the view for --views: "csv", "json", "curves", "kanim", ... */
	enum view_place place;
	/* The file's name. VIEW_OF_BONE: what follows the bone's label, ".csv". VIEW_OF_FRAME: what
	 * follows frame_NNNNN. A name that ends in "." gets the animation file's extension (raw.).
	 */
	const char *file;
	/* returns whether the view exists for this subject; NULL: always */
	bool (*present)(const struct shown *at);
	/*
	 * Used instead of `present` if the check needs memory: returns 0, ENOENT or ENOMEM. Or
	 * NULL.
	 */
	int (*check)(const struct shown *at);
	/* Appends the whole text. A failed allocation sets out->failed. */
	void (*render)(const struct shown *at, struct buf *out);
	/*
	 * Computes the size of the text without rendering it. Returns false when out of memory.
	 * NULL: the text must be rendered.
	 */
	bool (*size)(const struct shown *at, uint64_t *out);
	/*
	 * Parses a text: makes a model edited from at->anim (anim_edit); curves and values that the
	 * text did not change are the same pointers and bits. NULL and err (position in the text)
	 * when refused; ERR_EARLY and ERR_EMPTY mean a half-written text rather than a wrong one.
	 * parse is NULL if the text is generated and cannot be edited.
	 */
	struct anim *(*parse)(const struct shown *at, struct bytes text, struct err *err);
	/*
	 * Parses a text that shows at->skeleton, as parse does; the skeleton is kept in a file of
	 * its own.
	 */
	struct skeleton *(*parse_skeleton)(const struct shown *at, struct bytes text,
					   struct err *err);
	/* Sets err to the reason why the view is absent. NULL: there is no reason to give. */
	void (*explain)(const struct shown *at, struct err *err);
	/*
	 * For VIEW_OF_FRAME: returns whether the text of every frame is the same. NULL: it is not.
	 */
	bool (*alike)(const struct shown *at);
	bool stills;   /* of a VIEW_OF_CLIP: it exists only for clips of stills */
	bool unlisted; /* the view is not listed by default, as that would slow down grep -r */
	bool whole; /* the text is the animation file itself (raw.*); it is decoded, not parsed */
	bool every_key;  /* of a VIEW_OF_CLIP: the text has at least a few bytes for every key */
	bool posed;      /* the text depends on at->skeleton or at->stills */
	bool names_file; /* the text depends on at->file_name */
	/* of a VIEW_OF_FILE: the text depends on the list of curves, not on their content */
	bool lists;
	bool composed; /* the view shows additive clips on their base */
};

extern const struct view *const views[]; /* ends with NULL */

#endif
