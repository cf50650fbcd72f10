// SPDX-License-Identifier: GPL-3.0-or-later
// drag.js - keys that are dragged up and down in the player's curves.

const NEAR = 8; // pixels around a key

class Dragging {
	// take: is given {node, curve, key, axis, value} when a key is let go.
	constructor(player, take) {
		Object.assign(this, { player, take, held: null });
		const { plot, curves } = player;
		const { show } = curves;
		// The scale stays while a key is held, which would move away under the pointer.
		curves.show = (...given) => {
			show.apply(curves, given);
			const { scale, curve } = this.held || {};
			const chart = scale && curves.charts.find((c) => c.curve === curve);
			if (chart) [chart.least, chart.most] = scale;
		};
		// Before the player's own, which scrub.
		const listen = (name, act) =>
			on(plot, name, (event) => act(event) && event.stopImmediatePropagation(), { capture: true });
		listen("pointerdown", (event) => this.grasp(event));
		listen("pointermove", (event) => this.pull(event));
		listen("pointerup", () => this.leave(true));
		listen("pointercancel", () => this.leave(false));
	}

	// The nearest key of the curves that are shown as they are stored, or null.
	near(x, y) {
		const { curves } = this.player;
		let [found, least] = [null, NEAR];
		for (const chart of curves.charts) {
			const { curve, shown, keys } = chart;
			if (shown.form !== new Shown(curve, "stored").form) continue;
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
		const { curve, key, axis, chart } = found;
		const at = key * curve.width + axis;
		const scale = [chart.least, chart.most];
		this.held = { ...found, node: player.chosen, at, scale, before: curve.values[at], y: event.offsetY };
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
		const { curve, chart, scale, at, y } = held;
		if (held.value === undefined && abs(offsetY - y) < 3) return true;
		const [least, most] = scale;
		const value = least + (1 - (offsetY - chart.y) / chart.height) * (most - least);
		held.value = Number(value.toPrecision(5));
		curve.values[at] = held.value;
		player.set({});
		return true;
	}

	leave(taken) {
		const { player, held } = this;
		if (!held) return false;
		this.held = null;
		if (!taken) held.curve.values[held.at] = held.before;
		player.set({});
		if (!taken || held.value === undefined) return true;
		this.taken = String(held.value);
		this.take({ ...held, value: this.taken });
		return true;
	}
}
