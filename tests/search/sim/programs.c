/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * programs.c - savers, readers and movers at work in the mount, and the texts that they may see.
 *
 * A save gives every row of a bone's table one number that no other save has. So a text shows which
 * save it is of, under any name, and a text with two numbers is a mixture of two saves. A number is
 * a float32 that an animation file stores as it is: whether a save has reached the disk is seen by
 * its four bytes in the file, without any code of the program's.
 *
 * A reader may see any save of a bone that was not replaced, before the reader opened, by an
 * acknowledged save begun after it ended. A save that was refused may be seen or not.
 *
 * Names are never used twice, so a name stands for one bone for good. A program that asks for a
 * name that is being moved may find nothing, as on any filesystem; no other may.
 */
#include "sim.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#define FIRST_NUMBER 1000003
#define FILES_MAX 4
#define CLIPS_MAX 24
#define SAVES_MAX 20000
#define SETTLES (4 * SECOND) /* half-written text is given up after this time */

/* Something with a name that may change: `changes` is odd while it does. */
struct named {
	char name[64];
	unsigned changes;
};

struct clip {
	struct named is;
	unsigned file;
	bool gone; /* the thing is removed, or about to be */
};

enum form { CSV, JSON, FORMS };

struct save {
	unsigned bone;
	uint64_t begun, ended;
	enum { GOES_ON, SAVED, MAYBE } how;
	int process;
	enum form form;
	bool crossed; /* another program saved the same bone during this save */
};

/* One text of a bone. */
struct view {
	char *first;      /* text before any save */
	unsigned changes; /* counts changes of the view's name; odd during a change */
	/* number of savers that are writing the text in place, where other programs read it */
	unsigned in_place;
	int64_t last_in_place; /* time at which the last saver that writes in place ended */
	/*
	 * A saver took the name away and then failed: it comes back when others rest, or save the
	 * text.
	 */
	bool absent;
	/* a saver left the text half-written and failed; it becomes whole again as with `absent` */
	bool broken;
	bool given; /* a program is changing the mode of the text */
};

/* One bone in one clip. */
struct bone {
	unsigned clip;
	const char *name;
	struct view views[FORMS];
	unsigned savers; /* number of savers at work now */
	unsigned begun;  /* number of saves that were begun so far */
};

static const char *const bone_names[] = {"hips", "spine"};
static const char *const form_names[] = {"csv", "json"};

#define BONES (sizeof(bone_names) / sizeof(bone_names[0]))
#define BONES_NONE (CLIPS_MAX * BONES) /* stands for a save of no bone */

static struct named folder = {"object/e0000", 0};
static struct named files[FILES_MAX];
static struct clip clips[CLIPS_MAX];
static struct bone bones[CLIPS_MAX * BONES + 1];
static struct save saves[SAVES_MAX];
static unsigned file_count, clip_count, bone_count, save_count = 1, name_serial, moving;
static unsigned running;
static const char *source_dir;

/*
 * In the last file, this bone is saved in SOURCE, by a program that does not know the mount, while
 * savers save the other bones there.
 */
static struct {
	unsigned file, bone;
	long number;
} outside;

/* The file before the last, which is saved only by programs that copy its folder back. */
static unsigned copied_file;
/*
 * A program that copied the folder back was ended part-way: there may be old values, as near as the
 * format stores them.
 */
static bool copied_in_part;
/* Now and then, another process locks what a save needs; the save may be refused then. */
static bool occupied;

unsigned programs_saved, programs_refused, programs_read, programs_moved;

#define PATH 512

/*
 * Sleeps for a random time. Now and then sleeps until a moment that is the same for all programs,
 * so that they start together, often after a time in which all were idle.
 */
static void rest(unsigned ms)
{
	const int64_t together = 8 * SECOND;

	sched_sleep(rnd_one_in(8) ? together - sched_now() % together
				  : (int64_t)rnd_below(ms) * MS);
}

static void end_program(void)
{
	running--;
	sched_wake(&running);
}

static void path_of_clip(unsigned clip, char path[PATH])
{
	snprintf(path, PATH, "%s/%s/%s", folder.name, files[clips[clip].file].name,
		 clips[clip].is.name);
}

static void path_of_bone(unsigned bone, const char *suffix, char path[PATH])
{
	const struct clip *c = &clips[bones[bone].clip];

	snprintf(path, PATH, "%s/%s/%s/bones/%s", folder.name, files[c->file].name, c->is.name,
		 suffix);
}

static void path_of_view(unsigned bone, enum form form, char path[PATH])
{
	char name[80];

	snprintf(name, sizeof(name), "%s.%s", bones[bone].name, form_names[form]);
	path_of_bone(bone, name, path);
}

/* ---- allowed results ---- */

/* The path of a view at some time. */
struct moment {
	enum form form;
	unsigned changes, begun;
	bool moves, saves;
	uint64_t step;
	int64_t at;
};

/*
 * Returns the number of changes of the names above a bone. *moves: one of them is about to change.
 */
static unsigned changes_of_names(unsigned bone, bool *moves)
{
	const struct clip *c = &clips[bones[bone].clip];

	*moves = (folder.changes | files[c->file].changes | c->is.changes) & 1;
	return folder.changes + files[c->file].changes + c->is.changes;
}

static struct moment moment_of(unsigned bone, enum form form)
{
	const struct bone *b = &bones[bone];
	const struct view *v = &b->views[form];
	bool moves;
	unsigned above = changes_of_names(bone, &moves);

	return (struct moment){
		.form = form,
		.changes = above + v->changes,
		.begun = b->begun,
		.moves = moves || (v->changes & 1) || v->absent,
		.saves = b->savers > 0,
		.step = sched_step(),
		.at = sched_now(),
	};
}

static bool was_moved(unsigned bone, const struct moment *since)
{
	return since->moves || moment_of(bone, since->form).changes != since->changes;
}

static bool was_saved(unsigned bone, const struct moment *since)
{
	return since->saves || bones[bone].begun != since->begun;
}

static bool is_fault(int error)
{
	if (occupied && (error == EBUSY || error == EBADMSG))
		return true;
	return sim.faults && (error == EIO || error == ENOSPC || error == ENOMEM ||
			      error == EMFILE || error == ENFILE || error == EDQUOT);
}

/* Ends the run on an error that a bare filesystem would not give. */
static void judge(const char *what, int error, unsigned bone, const struct moment *since)
{
	const char *name = error ? strerrorname_np(error) : "";

	if (!error || is_fault(error))
		return;
	if ((error == ENOENT || error == ENOTDIR) && was_moved(bone, since))
		return;
	fail("%s of bone %u (%s/%s.%s): %s", what, bone, clips[bones[bone].clip].is.name,
	     bones[bone].name, form_names[since->form], name);
}

/* ---- texts ---- */

struct text {
	char *data;
	size_t size;
};

static void add(struct text *t, const char *data, size_t size)
{
	t->data = realloc(t->data, t->size + size + 1);
	if (!t->data)
		fail("out of memory");
	memcpy(t->data + t->size, data, size);
	t->size += size;
	t->data[t->size] = '\0';
}

/* Returns the length of the n-th cell of a row, and its place; rows end with a line feed. */
static size_t cell(const char *row, unsigned n, const char **at)
{
	while (n && *row != '\n' && *row) {
		n -= *row == ',';
		row++;
	}
	*at = row;
	return strcspn(row, ",\n");
}

enum { COLUMN = 2 /* tx */, LAST_WITH = 4 /* tz: a translation is given as a whole */ };

/* Writes a number into every row; blank cells of the same translation are filled. */
static void renumber_csv(const char *data, unsigned number, struct text *out)
{
	const char *row = strchr(data, '\n');

	if (!row)
		return;
	add(out, data, (size_t)(++row - data));
	while (*row) {
		const char *end = row + strcspn(row, "\n");
		const char *at;
		char digits[16];

		cell(row, COLUMN, &at);
		add(out, row, (size_t)(at - row));
		snprintf(digits, sizeof(digits), "%u", number);
		add(out, digits, strlen(digits));
		for (unsigned n = COLUMN + 1; n <= LAST_WITH; n++) {
			size_t length = cell(row, n, &at);

			add(out, ",", 1);
			add(out, length ? at : "0", length ? length : 1);
		}
		at += strcspn(at, ",\n");
		add(out, at, (size_t)(end - at));
		add(out, "\n", 1);
		row = end + (*end == '\n');
	}
}

