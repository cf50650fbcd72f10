// SPDX-License-Identifier: GPL-3.0-or-later
// desk.js - the file that is open, its undo, and what the page shows of it. It works in a worker, so that
// the page never waits; the first parts of parts.txt are there, too.

const SHOWN_MAX = 1 << 20; // of a text that cannot be edited, characters
const UNDO_MAX = 100;
const UNDO_BYTES = 256 << 20;

const folderOf = (path) => path.slice(0, max(0, path.lastIndexOf("/")));
const within = (path, name) => (path ? `${path}/${name}` : name);

class Desk {
	static async begin(base64) {
		const letters = atob(base64.trim());
		const desk = new Desk();
		desk.module = await WebAssembly.compile(Uint8Array.from(letters, (letter) => letter.charCodeAt(0)));
		return desk;
	}

	// If it fails, what was open stays open.
	async open(name, bytes, besides) {
		const file = await OpenFile.open(this.module, name, bytes, besides);
		Object.assign(this, { file, done: [], undone: [], written: file.kept, beside: null });
		return { ...this.state(), said: file.notices().join("\n") };
	}

	state() {
		const { file, done, undone } = this;
		const changed = file.kept !== this.written || !!this.beside;
		return { name: file.name, changed, undo: done.length, redo: undone.length };
	}

	// ---- reading ----

	// The names in the open folders, from above.
	items(open, path = "", depth = 0) {
		return this.file.list(path).flatMap((entry) => {
			const inner = within(path, entry.name);
			const opened = entry.type === "folder" && open.includes(inner);
			const item = { ...entry, path: inner, depth, opened };
			return opened ? [item, ...this.items(open, inner, depth + 1)] : [item];
		});
	}

	text(path) {
		return this.file.text(path);
	}

	// What of it is shown.
	page({ path, view, editable }) {
		if (view === "raw") return "(the file's own bytes)";
		const text = this.text(path);
		return editable || text.length <= SHOWN_MAX
			? text
			: `${text.slice(0, SHOWN_MAX)}\n… (${text.length} characters; Copy… gives all)`;
	}

	bytesOf(path) {
		return this.file.bytesOf(path);
	}

	// The clip that the text is of, or the first, as its clip.html plays it; null if it has none.
	clip(path) {
		const clips = this.file.list("").filter((entry) => entry.type === "folder");
		const clip = clips.find(({ name }) => path.startsWith(`${name}/`)) || clips[0];
		if (!clip || !this.file.list(clip.name).some(({ view }) => view === "html")) return null;
		const [, data] = /id="data">([A-Za-z0-9+/=]*)[<]/.exec(this.file.text(`${clip.name}/clip.html`));
		return { name: clip.name, clip: prepare(readPage(data)) };
	}

	// ---- changes ----

	now() {
		return { bytes: this.file.kept, besides: new Map(this.file.besides) };
	}

	remember(state) {
		let room = UNDO_BYTES;
		this.done.push(state);
		const kept = this.done.reverse().filter(({ bytes }, i) => i < UNDO_MAX && (room -= bytes.length) > 0);
		this.done = kept.reverse();
		this.undone = [];
	}

	// The text of the place afterwards, and what there is to say.
	save(path, text) {
		const before = this.now();
		const said = this.file.save(path, text);
		if (said.saved !== "same") this.remember(before);
		if (said.saved === "beside") this.beside = said.beside;
		const lines = [
			said.ignored,
			said.saved === "beside" &&
				`${said.beside} has changed; Save gives it, as it lies beside the file`,
		];
		return { ...this.state(), text: this.text(path), said: lines.filter(Boolean).join("\n") };
	}

	async back(forth) {
		const { file } = this;
		const [from, to] = forth ? [this.undone, this.done] : [this.done, this.undone];
		const state = from[from.length - 1];
		if (state) {
			const before = this.now();
			// Only another instance knows nothing of a file that was not there.
			if (file.besides.size > state.besides.size) await file.renew(state.bytes, state.besides);
			for (const [name, bytes] of state.besides) file.add(name, bytes);
			file.restore(state.bytes);
			from.pop();
			to.push(before);
		}
		return this.state();
	}

	// What a save writes: the file, and a file beside it that has changed.
	bytes() {
		const { file, beside } = this;
		return { bytes: file.bytes(), beside, other: beside && file.beside(beside), of: file.kept };
	}

	wrote() {
		Object.assign(this, { written: this.file.kept, beside: null });
		return this.state();
	}

	// After the end of the program: what was saved last, in a new instance. What was asked for is not
	// asked for again.
	async fault(error) {
		if (error instanceof Refusal) return { refusal: { ...error, message: error.message } };
		if (error instanceof Broken && this.file) await this.file.mend();
		return { message: error.message };
	}
}

// The worker: answers {id, call, given} in turn with {id, result} or {id, fault}.
function beginDesk() {
	let desk = null;
	let turn = Promise.resolve();
	const act = async (call, given) => {
		if (call !== "begin") return desk[call](...given);
		desk = await Desk.begin(...given);
		return null;
	};
	const answer = async ({ id, call, given }) => {
		try {
			const result = await act(call, given);
			const nodes = call === "clip" && result ? result.clip.nodes : [];
			const curves = nodes.flatMap((node) => node.curves.filter(Boolean));
			postMessage(
				{ id, result },
				curves.map(({ values }) => values.buffer),
			);
		} catch (error) {
			postMessage({ id, fault: desk ? await desk.fault(error) : { message: error.message } });
		}
	};
	globalThis.onmessage = ({ data }) => (turn = turn.then(() => answer(data)));
}

if (typeof WorkerGlobalScope !== "undefined") beginDesk();
