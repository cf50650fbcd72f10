/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "asleep.h"
#include "load.h"
#include "scratch.h"
#include "store/commit.h"
#include "store/commit_skeleton.h"
#include "store/create.h"
#include "store/work.h"

#include <glob.h>
#include <math.h>
#include <pthread.h>
#include <sys/file.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>

/*
 * The clip walk of the sample has the bones Scene_Root, Bone01 and hip with a translation each;
 * that of Bone01 is static.
 */
#define SAMPLE "tests/data/canm/wiki512.canm"
#define OTHER "tests/data/canm/odd512.canm"
#define DAMAGED "tests/data/canm/bad_version.canm"
#define FILE_NAME "a.canm"
#define ROOT 0 /* index of Scene_Root in walk */
#define BONE 1 /* index of Bone01 in walk */

static struct buf sample, other_sample, damaged;
static struct state *state;
static struct store *store;
static struct source *source;
static struct err err;

static void write_bytes(const char *path, struct bytes data)
{
	FILE *f = fopen(path, "we");

	ck_assert_ptr_nonnull(f);
	ck_assert_uint_eq(fwrite(data.data, 1, data.size, f), data.size);
	ck_assert_int_eq(fclose(f), 0);
}

/* Replaces a file as most other programs do: by renaming a new file onto it. */
static void replace_outside(const char *path, const struct buf *data)
{
	write_bytes("outside", buf_bytes(data));
	ck_assert_int_eq(rename("outside", path), 0);
}

static void write_in_place(const char *path, const struct buf *data)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(pwrite(fd, data->data, data->size, 0), (ssize_t)data->size);
	close(fd);
}

/* Changes the loop of the first animation, which is first in the table that the header locates. */
static void toggle_loop(struct buf *canm)
{
	canm->data[get_u32(canm->data + 12)] ^= 1;
}

static bool file_holds(const char *path, const struct buf *data)
{
	struct buf now = load_file(path);
	bool same = bytes_equal(buf_bytes(&now), buf_bytes(data));

	buf_release(&now);
	return same;
}

/*
 * Makes times behave as on FAT, exFAT and SFTP: they have whole seconds, and ctime is mtime, so
 * that programs can set all times back.
 */
bool coarse_times; /* defined in test_replace.c */
extern bool renames_lack_flags;
extern int chown_error, folder_sync_error;

static struct timespec whole_seconds(const struct statx_timestamp *t)
{
	return (struct timespec){.tv_sec = t->tv_sec, .tv_nsec = coarse_times ? 0 : t->tv_nsec};
}

void (*before_look)(const char *name); /* defined in test_save.c */

int fstatat(int dir, const char *name, struct stat *st, int flags)
{
	struct statx x;

	if (before_look)
		before_look(name);

	if (statx(dir, name, flags, STATX_BASIC_STATS, &x))
		return -1;
	*st = (struct stat){
		.st_dev = makedev(x.stx_dev_major, x.stx_dev_minor),
		.st_ino = x.stx_ino,
		.st_mode = x.stx_mode,
		.st_nlink = x.stx_nlink,
		.st_uid = x.stx_uid,
		.st_gid = x.stx_gid,
		.st_rdev = makedev(x.stx_rdev_major, x.stx_rdev_minor),
		.st_size = (off_t)x.stx_size,
		.st_blksize = (blksize_t)x.stx_blksize,
		.st_blocks = (blkcnt_t)x.stx_blocks,
		.st_atim = whole_seconds(&x.stx_atime),
		.st_mtim = whole_seconds(&x.stx_mtime),
		.st_ctim = whole_seconds(coarse_times ? &x.stx_mtime : &x.stx_ctime),
	};
	return 0;
}

int fstat(int fd, struct stat *st)
{
	return fstatat(fd, "", st, AT_EMPTY_PATH);
}

/*
 * Called once, while the new file is being prepared, when it has the old file's times. Writes that
 * it makes get the time of day.
 */
static _Thread_local void (*while_prepared)(void);

int futimens(int fd, const struct timespec times[2])
{
	void (*meddle)(void) = times ? while_prepared : NULL;

	if (times)
		while_prepared = NULL;
	if (meddle)
		meddle();
	return (int)syscall(SYS_utimensat, fd, NULL, times, 0);
}

/* Writes in place, the same number of bytes, with no change of any time. */
static void write_unseen(const char *path, const struct buf *data)
{
	struct stat before = stat_of(path);

	write_in_place(path, data);
	ck_assert_int_eq(
		utimensat(AT_FDCWD, path, (struct timespec[]){before.st_atim, before.st_mtim}, 0),
		0);
}

static void make_old(const char *path)
{
	ck_assert_int_eq(
		utimensat(AT_FDCWD, path, (struct timespec[]){{1000000000, 0}, {1000000000, 0}}, 0),
		0);
}

/* The path of each source's file. A source's memory may be used again: the latest entry counts. */
#define OPENED_MAX 64
static struct opened {
	const struct source *source;
	struct where where;
} opened[OPENED_MAX];
static unsigned opened_count;

static struct source *open_source(struct store *s, const char *name)
{
	struct source *made = source_new(s);
	struct opened *o = &opened[opened_count++];

	ck_assert_uint_le(opened_count, OPENED_MAX);
	ck_assert_ptr_nonnull(made);
	*o = (struct opened){made, {.dir = scratch_root, .folder = "", .name = strdup(name)}};
	return made;
}

static struct where *where_of(const struct source *s)
{
	unsigned i = opened_count;

	while (opened[--i].source != s)
		ck_assert_uint_gt(i, 0);
	return &opened[i].where;
}

static void forget_opened(void)
{
	while (opened_count)
		free((char *)opened[--opened_count].where.name);
}

static struct store *open_store(size_t cache, struct state *with)
{
	struct store_options options = {
		.cache = cache, .max_file = 1 << 20, .history = HISTORY_DEFAULT};
	struct store *s = store_new(&options, with);

	ck_assert_ptr_nonnull(s);
	return s;
}

static void begin(void)
{
	coarse_times = false;
	sample = load_file(SAMPLE);
	other_sample = load_file(OTHER);
	damaged = load_file(DAMAGED);
	scratch_begin();
	err_clear(&err);
	state = state_new(scratch_root, NULL, false, &err);
	ck_assert_ptr_nonnull(state);
	store = open_store(1 << 20, state);
	source = open_source(store, FILE_NAME);
	ck_assert_ptr_nonnull(source);
	write_bytes(FILE_NAME, buf_bytes(&sample));
}

static void end(void)
{
	source_free(source);
	forget_opened();
	store_free(store);
	state_free(state);
	scratch_end();
	buf_release(&damaged);
	buf_release(&other_sample);
	buf_release(&sample);
}

static struct version *get_of(struct source *s)
{
	struct version *version = source_get(s, where_of(s), &err);

	ck_assert_msg(version != NULL, "%s", err.message);
	return version;
}

static struct version *get(void)
{
	return get_of(source);
}

/* Returns the generation of the latest version, without keeping a reference. */
static uint64_t generation_of(struct source *s)
{
	struct version *version = get_of(s);
	uint64_t generation = version->generation;

	version_put(version);
	return generation;
}

static bool is_in_memory(struct source *s)
{
	struct version *version = source_last(s);

	version_put(version);
	return version != NULL;
}

static void ck_fails(enum err_code code, int number)
{
	struct err why = {.code = ERR_NONE};

	ck_assert_ptr_null(source_get(source, where_of(source), &why));
	ck_assert_msg(why.code == code && why.number == number, "%d %d: %s", why.code, why.number,
		      why.message);
}

/* ---- versions ---- */

START_TEST(a_file_is_decoded_and_labelled)
{
	struct version *version = get();

	ck_assert(bytes_equal(buf_bytes(&version->bytes), buf_bytes(&sample)));
	ck_assert_ptr_eq(version->codec, codec_named("canm"));
	ck_assert_uint_ne(version->generation, 0);
	ck_assert_int_eq(version_clip(version, "walk"), 0);
	ck_assert_int_eq(version_clip(version, "run"), -1);
	ck_assert_int_eq(version_clip(version, "hip"), -1);
	for (uint32_t i = 0; i < version->anim->clip_count; i++) {
		const struct clip *clip = &version->anim->clips[i];

		ck_assert_int_eq(version_clip(version, clip->label), i);
		ck_assert_int_eq(version_track(version, i, "walk"), -1);
		for (uint32_t j = 0; j < clip->track_count; j++)
			ck_assert_int_eq(version_track(version, i, clip->tracks[j].label), j);
	}
	version_put(version);
}
END_TEST

START_TEST(the_latest_version_is_decoded_once)
{
	struct version *version = get(), *again = get();

	ck_assert_ptr_eq(version, again);
	version_put(again);
	version_put(version);
	ck_assert_uint_eq(generation_of(source), generation_of(source));
}
END_TEST

START_TEST(what_is_at_hand_is_not_looked_for)
{
	struct version *version = get(), *last;

	replace_outside(FILE_NAME, &other_sample);
	last = source_last(source);
	ck_assert_ptr_eq(last, version);
	version_put(last);
	version_put(version);
	version = get();
	last = source_last(source);
	ck_assert_ptr_eq(last, version);
	version_put(last);
	version_put(version);
	ck_assert_int_eq(unlink(FILE_NAME), 0);
	last = source_last(source);
	ck_assert_ptr_nonnull(last);
	version_put(last);
}
END_TEST

