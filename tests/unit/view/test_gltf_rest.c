/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The change that Blender makes to the axes of bones, made by hand to "hip" of wiki512.canm. */
#include "odd.h"

#include "gltf_text.h"

/* At rest, Bone01 is at the origin, and hip one unit above it. */
static const char text[] = "bone,parent,tx,ty,tz,rx,ry,rz,sx,sy,sz\n"
			   "Bone01,,0,0,0,0,0,0,1,1,1\n"
			   "hip,Bone01,0,1,0,0,0,0,1,1,1\n";

/*
 * In the file, the y and z axes of Bone01 are where z and -y were, and the x and y axes of hip
 * where y and -x were. The inverse bind matrices, column by column, contain this and the bones'
 * positions.
 */
static const float matrices[] = {1, 0,  0, 0, 0, 0, -1, 0, 0, 1, 0, 0, 0,  0, 0, 1,
				 0, -1, 0, 0, 1, 0, 0,  0, 0, 0, 1, 0, -1, 0, 0, 1};

/*
 * The data after the file's three times: the positions of hip in three frames, then the matrices.
 */
static float values[9 + ARRAY_SIZE(matrices)];
static float *const places = values, *const binds = values + 9;
static struct skeleton *skeleton;

static void setup(void)
{
	s = sample_open("wiki512.canm");
	at = sample_shown(&s, 0, NULL);
	skeleton = read_skeleton(text);
	at.skeleton = skeleton;
	gltf = gltf_hip();
	for (size_t i = 0; i < 9; i++)
		places[i] = get_f32(gltf.data.data + 4 * (3 + i));
	memcpy(binds, matrices, sizeof(matrices));
	gltf.nodes = "[{\"name\": \"hip\"}, {\"name\": \"Bone01\", \"children\": [0]}, {\"name\": "
		     "\"Armature\", \"children\": [1]}]";
	gltf.skins = "[{\"joints\": [1, 0], \"inverseBindMatrices\": 2}]";
	gltf.views = "[{\"buffer\": 0, \"byteLength\": 176}]";
	gltf.accessors =
		"[{\"bufferView\": 0, \"componentType\": 5126, \"count\": 3, \"type\": "
		"\"SCALAR\"}, {\"bufferView\": 0, \"byteOffset\": 12, \"componentType\": 5126, "
		"\"count\": 3, \"type\": \"VEC3\"}, {\"bufferView\": 0, \"byteOffset\": 48, "
		"\"componentType\": 5126, \"count\": 2, \"type\": \"MAT4\"}]";
}

static void teardown(void)
{
	buf_release(&gltf.data);
	skeleton_free(skeleton);
	sample_close(&s);
}

static void store_values(void)
{
	gltf.data.size = 4 * 3;
	for (size_t i = 0; i < ARRAY_SIZE(values); i++)
		buf_f32(&gltf.data, values[i]);
}

static struct anim *apply(void)
{
	store_values();
	return gltf_apply();
}

/* Converts positions to the new axes of Bone01: x, z, -y. */
static void turn_places(void)
{
	for (float *v = places; v < places + 9; v += 3) {
		float y = v[1];

		v[1] = v[2];
		v[2] = -y;
	}
}

static void assert_same(void)
{
	struct anim *edited = apply();

	ck_assert(model_same(edited, s.anim));
	anim_free(edited);
}

START_TEST(places_are_turned_back)
{
	struct anim *edited;

	turn_places();
	assert_same();
	places[3 + 1] = 7;
	edited = apply();
	ck_assert_double_eq_tol(hip_value(edited, 1, 2), 7, 1e-12);
	ck_assert(f64_same(hip_value(edited, 1, 1), hip_value(s.anim, 1, 1)));
	anim_free(edited);
}
END_TEST

/* The armature is moved, rotated and scaled, and the matrices with it. */
START_TEST(what_holds_the_bones_makes_no_difference)
{
	gltf.nodes = "[{\"name\": \"hip\"}, {\"name\": \"Bone01\", \"children\": [0]}, {\"name\": "
		     "\"Armature\", \"children\": [1], \"translation\": [4, 0, 0], \"rotation\": "
		     "[0, 0, 0.70710678, 0.70710678], \"scale\": [2, 2, 2]}]";
	for (unsigned joint = 0; joint < 2; joint++) {
		float *m = binds + (size_t)16 * joint;
		float was[16];

		/* m * T(4 0 0)^-1, rotated by -90 degrees about z, and half as large */
		memcpy(was, m, sizeof(was));
		for (unsigned row = 0; row < 3; row++) {
			m[row] = -was[4 + row] / 2;
			m[4 + row] = was[row] / 2;
			m[8 + row] = was[8 + row] / 2;
			m[12 + row] = was[12 + row] - 4 * m[row];
		}
	}
	turn_places();
	assert_same();
}
END_TEST

