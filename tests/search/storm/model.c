/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * model.c - the values that the views must hold. Values only grow, each is written once, and one
 * saver at a time writes a curve: a reader sees at least the last value whose save was
 * acknowledged, and at most the last one tried.
 */
#include "storm.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* as many digits as all values that follow, so that texts keep their sizes */
#define FIRST_VALUE 1000001L
#define WAIT_MS 10000 /* longest wait for timers of the mount, in ms */
#define SHOWN_MS 1100 /* longest time, in ms, until one mount shows a save made in another */

struct curve curves[CURVES_MAX];
struct clip clips[CURVES_MAX];
char files[CURVES_MAX][PATH_MAX];
unsigned curve_count, clip_count, file_count;

bool read_text(const char *path, struct text *text)
{
	call_begins(OP_READ, path);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t got = 1;

	text->length = 0;
	while (fd >= 0 && got > 0 && text->length < TEXT_MAX - 1) {
		got = read(fd, text->bytes + text->length, TEXT_MAX - 1 - text->length);
		if (got > 0)
			text->length += (size_t)got;
	}
	text->bytes[text->length] = '\0';
	if (fd >= 0)
		close(fd);
	call_ends(OP_READ, path, 0);
	return fd >= 0 && got == 0;
}

/* ---- finding ---- */

static void join(char path[PATH_MAX], const char *folder, const char *name)
{
	if (snprintf(path, PATH_MAX, "%s/%s", folder, name) >= PATH_MAX)
		die("a name is too long");
}

typedef void entry_fn(const char *folder, const char *name, void *context);

static void each_name(const char *folder, entry_fn *entry_is, void *context)
{
	struct dirent **entries;
	int count;

	call_begins(OP_READDIR, folder);
	count = scandir(folder, &entries, NULL, alphasort);
	call_ends(OP_READDIR, folder, 0);

	for (int i = 0; i < count; i++) {
		if (strcmp(entries[i]->d_name, ".") && strcmp(entries[i]->d_name, ".."))
			entry_is(folder, entries[i]->d_name, context);
		free(entries[i]);
	}
	if (count >= 0)
		free(entries);
}

static bool has(const char *folder, const char *name)
{
	char path[PATH_MAX];

	join(path, folder, name);
	return access(path, F_OK) == 0;
}

struct names {
	char **list;
	const char *prefix;
};

static void add_name(const char *folder, const char *name, void *context)
{
	struct names *names = context;
	char *longer;

	(void)folder;
	if (asprintf(&longer, "%s%s%s\n", *names->list, names->prefix, name) < 0)
		die("no memory");
	free(*names->list);
	*names->list = longer;
}

static void list_names(const struct clip *clip, char **list)
{
	char bones[PATH_MAX];

	*list = strdup("\n");
	each_name(clip->path, add_name, &(struct names){list, ""});
	join(bones, clip->path, "bones");
	each_name(bones, add_name, &(struct names){list, "bones/"});
}

static void keep_text(struct curve *curve, enum kind kind)
{
	curve->text[kind] = malloc(sizeof(struct text));
	if (!curve->text[kind] || !read_text(curve->path[kind], curve->text[kind]))
		die("%s: %s", curve->path[kind], strerror(errno));
}

static void find_curve(const char *bones, const char *name, void *context)
{
	struct curve *curve = &curves[curve_count];
	const char *end = strrchr(name, '.');
	char json[NAME_MAX + 8];

	(void)context;
	if (!end || strcmp(end, ".csv") != 0 || curve_count == CURVES_MAX)
		return;
	*curve = (struct curve){.clip = clip_count - 1};
	snprintf(curve->bone, sizeof(curve->bone), "%.*s", (int)(end - name), name);
	join(curve->path[KIND_CSV], bones, name);
	snprintf(json, sizeof(json), "%s.json", curve->bone);
	join(curve->path[KIND_JSON], bones, json);
	join(curve->path[KIND_CURVES], clips[curve->clip].path, "curves.csv");
	for (unsigned kind = 0; kind < KINDS; kind++)
		keep_text(curve, kind);
	for (unsigned kind = 0; options.second && kind < KINDS; kind++)
		join(curve->second[kind], options.second,
		     curve->path[kind] + strlen(options.top) + 1);
	/* Skip a bone without a translation, which has no place for a value. */
	if (text_slots(curve->text[KIND_CSV], NULL) && text_slots(curve->text[KIND_JSON], NULL))
		curve_count++;
}

static void find_clip(const char *folder, const char *name, void *context)
{
	struct clip *clip = &clips[clip_count];
	char bones[PATH_MAX];

	(void)context;
	join(clip->path, folder, name);
	if (clip_count == CURVES_MAX || !has(clip->path, "curves.csv") || !has(clip->path, "bones"))
		return;
	clip->file = file_count - 1;
	clip_count++;
	join(bones, clip->path, "bones");
	list_names(clip, &clip->names);
	each_name(bones, find_curve, NULL);
}

