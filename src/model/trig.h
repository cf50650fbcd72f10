/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * trig.h - sin, cos and atan2 with the same bits on every machine.
 *
 * Those of C libraries differ in the last bit, from library to library and from processor to
 * processor. Where rotations nearly cancel, what remains is made of such bits, and so the digits of
 * a text would be.
 */
#ifndef ANIMFS_MODEL_TRIG_H
#define ANIMFS_MODEL_TRIG_H

double trig_sin(double angle); /* of -pi/2 to pi/2 */
double trig_cos(double angle); /* of -pi/4 to pi/4 */
double trig_atan2(double y, double x);
double trig_acos(double x);            /* of 0 to 1 */
double trig_hypot(double x, double y); /* no square overflows */

#endif
