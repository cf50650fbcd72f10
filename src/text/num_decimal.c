/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "num_decimal.h"
#include "num.h"

#include <locale.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>

const uint64_t ten_bits[TEN_MAX - TEN_MIN + 1] = {
	0x86ccbb52ea94baea, 0xa87fea27a539e9a5, 0xd29fe4b18e88640e, 0x83a3eeeef9153e89,
	0xa48ceaaab75a8e2b, 0xcdb02555653131b6, 0x808e17555f3ebf11, 0xa0b19d2ab70e6ed6,
	0xc8de047564d20a8b, 0xfb158592be068d2e, 0x9ced737bb6c4183d, 0xc428d05aa4751e4c,
	0xf53304714d9265df, 0x993fe2c6d07b7fab, 0xbf8fdb78849a5f96, 0xef73d256a5c0f77c,
	0x95a8637627989aad, 0xbb127c53b17ec159, 0xe9d71b689dde71af, 0x9226712162ab070d,
	0xb6b00d69bb55c8d1, 0xe45c10c42a2b3b05, 0x8eb98a7a9a5b04e3, 0xb267ed1940f1c61c,
	0xdf01e85f912e37a3, 0x8b61313bbabce2c6, 0xae397d8aa96c1b77, 0xd9c7dced53c72255,
	0x881cea14545c7575, 0xaa242499697392d2, 0xd4ad2dbfc3d07787, 0x84ec3c97da624ab4,
	0xa6274bbdd0fadd61, 0xcfb11ead453994ba, 0x81ceb32c4b43fcf4, 0xa2425ff75e14fc31,
	0xcad2f7f5359a3b3e, 0xfd87b5f28300ca0d, 0x9e74d1b791e07e48, 0xc612062576589dda,
	0xf79687aed3eec551, 0x9abe14cd44753b52, 0xc16d9a0095928a27, 0xf1c90080baf72cb1,
	0x971da05074da7bee, 0xbce5086492111aea, 0xec1e4a7db69561a5, 0x9392ee8e921d5d07,
	0xb877aa3236a4b449, 0xe69594bec44de15b, 0x901d7cf73ab0acd9, 0xb424dc35095cd80f,
	0xe12e13424bb40e13, 0x8cbccc096f5088cb, 0xafebff0bcb24aafe, 0xdbe6fecebdedd5be,
	0x89705f4136b4a597, 0xabcc77118461cefc, 0xd6bf94d5e57a42bc, 0x8637bd05af6c69b5,
	0xa7c5ac471b478423, 0xd1b71758e219652b, 0x83126e978d4fdf3b, 0xa3d70a3d70a3d70a,
	0xcccccccccccccccc, 0x8000000000000000, 0xa000000000000000, 0xc800000000000000,
	0xfa00000000000000, 0x9c40000000000000, 0xc350000000000000, 0xf424000000000000,
	0x9896800000000000, 0xbebc200000000000, 0xee6b280000000000, 0x9502f90000000000,
	0xba43b74000000000, 0xe8d4a51000000000, 0x9184e72a00000000, 0xb5e620f480000000,
	0xe35fa931a0000000, 0x8e1bc9bf04000000, 0xb1a2bc2ec5000000, 0xde0b6b3a76400000,
	0x8ac7230489e80000, 0xad78ebc5ac620000, 0xd8d726b7177a8000, 0x878678326eac9000,
	0xa968163f0a57b400, 0xd3c21bcecceda100, 0x84595161401484a0, 0xa56fa5b99019a5c8,
	0xcecb8f27f4200f3a, 0x813f3978f8940984, 0xa18f07d736b90be5, 0xc9f2c9cd04674ede,
	0xfc6f7c4045812296, 0x9dc5ada82b70b59d, 0xc5371912364ce305, 0xf684df56c3e01bc6,
	0x9a130b963a6c115c, 0xc097ce7bc90715b3, 0xf0bdc21abb48db20, 0x96769950b50d88f4,
	0xbc143fa4e250eb31, 0xeb194f8e1ae525fd, 0x92efd1b8d0cf37be, 0xb7abc627050305ad,
	0xe596b7b0c643c719, 0x8f7e32ce7bea5c6f, 0xb35dbf821ae4f38b, 0xe0352f62a19e306e,
	0x8c213d9da502de45, 0xaf298d050e4395d6, 0xdaf3f04651d47b4c, 0x88d8762bf324cd0f,
	0xab0e93b6efee0053, 0xd5d238a4abe98068, 0x85a36366eb71f041, 0xa70c3c40a64e6c51,
	0xd0cf4b50cfe20765, 0x82818f1281ed449f, 0xa321f2d7226895c7, 0xcbea6f8ceb02bb39,
	0xfee50b7025c36a08, 0x9f4f2726179a2245, 0xc722f0ef9d80aad6, 0xf8ebad2b84e0d58b,
	0x9b934c3b330c8577, 0xc2781f49ffcfa6d5, 0xf316271c7fc3908a,
};

