/* SPDX-License-Identifier: ISC */
// A run as it goes on: started here, or taken up again after a reload or from another view.
import { chunks, get, path } from './api.js';

const kept = 'agentgraph-runs';

// Runs whose chunks are known to be kept: those that were started here.
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

// Runs the graph with the body; the chunks are kept, so that the run can be taken up again.
export async function run(body, signal, onChunk) {
	await chunks('POST', 'v1/graph/stream', { response_granularity: 'partial', resumable: true, ...body }, signal, (chunk, request) => {
		if (chunk.metadata?.seq === 1) remember(chunk.run_id);
		onChunk(chunk, request);
	});
}

// Follows a run to its end.  Where its chunks are not kept there is nothing to follow but its record.
export async function follow(given, signal, onChunk, onRecord = () => {}) {
	const where = `v1/threads/${path(given.thread_id)}/runs/${path(given.run_id)}`;
	if (isRecorded(given)) {
		let seen = 0;
		while (!signal.aborted && !(await chunks('GET', `${where}/stream?after=${seen}`, undefined, signal, (chunk) => {
			seen = chunk.metadata?.seq || seen;
			onChunk(chunk);
		}))) await later(1000, signal);
		return;
	}
	for (let record = given; !isOver(record) && !signal.aborted; record = await get(where, signal)) {
		onRecord(record);
		await later(1000, signal);
	}
}
