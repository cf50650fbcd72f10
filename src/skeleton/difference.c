/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "difference.h"
#include "model/summary.h"

static void difference_add_row(char sign, const struct skeleton *s, const char *bone,
			       struct buf *out)
{
	buf_char(out, sign);
	skeleton_row(s, bone, out);
}

bool skeleton_difference(const struct skeleton *a, const struct skeleton *b, struct buf *out)
{
	for (uint32_t i = 0; a && i < a->count; i++) {
		const struct joint *x = &a->joints[i], *y = skeleton_joint(b, x->bone);

		if (y && joint_same(a, x, b, y))
			continue;
		difference_add_row('-', a, x->bone, out);
		if (y)
			difference_add_row('+', b, x->bone, out);
	}
	for (uint32_t i = 0; b && i < b->count; i++) {
		if (!skeleton_joint(a, b->joints[i].bone))
			difference_add_row('+', b, b->joints[i].bone, out);
	}
	return skeleton_same(a, b);
}

/*
 * Adds a bone to the summary, which names at most SUMMARY_PARTS bones. `count` is the number of
 * bones before this one.
 */
static void difference_add_bone(const char *bone, const char *what, unsigned count, struct buf *out)
{
	if (count < SUMMARY_PARTS)
		buf_format(out, "%s%s%s", count ? ", " : "skeleton: ", bone, what);
}

void skeleton_summary(const struct skeleton *before, const struct skeleton *after, struct buf *out)
{
	unsigned count = 0;

	for (uint32_t i = 0; before && i < before->count; i++) {
		const struct joint *x = &before->joints[i], *y = skeleton_joint(after, x->bone);

		if (!y)
			difference_add_bone(x->bone, " removed", count++, out);
		else if (!joint_same(before, x, after, y))
			difference_add_bone(x->bone, "", count++, out);
	}
	for (uint32_t i = 0; after && i < after->count; i++) {
		if (!skeleton_joint(before, after->joints[i].bone))
			difference_add_bone(after->joints[i].bone, " added", count++, out);
	}
	if (count > SUMMARY_PARTS)
		buf_format(out, "; and %u more", count - SUMMARY_PARTS);
}
