// SPDX-License-Identifier: GPL-3.0-or-later
// curves.js - charts of the chosen bone's keys, one per role, over the frames of the clip.

const LINES = [...AXES, "#b07be0"];

// The fewest digits that identify the float32.
function digits(v) {
	if (!finite(v)) return String(v).replace("Infinity", "∞");
	for (let n = 1; n < 7; n++) {
		const short = Number(v.toPrecision(n));
		if (fround(short) === fround(v)) return plain(short);
	}
	return plain(Number(v.toPrecision(7)));
}

function plain(v) {
	const text = String(v);
	return text.length > 12 ? v.toExponential(3) : text.replace("-", "−");
}

// Shows a role of the bone: its numbers at any frame, as stored or converted (angles, quaternions).
class Shown {
	constructor(curve, form) {
		this.curve = curve;
		this.form =
			curve.role !== 1
				? "vector"
				: form === "stored"
					? curve.width === 4
						? "quaternion"
						: "degrees"
					: form;
		this.width = this.form === "quaternion" ? 4 : 3;
		this.near = [0, 0, 0];
	}
	at(frame) {
		return this.turn(sample(this.curve, frame));
	}
	key(key) {
		return this.turn(keyValue(this.curve, key));
	}
	turn(value) {
		if (this.form === "quaternion" && value.length === 3) return ofEuler(value);
		if (this.form !== "degrees" || value.length === 3) return value;
		const q = unitTurn(value);
		if (!q) return [NaN, NaN, NaN];
		this.near = toEuler(q, this.near);
		return this.near;
	}
}

class Curves {
	constructor(canvas) {
		this.canvas = canvas;
		this.g = canvas.getContext("2d");
		this.charts = [];
	}

	// Made once for a bone; drawn again for each frame.
	show(clip, node, form, colours) {
		this.clip = clip;
		this.colours = colours;
		this.charts = (node ? node.curves : []).filter(Boolean).map((curve) => this.plan(curve, form));
		this.flags = node && node.keyframes;
	}

	plan(curve, form) {
		const shown = new Shown(curve, form);
		const chart = { curve, shown, lines: [], keys: [], gaps: [], least: Infinity, most: -Infinity };
		const { frames } = this.clip;
		const fine = frames <= 200 && !curve.step ? 4 : 1;
		const skip = max(1, floor(frames / 4000));
		for (let i = 0; i <= (frames - 1) * fine; i += skip)
			this.addPoint(chart, i / fine, shown.at(i / fine));
		shown.near = [0, 0, 0];
		for (let key = 0; key < curve.count; key++) {
			const value = shown.key(key);
			chart.keys.push([keyFrame(curve, key), value]);
			if (!value.every(finite)) chart.gaps.push(keyFrame(curve, key));
		}
		if (chart.least > chart.most) [chart.least, chart.most] = [0, 0];
		const room = max((chart.most - chart.least) * 0.08, abs(chart.most) * 1e-6, 1e-6);
		const pad = chart.most - chart.least < 1e-9 ? max(0.5, abs(chart.most) * 0.1) : room;
		chart.least -= pad;
		chart.most += pad;
		return chart;
	}

	addPoint(chart, frame, value) {
		chart.lines.push([frame, value]);
		for (const v of value) {
			if (!finite(v)) continue;
			chart.least = min(chart.least, v);
			chart.most = max(chart.most, v);
		}
	}

	draw(frame, cursor) {
		const { canvas, g } = this;
		const columns = canvas.clientWidth >= 620 ? max(1, this.charts.length) : 1;
		const rows = ceil(max(1, this.charts.length) / columns);
		const tall = `${rows * (rows > 1 ? 150 : 190)}px`;
		if (canvas.style.height !== tall) canvas.style.height = tall;
		Stage.prototype.resize.call(this);
		g.fillStyle = this.colours.panel;
		g.fillRect(0, 0, this.width, this.height);
		g.font = "11px system-ui, sans-serif";
		if (!this.charts.length) {
			g.fillStyle = this.colours.faint;
			g.textAlign = "center";
			g.fillText("No keys to show: choose a bone that has some", this.width / 2, this.height / 2);
		}
		this.charts.forEach((chart, i) => {
			const [width, height] = [this.width / columns, this.height / rows];
			chart.x = (i % columns) * width + 52;
			chart.y = floor(i / columns) * height + 24;
			chart.width = width - 66;
			chart.height = height - 46;
			this.drawChart(chart, frame, cursor);
		});
	}

	across(chart, frame) {
		return chart.x + (frame / max(1, this.clip.frames - 1)) * chart.width;
	}

	down(chart, v) {
		return chart.y + chart.height * (1 - (v - chart.least) / (chart.most - chart.least));
	}

	drawChart(chart, frame, cursor) {
		this.drawScale(chart);
		const { g } = this;
		g.save();
		g.beginPath();
		g.rect(chart.x - 6, chart.y - 6, chart.width + 12, chart.height + 12);
		g["clip"]();
		this.drawGaps(chart);
		for (let i = 0; i < chart.shown.width; i++) this.drawLine(chart, i);
		this.drawKeys(chart);
		g.restore();
		this.drawMoment(chart, frame, this.colours.accent, 2);
		if (cursor !== null) this.drawMoment(chart, cursor, this.colours.faint, 1);
	}

