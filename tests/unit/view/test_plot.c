/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_plot.c - charts. The tests read the lines as a person would: by the labels of the axes. */
#include "sample.h"
#include "view/plot.h"

#include <math.h>

static const char *const colours[] = {"#d55e00", "#009e73", "#1f86d1"};

/* ---- a clip with one curve ---- */

static struct curve curve;
static struct track track;
static struct clip clip;
static struct chart chart;

static void setup(void)
{
	curve = (struct curve){.keyed = true};
	for (unsigned axis = 0; axis < 3; axis++)
		curve.lane[axis].unit = 1;
	track = (struct track){.curve = {&curve}};
	clip = (struct clip){.frames = 10};
	chart = (struct chart){
		.clip = &clip, .width = 680, .height = 140, .columns = 680, .font = 10};
}

static void set_keys(uint32_t count, const uint32_t *frames, const double *values)
{
	curve.count = count;
	curve.frames = frames;
	curve.values = values;
}

static char *draw(enum role role)
{
	struct buf out = BUF_INIT;

	track.curve[role] = &curve;
	plot_chart(&chart, &track, role, &out);
	plot_frames(&chart, &out);
	buf_char(&out, '\0');
	ck_assert(!out.failed);
	ck_assert_uint_le(out.size, 80 * chart.columns + 20 * (size_t)chart.width + 4096);
	return (char *)out.data;
}

/* ---- reading off ---- */

/* Converts pixels to the values of an axis, by two of its labels. */
struct scale {
	double at[2], value[2];
	unsigned labels;
};

static double read_off(const struct scale *s, double at)
{
	return s->value[0] + (at - s->at[0]) * (s->value[1] - s->value[0]) / (s->at[1] - s->at[0]);
}

static double scale_error(const struct scale *s)
{
	return fabs(0.11 * (s->value[1] - s->value[0]) / (s->at[1] - s->at[0]));
}

/* Finds the first and the last label of an axis, which have the same anchor. */
static struct scale find_scale(const char *text, const char *anchor, const char *coordinate)
{
	struct scale s = {.labels = 0};

	for (const char *p = text; (p = strstr(p, "<text ")); p++) {
		const char *end = strchr(p, '>'), *at = strstr(p, coordinate);
		const char *found = strstr(p, anchor);
		char *behind;
		double value = strtod(end + 1, &behind);

		if (!found || found > end || behind == end + 1)
			continue;
		s.at[s.labels > 0] = strtod(at + strlen(coordinate), NULL);
		s.value[s.labels > 0] = value;
		s.labels++;
	}
	ck_assert_uint_gt(s.labels, 1);
	return s;
}

static struct scale values_of(const char *text)
{
	struct scale s = find_scale(text, "\"end\"", " y=\"");

	/* The position of a text is that of its base line. */
	s.at[0] -= 0.35 * chart.font;
	s.at[1] -= 0.35 * chart.font;
	return s;
}

static struct scale frames_of(const char *text)
{
	return find_scale(text, "\"middle\"", " x=\"");
}

/*
 * Returns the n-th path of an axis: 0 its lines, then held values, then markers. The caller frees
 * it.
 */
static char *path_of(const char *text, unsigned axis, const char *look)
{
	for (const char *p = text; (p = strstr(p, "<path d=\"")); p++) {
		const char *end = strstr(p, "/>");
		char *path = strndup(p, (size_t)(end - p));

		ck_assert_ptr_nonnull(path);
		if (strstr(path, colours[axis]) && strstr(path, look)) {
			char *close = strchr(path + 9, '"');

			*close = '\0';
			memmove(path, path + 9, strlen(path + 9) + 1);
			return path;
		}
		free(path);
	}
	return NULL;
}

static char *line_of(const char *text, unsigned axis)
{
	return path_of(text, axis, "fill=\"none\" stroke=\"");
}