static const char translation[] = "\"translation\"", value_is[] = "\"value\": [";

/*
 * Returns the place of the first number of the next key of the translation; NULL if there is none.
 */
static const char *next_key(const char *at, const char **end)
{
	if (!*end) {
		at = strstr(at, translation);
		*end = at ? strstr(at, "\n    ]") : NULL;
		if (!*end)
			return NULL;
	}
	at = strstr(at, value_is);
	return at && at < *end ? at + sizeof(value_is) - 1 : NULL;
}

static void renumber_json(const char *data, unsigned number, struct text *out)
{
	const char *end = NULL, *at = data;
	char digits[16];

	snprintf(digits, sizeof(digits), "%u", number);
	while ((at = next_key(at, &end))) {
		add(out, data, (size_t)(at - data));
		add(out, digits, strlen(digits));
		at += strcspn(at, ",");
		data = at;
	}
	add(out, data, strlen(data));
}

static long number_in_json(const char *data)
{
	const char *end = NULL, *at = data;
	unsigned long number = 0;
	size_t size = strlen(data);

	if (size < 3 || strcmp(data + size - 2, "}\n") != 0)
		return -1;
	while ((at = next_key(at, &end))) {
		char *after;
		unsigned long here = strtoul(at, &after, 10);

		if (*after != ',' || here < FIRST_NUMBER || (number && here != number))
			return -1;
		number = here;
	}
	return number ? (long)number : -1;
}

static void renumber(enum form form, const char *data, unsigned number, struct text *out)
{
	if (form == CSV)
		renumber_csv(data, number, out);
	else
		renumber_json(data, number, out);
}

/* Returns the number in all rows, of which there must be as many as ever; or -1. */
static long number_in_csv(const char *data, const char *first)
{
	const char *row = strchr(data, '\n');
	unsigned long number = 0;
	unsigned rows = 0;

	if (!row || data[strlen(data) - 1] != '\n')
		return -1;
	for (row++; *row; row += strcspn(row, "\n") + 1) {
		const char *at;
		size_t length = cell(row, COLUMN, &at);
		char *end;
		unsigned long here = strtoul(at, &end, 10);

		/* A value that does not move is in one row only. */
		if (rows && !length)
			here = number;
		else if (end != at + length || here < FIRST_NUMBER || (rows && here != number))
			return -1;
		number = here;
		rows++;
	}
	for (row = first; (row = strchr(row, '\n')); row++)
		rows--;
	return rows + 1 == 0 ? (long)number : -1;
}

/* Returns the text without the names of its file and clip, which are in the first lines. */
static const char *from_parent(const char *json)
{
	const char *at = strstr(json, "\"parent\"");

	return at ? at : json;
}

/*
 * Returns the number of a text; 0 for the first text, which has none; -1 if it is none of the
 * numbers that were saved.
 */
static long number_of(unsigned bone, enum form form, const struct text *t)
{
	const char *data = t->data ? t->data : "";
	const char *first = bones[bone].views[form].first;

	if (strcmp(data, first) == 0 ||
	    (form == JSON && strcmp(from_parent(data), from_parent(first)) == 0))
		return 0;
	return form == CSV ? number_in_csv(data, first) : number_in_json(data);
}

/* ---- results ---- */

/*
 * Returns another program's save of the bone that began after `s` and was acknowledged before this
 * step.
 */
static const struct save *replaced(const struct save *s, unsigned bone, uint64_t before)
{
	for (unsigned i = 1; i < save_count; i++) {
		const struct save *later = &saves[i];

		if (later->bone == bone && later->how == SAVED && later->ended < before &&
		    (!s || (s->how != GOES_ON && later->begun > s->ended)))
			return later;
	}
	return NULL;
}

/* Checks the number that a reader saw. `before` is the step at which the reader began. */
static void check_number(const char *what, long number, unsigned bone, uint64_t before)
{
	unsigned index = number ? (unsigned)number - FIRST_NUMBER + 1 : 0;
	const struct save *s = index ? &saves[index] : NULL, *later;

	/* A batch may be part-way done; its own program checks the number at the end. */
	if (clips[bones[bone].clip].file == copied_file)
		return;
	if (index >= save_count || (s ? s->bone != bone : bone == outside.bone))
		fail("%s of bone %u shows %ld, which is another's", what, bone, number);
	later = replaced(s, bone, before);
	if (later)
		fail("%s of bone %u shows %ld, and %u was saved before step %llu", what, bone,
		     number, (unsigned)(later - saves) - 1 + FIRST_NUMBER,
		     (unsigned long long)before);
}

/*
 * Returns whether other programs wrote the file in place while it was read. As on any filesystem, a
 * reader sees their writes.
 */
static bool was_in_place(unsigned bone, const struct moment *since)
{
	const struct view *v = &bones[bone].views[since->form];

	return v->broken ||
	       (was_saved(bone, since) &&
		(v->in_place || (v->last_in_place && since->at - v->last_in_place < SETTLES)));
}

/* ---- readers ---- */

enum way { WHOLE, IN_PIECES, SLOWLY, MAPPED, WAYS };

static const char *const way_names[] = {"a read", "a read in pieces", "a slow read", "a mapping"};

static int read_mapped(struct kfile *file, size_t size, struct text *out)
{
	char page[4096];

	while (out->size < size) {
		size_t part = size - out->size < sizeof(page) ? size - out->size : sizeof(page);
		long got = k_read_mapped(file, (int64_t)out->size, page, part);

		if (got < 0)
			return (int)-got;
		add(out, page, (size_t)got);
		if (rnd_one_in(3))
			sched_sleep((1 + rnd_below(400)) * MS);
	}
	return 0;
}

static int read_all(struct kfile *file, enum way way, struct text *out)
{
	char data[8192];

	for (;;) {
		size_t part = way == WHOLE ? sizeof(data) : 500 + rnd_below(4000);
		long got = k_read(file, data, part);

		if (got <= 0)
			return (int)-got;
		add(out, data, (size_t)got);
		if (way == SLOWLY && rnd_one_in(3))
			sched_sleep((int64_t)rnd_below(3000) * MS);
		else if (way != WHOLE)
			sched_sleep((int64_t)rnd_below(20) * MS);
	}
}

static bool is_part_of_copy(unsigned bone)
{
	return copied_in_part && clips[bones[bone].clip].file == copied_file;
}

static void check_text(const char *what, const struct text *t, unsigned bone, size_t size,
		       const struct moment *since)
{
	long number = number_of(bone, since->form, t);

	if (was_in_place(bone, since) || is_part_of_copy(bone))
		return;
	if (number < 0) {
		fprintf(stderr, "%s\n", t->data ? t->data : "(empty)");
		fail("%s of bone %u is none of its texts", what, bone);
	} else if (t->size != size) {
		fail("%s of bone %u has %zu bytes, and fstat says %zu", what, bone, t->size, size);
	} else {
		check_number(what, number, bone, since->step);
	}
}

/*
 * Returns whether a save of the bone was left half-way. A text that could not be put anywhere else
 * may be saved later.
 */
static bool is_broken(unsigned bone)
{
	return bones[bone].views[CSV].broken || bones[bone].views[JSON].broken;
}

/*
 * Checks the size that a stat before the open returned. Names in the folder of a rename are dropped
 * right after its reply, so such a rename may explain another size.
 */
static void check_size(const char *path, size_t size, unsigned bone, const struct moment *since)
{
	struct stat st = {.st_size = 0};
	int error;

	sched_sleep(SECOND);
	error = k_stat(path, &st);
	if (was_saved(bone, since) || was_moved(bone, since) || is_broken(bone))
		return;
	judge("stat", error, bone, since);
	if (!error && st.st_size != (off_t)size)
		fail("%s has %zu bytes, and stat says %lld", path, size, (long long)st.st_size);
}

/*
 * Reads a text of a bone. Returns 0 or the error that ended the reading. The caller owns the text.
 */
