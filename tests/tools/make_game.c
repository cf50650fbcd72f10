/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * make_game.c - makes a SOURCE as a game has it, of any size, for the demo, the mount tests and
 * the measurements:
 *
 *   make_game DIR [--files N] [--clips N] [--bones N] [--frames N]
 *                 [--version 512|768|mix] [--plain N] [--skeleton 0|1] [--seed N]
 *
 * --files animation files (CANM of Earth Defense Force) below object/, chara/ and weapon/, each
 * with --clips clips of --bones bones and --frames samples, and --plain ordinary files between
 * them. With --skeleton 1 each of their folders has a skeleton.csv. The same arguments make the
 * same bytes.
 *
 * It has a byte writer of its own and shares no code with the program: what animfs reads here was
 * not written by animfs. The files are laid out as the game's own are: channels, 16-bit keys,
 * quaternions (version 768), animation table, bone rows, name table, strings. The first bones are
 * those of a figure that walks, others wave: sines of each bone's own size and phase, quantised
 * over their range. Most translations and all scales are static, and equal static channels are
 * shared.
 */
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NONE 0xFFFF
#define PI 3.14159265358979323846

struct options {
	const char *dir;
	unsigned files, clips, bones, frames, plain, skeleton;
	unsigned version; /* 512, 768 or 0 for both in turn */
	uint64_t seed;
};

__attribute__((noreturn, format(printf, 1, 2))) static void die(const char *format, ...)
{
	va_list args;

	fputs("make_game: ", stderr);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	exit(1);
}

/* Returns a random number by xorshift64*, which is small and the same on every machine. */
static uint64_t next_random(uint64_t *state)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return *state * 0x2545F4914F6CDD1DULL;
}

static double random_between(uint64_t *state, double low, double high)
{
	return low + (high - low) * (double)(next_random(state) >> 11) / 9007199254740992.0;
}

/* Growing bytes, with numbers appended in little-endian order. */

struct blob {
	uint8_t *data;
	size_t size, room;
};

static uint8_t *blob_more(struct blob *b, size_t size)
{
	uint8_t *at;

	if (b->size + size > b->room) {
		b->room = (b->size + size) * 2;
		b->data = realloc(b->data, b->room);
		if (!b->data)
			die("out of memory");
	}
	at = b->data + b->size;
	memset(at, 0, size);
	b->size += size;
	return at;
}

static void add16(struct blob *b, unsigned v)
{
	uint8_t *at = blob_more(b, 2);

	at[0] = (uint8_t)v;
	at[1] = (uint8_t)(v >> 8);
}

static void add32(struct blob *b, uint32_t v)
{
	add16(b, v & 0xFFFF);
	add16(b, v >> 16);
}

static void add_float(struct blob *b, float v)
{
	uint32_t bits;

	memcpy(&bits, &v, 4);
	add32(b, bits);
}

static void add_blob(struct blob *b, const struct blob *other)
{
	if (other->size)
		memcpy(blob_more(b, other->size), other->data, other->size);
}

static void align(struct blob *b, size_t to)
{
	blob_more(b, (to - b->size % to) % to);
}

/* Converts a name to UTF-16. Names have no code points above U+FFFF. */

static size_t utf16_of(const char *text, uint16_t *out, size_t room)
{
	const uint8_t *p = (const uint8_t *)text;
	size_t count = 0;

	while (*p && count < room) {
		if (*p < 0x80) {
			out[count++] = *p++;
		} else if (*p < 0xE0) {
			out[count++] = (uint16_t)((p[0] & 0x1F) << 6 | (p[1] & 0x3F));
			p += 2;
		} else {
			out[count++] = (uint16_t)((p[0] & 0x0F) << 12 | (p[1] & 0x3F) << 6 |
						  (p[2] & 0x3F));
			p += 3;
		}
	}
	return count;
}

#define NAME_ROOM 48

struct name {
	uint16_t units[NAME_ROOM];
	size_t count;
	size_t at; /* place of the string in the string block */
};

