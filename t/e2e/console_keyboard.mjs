// SPDX-License-Identifier: ISC
// console_keyboard.mjs PEERS CHROMIUM PAGE: uses the console without a mouse, and as somebody who wants no motion.
import { visit } from './console_page.mjs';

const [peers, chromium, address] = process.argv.slice(2);
const { page, report, comes, named, log, walk, said, settled } = await visit(peers, chromium);
const focused = () => page.evaluate(() => {
	const node = document.activeElement;
	const name = node.getAttribute('aria-label') || node.labels?.[0]?.textContent || node.textContent;
	if (node === document.body) return { name: '', seen: true };
	const seen = getComputedStyle(node).outlineStyle !== 'none' || getComputedStyle(node.querySelector('rect') || node).strokeWidth === '4px';
	return { name: name.trim(), seen };
});

// Goes to the element of this name by the Tab key alone, and checks that the focus is visible on the way.
async function tab(name, key = 'Tab') {
	for (let i = 0; i < 150; i++) {
		await page.keyboard.press(key);
		const now = await focused();
		if (!now.seen) report(`the focus on ${now.name} is seen`, false, now);
		if (now.name === name) return;
	}
	throw new Error(`${name} cannot be reached`);
}

async function type(name, text) {
	await tab(name);
	await page.keyboard.type(text);
}

async function press(name, key) {
	await tab(name, key);
	await page.keyboard.press('Enter');
}

async function begin() {
	await page.goto(`${address}#/files`);
	await page.reload();
	await page.getByText('Nothing was uploaded').waitFor();
	await page.evaluate(() => document.body.focus());
	await page.keyboard.press('Shift+Tab');
	await tab('To the content');
	await page.keyboard.press('Enter');
	report('the first stop leads to the content', await page.evaluate(() => document.activeElement.id === 'main'));
	await press('Chat', 'Shift+Tab');
	await page.getByLabel('Message', { exact: true }).waitFor();
	report('the field has the focus', (await focused()).name === 'Message', await focused());
}

async function chat() {
	await page.keyboard.type('first line');
	await page.keyboard.press('Shift+Enter');
	await page.keyboard.type('second');
	report('Shift and Enter break the line', await page.evaluate(() => document.activeElement.value === 'first line\nsecond'));
	await page.keyboard.press('Enter');
	await comes('Enter sends', said('Agent', 'echo: first line'));
	await settled();
	report('and the field keeps the focus', (await focused()).name === 'Message', await focused());
	await tab('Edit', 'Shift+Tab');
	await page.keyboard.press('Space');
	report('what is edited has the focus', (await focused()).name === 'Edited message', await focused());
	await page.keyboard.press('Escape');
	report('Escape leaves it, and the focus goes back', (await focused()).name === 'Edit', await focused());
	await page.keyboard.press('Enter');
	await page.keyboard.press('Control+A');
	await page.keyboard.type('/ask Which colour?');
	await page.keyboard.press('Enter');
	await named('group', 'Question').waitFor();
	await settled();
	await comes('an edit makes a branch', log.getByText('2 of 2'));
	await page.evaluate(() => document.querySelector('.log').focus());
	await type('Answer', 'green');
	await press('Answer');
	await comes('a question is answered', said('Agent', 'answer: green'));
	await settled();
	await page.evaluate(() => document.querySelector('.log').focus());
	await press('Previous branch');
	await comes('branches are gone through', said('Agent', 'echo: first line'));
}

async function graph() {
	await page.evaluate(() => document.querySelector('.skip').focus());
	await press('Graph');
	await page.locator('svg.graph').waitFor();
	await tab('agent');
	report('nodes are stops', await page.evaluate(() => document.activeElement.closest('svg') !== null));
}

async function threads() {
	await page.evaluate(() => document.querySelector('.skip').focus());
	await press('Threads');
	await named('table', 'Threads').waitFor();
	await type('Search', 'first line');
	await page.waitForFunction(() => document.querySelectorAll('table tbody tr').length === 1);
	await press('first line second');
	await page.getByRole('list', { name: 'History' }).waitFor();
	await type('Rename', '\n');
	await page.keyboard.type('By keys');
	await page.keyboard.press('Enter');
	await comes('a thread is renamed', named('heading', 'By keys'));
	await page.getByRole('list', { name: 'History' }).waitFor(); // wait until everything is there again
	report('and Rename has the focus again', (await focused()).name === 'Rename', await focused());
	await press('Delete');
	report('the careful answer has the focus', (await focused()).name === 'Cancel');
	await page.keyboard.press('Escape');
	report('Escape is no', (await page.getByRole('dialog').count()) === 0);
	report('and the focus is where it was', (await focused()).name === 'Delete', await focused());
	await press('Compare');
	await comes('checkpoints are compared', page.getByRole('region', { name: 'Comparison' }));
	await page.evaluate(() => document.querySelector('main').focus());
	await press('Delete');
	await tab('Delete');
	await page.keyboard.press('Enter');
	await comes('and deleted', named('table', 'Threads'));
}

async function motion() {
	const moving = () => page.evaluate(() => {
		const rect = document.createElementNS('http://www.w3.org/2000/svg', 'rect');
		const node = document.querySelector('.graph .node');
		node.classList.add('lit');
		node.append(rect);
		const time = getComputedStyle(rect).transitionDuration;
		rect.remove();
		node.classList.remove('lit');
		return time !== '0s' || document.getAnimations().length > 0;
	});
	await named('link', 'Graph').press('Enter');
	await page.locator('svg.graph').waitFor();
	report('nothing moves for who wants no motion', !(await moving()));
	await page.emulateMedia({ reducedMotion: 'no-preference' });
	report('for others a little does', await moving());
}

await walk(address, begin, chat, graph, threads, motion);
