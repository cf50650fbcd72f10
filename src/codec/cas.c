/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * CAS: the container of a CANM in Earth Defense Force 4.1 (version 0x200), 5 (0x203) and 6 (0x204).
 *
 * Around the CANM is a tree of records by which the game decides when to play which animation. It
 * refers to animations by their numbers, and to other things by names of its own, whose texts
 * follow the CANM. Only the CANM is shown (canm.c). Of the rest, this codec understands only what
 * an edit of the CANM needs, since that moves those texts.
 *
 * All numbers are little-endian. The header's offsets count from the start of the file, all others
 * are signed and count from the start of the record that holds them.
 *
 *   header       0x00  "CAS\0"
 *                0x04  u32 version
 *                0x08  u32 offset of the CANM, a multiple of 16
 *                0x0C  u32 count, u32 offset: TControl; then the same of VControl, AnmGroup, Bone
 *                0x2C  u32 offset of a CasDataGroup that has no name
 *
 *   TControl     0x00  name, 0x04 u32 count, i32 offset: u32, each the number of an animation
 *   VControl     0x00  name, 16 bytes
 *   Bone         0x00  name
 *   AnmGroup     0x00  name, 0x04 u32 count, i32 offset: MCAnm
 *   MCAnm        0x00  name, 0x04 i32 offset of one AnmData, 0x08 u32 count, i32 offset: AnmData
 *                0x10  three i32 offsets of CasDataGroups, 0: none; 8 bytes
 *   AnmData      0x00  8 bytes, 0x08 i32 offset of a CasDataGroup, 0: none; 20 bytes
 *   CasDataGroup 0x00  u32 count, i32 offset: CasData
 *   CasData      0x00  u32 command, then 32 bytes (version 0x200) or 48
 *
 *   name         i32 offset of UTF-16LE text, 2-aligned, up to a zero; 0: the record has none
 *
 * The five names are the only offsets to places behind the CANM. Words that the game does not use
 * contain leftovers of memory and may look like offsets, so the type of a word never depends on its
 * value.
 *
 * The length of the CANM is not stored: it ends with the last part that it refers to.
 *
 * A file whose CANM can be read is shown. It is read-only if it is uncertain which words are
 * offsets: if records are outside of their area, or overlap, or leave unknown bytes there, or if a
 * name is invalid. cas_write.c writes the others.
 */
#include "cas.h"
#include "canm.h"
#include "codecs.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Names may overlap; limit on their total size, beyond that of the file. */
#define EXPANSION 0x10000u

const struct format cas_format = {
	.name = "cas",
	.suffix = "cas",
	CANM_FORMAT,
};

size_t cas_data_size(uint32_t version)
{
	return version == CAS_EDF41 ? 0x24 : 0x34;
}

int64_t cas_follow(const struct cas *c, size_t record, size_t field)
{
	uint32_t offset = cas_word(c, record + field);

	return record ? (int64_t)record + (int32_t)offset : (int64_t)offset;
}

/* ---- the CANM ---- */

static bool cas_read_header(struct cas *c, struct err *err)
{
	if (c->src.size < CAS_HEADER)
		return err_at(err, ERR_FORMAT, c->src.size, 0, "the file ends inside its header");
	if (memcmp(c->src.data, "CAS", 4) != 0)
		return err_at(err, ERR_FORMAT, 0, 4, "the file does not begin with CAS");
	c->version = cas_word(c, 4);
	if (c->version != CAS_EDF41 && c->version != CAS_EDF5 && c->version != CAS_EDF6)
		return err_at(err, ERR_FORMAT, 4, 4,
			      "version 0x%X is unknown; 0x200, 0x203 and 0x204 can be read",
			      c->version);
	c->records_end = cas_word(c, 8);
	if (c->records_end > c->src.size)
		return err_at(err, ERR_FORMAT, 8, 4, "the CANM begins behind the end of the file");
	return true;
}

static struct bytes behind_records(const struct cas *c)
{
	return (struct bytes){c->src.data + c->records_end, c->src.size - c->records_end};
}

/*
 * Moves the position of an error in the CANM, which is relative to the CANM's start, to that in the
 * file.
 */
static bool of_canm(const struct cas *c, bool fine, struct err *err)
{
	if (!fine && err && err->placed)
		err->at += c->records_end;
	return fine;
}

