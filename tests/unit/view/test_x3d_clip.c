/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "odd.h"

#include <libxml/parser.h>
#include <libxml/tree.h>

static struct sample s;
static struct shown at;
static struct skeleton *skeleton;

static void setup(void)
{
	s = sample_open("wiki512.canm");
	at = sample_shown(&s, 0, NULL);
	skeleton = read_skeleton(odd_skeleton);
}

static void teardown(void)
{
	skeleton_free(skeleton);
	sample_close(&s);
}

/* ---- an X3D, taken apart ---- */

#define IDS 4096

struct x3d {
	xmlDoc *doc;
	xmlNode *ids[IDS]; /* the nodes that have a DEF */
	size_t count;
};

static const char *attribute(const xmlNode *node, const char *name)
{
	const xmlAttr *a = xmlHasProp(node, (const xmlChar *)name);

	ck_assert_msg(a != NULL, "%s has no %s", (const char *)node->name, name);
	return (const char *)a->children->content;
}

static const char *def(const xmlNode *node)
{
	return xmlHasProp(node, (const xmlChar *)"DEF") ? attribute(node, "DEF") : "";
}

static bool is_element(const xmlNode *node, const char *name)
{
	return strcmp((const char *)node->name, name) == 0;
}

static xmlNode *find(const struct x3d *x, const char *id)
{
	for (size_t i = 0; i < x->count; i++)
		if (strcmp(def(x->ids[i]), id) == 0)
			return x->ids[i];
	return NULL;
}

/* Collects the DEFs. Each must be a valid and unique XML ID. */
static void collect(struct x3d *x, xmlNode *node)
{
	for (; node; node = node->next) {
		if (node->type == XML_ELEMENT_NODE && *def(node)) {
			ck_assert_int_eq(xmlValidateNCName((const xmlChar *)def(node), 0), 0);
			ck_assert_ptr_null(find(x, def(node)));
			ck_assert_uint_lt(x->count, IDS);
			x->ids[x->count++] = node;
		}
		collect(x, node->children);
	}
}

static struct x3d x3d_read(const struct shown *shown)
{
	struct buf text = view_text(&view_x3d_clip, shown);
	struct x3d x = {.count = 0};

	x.doc = xmlReadMemory((const char *)text.data, (int)text.size, NULL, NULL,
			      XML_PARSE_NONET | XML_PARSE_HUGE);
	ck_assert_ptr_nonnull(x.doc);
	ck_assert(!strstr((const char *)text.data, "nan") &&
		  !strstr((const char *)text.data, "inf"));
	buf_release(&text);
	collect(&x, xmlDocGetRootElement(x.doc));
	return x;
}

static void x3d_free(struct x3d *x)
{
	xmlFreeDoc(x->doc);
}

static double *numbers(const char *text, size_t *count)
{
	double *out = malloc((strlen(text) + 1) * sizeof(*out));

	*count = 0;
	while (*(text += strspn(text, " ,"))) {
		char *end;

		out[*count] = strtod(text, &end);
		ck_assert(end != text && isfinite((float)out[(*count)++]));
		text = end;
	}
	return out;
}

/* Checks the value of a role; a rotation's axis and angle are compared as a quaternion. */
static void assert_value(const double *v, enum role role, const struct pose *pose)
{
	const double *want = role == ROLE_SCALE ? pose->scale : pose->translation;
	double dot = cos(v[3] / 2) * pose->rotation[3], length = 0;

	if (role != ROLE_ROTATION) {
		for (unsigned axis = 0; axis < 3; axis++)
			ck_assert_float_eq((float)v[axis],
					   (float)fmin(fmax(want[axis], -1e30), 1e30));
		return;
	}
	for (unsigned axis = 0; axis < 3; axis++) {
		dot += v[axis] * sin(v[3] / 2) * pose->rotation[axis];
		length += v[axis] * v[axis];
	}
	ck_assert_double_eq_tol(length, 1, 1e-6);
	ck_assert_double_eq_tol(fabs(dot), 1, 1e-6);
}

