/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ANIMFS_TESTS_LINT_CIRCLE_INNER_H
#define ANIMFS_TESTS_LINT_CIRCLE_INNER_H

#define INNER_COUNT (outer_value + bystander_count())

#endif
