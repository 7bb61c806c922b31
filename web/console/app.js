/* SPDX-License-Identifier: ISC */
// The frame of the console: who is connected, and which view is shown.  A view is a module with show(main, parts,
// service): parts are the parts of the address after the view's name, and all that the view fetches ends with
// service.signal.
import * as api from './api.js';
import { button, complain, input, make, say, set, settle } from './dom.js';

const page = document.body.dataset;
const service = { rights: null, signal: undefined, talk: page.live ? { at: 'live', name: 'Live' } : { at: 'chat', name: 'Chat' } };

// Whether the caller has these scopes, as far as is known; no list means all of them.
const may = (...scopes) => !service.rights || scopes.every((scope) => service.rights.includes(scope));

const views = [
	{ name: 'Chat', at: 'chat', load: () => import('./chat.js'), shown: () => !page.live && may('graph:stream', 'checkpointer:read') },
	{ name: 'Graph', at: 'graph', load: () => import('./graph.js'), shown: () => may('graph:read') },
	{ name: 'Threads', at: 'threads', load: () => import('./threads.js'), shown: () => may('checkpointer:read') },
	{ name: 'Runs', at: 'runs', load: () => import('./runs.js'), shown: () => may('graph:read') },
	{ name: 'Memory', at: 'memory', load: () => import('./memory.js'), shown: () => page.store && may('store:read') },
	{ name: 'Files', at: 'files', load: () => import('./files.js'), shown: () => may('files:read') },
	{ name: 'Evaluations', at: 'evaluations', load: () => import('./evaluations.js'), shown: () => page.evaluations },
	{ name: 'Live', at: 'live', load: () => import('./live.js'), shown: () => page.live && may('graph:stream') },
	{ name: 'Service', at: 'service', load: () => import('./service.js'), shown: () => service.rights !== undefined && may('config:read') },
];

let leaving = new AbortController();

function frame() {
	const main = make('main', { id: 'main', tabIndex: -1 });
	const skip = make('a.skip', { href: '#main', onclick: (event) => { event.preventDefault(); main.focus(); } }, 'To the content');
	const disconnect = page.tokens && api.token.get() && button('Disconnect', () => { leaving.abort(); api.forget(); start(); });
	document.body.replaceChildren(skip,
		make('header', make('h1', page.name), make('nav', { 'aria-label': 'Views' }), disconnect || ''),
		make('div', { id: 'alerts' }), main, make('p', { id: 'said', role: 'status' }));
}

// Whether a view is shown, or was before.
const isShown = () => Boolean(document.querySelector('nav a'));

// Keeps the links as long as they are the same, so that one that has the focus keeps it.
function showLinks(possible, current) {
	const nav = document.querySelector('nav');
	if (nav.textContent !== possible.map(({ name }) => name).join(''))
		nav.replaceChildren(...possible.map(({ at, name }) => make('a', { href: `#/${at}` }, name)));
	[...nav.children].forEach((link, i) => set(link, { ariaCurrent: possible[i] === current ? 'page' : null }));
}

function decoded(part) {
	try {
		return decodeURIComponent(part);
	} catch {
		return part;
	}
}

async function route() {
	leaving.abort();
	leaving = new AbortController();
	service.signal = leaving.signal;
	const [at, ...parts] = location.hash.slice(2).split('/').map(decoded);
	const possible = views.filter((view) => view.shown(service));
	const view = possible.find((one) => one.at === at) || possible.find((one) => ['chat', 'live'].includes(one.at)) || possible[0];
	const main = document.getElementById('main');
	const { signal } = service;
	if (!view) return main.replaceChildren(make('p.empty', 'This token may use none of the views.'));
	document.title = `${view.name} – ${page.name}`;
	showLinks(possible, view);
	settle();
	say('');
	if (at && view.at !== at) complain(new Error(`${views.find((one) => one.at === at)?.name || 'This view'} is not here: the service has no such view, or your token does not allow it.`));
	main.replaceChildren(make('p.empty', 'Loading …'));
	main.className = view.at;
	let show;
	try {
		({ show } = await view.load());
		if (!signal.aborted) await show(main, view.at === at ? parts.filter(Boolean) : [], { ...service, may, signal });
	} catch (error) {
		if (signal.aborted) return;
		main.replaceChildren(make('p.empty', 'This cannot be shown. ', show ? button('Try again', route) : button('Reload', () => location.reload())));
		complain(show ? error : new Error('This view cannot be loaded: the service is away, or has another version now.'));
	}
	if (document.activeElement === document.body) main.focus({ preventScroll: true });
}

let connecting;

// Asks for a token until the service takes one, and shows why it refused one.  Resolves to whether the view stays, with
// what was typed in it: for another person everything starts afresh.
function connect(refusal) {
	connecting ||= new Promise((resolve) => {
		const [label, secret] = input('Token', { type: 'password', required: true });
		const told = make('p', { role: 'alert' }, refusal || '');
		const form = make('form', make('h2', 'Connect'), make('p', 'The service asks for a token. It is kept until this tab is closed.'),
			label, told, make('div.actions', make('button', 'Connect')));
		const dialog = make('dialog.connect', { 'aria-label': 'Connect' }, form);
		const had = api.token.get(), { user_id: before } = claims();
		dialog.addEventListener('close', () => { if (dialog.isConnected) dialog.showModal(); }); // browsers let a second Escape close it
		form.addEventListener('submit', async (event) => {
			event.preventDefault();
			api.token.set(secret.value.trim());
			const error = await learn();
			if (error) {
				told.textContent = `${error.message}${error.request ? ` (request ${error.request})` : ''}`;
				secret.select();
				return;
			}
			connecting = undefined;
			dialog.close(); // gives the focus back
			dialog.remove();
			const same = claims().user_id === before, stays = same && isShown();
			if (!stays) leaving.abort();
			if (!same && had) api.forget(api.token.get()); // a new tab has nothing of anybody, and others may be the same person's
			if (!stays) start();
			resolve(stays);
		});
		document.body.append(dialog);
		dialog.showModal();
		secret.focus();
	});
	return connecting;
}

// The claims in the token itself, if it has any.
function claims() {
	try {
		return JSON.parse(atob(api.token.get().split('.')[1].replace(/-/g, '+').replace(/_/g, '/'))) || {};
	} catch {
		return {};
	}
}

// Finds out what the caller may do; resolves to an error only if the caller was not let in.  A caller who may not ask
// has what the token says, or finds out by being refused.
async function learn() {
	try {
		const answer = await api.request('GET', 'v1/service', { once: true });
		({ data: { rights: service.rights } } = await answer.json());
	} catch (error) {
		if (error.code !== 'PERMISSION_ERROR') return error;
		const { scopes } = claims();
		service.rights = Array.isArray(scopes) ? scopes : undefined;
	}
	return undefined;
}

async function start() {
	frame();
	if (page.tokens && !api.token.get()) return connect();
	const error = page.tokens && await learn();
	if (error && error.status) return connect(error.message);
	if (error) {
		document.getElementById('main').append(button('Try again', start));
		return complain(error);
	}
	return route();
}

api.onRefused((refusal) => connect(refusal.message));
window.addEventListener('hashchange', () => { if (isShown()) route(); });
start();
