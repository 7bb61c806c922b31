// SPDX-License-Identifier: ISC
// Clients that others wrote talk to builtin:demo by chat completions: OpenAI's own, Vercel's AI SDK and LangChain.
//
//	node openai_clients.mjs BASE GUARDED TOKEN
//
// BASE is a service without authentication; GUARDED has it, and a low rate limit, and TOKEN allows nothing there but
// chat completions.  Prints "ok NAME" or "failed NAME" for each fact.  Must lie with report.mjs beside a node_modules
// that has the clients.
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { AIMessage, HumanMessage, SystemMessage, ToolMessage } from '@langchain/core/messages';
import { ChatOpenAI } from '@langchain/openai';
import { APICallError, generateText, isStepCount, jsonSchema, streamText, tool } from 'ai';
import OpenAI from 'openai';
import { failure, is, report } from './report.mjs';

const [base, guarded, token] = process.argv.slice(2);
const baseURL = `${base}/v1`;

const user = (content) => ({ role: 'user', content });
const parameters = { type: 'object', properties: { n: { type: 'number' } } };

// ---- OpenAI

async function openai() {
	let requests = 0;
	const counted = (...args) => {
		requests++;
		return fetch(...args);
	};
	const client = new OpenAI({ baseURL, apiKey: 'any', fetch: counted });
	const ask = (content, more) => client.chat.completions.create({ model: 'demo', messages: [user(content)], ...more });

	const models = [];
	for await (const model of client.models.list()) models.push(model.id);
	is('openai: the models are listed', models, ['demo']);
	is('openai: a model is shown', (await client.models.retrieve('demo')).id, 'demo');

	const answer = await ask('hello');
	is('openai: an answer', answer.choices[0].message.content, 'echo: hello');
	is('openai: and its usage', answer.usage.total_tokens, 3);

	const pieces = [];
	let usage;
	for await (const chunk of await ask('one two', { stream: true, stream_options: { include_usage: true } })) {
		if (chunk.choices[0]?.delta.content) pieces.push(chunk.choices[0].delta.content);
		usage = chunk.usage ?? usage;
	}
	is('openai: pieces of a stream', pieces, ['echo:', ' one', ' two']);
	is('openai: and the usage of it', usage?.total_tokens, 5);
	const helper = client.chat.completions.stream({ model: 'demo', messages: [user('/slow 2 1')] });
	is('openai: the helper for streams', await helper.finalContent(), 'tick 1\n\ntick 2\n\ndone');

	const picked = [];
	const tools = [{ type: 'function', function: { name: 'pick', description: 'Picks', parameters, parse: JSON.parse,
		function: (args) => { picked.push(args); return 'two'; } } }];
	for (const stream of [false, true]) {
		const runner = client.chat.completions.runTools({ model: 'demo', stream, messages: [user('/remote pick {"n":2}')], tools });
		is(`openai: the loop of tools, stream ${stream}`, await runner.finalContent(), 'remote: two');
	}
	is('openai: which calls the function', picked, [{ n: 2 }, { n: 2 }]);

	const headers = { 'X-Thread-ID': 'openai' };
	await client.chat.completions.create({ model: 'demo', messages: [user('/ask May I?')] }, { headers });
	const resumed = await client.chat.completions.create({ model: 'demo', messages: [user('yes')] }, { headers });
	is('openai: a thread, and a pause on it', [resumed.thread_id, resumed.choices[0].message.content], ['openai', 'answer: yes']);

	const unknown = await failure(() => client.chat.completions.create({ model: 'other', messages: [user('x')] }));
	is('openai: an unknown model', [unknown instanceof OpenAI.NotFoundError, unknown?.code, unknown?.param], [true, 'model_not_found', 'model']);
	const two = await failure(() => ask('x', { n: 2 }));
	is('openai: what is not supported', [two instanceof OpenAI.BadRequestError, two?.code, two?.param, two?.type],
		[true, 'unsupported_parameter', 'n', 'invalid_request_error']);
	const wrong = await failure(() => client.chat.completions.create({ model: 'demo', messages: [{ role: 'user' }] }));
	is('openai: a mistake', [wrong instanceof OpenAI.BadRequestError, wrong?.param], [true, 'messages[0].content']);
	requests = 0;
	const failed = await failure(() => ask('/error it broke'));
	is('openai: a run that fails', [failed instanceof OpenAI.InternalServerError, failed?.code, requests], [true, 'NODE_ERROR', 1]);
	const broken = await failure(async () => {
		for await (const chunk of await ask('/error it broke', { stream: true })) void chunk;
	});
	is('openai: one that fails in a stream', [broken instanceof OpenAI.APIError, /it broke/.test(broken?.message)], [true, true]);

	const stranger = new OpenAI({ baseURL: `${guarded}/v1`, apiKey: 'nonsense', maxRetries: 0 });
	const known = new OpenAI({ baseURL: `${guarded}/v1`, apiKey: token, maxRetries: 0 });
	const guardedAsk = (client) => client.chat.completions.create({ model: 'demo', messages: [user('x')] });
	const refused = await failure(() => guardedAsk(stranger));
	is('openai: a bad token', [refused instanceof OpenAI.AuthenticationError, refused?.type], [true, 'authentication_error']);
	is('openai: a good one', (await guardedAsk(known)).choices[0].message.content, 'echo: x');
	const denied = await failure(() => known.models.list());
	is('openai: what the token may not', [denied instanceof OpenAI.PermissionDeniedError, denied?.type], [true, 'permission_error']);
	let limited = null;
	for (let i = 0; i < 40 && !limited; i++) limited = await failure(() => guardedAsk(known));
	is('openai: too many requests', [limited instanceof OpenAI.RateLimitError, limited?.type], [true, 'rate_limit_error']);
}

