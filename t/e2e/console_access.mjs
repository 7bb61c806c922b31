// SPDX-License-Identifier: ISC
// console_access.mjs PEERS CHROMIUM PAGE [live | TOKEN]: has axe-core judge every view of the console, on a narrow
// screen and a wide one, light and dark.
import { readFileSync } from 'node:fs';
import { visit } from './console_page.mjs';

const [peers, chromium, address, token] = process.argv.slice(2);
const { page, forgive, report, named, log, ask, walk, press, said, settled } = await visit(peers, chromium);
const axe = readFileSync(`${peers}/node_modules/axe-core/axe.min.js`, 'utf8');

// Judges what is shown now, in all four ways.
async function judge(name) {
	await page.evaluate(axe);
	for (const width of [360, 1280]) {
		for (const colorScheme of ['light', 'dark']) {
			await page.setViewportSize({ width, height: 760 });
			await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
			const found = await page.evaluate(async () => (await window.axe.run(document)).violations.map(({ id, nodes }) =>
				`${id}: ${nodes.map((node) => `${node.html.slice(0, 160)} ${node.failureSummary}`).join(' | ')}`));
			report(`${name}, ${width} px, ${colorScheme}: no violation`, found.length === 0, found);
		}
	}
}

async function chat() {
	await page.getByLabel('Message', { exact: true }).waitFor();
	await judge('a new conversation');
	await ask('# Head\n\nhello **world**, `code`, [a link](https://example.org/)\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n> said\n\n```\nmore\n```');
	await said('Agent', 'echo').waitFor();
	await settled();
	await ask('/add 2 3');
	await said('Agent', 'sum: 5').waitFor();
	await settled();
	for (const details of await log.locator('details').all()) await details.locator('summary').click();
	await page.locator('input[type=file]').setInputFiles({ name: 'note.txt', mimeType: 'text/plain', buffer: Buffer.from('of a file') });
	await named('button', 'Remove note.txt').waitFor();
	await judge('a conversation');
	await said('You', '/add').getByRole('button', { name: 'Edit' }).click();
	await judge('editing a message');
	await page.getByLabel('Edited message').press('Enter');
	await named('button', 'Previous branch').waitFor();
	await settled();
	await judge('branches');
	await ask('/ask Which colour?');
	await named('group', 'Question').waitFor();
	await settled();
	await judge('a question');
	await named('group', 'Question').getByLabel('Answer', { exact: true }).fill('red');
	await named('group', 'Question').getByRole('button', { name: 'Answer' }).click();
	await said('Agent', 'answer: red').waitFor();
	await settled();
	await ask('/remote pick {"n":2}');
	await named('group', 'Tool pick').waitFor();
	await settled();
	await judge('a tool that waits');
	await ask('/slow 24 5000');
	await said('Agent', 'tick 1').waitFor();
	await judge('a run that goes on');
}

async function graph() {
	await named('link', 'Graph').click();
	await page.locator('svg.graph [aria-label=agent][aria-current=step]').waitFor();
	for (const details of await page.locator('main > details').all()) await details.locator('summary').click();
	await judge('the graph');
	await page.goBack();
	await press('Stop');
	await settled();
}

async function threads() {
	await named('link', 'Threads').click();
	await named('table', 'Threads').getByRole('link').first().waitFor();
	await judge('threads');
	await named('table', 'Threads').getByRole('link').first().click();
	await page.getByRole('list', { name: 'History' }).waitFor();
	await press('Rename');
	await page.getByRole('list', { name: 'History' }).getByRole('button', { name: 'Compare' }).last().click();
	await page.getByRole('region', { name: 'Comparison' }).getByText('Compare with').waitFor();
	await judge('a thread');
	await press('Delete');
	await judge('a question before deleting');
	await named('button', 'Cancel').and(page.getByRole('dialog').getByRole('button')).click();
}

async function runs() {
	await named('link', 'Runs').click();
	await named('table', 'Runs').getByRole('link').first().waitFor();
	await judge('runs');
	await named('table', 'Runs').getByRole('row').filter({ hasText: 'completed' }).getByRole('link').first().click();
	await page.getByRole('list', { name: 'Chunks' }).getByRole('listitem').first().waitFor();
	await page.getByRole('list', { name: 'Chunks' }).locator('summary').first().click();
	await judge('a run');
}

async function others() {
	await named('link', 'Memory').click();
	await judge('no memories');
	await press('Add');
	await page.keyboard.type('Likes green tea');
	await press('Save');
	await page.getByRole('cell', { name: 'Likes green tea' }).waitFor();
	await press('Edit');
	await judge('memories');
	await named('link', 'Files').click();
	await judge('no files');
	await page.locator('input[type=file]').setInputFiles({ name: 'a.txt', mimeType: 'text/plain', buffer: Buffer.from('what is in it') });
	await page.getByRole('region', { name: 'File' }).getByText('what is in it').first().waitFor();
	await judge('a file');
	await named('link', 'Evaluations').click();
	await named('table', 'Runs').getByRole('link').first().waitFor();
	await judge('evaluations');
	await named('table', 'Runs').getByRole('link').first().click();
	await page.locator('main summary').first().click();
	await judge('an evaluation');
	await named('link', 'Service').click();
	await named('table', 'Service').waitFor();
	await judge('the service');
	await page.evaluate(() => { location.hash = '#/runs/none/none'; });
	await page.getByRole('alert').waitFor();
	await judge('an error');
	forgive(/^(answer: 404|console: .* 404 )/);
}

async function live() {
	await press('Start');
	await page.getByLabel('Text').fill('good day');
	await named('button', 'Send').and(page.locator(':enabled')).click();
	await named('log', 'Transcript').getByText('Agent: you said: good day').waitFor();
	await judge('a live agent');
	await press('End');
}

async function connect() {
	await page.getByRole('dialog', { name: 'Connect' }).waitFor();
	await judge('the question for a token');
	await page.getByLabel('Token').fill(token);
	await press('Connect');
	await page.getByLabel('Message', { exact: true }).waitFor();
	await judge('after connecting');
}

if (token === 'live') await walk(address, live);
else if (token) await walk(address, connect);
else await walk(address, chat, graph, threads, runs, others);
