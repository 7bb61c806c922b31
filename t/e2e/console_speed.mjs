// SPDX-License-Identifier: ISC
// console_speed.mjs PEERS CHROMIUM PAGE long | stream: measures what the console costs the browser in processor time,
// which does not depend on what else the machine does.
import { visit } from './console_page.mjs';

const [peers, chromium, address, what] = process.argv.slice(2);
const { page, report, ask, walk } = await visit(peers, chromium);
const browser = page.context().browser();
const api = new URL('../', `${address}/`);

// Milliseconds that the page's process and its main thread used while act went on, and the longest task of that thread.
async function spent(act) {
	await browser.startTracing(page, { categories: ['toplevel', '__metadata'] });
	const begin = performance.now();
	await act();
	const ms = performance.now() - begin;
	const { traceEvents: events } = JSON.parse((await browser.stopTracing()).toString());
	const threads = new Set(events.filter(({ name, args }) => name === 'thread_name' && args.name === 'CrRendererMain').map(({ pid, tid }) => `${pid} ${tid}`));
	const pids = new Set([...threads].map((one) => Number(one.split(' ')[0])));
	const tasks = events.filter(({ name, tdur, pid }) => /RunTask/.test(name) && tdur && pids.has(pid));
	const own = tasks.filter(({ pid, tid }) => threads.has(`${pid} ${tid}`)).map(({ tdur }) => tdur / 1000);
	const sum = (list) => list.reduce((a, b) => a + b, 0);
	return { ms, all: sum(tasks.map(({ tdur }) => tdur / 1000)), main: sum(own), longest: Math.max(0, ...own) };
}

// Measures again while it is not good, as what else the machine does may cost the page a moment, but not each time.
async function measured(measure, good) {
	let seen;
	for (let i = 0; i < 4 && !(seen && good(seen)); i++) seen = await measure();
	return seen;
}

function within(name, found, most) {
	report(`${name}: ${Math.round(found)}, at most ${most}`, found <= most, found);
}

async function first() {
	const view = async () => {
		await page.goto('about:blank');
		return spent(async () => { await page.goto(address); await page.getByLabel('Message', { exact: true }).waitFor(); });
	};
	await view();
	await view();
	const seen = await measured(view, ({ main, longest }) => main <= 300 && longest <= 100);
	within('ms of the main thread for the first view', seen.main, 300);
	within('ms of its longest task', seen.longest, 100);
}

// Scrolls to the first message; how many there are then.
function scrolled() {
	return page.evaluate(async () => {
		const log = document.querySelector('.log');
		for (let i = 0; i < 20000 && (log.querySelector(':scope > button') || log.scrollTop > 0); i++) {
			log.scrollTop -= 3000;
			await new Promise(requestAnimationFrame);
		}
		return log.querySelectorAll('article').length;
	});
}

// What the page looks like once it does not change any more; the browser paints some parts late.
async function still() {
	for (let before, now = await page.screenshot(); ; before = now) {
		await page.waitForTimeout(200);
		now = await page.screenshot();
		if (before && now.equals(before)) return now;
	}
}

// The same when its log has been painted anew, at its end.
async function painted() {
	await page.getByRole('log').evaluate((log) => {
		log.hidden = true;
		log.getBoundingClientRect();
		log.hidden = false;
		log.scrollTop = log.scrollHeight;
	});
	return still();
}

async function long() {
	const words = (i) => `message ${i}\n\nsome **words** and \`code\` ${'lorem ipsum dolor '.repeat(10 + i % 20)}\n\n- one\n- two\n`;
	const message = (i) => ({ message_id: `m${i}`, role: i % 2 ? 'assistant' : 'user', content: [{ type: 'text', text: words(i) }] });
	const call = async (method, where, body) => {
		const answer = await fetch(new URL(where, api), { method, headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) });
		if (!answer.ok) throw new Error(await answer.text());
	};
	await call('POST', 'v1/threads', { thread_id: 'long' });
	await call('PUT', 'v1/threads/long/state', { state: {} }); // a checkpoint before all messages
	for (let k = 0; k < 10000; k += 500) await call('POST', 'v1/threads/long/messages', { messages: Array.from({ length: 500 }, (_, i) => message(k + i)) });
	const open = await measured(() => spent(async () => {
		await page.goto(`${address}#/chat/long`);
		await page.reload();
		await page.waitForFunction(() => document.querySelectorAll('.log article').length >= 200);
	}), ({ longest }) => longest <= 100);
	within('ms of the longest task while 10000 messages are opened', open.longest, 100);
	const seen = await still();
	report('what was said last is seen', seen.equals(await painted()));
	await page.locator('.log article').last().evaluate((node) => { node.style.paddingBottom = '999px'; });
	await page.waitForFunction(() => { const log = document.querySelector('.log'); return log.scrollHeight - log.scrollTop - log.clientHeight < 2; });
	report('also when it grows, as with a picture that comes late', true);
	let built;
	const up = await measured(async () => {
		await page.reload();
		await page.getByText('message 9999').waitFor();
		return spent(async () => { built = await scrolled(); });
	}, ({ longest }) => longest <= 100);
	report('all of them can be scrolled to', built === 10000, built);
	within('ms of the longest task on the way', up.longest, 100);
	await page.goto(`${address}#/threads/long`);
	await page.getByRole('button', { name: 'Compare' }).last().click();
	await page.getByLabel('Differences').filter({ hasText: /\+ … \d{5} lines/ }).waitFor({ timeout: 60000 });
	report('they are compared with none at all', true);
}

async function stream() {
	await ask('go');
	await page.locator('.growing').waitFor();
	const heard = () => page.evaluate(() => document.querySelector('.growing .content').textContent.split(' ').length);
	const before = await heard();
	let after;
	const seen = await measured(() => spent(async () => { await page.waitForTimeout(5000); after = await heard(); }), ({ all, ms }) => all / ms <= 0.5);
	console.log(`# ${Math.round((after - before) / seen.ms * 1000)} pieces a second`);
	report('pieces come', after > before, after);
	within('percent of a core for 500 pieces a second', seen.all / seen.ms * 100, 50);
}

await (what === 'stream' ? walk(address, stream) : walk(address, first, long));
