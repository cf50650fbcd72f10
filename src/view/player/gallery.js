// SPDX-License-Identifier: GPL-3.0-or-later
// gallery.js - the page of a file: its clips as small moving figures, and a filter.

// Draws a clip's thumbnail, seen from between front and side, interpolating poses linearly.
class Thumbnail extends Stage {
	constructor(clip, page) {
		super(make("canvas", { role: "img", "aria-label": `${clip.name} in motion` }));
		this.clip = clip;
		this.yDown = page.yDown || clip.yDown;
		this.seen = false;
		this.camera = new Camera();
		const all = clip.poses
			.flat()
			.filter((p) => finite(p[0]))
			.map((p) => this.upright(p));
		const bounds = [min, max].map((most) =>
			[0, 1, 2].map((a) => all.reduce((v, p) => most(v, p[a]), all.length ? all[0][a] : 0)),
		);
		this.radius = size(minus(bounds[1], bounds[0])) / 2 || 1;
		this.camera.target = times(add(...bounds), 0.5);
		this.camera.distance = (this.radius * 1.05) / sin(PI / 8);
	}

	upright(p) {
		return this.yDown ? [p[0], -p[1], -p[2]] : p;
	}

	draw(time, colours) {
		const { clip, camera, g } = this;
		this.resize();
		g.fillStyle = colours.stage;
		g.fillRect(0, 0, this.width, this.height);
		if (!clip.poses.length) return;
		camera.aim(this.width, this.height);
		const long = max(lengthOf(clip), 0.2);
		const at = ((time % long) / long) * (clip.poses.length - 1);
		const to = clip.poses[ceil(at)];
		const points = clip.poses[floor(at)].map((p, i) =>
			camera.seen(this.upright(p.map((v, a) => (finite(to[i][a]) ? mix(v, to[i][a], at % 1) : v)))),
		);
		g.lineCap = "round";
		this.shapes = [];
		for (const [corners, tint = TINTS[theme()][0]] of clip.parts) {
			const shown = corners.map((i) => points[i]).filter((p) => p[2] > camera.near);
			if (shown.length) this.addFace(shown, tint, 1, shown.length < 3 && 3);
		}
		this.drawShapes();
	}
}

class Gallery {
	constructor(page) {
		this.page = page;
		this.site = page.kind === "I";
		this.cards = page.clips.map((clip) => this.card(clip));
		const act = () => this.filter();
		const label = `Search ${this.site ? "files and clips" : "clips"}`;
		const number = (text) =>
			make("input", {
				type: "number",
				min: 0,
				step: "any",
				placeholder: text,
				"aria-label": text,
				oninput: act,
			});
		this.name = make("input", { type: "search", placeholder: label, "aria-label": label, oninput: act });
		[this.least, this.most, this.keys] = ["at least s", "at most s", "at least keys"].map(number);
		this.loop = make("select", { "aria-label": "Loop", onchange: act });
		for (const [value, text] of Object.entries({ "": "Loop or not", yes: "Loops", no: "Plays once" }))
			this.loop.append(make("option", { value, text }));
		this.count = make("p", { role: "status" });
		document.title = page.file;
		const bar = make("div", { class: "bar", role: "search" }, this.name);
		if (!this.site) bar.append(this.least, this.most, this.keys, page.hasLoop ? this.loop : "");
		document.body.append(
			make("header", {}, make("h1", { text: page.file }), this.count, themeButton()),
			bar,
			make("div", { class: "clips" }, ...this.cards.map((card) => card.link)),
		);
		const sight = new IntersectionObserver((entries) => {
			for (const { target, isIntersecting } of entries) target.picture.seen = isIntersecting;
		});
		for (const { picture } of this.cards) {
			picture.canvas.picture = picture;
			sight.observe(picture.canvas);
		}
		this.calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
		this.filter();
		requestAnimationFrame((now) => this.tick(now));
	}

	card(clip) {
		const picture = new Thumbnail(clip, this.page);
		const facts = this.site ? [clip.format, plural(clip.count, "clip")] : factsOf(clip, this.page);
		if (this.page.hasLoop && clip.loop) facts.push("loops");
		const page = this.site ? "file" : clip.bits & 2 && "clip";
		if (!page) facts.push("nothing to play");
		const href = page && `${clip.name.split("/").map(encodeURIComponent).join("/")}/${page}.html`;
		const text = make("p", {}, make("b", { text: clip.name || "%" }), facts.join(" · "));
		return { clip, picture, link: make("a", { href: href || false }, picture.canvas, text) };
	}

	filter() {
		const name = this.name.value.trim().toLowerCase();
		const number = (input, none) => (input.value === "" ? none : Number(input.value));
		const [least, most, keys] = [
			number(this.least, -Infinity),
			number(this.most, Infinity),
			number(this.keys, 0),
		];
		let shown = 0;
		for (const { clip, link } of this.cards) {
			const long = lengthOf(clip);
			const names = `${clip.name}\n${clip.names || ""}`.toLowerCase();
			const fits = names.includes(name) && long >= least && long <= most && clip.keys >= keys;
			link.hidden = !fits || (this.loop.value && clip.loop !== (this.loop.value === "yes"));
			shown += !link.hidden;
		}
		const { count, clips, format } = this.page;
		const more = count > clips.length ? `, of ${count} in the file` : "";
		const all = plural(clips.length, this.site ? "file" : "clip");
		const some = shown === clips.length ? "" : `${shown} of `;
		this.count.textContent = `${format ? `${format} · ` : ""}${some}${all}${more}`;
	}

	tick(now) {
		const colours = theme.colours();
		for (const { picture } of this.cards)
			if (picture.seen) picture.draw(this.calm ? 0 : now / 1000, colours);
		requestAnimationFrame((next) => this.tick(next));
	}
}
