/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "animfs/anim.h"
#include "random.h"
#include "text/num.h"

#include <check.h>
#include <float.h>
#include <inttypes.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEGREES (180 / M_PI)

/* Like ck_assert, for loops with many checks: ck_assert sends a message for each of them. */
#define EXPECT(condition, ...)                                                                     \
	do {                                                                                       \
		if (!(condition))                                                                  \
			ck_abort_msg(__VA_ARGS__);                                                 \
	} while (0)

/* The output of a num_ function, NUL-terminated. */
static char text_out[NUM_MAX + 1];

static const char *text_of(size_t size)
{
	EXPECT(size <= NUM_MAX, "%zu bytes", size);
	text_out[size] = '\0';
	return text_out;
}

static const char *f32_text(float v)
{
	return text_of(num_f32(text_out, v));
}

static const char *lane_text(double v, const struct lane *lane)
{
	return text_of(num_lane(text_out, v, lane));
}

static const char *seconds_text(double v)
{
	return text_of(num_seconds(text_out, v));
}

static const char *unsigned_text(uint64_t v)
{
	return text_of(num_unsigned(text_out, v));
}

static double random_between(double low, double high)
{
	return low + (high - low) * (double)(random_bits() >> 11) * 0x1p-53;
}

/* ---- float32 ---- */

static const struct {
	uint32_t bits;
	const char *text;
} floats[] = {
	{0x00000000, "0"},
	{0x80000000, "-0"},
	{0x3f800000, "1"},
	{0xbf800000, "-1"},
	{0x41200000, "10"},
	{0x42c80000, "100"},
	{0x3f000000, "0.5"},
	{0x3dcccccd, "0.1"},
	{0x3f350481, "0.7071"},
	{0x3f3504f3, "0.70710677"},
	{0x3f7fffff, "0.99999994"},
	{0x3f800001, "1.0000001"},
	{0x40490fdb, "3.1415927"},
	{0xc0490fdb, "-3.1415927"},
	{0x3f804189, "1.002"},
	{0x322bcc77, "0.00000001"},
	{0x15ae43fd, "0.00000000000000000000000007038531"},
	/* the last whole number that is a float32 of its own, and the following ones */
	{0x4b7fffff, "16777215"},
	{0x4b800000, "16777216"},
	{0x4b800001, "16777218"},
	{0x4c000000, "33554432"},
	{0x4c3ebc20, "50000000"},
	{0x501502f8, "9999999000"},
	{0x501502f9, "10000000000"},
	{0x60ad78ec, "100000000000000000000"},
	/* powers of two, whose lower neighbour is nearer */
	{0x0f800000, "0.000000000000000000000000000012621775"},
	{0x10000000, "0.00000000000000000000000000002524355"},
	{0x7e800000, "85070590000000000000000000000000000000"},
	/* the smallest and largest numbers */
	{0x00000001, "0.000000000000000000000000000000000000000000001"},
	{0x00000002, "0.000000000000000000000000000000000000000000003"},
	{0x007fffff, "0.000000000000000000000000000000000000011754942"},
	{0x00800000, "0.000000000000000000000000000000000000011754944"},
	{0x7f7fffff, "340282350000000000000000000000000000000"},
	{0xff7fffff, "-340282350000000000000000000000000000000"},
	{0x7f800000, "inf"},
	{0xff800000, "-inf"},
	{0x7fc00000, "nan"},
	{0xffc00001, "nan"},
	{0x7f800001, "nan"},
};

START_TEST(floats_have_the_shortest_plain_text)
{
	for (size_t i = 0; i < ARRAY_SIZE(floats); i++)
		ck_assert_str_eq(f32_text(f32_from_bits(floats[i].bits)), floats[i].text);
}
END_TEST

START_TEST(floats_read_back_as_their_bits)
{
	for (size_t i = 0; i < ARRAY_SIZE(floats); i++) {
		const char *text = floats[i].text;
		float v;

		ck_assert(num_parse_f32(text, strlen(text), '.', &v));
		if (isnan(f32_from_bits(floats[i].bits)))
			ck_assert(isnan(v));
		else
			ck_assert_uint_eq(f32_bits(v), floats[i].bits);
	}
	random_state = 1;
	for (int i = 0; i < 200000; i++) {
		float v = f32_from_bits((uint32_t)random_bits()), narrow;
		char text[NUM_MAX];
		size_t size = num_f32(text, v);
		double wide;

		if (isnan(v))
			continue;
		EXPECT(num_parse_f32(text, size, '.', &narrow) && f32_bits(narrow) == f32_bits(v),
		       "%a reads back as %a", (double)v, (double)narrow);
		EXPECT(num_parse(text, size, '.', &wide) && f32_bits((float)wide) == f32_bits(v),
		       "%a reads back as %a", (double)v, wide);
	}
}
END_TEST

START_TEST(whole_numbers)
{
	char expected[32];

	for (uint64_t v = 1, i = 0; i < 20; i++, v *= 10) {
		for (uint64_t near = v - 1; near <= v + 1; near++) {
			snprintf(expected, sizeof(expected), "%" PRIu64, near);
			ck_assert_str_eq(unsigned_text(near), expected);
		}
	}
	ck_assert_str_eq(unsigned_text(UINT64_MAX), "18446744073709551615");
	random_state = 2;
	for (int i = 0; i < 100000; i++) {
		uint64_t v = random_bits() >> (random_bits() & 63);

		snprintf(expected, sizeof(expected), "%" PRIu64, v);
		EXPECT(strcmp(unsigned_text(v), expected) == 0, "%s is %s", expected, text_out);
	}
}
END_TEST

