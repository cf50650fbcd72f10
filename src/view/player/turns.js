// SPDX-License-Identifier: GPL-3.0-or-later
// turns.js - vectors, quaternions [x, y, z, w] and Euler angles (degrees, R = Rz * Ry * Rx).

const {
	PI,
	SQRT2,
	abs,
	acos,
	asin,
	atan2,
	ceil,
	cos,
	exp,
	floor,
	fround,
	hypot,
	log10,
	max,
	min,
	round,
	sin,
	sqrt,
	tan,
} = Math;
const { isFinite: finite } = Number;
const DEGREES = 180 / PI;

const add = (a, b) => [a[0] + b[0], a[1] + b[1], a[2] + b[2]];
const minus = (a, b) => [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
const times = (a, n) => [a[0] * n, a[1] * n, a[2] * n];
const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
const size = (a) => hypot(a[0], a[1], a[2]);
const unit = (a) => times(a, 1 / (size(a) || 1));
const mix = (a, b, t) => a + (b - a) * t;

function ofEuler(degrees) {
	const [x, y, z] = degrees.map((d) => d / DEGREES / 2);
	const [sx, sy, sz] = [sin(x), sin(y), sin(z)];
	const [cx, cy, cz] = [cos(x), cos(y), cos(z)];
	return [
		sx * cy * cz - cx * sy * sz,
		cx * sy * cz + sx * cy * sz,
		cx * cy * sz - sx * sy * cz,
		cx * cy * cz + sx * sy * sz,
	];
}

// Of the equivalent Euler angles, the ones nearest to `near`.
function toEuler(q, near) {
	const [x, y, z, w] = q;
	const sine = max(-1, min(1, 2 * (w * y - x * z)));
	let angles;
	if (abs(sine) > 0.9999999) {
		const turn = 2 * atan2(x, w) * DEGREES;
		angles = [turn, asin(sine) * DEGREES, 0];
	} else {
		angles = [
			atan2(2 * (w * x + y * z), 1 - 2 * (x * x + y * y)) * DEGREES,
			asin(sine) * DEGREES,
			atan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z)) * DEGREES,
		];
	}
	const turned = (list) => list.map((a, i) => a + 360 * round((near[i] - a) / 360));
	const far = (list) => list.reduce((sum, a, i) => sum + abs(a - near[i]), 0);
	const one = turned(angles);
	const other = turned([angles[0] + 180, 180 - angles[1], angles[2] + 180]);
	return far(other) < far(one) ? other : one;
}

// Normalises; null if it is not a rotation.
function unitTurn(q) {
	const length = hypot(...q);
	return length > 0 && finite(length) ? q.map((v) => v / length) : null;
}

function slerp(a, b, t) {
	const [la, lb] = [hypot(...a) || 1, hypot(...b) || 1];
	const cosine = a.reduce((sum, v, i) => sum + v * b[i], 0) / (la * lb);
	const angle = acos(min(abs(cosine), 1));
	const [from, to] =
		angle > 1e-4 ? [sin((1 - t) * angle) / sin(angle), sin(t * angle) / sin(angle)] : [1 - t, t];
	return a.map((v, i) => (from * v) / la + ((cosine < 0 ? -to : to) * b[i]) / lb);
}

// ---- rows of a matrix of 3 x 4 ----

const FARTHEST = 1e60;
const bound = (v) => min(max(v, -FARTHEST), FARTHEST);

function matrix([tx, ty, tz], [x, y, z, w], [sx, sy, sz]) {
	return [
		(1 - 2 * (y * y + z * z)) * sx,
		2 * (x * y - w * z) * sy,
		2 * (x * z + w * y) * sz,
		tx,
		2 * (x * y + w * z) * sx,
		(1 - 2 * (x * x + z * z)) * sy,
		2 * (y * z - w * x) * sz,
		ty,
		2 * (x * z - w * y) * sx,
		2 * (y * z + w * x) * sy,
		(1 - 2 * (x * x + y * y)) * sz,
		tz,
	].map(bound);
}

function product(a, b) {
	const out = [];
	for (let row = 0; row < 12; row += 4)
		for (let i = 0; i < 4; i++)
			out.push(
				bound(
					a[row] * b[i] +
						a[row + 1] * b[i + 4] +
						a[row + 2] * b[i + 8] +
						(i === 3 ? a[row + 3] : 0),
				),
			);
	return out;
}

const place = (m) => [m[3], m[7], m[11]];
const axis = (m, i) => [m[i], m[i + 4], m[i + 8]];
const turned = (m, v) => [dot(m.slice(0, 3), v), dot(m.slice(4, 7), v), dot(m.slice(8, 11), v)];