/* Reads a path of M, implied L, H and V as points. */
static size_t read_points(const char *path, double (*out)[2], size_t limit)
{
	size_t count = 0;
	double at[2] = {0, 0};

	while (*path) {
		char *next;

		if (*path == 'H' || *path == 'V') {
			at[*path == 'V'] = strtod(path + 1, &next);
		} else if (*path == 'h') {
			next = (char *)path + 2;
			path = next;
			continue;
		} else {
			at[0] = strtod(path + 1, &next);
			ck_assert_int_eq(*next, ',');
			at[1] = strtod(next + 1, &next);
		}
		ck_assert_ptr_ne(next, path + 1);
		ck_assert_uint_lt(count, limit);
		out[count][0] = at[0];
		out[count++][1] = at[1];
		path = next;
	}
	return count;
}

static size_t count_of(const char *text, char c)
{
	size_t count = 0;

	for (; *text; text++)
		count += *text == c;
	return count;
}

/* ---- axes ---- */

START_TEST(ticks_are_round)
{
	static const struct {
		double low, high, ticks;
		bool angles;
		double step;
		int exponent;
	} axes[] = {
		{0, 1, 5, false, 0.2, 0},      {0, 0.9, 9, false, 0.1, 0},
		{-3, 3, 6, false, 1, 0},       {0, 65534, 15, false, 5000, 0},
		{-180, 180, 7, true, 90, 0},   {0, 100, 7, true, 15, 0},
		{0, 3000, 5, true, 1000, 0},   {0, 10, 5, true, 2, 0},
		{0, 3e38, 5, false, 1e38, 38}, {-2e-6, 2e-6, 4, false, 1e-6, -6},
		{0, 999999, 5, false, 2e5, 0}, {0, 1e6, 5, false, 2e5, 6},
	};

	for (size_t i = 0; i < ARRAY_SIZE(axes); i++) {
		struct axis a = axis_over(axes[i].low, axes[i].high, axes[i].ticks, axes[i].angles);

		ck_assert_msg(fabs(a.step - axes[i].step) <= 1e-9 * axes[i].step, "%zu: %g", i,
			      a.step);
		ck_assert_int_eq(a.exponent, axes[i].exponent);
		ck_assert_double_le((a.high - a.low) / a.step, axes[i].ticks * 1.00001);
	}
}
END_TEST

/* ---- lines ---- */

static void assert_points(const char *text, unsigned axis, const uint32_t *frames)
{
	struct scale values = values_of(text), times = frames_of(text);
	char *path = line_of(text, axis);
	double points[64][2];

	ck_assert_ptr_nonnull(path);
	ck_assert_uint_eq(read_points(path, points, 64), curve.count);
	for (uint32_t key = 0; key < curve.count; key++) {
		double frame = frames ? frames[key] : key;

		ck_assert_double_eq_tol(read_off(&times, points[key][0]), frame,
					scale_error(&times));
		ck_assert_double_eq_tol(read_off(&values, points[key][1]),
					curve.values[3 * key + axis], scale_error(&values));
	}
	free(path);
}

START_TEST(points_stand_where_the_axes_say)
{
	static const double values[] = {0,    -3.25, 1e3, 1,    700, 998, 4.5, 3,
					-900, 2,     0,   1000, 80,  33,  12};
	static const uint32_t frames[] = {0, 1, 5, 8, 9};

	for (int sparse = 0; sparse < 2; sparse++) {
		char *text;

		set_keys(5, sparse ? frames : NULL, values);
		clip.frames = sparse ? 10 : 5;
		text = draw(ROLE_TRANSLATION);
		for (unsigned axis = 0; axis < 3; axis++)
			assert_points(text, axis, curve.frames);
		free(text);
	}
}
END_TEST

