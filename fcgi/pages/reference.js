/* SPDX-License-Identifier: ISC */
// The API reference where the two pages that npm delivers are not there: every operation of the description with its
// fields, and a form to try it.  Made of the description alone; what it says is put in as text, never as HTML.
'use strict';

const page = document.getElementById('page');
const base = page.dataset.document.replace(/\/openapi\.json$/, '');
let api; // the description

// make('p.note', 'text', node...): an element with its classes and what is inside.
function make(name, ...inside) {
	const [tag, ...classes] = name.split('.');
	const node = document.createElement(tag);
	node.className = classes.join(' ');
	node.append(...inside.filter((part) => part !== undefined && part !== ''));
	return node;
}

function resolve(part) {
	while (part && part.$ref)
		part = part.$ref.slice(2).split('/').reduce((node, key) => node && node[key], api);
	return part || {};
}

// ---- Fields

function typeOf(schema) {
	if (schema.$ref) return schema.$ref.split('/').pop();
	const choices = schema.oneOf || schema.anyOf;
	if (choices) return choices.map(typeOf).join(' or ');
	if ('const' in schema) return JSON.stringify(schema.const);
	if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(', ');
	const type = [].concat(schema.type || 'any').join(' or ');
	return schema.items ? `${type} of ${typeOf(schema.items)}` : type;
}

// What limits the value of a field beside its type.
function limitsOf(schema) {
	const known = { default: 'default', minimum: 'from', maximum: 'to', minLength: 'length from', maxLength: 'length to',
		maxItems: 'entries up to', format: 'format' };
	return Object.keys(known).filter((key) => schema[key] !== undefined)
		.map((key) => `${known[key]} ${typeof schema[key] === 'string' ? schema[key] : JSON.stringify(schema[key])}`).join(', ');
}

// The schemas that have members: itself, or those of its entries or choices.
function shapes(schema) {
	const found = resolve(schema);
	if (found.properties) return [[typeOf(schema), found]];
	return [].concat(found.items || [], found.oneOf || [], found.anyOf || []).flatMap(shapes);
}

function field(name, schema, required, about) {
	const found = resolve(schema);
	const line = [make('code.name', name), ' ', make('span.type', typeOf(schema)), required ? make('span.required', ' required') : '',
		make('span.limits', limitsOf(found) && ` ${limitsOf(found)}`), make('div.about', about || schema.description || found.description || '')];
	const inner = shapes(schema);
	if (!inner.length) return make('li.field', ...line);
	// Made when it is opened: some schemas hold themselves.
	const more = make('details', make('summary', 'fields'));
	more.addEventListener('toggle', () => more.append(...inner.map(([title, shape]) => fields(shape, inner.length > 1 && title))), { once: true });
	return make('li.field', ...line, more);
}

function fields(shape, title) {
	const required = shape.required || [];
	const list = make('ul.fields', ...Object.entries(shape.properties).map(([name, schema]) => field(name, schema, required.includes(name))));
	return title ? make('div', make('h5', title), list) : list;
}

function content(kinds) {
	return Object.entries(kinds || {}).flatMap(([kind, { schema }]) => {
		const inner = schema ? shapes(schema) : [];
		return [make('p.type', `${kind} `, make('span.type', schema && schema.$ref ? typeOf(schema) : '')),
			...inner.map(([title, shape]) => fields(shape, inner.length > 1 && title))];
	});
}

function answers(operation) {
	return Object.entries(operation.responses).map(([status, answer]) => {
		const found = resolve(answer);
		const line = [make('code.name', status), ` ${found.description || ''}`];
		if (!found.content) return make('li.field', ...line);
		const more = make('details', make('summary', ...line));
		more.addEventListener('toggle', () => more.append(...content(found.content)), { once: true });
		return make('li.field', more);
	});
}

// ---- Trying it

// A value to begin with, with what is required.
function example(schema, depth = 0) {
	const found = resolve(schema);
	if (found.examples) return found.examples[0];
	if ('default' in found) return found.default;
	if ('const' in found) return found.const;
	if (found.enum) return found.enum[0];
	if (found.oneOf || found.anyOf) return example((found.oneOf || found.anyOf)[0], depth);
	const type = [].concat(found.type)[0];
	if (type === 'object' || found.properties)
		return depth > 5 ? {} : Object.fromEntries((found.required || []).map((name) => [name, example(found.properties[name], depth + 1)]));
	return { array: [], string: '', integer: found.minimum || 0, number: found.minimum || 0, boolean: false }[type] ?? null;
}

