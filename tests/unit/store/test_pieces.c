/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The laws of a text that arrives in pieces, over all samples of all formats and all their views
 * that can be saved:
 *
 *   a view's own text, in two to five pieces, leaves the file as it was, to the byte
 *   a new text in pieces leaves the file that one write of it leaves, to the byte
 *
 *   so does one that is written over another text on the same handle
 *   saves of other programs in between stay
 *
 * After each piece there is a flush by another program (the children of a shell), an fsync, or a
 * close and an open for appending; some of these refuse what is there so far, others store part of
 * the text. The cuts are random, the same in every run, and half of them at the end of a line.
 */
#include "load.h"
#include "random.h"
#include "scratch.h"
#include "store/draft.h"

#include <glob.h>
#include <xxhash.h>

#define LIMIT ((size_t)4 << 20)
#define PIECES_MAX 5
#define BONES_TRIED 5 /* limit of the bones of a clip that are tried */
#define SKELETON_SUFFIX ".skeleton.csv"

/* ---- a sample as a file of a folder ---- */

static struct state *state;
static unsigned tried;
static struct store *store;

/* One view of one sample. */
struct trial {
	const char *sample; /* path of the sample, for messages */
	const char *name;   /* name of the file in the scratch folder */
	struct buf bytes;   /* original bytes of the file */
	struct source *source;
	char path[512]; /* path of the view */
	char story[400];
};

static void begin(void)
{
	struct store_options options = {.cache = LIMIT, .max_file = LIMIT};
	struct err err = {.code = ERR_NONE};

	scratch_begin();
	state = state_new(scratch_root, NULL, false, &err);
	ck_assert_msg(state != NULL, "%s", err.message);
	store = store_new(&options, state);
}

static void end(void)
{
	store_free(store);
	state_free(state);
	scratch_end();
}

static void write_bytes(const char *name, struct bytes bytes)
{
	FILE *file = fopen(name, "wbe");

	ck_assert_ptr_nonnull(file);
	if (bytes.size)
		ck_assert_uint_eq(fwrite(bytes.data, 1, bytes.size, file), bytes.size);
	ck_assert_int_eq(fclose(file), 0);
}

/*
 * Writes the original file and makes a new source for it, which knows no earlier version of the
 * file.
 */
static void restore(struct trial *t)
{
	char skeleton[NAME_MAX + 1];

	source_free(t->source);
	write_bytes(t->name, buf_bytes(&t->bytes));
	snprintf(skeleton, sizeof(skeleton), "%.200s" SKELETON_SUFFIX, t->name);
	unlink(skeleton);
	t->source = source_new(store);
}

static struct version *now_of(const struct trial *t)
{
	const struct where where = {.dir = scratch_root, .folder = "", .name = t->name};
	struct err err = {.code = ERR_NONE};
	struct version *now = source_get(t->source, &where, &err);

	ck_assert_msg(now != NULL, "%s: %s", t->sample, err.message);
	return now;
}

/* Returns the bytes of the file and of the skeleton beside it. */
static struct buf stored(const struct trial *t)
{
	char skeleton[NAME_MAX + 1];
	struct buf all = load_file(t->name), more = BUF_INIT;

	snprintf(skeleton, sizeof(skeleton), "%.200s" SKELETON_SUFFIX, t->name);
	if (is_there(skeleton)) {
		more = load_file(skeleton);
		buf_text(&all, "skeleton:");
		buf_add(&all, more.data, more.size);
		buf_release(&more);
	}
	return all;
}

/* ---- writing ---- */

/*
 * Opens a view for writing as the mount does. *draft is NULL if the view's text is the rendered
 * one.
 */
static void open_view(const struct trial *t, struct draft **draft, bool append)
{
	struct version *now = now_of(t);
	struct tree tree = {now, t->name};
	struct buf rendered = BUF_INIT;
	struct place place;
	struct text *text;

	ck_assert_msg(tree_walk(&tree, t->path, &place), "%s/%s is gone: %s", t->sample, t->path,
		      t->story);
	if (*draft) {
		draft_begin(*draft, now, &place, append);
	} else {
		ck_assert_int_eq(tree_render(&tree, &place, &rendered), 0);
		text = text_new(&rendered);
		*draft = draft_new(now, &place, text, NULL);
		text_put(text);
	}
	version_put(now);
}