static void find_file(const char *folder, const char *name, void *context)
{
	char path[PATH_MAX];
	struct stat st;

	join(path, folder, name);
	if (name[0] == '.' || stat(path, &st) != 0 || !S_ISDIR(st.st_mode))
		return;
	if (!has(path, "file.json")) {
		each_name(path, find_file, context);
	} else if (file_count < CURVES_MAX) {
		memcpy(files[file_count++], path, sizeof(path));
		each_name(path, find_clip, NULL);
	}
}

struct curve *curve_shown_by(const char *path)
{
	for (unsigned i = 0; i < curve_count; i++) {
		for (unsigned kind = 0; kind < KINDS; kind++) {
			if (strcmp(curves[i].path[kind], path) == 0)
				return &curves[i];
		}
	}
	return NULL;
}

bool known_name(const char *path)
{
	char line[PATH_MAX];

	path = first_path(path);
	for (unsigned i = 0; i < clip_count; i++) {
		size_t length = strlen(clips[i].path);

		if (strncmp(path, clips[i].path, length) != 0 || path[length] != '/')
			continue;
		snprintf(line, sizeof(line), "\n%s\n", path + length + 1);
		return strstr(clips[i].names, line) || strstr(line, "frames/");
	}
	/* Skip temporaries of programs that replace or make a binary: .NAME and NAME~. */
	return strrchr(path, '/')[1] != '.' && path[strlen(path) - 1] != '~';
}

/* ---- saving in quiet ---- */

static bool replace_text(const char *path, const struct text *text)
{
	char name[PATH_MAX];
	int fd;
	bool saved;

	if (snprintf(name, sizeof(name), "%s.calm~", path) >= PATH_MAX)
		return false;
	call_begins(OP_RENAME, path);
	fd = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	saved = fd >= 0 && write(fd, text->bytes, text->length) == (ssize_t)text->length;
	saved = close(fd) == 0 && saved && rename(name, path) == 0;
	if (!saved)
		unlink(name);
	call_ends(OP_RENAME, path, 0);
	return saved;
}

static void save_calmly(unsigned i)
{
	static struct text text;
	long value = atomic_fetch_add(&shared->issued[i], 1) + 1;

	text_set(&text, curves[i].text[KIND_CSV], value);
	if (!replace_text(curves[i].path[KIND_CSV], &text))
		complain("a save in a quiet moment is refused: %s: %s", curves[i].path[KIND_CSV],
			 strerror(errno));
	else
		atomic_store(&shared->least[i], value);
	atomic_store(&shared->sure[i], atomic_load(&shared->least[i]));
}

void model_find(const char *top)
{
	each_name(top, find_file, NULL);
	if (!curve_count)
		die("no bone with a translation below %s", top);
	for (unsigned i = 0; i < curve_count; i++) {
		atomic_store(&shared->issued[i], FIRST_VALUE);
		save_calmly(i);
	}
}

/* ---- checking ---- */

static long value_at(const char *path, const struct curve *curve, enum kind kind)
{
	static struct text text;

	if (!read_text(path, &text))
		return NO_VALUE;
	return text_value(&text, kind == KIND_CURVES ? curve->bone : NULL);
}

static long value_in(const struct curve *curve, enum kind kind)
{
	return value_at(curve->path[kind], curve, kind);
}

/*
 * Returns whether a mapping's text was refused. No call reports to a program whether values that
 * its mapping wrote after close were saved; if they are refused, .error beside the view has a line.
 */
static bool is_refused(const struct task *task)
{
	char name[PATH_MAX];

	return task->habit->flags & EVENTUAL && may_refuse(task_path(task)) &&
	       snprintf(name, sizeof(name), "%s.error", task_path(task)) < PATH_MAX &&
	       access(name, F_OK) == 0;
}

static bool is_reported(unsigned i)
{
	for (unsigned t = 0; t < now.task_count; t++) {
		const struct task *task = &now.tasks[t];

		if ((task->curve == i ||
		     (task->kind == KIND_CURVES && curves[task->curve].clip == curves[i].clip)) &&
		    is_refused(task))
			return true;
	}
	return false;
}

/*
 * Returns the value of a text at rest: at least the last acknowledged one, or the one before a
 * refused save.
 */
static long settled_value(unsigned i, enum kind kind, long least, long sure)
{
	long end = milliseconds() + WAIT_MS, value;

	while ((value = value_in(&curves[i], kind)) < sure && milliseconds() < end) {
		if (value >= least && is_reported(i))
			break;
		usleep(20000);
	}
	if (value >= least && value < sure && is_reported(i))
		atomic_store(&shared->sure[i], value);
	return value;
}

