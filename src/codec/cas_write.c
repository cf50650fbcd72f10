/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * cas_write.c - writes a CAS file with a new CANM in it; and the codec.
 *
 * The new file is the old records, the new CANM, and the bytes behind the old one. Only the offsets
 * of names change, because their texts behind the CANM move. A name may also use a text inside the
 * CANM: if that does not stay, the name gets a copy at the end of the file. The result is read
 * again, and its records and texts must equal the old ones.
 */
#include "cas.h"
#include "codecs.h"
#include "text/utf.h"

#include <string.h>

#define COMMAND(n) ((uint64_t)1 << (n))
#define COMMANDS(first, last) (COMMAND((last) + 1) - COMMAND(first))

/* The commands that occur in the games' own files; their records contain no offsets. */
static const struct {
	uint32_t version;
	uint64_t commands;
} known[] = {
	{CAS_EDF41,
	 COMMANDS(0, 4) | COMMANDS(7, 14) | COMMAND(16) | COMMANDS(22, 25) | COMMAND(27)},
	{CAS_EDF5, COMMANDS(0, 2) | COMMAND(6) | COMMANDS(9, 17) | COMMAND(22) | COMMANDS(28, 31) |
			   COMMAND(33)},
	{CAS_EDF6, COMMANDS(0, 2) | COMMAND(8) | COMMANDS(11, 19) | COMMAND(24) | COMMANDS(30, 33) |
			   COMMAND(35)},
};

/* ---- the animations keep their numbers ---- */

static const char *cas_write_name_of(struct cas *c, size_t record)
{
	size_t i;

	for (i = 0; i < c->name_count; i++)
		if (c->names[i].record == record)
			return utf8_from_utf16(&c->arena, c->src.data + c->names[i].text,
					       c->names[i].size / 2 - 1);
	return NULL;
}

static bool refuse_number(struct cas *c, size_t control, uint32_t number, struct err *err)
{
	const char *name = cas_write_name_of(c, control);

	err_set(err, ERR_STORE,
		"the TControl %s of this CAS names animation %u by its number, counted from 0, "
		"and would name another one or none",
		name ? name : "without a name", number);
	return err_accept(err, "new animations at the end; none removed up to that one");
}

/* Refuses to change the animations that TControls refer to; the first `kept` are unchanged. */
static bool check_controls(struct cas *c, uint32_t kept, uint32_t was, uint32_t is, struct err *err)
{
	uint32_t count = cas_word(c, CAS_TCONTROLS), i, k;
	size_t control = cas_word(c, CAS_TCONTROLS + 4);

	for (i = 0; i < count; i++, control += CAS_TCONTROL_SIZE) {
		size_t numbers = (size_t)cas_follow(c, control, 8);

		for (k = 0; k < cas_word(c, control + 4); k++) {
			uint32_t number = cas_word(c, numbers + 4 * (size_t)k);

			if (number >= kept && (number < was || number < is))
				return refuse_number(c, control, number, err);
		}
	}
	return true;
}

static bool cas_write_check_clips(struct cas *c, const struct anim *a, struct err *err)
{
	uint32_t was = get_u32(c->canm.data + 8), next = 0, kept = 0, i;

	for (i = 0; i < a->clip_count; i++) {
		const struct clip *clip = &a->clips[i];

		if (clip->origin < next)
			return err_set(err, ERR_STORE,
				       "%s: the animations of a CAS keep their order, and new ones "
				       "come last",
				       clip->label ? clip->label : clip->name);
		next = clip->origin < was ? clip->origin + 1 : was;
		kept += clip->origin == i && i < was;
	}
	return check_controls(c, kept, was, a->clip_count, err);
}

/* ---- the names keep their texts ---- */

/* Is the text of the name at the same offset in the new file? */
static bool text_stays(const struct cas *c, const struct cas_name *name, struct bytes now)
{
	return bytes_hold(now, name->text, 1, name->size) &&
	       memcmp(now.data + name->text, c->src.data + name->text, name->size) == 0;
}

static bool all_stay(const struct cas *c, struct bytes now)
{
	size_t i;

	for (i = 0; i < c->name_count && now.size == c->src.size; i++)
		if (!text_stays(c, &c->names[i], now))
			return false;
	return now.size == c->src.size;
}

static bool is_text(const struct cas *c, int64_t at)
{
	size_t low = 0, high = c->name_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if ((int64_t)c->names[middle].text < at)
			low = middle + 1;
		else
			high = middle;
	}
	return low < c->name_count && (int64_t)c->names[low].text == at;
}

static bool cas_write_is_known(const struct cas *c, uint32_t command)
{
	size_t i = 0;

	while (known[i].version != c->version)
		i++;
	return command < 64 && (known[i].commands & COMMAND(command));
}

/*
 * Refuses records of unknown commands: one may contain the offset of a name, which would have to be
 * changed.
 */
static bool cas_write_check_data(const struct cas *c, struct err *err)
{
	size_t at, word;

	for (at = 0; at < c->records_end; at++) {
		if (c->marks[at] != MARK_DATA || cas_write_is_known(c, cas_word(c, at)))
			continue;
		for (word = 0; word < cas_data_size(c->version); word += 4) {
			int32_t value = (int32_t)cas_word(c, at + word);

			if (is_text(c, (int64_t)at + value) ||
			    is_text(c, (int64_t)(at + word) + value))
				return err_set(err, ERR_STORE,
					       "the names of this CAS cannot be moved: the CasData "
					       "at byte 0x%zx has the unknown command %u and may "
					       "refer to one",
					       at, cas_word(c, at));
		}
	}
	return true;
}

