/* SPDX-License-Identifier: ISC */
// The service itself: what it serves, its limits, and load, latency and queue since the view was opened.
import { get, request } from './api.js';
import { count, lasted, make, table, watch, when } from './dom.js';
import { bars } from './plot.js';

const between = 2000, most = 90; // ms between two looks; looks in the plots

function factsOf(seen, { graph, media, limit }) {
	const { workers, requests, latency_ms: { p50, p99 }, runs, sockets, webhooks, rights } = seen;
	return [['Name', seen.name], ['Graph', graph && `${count(graph.info.node_count, 'node')}, ${count(graph.info.edge_count, 'edge')}${graph.info.is_realtime ? ', live' : ''}`],
		['Version', `agentgraph ${seen.version}`], ['Mode', seen.mode], ['Started', when(seen.started_at)], ['Storage', seen.engine],
		['Limit of requests at a time', `${workers.threads} in ${workers.processes} processes`], ['Limit of requests', limit ? `${limit} in a window` : 'none'],
		['Limit of a file', `${media.media_max_size_mb} MB`], ['Load', `${workers.busy} threads busy, ${requests.in_flight} requests in hand`],
		['Requests', `${requests.total}, failed ${requests.errors}`],
		['Latency', p50 === null ? 'nothing was answered in the last minute' : `half within ${lasted(p50)}, 99 of 100 within ${lasted(p99)}`],
		['Runs', `${runs.running} running, ${runs.queued} queued`], ['WebSockets', `${sockets.turn} for turns, ${sockets.live} live`],
		['Webhooks', `${webhooks.waiting} waiting`], ['Your rights', rights ? rights.join(', ') || 'none' : 'all']].filter(([, value]) => value);
}

export async function show(main, parts, { signal, may }) {
	const plots = make('div.columns'), tables = make('div');
	const looks = [];
	const about = {};

	function plot(name, valueOf, words) {
		return bars(name, looks.map((look) => ({ label: look.at.toLocaleTimeString(), value: valueOf(look) })), words);
	}

	function showLook(seen) {
		const fresh = [table('Service', ['What', 'Now'], factsOf(seen, about)),
			table('Instances', ['Id', 'Version', 'Started', 'Heard of'], seen.instances.map((one) => [one.id, one.version, when(one.started_at), when(one.seen_at)]))];
		if (!tables.firstChild) tables.append(fresh[0], make('h3', 'Instances'), fresh[1]);
		// only the bodies are replaced: the tables keep the focus and their scroll position
		[...tables.querySelectorAll('tbody')].forEach((body, i) => body.replaceWith(fresh[i].querySelector('tbody') || body));
		plots.replaceChildren(plot('Load', (look) => look.workers.busy, (value) => `${value} threads busy`),
			plot('Latency', (look) => look.latency_ms.p99 ?? 0, (value) => `99 of 100 within ${lasted(value)}`),
			plot('Queue', (look) => look.runs.queued, (value) => `${value} runs`));
	}

	async function look() {
		const answer = await request('GET', 'v1/service', { signal });
		const { data } = await answer.json();
		about.limit = answer.headers.get('X-RateLimit-Limit');
		looks.push({ ...data, at: new Date() });
		if (looks.length > most) looks.shift();
		showLook(data);
	}

	[about.media, about.graph] = await Promise.all([get('v1/config/multimodal', signal),
		may('graph:read') && get('v1/graph', signal)]);
	main.replaceChildren(make('h2', 'Service'), plots, tables);
	watch(look, () => between, signal);
}
