/* SPDX-License-Identifier: GPL-3.0-or-later */
/* options.c - any text as the value of each option; a few may be given one after another. */
#include "cmd/options.h"

#include "fuzz.h"

static const char *const values[] = {
	"canm=30", "*.bin=canm", "*.bin=ff9anim:24", "*=auto", "euler",  "quaternion", "octahedra",
	"lines",   "lossy",      "lossless",         "none",   "simple", "numbered",   "256M",
	"1.5G",    "022",
};

static void write_values(const char *folder)
{
	for (size_t i = 0; i < ARRAY_SIZE(values); i++)
		for (uint8_t option = 0; option < 8; option++)
			fuzz_seed(folder, (uint8_t[]){option, 0, 0}, bytes_of(values[i]));
}

FUZZ_INITIALIZE(write_values(seeds))

static bool take(struct store_options *o, uint8_t which, const char *value, struct err *err)
{
	static bool (*const takers[])(struct store_options *, const char *, struct err *) = {
		option_rate, option_type, option_rotations, option_bones,
		option_bvh,  option_gltf, option_gltf_rate,
	};
	size_t bytes;
	int number;

	which %= ARRAY_SIZE(takers) + 2;
	if (which < ARRAY_SIZE(takers))
		return takers[which](o, value, err);
	if (which == ARRAY_SIZE(takers))
		return option_size(value, &bytes, err);
	return option_number(value, 8, &number, err);
}

/*
 * Runs lines, each of which is the number of an option, two unused bytes, and the option's value.
 */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct store_options options = {0};

	while (size > 3) {
		const uint8_t *end = memchr(data + 3, '\n', size - 3);
		size_t length = end ? (size_t)(end - data) : size;
		char *value = strndup((const char *)data + 3, length - 3);
		struct err err = {0};

		if (value && !take(&options, data[0], value, &err) && err.message[0] == '\0')
			fuzz_broken("a refusal says why", NULL);
		free(value);
		data += length + (end != NULL);
		size -= length + (end != NULL);
	}
	option_release(&options);
	return 0;
}
