/* SPDX-License-Identifier: ISC */
// A run while it goes on: started here, or taken up again after a reload or from another view.
import { chunks, get, path } from './api.js';
import { say } from './dom.js';

const kept = 'agentgraph-runs';

const nameOf = (run) => path(run.thread_id, run.run_id);

// Runs whose chunks are known to be kept, as tabs of this browser started them; the latest is the first.
const known = () => JSON.parse(localStorage.getItem(kept) || '[]');

function remember(run) {
	localStorage.setItem(kept, JSON.stringify([nameOf(run), ...known().filter((name) => name !== nameOf(run))].slice(0, 100)));
}

export function isRecorded(run) {
	const day = 86400000;
	return (run.background || known().includes(nameOf(run))) && (!run.finished_at || Date.now() - new Date(run.finished_at) < day);
}

// Calls act with the thread whenever another tab starts a run.
export function onOther(signal, act) {
	window.addEventListener('storage', ({ key, newValue }) => {
		if (key === kept && newValue) act(decodeURIComponent(JSON.parse(newValue)[0].split('/')[0]));
	}, { signal });
}

export function isOver(run) {
	return run.status !== 'running' && run.status !== 'queued';
}

const later = (ms, signal) => new Promise((resolve) => {
	const timer = setTimeout(resolve, ms);
	signal.addEventListener('abort', () => { clearTimeout(timer); resolve(); }, { once: true });
});

const whereOf = (run) => `v1/threads/${path(run.thread_id)}/runs/${path(run.run_id)}`;

// Lets an error pass if the service is only away or asked too often for now, so that it is asked again.
export function bear(error) {
	if (![0, 429, 502, 503, 504].includes(error.status)) throw error;
}

// Reads the chunks of a run after one of them, over as many connections as it takes.
async function hear(given, seen, signal, onChunk) {
	let away = false;
	for (let done = false; !done && !signal.aborted;) {
		try {
			done = await chunks('GET', `${whereOf(given)}/stream?after=${seen}`, undefined, signal, (chunk) => {
				seen = chunk.metadata?.seq || seen;
				if (away) say('');
				away = false;
				onChunk(chunk);
			});
		} catch (error) {
			bear(error);
			if (!away) say('The service cannot be reached; the run is taken up again when it can');
			away = true;
		}
		if (!done) await later(1000, signal);
	}
}

// Runs the graph with the body.  The chunks are kept, so that the run can be taken up again, as it is here if the
// connection breaks.
export async function run(body, signal, onChunk) {
	let last;
	const done = await chunks('POST', 'v1/graph/stream', { response_granularity: 'partial', resumable: true, ...body }, signal, (chunk, request) => {
		if (chunk.metadata?.seq === 1) remember(chunk);
		last = chunk;
		onChunk(chunk, request);
	});
	if (done || signal.aborted) return;
	if (!last?.metadata?.seq) throw new Error('The connection to the service broke');
	await hear(last, last.metadata.seq, signal, onChunk);
}

// Follows a run to its end.  If its chunks are not kept, only its record can be followed.
export async function follow(given, signal, onChunk, onRecord = () => {}) {
	if (isRecorded(given)) {
		await hear(given, 0, signal, onChunk);
		return;
	}
	for (let record = given; !isOver(record) && !signal.aborted; record = (await get(whereOf(given), signal).catch(bear)) || record) {
		await Promise.resolve(onRecord(record)).catch(bear);
		await later(1000, signal);
	}
}