START_TEST(seconds_are_to_the_microsecond)
{
	ck_assert_str_eq(seconds_text(0), "0");
	ck_assert_str_eq(seconds_text(-0.0), "0");
	ck_assert_str_eq(seconds_text(1), "1");
	ck_assert_str_eq(seconds_text(2 / 60.), "0.033333");
	ck_assert_str_eq(seconds_text(4 / 60.), "0.066667");
	ck_assert_str_eq(seconds_text(7 / 30.), "0.233333");
	ck_assert_str_eq(seconds_text(0.5), "0.5");
	ck_assert_str_eq(seconds_text(10), "10");
	ck_assert_str_eq(seconds_text(0.0000004), "0");
	ck_assert_str_eq(seconds_text(-0.0000004), "0");
	ck_assert_str_eq(seconds_text(0.0000006), "0.000001");
	ck_assert_str_eq(seconds_text(0.9999996), "1");
	ck_assert_str_eq(seconds_text(-1.25), "-1.25");
	ck_assert_str_eq(seconds_text(1092.2666666), "1092.266667");
	ck_assert_str_eq(seconds_text(999999999.999999), "999999999.999999");
	ck_assert_str_eq(seconds_text(1234567890.123456), "1234567890.12346");
	ck_assert_str_eq(seconds_text(1e20), "100000000000000000000");
	ck_assert_str_eq(seconds_text(DBL_MAX), "inf");
	ck_assert_str_eq(seconds_text((double)INFINITY), "inf");
	ck_assert_str_eq(seconds_text((double)-INFINITY), "-inf");
	ck_assert_str_eq(seconds_text((double)NAN), "nan");
}
END_TEST

START_TEST(appending_writes_the_same)
{
	const struct lane lane = {.form = LANE_DOUBLE, .unit = 1};
	struct buf b = BUF_INIT;

	buf_f32_text(&b, 0.1f);
	buf_char(&b, ' ');
	buf_lane_text(&b, 1 / 3., &lane);
	buf_char(&b, ' ');
	buf_seconds(&b, 1.5);
	buf_char(&b, ' ');
	buf_unsigned(&b, 65535);
	buf_char(&b, '\0');
	ck_assert_str_eq((const char *)b.data, "0.1 0.33333333 1.5 65535");
	buf_release(&b);
}
END_TEST

/* ---- lanes ---- */

static double grid_value(const struct lane *lane, uint32_t k)
{
	return lane->unit * ((double)lane->base + k * (double)lane->step);
}

START_TEST(grid_texts)
{
	const struct lane full = {
		LANE_GRID, f32_from_bits(0xc0490fdb), f32_from_bits(0x38c910a4), DEGREES, 0, false};
	const struct lane metres = {LANE_GRID, -2, 1 / 256.0f, 1, 0, false};
	const struct lane down = {LANE_GRID, 2, -1 / 256.0f, 1, 0, false};

	ck_assert_str_eq(lane_text(grid_value(&full, 0), &full), "-180");
	ck_assert_str_eq(lane_text(grid_value(&full, 21845), &full), "-60.000002");
	ck_assert_str_eq(lane_text(grid_value(&full, 43690), &full), "60");
	ck_assert_str_eq(lane_text(grid_value(&full, 65535), &full), "180");
	ck_assert_str_eq(lane_text(grid_value(&metres, 0), &metres), "-2");
	ck_assert_str_eq(lane_text(grid_value(&metres, 511), &metres), "-0.00390625");
	ck_assert_str_eq(lane_text(grid_value(&metres, 512), &metres), "0");
	ck_assert_str_eq(lane_text(grid_value(&metres, 65535), &metres), "253.9961");
	ck_assert_str_eq(lane_text(grid_value(&down, 0), &down), "2");
	ck_assert_str_eq(lane_text(grid_value(&down, 65535), &down), "-253.9961");
}
END_TEST

START_TEST(float_lanes)
{
	const struct lane degrees = {LANE_FLOAT, 0, 0, DEGREES, 0, false},
			  plain = {LANE_FLOAT, 0, 0, 1, 0, false};

	ck_assert_str_eq(lane_text(DEGREES * (double)0.1f, &degrees), "5.729578");
	ck_assert_str_eq(lane_text(DEGREES * (double)-(float)M_PI, &degrees), "-180");
	ck_assert_str_eq(lane_text((double)0.1f, &plain), "0.1");
	ck_assert_str_eq(lane_text(-0.0, &plain), "-0");
	ck_assert_str_eq(lane_text(-0.0, &degrees), "-0");
	ck_assert_str_eq(lane_text((double)NAN, &plain), "nan");
	ck_assert_str_eq(lane_text((double)-INFINITY, &degrees), "-inf");
	ck_assert_str_eq(lane_text(DEGREES * (double)FLT_TRUE_MIN, &degrees),
			 "0.00000000000000000000000000000000000000000008");
	ck_assert_str_eq(lane_text(DEGREES * (double)FLT_MAX, &degrees),
			 "19496742000000000000000000000000000000000");
}
END_TEST