/* Checks a view: acknowledged values must be visible at once; others may take some time. */
static void check_view(unsigned i, enum kind kind)
{
	const struct curve *curve = &curves[i];
	long least = atomic_load(&shared->least[i]), sure = atomic_load(&shared->sure[i]);
	long issued = atomic_load(&shared->issued[i]);
	long value = value_in(curve, kind);

	if (value != NO_VALUE && value < least && !now.both)
		complain("a save is lost: %s holds %ld, and %ld was saved", curve->path[kind],
			 value, least);
	value = settled_value(i, kind, least, sure);
	sure = atomic_load(&shared->sure[i]);
	if (value < sure || value > issued)
		complain("%s holds %ld in place of %ld to %ld", curve->path[kind], value, sure,
			 issued);
}

/* Checks the same view in the second mount, which follows the first with a delay. */
static void check_second(unsigned i, enum kind kind)
{
	const struct curve *curve = &curves[i];
	long end = milliseconds() + WAIT_MS, want = value_in(curve, kind), value;

	while ((value = value_at(curve->second[kind], curve, kind)) != want &&
	       milliseconds() < end) {
		usleep(20000);
		want = value_in(curve, kind);
	}
	if (value != want)
		complain("%s holds %ld by the second mount, and %ld by the first",
			 curve->path[kind], value, want);
}

static bool voided(unsigned i)
{
	const char *clip = clips[curves[i].clip].path;

	/*
	 * A name is missing where the structure voids saves; and on a bare filesystem, where a save
	 * that is cut off leaves F~ and no F.
	 */
	return below_any(&now.voided, clip) || (options.bare && below_any(&now.moved, clip)) ||
	       (atomic_load(&shared->slow) && below_any(&now.stirred, clip));
}

/* Removes the files that savers left, and reports those that are missing. */
static void remove_leftovers(const struct clip *clip, const char *names)
{
	char path[PATH_MAX], line[PATH_MAX], *copy = strdup(names), *rest = copy, *name;

	while ((name = strsep(&rest, "\n"))) {
		snprintf(line, sizeof(line), "\n%s\n", name);
		if (!*name || strstr(clip->names, line))
			continue;
		join(path, clip->path, name);
		if (unlink(path) != 0 && errno != ENOENT)
			complain("%s cannot be removed: %s", path, strerror(errno));
	}
	free(copy);
}

static const char *missing_name(const struct clip *clip, const char *names)
{
	static char line[PATH_MAX];
	const char *at = clip->names + 1, *end;

	for (; (end = strchr(at, '\n')); at = end + 1) {
		snprintf(line, sizeof(line), "\n%.*s\n", (int)(end - at), at);
		if (!strstr(names, line))
			return line;
	}
	return NULL;
}

static void check_names(const struct clip *clip)
{
	/* A bare filesystem does not restore a view that was moved away, so do not wait there. */
	long end = milliseconds() + (options.bare ? 0 : WAIT_MS);
	const char *missing;
	char *names;

	list_names(clip, &names);
	remove_leftovers(clip, names);
	while ((missing = missing_name(clip, names)) && milliseconds() < end) {
		free(names);
		usleep(20000);
		list_names(clip, &names);
	}
	if (missing && !(options.bare && now.moved.count))
		complain("%s has no %.*s any more", clip->path, (int)strcspn(missing + 1, "\n"),
			 missing + 1);
	free(names);
}

unsigned model_check(void)
{
	unsigned long before = atomic_load(&shared->complaints);

	if (now.both)
		usleep(SHOWN_MS * 1000);
	for (unsigned i = 0; i < curve_count; i++) {
		if (voided(i))
			save_calmly(i);
	}
	for (unsigned i = 0; i < curve_count; i++) {
		for (unsigned kind = 0; kind < (options.bare ? 1 : KINDS); kind++)
			check_view(i, kind);
	}
	for (unsigned i = 0; i < clip_count; i++)
		check_names(&clips[i]);
	for (unsigned i = 0; options.second && i < curve_count; i++) {
		for (unsigned kind = 0; kind < KINDS; kind++)
			check_second(i, kind);
	}
	return (unsigned)(atomic_load(&shared->complaints) - before);
}

/* ---- after a remount ---- */

void model_write(const char *path)
{
	FILE *file = fopen(path, "we");

	if (!file)
		die("%s: %s", path, strerror(errno));
	for (unsigned i = 0; i < curve_count; i++)
		fprintf(file, "%ld %s\n", value_in(&curves[i], KIND_CSV),
			curves[i].path[KIND_CSV] + strlen(options.top) + 1);
	if (fclose(file) != 0)
		die("%s: %s", path, strerror(errno));
}

unsigned model_verify(const char *path, const char *top)
{
	FILE *file = fopen(path, "re");
	struct curve curve = {0};
	char name[PATH_MAX];
	unsigned wrong = 0;
	long want, got;

	if (!file)
		die("%s: %s", path, strerror(errno));
	while (fscanf(file, "%ld %4095[^\n]", &want, name) == 2) {
		join(curve.path[KIND_CSV], top, name);
		got = value_in(&curve, KIND_CSV);
		if (got != want) {
			printf("WRONG: %s holds %ld in place of %ld\n", name, got, want);
			wrong++;
		}
	}
	fclose(file);
	return wrong;
}
