/* SPDX-License-Identifier: ISC */
// Talking to a live agent: microphone and speaker, transcripts of both sides, levels.
import { get, path, socket, token } from './api.js';
import { button, complain, input, link, make, newId, say, settle } from './dom.js';

async function worklet(sampleRate, name) {
	if (!isSecureContext) throw new Error('Browsers let only pages over HTTPS, or of this machine, play and record sound');
	const context = new AudioContext({ sampleRate });
	try {
		await context.audioWorklet.addModule(new URL('./audio.js', import.meta.url));
	} catch {
		await context.close();
		throw new Error('The service cannot be reached');
	}
	await context.resume();
	return new AudioWorkletNode(context, name, { outputChannelCount: [1] });
}

function levelOf(packet) {
	const samples = new Int16Array(packet);
	return Math.min(1, Math.sqrt(samples.reduce((sum, one) => sum + (one / 32768) ** 2, 0) / Math.max(samples.length, 1)) * 3);
}

// What codes mean that come without a reason.
const reasons = { 1006: 'the connection broke', 1009: 'a message was too long', 1013: 'the service has no room' };

export async function show(main, [given], { signal }) {
	const thread = given || newId();
	const log = make('div.log', { role: 'log', 'aria-label': 'Transcript', tabIndex: 0 }, make('p.empty', 'Start connects, and asks for the microphone. Without one, you can type then.'));
	const heard = make('meter', { min: 0, max: 1, 'aria-label': 'Microphone level' }), spoken = make('meter', { min: 0, max: 1, 'aria-label': 'Speaker level' });
	const [label, words] = input('Text');
	let live, ears, mouth, stream, open = {}, unheard = ''; // unheard: what was typed last, until the agent does something

	function note(kind, text) {
		const node = make(`p.message.${kind}`, text);
		log.append(node);
		log.scrollTop = log.scrollHeight;
		return node;
	}

	// A transcript comes in pieces that are joined; the last one, which may be empty, says that it is finished.
	function transcript(kind, who, { text, finished }) {
		if (text) (open[kind] ||= note(kind, `${who}: `)).append(text);
		if (finished) delete open[kind];
	}

	const shown = {
		input_transcript: (event) => transcript('user', 'You', event),
		output_transcript: (event) => transcript('assistant', 'Agent', event),
		tool_call: (event) => note('tool', `Calls ${event.name} ${JSON.stringify(event.args)}`),
		tool_result: (event) => note('tool', `Result ${JSON.stringify(event.result)}`),
		turn_complete: () => say('The agent has said what it had to'),
		interrupted: () => { mouth?.port.postMessage(null); note('tool', 'Interrupted'); },
		go_away: () => say('The connection to the model changes'),
		agent_changed: (event) => note('tool', `Agent ${event.author}`),
		error: (event) => complain(new Error(event.message)),
	};

	async function end() {
		stream?.getTracks().forEach((track) => track.stop());
		const contexts = [ears, mouth].map((node) => node?.context);
		live = ears = mouth = stream = undefined;
		open = {};
		heard.value = spoken.value = 0;
		show_(false);
		await Promise.all(contexts.map((context) => context?.close()));
	}

	async function listen() {
		try {
			stream = await navigator.mediaDevices.getUserMedia({ audio: { channelCount: 1, echoCancellation: true, noiseSuppression: true } });
		} catch {
			note('tool', 'There is no microphone, or it may not be used; typing works.');
			return;
		}
		signal.throwIfAborted();
		stream.getTracks()[0].onended = () => note('tool', 'The microphone is gone; typing works.');
		ears = await worklet(16000, 'microphone');
		signal.throwIfAborted();
		ears.context.createMediaStreamSource(stream).connect(ears);
		ears.port.onmessage = ({ data }) => { heard.value = levelOf(data); if (live?.readyState === WebSocket.OPEN) live.send(data); };
	}

	// Opens loudspeaker, microphone and socket.  If the view is left before all are open, nobody is listened to.
	async function begin() {
		if (live) return;
		log.querySelector('.empty')?.remove();
		say('Connecting …');
		try {
			mouth = await worklet(24000, 'loudspeaker');
			signal.throwIfAborted();
			mouth.connect(mouth.context.destination);
			await listen();
			signal.throwIfAborted();
		} catch (error) {
			await end();
			throw error;
		}
		live = socket('v1/graph/live');
		live.binaryType = 'arraybuffer';
		live.onopen = () => {
			live.send(JSON.stringify({ thread_id: thread }));
			history.replaceState(null, '', `#/live/${path(thread)}`);
			say('');
			show_(true);
		};
		live.onmessage = ({ data }) => {
			if (typeof data === 'string') {
				const event = JSON.parse(data);
				if (['output_transcript', 'tool_call', 'turn_complete'].includes(event.type)) unheard = '';
				return shown[event.type]?.(event);
			}
			spoken.value = levelOf(data);
			return mouth?.port.postMessage(data, [data]);
		};
		live.onclose = async ({ code, reason }) => {
			if (!start.disabled) return refused().catch(complain);
			words.value ||= unheard;
			unheard = '';
			const why = reason || reasons[code], over = `The conversation is over (${code}${why ? `, ${why}` : ''})`;
			if (!signal.aborted) say(code === 1000 ? over : '');
			if (code !== 1000 && !signal.aborted) complain(new Error(over));
			return end().catch(complain);
		};
	}

	// Browsers do not tell why a socket was not opened.  A request that needs the same right is told, unless there are
	// too many sockets, and asks for another token if it was that.
	async function refused() {
		const before = token.get();
		await end();
		const error = await get(`v1/threads/${path(thread)}/runs/none/stream`, signal).catch((one) => one);
		if (signal.aborted) return undefined;
		if (token.get() !== before) return begin();
		throw error.status === 404 ? new Error('The connection to the service cannot be opened: too many are open, or something on the way lets no WebSocket pass') : error;
	}

	const finish = () => {
		live?.send(JSON.stringify({ type: 'close' }));
		words.focus();
		stop.disabled = send.disabled = true;
		say('It ends as soon as the agent has finished');
	};
	const start = button('Start', begin), stop = button('End', finish), send = make('button', 'Send');
	const form = make('form.tools', label, send);
	const show_ = (connected) => {
		const had = [start, stop, send].includes(document.activeElement);
		start.disabled = connected;
		stop.disabled = send.disabled = !connected;
		if (had) (connected ? words : start).focus();
	};
	form.addEventListener('submit', (event) => {
		event.preventDefault();
		settle();
		if (!words.value.trim() || live?.readyState !== WebSocket.OPEN) return;
		note('user', `You: ${words.value}`);
		live.send(JSON.stringify({ type: 'text', text: words.value }));
		unheard = words.value;
		words.value = '';
	});
	signal.addEventListener('abort', () => { live?.close(); end(); });
	main.replaceChildren(make('h2', 'Live'), make('p', 'Conversation ', link(thread, `#/threads/${path(thread)}`)), make('div.actions', start, stop),
		make('div.tools', make('label.field', make('span', 'Microphone'), heard), make('label.field', make('span', 'Speaker'), spoken)), log, form);
	show_(false);
}