/*
 * A part of a figure that faces +Z and stands on the ground. Around x the bone turns by `middle`
 * degrees, and by up to `swing` more to either side in the course of a step, which begins at
 * `phase` of the clip.
 */
static const struct part {
	const char *name;
	int parent;
	double at[3]; /* position in the parent, in metres */
	double middle, swing, phase;
} body[] = {
	{"Scene_Root", -1, {0, 0, 0}, 0, 0, 0},
	{"hips", -1, {0, 0.93, 0}, 0, 3, 0.1},
	{"spine", 1, {0, 0.12, 0}, 3, 2, 0.2},
	{"spine1", 2, {0, 0.2, 0}, 2, 2, 0.3},
	{"neck", 3, {0, 0.24, 0}, -4, 3, 0.7},
	{"head", 4, {0, 0.1, 0.01}, 0, 0, 0},
	{"arm_L", 3, {0.18, 0.18, 0}, 4, 26, 0.5},
	{"forearm_L", 6, {0.04, -0.28, 0}, -24, 14, 0.5},
	{"hand_L", 7, {0, -0.25, 0}, -6, 6, 0.55},
	{"arm_R", 3, {-0.18, 0.18, 0}, 4, 26, 0},
	{"forearm_R", 9, {-0.04, -0.28, 0}, -24, 14, 0},
	{"右手", 10, {0, -0.25, 0}, -6, 6, 0.05},
	{"leg_L", 1, {0.1, -0.05, 0}, -4, 27, 0},
	{"shin_L", 12, {0, -0.42, 0}, 26, 24, 0.75},
	{"foot_L", 13, {0, -0.42, 0}, -4, 12, 0.3},
	{"leg_R", 1, {-0.1, -0.05, 0}, -4, 27, 0.5},
	{"shin_R", 15, {0, -0.42, 0}, 26, 24, 0.25},
	{"foot_R", 16, {0, -0.42, 0}, -4, 12, 0.8},
	{"武器", 11, {0, -0.06, 0.55}, 0, 0, 0},
	{"髪", 5, {0, 0.2, -0.05}, 0, 8, 0.6},
	{"cloak", 3, {0, -0.4, -0.22}, 0, 10, 0.4},
	{"eye_L", 5, {0.04, 0.1, 0.09}, 0, 0, 0},
	{"eye_R", 5, {-0.04, 0.1, 0.09}, 0, 0, 0},
	{"jaw", 5, {0, 0.02, 0.09}, 0, 4, 0},
};
#define BODY (sizeof(body) / sizeof(body[0]))
#define CLOAK 20 /* the bone that all bones beyond the body hang from, in strands of ten bones */

static void bone_name(unsigned i, char *out, size_t size)
{
	if (i < BODY)
		snprintf(out, size, "%s", body[i].name);
	else
		snprintf(out, size, "Bone%03u", i);
}

static int bone_parent(unsigned i)
{
	if (i < BODY)
		return body[i].parent;
	return i % 10 == 0 || i == BODY ? CLOAK : (int)i - 1;
}

/*
 * Computes the position of a bone in its parent: a usual length, in whole centimetres, so that some
 * bones have the same.
 */
static void bone_offset(unsigned i, double out[3])
{
	const double strand[3] = {0, (5 + i % 20) / 100.0, i % 3 / 100.0};

	memcpy(out, i < BODY ? body[i].at : strand, sizeof(strand));
}

static void clip_name(unsigned i, char *out, size_t size)
{
	static const char *const moves[] = {"walk", "run", "待機", "jump", "attack", "歩き", "die"};
	const unsigned known = sizeof(moves) / sizeof(moves[0]);

	if (i < known)
		snprintf(out, size, "%s", moves[i]);
	else
		snprintf(out, size, "%s_%02u", moves[i % known], i / known);
}

