/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * ZIP, through libzip, which reads the archive through the functions here. The table of members is
 * at the end of the file. A zip_t is not thread-safe, so reads take turns.
 */
#include "containers.h"

#include "util/lock_classes.h"
#include "util/utf8.h"

#include <stdlib.h>
#include <zip.h>

struct zip {
	struct lock lock;
	zip_t *zip PT_GUARDED_BY(archive_class);
	struct input in;
	uint64_t at;      /* offset in the archive where libzip's next read begins */
	uint64_t left;    /* bytes that libzip may still read while the archive is listed */
	struct err fault; /* the reason why the last read failed */
	zip_error_t error;
};

/* ---- the archive's bytes, for libzip ---- */

static zip_int64_t zip_fail(struct zip *z, int code)
{
	zip_error_set(&z->error, code, 0);
	return -1;
}

static zip_int64_t zip_read_bytes(struct zip *z, void *data, zip_uint64_t size)
{
	if (size > z->in.size - z->at)
		size = z->in.size - z->at;
	if (size > z->left)
		return zip_fail(z, ZIP_ER_MEMORY);
	err_clear(&z->fault);
	if (!input_read(&z->in, z->at, data, (size_t)size, &z->fault))
		return zip_fail(z, ZIP_ER_READ);
	z->at += size;
	z->left -= size;
	return (zip_int64_t)size;
}

static zip_int64_t seek(struct zip *z, void *data, zip_uint64_t size)
{
	zip_int64_t at = zip_source_seek_compute_offset(z->at, z->in.size, data, size, &z->error);

	if (at < 0)
		return -1;
	z->at = (uint64_t)at;
	return 0;
}

static zip_int64_t serve(void *closure, void *data, zip_uint64_t size, zip_source_cmd_t command)
{
	struct zip *z = closure;
	zip_stat_t *st = data;

	switch (command) {
	case ZIP_SOURCE_SUPPORTS:
		return zip_source_make_command_bitmap(
			ZIP_SOURCE_OPEN, ZIP_SOURCE_READ, ZIP_SOURCE_CLOSE, ZIP_SOURCE_STAT,
			ZIP_SOURCE_ERROR, ZIP_SOURCE_FREE, ZIP_SOURCE_SEEK, ZIP_SOURCE_TELL, -1);
	case ZIP_SOURCE_OPEN:
		z->at = 0;
		return 0;
	case ZIP_SOURCE_READ:
		return zip_read_bytes(z, data, size);
	case ZIP_SOURCE_SEEK:
		return seek(z, data, size);
	case ZIP_SOURCE_TELL:
		return (zip_int64_t)z->at;
	case ZIP_SOURCE_STAT:
		zip_stat_init(st);
		st->valid = ZIP_STAT_SIZE;
		st->size = z->in.size;
		return sizeof(*st);
	case ZIP_SOURCE_ERROR:
		return zip_error_to_data(&z->error, data, size);
	case ZIP_SOURCE_CLOSE:
	case ZIP_SOURCE_FREE:
		return 0;
	default:
		return zip_fail(z, ZIP_ER_OPNOTSUPP);
	}
}

/* ---- the list ---- */

static bool zip_describe(struct zip *z, const char *what, zip_error_t *error, struct err *err)
{
	if (z->fault.code == ERR_SYSTEM)
		return err_system(err, z->fault.number, "read");
	if (zip_error_code_zip(error) == ZIP_ER_MEMORY && z->left > 0)
		return err_memory(err);
	return err_set(err, ERR_FORMAT, "%s: %s", what, zip_error_strerror(error));
}

static const char *fault_of(const zip_stat_t *st)
{
	const zip_uint64_t needed = ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE | ZIP_STAT_COMP_METHOD;

	if ((st->valid & needed) != needed)
		return "the archive does not say its size";
	if ((st->valid & ZIP_STAT_ENCRYPTION_METHOD) && st->encryption_method != ZIP_EM_NONE)
		return "it is encrypted";
	if (!zip_compression_method_supported(st->comp_method, 0))
		return "it is packed in a way that is not known";
	return NULL;
}

/* Splits a path at its last '/'. A path that ends in '/' is a folder. */
static bool zip_set_path(struct archive *a, struct member *m, const char *path, struct err *err)
{
	size_t size = strnlen(path, CONTAINER_NAME_MAX + 1);
	char *copy, *slash;

	if (size > CONTAINER_NAME_MAX)
		return err_set(err, ERR_FORMAT, "a stored name has more than %d bytes",
			       CONTAINER_NAME_MAX);
	copy = arena_text(&a->arena, path, size);
	if (!copy)
		return err_memory(err);
	slash = strrchr(copy, '/');
	m->folder = slash ? copy : "";
	m->name = slash ? slash + 1 : copy;
	if (slash)
		*slash = '\0';
	if (slash && !slash[1])
		m->name = NULL;
	return true;
}

