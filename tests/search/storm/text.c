/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * text.c - the value in a text: x of the translation, in each row of a bone's CSV or of curves.csv
 * and each key of a bone's JSON. Only complete rows count, since a text may be cut anywhere.
 */
#include "storm.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

struct slot {
	const char *at;
	size_t length;
};

#define SLOTS_MAX 1024

struct slots {
	unsigned count;
	struct slot slot[SLOTS_MAX];
};

static void add_slot(struct slots *slots, const char *at, const char *end)
{
	if (at < end && slots->count < SLOTS_MAX)
		slots->slot[slots->count++] = (struct slot){at, (size_t)(end - at)};
}

static struct slot cell(const char *line, const char *end, unsigned column)
{
	for (; column > 0; column--) {
		line = memchr(line, ',', (size_t)(end - line));
		if (!line)
			return (struct slot){end, 0};
		line++;
	}
	const char *comma = memchr(line, ',', (size_t)(end - line));
	return (struct slot){line, (size_t)((comma ? comma : end) - line)};
}

static bool cell_is(struct slot found, const char *word)
{
	return found.length == strlen(word) && memcmp(found.at, word, found.length) == 0;
}

static int column_of(const char *line, const char *end, const char *name)
{
	for (int column = 0; column < 16; column++) {
		if (cell_is(cell(line, end, (unsigned)column), name))
			return column;
	}
	return -1;
}

static void row_slot(struct slots *slots, const char *line, const char *end, int column, bool wide,
		     const char *bone)
{
	struct slot found = cell(line, end, (unsigned)column);

	if (wide && (!cell_is(cell(line, end, 1), "translation") ||
		     (bone && !cell_is(cell(line, end, 0), bone))))
		return;
	add_slot(slots, found.at, found.at + found.length);
}

static void csv_slots(struct slots *slots, const struct text *text, const char *bone)
{
	const char *line = text->bytes, *end = text->bytes + text->length, *next;
	int column = -1;
	bool wide = false;

	for (; (next = memchr(line, '\n', (size_t)(end - line))); line = next + 1) {
		if (line > text->bytes && column < 0)
			return;
		if (line > text->bytes) {
			row_slot(slots, line, next, column, wide, bone);
			continue;
		}
		wide = column_of(line, next, "channel") == 1;
		column = column_of(line, next, wide ? "x" : "tx");
	}
}

static void json_slots(struct slots *slots, const struct text *text)
{
	static const char mark[] = "\"value\": [";
	const char *at = strstr(text->bytes, "\"translation\"");
	const char *end = at ? strstr(at, "\n    ]") : NULL;

	while (end && (at = strstr(at, mark)) && at < end) {
		at += sizeof(mark) - 1;
		add_slot(slots, at, at + strcspn(at, ",]"));
	}
}

static void find_slots(struct slots *slots, const struct text *text, const char *bone)
{
	slots->count = 0;
	if (text->length && text->bytes[0] == '{')
		json_slots(slots, text);
	else
		csv_slots(slots, text, bone);
}

unsigned text_slots(const struct text *text, const char *bone)
{
	static struct slots slots;

	find_slots(&slots, text, bone);
	return slots.count;
}

long text_value(const struct text *text, const char *bone)
{
	static struct slots slots;
	long value = NO_VALUE;

	find_slots(&slots, text, bone);
	for (unsigned i = 0; i < slots.count; i++) {
		double number = strtod(slots.slot[i].at, NULL);
		long here = fabs(number) < 1e9 ? lround(number) : MIXED_VALUE;

		if (i > 0 && here != value)
			return MIXED_VALUE;
		value = here;
	}
	return value;
}

void text_set(struct text *to, const struct text *from, long value)
{
	static struct slots slots;
	const char *at = from->bytes;
	size_t length = 0;

	find_slots(&slots, from, NULL);
	for (unsigned i = 0; i <= slots.count; i++) {
		const char *end = i < slots.count ? slots.slot[i].at : from->bytes + from->length;

		if (length + (size_t)(end - at) + 32 > TEXT_MAX)
			die("a text is too long");
		memcpy(to->bytes + length, at, (size_t)(end - at));
		length += (size_t)(end - at);
		if (i == slots.count)
			break;
		length += (size_t)sprintf(to->bytes + length, "%ld", value);
		at = end + slots.slot[i].length;
	}
	to->bytes[length] = '\0';
	to->length = length;
}
