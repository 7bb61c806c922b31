// SPDX-License-Identifier: ISC
// Hosts that others wrote call an agent as a tool, with both lines of the official SDK.
//
//	node mcp_hosts.mjs BASE GUARDED TOKEN
//
// BASE is builtin:demo without authentication, GUARDED with it; TOKEN may call there.  Prints "ok NAME" or "failed
// NAME" for each fact.  Must lie with report.mjs beside a node_modules that has the SDKs.
import { Client as Latest, StreamableHTTPClientTransport as LatestTransport } from '@modelcontextprotocol/client';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { failure, is, report } from './report.mjs';

const [base, guarded, token] = process.argv.slice(2);
const info = { name: 'tests', version: '1' };

const text = (result) => result.content[0].text;
const call = (message, more) => ({ name: 'demo', arguments: { message, ...more } });
const url = (at) => new URL(`${at}/v1/mcp`);
const headers = { Authorization: `Bearer ${token}` };

// ---- the line of 2025

async function session() {
	const client = new Client(info, { capabilities: {} });
	const transport = new StreamableHTTPClientTransport(url(base));
	await client.connect(transport);
	is('sdk 1: a version is agreed on', transport.protocolVersion, '2025-11-25');
	is('sdk 1: there is no session', transport.sessionId ?? null, null);
	is('sdk 1: the server is known', client.getServerVersion().name, 'MyApp');
	await client.ping();
	const { tools } = await client.listTools();
	is('sdk 1: one tool is listed', tools.map((tool) => tool.name), ['demo']);

	const said = await client.callTool(call('hello'));
	is('sdk 1: a call is answered', text(said), 'echo: hello');
	is('sdk 1: with its structure, which fits the schema', said.structuredContent.answer, 'echo: hello');
	const again = await client.callTool(call('/context', { thread_id: said.structuredContent.thread_id }));
	is('sdk 1: the conversation goes on', text(again), 'context: 3');
	const failed = await client.callTool(call('/error it broke'));
	is('sdk 1: a run that fails is an error of the tool', [failed.isError, text(failed)], [true, 'Graph execution failed: it broke']);
	const wrong = await client.callTool({ name: 'demo', arguments: { message: 7 } });
	is('sdk 1: so are arguments that do not fit', wrong.isError, true);

	const steps = [];
	const slow = await client.callTool(call('/slow 3 1'), undefined, { onprogress: (step) => steps.push(step.message) });
	report('sdk 1: progress is told', steps.length >= 3 && steps.every((step) => step === 'agent'), steps);
	report('sdk 1: before the result', text(slow).endsWith('done'), slow);

	const asked = await client.callTool(call('/ask May I?'));
	report('sdk 1: a question is text', text(asked).startsWith('May I?'), asked);
	const answer = await client.callTool(call('yes', { thread_id: asked.structuredContent.thread_id }));
	is('sdk 1: which another call answers', text(answer), 'answer: yes');

	const unknown = await failure(() => client.callTool({ name: 'nothing', arguments: {} }));
	is('sdk 1: another tool is refused', unknown?.code, -32602);
	const method = await failure(() => client.listPrompts());
	report('sdk 1: what is not offered is not asked for, or refused', method !== null, method);
	await client.close();

	const closed = new Client(info);
	const refused = await failure(() => closed.connect(new StreamableHTTPClientTransport(url(guarded))));
	is('sdk 1: without a token it is refused', refused?.code ?? refused?.message, 401);
	const known = new Client(info);
	await known.connect(new StreamableHTTPClientTransport(url(guarded), { requestInit: { headers } }));
	is('sdk 1: with one it is not', text(await known.callTool(call('/whoami'))), 'alice');
	await known.close();
}

// ---- the line of 2026

async function stateless() {
	const questions = [];
	const client = new Latest(info, {
		capabilities: { elicitation: { form: {} } },
		versionNegotiation: { mode: { pin: '2026-07-28' } },
	});
	let reply = () => ({ action: 'accept', content: { answer: 'sure' } });
	client.setRequestHandler('elicitation/create', async (request) => {
		questions.push(request.params.message);
		return reply();
	});
	await client.connect(new LatestTransport(url(base)));
	is('sdk 2: the version is spoken', client.getNegotiatedProtocolVersion?.() ?? '2026-07-28', '2026-07-28');
	is('sdk 2: one tool is listed', (await client.listTools()).tools.map((tool) => tool.name), ['demo']);
	const said = await client.callTool(call('hello'));
	is('sdk 2: a call is answered', text(said), 'echo: hello');
	const steps = [];
	await client.callTool(call('/slow 3 1'), { onprogress: (step) => steps.push(step.progress) });
	report('sdk 2: progress is told', steps.length >= 3, steps);
	is('sdk 2: a question becomes a form, whose answer goes on', text(await client.callTool(call('/ask May I?'))), 'answer: sure');
	is('sdk 2: which asks what the agent asks', questions, ['May I?']);
	reply = () => ({ action: 'decline' });
	const declined = await client.callTool(call('/ask May I?'));
	is('sdk 2: what is declined stays open', declined.structuredContent.status, 'interrupted');
	const unknown = await failure(() => client.callTool({ name: 'nothing', arguments: {} }));
	is('sdk 2: another tool is refused', unknown?.code, -32602);
	const stop = new AbortController();
	const aborted = failure(() => client.callTool(call('/slow 200 50', { thread_id: 'aborted' }), { signal: stop.signal }));
	setTimeout(() => stop.abort(), 500);
	report('sdk 2: a call is aborted', (await aborted) !== null);
	await client.close();

	const auto = new Latest(info, { versionNegotiation: { mode: 'auto' } });
	await auto.connect(new LatestTransport(url(base)));
	is('sdk 2: by itself it finds the version', auto.getNegotiatedProtocolVersion?.() ?? '2026-07-28', '2026-07-28');
	await auto.close();
	const legacy = new Latest(info, { versionNegotiation: { mode: 'legacy' } });
	await legacy.connect(new LatestTransport(url(base)));
	is('sdk 2: it speaks to us as to older servers, too', text(await legacy.callTool(call('old'))), 'echo: old');
	await legacy.close();
	const known = new Latest(info, { versionNegotiation: { mode: 'auto' } });
	await known.connect(new LatestTransport(url(guarded), { requestInit: { headers } }));
	is('sdk 2: a token lets it in', text(await known.callTool(call('/whoami'))), 'alice');
	await known.close();
}

await session();
await stateless();
