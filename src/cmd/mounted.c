/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "mounted.h"

#include "store/beside.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

void mounted_release(struct mounted *m)
{
	free(m->path);
	free(m->source);
	free(m->state);
	*m = (struct mounted){NULL, NULL, NULL};
}

static char *mounted_join_path(const char *a, const char *b)
{
	char *joined;

	while (*b == '/')
		b++;
	return asprintf(&joined, "%s%s%s", a, *b ? "/" : "", b) < 0 ? NULL : joined;
}

/* Returns realpath() of the part of the path that exists, followed by the rest. */
static char *real_path(const char *path)
{
	char *part = strdup(path), *real = NULL, *whole = NULL, *slash;

	while (part && !(real = realpath(*part ? part : "/", NULL))) {
		slash = strrchr(part, '/');
		if (!slash)
			break;
		*slash = '\0';
	}
	if (real)
		whole = mounted_join_path(strcmp(real, "/") == 0 ? "" : real, path + strlen(part));
	else if (part && (real = realpath(".", NULL)))
		whole = mounted_join_path(real, path);
	free(part);
	free(real);
	return whole;
}

/* ---- mounts ---- */

/* A parsed line of /proc/self/mountinfo. */
struct line {
	char *root, *point, *type, *source;
};

/* Replaces escapes such as "\040". */
static void unescape_octal(char *text)
{
	char *to = text;

	for (; *text; text++) {
		unsigned code;

		if (*text == '\\' && sscanf(text + 1, "%3o", &code) == 1) {
			*to++ = (char)code;
			text += 3;
		} else {
			*to++ = *text;
		}
	}
	*to = '\0';
}

static char *next_field(char **at)
{
	char *text = strsep(at, " \n");

	if (text)
		unescape_octal(text);
	return text;
}

/* Parses "36 35 98:0 ROOT POINT OPTIONS [...] - TYPE SOURCE OPTIONS". */
static bool mounted_read_line(char *text, struct line *l)
{
	char *rest = strstr(text, " - ");

	if (!rest)
		return false;
	*rest = '\0';
	rest += 3;
	for (unsigned i = 0; i < 3; i++)
		strsep(&text, " ");
	l->root = next_field(&text);
	l->point = next_field(&text);
	l->type = next_field(&rest);
	l->source = next_field(&rest);
	return l->root && l->point && l->type && l->source;
}

/* Is the path the folder itself, or below it? *below gets the rest of the path. */
static bool mounted_is_below(const char *path, const char *folder, const char **below)
{
	size_t length = strcmp(folder, "/") == 0 ? 0 : strlen(folder);

	*below = path + length;
	return strncmp(path, folder, length) == 0 && (!path[length] || path[length] == '/');
}

/* The animfs mount that a path is in, or none. */
struct found {
	char *point, *source; /* SOURCE, plus the path that a bind mount shows */
	size_t length;
	bool failed;
};

static void consider_mount(struct found *f, const struct line *l, const char *path)
{
	const char *below;

	if (!mounted_is_below(path, l->point, &below) || strlen(l->point) < f->length)
		return;
	free(f->point);
	free(f->source);
	f->length = strlen(l->point);
	f->point = f->source = NULL;
	if (strcmp(l->type, "fuse.animfs") != 0)
		return;
	f->point = strdup(l->point);
	f->source = mounted_join_path(l->source, l->root);
	f->failed = !f->point || !f->source;
}

static bool find_mount(const char *path, struct found *f)
{
	FILE *list = fopen("/proc/self/mountinfo", "re");
	char *text = NULL;
	size_t size = 0;
	struct line line;

	*f = (struct found){.point = NULL};
	while (list && getline(&text, &size, list) > 0) {
		if (mounted_read_line(text, &line))
			consider_mount(f, &line, path);
	}
	free(text);
	if (list)
		fclose(list);
	return f->point != NULL;
}

static void release_found(struct found *f)
{
	free(f->point);
	free(f->source);
	f->point = f->source = NULL;
}

/* ---- what the mount reports ---- */

static char *mounted_read_status(const char *point, const char *name)
{
	char *path = mounted_join_path(point, ".animfs/status"), *text = NULL, *value = NULL;
	FILE *file = path ? fopen(path, "re") : NULL;
	size_t size = 0, length = strlen(name);

	while (file && !value && getline(&text, &size, file) > 0) {
		text[strcspn(text, "\n")] = '\0';
		if (strncmp(text, name, length) == 0 && text[length] == ' ')
			value = strdup(text + length + 1);
	}
	if (file)
		fclose(file);
	free(text);
	free(path);
	return value;
}

/* ---- below a mount that hides its SOURCE ---- */

/*
 * Unmounts the mount in a new mount namespace of this process, a slave of the old one, to see
 * SOURCE below. If another process unmounts a shared mount, it disappears there, too; otherwise its
 * daemon would run on as long as this process.
 */
static bool look_below(const char *point, struct err *err)
{
	if (unshare(CLONE_NEWNS) == 0 && mount(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL) == 0 &&
	    umount2(point, MNT_DETACH) == 0)
		return true;
	err_set(err, ERR_SYSTEM,
		"the mount hides the folder that it shows: this works as root, or once it is "
		"unmounted");
	if (err)
		err->number = errno;
	return false;
}

