// SPDX-License-Identifier: GPL-3.0-or-later
// stage.js - draws figures: bones as solid bodies, roots as marks, the ground and the axes.

// Only the mark of the chosen joint has this colour.
const CHOSEN = "#ff2e88";
const AXES = ["#e5484d", "#3fa34d", "#3b82f6"];
// Colours of bones: middle, left, right, chosen.
const TINTS = {
	light: [
		[120, 138, 166],
		[82, 145, 190],
		[190, 120, 104],
		[240, 138, 36],
	],
	dark: [
		[164, 178, 204],
		[112, 178, 222],
		[222, 152, 134],
		[255, 160, 60],
	],
};
const LIGHT = unit([-0.45, 0.75, 0.5]);

const colour = (rgb, light) => `rgb(${rgb.map((c) => round(min(255, c * light))).join()})`;

class Stage {
	constructor(canvas) {
		this.canvas = canvas;
		this.g = canvas.getContext("2d");
		this.marks = [];
	}

	// Gives the canvas the resolution of the screen.
	resize() {
		const { canvas } = this;
		const scale = min(window.devicePixelRatio || 1, 2);
		const [width, height] = [max(1, canvas.clientWidth), max(1, canvas.clientHeight)];
		if (canvas.width !== round(width * scale)) canvas.width = round(width * scale);
		if (canvas.height !== round(height * scale)) canvas.height = round(height * scale);
		this.g.setTransform(scale, 0, 0, scale, 0, 0);
		[this.width, this.height] = [width, height];
	}

	draw(scene) {
		const { g } = this;
		this.resize();
		const part = this.width / scene.figures.length;
		this.marks = [];
		this.light = scene.theme === "light";
		g.fillStyle = scene.colours.stage;
		g.fillRect(0, 0, this.width, this.height);
		scene.camera.aim(part, this.height);
		scene.figures.forEach((figure, i) => {
			g.save();
			g.beginPath();
			g.rect(i * part, 0, part, this.height);
			g["clip"]();
			g.translate(i * part, 0);
			this.left = i * part;
			this.drawFigure(scene, figure, i);
			g.restore();
		});
		if (scene.figures.length > 1) this.drawNames(scene, part);
	}

	drawFigure(scene, figure, number) {
		const { clip } = figure;
		this.camera = scene.camera;
		this.offset = number ? minus(clip.center, scene.figures[0].clip.center) : null;
		const chosen = number ? clip.nodes.findIndex((n) => n.name === scene.chosenName) : scene.chosen;
		if (scene.ground) this.drawGround(clip, scene.colours.grid);
		if (scene.axes) this.drawAxes(clip);
		if (scene.trail && chosen >= 0) this.drawTrail(figure, chosen, scene.colours);
		if (scene.onion) this.drawOnions(figure, scene.onion);
		const world = pose(clip, figure.frame);
		const drawn = clip.nodes.map((node) => isDrawn(node, figure.frame));
		this.shapes = [];
		if (clip.shapes && clip.shapes.length)
			for (const shape of clip.shapes) this.addShape(shape, world, figure.frame);
		else this.addBodies(clip, world, drawn, chosen);
		this.drawShapes();
		if (scene.names) this.drawLabels(clip, world, drawn, scene.colours.text);
		clip.nodes.forEach((_, i) => {
			const at = drawn[i] && this.camera.project(place(world[i]), this.offset);
			if (at && !number) this.marks.push([i, at[0] + this.left, at[1]]);
		});
		if (chosen >= 0 && drawn[chosen]) this.drawChosen(clip, world[chosen]);
	}

	// From the farthest to the nearest.
	drawShapes() {
		this.shapes.sort((a, b) => b.away - a.away);
		for (const shape of this.shapes) shape.draw(this.g);
		this.g.globalAlpha = 1;
	}

	// ---- lines ----

