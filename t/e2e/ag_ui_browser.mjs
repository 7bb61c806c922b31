// SPDX-License-Identifier: ISC
// ag_ui_browser.mjs PEERS URL WORK CHROMIUM EXAMPLE: runs the conversations and the example's chat in Chromium, in a
// page of another origin than the service; prints "ok NAME" or "failed NAME" for each fact.
import { readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { dirname, extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { report } from './report.mjs';

const [peers, url, work, executablePath, example] = process.argv.slice(2);
const require = createRequire(`${peers}/package.json`);
const { build } = require('esbuild');
const { chromium } = require('playwright-core');
const here = dirname(fileURLToPath(import.meta.url));

let failed = 0;
function tell(name, good, found) {
	failed += !good;
	report(name, good, found);
}

const bundle = (entry, out) => build({
	entryPoints: [entry], outfile: join(work, out), bundle: true, jsx: 'automatic', logLevel: 'error',
	nodePaths: [`${peers}/node_modules`], define: { 'process.env.NODE_ENV': '"production"' },
});
await bundle(join(here, 'ag_ui_page.mjs'), 'page.js');
await bundle(join(example, 'main.jsx'), 'chat.js');

// The pages' own server: another port is another origin.
const types = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css' };
const files = {
	'/': () => '<!doctype html><title>page</title><script src="page.js"></script>',
	'/page.js': () => readFileSync(join(work, 'page.js')),
	'/chat.html': () => readFileSync(join(example, 'index.html')),
	'/chat.css': () => readFileSync(join(example, 'chat.css')),
	'/dist/chat.js': () => readFileSync(join(work, 'chat.js')),
};
const server = createServer((request, response) => {
	const path = request.url.replace(/\?.*/, '');
	const file = files[path];
	response.writeHead(file ? 200 : 404, { 'Content-Type': types[extname(path)] ?? 'text/html' });
	response.end(file?.() ?? '');
});
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
const origin = `http://127.0.0.1:${server.address().port}`;

const profile = join(work, 'profile');
const browser = await chromium.launchPersistentContext(profile, {
	timeout: 180000,
	executablePath, headless: true, args: ['--no-sandbox', '--headless=new', '--disable-gpu', '--disable-dev-shm-usage'],
});

try {
	const page = await browser.newPage();
	await page.goto(`${origin}/`);
	tell('the page is of another origin', new URL(url).origin !== origin, origin);
	for (const { name, good, found } of await page.evaluate((options) => globalThis.talk(options), { url }))
		tell(`in the browser: ${name}`, good, found);
	await page.close();
	await chat();
} catch (error) {
	tell('the browser test comes to its end', false, error.stack);
} finally {
	await browser.close();
	server.close();
	rmSync(profile, { recursive: true, force: true });
}
process.exitCode = failed ? 1 : 0;

// Uses the example's chat as a person would.
async function chat() {
	const page = await browser.newPage();
	page.setDefaultTimeout(180000);
	const complaints = [];
	page.on('pageerror', (error) => complaints.push(String(error)));
	page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()));
	await page.goto(`${origin}/chat.html?url=${encodeURIComponent(url)}`);

	const say = async (text) => {
		await page.getByPlaceholder('Say something').fill(text);
		await page.getByRole('button', { name: 'Send' }).click();
	};
	const shows = async (text, name) => {
		const found = await page.locator('.assistant', { hasText: text }).last().waitFor().then(() => '', String);
		tell(`in the chat: ${name}`, !found, `${found}\n${await page.locator('body').innerText()}\n${complaints.join('\n')}`);
	};

	await say('hello there');
	await shows('echo: hello there', 'a question is answered');

	// The second tick is a second away when the first is there.
	await say('/slow 3 700');
	await shows('tick 1', 'an answer is streamed');
	tell('in the chat: while it goes on', !(await page.locator('body').innerText()).includes('done'), 'it was over');
	await shows('done', 'to its end');

	await say('/add 2 3');
	await shows('sum: 5', 'a tool of the server runs');
	tell('in the chat: its call is shown', await page.locator('.tool', { hasText: 'add(' }).count() === 1,
		await page.locator('body').innerText());
	await say('/think about it');
	await shows('thought: about it', 'reasoning is shown');

	await say('/ask May I?');
	await page.locator('.interrupt', { hasText: 'May I?' }).waitFor();
	await page.getByRole('button', { name: 'Approve' }).click();
	await shows('answer: yes', 'an interrupt is approved');
	await say('/ask Again?');
	await page.getByRole('button', { name: 'Cancel' }).click();
	await shows('cancelled', 'or cancelled');
	tell('in the chat: the question is gone', await page.locator('.interrupt').count() === 0, 'it is still there');

	await say('/remote page_title {"title":"Set by the agent"}');
	await shows('remote: ', 'a tool of the page runs');
	tell('in the chat: in the page itself', await page.title() === 'Set by the agent', await page.title());
	await say('and on');
	await shows('echo: and on', 'and the conversation goes on');

	await say('/error it broke');
	await page.locator('.failure', { hasText: 'it broke' }).waitFor();
	tell('in the chat: an error is told', true);
	await page.close();
}
