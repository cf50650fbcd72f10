/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bone_names.c - any text as bone-names.csv. */
#include "model/bones.h"

#include "fuzz.h"

static void write_tables(const char *folder)
{
	static const char *const texts[] = {
		"id,name\n0x0001,hip\n2,\xE5\x8F\xB3\n4294967295,a\n",
		"name;id\n\"bone_0001\";0x1\n",
	};

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		fuzz_seed(folder, NULL, bytes_of(texts[i]));
}

FUZZ_INITIALIZE(write_tables(seeds))

/* Checks that no two numbers have the same name. */
static void check_number(const struct bone_names *names, uint32_t number)
{
	const struct format *format = codec_named("owanim")->format;
	struct arena arena = ARENA_INIT;
	const char *name = bone_name(format, names, &arena, number);
	uint32_t found;

	if (!name || !bone_number(format, names, name, &found) || found != number)
		fuzz_broken("a number's name is that number's", NULL);
	arena_release(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct err err = {0};
	struct bone_names *names =
		bone_names_read((struct bytes){data, size}, codec_named("owanim")->format, &err);

	if (!names)
		fuzz_refused(&err, fuzz_size((struct bytes){data, size}));
	for (uint32_t number = 0; names && number < 4; number++)
		check_number(names, number);
	for (size_t at = 0; names && at + 4 <= size && at < 64; at += 4)
		check_number(names, get_u32(data + at));
	bone_names_free(names);
	return 0;
}
