// SPDX-License-Identifier: GPL-3.0-or-later
// web_page.mjs PUPPETEER BROWSER PAGE ANIMFS WORK - opens, edits and saves files in the page, in a
// browser, and compares what comes of it with the program.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, readFileSync, truncateSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { basename, join } from "node:path";
import { pathToFileURL } from "node:url";
import { browserOf } from "./browser.mjs";

const [puppeteerPath, name, html, animfs, work] = process.argv.slice(2);
const { launch, open } = await browserOf(puppeteerPath, name);
const SAMPLE = "tests/data/canm/wiki512.canm";
const BONE = "walk/bones/hip.csv";
const TURNS = "tests/data/owanim/walk.006";

function run(args, input) {
	const ran = spawnSync(animfs, args, { cwd: work, input, maxBuffer: 1 << 30 });
	return { ...ran, said: ran.stderr.toString() };
}

const cat = (path) => run(["cat", path]).stdout.toString();

// The bytes that animfs put makes of a sample.
function put(path, text, sample = SAMPLE) {
	copyFileSync(sample, join(work, basename(sample)));
	const { said, status } = run(["put", `${basename(sample)}/${path}`, "-"], text);
	return { bytes: readFileSync(join(work, basename(sample))), said, status };
}

// Nothing is asked of the worker any more.
const settled = (page) =>
	page.waitForFunction(() => !window.animfs.calls.waiting.size && !window.animfs.drawing);

async function bytesIn(page) {
	await settled(page);
	return Buffer.from(await page.evaluate(async () => [...(await window.animfs.ask("bytes")).bytes]));
}

async function cell(page, id) {
	await settled(page);
	return page.$eval(id, (e) => e.textContent);
}

async function upload(page, ...paths) {
	const input = await page.$("input[type=file]");
	await page.evaluate(() => (window.animfs.before = window.animfs.file));
	await input.uploadFile(...paths);
	await page.waitForFunction(
		() =>
			window.animfs.file !== window.animfs.before ||
			document.querySelector("[role=alert]").textContent,
	);
	await settled(page);
}

async function alertIn(page) {
	await settled(page);
	return page.$eval("[role=alert]", (e) => e.textContent);
}

const statusIn = (page) => page.$eval("[role=status]", (e) => e.textContent);

// Goes to a cell of the table, as a click does.
const goTo = (page, row, column) =>
	page.evaluate(
		(r, c) => {
			const { table } = window.animfs;
			table.element.focus();
			table.move(r, c);
		},
		row,
		column,
	);

async function type(page, row, column, text) {
	await goTo(page, row, column);
	await page.keyboard.type(text);
	await page.keyboard.press("Enter");
}

async function chord(page, key) {
	await page.keyboard.down("Control");
	await page.keyboard.press(key);
	await page.keyboard.up("Control");
}

async function look(page, path) {
	await page.evaluate(async (p) => {
		const { folder } = window.animfs;
		await folder.show(p);
		folder.list.children[folder.shown.findIndex((e) => e.path === p)].click();
	}, path);
	await settled(page);
}

// A cell of the sample's text, changed.
function changed(text, row, column, cell) {
	const rows = text.split("\n");
	const cells = rows[row + 1].split(",");
	cells[column] = cell;
	rows[row + 1] = cells.join(",");
	return rows.join("\n");
}