	drawScale(chart) {
		const { g, colours, clip } = this;
		const { curve, shown } = chart;
		const unitOf = curve.role === 0 ? clip.unit : curve.role === 1 ? shown.form : "factor";
		g.textAlign = "left";
		g.font = "bold 11px system-ui, sans-serif";
		g.fillStyle = colours.text;
		const title = ROLES[curve.role];
		g.fillText(title, chart.x, chart.y - 11);
		const at = chart.x + g.measureText(title).width + 6;
		g.font = "11px system-ui, sans-serif";
		g.fillStyle = colours.faint;
		const how = curve.varies
			? `${curve.count} ${curve.count === 1 ? "key" : "keys"}${curve.step ? ", held" : ""}`
			: "one value";
		g.fillText(
			`${unitOf} · ${how}`,
			at,
			chart.y - 11,
			max(20, chart.width + chart.x - at - shown.width * 13),
		);
		g.textAlign = "right";
		for (let i = shown.width; i--; ) {
			g.fillStyle = LINES[i];
			g.fillText("xyzw"[i], chart.x + chart.width - (shown.width - 1 - i) * 13, chart.y - 11);
		}
		g.strokeStyle = colours.line;
		g.lineWidth = 1;
		for (const v of ticks(chart.least, chart.most, chart.height / 34)) {
			const y = round(this.down(chart, v)) + 0.5;
			g.beginPath();
			g.moveTo(chart.x, y);
			g.lineTo(chart.x + chart.width, y);
			g.stroke();
			g.fillStyle = colours.faint;
			g.textAlign = "right";
			g.fillText(digits(v), chart.x - 6, y + 3.5, 46);
		}
		g.textAlign = "center";
		for (const v of ticks(0, max(1, clip.frames - 1), chart.width / 60))
			if (Number.isInteger(v))
				g.fillText(String(v), this.across(chart, v), chart.y + chart.height + 15);
	}

	// Marks keys that are not a number; they have no point.
	drawGaps(chart) {
		const { g } = this;
		g.fillStyle = "#e5484d";
		for (const frame of chart.gaps) {
			const x = this.across(chart, frame);
			g.globalAlpha = 0.25;
			g.fillRect(x - 3, chart.y, 6, chart.height);
			g.globalAlpha = 1;
			g.fillText("nan", x, chart.y + 9);
		}
	}

	// Draws a dashed line before the first key and after the last, where values are held. An angle that
	// wraps around leaves a gap.
	drawLine(chart, i) {
		const { g } = this;
		const { curve, lines, shown } = chart;
		const wraps = curve.turn && !curve.step && shown.form === "degrees";
		const first = keyFrame(curve, 0);
		const last = curve.varies ? keyFrame(curve, curve.count - 1) : 0;
		g.strokeStyle = LINES[i];
		g.lineWidth = 1.5;
		const stretch = (from, to, broken) => {
			g.setLineDash(broken ? [3, 4] : []);
			g.beginPath();
			let last = NaN;
			for (const [frame, value] of lines) {
				if (frame < from || frame > to) continue;
				const v = value[i];
				const [x, y] = [this.across(chart, frame), this.down(chart, v)];
				if (!finite(last) || (wraps && abs(v - last) > 180)) g.moveTo(x, y);
				else if (finite(v)) {
					if (curve.step) g.lineTo(x, this.down(chart, last));
					g.lineTo(x, y);
				}
				last = v;
			}
			g.stroke();
		};
		if (first > 0) stretch(0, first, true);
		stretch(first, last, false);
		if (last < this.clip.frames - 1) stretch(last, Infinity, true);
		g.setLineDash([]);
	}

	// Draws each key as a dot, or a square if keys hold; none if they are too close together.
	drawKeys(chart) {
		const { g } = this;
		const { curve } = chart;
		if (curve.count > 1 && chart.width / curve.count < 2.5) return;
		const r = chart.width / curve.count < 7 ? 1.6 : 2.6;
		for (const [frame, value] of chart.keys)
			value.forEach((v, i) => {
				if (!finite(v)) return;
				const [x, y] = [this.across(chart, frame), this.down(chart, v)];
				g.fillStyle = LINES[i];
				g.beginPath();
				if (curve.step) g.rect(x - r, y - r, 2 * r, 2 * r);
				else g.arc(x, y, r, 0, 7);
				g.fill();
			});
	}

	drawMoment(chart, frame, stroke, width) {
		const { g } = this;
		const x = this.across(chart, min(frame, this.clip.frames - 1));
		g.strokeStyle = stroke;
		g.lineWidth = width;
		g.beginPath();
		g.moveTo(x, chart.y - 4);
		g.lineTo(x, chart.y + chart.height + 4);
		g.stroke();
	}

	// The frame at a position on the canvas, or null.
	frameAt(x, y) {
		const chart = this.charts.find(
			(c) => x >= c.x - 8 && x <= c.x + c.width + 8 && y >= c.y - 24 && y <= c.y + c.height + 22,
		);
		if (!chart) return null;
		const frame = round(((x - chart.x) / chart.width) * (this.clip.frames - 1));
		return max(0, min(this.clip.frames - 1, frame));
	}
}

// About `count` round numbers in a range.
function ticks(least, most, wanted) {
	const rough = (most - least) / max(1, wanted);
	const ten = 10 ** floor(log10(rough));
	const step = [1, 2, 5, 10].map((n) => n * ten).find((n) => n >= rough);
	const out = [];
	for (let i = ceil(least / step); i * step <= most && out.length < 50; i++)
		out.push(Number((i * step).toPrecision(12)));
	return out;
}
