// SPDX-License-Identifier: GPL-3.0-or-later
// player.js - the page of a clip: its elements and controls.

const SPEEDS = [0.1, 0.25, 0.5, 1, 2, 4];
const VIEWS = { Front: [0, 0], Side: [90, 0], Top: [0, 90], "3/4": [30, 14] };
const HELP = `Space: play or pause
← →: a frame back or forth, with Shift ten; Home, End
+ −: closer or farther; Alt and arrows: around
F: fit; 1 2 3 4: from the front, the side, above, between
L: loop; N: names; O: onion skins; T: trail; G: ground; A: axes
/: search bones; arrows in the list choose one

Drag: around; with Shift or the right button, or two fingers: aside; wheel or two fingers: closer.
Click a joint to choose its bone. Drag along the curves to scrub.
Drop another clip.html or clip.gltf on the page to play it beside this one.`;

const plural = (n, word) => `${n} ${word}${n === 1 ? "" : "s"}`;
const lengthOf = (clip) => max(0, clip.frames - 1) * clip.seconds;
const seconds = (s) => `${plain(Number(s.toPrecision(4)))} s`;

// Clips of stills have shapes (or Transforms) and stills, where others have bones and keys.
const factsOf = (clip, { stills }) => [
	seconds(lengthOf(clip)),
	plural(clip.frames, "frame"),
	plural(clip.bones, stills ? "part" : "bone"),
	plural(clip.keys, stills ? "still" : "key"),
];

class Player {
	// root: what it fills, of a page that shows more than the clip.
	constructor(clip, root = document.body) {
		this.root = root;
		this.alone = root === document.body;
		this.renew(clip);
		this.camera = new Camera();
		this.frame = 0;
		this.chosen = -1;
		this.cursor = null;
		this.speed = 1;
		this.form = "stored";
		this.loop = clip.hasLoop ? clip.loop : true;
		this.show = { ground: true, axes: true, trail: true, names: false };
		this.onion = 0;
		this.build();
		this.stage = new Stage(this.canvas);
		this.curves = new Curves(this.plot);
		this.listen();
		this.fitted = false;
		this.follow();
		const ask = new URLSearchParams(location.hash.slice(1));
		const still = ask.has("frame") || matchMedia("(prefers-reduced-motion: reduce)").matches;
		if (!ask.has("bone"))
			this.choose(this.clip.nodes.findIndex((n) => n.curves.some((c) => c && c.varies)));
		this.play(!still && this.clip.frames > 1);
	}

	// ---- the page ----

