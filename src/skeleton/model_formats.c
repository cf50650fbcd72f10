/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model_formats.h"
#include "model/names.h"
#include "text/utf.h"

#include <math.h>
#include <string.h>

static struct skeleton *refuse_model(struct arena *arena, size_t at, const char *why,
				     struct err *err)
{
	arena_release(arena);
	err_at(err, ERR_FORMAT, at, 0, "%s", why);
	return NULL;
}

static struct skeleton *finish_skeleton(struct arena *arena, const struct joint *joints,
					uint32_t count, struct err *err)
{
	struct skeleton *s = arena->failed ? NULL : skeleton_new(arena, joints, count);

	if (!s) {
		arena_release(arena);
		err_memory(err);
	}
	return s;
}

/* Makes a joint without a parent, at the origin. */
static struct joint new_joint(const char *bone)
{
	return (struct joint){.bone = bone, .parent = JOINT_ROOT, .rest = {{0}, {0}, {1, 1, 1}}};
}

/* ---- Final Fantasy IX ---- */

#define FF9_COUNT 0x02
#define FF9_BONES 0x14
#define FF9_BONE 4

/*
 * Reads a model: u8 at 0x02: number of bones; at 0x14 the bones, each s16 length, u8 0, u8 parent.
 * Parents precede their children; the first bone's parent is 0. A bone is at (0, 0, length)
 * relative to its parent.
 */
static struct skeleton *ff9_read(struct bytes model, struct err *err)
{
	struct arena arena = ARENA_INIT;
	struct joint *joints;
	uint32_t count;

	if (model.size <= FF9_COUNT)
		return refuse_model(&arena, model.size, "the model ends before its number of bones",
				    err);
	count = model.data[FF9_COUNT];
	if (count == 0)
		return refuse_model(&arena, FF9_COUNT, "a model without bones", err);
	if (!bytes_hold(model, FF9_BONES, count, FF9_BONE))
		return refuse_model(&arena, model.size, "the bones go beyond the end", err);
	joints = arena_alloc(&arena, count, sizeof(*joints));
	for (uint32_t i = 0; joints && i < count; i++) {
		size_t at = FF9_BONES + FF9_BONE * (size_t)i;
		const uint8_t *bone = model.data + at;

		if (bone[2] != 0)
			return refuse_model(&arena, at + 2, "this byte of a bone is always 0", err);
		if (i == 0 ? bone[3] != 0 : bone[3] >= i)
			return refuse_model(&arena, at + 3, "a bone stands before its parent", err);
		joints[i] = new_joint(arena_format(&arena, "bone_%03u", i));
		joints[i].parent = i == 0 ? JOINT_ROOT : bone[3];
		joints[i].rest[ROLE_TRANSLATION][2] = (int16_t)get_u16(bone);
	}
	return finish_skeleton(&arena, joints, count, err);
}

const struct model_format model_ff9 = {".ff9model", {"ff9anim"}, ff9_read};

/* ---- Vib-Ribbon ---- */

#define TMD_MAGIC 0x41
#define TMD_OBJECTS 0x0C
#define TMD_OBJECT 28
/* limit of objects: an animation stores the number of an object in one byte */
#define TMD_OBJECTS_MAX 256

/*
 * Reads a model: u32 0x41, u32 flags, u32 number of objects, and 28 bytes per object. Each object
 * moves on its own.
 */
static struct skeleton *tmd_read(struct bytes model, struct err *err)
{
	struct arena arena = ARENA_INIT;
	struct reader r = reader_at(model, 0);
	uint32_t magic = read_u32(&r), flags = read_u32(&r), count = read_u32(&r);
	struct joint *joints;

	(void)flags;
	if (r.bad || magic != TMD_MAGIC)
		return refuse_model(&arena, 0, "not a TMD model", err);
	if (count == 0 || count > TMD_OBJECTS_MAX)
		return refuse_model(&arena, 8, "a TMD model has 1 to 256 objects here", err);
	if (!bytes_hold(model, TMD_OBJECTS, count, TMD_OBJECT))
		return refuse_model(&arena, model.size, "the objects go beyond the end", err);
	joints = arena_alloc(&arena, count, sizeof(*joints));
	for (uint32_t i = 0; joints && i < count; i++)
		joints[i] = new_joint(arena_format(&arena, "object_%03u", i));
	return finish_skeleton(&arena, joints, count, err);
}

const struct model_format model_ribbon = {".tmd", {"ribbon"}, tmd_read};

/* ---- Earth Defense Force ---- */

