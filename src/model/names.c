/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "names.h"
#include "text/utf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <xxhash.h>

#define CUT_MARK_SIZE 17 /* '~' and 16 hex digits */

/* ---- escaping ---- */

static bool names_is_plain(uint8_t c, bool first, bool last)
{
	if (c < 0x20 || c == 0x7f || strchr("/%#:\\,;\"", c))
		return false;
	if (first && strchr(" .=+-@", c))
		return false;
	return !last || (c != ' ' && c != '.');
}

/*
 * Appends the escaped form of the character at stored[at], or of a single byte that is not UTF-8.
 * Returns the size of the character in `stored`.
 */
static size_t escape_character(const char *stored, size_t size, size_t at, struct buf *out)
{
	const uint8_t *p = (const uint8_t *)stored + at;
	uint32_t c = 0;
	size_t length = utf8_decode(p, size - at, &c);
	bool plain = length > 1 ? !utf_is_surrogate(c)
				: length && names_is_plain(*p, at == 0, at + 1 == size);

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
	/* Stop at the limit: a file may use one long name for thousands of bones. */
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

static int names_hex_digit(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* Unescapes a label. It also accepts forms that escaping never writes. */
static bool unescape_label(const char *label, struct buf *out)
{
	if (strcmp(label, "%") == 0)
		return true;
	for (const char *p = label; *p; p++) {
		int high, low;

		if (*p != '%') {
			buf_char(out, *p);
			continue;
		}
		high = names_hex_digit(p[1]);
		low = high < 0 ? -1 : names_hex_digit(p[2]);
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
	bool same = *label && unescape_label(label, out);

	/* A name has exactly one form: a label with needless or missing escapes is refused. */
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

/* The labels that are taken in one folder, each with the number to try next for the same name. */
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

/* Returns the slot of this text, or a free slot for it. */
static struct label *label_set_find(const struct label_set *set, const char *text)
{
	size_t i = (size_t)XXH3_64bits(text, strlen(text)) & set->mask;

	while (set->slots[i].text && strcmp(set->slots[i].text, text) != 0)
		i = (i + 1) & set->mask;
	return &set->slots[i];
}

/* Writes a candidate for a label: the escaped form, followed from number 2 on by "~2", "~3" ... */
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

/* Returns the first free label for a name. `form` is scratch memory. NULL when out of memory. */
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

const char *name_of_bone(const struct format *format, const char *name)
{
	const char *slash = format && format->paths ? strrchr(name, '/') : NULL;

	return slash ? slash + 1 : name;
}

static uint32_t dot_bit(char c)
{
	return (uint32_t)1 << ((uint8_t)c & 31); /* upper and lower case differ in another bit */
}

uint32_t name_dots(const char *file_name)
{
	uint32_t dots = 0;

	for (; *file_name; file_name++)
		dots |= *file_name == '.' ? dot_bit(file_name[1]) : 0;
	return dots;
}

const char *name_end(const char *file_name, uint32_t dots, const char *end)
{
	size_t size, length;

	if (!(dots & dot_bit(end[1])))
		return NULL;
	size = strlen(file_name);
	length = strlen(end);
	return size >= length && strcasecmp(file_name + size - length, end) == 0
		       ? file_name + size - length
		       : NULL;
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

/* Copies the labels of the clip before if both clips' tracks share name pointers, as most do. */
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

		track->label = label_set_take(&set, &a->arena, name_of_bone(a->format, track->name),
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
