// SPDX-License-Identifier: ISC
// An agent made with the A2A project's own server; graphs call it.
//
//	node a2a_agent.mjs PORT-FILE LOG VERSION STREAMING
//
// It repeats what it is told, in two pieces.  "ask QUESTION" makes it ask that and repeat the answer, "fail WHY" fails,
// "auth" wants a credential, "wait" waits until it is cancelled; for "cut", "turn" and "drop" the stream ends after the
// first piece, which "turn" then replaces; "drop" breaks the connection and answers the next request with 503.  Below
// /moved, /later, /empty, /barred, /odd and /other are agents that nobody can talk to; /open answers and does not end
// its stream; /moving is elsewhere when its card is asked for again.  LOG has each request as a line of JSON: method,
// headers, body.
import { appendFileSync, writeFileSync } from 'node:fs';
import express from 'express';
import { Role, TaskState } from '@a2a-js/sdk';
import { AgentEvent, DefaultRequestHandler, InMemoryTaskStore } from '@a2a-js/sdk/server';
import { jsonRpcHandler, UserBuilder } from '@a2a-js/sdk/server/express';

const [portFile, log, version, streaming] = process.argv.slice(2);
const part = (text) => ({ content: { $case: 'text', value: text }, metadata: undefined, filename: '', mediaType: '' });
const cancelled = new Set();

class Parrot {
	async execute({ userMessage, taskId, contextId, task }, bus) {
		const text = userMessage.parts.map((one) => one.content?.value).map((one) => (typeof one === 'string' ? one : JSON.stringify(one))).join('');
		const said = (words) => ({ messageId: `${taskId}-${Date.now()}`, contextId, taskId, role: Role.ROLE_AGENT, parts: [part(words)],
			metadata: undefined, extensions: [], referenceTaskIds: [] });
		const status = (state, words) => bus.publish(AgentEvent.statusUpdate({ taskId, contextId, metadata: undefined,
			status: { state, message: words === undefined ? undefined : said(words), timestamp: new Date().toISOString() } }));
		const piece = (words, append, lastChunk) => bus.publish(AgentEvent.artifactUpdate({ taskId, contextId, append, lastChunk, metadata: undefined,
			artifact: { artifactId: `a-${taskId}-${task ? 2 : 1}`, name: '', description: '', parts: [part(words)], metadata: undefined, extensions: [] } }));
		bus.publish(AgentEvent.task(task ?? { id: taskId, contextId, artifacts: [], history: [userMessage], metadata: undefined,
			status: { state: TaskState.TASK_STATE_SUBMITTED, message: undefined, timestamp: new Date().toISOString() } }));
		status(TaskState.TASK_STATE_WORKING, 'thinking');
		if (text.startsWith('ask ')) {
			status(TaskState.TASK_STATE_INPUT_REQUIRED, text.slice(4));
		} else if (text.startsWith('fail ')) {
			status(TaskState.TASK_STATE_FAILED, text.slice(5));
		} else if (text === 'auth') {
			status(TaskState.TASK_STATE_AUTH_REQUIRED);
		} else if (text === 'wait') {
			while (!cancelled.has(taskId)) await new Promise((go) => setTimeout(go, 50));
			status(TaskState.TASK_STATE_CANCELED);
		} else {
			piece('parrot: ', false, false);
			if (['cut', 'turn', 'drop'].includes(text)) await new Promise((go) => setTimeout(go, 600));
			piece(text, text !== 'turn', true);
			status(TaskState.TASK_STATE_COMPLETED);
		}
		bus.finished();
	}

	async cancelTask(taskId) {
		cancelled.add(taskId);
	}
}

let moved = false;
let away = false; // the next request finds nobody
const app = express();
const server = app.listen(0, '127.0.0.1', () => {
	const url = `http://127.0.0.1:${server.address().port}/rpc`;
	const card = { name: 'Parrot', description: 'Repeats', version: '1', provider: undefined, documentationUrl: undefined, iconUrl: undefined,
		supportedInterfaces: [{ url, protocolBinding: 'JSONRPC', tenant: '', protocolVersion: version }],
		capabilities: { streaming: streaming === 'yes', pushNotifications: false, extensions: [], extendedAgentCard: false },
		securitySchemes: {}, securityRequirements: [], defaultInputModes: ['text/plain'], defaultOutputModes: ['text/plain'], skills: [], signatures: [] };
	const told = (events) => events.map((result) => `data: ${JSON.stringify({ jsonrpc: '2.0', id: '1', result })}\n\n`).join('');
	const requestHandler = new DefaultRequestHandler(card, new InMemoryTaskStore(), new Parrot());
	app.use(express.json());
	app.use((req, res, next) => {
		appendFileSync(log, `${JSON.stringify({ method: req.body?.method ?? req.path, headers: req.headers, body: req.body })}\n`);
		if (['cut', 'turn'].includes(req.body?.params?.message?.parts[0].text)) {
			res.on('error', () => {});
			setTimeout(() => res.end(), 300);
		}
		if (away) {
			away = false;
			res.status(503).end();
			return;
		}
		if (req.body?.params?.message?.parts[0].text === 'drop') {
			away = true;
			setTimeout(() => res.destroy(), 300);
		}
		next();
	});
	app.get('/.well-known/agent-card.json', (_req, res) => res.json(card));
	app.get('/moving/.well-known/agent-card.json', (_req, res) => {
		res.json({ ...card, supportedInterfaces: [{ ...card.supportedInterfaces[0], url: moved ? url : `${url}-gone` }] });
		moved = true;
	});
	app.get('/:kind/.well-known/agent-card.json', ({ params: { kind } }, res) => (kind === 'moved' ? res.redirect(301, '/else?key=k')
		: res.json({ capabilities: { streaming: kind === 'open' }, supportedInterfaces: [{ url: `${url}-${kind}`, protocolBinding: 'JSONRPC', protocolVersion: kind === 'later' ? '2.0' : '1.0' }] })));
	app.post('/rpc-empty', (_req, res) => res.end());
	app.post('/rpc-barred', (_req, res) => res.status(401).json({ detail: 'no' }));
	app.post('/rpc-odd', (_req, res) => res.json({ jsonrpc: '2.0', id: '1', result: { task: { id: 't', status: { state: 'TASK_STATE_ASLEEP' } } } }));
	app.post('/rpc-other', (req, res) => res.json({ jsonrpc: '2.0', id: '1', result: req.body.method === 'GetTask'
		? { id: 'u', status: { state: 'TASK_STATE_COMPLETED' }, artifacts: [{ artifactId: 'a', parts: [{ text: 'of another' }] }] }
		: { task: { id: 't', status: { state: 'TASK_STATE_WORKING' } } } }));
	app.post('/rpc-open', (_req, res) => res.type('text/event-stream').write(told([{ task: { id: 't', status: { state: 'TASK_STATE_WORKING' } } },
		{ artifactUpdate: { taskId: 't', artifact: { artifactId: 'a', parts: [{ text: 'all of it' }] } } },
		{ statusUpdate: { taskId: 't', status: { state: 'TASK_STATE_COMPLETED' } } }])));
	app.use('/rpc', jsonRpcHandler({ requestHandler, userBuilder: UserBuilder.noAuthentication, legacyCompat: { enabled: true } }));
	writeFileSync(portFile, String(server.address().port));
});
