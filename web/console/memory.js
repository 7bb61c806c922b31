/* SPDX-License-Identifier: ISC */
// The store: memories are searched by each strategy, added, changed and deleted.
import { call, path } from './api.js';
import { ask, button, choice, complain, confirm, input, make, say, table, when } from './dom.js';
import { plain } from './text.js';

const strategies = ['similarity', 'temporal', 'relevance', 'hybrid', 'graph_traversal'];

export async function show(main, parts, { signal }) {
	const asked = { query: '', retrieval_strategy: strategies[0] };
	const place = make('div'), bar = make('div.bar');
	let latest = 0;

	function rowOf(memory) {
		const editing = plain('div', memory.content);
		const save = async (content) => { await call('PUT', `v1/store/memories/${path(memory.memory_id)}`, { content }, signal); await load(); say('Saved'); };
		const forget = async () => {
			if (!await confirm('Forget “', memory.content.slice(0, 80), '”?', 'Forget')) return;
			await call('DELETE', `v1/store/memories/${path(memory.memory_id)}`, {}, signal);
			await load();
			say('Forgotten');
		};
		return [editing, memory.memory_type, memory.category, asked.query ? memory.score.toFixed(3) : '', when(memory.timestamp),
			make('div.actions', button('Edit', () => ask(editing, 'Content', 'Save', memory.content, save, { lines: 3 })), button('Forget', forget))];
	}

	async function load() {
		const mine = ++latest;
		const data = asked.query ? await call('POST', 'v1/store/search', { ...asked, limit: 100 }, signal) : await call('POST', 'v1/store/memories/list', { limit: 200 }, signal);
		if (mine !== latest) return;
		place.replaceChildren(table('Memories', ['Content', 'Type', 'Category', 'Score', 'Stored', 'Actions'], (data.results || data.memories).map(rowOf),
			asked.query ? 'Nothing fits.' : 'Nothing is remembered yet. Add something, or let an agent remember.'));
	}

	const add = () => ask(bar, 'New memory', 'Save', '', async (content) => {
		await call('POST', 'v1/store/memories', { content, memory_type: 'semantic' }, signal);
		await load();
		say('Added');
	}, { lines: 3 });
	const search = input('Search', { type: 'search', oninput: (event) => { asked.query = event.target.value.trim(); load().catch(complain); } })[0];
	const strategy = choice('Strategy', strategies.map((one) => [one, one]), asked.retrieval_strategy, (value) => { asked.retrieval_strategy = value; return load(); })[0];
	main.replaceChildren(make('h2', 'Memory'), make('div.tools', search, strategy, button('Add', add)), bar, place);
	return load();
}
