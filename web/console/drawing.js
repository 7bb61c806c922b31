/* SPDX-License-Identifier: ISC */
// Draws a graph as SVG: nodes in layers from START downwards, each edge a line to the next layer or around the nodes.
const space = 'http://www.w3.org/2000/svg';
const gap = { x: 28, y: 44 }, high = 40, track = 14;

export function svg(name, attributes = {}, ...inside) {
	const node = document.createElementNS(space, name);
	for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
	node.append(...inside);
	return node;
}

// The edges that close a cycle, as a walk from START finds them.  They are drawn upwards and do not count for the
// layers.
function backEdges(nodes, edges) {
	const state = new Map(), back = new Set();
	const walk = (id) => {
		state.set(id, 'open');
		for (const edge of edges.filter((one) => one.source === id)) {
			if (state.get(edge.target) === 'open') back.add(edge);
			else if (!state.has(edge.target)) walk(edge.target);
		}
		state.set(id, 'done');
	};
	for (const { id } of nodes) if (!state.has(id)) walk(id);
	return back;
}

function layersOf(nodes, edges) {
	const layer = new Map(nodes.map(({ id }) => [id, 0]));
	for (let round = 0, moved = true; moved && round <= nodes.length; round++) {
		moved = false;
		for (const { source, target } of edges) {
			if (layer.get(target) > layer.get(source)) continue;
			layer.set(target, layer.get(source) + 1);
			moved = true;
		}
	}
	if (layer.has('END')) layer.set('END', Math.max(...layer.values(), 1));
	return layer;
}

// Gives an edge across several layers a place in each layer between, so that its line goes around the nodes there.
function spread(nodes, edges, layer) {
	const rows = [];
	const put = (id, at, width, name) => (rows[at] ||= []).push({ id, name, width, above: [] });
	for (const { id, name } of nodes) put(id, layer.get(id), Math.max(56, name.length * 8.2 + 28), name);
	const lines = edges.map((edge, i) => {
		const stops = [edge.source];
		for (let at = layer.get(edge.source) + 1; at < layer.get(edge.target); at++) {
			put(`${i} ${at}`, at, 8);
			stops.push(`${i} ${at}`);
		}
		return { edge, stops: [...stops, edge.target] };
	});
	const places = new Map(rows.flat().map((place) => [place.id, place]));
	for (const { stops } of lines) for (let i = 1; i < stops.length; i++) places.get(stops[i]).above.push(places.get(stops[i - 1]));
	return { rows: rows.filter(Boolean), lines, places };
}

function arrange(rows) {
	for (const row of rows) {
		const wish = (place) => (place.above.length ? place.above.reduce((sum, one) => sum + one.x + one.width / 2, 0) / place.above.length : 0);
		row.sort((a, b) => wish(a) - wish(b));
		let x = 0;
		for (const place of row) { place.x = x; x += place.width + gap.x; }
		row.width = x - gap.x;
		for (const place of row) place.x -= row.width / 2;
	}
	const left = Math.min(...rows.flat().map((place) => place.x));
	rows.forEach((row, i) => { for (const place of row) { place.x -= left; place.y = gap.y / 2 + i * (high + gap.y); } });
}

const middle = (place) => place.x + place.width / 2;

function downwards({ stops }, places) {
	const points = stops.map((id) => places.get(id));
	let d = `M${middle(points[0])},${points[0].y + high}`;
	for (let i = 1; i < points.length; i++) {
		const from = points[i - 1].y + high, to = points[i].y;
		d += ` C${middle(points[i - 1])},${from + gap.y / 2} ${middle(points[i])},${to - gap.y / 2} ${middle(points[i])},${to}`;
		if (i < points.length - 1) d += ` L${middle(points[i])},${to + high}`;
	}
	return d;
}

// A line through these points, with its corners rounded.
function bent(points) {
	const towards = ([x, y], [u, v]) => {
		const part = Math.min(8 / Math.hypot(u - x, v - y), 0.5);
		return `${x + (u - x) * part},${y + (v - y) * part}`;
	};
	const corners = points.slice(1, -1).map((point, i) => `L${towards(point, points[i])} Q${point} ${towards(point, points[i + 2])}`);
	return `M${points[0]} ${corners.join(' ')} L${points.at(-1)}`;
}

