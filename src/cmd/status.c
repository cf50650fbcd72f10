/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * status.c - `animfs status`: lists the mounts, unsaved and refused texts, limits and their use,
 * and changed files. Facts that only a mount knows are in its .animfs/status; the rest is in the
 * state directory, so that a folder that is not mounted has a status, too.
 */
#include "cmd.h"
#include "gather.h"

#include "disk/dirfd.h"
#include "disk/history.h"
#include "view/json.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define NS INT64_C(1000000000)

/* ---- facts about one SOURCE ---- */

struct changed {
	char *path, *what;
	size_t versions; /* number of saves since place_status.since */
	bool removed, made;
};

struct place_status {
	const char *mountpoint; /* mountpoint; NULL: SOURCE is not mounted */
	const char *source;
	struct buf text; /* content of .animfs/status, NUL-terminated; empty if it cannot be read */
	int error;       /* errno of reading .animfs/status */
	char *state;     /* --state of the mount, or NULL */
	int64_t since;   /* time from which `changed` lists saves, in ns since 1970 */

	/* Facts about the state directory. */
	struct err unseen; /* the reason why it cannot be read */
	size_t files, versions, refused;
	uint64_t history_bytes, upper_bytes, rejected_bytes;
	struct changed *changed;
	size_t changed_count, changed_room;
	const char *overlay; /* value of --overlay */
	struct buf loose;    /* paths of loose files, each with a NUL */
	size_t loose_count;
	char *overlay_shown; /* folder of the loose files that are not in Mods */
	struct state *opened;
	bool failed; /* an allocation failed */
};

static void release_place(struct place_status *p)
{
	for (size_t i = 0; i < p->changed_count; i++) {
		free(p->changed[i].path);
		free(p->changed[i].what);
	}
	free(p->changed);
	free(p->state);
	buf_release(&p->loose);
	free(p->overlay_shown);
	buf_release(&p->text);
}

/* Returns the next line "NAME VALUE" after *at; the value extends to the end of the line. */
static const char *next_value(const struct place_status *p, const char *name, const char **at,
			      size_t *length)
{
	size_t size = strlen(name);

	for (const char *line = *at ? *at : (const char *)p->text.data; line && *line;) {
		const char *end = line + strcspn(line, "\n");
		const char *value = line + size + 1;
		bool found = strncmp(line, name, size) == 0 && line[size] == ' ';

		line = *end ? end + 1 : end;
		if (!found)
			continue;
		*at = line;
		*length = (size_t)(end - value);
		return value;
	}
	return NULL;
}

static char *status_text_of(const struct place_status *p, const char *name)
{
	const char *at = NULL, *value;
	size_t length;

	value = next_value(p, name, &at, &length);
	return value ? strndup(value, length) : NULL;
}

static uint64_t status_number_of(const struct place_status *p, const char *name)
{
	const char *at = NULL, *value;
	size_t length;

	value = next_value(p, name, &at, &length);
	return value ? strtoull(value, NULL, 10) : 0;
}

/* ---- what the mount reports ---- */

static int read_status(const char *mountpoint, struct buf *out)
{
	char path[PATH_MAX + 32], part[4096];
	int fd, error = 0;
	ssize_t size;

	snprintf(path, sizeof(path), "%s/.animfs/status", mountpoint);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return errno;
	while ((size = read(fd, part, sizeof(part))) > 0)
		buf_add(out, part, (size_t)size);
	if (size < 0)
		error = errno;
	close(fd);
	buf_char(out, '\0');
	return out->failed ? ENOMEM : error;
}

/* ---- the state directory ---- */

/*
 * Returns the last entry before a time; else the first, if the file already existed
 * (HISTORY_FOUND).
 */
static const struct history_entry *entry_before(const struct history_log *log, int64_t since)
{
	const struct history_entry *before = NULL;

	for (size_t i = 0; i < log->count && log->list[i].time < since; i++)
		before = &log->list[i];
	if (!before && log->count && log->list[0].kind == HISTORY_FOUND)
		before = &log->list[0];
	return before;
}

static bool is_changed(const struct history_entry *before, const struct history_entry *last)
{
	bool was = before && before->kind != HISTORY_REMOVED, is = last->kind != HISTORY_REMOVED;

	return was != is || (was && !history_digest_same(&before->digest, &last->digest));
}

