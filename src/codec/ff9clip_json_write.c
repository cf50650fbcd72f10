/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * ff9clip_json_write.c - writes the JSON form: the old text with the changed values replaced. All
 * else stays as it was written, including unknown members and the digits of unchanged numbers. New
 * numbers have the fewest digits of their float32.
 */
#include "ff9clip_file.h"

#include "text/num.h"

#include <stdlib.h>
#include <string.h>

/* A replacement for some bytes of the old text. */
struct change {
	size_t at, length;
	size_t text, size; /* offset and size of the new bytes in writer.texts */
	uint32_t number;
};

struct writer {
	struct clip_edit *e;
	const struct ff9clip *f;
	/* By track of the old file: its last entry, and the track that it is now, or NULL. */
	const struct token **entry_of;
	const struct track **now;
	struct buf texts;
	struct change *changes;
	size_t count, room;
	bool failed;
};

static size_t place(const struct ff9clip *f, const struct token *t)
{
	struct spot s = {.doc = &f->doc, .value = t};
	size_t length;

	return spot_place(&s, &length);
}

static size_t end_of(const struct ff9clip *f, const struct token *t)
{
	struct spot s = {.doc = &f->doc, .value = t};
	size_t length, at = spot_place(&s, &length);

	return at + length;
}

static void copy_old(struct writer *w, size_t begin, size_t end)
{
	buf_add(&w->texts, w->f->src.data + begin, end - begin);
}

/* Replaces [at, at + length) by the bytes that were written to texts since `text`. */
static void replace(struct writer *w, size_t at, size_t length, size_t text)
{
	struct change *changes = array_room(w->changes, w->count, &w->room, sizeof(*changes));

	w->failed |= !changes;
	if (!changes)
		return;
	w->changes = changes;
	changes[w->count] =
		(struct change){at, length, text, w->texts.size - text, (uint32_t)w->count};
	w->count++;
}

/* ---- pieces ---- */

static void ff9clip_json_write_string(struct buf *out, const char *text)
{
	buf_char(out, '"');
	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;

		if (c == '"' || c == '\\')
			buf_char(out, '\\');
		if (c < ' ')
			buf_format(out, "\\u%04x", c);
		else
			buf_char(out, (char)c);
	}
	buf_char(out, '"');
}

static void ff9clip_json_write_number(struct buf *out, const uint8_t *number)
{
	buf_f32_text(out, get_f32(number));
}

/* Returns the index of a number of a key in the arrays. */
static size_t number_at(enum role role, unsigned part, unsigned axis, size_t key)
{
	unsigned width = clip_width(role);

	return part == 0 ? 4 * (key * width + axis) : 4 * ((key * 2 + part - 1) * width + axis);
}

static void write_new_key(const struct clip_write *c, uint32_t key, struct buf *out)
{
	buf_text(out, "{ \"time\": ");
	ff9clip_json_write_number(out, c->times + 4 * (size_t)key);
	for (unsigned part = 0; part < 3; part++) {
		for (unsigned axis = 0; axis < clip_width(c->role); axis++) {
			buf_format(out, ", \"%s\": ", ff9clip_json_name(part, axis));
			ff9clip_json_write_number(out, (part ? c->tangents : c->values) +
							       number_at(c->role, part, axis, key));
		}
	}
	buf_text(out, " }");
}

/* ---- a key ---- */

/* A number that replaces one of an old key; without a token it is a new number. */
struct renumbered {
	const struct token *was;
	const char *name;
	const uint8_t *number;
};

static int by_token(const void *pa, const void *pb)
{
	const struct renumbered *a = pa, *b = pb;

	if (!a->was || !b->was)
		return !a->was - !b->was;
	return a->was < b->was ? -1 : a->was > b->was;
}

static unsigned find_renumbered(const struct clip_write *c, uint32_t key, struct renumbered *out)
{
	const struct clip_curve *old = c->old;
	size_t from = (size_t)c->from[key];
	unsigned count = 0;

	for (unsigned part = 0; part < 3; part++) {
		for (unsigned axis = 0; axis < clip_width(c->role); axis++) {
			const char *name = ff9clip_json_name(part, axis);
			const uint8_t *now = (part ? c->tangents : c->values) +
					     number_at(c->role, part, axis, key);
			const uint8_t *was = (part ? old->tangents : old->values) +
					     number_at(c->role, part, axis, from);

			if (memcmp(now, was, 4) != 0)
				out[count++] = (struct renumbered){
					token_member(old->keys[from], name), name, now};
		}
	}
	qsort(out, count, sizeof(*out), by_token);
	return count;
}

