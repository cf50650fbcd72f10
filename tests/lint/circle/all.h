/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * all.h - the functions of this folder's files. They are part of no program: `make lint` expects
 * scripts/check-circles.awk to find the circles of expected.txt in them, and no other.
 */
#ifndef ANIMFS_TESTS_LINT_CIRCLE_ALL_H
#define ANIMFS_TESTS_LINT_CIRCLE_ALL_H

int upper_step(void);
int lower_run(void);
int bystander_count(void);
extern int (*const bystander_hook)(void);

#endif
