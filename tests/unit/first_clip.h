/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * first_clip.h - a fixture for tests of views: a sample, and its first clip as views get it. Define
 * FIRST_CLIP_OF, the name of the sample, before.
 */
#ifndef ANIMFS_TESTS_UNIT_FIRST_CLIP_H
#define ANIMFS_TESTS_UNIT_FIRST_CLIP_H

#include "sample.h"

static struct sample s;
static struct shown at;

static void setup(void)
{
	s = sample_open(FIRST_CLIP_OF);
	at = sample_shown(&s, 0, NULL);
}

static void teardown(void)
{
	sample_close(&s);
}

#endif