static void write_old_key(struct writer *w, const struct clip_write *c, uint32_t key)
{
	const struct token *object = c->old->keys[c->from[key]], *last = NULL;
	struct renumbered list[12];
	unsigned count = find_renumbered(c, key, list), i = 0;
	size_t at = place(w->f, object), end = end_of(w->f, object);

	for (; i < count && list[i].was; i++) {
		copy_old(w, at, place(w->f, list[i].was));
		ff9clip_json_write_number(&w->texts, list[i].number);
		at = end_of(w->f, list[i].was);
	}
	for (const struct token *t = token_first(object); t; t = token_next(object, t))
		last = t;
	if (i < count && last) {
		copy_old(w, at, end_of(w->f, last) > at ? end_of(w->f, last) : at);
		at = end_of(w->f, last);
	}
	for (; i < count; i++) {
		buf_format(&w->texts, ", \"%s\": ", list[i].name);
		ff9clip_json_write_number(&w->texts, list[i].number);
	}
	copy_old(w, at, end);
}

/* ---- the keys of a curve ---- */

static void write_new_list(const struct clip_write *c, struct buf *out)
{
	buf_char(out, '[');
	for (uint32_t key = 0; key < c->count; key++) {
		buf_text(out, key ? ",\n" : "\n");
		write_new_key(c, key, out);
	}
	buf_char(out, ']');
}

/*
 * Writes a separator between elements: like that of the first two in the old list, else a comma and
 * a newline.
 */
static void write_separator(struct writer *w, const struct token *list)
{
	const struct token *first = token_first(list);
	const struct token *second = first ? token_next(list, first) : NULL;

	if (second)
		copy_old(w, end_of(w->f, first), place(w->f, second));
	else
		buf_text(&w->texts, ",\n");
}

/*
 * Writes the elements that are not keys and come before the one at `element`; returns the element
 * that follows them.
 */
static const struct token *write_others(struct writer *w, const struct clip_write *c,
					const struct token *t, const struct token *until,
					bool *first)
{
	const struct token *list = c->old->list;

	for (; t && t != until; t = token_next(list, t)) {
		if (token_member(t, "time"))
			continue;
		if (!*first)
			write_separator(w, list);
		*first = false;
		copy_old(w, place(w->f, t), end_of(w->f, t));
	}
	return t;
}

static void write_list(struct writer *w, const struct clip_write *c)
{
	const struct token *list = c->old->list, *next = token_first(list);
	const size_t begin = place(w->f, list), end = end_of(w->f, list);
	const struct token *last = NULL;
	bool first = true;

	for (const struct token *t = next; t; t = token_next(list, t))
		last = t;
	copy_old(w, begin, next ? place(w->f, next) : begin + 1);
	for (uint32_t key = 0; key < c->count; key++) {
		const struct token *old = c->from[key] >= 0 ? c->old->keys[c->from[key]] : NULL;

		if (old)
			next = write_others(w, c, next, old, &first);
		if (!first)
			write_separator(w, list);
		first = false;
		if (old)
			write_old_key(w, c, key);
		else
			write_new_key(c, key, &w->texts);
		if (old)
			next = token_next(list, old);
	}
	write_others(w, c, next, NULL, &first);
	copy_old(w, last ? end_of(w->f, last) : end - 1, end);
}

/* ---- bones ---- */

/* Returns the last entry of a bone, whose lists count. */
static const struct token *ff9clip_json_write_entry_of(const struct writer *w,
						       const struct track *t)
{
	return t->origin < w->f->track_count ? w->entry_of[t->origin] : NULL;
}

/* Entries are in the order of the text. */
static bool index_entries(struct writer *w)
{
	uint32_t count = w->f->track_count;

	w->entry_of = arena_alloc(&w->e->arena, (size_t)count + 1, sizeof(*w->entry_of));
	w->now = arena_alloc(&w->e->arena, (size_t)count + 1, sizeof(*w->now));
	if (!w->entry_of || !w->now)
		return err_memory(w->e->err);
	for (uint32_t i = 0; i < count; i++) {
		w->entry_of[i] = NULL;
		w->now[i] = NULL;
	}
	for (size_t i = 0; i < w->f->entry_count; i++)
		w->entry_of[w->f->entries[i].track] = w->f->entries[i].token;
	for (uint32_t i = 0; i < w->e->clip->track_count; i++) {
		const struct track *t = &w->e->clip->tracks[i];

		if (t->origin < count)
			w->now[t->origin] = t;
	}
	return true;
}

