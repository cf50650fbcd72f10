/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * file_json.c - file.json: the file's format, its clips and its own list of bones, in file order.
 * "editable" names the members that can be edited: for a format whose clips are lists of stills
 * (kanim), each animation's own attributes; for other formats none. "without_angles", if present,
 * lists the bones that tables show as quaternions, since their rotations have no angles.
 */
#include "json.h"
#include "model/clip.h"
#include "model/curve_edit.h"
#include "text/num.h"
#include "views.h"
#include <stdlib.h>
#include <string.h>

static void file_json_write_clip(const struct anim *anim, const struct clip *clip, struct buf *out)
{
	double spf = anim_seconds_per_frame(anim, clip);

	buf_text(out, "{\"clip\": ");
	json_write_name(out, clip->label);
	buf_text(out, ", \"name\": ");
	json_write_name(out, clip->name);
	buf_text(out, ", \"frames\": ");
	buf_unsigned(out, clip->frames);
	if (anim->format->has_loop)
		buf_format(out, ", \"loop\": %s", clip->loop ? "true" : "false");
	buf_text(out, ", \"seconds\": ");
	buf_seconds(out, clip->frames > 0 ? (clip->frames - 1) * spf : 0);
	buf_char(out, '}');
}

static void write_clips(const struct anim *anim, struct buf *out)
{
	bool first = true;

	buf_text(out, "  \"clips\": [");
	for (uint32_t i = 0; i < anim->clip_count; i++) {
		json_write_comma(out, &first, "\n    ");
		file_json_write_clip(anim, &anim->clips[i], out);
	}
	buf_text(out, first ? "],\n" : "\n  ],\n");
}

static void file_json_write_bones(const struct anim *anim, struct buf *out)
{
	bool first = true;

	buf_text(out, "  \"bones\": [");
	for (uint32_t i = 0; i < anim->bone_count; i++) {
		json_write_comma(out, &first, "\n    ");
		json_write_name(out, anim->bones[i]);
	}
	buf_text(out, first ? "]\n" : "\n  ]\n");
}

/* ---- rotations without angles ---- */

static int by_curve(const void *pa, const void *pb)
{
	const struct curve *a = *(const struct curve *const *)pa,
			   *b = *(const struct curve *const *)pb;

	return (a > b) - (a < b);
}

/*
 * Puts the curves of rotations that have no angles, sorted, into `found`, which has room for those
 * of all tracks; returns how many there are. Each curve is looked at once, however many bones share
 * it.
 */
static size_t find_angleless(const struct anim *anim, const struct curve **found)
{
	size_t count = 0, kept = 0;

	for (uint32_t i = 0; i < anim->clip_count; i++)
		for (uint32_t j = 0; j < anim->clips[i].track_count; j++) {
			const struct curve *c = anim->clips[i].tracks[j].curve[ROLE_ROTATION];

			if (c && c->kind == CURVE_QUATERNION)
				found[count++] = c;
		}
	qsort(found, count, sizeof(*found), by_curve);
	for (size_t i = 0, same; i < count; i = same) {
		for (same = i + 1; same < count && found[same] == found[i];)
			same++;
		if (curve_edit_lacks_angles(found[i]))
			found[kept++] = found[i];
	}
	return kept;
}

static void write_listed(const struct anim *anim, const struct curve *const *found, size_t count,
			 struct buf *out)
{
	bool first = true;

	buf_text(out, "  \"without_angles\": [");
	for (uint32_t i = 0; i < anim->clip_count; i++)
		for (uint32_t j = 0; j < anim->clips[i].track_count; j++) {
			const struct track *track = &anim->clips[i].tracks[j];

			if (!bsearch(&track->curve[ROLE_ROTATION], found, count, sizeof(*found),
				     by_curve))
				continue;
			json_write_comma(out, &first, "\n    ");
			buf_text(out, "{\"clip\": ");
			json_write_name(out, anim->clips[i].label);
			buf_text(out, ", \"bone\": ");
			json_write_name(out, track->label);
			buf_char(out, '}');
		}
	buf_text(out, "\n  ],\n");
}