static int by_code_unit(const void *a, const void *b)
{
	const struct name *x = *(struct name *const *)a, *y = *(struct name *const *)b;
	size_t common = x->count < y->count ? x->count : y->count;

	for (size_t i = 0; i < common; i++)
		if (x->units[i] != y->units[i])
			return x->units[i] < y->units[i] ? -1 : 1;
	return (x->count > y->count) - (x->count < y->count);
}

/* Adds the strings in the order of the game: the first bone's, then all others by code unit. */
static void add_strings(struct blob *strings, struct name *names, unsigned count)
{
	struct name **order = malloc(count * sizeof(*order));

	if (!order)
		die("out of memory");
	for (unsigned i = 0; i < count; i++)
		order[i] = &names[i];
	qsort(order + 1, count - 1, sizeof(*order), by_code_unit);
	for (unsigned i = 0; i < count; i++) {
		order[i]->at = strings->size;
		for (size_t k = 0; k < order[i]->count; k++)
			add16(strings, order[i]->units[k]);
		add16(strings, 0);
	}
	free(order);
}

/* Channels. */

struct channel {
	/* kind as version 768 has it: 0 static, 1 keyed, 2 static and 3 keyed quaternion */
	uint16_t kind;
	uint32_t count;
	float base[4], step[4];
	size_t keys; /* offset of the channel's keys in their block */
};

struct file {
	unsigned version;
	struct channel *channels;
	unsigned channel_count, channel_room;
	unsigned statics[64]; /* the latest static channels, for sharing */
	unsigned static_count;
	struct blob keys, quaternions;
	struct blob rows;
};

static unsigned add_channel(struct file *f, const struct channel *c)
{
	if (f->channel_count >= NONE)
		die("more than 65,535 channels: fewer clips or bones, please");
	if (f->channel_count == f->channel_room) {
		f->channel_room = f->channel_room ? f->channel_room * 2 : 256;
		f->channels = realloc(f->channels, f->channel_room * sizeof(*f->channels));
		if (!f->channels)
			die("out of memory");
	}
	f->channels[f->channel_count] = *c;
	return f->channel_count++;
}

/* Returns an equal static channel that exists already, or adds one. */
static unsigned add_static(struct file *f, bool quaternion, const float value[4])
{
	struct channel c = {.kind = quaternion ? 2 : 0, .count = 1};
	unsigned slots = sizeof(f->statics) / sizeof(f->statics[0]), index;

	memcpy(c.base, value, sizeof(c.base));
	for (unsigned i = 0; i < f->static_count && i < slots; i++) {
		const struct channel *other = &f->channels[f->statics[i]];

		if (other->kind == c.kind && !memcmp(other->base, c.base, sizeof(c.base)))
			return f->statics[i];
	}
	index = add_channel(f, &c);
	f->statics[f->static_count++ % slots] = index;
	return index;
}

/* Adds a channel of count * 3 values, each axis over a range of its own. */
static unsigned add_keyed(struct file *f, const double *values, unsigned count)
{
	struct channel c = {.kind = 1, .count = count, .base = {0, 0, 0, 1}, .step = {0, 0, 0, 1}};

	c.keys = f->keys.size;
	for (unsigned axis = 0; axis < 3; axis++) {
		double low = values[axis], high = low;

		for (unsigned i = 1; i < count; i++) {
			low = fmin(low, values[i * 3 + axis]);
			high = fmax(high, values[i * 3 + axis]);
		}
		c.base[axis] = (float)low;
		c.step[axis] = (float)((high - low) / 65535);
	}
	for (unsigned i = 0; i < count * 3; i++) {
		double step = (double)c.step[i % 3], base = (double)c.base[i % 3];
		double k = step > 0 ? round((values[i] - base) / step) : 0;

		add16(&f->keys, (unsigned)fmin(fmax(k, 0), 65535));
	}
	return add_channel(f, &c);
}

