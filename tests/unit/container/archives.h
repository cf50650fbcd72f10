/* SPDX-License-Identifier: GPL-3.0-or-later */
/* archives.h - the sample archives and their expected contents, for the tests of containers. */
#ifndef ANIMFS_TESTS_UNIT_CONTAINER_ARCHIVES_H
#define ANIMFS_TESTS_UNIT_CONTAINER_ARCHIVES_H

#include "animfs/container.h"
#include "load.h"
#include "sha256.h"

#include <check.h>
#include <glob.h>
#include <jansson.h>
#include <string.h>

#define LIMIT ((size_t)1 << 24)

/* Returns a copy in a block of exactly its size, so that sanitizers detect reads past the end. */
static inline struct buf exact_copy(const uint8_t *data, size_t size)
{
	struct buf copy = BUF_INIT;

	copy.data = malloc(size ? size : 1);
	ck_assert(copy.data != NULL);
	if (size)
		memcpy(copy.data, data, size);
	copy.size = copy.capacity = size;
	return copy;
}

static inline json_t *load_expected(const char *archive)
{
	char path[256];
	json_error_t error;
	json_t *expected;

	snprintf(path, sizeof(path), "%.*s.expect.json", (int)(strrchr(archive, '.') - archive),
		 archive);
	expected = json_load_file(path, 0, &error);
	ck_assert_msg(expected != NULL, "%s: %s", path, error.text);
	return expected;
}

static inline const char *expected_text(const json_t *o, const char *key)
{
	return json_string_value(json_object_get(o, key));
}

/* Compares a name in hexadecimal: jansson has no strings with a lone surrogate. */
static inline void check_hex(const char *name, const char *hex)
{
	for (size_t i = 0; i <= strlen(name); i++) {
		char digits[3];

		snprintf(digits, sizeof(digits), "%02x", (uint8_t)name[i]);
		ck_assert(strncmp(hex + 2 * i, name[i] ? digits : "", 2) == 0);
	}
}

static inline void check_member(const char *archive, const struct archive *a, uint32_t i,
				const json_t *expected, const char *folder_key)
{
	const struct member *m = &a->members[i];
	const char *folder = expected_text(expected, folder_key);
	const char *name = expected_text(expected, "name");
	struct buf bytes = BUF_INIT;
	struct err err = {.code = ERR_NONE};
	char digest[65];
	bool fine;

	if (name || folder)
		ck_assert_str_eq(m->folder, folder ? folder : "");
	if (name)
		ck_assert_str_eq(m->name, name);
	if (expected_text(expected, "name_hex"))
		check_hex(m->name, expected_text(expected, "name_hex"));
	if (json_object_get(expected, "id"))
		ck_assert_int_eq(atoi(m->name),
				 json_integer_value(json_object_get(expected, "id")));
	if (!m->name)
		return;
	fine = archive_read(a, i, LIMIT, &bytes, &err);
	if (expected_text(expected, "error")) {
		ck_assert_msg(!fine, "%s: %s is read", archive, m->name);
		ck_assert_int_eq(err.code, ERR_FORMAT);
		ck_assert_str_ne(err.message, "");
	} else {
		ck_assert_msg(fine, "%s: %s: %s", archive, m->name, err.message);
		sha256_hex(buf_bytes(&bytes), digest);
		ck_assert_str_eq(digest, expected_text(expected, "sha256"));
		ck_assert_uint_eq(bytes.size,
				  (uint64_t)json_integer_value(json_object_get(expected, "size")));
	}
	buf_release(&bytes);
}

static inline void check_archive(const char *path, const struct container *container,
				 const char *folder_key)
{
	struct buf file = load_file(path);
	const struct input in = input_of_bytes(buf_bytes(&file));
	json_t *expected = load_expected(path), *members = json_object_get(expected, "members");
	struct err err = {.code = ERR_NONE};
	struct archive *a;

	a = archive_open(container, &in, LIMIT, &err);
	if (json_is_false(json_object_get(expected, "valid"))) {
		ck_assert_msg(!a, "%s is opened", path);
		ck_assert_int_eq(err.code, ERR_FORMAT);
	} else {
		ck_assert_msg(a != NULL, "%s: %s", path, err.message);
		ck_assert_uint_eq(a->count, json_array_size(members));
		for (uint32_t i = 0; i < a->count; i++)
			check_member(path, a, i, json_array_get(members, i), folder_key);
	}
	archive_close(a);
	json_decref(expected);
	buf_release(&file);
}

static inline void for_each_archive(const char *pattern, void (*law)(const char *path))
{
	glob_t found;

	ck_assert_int_eq(glob(pattern, 0, NULL, &found), 0);
	for (size_t i = 0; i < found.gl_pathc; i++)
		law(found.gl_pathv[i]);
	globfree(&found);
}

/*
 * Checks any bytes: they are refused with a reason, or are an archive whose members are each read
 * or refused. Returns whether they are an archive.
 */
static inline bool try_archive(const struct container *container, struct bytes bytes)
{
	const struct input in = input_of_bytes(bytes);
	struct err err = {.code = ERR_NONE};
	struct archive *a = archive_open(container, &in, LIMIT, &err);
	bool opened = a != NULL;

	ck_assert(opened == (err.code == ERR_NONE));
	ck_assert(opened || (err.code == ERR_FORMAT && *err.message));
	for (uint32_t i = 0; opened && i < a->count; i++) {
		struct buf out = BUF_INIT;
		bool fine;

		err_clear(&err);
		fine = !a->members[i].name || archive_read(a, i, LIMIT, &out, &err);
		ck_assert(fine == (err.code == ERR_NONE));
		ck_assert(fine || (err.code == ERR_FORMAT && *err.message));
		ck_assert(fine || out.size == 0);
		buf_release(&out);
	}
	archive_close(a);
	return opened;
}

static inline void cut_archive(const char *path, const struct container *container)
{
	struct buf file = load_file(path);

	for (size_t size = 0; size < file.size; size++) {
		struct buf cut = exact_copy(file.data, size);

		try_archive(container, buf_bytes(&cut));
		buf_release(&cut);
	}
	buf_release(&file);
}

/*
 * Under AddressSanitizer only some bytes are changed: each of the 3.6 MB that libbz2 allocates for
 * a member takes a system call, and all bytes of a ZIP take half an hour. `make test` changes every
 * byte.
 */
#ifdef __SANITIZE_ADDRESS__
#define CHANGE_STEP 16
#else
#define CHANGE_STEP 1
#endif

static inline void change_archive(const char *path, const struct container *container)
{
	static const uint8_t changes[] = {0x01, 0x80, 0xFF};
	struct buf file = load_file(path), copy = exact_copy(file.data, file.size);

	for (size_t at = 0; at < copy.size; at += CHANGE_STEP) {
		for (size_t i = 0; i < ARRAY_SIZE(changes); i++) {
			copy.data[at] ^= changes[i];
			try_archive(container, buf_bytes(&copy));
			copy.data[at] ^= changes[i];
		}
	}
	buf_release(&copy);
	buf_release(&file);
}

#endif
