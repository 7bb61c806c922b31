/* SPDX-License-Identifier: ISC */
// All threads, or a single one, if the address names it.
import { get, path, query } from './api.js';
import { button, choice, complain, count, input, link, make, say, table, when } from './dom.js';
import { show as showOne } from './thread.js';

const size = 50;
export const statuses = ['idle', 'running', 'interrupted', 'completed', 'error', 'stopped'];

function rowsOf(threads, talk) {
	return threads.map((thread) => [link(thread.thread_name || thread.thread_id, `#/threads/${path(thread.thread_id)}`), thread.status,
		when(thread.updated_at), link(talk.name, `#/${path(talk.at, thread.thread_id)}`, { 'aria-label': `${talk.name} with ${thread.thread_name || thread.thread_id}` })]);
}

export async function show(main, parts, service) {
	if (parts.length) return showOne(main, parts, service);
	const { signal } = service;
	const place = make('div');
	const asked = { search: '', status: '', key: '', value: '', ...history.state };
	let found = [], latest = 0;

	async function load(from) {
		const mine = ++latest;
		const { threads } = await get(`v1/threads${query({ search: asked.search, status: asked.status, limit: size, offset: from,
			[`metadata.${asked.key}`]: asked.key && asked.value })}`, signal);
		if (mine !== latest) return;
		found = [...found.slice(0, from), ...threads];
		const filtered = asked.search || asked.status || asked.key;
		place.replaceChildren(table('Threads', ['Name', 'Status', 'Changed', 'Talk'], rowsOf(found, service.talk),
			filtered ? 'No thread fits. Ask for less.' : 'There are no threads yet. A conversation makes one.'),
		threads.length === size ? button('More', () => load(found.length)) : '');
		say(count(found.length, 'thread'));
	}

	// Asks for less, or more; who opens a thread and comes back finds it as it was.
	function narrow(key, value) {
		asked[key] = value;
		history.replaceState(asked, '');
		return load(0);
	}

	const text = (name, key, event, attributes) => input(name, { ...attributes, value: asked[key], [event]: ({ target }) => narrow(key, target.value.trim()).catch(complain) })[0];
	const [status] = choice('Status', [['', 'any'], ...statuses.map((one) => [one, one])], asked.status, (value) => narrow('status', value));
	main.replaceChildren(make('h2', 'Threads'), make('div.tools', text('Search', 'search', 'oninput', { type: 'search' }), status,
		text('Metadata key', 'key', 'onchange'), text('Metadata value', 'value', 'onchange')), place);
	return load(0);
}
