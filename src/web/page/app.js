// SPDX-License-Identifier: GPL-3.0-or-later
// app.js - the page: opens files, shows their folder and texts, edits and saves them.

const ANIMATION =
	/\.(canm|cas|anm|006|owanim|ff9anim|animation|anim|sequence\.csv|kanim|castle-anim-frames)$/i;
// What of the files beside it the program looks at.
const BESIDE = /(^|[./])skeleton\.csv$|(^|\/)bone-names\.csv$|\.(ff9model|mdb|tmd)$/i;
const KEYS = `In the curves: drag a key up or down
In a table: arrows move, with Shift they mark; Enter and Tab go on; typing or F2 edits
Escape takes back what was refused; Delete empties; Ctrl+C, Ctrl+X, Ctrl+V; Ctrl+D fills the marked rows with the first
Ctrl+Z, Ctrl+Y: undo, redo; Ctrl+S: save; Ctrl+O: open; Ctrl+Enter: take a text

Nothing leaves this machine: the page may not connect to anything.`;

// A file that was given, without its bytes if they are too many.
async function readGiven({ path, read }) {
	try {
		const file = await read();
		const bytes = file.size > 64 << 20 ? null : new Uint8Array(await file.arrayBuffer());
		return { name: file.name, bytes, lastModified: file.lastModified };
	} catch (error) {
		throw new Error(`${path}: ${error.message}`);
	}
}

// The worker, as functions that return promises.
class Calls {
	constructor(fail) {
		const code = document.getElementById("shared").textContent;
		const url = URL.createObjectURL(new Blob([code], { type: "text/javascript" }));
		this.waiting = new Map();
		this.count = 0;
		this.worker = new Worker(url);
		this.worker.onmessage = ({ data }) => this.answer(data);
		this.worker.onerror = (event) => fail(new Broken(event.message || "no worker can be started"));
	}

	ask(call, ...given) {
		return new Promise((done, fail) => {
			this.waiting.set(++this.count, { done, fail });
			this.worker.postMessage({ id: this.count, call, given });
		});
	}

	answer({ id, result, fault }) {
		const { done, fail } = this.waiting.get(id);
		this.waiting.delete(id);
		if (!fault) done(result);
		else fail(fault.refusal ? new Refusal(fault.refusal) : new Broken(fault.message));
	}
}

// The folder of the file as a tree; folders are read when they are opened.
class Folder {
	constructor(ask, choose) {
		Object.assign(this, { ask, choose, open: new Set(), chosen: "", shown: [], drawn: "" });
		this.list = make("ul", {
			role: "tree",
			"aria-label": "Texts of the file",
			onkeydown: (event) => this.key(event),
		});
	}

	// New elements are only made if the names have changed.
	async draw() {
		const shown = await this.ask("items", [...this.open]);
		const drawn = JSON.stringify(shown);
		if (drawn !== this.drawn) {
			const here = this.list.contains(document.activeElement);
			Object.assign(this, { shown, drawn });
			this.list.replaceChildren(...shown.map((entry) => this.item(entry)));
			this.mark(this.chosen, here);
		}
	}

	item(entry) {
		const { path, name, depth, type, editable, opened } = entry;
		const item = make(
			"li",
			{
				role: "treeitem",
				"aria-level": depth + 1,
				title: editable ? `${path} can be edited` : path,
				onclick: () => this.take(entry),
			},
			make("span", {
				class: "fold",
				text: type !== "folder" ? "" : opened ? "▾" : "▸",
				"aria-hidden": "true",
			}),
			make("span", { class: "name", text: name }),
		);
		if (type === "folder") item.setAttribute("aria-expanded", opened);
		if (editable) item.append(make("small", { text: "✎", "aria-hidden": "true" }));
		item.style.paddingLeft = `${min(depth, 12) * 12 + 4}px`;
		return item;
	}

	async take(entry) {
		this.mark(entry.path, true);
		if (entry.type === "view") this.choose(entry);
		else {
			if (!this.open.delete(entry.path)) this.open.add(entry.path);
			await this.draw();
		}
	}

