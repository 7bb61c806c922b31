// SPDX-License-Identifier: ISC
// ag_ui_node.mjs PEERS URL: runs the conversations with the official client in Node; prints "ok NAME" or "failed NAME"
// for each.
import { createRequire } from 'node:module';
import { converse } from './ag_ui_talk.mjs';
import { report } from './report.mjs';

const [peers, url] = process.argv.slice(2);
const { HttpAgent } = createRequire(`${peers}/package.json`)('@ag-ui/client');

await converse(HttpAgent, { url }, report);