/* Returns the number of digits from the first that is not 0 to the last. */
static size_t significant_digits(const char *text)
{
	size_t count = 0, zeros = 0;

	for (const char *p = text; *p; p++) {
		if (*p == '.' || *p == '-' || (!count && *p == '0'))
			continue;
		count++;
		zeros = *p == '0' ? zeros + 1 : 0;
	}
	return count - zeros;
}

static bool stored_alike(double a, double b, const struct lane *lane)
{
	a /= lane->unit;
	b /= lane->unit;
	if (lane->form == LANE_GRID)
		return num_nearest_k(a, lane) == num_nearest_k(b, lane);
	return f32_bits((float)a) == f32_bits((float)b);
}

/* Checks that the text of v reads back as a number that is stored with the same bits as v. */
static void expect_lane_law(double v, const struct lane *lane)
{
	char text[NUM_MAX + 1];
	size_t size = num_lane(text, v, lane);
	double read;

	text[size] = '\0';
	EXPECT(num_parse(text, size, '.', &read) && (float)read == (float)v &&
		       stored_alike(read, v, lane) && significant_digits(text) <= 15,
	       "%.17g is \"%s\", base %.9g step %.9g", v, text, (double)lane->base,
	       (double)lane->step);
}

/* Checks that with one digit less, neither the nearest text nor its neighbours would read back. */
static void expect_no_shorter(double v, const struct lane *lane)
{
	char text[NUM_MAX + 1], shorter[64];
	double unit, nearest;
	size_t digits;

	text[num_lane(text, v, lane)] = '\0';
	digits = significant_digits(text);
	if (digits < 2)
		return;
	snprintf(shorter, sizeof(shorter), "%.*e", (int)digits - 2, v);
	nearest = strtod(shorter, NULL);
	unit = pow(10, floor(log10(fabs(v))) - (double)(digits - 2));
	for (int i = -1; i <= 1; i++) {
		double read;

		snprintf(shorter, sizeof(shorter), "%.*e", (int)digits - 2, nearest + i * unit);
		read = strtod(shorter, NULL);
		EXPECT((float)read != (float)v || !stored_alike(read, v, lane),
		       "\"%s\" where \"%s\" would do", text, shorter);
	}
}

START_TEST(grid_values_come_back_to_their_k)
{
	random_state = 3;
	for (int i = 0; i < 20000; i++) {
		double range = pow(10, random_between(-5, 4));
		struct lane lane = {
			.form = LANE_GRID,
			.base = (float)random_between(-10, 10),
			.step = (float)(range / 65535) * (random_bits() & 1 ? 1 : -1),
			.unit = random_bits() & 1 ? 1 : DEGREES,
		};

		for (int j = 0; j < 10; j++) {
			uint32_t k = j == 0 ? 0 : j == 1 ? 65535 : (uint32_t)random_bits() & 65535;
			double v = grid_value(&lane, k);

			EXPECT(num_nearest_k(v / lane.unit, &lane) == k, "%.17g is not %u", v, k);
			expect_lane_law(v, &lane);
			expect_no_shorter(v, &lane);
		}
	}
}
END_TEST

/* num_value has faster ways than num_lane, with the same texts. */
START_TEST(values_of_curves_are_written_as_their_lane_says)
{
	random_state = 5;
	for (int i = 0; i < 50000; i++) {
		uint8_t stored[2 * 3];
		struct curve c = {.kind = CURVE_VECTOR, .count = 1, .stored = stored};

		for (unsigned axis = 0; axis < 3; axis++) {
			double base = random_between(-10, 10) * pow(10, random_between(-12, 6));
			double step = random_between(-1, 1) * pow(10, random_between(-16, 3));

			put_u16(stored + 2 * axis, (uint16_t)random_bits());
			c.lane[axis] = (struct lane){.form = LANE_GRID,
						     .base = (float)base,
						     .step = i % 16 ? (float)step : 0,
						     .unit = i % 3 ? 1 : DEGREES};
		}
		for (unsigned axis = 0; axis < 3; axis++) {
			const char *text = lane_text(curve_value(&c, 0, axis), &c.lane[axis]);
			char value[NUM_MAX];
			size_t size =
				num_value(value, curve_value(&c, 0, axis), &c.lane[axis], c.stored);

			EXPECT(size == strlen(text) && memcmp(value, text, size) == 0,
			       "\"%.*s\" is \"%s\", base %.9g step %.9g", (int)size, value, text,
			       (double)c.lane[axis].base, (double)c.lane[axis].step);
		}
	}
}
END_TEST

START_TEST(degrees_come_back_to_their_radians)
{
	const struct lane lane = {LANE_FLOAT, 0, 0, DEGREES, 0, false};

	random_state = 4;
	for (int i = 0; i < 200000; i++) {
		float radians = f32_from_bits((uint32_t)random_bits());

		if (!isfinite(radians))
			continue;
		expect_lane_law(lane.unit * (double)radians, &lane);
		if (fabsf(radians) > 1e-30f && fabsf(radians) < 1e30f)
			expect_no_shorter(lane.unit * (double)radians, &lane);
	}
}
END_TEST

START_TEST(typed_values_keep_their_float)
{
	const struct lane lane = {.form = LANE_DOUBLE, .unit = 1};

	ck_assert_str_eq(lane_text(0.1, &lane), "0.1");
	ck_assert_str_eq(lane_text(1 / 3., &lane), "0.33333333");
	ck_assert_str_eq(lane_text(-1e-300, &lane), "-0");
	ck_assert_str_eq(lane_text(1e300, &lane), "inf");
	ck_assert_str_eq(lane_text(-1e300, &lane), "-inf");
	ck_assert_str_eq(lane_text(12.5, &lane), "12.5");
	ck_assert_str_eq(lane_text(1e40, &lane), "10000000000000000000000000000000000000000");
}
END_TEST