	// Exactly one item can be reached with the Tab key.
	mark(path, focus = false) {
		const { children } = this.list;
		this.chosen = path;
		const at = this.shown.findIndex((e) => e.path === path);
		[...children].forEach((item, i) => {
			item.setAttribute("aria-selected", i === at ? "true" : "false");
			item.tabIndex = i === max(0, at) ? 0 : -1;
		});
		if (at >= 0 && focus) children[at].focus();
		if (at >= 0) children[at].scrollIntoView({ block: "nearest" });
	}

	// Opens what the path is in, and marks it. The entry, or undefined.
	async show(path) {
		for (let above = folderOf(path); above; above = folderOf(above)) this.open.add(above);
		await this.draw();
		this.mark(path);
		return this.shown.find((e) => e.path === path);
	}

	key(event) {
		const at = [...this.list.children].indexOf(document.activeElement);
		const entry = this.shown[at];
		if (!entry || event.ctrlKey || event.altKey || event.metaKey) return;
		const go = (to) => to >= 0 && to < this.shown.length && this.list.children[to].focus();
		const above = this.shown.findIndex((e) => e.path === folderOf(entry.path));
		const act = {
			ArrowDown: () => go(at + 1),
			ArrowUp: () => go(at - 1),
			Home: () => go(0),
			End: () => go(this.shown.length - 1),
			ArrowRight: () => (entry.type === "folder" && !entry.opened ? this.take(entry) : go(at + 1)),
			ArrowLeft: () => (entry.opened ? this.take(entry) : go(above)),
			Enter: () => this.take(entry),
			" ": () => this.take(entry),
		}[event.key];
		if (!act) return;
		event.preventDefault();
		event.stopPropagation();
		act();
	}
}

class App {
	constructor() {
		this.calls = new Calls((error) => this.complain(error));
		this.file = null; // what the worker says of it
		this.build();
		this.listen();
	}

	// ---- the page ----

	build() {
		const button = (text, title, act) => make("button", { type: "button", text, title, onclick: act });
		this.name = make("p", { text: "no file is open" });
		this.alert = make("div", { role: "alert", class: "said" });
		this.status = make("div", { role: "status", class: "said" });
		this.picker = make("input", {
			type: "file",
			multiple: "",
			hidden: "",
			onchange: () =>
				this.take(
					[...this.picker.files].map((file) => ({ path: file.name, read: async () => file })),
				),
		});
		this.choice = make("select", {
			"aria-label": "File",
			hidden: "",
			onchange: () => this.open(this.offered[this.choice.selectedIndex]),
		});
		this.saves = button("Save", "Save the file (Ctrl+S)", () => this.store());
		this.undos = button("↶ Undo", "Undo (Ctrl+Z)", () => this.back(false));
		this.redos = button("↷ Redo", "Redo (Ctrl+Y)", () => this.back(true));
		this.help = make("dialog", { text: KEYS, onclick: () => this.help.close() });
		this.path = make("h2", { text: "" });
		this.area = make("textarea", { spellcheck: "false", "aria-label": "Text" });
		this.apply = button("Take the text", "Take the text (Ctrl+Enter)", () => this.saveArea());
		this.copies = button("Copy…", "Download this text", () => this.copy());
		this.table = new Table(
			(text) => this.save(text),
			() => this.turn(this.view),
		);
		this.nav = make("nav", { class: "bones", "aria-label": "Folder" });
		this.figure = make("section", { class: "figure", "aria-label": "Figure" });
		document.body.append(
			make(
				"header",
				{ class: "top" },
				make("h1", { text: "animfs" }),
				this.choice,
				this.name,
				button("Open…", "Open animation files, and what lies beside them (Ctrl+O)", () =>
					this.pick(),
				),
				this.picker,
				this.saves,
				this.undos,
				this.redos,
				themeButton(),
				button("?", "Help: keys", () => this.help.showModal()),
			),
			this.alert,
			this.status,
			make(
				"div",
				{ class: "app" },
				this.nav,
				make(
					"section",
					{ class: "text", "aria-label": "Editor" },
					make("div", { class: "path" }, this.path, this.copies, this.apply),
					this.table.element,
					this.area,
				),
				this.figure,
			),
			this.help,
		);
		this.update();
		this.apply.hidden = this.area.hidden = this.table.element.hidden = true;
		this.figure.append(
			make("p", {
				class: "hint",
				text: "Drop an animation file here, with the files that lie beside it: its skeleton, a model. Nothing leaves this machine.",
			}),
		);
	}