/* Adds a channel of quaternion keys for Euler angles (X first). */
static unsigned add_quaternions(struct file *f, const double *angles, unsigned count)
{
	struct channel c = {.kind = 3, .count = count};

	c.keys = f->quaternions.size;
	for (unsigned i = 0; i < count; i++) {
		const double *a = angles + (size_t)i * 3;
		double cx = cos(a[0] / 2), sx = sin(a[0] / 2), cy = cos(a[1] / 2),
		       sy = sin(a[1] / 2);
		double cz = cos(a[2] / 2), sz = sin(a[2] / 2);

		add_float(&f->quaternions, (float)(sx * cy * cz - cx * sy * sz));
		add_float(&f->quaternions, (float)(cx * sy * cz + sx * cy * sz));
		add_float(&f->quaternions, (float)(cx * cy * sz - sx * sy * cz));
		add_float(&f->quaternions, (float)(cx * cy * cz + sx * sy * sz));
	}
	return add_channel(f, &c);
}

/* Fills one axis with a wave: a slow and a fast sine that both end where they began. */
static void add_wave(double *values, unsigned axis, unsigned frames, double size, uint64_t *random)
{
	double phase = random_between(random, 0, 2 * PI),
	       middle = random_between(random, -size, size);
	double second = random_between(random, 0, 0.3) * size;

	for (unsigned i = 0; i < frames; i++) {
		double turn = 2 * PI * i / (frames > 1 ? frames - 1 : 1);

		values[i * 3 + axis] = middle + size * sin(turn + phase) + second * sin(2 * turn);
	}
}

/* Returns how large the movements of a clip are, relative to a walk. */
static double clip_effort(unsigned clip)
{
	static const double efforts[] = {1, 1.6, 0.2, 1.2, 1.4, 0.8, 0.5};

	return efforts[clip % (sizeof(efforts) / sizeof(efforts[0]))];
}

/*
 * Fills the angles of a bone of the body. Around y and z it turns a little, by an amount of its
 * own.
 */
static void add_step(double *values, const struct part *part, unsigned frames, double effort,
		     uint64_t *random)
{
	add_wave(values, 1, frames, 0.03 * effort, random);
	add_wave(values, 2, frames, 0.03 * effort, random);
	for (unsigned i = 0; i < frames; i++) {
		double turn = (double)i / (frames > 1 ? frames - 1 : 1) + part->phase;

		values[i * 3] =
			(part->middle + part->swing * sin(2 * PI * turn)) * effort * PI / 180;
	}
}

static unsigned add_rotation(struct file *f, unsigned bone, unsigned frames, double effort,
			     double *values, uint64_t *random)
{
	const float still[4] = {0, 0, 0, 1};
	const struct part *part = bone < BODY ? &body[bone] : NULL;

	/* One in five of the other bones does not turn. */
	if (frames < 2 || (part ? part->swing == 0 : bone % 5 == 0))
		return add_static(f, f->version == 768, still);
	if (part)
		add_step(values, part, frames, effort, random);
	for (unsigned axis = 0; !part && axis < 3; axis++)
		add_wave(values, axis, frames, axis == 0 ? 0.6 : 0.15, random);
	if (f->version == 768)
		return add_quaternions(f, values, frames);
	return add_keyed(f, values, frames);
}

static unsigned add_translation(struct file *f, unsigned bone, unsigned frames, double *values,
				uint64_t *random)
{
	double offset[3];
	float still[4] = {0, 0, 0, 1};

	bone_offset(bone, offset);
	for (unsigned axis = 0; axis < 3; axis++)
		still[axis] = (float)offset[axis];
	/* Only the hips move, as in a walk; some bones of the strands move a little. */
	if (frames < 2 || (bone != 1 && bone % 50 != 49))
		return add_static(f, false, still);
	for (unsigned axis = 0; axis < 3; axis++)
		add_wave(values, axis, frames, axis == 1 ? 0.03 : 0.02, random);
	for (unsigned i = 0; i < frames * 3; i++)
		values[i] += offset[i % 3];
	return add_keyed(f, values, frames);
}

