/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * bench_text.c - how fast texts are rendered and parsed: all bones of one animation file, again and
 * again for a second, without disk or mount. Prints a row of a table for each kind of text.
 */
#include "load.h"
#include "source.h"
#include "view/views.h"

#include <time.h>

#define SECONDS 1.0

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* The text of every place in turn, rendered or parsed; bytes of text. */
static size_t pass(const struct snap *s, const struct view *view, const struct buf *texts)
{
	struct buf out = BUF_INIT;
	struct err err = {0};
	size_t done = 0, i = 0;

	for (uint32_t c = 0; c < s->anim->clip_count; c++) {
		for (uint32_t t = 0; t < s->anim->clips[c].track_count; t++, i++) {
			struct shown at = {.anim = s->anim,
					   .raw = buf_bytes(&s->bytes),
					   .file_name = "bench.canm",
					   .clip = c,
					   .track = t};

			if (texts) {
				anim_free(view->parse(&at, buf_bytes(&texts[i]), &err));
				done += texts[i].size;
			} else {
				buf_clear(&out);
				view->render(&at, &out);
				done += out.size;
			}
		}
	}
	if (err.code) {
		fprintf(stderr, "%s\n", err.message);
		exit(1);
	}
	buf_release(&out);
	return done;
}

/* Millions of bytes a second. */
static double speed(const struct snap *s, const struct view *view, const struct buf *texts)
{
	double begin = now(), taken;
	size_t done = 0;

	do {
		done += pass(s, view, texts);
		taken = now() - begin;
	} while (taken < SECONDS);
	return (double)done / taken / 1e6;
}

static struct buf *render_all(const struct snap *s, const struct view *view, size_t *count)
{
	struct buf *texts;
	size_t i = 0;

	*count = 0;
	for (uint32_t c = 0; c < s->anim->clip_count; c++)
		*count += s->anim->clips[c].track_count;
	texts = calloc(*count, sizeof(*texts));
	if (!texts)
		exit(1);
	for (uint32_t c = 0; c < s->anim->clip_count; c++) {
		for (uint32_t t = 0; t < s->anim->clips[c].track_count; t++) {
			struct shown at = {.anim = s->anim,
					   .raw = buf_bytes(&s->bytes),
					   .file_name = "bench.canm",
					   .clip = c,
					   .track = t};

			view->render(&at, &texts[i++]);
		}
	}
	return texts;
}

static void measure(const struct snap *s, const struct view *view, const char *what)
{
	size_t count;
	struct buf *texts = render_all(s, view, &count);
	double rendered = speed(s, view, NULL), parsed = speed(s, view, texts);

	printf("| %s | %.0f MB/s | %.0f MB/s |\n", what, rendered, parsed);
	for (size_t i = 0; i < count; i++)
		buf_release(&texts[i]);
	free(texts);
}

int main(int argc, char **argv)
{
	struct err err = {0};
	struct buf bytes;
	struct snap *s;

	if (argc != 2) {
		fputs("usage: bench_text FILE.canm\n", stderr);
		return 2;
	}
	bytes = load_file(argv[1]);
	s = snap_of_bytes(codec_named("canm"), &bytes, "canm", NULL, &err);
	if (!s) {
		fprintf(stderr, "%s: %s\n", argv[1], err.message);
		return 1;
	}
	measure(s, &view_bone_csv, "bone CSV");
	measure(s, &view_bone_json, "bone JSON");
	snap_put(s);
	return 0;
}
