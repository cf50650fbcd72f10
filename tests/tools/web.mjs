// SPDX-License-Identifier: GPL-3.0-or-later
// web.mjs ANIMFS WASM MODE WORK [FILE]... - compares the page's WebAssembly with the program.
//
//	texts WORK FILE...   the same names and texts, or the same reason
//	edits WORK FILE...   EDITS edits of each format: the same bytes, or the same message
//	damaged WORK CORPUS  what the fuzzers found: a text or a reason, and no trap
//	core WORK FILE       memory is given back, and a trap is reported and mended
//	desk WORK FILE       what the page's worker answers: undo, and after a trap
//	large WORK FILE      a file of almost 64 MB: read, edited, and memory does not grow
import { spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { basename, dirname, extname, join } from "node:path";

const [animfs, wasm, mode, work, ...files] = process.argv.slice(2);
const parts = readFileSync(new URL("../../src/web/page/parts.txt", import.meta.url), "utf8");
const [shared] = parts.split("\n\n");
const source = shared
	.split("\n")
	.map((part) => readFileSync(new URL(`../../src/${part}`, import.meta.url), "utf8"))
	.join("\n");
const { Core, OpenFile, Refusal, Broken, Desk } = new Function(
	`${source}; return { Core, OpenFile, Refusal, Broken, Desk };`,
)();
const module = await WebAssembly.compile(readFileSync(wasm));
const EDITS = 200;
let checks = 0;
let failed = 0;

function check(fine, what, more = "") {
	checks++;
	if (fine) return;
	failed++;
	if (failed <= 20) console.log(`not ok: ${what}${more && `\n${more}`}`);
}

const bytes = (path) => new Uint8Array(readFileSync(path));

// The folder in WORK for the samples of one folder.
const placeOf = (path) => join(work, basename(dirname(path)));

// In that folder, so that paths are those of the page.
function run(path, args, input) {
	const ran = spawnSync(animfs, args, { cwd: placeOf(path), input, maxBuffer: 1 << 30 });
	if (ran.error) throw ran.error;
	return { status: ran.status, out: ran.stdout, said: ran.stderr.toString() };
}

// The samples of tests/data do not belong together; those in a folder beside/ do.
const besides = (path) =>
	basename(dirname(path)) !== "beside"
		? []
		: readdirSync(dirname(path))
				.filter((name) => name !== basename(path))
				.map((name) => [name, bytes(join(dirname(path), name))]);

async function open(path, name = basename(path)) {
	try {
		return { file: await OpenFile.open(module, name, bytes(path), besides(path)) };
	} catch (error) {
		if (!(error instanceof Refusal)) throw error;
		return { refusal: error };
	}
}

// Every folder and view below a folder, with their paths.
function* walk(file, path = "") {
	const entries = file.list(path);
	yield { path, folder: true, entries };
	for (const entry of entries) {
		const inner = path ? `${path}/${entry.name}` : entry.name;
		if (entry.type === "folder") yield* walk(file, inner);
		else yield { ...entry, path: inner };
	}
}

const slices = (list, size) =>
	Array.from({ length: Math.ceil(list.length / size) }, (_, i) => list.slice(i * size, (i + 1) * size));

// Lays out the sample as it is, for the program.
function lay(path) {
	const place = placeOf(path);
	mkdirSync(place, { recursive: true });
	rmSync(join(place, `${basename(path)}.skeleton.csv`), { force: true });
	for (const name of [basename(path), ...besides(path).map(([name]) => name)])
		copyFileSync(join(dirname(path), name), join(place, name));
}

// ---- texts ----

function compareNames(at, file, folders) {
	for (const part of slices(folders, 200)) {
		const names = part.flatMap(({ path, entries }) =>
			entries.map(
				(e) =>
					`${[file.name, path, e.name].filter(Boolean).join("/")}${e.type === "folder" ? "/" : ""}\0`,
			),
		);
		const paths = part.map(({ path }) => (path ? `${file.name}/${path}` : file.name));
		const listed = run(at, ["ls", "-0", ...paths]).out.toString();
		check(listed === names.join(""), `names of ${file.name}`);
	}
}

function compareTexts(at, file, views) {
	for (const part of slices(views, 100)) {
		const ours = Buffer.concat(part.map(({ path }) => file.bytesOf(path)));
		const theirs = run(at, ["cat", ...part.map(({ path }) => `${file.name}/${path}`)]).out;
		checks += part.length - 1;
		check(true);
		if (ours.equals(theirs)) continue;
		for (const { path } of part) {
			const [a, b] = [
				Buffer.from(file.bytesOf(path)),
				run(at, ["cat", `${file.name}/${path}`]).out,
			];
			if (!a.equals(b)) check(false, `text of ${file.name}/${path}`, difference(a, b));
		}
	}
}

function difference(a, b) {
	const [ours, theirs] = [a.toString().split("\n"), b.toString().split("\n")];
	const at = ours.findIndex((line, i) => line !== theirs[i]);
	return `  page: ${(ours[at] || "").slice(0, 300)}\n  file: ${(theirs[at] || "").slice(0, 300)}`;
}

async function texts() {
	for (const path of files) {
		lay(path);
		const { file, refusal } = await open(path);
		if (refusal) {
			const { said, status } = run(path, ["ls", basename(path)]);
			check(
				status !== 0 && said === `animfs: ${refusal.text}`,
				`reason of ${path}`,
				`${refusal.text}${said}`,
			);
			continue;
		}
		const all = [...walk(file)];
		compareNames(
			path,
			file,
			all.filter((e) => e.folder),
		);
		compareTexts(
			path,
			file,
			all.filter((e) => !e.folder),
		);
		console.log(`${path}: ${all.length} names`);
	}
}

// ---- edits ----

// The same numbers each time: a multiplier and an increment modulo 2^32.
class Chance {
	constructor(seed) {
		this.state = seed >>> 0;
	}
	below(limit) {
		this.state = (Math.imul(this.state, 1664525) + 1013904223) >>> 0;
		return Math.floor((this.state / 4294967296) * limit);
	}
	of(list) {
		return list[this.below(list.length)];
	}
}

const NUMBER = /-?\d+(\.\d+)?([eE][-+]?\d+)?/g;

// Most edits are of a number, small or large; some are none that can be taken.
function change(text, chance) {
	const numbers = [...text.matchAll(NUMBER)];
	if (!numbers.length) return `${text}0\n`;
	const found = chance.of(numbers);
	const value = Number(found[0]);
	const put = [
		() => String(value + 1),
		() => String(-value),
		() => (value * 1.5).toPrecision(6),
		() => (value + (chance.below(2000) - 1000) / 1000).toFixed(4),
		() => String(chance.below(360)),
		() => "0.1",
		() => "1e30",
		() => "x",
		() => "",
		() => `${found[0]},1`,
	][chance.below(chance.below(4) ? 6 : 10)]();
	return text.slice(0, found.index) + put + text.slice(found.index + found[0].length);
}

// All that can be edited: each file's own, and of long lists some.
function editable(file) {
	const views = [...walk(file)].filter((e) => e.editable);
	return views.filter((e, i) => e.view !== "raw" && (views.length < 200 || i % 7 === 0));
}

async function edit(path, view, number) {
	const chance = new Chance(number * 2654435761);
	const { file } = await open(path);
	const text = change(file.text(view), chance);
	const what = `edit ${number} of ${basename(path)}/${view}`;
	let saved;
	let refusal = null;
	try {
		saved = file.save(view, text);
	} catch (error) {
		if (!(error instanceof Refusal)) throw error;
		refusal = error;
	}
	lay(path);
	const { status, said } = run(path, ["put", `${file.name}/${view}`], text);
	if (refusal) {
		check(status !== 0 && said === refusal.text, what, `  page: ${refusal.text}  file: ${said}`);
		return "refused";
	}
	check(status === 0, what, `  page: ${saved.saved}\n  file: ${said}`);
	check(
		Buffer.from(file.bytes()).equals(readFileSync(join(placeOf(path), file.name))),
		`${what}: the bytes`,
	);
	if (saved.beside)
		check(
			Buffer.from(file.beside(saved.beside)).equals(
				readFileSync(join(placeOf(path), saved.beside)),
			),
			`${what}: ${saved.beside}`,
		);
	const ignored = saved.ignored ? `animfs: ${file.name}/${view}: ${saved.ignored}\n` : "";
	check(said === ignored, `${what}: what was ignored`, `  page: ${ignored}  file: ${said}`);
	return saved.saved;
}

async function edits() {
	const formats = new Map();
	for (const path of files) {
		const { file } = await open(path);
		if (!file) continue;
		const format = basename(dirname(path));
		if (!formats.has(format)) formats.set(format, []);
		for (const { path: view } of editable(file)) formats.get(format).push([path, view]);
	}
	for (const [format, places] of formats) {
		const sum = { saved: 0, same: 0, beside: 0, refused: 0 };
		for (let i = 0; i < EDITS; i++) {
			const [path, view] = places[Math.floor((i * places.length) / EDITS)];
			sum[await edit(path, view, i + 1)]++;
		}
		check(sum.saved && sum.refused, `${format}: edits of all kinds`);
		console.log(`${format}: ${JSON.stringify(sum)}`);
	}
}

// ---- what the fuzzers found ----

// The end of the name, for files; the view of a sample, for texts.
const CORPORA = {
	canm: { name: "x.canm" },
	edit_canm: { name: "x.canm" },
	cas: { name: "x.cas" },
	edit_cas: { name: "x.cas" },
	ribbon: { name: "x.anm" },
	edit_ribbon: { name: "x.anm" },
	owanim: { name: "x.006" },
	edit_owanim: { name: "x.006" },
	ff9anim: { name: "x.ff9anim" },
	edit_ff9anim: { name: "x.ff9anim" },
	ff9clip: { name: "x.anim" },
	edit_ff9clip: { name: "x.anim" },
	kanim_file: { name: "x.kanim" },
	csv: { view: "walk/bones/hip.csv" },
	bone_json: { view: "walk/bones/hip.json" },
	curves_csv: { view: "walk/curves.csv" },
	frames_csv: { view: "frames.csv", sample: "ff9clip/walk.anim" },
	clip_json: { view: "walk/clip.json" },
	file_json: { view: "file.json" },
	gltf: { view: "walk/clip.gltf" },
	bvh: { view: "walk/clip.bvh" },
	kanim: { view: "walk/clip.kanim" },
	keyframes_csv: { view: "0/bones/object_00.csv", sample: "ribbon/duplicate.anm" },
	keyframes_json: { view: "0/bones/object_00.json", sample: "ribbon/duplicate.anm" },
	skeleton: { beside: "skeleton.csv" },
	models: { beside: "wiki512.mdb" },
	bone_names: { beside: "bone-names.csv", sample: "ribbon/duplicate.anm" },
};

// A Refusal is an answer; anything else is a fault.
async function told(what, act) {
	try {
		await act();
		check(true);
	} catch (error) {
		check(error instanceof Refusal && error.message, what, `  ${error.message}`);
	}
}

function readAll(file) {
	let views = 0;
	for (const entry of walk(file)) if (!entry.folder && views++ < 40) file.bytesOf(entry.path);
}

// The first view of this kind, where the sample has no such name.
const viewOf = (file, view) => {
	const all = [...walk(file)].filter((e) => !e.folder).map((e) => e.path);
	return all.includes(view) ? view : all.find((path) => extname(path) === extname(view)) || all[0];
};

async function damaged() {
	const [corpus, data] = files;
	for (const [folder, how] of Object.entries(CORPORA)) {
		const sample = join(data, how.sample || "canm/wiki512.canm");
		const { file } = how.name ? {} : await open(sample);
		const view = how.view && viewOf(file, how.view);
		for (const name of readdirSync(join(corpus, folder))) {
			const path = join(corpus, folder, name);
			await told(path, async () => {
				if (how.name) {
					readAll(await OpenFile.open(module, how.name, bytes(path)));
				} else if (how.beside) {
					file.add(how.beside, bytes(path));
					file.restore(bytes(sample));
					readAll(file);
				} else {
					file.restore(bytes(sample));
					file.save(view, bytes(path));
					readAll(file);
				}
			});
			if (file && file.core.broken) await file.mend();
		}
	}
}

// ---- the core ----

async function core() {
	const [path] = files;
	const { file } = await open(path);
	const all = [...walk(file)].filter((e) => !e.folder);
	const round = () => {
		file.restore(bytes(path));
		for (const { path: view } of all) file.bytesOf(view);
	};
	for (let i = 0; i < 3; i++) round();
	const size = file.core.exports.memory.buffer.byteLength;
	for (let i = 0; i < 50; i++) round();
	check(file.core.exports.memory.buffer.byteLength === size, "memory is given back");

	const { path: view } = all.find((e) => e.path.endsWith(".csv") && e.editable);
	const before = file.text(view);
	let error = null;
	try {
		file.core.call("web_text", file.at, -16);
	} catch (caught) {
		error = caught;
	}
	check(error instanceof Broken && error.message, "a trap is reported");
	error = null;
	try {
		file.text(view);
	} catch (caught) {
		error = caught;
	}
	check(error instanceof Broken, "and what is broken stays so");
	await file.mend();
	check(file.text(view) === before, "until it is mended");

	const whole = await Core.begin(module);
	error = null;
	try {
		for (let i = 0; i < 100; i++) whole.put(new Uint8Array(64 << 20));
	} catch (caught) {
		error = caught;
	}
	check(error instanceof Broken && error.message === "out of memory", "memory has a limit");
}

// ---- the page's worker ----

async function deskOf() {
	const [path] = files;
	const desk = await Desk.begin(readFileSync(wasm).toString("base64"));
	const state = await desk.open(basename(path), bytes(path), []);
	const open = [];
	for (const { path: folder } of desk.items([]).filter((e) => e.type === "folder")) open.push(folder);
	const view = desk.items([...open, `${open[0]}/bones`]).find((e) => e.view === "csv" && e.depth === 2);
	check(state.name === basename(path) && !state.changed && !state.undo, "a file that was opened");
	check(view && desk.clip(view.path).name === open[0], "its folder and clip");

	const states = [desk.file.bytes()];
	for (let i = 1; i <= 3; i++) {
		const { changed, undo, text } = desk.save(
			view.path,
			desk.text(view.path).replace(/\n([^,]*,[^,]*),[^,]*/, `\n$1,${i}`),
		);
		check(changed && undo === i && text === desk.text(view.path), `edit ${i}`);
		states.push(desk.file.bytes());
	}
	const is = (i) => Buffer.from(desk.file.bytes()).equals(Buffer.from(states[i]));
	for (const i of [2, 1, 0]) check((await desk.back(false)).undo === i && is(i), `undo to ${i}`);
	check(!(await desk.back(false)).changed && is(0), "undo of nothing");
	check((await desk.back(true)).redo === 2 && is(1), "redo");
	check(
		desk.wrote().changed === false && (await desk.back(false)).changed,
		"what is written is unchanged",
	);

	await desk.back(true);
	let fault = null;
	try {
		desk.save(view.path, "frame\nx\n");
	} catch (error) {
		fault = await desk.fault(error);
	}
	check(fault.refusal && fault.refusal.line && fault.refusal.message && is(1), "a refusal");
	try {
		desk.file.core.call("web_text", desk.file.at, -16);
	} catch (error) {
		fault = await desk.fault(error);
	}
	check(!fault.refusal && fault.message && is(1), "after a trap the file is as it was");
	check((await desk.back(false)).undo === 0 && is(0), "and so is the undo");

	for (let i = 0; i < 200; i++) desk.remember({ bytes: new Uint8Array(1 << 20) });
	check(desk.done.length === 100, "states for undo are at most 100");
	for (let i = 0; i < 9; i++) desk.remember({ bytes: { length: 64 << 20 } });
	check(desk.done.length === 3, "and 256 MB");
}

// ---- a large file ----

async function large() {
	const [path] = files;
	const desk = await Desk.begin(readFileSync(wasm).toString("base64"));
	await desk.open(basename(path), bytes(path), []);
	const view = "walk/bones/hips.csv";
	const put = (cell) => desk.text(view).replace(/\n([^,]*,[^,]*),[^,]*/, `\n$1,${cell}`);
	for (let i = 0; i < 4; i++) desk.save(view, put(i));
	check(desk.clip(view).clip.bones > 0, "it has a figure");
	const size = desk.file.core.exports.memory.buffer.byteLength;
	for (let i = 4; i < 8; i++) desk.save(view, put(i));
	check(desk.file.core.exports.memory.buffer.byteLength === size, "memory does not grow");
	lay(path);
	run(path, ["put", `${basename(path)}/${view}`], desk.text(view));
	check(
		Buffer.from(desk.file.bytes()).equals(readFileSync(join(placeOf(path), basename(path)))),
		"the bytes are the program's",
	);
	console.log(`${bytes(path).length} bytes: ${size >> 20} MB of memory`);
}

await { large, texts, edits, damaged, core, desk: deskOf }[mode]();
console.log(`${mode}: ${checks} checks, ${failed} failed`);
process.exit(failed ? 1 : 0);
