// SPDX-License-Identifier: ISC
// LangGraph with its SQLite checkpointer behind fastify, as one writes it by hand: each step of a run becomes a
// checkpoint in the database.
import { SqliteSaver } from '@langchain/langgraph-checkpoint-sqlite';
import fastify from 'fastify';
import { randomUUID } from 'node:crypto';
import { builder } from './echo.mjs';

const checkpointer = SqliteSaver.fromConnString('threads.db');
checkpointer.db.pragma('journal_mode = WAL');
checkpointer.db.pragma('synchronous = NORMAL'); // as agentgraph sets it
const graph = builder.compile({ checkpointer });
const thread = (id) => ({ configurable: { thread_id: id ?? randomUUID() } });
const app = fastify({ bodyLimit: 64 << 20 });

app.get('/ping', async () => 'pong');
app.post('/invoke', async ({ body }) => {
	const { messages } = await graph.invoke({ messages: body.messages }, thread(body.thread_id));
	return { message: messages.at(-1).text };
});
app.post('/threads/:id', async ({ params, body }) => {
	await graph.updateState(thread(params.id), { messages: body.messages }, 'agent');
	return {};
});
console.log(`serving ${await app.listen({ host: '127.0.0.1', port: Number(process.env.PORT ?? 0) })}`);
