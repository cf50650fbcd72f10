/* SPDX-License-Identifier: GPL-3.0-or-later */
/* check.c - `animfs check`: decodes, encodes again and compares; a line for each file that fails.
 */
#include "cmd.h"

#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct tally {
	struct store *store;
	unsigned long checked, failed;
	const char *folder; /* of the file at hand */
	char said[1024];    /* of its table of names */
};

static bool report(const char *path, const struct err *err)
{
	if (err->placed)
		printf("%s:0x%zx: %s\n", path, err->at, err->message);
	else
		printf("%s: %s\n", path, err->message);
	return false;
}

static bool compare(const struct snap *snap, struct err *err)
{
	struct bytes bytes = buf_bytes(&snap->bytes);
	struct buf again = BUF_INIT;
	size_t at = 0;
	bool same;

	if (!snap->codec->encode(snap->anim, bytes, &again, err)) {
		buf_release(&again);
		return false;
	}
	same = bytes_equal(bytes, buf_bytes(&again));
	while (!same && at < bytes.size && at < again.size && bytes.data[at] == again.data[at])
		at++;
	if (!same)
		err_at(err, ERR_FORMAT, at, 0, "encodes to other bytes from here on");
	buf_release(&again);
	return same;
}

/* Once for all files of a folder. */
static void tell_rest(void *closure, const char *name, const char *fault)
{
	struct tally *tally = closure;
	char line[sizeof(tally->said)];

	snprintf(line, sizeof(line), "%s%s: not used: %s", tally->folder, name, fault ? fault : "");
	if (fault && strcmp(line, tally->said) != 0)
		fprintf(stderr, "animfs: %s\n", strcpy(tally->said, line));
}

static void tell_names(void *closure, const char *fault)
{
	tell_rest(closure, NAMING_FILE, fault);
}

/* As a mount would read it, with what lies beside it. NULL and err when it does not decode. */
static struct snap *read_snap(struct tally *tally, const char *path, const char *name,
			      struct err *err)
{
	size_t length = strlen(path) - strlen(name);
	char *folder = length ? strndup(path, length) : strdup(".");
	int fd = folder ? open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
	struct source *source = fd < 0 ? NULL : source_new(tally->store, "", name);
	struct snap *snap = NULL;

	tally->folder = length ? folder : "";
	store_rests(tally->store, tell_rest, tally);
	if (source && store_names(tally->store, fd, tell_names, tally))
		snap = source_get(source, fd, err);
	else
		err_system(err, fd < 0 ? errno : ENOMEM, "read");
	if (source)
		source_free(source);
	if (fd >= 0)
		close(fd);
	free(folder);
	return snap;
}

static bool check_file(struct tally *tally, const char *path, const char *name)
{
	struct err err = {.code = ERR_NONE};
	struct snap *snap = read_snap(tally, path, name, &err);
	bool fine = snap ? compare(snap, &err) : err.code == ERR_UNKNOWN;

	if (snap || !fine)
		tally->checked++;
	if (!fine)
		report(path, &err);
	snap_put(snap);
	return fine;
}

/* Every animation below the paths; folders are walked without following links. */
static bool check_all(struct tally *tally, char **paths)
{
	FTS *fts = fts_open(paths, FTS_PHYSICAL | FTS_COMFOLLOW | FTS_NOCHDIR, NULL);
	bool fine = fts != NULL;
	FTSENT *entry;

	while (fts && (entry = fts_read(fts))) {
		const struct codec *codec;
		bool probe;

		if (entry->fts_info == FTS_ERR || entry->fts_info == FTS_DNR ||
		    entry->fts_info == FTS_NS) {
			fprintf(stderr, "animfs: %s: %s\n", entry->fts_path,
				strerror(entry->fts_errno));
			fine = false;
		}
		if (entry->fts_info != FTS_F)
			continue;
		/* One that the user named is looked at, whatever it is called. */
		if (!store_claims(tally->store, entry->fts_name, &codec, &probe) &&
		    entry->fts_level > FTS_ROOTLEVEL)
			continue;
		if (!check_file(tally, entry->fts_path, entry->fts_name)) {
			tally->failed++;
			fine = false;
		}
	}
	if (fts)
		fts_close(fts);
	return fine;
}

int cmd_check(int argc, char **argv)
{
	static const char usage[] = "Usage: animfs check [--type GLOB=FORMAT] PATH...\n"
				    "Decodes every animation below the paths, encodes it again and "
				    "compares. Prints a line\n"
				    "for each that fails, with the place in the file, and exits "
				    "with 1 if there was one.\n";
	struct command command;
	struct tally tally = {.store = NULL};
	int status = 2;
	bool fine;

	if (!command_begin(&argc, &argv, &command, NULL, usage, &status))
		return status;
	if (argc == 0) {
		fprintf(stderr, "%s", usage);
		return 2;
	}
	tally.store = store_new(&command.store, NULL);
	fine = tally.store && check_all(&tally, argv);
	fprintf(stderr, "%lu checked, %lu failed\n", tally.checked, tally.failed);
	if (tally.store)
		store_free(tally.store);
	command_release(&command);
	return fine ? 0 : 1;
}