static struct bytes text_of(const struct draft *draft)
{
	return text_bytes(draft->text);
}

static enum verdict commit(const struct trial *t, struct draft *draft, enum draft_event event,
			   struct err *err)
{
	const struct where where = {.dir = scratch_root, .folder = "", .name = t->name};
	struct attempt attempt;
	enum verdict verdict;

	*err = (struct err){.code = ERR_NONE};
	if (!draft_attempt(draft, event, &attempt))
		return VERDICT_SAME;
	verdict = attempt_commit(&attempt, t->source, &where, err);
	draft_conclude(draft, &attempt, verdict);
	attempt_release(&attempt);
	return verdict;
}

static void close_view(const struct trial *t, struct draft **draft)
{
	struct err err;

	commit(t, *draft, DRAFT_FLUSH_OTHER, &err);
	if (draft_settle(*draft, 0))
		return;
	draft_free(*draft);
	*draft = NULL;
}

/* What happens between one piece of a text and the next. */
enum gap { GAP_FLUSH, GAP_SYNC, GAP_APPEND };
#define GAP_COUNT 3

static void pause_in(const struct trial *t, struct draft **draft, enum gap gap)
{
	struct err err;

	commit(t, *draft, gap == GAP_SYNC ? DRAFT_SAVE : DRAFT_FLUSH_OTHER, &err);
	if (gap != GAP_APPEND)
		return;
	close_view(t, draft);
	open_view(t, draft, true);
}

static void write_piece(struct draft *draft, struct bytes text, size_t from, size_t to)
{
	const struct bytes piece = {text.data + from, to - from};

	ck_assert_int_eq(draft_write(draft, text_of(draft).size, piece, LIMIT), 0);
}

/*
 * Writes the text from its beginning, with a gap at each cut; cuts ascend. A text that was refused
 * at a close can no longer be appended to: then all of it is written.
 */
static enum verdict save_pieces(struct trial *t, struct bytes text, const size_t *cuts,
				unsigned count, enum gap gap, struct err *err)
{
	struct draft *draft = NULL;
	enum verdict verdict;
	size_t from = 0;

	open_view(t, &draft, false);
	ck_assert_int_eq(draft_truncate(draft, 0, LIMIT), 0);
	for (unsigned i = 0; i < count; i++) {
		write_piece(draft, text, from, cuts[i]);
		pause_in(t, &draft, gap);
		from = cuts[i];
		if (bytes_equal(text_of(draft), (struct bytes){text.data, from}))
			continue;
		ck_assert_int_eq(draft_truncate(draft, 0, LIMIT), 0);
		from = 0;
	}
	write_piece(draft, text, from, text.size);
	verdict = commit(t, draft, DRAFT_FLUSH_OTHER, err);
	close_view(t, &draft);
	draft_free(draft);
	return verdict;
}

/* ---- the laws ---- */

/* Returns a copy of a text with another digit in one or more of its numbers. */
static struct buf another_text(struct bytes own)
{
	struct buf text = BUF_INIT;
	unsigned changes = 1 + below(3);

	buf_add(&text, own.data, own.size);
	for (unsigned i = 0; i < 400 && changes; i++) {
		uint8_t *c = &text.data[below((uint32_t)own.size)];

		if (*c < '0' || *c > '9')
			continue;
		*c = (uint8_t)('0' + below(10));
		changes--;
	}
	return text;
}

static size_t random_cut(struct bytes text, size_t least, size_t most)
{
	size_t cut = least + below((uint32_t)(most - least));
	const uint8_t *line = memchr(text.data + cut, '\n', most - cut);

	return below(2) && line ? (size_t)(line - text.data) + 1 : cut;
}

