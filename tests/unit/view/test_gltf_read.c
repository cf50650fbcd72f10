/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "gltf_text.h"

/* Makes a clip with frames 0 to 2, of 1/30 s each. */
static void setup(void)
{
	s = sample_open("wiki512.canm");
	at = sample_shown(&s, 0, NULL);
	gltf = gltf_hip();
}

static void teardown(void)
{
	buf_release(&gltf.data);
	sample_close(&s);
}

/* ---- accepted texts ---- */

START_TEST(a_glTF_of_another_program_is_read)
{
	struct anim *edited = gltf_apply();

	ck_assert(model_same(edited, s.anim));
	anim_free(edited);
	put_f32(gltf.data.data + 4 * (3 + 4), 1.25f);
	edited = gltf_apply();
	ck_assert_double_eq(hip_value(edited, 1, 1), 1.25);
	anim_free(edited);
}
END_TEST

START_TEST(a_binary_one_is_read)
{
	struct anim *edited;

	put_f32(gltf.data.data + 4 * (3 + 4), 1.25f);
	gltf.binary = true;
	edited = gltf_apply();
	ck_assert_double_eq(hip_value(edited, 1, 1), 1.25);
	anim_free(edited);
}
END_TEST

/* Accessors for the values, in the bytes that follow the times. */
static const struct {
	const char *accessor;
	uint8_t bytes[48];
	double x; /* the value at frame 1 */
} forms[] = {
	{"\"bufferView\": 1, \"componentType\": 5120", {0, 0, 0, 0x80, 0, 0, 0, 0, 0}, -128},
	{"\"bufferView\": 1, \"componentType\": 5120, \"normalized\": true",
	 {0, 0, 0, 0x80, 0, 0, 0, 0, 0},
	 -1},
	{"\"bufferView\": 1, \"componentType\": 5121", {0, 0, 0, 200, 0, 0, 0, 0, 0}, 200},
	{"\"bufferView\": 1, \"componentType\": 5121, \"normalized\": true",
	 {0, 0, 0, 51, 0, 0, 0, 0, 0},
	 0.2},
	{"\"bufferView\": 1, \"componentType\": 5122", {0, 0, 0, 0, 0, 0, 0xfe, 0xff}, -2},
	{"\"bufferView\": 1, \"componentType\": 5123, \"normalized\": true",
	 {0, 0, 0, 0, 0, 0, 0xff, 0xff},
	 1},
	{"\"bufferView\": 1, \"componentType\": 5125", {[12] = 0x10, [13] = 0x27}, 10000},
	{"\"bufferView\": 2, \"componentType\": 5122", {[8] = 7}, 7},
	{"\"bufferView\": 1, \"componentType\": 5122, \"byteOffset\": 2", {[8] = 9}, 9},
	{"\"componentType\": 5126, \"sparse\": {\"count\": 1, \"indices\": {\"bufferView\": 1, "
	 "\"componentType\": 5121}, \"values\": {\"bufferView\": 1, \"byteOffset\": 4}}",
	 {1, 0, 0, 0, 0, 0, 0x80, 0x3f},
	 1},
};

START_TEST(numbers_are_read_in_every_form)
{
	struct anim *edited;
	char accessors[512];

	buf_clear(&gltf.data);
	for (unsigned i = 0; i < 3; i++)
		buf_f32(&gltf.data, (float)i / 30);
	buf_add(&gltf.data, forms[_i].bytes, sizeof(forms[_i].bytes));
	snprintf(accessors, sizeof(accessors),
		 "[{\"bufferView\": 0, \"componentType\": 5126, \"count\": 3, \"type\": "
		 "\"SCALAR\"}, {%s, \"count\": 3, \"type\": \"VEC3\"}]",
		 forms[_i].accessor);
	gltf.accessors = accessors;
	gltf.views = "[{\"buffer\": 0, \"byteLength\": 12}, {\"buffer\": 0, \"byteOffset\": 12, "
		     "\"byteLength\": 48}, {\"buffer\": 0, \"byteOffset\": 12, \"byteLength\": 48, "
		     "\"byteStride\": 8}]";
	edited = gltf_apply();
	ck_assert_double_eq_tol(hip_value(edited, 1, 0), forms[_i].x, 1e-12);
	anim_free(edited);
}
END_TEST