static int read_bone(unsigned bone, enum form form, enum way way, struct text *out)
{
	struct moment since = moment_of(bone, form);
	struct kfile *file;
	struct stat st = {.st_size = 0}, by_name = {.st_size = -1};
	char path[PATH];
	int error;

	path_of_view(bone, form, path);
	if (rnd_one_in(2))
		judge("stat", k_stat(path, &by_name), bone, &since);
	error = k_open(path, O_RDONLY, 0, &file);
	judge("open", error, bone, &since);
	if (error)
		return error;
	bones[bone].views[form].absent = false;
	error = k_fstat(file, &st);
	judge("fstat", error, bone, &since);
	if (!error)
		error = way == MAPPED ? read_mapped(file, (size_t)st.st_size, out)
				      : read_all(file, way, out);
	if (error == EFAULT) {
		if (!was_saved(bone, &since) && !was_moved(bone, &since) && !sim.faults)
			fail("SIGBUS in a mapping of bone %u", bone);
	} else {
		judge(way_names[way], error, bone, &since);
	}
	judge("close", k_close(file), bone, &since);
	trace("%s of %s: %zu bytes, number %ld", way_names[way], path, out->size,
	      error || !out->data ? -2 : number_of(bone, form, out));
	if (!error) {
		check_text(way_names[way], out, bone, (size_t)st.st_size, &since);
		if (by_name.st_size >= 0 && by_name.st_size != (off_t)out->size)
			check_size(path, out->size, bone, &since);
		programs_read++;
	}
	return error;
}

/* Chooses a bone that exists. */
static unsigned any_bone(void)
{
	unsigned bone;

	do
		bone = rnd_below(bone_count);
	while (clips[bones[bone].clip].gone);
	return bone;
}

static bool is_saved_outside(unsigned bone)
{
	return clips[bones[bone].clip].file == outside.file;
}

/* Chooses a bone that programs save, in a clip that may be moved and removed. */
static unsigned any_saved_bone(void)
{
	unsigned bone;

	do
		bone = any_bone();
	while (clips[bones[bone].clip].file >= copied_file);
	return bone;
}

static unsigned any_bone_to_save(void)
{
	unsigned bone = any_bone();

	return is_saved_outside(bone) && bone != outside.bone ? bone : any_saved_bone();
}

static int read_path(const char *path, struct text *out);

/* Links a view. The link is a copy of the text, an ordinary file. */
static void link_bone(unsigned bone, enum form form)
{
	struct moment since = moment_of(bone, form);
	char path[PATH], other[PATH], name[80];
	struct text text = {NULL, 0};
	int error;

	snprintf(name, sizeof(name), "link%06u", ++name_serial);
	path_of_view(bone, form, path);
	path_of_bone(bone, name, other);
	error = k_link(path, other);
	trace("link %s to %s: %s", path, other, error ? strerrorname_np(error) : "fine");
	judge("link", error, bone, &since);
	if (error)
		return;
	error = read_path(other, &text);
	judge("a link", error, bone, &since);
	if (!error)
		check_text("a link", &text, bone, text.size, &since);
	free(text.data);
	judge("unlink", k_unlink(other), bone, &since);
}

/* Changes the mode of a view. The mount must remember it for the view's name. */
static void chmod_bone(unsigned bone, enum form form)
{
	struct moment since = moment_of(bone, form);
	mode_t mode = 0600 | (mode_t)rnd_below(0100);
	struct view *v = &bones[bone].views[form];
	struct stat st;
	char path[PATH];
	int error;

	if (v->given)
		return;
	v->given = true;
	path_of_view(bone, form, path);
	error = k_chmod(path, mode);
	trace("chmod %o %s: %s", (unsigned)mode, path, error ? strerrorname_np(error) : "fine");
	judge("chmod", error, bone, &since);
	if (!error)
		error = k_stat(path, &st);
	judge("stat", error, bone, &since);
	if (!error && (st.st_mode & 07777) != mode && !was_moved(bone, &since) &&
	    !was_saved(bone, &since))
		fail("%s has mode %o, and was given %o", path, (unsigned)st.st_mode & 07777,
		     (unsigned)mode);
	v->given = false;
}

/* Reads texts, mostly the one that was saved last: faults may show only for a moment. */
static void reader(void *unused)
{
	(void)unused;
	while (!sched_is_over()) {
		unsigned last = saves[save_count - 1].bone;
		unsigned bone = last < bone_count && !clips[bones[last].clip].gone && !rnd_one_in(3)
					? last
					: any_bone();
		struct text text = {NULL, 0};

		if (rnd_one_in(10))
			link_bone(bone, (enum form)rnd_below(FORMS));
		else if (rnd_one_in(10))
			chmod_bone(bone, (enum form)rnd_below(FORMS));
		else
			read_bone(bone, (enum form)rnd_below(FORMS), (enum way)rnd_below(WAYS),
				  &text);
		free(text.data);
		rest(rnd_one_in(2) ? 300 : 20);
		if (rnd_one_in(4))
			kernel_shrink();
	}
	end_program();
}

static void visit(void *path, const char *name, unsigned type)
{
	(void)type;
	char inner[PATH * 2];
	struct stat st;
	int error;

	snprintf(inner, sizeof(inner), "%s%s%s", (char *)path, *(char *)path ? "/" : "", name);
	if (strlen(inner) >= PATH)
		return;
	error = k_stat(inner, &st);
	if (error && error != ENOENT && error != ENOTDIR && !is_fault(error))
		judge("lstat", error, 0, &(struct moment){.moves = true});
	/* skip frames/: rendering a still of every frame takes long */
	if (!error && S_ISDIR(st.st_mode) && (strcmp(name, "frames") != 0 || rnd_one_in(40)))
		k_list(inner, visit, inner);
}

static void lister(void *unused)
{
	(void)unused;
	while (!sched_is_over()) {
		char top[PATH] = "";

		k_list(top, visit, top);
		sched_sleep((int64_t)rnd_below(2000) * MS);
	}
	end_program();
}

/* ---- savers ---- */

struct saving {
	unsigned bone, number;
	/*
	 * the bone's `begun` when this save began: if it is equal, no other save of the bone has
	 * begun since
	 */
	unsigned begun;
	enum form form;
	struct text text;
	struct moment since;
	bool crossed;
	bool unsure; /* no call has returned whether the text was saved */
	char view[PATH], other[PATH];
};

