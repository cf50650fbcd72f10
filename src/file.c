/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "file.h"
#include "slow.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

int64_t clock_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

struct file *file_new(struct store *store, const char *folder, const char *name)
{
	struct file *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	pthread_mutex_init(&f->lock, NULL);
	pthread_cond_init(&f->closed, NULL);
	f->name = strdup(name);
	f->source = source_new(store, folder, name);
	if (f->name && f->source)
		return f;
	file_free(f);
	return NULL;
}

struct retired {
	struct retired *next;
	char *name;
};

bool file_is_replaced(const struct file *f)
{
	struct snap *told = source_replaced(f->source, (uint32_t)f->generation);

	snap_put(told);
	return told != NULL;
}

bool file_rename(struct file *f, const char *name)
{
	struct retired *retired = malloc(sizeof(*retired));
	char *copy = strdup(name);

	if (!retired || !copy) {
		free(retired);
		free(copy);
		return false;
	}
	retired->name = f->name;
	retired->next = f->retired;
	f->retired = retired;
	f->name = copy;
	return true;
}

void file_free(struct file *f)
{
	if (!f)
		return;
	while (f->away) {
		struct away *next = f->away->next;

		free(f->away);
		f->away = next;
	}
	while (f->retired) {
		struct retired *next = f->retired->next;

		free(f->retired->name);
		free(f->retired);
		f->retired = next;
	}
	file_end_burst(f);
	snap_put(f->good);
	if (f->source)
		source_free(f->source);
	free(f->name);
	pthread_cond_destroy(&f->closed);
	pthread_mutex_destroy(&f->lock);
	free(f);
}

void file_begin_close(struct file *f)
{
	f->closing++;
}

void file_lock_to_close(struct file *f)
{
	slow_lock(&f->lock);
	f->closing--;
	pthread_cond_broadcast(&f->closed);
}

void file_lock(struct file *f)
{
	slow_lock(&f->lock);
	if (!f->closing)
		return;
	slow_begin();
	while (f->closing)
		pthread_cond_wait(&f->closed, &f->lock);
	slow_end();
}

bool file_lock_within(struct file *f, unsigned ms)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += ms * 1000000L;
	until.tv_sec += until.tv_nsec / 1000000000L;
	until.tv_nsec %= 1000000000L;
	if (pthread_mutex_timedlock(&f->lock, &until) != 0)
		return false;
	if (!f->closing)
		return true;
	pthread_mutex_unlock(&f->lock);
	return false;
}

bool file_trylock(struct file *f)
{
	if (pthread_mutex_trylock(&f->lock) != 0)
		return false;
	if (!f->closing)
		return true;
	pthread_mutex_unlock(&f->lock);
	return false;
}

void file_unlock(struct file *f)
{
	pthread_mutex_unlock(&f->lock);
}

static struct away **find_away(struct file *f, const struct node *parent, const char *name)
{
	struct away **at = &f->away;

	while (*at && ((*at)->parent != parent || strcmp((*at)->name, name) != 0))
		at = &(*at)->next;
	return at;
}

bool file_is_away(const struct file *f, const struct node *parent, const char *name)
{
	return *find_away((struct file *)f, parent, name) != NULL;
}

static bool set_away(struct file *f, struct nodes *t, struct node *folder, struct node *parent,
		     const char *name)
{
	size_t size = strlen(name) + 1;
	struct away *away;

	if (file_is_away(f, parent, name))
		return true;
	away = malloc(sizeof(*away) + size);
	if (!away)
		return false;
	away->parent = parent;
	away->folder = folder;
	memcpy(away->name, name, size);
	away->next = f->away;
	f->away = away;
	nodes_lock(t);
	parent->references++;
	if (folder)
		folder->references++;
	nodes_unlock(t);
	return true;
}

bool file_set_away(struct file *f, struct nodes *t, struct node *parent, const char *name)
{
	return set_away(f, t, NULL, parent, name);
}

bool file_set_folder_away(struct file *f, struct nodes *t, struct node *folder, struct node *parent,
			  const char *name)
{
	return set_away(f, t, folder, parent, name);
}

void file_clear_away(struct file *f, struct nodes *t, const struct node *parent, const char *name)
{
	struct away **at = find_away(f, parent, name);
	struct away *away = *at;

	if (!away)
		return;
	*at = away->next;
	nodes_lock(t);
	nodes_drop(t, away->parent, 0, 1);
	if (away->folder)
		nodes_drop(t, away->folder, 0, 1);
	nodes_unlock(t);
	free(away);
}

struct node *file_folder_away(const struct file *f, const struct node *parent, const char *name)
{
	const struct away *away = *find_away((struct file *)f, parent, name);

	return away ? away->folder : NULL;
}

void file_move_away(struct file *f, struct nodes *t, const struct node *old, struct node *now)
{
	nodes_lock(t);
	for (struct away *away = f->away; away; away = away->next) {
		if (away->parent != old)
			continue;
		nodes_drop(t, away->parent, 0, 1);
		away->parent = now;
		now->references++;
	}
	nodes_unlock(t);
}

void file_begin_burst(struct file *f, struct snap *now)
{
	if (!f->before)
		f->before = snap_get(now);
}

bool file_was_saved(const struct file *f, const char *path)
{
	const struct saved *saved = f->saved;

	while (saved && strcmp(saved->path, path) != 0)
		saved = saved->next;
	return saved != NULL;
}

bool file_note_saved(struct file *f, const char *path)
{
	size_t size = strlen(path) + 1;
	struct saved *saved;

	if (file_was_saved(f, path))
		return true;
	saved = malloc(sizeof(*saved) + size);
	if (!saved)
		return false;
	memcpy(saved->path, path, size);
	saved->next = f->saved;
	f->saved = saved;
	return true;
}

void file_end_burst(struct file *f)
{
	snap_put(f->before);
	f->before = NULL;
	f->passed = 0;
	while (f->saved) {
		struct saved *next = f->saved->next;

		free(f->saved);
		f->saved = next;
	}
}
