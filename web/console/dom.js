/* SPDX-License-Identifier: ISC */
// What pages are made of: elements, fields, buttons, dialogs, times in words.  Text is put in as text, never as HTML.

// Browsers take too long to find the direction of each line of a text with longer lines.
export const longestLine = 20000;

// make('p.note', {title: 'x', onclick}, 'text', node...): an element; attributes may be left out.
export function make(name, ...inside) {
	const [tag, ...classes] = name.split('.');
	const node = document.createElement(tag);
	if (tag === 'textarea') spare(node);
	if (classes.length) node.className = classes.join(' ');
	const given = inside[0];
	if (given && typeof given === 'object' && !(given instanceof Node) && !Array.isArray(given)) set(node, inside.shift());
	node.append(...inside.flat().filter((part) => part !== undefined && part !== null && part !== '' && part !== false));
	return node;
}

// Saves the browser from looking for directions in what will be in the field, whether a person or a script puts it there.
function spare(field) {
	const value = Object.getOwnPropertyDescriptor(HTMLTextAreaElement.prototype, 'value');
	const look = (size) => field.classList.toggle('long', size > longestLine);
	Object.defineProperty(field, 'value', { ...value, set(text) { look(String(text).length); value.set.call(field, text); } });
	field.addEventListener('beforeinput', ({ data }) => look(field.value.length + (data?.length || 0)));
}

export function set(node, attributes) {
	for (const [key, value] of Object.entries(attributes)) {
		if (typeof value === 'function' || (key in node && key !== 'list' && !key.includes('-'))) node[key] = value;
		else if (value !== undefined && value !== null && value !== false) node.setAttribute(key, value === true ? '' : value);
	}
	return node;
}

// A button that does something.  It cannot be clicked again while that goes on, and an error is shown.
export function button(name, act, attributes = {}) {
	const node = make('button', { type: 'button', ...attributes }, name);
	node.addEventListener('click', () => guarded(node, act));
	return node;
}

export async function guarded(node, act) {
	if (node.getAttribute('aria-disabled') === 'true') return;
	const giveBack = node.contains(document.activeElement) ? heirOf(node) : () => {};
	node.setAttribute('aria-disabled', 'true');
	settle();
	try {
		await act(node);
	} catch (error) {
		complain(error);
	} finally {
		node.removeAttribute('aria-disabled');
		if (document.activeElement === document.body) giveBack();
	}
}

// Returns a function that gives the focus back to this element, or to the button that is in its place by then.
function heirOf(node) {
	const alike = () => [...document.querySelectorAll('main button')].filter((one) => one.textContent === node.textContent);
	const place = alike().indexOf(node);
	return () => {
		const heir = node.isConnected ? node : alike()[place] || alike().at(-1);
		heir?.focus();
		if (!heir || heir !== document.activeElement) document.getElementById('main').focus({ preventScroll: true });
	};
}

export function field(name, node, attributes = {}) {
	return make('label.field', attributes, make('span', name), node);
}

export function input(name, attributes = {}) {
	const node = make('input', { autocomplete: 'off', spellcheck: false, ...attributes });
	return [field(name, node), node];
}

export function choice(name, values, chosen, change) {
	const node = make('select', values.map(([value, words]) => make('option', { value, selected: value === chosen }, words)));
	node.addEventListener('change', () => { settle(); Promise.resolve(change(node.value)).catch(complain); });
	return [field(name, node), node];
}

// A button that opens the file chooser, and calls act for one chosen file after the other, with a signal that ends when
// the person cancels; if one is refused the others still have their turn.
export function chooser(name, act) {
	const node = make('input', { type: 'file', multiple: true, hidden: true });
	const choose = button(name, () => node.click());
	const cancel = button('Cancel upload', () => { stop.abort(); stop = new AbortController(); }, { hidden: true });
	let stop = new AbortController(), going = 0;
	const count = (by) => {
		going += by;
		if (!going && document.activeElement === cancel) choose.focus();
		cancel.hidden = !going;
	};
	node.addEventListener('change', async () => {
		const chosen = [...node.files], refusals = [], { signal } = stop;
		node.value = ''; // else the same file could not be chosen again
		settle();
		count(1);
		for (const given of chosen) {
			say(`Uploading ${given.name}`);
			try {
				await act(given, signal);
				say(`${given.name} is uploaded`);
			} catch (error) {
				say('');
				if (error.name === 'AbortError') break;
				refusals.push(`${given.name}: ${error.message}${error.request ? ` (request ${error.request})` : ''}`);
				complain(new Error(refusals.join('; ')));
			}
		}
		count(-1);
	});
	return [choose, cancel, node];
}

export function link(words, href, attributes = {}) {
	return make('a', { href, ...attributes }, words);
}

// A region that is closed at first, and filled when it is opened.
export function more(summary, fill, open = false) {
	const node = make('details', make('summary', summary));
	const once = () => node.append(...[fill()].flat());
	node.addEventListener('toggle', once, { once: true });
	node.open = open;
	return node;
}

// A text, or another value as JSON, that the keyboard can scroll.
export function pre(value) {
	return make('pre', { tabIndex: 0 }, pretty(value));
}

// Pairs of a name and a value, which may be an element.
export function facts(pairs) {
	return make('dl', pairs.flatMap(([key, value]) => [make('dt', key), make('dd.plain', value)]));
}

