// SPDX-License-Identifier: ISC
// Talks to a live agent through the page in examples/, with a microphone that plays a file.
//
//	node live-browser.mjs PEERS CHROMIUM PAGE SOCKET WAV
//
// Prints what was seen as a line of JSON.  The file is played again and again.
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

const timeout = 180000;
const [peers, executablePath, file, socket, wav] = process.argv.slice(2);
const { chromium } = createRequire(`${peers}/package.json`)('playwright-core');

const browser = await chromium.launch({
	executablePath, timeout,
	args: ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu', '--use-fake-device-for-media-stream',
		'--use-fake-ui-for-media-stream', `--use-file-for-fake-audio-capture=${wav}`,
		'--autoplay-policy=no-user-gesture-required'],
});
const seen = { errors: [] };
let page;

// The line of the log that matches, as soon as there is one.
async function line(page, pattern) {
	const item = page.locator('#log li', { hasText: pattern }).last();
	await item.waitFor({ timeout });
	return item.textContent();
}

async function say(page, text) {
	await page.fill('#text', text);
	await page.press('#text', 'Enter');
}

try {
	page = await browser.newPage();
	page.on('pageerror', (error) => seen.errors.push(String(error)));
	await page.goto(`${pathToFileURL(file)}?url=${encodeURIComponent(socket)}`);
	await page.click('#button');
	await page.waitForFunction(() => document.querySelector('#state').textContent === 'listening', null, { timeout });
	// What reaches the loudspeaker, from now on.
	await page.evaluate(() => {
		const analyser = output.context.createAnalyser();
		const samples = new Float32Array(analyser.fftSize);
		output.connect(analyser);
		window.loudest = 0;
		setInterval(() => {
			analyser.getFloatTimeDomainData(samples);
			window.loudest = Math.max(window.loudest, ...samples);
		}, 20);
	});
	seen.heard = await line(page, /^You: heard/);
	seen.answered = await line(page, /^Agent: heard/);
	await page.waitForFunction(() => window.loudest > 0.01, null, { timeout });
	seen.played = true;
	await say(page, '/add 2 3');
	seen.sum = await line(page, /^Agent: sum: 5/);
	seen.sums = await page.locator('#log li', { hasText: 'sum' }).allTextContents();
	await say(page, '/long');
	seen.interrupted = await line(page, /^interrupted/);
	await page.click('#button');
	seen.closed = await line(page, /^closed/);
	seen.state = await page.textContent('#state');
} catch (error) {
	const log = await page?.locator('#log li').allTextContents();
	seen.errors.push(`${error}; the page says: ${log}`);
} finally {
	await browser.close();
}
console.log(JSON.stringify(seen));
