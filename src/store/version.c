/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "version.h"

#include "../names.h"

#include <linux/limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int64_t version_clip(const struct version *v, const char *label)
{
	return labels_clip(v->labels, v->anim, label);
}

int64_t version_track(const struct version *v, uint32_t clip, const char *label)
{
	return labels_track(v->labels, v->anim, clip, label);
}

bool version_same_bytes(const struct version *a, const struct version *b)
{
	return a == b || bytes_equal(buf_bytes(&a->bytes), buf_bytes(&b->bytes));
}

/* ---- making one ---- */

const char *file_extension(const char *file_name, const struct format *format)
{
	const char *dot = strrchr(file_name, '.');

	return dot && dot != file_name && dot[1] ? dot + 1 : format->suffix;
}

#define RESERVED_MAX 16

/* Clips stand beside the file's own views and must not take their names. */
static bool label_all(struct anim *a, const char *file_name)
{
	const char *reserved[RESERVED_MAX + 1] = {NULL};
	char raw[NAME_MAX + 1];
	unsigned count = 0;

	for (const struct view *const *view = views; *view && count < RESERVED_MAX; view++) {
		if ((*view)->place != VIEW_OF_FILE)
			continue;
		reserved[count++] = (*view)->file;
		if ((*view)->file[strlen((*view)->file) - 1] != '.')
			continue;
		snprintf(raw, sizeof(raw), "%s%s", (*view)->file,
			 file_extension(file_name, a->format));
		reserved[count - 1] = raw;
	}
	return names_label(a, reserved);
}

void version_free(struct version *v)
{
	ages_release(&v->ages);
	anim_free(v->anim);
	naming_table_put(v->names);
	rest_skeleton_put(v->rest);
	buf_release(&v->bytes);
	labels_free(v->labels);
	free(v);
}

/* Of formats whose clips have no names of their own. */
static bool name_clips(struct anim *a, const char *file_name)
{
	const char *name = arena_text(&a->arena, file_name, name_stem(file_name));

	for (uint32_t i = 0; name && i < a->clip_count; i++)
		((struct clip *)&a->clips[i])->name = name;
	return name != NULL;
}

static bool version_decode(struct version *v, const char *file_name, const struct decoding *how,
			   struct err *err)
{
	struct bytes src = buf_bytes(&v->bytes);
	size_t labels_size;

	v->names = naming_table_get(how->names);
	v->rest = rest_skeleton_get(how->rest);
	if (!v->codec)
		v->codec = codec_probe(src);
	if (!v->codec)
		return err_set(err, ERR_UNKNOWN, "this is no animation format that is known here");
	v->anim = v->codec->decode(src, &how->hints, err);
	if (!v->anim)
		return false;
	if (how->rate > 0)
		v->anim->rate = how->rate;
	v->anim->rotations = how->rotations;
	v->style = how->style;
	v->file_name = arena_text(&v->anim->arena, file_name, strlen(file_name));
	v->anim->bone_names = how->hints.bone_names;
	if (!v->file_name || (v->anim->format->nameless && !name_clips(v->anim, file_name)) ||
	    !label_all(v->anim, file_name))
		return err_memory(err);
	v->labels = labels_new(v->anim, &labels_size);
	if (!v->labels)
		return err_memory(err);
	v->size = sizeof(*v) + v->bytes.capacity + v->anim->arena.total + labels_size +
		  rest_skeleton_size(v->rest);
	return true;
}

struct version *version_of_bytes(const struct codec *codec, struct buf *bytes,
				 const char *file_name, const struct decoding *how, struct err *err)
{
	static const struct decoding usual;
	static _Atomic uint64_t generations;
	struct version *v = calloc(1, sizeof(*v));

	if (!v) {
		buf_release(bytes);
		err_memory(err);
		return NULL;
	}
	v->references = 1;
	v->generation = ++generations;
	v->lineage = v->rest_since = v->named_since = v->generation;
	v->codec = codec;
	v->bytes = *bytes;
	*bytes = (struct buf)BUF_INIT;
	if (version_decode(v, file_name, how ? how : &usual, err))
		return v;
	version_free(v);
	return NULL;
}

struct version *version_get(struct version *v)
{
	v->references++;
	return v;
}

/* Not the last holder? Then the counter is all there is to change. */
static bool put_one_of_many(struct version *v)
{
	unsigned seen = v->references;

	while (seen > 1) {
		if (atomic_compare_exchange_weak(&v->references, &seen, seen - 1))
			return true;
	}
	return false;
}

void version_put(struct version *v)
{
	if (!v || put_one_of_many(v))
		return;
	if (v->put_last)
		v->put_last(v);
	else
		version_free(v);
}

/* ---- ages ---- */

static bool joints_same(const struct skeleton *a, const struct skeleton *b)
{
	if (a == b)
		return true;
	if (!a || !b || a->count != b->count)
		return false;
	for (uint32_t i = 0; i < a->count; i++) {
		const struct joint *x = &a->joints[i], *y = &b->joints[i];

		if (x->parent != y->parent || strcmp(x->bone, y->bone) != 0 ||
		    memcmp(x->rest, y->rest, sizeof(x->rest)) != 0)
			return false;
	}
	return true;
}

/* Is all that texts depend on beside clips, tracks, skeleton and the file's name the same? */
static bool context_same(const struct version *a, const struct version *b)
{
	const struct anim *x = a->anim, *y = b->anim;

	return x->format == y->format && a->codec == b->codec && a->names == b->names &&
	       a->style.lines == b->style.lines && a->style.lossy_bvh == b->style.lossy_bvh &&
	       f64_same(x->rate, y->rate) && x->rotations == y->rotations &&
	       x->version == y->version &&
	       fields_same(x->fields, x->field_count, y->fields, y->field_count);
}

void version_settle_ages(struct version *v, struct timespec mtime, const struct version *before,
			 const struct anim *edit)
{
	const struct age now = {mtime, v->generation};
	struct aged aged;
	bool kept = false;

	if (before) {
		aged = (struct aged){before->anim, before->labels, &before->ages};
		kept = context_same(v, before);
		if (joints_same(rest_skeleton(v->rest), rest_skeleton(before->rest)))
			v->rest_since = before->rest_since;
		if (strcmp(v->file_name, before->file_name) == 0)
			v->named_since = before->named_since;
	}
	v->mtime = mtime;
	if (ages_init(&v->ages, v->anim, now, before ? &aged : NULL, kept, edit))
		v->size += v->ages.size;
}

struct timespec version_time(const struct version *v, uint32_t clip, int64_t track)
{
	return v->ages.at ? ages_of(&v->ages, clip, track).time : v->mtime;
}

uint64_t version_since(const struct version *v, uint32_t clip, int64_t track)
{
	/* The texts of a file of stills show more of it than one clip. */
	if (!v->ages.at || v->codec->format->stills)
		return v->generation;
	return ages_of(&v->ages, clip, track).since;
}
