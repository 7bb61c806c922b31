/* SPDX-License-Identifier: ISC */
// What changed between two texts, line by line; where the library for it is not there, both of them.
import { make } from './dom.js';

export function differences(before, after) {
	if (before === after) return make('p.empty', 'Nothing differs.');
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