static void add_clip(struct file *f, const struct options *o, unsigned clip, uint64_t *random)
{
	const float one[4] = {1, 1, 1, 1};
	double *values = malloc(sizeof(double) * 3 * o->frames);

	if (!values)
		die("out of memory");
	for (unsigned bone = 0; bone < o->bones; bone++) {
		unsigned translation = add_translation(f, bone, o->frames, values, random);
		unsigned rotation =
			add_rotation(f, bone, o->frames, clip_effort(clip), values, random);
		/* Half of the bones have no scale. */
		unsigned scale = bone % 2 ? add_static(f, false, one) : NONE;

		add16(&f->rows, bone);
		add16(&f->rows, translation);
		add16(&f->rows, rotation);
		add16(&f->rows, scale);
	}
	free(values);
}

/* Writes the channels. Version 512 has no quaternions and stores no w. */
static void write_channels(struct blob *out, const struct file *f, size_t keys, size_t quaternions)
{
	for (unsigned i = 0; i < f->channel_count; i++) {
		const struct channel *c = &f->channels[i];
		size_t here = out->size;
		size_t block = c->kind == 3 ? quaternions : keys;
		uint32_t offset = c->kind & 1 ? (uint32_t)(block + c->keys - here) : 0;
		unsigned width = f->version == 768 ? 4 : 3;

		if (f->version == 512) {
			add16(out, c->kind & 1);
			add16(out, c->count);
		}
		for (unsigned axis = 0; axis < width; axis++)
			add_float(out, c->base[axis]);
		for (unsigned axis = 0; axis < width; axis++)
			add_float(out, c->step[axis]);
		add32(out, offset);
		if (f->version == 768) {
			add32(out, c->kind);
			add32(out, c->count);
			add32(out, 0);
		}
	}
}

static void write_animations(struct blob *out, const struct options *o, const struct name *clips,
			     size_t rows, size_t strings)
{
	for (unsigned i = 0; i < o->clips; i++) {
		size_t here = out->size;
		float duration = (float)(o->frames - 1);

		add32(out, i % 2 == 0);
		add32(out, (uint32_t)(strings + clips[i].at - here));
		add_float(out, duration);
		add_float(out, o->frames > 1 ? duration / (float)(o->frames - 1) : 0);
		add32(out, o->frames);
		add32(out, o->bones);
		add32(out, (uint32_t)(rows + (size_t)i * o->bones * 8 - here));
	}
}

static struct name *make_names(const struct options *o)
{
	struct name *names = calloc(o->bones + o->clips, sizeof(*names));
	char text[64];

	if (!names)
		die("out of memory");
	for (unsigned i = 0; i < o->bones + o->clips; i++) {
		if (i < o->bones)
			bone_name(i, text, sizeof(text));
		else
			clip_name(i - o->bones, text, sizeof(text));
		names[i].count = utf16_of(text, names[i].units, NAME_ROOM);
	}
	return names;
}

/* Writes the header, tables and blocks in the order of the game's own files. */
static void write_canm(struct blob *out, const struct options *o, struct file *f)
{
	struct name *names = make_names(o);
	struct blob strings = {0};
	size_t record = f->version == 768 ? 0x30 : 0x20;
	size_t keys = 0x20 + f->channel_count * record;
	size_t quaternions = keys + f->keys.size, animations, rows, table, text;

	if (f->quaternions.size)
		quaternions += (16 - quaternions % 16) % 16;
	animations = quaternions + f->quaternions.size;
	animations += (4 - animations % 4) % 4;
	rows = animations + o->clips * (size_t)0x1C;
	table = rows + f->rows.size;
	text = table + o->bones * (size_t)4;
	add_strings(&strings, names, o->bones + o->clips);

	memcpy(blob_more(out, 4), "CANM", 4);
	add32(out, f->version);
	add32(out, o->clips);
	add32(out, (uint32_t)animations);
	add32(out, f->channel_count);
	add32(out, 0x20);
	add32(out, o->bones);
	add32(out, (uint32_t)table);
	write_channels(out, f, keys, quaternions);
	add_blob(out, &f->keys);
	if (f->quaternions.size)
		align(out, 16);
	add_blob(out, &f->quaternions);
	align(out, 4);
	write_animations(out, o, names + o->bones, rows, text);
	add_blob(out, &f->rows);
	for (unsigned i = 0; i < o->bones; i++)
		add32(out, (uint32_t)(text + names[i].at - out->size));
	add_blob(out, &strings);
	free(strings.data);
	free(names);
}

