/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "trig.h"

#include <math.h>

/* pi/2 is this and M_PI_2; of pi it is half of what M_PI lacks. */
#define REST_OF_HALF_PI 6.123233995736766e-17

/* The series 1 - x²/(n-1)n (1 - x²/(n-3)... from the term of x^n down to that of x^least. */
static double trig_series(double square, unsigned n, unsigned least)
{
	double sum = 1;

	for (; n >= least; n -= 2)
		sum = 1 - square / ((n - 1) * n) * sum;
	return sum;
}

double trig_sin(double angle)
{
	return angle * trig_series(angle * angle, 25, 3);
}

double trig_cos(double angle)
{
	return trig_series(angle * angle, 24, 2);
}

/* Of 0 to 1. Halving the angle twice makes it so small that few terms of the series count. */
static double trig_atan(double x)
{
	double sum = 0, square;

	x /= 1 + sqrt(1 + x * x);
	x /= 1 + sqrt(1 + x * x);
	square = x * x;
	for (unsigned n = 21; n >= 3; n -= 2)
		sum = square * (1.0 / n - sum);
	return 4 * (x - x * sum);
}

double trig_atan2(double y, double x)
{
	const double up = fabs(y), along = fabs(x);
	double angle;

	/* These are exact in every library, or NaN. */
	if (up == 0 || along == 0 || !isfinite(up) || !isfinite(along))
		return atan2(y, x);
	angle = up < along ? trig_atan(up / along)
			   : M_PI_2 - (trig_atan(along / up) - REST_OF_HALF_PI);
	if (x < 0)
		angle = M_PI - (angle - 2 * REST_OF_HALF_PI);
	return copysign(angle, y);
}

double trig_acos(double x)
{
	return 2 * trig_atan2(sqrt(1 - x), sqrt(1 + x));
}

double trig_hypot(double x, double y)
{
	const double most = fmax(fabs(x), fabs(y));

	if (most == 0 || !isfinite(x) || !isfinite(y))
		return hypot(x, y);
	return most * sqrt(x / most * (x / most) + y / most * (y / most));
}
