// SPDX-License-Identifier: ISC
// The page of ag_ui_browser.mjs: runs the conversations in a browser.
import { HttpAgent } from '@ag-ui/client';
import { converse } from './ag_ui_talk.mjs';

globalThis.talk = async (options) => {
	const facts = [];
	await converse(HttpAgent, options, (name, good, found) => facts.push({ name, good, found }));
	return facts;
};
