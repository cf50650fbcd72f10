/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * alloc_fail.c - runs every step from bytes to text and back with the n-th allocation failing, for
 * every n. Either the step reports that memory ran out, or its result is right all the same.
 * Nothing may crash or leak.
 *
 * malloc and its kin are defined here, and so the libraries' allocations are counted too.
 */
#include "../unit/load.h"
#include "../unit/small_mdb.h"
#include "container/contents.h"
#include "edit/compare.h"
#include "edit/listing.h"
#include "edit/structure.h"
#include "skeleton/model_formats.h"
#include "store/source.h"
#include "store/tree.h"
#include "view/stills_figure.h"
#include "view/views.h"

#include <errno.h>
#include <libxml/parser.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *p, size_t size);
void __libc_free(void *p);

static long live;           /* number of blocks in use */
static long remaining = -1; /* number of allocations that still succeed; negative: all succeed */
static bool for_good;       /* all allocations after the failed one fail, too */
static bool denied;         /* an allocation has failed since `remaining` was set */

static bool deny(void)
{
	if (remaining < 0)
		return false;
	if (remaining > 0) {
		remaining--;
		return false;
	}
	denied = true;
	errno = ENOMEM;
	if (!for_good)
		remaining = -1;
	return true;
}

void *malloc(size_t size)
{
	void *p = deny() ? NULL : __libc_malloc(size);

	live += p != NULL;
	return p;
}

void *calloc(size_t count, size_t size)
{
	void *p = deny() ? NULL : __libc_calloc(count, size);

	live += p != NULL;
	return p;
}

void *realloc(void *old, size_t size)
{
	void *p = deny() ? NULL : __libc_realloc(old, size);

	/* A realloc to size 0 frees the block. */
	live += (p != NULL && old == NULL) - (p == NULL && old != NULL && size == 0);
	return p;
}

void free(void *p)
{
	live -= p != NULL;
	__libc_free(p);
}

static const char *const samples[] = {
	"tests/data/canm/wiki512.canm",
	"tests/data/canm/odd512.canm",
	"tests/data/canm/nan512.canm",
	"tests/data/canm/edf6_768.canm",
	"tests/data/cas/v200.cas",
	"tests/data/cas/v204.cas",
	"tests/data/ff9anim/frames001_nolow.ff9anim",
	"tests/data/ff9anim/frames008_nolow.ff9anim",
	"tests/data/owanim/small.006",
	"tests/data/ff9clip/odd.anim",
	"tests/data/ff9clip/json_odd.anim",
	"tests/data/ribbon/duplicate.anm",
	"tests/data/ribbon/flags3.anm",
	"tests/data/ribbon/trailing2.anm",
	"tests/data/kanim/stick.kanim",
	"tests/data/kanim/frames.castle-anim-frames",
	"tests/data/kanim/utf16.kanim",
};

/*
 * Archives to test. None has names in CP932, since the C library keeps its tables for that; none is
 * a ZIP, since libzip may report that a file is no archive when memory ran out.
 */
static const char *const archives[] = {
	"tests/data/cpk/nested.cpk",
	"tests/data/cpk/columns.cpk",
	"tests/data/cpk/itoc.cpk",
	"tests/data/rab/walker.mrab",
};

static unsigned passed, failed;
static char doing[256]; /* the current step, for the message of a crash */

static void on_crash(int number)
{
	(void)!write(STDERR_FILENO, doing, strlen(doing));
	(void)!write(STDERR_FILENO, ": crashed\n", 10);
	signal(number, SIG_DFL);
	raise(number);
}

/* A step. `run` writes its result to *out, or returns false and sets err. */
struct step {
	const struct codec *codec;
	const struct container *container;
	struct bytes file;
	const struct shown *at;
	const struct view *view;
	struct bytes text;
	bool (*run)(const struct step *step, struct buf *out, struct err *err);
	const struct version *version;
};

/*
 * Decodes a file. The result is the file's bytes, encoded again, since they show the whole model.
 */
