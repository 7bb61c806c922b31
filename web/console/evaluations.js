/* SPDX-License-Identifier: ISC */
// Reports of evaluations: pass rates and scores over time, and a run with its cases beside the run before.
import { get, path } from './api.js';
import { facts, link, make, more, table } from './dom.js';
import { bars } from './plot.js';

const mostScores = 20; // reports read for the plot of scores

function sideOf(name, one) {
	if (!one) return make('section', { 'aria-label': name }, make('h4', name), make('p.empty', 'The case is not in it.'));
	return make('section', { 'aria-label': name }, make('h4', `${name}: ${one.status}, ${one.score}`),
		facts([['Asked', one.input], ['Expected', one.expected], ['Answered', one.actual], ['Took', one.lat], ['Cost', one.cost]]),
		...(one.rubric || []).map((row) => make('p', `${row.key}: ${row.value}`)),
		...(one.conversation || []).map((line) => make('p', make('b', line.role), ` ${line.text}`)));
}

// A case, with its result in the run before if there was one.
function caseOf(one, before) {
	const old = before?.cases.find(({ id }) => id === one.id);
	return more(`${one.status === 'pass' ? '✓' : '✗'} ${one.name}: ${one.score}`,
		() => (before ? make('div.columns', sideOf('Before', old), sideOf('Now', one)) : sideOf('Now', one)));
}

async function showOne(main, id, signal) {
	const [run, { runs }] = await Promise.all([get(`v1/evals/runs/${path(id)}`, signal), get('v1/evals/runs', signal)]);
	const { regression } = run, here = runs.find((one) => one.id === id);
	// another set may have the same name
	const earlier = regression && runs.find((one) => one.name === here?.name && regression.note.prev === `run ${one.run} (${one.rate.toFixed(1)}%)`);
	const before = earlier && await get(`v1/evals/runs/${path(earlier.id)}`, signal);
	main.replaceChildren(make('p', link('All runs', '#/evaluations')), make('h2', run.title), make('p', run.sub),
		facts(run.stats.map(({ label, value }) => [label, value])),
		...(regression ? [make('h3', `${regression.note.prev} → ${regression.note.current}`), facts(regression.summary.map(({ label, value }) => [label, value])),
			table('Against the run before', ['Case', 'Score', 'Outcome'], regression.rows.map((row) => [row.name, row.delta, row.flip]), 'No case is in both runs.')] : []),
		make('h3', 'Cases'), ...run.cases.map((one) => caseOf(one, before)));
}

export async function show(main, [id], { signal }) {
	if (id) return showOne(main, id, signal);
	const { runs } = await get('v1/evals/runs', signal);
	const latest = await Promise.all(runs.slice(0, mostScores).map((run) => get(`v1/evals/runs/${path(run.id)}`, signal)));
	const point = (run, value) => ({ label: `${run.name} ${run.run}`, value, tone: run.status === 'pass' ? '' : 'bad' });
	const scoreOf = ({ stats }) => Number.parseFloat(stats.find(({ label }) => label === 'avg score')?.value) || 0;
	main.replaceChildren(make('h2', 'Evaluations'),
		runs.length ? make('div.columns', bars('Pass rate', runs.map((run) => point(run, run.rate)).reverse(), (rate) => `${rate} %`, 100),
			bars('Score', latest.map((one, i) => point(runs[i], scoreOf(one))).reverse(), String, 1)) : '',
		table('Runs', ['Set', 'Run', 'Pass rate', 'Cases', 'When'], runs.map((run) => [link(run.name || run.id, `#/evaluations/${path(run.id)}`), run.run, `${run.rate} %`, String(run.cases), run.ago]),
			'There are no reports. Whoever evaluates puts them into the directory eval_reports of the service.'));
	return undefined;
}
