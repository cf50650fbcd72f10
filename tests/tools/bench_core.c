/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * bench_core.c - how fast texts are rendered and parsed and files decoded, on one core, without
 * disk or mount:
 *
 *   bench_core render FILE...         all bone CSVs, again and again
 *   bench_core parse FILE...          the same texts back into curves
 *   bench_core decode FORMAT FILE...  a file of this format with the motion of each FILE
 *   bench_core texts FILE...          prints the texts, to measure other programs with them
 *
 * FILEs are in the format CANM. The program prints millions of bytes per second, of text or of the
 * decoded file.
 */
#include "../unit/load.h"
#include "edit/structure.h"
#include "model/bones.h"
#include "store/version.h"
#include "view/views.h"

#include <string.h>
#include <time.h>

#define SECONDS 0.4

__attribute__((noreturn)) static void die(const char *what, const struct err *err)
{
	fprintf(stderr, "bench_core: %s: %s\n", what, err->message);
	exit(1);
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* ---- the measurements ---- */

struct subject {
	const struct codec *codec;
	struct buf bytes;
	struct version *version;
	size_t bones; /* number of bones of all clips */
	struct buf *texts;
};

/* Works on one bone in a pass; returns the number of bytes of text. */
typedef size_t bone_work(struct subject *s, const struct shown *at, size_t bone, struct err *err);

static size_t each_bone(struct subject *s, bone_work *work)
{
	const struct anim *a = s->version->anim;
	struct err err = {0};
	size_t done = 0, bone = 0;

	for (uint32_t c = 0; c < a->clip_count; c++) {
		for (uint32_t t = 0; t < a->clips[c].track_count; t++) {
			struct shown at = {.anim = a,
					   .raw = buf_bytes(&s->version->bytes),
					   .file_name = "bench.canm",
					   .clip = c,
					   .track = t};

			done += work(s, &at, bone++, &err);
		}
	}
	if (err.code)
		die("a text", &err);
	return done;
}

static size_t render_bone(struct subject *s, const struct shown *at, size_t bone, struct err *err)
{
	struct buf *out = &s->texts[bone];

	(void)err;
	buf_clear(out);
	view_bone_csv.render(at, out);
	return out->size;
}

static size_t parse_bone(struct subject *s, const struct shown *at, size_t bone, struct err *err)
{
	anim_free(view_bone_csv.parse(at, buf_bytes(&s->texts[bone]), err));
	return s->texts[bone].size;
}

static size_t render(struct subject *s)
{
	return each_bone(s, render_bone);
}

static size_t parse(struct subject *s)
{
	return each_bone(s, parse_bone);
}

static size_t decode(struct subject *s)
{
	struct err err = {0};
	struct anim *a = s->codec->decode(buf_bytes(&s->bytes), NULL, &err);

	if (!a)
		die(s->codec->format->name, &err);
	anim_free(a);
	return s->bytes.size;
}

/* ---- subjects ---- */

static void subject_open(struct subject *s, const char *path)
{
	struct err err = {0};
	struct buf bytes = load_file(path);

	s->version = version_of_bytes(codec_named("canm"), &bytes, path, NULL, &err);
	if (!s->version)
		die(path, &err);
	for (uint32_t i = 0; i < s->version->anim->clip_count; i++)
		s->bones += s->version->anim->clips[i].track_count;
	s->texts = calloc(s->bones, sizeof(*s->texts));
	if (!s->texts)
		exit(1);
	render(s);
}

static void subject_close(struct subject *s)
{
	for (size_t i = 0; i < s->bones; i++)
		buf_release(&s->texts[i]);
	free(s->texts);
	buf_release(&s->bytes);
	version_put(s->version);
}

/*
 * Fits a track to another format: the bone gets a name of that format, and curves that it cannot
 * store are left out.
 */
static bool fit_track(struct anim *motion, uint32_t i, const struct format *format)
{
	struct track *track = anim_edit_track(motion, 0, i);
	uint8_t roles = format->roles[i > 0];

	if (!track)
		return false;
	for (unsigned role = 0; role < ROLE_COUNT && roles; role++)
		if (!(roles >> role & 1))
			track->curve[role] = NULL;
	track->name = track->label = bone_name(format, NULL, &motion->arena, i);
	return track->name != NULL;
}

static bool fit(struct anim *motion, const struct format *format)
{
	struct clip *clip = anim_edit_clip(motion, 0);

	if (!clip)
		return false;
	clip->loop = clip->loop && format->has_loop;
	clip->frame_time = (float)(motion->rate / (format->rate > 0 ? format->rate : 30));
	for (uint32_t i = 0; i < clip->track_count; i++)
		if (!fit_track(motion, i, format))
			return false;
	return true;
}

/* Makes a file of another format from the first clip of a file. */
static void subject_convert(struct subject *s, const char *name)
{
	struct anim *motion = anim_edit(s->version->anim), *made;
	struct err err = {0};

	s->codec = codec_named(name);
	if (!s->codec)
		err_set(&err, ERR_UNKNOWN, "no such format");
	made = s->codec ? anim_blank(s->codec->format, NULL) : NULL;
	if (!made || !motion || !fit(motion, s->codec->format) ||
	    !anim_clip_copy(made, motion, 0, "bench", NULL, &err) ||
	    !s->codec->encode(made, (struct bytes){NULL, 0}, &s->bytes, &err))
		die(name, &err);
	anim_free(made);
	anim_free(motion);
}

static void subject_reread(struct subject *s)
{
	s->codec = codec_named("canm");
	buf_add(&s->bytes, s->version->bytes.data, s->version->bytes.size);
}

/* ---- commands ---- */

static void measure(struct subject *subjects, size_t count, size_t (*pass)(struct subject *))
{
	double begin = now(), taken;
	size_t done = 0;

	do {
		for (size_t i = 0; i < count; i++)
			done += pass(&subjects[i]);
		taken = now() - begin;
	} while (taken < SECONDS);
	printf("%.1f\n", (double)done / taken / 1e6);
}

static void print(const struct subject *s)
{
	for (size_t i = 0; i < s->bones; i++)
		fwrite(s->texts[i].data, 1, s->texts[i].size, stdout);
}

static void run(const char *command, const char *format, struct subject *subjects, size_t count)
{
	for (size_t i = 0; i < count && format; i++) {
		if (strcmp(format, "canm") == 0)
			subject_reread(&subjects[i]);
		else
			subject_convert(&subjects[i], format);
	}
	if (format)
		measure(subjects, count, decode);
	else if (strcmp(command, "render") == 0)
		measure(subjects, count, render);
	else if (strcmp(command, "parse") == 0)
		measure(subjects, count, parse);
	else
		for (size_t i = 0; i < count; i++)
			print(&subjects[i]);
}

int main(int argc, char **argv)
{
	bool decodes = argc > 2 && strcmp(argv[1], "decode") == 0;
	int first = decodes ? 3 : 2;
	struct subject *subjects;

	if (argc <= first) {
		fputs("usage: bench_core render|parse|texts|decode FORMAT FILE.canm...\n", stderr);
		return 2;
	}
	subjects = calloc((size_t)(argc - first), sizeof(*subjects));
	if (!subjects)
		return 1;
	for (int i = first; i < argc; i++)
		subject_open(&subjects[i - first], argv[i]);
	run(argv[1], decodes ? argv[2] : NULL, subjects, (size_t)(argc - first));
	for (int i = first; i < argc; i++)
		subject_close(&subjects[i - first]);
	free(subjects);
	return 0;
}
