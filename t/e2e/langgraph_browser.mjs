// SPDX-License-Identifier: ISC
// langgraph_browser.mjs PEERS URL WORK CHROMIUM: uses LangGraph's hook for React in Chromium, in a page of another
// origin than the service; prints "ok NAME" or "failed NAME" for each fact.
import { readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { report } from './report.mjs';

const [peers, url, work, executablePath] = process.argv.slice(2);
const require = createRequire(`${peers}/package.json`);
const { build } = require('esbuild');
const { chromium } = require('playwright-core');

await build({
	entryPoints: [join(dirname(fileURLToPath(import.meta.url)), 'langgraph_page.jsx')], outfile: join(work, 'page.js'), bundle: true,
	jsx: 'automatic', logLevel: 'error', nodePaths: [`${peers}/node_modules`], define: { 'process.env.NODE_ENV': '"production"' },
});
const server = createServer((request, response) => {
	const script = request.url.startsWith('/page.js');
	response.writeHead(200, { 'Content-Type': script ? 'text/javascript' : 'text/html' });
	response.end(script ? readFileSync(join(work, 'page.js')) : '<!doctype html><title>page</title><div id="root"></div><script src="page.js"></script>');
});
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
const origin = `http://127.0.0.1:${server.address().port}`;
const profile = join(work, 'profile');
const browser = await chromium.launchPersistentContext(profile, {
	timeout: 180000,
	executablePath, headless: true, args: ['--no-sandbox', '--headless=new', '--disable-gpu', '--disable-dev-shm-usage'],
});
const complaints = [];
const followed = [];

try {
	await chat();
} catch (error) {
	report('the browser test comes to its end', false, `${error.stack}\n${complaints.join('\n')}`);
} finally {
	await browser.close();
	server.close();
	rmSync(profile, { recursive: true, force: true });
}

async function chat() {
	const page = await browser.newPage();
	page.setDefaultTimeout(180000);
	page.on('pageerror', (error) => complaints.push(String(error)));
	page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()));
	page.on('request', (request) => /\/runs\/[^/]+\/stream/.test(request.url()) && followed.push(request.headers()['last-event-id']));
	const texts = () => page.locator('li b').allInnerTexts();
	const shows = async (text, name, scope = 'li b') => {
		const found = await page.locator(scope, { hasText: text }).last().waitFor().then(() => '', String);
		report(name, !found, `${found}\n${await page.locator('body').innerText()}\n${complaints.join('\n')}`);
	};
	const idle = () => page.locator('#state', { hasText: 'idle' }).waitFor();
	const say = async (text) => {
		await page.getByLabel('Message').fill(text);
		await page.getByRole('button', { name: 'Send' }).click();
	};
	await page.goto(`${origin}/?url=${encodeURIComponent(url)}`);
	report('the page is of another origin', new URL(url).origin !== origin, origin);

	await say('hello there');
	await shows('echo: hello there', 'a question is answered');
	await idle();
	report('and both are there once', JSON.stringify(await texts()) === '["hello there","echo: hello there"]', await texts());

	await say('/ask May I?');
	await shows('May I?', 'a pause asks', '.question');
	await page.getByLabel('Answer').fill('yes');
	await page.getByRole('button', { name: 'Answer' }).click();
	await shows('answer: yes', 'and its answer goes on');
	await idle();
	report('the question is gone', await page.locator('.question').count() === 0, 'it is still there');

	// a branch: another text takes the place of the first one
	await page.getByLabel('Edit 0').fill('another');
	await page.getByRole('button', { name: 'Save 0' }).click();
	await shows('echo: another', 'a message is said anew');
	await idle();
	report('on a branch of its own', JSON.stringify(await texts()) === '["another","echo: another"]', await texts());
	await page.getByRole('button', { name: 'Previous branch' }).first().click();
	await shows('answer: yes', 'the one before is still there');
	await page.getByRole('button', { name: 'Next branch' }).first().click();
	await shows('echo: another', 'and so is the new one');
	await page.getByRole('button', { name: 'Again 1' }).click();
	await page.locator('i', { hasText: '2 of 2' }).nth(1).waitFor().then(() => report('another answer is a branch, too', true),
		async (error) => report('another answer is a branch, too', false, `${error}\n${await page.locator('body').innerText()}`));
	await idle();

	// the page is reloaded while a run goes on
	await say('/slow 8 500');
	await shows('tick 1', 'an answer comes in pieces');
	report('nobody had to follow a run yet', followed.length === 0, followed);
	await page.reload();
	await shows('tick 2', 'a page that is loaded again has what was said');
	await shows('done', 'and what comes');
	await idle();
	report('by the stream of the run, from its beginning', JSON.stringify(followed) === '["-1"]', followed);
	const ticks = (await texts()).filter((text) => text.startsWith('tick'));
	report('each once', new Set(ticks).size === ticks.length && ticks.length > 4, ticks);

	await say('/slow 20 500');
	await page.locator('li b', { hasText: '/slow 20' }).waitFor();
	await shows('tick 1', 'another one comes');
	await page.getByRole('button', { name: 'Stop' }).click();
	await idle();
	await say('and on');
	await shows('echo: and on', 'and the thread goes on when it is stopped');
	await idle();
	report('which it was', (await texts()).filter((text) => text === 'done').length === 1, await texts());
	await say('/error it broke');
	await shows('it broke', 'an error is told', '[role=alert]');
	const others = complaints.filter((text) => !text.includes('it broke'));
	report('nothing else was complained of', others.length === 0, others.join('\n'));
	await page.close();
}