	// Clips lines at the camera.
	line(a, b) {
		const { camera } = this;
		let [from, to] = [camera.seen(a, this.offset), camera.seen(b, this.offset)];
		if (from[2] < camera.near && to[2] < camera.near) return;
		const cut = (p, q) => {
			const t = (camera.near - p[2]) / (q[2] - p[2]);
			return [mix(p[0], q[0], t), mix(p[1], q[1], t), camera.near];
		};
		if (from[2] < camera.near) from = cut(from, to);
		if (to[2] < camera.near) to = cut(to, from);
		this.g.moveTo(...camera.pixel(from));
		this.g.lineTo(...camera.pixel(to));
	}

	drawGround(clip, grid) {
		const { g } = this;
		const rough = clip.radius / 2.5;
		const ten = 10 ** floor(log10(rough));
		const cell = [1, 2, 5, 10].map((n) => n * ten).find((n) => n >= rough * 0.7);
		const y = abs(clip.least[1]) < clip.radius * 0.7 ? 0 : clip.least[1];
		const middle = [clip.center[0], clip.center[2]].map((v) => round(v / cell) * cell);
		g.strokeStyle = grid;
		g.lineWidth = 1;
		for (let i = -10; i <= 10; i++) {
			const reach = sqrt(100 - i * i) * cell;
			const [x, z] = middle.map((v) => v + i * cell);
			g.globalAlpha = (x === 0 || z === 0 ? 0.9 : 0.55) * (1 - abs(i) / 13);
			g.beginPath();
			this.line([x, y, middle[1] - reach], [x, y, middle[1] + reach]);
			this.line([middle[0] - reach, y, z], [middle[0] + reach, y, z]);
			g.stroke();
		}
		g.globalAlpha = 1;
	}

	// The format's axes: Y points down if it does in the format.
	drawAxes(clip) {
		const { g } = this;
		const length = clip.radius * 0.3;
		const begin = clip.yDown ? UPSIDE_DOWN : matrix([0, 0, 0], [0, 0, 0, 1], [1, 1, 1]);
		this.cross(begin, length, 1.5);
		g.font = "bold 11px system-ui, sans-serif";
		g.textAlign = "center";
		[0, 1, 2].forEach((i) => {
			const at = this.camera.project(times(axis(begin, i), length * 1.15), this.offset);
			g.fillStyle = AXES[i];
			if (at) g.fillText("XYZ"[i], at[0], at[1] + 4);
		});
	}

	cross(m, length, width) {
		const { g } = this;
		g.lineWidth = width;
		[0, 1, 2].forEach((i) => {
			g.strokeStyle = AXES[i];
			g.beginPath();
			this.line(place(m), add(place(m), times(unit(axis(m, i)), length)));
			g.stroke();
		});
	}

	// The bone's path in the whole clip, a dot per frame.
	drawTrail({ clip, frame, cache }, chosen, colours) {
		const { g } = this;
		const step = max(1, ceil(clip.frames / 400));
		if (cache.trail !== chosen) {
			cache.trail = chosen;
			cache.places = [];
			for (let at = 0; at < clip.frames; at += step)
				cache.places.push(isDrawn(clip.nodes[chosen], at) ? placeOf(clip, chosen, at) : null);
		}
		const { places } = cache;
		g.lineWidth = 1.5;
		g.strokeStyle = g.fillStyle = colours.trail;
		const past = min(places.length, floor(frame / step) + 1);
		const stretch = (from, to, alpha) => {
			g.globalAlpha = alpha;
			g.beginPath();
			for (let i = from; i < to; i++) {
				const at = places[i] && this.camera.project(places[i], this.offset);
				if (!at) continue;
				if (places.length <= 120) g.fillRect(at[0] - 1.5, at[1] - 1.5, 3, 3);
				if (places[i - 1]) this.line(places[i - 1], places[i]);
			}
			g.stroke();
		};
		stretch(past, places.length, 0.4);
		stretch(0, past, 0.95);
		g.globalAlpha = 1;
	}