static void add_changed(struct place_status *p, const char *path, const struct history_log *log)
{
	const struct history_entry *before = entry_before(log, p->since);
	const struct history_entry *last = history_log_last(log);
	struct changed *list, c = {.path = NULL};

	if (last->time < p->since || !is_changed(before, last))
		return;
	for (size_t i = 0; i < log->count; i++)
		c.versions += log->list[i].time >= p->since && &log->list[i] != before;
	c.removed = last->kind == HISTORY_REMOVED;
	c.made = !before || before->kind == HISTORY_REMOVED;
	c.path = strdup(path);
	c.what = strdup(last->what);
	list = array_room(p->changed, p->changed_count, &p->changed_room, sizeof(*list));
	if (list)
		p->changed = list;
	if (list && c.path && c.what) {
		list[p->changed_count++] = c;
		return;
	}
	p->failed = true;
	free(c.path);
	free(c.what);
}

static void status_add_file(void *closure, const char *path)
{
	struct place_status *p = closure;
	struct history_book book = HISTORY_BOOK_INIT;
	const char *slash = strrchr(path, '/');
	char *folder = strndup(path, slash ? (size_t)(slash - path) : 0);
	struct history_file file = {.dir = -1, .folder = folder, .name = slash ? slash + 1 : path};

	if (folder && !history_open(p->opened, &file, &book) && book.log.count) {
		p->files++;
		for (size_t i = 0; i < book.log.count; i++)
			p->versions += book.log.list[i].kept;
		add_changed(p, path, &book.log);
	}
	p->failed |= !folder;
	history_release(&book);
	free(folder);
}

static int status_by_path(const void *a, const void *b)
{
	return strcmp(((const struct changed *)a)->path, ((const struct changed *)b)->path);
}

static uint64_t area_size(struct state *s, enum state_area area)
{
	uint64_t size = 0;
	int fd;

	if (state_folder(s, area, "", false, &fd))
		return 0;
	size = dirfd_size(fd, "", 0, 0);
	close(fd);
	return size;
}

static enum gather ask_error(void *closure, const FTSENT *entry, const char *path)
{
	size_t length = strlen(entry->fts_name);

	(void)closure;
	(void)path;
	if (entry->fts_info == FTS_D)
		return GATHER_ENTER;
	return entry->fts_info == FTS_F && length > 6 &&
			       strcmp(entry->fts_name + length - 6, ".error") == 0
		       ? GATHER_TAKE
		       : GATHER_PASS;
}

static size_t count_refused(struct state *s)
{
	struct gathered found = GATHERED_INIT;
	char path[64];
	size_t count;
	int fd;

	if (state_folder(s, STATE_REJECTED, "", false, &fd))
		return 0;
	snprintf(path, sizeof(path), "/proc/self/fd/%d/", fd);
	gather(path, ask_error, NULL, &found);
	count = found.count;
	gathered_release(&found);
	close(fd);
	return count;
}

static bool add_loose(void *closure, const char *path, const struct stat *st)
{
	struct place_status *p = closure;

	(void)st;
	buf_text(&p->loose, path);
	buf_char(&p->loose, '\0');
	p->loose_count++;
	p->failed |= p->loose.failed;
	return !p->failed;
}

static void read_overlay(struct place_status *p, int root)
{
	struct overlay *overlay = overlay_new(p->opened, p->overlay, &p->unseen);

	if (overlay)
		overlay_for_each(overlay, root, add_loose, p, &p->unseen);
	if (asprintf(&p->overlay_shown, "%s%s", p->overlay ? p->overlay : state_name(p->opened),
		     p->overlay ? "" : "/overlay") < 0)
		p->overlay_shown = NULL;
	overlay_free(overlay);
}

static void status_read_state(struct place_status *p, const char *folder)
{
	int error, root = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (root < 0) {
		err_system(&p->unseen, errno, folder);
		return;
	}
	p->opened = state_new(root, p->state, true, &p->unseen);
	if (p->opened) {
		error = history_for_each(p->opened, status_add_file, p);
		if (error && error != ENOENT)
			err_system(&p->unseen, error, "history");
		p->history_bytes = area_size(p->opened, STATE_HISTORY);
		p->upper_bytes = area_size(p->opened, STATE_UPPER);
		p->rejected_bytes = area_size(p->opened, STATE_REJECTED);
		p->refused = count_refused(p->opened);
		read_overlay(p, root);
	}
	if (p->changed_count)
		qsort(p->changed, p->changed_count, sizeof(*p->changed), status_by_path);
	state_free(p->opened);
	close(root);
}

