// SPDX-License-Identifier: GPL-3.0-or-later
// core.js - the codecs and views as WebAssembly (src/web/exports.h): bytes and texts in and out.
"use strict";

// A text or file that is not taken: `text` is what animfs put prints; place, cell and what would be
// accepted, as exports.h says.
class Refusal extends Error {
	constructor(said) {
		super(said.message);
		Object.assign(this, said);
	}
}

// The program itself ended: out of memory, or a fault of its own. The instance is of no more use.
class Broken extends Error {}

const SAVED = ["refused", "same", "saved", "beside"];
const encoder = new TextEncoder();
// A byte order mark is part of a text.
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

// A loaded program, and the memory of what it has open.
class Core {
	static async begin(module) {
		const core = new Core();
		core.said = "";
		core.broken = false;
		core.exports = (await WebAssembly.instantiate(module, core.imports(module))).exports;
		core.exports._initialize();
		return core;
	}

	// The C library's ways out. Nothing is there to be read or written but the words of an assert.
	imports(module) {
		const out = {};
		for (const { module: from, name } of WebAssembly.Module.imports(module)) {
			if (!out[from]) out[from] = {};
			out[from][name] = () => 8;
		}
		const wasi = out.wasi_snapshot_preview1;
		if (!wasi) return out;
		wasi.proc_exit = () => {
			throw new Error("the program ended");
		};
		wasi.fd_write = (file, list, count, written) => {
			const view = new DataView(this.exports.memory.buffer);
			let size = 0;
			for (let i = 0; i < count; i++) {
				const [at, length] = [
					view.getUint32(list + i * 8, true),
					view.getUint32(list + i * 8 + 4, true),
				];
				this.said += decoder.decode(new Uint8Array(view.buffer, at, length));
				size += length;
			}
			view.setUint32(written, size, true);
			return 0;
		};
		return out;
	}

	call(name, ...given) {
		if (this.broken) throw new Broken("the program has ended");
		try {
			return this.exports[name](...given);
		} catch (error) {
			this.broken = true;
			throw new Broken(this.said.trim() || error.message);
		}
	}

	// Puts bytes into the program's memory; a NUL follows them.
	put(bytes) {
		const at = this.call("web_room", bytes.length + 1) >>> 0;
		if (!at) {
			this.broken = true;
			throw new Broken("out of memory");
		}
		const memory = new Uint8Array(this.exports.memory.buffer);
		memory.set(bytes, at);
		memory[at + bytes.length] = 0;
		return at;
	}

	// Calls with a name, or path, that is given back afterwards.
	named(name, act) {
		const at = this.put(encoder.encode(name));
		const result = act(at);
		this.call("web_give", at);
		return result;
	}

	answer() {
		const at = this.call("web_answer") >>> 0;
		return new Uint8Array(this.exports.memory.buffer, at, this.call("web_answer_size")).slice();
	}

	words() {
		return decoder.decode(this.answer());
	}

	refuse() {
		throw new Refusal(JSON.parse(this.words()));
	}
}

// An animation file that was opened, in an instance of its own: when it is dropped, so is its memory.
class OpenFile {
	// besides: [name, bytes] of files that lie beside it.
	static async open(module, name, bytes, besides = []) {
		const file = new OpenFile();
		Object.assign(file, { module, name, kept: bytes, besides: new Map(besides) });
		await file.begin();
		return file;
	}

	async begin() {
		this.core = await Core.begin(this.module);
		this.at = this.core.named(this.name, (name) => this.core.call("web_new", name));
		if (!this.at) throw new Broken("out of memory");
		for (const [name, bytes] of this.besides) this.add(name, bytes);
		this.restore(this.kept);
	}

	// After a Broken: the file as it was last kept, in a new instance.
	async mend() {
		await this.begin();
	}

	// Other bytes, with other files beside them, in a new instance.
	async renew(bytes, besides) {
		Object.assign(this, { kept: bytes, besides: new Map(besides) });
		await this.begin();
	}

	add(name, bytes) {
		this.besides.set(name, bytes);
		const done = this.core.named(name, (at) =>
			this.core.call("web_add", this.at, at, this.core.put(bytes), bytes.length),
		);
		if (!done) throw new Broken("out of memory");
	}

	// Opens other bytes in place of those that are open: what undo needs.
	restore(bytes) {
		if (!this.core.call("web_open", this.at, this.core.put(bytes), bytes.length)) this.core.refuse();
		this.kept = bytes;
	}

	// [{name, type, view, editable}] of a folder; "" is the file's own.
	list(path) {
		if (!this.core.named(path, (at) => this.core.call("web_list", this.at, at))) this.core.refuse();
		return JSON.parse(this.core.words());
	}

	bytesOf(path) {
		if (!this.core.named(path, (at) => this.core.call("web_text", this.at, at))) this.core.refuse();
		return this.core.answer();
	}

	text(path) {
		return decoder.decode(this.bytesOf(path));
	}

	// text: a string, or bytes. {saved: "same", "saved" or "beside", beside, ignored}, or a Refusal.
	save(path, text) {
		const { core } = this;
		const bytes = typeof text === "string" ? encoder.encode(text) : text;
		const room = core.put(bytes);
		const saved = SAVED[core.named(path, (at) => core.call("web_save", this.at, at, room, bytes.length))];
		const words = core.words();
		core.call("web_give", room);
		if (saved === "refused") throw new Refusal(JSON.parse(words));
		const said = JSON.parse(words);
		if (saved === "saved") this.kept = this.bytes();
		if (saved === "beside") this.besides.set(said.beside, this.beside(said.beside));
		return { saved, ...said };
	}

	bytes() {
		this.core.call("web_bytes", this.at);
		return this.core.answer();
	}

	beside(name) {
		this.core.named(name, (at) => this.core.call("web_beside", this.at, at));
		return this.core.answer();
	}

	// What of the files beside it is not used, and why.
	notices() {
		this.core.call("web_notices", this.at);
		return this.core.words().split("\n").filter(Boolean);
	}
}