static bool decode(const struct step *step, struct buf *out, struct err *err)
{
	struct buf copy = BUF_INIT;
	struct version *s;
	bool good;

	buf_add(&copy, step->file.data, step->file.size);
	if (copy.failed)
		return err_memory(err);
	s = version_of_bytes(step->codec, &copy, "canm", NULL, err);
	if (!s)
		return false;
	good = step->codec->encode(s->anim, step->file, out, err);
	version_put(s);
	return good;
}

struct apart {
	const struct step *step;
	struct buf *out;
	struct err *err;
	long remaining;
	bool good;
};

static void *run_apart(void *closure)
{
	struct apart *apart = closure;

	remaining = apart->remaining;
	apart->good = decode(apart->step, apart->out, apart->err);
	return NULL;
}

/*
 * Decodes in a thread that has read no XML yet, like a new thread of a mount: libxml2 allocates
 * more there. Not with for_good: libxml2 would repeat the allocation for ever. The thread has a
 * stack of this program, since the C library keeps its own stacks for later.
 */
static bool decode_apart(const struct step *step, struct buf *out, struct err *err)
{
	static _Alignas(4096) char stack[1 << 20];
	struct apart apart = {step, out, err, remaining, false};
	pthread_attr_t attr;
	pthread_t thread;
	int error;

	if (for_good)
		return decode(step, out, err);
	remaining = -1;
	pthread_attr_init(&attr);
	pthread_attr_setstack(&attr, stack, sizeof(stack));
	error = pthread_create(&thread, &attr, run_apart, &apart);
	pthread_attr_destroy(&attr);
	if (error)
		return err_memory(err);
	pthread_join(thread, NULL);
	return apart.good;
}

static bool render(const struct step *step, struct buf *out, struct err *err)
{
	step->view->render(step->at, out);
	return out->failed ? err_memory(err) : true;
}

static bool save(const struct step *step, struct buf *out, struct err *err)
{
	struct anim *edited = step->view->parse(step->at, step->text, err);
	bool good;

	if (!edited)
		return false;
	good = step->codec->encode(edited, step->file, out, err);
	anim_free(edited);
	return good;
}

static bool list(const struct step *step, struct buf *out, struct err *err)
{
	struct listing l = LISTING_INIT;
	bool good;

	listing_anim(&l, step->at->anim);
	good = !listing_failed(&l);
	if (good)
		buf_add(out, l.text.data, l.text.size);
	listing_release(&l);
	return (good && !out->failed) || err_memory(err);
}

static bool add_name(void *out, const char *name, const struct place *place)
{
	(void)place;
	buf_text(out, name);
	buf_char(out, '\n');
	return !((struct buf *)out)->failed;
}

/* Lists the views in the folders of the clips: none may be missing because memory ran out. */
static bool list_clips(const struct step *step, struct buf *out, struct err *err)
{
	const struct tree tree = {step->version, "canm"};

	for (uint32_t i = 0; i < step->version->anim->clip_count; i++) {
		const struct place clip = {PLACE_CLIP, NULL, i, 0, 0};

		if (!tree_list(&tree, &clip, VIEW_SET_ALL, add_name, out))
			return err_memory(err);
	}
	return true;
}

/* Reads an archive: the names of its members, and their bytes. */
static bool read_archive(const struct step *step, struct buf *out, struct err *err)
{
	const struct input in = input_of_bytes(step->file);
	struct archive *a = archive_open(step->container, &in, (size_t)1 << 24, err);
	struct contents *c = a ? contents_new(a, err) : NULL;
	bool good = c != NULL;

	for (uint32_t i = 1; good && i < c->count; i++) {
		buf_text(out, c->entries[i].label);
		good = !out->failed || err_memory(err);
		if (good && c->entries[i].member != CONTENTS_NONE)
			good = archive_read(a, c->entries[i].member, (size_t)1 << 24, out, err);
	}
	contents_free(c);
	archive_close(a);
	return good;
}

