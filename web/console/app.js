/* SPDX-License-Identifier: ISC */
// The frame of the console: who is connected, which view is shown.  A view is a module with show(main, parts, service),
// where parts are what the address has behind the view's name; what it fetches ends with its signal.
import * as api from './api.js';
import { button, complain, input, make, say } from './dom.js';

const page = document.body.dataset;
const service = { graph: undefined, rights: null, signal: undefined };

// Whether the caller has these scopes, as far as that is known.
const may = (...scopes) => !service.rights || scopes.every((scope) => service.rights.includes(scope));

const views = [
	{ name: 'Chat', at: 'chat', load: () => import('./chat.js'), shown: ({ graph }) => !graph?.info.is_realtime && may('graph:stream', 'checkpointer:read') },
	{ name: 'Graph', at: 'graph', load: () => import('./graph.js'), shown: ({ graph }) => graph },
	{ name: 'Threads', at: 'threads', load: () => import('./threads.js'), shown: () => may('checkpointer:read') },
	{ name: 'Runs', at: 'runs', load: () => import('./runs.js'), shown: ({ graph }) => graph },
	{ name: 'Memory', at: 'memory', load: () => import('./memory.js'), shown: ({ graph }) => (!graph || graph.info.store) && may('store:read') },
	{ name: 'Files', at: 'files', load: () => import('./files.js'), shown: () => may('files:read') },
	{ name: 'Evaluations', at: 'evaluations', load: () => import('./evaluations.js'), shown: () => page.evaluations },
	{ name: 'Live', at: 'live', load: () => import('./live.js'), shown: ({ graph }) => graph?.info.is_realtime && may('graph:stream') },
	{ name: 'Service', at: 'service', load: () => import('./service.js'), shown: () => service.rights !== undefined && may('config:read') },
];

let leaving = new AbortController();

function frame() {
	const main = make('main', { id: 'main', tabIndex: -1 });
	const skip = make('a.skip', { href: '#main', onclick: (event) => { event.preventDefault(); main.focus(); } }, 'To the content');
	const disconnect = page.tokens && button('Disconnect', () => { api.token.set(''); start(); });
	document.body.replaceChildren(skip,
		make('header', make('h1', page.name), make('nav', { 'aria-label': 'Views' }), disconnect || ''),
		make('div', { id: 'alerts' }), main, make('p', { id: 'said', role: 'status' }));
}

function showLinks(current) {
	document.querySelector('nav').replaceChildren(...views.filter((view) => view.shown(service)).map((view) =>
		make('a', { href: `#/${view.at}`, 'aria-current': view === current && 'page' }, view.name)));
}

async function route() {
	leaving.abort();
	leaving = new AbortController();
	service.signal = leaving.signal;
	const [at, ...parts] = location.hash.slice(2).split('/').map(decodeURIComponent);
	const possible = views.filter((view) => view.shown(service));
	const view = possible.find((one) => one.at === at) || possible.find((one) => ['chat', 'live'].includes(one.at)) || possible[0];
	const main = document.getElementById('main');
	const { signal } = service;
	if (!view) return main.replaceChildren(make('p.empty', 'This token may use none of the views.'));
	document.title = `${view.name} – ${page.name}`;
	showLinks(view);
	document.getElementById('alerts').replaceChildren();
	say('');
	main.replaceChildren(make('p.empty', 'Loading …'));
	main.className = view.at;
	try {
		const { show } = await view.load();
		if (!signal.aborted) await show(main, view.at === at ? parts.filter(Boolean) : [], { ...service, signal });
	} catch (error) {
		if (signal.aborted) return;
		main.replaceChildren(make('p.empty', 'This cannot be shown. ', button('Try again', route)));
		complain(error);
	}
}

// Asks for a token until the service takes one; a refusal is told in its words.
function connect(refusal) {
	if (document.querySelector('dialog.connect')) return;
	const [label, secret] = input('Token', { type: 'password', required: true });
	const told = make('p', { role: 'alert' }, refusal || '');
	const form = make('form', make('h2', 'Connect'), make('p', 'The service asks for a token. It is kept until this tab is closed.'),
		label, told, make('div.actions', make('button', 'Connect')));
	const dialog = make('dialog.connect', { 'aria-label': 'Connect' }, form);
	dialog.addEventListener('cancel', (event) => event.preventDefault());
	form.addEventListener('submit', async (event) => {
		event.preventDefault();
		api.token.set(secret.value.trim());
		const error = await learn();
		if (error) {
			told.textContent = `${error.message}${error.request ? ` (request ${error.request})` : ''}`;
			secret.select();
			return;
		}
		dialog.close();
		dialog.remove();
		route();
	});
	document.body.append(dialog);
	dialog.showModal();
	secret.focus();
}

// The scopes that the token itself names, if it does.
function claimedScopes() {
	try {
		return JSON.parse(atob(api.token.get().split('.')[1].replace(/-/g, '+').replace(/_/g, '/'))).scopes;
	} catch {
		return undefined;
	}
}

// The answer, or undefined for who may not have it.
async function permitted(where) {
	try {
		return await api.get(where);
	} catch (error) {
		if (error.code !== 'PERMISSION_ERROR') throw error;
		return undefined;
	}
}

// What the caller may do, and what is served; an error only where nobody was let in.  Who may not ask for their rights has
// what the token says, or finds out.
async function learn() {
	try {
		const about = page.tokens ? await permitted('v1/service') : { rights: null };
		const claimed = about ? undefined : claimedScopes();
		service.rights = about ? about.rights : Array.isArray(claimed) ? claimed : undefined;
		service.graph = may('graph:read') ? await permitted('v1/graph') : undefined;
	} catch (error) {
		return error;
	}
	return undefined;
}

async function start() {
	api.onRefused(() => {});
	frame();
	showLinks();
	if (page.tokens && !api.token.get()) return connect();
	const error = await learn();
	if (error && page.tokens && error.status) return connect(error.message);
	if (error) {
		document.getElementById('main').append(button('Try again', start));
		return complain(error);
	}
	api.onRefused((refusal) => connect(refusal.message));
	return route();
}

window.addEventListener('hashchange', () => { if (!document.querySelector('dialog.connect')) route(); });
start();