// JSON on lines of its own, with numbers as they came: JSON.parse would round long ones.
function indent(json) {
	const tokens = json.match(/"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g) || [];
	const parts = [];
	let depth = 0;
	const line = () => `\n${'  '.repeat(depth)}`;
	tokens.forEach((token, i) => {
		const opens = /^[{[]$/.test(token), closes = /^[}\]]$/.test(token);
		const empty = opens && /^[}\]]$/.test(tokens[i + 1]), ends = closes && /^[{[]$/.test(tokens[i - 1]);
		if (closes) depth--;
		if (closes && !ends) parts.push(line());
		parts.push(token === ':' ? ': ' : token);
		if (opens) depth++;
		if ((opens && !empty) || token === ',') parts.push(line());
	});
	return parts.join('');
}

function token() {
	return document.getElementById('token').value.trim();
}

function labelled(text, input, required) {
	return make('label', make('span', text, required ? make('span.required', ' required') : ''), input);
}

function input(type, name, required) {
	const node = make('input');
	Object.assign(node, { type, name, required: Boolean(required), autocomplete: 'off', spellcheck: false });
	return node;
}

function textarea(name, text) {
	const node = make('textarea');
	Object.assign(node, { name, value: text, rows: Math.min(20, text.split('\n').length + 1), spellcheck: false });
	return node;
}

// The parts of the form for a body: its kind, and the inputs.
function bodyInputs(operation) {
	const [[kind, { schema }] = []] = [Object.entries(resolve(operation.requestBody).content || {})[0] || [undefined, {}]];
	if (!kind) return [];
	if (kind !== 'multipart/form-data') return [labelled(kind, textarea('body', JSON.stringify(example(schema), null, 2)))];
	return Object.entries(resolve(schema).properties).map(([name, part]) => labelled(name,
		input(resolve(part).format === 'binary' ? 'file' : 'text', `part:${name}`, (schema.required || []).includes(name))));
}

// Path and query with what was filled in; what is empty is left out.
function target(path, operation, form) {
	const query = new URLSearchParams();
	for (const parameter of (operation.parameters || []).map(resolve)) {
		const value = form.elements[`in:${parameter.name}`].value;
		if (parameter.in === 'path') path = path.replace(`{${parameter.name}}`, encodeURIComponent(value));
		else if (parameter.in === 'query' && value) query.set(parameter.name, value);
	}
	return base + path + (query.size || String(query) ? `?${query}` : '');
}

function bodyOf(form, headers) {
	const parts = [...form.elements].filter((node) => node.name.startsWith('part:'));
	if (parts.length) {
		const data = new FormData();
		for (const part of parts) {
			const value = part.type === 'file' ? part.files[0] : part.value;
			if (value) data.append(part.name.slice(5), value);
		}
		return data;
	}
	const body = form.elements.body && form.elements.body.value;
	if (body) headers.set('Content-Type', 'application/json');
	return body || undefined;
}

async function show(answer, output) {
	const type = answer.headers.get('Content-Type') || '';
	const text = make('pre');
	output.append(text);
	if (!/^text\/|json/.test(type)) {
		const data = await answer.blob();
		if (!data.size) return;
		const link = make('a', `${data.size} bytes, ${type}`);
		link.href = URL.createObjectURL(data);
		link.download = '';
		text.append(link);
		return;
	}
	// As it comes: a stream shows its pieces.
	const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
	for (let piece = await reader.read(); !piece.done; piece = await reader.read()) text.append(piece.value);
	if (/json/.test(type)) text.textContent = indent(text.textContent);
}

async function send(method, path, operation, form, output) {
	const headers = new Headers();
	for (const parameter of (operation.parameters || []).map(resolve))
		if (parameter.in === 'header' && form.elements[`in:${parameter.name}`].value)
			headers.set(parameter.name, form.elements[`in:${parameter.name}`].value);
	if (token()) headers.set('Authorization', `Bearer ${token()}`);
	const begun = performance.now();
	output.replaceChildren(make('p', '…'));
	try {
		const answer = await fetch(target(path, operation, form), { method, headers, body: bodyOf(form, headers) });
		output.replaceChildren(make('p', make('code.status', String(answer.status)), ` after ${Math.round(performance.now() - begun)} ms, X-Request-ID `,
			make('code', answer.headers.get('X-Request-ID') || '-')));
		await show(answer, output);
	} catch (error) {
		output.append(make('p.failed', String(error)));
	}
}

// A WebSocket stays open over many frames; its credential is in the query, where browsers can put it.
function converse(path, form, output) {
	const query = token() ? `?token=${encodeURIComponent(token())}` : '';
	if (!form.socket || form.socket.readyState > WebSocket.OPEN) {
		form.socket = new WebSocket(`${location.origin.replace(/^http/, 'ws')}${base}${path}${query}`);
		output.replaceChildren(make('pre'));
		const tell = (text) => output.firstChild.append(`${text}\n`);
		form.socket.addEventListener('message', (event) => tell(typeof event.data === 'string' ? event.data : '(bytes)'));
		form.socket.addEventListener('close', (event) => tell(`closed: ${event.code} ${event.reason}`));
	}
	const frame = form.elements.body.value;
	if (form.socket.readyState === WebSocket.OPEN) form.socket.send(frame);
	else form.socket.addEventListener('open', () => form.socket.send(frame));
}

function tryForm(method, path, operation) {
	const socket = operation['x-websocket'];
	const parameters = (operation.parameters || []).map(resolve)
		.map((parameter) => labelled(parameter.name, input('text', `in:${parameter.name}`, parameter.in === 'path' && parameter.required), parameter.required));
	const run = api.components.schemas.RunRequest;
	const body = socket ? [labelled('a frame', textarea('body', run ? JSON.stringify(example(run), null, 2) : '{}'))] : bodyInputs(operation);
	const button = make('button', socket ? 'Send the frame' : 'Send');
	const form = make('form', ...parameters, ...body, button);
	const output = make('output');
	form.addEventListener('submit', (event) => {
		event.preventDefault();
		if (socket) converse(path, form, output);
		else send(method.toUpperCase(), path, operation, form, output);
	});
	return [form, output];
}

// ---- The page

function fill(details, method, path, operation) {
	const parameters = (operation.parameters || []).map(resolve);
	const body = content(resolve(operation.requestBody).content);
	details.append(make('p', operation.description || ''),
		make('p.permission', operation['x-permission'] ? `Takes the permission ${operation['x-permission']}.` : 'Takes no permission.'));
	if (parameters.length) details.append(make('h4', 'Parameters'), make('ul.fields', ...parameters.map((parameter) =>
		field(parameter.name, parameter.schema || {}, parameter.required, `In the ${parameter.in}. ${parameter.description || ''}`))));
	if (body.length) details.append(make('h4', 'Body'), ...body);
	details.append(make('h4', 'Answers'), make('ul.fields', ...answers(operation)), make('h4', 'Try it'), ...tryForm(method, path, operation));
}

function operationOf(method, path, operation) {
	const details = make('details.operation', make('summary', make(`span.method.${method}`, operation['x-websocket'] ? 'WS' : method.toUpperCase()), ' ',
		make('code', path), ' ', make('span.summary', operation.summary || '')));
	details.id = operation.operationId;
	details.addEventListener('toggle', () => fill(details, method, path, operation), { once: true });
	return details;
}

// Narrows the list down to what has the word somewhere.
function narrow(word) {
	for (const section of page.querySelectorAll('section')) {
		for (const details of section.querySelectorAll('.operation'))
			details.hidden = !`${details.id} ${details.firstChild.textContent}`.toLowerCase().includes(word.toLowerCase());
		section.hidden = !section.querySelector('.operation:not([hidden])');
	}
}

function head() {
	const secret = input('password', 'token'), search = input('search', 'search');
	secret.id = 'token';
	// Kept while this tab is open, for the next visit to the page.
	secret.value = sessionStorage.getItem('agentgraph-token') || '';
	secret.addEventListener('change', () => sessionStorage.setItem('agentgraph-token', secret.value.trim()));
	search.addEventListener('input', () => narrow(search.value.trim()));
	const link = make('a', 'openapi.json');
	link.href = page.dataset.document;
	return [make('h1', api.info.title, ' ', make('small', api.info.version)), make('p', api.info.summary || ''), make('p', 'The description of the API is ', link, '.'),
		make('div.tools', labelled('Bearer token', secret), labelled('Show only', search))];
}

function sections() {
	const all = Object.entries(api.paths).flatMap(([path, methods]) => Object.entries(methods).map(([method, operation]) => ({ path, method, operation })));
	return api.tags.map((tag) => make('section', make('h2', tag.name), make('p', tag.description || ''),
		...all.filter(({ operation }) => operation.tags.includes(tag.name)).map(({ method, path, operation }) => operationOf(method, path, operation))))
		.filter((section) => section.querySelector('.operation'));
}

// A link to an operation opens it.
function openNamed() {
	const named = document.getElementById(decodeURIComponent(location.hash.slice(1)));
	if (!named || !named.matches('.operation')) return;
	named.open = true;
	named.scrollIntoView();
}

async function start() {
	const answer = await fetch(page.dataset.document);
	if (!answer.ok) throw new Error(`${page.dataset.document}: ${answer.status}`);
	api = await answer.json();
	page.replaceChildren(...head(), ...sections());
	window.addEventListener('hashchange', openNamed);
	openNamed();
}

start().catch((error) => page.append(make('p.failed', String(error))));