/*
 * Reads a skeleton from its text, saves its own text in place of it, and renders the views that use
 * it.
 */
static bool pose(const struct step *step, struct buf *out, struct err *err)
{
	struct skeleton *s = skeleton_read(step->text, NULL, err), *again = NULL;
	struct shown at = *step->at;

	if (!s)
		return false;
	at.skeleton = s;
	view_skeleton_csv.render(&at, out);
	if (!out->failed)
		again = view_skeleton_csv.parse_skeleton(&at, buf_bytes(out), err);
	at.skeleton = again;
	if (again)
		view_x3d_frame.render(&at, out);
	skeleton_free(again);
	skeleton_free(s);
	return again && !out->failed ? true : err_memory(err);
}

/* Reads a skeleton from a model. */
static bool read_model(const struct step *step, struct buf *out, struct err *err)
{
	const struct anim nothing = {.arena = ARENA_INIT};
	struct skeleton *s = model_format_of(step->codec->format)->read(step->file, err);

	if (!s)
		return false;
	skeleton_text(s, &nothing, out);
	skeleton_free(s);
	return !out->failed || err_memory(err);
}

/* Renders the views of joined stills. */
static bool draw_stills(const struct x3d_joined *j, struct buf *out, struct err *err)
{
	struct arena arena = ARENA_INIT;
	struct stills_figure f;
	bool fine = stills_figure_present(j, err) &&
		    (stills_figure_make(&f, j, &arena) || err_memory(err));

	if (fine)
		buf_format(out, "%u nodes, %u shapes\n", f.node_count, f.shape_count);
	arena_release(&arena);
	return fine && (!out->failed || err_memory(err));
}

/* Joins stills, of which each gives fewer and other values than the one before. */
static bool join_stills(const struct step *step, struct buf *out, struct err *err)
{
	const struct x3d_still stills[] = {
		{bytes_of("<X3D><Scene><Transform translation='0 1 0' rotation='0 0 1 2'><Inline "
			  "url='\"a\"'/></Transform><Shape><Appearance><Material DEF='m' "
			  "transparency='.5'/></Appearance><Sphere/></Shape></Scene></X3D>"),
		 false},
		{bytes_of("<frame><X3D><Scene><Transform translation='0 2 0'><Inline "
			  "url='\"a\"'/></Transform><Shape><Appearance><Material DEF='m'/>"
			  "</Appearance><Sphere/></Shape></Scene></X3D></frame>"),
		 true},
	};
	const struct still times[] = {{.time = 0}, {.time = 1}};
	const struct x3d_play play = {.stills = times, .folder = "../"};
	struct x3d_joined *j = x3d_join_new(ARRAY_SIZE(stills));
	bool fine = j || err_memory(err);

	(void)step;
	for (size_t i = 0; fine && i < ARRAY_SIZE(stills); i++)
		fine = x3d_join_add(j, &stills[i], err);
	if (fine) {
		x3d_join_write(j, &play, out);
		fine = (!out->failed || err_memory(err)) && draw_stills(j, out, err);
	}
	x3d_join_free(j);
	return fine;
}

/* Converts a file of another format, and lists the differences to the present file. */
static bool convert(const struct step *step, struct buf *out, struct err *err)
{
	struct anim *made = anim_blank(step->codec->format, NULL);
	bool good =
		made ? anim_clip_copy(made, step->at->anim, 0, "canm", NULL, err) : err_memory(err);

	if (good) {
		compare_files(step->at->anim, made, out);
		good = (!out->failed || err_memory(err)) &&
		       step->codec->encode(made, (struct bytes){NULL, 0}, out, err);
	}
	anim_free(made);
	return good;
}

/*
 * Returns the fault in a step's result while an allocation failed; NULL if it is as it should be.
 */
static const char *judge(bool good, const struct err *err, const struct buf *out,
			 const struct buf *right)
{
	if (good)
		return bytes_equal(buf_bytes(out), buf_bytes(right)) ? NULL : "gave a wrong result";
	if (!denied)
		return "failed the second time";
	return err->code == ERR_MEMORY ? NULL : "said something else than that memory ran out";
}

