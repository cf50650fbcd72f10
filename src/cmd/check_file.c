/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "check_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct checker {
	size_t max_file;
	struct store *store;
	char *folder; /* folder of the last file; NULL at first */
	int fd;
	char *archive; /* path of the open archive; NULL: none */
	struct archived archived;
	struct site site; /* site of the open archive */
	const struct command *command;
	struct checked *out; /* result for the current file */
};

struct checker *checker_new(const struct command *command)
{
	struct checker *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->fd = -1;
	c->command = command;
	c->max_file = command->store.max_file;
	c->store = store_new(&command->store, NULL);
	if (c->store)
		return c;
	free(c);
	return NULL;
}

static void check_file_leave_folder(struct checker *c)
{
	if (c->fd >= 0)
		close(c->fd);
	c->fd = -1;
	free(c->folder);
	c->folder = NULL;
}

static void leave_archive(struct checker *c)
{
	if (c->archive) {
		archived_release(&c->archived);
		site_release(&c->site);
	}
	free(c->archive);
	c->archive = NULL;
}

void checker_free(struct checker *c)
{
	if (!c)
		return;
	leave_archive(c);
	store_free(c->store);
	check_file_leave_folder(c);
	free(c);
}

/*
 * Reports that a file beside the animation cannot be used; ignores the notice that it can be used
 * again (fault NULL).
 */
static void check_file_report_fault(void *closure, const char *name, const char *fault)
{
	struct checker *c = closure;
	bool current = strcmp(c->folder, ".") == 0;

	if (fault)
		buf_format(&c->out->notes, "animfs: %s%s%s: not used: %s\n",
			   current ? "" : c->folder, current ? "" : "/", name, fault);
}

static void check_file_report_names(void *closure, const char *fault)
{
	check_file_report_fault(closure, NAMING_FILE, fault);
}

/* Returns the folder part of a path: "." or "/" if it has none. */
static char *check_file_folder_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	if (!slash)
		return strdup(".");
	return strndup(path, slash == path ? 1 : (size_t)(slash - path));
}

static bool check_file_enter_folder(struct checker *c, const char *path, struct err *err)
{
	char *folder = check_file_folder_of(path);

	if (folder && c->folder && strcmp(folder, c->folder) == 0) {
		free(folder);
		return true;
	}
	check_file_leave_folder(c);
	c->folder = folder;
	if (!folder)
		return err_memory(err);
	c->fd = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (c->fd < 0) {
		err_system(err, errno, folder);
		check_file_leave_folder(c);
		return false;
	}
	store_report_skeletons(c->store, check_file_report_fault, c);
	return store_names(c->store, c->fd, check_file_report_names, c) || err_memory(err);
}

static bool compare_encoded(const struct version *version, struct err *err)
{
	struct bytes bytes = buf_bytes(&version->bytes);
	struct buf again = BUF_INIT;
	size_t at = 0;
	bool same;

	if (version->codec->format->parts)
		return true; /* a list of other files is never encoded, so there is nothing to
				compare */
	if (!version->codec->encode(version->anim, bytes, &again, err)) {
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

static enum check_outcome outcome_of(bool fine, const struct err *err)
{
	if (fine)
		return CHECK_FINE;
	if (err->code == ERR_UNKNOWN)
		return CHECK_NONE;
	return command_status(err) == STATUS_TROUBLE ? CHECK_TROUBLE : CHECK_FAILED;
}

/* Reads the file with those beside it, as a mount does, and compares. */
static bool read_and_compare(struct checker *c, const char *name, struct checked *out)
{
	const struct where where = {.dir = c->fd, .folder = "", .name = name};
	struct source *source = source_new(c->store);
	struct version *version = source ? source_get(source, &where, &out->err) : NULL;
	bool fine = version && compare_encoded(version, &out->err);

	if (!source)
		err_memory(&out->err);
	if (version)
		out->format = version->codec->format->name;
	version_put(version);
	source_free(source);
	return fine;
}

/* Opens the archive whose path is the first `size` bytes of `path`, unless it is open already. */
static bool enter_archive(struct checker *c, const char *path, size_t size, struct err *err)
{
	const char *slash = memrchr(path, '/', size);
	size_t begin = slash ? (size_t)(slash - path) + 1 : 0;
	char *name;
	bool fine;

	if (c->archive && strlen(c->archive) == size && strncmp(c->archive, path, size) == 0)
		return true;
	leave_archive(c);
	name = strndup(path + begin, size - begin);
	c->archive = strndup(path, size);
	if (!name || !c->archive) {
		free(name);
		free(c->archive);
		c->archive = NULL;
		return err_memory(err);
	}
	c->site = (struct site)SITE_INIT;
	c->archived = (struct archived){.fd = -1, .dir = -1};
	fine = site_find(&c->site, c->folder, c->command, false, err) &&
	       archived_open(&c->archived, c->store, &c->site, c->fd, name, err);
	if (!fine)
		leave_archive(c);
	free(name);
	return fine;
}

static bool check_file_read_member(struct checker *c, const char *inside, struct checked *out)
{
	struct version *version;
	const char *rest;
	struct stat st;
	bool fine;

	if (!archived_go(&c->archived, inside, &rest, &out->err))
		return false;
	if (archived_kind(&c->archived) == ARCHIVED_FOLDER)
		return err_set(&out->err, ERR_UNKNOWN, "a folder");
	version = archived_version(&c->archived, &st, &out->err);
	fine = version && compare_encoded(version, &out->err);
	if (version)
		out->format = version->codec->format->name;
	version_put(version);
	return fine;
}

static void check_member(struct checker *c, const char *path, size_t inside, struct checked *out)
{
	char *file = strndup(path, inside - 1);
	bool fine;

	if (!file)
		err_memory(&out->err);
	fine = file && check_file_enter_folder(c, file, &out->err) &&
	       enter_archive(c, path, inside - 1, &out->err) &&
	       check_file_read_member(c, path + inside, out);
	out->outcome = outcome_of(fine, &out->err);
	free(file);
}

/* Sets the format, by name. Reads a text, so that the failure can be located by line and column. */
static void check_file_read_text(struct checker *c, const char *name, struct checked *out)
{
	const struct codec *codec;
	struct stat st;
	bool probe;

	if (!store_claims(c->store, name, &codec, &probe) || !codec)
		return;
	out->format = codec->format->name;
	if (codec->format->text && out->err.placed &&
	    dirfd_read(c->fd, name, c->max_file, &out->text, &st) != 0)
		buf_clear(&out->text);
}

void checker_check(struct checker *c, const char *path, size_t inside, struct checked *out)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;
	bool fine;

	*out = (struct checked){.text = BUF_INIT, .notes = BUF_INIT};
	c->out = out;
	if (inside) {
		check_member(c, path, inside, out);
		return;
	}
	fine = check_file_enter_folder(c, path, &out->err) && read_and_compare(c, name, out);
	out->outcome = outcome_of(fine, &out->err);
	if (out->outcome == CHECK_FAILED)
		check_file_read_text(c, name, out);
}

void checked_release(struct checked *c)
{
	buf_release(&c->text);
	buf_release(&c->notes);
}