START_TEST(bytes_without_a_file_are_decoded_by_their_content)
{
	struct buf bytes = BUF_INIT;
	struct version *version;

	buf_add(&bytes, sample.data, sample.size);
	version = version_of_bytes(NULL, &bytes, "x", &(struct decoding){.rate = 24}, &err);
	ck_assert_ptr_nonnull(version);
	ck_assert_ptr_null(bytes.data);
	ck_assert(version->anim->rate == 24);
	version_put(version);
	buf_text(&bytes, "frame,time,tx,ty,tz\n");
	ck_assert_ptr_null(version_of_bytes(NULL, &bytes, "x", NULL, &err));
	ck_assert_int_eq(err.code, ERR_UNKNOWN);
	ck_assert_ptr_null(bytes.data);
}
END_TEST

START_TEST(an_extension_is_the_file_s_own_or_the_format_s)
{
	const struct format *format = codec_named("canm")->format;

	ck_assert_str_eq(file_extension("a.b.CANM", format), "CANM");
	ck_assert_str_eq(file_extension("a", format), "canm");
	ck_assert_str_eq(file_extension(".a", format), "canm");
	ck_assert_str_eq(file_extension("a.", format), "canm");
}
END_TEST

/* Many drafts ask about a new version at once, under the lock of the tree. */
START_TEST(versions_of_a_file_are_compared_by_their_digests)
{
	struct version *version = get(), *same, *other;

	replace_outside(FILE_NAME, &other_sample);
	other = get();
	replace_outside(FILE_NAME, &sample);
	same = get();
	ck_assert(!version_same_bytes(version, other));
	ck_assert_ptr_ne(same, version);
	same->bytes.data[same->bytes.size - 1] ^= 1; /* so that a comparison of bytes would fail */
	ck_assert(version_same_bytes(version, same));
	version_put(same);
	version_put(other);
	version_put(version);
}
END_TEST

/* ---- changes from outside ---- */

START_TEST(a_replaced_file_is_decoded_again)
{
	struct version *before = get(), *after;

	replace_outside(FILE_NAME, &other_sample);
	after = get();
	ck_assert_uint_ne(before->generation, after->generation);
	ck_assert_int_eq(version_clip(after, "dup"), 0);
	ck_assert_int_eq(version_clip(before, "walk"), 0);
	version_put(before);
	version_put(after);
}
END_TEST

START_TEST(a_write_in_place_shows_even_within_the_file_system_s_clock_tick)
{
	for (int i = 0; i < 50; i++) {
		struct version *version = get();
		bool loop = version->anim->clips[0].loop;

		toggle_loop(&sample);
		write_in_place(FILE_NAME, &sample);
		version_put(version);
		version = get();
		ck_assert(version->anim->clips[0].loop != loop);
		version_put(version);
	}
}
END_TEST

START_TEST(other_times_and_modes_make_no_other_version)
{
	uint64_t before = generation_of(source);

	ck_assert_int_eq(chmod(FILE_NAME, 0600), 0);
	ck_assert_int_eq(utimensat(scratch_root, FILE_NAME, NULL, 0), 0);
	ck_assert_uint_eq(generation_of(source), before);
	replace_outside(FILE_NAME, &sample);
	ck_assert_uint_eq(generation_of(source), before);
}
END_TEST

START_TEST(a_damaged_file_is_refused_until_it_is_another)
{
	struct version *before = get();
	struct err first = {.code = ERR_NONE}, second = {.code = ERR_NONE};

	replace_outside(FILE_NAME, &damaged);
	ck_assert_ptr_null(source_get(source, where_of(source), &first));
	ck_assert_int_eq(first.code, ERR_FORMAT);
	ck_assert_int_ne(first.message[0], '\0');
	ck_assert_ptr_null(source_get(source, where_of(source), &second));
	ck_assert_str_eq(second.message, first.message);
	ck_assert_uint_eq(second.at, first.at);
	/* A holder of the last good version can still use it. */
	ck_assert_int_eq(version_clip(before, "walk"), 0);
	version_put(before);
	replace_outside(FILE_NAME, &sample);
	version_put(get());
}
END_TEST

START_TEST(what_is_no_regular_file_is_a_system_error)
{
	ck_assert_int_eq(unlink(FILE_NAME), 0);
	ck_fails(ERR_SYSTEM, ENOENT);
	ck_assert_int_eq(mkdir(FILE_NAME, 0700), 0);
	ck_fails(ERR_SYSTEM, EISDIR);
	ck_assert_int_eq(rmdir(FILE_NAME), 0);
	ck_assert_int_eq(mkfifo(FILE_NAME, 0600), 0);
	ck_fails(ERR_SYSTEM, EINVAL);
	ck_assert_int_eq(unlink(FILE_NAME), 0);
	write_bytes("real.canm", buf_bytes(&sample));
	ck_assert_int_eq(symlink("real.canm", FILE_NAME), 0);
	ck_fails(ERR_SYSTEM, EINVAL);
}
END_TEST

START_TEST(a_file_over_the_limit_is_refused_as_one_that_does_not_decode)
{
	ck_assert_int_eq(truncate(FILE_NAME, (1 << 20) + 1), 0);
	ck_fails(ERR_FORMAT, 0);
	ck_fails(ERR_FORMAT, 0);
	replace_outside(FILE_NAME, &sample);
	version_put(get());
}
END_TEST

START_TEST(a_renamed_source_reads_the_file_of_its_new_name)
{
	write_bytes("b.canm", buf_bytes(&other_sample));
	version_put(get());
	free((char *)where_of(source)->name);
	where_of(source)->name = strdup("b.canm");
	source_forget(source);
	struct version *version = get();

	ck_assert_int_eq(version_clip(version, "dup"), 0);
	version_put(version);
}
END_TEST

/* The case that a rename changes no time of the file. */
START_TEST(a_damaged_file_is_refused_as_what_its_name_says)
{
	struct err canm = {.code = ERR_NONE}, owanim = {.code = ERR_NONE};

	coarse_times = true;
	replace_outside(FILE_NAME, &damaged);
	make_old(FILE_NAME);
	ck_assert_ptr_null(source_get(source, where_of(source), &canm));
	ck_assert_int_eq(rename(FILE_NAME, "a.owanim"), 0);
	free((char *)where_of(source)->name);
	where_of(source)->name = strdup("a.owanim");
	ck_assert_ptr_null(source_get(source, where_of(source), &owanim));
	ck_assert_str_ne(owanim.message, canm.message);
}
END_TEST

/* ---- the store ---- */

/* Patterns have the form that codec_for_name expects. */
START_TEST(patterns_of_formats_are_a_star_and_an_end)
{
	for (unsigned i = 0; codecs[i]; i++) {
		for (const char *const *p = codecs[i]->patterns; *p; p++) {
			ck_assert_int_eq((*p)[0], '*');
			ck_assert_ptr_null(strpbrk(*p + 1, "*?[\\"));
			ck_assert_ptr_eq(codec_for_name(*p + 1), codecs[i]);
		}
	}
	ck_assert_ptr_null(codec_for_name("canm"));
	ck_assert_ptr_null(codec_for_name(""));
}
END_TEST

START_TEST(names_are_claimed_by_the_patterns_of_the_options_first)
{
	const struct codec *canm = codec_named("canm"), *codec;
	char first[] = "*.bin", second[] = "*.can?";
	struct pattern patterns[] = {{first, canm, 0}, {second, NULL, 0}};
	struct store_options options = {.patterns = patterns, .pattern_count = 2};
	struct store *s = store_new(&options, NULL);
	bool probe;

	ck_assert(store_claims(s, "A.BIN", &codec, &probe) && codec == canm && !probe);
	ck_assert(store_claims(s, "a.canm", &codec, &probe) && !codec && probe);
	ck_assert(!store_claims(s, "a.txt", &codec, &probe));
	ck_assert(store_claims(store, "a.Canm", &codec, &probe) && codec == canm && !probe);
	store_free(s);
}
END_TEST

START_TEST(the_rate_of_the_options_is_the_model_s)
{
	struct store_options options = {.cache = 1 << 20,
					.max_file = 1 << 20,
					.rates = {{codec_named("canm")->format, 25}},
					.rate_count = 1};
	struct store *s = store_new(&options, NULL);
	struct source *file = open_source(s, FILE_NAME);
	struct version *version = get_of(file), *usual = get();

	ck_assert(version->anim->rate == 25);
	ck_assert(usual->anim->rate == 60);
	version_put(usual);
	version_put(version);
	source_free(file);
	store_free(s);
}
END_TEST

START_TEST(a_file_of_any_name_is_found_by_content_where_that_is_asked_for)
{
	char any[] = "*";
	struct pattern pattern = {any, NULL, 0};
	struct store_options options = {
		.max_file = 1 << 20, .patterns = &pattern, .pattern_count = 1};
	struct store *s = store_new(&options, NULL);
	struct source *file = open_source(s, "data.bin");

	write_bytes("data.bin", buf_bytes(&sample));
	version_put(get_of(file));
	put("data.bin", "something else");
	ck_assert_ptr_null(source_get(file, where_of(file), &err));
	ck_assert_int_eq(err.code, ERR_UNKNOWN);
	source_free(file);
	store_free(s);
}
END_TEST

#define MANY 4