static void make_canm(struct blob *out, const struct options *o, unsigned version, uint64_t *random)
{
	struct file f = {.version = version};

	out->size = 0;
	for (unsigned i = 0; i < o->clips; i++)
		add_clip(&f, o, i, random);
	write_canm(out, o, &f);
	if (out->size > INT32_MAX)
		die("the file would be larger than its format can say");
	free(f.channels);
	free(f.keys.data);
	free(f.quaternions.data);
	free(f.rows.data);
}

/* Files and folders. */

static void make_folder(const char *path)
{
	if (mkdir(path, 0777) && errno != EEXIST)
		die("%s: %s", path, strerror(errno));
}

static void write_file(const char *path, const void *data, size_t size)
{
	FILE *file = fopen(path, "wb");

	if (!file || fwrite(data, 1, size, file) != size || fclose(file))
		die("%s: %s", path, strerror(errno));
}

/*
 * Returns the folder of a file, such as "chara/e0012": 64 files each, in three kinds of folders.
 * Makes the folder for the first of its files.
 */
static void folder_of(const struct options *o, unsigned file, char *out, size_t size)
{
	static const char *const kinds[] = {"object", "chara", "weapon"};
	unsigned number = file / 64;
	const char *kind = kinds[number % 3];

	if (file % 64 == 0) {
		snprintf(out, size, "%s/%s", o->dir, kind);
		make_folder(out);
	}
	snprintf(out, size, "%s/%s/e%04u", o->dir, kind, number);
	if (file % 64 == 0)
		make_folder(out);
}

/* Writes a skeleton.csv, which applies to all animations in the folder of this file. */
static void make_skeleton(const struct options *o, unsigned animation)
{
	char folder[3072], path[4096];
	FILE *file;

	folder_of(o, animation, folder, sizeof(folder));
	snprintf(path, sizeof(path), "%s/skeleton.csv", folder);
	file = fopen(path, "w");
	if (!file)
		die("%s: %s", path, strerror(errno));
	fputs("bone,parent,tx,ty,tz,rx,ry,rz,sx,sy,sz\n", file);
	for (unsigned i = 0; i < o->bones; i++) {
		char name[64], parent[64] = "";
		double at[3];

		bone_name(i, name, sizeof(name));
		if (bone_parent(i) >= 0)
			bone_name((unsigned)bone_parent(i), parent, sizeof(parent));
		bone_offset(i, at);
		fprintf(file, "%s,%s,%g,%g,%g,0,0,0,1,1,1\n", name, parent, at[0], at[1], at[2]);
	}
	if (fclose(file))
		die("%s: %s", path, strerror(errno));
}

static void animation_path(const struct options *o, unsigned i, char *out, size_t size)
{
	static const char *const actors[] = {"ranger", "diver", "fencer", "raider", "ant", "蜘蛛"};
	const unsigned known = sizeof(actors) / sizeof(actors[0]);
	char folder[3072];

	folder_of(o, i, folder, sizeof(folder));
	if (i < known)
		snprintf(out, size, "%s/%s.canm", folder, actors[i]);
	else
		snprintf(out, size, "%s/%s_%05u.canm", folder, actors[i % known], i);
}

/* Writes a file that begins like a PNG and continues with noise. */
static void make_picture(const char *path, uint64_t *random)
{
	static const uint8_t head[8] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1A, '\n'};
	size_t size = 1024 + next_random(random) % 15360;
	uint8_t *data = malloc(size);

	if (!data)
		die("out of memory");
	for (size_t i = 0; i < size; i++)
		data[i] = (uint8_t)(next_random(random) >> 32);
	memcpy(data, head, sizeof(head));
	write_file(path, data, size);
	free(data);
}