static void add_list(struct writer *w, const struct clip_write *c)
{
	const struct token *entry = ff9clip_json_write_entry_of(w, c->track), *last = NULL;
	size_t text = w->texts.size;

	for (const struct token *t = token_first(entry); t; t = token_next(entry, t))
		last = t;
	buf_format(&w->texts, ",\n\"%s\": ", ff9clip_json_roles[c->role]);
	write_new_list(c, &w->texts);
	replace(w, end_of(w->f, last), 0, text);
}

/* *next: the first curve that may be the bone's, since they are track by track. */
static void write_new_entry(struct writer *w, const struct track *t, uint32_t *next)
{
	buf_text(&w->texts, "{\"bone\": ");
	ff9clip_json_write_string(&w->texts, t->name);
	while (*next < w->e->count && w->e->curves[*next].track < t)
		++*next;
	for (; *next < w->e->count && w->e->curves[*next].track == t; ++*next) {
		const struct clip_write *c = &w->e->curves[*next];

		buf_format(&w->texts, ",\n\"%s\": ", ff9clip_json_roles[c->role]);
		write_new_list(c, &w->texts);
	}
	buf_char(&w->texts, '}');
}

static void change_curves(struct writer *w)
{
	for (uint32_t i = 0; i < w->e->count; i++) {
		const struct clip_write *c = &w->e->curves[i];
		size_t text = w->texts.size;

		if (c->same || !ff9clip_json_write_entry_of(w, c->track))
			continue;
		if (!c->old) {
			add_list(w, c);
			continue;
		}
		write_list(w, c);
		replace(w, c->old->at, c->old->end - c->old->at, text);
	}
}

static void rename_bones(struct writer *w)
{
	for (size_t i = 0; i < w->f->entry_count; i++) {
		const struct token *bone = token_member(w->f->entries[i].token, "bone");
		const struct track *t = w->now[w->f->entries[i].track];
		size_t text = w->texts.size;

		if (!t || strcmp(token_text(bone), t->name) == 0)
			continue;
		ff9clip_json_write_string(&w->texts, t->name);
		replace(w, place(w->f, bone), end_of(w->f, bone) - place(w->f, bone), text);
	}
}

static int entry_by_token(const void *token, const void *entry)
{
	const struct token *a = token, *b = ((const struct clip_entry *)entry)->token;

	return a < b ? -1 : a > b;
}

/* Is the element of "transform" an entry of a removed bone? */
static bool is_removed(const struct writer *w, const struct token *element)
{
	const struct clip_entry *entry =
		w->f->entry_count ? bsearch(element, w->f->entries, w->f->entry_count,
					    sizeof(*w->f->entries), entry_by_token)
				  : NULL;

	return entry && !w->now[entry->track];
}

/* Returns the last element that stays. */
static const struct token *last_kept(const struct writer *w, const struct token *list)
{
	const struct token *kept = NULL;

	for (const struct token *t = token_first(list); t; t = token_next(list, t))
		if (!is_removed(w, t))
			kept = t;
	return kept;
}

/* Removes entries, with the comma before or after each. */
static void remove_entries(struct writer *w, const struct token *list)
{
	const struct token *before = NULL;
	bool kept = false;

	for (const struct token *t = token_first(list), *next; t; before = t, t = next) {
		size_t begin = place(w->f, t), end = end_of(w->f, t);

		next = token_next(list, t);
		if (!is_removed(w, t)) {
			kept = true;
			continue;
		}
		if (kept)
			begin = end_of(w->f, before);
		else if (next)
			end = place(w->f, next);
		replace(w, begin, end - begin, w->texts.size);
	}
}

static void write_new_entries(struct writer *w, const struct token *list, bool first)
{
	uint32_t next = 0;

	for (uint32_t i = 0; i < w->e->clip->track_count; i++) {
		const struct track *t = &w->e->clip->tracks[i];

		if (ff9clip_json_write_entry_of(w, t))
			continue;
		if (!first)
			write_separator(w, list);
		first = false;
		write_new_entry(w, t, &next);
	}
}