#define MDB_HEADER 0x30
#define MDB_BONE 0xC0
#define MDB_BONES_MAX 65535u
#define MDB_NAME_MAX 255 /* limit of the length of a name, in code units */

/* The header of an MDB. Its counts and offsets are not checked yet. */
struct mdb {
	struct bytes src;
	uint32_t name_count, names_at, bone_count, bones_at;
	struct arena arena;
	struct err *err;
};

/*
 * Reads the header of 0x30 bytes: "MDB0", u32 version, and for names, bones, objects, materials and
 * textures each a count and an offset from the start.
 */
static bool mdb_header(struct mdb *m)
{
	struct reader r = reader_at(m->src, 4);
	uint32_t version = read_u32(&r);

	m->name_count = read_u32(&r);
	m->names_at = read_u32(&r);
	m->bone_count = read_u32(&r);
	m->bones_at = read_u32(&r);
	if (m->src.size < MDB_HEADER || memcmp(m->src.data, "MDB0", 4) != 0)
		return err_at(m->err, ERR_FORMAT, 0, 0, "not an MDB model");
	if (version != 0x14 && version != 0x20)
		return err_at(m->err, ERR_FORMAT, 4, 0, "MDB version 0x%X is not known", version);
	if (!bytes_hold(m->src, m->names_at, m->name_count, 4))
		return err_at(m->err, ERR_FORMAT, 0x08, 0, "the names go beyond the end");
	if (m->bone_count == 0 || m->bone_count > MDB_BONES_MAX)
		return err_at(m->err, ERR_FORMAT, 0x10, 0, "a model has 1 to 65535 bones here");
	if (!bytes_hold(m->src, m->bones_at, m->bone_count, MDB_BONE))
		return err_at(m->err, ERR_FORMAT, 0x14, 0, "the bones go beyond the end");
	return true;
}

/*
 * Reads a name. Its offset is relative to the place of the offset; the text is UTF-16LE and ends in
 * 0.
 */
static const char *mdb_name(struct mdb *m, uint32_t number, size_t said_at)
{
	size_t entry = m->names_at + 4 * (size_t)number, at, units = 0;
	int32_t offset;

	if (number >= m->name_count) {
		err_at(m->err, ERR_FORMAT, said_at, 0, "there is no name %u", number);
		return NULL;
	}
	offset = (int32_t)get_u32(m->src.data + entry);
	if (offset == 0 || (offset < 0 && (size_t) - (int64_t)offset > entry)) {
		err_at(m->err, ERR_FORMAT, entry, 0, "a name lies nowhere");
		return NULL;
	}
	at = entry + (size_t)(int64_t)offset;
	for (;; units++) {
		if (units > MDB_NAME_MAX || !bytes_hold(m->src, at, units + 1, 2)) {
			err_at(m->err, ERR_FORMAT, entry, 0, "a name has no end");
			return NULL;
		}
		if (get_u16(m->src.data + at + 2 * units) == 0)
			return utf8_from_utf16(&m->arena, m->src.data + at, units);
	}
}

static double near_one(double scale)
{
	return fabs(scale - 1) < 1e-6 ? 1 : scale;
}

/*
 * Converts an angle to degrees, rounded to 1e-5: a float32 matrix is precise to a few millionths of
 * a degree.
 */
static double model_formats_degrees_of(double sine, double cosine)
{
	return rint(atan2(sine, cosine) * (180 / M_PI) * 1e5) / 1e5 + 0.0;
}

/* Computes Euler angles (R = Rz * Ry * Rx) from the columns of R. At ry = 90 and -90, rz is 0. */
static void angles_of(const double column[3][3], double out[3])
{
	double flat = hypot(column[0][0], column[0][1]);

	out[1] = model_formats_degrees_of(-column[0][2], flat);
	if (flat < 1e-6) {
		out[0] = model_formats_degrees_of(-column[2][1], column[1][1]);
		out[2] = 0;
		return;
	}
	out[0] = model_formats_degrees_of(column[1][2], column[2][2]);
	out[2] = model_formats_degrees_of(column[0][1], column[0][0]);
}

static double determinant_of(const double column[3][3])
{
	const double *a = column[0], *b = column[1], *c = column[2];

	return a[0] * (b[1] * c[2] - b[2] * c[1]) - a[1] * (b[0] * c[2] - b[2] * c[0]) +
	       a[2] * (b[0] * c[1] - b[1] * c[0]);
}

/*
 * Decomposes a matrix (stored for row vectors: its first three rows are the columns of R * S, the
 * fourth is the translation) into T * R * S. A mirroring matrix gets a negative scale; an axis of
 * no length, which has no direction, keeps its own.
 */
