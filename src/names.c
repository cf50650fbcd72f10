/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#define REPLACEMENT 0xfffdu
#define CUT_MARK_SIZE 17 /* '~' and 16 hex digits */

/* ---- characters ---- */

static bool is_surrogate(uint32_t c)
{
	return c >= 0xd800 && c <= 0xdfff;
}

/*
 * The character at the beginning of `left` bytes (at least 1) and its length; surrogates are
 * characters here. 0 when the bytes are no UTF-8.
 */
static size_t utf8_decode(const uint8_t *p, size_t left, uint32_t *c)
{
	static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
	size_t length = p[0] < 0x80 ? 1 : p[0] < 0xc0 ? 0 : p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : 4;

	if (!length || length > left || p[0] >= 0xf8)
		return 0;
	*c = length == 1 ? p[0] : p[0] & (0x7fu >> length);
	for (size_t i = 1; i < length; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return 0;
		*c = *c << 6 | (p[i] & 0x3f);
	}
	return *c >= least[length] && *c <= 0x10ffff ? length : 0;
}

static size_t utf8_encode(uint32_t c, uint8_t out[4])
{
	size_t length = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;

	for (size_t i = length - 1; i > 0; i--, c >>= 6)
		out[i] = (uint8_t)(0x80 | (c & 0x3f));
	out[0] = (uint8_t)(length == 1 ? c : (0xf00u >> length & 0xff) | c);
	return length;
}

/* The next character of a name, or U+FFFD for a byte that is none. */
static const uint8_t *next_character(const uint8_t *p, const uint8_t *end, uint32_t *c)
{
	size_t length = utf8_decode(p, (size_t)(end - p), c);

	if (length)
		return p + length;
	*c = REPLACEMENT;
	return p + 1;
}

/* A code unit pair or a single unit, lone surrogates included; returns how many units it took. */
static size_t utf16_decode(const uint8_t *units, size_t left, uint32_t *c)
{
	uint32_t first = get_u16(units), second = left > 1 ? get_u16(units + 2) : 0;

	*c = first;
	if (first < 0xd800 || first > 0xdbff || second < 0xdc00 || second > 0xdfff)
		return 1;
	*c = 0x10000 + ((first - 0xd800) << 10 | (second - 0xdc00));
	return 2;
}

char *name_from_utf16(struct arena *arena, const uint8_t *units, size_t count)
{
	uint8_t encoded[4];
	uint32_t c;
	size_t size = 0;
	char *name, *p;

	for (size_t i = 0; i < count;) {
		i += utf16_decode(units + 2 * i, count - i, &c);
		size += utf8_encode(c, encoded);
	}
	p = name = arena_alloc(arena, size + 1, 1);
	if (!name)
		return NULL;
	for (size_t i = 0; i < count; p += size) {
		i += utf16_decode(units + 2 * i, count - i, &c);
		size = utf8_encode(c, encoded);
		memcpy(p, encoded, size);
	}
	return name;
}

void name_to_utf16(const char *name, struct buf *out)
{
	const uint8_t *p = (const uint8_t *)name, *end = p + strlen(name);
	uint32_t c;

	while (p < end) {
		p = next_character(p, end, &c);
		if (c >= 0x10000) {
			buf_u16(out, (uint16_t)(0xd800 + ((c - 0x10000) >> 10)));
			buf_u16(out, (uint16_t)(0xdc00 + (c & 0x3ff)));
		} else {
			buf_u16(out, (uint16_t)c);
		}
	}
}

void name_printable(const char *name, struct buf *out)
{
	const uint8_t *p = (const uint8_t *)name, *end = p + strlen(name);
	uint8_t encoded[4];
	uint32_t c;

	while (p < end) {
		p = next_character(p, end, &c);
		buf_add(out, encoded, utf8_encode(is_surrogate(c) ? REPLACEMENT : c, encoded));
	}
}

/* ---- escaping ---- */

static bool is_plain(uint8_t c, bool first, bool last)
{
	if (c < 0x20 || c == 0x7f || strchr("/%#:\\,;\"", c))
		return false;
	if (first && strchr(" .=+-@", c))
		return false;
	return !last || (c != ' ' && c != '.');
}

/* The character of stored[at], or the byte where it is none, in its form. Returns its size. */
static size_t escape_character(const char *stored, size_t size, size_t at, struct buf *out)
{
	const uint8_t *p = (const uint8_t *)stored + at;
	uint32_t c = 0;
	size_t length = utf8_decode(p, size - at, &c);
	bool plain =
		length > 1 ? !is_surrogate(c) : length && is_plain(*p, at == 0, at + 1 == size);

	if (!length)
		length = 1;
	if (plain)
		buf_add(out, p, length);
	else
		for (size_t i = 0; i < length; i++)
			buf_format(out, "%%%02X", p[i]);
	return length;
}

void name_escape(const char *stored, size_t limit, struct buf *out)
{
	size_t size = strlen(stored), begin = out->size, cut = begin;

	if (!size)
		buf_char(out, '%');
	/* What is behind the cut is not needed: a file may say one long name for thousands of
	 * bones. */
	for (size_t at = 0; at < size && out->size - begin <= limit;) {
		at += escape_character(stored, size, at, out);
		if (out->size - begin + CUT_MARK_SIZE <= limit)
			cut = out->size;
	}
	if (out->size - begin <= limit)
		return;
	out->size = cut;
	buf_format(out, "~%016llx", (unsigned long long)XXH3_64bits(stored, size));
}