/* A bone that does not move, followed by bytes that could be part of another bone. */
static const uint8_t still_block[] = {0, 0, 3, 0, 1, 0, 2, 0, 3, 0, 7, 0, 0x14, 0,   0,  0,
				      0, 0, 0, 0, 0, 0, 1, 0, 2, 0, 7, 0, 'e',  'n', 'd'};
static const uint8_t one_bone[0x18] = {0, 0, 1};

START_TEST(a_model_beside_a_file_says_how_many_bones_it_has)
{
	struct source *block = open_source(store, "walk.ff9anim");
	struct version *version;

	write_bytes("walk.ff9anim", (struct bytes){still_block, sizeof(still_block)});
	ck_assert_ptr_null(source_get(block, where_of(block), &err));
	ck_assert_msg(err.code == ERR_FORMAT && strstr(err.message, "how many bones"), "%s",
		      err.message);
	err_clear(&err);
	usleep(50000); /* long enough for the refusal to be settled */
	ck_assert_ptr_null(source_get(block, where_of(block), NULL));
	write_bytes("walk.ff9model", (struct bytes){one_bone, sizeof(one_bone)});
	version = get_of(block);
	ck_assert_uint_eq(version->anim->clips[0].track_count, 1);
	ck_assert_str_eq(version->anim->clips[0].name, "walk");
	version_put(version);
	source_free(block);
}
END_TEST

START_TEST(an_option_says_how_many_bones_a_file_has)
{
	struct pattern pattern = {(char *)"*.ff9anim", codec_named("ff9anim"), 1};
	struct store_options options = {
		.cache = 1 << 20, .max_file = 1 << 20, .patterns = &pattern, .pattern_count = 1};
	struct store *with = store_new(&options, state);
	struct source *block = open_source(with, "walk.ff9anim");
	struct version *version;

	write_bytes("walk.ff9anim", (struct bytes){still_block, sizeof(still_block)});
	version = get_of(block);
	ck_assert_uint_eq(version->anim->clips[0].track_count, 1);
	version_put(version);
	source_free(block);
	store_free(with);
}
END_TEST

START_TEST(the_cache_keeps_what_was_put_down_last)
{
	struct source *files[MANY];
	size_t size;
	struct store *s;
	struct version *version = get();

	size = version->cached.size;
	version_put(version);
	s = open_store(2 * size, NULL);
	for (unsigned i = 0; i < MANY; i++) {
		char name[16];

		snprintf(name, sizeof(name), "%u.canm", i);
		write_bytes(name, buf_bytes(&sample));
		files[i] = open_source(s, name);
		version_put(get_of(files[i]));
		ck_assert_uint_le(store_cached(s), 2 * size);
	}
	ck_assert_uint_eq(store_cached(s), 2 * size);
	ck_assert(is_in_memory(files[3]));
	ck_assert(is_in_memory(files[2]));
	/* version 3 was released before version 2, so it is dropped first */
	ck_assert(!is_in_memory(files[0]));
	version_put(get_of(files[0]));
	ck_assert(is_in_memory(files[2]));
	ck_assert(!is_in_memory(files[3]));
	for (unsigned i = 0; i < MANY; i++)
		source_free(files[i]);
	ck_assert_uint_eq(store_cached(s), 0);
	store_free(s);
}
END_TEST

START_TEST(what_is_referenced_is_never_dropped)
{
	struct store *s = open_store(0, NULL);
	struct source *file = open_source(s, FILE_NAME);
	struct version *version = get_of(file), *again = get_of(file);

	ck_assert_ptr_eq(version, again);
	version_put(again);
	ck_assert_uint_eq(store_cached(s), 0);
	ck_assert(is_in_memory(file));
	version_put(version);
	ck_assert(!is_in_memory(file));
	version = get_of(file);
	source_free(file);
	ck_assert_int_eq(version_clip(version, "walk"), 0);
	version_put(version);
	ck_assert_uint_eq(store_cached(s), 0);
	store_free(s);
}
END_TEST

/* ---- commits ---- */

/* Makes a model in which a bone of walk has the static translation value,0,0. */
static struct anim *edit(const struct version *base, uint32_t bone, double value)
{
	struct anim *a = anim_edit(base->anim);
	struct curve *c = arena_alloc(&a->arena, 1, sizeof(*c));
	double *values = arena_alloc(&a->arena, 3, sizeof(*values));

	*c = (struct curve){.kind = CURVE_VECTOR, .count = 1, .values = values};
	for (unsigned axis = 0; axis < 3; axis++)
		c->lane[axis] = (struct lane){.form = LANE_DOUBLE, .unit = 1};
	values[0] = value;
	anim_edit_track(a, 0, bone)->curve[ROLE_TRANSLATION] = c;
	return a;
}

static double value_of(const struct version *version, uint32_t bone)
{
	return curve_value(version->anim->clips[0].tracks[bone].curve[ROLE_TRANSLATION], 0, 0);
}

/* Returns the value in the file, as another program reads it. */
static double value_in_file(uint32_t bone)
{
	struct buf bytes = load_file(FILE_NAME);
	struct version *version = version_of_bytes(NULL, &bytes, FILE_NAME, NULL, &err);
	double value;

	ck_assert_msg(version != NULL, "%s", err.message);
	value = value_of(version, bone);
	version_put(version);
	return value;
}

static enum commit commit_in(struct source *s, struct version *base, uint32_t bone, double value)
{
	struct anim *edited = edit(base, bone, value);
	struct version *now;
	enum commit outcome;

	err_clear(&err);
	outcome = source_commit(s, where_of(s), base, edited, NULL, NULL, &now, &err);
	ck_assert((outcome == COMMIT_REFUSED) == (now == NULL));
	ck_assert((outcome == COMMIT_REFUSED) == (err.code != ERR_NONE));
	version_put(now);
	anim_free(edited);
	return outcome;
}

static enum commit commit(struct version *base, uint32_t bone, double value)
{
	return commit_in(source, base, bone, value);
}

static void ck_refused(enum err_code code, int number)
{
	ck_assert_msg(err.code == code && err.number == number, "%d %d: %s", err.code, err.number,
		      err.message);
}

/* Checks that only the file and the state directory are left in the folder. */
static void ck_tidy(void)
{
	ck_assert_int_eq(count_entries("."), 2);
}

START_TEST(a_commit_changes_one_curve_and_nothing_else)
{
	struct version *base = get(), *now, *seen;
	struct anim *edited = edit(base, BONE, 7);

	ck_assert_int_eq(
		source_commit(source, where_of(source), base, edited, NULL, NULL, &now, &err),
		COMMIT_DONE);
	ck_assert(value_in_file(BONE) == 7);
	ck_assert(file_holds(FILE_NAME, &now->bytes));
	ck_assert_uint_ne(now->generation, base->generation);
	ck_assert(value_of(base, BONE) != 7);
	for (uint32_t i = 0; i < base->anim->clip_count; i++) {
		for (uint32_t j = 0; j < base->anim->clips[i].track_count; j++) {
			for (unsigned role = 0; role < ROLE_COUNT; role++)
				ck_assert((i == 0 && j == BONE && role == ROLE_TRANSLATION) ||
					  curve_same(base->anim->clips[i].tracks[j].curve[role],
						     now->anim->clips[i].tracks[j].curve[role]));
		}
	}
	seen = get();
	ck_assert_ptr_eq(seen, now);
	version_put(seen);
	version_put(now);
	version_put(base);
	anim_free(edited);
	ck_tidy();
}
END_TEST

START_TEST(a_commit_of_what_is_there_writes_nothing)
{
	struct version *base = get();
	struct stat before, after;
	struct timespec past[] = {{1000, 0}, {1000, 0}};

	ck_assert_int_eq(utimensat(scratch_root, FILE_NAME, past, 0), 0);
	ck_assert_int_eq(commit(base, BONE, value_of(base, BONE)), COMMIT_DONE);
	version_put(base);
	base = get();
	before = stat_of(FILE_NAME);
	ck_assert_int_eq(commit(base, BONE, value_of(base, BONE)), COMMIT_SAME);
	after = stat_of(FILE_NAME);
	ck_assert(before.st_ino == after.st_ino);
	ck_assert(!memcmp(&before.st_mtim, &after.st_mtim, sizeof(before.st_mtim)));
	version_put(base);
}
END_TEST

/* ---- versions that the cache has dropped ---- */

/* Returns the time since which the views of a bone of walk have been the same. */
static struct age age_of(struct source *s, uint32_t bone)
{
	struct version *version = get_of(s);
	struct age age = {version_time(version, 0, bone), version_since(version, 0, bone)};

	version_put(version);
	return age;
}