static bool attempt(const struct step *step, const struct buf *right, long n)
{
	struct buf out = BUF_INIT;
	struct err err = {0};
	long before = live;
	const char *fault;
	bool good;

	denied = false;
	remaining = n;
	good = step->run(step, &out, &err);
	remaining = -1;
	fault = judge(good, &err, &out, right);
	buf_release(&out);
	xmlResetLastError(); /* libxml2 keeps its last error for callers that ask for it: free it */
	if (!fault && live != before)
		fault = live > before ? "leaked" : "freed what was not its own";
	if (fault)
		fprintf(stderr, "%s: allocation %ld%s: %s (%s)\n", doing, n,
			for_good ? " and all after it" : "", fault, err.message);
	return !fault;
}

static bool survives(const struct step *step, const struct buf *right)
{
	for (long n = 0; attempt(step, right, n); n++)
		if (!denied)
			return true;
	return false;
}

static void try(const struct step *step, const char *what)
{
	struct buf right = BUF_INIT;
	struct err err = {0};
	bool good;

	snprintf(doing, sizeof(doing), "%s", what);
	/*
	 * Run the step without failures first: for the right result, and for allocations that
	 * libraries keep.
	 */
	good = step->run(step, &right, &err);
	if (!good)
		fprintf(stderr, "%s: %s\n", doing, err.message);
	for_good = false;
	good = good && survives(step, &right);
	for_good = true;
	good = good && survives(step, &right);
	passed += good;
	failed += !good;
	buf_release(&right);
}

/*
 * Writes the text with the first occurrence of `was` replaced by `is`. Returns false if there is
 * none.
 */
static bool edit(struct bytes text, const char *was, const char *is, struct buf *out)
{
	const uint8_t *found = memmem(text.data, text.size, was, strlen(was));
	size_t before;

	if (!found)
		return false;
	before = (size_t)(found - text.data);
	buf_add(out, text.data, before);
	buf_text(out, is);
	buf_add(out, found + strlen(was), text.size - before - strlen(was));
	return true;
}

/* Edits of every kind that the samples allow: a view, a part of its text, and the replacement. */
static const struct {
	const struct view *view;
	const char *was, *is;
} edits[] = {
	{&view_bone_csv, ",1.5,1.5,1.5\n", ",1.25,1.5,1.75\n"},
	{&view_bone_csv, ",1.002,2.006\n", ",1.003,2.5\n"},
	{&view_bone_csv, "tx,ty,tz", "tx;ty;tz"},
	{&view_bone_csv, ",0,90,0,", ",0,60,0,"}, /* an edit of quaternions, and below of angles */
	{&view_bone_csv, "0.9791772,0.19675918,-0.048999704,0.009846138", "0,0,0,1"},
	/* an edit after which the file needs a low table */
	{&view_bone_csv, ",336.09375,64.6875,", ",336.1,64.6875,"},
	{&view_bone_csv, "\n0,0,,,,0.7071517,", "\n4,,,,,0.7071517,"},
	{&view_bone_json, "[1.5, 1.5, 1.5]", "[1.25, 1.5, 1.75]"},
	{&view_bone_json, "[1.5, 1.5, 1.5]", "[1.25000000000000000000000000000000000001, 1, 2]"},
	{&view_clip_json, "\"name\": \"walk\", ",
	 "\"name\": \"a walk that goes on and on and on\", "},
	{&view_clip_json, "\"loop\": true", "\"loop\": false"},
	{&view_clip_json, "\"frames\": 5,", "\"frames\": 300,"},
	{&view_clip_json, "\"duration\": 4", "\"duration\": 6"},
	{&view_gltf, "\"node\": 2, \"path\": \"scale\"", "\"node\": 1, \"path\": \"scale\""},
	{&view_gltf, "\"node\": 2, \"path\": \"translation\"",
	 "\"node\": 1, \"path\": \"translation\""},
	{&view_gltf, "\"node\": 1, \"path\": \"rotation\"", "\"node\": 2, \"path\": \"rotation\""},
	{&view_kanim, "loop=\"true\"", "loop=\"false\""},
	{&view_file_json, "\"name\": \"run\"", "\"name\": \"\u00e9\""},
	{&view_file_json, "\"backwards\": false", "\"backwards\": true"},
	{&view_frames_csv, "0.5,frame_1.x3d", "7,\"\u00e9 & co\""},
	{&view_frames_csv, ",2,2,frame_2.x3d\n", ",9,3,new.x3d\n"},
	{&view_frames_csv, "walk,1,1,\n", "walk,9,1,new.x3d\n"},
};

