/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * formats.c - `animfs formats`: lists the formats and their limits, or the formats of given files.
 */
#include "cmd.h"

#include "skeleton/model_formats.h"
#include "view/json.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* ---- facts from the table of codecs ---- */

static const char *keys_word(const struct format *f)
{
	if (f->stills)
		return "stills";
	if (f->keyframes)
		return "keyframes";
	if (f->sparse)
		return "sparse";
	return f->full ? "full" : "dense";
}

static bool has_role(const struct format *f, bool first, enum role role)
{
	uint8_t roles = f->roles[first ? 0 : 1];

	return !f->stills && (!roles || (roles >> role & 1));
}

/* Returns a word for how values are stored; NULL: it differs by curve. */
static const char *stored_word(const struct lane *lane)
{
	static const char *const words[] = {
		[LANE_FLOAT] = "float32", [LANE_GRID] = "steps", [LANE_CODE] = "packed"};

	return lane ? words[lane->form] : NULL;
}

/* The possible edits in texts of a format. */
struct editable {
	const char *words[12];
	size_t count;
};

static void add_word(struct editable *e, bool is, const char *word)
{
	if (is)
		e->words[e->count++] = word;
}

static struct editable editable_of(const struct format *f)
{
	struct editable e = {.count = 0};

	if (f->parts)
		return e;
	add_word(&e, f->stills, "stills");
	add_word(&e, !f->stills, f->keyframes ? "keyframes" : "keys");
	add_word(&e, f->keyframes && f->flags, "flags");
	add_word(&e, !f->stills, "bones");
	add_word(&e, f->many_clips && !f->stills, "clips");
	add_word(&e, !f->stills, "frames");
	add_word(&e, f->has_loop, "loop");
	add_word(&e, f->has_frame_time, "frame_time");
	add_word(&e, f->has_duration, "duration");
	add_word(&e, f->rate_field, f->rate_field);
	return e;
}

/* ---- for people ---- */

static void print_roles(const struct format *f)
{
	bool first = true;

	for (enum role role = 0; role < ROLE_COUNT; role++) {
		const char *stored = stored_word(f->lanes[role]);

		if (!has_role(f, true, role) && !has_role(f, false, role))
			continue;
		printf("%s%s%s%s%s", first ? "    stores    " : ", ",
		       role == ROLE_ROTATION && f->quaternions ? "quaternion" : role_names[role],
		       has_role(f, false, role) ? "" : " of the first bone",
		       stored && strcmp(stored, "steps") == 0 ? " in "
		       : stored                               ? " as "
							      : "",
		       stored ? stored : "");
		first = false;
	}
	if (!first)
		putchar('\n');
}

