/* SPDX-License-Identifier: GPL-3.0-or-later */
/* linux/limits.h - the C library's own say the same. */
#ifndef ANIMFS_WEB_LIBC_LINUX_LIMITS_H
#define ANIMFS_WEB_LIBC_LINUX_LIMITS_H

#include <limits.h>

#endif
