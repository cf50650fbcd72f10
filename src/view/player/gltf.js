// SPDX-License-Identifier: GPL-3.0-or-later
// gltf.js - reads the first animation of a glTF file with embedded buffers as a clip. What JSON names
// is in brackets if short.txt has the name, too.

const WIDTHS = { SCALAR: 1, VEC2: 2, VEC3: 3, VEC4: 4, MAT4: 16 };

function gltfBuffer(buffer) {
	const data = /^data:[^,]*;base64,/.exec(buffer.uri || "");
	if (!data) throw new Error("the glTF has its buffer in another file");
	return new Reader(buffer.uri.slice(data[0].length)).view;
}

function gltfNumbers(gltf, buffers, number) {
	const accessor = gltf.accessors[number];
	const part = gltf.bufferViews[accessor.bufferView];
	if (accessor.componentType !== 5126 || accessor.sparse) throw new Error("the glTF's keys are no floats");
	const width = WIDTHS[accessor.type];
	const begin = (part.byteOffset || 0) + (accessor.byteOffset || 0);
	const stride = part.byteStride || width * 4;
	const out = new Float64Array(accessor["count"] * width);
	for (let i = 0; i < out.length; i++)
		out[i] = buffers[part.buffer].getFloat32(begin + floor(i / width) * stride + (i % width) * 4, true);
	return out;
}

function gltfNodes(gltf) {
	const shown = gltf["nodes"].map((node) => !("mesh" in node) && !("camera" in node));
	const nodes = gltf["nodes"].map((node) => ({
		name: node.name || "",
		parent: -1,
		curves: [null, null, null],
		known: true,
		rest: [node.translation || [0, 0, 0], node.rotation || [0, 0, 0, 1], node.scale || [1, 1, 1]],
		angles: [0, 0, 0],
	}));
	gltf["nodes"].forEach((node, i) => (node.children || []).forEach((child) => (nodes[child].parent = i)));
	const numbers = [];
	for (let i = 0, n = 0; i < nodes.length; i++) numbers.push(shown[i] ? n++ : -1);
	for (const node of nodes)
		while (node.parent >= 0 && !shown[node.parent]) node.parent = nodes[node.parent].parent;
	for (const node of nodes) node.parent = node.parent < 0 ? -1 : numbers[node.parent];
	return [nodes.filter((_, i) => shown[i]), nodes];
}

function readGltf(text, file) {
	const gltf = JSON.parse(text);
	const [animation] = gltf.animations || [];
	if (!animation) throw new Error("the glTF has no animation");
	const buffers = gltf.buffers.map(gltfBuffer);
	const [nodes, all] = gltfNodes(gltf);
	const extras = animation.extras || {};
	const rate = extras.fps || 30;
	const clip = {
		name: animation.name || file,
		file,
		format: "glTF",
		unit: "m",
		nodes,
		bones: nodes.length,
		frames: 1,
	};
	for (const { sampler, target } of animation.channels) {
		const role = ROLES.indexOf(target.path);
		if (role < 0 || target["node"] === undefined) continue;
		const { input, output, interpolation } = animation.samplers[sampler];
		const values = gltfNumbers(gltf, buffers, output);
		const frames = Array.from(gltfNumbers(gltf, buffers, input), (t) => round(t * rate * 1e4) / 1e4);
		const width = role === 1 ? 4 : 3;
		// A cubic spline has three values per key; the middle one is the key's.
		const kept =
			interpolation === "CUBICSPLINE" ? values.filter((_, i) => floor(i / width) % 3 === 1) : values;
		const curve = {
			role,
			width,
			count: frames.length,
			step: interpolation === "STEP",
			varies: frames.length > 1,
			frames,
			values: kept,
		};
		all[target["node"]].curves[role] = curve;
		clip.frames = max(clip.frames, ceil(frames[frames.length - 1]) + 1);
	}
	return { ...clip, loop: extras.loop !== false, hasLoop: true, seconds: 1 / rate };
}