/* ---- for people ---- */

static void print_time(int64_t time)
{
	time_t seconds = (time_t)(time / NS);
	char text[64] = "";
	struct tm local;

	if (localtime_r(&seconds, &local))
		strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S", &local);
	fputs(text, stdout);
}

static void size_text(uint64_t size, char out[32])
{
	static const char units[] = " KMGTPE";
	unsigned unit = 0;
	double shown = (double)size;

	for (; shown >= 1024 && unit < 6; unit++)
		shown /= 1024;
	if (unit == 0)
		snprintf(out, 32, "%" PRIu64, size);
	else
		snprintf(out, 32, shown < 10 && shown != (double)(int)shown ? "%.1f%c" : "%.0f%c",
			 shown, units[unit]);
}

static void print_use(const struct place_status *p, const char *what, uint64_t used,
		      const char *limit)
{
	char has[32], most[32];

	size_text(used, has);
	size_text(status_number_of(p, limit), most);
	printf("%s %s", what, has);
	if (p->text.size)
		printf(" of %s", most);
}

static void print_pending(const struct place_status *p)
{
	static const char *const kinds[] = {"pending_text", "pending_folder", "pending_removal"};
	static const char *const marks[] = {"", "/", "/ (removed)"};
	uint64_t count = status_number_of(p, "pending");

	if (count)
		printf("  pending    %" PRIu64 " not saved yet\n", count);
	else
		puts("  pending    nothing");
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		const char *at = NULL, *value;
		size_t length;

		while ((value = next_value(p, kinds[i], &at, &length)))
			printf("    %.*s%s\n", (int)length, value, marks[i]);
	}
}

static void print_mount(const struct place_status *p)
{
	char *pid = status_text_of(p, "pid"), *version = status_text_of(p, "version");
	char *read_only = status_text_of(p, "read_only");

	printf("  mounted    ");
	print_time((int64_t)status_number_of(p, "since"));
	printf(", process %s, animfs %s%s\n", pid ? pid : "?", version ? version : "?",
	       read_only && strcmp(read_only, "yes") == 0 ? ", read-only" : "");
	print_pending(p);
	print_use(p, "  memory     decoded files", status_number_of(p, "cache_bytes"),
		  "cache_limit");
	print_use(p, ", old versions", status_number_of(p, "held_bytes"), "held_limit");
	print_use(p, ", texts", status_number_of(p, "drafts_bytes"), "drafts_limit");
	putchar('\n');
	free(pid);
	free(version);
	free(read_only);
}

static void print_changed(const struct place_status *p)
{
	printf("  changed    %zu", p->changed_count);
	if (p->since) {
		printf(" since ");
		print_time(p->since);
	}
	putchar('\n');
	for (size_t i = 0; i < p->changed_count; i++) {
		const struct changed *c = &p->changed[i];

		printf("    %s  %s%s\n", c->path,
		       c->removed ? "removed"
		       : c->made  ? "made: "
				  : "",
		       c->removed ? ""
		       : *c->what ? c->what
				  : "saved");
	}
}

/* Lists the loose files, which hold all edits of members of archives. */
static void print_loose(const struct place_status *p)
{
	const char *path = (const char *)p->loose.data;

	if (!p->loose_count)
		return;
	printf("  loose      %zu in place of members of archives\n", p->loose_count);
	for (size_t i = 0; i < p->loose_count; i++, path += strlen(path) + 1)
		printf("    %s\n", path);
}

static void print_state(const struct place_status *p)
{
	if (p->unseen.code) {
		printf("  history    not readable: %s\n", p->unseen.message);
		return;
	}
	printf("  refused    %zu%s\n", p->refused,
	       p->refused && p->mountpoint ? ", see animfs errors" : "");
	printf("  history    %zu files, old versions: %zu", p->files, p->versions);
	print_use(p, ",", p->history_bytes, "history_limit");
	print_use(p, "\n  disk       ordinary files", p->upper_bytes, "extra_limit");
	print_use(p, ", refused texts", p->rejected_bytes, "rejected_limit");
	putchar('\n');
	print_changed(p);
	print_loose(p);
}