static void make_plain(const struct options *o, unsigned i, uint64_t *random)
{
	/* The file goes into the folders of the animation files in turn. */
	unsigned beside = o->files ? i % o->files : 0;
	char folder[3072], path[4096], target[64];

	if (o->files)
		folder_of(o, beside, folder, sizeof(folder));
	else
		snprintf(folder, sizeof(folder), "%s", o->dir);
	switch (i % 4) {
	case 0:
		snprintf(path, sizeof(path), "%s/readme_%05u.txt", folder, i);
		snprintf(target, sizeof(target), "asset %u\nhealth = %u\n", i, i * 7 % 500);
		write_file(path, target, strlen(target));
		break;
	case 3:
		snprintf(path, sizeof(path), "%s/latest_%05u.txt", folder, i);
		snprintf(target, sizeof(target), "readme_%05u.txt", i - 3);
		if (symlink(target, path) && errno != EEXIST)
			die("%s: %s", path, strerror(errno));
		break;
	default:
		snprintf(path, sizeof(path), "%s/texture_%05u.png", folder, i);
		make_picture(path, random);
	}
}

static void make_game(const struct options *o)
{
	uint64_t random = o->seed * 0x9E3779B97F4A7C15ULL + 1;
	struct blob bytes = {0};
	char path[4096];

	make_folder(o->dir);
	for (unsigned i = 0; i < o->files; i++) {
		unsigned version = o->version ? o->version : i % 2 ? 768 : 512;

		make_canm(&bytes, o, version, &random);
		animation_path(o, i, path, sizeof(path));
		write_file(path, bytes.data, bytes.size);
		if (o->skeleton && i % 64 == 0)
			make_skeleton(o, i);
	}
	for (unsigned i = 0; i < o->plain; i++)
		make_plain(o, i, &random);
	free(bytes.data);
}

static unsigned number(const char *option, const char *text, unsigned low, unsigned high)
{
	char *end;
	unsigned long value;

	errno = 0;
	value = strtoul(text ? text : "", &end, 10);
	if (errno || end == text || !text || *end || value < low || value > high)
		die("%s needs a number from %u to %u", option, low, high);
	return (unsigned)value;
}

static void parse_option(struct options *o, const char *option, const char *value)
{
	if (!strcmp(option, "--files"))
		o->files = number(option, value, 0, 10000000);
	else if (!strcmp(option, "--clips"))
		o->clips = number(option, value, 1, 10000);
	else if (!strcmp(option, "--bones"))
		o->bones = number(option, value, 1, 65534);
	else if (!strcmp(option, "--frames"))
		o->frames = number(option, value, 1, 65535);
	else if (!strcmp(option, "--plain"))
		o->plain = number(option, value, 0, 10000000);
	else if (!strcmp(option, "--skeleton"))
		o->skeleton = number(option, value, 0, 1);
	else if (!strcmp(option, "--seed"))
		o->seed = number(option, value, 0, UINT32_MAX);
	else if (!strcmp(option, "--version") && value && !strcmp(value, "mix"))
		o->version = 0;
	else if (!strcmp(option, "--version") && value &&
		 (!strcmp(value, "512") || !strcmp(value, "768")))
		o->version = number(option, value, 512, 768);
	else
		die("what is %s %s?", option, value ? value : "");
}

int main(int argc, char **argv)
{
	struct options o = {.files = 4, .clips = 3, .bones = 24, .frames = 30, .plain = 8};

	for (int i = 1; i < argc; i++) {
		if (argv[i][0] == '-') {
			parse_option(&o, argv[i], argv[i + 1]);
			i++;
		} else {
			o.dir = argv[i];
		}
	}
	if (!o.dir)
		die("usage: make_game DIR [--files N] [--clips N] [--bones N] [--frames N] "
		    "[--version 512|768|mix] [--plain N] [--skeleton 0|1] [--seed N]");
	make_game(&o);
	return 0;
}
