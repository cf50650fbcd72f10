/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "odd.h"

#define FIRST_CLIP_OF "wiki512.canm"
#include "first_clip.h"

#include <jansson.h>

/* ---- a glTF text, taken apart ---- */

struct gltf {
	json_t *root;
	uint8_t *buffer;
	size_t size;
};

static uint8_t *decode_base64(const char *text, size_t *size)
{
	static const char letters[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	uint8_t *out = malloc(strlen(text) + 1);
	uint32_t bits = 0;
	unsigned count = 0;

	ck_assert_ptr_nonnull(out);
	ck_assert_uint_eq(strlen(text) % 4, 0);
	*size = 0;
	for (; *text && *text != '='; text++) {
		ck_assert_ptr_nonnull(strchr(letters, *text));
		bits = bits << 6 | (uint32_t)(strchr(letters, *text) - letters);
		count += 6;
		if (count < 8)
			continue;
		count -= 8;
		out[(*size)++] = (uint8_t)(bits >> count);
	}
	ck_assert_uint_eq(bits & ((1u << count) - 1), 0);
	return out;
}

static struct gltf gltf_read(const struct shown *shown)
{
	static const char type[] = "data:application/octet-stream;base64,";
	struct buf text = view_text(&view_gltf, shown);
	json_error_t fault;
	struct gltf g;
	const char *uri;
	double length;

	g.root = json_loadb((const char *)text.data, text.size,
			    JSON_REJECT_DUPLICATES | JSON_DECODE_INT_AS_REAL, &fault);
	ck_assert_msg(g.root != NULL, "%d: %s", fault.line, fault.text);
	ck_assert_int_eq(json_unpack(g.root, "{s:[{s:F, s:s}]}", "buffers", "byteLength", &length,
				     "uri", &uri),
			 0);
	ck_assert_int_eq(strncmp(uri, type, strlen(type)), 0);
	g.buffer = decode_base64(uri + strlen(type), &g.size);
	ck_assert_uint_eq(g.size, (size_t)length);
	buf_release(&text);
	return g;
}

static void gltf_free(struct gltf *g)
{
	json_decref(g->root);
	free(g->buffer);
}

static json_t *member(json_t *object, const char *name)
{
	json_t *value = json_object_get(object, name);

	ck_assert_msg(value != NULL, "no %s", name);
	return value;
}

static size_t number(json_t *object, const char *name)
{
	double value = json_number_value(member(object, name));

	ck_assert(value >= 0 && value == rint(value));
	return (size_t)value;
}

struct accessor {
	const uint8_t *data;
	size_t count, width;
	size_t more; /* number of components between those of two keys */
};

static struct accessor accessor(const struct gltf *g, size_t index)
{
	json_t *a = json_array_get(member(g->root, "accessors"), index);
	const char *type = json_string_value(member(a, "type"));
	size_t offset = number(a, "byteOffset");
	struct accessor out = {g->buffer + offset, number(a, "count"),
			       strcmp(type, "SCALAR") == 0 ? 1 : (size_t)(type[3] - '0'), 0};

	ck_assert_uint_eq(number(a, "bufferView"), 0);
	ck_assert_uint_eq(number(a, "componentType"), 5126);
	ck_assert_uint_eq(offset % 4, 0);
	ck_assert_uint_gt(out.count, 0);
	ck_assert_uint_le(offset + out.count * out.width * 4, g->size);
	return out;
}

static float component(const struct accessor *a, size_t key, size_t axis)
{
	float v = get_f32(a->data + 4 * (key * (a->width + a->more) + axis));

	ck_assert(isfinite(v));
	return v;
}

/* ---- rules for every glTF ---- */

static void assert_numbers(json_t *list, size_t count)
{
	ck_assert_uint_eq(json_array_size(list), count);
	for (size_t i = 0; i < count; i++)
		ck_assert(isfinite((float)json_number_value(json_array_get(list, i))));
}

static void assert_mesh_node(const struct gltf *g, json_t *node, size_t index)
{
	json_t *roots = member(json_array_get(member(g->root, "scenes"), 0), "nodes");

	ck_assert_uint_eq(json_object_size(node), 3);
	ck_assert_uint_eq(number(node, "mesh"), 0);
	ck_assert_uint_eq(number(node, "skin"), 0);
	ck_assert_uint_eq(json_array_size(roots), 2);
	ck_assert_uint_eq((size_t)json_number_value(json_array_get(roots, 1)), index);
}

/*
 * Checks the nodes: every node but the first is the child of one other node; nodes of bones are
 * joints with the bone's name; the last node has the mesh and no parent.
 */
static void assert_nodes(const struct gltf *g, const struct clip *clip)
{
	json_t *nodes = member(g->root, "nodes"), *node, *child;
	size_t count = json_array_size(nodes) - 1, i, k, hanging = 0;
	uint8_t *seen = calloc(count, 1);

	ck_assert_uint_gt(count, clip->track_count);
	json_array_foreach(nodes, i, node)
	{
		if (i == count) {
			assert_mesh_node(g, node, count);
			continue;
		}
		json_array_foreach(json_object_get(node, "children"), k, child)
		{
			size_t to = (size_t)json_number_value(child);

			ck_assert_uint_lt(to, count);
			ck_assert(to > 0 && !seen[to]);
			seen[to] = 1;
			hanging++;
		}
		if (i == 0)
			continue;
		assert_numbers(member(node, "translation"), 3);
		assert_numbers(member(node, "rotation"), 4);
		assert_numbers(member(node, "scale"), 3);
		ck_assert_uint_eq(
			(size_t)json_number_value(json_array_get(
				member(json_array_get(member(g->root, "skins"), 0), "joints"),
				i - 1)),
			i);
		if (i <= clip->track_count)
			ck_assert_str_eq(json_string_value(member(node, "name")),
					 clip->tracks[i - 1].label);
	}
	ck_assert_uint_eq(hanging, count - 1);
	free(seen);
}

static void assert_input(const struct gltf *g, size_t index)
{
	json_t *a = json_array_get(member(g->root, "accessors"), index);
	struct accessor times = accessor(g, index);
	double least = json_number_value(json_array_get(member(a, "min"), 0));
	double most = json_number_value(json_array_get(member(a, "max"), 0));

	ck_assert_uint_eq(times.width, 1);
	ck_assert(component(&times, 0, 0) >= 0);
	for (size_t i = 1; i < times.count; i++)
		ck_assert(component(&times, i, 0) > component(&times, i - 1, 0));
	ck_assert_float_eq((float)least, component(&times, 0, 0));
	ck_assert_float_eq((float)most, component(&times, times.count - 1, 0));
}

static void assert_quaternions(const struct accessor *a)
{
	double last[4] = {0, 0, 0, 0};

	for (size_t key = 0; key < a->count; key++) {
		double length = 0, dot = 0;

		for (size_t axis = 0; axis < 4; axis++) {
			double v = component(a, key, axis);

			length += v * v;
			dot += v * last[axis];
			last[axis] = v;
		}
		ck_assert_double_eq_tol(length, 1, 1e-6);
		ck_assert_double_ge(dot, -1e-6);
	}
}

static bool says_frame_once(const struct curve *c, uint32_t frame)
{
	unsigned count = 0;

	for (uint32_t i = 0; i < c->count; i++)
		count += curve_frame(c, i) == frame;
	return count == 1;
}

/* Checks that the keys are those of the curve, with the values of its pose in their frames. */
static void assert_keys(const struct shown *shown, const struct rig *rig, uint32_t track,
			enum role role, const struct accessor *times, const struct accessor *values)
{
	const struct clip *clip = &shown->anim->clips[shown->clip];
	const struct curve *c = clip->tracks[track].curve[role];
	double seconds = anim_seconds_per_frame(shown->anim, clip);

	ck_assert_ptr_nonnull(c);
	for (size_t key = 0; key < times->count; key++) {
		uint32_t frame = (uint32_t)lrint(component(times, key, 0) / seconds);
		struct pose pose = rig_pose(rig, clip, track, frame);
		const double *want = role == ROLE_TRANSLATION ? pose.translation
				     : role == ROLE_SCALE     ? pose.scale
							      : pose.rotation;
		double dot = 0;

		ck_assert_uint_lt(frame, clip->frames);
		if (!says_frame_once(c, frame)) {
			ck_assert_ptr_nonnull(c->frames);
			continue;
		}
		for (size_t axis = 0; axis < values->width; axis++) {
			double v = component(values, key, axis);
			double limit = fmin(fmax(want[axis], -1e30), 1e30);

			dot += v * want[axis];
			if (role != ROLE_ROTATION)
				ck_assert_float_eq((float)v, (float)limit);
		}
		if (role == ROLE_ROTATION)
			ck_assert_double_eq_tol(fabs(dot), 1, 1e-6);
	}
}

/* Returns the values of a spline without the tangents around them. */
static struct accessor spline_values(const struct accessor *a)
{
	ck_assert_uint_eq(a->count % 3, 0);
	return (struct accessor){a->data + 4 * a->width, a->count / 3, a->width, 2 * a->width};
}

static bool is_timed(const struct shown *shown, size_t node, enum role role)
{
	const struct clip *clip = &shown->anim->clips[shown->clip];
	const struct curve *c = node ? clip->tracks[node - 1].curve[role] : NULL;

	return c && c->timing && c->count > 1;
}

/* Checks that the tangents are those of the curve, bit by bit. */
static void assert_spline(const struct shown *shown, size_t node, enum role role,
			  const struct accessor *times, const struct accessor *all)
{
	const struct clip *clip = &shown->anim->clips[shown->clip];
	const struct curve *c = clip->tracks[node - 1].curve[role];

	ck_assert_uint_eq(times->count, c->count);
	for (uint32_t key = 0; key < c->count; key++) {
		ck_assert(component(times, key, 0) == curve_time(c, key));
		for (unsigned axis = 0; axis < all->width; axis++) {
			ck_assert(component(all, 3 * key, axis) ==
				  curve_tangent(c, key, TANGENT_IN, axis));
			ck_assert((double)component(all, 3 * key + 1, axis) ==
				  curve_value(c, key, axis));
			ck_assert(component(all, 3 * key + 2, axis) ==
				  curve_tangent(c, key, TANGENT_OUT, axis));
		}
	}
}

static void assert_animation(const struct gltf *g, const struct shown *shown, const struct rig *rig)
{
	json_t *animation = json_array_get(member(g->root, "animations"), 0), *channel;
	json_t *samplers = member(animation, "samplers");
	const struct clip *clip = &shown->anim->clips[shown->clip];
	unsigned splines = 0, sampled = 0;
	float end = 0, wanted;
	const char *way;
	bool spline;
	size_t i;

	json_array_foreach(member(animation, "channels"), i, channel)
	{
		json_t *target = member(channel, "target");
		const char *path = json_string_value(member(target, "path"));
		json_t *sampler = json_array_get(samplers, number(channel, "sampler"));
		struct accessor times = accessor(g, number(sampler, "input"));
		struct accessor values = accessor(g, number(sampler, "output"));
		size_t node = number(target, "node");
		unsigned role = 0;

		while (strcmp(role_names[role], path) != 0)
			ck_assert_uint_lt(++role, ROLE_COUNT);
		assert_input(g, number(sampler, "input"));
		way = json_string_value(member(sampler, "interpolation"));
		spline = strcmp(way, "CUBICSPLINE") == 0;
		if (spline) {
			ck_assert(is_timed(shown, node, (enum role)role));
			assert_spline(shown, node, (enum role)role, &times, &values);
			values = spline_values(&values);
			splines++;
		} else if (is_timed(shown, node, (enum role)role)) {
			sampled++;
		}
		ck_assert_uint_eq(values.count, times.count);
		ck_assert_uint_eq(values.width, role == ROLE_ROTATION ? 4 : 3);
		if (role == ROLE_ROTATION && !spline)
			assert_quaternions(&values);
		if (node > 0)
			assert_keys(shown, rig, (uint32_t)node - 1, (enum role)role, &times,
				    &values);
		if (!spline)
			ck_assert_str_eq(way, shown->anim->format->keyframes || node == 0
						      ? "STEP"
						      : "LINEAR");
		end = fmaxf(end, component(&times, times.count - 1, 0));
	}
	wanted = (float)((clip->frames - 1) * anim_seconds_per_frame(shown->anim, clip));
	if (splines)
		ck_assert_float_eq_tol(end, wanted, 1e-5f);
	else
		ck_assert(end == wanted || end == nextafterf(wanted, INFINITY));
	ck_assert_int_eq(json_is_true(json_object_get(member(animation, "extras"), "sampled")),
			 sampled > 0);
}

/* ---- the mesh ---- */

static struct bytes view_bytes(const struct gltf *g, size_t index, size_t *stride)
{
	json_t *view = json_array_get(member(g->root, "bufferViews"), index);
	size_t from = number(view, "byteOffset"), size = number(view, "byteLength");

	ck_assert_uint_eq(from % 4, 0);
	ck_assert_uint_le(from + size, g->size);
	if (stride)
		*stride = number(view, "byteStride");
	return (struct bytes){g->buffer + from, size};
}

struct mesh {
	size_t corners, joints, at_joints, stride;
	unsigned joint_size;
	/* data of the mesh, and its matrices; data NULL: the mesh has none */
	struct bytes data, matrices;
	json_t *places;
};

static json_t *mesh_accessor(const struct gltf *g, json_t *object, const char *name)
{
	return json_array_get(member(g->root, "accessors"), number(object, name));
}

static struct mesh mesh_of(const struct gltf *g)
{
	json_t *primitive = json_array_get(
		member(json_array_get(member(g->root, "meshes"), 0), "primitives"), 0);
	json_t *attributes = member(primitive, "attributes");
	json_t *joints = mesh_accessor(g, attributes, "JOINTS_0");
	json_t *skin = json_array_get(member(g->root, "skins"), 0);
	struct mesh m = {.joints = json_array_size(member(skin, "joints"))};

	m.places = mesh_accessor(g, attributes, "POSITION");
	m.corners = number(m.places, "count");
	m.data = view_bytes(g, 1, &m.stride);
	m.at_joints = number(joints, "byteOffset");
	m.joint_size = number(joints, "componentType") == 5121 ? 1 : 2;
	ck_assert_uint_eq(m.corners, 6 * m.joints);
	ck_assert_uint_eq(m.data.size, m.corners * m.stride);
	ck_assert_uint_eq(number(mesh_accessor(g, primitive, "indices"), "count"), 24 * m.joints);
	if (json_object_get(skin, "inverseBindMatrices"))
		m.matrices = view_bytes(g, 3, NULL);
	return m;
}

static uint32_t corner_joint(const struct mesh *m, size_t corner)
{
	const uint8_t *p = m->data.data + corner * m->stride + m->at_joints;
	uint32_t joint = m->joint_size == 1 ? *p : get_u16(p);

	ck_assert_uint_lt(joint, m->joints);
	/* The corner follows only the first joint. */
	for (unsigned i = m->joint_size; i < 4 * m->joint_size; i++)
		ck_assert_uint_eq(p[i], 0);
	p += (size_t)4 * m->joint_size;
	ck_assert(p[0] == 255 && p[1] == 0 && p[2] == 0 && p[3] == 0);
	return joint;
}

static double corner_place(const struct mesh *m, size_t corner, unsigned axis)
{
	double v = (double)get_f32(m->data.data + corner * m->stride + 4 * (size_t)axis);

	ck_assert(isfinite(v));
	return v;
}

static double bound(const struct mesh *m, const char *name, unsigned axis)
{
	return json_number_value(json_array_get(member(m->places, name), axis));
}

static void assert_mesh(const struct gltf *g)
{
	struct mesh m = mesh_of(g);

	for (unsigned axis = 0; axis < 3; axis++) {
		double least = INFINITY, most = -INFINITY;

		for (size_t corner = 0; corner < m.corners; corner++) {
			double v = corner_place(&m, corner, axis);

			corner_joint(&m, corner);
			least = fmin(least, v);
			most = fmax(most, v);
		}
		ck_assert_float_eq((float)bound(&m, "min", axis), (float)least);
		ck_assert_float_eq((float)bound(&m, "max", axis), (float)most);
	}
	if (m.matrices.data)
		ck_assert_uint_eq(m.matrices.size, 64 * m.joints);
}

static void assert_sound(const struct shown *shown)
{
	struct arena arena = ARENA_INIT;
	const struct clip *clip = &shown->anim->clips[shown->clip];
	const struct rig *rig = rig_make(shown->skeleton, clip, &arena);
	struct gltf g = gltf_read(shown);

	assert_nodes(&g, clip);
	assert_animation(&g, shown, rig);
	assert_mesh(&g);
	gltf_free(&g);
	arena_release(&arena);
}

START_TEST(every_sample_is_a_skeleton_that_moves)
{
	unsigned count = 0;

	for (const char *const *name = sample_names; *name; name++) {
		struct sample one = sample_open(*name);
		struct shown shown = sample_shown(&one, 0, NULL);

		for (; shown.clip < one.anim->clip_count; shown.clip++) {
			if (!view_gltf.present(&shown))
				continue;
			assert_sound(&shown);
			count++;
		}
		sample_close(&one);
	}
	ck_assert_uint_gt(count, ARRAY_SIZE(sample_names));
}
END_TEST

START_TEST(the_extras_say_what_gltf_cannot)
{
	struct gltf g = gltf_read(&at);
	double fps, frames, stored;
	int loop;
	const char *name;

	ck_assert_int_eq(json_unpack(g.root, "{s:[{s:s, s:{s:F, s:F, s:b, s:{s:F}}}]}",
				     "animations", "name", &name, "extras", "fps", &fps, "frames",
				     &frames, "loop", &loop, "canm", "loop", &stored),
			 0);
	ck_assert_str_eq(name, "walk");
	ck_assert_double_eq(fps, 30);
	ck_assert_double_eq(frames, 3);
	ck_assert_int_eq(loop, 1);
	ck_assert_double_eq(stored, 1);
	gltf_free(&g);
}
END_TEST

/* Bones are in the rest pose and in the hierarchy, also those bones that only the skeleton has. */
START_TEST(a_skeleton_gives_nodes_parents_and_rest)
{
	struct skeleton *skeleton = read_skeleton(odd_skeleton);
	struct gltf g;
	json_t *nodes;
	double t[3], r[4], child;

	at.skeleton = skeleton;
	assert_sound(&at);
	g = gltf_read(&at);
	nodes = member(g.root, "nodes");
	/*
	 * Scene_Root, Bone01, hip and a bone with a Japanese name are tracks 0 to 3; node 5 is mid.
	 */
	ck_assert_uint_eq(json_array_size(nodes), 7);
	ck_assert_str_eq(json_string_value(member(json_array_get(nodes, 5), "name")), "mid");
	ck_assert_int_eq(json_unpack(json_array_get(nodes, 5), "{s:[F,F,F], s:[F,F,F,F], s:[F]}",
				     "translation", &t[0], &t[1], &t[2], "rotation", &r[0], &r[1],
				     &r[2], &r[3], "children", &child),
			 0);
	ck_assert_double_eq(child, 3);
	ck_assert_double_eq(t[1], 2);
	ck_assert_double_eq_tol(r[2], sqrt(0.5), 1e-7);
	ck_assert_double_eq_tol(r[3], sqrt(0.5), 1e-7);
	ck_assert_int_eq(json_unpack(json_array_get(nodes, 2), "{s:[F,F,F], s:[F]}", "translation",
				     &t[0], &t[1], &t[2], "children", &child),
			 0);
	ck_assert_double_eq(child, 5);
	ck_assert_double_eq(t[2], 3);
	gltf_free(&g);
	skeleton_free(skeleton);
}
END_TEST

/* Transforms a corner by the matrix of its bone into the bone's space. */
static void corner_in_bone(const struct mesh *m, size_t corner, double out[3])
{
	const uint8_t *matrix = m->matrices.data + 64 * (size_t)corner_joint(m, corner);

	for (unsigned row = 0; row < 3; row++) {
		out[row] = m->matrices.data ? (double)get_f32(matrix + 4 * (12 + row))
					    : corner_place(m, corner, row);
		for (unsigned i = 0; m->matrices.data && i < 3; i++)
			out[row] += (double)get_f32(matrix + 4 * (4 * i + row)) *
				    corner_place(m, corner, i);
	}
}

static void assert_corner(const struct mesh *m, size_t corner, uint32_t joint, double x, double y,
			  double z)
{
	double place[3];

	ck_assert_uint_eq(corner_joint(m, corner), joint);
	corner_in_bone(m, corner, place);
	ck_assert_double_eq_tol(place[0], x, 1e-6);
	ck_assert_double_eq_tol(place[1], y, 1e-6);
	ck_assert_double_eq_tol(place[2], z, 1e-6);
}

/*
 * Bone01, number 1, is the child of Scene_Root; with a rest scale of 0, its matrix has no inverse.
 */
static const char one_bone[] = "bone,parent,tx,ty,tz,rx,ry,rz,sx,sy,sz\n"
			       "Scene_Root,,1,2,3,0,90,0,1,1,1\n"
			       "Bone01,Scene_Root,0,4,0,0,0,0,%s,1,1\n";

/*
 * The octahedron reaches from the parent to the bone; the far end follows the bone, the other
 * corners the parent.
 */
START_TEST(a_bone_is_an_octahedron)
{
	static const char *const scales[] = {"2", "0", "1e-38"};
	char text[256];
	struct skeleton *skeleton;
	struct gltf g;
	struct mesh m;

	snprintf(text, sizeof(text), one_bone, scales[_i]);
	skeleton = read_skeleton(text);
	at.skeleton = skeleton;
	assert_sound(&at);
	g = gltf_read(&at);
	m = mesh_of(&g);
	ck_assert_int_eq(m.matrices.data != NULL, _i == 0);
	/* The figure is 7 high, since another bone is at -1. */
	assert_corner(&m, 0, 0, 0, 0, -0.02 * 7);
	assert_corner(&m, 2, 0, 0, 0.02 * 7, 0);
	assert_corner(&m, 6, 0, 0, 0, 0);
	for (size_t corner = 7; corner < 11; corner++) {
		double place[3];

		ck_assert_uint_eq(corner_joint(&m, corner), 0);
		corner_in_bone(&m, corner, place);
		ck_assert_double_eq_tol(place[1], 0.03 * 7, 1e-6);
		ck_assert_double_eq_tol(hypot(place[0], place[2]), 0.03 * 7, 1e-6);
	}
	assert_corner(&m, 11, 1, 0, 0, 0);
	gltf_free(&g);
	skeleton_free(skeleton);
}
END_TEST

/*
 * Without a mesh, the text is as it was before meshes were added; a mesh removes nothing from it.
 */
START_TEST(a_plain_one_has_no_mesh)
{
	struct gltf figure = gltf_read(&at), plain;

	at.style.plain_gltf = true;
	plain = gltf_read(&at);
	ck_assert_ptr_null(json_object_get(plain.root, "meshes"));
	ck_assert_ptr_null(json_object_get(plain.root, "materials"));
	ck_assert_uint_eq(json_array_size(member(plain.root, "bufferViews")), 1);
	ck_assert_uint_eq(json_array_size(member(plain.root, "nodes")) + 1,
			  json_array_size(member(figure.root, "nodes")));
	ck_assert(json_equal(member(plain.root, "animations"), member(figure.root, "animations")));
	ck_assert_uint_lt(plain.size, figure.size);
	ck_assert_mem_eq(plain.buffer, figure.buffer, plain.size);
	gltf_free(&plain);
	gltf_free(&figure);
}
END_TEST

static void assert_mesh_name(const struct gltf *g, const char *name)
{
	json_t *nodes = member(g->root, "nodes");
	json_t *last = json_array_get(nodes, json_array_size(nodes) - 1);

	ck_assert_str_eq(json_string_value(member(last, "name")), name);
}

START_TEST(a_bone_named_like_the_mesh_keeps_its_name)
{
	struct anim *odd = anim_edit(s.anim), *back;
	struct gltf g = gltf_read(&at);
	struct err err = {0};
	struct buf text;

	assert_mesh_name(&g, "figure");
	gltf_free(&g);
	anim_edit_track(odd, 0, 0)->label = "figure";
	anim_edit_track(odd, 0, 2)->label = "figure~2";
	at.anim = odd;
	assert_sound(&at);
	g = gltf_read(&at);
	assert_mesh_name(&g, "figure~3");
	gltf_free(&g);
	text = view_text(&view_gltf, &at);
	back = view_gltf.parse(&at, buf_bytes(&text), &err);
	ck_assert_msg(back != NULL, "%s", err.message);
	for (unsigned track = 0; track < odd->clips[0].track_count; track++)
		for (int role = 0; role < ROLE_COUNT; role++)
			ck_assert_ptr_eq(back->clips[0].tracks[track].curve[role],
					 odd->clips[0].tracks[track].curve[role]);
	buf_release(&text);
	anim_free(back);
	anim_free(odd);
}
END_TEST

/* With many bones, joints and corners take more bytes. */
START_TEST(many_bones_have_wide_numbers)
{
	static const struct {
		uint32_t bones;
		unsigned joint_size, index_size;
	} sizes[] = {{256, 1, 2}, {257, 2, 2}, {10922, 2, 2}, {10923, 2, 4}};
	struct anim *odd = anim_edit(s.anim);
	struct clip *clip = anim_edit_clip(odd, 0);
	struct track *tracks = arena_alloc(&odd->arena, sizes[_i].bones, sizeof(*tracks));
	struct gltf g;
	struct mesh m;

	ck_assert_ptr_nonnull(tracks);
	for (uint32_t i = 0; i < sizes[_i].bones; i++) {
		tracks[i] = clip->tracks[0];
		tracks[i].label = arena_alloc(&odd->arena, 1, 12);
		ck_assert_ptr_nonnull(tracks[i].label);
		snprintf((char *)(uintptr_t)tracks[i].label, 12, "%u", (unsigned)i);
	}
	clip->tracks = tracks;
	clip->track_count = sizes[_i].bones;
	at.anim = odd;
	g = gltf_read(&at);
	m = mesh_of(&g);
	assert_mesh(&g);
	ck_assert_uint_eq(m.joint_size, sizes[_i].joint_size);
	ck_assert_uint_eq(view_bytes(&g, 2, NULL).size,
			  (size_t)sizes[_i].bones * 24 * sizes[_i].index_size);
	ck_assert_uint_eq(corner_joint(&m, m.corners - 1), sizes[_i].bones - 1);
	gltf_free(&g);
	anim_free(odd);
}
END_TEST

START_TEST(what_is_stored_may_be_anything)
{
	struct curve vectors = odd_curve(CURVE_VECTOR, 5, odd_numbers);
	struct curve euler = odd_curve(CURVE_EULER, 5, odd_numbers);
	struct curve quaternions = odd_curve(CURVE_QUATERNION, 5, odd_quaternions);
	const struct curve *const curves[][ROLE_COUNT] = {{&vectors, &euler, &vectors},
							  {&vectors, &quaternions, &vectors},
							  {NULL, &quaternions, NULL}};
	struct skeleton *skeleton = read_skeleton(odd_skeleton);

	for (size_t i = 0; i < ARRAY_SIZE(curves); i++) {
		struct anim *odd = odd_model(&s, 5, curves[i]);

		anim_edit_track(odd, 0, 0)->label = "a\"<&>\\\x01\xc3\xa9\xe5\x8f\xb3";
		at.anim = odd;
		at.skeleton = i == 1 ? skeleton : NULL;
		assert_sound(&at);
		anim_free(odd);
	}
	skeleton_free(skeleton);
}
END_TEST

static const float times_of_frames[] = {NAN, 0, -1, INFINITY, 1e-45f, FLT_MAX};

START_TEST(times_ascend_whatever_a_frame_takes)
{
	struct anim *odd = anim_edit(s.anim);
	struct gltf g;
	size_t i;
	json_t *a;

	anim_edit_clip(odd, 0)->frame_time = times_of_frames[_i];
	at.anim = odd;
	g = gltf_read(&at);
	json_array_foreach(member(g.root, "accessors"), i,
			   a) if (json_object_get(a, "min") && number(a, "bufferView") == 0)
		assert_input(&g, i);
	gltf_free(&g);
	anim_free(odd);
}
END_TEST

/* Of several keys in one frame the last one counts; other keys keep their frames. */
START_TEST(keys_stand_where_they_are_stored)
{
	static const uint32_t frames[] = {2, 2, 5, 9};
	static const double values[] = {1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4};
	struct curve curve = odd_curve(CURVE_VECTOR, 4, values);
	const struct curve *const curves[ROLE_COUNT] = {&curve};
	struct anim *odd;
	struct gltf g;
	struct accessor times, x;
	json_t *last;
	size_t i = 0;

	curve.frames = frames;
	odd = odd_model(&s, 8, curves);
	at.anim = odd;
	g = gltf_read(&at);
	while (number(member(json_array_get(member(json_array_get(member(g.root, "animations"), 0),
						   "channels"),
					    i),
			     "target"),
		      "node") != 2)
		i++;
	last = json_array_get(member(json_array_get(member(g.root, "animations"), 0), "samplers"),
			      i);
	times = accessor(&g, number(last, "input"));
	x = accessor(&g, number(last, "output"));
	ck_assert_uint_eq(times.count, 2);
	ck_assert_float_eq(component(&times, 0, 0), (float)(2 / 30.0));
	ck_assert_float_eq(component(&times, 1, 0), (float)(5 / 30.0));
	ck_assert_float_eq(component(&x, 0, 0), 2);
	ck_assert_float_eq(component(&x, 1, 0), 3);
	gltf_free(&g);
	anim_free(odd);
}
END_TEST

START_TEST(a_long_clip_that_stands_still_is_short_and_sound)
{
	struct curve still = odd_curve(CURVE_VECTOR, 1, odd_numbers + 13);
	struct anim *odd = odd_model(&s, 65535, (const struct curve *const[ROLE_COUNT]){&still});

	at.anim = odd;
	assert_sound(&at);
	anim_free(odd);
	odd_still_is_short(&s, &at, &view_gltf);
}
END_TEST

START_TEST(a_clip_that_says_nothing_has_none)
{
	struct anim *odd = anim_edit(s.anim);

	at.anim = odd;
	ck_assert(view_gltf.present(&at));
	for (uint32_t track = 0; track < odd->clips[0].track_count; track++)
		memset(anim_edit_track(odd, 0, track)->curve, 0,
		       sizeof(odd->clips[0].tracks->curve));
	ck_assert(!view_gltf.present(&at));
	anim_edit_clip(odd, 0)->track_count = 0;
	ck_assert(!view_gltf.present(&at));
	anim_free(odd);
}
END_TEST

Suite *gltf_suite(void);

Suite *gltf_suite(void)
{
	Suite *suite = suite_create("gltf");
	TCase *t = tcase_create("gltf");

	suite_add_tcase(suite, t);
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, every_sample_is_a_skeleton_that_moves);
	tcase_add_test(t, the_extras_say_what_gltf_cannot);
	tcase_add_test(t, a_skeleton_gives_nodes_parents_and_rest);
	tcase_add_loop_test(t, a_bone_is_an_octahedron, 0, 3);
	tcase_add_test(t, a_plain_one_has_no_mesh);
	tcase_add_test(t, a_bone_named_like_the_mesh_keeps_its_name);
	tcase_add_loop_test(t, many_bones_have_wide_numbers, 0, 4);
	tcase_add_test(t, what_is_stored_may_be_anything);
	tcase_add_loop_test(t, times_ascend_whatever_a_frame_takes, 0, ARRAY_SIZE(times_of_frames));
	tcase_add_test(t, keys_stand_where_they_are_stored);
	tcase_add_test(t, a_long_clip_that_stands_still_is_short_and_sound);
	tcase_add_test(t, a_clip_that_says_nothing_has_none);
	return suite;
}
