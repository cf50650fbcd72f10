/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * view.c - `animfs view`: writes the pages of a file, or of one clip, into a temporary folder, and
 * opens them in a browser. Beside each page are the tables of the bones, to which it links.
 */
#include "cmd.h"
#include "export_folder.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

/* limit of bones; for files with more, no tables are written */
#define TABLES_MAX 2000

struct viewing {
	struct target *target;
	view_set listed;
	struct err *err;
};

/* A folder of the tree whose views are being written, and the new folder for them. */
struct viewing_level {
	const struct viewing *v;
	int fd;
};

static bool view_write_place(void *closure, const char *name, const struct place *place);

static bool write_view(const struct viewing_level *l, const char *name, const struct place *place)
{
	const struct timespec now = {.tv_nsec = UTIME_NOW};
	struct buf text = BUF_INIT;
	int error = tree_render(&l->v->target->tree, place, &text);

	if (!error)
		error = export_put_file(l->fd, name, buf_bytes(&text), &now);
	buf_release(&text);
	return !error || err_system(l->v->err, error, name);
}

/* Writes the views of a folder of the tree into a new folder. */
static bool view_write_folder(const struct viewing_level *above, const char *name,
			      const struct place *place)
{
	struct viewing_level l = {above->v, -1};
	int error = export_make_folders(above->fd, name, &l.fd);
	bool fine;

	if (error)
		return err_system(l.v->err, error, name);
	fine = tree_list(&l.v->target->tree, place, l.v->listed, view_write_place, &l) ||
	       err_memory(l.v->err);
	close(l.fd);
	return fine;
}

static bool view_write_place(void *closure, const char *name, const struct place *place)
{
	const struct viewing_level *l = closure;

	return place->kind == PLACE_VIEW ? write_view(l, name, place)
					 : view_write_folder(l, name, place);
}

/* ---- the page ---- */

static const struct clip *view_clip_of(const struct target *t)
{
	const struct anim *a = t->version->anim;

	if (t->place.kind == PLACE_CLIP)
		return &a->clips[t->place.clip];
	return a->clip_count == 1 ? &a->clips[0] : NULL;
}

static bool choose_views(const struct target *t, view_set *listed, struct err *err)
{
	const struct anim *a = t->version->anim;
	uint64_t tables = 0;

	for (uint32_t i = 0; i < a->clip_count; i++)
		tables += a->clips[i].track_count;
	if (t->place.kind == PLACE_CLIP || tables <= TABLES_MAX)
		return view_set_parse("html,csv", listed, err);
	fprintf(stderr, "animfs view: no tables of %llu bones; FILE/CLIP has those of a clip\n",
		(unsigned long long)tables);
	return view_set_parse("html", listed, err);
}

/* Finds the path of the page to open. */
static bool find_page(const struct target *t, const char *folder, char page[PATH_MAX],
		      struct err *err)
{
	const struct clip *clip = view_clip_of(t);
	struct place ignored;
	char inside[PATH_MAX];
	int size;

	if (clip)
		snprintf(inside, sizeof(inside), "%s/clip.html", clip->label);
	else
		snprintf(inside, sizeof(inside), "file.html");
	if (!tree_walk(&t->tree, inside, &ignored)) {
		tree_explain(&t->tree, inside, err);
		return err_set(err, ERR_TEXT, "there is nothing to play in it");
	}
	size = snprintf(page, PATH_MAX, "%s/%s/%s", folder, t->file_name, inside);
	return size < PATH_MAX || err_system(err, ENAMETOOLONG, inside);
}

static bool write_pages(struct target *t, int fd, struct err *err)
{
	struct viewing v = {.target = t, .err = err};
	struct viewing_level file = {&v, -1}, top = {&v, fd};
	const struct place all = {PLACE_FILE, NULL, 0, 0, 0};
	int error;
	bool fine;

	if (!choose_views(t, &v.listed, err))
		return false;
	if (t->place.kind != PLACE_CLIP)
		return view_write_folder(&top, t->file_name, &all);
	error = export_make_folders(fd, t->file_name, &file.fd);
	if (error)
		return err_system(err, error, t->file_name);
	fine = view_write_folder(&file, t->version->anim->clips[t->place.clip].label, &t->place);
	close(file.fd);
	return fine;
}

/* ---- the browser ---- */

static bool open_page(char *page, struct err *err)
{
	char program[] = "xdg-open";
	char *const words[] = {program, page, NULL};
	pid_t child;
	int status, error = posix_spawnp(&child, program, NULL, NULL, words, environ);

	if (!error && waitpid(child, &status, 0) < 0)
		error = errno;
	if (error)
		return err_system(err, error, program);
	return (WIFEXITED(status) && WEXITSTATUS(status) == 0) ||
	       err_set(err, ERR_SYSTEM, "xdg-open found no program for it");
}

static bool view_make_folder(char folder[PATH_MAX], int *fd, struct err *err)
{
	const char *above = getenv("TMPDIR");

	snprintf(folder, PATH_MAX, "%s/animfs-view.XXXXXX", above && *above ? above : "/tmp");
	if (!mkdtemp(folder))
		return err_system(err, errno, folder);
	*fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return *fd >= 0 || err_system(err, errno, folder);
}

/* Returns whether a target is a FILE or FILE/CLIP, which have pages. */
static bool is_shown(const struct target *t, struct err *err)
{
	return t->place.kind == PLACE_FILE || t->place.kind == PLACE_CLIP ||
	       err_set(err, ERR_OPERAND, "expected FILE or FILE/CLIP; animfs cat prints a view");
}

/*
 * Writes the pages of a target, prints the path of the first one (for machines without a browser),
 * and opens it.
 */
static bool view_target(struct target *t, bool no_open, struct err *err)
{
	char folder[PATH_MAX], page[PATH_MAX];
	int fd = -1;
	bool fine = is_shown(t, err) && find_page(t, "", page, err) &&
		    view_make_folder(folder, &fd, err);

	fine = fine && find_page(t, folder, page, err) && write_pages(t, fd, err);
	if (fd >= 0)
		close(fd);
	if (!fine)
		return false;
	puts(page);
	fflush(stdout);
	return no_open || open_page(page, err);
}

static const char usage[] =
	"Usage: animfs view [OPTION]... FILE[/CLIP]\n"
	"Play a clip, or show all clips of a file, in the browser: write their pages and\n"
	"tables into a temporary folder, which stays, print the page's path, and open it\n"
	"with xdg-open.\n"
	"\n"
	"Options:\n"
	"  -n, --no-open           only write the pages, and print where\n" HELP_READS HELP_MAX_TEXT
		HELP_TIMES HELP_BASE HELP_END "\n"
	"Exit status:\n"
	"  0  the page was written and opened\n"
	"  1  there is nothing to play\n"
	"  2  usage or I/O error\n";

int cmd_view(int argc, char **argv)
{
	bool no_open = false;
	const struct command_option own[] = {{"n,no-open", &no_open, NULL}, {NULL, NULL, NULL}};
	struct err err = {.code = ERR_NONE};
	struct command command;
	struct target t;
	int status;

	if (!command_begin(&argc, &argv, &command, own, usage, &status))
		return status;
	status = STATUS_TROUBLE;
	if (!command_operands(&command, argc, argv, 1, 1))
		return command_end(&command, status);
	if (target_open(&t, argv[0], &command, 0)) {
		status = STATUS_FINE;
		if (!view_target(&t, no_open, &err)) {
			command_error(argv[0], &err);
			status = command_status(&err);
		}
	}
	target_release(&t);
	return command_end(&command, status);
}