/* Finds the file that the folder `name` of `folder` stands beside, if any. */
static bool find_file(const char *folder, size_t length, const char *name, char **path)
{
	char file[NAME_MAX + 1];
	struct stat st;

	for (unsigned i = 0; beside_file(name, i, file, NULL); i++) {
		if (asprintf(path, "%.*s%s", (int)length, folder, file) < 0)
			return false;
		if (stat(*path, &st) == 0 && S_ISREG(st.st_mode))
			return true;
		free(*path);
	}
	return false;
}

/* Replaces "x.canm.d", the folder beside a file, by that file. False when out of memory. */
static bool drop_beside(char **path)
{
	for (const char *at = *path; *at;) {
		size_t length = strcspn(at, "/");
		char name[NAME_MAX + 1], *file, *whole = NULL;

		if (length <= NAME_MAX &&
		    snprintf(name, sizeof(name), "%.*s", (int)length, at) > 0 &&
		    find_file(*path, (size_t)(at - *path), name, &file)) {
			whole = mounted_join_path(file, at + length);
			free(file);
			free(*path);
			*path = whole;
			return whole != NULL;
		}
		at += length + (at[length] == '/');
	}
	return true;
}

/* ---- all of it ---- */

static bool resolve_path(const char *real, struct found *f, struct mounted *m, struct err *err)
{
	struct found above;
	const char *below;
	bool hidden;

	mounted_is_below(real, f->point, &below);
	m->source = strdup(f->source);
	m->state = mounted_read_status(f->point, "state");
	m->path = mounted_join_path(f->source, below);
	if (!m->source || !m->path)
		return err_memory(err);
	hidden = find_mount(m->path, &above) && strcmp(above.point, f->point) == 0;
	release_found(&above);
	if (hidden && !look_below(f->point, err))
		return false;
	return drop_beside(&m->path) || err_memory(err);
}

bool mounted_find(const char *path, struct mounted *m, struct err *err)
{
	char *real = real_path(path);
	struct found f;
	bool fine = true;

	*m = (struct mounted){NULL, NULL, NULL};
	if (!real)
		return err_memory(err);
	if (find_mount(real, &f))
		fine = resolve_path(real, &f, m, err);
	else if (f.failed || !(m->path = strdup(path)))
		fine = err_memory(err);
	release_found(&f);
	free(real);
	return fine;
}

bool mounted_each(mounted_visit *visit, void *closure)
{
	FILE *list = fopen("/proc/self/mountinfo", "re");
	char *text = NULL;
	size_t size = 0;
	struct line line;
	bool fine = list != NULL;

	while (fine && getline(&text, &size, list) > 0) {
		char *source;

		if (!mounted_read_line(text, &line) || strcmp(line.type, "fuse.animfs") != 0)
			continue;
		source = mounted_join_path(line.source, line.root);
		fine = source && visit(closure, line.point, source);
		free(source);
	}
	free(text);
	if (list)
		fclose(list);
	return fine;
}

bool mounted_point(const char *path, char **mountpoint, char **source)
{
	char *real = real_path(path);
	struct found f = {.point = NULL};
	bool fine = real && find_mount(real, &f);

	free(real);
	*mountpoint = f.point;
	*source = f.source;
	return fine;
}

pid_t mounted_daemon(const char *mountpoint)
{
	char *text = mounted_read_status(mountpoint, "pid");
	pid_t pid = text ? (pid_t)strtol(text, NULL, 10) : 0;

	free(text);
	return pid;
}

/* ---- what is unfinished ---- */

/* Was the folder of a clip removed, while the clip is still in its file? */
static bool has_removals(const char *point)
{
	char *count = mounted_read_status(point, "removals");
	bool has = count && strcmp(count, "0") != 0;

	free(count);
	return has;
}

static bool mounted_sync_folder(const char *folder)
{
	char probe[PATH_MAX + 16];
	int fd;

	snprintf(probe, sizeof(probe), "%s/file.json", folder);
	if (access(probe, F_OK))
		return false;
	fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return false;
	(void)fsync(fd); /* refusals caused by this are listed in .animfs/errors */
	close(fd);
	return true;
}

/*
 * Settles unfinished work. `below` is a path in the mount, of an animation or of something in
 * it.
 */
static void settle_below(const char *point, const char *below)
{
	const size_t length = strlen(point);
	char path[PATH_MAX], beside[PATH_MAX + 2];

	if (!has_removals(point) ||
	    snprintf(path, sizeof(path), "%s%s%s", point, *below ? "/" : "", below) >= PATH_MAX)
		return;
	while (strlen(path) > length) {
		snprintf(beside, sizeof(beside), "%s.d", path);
		if (mounted_sync_folder(path) || mounted_sync_folder(beside))
			return;
		*strrchr(path, '/') = '\0';
	}
}

static bool settle_of_source(void *real, const char *point, const char *source)
{
	const char *below;

	if (mounted_is_below(real, source, &below))
		settle_below(point, below + (*below == '/'));
	return true;
}

void mounted_settle(const char *path)
{
	char *real = real_path(path);
	const char *below;
	struct found f;

	if (!real)
		return;
	if (!find_mount(real, &f))
		mounted_each(settle_of_source, real);
	else if (mounted_is_below(real, f.point, &below))
		settle_below(f.point, below + (*below == '/'));
	release_found(&f);
	free(real);
}
