/* SPDX-License-Identifier: GPL-3.0-or-later */
/* stdlib.h - with qsort_r, which WebAssembly's C library has not got (sort.c). */
#ifndef ANIMFS_WEB_LIBC_STDLIB_H
#define ANIMFS_WEB_LIBC_STDLIB_H

#include_next <stdlib.h>

void qsort_r(void *array, size_t count, size_t size,
	     int (*compare)(const void *a, const void *b, void *closure), void *closure);

#endif
