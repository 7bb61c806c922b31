// SPDX-License-Identifier: ISC
// LangGraph's own server, which its command starts for development: it keeps threads, runs and checkpoints in memory,
// and writes them to files every three seconds.  The packages have no such server over a database.
import { startServer } from '@langchain/langgraph-api/server';

const { host } = await startServer({
	port: Number(process.env.PORT ?? 0),
	host: '127.0.0.1',
	nWorkers: 10, // as the command sets it
	cwd: process.cwd(),
	graphs: { agent: `${new URL('echo.mjs', import.meta.url).pathname}:graph` },
});
console.log(`serving http://${host}`);
