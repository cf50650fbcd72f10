/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * file.json: what kind of file it is, its clips and its own list of bones, in file order.
 * "editable" names the members that can be edited: none, for the formats there are now.
 */
#include "json.h"
#include "num.h"
#include "views.h"

static void write_clip(const struct anim *anim, const struct clip *clip, struct buf *out)
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
		write_clip(anim, &anim->clips[i], out);
	}
	buf_text(out, first ? "],\n" : "\n  ],\n");
}

static void write_bones(const struct anim *anim, struct buf *out)
{
	bool first = true;

	buf_text(out, "  \"bones\": [");
	for (uint32_t i = 0; i < anim->bone_count; i++) {
		json_write_comma(out, &first, "\n    ");
		json_write_name(out, anim->bones[i]);
	}
	buf_text(out, first ? "]\n" : "\n  ]\n");
}

static void file_json_render(const struct shown *at, struct buf *out)
{
	const struct anim *anim = at->anim;

	buf_text(out, "{\n  \"format\": \"animfs.file/1\",\n  \"file\": ");
	json_write_name(out, at->file_name);
	buf_format(out, ", \"type\": \"%s\", \"version\": ", anim->format->name);
	buf_unsigned(out, anim->version);
	buf_text(out, ",\n");
	if (anim->field_count > 0) {
		buf_text(out, "  ");
		json_write_fields(out, anim->format->name, anim->fields, anim->field_count);
		buf_text(out, ",\n");
	}
	buf_text(out, "  \"editable\": [],\n");
	write_clips(anim, out);
	write_bones(anim, out);
	buf_text(out, "}\n");
}

static struct anim *file_json_parse(const struct shown *at, struct bytes text, struct err *err)
{
	struct anim *edited = NULL;
	struct buf own = BUF_INIT;
	json_t *served = NULL;
	struct doc doc;

	if (doc_read(&doc, text, err)) {
		struct spot root = spot_root(&doc);

		file_json_render(at, &own);
		served = json_served(&own, err);
		if (served && spot_unchanged(&root, served, NULL, err))
			edited = anim_edit(at->anim);
	}
	if (!edited)
		err_memory(err); /* where nothing else was said */
	doc_release(&doc);
	json_decref(served);
	buf_release(&own);
	return edited;
}

const struct view view_file_json = {
	.name = "json",
	.place = VIEW_OF_FILE,
	.file = "file.json",
	.render = file_json_render,
	.parse = file_json_parse,
};
