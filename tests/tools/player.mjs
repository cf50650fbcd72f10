// SPDX-License-Identifier: GPL-3.0-or-later
// player.mjs - opens clip.html and file.html in a browser, from disk and without a network.
//
//	node player.mjs PUPPETEER BROWSER marks PLAN SEEN     where the marks of joints are (check_player.py)
//	node player.mjs PUPPETEER BROWSER use FOLDER          what one can do with the pages in there
//	node player.mjs PUPPETEER BROWSER frames PAGE#... FOLDER  a picture of each frame of a clip
import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { browserOf } from "./browser.mjs";

const [puppeteerPath, name, what, ...operands] = process.argv.slice(2);
const { launch, open, LIMIT } = await browserOf(puppeteerPath, name);

const fileUrl = (path, hash = "") => pathToFileURL(path).href + hash;

// ---- in the page ----

// The middle of what has the colour of the chosen mark, for each of these bones.
async function marksIn(page, bones) {
	return page.evaluate(async (names) => {
		const canvas = document.querySelector(".stage canvas");
		const items = new Map(
			[...document.querySelectorAll("[role=treeitem]")].map((item) => [item.title, item]),
		);
		const found = {};
		for (const bone of names) {
			items.get(bone).click();
			const { data } = canvas
				.getContext("2d")
				.getImageData(0, 0, canvas.width, canvas.height);
			const pixels = new Uint32Array(data.buffer);
			let [count, x, y] = [0, 0, 0];
			for (let i = 0; i < pixels.length; i++) {
				if (pixels[i] !== 0xff882eff) continue;
				count++;
				x += (i % canvas.width) + 0.5;
				y += Math.floor(i / canvas.width) + 0.5;
			}
			if (count > 8) found[bone] = [x / count, y / count];
		}
		return found;
	}, bones);
}

// The figure's picture gets the size that the plan says.
async function sizeStage(page, plan) {
	for (let i = 0; i < 3; i++) {
		const now = await page.evaluate(() => {
			const { clientWidth, clientHeight } = document.querySelector(".stage canvas");
			return [clientWidth, clientHeight];
		});
		if (now[0] === plan.width && now[1] === plan.height) return;
		const { width, height } = page.viewport();
		await page.setViewport({
			width: width + plan.width - now[0],
			height: height + plan.height - now[1],
		});
		await page.evaluate(
			() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))),
		);
	}
	throw new Error("the picture has no stable size");
}

async function lookAtClip(browser, plan, clip) {
	const { page, said } = await open(browser, fileUrl(`${clip.folder}/clip.html`, "#frame=0"));
	const seen = [];
	// How tall the curves are depends on the bone, and with it the figure's picture: hide them.
	await page.evaluate(() => (document.querySelector(".keys").hidden = true));
	await sizeStage(page, plan);
	// What changes is drawn at once, and not with the screen's next picture.
	await page.evaluate(() => (window.requestAnimationFrame = (act) => (act(performance.now()), 0)));
	for (const { frame, view, bones } of clip.pictures) {
		await page.evaluate(
			(hash) =>
				new Promise((done) => {
					addEventListener("hashchange", done, { once: true });
					location.hash = hash;
				}),
			`frame=${frame}&view=${encodeURIComponent(view.join())}`,
		);
		seen.push(await marksIn(page, bones));
	}
	assert.deepEqual(said, [], clip.folder);
	await page.close();
	return seen;
}

async function marks(planPath, seenPath) {
	const plan = JSON.parse(await readFile(planPath, "utf8"));
	const browser = await launch();
	const seen = [];
	for (const clip of plan.clips) seen.push(await lookAtClip(browser, plan, clip));
	await browser.close();
	await writeFile(seenPath, JSON.stringify(seen));
}

// ---- use ----

let passed = 0;
let failed = 0;

