/* SPDX-License-Identifier: ISC */
// The history of a thread: checkpoints as a tree, what changed between two of them, and the ways back.
import { call, get, messagesFrom, path } from './api.js';
import { treeOf } from './branches.js';
import { button, choice, count, make, pretty, say, when } from './dom.js';

const sources = { run: 'end of a run', step: 'after a node', update: 'changed from outside', rewind: 'went back', copy: 'copied' };
const most = 2000; // changed lines that the library takes: its time grows with their square
const room = { span: 3, ins: 500, del: 500 }; // lines that are shown at both ends of a part

// ---- What changed between two texts, line by line

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

function partOf(name, lines) {
	const sign = { ins: '+ ', del: '- ', span: '  ' }[name], left = lines.length - 2 * room[name];
	const some = left > 1 ? [...lines.slice(0, room[name]), `… ${left} lines`, ...lines.slice(-room[name])] : lines;
	return make(name, some.map((line) => `${sign}${line}\n`).join(''));
}

async function differences(before, after) {
	if (before === after) return make('p.empty', 'Nothing differs.');
	const [old, now] = [before, after].map((text) => text.replace(/\n$/, '').split('\n'));
	const first = equal(old, now, (lines, n) => lines[n]);
	const last = equal(old.slice(first), now.slice(first), (lines, n) => lines[lines.length - 1 - n]);
	const parts = [['span', old.slice(0, first)], ...await between(old.slice(first, old.length - last), now.slice(first, now.length - last)), ['span', old.slice(old.length - last)]];
	return make('pre.differences', { tabIndex: 0, 'aria-label': 'Differences' }, ...parts.filter(([, lines]) => lines.length).map((part) => partOf(...part)));
}

// ---- The tree

function titleOf(point) {
	return `${sources[point.source]}, ${point.status}, ${count(point.message_count, 'message')}`;
}

// The tree of checkpoints, with how many branchings lie between each of them and the branch that the thread is on.
function depths(history) {
	const tree = treeOf(history);
	const depth = new Map();
	for (const point of [...history].reverse()) {
		const parent = tree.parentOf(point);
		const branched = parent && !tree.chain.has(point) && (tree.chain.has(parent) || tree.children(parent).length > 1);
		depth.set(point, point.source === 'rewind' ? depth.get(tree.real(point)) || 0 : (depth.get(parent) || 0) + (branched ? 1 : 0));
	}
	return { depth, head: tree.head, chain: tree.chain };
}

const wordsOf = (message) => ({ id: message.message_id, role: message.role, content: message.content.map(({ annotations, ...block }) => block) });

export async function showHistory(place, thread, chosen, { signal }, changed) {
	const where = `v1/threads/${path(thread)}`;
	const { history } = await get(`${where}/history?limit=1000`, signal);
	if (!history.length) {
		place.replaceChildren(make('p.empty', 'Nothing is kept yet. A checkpoint comes at the end of each run, unless history is off.'));
		return;
	}
	const { depth, head, chain } = depths(history);
	const shown = make('section', { 'aria-label': 'Comparison', tabIndex: -1 });

	async function textOf(id) {
		const [state, messages] = id === 'now'
			? await Promise.all([get(`${where}/state`, signal).then((data) => data.state), messagesFrom(thread, 0, signal)])
			: await get(`${where}/history/${path(id)}`, signal).then((data) => [data.state, data.messages]);
		const { context, ...rest } = state;
		return `state ${pretty(rest)}\n\n${messages.map((message) => pretty(wordsOf(message))).join('\n')}\n`;
	}

	async function compare(from, to) {
		const names = [['now', 'now'], ...history.map((point) => [point.checkpoint_id, `${new Date(point.created_at).toLocaleString()}: ${titleOf(point)}`])];
		const [before, after] = await Promise.all([textOf(from), textOf(to)]);
		const differ = await differences(before, after);
		const [with_] = choice('Compare with', names, to, (other) => compare(from, other));
		const point = history.find((one) => one.checkpoint_id === from);
		shown.replaceChildren(make('h4', `What changed since ${titleOf(point)}`), with_, differ);
		window.history.replaceState(null, '', `#/threads/${path(thread, from)}`);
		shown.focus();
		shown.scrollIntoView({ block: 'nearest' });
	}

	const rewind = async (point) => {
		await call('POST', `${where}/rewind`, { checkpoint_id: point.checkpoint_id }, signal);
		await changed();
		say('The thread is what it was then; what came later is still in the list');
	};
	const fork = async (point) => {
		const { thread_data: made } = await call('POST', `${where}/copy`, { checkpoint_id: point.checkpoint_id }, signal);
		location.hash = `#/threads/${path(made.thread_id)}`;
	};
	const itemOf = (point) => make('li', { className: `depth-${Math.min(depth.get(point), 6)}${chain.has(point) ? ' present' : ''}`,
		'aria-current': point === head && 'true' }, make('div', make('b', titleOf(point)), ' ', when(point.created_at),
		make('small', ` ${point.node}${point.next ? `, then ${point.next}` : ''}${depth.get(point) ? `, branch ${depth.get(point)}` : ''}`)),
	make('div.actions', button('Rewind', () => rewind(point)), button('Fork', () => fork(point)), button('Compare', () => compare(point.checkpoint_id, 'now'))));
	place.replaceChildren(make('ol.history', { 'aria-label': 'History' }, history.map(itemOf)), shown);
	if (chosen && history.some((point) => point.checkpoint_id === chosen)) await compare(chosen, 'now');
}
