/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "version.h"

#include "model/label.h"
#include "model/names.h"
#include "skeleton/paths.h"

#include <linux/limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

int64_t version_clip(const struct version *v, const char *label)
{
	return labels_clip(v->labels, v->anim, label);
}

int64_t version_track(const struct version *v, uint32_t clip, const char *label)
{
	return labels_track(v->labels, v->anim, clip, label);
}

bool version_shows_clip(const struct version *v, uint32_t clip)
{
	return !v->codec->format->stills || (v->stills && stills_of_clip(v->stills, clip)->joined);
}

uint64_t version_outline(const struct version *v)
{
	uint64_t outline = labels_outline(v->labels);

	for (uint32_t i = 0; v->stills && i < v->anim->clip_count; i++)
		outline = outline * 31 + version_shows_clip(v, i);
	return outline;
}

const struct history_digest *version_digest(struct version *v)
{
	struct history_digest digest;

	if (v->has_digest)
		return &v->digest;
	digest = history_digest_of(buf_bytes(&v->bytes));
	lock_acquire(&v->serving, &served_class);
	if (!v->has_digest)
		v->digest = digest;
	v->has_digest = true;
	lock_release(&v->serving, &served_class);
	return &v->digest;
}

bool version_same_bytes(const struct version *a, const struct version *b)
{
	if (a == b)
		return true;
	if (a->has_digest && b->has_digest)
		return history_digest_same(&a->digest, &b->digest);
	return bytes_equal(buf_bytes(&a->bytes), buf_bytes(&b->bytes));
}

/* ---- making one ---- */

const char *file_extension(const char *file_name, const struct format *format)
{
	const char *dot = strrchr(file_name, '.');

	return dot && dot != file_name && dot[1] ? dot + 1 : format->suffix;
}

#define RESERVED_MAX 16

/*
 * Sets all labels. The clips' folders are beside the file's own views, so they must not have the
 * views' names.
 */
static bool label_all(struct anim *a, const char *file_name)
{
	const char *reserved[RESERVED_MAX + 1] = {NULL};
	char raw[NAME_MAX + 1];
	unsigned count = 0;

	for (; label_view_files[count] && count < RESERVED_MAX; count++) {
		reserved[count] = label_view_files[count];
		if (reserved[count][strlen(reserved[count]) - 1] != '.')
			continue;
		snprintf(raw, sizeof(raw), "%s%s", reserved[count],
			 file_extension(file_name, a->format));
		reserved[count] = raw;
	}
	return names_label(a, reserved);
}

UNSHARED static void version_free(struct cached *cached)
{
	struct version *v = (struct version *)cached;

	free(v->served);
	lock_destroy(&v->serving);
	ages_release(&v->ages);
	anim_free(v->composed);
	stills_free(v->stills);
	anim_free(v->anim);
	naming_table_put(v->names);
	shared_skeleton_put(v->skeleton);
	buf_release(&v->bytes);
	labels_free(v->labels);
	free(v);
}

/* Names the clips of formats that do not store names. */
static bool version_name_clips(const struct codec *codec, struct anim *a, const char *file_name)
{
	const char *name = arena_text(&a->arena, file_name, codec_stem(codec, file_name));

	for (uint32_t i = 0; name && i < a->clip_count; i++)
		((struct clip *)&a->clips[i])->name = name;
	return name != NULL;
}

/*
 * Limit of the work of composing, as a file can claim far more: the remaining clips are shown as
 * stored.
 */
#define COMPOSE_MAX ((uint64_t)4 << 20)

/* Shows additive clips on their bases, by the rules that they match. */
static bool version_compose(struct version *v, const struct decoding *how)
{
	uint64_t cost = 0;
	bool any = false;

	if (how->base_count == 0)
		return true;
	v->bases = arena_alloc(&v->anim->arena, v->anim->clip_count, sizeof(*v->bases));
	for (uint32_t i = 0; v->bases && i < v->anim->clip_count; i++) {
		v->bases[i] = compose_base(v->anim, i, how->bases, how->base_count);
		if (v->bases[i] != COMPOSE_NONE)
			cost += compose_cost(v->anim, i, v->bases[i]);
		if (cost > COMPOSE_MAX)
			v->bases[i] = COMPOSE_NONE;
		any |= v->bases[i] != COMPOSE_NONE;
	}
	if (any)
		v->composed = compose(v->anim, v->bases);
	return v->bases && (v->composed || !any);
}

static bool load_stills(struct version *v, const struct decoding *how)
{
	const struct stills_of of = {how->where->dir, how->where->name, buf_bytes(&v->bytes),
				     v->anim, how->guard};

	v->stills = stills_load(&of);
	return v->stills != NULL;
}