START_TEST(the_animation_of_the_clip_is_the_one)
{
	static const char two[] =
		"[{\"name\": \"other\", \"channels\": [], \"samplers\": []}, {\"name\": \"walk\", "
		"\"channels\": [" GLTF_CHANNEL "], \"samplers\": [" GLTF_SAMPLER "]}]";
	struct anim *edited;

	put_f32(gltf.data.data + 4 * (3 + 4), 1.25f);
	gltf.animations = two;
	edited = gltf_apply();
	ck_assert_double_eq(hip_value(edited, 1, 1), 1.25);
	anim_free(edited);
	gltf.animations = "[{\"name\": \"other\", \"channels\": [" GLTF_CHANNEL
			  "], \"samplers\": [" GLTF_SAMPLER "]}]";
	edited = gltf_apply();
	ck_assert_double_eq(hip_value(edited, 1, 1), 1.25);
	anim_free(edited);
}
END_TEST

START_TEST(what_is_no_bone_counts_for_nothing)
{
	struct anim *edited;

	gltf.nodes =
		"[{\"name\": \"hip\", \"camera\": 0}, {\"name\": \"Camera\"}, {}, "
		"{\"name\": \"Scene_Root\"}, {\"name\": \"Bone01\"}, {\"name\": \"\u53f3\u624b\"}]";
	gltf.animations = "[{\"channels\": [{\"sampler\": 0, \"target\": {\"node\": 1, \"path\": "
			  "\"translation\"}}, {\"sampler\": 0, \"target\": {\"node\": 0, "
			  "\"path\": \"weights\"}}, {\"sampler\": 0, \"target\": {\"path\": "
			  "\"pointer\"}}], \"samplers\": [" GLTF_SAMPLER "]}]";
	put_f32(gltf.data.data + 4 * (3 + 4), 1.25f);
	edited = gltf_apply();
	ck_assert(model_same(edited, s.anim));
	anim_free(edited);
}
END_TEST

#define NODES_OF(name)                                                                             \
	"[{\"name\": \"" name "\"}, {\"name\": \"Scene_Root\"}, {\"name\": \"Bone01\"}, "          \
	"{\"name\": \"\u53f3\u624b\"}]"

/*
 * Programs change the names of nodes a little; what remains of the name fits one bone and one
 * animated node.
 */
START_TEST(a_name_that_is_nearly_a_bones_is_known)
{
	static const char *const names[] = {
		NODES_OF("Hip"),           NODES_OF("hip.001"),      NODES_OF("h-i_p"),
		NODES_OF("mixamorig:hip"), NODES_OF("Armature|hip"), NODES_OF("rig:HIP.012"),
	};

	put_f32(gltf.data.data + 4 * (3 + 4), 1.25f);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		struct anim *edited;

		gltf.nodes = names[i];
		edited = gltf_apply();
		ck_assert_double_eq(hip_value(edited, 1, 1), 1.25);
		anim_free(edited);
	}
}
END_TEST

/* The bone may have been removed, or be this node, so its motion must not be ignored silently. */
START_TEST(a_node_that_moves_beside_a_missing_bone_is_refused)
{
	static const char *const names[] = {
		NODES_OF("pelvis"),
		"[{\"name\": \"Hip\"}, {\"name\": \"HIP\"}, {\"name\": \"Scene_Root\"}]",
	};

	gltf.animations =
		"[{\"channels\": [" GLTF_CHANNEL ", {\"sampler\": 0, \"target\": {\"node\": 1, "
		"\"path\": \"translation\"}}], \"samplers\": [" GLTF_SAMPLER "]}]";
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		struct err err;

		gltf.nodes = names[i];
		err = gltf_refuse();
		ck_assert_int_eq(err.code, ERR_TEXT);
		ck_assert_msg(strstr(err.message, i ? "\"Hip\"" : "\"pelvis\"") &&
				      strstr(err.message, "the bone \"hip\" has no node"),
			      "%s", err.message);
	}
}
END_TEST