static void print_keys(const struct format *f)
{
	static const struct {
		const char *word, *text;
	} texts[] = {
		{"stills", "times and names of stills, which are files of their own"},
		{"keyframes", "keyframes in any frame, for each role or none; they step"},
		{"sparse", "in any frame"},
		{"full", "in every frame"},
		{"dense", "in every frame, or one value for the clip"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		if (strcmp(texts[i].word, keys_word(f)) == 0)
			printf("    keys      %s\n", texts[i].text);
	}
}

static void print_format(const struct codec *codec)
{
	const struct format *f = codec->format;
	const struct model_format *model = model_format_of(f);
	struct editable e = editable_of(f);

	printf("%s:", f->name);
	for (size_t i = 0; codec->patterns[i]; i++)
		printf(" %s", codec->patterns[i]);
	printf("\n    clips     %s", f->many_clips ? "many" : "one");
	printf(f->nameless ? ", named like the file" : ", with %s",
	       f->many_clips ? "names" : "a name");
	printf(f->max_frames == UINT32_MAX ? "\n" : ", of up to %u frames\n", f->max_frames);
	if (!f->stills)
		printf("    bones     with %s\n", f->bone_name ? "numbers" : "names");
	print_roles(f);
	print_keys(f);
	if (f->rate > 0)
		printf("    rate      %g frames a second\n", f->rate);
	if (model)
		printf("    skeleton  from *%s\n", model->extension);
	printf("    edit      %s", e.count ? "" : "only in its parts");
	for (size_t i = 0; i < e.count; i++)
		printf("%s%s", i ? ", " : "", e.words[i]);
	putchar('\n');
}

/* ---- for programs ---- */

static void write_texts(struct buf *out, const char *member, const char *const *texts, size_t count)
{
	bool first = true;

	buf_format(out, ", \"%s\": [", member);
	for (size_t i = 0; i < count; i++) {
		json_write_comma(out, &first, i ? " " : "");
		json_write_name(out, texts[i]);
	}
	buf_char(out, ']');
}

static void write_roles(struct buf *out, const struct format *f)
{
	bool first = true;

	buf_text(out, ", \"roles\": {");
	for (enum role role = 0; role < ROLE_COUNT; role++) {
		const char *stored = stored_word(f->lanes[role]);

		if (!has_role(f, true, role) && !has_role(f, false, role))
			continue;
		json_write_comma(out, &first, "\n    ");
		buf_format(out, "\"%s\": {\"bones\": \"%s\", \"stored\": \"%s\"}", role_names[role],
			   has_role(f, false, role) ? "all" : "first",
			   stored ? stored : "by curve");
	}
	buf_char(out, '}');
}

static void formats_write_number(struct buf *out, const char *member, double value, bool known)
{
	buf_format(out, ", \"%s\": ", member);
	if (known)
		buf_format(out, "%.15g", value);
	else
		buf_text(out, "null");
}

static void write_format(struct buf *out, const struct codec *codec)
{
	const struct format *f = codec->format;
	const struct model_format *model = model_format_of(f);
	struct editable e = editable_of(f);
	size_t patterns = 0;

	while (codec->patterns[patterns])
		patterns++;
	buf_format(out, "{\"name\": \"%s\"", f->name);
	write_texts(out, "patterns", codec->patterns, patterns);
	buf_format(out, ", \"extension\": \"%s\",\n    ", f->suffix);
	buf_format(out, "\"clips\": \"%s\", \"clip_names\": %s, \"bones\": %s%s%s",
		   f->many_clips ? "many" : "one", f->nameless ? "false" : "true",
		   f->stills ? "" : "\"",
		   f->stills      ? "null"
		   : f->bone_name ? "numbers"
				  : "names",
		   f->stills ? "" : "\"");
	buf_format(out, ", \"keys\": \"%s\", \"quaternions\": %s", keys_word(f),
		   f->quaternions ? "true" : "false");
	formats_write_number(out, "rate", f->rate, f->rate > 0);
	formats_write_number(out, "max_frames", f->max_frames, f->max_frames != UINT32_MAX);
	write_roles(out, f);
	write_texts(out, "skeletons", model ? &model->extension : NULL, model ? 1 : 0);
	write_texts(out, "editable", e.words, e.count);
	buf_char(out, '}');
}

/* ---- files ---- */

struct files {
	bool json, null, first;
	struct buf out; /* output as JSON */
	int status;
};

static void formats_add_file(struct files *f, const char *path, const char *format,
			     const struct err *err)
{
	if (!f->json) {
		printf("%s%c%s%s%c", path, f->null ? '\0' : ':', f->null ? "" : " ",
		       format ? format : "unknown", f->null ? '\0' : '\n');
		return;
	}
	json_write_comma(&f->out, &f->first, "\n  ");
	buf_text(&f->out, "{\"path\": ");
	json_write_name(&f->out, path);
	buf_text(&f->out, ", \"name\": ");
	if (format)
		json_write_name(&f->out, format);
	else
		buf_text(&f->out, "null, \"error\": ");
	if (!format)
		json_write_name(&f->out, command_message(path, err));
	buf_char(&f->out, '}');
}

static void find_format(struct files *f, const char *path, const struct command *command)
{
	struct err err = {.code = ERR_NONE};
	struct target t;
	bool fine = target_read(&t, path, command, TARGET_ANY, &err);
	int status = fine ? STATUS_FINE : command_status(&err);

	if (fine && *t.inside) {
		fine = err_system(&err, ENOTDIR, path);
		status = STATUS_TROUBLE;
	}
	if (status != STATUS_TROUBLE || f->json)
		formats_add_file(f, path, fine ? t.version->anim->format->name : NULL, &err);
	if (!fine)
		command_error(path, &err);
	f->status = status > f->status ? status : f->status;
	target_release(&t);
}

static void find_formats(struct files *f, char **paths, const struct command *command)
{
	if (f->json)
		buf_text(&f->out, "{\"format\": \"animfs.formats/1\", \"files\": [");
	f->first = true;
	for (; *paths; paths++)
		find_format(f, *paths, command);
	if (f->json)
		buf_text(&f->out, "\n]}\n");
}

static void list_formats(struct files *f)
{
	f->first = true;
	if (f->json)
		buf_text(&f->out, "{\"format\": \"animfs.formats/1\", \"formats\": [");
	for (size_t i = 0; codecs[i]; i++) {
		if (f->json) {
			json_write_comma(&f->out, &f->first, "\n  ");
			write_format(&f->out, codecs[i]);
		} else {
			print_format(codecs[i]);
		}
	}
	if (f->json)
		buf_text(&f->out, "\n]}\n");
}

static const char usage[] =
	"Usage: animfs formats [OPTION]... [FILE]...\n"
	"List the formats: their file names, fields and possible edits. With\n"
	"FILEs, print the format of each, by its name or else by its content.\n"
	"\n"
	"Options:\n"
	"  -0, --null              with FILEs: end each name and each format with NUL\n"
	"      --json              print JSON, animfs.formats/1 (see "
	"animfs(1))\n" HELP_READS HELP_END "\n"
	"Exit status:\n"
	"  0  everything was listed\n"
	"  1  a FILE has no known format, or is damaged\n"
	"  2  usage error, or a FILE cannot be read\n";

int cmd_formats(int argc, char **argv)
{
	struct files f = {.out = BUF_INIT};
	const struct command_option own[] = {
		{"0,null", &f.null, NULL}, {"json", &f.json, NULL}, {NULL, NULL, NULL}};
	struct command command;
	int status;

	if (!command_begin(&argc, &argv, &command, own, usage, &status))
		return status;
	if (f.json && f.null)
		f.status = command_misuse(&command, "--json and --null cannot be used together");
	else if (argc > 0)
		find_formats(&f, argv, &command);
	else
		list_formats(&f);
	if (f.out.failed) {
		command_fail("formats", strerror(ENOMEM));
		f.status = STATUS_TROUBLE;
	} else {
		command_print(&f.out);
	}
	buf_release(&f.out);
	return command_end(&command, f.status);
}
