/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ANIMFS_TESTS_LINT_CIRCLE_OUTER_H
#define ANIMFS_TESTS_LINT_CIRCLE_OUTER_H

#include "inner.h"

extern int outer_value;

#endif
