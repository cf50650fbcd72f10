/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * fuzz_archive.h - targets that are containers: any bytes are refused with a reason, or they are an
 * archive whose members are each read or refused with a reason, and whose names are file names.
 */
#ifndef ANIMFS_TESTS_SEARCH_FUZZ_FUZZ_ARCHIVE_H
#define ANIMFS_TESTS_SEARCH_FUZZ_FUZZ_ARCHIVE_H

#include "container/contents.h"
#include "fuzz.h"

/* Limit of memory, so that no run takes long, whatever the tables claim. */
#define ARCHIVE_LIMIT ((size_t)1 << 20)
#define ARCHIVE_MEMBERS 64

static inline void fuzz_names(const struct contents *c)
{
	for (uint32_t i = 1; i < c->count; i++) {
		const char *label = c->entries[i].label;

		if (!*label || strlen(label) > 255 || strchr(label, '/') || label[0] == '.')
			fuzz_broken("a member's name is a file name", NULL);
		if (contents_find(c, c->entries[i].parent, label, strlen(label)) != i)
			fuzz_broken("a member is found by its name", NULL);
	}
}

static inline void fuzz_member(const struct archive *a, uint32_t i)
{
	struct err err = {0};
	struct buf out = BUF_INIT;
	uint64_t size;

	if (!a->members[i].name)
		return;
	if (!archive_read(a, i, ARCHIVE_LIMIT, &out, &err)) {
		if (err.code != ERR_FORMAT || !*err.message)
			fuzz_broken("a refusal says why", &err);
		if (out.size)
			fuzz_broken("a refused member leaves no bytes", &err);
	} else if (!archive_measure(a, i, &size, &err) || size != out.size) {
		fuzz_broken("a member has the size that is said", &err);
	}
	buf_release(&out);
}

static inline int fuzz_archive(const char *name, const uint8_t *data, size_t size)
{
	const struct input in = input_of_bytes((struct bytes){data, size});
	struct err err = {0};
	struct archive *a = archive_open(container_for_name(name), &in, ARCHIVE_LIMIT, &err);
	struct contents *c;

	if (!a) {
		if (err.code != ERR_FORMAT || !*err.message)
			fuzz_broken("a refusal says why", &err);
		return 0;
	}
	c = contents_new(a, &err);
	if (c)
		fuzz_names(c);
	else if (err.code != ERR_FORMAT)
		fuzz_broken("a refusal says why", &err);
	contents_free(c);
	for (uint32_t i = 0; i < a->count && i < ARCHIVE_MEMBERS; i++)
		fuzz_member(a, i);
	archive_close(a);
	return 0;
}

#define FUZZ_CONTAINER(name, pattern)                                                              \
	FUZZ_INITIALIZE(fuzz_file_seeds(pattern, seeds))                                           \
                                                                                                   \
	int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)                               \
	{                                                                                          \
		return fuzz_archive(name, data, size);                                             \
	}

#endif
