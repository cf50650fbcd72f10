/* SPDX-License-Identifier: GPL-3.0-or-later */
/* skeleton.c - any text as a skeleton.csv; what is read of it poses a sample. */
#include "skeleton.h"

#include "fuzz.h"

#include <string.h>

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	static const char *const texts[] = {
		"bone,parent,tx,ty,tz,rx,ry,rz,sx,sy,sz\nBone01,Scene_Root,1,2,3,4,5,6,7,8,9\n"
		"Scene_Root,,,,,,,,,,\n",
		"parent;bone;tx\n\"Bone01\";Scene_Root;1,5\n;Bone01;\n",
	};
	const char *seeds = getenv("FUZZ_SEEDS");

	(void)argc;
	(void)argv;
	for (size_t i = 0; seeds && i < ARRAY_SIZE(texts); i++)
		fuzz_seed(seeds, NULL, bytes_of(texts[i]));
	return 0;
}

/* The text that is shown of it is read as the same. */
static void check_text(const struct skeleton *s, const struct anim *a)
{
	struct buf text = BUF_INIT, again = BUF_INIT;
	struct err err = {0};
	struct skeleton *same;

	skeleton_text(s, a, &text);
	same = skeleton_read(buf_bytes(&text), &err);
	if (!same)
		fuzz_broken("a skeleton's own text can be read", &err);
	/* Bones that were not known are, now: it takes a second text to be the same. */
	buf_clear(&text);
	skeleton_text(same, a, &text);
	skeleton_free(same);
	same = skeleton_read(buf_bytes(&text), &err);
	if (!same)
		fuzz_broken("a skeleton's own text can be read", &err);
	skeleton_text(same, a, &again);
	if (!bytes_equal(buf_bytes(&text), buf_bytes(&again)))
		fuzz_broken("a skeleton's own text is read as the same", NULL);
	skeleton_free(same);
	buf_release(&text);
	buf_release(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct shown at = fuzz_shown(fuzz_sample(0), 0, 0);
	struct err err = {0};
	struct skeleton *s = skeleton_read((struct bytes){data, size}, &err);
	struct buf still = BUF_INIT;

	if (!s) {
		if (err.code == ERR_NONE || err.message[0] == '\0')
			fuzz_broken("a refusal says why", NULL);
		if (err.placed && err.at > size)
			fuzz_broken("an error lies in its text", &err);
		return 0;
	}
	check_text(s, at.anim);
	at.skeleton = s;
	view_x3d_frame.render(&at, &still);
	buf_char(&still, '\0');
	if (strstr((const char *)still.data, "nan") || strstr((const char *)still.data, "inf"))
		fuzz_broken("a still is finite", NULL);
	buf_release(&still);
	skeleton_free(s);
	return 0;
}
