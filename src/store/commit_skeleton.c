/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "commit_skeleton.h"
#include "skeleton/difference.h"

#include "model/summary.h"
#include "overlay.h"
#include "work.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>

/*
 * The owner of a new text: that of the animation file (`like`) if the caller is root or not given,
 * else the caller. Then the group is the file's, too, if the caller is in it, or its groups are not
 * known; else as for any new file.
 */
static int choose_owner(const struct work *w, int like, struct replace_owner *owner)
{
	const struct caller *who = w->who;
	struct stat st, folder;

	if (fstat(like, &st) || fstat(w->where->dir, &folder))
		return errno;
	*owner = (struct replace_owner){st.st_uid, st.st_gid};
	if (!who || who->uid == 0)
		return 0;
	owner->uid = who->uid;
	if (who->groups[0] != (gid_t)-1 && !caller_in_group(who, st.st_gid))
		owner->gid = folder.st_mode & S_ISGID ? folder.st_gid : who->groups[0];
	return 0;
}

/* Gives a new text the animation file's mode and ACLs and, if possible, its owner. */
static int prepare_new(const struct work *w, struct replacement *r, struct replace_owner *owner)
{
	int error = dirfd_open(w->where->dir, w->where->name, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0,
			       &r->like);

	/* A member without a loose file has no file whose attributes could be taken. */
	if (error == ENOENT && w->where->loose)
		return 0;
	if (error)
		return error;
	r->has_like = true;
	r->owner = owner;
	return choose_owner(w, r->like, owner);
}

/*
 * Refuses a new text that the guard would bar: its owner may differ from the animation's, and so
 * the animation's readers may not be allowed to read it. 0 or an errno.
 */
static int check_readers(const struct work *w, const char *name, const struct temporary *made,
			 struct err *err)
{
	struct file_version version;

	if (guard_lets_read(store_guarded(source_store(w->source)), w->where->dir, w->where->name,
			    made->name, &version))
		return 0;
	err_set(err, ERR_SYSTEM,
		"%.120s, made by user %u, would not be for everybody who may read %.120s", name,
		(unsigned)w->who->uid, w->where->name);
	err->number = EACCES;
	return EACCES;
}

/* Writes the text over `old`, whose bytes are `was`; NULL: there is none. */
static int commit_skeleton_put_text(struct work *w, const char *name,
				    const struct skeleton_file *old, const struct bytes *was,
				    struct err *err)
{
	const struct bytes data = buf_bytes(&w->bytes);
	struct buf what = BUF_INIT;
	struct replace_owner owner;
	struct file_version now;
	struct temporary temporary;
	struct history_save save;
	struct replacement r = {.dir = w->where->dir,
				.via = w->where->dir,
				.name = name,
				.temporary = temporary.name,
				.expect = old ? &old->version : NULL,
				.was = was,
				.keep = history_keep,
				.keeper = &save};
	int error = temporary_begin(w, &temporary);

	if (error)
		return error;
	if (!old)
		error = prepare_new(w, &r, &owner);
	if (!error)
		error = work_prepare(w, &r, data);
	if (!error && !old)
		error = check_readers(w, name, &temporary, err);
	if (!error)
		skeleton_summary(shared_skeleton(w->current->skeleton), w->skeleton, &what);
	if (!error)
		error = work_place(w, &r, data, &what, &now, NULL);
	replace_end(&r);
	if (r.has_like)
		close(r.like);
	buf_release(&what);
	temporary_end(w, &temporary);
	return error;
}

/* Reads the skeleton text, if it is still the file that was found. */
static int commit_skeleton_read_text(struct work *w, const char *name,
				     const struct skeleton_file *old, struct buf *bytes)
{
	struct stat st;
	int error = dirfd_read(w->where->dir, name, SKELETON_TEXT_MAX, bytes, &st);

	if (!error && XXH3_64bits(bytes->data, bytes->size) != old->hash) {
		w->obstacle = OBSTACLE_CHANGED;
		error = EAGAIN;
	}
	return error;
}

static int put_over_text(struct work *w, const char *name, const struct skeleton_file *old,
			 struct err *err)
{
	struct buf there = BUF_INIT;
	struct bytes was;
	int error = commit_skeleton_read_text(w, name, old, &there);

	was = buf_bytes(&there);
	if (!error)
		error = commit_skeleton_put_text(w, name, old, &was, err);
	buf_release(&there);
	return error;
}

/* Refuses to save to a text that the guard bars, since its skeleton would not be used. */
static bool refuse_barred(const struct work *w, const char *name, struct err *err)
{
	err_set(err, ERR_SYSTEM, "not everybody who may read %.120s may read %.120s",
		w->where->name, name);
	err->number = EACCES;
	return err_accept(err, "the same save once they may, or once that file is removed");
}

