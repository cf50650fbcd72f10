// SPDX-License-Identifier: GPL-3.0-or-later
// drag.js - keys that are dragged up and down in the player's curves.

const NEAR = 8; // pixels around a key
const UNIT_TOLERANCE = 0.01; // of curve_edit.c

// The form that a curve has in tables: degrees, but what is not of unit length stays as it is stored.
function formInTables(curve) {
	for (let key = 0; curve.width === 4 && key < curve.count; key++)
		if (!(abs(hypot(...keyValue(curve, key)) - 1) <= UNIT_TOLERANCE)) return "stored";
	return "degrees";
}

class Dragging {
	// take: is given {node, curve, key, axis, was, value, scale} when a key is let go.
	constructor(player, take) {
		Object.assign(this, { player, take, held: null });
		const { plot, curves, forms } = player;
		const { show, plan } = curves;
		forms.append(make("option", { value: "tables", text: "as in tables" }));
		forms.value = "tables";
		player.set({ form: "tables" });
		curves.plan = (curve, form) => {
			const own = formInTables(curve);
			const chart = plan.call(curves, curve, form === "tables" ? own : form);
			// A quaternion with another number is not of unit length, which is refused.
			chart.drags = own === "degrees" && chart.shown.form !== "quaternion";
			return chart;
		};
		// The scale stays while a key is held, which would move away under the pointer.
		curves.show = (...given) => {
			show.apply(curves, given);
			const { scale, curve, key, cells } = this.held || {};
			const chart = scale && curves.charts.find((c) => c.curve === curve);
			if (!chart) return;
			[chart.least, chart.most] = scale;
			// A quaternion may say the same in other angles.
			chart.keys[key][1] = cells;
		};
		// Before the player's own, which scrub.
		const listen = (name, act) =>
			on(plot, name, (event) => act(event) && event.stopImmediatePropagation(), { capture: true });
		listen("pointerdown", (event) => this.grasp(event));
		listen("pointermove", (event) => this.pull(event));
		listen("pointerup", () => this.leave(true));
		listen("pointercancel", () => this.leave(false));
	}

	// The nearest key of the curves that can be dragged, or null.
	near(x, y) {
		const { curves } = this.player;
		let [found, least] = [null, NEAR];
		for (const chart of curves.charts) {
			const { curve, drags, keys } = chart;
			if (!drags) continue;
			keys.forEach(([frame, value], key) => {
				const dx = curves.across(chart, frame) - x;
				if (abs(dx) > least) return;
				value.forEach((v, axis) => {
					const far = hypot(dx, curves.down(chart, v) - y);
					if (far < least) [found, least] = [{ chart, curve, key, axis }, far];
				});
			});
		}
		return found;
	}

	grasp(event) {
		const { player } = this;
		const found = event.button === 0 && this.near(event.offsetX, event.offsetY);
		if (!found) return false;
		const { curve, key, chart } = found;
		const before = keyValue(curve, key);
		const cells = [...chart.keys[key][1]];
		const scale = [chart.least, chart.most];
		const was = cells[found.axis];
		this.held = { ...found, node: player.chosen, scale, before, cells, was, y: event.offsetY };
		player.plot.setPointerCapture(event.pointerId);
		player.scrub(keyFrame(curve, key));
		return true;
	}

	// A key moves only when the pointer has, by a little.
	pull({ offsetX, offsetY, buttons }) {
		const { player, held } = this;
		if (!held) {
			player.plot.style.cursor = !buttons && this.near(offsetX, offsetY) ? "ns-resize" : "";
			return false;
		}
		const { curve, key, axis, chart, scale, cells, y } = held;
		if (held.value === undefined && abs(offsetY - y) < 3) return true;
		const [least, most] = scale;
		const value = least + (1 - (offsetY - chart.y) / chart.height) * (most - least);
		held.value = Number(value.toPrecision(5));
		cells[axis] = held.value;
		curve.values.set(curve.width === 4 ? ofEuler(cells) : cells, key * curve.width);
		player.set({});
		return true;
	}

	leave(taken) {
		const { player, held } = this;
		if (!held) return false;
		this.held = null;
		if (!taken) held.curve.values.set(held.before, held.key * held.curve.width);
		player.set({});
		if (!taken || held.value === undefined) return true;
		this.taken = String(held.value);
		this.take({ ...held, value: this.taken });
		return true;
	}
}
