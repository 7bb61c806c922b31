/* SPDX-License-Identifier: ISC */
// The frame of the console: who is connected, which view is shown.  A view is a module with show(main, parts, service),
// where parts are what the address has behind the view's name; what it fetches ends with its signal.
import * as api from './api.js';
import { button, complain, input, make, say } from './dom.js';

const page = document.body.dataset;
const views = [
	{ name: 'Chat', at: 'chat', load: () => import('./chat.js'), shown: ({ graph }) => !graph?.info.is_realtime },
	{ name: 'Graph', at: 'graph', load: () => import('./graph.js'), shown: ({ graph }) => graph },
	{ name: 'Threads', at: 'threads', load: () => import('./threads.js'), shown: () => true },
	{ name: 'Runs', at: 'runs', load: () => import('./runs.js'), shown: ({ graph }) => graph },
	{ name: 'Memory', at: 'memory', load: () => import('./memory.js'), shown: ({ graph }) => graph?.info.store },
	{ name: 'Files', at: 'files', load: () => import('./files.js'), shown: () => true },
	{ name: 'Evaluations', at: 'evaluations', load: () => import('./evaluations.js'), shown: () => page.evaluations },
	{ name: 'Live', at: 'live', load: () => import('./live.js'), shown: ({ graph }) => graph?.info.is_realtime },
];

const service = { graph: undefined, signal: undefined };
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
	const view = possible.find((one) => one.at === at) || possible.find((one) => ['chat', 'live'].includes(one.at));
	const main = document.getElementById('main');
	const { signal } = service;
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

// What is served; an error only where nobody was let in.  Who may not read the graph sees the views that do without.
async function learn() {
	try {
		service.graph = await api.get('v1/graph');
	} catch (error) {
		service.graph = undefined;
		if (error.code !== 'PERMISSION_ERROR') return error;
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