/* Each key has a marker; the line goes through the key that counts. */
START_TEST(the_line_goes_to_the_last_key_of_a_frame)
{
	static const double values[] = {9, 0, 0, 1, 0, 0, 9, 0, 0, 5, 0, 0, 2, 0, 0};
	static const uint32_t frames[] = {1, 1, 3, 3, 5};
	static const double line[][2] = {{1, 1}, {3, 5}, {5, 2}};
	char *text, *path;
	double points[8][2];
	struct scale scale, times;

	set_keys(5, frames, values);
	clip.frames = 6;
	text = draw(ROLE_TRANSLATION);
	scale = values_of(text);
	times = frames_of(text);
	path = line_of(text, 0);
	ck_assert_uint_eq(read_points(path, points, 8), 3);
	for (unsigned i = 0; i < 3; i++) {
		ck_assert_double_eq_tol(read_off(&times, points[i][0]), line[i][0],
					scale_error(&times));
		ck_assert_double_eq_tol(read_off(&scale, points[i][1]), line[i][1],
					scale_error(&scale));
	}
	free(path);
	path = path_of(text, 0, "stroke-opacity");
	ck_assert_uint_ge(read_points(path, points, 8), 2);
	ck_assert_double_eq_tol(read_off(&scale, points[0][1]), 1, scale_error(&scale));
	free(path);
	path = path_of(text, 0, "stroke-width=\"5\"");
	ck_assert_uint_eq(count_of(path, 'M'), 5);
	free(path);
	free(text);
}
END_TEST

static void assert_labels(double low, double high, const char *label)
{
	const double values[] = {low, low, low, high, high, high};
	struct scale s;
	char *text;

	clip.frames = 2;
	set_keys(2, NULL, values);
	text = draw(ROLE_TRANSLATION);
	s = values_of(text);
	ck_assert_msg(strstr(text, label) != NULL, "no %s in %s", label, text);
	ck_assert_uint_le(s.labels, 8);
	free(text);
}

START_TEST(scales_fit_what_there_is)
{
	assert_labels(0, 0, ">0<");
	assert_labels(1.5, 1.5, ">1.5<");
	assert_labels(1000, 1000.01, ">1000.02<");
	assert_labels(-1e-7, 1e-7, "×10⁻⁷");
	assert_labels(0, 3e38, "×10³⁸");
	assert_labels(1e-300, 1e-300, ">0<");
	assert_labels(-123456, 0, ">-100000<");
}
END_TEST

/* Rounding errors must not fill the chart. */
START_TEST(noise_looks_flat)
{
	static const double values[] = {1, 1, 1, 1.0000002, 1, 1};
	double points[8][2];
	char *text, *path;

	clip.frames = 2;
	set_keys(2, NULL, values);
	text = draw(ROLE_SCALE);
	path = line_of(text, 0);
	ck_assert_uint_eq(read_points(path, points, 8), 2);
	ck_assert_double_eq_tol(points[0][1], points[1][1], 0.11);
	free(path);
	free(text);
}
END_TEST

START_TEST(what_is_not_finite_is_a_gap)
{
	static const double values[] = {0,        0, 0,     1, 0,   0, NAN, 0, 0, 2, 0,   0, 3, 0,
					INFINITY, 4, 1e300, 0, NAN, 0, 0,   5, 0, 0, NAN, 0, 0};
	char *text, *path;

	clip.frames = 9;
	set_keys(9, NULL, values);
	text = draw(ROLE_TRANSLATION);
	path = line_of(text, 0);
	ck_assert_uint_eq(count_of(path, 'M'), 3);
	ck_assert_ptr_nonnull(strstr(path, "h0"));
	free(path);
	for (unsigned axis = 1; axis < 3; axis++) {
		path = line_of(text, axis);
		ck_assert_uint_eq(count_of(path, 'M'), 2);
		free(path);
	}
	path = path_of(text, 0, "stroke-width=\"5\"");
	ck_assert_uint_eq(count_of(path, 'M'), 6);
	free(path);
	free(text);
}
END_TEST

