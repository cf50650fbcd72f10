/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * exhaustive_num.c - proves the texts of num.h over all 2^32 floats:
 *
 *   - the text of each reads back as the same bits with num_parse_f32, with strtof, and, but for
 *     one, by way of num_parse and a conversion; it is plain, and that of -v is '-' and that of v;
 *   - no text with one digit less does, and of equally short ones it is the nearest, as snprintf
 *     sees it: for one float in 17, all of 1 to 2, and all denormals;
 *   - num_parse_f32 rounds correctly at, just above and just below the middle between a float and
 *     the next: for one float in 4099 and those around each power of two.
 *
 * usage: exhaustive_num [STRIDE]    only every STRIDE-th float, for a quick run
 */
#include "text/num.h"

#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAGNITUDES 0x80000000u /* number of magnitudes of floats, including infinity and NaNs */
#define INFINITE 0x7f800000u
#define BLOCK 0x100000u /* number of floats that one thread takes at a time */
#define SHORTNESS_STRIDE 17
/* the float 7.038531e-26: rounded to a double first, its text is half-way to the float before it */
#define TWICE_ROUNDED 0x15ae43fdu
#define MIDDLE_STRIDE 4099
#define THREADS_MAX 256

static uint32_t stride = 1;
static atomic_uint next_block;
static atomic_ullong texts, shortnesses, middles, failures;

static void fail(uint32_t bits, const char *text, const char *what)
{
	if (atomic_fetch_add(&failures, 1) < 20)
		fprintf(stderr, "%08" PRIx32 " \"%s\": %s\n", bits, text, what);
}

static bool reads_back(const char *text, size_t size, uint32_t bits)
{
	float narrow;
	double wide;

	if (!num_parse_f32(text, size, '.', &narrow) || !num_parse(text, size, '.', &wide))
		return false;
	return f32_bits(narrow) == bits && f32_bits(strtof(text, NULL)) == bits &&
	       (f32_bits((float)wide) == bits) != ((bits & ~MAGNITUDES) == TWICE_ROUNDED);
}

/*
 * Returns whether a text is plain: digits and possibly a point; no zeros at the end behind a point,
 * and no zero before another digit at the beginning.
 */
static bool is_plain(const char *text)
{
	size_t whole = strspn(text, "0123456789"), fraction;

	if (!whole || (whole > 1 && text[0] == '0'))
		return false;
	if (!text[whole])
		return true;
	fraction = strspn(text + whole + 1, "0123456789");
	return text[whole] == '.' && fraction && !text[whole + 1 + fraction] &&
	       text[whole + fraction] != '0';
}

/*
 * Copies the digits from the first that is not 0 to the last that is not 0. Sets *exponent to that
 * of the last.
 */
static unsigned significant_digits(const char *text, char *digits, int *exponent)
{
	const char *point = strchr(text, '.');
	unsigned count = 0;

	*exponent = 0;
	for (const char *p = text; *p; p++) {
		if (*p == '.')
			continue;
		if (count || *p != '0')
			digits[count++] = *p;
		if (point && p > point)
			--*exponent;
	}
	while (count > 1 && digits[count - 1] == '0') {
		count--;
		++*exponent;
	}
	digits[count] = '\0';
	return count;
}

static bool rounds_to(uint64_t digits, int exponent, float v)
{
	char text[48];

	snprintf(text, sizeof(text), "%" PRIu64 "e%d", digits, exponent);
	return f32_bits(strtof(text, NULL)) == f32_bits(v);
}

static void check_shortness(uint32_t bits, const char *text)
{
	float v = f32_from_bits(bits);
	char digits[64], nearest[64];
	int exponent, nearest_exponent;
	unsigned count = significant_digits(text, digits, &exponent);
	uint64_t number;

	/* This is the nearest text with that number of digits: "d.ddde+xx" without the point. */
	snprintf(nearest, sizeof(nearest), "%.*e", (int)count - 1, (double)v);
	nearest_exponent = atoi(strchr(nearest, 'e') + 1) - ((int)count - 1);
	if (count > 1)
		memmove(nearest + 1, nearest + 2, strlen(nearest + 2) + 1);
	nearest[count] = '\0';
	number = strtoull(nearest, NULL, 10);
	if (rounds_to(number, nearest_exponent, v) &&
	    (number != strtoull(digits, NULL, 10) || nearest_exponent != exponent))
		fail(bits, text, "not the nearest of its length");

	/*
	 * Try texts with one digit less: on both sides of v and, since the nearest may be rounded
	 * up, two more.
	 */
	if (count > 1)
		for (uint64_t i = number / 10 - 1; i <= number / 10 + 2; i++)
			if (i && rounds_to(i, nearest_exponent + 1, v))
				fail(bits, text, "one digit less would do");
	atomic_fetch_add(&shortnesses, 1);
}