START_TEST(odd_lanes_get_what_can_hold)
{
	static const float odd[] = {0,     -0.0f,        1,        -1,      1e-20f, FLT_MIN,
				    1e20f, FLT_TRUE_MIN, -FLT_MAX, FLT_MAX, NAN,    INFINITY};
	static const double units[] = {1, DEGREES, 1e-3, 0, -1, (double)NAN, (double)INFINITY};
	static const double values[] = {0,    -0.0, 1.5,   0.1,   -1 / 3., 1e-40,
					1e10, 1e39, 7e-46, -1e59, DBL_MAX, 1e-320};

	for (size_t i = 0; i < ARRAY_SIZE(odd); i++) {
		for (size_t j = 0; j < ARRAY_SIZE(odd) * ARRAY_SIZE(units); j++) {
			for (int form = LANE_DOUBLE; form <= LANE_GRID; form++) {
				struct lane lane = {(enum lane_form)form,
						    odd[i],
						    odd[j % ARRAY_SIZE(odd)],
						    units[j / ARRAY_SIZE(odd)],
						    0,
						    false};

				lane_text(grid_value(&lane, 0), &lane);
				lane_text(grid_value(&lane, 7), &lane);
				lane_text(grid_value(&lane, 65535), &lane);
				for (size_t k = 0; k < ARRAY_SIZE(values); k++)
					lane_text(values[k], &lane);
			}
		}
	}
}
END_TEST

START_TEST(a_grid_too_fine_for_15_digits_gets_15)
{
	/* neighbours differ in the 17th digit */
	const struct lane lane = {LANE_GRID, 1000, 1e-13f, 1, 0, false};
	const struct lane still = {LANE_GRID, 0.1f, 0, 1, 0, false};

	ck_assert_str_eq(lane_text(grid_value(&lane, 30001), &lane), "1000.000000003");
	ck_assert_str_eq(lane_text(grid_value(&lane, 30007), &lane), "1000.000000003");
	ck_assert_str_eq(lane_text(grid_value(&lane, 34567), &lane), "1000.00000000346");
	/* without a step every k is the base */
	ck_assert_str_eq(lane_text(grid_value(&still, 5), &still), "0.1");
}
END_TEST

START_TEST(nearest_k)
{
	const struct lane up = {LANE_GRID, -1, 0.5f, 1, 0, false},
			  down = {LANE_GRID, 1, -0.5f, 1, 0, false};
	struct lane odd = up;

	ck_assert_uint_eq(num_nearest_k(-1, &up), 0);
	ck_assert_uint_eq(num_nearest_k(-0.76, &up), 0);
	ck_assert_uint_eq(num_nearest_k(-0.74, &up), 1);
	ck_assert_uint_eq(num_nearest_k(-1e300, &up), 0);
	ck_assert_uint_eq(num_nearest_k(65533.0 / 2, &up), 65535);
	ck_assert_uint_eq(num_nearest_k(65532.4 / 2, &up), 65534);
	ck_assert_uint_eq(num_nearest_k(1e300, &up), 65535);
	ck_assert_uint_eq(num_nearest_k(0, &down), 2);
	ck_assert_uint_eq(num_nearest_k(2, &down), 0);
	ck_assert_uint_eq(num_nearest_k(-1e9, &down), 65535);
	ck_assert_uint_eq(num_nearest_k((double)NAN, &up), 0);
	ck_assert_uint_eq(num_nearest_k((double)INFINITY, &up), 0);
	ck_assert_uint_eq(num_nearest_k((double)-INFINITY, &down), 0);
	for (int i = 0; i < 4; i++) {
		odd.step = (float[]){0, -0.0f, NAN, INFINITY}[i];
		ck_assert_uint_eq(num_nearest_k(5, &odd), 0);
	}
	odd = up;
	odd.base = -INFINITY;
	ck_assert_uint_eq(num_nearest_k(5, &odd), 0);
	odd.base = NAN;
	ck_assert_uint_eq(num_nearest_k(5, &odd), 0);
}
END_TEST

/* ---- reading ---- */

