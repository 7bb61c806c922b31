// SPDX-License-Identifier: ISC
// console_attacks.mjs PEERS CHROMIUM PAGE: checks that nothing said by agents, users, tools and files becomes a script,
// a style, or a request to others.
import { visit } from './console_page.mjs';

const [peers, chromium, address] = process.argv.slice(2);
const { page, forgive, report, comes, named, log, ask, walk, press, settled } = await visit(peers, chromium);
const api = new URL('../', `${address}/`);

const notFound = /^(answer: 404|console: .* 404 )/;

const script = 'window.top.hacked=1;alert(1)', other = 'http://192.0.2.1/x';
const markup = [
	`<script>${script}</script>`, `<ScRiPt src=${other}></sCrIpT>`, `<img src=x onerror="${script}">`, `<img src="${other}.png">`,
	`<svg onload="${script}"><script>${script}</script></svg>`, `<svg><image href="${other}"/><use href="data:image/svg+xml,<svg id='x' xmlns='http://www.w3.org/2000/svg'><script>${script}</script></svg>#x"/></svg>`,
	`<math><mtext><table><mglyph><style><!--</style><img title="--&gt;&lt;img src=1 onerror=${script}&gt;">`,
	`<iframe src="${other}"></iframe>`, `<iframe srcdoc="<script>${script}</script>"></iframe>`, `<object data="${other}"></object>`, `<embed src="${other}">`,
	`<form action="${other}"><input name=a autofocus onfocus="${script}"><button>b</button></form>`, `<a href="javascript:${script}">c</a>`,
	`<a href="data:text/html,<script>${script}</script>">d</a>`, `<style>body{display:none;background:url(${other})}</style>`,
	`<link rel=stylesheet href="${other}">`, `<meta http-equiv=refresh content="0;url=${other}">`, `<base href="${other}">`,
	`<div style="position:fixed;inset:0;background:url(${other})">e</div>`, `<body onload="${script}">`, `<details open ontoggle="${script}">f</details>`,
	`<video src="${other}" onerror="${script}" autoplay></video>`, `<audio src="${other}" autoplay></audio>`, `<template><script>${script}</script></template>`,
	`<noscript><p title="</noscript><img src=x onerror=${script}>"></noscript>`, `<!--><img src=x onerror=${script}>-->`, `<![CDATA[><img src=x onerror=${script}>]]>`,
	`</textarea><script>${script}</script>`, `</title></pre></code><script>${script}</script>`, `"><img src=x onerror=${script}>`, `' autofocus onfocus='${script}`,
	`<x-y is="z" onclick="${script}">g</x-y>`, `<marquee onstart="${script}">h</marquee>`, `<isindex type=image src=1 onerror=${script}>`,
];
const markdown = [
	`[a](javascript:${script})`, `[a](JaVaScRiPt:${script})`, `[a](  javascript:${script})`, `[a](java\tscript:${script})`, `[a](&#106;avascript:${script})`, `[a](javascript&colon;${script})`,
	`[a](vbscript:${script})`, `[a](data:text/html;base64,PHNjcmlwdD5hbGVydCgxKTwvc2NyaXB0Pg==)`, `[a](blob:${other})`, `[a](file:///etc/passwd)`, `[a](//192.0.2.1/x)`, `[a](\\\\192.0.2.1\\x)`,
	`[a]: javascript:${script}\n\n[a]`, `<javascript:${script}>`, `![a](${other}.png)`, `![a](data:image/svg+xml,<svg onload=${script}>)`, `![a](javascript:${script})`,
	`![a"onerror="${script}](x)`, `[a](x "onmouseover=${script}")`, `[![a](${other}.png)](javascript:${script})`, `\`\`\`html\n<script>${script}</script>\n\`\`\``,
	`\`<img src=x onerror=${script}>\``, `| <img src=x onerror=${script}> |\n|---|\n| [a](javascript:${script}) |`, `- [ ] <script>${script}</script>`, `> <svg onload=${script}>`,
	`# <img src=x onerror=${script}>`, `~~<script>${script}</script>~~`, `[a](https://example.org/"onclick="${script})`, `a\u202e<script>\u2028${script}</script>`, '${7*7}{{constructor.constructor("alert(1)")()}}',
];
const all = [...markup, ...markdown];