/* Writes the member "without_angles", if there are any such bones and tables show degrees. */
static void write_angleless(const struct anim *anim, struct buf *out)
{
	bool degrees = anim->rotations == ROTATIONS_EULER || anim->rotations == ROTATIONS_IN_TABLES;
	size_t tracks = 0, count;
	const struct curve **found;

	for (uint32_t i = 0; degrees && i < anim->clip_count; i++)
		tracks += anim->clips[i].track_count;
	if (!tracks)
		return;
	found = malloc(tracks * sizeof(*found));
	if (!found) {
		out->failed = true;
		return;
	}
	count = find_angleless(anim, found);
	if (count)
		write_listed(anim, found, count, out);
	free(found);
}

/* ---- animations that are stills ---- */

static void file_json_write_animation(const struct clip *clip, struct buf *out)
{
	buf_text(out, "{\"animation\": ");
	json_write_name(out, clip->label);
	buf_text(out, ", \"name\": ");
	json_write_name(out, clip->name);
	buf_format(out, ", \"loop\": %s", clip->loop ? "true" : "false");
	for (uint32_t i = 0; i < clip->field_count; i++) {
		buf_text(out, ", ");
		json_write_field(out, &clip->fields[i]);
	}
	buf_text(out, ", \"frames\": ");
	buf_unsigned(out, clip->frames);
	buf_char(out, '}');
}

static void write_animations(const struct anim *anim, struct buf *out)
{
	bool first = true;

	buf_text(out, "  \"animations\": [");
	for (uint32_t i = 0; i < anim->clip_count; i++) {
		json_write_comma(out, &first, "\n    ");
		file_json_write_animation(&anim->clips[i], out);
	}
	buf_text(out, "\n  ]\n");
}

#define EDITABLE_MAX 8

/* Lists the members of an animation that can be edited, ending in NULL. */
static void list_editable(const struct clip *clip, const char *out[EDITABLE_MAX])
{
	size_t count = 0;

	out[count++] = "name";
	out[count++] = "loop";
	for (uint32_t i = 0; i < clip->field_count && count < EDITABLE_MAX - 1; i++)
		if (clip->fields[i].editable)
			out[count++] = clip->fields[i].name;
	out[count] = NULL;
}

static void write_editable(const struct anim *anim, struct buf *out)
{
	const char *names[EDITABLE_MAX] = {NULL};
	bool first = true;

	if (anim->format->stills && anim->clip_count > 0)
		list_editable(&anim->clips[0], names);
	buf_text(out, "  \"editable\": [");
	for (size_t i = 0; names[i]; i++) {
		json_write_comma(out, &first, first ? "" : " ");
		buf_format(out, "\"%s\"", names[i]);
	}
	buf_text(out, "],\n");
}

static bool file_json_edit_name(struct anim *edited, struct clip *clip, const struct spot *s,
				struct err *err)
{
	const char *name;

	if (!spot_text(s, err, &name))
		return false;
	if (!*name)
		return spot_refuse(s, err, ERR_TEXT, "an animation cannot lose its name");
	clip->name = arena_text(&edited->arena, name, strlen(name));
	return clip->name || err_memory(err);
}

static bool edit_member(struct anim *edited, struct clip *clip, const struct spot *s,
			struct err *err)
{
	struct field *field;
	bool found;

	if (strcmp(s->member, "name") == 0)
		return file_json_edit_name(edited, clip, s, err);
	if (strcmp(s->member, "loop") == 0)
		return spot_bool(s, err, &clip->loop);
	field = clip_edit_field(edited, clip, s->member, &found);
	return field ? json_read_field(s, err, field) : err_memory(err);
}