// Lines of edges that go up, each in a track of its own outside all nodes, on the nearer side.  If there are nodes
// between its node and the track, a line passes through the gap below or above them.  An edge from a node to itself
// stays beside it.
function upwards(back, places) {
	const all = [...places.values()];
	const width = Math.max(...all.map((place) => place.x + place.width));
	const used = { '-1': 0, 1: 0 };
	const ends = back.map((edge) => ({ edge, from: places.get(edge.source), to: places.get(edge.target) })).sort((a, b) => a.from.y - a.to.y - b.from.y + b.to.y);
	const lines = ends.map(({ edge, from, to }) => {
		const right = from.x + from.width;
		if (edge.source === edge.target) return { edge, d: `M${right},${from.y + 12} C${right + 28},${from.y - 4} ${right + 28},${from.y + high + 4} ${right},${from.y + high - 12}` };
		const side = middle(from) + middle(to) < width ? -1 : 1, number = ++used[side];
		const x = (side < 0 ? 0 : width) + side * (gap.x / 2 + track * number), lane = 20 - 4 * (number % 4);
		const way = (place, edgeY, gapY) => (all.some((one) => one.y === place.y && one.name && (one.x - place.x) * side > 0)
			? [[middle(place) + 12 * side, edgeY], [middle(place) + 12 * side, gapY], [x, gapY]]
			: [[side < 0 ? place.x : place.x + place.width, place.y + high / 2], [x, place.y + high / 2]]);
		return { edge, d: bent([...way(from, from.y + high, from.y + high + lane), ...way(to, to.y, to.y - lane).reverse()]) };
	});
	const margin = (number) => gap.x + track * number;
	return { lines, left: -margin(used[-1]), width: margin(used[-1]) + width + margin(used[1]) };
}

function nodeOf(given, place, tools) {
	const words = [given.name, given.kind && `kind ${given.kind}`, tools.length && `tools ${tools.join(', ')}`].filter(Boolean).join('; ');
	const edge = given.id === 'START' || given.id === 'END';
	return svg('g', { role: 'group', tabindex: 0, 'aria-label': given.name, class: 'node' },
		svg('title', {}, words), svg('rect', { x: place.x, y: place.y, width: place.width, height: high, rx: edge ? 20 : 6 }),
		svg('text', { x: middle(place), y: place.y + (given.kind ? 18 : 25), 'text-anchor': 'middle' }, given.name),
		given.kind ? svg('text', { x: middle(place), y: place.y + 32, 'text-anchor': 'middle', class: 'kind' }, given.kind) : '');
}

let drawn = 0;

// {node, light(name)}: the drawing, and a function that shows which node runs; light() shows none.  tools maps a node's
// name to names of tools.
export function draw({ nodes, edges: given }, tools = {}) {
	const number = ++drawn;
	const edges = [...given, ...nodes.filter((node) => node.on_error).map((node) => ({ source: node.id, target: node.on_error, failing: true }))];
	const back = backEdges(nodes, edges);
	const { rows, lines, places } = spread(nodes, edges.filter((edge) => !back.has(edge)), layersOf(nodes, edges.filter((edge) => !back.has(edge))));
	arrange(rows);
	const { lines: upward, left, width } = upwards([...back], places);
	const height = rows.length * (high + gap.y);
	const groups = new Map(nodes.map((given) => [given.id, nodeOf(given, places.get(given.id), tools[given.id] || [])]));
	const words = `Nodes: ${nodes.map(({ name }) => name).join(', ')}. Edges: ${edges.map(({ source, target, map, join, failing }) =>
		`${source} to ${target}${failing ? ' if it fails' : ''}${map ? ` for each of ${map}` : ''}${join ? `, joined at ${join}` : ''}`).join('; ')}.`;
	const label = ({ edge }) => edge.map && svg('text', { class: 'kind', x: middle(places.get(edge.target)) + 6, y: places.get(edge.target).y - 8 }, `each of ${edge.map}`);
	const picture = svg('svg', { role: 'graphics-document', 'aria-label': 'Graph', 'aria-describedby': `graph-${number}`, class: 'graph',
		viewBox: `${left} 0 ${width} ${height}`, width, height },
	svg('desc', { id: `graph-${number}` }, words),
	svg('defs', {}, svg('marker', { id: `arrow-${number}`, viewBox: '0 0 8 8', refX: 7, refY: 4, markerWidth: 7, markerHeight: 7, orient: 'auto-start-reverse' },
		svg('path', { d: 'M0,0 L8,4 L0,8 z' }))),
	...[...lines.map((line) => ({ edge: line.edge, d: downwards(line, places) })), ...upward].map(({ edge, d }) =>
		svg('path', { class: `line${edge.failing ? ' failing' : ''}`, d, 'marker-end': `url(#arrow-${number})` })),
	...lines.map(label).filter(Boolean), ...groups.values());
	return {
		node: picture,
		light(name) {
			for (const [id, group] of groups) {
				const lit = id === name || String(name).startsWith(`${id}/`);
				group.classList.toggle('lit', lit);
				if (lit) group.setAttribute('aria-current', 'step');
				else group.removeAttribute('aria-current');
			}
		},
	};
}