/* Blender 4 and other exporters may animate everything by pointers. */
START_TEST(a_pointer_is_read)
{
	struct anim *edited;

	put_f32(gltf.data.data + 4 * (3 + 4), 1.25f);
	gltf.animations = "[{\"channels\": [{\"sampler\": 0, \"target\": {\"path\": \"pointer\", "
			  "\"extensions\": {\"KHR_animation_pointer\": {\"pointer\": "
			  "\"/nodes/0/translation\"}}}}], \"samplers\": [" GLTF_SAMPLER "]}]";
	edited = gltf_apply();
	ck_assert_double_eq(hip_value(edited, 1, 1), 1.25);
	anim_free(edited);
	gltf.animations = "[{\"channels\": [{\"sampler\": 0, \"target\": {\"path\": \"pointer\", "
			  "\"extensions\": {\"KHR_animation_pointer\": {\"pointer\": "
			  "\"/nodes/7/translation\"}}}}], \"samplers\": [" GLTF_SAMPLER "]}]";
	ck_assert_ptr_nonnull(strstr(gltf_refuse().message, "there is no node"));
	gltf.animations =
		"[{\"channels\": [{\"sampler\": 0, \"target\": {\"path\": \"pointer\", "
		"\"extensions\": {\"KHR_animation_pointer\": {\"pointer\": "
		"\"/materials/0/emissiveFactor\"}}}}], \"samplers\": [" GLTF_SAMPLER "]}]";
	edited = gltf_apply();
	ck_assert(model_same(edited, s.anim));
	anim_free(edited);
}
END_TEST

#define LONG "a name of a bone that is longer than the sixty-three bytes whic"

START_TEST(a_name_that_was_cut_is_known)
{
	struct anim *longer = anim_edit(s.anim), *edited;

	anim_edit_track(longer, 0, 2)->label = LONG "h Blender keeps";
	at.anim = longer;
	gltf.nodes = "[{\"name\": \"" LONG "\"}]";
	put_f32(gltf.data.data + 4 * (3 + 4), 1.25f);
	ck_assert_uint_eq(strlen(LONG), 63);
	edited = gltf_apply();
	ck_assert_double_eq(hip_value(edited, 1, 1), 1.25);
	anim_free(edited);
	anim_edit_track(longer, 0, 1)->label = LONG "h others keep too";
	ck_assert_ptr_nonnull(strstr(gltf_refuse().message, "no node has the name"));
	anim_free(longer);
}
END_TEST

/* A mesh often has the name of the bone that it belongs to. */
START_TEST(of_two_nodes_the_joint_is_the_bone)
{
	struct anim *edited;

	gltf.nodes = "[{\"name\": \"hip\"}, {\"name\": \"hip\", \"mesh\": 0}]";
	gltf.skins = "[{\"joints\": [0]}]";
	put_f32(gltf.data.data + 4 * (3 + 4), 1.25f);
	edited = gltf_apply();
	ck_assert_double_eq(hip_value(edited, 1, 1), 1.25);
	anim_free(edited);
	gltf.nodes = "[{\"name\": \"hip\", \"mesh\": 0}, {\"name\": \"hip\"}, {\"name\": "
		     "\"Scene_Root\"}, {\"name\": \"Bone01\"}, {\"name\": \"\u53f3\u624b\"}]";
	gltf.skins = "[{\"joints\": [1]}]";
	edited = gltf_apply();
	ck_assert(model_same(edited, s.anim));
	anim_free(edited);
}
END_TEST

/* ---- refused texts ---- */

#define ACCESSOR(more) "[{\"bufferView\": 0, \"componentType\": 5126, \"count\": 3, " more "}]"
#define TIMES(more)                                                                                \
	"[{\"bufferView\": 0, \"componentType\": 5126, \"count\": 3, \"type\": \"SCALAR\"}, "      \
	"{" more "\"componentType\": 5126, \"type\": \"VEC3\"}]"
#define ANIMATION(channel, sampler) "[{\"channels\": [" channel "], \"samplers\": [" sampler "]}]"

