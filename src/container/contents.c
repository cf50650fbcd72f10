/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "contents.h"

#include "model/names.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <xxhash.h>

/* ---- entries by name ---- */

struct entry_key {
	uint32_t parent, hash;
	const char *name;
	size_t size;
};

static struct entry_key entry_key(uint32_t parent, const char *name, size_t size)
{
	uint32_t hash = (uint32_t)XXH3_64bits_withSeed(name, size, parent);

	return (struct entry_key){parent, hash, name, size};
}

static bool entry_has_key(const struct contents *c, const struct contents_index *index,
			  const struct contents_entry *e, const struct entry_key *key)
{
	bool by_label = index == &c->labels;

	return e->parent == key->parent &&
	       (by_label ? e->label_size : e->stored_size) == key->size &&
	       memcmp(by_label ? e->label : e->stored, key->name, key->size) == 0;
}

/* Returns the slot of a name, or the free slot where it belongs. */
static struct contents_slot *contents_find_slot(const struct contents *c,
						const struct contents_index *index,
						const struct entry_key *key)
{
	size_t i = key->hash & index->mask;

	assert(index->slots);
	while (index->slots[i].entry &&
	       (index->slots[i].hash != key->hash ||
		!entry_has_key(c, index, &c->entries[index->slots[i].entry - 1], key)))
		i = (i + 1) & index->mask;
	return &index->slots[i];
}

static void index_add(struct contents_index *index, struct contents_slot *slot,
		      const struct entry_key *key, uint32_t entry)
{
	*slot = (struct contents_slot){key->hash, entry + 1};
	index->used++;
}

/* Makes room for this many names. */
static bool index_room(struct contents_index *index, size_t count)
{
	struct contents_index larger = {.mask = index->slots ? index->mask : 63,
					.used = index->used};

	while (count > larger.mask / 2)
		larger.mask = 2 * larger.mask + 1;
	if (index->slots && larger.mask == index->mask)
		return true;
	larger.slots = calloc(larger.mask + 1, sizeof(*larger.slots));
	if (!larger.slots)
		return false;
	for (size_t i = 0; index->slots && i <= index->mask; i++) {
		size_t at = index->slots[i].hash & larger.mask;

		if (!index->slots[i].entry)
			continue;
		while (larger.slots[at].entry)
			at = (at + 1) & larger.mask;
		larger.slots[at] = index->slots[i];
	}
	free(index->slots);
	*index = larger;
	return true;
}

uint32_t contents_find(const struct contents *c, uint32_t folder, const char *label, size_t size)
{
	const struct entry_key key = entry_key(folder, label, size);

	return c->labels.slots ? contents_find_slot(c, &c->labels, &key)->entry - 1 : CONTENTS_NONE;
}

/* ---- building ---- */

struct building {
	struct contents *c;
	struct buf form; /* temporary memory for one name */
	struct err *err;
};

static bool contents_check_limit(const struct building *b)
{
	const struct contents *c = b->c;
	size_t used = c->arena.total + c->room * sizeof(*c->entries) +
		      (c->labels.mask + c->stored.mask) * sizeof(*c->labels.slots);

	return used <= c->limit ||
	       err_set(b->err, ERR_FORMAT,
		       "the folders of the members take more memory than %zu bytes, the limit",
		       c->limit);
}

/*
 * Returns whether a name is certainly its own file name, as most are. False means that the name
 * must be checked.
 */
