/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * cas.h - a CAS file that was read: the places of the CANM and of the names. The format is
 * described in cas.c.
 */
#ifndef ANIMFS_CODEC_CAS_H
#define ANIMFS_CODEC_CAS_H

#include "animfs/codec.h"

enum { CAS_EDF41 = 0x200, CAS_EDF5 = 0x203, CAS_EDF6 = 0x204 };

#define CAS_HEADER 0x30
#define CAS_TCONTROLS 0x0C /* offset in the header of the TControls' count and offset */
#define CAS_TCONTROL_SIZE 0x0C

/* What the records use a byte for. */
enum mark {
	MARK_FREE,  /* the byte is in no record: it must be zero */
	MARK_TAKEN, /* the byte belongs to a record, and no name begins there */
	MARK_NAME,  /* a record begins there whose first field is the offset of its name */
	MARK_DATA,  /* a CasData begins there */
};

/* A name: the record that has it, and the offset of its text, which ends in NUL. */
struct cas_name {
	size_t record, text, size;
};

struct cas {
	struct arena arena;
	struct bytes src;
	uint32_t version;
	size_t records_end; /* end of all records; the CANM begins there */
	struct bytes canm;
	uint8_t *marks;         /* enum mark of each byte before records_end */
	struct cas_name *names; /* names, sorted by the offset of their texts */
	size_t name_count;
};

/* Finds the CANM. Allocates in c->arena, which the caller releases, also after a failure. */
bool cas_find(struct cas *c, struct bytes src, struct err *err);
/* Reads the records and names. False: the file must not be edited, for the reason in err. */
bool cas_understand(struct cas *c, struct err *err);

/*
 * Returns what an offset in a record points to; offsets in the header count from the file's
 * start.
 */
int64_t cas_follow(const struct cas *c, size_t record, size_t field);
size_t cas_data_size(uint32_t version);
static inline uint32_t cas_word(const struct cas *c, size_t at)
{
	return get_u32(c->src.data + at);
}

/* The format, for the codec entry at the end of cas_write.c. */
extern const struct format cas_format;
bool cas_probe(struct bytes src);
struct anim *cas_decode(struct bytes src, const struct hints *hints, struct err *err);

#endif