/* ---- rules for every scene ---- */

/* Checks the routes from the clock to the interpolator, and from there to the Transform. */
static void assert_routed(const struct x3d *x, const char *interpolator, const char *bone,
			  const char *role)
{
	xmlNode *scene = xmlDocGetRootElement(x->doc)->children;
	unsigned in = 0, out = 0;

	for (const xmlNode *node = scene->children; node; node = node->next) {
		if (!is_element(node, "ROUTE"))
			continue;
		if (strcmp(attribute(node, "toNode"), interpolator) == 0) {
			ck_assert_str_eq(attribute(node, "fromNode"), "clock");
			ck_assert_str_eq(attribute(node, "fromField"), "fraction_changed");
			ck_assert_str_eq(attribute(node, "toField"), "set_fraction");
			in++;
		} else if (strcmp(attribute(node, "fromNode"), interpolator) == 0) {
			ck_assert_str_eq(attribute(node, "toNode"), bone);
			ck_assert_str_eq(attribute(node, "fromField"), "value_changed");
			ck_assert_str_eq(attribute(node, "toField"), role);
			out++;
		}
	}
	ck_assert_uint_eq(in, 1);
	ck_assert_uint_eq(out, 1);
}

static void assert_route(const struct x3d *x, const char *from, const char *out, const char *to,
			 const char *in)
{
	xmlNode *scene = xmlDocGetRootElement(x->doc)->children;
	unsigned count = 0;

	for (const xmlNode *node = scene->children; node; node = node->next)
		count += is_element(node, "ROUTE") &&
			 strcmp(attribute(node, "fromNode"), from) == 0 &&
			 strcmp(attribute(node, "fromField"), out) == 0 &&
			 strcmp(attribute(node, "toNode"), to) == 0 &&
			 strcmp(attribute(node, "toField"), in) == 0;
	ck_assert_uint_eq(count, 1);
}

static bool says_frame_once(const struct curve *c, uint32_t frame)
{
	unsigned count = 0;

	for (uint32_t i = 0; i < c->count; i++)
		count += curve_frame(c, i) == frame;
	return count == 1;
}

static void assert_axes_near(const double *a, const double *b)
{
	ck_assert_double_ge(a[0] * b[0] + a[1] * b[1] + a[2] * b[2], -1e-6);
}

/*
 * Checks that every key's value is that of the pose, and that a key that holds is repeated right
 * before the next one.
 */
static void assert_interpolator(const struct shown *shown, const struct rig *rig,
				const xmlNode *node, uint32_t track, enum role role)
{
	const struct clip *clip = &shown->anim->clips[shown->clip];
	const struct curve *c = clip->tracks[track].curve[role];
	size_t width = role == ROLE_ROTATION ? 4 : 3, count, value_count;
	double *keys = numbers(attribute(node, "key"), &count);
	double *values = numbers(attribute(node, "keyValue"), &value_count);

	ck_assert_uint_eq(value_count, count * width);
	for (size_t key = 0; key < count; key++) {
		uint32_t frame = (uint32_t)lrint(keys[key] * (clip->frames - 1));
		struct pose pose = rig_pose(rig, clip, track, frame);
		bool holds = key + 1 < count && keys[key + 1] == keys[key];

		ck_assert(keys[key] >= 0 && keys[key] <= 1);
		ck_assert(key == 0 || keys[key] > keys[key - 1] ||
			  (c->interpolation == INTERPOLATION_STEP && keys[key] == keys[key - 1]));
		if (holds)
			for (size_t axis = 0; axis < width; axis++)
				ck_assert(values[key * width + axis] ==
					  values[(key - 1) * width + axis]);
		else if (says_frame_once(c, frame))
			assert_value(&values[key * width], role, &pose);
		if (role == ROLE_ROTATION && key > 0)
			assert_axes_near(&values[key * width - width], &values[key * width]);
	}
	free(keys);
	free(values);
}

