// SPDX-License-Identifier: GPL-3.0-or-later
// places.mjs - reads clip.gltf and clip.bvh of clips with three.js, and clip.x3d with x3dom in chromium:
// every bone must be where its tables say (places.py), in each of the frames.
//
//	node places.mjs NPM PLAN		(NPM: a node_modules; PLAN: what places.py prints)
import { existsSync, readFileSync, statSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { pathToFileURL } from "node:url";

const [npm, planPath] = process.argv.slice(2);
const from = (path) => import(pathToFileURL(`${npm}/${path}`).href);
// three.js asks for these of a browser.
globalThis.self = globalThis;
globalThis.ProgressEvent ??= class extends Event {};
const THREE = await from("three/build/three.module.js");
const { GLTFLoader } = await from("three/examples/jsm/loaders/GLTFLoader.js");
const { BVHLoader } = await from("three/examples/jsm/loaders/BVHLoader.js");
const { default: puppeteer } = await from("puppeteer-core/lib/esm/puppeteer/puppeteer-core.js");

const LIMIT = 30 * 60 * 1000; // only against hanging
const SOON = 1e-3; // frames: behind the key of a step, whose time is rounded

let passed = 0;
let failed = 0;
const skipped = new Map();
const skip = (why) => skipped.set(why, (skipped.get(why) ?? 0) + 1);

// ---- readers: from a file and moments to places by bone ----

// The moment of a frame: clip.json rounds the time of one, and keys have it in full.
function momentOf(frame, clip, tracks) {
	const moment = frame * clip.frame_time;
	const near = (time) => Math.abs(time - moment) < 0.01 * clip.frame_time;
	for (const track of tracks) {
		const time = track.times.find(near);
		if (time !== undefined) return time;
	}
	return moment;
}

const placeOf = (object) => object.getWorldPosition(new THREE.Vector3()).toArray();

async function readGltf(path, clip) {
	const text = await readFile(path, "utf8");
	const names = JSON.parse(text).nodes.map((node) => node.name);
	const gltf = await new GLTFLoader().parseAsync(text, "");
	const nodes = new Map();
	gltf.scene.traverse((object) => {
		const index = gltf.parser.associations.get(object)?.nodes;
		if (index > 0 && !object.isMesh) nodes.set(names[index], object);
	});
	return clip.frames.map((frame) => {
		const mixer = new THREE.AnimationMixer(gltf.scene);
		const action = mixer.clipAction(gltf.animations[0]);
		action.setLoop(THREE.LoopOnce);
		action.clampWhenFinished = true;
		action.play();
		const moment = momentOf(frame, clip, gltf.animations[0].tracks);
		mixer.setTime(moment + (clip.steps ? SOON * clip.frame_time : 0));
		gltf.scene.updateMatrixWorld(true);
		const places = new Map([...nodes].map(([name, object]) => [name, placeOf(object)]));
		mixer.stopAllAction();
		return places;
	});
}

// In the text a name is one word.
const SPACES = /[\s\u0085]/gu;
const wordOf = (name) => name.replace(SPACES, encodeURIComponent);

async function readBvh(path, clip) {
	const text = await readFile(path, "utf8");
	const { skeleton, clip: motion } = new BVHLoader().parse(text);
	const seconds = Number(/Frame Time: (\S+)/.exec(text)[1]);
	const bones = new Map(skeleton.bones.map((bone) => [bone.name, bone]));
	const tracks = motion.tracks.map((track) => {
		const at = track.name.lastIndexOf(".");
		return [bones.get(track.name.slice(0, at)), track.name.slice(at + 1), track.createInterpolant()];
	});
	return clip.frames.map((frame) => {
		for (const [bone, property, track] of tracks)
			bone[property].fromArray(track.evaluate(frame * seconds));
		skeleton.bones[0].updateMatrixWorld(true);
		return new Map(clip.bones.map((name) => [name, bones.has(wordOf(name)) && placeOf(bones.get(wordOf(name)))]));
	});
}

const idOf = (name, number) =>
	`bone_${/^[A-Za-z_]/.test(name) && /^\w*$/.test(name) ? "" : `${number}_`}${name.replace(/[^A-Za-z0-9_]/gu, "_")}`;

// Moves every interpolator by hand, as the clock would. x3dom routes what they say to the Transforms.
async function placesInPage(fractions, ids) {
	const interpolators = [...document.querySelectorAll("PositionInterpolator, OrientationInterpolator")];
	return fractions.map((fraction) => {
		for (const { _x3domNode: node } of interpolators) {
			node._vf.set_fraction = fraction;
			node.fieldChanged("set_fraction");
		}
		return ids.map((id) => {
			const node = document.querySelector(`[DEF="${id}"]`)?._x3domNode;
			const place = node?.getCurrentTransform().multMatrixPnt(new x3dom.fields.SFVec3f(0, 0, 0));
			return place ? [place.x, place.y, place.z] : null;
		});
	});
}

async function readX3d(path, clip, page) {
	const scene = (await readFile(path, "utf8")).replace(/^<\?xml.*\n/, "").replace(/<ROUTE fromNode="clock"[^>]*\/>/g, "");
	const file = `${path}.xhtml`;
	await writeFile(file, `<html xmlns="http://www.w3.org/1999/xhtml"><head><script src="${pathToFileURL(`${npm}/x3dom/x3dom.js`).href}"></script></head><body>${scene}</body></html>`);
	await page.goto(pathToFileURL(file).href);
	await page.waitForFunction(() => document.querySelector("Transform, transform")?._x3domNode);
	const last = Math.max(clip.count - 1, 1);
	const ids = clip.bones.map(idOf);
	const places = await page.evaluate(placesInPage, clip.frames.map((frame) => (frame + (clip.steps ? SOON : 0)) / last), ids);
	return places.map((frame) => new Map(clip.bones.map((name, i) => [name, frame[i]])));
}

// ---- the verdict ----

const turned = ([x, y, z]) => [x, -y, -z];

function faultOf(clip, read, upright) {
	for (const [i, frame] of clip.frames.entries())
		for (const [name, wanted] of Object.entries(clip.places)) {
			const place = read[i].get(name);
			const want = upright ? turned(wanted[i]) : wanted[i];
			if (!place) return `no "${name}"`;
			const off = Math.hypot(...want.map((c, axis) => c - place[axis]));
			if (!(off <= clip.room)) return `"${name}" is at ${place} in frame ${frame}, and not at ${want}`;
		}
	return "";
}

async function check(clip, view, reader, upright, ...more) {
	const path = `${clip.folder}/${view}`;
	if (!existsSync(path) || statSync(path).size === 0) return;
	let fault;
	try {
		fault = faultOf(clip, await reader(path, clip, ...more), upright);
	} catch (error) {
		fault = error.stack;
	}
	if (!fault) {
		passed++;
		return;
	}
	failed++;
	console.log(`not ok - ${path}: ${fault}`);
}

const browser = await puppeteer.launch({
	executablePath: "/usr/bin/chromium",
	headless: true,
	timeout: LIMIT,
	protocolTimeout: LIMIT,
	args: ["--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--proxy-server=127.0.0.1:1", "--allow-file-access-from-files"],
});
const page = await browser.newPage();
page.setDefaultTimeout(LIMIT);
for (const line of readFileSync(planPath, "utf8").trim().split("\n")) {
	const clip = JSON.parse(line);
	if (clip.skipped) {
		skip(clip.skipped);
		continue;
	}
	await check(clip, "clip.gltf", readGltf, clip.upright);
	await check(clip, "clip.bvh", readBvh, clip.upright);
	await check(clip, "clip.x3d", readX3d, false, page);
}
await browser.close();
for (const [why, count] of skipped) console.log(`skipped ${count}: ${why}`);
console.log(`places: ${passed} passed, ${failed} failed, ${[...skipped.values()].reduce((a, b) => a + b, 0)} skipped`);
process.exitCode = failed || !passed ? 1 : 0;
