// SPDX-License-Identifier: GPL-3.0-or-later
// app.js - the page: opens files, shows their folder and texts, edits and saves them.

const ANIMATION =
	/\.(canm|cas|anm|006|owanim|ff9anim|animation|anim|sequence\.csv|kanim|castle-anim-frames)$/i;
const SHOWN_MAX = 1 << 20; // of a text that cannot be edited, characters
const UNDO_MAX = 100;
const KEYS = `In a table: arrows move, with Shift they mark; Enter and Tab go on; typing or F2 edits
Escape takes back what was refused; Delete empties; Ctrl+C, Ctrl+X, Ctrl+V; Ctrl+D fills the marked rows with the first
Ctrl+Z, Ctrl+Y: undo, redo; Ctrl+S: save; Ctrl+O: open; Ctrl+Enter: take a text

Nothing leaves this machine: the page may not connect to anything.`;

const folderOf = (path) => path.slice(0, max(0, path.lastIndexOf("/")));
const within = (path, name) => (path ? `${path}/${name}` : name);

// The folder of the file as a tree; folders are read when they are opened.
class Folder {
	constructor(file, choose) {
		Object.assign(this, { file, choose, open: new Set([""]), chosen: "" });
		this.list = make("ul", {
			role: "tree",
			"aria-label": "Texts of the file",
			onkeydown: (event) => this.key(event),
		});
	}

	*items(path = "", depth = 0) {
		for (const entry of this.file.list(path)) {
			const inner = within(path, entry.name);
			yield { ...entry, path: inner, depth };
			if (entry.type === "folder" && this.open.has(inner)) yield* this.items(inner, depth + 1);
		}
	}

	draw() {
		this.shown = [...this.items()];
		// Exactly one item can be reached with the Tab key.
		this.stop = this.shown.find(({ path }) => path === this.chosen) || this.shown[0];
		this.list.replaceChildren(...this.shown.map((entry) => this.item(entry)));
	}

