/* SPDX-License-Identifier: ISC */
// The history of a thread: checkpoints as a tree, what changed between two of them, and the ways back.
import { call, get, messagesFrom, path } from './api.js';
import { treeOf } from './branches.js';
import { differences } from './differences.js';
import { button, choice, count, make, pretty, say, when } from './dom.js';

const sources = { run: 'end of a run', step: 'after a node', update: 'changed from outside', rewind: 'went back', copy: 'copied' };

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