bool cas_find(struct cas *c, struct bytes src, struct err *err)
{
	*c = (struct cas){.arena = ARENA_INIT, .src = src};
	if (!cas_read_header(c, err))
		return false;
	c->canm = behind_records(c);
	return of_canm(c, canm_extent(c->canm, &c->canm.size, err), err);
}

bool cas_probe(struct bytes src)
{
	struct cas c = {.src = src};

	return cas_read_header(&c, NULL) && canm_codec.probe(behind_records(&c));
}

/* ---- the records ---- */

/* Marks `count` records as taken; `field` has their count or offset. */
static bool take_part(struct cas *c, size_t field, int64_t at, uint32_t count, size_t size,
		      enum mark mark, const char *what, struct err *err)
{
	const struct bytes place = {c->src.data, c->records_end};
	size_t i, from = (size_t)at;

	if (count == 0)
		return true;
	if (at < CAS_HEADER || !bytes_hold(place, from, count, size))
		return err_at(err, ERR_FORMAT, field, 4,
			      "%u %s at %" PRId64 " do not stand between the header and the CANM",
			      count, what, at);
	for (i = 0; i < count * size; i++)
		if (c->marks[from + i] != MARK_FREE)
			return err_at(err, ERR_FORMAT, field, 4,
				      "%u %s at 0x%zx overlap another record", count, what, from);
	memset(c->marks + from, MARK_TAKEN, count * size);
	for (i = 0; i < count; i++)
		c->marks[from + i * size] = (uint8_t)mark;
	return true;
}

/* Reads a table of named records by its count and offset; `each` reads what belongs to a record. */
static bool take_table(struct cas *c, size_t record, size_t field, size_t size, const char *what,
		       bool (*each)(struct cas *, size_t, struct err *), struct err *err)
{
	uint32_t count = cas_word(c, record + field), i;
	int64_t at = cas_follow(c, record, field + 4);

	if (!take_part(c, record + field + 4, at, count, size, MARK_NAME, what, err))
		return false;
	for (i = 0; each && i < count; i++)
		if (!each(c, (size_t)at + i * size, err))
			return false;
	return true;
}

static bool take_indices(struct cas *c, size_t control, struct err *err)
{
	return take_part(c, control + 8, cas_follow(c, control, 8), cas_word(c, control + 4), 4,
			 MARK_TAKEN, "numbers of animations", err);
}

static bool take_group(struct cas *c, size_t record, size_t field, struct err *err)
{
	int64_t at = cas_follow(c, record, field);
	size_t group = (size_t)at;

	return take_part(c, record + field, at, 1, 8, MARK_TAKEN, "CasDataGroup", err) &&
	       take_part(c, group + 4, cas_follow(c, group, 4), cas_word(c, group),
			 cas_data_size(c->version), MARK_DATA, "CasData", err);
}

static bool cas_take_slot(struct cas *c, size_t record, size_t field, struct err *err)
{
	return cas_word(c, record + field) == 0 || take_group(c, record, field, err);
}

static bool take_anm_data(struct cas *c, size_t record, size_t field, uint32_t count,
			  struct err *err)
{
	int64_t at = cas_follow(c, record, field);
	uint32_t i;

	if (!take_part(c, record + field, at, count, 0x20, MARK_TAKEN, "AnmData", err))
		return false;
	for (i = 0; i < count; i++)
		if (!cas_take_slot(c, (size_t)at + i * 0x20, 8, err))
			return false;
	return true;
}

static bool take_mc_anm(struct cas *c, size_t anm, struct err *err)
{
	return take_anm_data(c, anm, 4, 1, err) &&
	       take_anm_data(c, anm, 0xC, cas_word(c, anm + 8), err) &&
	       cas_take_slot(c, anm, 0x10, err) && cas_take_slot(c, anm, 0x14, err) &&
	       cas_take_slot(c, anm, 0x18, err);
}

static bool take_anm_group(struct cas *c, size_t group, struct err *err)
{
	return take_table(c, group, 4, 0x24, "MCAnm", take_mc_anm, err);
}

static bool take_records(struct cas *c, struct err *err)
{
	size_t i;

	if (!take_table(c, 0, CAS_TCONTROLS, CAS_TCONTROL_SIZE, "TControl", take_indices, err) ||
	    !take_table(c, 0, 0x14, 0x14, "VControl", NULL, err) ||
	    !take_table(c, 0, 0x24, 4, "Bone", NULL, err) || !take_group(c, 0, 0x2C, err) ||
	    !take_table(c, 0, 0x1C, 0xC, "AnmGroup", take_anm_group, err))
		return false;
	for (i = CAS_HEADER; i < c->records_end; i++)
		if (c->marks[i] == MARK_FREE && c->src.data[i] != 0)
			return err_at(err, ERR_FORMAT, i, 1, "a byte that belongs to no record");
	return true;
}

