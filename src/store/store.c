/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "store.h"

#include <fnmatch.h>
#include <stdlib.h>

struct store {
	struct store_options options;
	struct state *state;
	struct history *history;
	struct cache *cache;
	struct naming *naming; /* table of bone names; may be NULL */
	skeleton_reporter
		*report_skeleton; /* function to report faults of skeletons to; may be NULL */
	void *skeleton_closure;
	const struct guard *guard; /* decides which files beside animations are used; may be NULL */
	struct opened_archives opened;
};

struct store *store_new(const struct store_options *options, struct state *state)
{
	struct store *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	lock_init(&s->opened.lock);
	s->options = *options;
	s->state = state;
	s->cache = cache_new(options->cache);
	s->history = state ? history_new(state, options->history) : NULL;
	if (s->cache && (s->history || !state))
		return s;
	store_free(s);
	return NULL;
}

bool store_names(struct store *s, int folder, naming_reporter *report, void *closure)
{
	naming_free(s->naming);
	s->naming = naming_new(folder, report, closure);
	naming_guard(s->naming, s->guard);
	return s->naming != NULL;
}

void store_report_skeletons(struct store *s, skeleton_reporter *report, void *closure)
{
	s->report_skeleton = report;
	s->skeleton_closure = closure;
}

void store_guard(struct store *s, const struct guard *guard)
{
	s->guard = guard;
	naming_guard(s->naming, guard);
}

UNSHARED void store_free(struct store *s)
{
	if (!s)
		return;
	for (unsigned i = 0; s->cache && i < OPENED_ARCHIVES; i++)
		cache_settle(s->cache, &s->opened.slots[i].home, NULL);
	lock_destroy(&s->opened.lock);
	naming_free(s->naming);
	cache_free(s->cache);
	history_free(s->history);
	free(s);
}

size_t store_cached(const struct store *s)
{
	return cache_size(s->cache);
}

/* Returns the first pattern of the options that matches, or NULL. */
static const struct pattern *find_pattern(const struct store *s, const char *file_name)
{
	for (unsigned i = 0; i < s->options.pattern_count; i++) {
		if (fnmatch(s->options.patterns[i].glob, file_name, FNM_CASEFOLD) == 0)
			return &s->options.patterns[i];
	}
	return NULL;
}

bool store_claims(const struct store *s, const char *file_name, const struct codec **codec,
		  bool *probe)
{
	const struct pattern *pattern = find_pattern(s, file_name);

	*codec = pattern ? pattern->codec : codec_for_name(file_name);
	*probe = pattern && !pattern->codec;
	return *codec || *probe;
}

struct decoding store_decoding(const struct store *s, const char *file_name,
			       const struct codec *codec)
{
	struct decoding how = {.rotations = s->options.rotations,
			       .style = s->options.style,
			       .bases = s->options.bases,
			       .base_count = s->options.base_count};
	const struct pattern *pattern = find_pattern(s, file_name);

	const struct format *format = codec ? format_stored(codec->format) : NULL;

	for (unsigned i = 0; codec && i < s->options.rate_count; i++) {
		if (s->options.rates[i].format == format)
			how.rate = s->options.rates[i].hz;
	}
	if (pattern)
		how.hints.bones = pattern->bones;
	if (format)
		how.names = naming_get(s->naming, format);
	how.hints.bone_names = naming_table_names(how.names);
	return how;
}

struct cache *store_cache(const struct store *s)
{
	return s->cache;
}

struct opened_archives *store_opened(struct store *s)
{
	return &s->opened;
}

struct state *store_state(const struct store *s)
{
	return s->state;
}

struct history *store_history(const struct store *s)
{
	return s->history;
}

const struct guard *store_guarded(const struct store *s)
{
	return s->guard;
}

const struct store_options *store_settings(const struct store *s)
{
	return &s->options;
}

struct naming_table *store_naming(const struct store *s, const struct format *format)
{
	return naming_get(s->naming, format);
}

bool store_reports_skeletons(const struct store *s)
{
	return s->report_skeleton != NULL;
}

void store_report_skeleton(const struct store *s, const char *path, const char *fault)
{
	s->report_skeleton(s->skeleton_closure, path, fault);
}
