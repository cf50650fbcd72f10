/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * export_site.c - the index is made from every file.html in the folder, so that several exports can
 * fill it. Its data, which player/data.js reads, begin like those of file.html, with 'I' and empty
 * names, followed by:
 *
 *	u32 files
 *	files       u8 format, text path, text format, u32 clips, text the clips' names, each ended
 *	            by LF, and one of the clips as in file.html: the first with poses, else the
 *	            first; with fewer poses if the index would be too large
 */
#include "export_site.h"
#include "export_folder.h"

#include "disk/dirfd.h"
#include "view/base64.h"
#include "view/own_digest.h"
#include "view/page.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define PAGE_NAME "file.html"
#define PAGE_MAX ((size_t)4 << 20)
#define NAMES_MAX 60000
#define INDEX_MAX ((size_t)3 << 20) /* target size of the data, reached by storing fewer poses */
#define DATA_BEGIN "id=\"data\">"
#define PLACE_SIZE 6
#define PART_SIZE 6
#define BOX_SIZE 24

/* ---- the pages that are there ---- */

struct site_file {
	const char *path, *format, *names;
	unsigned bits;
	uint32_t clips;
	/* The chosen clip: its bytes before the number of poses, and after that of joints. */
	struct bytes head, tail;
	size_t table; /* size of the part of `tail` before the joints' places */
	unsigned poses, joints;
};

struct site {
	struct arena arena;
	struct site_file *files;
	size_t count, room;
	bool failed;
};

static char *export_site_copy_text(struct arena *arena, struct reader *r)
{
	const size_t size = read_u16(r), at = r->at;
	char *out;

	if (r->bad || !bytes_hold(r->src, at, size, 1)) {
		r->bad = true;
		return NULL;
	}
	out = arena_alloc(arena, size + 1, 1);
	if (out)
		memcpy(out, r->src.data + at, size);
	r->at += size;
	return out;
}

static void skip_bytes(struct reader *r, size_t size)
{
	if (r->bad || !bytes_hold(r->src, r->at, size, 1))
		r->bad = true;
	else
		r->at += size;
}

static void export_site_copy_bytes(struct arena *arena, struct bytes from, size_t begin, size_t end,
				   struct bytes *out)
{
	uint8_t *data = arena_alloc(arena, end - begin, 1);

	if (!data)
		return;
	memcpy(data, from.data + begin, end - begin);
	*out = (struct bytes){data, end - begin};
}

/* Skips what is between a clip's number of joints and their places; returns its size. */
static size_t skip_table(struct reader *r, bool stills, unsigned joints)
{
	const size_t begin = r->at;

	skip_bytes(r, (stills ? (size_t)PART_SIZE * read_u8(r) : joints) + BOX_SIZE);
	return r->at - begin;
}

static void export_site_add_name(struct reader *r, size_t length, struct buf *names)
{
	if (!r->bad && bytes_hold(r->src, r->at, length, 1) && names->size + length < NAMES_MAX) {
		buf_add(names, r->src.data + r->at, length);
		buf_char(names, '\n');
	}
	skip_bytes(r, length);
}

/* Reads a clip of file.html (view/file_html.c). Keeps the first with poses, else the first. */
static void export_site_read_clip(struct reader *r, bool stills, struct site_file *file,
				  struct buf *names, struct arena *arena)
{
	const size_t begin = r->at;
	bool keep = !file->head.data;
	size_t places, numbers;
	unsigned poses, joints;

	export_site_add_name(r, read_u16(r), names);
	skip_bytes(r, 4 + 8 + 1 + 4 + 4);
	numbers = r->at;
	poses = read_u8(r);
	joints = read_u8(r);
	keep = keep || (poses > 0 && file->poses == 0);
	if (keep && !r->bad) {
		export_site_copy_bytes(arena, r->src, begin, numbers, &file->head);
		file->poses = poses;
		file->joints = joints;
	}
	if (poses == 0)
		return;
	places = r->at;
	file->table = keep ? skip_table(r, stills, joints) : file->table;
	if (!keep)
		skip_table(r, stills, joints);
	skip_bytes(r, (size_t)poses * joints * PLACE_SIZE);
	if (keep && !r->bad)
		export_site_copy_bytes(arena, r->src, places, r->at, &file->tail);
}

static bool read_data(struct bytes data, struct site_file *file, struct arena *arena)
{
	struct reader r = reader_at(data, 0);
	struct buf names = BUF_INIT;
	const unsigned kind = read_u8(&r), layout = read_u8(&r);
	uint32_t shown;

	if ((kind != 'F' && kind != 'G') || layout != 1)
		return false;
	file->bits = read_u8(&r);
	export_site_copy_text(arena, &r);
	file->format = export_site_copy_text(arena, &r);
	export_site_copy_text(arena, &r);
	file->clips = read_u32(&r);
	shown = read_u32(&r);
	for (uint32_t i = 0; i < shown && !r.bad; i++)
		export_site_read_clip(&r, kind == 'G', file, &names, arena);
	buf_char(&names, '\0');
	if (!names.failed && !r.bad) {
		char *copy = arena_alloc(arena, names.size, 1);

		if (copy)
			memcpy(copy, names.data, names.size);
		file->names = copy;
	}
	buf_release(&names);
	return !r.bad && shown > 0 && file->names;
}

