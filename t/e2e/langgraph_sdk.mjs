// SPDX-License-Identifier: ISC
// Conversations of LangGraph's own client with builtin:demo.
//
//	node langgraph_sdk.mjs BASE GUARDED TOKEN FOREIGN
//
// BASE is a service without authentication, GUARDED one with it; TOKEN and FOREIGN are the tokens of two users there.
// Prints "ok NAME" or "failed NAME" for each fact.  Must lie with report.mjs beside a node_modules that has the client.
import { HumanMessage } from '@langchain/core/messages';
import { Client } from '@langchain/langgraph-sdk';
import { failure, is, report } from './report.mjs';

const [base, guarded, token, foreign] = process.argv.slice(2);
const clientOf = (url, apiKey) => new Client({ apiUrl: `${url}/lg`, apiKey, callerOptions: { maxRetries: 0 } });
const client = clientOf(base, 'any');

const say = (content, more) => ({ input: { messages: [{ role: 'user', content }] }, ...more });
const texts = (values) => values.messages.map((message) => message.content);

async function collect(stream) {
	const parts = [];
	for await (const part of stream) parts.push(part);
	return parts;
}

async function assistants() {
	const [one] = await client.assistants.search();
	is('the graph is an assistant', one.graph_id, 'demo');
	is('which is had by its id', (await client.assistants.get(one.assistant_id)).name, 'demo');
	is('has nodes', (await client.assistants.getGraph('demo')).nodes.length, 4);
	is('they are counted', await client.assistants.count(), 1);
	is('none can be made', (await failure(() => client.assistants.create({ graphId: 'demo' }))).status, 404);
	is('and schemas', Object.keys((await client.assistants.getSchemas('demo')).state_schema.properties), ['messages', 'notes']);
}

async function threads() {
	const thread = await client.threads.create({ threadId: 'one', graphId: 'demo', metadata: { a: 1 } });
	is('a thread is made', [thread.thread_id, thread.status], ['one', 'idle']);
	is('once', (await failure(() => client.threads.create({ threadId: 'one' }))).status, 409);
	is('or found', (await client.threads.create({ threadId: 'one', ifExists: 'do_nothing' })).metadata.a, 1);
	is('it is described', (await client.threads.update('one', { metadata: { b: 2 } })).metadata.b, 2);
	is('it is looked for', (await client.threads.search({ metadata: { graph_id: 'demo', a: 1 } })).map((t) => t.thread_id), ['one']);
	is('and counted', await client.threads.count({ status: 'idle' }), 1);
	const written = await client.threads.updateState('one', { values: { messages: [new HumanMessage('hi')], notes: ['n'] } });
	const state = await client.threads.getState('one');
	is('its state is written', [texts(state.values), state.values.notes], [['hi'], ['n']]);
	is('at a checkpoint', state.checkpoint.checkpoint_id, written.checkpoint.checkpoint_id);
	is('which is had by its id', texts((await client.threads.getState('one', state.checkpoint)).values), ['hi']);
	is('and in the history', (await client.threads.getHistory('one')).length, 2);
	const copy = await client.threads.copy('one');
	is('a copy has the same', texts(copy.values), ['hi']);
	await client.threads.delete(copy.thread_id);
	await client.threads.create({ threadId: 'two' });
	is('several are deleted', await client.threads.prune(['two', 'none']), { pruned_count: 1 });
	const gone = await failure(() => client.threads.get(copy.thread_id));
	is('what is deleted is gone', gone.status, 404);
	report('as the error says', gone.message.includes('Thread not found'), gone.message);
}

