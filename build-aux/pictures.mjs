// SPDX-License-Identifier: ISC
// pictures.mjs PEERS CHROMIUM CONSOLE DIR: fills the console and takes pictures of it, as doc/console.md shows it.
import { createRequire } from 'node:module';

const [peers, executablePath, address, dir] = process.argv.slice(2);
const { chromium } = createRequire(`${peers}/package.json`)('playwright-core');
const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu', '--font-render-hinting=none', '--hide-scrollbars'] });
const page = await browser.newPage({ viewport: { width: 900, height: 700 }, reducedMotion: 'reduce', colorScheme: 'light', locale: 'en-GB', timezoneId: 'UTC' });
const named = (role, name) => page.getByRole(role, { name, exact: true });

// Replaces times and random ids, which would differ each time.
const still = () => page.evaluate(() => {
	for (const node of document.querySelectorAll('time')) node.textContent = 'now';
	document.activeElement.blur();
});

async function say(text, answer) {
	await page.getByLabel('Message', { exact: true }).fill(text);
	await page.getByLabel('Message', { exact: true }).press('Enter');
	await named('log', 'Conversation').getByText(answer).last().waitFor();
	await page.waitForFunction(() => document.querySelector('[role=log]').getAttribute('aria-busy') === 'false');
}

await page.goto(address);
await say('Which table is free tonight?', 'echo: Which');
await say('/add 2 3', 'sum: 5');
await page.getByText('Calls add').click();
await say('/ask Window or terrace?', 'Calls add');
await named('group', 'Question').waitFor();
await still();
await page.screenshot({ path: `${dir}/console-chat.png`, animations: 'disabled', caret: 'hide' });

await page.emulateMedia({ colorScheme: 'dark' });
await named('link', 'Threads').click();
await named('table', 'Threads').getByRole('link').first().click();
const history = page.getByRole('list', { name: 'History' });
await history.getByRole('button', { name: 'Compare' }).nth(1).click();
await page.getByLabel('Differences').waitFor();
await history.scrollIntoViewIfNeeded();
await history.evaluate((node) => node.scrollIntoView());
await still();
await page.screenshot({ path: `${dir}/console-history.png`, animations: 'disabled', caret: 'hide' });
await browser.close();