const tests = {
	async "a file is opened, with its names and a table"(page) {
		await upload(page, SAMPLE);
		const names = await page.$$eval("nav [role=treeitem] .name", (all) =>
			all.map((e) => e.textContent),
		);
		assert.ok(names.includes("raw.canm") && names.includes("walk") && names.includes("hip.csv"));
		await look(page, BONE);
		const heads = await page.$$eval("[role=columnheader]", (all) =>
			all.map((e) => e.textContent),
		);
		assert.deepEqual(
			heads,
			cat(`${basename(SAMPLE)}/${BONE}`)
				.split("\n")[0]
				.split(","),
		);
		assert.equal(await cell(page, "#cell-1-2"), "0.5000076");
	},

	async "a number that is typed is saved as by the program, and the figure moves"(page) {
		await look(page, BONE);
		const before = await page.evaluate(() => window.animfs.player.clip);
		await type(page, 0, 2, "0.25");
		const wanted = put(BONE, changed(cat(`${basename(SAMPLE)}/${BONE}`), 0, 2, "0.25"));
		assert.equal(wanted.status, 0);
		assert.deepEqual(await bytesIn(page), wanted.bytes);
		await settled(page);
		const value = await page.evaluate(() => {
			const { clip } = window.animfs.player;
			return clip.nodes.find((n) => n.name === "hip").curves[0].values[0];
		});
		assert.ok(Math.abs(value - 0.25) < 1e-3);
		assert.ok(before);
		assert.equal(await page.evaluate(() => window.animfs.table.at.row), 1);
	},

	async "undo and redo"(page) {
		const edited = await bytesIn(page);
		await chord(page, "z");
		assert.deepEqual(await bytesIn(page), readFileSync(SAMPLE));
		assert.equal(await cell(page, "#cell-0-2"), "0");
		await chord(page, "y");
		assert.deepEqual(await bytesIn(page), edited);
		await chord(page, "z");
		assert.deepEqual(await bytesIn(page), readFileSync(SAMPLE));
	},

	async "a mistake is refused at its cell, in the program's words"(page) {
		await look(page, BONE);
		await type(page, 1, 3, "12..5");
		const { said } = put(BONE, changed(cat(`${basename(SAMPLE)}/${BONE}`), 1, 3, "12..5"));
		assert.ok(said.includes(":3:"));
		assert.equal((await alertIn(page)).trim(), said.trim());
		assert.equal(await page.$eval("#cell-1-3", (e) => e.getAttribute("aria-invalid")), "true");
		assert.deepEqual(await bytesIn(page), readFileSync(SAMPLE));
		await page.keyboard.press("Escape");
		assert.equal(await alertIn(page), "");
		assert.equal(await cell(page, "#cell-1-3"), "1");
	},

	async "ranges are copied, pasted, filled and emptied"(page) {
		await look(page, BONE);
		await goTo(page, 0, 2);
		await page.keyboard.down("Shift");
		await page.keyboard.press("ArrowRight");
		await page.keyboard.press("ArrowDown");
		await page.keyboard.up("Shift");
		assert.deepEqual(await page.evaluate(() => window.animfs.table.cells()), [
			["0", "-1"],
			["0.5000076", "1"],
		]);
		await page.evaluate(() => window.animfs.table.paste("0.5\t-1\r\n1\t0.5\r\n"));
		await settled(page);
		assert.equal(await cell(page, "#cell-1-2"), "1");
		await goTo(page, 0, 2);
		await page.keyboard.down("Shift");
		await page.keyboard.press("ArrowDown");
		await page.keyboard.up("Shift");
		await chord(page, "d");
		await settled(page);
		const filled = await page.$$eval("#cell-0-2, #cell-1-2", (all) =>
			all.map((e) => e.textContent),
		);
		assert.equal(filled[0], filled[1]);
		assert.ok(filled[0].startsWith("0.5"));
		await chord(page, "z");
		await settled(page);
		await chord(page, "z");
		assert.deepEqual(await bytesIn(page), readFileSync(SAMPLE));
	},

	// Tabs and lines are what LibreOffice and Excel put on the clipboard and take from it.
	async "ranges go over the clipboard"(page) {
		const clipboard = async (key, command) => {
			await page.keyboard.down("Control");
			await page.keyboard.press(key, { commands: [command] });
			await page.keyboard.up("Control");
			await settled(page);
		};
		await look(page, BONE);
		await page.evaluate(() => {
			window.clip = [];
			for (const kind of ["copy", "cut", "paste"])
				document.addEventListener(kind, ({ clipboardData: data }) => {
					window.clip.push(data.getData("text/plain"));
					window.html = data.getData("text/html");
				});
		});
		await goTo(page, 0, 2);
		await page.keyboard.down("Shift");
		await page.keyboard.press("ArrowRight");
		await page.keyboard.up("Shift");
		await clipboard("c", "copy");
		// Numbers where the decimal mark is a comma: LibreOffice 7.4 in German takes "1.5" from HTML only.
		assert.equal(
			await page.evaluate(() =>
				writeHtml([
					["1.5", ""],
					["a<b&", "nan"],
				]),
			),
			'<html xmlns:x="urn:schemas-microsoft-com:office:excel"><table><tr>' +
				'<td sdval="1.5" sdnum="1033;" x:num="1.5">1.5</td><td></td></tr>' +
				"<tr><td>a&lt;b&amp;</td><td>nan</td></tr></table></html>",
		);
		assert.match(await page.evaluate(() => window.html), /<td sdval="0"[^]*<td sdval="-1"/);
		await goTo(page, 2, 2);
		await clipboard("v", "paste");
		assert.deepEqual(await page.evaluate(() => window.clip), ["0\t-1", "0\t-1"]);
		assert.equal(await cell(page, "#cell-2-2"), "0");
		const text = changed(cat(`${basename(SAMPLE)}/${BONE}`), 2, 2, "0");
		assert.deepEqual(await bytesIn(page), put(BONE, changed(text, 2, 3, "-1")).bytes);
		// What LibreOffice 7.4 in German puts on the clipboard.
		await page.evaluate(() => window.animfs.table.paste("0,5\t1,00E-07\n"));
		assert.deepEqual(
			await bytesIn(page),
			put(BONE, changed(changed(text, 2, 3, "1.00E-07"), 2, 2, "0.5")).bytes,
		);
		for (let i = 0; i < 2; i++) {
			await chord(page, "z");
			await settled(page);
		}
		assert.deepEqual(await bytesIn(page), readFileSync(SAMPLE));
	},

	async "the table is walked by keys"(page) {
		await look(page, BONE);
		await goTo(page, 0, 0);
		const at = () =>
			page.evaluate(() => [window.animfs.table.at.row, window.animfs.table.at.column]);
		await page.keyboard.press("ArrowDown");
		await page.keyboard.press("ArrowRight");
		assert.deepEqual(await at(), [1, 1]);
		await page.keyboard.press("Tab");
		await page.keyboard.press("Enter");
		assert.deepEqual(await at(), [2, 2]);
		await chord(page, "Home");
		assert.deepEqual(await at(), [0, 0]);
	},

	async "a text is edited, and refused where it is wrong"(page) {
		await look(page, "walk/clip.json");
		const text = await page.$eval("textarea", (e) => e.value);
		assert.equal(text, cat(`${basename(SAMPLE)}/walk/clip.json`));
		const other = text.replace(/"loop": *(true|false|[01])/, (all, v) =>
			all.replace(v, { true: "false", false: "true", 0: "1", 1: "0" }[v]),
		);
		assert.notEqual(other, text);
		await page.$eval("textarea", (e, v) => (e.value = v), other);
		await page.focus("textarea");
		await chord(page, "Enter");
		assert.deepEqual(await bytesIn(page), put("walk/clip.json", other).bytes);
		await page.$eval("textarea", (e) => (e.value = e.value.replace("{", "{,")));
		await page.focus("textarea");
		await chord(page, "Enter");
		assert.ok((await alertIn(page)).includes("walk/clip.json:1:"));
		await look(page, BONE);
		await page.focus(".table");
		await chord(page, "z");
		assert.deepEqual(await bytesIn(page), readFileSync(SAMPLE));
	},

	async "save is a download of the file's bytes"(page) {
		const saved = await page.evaluate(async () => {
			const made = [];
			const { createObjectURL } = URL;
			URL.createObjectURL = (blob) => (made.push(blob), createObjectURL.call(URL, blob));
			const names = [];
			const { click } = HTMLAnchorElement.prototype;
			HTMLAnchorElement.prototype.click = function () {
				names.push(this.download);
			};
			window.animfs.handle = null;
			await window.animfs.store();
			URL.createObjectURL = createObjectURL;
			HTMLAnchorElement.prototype.click = click;
			return { names, bytes: [...new Uint8Array(await made[0].arrayBuffer())] };
		});
		assert.deepEqual(saved.names, [basename(SAMPLE)]);
		assert.deepEqual(Buffer.from(saved.bytes), await bytesIn(page));
		assert.ok((await statusIn(page)).includes("download"));
	},

	async "a damaged file says why, and what is open stays"(page) {
		await upload(page, "tests/data/canm/bad_truncated.canm");
		assert.ok((await alertIn(page)).startsWith("bad_truncated.canm:0x"));
		assert.deepEqual(await bytesIn(page), readFileSync(SAMPLE));
	},

	// What the worker does then is tested in web.mjs.
	async "a file that is too large says so"(page) {
		await page.evaluate(() => {
			const file = { name: "large.canm", size: (64 << 20) + 1 };
			const chosen = { path: "large.canm", read: async () => file };
			window.animfs.files = [chosen];
			return window.animfs.open(chosen);
		});
		assert.equal(await alertIn(page), "large.canm: larger than 64 MB");
		assert.deepEqual(await bytesIn(page), readFileSync(SAMPLE));
	},

	async "after the program has ended the page goes on"(page) {
		await look(page, BONE);
		await page.evaluate(async () => {
			const app = window.animfs;
			await app.ask("nothing").catch((error) => app.complain(error));
		});
		assert.ok((await alertIn(page)).startsWith("The program ended: "));
		await type(page, 0, 2, "0.25");
		assert.notDeepEqual(await bytesIn(page), readFileSync(SAMPLE));
		await chord(page, "z");
		assert.deepEqual(await bytesIn(page), readFileSync(SAMPLE));
	},

	async "a file is dropped, with a rest pose beside it"(page) {
		const text = "bone,parent,tx,ty,tz,rx,ry,rz,sx,sy,sz\nhip,,0,1,0,0,0,0,1,1,1\n";
		await page.evaluate(
			(bytes, skeleton) => {
				window.animfs.before = window.animfs.file;
				const data = new DataTransfer();
				data.items.add(new File([new Uint8Array(bytes)], "wiki512.canm"));
				data.items.add(new File([skeleton], "wiki512.canm.skeleton.csv"));
				dispatchEvent(new DragEvent("drop", { dataTransfer: data }));
			},
			[...readFileSync(SAMPLE)],
			text,
		);
		await page.waitForFunction(() => window.animfs.file !== window.animfs.before);
		await look(page, "skeleton.csv");
		const rows = await page.evaluate(() => window.animfs.table.rows);
		assert.ok(rows.some((row) => row.join() === "hip,,0,1,0,0,0,0,1,1,1"));
	},

	// Only Chromium can be told to drop a file of the disk, as from a file manager.
	...(name === "chromium" && {
		async "a folder is dropped, with folders in it and much that does not concern the page"(
			page,
		) {
			const game = join(work, "game");
			mkdirSync(join(game, "b", "deep"), { recursive: true });
			for (const path of ["b/deep/run.canm", "b/walk10.canm", "b/walk9.canm", "none.txt"])
				copyFileSync(SAMPLE, join(game, path));
			writeFileSync(
				join(game, "b", "walk9.canm.skeleton.csv"),
				"bone,parent,tx,ty,tz,rx,ry,rz,sx,sy,sz\nhip,,0,3,0,0,0,0,1,1,1\n",
			);
			// Two gigabytes, which would be too much to read.
			for (let i = 0; i < 33; i++) {
				writeFileSync(join(game, "b", `picture${i}.dds`), "");
				truncateSync(join(game, "b", `picture${i}.dds`), 64 << 20);
			}
			const client = await page.createCDPSession();
			const data = { items: [], files: [game], dragOperationsMask: 1 };
			await page.evaluate(() => (window.animfs.before = window.animfs.file));
			for (const type of ["dragEnter", "dragOver", "drop"]) {
				await client.send("Input.dispatchDragEvent", { type, x: 500, y: 300, data });
				const marked = await page.evaluate(() =>
					document.body.classList.contains("drop"),
				);
				assert.equal(marked, type === "dragOver");
			}
			await client.detach();
			await page.waitForFunction(
				() =>
					window.animfs.file !== window.animfs.before ||
					document.querySelector("[role=alert]").textContent,
			);
			assert.equal(await alertIn(page), "");
			const offered = () =>
				page.$$eval("header select option", (all) => all.map((e) => e.textContent));
			assert.deepEqual(await offered(), [
				"game/b/deep/run.canm",
				"game/b/walk9.canm",
				"game/b/walk10.canm",
			]);
			await page.select("header select", "game/b/walk9.canm");
			await settled(page);
			await look(page, "skeleton.csv");
			assert.ok(
				(await page.evaluate(() => window.animfs.table.rows))
					.join(" ")
					.includes("hip,,0,3,0"),
			);
			assert.equal(await page.evaluate(() => window.animfs.handle.name), "walk9.canm");
			await page.select("header select", "game/b/deep/run.canm");
			await settled(page);
			assert.deepEqual(await bytesIn(page), readFileSync(SAMPLE));
			assert.equal(await alertIn(page), "");
		},
	}),

	async "a file that cannot be read says why"(page) {
		await page.evaluate(() => {
			const read = async () => {
				throw new DOMException("it is not there", "NotFoundError");
			};
			const chosen = { path: "gone.canm", read };
			window.animfs.files = [chosen];
			return window.animfs.open(chosen);
		});
		assert.equal(await alertIn(page), "gone.canm: it is not there");
	},

	async "everything has a name, and light and dark"(page) {
		const nameless = await page.$$eval(
			"button, input:not([type=file]), select, textarea, canvas, [role=grid], [role=tree]",
			(all) =>
				all
					.filter(
						(e) =>
							!(
								e.getAttribute("aria-label") ||
								e.title ||
								e.textContent.trim()
							),
					)
					.map((e) => e.outerHTML.slice(0, 200)),
		);
		assert.deepEqual(nameless, []);
		// What a screen reader is told; only Chromium says it.
		const faults = [];
		const walk = ({ role, name: called, children = [] }) => {
			if (/button|box|slider|spin|tree|grid$|menu|img|dialog/i.test(role) && !called)
				faults.push(role);
			children.forEach(walk);
		};
		if (name === "chromium")
			for (const path of [BONE, "walk/clip.json"]) {
				await look(page, path);
				walk(await page.accessibility.snapshot());
			}
		assert.deepEqual(faults, []);
		const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
		const before = await ground();
		await page.evaluate(() => document.querySelector('[title="Light or dark"]').click());
		assert.notEqual(await ground(), before);
	},

	async "a key is dragged, the figure moves at once, and the file is that of the program"(page) {
		await upload(page, SAMPLE);
		await look(page, BONE);
		const node = () =>
			page.evaluate(() => {
				const { clip } = window.animfs.player;
				return [...clip.nodes.find((n) => n.name === "hip").curves[0].values];
			});
		const before = await node();
		// The second key of x, in the middle of its chart.
		const at = await page.evaluate(async () => {
			await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
			const { plot, curves } = window.animfs.player;
			const [chart] = curves.charts;
			const [frame, value] = chart.keys[1];
			const box = plot.getBoundingClientRect();
			return [
				box.left + curves.across(chart, frame),
				box.top + curves.down(chart, value[0]),
				box.top + curves.down(chart, (chart.least + chart.most) / 2),
			];
		});
		await page.mouse.move(at[0], at[1]);
		await page.mouse.down();
		await page.mouse.move(at[0], at[2], { steps: 3 });
		const held = await node();
		assert.notEqual(held[3], before[3]);
		assert.deepEqual(await bytesIn(page), readFileSync(SAMPLE));
		await page.mouse.up();
		await settled(page);
		assert.equal(await alertIn(page), "");
		const text = await page.evaluate(() => window.animfs.drag.taken);
		const wanted = put(BONE, changed(cat(`${basename(SAMPLE)}/${BONE}`), 1, 2, text));
		assert.equal(wanted.status, 0);
		assert.notDeepEqual(wanted.bytes, readFileSync(SAMPLE));
		assert.deepEqual(await bytesIn(page), wanted.bytes);
		assert.ok(Math.abs((await node())[3] - Number(text)) < 1e-3);
		await page.focus(".table");
		await chord(page, "z");
		assert.deepEqual(await bytesIn(page), readFileSync(SAMPLE));
	},

	// The file stores quaternions; the picture and the table have degrees.
	async "a key is not put into a cell that is not its own"(page) {
		await upload(page, "tests/data/ff9clip/odd.anim");
		const [path, own] = await page.evaluate(async () => {
			const { player, folder, drag } = window.animfs;
			const node = player.clip.nodes.findIndex((n) => n.curves[1]);
			const curve = player.clip.nodes[node].curves[1];
			const held = { node, curve, axis: 0, scale: [-180, 180], value: "5" };
			const keys = [...Array(curve.count).keys()];
			for (const key of keys) await drag.take({ ...held, key, was: 90 });
			return [folder.chosen, keys.length];
		});
		assert.ok(own > 0);
		assert.equal(
			await alertIn(page),
			`${path} has no cell of this frame and value: edit the table`,
		);
		assert.deepEqual(await bytesIn(page), readFileSync("tests/data/ff9clip/odd.anim"));
		await upload(page, SAMPLE);
		await look(page, BONE);
		await page.evaluate(() => {
			const { player, table } = window.animfs;
			const curve = player.clip.nodes.find((n) => n.name === "hip").curves[0];
			const held = { curve, key: 1, axis: 0, scale: [-1, 1], value: "0.25" };
			window.put = [table.putKey({ ...held, was: 0 })];
		});
		assert.deepEqual(await page.evaluate(() => window.put), [false]);
		assert.deepEqual(await bytesIn(page), readFileSync(SAMPLE));
	},

	async "a key of a quaternion is dragged in degrees"(page) {
		await upload(page, TURNS);
		const name = await page.evaluate(() => {
			const { clip } = window.animfs.player;
			const unit = (c) =>
				c &&
				c.width === 4 &&
				c.count > 2 &&
				Math.abs(Math.hypot(...c.values.slice(0, 4)) - 1) < 1e-3;
			return clip.nodes.find((n) => n.curves && unit(n.curves[1])).name;
		});
		const clip = await page.evaluate(
			() => window.animfs.folder.shown.find((e) => e.type === "folder").path,
		);
		const path = `${clip}/bones/${name}.csv`;
		await look(page, path);
		const at = await page.evaluate(async () => {
			await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
			const { plot, curves } = window.animfs.player;
			const chart = curves.charts.find((c) => c.curve.role === 1);
			plot.scrollIntoView({ block: "nearest" });
			// The key and axis that stand farthest from all others.
			const [frame, value] = chart.keys[1];
			const box = plot.getBoundingClientRect();
			const y = value.map((v) => curves.down(chart, v));
			const room = y.map((v, i) =>
				Math.min(...y.map((w, k) => (k === i ? Infinity : Math.abs(v - w)))),
			);
			const axis = room.indexOf(Math.max(...room));
			return {
				axis,
				frame,
				value,
				x: box.left + curves.across(chart, frame),
				y: box.top + y[axis],
				// To a third of the height, or two thirds, whichever is farther.
				to:
					box.top +
					[1 / 3, 2 / 3]
						.map((part) =>
							curves.down(
								chart,
								chart.least +
									(chart.most - chart.least) * part,
							),
						)
						.sort(
							(a, b) =>
								Math.abs(b - y[axis]) - Math.abs(a - y[axis]),
						)[0],
			};
		});
		const text = run(["cat", `${basename(TURNS)}/${path}`]).stdout.toString();
		const rows = text.split("\n").map((row) => row.split(","));
		const row = rows.findIndex((cells) => Number(cells[0]) === at.frame && cells[0] !== "") - 1;
		const column = rows[0].indexOf("rx");
		// The picture has what the table has.
		at.value.forEach((v, i) => assert.ok(Math.abs(v - Number(rows[row + 1][column + i])) < 1e-3));
		const turn = () =>
			page.evaluate((bone) => {
				const { clip } = window.animfs.player;
				return [
					...clip.nodes
						.find((n) => n.name === bone)
						.curves[1].values.slice(4, 8),
				];
			}, name);
		const before = await turn();
		await page.mouse.move(at.x, at.y);
		await page.mouse.down();
		await page.mouse.move(at.x, at.to, { steps: 3 });
		const held = await turn();
		assert.notDeepEqual(held, before);
		assert.deepEqual(await bytesIn(page), readFileSync(TURNS));
		await page.mouse.up();
		await settled(page);
		assert.equal(await alertIn(page), "");
		const taken = await page.evaluate(() => window.animfs.drag.taken);
		const wanted = put(path, changed(text, row, column + at.axis, taken), TURNS);
		assert.equal(wanted.said, "");
		assert.equal(wanted.status, 0);
		assert.notDeepEqual(wanted.bytes, readFileSync(TURNS));
		assert.deepEqual(await bytesIn(page), wanted.bytes);
		// The figure stays where it was when the key was let go: the same rotation, up to its sign.
		const after = await turn();
		assert.ok(Math.abs(after.reduce((sum, v, i) => sum + v * held[i], 0)) > 0.9999);
		await page.focus(".table");
		await chord(page, "z");
		assert.deepEqual(await bytesIn(page), readFileSync(TURNS));
	},

	async "the page may connect to nothing"(page) {
		const policy = await page.$eval("meta[http-equiv]", (e) => e.content);
		assert.match(
			policy,
			/^default-src 'none'; script-src ('sha256-[^']+' ){2}'wasm-unsafe-eval'; /,
		);
		assert.ok(!/https?:|\*|'self'/.test(policy));
	},

	// How long the page, which may draw meanwhile, does not answer: the longest time between two of its
	// frames, and the tasks that Chromium calls long.
	async "an edit of 200 bones and 900 frames"(page) {
		await upload(page, join(work, "many.canm"));
		await look(page, "walk/bones/hips.csv");
		assert.equal(await page.evaluate(() => window.animfs.table.rows.length), 900);
		const measured = await page.evaluate(async () => {
			const { table, calls, player } = window.animfs;
			const out = { pauses: [], tasks: [], latency: [] };
			const head = table.head.firstChild;
			const chromium = PerformanceObserver.supportedEntryTypes.includes("longtask");
			const note = (list) =>
				out.tasks.push(...list.getEntries().map((task) => Math.round(task.duration)));
			const tasks = chromium && new PerformanceObserver(note);
			// How long it does not answer when nothing is done: the machine's part.
			const idle = async () => {
				let [last, longest] = [performance.now(), 0];
				for (let i = 0; i < 60; i++) {
					const now = await frame();
					[longest, last] = [Math.max(longest, now - last), now];
				}
				return Math.round(longest);
			};
			const frame = () =>
				new Promise((done) => requestAnimationFrame(() => done(performance.now())));
			out.idle = await idle();
			if (tasks) tasks.observe({ type: "longtask" });
			for (let i = 0; i < 8; i++) {
				let [last, longest] = [performance.now(), 0];
				const begin = last;
				table.put([[String(i / 8 + 0.125)]], 3, 2);
				do {
					await frame();
					const now = performance.now();
					longest = Math.max(longest, now - last);
					last = now;
				} while (calls.waiting.size || window.animfs.drawing);
				out.pauses.push(Math.round(longest));
				out.latency.push(Math.round(performance.now() - begin));
			}
			// They are told a little later.
			await new Promise((done) => setTimeout(done, 1000));
			out.faces = player.stage.shapes.length / player.clip.nodes.length;
			out.same = head === table.head.firstChild;
			return out;
		});
		assert.equal(await alertIn(page), "");
		// Half of a bone's eight faces are hidden, and a joint is one.
		assert.ok(measured.faces < 6, `${measured.faces} faces for a bone`);
		assert.ok(measured.same);
		console.log(
			`${name}: edits of 200 bones and 900 frames: ${measured.latency.join(", ")} ms until all is shown, pauses of (${measured.idle} when idle) ${measured.pauses.join(", ")} ms, long tasks of ${measured.tasks.join(", ") || "none"}`,
		);
	},
};

