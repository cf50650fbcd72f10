// SPDX-License-Identifier: GPL-3.0-or-later
// duckdb_turns.js DUCKDB TREE PATTERN COMPRESSION - which bones turn by more than 90 degrees within
// 0.1 s, asked of the long table that `animfs export --layout=hive` wrote: lines "file clip bone".
// DUCKDB is a folder of npm, @duckdb/node-api.
'use strict';
const { DuckDBInstance } = require(require('path').resolve(process.argv[2]));
const [tree, pattern, compression] = process.argv.slice(3);

// Of two unit quaternions the angle between is twice that of their dot product; the sign is that of
// the same rotation. A hair more than 0.1 s is given to times, which are rounded to microseconds.
const query = `
	WITH turns AS (
		SELECT file, clip, bone, time, x, y, z, w
		FROM read_csv('${tree}/${pattern}', hive_partitioning = true,
			hive_types_autocast = false, header = true, delim = ',',
			compression = '${compression}', columns = {
				'bone': 'VARCHAR', 'channel': 'VARCHAR', 'frame': 'INTEGER',
				'time': 'DOUBLE', 'x': 'DOUBLE', 'y': 'DOUBLE', 'z': 'DOUBLE', 'w': 'DOUBLE'})
		WHERE channel = 'quaternion' AND format = 'canm')
	SELECT DISTINCT a.file, a.clip, a.bone
	FROM turns a JOIN turns b
		ON a.file = b.file AND a.clip = b.clip AND a.bone = b.bone
		AND b.time > a.time AND b.time - a.time <= 0.1 + 2e-6
	WHERE 2 * degrees(acos(least(1, abs(a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w)))) > 90
	ORDER BY ALL`;

async function main() {
	const connection = await (await DuckDBInstance.create(':memory:')).connect();
	const reader = await connection.runAndReadAll(query);
	for (const row of reader.getRows())
		console.log(row.join(' '));
}

main();