// ---- Vercel's AI SDK

async function vercel() {
	const provider = createOpenAICompatible({ name: 'agents', baseURL, apiKey: 'any', includeUsage: true });
	const model = provider('demo');
	const answer = await generateText({ model, prompt: 'hello' });
	is('ai: an answer', [answer.text, answer.finishReason, answer.usage.totalTokens], ['echo: hello', 'stop', 3]);
	const stream = streamText({ model, prompt: 'one two' });
	const pieces = [];
	for await (const piece of stream.textStream) pieces.push(piece);
	is('ai: pieces of a stream', [pieces.join('|'), (await stream.usage).totalTokens], ['echo:| one| two', 5]);

	const calls = [];
	const tools = { pick: tool({ description: 'Picks', inputSchema: jsonSchema(parameters),
		execute: async (args) => { calls.push(args); return 'two'; } }) };
	const looped = await generateText({ model, tools, stopWhen: isStepCount(3), prompt: '/remote pick {"n":2}' });
	is('ai: the loop of tools', [looped.text, looped.steps.length], ['remote: two', 2]);
	const streamed = streamText({ model, tools, stopWhen: isStepCount(3), prompt: '/remote pick {"n":3}' });
	is('ai: the same in a stream', await streamed.text, 'remote: two');
	is('ai: which call the function', calls, [{ n: 2 }, { n: 3 }]);
	const system = await generateText({ model, instructions: 'Be brief.', prompt: '/context' });
	is('ai: instructions are part of the context', system.text, 'context: 2');
	const onThread = (prompt) => generateText({ model, prompt, headers: { 'X-Thread-ID': 'ai' } });
	await onThread('first');
	is('ai: a thread', (await onThread('/context')).text, 'context: 3');

	const unknown = await failure(() => generateText({ model: provider('other'), prompt: 'x' }));
	is('ai: an unknown model', [APICallError.isInstance(unknown), unknown?.statusCode, unknown?.message, unknown?.isRetryable],
		[true, 404, "The model 'other' does not exist", false]);
	const failed = await failure(() => generateText({ model, prompt: '/error it broke', maxRetries: 0 }));
	is('ai: a run that fails', [APICallError.isInstance(failed), failed?.statusCode, failed?.message],
		[true, 500, 'Graph execution failed: it broke']);
	let told;
	const broken = streamText({ model, prompt: '/error it broke', maxRetries: 0, onError: ({ error }) => { told = error; } });
	await broken.consumeStream();
	report('ai: one that fails in a stream', /it broke/.test(String(told?.message ?? JSON.stringify(told))), String(told));
}

// ---- LangChain

async function langchain() {
	const make = (more) => new ChatOpenAI({ model: 'demo', apiKey: 'any', maxRetries: 0, configuration: { baseURL }, ...more });
	const model = make();
	const answer = await model.invoke([new SystemMessage('Be brief.'), new HumanMessage('hello')]);
	is('langchain: an answer', [answer.content, answer.usage_metadata?.total_tokens], ['echo: hello', 3]);
	const pieces = [];
	for await (const chunk of await model.stream('one two')) if (chunk.content) pieces.push(chunk.content);
	is('langchain: pieces of a stream', pieces, ['echo:', ' one', ' two']);

	const bound = model.bindTools([{ type: 'function', function: { name: 'pick', description: 'Picks', parameters } }]);
	const messages = [new HumanMessage('/remote pick {"n":2}')];
	const asked = await bound.invoke(messages);
	is('langchain: a call', asked.tool_calls.map((call) => [call.name, call.args]), [['pick', { n: 2 }]]);
	messages.push(asked, new ToolMessage({ tool_call_id: asked.tool_calls[0].id, content: 'two' }));
	is('langchain: and its result', (await bound.invoke(messages)).content, 'remote: two');
	is('langchain: a conversation', (await model.invoke([...messages, new AIMessage('remote: two'), new HumanMessage('/context')])).content, 'context: 5');
	const onThread = make({ configuration: { baseURL, defaultHeaders: { 'X-Thread-ID': 'langchain' } } });
	await onThread.invoke('first');
	is('langchain: a thread', (await onThread.invoke('/context')).content, 'context: 3');

	const unknown = await failure(() => make({ model: 'other' }).invoke('x'));
	is('langchain: an unknown model', [unknown?.status, unknown?.code, unknown?.lc_error_code], [404, 'model_not_found', 'MODEL_NOT_FOUND']);
	const failed = await failure(() => model.invoke('/error it broke'));
	is('langchain: a run that fails', [failed?.status, failed?.code], [500, 'NODE_ERROR']);
	const broken = await failure(async () => {
		for await (const chunk of await model.stream('/error it broke')) void chunk;
	});
	report('langchain: one that fails in a stream', /it broke/.test(broken?.message), String(broken));
}

for (const talk of [openai, vercel, langchain]) {
	const error = await failure(talk);
	report(`${talk.name} came to its end`, !error, String(error?.stack));
}