	ask(call, ...given) {
		return this.calls.ask(call, ...given);
	}

	// state: what the worker says of the file now.
	update(state = this.file) {
		this.file = state;
		const { name, changed } = state || {};
		this.saves.disabled = this.copies.disabled = !state;
		this.undos.disabled = !state || !state.undo;
		this.redos.disabled = !state || !state.redo;
		this.name.textContent = state ? `${name}${changed ? " (changed)" : ""}` : "no file is open";
		document.title = state ? `${changed ? "• " : ""}${name} · animfs` : "animfs";
	}

	say(text) {
		this.alert.textContent = "";
		this.status.textContent = text;
	}

	complain(error) {
		this.status.textContent = "";
		this.alert.textContent =
			error instanceof Refusal
				? [error.text.trim(), error.cell && !error.text.includes("cell ") && `cell ${error.cell}`]
						.filter(Boolean)
						.join("\n")
				: error instanceof Broken
					? `The program ended: ${error.message}. The file is as it was before.`
					: error.message;
	}

	// ---- opening ----

	async pick() {
		if (!window.showOpenFilePicker) {
			this.picker.click();
			return;
		}
		try {
			const handles = await window.showOpenFilePicker({ multiple: true });
			await this.take(
				handles.map((handle) => ({ path: handle.name, handle, read: () => handle.getFile() })),
			);
		} catch (error) {
			if (error.name !== "AbortError") this.picker.click();
		}
	}

	// Everything that was dropped, folders with what is in them.
	async dropped(items) {
		const found = [];
		const walk = async (handle, path) => {
			if (handle.kind === "file") found.push({ path, handle, read: () => handle.getFile() });
			else for await (const inner of handle.values()) await walk(inner, within(path, inner.name));
		};
		// Without handles. Chromium, which has them, cannot read from entries in a page from disk.
		const walkEntry = async (entry, path) => {
			if (entry.isFile) {
				found.push({ path, read: () => new Promise((done, fail) => entry.file(done, fail)) });
				return;
			}
			const reader = entry.createReader();
			for (;;) {
				const part = await new Promise((done, fail) => reader.readEntries(done, fail));
				if (!part.length) return;
				for (const inner of part) await walkEntry(inner, within(path, inner.name));
			}
		};
		// All must be asked for before the first wait.
		const all = [...items]
			.filter((item) => item.kind === "file")
			.map((item) => [
				item.getAsFileSystemHandle && item.getAsFileSystemHandle().catch(() => null),
				item.webkitGetAsEntry(),
				item.getAsFile(),
			]);
		for (const [asked, entry, file] of all) {
			const handle = await asked;
			if (handle) await walk(handle, handle.name);
			else if (entry && entry.isDirectory) await walkEntry(entry, entry.name);
			else found.push({ path: file.name, read: async () => file });
		}
		await this.take(found);
	}

	// files: {path, read, handle}; read promises the File, and handle is there if it can be written to.
	async take(files) {
		const animations = files
			.filter(({ path }) => ANIMATION.test(path))
			.sort((a, b) => a.path.localeCompare(b.path, "en", { numeric: true }));
		this.files = files;
		this.offered = animations.length ? animations : files.slice(0, 1);
		this.choice.hidden = this.offered.length < 2;
		this.choice.replaceChildren(...this.offered.map(({ path }) => make("option", { text: path })));
		if (this.offered.length) await this.open(this.offered[0]);
		this.picker.value = "";
	}