async function runs() {
	const { thread_id: id } = await client.threads.create();
	let created;
	const parts = await collect(client.runs.stream(id, 'demo', { input: { messages: [new HumanMessage('one two')] },
		streamMode: ['values', 'updates', 'messages-tuple'], onRunCreated: (run) => (created = run) }));
	is('a stream is told', parts.map((part) => part.event),
		['metadata', 'values', 'messages', 'messages', 'messages', 'updates', 'values', 'end']);
	is('its pieces are the answer', parts.filter((p) => p.event === 'messages').map((p) => p.data[0].content).join(''), 'echo: one two');
	is('the run is known by its id', created, { run_id: parts[0].data.run_id, thread_id: id });
	is('it has a record', (await client.runs.get(id, created.run_id)).status, 'success');
	const asked = await client.runs.wait(id, 'demo', say('/ask May I?'));
	is('a pause is told', asked.__interrupt__[0].value, { question: 'May I?' });
	is('and is the next task', (await client.threads.getState(id)).tasks[0].interrupts[0].value, { question: 'May I?' });
	is('an answer goes on', texts(await client.runs.wait(id, 'demo', { command: { resume: 'yes' } })).at(-1), 'answer: yes');
	const [, input, before] = await client.threads.getHistory(id);
	is('before it was given nothing, so its parent is the pause', [input.metadata.source, before.metadata.source], ['loop', 'input']);
	const raised = await failure(() => client.runs.wait(id, 'demo', say('/error x')));
	report('a run that fails raises its error', /^\w+: .*x/.test(raised.message), raised.message);
	is('or has it as a value', Object.keys(await client.runs.wait(id, 'demo', say('/error x', { raiseError: false }))), ['__error__']);
	const last = (await collect(client.runs.stream(id, 'demo', say('/error x')))).at(-1);
	is('a stream ends with it', last.event, 'error');
	const later = await client.runs.create(id, 'demo', say('later', { afterSeconds: 600, metadata: { a: 1 } }));
	is('a run waits in the queue', later.status, 'pending');
	await client.runs.cancel(id, later.run_id);
	is('until it is cancelled', (await client.runs.get(id, later.run_id)).status, 'interrupted');
	is('runs are listed', (await client.runs.list(id, { status: 'error' })).length, 3);
	await client.runs.delete(id, later.run_id);
	is('and deleted', (await failure(() => client.runs.get(id, later.run_id))).status, 404);
	is('a run needs no thread', texts(await client.runs.wait(null, 'demo', say('hi'))), ['hi', 'echo: hi']);
	is('nor does its stream', (await collect(client.runs.stream(null, 'demo', say('hi')))).at(-1).event, 'end');
}

async function branches() {
	const { thread_id: id } = await client.threads.create();
	await client.runs.wait(id, 'demo', say('first'));
	await client.runs.wait(id, 'demo', say('second'));
	const [end, input] = await client.threads.getHistory(id);
	const again = await client.runs.wait(id, 'demo', { input: null, checkpoint: input.checkpoint });
	is('another answer to what was said', texts(again), texts(end.values));
	report('is another message', again.messages.at(-1).id !== end.values.messages.at(-1).id, again);
	const other = await client.runs.wait(id, 'demo', say('other', { checkpoint: input.parent_checkpoint }));
	is('and something else is said there', texts(other), ['first', 'echo: first', 'other', 'echo: other']);
}

const told = (parts) => parts.map((part) => [part.id, part.event, part.data]);

