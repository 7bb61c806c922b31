// SPDX-License-Identifier: ISC
// Conversations of the A2A project's own client with builtin:demo, in both versions of the protocol.
//
//	node a2a_sdk.mjs BASE GUARDED TOKEN FOREIGN RECEIVER LOG
//
// RECEIVER takes notifications, and writes them to LOG (webhook_receiver.py).  BASE is a service without
// authentication, GUARDED one with it; TOKEN and FOREIGN are the tokens of two users there.  Prints "ok NAME" or
// "failed NAME" for each fact.  Must lie with report.mjs beside a node_modules that has the client.
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { Role, StreamResponse, TaskState } from '@a2a-js/sdk';
import { ClientFactory, ClientFactoryOptions, DefaultAgentCardResolver, JsonRpcTransportFactory } from '@a2a-js/sdk/client';
import { failure, is, report } from './report.mjs';

const [base, guarded, token, foreign, receiver, log] = process.argv.slice(2);

const say = (text, more, configuration) => ({
	message: { messageId: randomUUID(), role: Role.ROLE_USER, parts: [{ content: { $case: 'text', value: text } }], ...more },
	configuration,
});
const textOf = (parts) => parts.map((part) => part.content.value).join('');
const answer = (task) => textOf(task.artifacts.at(-1).parts);

async function collect(stream) {
	const events = [];
	for await (const event of stream) events.push(event.payload);
	return events;
}

async function clientOf(url, old, token) {
	const fetchImpl = (to, init) => fetch(to, { ...init, headers: { ...init?.headers, ...(token && { Authorization: `Bearer ${token}` }) } });
	const legacyCompat = { enabled: old };
	const resolver = new DefaultAgentCardResolver({ fetchImpl, legacyCompat });
	const factory = new ClientFactory(ClientFactoryOptions.createFrom(ClientFactoryOptions.default, {
		transports: [new JsonRpcTransportFactory({ fetchImpl, legacyCompat })], cardResolver: resolver }));
	if (!old) return factory.createFromUrl(url);
	const card = await resolver.resolve(url);
	return factory.createFromAgentCard({ ...card, supportedInterfaces: card.supportedInterfaces.filter((one) => one.protocolVersion === '0.3') });
}