// Finds what on this page could run, load, or lead where it should not.
const odd = () => page.evaluate(() => {
	const kinds = 'script, style, iframe, frame, object, embed, link, meta, base, form[action], math, template, foreignObject, image, use, [style], [srcdoc], [formaction], [is], [background]';
	const found = [...document.body.querySelectorAll(kinds)];
	for (const node of document.body.querySelectorAll('*')) {
		if ([...node.attributes].some(({ name }) => name.startsWith('on'))) found.push(node);
		const to = node.getAttribute('href') || node.getAttribute('src') || node.getAttribute('data') || node.getAttributeNS('http://www.w3.org/1999/xlink', 'href');
		const fine = node.tagName === 'A' ? /^(#|https?:|mailto:|blob:)/ : /^(blob:|data:image\/(png|jpeg|gif|webp);)/;
		if (to && !fine.test(to)) found.push(node);
		if (node.tagName === 'A' && /^https?:/.test(to) && (node.target !== '_blank' || !/noopener/.test(node.rel))) found.push(node);
	}
	return [window.hacked && 'SCRIPT RAN', ...found.map((node) => node.outerHTML.slice(0, 200))].filter(Boolean);
});

async function safe(name) {
	await page.waitForTimeout(100); // for what is loaded or run later
	const found = await odd();
	report(`${name}: nothing becomes more than text`, found.length === 0, found);
	report(`${name}: the page is still there`, await page.locator('main').isVisible());
}

async function call(method, where, body) {
	const answer = await fetch(new URL(where, api), { method, headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) });
	if (!answer.ok) throw new Error(`${method} ${where}: ${answer.status} ${await answer.text()}`);
	return (await answer.json()).data;
}

async function messages() {
	const block = (text) => [{ type: 'text', text }];
	const list = [{ message_id: 'late', role: 'user', content: block('a moment that is none'), timestamp: 1e18 }, ...all.flatMap((text, i) => [{ message_id: `u${i}`, role: 'user', content: block(text) },
		{ message_id: `a${i}`, role: 'assistant', content: block(text), reasoning: text }])];
	list.push({ message_id: 'many', role: 'assistant', content: all.flatMap((text) => [{ type: 'tool_call', id: text, name: text, args: { [text]: text } },
		{ type: 'reasoning', summary: text, details: [text] }, { type: 'error', message: text }, { type: 'annotation', kind: 'note', refs: [{ title: text }] },
		{ type: 'image', url: other, alt_text: text }, { type: 'video', url: other, mime_type: 'video/mp4' },
		{ type: 'image', data_base64: btoa(`<svg xmlns="http://www.w3.org/2000/svg" onload="${script}"/>`), mime_type: 'image/svg+xml', alt_text: 'drawing' },
		{ type: 'document', data_base64: btoa(`<script>${script}</script>`), mime_type: 'text/html', alt_text: text }]) });
	list.push({ message_id: 'results', role: 'tool', content: all.flatMap((text) => [{ type: 'tool_result', call_id: text, output: text },
		{ type: 'tool_result', call_id: text, output: { [text]: text }, is_error: true }]) });
	for (const sign of ['*a ', '>', '|a']) list.push({ message_id: `heavy${sign}`, role: 'assistant', content: block(sign.repeat(60000)) }); // for a parser of Markdown
	await call('POST', 'v1/threads', { thread_id: 'evil', thread_name: `\u202e${all.join(' ')}`.slice(0, 200), metadata: { [markup[2]]: markup[2] } });
	await call('POST', 'v1/threads/evil/messages', { messages: list });
	await page.goto(`${address}#/chat/evil`);
	await log.getByRole('article').last().waitFor();
	await page.waitForFunction(() => {
		const earlier = [...document.querySelectorAll('.log > button')];
		for (const one of earlier) one.click();
		return earlier.length === 0;
	});
	const field = page.getByLabel('Message', { exact: true }), bidi = (place) => place.evaluate((node) => getComputedStyle(node).unicodeBidi);
	const fillIn = (text) => field.evaluate((node, given) => { node.value = given; }, text);
	await fillIn('a'.repeat(30000));
	const found = [await bidi(field), await bidi(log.locator('.plain').filter({ hasText: '*a *a' }).first())];
	await fillIn('');
	await field.focus();
	await page.keyboard.insertText('a'.repeat(30000));
	found.push(await bidi(field));
	report('very long lines have the direction of the page', found.join() === 'isolate,isolate,isolate', found);
	await field.fill('');
	await comes('also one of no possible time', log.getByText('a moment that is none'));
	report('all messages are shown', await log.getByRole('article').count() >= list.length, await log.getByRole('article').count());
	await safe('messages');
	await page.evaluate(() => { for (const node of document.querySelectorAll('.log details')) node.open = true; });
	await safe('messages with all that can be opened');
}

