// SPDX-License-Identifier: ISC
// LangGraph's own server, which its command starts for development: threads, runs and checkpoints in memory, written to
// files every three seconds.  A server of its kind that keeps them in a database is no part of the packages.
import { startServer } from '@langchain/langgraph-api/server';

const { host } = await startServer({
	port: Number(process.env.PORT ?? 0),
	host: '127.0.0.1',
	nWorkers: 10, // as the command has it
	cwd: process.cwd(),
	graphs: { agent: `${new URL('echo.mjs', import.meta.url).pathname}:graph` },
});
console.log(`serving http://${host}`);