async function converse(version, old) {
	const client = await clientOf(base, old);
	const named = (text) => `${version}: ${text}`;
	const card = await client.getAgentCard();
	is(named('the card says who it is'), [card.name, card.skills[0].id], ['demo', 'demo']);
	is(named('its version is spoken'), client.protocolVersion, version);

	// ---- sending
	const task = await client.sendMessage(say('hello'));
	is(named('a message is answered'), [task.status.state, answer(task)], [TaskState.TASK_STATE_COMPLETED, 'echo: hello']);
	const contextId = task.contextId;
	is(named('its context goes on'), answer(await client.sendMessage(say('/context', { contextId }))), 'context: 3');
	is(named('a task is read'), answer(await client.getTask({ id: task.id })), 'echo: hello');
	is(named('with its history'), (await client.getTask({ id: task.id })).history.map((one) => textOf(one.parts)), ['hello']);
	is(named('or without'), (await client.getTask({ id: task.id, historyLength: 0 })).history, []);
	is(named('one that is not there is missed'), (await failure(() => client.getTask({ id: 'none.none' }))).name, 'TaskNotFoundError');
	is(named('one that is over takes nothing'), (await failure(() => client.sendMessage(say('x', { taskId: task.id })))).name, 'UnsupportedOperationError');
	is(named('nor another context'), (await failure(() => client.sendMessage(say('x', { taskId: task.id, contextId: 'other' })))).name, 'RequestMalformedError');
	is(named('nor can it be cancelled'), (await failure(() => client.cancelTask({ id: task.id }))).name, 'TaskNotCancelableError');
	const broken = await client.sendMessage(say('/error on purpose'));
	is(named('a run that fails is a task'), [broken.status.state, textOf(broken.status.message.parts)],
		[TaskState.TASK_STATE_FAILED, 'Graph execution failed: on purpose']);

	// ---- streaming
	const events = await collect(client.sendMessageStream(say('one two', { contextId })));
	is(named('a stream begins with the task'), [events[0].$case, events[0].value.contextId], ['task', contextId]);
	is(named('tells pieces'), events.filter((one) => one.$case === 'artifactUpdate').map((one) => textOf(one.value.artifact.parts)).join(''), 'echo: one two');
	is(named('and ends with the state'), [events.at(-1).$case, events.at(-1).value.status.state], ['statusUpdate', TaskState.TASK_STATE_COMPLETED]);
	report(named('every event names the context'), events.every((one) => one.value.contextId === contextId), events);
	is(named('the task is there'), answer(await client.getTask({ id: events[0].value.id })), 'echo: one two');

	// ---- questions
	const asking = await client.sendMessage(say('/ask your name?'));
	is(named('the agent asks'), [asking.status.state, textOf(asking.status.message.parts)], [TaskState.TASK_STATE_INPUT_REQUIRED, 'your name?']);
	const heard = await client.sendMessage(say('Ada', { taskId: asking.id, contextId: asking.contextId }));
	is(named('and is answered'), [heard.id === asking.id, heard.status.state, answer(heard)], [true, TaskState.TASK_STATE_COMPLETED, 'answer: Ada']);
	const pause = await collect(client.sendMessageStream(say('/ask what?')));
	is(named('a stream ends with a question'), [pause.at(-1).value.status.state, textOf(pause.at(-1).value.status.message.parts)],
		[TaskState.TASK_STATE_INPUT_REQUIRED, 'what?']);
	const rest = await collect(client.sendMessageStream(say('that', { taskId: pause[0].value.id })));
	is(named('its answer streams on'), [rest[0].value.id === pause[0].value.id, rest.at(-1).value.status.state], [true, TaskState.TASK_STATE_COMPLETED]);
	const left = await client.sendMessage(say('/ask never mind?'));
	is(named('or is not wanted any more'), (await client.cancelTask({ id: left.id })).status.state, TaskState.TASK_STATE_CANCELED);

	// ---- in the background
	const later = await client.sendMessage(say('/slow 20 300', {}, { returnImmediately: true }));
	report(named('a task may be had at once'), [TaskState.TASK_STATE_SUBMITTED, TaskState.TASK_STATE_WORKING].includes(later.status.state), later);
	is(named('and be cancelled'), (await client.cancelTask({ id: later.id })).status.state, TaskState.TASK_STATE_CANCELED);

	// ---- subscribing
	const followed = await client.sendMessage(say('/slow 3 300', {}, { returnImmediately: true }));
	const told = await collect(client.resubscribeTask({ id: followed.id }));
	is(named('a subscription begins with the task'), [told[0].$case, told[0].value.id === followed.id], ['task', true]);
	is(named('tells what its run tells'), told.filter((one) => one.$case === 'artifactUpdate').map((one) => textOf(one.value.artifact.parts)).join(''),
		'tick 1tick 2tick 3done');
	is(named('and ends with it'), [told.at(-1).$case, told.at(-1).value.status.state], ['statusUpdate', TaskState.TASK_STATE_COMPLETED]);
	report(named('in its context'), told.every((one) => one.value.contextId === followed.contextId), told);
	const over = await failure(() => collect(client.resubscribeTask({ id: followed.id })));
	is(named('what is over is told no more'), (old ? over.cause : over).name, 'UnsupportedOperationError');
	const waits = await client.sendMessage(say('/ask still there?'));
	const still = await collect(client.resubscribeTask({ id: waits.id }));
	is(named('one that waits for an answer says so'), still.at(-1).value.status.state, TaskState.TASK_STATE_INPUT_REQUIRED);

	return { client, contextId };
}

// The notifications that came to an address, once there are count of them.
async function notified(path, count) {
	for (const until = Date.now() + 90000; ; await new Promise((done) => setTimeout(done, 50))) {
		const came = readFileSync(log, 'utf8').split('\n').filter(Boolean).map((line) => JSON.parse(line)).filter((one) => one.path === path);
		if (came.length >= count || Date.now() > until) return came;
	}
}