static void check_text(uint32_t bits)
{
	char text[NUM_MAX + 2] = "-", mirrored[NUM_MAX + 1];
	size_t size = num_f32(text + 1, f32_from_bits(bits));

	text[1 + size] = '\0';
	mirrored[num_f32(mirrored, f32_from_bits(bits | MAGNITUDES))] = '\0';
	if (bits > INFINITE) {
		if (strcmp(text + 1, "nan") != 0 || strcmp(mirrored, "nan") != 0)
			fail(bits, text + 1, "not nan");
		return;
	}
	if (size > NUM_MAX - 1 || strcmp(text, mirrored) != 0)
		fail(bits, text + 1, "not the mirrored text");
	if (!reads_back(text + 1, size, bits) || !reads_back(text, size + 1, bits | MAGNITUDES))
		fail(bits, text + 1, "does not read back");
	if (bits == INFINITE)
		return;
	if (!is_plain(text + 1))
		fail(bits, text + 1, "not plain");
	if (bits && (bits % SHORTNESS_STRIDE == 0 || bits >> 23 == 0 || bits >> 23 == 127))
		check_shortness(bits, text + 1);
}

static void check_parse(const char *text, uint32_t bits)
{
	float v;

	if (!num_parse_f32(text, strlen(text), '.', &v) || f32_bits(v) != bits)
		fail(bits, text, "is not what the text rounds to");
	if (f32_bits(strtof(text, NULL)) != bits)
		fail(bits, text, "is not what strtof makes of the text");
}

/*
 * Checks numbers around the middle between the float and the next, which for FLT_MAX is an
 * infinity.
 */
static void check_middle(uint32_t bits)
{
	double low = (double)f32_from_bits(bits);
	double high = bits + 1 == INFINITE ? 0x1p128 : (double)f32_from_bits(bits + 1);
	char text[1400], *end;

	/* This is exact: no middle has more than 113 digits or 150 decimal places. */
	snprintf(text, sizeof(text), "%.150f", low / 2 + high / 2);
	check_parse(text, bits + (bits & 1));
	end = text + strlen(text);
	strcpy(end, "1");
	check_parse(text, bits + 1);
	memset(end, '0', 1000);
	strcpy(end + 1000, "1");
	check_parse(text, bits + 1);
	/*
	 * A middle ends in 5 or is a whole number: with its last digit lowered by one, the text is
	 * below the middle.
	 */
	do
		*end = '\0';
	while (*--end == '0' || *end == '.');
	--*end;
	strcpy(end + 1, "999");
	if (strchr(text, '.'))
		check_parse(text, bits);
	/* Now with only the digits of a double: the hard cases of short texts. */
	snprintf(text, sizeof(text), "%.16e", low / 2 + high / 2);
	check_parse(text, f32_bits(strtof(text, NULL)));
	atomic_fetch_add(&middles, 1);
}

static void check_block(uint32_t block)
{
	uint32_t begin = block * BLOCK, rest = begin % stride;
	uint64_t checked = 0;

	for (uint64_t i = rest ? begin + (stride - rest) : begin; i < (uint64_t)begin + BLOCK;
	     i += stride) {
		uint32_t bits = (uint32_t)i, fraction = bits & 0x7fffff;

		check_text(bits);
		checked += 2;
		if (bits < INFINITE &&
		    (bits % MIDDLE_STRIDE == 0 || fraction < 8 || fraction > 0x7ffff7))
			check_middle(bits);
	}
	atomic_fetch_add(&texts, checked);
}

static void *work(void *unused)
{
	const uint32_t blocks = MAGNITUDES / BLOCK;
	uint32_t block;

	while ((block = atomic_fetch_add(&next_block, 1)) < blocks) {
		check_block(block);
		if (block % (blocks / 32) == blocks / 32 - 1)
			fprintf(stderr, "%u of %u blocks\n", block + 1, blocks);
	}
	return unused;
}

static void run_threads(void)
{
	long cores = sysconf(_SC_NPROCESSORS_ONLN);
	pthread_t threads[THREADS_MAX];
	long count = 0;

	while (count + 1 < cores && count < THREADS_MAX &&
	       pthread_create(&threads[count], NULL, work, NULL) == 0)
		count++;
	work(NULL);
	while (count)
		pthread_join(threads[--count], NULL);
}

int main(int argc, char **argv)
{
	if (argc > 1)
		stride = (uint32_t)strtoul(argv[1], NULL, 10);
	if (argc > 2 || stride == 0) {
		fprintf(stderr, "usage: exhaustive_num [STRIDE]\n");
		return 2;
	}
	run_threads();
	printf("exhaustive: %llu floats read back, %llu of them shown to be shortest and nearest, "
	       "%llu middles; %llu failures\n",
	       texts, shortnesses, middles, failures);
	return failures != 0 || texts == 0;
}