static const struct {
	const char *text;
	double value;
} numbers[] = {
	{"0", 0},
	{"-0", -0.0},
	{"+1", 1},
	{"007", 7},
	{"5.", 5},
	{".5", 0.5},
	{"-.5", -0.5},
	{"1.00E-08", 1e-8},
	{"1e3", 1000},
	{"1E+3", 1000},
	{"1.5e-1", 0.15},
	{"123456789.123456789", 123456789.123456789},
	{"0.1234567890123456789", 0.1234567890123456789},
	{"9007199254740993", 9007199254740992.0},
	{"9007199254740993.0000000000000000000000000000001", 9007199254740994.0},
	{"1.7976931348623157e308", DBL_MAX},
	{"1.7976931348623159e308", (double)INFINITY},
	{"-1e400", (double)-INFINITY},
	{"4.9406564584124654e-324", 4.9406564584124654e-324},
	{"-1e-400", -0.0},
	{"0e999999999999999999999", 0},
	{"1e-999999999999999999999", 0},
	{"1e999999999999999999999", (double)INFINITY},
	{"2.2250738585072011e-308", 2.2250738585072011e-308},
	{"8.5899345920000000000001e9", 8589934592.0},
	{"6929495644600919.5", 6929495644600920.0},
	/* numbers for which 64 bits of the power of ten are not enough */
	{"5205.27031104542084", 0x1.45545331acbd5p+12},
	{"3227695.824363652384", 0x1.8a017e984bf88p+21},
	{"420982013467781978e-56", 0x1.6eba204bb342bp-128},
	{"3.4028235677973366e38", 3.4028235677973366e38},
	{"340282350000000000000000000000000000000", 3.4028235e38},
	{"100000000000000000000000000000000000000e-38", 1},
	{"0.00000000000000000000000000000000000001e38", 1},
	{"0.000000000000000000000000000098607613", 9.8607613e-29},
	{"inf", (double)INFINITY},
	{"-Inf", (double)-INFINITY},
	{"+INFINITY", (double)INFINITY},
};

START_TEST(numbers_are_read)
{
	double v;

	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++) {
		const char *text = numbers[i].text;

		v = 42;
		ck_assert_msg(num_parse(text, strlen(text), '.', &v), "%s", text);
		ck_assert_msg(f64_same(v, numbers[i].value), "%s is %.17g", text, v);
	}
	ck_assert(num_parse("-NaN", 4, '.', &v) && isnan(v));
	ck_assert(num_parse("nan", 3, ',', &v) && isnan(v));
}
END_TEST

START_TEST(what_is_no_number_is_refused)
{
	static const char *const texts[] = {
		"",       "-",         "+",     ".",     "-.", "e5",    ".e5",        "1e",
		"1e+",    "1e-",       "1e5.0", "1 ",    " 1", "1,5",   "1.5.",       "1..5",
		"12..5",  "--1",       "+-1",   "0x10",  "1f", "nanx",  "na",         "in",
		"infin",  "infinityy", "1e5e5", "1_000", "１", "12:30", "2024-01-05", "1/2",
		"nan(1)", "1.2.3",     "1-",    "١"};
	double v;
	float f;

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		ck_assert_msg(!num_parse(texts[i], strlen(texts[i]), '.', &v), "%s", texts[i]);
		ck_assert_msg(!num_parse_f32(texts[i], strlen(texts[i]), '.', &f), "%s", texts[i]);
	}
	/* a NUL is a character like any other */
	ck_assert(!num_parse("1\0", 2, '.', &v));
	ck_assert(!num_parse("1.1234567\0", 10, '.', &v));
}
END_TEST

START_TEST(the_point_is_the_one_asked_for)
{
	double v;

	ck_assert(num_parse("1,5", 3, ',', &v) && v == 1.5);
	ck_assert(num_parse("-0,12345678", 11, ',', &v) && v == -0.12345678);
	ck_assert(num_parse("1,25E+02", 8, ',', &v) && v == 125);
	ck_assert(num_parse("9007199254740993,00000000000000000001", 37, ',', &v) &&
		  v == 9007199254740994.0);
	ck_assert(!num_parse("1.5", 3, ',', &v));
	ck_assert(num_parse("15", 2, ',', &v) && v == 15);
}
END_TEST

/* Parses a block of exactly the text's size, so that reads past the end are detected. */
static bool parse_block(const char *text, size_t size, double *out)
{
	char *block = malloc(size ? size : 1);
	bool ok;

	ck_assert_ptr_nonnull(block);
	memcpy(block, text, size);
	ok = num_parse(block, size, '.', out);
	free(block);
	return ok;
}

START_TEST(only_the_text_itself_is_read)
{
	static const char text[] = "-123456789.123456789e-12";
	double v;

	for (size_t size = 0; size < sizeof(text); size++) {
		char copy[sizeof(text)] = "";

		memcpy(copy, text, size);
		if (parse_block(text, size, &v))
			ck_assert_double_eq(v, strtod(copy, NULL));
		for (size_t from = 1; from < size; from++)
			if (parse_block(text + from, size - from, &v))
				ck_assert_double_eq(v, strtod(copy + from, NULL));
	}
}
END_TEST

START_TEST(texts_of_any_length)
{
	const size_t size = 1000003;
	char *text = malloc(size);
	double v;
	float f;

	ck_assert_ptr_nonnull(text);
	memset(text, '0', size);
	memcpy(text, "9007199254740993.", 17);
	ck_assert(num_parse(text, size, '.', &v) && v == 9007199254740992.0);
	text[size - 1] = '1';
	ck_assert(num_parse(text, size, '.', &v) && v == 9007199254740994.0);
	memcpy(text, "16777217.00000000", 17);
	ck_assert(num_parse_f32(text, size, '.', &f) && f == 16777218);
	memset(text, '0', size);
	memcpy(text + size - 9, "5e1000000", 9);
	text[1] = '.';
	ck_assert(num_parse(text, size, '.', &v) && v == 5e7);
	memset(text, '9', size);
	ck_assert(num_parse(text, size, '.', &v) && isinf(v));
	free(text);
}
END_TEST