/* Returns whether the four bytes of this number are in the file. */
static bool is_on_disk(unsigned file_number, long number)
{
	char path[PATH * 2];
	const float value = (float)number;
	struct text file = {NULL, 0};
	char data[4096];
	ssize_t got;
	bool is;
	int fd;

	snprintf(path, sizeof(path), "%s/%s/%s", source_dir, folder.name, files[file_number].name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		fail("%s: %s", path, strerror(errno));
	while ((got = read(fd, data, sizeof(data))) > 0)
		add(&file, data, (size_t)got);
	close(fd);
	is = file.data && memmem(file.data, file.size, &value, sizeof(value));
	free(file.data);
	return is;
}

/* Checks that a save that fsync acknowledged is in the file, even if another save was under way. */
static void check_stored(const struct saving *s)
{
	const struct bone *b = &bones[s->bone];
	bool is;

	if (s->crossed || b->begun != s->begun || clips[b->clip].gone ||
	    was_moved(s->bone, &s->since))
		return;
	sched_hold(); /* no step, so that the path stays valid */
	is = is_on_disk(clips[b->clip].file, s->number);
	sched_resume();
	if (!is)
		fail("%s: fsync says that %u is stored", s->view, s->number);
}

/*
 * Returns whether the save's system calls were delayed so long since then (kernel_delay) that the
 * delay looks like a pause.
 */
static bool is_pause(int64_t since)
{
	return kernel_delay() - since > SECOND;
}

static int write_text(struct saving *s, struct kfile *file)
{
	size_t done = 0;

	while (done < s->text.size) {
		size_t part = rnd_one_in(2) ? s->text.size - done
					    : 1 + rnd_below((unsigned)(s->text.size - done));
		long got = k_write(file, s->text.data + done, part);

		if (got < 0)
			return (int)-got;
		done += (size_t)got;
		if (rnd_one_in(4))
			sched_sleep((int64_t)rnd_below(30) * MS);
	}
	return 0;
}

/* Closes a file in any case. Returns the first error. */
static int close_after(struct kfile *file, int error)
{
	int closed = k_close(file);

	return error ? error : closed;
}

static int open_and_write(struct saving *s, const char *path, int flags, bool synced)
{
	struct kfile *file;
	int error = k_open(path, flags, 0644, &file);

	if (error)
		return error;
	if (flags & O_TRUNC || flags & O_EXCL)
		error = write_text(s, file);
	else if (!(error = k_truncate(file, 0)))
		error = write_text(s, file);
	if (!error && synced)
		error = k_fsync(file);
	if (!error && synced)
		check_stored(s);
	return close_after(file, error);
}

static int truncating(struct saving *s)
{
	return open_and_write(s, s->view, O_WRONLY | O_CREAT | O_TRUNC, false);
}

static int synced(struct saving *s)
{
	return open_and_write(s, s->view, O_WRONLY | O_TRUNC, true);
}

static int cutting(struct saving *s)
{
	return open_and_write(s, s->view, O_RDWR, rnd_one_in(2));
}

/* Saves like rsync --inplace: writes into the file, and cuts the rest off. */
static int rsync_in_place(struct saving *s)
{
	struct kfile *file;
	int error = k_open(s->view, O_RDWR, 0, &file);

	if (error)
		return error;
	error = write_text(s, file);
	if (!error)
		error = k_truncate(file, (int64_t)s->text.size);
	return close_after(file, error);
}

/* Saves through a mapping. No program gets the result, which comes after close(). */
static int mapping(struct saving *s)
{
	struct kfile *file;
	int error = k_open(s->view, O_RDWR | O_TRUNC, 0, &file);

	if (error)
		return error;
	error = k_truncate(file, (int64_t)s->text.size);
	if (error)
		return close_after(file, error);
	error = k_close_mapped(file, s->text.data, s->text.size);
	k_await_releases();
	s->unsure = sim.faults || occupied || s->crossed || bones[s->bone].begun != s->begun ||
		    was_moved(s->bone, &s->since);
	if (!error && !s->unsure)
		check_stored(s);
	return error;
}

static void path_beside(struct saving *s, const char *format)
{
	char name[80];

	snprintf(name, sizeof(name), format, ++name_serial);
	path_of_bone(s->bone, name, s->other);
}

static int renaming(struct saving *s)
{
	int error;

	path_beside(s, "sed%06u");
	error = open_and_write(s, s->other, O_WRONLY | O_CREAT | O_EXCL, false);
	if (!error)
		error = k_rename(s->other, s->view, 0);
	if (error)
		k_unlink(s->other);
	return error;
}

/* Saves like GLib: renames the new file over the old one while both are open. */
static int glib(struct saving *s)
{
	struct kfile *view, *other;
	int error = k_open(s->view, O_WRONLY, 0, &view);

	if (error)
		return error;
	path_beside(s, ".goutputstream-%06u");
	error = k_open(s->other, O_WRONLY | O_CREAT | O_EXCL, 0666, &other);
	if (!error) {
		error = write_text(s, other);
		if (!error)
			error = k_fsync(other);
		if (!error)
			error = k_rename(s->other, s->view, 0);
		error = close_after(other, error);
	}
	return close_after(view, error);
}

static void take_name(struct saving *s)
{
	bones[s->bone].views[s->form].changes++;
}

static void give_name_back(struct saving *s, int error)
{
	struct view *v = &bones[s->bone].views[s->form];

	v->changes++;
	if (error)
		v->absent = true;
}

static int vim(struct saving *s)
{
	char probe[PATH];
	struct kfile *file;
	int error;

	path_of_bone(s->bone, "4913", probe);
	if (k_open(probe, O_WRONLY | O_CREAT | O_EXCL, 0644, &file) == 0) {
		k_close(file);
		k_unlink(probe);
	}
	snprintf(s->other, sizeof(s->other), "%.*s~", PATH - 2, s->view);
	take_name(s);
	error = k_rename(s->view, s->other, 0);
	if (!error)
		error = open_and_write(s, s->view, O_WRONLY | O_CREAT, true);
	if (!error)
		error = k_unlink(s->other);
	give_name_back(s, error);
	return error;
}

static int replacing(struct saving *s)
{
	int error;

	take_name(s);
	error = k_unlink(s->view);
	if (!error)
		error = open_and_write(s, s->view, O_WRONLY | O_CREAT | O_EXCL, false);
	give_name_back(s, error);
	return error;
}

static const struct {
	const char *name;
	int (*save)(struct saving *s);
	bool in_place;
} habits[] = {
	{"truncating", truncating, true},
	{"truncating and syncing", synced, true},
	{"cutting", cutting, true},
	{"rsync --inplace", rsync_in_place, true},
	{"mapping", mapping, true},
	{"renaming", renaming, false},
	{"GLib", glib, false},
	{"vim", vim, true},
	{"unlinking", replacing, true},
};

#define HABITS (sizeof(habits) / sizeof(habits[0]))

/*
 * Judges the result of a save. `crossed`: others saved the same bone during it. They win, or take
 * the name; and a name that was removed comes back in a pause.
 */
static void judge_save(const char *habit, int error, struct saving *s, bool crossed, bool paused)
{
	bool lost = error == EBADMSG || error == ENOENT || error == ENOTDIR || error == EEXIST ||
		    error == EFAULT;

	if (!(lost && crossed) && !(error == EEXIST && paused))
		judge(habit, error, s->bone, &s->since);
}

/* Saves a bone. `since` is a moment before the text was read. */
static void save_bone(unsigned bone, const struct moment *since, const char *old)
{
	enum form form = since->form;
	size_t habit = rnd_below(HABITS);
	struct saving s = {.bone = bone, .form = form, .since = *since};
	struct bone *b = &bones[bone];
	struct view *v = &b->views[form];
	unsigned index = save_count, number = FIRST_NUMBER + index - 1, begun;
	bool crossed, moves, astray;
	unsigned above = changes_of_names(bone, &moves);
	int64_t delay = kernel_delay();
	int error;

	/* Wait: two programs that write in one place leave a mixture, on any filesystem. */
	while (v->in_place && habits[habit].in_place)
		habit = rnd_below(HABITS);
	if (save_count == SAVES_MAX)
		return;
	saves[save_count++] = (struct save){.bone = bone, .begun = sched_step(), .how = GOES_ON};
	crossed = s.crossed = b->savers > 0;
	begun = s.begun = ++b->begun;
	s.number = number;
	b->savers++;
	v->in_place += habits[habit].in_place;
	renumber(form, old, number, &s.text);
	path_of_view(bone, form, s.view);
	trace("saves %u in %s by %s", number, s.view, habits[habit].name);
	error = habits[habit].save(&s);
	/* Refused text stays in the view, and others edit it, as long as it is open. */
	if (error)
		k_await_releases();
	b->savers--;
	v->in_place -= habits[habit].in_place;
	if (habits[habit].in_place)
		v->last_in_place = sched_now();
	v->broken = (error || s.unsure) && habits[habit].in_place;
	crossed = crossed || b->begun != begun;
	/* If a clip is moved without the files beside its texts, a folder keeps the old name. */
	astray = !error && sim.faults && (changes_of_names(bone, &moves) != above || moves);
	v->absent = v->absent || astray;
	saves[index].process = kernel_process();
	saves[index].form = form;
	saves[index].crossed = crossed;
	trace("saved %u: %s", number, error ? strerrorname_np(error) : "fine");
	saves[index].ended = sched_step();
	/*
	 * A text that was removed meanwhile has lost its name; as on any filesystem, no program
	 * finds it.
	 */
	saves[index].how = error || astray || s.unsure || clips[b->clip].gone ? MAYBE : SAVED;
	if (error)
		programs_refused++;
	else
		programs_saved++;
	judge_save(habits[habit].name, error, &s, crossed, is_pause(delay));
	free(s.text.data);
}

/* Saves one text after another, mostly of a bone that no other saver has. */
static void saver(void *number)
{
	unsigned own = number || rnd_one_in(2) ? (unsigned)(uintptr_t)number : outside.bone + 1;

	while (!sched_is_over()) {
		unsigned bone =
			rnd_one_in(6) || clips[bones[own].clip].gone ? any_bone_to_save() : own;
		enum form form = rnd_one_in(3) ? JSON : CSV;
		struct moment since = moment_of(bone, form);
		struct text text = {NULL, 0};

		if (read_bone(bone, form, WHOLE, &text) == 0 && number_of(bone, form, &text) >= 0)
			save_bone(bone, &since, text.data);
		free(text.data);
		if (rnd_one_in(2))
			kernel_process_ends();
		/* Check that the save is visible at once in the other text, too. */
		text = (struct text){NULL, 0};
		if (rnd_one_in(2))
			read_bone(bone, (enum form)rnd_below(FORMS), WHOLE, &text);
		free(text.data);
		rest(rnd_one_in(3) ? 4000 : 200);
	}
	end_program();
}

/* ---- copies of a folder that come back ---- */

/*
 * A copy of all texts that contain one of the two bones of a clip. One program reads them, edits
 * one, and writes them back in any order. In every order, the edit is there afterwards, and so is a
 * save that another program made meanwhile. A text that had no effect gets a line in the
 * diagnostics when it is closed.
 */
enum { COPY_BONES = BONES * FORMS, COPY_CURVES = COPY_BONES, COPY_CLIP, COPY_RAW, COPIES };

struct copy {
	unsigned first; /* the first bone of the clip */
	struct text texts[COPIES];
	unsigned changes;    /* `changes` of all names above the clip */
	long numbers[BONES]; /* numbers that the bones must have at the end */
	int64_t begun, last;
	bool late; /* the copying took longer than a batch lasts */
};

static unsigned changes_of_copied(void)
{
	return folder.changes + files[copied_file].changes;
}

static bool is_copy_moved(const struct copy *c)
{
	return (c->changes & 1) || changes_of_copied() != c->changes;
}

static void path_of_copy(const struct copy *c, unsigned i, char path[PATH])
{
	const struct clip *clip = &clips[bones[c->first].clip];
	const char *file = files[copied_file].name;

	if (i < COPY_BONES)
		path_of_view(c->first + i / FORMS, (enum form)(i % FORMS), path);
	else if (i == COPY_RAW)
		snprintf(path, PATH, "%s/%s/raw.canm", folder.name, file);
	else
		snprintf(path, PATH, "%s/%s/%s/%s", folder.name, file, clip->is.name,
			 i == COPY_CURVES ? "curves.csv" : "clip.json");
}

static int read_path(const char *path, struct text *out)
{
	struct kfile *file;
	struct stat st = {.st_size = 0};
	int error = k_open(path, O_RDONLY, 0, &file), closed;

	if (error)
		return error;
	error = k_fstat(file, &st);
	if (!error)
		error = read_all(file, IN_PIECES, out);
	if (!error && (size_t)st.st_size != out->size && strcmp(path, ".animfs/errors") != 0)
		fail("%s has %zu bytes, and fstat says %lld", path, out->size,
		     (long long)st.st_size);
	closed = k_close(file);
	return error ? error : closed;
}

static int copy_out(struct copy *c)
{
	char path[PATH];
	int error = 0;

	for (unsigned i = 0; i < COPIES && !error; i++) {
		path_of_copy(c, i, path);
		error = read_path(path, &c->texts[i]);
	}
	return error;
}

static void read_disk(struct text *out)
{
	char path[PATH * 2], data[4096];
	ssize_t got;
	int fd;

	snprintf(path, sizeof(path), "%s/%s/%s", source_dir, folder.name, files[copied_file].name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	while (fd >= 0 && (got = read(fd, data, sizeof(data))) > 0)
		add(out, data, (size_t)got);
	if (fd >= 0)
		close(fd);
}

static bool is_same_text(const struct text *a, const struct text *b)
{
	return a->size == b->size && (!a->size || memcmp(a->data, b->data, a->size) == 0);
}

/*
 * Checks that the diagnostics have a line for a text that the view does not show and that was not
 * stored.
 */
static void check_line(const struct copy *c, unsigned i, const char *path)
{
	struct text shown = {NULL, 0}, errors = {NULL, 0};
	unsigned bone = c->first + i / FORMS;
	enum form form = (enum form)(i % FORMS);
	char line[PATH + 16];

	snprintf(line, sizeof(line), "%s: stale: ", path);
	if (read_path(path, &shown) == 0 && !is_copy_moved(c) &&
	    number_of(bone, form, &shown) != number_of(bone, form, &c->texts[i]) &&
	    read_path(".animfs/errors", &errors) == 0 &&
	    !(errors.data && strstr(errors.data, line)))
		fail("a copy of %s did nothing, and has no line", path);
	free(shown.data);
	free(errors.data);
}

static int write_copy(struct copy *c, unsigned i)
{
	struct text before = {NULL, 0}, after = {NULL, 0};
	struct saving s = {.bone = c->first, .text = c->texts[i]};
	int error;

	path_of_copy(c, i, s.view);
	read_disk(&before);
	error = i == COPY_RAW || rnd_one_in(2) ? truncating(&s) : renaming(&s);
	trace("copies %s back: %s", s.view, error ? strerrorname_np(error) : "fine");
	if (!error) {
		read_disk(&after);
		if (i < COPY_BONES && is_same_text(&before, &after))
			check_line(c, i, s.view);
	}
	c->late = c->late || sched_now() - c->last > SECOND || sched_now() - c->begun > 8 * SECOND;
	c->last = sched_now();
	free(before.data);
	free(after.data);
	return error;
}

static void set_in_place(const struct copy *c, bool on)
{
	for (unsigned i = 0; i < COPY_BONES; i++) {
		struct bone *b = &bones[c->first + i / FORMS];
		struct view *v = &b->views[i % FORMS];

		v->in_place += on ? 1 : -1u;
		v->last_in_place = sched_now();
		b->begun += on;
		if (i % FORMS == 0)
			b->savers += on ? 1 : -1u;
	}
}

static int copy_back(struct copy *c)
{
	unsigned order[COPIES];
	int error = 0;

	for (unsigned i = 0; i < COPIES; i++) {
		unsigned at = rnd_below(i + 1);

		order[i] = order[at];
		order[at] = i;
	}
	c->begun = c->last = sched_now();
	for (unsigned i = 0; i < COPIES && !error; i++) {
		error = write_copy(c, order[i]);
		sched_sleep((int64_t)rnd_below(30) * MS);
	}
	return error;
}

static void check_copied(const struct copy *c)
{
	for (unsigned i = 0; i < COPY_BONES; i++) {
		unsigned bone = c->first + i / FORMS;
		struct text text = {NULL, 0};
		char path[PATH];
		long number;

		path_of_copy(c, i, path);
		if (read_path(path, &text) == 0 && !is_copy_moved(c)) {
			number = number_of(bone, (enum form)(i % FORMS), &text);
			if (number != c->numbers[i / FORMS])
				fail("%s shows %ld after a copy back, not %ld", path, number,
				     c->numbers[i / FORMS]);
		}
		free(text.data);
	}
}

/* Edits one of the texts: gives its bone a new number. */
static void edit_copy(struct copy *c, unsigned i)
{
	struct text edited = {NULL, 0};
	unsigned number = FIRST_NUMBER + save_count - 1;

	saves[save_count++] =
		(struct save){.bone = c->first + i / FORMS, .begun = sched_step(), .how = MAYBE};
	renumber((enum form)(i % FORMS), c->texts[i].data, number, &edited);
	free(c->texts[i].data);
	c->texts[i] = edited;
	c->numbers[i / FORMS] = number;
}

/* Edits the bone in another program, the same one for each copy. */
static int edit_other(struct copy *c, unsigned bone)
{
	struct saving s = {.bone = c->first + bone};
	unsigned number = FIRST_NUMBER + save_count - 1;
	int error;

	saves[save_count++] = (struct save){.bone = s.bone, .begun = sched_step(), .how = MAYBE};
	renumber(CSV, c->texts[bone * FORMS + CSV].data, number, &s.text);
	path_of_view(s.bone, CSV, s.view);
	error = truncating(&s);
	trace("meanwhile saves %u in %s: %s", number, s.view,
	      error ? strerrorname_np(error) : "fine");
	free(s.text.data);
	c->numbers[bone] = number;
	kernel_process_ends();
	return error;
}

static bool has_numbers(struct copy *c)
{
	for (unsigned i = 0; i < BONES; i++) {
		c->numbers[i] = number_of(c->first + i, CSV, &c->texts[i * FORMS + CSV]);
		if (c->numbers[i] < 0 ||
		    c->numbers[i] != number_of(c->first + i, JSON, &c->texts[i * FORMS + JSON]))
			return false;
	}
	return true;
}

static void copy_once(void)
{
	struct copy c = {.first = 0};
	unsigned i = rnd_below(COPY_BONES);
	int error;

	while (clips[bones[c.first].clip].file != copied_file)
		c.first += BONES;
	c.changes = changes_of_copied();
	error = copy_out(&c);
	if (!error && !is_copy_moved(&c) && has_numbers(&c) && save_count + 2 < SAVES_MAX) {
		set_in_place(&c, true);
		if (rnd_one_in(2))
			error = edit_other(&c, 1 - i / FORMS);
		edit_copy(&c, i);
		sched_sleep((int64_t)rnd_below(rnd_one_in(2) ? 4000 : 10) * MS);
		if (!error)
			error = copy_back(&c);
		if (error && !is_fault(error) && !is_copy_moved(&c))
			fail("a copy back: %s", strerrorname_np(error));
		if (error || c.late || is_copy_moved(&c))
			copied_in_part = true;
		else
			check_copied(&c);
		set_in_place(&c, false);
		programs_saved++;
	}
	for (i = 0; i < COPIES; i++)
		free(c.texts[i].data);
}

static void copier(void *unused)
{
	(void)unused;
	while (!sched_is_over()) {
		copy_once();
		kernel_process_ends();
		sched_sleep((int64_t)rnd_below(rnd_one_in(2) ? 5000 : 50) * MS);
	}
	end_program();
}

/* ---- movers ---- */

static void begin_move(struct named *n)
{
	n->changes++;
	moving++;
}

static void end_move(struct named *n)
{
	n->changes++;
	moving--;
}

static void judge_move(const char *what, int error)
{
	if (!error) {
		programs_moved++;
		return;
	}
	if (is_fault(error))
		return;
	fail("%s: %s", what, strerrorname_np(error));
}

static void move_clip(unsigned clip)
{
	char from_path[PATH], to_path[PATH], name[64];
	struct clip *c = &clips[clip];
	struct stat st;
	int error;

	begin_move(&c->is);
	snprintf(name, sizeof(name), "clip_%u", ++name_serial);
	path_of_clip(clip, from_path);
	snprintf(to_path, sizeof(to_path), "%s/%s/%s", folder.name, files[c->file].name, name);
	error = k_rename(from_path, to_path, 0);
	trace("moved %s to %s: %s", from_path, to_path, error ? strerrorname_np(error) : "fine");
	/*
	 * The clip has its new name after an error, too, if a second fault hit the exchange that
	 * should have taken the new version of the file back.
	 */
	if (!error || (is_fault(error) && !k_stat(to_path, &st)))
		snprintf(c->is.name, sizeof(c->is.name), "%s", name);
	end_move(&c->is);
	judge_move("rename of a clip", error);
}

static void move_file(unsigned file)
{
	char from_path[PATH], to_path[PATH], name[64];
	int error;

	begin_move(&files[file]);
	snprintf(name, sizeof(name), "file_%u.canm", ++name_serial);
	snprintf(from_path, sizeof(from_path), "%s/%s", folder.name, files[file].name);
	snprintf(to_path, sizeof(to_path), "%s/%s", folder.name, name);
	error = k_rename(from_path, to_path, 0);
	trace("moved %s to %s: %s", from_path, to_path, error ? strerrorname_np(error) : "fine");
	if (!error)
		snprintf(files[file].name, sizeof(files[file].name), "%s", name);
	end_move(&files[file]);
	judge_move("rename of a file", error);
}

static void move_folder(void)
{
	char name[64];
	int error;

	begin_move(&folder);
	snprintf(name, sizeof(name), "object/e%u", ++name_serial);
	error = k_rename(folder.name, name, 0);
	trace("moved %s to %s: %s", folder.name, name, error ? strerrorname_np(error) : "fine");
	if (!error)
		snprintf(folder.name, sizeof(folder.name), "%s", name);
	end_move(&folder);
	judge_move("rename of a folder", error);
}

static void remove_name(void *path, const char *name, unsigned type)
{
	char inner[PATH * 2];
	struct stat st;
	int error;

	(void)type;
	snprintf(inner, sizeof(inner), "%s/%s", (char *)path, name);
	if (strlen(inner) >= PATH)
		return;
	error = k_stat(inner, &st);
	if (!error && S_ISDIR(st.st_mode)) {
		k_list(inner, remove_name, inner);
		error = k_rmdir(inner);
	} else if (!error) {
		error = k_unlink(inner);
	}
	if (error && error != ENOENT && error != ENOTDIR && error != ENOTEMPTY && !is_fault(error))
		judge("rm -r", error, 0, &(struct moment){.moves = true});
}

/* Removes a clip whose names are no longer needed, as rm -r does. */
static void remove_clip(unsigned clip)
{
	char path[PATH];
	unsigned left = 0;
	int error;

	for (unsigned i = 0; i < clip_count; i++)
		left += clips[i].file < copied_file && !clips[i].gone;
	if (left < 3)
		return;
	begin_move(&clips[clip].is);
	clips[clip].gone = true;
	path_of_clip(clip, path);
	trace("rm -r %s", path);
	k_list(path, remove_name, path);
	error = k_rmdir(path);
	trace("removed %s: %s", path, error ? strerrorname_np(error) : "fine");
	moving--; /* and the name's count of changes stays odd */
	if (error && error != ENOENT && error != ENOTDIR && error != ENOTEMPTY)
		judge_move("rmdir of a clip", error);
	else
		programs_moved++;
}

static void mover(void *unused)
{
	(void)unused;
	while (!sched_is_over()) {
		unsigned clip = bones[any_saved_bone()].clip;

		switch (rnd_below(7)) {
		case 6:
			remove_clip(clip);
			break;
		case 0:
			move_folder();
			break;
		case 1:
			move_file(rnd_below(copied_file));
			break;
		default:
			move_clip(clip);
			break;
		}
		sched_sleep((int64_t)rnd_below(rnd_one_in(2) ? 3000 : 100) * MS);
	}
	end_program();
}

/* ---- clips that are made of folders ---- */

/* A folder that is being filled to become a clip; the folders above it may be moved at any time. */
struct filled {
	unsigned file, numbers[BONES];
	char name[64];
	unsigned changes; /* `changes` of all names above the folder, when the copying began */
	/*
	 * filling was interrupted by a pause, and the folder became a clip of the texts that it had
	 */
	bool late;
	struct text texts[BONES];
};

static unsigned changes_above(unsigned file)
{
	return folder.changes + files[file].changes;
}

static void path_of_filled(const struct filled *f, const char *below, char path[PATH])
{
	snprintf(path, PATH, "%s/%s/%s%s", folder.name, files[f->file].name, f->name, below);
}

static bool is_excused(const struct filled *f)
{
	return f->late || (f->changes & 1) || changes_above(f->file) != f->changes;
}

static int write_filled(const struct filled *f, unsigned bone)
{
	struct saving s = {.text = f->texts[bone]};
	char below[80], path[PATH];

	snprintf(below, sizeof(below), "/bones/%s.csv", bone_names[bone]);
	path_of_filled(f, below, path);
	return open_and_write(&s, path, O_WRONLY | O_CREAT | O_EXCL, false);
}

/* Fills the folder with the system calls of cp -r: mkdir, and writes. */
static int fill(const struct filled *f)
{
	char path[PATH];
	int error;

	path_of_filled(f, "", path);
	error = k_mkdir(path, 0755);
	path_of_filled(f, "/bones", path);
	if (!error)
		error = k_mkdir(path, 0755);
	for (unsigned i = 0; i < BONES && !error; i++)
		error = write_filled(f, i);
	return error;
}

static bool is_clip(const struct filled *f)
{
	char path[PATH];
	struct stat st;

	path_of_filled(f, "/clip.json", path);
	return k_stat(path, &st) == 0;
}

/* Checks that all texts are in the folder. */
static void check_whole(const struct filled *f)
{
	bool is;

	for (unsigned i = 0; i < BONES; i++) {
		long number = FIRST_NUMBER + (long)f->numbers[i] - 1;

		while (moving)
			sched_sleep(10 * MS);
		sched_hold(); /* no step, so that the path stays valid */
		is = is_on_disk(f->file, number);
		sched_resume();
		if (!is)
			fail("%s was made without %ld", f->name, number);
	}
}

/* Adds the finished clip to the table of clips. Its written texts count as saved. */
static void add_clip(const struct filled *f, unsigned from)
{
	struct clip *c = &clips[clip_count];

	snprintf(c->is.name, sizeof(c->is.name), "%s", f->name);
	c->file = f->file;
	for (unsigned i = 0; i < BONES; i++) {
		struct bone *b = &bones[bone_count];

		*b = (struct bone){.clip = clip_count, .name = bone_names[i]};
		b->views[CSV].first = strdup(bones[from + i].views[CSV].first);
		b->views[JSON].first = strdup("");
		saves[f->numbers[i]] = (struct save){.bone = bone_count++,
						     .begun = sched_step(),
						     .ended = sched_step(),
						     .how = SAVED};
	}
	clip_count++;
	programs_moved++;
}

static void make_clip(void)
{
	unsigned from = any_saved_bone() / BONES * BONES;
	struct filled f = {.file = clips[bones[from].clip].file};
	int64_t delay = kernel_delay();
	int error = 0;

	if (clip_count == CLIPS_MAX || save_count + BONES > SAVES_MAX)
		return;
	f.changes = changes_above(f.file);
	snprintf(f.name, sizeof(f.name), "clip_%u", ++name_serial);
	for (unsigned i = 0; i < BONES; i++) {
		f.numbers[i] = save_count;
		saves[save_count++] = (struct save){.bone = BONES_NONE, .how = MAYBE};
		renumber(CSV, bones[from + i].views[CSV].first, FIRST_NUMBER + f.numbers[i] - 1,
			 &f.texts[i]);
	}
	error = fill(&f);
	f.late = is_pause(delay);
	if (rnd_one_in(2))
		kernel_process_ends(); /* the end of the process is the end of filling */
	trace("filled %s: %s", f.name, error ? strerrorname_np(error) : "fine");
	if (error && !is_fault(error) && !is_excused(&f))
		fail("a clip cannot be filled: %s", strerrorname_np(error));
	for (unsigned tries = 0; !error && tries < 4 && !is_clip(&f); tries++)
		sched_sleep(5 * SECOND);
	if (!error && !f.late && is_clip(&f)) {
		check_whole(&f);
		add_clip(&f, from);
	} else if (!error && !sim.faults && !occupied && !is_excused(&f)) {
		fail("%s has not become a clip", f.name);
	}
	for (unsigned i = 0; i < BONES; i++)
		free(f.texts[i].data);
}

static void filler(void *unused)
{
	(void)unused;
	while (!sched_is_over()) {
		sched_sleep((int64_t)rnd_below(3000) * MS);
		make_clip();
	}
	end_program();
}

/* ---- other programs in SOURCE ---- */

static void read_bytes(struct text *out)
{
	char path[PATH * 2], data[4096];
	ssize_t got;
	int fd;

	snprintf(path, sizeof(path), "%s/%s/%s", source_dir, folder.name, files[outside.file].name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		fail("%s: %s", path, strerror(errno));
	while ((got = read(fd, data, sizeof(data))) > 0)
		add(out, data, (size_t)got);
	close(fd);
}

static void put_number(struct text *file, long from, long to)
{
	const float was = (float)from, now = (float)to;
	char *at = file->data, *end = file->data + file->size;

	while ((at = memmem(at, (size_t)(end - at), &was, sizeof(was))))
		memcpy(at, &now, sizeof(now));
}

/*
 * Writes a file in SOURCE: in place, unless a lease of another process prevents that, or by a
 * rename onto it.
 */
static void write_outside(int dir, const char *name, const struct text *bytes)
{
	const char *other = "outside.new";
	int fd = -1;

	if (rnd_one_in(2))
		fd = openat(dir, name, O_WRONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd >= 0)
		other = NULL;
	else
		fd = openat(dir, other, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (fd < 0 || write(fd, bytes->data, bytes->size) != (ssize_t)bytes->size)
		fail("%s in SOURCE: %s", name, strerror(errno));
	close(fd);
	if (other && renameat(dir, other, dir, name) != 0)
		fail("%s in SOURCE: %s", name, strerror(errno));
}

/*
 * Gives a bone another number in SOURCE, and leaves the rest as it is: if the mount stores a
 * version at the same time, the file must have both changes. No other program writes meanwhile, but
 * a save may be on its way.
 */
static void save_outside(void)
{
	struct text bytes = {NULL, 0};
	char path[PATH * 2];
	long number;
	int dir;

	while (folder.changes & 1)
		sched_sleep(10 * MS);
	if (save_count == SAVES_MAX)
		return;
	sched_hold(); /* no step, so that the path stays valid and the number is not taken */
	number = (long)FIRST_NUMBER + save_count - 1;
	snprintf(path, sizeof(path), "%s/%s", source_dir, folder.name);
	dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0)
		fail("%s: %s", path, strerror(errno));
	read_bytes(&bytes);
	put_number(&bytes, outside.number, number);
	write_outside(dir, files[outside.file].name, &bytes);
	close(dir);
	trace("writes %ld in SOURCE", number);
	saves[save_count++] = (struct save){
		.bone = outside.bone, .begun = sched_step(), .ended = sched_step(), .how = SAVED};
	outside.number = number;
	bones[outside.bone].begun++;
	sched_resume();
	free(bytes.data);
}

/*
 * Writes in SOURCE, and reads back through the mount: an open that follows the write must show it.
 */
static void putter(void *unused)
{
	(void)unused;
	while (!sched_is_over()) {
		struct text text = {NULL, 0};

		save_outside();
		if (rnd_one_in(2))
			sched_sleep((int64_t)rnd_below(5000) * MS);
		read_bone(outside.bone, (enum form)rnd_below(FORMS), (enum way)rnd_below(WAYS),
			  &text);
		free(text.data);
		sched_sleep((int64_t)rnd_below(500) * MS);
	}
	end_program();
}

static void outsider(void *unused)
{
	char path[PATH * 2];
	unsigned made = 0;

	(void)unused;
	while (!sched_is_over()) {
		const char *file = files[rnd_below(file_count)].name;
		int fd;

		snprintf(path, sizeof(path), "%s/%s/%s", source_dir, folder.name, file);
		switch (rnd_below(4)) {
		case 0:
			chmod(path, rnd_one_in(2) ? 0644 : 0664);
			break;
		case 1:
			utimensat(AT_FDCWD, path, NULL, 0);
			break;
		case 2:
			snprintf(path, sizeof(path), "%s/%s/notes_%u.txt", source_dir, folder.name,
				 made++);
			fd = open(path, O_WRONLY | O_CREAT, 0644);
			if (fd >= 0) {
				(void)!write(fd, "notes\n", 6);
				close(fd);
			}
			break;
		default:
			snprintf(path, sizeof(path), "%s/%s/notes_%u.txt", source_dir, folder.name,
				 rnd_below(made + 1));
			unlinkat(AT_FDCWD, path, 0);
			break;
		}
		sched_sleep((int64_t)rnd_below(2000) * MS);
	}
	end_program();
}

/* Locks the state directory, or has a file open for writing, sometimes longer than a save waits. */
static void occupy(void)
{
	bool locks = rnd_one_in(2);
	char path[PATH * 2];
	int fd;

	if (locks)
		snprintf(path, sizeof(path), "%s/.animfs/lock", source_dir);
	else
		snprintf(path, sizeof(path), "%s/%s/%s", source_dir, folder.name,
			 files[rnd_below(file_count)].name);
	fd = open(path, (locks ? O_RDWR : O_WRONLY | O_NONBLOCK) | O_CLOEXEC);
	if (fd < 0 || (locks && flock(fd, LOCK_EX | LOCK_NB) != 0))
		locks = false;
	trace("%s is %s", path, fd < 0 ? "left alone" : locks ? "locked" : "open");
	sched_sleep((int64_t)rnd_below(2500) * MS);
	if (fd >= 0)
		close(fd);
	trace("%s is free", path);
}

static void occupier(void *unused)
{
	(void)unused;
	while (!sched_is_over()) {
		occupy();
		sched_sleep((int64_t)rnd_below(5000) * MS);
	}
	end_program();
}

/* ---- begin and end ---- */

int sim_make_game(int argc, char **argv);

void programs_make_source(const char *source)
{
	char *argv[] = {"make_game",  (char *)(uintptr_t)source,
			"--files",    "4",
			"--clips",    "2",
			"--bones",    "3",
			"--frames",   "90",
			"--version",  "512",
			"--plain",    "1",
			"--skeleton", "0",
			NULL};

	if (sim_make_game((int)(sizeof(argv) / sizeof(argv[0])) - 1, argv) != 0)
		fail("make_game");
}

static void found_clip(void *file, const char *name, unsigned type)
{
	unsigned number = *(unsigned *)file;

	if (type != DT_DIR || clip_count == CLIPS_MAX || name[0] == '.')
		return;
	snprintf(clips[clip_count].is.name, sizeof(clips[0].is.name), "%s", name);
	clips[clip_count].file = number;
	for (size_t i = 0; i < BONES; i++)
		bones[bone_count++] = (struct bone){.clip = clip_count, .name = bone_names[i]};
	clip_count++;
}

static void found_file(void *unused, const char *name, unsigned type)
{
	size_t length = strlen(name);

	(void)unused;
	(void)type;
	if (length > 5 && strcmp(name + length - 5, ".canm") == 0 && file_count < FILES_MAX)
		snprintf(files[file_count++].name, sizeof(files[0].name), "%s", name);
}

static void read_first_text(unsigned bone, enum form form)
{
	struct text text = {NULL, 0};
	struct kfile *file;
	char path[PATH];
	int error;

	path_of_view(bone, form, path);
	error = k_open(path, O_RDONLY, 0, &file);
	if (!error) {
		error = read_all(file, WHOLE, &text);
		k_close(file);
	}
	if (error || !text.data)
		fail("%s: %s", path, strerror(error));
	bones[bone].views[form].first = text.data;
}

static void start(const char *kind, unsigned count, void (*run)(void *))
{
	for (unsigned i = 0; i < count; i++) {
		char name[24];

		snprintf(name, sizeof(name), "%s%u", kind, i + 1);
		running++;
		sched_spawn(name, run, (void *)(uintptr_t)i, false);
	}
}

/* Chooses a bone whose number is stored in its file as it is, for save_outside. */
static void prepare_outside(void)
{
	struct moment since;

	while (!is_saved_outside(outside.bone))
		outside.bone++;
	since = moment_of(outside.bone, CSV);
	save_bone(outside.bone, &since, bones[outside.bone].views[CSV].first);
	outside.number = FIRST_NUMBER;
	sched_sleep(5 * SECOND);
}

void programs_start(const char *source)
{
	source_dir = source;
	if (k_list(folder.name, found_file, NULL) != 0 || !file_count)
		fail("%s cannot be listed", folder.name);
	outside.file = file_count - 1;
	copied_file = file_count - 2;
	for (unsigned i = 0; i < file_count; i++) {
		char path[PATH];

		snprintf(path, sizeof(path), "%s/%s", folder.name, files[i].name);
		if (k_list(path, found_clip, &i) != 0)
			fail("%s cannot be listed", path);
	}
	for (unsigned i = 0; i < bone_count; i++)
		for (enum form form = CSV; form < FORMS; form++)
			read_first_text(i, form);
	prepare_outside();
	disk_set_faults(sim.faults);
	occupied = rnd_one_in(3);
	start("occupier", occupied, occupier);
	start("saver", 1 + rnd_below(4), saver);
	start("reader", 1 + rnd_below(4), reader);
	start("lister", rnd_below(2), lister);
	start("mover", rnd_below(2), mover);
	start("filler", rnd_below(2), filler);
	start("outsider", rnd_below(2), outsider);
	start("putter", rnd_below(2), putter);
	start("copier", rnd_below(2), copier);
}

void programs_await(void)
{
	while (running)
		sched_wait(&running, sched_now() + SECOND, "programs");
}

static void check_view(unsigned bone, enum form form)
{
	struct view *v = &bones[bone].views[form];
	struct text text = {NULL, 0};
	long number;
	int error;

	v->last_in_place = 0;
	v->absent = v->broken = false;
	error = read_bone(bone, form, WHOLE, &text);
	if (error)
		fail("bone %u cannot be read at the end: %s", bone, strerrorname_np(error));
	number = number_of(bone, form, &text);
	if (is_part_of_copy(bone)) {
		free(text.data);
		return;
	}
	if (number < 0)
		fail("bone %u is none of its texts at the end", bone);
	check_number("the end", number, bone, sched_step() + 1);
	if (bone == outside.bone && number != outside.number)
		fail("bone %u shows %ld, and others have put %ld there", bone, number,
		     outside.number);
	if (number && !is_on_disk(clips[bones[bone].clip].file, number))
		fail("bone %u shows %ld at the end, and its file does not have it", bone, number);
	free(text.data);
}

/* ---- history ---- */

static void add_file(int folder_fd, const char *name, struct text *out)
{
	int fd = openat(folder_fd, name, O_RDONLY | O_CLOEXEC);
	char data[4096];
	ssize_t got;

	if (fd < 0)
		fail("%s: %s", name, strerror(errno));
	while ((got = read(fd, data, sizeof(data))) > 0)
		add(out, data, (size_t)got);
	close(fd);
}

/* Adds the bytes of all files below a folder of SOURCE. */
static void add_folder(int above, const char *name, struct text *out)
{
	int fd = openat(above, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;

	if (!dir)
		fail("%s: %s", name, strerror(errno));
	while ((entry = readdir(dir))) {
		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		if (entry->d_type == DT_DIR)
			add_folder(fd, entry->d_name, out);
		else if (entry->d_type == DT_REG)
			add_file(fd, entry->d_name, out);
	}
	closedir(dir);
}

/*
 * Returns whether the save was replaced in the same batch. A batch is one version: if a program
 * saves a bone in two views, the last save is kept.
 */
static bool is_said_again(unsigned index)
{
	const struct save *s = &saves[index];

	for (unsigned i = index + 1; i < save_count; i++) {
		if (saves[i].process == s->process && saves[i].bone == s->bone &&
		    saves[i].form != s->form)
			return true;
	}
	return false;
}

/*
 * Checks that every save can be restored: its number is in the file, or in an old version of it.
 * Exceptions: versions that could not be kept since the disk failed, and files that other programs
 * replaced in SOURCE.
 */
static void check_history(void)
{
	struct text all = {NULL, 0};

	add_folder(AT_FDCWD, source_dir, &all);
	for (unsigned i = 1; i < save_count; i++) {
		const struct save *s = &saves[i];
		const float value = (float)(FIRST_NUMBER + i - 1);

		if (s->how == SAVED && !s->crossed && s->bone != outside.bone &&
		    !is_said_again(i) && !memmem(all.data, all.size, &value, sizeof(value)))
			fail("save %u of bone %u was replaced, and is in no old version",
			     FIRST_NUMBER + i - 1, s->bone);
	}
	free(all.data);
}

void programs_check(void)
{
	if (!sim.faults)
		check_history();
	for (unsigned i = 0; i < bone_count; i++) {
		for (enum form form = CSV; form < FORMS && !clips[bones[i].clip].gone; form++)
			check_view(i, form);
	}
}

void programs_walk(void)
{
	char top[PATH] = "";

	k_list(top, visit, top);
}

void programs_end(void)
{
	for (unsigned i = 0; i < bone_count; i++) {
		for (enum form form = CSV; form < FORMS; form++)
			free(bones[i].views[form].first);
	}
}
