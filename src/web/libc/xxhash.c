/* SPDX-License-Identifier: GPL-3.0-or-later */
/* xxhash.c - the functions of libxxhash, of which only the header is for every machine. */
#define XXH_IMPLEMENTATION
#define XXH_STATIC_LINKING_ONLY
#include <xxhash.h>