START_TEST(floats_are_rounded_once)
{
	static const struct {
		const char *text;
		float value;
	} cases[] = {
		{"16777217", 16777216},
		{"16777217.0000000000000001", 16777218},
		{"16777218.9999999999999999", 16777218},
		{"16777219", 16777220},
		{"1.00000005960464477539062500", 1},
		{"1.00000005960464477539062501", 0x1.000002p0f},
		{"1.00000017881393432617187499", 0x1.000002p0f},
		{"7.0064923216240853e-46", 0},
		{"7.0064923216240854e-46", FLT_TRUE_MIN},
		{"340282356779733661637539395458142568448", INFINITY},
		{"340282356779733661637539395458142568447", FLT_MAX},
		{"3.40282356779733659e38", FLT_MAX},
		{"-1e-60", -0.0f},
		{"-1e60", -INFINITY},
		{"1.17549435e-38", FLT_MIN},
		{"7.038531e-26", 0x1.5c87fap-84f},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		float v;

		ck_assert(num_parse_f32(cases[i].text, strlen(cases[i].text), '.', &v));
		ck_assert_msg(f32_bits(v) == f32_bits(cases[i].value), "%s is %.9g", cases[i].text,
			      (double)v);
	}
}
END_TEST

START_TEST(random_texts_are_read_as_strtod_reads_them)
{
	random_state = 5;
	for (int i = 0; i < 300000; i++) {
		char text[64];
		double v;
		float f;
		int size = snprintf(text, sizeof(text), "%" PRIu64 "e%d",
				    random_bits() >> (random_bits() & 63),
				    (int)(random_bits() % 140) - 70);

		EXPECT(num_parse(text, (size_t)size, '.', &v) && f64_same(v, strtod(text, NULL)),
		       "%s is %.17g", text, v);
		EXPECT(num_parse_f32(text, (size_t)size, '.', &f) &&
			       f32_bits(f) == f32_bits(strtof(text, NULL)),
		       "%s is %.9g", text, (double)f);
	}
}
END_TEST

START_TEST(frames)
{
	static const struct {
		const char *text;
		bool ok;
		uint32_t frame;
	} cases[] = {
		{"0", true, 0},
		{"5", true, 5},
		{"5.0", true, 5},
		{"5.000", true, 5},
		{"5.", true, 5},
		{"0010", true, 10},
		{"4294967295", true, UINT32_MAX},
		{"4294967296", false, 0},
		{"99999999999999999999999", false, 0},
		{"", false, 0},
		/* Spellings that the text of a value may have. */
		{"5e0", true, 5},
		{"+5", true, 5},
		{"5.000000000000000000e+00", true, 5},
		{"0.5e1", true, 5},
		{"50E-1", true, 5},
		{"1e3", true, 1000},
		{"4.294967295e9", true, UINT32_MAX},
		{"-0", true, 0},
		{"4.294967296e9", false, 0},
		{"1e20", false, 0},
		{"5e-1", false, 0},
		{"nan", false, 0},
		{"inf", false, 0},
		{"-1", false, 0},
		{"5.1", false, 0},
		{"5.0.0", false, 0},
		{"5,0", false, 0},
		{"5 ", false, 0},
		{"x", false, 0},
	};
	uint32_t frame;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const char *text = cases[i].text;

		ck_assert_msg(num_parse_frame(text, strlen(text), '.', &frame) == cases[i].ok, "%s",
			      text);
		if (cases[i].ok)
			ck_assert_uint_eq(frame, cases[i].frame);
	}
	ck_assert(num_parse_frame("5,0", 3, ',', &frame) && frame == 5);
}
END_TEST

START_TEST(fifteen_digits)
{
	double near = 1;

	ck_assert(num_same15(0, -0.0));
	ck_assert(num_same15(1.5, 1.5));
	ck_assert(num_same15(0.1, 0.1000000000000000055));
	ck_assert(num_same15(1 / 3., 0.333333333333333));
	ck_assert(num_same15(-2 / 3., -0.666666666666667));
	ck_assert(!num_same15(1 / 3., 0.333333333333334));
	ck_assert(!num_same15(1 / 3., -1 / 3.));
	ck_assert(!num_same15(1, 1.00000000000001));
	ck_assert(!num_same15(0, 1e-300));
	ck_assert(num_same15((double)NAN, (double)NAN));
	ck_assert(!num_same15((double)NAN, 0));
	ck_assert(num_same15((double)INFINITY, (double)INFINITY));
	ck_assert(!num_same15((double)INFINITY, DBL_MAX));
	ck_assert(!num_same15((double)INFINITY, (double)-INFINITY));
	/* across a power of ten: 0.9999999999999996 is 1.00000000000000 at 15 digits */
	ck_assert(num_same15(0.9999999999999996, 1));
	ck_assert(!num_same15(0.999999999999999, 1));
	ck_assert(!num_same15(999999999999999, 1e15));
	/* equal means that %.15g gives the same text, even if a rounding boundary lies between */
	for (int i = 0; i < 100; i++) {
		char a[32], b[32];
		double next = nextafter(near, 2);

		snprintf(a, sizeof(a), "%.15g", near);
		snprintf(b, sizeof(b), "%.15g", next);
		ck_assert_int_eq(num_same15(near, next), strcmp(a, b) == 0);
		near = next;
	}
}
END_TEST