static bool contents_is_plain(const char *name, size_t size)
{
	if (size == 0 || size > NAME_LIMIT || strchr(".=+-@", name[0]) || name[size - 1] == '.')
		return false;
	for (size_t i = 0; i < size; i++) {
		unsigned char c = (unsigned char)name[i];

		if (!((c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') ||
		      c == '_' || c == '-' || c == '.'))
			return false;
	}
	return true;
}

/* Makes the file name of a stored name, with this suffix, in b->form. */
static bool make_label(struct building *b, const char *stored, size_t size, const char *suffix)
{
	char *name;

	buf_clear(&b->form);
	if (!*suffix && contents_is_plain(stored, size)) {
		buf_add(&b->form, stored, size);
		return !b->form.failed;
	}
	name = strndup(stored, size);
	if (name) {
		name_escape(name, NAME_LIMIT - strlen(suffix), &b->form);
		buf_text(&b->form, suffix);
	}
	free(name);
	return name && !b->form.failed;
}

/*
 * Makes the first label of the name that is free in the folder, in b->form, whose bytes are the
 * key's name.
 */
static bool choose_label(struct building *b, uint32_t parent, const char *stored, size_t size,
			 struct entry_key *key, struct contents_slot **slot)
{
	struct contents *c = b->c;
	uint32_t first = CONTENTS_NONE;
	char suffix[16] = "";

	while (make_label(b, stored, size, suffix)) {
		*key = entry_key(parent, (const char *)b->form.data, b->form.size);
		*slot = contents_find_slot(c, &c->labels, key);
		if (!(*slot)->entry)
			return true;
		if (first == CONTENTS_NONE)
			first = (*slot)->entry - 1;
		snprintf(suffix, sizeof(suffix), "~%u", c->entries[first].again++);
	}
	return err_memory(b->err);
}

static bool contents_grow(struct building *b)
{
	struct contents *c = b->c;
	struct contents_entry *entries =
		array_room(c->entries, c->count, &c->room, sizeof(*entries));

	if (!entries)
		return err_memory(b->err);
	c->entries = entries;
	return (index_room(&c->labels, c->labels.used + 1) &&
		index_room(&c->stored, c->stored.used + 1)) ||
	       err_memory(b->err);
}

static uint32_t contents_add_entry(struct building *b, uint32_t parent, const char *stored,
				   size_t size, uint32_t member)
{
	struct contents *c = b->c;
	struct contents_entry *e, *above;
	struct contents_slot *slot = NULL;
	struct entry_key key;
	uint32_t number = c->count;

	if (!contents_check_limit(b) || !contents_grow(b) ||
	    !choose_label(b, parent, stored, size, &key, &slot))
		return CONTENTS_NONE;
	e = &c->entries[number];
	*e = (struct contents_entry){.stored = stored,
				     .label_size = (uint32_t)b->form.size,
				     .stored_size = (uint32_t)size,
				     .parent = parent,
				     .member = member,
				     .first = CONTENTS_NONE,
				     .last = CONTENTS_NONE,
				     .next = CONTENTS_NONE,
				     .again = 2};
	/*
	 * Most members have their stored name as the label, and share its memory. A folder cannot:
	 * its stored name has no NUL at the end.
	 */
	e->label = member != CONTENTS_NONE && bytes_equal(bytes_of(stored), buf_bytes(&b->form))
			   ? stored
			   : arena_text(&c->arena, (const char *)b->form.data, b->form.size);
	if (!e->label) {
		err_memory(b->err);
		return CONTENTS_NONE;
	}
	c->count++;
	index_add(&c->labels, slot, &key, number);
	above = &c->entries[parent];
	if (above->last == CONTENTS_NONE)
		above->first = number;
	else
		c->entries[above->last].next = number;
	above->last = number;
	return number;
}

static uint32_t contents_enter(struct building *b, uint32_t parent, const char *part, size_t size)
{
	struct contents *c = b->c;
	const struct entry_key key = entry_key(parent, part, size);
	uint32_t entry = contents_find_slot(c, &c->stored, &key)->entry - 1;

	if (entry != CONTENTS_NONE)
		return entry;
	entry = contents_add_entry(b, parent, part, size, CONTENTS_NONE);
	if (entry != CONTENTS_NONE)
		index_add(&c->stored, contents_find_slot(c, &c->stored, &key), &key, entry);
	return entry;
}

/* Finds the folder of a stored path, and makes those that are missing. */
static uint32_t enter_all(struct building *b, const char *path)
{
	uint32_t folder = CONTENTS_TOP;

	if (!*path)
		return folder;
	while (folder != CONTENTS_NONE) {
		size_t size = strcspn(path, "/");

		folder = contents_enter(b, folder, path, size);
		if (!path[size])
			break;
		path += size + 1;
	}
	return folder;
}

static bool add_members(struct building *b, const struct archive *a)
{
	const char *last = "";
	uint32_t folder = CONTENTS_TOP;

	for (uint32_t i = 0; i < a->count; i++) {
		const struct member *m = &a->members[i];

		if (m->folder != last && strcmp(m->folder, last) != 0)
			folder = enter_all(b, m->folder);
		last = m->folder;
		if (folder == CONTENTS_NONE ||
		    (m->name &&
		     contents_add_entry(b, folder, m->name, strlen(m->name), i) == CONTENTS_NONE))
			return false;
	}
	return true;
}

/* Makes room for all members, and some folders, at once, unless that is more than the limit. */
static bool contents_reserve(struct contents *c, uint32_t count)
{
	const size_t room = count + (size_t)count / 16 + 16;
	struct contents_entry *entries;

	if (room >= c->limit / (sizeof(*c->entries) + 4 * sizeof(*c->labels.slots)))
		return true;
	entries = malloc(room * sizeof(*entries));
	if (!entries)
		return false;
	c->entries = entries;
	c->room = room;
	return index_room(&c->labels, room);
}

struct contents *contents_new(const struct archive *a, struct err *err)
{
	struct contents *c = calloc(1, sizeof(*c));
	struct building b = {.c = c, .form = BUF_INIT, .err = err};
	bool fine = c != NULL;

	if (fine) {
		c->limit = a->limit;
		fine = contents_reserve(c, a->count) && contents_grow(&b);
	}
	if (fine) {
		c->entries[c->count++] = (struct contents_entry){.label = "",
								 .stored = "",
								 .parent = CONTENTS_NONE,
								 .member = CONTENTS_NONE,
								 .first = CONTENTS_NONE,
								 .last = CONTENTS_NONE,
								 .next = CONTENTS_NONE};
		fine = add_members(&b, a);
	} else {
		err_memory(err);
	}
	buf_release(&b.form);
	if (fine)
		return c;
	contents_free(c);
	return NULL;
}

void contents_free(struct contents *c)
{
	if (!c)
		return;
	free(c->entries);
	free(c->labels.slots);
	free(c->stored.slots);
	arena_release(&c->arena);
	free(c);
}