static unsigned make_cuts(struct trial *t, struct bytes text, size_t cuts[PIECES_MAX], enum gap gap)
{
	static const char *const words[] = {"flush", "fsync", "append"};
	unsigned count = 0, wanted = 1 + below(PIECES_MAX - 1);
	size_t at = 1;
	int used = snprintf(t->story, sizeof(t->story), "%s at", words[gap]);

	for (; count < wanted && at < text.size; count++) {
		cuts[count] = random_cut(text, at, at + (text.size - at) / (wanted - count));
		at = cuts[count] + 1;
		if (at > text.size)
			break;
		used += snprintf(t->story + used, sizeof(t->story) - (size_t)used, " %zu",
				 cuts[count]);
	}
	return count;
}

static void check_stored(struct trial *t, const struct buf *wanted, enum verdict verdict,
			 const struct err *err, const char *law)
{
	struct buf now = stored(t);

	ck_assert_msg(verdict != VERDICT_REFUSED, "%s/%s: %s, %s: refused: %s", t->sample, t->path,
		      law, t->story, err->message);
	ck_assert_msg(bytes_equal(buf_bytes(&now), buf_bytes(wanted)),
		      "%s/%s: %s, %s: the file is another (%zu bytes, not %zu)", t->sample, t->path,
		      law, t->story, now.size, wanted->size);
	buf_release(&now);
}

static void check_own_text(struct trial *t, struct bytes own)
{
	size_t cuts[PIECES_MAX];
	struct err err;

	for (enum gap gap = 0; gap < GAP_COUNT; gap++) {
		struct buf was = stored(t);
		unsigned count = make_cuts(t, own, cuts, gap);
		enum verdict verdict = save_pieces(t, own, cuts, count, gap, &err);

		check_stored(t, &was, verdict, &err, "own text");
		buf_release(&was);
	}
}

/* Saves the text after another one was saved on the same handle. */
static enum verdict save_second(struct trial *t, struct bytes first, struct bytes text,
				struct err *err)
{
	struct draft *draft = NULL;
	enum verdict verdict;

	snprintf(t->story, sizeof(t->story), "over another text");
	open_view(t, &draft, false);
	ck_assert_int_eq(draft_truncate(draft, 0, LIMIT), 0);
	write_piece(draft, first, 0, first.size);
	commit(t, draft, DRAFT_SAVE, err);
	ck_assert_int_eq(draft_truncate(draft, 0, LIMIT), 0);
	write_piece(draft, text, 0, text.size);
	verdict = commit(t, draft, DRAFT_SAVE, err);
	close_view(t, &draft);
	draft_free(draft);
	return verdict;
}

static void check_over_another(struct trial *t, struct bytes own)
{
	struct err err;

	for (unsigned i = 0; i < 4; i++) {
		struct buf was = stored(t), other = another_text(own);
		enum verdict verdict = save_second(t, buf_bytes(&other), own, &err);

		check_stored(t, &was, verdict, &err, "own text");
		buf_release(&was);
		buf_release(&other);
	}
}

static void check_new_text(struct trial *t, struct bytes own)
{
	struct buf text = another_text(own), whole;
	size_t cuts[PIECES_MAX];
	enum verdict verdict;
	struct err err;

	verdict = save_pieces(t, buf_bytes(&text), NULL, 0, GAP_FLUSH, &err);
	if (verdict == VERDICT_REFUSED || verdict == VERDICT_PENDING)
		goto done;
	whole = stored(t);
	for (enum gap gap = 0; gap < GAP_COUNT; gap++) {
		unsigned count = make_cuts(t, buf_bytes(&text), cuts, gap);

		restore(t);
		verdict = save_pieces(t, buf_bytes(&text), cuts, count, gap, &err);
		check_stored(t, &whole, verdict, &err, "a new text");
		restore(t);
		verdict = save_second(t, own, buf_bytes(&text), &err);
		check_stored(t, &whole, verdict, &err, "a new text");
	}
	buf_release(&whole);
done:
	restore(t);
	buf_release(&text);
}

/* ---- others save between the pieces ---- */

static void render(const struct trial *t, const char *path, struct buf *out)
{
	struct version *now = now_of(t);
	struct tree tree = {now, t->name};
	struct place place;

	ck_assert(tree_walk(&tree, path, &place));
	ck_assert_int_eq(tree_render(&tree, &place, out), 0);
	version_put(now);
}

