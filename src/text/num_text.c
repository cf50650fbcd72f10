/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * num_text.c - how a float becomes the shortest text:
 *
 * All decimals that round to one float lie in an interval around it. Multiplied by the right power
 * of ten that interval is at least one and less than ten or twenty integers wide, so that one of
 * them, or one of its multiples of ten, is the answer (R. Giulietti, "The Schubfach way to render
 * doubles"). A lane narrows the interval to the numbers that are stored alike.
 */
#include "num.h"
#include "num_decimal.h"

#include <endian.h>
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- digits ---- */

/*
 * Splits a number into eight digits, a byte each, the first digit in the lowest byte, with three
 * multiplications.
 */
static inline uint64_t split8(uint32_t v)
{
	uint64_t fours = (v / 10000) | (uint64_t)(v % 10000) << 32;
	uint64_t hundreds = fours * 10486 >> 20 & 0x0000007f0000007f; /* fours / 100 */
	uint64_t twos = hundreds | (fours - 100 * hundreds) << 16;
	uint64_t tens_of = twos * 103 >> 10 & 0x000f000f000f000f; /* twos / 10 */

	return tens_of | (twos - 10 * tens_of) << 8;
}

/* Returns the number of digits up to the last that is not 0. */
static inline unsigned used_digits(uint64_t d)
{
	return d ? 8 - (unsigned)__builtin_clzll(d) / 8 : 0;
}

static inline void put8(char *out, uint64_t d)
{
	d = htole64(d | DIGITS_8);
	memcpy(out, &d, 8);
}

static size_t put_long(char *out, uint64_t v)
{
	uint64_t d;
	unsigned first;

	if (v >= TEN_8) {
		size_t size = put_long(out, v / TEN_8);

		put8(out + size, split8((uint32_t)(v % TEN_8)));
		return size + 8;
	}
	d = split8((uint32_t)v);
	first = (unsigned)__builtin_ctzll(d | UINT64_C(1) << 56) /
		8; /* the extra bit gives 0 one digit, too */
	put8(out, d >> 8 * first);
	return 8 - first;
}

static inline size_t put_unsigned(char *out, uint64_t v)
{
	uint32_t tens_of = (uint32_t)v / 10, ones = (uint32_t)v - 10 * tens_of;
	unsigned two = tens_of > 0;

	if (v >= 100)
		return put_long(out, v);
	out[0] = (char)('0' + tens_of);
	out[two] = (char)('0' + ones);
	return 1 + two;
}

size_t num_unsigned(char *out, uint64_t v)
{
	return put_unsigned(out, v);
}

/* an upper bound for the digits of a float32: below TEN_8 * 10 */
#define NINE_DIGITS (10 * TEN_8)

#define PLACES_MOST 22

/* Writes a number of nine digits that all come after the point, behind zeros. */
static size_t put_small(char *out, uint32_t digits, unsigned places)
{
	uint32_t first = digits / (uint32_t)TEN_8;
	uint64_t d = split8(digits - first * (uint32_t)TEN_8);
	char *nine = out + 2 + (places - 9);

	memcpy(out, "0.00000000000000", 16);
	*nine = (char)('0' + first);
	put8(nine + 1, d);
	return (size_t)(nine - out) + 1 + used_digits(d);
}

/*
 * Writes digits * 10^-places without trailing zeros, for the short decimals of floats: `digits` is
 * above 0 and below NINE_DIGITS, `places` from 1 to PLACES_MOST.
 */
static inline size_t put_short(char *out, uint32_t digits, unsigned places)
{
	static const uint32_t units[] = {1,      10,      100,      1000,     10000,
					 100000, 1000000, 10000000, 100000000};
	uint32_t whole, unit;
	unsigned used;
	uint64_t d;
	size_t size;

	if (places > 8)
		return put_small(out, digits, places);
	unit = units[places];
	whole = digits / unit;
	d = split8(digits - whole * unit) >> 8 * (8 - places);
	size = put_unsigned(out, whole);
	used = used_digits(d);
	out[size] = '.';
	put8(out + size + 1, d);
	return size + used + (used > 0);
}

/* Writes digits * 10^-9, for any number of digits. */
static size_t put_nine_places(char *out, uint64_t digits)
{
	uint32_t behind = (uint32_t)(digits % NINE_DIGITS);
	uint32_t first = behind / (uint32_t)TEN_8;
	uint64_t d = split8(behind - first * (uint32_t)TEN_8);
	size_t size = put_unsigned(out, digits / NINE_DIGITS);

	out[size] = '.';
	out[size + 1] = (char)('0' + first);
	put8(out + size + 2, d);
	return behind ? size + 2 + used_digits(d) : size;
}

/* Writes digits * 10^-places, for any values of both. */
static size_t put_long_fraction(char *out, uint64_t digits, unsigned places)
{
	char text[24];
	unsigned count = (unsigned)put_long(text, digits), whole;
	size_t size = 0;

	for (; places && text[count - 1] == '0'; places--)
		count--;
	whole = count > places ? count - places : 0;
	if (!whole)
		out[size++] = '0';
	memcpy(out + size, text, whole);
	size += whole;
	if (!places)
		return size;
	out[size++] = '.';
	memset(out + size, '0', places - (count - whole));
	size += places - (count - whole);
	memcpy(out + size, text + whole, count - whole);
	return size + (count - whole);
}

static size_t put_whole(char *out, struct decimal d)
{
	size_t size = put_unsigned(out, d.digits);

	if (d.exponent <= 0 || !d.digits)
		return size;
	memset(out + size, '0', (size_t)d.exponent);
	return size + (size_t)d.exponent;
}

static inline size_t put_decimal(char *out, bool negative, struct decimal d)
{
	*out = '-';
	out += negative;
	if (d.exponent >= 0 || !d.digits)
		return negative + put_whole(out, d);
	if (d.digits < NINE_DIGITS && d.exponent >= -PLACES_MOST)
		return negative + put_short(out, (uint32_t)d.digits, (unsigned)-d.exponent);
	return negative + put_long_fraction(out, d.digits, (unsigned)-d.exponent);
}

static size_t put_special(char *out, double v)
{
	const char *text = isnan(v) ? "nan" : v < 0 ? "-inf" : "inf";
	size_t size = strlen(text);

	memcpy(out, text, size);
	return size;
}

/* ---- float32 to text ---- */

/*
 * significand * g / 2^64, where g is a power of ten that may be less than one too high: what lies
 * behind the point is kept as a last bit that says whether it was zero.
 */
static inline uint32_t scale_to_odd(uint64_t g, uint32_t significand)
{
	struct product product = multiply(g, significand);

	return (uint32_t)product.high | (product.low >> 32 > 1);
}

/*
 * A float and the ends of its rounding interval, in quarters of 10^k; they are at least four apart.
 */
struct rounding {
	int k;
	uint32_t low, at, high;
};

/* Returns the rounding interval of the finite float above 0 with these bits. */
static inline struct rounding rounding_of(uint32_t bits)
{
	uint32_t fraction = bits & 0x7fffff, biased = bits >> 23 & 0xff;
	uint32_t c = biased ? fraction | 0x800000 : fraction, odd = c & 1;
	int q = (int)(biased ? biased : 1) - 150;  /* the float is c * 2^q */
	bool narrow = fraction == 0 && biased > 1; /* its lower neighbour is only half as far */
	/* log10 of the width, 2^q or 3/4 * 2^q */
	int k = narrow ? (q * 1262611 - 524031) >> 22 : log10_of_two(q);
	int h = q + log2_of_ten(-k) + 1;
	uint64_t g = ten_leading(-k) + (k > 0 || k < -27);

	return (struct rounding){
		.k = k,
		.low = scale_to_odd(g, (4 * c - 2 + narrow) << h) + odd,
		.at = scale_to_odd(g, (4 * c) << h),
		.high = scale_to_odd(g, (4 * c + 2) << h) - odd,
	};
}

/*
 * Returns the decimal with the fewest digits that rounds to the float, and of those the one nearest
 * to `at`, which lies in the interval. Only one multiple of 10^(k+1) can be within.
 */
static inline struct decimal shortest_decimal(const struct rounding *r, uint32_t at)
{
	uint32_t s = at / 4, tenth = s / 10;
	bool below = r->low <= 4 * s, above = 4 * s + 4 <= r->high;
	bool tens_below = r->low <= 40 * tenth, tens_above = 40 * tenth + 40 <= r->high;
	bool nearer = at + (s & 1) > 4 * s + 2;
	/* No branches here: none of these conditions could be predicted. */
	bool up = above & (nearer | !below);
	uint32_t by_ten = (tens_below != tens_above) & (s >= 10);
	uint32_t choose = -by_ten;

	return (struct decimal){((tenth + tens_above) & choose) | ((s + up) & ~choose),
				r->k + (int)by_ten};
}

/* ---- the same in double ---- */

/* A decimal, and its distance from the value that it approximates, in units of 10^-places. */
struct quick {
	uint32_t digits;
	unsigned places;
	double distance;
	double unit; /* distance / unit is the difference of the two values; a power of ten */
};

/* Larger than the rounding error of any number below, all less than 2^28. */
#define QUICK_SLACK 0x1p-20

/*
 * The result of `shortest` for f, a float above 0, and v, a number that rounds to it, if double is
 * exact enough; otherwise false. The unit is 10^-places; at most one multiple of ten of it can be
 * within the interval.
 */
static inline bool quick_shortest(double v, float f, struct quick *out)
{
	uint32_t bits = f32_bits(f), biased = bits >> 23;
	int exponent = (int)biased - 150; /* half the way to the next float is 2^(exponent - 1) */
	unsigned places = (unsigned)-log10_of_two(exponent);
	double unit, at, middle, half, below, from_ten, from_one;
	uint32_t one, tenth;
	bool outside, by_ten, by_one;

	if (biased == 255 || places - 2 > PLACES_MOST - 2)
		return false;
	unit = ten((int)places);
	at = v * unit;
	middle = (double)f * unit;
	half = (double)f32_from_bits(biased << 23) * 0x1p-24 * unit;
	/* Below a power of two, floats are half as far apart. */
	below = bits & 0x7fffff ? half : half / 2;
	tenth = (uint32_t)(int32_t)(middle * 0.1 + 0.5);
	from_ten = fabs(10 * (double)(int32_t)tenth - middle);
	by_ten = from_ten < below - QUICK_SLACK;
	/* The nearest decimal may round to the next float; then take the decimal before it. */
	one = (uint32_t)(int32_t)(at + 0.5);
	from_one = (double)(int32_t)one - middle;
	outside = fabs(from_one) > half + QUICK_SLACK;
	one -= (uint32_t)(outside & (from_one > 0)) - (uint32_t)(outside & (from_one < 0));
	from_one = (double)(int32_t)one;
	by_one = (from_ten > half + QUICK_SLACK) & (fabs(from_one - middle) < below - QUICK_SLACK) &
		 (outside | (fabs(from_one - at) < 0.5 - QUICK_SLACK));
	*out = (struct quick){
		.digits = by_ten ? tenth : one,
		.places = places - by_ten,
		.distance = fabs((by_ten ? 10 * (double)(int32_t)tenth : from_one) - at),
		.unit = unit,
	};
	return by_ten | by_one;
}

/*
 * Is the number a whole one below 2^24? Each of those is a float, so its digits are the shortest
 * text.
 */
static inline bool is_small_whole(double magnitude)
{
	return magnitude < 0x1p24 && magnitude == (double)(uint32_t)magnitude;
}

static size_t put_float(char *out, float v)
{
	double magnitude = fabs((double)v);
	struct rounding r;

	if (is_small_whole(magnitude))
		return put_decimal(out, signbit(v), (struct decimal){(uint32_t)magnitude, 0});
	if (!isfinite(v))
		return put_special(out, (double)v);
	r = rounding_of(f32_bits(v));
	return put_decimal(out, v < 0, shortest_decimal(&r, r.at));
}

static inline size_t put_quick(char *out, bool negative, const struct quick *q)
{
	*out = '-';
	return negative + put_short(out + negative, q->digits, q->places);
}

size_t num_f32(char *out, float v)
{
	struct quick q;

	if (quick_shortest(fabs((double)v), fabsf(v), &q))
		return put_quick(out, v < 0, &q);
	return put_float(out, v);
}

/* ---- computed values to text ---- */

static void slow_decimal(struct decimal d, double *wide, float *narrow)
{
	char text[48];

	snprintf(text, sizeof(text), "%" PRIu64 "e%d", d.digits, d.exponent);
	num_slow_text(text, wide, narrow);
}

uint32_t num_nearest_k(double stored, const struct lane *lane)
{
	double distance = stored - (double)lane->base;
	double k = distance / (double)lane->step + 0.5;

	if (k >= 1 && k < 65535)
		return (uint32_t)k;
	return k >= 65535 && lane->step != 0 && isfinite(distance) ? 65535 : 0;
}

/* Are both numbers, put into the lane as an encoder does it, the same stored bits? */
static inline bool stored_alike(double a, double b, const struct lane *lane)
{
	a /= lane->unit;
	b /= lane->unit;
	if (lane->form == LANE_GRID)
		return num_nearest_k(a, lane) == num_nearest_k(b, lane);
	return lane->form != LANE_FLOAT || (float)a == (float)b;
}

/* May the decimal represent |v|? Checks the value that a reader of the text computes. */
static inline bool stands_for(struct decimal d, double v, const struct lane *lane)
{
	double wide;
	float narrow;

	if (!decimal_f64(d, &wide))
		slow_decimal(d, &wide, NULL);
	if (!narrow_f64(wide, &narrow))
		slow_decimal(d, NULL, &narrow);
	return narrow == (float)fabs(v) && stored_alike(copysign(wide, v), v, lane);
}

/* How far rounding may move a place on the grid, in steps, with numbers of 2^40 steps and less. */
#define STEP_SLACK 0.01
#define STEPS_MOST 0x1p40

/*
 * Does the decimal certainly have the same k as the grid value that it approximates? Places on the
 * grid are computed inexactly, but this is clear of the middle between two.
 */
static inline bool keeps_k(const struct quick *q, const struct lane *lane)
{
	double step = fabs(lane->unit * (double)lane->step);
	double base = fabs(lane->unit * (double)lane->base);

	return step == 0 ||
	       (q->distance < (0.5 - STEP_SLACK) * step * q->unit && base < STEPS_MOST * step);
}

/* Finds the fewest digits that round to the same float32 as v and that the lane stores like v. */
static bool float_digits(double v, const struct lane *lane, struct decimal *out)
{
	float magnitude = fabsf((float)v);
	struct rounding r;
	double at;
	uint32_t quarters;

	if (!isfinite(magnitude))
		return false;
	r = rounding_of(f32_bits(magnitude));
	at = fabs(v) * ten(-r.k) * 4;
	quarters = (uint32_t)at;
	*out = shortest_decimal(&r, quarters | (quarters < at));
	return stands_for(*out, v, lane);
}

/* The approximate bounds of the magnitudes that are read back as the same number. */
struct interval {
	double low, high;
};

/*
 * Returns the middle between the positive float with these bits and the next float; after FLT_MAX
 * the next would be 2^128.
 */
static double middle_above(uint32_t bits)
{
	double next = bits == 0x7f7fffff ? 0x1p128 : (double)f32_from_bits(bits + 1);

	return ((double)f32_from_bits(bits) + next) / 2;
}

/* The interval that rounds to the float of these bits, which is above 0. */
static struct interval rounding_interval(uint32_t bits)
{
	return (struct interval){middle_above(bits - 1),
				 bits < 0x7f800000 ? middle_above(bits) : INFINITY};
}

static struct interval grid_interval(double v, const struct lane *lane)
{
	double magnitude = fabs(v), step = lane->unit * (double)lane->step;
	double half = fabs(step) / 2;
	struct interval in = {magnitude - half, magnitude + half};
	uint32_t k = num_nearest_k(v / lane->unit, lane);

	if (lane->step == 0)
		return (struct interval){0, INFINITY};
	/* Numbers outside the grid go to its ends. */
	if (k == 0 || k == 65535) {
		bool upwards = (k == 65535) == (step > 0);

		if (upwards == (v > 0))
			in.high = INFINITY;
		else
			in.low = 0;
	}
	return in;
}

static struct interval lane_interval(double v, const struct lane *lane)
{
	struct interval in;

	if (lane->form == LANE_GRID)
		return grid_interval(v, lane);
	if (lane->form != LANE_FLOAT)
		return (struct interval){0, INFINITY};
	in = rounding_interval(f32_bits((float)fabs(v / lane->unit)));
	return (struct interval){in.low * fabs(lane->unit), in.high * fabs(lane->unit)};
}

/* Returns the largest e with 10^e <= width, for finite widths above 0; limited to the table. */
static int log10_of(double width)
{
	int e = log10_of_two((int)(f64_bits(width) >> 52) - 1023);

	if (e < TEN_MIN)
		return TEN_MIN;
	if (e > TEN_MAX - 2)
		return TEN_MAX - 2;
	return e + (width >= ten(e + 1));
}

#define LANE_DIGITS 15
#define LANE_DIGITS_END 1e15 /* least whole number with more than LANE_DIGITS digits */

/* The multiple of 10^exponent in the interval that is nearest to v and may stand for it. */
static bool find_multiple(double v, const struct lane *lane, struct interval in, int exponent,
			  struct decimal *out)
{
	double scale = ten(-exponent), scaled = fabs(v) * scale;
	double slack = scaled * 0x1p-50; /* an upper limit on the error of scaling */
	uint64_t below = (uint64_t)scaled;
	bool upper = scaled - (double)below > 0.5;

	for (int i = 0; i < 2; i++, upper = !upper) {
		double candidate = (double)(below + upper);

		*out = (struct decimal){below + upper, exponent};
		if (candidate >= in.low * scale - slack && candidate <= in.high * scale + slack &&
		    stands_for(*out, v, lane))
			return true;
	}
	return false;
}

/* Finds the shortest decimal that may stand for v; false if LANE_DIGITS do not suffice. */
static bool fewest_digits(double v, const struct lane *lane, struct decimal *out)
{
	struct interval in = rounding_interval(f32_bits((float)fabs(v)));
	struct interval stored = lane_interval(v, lane);
	double width;

	if (stored.low > in.low)
		in.low = stored.low;
	if (stored.high < in.high)
		in.high = stored.high;
	width = isinf(in.high) ? fabs(v) / 10 : in.high - in.low;
	if (!(width > 0))
		return false;
	/* A multiple of the next power may be within; of the power itself there is one at least. */
	for (int e = log10_of(width) + 1; fabs(v) * ten(-e) < LANE_DIGITS_END; e--)
		if (find_multiple(v, lane, in, e, out))
			return true;
	return false;
}

/* Larger numbers would not fit into NUM_MAX; stored values never come near. */
#define LANE_LARGEST 1e60

/*
 * Below this number, all values of an exact lane have at most LANE_DIGITS digits, nine of them
 * after the point.
 */
#define LANE_EXACT_END 1e6

static size_t put_computed(char *out, double v, const struct lane *lane)
{
	struct decimal d;

	if (!(fabs(v) < LANE_LARGEST))
		return put_special(out, v);
	if (is_small_whole(fabs(v)))
		return put_decimal(out, signbit(v), (struct decimal){(uint32_t)fabs(v), 0});
	if (lane->exact && fabs(v) < LANE_EXACT_END) {
		*out = '-';
		return (v < 0) + put_nine_places(out + (v < 0), (uint64_t)(fabs(v) * 1e9));
	}
	if ((float)v == 0)
		d = (struct decimal){0, 0};
	else if (!float_digits(v, lane, &d) && !fewest_digits(v, lane, &d))
		d = num_rounded(v, LANE_DIGITS);
	return put_decimal(out, v < 0, d);
}

size_t num_lane(char *out, double v, const struct lane *lane)
{
	if (lane->form == LANE_FLOAT && lane->unit == 1 && fabs(v) < LANE_LARGEST)
		return num_f32(out, (float)v);
	return put_computed(out, v, lane);
}

size_t num_value(char *out, double v, const struct lane *lane, bool stored)
{
	struct quick q;

	if (stored && lane->form == LANE_GRID && !lane->exact &&
	    quick_shortest(fabs(v), fabsf((float)v), &q) && keeps_k(&q, lane))
		return put_quick(out, v < 0, &q);
	return num_lane(out, v, lane);
}

/* A value and the float that it rounds to, in units of the last place of a text. */
struct placed {
	double unit, at, middle;
	double half,
		below; /* half the distance of that float from the next, and from the one below */
	double digits; /* of the text */
};

#define F64_EXPONENT UINT64_C(0x7ff0000000000000)

/* False if double is not exact enough. v is not negative. */
static inline bool place_value(const struct num_plain *n, double v, struct placed *out)
{
	double nearest = (double)(float)v, unit = ten((int)n->places);
	uint64_t bits = f64_bits(nearest);
	double half = f64_from_bits(bits & F64_EXPONENT) * (0x1p-24 * unit);

	out->unit = unit;
	out->at = v * unit;
	out->middle = nearest * unit;
	out->half = half;
	out->below = bits & ~F64_EXPONENT ? half : half / 2;
	out->digits = (double)(int64_t)n->digits;
	return (n->digits < NINE_DIGITS) & (n->places <= PLACES_MOST) & (v >= (double)FLT_MIN);
}

/* Does the text certainly round to the float? */
static inline bool rounds_alike(const struct placed *p)
{
	return fabs(p->digits - p->middle) < p->below - QUICK_SLACK;
}

/*
 * Is it the result of quick_shortest, as far as the number itself shows: the multiple of its unit
 * nearest to v, with the same float32, and no such number with one place less?
 */
static inline bool is_shortest(const struct num_plain *n, const struct placed *p, struct quick *out)
{
	double half = p->half + QUICK_SLACK;
	double behind_ten = p->middle - (p->digits - (double)(int32_t)((uint32_t)n->digits % 10));

	out->distance = fabs(p->digits - p->at);
	out->unit = p->unit;
	return (out->distance < 0.5 - QUICK_SLACK) & (behind_ten > half) &
	       (10 - behind_ten > half) & rounds_alike(p);
}

/* Are n and q the same number? n, from a text, has no zeros at its end. */
static inline bool has_digits(const struct num_plain *n, const struct quick *q)
{
	return n->digits < NINE_DIGITS && n->places <= q->places && q->places - n->places < 9 &&
	       n->digits * (uint64_t)ten((int)(q->places - n->places)) == q->digits;
}

static inline bool is_quick_value(const struct num_plain *n, double v, const struct lane *lane)
{
	struct placed placed;
	struct quick q;

	if (n->negative != (v < 0) || !place_value(n, fabs(v), &placed))
		return false;
	return lane->form == LANE_GRID
		       ? !lane->exact && is_shortest(n, &placed, &q) && keeps_k(&q, lane)
		       : lane->form == LANE_FLOAT && lane->unit == 1 && rounds_alike(&placed);
}

static __attribute__((noinline)) bool plain_is_value(const struct num_plain *n, double v,
						     const struct lane *lane, bool stored)
{
	struct quick q;
	double value;
	bool read = num_plain_value(n, &value);

	if (read && value == v)
		return true;
	if (!stored)
		return false;
	if (lane->form == LANE_FLOAT && lane->unit == 1)
		return read && (float)value == (float)v;
	if (lane->form != LANE_GRID || lane->exact || n->negative != (v < 0))
		return false;
	v = fabs(v);
	return quick_shortest(v, (float)v, &q) && has_digits(n, &q) && keeps_k(&q, lane);
}

bool num_are_values(const struct num_plain *n, const double *v, const struct lane *lane,
		    unsigned count, bool stored)
{
	for (unsigned i = 0; i < count; i++)
		if (!(stored && is_quick_value(&n[i], v[i], &lane[i])) &&
		    !plain_is_value(&n[i], v[i], &lane[i], stored))
			return false;
	return true;
}

size_t num_seconds(char *out, double seconds)
{
	double micro = fabs(seconds) * 1e6 + 0.5;

	if (seconds > 0 && micro >= 1 && micro < (double)NINE_DIGITS)
		return put_short(out, (uint32_t)(int32_t)micro, 6);
	if (!(fabs(seconds) < LANE_LARGEST))
		return put_special(out, seconds);
	if (micro >= LANE_DIGITS_END)
		return put_decimal(out, seconds < 0, num_rounded(seconds, LANE_DIGITS));
	return put_decimal(out, seconds < 0 && micro >= 1, (struct decimal){(uint64_t)micro, -6});
}

/* Writes the number directly into the buffer's reserved room. */
void buf_f32_text(struct buf *b, float v)
{
	if (buf_reserve(b, NUM_MAX))
		b->size += num_f32((char *)b->data + b->size, v);
}

void buf_lane_text(struct buf *b, double v, const struct lane *lane)
{
	if (buf_reserve(b, NUM_MAX))
		b->size += num_lane((char *)b->data + b->size, v, lane);
}

void buf_seconds(struct buf *b, double seconds)
{
	if (buf_reserve(b, NUM_MAX))
		b->size += num_seconds((char *)b->data + b->size, seconds);
}

void buf_unsigned(struct buf *b, uint64_t v)
{
	if (buf_reserve(b, NUM_MAX))
		b->size += num_unsigned((char *)b->data + b->size, v);
}