// Checks messages as they come, piece by piece, and as they are in the end.
async function streams() {
	await page.evaluate(() => { location.hash = '#/chat'; });
	await press('New conversation');
	const texts = [markup[0], markup[2], markup[6], markdown[0], markdown[14], `/note ${markup[2]}`];
	for (const text of texts) {
		await ask(text);
		await page.waitForFunction((count) => document.querySelectorAll('.message.user').length === count, texts.indexOf(text) + 1);
		await settled();
	}
	await ask(`/ask ${markup[2]}`);
	await named('group', 'Question').waitFor();
	report('a question begins where its language does', await page.locator('.question p').evaluate((node) => getComputedStyle(node).unicodeBidi) === 'plaintext');
	await safe('what is being said');
}

async function threads() {
	await call('PUT', 'v1/threads/evil/state', { state: { [markup[2]]: all, notes: all } }).catch(() => call('PUT', 'v1/threads/evil/state', { state: { notes: all } }));
	await page.evaluate(() => { location.hash = '#/threads'; });
	await named('table', 'Threads').getByRole('link').first().waitFor();
	await safe('names of threads');
	await page.evaluate(() => { location.hash = '#/threads/evil'; });
	await page.getByRole('list', { name: 'History' }).waitFor();
	await page.getByRole('list', { name: 'History' }).getByRole('button', { name: 'Compare' }).last().click();
	await page.getByRole('region', { name: 'Comparison' }).getByText('Compare with').waitFor();
	await safe('a thread, its state and what changed');
	await press('Delete');
	await safe('a question about it');
	report('which no name turns round', await page.getByRole('dialog').locator('p').evaluate((node) => {
		const at = (place) => {
			const range = document.createRange();
			range.setStart(node.lastChild, place);
			range.setEnd(node.lastChild, place + 1);
			return range.getBoundingClientRect().left;
		};
		return at(2) < at(3); // "Its"
	}));
	await page.keyboard.press('Escape');
	await page.evaluate((text) => { location.hash = `#/threads/${encodeURIComponent(text)}`; }, 'x'.repeat(20));
	await page.getByRole('alert').waitFor();
	await safe('an error');
	forgive(notFound);
}

async function rest() {
	await page.evaluate(() => { location.hash = '#/runs'; });
	const runs = named('table', 'Runs');
	await runs.getByRole('link').first().waitFor();
	await runs.getByRole('link').first().click();
	await page.getByRole('list', { name: 'Chunks' }).getByRole('listitem').first().waitFor();
	await page.evaluate(() => { for (const node of document.querySelectorAll('details')) node.open = true; });
	await safe('a run');

	for (const text of all) await call('POST', 'v1/store/memories', { content: text, memory_type: 'semantic', category: text.slice(0, 60) });
	await page.evaluate(() => { location.hash = '#/memory'; });
	await named('table', 'Memories').getByRole('button', { name: 'Edit' }).first().click();
	await safe('memories');

	await page.evaluate(() => { location.hash = '#/files'; });
	for (const [name, mimeType, text] of [['<img src=x onerror=alert(1)>.html', 'text/html', `<script>${script}</script>`],
		['a.svg', 'image/svg+xml', `<svg xmlns="http://www.w3.org/2000/svg" onload="${script}"><script>${script}</script><image href="${other}"/></svg>`],
		['b.txt', 'text/plain', all.join('\n')], ['c.json', 'application/json', JSON.stringify(all)], ['d.xml', 'text/xml', `<?xml-stylesheet href="${other}"?><x/>`]]) {
		await page.locator('input[type=file]').setInputFiles({ name, mimeType, buffer: Buffer.from(text) });
		await page.getByRole('region', { name: 'File' }).getByRole('link', { name: /^Download/ }).waitFor();
		await safe(`a file ${name}`);
	}
	await page.evaluate(() => { location.hash = '#/evaluations'; });
	await named('table', 'Runs').getByRole('link').first().click();
	await page.locator('main summary').first().waitFor();
	await page.evaluate(() => { for (const node of document.querySelectorAll('details')) node.open = true; });
	await safe('an evaluation');
	await page.evaluate(() => { location.hash = '#/graph'; });
	await page.locator('svg.graph').waitFor();
	await page.evaluate(() => { for (const node of document.querySelectorAll('details')) node.open = true; });
	await safe('the graph');
}

// Checks addresses, which strangers can send to somebody.
async function addresses() {
	for (const hash of [`#/chat/${encodeURIComponent(markup[2])}`, `#/threads/${encodeURIComponent('../../ping')}`, `#/runs/${encodeURIComponent(markup[2])}/x`, '#/%zz', `#javascript:${script}`, '#/__proto__', '#/service/constructor']) {
		await page.goto('about:blank');
		await page.goto(address + hash);
		await page.locator('nav a').first().waitFor();
		await safe(`the address ${hash.slice(0, 30)}`);
	}
	forgive(notFound);
	await comes('and the console still works', named('link', 'Service'));
}

await walk(address, messages, streams, threads, rest, addresses);