static bool mdb_rest(struct mdb *m, size_t at, double rest[ROLE_COUNT][3])
{
	double column[3][3];

	for (unsigned i = 0; i < 16; i++)
		if (!isfinite(get_f32(m->src.data + at + 4 * i)))
			return err_at(m->err, ERR_FORMAT, at + 4 * i, 0,
				      "a bone's place is not a number");
	for (unsigned i = 0; i < 3; i++) {
		double length = 0;

		rest[ROLE_TRANSLATION][i] = (double)get_f32(m->src.data + at + 48 + 4 * i);
		for (unsigned k = 0; k < 3; k++) {
			column[i][k] = (double)get_f32(m->src.data + at + 16 * i + 4 * k);
			length += column[i][k] * column[i][k];
		}
		length = sqrt(length);
		if (!isfinite((float)length))
			return err_at(m->err, ERR_FORMAT, at + 16 * i, 0,
				      "a bone's scale is too large");
		rest[ROLE_SCALE][i] = near_one(length);
		for (unsigned k = 0; k < 3; k++)
			column[i][k] = length > 0 ? column[i][k] / length : k == i;
	}
	if (determinant_of(column) < 0) {
		rest[ROLE_SCALE][0] = -rest[ROLE_SCALE][0];
		for (unsigned k = 0; k < 3; k++)
			column[0][k] = -column[0][k];
	}
	angles_of(column, rest[ROLE_ROTATION]);
	return true;
}

/*
 * Reads a bone: its own index, s32 parent or -1 (then next sibling, first child), at 0x10 the index
 * of its name, at 0x20 its matrix relative to its parent. Parents precede their children.
 */
static bool mdb_bone(struct mdb *m, uint32_t number, struct joint *joint, struct track *name)
{
	size_t at = m->bones_at + MDB_BONE * (size_t)number;
	const uint8_t *bone = m->src.data + at;
	int32_t parent = (int32_t)get_u32(bone + 4);

	if (get_u32(bone) != number)
		return err_at(m->err, ERR_FORMAT, at, 0, "the number of a bone is not its index");
	if (parent < -1 || (parent >= 0 && (uint32_t)parent >= number))
		return err_at(m->err, ERR_FORMAT, at + 4, 0, "a bone stands before its parent");
	joint->parent = parent < 0 ? JOINT_ROOT : parent;
	name->name = mdb_name(m, get_u32(bone + 0x10), at + 0x10);
	return name->name && mdb_rest(m, at + 0x20, joint->rest);
}

/* Gives the bones the labels that they have in a clip with all of the bones. */
static bool mdb_label(struct mdb *m, struct joint *joints, const struct track *names)
{
	static const char *const reserved[] = {NULL};
	struct clip clip = {.name = "", .track_count = m->bone_count, .tracks = names};
	struct anim a = {.arena = m->arena, .clip_count = 1, .clips = &clip};
	bool done = names_label(&a, reserved);

	m->arena = a.arena;
	for (uint32_t i = 0; done && i < m->bone_count; i++)
		joints[i].bone = names[i].label;
	return done;
}

static struct skeleton *mdb_bones(struct mdb *m)
{
	struct joint *joints = arena_alloc(&m->arena, m->bone_count, sizeof(*joints));
	struct track *names = arena_alloc(&m->arena, m->bone_count, sizeof(*names));
	bool done = joints && names;

	for (uint32_t i = 0; done && i < m->bone_count; i++)
		done = mdb_bone(m, i, &joints[i], &names[i]);
	if (done && mdb_label(m, joints, names))
		return finish_skeleton(&m->arena, joints, m->bone_count, m->err);
	if (m->err->code == ERR_NONE)
		err_memory(m->err);
	return NULL;
}

static struct skeleton *mdb_read(struct bytes model, struct err *err)
{
	struct err why = {.code = ERR_NONE};
	struct mdb m = {.src = model, .arena = ARENA_INIT, .err = &why};
	struct skeleton *s = mdb_header(&m) ? mdb_bones(&m) : NULL;

	arena_release(&m.arena);
	if (!s)
		err_copy(err, &why);
	return s;
}

const struct model_format model_mdb = {".mdb", {"canm", "cas"}, mdb_read};

/* ---- all of them ---- */

const struct model_format *const model_formats[] = {&model_ff9, &model_ribbon, &model_mdb, NULL};

const struct model_format *model_format_of(const struct format *format)
{
	for (const struct model_format *const *model = model_formats; *model; model++)
		for (const char *const *name = (*model)->formats; *name; name++)
			if (strcmp(*name, format->name) == 0)
				return *model;
	return NULL;
}