async function notifications({ client }, version, old) {
	const named = (text) => `${version}: ${text}`;
	const config = (name, more) => ({ tenant: '', id: '', taskId: '', token: 'tok', url: `${receiver}/${name}/ok`,
		authentication: { scheme: 'Bearer', credentials: 'secret' }, ...more });
	const path = (name) => new URL(`${receiver}/${name}/ok`).pathname;
	const task = await client.sendMessage(say('hello', {}, { taskPushNotificationConfig: config(`${version}-send`) }));
	const [came] = await notified(path(`${version}-send`), 1);
	is(named('the end of a task is told to who asked with the message'), [came?.headers['X-A2A-Notification-Token'], came?.headers.Authorization],
		['tok', 'Bearer secret']);
	const event = JSON.parse(came.body);
	if (old) {
		is(named('as a task'), [event.kind, event.id, event.status.state, event.artifacts[0].parts[0].text], ['task', task.id, 'completed', 'echo: hello']);
	} else {
		const { payload } = StreamResponse.fromJSON(event);
		is(named('as an event with the task'), [payload.$case, payload.value.id, payload.value.status.state, answer(payload.value)],
			['task', task.id, TaskState.TASK_STATE_COMPLETED, 'echo: hello']);
	}
	const asking = await client.sendMessage(say('/ask go?'));
	const set = await client.createTaskPushNotificationConfig(config(`${version}-set`, { taskId: asking.id, id: 'mine' }));
	is(named('a task gets an address later'), [set.taskId, set.id, set.token, set.authentication.scheme, set.authentication.credentials],
		[asking.id, 'mine', 'tok', 'Bearer', '']);
	is(named('which is read'), (await client.getTaskPushNotificationConfig({ tenant: '', taskId: asking.id, id: 'mine' })).url, `${receiver}/${version}-set/ok`);
	await client.createTaskPushNotificationConfig(config(`${version}-gone`, { taskId: asking.id, id: 'other' }));
	const listed = await client.listTaskPushNotificationConfig({ tenant: '', taskId: asking.id, pageSize: 0, pageToken: '' });
	is(named('listed'), listed.configs.map((one) => one.id), ['mine', 'other']);
	await client.deleteTaskPushNotificationConfig({ tenant: '', taskId: asking.id, id: 'other' });
	is(named('and deleted'), (await failure(() => client.getTaskPushNotificationConfig({ tenant: '', taskId: asking.id, id: 'other' }))).name, 'TaskNotFoundError');
	await client.sendMessage(say('yes', { taskId: asking.id }));
	const [ended] = await notified(path(`${version}-set`), 1);
	const told = JSON.parse(ended?.body ?? '{}');
	is(named('and told of the end'), (told.task ?? told).id, asking.id);
	is(named('another one is not'), (await notified(path(`${version}-gone`), 0)).length, 0);
	is(named('addresses that nobody has allowed are refused'),
		(await failure(() => client.createTaskPushNotificationConfig(config('x', { taskId: asking.id, url: 'http://elsewhere.example/' })))).name, 'RequestMalformedError');
}

async function lists({ client, contextId }) {
	const all = await client.listTasks({ contextId, tenant: '', status: 0, pageToken: '' });
	is('tasks of a context are listed, the latest first', all.tasks.map((one) => one.status.state),
		[TaskState.TASK_STATE_COMPLETED, TaskState.TASK_STATE_COMPLETED, TaskState.TASK_STATE_COMPLETED]);
	const first = await client.listTasks({ contextId, tenant: '', status: 0, pageToken: '', pageSize: 2, includeArtifacts: true });
	is('in pages', [first.tasks.length, first.totalSize, answer(first.tasks[0])], [2, 3, 'echo: one two']);
	const rest = await client.listTasks({ contextId, tenant: '', status: 0, pageToken: first.nextPageToken, pageSize: 2 });
	is('to the last', [rest.tasks.length, rest.nextPageToken], [1, '']);
	is('there is no other card', (await failure(() => client.transport.getExtendedAgentCard({}, { serviceParameters: { 'A2A-Version': '1.0' } }))).name, 'ExtendedAgentCardNotConfiguredError');
}

async function access() {
	const alice = await clientOf(guarded, false, token), bob = await clientOf(guarded, false, foreign);
	const card = await alice.getAgentCard();
	is('the card says that a token is wanted', card.securitySchemes.bearer.scheme.value.scheme, 'Bearer');
	const nobody = await failure(async () => (await clientOf(guarded, false, '')).sendMessage(say('hello')));
	report('without one nothing is answered', nobody && /401|authenticat|token/i.test(nobody.message), nobody?.message);
	const task = await alice.sendMessage(say('hello'));
	is('with one it is', answer(task), 'echo: hello');
	is('a task of somebody else is not there', (await failure(() => bob.getTask({ id: task.id }))).name, 'TaskNotFoundError');
	is('nor in a list', (await bob.listTasks({ contextId: '', tenant: '', status: 0, pageToken: '' })).totalSize, 0);
	is('its owner has it', (await alice.listTasks({ contextId: '', tenant: '', status: 0, pageToken: '' })).totalSize, 1);
}

const latest = await converse('1.0', false);
await lists(latest);
await notifications(latest, '1.0', false);
await notifications(await converse('0.3', true), '0.3', true);
await access();