/* ---- the names ---- */

static bool note_name(struct cas *c, size_t record, struct err *err)
{
	int64_t at = cas_follow(c, record, 0);

	if (cas_word(c, record) == 0)
		return true;
	if (at < (int64_t)c->records_end || at >= (int64_t)c->src.size)
		return err_at(err, ERR_FORMAT, record, 4,
			      "a name at %" PRId64 " is not behind the records", at);
	if (at % 2)
		return err_at(err, ERR_FORMAT, record, 4, "a name at the odd offset %" PRId64, at);
	c->names[c->name_count++] = (struct cas_name){record, (size_t)at, 0};
	return true;
}

static int cas_by_text(const void *a, const void *b)
{
	const struct cas_name *p = a, *q = b;

	if (p->text != q->text)
		return p->text < q->text ? -1 : 1;
	return p->record < q->record ? -1 : p->record > q->record;
}

static bool measure_name(const struct cas *c, struct cas_name *name, size_t *room, struct err *err)
{
	do {
		if (c->src.size - name->text - name->size < 2)
			return err_at(err, ERR_FORMAT, name->record, 4, "a name that has no end");
		if (*room < 2)
			return err_at(err, ERR_FORMAT, name->record, 4,
				      "the names overlap too often");
		*room -= 2;
		name->size += 2;
	} while (get_u16(c->src.data + name->text + name->size - 2) != 0);
	return true;
}

static bool cas_read_names(struct cas *c, struct err *err)
{
	size_t room = c->src.size + EXPANSION, count = 0, i;

	for (i = 0; i < c->records_end; i++)
		count += c->marks[i] == MARK_NAME;
	c->names = arena_alloc(&c->arena, count, sizeof(*c->names));
	if (!c->names)
		return err_memory(err);
	for (i = 0; i < c->records_end; i++)
		if (c->marks[i] == MARK_NAME && !note_name(c, i, err))
			return false;
	qsort(c->names, c->name_count, sizeof(*c->names), cas_by_text);
	for (i = 0; i < c->name_count; i++) {
		if (i && c->names[i].text == c->names[i - 1].text)
			c->names[i].size = c->names[i - 1].size;
		else if (!measure_name(c, &c->names[i], &room, err))
			return false;
	}
	return true;
}

bool cas_understand(struct cas *c, struct err *err)
{
	uint32_t version = get_u32(c->canm.data + 4);

	c->marks = arena_alloc(&c->arena, c->records_end, 1);
	if (!c->marks)
		return err_memory(err);
	if (version != (c->version == CAS_EDF6 ? VERSION_EDF6 : VERSION_EDF5))
		return err_at(err, ERR_FORMAT, c->records_end + 4, 4,
			      "a CAS of version 0x%X holds no CANM of version 0x%X", c->version,
			      version);
	if (c->records_end % 16)
		return err_at(err, ERR_FORMAT, 8, 4,
			      "the CANM begins at 0x%zx, which is no multiple of 16",
			      c->records_end);
	return take_records(c, err) && cas_read_names(c, err);
}

/* ---- decode ---- */

/* Stores in the model why it is read-only. False when out of memory. */
static bool explain_read_only(const struct cas *c, struct anim *a, const struct err *why)
{
	a->format = &cas_format;
	a->version = c->version;
	a->beyond = "its records, by which the game decides when to play which animation";
	if (why->code == ERR_FORMAT)
		a->read_only = arena_format(&a->arena, "%s (at byte 0x%zx)", why->message, why->at);
	return why->code != ERR_MEMORY && !a->arena.failed;
}

struct anim *cas_decode(struct bytes src, const struct hints *hints, struct err *err)
{
	struct err why = {.code = ERR_NONE};
	struct anim *a = NULL;
	struct cas c;

	if (!cas_find(&c, src, err))
		goto done;
	a = canm_codec.decode(c.canm, hints, err);
	if (!of_canm(&c, a != NULL, err))
		goto done;
	cas_understand(&c, &why);
	if (!explain_read_only(&c, a, &why)) {
		err_memory(err);
		anim_free(a);
		a = NULL;
	}
done:
	arena_release(&c.arena);
	return a;
}
