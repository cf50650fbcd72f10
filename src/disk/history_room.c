/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "history_room.h"

#include "dirfd.h"
#include "util/clock.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HOUR ((int64_t)3600 * 1000000000)
#define DAY (24 * HOUR)
#define NAME_SIZE 64

/* A kept version. */
struct kept {
	uint64_t number, cost;
	int64_t time;
	bool needed, gone;
};

/* The kept versions of a file, by number. */
struct book {
	char name[NAME_SIZE];
	struct kept *list;
	size_t count, room;
	size_t first; /* index of the oldest version that is still kept */
	uint64_t cost;
};

struct library {
	int top;
	int64_t now;
	const struct history_running *running;
	const uid_t *owner; /* only versions of this user count; NULL: all */
	bool leaves_needed; /* versions that running batches need do not count */
	struct book *books;
	size_t count, room;
	bool failed; /* an allocation failed */
};

/* ---- listing versions ---- */

static bool is_running(const struct library *l, uint64_t batch)
{
	for (size_t i = 0; batch && i < l->running->count; i++) {
		if (l->running->batches[i] == batch)
			return true;
	}
	return false;
}

static uint64_t history_room_number_of(const char *name)
{
	size_t digits = strspn(name, "0123456789");

	return digits && digits < 20 && !name[digits] ? strtoull(name, NULL, 10) : 0;
}

static int history_room_by_number(const void *a, const void *b)
{
	const struct kept *x = a, *y = b;

	return x->number < y->number ? -1 : x->number > y->number;
}

static void history_room_add_kept(struct library *l, struct book *b, int folder, const char *name)
{
	struct kept one = {.number = history_room_number_of(name)}, *more;
	struct stat st;

	if (!one.number || fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) ||
	    !S_ISREG(st.st_mode) || (l->owner && st.st_uid != *l->owner))
		return;
	more = array_room(b->list, b->count, &b->room, sizeof(*more));
	if (!more) {
		l->failed = true;
		return;
	}
	one.cost = history_cost((uint64_t)st.st_size);
	one.time = (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec;
	b->list = more;
	b->list[b->count++] = one;
	b->cost += one.cost;
}

/* Reads from the log when each version was made, and for which batch it was replaced. */
static void history_room_add_facts(struct library *l, struct book *b, int folder)
{
	struct history_log log;

	if (history_log_read(folder, &log) == ENOMEM)
		l->failed = true;
	for (size_t i = 0; i < b->count; i++) {
		size_t at = history_log_find(&log, b->list[i].number);

		if (at == SIZE_MAX)
			continue;
		b->list[i].time = log.list[at].time;
		b->list[i].needed = at + 1 < log.count && is_running(l, log.list[at + 1].batch);
	}
	history_log_release(&log);
}

static void leave_needed(struct book *b)
{
	size_t count = 0;

	for (size_t i = 0; i < b->count; i++) {
		if (b->list[i].needed)
			b->cost -= b->list[i].cost;
		else
			b->list[count++] = b->list[i];
	}
	b->count = count;
}

static void list_kept(struct library *l, struct book *b)
{
	struct dirent *entry;
	DIR *dir;

	if (dirfd_list(l->top, b->name, &dir) != 0)
		return;
	while ((entry = dirfd_next(dir)))
		history_room_add_kept(l, b, dirfd(dir), entry->d_name);
	if (b->count) {
		qsort(b->list, b->count, sizeof(*b->list), history_room_by_number);
		history_room_add_facts(l, b, dirfd(dir));
		if (l->leaves_needed)
			leave_needed(b);
	}
	closedir(dir);
}

static void add_book(struct library *l, const char *name)
{
	struct book *more;

	if (name[0] == '.' || strlen(name) >= NAME_SIZE)
		return;
	more = array_room(l->books, l->count, &l->room, sizeof(*more));
	if (!more) {
		l->failed = true;
		return;
	}
	l->books = more;
	more[l->count] = (struct book){.list = NULL};
	strcpy(more[l->count].name, name);
	list_kept(l, &more[l->count]);
	l->count++;
}