static bool save_other(struct trial *t, const char *path, struct bytes text)
{
	struct trial other = *t;
	struct err err;

	snprintf(other.path, sizeof(other.path), "%s", path);
	return save_pieces(&other, text, NULL, 0, GAP_FLUSH, &err) == VERDICT_SAVED;
}

/*
 * Checks that a save of another program stays, and that the view's own text changes nothing, if
 * half of the text or a whole other text was saved before.
 */
static void check_beside_others(struct trial *t, const char *other, bool whole)
{
	struct buf own = BUF_INIT, theirs = BUF_INIT, text, wanted;
	struct draft *draft = NULL;
	size_t cuts[PIECES_MAX];
	enum verdict verdict;
	struct err err;

	render(t, t->path, &own);
	render(t, other, &theirs);
	text = another_text(buf_bytes(&theirs));
	if (make_cuts(t, buf_bytes(&own), cuts, GAP_FLUSH) == 0 ||
	    !save_other(t, other, buf_bytes(&text)))
		goto done;
	wanted = stored(t);
	restore(t);
	open_view(t, &draft, false);
	ck_assert_int_eq(draft_truncate(draft, 0, LIMIT), 0);
	if (whole) {
		struct buf first = another_text(buf_bytes(&own));

		write_piece(draft, buf_bytes(&first), 0, first.size);
		cuts[0] = 0;
		buf_release(&first);
	} else {
		write_piece(draft, buf_bytes(&own), 0, cuts[0]);
	}
	pause_in(t, &draft, GAP_FLUSH);
	ck_assert(save_other(t, other, buf_bytes(&text)));
	ck_assert_int_eq(draft_truncate(draft, cuts[0], LIMIT), 0);
	write_piece(draft, buf_bytes(&own), cuts[0], own.size);
	verdict = commit(t, draft, DRAFT_FLUSH_OTHER, &err);
	check_stored(t, &wanted, verdict, &err, other);
	buf_release(&wanted);
	close_view(t, &draft);
	tried++;
done:
	draft_free(draft);
	restore(t);
	buf_release(&own);
	buf_release(&theirs);
	buf_release(&text);
}

/* ---- all views of all samples ---- */

static void try_view(struct trial *t)
{
	struct version *version = now_of(t);
	struct tree tree = {version, t->name};
	struct buf own = BUF_INIT;
	struct place place;

	ck_assert(tree_walk(&tree, t->path, &place));
	ck_assert_int_eq(tree_render(&tree, &place, &own), 0);
	version_put(version);
	if (own.size > 1 && own.size < LIMIT) {
		check_own_text(t, buf_bytes(&own));
		check_over_another(t, buf_bytes(&own));
		check_new_text(t, buf_bytes(&own));
		tried++;
	}
	buf_release(&own);
}

struct listing {
	struct trial *t;
	struct tree tree;
	const struct place *folder;
	char prefix[400];
	uint32_t every; /* number of bones that are skipped after each one tried */
};

static bool list_folder(struct trial *t, const struct tree *tree, const struct place *folder,
			const char *prefix);

static bool is_tried(const struct listing *l, const struct place *place)
{
	const struct view *view = place->view;

	if (view->place == VIEW_OF_BONE && place->track % l->every)
		return false;
	return view->parse || view->parse_skeleton || view->whole;
}

static bool try_name(void *closure, const char *name, const struct place *place)
{
	struct listing *l = closure;
	char path[512];

	snprintf(path, sizeof(path), "%s%s", l->prefix, name);
	if (place->kind == PLACE_VIEW) {
		if (!is_tried(l, place))
			return true;
		snprintf(l->t->path, sizeof(l->t->path), "%s", path);
		try_view(l->t);
		return true;
	}
	return place->kind == PLACE_FRAMES || list_folder(l->t, &l->tree, place, path);
}