START_TEST(nothing_finite_is_an_empty_chart)
{
	static const double values[] = {NAN, INFINITY, -INFINITY};
	char *text;

	set_keys(1, NULL, values);
	for (int keyed = 0; keyed < 2; keyed++) {
		curve.keyed = keyed;
		text = draw(ROLE_ROTATION);
		for (unsigned axis = 0; axis < 3; axis++)
			ck_assert_ptr_null(strstr(text, colours[axis]));
		ck_assert_ptr_null(strstr(text, "nan"));
		ck_assert_ptr_null(strstr(text, "inf"));
		free(text);
	}
}
END_TEST

START_TEST(steps_have_corners)
{
	static const double values[] = {0, 0, 0, 5, 5, 5, 1, 1, 1};
	static const uint32_t frames[] = {0, 4, 9};
	double points[8][2];
	char *text, *path;

	curve.interpolation = INTERPOLATION_STEP;
	set_keys(3, frames, values);
	text = draw(ROLE_TRANSLATION);
	path = line_of(text, 2);
	ck_assert_uint_eq(read_points(path, points, 8), 5);
	ck_assert_double_eq(points[0][1], points[1][1]);
	ck_assert_double_eq(points[1][0], points[2][0]);
	ck_assert_double_eq(points[2][1], points[3][1]);
	ck_assert_double_eq(points[4][0], chart.width);
	free(path);
	free(text);
}
END_TEST

/* A step from 350 degrees to 10 must not be drawn as a line back through all angles. */
START_TEST(an_angle_that_turns_over_leaves_a_gap)
{
	static const double values[] = {340, 10, 0, 350, 20, 0, 5, 30, 0};
	char *text, *path;

	clip.frames = 3;
	curve.kind = CURVE_EULER;
	for (unsigned axis = 0; axis < 3; axis++)
		curve.lane[axis].turn = 360;
	set_keys(3, NULL, values);
	text = draw(ROLE_ROTATION);
	for (unsigned axis = 0; axis < 2; axis++) {
		path = line_of(text, axis);
		ck_assert_uint_eq(count_of(path, 'M'), axis == 0 ? 2 : 1);
		free(path);
	}
	free(text);
}
END_TEST

START_TEST(values_are_held_where_no_key_is)
{
	static const double values[] = {0, 0, 0, 5, 5, 5};
	static const uint32_t frames[] = {3, 6};
	double points[8][2];
	char *text, *path;

	set_keys(2, frames, values);
	text = draw(ROLE_TRANSLATION);
	path = path_of(text, 1, "stroke-opacity");
	ck_assert_uint_eq(read_points(path, points, 8), 4);
	ck_assert_double_eq(points[1][0], 0);
	ck_assert_double_eq(points[3][0], chart.width);
	ck_assert_double_eq(points[0][1], points[1][1]);
	ck_assert_double_eq(points[2][1], points[3][1]);
	free(path);
	free(text);

	curve.keyed = false;
	set_keys(1, NULL, values);
	text = draw(ROLE_TRANSLATION);
	ck_assert_ptr_null(path_of(text, 1, "stroke-opacity"));
	path = line_of(text, 1);
	ck_assert_uint_eq(read_points(path, points, 8), 2);
	ck_assert_double_eq(points[1][0] - points[0][0], chart.width);
	free(path);
	free(text);
}
END_TEST

START_TEST(one_frame_is_three_markers)
{
	static const double values[] = {1, 2, 3};

	clip.frames = 1;
	set_keys(1, NULL, values);
	for (int keyed = 0; keyed < 2; keyed++) {
		char *text, *path;
		double points[1][2];

		curve.keyed = keyed;
		text = draw(ROLE_TRANSLATION);
		path = path_of(text, 0, "stroke-width=\"5\"");
		ck_assert_uint_eq(read_points(path, points, 1), 1);
		ck_assert_double_eq(points[0][0], chart.width / 2);
		free(path);
		free(text);
	}
}
END_TEST