static bool zip_list_member(struct archive *a, zip_t *zip, uint32_t number, struct err *err)
{
	struct member *m = &a->members[number];
	zip_stat_t st;

	if (zip_stat_index(zip, number, 0, &st) != 0)
		return zip_describe(a->own, "a member", zip_get_error(zip), err);
	*m = (struct member){.at = number,
			     .stored = st.comp_size,
			     .size = st.size,
			     .time = st.valid & ZIP_STAT_MTIME ? (int64_t)st.mtime : 0,
			     .fault = fault_of(&st),
			     .packed = true};
	/*
	 * Refuse a claimed size that equals MEMBER_UNSIZED: that would call `measure`, which a ZIP
	 * has not.
	 */
	if (!m->fault && m->size == MEMBER_UNSIZED)
		m->fault = "the archive does not say its size";
	return zip_set_path(a, m, st.name ? st.name : "", err);
}

static bool list_members(struct archive *a, zip_t *zip, struct err *err)
{
	zip_int64_t count = zip_get_num_entries(zip, 0);

	if (!archive_room(a, count < 0 ? 0 : (uint64_t)count, err))
		return false;
	for (; a->count < count; a->count++) {
		if (!zip_list_member(a, zip, a->count, err))
			return false;
	}
	return true;
}

static zip_t *open_zip(struct zip *z, struct err *err)
{
	zip_source_t *source;
	zip_error_t error;
	zip_t *zip = NULL;

	zip_error_init(&error);
	source = zip_source_function_create(serve, z, &error);
	if (source)
		zip = zip_open_from_source(source, ZIP_RDONLY, &error);
	if (!zip) {
		zip_describe(z, "no ZIP archive", &error, err);
		zip_source_free(source);
	}
	zip_error_fini(&error);
	return zip;
}

UNSHARED static bool zip_list(struct archive *a, struct err *err)
{
	struct zip *z = calloc(1, sizeof(*z));
	bool fine;

	if (!z)
		return err_memory(err);
	a->own = z;
	lock_init(&z->lock);
	z->in = a->in;
	z->left = a->limit;
	zip_error_init(&z->error);
	z->zip = open_zip(z, err);
	fine = z->zip && list_members(a, z->zip, err);
	z->left = UINT64_MAX;
	return fine;
}

UNSHARED static void zip_end(struct archive *a)
{
	struct zip *z = a->own;

	if (!z)
		return;
	if (z->zip)
		zip_discard(z->zip);
	zip_error_fini(&z->error);
	lock_destroy(&z->lock);
	free(z);
}

/* ---- members ---- */

/*
 * Reads a whole member, and tries to read one byte more than the table claims, to refuse a member
 * that is larger.
 */
static bool zip_read_whole(struct zip *z, zip_file_t *file, const struct member *m, struct buf *out,
			   struct err *err) REQUIRES(archive_class)
{
	uint8_t more;
	size_t have = 0;
	zip_int64_t got = 1;

	while (have < m->size && got > 0) {
		size_t step = m->size - have < 65536 ? (size_t)(m->size - have) : 65536;

		if (!buf_reserve(out, step))
			return err_memory(err);
		got = zip_fread(file, out->data + out->size, step);
		if (got > 0) {
			have += (size_t)got;
			out->size += (size_t)got;
		}
	}
	/* libzip compares the checksum at the end of the member. */
	if (got >= 0 && have == m->size)
		got = zip_fread(file, &more, 1);
	if (got < 0)
		return zip_describe(z, "the member is damaged", zip_file_get_error(file), err);
	return (have == m->size && got == 0) ||
	       err_set(err, ERR_FORMAT, "it unpacks to %s than the %llu bytes of the table",
		       got ? "more" : "less", (unsigned long long)m->size);
}

static bool zip_read(const struct archive *a, const struct member *m, struct buf *out,
		     struct err *err)
{
	struct zip *z = a->own;
	zip_file_t *file;
	bool fine;

	lock_acquire(&z->lock, &archive_class);
	err_clear(&z->fault);
	file = zip_fopen_index(z->zip, m->at, 0);
	if (file) {
		fine = zip_read_whole(z, file, m, out, err);
		zip_fclose(file);
	} else {
		fine = zip_describe(z, "the member cannot be read", zip_get_error(z->zip), err);
	}
	lock_release(&z->lock, &archive_class);
	return fine;
}

static const char *const zip_patterns[] = {"*.zip", NULL};

const struct container zip_container = {
	.name = "zip",
	.patterns = zip_patterns,
	.list = zip_list,
	.read = zip_read,
	.close = zip_end,
};
