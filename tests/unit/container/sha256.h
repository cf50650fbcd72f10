/* SPDX-License-Identifier: GPL-3.0-or-later */
/* sha256.h - SHA-256 (FIPS 180-4), as the expectations of the samples have it. */
#ifndef ANIMFS_TESTS_UNIT_CONTAINER_SHA256_H
#define ANIMFS_TESTS_UNIT_CONTAINER_SHA256_H

#include "animfs/base.h"

#include <math.h>

static inline uint32_t sha256_turn(uint32_t v, unsigned by)
{
	return v >> by | v << (32 - by);
}

/* Returns the first 32 bits of the fraction of a root of the n-th prime. */
static inline uint32_t sha256_constant(unsigned n, double power)
{
	unsigned prime = 1;
	long double root;

	for (unsigned found = 0; found <= n; found++) {
		bool divides = true;

		while (divides) {
			divides = false;
			prime++;
			for (unsigned d = 2; d * d <= prime; d++)
				divides |= prime % d == 0;
		}
	}
	root = power == 2 ? sqrtl(prime) : cbrtl(prime);
	return (uint32_t)((root - floorl(root)) * 4294967296.0L);
}

static inline void sha256_block(uint32_t state[8], const uint8_t *p)
{
	static uint32_t k[64];
	uint32_t w[64], v[8];

	for (unsigned i = 0; !k[63] && i < 64; i++)
		k[i] = sha256_constant(i, 3);
	for (unsigned i = 0; i < 16; i++)
		w[i] = (uint32_t)p[4 * i] << 24 | (uint32_t)p[4 * i + 1] << 16 |
		       (uint32_t)p[4 * i + 2] << 8 | p[4 * i + 3];
	for (unsigned i = 16; i < 64; i++) {
		uint32_t a = w[i - 15], b = w[i - 2];

		w[i] = w[i - 16] + (sha256_turn(a, 7) ^ sha256_turn(a, 18) ^ a >> 3) + w[i - 7] +
		       (sha256_turn(b, 17) ^ sha256_turn(b, 19) ^ b >> 10);
	}
	memcpy(v, state, sizeof(v));
	for (unsigned i = 0; i < 64; i++) {
		uint32_t e = v[4], a = v[0];
		uint32_t t1 = v[7] + (sha256_turn(e, 6) ^ sha256_turn(e, 11) ^ sha256_turn(e, 25)) +
			      ((e & v[5]) ^ (~e & v[6])) + k[i] + w[i];
		uint32_t t2 = (sha256_turn(a, 2) ^ sha256_turn(a, 13) ^ sha256_turn(a, 22)) +
			      ((a & v[1]) ^ (a & v[2]) ^ (v[1] & v[2]));

		memmove(v + 1, v, 7 * sizeof(*v));
		v[4] += t1;
		v[0] = t1 + t2;
	}
	for (unsigned i = 0; i < 8; i++)
		state[i] += v[i];
}

static inline void sha256_hex(struct bytes bytes, char out[65])
{
	uint32_t state[8];
	uint8_t end[128] = {0};
	size_t rest = bytes.size % 64, whole = bytes.size - rest, last = rest < 56 ? 64 : 128;
	uint64_t bits = (uint64_t)bytes.size * 8;

	for (unsigned i = 0; i < 8; i++)
		state[i] = sha256_constant(i, 2);
	for (size_t i = 0; i < whole; i += 64)
		sha256_block(state, bytes.data + i);
	if (rest)
		memcpy(end, bytes.data + whole, rest);
	end[rest] = 0x80;
	for (unsigned i = 0; i < 8; i++)
		end[last - 1 - i] = (uint8_t)(bits >> 8 * i);
	for (size_t i = 0; i < last; i += 64)
		sha256_block(state, end + i);
	for (unsigned i = 0; i < 8; i++)
		snprintf(out + 8 * i, 9, "%08x", state[i]);
}

#endif