const double tens[TEN_MAX - TEN_MIN + 1] = {
	1e-65, 1e-64, 1e-63, 1e-62, 1e-61, 1e-60, 1e-59, 1e-58, 1e-57, 1e-56, 1e-55, 1e-54,
	1e-53, 1e-52, 1e-51, 1e-50, 1e-49, 1e-48, 1e-47, 1e-46, 1e-45, 1e-44, 1e-43, 1e-42,
	1e-41, 1e-40, 1e-39, 1e-38, 1e-37, 1e-36, 1e-35, 1e-34, 1e-33, 1e-32, 1e-31, 1e-30,
	1e-29, 1e-28, 1e-27, 1e-26, 1e-25, 1e-24, 1e-23, 1e-22, 1e-21, 1e-20, 1e-19, 1e-18,
	1e-17, 1e-16, 1e-15, 1e-14, 1e-13, 1e-12, 1e-11, 1e-10, 1e-9,  1e-8,  1e-7,  1e-6,
	1e-5,  1e-4,  1e-3,  1e-2,  1e-1,  1e0,   1e1,   1e2,   1e3,   1e4,   1e5,   1e6,
	1e7,   1e8,   1e9,   1e10,  1e11,  1e12,  1e13,  1e14,  1e15,  1e16,  1e17,  1e18,
	1e19,  1e20,  1e21,  1e22,  1e23,  1e24,  1e25,  1e26,  1e27,  1e28,  1e29,  1e30,
	1e31,  1e32,  1e33,  1e34,  1e35,  1e36,  1e37,  1e38,  1e39,  1e40,  1e41,  1e42,
	1e43,  1e44,  1e45,  1e46,  1e47,  1e48,  1e49,  1e50,  1e51,  1e52,  1e53,  1e54,
	1e55,  1e56,  1e57,  1e58,  1e59,  1e60,  1e61,  1e62,  1e63,  1e64,  1e65,
};
static locale_t c_locale;

static void make_c_locale(void)
{
	/* A constant object of the C library: it needs no memory and no release. */
	c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

/* Reads directly to float32: going via double would round twice. */
void num_slow_text(const char *text, double *wide, float *narrow)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, make_c_locale);
	if (wide)
		*wide = strtod_l(text, NULL, c_locale);
	if (narrow)
		*narrow = strtof_l(text, NULL, c_locale);
}

/* Rounds by writing a text, since scaling would not round exactly. */
struct decimal num_rounded(double v, int digits)
{
	struct decimal d = {0, 0};
	char text[48];
	const char *p = text;

	snprintf(text, sizeof(text), "%.*e", digits - 1, fabs(v));
	for (; *p != 'e'; p++)
		if (*p >= '0' && *p <= '9') /* skip the point, which depends on the locale */
			d.digits = d.digits * 10 + (uint64_t)(*p - '0');
	d.exponent = atoi(p + 1) - (digits - 1);
	return d;
}

bool num_plain_value(const struct num_plain *n, double *out)
{
	double value = (double)(int64_t)n->digits / ten((int)n->places);

	*out = n->negative ? -value : value;
	return n->digits <= UINT64_C(1) << 53 && !is_half_way(value);
}