/* The part of the text that is replaced, and the words and code of the error. */
static const struct {
	enum { NODES, SKINS, ANIMATIONS, ACCESSORS, VIEWS, BUFFERS } part;
	const char *text, *words;
	enum err_code code;
} faults[] = {
	{NODES, "{}", "a list", ERR_TEXT},
	{NODES, "[1]", "an object", ERR_TEXT},
	{NODES, "[]", "hip", ERR_TEXT},
	{NODES, "[{\"name\": \"Leg\"}]", "Scene_Root, Bone01, hip", ERR_TEXT},
	{NODES, "[{\"name\": \"hip\"}, {\"name\": \"hip\"}]", "two nodes", ERR_TEXT},
	{NODES, "[{\"name\": 5}]", "a text", ERR_TEXT},
	{NODES, "[{\"name\": \"hip\", \"children\": [1]}]", "0 to 0", ERR_TEXT},
	{NODES, "[{\"name\": \"hip\", \"children\": [0, 0]}]", "has two parents", ERR_TEXT},
	{SKINS, "[{\"joints\": [7]}]", "0 to 0", ERR_TEXT},
	{SKINS, "[{\"joints\": 7}]", "a list", ERR_TEXT},
	{SKINS, "[{\"joints\": [0], \"inverseBindMatrices\": 0}]", "16", ERR_TEXT},
	{ANIMATIONS, "[]", "no animation", ERR_TEXT},
	{ANIMATIONS, "5", "a list", ERR_TEXT},
	{ANIMATIONS, "[{\"name\": \"a\"}, {\"name\": \"b\"}]", "\"a\", \"b\"", ERR_TEXT},
	{ANIMATIONS, "[{\"channels\": [], \"samplers\": 1}]", "a list", ERR_TEXT},
	{ANIMATIONS, ANIMATION(GLTF_CHANNEL ", " GLTF_CHANNEL, GLTF_SAMPLER), "twice", ERR_TEXT},
	{ANIMATIONS,
	 ANIMATION("{\"sampler\": 1, \"target\": {\"node\": 0, \"path\": "
		   "\"translation\"}}",
		   GLTF_SAMPLER),
	 "0 to 0", ERR_TEXT},
	{ANIMATIONS,
	 ANIMATION("{\"sampler\": 0, \"target\": {\"node\": -1, \"path\": "
		   "\"translation\"}}",
		   GLTF_SAMPLER),
	 "0 to 0", ERR_TEXT},
	{ANIMATIONS,
	 ANIMATION("{\"sampler\": 0, \"target\": {\"node\": 0, \"path\": "
		   "\"rotation\"}}",
		   GLTF_SAMPLER),
	 "and not 4", ERR_TEXT},
	{ANIMATIONS, ANIMATION(GLTF_CHANNEL, "{\"input\": 1, \"output\": 1}"), "and not 1",
	 ERR_TEXT},
	{ANIMATIONS, ANIMATION(GLTF_CHANNEL, "{\"input\": 0, \"output\": 2}"), "0 to 1", ERR_TEXT},
	{ANIMATIONS, ANIMATION(GLTF_CHANNEL, "{\"input\": 0}"), "missing", ERR_TEXT},
	{ANIMATIONS,
	 ANIMATION(GLTF_CHANNEL, "{\"input\": 0, \"output\": 1, \"interpolation\": \"SMOOTH\"}"),
	 "CUBICSPLINE", ERR_TEXT},
	{ANIMATIONS,
	 ANIMATION(GLTF_CHANNEL,
		   "{\"input\": 0, \"output\": 1, \"interpolation\": \"CUBICSPLINE\"}"),
	 "9 are needed", ERR_TEXT},
	{ACCESSORS, "7", "a list", ERR_TEXT},
	{ACCESSORS, ACCESSOR("\"type\": \"VEC5\""), "VEC5", ERR_TEXT},
	{ACCESSORS, TIMES("\"bufferView\": 0, \"count\": 5,"), "past the end", ERR_TEXT},
	{ACCESSORS, TIMES("\"bufferView\": 0, \"byteOffset\": 4294967295, \"count\": 3,"),
	 "past the end", ERR_TEXT},
	{ACCESSORS, TIMES("\"bufferView\": 0, \"count\": 4294967295,"), "too many", ERR_TEXT},
	{ACCESSORS, TIMES("\"bufferView\": 0, \"count\": 0,"), "cannot be 0", ERR_TEXT},
	{ACCESSORS, TIMES("\"bufferView\": 1, \"count\": 3,"), "0 to 0", ERR_TEXT},
	{ACCESSORS, TIMES("\"bufferView\": 0, \"byteOffset\": 8, \"count\": 2,"), "are needed",
	 ERR_TEXT},
	{ACCESSORS, TIMES("\"count\": 3, \"sparse\": {\"count\": 4},"), "missing", ERR_TEXT},
	{ACCESSORS,
	 TIMES("\"count\": 3, \"sparse\": {\"count\": 4, \"indices\": {\"bufferView\": 0, "
	       "\"componentType\": 5121}, \"values\": {\"bufferView\": 0}},"),
	 "cannot be 4", ERR_TEXT},
	{ACCESSORS,
	 TIMES("\"count\": 3, \"sparse\": {\"count\": 1, \"indices\": {\"bufferView\": 0, "
	       "\"byteOffset\": 47, \"componentType\": 5121}, \"values\": {\"bufferView\": 0}},"),
	 "not below 3", ERR_TEXT},
	{ACCESSORS,
	 TIMES("\"count\": 3, \"sparse\": {\"count\": 1, \"indices\": {\"componentType\": 5121}, "
	       "\"values\": {\"bufferView\": 0}},"),
	 "no indices", ERR_TEXT},
	{VIEWS, "[]", "out of range", ERR_TEXT},
	{VIEWS, "[{\"buffer\": 1, \"byteLength\": 48}]", "0 to 0", ERR_TEXT},
	{VIEWS, "[{\"buffer\": 0, \"byteLength\": 49}]", "its buffer", ERR_TEXT},
	{VIEWS, "[{\"buffer\": 0, \"byteOffset\": 1, \"byteLength\": 48}]", "its buffer", ERR_TEXT},
	{VIEWS, "[{\"buffer\": 0, \"byteLength\": 48, \"byteStride\": 2}]", "past the end",
	 ERR_TEXT},
	{BUFFERS, "[]", "out of range", ERR_TEXT},
	{BUFFERS, "[{\"byteLength\": 48}]", "no bytes", ERR_TEXT},
	{BUFFERS, "[{\"byteLength\": 48}], \"extensionsUsed\": [\"EXT_meshopt_compression\"]",
	 "without EXT_meshopt_compression", ERR_TEXT},
	{BUFFERS, "[{\"byteLength\": 48, \"uri\": \"clip.bin\"}]", "glTF Embedded", ERR_TEXT},
	{BUFFERS, "[{\"byteLength\": 1, \"uri\": \"data:a/b;base64,A*==\"}]", "not base64",
	 ERR_TEXT},
	{BUFFERS, "[{\"byteLength\": 9, \"uri\": \"data:a/b;base64,AAAA\"}]", "3 bytes", ERR_TEXT},
};

