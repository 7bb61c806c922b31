// SPDX-License-Identifier: ISC
// What the tests of the console share: they open it in a browser and print "ok NAME" or "failed NAME" for each fact.
// Errors in the page, requests to others and refused ones count as failures.
import { writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';

const timeout = 180000;

// A microphone that hears nothing, in the folder of the test: the browser's own one beeps, which an agent hears.
function silence() {
	const wav = Buffer.alloc(44 + 96000);
	wav.write('RIFF', 0);
	wav.writeUInt32LE(wav.length - 8, 4);
	wav.write('WAVEfmt ', 8);
	[[16, 4], [1, 2], [1, 2], [48000, 4], [96000, 4], [2, 2], [16, 2]].reduce((at, [value, size]) => wav.writeUIntLE(value, at, size), 16);
	wav.write('data', 36);
	wav.writeUInt32LE(wav.length - 44, 40);
	writeFileSync('silence.wav', wav);
	return `${process.cwd()}/silence.wav`;
}

// Opens the page, and returns functions to use it; prefix is put before each fact.
export async function visit(peers, executablePath, { width = 1280, prefix = '', ...given } = {}) {
	const { chromium } = createRequire(`${peers}/package.json`)('playwright-core');
	const browser = await chromium.launch({ executablePath, timeout, args: ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu',
		'--use-fake-device-for-media-stream', `--use-file-for-fake-audio-capture=${silence()}`, '--use-fake-ui-for-media-stream',
		'--autoplay-policy=no-user-gesture-required'] });
	const context = await browser.newContext({ viewport: { width, height: 760 }, reducedMotion: 'reduce', ...given });
	context.setDefaultTimeout(timeout); // of other tabs, too
	const page = await context.newPage();

	const complaints = [];
	await page.exposeFunction('tellBlocked', (what) => complaints.push(`blocked: ${what}`));
	await page.addInitScript(() => document.addEventListener('securitypolicyviolation', (e) => window.tellBlocked(`${e.violatedDirective} ${e.blockedURI}`)));
	page.on('console', (message) => complaints.push(`console: ${message.text()}`));
	page.on('pageerror', (error) => complaints.push(`error: ${error}`));
	page.on('dialog', (dialog) => { complaints.push(`dialog: ${dialog.message()}`); dialog.dismiss(); });
	page.on('popup', (other) => complaints.push(`popup: ${other.url()}`));
	page.on('response', (answer) => { if (answer.status() >= 400) complaints.push(`answer: ${answer.status()} ${answer.url()}`); });
	page.on('request', (request) => {
		if (!request.url().startsWith(`${new URL(page.address).origin}/`) && !/^(blob|data):/.test(request.url())) complaints.push(`elsewhere: ${request.url()}`);
	});

	function report(name, good, found) {
		console.log(`${good ? 'ok' : 'failed'} ${prefix}${name}`);
		if (!good) console.log(`# ${JSON.stringify(found)}`);
	}

	// Reports whether it appears, and goes on either way.
	async function comes(name, locator) {
		try {
			await locator.waitFor();
			report(name, true);
		} catch {
			report(name, false, (await page.locator('body').innerText()).slice(-600));
		}
	}

	async function fits(name) {
		const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
		report(`${name} fits`, wide <= 0, wide);
	}

	const named = (role, name) => page.getByRole(role, { name, exact: true });
	const log = named('log', 'Conversation');

	async function ask(text) {
		await page.getByLabel('Message', { exact: true }).fill(text);
		await page.getByLabel('Message', { exact: true }).press('Enter');
	}

	// Goes through the steps, and reports at the end whether the page had anything to complain of.
	async function walk(address, ...steps) {
		page.address = address;
		try {
			await page.goto(address);
			for (const step of steps) await step();
		} catch (error) {
			report('everything can be done', false, String(error));
		}
		report('the page complains of nothing', complaints.length === 0, complaints);
		await browser.close();
	}

	// Forgives complaints that the test itself caused.
	const forgive = (pattern) => complaints.splice(0, complaints.length, ...complaints.filter((one) => !pattern.test(one)));

	return { page, forgive, report, comes, fits, named, log, ask, walk,
		press: (name) => named('button', name).first().click(),
		said: (role, text) => log.getByRole('article', { name: role }).filter({ hasText: text }),
		settled: () => page.waitForFunction(() => document.querySelector('[role=log]')?.getAttribute('aria-busy') === 'false') };
}