	// Onion skin: earlier and later poses.
	drawOnions({ clip, frame }, step) {
		const { g } = this;
		const now = round(frame);
		for (let n = 3; n; n--) {
			for (const side of [-1, 1]) {
				const at = now + side * n * step;
				if (at < 0 || at >= clip.frames) continue;
				const world = pose(clip, at);
				g.globalAlpha = 0.75 / n;
				g.strokeStyle = g.fillStyle = side < 0 ? "#2f9e8f" : "#a855f7";
				g.lineWidth = 2;
				g.beginPath();
				clip.nodes.forEach((node, i) => {
					const p = this.camera.project(place(world[i]), this.offset);
					if (node.parent >= 0) this.line(place(world[node.parent]), place(world[i]));
					else if (p && isDrawn(node, at)) g.fillRect(p[0] - 2, p[1] - 2, 4, 4);
				});
				g.stroke();
			}
		}
		g.globalAlpha = 1;
	}

	// ---- bodies ----

	addShape(shape, world, frame) {
		const tint = sample(shape.tint, frame).map((v) => 255 * v);
		const alpha = 1 - sample(shape.clear, frame)[0];
		for (const part of partsOf(shape, pointsOf(shape, world, frame))) {
			const corners = part.map((p) => this.camera.seen(p, this.offset));
			if (corners.every((p) => p[2] > this.camera.near))
				this.addFace(corners, tint, max(0, min(1, alpha)), shape.kind < 2 && 2);
		}
	}

	addBodies(clip, world, drawn, chosen) {
		const tints = TINTS[this.light ? "light" : "dark"];
		clip.nodes.forEach((node, i) => {
			if (!drawn[i]) return;
			const tint = (n) => (n === chosen ? tints[3] : tints[clip.nodes[n].side]);
			const at = place(world[i]);
			if (node.parent >= 0 && drawn[node.parent])
				this.addBone(clip, world[node.parent], at, node.known ? tint(node.parent) : tints[0]);
			if (node.end) this.addBone(clip, world[i], add(at, turned(world[i], node.end)), tint(i));
			if (node.parent < 0 && (!node.children.length || clip.nodes.length === 1))
				this.addMark(clip, world[i], tint(i));
			else this.addJoint(clip, at, tint(i));
		});
	}

	// An octahedron from a joint to the next one.
	addBone(clip, from, to, tint) {
		const at = place(from);
		const way = minus(to, at);
		const length = size(way);
		if (length < clip.radius * 1e-4) return;
		const along = times(way, 1 / length);
		const wide = min(length * 0.11, clip.radius * 0.055);
		const [x, z] = [unit(axis(from, 0)), unit(axis(from, 2))];
		const u = unit(cross(along, abs(dot(along, z)) < 0.9 ? z : x));
		const v = cross(along, u);
		const middle = add(at, times(way, min(0.18, (wide * 1.4) / length)));
		const ring = [add(u, v), minus(v, u), times(add(u, v), -1), minus(u, v)].map((d) =>
			add(middle, times(d, wide / SQRT2)),
		);
		this.addOctahedron(at, to, ring, tint);
	}

	// Scales the mark with the object, within limits.
	addMark(clip, m, tint) {
		const at = place(m);
		const least = clip.radius * 0.035;
		const arms = [0, 1, 2].map((i) =>
			times(unit(axis(m, i)), least * max(0.25, min(4, size(axis(m, i))))),
		);
		const tips = arms.map((a) => [add(at, a), minus(at, a)]);
		this.addOctahedron(tips[1][0], tips[1][1], [tips[0][0], tips[2][0], tips[0][1], tips[2][1]], tint);
	}

	addOctahedron(top, bottom, ring, tint) {
		const [a, b, ...r] = [top, bottom, ...ring].map((p) => this.camera.seen(p, this.offset));
		if ([a, b, ...r].some((p) => !(p[2] > this.camera.near))) return;
		const middle = times(add(r[0], r[2]), 0.5);
		for (let i = 0; i < 4; i++) {
			this.addFace([a, r[i], r[(i + 1) % 4]], tint, 1, 0, middle);
			this.addFace([b, r[(i + 1) % 4], r[i]], tint, 1, 0, middle);
		}
	}