static void assert_bone(const struct x3d *x, const struct shown *shown, const struct rig *rig,
			uint32_t track, const xmlNode *bone)
{
	const struct clip *clip = &shown->anim->clips[shown->clip];
	const char *name = strchr(def(bone), '_') + 1;
	struct pose pose = rig_pose(rig, clip, track, 0);

	for (unsigned role = 0; role < ROLE_COUNT; role++) {
		const struct curve *c = clip->tracks[track].curve[role];
		xmlNode *moved;
		size_t count;
		double *v = numbers(attribute(bone, role_names[role]), &count);
		char id[400];

		ck_assert_uint_eq(count, role == ROLE_ROTATION ? 4 : 3);
		if (!c || !c->frames)
			assert_value(v, (enum role)role, &pose);
		snprintf(id, sizeof(id), "%s_%s", role_names[role], name);
		moved = find(x, id);
		if (moved) {
			assert_interpolator(shown, rig, moved, track, (enum role)role);
			assert_routed(x, id, def(bone), role_names[role]);
		} else {
			ck_assert(!c || curve_shown(c, clip->frames) < 2 || c->frames);
		}
		free(v);
	}
}

/*
 * Checks that bones are inside their parents in the order of their tracks, followed by bones that
 * only the skeleton has.
 */
static uint32_t assert_bones(const struct x3d *x, const struct shown *shown, const struct rig *rig)
{
	const struct clip *clip = &shown->anim->clips[shown->clip];
	uint32_t transforms = 0;

	for (size_t i = 0; i < x->count; i++)
		transforms += is_element(x->ids[i], "Transform");
	ck_assert_uint_ge(transforms, clip->track_count);
	for (uint32_t track = 0; track < clip->track_count; track++) {
		char id[400];
		xmlNode *bone;

		snprintf(id, sizeof(id), "bone_%s", clip->tracks[track].label);
		bone = find(x, id);
		for (size_t i = 0; !bone && i < x->count; i++) {
			snprintf(id, sizeof(id), "bone_%u_", (unsigned)track);
			if (strncmp(def(x->ids[i]), id, strlen(id)) == 0)
				bone = x->ids[i];
		}
		ck_assert_ptr_nonnull(bone);
		assert_bone(x, shown, rig, track, bone);
	}
	return transforms;
}

static uint32_t assert_sound(const struct shown *shown)
{
	struct arena arena = ARENA_INIT;
	const struct clip *clip = &shown->anim->clips[shown->clip];
	const struct rig *rig = rig_make(shown->skeleton, clip, &arena);
	struct x3d x = x3d_read(shown);
	double cycle = strtod(attribute(find(&x, "clock"), "cycleInterval"), NULL);
	uint32_t steps = clip->frames > 1 ? clip->frames - 1 : 1, transforms;

	ck_assert_float_eq((float)cycle,
			   (float)(steps * anim_seconds_per_frame(shown->anim, clip)));
	ck_assert_str_eq(attribute(find(&x, "clock"), "loop"), clip->loop ? "true" : "false");
	transforms = assert_bones(&x, shown, rig);
	x3d_free(&x);
	arena_release(&arena);
	return transforms;
}

START_TEST(every_sample_moves_as_it_should)
{
	unsigned count = 0;

	for (const char *const *name = sample_names; *name; name++) {
		struct sample one = sample_open(*name);
		struct shown shown = sample_shown(&one, 0, NULL);

		for (; shown.clip < one.anim->clip_count; shown.clip++) {
			if (!view_x3d_clip.present(&shown))
				continue;
			ck_assert_uint_eq(assert_sound(&shown),
					  one.anim->clips[shown.clip].track_count);
			count++;
		}
		sample_close(&one);
	}
	ck_assert_uint_gt(count, ARRAY_SIZE(sample_names));
}
END_TEST