static int list_books(struct library *l)
{
	struct dirent *entry;
	DIR *dir;
	int error = dirfd_list(l->top, "", &dir);

	if (error)
		return error;
	while ((entry = dirfd_next(dir)))
		add_book(l, entry->d_name);
	closedir(dir);
	return l->failed ? ENOMEM : 0;
}

static void release_books(struct library *l)
{
	for (size_t i = 0; i < l->count; i++)
		free(l->books[i].list);
	free(l->books);
}

/* ---- dropping versions ---- */

static void drop_version(const struct library *l, struct book *b, size_t i)
{
	char path[NAME_SIZE + 32];

	snprintf(path, sizeof(path), "%s/%" PRIu64, b->name, b->list[i].number);
	if (unlinkat(l->top, path, 0) && errno != ENOENT)
		return;
	b->list[i].gone = true;
	b->cost -= b->list[i].cost;
}

static void skip_gone(struct book *b)
{
	while (b->first < b->count && b->list[b->first].gone)
		b->first++;
}

/*
 * Thins out a file's versions: of those older than an hour, keeps the last of each hour; of those
 * older than a day, the last of each day.
 */
static void thin_book(const struct library *l, struct book *b)
{
	int64_t bucket = -1;

	for (size_t i = b->count; i-- > 0;) {
		int64_t age = l->now - b->list[i].time, unit = age <= DAY ? HOUR : DAY;
		int64_t place = b->list[i].time / unit * 2 + (unit == DAY);

		if (age > HOUR && place == bucket && !b->list[i].needed)
			drop_version(l, b, i);
		bucket = age > HOUR ? place : -1;
	}
	skip_gone(b);
}

/* Drops the oldest version that no running batch needs, unless it is the newest. */
static bool drop_oldest(const struct library *l, struct book *b)
{
	size_t i = b->first;

	while (i < b->count && (b->list[i].gone || b->list[i].needed))
		i++;
	if (i + 1 >= b->count)
		return false;
	drop_version(l, b, i);
	skip_gone(b);
	return b->list[i].gone;
}

static uint64_t total_of(const struct library *l)
{
	uint64_t total = 0;

	for (size_t i = 0; i < l->count; i++)
		total += l->books[i].cost;
	return total;
}

static uint64_t total_below(const struct library *l, uint64_t level)
{
	uint64_t total = 0;

	for (size_t i = 0; i < l->count; i++)
		total += l->books[i].cost < level ? l->books[i].cost : level;
	return total;
}

/*
 * Dropping versions of whichever file takes the most space ends with no file above some level.
 * Finds the highest level at which the total is within `target`.
 */
static uint64_t find_level(const struct library *l, uint64_t target)
{
	uint64_t low = 0, high = total_of(l);

	while (low < high) {
		uint64_t middle = low + (high - low + 1) / 2;

		if (total_below(l, middle) <= target)
			low = middle;
		else
			high = middle - 1;
	}
	return low;
}

static uint64_t drop_to_level(struct library *l, uint64_t target)
{
	uint64_t level = find_level(l, target), total = total_of(l);

	for (size_t i = 0; i < l->count && total > target; i++) {
		struct book *b = &l->books[i];
		uint64_t before = b->cost;

		while (b->cost > level && total - (before - b->cost) > target && drop_oldest(l, b))
			;
		total -= before - b->cost;
	}
	return total;
}

/*
 * Returns the file whose newest version is the oldest of all and may be dropped. Called when each
 * file has only its newest and needed versions left.
 */
static struct book *oldest_newest(const struct library *l)
{
	struct book *oldest = NULL;

	for (size_t i = 0; i < l->count; i++) {
		struct book *b = &l->books[i];
		size_t last = b->count ? b->count - 1 : 0;

		if (b->count && !b->list[last].gone && !b->list[last].needed &&
		    (!oldest || b->list[last].time < oldest->list[oldest->count - 1].time))
			oldest = b;
	}
	return oldest;
}

static void drop_newest(struct library *l, uint64_t target)
{
	uint64_t total = total_of(l);
	struct book *b;

	while (total > target && (b = oldest_newest(l))) {
		uint64_t before = b->cost;

		drop_version(l, b, b->count - 1);
		if (b->cost == before)
			break; /* the version cannot be removed, so removing more would not help */
		total -= before - b->cost;
	}
}

