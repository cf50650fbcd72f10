/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * cas.h - what decode and encode of CAS share: a file, where the CANM stands in it, and where the
 * names. The format itself is described in cas.c.
 */
#ifndef ANIMFS_CAS_H
#define ANIMFS_CAS_H

#include "animfs/codec.h"

enum { CAS_EDF41 = 0x200, CAS_EDF5 = 0x203, CAS_EDF6 = 0x204 };

#define CAS_HEADER 0x30
#define CAS_TCONTROLS 0x0C /* in the header: their count, then their offset */
#define CAS_TCONTROL_SIZE 0x0C

/* What begins at a byte of the records. */
enum mark {
	MARK_FREE,  /* no record: the byte is zero */
	MARK_TAKEN, /* nothing, or what has no name */
	MARK_NAME,  /* a record whose first field is the offset of its name */
	MARK_DATA,  /* a CasData */
};

/* A name that is there: which record has it, where its text begins, and its bytes with the end. */
struct cas_name {
	size_t record, text, size;
};

struct cas {
	struct arena arena;
	struct bytes src;
	uint32_t version;
	size_t records_end; /* where the CANM begins, and all records have ended */
	struct bytes canm;
	uint8_t *marks;         /* of the bytes before records_end */
	struct cas_name *names; /* by place of their texts */
	size_t name_count;
};

/* Finds the CANM. What it needs is in c->arena, also after a failure. */
bool cas_find(struct cas *c, struct bytes src, struct err *err);
/* Then understands the rest. False: it must not be edited, and err says why. */
bool cas_understand(struct cas *c, struct err *err);

/* Where an offset leads that stands in a record; the header's count from the file's start. */
int64_t cas_follow(const struct cas *c, size_t record, size_t field);
size_t cas_data_size(uint32_t version);
static inline uint32_t cas_word(const struct cas *c, size_t at)
{
	return get_u32(c->src.data + at);
}

bool cas_encode(const struct anim *a, struct bytes old, struct buf *out, struct err *err);

#endif