START_TEST(faults_are_told)
{
	const char **const parts[] = {&gltf.nodes,     &gltf.skins, &gltf.animations,
				      &gltf.accessors, &gltf.views, &gltf.buffers};
	struct err err;

	*parts[faults[_i].part] = faults[_i].text;
	err = gltf_refuse();
	ck_assert_int_eq(err.code, faults[_i].code);
	ck_assert_msg(strstr(err.message, faults[_i].words) ||
			      strstr(err.accepted, faults[_i].words),
		      "\"%s\" is not in \"%s\" (%s)", faults[_i].words, err.message, err.accepted);
	ck_assert(err.placed && err.at > 0);
	gltf.binary = faults[_i].part != BUFFERS;
	err = gltf_refuse();
	ck_assert(err.placed != gltf.binary);
}
END_TEST

static void refused_value(size_t number, float value, const char *words)
{
	struct err err;

	put_f32(gltf.data.data + 4 * number, value);
	err = gltf_refuse();
	ck_assert_msg(strstr(err.message, words) != NULL, "%s", err.message);
}

START_TEST(times_must_be_ones)
{
	refused_value(1, NAN, "not a finite number");
	refused_value(1, -1, "less than the one before");
}
END_TEST

START_TEST(values_must_be_finite)
{
	refused_value(5, INFINITY, "element 0");
}
END_TEST

START_TEST(rotations_must_be_ones)
{
	struct err err;

	gltf.animations = ANIMATION("{\"sampler\": 0, \"target\": {\"node\": 0, \"path\": "
				    "\"rotation\"}}",
				    GLTF_SAMPLER);
	gltf.accessors = "[{\"bufferView\": 0, \"componentType\": 5126, \"count\": 1, \"type\": "
			 "\"SCALAR\"}, {\"bufferView\": 0, \"byteOffset\": 16, "
			 "\"componentType\": 5126, \"count\": 1, \"type\": \"VEC4\"}]";
	err = gltf_refuse();
	ck_assert_ptr_nonnull(strstr(err.message, "has length 2.5"));
}
END_TEST