START_TEST(a_skeleton_nests_the_bones)
{
	struct x3d x;

	at.skeleton = skeleton;
	ck_assert_uint_eq(assert_sound(&at), 5);
	x = x3d_read(&at);
	ck_assert_str_eq(def(find(&x, "bone_hip")->parent), "bone_mid");
	ck_assert_str_eq(def(find(&x, "bone_mid")->parent), "bone_Bone01");
	ck_assert_str_eq(def(find(&x, "bone_Bone01")->parent), "bone_Scene_Root");
	ck_assert_str_eq(attribute(find(&x, "bone_mid"), "translation"), "0 2 0");
	ck_assert_str_eq(attribute(find(&x, "bone_mid"), "rotation"), "0 0 1 1.5707964");
	x3d_free(&x);
}
END_TEST

START_TEST(ids_are_words_of_their_own)
{
	static const char *const labels[] = {"a\"<&>'", "a______", "0_x", "translation_a______"};
	struct anim *odd = anim_edit(s.anim);
	struct x3d x;

	for (uint32_t track = 0; track < ARRAY_SIZE(labels); track++)
		anim_edit_track(odd, 0, track)->label = labels[track];
	at.anim = odd;
	assert_sound(&at);
	x = x3d_read(&at);
	ck_assert_ptr_nonnull(find(&x, "bone_0_a_____"));
	ck_assert_ptr_nonnull(find(&x, "bone_a______"));
	ck_assert_ptr_nonnull(find(&x, "bone_2_0_x"));
	x3d_free(&x);
	anim_free(odd);
}
END_TEST

START_TEST(what_is_stored_may_be_anything)
{
	struct curve vectors = odd_curve(CURVE_VECTOR, 5, odd_numbers);
	struct curve euler = odd_curve(CURVE_EULER, 5, odd_numbers);
	struct curve quaternions = odd_curve(CURVE_QUATERNION, 5, odd_quaternions);
	const struct curve *const curves[][ROLE_COUNT] = {{&vectors, &euler, &vectors},
							  {&vectors, &quaternions, &vectors}};

	for (size_t i = 0; i < ARRAY_SIZE(curves); i++) {
		struct anim *odd = odd_model(&s, 5, curves[i]);

		at.anim = odd;
		at.skeleton = i == 1 ? skeleton : NULL;
		assert_sound(&at);
		anim_free(odd);
	}
}
END_TEST

/* In a rotation through a whole turn, the axis stays and the angle grows. */
START_TEST(the_axis_does_not_turn_round)
{
	static const double values[] = {0, -120, 0, 0, 0, 0, 0, 120, 0, 0, 240, 0, 0, 350, 0};
	struct curve euler = odd_curve(CURVE_EULER, 5, values);
	const struct curve *const curves[ROLE_COUNT] = {NULL, &euler, NULL};
	struct anim *odd = odd_model(&s, 5, curves);
	struct x3d x;

	at.anim = odd;
	x = x3d_read(&at);
	ck_assert_str_eq(attribute(find(&x, "rotation_Bone01"), "keyValue"),
			 "0 1 0 -2.0943952, 0 1 0 0, 0 1 0 2.0943952, 0 1 0 4.1887903, "
			 "0 1 0 6.1086526");
	x3d_free(&x);
	anim_free(odd);
}
END_TEST

START_TEST(keys_that_hold_stand_twice)
{
	static const uint32_t frames[] = {1, 2, 4};
	static const double values[] = {1, 1, 1, 2, 2, 2, 3, 3, 3};
	struct curve curve = odd_curve(CURVE_VECTOR, 3, values);
	const struct curve *const curves[ROLE_COUNT] = {&curve};
	struct anim *odd;
	struct x3d x;

	curve.frames = frames;
	curve.interpolation = INTERPOLATION_STEP;
	odd = odd_model(&s, 5, curves);
	at.anim = odd;
	x = x3d_read(&at);
	ck_assert_str_eq(attribute(find(&x, "translation_Bone01"), "key"), "0.25 0.5 0.5 1 1");
	ck_assert_str_eq(attribute(find(&x, "translation_Bone01"), "keyValue"),
			 "1 1 1, 1 1 1, 2 2 2, 2 2 2, 3 3 3");
	x3d_free(&x);
	anim_free(odd);
}
END_TEST

