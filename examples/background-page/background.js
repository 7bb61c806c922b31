/* SPDX-License-Identifier: ISC */
'use strict';

const $ = id => document.getElementById(id);

/* What a reload must not lose: the page's address names the run, after the #. */
const memory = new URLSearchParams(location.hash.slice(1));
$('url').value = memory.get('url') ?? 'http://127.0.0.1:8080';
$('token').value = sessionStorage.getItem('token') ?? '';

function remember(thread, run) {
	memory.set('url', $('url').value);
	memory.set('thread', thread);
	memory.set('run', run);
	location.hash = memory;
	sessionStorage.setItem('token', $('token').value);
}

const path = behind => `${memory.get('url')}/v1/threads/${encodeURIComponent(memory.get('thread'))}` +
	`/runs/${encodeURIComponent(memory.get('run'))}${behind}`;

const headers = () => ({
	'Content-Type': 'application/json',
	...($('token').value && { Authorization: `Bearer ${$('token').value}` }),
});

const pause = ms => new Promise(resolve => setTimeout(resolve, ms));

/* ---- Starting. The page chooses the id of the run, so that a submission can be sent again if its answer was lost. */

async function start() {
	remember(memory.get('thread') ?? crypto.randomUUID(), crypto.randomUUID());
	$('go').disabled = true;
	$('log').replaceChildren();
	show('sending');
	const body = JSON.stringify({
		messages: [{ role: 'user', content: $('message').value }],
		config: { thread_id: memory.get('thread'), run_id: memory.get('run') },
	});
	for (;;) {
		try {
			const answer = await fetch(`${memory.get('url')}/v1/graph/runs`, { method: 'POST', headers: headers(), body });
			if (answer.status === 202)
				return follow();
			if (answer.status !== 503)
				return refused(answer);
		} catch {
			show('the service cannot be reached');
		}
		await pause(1000);
	}
}

/* ---- Following, from the first chunk on and for as long as it takes. */

/* EventSource reconnects by itself, but cannot send a token. */
function followEvents() {
	const events = new EventSource(path('/stream?response_granularity=low'));
	const take = event => {
		if (event.data && chunk(JSON.parse(event.data)))
			events.close();
		if (!event.data && events.readyState === EventSource.CLOSED)
			end('refused'); /* there is no such run, or no right to see it */
	};
	for (const name of ['message', 'updates', 'error', 'custom'])
		events.addEventListener(name, take);
}

/* Does the same by hand: after= is the number of the last chunk that came. */
async function followLines() {
	for (let after = 0; ; await pause(1000)) {
		try {
			const answer = await fetch(path(`/stream?response_granularity=low&after=${after}`), { headers: headers() });
			if (!answer.ok && answer.status < 502)
				return refused(answer);
			let text = '';
			for await (const piece of answer.body.pipeThrough(new TextDecoderStream())) {
				const lines = (text + piece).split('\n');
				text = lines.pop();
				for (const line of lines) {
					const read = JSON.parse(line);
					after = read.metadata.seq;
					if (chunk(read))
						return;
				}
			}
		} catch {
			show('the stream is taken up again');
		}
	}
}

function follow() {
	$('log').replaceChildren();
	$('go').disabled = true;
	$('stop').disabled = false;
	show('running');
	return $('token').value ? followLines() : followEvents();
}

/* ---- Showing */

const show = text => $('state').textContent = text;

function note(kind, text) {
	const item = document.createElement('li');
	item.className = kind;
	item.textContent = text;
	$('log').append(item);
	return item;
}

/* Only now another run may be started: the page follows one. */
function end(text) {
	$('go').disabled = false;
	$('stop').disabled = true;
	show(text);
}

async function refused(answer) {
	end('refused'); /* first: what a proxy says may be no JSON */
	note('error', (await answer.json()).detail);
}

/* First come the pieces of a message, then the whole message with the same id. */
const pieces = {};

const words = message => message.content.filter(block => block.type === 'text').map(block => block.text).join('');

/* Shows a chunk; true if it was the last one. */
function chunk({ event, message, data }) {
	if (event === 'message') {
		pieces[message.message_id] ??= note('', '');
		if (message.delta)
			pieces[message.message_id].textContent += words(message);
		else
			pieces[message.message_id].textContent = words(message);
	}
	if (data?.status === 'interrupted')
		note('note', `paused: ${data.interrupt?.value?.question ?? data.reason}`);
	if (data?.status === 'stopped')
		note('note', 'stopped');
	if (data?.status === 'restarted')
		note('note', `its process died, attempt ${data.attempt}`);
	if (data?.status === 'error')
		note('error', data.reason);
	if (data?.status !== 'done')
		return false;
	end('over');
	return true;
}

$('start').onsubmit = event => {
	event.preventDefault();
	start();
};

$('stop').onclick = () => fetch(path('/stop'), { method: 'POST', headers: headers() });

if (memory.get('run'))
	follow();