/* May the caller write the text of version `old`, or create one? 0 or an errno. */
static int check_writer(struct work *w, const char *name, const struct file_version *old)
{
	const struct guard *guard = store_guarded(source_store(w->source));
	struct file_version asked;
	int error;

	if (!guard)
		return 0;
	if (!w->who)
		return EACCES;
	error = guard->check_write(guard, w->who, w->where->dir, old ? name : NULL, &asked);
	if (!error && old && !file_version_same(&asked, old)) {
		w->obstacle = OBSTACLE_CHANGED;
		error = EAGAIN;
	}
	return error;
}

/* Checks whether the text, `old` or none yet, may be written. */
static bool commit_skeleton_check_text(struct work *w, const char *name,
				       const struct skeleton_file *old, struct err *err)
{
	int error;

	if (source_bars_skeleton(w->source, name))
		return refuse_barred(w, name, err);
	error = check_writer(w, name, old ? &old->version : NULL);
	if (error)
		return err_system(err, error, name);
	if (old && old->faulty) {
		err_set(err, ERR_CONFLICT, "%.120s, which is there, cannot be read", name);
		return err_accept(err, "the same save once that file is mended or removed");
	}
	return true;
}

/*
 * Checks everything that can be checked before writing. Sets `name` to the name of the skeleton
 * text, and w->bytes to its content.
 */
static bool check_skeleton(struct work *w, char name[NAME_MAX + 1], struct skeleton_file *old,
			   bool *found, struct err *err)
{
	if (w->where->loose && w->where->loose->rab)
		return err_set(err, ERR_STORE,
			       "the rest pose of a member of an archive in another is only read");
	if (!skeleton_own_name(w->where->name, name))
		return err_set(err, ERR_STORE, "the name of its file, %.80s..., would be too long",
			       name);
	skeleton_text(w->skeleton, w->current->anim, &w->bytes);
	if (w->bytes.failed)
		return err_memory(err);
	if (w->bytes.size > SKELETON_TEXT_MAX)
		return err_set(err, ERR_STORE, "the text of all bones is longer than %zu bytes",
			       SKELETON_TEXT_MAX);
	*found = source_skeleton_file(w->source, name, old);
	return commit_skeleton_check_text(w, name, *found ? old : NULL, err);
}

static bool write_skeleton(struct work *w, struct err *err)
{
	struct skeleton_file old;
	char name[NAME_MAX + 1];
	bool found;
	int error;

	if (w->where->loose && !w->where->loose->rab && !work_make_folder(w, err))
		return false;
	if (!check_skeleton(w, name, &old, &found, err))
		return false;
	error = found ? put_over_text(w, name, &old, err)
		      : commit_skeleton_put_text(w, name, NULL, NULL, err);
	return !error || err_system(err, error, name);
}

/* Reads the present version. *same: its skeleton equals the edited one. */
static bool read_current(struct work *w, bool *same, struct err *err) REQUIRES(work_class)
{
	const struct skeleton *now;

	source_doubt(w->source); /* so that the text beside it is read again */
	w->current = source_latest(w->source, w->where, &w->stamp, err);
	if (!w->current)
		return false;
	now = shared_skeleton(w->current->skeleton);
	*same = skeleton_same(w->skeleton, now);
	return *same || skeleton_same(now, shared_skeleton(w->base->skeleton)) ||
	       (w->last_skeleton && skeleton_same(now, w->last_skeleton)) ||
	       err_set(err, ERR_CONFLICT, "another program changed the skeleton in the meantime");
}

/* Writes the text, and reads the result back as the next version. */
static bool commit_skeleton(struct work *w, struct err *err) REQUIRES(work_class)
{
	bool same;

	if (!read_current(w, &same, err))
		return false;
	if (same) {
		w->result = version_get(w->current);
		return true;
	}
	if (!write_skeleton(w, err))
		return false;
	w->result = source_result(w->source, w->where, w->current, &w->stamp, err);
	return w->result != NULL;
}

/* Checks like commit_skeleton, but writes nothing. */
static bool try_skeleton(struct work *w, struct err *err) REQUIRES(work_class)
{
	struct skeleton_file old;
	char name[NAME_MAX + 1];
	bool same, found;

	if (!read_current(w, &same, err) || (!same && !check_skeleton(w, name, &old, &found, err)))
		return false;
	w->result = version_get(w->current);
	return true;
}

bool source_check_skeleton(struct source *s, const struct where *where, struct version *base,
			   const struct skeleton *edited, struct err *err)
{
	struct work w = {.source = s,
			 .where = where,
			 .attempt = try_skeleton,
			 .base = base,
			 .skeleton = edited};
	struct version *now;
	bool fine = work_run(&w, &now, NULL, err) != COMMIT_REFUSED;

	version_put(now);
	return fine;
}

enum commit source_commit_skeleton(struct source *s, const struct where *where,
				   struct version *base, const struct skeleton *edited,
				   const struct skeleton *last, const struct caller *who,
				   struct version **now, struct err *err)
{
	struct work w = {.source = s,
			 .where = where,
			 .attempt = commit_skeleton,
			 .base = base,
			 .skeleton = edited,
			 .last_skeleton = last,
			 .who = who};

	return work_run(&w, now, NULL, err);
}