static bool list_folder(struct trial *t, const struct tree *tree, const struct place *folder,
			const char *prefix)
{
	struct listing l = {.t = t, .tree = *tree, .folder = folder, .every = 1};

	if (folder->kind == PLACE_BONES)
		l.every = 1 + tree->version->anim->clips[folder->clip].track_count / BONES_TRIED;
	snprintf(l.prefix, sizeof(l.prefix), "%.398s%s", prefix, *prefix ? "/" : "");
	return tree_list(tree, folder, VIEW_SET_ALL, try_name, &l);
}

static void try_folder(struct trial *t, const struct tree *tree)
{
	struct place top;

	ck_assert(tree_walk(tree, "", &top));
	ck_assert(list_folder(t, tree, &top, ""));
}

/* Tries the first bones of each clip, in pairs. */
static void try_bones(struct trial *t, const struct tree *tree)
{
	const struct anim *anim = tree->version->anim;
	char other[512];

	for (uint32_t i = 0; i < anim->clip_count; i++) {
		const struct clip *clip = &anim->clips[i];

		for (uint32_t j = 1; j < clip->track_count && j < BONES_TRIED; j++) {
			for (unsigned turn = 0; turn < 2; turn++) {
				snprintf(t->path, sizeof(t->path), "%s/bones/%s.csv", clip->label,
					 clip->tracks[j - turn].label);
				snprintf(other, sizeof(other), "%s/bones/%s.csv", clip->label,
					 clip->tracks[j - 1 + turn].label);
				check_beside_others(t, other, false);
				check_beside_others(t, other, true);
			}
		}
	}
}

/* Tries a sample. Those that do not decode, or only with hints, are skipped. */
static void try_sample(const char *path, struct bytes bytes,
		       void (*try)(struct trial *t, const struct tree *tree))
{
	struct trial t = {.sample = path, .name = strrchr(path, '/') + 1, .bytes = BUF_INIT};
	const struct where where = {.dir = scratch_root, .folder = "", .name = t.name};
	struct version *version;

	random_state = XXH3_64bits(path, strlen(path)) | 1;
	buf_add(&t.bytes, bytes.data, bytes.size);
	restore(&t);
	version = source_get(t.source, &where, NULL);
	if (version && !version->anim->read_only)
		try(&t, &(struct tree){version, t.name});
	version_put(version);
	source_free(t.source);
	unlink(t.name);
	buf_release(&t.bytes);
}

static const char *const formats[] = {"canm", "cas", "owanim", "ff9anim", "ribbon", "kanim"};

static void try_format(const char *format, void (*try)(struct trial *t, const struct tree *tree))
{
	char pattern[64];
	struct buf *files;
	glob_t found;

	snprintf(pattern, sizeof(pattern), "tests/data/%s/*", format);
	ck_assert_int_eq(glob(pattern, 0, NULL, &found), 0);
	files = calloc(found.gl_pathc, sizeof(*files));
	ck_assert_ptr_nonnull(files);
	for (size_t i = 0; i < found.gl_pathc; i++)
		files[i] = load_file(found.gl_pathv[i]);
	tried = 0;
	begin();
	for (size_t i = 0; i < found.gl_pathc; i++)
		try_sample(found.gl_pathv[i], buf_bytes(&files[i]), try);
	end();
	ck_assert_uint_gt(tried, 0);
	for (size_t i = 0; i < found.gl_pathc; i++)
		buf_release(&files[i]);
	free(files);
	globfree(&found);
}

START_TEST(a_text_in_pieces_is_one_text)
{
	try_format(formats[_i], try_folder);
}
END_TEST

START_TEST(what_others_save_between_the_pieces_stays)
{
	try_format(formats[_i], try_bones);
}
END_TEST

Suite *pieces_suite(void);
Suite *pieces_suite(void)
{
	Suite *suite = suite_create("pieces");
	TCase *tc = tcase_create("pieces");

	tcase_add_loop_test(tc, a_text_in_pieces_is_one_text, 0, ARRAY_SIZE(formats));
	tcase_add_loop_test(tc, what_others_save_between_the_pieces_stays, 0,
			    ARRAY_SIZE(formats) - 1);
	suite_add_tcase(suite, tc);
	return suite;
}
