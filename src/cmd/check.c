/* SPDX-License-Identifier: GPL-3.0-or-later */
/* check.c - `animfs check`: decodes, encodes again and compares; a line for each file that fails.
 */
#include "cmd.h"

#include "../at.h"
#include "../options.h"

#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct tally {
	struct store *store;
	const struct store_options *options;
	unsigned long checked, failed;
};

static bool report(const char *path, const struct err *err)
{
	if (err->placed)
		printf("%s:0x%zx: %s\n", path, err->at, err->message);
	else
		printf("%s: %s\n", path, err->message);
	return false;
}

static bool compare(const struct codec *codec, struct bytes bytes, struct err *err)
{
	struct anim *anim = codec->decode(bytes, NULL, err);
	struct buf again = BUF_INIT;
	size_t at = 0;
	bool same;

	if (!anim)
		return false;
	if (!codec->encode(anim, bytes, &again, err)) {
		anim_free(anim);
		buf_release(&again);
		return false;
	}
	same = bytes_equal(bytes, buf_bytes(&again));
	while (!same && at < bytes.size && at < again.size && bytes.data[at] == again.data[at])
		at++;
	if (!same)
		err_at(err, ERR_FORMAT, at, 0, "encodes to other bytes from here on");
	anim_free(anim);
	buf_release(&again);
	return same;
}

static int read_file(const char *path, const char *name, size_t limit, struct buf *out)
{
	size_t length = strlen(path) - strlen(name);
	char *folder = length ? strndup(path, length) : strdup(".");
	int fd = folder ? open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
	int error = fd < 0 ? errno : 0;
	struct stat st;

	free(folder);
	if (error)
		return error;
	error = at_read(fd, name, limit, out, &st);
	close(fd);
	return error;
}

static bool check_file(struct tally *tally, const char *path, const char *name,
		       const struct codec *codec)
{
	struct err err = {.code = ERR_NONE};
	struct buf bytes = BUF_INIT;
	int error = read_file(path, name, tally->options->max_file, &bytes);
	bool fine = false;

	if (error)
		err_system(&err, error, "read");
	else if (!codec && !(codec = codec_probe(buf_bytes(&bytes))))
		fine = true; /* probed, and no animation */
	else
		fine = compare(codec, buf_bytes(&bytes), &err);
	if (codec)
		tally->checked++;
	if (!fine)
		report(path, &err);
	buf_release(&bytes);
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
		if (!store_claims(tally->store, entry->fts_name, &codec, &probe)) {
			if (entry->fts_level > FTS_ROOTLEVEL)
				continue;
			codec = NULL; /* named by the user: looked at, whatever it is called */
		}
		if (!check_file(tally, entry->fts_path, entry->fts_name, codec)) {
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
	struct store_options options;
	struct tally tally = {.options = &options};
	int status = 2;
	bool fine;

	if (!command_options(&argc, &argv, &options, usage, &status))
		return status;
	if (argc == 0) {
		fprintf(stderr, "%s", usage);
		return 2;
	}
	tally.store = store_new(&options, NULL);
	fine = tally.store && check_all(&tally, argv);
	fprintf(stderr, "%lu checked, %lu failed\n", tally.checked, tally.failed);
	if (tally.store)
		store_free(tally.store);
	option_release(&options);
	return fine ? 0 : 1;
}