/* The last frame has a label, and other frames only if there is room. */
START_TEST(the_last_frame_is_labelled)
{
	static const struct {
		uint32_t frames;
		const char *last, *dropped;
	} clips[] = {{38, ">37<", NULL},
		     {202, ">201<", ">200<"},
		     {201, ">200<", NULL},
		     {65535, ">65534<", NULL},
		     {1002, ">1001<", ">1000<"}};
	static const double values[] = {1, 2, 3, 4, 5, 6};

	set_keys(2, NULL, values);
	for (size_t i = 0; i < ARRAY_SIZE(clips); i++) {
		char *text, *last;

		clip.frames = clips[i].frames;
		text = draw(ROLE_TRANSLATION);
		last = strstr(text, clips[i].last);
		ck_assert_msg(last != NULL, "no %s", clips[i].last);
		ck_assert_ptr_null(strstr(last + 1, clips[i].last));
		ck_assert(!clips[i].dropped || !strstr(text, clips[i].dropped));
		free(text);
	}
}
END_TEST

START_TEST(equal_curves_are_named)
{
	static const struct {
		double values[6];
		const char *words;
	} cases[] = {{{1, 1, 1, 2, 2, 2}, "; x = y = z"},
		     {{1, 1, 1, 2, 2, 3}, "; x = y"},
		     {{1, 1, 1, 2, 3, 2}, "; x = z"},
		     {{1, 1, 1, 3, 2, 2}, "; y = z"},
		     {{1, 1, 1, 1, 2, 3}, ""},
		     {{NAN, 1, INFINITY, 1, 2, 1}, "; x = z"},
		     {{NAN, 1, 1, 1, 2, 1}, ""},
		     {{0, 0, 0.001, 1, 1, 1}, "; x = y ≈ z"},
		     {{0, 0, 0.1, 1, 1, 1}, "; x = y"},
		     {{0, 0.5, 0.001, 1, 1, 1}, "; x ≈ z"}};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct buf out = BUF_INIT;

		set_keys(2, NULL, cases[i].values);
		plot_equal_axes(&chart, &track, ROLE_TRANSLATION, "; ", &out);
		buf_char(&out, '\0');
		ck_assert_str_eq((const char *)out.data, cases[i].words);
		buf_release(&out);
	}
}
END_TEST

START_TEST(keyframes_are_bars)
{
	static const uint32_t frames[] = {0, 1, 1, 2, 5, 9, 12};
	static const uint8_t flags[7], roles[7];
	static const struct keyframes keyframes = {7, frames, flags, roles};
	static const double values[] = {1, 2, 3};
	char *text, *bars;

	set_keys(1, NULL, values);
	track.keyframes = &keyframes;
	text = draw(ROLE_TRANSLATION);
	bars = strstr(text, "stroke-width=\"3\"");
	ck_assert_ptr_nonnull(bars);
	*strstr(bars, "/>") = '\0';
	ck_assert_uint_eq(count_of(bars, 'M'), 3);
	ck_assert_ptr_nonnull(strstr(bars, "H680"));
	free(text);
}
END_TEST

/* ---- many keys ---- */

#define MANY 65535

/* One of 65535 frames that differs is drawn, at its place. */
START_TEST(a_spike_among_many_keys_is_seen)
{
	double *values = calloc(MANY * 3, sizeof(*values)), points[64][2];
	struct scale heights, times;
	size_t count, top = 0;
	char *text, *path;

	ck_assert_ptr_nonnull(values);
	values[3 * 40000] = 1;
	clip.frames = MANY;
	set_keys(MANY, NULL, values);
	text = draw(ROLE_TRANSLATION);
	heights = values_of(text);
	times = frames_of(text);
	path = line_of(text, 0);
	/* A part that is flat before and after the spike is a line with two ends. */
	count = read_points(path, points, 64);
	ck_assert_uint_le(count, 6);
	for (size_t i = 0; i < count; i++)
		if (points[i][1] < points[top][1])
			top = i;
	ck_assert_double_eq_tol(read_off(&heights, points[top][1]), 1, scale_error(&heights));
	ck_assert_double_eq_tol(read_off(&times, points[top][0]), 40000, scale_error(&times));
	free(path);
	free(text);
	free(values);
}
END_TEST