/* An animated ancestor would move the bones, too, which no curve can store. */
START_TEST(what_bones_hang_from_must_not_move)
{
	struct anim *edited;
	struct err err;

	gltf.nodes = "[{\"name\": \"Armature\", \"children\": [1]}, {\"name\": \"hip\"}]";
	err = gltf_refuse();
	ck_assert_int_eq(err.code, ERR_STORE);
	ck_assert_ptr_nonnull(strstr(err.message, "\"Armature\" moves"));
	for (unsigned i = 3; i < 12; i++)
		put_f32(gltf.data.data + (size_t)4 * i, 5);
	edited = gltf_apply();
	ck_assert(model_same(edited, s.anim));
	anim_free(edited);
}
END_TEST

/* ---- at another frame rate ---- */

#define RATE_ACCESSORS(values)                                                                     \
	"[{\"bufferView\": 0, \"componentType\": 5126, \"count\": 4, \"type\": \"SCALAR\"}, "      \
	"{\"bufferView\": 1, \"componentType\": 5126, \"count\": " values ", \"type\": \"VEC3\"}]"

/* Writes keys at 0, 1/50, 2/50 and 3/50 s, of which only the first is at a frame of 1/30 s. */
static void write_at_50(const char *interpolation)
{
	static char animations[256];
	unsigned parts = interpolation[0] == 'C' ? 3 : 1;

	buf_clear(&gltf.data);
	for (unsigned i = 0; i < 4; i++)
		buf_f32(&gltf.data, (float)i / 50);
	for (unsigned i = 0; i < 4 * 3 * parts; i++)
		buf_f32(&gltf.data, (float)i);
	snprintf(animations, sizeof(animations),
		 ANIMATION(GLTF_CHANNEL, "{\"input\": 0, "
					 "\"output\": 1, \"interpolation\": \"%s\"}"),
		 interpolation);
	gltf.animations = animations;
	gltf.accessors = parts == 1 ? RATE_ACCESSORS("4") : RATE_ACCESSORS("12");
	if (parts == 1)
		gltf.views = "[{\"buffer\": 0, \"byteLength\": 16}, {\"buffer\": 0, "
			     "\"byteOffset\": 16, \"byteLength\": 48}]";
	else
		gltf.views = "[{\"buffer\": 0, \"byteLength\": 16}, {\"buffer\": 0, "
			     "\"byteOffset\": 16, \"byteLength\": 144}]";
}

START_TEST(keys_of_another_rate_are_refused)
{
	struct buf json;
	struct err err;

	write_at_50("LINEAR");
	err = gltf_refuse();
	ck_assert_int_eq(err.code, ERR_TEXT);
	ck_assert_ptr_nonnull(strstr(err.message, "(accessor 0) were written at 50 frames a "
						  "second, and the clip has 30: 3 of 4 keys"));
	ck_assert_ptr_nonnull(strstr(err.accepted, "30 frames a second: in Blender, set that under "
						   "Output Properties > Frame Rate"));
	ck_assert_ptr_nonnull(strstr(err.accepted, "--gltf-rate=resample"));
	json = gltf_json();
	ck_assert(err.placed);
	ck_assert_ptr_eq(json.data + err.at, strstr((char *)json.data, "{\"bufferView\": 0"));
	buf_release(&json);
	gltf.binary = true;
	ck_assert(!gltf_refuse().placed);
}
END_TEST

START_TEST(or_taken_where_that_is_asked_for)
{
	struct anim *edited;

	write_at_50("LINEAR");
	at.style.resample = true;
	edited = gltf_apply();
	/* Frame 1 is at 1/30 s, two thirds of the way from the second key to the third. */
	ck_assert_double_eq_tol(hip_value(edited, 1, 0), 5, 1e-4);
	anim_free(edited);
	/*
	 * A text that the mount rendered earlier is accepted, too: it never counts as one of
	 * another rate.
	 */
	at.style.resample = false;
	at.as_rendered = true;
	anim_free(gltf_apply());
}
END_TEST

/* A spline defines the values between its keys, so these may be anywhere. */
START_TEST(a_spline_may_have_any_keys)
{
	write_at_50("CUBICSPLINE");
	anim_free(gltf_apply());
}
END_TEST

/* ---- half of it ---- */