	async open(chosen) {
		// A game's folder may have gigabytes of other files.
		const counts = /\.sequence\.csv$/i.test(chosen.path) ? ANIMATION : BESIDE;
		const besides = this.files.filter(
			(other) =>
				other !== chosen &&
				folderOf(other.path) === folderOf(chosen.path) &&
				(counts.test(other.path) || BESIDE.test(other.path)),
		);
		try {
			const { name, bytes, lastModified } = await readGiven(chosen);
			if (!bytes)
				throw new Refusal({ message: "too large", text: `${chosen.path}: larger than 64 MB` });
			const beside = [];
			for (const other of besides) {
				const given = await readGiven(other);
				if (given.bytes) beside.push([given.name, given.bytes]);
			}
			const state = await this.ask("open", name, bytes, beside);
			Object.assign(this, { handle: chosen.handle, stamp: lastModified });
			await this.begin(state);
		} catch (error) {
			this.complain(error);
		}
	}

	async begin(state) {
		this.shown = null;
		this.update(state);
		this.folder = new Folder(
			(...given) => this.ask(...given),
			(entry) => this.turn(entry),
		);
		this.nav.replaceChildren(this.folder.list);
		await this.folder.draw();
		const clip = this.folder.shown.find((entry) => entry.type === "folder");
		if (clip) this.folder.open.add(clip.path).add(within(clip.path, "bones"));
		await this.folder.draw();
		const { shown } = this.folder;
		const first = shown.find((e) => e.view === "csv" && folderOf(e.path).endsWith("/bones"));
		const begin = first || shown.find((e) => e.editable) || shown[0];
		this.folder.mark(begin.path);
		this.say(state.said);
		await this.look(begin);
	}

	// ---- a text ----

	turn(entry) {
		this.say("");
		this.look(entry);
	}

	// figure: shows it, too.
	async look(entry, figure = true) {
		this.view = entry;
		try {
			const text = await this.ask("page", entry);
			if (this.view !== entry) return;
			const table = entry.editable && /\.csv$/.test(entry.path);
			this.path.textContent = entry.path;
			this.table.element.hidden = !table;
			this.area.hidden = table;
			this.area.readOnly = !entry.editable || entry.view === "raw";
			this.apply.hidden = table || this.area.readOnly;
			this.area.setAttribute("aria-label", entry.path);
			this.table.clear();
			this.showText(text);
			if (figure) await this.showFigure();
		} catch (error) {
			this.complain(error);
		}
	}

	showText(text) {
		if (this.table.element.hidden) this.area.value = text;
		else this.table.show(text, this.view.path);
	}

	async copy() {
		const { path } = this.view;
		this.download(path.replaceAll("/", "-"), await this.ask("bytesOf", path));
	}

	// The clip that the text is of. Only the last of several changes is shown.
	async showFigure() {
		this.again = true;
		if (this.drawing) return;
		this.drawing = true;
		try {
			while (this.again) {
				this.again = false;
				const { path } = this.view;
				const shown = await this.ask("clip", path);
				if (!this.again && !(this.drag && this.drag.held)) this.play(shown, path);
			}
		} finally {
			this.drawing = false;
		}
	}

	play(shown, path) {
		if (!shown) {
			this.figure.replaceChildren(make("p", { class: "hint", text: "No figure to show." }));
			this.player = this.shown = this.drag = null;
			return;
		}
		const { name, clip } = shown;
		const outline = JSON.stringify([name, clip.frames, clip.nodes.map((n) => [n.name, n.parent])]);
		if (this.player && outline === this.shown) this.player.renew(clip);
		else {
			this.shown = outline;
			this.figure.replaceChildren();
			this.player = new Player(clip, this.figure);
			this.drag = new Dragging(this.player, (held) => this.dragged(name, held));
			this.player.play(false);
		}
		const bone = /^[^/]*\/bones\/(.*)\.[a-z]+$/.exec(path);
		const node = bone ? clip.nodes.findIndex((n) => n.name === bone[1]) : -1;
		if (node >= 0 && node !== this.player.chosen) this.player.choose(node);
	}

	// ---- changes ----

	// The place's text as it is then, or the Refusal.
	async save(text) {
		const { path } = this.view;
		try {
			const said = await this.ask("save", path, text);
			this.say(said.said);
			this.update(said);
			// Neither is waited for: the table can be edited on.
			this.refresh(path).catch((error) => this.complain(error));
			return { text: said.text };
		} catch (error) {
			this.complain(error);
			return { refusal: error };
		}
	}

