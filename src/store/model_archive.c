/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model_archive.h"

#include "animfs/container.h"
#include "model/names.h"
#include "skeleton/find_model.h"
#include "util/clock.h"

#include <ctype.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void model_archive_release(struct model_archive *m)
{
	free(m->name);
	free(m->barred);
	*m = (struct model_archive){.looked = false};
}

void model_archive_drop(struct model_archive *m, skeleton_reporter *report, void *closure)
{
	if (report && m->barred)
		report(closure, m->barred, NULL);
	model_archive_release(m);
}

/* ---- the archive ---- */

bool model_archive_has_name(const char *name)
{
	return container_for_name(name) != NULL;
}

static bool model_archive_version_at(int dir, const char *name, struct file_version *version)
{
	struct stat st;

	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW))
		return false;
	*version = file_version_of(&st);
	return S_ISREG(st.st_mode) || S_ISDIR(st.st_mode);
}

static bool model_archive_note(struct model_archive *m, int dir, const char *name,
			       struct file_version *version, const struct timespec *now)
{
	bool there = model_archive_version_at(dir, name, version);

	m->settled = m->settled && there && file_version_settled(version, now);
	return there;
}

/* Looks for STEM and this extension. False only when out of memory. */
static bool try_name(struct model_archive *m, int dir, const char *file_name, const char *extension,
		     const struct guard *guard, const struct timespec *now)
{
	int stem = (int)name_stem(file_name);
	char name[2 * NAME_MAX];
	struct file_version let;

	snprintf(name, sizeof(name), "%.*s%s", stem, file_name, extension);
	if (strlen(name) > NAME_MAX || strcmp(name, file_name) == 0 ||
	    !model_archive_version_at(dir, name, &let))
		return true;
	if (!guard_lets_read(guard, dir, file_name, name, &let)) {
		m->settled = false; /* it may be allowed without a change of the folder */
		m->barred = m->barred ? m->barred : strdup(name);
		return m->barred != NULL;
	}
	m->file = let;
	m->settled = m->settled && file_version_settled(&let, now);
	m->name = strdup(name);
	return m->name != NULL;
}

/* As it is in the table, or in upper case. */
static bool try_pattern(struct model_archive *m, int dir, const char *file_name,
			const char *extension, const struct guard *guard,
			const struct timespec *now)
{
	char other[32];
	size_t i = 0;

	for (; extension[i] && i + 1 < sizeof(other); i++)
		other[i] = (char)toupper((unsigned char)extension[i]);
	other[i] = '\0';
	return try_name(m, dir, file_name, extension, guard, now) &&
	       (m->name || try_name(m, dir, file_name, other, guard, now));
}

/* Finds the archive. False when out of memory. The caller releases `m` either way. */
static bool model_archive_find(struct model_archive *m, int dir, const char *file_name,
			       const struct guard *guard)
{
	struct timespec now = clock_wall();
	bool fine = true;

	*m = (struct model_archive){.settled = true};
	model_archive_note(m, dir, ".", &m->folder, &now);
	if (guard)
		model_archive_note(m, dir, file_name, &m->animation, &now);
	for (const struct container *const *c = containers; *c; c++) {
		for (const char *const *p = (*c)->patterns; *p && fine && !m->name; p++)
			fine = try_pattern(m, dir, file_name, *p + 1, guard, &now);
	}
	m->looked = fine;
	return fine;
}

/* Is what the guard bars in `m` barred in `other`, too? */
static bool has_barred(const struct model_archive *m, const struct model_archive *other)
{
	return !m->barred || (other->barred && strcmp(m->barred, other->barred) == 0);
}

bool model_archive_same(struct model_archive *m, int dir, const char *file_name,
			const struct guard *guard)
{
	struct model_archive seen;
	bool same;

	if (!m->looked)
		return false;
	if (m->settled && file_version_is_at(dir, ".", &m->folder) &&
	    (!guard || file_version_is_at(dir, file_name, &m->animation)) &&
	    (!m->name || file_version_is_at(dir, m->name, &m->file)))
		return true;
	same = model_archive_find(&seen, dir, file_name, guard) && !m->name == !seen.name &&
	       has_barred(m, &seen) && has_barred(&seen, m) &&
	       (!m->name || (m->settled && strcmp(m->name, seen.name) == 0 &&
			     file_version_same(&m->file, &seen.file)));
	if (same) {
		struct model_archive old = *m;

		*m = seen;
		seen = old;
	}
	model_archive_release(&seen);
	return same;
}

/* ---- its models ---- */

struct models {
	struct archive *archive;
	uint32_t *members;
};

static const char *models_name(void *closure, size_t i)
{
	const struct models *m = closure;

	return m->archive->members[m->members[i]].name;
}

static bool models_read(void *closure, size_t i, size_t limit, struct buf *out, struct err *err)
{
	const struct models *m = closure;

	return archive_read(m->archive, m->members[i], limit, out, err);
}

static struct shared_skeleton *skeleton_of_models(struct archive *archive, const char *file_name,
						  const struct format *format,
						  skeleton_reporter *report, void *closure)
{
	struct models m = {archive, calloc((size_t)archive->count + 1, sizeof(*m.members))};
	struct skeleton_files files = {0, models_name, models_read, &m};
	struct shared_skeleton *skeleton;

	for (uint32_t i = 0; m.members && i < archive->count; i++) {
		if (archive->members[i].name && model_has_name(archive->members[i].name))
			m.members[files.count++] = i;
	}
	skeleton = find_skeleton_in(&files, file_name, format, report, closure);
	free(m.members);
	return skeleton;
}

/* Finds the archive again, and reports what the guard bars. False when out of memory. */
static bool model_archive_search(struct model_archive *m, int dir, const char *file_name,
				 const struct guard *guard, skeleton_reporter *report,
				 void *closure)
{
	struct model_archive before = *m;
	bool fine = model_archive_find(m, dir, file_name, guard);

	if (has_barred(&before, m))
		model_archive_release(&before);
	else
		model_archive_drop(&before, report, closure);
	if (report && m->barred)
		skeleton_report_barred(m->barred, file_name, report, closure);
	return fine;
}

struct shared_skeleton *model_archive_skeleton(struct model_archive *m, int dir,
					       const char *file_name, const struct format *format,
					       const struct guard *guard, skeleton_reporter *report,
					       void *closure)
{
	struct shared_skeleton *skeleton = NULL;
	struct err err = {.code = ERR_NONE};
	struct archive *archive = NULL;
	struct input in;
	struct stat st;
	int fd;

	if (!model_archive_search(m, dir, file_name, guard, report, closure) || !m->name)
		return NULL;
	if (dirfd_open(dir, m->name, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0, &fd)) {
		m->settled = false;
		return NULL;
	}
	/* Another file may have the name now, which the guard was not asked about. */
	if (fstat(fd, &st) == 0) {
		const struct file_version now = file_version_of(&st);

		m->settled = m->settled && file_version_same(&now, &m->file);
		if (file_version_same(&now, &m->file) && input_of_file(fd, &in, NULL))
			archive = archive_open(container_for_name(m->name), &in, MODEL_LIMIT, &err);
	}
	if (archive)
		skeleton = skeleton_of_models(archive, file_name, format, report, closure);
	/* After a failed allocation the next call looks again. */
	m->looked = err.code != ERR_MEMORY;
	archive_close(archive);
	close(fd);
	return skeleton;
}