static void fill_noise(double *values, size_t count, uint32_t gaps)
{
	uint64_t state = 1;

	for (size_t i = 0; i < count; i++) {
		state = state * 6364136223846793005u + 1442695040888963407u;
		values[i] = (double)(int32_t)(state >> 32);
		if (gaps && (state >> 20) % gaps == 0)
			values[i] = NAN;
	}
}

START_TEST(the_text_of_noise_has_a_bound)
{
	static const uint32_t counts[] = {1, 2, 113, 114, 679, 680, 681, 1360, 2000, MANY};
	double *values = calloc(MANY * 3, sizeof(*values));
	uint32_t *all = calloc(MANY, sizeof(*all));
	uint8_t *bytes = calloc(MANY, 1);
	struct keyframes keyframes = {.frames = all, .flags = bytes, .roles = bytes};

	ck_assert(values && all && bytes);
	for (uint32_t i = 0; i < MANY; i++)
		all[i] = i;
	for (uint32_t gaps = 0; gaps < 4; gaps++) {
		fill_noise(values, MANY * 3, gaps);
		for (size_t i = 0; i < ARRAY_SIZE(counts); i++) {
			clip.frames = keyframes.count = counts[i];
			curve.interpolation = i % 2 ? INTERPOLATION_LINEAR : INTERPOLATION_STEP;
			track.keyframes = &keyframes;
			set_keys(counts[i], all, values);
			free(draw(ROLE_TRANSLATION)); /* draw() checks the size */
		}
	}
	free(values);
	free(all);
	free(bytes);
}
END_TEST

/* Many keys of one frame, as in Vib-Ribbon files, and keys past the clip's end. */
START_TEST(keys_of_one_frame_are_one_column)
{
	static uint32_t frames[1000];
	static double values[3000];
	char *text;

	fill_noise(values, 3000, 0);
	clip.frames = 1;
	set_keys(1000, frames, values);
	text = draw(ROLE_TRANSLATION);
	ck_assert_ptr_nonnull(strstr(text, colours[0]));
	free(text);
	for (size_t i = 0; i < 1000; i++)
		frames[i] = 5;
	ck_assert(!plot_has_role(&clip, &track, ROLE_TRANSLATION));
	ck_assert(!plot_has_track(&clip, &track));
	clip.frames = 6;
	ck_assert(plot_has_track(&clip, &track));
}
END_TEST

Suite *plot_suite(void);

Suite *plot_suite(void)
{
	Suite *suite = suite_create("plot");
	TCase *t = tcase_create("plot");

	suite_add_tcase(suite, t);
	tcase_add_checked_fixture(t, setup, NULL);
	tcase_add_test(t, ticks_are_round);
	tcase_add_test(t, points_stand_where_the_axes_say);
	tcase_add_test(t, the_line_goes_to_the_last_key_of_a_frame);
	tcase_add_test(t, scales_fit_what_there_is);
	tcase_add_test(t, noise_looks_flat);
	tcase_add_test(t, what_is_not_finite_is_a_gap);
	tcase_add_test(t, nothing_finite_is_an_empty_chart);
	tcase_add_test(t, steps_have_corners);
	tcase_add_test(t, an_angle_that_turns_over_leaves_a_gap);
	tcase_add_test(t, values_are_held_where_no_key_is);
	tcase_add_test(t, one_frame_is_three_markers);
	tcase_add_test(t, the_last_frame_is_labelled);
	tcase_add_test(t, equal_curves_are_named);
	tcase_add_test(t, keyframes_are_bars);
	tcase_add_test(t, a_spike_among_many_keys_is_seen);
	tcase_add_test(t, the_text_of_noise_has_a_bound);
	tcase_add_test(t, keys_of_one_frame_are_one_column);
	return suite;
}