static void print_place(const struct place_status *p)
{
	puts(p->mountpoint ? p->mountpoint : p->source);
	if (p->mountpoint)
		printf("  source     %s\n", p->source);
	else
		puts("  mounted    no");
	if (p->state)
		printf("  state      %s\n", p->state);
	if (p->error)
		printf("  the mount does not answer: %s\n", strerror(p->error));
	else if (p->mountpoint)
		print_mount(p);
	print_state(p);
}

/* ---- for programs ---- */

static void status_write_text(struct buf *out, const char *name, const char *text)
{
	buf_format(out, ", \"%s\": ", name);
	if (text)
		json_write_name(out, text);
	else
		buf_text(out, "null");
}

static void write_use(struct buf *out, bool *first, const char *name, uint64_t used,
		      const struct place_status *p, const char *limit)
{
	json_write_comma(out, first, "");
	buf_format(out, "\"%s\": {\"used\": %" PRIu64 ", \"limit\": ", name, used);
	if (p->text.size)
		buf_format(out, "%" PRIu64 "}", status_number_of(p, limit));
	else
		buf_text(out, "null}");
}

static void write_limits(struct buf *out, const struct place_status *p)
{
	bool first = true;

	buf_text(out, ", \"limits\": {");
	write_use(out, &first, "cache", status_number_of(p, "cache_bytes"), p, "cache_limit");
	write_use(out, &first, "held", status_number_of(p, "held_bytes"), p, "held_limit");
	write_use(out, &first, "drafts", status_number_of(p, "drafts_bytes"), p, "drafts_limit");
	write_use(out, &first, "history", p->history_bytes, p, "history_limit");
	write_use(out, &first, "extra", p->upper_bytes, p, "extra_limit");
	write_use(out, &first, "rejected", p->rejected_bytes, p, "rejected_limit");
	buf_char(out, '}');
}

static void write_pending(struct buf *out, const struct place_status *p)
{
	static const char *const kinds[] = {"pending_text", "pending_folder", "pending_removal"};
	bool first = true;

	buf_format(out, ", \"pending\": %" PRIu64 ", \"pending_paths\": [",
		   status_number_of(p, "pending"));
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		const char *at = NULL, *value;
		size_t length;

		while ((value = next_value(p, kinds[i], &at, &length))) {
			char *path = strndup(value, length);

			json_write_comma(out, &first, "");
			json_write_name(out, path ? path : "");
			out->failed |= !path;
			free(path);
		}
	}
	buf_char(out, ']');
}

static void write_changed(struct buf *out, const struct place_status *p)
{
	bool first = true;

	buf_format(out, ", \"since\": %.3f, \"changed\": [", (double)p->since / 1e9);
	for (size_t i = 0; i < p->changed_count; i++) {
		const struct changed *c = &p->changed[i];

		json_write_comma(out, &first, "\n    ");
		buf_text(out, "{\"path\": ");
		json_write_name(out, c->path);
		buf_format(out, ", \"outcome\": \"%s\", \"versions\": %zu",
			   c->removed ? "removed"
			   : c->made  ? "made"
				      : "changed",
			   c->versions);
		status_write_text(out, "what", c->what);
		buf_char(out, '}');
	}
	buf_text(out, first ? "]" : "\n  ]");
}

static void write_loose(struct buf *out, const struct place_status *p)
{
	const char *path = (const char *)p->loose.data;
	bool first = true;

	buf_text(out, ", \"loose\": [");
	for (size_t i = 0; i < p->loose_count; i++, path += strlen(path) + 1) {
		json_write_comma(out, &first, "\n    ");
		json_write_name(out, path);
	}
	buf_text(out, first ? "]" : "\n  ]");
}