START_TEST(what_ends_early_is_told_from_what_is_wrong)
{
	struct buf whole;
	bool binary = _i;

	gltf.binary = binary;
	whole = gltf_text();
	for (size_t size = binary ? 4 : 1; size < whole.size; size++) {
		uint8_t *cut = malloc(size);
		struct err err = {0};

		ck_assert_ptr_nonnull(cut);
		memcpy(cut, whole.data, size);
		ck_assert_ptr_null(view_gltf.parse(&at, (struct bytes){cut, size}, &err));
		ck_assert_msg(err.code == ERR_EARLY, "%zu bytes: %s", size, err.message);
		free(cut);
	}
	buf_release(&whole);
}
END_TEST

START_TEST(any_byte_may_be_another)
{
	struct buf whole;

	gltf.binary = true;
	whole = gltf_text();
	for (size_t i = 0; i < whole.size; i++)
		for (unsigned bit = 0; bit < 8; bit++) {
			whole.data[i] ^= (uint8_t)(1u << bit);
			anim_free(view_gltf.parse(&at, buf_bytes(&whole), NULL));
			whole.data[i] ^= (uint8_t)(1u << bit);
		}
	buf_release(&whole);
}
END_TEST

START_TEST(a_binary_one_begins_with_its_JSON)
{
	static const struct {
		size_t place;
		const char *words;
	} places[] = {{4, "version 2"}, {16, "begin with its JSON"}};
	struct err err = {0};
	struct buf whole;

	gltf.binary = true;
	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		whole = gltf_text();
		whole.data[places[i].place] ^= 1;
		err_clear(&err);
		ck_assert_ptr_null(view_gltf.parse(&at, buf_bytes(&whole), &err));
		ck_assert_ptr_nonnull(strstr(err.message, places[i].words));
		buf_release(&whole);
	}
}
END_TEST

/* ---- our own ---- */

static void assert_unchanged(const struct sample *one, uint32_t clip)
{
	struct shown shown = sample_shown(one, clip, NULL);
	struct err err = {0};
	struct anim *edited;
	struct buf text;

	if (!view_gltf.present(&shown))
		return;
	text = view_text(&view_gltf, &shown);
	edited = view_gltf.parse(&shown, buf_bytes(&text), &err);
	ck_assert_msg(edited != NULL, "%s: %s", one->name, err.message);
	ck_assert_msg(model_same(edited, one->anim), "%s", one->name);
	anim_free(edited);
	buf_release(&text);
}

START_TEST(own_texts_change_nothing)
{
	for (const char *const *name = sample_names; *name; name++) {
		struct sample one = sample_open(*name);

		for (uint32_t clip = 0; clip < one.anim->clip_count; clip++)
			assert_unchanged(&one, clip);
		sample_close(&one);
	}
}
END_TEST

Suite *gltf_read_suite(void);

Suite *gltf_read_suite(void)
{
	Suite *suite = suite_create("gltf_read");
	TCase *t = tcase_create("gltf_read");

	suite_add_tcase(suite, t);
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, a_glTF_of_another_program_is_read);
	tcase_add_test(t, a_binary_one_is_read);
	tcase_add_loop_test(t, numbers_are_read_in_every_form, 0, ARRAY_SIZE(forms));
	tcase_add_test(t, the_animation_of_the_clip_is_the_one);
	tcase_add_test(t, what_is_no_bone_counts_for_nothing);
	tcase_add_test(t, a_name_that_is_nearly_a_bones_is_known);
	tcase_add_test(t, a_node_that_moves_beside_a_missing_bone_is_refused);
	tcase_add_test(t, a_pointer_is_read);
	tcase_add_test(t, a_name_that_was_cut_is_known);
	tcase_add_test(t, of_two_nodes_the_joint_is_the_bone);
	tcase_add_loop_test(t, faults_are_told, 0, ARRAY_SIZE(faults));
	tcase_add_test(t, times_must_be_ones);
	tcase_add_test(t, values_must_be_finite);
	tcase_add_test(t, rotations_must_be_ones);
	tcase_add_test(t, what_bones_hang_from_must_not_move);
	tcase_add_test(t, keys_of_another_rate_are_refused);
	tcase_add_test(t, or_taken_where_that_is_asked_for);
	tcase_add_test(t, a_spline_may_have_any_keys);
	tcase_add_loop_test(t, what_ends_early_is_told_from_what_is_wrong, 0, 2);
	tcase_add_test(t, any_byte_may_be_another);
	tcase_add_test(t, a_binary_one_begins_with_its_JSON);
	tcase_add_test(t, own_texts_change_nothing);
	return suite;
}