	build() {
		const { clip } = this;
		const button = (text, title, act, more) =>
			make("button", { type: "button", text, title, "aria-label": title, onclick: act, ...more });
		const toggle = (name, title) =>
			(this.toggles[name] = button(name[0].toUpperCase() + name.slice(1), title, () =>
				this.flip(name),
			));
		this.toggles = {};
		this.canvas = make("canvas", { tabindex: 0, role: "img" });
		this.plot = make("canvas", { tabindex: 0, role: "img", "aria-label": "Curves of the chosen bone" });
		this.values = make("div");
		this.alert = make("span", { role: "alert" });
		this.tree = new Tree(clip, (i) => this.choose(i));
		this.help = make("dialog", { text: HELP, onclick: () => this.help.close() });
		const last = max(0, clip.frames - 1);
		this.range = make("input", {
			type: "range",
			min: 0,
			max: last,
			value: 0,
			"aria-label": "Frame",
			oninput: () => this.scrub(Number(this.range.value)),
		});
		this.number = make("input", {
			type: "number",
			min: 0,
			max: last,
			value: 0,
			"aria-label": "Frame number",
			onchange: () => this.scrub(Number(this.number.value)),
		});
		this.time = make("output");
		this.start = button("▶", "Play or pause (Space)", () => this.play(!this.playing), {
			class: "play",
			disabled: clip.frames < 2 && "",
		});
		this.speeds = make(
			"select",
			{ "aria-label": "Speed", onchange: () => (this.speed = Number(this.speeds.value)) },
			...SPEEDS.map((s) => make("option", { value: s, text: `${s}×` })),
		);
		this.speeds.value = 1;
		this.onions = make("select", {
			"aria-label": "Onion skins",
			onchange: () => this.set({ onion: Number(this.onions.value) }),
		});
		for (const n of [0, 1, 2, 5, 10])
			this.onions.append(
				make("option", { value: n, text: n ? `Onion: ${plural(n, "frame")}` : "No onion skins" }),
			);
		this.forms = make("select", {
			"aria-label": "Rotations",
			onchange: () => this.set({ form: this.forms.value }),
		});
		for (const form of ["stored", "degrees", "quaternion"])
			this.forms.append(make("option", { value: form, text: form === "stored" ? "as stored" : form }));
		this.file = make("input", {
			type: "file",
			accept: ".html,.gltf",
			hidden: "",
			onchange: () => this.beside(this.file.files),
		});
		const facts = factsOf(clip, clip);
		if (clip.hasLoop) facts.push(clip.loop ? "loops" : "plays once");
		if (this.alone) document.title = `${clip.name} · ${clip.file}`;
		this.root.append(
			make(
				"header",
				{},
				make("h1", { text: clip.name }),
				make("p", { text: `${clip.file} (${clip.format}) · ${facts.join(", ")}` }),
				this.alert,
				button("Beside…", "Play another clip.html or clip.gltf beside this one", () =>
					this.file.click(),
				),
				this.file,
				themeButton(),
				button("?", "Help: keys and gestures", () => this.help.showModal()),
			),
			make(
				"main",
				{},
				make("nav", { class: "bones", "aria-label": "Bones" }, this.tree.search, this.tree.list),
				make(
					"div",
					{ class: "work" },
					make(
						"div",
						{ class: "stage" },
						this.canvas,
						make(
							"div",
							{ class: "views" },
							...Object.keys(VIEWS).map((name, i) =>
								button(name, `View: ${name} (${i + 1})`, () => this.look(name)),
							),
							button("Fit", "Fit the figure (F)", () => this.fit()),
							button("+", "Closer", () => this.zoom(0.8)),
							button("−", "Farther", () => this.zoom(1.25)),
							toggle("ground", "Ground (G)"),
							toggle("axes", "Axes (A)"),
							toggle("trail", "Trail of the chosen bone (T)"),
							toggle("names", "Names of bones (N)"),
							this.onions,
						),
					),
					make(
						"div",
						{ class: "bar" },
						button("▏◀", "First frame (Home)", () => this.scrub(0)),
						button("‹", "A frame back (←)", () => this.step(-1)),
						this.start,
						button("›", "A frame on (→)", () => this.step(1)),
						button("▶▕", "Last frame (End)", () => this.scrub(last)),
						this.range,
						this.number,
						this.time,
						this.speeds,
						toggle("loop", "Loop (L)"),
					),
					make(
						"div",
						{ class: "keys" },
						make("div", { class: "values" }, this.values, this.forms),
						this.plot,
					),
				),
			),
			this.help,
		);
	}

	// ---- what changes ----

	// The same bones and frames with other keys: what is shown, and from where, stays.
	renew(clip) {
		this.clip = prepare(clip);
		this.figures = [{ clip: this.clip, frame: 0, cache: {} }, ...(this.figures || []).slice(1)];
		// Not in the frame that draws them, which has enough to do.
		if (this.curves) this.plan();
		this.redraw();
	}

	// Computes the chosen bone's curves.
	plan() {
		const { clip, chosen, form } = this;
		this.cache = theme.colours();
		this.curves.show(clip, clip.nodes[chosen], form, this.cache);
	}

	set(state) {
		Object.assign(this, state);
		this.cache = null;
		this.redraw();
	}

	flip(name) {
		if (name === "loop") this.loop = !this.loop;
		else this.show[name] = !this.show[name];
		this.redraw();
	}

	play(on) {
		if (this.clip.frames < 2) on = false;
		if (on && !this.loop && this.frame >= this.clip.frames - 1) this.frame = 0;
		if (this.playing && !on) this.frame = min(this.clip.frames - 1, round(this.frame));
		this.playing = on;
		this.before = performance.now();
		this.start.textContent = on ? "❚❚" : "▶";
		this.redraw();
	}

	scrub(frame) {
		if (!finite(frame)) return;
		this.playing = false;
		this.frame = max(0, min(this.clip.frames - 1, round(frame)));
		this.play(false);
	}

	step(by) {
		this.scrub(round(this.frame) + by);
	}

	choose(i) {
		this.chosen = i;
		this.cache = null;
		this.tree.mark(i);
		this.redraw();
	}

	look(name) {
		[this.camera.yaw, this.camera.pitch] = VIEWS[name];
		this.redraw();
	}

	zoom(factor) {
		this.camera.zoom(factor);
		this.redraw();
	}

