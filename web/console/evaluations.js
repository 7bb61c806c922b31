/* SPDX-License-Identifier: ISC */
// Reports of evaluations: how the pass rate went, and one run with its cases beside the run before.
import { get, path } from './api.js';
import { link, make, more, table } from './dom.js';
import { bars } from './plot.js';

const caseOf = (one) => more(`${one.status === 'pass' ? '✓' : '✗'} ${one.name}: ${one.score}`, () => [
	make('dl', [['Asked', one.input], ['Expected', one.expected], ['Answered', one.actual], ['Took', one.lat], ['Cost', one.cost]]
		.flatMap(([key, value]) => [make('dt', key), make('dd.plain', value)])),
	...(one.rubric || []).map((row) => make('p', `${row.key}: ${row.value}`)),
	...(one.conversation || []).map((line) => make('p', make('b', line.role), ` ${line.text}`))]);

async function showOne(main, id, signal) {
	const run = await get(`v1/evals/runs/${path(id)}`, signal);
	const { regression } = run;
	main.replaceChildren(make('p', link('All runs', '#/evaluations')), make('h2', run.title), make('p', run.sub),
		make('dl', run.stats.flatMap(({ label, value }) => [make('dt', label), make('dd', value)])),
		...(regression ? [make('h3', `${regression.note.prev} → ${regression.note.current}`),
			make('dl', regression.summary.flatMap(({ label, value }) => [make('dt', label), make('dd', value)])),
			table('Against the run before', ['Case', 'Score', 'Outcome'], regression.rows.map((row) => [row.name, row.delta, row.flip]), 'No case is in both runs.')] : []),
		make('h3', 'Cases'), ...run.cases.map(caseOf));
}

export async function show(main, [id], { signal }) {
	if (id) return showOne(main, id, signal);
	const { runs } = await get('v1/evals/runs', signal);
	const points = [...runs].reverse().map((run) => ({ label: `${run.name} ${run.run}`, value: run.rate, tone: run.status === 'pass' ? '' : 'bad' }));
	main.replaceChildren(make('h2', 'Evaluations'), runs.length ? bars('Pass rate', points, (rate) => `${rate} %`, 100) : '',
		table('Runs', ['Set', 'Run', 'Pass rate', 'Cases', 'When'], runs.map((run) => [link(run.name || run.id, `#/evaluations/${path(run.id)}`), run.run, `${run.rate} %`, String(run.cases), run.ago]),
			'There are no reports. Whoever evaluates puts them into the directory eval_reports of the service.'));
	return undefined;
}
