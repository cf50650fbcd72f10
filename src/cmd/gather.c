/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "gather.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

static bool gather_take_path(struct gathered *g, const char *path)
{
	char **paths = array_room(g->paths, g->count, &g->room, sizeof(*paths));

	if (!paths)
		return false;
	g->paths = paths;
	paths[g->count] = strdup(path);
	return paths[g->count++] != NULL;
}

static int gather_by_name(const FTSENT **a, const FTSENT **b)
{
	return strcmp((*a)->fts_name, (*b)->fts_name);
}

static bool report_unreadable(const FTSENT *entry, int error)
{
	fprintf(stderr, "animfs: %s: %s\n", entry->fts_path, strerror(error));
	return false;
}

/* Handles one entry; `root` is the length of the path of the root. */
static bool gather_visit_entry(FTS *fts, FTSENT *entry, size_t root, gather_filter *filter,
			       void *closure, struct gathered *out)
{
	const char *path = entry->fts_path + root;

	switch (entry->fts_info) {
	case FTS_ERR:
	case FTS_DNR:
	case FTS_NS:
		return report_unreadable(entry, entry->fts_errno);
	case FTS_DC:
		return report_unreadable(entry, ELOOP);
	case FTS_DP:
		return true;
	}
	if (entry->fts_level == FTS_ROOTLEVEL)
		return entry->fts_info == FTS_D || report_unreadable(entry, ENOTDIR);
	path += *path == '/';
	switch (filter(closure, entry, path)) {
	case GATHER_TAKE:
		if (!gather_take_path(out, path))
			return report_unreadable(entry, ENOMEM);
		/* fall through */
	case GATHER_PASS:
		fts_set(fts, entry, FTS_SKIP);
		/* fall through */
	case GATHER_ENTER:
		return true;
	}
	return true;
}

bool gather(const char *root, gather_filter *filter, void *closure, struct gathered *out)
{
	char *const roots[] = {(char *)root, NULL};
	FTS *fts = fts_open(roots, FTS_PHYSICAL | FTS_COMFOLLOW | FTS_NOCHDIR, gather_by_name);
	bool fine = fts != NULL;
	FTSENT *entry;

	while (fts && (entry = fts_read(fts)))
		fine &= gather_visit_entry(fts, entry, strlen(root), filter, closure, out);
	if (fts)
		fts_close(fts);
	return fine;
}

void gathered_release(struct gathered *g)
{
	for (size_t i = 0; i < g->count; i++)
		free(g->paths[i]);
	free(g->paths);
}

const char *path_cut(const char *path, char **folder)
{
	const char *slash = strrchr(path, '/');

	*folder = strndup(path, slash ? (size_t)(slash - path) : 0);
	return slash ? slash + 1 : path;
}
