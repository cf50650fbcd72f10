/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * owanim_fit.c - finds the interpretation of a file, which the file does not record.
 *
 * Unknown are the meaning of the table's entries, the number of frames, and the width of an index.
 * Every combination that the header allows is tried, and the one with the least evidence against it
 * is taken: indices that are out of range, bytes that two arrays claim, and bytes that nothing
 * claims. Among equals the first one tried is taken, so the likely ones come first.
 */
#include "owanim_file.h"

#include <math.h>
#include <stdlib.h>

/*
 * Limit of keys, or the file's size in bytes if that is larger: lists may share arrays, so a small
 * file can have many keys.
 */
#define KEYS_MIN 0x40000u
#define KEYS_PER_BYTE 4

/* ---- the number of frames ---- */

#define CLAIMS_MAX 4

struct claims {
	uint32_t frames[CLAIMS_MAX];
	unsigned count;
};

/* Adds a possible number of frames; `last` is the number of the last frame, already rounded. */
static void add_claim(struct claims *c, double last)
{
	uint32_t frames;

	if (!(last >= 0 && last < FRAMES_MAX))
		return;
	frames = (uint32_t)last + 1;
	for (unsigned i = 0; i < c->count; i++) {
		if (c->frames[i] == frames)
			return;
	}
	c->frames[c->count++] = frames;
}

/*
 * Returns the numbers of frames that follow from duration and rate, as various programs compute
 * them, most likely first. None if the duration is not a positive number.
 */
static struct claims claims_of(float duration, float fps)
{
	struct claims c = {.count = 0};
	double product = (double)fps * (double)duration;

	if (!(duration >= 0) || !isfinite(duration) || !isfinite(fps))
		return c;
	add_claim(&c, floor((double)(fps * duration)));
	add_claim(&c, floor(product + 0.5));
	add_claim(&c, floor(product));
	add_claim(&c, floor((double)(truncf(fps) * duration)));
	return c;
}

/* ---- one trial ---- */

struct range {
	uint64_t at, size;
};

struct trial {
	struct owanim *f; /* the file whose interpretation is being tried */
	uint32_t claim;   /* number of frames that is tried; 0: not known */
	uint64_t wrong;

	/* Results that depend on the arrays only, kept while those stay the same. */
	bool tried, fine;
	struct owfit arrays; /* the interpretation that these results are for */
	uint64_t keys, keys_left;
	uint32_t most;      /* number of keys of the longest list */
	uint32_t index_end; /* one past the largest index */
	uint64_t twice;     /* number of bytes that two arrays use */
	uint64_t unknown;   /* number of bytes that no array uses */
	struct range *ranges;
	size_t count, room;
};

static bool owanim_fit_add_range(struct trial *t, uint64_t at, uint64_t count, uint64_t size)
{
	if (!bytes_hold(t->f->src, at, count, size))
		return false;
	t->ranges[t->count++] = (struct range){at, count * size};
	return true;
}

static void find_index_end(struct trial *t, uint32_t entry, enum list_kind kind)
{
	struct owlist list = owanim_list(t->f, entry, kind);

	for (uint32_t i = 0; i < list.count; i++) {
		uint32_t index = owanim_index(&list, i);

		if (index >= t->index_end)
			t->index_end = index + 1;
	}
}

static bool try_list(struct trial *t, uint32_t entry, enum list_kind kind, struct err *err)
{
	const struct owanim *f = t->f;
	uint32_t count = get_u16(owanim_entry(f, entry) + 2 * kind);
	size_t place = (size_t)(f->table_at + (uint64_t)entry * ENTRY_SIZE);
	uint64_t index, data;

	if (count == 0)
		return true;
	if (!owanim_follow(f, entry, kind, &index) ||
	    !owanim_fit_add_range(t, index, count, owanim_wide(&f->fit, count) ? 2 : 1) ||
	    !owanim_follow(f, entry, LIST_COUNT + kind, &data) ||
	    !owanim_fit_add_range(t, data, count, owanim_data_size(kind)))
		return err_at(err, ERR_FORMAT, place, 0,
			      "table entry %u: its %u keys do not fit into the file", entry, count);
	if (count > t->keys_left)
		return err_at(err, ERR_FORMAT, place, 0, "the lists of keys overlap too often");
	t->keys_left -= count;
	t->keys += count;
	if (count > t->most)
		t->most = count;
	find_index_end(t, entry, kind);
	return true;
}

