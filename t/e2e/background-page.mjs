// SPDX-License-Identifier: ISC
// background-page.mjs PEERS CHROMIUM PAGE BASE WORK TOKEN: uses the page as a person would, who reloads it in the
// middle of a run; prints "ok NAME" or "failed NAME" for each fact.
import { rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

const [peers, executablePath, file, base, work, token] = process.argv.slice(2);
const { chromium } = createRequire(`${peers}/package.json`)('playwright-core');
const timeout = 180000;
const how = token ? 'with a token' : 'without a token';

const profile = join(work, 'profile');
const browser = await chromium.launchPersistentContext(profile, {
	timeout,
	executablePath, headless: true, args: ['--no-sandbox', '--headless=new', '--disable-gpu', '--disable-dev-shm-usage'],
});
const page = await browser.newPage();
page.setDefaultTimeout(timeout);
const complaints = [];
page.on('pageerror', (error) => complaints.push(String(error)));

function report(name, good, found) {
	console.log(`${good ? 'ok' : 'failed'} ${how}: ${name}`);
	if (!good)
		console.log(`# ${JSON.stringify(found)}`);
}

const state = page.getByRole('status');
const items = () => page.getByRole('list', { name: 'Chunks' }).getByRole('listitem').allTextContents();
const item = (text) => page.getByRole('listitem').filter({ hasText: new RegExp(`^${text}$`) }).waitFor();
const over = () => page.waitForFunction(() => document.querySelector('[role=status]').textContent === 'over', null, { timeout });

async function begin(message) {
	await page.getByLabel('Message').fill(message);
	await page.getByRole('button', { name: 'Start' }).click();
}

const ticks = (count) => [...Array(count).keys()].map((n) => `tick ${n + 1}`).concat('done');

await page.goto(`file://${file}`);
await page.getByLabel('Address').fill(base);
await page.getByLabel('Token').fill(token);

await begin('/slow 20 300');
await item('tick 3');
await page.reload();
await item('tick 5');
report('a run that goes on is shown after a reload', (await state.textContent()) === 'running', await state.textContent());
await page.reload();
await over();
const seen = await items();
report('every message once, in order, to the end', JSON.stringify(seen) === JSON.stringify(ticks(20)), seen);
await page.reload();
await over();
report('a run that is over is shown again', JSON.stringify(await items()) === JSON.stringify(seen), await items());

const address = page.url();
await page.goto('about:blank');
await page.goto(address);
await over();
report('its address is all that is needed', JSON.stringify(await items()) === JSON.stringify(seen), await items());

await begin('/slow 90 500');
await item('tick 2');
report('meanwhile no other one can be started', await page.getByRole('button', { name: 'Start' }).isDisabled());
await page.getByRole('button', { name: 'Stop' }).click();
await over();
report('the run can be stopped', (await items()).length < 90, await items());

await begin('/ask Which one?');
await over();
report('a pause is told', (await items()).includes('paused: Which one?'), await items());
await page.evaluate(() => memory.set('thread', 'x'.repeat(300)));
await begin('hello');
await page.getByText('refused').waitFor();
report('so is why one is refused, and the next can be started', /thread/.test(await items()) && await page.getByRole('button', { name: 'Start' }).isEnabled(), await items());
await page.goto('about:blank');
await page.goto(address.replace(/run=[^&]*/, 'run=none'));
await page.getByText('refused').waitFor();
report('nor does a run that is not there keep others from being started', await page.getByRole('button', { name: 'Start' }).isEnabled());
report('nothing goes wrong in the page', complaints.length === 0, complaints);

await browser.close();
rmSync(profile, { recursive: true, force: true });