/* The line to a bone that moves away from its parent ends at the bone. */
START_TEST(lines_follow_the_bones)
{
	static const double values[] = {1, 2, 3, 4, 5, 6};
	struct curve curve = odd_curve(CURVE_VECTOR, 2, values);
	const struct curve *const curves[ROLE_COUNT] = {&curve};
	struct anim *odd = odd_model(&s, 2, curves);
	struct x3d x;

	at.anim = odd;
	x = x3d_read(&at);
	ck_assert_ptr_null(find(&x, "stretch_Bone01"));
	x3d_free(&x);
	at.skeleton = skeleton;
	x = x3d_read(&at);
	ck_assert_str_eq(attribute(find(&x, "line_Bone01"), "point"), "0 0 0, 1 2 3");
	ck_assert_str_eq(attribute(find(&x, "stretch_Bone01"), "key"), "0 1");
	ck_assert_str_eq(attribute(find(&x, "stretch_Bone01"), "keyValue"),
			 "0 0 0 1 2 3, 0 0 0 4 5 6");
	assert_routed(&x, "stretch_Bone01", "line_Bone01", "point");
	ck_assert_ptr_nonnull(find(&x, "line_mid"));
	ck_assert_ptr_null(find(&x, "stretch_mid"));
	x3d_free(&x);
	anim_free(odd);
}
END_TEST

/*
 * Whether a clip loops matters: time counts from 1970, so a clock that starts at 0 and does not
 * loop has ended.
 */
START_TEST(a_clip_without_a_loop_starts_when_it_is_loaded)
{
	struct anim *odd = anim_edit(s.anim);
	struct x3d x;

	at.anim = odd;
	anim_edit_clip(odd, 0)->loop = true;
	x = x3d_read(&at);
	ck_assert_ptr_null(find(&x, "loading"));
	x3d_free(&x);
	anim_edit_clip(odd, 0)->loop = false;
	x = x3d_read(&at);
	ck_assert_str_eq(attribute(find(&x, "loading"), "loop"), "true");
	ck_assert(is_element(find(&x, "start"), "TimeTrigger"));
	assert_route(&x, "loading", "isActive", "start", "set_boolean");
	assert_route(&x, "start", "triggerTime", "clock", "startTime");
	x3d_free(&x);
	anim_free(odd);
}
END_TEST

START_TEST(a_long_clip_that_stands_still_is_short)
{
	odd_still_is_short(&s, &at, &view_x3d_clip);
}
END_TEST

START_TEST(a_clip_that_stands_still_is_sound)
{
	struct curve still = odd_curve(CURVE_VECTOR, 1, odd_numbers + 13);
	struct anim *odd = odd_model(&s, 1, (const struct curve *const[ROLE_COUNT]){&still});

	at.anim = odd;
	assert_sound(&at);
	anim_free(odd);
}
END_TEST

Suite *x3d_clip_suite(void);

Suite *x3d_clip_suite(void)
{
	Suite *suite = suite_create("x3d_clip");
	TCase *t = tcase_create("x3d_clip");

	suite_add_tcase(suite, t);
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, every_sample_moves_as_it_should);
	tcase_add_test(t, a_skeleton_nests_the_bones);
	tcase_add_test(t, ids_are_words_of_their_own);
	tcase_add_test(t, what_is_stored_may_be_anything);
	tcase_add_test(t, the_axis_does_not_turn_round);
	tcase_add_test(t, keys_that_hold_stand_twice);
	tcase_add_test(t, lines_follow_the_bones);
	tcase_add_test(t, a_clip_without_a_loop_starts_when_it_is_loaded);
	tcase_add_test(t, a_long_clip_that_stands_still_is_short);
	tcase_add_test(t, a_clip_that_stands_still_is_sound);
	return suite;
}