function withinLimit(promise) {
	let timer;
	const late = new Promise((_, fail) => {
		timer = setTimeout(() => fail(new Error("it hangs")), LIMIT);
	});
	return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

async function test(title, act) {
	try {
		await withinLimit(act());
		passed++;
	} catch (error) {
		failed++;
		console.log(`not ok - ${name}: ${title}\n${error.stack}`);
	}
}

const drawn = (page) =>
	page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
const frameOf = (page) => page.$eval("input[type=number]", (input) => Number(input.value));
const labelOf = (page) => page.$eval(".stage canvas", (canvas) => canvas.getAttribute("aria-label"));
const picture = (page, selector) =>
	page.$eval(selector, (canvas) => {
		const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
		let sum = 0;
		for (let i = 0; i < data.length; i++) sum = (sum * 31 + data[i]) | 0;
		return sum;
	});

// Waits until the figure's picture is another.
async function changed(page, from) {
	let now;
	do {
		await drawn(page);
		now = await picture(page, ".stage canvas");
	} while (now === from);
	return now;
}

async function testPlaying(browser, folder) {
	const url = fileUrl(`${folder}/walk/clip.html`);
	const { page, said } = await open(browser, `${url}#frame=0`);
	const frames = await page.$eval("input[type=range]", (input) => Number(input.max) + 1);

	await test("scrubbing to a frame shows that frame", async () => {
		for (const frame of [7, frames - 1, 3]) {
			await page.$eval("input[type=number]", (input) => (input.focus(), input.select()));
			await page.keyboard.type(String(frame));
			await page.keyboard.press("Enter");
			await drawn(page);
			assert.equal(await frameOf(page), frame);
			assert.match(await labelOf(page), new RegExp(`frame ${frame} of ${frames}`));
			const scrubbed = await picture(page, ".stage canvas");
			const other = await open(browser, `${url}#frame=${frame}`);
			await drawn(other.page);
			assert.equal(await picture(other.page, ".stage canvas"), scrubbed, `frame ${frame}`);
			await other.page.close();
			await page.bringToFront();
		}
	});
	await test("a page opens at the moment and with the view that its address says", async () => {
		const hash = "#frame=3&view=30,14,9,0.5,1,0";
		await page.evaluate(
			(to) =>
				new Promise((done) => {
					addEventListener("hashchange", done, { once: true });
					location.hash = to;
				}),
			hash,
		);
		await drawn(page);
		const shown = await viewOf(page);
		const other = await open(browser, url + hash);
		await drawn(other.page);
		const opened = await viewOf(other.page);
		await other.page.close();
		await page.bringToFront();
		await page.focus(".stage canvas");
		await page.keyboard.press("4");
		await page.keyboard.press("f");
		assert.equal(opened, shown);
	});
	await test("the slider, by mouse", async () => {
		const box = await (await page.$("input[type=range]")).boundingBox();
		await page.mouse.click(box.x + box.width - 2, box.y + box.height / 2);
		await drawn(page);
		assert.equal(await frameOf(page), frames - 1);
	});
	await test("keys: steps, ends, play and pause", async () => {
		await page.focus(".stage canvas");
		await page.keyboard.press("Home");
		for (const [key, frame] of [
			["ArrowRight", 1],
			["ArrowRight", 2],
			["ArrowLeft", 1],
			["End", frames - 1],
		]) {
			await page.keyboard.press(key);
			await drawn(page);
			assert.equal(await frameOf(page), frame === 1 && key === "Home" ? 0 : frame, key);
		}
		await page.keyboard.press("Home");
		await page.keyboard.press(" ");
		await page.waitForFunction(
			() => Number(document.querySelector("input[type=number]").value) > 2,
		);
		await page.keyboard.press(" ");
		await drawn(page);
		const at = await picture(page, ".stage canvas");
		await drawn(page);
		assert.equal(await picture(page, ".stage canvas"), at, "it stands still");
	});
	await test("without a loop it stops at the end", async () => {
		const loops = await page.evaluate(() =>
			[...document.querySelectorAll(".bar button")].at(-1).getAttribute("aria-pressed"),
		);
		if (loops === "true") await page.keyboard.press("l");
		await page.keyboard.press(" ");
		await page.waitForFunction(
			(last) => Number(document.querySelector("input[type=number]").value) === last,
			{},
			frames - 1,
		);
		await drawn(page);
		assert.equal(await page.$eval(".play", (button) => button.textContent), "▶");
	});
	await test("dragging turns, the wheel comes closer, and fit goes back", async () => {
		const canvas = await (await page.$(".stage canvas")).boundingBox();
		const [x, y] = [canvas.x + canvas.width / 2, canvas.y + canvas.height / 2];
		await page.keyboard.press("4");
		await page.keyboard.press("f");
		await drawn(page);
		const before = await picture(page, ".stage canvas");
		await page.mouse.move(x + 50, y + 50);
		await page.mouse.down();
		await page.mouse.move(x + 120, y + 30, { steps: 3 });
		await page.mouse.up();
		await drawn(page);
		const turnedRound = await picture(page, ".stage canvas");
		assert.notEqual(turnedRound, before);
		await page.mouse.wheel({ deltaY: -200 });
		await drawn(page);
		assert.notEqual(await picture(page, ".stage canvas"), turnedRound);
		await page.keyboard.press("4");
		await page.keyboard.press("f");
		await drawn(page);
		assert.equal(await picture(page, ".stage canvas"), before);
	});
	await test("bones: search, choose with arrows, and the table beside", async () => {
		await page.keyboard.press("/");
		await page.keyboard.type("ARM_l");
		const shown = () =>
			page.$$eval("[role=treeitem]:not([hidden])", (items) =>
				items.map((item) => item.title),
			);
		assert.deepEqual(await shown(), ["arm_L", "forearm_L"]);
		await page.$eval(
			"input[type=search]",
			(input) => ((input.value = ""), input.dispatchEvent(new Event("input"))),
		);
		assert.ok((await shown()).length > 10);
		await page.$eval("[role=treeitem][title=arm_L]", (item) => (item.click(), item.focus()));
		await page.keyboard.press("ArrowDown");
		const chosen = await page.$eval("[aria-selected=true]", (item) => [
			item.title,
			item.querySelector("a").getAttribute("href"),
		]);
		assert.deepEqual(chosen, ["forearm_L", "bones/forearm_L.csv"]);
		await page.keyboard.press("ArrowUp");
		await page.keyboard.press("ArrowLeft");
		assert.ok(!(await shown()).includes("forearm_L"), "folded");
		await page.keyboard.press("ArrowRight");
		assert.ok((await shown()).includes("forearm_L"));
	});
	await test("curves: the values at the cursor are those of the table, in both forms", async () => {
		const table = (await readFile(`${folder}/walk/bones/forearm_L.csv`, "utf8"))
			.trim()
			.split("\n")
			.map((row) => row.split(","));
		await page.$eval("[role=treeitem][title=forearm_L]", (item) => item.click());
		await drawn(page);
		const canvas = await page.$(".keys canvas");
		const box = await canvas.boundingBox();
		await canvas.click({ offset: { x: box.width * 0.75, y: 60 } });
		await drawn(page);
		const text = await page.$eval(".values", (values) => values.textContent);
		const frame = Number(/frame (\d+)/.exec(text)[1]);
		const row = table[1 + frame];
		const said = /x (\S+)\s+y (\S+)\s+z (\S+)\s+rotation/
			.exec(text)
			.slice(1)
			.map((v) => Number(v.replace("−", "-")));
		const at = table[0].indexOf("rx");
		said.forEach((v, i) => assert.ok(Math.abs(v - row[at + i]) < 1e-4, `${v} ${row[at + i]}`));
		await page.select(".values select", "quaternion");
		await drawn(page);
		const q = /x (\S+)\s+y (\S+)\s+z (\S+)\s+w (\S+)\s+rotation/
			.exec(await page.$eval(".values", (values) => values.textContent))
			.slice(1)
			.map((v) => Number(v.replace("−", "-")));
		assert.ok(Math.abs(Math.hypot(...q) - 1) < 1e-4);
		await page.select(".values select", "stored");
		assert.equal(await frameOf(page), frame, "and a click there goes to that frame");
	});
	await test("onion skins, trail and the others change the picture", async () => {
		await page.focus(".stage canvas");
		let before = await picture(page, ".stage canvas");
		for (const key of ["o", "t", "g", "a", "n"]) {
			await page.keyboard.press(key);
			await drawn(page);
			const after = await picture(page, ".stage canvas");
			assert.notEqual(after, before, key);
			before = after;
		}
	});
	await test("another clip beside it, of a page and of glTF; what is neither is refused", async () => {
		const input = await page.$("input[type=file]");
		let shown = await picture(page, ".stage canvas");
		for (const file of ["run/clip.html", "walk/clip.gltf"]) {
			await input.uploadFile(`${folder}/${file}`);
			shown = await changed(page, shown);
			assert.equal(await page.$eval("[role=alert]", (alert) => alert.textContent), "");
		}
		await input.uploadFile(`${folder}/walk/bones/hips.csv`);
		await page.waitForFunction(() =>
			document.querySelector("[role=alert]").textContent.includes("hips.csv"),
		);
	});
	assert.deepEqual(said, [], "playing");
	await page.close();
}

async function testSight(browser, folder, dark) {
	await test(`${dark ? "dark" : "light"}, as the system is`, async () => {
		for (const path of ["walk/clip.html#frame=3", "file.html"]) {
			const { page, said } = await open(
				browser,
				fileUrl(
					`${folder}/${path.split("#")[0]}`,
					path.includes("#") ? "#frame=3" : "",
				),
			);
			if (name === "chromium")
				await page.emulateMediaFeatures([
					{ name: "prefers-color-scheme", value: dark ? "dark" : "light" },
				]);
			await drawn(page);
			await drawn(page);
			const light = await page.evaluate(() => {
				const canvas = document.querySelector("canvas");
				const [r, g, b] = canvas.getContext("2d").getImageData(3, 3, 1, 1).data;
				const text = getComputedStyle(document.body).color.match(/\d+/g).map(Number);
				return [r + g + b, text[0] + text[1] + text[2]];
			});
			if (dark) assert.ok(light[0] < 150 && light[1] > 500, String(light));
			else assert.ok(light[0] > 600 && light[1] < 250, String(light));
			assert.deepEqual(said, []);
			await page.close();
		}
	});
}

async function testGallery(browser, folder) {
	const { page, said } = await open(browser, fileUrl(`${folder}/file.html`));
	const cards = (more = "") =>
		page.$$eval(`.clips a${more}`, (links) => links.map((link) => link.textContent));
	await test("all clips move", async () => {
		assert.ok((await cards()).length >= 3);
		await page.waitForFunction(() => {
			const canvas = document.querySelector(".clips canvas");
			const now = canvas
				.getContext("2d")
				.getImageData(0, 0, canvas.width, canvas.height)
				.data.join();
			window.shown = (window.shown || new Set()).add(now);
			return window.shown.size > 4;
		});
	});
	await test("filters", async () => {
		const set = (selector, value) =>
			page.$eval(
				selector,
				(input, v) => (
					(input.value = v),
					input.dispatchEvent(
						new Event(input.tagName === "SELECT" ? "change" : "input"),
					)
				),
				value,
			);
		const all = (await cards()).length;
		await set("input[type=search]", "wAl");
		assert.equal((await cards(":not([hidden])")).length, 1);
		await set("input[type=search]", "");
		await set("select", "no");
		assert.ok((await cards(":not([hidden])")).every((text) => !text.includes("loops")));
		await set("select", "");
		await set("input[type=number]", "1000000");
		assert.equal((await cards(":not([hidden])")).length, 0);
		await set("input[type=number]", "");
		assert.equal((await cards(":not([hidden])")).length, all);
	});
	await test("a click plays the clip", async () => {
		await Promise.all([page.waitForNavigation(), page.$eval(".clips a", (link) => link.click())]);
		assert.equal(await page.$eval("h1", (title) => title.textContent), "walk");
	});
	assert.deepEqual(said, [], "gallery");
	await page.close();
}

async function testMany(browser, folder) {
	await test("40 clips of 200 bones open, and scroll", async () => {
		const { page, said } = await open(browser, fileUrl(`${folder}/many.html`));
		await drawn(page);
		const ready = await page.evaluate(() => performance.now());
		console.log(`${name}: 40 clips of 200 bones are drawn after ${Math.round(ready)} ms`);
		const isDrawn = (i) =>
			page.evaluate((n) => {
				const canvas = document.querySelectorAll(".clips canvas")[n];
				const { data } = canvas
					.getContext("2d")
					.getImageData(0, 0, canvas.width, canvas.height);
				return new Set(new Uint32Array(data.buffer)).size > 3;
			}, i);
		assert.equal(await isDrawn(0), true);
		assert.equal(await isDrawn(39), false, "what is not seen takes no time");
		await page.$$eval(".clips canvas", (all) => all[39].scrollIntoView());
		while (!(await isDrawn(39))) await drawn(page);
		assert.deepEqual(said, []);
		await page.close();
	});
}

// From the index to a file and a clip.
async function walkSite({ page, said }) {
	const shown = () => page.$$eval(".clips a:not([hidden])", (links) => links.length);
	const all = await shown();
	assert.ok(all >= 2);
	for (const [word, count] of [
		["ranger", 1],
		["no such name", 0],
		["RUN", all],
	]) {
		await page.$eval(
			"input[type=search]",
			(input, v) => ((input.value = v), input.dispatchEvent(new Event("input"))),
			word,
		);
		assert.equal(await shown(), count, word);
	}
	for (const title of ["ranger.canm", "walk"]) {
		const links = ".clips a";
		const which = await page.$$eval(
			links,
			(all_, text) => all_.findIndex((link) => link.textContent.includes(text)),
			title,
		);
		await Promise.all([
			page.waitForNavigation(),
			page.$$eval(links, (all_, i) => all_[i].click(), which),
		]);
		assert.equal(await page.$eval("h1", (h1) => h1.textContent), title);
	}
	await drawn(page);
	assert.deepEqual(said, []);
	await page.close();
}

async function testSite(browser, folder) {
	await test("a site: its index, a file, a clip", async () => {
		await walkSite(await open(browser, fileUrl(`${folder}/site/index.html`)));
	});
}

const TYPES = [
	[".js", "text/javascript"],
	[".css", "text/css"],
	[".csv", "text/csv"],
];

// A page without an icon, for which browsers ask for /favicon.ico.
const NO_ICON = "<!DOCTYPE html><title>no icon</title>";

// Serves the folder's files, and NO_ICON as /no-icon. `iconWanted` settles once /favicon.ico is
// asked for.
async function serve(folder) {
	const asked = [];
	let iconAsked;
	const iconWanted = new Promise((done) => (iconAsked = done));
	const server = createServer(async (request, response) => {
		const { pathname } = new URL(request.url, "http://localhost");
		asked.push(pathname);
		if (pathname === "/favicon.ico") iconAsked();
		const type = TYPES.find(([end]) => pathname.endsWith(end));
		try {
			const text =
				pathname === "/no-icon"
					? NO_ICON
					: await readFile(join(folder, decodeURI(pathname)));
			response.writeHead(200, { "Content-Type": type ? type[1] : "text/html" });
			response.end(text);
		} catch {
			response.writeHead(404).end();
		}
	});
	await new Promise((done) => server.listen(0, "127.0.0.1", done));
	const stop = () => new Promise((done) => (server.close(done), server.closeAllConnections()));
	return { origin: `http://127.0.0.1:${server.address().port}`, asked, iconWanted, stop };
}

async function lookAtServed(browser, server) {
	const allowed = new RegExp(`^(${server.origin}/|data:)`);
	const visit = (path) => open(browser, server.origin + path, undefined, allowed);
	const pages = [];
	for (const path of ["/site/index.html", "/file.html", "/walk/clip.html"])
		pages.push(await visit(path));
	await walkSite(await visit("/site/index.html"));
	// What the browser does for the icons of those pages, it does before it asks for this one.
	await visit("/no-icon");
	await server.iconWanted;
	for (const { page, said } of pages) assert.deepEqual(said, [], page.url());
	assert.equal(server.asked.filter((path) => path === "/favicon.ico").length, 1);
}

async function testServer(browser, folder) {
	await test("the same from a web server, and pages by themselves", async () => {
		const server = await serve(folder);
		try {
			await lookAtServed(browser, server);
		} finally {
			await server.stop();
		}
	});
}

// Names in the data are as long as those that they stand in for.
function renamed(html, was, is) {
	const [, data] = /id="data">([^<]*)</.exec(html);
	const bytes = Buffer.from(data, "base64").toString("latin1");
	assert.ok(bytes.includes(was));
	const changed = bytes.replaceAll(
		was,
		Buffer.from(is).toString("latin1").padEnd(was.length).slice(0, was.length),
	);
	return html.replace(data, Buffer.from(changed, "latin1").toString("base64"));
}

async function testHostile(browser, folder) {
	const html = await readFile(`${folder}/hostile.html`, "utf8");
	const gallery = await readFile(`${folder}/hostile-file.html`, "utf8");
	const attacks = [
		"</script><script>alert(1)</script>",
		"<img src=x onerror=alert(1)>",
		'"><svg onload=alert(1)>',
		"javascript:alert(1)",
		"{{7*7}}${alert(1)}",
		"<!--<script>",
	];
	await test("hostile names are text", async () => {
		for (const [i, attack] of attacks.entries()) {
			for (const [page_, was] of [
				[html, "b".repeat(40)],
				[html, "c".repeat(40)],
				[gallery, "c".repeat(40)],
			]) {
				const path = `${folder}/attack${i}.html`;
				await writeFile(path, renamed(page_, was, attack));
				const { page, said } = await open(browser, fileUrl(path));
				await drawn(page);
				const [scripts, tags, text] = await page.evaluate(() => [
					document.scripts.length,
					document.querySelectorAll("img, svg, iframe, object").length,
					document.body.textContent,
				]);
				assert.equal(scripts, 2);
				assert.equal(tags, 0);
				assert.ok(text.includes(attack.slice(0, 30)), "it is shown as it is");
				const links = await page.$$eval("a", (all) => all.map((a) => a.protocol));
				assert.ok(
					links.every((protocol) => protocol === "file:"),
					links.join(),
				);
				assert.deepEqual(said, []);
				await page.close();
			}
		}
	});
	await test("what is put into the page itself does not run", async () => {
		for (const markup of [
			"<script>document.title='run'</script>",
			"<img src=x onerror=\"document.title='run'\">",
			"<p id=hit style='color:red'>x</p>",
		]) {
			await writeFile(`${folder}/put.html`, html.replace("</body>", `${markup}</body>`));
			const { page } = await open(browser, fileUrl(`${folder}/put.html`));
			await drawn(page);
			assert.notEqual(await page.title(), "run");
			const red = await page.evaluate(
				() =>
					document.getElementById("hit") &&
					getComputedStyle(document.getElementById("hit")).color,
			);
			assert.notEqual(red, "rgb(255, 0, 0)");
			await page.close();
		}
	});
	await test("data of nothing are said to be so", async () => {
		await writeFile(`${folder}/none.html`, html.replace(/id="data">[^<]*</, 'id="data">AAAA<'));
		const { page } = await open(browser, fileUrl(`${folder}/none.html`));
		assert.match(
			await page.$eval("[role=alert]", (alert) => alert.textContent),
			/cannot be shown/,
		);
		await page.close();
	});
}

// Stills at 0, 1 and 3 seconds, forth and back, of one point that moves in a Transform that moves,
// in one that is turned by 90 degrees around (1, 0, 0): where it must be in each frame, which take
// 1.5 seconds.
const STILLS = [
	[1, -3],
	[0.25, -0.5],
	[1, 1],
	[0.25, -0.5],
	[1, -3],
];

async function pixelsOf(page, wanted) {
	return page.evaluate((rgb) => {
		const canvas = document.querySelector(".stage canvas");
		const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
		let [count, x, y] = [0, 0, 0];
		for (let i = 0; i < data.length; i += 4) {
			if (rgb.some((v, k) => Math.abs(data[i + k] - v) > 2)) continue;
			count++;
			x += ((i / 4) % canvas.width) + 0.5;
			y += Math.floor(i / 4 / canvas.width) + 0.5;
		}
		return [count, x / count - canvas.width / 2, canvas.height / 2 - y / count, canvas.height];
	}, wanted);
}

async function testStills(browser, folder) {
	await test("stills are drawn where they are, between them too", async () => {
		const { page, said } = await open(
			browser,
			fileUrl(`${folder}/stills.html`, "#frame=0&bone=none"),
		);
		await drawn(page);
		for (const [frame, [x, y]] of STILLS.entries()) {
			await page.evaluate(
				(hash) => (location.hash = hash),
				`frame=${frame}&view=0,0,12,0,0,0`,
			);
			await page.waitForFunction(
				(n) => document.querySelector("input[type=number]").value === n,
				{},
				`${frame}`,
			);
			await drawn(page);
			const [count, right, up, height] = await pixelsOf(page, [255, 0, 255]);
			const scale = height / 2 / Math.tan(Math.PI / 8) / 12;
			assert.ok(count >= 4, `frame ${frame}: ${count} pixels`);
			assert.ok(
				Math.hypot(right - x * scale, up - y * scale) < 2,
				`frame ${frame}: ${right} ${up}`,
			);
			// A line of a colour that goes from red to blue and back, straight ahead.
			const blue = [0, 128, 255, 128, 0][frame];
			const [line, middle] = await pixelsOf(page, [255 - blue, 0, blue]);
			assert.ok(
				line > 20 && Math.abs(middle) < 2,
				`frame ${frame}: ${line} pixels of the line`,
			);
		}
		assert.equal(await page.$$eval("[role=treeitem] a", (all) => all.length), 0);
		assert.deepEqual(said, []);
		await page.close();
	});
	await test("stills play", async () => {
		const { page, said } = await open(browser, fileUrl(`${folder}/stills.html`));
		await page.waitForFunction(() => document.querySelector("input[type=number]").value > 1);
		assert.match(await page.$eval("header p", (p) => p.textContent), /5 frames.*loops/);
		assert.deepEqual(said, []);
		await page.close();
	});
}

// A page of several clips of stills, in a site.
async function testStillsGallery(browser, folder) {
	const site = `${folder}/stills`;
	await test("a file of stills is in the index, with its page and its clip", async () => {
		const { page, said } = await open(browser, fileUrl(`${site}/index.html`));
		const links = ".clips a";
		for (const [title, facts] of [
			["stills.castle-anim-frames.d", /kanim · 2 clips/],
			["walk", /^walk6 s · 5 frames · 2 parts · 3 stills · loops$/],
		]) {
			await page.waitForFunction(() => {
				const canvas = document.querySelector(".clips canvas");
				const { data } = canvas
					.getContext("2d")
					.getImageData(0, 0, canvas.width, canvas.height);
				window.shown = (window.shown || new Set()).add(data.join());
				return window.shown.size > 4;
			});
			const texts = await page.$$eval(links, (all) => all.map((link) => link.textContent));
			const which = texts.findIndex((text) => text.includes(title));
			assert.match(texts[which], facts);
			await Promise.all([
				page.waitForNavigation(),
				page.$$eval(links, (all, i) => all[i].click(), which),
			]);
			assert.equal(
				await page.$eval("h1", (h1) => h1.textContent),
				title.replace(/\.d$/, ""),
			);
		}
		await drawn(page);
		assert.deepEqual(said, []);
		await page.close();
	});
	await test("what cannot be played has no link, and says so", async () => {
		const { page, said } = await open(
			browser,
			fileUrl(`${site}/stills.castle-anim-frames.d/file.html`),
		);
		const cards = await page.$$eval(".clips a", (all) => all.map((a) => [a.textContent, a.href]));
		assert.equal(cards.length, 2);
		assert.match(cards[0][1], /walk\/clip\.html$/);
		assert.match(cards[1][0], /^lost.*nothing to play$/);
		assert.equal(cards[1][1], "");
		assert.deepEqual(said, []);
		await page.close();
	});
}

// Where the first pose has the point of STILLS, at (1, -3, 0) of what reaches from (0, -3, 0) to
// (1, 3, 0), in a picture that is seen from 30 degrees aside and 14 above.
async function testStillsThumbnail(page) {
	const radius = Math.hypot(1, 6) / 2;
	const distance = (radius * 1.05) / Math.sin(Math.PI / 8);
	const [yaw, pitch] = [30, 14].map((v) => (v * Math.PI) / 180);
	const [x, y] = [0.5, -3];
	const away = distance - (x * Math.sin(yaw) * Math.cos(pitch) + y * Math.sin(pitch));
	const found = await page.evaluate(() => {
		const canvas = document.querySelector(".clips canvas");
		const { width, height } = canvas;
		const { data } = canvas.getContext("2d").getImageData(0, 0, width, height);
		const colours = { dot: [255, 0, 255], line: [255, 0, 0] };
		return Object.entries(colours).map(([name, rgb]) => {
			let [count, across, down] = [0, 0, 0];
			for (let i = 0; i < data.length; i += 4) {
				if (rgb.some((v, k) => Math.abs(data[i + k] - v) > 2)) continue;
				count++;
				across += ((i / 4) % width) + 0.5;
				down += Math.floor(i / 4 / width) + 0.5;
			}
			return [name, count, across / count - width / 2, height / 2 - down / count, height];
		});
	});
	const [, count, right, up, height] = found[0];
	const scale = height / 2 / Math.tan(Math.PI / 8) / away;
	const wanted = [
		x * Math.cos(yaw) * scale,
		(y * Math.cos(pitch) - x * Math.sin(yaw) * Math.sin(pitch)) * scale,
	];
	assert.ok(count >= 9, `${count} pixels of the dot`);
	assert.ok(Math.hypot(right - wanted[0], up - wanted[1]) < 2, `${right} ${up}, not ${wanted}`);
	assert.ok(found[1][1] > 20, `${found[1][1]} pixels of the line`);
}

// ---- hands ----

// What fingers do, as the browser reports it.
async function touch(page, ...steps) {
	for (const [kind, ...points] of steps)
		await page.evaluate(
			(type, places) => {
				const canvas = document.querySelector(".stage canvas");
				const box = canvas.getBoundingClientRect();
				for (const [pointerId, x, y] of places)
					canvas.dispatchEvent(
						new PointerEvent(type, {
							pointerId,
							pointerType: "touch",
							isPrimary: pointerId === 1,
							buttons: type === "pointerup" ? 0 : 1,
							clientX: box.x + x,
							clientY: box.y + y,
							bubbles: true,
						}),
					);
			},
			kind,
			points,
		);
	await drawn(page);
}

const viewOf = (page) => picture(page, ".stage canvas");

async function testTouch(browser, folder) {
	const { page, said } = await open(browser, fileUrl(`${folder}/walk/clip.html`, "#frame=0"));
	await drawn(page);
	// Made events have no finger that could be captured.
	await page.evaluate(() => (Element.prototype.setPointerCapture = () => {}));
	const fitted = await viewOf(page);
	await test("a finger turns, a tap chooses a joint", async () => {
		await touch(
			page,
			["pointerdown", [1, 60, 60]],
			["pointermove", [1, 120, 80]],
			["pointerup", [1, 120, 80]],
		);
		assert.notEqual(await viewOf(page), fitted);
		await page.keyboard.press("4");
		await drawn(page);
		assert.equal(await viewOf(page), fitted);
		const { hips } = await marksIn(page, ["hips"]);
		await page.$eval("[role=treeitem][title=arm_L]", (item) => item.click());
		const at = hips.map((v) => v + 5);
		await touch(page, ["pointerdown", [1, ...at]], ["pointerup", [1, ...at]]);
		assert.notEqual(
			await page.$eval("[aria-selected=true]", (item) => item.title),
			"arm_L",
			"a tap beside the mark is one on it",
		);
	});
	await test("two fingers come closer and move aside; the one that stays turns", async () => {
		await page.keyboard.press("4");
		await page.keyboard.press("f");
		await drawn(page);
		const hips = async () => (await marksIn(page, ["hips"])).hips;
		const before = await hips();
		await touch(
			page,
			["pointerdown", [1, 200, 200], [2, 300, 200]],
			["pointermove", [1, 230, 240]],
			["pointermove", [2, 330, 240]],
		);
		const moved = await hips();
		assert.ok(moved[0] - before[0] > 20 && moved[1] - before[1] > 25, `${before} ${moved}`);
		await touch(page, ["pointermove", [1, 100, 240], [2, 460, 240]]);
		assert.notDeepEqual(await hips(), moved);
		const chosen = await page.$eval("[aria-selected=true]", (item) => item.title);
		await touch(page, ["pointerup", [2, 460, 240]], ["pointerup", [1, 100, 240]]);
		assert.equal(await page.$eval("[aria-selected=true]", (item) => item.title), chosen);
	});
	await test("the browser leaves gestures on the figure to the page", async () => {
		assert.equal(
			await page.$eval(".stage canvas", (canvas) => getComputedStyle(canvas).touchAction),
			"none",
		);
	});
	if (name === "chromium")
		await test("real fingers", async () => {
			await page.keyboard.press("f");
			await drawn(page);
			const before = await viewOf(page);
			const box = await (await page.$(".stage canvas")).boundingBox();
			await page.touchscreen.touchStart(box.x + 60, box.y + 60);
			await page.touchscreen.touchMove(box.x + 140, box.y + 90);
			await page.touchscreen.touchEnd();
			await drawn(page);
			assert.notEqual(await viewOf(page), before);
		});
	assert.deepEqual(said, [], "touch");
	await page.close();
}

// A drop as of a file manager.
async function drop(page, ...files) {
	const texts = await Promise.all(
		files.map(async (path) => [path.split("/").at(-1), await readFile(path, "utf8")]),
	);
	return page.evaluate((dropped) => {
		const dataTransfer = new DataTransfer();
		for (const [file, text] of dropped) dataTransfer.items.add(new File([text], file));
		const canvas = document.querySelector("canvas");
		const send = (type) => {
			const event = new DragEvent(type, { bubbles: true, cancelable: true, dataTransfer });
			canvas.dispatchEvent(event);
			return event.defaultPrevented && document.body.classList.contains("drop");
		};
		const over = send("dragover");
		send("drop");
		return [over, document.body.classList.contains("drop")];
	}, texts);
}

async function testDrop(browser, folder) {
	const { page, said } = await open(browser, fileUrl(`${folder}/walk/clip.html`, "#frame=5"));
	await drawn(page);
	const alertOf = () => page.$eval("[role=alert]", (alert) => alert.textContent);
	const alone = await viewOf(page);
	await test("a page or glTF that is dropped plays beside", async () => {
		assert.deepEqual(await drop(page, `${folder}/run/clip.html`), [true, false]);
		const two = await changed(page, alone);
		await drop(page, `${folder}/walk/clip.gltf`);
		await changed(page, two);
		assert.equal(await alertOf(), "");
	});
	await test("what is neither is refused, and the others of a drop count", async () => {
		await drop(page, `${folder}/file.html`);
		await page.waitForFunction(() =>
			document.querySelector("[role=alert]").textContent.includes("many clips"),
		);
		await drop(page, `${folder}/walk/bones/hips.csv`);
		await page.waitForFunction(() =>
			document.querySelector("[role=alert]").textContent.includes("hips.csv"),
		);
		await drawn(page);
		const before = await viewOf(page);
		await drop(page, `${folder}/walk/bones/hips.csv`, `${folder}/run/clip.html`);
		await changed(page, before);
		assert.match(await alertOf(), /hips\.csv/, "and what was refused is still said");
	});
	await test("text and nothing dropped do nothing", async () => {
		const before = await viewOf(page);
		await drop(page);
		await drawn(page);
		assert.equal(await viewOf(page), before);
	});
	assert.deepEqual(said, [], "drop");
	await page.close();
}

// Nothing moves of itself for who asked for that; what is started does.
async function testCalm(browser, folder) {
	const calm = async (file) => {
		const { page, said } = await open(browser, "about:blank");
		if (name === "chromium")
			await page.emulateMediaFeatures([
				{ name: "prefers-reduced-motion", value: "reduce" },
			]);
		await page.goto(fileUrl(`${folder}/${file}`));
		await drawn(page);
		assert.ok(await page.evaluate(() => matchMedia("(prefers-reduced-motion: reduce)").matches));
		return { page, said };
	};
	const moves = async (page, selector) => {
		const first = await picture(page, selector);
		await new Promise((done) => setTimeout(done, 300));
		await drawn(page);
		return (await picture(page, selector)) !== first;
	};
	await test("reduced motion: a clip stands until it is started", async () => {
		const { page, said } = await calm("walk/clip.html");
		assert.equal(await moves(page, ".stage canvas"), false);
		assert.equal(await page.$eval(".play", (button) => button.textContent), "▶");
		await page.keyboard.press(" ");
		await page.waitForFunction(
			() => Number(document.querySelector("input[type=number]").value) > 1,
		);
		assert.deepEqual(said, []);
		await page.close();
	});
	await test("reduced motion: thumbnails stand", async () => {
		const { page, said } = await calm("file.html");
		await drawn(page);
		assert.equal(await moves(page, ".clips canvas"), false);
		assert.deepEqual(said, []);
		await page.close();
	});
	await test("a thumbnail of stills has its points where they are", async () => {
		const { page, said } = await calm("stills/stills.castle-anim-frames.d/file.html");
		await drawn(page);
		await testStillsThumbnail(page);
		assert.deepEqual(said, []);
		await page.close();
	});
}

// What the Tab key reaches, from the top of the page on, and whether one sees that it is there.
async function tabbed(page) {
	const reached = [];
	for (let i = 0; i < 60; i++) {
		await page.keyboard.press("Tab");
		const now = await page.evaluate(() => {
			const e = document.activeElement;
			if (!e || e === document.body) return null;
			const seen = getComputedStyle(e).outlineStyle !== "none";
			const what = e.getAttribute("aria-label") || e.title || e.textContent;
			return [`${e.tagName} ${what}`, seen];
		});
		if (!now || reached.some(([what]) => what === now[0])) break;
		reached.push(now);
	}
	return reached;
}

// From the end of the page the Tab key goes on into the browser, in whose buttons firefox leaves it.
async function testPhone(browser, folder) {
	await test("on a phone the figure is below its buttons, and the page begins at its top", async () => {
		const { page, said } = await open(
			browser,
			fileUrl(`${folder}/walk/clip.html`, "#bone=arm_L"),
			{
				width: 390,
				height: 760,
			},
		);
		await drawn(page);
		const [scrolled, wide, figure, buttons] = await page.evaluate(() => [
			window.scrollY,
			document.documentElement.scrollWidth,
			document.querySelector(".stage canvas").getBoundingClientRect().toJSON(),
			document.querySelector(".views").getBoundingClientRect().toJSON(),
		]);
		assert.equal(scrolled, 0);
		assert.ok(wide <= 390, `${wide} pixels wide`);
		assert.ok(figure.height >= 300 && figure.bottom < 760, JSON.stringify(figure));
		assert.ok(buttons.bottom <= figure.top + 1, JSON.stringify(buttons));
		assert.deepEqual(said, []);
		await page.close();
	});
}

async function testTabs(browser, folder) {
	const { page, said } = await open(browser, fileUrl(`${folder}/walk/clip.html`, "#frame=0"));
	await drawn(page);
	await test("all that can be clicked is reached by the Tab key, and seen", async () => {
		const reached = await tabbed(page);
		const names = reached.map(([what]) => what);
		const all = await page.evaluate(() =>
			[...document.querySelectorAll("button, select, input:not([hidden]), canvas")]
				.filter((e) => e.offsetParent)
				.map(
					(e) =>
						`${e.tagName} ${e.getAttribute("aria-label") || e.title || e.textContent}`,
				),
		);
		assert.deepEqual(
			all.filter((what) => !names.includes(what)),
			[],
		);
		assert.deepEqual(
			reached.filter(([, seen]) => !seen),
			[],
			"without an outline",
		);
		assert.ok(
			names.some((what) => what.startsWith("LI ")),
			"a bone",
		);
		assert.ok(names.includes("A the keys as a table"), "the table of a bone");
	});
	assert.deepEqual(said, [], "tabs");
	await page.close();
}

async function testKeyboard(browser, folder) {
	const { page, said } = await open(browser, fileUrl(`${folder}/walk/clip.html`, "#frame=0"));
	await drawn(page);
	await test("the table of the chosen bone opens by Enter", async () => {
		const chosen = await page.$eval("[aria-selected=true]", (item) => (item.focus(), item.title));
		await page.keyboard.press("Tab");
		assert.equal(
			await page.evaluate(() => document.activeElement.getAttribute("href")),
			`bones/${chosen}.csv`,
		);
	});
	await test("help opens and closes, and what had the focus has it again", async () => {
		await page.focus(".play");
		await page.keyboard.press("?");
		assert.equal(await page.$eval("dialog", (dialog) => dialog.open), true);
		await page.keyboard.press("Escape");
		assert.equal(await page.$eval("dialog", (dialog) => dialog.open), false);
		assert.equal(await page.evaluate(() => document.activeElement.className), "play");
	});
	await test("the play button by Space and Enter, once each", async () => {
		for (const key of [" ", "Enter"]) {
			await page.focus(".play");
			const before = await page.$eval(".play", (button) => button.textContent);
			await page.keyboard.press(key);
			// The browser makes a click of it, and when is its own business.
			await page.waitForFunction(
				(text) => document.querySelector(".play").textContent !== text,
				{},
				before,
			);
			await drawn(page);
			assert.notEqual(
				await page.$eval(".play", (button) => button.textContent),
				before,
				key,
			);
		}
	});
	await test("around and closer without a mouse", async () => {
		await page.focus(".stage canvas");
		for (const keys of [["Alt", "ArrowLeft"], ["Alt", "ArrowUp"], ["+"], ["2"]]) {
			const before = await viewOf(page);
			for (const key of keys) await page.keyboard.down(key);
			for (const key of [...keys].reverse()) await page.keyboard.up(key);
			await drawn(page);
			assert.notEqual(await viewOf(page), before, keys.join());
		}
	});
	await test("the page of a file: filters and clips by Tab, Enter plays", async () => {
		const gallery = await open(browser, fileUrl(`${folder}/file.html`));
		const reached = await tabbed(gallery.page);
		assert.ok(reached.filter(([what]) => what.startsWith("A ")).length >= 3, String(reached));
		assert.deepEqual(
			reached.filter(([, seen]) => !seen),
			[],
		);
		await gallery.page.focus(".clips a");
		await Promise.all([gallery.page.waitForNavigation(), gallery.page.keyboard.press("Enter")]);
		assert.equal(await gallery.page.$eval("h1", (title) => title.textContent), "walk");
		assert.deepEqual(gallery.said, []);
		await gallery.page.close();
	});
	assert.deepEqual(said, [], "keyboard");
	await page.close();
}

async function testOneFrame(browser, folder) {
	for (const file of ["still.html", "still-ribbon.html"])
		await test(`a clip of one frame: ${file}`, async () => {
			const { page, said } = await open(browser, fileUrl(`${folder}/${file}`));
			await drawn(page);
			const shown = await viewOf(page);
			const colours = () =>
				page.$eval(".stage canvas", (canvas) => {
					const { data } = canvas
						.getContext("2d")
						.getImageData(0, 0, canvas.width, canvas.height);
					return new Set(new Uint32Array(data.buffer)).size;
				});
			assert.ok((await colours()) > 8, "it is drawn");
			assert.equal(await page.$eval(".play", (button) => button.disabled), true);
			for (const key of [" ", "ArrowRight", "ArrowLeft", "End", "Home", "l", " "]) {
				await page.keyboard.press(key);
				await drawn(page);
				assert.equal(await frameOf(page), 0, key);
				assert.equal(await viewOf(page), shown, key);
				assert.equal(
					await page.$eval(".play", (button) => button.textContent),
					"▶",
					key,
				);
			}
			const text = await page.evaluate(() => document.body.innerText);
			assert.ok(!/NaN|Infinity|undefined/.test(text), text);
			const plot = await page.$(".keys canvas");
			if (await plot.isVisible()) await plot.click();
			await drawn(page);
			assert.equal(await frameOf(page), 0);
			assert.equal(await viewOf(page), shown);
			assert.deepEqual(said, []);
			await page.close();
		});
}

// In turns.html the angle y goes from 22.4 to 245.2 degrees, which is 137.2 degrees back.
async function testTurns(browser, folder) {
	await test("curves: an angle that wraps around leaves a gap", async () => {
		const { page, said } = await open(browser, fileUrl(`${folder}/turns.html`, "#frame=5"));
		await drawn(page);
		// How many pixels of y's colour the plot of rotations has at a frame.
		const greenAt = (frame) =>
			page.$eval(
				".keys canvas",
				(canvas, at) => {
					const width = canvas.width / 2;
					const x = Math.round(width + 52 + (at / 6) * (width - 66));
					const { data } = canvas
						.getContext("2d")
						.getImageData(x, 20, 1, canvas.height - 40);
					let count = 0;
					for (let i = 0; i < data.length; i += 4)
						count +=
							data[i + 1] > data[i] + 30 &&
							data[i + 1] > data[i + 2] + 30;
					return count;
				},
				frame,
			);
		assert.ok((await greenAt(0.4)) > 0, "the way back");
		assert.equal(await greenAt(0.9), 0, "no line to what is the same angle");
		assert.ok((await greenAt(1.5)) > 0, "the next way");
		assert.deepEqual(said, []);
		await page.close();
	});
}

// In gaps.html the only key of every curve is nan, infinite and 0; in turns.html all keys are numbers.
async function testGaps(browser, folder) {
	await test("curves: a key that is not a number is marked, and has no point", async () => {
		// How many pixels of the plot of translations are of the mark's red at its first frame.
		const redOf = async (file, hash) => {
			const { page, said } = await open(browser, fileUrl(`${folder}/${file}`, hash));
			await drawn(page);
			const red = await page.$eval(".keys canvas", (canvas) => {
				const { data } = canvas
					.getContext("2d")
					.getImageData(54, 20, 1, canvas.height - 40);
				let count = 0;
				for (let i = 0; i < data.length; i += 4)
					count +=
						data[i] > data[i + 1] + 20 &&
						Math.abs(data[i + 1] - data[i + 2]) < 15;
				return count;
			});
			const values = await page.$eval(".values", (text) => text.textContent);
			assert.deepEqual(said, []);
			await page.close();
			return { red, values };
		};
		const gap = await redOf("gaps.html", "#frame=1&bone=b");
		assert.ok(gap.red > 20, `the mark: ${gap.red}`);
		assert.match(gap.values, /x NaN\s+y ∞\s+z 0/);
		const none = await redOf("turns.html", "#frame=0");
		assert.ok(none.red < 20, `no mark: ${none.red}`);
		assert.doesNotMatch(none.values, /NaN|∞/);
	});
}

async function use(folder) {
	let browser = await launch();
	await testPlaying(browser, folder);
	await testGallery(browser, folder);
	await testMany(browser, folder);
	await testSite(browser, folder);
	await testServer(browser, folder);
	await testHostile(browser, folder);
	await testStills(browser, folder);
	await testStillsGallery(browser, folder);
	await testSight(browser, folder, false);
	await testTouch(browser, folder);
	await testPhone(browser, folder);
	await testDrop(browser, folder);
	await testKeyboard(browser, folder);
	await testTabs(browser, folder);
	await testOneFrame(browser, folder);
	await testTurns(browser, folder);
	await testGaps(browser, folder);
	await browser.close();
	browser = await launch({ prefs: { "ui.prefersReducedMotion": 1 } });
	await testCalm(browser, folder);
	await browser.close();
	browser = await launch({
		prefs: { "ui.systemUsesDarkTheme": 1, "layout.css.prefers-color-scheme.content-override": 0 },
	});
	await testSight(browser, folder, true);
	await browser.close();
	console.log(`${name}: ${passed} passed, ${failed} failed`);
	process.exitCode = failed || !passed ? 1 : 0;
}

// For README.md: a picture of each frame, FOLDER/000.png and so on.
async function showFrames(address, folder) {
	const [path, hash] = address.split("#");
	const browser = await launch({ args: ["--force-device-scale-factor=1"] });
	const { page, said } = await open(browser, fileUrl(path, `#${hash}&frame=0`), {
		width: 960,
		height: 640,
	});
	const frames = await page.$eval("input[type=range]", (input) => Number(input.max) + 1);
	for (let frame = 0; frame < frames; frame++) {
		await page.evaluate((to) => (location.hash = to), `${hash}&frame=${frame}`);
		await page.waitForFunction(
			(n) => document.querySelector("input[type=number]").value === n,
			{},
			`${frame}`,
		);
		await drawn(page);
		await page.screenshot({ path: join(folder, `${String(frame).padStart(3, "0")}.png`) });
	}
	assert.deepEqual(said, []);
	await browser.close();
}

await { marks, use, frames: showFrames }[what](...operands);