static void status_write_place(struct buf *out, const struct place_status *p)
{
	char *pid = status_text_of(p, "pid"), *version = status_text_of(p, "version");
	char *read_only = status_text_of(p, "read_only");

	buf_text(out, "{\"mountpoint\": ");
	if (p->mountpoint)
		json_write_name(out, p->mountpoint);
	else
		buf_text(out, "null");
	status_write_text(out, "source", p->source);
	status_write_text(out, "state", p->state);
	if (p->error)
		status_write_text(out, "error", strerror(p->error));
	if (p->text.size) {
		buf_format(out, ", \"pid\": %s", pid ? pid : "null");
		status_write_text(out, "version", version);
		buf_format(out, ", \"read_only\": %s, \"mounted\": %.3f",
			   read_only && strcmp(read_only, "yes") == 0 ? "true" : "false",
			   (double)status_number_of(p, "since") / 1e9);
		write_pending(out, p);
	}
	write_limits(out, p);
	if (p->unseen.code)
		status_write_text(out, "unreadable", p->unseen.message);
	buf_format(out, ", \"refused\": %zu, \"history\": {\"files\": %zu, \"versions\": %zu}",
		   p->refused, p->files, p->versions);
	write_changed(out, p);
	write_loose(out, p);
	buf_char(out, '}');
	free(pid);
	free(version);
	free(read_only);
}

/* ---- the command ---- */

struct choice {
	bool json, null;
	const char *since, *overlay;
	int64_t time; /* value of --since, or 0 */
	bool first;
	size_t count;
	struct buf out; /* output as JSON */
	int status;
};

/* Prints the path of a changed file; of a member of an archive, that of its loose file. */
static void print_file(const struct place_status *p, const char *path)
{
	const char *loose = (const char *)p->loose.data;
	size_t size = p->overlay_shown ? strlen(p->overlay_shown) : 0;

	for (size_t i = 0; size && i < p->loose_count; i++, loose += strlen(loose) + 1) {
		if (strncmp(loose, p->overlay_shown, size) == 0 && loose[size] == '/' &&
		    strcmp(loose + size + 1, path) == 0)
			path = loose;
	}
	printf("%s%c", path, '\0');
}

static void show_place(struct choice *choice, const struct place_status *p)
{
	if (choice->json) {
		json_write_comma(&choice->out, &choice->first, "\n  ");
		status_write_place(&choice->out, p);
	} else if (choice->null) {
		for (size_t i = 0; i < p->changed_count; i++) {
			if (!p->changed[i].removed)
				print_file(p, p->changed[i].path);
		}
	} else {
		if (choice->count)
			putchar('\n');
		print_place(p);
	}
	choice->count++;
}

/* Reads the state of SOURCE; to look below a mount that hides it takes privileges. */
static void find_state(struct place_status *p)
{
	struct mounted m = {NULL, NULL, NULL};

	if (!p->mountpoint)
		status_read_state(p, p->source);
	else if (mounted_find(p->mountpoint, &m, &p->unseen))
		status_read_state(p, m.source ? m.path : p->source);
	mounted_release(&m);
}

static bool status_add_place(struct choice *choice, const char *mountpoint, const char *source)
{
	struct place_status p = {.mountpoint = mountpoint,
				 .source = source,
				 .text = BUF_INIT,
				 .overlay = choice->overlay,
				 .loose = BUF_INIT};

	if (mountpoint)
		p.error = read_status(mountpoint, &p.text);
	if (p.error)
		buf_release(&p.text);
	p.state = status_text_of(&p, "state");
	p.since = choice->time ? choice->time : (int64_t)status_number_of(&p, "since");
	find_state(&p);
	show_place(choice, &p);
	if (p.error || p.failed)
		choice->status = STATUS_TROUBLE;
	if (p.failed)
		command_fail(source, strerror(ENOMEM));
	release_place(&p);
	return true;
}

static bool add_mount(void *closure, const char *mountpoint, const char *source)
{
	return status_add_place(closure, mountpoint, source);
}

