// SPDX-License-Identifier: GPL-3.0-or-later
// check_gltf.js VALIDATOR FILE... - what the Khronos validator, a folder of npm, says to each file:
// no error and no warning is wanted.
'use strict';
const fs = require('fs');
const validator = require(require('path').resolve(process.argv[2]));

async function main() {
	let passed = 0, failed = 0;
	for (const file of process.argv.slice(3)) {
		const report = await validator.validateString(fs.readFileSync(file, 'utf8'), { uri: file });
		const faults = report.issues.messages.filter((m) => m.severity < 2);
		if (faults.length === 0 && report.info.animationCount === 1) {
			passed++;
			continue;
		}
		failed++;
		console.log(`not ok - ${file}`);
		for (const m of faults)
			console.log(`  ${m.code} at ${m.pointer}: ${m.message}`);
	}
	console.log(`gltf: ${passed} passed, ${failed} failed`);
	process.exitCode = failed || !passed ? 1 : 0;
}

main();
