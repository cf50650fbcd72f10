/* SPDX-License-Identifier: GPL-3.0-or-later */
/* models.c - any bytes as each kind of model. */
#include "../../unit/small_mdb.h"
#include "fuzz.h"
#include "skeleton/model_formats.h"

static const struct model_format *const formats[] = {&model_ff9, &model_ribbon, &model_mdb};

static void write_models(const char *folder)
{
	struct buf model = BUF_INIT;

	buf_zero(&model, 0x14 + 4 * 2);
	model.data[2] = 2;
	fuzz_seed(folder, NULL, buf_bytes(&model));
	buf_clear(&model);
	buf_u32(&model, 0x41);
	buf_u32(&model, 0);
	buf_u32(&model, 2);
	buf_zero(&model, 2 * 28);
	fuzz_seed(folder, NULL, buf_bytes(&model));
	buf_clear(&model);
	small_mdb(&model);
	fuzz_seed(folder, NULL, buf_bytes(&model));
	buf_release(&model);
}

FUZZ_INITIALIZE(write_models(seeds))

/*
 * Checks that the skeleton of a model could also be written by hand: its text is read back as the
 * same.
 */
static void check_skeleton(const struct skeleton *s)
{
	const struct anim nothing = {.arena = ARENA_INIT};
	struct buf text = BUF_INIT;
	struct err err = {0};
	struct skeleton *again;

	skeleton_text(s, &nothing, &text);
	again = skeleton_read(buf_bytes(&text), NULL, &err);
	if (!again || !skeleton_same(again, s))
		fuzz_broken("the text of a model's skeleton can be read", &err);
	skeleton_free(again);
	buf_release(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	for (size_t i = 0; i < ARRAY_SIZE(formats); i++) {
		struct err err = {0};
		struct skeleton *s = formats[i]->read((struct bytes){data, size}, &err);

		if (s)
			check_skeleton(s);
		else if (err.code != ERR_FORMAT || err.message[0] == '\0' || err.at > size)
			fuzz_broken("a refusal says why and where", &err);
		skeleton_free(s);
	}
	return 0;
}
