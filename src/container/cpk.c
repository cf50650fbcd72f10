/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * CPK, the archive of CRI Middleware, as Earth Defense Force 4.1, 5 and 6 use it.
 *
 * It is made of tables (cpk_table.c), each in a packet of its own, and of data:
 *
 *   "CPK "      at 0; one row with the offsets of the other tables
 *   "TOC "      at TocOffset: a row for each file, with its names
 *   "ETOC"      at EtocOffset: a row for each file of the TOC, with its date, and one more row
 *   "ITOC"      at ItocOffset: files by number; read only where there is no TOC
 *
 * TOC: DirName (parts separated by '/'), FileName, FileSize (bytes stored), ExtractSize (unpacked;
 * FileSize if it is missing, 0 or all ones), FileOffset. Data begins at 0x800 + FileOffset, or at
 * ContentOffset where that is smaller. A file whose sizes differ is packed (crilayla.c).
 *
 * ETOC: UpdateDateTime, a u64: year (16 bits), month, day, hour, minute, second, 0; 0: none. The
 * time zone is not known; UTC is assumed.
 *
 * ITOC: one row with the tables DataL and DataH as blobs: ID, FileSize, ExtractSize. The files are
 * stored in the order of their IDs from ContentOffset on, each padded to Align. They have no names,
 * and get their ID in at least five digits.
 */
#include "containers.h"
#include "cpk_table.h"
#include "crilayla.h"
#include "stored_name.h"

#include <stdlib.h>
#include <time.h>

#define DATA_BEGIN 0x800

struct layout {
	/* offsets from the table "CPK "; 0: the archive has no such table */
	uint64_t toc, etoc, itoc, content, align;
};

static bool cpk_read_header(struct archive *a, struct layout *l, struct err *err)
{
	struct cpk_table t;

	if (!cpk_table_read(a, 0, "CPK ", &t, err))
		return false;
	if (t.rows != 1)
		return err_at(err, ERR_FORMAT, (size_t)t.place + 0x14, 4,
			      "the header has %u rows instead of one", t.rows);
	return cpk_optional(&t, cpk_column(&t, "TocOffset"), 0, 0, &l->toc, err) &&
	       cpk_optional(&t, cpk_column(&t, "EtocOffset"), 0, 0, &l->etoc, err) &&
	       cpk_optional(&t, cpk_column(&t, "ItocOffset"), 0, 0, &l->itoc, err) &&
	       cpk_optional(&t, cpk_column(&t, "ContentOffset"), 0, 0, &l->content, err) &&
	       cpk_optional(&t, cpk_column(&t, "Align"), 0, 1, &l->align, err);
}

static void set_place(const struct archive *a, struct member *m, uint64_t begin, uint64_t offset)
{
	m->packed = m->stored != m->size;
	if (__builtin_add_overflow(begin, offset, &m->at)) {
		m->at = 0;
		m->fault = "its place is behind the end of all files";
	} else if (!input_holds(&a->in, m->at, m->stored)) {
		m->fault = "its bytes lie behind the end of the archive";
	}
}

/* ---- files with names ---- */

struct toc {
	struct cpk_table table;
	const struct cpk_column *folder, *name, *stored, *offset;
	const struct cpk_column *size; /* column ExtractSize; NULL: the table has none */
	struct stored_names names;
	uint64_t begin;
};

static bool cpk_read_names(struct toc *toc, uint32_t row, struct member *m, struct err *err)
{
	const char *folder = "", *name;
	bool fine = !toc->folder || cpk_string(&toc->table, toc->folder, row, &folder, err);

	fine = fine && cpk_string(&toc->table, toc->name, row, &name, err);
	if (!fine)
		return false;
	m->folder = stored_name_folder(&toc->names, folder, err);
	m->name = m->folder ? stored_name(&toc->names, name, err) : NULL;
	return m->name != NULL;
}

static bool cpk_read_row(const struct archive *a, struct toc *toc, uint32_t row, struct member *m,
			 struct err *err)
{
	uint64_t offset;

	if (!cpk_read_names(toc, row, m, err) ||
	    !cpk_number(&toc->table, toc->stored, row, &m->stored, err) ||
	    !cpk_number(&toc->table, toc->offset, row, &offset, err) ||
	    !cpk_optional(&toc->table, toc->size, row, m->stored, &m->size, err))
		return false;
	set_place(a, m, toc->begin, offset);
	return true;
}

static bool find_columns(struct toc *toc, struct err *err)
{
	const struct cpk_table *t = &toc->table;

	toc->folder = cpk_column(t, "DirName");
	toc->name = cpk_column(t, "FileName");
	toc->stored = cpk_column(t, "FileSize");
	toc->offset = cpk_column(t, "FileOffset");
	toc->size = cpk_column(t, "ExtractSize");
	return (toc->name && toc->stored && toc->offset) ||
	       err_at(err, ERR_FORMAT, (size_t)t->place, 0, "the TOC table has no column %s",
		      !toc->name     ? "FileName"
		      : !toc->stored ? "FileSize"
				     : "FileOffset");
}

static bool list_toc(struct archive *a, const struct layout *l, struct err *err)
{
	struct toc toc = {.begin = DATA_BEGIN};
	bool fine = cpk_table_read(a, l->toc, "TOC ", &toc.table, err) && find_columns(&toc, err) &&
		    archive_room(a, toc.table.rows, err);

	if (l->content && l->content < DATA_BEGIN)
		toc.begin = l->content;
	toc.names = (struct stored_names){.archive = a, .cp932 = fine && !toc.table.utf8};
	while (fine && a->count < toc.table.rows) {
		fine = cpk_read_row(a, &toc, a->count, &a->members[a->count], err);
		a->count += fine;
	}
	stored_names_end(&toc.names);
	return fine;
}

