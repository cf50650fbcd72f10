// SPDX-License-Identifier: GPL-3.0-or-later
// data.js - reads the block of data in a page, which clip_html.c and file_html.c write.
"use strict";

const ROLES = ["translation", "rotation", "scale"];

// Reads consecutive little-endian numbers.
class Reader {
	constructor(base64) {
		const letters = atob(base64);
		const bytes = new Uint8Array(letters.length);
		for (let i = 0; i < bytes.length; i++) bytes[i] = letters.charCodeAt(i);
		this.view = new DataView(bytes.buffer);
		this.at = 0;
	}
	skip(size) {
		this.at += size;
		return this.at - size;
	}
	u8() {
		return this.view.getUint8(this.skip(1));
	}
	u16() {
		return this.view.getUint16(this.skip(2), true);
	}
	u32() {
		return this.view.getUint32(this.skip(4), true);
	}
	f32() {
		return this.view.getFloat32(this.skip(4), true);
	}
	f64() {
		return this.view.getFloat64(this.skip(8), true);
	}
	text() {
		const size = this.u16();
		return new TextDecoder().decode(new Uint8Array(this.view.buffer, this.skip(size), size));
	}
	list(count, one) {
		const out = [];
		for (let i = 0; i < count; i++) out.push(one(i));
		return out;
	}
}

function readCurve(r, role) {
	const bits = r.u8();
	if (!(bits & 1)) return null;
	const width = bits & 128 ? 4 : 3;
	const count = r.u32();
	const curve = {
		role,
		width,
		count,
		step: !!(bits & 2),
		varies: !!(bits & 4),
		turn: !!(bits & 32),
		euler: !!(bits & 64),
		frames: bits & 8 ? r.list(count, () => r.u16()) : null,
		values: new Float64Array(count * width),
	};
	const grid = bits & 16 ? r.list(width, () => [r.f64(), r.f64()]) : null;
	for (let i = 0; i < curve.values.length; i++) {
		const lane = grid && grid[i % width];
		curve.values[i] = lane ? lane[0] + r.u16() * lane[1] : r.f32();
	}
	return curve;
}

function readKeyframes(r) {
	const count = r.u32();
	return {
		frames: r.list(count, () => r.u16()),
		flags: r.list(count, () => r.u8()),
		roles: r.list(count, () => r.u8()),
	};
}

function readNode(r) {
	const node = { name: r.text(), parent: r.u32() - 1, curves: [null, null, null], keyframes: null };
	node.known = !!r.u8();
	const rest = node.known ? r.list(9, () => r.f32()) : [0, 0, 0, 0, 0, 0, 1, 1, 1];
	node.rest = [rest.slice(0, 3), ofEuler(rest.slice(3, 6)), rest.slice(6)];
	node.angles = rest.slice(3, 6);
	return node;
}

function readClip(r, page) {
	const clip = { ...page, name: r.text(), loop: !!r.u8(), frames: r.u32(), seconds: r.f64() };
	clip.bones = r.u32();
	const count = r.u32();
	clip.nodes = r.list(count, () => readNode(r));
	for (const node of clip.nodes.slice(0, clip.bones)) {
		node.curves = ROLES.map((_, role) => readCurve(r, role));
		if (page.keyframes) node.keyframes = readKeyframes(r);
	}
	return clip;
}

// What each still says, or one value for all.
function readValues(r, role, width, { order, frames }) {
	const kind = r.u8();
	if (!kind) return null;
	const each = kind > 1;
	const stills = r.list(each ? max(...order) + 1 : 1, () => r.list(width, () => r.f32()));
	const values = Float64Array.from((each ? order : [0]).flatMap((i) => stills[i]));
	return { role, width, count: values.length / width, varies: each, frames: each ? frames : null, values };
}

