/* SPDX-License-Identifier: ISC */
// A thread: its record, its state, its history.
import { call, get, path } from './api.js';
import { ask, button, confirm, facts, link, make, pretty, say, when } from './dom.js';
import { showHistory } from './history.js';

const longest = 100000; // characters of a state with a line for each value

// What a person may change of the state: its fields, and the summary.
function editable(state) {
	const { context, execution_meta: meta, ...rest } = state;
	return rest;
}

// The state as JSON; a long one has a line for each field alone, as browsers take seconds for thousands of lines.
function textOf(state) {
	const text = pretty(state);
	if (text.length <= longest) return text;
	return `{\n${Object.entries(state).map(([key, value]) => `  ${JSON.stringify(key)}: ${JSON.stringify(value)}`).join(',\n')}\n}`;
}

export async function show(main, [id, checkpoint], service) {
	const where = `v1/threads/${path(id)}`;
	const { signal } = service;
	const [{ thread_data: record }, { state }] = await Promise.all([get(where, signal), get(`${where}/state`, signal)]);
	const name = record.thread_name || id;
	const again = () => show(main, [id], service);
	const field = make('textarea', { rows: 10, 'aria-label': 'State', spellcheck: false, value: textOf(editable(state)) });
	const bar = make('div.bar');

	async function save() {
		const { ignored } = await call('PUT', `${where}/state`, { state: JSON.parse(field.value) }, signal);
		await again();
		say(ignored.length ? `Saved, but for ${ignored.join(', ')}` : 'Saved');
	}

	async function remove() {
		if (!await confirm('Delete ', name, '? Its messages, state and history go with it.', 'Delete')) return;
		say('It is deleted as soon as no run goes on in it');
		await call('DELETE', where, {}, signal);
		location.hash = '#/threads';
	}

	async function copy() {
		const { thread_data: made } = await call('POST', `${where}/copy`, {}, signal);
		location.hash = `#/threads/${path(made.thread_id)}`;
	}

	const rename = () => ask(bar, 'Name', 'Save', record.thread_name, async (value) => {
		await call('PATCH', where, { thread_name: value }, signal);
		await again();
		say('Renamed');
	});

	const known = [['Id', id], ['Status', record.status], ['Owner', record.user_id], ['Made', when(record.created_at)], ['Changed', when(record.updated_at)],
		['Metadata', make('code', JSON.stringify(record.metadata))]];
	const history = make('section', { 'aria-label': 'History of the thread' });
	main.replaceChildren(make('p', link('All threads', '#/threads')), make('h2', name),
		make('div.actions', link(`Open in ${service.talk.name}`, `#/${path(service.talk.at, id)}`), service.may('graph:read') && link('Its runs', `#/runs/${path(id)}`), button('Rename', rename), button('Copy', copy), button('Delete', remove)), bar,
		facts(known),
		make('h3', 'State'), make('p', 'Fields of the state as JSON. What is null stays as it is, objects are merged.'), field,
		make('div.actions', button('Save', save)), make('h3', 'History'), history);
	await showHistory(history, id, checkpoint, service, again);
}