	// Or a line, or a dot, which shines by itself: `thin` is how wide. Where the camera sees the side of a face
	// that is towards the `middle` of its body, the body's other faces hide it.
	addFace(corners, tint, alpha, thin, middle) {
		let light = 1;
		if (!thin) {
			const eye = (p) => [p[0], p[1], -p[2]];
			const [a, b, c] = corners.map(eye);
			let normal = unit(cross(minus(b, a), minus(c, a)));
			if (dot(normal, a) > 0) normal = times(normal, -1);
			if (middle && dot(normal, minus(eye(middle), a)) > 0) return;
			light = 0.5 + 0.55 * max(0, dot(normal, LIGHT)) + 0.12 * normal[2];
		}
		const pixels = corners.map((p) => this.camera.pixel(p));
		this.shapes.push({
			away: corners.reduce((sum, p) => sum + p[2], 0) / corners.length,
			draw(g) {
				g.fillStyle = g.strokeStyle = colour(tint, light);
				g.lineWidth = thin || 0.6;
				g.globalAlpha = alpha;
				g.beginPath();
				if (pixels.length < 2) g.arc(...pixels[0], thin * 1.1, 0, 7);
				else pixels.forEach((p) => g.lineTo(...p));
				if (!thin) g.closePath();
				if (!thin || pixels.length < 2) g.fill();
				if (pixels.length > 1) g.stroke();
			},
		});
	}

	addJoint(clip, at, tint) {
		const seen = this.camera.seen(at, this.offset);
		if (!(seen[2] > this.camera.near)) return;
		const pixel = this.camera.pixel(seen);
		const radius = max(1.6, min(9, (clip.radius * 0.016 * this.camera.focus) / seen[2]));
		this.shapes.push({
			away: seen[2] - clip.radius * 0.02,
			draw(g) {
				g.fillStyle = colour(tint, 1.12);
				g.strokeStyle = colour(tint, 0.55);
				g.lineWidth = 1;
				g.beginPath();
				g.arc(...pixel, radius, 0, 7);
				g.fill();
				g.stroke();
			},
		});
	}

	drawChosen(clip, m) {
		const { g } = this;
		const at = this.camera.project(place(m), this.offset);
		if (!at) return;
		this.cross(m, clip.radius * 0.13, 2);
		g.beginPath();
		g.arc(...at, 7, 0, 7);
		g.fillStyle = "#fff";
		g.fill();
		g.beginPath();
		g.arc(...at, 5, 0, 7);
		g.fillStyle = CHOSEN;
		g.fill();
	}

	drawLabels(clip, world, drawn, text) {
		const { g } = this;
		g.font = "10px system-ui, sans-serif";
		g.textAlign = "left";
		g.fillStyle = text;
		clip.nodes.forEach((node, i) => {
			const at = drawn[i] && this.camera.project(place(world[i]), this.offset);
			if (at) g.fillText(node.name, at[0] + 8, at[1] + 3);
		});
	}

	// Labels the clips that are shown side by side.
	drawNames(scene, part) {
		const { g } = this;
		g.font = "bold 12px system-ui, sans-serif";
		g.textAlign = "center";
		g.fillStyle = scene.colours.text;
		g.strokeStyle = scene.colours.grid;
		scene.figures.forEach(({ clip }, i) => {
			g.fillText(clip.name, (i + 0.5) * part, this.height - 12, part - 20);
			if (i) g.strokeRect(i * part - 0.5, -1, 0, this.height + 2);
		});
	}

	// The joint at a position in the picture, or -1.
	joint(x, y, reach) {
		let [found, least] = [-1, reach];
		for (const [i, at, down] of this.marks) {
			const far = hypot(at - x, down - y);
			if (far < least) [found, least] = [i, far];
		}
		return found;
	}
}

// The transform of one bone at one time, without computing the others.
function placeOf(clip, number, frame) {
	let m = null;
	for (let i = number; i >= 0; i = clip.nodes[i].parent) {
		const node = clip.nodes[i];
		const [t, r, s] = ROLES.map((_, role) => localValue(node, role, frame));
		const local = matrix(t, r, s);
		m = m ? product(local, m) : local;
	}
	return place(clip.yDown ? product(UPSIDE_DOWN, m) : m);
}
