/* SPDX-License-Identifier: GPL-3.0-or-later */
/* skeleton.c - any text as a skeleton.csv; a sample is posed with the skeleton read from it. */
#include "skeleton/skeleton.h"

#include "fuzz.h"

#include <string.h>

static void write_tables(const char *folder)
{
	static const char *const texts[] = {
		"bone,parent,tx,ty,tz,rx,ry,rz,sx,sy,sz\nBone01,Scene_Root,1,2,3,4,5,6,7,8,9\n"
		"Scene_Root,,,,,,,,,,\n",
		"parent;bone;tx\n\"Bone01\";Scene_Root;1,5\n;Bone01;\n",
	};

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		fuzz_seed(folder, NULL, bytes_of(texts[i]));
}

FUZZ_INITIALIZE(write_tables(seeds))

/* Checks that a skeleton's text is read as the same skeleton, and that saving it is no edit. */
static void check_text(const struct skeleton *s, const struct anim *a)
{
	struct buf text = BUF_INIT, again = BUF_INIT;
	struct err err = {0};
	struct skeleton *same, *edited;

	skeleton_text(s, a, &text);
	same = skeleton_read(buf_bytes(&text), NULL, &err);
	edited = skeleton_edit(s, a, buf_bytes(&text), &err);
	if (!same || !edited)
		fuzz_broken("a skeleton's own text can be read", &err);
	skeleton_text(same, a, &again);
	if (!skeleton_same(s, same) || !skeleton_same(s, edited) ||
	    !bytes_equal(buf_bytes(&text), buf_bytes(&again)))
		fuzz_broken("a skeleton's own text is read as the same", NULL);
	skeleton_free(edited);
	skeleton_free(same);
	buf_release(&text);
	buf_release(&again);
}

/* Checks that a text saved where no skeleton is known is accepted, or refused with a reason. */
static void check_edit(struct bytes text, const struct anim *a)
{
	struct err err = {0};
	struct skeleton *s = skeleton_edit(NULL, a, text, &err);

	if (!s)
		fuzz_refused(&err, fuzz_size(text));
	skeleton_free(s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct shown at = fuzz_shown(fuzz_sample(0), 0, 0);
	struct err err = {0};
	struct skeleton *s = skeleton_read((struct bytes){data, size}, NULL, &err);
	struct buf still = BUF_INIT;

	check_edit((struct bytes){data, size}, at.anim);
	if (!s) {
		fuzz_refused(&err, fuzz_size((struct bytes){data, size}));
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
