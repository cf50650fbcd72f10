/* SPDX-License-Identifier: GPL-3.0-or-later */
/* edited.h - a fixture for tests of edits: a sample, and a copy of its model to be edited. */
#ifndef ANIMFS_TESTS_UNIT_EDITED_H
#define ANIMFS_TESTS_UNIT_EDITED_H

#include "sample.h"

static struct sample sample;
static struct anim *edited;
static struct err err;

static void setup(const char *name)
{
	sample = sample_open(name);
	edited = anim_edit(sample.anim);
	err_clear(&err);
}

static void teardown(void)
{
	anim_free(edited);
	sample_close(&sample);
}

#endif