/* ---- log lines of dropped versions ---- */

/* Are the bytes of version i kept as those of another version? */
static bool has_copy(const struct history_log *log, size_t i)
{
	const struct history_entry *e = &log->list[i];

	for (size_t j = 0; j < log->count; j++) {
		if (log->list[j].kept && log->list[j].size == e->size &&
		    history_digest_same(&log->list[j].digest, &e->digest))
			return true;
	}
	return false;
}

/* Did an undo or redo restore version i? */
static bool is_led_to(const struct history_log *log, size_t i)
{
	for (size_t j = i + 1; j < log->count; j++) {
		if (log->list[j].kind == HISTORY_STEP && log->list[j].back == log->list[i].number)
			return true;
	}
	return false;
}

static bool line_stays(const struct history_log *log, size_t i)
{
	return log->list[i].kept || i + 1 == log->count ||
	       (log->list[i].kind != HISTORY_REMOVED && is_led_to(log, i) && has_copy(log, i));
}

static void compact_log(struct state *state, int folder)
{
	struct history_log log;
	struct buf text = BUF_INIT;
	size_t kept = 0;

	if (!history_log_read(folder, &log)) {
		for (size_t i = 0; i < log.count; i++) {
			if (!line_stays(&log, i))
				continue;
			history_log_line(&log.list[i], &text);
			kept++;
		}
	}
	if (kept && kept <= log.count / 2 && !text.failed)
		state_put(state, folder, NULL, HISTORY_LOG, 0600, buf_bytes(&text), STATE_PUT_SYNC);
	history_log_release(&log);
	buf_release(&text);
}

static bool has_gone(const struct book *b)
{
	for (size_t i = 0; i < b->count; i++) {
		if (b->list[i].gone)
			return true;
	}
	return false;
}

static void compact_books(const struct library *l, struct state *state)
{
	int folder;

	for (size_t i = 0; i < l->count; i++) {
		const struct book *b = &l->books[i];

		if (!has_gone(b) || dirfd_walk(l->top, b->name, O_PATH | O_DIRECTORY, &folder))
			continue;
		compact_log(state, folder);
		close(folder);
	}
}

/* ---- all of it ---- */

static void drop_to(struct library *l, uint64_t target)
{
	for (size_t i = 0; i < l->count; i++)
		thin_book(l, &l->books[i]);
	if (total_of(l) > target && drop_to_level(l, target) > target)
		drop_newest(l, target);
}

int history_make_room(struct state *state, uint64_t target, const struct history_running *running,
		      uint64_t *left)
{
	struct library l = {.now = clock_wall_ns(), .running = running};
	int error = state_folder(state, STATE_HISTORY, "", false, &l.top);

	*left = 0;
	if (error)
		return error == ENOENT ? 0 : error;
	error = list_books(&l);
	if (!error) {
		drop_to(&l, target);
		*left = total_of(&l);
		compact_books(&l, state);
	}
	release_books(&l);
	close(l.top);
	return error;
}

int history_free_room(struct state *state, uint64_t size, const uid_t *owner,
		      const struct history_running *running, bool *made)
{
	struct library l = {
		.now = clock_wall_ns(), .running = running, .owner = owner, .leaves_needed = true};
	int error = state_folder(state, STATE_HISTORY, "", false, &l.top);
	uint64_t total;

	*made = false;
	if (error)
		return error == ENOENT ? 0 : error;
	error = list_books(&l);
	total = total_of(&l);
	if (!error && total >= size) {
		drop_to(&l, total - size);
		*made = total_of(&l) <= total - size;
		compact_books(&l, state);
	}
	release_books(&l);
	close(l.top);
	return error;
}

void history_thin(struct state *state, int folder)
{
	const struct history_running none = {NULL, 0};
	struct library l = {.top = folder, .now = clock_wall_ns(), .running = &none};
	struct book b = {.name = "."};

	list_kept(&l, &b);
	if (!l.failed)
		thin_book(&l, &b);
	free(b.list);
	compact_log(state, folder);
}