/*
 * Sets line and column of a fault in a text, while the bytes of the text are there. Returns
 * false.
 */
static bool locate_error(const struct version *v, struct err *err)
{
	struct position where;

	if (!err || !err->placed || !v->codec->format->text)
		return false;
	where = err_locate(buf_bytes(&v->bytes), err->at);
	err->line = where.line;
	err->column = where.column;
	return false;
}

/*
 * Does the skeleton have any bone of the file? A folder's skeleton.csv may belong to other
 * files.
 */
static bool knows_bones(const struct version *v)
{
	const struct anim *a = v->anim;

	for (uint32_t c = 0; c < a->clip_count; c++)
		for (uint32_t i = 0; i < a->clips[c].track_count; i++)
			if (skeleton_joint(shared_skeleton(v->skeleton),
					   a->clips[c].tracks[i].label))
				return true;
	return false;
}

/* Takes the skeleton that follows from the names of bones. */
static bool take_paths(struct version *v)
{
	shared_skeleton_put(v->skeleton);
	v->skeleton = shared_skeleton_made(skeleton_of_paths(v->anim));
	return v->skeleton != NULL;
}

static bool version_decode(struct version *v, const char *file_name, const struct decoding *how,
			   struct err *err)
{
	struct bytes src = buf_bytes(&v->bytes);
	size_t labels_size;

	v->names = naming_table_get(how->names);
	v->skeleton = shared_skeleton_get(how->skeleton);
	if (!v->codec)
		v->codec = codec_probe(src);
	if (!v->codec)
		return err_set(err, ERR_UNKNOWN, "this is not a known animation format");
	v->anim = v->codec->decode(src, &how->hints, err);
	if (!v->anim)
		return locate_error(v, err);
	if (how->rate > 0)
		v->anim->rate = how->rate;
	v->anim->rotations = how->rotations;
	v->style = how->style;
	v->file_name = arena_text(&v->anim->arena, file_name, strlen(file_name));
	if (how->from)
		v->from = arena_text(&v->anim->arena, how->from, strlen(how->from));
	v->anim->bone_names = how->hints.bone_names;
	if (!v->file_name ||
	    (v->anim->format->nameless && !version_name_clips(v->codec, v->anim, file_name)) ||
	    !label_all(v->anim, file_name))
		return err_memory(err);
	if (v->anim->format->paths && !knows_bones(v) && !take_paths(v))
		return err_memory(err);
	v->labels = labels_new(v->anim, &labels_size);
	if (!v->labels || !version_compose(v, how))
		return err_memory(err);
	if (v->anim->format->stills && how->where && !load_stills(v, how))
		return err_memory(err);
	v->cached.size = sizeof(*v) + v->bytes.capacity + v->anim->arena.total + labels_size +
			 shared_skeleton_size(v->skeleton) +
			 (v->composed ? v->composed->arena.total : 0) +
			 (v->stills ? stills_size(v->stills) : 0);
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
	v->cached.references = 1;
	v->cached.free = version_free;
	lock_init(&v->serving);
	v->generation = ++generations;
	v->lineage = v->skeleton_since = v->named_since = v->generation;
	v->codec = codec;
	v->bytes = *bytes;
	*bytes = (struct buf)BUF_INIT;
	if (version_decode(v, file_name, how ? how : &usual, err))
		return v;
	version_free(&v->cached);
	return NULL;
}

struct version *version_get(struct version *v)
{
	cached_get(&v->cached);
	return v;
}

void version_put(struct version *v)
{
	cached_put(v ? &v->cached : NULL);
}

struct version *version_take(struct cache *c, struct cached **home)
{
	return (struct version *)cache_take(c, home);
}

/* ---- texts served of it ---- */

static void add_served(struct version *v, struct digest text) REQUIRES(served_class)
{
	struct digest *served;

	if (v->served_count == SERVED_MAX)
		return;
	served = array_room(v->served, v->served_count, &v->served_room, sizeof(*served));
	if (!served)
		return;
	v->served = served;
	served[v->served_count++] = text;
}

void version_serve(struct version *v, struct digest text)
{
	v->is_served = true;
	lock_acquire(&v->serving, &served_class);
	add_served(v, text);
	lock_release(&v->serving, &served_class);
}