static bool same_time(struct timespec a, struct timespec b)
{
	return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

static void ck_age(struct age age, struct age want)
{
	ck_assert(same_time(age.time, want.time));
	ck_assert_uint_eq(age.since, want.since);
}

START_TEST(the_same_bytes_read_again_are_the_same_version)
{
	struct store *s = open_store(0, NULL);
	struct source *file = open_source(s, FILE_NAME);
	uint64_t before = generation_of(file);

	ck_assert(!is_in_memory(file));
	ck_assert_uint_eq(generation_of(file), before);
	ck_assert_int_eq(chmod(FILE_NAME, 0600), 0);
	ck_assert_uint_eq(generation_of(file), before);
	replace_outside(FILE_NAME, &sample);
	ck_assert_uint_eq(generation_of(file), before);
	replace_outside(FILE_NAME, &other_sample);
	ck_assert_uint_ne(generation_of(file), before);
	source_free(file);
	store_free(s);
}
END_TEST

START_TEST(nor_does_a_model_beside_a_file_make_another)
{
	struct store *s = open_store(0, NULL);
	struct source *block = open_source(s, "walk.ff9anim");
	uint64_t before;

	write_bytes("walk.ff9anim", (struct bytes){still_block, sizeof(still_block)});
	write_bytes("walk.ff9model", (struct bytes){one_bone, sizeof(one_bone)});
	before = generation_of(block);
	ck_assert(!is_in_memory(block));
	ck_assert_uint_eq(generation_of(block), before);
	source_free(block);
	store_free(s);
}
END_TEST

START_TEST(what_an_edit_left_alone_stays_as_old)
{
	struct store *s = open_store(0, state);
	struct source *file = open_source(s, FILE_NAME);
	struct version *base;
	struct age root, bone;

	make_old(FILE_NAME);
	root = age_of(file, ROOT);
	base = get_of(file);
	ck_assert_int_eq(commit_in(file, base, BONE, 7), COMMIT_DONE);
	version_put(base);
	ck_assert(!is_in_memory(file));
	ck_age(age_of(file, ROOT), root);
	bone = age_of(file, BONE);
	ck_assert(!same_time(bone.time, root.time));
	ck_assert(!is_in_memory(file));
	ck_age(age_of(file, BONE), bone);
	source_free(file);
	store_free(s);
}
END_TEST

/* The kind of a text may depend on the file's name; the time of its change does not. */
START_TEST(under_another_name_only_the_times_stay)
{
	struct store *s = open_store(0, NULL);
	struct source *file = open_source(s, FILE_NAME);
	struct age before = age_of(file, BONE), now;

	ck_assert_int_eq(rename(FILE_NAME, "b.canm"), 0);
	ck_assert_int_eq(chmod("b.canm", 0600), 0);
	make_old("b.canm");
	free((char *)where_of(file)->name);
	where_of(file)->name = strdup("b.canm");
	source_forget(file);
	now = age_of(file, BONE);
	ck_assert(same_time(now.time, before.time));
	ck_assert_uint_ne(now.since, before.since);
	source_free(file);
	store_free(s);
}
END_TEST

START_TEST(a_commit_keeps_what_others_saved_meanwhile)
{
	struct version *base = get();

	ck_assert_int_eq(commit(base, BONE, 7), COMMIT_DONE);
	ck_assert_int_eq(commit(base, ROOT, 8), COMMIT_DONE);
	ck_assert(value_in_file(BONE) == 7 && value_in_file(ROOT) == 8);
	version_put(base);
}
END_TEST

START_TEST(a_commit_keeps_what_another_program_wrote)
{
	struct version *base = get();

	toggle_loop(&sample);
	write_in_place(FILE_NAME, &sample);
	ck_assert_int_eq(commit(base, BONE, 7), COMMIT_DONE);
	version_put(base);
	base = get();
	ck_assert(value_of(base, BONE) == 7 && !base->anim->clips[0].loop);
	version_put(base);
}
END_TEST

START_TEST(a_commit_keeps_a_write_that_no_time_shows)
{
	struct version *base, *now;

	coarse_times = true;
	make_old(FILE_NAME);
	base = get();
	toggle_loop(&sample);
	write_unseen(FILE_NAME, &sample);
	now = get();
	ck_assert(now == base); /* old times are trusted, so the version is the same */
	version_put(now);
	ck_assert_int_eq(commit(base, BONE, 7), COMMIT_DONE);
	version_put(base);
	base = get();
	ck_assert(value_of(base, BONE) == 7 && !base->anim->clips[0].loop);
	version_put(base);
	ck_tidy();
}
END_TEST

/* The save equals the version before the last one, but not the current one. */
START_TEST(a_commit_is_written_where_no_time_shows_that_it_is_needed)
{
	struct version *base, *now;

	coarse_times = true;
	base = get();
	ck_assert_int_eq(commit(base, ROOT, 8), COMMIT_DONE);
	make_old(FILE_NAME);
	now = get();
	write_unseen(FILE_NAME, &sample);
	ck_assert(value_in_file(ROOT) != 8);
	ck_assert_int_eq(commit(base, ROOT, 8), COMMIT_DONE);
	ck_assert(value_in_file(ROOT) == 8);
	version_put(now);
	version_put(base);
}
END_TEST

START_TEST(young_times_of_whole_seconds_are_not_trusted)
{
	coarse_times = true;
	for (int i = 0; i < 10; i++) {
		struct version *version = get();
		bool loop = version->anim->clips[0].loop;

		version_put(version);
		usleep(30000);
		toggle_loop(&sample);
		write_unseen(FILE_NAME, &sample);
		version = get();
		ck_assert(version->anim->clips[0].loop != loop);
		version_put(version);
	}
}
END_TEST

START_TEST(the_same_curve_saved_by_two_is_a_conflict)
{
	struct version *base = get();
	struct buf before;

	ck_assert_int_eq(commit(base, BONE, 7), COMMIT_DONE);
	before = load_file(FILE_NAME);
	ck_assert_int_eq(commit(base, BONE, 8), COMMIT_REFUSED);
	ck_refused(ERR_CONFLICT, 0);
	ck_assert(file_holds(FILE_NAME, &before));
	/* Both drafts saved the same value. */
	ck_assert_int_eq(commit(base, BONE, 7), COMMIT_SAME);
	buf_release(&before);
	version_put(base);
	ck_tidy();
}
END_TEST

START_TEST(a_draft_goes_on_from_its_own_commits)
{
	struct version *base = get(), *now;
	struct anim *first = edit(base, BONE, 7), *second = edit(base, BONE, 8);
	struct anim *none = anim_edit(base->anim);

	ck_assert_int_eq(
		source_commit(source, where_of(source), base, first, NULL, NULL, &now, &err),
		COMMIT_DONE);
	version_put(now);
	ck_assert_int_eq(
		source_commit(source, where_of(source), base, second, first, NULL, &now, &err),
		COMMIT_DONE);
	version_put(now);
	ck_assert(value_in_file(BONE) == 8);
	ck_assert_int_eq(commit(base, ROOT, 9), COMMIT_DONE);
	/*
	 * The edit is undone: values are those of the base again, and saves of other programs stay.
	 */
	ck_assert_int_eq(
		source_commit(source, where_of(source), base, none, second, NULL, &now, &err),
		COMMIT_DONE);
	version_put(now);
	ck_assert(value_in_file(BONE) == value_of(base, BONE) && value_in_file(ROOT) == 9);
	anim_free(none);
	anim_free(second);
	anim_free(first);
	version_put(base);
}
END_TEST

START_TEST(what_the_format_cannot_store_is_refused)
{
	struct version *base = get();

	ck_assert_int_eq(commit(base, BONE, 1e300), COMMIT_REFUSED);
	ck_refused(ERR_STORE, 0);
	ck_assert(file_holds(FILE_NAME, &sample));
	version_put(base);
}
END_TEST

START_TEST(a_commit_keeps_mode_and_xattrs)
{
	struct version *base;
	struct stat before, after;
	char value[8] = "";
	bool have_xattrs = setxattr(FILE_NAME, "user.note", "keep", 4, 0) == 0;

	ck_assert_int_eq(chmod(FILE_NAME, 0640), 0);
	before = stat_of(FILE_NAME);
	base = get();
	ck_assert_int_eq(commit(base, BONE, 7), COMMIT_DONE);
	version_put(base);
	after = stat_of(FILE_NAME);
	ck_assert_uint_ne(before.st_ino, after.st_ino);
	ck_assert_uint_eq(before.st_mode, after.st_mode);
	ck_assert_uint_eq(before.st_uid, after.st_uid);
	if (have_xattrs)
		ck_assert_int_eq(getxattr(FILE_NAME, "user.note", value, sizeof(value)), 4);
}
END_TEST

START_TEST(nothing_is_committed_where_the_state_cannot_be_written)
{
	struct version *base = get();
	struct state *frozen = state_new(scratch_root, NULL, true, &err);
	struct store *stores[] = {open_store(1 << 20, frozen), open_store(1 << 20, NULL)};

	for (unsigned i = 0; i < 2; i++) {
		struct source *file = open_source(stores[i], FILE_NAME);

		ck_assert_int_eq(commit_in(file, base, BONE, 7), COMMIT_REFUSED);
		ck_refused(ERR_SYSTEM, EROFS);
		source_free(file);
		store_free(stores[i]);
	}
	ck_assert(file_holds(FILE_NAME, &sample));
	ck_assert_int_eq(count_entries("."), 1);
	version_put(base);
	state_free(frozen);
}
END_TEST

START_TEST(nothing_is_committed_into_a_file_that_is_gone_or_damaged)
{
	struct version *base = get();

	replace_outside(FILE_NAME, &damaged);
	ck_assert_int_eq(commit(base, BONE, 7), COMMIT_REFUSED);
	ck_refused(ERR_FORMAT, 0);
	ck_assert(file_holds(FILE_NAME, &damaged));
	ck_assert_int_eq(unlink(FILE_NAME), 0);
	ck_assert_int_eq(commit(base, BONE, 7), COMMIT_REFUSED);
	ck_refused(ERR_SYSTEM, ENOENT);
	ck_assert(!is_there(FILE_NAME));
	version_put(base);
}
END_TEST

/* ---- the whole file ---- */

static enum commit commit_whole(struct version *base, const struct anim *last,
				const struct buf *data, struct version **now)
{
	struct bytes whole = buf_bytes(data);

	err_clear(&err);
	return source_commit(source, where_of(source), base, NULL, last, &whole, now, &err);
}

START_TEST(a_whole_file_takes_the_place_of_the_old)
{
	struct version *base = get(), *now;

	ck_assert_int_eq(commit_whole(base, NULL, &sample, &now), COMMIT_SAME);
	ck_assert_ptr_eq(now, base);
	version_put(now);
	ck_assert_int_eq(commit_whole(base, NULL, &other_sample, &now), COMMIT_DONE);
	ck_assert(file_holds(FILE_NAME, &other_sample));
	ck_assert_int_eq(version_clip(now, "dup"), 0);
	version_put(now);
	version_put(base);
	ck_tidy();
}
END_TEST

START_TEST(a_whole_file_that_does_not_decode_is_refused_with_the_place)
{
	struct version *base = get(), *now;

	ck_assert_int_eq(commit_whole(base, NULL, &damaged, &now), COMMIT_REFUSED);
	ck_assert_ptr_null(now);
	ck_refused(ERR_FORMAT, 0);
	ck_assert(err.placed);
	ck_assert(file_holds(FILE_NAME, &sample));
	version_put(base);
}
END_TEST

START_TEST(a_whole_file_does_not_undo_what_others_saved)
{
	struct version *base = get(), *now, *again;

	ck_assert_int_eq(commit(base, BONE, 7), COMMIT_DONE);
	ck_assert_int_eq(commit_whole(base, NULL, &other_sample, &now), COMMIT_REFUSED);
	ck_refused(ERR_CONFLICT, 0);
	ck_assert(value_in_file(BONE) == 7);
	/* An earlier save of the same draft does count. */
	version_put(base);
	base = get();
	ck_assert_int_eq(commit_whole(base, NULL, &other_sample, &now), COMMIT_DONE);
	ck_assert_int_eq(commit_whole(base, now->anim, &sample, &again), COMMIT_DONE);
	ck_assert(file_holds(FILE_NAME, &sample));
	version_put(again);
	version_put(now);
	version_put(base);
}
END_TEST

/* ---- with others at work ---- */

/*
 * Returns whether an open for writing by another process is noticed. Only the owner may ask for a
 * lease, and not every filesystem has them.
 */
static bool leases_work(void)
{
	int fd = open(FILE_NAME, O_RDONLY | O_CLOEXEC);
	bool refused = fcntl(fd, F_SETLEASE, F_RDLCK) && errno == EAGAIN;

	close(fd);
	return refused;
}

START_TEST(a_file_that_stays_open_for_writing_is_a_conflict)
{
	struct version *base = get();
	int writer = open(FILE_NAME, O_WRONLY | O_CLOEXEC);

	if (leases_work()) {
		ck_assert_int_eq(commit(base, BONE, 7), COMMIT_REFUSED);
		ck_refused(ERR_CONFLICT, 0);
		ck_assert_str_eq(err.message, "another program has the file open for writing");
		ck_assert(file_holds(FILE_NAME, &sample));
	}
	close(writer);
	ck_assert_int_eq(commit(base, BONE, 7), COMMIT_DONE);
	version_put(base);
	ck_tidy();
}
END_TEST

/* The commit begins to wait. */
static void writer_leaves(void *fd)
{
	close(*(int *)fd);
	*(int *)fd = -1;
}

static int go_on(void *unused)
{
	(void)unused;
	return 0;
}

START_TEST(a_writer_who_leaves_is_waited_for)
{
	struct version *base = get();
	int writer = open(FILE_NAME, O_WRONLY | O_CLOEXEC);
	struct turn turn = {writer_leaves, go_on, &writer};

	where_of(source)->turn = &turn;
	if (!leases_work())
		writer_leaves(&writer);
	ck_assert_int_eq(commit(base, BONE, 7), COMMIT_DONE);
	ck_assert_int_eq(writer, -1);
	version_put(base);
}
END_TEST

#define SAVES 200
#define SAVES_OF_MANY 50 /* limit of saves: each waits for the disk and for other programs */

/*
 * A program that saves one bone many times. Each save starts from the current text, and is repeated
 * until it succeeds.
 */
struct editor {
	struct source *source;
	uint32_t bone;
	unsigned saves;
	unsigned landed, refused, lost;
};

/*
 * Saves one bone many times. Counts failures instead of reporting them: assertions do not work in
 * threads.
 */
static void *save_often(void *closure)
{
	struct editor *e = closure;

	while (e->landed < e->saves) {
		struct err why = {.code = ERR_NONE};
		struct version *base = source_get(e->source, where_of(e->source), &why),
			       *now = NULL;
		struct anim *edited;

		if (!base)
			continue;
		e->lost += e->landed && value_of(base, e->bone) != e->landed;
		edited = edit(base, e->bone, e->landed + 1);
		if (source_commit(e->source, where_of(e->source), base, edited, NULL, NULL, &now,
				  &why) == COMMIT_DONE)
			e->landed++;
		else
			e->refused++;
		anim_free(edited);
		version_put(now);
		version_put(base);
	}
	return NULL;
}

static void work_together(struct editor *a, struct editor *b)
{
	pthread_t first, second;

	ck_assert_int_eq(pthread_create(&first, NULL, save_often, a), 0);
	ck_assert_int_eq(pthread_create(&second, NULL, save_often, b), 0);
	pthread_join(first, NULL);
	pthread_join(second, NULL);
	ck_assert_uint_eq(a->lost + b->lost, 0);
	ck_assert(value_in_file(a->bone) == a->saves && value_in_file(b->bone) == b->saves);
}

START_TEST(two_who_save_different_bones_lose_nothing)
{
	struct editor a = {.source = source, .bone = ROOT, .saves = SAVES};
	struct editor b = {.source = source, .bone = BONE, .saves = SAVES};

	work_together(&a, &b);
	ck_assert_uint_eq(a.refused + b.refused, 0);
	ck_tidy();
}
END_TEST

/* Runs as another mount of the same folder. */
static void work_with_mount(const char *state_path, unsigned *refused)
{
	struct state *second = state_new(scratch_root, state_path, false, &err);
	struct store *their_store = open_store(1 << 20, second);
	struct source *theirs = open_source(their_store, FILE_NAME);
	struct editor a = {.source = source, .bone = ROOT, .saves = SAVES_OF_MANY};
	struct editor b = {.source = theirs, .bone = BONE, .saves = SAVES_OF_MANY};

	work_together(&a, &b);
	*refused = a.refused + b.refused;
	source_free(theirs);
	store_free(their_store);
	state_free(second);
}

START_TEST(two_mounts_with_one_state_directory_lose_nothing)
{
	unsigned refused;

	work_with_mount(NULL, &refused);
	ck_assert_uint_eq(refused, 0);
	ck_tidy();
}
END_TEST

START_TEST(two_mounts_without_a_common_lock_lose_nothing)
{
	unsigned refused;

	work_with_mount("other-state", &refused);
	ck_assert_int_eq(count_entries("."), 3);
}
END_TEST

static void *read_often(void *closure)
{
	unsigned *bad = closure;

	for (unsigned i = 0; i < 20 * SAVES; i++) {
		struct err why = {.code = ERR_NONE};
		struct version *version = source_get(source, where_of(source), &why);

		*bad += !version || version_clip(version, "walk") != 0;
		version_put(version);
	}
	return NULL;
}

START_TEST(readers_always_see_one_whole_version)
{
	struct editor editor = {.source = source, .bone = BONE, .saves = SAVES_OF_MANY};
	unsigned bad[2] = {0, 0};
	pthread_t readers[2];

	for (unsigned i = 0; i < 2; i++)
		ck_assert_int_eq(pthread_create(&readers[i], NULL, read_often, &bad[i]), 0);
	save_often(&editor);
	for (unsigned i = 0; i < 2; i++)
		pthread_join(readers[i], NULL);
	ck_assert_uint_eq(bad[0] + bad[1], 0);
	ck_assert_uint_eq(editor.refused, 0);
}
END_TEST

/* ---- removed and new files ---- */

/* Returns whether version `number` of the file is kept, with these bytes. */
static bool is_kept(const char *name, uint64_t number, const struct buf *bytes)
{
	const struct history_file file = {.dir = scratch_root, .folder = "", .name = name};
	struct history_book book;
	struct buf got = BUF_INIT;
	size_t i = SIZE_MAX;
	bool same = false;

	if (!history_open(state, &file, &book))
		i = history_log_find(&book.log, number);
	if (i != SIZE_MAX && book.log.list[i].kept && !history_bytes(&book, i, &got, NULL))
		same = bytes_equal(buf_bytes(&got), buf_bytes(bytes));
	buf_release(&got);
	history_release(&book);
	return same;
}

START_TEST(the_file_before_a_save_is_kept)
{
	struct version *base = get(), *now;
	struct anim *edited = anim_edit(base->anim);

	ck_assert_int_eq(commit(base, BONE, 7), COMMIT_DONE);
	ck_assert(is_kept(FILE_NAME, 1, &sample));
	struct buf before = load_file(FILE_NAME);

	ck_assert_ptr_nonnull(anim_edit_clip(edited, 0));
	((struct clip *)&edited->clips[0])->track_count--;
	ck_assert_msg(source_commit(source, where_of(source), base, edited, NULL, NULL, &now,
				    &err) == COMMIT_DONE,
		      "%s", err.message);
	ck_assert(is_kept(FILE_NAME, 2, &before));
	buf_release(&before);
	anim_free(edited);
	version_put(now);
	version_put(base);
}
END_TEST

START_TEST(a_save_that_may_be_undone_by_a_power_cut_is_refused)
{
	struct version *base, *now;
	struct buf before;

	base = get();
	ck_assert_int_eq(commit(base, BONE, 7), COMMIT_DONE);
	version_put(base);
	base = get();
	before = load_file(FILE_NAME);
	renames_lack_flags = true;
	folder_sync_error = EIO;
	ck_assert_int_eq(commit(base, BONE, 8), COMMIT_REFUSED);
	renames_lack_flags = false;
	folder_sync_error = 0;
	ck_refused(ERR_SYSTEM, EIO);
	now = get(); /* the file exists, though, and is shown */
	ck_assert(value_of(now, BONE) == 8);
	ck_assert(is_kept(FILE_NAME, 2, &before));
	ck_assert_int_eq(commit(now, BONE, 9), COMMIT_DONE);
	ck_assert(is_kept(FILE_NAME, 2, &before));
	ck_tidy();
	version_put(now);
	version_put(base);
	buf_release(&before);
}
END_TEST

#define VERSIONS 12u

/*
 * Counts the kept versions, the older half and the others; with `give`, makes a user the owner of
 * the older half.
 */
static void count_versions(bool give, uid_t to, unsigned out[2])
{
	const struct history_file file = {.dir = scratch_root, .folder = "", .name = FILE_NAME};
	struct history_book book;
	char name[HISTORY_NAME_SIZE];

	out[0] = out[1] = 0;
	ck_assert_int_eq(history_open(state, &file, &book), 0);
	for (unsigned i = 1; i <= VERSIONS; i++) {
		history_name(i, name);
		out[i > VERSIONS / 2] += history_log_keeps(book.folder, i);
		if (give && i <= VERSIONS / 2)
			ck_assert_int_eq(fchownat(book.folder, name, to, to, 0), 0);
	}
	history_release(&book);
}

START_TEST(a_full_quota_takes_room_from_its_owners_versions)
{
	struct version *base;
	unsigned counts[2];

	if (geteuid() != 0)
		return; /* only root can make files of other users */
	ck_assert_int_eq(chown(FILE_NAME, 1000, 1000), 0);
	for (unsigned i = 0; i < VERSIONS; i++) {
		base = get();
		ck_assert_int_eq(commit(base, BONE, 10 + i), COMMIT_DONE);
		version_put(base);
	}
	count_versions(true, 0, counts);
	ck_assert_uint_eq(counts[0] + counts[1], VERSIONS);
	base = get();
	chown_error = EDQUOT;
	ck_assert_int_eq(commit(base, BONE, 7), COMMIT_REFUSED);
	chown_error = 0;
	ck_refused(ERR_SYSTEM, EDQUOT);
	count_versions(false, 0, counts);
	ck_assert_uint_eq(counts[0], VERSIONS / 2);
	ck_assert_uint_lt(counts[1], VERSIONS / 2);
	version_put(base);
}
END_TEST

/* If no version of a file can be kept, the file is not removed. */
START_TEST(nothing_is_removed_that_cannot_be_kept)
{
	struct version *base = get(), *now;
	struct anim *edited = anim_edit(base->anim);

	ck_assert_int_eq(mkdir(".animfs", 0700), 0);
	put(".animfs/history", "in the way");
	ck_assert_ptr_nonnull(anim_edit_clip(edited, 0));
	((struct clip *)&edited->clips[0])->track_count--;
	ck_assert_int_eq(
		source_commit(source, where_of(source), base, edited, NULL, NULL, &now, &err),
		COMMIT_REFUSED);
	ck_refused(ERR_SYSTEM, ENOTDIR);
	ck_assert_int_eq(source_remove(source, where_of(source)), ENOTDIR);
	ck_assert(file_holds(FILE_NAME, &sample));
	anim_free(edited);
	version_put(base);
}
END_TEST

START_TEST(a_removed_file_is_kept)
{
	struct source *none = open_source(store, "nothing.canm");

	ck_assert_int_eq(source_remove(source, where_of(source)), 0);
	ck_assert(!is_there(FILE_NAME));
	ck_assert(is_kept(FILE_NAME, 1, &sample));
	ck_fails(ERR_SYSTEM, ENOENT);
	ck_assert_int_eq(source_remove(none, where_of(none)), ENOENT);
	source_free(none);
}
END_TEST

START_TEST(a_file_is_made_where_there_is_none)
{
	struct source *made = open_source(store, "made.canm");
	struct version *base = get(), *now;

	err_clear(&err);
	ck_assert_msg(source_create(made, where_of(made), base->codec, base->anim, &err), "%s",
		      err.message);
	now = get_of(made);
	ck_assert_uint_eq(now->anim->clip_count, base->anim->clip_count);
	version_put(now);
	ck_assert(!source_create(made, where_of(made), base->codec, base->anim, &err));
	ck_refused(ERR_CONFLICT, 0);
	source_free(made);
	version_put(base);
}
END_TEST

static TCase *read_case(void)
{
	TCase *tc = tcase_create("reading");

	tcase_add_checked_fixture(tc, begin, end);
	tcase_add_test(tc, a_file_is_decoded_and_labelled);
	tcase_add_test(tc, the_latest_version_is_decoded_once);
	tcase_add_test(tc, versions_of_a_file_are_compared_by_their_digests);
	tcase_add_test(tc, what_is_at_hand_is_not_looked_for);
	tcase_add_test(tc, bytes_without_a_file_are_decoded_by_their_content);
	tcase_add_test(tc, an_extension_is_the_file_s_own_or_the_format_s);
	tcase_add_test(tc, a_replaced_file_is_decoded_again);
	tcase_add_test(tc, a_write_in_place_shows_even_within_the_file_system_s_clock_tick);
	tcase_add_test(tc, other_times_and_modes_make_no_other_version);
	tcase_add_test(tc, a_damaged_file_is_refused_until_it_is_another);
	tcase_add_test(tc, what_is_no_regular_file_is_a_system_error);
	tcase_add_test(tc, a_file_over_the_limit_is_refused_as_one_that_does_not_decode);
	tcase_add_test(tc, a_renamed_source_reads_the_file_of_its_new_name);
	tcase_add_test(tc, a_damaged_file_is_refused_as_what_its_name_says);
	tcase_add_test(tc, patterns_of_formats_are_a_star_and_an_end);
	tcase_add_test(tc, names_are_claimed_by_the_patterns_of_the_options_first);
	tcase_add_test(tc, the_rate_of_the_options_is_the_model_s);
	tcase_add_test(tc, a_file_of_any_name_is_found_by_content_where_that_is_asked_for);
	tcase_add_test(tc, a_model_beside_a_file_says_how_many_bones_it_has);
	tcase_add_test(tc, an_option_says_how_many_bones_a_file_has);
	tcase_add_test(tc, the_cache_keeps_what_was_put_down_last);
	tcase_add_test(tc, what_is_referenced_is_never_dropped);
	return tc;
}

/* ---- its skeleton ---- */

#define OWN FILE_NAME ".skeleton.csv"
#define TABLE "bone,parent,ty\nBone01,Scene_Root,1\nScene_Root,,\n"

/* Saves a text in place of the skeleton of base. */
static enum commit commit_text(struct version *base, const char *text, const struct skeleton *last,
			       struct version **now)
{
	struct skeleton *edited =
		skeleton_edit(shared_skeleton(base->skeleton), base->anim, bytes_of(text), &err);
	enum commit outcome;

	ck_assert_msg(edited != NULL, "%s", err.message);
	err_clear(&err);
	outcome = source_commit_skeleton(source, where_of(source), base, edited, last, NULL, now,
					 &err);
	ck_assert((outcome == COMMIT_REFUSED) == (*now == NULL));
	ck_assert((outcome == COMMIT_REFUSED) == (err.code != ERR_NONE));
	skeleton_free(edited);
	return outcome;
}

static double height_of(const struct version *version, const char *bone)
{
	const struct joint *joint = skeleton_joint(shared_skeleton(version->skeleton), bone);

	return joint ? joint->rest[ROLE_TRANSLATION][1] : NAN;
}

/* Checks that the file's bytes and times are unchanged. */
static void ck_file_untouched(const struct stat *before)
{
	struct stat after;

	ck_assert_int_eq(stat(FILE_NAME, &after), 0);
	ck_assert_uint_eq(after.st_ino, before->st_ino);
	ck_assert_int_eq(memcmp(&after.st_mtim, &before->st_mtim, sizeof(after.st_mtim)), 0);
	ck_assert(file_holds(FILE_NAME, &sample));
}

START_TEST(a_skeleton_is_saved_beside_its_file)
{
	struct version *base = get(), *now, *again;
	struct stat before, own;

	ck_assert_int_eq(chmod(FILE_NAME, 0604), 0);
	ck_assert_int_eq(stat(FILE_NAME, &before), 0);
	ck_assert_int_eq(commit_text(base, TABLE, NULL, &now), COMMIT_DONE);
	ck_assert(height_of(now, "Bone01") == 1);
	ck_assert_uint_ne(now->generation, base->generation);
	ck_assert_int_eq(stat(OWN, &own), 0);
	ck_assert_uint_eq(own.st_mode & 07777, 0604);
	again = get();
	ck_assert_ptr_eq(again, now);
	version_put(again);
	ck_assert_int_eq(commit_text(now, TABLE, NULL, &again), COMMIT_SAME);
	ck_assert_ptr_eq(again, now);
	ck_file_untouched(&before);
	ck_assert_int_eq(count_entries("."), 3);
	version_put(again);
	version_put(now);
	version_put(base);
}
END_TEST

START_TEST(a_text_that_says_what_is_known_makes_no_file)
{
	struct version *base, *now;

	write_bytes("skeleton.csv", bytes_of(TABLE));
	base = get();
	ck_assert_int_eq(commit_text(base, TABLE, NULL, &now), COMMIT_SAME);
	ck_assert_int_ne(access(OWN, F_OK), 0);
	version_put(now);
	ck_assert_int_eq(commit_text(base, "bone,ty\nBone01,2\nScene_Root,\n", NULL, &now),
			 COMMIT_DONE);
	ck_assert(height_of(now, "Bone01") == 2);
	version_put(now);
	version_put(base);
	ck_assert_int_eq(unlink(OWN), 0);
	base = get();
	ck_assert(height_of(base, "Bone01") == 1);
	version_put(base);
}
END_TEST

START_TEST(two_who_save_a_skeleton_are_a_conflict)
{
	struct version *base = get(), *first, *second;

	ck_assert_int_eq(commit_text(base, TABLE, NULL, &first), COMMIT_DONE);
	ck_assert_int_eq(commit_text(base, "bone,ty\nBone01,2\n", NULL, &second), COMMIT_REFUSED);
	ck_refused(ERR_CONFLICT, 0);
	/* The draft's next save continues from its own previous save. */
	ck_assert_int_eq(
		commit_text(base, "bone,ty\nBone01,2\n", shared_skeleton(first->skeleton), &second),
		COMMIT_DONE);
	version_put(second);
	/* Saving the same text again is no edit. */
	ck_assert_int_eq(commit_text(base, "bone,ty\nBone01,2\n", NULL, &second), COMMIT_SAME);
	version_put(second);
	version_put(first);
	version_put(base);
}
END_TEST

START_TEST(a_skeleton_keeps_a_write_that_no_time_shows)
{
	struct version *base, *now;
	struct buf theirs = BUF_INIT;

	coarse_times = true;
	put(OWN, TABLE);
	make_old(OWN);
	make_old(FILE_NAME);
	ck_locks(state_lock(state)); /* the lock makes the directory */
	state_unlock(state);
	make_old(".");
	base = get();
	buf_text(&theirs, "bone,parent,ty\nBone01,Scene_Root,2\nScene_Root,,\n");
	write_unseen(OWN, &theirs);
	ck_assert_int_eq(commit_text(base, "bone,parent,ty\nBone01,Scene_Root,3\nScene_Root,,\n",
				     NULL, &now),
			 COMMIT_REFUSED);
	ck_refused(ERR_CONFLICT, 0);
	ck_assert(file_holds(OWN, &theirs));
	version_put(base);
	base = get();
	ck_assert(height_of(base, "Bone01") == 2);
	version_put(base);
	buf_release(&theirs);
}
END_TEST

START_TEST(a_skeleton_is_kept)
{
	static const char blank[] = "bone,parent,tx,ty,tz,rx,ry,rz,sx,sy,sz\nBone01,,,2,,,,,,,\n"
				    "Scene_Root,,,,,,,,,,\n";
	struct version *base = get(), *posed, *moved, *less;
	struct buf was;

	ck_assert_int_eq(commit_text(base, TABLE, NULL, &posed), COMMIT_DONE);
	ck_assert_int_eq(commit_text(posed, "bone,ty\nBone01,2\nScene_Root,\n", NULL, &moved),
			 COMMIT_DONE);
	was = load_file(OWN);
	ck_assert_int_eq(commit_text(moved, blank, NULL, &less), COMMIT_DONE);
	ck_assert(is_kept(OWN, 2, &was));
	buf_release(&was);
	version_put(less);
	version_put(moved);
	version_put(posed);
	version_put(base);
}
END_TEST

START_TEST(a_skeleton_that_cannot_be_read_is_not_written_over)
{
	struct version *base, *now;

	write_bytes(OWN, bytes_of("no table"));
	base = get();
	ck_assert_int_eq(commit_text(base, TABLE, NULL, &now), COMMIT_REFUSED);
	ck_refused(ERR_CONFLICT, 0);
	ck_assert_str_eq(err.message, OWN ", which is there, cannot be read");
	ck_assert(file_holds(OWN, &(struct buf){(uint8_t *)"no table", 8, 8, false, 0, false}));
	ck_assert_int_eq(unlink(OWN), 0);
	ck_assert_int_eq(commit_text(base, TABLE, NULL, &now), COMMIT_DONE);
	version_put(now);
	version_put(base);
}
END_TEST

START_TEST(a_skeleton_that_cannot_be_saved_says_why)
{
	char name[NAME_MAX + 1];
	struct source *s;
	struct version *base, *now;

	memset(name, 'x', sizeof(name));
	strcpy(name + 240, ".canm");
	ck_assert_int_eq(rename(FILE_NAME, name), 0);
	s = open_source(store, name);
	base = get_of(s);
	source_free(source);
	source = s;
	ck_assert_int_eq(commit_text(base, TABLE, NULL, &now), COMMIT_REFUSED);
	ck_refused(ERR_STORE, 0);
	ck_assert_ptr_nonnull(strstr(err.message, "too long"));
	version_put(base);
}
END_TEST

START_TEST(a_skeleton_is_not_saved_where_the_state_cannot_be_written)
{
	struct store *readers = open_store(0, NULL);
	struct source *s = open_source(readers, FILE_NAME);
	struct version *base = get_of(s), *now;
	struct source *own = source;

	source = s;
	ck_assert_int_eq(commit_text(base, TABLE, NULL, &now), COMMIT_REFUSED);
	ck_refused(ERR_SYSTEM, EROFS);
	source = own;
	version_put(base);
	source_free(s);
	store_free(readers);
}
END_TEST

static bool lets_read_nothing(const struct guard *g, int dir, const char *file, const char *name,
			      struct file_version *version)
{
	(void)g, (void)dir, (void)file;
	*version = (struct file_version){.size = 0};
	ck_assert_str_ne(name, OWN);
	return false;
}

static int lets_write(const struct guard *g, const struct caller *who, int dir, const char *name,
		      struct file_version *version)
{
	(void)g, (void)who, (void)dir, (void)name, (void)version;
	return 0;
}

START_TEST(a_skeleton_that_not_all_may_read_is_never_there)
{
	static const struct guard guard = {lets_read_nothing, lets_write, NULL};
	struct caller *who = caller_new(getuid(), getgid(), NULL, 0);
	struct version *base = get(), *now;
	struct skeleton *edited =
		skeleton_edit(shared_skeleton(base->skeleton), base->anim, bytes_of(TABLE), &err);

	store_guard(store, &guard);
	ck_assert_int_eq(source_commit_skeleton(source, where_of(source), base, edited, NULL, who,
						&now, &err),
			 COMMIT_REFUSED);
	ck_refused(ERR_SYSTEM, EACCES);
	ck_assert(!is_there(OWN));
	store_guard(store, NULL);
	skeleton_free(edited);
	free(who);
	version_put(base);
}
END_TEST

static TCase *skeleton_case(void)
{
	TCase *tc = tcase_create("its skeleton");

	tcase_add_checked_fixture(tc, begin, end);
	tcase_add_test(tc, a_skeleton_is_saved_beside_its_file);
	tcase_add_test(tc, a_text_that_says_what_is_known_makes_no_file);
	tcase_add_test(tc, two_who_save_a_skeleton_are_a_conflict);
	tcase_add_test(tc, a_skeleton_keeps_a_write_that_no_time_shows);
	tcase_add_test(tc, a_skeleton_is_kept);
	tcase_add_test(tc, a_skeleton_that_cannot_be_read_is_not_written_over);
	tcase_add_test(tc, a_skeleton_that_cannot_be_saved_says_why);
	tcase_add_test(tc, a_skeleton_that_not_all_may_read_is_never_there);
	tcase_add_test(tc, a_skeleton_is_not_saved_where_the_state_cannot_be_written);
	return tc;
}

static TCase *commit_case(void)
{
	TCase *tc = tcase_create("committing");

	tcase_add_checked_fixture(tc, begin, end);
	tcase_add_test(tc, a_commit_changes_one_curve_and_nothing_else);
	tcase_add_test(tc, a_commit_of_what_is_there_writes_nothing);
	tcase_add_test(tc, the_same_bytes_read_again_are_the_same_version);
	tcase_add_test(tc, nor_does_a_model_beside_a_file_make_another);
	tcase_add_test(tc, what_an_edit_left_alone_stays_as_old);
	tcase_add_test(tc, under_another_name_only_the_times_stay);
	tcase_add_test(tc, a_commit_keeps_what_others_saved_meanwhile);
	tcase_add_test(tc, a_commit_keeps_what_another_program_wrote);
	tcase_add_test(tc, a_commit_keeps_a_write_that_no_time_shows);
	tcase_add_test(tc, a_commit_is_written_where_no_time_shows_that_it_is_needed);
	tcase_add_test(tc, young_times_of_whole_seconds_are_not_trusted);
	tcase_add_test(tc, the_same_curve_saved_by_two_is_a_conflict);
	tcase_add_test(tc, a_draft_goes_on_from_its_own_commits);
	tcase_add_test(tc, what_the_format_cannot_store_is_refused);
	tcase_add_test(tc, a_commit_keeps_mode_and_xattrs);
	tcase_add_test(tc, nothing_is_committed_where_the_state_cannot_be_written);
	tcase_add_test(tc, nothing_is_committed_into_a_file_that_is_gone_or_damaged);
	tcase_add_test(tc, a_whole_file_takes_the_place_of_the_old);
	tcase_add_test(tc, a_whole_file_that_does_not_decode_is_refused_with_the_place);
	tcase_add_test(tc, a_whole_file_does_not_undo_what_others_saved);
	tcase_add_test(tc, the_file_before_a_save_is_kept);
	tcase_add_test(tc, a_save_that_may_be_undone_by_a_power_cut_is_refused);
	tcase_add_test(tc, a_full_quota_takes_room_from_its_owners_versions);
	tcase_add_test(tc, nothing_is_removed_that_cannot_be_kept);
	tcase_add_test(tc, a_removed_file_is_kept);
	tcase_add_test(tc, a_file_is_made_where_there_is_none);
	return tc;
}

/* Reads during a commit, in the same thread: if that waited, it would be for itself. */
static void read_during_commit(void)
{
	struct version *last = source_last(source), *seen;
	struct stat st;

	ck_assert_int_eq(chmod(FILE_NAME, 0600), 0);
	seen = source_look(source, where_of(source), &st, &err);
	ck_assert_ptr_nonnull(seen);
	ck_assert_ptr_eq(seen, last);
	version_put(seen);
	version_put(last);
}

START_TEST(no_reader_waits_for_a_commit)
{
	struct version *base = get();

	while_prepared = read_during_commit;
	ck_assert_int_eq(commit(base, BONE, 7), COMMIT_DONE);
	ck_assert_ptr_null(while_prepared);
	ck_assert(value_in_file(BONE) == 7);
	version_put(base);
}
END_TEST

/* A thread that looks at the file during a commit. */
static struct looker {
	pthread_t thread;
	_Atomic pid_t id; /* thread id; 0: the thread has not begun */
	_Atomic bool answered;
	struct version *seen;
} looker;

static void *look_once(void *unused)
{
	struct stat st;

	(void)unused;
	looker.id = gettid();
	looker.seen = source_look(source, where_of(source), &st, NULL);
	looker.answered = true;
	return NULL;
}

/*
 * Stores a file as another program. A reader that asks afterwards must get the new text, or wait.
 */
static void store_and_look(void)
{
	struct buf bytes = load_file(FILE_NAME);

	toggle_loop(&bytes);
	replace_outside(FILE_NAME, &bytes);
	buf_release(&bytes);
	ck_assert_int_eq(pthread_create(&looker.thread, NULL, look_once, NULL), 0);
	while (!looker.answered && !(looker.id && is_asleep(looker.id)))
		sched_yield();
}

START_TEST(a_commit_hides_nothing_that_others_stored_meanwhile)
{
	struct version *base = get();

	while_prepared = store_and_look;
	ck_assert_int_eq(commit(base, BONE, 7), COMMIT_DONE);
	pthread_join(looker.thread, NULL);
	ck_assert_ptr_nonnull(looker.seen);
	ck_assert(looker.seen->anim->clips[0].loop != base->anim->clips[0].loop);
	ck_assert(value_in_file(BONE) == 7);
	version_put(looker.seen);
	version_put(base);
}
END_TEST

/* flock is per open file: this one acts as another process's. */
static int others_lock;
static unsigned released, acquired;

/* Checks that no lock is held: the file can be read, and other threads can save. */
static void release_turn(void *closure)
{
	ck_assert_ptr_eq(closure, source);
	released++;
	replace_outside(FILE_NAME, &other_sample);
	version_put(get());
	replace_outside(FILE_NAME, &sample);
	ck_assert_int_eq(flock(others_lock, LOCK_UN), 0);
}

static int acquire_turn(void *closure)
{
	ck_assert_ptr_eq(closure, source);
	acquired++;
	return 0;
}

START_TEST(a_commit_that_waits_for_another_process_holds_nothing)
{
	struct turn turn = {release_turn, acquire_turn, source};
	struct version *base = get();

	released = acquired = 0;
	ck_assert_int_eq(commit(base, BONE, 6), COMMIT_DONE);
	replace_outside(FILE_NAME, &sample);
	others_lock = open(".animfs/lock", O_RDWR | O_CLOEXEC);
	ck_assert_int_ge(others_lock, 0);
	ck_assert_int_eq(flock(others_lock, LOCK_EX), 0);
	where_of(source)->turn = &turn;
	ck_assert_int_eq(commit(base, BONE, 7), COMMIT_DONE);
	ck_assert_uint_eq(released, 1);
	ck_assert_uint_eq(acquired, 1);
	ck_assert(value_in_file(BONE) == 7);
	close(others_lock);
	version_put(base);
	ck_tidy();
}
END_TEST

/* Called when the new file has all its bytes, but not yet its name. */
static int acquire_for_new(void *turn_error)
{
	struct stat st;
	glob_t found;

	ck_assert(!is_there("new.canm"));
	ck_assert_int_eq(glob(".animfs-*.tmp", 0, NULL, &found), 0);
	ck_assert_uint_eq(found.gl_pathc, 1);
	st = stat_of(found.gl_pathv[0]);
	ck_assert_uint_eq((size_t)st.st_size, sample.size);
	globfree(&found);
	acquired++;
	return *(int *)turn_error;
}

START_TEST(a_new_file_is_written_before_its_turn)
{
	int turn_error = EAGAIN, entries = count_entries(".");
	struct turn turn = {NULL, acquire_for_new, &turn_error};
	struct where where = *where_of(source);
	struct version *base = get();
	struct err why = {.code = ERR_NONE};

	where.name = "new.canm";
	where.turn = &turn;
	acquired = 0;
	ck_assert(!source_put_new(source, &where, NULL, base, NULL, &why));
	ck_assert_int_eq(why.number, EAGAIN);
	ck_assert_int_eq(count_entries("."), entries + 1); /* one entry more: the state directory */
	turn_error = 0;
	ck_assert(source_put_new(source, &where, NULL, base, NULL, NULL));
	ck_assert_uint_eq(acquired, 2);
	ck_assert(is_there("new.canm"));
	ck_assert_int_eq(count_entries("."), entries + 2);
	version_put(base);
}
END_TEST

/*
 * Returns whether another open file holds the lock of the state directory (flock is per open file).
 */
static bool state_is_locked(void)
{
	int fd = open(".animfs/lock", O_RDWR | O_CLOEXEC);
	bool locked = fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) != 0;

	if (fd >= 0)
		close(fd);
	return locked;
}

