/* SPDX-License-Identifier: GPL-3.0-or-later */
/* random.h - random choices that are the same in every run: xorshift64. */
#ifndef ANIMFS_TESTS_UNIT_RANDOM_H
#define ANIMFS_TESTS_UNIT_RANDOM_H

#include <stdint.h>

static uint64_t random_state = 88172645463325252u; /* the seed; must not be 0 */

static inline uint64_t random_bits(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

static inline uint32_t below(uint32_t end)
{
	return (uint32_t)(random_bits() >> 33) % end;
}

#endif