/* On machines that have a locale with a decimal comma; the program never sets one itself. */
START_TEST(the_locale_changes_nothing)
{
	const struct lane lane = {LANE_GRID, 1000, 1e-13f, 1, 0, false};
	double v;

	if (!setlocale(LC_ALL, "de_DE.UTF-8") && !setlocale(LC_ALL, "fr_FR.UTF-8"))
		setlocale(LC_ALL, "");
	ck_assert(num_parse("9007199254740993.0000000000000000001", 36, '.', &v) &&
		  v == 9007199254740994.0);
	ck_assert_str_eq(lane_text(grid_value(&lane, 34567), &lane), "1000.00000000346");
	ck_assert(num_same15(1 / 3., 0.333333333333333));
	ck_assert(num_parse("INF", 3, '.', &v) && isinf(v));
	setlocale(LC_ALL, "C");
}
END_TEST

/* Scans a single number, behind the comma that num_scan expects, in a block of exactly its size. */
static const char *scan_one(const char *text, size_t size, struct num_plain *n)
{
	char *block = malloc(size + 1);
	const char *behind;

	/* Nothing can be read past the end of the block. */
	ck_assert(block != NULL);
	block[0] = ',';
	memcpy(block + 1, text, size);
	behind = num_scan(block, block + size + 1, 1, n);
	if (behind)
		behind = text + (behind - block - 1);
	free(block);
	return behind;
}

/* Checks that num_scan reads the same value as num_parse_value, up to the first byte after it. */
static void expect_scan(const char *text)
{
	size_t size = strlen(text), numeric = strspn(text, "-0123456789.");
	struct num_plain n;
	const char *behind = scan_one(text, size, &n);
	double value, plain;

	if (behind && num_plain_value(&n, &plain)) {
		EXPECT(behind == text + numeric, "%s", text);
		EXPECT(num_parse_value(text, numeric, '.', &value) && f64_same(value, plain), "%s",
		       text);
		EXPECT(n.negative == (*text == '-'), "%s", text);
		EXPECT(f64_same(fabs(value), (double)n.digits / pow(10, n.places)), "%s", text);
	}
}

START_TEST(numbers_are_found_in_a_text)
{
	static const char *const taken[] = {"0",
					    "-0",
					    "1,",
					    "12.5\n",
					    "-34.457717,11.2,33.0000000001,99",
					    "0.00057095658,",
					    "1234567",
					    "0.1234567890123"};
	static const char *const left[] = {"",
					   "-",
					   ",",
					   "nan",
					   "+1",
					   ".5",
					   "5.",
					   "5.,",
					   "-.5",
					   "12345678",
					   "1e5x",
					   " 1",
					   "1.123456789012345678",
					   "7.038531e-26",
					   "0.00000000000000000000000000007"};
	struct num_plain n;

	for (size_t i = 0; i < ARRAY_SIZE(taken); i++) {
		ck_assert_msg(scan_one(taken[i], strlen(taken[i]), &n) != NULL, "%s", taken[i]);
		expect_scan(taken[i]);
	}
	for (size_t i = 0; i < ARRAY_SIZE(left); i++) {
		const char *behind = scan_one(left[i], strlen(left[i]), &n);

		/* A number may end before a byte that cannot be part of a number. */
		ck_assert_msg(!behind || *behind == 'e', "%s", left[i]);
	}
	random_state = 11;
	for (int i = 0; i < 200000; i++) {
		char text[64];

		snprintf(text, sizeof(text), "%s%.*f%s", random_bits() & 1 ? "-" : "",
			 (int)(random_bits() % 14),
			 random_between(0, 1) * pow(10, random_between(-6, 8)),
			 random_bits() & 1 ? ",7.25,123456789012345678901234567890" : "");
		expect_scan(text);
	}
}
END_TEST

/* A plain number as num_scan takes it, digit by digit. */
static const char *scan_slowly(const char *p, const char *end, struct num_plain *n)
{
	unsigned whole = 0;

	*n = (struct num_plain){.negative = p < end && *p == '-'};
	for (p += n->negative; p < end && *p >= '0' && *p <= '9'; p++, whole++)
		n->digits = n->digits * 10 + (uint64_t)(*p - '0');
	if (whole < 1 || whole > 7)
		return NULL;
	if (p == end || *p != '.')
		return p;
	for (p++; p < end && *p >= '0' && *p <= '9'; p++, n->places++)
		n->digits = n->digits * 10 + (uint64_t)(*p - '0');
	return n->places >= 1 && n->places <= 15 && whole + n->places <= 18 ? p : NULL;
}

/* Scans up to four cells in one of two ways: in the middle of a text, and at its very end. */
static void expect_scanned_cells(const char *cells, size_t size, unsigned count)
{
	struct num_plain fast[NUM_SCAN_MOST], slow[NUM_SCAN_MOST];
	const char *end = cells + size, *behind = cells;
	const char *found = num_scan(cells, end, count, fast);
	unsigned read = 0;

	while (behind && read < count) {
		behind = behind < end && *behind == ',' ? scan_slowly(behind + 1, end, &slow[read])
							: NULL;
		read++;
	}
	EXPECT(found == behind, "%.*s", (int)size, cells);
	for (unsigned i = 0; found && i < count; i++)
		EXPECT(fast[i].digits == slow[i].digits && fast[i].places == slow[i].places &&
			       fast[i].negative == slow[i].negative,
		       "%.*s", (int)size, cells);
}