static bool has_state(const char *folder)
{
	char path[PATH_MAX + 16];
	struct stat st;

	snprintf(path, sizeof(path), "%s/.animfs", folder);
	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

struct of_source {
	struct choice *choice;
	const char *source;
	bool any;
};

static bool add_of_source(void *closure, const char *mountpoint, const char *source)
{
	struct of_source *o = closure;

	if (strcmp(source, o->source) != 0)
		return true;
	o->any = true;
	return status_add_place(o->choice, mountpoint, source);
}

/* Adds every mount of the folder; if there is none, the saves by commands in it. */
static bool add_source(struct choice *choice, const char *source)
{
	struct of_source o = {choice, source, false};

	mounted_each(add_of_source, &o);
	return o.any || (has_state(source) && status_add_place(choice, NULL, source));
}

/*
 * Adds an operand: a mount or a path in it, a mounted SOURCE, or a folder with a state
 * directory.
 */
static void status_add_operand(struct choice *choice, const char *path)
{
	char *mountpoint, *source, real[PATH_MAX];
	int status = STATUS_FINE;

	if (mounted_point(path, &mountpoint, &source))
		status_add_place(choice, mountpoint, source);
	else if (!realpath(path, real) || !add_source(choice, real))
		status = command_no_mount(path);
	if (status > choice->status)
		choice->status = status;
	free(mountpoint);
	free(source);
}

/* Parses a date: "2026-11-23", "2026-11-23 14:50", with seconds, or with 'T' between. */
static bool read_date(const char *text, int64_t *out)
{
	static const char *const forms[] = {"%Y-%m-%d", "%Y-%m-%d %H:%M", "%Y-%m-%dT%H:%M",
					    "%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M:%S"};

	for (size_t i = 0; i < ARRAY_SIZE(forms); i++) {
		struct tm tm = {.tm_isdst = -1};
		const char *end = strptime(text, forms[i], &tm);
		time_t seconds;

		if (!end || *end)
			continue;
		tm.tm_isdst = -1;
		seconds = mktime(&tm);
		*out = (int64_t)seconds * NS;
		return seconds > 0;
	}
	return false;
}

static int run_status(struct choice *choice, int argc, char **argv)
{
	if (choice->json)
		buf_text(&choice->out, "{\"format\": \"animfs.status/1\", \"mounts\": [");
	if (argc == 0 && !mounted_each(add_mount, choice)) {
		command_fail("/proc/self/mountinfo", strerror(errno));
		choice->status = STATUS_TROUBLE;
	}
	for (int i = 0; i < argc; i++)
		status_add_operand(choice, argv[i]);
	if (choice->json) {
		buf_text(&choice->out, "\n]}\n");
		if (choice->out.failed) {
			command_fail("status", strerror(ENOMEM));
			return STATUS_TROUBLE;
		}
		command_print(&choice->out);
	} else if (argc == 0 && !choice->count && !choice->null) {
		puts("nothing is mounted");
	}
	return choice->status;
}

static const char usage[] =
	"Usage: animfs status [OPTION]... [PATH]...\n"
	"Show the mounts of animfs, or those that the PATHs are in: sources, unsaved and\n"
	"refused texts, the space of old versions, the limits and their use, the\n"
	"animation files that were changed and how, and the loose files that stand for\n"
	"members of archives. A PATH may also be a SOURCE, mounted or not.\n"
	"\n"
	"Options:\n"
	"  -0, --null              print only the paths of the changed files in SOURCE,\n"
	"                            each ended by NUL, without those that were removed\n"
	"      --json              print JSON, animfs.status/1 (see animfs(1))\n"
	"      --since=DATE        list the files changed since then, such as 2026-11-23\n"
	"                            or '2026-11-23 14:50' (default: since it was\n"
	"                            mounted; if it is not, all)\n" HELP_OVERLAY HELP_END "\n"
	"Exit status:\n"
	"  0  it was printed\n"
	"  1  a PATH is in no mount\n"
	"  2  usage or I/O error, or a mount does not answer\n";

int cmd_status(int argc, char **argv)
{
	struct choice choice = {.out = BUF_INIT, .first = true};
	const struct command_option own[] = {{"0,null", &choice.null, NULL},
					     {"json", &choice.json, NULL},
					     {"since", NULL, &choice.since},
					     {NULL, NULL, NULL}};
	struct command command;
	int status;

	if (!command_begin(&argc, &argv, &command, own, usage, &status))
		return status;
	if (choice.json && choice.null)
		status = command_misuse(&command, "--json and --null cannot be used together");
	else if (choice.since && !read_date(choice.since, &choice.time))
		status = command_misuse(&command,
					"--since=%s: expected a date, such as 2026-11-23 or "
					"'2026-11-23 14:50'",
					choice.since);
	else {
		choice.overlay = command.overlay;
		status = run_status(&choice, argc, argv);
	}
	buf_release(&choice.out);
	return command_end(&command, status);
}
