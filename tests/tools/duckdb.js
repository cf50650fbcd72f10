// SPDX-License-Identifier: GPL-3.0-or-later
// duckdb.js DUCKDB -c SQL - does what `duckdb -c SQL` does, but prints rows without a frame, their
// values separated by spaces. DUCKDB is a folder of npm, @duckdb/node-api.
'use strict';
const { DuckDBInstance } = require(require('path').resolve(process.argv[2]));
const [option, sql] = process.argv.slice(3);

async function main() {
	if (option !== '-c')
		throw new Error(`unknown option ${option}`);
	const connection = await (await DuckDBInstance.create(':memory:')).connect();
	const reader = await connection.runAndReadAll(sql);
	if (/^COPY /.test(sql)) // its result is a number of rows, which duckdb does not print
		return;
	for (const row of reader.getRows())
		console.log(row.join(' '));
}

main();