static bool owanim_fit_make_room(struct trial *t, uint32_t entries, struct err *err)
{
	size_t room = 3 + (size_t)entries * 2 * LIST_COUNT;

	if (room > t->room) {
		t->ranges = arena_alloc(&t->f->arena, room, sizeof(*t->ranges));
		t->room = room;
	}
	return t->ranges != NULL || err_memory(err);
}

static bool try_lists(struct trial *t, struct err *err)
{
	const struct owanim *f = t->f;
	uint32_t entries = owanim_entries(&f->fit, f->bones);
	uint64_t bytes = f->src.size;

	if (entries && !bytes_hold(f->src, f->table_at, entries, ENTRY_SIZE))
		return err_at(err, ERR_FORMAT, AT_TABLE, 8,
			      "the table of %u entries does not fit into the file", entries);
	if (!owanim_fit_make_room(t, entries, err))
		return false;
	t->count = 0;
	t->keys = t->most = t->index_end = 0;
	t->keys_left = bytes * KEYS_PER_BYTE > KEYS_MIN ? bytes * KEYS_PER_BYTE : KEYS_MIN;
	owanim_fit_add_range(t, 0, 1, HEADER_SIZE);
	if (f->bones)
		owanim_fit_add_range(t, f->bones_at, f->bones, ID_SIZE);
	if (entries)
		owanim_fit_add_range(t, f->table_at, entries, ENTRY_SIZE);
	for (uint32_t i = 0; i < entries * LIST_COUNT; i++) {
		if (!try_list(t, i / LIST_COUNT, i % LIST_COUNT, err))
			return false;
	}
	return true;
}

static int owanim_fit_by_place(const void *a, const void *b)
{
	const struct range *p = a, *q = b;

	if (p->at != q->at)
		return p->at < q->at ? -1 : 1;
	return p->size < q->size ? -1 : p->size > q->size;
}

/*
 * Counts the bytes that no array uses. Zeros up to the next multiple of 4 (from the table) are
 * padding.
 */
static uint64_t unclaimed_bytes(const struct owanim *f, uint64_t from, uint64_t to)
{
	while (from < to && (from - f->table_at) % 4 && f->src.data[from] == 0)
		from++;
	return to - from;
}

static void weigh_ranges(struct trial *t)
{
	uint64_t end = 0;

	t->unknown = t->twice = 0;
	qsort(t->ranges, t->count, sizeof(*t->ranges), owanim_fit_by_place);
	for (size_t i = 0; i < t->count; i++) {
		const struct range *r = &t->ranges[i];
		uint64_t r_end = r->at + r->size;

		if (i > 0 && owanim_fit_by_place(r - 1, r) == 0)
			continue; /* the lists share this array */
		if (r->at > end)
			t->unknown += unclaimed_bytes(t->f, end, r->at);
		else
			t->twice += (r_end < end ? r_end : end) - r->at;
		if (r_end > end)
			end = r_end;
	}
	t->unknown += unclaimed_bytes(t->f, end, t->f->src.size);
}

/* Does this interpretation find the same arrays as the last one? */
static bool same_arrays(const struct trial *t)
{
	const struct owfit *a = &t->arrays, *b = &t->f->fit;
	bool a_mixed = a->rule == WIDTH_BY_COUNT, b_mixed = b->rule == WIDTH_BY_COUNT;

	if (!t->tried || a->by_frame != b->by_frame ||
	    owanim_entries(a, t->f->bones) != owanim_entries(b, t->f->bones))
		return false;
	if (a_mixed == b_mixed)
		return a_mixed || a->wide == b->wide;
	/* If no list is long, all are narrow by their own count too. */
	return t->fine && t->most <= PAGE_NARROW && !(a_mixed ? b : a)->wide;
}

static bool try_arrays(struct trial *t, struct err *err)
{
	if (same_arrays(t))
		return t->fine;
	t->tried = true;
	t->arrays = t->f->fit;
	t->fine = try_lists(t, err);
	if (t->fine)
		weigh_ranges(t);
	return t->fine;
}

