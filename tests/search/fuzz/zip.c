/* SPDX-License-Identifier: GPL-3.0-or-later */
/* zip.c - any bytes as a ZIP archive. */
#include "fuzz_archive.h"

FUZZ_CONTAINER("a.zip", "tests/data/zip/*.zip")