static unsigned attempts;

/* Changes the file, as another mount, during each attempt that does not prevent this. */
static bool attempt_beside_another_mount(struct work *w, struct err *why)
{
	attempts++;
	if (!state_is_locked()) {
		w->obstacle = OBSTACLE_CHANGED;
		return err_system(why, EAGAIN, FILE_NAME);
	}
	/* Take the lock of the state, as a step of an attempt does. */
	if (work_enter_state(w) != 0)
		return false;
	work_leave_state(w);
	ck_assert(state_is_locked());
	w->current = get();
	w->result = version_get(w->current);
	return true;
}

START_TEST(a_save_that_others_are_faster_than_takes_the_lock_first)
{
	struct work work = {.source = source,
			    .where = where_of(source),
			    .attempt = attempt_beside_another_mount,
			    .bytes = BUF_INIT};
	struct version *base = get(), *now;

	/* This commit makes the state directory. */
	ck_assert_int_eq(commit(base, BONE, 6), COMMIT_DONE);
	attempts = 0;
	ck_assert_int_eq(work_run(&work, &now, NULL, &err), COMMIT_SAME);
	ck_assert_uint_lt(attempts, 8);
	ck_assert(!state_is_locked());
	version_put(now);
	version_put(base);
}
END_TEST

static TCase *together_case(void)
{
	TCase *tc = tcase_create("with others at work");

	tcase_add_checked_fixture(tc, begin, end);
	tcase_add_test(tc, a_file_that_stays_open_for_writing_is_a_conflict);
	tcase_add_test(tc, a_writer_who_leaves_is_waited_for);
	tcase_add_test(tc, two_who_save_different_bones_lose_nothing);
	tcase_add_test(tc, two_mounts_with_one_state_directory_lose_nothing);
	tcase_add_test(tc, two_mounts_without_a_common_lock_lose_nothing);
	tcase_add_test(tc, readers_always_see_one_whole_version);
	tcase_add_test(tc, no_reader_waits_for_a_commit);
	tcase_add_test(tc, a_commit_hides_nothing_that_others_stored_meanwhile);
	tcase_add_test(tc, a_commit_that_waits_for_another_process_holds_nothing);
	tcase_add_test(tc, a_new_file_is_written_before_its_turn);
	tcase_add_test(tc, a_save_that_others_are_faster_than_takes_the_lock_first);
	return tc;
}

Suite *source_suite(void)
{
	Suite *s = suite_create("source");

	suite_add_tcase(s, read_case());
	suite_add_tcase(s, commit_case());
	suite_add_tcase(s, skeleton_case());
	suite_add_tcase(s, together_case());
	return s;
}
