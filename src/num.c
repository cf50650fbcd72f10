/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * num.c - how a float becomes the shortest text:
 *
 * All decimals that round to one float lie in an interval around it. Multiplied by the right power
 * of ten that interval is at least one and less than ten or twenty integers wide, so that one of
 * them, or one of its multiples of ten, is the answer (R. Giulietti, "The Schubfach way to render
 * doubles"). A lane narrows the interval to the numbers that are stored alike.
 *
 * Reading goes the same way: 64 bits of the digits times 64 bits of the power of ten decide nearly
 * every number; the few that lie too near to the middle between two go to strtod, in the C locale.
 *
 * This is where the program spends its time. The small functions say inline since gcc -O2 would
 * otherwise call them, at twice the cost; whatever has an exact fallback is only a shorter way.
 */
#include "num.h"

#include <endian.h>
#include <inttypes.h>
#include <locale.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- powers of ten ---- */

#define TEN_MIN (-65)
#define TEN_MAX 65

/* The leading 64 bits of 10^e, cut off: exact for e from 0 to 27, otherwise less than one too low.
 */
static const uint64_t ten_bits[TEN_MAX - TEN_MIN + 1] = {
	0x86ccbb52ea94baea, 0xa87fea27a539e9a5, 0xd29fe4b18e88640e, 0x83a3eeeef9153e89,
	0xa48ceaaab75a8e2b, 0xcdb02555653131b6, 0x808e17555f3ebf11, 0xa0b19d2ab70e6ed6,
	0xc8de047564d20a8b, 0xfb158592be068d2e, 0x9ced737bb6c4183d, 0xc428d05aa4751e4c,
	0xf53304714d9265df, 0x993fe2c6d07b7fab, 0xbf8fdb78849a5f96, 0xef73d256a5c0f77c,
	0x95a8637627989aad, 0xbb127c53b17ec159, 0xe9d71b689dde71af, 0x9226712162ab070d,
	0xb6b00d69bb55c8d1, 0xe45c10c42a2b3b05, 0x8eb98a7a9a5b04e3, 0xb267ed1940f1c61c,
	0xdf01e85f912e37a3, 0x8b61313bbabce2c6, 0xae397d8aa96c1b77, 0xd9c7dced53c72255,
	0x881cea14545c7575, 0xaa242499697392d2, 0xd4ad2dbfc3d07787, 0x84ec3c97da624ab4,
	0xa6274bbdd0fadd61, 0xcfb11ead453994ba, 0x81ceb32c4b43fcf4, 0xa2425ff75e14fc31,
	0xcad2f7f5359a3b3e, 0xfd87b5f28300ca0d, 0x9e74d1b791e07e48, 0xc612062576589dda,
	0xf79687aed3eec551, 0x9abe14cd44753b52, 0xc16d9a0095928a27, 0xf1c90080baf72cb1,
	0x971da05074da7bee, 0xbce5086492111aea, 0xec1e4a7db69561a5, 0x9392ee8e921d5d07,
	0xb877aa3236a4b449, 0xe69594bec44de15b, 0x901d7cf73ab0acd9, 0xb424dc35095cd80f,
	0xe12e13424bb40e13, 0x8cbccc096f5088cb, 0xafebff0bcb24aafe, 0xdbe6fecebdedd5be,
	0x89705f4136b4a597, 0xabcc77118461cefc, 0xd6bf94d5e57a42bc, 0x8637bd05af6c69b5,
	0xa7c5ac471b478423, 0xd1b71758e219652b, 0x83126e978d4fdf3b, 0xa3d70a3d70a3d70a,
	0xcccccccccccccccc, 0x8000000000000000, 0xa000000000000000, 0xc800000000000000,
	0xfa00000000000000, 0x9c40000000000000, 0xc350000000000000, 0xf424000000000000,
	0x9896800000000000, 0xbebc200000000000, 0xee6b280000000000, 0x9502f90000000000,
	0xba43b74000000000, 0xe8d4a51000000000, 0x9184e72a00000000, 0xb5e620f480000000,
	0xe35fa931a0000000, 0x8e1bc9bf04000000, 0xb1a2bc2ec5000000, 0xde0b6b3a76400000,
	0x8ac7230489e80000, 0xad78ebc5ac620000, 0xd8d726b7177a8000, 0x878678326eac9000,
	0xa968163f0a57b400, 0xd3c21bcecceda100, 0x84595161401484a0, 0xa56fa5b99019a5c8,
	0xcecb8f27f4200f3a, 0x813f3978f8940984, 0xa18f07d736b90be5, 0xc9f2c9cd04674ede,
	0xfc6f7c4045812296, 0x9dc5ada82b70b59d, 0xc5371912364ce305, 0xf684df56c3e01bc6,
	0x9a130b963a6c115c, 0xc097ce7bc90715b3, 0xf0bdc21abb48db20, 0x96769950b50d88f4,
	0xbc143fa4e250eb31, 0xeb194f8e1ae525fd, 0x92efd1b8d0cf37be, 0xb7abc627050305ad,
	0xe596b7b0c643c719, 0x8f7e32ce7bea5c6f, 0xb35dbf821ae4f38b, 0xe0352f62a19e306e,
	0x8c213d9da502de45, 0xaf298d050e4395d6, 0xdaf3f04651d47b4c, 0x88d8762bf324cd0f,
	0xab0e93b6efee0053, 0xd5d238a4abe98068, 0x85a36366eb71f041, 0xa70c3c40a64e6c51,
	0xd0cf4b50cfe20765, 0x82818f1281ed449f, 0xa321f2d7226895c7, 0xcbea6f8ceb02bb39,
	0xfee50b7025c36a08, 0x9f4f2726179a2245, 0xc722f0ef9d80aad6, 0xf8ebad2b84e0d58b,
	0x9b934c3b330c8577, 0xc2781f49ffcfa6d5, 0xf316271c7fc3908a,
};

/* To the nearest: exact for e from 0 to TEN_EXACT. */
static const double tens[TEN_MAX - TEN_MIN + 1] = {
	1e-65, 1e-64, 1e-63, 1e-62, 1e-61, 1e-60, 1e-59, 1e-58, 1e-57, 1e-56, 1e-55, 1e-54,
	1e-53, 1e-52, 1e-51, 1e-50, 1e-49, 1e-48, 1e-47, 1e-46, 1e-45, 1e-44, 1e-43, 1e-42,
	1e-41, 1e-40, 1e-39, 1e-38, 1e-37, 1e-36, 1e-35, 1e-34, 1e-33, 1e-32, 1e-31, 1e-30,
	1e-29, 1e-28, 1e-27, 1e-26, 1e-25, 1e-24, 1e-23, 1e-22, 1e-21, 1e-20, 1e-19, 1e-18,
	1e-17, 1e-16, 1e-15, 1e-14, 1e-13, 1e-12, 1e-11, 1e-10, 1e-9,  1e-8,  1e-7,  1e-6,
	1e-5,  1e-4,  1e-3,  1e-2,  1e-1,  1e0,   1e1,   1e2,   1e3,   1e4,   1e5,   1e6,
	1e7,   1e8,   1e9,   1e10,  1e11,  1e12,  1e13,  1e14,  1e15,  1e16,  1e17,  1e18,
	1e19,  1e20,  1e21,  1e22,  1e23,  1e24,  1e25,  1e26,  1e27,  1e28,  1e29,  1e30,
	1e31,  1e32,  1e33,  1e34,  1e35,  1e36,  1e37,  1e38,  1e39,  1e40,  1e41,  1e42,
	1e43,  1e44,  1e45,  1e46,  1e47,  1e48,  1e49,  1e50,  1e51,  1e52,  1e53,  1e54,
	1e55,  1e56,  1e57,  1e58,  1e59,  1e60,  1e61,  1e62,  1e63,  1e64,  1e65,
};
#define TEN_EXACT 22

static inline double ten(int e)
{
	return tens[e - TEN_MIN];
}

static uint64_t ten_leading(int e)
{
	return ten_bits[e - TEN_MIN];
}

/* Rounded down; right for |e| up to 1233. */
static int log2_of_ten(int e)
{
	return (e * 1741647) >> 19;
}

/* Rounded down; right for |e| up to 1650. */
static int log10_of_two(int e)
{
	return (e * 1262611) >> 22;
}

/* ---- digits ---- */

/*
 * Sixteen digits at once, a byte each, the first digit in the lowest byte: three multiplications
 * split eight of them, and where a number begins and ends is a count of zero bits.
 */
typedef unsigned __int128 digits16;

#define TEN_8 UINT64_C(100000000)
#define TEN_16 (TEN_8 * TEN_8)

#define DIGITS_8 UINT64_C(0x3030303030303030) /* "00000000" */

static inline uint64_t split8(uint32_t v)
{
	uint64_t fours = (v / 10000) | (uint64_t)(v % 10000) << 32;
	uint64_t hundreds = fours * 10486 >> 20 & 0x0000007f0000007f; /* fours / 100 */
	uint64_t twos = hundreds | (fours - 100 * hundreds) << 16;
	uint64_t tens_of = twos * 103 >> 10 & 0x000f000f000f000f; /* twos / 10 */

	return tens_of | (twos - 10 * tens_of) << 8;
}

/* v below TEN_16, with zeros in front. */
static inline digits16 split16(uint64_t v)
{
	if (v < TEN_8)
		return (digits16)split8((uint32_t)v) << 64;
	return split8((uint32_t)(v / TEN_8)) | (digits16)split8((uint32_t)(v % TEN_8)) << 64;
}

/* Which digit is the first that is not 0, and behind which is the last; of a number above 0. */
static inline unsigned first_digit(digits16 d)
{
	uint64_t low = (uint64_t)d, high = (uint64_t)(d >> 64);

	return (unsigned)(low ? __builtin_ctzll(low) : 64 + __builtin_ctzll(high)) / 8;
}

static inline unsigned end_digit(digits16 d)
{
	uint64_t low = (uint64_t)d, high = (uint64_t)(d >> 64);

	return 16 - (unsigned)(high ? __builtin_clzll(high) : 64 + __builtin_clzll(low)) / 8;
}

static inline void put8(char *out, uint64_t bytes)
{
	bytes = htole64(bytes);
	memcpy(out, &bytes, 8);
}

/* The digits from `from` on; writes 16 bytes whatever there is. */
static inline void put_digits(char *out, digits16 d, unsigned from)
{
	d = (d | DIGITS_8 | (digits16)DIGITS_8 << 64) >> 8 * from;
	put8(out, (uint64_t)d);
	put8(out + 8, (uint64_t)(d >> 64));
}

size_t num_unsigned(char *out, uint64_t v)
{
	unsigned first;
	digits16 d;

	if (v >= TEN_16) {
		size_t size = num_unsigned(out, v / TEN_16);

		put_digits(out + size, split16(v % TEN_16), 0);
		return size + 16;
	}
	d = split16(v);
	first = v ? first_digit(d) : 15;
	put_digits(out, d, first);
	return 16 - first;
}

struct decimal {
	uint64_t digits; /* below TEN_16 where it is written */
	int exponent;
};

/* Digits that end 16 or more places behind the point, without zeros at their end. */
static size_t put_small(char *out, digits16 d, unsigned places)
{
	unsigned zeros = places - 16;

	memcpy(out, "0.", 2);
	memset(out + 2, '0', zeros);
	put_digits(out + 2 + zeros, d, 0);
	return 2 + zeros + end_digit(d);
}

/* digits * 10^-places in plain digits, the fraction without zeros at its end. */
static inline size_t put_fraction(char *out, uint64_t digits, unsigned places)
{
	digits16 d = split16(digits);
	unsigned point = 16 - places, first, end, size;

	if (places > 15)
		return put_small(out, d, places);
	/* The digit before the point is there even if it is 0. */
	first = first_digit(d | (digits16)1 << 8 * (point - 1));
	end = end_digit(d);
	size = point - first;
	put_digits(out, d, first);
	if (end <= point)
		return size;
	out[size] = '.';
	put_digits(out + size + 1, d, point);
	return size + 1 + end - point;
}

static size_t put_whole(char *out, struct decimal d)
{
	size_t size = num_unsigned(out, d.digits);

	if (d.exponent <= 0 || !d.digits)
		return size;
	memset(out + size, '0', (size_t)d.exponent);
	return size + (size_t)d.exponent;
}

static inline size_t put_decimal(char *out, bool negative, struct decimal d)
{
	*out = '-';
	out += negative;
	if (d.exponent < 0 && d.digits)
		return negative + put_fraction(out, d.digits, (unsigned)-d.exponent);
	return negative + put_whole(out, d);
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
	unsigned __int128 product = (unsigned __int128)g * significand;
	uint32_t behind = (uint32_t)((uint64_t)product >> 32);

	return (uint32_t)(product >> 64) | (behind > 1);
}

/* A float and the ends of what rounds to it, in quarters of 10^k; they are at least four apart. */
struct rounding {
	int k;
	uint32_t low, at, high;
};

/* Of the finite float above 0 of these bits. */
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
 * The decimal of the fewest digits that rounds to the float, and of those the nearest to `at`,
 * which lies in the interval. Only one multiple of 10^(k+1) can be within.
 */
static inline struct decimal shortest(const struct rounding *r, uint32_t at)
{
	uint32_t s = at / 4, tenth = s / 10;
	bool below = r->low <= 4 * s, above = 4 * s + 4 <= r->high;
	bool tens_below = r->low <= 40 * tenth, tens_above = 40 * tenth + 40 <= r->high;
	bool nearer = at + (s & 1) > 4 * s + 2;
	/* Without branches: none of these could be predicted. */
	bool up = above & (nearer | !below);
	uint32_t by_ten = (tens_below != tens_above) & (s >= 10);
	uint32_t choose = -by_ten;

	return (struct decimal){((tenth + tens_above) & choose) | ((s + up) & ~choose),
				r->k + (int)by_ten};
}

/* A whole number that stands for itself alone among the floats: v itself is its shortest text. */
static inline bool is_small_whole(double magnitude)
{
	return magnitude < 0x1p24 && magnitude == (double)(uint32_t)magnitude;
}

size_t num_f32(char *out, float v)
{
	double magnitude = fabs((double)v);
	struct rounding r;

	if (is_small_whole(magnitude))
		return put_decimal(out, signbit(v), (struct decimal){(uint32_t)magnitude, 0});
	if (!isfinite(v))
		return put_special(out, (double)v);
	r = rounding_of(f32_bits(v));
	return put_decimal(out, signbit(v), shortest(&r, r.at));
}

/* ---- decimals to floating point ---- */

static double f64_from_bits(uint64_t bits)
{
	double v;

	memcpy(&v, &bits, sizeof(v));
	return v;
}

static uint64_t f64_bits(double v)
{
	uint64_t bits;

	memcpy(&bits, &v, sizeof(bits));
	return bits;
}

/* False when 64 bits of the power of ten cannot tell on which side of a middle the number is. */
static inline bool multiply_f64(struct decimal d, double *out)
{
	int shift = __builtin_clzll(d.digits);
	unsigned __int128 product =
		(unsigned __int128)(d.digits << shift) * ten_leading(d.exponent);
	int exponent = 63 - shift + log2_of_ten(d.exponent);
	uint64_t high = (uint64_t)(product >> 64);
	uint64_t rest;

	if (high >> 63)
		exponent++;
	else
		high = (uint64_t)(product >> 63);
	/* The true product is less than 4 above `high`; its lowest 11 bits are to be rounded. */
	rest = high & 0x7ff;
	if (rest - 1021 <= 3)
		return false;
	/* A carry out of the 53 bits counts the exponent up, as it should. */
	*out = f64_from_bits(((uint64_t)(exponent + 1022) << 52) + (high >> 11) + (rest >> 10));
	return true;
}

/* Correctly rounded, or false. */
static inline bool decimal_f64(struct decimal d, double *out)
{
	if (d.digits <= UINT64_C(1) << 53 && abs(d.exponent) <= TEN_EXACT) {
		double exact = (double)(int64_t)d.digits; /* cheaper than from unsigned */

		*out = d.exponent < 0 ? exact / ten(-d.exponent) : exact * ten(d.exponent);
		return true;
	}
	if (d.digits == 0) {
		*out = 0;
		return true;
	}
	return d.exponent >= TEN_MIN && d.exponent <= TEN_MAX && multiply_f64(d, out);
}

/*
 * A decimal, rounded to float32 by way of the double nearest to it, or false. It lies between the
 * neighbours of that double; where both round alike, so does it.
 */
static inline bool narrow_f64(double nearest, float *out)
{
	*out = (float)nearest;
	return nearest == 0 || (float)f64_from_bits(f64_bits(nearest) - 1) ==
				       (float)f64_from_bits(f64_bits(nearest) + 1);
}

static locale_t c_locale;

static void make_c_locale(void)
{
	/* A constant object of the C library, which needs no memory and no release. */
	c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

/* `text` is digits, 'e' and an exponent. Not by way of double: that would round twice. */
static void slow_text(const char *text, double *wide, float *narrow)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, make_c_locale);
	if (wide)
		*wide = strtod_l(text, NULL, c_locale);
	if (narrow)
		*narrow = strtof_l(text, NULL, c_locale);
}

