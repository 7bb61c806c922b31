/* SPDX-License-Identifier: ISC */
// What changed between two texts, line by line.
import { make } from './dom.js';

const most = 2000; // changed lines that the library takes: its time grows with their square
const room = { span: 3, ins: 500, del: 500 }; // lines that are shown at both ends of a part

let library;

// Fetches the library when it is first needed.
function load() {
	library ||= new Promise((resolve) => {
		if (document.body.dataset.differences) document.head.append(make('script', { src: new URL('./diff.js', import.meta.url).href, onload: resolve, onerror: resolve }));
		else resolve();
	});
	return library;
}

// How many lines are equal from one end on; at says which line is the nth from there.
function equal(before, after, at) {
	const end = Math.min(before.length, after.length);
	let n = 0;
	while (n < end && at(before, n) === at(after, n)) n++;
	return n;
}

// The parts of two lists of lines that differ from their first line and their last on.
async function between(before, after) {
	await load();
	if (window.Diff && before.length + after.length <= most)
		return window.Diff.diffArrays(before, after).map(({ added, removed, value }) => [added ? 'ins' : removed ? 'del' : 'span', value]);
	return [['del', before], ['ins', after]];
}

function shown(name, lines) {
	const sign = { ins: '+ ', del: '- ', span: '  ' }[name], left = lines.length - 2 * room[name];
	const some = left > 1 ? [...lines.slice(0, room[name]), `… ${left} lines`, ...lines.slice(-room[name])] : lines;
	return make(name, some.map((line) => `${sign}${line}\n`).join(''));
}

export async function differences(before, after) {
	if (before === after) return make('p.empty', 'Nothing differs.');
	const [old, now] = [before, after].map((text) => text.replace(/\n$/, '').split('\n'));
	const first = equal(old, now, (lines, n) => lines[n]);
	const last = equal(old.slice(first), now.slice(first), (lines, n) => lines[lines.length - 1 - n]);
	const parts = [['span', old.slice(0, first)], ...await between(old.slice(first, old.length - last), now.slice(first, now.length - last)), ['span', old.slice(old.length - last)]];
	return make('pre.differences', { tabIndex: 0, 'aria-label': 'Differences' }, ...parts.filter(([, lines]) => lines.length).map((part) => shown(...part)));
}