	async saveArea() {
		const { area } = this;
		const saved = area.value;
		const { text, refusal } = await this.save(saved);
		if (area.value !== saved) return;
		if (!refusal) area.value = text;
		else if (refusal.line) {
			const lines = saved.split("\n");
			const start = lines.slice(0, refusal.line - 1).reduce((sum, line) => sum + line.length + 1, 0);
			area.focus();
			area.setSelectionRange(start + refusal.column - 1, start + lines[refusal.line - 1].length);
		}
	}

	// A key that was dragged in the curves becomes a cell of its bone's table.
	async dragged(clip, held) {
		const { name } = this.player.clip.nodes[held.node];
		const path = `${clip}/bones/${name}.csv`;
		const entry = await this.folder.show(path);
		if (entry && this.view.path !== path) await this.look(entry, false);
		const taken = entry && this.table.putKey(held);
		if (!taken) this.alert.textContent = `${path} has no cell of this frame and value: edit the table`;
		if (!taken) await this.showFigure();
	}

	// After a change: the names, which may be others, and the figure.
	async refresh(path) {
		await this.folder.draw();
		const { shown } = this.folder;
		if (!shown.some((e) => e.path === this.view.path)) {
			this.folder.mark(shown[0].path);
			await this.look(shown[0]);
		} else if (this.view.path === path) await this.showFigure();
	}

	async back(forth) {
		if (!this.file) return;
		try {
			this.update(await this.ask("back", forth));
			this.say("");
			await this.refresh("");
			await this.look(this.view);
		} catch (error) {
			this.complain(error);
		}
	}

	// ---- storing ----

	download(name, bytes) {
		const url = URL.createObjectURL(new Blob([bytes], { type: "application/octet-stream" }));
		const link = make("a", { href: url, download: name });
		link.click();
		setTimeout(() => URL.revokeObjectURL(url), 10000);
	}

	async write({ bytes }) {
		const out = await this.handle.createWritable();
		await out.write(bytes);
		await out.close();
		this.stamp = (await this.handle.getFile()).lastModified;
	}

	// Has another program written the file since? It is asked about once.
	async isNewer() {
		const { lastModified } = await this.handle.getFile();
		const newer = lastModified !== this.stamp;
		this.stamp = lastModified;
		return newer;
	}

	async store() {
		const { file, handle } = this;
		if (!file) return;
		try {
			if (handle && (await this.isNewer())) {
				this.alert.textContent = `${file.name} has been changed by another program: Save again to replace it`;
				return;
			}
			const saved = await this.ask("bytes");
			if (saved.beside) this.download(saved.beside, saved.other);
			if (handle) await this.write(saved);
			else this.download(file.name, saved.bytes);
			this.say(handle ? `${file.name} is saved` : `${file.name} is a download`);
			this.update(await this.ask("wrote"));
		} catch (error) {
			this.alert.textContent = `not saved: ${error.message}`;
		}
	}

	// ---- input ----

	listen() {
		on(window, "keydown", (event) => {
			if (!(event.ctrlKey || event.metaKey) || event.altKey) return;
			const own = event.target.tagName === "TEXTAREA" && !event.target.readOnly;
			const key = event.key.toLowerCase();
			if (key === "s") this.store();
			else if (key === "o") this.pick();
			else if (key === "enter" && own) this.saveArea();
			else if (own || event.target.tagName === "INPUT") return;
			else if (key === "y" || (key === "z" && event.shiftKey)) this.back(true);
			else if (key === "z") this.back(false);
			else return;
			event.preventDefault();
		});
		onDrop(({ items }) => this.dropped(items).catch((error) => this.complain(error)));
		on(window, "beforeunload", (event) => this.file && this.file.changed && event.preventDefault());
	}
}

async function beginApp() {
	beginTheme();
	try {
		const app = new App();
		await app.ask("begin", document.getElementById("wasm").textContent);
		window.animfs = app;
	} catch (error) {
		document.body.append(
			make("p", { role: "alert", text: `This page cannot work here: ${error.message}` }),
		);
		throw error;
	}
}

beginApp();