	fit() {
		const part = this.canvas.clientWidth / this.figures.length;
		this.camera.fit(
			this.figures.map((figure) => figure.clip),
			part / max(1, this.canvas.clientHeight),
		);
		this.redraw();
	}

	// #frame=12&bone=hips&view=YAW,PITCH,DISTANCE,X,Y,Z&theme=dark
	follow() {
		const ask = new URLSearchParams(location.hash.slice(1));
		if (ask.has("theme")) setTheme(ask.get("theme"));
		if (ask.has("bone")) this.choose(this.clip.nodes.findIndex((n) => n.name === ask.get("bone")));
		if (ask.has("frame")) this.scrub(Number(ask.get("frame")));
		const view = (ask.get("view") || "").split(",").map(Number);
		if (view.length !== 6 || !view.every(finite)) return;
		[this.camera.yaw, this.camera.pitch, this.camera.distance] = view;
		this.camera.target = view.slice(3);
		this.fitted = true;
		this.redraw();
	}

	// Adds another clip to compare with, until the page is closed.
	async beside(files) {
		const faults = [];
		if (!files.length) return;
		for (const file of [...files]) {
			try {
				const text = await file.text();
				const page = /id="data">([A-Za-z0-9+/=]*)[<]/.exec(text);
				const clip = page ? readPage(page[1]) : readGltf(text, file.name);
				if ("FGI".includes(clip.kind))
					throw new Error("that page has many clips: take the page of one");
				this.figures.splice(1, 1, { clip: prepare({ ...clip, foreign: true }), frame: 0, cache: {} });
				this.fit();
			} catch (error) {
				faults.push(`${file.name}: ${error.message}`);
			}
		}
		this.alert.textContent = faults.join("; ");
	}

	// ---- time ----

	redraw() {
		if (!this.asked) this.asked = requestAnimationFrame((now) => this.tick(now));
	}

	tick(now) {
		this.asked = 0;
		if (this.playing) this.advance(max(0, now - this.before) / 1000);
		this.before = now;
		this.draw();
		if (this.playing) this.redraw();
	}

	advance(passed) {
		const { clip } = this;
		this.frame += (passed * this.speed) / clip.seconds;
		const end = this.loop ? clip.span : clip.frames - 1;
		if (this.frame < end) return;
		this.frame = this.loop ? this.frame % clip.span : clip.frames - 1;
		if (!this.loop) this.play(false);
	}

	draw() {
		if (!this.stage || !this.canvas.clientWidth) return;
		if (!this.fitted) {
			this.fitted = true;
			this.fit();
		}
		const { clip, frame } = this;
		const last = clip.frames - 1;
		for (const figure of this.figures) {
			const other = figure.clip;
			const at = (frame * clip.seconds) / other.seconds;
			figure.frame = min(
				other.frames - 1,
				figure === this.figures[0] ? frame : this.loop ? at % other.span : at,
			);
		}
		const colours = theme.colours();
		const node = clip.nodes[this.chosen];
		this.stage.draw({
			...this.show,
			figures: this.figures,
			camera: this.camera,
			chosen: this.chosen,
			chosenName: node && node.name,
			onion: this.onion,
			colours,
			theme: theme(),
		});
		if (this.cache !== colours) this.plan();
		this.curves.draw(min(frame, last), this.cursor);
		this.drawControls(min(round(frame), last));
	}

	drawControls(frame) {
		const { clip } = this;
		this.range.value = frame;
		if (document.activeElement !== this.number) this.number.value = frame;
		this.time.textContent = `${seconds(frame * clip.seconds)}`;
		for (const [name, button] of Object.entries(this.toggles))
			button.setAttribute("aria-pressed", name === "loop" ? this.loop : this.show[name]);
		if (!this.playing)
			this.canvas.setAttribute(
				"aria-label",
				`${clip.name} at frame ${frame} of ${clip.frames}, ${seconds(frame * clip.seconds)}`,
			);
		this.drawValues(this.cursor === null ? frame : this.cursor);
	}

	// Shows the numbers at the cursor or, without one, at the playhead.
	drawValues(frame) {
		const node = this.clip.nodes[this.chosen];
		const parts = [
			make("b", { text: node ? node.name || "%" : "No bone is chosen" }),
			make("span", { text: `frame ${frame}` }),
		];
		for (const { shown, curve } of this.curves.charts) {
			const text = shown.at(frame).map((v, i) => `${"xyzw"[i]} ${digits(Number(v.toPrecision(6)))}`);
			parts.push(
				make("div", { text: `${text.join("  ")} ` }, make("span", { text: ROLES[curve.role] })),
			);
		}
		const flags = node && node.keyframes;
		const here = flags ? flags.frames.indexOf(frame) : -1;
		if (flags)
			parts.push(
				make("span", {
					text: here < 0 ? "no keyframe here: not drawn" : `keyframe, flags ${flags.flags[here]}`,
				}),
			);
		this.values.replaceChildren(...parts);
	}