size_t version_served(struct version *v, struct digest **out)
{
	size_t count;

	lock_acquire(&v->serving, &served_class);
	*out = v->served;
	count = v->served_count;
	v->served = NULL;
	v->served_count = v->served_room = 0;
	lock_release(&v->serving, &served_class);
	return count;
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

/* Are all inputs of texts besides clips, tracks, skeleton and file name the same? */
static bool context_same(const struct version *a, const struct version *b)
{
	const struct anim *x = a->anim, *y = b->anim;

	return x->format == y->format && a->codec == b->codec && a->names == b->names &&
	       a->style.lines == b->style.lines && a->style.lossy_bvh == b->style.lossy_bvh &&
	       a->style.plain_gltf == b->style.plain_gltf &&
	       a->style.tangents == b->style.tangents && a->style.left_hand == b->style.left_hand &&
	       f64_same(x->rate, y->rate) && x->rotations == y->rotations &&
	       x->version == y->version &&
	       fields_same(x->fields, x->field_count, y->fields, y->field_count);
}

static bool same_from(const struct version *a, const struct version *b)
{
	return a->from == b->from || (a->from && b->from && strcmp(a->from, b->from) == 0);
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
		if (joints_same(shared_skeleton(v->skeleton), shared_skeleton(before->skeleton)))
			v->skeleton_since = before->skeleton_since;
		if (strcmp(v->file_name, before->file_name) == 0 && same_from(v, before))
			v->named_since = before->named_since;
	}
	v->mtime = mtime;
	if (ages_init(&v->ages, v->anim, now, before ? &aged : NULL, kept, edit))
		v->cached.size += v->ages.size;
}

static uint64_t hash_more(uint64_t hash, const void *data, size_t size)
{
	return XXH3_64bits_withSeed(data, size, hash);
}

/*
 * Returns a hash of those inputs of context_same and version_settle_ages that do not follow from
 * the bytes, except the table of names.
 */
static uint64_t context_of(const struct version *v)
{
	const struct skeleton *s = shared_skeleton(v->skeleton);
	uint64_t hash = hash_more(0, v->file_name, strlen(v->file_name));

	if (v->from)
		hash = hash_more(hash, v->from, strlen(v->from));
	for (uint32_t i = 0; s && i < s->count; i++) {
		const struct joint *joint = &s->joints[i];

		hash = hash_more(hash, joint->bone, strlen(joint->bone));
		hash = hash_more(hash, &joint->parent, sizeof(joint->parent));
		hash = hash_more(hash, joint->rest, sizeof(joint->rest));
	}
	return hash;
}

/*
 * Do the version's bytes, outline (a model beside the file only adds the number of bones) and
 * context determine its model? Not for a sequence, because of its parts.
 */
static bool leaves_traces(const struct version *v)
{
	return !v->codec->format->parts;
}

void trace_release(struct trace *trace)
{
	ages_release(&trace->ages);
	naming_table_put(trace->names);
	trace->names = NULL;
	trace->generation = 0;
}

void version_leave_trace(struct version *v, struct trace *trace)
{
	trace_release(trace);
	if (!leaves_traces(v) || !ages_remember(&trace->ages, &v->ages))
		return;
	trace->digest = *version_digest(v);
	trace->outline = version_outline(v);
	trace->context = context_of(v);
	trace->names = naming_table_get(v->names);
	trace->generation = v->generation;
	trace->lineage = v->lineage;
	trace->skeleton_since = v->skeleton_since;
	trace->named_since = v->named_since;
}

void version_resume(struct version *v, const struct trace *trace)
{
	bool kept;

	if (!trace->generation || !leaves_traces(v) || version_outline(v) != trace->outline ||
	    !history_digest_same(version_digest(v), &trace->digest))
		return;
	/* The content of stills is not known here; the time of their change is (stills_mtime). */
	kept = !v->codec->format->stills && v->names == trace->names &&
	       context_of(v) == trace->context;
	ages_resume(&v->ages, &trace->ages, kept);
	if (!kept)
		return;
	v->generation = trace->generation;
	v->lineage = trace->lineage;
	v->skeleton_since = trace->skeleton_since;
	v->named_since = trace->named_since;
}

uint32_t version_base(const struct version *v, uint32_t clip)
{
	return v->composed && clip < v->anim->clip_count ? v->bases[clip] : COMPOSE_NONE;
}

struct timespec version_time(const struct version *v, uint32_t clip, int64_t track)
{
	return v->ages.at ? ages_of(&v->ages, clip, track).time : v->mtime;
}

uint64_t version_since(const struct version *v, uint32_t clip, int64_t track)
{
	/* Texts of a file of stills show several clips. */
	if (!v->ages.at || v->codec->format->stills)
		return v->generation;
	return ages_of(&v->ages, clip, track).since;
}
