// SPDX-License-Identifier: GPL-3.0-or-later
// Runs files of SQL with DuckDB in a store: ask.mjs MODULES STORE FILE...; of each a line of JSON with its seconds (of
// the clock and of all processors together) and rows.
import fs from 'node:fs';
import path from 'node:path';
import { createRequire } from 'node:module';

const [modules, store, ...files] = process.argv.slice(2);
const { DuckDBInstance } = createRequire(path.resolve(modules) + '/')('@duckdb/node-api');
const questions = files.map((file) => [path.basename(file), fs.readFileSync(file, 'utf8')]);
process.chdir(store);
const db = await (await DuckDBInstance.create(':memory:', { threads: '2' })).connect();
for (const [name, sql] of questions) {
	const began = process.hrtime.bigint();
	const used = process.cpuUsage();
	const rows = (await db.runAndReadAll(sql)).getRowObjectsJson();
	const seconds = Number(process.hrtime.bigint() - began) / 1e9;
	const { user, system } = process.cpuUsage(used);
	const peak = process.resourceUsage().maxRSS * 1024;
	console.log(JSON.stringify({ name, seconds, processor: (user + system) / 1e6, rows, peak }));
}
