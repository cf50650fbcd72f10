// SPDX-License-Identifier: GPL-3.0-or-later
// duckdb_parquet.js DUCKDB TREE PARQUET - is every row of the long table in the Parquet file that was
// made of it?
'use strict';
const { execFileSync } = require('child_process');
const { DuckDBInstance } = require(require('path').resolve(process.argv[2]));
const [tree, parquet] = process.argv.slice(3);

async function main() {
	const connection = await (await DuckDBInstance.create(':memory:')).connect();
	const reader = await connection.runAndReadAll(`SELECT count(*), count(DISTINCT file || '/' || clip)
		FROM '${parquet}'`);
	const [rows, clips] = reader.getRows()[0].map(Number);
	const lines = Number(execFileSync('sh', ['-c',
		`find '${tree}' -name 'part.csv.zst' -exec zstd -dc {} + | grep -vc '^bone,'`]).toString());
	const fine = rows === lines && clips === 1000;
	console.log(`${fine ? 'ok' : 'not ok'} - Parquet: ${rows} rows of ${clips} clips, ${lines} wanted`);
	process.exitCode = fine ? 0 : 1;
}

main();
