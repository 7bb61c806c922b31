// Opens the pages of the API reference in a browser and tries a request out.
//
//	node docs-browser.mjs PEERS CHROMIUM BASE DOCS REDOCS
//
// Prints a line of JSON for each page: what was seen, what was blocked, and what was fetched from elsewhere.
import { createRequire } from 'node:module';

const [peers, executablePath, base, docs, redocs] = process.argv.slice(2);
const require = createRequire(`${peers}/package.json`);
const { chromium } = require('playwright-core');
const timeout = 60000;

const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu'] });

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
	await page.waitForTimeout(500); // what is fetched late, such as a logo
	return seen;
}

try {
	console.log(JSON.stringify(await tryDocs()));
	console.log(JSON.stringify(await tryRedocs()));
} finally {
	await browser.close();
}