// ---- from a web server ----

// Serves the page, and notes what it is asked for.
async function serve() {
	const asked = [];
	const server = createServer((request, response) => {
		asked.push(request.url);
		response.writeHead(200, { "Content-Type": "text/html" }).end(readFileSync(html));
	});
	await new Promise((done) => server.listen(0, "127.0.0.1", done));
	const stop = () => new Promise((done) => (server.close(done), server.closeAllConnections()));
	return { origin: `http://127.0.0.1:${server.address().port}`, asked, stop };
}

const served = {
	// The picker needs somebody who chooses: here it gives a file of the browser's own, whose handle is
	// of the same kind.
	async "a file is saved where it was opened"(page) {
		await page.evaluate(
			async (bytes, name) => {
				const folder = await navigator.storage.getDirectory();
				const handle = await folder.getFileHandle(name, { create: true });
				const write = async (content) => {
					const out = await handle.createWritable();
					await out.write(content);
					await out.close();
				};
				await write(new Uint8Array(bytes));
				window.showOpenFilePicker = async () => [handle];
				window.tested = { handle, write };
			},
			[...readFileSync(SAMPLE)],
			basename(SAMPLE),
		);
		const stored = () =>
			page.evaluate(async () => {
				const file = await window.tested.handle.getFile();
				return [...new Uint8Array(await file.arrayBuffer())];
			});
		await page.click('[title^="Open animation files"]');
		await page.waitForFunction(() => window.animfs.player);
		await settled(page);
		await look(page, BONE);
		await type(page, 0, 2, "0.25");
		const wanted = put(BONE, changed(cat(`${basename(SAMPLE)}/${BONE}`), 0, 2, "0.25")).bytes;
		await settled(page);
		assert.deepEqual(Buffer.from(await stored()), readFileSync(SAMPLE));
		assert.match(await page.title(), /^• /);
		await chord(page, "s");
		await page.waitForFunction(() => !document.title.startsWith("•"));
		assert.deepEqual(Buffer.from(await stored()), wanted);
		assert.equal(await statusIn(page), "wiki512.canm is saved");

		// Another program's version is replaced only by a second Save.
		await page.evaluate(() => (window.animfs.stamp -= 5000));
		await type(page, 0, 2, "0.5");
		await settled(page);
		await chord(page, "s");
		await page.waitForFunction(() => document.querySelector("[role=alert]").textContent);
		assert.ok((await alertIn(page)).includes("another program"));
		assert.deepEqual(Buffer.from(await stored()), wanted);
		await chord(page, "s");
		await page.waitForFunction(() => !document.title.startsWith("•"));
		assert.notDeepEqual(Buffer.from(await stored()), wanted);
	},

	// The policy is the page's own, and that of the worker.
	async "nothing is connected to, by the page or a worker"(page, said, { origin, asked }) {
		const tried = await page.evaluate(async (url) => {
			const tries = {
				fetch: () => fetch(`${url}/fetch`),
				image: () =>
					new Promise((done, fail) => {
						const image = new Image();
						[image.onload, image.onerror] = [done, fail];
						image.src = `${url}/image`;
					}),
				script: () =>
					new Promise((done, fail) => {
						const script = document.createElement("script");
						[script.onload, script.onerror] = [done, fail];
						script.src = `${url}/script`;
						document.body.append(script);
					}),
				worker: () =>
					new Promise((done, fail) => {
						const code = `fetch("${url}/worker").then(() => postMessage(true), () => postMessage(false))`;
						const worker = new Worker(
							URL.createObjectURL(new Blob([code])),
						);
						worker.onmessage = ({ data }) => (data ? done() : fail());
						worker.onerror = fail;
					}),
				eval: async () => new Function("return 1")(),
			};
			const out = {};
			for (const [name, act] of Object.entries(tries))
				out[name] = await act().then(
					() => "done",
					() => "refused",
				);
			navigator.sendBeacon(`${url}/beacon`, "x");
			return out;
		}, origin);
		for (const [name, outcome] of Object.entries(tried)) assert.equal(outcome, "refused", name);
		assert.deepEqual(asked, ["/"]);
		// Chromium says what it refuses.
		said.splice(0);
	},
};

