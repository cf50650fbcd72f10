/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * rab_write.c - any bytes as a RAB archive, of which a member is replaced: by its own bytes, which
 * changes nothing, and by others, which changes no other member.
 */
#include "container/rab_write.h"
#include "container/cmpl.h"
#include "container/containers.h"
#include "fuzz_archive.h"

FUZZ_INITIALIZE(fuzz_file_seeds("tests/data/rab/*rab", seeds))

static struct bytes stored_bytes(struct bytes rab, const struct member *m)
{
	return (struct bytes){rab.data + m->at, (size_t)m->stored};
}

static bool replace(struct bytes rab, uint32_t number, struct bytes bytes, struct buf *out)
{
	struct err err = {0};
	bool fine = rab_replace(rab, ARCHIVE_LIMIT, number, bytes, out, &err);

	if (!fine && ((err.code != ERR_STORE && err.code != ERR_FORMAT) || !*err.message))
		fuzz_broken("a refusal says why", &err);
	return fine;
}

static void check_new(const struct archive *old, struct bytes rab, uint32_t number,
		      struct bytes bytes, struct bytes made)
{
	const struct input in = input_of_bytes(made);
	struct err err = {0};
	struct archive *a = archive_open(&rab_container, &in, ARCHIVE_LIMIT, &err);
	struct buf out = BUF_INIT, again = BUF_INIT;

	if (!a || a->count != old->count)
		fuzz_broken("a new archive has the members of the old one", &err);
	if (!archive_read(a, number, SIZE_MAX, &out, &err) || !bytes_equal(buf_bytes(&out), bytes))
		fuzz_broken("a replaced member has its new bytes", &err);
	for (uint32_t i = 0; i < a->count; i++) {
		if (strcmp(a->members[i].name, old->members[i].name) != 0 ||
		    (i != number && !bytes_equal(stored_bytes(made, &a->members[i]),
						 stored_bytes(rab, &old->members[i]))))
			fuzz_broken("other members stay as they were stored", NULL);
	}
	/* An archive that rab_replace made can be made anew. */
	if (!replace(made, number, bytes, &again) || !bytes_equal(buf_bytes(&again), made))
		fuzz_broken("equal bytes change nothing", NULL);
	archive_close(a);
	buf_release(&out);
	buf_release(&again);
}

static void try_member(const struct archive *a, struct bytes rab, uint32_t number)
{
	struct buf own = BUF_INIT, same = BUF_INIT, made = BUF_INIT;
	struct bytes other = {rab.data, rab.size < 100 ? rab.size : 100};

	if (archive_read(a, number, ARCHIVE_LIMIT, &own, NULL) &&
	    replace(rab, number, buf_bytes(&own), &same)) {
		if (!bytes_equal(buf_bytes(&same), rab))
			fuzz_broken("a member's own bytes change nothing", NULL);
		if (!replace(rab, number, other, &made))
			fuzz_broken("what can be made anew takes other bytes", NULL);
		check_new(a, rab, number, other, buf_bytes(&made));
	}
	buf_release(&own);
	buf_release(&same);
	buf_release(&made);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct bytes rab = {data, size};
	const struct input in = input_of_bytes(rab);
	struct archive *a = archive_open(&rab_container, &in, ARCHIVE_LIMIT, NULL);

	for (uint32_t i = 0; a && i < a->count && i < 8; i++)
		try_member(a, rab, i);
	archive_close(a);
	return 0;
}