static void slow_decimal(struct decimal d, double *wide, float *narrow)
{
	char text[48];

	snprintf(text, sizeof(text), "%" PRIu64 "e%d", d.digits, d.exponent);
	slow_text(text, wide, narrow);
}

/* ---- computed values to text ---- */

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

/* May the decimal stand for |v|? Asked of what a reader of the text will compute. */
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

/* The fewest digits that round to the same float32 as v, if the lane stores them as it does v. */
static inline bool float_digits(double v, const struct lane *lane, struct decimal *out)
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
	*out = shortest(&r, quarters | (quarters < at));
	return stands_for(*out, v, lane);
}

/* Of magnitudes: about the numbers that may stand for one. */
struct interval {
	double low, high;
};

/* Between a positive float of these bits and the next, which behind FLT_MAX would be 2^128. */
static double middle_above(uint32_t bits)
{
	double next = bits == 0x7f7fffff ? 0x1p128 : (double)f32_from_bits(bits + 1);

	return ((double)f32_from_bits(bits) + next) / 2;
}

/* What rounds to the float of these bits, which is above 0. */
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
	/* What lies outside the grid goes to its ends. */
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

/* The largest e with 10^e <= width, for finite widths above 0; held within the table. */
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
#define LANE_DIGITS_END 1e15 /* the least whole number that has more */

