/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * fuzz.h - shared by the libFuzzer targets: the samples, and the laws that every text must keep.
 *
 * The input of a target of texts is one byte each for the sample (and the form in which it shows
 * rotations), the clip and the bone, and then the text. With FUZZ_SEEDS=DIR in its environment a
 * target writes its first inputs there. tests/tools/replay.c runs targets without libFuzzer, under
 * names of their own.
 */
#ifndef ANIMFS_TESTS_SEARCH_FUZZ_FUZZ_H
#define ANIMFS_TESTS_SEARCH_FUZZ_FUZZ_H

#ifdef REPLAY
#define LLVMFuzzerInitialize REPLAY(Initialize)
#define LLVMFuzzerTestOneInput REPLAY(TestOneInput)
#endif

#include "../../unit/load.h"
#include "store/source.h"
#include "util/utf8.h"
#include "view/views.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>

/* A target of a view that these samples do not have defines FUZZ_SAMPLES itself. */
#ifndef FUZZ_SAMPLES
#define FUZZ_SAMPLES                                                                               \
	"tests/data/canm/wiki512.canm", "tests/data/canm/odd512.canm",                             \
		"tests/data/canm/nan512.canm", "tests/data/canm/edf6_768.canm"
#endif

static const char *const fuzz_samples[] = {FUZZ_SAMPLES};

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Defines the start of a target, which calls `write` to write the target's seeds. */
#define FUZZ_INITIALIZE(write)                                                                     \
	int LLVMFuzzerInitialize(int *argc, char ***argv)                                          \
	{                                                                                          \
		const char *seeds = getenv("FUZZ_SEEDS");                                          \
                                                                                                   \
		(void)argc;                                                                        \
		(void)argv;                                                                        \
		if (seeds)                                                                         \
			write;                                                                     \
		return 0;                                                                          \
	}

/* Ends the run: the sanitizer shows the place, this message the broken law. */
__attribute__((noreturn)) static inline void fuzz_broken(const char *law, const struct err *err)
{
	fprintf(stderr, "broken: %s: %s\n", law, err ? err->message : "");
	abort();
}

static inline void fuzz_seed(const char *folder, const uint8_t head[3], struct bytes body)
{
	static unsigned number;
	char path[4096];
	FILE *file;

	snprintf(path, sizeof(path), "%s/seed%04u", folder, number++);
	file = fopen(path, "wb");
	if (!file || (head && fwrite(head, 1, 3, file) != 3) ||
	    fwrite(body.data, 1, body.size, file) != body.size || fclose(file)) {
		perror(path);
		exit(1);
	}
}

/* Checks the error of a refused text of that size. */
static inline void fuzz_refused(const struct err *err, size_t size)
{
	if (err->code == ERR_NONE || err->message[0] == '\0')
		fuzz_broken("a refusal says why", NULL);
	if (err->placed && err->at > size)
		fuzz_broken("an error lies in its text", err);
}

/* Returns the size of a text as positions of errors count it: in UTF-8. */
static inline size_t fuzz_size(struct bytes text)
{
	struct buf decoded = BUF_INIT;
	size_t size = utf8_text(text, &decoded).size;

	buf_release(&decoded);
	return size;
}

static inline struct version *fuzz_version(const struct codec *codec, struct bytes bytes,
					   struct err *err)
{
	struct buf copy = BUF_INIT;

	buf_add(&copy, bytes.data, bytes.size);
	return version_of_bytes(codec, &copy, "canm", 0, err);
}

/* Returns a sample, which is decoded once. */
static inline struct version *fuzz_sample(unsigned i)
{
	static struct version *versions[ARRAY_SIZE(fuzz_samples)];

	if (!versions[i]) {
		struct err err = {0};
		struct buf bytes = load_file(fuzz_samples[i]);

		versions[i] =
			version_of_bytes(codec_for_name(fuzz_samples[i]), &bytes, "canm", 0, &err);
		if (!versions[i])
			fuzz_broken(fuzz_samples[i], &err);
	}
	return versions[i];
}

#define FUZZ_CHOICES (3 * ARRAY_SIZE(fuzz_samples))

/* Returns the sample that a byte chooses, with rotations in the form that the byte chooses. */
static inline const struct version *fuzz_chosen(uint8_t byte)
{
	const struct version *s = fuzz_sample(byte % ARRAY_SIZE(fuzz_samples));

	s->anim->rotations = (enum rotations)(byte / ARRAY_SIZE(fuzz_samples) % 3);
	return s;
}

static inline struct shown fuzz_shown(const struct version *s, uint32_t clip, uint32_t track)
{
	return (struct shown){
		.anim = s->anim,
		.raw = buf_bytes(&s->bytes),
		.file_name = "sample.canm",
		.clip = clip,
		.track = track,
	};
}

