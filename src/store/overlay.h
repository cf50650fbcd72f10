/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * overlay.h - loose files: the files to which edited members of archives are written, and from
 * which they are read.
 *
 * Archives are never written. The member is written whole and unpacked to a file of its own, and
 * read from there as long as that exists. Its place is
 *
 *   Mods/DIR/NAME        beside the archive, if that is one of the game Earth Defense Force: there
 *                        EDFModLoader finds the file and has the game load it. Names are those
 *                        stored in the archive. The game ignores case: a file or folder whose name
 *                        is equal except for case is used, and never a second one made.
 *   OVERLAY/PATH/LABELS  elsewhere: PATH is the archive's from SOURCE, LABELS those of contents.h.
 *                        OVERLAY is --overlay, or "overlay" in the state directory.
 *
 * A member of a member has no file of its own. With `rebuild` the RAB that contains it is written
 * again (container/rab_write.h), as the loose file.
 *
 * The rules are those of EDFModLoader: the game's working directory is that of its exe, and
 * /cri_bind/DIR/NAME becomes ./Mods/DIR/NAME if that is a file.
 */
#ifndef ANIMFS_STORE_OVERLAY_H
#define ANIMFS_STORE_OVERLAY_H

#include "member.h"

#include "where.h"

#include <sys/stat.h>

/* ---- the overlay ---- */

struct overlay;

/*
 * `state` stays the caller's. `dir` is --overlay, or NULL; it need not exist, but its parent must.
 * A `dir` that is given is used for archives of the game, too. Writes nothing. Call it before
 * state_clean, history_clean and history_recover. NULL, with err set, on failure.
 */
struct overlay *overlay_new(struct state *state, const char *dir, struct err *err);
void overlay_free(struct overlay *o); /* NULL is fine */
/* A descriptor of OVERLAY's parent folder, not the caller's; -1: it is in the state directory. */
int overlay_above(const struct overlay *o);

/* An archive of SOURCE; valid as long as its descriptor and path are. */
struct archive_place {
	int dir;          /* descriptor of the archive's folder */
	const char *path; /* path of the archive from SOURCE */
	struct stat st;   /* attributes of the archive */
	/* the loose files of its members are below Mods, in the archive's folder */
	bool is_game;
};
/* The archives that each of the games binds to /cri_bind/; ends with NULL. */
extern const char *const game_archives[];
/* Sets is_game, by the names in the archive's folder. */
void archive_place_settle(struct archive_place *a, const struct overlay *o);

/* ---- a loose file ---- */

struct loose {
	/*
	 * The place of the loose file, which need not exist, for struct where. `label` is its name
	 * in the archive, under which it is decoded and shown; `name` may differ from that in case.
	 */
	char *folder; /* path of its folder from SOURCE; in OVERLAY: of the archive, and on */
	char *name;   /* name of the loose file on disk */
	/* path of the loose file for messages, from SOURCE or as --overlay was given */
	char *shown;
	char *label;
	bool is_there;

	/* the member and its archive; `member` is empty for the loose file of an archive of SOURCE
	 */
	struct archive_place archive;
	struct member_of member;

	/* fields below are private to overlay.c */
	const struct overlay *overlay;
	bool is_file; /* the loose file replaces the archive itself, and not a member */
	const struct loose
		*rab;    /* the RAB that contains the member, and that is rebuilt; or NULL */
	size_t below_at; /* offset in `folder` of the path by which that folder is opened */
	char *refusal;   /* the reason why the loose file cannot be written; NULL: it can, as far as
			    is known */
	bool is_nowhere; /* the loose file never exists */
};

/*
 * Finds the loose file of a member. `m->archive` and `m->contents` must stay. Fails only when Mods
 * cannot be read, or out of memory; a member that cannot be a loose file has none, and loose_check
 * has the reason. Release it in either case.
 */
bool loose_find(struct loose *l, const struct overlay *o, const struct archive_place *a,
		const struct member_of *m, struct err *err);
/* Finds the loose file of an archive of SOURCE: one that was rebuilt. */
bool loose_find_file(struct loose *l, const struct overlay *o, const struct archive_place *a,
		     struct err *err);
/*
 * A member of an archive that is itself the member of `outer`, which must stay; `st`: the
 * attributes that loose_read returned for that archive. With `rebuild` it can be written, if the
 * archive is a RAB and could be a loose file.
 */
bool loose_find_inner(struct loose *l, const struct loose *outer, const struct stat *st,
		      const struct member_of *m, bool rebuild, struct err *err);
void loose_release(struct loose *l);
/*
 * Could any member of the archive have a loose file? False: there is no folder for them. Cheaper
 * than loose_find.
 */
bool loose_may_be(const struct overlay *o, const struct archive_place *a);

/* Can the loose file be written? If not, ERR_STORE with the reason and the alternative. */
bool loose_check(const struct loose *l, struct err *err);
/* Opens the archive of SOURCE that contains the member, read-only. 0 or an errno. */
int loose_open_archive(const struct loose *l, int *fd);
/* Opens the folder of the loose file with O_PATH; with `make`, creates it. 0 or an errno. */
int loose_folder(const struct loose *l, bool make, int *fd);
/*
 * Gets the attributes of the loose file or, if there is none, the archive's with the member's size.
 * 0 or an errno. `dir` is the loose file's folder; -1: there is none.
 */
int loose_stat(const struct loose *l, int dir, struct stat *st);
/* Appends the bytes of the loose file, or of the member if there is none; *st as of loose_stat. */
bool loose_read(const struct loose *l, int dir, size_t limit, struct buf *out, struct stat *st,
		struct err *err);
/*
 * For a member of a RAB: appends its bytes in this RAB, which may be newer than the one that was
 * opened. ERR_CONFLICT if it has another member of that number.
 */
bool loose_read_from(const struct loose *l, struct bytes rab, size_t limit, struct buf *out,
		     struct err *err);
/*
 * The content of the loose file for these bytes of the member: for a member of a RAB, the RAB
 * rebuilt from `was`, of which loose_read_from read the member; else the bytes themselves. False
 * and err.
 */
bool loose_wrap(const struct loose *l, struct bytes was, struct bytes bytes, struct buf *out,
		struct err *err);

/*
 * ---- all of them ----
 *
 * Calls `each` with the path of every loose file: those in Mods of the games in SOURCE,
 * which are up to three folders deep, from SOURCE on; and those of OVERLAY, below that as it was
 * named. In order of their names. Excluded are the files of other tools in Mods: Plugins, Patches,
 * names with a leading dot. False when `each` returned that, or with err.
 */
typedef bool loose_each(void *closure, const char *path, const struct stat *st);
bool overlay_for_each(const struct overlay *o, int source, loose_each *each, void *closure,
		      struct err *err);

#endif
