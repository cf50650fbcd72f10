/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "naming.h"
#include "disk/dirfd.h"
#include "util/clock.h"
#include "util/lock_classes.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FILE_MAX ((size_t)16 << 20)

struct naming_table {
	_Atomic unsigned references;
	struct bone_names *names;
};

struct naming {
	struct lock lock;
	int folder;
	const struct guard *guard; /* may be NULL */
	naming_reporter *report;
	void *closure;
	bool faulty GUARDED_BY(naming_class); /* a fault has been reported */
	/*
	 * The file as it was read: its version, its text, and the table parsed from it for one
	 * format.
	 */
	struct file_version version GUARDED_BY(naming_class);
	bool there GUARDED_BY(naming_class);
	/* the file is old enough that any later write gives it another version */
	bool settled GUARDED_BY(naming_class);
	struct buf text GUARDED_BY(naming_class);
	const struct format *format GUARDED_BY(naming_class);
	struct naming_table *table GUARDED_BY(naming_class);
};

/* ---- a version ---- */

const struct bone_names *naming_table_names(const struct naming_table *t)
{
	return t ? t->names : NULL;
}

struct naming_table *naming_table_get(struct naming_table *t)
{
	if (t)
		t->references++;
	return t;
}

void naming_table_put(struct naming_table *t)
{
	if (!t || --t->references > 0)
		return;
	bone_names_free(t->names);
	free(t);
}

static struct naming_table *table_new(struct bone_names *names)
{
	struct naming_table *t = names ? malloc(sizeof(*t)) : NULL;

	if (!t) {
		bone_names_free(names);
		return NULL;
	}
	t->references = 1;
	t->names = names;
	return t;
}

struct naming_table *naming_table_read(struct bytes text, const struct format *format,
				       struct err *err)
{
	return table_new(bone_names_read(text, format, err));
}

/* ---- the file ---- */

struct naming *naming_new(int folder, naming_reporter *report, void *closure)
{
	struct naming *n = calloc(1, sizeof(*n));

	if (!n)
		return NULL;
	lock_init(&n->lock);
	n->folder = folder;
	n->report = report;
	n->closure = closure;
	return n;
}

void naming_guard(struct naming *n, const struct guard *guard)
{
	if (n)
		n->guard = guard;
}

UNSHARED void naming_free(struct naming *n)
{
	if (!n)
		return;
	naming_table_put(n->table);
	buf_release(&n->text);
	lock_destroy(&n->lock);
	free(n);
}

bool naming_concerns(const struct format *format)
{
	return format->bone_name && !format->bones_counted;
}

static void naming_report_fault(struct naming *n, const char *fault) REQUIRES(naming_class)
{
	if (!fault && !n->faulty)
		return;
	n->faulty = fault != NULL;
	n->report(n->closure, fault);
}

static void report_place(struct naming *n, const struct err *err) REQUIRES(naming_class)
{
	char fault[sizeof(err->message) + sizeof(err->accepted) + 64];
	size_t line = err_locate(buf_bytes(&n->text), err->at).line;

	snprintf(fault, sizeof(fault), "line %zu: %s%s%s", line, err->message,
		 err->accepted[0] ? "; accepted: " : "", err->accepted);
	naming_report_fault(n, fault);
}

/*
 * Parses the text for one format. When out of memory there is no table, and the next call tries
 * again.
 */
static void parse_table(struct naming *n, const struct format *format) REQUIRES(naming_class)
{
	struct err err = {.code = ERR_NONE};
	bool wrong;

	naming_table_put(n->table);
	n->table = naming_table_read(buf_bytes(&n->text), format, &err);
	wrong = err.code && err.code != ERR_MEMORY;
	n->format = n->table || wrong ? format : NULL;
	if (wrong)
		report_place(n, &err);
	else
		naming_report_fault(n, NULL);
}

static void forget_table(struct naming *n) REQUIRES(naming_class)
{
	naming_table_put(n->table);
	n->table = NULL;
	n->format = NULL;
	buf_clear(&n->text);
}

/*
 * Checks whether the file may be used: EACCES if the guard bars it, since not every user may read
 * it.
 */
static int check_read(const struct naming *n, const struct stat *st)
{
	struct file_version read = file_version_of(st), let;

	if (!n->guard)
		return 0;
	return guard_lets_read(n->guard, n->folder, NULL, NAMING_FILE, &let) &&
			       file_version_same(&let, &read)
		       ? 0
		       : EACCES;
}

/* Reads the text. Returns true if it has changed. */
static bool naming_read_text(struct naming *n) REQUIRES(naming_class)
{
	struct buf text = BUF_INIT;
	struct timespec now;
	struct stat st;
	int error;
	bool same;

	now = clock_wall();
	error = dirfd_read(n->folder, NAMING_FILE, FILE_MAX, &text, &st);
	if (!error)
		error = check_read(n, &st);
	same = !error && n->format && bytes_equal(buf_bytes(&text), buf_bytes(&n->text));

	if (error) {
		buf_release(&text);
		forget_table(n);
		if (!n->faulty)
			naming_report_fault(n, strerror(error));
		return false;
	}
	n->version = file_version_of(&st);
	n->settled = file_version_settled(&n->version, &now);
	if (same) {
		buf_release(&text);
		return false;
	}
	buf_release(&n->text);
	n->text = text;
	return true;
}

static void naming_look_at_file(struct naming *n, const struct format *format)
	REQUIRES(naming_class)
{
	struct file_version version;
	struct stat st;
	bool there = fstatat(n->folder, NAMING_FILE, &st, AT_SYMLINK_NOFOLLOW) == 0;

	if (!there) {
		if (n->there)
			forget_table(n);
		n->there = false;
		naming_report_fault(n, NULL);
		return;
	}
	version = file_version_of(&st);
	if (n->there && n->settled && n->format == format &&
	    file_version_same(&version, &n->version))
		return;
	n->there = true;
	n->version = version;
	if (naming_read_text(n) || (n->format && n->format != format))
		parse_table(n, format);
}

struct naming_table *naming_get(struct naming *n, const struct format *format)
{
	struct naming_table *table;

	if (!n || !naming_concerns(format))
		return NULL;
	lock_acquire(&n->lock, &naming_class);
	naming_look_at_file(n, format);
	table = naming_table_get(n->table);
	lock_release(&n->lock, &naming_class);
	return table;
}