/* Writes seeds: the text of the view in every place of the samples. */
static inline void fuzz_text_seeds(const struct view *view, const char *folder)
{
	for (uint8_t i = 0; i < FUZZ_CHOICES; i++) {
		const struct version *s = fuzz_chosen(i);

		for (uint8_t c = 0; c < s->anim->clip_count; c++) {
			uint32_t tracks = s->anim->clips[c].track_count;

			if (view->place != VIEW_OF_BONE)
				tracks = 1;
			for (uint8_t t = 0; t < tracks; t++) {
				struct shown at = fuzz_shown(s, c, t);
				struct buf text = BUF_INIT;

				if (!view->present || view->present(&at)) {
					view->render(&at, &text);
					fuzz_seed(folder, (uint8_t[]){i, c, t}, buf_bytes(&text));
				}
				buf_release(&text);
			}
		}
	}
}

/*
 * Checks that a stored file equals the edit, and that saving its new text unchanged changes no
 * byte.
 */
static inline void fuzz_laws(const struct view *view, const struct version *old,
			     const struct shown *at, const struct anim *edited, struct bytes stored)
{
	struct err err = {0};
	struct version *s = fuzz_version(old->codec, stored, &err);
	struct shown now = *at;
	struct buf text = BUF_INIT, again = BUF_INIT;
	struct anim *same;

	if (!s)
		fuzz_broken("what was encoded can be decoded", &err);
	if (!anim_stored(edited, old->anim, s->anim, &err))
		fuzz_broken("what was encoded is what was asked for", &err);
	s->anim->rotations = old->anim->rotations;
	now.anim = s->anim;
	now.raw = buf_bytes(&s->bytes);
	view->render(&now, &text);
	same = view->parse(&now, buf_bytes(&text), &err);
	if (!same)
		fuzz_broken("a view's own text can be saved", &err);
	if (!old->codec->encode(same, now.raw, &again, &err))
		fuzz_broken("a view's own text can be encoded", &err);
	if (!bytes_equal(buf_bytes(&again), now.raw))
		fuzz_broken("saving a view's own text changes nothing", NULL);
	anim_free(same);
	buf_release(&text);
	buf_release(&again);
	version_put(s);
}

static inline int fuzz_text(const struct view *view, const uint8_t *data, size_t size)
{
	struct err err = {0};
	struct buf out = BUF_INIT;
	const struct version *s;
	struct shown at;
	struct anim *edited;
	uint32_t tracks;

	if (size < 3)
		return 0;
	s = fuzz_chosen(data[0]);
	at = fuzz_shown(s, data[1] % s->anim->clip_count, 0);
	tracks = s->anim->clips[at.clip].track_count;
	if (view->place == VIEW_OF_BONE && tracks == 0)
		return 0;
	at.track = view->place == VIEW_OF_BONE ? data[2] % tracks : 0;
	edited = view->parse(&at, (struct bytes){data + 3, size - 3}, &err);
	if (!edited) {
		fuzz_refused(&err, fuzz_size((struct bytes){data + 3, size - 3}));
		return 0;
	}
	if (s->codec->encode(edited, at.raw, &out, &err))
		fuzz_laws(view, s, &at, edited, buf_bytes(&out));
	buf_release(&out);
	anim_free(edited);
	return 0;
}

/*
 * Decodes any bytes as a file of a format: they are refused with a reason, or encode to the same
 * bytes.
 */
static inline int fuzz_bytes(const char *codec, const uint8_t *data, size_t size)
{
	struct err err = {0};
	struct buf out = BUF_INIT;
	struct version *s = fuzz_version(codec_named(codec), (struct bytes){data, size}, &err);

	if (!s) {
		if (err.code != ERR_FORMAT || err.message[0] == '\0')
			fuzz_broken("a refusal says why", &err);
		return 0;
	}
	if (!s->codec->encode(s->anim, buf_bytes(&s->bytes), &out, &err))
		fuzz_broken("what was decoded can be encoded", &err);
	if (!bytes_equal(buf_bytes(&out), buf_bytes(&s->bytes)))
		fuzz_broken("encoding what was decoded gives the same bytes", NULL);
	buf_release(&out);
	version_put(s);
	return 0;
}

static inline void fuzz_file_seeds(const char *pattern, const char *folder)
{
	glob_t found;

	if (glob(pattern, 0, NULL, &found))
		return;
	for (size_t i = 0; i < found.gl_pathc; i++) {
		struct buf bytes = load_file(found.gl_pathv[i]);

		fuzz_seed(folder, NULL, buf_bytes(&bytes));
		buf_release(&bytes);
	}
	globfree(&found);
}

/* Defines a target that decodes a format. Its seeds are the files that the pattern finds. */
#define FUZZ_CODEC(codec, pattern)                                                                 \
	FUZZ_INITIALIZE(fuzz_file_seeds(pattern, seeds))                                           \
                                                                                                   \
	int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)                               \
	{                                                                                          \
		return fuzz_bytes(codec, data, size);                                              \
	}

/* Defines a target that parses the text of a view. */
#define FUZZ_VIEW(view)                                                                            \
	FUZZ_INITIALIZE(fuzz_text_seeds(&(view), seeds))                                           \
                                                                                                   \
	int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)                               \
	{                                                                                          \
		return fuzz_text(&(view), data, size);                                             \
	}

#endif
