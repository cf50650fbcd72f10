/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "commit_skeleton.h"

#include "work.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>

/* Is a joint of `old` not known any more? */
static bool skeleton_loses(const struct skeleton *old, const struct skeleton *now)
{
	for (uint32_t i = 0; old && i < old->count; i++) {
		if (!skeleton_joint(now, old->joints[i].bone))
			return true;
	}
	return false;
}

/*
 * Who a new one belongs to. Where somebody else asks for it than the owner of `like`, it is his,
 * and of the group of `like` if he, or the folder, could give it that.
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
	if (!caller_in_group(who, st.st_gid))
		owner->gid = folder.st_mode & S_ISGID ? folder.st_gid : who->groups[0];
	return 0;
}

/* A new one is as the file is to everybody: mode, ACLs, and owner where that can be. */
static int prepare_new(const struct work *w, struct replacement *r, struct replace_owner *owner)
{
	int error = at_open(w->where->dir, w->where->name, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0,
			    &r->like);

	if (error)
		return error;
	r->has_like = true;
	r->owner = owner;
	return choose_owner(w, r->like, owner);
}

/* Over `old`, which holds the bytes `was`; NULL: there is none. */
static int put_text(struct work *w, const char *name, const struct rest_text *old,
		    const struct bytes *was, const struct backup *backup)
{
	struct replace_owner owner;
	struct file_version now;
	struct temporary temporary;
	struct replacement r = {.dir = w->where->dir,
				.via = w->where->dir,
				.name = name,
				.temporary = temporary.name,
				.expect = old ? &old->version : NULL,
				.was = was};
	int error = temporary_begin(w, &temporary);

	if (error)
		return error;
	if (!old)
		error = prepare_new(w, &r, &owner);
	if (!error)
		error = replace_prepare(&r, buf_bytes(&w->bytes));
	w->obstacle = work_obstacle(error);
	if (!error)
		error = work_place(w, &r, backup, &now, NULL);
	replace_end(&r);
	if (r.has_like)
		close(r.like);
	temporary_end(w, &temporary);
	return error;
}

/* The bytes of the text, if it is still what was found. */
static int read_text(struct work *w, const char *name, const struct rest_text *old,
		     struct buf *bytes)
{
	struct stat st;
	int error = at_read(w->where->dir, name, REST_TEXT_MAX, bytes, &st);

	if (!error && XXH3_64bits(bytes->data, bytes->size) != old->hash) {
		w->obstacle = OBSTACLE_CHANGED;
		error = EAGAIN;
	}
	return error;
}

/* What is there is kept before bones go from it. */
static int put_over_text(struct work *w, const char *name, const struct rest_text *old)
{
	bool loses = skeleton_loses(rest_skeleton(w->current->rest), w->skeleton);
	struct buf there = BUF_INIT;
	struct backup backup = {.name = name};
	int error = read_text(w, name, old, &there);

	backup.bytes = buf_bytes(&there);
	if (!error)
		error = put_text(w, name, old, &backup.bytes, loses ? &backup : NULL);
	buf_release(&there);
	return error;
}

/* Saved in it, the skeleton would be shown to nobody. */
static bool refuse_barred(const struct work *w, const char *name, struct err *err)
{
	err_set(err, ERR_SYSTEM, "not everybody who may read %.120s may read %.120s",
		w->where->name, name);
	err->number = EACCES;
	return err_accept(err, "the same once they may, or that file is removed");
}

/* May who asks write the text, of the version `old`, or make it? 0 or an errno. */
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

static bool put_skeleton(struct work *w, const char *name, struct err *err)
{
	struct rest_text old;
	bool found = source_rest_text(w->source, name, &old);
	int error;

	if (source_rest_bars(w->source, name))
		return refuse_barred(w, name, err);
	error = check_writer(w, name, found ? &old.version : NULL);
	if (error)
		return err_system(err, error, name);
	if (!found) {
		error = put_text(w, name, NULL, NULL, NULL);
		w->is_new = !error;
	} else if (old.faulty) {
		err_set(err, ERR_CONFLICT, "%.120s, which is there, cannot be read", name);
		return err_accept(err, "the same once that file is mended or removed");
	} else {
		error = put_over_text(w, name, &old);
	}
	return error ? err_system(err, error, name) : true;
}

static bool write_skeleton(struct work *w, struct err *err)
{
	char name[NAME_MAX + 1];

	if (!rest_own_name(w->where->name, name))
		return err_set(err, ERR_STORE, "the name of its file, %.80s..., would be too long",
			       name);
	skeleton_text(w->skeleton, w->current->anim, &w->bytes);
	if (w->bytes.failed)
		return err_memory(err);
	if (w->bytes.size > REST_TEXT_MAX)
		return err_set(err, ERR_STORE, "the text of all bones is longer than %zu bytes",
			       REST_TEXT_MAX);
	return put_skeleton(w, name, err);
}

/*
 * One that was made is not to stay where it does not count: its owner is not the animation's, and
 * may not give the animation's readers what they need.
 */
static bool check_made(struct work *w, struct err *err)
{
	char name[NAME_MAX + 1];

	if (!w->is_new || !rest_own_name(w->where->name, name) ||
	    !source_rest_bars(w->source, name))
		return true;
	unlinkat(w->where->dir, name, 0);
	err_set(err, ERR_SYSTEM,
		"%.120s, made by user %u, would not be for everybody who may read %.120s", name,
		(unsigned)w->who->uid, w->where->name);
	err->number = EACCES;
	return false;
}

/* What comes of it is what is read then. */
static bool commit_skeleton(struct work *w, struct err *err) REQUIRES(work_class)
{
	const struct skeleton *now;

	source_doubt(w->source); /* the text beside it is read by the same */
	w->current = source_latest(w->source, w->where, &w->stamp, err);
	if (!w->current)
		return false;
	now = rest_skeleton(w->current->rest);
	if (skeleton_same(w->skeleton, now)) {
		w->result = version_get(w->current);
		return true;
	}
	if (!skeleton_same(now, rest_skeleton(w->base->rest)) &&
	    !(w->last_skeleton && skeleton_same(now, w->last_skeleton)))
		return err_set(err, ERR_CONFLICT,
			       "somebody else changed the skeleton in the meantime");
	if (!write_skeleton(w, err))
		return false;
	w->result = source_latest(w->source, w->where, &w->stamp, err);
	return w->result && check_made(w, err);
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
