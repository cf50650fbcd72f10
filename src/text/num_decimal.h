/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * num_decimal.h - decimals and powers of ten: shared by writing and reading numbers.
 *
 * 64 bits of a decimal's digits times 64 bits of the power of ten decide nearly every number; the
 * few that lie too near to the middle between two go to strtod, in the C locale.
 *
 * This is where the program spends its time. The small functions are inline since gcc -O2 would
 * otherwise call them, at twice the cost; whatever has an exact fallback is only a shorter way.
 */
#ifndef ANIMFS_TEXT_NUM_DECIMAL_H
#define ANIMFS_TEXT_NUM_DECIMAL_H

#include "animfs/base.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

struct decimal {
	uint64_t digits;
	int exponent;
};

#define TEN_8 UINT64_C(100000000)
#define DIGITS_8 UINT64_C(0x3030303030303030) /* eight digits "0", as bytes */

/* ---- powers of ten ---- */

#define TEN_MIN (-65)
#define TEN_MAX 65

/* The leading 64 bits of 10^e, cut off: exact for e from 0 to 27, otherwise less than one too low.
 */
extern const uint64_t ten_bits[TEN_MAX - TEN_MIN + 1];
/* 10^e as the nearest double: exact for e from 0 to TEN_EXACT. */
extern const double tens[TEN_MAX - TEN_MIN + 1];
#define TEN_EXACT 22

static inline double ten(int e)
{
	return tens[e - TEN_MIN];
}

static inline uint64_t ten_leading(int e)
{
	return ten_bits[e - TEN_MIN];
}

/* Returns floor(log2(10^e)); right for |e| up to 1233. */
static inline int log2_of_ten(int e)
{
	return (e * 1741647) >> 19;
}

/* Returns floor(log10(2^e)); right for |e| up to 1650. */
static inline int log10_of_two(int e)
{
	return (e * 1262611) >> 22;
}

/* ---- decimals to floating point ---- */

static inline double f64_from_bits(uint64_t bits)
{
	double v;

	memcpy(&v, &bits, sizeof(v));
	return v;
}

static inline uint64_t f64_bits(double v)
{
	uint64_t bits;

	memcpy(&bits, &v, sizeof(bits));
	return bits;
}

struct product {
	uint64_t high, low;
};

static inline struct product multiply(uint64_t a, uint64_t b)
{
#ifdef __SIZEOF_INT128__
	unsigned __int128 product = (unsigned __int128)a * b;

	return (struct product){(uint64_t)(product >> 64), (uint64_t)product};
#else
	uint64_t a_high = a >> 32, a_low = (uint32_t)a, b_high = b >> 32, b_low = (uint32_t)b;
	uint64_t low = a_low * b_low, middle = a_high * b_low + (low >> 32);
	uint64_t other = a_low * b_high + (uint32_t)middle;

	return (struct product){a_high * b_high + (middle >> 32) + (other >> 32),
				other << 32 | (uint32_t)low};
#endif
}

/*
 * Multiplies digits and power of ten. False if 64 bits of the power do not decide on which side of
 * a midpoint the number is.
 */
static inline bool multiply_f64(struct decimal d, double *out)
{
	int shift = __builtin_clzll(d.digits);
	struct product product = multiply(d.digits << shift, ten_leading(d.exponent));
	int exponent = 63 - shift + log2_of_ten(d.exponent);
	uint64_t high = product.high;
	uint64_t rest;

	if (high >> 63)
		exponent++;
	else
		high = high << 1 | product.low >> 63;
	/* The true product is less than 4 above `high`; its lowest 11 bits are to be rounded. */
	rest = high & 0x7ff;
	if (rest - 1021 <= 3)
		return false;
	/* A carry out of the 53 bits counts the exponent up, as it should. */
	*out = f64_from_bits(((uint64_t)(exponent + 1022) << 52) + (high >> 11) + (rest >> 10));
	return true;
}

/* Converts a decimal to the nearest double; returns false if the fast way cannot decide. */
static inline bool decimal_f64(struct decimal d, double *out)
{
	if (d.digits <= UINT64_C(1) << 53 && abs(d.exponent) <= TEN_EXACT) {
		double exact = (double)(int64_t)d.digits; /* converting from a signed number is
							     cheaper than from an unsigned one */

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
 * Rounds a decimal to float32 via the double nearest to it, or returns false. The decimal lies
 * between the neighbours of that double; if both round to the same float32, so does the decimal.
 */
static inline bool narrow_f64(double nearest, float *out)
{
	*out = (float)nearest;
	return nearest == 0 || (float)f64_from_bits(f64_bits(nearest) - 1) ==
				       (float)f64_from_bits(f64_bits(nearest) + 1);
}

/*
 * May it round to another float32 than the text that it was read from? It may half-way between two;
 * denormal floats have fewer bits.
 */
static inline bool is_half_way(double v)
{
	return (f64_bits(v) & 0x1fffffff) == 0x10000000 || (fabs(v) < (double)FLT_MIN && v != 0);
}

/* `text` is digits, 'e' and an exponent; either result may not be wanted (NULL). */
void num_slow_text(const char *text, double *wide, float *narrow);
/*
 * Returns a finite number as a decimal with `digits` significant digits, at most 17; exactly
 * rounded.
 */
struct decimal num_rounded(double v, int digits);

#endif