export function table(name, heads, rows, empty) {
	return make('div.wide', { tabIndex: 0, role: 'region', 'aria-label': `${name}, scrolls` }, make('table', { 'aria-label': name },
		make('thead', make('tr', heads.map((head) => make('th', { scope: 'col' }, head)))),
		make('tbody', rows.length ? rows.map((cells) => make('tr', cells.map((cell) => make('td', cell))))
			: make('tr', make('td.empty', { colSpan: heads.length }, empty)))));
}

// ---- What is told

export function say(words) {
	document.getElementById('said').textContent = words;
}

// Shows an error until it is dismissed, the view changes or something else is done.
export function complain(error) {
	if (error.name === 'AbortError') return;
	say('');
	const node = make('div.alert', { role: 'alert' }, make('span', error.message || String(error)),
		error.request ? make('small', ` Request ${error.request}`) : '', button('Dismiss', settle));
	document.getElementById('alerts').replaceChildren(node);
}

export function settle() {
	document.getElementById('alerts').replaceChildren();
}

// Calls look again and again until the view is left, or the service refuses; pause() is how many ms to wait in between.
// While the service is away one error says so, which goes when it is back.
export async function watch(look, pause, signal) {
	for (let away = false; !signal.aborted;) {
		try {
			await look();
			if (away && !signal.aborted) settle();
			away = false;
		} catch (error) {
			if (signal.aborted) return;
			if (!away) complain(error);
			if (error.status >= 400 && error.status < 429) return;
			away = true;
		}
		await new Promise((resolve) => { setTimeout(resolve, pause()); });
	}
}

// ---- What is asked

// Resolves to whether the person agrees to what is asked about the name of something; the careful answer has the focus.
// Who leaves the view does not agree.
export function confirm(before, name, after, verb) {
	return new Promise((resolve) => {
		const cancel = make('button', { type: 'button' }, 'Cancel');
		const go = make('button.danger', { type: 'button' }, verb);
		const node = make('dialog', { 'aria-label': before + name + after }, make('p', before, make('bdi', name), after), make('div.actions', cancel, go));
		const end = (answer) => {
			window.removeEventListener('hashchange', refuse);
			node.close();
			node.remove();
			resolve(answer);
		};
		const refuse = () => end(false);
		cancel.onclick = refuse;
		go.onclick = () => end(true);
		node.addEventListener('cancel', refuse);
		window.addEventListener('hashchange', refuse);
		document.body.append(node);
		node.showModal();
		cancel.focus();
	});
}

// Makes Enter send the field, if there is anything to send; Shift+Enter still breaks the line.
export function sendByEnter(field, isReady = () => field.value.trim()) {
	field.addEventListener('keydown', (event) => {
		if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
		event.preventDefault();
		if (isReady()) field.form.requestSubmit();
	});
	return field;
}

// Opens a text field in a place and gives it the focus: the verb or Enter confirms, Escape leaves it.
export function ask(place, name, verb, value, act, { lines = 1 } = {}) {
	const node = lines > 1 ? sendByEnter(make('textarea', { rows: lines, value }), () => true) : make('input', { value, autocomplete: 'off' });
	const giveBack = heirOf(document.activeElement);
	const leave = () => { form.remove(); giveBack(); };
	const form = make('form.ask', field(name, node), make('button', verb), make('button', { type: 'button', onclick: leave }, 'Cancel'));
	form.addEventListener('submit', (event) => {
		event.preventDefault();
		guarded(form, async () => { await act(node.value); leave(); });
	});
	form.addEventListener('keydown', ({ key }) => { if (key === 'Escape') leave(); });
	place.querySelector('form.ask')?.remove();
	place.append(form);
	node.focus();
	if (node.select) node.select();
	return form;
}

// ---- Words

const moment = new Intl.DateTimeFormat([], { dateStyle: 'short', timeStyle: 'short' }); // which takes long to make

// Nothing for a moment that is more than a day ago.
function agoOf(date) {
	const seconds = (Date.now() - date) / 1000;
	if (seconds < -60 || seconds >= 86400) return '';
	return seconds < 10 ? 'now' : seconds < 60 ? `${Math.floor(seconds)} s ago` : seconds < 3600 ? `${Math.floor(seconds / 60)} min ago` : `${Math.floor(seconds / 3600)} h ago`;
}

// A moment in words, which follow as time goes by, unless a client gave a number that is none.
export function when(time) {
	if (!time) return '';
	const date = new Date(typeof time === 'number' ? time * 1000 : time);
	if (Number.isNaN(date.getTime())) return String(time);
	const ago = agoOf(date);
	return make(ago ? 'time.ago' : 'time', { dateTime: date.toISOString(), title: date.toLocaleString(), 'aria-live': 'off' }, ago || moment.format(date));
}

setInterval(() => {
	for (const node of document.querySelectorAll('time.ago')) {
		const date = new Date(node.dateTime), ago = agoOf(date), words = ago || moment.format(date);
		if (!ago) node.classList.remove('ago');
		if (words !== node.textContent) node.textContent = words;
	}
}, 20000);

export function lasted(ms) {
	return ms < 1000 ? `${Math.round(ms)} ms` : ms < 60000 ? `${(ms / 1000).toFixed(1)} s` : `${Math.floor(ms / 60000)} min ${Math.round(ms % 60000 / 1000)} s`;
}

export function count(number, what) {
	return `${number} ${what}${number === 1 ? '' : 's'}`;
}

export function pretty(value) {
	return typeof value === 'string' ? value : JSON.stringify(value, null, 2);
}

// A random id that needs no secure origin.
export function newId() {
	return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');
}