/* ---- dates ---- */

static int64_t date_time(uint64_t date)
{
	struct tm tm = {
		.tm_year = (int)(date >> 48) - 1900,
		.tm_mon = (int)(date >> 40 & 0xFF) - 1,
		.tm_mday = (int)(date >> 32 & 0xFF),
		.tm_hour = (int)(date >> 24 & 0xFF),
		.tm_min = (int)(date >> 16 & 0xFF),
		.tm_sec = (int)(date >> 8 & 0xFF),
	};

	return date ? (int64_t)timegm(&tm) : 0;
}

static bool read_dates(struct archive *a, const struct layout *l, struct err *err)
{
	const struct cpk_column *date;
	struct cpk_table t;
	uint64_t value;

	if (!l->etoc)
		return true;
	if (!cpk_table_read(a, l->etoc, "ETOC", &t, err))
		return false;
	date = cpk_column(&t, "UpdateDateTime");
	for (uint32_t i = 0; date && i < a->count && i < t.rows; i++) {
		if (!cpk_number(&t, date, i, &value, err))
			return false;
		a->members[i].time = date_time(value);
	}
	return true;
}

/* ---- files with numbers ---- */

struct numbered {
	uint64_t id, stored, size;
};

static int by_id(const void *a, const void *b)
{
	uint64_t x = ((const struct numbered *)a)->id, y = ((const struct numbered *)b)->id;

	return x < y ? -1 : x > y;
}

static bool cpk_read_numbers(const struct cpk_table *t, struct numbered *out, struct err *err)
{
	const struct cpk_column *id = cpk_column(t, "ID"), *stored = cpk_column(t, "FileSize"),
				*size = cpk_column(t, "ExtractSize");

	if (t->rows && (!id || !stored))
		return err_at(err, ERR_FORMAT, (size_t)t->place, 0,
			      "a table of numbered files has no column %s", id ? "FileSize" : "ID");
	for (uint32_t i = 0; i < t->rows; i++) {
		if (!cpk_number(t, id, i, &out[i].id, err) ||
		    !cpk_number(t, stored, i, &out[i].stored, err) ||
		    !cpk_optional(t, size, i, out[i].stored, &out[i].size, err))
			return false;
	}
	return true;
}

static bool place_numbered(struct archive *a, const struct layout *l, struct numbered *files,
			   uint32_t count, struct err *err)
{
	uint64_t at = l->content;

	qsort(files, count, sizeof(*files), by_id);
	for (; a->count < count; a->count++) {
		const struct numbered *f = &files[a->count];
		struct member *m = &a->members[a->count];
		uint64_t rest = f->stored % l->align, pad = rest ? l->align - rest : 0;

		*m = (struct member){.folder = "", .stored = f->stored, .size = f->size};
		m->name = arena_format(&a->arena, "%05llu", (unsigned long long)f->id);
		if (!m->name)
			return err_memory(err);
		set_place(a, m, 0, at);
		/*
		 * Stop here: once an offset has overflowed, all later members are out of bounds,
		 * too.
		 */
		if (__builtin_add_overflow(at, f->stored, &at) ||
		    __builtin_add_overflow(at, pad, &at))
			at = UINT64_MAX;
	}
	return true;
}

static bool list_itoc(struct archive *a, const struct layout *l, struct err *err)
{
	struct cpk_table t, parts[2];
	bool found[2];
	struct numbered *files;
	uint64_t count;

	if (!cpk_table_read(a, l->itoc, "ITOC", &t, err))
		return false;
	if (t.rows != 1)
		return err_at(err, ERR_FORMAT, (size_t)t.place + 0x14, 4,
			      "the ITOC table has %u rows instead of one", t.rows);
	if (!cpk_table_nested(a, &t, "DataL", &parts[0], &found[0], err) ||
	    !cpk_table_nested(a, &t, "DataH", &parts[1], &found[1], err))
		return false;
	count = (uint64_t)(found[0] ? parts[0].rows : 0) + (found[1] ? parts[1].rows : 0);
	if (!archive_room(a, count, err))
		return false;
	files = arena_alloc(&a->arena, (size_t)count, sizeof(*files));
	if (!files)
		return err_memory(err);
	return (!found[0] || cpk_read_numbers(&parts[0], files, err)) &&
	       (!found[1] ||
		cpk_read_numbers(&parts[1], files + (found[0] ? parts[0].rows : 0), err)) &&
	       place_numbered(a, l, files, (uint32_t)count, err);
}

/* ---- the container ---- */

static bool cpk_list(struct archive *a, struct err *err)
{
	struct layout l = {.toc = 0};

	if (!cpk_read_header(a, &l, err))
		return false;
	if (l.toc)
		return list_toc(a, &l, err) && read_dates(a, &l, err);
	if (l.itoc)
		return list_itoc(a, &l, err);
	return err_at(err, ERR_FORMAT, 0, 0, "the archive has neither a TOC nor an ITOC table");
}

static bool cpk_read(const struct archive *a, const struct member *m, struct buf *out,
		     struct err *err)
{
	const struct input member = input_range(&a->in, m->at, m->stored);
	struct err why = {.code = ERR_NONE};

	return crilayla_read(&member, m->size, out, &why) || member_fault(err, &why, m);
}

static const char *const cpk_patterns[] = {"*.cpk", NULL};

const struct container cpk_container = {
	.name = "cpk",
	.patterns = cpk_patterns,
	.list = cpk_list,
	.read = cpk_read,
};
