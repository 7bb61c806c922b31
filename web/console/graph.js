/* SPDX-License-Identifier: ISC */
// The graph, and which node a run is in.
import { get, path } from './api.js';
import { count, link, make, more, pre, say, watch } from './dom.js';
import { draw } from './drawing.js';
import { follow } from './turn.js';

const between = 3000; // ms between two looks for a run that goes on; no stream tells of runs

function about(graph, tools) {
	return graph.nodes.map((node) => {
		const { id, name, ...rest } = node;
		const own = tools.nodes.find((one) => one.node_name === id)?.tools || [];
		const ways = graph.edges.filter((edge) => edge.source === id)
			.map((edge) => `${edge.target}${edge.map ? ` for each of ${edge.map}${edge.limit ? `, ${edge.limit} at once` : ''}` : ''}`);
		return more(name, () => [make('p', ways.length ? `Leads to ${ways.join(', ')}.` : 'Leads nowhere.'),
			Object.keys(rest).length ? pre(rest) : '',
			...own.map((tool) => more(`Tool ${tool.name}`, () => [make('p', tool.description), pre(tool.parameters)]))]);
	});
}

// Follows a run to its end, if one goes on.
async function look(picture, place, { signal, talk }) {
	const { runs: [running] } = await get('v1/graph/runs?status=running&limit=1', signal);
	if (running) {
		place.replaceChildren('A run goes on in ', link(running.thread_id, `#/${path(talk.at, running.thread_id)}`), '.');
		picture.light(running.node);
		await follow(running, signal, (chunk) => { if (chunk.metadata?.node) picture.light(chunk.metadata.node); }, (record) => picture.light(record.node));
		picture.light();
	}
	place.replaceChildren('No run goes on.');
}

export async function show(main, parts, service) {
	const { signal } = service;
	const [graph, tools] = await Promise.all([get('v1/graph', signal), get('v1/graph/tools', signal)]);
	const picture = draw(graph, Object.fromEntries(tools.nodes.map((node) => [node.node_name, node.tools.map((tool) => tool.name)])));
	const place = make('p', 'No run goes on.');
	main.replaceChildren(make('h2', 'Graph'), make('p', `${count(graph.info.node_count, 'node')}, ${count(graph.info.edge_count, 'edge')}, state ${graph.info.state_type}: `,
		graph.info.state_fields.join(', ')), place, make('div.wide', picture.node), make('h3', 'Nodes'), ...about(graph, tools));
	say('');
	watch(() => look(picture, place, service), () => between, signal);
}
