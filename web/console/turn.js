/* SPDX-License-Identifier: ISC */
// A run while it goes on: started here, or taken up again after a reload or from another view.
import { chunks, get, path } from './api.js';
import { say } from './dom.js';

const kept = 'agentgraph-runs';

// Runs whose chunks are known to be kept, as they were started here.
const known = () => JSON.parse(sessionStorage.getItem(kept) || '[]');

export function remember(run) {
	if (run && !known().includes(run)) sessionStorage.setItem(kept, JSON.stringify([run, ...known()].slice(0, 100)));
}

export function isRecorded(run) {
	const day = 86400000;
	return known().includes(run.run_id) || (run.background && (!run.finished_at || Date.now() - new Date(run.finished_at) < day));
}

export function isOver(run) {
	return run.status !== 'running' && run.status !== 'queued';
}

const later = (ms, signal) => new Promise((resolve) => {
	const timer = setTimeout(resolve, ms);
	signal.addEventListener('abort', () => { clearTimeout(timer); resolve(); }, { once: true });
});

const whereOf = (run) => `v1/threads/${path(run.thread_id)}/runs/${path(run.run_id)}`;

// Lets an error pass if the service is only away for now, so that it is asked again.
function bear(error) {
	if (error.status !== 0 && error.status !== 503) throw error;
}

// Reads the chunks of a run after one of them, over as many connections as it takes.
async function hear(given, seen, signal, onChunk) {
	for (let done = false; !done && !signal.aborted;) {
		try {
			done = await chunks('GET', `${whereOf(given)}/stream?after=${seen}`, undefined, signal, (chunk) => {
				seen = chunk.metadata?.seq || seen;
				onChunk(chunk);
			});
		} catch (error) {
			bear(error);
		}
		if (!done) await later(1000, signal);
	}
}

// Runs the graph with the body.  The chunks are kept, so that the run can be taken up again, as it is here if the
// connection breaks.
export async function run(body, signal, onChunk) {
	let last;
	const done = await chunks('POST', 'v1/graph/stream', { response_granularity: 'partial', resumable: true, ...body }, signal, (chunk, request) => {
		if (chunk.metadata?.seq === 1) remember(chunk.run_id);
		last = chunk;
		onChunk(chunk, request);
	});
	if (done || signal.aborted) return;
	if (!last?.metadata?.seq) throw new Error('The connection to the service broke');
	say('The connection broke; the run is taken up again');
	await hear(last, last.metadata.seq, signal, onChunk);
}

// Follows a run to its end.  If its chunks are not kept, only its record can be followed.
export async function follow(given, signal, onChunk, onRecord = () => {}) {
	if (isRecorded(given)) {
		await hear(given, 0, signal, onChunk);
		return;
	}
	for (let record = given; !isOver(record) && !signal.aborted; record = (await get(whereOf(given), signal).catch(bear)) || record) {
		onRecord(record);
		await later(1000, signal);
	}
}
