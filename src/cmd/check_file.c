/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "check.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct checker {
	size_t max_file;
	struct store *store;
	char *folder; /* the one it is in, NULL at first */
	int fd;
	struct checked *out; /* of the file at hand */
};

struct checker *checker_new(const struct command *command)
{
	struct checker *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->fd = -1;
	c->max_file = command->store.max_file;
	c->store = store_new(&command->store, NULL);
	if (c->store)
		return c;
	free(c);
	return NULL;
}

static void leave_folder(struct checker *c)
{
	if (c->fd >= 0)
		close(c->fd);
	c->fd = -1;
	free(c->folder);
	c->folder = NULL;
}

void checker_free(struct checker *c)
{
	if (!c)
		return;
	store_free(c->store);
	leave_folder(c);
	free(c);
}

/* Until it can be used again; the file itself says nothing of that. */
static void tell_rest(void *closure, const char *name, const char *fault)
{
	struct checker *c = closure;
	bool current = strcmp(c->folder, ".") == 0;

	if (fault)
		buf_format(&c->out->notes, "animfs: %s%s%s: not used: %s\n",
			   current ? "" : c->folder, current ? "" : "/", name, fault);
}

static void tell_names(void *closure, const char *fault)
{
	tell_rest(closure, NAMING_FILE, fault);
}

/* The folder of a path: "." and "/" for what has none. */
static char *folder_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	if (!slash)
		return strdup(".");
	return strndup(path, slash == path ? 1 : (size_t)(slash - path));
}

static bool enter_folder(struct checker *c, const char *path, struct err *err)
{
	char *folder = folder_of(path);

	if (folder && c->folder && strcmp(folder, c->folder) == 0) {
		free(folder);
		return true;
	}
	leave_folder(c);
	c->folder = folder;
	if (!folder)
		return err_memory(err);
	c->fd = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (c->fd < 0) {
		err_system(err, errno, folder);
		leave_folder(c);
		return false;
	}
	store_rests(c->store, tell_rest, c);
	return store_names(c->store, c->fd, tell_names, c) || err_memory(err);
}

static bool compare(const struct version *version, struct err *err)
{
	struct bytes bytes = buf_bytes(&version->bytes);
	struct buf again = BUF_INIT;
	size_t at = 0;
	bool same;

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

static enum check_outcome outcome(bool fine, const struct err *err)
{
	if (fine)
		return CHECK_FINE;
	if (err->code == ERR_UNKNOWN)
		return CHECK_NONE;
	return command_status(err) == STATUS_TROUBLE ? CHECK_TROUBLE : CHECK_FAILED;
}

/* As a mount would read it, with what lies beside it. */
static bool read_and_compare(struct checker *c, const char *name, struct checked *out)
{
	const struct where where = {c->fd, "", name, NULL};
	struct source *source = source_new(c->store);
	struct version *version = source ? source_get(source, &where, &out->err) : NULL;
	bool fine = version && compare(version, &out->err);

	if (!source)
		err_memory(&out->err);
	if (version)
		out->format = version->codec->format->name;
	version_put(version);
	source_free(source);
	return fine;
}

/* For the place of the failure, which has a line and a column in a text. */
static void read_text(struct checker *c, const char *name, struct checked *out)
{
	const struct codec *codec;
	struct stat st;
	bool probe;

	if (!store_claims(c->store, name, &codec, &probe) || !codec)
		return;
	out->format = codec->format->name;
	if (codec->format->text && out->err.placed &&
	    at_read(c->fd, name, c->max_file, &out->text, &st) != 0)
		buf_clear(&out->text);
}

void checker_check(struct checker *c, const char *path, struct checked *out)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;
	bool fine;

	*out = (struct checked){.text = BUF_INIT, .notes = BUF_INIT};
	c->out = out;
	fine = enter_folder(c, path, &out->err) && read_and_compare(c, name, out);
	out->outcome = outcome(fine, &out->err);
	if (out->outcome == CHECK_FAILED)
		read_text(c, name, out);
}

void checked_release(struct checked *c)
{
	buf_release(&c->text);
	buf_release(&c->notes);
}