/* The multiple of 10^exponent in the interval that is nearest to v and may stand for it. */
static bool find_multiple(double v, const struct lane *lane, struct interval in, int exponent,
			  struct decimal *out)
{
	double scale = ten(-exponent), scaled = fabs(v) * scale;
	double slack = scaled * 0x1p-50; /* what was lost by scaling, generously */
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

/* False when LANE_DIGITS do not suffice. */
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

/* v at LANE_DIGITS significant digits; finite. Exactly rounded, which scaling could not promise. */
static struct decimal rounded(double v)
{
	struct decimal d = {0, 0};
	char text[48];
	const char *p = text;

	snprintf(text, sizeof(text), "%.*e", LANE_DIGITS - 1, fabs(v));
	for (; *p != 'e'; p++)
		if (*p >= '0' && *p <= '9') /* and not the point of some locale */
			d.digits = d.digits * 10 + (uint64_t)(*p - '0');
	d.exponent = atoi(p + 1) - (LANE_DIGITS - 1);
	return d;
}

/* Beyond this a number would not fit into NUM_MAX; nothing that is stored comes near. */
#define LANE_LARGEST 1e60

/* Below it all values of an exact lane have at most LANE_DIGITS, nine of them behind the point. */
#define LANE_EXACT_END 1e6

size_t num_lane(char *out, double v, const struct lane *lane)
{
	struct decimal d;

	if (!(fabs(v) < LANE_LARGEST))
		return put_special(out, v);
	if (is_small_whole(fabs(v)))
		return put_decimal(out, signbit(v), (struct decimal){(uint32_t)fabs(v), 0});
	if (lane->form == LANE_FLOAT && lane->unit == 1)
		return num_f32(out, (float)v);
	if (lane->exact && fabs(v) < LANE_EXACT_END)
		return put_decimal(out, v < 0, (struct decimal){(uint64_t)(fabs(v) * 1e9), -9});
	if ((float)v == 0)
		d = (struct decimal){0, 0};
	else if (!float_digits(v, lane, &d) && !fewest_digits(v, lane, &d))
		d = rounded(v);
	return put_decimal(out, v < 0, d);
}

size_t num_seconds(char *out, double seconds)
{
	double micro = fabs(seconds) * 1e6 + 0.5;

	if (!(fabs(seconds) < LANE_LARGEST))
		return put_special(out, seconds);
	if (micro >= LANE_DIGITS_END)
		return put_decimal(out, seconds < 0, rounded(seconds));
	return put_decimal(out, seconds < 0 && micro >= 1, (struct decimal){(uint64_t)micro, -6});
}

/* Numbers are written in place: the room for the longest is there before. */
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

/* ---- text to numbers ---- */

/* A number as it is written. */
struct literal {
	bool negative;
	const char *digits[2]; /* before and behind the point */
	size_t size[2];
	uint64_t leading; /* all digits as one number, if there are at most 19 */
	int64_t exponent; /* as written; beyond +-10^18 held there */
};

static inline bool is_digit(char c)
{
	return (unsigned char)(c - '0') < 10;
}

static uint64_t get8(const char *p)
{
	uint64_t bytes;

	memcpy(&bytes, p, 8);
	return le64toh(bytes);
}

/* Eight digits, the first in the lowest byte, as a number; false when one of them is none. */
static inline bool join8(uint64_t bytes, uint64_t *out)
{
	uint64_t d = bytes - DIGITS_8;

	if (((bytes + UINT64_C(0x4646464646464646)) | d) & UINT64_C(0x8080808080808080))
		return false;
	d = (d * 10 + (d >> 8)) & 0x00ff00ff00ff00ff;
	d = (d * 100 + (d >> 16)) & 0x0000ffff0000ffff;
	*out = (d * 10000 + (d >> 32)) & 0xffffffff;
	return true;
}

/* The digits from p on, 1 to 8, if they reach to the end; what stands before them can be read. */
static inline bool join_tail(const char *p, const char *end, uint64_t *out)
{
	uint64_t mask = UINT64_MAX << (64 - 8 * (end - p));

	return join8((get8(end - 8) & mask) | (DIGITS_8 & ~mask), out);
}

static inline const char *scan_digits(const char *p, const char *end, struct literal *lit, int part)
{
	uint64_t leading = lit->leading;

	lit->digits[part] = p;
	for (; p < end && is_digit(*p); p++)
		leading = leading * 10 + (uint64_t)(*p - '0');
	lit->size[part] = (size_t)(p - lit->digits[part]);
	lit->leading = leading;
	return p;
}

/* The same behind the point, where most digits are and most often the text ends with them. */
static inline const char *scan_fraction(const char *p, const char *text, const char *end,
					struct literal *lit)
{
	const char *begin = p;
	uint64_t value;

