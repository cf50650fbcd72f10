/* SPDX-License-Identifier: GPL-3.0-or-later */
/* canm.c - any bytes as a CANM file: refused with a reason, or encoded again to the same bytes. */
#include "fuzz.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	const char *seeds = getenv("FUZZ_SEEDS");

	(void)argc;
	(void)argv;
	for (size_t i = 0; seeds && i < ARRAY_SIZE(fuzz_samples); i++) {
		struct buf bytes = load_file(fuzz_samples[i]);

		fuzz_seed(seeds, NULL, buf_bytes(&bytes));
		buf_release(&bytes);
	}
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct err err = {0};
	struct buf out = BUF_INIT;
	struct snap *s = fuzz_snap(codec_named("canm"), (struct bytes){data, size}, &err);

	if (!s) {
		if (err.code != ERR_FORMAT || err.message[0] == '\0')
			fuzz_broken("a refusal says why", &err);
		return 0;
	}
	if (!s->codec->encode(s->anim, buf_bytes(&s->bytes), &out, &err))
		fuzz_broken("what was decoded can be encoded", &err);
	if (!bytes_equal(buf_bytes(&out), buf_bytes(&s->bytes)))
		fuzz_broken("encoding what was decoded gives the same bytes", NULL);
	buf_release(&out);
	snap_put(s);
	return 0;
}
