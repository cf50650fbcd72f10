/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "check.h"
#include "gather.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Takes the paths, which are freed when there is no room for them. */
static bool add(struct check_list *l, char *path, char *target, int missing)
{
	struct check_item *items =
		path ? array_room(l->items, l->count, &l->room, sizeof(*items)) : NULL;

	if (!items) {
		free(path);
		free(target);
		return false;
	}
	l->items = items;
	items[l->count++] = (struct check_item){path, target, missing};
	return true;
}

struct asked {
	const struct store *store;
	const struct shard *shard;
};

static enum gather ask(void *closure, const FTSENT *entry, const char *path)
{
	const struct asked *asked = closure;
	const struct codec *codec;
	bool probe;

	if (entry->fts_info == FTS_D)
		return GATHER_ENTER;
	return entry->fts_info == FTS_F &&
			       store_claims(asked->store, entry->fts_name, &codec, &probe) &&
			       shard_has(asked->shard, path)
		       ? GATHER_TAKE
		       : GATHER_PASS;
}

static bool add_folder(struct check_list *l, const char *folder, const struct store *store,
		       const struct shard *shard)
{
	struct asked asked = {store, shard};
	struct gathered found = GATHERED_INIT;
	bool room = true, slash = *folder && folder[strlen(folder) - 1] == '/';

	l->fine &= gather(folder, ask, &asked, &found);
	for (size_t i = 0; room && i < found.count; i++) {
		char *path = NULL;

		if (asprintf(&path, "%s%s%s", folder, slash ? "" : "/", found.paths[i]) < 0)
			path = NULL;
		room = add(l, path, NULL, 0);
	}
	gathered_release(&found);
	return room;
}

bool check_list_add(struct check_list *l, const char *path, const struct store *store,
		    const struct shard *shard)
{
	const char *slash = strrchr(path, '/');
	struct stat st;
	int missing = 0;

	if (stat(path, &st) != 0)
		missing = errno;
	else if (S_ISDIR(st.st_mode))
		return add_folder(l, path, store, shard);
	return !shard_has(shard, slash ? slash + 1 : path) ||
	       add(l, strdup(path), operand_target(path), missing);
}

static bool read_names(struct check_list *l, FILE *in, const char *from, const struct store *store,
		       const struct shard *shard)
{
	char *name = NULL;
	size_t room = 0;
	bool fine = true;

	while (fine && getdelim(&name, &room, '\0', in) > 0) {
		if (!*name)
			fine = command_fail(from, "a name is empty");
		else if (!check_list_add(l, name, store, shard))
			fine = command_fail(from, strerror(ENOMEM));
	}
	free(name);
	return fine && (feof(in) || command_fail(from, strerror(errno)));
}

bool check_list_read(struct check_list *l, const char *from, const struct store *store,
		     const struct shard *shard)
{
	bool standard = strcmp(from, "-") == 0, fine;
	FILE *in = standard ? stdin : fopen(from, "re");

	if (!in)
		return command_fail(from, strerror(errno));
	fine = read_names(l, in, standard ? "standard input" : from, store, shard);
	if (!standard)
		fclose(in);
	return fine;
}

void check_list_release(struct check_list *l)
{
	for (size_t i = 0; i < l->count; i++) {
		free(l->items[i].path);
		free(l->items[i].target);
	}
	free(l->items);
}
