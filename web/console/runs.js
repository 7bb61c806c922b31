/* SPDX-License-Identifier: ISC */
// All runs, or those of the thread that the address names, with how long they took and how many tokens; or a single one,
// if it names that.
import { get, path, query } from './api.js';
import { button, choice, lasted, link, make, table, watch, when } from './dom.js';
import { bars } from './plot.js';
import { show as showOne, stop, tookOf } from './run.js';
import { isOver } from './turn.js';

const size = 100, most = 1000; // runs that are shown at first, and that the service gives at once
const longest = 160; // characters of a reason
const between = 3000; // ms between two looks, as there is no stream of runs

const addressOf = (run) => `#/runs/${path(run.thread_id, run.run_id)}`;

// With the reason of an error, as far as it fits; all of it is in the view of the run.
function statusOf({ status, error }) {
	return error ? [status, make('div', make('small.failed', error.message.length > longest ? `${error.message.slice(0, longest)}…` : error.message))] : status;
}

export async function show(main, parts, service) {
	if (parts.length > 1) return showOne(main, parts, service);
	const { signal } = service;
	const plots = make('div.columns'), place = make('div');
	const more = button('More', () => { asked.limit += size; return load(); }, { hidden: true });
	const asked = { status: history.state?.status || '', thread_id: parts[0], limit: size };
	const names = new Map(); // of threads, by id
	let shown = '';

	async function learnNames(runs) {
		if (!service.may('checkpointer:read') || runs.every((run) => names.has(run.thread_id))) return;
		const { threads } = await get(`v1/threads${query({ limit: size })}`, signal);
		for (const { thread_id: id, thread_name: name } of [...runs, ...threads]) names.set(id, name || names.get(id));
	}

	function rowOf(run) {
		const took = tookOf(run);
		return [link(run.run_id, addressOf(run)), link(names.get(run.thread_id) || run.thread_id, `#/threads/${path(run.thread_id)}`), statusOf(run), when(run.started_at || run.created_at),
			took === undefined ? '' : lasted(took), String(run.usage.total_tokens),
			isOver(run) ? '' : button('Stop', async () => { await stop(run, signal); await load(); }, { 'aria-label': `Stop ${run.run_id}` })];
	}

	// Replaces only the rows, so that the table keeps its scroll position, and what has the focus keeps it.
	function showRows(runs) {
		const fresh = table('Runs', ['Run', 'Thread', 'Status', 'Started', 'Took', 'Tokens', 'Actions'], runs.map(rowOf), asked.status ? 'No run has this status.' : 'There are no runs yet. A message in Chat makes one.');
		const had = place.querySelector('tbody')?.contains(document.activeElement) && document.activeElement;
		const old = had && had.closest('tr').querySelector('a').href;
		if (place.firstChild) place.querySelector('tbody').replaceWith(fresh.querySelector('tbody'));
		else place.append(fresh);
		if (!had) return;
		const row = [...place.querySelectorAll('td:first-child a')].find(({ href }) => href === old)?.closest('tr');
		const heir = row && [...row.querySelectorAll('a, button')].find(({ textContent }) => textContent === had.textContent);
		(heir || row?.querySelector('a') || main).focus({ preventScroll: true });
	}

	async function load() {
		const { runs } = await get(`v1/graph/runs${query(asked)}`, signal);
		const now = JSON.stringify(runs);
		if (now !== shown) {
			await learnNames(runs);
			const over = [...runs].reverse().filter((run) => tookOf(run) !== undefined);
			const points = (value) => over.map((run) => ({ label: `${run.run_id}, ${run.status}`, value: value(run), tone: run.status === 'error' ? 'bad' : '' }));
			plots.replaceChildren(...(over.length ? [bars('Durations', points(tookOf), lasted), bars('Tokens', points((run) => run.usage.total_tokens), String)] : []));
			showRows(runs);
			shown = now;
		}
		more.hidden = runs.length < asked.limit || asked.limit >= most;
	}

	const statuses = ['queued', 'running', 'completed', 'interrupted', 'stopped', 'error'];
	const [status] = choice('Status', [['', 'any'], ...statuses.map((one) => [one, one])], asked.status, (value) => {
		asked.status = value;
		history.replaceState({ status: value }, ''); // who opens a run and comes back finds it as it was
		return load();
	});
	const of = parts[0] && make('p', 'Of the thread ', link(parts[0], `#/threads/${path(parts[0])}`), '. ', link('All runs', '#/runs'));
	main.replaceChildren(make('h2', 'Runs'), of || '', make('div.tools', status), plots, place, more);
	watch(load, () => between, signal);
}