// Stills are frames of equal length, between which the keys stand where their times are.
function readStills(r, page) {
	const clip = { ...page, foreign: true, shapes: [], name: r.text(), loop: !!r.u8() };
	const back = r.u8();
	const seconds = r.list(r.u32(), () => r.f32());
	const order = [...seconds.keys()];
	const last = seconds[seconds.length - 1];
	if (back) order.push(...order.slice(0, -1).reverse());
	clip.frames = order.length;
	clip.seconds = ((back ? 2 : 1) * last) / (order.length - 1) || 1;
	const frames = order.map((n, i) => (i === n ? seconds[n] : 2 * last - seconds[n]) / clip.seconds);
	frames[order.length - 1] = order.length - 1;
	const keys = { order, frames: frames.some((f, i) => abs(f - i) > 1e-3) ? frames : null };
	clip.nodes = r.list(r.u32(), () => ({
		name: r.text(),
		parent: r.u32() - 1,
		curves: [3, 4, 3].map((width, role) => readValues(r, role, width, keys)),
		rest: [
			[0, 0, 0],
			[0, 0, 0, 1],
			[1, 1, 1],
		],
		angles: [0, 0, 0],
		known: true,
	}));
	clip.shapes = r.list(r.u32(), () => ({
		node: r.u32(),
		kind: r.u8(),
		tint: readValues(r, 0, 3, keys),
		clear: readValues(r, 0, 1, keys),
		points: readValues(r, 0, r.u32(), keys),
		index: r.list(r.u32(), () => r.u32() | 0),
	}));
	clip.bones = clip.shapes.length || clip.nodes.length - 1;
	clip.keys = seconds.length;
	return clip;
}

// Dots, lines and faces between the joints of a clip; without a colour, that of bones.
function readParts(r, joints, stills) {
	if (stills) return r.list(r.u8(), () => [[...new Set(r.list(3, () => r.u8()))], r.list(3, () => r.u8())]);
	return r.list(joints, (i) => {
		const parent = r.u8() - 1;
		return [parent < 0 ? [i] : [parent, i]];
	});
}

function readThumbnail(r, stills) {
	const clip = { name: r.text(), frames: r.u32(), seconds: r.f64(), bits: r.u8() };
	clip.loop = !!(clip.bits & 1);
	Object.assign(clip, { bones: r.u32(), keys: r.u32(), poses: [], parts: [] });
	const poses = r.u8();
	const joints = r.u8();
	if (!poses) return clip;
	clip.parts = readParts(r, joints, stills);
	const least = r.list(3, () => r.f32());
	const most = r.list(3, () => r.f32());
	const place = (axis) => {
		const v = r.u16();
		return v === 65535 ? NaN : least[axis] + (v / 65534) * (most[axis] - least[axis]);
	};
	clip.poses = r.list(poses, () => r.list(joints, () => r.list(3, place)));
	return clip;
}

// A file of a site, shown by one of its clips.
function readFile(r) {
	const bits = r.u8();
	const file = { yDown: !!(bits & 1), path: r.text(), format: r.text(), count: r.u32(), names: r.text() };
	const clip = readThumbnail(r, bits & 16);
	return { ...clip, ...file, name: file.path };
}

// Reads a clip, the clips of a file, or the files of a site.
function readPage(base64) {
	const r = new Reader(base64);
	const kind = String.fromCharCode(r.u8());
	if (r.u8() !== 1) throw new Error("the page was made by another version");
	const bits = r.u8();
	const page = {
		kind,
		yDown: !!(bits & 1),
		flat: !!(bits & 2),
		keyframes: !!(bits & 4),
		hasLoop: !!(bits & 8),
		stills: bits & 16,
		file: r.text(),
		format: r.text(),
		unit: r.text(),
	};
	if (kind === "C") return readClip(r, page);
	if (kind === "S") return readStills(r, page);
	page.count = r.u32();
	if (kind === "I") return { ...page, file: "Animations", clips: r.list(page.count, () => readFile(r)) };
	page.clips = r.list(r.u32(), () => readThumbnail(r, page.stills));
	return page;
}
