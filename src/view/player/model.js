// SPDX-License-Identifier: GPL-3.0-or-later
// model.js - evaluates a clip: curves at any time, and the bones' positions.

const keyFrame = (curve, key) => (curve.frames ? curve.frames[key] : key);
const keyValue = (curve, key) =>
	Array.from(curve.values.subarray(key * curve.width, (key + 1) * curve.width));

// The number of keys at or before the frame. Of several keys at a frame the last one counts.
function keysBefore(curve, frame) {
	if (!curve.frames) return max(0, min(curve.count, floor(frame) + 1));
	let [low, high] = [0, curve.count];
	while (low < high) {
		const middle = (low + high) >> 1;
		if (curve.frames[middle] <= frame) low = middle + 1;
		else high = middle;
	}
	return low;
}

function lastInFrame(curve, key) {
	while (curve.frames && key + 1 < curve.count && curve.frames[key + 1] === curve.frames[key]) key++;
	return key;
}

// The stored value, or the interpolated one; may be not finite.
function sample(curve, frame) {
	const before = keysBefore(curve, frame);
	if (before === 0) return keyValue(curve, lastInFrame(curve, 0));
	const from = keyValue(curve, before - 1);
	const at = keyFrame(curve, before - 1);
	if (before === curve.count || curve.step || at === frame) return from;
	const next = lastInFrame(curve, before);
	const to = keyValue(curve, next);
	const t = (frame - at) / (keyFrame(curve, next) - at);
	if (curve.width === 4) return slerp(from, to, t);
	return from.map((v, i) => {
		const way = to[i] - v;
		return v + (curve.turn ? way - 360 * round(way / 360) : way) * t;
	});
}

// A bone's value in one role; components that are not finite are as at rest.
function localValue(node, role, frame) {
	const curve = node.curves[role];
	if (!curve) return node.rest[role];
	const value = sample(curve, frame);
	if (curve.width === 4) return unitTurn(value) || node.rest[role];
	const rest = curve.euler ? node.angles : node.rest[role];
	const safe = value.map((v, i) => (finite(v) ? v : rest[i]));
	return curve.euler ? ofEuler(safe) : safe;
}

// Adds what is computed once: children, depth, order from the roots down.
function prepare(clip) {
	const { nodes } = clip;
	if (clip.order) return clip;
	clip.roots = [];
	for (const node of nodes) node.children = [];
	nodes.forEach((node, i) => {
		if (node.parent >= 0) nodes[node.parent].children.push(i);
		else clip.roots.push(i);
	});
	clip.order = [];
	const visit = [...clip.roots].reverse().map((i) => [i, 0]);
	while (visit.length) {
		const [i, depth] = visit.pop();
		nodes[i].depth = depth;
		clip.order.push(i);
		for (let c = nodes[i].children.length; c--; ) visit.push([nodes[i].children[c], depth + 1]);
	}
	clip.hangs = nodes.some((node) => node.parent >= 0);
	let keys = 0;
	for (const node of nodes) {
		node.side =
			(/(^|[^a-z])(l|left)([^a-z]|$)/i.test(node.name) && 1) ||
			(/(^|[^a-z])(r|right)([^a-z]|$)/i.test(node.name) && 2) ||
			0;
		for (const curve of node.curves) keys += curve ? curve.count : 0;
	}
	clip.keys = clip.keys || keys;
	// In formats that store a loop, the clip ends at the last frame; in others that lasts a frame too.
	clip.span = max(clip.hasLoop ? clip.frames - 1 : clip.frames, 1e-9);
	measure(clip);
	return clip;
}

// Formats whose Y points down are turned upside down.
const UPSIDE_DOWN = [1, 0, 0, 0, 0, -1, 0, 0, 0, 0, -1, 0];

// A matrix for each node. `frame` need not be whole.
function pose(clip, frame) {
	const world = [];
	for (const i of clip.order) {
		const node = clip.nodes[i];
		const [t, r, s] = ROLES.map((_, role) => localValue(node, role, frame));
		const local = matrix(t, r, s);
		const above = node.parent >= 0 ? world[node.parent] : clip.yDown ? UPSIDE_DOWN : null;
		world[i] = above ? product(above, local) : local;
	}
	return world;
}

// The points of a shape, in space.
function pointsOf(shape, world, frame) {
	const flat = shape.points ? sample(shape.points, frame) : [];
	const m = world[shape.node];
	const points = [];
	for (let i = 0; i < flat.length; i += 3) points.push(add(place(m), turned(m, flat.slice(i, i + 3))));
	return points;
}

// The lines or faces of a shape, each a list of points.
function partsOf(shape, points) {
	if (!shape.kind) return points.map((p) => [p]);
	const parts = [[]];
	for (const i of shape.index)
		if (i < 0) parts.push([]);
		else parts[parts.length - 1].push(points[i]);
	return parts.filter((part) => part.length > shape.kind);
}

// In formats that store keyframes, an object is drawn only in frames that have one.
function isDrawn(node, frame) {
	if (!node.keyframes) return true;
	const whole = floor(frame + 1e-6);
	return node.keyframes.frames.includes(whole);
}

// The bounds of the clip in all its frames, and the lengths of its bones.
function measure(clip) {
	const least = [Infinity, Infinity, Infinity];
	const most = [-Infinity, -Infinity, -Infinity];
	const step = max(1, ceil((clip.frames * clip.nodes.length) / 20000));
	const reach = (point) =>
		point.forEach((v, a) => {
			least[a] = min(least[a], v);
			most[a] = max(most[a], v);
		});
	const see = (frame) => {
		const world = pose(clip, frame);
		const shapes = clip.shapes || [];
		for (const shape of shapes) pointsOf(shape, world, frame).forEach(reach);
		if (!shapes.length) world.forEach((m, i) => isDrawn(clip.nodes[i], frame) && reach(place(m)));
	};
	for (let frame = 0; frame < clip.frames; frame += step) see(frame);
	if (least[0] > most[0]) least.fill(0), most.fill(0);
	clip.least = least;
	clip.most = most;
	clip.center = times(add(least, most), 0.5);
	clip.radius = size(minus(most, least)) / 2 || 1;
	measureEnds(clip);
}

// A bone without children keeps the direction that it has in the first frame.
function measureEnds(clip) {
	const world = pose(clip, 0);
	clip.nodes.forEach((node, i) => {
		node.end = null;
		if (node.parent < 0 || node.children.length) return;
		const way = times(minus(place(world[i]), place(world[node.parent])), 0.5);
		const squares = [0, 1, 2].map((a) => dot(axis(world[i], a), axis(world[i], a)));
		if (squares.every((v) => v > 1e-12))
			node.end = squares.map((v, a) => dot(axis(world[i], a), way) / v);
	});
}
