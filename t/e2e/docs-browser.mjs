// SPDX-License-Identifier: ISC
// Opens the pages of the API reference in a browser and tries a request out.
//
//	node docs-browser.mjs PEERS CHROMIUM BASE DOCS REDOCS
//	node docs-browser.mjs PEERS CHROMIUM BASE --own PAGE TOKEN
//
// Prints a line of JSON for each page: what was seen, what was blocked, and what was fetched from elsewhere.  With
// --own the pages are the one at / and PAGE, our own page, of a service that TOKEN lets in.
import { createRequire } from 'node:module';

const [peers, executablePath, base, docs, redocs, token] = process.argv.slice(2);
const require = createRequire(`${peers}/package.json`);
const { chromium } = require('playwright-core');
const timeout = 180000;

const browser = await chromium.launch({ executablePath, timeout, args: ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu'] });

async function open(path) {
	const page = await browser.newPage();
	const seen = { path, blocked: [], elsewhere: [], failed: [], errors: [] };
	await page.exposeFunction('tellBlocked', (what) => seen.blocked.push(what));
	await page.addInitScript(() =>
		document.addEventListener('securitypolicyviolation', (e) =>
			window.tellBlocked(`${e.violatedDirective} ${e.blockedURI} ${e.sourceFile}:${e.lineNumber}:${e.columnNumber}`)));
	page.on('request', (request) => {
		const url = request.url();
		if (!url.startsWith(`${base}/`) && !/^(data|blob):/.test(url)) seen.elsewhere.push(url);
	});
	page.on('response', (response) => {
		if (response.status() >= 400) seen.failed.push(`${response.status()} ${response.url()}`);
	});
	page.on('pageerror', (error) => seen.errors.push(String(error)));
	await page.goto(`${base}${path}`);
	return [page, seen];
}

async function tryDocs() {
	const [page, seen] = await open(docs);
	await page.waitForSelector('.swagger-ui .opblock', { timeout });
	seen.title = await page.textContent('.swagger-ui .info .title');
	seen.operations = await page.locator('.swagger-ui .opblock').count();
	const operation = page.locator('#operations-graph-invokeGraph');
	await operation.locator('.opblock-summary-control').click();
	await operation.locator('.try-out__btn').click();
	await operation.locator('textarea.body-param__text').fill('{"messages":[{"role":"user","content":"/add 2 3"}]}');
	await operation.locator('button.execute').click();
	const answer = operation.locator('.live-responses-table .response');
	await answer.waitFor({ timeout });
	seen.status = (await answer.locator('.response-col_status').first().textContent()).trim().slice(0, 3);
	seen.answer = (await answer.textContent()).includes('sum: 5');
	return seen;
}

async function tryRedocs() {
	const [page, seen] = await open(redocs);
	await page.waitForSelector('[data-section-id]', { timeout });
	seen.operations = await page.locator('[id*="/operation/"], [data-section-id*="operation/"]').count();
	seen.title = await page.locator('h1').first().textContent();
	await page.waitForTimeout(500); // for what is fetched late, such as a logo
	return seen;
}

async function tryHome() {
	const [page, seen] = await open('/');
	seen.title = await page.title();
	seen.text = await page.textContent('body');
	seen.links = await page.locator('a').evaluateAll((links) => links.map((link) => link.href));
	await page.getByRole('link', { name: /^API reference/ }).first().click();
	await page.waitForSelector('.operation', { timeout });
	seen.leads = await page.title();
	return seen;
}

async function tryOwn(path, token) {
	const [page, seen] = await open(path);
	await page.waitForSelector('.operation', { timeout });
	seen.title = await page.title();
	seen.heading = await page.textContent('h1');
	seen.operations = await page.locator('.operation').count();

	// Fills in the values, sends the request, and returns the answer once it has the text.
	async function attempt(name, values, text) {
		const operation = page.locator(`#${name}`);
		if (!(await operation.getAttribute('open'))) await operation.evaluate((details) => { details.open = true; });
		for (const [field, value] of Object.entries(values)) await operation.locator(`[name="${field}"]`)[value.name ? 'setInputFiles' : 'fill'](value);
		await operation.locator('button').click();
		const output = operation.locator('output');
		await output.filter({ hasText: text }).waitFor({ timeout }).catch(async (error) => {
			throw new Error(`${name}: ${await output.textContent()}`, { cause: error });
		});
		return output.textContent();
	}

	await page.locator('#invokeGraph > summary').click();
	await page.locator('#invokeGraph').getByText('fields').first().click();
	seen.fields = await page.textContent('#invokeGraph .fields');
	const refused = await attempt('invokeGraph', {}, 'X-Request-ID');
	seen.refused = [refused.slice(0, 3), seen.failed.splice(0).length];
	await page.fill('#token', token);
	const run = { messages: [{ role: 'user', content: '/add 2 3' }], config: { thread_id: 'a/b c' } };
	seen.run = (await attempt('invokeGraph', { body: JSON.stringify(run) }, 'sum: 5')).slice(0, 3);
	seen.messages = (await attempt('listMessages', { 'in:thread_id': 'a/b c', 'in:limit': '1' }, 'message_id')).match(/"message_id": /g).length;
	seen.stream = (await attempt('streamGraph', {}, 'sum: 5')).includes('"event"');
	await attempt('uploadFile', { 'part:file': { name: 'a.txt', mimeType: 'text/plain', buffer: Buffer.from('of a file') } }, 'file_id');
	await attempt('graphSocket', {}, 'sum: 5');
	// A number longer than JavaScript can hold exactly, and texts that could be taken for HTML or for JSON.
	const odd = '{"content": "<img src=x>", "metadata": {"n": 9007199254740993, "none": [], "s": "a, {\\"b\\": 1}"}}';
	const stored = await attempt('addMemory', { body: odd }, 'memory_id');
	const id = stored.match(/"memory_id": "([^"]+)"/)[1];
	seen.memory = await attempt('getMemory', { 'in:memory_id': id }, 'metadata');
	seen.images = await page.locator('img').count();

	await page.fill('[name="search"]', 'uploadfile');
	seen.found = await page.locator('.operation:visible').count();
	await page.fill('[name="search"]', '');
	await page.setViewportSize({ width: 360, height: 640 });
	seen.overflow = await page.evaluate(() => document.documentElement.scrollWidth > 360);

	// A link to an operation opens it; the token is still there.
	await page.goto(`${base}${path}#getGraph`);
	await page.reload();
	await page.locator('#getGraph[open] button').click();
	await page.locator('#getGraph output').filter({ hasText: 'nodes' }).waitFor({ timeout });
	return seen;
}

try {
	if (docs === '--own') {
		console.log(JSON.stringify(await tryHome()));
		console.log(JSON.stringify(await tryOwn(redocs, token)));
	} else {
		console.log(JSON.stringify(await tryDocs()));
		console.log(JSON.stringify(await tryRedocs()));
	}
} finally {
	await browser.close();
}
