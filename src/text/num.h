/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Layer text: texts of every kind, without their meaning: numbers, CSV of any dialect, JSON, XML,
 * UTF-8 and compression. It reads bytes with positions, so that an error can name line and column,
 * and writes one canonical form. view and model define what a cell or a member means. No file is
 * opened here. Only this layer uses the libraries for texts (libxml2, zlib, libzstd), with the
 * exceptions in check-includes.sh.
 *
 * Start reading here; then table.h for CSV, json.h and xml.h.
 *
 * May use: util
 */
/*
 * num.h - numbers to text and back; the only place that formats or parses one.
 *
 * Text is plain decimal: no exponent, '.' as the point, no padding, "-0" keeps its sign, "nan",
 * "inf", "-inf". Nothing here depends on the locale.
 */
#ifndef ANIMFS_TEXT_NUM_H
#define ANIMFS_TEXT_NUM_H

#include "animfs/base.h"
#include "animfs/lane.h"

/* Bytes that one number needs at most: FLT_MAX has 39 digits, FLT_TRUE_MIN 45 places. */
#define NUM_MAX 64

/*
 * Each function writes a number to `out` and returns the count of bytes, without a NUL. All NUM_MAX
 * bytes of `out` may be overwritten, whatever the number is.
 */

/* The shortest plain decimal that reads back as the same float32. */
size_t num_f32(char *out, float v);
/*
 * A computed value, as it stands in a lane: the plain decimal of the fewest digits that rounds to
 * the same float32 as v and, put back into the lane, gives the stored bits or the stored k; at most
 * 15 significant digits. Among equally short ones the nearest to v. LANE_FLOAT with unit 1 is
 * num_f32; LANE_DOUBLE and LANE_CODE ask only for the same float32. A lane that is `exact` gets
 * all digits of v, up to nine behind the point.
 */
size_t num_lane(char *out, double v, const struct lane *lane);
/* Like num_lane, but faster if v was computed from the lane's stored form. */
size_t num_value(char *out, double v, const struct lane *lane, bool stored);
/*
 * Writes seconds to the microsecond, without trailing zeros; numbers that are not finite like
 * num_f32.
 */
size_t num_seconds(char *out, double seconds);
size_t num_unsigned(char *out, uint64_t v);

/* Append the text that num_f32, num_lane, num_seconds and num_unsigned write. */
void buf_f32_text(struct buf *b, float v);
void buf_lane_text(struct buf *b, double v, const struct lane *lane);
void buf_seconds(struct buf *b, double seconds);
void buf_unsigned(struct buf *b, uint64_t v);

/*
 * A whole text as a number: sign, digits, one `point` ('.' or ','), digits, exponent; "nan", "inf",
 * "infinity" in any case. Spaces around it are not part of it (the caller trims). Correctly rounded
 * to double. False if the text is anything else; overflow gives an infinity, underflow 0.
 */
bool num_parse(const char *text, size_t size, char point, double *out);
/*
 * Parses a text, correctly rounded to float32. Rounding the result of num_parse again would not be
 * correct: if it is half-way between two floats, the text may be on either side. Among the texts of
 * num_f32 there is one such case, 7.038531e-26.
 */
bool num_parse_f32(const char *text, size_t size, char point, float *out);
/* Parses a text to a double that rounds to the same float32 as the text. */
bool num_parse_value(const char *text, size_t size, char point, double *out);
/* Parses a frame number: any number whose value is whole and below 2^32 ("5.0", "5e0"). */
bool num_parse_frame(const char *text, size_t size, char point, uint32_t *out);

/* A number as num_lane writes it: digits * 10^-places. */
struct num_plain {
	uint64_t digits;
	unsigned places;
	bool negative;
};

#define NUM_SCAN_MOST 4
/*
 * Scans `count` plain numbers, at most NUM_SCAN_MOST, each behind a comma, the first of which is at
 * p; faster than num_parse. Returns the place behind them, or NULL if one is none, or one that
 * needs num_parse.
 */
const char *num_scan(const char *p, const char *end, unsigned count, struct num_plain *out);
/* Gets the number as num_parse_value does; false if it needs that. */
bool num_plain_value(const struct num_plain *n, double *out);
/*
 * Are the `count` numbers certainly those that num_value writes for the values, each in its lane?
 * False if uncertain.
 */
bool num_are_values(const struct num_plain *n, const double *v, const struct lane *lane,
		    unsigned count, bool stored);

/* Are the two numbers equal at 15 significant digits, as a spreadsheet keeps them? -0 equals 0. */
bool num_same15(double a, double b);

/*
 * Is `v` the number that a program which keeps numbers as float32 writes for f: the exact value, or
 * f with nine digits, or with the fewest that read back as f?
 */
bool num_is_f32(double v, float f);

/*
 * Returns the k of 0..65535 for which base + k * step is nearest to `stored` (already divided by
 * the unit).
 */
uint32_t num_nearest_k(double stored, const struct lane *lane);

#endif