/* Counts the indices past the claimed frames. */
static uint64_t count_wrong(const struct trial *t)
{
	const struct owanim *f = t->f;
	uint32_t limit = f->fit.by_frame ? f->bones : t->claim;
	uint64_t wrong = 0;

	if (t->index_end <= limit || (!f->fit.by_frame && t->claim == 0))
		return 0;
	for (uint32_t i = 0; i < owanim_entries(&f->fit, f->bones) * LIST_COUNT; i++) {
		struct owlist list = owanim_list(f, i / LIST_COUNT, i % LIST_COUNT);

		for (uint32_t k = 0; k < list.count; k++)
			wrong += owanim_index(&list, k) >= limit;
	}
	return wrong;
}

/* Sets the number of frames; keys past those that the duration claims count as well. */
static void settle_frames(struct trial *t)
{
	struct owfit *fit = &t->f->fit;
	bool contradicts;

	fit->frames = t->claim > 0 ? t->claim : 1;
	if (fit->by_frame)
		return;
	if (t->index_end > fit->frames)
		fit->frames = t->index_end;
	contradicts =
		fit->wide ? fit->frames <= NARROW_MAX : t->claim == 0 && fit->frames > NARROW_MAX;
	if (fit->rule == WIDTH_BY_LIMIT && contradicts)
		t->wrong += t->keys;
}

/* ---- all trials ---- */

struct search {
	struct trial trial;
	bool found;
	struct owfit best;
	uint64_t evidence, wrong; /* counts of the best trial */
	struct err why;           /* error of the first trial that failed */
};

static void try_fit(struct search *s, uint32_t claim, struct owfit fit)
{
	struct trial *t = &s->trial;
	uint64_t evidence;

	t->claim = claim;
	t->f->fit = fit;
	if ((s->found && s->evidence == 0) || !try_arrays(t, &s->why))
		return;
	evidence = t->twice + t->unknown;
	if (s->found && evidence >= s->evidence)
		return;
	t->wrong = t->twice + count_wrong(t);
	settle_frames(t);
	evidence = t->unknown + t->wrong;
	if (s->found && evidence >= s->evidence)
		return;
	s->found = true;
	s->best = t->f->fit;
	s->evidence = evidence;
	s->wrong = t->wrong;
}

static void try_widths(struct search *s, const struct claims *c, bool by_frame)
{
	const struct owanim *f = s->trial.f;
	struct owfit fit = {.by_frame = by_frame};

	for (unsigned i = 0; i < c->count; i++) {
		uint32_t limit = by_frame ? f->bones : c->frames[i];

		fit.frames = c->frames[i];
		fit.wide = limit > NARROW_MAX;
		try_fit(s, c->frames[i], fit);
	}
	fit.wide = false;
	fit.rule = WIDTH_BY_COUNT;
	for (unsigned i = 0; i < c->count; i++) {
		fit.frames = c->frames[i];
		try_fit(s, c->frames[i], fit);
	}
}

/*
 * Tries more frames: if the duration is too short, indices may be wide because of keys past its
 * end.
 */
static void try_longer(struct search *s, const struct claims *c)
{
	struct owfit fit = {.rule = WIDTH_BY_LIMIT, .wide = true};
	uint32_t most = 0;

	for (unsigned i = 0; i < c->count; i++) {
		if (c->frames[i] > most)
			most = c->frames[i];
	}
	if (most <= NARROW_MAX)
		try_fit(s, most, fit);
}

bool owanim_find_fit(struct owanim *f, struct err *err)
{
	static const struct claims nothing = {.count = 1};
	const uint8_t *p = f->src.data;
	struct claims claims = claims_of(get_f32(p + AT_DURATION), get_f32(p + AT_FPS));
	struct search s = {.trial.f = f};

	try_widths(&s, claims.count ? &claims : &nothing, false);
	try_longer(&s, &claims);
	try_widths(&s, &claims, true);
	if (f->arena.failed)
		return err_memory(err);
	if (!s.found) {
		err_copy(err, &s.why);
		return false;
	}
	f->fit = s.best;
	f->wrong = s.wrong;
	return true;
}
