// SPDX-License-Identifier: ISC
// Conversations of the official AG-UI client with builtin:demo, the same in Node and in a page: its event verifier has
// to accept every stream.  Each fact is reported by report(name, good, what was found).

const TERMINAL = ['RUN_FINISHED', 'RUN_ERROR'];

// One conversation: an agent of the client, and what came of its last run.
class Talk {
	constructor(HttpAgent, options, threadId) {
		this.agent = new HttpAgent({ ...options, threadId });
		this.threadId = threadId;
		this.runs = 0;
	}

	// Makes a run; the tools are those that the page has.
	async run(parameters = {}) {
		const runId = `${this.threadId}-${++this.runs}`;
		this.events = [];
		this.failure = null;
		try {
			await this.agent.runAgent({ runId, ...parameters }, {
				onEvent: ({ event }) => { this.events.push(event); },
			});
		} catch (error) {
			this.failure = String(error?.message ?? error);
		}
		this.runId = runId;
		return this;
	}

	async say(content, parameters) {
		this.agent.addMessage({ id: `${this.threadId}-user-${this.runs}`, role: 'user', content });
		return this.run(parameters);
	}

	async answer(toolCallId, content) {
		this.agent.addMessage({ id: `${this.threadId}-tool-${this.runs}`, role: 'tool', toolCallId, content });
		return this.run();
	}

	of(type) {
		return this.events.filter((event) => event.type === type);
	}

	// Checks what the client does not: one terminal event, at the end, and the ids of the run.
	get wellFormed() {
		const [first] = this.events, last = this.events.at(-1);
		const ends = this.events.filter((event) => TERMINAL.includes(event.type));
		return first?.type === 'RUN_STARTED' && first.threadId === this.threadId && first.runId === this.runId &&
			ends.length === 1 && ends[0] === last &&
			(last.type !== 'RUN_FINISHED' || (last.threadId === this.threadId && last.runId === this.runId));
	}

	get said() {
		const message = this.agent.messages.findLast((m) => m.role === 'assistant');
		return message?.content ?? '';
	}
}

export async function converse(HttpAgent, options, report) {
	let threads = 0;
	const prefix = `talk-${Date.now().toString(36)}-`;
	const talk = () => new Talk(HttpAgent, options, prefix + ++threads);
	const same = (name, got, expected) =>
		report(name, JSON.stringify(got) === JSON.stringify(expected), `got ${JSON.stringify(got)}, expected ${JSON.stringify(expected)}`);
	const accepted = (t, name) =>
		report(`${name}: the client accepts the stream`, t.wellFormed && !t.failure,
			`${t.failure} ${JSON.stringify(t.events)}`);

	// every command that only says something
	const commands = [
		['hello world', 'echo: hello world'], ['', 'echo: '], ['/whoami', 'anonymous'], ['/add 2 3', 'sum: 5'],
		['/fail-tool', 'tool failed: demo failure'], ['/slow 3 5', 'done'], ['/think deep', 'thought: deep'], ['/note x', 'noted'],
		['/context', 'context: 1'], ['/files', 'none'], ['/remote nobody {}', 'unknown remote tool: nobody'],
		['"quotes", \\ and \u{1f44b}\n', 'echo: "quotes", \\ and \u{1f44b}\n'],
	];
	for (const [text, said] of commands) {
		const t = await talk().say(text);
		accepted(t, `'${text}'`);
		same(`'${text}' is answered`, t.said, said);
	}

	// errors
	for (const [text, message] of [['/error it broke', 'Graph execution failed: it broke'], ['/loop', 'Graph execution exceeded recursion limit: 25']]) {
		const t = await talk().say(text);
		report(`'${text}': the stream is legal`, t.wellFormed, JSON.stringify(t.events));
		same(`'${text}' is an error`, [t.events.at(-1).type, t.events.at(-1).message, t.events.at(-1).code], ['RUN_ERROR', message, 'GRAPH_ERROR']);
	}

	// a conversation, its messages and its state
	const t = talk();
	await t.say('first');
	await t.say('/note one');
	accepted(t, 'a second turn');
	same('the state of the agent is that of the thread', t.agent.state, { notes: ['one'] });
	await t.say('/note two');
	same('and grows', t.agent.state, { notes: ['one', 'two'] });
	await t.say('/context');
	same('each message is taken once', t.said, 'context: 7');
	same('none is twice in the page', new Set(t.agent.messages.map((m) => m.id)).size, t.agent.messages.length);
	await t.run();
	accepted(t, 'a run with nothing new');
	same('it says nothing', t.events.map((event) => event.type), ['RUN_STARTED', 'RUN_FINISHED']);
	await t.say('/think hard');
	report('reasoning is a message of its own', t.agent.messages.some((m) => m.role === 'reasoning' && m.content === 'hard'),
		JSON.stringify(t.agent.messages));

	// a browser tool
	const tools = [{ name: 'pick', description: 'Picks', parameters: { type: 'object', properties: { n: { type: 'number' } } } }];
	const remote = talk();
	await remote.say('/remote pick {"n":2}', { tools });
	accepted(remote, 'a browser tool');
	const call = remote.agent.messages.at(-1).toolCalls?.[0];
	same('its call reaches the page whole', [call?.function.name, call?.function.arguments], ['pick', '{"n":2}']);
	await remote.answer(call?.id, 'picked');
	accepted(remote, 'the follow-up');
	same('goes on with the result', remote.said, 'remote: picked');
	same('the call is not sent again', remote.of('TOOL_CALL_START').length, 0);
	await remote.say('/remote pick {"n":1} && pick {"n":2}', { tools });
	const calls = remote.agent.messages.at(-1).toolCalls ?? [];
	same('several calls of one message', calls.length, 2);
	await remote.answer(calls[0]?.id, 'A');
	accepted(remote, 'one answer of two');
	await remote.answer(calls[1]?.id, 'B');
	accepted(remote, 'the other');
	same('both go on', remote.said, 'remote: A, B');

	// an interrupt
	for (const [status, payload, said] of [['resolved', { a: 1 }, 'answer: {"a":1}'], ['resolved', 'yes', 'answer: yes'], ['cancelled', undefined, 'cancelled']]) {
		const asks = talk();
		await asks.say('/ask Which one?');
		accepted(asks, 'an interrupt');
		const [interrupt] = asks.events.at(-1).outcome?.interrupts ?? [];
		same('says what is asked', interrupt?.metadata, { value: { question: 'Which one?' }, node: 'agent' });
		await asks.run({ resume: [{ interruptId: interrupt?.id, status, ...(payload === undefined ? {} : { payload }) }] });
		accepted(asks, `${status} by the page`);
		same('goes on', asks.said, said);
	}

	// the page's own state, context and properties
	const own = talk();
	own.agent.state = { notes: ['mine'] };
	await own.say('/note too', { context: [{ description: 'page', value: 'cart' }], forwardedProps: { theme: 'dark' } });
	accepted(own, 'state, context and properties');
	same('the state of the page goes in', own.agent.state, { notes: ['mine', 'too'] });
}