	// ---- input ----

	listen() {
		new ResizeObserver(() => this.redraw()).observe(this.canvas);
		new ResizeObserver(() => this.redraw()).observe(this.plot);
		on(window, "hashchange", () => this.follow());
		on(window, "themechange", () => this.redraw());
		on(this.alone ? document : this.root, "keydown", (event) => this.key(event));
		this.listenToPointers();
		this.listenToPlot();
		if (this.alone) onDrop(({ files }) => this.beside(files));
	}

	listenToPointers() {
		const { canvas, camera } = this;
		const down = new Map();
		let moved = 0;
		const spread = () => {
			const [a, b] = [...down.values()];
			return b ? hypot(a[0] - b[0], a[1] - b[1]) : 0;
		};
		on(canvas, "pointerdown", (event) => {
			canvas.setPointerCapture(event.pointerId);
			down.set(event.pointerId, [event.clientX, event.clientY]);
			moved = 0;
		});
		on(canvas, "pointermove", (event) => {
			const was = down.get(event.pointerId);
			if (!was) return;
			const [dx, dy] = [event.clientX - was[0], event.clientY - was[1]];
			const before = spread();
			down.set(event.pointerId, [event.clientX, event.clientY]);
			moved += hypot(dx, dy);
			if (before) {
				camera.zoom(before / max(1, spread()));
				camera.pan(dx / 2, dy / 2);
			} else if (event.shiftKey || event.buttons & 6) camera.pan(dx, dy);
			else camera.orbit(dx, dy);
			this.redraw();
		});
		const up = (event) => {
			if (!down.delete(event.pointerId) || moved > 4 || event.type !== "pointerup") return;
			const found = this.stage.joint(event.offsetX, event.offsetY, 16);
			if (found >= 0) this.choose(found);
		};
		on(canvas, "pointerup", up);
		on(canvas, "pointercancel", up);
		on(canvas, "contextmenu", (event) => event.preventDefault());
		on(canvas, "dblclick", () => this.fit());
		on(
			canvas,
			"wheel",
			(event) => {
				event.preventDefault();
				this.zoom(exp(max(-1, min(1, event.deltaY / 400))));
			},
			{ passive: false },
		);
	}

	listenToPlot() {
		const { plot } = this;
		const at = (event) => this.curves.frameAt(event.offsetX, event.offsetY);
		const take = (event) => {
			const frame = at(event);
			if (event.buttons & 1 && frame !== null) this.scrub(frame);
			this.cursor = frame;
			this.redraw();
		};
		on(plot, "pointerdown", take);
		on(plot, "pointermove", take);
		on(plot, "pointerleave", () => {
			this.cursor = null;
			this.redraw();
		});
	}

	key(event) {
		const { target, key } = event;
		if (event.ctrlKey || event.metaKey || this.help.open || /^(SELECT|INPUT)$/.test(target.tagName))
			return;
		const arrows = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
		const act = {
			" ": () => target.tagName !== "BUTTON" && this.play(!this.playing),
			Home: () => this.scrub(0),
			End: () => this.scrub(this.clip.frames - 1),
			"+": () => this.zoom(0.8),
			"-": () => this.zoom(1.25),
			f: () => this.fit(),
			l: () => this.flip("loop"),
			n: () => this.flip("names"),
			t: () => this.flip("trail"),
			g: () => this.flip("ground"),
			a: () => this.flip("axes"),
			o: () => this.set({ onion: this.onion ? 0 : 2 }),
			"/": () => this.tree.search.focus(),
			"?": () => this.help.showModal(),
		}[key.length === 1 ? key.toLowerCase() : key];
		const view = Object.keys(VIEWS)["1234".indexOf(key)];
		if (arrows[key] && event.altKey) {
			this.camera.orbit(arrows[key][0] * -25, arrows[key][1] * 25);
			this.redraw();
		} else if (arrows[key] && arrows[key][0]) this.step(arrows[key][0] * (event.shiftKey ? 10 : 1));
		else if (view && "1234".includes(key)) this.look(view);
		else if (!act || act() === false) return;
		this.onions.value = this.onion;
		event.preventDefault();
	}
}