	for (; end - p > 8 && join8(get8(p), &value); p += 8)
		lit->leading = lit->leading * TEN_8 + value;
	if (end - p <= 8 && p < end && end - text >= 8 && join_tail(p, end, &value)) {
		lit->leading = lit->leading * (uint64_t)ten((int)(end - p)) + value;
		p = end;
	} else {
		p = scan_digits(p, end, lit, 1);
	}
	lit->digits[1] = begin;
	lit->size[1] = (size_t)(p - begin);
	return p;
}

static const char *scan_exponent(const char *p, const char *end, struct literal *lit)
{
	bool negative = p < end && *p == '-';
	int64_t exponent = 0;

	if (p < end && (*p == '-' || *p == '+'))
		p++;
	if (p == end)
		return NULL;
	for (; p < end && is_digit(*p); p++)
		if (exponent < INT64_C(100000000000000000))
			exponent = exponent * 10 + (*p - '0');
	lit->exponent = negative ? -exponent : exponent;
	return p;
}

static inline bool scan_literal(const char *text, size_t size, char point, struct literal *lit)
{
	const char *p, *end = text + size;

	*lit = (struct literal){.negative = size && *text == '-'};
	p = scan_digits(text + (lit->negative | (size && *text == '+')), end, lit, 0);
	if (p < end && *p == point)
		p = scan_fraction(p + 1, text, end, lit);
	if (lit->size[0] + lit->size[1] == 0)
		return false;
	if (p < end && (*p == 'e' || *p == 'E'))
		p = scan_exponent(p + 1, end, lit);
	return p == end;
}

static bool equal_ignoring_case(const char *text, size_t size, const char *lower)
{
	if (size != strlen(lower))
		return false;
	for (size_t i = 0; i < size; i++)
		if ((text[i] | 0x20) != lower[i])
			return false;
	return true;
}

static bool parse_word(const char *text, size_t size, double *out)
{
	bool negative = size && *text == '-';

	if (size && (*text == '-' || *text == '+')) {
		text++;
		size--;
	}
	if (equal_ignoring_case(text, size, "nan"))
		*out = (double)NAN;
	else if (equal_ignoring_case(text, size, "inf") ||
		 equal_ignoring_case(text, size, "infinity"))
		*out = negative ? -INFINITY : INFINITY;
	else
		return false;
	return true;
}

static size_t zeros_in_front(const char *digits, size_t size)
{
	size_t count = 0;

	while (count < size && digits[count] == '0')
		count++;
	return count;
}

/* How many digits there are from the first that is not 0. */
static size_t significant(const struct literal *lit)
{
	size_t zeros = zeros_in_front(lit->digits[0], lit->size[0]);

	if (zeros == lit->size[0])
		zeros += zeros_in_front(lit->digits[1], lit->size[1]);
	return lit->size[0] + lit->size[1] - zeros;
}

/* At most 19 digits from the first that is not 0; false when more are not 0. */
static bool leading_digits(const struct literal *lit, uint64_t *digits, int64_t *exponent)
{
	unsigned count = 0;

	*digits = 0;
	for (int part = 0; part < 2; part++) {
		for (size_t i = 0; i < lit->size[part]; i++) {
			uint64_t digit = (uint64_t)(lit->digits[part][i] - '0');

			if (count < 19) {
				*digits = *digits * 10 + digit;
				count += *digits != 0;
			} else if (digit) {
				return false;
			} else {
				++*exponent;
			}
		}
	}
	return true;
}

/* False when it needs more digits than fit, or has an exponent that cannot be meant. */
static inline bool literal_decimal(const struct literal *lit, struct decimal *out)
{
	int64_t exponent = lit->exponent - (int64_t)lit->size[1];

	out->digits = lit->leading;
	if (lit->size[0] + lit->size[1] > 19 && significant(lit) > 19 &&
	    !leading_digits(lit, &out->digits, &exponent))
		return false;
	out->exponent = (int)exponent;
	return exponent > -1000 && exponent < 1000;
}

/* No double and no middle between two has more digits than 767: one more tells the sides apart. */
#define DIGITS_ENOUGH 780

/* The number as strtod reads it, of any length: digits that cannot decide become a single 1. */
static void slow_literal(const struct literal *lit, double *wide, float *narrow)
{
	char text[DIGITS_ENOUGH + 32] = "0";
	size_t count = 0;
	int64_t exponent = lit->exponent - (int64_t)lit->size[1];
	bool cut = false;

	for (int part = 0; part < 2; part++) {
		for (size_t i = 0; i < lit->size[part]; i++) {
			char digit = lit->digits[part][i];

			if (count == DIGITS_ENOUGH) {
				cut |= digit != '0';
				exponent++;
			} else if (count || digit != '0') {
				text[count++] = digit;
			}
		}
	}
	if (cut) {
		text[count++] = '1';
		exponent--;
	}
	if (!count)
		count = 1;
	snprintf(text + count, sizeof(text) - count, "e%" PRId64, exponent);
	slow_text(text, wide, narrow);
}

bool num_parse(const char *text, size_t size, char point, double *out)
{
	struct literal lit;
	struct decimal d;

	if (!scan_literal(text, size, point, &lit))
		return parse_word(text, size, out);
	if (!literal_decimal(&lit, &d) || !decimal_f64(d, out))
		slow_literal(&lit, out, NULL);
	if (lit.negative)
		*out = -*out;
	return true;
}

bool num_parse_f32(const char *text, size_t size, char point, float *out)
{
	struct literal lit;
	struct decimal d;
	double wide;

	if (!scan_literal(text, size, point, &lit)) {
		if (!parse_word(text, size, &wide))
			return false;
		*out = (float)wide;
		return true;
	}
	if (!literal_decimal(&lit, &d) || !decimal_f64(d, &wide) || !narrow_f64(wide, out))
		slow_literal(&lit, NULL, out);
	if (lit.negative)
		*out = -*out;
	return true;
}

bool num_parse_frame(const char *text, size_t size, char point, uint32_t *out)
{
	uint64_t frame = 0;
	size_t i = 0;

	for (; i < size && is_digit(text[i]); i++) {
		frame = frame * 10 + (uint64_t)(text[i] - '0');
		if (frame > UINT32_MAX)
			return false;
	}
	*out = (uint32_t)frame;
	if (i == 0 || i == size)
		return i > 0;
	if (text[i++] != point)
		return false;
	while (i < size && text[i] == '0')
		i++;
	return i == size;
}

bool num_same15(double a, double b)
{
	struct decimal x, y;

	if (a == b || (isnan(a) && isnan(b)))
		return true;
	/* Two that round to the same lie at most one unit of the last digit apart. */
	if (!(fabs(a - b) <= 1.01e-14 * fabs(a)) || !isfinite(a) || !isfinite(b))
		return false;
	x = rounded(a);
	y = rounded(b);
	return x.digits == y.digits && x.exponent == y.exponent;
}