START_TEST(cells_are_scanned_as_digit_by_digit)
{
	static const char common[] = "0123456789", rare[] = "0123456789.-,,\n\r \"/:+e\xae\xb5";
	unsigned found = 0;

	random_state = 17;
	for (int i = 0; i < 300000; i++) {
		char *text = malloc(200), *p = text;
		unsigned count = 1 + (unsigned)(random_bits() % NUM_SCAN_MOST);
		size_t size;

		ck_assert(text != NULL);
		for (unsigned cell = 0; cell < count; cell++) {
			unsigned whole =
				1 + (unsigned)(random_bits() % (random_bits() % 8 ? 3 : 8));
			unsigned places = (unsigned)(random_bits() % (random_bits() % 8 ? 11 : 17));

			*p++ = ',';
			if (random_bits() & 1)
				*p++ = '-';
			while (whole--)
				*p++ = common[random_bits() % (sizeof(common) - 1)];
			if (random_bits() % 8)
				*p++ = '.';
			while (places--)
				*p++ = common[random_bits() % (sizeof(common) - 1)];
		}
		size = (size_t)(p - text);
		memset(p, ',', 200 - size);
		if (random_bits() % 2)
			text[random_bits() % (size + 1)] = rare[random_bits() % (sizeof(rare) - 1)];
		expect_scanned_cells(text, 200, count);
		found += num_scan(text, text + 200, count,
				  (struct num_plain[NUM_SCAN_MOST]){{0}}) != NULL;
		/* A block of exactly its size, so that nothing can be read past the end. */
		p = realloc(text, size);
		ck_assert(p != NULL);
		expect_scanned_cells(p, size, count);
		free(p);
	}
	ck_assert_uint_gt(found, 50000);
}
END_TEST

static bool is_value(const struct num_plain *n, const struct curve *c)
{
	double v = curve_value(c, 0, 0);

	return num_are_values(n, &v, &c->lane[0], 1, c->stored);
}

/* num_are_values may return false for a valid text, but never true for another number. */
START_TEST(texts_of_values_are_known_again)
{
	unsigned known = 0, count = 0;

	random_state = 13;
	for (int i = 0; i < 50000; i++) {
		uint8_t stored[2 * 3] = {0};
		struct curve c = {.kind = CURVE_VECTOR, .count = 1, .stored = stored};
		struct lane *lane = &c.lane[0];
		char text[NUM_MAX + 1];
		struct num_plain n;
		size_t size;

		*lane = (struct lane){.form = LANE_GRID,
				      .base = (float)random_between(-4, 4),
				      .step = (float)pow(10, random_between(-6, -2)),
				      .unit = i % 3 ? 1 : DEGREES};
		put_u16(stored, (uint16_t)random_bits());
		size = num_value(text, curve_value(&c, 0, 0), &c.lane[0], c.stored);
		if (!scan_one(text, size, &n))
			continue;
		count++;
		known += is_value(&n, &c);
		/*
		 * A neighbour in the last digit, one digit more, and one less, are other numbers.
		 */
		text[size - 1] = (char)(text[size - 1] == '9' ? '8' : text[size - 1] + 1);
		EXPECT(scan_one(text, size, &n) && !is_value(&n, &c), "%s", text);
		text[size] = '1';
		EXPECT(!scan_one(text, size + 1, &n) || !is_value(&n, &c), "%s", text);
		EXPECT(!scan_one(text, size - 1, &n) || !is_value(&n, &c), "%s", text);
	}
	ck_assert_uint_gt(known, count / 100 * 99);
}
END_TEST

Suite *num_suite(void);

Suite *num_suite(void)
{
	Suite *s = suite_create("num");
	TCase *writing = tcase_create("writing"), *lanes = tcase_create("lanes");
	TCase *reading = tcase_create("reading");

	tcase_add_test(writing, floats_have_the_shortest_plain_text);
	tcase_add_test(writing, floats_read_back_as_their_bits);
	tcase_add_test(writing, whole_numbers);
	tcase_add_test(writing, seconds_are_to_the_microsecond);
	tcase_add_test(writing, appending_writes_the_same);
	suite_add_tcase(s, writing);
	tcase_add_test(lanes, grid_texts);
	tcase_add_test(lanes, float_lanes);
	tcase_add_test(lanes, grid_values_come_back_to_their_k);
	tcase_add_test(lanes, values_of_curves_are_written_as_their_lane_says);
	tcase_add_test(lanes, degrees_come_back_to_their_radians);
	tcase_add_test(lanes, typed_values_keep_their_float);
	tcase_add_test(lanes, odd_lanes_get_what_can_hold);
	tcase_add_test(lanes, a_grid_too_fine_for_15_digits_gets_15);
	tcase_add_test(lanes, nearest_k);
	suite_add_tcase(s, lanes);
	tcase_add_test(reading, numbers_are_read);
	tcase_add_test(reading, what_is_no_number_is_refused);
	tcase_add_test(reading, the_point_is_the_one_asked_for);
	tcase_add_test(reading, only_the_text_itself_is_read);
	tcase_add_test(reading, texts_of_any_length);
	tcase_add_test(reading, floats_are_rounded_once);
	tcase_add_test(reading, random_texts_are_read_as_strtod_reads_them);
	tcase_add_test(reading, numbers_are_found_in_a_text);
	tcase_add_test(reading, cells_are_scanned_as_digit_by_digit);
	tcase_add_test(reading, texts_of_values_are_known_again);
	tcase_add_test(reading, frames);
	tcase_add_test(reading, fifteen_digits);
	tcase_add_test(reading, the_locale_changes_nothing);
	suite_add_tcase(s, reading);
	return s;
}