static bool read_page(struct bytes page, struct site_file *file, struct arena *arena)
{
	const uint8_t *begin, *end;
	struct bytes data = {NULL, 0};
	uint8_t *bytes;

	if (!own_digest_valid(page))
		return false;
	begin = memmem(page.data, page.size, DATA_BEGIN, strlen(DATA_BEGIN));
	if (!begin)
		return false;
	begin += strlen(DATA_BEGIN);
	end = memchr(begin, '<', (size_t)(page.data + page.size - begin));
	if (!end)
		return false;
	bytes = malloc((size_t)(end - begin) / 4 * 3 + 3);
	if (!bytes)
		return false;
	data.data = bytes;
	if (!base64_read((struct bytes){begin, (size_t)(end - begin)}, bytes, &data.size) ||
	    !read_data(data, file, arena))
		data.size = 0;
	free(bytes);
	return data.size > 0;
}

static void add_page(struct site *s, int folder, const char *path)
{
	struct buf text = BUF_INIT;
	struct site_file *files;
	struct stat st;
	size_t size = strlen(path) + 1;
	char *copy;

	files = array_room(s->files, s->count, &s->room, sizeof(*files));
	copy = arena_alloc(&s->arena, size, 1);
	if (files && copy && dirfd_read(folder, PAGE_NAME, PAGE_MAX, &text, &st) == 0) {
		s->files = files;
		memcpy(copy, path, size);
		files[s->count] = (struct site_file){.path = copy};
		s->count += read_page(buf_bytes(&text), &files[s->count], &s->arena);
	}
	s->failed |= !files || !copy || text.failed;
	buf_release(&text);
}

/* Finds file.html in all folders below, except those of clips. */
static void find_pages(struct site *s, int root, const char *path)
{
	struct dirent *entry;
	DIR *dir;

	if (dirfd_list(root, path, &dir) != 0)
		return;
	if (*path && faccessat(dirfd(dir), PAGE_NAME, R_OK, AT_SYMLINK_NOFOLLOW) == 0) {
		add_page(s, dirfd(dir), path);
		closedir(dir);
		return;
	}
	while ((entry = dirfd_next(dir))) {
		char below[PATH_MAX];

		if ((entry->d_type == DT_DIR || entry->d_type == DT_UNKNOWN) &&
		    (size_t)snprintf(below, sizeof(below), "%s%s%s", path, *path ? "/" : "",
				     entry->d_name) < sizeof(below))
			find_pages(s, root, below);
	}
	closedir(dir);
}

static int export_site_by_path(const void *a, const void *b)
{
	return strcmp(((const struct site_file *)a)->path, ((const struct site_file *)b)->path);
}

/* ---- the index ---- */

static size_t thumbnail_size(const struct site_file *f, unsigned most)
{
	const size_t poses = f->poses < most ? f->poses : most;

	return poses ? f->table + poses * f->joints * PLACE_SIZE : 0;
}

static unsigned choose_poses(const struct site *s)
{
	static const unsigned steps[] = {24, 12, 6, 3, 1, 0};
	size_t i = 0;

	for (; steps[i] > 0; i++) {
		size_t size = 0;

		for (size_t f = 0; f < s->count; f++)
			size += thumbnail_size(&s->files[f], steps[i]);
		if (size <= INDEX_MAX)
			break;
	}
	return steps[i];
}

static void export_site_add_thumbnail(struct page *p, const struct site_file *f, unsigned most)
{
	const unsigned poses = f->poses < most ? f->poses : most;
	const size_t row = (size_t)f->joints * PLACE_SIZE;

	page_add(p, f->head.data, f->head.size);
	page_u8(p, poses);
	page_u8(p, f->joints);
	if (poses == 0)
		return;
	page_add(p, f->tail.data, f->table);
	for (unsigned i = 0; i < poses; i++)
		page_add(p, f->tail.data + f->table + i * f->poses / poses * row, row);
}

static void write_index(const struct site *s, struct buf *out)
{
	const unsigned poses = choose_poses(s);
	struct page p;

	page_begin(&p, out);
	page_u8(&p, 'I');
	page_u8(&p, 1);
	page_u8(&p, 0);
	for (unsigned i = 0; i < 3; i++)
		page_text(&p, "");
	page_u32(&p, (uint32_t)s->count);
	for (size_t i = 0; i < s->count; i++) {
		const struct site_file *f = &s->files[i];

		page_u8(&p, f->bits);
		page_text(&p, f->path);
		page_text(&p, f->format);
		page_u32(&p, f->clips);
		page_text(&p, f->names);
		export_site_add_thumbnail(&p, f, poses);
	}
	page_end(&p);
}

/* Replaces the page atomically. */
static bool put_page(int dir, const char *name, struct bytes text, struct err *err)
{
	const struct timespec now = {.tv_nsec = UTIME_NOW};
	char part[64];
	int error;

	snprintf(part, sizeof(part), ".animfs-part-%s~", name);
	error = export_put_file(dir, part, text, &now);
	if (!error && renameat(dir, part, dir, name) != 0)
		error = errno;
	if (error)
		unlinkat(dir, part, 0);
	return !error || err_system(err, error, name);
}

bool export_site(int dir, struct err *err)
{
	struct site s = {.arena = ARENA_INIT};
	struct buf own = BUF_INIT, index = BUF_INIT;
	bool fine;

	find_pages(&s, dir, "");
	if (s.count)
		qsort(s.files, s.count, sizeof(*s.files), export_site_by_path);
	write_index(&s, &own);
	fine = !s.failed && !s.arena.failed && !own.failed &&
	       page_shared(buf_bytes(&own), 0, &index) && !index.failed;
	fine = (fine || err_memory(err)) &&
	       put_page(dir, "player.js", bytes_of(page_script), err) &&
	       put_page(dir, "player.css", bytes_of(page_style), err) &&
	       put_page(dir, "index.html", buf_bytes(&index), err);
	buf_release(&own);
	buf_release(&index);
	free(s.files);
	arena_release(&s.arena);
	return fine;
}