static int hex_digit(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* What `label` stands for, whether or not the mapping would write it so. */
static bool unescape(const char *label, struct buf *out)
{
	if (strcmp(label, "%") == 0)
		return true;
	for (const char *p = label; *p; p++) {
		int high, low;

		if (*p != '%') {
			buf_char(out, *p);
			continue;
		}
		high = hex_digit(p[1]);
		low = high < 0 ? -1 : hex_digit(p[2]);
		if (low < 0)
			return false;
		buf_char(out, (char)(high << 4 | low));
		p += 2;
	}
	return true;
}

bool name_unescape(const char *label, struct buf *out)
{
	struct buf again = BUF_INIT;
	size_t begin = out->size;
	bool same = *label && unescape(label, out);

	/* One name has one form: what is escaped without need, or not escaped, is no label. */
	buf_char(out, '\0');
	if (same && !out->failed) {
		name_escape((const char *)out->data + begin, SIZE_MAX, &again);
		same = bytes_equal(buf_bytes(&again), bytes_of(label));
		out->failed |= again.failed;
	}
	same = same && !out->failed;
	out->size = same ? out->size - 1 : begin;
	buf_release(&again);
	return same;
}

/* ---- labels ---- */

/* The names of one folder that are taken; with each, the number that a further one tries next. */
struct label_set {
	struct label {
		const char *text;
		uint32_t next;
	} * slots;
	size_t mask;
};

static bool label_set_init(struct label_set *set, size_t count)
{
	size_t size = 16;

	while (size / 2 < count)
		size *= 2;
	set->mask = size - 1;
	set->slots = calloc(size, sizeof(*set->slots));
	return set->slots != NULL;
}

/* The slot of this text, or the free one where it belongs. */
static struct label *label_set_find(const struct label_set *set, const char *text)
{
	size_t i = (size_t)XXH3_64bits(text, strlen(text)) & set->mask;

	while (set->slots[i].text && strcmp(set->slots[i].text, text) != 0)
		i = (i + 1) & set->mask;
	return &set->slots[i];
}

/* One way to call the name: its form, and from number 2 on "~2", "~3" ... behind it. */
static const char *numbered_form(const char *stored, size_t limit, uint32_t number,
				 struct buf *form)
{
	char suffix[16] = "";

	if (number > 1)
		snprintf(suffix, sizeof(suffix), "~%u", number);
	buf_clear(form);
	name_escape(stored, limit - strlen(suffix), form);
	buf_add(form, suffix, strlen(suffix) + 1);
	return form->failed ? NULL : (const char *)form->data;
}

/* Takes the first free label for a name. `form` is memory to work in. NULL when out of it. */
static const char *label_set_take(struct label_set *set, struct arena *arena, const char *stored,
				  size_t limit, struct buf *form)
{
	const char *text = numbered_form(stored, limit, 1, form);
	struct label *first, *slot;

	if (!text)
		return NULL;
	first = slot = label_set_find(set, text);
	while (slot->text) {
		text = numbered_form(stored, limit, first->next++, form);
		if (!text)
			return NULL;
		slot = label_set_find(set, text);
	}
	slot->text = strcmp(text, stored) == 0 ? stored : arena_text(arena, text, strlen(text));
	slot->next = 2;
	return slot->text;
}

size_t name_stem(const char *file_name)
{
	const char *dot = strrchr(file_name, '.');

	return dot && dot != file_name ? (size_t)(dot - file_name) : strlen(file_name);
}

static bool label_clips(struct anim *a, struct label_set *set, struct buf *form)
{
	for (uint32_t i = 0; i < a->clip_count; i++) {
		struct clip *clip = (struct clip *)&a->clips[i];

		clip->label = label_set_take(set, &a->arena, clip->name, NAME_LIMIT, form);
		if (!clip->label)
			return false;
	}
	return true;
}

/* Clips mostly have the bones of the clip before, and their names by the same pointers. */
static bool labels_copied(const struct clip *clip, const struct clip *before)
{
	uint32_t i = 0;

	if (clip->track_count != before->track_count)
		return false;
	while (i < clip->track_count && clip->tracks[i].name == before->tracks[i].name)
		i++;
	if (i < clip->track_count)
		return false;
	for (i = 0; i < clip->track_count; i++)
		((struct track *)&clip->tracks[i])->label = before->tracks[i].label;
	return true;
}

static bool label_tracks(struct anim *a, const struct clip *clip, struct buf *form)
{
	struct label_set set;
	bool done = label_set_init(&set, clip->track_count);

	for (uint32_t i = 0; done && i < clip->track_count; i++) {
		struct track *track = (struct track *)&clip->tracks[i];

		track->label = label_set_take(&set, &a->arena, track->name,
					      NAME_LIMIT - NAME_SUFFIX_ROOM, form);
		done = track->label != NULL;
	}
	free(set.slots);
	return done;
}

bool names_label(struct anim *a, const char *const *reserved)
{
	struct buf form = BUF_INIT;
	struct label_set set;
	size_t count = 0;
	bool done;

	while (reserved[count])
		count++;
	done = label_set_init(&set, count + a->clip_count);
	for (size_t i = 0; done && i < count; i++)
		*label_set_find(&set, reserved[i]) = (struct label){reserved[i], 2};
	done = done && label_clips(a, &set, &form);
	for (uint32_t i = 0; done && i < a->clip_count; i++)
		done = (i > 0 && labels_copied(&a->clips[i], &a->clips[i - 1])) ||
		       label_tracks(a, &a->clips[i], &form);
	free(set.slots);
	buf_release(&form);
	return done;
}
