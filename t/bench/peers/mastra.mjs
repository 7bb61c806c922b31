// SPDX-License-Identifier: ISC
// Mastra's server: an agent whose memory keeps threads and messages in SQLite (libsql, WAL, synchronous NORMAL), and whose
// model echoes without a network.
import { serve } from '@hono/node-server';
import { Agent } from '@mastra/core/agent';
import { Mastra } from '@mastra/core';
import { MastraServer } from '@mastra/hono';
import { LibSQLStore } from '@mastra/libsql';
import { Memory } from '@mastra/memory';
import { Hono } from 'hono';

const usage = { inputTokens: 2, outputTokens: 3, totalTokens: 5 };
const told = (prompt) => prompt.findLast((message) => message.role === 'user').content.at(-1).text;
const model = {
	specificationVersion: 'v2',
	provider: 'echo',
	modelId: 'echo',
	supportedUrls: {},
	doGenerate: async ({ prompt }) => ({
		content: [{ type: 'text', text: `echo: ${told(prompt)}` }],
		finishReason: 'stop',
		usage,
		warnings: [],
	}),
	doStream: async () => {
		throw new Error('nothing here is streamed');
	},
};

const storage = new LibSQLStore({ id: 'threads', url: 'file:threads.db' });
const echo = new Agent({ id: 'echo', name: 'echo', instructions: 'Echo.', model, memory: new Memory({ storage }) });
const app = new Hono();
app.get('/ping', (c) => c.text('pong'));
await new MastraServer({ app, mastra: new Mastra({ agents: { echo }, storage, logger: false }) }).init();
serve({ fetch: app.fetch, hostname: '127.0.0.1', port: Number(process.env.PORT ?? 0) }, ({ port }) =>
	console.log(`serving http://127.0.0.1:${port}`),
);