static void try_edits(struct step *step, const char *name)
{
	struct bytes own = step->text;
	char what[256];

	for (size_t i = 0; i < ARRAY_SIZE(edits); i++) {
		struct buf text = BUF_INIT, out = BUF_INIT;
		struct err err = {0};

		if (edits[i].view == step->view && edit(own, edits[i].was, edits[i].is, &text)) {
			step->text = buf_bytes(&text);
			snprintf(what, sizeof(what), "%s, edited (%zu)", name, i);
			/* Skip an edit that is refused even without failures. */
			if (save(step, &out, &err))
				try(step, what);
		}
		buf_release(&text);
		buf_release(&out);
	}
	step->text = own;
}

static void try_view(const struct version *s, const struct view *view, const struct shown *at,
		     const char *sample)
{
	struct step step = {
		.codec = s->codec, .file = at->raw, .at = at, .view = view, .run = render};
	struct buf text = BUF_INIT;
	char name[128], what[192];

	if (view->present && !view->present(at))
		return;
	snprintf(name, sizeof(name), "%s: %s %u/%u/%u", sample, view->file, at->clip, at->track,
		 at->frame);
	snprintf(what, sizeof(what), "%s, rendered", name);
	try(&step, what);
	if (view->parse) {
		view->render(at, &text);
		step.text = buf_bytes(&text);
		step.run = save;
		snprintf(what, sizeof(what), "%s, saved", name);
		try(&step, what);
		try_edits(&step, name);
	}
	buf_release(&text);
}

/* Converts a file to each format that can store its first clip. */
static void try_conversions(const struct version *s, const char *sample)
{
	struct shown at = {.anim = s->anim};
	char what[256];

	snprintf(what, sizeof(what), "%s, listed", sample);
	try(&(struct step){.codec = s->codec, .at = &at, .run = list}, what);
	for (const struct codec *const *c = codecs; *c; c++) {
		struct step step = {.codec = *c, .at = &at, .run = convert};
		struct buf out = BUF_INIT;
		struct err err = {0};

		snprintf(what, sizeof(what), "%s, as %s", sample, (*c)->format->name);
		if (convert(&step, &out, &err))
			try(&step, what);
		buf_release(&out);
	}
}

/*
 * Makes a skeleton: if possible, each bone is the child of the bone before it, and the first that
 * of a bone that no clip has.
 */
static void try_skeleton(const struct version *s, const char *sample)
{
	struct shown at = {.anim = s->anim};
	struct step step = {.at = &at, .run = pose};
	struct buf text = BUF_INIT;
	const char *parent = s->anim->format->flat ? "" : "floor";
	char what[256];

	if (s->anim->format->stills)
		return;
	buf_text(&text, "bone,parent,ty\nfloor,,-1\n");
	for (uint32_t i = 0; i < s->anim->clips[0].track_count; i++) {
		const char *bone = s->anim->clips[0].tracks[i].label;

		buf_format(&text, "%s,%s,1\n", bone, parent);
		if (*parent)
			parent = bone;
	}
	step.text = buf_bytes(&text);
	snprintf(what, sizeof(what), "%s, posed", sample);
	try(&step, what);
	buf_release(&text);
}