async function resumption() {
	const { thread_id: id } = await client.threads.create();
	const everything = ['values', 'updates', 'messages', 'messages-tuple', 'custom', 'events'];
	let created;
	const kept = (text, more) => client.runs.stream(id, 'demo', say(text, { streamMode: everything, streamResumable: true,
		onRunCreated: (run) => (created = run), ...more }));
	const first = await collect(kept('/note one'));
	const { run_id: run } = created;
	const again = (more) => collect(client.runs.joinStream(id, run, { lastEventId: '-1', ...more }));
	is('a kept stream is told again as it was', told(await again()), told(first));
	is('with what the graph began with', texts(first.find((part) => part.event === 'values').data), ['/note one']);
	is('and what its nodes set', first.find((part) => part.event === 'updates').data.agent.notes, ['one']);
	is('and said', first.find((part) => part.event === 'updates').data.agent.messages.length, 1);
	for (const at of [0, 3, first.length - 2])
		is(`from event ${at} on`, told(await again({ lastEventId: first[at].id })), told(first.slice(at + 1)));
	is('behind the end there is nothing', await again({ lastEventId: first.at(-1).id }), []);
	is('nor in the future', await again({ lastEventId: '99999999999999999999' }), []);
	const values = await again({ streamMode: 'values' });
	is('in other modes ids are the same', told(values), told(first.filter((part) => ['metadata', 'values', 'end'].includes(part.event))));
	is('an id that is none is refused', (await failure(() => again({ lastEventId: 'x' }))).status, 422);
	is('and a mode', (await failure(() => again({ streamMode: ['odd'] }))).status, 422);
	is('and a run that is not there', (await failure(() => collect(client.runs.joinStream(id, 'none')))).status, 404);
	is('the end of a run that is over is its values', texts(await client.runs.join(id, run)).at(-1), texts(values.at(-2).data).at(-1));

	is('a pause is told again', told(await collect(kept('/ask May I?'))).at(-2)[2].__interrupt__[0].value, { question: 'May I?' });
	is('as it was', (await collect(client.runs.joinStream(id, created.run_id))).at(-2).data.__interrupt__[0].value, { question: 'May I?' });
	is('and its values', (await client.runs.join(id, created.run_id)).__interrupt__.length, 1);
	await collect(kept(null, { input: undefined, command: { resume: 'yes' } }));
	const failed = await collect(kept('/error x'));
	is('an error is the last', [failed.at(-1).event, Object.keys(failed.at(-1).data)], ['error', ['error', 'message']]);
	is('and told again', told(await collect(client.runs.joinStream(id, created.run_id))), told(failed));
	is('and what its run has led to', Object.keys(await client.runs.join(id, created.run_id)), ['__error__']);
	await collect(client.runs.stream(id, 'demo', say('x', { onRunCreated: (one) => (created = one) })));
	is('what was not kept cannot be told', (await failure(() => collect(client.runs.joinStream(id, created.run_id)))).status, 409);

	const behind = await client.runs.create(id, 'demo', say('/slow 25 100', { streamMode: ['values', 'updates'], afterSeconds: 1 }));
	const joined = collect(client.runs.joinStream(id, behind.run_id));
	const waited = client.runs.join(id, behind.run_id);
	is('a run in the background is joined before it begins', (await joined).map((part) => part.event).filter((name, i, all) => all.indexOf(name) === i),
		['metadata', 'values', 'updates', 'end']);
	is('and waited for', texts(await waited).at(-1), texts((await joined).at(-2).data).at(-1));
	is('and over then', (await client.runs.get(id, behind.run_id)).status, 'success');

	const ended = async (one) => {
		for (let i = 0; i < 100 && (await client.runs.get(id, one)).status === 'running'; i++)
			await new Promise((resolve) => setTimeout(resolve, 100));
		return (await client.runs.get(id, one)).status;
	};
	const slow = async (leave) => {
		const { run_id: one } = await client.runs.create(id, 'demo', say('/slow 24 500'));
		await leave(one, new AbortController());
		return ended(one);
	};
	for (const streamResumable of [false, true]) {
		const controller = new AbortController();
		for await (const part of client.runs.stream(id, 'demo', say('/slow 24 500', { onDisconnect: 'cancel', streamResumable,
			signal: controller.signal, onRunCreated: (one) => (created = one) })))
			if (part.event === 'values' && texts(part.data).at(-1) === 'tick 1') break;
		controller.abort();
		is(`a stream whose client leaves ends, if wished (${streamResumable})`, await ended(created.run_id), 'interrupted');
	}
	is('a run ends with the last who follows it, if wished', await slow(async (one, controller) => {
		for await (const part of client.runs.joinStream(id, one, { cancelOnDisconnect: true, signal: controller.signal }))
			if (part.event === 'messages' || part.event === 'values') break;
		controller.abort();
	}), 'interrupted');
	is('or waits for it', await slow(async (one, controller) => {
		const joining = client.runs.join(id, one, { cancelOnDisconnect: true, signal: controller.signal });
		setTimeout(() => controller.abort(), 3000);
		await failure(() => joining);
	}), 'interrupted');
	is('several are cancelled', await slow((one) => client.runs.cancelMany({ threadId: id, runIds: [one, 'none'] })), 'interrupted');
	is('a cancel waits', await slow((one) => client.runs.cancel(id, one, true)), 'interrupted');
}

async function store() {
	const name = ['users', 'ann'];
	await client.store.putItem(name, 'likes', { what: 'green tea', cups: 3 });
	await client.store.putItem(['users', 'bob'], 'likes', { what: 'coffee' });
	const item = await client.store.getItem(name, 'likes');
	is('an item is stored', [item.value, item.namespace, typeof item.createdAt], [{ what: 'green tea', cups: 3 }, name, 'string']);
	is('and found', (await client.store.searchItems(['users'], { query: 'tea' })).items[0].key, 'likes');
	is('by its value', (await client.store.searchItems(['users'], { filter: { cups: { $gte: 3 } } })).items.length, 1);
	is('namespaces are listed', (await client.store.listNamespaces({ prefix: ['users'] })).namespaces.length, 2);
	await client.store.deleteItem(name, 'likes');
	is('it is deleted', await client.store.getItem(name, 'likes'), null);
}

async function access() {
	const mine = clientOf(guarded, token), theirs = clientOf(guarded, foreign);
	const { thread_id: id } = await mine.threads.create();
	is('a key is a token', texts(await mine.runs.wait(id, 'demo', say('hi'))).at(-1), 'echo: hi');
	is('a foreign thread is forbidden', (await failure(() => theirs.threads.get(id))).status, 403);
	is('so is a run there', (await failure(() => theirs.runs.wait(id, 'demo', say('hi')))).status, 403);
	is('and none without a key', (await failure(() => clientOf(guarded, null).threads.search())).status, 401);
}

await assistants();
await threads();
await runs();
await branches();
await resumption();
await store();
await access();
