/* SPDX-License-Identifier: ISC */
'use strict';

/* ---- Audio: the microphone's is sent at 16 kHz, the agent's comes at 24 kHz. */

/* Runs in the audio thread of a context at 16 kHz: sends packets of 20 ms as soon as they are full. */
const microphone = `
registerProcessor('microphone', class extends AudioWorkletProcessor {
	constructor() {
		super();
		this.packet = new Int16Array(320);
		this.filled = 0;
	}
	process([[channel]]) {
		for (const sample of channel ?? []) {
			this.packet[this.filled++] = Math.max(-1, Math.min(1, sample)) * 32767;
			if (this.filled === this.packet.length) {
				this.port.postMessage(this.packet.slice().buffer);
				this.filled = 0;
			}
		}
		return true;
	}
});`;

/* Runs in the audio thread of a context at 24 kHz: plays what is posted to it, and drops the rest of it on null. */
const loudspeaker = `
registerProcessor('loudspeaker', class extends AudioWorkletProcessor {
	constructor() {
		super();
		this.queue = [];
		this.at = 0;
		this.port.onmessage = ({ data }) => {
			if (data)
				this.queue.push(new Int16Array(data));
			else
				this.queue = [], this.at = 0;
		};
	}
	process(inputs, [[channel]]) {
		for (let i = 0; i < channel.length && this.queue.length; i++) {
			channel[i] = this.queue[0][this.at++] / 32768;
			if (this.at === this.queue[0].length)
				this.queue.shift(), this.at = 0;
		}
		return true;
	}
});`;

async function worklet(sampleRate, name, source) {
	const context = new AudioContext({ sampleRate });
	await context.audioWorklet.addModule(`data:text/javascript,${encodeURIComponent(source)}`);
	await context.resume();
	return new AudioWorkletNode(context, name, { outputChannelCount: [1] });
}

/* ---- The socket: onevent gets the JSON events, onaudio the audio, and onclose is called at the end. */

class Live {
	constructor(url, token, init, handlers) {
		this.socket = new WebSocket(url, token ? ['service-bearer', token] : []);
		this.socket.binaryType = 'arraybuffer';
		this.socket.onopen = () => { this.send(init); handlers.onopen(); };
		this.socket.onmessage = ({ data }) =>
			typeof data === 'string' ? handlers.onevent(JSON.parse(data)) : handlers.onaudio(data);
		this.socket.onclose = handlers.onclose;
	}
	get open() { return this.socket.readyState === WebSocket.OPEN; }
	send(frame) { if (this.open) this.socket.send(JSON.stringify(frame)); }
	audio(packet) { if (this.open) this.socket.send(packet); }
	text(text) { this.send({ type: 'text', text }); }
	close() { this.send({ type: 'close' }); }
}

/* ---- The page */

const $ = id => document.getElementById(id);
const thread = crypto.randomUUID();
let live, input, output, stream;

$('url').value = new URLSearchParams(location.search).get('url') ?? 'ws://127.0.0.1:8080/v1/graph/live';

function note(kind, text) {
	const item = document.createElement('li');
	item.className = kind;
	item.textContent = text;
	$('log').prepend(item);
	return item;
}

/* A transcript comes in pieces that are joined; the last one, which may be empty, says that it is finished. */
const unfinished = {};

function words(kind, who, { text, finished }) {
	if (text && !unfinished[kind])
		unfinished[kind] = note(kind, `${who}: `);
	if (text)
		unfinished[kind].textContent += text;
	if (finished)
		delete unfinished[kind];
}

const shown = {
	input_transcript: e => words('user', 'You', e),
	output_transcript: e => words('agent', 'Agent', e),
	tool_call: e => note('note', `calls ${e.name} ${JSON.stringify(e.args)}`),
	tool_result: e => note('note', `result ${JSON.stringify(e.result)}`),
	turn_complete: () => note('note', 'turn complete'),
	interrupted: () => { output.port.postMessage(null); note('note', 'interrupted'); },
	go_away: e => note('note', `the model's connection changes, time left ${e.time_left}`),
	agent_changed: e => note('note', `agent ${e.author}`),
	error: e => note('error', `${e.code ?? 'error'}: ${e.message}`),
};

function level(packet) {
	const samples = new Int16Array(packet);
	$('level').value = Math.sqrt(samples.reduce((sum, s) => sum + (s / 32768) ** 2, 0) / samples.length) * 3;
}

function show(connected) {
	$('state').textContent = connected ? 'listening' : 'not connected';
	$('button').textContent = connected ? 'Stop' : 'Talk';
	for (const element of $('say').elements)
		element.disabled = !connected;
}

async function stop() {
	stream?.getTracks().forEach(track => track.stop());
	await Promise.all([input, output].map(node => node?.context.close()));
	live = input = output = stream = undefined;
	show(false);
}

async function start() {
	stream = await navigator.mediaDevices.getUserMedia(
		{ audio: { channelCount: 1, echoCancellation: true, noiseSuppression: true } });
	input = await worklet(16000, 'microphone', microphone);
	output = await worklet(24000, 'loudspeaker', loudspeaker);
	output.connect(output.context.destination);
	input.context.createMediaStreamSource(stream).connect(input);
	input.port.onmessage = ({ data }) => { level(data); live?.audio(data); };
	live = new Live($('url').value, $('token').value, { thread_id: thread }, {
		onopen: () => show(true),
		onevent: event => shown[event.type]?.(event),
		onaudio: data => output?.port.postMessage(data, [data]),
		onclose: ({ code, reason }) => { note('note', `closed: ${code} ${reason}`); stop(); },
	});
}

$('start').onsubmit = event => {
	event.preventDefault();
	if (live) {
		live.close();
		return;
	}
	$('button').disabled = true; // while the microphone is asked for
	start().catch(error => { note('error', error.message); stop(); }).finally(() => { $('button').disabled = false; });
};

$('say').onsubmit = event => {
	event.preventDefault();
	note('user', `You: ${$('text').value}`);
	live?.text($('text').value);
	$('text').value = '';
};
