/* SPDX-License-Identifier: GPL-3.0-or-later */
/* num_read.c - text to numbers. */
#include "num.h"
#include "num_decimal.h"

#include <endian.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* A number as it is written. */
struct literal {
	bool negative;
	const char *digits[2]; /* the digits before and after the point */
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

/*
 * Returns a word whose lowest set high bit marks the first of eight bytes that is not a digit; 0 if
 * all are digits.
 */
static inline uint64_t no_digit(uint64_t bytes)
{
	/* Carries and borrows only affect bytes after the one that causes them. */
	return ((bytes + UINT64_C(0x4646464646464646)) | (bytes - DIGITS_8)) &
	       UINT64_C(0x8080808080808080);
}

/* Returns the number of eight digits, 0 to 9 in each byte, the first in the lowest byte. */
static inline uint64_t join8(uint64_t digits)
{
	uint64_t twos = digits * 10 + (digits >> 8), mask = UINT64_C(0x000000ff000000ff);

	return ((twos & mask) * (100 + (UINT64_C(1000000) << 32)) +
		(twos >> 16 & mask) * (1 + (UINT64_C(10000) << 32))) >>
	       32;
}

/*
 * Returns the number in the last `count` of eight bytes: 1 to 8 digits, the first in the lowest
 * byte.
 */
static inline uint64_t join_digits(uint64_t bytes, unsigned count)
{
	unsigned before = 64 - 8 * count;

	return join8((bytes & UINT64_C(0x0f0f0f0f0f0f0f0f)) >> before << before);
}

/*
 * Reads the 1 to 8 digits from p to `end`; false if one of the bytes is not a digit. The 8 bytes
 * before `end` must be readable.
 */
static inline bool join_tail(const char *p, const char *end, uint64_t *out)
{
	uint64_t bytes = get8(end - 8), mask = UINT64_MAX << (64 - 8 * (end - p));

	*out = join_digits(bytes, (unsigned)(end - p));
	return !no_digit((bytes & mask) | (DIGITS_8 & ~mask));
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

/* Scans the digits after the point, where most digits are and where the text usually ends. */
static inline const char *scan_fraction(const char *p, const char *text, const char *end,
					struct literal *lit)
{
	const char *begin = p;
	uint64_t value;

	for (; end - p > 8 && !no_digit(get8(p)); p += 8)
		lit->leading = lit->leading * TEN_8 + join_digits(get8(p), 8);
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

/* Returns the number of digits from the first that is not 0. */
static size_t significant_size(const struct literal *lit)
{
	size_t zeros = zeros_in_front(lit->digits[0], lit->size[0]);

	if (zeros == lit->size[0])
		zeros += zeros_in_front(lit->digits[1], lit->size[1]);
	return lit->size[0] + lit->size[1] - zeros;
}

/* Gets the digits from the first that is not 0, at most 19; false if further digits are not 0. */
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

/* Converts a literal to a decimal. False if it has more digits than fit, or an absurd exponent. */
static inline bool literal_decimal(const struct literal *lit, struct decimal *out)
{
	int64_t exponent = lit->exponent - (int64_t)lit->size[1];

	out->digits = lit->leading;
	if (lit->size[0] + lit->size[1] > 19 && significant_size(lit) > 19 &&
	    !leading_digits(lit, &out->digits, &exponent))
		return false;
	out->exponent = (int)exponent;
	return exponent > -1000 && exponent < 1000;
}

/* No double and no middle between two has more digits than 767: one more digit decides the side. */
#define DIGITS_ENOUGH 780

/*
 * Reads a number of any length, as strtod does. Digits after the first DIGITS_ENOUGH only matter if
 * one of them is not 0, so a single 1 replaces them.
 */
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
	num_slow_text(text, wide, narrow);
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

bool num_parse_value(const char *text, size_t size, char point, double *out)
{
	float nearest;

	if (!num_parse(text, size, point, out))
		return false;
	if (is_half_way(*out) && num_parse_f32(text, size, point, &nearest) &&
	    (float)*out != nearest)
		*out = nextafter(*out, (double)nearest);
	return true;
}

/* ---- plain numbers inside a text ---- */

/* more bytes than are read from a comma on, whether or not they belong to the number behind it */
#define SCAN_MAX 33
/* digits that fit into 64 bits: two groups of eight and two more */
#define SCAN_DIGITS 18

/* Returns the number in the first `count` of eight bytes, which are 1 to 8 digits. */
static inline uint64_t join_first(uint64_t bytes, unsigned count)
{
	return join_digits(bytes << (64 - 8 * count), count);
}

/* Counts the digits among the eight bytes, from the first on. */
static inline unsigned count_digits(uint64_t bytes)
{
	uint64_t stop = no_digit(bytes);

	return stop ? (unsigned)__builtin_ctzll(stop) / 8 : 8;
}

/* Scans a number of up to 18 digits. */
static __attribute__((noinline)) const char *scan_long(const char *p, struct num_plain *out)
{
	bool negative = *p == '-';
	uint64_t bytes = get8(p + negative), digits;
	unsigned whole = count_digits(bytes), size, places = 0;

	if (whole - 1 > 6)
		return NULL;
	p += negative + whole;
	digits = join_first(bytes, whole);
	if (*p == '.') {
		bytes = get8(++p);
		size = count_digits(bytes);
		if (size == 8) {
			digits = digits * TEN_8 + join_digits(bytes, 8);
			places = 8;
			bytes = get8(p + 8);
			size = count_digits(bytes);
		}
		if (size == 8 || whole + places + size > SCAN_DIGITS || places + size == 0)
			return NULL;
		if (size)
			digits = digits * (uint64_t)ten((int)size) + join_first(bytes, size);
		places += size;
		p += places;
	}
	*out = (struct num_plain){digits, places, negative};
	return p;
}

#define EACH_BYTE UINT64_C(0x0101010101010101)
#define HIGH_BITS (0x80 * EACH_BYTE)

/* Returns a word whose lowest set bit is the high bit of the first byte below c, which is ASCII. */
static inline uint64_t bytes_below(uint64_t bytes, unsigned char c)
{
	return (bytes - c * EACH_BYTE) & ~bytes & HIGH_BITS;
}

/* Returns the place, from 0 to 7, of the byte whose high bit is the lowest that is set. */
static inline unsigned first_byte(uint64_t high_bits)
{
	return (unsigned)__builtin_ctzll(high_bits) / 8;
}

/*
 * Scans the numbers that most are: at most 15 characters, with a point among the first eight, and
 * behind them a comma or the end of a line. There is one branch in it, since signs and counts of
 * digits could not be predicted, and the end is known early, so that the next number can be begun.
 */
static inline const char *scan_plain(const char *p, struct num_plain *out)
{
	uint64_t low = get8(p), high = get8(p + 8);
	uint64_t end_low = bytes_below(low, '-'), end_high = bytes_below(high, '-');
	uint64_t dot = bytes_below(low ^ '.' * EACH_BYTE, 1), before, half, faults;
	unsigned high_size = 8 + first_byte(end_high | UINT64_C(1) << 63);
	unsigned size = end_low ? first_byte(end_low) : high_size;
	unsigned point = first_byte(dot | UINT64_C(1) << 63), places = size - 1 - point, shift;
	uint64_t negative = (uint8_t)*p == '-';

	/* Digits become 0 to 9, also the sign, which then is a zero in front. */
	low = (low ^ DIGITS_8) & ~(negative * 0xff);
	high ^= DIGITS_8;
	/* Take out the point. */
	before = ((dot & -dot) >> 7) - 1;
	low = (low & before) | ((low >> 8 | high << 56) & ~before);
	high >>= 8;
	/* Move the digits to the end of the sixteen bytes. */
	shift = 8 * (17 - size);
	half = -(uint64_t)(shift >> 6 & 1);
	high = (high & ~half) | (low & half);
	low &= ~half;
	high = high << (shift & 63) | low >> 1 >> (~shift & 63);
	low <<= shift & 63;
	faults = ((low + 0x76 * EACH_BYTE) | low | (high + 0x76 * EACH_BYTE) | high) & HIGH_BITS;
	if (faults | (places - 1 > 13) | (point <= negative) | !dot | !(end_low | end_high))
		return scan_long(p, out);
	out->digits = join8(low) * TEN_8 + join8(high);
	out->places = places;
	out->negative = negative;
	return p + size;
}

/* Scans numbers near the end of the text like num_scan, but in a copy with room after it. */
static __attribute__((noinline)) const char *scan_end(const char *p, const char *end,
						      unsigned count, struct num_plain *out)
{
	char room[NUM_SCAN_MOST * SCAN_MAX + SCAN_MAX] = "";
	const char *behind;

	memcpy(room, p, (size_t)(end - p));
	behind = num_scan(room, room + sizeof(room), count, out);
	return behind ? p + (behind - room) : NULL;
}

const char *num_scan(const char *p, const char *end, unsigned count, struct num_plain *out)
{
	if (end - p < NUM_SCAN_MOST * SCAN_MAX)
		return scan_end(p, end, count, out);
	for (; count && p; count--)
		p = *p == ',' ? scan_plain(p + 1, out++) : NULL;
	return p;
}

bool num_parse_frame(const char *text, size_t size, char point, uint32_t *out)
{
	uint32_t frame = 0;
	double v;
	size_t i = 0;

	/* Digits only, as most frames are; nine of them fit. */
	while (i < size && i < 9 && is_digit(text[i]))
		frame = frame * 10 + (uint32_t)(text[i++] - '0');
	*out = frame;
	if (i > 0 && i == size)
		return true;
	if (!num_parse(text, size, point, &v) || !(v >= 0 && v <= UINT32_MAX) || v != floor(v))
		return false;
	*out = (uint32_t)v;
	return true;
}

static bool is_rounded(double v, struct decimal d)
{
	double rounded;

	return decimal_f64(d, &rounded) && rounded == fabs(v);
}

bool num_is_f32(double v, float f)
{
	char text[NUM_MAX];
	double fewest;

	if (v == (double)f)
		return true;
	if ((float)v != f || !isfinite(f))
		return false;
	return is_rounded(v, num_rounded((double)f, 9)) ||
	       (num_parse(text, num_f32(text, f), '.', &fewest) && fewest == v);
}

bool num_same15(double a, double b)
{
	struct decimal x, y;

	if (a == b || (isnan(a) && isnan(b)))
		return true;
	/* Numbers that are equal at 15 digits differ by at most one unit of the last digit. */
	if (!(fabs(a - b) <= 1.01e-14 * fabs(a)) || !isfinite(a) || !isfinite(b))
		return false;
	x = num_rounded(a, 15);
	y = num_rounded(b, 15);
	return x.digits == y.digits && x.exponent == y.exponent;
}