/* Returns the new offset of the text of name `i`; `before` is that of the previous name. */
static size_t place_text(const struct cas *c, size_t i, size_t before, int64_t grown,
			 struct buf *out)
{
	const struct cas_name *name = &c->names[i];
	size_t at;

	if (name->text >= c->records_end + c->canm.size)
		return (size_t)((int64_t)name->text + grown);
	if (i && name->text == name[-1].text)
		return before;
	if (grown == 0 && text_stays(c, name, buf_bytes(out)))
		return name->text;
	buf_align(out, 2);
	at = out->size;
	buf_add(out, c->src.data + name->text, name->size);
	return at;
}

static bool cas_write_move_names(const struct cas *c, struct buf *out, struct err *err)
{
	int64_t grown = (int64_t)out->size - (int64_t)c->src.size;
	size_t at = 0, i;

	if (all_stay(c, buf_bytes(out)))
		return true;
	if (!cas_write_check_data(c, err))
		return false;
	for (i = 0; i < c->name_count; i++) {
		size_t record = c->names[i].record;

		at = place_text(c, i, at, grown, out);
		if (out->failed)
			return err_memory(err);
		if (at - record > INT32_MAX)
			return err_set(err, ERR_STORE, "the file would be larger than 2 GiB");
		put_u32(out->data + record, (uint32_t)(at - record));
	}
	return true;
}

/* ---- the new file ---- */

/* Do the old and the new file have equal records and texts? */
static bool reads_same(const struct cas *old, const struct cas *now)
{
	size_t i;

	if (now->records_end != old->records_end || now->name_count != old->name_count ||
	    memcmp(now->marks, old->marks, old->records_end) != 0)
		return false;
	for (i = 0; i < old->records_end; i++) {
		if (old->marks[i] == MARK_NAME)
			i += 3;
		else if (now->src.data[i] != old->src.data[i])
			return false;
	}
	for (i = 0; i < old->name_count; i++) {
		const struct cas_name *name = &old->names[i];
		int64_t at = cas_follow(now, name->record, 0);

		if (at < 0 || !bytes_hold(now->src, (uint64_t)at, 1, name->size) ||
		    memcmp(now->src.data + at, old->src.data + name->text, name->size) != 0)
			return false;
	}
	return true;
}

static bool read_back(const struct cas *old, struct bytes made, struct err *err)
{
	struct err why = {.code = ERR_NONE};
	struct cas now;
	bool same =
		cas_find(&now, made, &why) && cas_understand(&now, &why) && reads_same(old, &now);

	arena_release(&now.arena);
	if (same)
		return true;
	return why.code == ERR_MEMORY
		       ? err_memory(err)
		       : err_set(err, ERR_STORE, "the records of this CAS would not stay the same");
}

/* Puts the new file together; the texts after the CANM stay 2-aligned. */
static bool assemble_file(struct cas *c, struct bytes canm, struct buf *out, struct err *err)
{
	size_t end = c->records_end + c->canm.size;

	buf_add(out, c->src.data, c->records_end);
	buf_add(out, canm.data, canm.size);
	buf_zero(out, (canm.size ^ c->canm.size) & 1);
	buf_add(out, c->src.data + end, c->src.size - end);
	if (out->failed)
		return err_memory(err);
	return cas_write_move_names(c, out, err) && read_back(c, buf_bytes(out), err);
}

static bool encode_canm(const struct cas *c, const struct anim *a, struct buf *canm,
			struct err *err)
{
	struct anim inner = *a;

	if (a->version && a->version != c->version)
		return err_set(err, ERR_STORE, "the version of a file cannot be changed");
	inner.format = canm_codec.format;
	inner.version = get_u32(c->canm.data + 4);
	return canm_codec.encode(&inner, c->canm, canm, err);
}

/* Puts a new CANM into the file. An unchanged model can be encoded even for a read-only file. */
static bool replace_canm(struct cas *c, const struct anim *a, struct buf *canm, struct buf *out,
			 struct err *err)
{
	struct err lock = {.code = ERR_NONE}, why = {.code = ERR_NONE};
	bool editable = cas_understand(c, &lock), made;

	if (lock.code == ERR_MEMORY)
		return err_memory(err);
	made = encode_canm(c, a, canm, editable ? err : &why);
	if (why.code == ERR_MEMORY)
		return err_memory(err);
	if (made && bytes_equal(buf_bytes(canm), c->canm)) {
		buf_add(out, c->src.data, c->src.size);
		return !out->failed || err_memory(err);
	}
	if (!editable)
		return err_set(err, ERR_STORE, "this CAS is read-only: %s (at byte 0x%zx)",
			       lock.message, lock.at);
	return made && cas_write_check_clips(c, a, err) &&
	       assemble_file(c, buf_bytes(canm), out, err);
}

static bool cas_encode(const struct anim *a, struct bytes old, struct buf *out, struct err *err)
{
	struct buf canm = BUF_INIT;
	struct cas c;
	bool ok;

	if (old.size == 0) {
		err_set(err, ERR_STORE,
			"a CAS cannot be made from animations only: it also stores when each is "
			"played");
		return err_accept(err, "a copy of a CAS, edited");
	}
	ok = cas_find(&c, old, err) && replace_canm(&c, a, &canm, out, err);
	arena_release(&c.arena);
	buf_release(&canm);
	return ok;
}

static const char *const cas_patterns[] = {"*.cas", NULL};

const struct codec cas_codec = {
	.format = &cas_format,
	.patterns = cas_patterns,
	.probe = cas_probe,
	.decode = cas_decode,
	.encode = cas_encode,
};
