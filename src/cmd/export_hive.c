/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "export_hive.h"

#include "disk/dirfd.h"
#include "stamp.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

/* Characters that Hive escapes, besides control characters. */
#define ESCAPED "\"#%'*/:=?\\{[]^\x7f"

void hive_escape(const char *value, struct buf *out)
{
	for (; *value; value++) {
		if ((unsigned char)*value < ' ' || strchr(ESCAPED, *value))
			buf_format(out, "%%%02X", (unsigned char)*value);
		else
			buf_char(out, *value);
	}
}

/* Makes "clip=walk"; false if that is too long for a file name. */
static bool partition_name(const char *column, const char *value, char out[NAME_MAX + 1],
			   struct err *err)
{
	struct buf name = BUF_INIT;
	bool fine;

	buf_format(&name, "%s=", column);
	hive_escape(value, &name);
	buf_char(&name, '\0');
	fine = !name.failed && name.size <= NAME_MAX + 1;
	if (fine)
		memcpy(out, name.data, name.size);
	else if (!name.failed)
		err_system(err, ENAMETOOLONG, (const char *)name.data);
	else
		err_memory(err);
	buf_release(&name);
	return fine;
}

struct part {
	struct folder_export *x;
	enum packing packing;
	int fd;                  /* descriptor of the folder file=... */
	char name[NAME_MAX + 1]; /* name of the table's file */
	struct err *err;
};

static bool export_hive_put_table(struct part *p, int folder, struct bytes text)
{
	struct buf packed = BUF_INIT;
	bool fine = pack_text(p->packing, text, &packed);
	int error =
		fine ? export_put_file(folder, p->name, buf_bytes(&packed), &p->x->mtime) : ENOMEM;

	p->x->bytes += packed.size;
	buf_release(&packed);
	return !error || err_system(p->err, error, p->name);
}

static bool write_table(struct part *p, const struct place *place, const char *clip)
{
	struct buf text = BUF_INIT;
	char name[NAME_MAX + 1];
	bool fine = partition_name("clip", clip, name, p->err);
	int fd = -1, error;

	if (fine) {
		error = tree_render(&p->x->tree, place, &text);
		if (!error)
			error = export_make_folders(p->fd, name, &fd);
		fine = error ? err_system(p->err, error, clip)
			     : export_hive_put_table(p, fd, buf_bytes(&text));
	}
	if (fd >= 0)
		close(fd);
	buf_release(&text);
	return fine;
}

static bool export_hive_write_clip(void *closure, const char *name, const struct place *place)
{
	struct part *p = closure;
	struct place table;

	if (place->kind != PLACE_CLIP || !tree_lookup(&p->x->tree, place, "curves.csv", &table))
		return true;
	if (progress_stopped(p->x->progress))
		return err_system(p->err, EINTR, name);
	return write_table(p, &table, name);
}

static bool write_part(struct part *p, const char *part_name)
{
	const struct place top = {PLACE_FILE, NULL, 0, 0, 0};
	const struct stamp stamp = {.file = p->x->tree.file_name, .made_of = p->x->made_of};
	int error;

	snprintf(p->name, sizeof(p->name), "part.csv%s", packing_suffix(p->packing));
	if (!tree_list(&p->x->tree, &top, 0, export_hive_write_clip, p))
		return false;
	error = stamp_write(p->fd, &stamp);
	return !error || err_system(p->err, error, part_name);
}

/* Replaces the whole folder: it contains no texts that people edit. */
static int replace_folder(int parent, const char *part, const char *name)
{
	if (renameat(parent, part, parent, name) == 0)
		return 0;
	if (errno != ENOTEMPTY && errno != EEXIST)
		return errno;
	if (renameat2(parent, part, parent, name, RENAME_EXCHANGE) != 0) {
		export_remove(parent, name);
		return renameat(parent, part, parent, name) == 0 ? 0 : errno;
	}
	export_remove(parent, part);
	return 0;
}

static bool export_hive_write_file(struct folder_export *x, int parent, const char *name,
				   enum packing packing, struct err *err)
{
	struct part p = {.x = x, .packing = packing, .fd = -1, .err = err};
	struct export_part part;
	int error = export_part_begin(&part, parent, name, x->progress);
	bool fine;

	if (!error)
		error = export_part_folder(&part, &p.fd);
	fine = !error && write_part(&p, name);
	if (p.fd >= 0)
		close(p.fd);
	if (fine)
		error = replace_folder(parent, part.name, name);
	export_part_end(&part);
	return error ? err_system(err, error, name) : fine;
}

static bool open_format(int dir, const struct format *format, int *fd, struct err *err)
{
	char name[NAME_MAX + 1];
	int error;

	if (!partition_name("format", format->name, name, err))
		return false;
	error = export_make_folders(dir, name, fd);
	return !error || err_system(err, error, name);
}

bool export_hive(struct folder_export *x, int dir, const char *path, enum packing packing,
		 struct err *err)
{
	const struct format *format = x->tree.version->codec->format;
	char name[NAME_MAX + 1];
	bool fine;
	int fd;

	if (!partition_name("file", path, name, err) || !open_format(dir, format, &fd, err))
		return false;
	fine = export_hive_write_file(x, fd, name, packing, err);
	close(fd);
	return fine;
}

bool export_hive_is_current(int dir, const char *path, const struct format *format,
			    const char *made_of)
{
	const char *slash = strrchr(path, '/');
	char folder[NAME_MAX + 1], name[NAME_MAX + 1];
	bool current;
	int fd;

	if (!partition_name("format", format->name, folder, NULL) ||
	    !partition_name("file", path, name, NULL) ||
	    dirfd_walk(dir, folder, O_PATH | O_DIRECTORY, &fd) != 0)
		return false;
	current = export_is_current(fd, name, slash ? slash + 1 : path, made_of);
	close(fd);
	return current;
}