	item(entry) {
		const { path, name, depth, type, editable } = entry;
		const opened = type === "folder" && this.open.has(path);
		const item = make(
			"li",
			{
				role: "treeitem",
				tabindex: entry === this.stop ? 0 : -1,
				"aria-level": depth + 1,
				"aria-selected": path === this.chosen ? "true" : "false",
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

	take(entry) {
		if (entry.type === "folder") this.open.delete(entry.path) || this.open.add(entry.path);
		this.mark(entry.path);
		if (entry.type === "view") this.choose(entry);
	}

	mark(path) {
		this.chosen = path;
		const here = this.list.contains(document.activeElement);
		this.draw();
		const at = this.shown.findIndex((e) => e.path === path);
		if (at >= 0 && here) this.list.children[at].focus();
	}

	key(event) {
		const at = [...this.list.children].indexOf(document.activeElement);
		const entry = this.shown[at];
		if (!entry || event.ctrlKey || event.altKey || event.metaKey) return;
		const go = (to) => to >= 0 && to < this.shown.length && this.list.children[to].focus();
		const opened = this.open.has(entry.path);
		const above = this.shown.findIndex((e) => e.path === folderOf(entry.path));
		const act = {
			ArrowDown: () => go(at + 1),
			ArrowUp: () => go(at - 1),
			Home: () => go(0),
			End: () => go(this.shown.length - 1),
			ArrowRight: () => (entry.type === "folder" && !opened ? this.take(entry) : go(at + 1)),
			ArrowLeft: () => (entry.type === "folder" && opened ? this.take(entry) : go(above)),
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
	constructor(module) {
		this.module = module;
		this.file = null;
		this.undone = [];
		this.done = [];
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
			onchange: () => this.take([...this.picker.files].map((file) => ({ file, path: file.name }))),
		});
		this.choice = make("select", {
			"aria-label": "File",
			hidden: "",
			onchange: () => this.open(this.offered[this.choice.selectedIndex]),
		});
		this.saves = button("Save", "Save the file (Ctrl+S)", () => this.store());
		this.undos = button("↶ Undo", "Undo (Ctrl+Z)", () => this.back(this.done, this.undone));
		this.redos = button("↷ Redo", "Redo (Ctrl+Y)", () => this.back(this.undone, this.done));
		this.help = make("dialog", { text: KEYS, onclick: () => this.help.close() });
		this.path = make("h2", { text: "" });
		this.area = make("textarea", { spellcheck: "false", "aria-label": "Text" });
		this.apply = button("Take the text", "Take the text (Ctrl+Enter)", () => this.saveArea());
		this.table = new Table(
			(text) => this.save(text),
			() => this.showText(),
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
					make("div", { class: "path" }, this.path, this.apply),
					this.table.element,
					this.area,
				),
				this.figure,
			),
			this.help,
		);
		this.update();
		this.figure.append(
			make("p", {
				class: "hint",
				text: "Drop an animation file here, with the files that lie beside it.",
			}),
		);
	}

	update() {
		this.saves.disabled = !this.file;
		this.undos.disabled = !this.done.length;
		this.redos.disabled = !this.undone.length;
		this.name.textContent = this.file
			? `${this.file.name}${this.changed ? " (changed)" : ""}`
			: "no file is open";
		document.title = this.file ? `${this.changed ? "• " : ""}${this.file.name} · animfs` : "animfs";
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
				: `The program ended: ${error.message}. The file is as it was before.`;
	}

	// ---- opening ----

	async pick() {
		if (!window.showOpenFilePicker) {
			this.picker.click();
			return;
		}
		try {
			const handles = await window.showOpenFilePicker({ multiple: true });
			const files = handles.map(async (handle) => ({
				handle,
				file: await handle.getFile(),
				path: handle.name,
			}));
			await this.take(await Promise.all(files));
		} catch (error) {
			if (error.name !== "AbortError") this.picker.click();
		}
	}

	// Everything that was dropped, folders with what is in them.
	async dropped(items) {
		const found = [];
		const walk = async (entry, path) => {
			if (entry.isFile) {
				const file = await new Promise((done, fail) => entry.file(done, fail));
				found.push({ file, path });
				return;
			}
			const reader = entry.createReader();
			for (;;) {
				const part = await new Promise((done, fail) => reader.readEntries(done, fail));
				if (!part.length) return;
				for (const inner of part) await walk(inner, within(path, inner.name));
			}
		};
		// All must be asked for before the first wait.
		const entries = [...items]
			.filter((item) => item.kind === "file")
			.map((item) => [
				item.webkitGetAsEntry(),
				item.getAsFile(),
				item.getAsFileSystemHandle && item.getAsFileSystemHandle(),
			]);
		for (const [entry, file, asked] of entries) {
			if (!entry) {
				found.push({ file, path: file.name });
				continue;
			}
			await walk(entry, entry.name);
			const handle = asked && (await asked.catch(() => null));
			const own = found.find(({ path }) => path === entry.name);
			if (handle && handle.kind === "file" && own) own.handle = handle;
		}
		await this.take(found);
	}

	async take(files) {
		const animations = files.filter(({ path }) => ANIMATION.test(path));
		this.files = files;
		this.offered = animations.length ? animations : files.slice(0, 1);
		this.choice.hidden = this.offered.length < 2;
		this.choice.replaceChildren(...this.offered.map(({ path }) => make("option", { text: path })));
		if (this.offered.length) await this.open(this.offered[0]);
		this.picker.value = "";
	}

	async open(chosen) {
		const bytes = async ({ file }) => new Uint8Array(await file.arrayBuffer());
		const besides = this.files.filter(
			(other) => other !== chosen && folderOf(other.path) === folderOf(chosen.path),
		);
		try {
			if (chosen.file.size > 64 << 20)
				throw new Refusal({ message: "too large", text: `${chosen.path}: larger than 64 MB` });
			const beside = [];
			for (const other of besides)
				if (other.file.size <= 64 << 20) beside.push([other.file.name, await bytes(other)]);
			const file = await OpenFile.open(this.module, chosen.file.name, await bytes(chosen), beside);
			this.begin(file, chosen.handle);
		} catch (error) {
			this.complain(error);
		}
	}

	begin(file, handle) {
		Object.assign(this, { file, handle, done: [], undone: [], changed: false, view: null, shown: null });
		this.written = file.kept;
		this.folder = new Folder(file, (entry) => this.look(entry));
		this.nav.replaceChildren(this.folder.list);
		this.folder.draw();
		const clip = this.folder.shown.find((entry) => entry.type === "folder");
		if (clip) this.folder.open.add(clip.path).add(within(clip.path, "bones"));
		this.folder.draw();
		const first = this.folder.shown.find((e) => e.view === "csv" && folderOf(e.path).endsWith("/bones"));
		const begin = first || this.folder.shown.find((e) => e.editable) || this.folder.shown[0];
		this.folder.mark(begin.path);
		this.look(begin);
		this.say(file.notices().join("\n"));
		this.update();
	}

	// ---- a text ----

	look(entry) {
		this.view = entry;
		this.path.textContent = entry.path;
		const table = entry.editable && /\.csv$/.test(entry.path);
		this.table.element.hidden = !table;
		this.area.hidden = table;
		this.apply.hidden = table || !entry.editable;
		this.area.readOnly = !entry.editable;
		this.showText();
		this.showFigure();
	}

	showText() {
		const { file, view } = this;
		try {
			const text = view.view === "raw" ? "(the file's own bytes)" : file.text(view.path);
			if (!this.table.element.hidden) this.table.show(text, view.path);
			else if (view.editable || text.length <= SHOWN_MAX) this.area.value = text;
			else this.area.value = `${text.slice(0, SHOWN_MAX)}\n… (${text.length} characters)`;
			if (view.view === "raw") this.apply.hidden = this.area.readOnly = true;
		} catch (error) {
			this.fail(error);
		}
	}

	// The clip that the text is of, or the first, as its clip.html plays it.
	showFigure() {
		const { file, view } = this;
		const clips = file.list("").filter((entry) => entry.type === "folder");
		const clip = clips.find(({ name }) => view.path.startsWith(`${name}/`)) || clips[0];
		const page = clip && file.list(clip.name).some(({ view: kind }) => kind === "html");
		if (!page) {
			this.figure.replaceChildren(make("p", { class: "hint", text: "No figure to show." }));
			this.player = null;
			return;
		}
		const html = file.text(`${clip.name}/clip.html`);
		const [, data] = /id="data">([A-Za-z0-9+/=]*)[<]/.exec(html);
		this.play(readPage(data), clip.name);
		const bone = /^[^/]*\/bones\/(.*)\.[a-z]+$/.exec(view.path);
		const node = bone ? this.player.clip.nodes.findIndex((n) => n.name === bone[1]) : -1;
		if (node >= 0 && node !== this.player.chosen) this.player.choose(node);
	}

	play(clip, name) {
		const outline = JSON.stringify([name, clip.frames, clip.nodes.map((n) => [n.name, n.parent])]);
		if (this.player && outline === this.shown) {
			this.player.renew(clip);
			return;
		}
		this.shown = outline;
		this.figure.replaceChildren();
		this.player = new Player(clip, this.figure);
		this.player.play(false);
	}

	// ---- changes ----

	state() {
		return { bytes: this.file.kept, besides: new Map(this.file.besides), path: this.view.path };
	}

	// The Refusal, if the text is not taken.
	save(text) {
		const before = this.state();
		let said;
		try {
			said = this.file.save(this.view.path, text);
		} catch (error) {
			this.fail(error);
			return error;
		}
		if (said.saved !== "same") {
			this.done.push(before);
			this.done.splice(0, this.done.length - UNDO_MAX);
			this.undone = [];
		}
		this.say(
			[
				said.ignored,
				said.saved === "beside" &&
					`${said.beside} has changed; Save gives it, as it lies beside the file`,
			]
				.filter(Boolean)
				.join("\n"),
		);
		if (said.saved === "beside") this.besideChanged = said.beside;
		this.refresh();
		return null;
	}

	saveArea() {
		const refusal = this.save(this.area.value);
		if (!refusal || !refusal.line) return;
		const lines = this.area.value.split("\n");
		const start = lines.slice(0, refusal.line - 1).reduce((sum, line) => sum + line.length + 1, 0);
		this.area.focus();
		this.area.setSelectionRange(start + refusal.column - 1, start + lines[refusal.line - 1].length);
	}

	refresh() {
		this.changed = this.file.kept !== this.written || !!this.besideChanged;
		this.folder.draw();
		if (!this.folder.shown.some(({ path }) => path === this.view.path)) {
			const [first] = this.folder.shown;
			this.folder.mark(first.path);
			this.look(first);
		} else {
			this.showText();
			this.showFigure();
		}
		this.update();
	}

	async back(from, to) {
		const { file } = this;
		const state = from.pop();
		if (!state) return;
		to.push(this.state());
		try {
			// Only another instance knows nothing of a file that was not there.
			if (file.besides.size > state.besides.size) await file.renew(state.bytes, state.besides);
			for (const [name, bytes] of state.besides) file.add(name, bytes);
			file.restore(state.bytes);
			this.say("");
		} catch (error) {
			this.fail(error);
			return;
		}
		this.refresh();
	}

	// After the end of the program: what was saved last, in a new instance. What was asked for is not
	// asked for again.
	async fail(error) {
		this.complain(error);
		if (error instanceof Broken) await this.file.mend();
	}

	// ---- storing ----

	download(name, bytes) {
		const url = URL.createObjectURL(new Blob([bytes], { type: "application/octet-stream" }));
		const link = make("a", { href: url, download: name });
		link.click();
		setTimeout(() => URL.revokeObjectURL(url), 10000);
	}

	async store() {
		const { file, handle } = this;
		if (!file) return;
		const bytes = file.bytes();
		try {
			if (this.besideChanged) this.download(this.besideChanged, file.beside(this.besideChanged));
			if (handle) {
				const out = await handle.createWritable();
				await out.write(bytes);
				await out.close();
				this.say(`${file.name} is saved`);
			} else {
				this.download(file.name, bytes);
				this.say(`${file.name} is a download`);
			}
			this.written = file.kept;
			this.besideChanged = null;
			this.changed = false;
			this.update();
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
			else if (key === "y" || (key === "z" && event.shiftKey)) this.back(this.undone, this.done);
			else if (key === "z") this.back(this.done, this.undone);
			else return;
			event.preventDefault();
		});
		on(window, "dragover", (event) => {
			event.preventDefault();
			document.body.classList.add("drop");
		});
		on(window, "dragleave", () => document.body.classList.remove("drop"));
		on(window, "drop", (event) => {
			event.preventDefault();
			document.body.classList.remove("drop");
			this.dropped(event.dataTransfer.items);
		});
		on(window, "beforeunload", (event) => this.changed && event.preventDefault());
	}
}

async function beginApp() {
	beginTheme();
	try {
		const letters = atob(document.getElementById("wasm").textContent.trim());
		const bytes = Uint8Array.from(letters, (letter) => letter.charCodeAt(0));
		window.animfs = new App(await WebAssembly.compile(bytes));
	} catch (error) {
		document.body.append(
			make("p", { role: "alert", text: `This page cannot work here: ${error.message}` }),
		);
		throw error;
	}
}

beginApp();