static bool edit_animation(struct anim *edited, uint32_t i, const struct spot *s,
			   const struct token *served, struct err *err)
{
	const char *editable[EDITABLE_MAX];
	struct clip *clip;

	list_editable(&edited->clips[i], editable);
	if (!spot_object(s, err) || !spot_unchanged(s, served, editable, err))
		return false;
	clip = anim_edit_clip(edited, i);
	if (!clip)
		return err_memory(err);
	for (size_t k = 0; editable[k]; k++) {
		struct spot member = spot_member(s, editable[k]);
		const struct token *was = token_member(served, editable[k]);

		if (member.value && !spot_unchanged(&member, was, NULL, NULL) &&
		    !edit_member(edited, clip, &member, err))
			return false;
	}
	return true;
}

static bool edit_animations(struct anim *edited, const struct spot *root,
			    const struct token *served, struct err *err)
{
	struct spot list = spot_member(root, "animations");
	const struct token *was = token_member(served, "animations"), *t = token_first(was);
	struct spot s;

	if (!list.value)
		return true;
	if (!spot_array(&list, err))
		return false;
	if (token_count(list.value) != token_count(was))
		return spot_refuse(&list, err, ERR_TEXT,
				   "animations cannot be added or removed here");
	for (s = spot_first(&list); s.value; spot_next(&s), t = token_next(was, t))
		if (!edit_animation(edited, (uint32_t)s.index, &s, t, err))
			return false;
	return true;
}

/* ---- all of it ---- */

static void file_json_render(const struct shown *at, struct buf *out)
{
	const struct anim *anim = at->anim;

	buf_text(out, "{\n  \"format\": \"animfs.file/1\",\n  \"file\": ");
	json_write_name(out, at->file_name);
	buf_format(out, ", \"type\": \"%s\"", anim->format->name);
	if (!anim->format->stills) {
		buf_text(out, ", \"version\": ");
		buf_unsigned(out, anim->version);
	}
	if (at->from) {
		buf_text(out, ", \"from\": ");
		json_write_name(out, at->from);
	}
	buf_text(out, ",\n");
	if (anim->read_only) {
		buf_text(out, "  \"read_only\": ");
		json_write_name(out, anim->read_only);
		buf_text(out, ",\n");
	}
	if (anim->field_count > 0) {
		buf_text(out, "  ");
		json_write_fields(out, anim->format->name, anim->fields, anim->field_count);
		buf_text(out, ",\n");
	}
	write_editable(anim, out);
	if (anim->format->stills) {
		write_animations(anim, out);
	} else {
		write_clips(anim, out);
		write_angleless(anim, out);
		file_json_write_bones(anim, out);
	}
	buf_text(out, "}\n");
}

/*
 * Accepts a text from before or after the first edit of the member "from", and from before or after
 * an edit of the curves that "without_angles" follows from.
 */
static bool read_file_json(const struct spot *root, const struct token *served, struct anim *edited,
			   struct err *err)
{
	static const char *const others[] = {"from", "without_angles", NULL};
	static const char *const editable[] = {"from", "animations", NULL};
	bool stills = edited->format->stills;

	return spot_unchanged(root, served, stills ? editable : others, err) &&
	       (!stills || edit_animations(edited, root, served, err));
}

static struct anim *file_json_parse(const struct shown *at, struct bytes text, struct err *err)
{
	struct anim *edited = NULL;
	struct buf own = BUF_INIT;
	struct doc doc, served = {.decoded = BUF_INIT};

	if (doc_read(&doc, text, err)) {
		struct spot root = spot_root(&doc);

		file_json_render(at, &own);
		edited = doc_served(&served, &own, err) ? anim_edit(at->anim) : NULL;
		if (edited && !read_file_json(&root, served.root, edited, err)) {
			anim_free(edited);
			edited = NULL;
		}
	}
	if (!edited)
		err_memory(err); /* does nothing if another error is set */
	doc_release(&doc);
	doc_release(&served);
	buf_release(&own);
	return edited;
}

const struct view view_file_json = {
	.name = "json",
	.place = VIEW_OF_FILE,
	.file = "file.json",
	.render = file_json_render,
	.parse = file_json_parse,
	.names_file = true,
	.lists = true,
};