START_TEST(scales_are_in_their_order_again)
{
	static const float scales[] = {2, 1, 1, 2, 1, 1, 2, 1, 1};
	struct anim *edited;
	const struct curve *c;

	memcpy(places, scales, sizeof(scales));
	gltf.animations = "[{\"channels\": [{\"sampler\": 0, \"target\": {\"node\": 0, \"path\": "
			  "\"scale\"}}], \"samplers\": [" GLTF_SAMPLER "]}]";
	edited = apply();
	c = edited->clips[0].tracks[2].curve[ROLE_SCALE];
	ck_assert_double_eq_tol(curve_value(c, 0, 0), 1, 1e-12);
	ck_assert_double_eq_tol(curve_value(c, 0, 1), 2, 1e-12);
	anim_free(edited);
}
END_TEST

/* turn(Bone01)^-1 * turn(hip) is no rotation of hip. */
START_TEST(rotations_are_turned_back)
{
	static const float turn[] = {-0.5f, 0.5f, 0.5f, 0.5f};
	const struct curve *c;
	struct anim *edited;

	memcpy(places, turn, sizeof(turn));
	gltf.animations = "[{\"channels\": [{\"sampler\": 0, \"target\": {\"node\": 0, \"path\": "
			  "\"rotation\"}}], \"samplers\": [" GLTF_SAMPLER "]}]";
	gltf.accessors =
		"[{\"bufferView\": 0, \"componentType\": 5126, \"count\": 1, \"type\": "
		"\"SCALAR\"}, {\"bufferView\": 0, \"byteOffset\": 12, \"componentType\": 5126, "
		"\"count\": 1, \"type\": \"VEC4\"}, {\"bufferView\": 0, \"byteOffset\": 48, "
		"\"componentType\": 5126, \"count\": 2, \"type\": \"MAT4\"}]";
	edited = apply();
	c = edited->clips[0].tracks[2].curve[ROLE_ROTATION];
	for (unsigned axis = 0; axis < 3; axis++)
		ck_assert_double_eq_tol(remainder(curve_value(c, 0, axis), 360), 0, 1e-5);
	anim_free(edited);
}
END_TEST

/* Any other rest pose was made by the user, and the bones are taken as they are. */
START_TEST(a_bone_that_is_elsewhere_is_taken_as_it_is)
{
	binds[16 + 12] = -1.1f;
	assert_same();
}
END_TEST

START_TEST(a_bone_that_is_turned_otherwise_is_taken_as_it_is)
{
	float *m = binds + 16;

	/* rotated by 30 degrees about z, and still one unit above the other bone */
	m[0] = m[5] = 0.8660254f;
	m[4] = 0.5f;
	m[1] = -0.5f;
	m[12] = -0.5f;
	m[13] = -0.8660254f;
	assert_same();
}
END_TEST

START_TEST(a_matrix_may_be_none)
{
	static const float none[] = {0, NAN, INFINITY, 1e38f};

	for (size_t i = 0; i < ARRAY_SIZE(none); i++) {
		for (unsigned k = 16; k < 32; k++)
			binds[k] = none[i];
		assert_same();
	}
}
END_TEST

START_TEST(matrices_must_be_as_many_as_joints)
{
	struct err err;

	gltf.skins = "[{\"joints\": [1, 0, 2], \"inverseBindMatrices\": 2}]";
	store_values();
	err = gltf_refuse();
	ck_assert_ptr_nonnull(strstr(err.message, "too few for 3 joints"));
}
END_TEST

Suite *gltf_rest_suite(void);

Suite *gltf_rest_suite(void)
{
	Suite *suite = suite_create("gltf_rest");
	TCase *t = tcase_create("gltf_rest");

	suite_add_tcase(suite, t);
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, places_are_turned_back);
	tcase_add_test(t, what_holds_the_bones_makes_no_difference);
	tcase_add_test(t, scales_are_in_their_order_again);
	tcase_add_test(t, rotations_are_turned_back);
	tcase_add_test(t, a_bone_that_is_elsewhere_is_taken_as_it_is);
	tcase_add_test(t, a_bone_that_is_turned_otherwise_is_taken_as_it_is);
	tcase_add_test(t, a_matrix_may_be_none);
	tcase_add_test(t, matrices_must_be_as_many_as_joints);
	return suite;
}