static void try_models(void)
{
	struct buf model = BUF_INIT;

	buf_zero(&model, 0x14 + 4 * 2);
	model.data[2] = 2;
	try(&(struct step){.codec = codec_named("ff9anim"),
			   .file = buf_bytes(&model),
			   .run = read_model},
	    "a Final Fantasy IX model");
	buf_clear(&model);
	small_mdb(&model);
	try(&(struct step){.codec = codec_named("canm"),
			   .file = buf_bytes(&model),
			   .run = read_model},
	    "an MDB model");
	buf_release(&model);
}

static uint32_t places(const struct version *s, const struct view *view, uint32_t clip)
{
	if (view->place == VIEW_OF_BONE)
		return s->anim->clips[clip].track_count;
	if (view->place == VIEW_OF_FRAME)
		return s->anim->clips[clip].frames;
	return 1;
}

/*
 * Tests views with rotations in the form that the style asks for; in other forms than the stored
 * one, only `views`.
 */
static void try_views(const struct version *s, const char *sample)
{
	for (const struct view *const *v = views; *v; v++) {
		uint32_t clips = (*v)->place == VIEW_OF_FILE ? 1 : s->anim->clip_count;

		if (s->anim->rotations != ROTATIONS_STORED && (*v)->place != VIEW_OF_BONE &&
		    *v != &view_curves_csv)
			continue;
		for (uint32_t c = 0; c < clips; c++) {
			for (uint32_t i = 0; i < places(s, *v, c); i++) {
				struct shown at = {
					.anim = s->anim,
					.raw = buf_bytes(&s->bytes),
					.file_name = strrchr(sample, '/') + 1,
					.clip = c,
					.track = (*v)->place == VIEW_OF_BONE ? i : 0,
					.frame = (*v)->place == VIEW_OF_FRAME ? i : 0,
				};

				try_view(s, *v, &at, at.file_name);
			}
		}
	}
}

static void try_sample(const char *sample)
{
	struct buf bytes = load_file(sample), kept = BUF_INIT;
	struct err err = {0};
	const struct codec *codec = codec_for_name(sample);
	struct version *s;

	buf_add(&kept, bytes.data, bytes.size);
	try(&(struct step){.codec = codec, .file = buf_bytes(&kept), .run = decode}, sample);
	try(&(struct step){.codec = codec, .file = buf_bytes(&kept), .run = decode_apart}, sample);
	s = version_of_bytes(codec, &bytes, "canm", NULL, &err);
	if (s) {
		try(&(struct step){.run = list_clips, .version = s}, sample);
		try_conversions(s, sample);
		try_skeleton(s, sample);
		for (int form = ROTATIONS_STORED; form <= ROTATIONS_QUATERNION; form++) {
			s->anim->rotations = (enum rotations)form;
			try_views(s, sample);
		}
		version_put(s);
	} else {
		fprintf(stderr, "%s: %s\n", sample, err.message);
		failed++;
	}
	buf_release(&kept);
}

static void try_archive(const char *sample)
{
	struct buf bytes = load_file(sample);

	try(&(struct step){.container = container_for_name(sample),
			   .file = buf_bytes(&bytes),
			   .run = read_archive},
	    sample);
	buf_release(&bytes);
}

static void silent(void *context, const char *message, ...)
{
	(void)context;
	(void)message;
}

int main(void)
{
	signal(SIGSEGV, on_crash);
	signal(SIGABRT, on_crash);
	xmlInitParser();
	xmlSetGenericErrorFunc(NULL, silent);
	xmlThrDefSetGenericErrorFunc(NULL, silent);
	for (size_t i = 0; i < ARRAY_SIZE(samples); i++)
		try_sample(samples[i]);
	for (size_t i = 0; i < ARRAY_SIZE(archives); i++)
		try_archive(archives[i]);
	try_models();
	try(&(struct step){.run = join_stills}, "stills");
	xmlCleanupParser();
	printf("alloc: %u passed, %u failed\n", passed, failed);
	return failed > 0;
}
