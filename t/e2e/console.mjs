// SPDX-License-Identifier: ISC
// console.mjs PEERS CHROMIUM PAGE WIDTH [TOKEN [VIEWS | live] | questions]: uses the console as a person would.
import { visit } from './console_page.mjs';

const [peers, chromium, address, width, token, views] = process.argv.slice(2);
const { page, forgive, report, comes, fits, named, log, ask, walk, press, said, settled } =
	await visit(peers, chromium, { width: Number(width), prefix: `${width} px: ` });

// Checks that no line of the graph leaves the picture, or goes through a node.
async function drawn() {
	const wrong = await page.locator('svg.graph').evaluate((svg) => {
		const { x, y, width, height } = svg.viewBox.baseVal;
		const nodes = [...svg.querySelectorAll('.node rect')].map((node) => node.getBBox());
		const within = (point, box, by) => point.x > box.x + by && point.x < box.x + box.width - by && point.y > box.y + by && point.y < box.y + box.height - by;
		return [...svg.querySelectorAll('path.line')].filter((line) => {
			const points = Array.from({ length: line.getTotalLength() / 3 }, (_, i) => line.getPointAtLength(3 * i));
			return points.some((point) => !within(point, { x, y, width, height }, 0) || nodes.some((node) => within(point, node, 2)));
		}).map((line) => line.getAttribute('d'));
	});
	report('all its lines are in the picture, and beside the nodes', wrong.length === 0, wrong);
}

// A page of another person, whose hours pass in a moment: browsers have one clock for all pages of a context.
async function hourglass() {
	const tab = await (await page.context().browser().newContext()).newPage();
	tab.setDefaultTimeout(180000);
	await tab.clock.install();
	return tab;
}

// Chooses files of these names, which are what is in them.
function choose(...names) {
	return page.locator('input[type=file]').setInputFiles(names.map((name) => ({ name, mimeType: 'text/plain', buffer: Buffer.from(name) })));
}

