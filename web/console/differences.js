/* SPDX-License-Identifier: ISC */
// What changed between two texts, line by line; without the library for that, the two texts.
import { make } from './dom.js';

let library;

// Fetches the library when it is first needed.
function load() {
	library ||= new Promise((resolve) => {
		if (document.body.dataset.differences) document.head.append(make('script', { src: new URL('./diff.js', import.meta.url).href, onload: resolve, onerror: resolve }));
		else resolve();
	});
	return library;
}

export async function differences(before, after) {
	if (before === after) return make('p.empty', 'Nothing differs.');
	await load();
	if (!window.Diff) return make('div.columns', make('pre', { tabIndex: 0 }, before), make('pre', { tabIndex: 0 }, after));
	const parts = window.Diff.diffLines(before, after).map((part) => {
		const name = part.added ? 'ins' : part.removed ? 'del' : 'span';
		const sign = part.added ? '+ ' : part.removed ? '- ' : '  ';
		const lines = part.value.replace(/\n$/, '').split('\n');
		const shown = name === 'span' && lines.length > 8 ? [...lines.slice(0, 3), `… ${lines.length - 6} lines`, ...lines.slice(-3)] : lines;
		return make(name, shown.map((line) => `${sign}${line}\n`).join(''));
	});
	return make('pre.differences', { tabIndex: 0, 'aria-label': 'Differences' }, ...parts);
}