/* Adds a member at the end of the root object. */
static void begin_member(struct writer *w, const struct token **last, const char *name)
{
	const struct token *root = w->f->doc.root;

	*last = NULL;
	for (const struct token *t = token_first(root); t; t = token_next(root, t))
		*last = t;
	buf_format(&w->texts, "%s\"%s\": ", *last || w->count ? ",\n" : "", name);
}

static void change_entries(struct writer *w)
{
	const struct token *root = w->f->doc.root, *list = token_member(root, "transform");
	const struct token *last;
	size_t text, at;

	if (list) {
		const struct token *kept = last_kept(w, list);

		text = w->texts.size;
		at = kept ? end_of(w->f, kept) : place(w->f, list) + 1;
		write_new_entries(w, list, !kept);
		if (w->texts.size > text)
			replace(w, at, 0, text);
		remove_entries(w, list);
		return;
	}
	text = w->texts.size;
	begin_member(w, &last, "transform");
	at = w->texts.size;
	buf_char(&w->texts, '[');
	write_new_entries(w, NULL, true);
	buf_char(&w->texts, ']');
	if (w->texts.size > at + 2)
		replace(w, last ? end_of(w->f, last) : place(w->f, root) + 1, 0, text);
}

static void change_rate(struct writer *w)
{
	const struct token *rate = token_member(w->f->doc.root, "frameRate"), *last;
	size_t text = w->texts.size;

	if (f32_bits(w->e->rate) == f32_bits(w->f->rate))
		return;
	if (rate) {
		buf_f32_text(&w->texts, w->e->rate);
		replace(w, place(w->f, rate), end_of(w->f, rate) - place(w->f, rate), text);
		return;
	}
	begin_member(w, &last, "frameRate");
	buf_f32_text(&w->texts, w->e->rate);
	replace(w, last ? end_of(w->f, last) : place(w->f, w->f->doc.root) + 1, 0, text);
}

/* ---- all of it ---- */

static int ff9clip_json_write_by_place(const void *pa, const void *pb)
{
	const struct change *a = pa, *b = pb;

	if (a->at != b->at)
		return a->at < b->at ? -1 : 1;
	return a->number < b->number ? -1 : a->number > b->number;
}

static void write_changes(struct writer *w)
{
	struct buf *out = w->e->out;
	size_t at = 0;

	if (w->count)
		qsort(w->changes, w->count, sizeof(*w->changes), ff9clip_json_write_by_place);
	for (size_t i = 0; i < w->count; i++) {
		const struct change *c = &w->changes[i];

		if (c->at < at)
			continue; /* skip a change within an entry that is removed */
		buf_add(out, w->f->src.data + at, c->at - at);
		if (c->size)
			buf_add(out, w->texts.data + c->text, c->size);
		at = c->at + c->length;
	}
	buf_add(out, w->f->src.data + at, w->f->src.size - at);
}

static bool check_hold(const struct clip_edit *e)
{
	if (e->rate == e->rate && e->rate - e->rate == 0)
		return true;
	return err_set(e->err, ERR_STORE, "the rate is no number, which JSON cannot hold");
}

/* Refuses tangents that are not finite, which JSON cannot represent. */
static bool check_tangents(const struct clip_edit *e)
{
	for (uint32_t i = 0; i < e->count; i++) {
		const struct clip_write *c = &e->curves[i];
		size_t count = (size_t)c->count * 2 * clip_width(c->role);

		for (size_t j = 0; !c->same && j < count; j++) {
			float tangent = get_f32(c->tangents + 4 * j);

			if (tangent - tangent != 0)
				return err_set(e->err, ERR_STORE,
					       "a tangent of the %s of %s is not finite, which "
					       "JSON cannot hold",
					       role_names[c->role], c->track->label);
		}
	}
	return true;
}

bool ff9clip_write_json(struct clip_edit *e)
{
	struct writer w = {.e = e, .f = &e->old, .texts = BUF_INIT};
	bool fine = check_hold(e) && check_tangents(e) && index_entries(&w);

	if (fine) {
		change_rate(&w);
		rename_bones(&w);
		change_curves(&w);
		change_entries(&w);
		fine = !w.failed && !w.texts.failed;
		if (fine)
			write_changes(&w);
		else
			err_memory(e->err);
	}
	buf_release(&w.texts);
	free(w.changes);
	return fine;
}
