/* SPDX-License-Identifier: ISC */
// Bars, and the spans of a run one below the other, as SVG.
import { lasted, make } from './dom.js';
import { svg } from './drawing.js';

// points: {label, value, tone}, in order; the highest fills the height.  show puts a value into words.
export function bars(name, points, show, top = Math.max(...points.map(({ value }) => value), 0)) {
	const wide = 600, high = 120, step = wide / Math.max(points.length, 12);
	const words = points.length ? `${points.length} values, the latest ${show(points.at(-1).value)}, the highest ${show(Math.max(...points.map(({ value }) => value)))}` : 'no values';
	return make('figure', make('figcaption', `${name}: up to ${show(top)}`), svg('svg', { role: 'img', 'aria-label': name, class: 'plot', viewBox: `0 0 ${wide} ${high}` },
		svg('desc', {}, words), svg('path', { class: 'line', d: `M0,${high - 1} H${wide}` }),
		...points.map(({ label, value, tone = '' }, i) => {
			const tall = top ? Math.max(1, value / top * (high - 4)) : 1;
			return svg('rect', { class: `bar ${tone}`, x: i * step + 1, y: high - 1 - tall, width: Math.max(1, step - 2), height: tall }, svg('title', {}, `${label}: ${show(value)}`));
		})));
}

// outcomes says what became of the run and its nodes, by the names of their spans.
export function waterfall({ spans, duration_ms: total }, outcomes) {
	const wide = 640, left = 190, row = 22;
	const scale = (wide - left - 120) / Math.max(total, 1);
	const words = (span) => [lasted(span.duration_ms), span.input_tokens !== null && `${span.input_tokens} tokens in, ${span.output_tokens} out`, outcomes.get(span.name)].filter(Boolean).join(', ');
	return svg('svg', { role: 'img', 'aria-label': 'Waterfall', class: 'plot', viewBox: `0 0 ${wide} ${spans.length * row + 8}` },
		svg('desc', {}, spans.map((span) => `${span.name} from ${lasted(span.start_ms)} for ${words(span)}`).join('; ')),
		...spans.flatMap((span, i) => {
			const x = left + span.start_ms * scale, width = Math.max(2, span.duration_ms * scale), y = i * row + 4;
			const outcome = outcomes.get(span.name), told = outcome && outcome !== 'ok' ? `, ${outcome}` : '';
			return [svg('text', { x: span.parent ? (span.kind === 'node' ? 12 : 24) : 0, y: y + 13 }, span.name.length > 24 ? `${span.name.slice(0, 23)}…` : span.name),
				svg('rect', { class: `bar ${outcome === 'failed' ? 'bad' : span.kind}`, x, y, width, height: row - 6, rx: 2 }, svg('title', {}, `${span.name}: ${words(span)}`)),
				svg('text', { class: 'kind', x: x + width + 4, y: y + 13 }, `${lasted(span.duration_ms)}${told}`)];
		}));
}
