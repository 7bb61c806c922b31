/* SPDX-License-Identifier: ISC */
// A run: its record, where its time went, and its chunks, which are followed while it goes on.
import { call, get, path, query } from './api.js';
import { button, complain, count, facts, lasted, link, make, more, pre, say, when } from './dom.js';
import { textOf } from './message.js';
import { waterfall } from './plot.js';
import { bear, follow, isOver, isRecorded } from './turn.js';

const size = 1000; // chunks shown at once
const pause = 1000; // ms between two looks at the spans of a running run

export const tookOf = (run) => (run.started_at && run.finished_at ? new Date(run.finished_at) - new Date(run.started_at) : undefined);

export async function stop(run, signal) {
	await call('POST', `v1/threads/${path(run.thread_id)}/runs/${path(run.run_id)}/stop`, {}, signal);
	say('It is being stopped');
}

function factsOf(run) {
	const took = tookOf(run), { webhook, usage } = run;
	const told = webhook && `${webhook.url}: ${webhook.delivered_at ? 'delivered' : `${count(webhook.attempts, 'attempt')}, last status ${webhook.last_status ?? 'none'}`}`;
	return [['Thread', link(run.thread_id, `#/threads/${path(run.thread_id)}`)], ['Status', run.status], ['Node', `${run.node}, step ${run.step}`],
		['Started', when(run.started_at)], ['Took', took === undefined ? '' : lasted(took)], ['Attempt', `${run.attempt}${run.background ? ', in the background' : ''}`],
		['Tokens', `${usage.prompt_tokens} in, ${usage.completion_tokens} out`], ['Webhook', told], ['Error', run.error && `${run.error.code}: ${run.error.message}`]]
		.filter(([, value]) => value);
}

function wordsOf({ event, message, data, metadata }) {
	const what = message ? `${message.role}${message.delta ? ' piece' : ''}: ${textOf(message) || message.content.map((block) => block.type).join(', ')}`
		: data?.status || data?.reason || data?.name || '';
	return `${event}${metadata?.node ? ` of ${metadata.node}` : ''} ${what}`;
}

// What became of the run and of each node, by the names of their spans: an execution whose end is not told ended as the
// run did.  Nothing is said of nodes where records were left out.
function outcomesOf({ status, events }, run) {
	const open = new Map(), failed = new Set();
	const all = new Map([['graph', { completed: 'ok', interrupted: 'paused', error: 'failed' }[run.status] || run.status]]);
	if (/ more left out$/.test(events[0]?.summary)) return all;
	for (const { node, type, summary } of events) {
		const more = { invoking_node: 1, node_invoked: -1 }[summary] || 0;
		open.set(node, (open.get(node) || 0) + more);
		if (type === 'error' && !summary.startsWith('attempt ')) failed.add(node);
	}
	const left = { done: 'paused', error: 'failed' }[status] || status;
	for (const [node, count] of open) all.set(`node: ${node}`, failed.has(node) ? 'failed' : count > 0 ? left : 'ok');
	return all;
}

export async function show(main, [thread, id], { signal, talk }) {
	const where = `v1/threads/${path(thread)}/runs/${path(id)}`;
	const record = make('div'), spans = make('div.wide', { tabIndex: 0 }), list = make('ol.chunks', { 'aria-label': 'Chunks' }), actions = make('div.actions');
	const waiting = []; // chunks that are not shown yet
	const further = button('', () => { room += size; waiting.splice(0, size).forEach(put); showFurther(); });
	let run = await get(where, signal), looked = 0, room = size;

	function showRecord() {
		record.replaceChildren(facts(factsOf(run)));
		actions.replaceChildren(link(`Open in ${talk.name}`, `#/${path(talk.at, thread)}`), isOver(run) ? '' : button('Stop', () => stop(run, signal)));
	}

	async function showSpans() {
		const { run: trace } = await get(`v1/observability/${path(thread)}${query({ run_id: id })}`, signal);
		spans.replaceChildren(trace ? waterfall(trace, outcomesOf(trace, run)) : make('p.empty', 'Its spans are not kept: they go with a restart, and production keeps none.'));
		if (trace && !isRecorded(run)) list.replaceChildren(...[...trace.events].reverse().map((event) => make('li', `${event.type}${event.node ? ` of ${event.node}` : ''} ${event.summary === event.type ? '' : event.summary}`)));
	}

	function put(chunk) {
		list.append(make('li', more(wordsOf(chunk), () => pre(chunk))));
	}

	function showFurther() {
		further.hidden = !waiting.length;
		further.textContent = `Further chunks (${waiting.length})`;
	}

	function hear(chunk) {
		if (list.children.length < room) put(chunk);
		else waiting.push(chunk);
		showFurther();
		if (!isOver(run) && Date.now() - looked > pause) {
			looked = Date.now();
			showSpans().catch(bear).catch(complain);
		}
	}

	main.replaceChildren(make('p', link('All runs', '#/runs')), make('h2', `Run ${id}`), record, actions, make('h3', 'Spans'), spans, make('h3', 'Chunks'), list, further);
	showFurther();
	showRecord();
	await showSpans();
	const live = !isOver(run);
	if (live || isRecorded(run)) {
		follow(run, signal, hear, (record) => { run = record; showRecord(); showSpans().catch(bear).catch(complain); }).then(async () => {
			if (!live || signal.aborted) return;
			run = await get(where, signal);
			showRecord();
			await showSpans();
		}).catch((error) => { if (!signal.aborted) complain(error); });
	}
}