const browser = await launch();
const { page, said } = await open(
	browser,
	pathToFileURL(html).href,
	{ width: 1400, height: 860 },
	/^(file|data|blob):/,
);
await page.waitForFunction(() => window.animfs);
for (const sample of [SAMPLE, TURNS]) copyFileSync(sample, join(work, basename(sample)));
let [passed, failed] = [0, 0];
for (const [title, test] of Object.entries(tests)) {
	try {
		// What the program prints is of the sample as it was.
		copyFileSync(SAMPLE, join(work, basename(SAMPLE)));
		await test(page);
		assert.deepEqual(said.splice(0), []);
		passed++;
	} catch (error) {
		failed++;
		console.log(`not ok - ${name}: ${title}\n${error.stack}`);
	}
	await page.screenshot({ path: join(work, `${name}-${passed + failed}.png`) });
}

const server = await serve();
const other = await open(browser, server.origin, { width: 1400, height: 860 }, /^/);
await other.page.waitForFunction(() => window.animfs);
for (const [title, test] of Object.entries(served)) {
	try {
		copyFileSync(SAMPLE, join(work, basename(SAMPLE)));
		await test(other.page, other.said, server);
		assert.deepEqual(other.said.splice(0), []);
		passed++;
	} catch (error) {
		failed++;
		console.log(`not ok - ${name}: ${title}\n${error.stack}`);
	}
}
await browser.close();
await server.stop();
console.log(`${name}: ${passed} passed, ${failed} failed`);
process.exit(failed ? 1 : 0);
