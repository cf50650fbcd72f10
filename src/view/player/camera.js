// SPDX-License-Identifier: GPL-3.0-or-later
// camera.js - projects points to pixels: a camera that looks at a point, 45 degrees field of view.

const HALF_VIEW = tan(PI / 8);

class Camera {
	constructor() {
		this.yaw = 30;
		this.pitch = 14;
		this.distance = 5;
		this.target = [0, 0, 0];
	}
	// Fits everything in these clips into the picture.
	fit(clips, aspect) {
		const radius = max(...clips.map((clip) => clip.radius));
		this.target = times(add(clips[0].least, clips[0].most), 0.5);
		this.distance = (radius * 1.12) / sin(PI / 8) / min(1, aspect);
	}
	aim(width, height) {
		const [sy, cy] = [sin(this.yaw / DEGREES), cos(this.yaw / DEGREES)];
		const [sp, cp] = [sin(this.pitch / DEGREES), cos(this.pitch / DEGREES)];
		this.right = [cy, 0, -sy];
		this.up = [-sy * sp, cp, -cy * sp];
		this.back = [sy * cp, sp, cy * cp];
		this.x = width / 2;
		this.y = height / 2;
		this.focus = height / 2 / HALF_VIEW;
		this.near = this.distance / 200;
	}
	// Coordinates along the camera's axes; the last is the distance from the camera.
	seen(point, offset) {
		const p = minus(point, offset ? add(this.target, offset) : this.target);
		return [dot(p, this.right), dot(p, this.up), this.distance - dot(p, this.back)];
	}
	pixel(seen) {
		const scale = this.focus / seen[2];
		return [this.x + seen[0] * scale, this.y - seen[1] * scale];
	}
	// Null for points behind the camera.
	project(point, offset) {
		const seen = this.seen(point, offset);
		return seen[2] > this.near ? this.pixel(seen) : null;
	}
	orbit(dx, dy) {
		this.yaw = (this.yaw - dx * 0.4) % 360;
		this.pitch = max(-90, min(90, this.pitch + dy * 0.4));
	}
	pan(dx, dy) {
		const scale = this.distance / this.focus;
		this.target = add(this.target, add(times(this.right, -dx * scale), times(this.up, dy * scale)));
	}
	zoom(factor) {
		this.distance = max(1e-9, min(1e60, this.distance * factor));
	}
}