async function chat() {
	const made = [];
	page.on('request', (request) => { if (request.method() === 'POST' && /v1\/threads$/.test(request.url())) made.push(request); });
	await press('New conversation');
	await page.getByLabel('Message', { exact: true }).fill('hello **world**');
	await page.locator('form.composer').evaluate((form) => { form.requestSubmit(); form.requestSubmit(); });
	await comes('an answer comes', said('Agent', 'echo: hello'));
	await settled();
	report('what is sent twice at once makes one thread', made.length === 1, made.length);
	await comes('as Markdown', log.locator('article strong', { hasText: 'world' }).first());
	report('the address names the thread', /#\/chat\/.+/.test(page.url()), page.url());
	const grown = await page.evaluate(async () => {
		const { growing } = await import(new URL('message.js', document.querySelector('script[type=module]').src));
		const { node, add } = growing({ role: 'assistant' }, (act) => act());
		for (const summary of ['let me', ' see']) add({ content: [{ type: 'reasoning', summary }] });
		await new Promise((over) => setTimeout(over, 100));
		return node.querySelector('details[open]:not([hidden])')?.textContent;
	});
	report('reasoning is shown as it comes', grown === 'Reasoninglet me see', grown);
	await ask('/add 2 3');
	await comes('a tool is called', log.getByText('Calls add'));
	await comes('and its result is used', said('Agent', 'sum: 5'));
	await settled();

	await said('You', 'hello').getByRole('button', { name: 'Edit' }).click();
	await page.getByLabel('Edited message').fill('good morning');
	await press('Save');
	await comes('an edited message is answered', said('Agent', 'echo: good morning'));
	await settled();
	report('what came after it is in another branch', (await said('Agent', 'sum: 5').count()) === 0);
	await press('Previous branch');
	await comes('which can be gone back to', said('Agent', 'sum: 5'));
	await press('Next branch');
	await comes('and forth', said('Agent', 'echo: good morning'));
	await said('Agent', 'echo: good morning').getByRole('button', { name: 'Again' }).click();
	await comes('another answer is another branch', log.getByText('3 of 3'));
	await settled();

	await ask('/ask Which colour?');
	const question = named('group', 'Question');
	await comes('a pause is a question', question.getByText('Which colour?'));
	await page.waitForFunction(() => { const node = document.querySelector('.log'); return node.scrollHeight - node.scrollTop - node.clientHeight < 8; });
	report('what was said last is in sight', true);
	await page.setViewportSize({ width: 320, height: 190 });
	const answerable = await question.getByLabel('Answer', { exact: true }).evaluate((node) => {
		node.scrollIntoView();
		const box = node.getBoundingClientRect();
		return document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2) === node;
	});
	report('at four times its size the page still shows where to answer', answerable);
	await fits('a question at four times its size');
	await page.emulateMedia({ media: 'print' });
	const print = await log.evaluate((node) => [node.scrollHeight - node.clientHeight, node.closest('main').querySelectorAll('button').values().some((one) => one.checkVisibility())]);
	report('on paper there are all messages, and no buttons', print.join() === '0,false', print);
	await page.emulateMedia({ media: 'screen' });
	await page.setViewportSize({ width: Number(width), height: 760 });
	const slow = /\/history\?/; // a message before it is read must not meet the answered question
	await page.route(slow, async (route) => {
		await new Promise((over) => setTimeout(over, 300));
		await route.continue();
	});
	await question.getByLabel('Answer', { exact: true }).fill('red');
	await question.getByRole('button', { name: 'Answer' }).click();
	await comes('which is answered in its place', said('Agent', 'answer: red'));
	await settled();
	report('and then is gone', (await question.count()) === 0);

	await ask('/remote pick {"n":2}');
	await page.unrouteAll({ behavior: 'wait' });
	const tool = named('group', 'Tool pick');
	await tool.getByLabel('Result', { exact: true }).fill('{"picked":[1,2]}');
	await tool.getByRole('button', { name: 'Return' }).click();
	await comes('a tool of the client returns', said('Agent', 'remote: {"picked":[1,2]}'));
	await settled();

	const fetched = [];
	page.on('request', (request) => { if (/v1\/files\/[^/]+$/.test(request.url()) && request.method() === 'GET') fetched.push(request); });
	await page.locator('input[type=file]').setInputFiles(['', 'of a file'].map((text) =>
		({ name: `${text ? 'note' : 'empty'}.txt`, mimeType: 'text/plain', buffer: Buffer.from(text) })));
	await comes('a file that is refused is told of by its name', page.getByRole('alert').filter({ hasText: 'empty.txt: ' }));
	forgive(/^(answer: 400|console: .* 400 )/);
	await comes('another one is attached', page.getByRole('button', { name: 'Remove note.txt' }));
	await named('button', 'Cancel upload').waitFor({ state: 'hidden' });
	const held = [];
	await page.route(/files\/upload/, (route) => { held.push(route); });
	const hold = async (...names) => {
		const before = held.length;
		await choose(...names);
		while (held.length === before) await page.waitForTimeout(20);
	};
	await hold('two.txt', 'three.txt');
	await ask('/files');
	await comes('a message waits for a file that is being uploaded', page.getByRole('alert').filter({ hasText: 'still being uploaded' }));
	report('and stays in the field', await page.getByLabel('Message', { exact: true }).inputValue() === '/files');
	await named('button', 'Cancel upload').press('Enter');
	await named('button', 'Cancel upload').waitFor({ state: 'hidden' });
	report('an upload can be cancelled', held.length === 1 && await page.getByRole('button', { name: /^Remove / }).count() === 1, held.length);
	report('which leaves the focus where it began', await page.evaluate(() => document.activeElement.textContent) === 'Attach');
	forgive(/ERR_ABORTED/);
	await hold('late.txt');
	await named('link', 'Graph').click();
	await page.locator('svg.graph').waitFor();
	await held[1].continue();
	await page.getByText('late.txt is uploaded').waitFor();
	await page.goBack();
	await comes('a file that comes when its conversation was left is there', named('button', 'Remove late.txt'));
	report('beside what was typed', await page.getByLabel('Message', { exact: true }).inputValue() === '/files');
	await press('Remove late.txt');
	report('without it the focus is in the message', await page.evaluate(() => document.activeElement.getAttribute('aria-label')) === 'Message');
	await hold('later.txt');
	await named('link', 'Graph').click();
	await page.locator('svg.graph').waitFor();
	await page.goBack();
	await said('Agent', 'remote: ').waitFor();
	await held[2].continue();
	await comes('so is one that comes when one is back', named('button', 'Remove later.txt'));
	await press('Remove later.txt');
	await page.unroute(/files\/upload/);
	await page.route(/files\/upload/, (route) => route.fulfill({ status: 415, json: { detail: 'Not this' } }), { times: 2 });
	await choose('a.txt', 'b.txt');
	await comes('of several files that are refused each is told of', page.getByRole('alert').filter({ hasText: 'a.txt: Not this; b.txt: Not this' }));
	forgive(/415/);
	await ask('/files');
	await comes('and seen by the agent', said('Agent', 'of a file'));
	await comes('it can be fetched again', log.getByRole('link', { name: 'Download note.txt' }));
	await settled();
	report('and was fetched once for it', fetched.length === 1, fetched.length);

	await ask('/error oops');
	const banner = page.getByRole('alert').filter({ hasText: /oops.*Request [0-9a-f-]{36}/ });
	await comes('a failed run is told with the id of its request', banner);
	await settled();
	await page.reload();
	await comes('and is seen after a reload', log.getByText('Graph execution failed: oops'));
	await log.getByRole('link', { name: 'Look at the run' }).click();
	await comes('with a way to its run', page.getByRole('definition').filter({ hasText: 'NODE_ERROR: ' }));
	await page.goBack();
	await press('Try again');
	await comes('it can be tried again', banner);
	await settled();
	await ask('/note x');
	await comes('after that others go on', said('Agent', 'noted'));
	report('and the banner is gone', (await page.getByRole('alert').count()) === 0);
	await settled();

	await page.route(/\/v1\//, (route) => route.abort());
	await ask('not taken');
	await comes('a service that is away is told of', page.getByRole('alert').filter({ hasText: 'cannot be reached' }));
	await settled();
	report('and what it did not take can be sent again', await page.getByLabel('Message', { exact: true }).inputValue() === 'not taken');
	await page.unrouteAll();
	forgive(/ERR_FAILED/);
	await ask('שלום!\n\nA line that is longer than the one above it');
	await comes('when it is back others go on', said('Agent', 'echo: שלום!'));
	await settled();
	report('and what was not taken is not shown', (await said('You', 'not taken').count()) === 0);
	const gap = await said('You', 'שלום').locator('p').first().evaluate((line) => {
		const range = document.createRange();
		range.selectNodeContents(line);
		return line.getBoundingClientRect().right - range.getBoundingClientRect().right;
	});
	report('lines begin where their language does', Math.abs(gap) < 2, gap);

	await page.evaluate(() => { // the first stream of this run falls silent, the second one breaks
		const real = window.fetch, later = window.setTimeout, fates = [() => {}, (to) => to.error(new TypeError('network error'))];
		window.setTimeout = (act, ms) => later(act, ms === 20000 ? 600 : ms);
		window.fetch = async (...given) => {
			const answer = await real(...given);
			if (!/\/stream(\?|$)/.test(given[0])) return answer;
			const fate = fates.shift();
			if (!fates.length) window.fetch = real;
			let pieces = 0;
			const transform = (piece, to) => (++pieces < 3 ? to.enqueue(piece) : fate(to));
			return new Response(answer.body.pipeThrough(new TransformStream({ transform })), answer);
		};
	});
	await page.route(/\/runs\/[^/]+\/stream/, (route) => route.abort(), { times: 1 });
	await page.route(/\/runs\/[^/]+\/stream/, (route) => route.fulfill({ status: 502 }), { times: 1 });
	await ask('/slow 100 300');
	await comes('that the service is away meanwhile is told', page.getByText('taken up again when it can'));
	await comes('a run whose connection dies or breaks is taken up again by itself', said('Agent', 'tick 3').first());
	forgive(/ERR_FAILED|502/);
	report('while a run goes on nothing can be sent', await named('button', 'Send').getAttribute('aria-disabled') === 'true');
	await page.reload();
	await comes('a run is taken up again after a reload', said('Agent', 'tick 6').first());
	await press('Stop');
	await settled();
	report('and stopped', (await said('Agent', 'tick 99').count()) === 0);
	report('which leaves the focus in the message', await page.evaluate(() => document.activeElement.getAttribute('aria-label')) === 'Message');
	await comes('what was said before is there', said('Agent', 'answer: red'));
	await page.getByLabel('Message', { exact: true }).fill('half a thought');
	await named('link', 'Graph').click();
	await page.locator('svg.graph').waitFor();
	await page.goBack();
	await said('Agent', 'answer: red').waitFor();
	report('who leaves and comes back finds what was typed', await page.getByLabel('Message', { exact: true }).inputValue() === 'half a thought');
	await page.getByLabel('Message', { exact: true }).fill('');
	await fits('Chat');
}

async function graph() {
	await named('link', 'Graph').click();
	const picture = page.locator('[role="graphics-document"][aria-label="Graph"]');
	await comes('the graph is drawn', picture);
	const words = await picture.evaluate((node) => document.getElementById(node.getAttribute('aria-describedby')).textContent);
	report('its description lists nodes and edges', /Nodes: START, agent, tools, END\. Edges: START to agent/.test(words), words);
	await drawn();
	await picture.getByRole('group', { name: 'agent', exact: true }).focus();
	report('a node can be focused', await page.evaluate(() => document.activeElement.getAttribute('aria-label') === 'agent'));
	await fits('Graph');
	await page.evaluate(() => { location.hash = '#/chat'; });
	await ask('/slow 100 300');
	await said('Agent', 'tick 1').first().waitFor();
	await named('link', 'Graph').click();
	await comes('the node that runs is lit', page.locator('svg.graph [aria-label=agent][aria-current=step]'));
	await page.getByText('A run goes on in').getByRole('link').click();
	await said('Agent', 'tick').first().waitFor();
	await press('Stop');
	await settled();
}

async function threads() {
	await named('link', 'Threads').click();
	await comes('threads are listed', named('table', 'Threads'));
	await page.getByLabel('Search').fill('no such thread');
	await comes('and searched', page.getByText('No thread fits'));
	await page.getByLabel('Search').fill('good morning');
	await page.getByLabel('Search').fill('hello');
	await page.getByLabel('Status').selectOption('stopped');
	const row = named('table', 'Threads').getByRole('link', { name: /^hello/ }).first();
	await comes('and filtered by status', row);
	await fits('Threads');
	await row.click();
	await page.getByRole('link', { name: 'Its runs' }).waitFor();
	await page.goBack();
	await row.waitFor();
	const asked = [await page.getByLabel('Search').inputValue(), await page.getByLabel('Status').inputValue()];
	report('who comes back finds the list as it was', asked.join() === 'hello,stopped', asked);
	await row.click();
	await page.getByRole('link', { name: 'Its runs' }).click();
	await comes('from a thread one gets to its runs', page.getByText('Of the thread'));
	await page.goBack();
	await press('Rename');
	await page.keyboard.type('Of colours');
	await page.keyboard.press('Enter');
	await comes('a thread is renamed', named('heading', 'Of colours'));

	const state = page.getByLabel('State', { exact: true });
	await state.fill('{"notes": ["one more"]}');
	await named('button', 'Save').click();
	await comes('its state is changed', page.getByText('Saved', { exact: true }));
	report('and shown', /one more/.test(await state.inputValue()), await state.inputValue());
	const history = page.getByRole('list', { name: 'History' });
	await history.getByRole('button', { name: 'Compare' }).nth(1).click();
	await comes('two checkpoints are compared', page.getByRole('region', { name: 'Comparison' }).getByText('one more'));
	report('the address names the checkpoint', /#\/threads\/[^/]+\/[^/]+/.test(page.url()), page.url());
	const count = await history.getByRole('listitem').count();
	await history.getByRole('button', { name: 'Rewind' }).nth(1).click();
	await page.waitForFunction((before) => document.querySelectorAll('.history > li').length > before, count);
	await page.waitForFunction(() => document.activeElement.textContent === 'Rewind');
	report('a rewind keeps the focus in its place', true);
	report('a rewind is one more checkpoint', !/one more/.test(await state.inputValue()), await state.inputValue());
	const places = await history.getByRole('listitem').evaluateAll((all) => all.map((one) => one.className));
	report('the present way is no branch, and what is not on it is one', places[0] === 'depth-0 present' && places.every((one) => /^depth-0 present$|^depth-[1-9]$/.test(one)), places);
	await fits('a thread');

	await history.getByRole('button', { name: 'Fork' }).last().click();
	await comes('a fork is a thread of its own', history.getByText('copied'));
	report('with the one checkpoint', (await history.getByRole('listitem').count()) === 1);
	await state.fill(JSON.stringify({ notes: Array.from({ length: 20000 }, (_, i) => `note ${i}`) }));
	await named('button', 'Save').click();
	await page.getByText('Saved', { exact: true }).waitFor();
	const lines = (await state.inputValue()).split('\n').length;
	report('a long state has a line for each field', lines < 20, lines);
	const fork = page.url();
	await press('Delete');
	const dialog = page.getByRole('dialog');
	report('before a deletion there is a question', await dialog.getByRole('button', { name: 'Cancel' }).evaluate((node) => node === document.activeElement));
	await dialog.getByRole('button', { name: 'Cancel' }).click();
	report('which can be answered no', page.url() === fork);
	await press('Delete');
	await page.goBack();
	await dialog.waitFor({ state: 'detached' });
	report('who leaves the thread leaves the question', page.url() !== fork);
	await page.goForward();
	await press('Delete');
	await dialog.getByRole('button', { name: 'Delete' }).click();
	await comes('and then it is gone', named('table', 'Threads'));
	report('nowhere else', /#\/threads$/.test(page.url()), page.url());
}

async function changedElsewhere() {
	await page.evaluate(() => { // looks more often for what goes on elsewhere
		const later = window.setTimeout;
		window.setTimeout = (act, ms) => later(act, ms === 5000 ? 300 : ms);
	});
	await named('link', 'Chat').click();
	await page.route(/\/messages\?/, (route) => route.abort(), { times: 1 });
	await ask('one');
	await comes('what cannot be read at the end of a turn is read when it can', said('Agent', 'echo: one').getByRole('button', { name: 'Again' }));
	forgive(/ERR_FAILED/);
	await settled();
	const thread = page.url().replace(/.*\//, ''), remove = () => page.request.delete(new URL(`v1/threads/${thread}`, address).href, { data: {} });
	await remove();
	await ask('two');
	await page.getByRole('alert').filter({ hasText: 'deleted elsewhere' }).waitFor();
	await settled();
	report('in a thread that was deleted elsewhere the next message is shown', (await log.getByRole('article').count()) === 2 && (await said('Agent', 'echo: two').count()) === 1);

	const elsewhere = async (method, where, data) => (await page.request.fetch(new URL(where, address).href, { method, data })).json();
	await elsewhere('POST', 'v1/graph/runs', { messages: [{ role: 'user', content: '/slow 1 900' }], config: { thread_id: thread } });
	await comes('a run that begins elsewhere is shown while nobody does anything', said('Agent', 'tick 1'));
	await settled();

	// in another tab the thread goes another way, and then asks a question; this page looks for itself only if it is seen
	await page.evaluate(() => Object.defineProperty(document, 'hidden', { value: true }));
	await ask('three');
	await settled();
	const { data: { history } } = await elsewhere('GET', `v1/threads/${thread}/history`);
	await elsewhere('POST', `v1/threads/${thread}/rewind`, { checkpoint_id: history.at(-1).checkpoint_id });
	await ask('four');
	await comes('where it went another way elsewhere that way is shown', said('Agent', 'echo: four'));
	await settled();
	report('and no other', (await log.getByText('three').count()) === 0, await log.innerText());
	await elsewhere('POST', 'v1/graph/invoke', { messages: [{ role: 'user', content: '/ask Which?' }], config: { thread_id: thread } });
	await ask('five');
	await comes('a question that was asked elsewhere is told of', page.getByRole('alert').filter({ hasText: 'waits for an answer' }));
	report('and what was typed is there', await page.getByLabel('Message', { exact: true }).inputValue() === 'five');

	await press('Answer');
	await settled();
	const tab = await page.context().newPage();
	await tab.goto(page.url());
	await tab.getByRole('log').getByText('answer: ').waitFor();
	await tab.getByLabel('Message', { exact: true }).fill('/slow 3 300');
	await tab.getByLabel('Message', { exact: true }).press('Enter');
	await comes('a run that another tab starts is shown as it goes on', page.locator('main.running').getByText('tick 1'));
	await settled();
	for (const [what, text] of [['four', 'another edit'], ['/slow', 'half an ed']]) {
		await said('You', what).last().getByRole('button', { name: 'Edit' }).click();
		await page.keyboard.press('Control+A');
		await page.keyboard.type(text);
	}
	await tab.getByLabel('Message', { exact: true }).fill('/slow 24 2000');
	await tab.getByLabel('Message', { exact: true }).press('Enter');
	await comes('while one is edited, too', page.locator('main.running').getByText('/slow 24 2000'));
	const edited = page.getByLabel('Edited message');
	await named('button', 'Save').last().press('Enter');
	await comes('which cannot be saved then', page.getByRole('alert').filter({ hasText: 'A run goes on here' }));
	await edited.last().focus();
	await tab.getByRole('button', { name: 'Stop', exact: true }).click();
	await settled();
	await page.waitForFunction(() => document.activeElement.matches('.ask textarea'));
	await page.keyboard.type('it');
	report('but keeps its text and the focus', await edited.last().inputValue() === 'half an edit', await log.innerText());
	report('as does another one', await edited.count() === 2 && await edited.first().inputValue() === 'another edit', await log.innerText());
	await page.keyboard.press('Escape');
	await edited.press('Escape');
	const kept = await page.evaluate(async () => { // where nobody looks, there are no frames in which messages would be built
		const { MessageList } = await import(new URL('list.js', document.querySelector('script[type=module]').src));
		const list = new MessageList(() => ({}), () => {}), frame = window.requestAnimationFrame;
		const messages = ['a', 'b'].map((id) => ({ message_id: id, role: 'user', content: [] }));
		document.body.append(list.node);
		list.show(messages, 0);
		while (list.first > 0) await new Promise((over) => setTimeout(over, 20));
		list.nodes[0].append(Object.assign(document.createElement('form'), { className: 'ask' }));
		window.requestAnimationFrame = () => {};
		for (let i = 0; i < 2; i++) list.show([...messages], 0);
		window.requestAnimationFrame = frame;
		list.growing = false;
		list.approach();
		while (list.first > 0) await new Promise((over) => setTimeout(over, 20));
		list.node.remove();
		return list.nodes.map((node) => Boolean(node.querySelector('.ask')));
	});
	report('also where the thread changes twice before anybody looks', kept.join() === 'true,false', kept);
	await tab.locator('main:not(.running)').waitFor();
	const articles = (of) => of.getByRole('log').getByRole('article').count();
	for (const ms of [20, 30, 40]) {
		await tab.getByLabel('Message', { exact: true }).fill(`/slow 1 ${ms}`);
		await tab.getByLabel('Message', { exact: true }).press('Enter');
		await tab.locator('main:not(.running)').waitFor();
		await page.waitForFunction((count) => document.querySelectorAll('[role=log] article').length >= count, await articles(tab));
	}
	const whole = page.waitForFunction((count) => document.querySelectorAll('[role=log] article').length === count, await articles(tab));
	report('one that is over at once is shown whole', await whole.catch(() => false), await log.innerText());
	await tab.getByLabel('Message', { exact: true }).fill('/ask And now?');
	await tab.getByLabel('Message', { exact: true }).press('Enter');
	const answer = named('group', 'Question').getByLabel('Answer', { exact: true });
	await answer.fill('half an ans');
	await tab.getByRole('log').and(tab.locator('[aria-busy=false]')).waitFor();
	await tab.getByLabel('Answer', { exact: true }).fill('all of it');
	await tab.getByLabel('Answer', { exact: true }).press('Enter');
	await comes('a question that is answered in another tab is answered here', said('Agent', 'answer: all of it'));
	await answer.waitFor({ state: 'detached' });
	await settled();
	report('and leaves the focus in the message', await page.evaluate(() => document.activeElement.getAttribute('aria-label')) === 'Message');
	await tab.close();
	const run = elsewhere('POST', 'v1/graph/invoke', { messages: [{ role: 'user', content: '/slow 4 500' }], config: { thread_id: thread } });
	await page.waitForTimeout(200);
	await ask('six');
	await comes('who waits for a run from elsewhere is told so', page.getByText('Another run goes on here'));
	await run;
	await comes('and has the next turn', said('Agent', 'echo: six'));
	await settled();
	const idle = await hourglass();
	await idle.addInitScript(() => {
		const later = window.setTimeout;
		window.pauses = [];
		window.setTimeout = (act, ms) => { window.pauses.push(ms); return later(act, ms); };
	});
	await idle.goto(page.url());
	await idle.getByRole('log').getByText('echo: six').waitFor();
	await idle.waitForFunction(() => window.pauses.includes(5000));
	await idle.clock.fastForward('01:00:00');
	await idle.waitForFunction(() => window.pauses.includes(30000));
	report('where nothing happens for long it looks less often for others', true);
	await elsewhere('POST', 'v1/graph/invoke', { messages: [{ role: 'user', content: 'seven' }], config: { thread_id: thread } });
	await idle.evaluate(() => document.dispatchEvent(new Event('visibilitychange')));
	await comes('but at once where somebody comes back', idle.getByRole('log').getByText('echo: seven'));
	await idle.context().close();
	for (const content of ['/slow 4 500', '/slow 5 600'])
		await elsewhere('POST', 'v1/graph/runs', { messages: [{ role: 'user', content }], config: { thread_id: thread } });
	// the page looks what comes next when the first one is over, and the second one must have begun by then
	const slowly = (route) => setTimeout(() => route.continue().catch(() => {}), 700);
	await page.route(`**/v1/threads/${thread}`, slowly);
	await page.reload();
	await comes('a run that waits for one that is shown follows it', said('Agent', 'tick 5'));
	await page.unroute(`**/v1/threads/${thread}`, slowly);
	await settled();
	await remove();
	await page.reload();
	await page.getByText('This conversation is not there.').getByRole('link', { name: 'New conversation' }).click();
	await comes('where it is gone another one can be begun', named('heading', 'New conversation'));
	forgive(/^(answer: 404|console: .* 404 )/);
}

async function runs() {
	await named('link', 'Runs').click();
	await comes('runs are listed', named('table', 'Runs'));
	await comes('and plotted', named('img', 'Durations'));
	await comes('with the names of their threads', named('table', 'Runs').getByRole('link', { name: 'hello world' }).first().or(named('table', 'Runs').getByRole('link', { name: 'Of colours' }).first()).first());
	const high = (await named('columnheader', 'Tokens').boundingBox()).height;
	report('no word of the table is broken', high < 50, high);
	await fits('Runs');
	const link = named('table', 'Runs').getByRole('link').nth(2), run = await link.getAttribute('href');
	await link.focus();
	const rows = await page.evaluateHandle(() => document.querySelector('tbody'));
	await page.request.post(new URL('v1/graph/invoke', address).href, { data: { messages: [{ role: 'user', content: 'hello' }] } });
	await page.waitForFunction((before) => before !== document.querySelector('tbody'), rows);
	report('a run more leaves the focus where it is', await page.evaluate(() => document.activeElement.getAttribute('href')) === run);
	await page.getByLabel('Status').selectOption('error');
	await comes('the reason of an error is in the list', named('table', 'Runs').getByRole('cell', { name: /^error .*oops/ }).first());
	await page.getByLabel('Status').selectOption('interrupted');
	const row = named('table', 'Runs').getByRole('row').filter({ hasText: 'interrupted' }).first();
	await row.getByRole('link').first().click();
	await comes('a run has a waterfall', named('img', 'Waterfall'));
	const paused = await named('img', 'Waterfall').locator('desc').textContent();
	report('which tells that it is paused', /^graph [^;]*, paused;/.test(paused), paused);
	await comes('and chunks', page.getByRole('list', { name: 'Chunks' }).getByRole('listitem').first());
	await fits('a run');
	await named('link', 'Chat').click();
	await ask('/slow 24 2000');
	await said('Agent', 'tick 1').first().waitFor();
	await named('link', 'Runs').click();
	await named('table', 'Runs').getByRole('row').filter({ hasText: 'running' }).getByRole('link').first().click();
	await comes('a run is followed', page.getByRole('list', { name: 'Chunks' }).getByText('tick 3').first());
	await comes('with its waterfall', named('img', 'Waterfall'));
	const widths = () => named('img', 'Waterfall').locator('desc').textContent();
	const first = await widths();
	await page.waitForFunction((before) => document.querySelector('[aria-label=Waterfall] desc').textContent !== before, first);
	report('which grows', true);
	report('and tells what goes on', /^graph .*, running; node: agent [^;]*, running/.test(first), first);
	const gone = page.waitForEvent('requestfailed');
	await page.route(/observability/, (route) => route.abort(), { times: 1 });
	await gone;
	await page.waitForResponse(/observability/);
	report('an outage of a moment leaves nothing behind', await page.getByRole('alert').count() === 0);
	forgive(/ERR_FAILED/);
	await press('Stop');
	await comes('and stopped', page.getByRole('definition').filter({ hasText: 'stopped' }));

	const chunk = (status) => `${JSON.stringify({ event: 'updates', data: { status } })}\n`;
	await page.route(/stream\?after=0$/, (route) => route.fulfill({ body: chunk('node_invoked').repeat(1500) + chunk('done') }), { times: 1 });
	await page.reload();
	await press('Further chunks (501)');
	await comes('all chunks of a long run can be seen', page.getByRole('list', { name: 'Chunks' }).getByRole('listitem').nth(1500));
	await page.route(/graph\/runs\?/, async (route) => {
		const { data: { runs: [one] } } = await (await route.fetch()).json(), limit = new URL(route.request().url()).searchParams.get('limit');
		await route.fulfill({ json: { data: { runs: Array.from({ length: Math.min(limit, 150) }, (_, i) => ({ ...one, run_id: `run ${i}` })) } } });
	});
	await page.getByRole('link', { name: 'All runs' }).click();
	await press('More');
	await comes('and so can more than a hundred runs', named('table', 'Runs').getByRole('link', { name: 'run 149', exact: true }));
	report('until there are no more', await named('button', 'More').count() === 0);
	await page.unrouteAll({ behavior: 'wait' });
}

async function memory() {
	await named('link', 'Memory').click();
	await press('Add');
	await page.keyboard.type('Likes green tea');
	await press('Save');
	await comes('a memory is added', page.getByRole('cell', { name: 'Likes green tea' }));
	await page.getByLabel('Search').fill('tea');
	await page.getByLabel('Strategy').selectOption('relevance');
	await comes('and found, with its score', page.getByRole('cell', { name: '1.000' }));
	await press('Edit');
	await page.getByLabel('Content', { exact: true }).fill('Likes black tea');
	await press('Save');
	await comes('and changed', page.getByRole('cell', { name: 'Likes black tea' }));
	await fits('Memory');
	await press('Forget');
	await page.getByRole('dialog').getByRole('button', { name: 'Forget' }).click();
	await comes('and forgotten', page.getByText('Nothing fits.'));
}

async function files() {
	await named('link', 'Files').click();
	await comes('what was attached in Chat is listed', named('button', 'Open note.txt'));
	await page.locator('input[type=file]').setInputFiles({ name: 'a.txt', mimeType: 'text/plain', buffer: Buffer.from('what is in it') });
	await comes('a file is uploaded and shown', page.getByRole('region', { name: 'File' }).getByText('what is in it').first());
	await page.getByLabel('File id').fill('none');
	await page.getByLabel('File id').press('Enter');
	await comes('Enter opens a file by its id', page.getByRole('alert').filter({ hasText: 'File not found' }));
	forgive(/^(answer: 404|console: .* 404 )/);
	const wide = Buffer.alloc(54 + 3 * 3000); // a picture of 3000 to 1 pixels
	wide.write('BM');
	for (const [at, value] of [[2, wide.length], [10, 54], [14, 40], [18, 3000], [22, 1], [26, 1 + (24 << 16)]]) wide.writeUInt32LE(value, at);
	await page.locator('input[type=file]').setInputFiles({ name: 'wide.bmp', mimeType: 'image/bmp', buffer: wide });
	const picture = page.getByRole('region', { name: 'File' }).getByRole('img', { name: 'wide.bmp' });
	await comes('so is a picture', picture);
	await fits('Files');
	let late;
	const first = page.waitForRequest(/\/info$/), over = (name) => named('button', name).and(page.locator(':not([aria-disabled])')).waitFor();
	await page.route(/\/info$/, (route) => { late = route; }, { times: 1 });
	await press('Open a.txt');
	await first;
	await press('Open wide.bmp');
	await over('Open wide.bmp');
	await late.continue();
	await over('Open a.txt');
	report('a file that comes late does not take the place of another', await named('region', 'File').getByRole('heading', { name: 'wide.bmp' }).count() === 1);
	const shown = await picture.getAttribute('src'), freed = page.evaluate(() => new Promise((done) => {
		const revoke = URL.revokeObjectURL.bind(URL), all = [];
		URL.revokeObjectURL = (one) => { all.push(one); revoke(one); };
		window.addEventListener('hashchange', () => setTimeout(() => done(all)), { once: true });
	}));
	let held;
	await page.route(/files\/upload/, (route) => { held = route; }, { times: 1 });
	await choose('b.txt', 'c.txt');
	while (!held) await page.waitForTimeout(20);
	await named('link', 'Evaluations').click();
	report('who leaves the view leaves no bytes behind', (await freed).includes(shown));
	await held.continue();
	await comes('but all files that were chosen are uploaded', page.getByText('c.txt is uploaded'));
}

async function evaluations() {
	await named('link', 'Evaluations').click();
	await comes('reports are plotted', named('img', 'Pass rate'));
	await comes('so are scores', named('img', 'Score'));
	await named('table', 'Runs').getByRole('link').first().click();
	await comes('and compared with the run before', named('table', 'Against the run before'));
	await page.getByText('Refund: 0.95').click();
	await comes('case by case', page.getByText('How do I get a refund?'));
	await comes('side by side', named('region', 'Before').getByText('pass, 0.9'));
	await fits('Evaluations');
}

async function service() {
	await page.route(/service\.js$/, (route) => route.fulfill({ status: 404 }), { times: 1 });
	await named('link', 'Service').click();
	await press('Reload'); // as after an update of the service
	forgive(/service\.js|status of 404/);
	const table = named('table', 'Service');
	await comes('the service is shown', table.getByRole('row', { name: 'Storage sqlite' }));
	await comes('with its version', table.getByRole('row', { name: /^Version agentgraph [0-9.]+$/ }));
	await comes('its limits', table.getByRole('row', { name: /^Limit of a file [0-9.]+ MB$/ }));
	await comes('its latency', table.getByRole('row', { name: /^Latency half within / }));
	await comes('its instances', named('table', 'Instances').getByRole('row').nth(1));
	await comes('and its load as a plot', named('img', 'Load'));
	report('the address names the view', /#\/service$/.test(page.url()), page.url());
	await page.waitForFunction(() => document.querySelector('[aria-label=Load]').querySelectorAll('rect').length > 2);
	report('it goes on over time', true);
	const when = await page.evaluate(async () => {
		const { when: words } = await import(new URL('dom.js', document.querySelector('script[type=module]').src));
		return words('2026-01-02T13:45:00Z').textContent;
	});
	report('what was long ago has its time, too', /\d:\d\d/.test(when), when); // in whatever zone
	const tab = await hourglass();
	await tab.goto(`${address}#/threads`);
	await tab.getByRole('table', { name: 'Threads' }).locator('time').first().waitFor();
	await tab.clock.fastForward('02:00:00');
	await comes('words of time follow it', tab.getByText('2 h ago').first());
	await tab.clock.fastForward('26:00:00');
	await tab.locator('time.ago').first().waitFor({ state: 'detached' });
	report('until it is a day ago', /\d:\d\d/.test(await tab.locator('time').first().innerText()));
	await tab.context().close();
	await page.route(/v1\/service$/, (route) => route.abort(), { times: 1 });
	const away = page.getByRole('alert').filter({ hasText: 'cannot be reached' });
	await comes('a service that is away is told of there', away);
	await away.waitFor({ state: 'detached' });
	report('until it is back', true);
	forgive(/ERR_FAILED/);
	await fits('Service');
}

// Checks branches that ask at the same time.
async function questions() {
	await press('New conversation');
	await ask('hi');
	const group = named('group', 'Question');
	const of = (text) => group.filter({ hasText: text });
	await comes('two branches ask', of('y?'));
	report('each in a group', (await group.count()) === 2, await group.count());
	await settled();
	await of('x?').getByLabel('Answer', { exact: true }).fill('kept');
	await of('y?').getByLabel('Answer', { exact: true }).fill('late');
	await of('y?').getByRole('button', { name: 'Answer', exact: true }).click();
	await comes('the second is answered first', said('Agent', 'y is late'));
	await comes('the other one stays', of('x?'));
	await settled();
	report('with what was typed', (await of('x?').getByLabel('Answer', { exact: true }).inputValue()) === 'kept');
	await of('x?').getByRole('button', { name: 'Answer', exact: true }).click();
	await comes('and is answered then', said('Agent', 'both: kept late'));
	await settled();
	await ask('again');
	await of('y?').waitFor();
	await settled();
	await of('x?').getByLabel('Answer', { exact: true }).fill('one');
	await of('y?').getByLabel('Answer', { exact: true }).fill('two');
	await press('Answer all');
	await comes('all can be answered at once', said('Agent', 'both: one two'));
	await settled();
	report('and then none is left', (await group.count()) === 0);

	await press('New conversation');
	await named('heading', 'New conversation').waitFor();
	await ask('show it');
	const approve = named('button', 'Approve');
	await approve.waitFor();
	await settled();
	report('the answers to an approval are in sight', await approve.evaluate((node) => {
		const box = node.getBoundingClientRect();
		return document.elementFromPoint(box.x + box.width / 2, box.y + box.height - 2) === node;
	}));
	report('the answer has the focus', await page.evaluate(() => document.activeElement.getAttribute('aria-label') === 'Answer'));
	await page.keyboard.type('{"approve": true, "arguments": {"c1": {"text": "b"}}}');
	await page.keyboard.press('Enter');
	await comes('a call is approved with other arguments', said('Agent', /^.*done: .*"output":.*"text":"b"/));
	await settled();
	await named('link', 'Graph').click();
	await page.locator('svg.graph').waitFor();
	report('where a failure leads is in the picture', /agent to both if it fails/.test(await page.locator('svg.graph desc').textContent()) && await page.locator('svg.graph .failing').count() === 1);
	await drawn();
}

async function live() {
	await page.getByLabel('Token').fill(token);
	await named('button', 'Connect').click();
	await named('button', 'Start').waitFor();
	report('a live graph has no Chat', (await named('link', 'Chat').count()) === 0);
	await page.evaluate((bad) => sessionStorage.setItem('agentgraph-token', bad), `${token}x`);
	await press('Start');
	await comes('a token that is good no more is asked for again', page.getByLabel('Token'));
	forgive(/403/);
	await page.getByLabel('Token').fill(token);
	await named('button', 'Connect').click();
	const send = named('button', 'Send').and(page.locator(':enabled'));
	await send.waitFor();
	await page.getByLabel('Text').fill('good day');
	await send.click();
	await comes('a live agent is heard', log_('Transcript').getByText('Agent: you said: good day'));
	await fits('Live');
	await press('End');
	await comes('and left', page.getByText('The conversation is over (1000'));
	const thread = page.getByRole('main').getByRole('link'), id = await thread.innerText();
	await thread.click();
	await page.getByRole('link', { name: 'Open in Live' }).click();
	await comes('its thread leads back to it', named('link', id));
	report('by its address', page.url().endsWith(`#/live/${id}`), page.url());
	const startNowhere = async () => {
		await page.evaluate(() => {
			const Real = window.WebSocket;
			window.WebSocket = class extends Real { constructor(address, protocols) { super(`${address}/nowhere`, protocols); window.WebSocket = Real; } };
		});
		await press('Start');
	};
	await page.route(/none\/stream$/, (route) => route.fulfill({ status: 429, json: { detail: 'Rate limit exceeded' } }), { times: 1 });
	await startNowhere();
	await comes('why no socket is opened is told', page.getByRole('alert').filter({ hasText: 'Rate limit exceeded' }));
	await startNowhere();
	await comes('also where no request tells', page.getByRole('alert').filter({ hasText: 'cannot be opened' }));
	forgive(/nowhere|none\/stream$|status of (404|429)/);
	await page.evaluate(() => Object.defineProperty(window, 'isSecureContext', { value: false, configurable: true }));
	await press('Start');
	await comes('that a page without HTTPS has no sound is told', page.getByRole('alert').filter({ hasText: 'HTTPS' }));
	await page.evaluate(() => Object.defineProperty(window, 'isSecureContext', { value: true }));
	await page.evaluate(() => { // as where the service is away
		const { prototype } = AudioWorklet, real = prototype.addModule;
		prototype.addModule = async () => { prototype.addModule = real; throw new DOMException('Unable to load a worklet\'s module.', 'AbortError'); };
		const devices = navigator.mediaDevices, open = devices.getUserMedia.bind(devices);
		devices.getUserMedia = async (what) => (window.given = await open(what));
	});
	await press('Start');
	await comes('that no loudspeaker can be opened is told', page.getByRole('alert').filter({ hasText: 'cannot be reached' }));
	await press('Start');
	await named('button', 'End').and(page.locator(':enabled')).waitFor();
	report('until it can', (await page.getByRole('alert').count()) === 0);
	await page.evaluate(() => window.given.getTracks()[0].dispatchEvent(new Event('ended')));
	await comes('a microphone that is taken away is told of', log_('Transcript').getByText('The microphone is gone'));
	await page.getByLabel('Text').fill('/fatal gone');
	await named('button', 'Send').press('Enter');
	await comes('a conversation that breaks off says so', page.getByRole('alert').filter({ hasText: 'gone' }));
	await named('button', 'Start').and(page.locator(':enabled')).waitFor();
	report('and what the agent has not heard can be sent again', await page.getByLabel('Text').inputValue() === '/fatal gone');
	report('the focus is where to begin again', await page.evaluate(() => document.activeElement.textContent) === 'Start');

	await page.evaluate(() => {
		const devices = navigator.mediaDevices, open = devices.getUserMedia.bind(devices);
		devices.getUserMedia = async (what) => {
			document.title = 'asked';
			while (location.hash !== '#/graph') await new Promise((over) => setTimeout(over, 20));
			window.given = await open(what);
			return window.given;
		};
	});
	await press('Start');
	await page.waitForFunction(() => document.title === 'asked');
	await named('link', 'Graph').click();
	await page.waitForFunction(() => window.given?.getTracks().every((track) => track.readyState === 'ended'));
	report('a microphone that is given too late is let go', true);
}

const log_ = (name) => named('log', name);

async function connect() {
	const dialog = page.getByRole('dialog', { name: 'Connect' });
	await comes('a token is asked for', dialog);
	report('and there is nothing to disconnect from', (await page.locator('header button').count()) === 0);
	await dialog.getByLabel('Token').fill('nonsense');
	await dialog.getByRole('button', { name: 'Connect' }).click();
	await comes('a wrong one is refused in the words of the service', dialog.getByRole('alert').filter({ hasText: 'Invalid token' }));
	forgive(/^(answer: 403|console: .* 403 )/);
	await dialog.getByLabel('Token').fill(token);
	await dialog.getByRole('button', { name: 'Connect' }).click();
	await ask('/whoami');
	await comes('a right one lets in', said('Agent', 'ann'));
	await settled();
	await page.reload();
	await comes('it is kept for the session', said('Agent', 'ann'));
	const tab = await page.context().newPage(), runs = () => page.evaluate(() => localStorage.getItem('agentgraph-runs'));
	const known = await runs();
	await tab.goto(address);
	await tab.getByLabel('Token').fill(token);
	await tab.getByRole('button', { name: 'Connect' }).click();
	await tab.getByLabel('Message', { exact: true }).waitFor();
	report('another tab that connects leaves what this one knows of runs', known && await runs() === known, known);
	await tab.getByRole('button', { name: 'Disconnect' }).click();
	await tab.getByLabel('Token').waitFor();
	await page.waitForFunction((before) => localStorage.getItem('agentgraph-runs') === before, known);
	report('and so does one that disconnects', true);
	await tab.close();
	const upload = page.waitForRequest(/files\/upload/);
	await page.route(/files\/upload/, () => {}, { times: 1 });
	await page.locator('input[type=file]').setInputFiles({ name: 'mine.txt', mimeType: 'text/plain', buffer: Buffer.from('a') });
	const request = await upload;
	await press('Disconnect');
	report('with whoever disconnects an upload ends', await request.response() === null);
	await dialog.getByLabel('Token').fill(token);
	await dialog.getByRole('button', { name: 'Connect' }).click();
	await said('Agent', 'ann').waitFor();
	forgive(/ERR_ABORTED/);
	await page.getByLabel('Message', { exact: true }).fill('half a thought');
	await page.evaluate((bad) => sessionStorage.setItem('agentgraph-token', bad), `${token}x`);
	await page.getByLabel('Message', { exact: true }).focus();
	await page.locator('input[type=file]').setInputFiles({ name: 'a.txt', mimeType: 'text/plain', buffer: Buffer.from('a') });
	await comes('where it is good no more another one is asked for', dialog);
	for (let i = 0; i < 3; i++) await page.keyboard.press('Escape');
	await comes('whatever keys are pressed', dialog);
	await dialog.getByLabel('Token').fill(token);
	await dialog.getByRole('button', { name: 'Connect' }).click();
	await comes('and what was refused is done then', page.getByRole('button', { name: 'Remove a.txt' }));
	report('beside what had been typed', await page.getByLabel('Message', { exact: true }).inputValue() === 'half a thought');
	report('and the focus is where it was', await page.evaluate(() => document.activeElement.getAttribute('aria-label')) === 'Message');
	forgive(/^(answer: 403|console: .* 403 )/);
	await press('Disconnect');
	await comes('and given up', dialog);
	const kept = await page.evaluate(() => [sessionStorage, localStorage].flatMap(Object.keys));
	report('with all that was kept', kept.length === 0, kept);
}

// Checks that views a role cannot use are not there.
async function rights() {
	await page.getByLabel('Token').fill(token);
	await press('Connect');
	await page.locator('nav a[aria-current=page]').waitFor();
	const there = (await page.locator('nav a').allInnerTexts()).join(' ');
	report(`there are ${views}`, there === views, there);
	const first = await page.locator('nav a').first().innerText();
	report('the first of them is shown', await named('link', first).getAttribute('aria-current') === 'page');
	if (first === 'Chat') {
		await page.route(/graph\/stream$/, (route) => route.fulfill({ status: 503, json: { detail: 'No room now' } }), { times: 1 });
		await ask('hello');
		await page.locator('main:not(.running)').waitFor();
		await comes('what is refused at the beginning is told', page.getByRole('alert').filter({ hasText: 'No room now' }));
		report('and stays in the field', await page.getByLabel('Message', { exact: true }).inputValue() === 'hello');
		forgive(/503|404/);
		for (const text of ['hello', 'good morning']) {
			await ask(text);
			await comes('who may only talk does so', said('Agent', `echo: ${text}`));
			await settled();
		}
		report('without any refusal', await page.getByRole('alert').count() === 0);
	}
	await page.evaluate(() => { location.hash = '#/memory'; });
	await comes('why another one is not shown is told', page.getByRole('alert').filter({ hasText: 'Memory is not here' }));
	report('and it cannot be reached', await named('link', first).getAttribute('aria-current') === 'page');
}

if (views === 'live') await walk(address, live);
else if (token === 'questions') await walk(address, questions);
else if (views) await walk(address, rights);
else if (token) await walk(address, connect);
else await walk(address, chat, graph, threads, changedElsewhere, runs, memory, files, evaluations, service);
