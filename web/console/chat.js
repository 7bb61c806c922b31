/* SPDX-License-Identifier: ISC */
// A conversation: what was said, and what is being said now.
import { call, get, messagesFrom, path, query, unsent, upload } from './api.js';
import { Asked } from './asked.js';
import { before, treeOf, waysFrom } from './branches.js';
import { ask, button, chooser, complain, link, make, more, newId, say, sendByEnter, settle, watch } from './dom.js';
import { draw } from './drawing.js';
import { MessageList } from './list.js';
import { growing, show as showMessage, textOf } from './message.js';
import { ready } from './text.js';
import { follow, onOther, run } from './turn.js';

const page = 200; // messages read at a time
const patience = 1000; // ms without a chunk until another run is looked for
// ms between two looks for a run that began elsewhere, where one has just ended and where none was for long; no stream
// tells of runs
const between = 5000, seldom = 30000;
const answerFirst = 'The agent waits for an answer to its question; give it first.';

function kindOf(type) {
	return /^(image|audio|video)\//.test(type) ? type.split('/')[0] : 'document';
}

let latest; // the conversation that was opened last

class Conversation {
	constructor(main, thread, service) {
		latest = this;
		Object.assign(this, { main, thread, service, messages: [], unsure: Infinity, tree: treeOf([]), files: [], uploads: 0 });
		this.name = make('h2');
		this.list = new MessageList((message, place) => this.actsOf(message, place), (end) => this.readEarlier(end));
		this.log = this.list.node;
		this.chips = make('ul.chips', { 'aria-label': 'Files' });
		this.field = sendByEnter(make('textarea', { rows: 2, 'aria-label': 'Message', placeholder: 'Message' }), () => true);
		this.asked = new Asked((body) => this.turn({ ...body, config: { thread_id: this.thread } }), this.field);
		this.stop = button('Stop', () => this.halt());
		this.sender = make('button.primary', 'Send');
		this.form = make('form.composer', this.chips, this.field,
			make('div.actions', ...chooser('Attach', (given, signal) => this.attach(given, signal)), this.stop, this.sender));
		this.form.addEventListener('submit', (event) => {
			event.preventDefault();
			settle();
			this.send().catch(complain);
		});
		const graph = service.may('graph:read') && more('Graph', () => this.drawGraph());
		main.replaceChildren(make('div.title', this.name, button('New conversation', () => { location.hash = '#/chat'; if (!this.thread) this.field.focus(); })),
			graph || '', this.log, this.asked.node, this.form);
		this.takeBack();
		service.signal.addEventListener('abort', () => this.keep(this.field.value, this.files));
		onOther(service.signal, (of) => {
			if (of !== this.thread) return;
			if (this.running) this.missed = true;
			else this.join().catch(complain);
		});
		this.showRunning(false);
		watch(() => this.lookElsewhere(), () => Math.min(Math.max(between, (Date.now() - this.stirred) / 12), seldom), service.signal);
		document.addEventListener('visibilitychange', () => this.lookElsewhere().catch(() => {}), { signal: service.signal }); // if it is away, watch says so
	}

	where(rest = '') {
		return `v1/threads/${path(this.thread)}${rest}`;
	}

	drawGraph() {
		const place = make('div');
		get('v1/graph', this.service.signal).then((graph) => {
			this.picture = draw(graph);
			this.picture.light(this.at);
			place.append(this.picture.node);
		}).catch(complain);
		return place;
	}

	// Shows which node the run is in, if one goes on.
	light(node) {
		this.at = node;
		this.picture?.light(node);
	}

	async open() {
		if (!this.thread) {
			this.name.textContent = 'New conversation';
			this.log.replaceChildren(make('p.empty', 'Nothing has been said yet. Write a message below; Enter sends it.'));
			this.field.focus();
			return;
		}
		const [{ thread_data: record }, points] = await Promise.all([get(this.where(), this.service.signal), this.readHistory(), ready]);
		this.showName(record);
		await this.showWay(points);
		if (record.status === 'running') await this.takeUp(record);
	}

	showName(record) {
		this.name.replaceChildren(link(record.thread_name || record.thread_id, `#/threads/${path(record.thread_id)}`));
	}

	async readHistory() {
		try {
			return (await get(this.where('/history?limit=1000'), this.service.signal)).history;
		} catch (error) {
			if (error.code !== 'PERMISSION_ERROR') throw error;
			return [];
		}
	}

	// Reads the messages from a place on, and puts them after those before it.
	async readFrom(messages, from) {
		const found = await messagesFrom(this.thread, from, this.service.signal);
		messages.length = from;
		return messages.concat(found);
	}

	async readEarlier(end) {
		const { messages } = this, from = Math.max(0, end - page);
		const found = await get(this.where(`/messages${query({ limit: end - from, offset: from })}`), this.service.signal);
		found.messages.forEach((message, i) => { messages[from + i] = message; });
	}

	// Shows the branch that the thread is on by these checkpoints: its end at once, the rest when somebody scrolls
	// near.
	async showWay(points) {
		const from = Math.max(0, (points[0]?.message_count || 0) - page / 2);
		await this.showAll(await this.readFrom(new Array(from), from), points, 0);
	}

	// Reads again the messages from this place on and the checkpoints; everything, if the thread went another way
	// meanwhile.
	async refresh(from) {
		const near = Math.max(0, from - 1), last = this.messages[near]?.message_id;
		const [messages, points] = await Promise.all([this.readFrom(this.messages.slice(0, near), near), this.readHistory()]);
		if (near < from && messages[near]?.message_id !== last) return this.showWay(points);
		return this.showAll(messages, points, from);
	}

	async showAll(messages, points, from) {
		this.messages = messages;
		this.tree = treeOf(points);
		this.list.show(messages, from);
		const { thread_data: record } = await get(this.where(), this.service.signal); // not from points: there may be no checkpoint
		this.record = record;
		if (record.status === 'error') await this.readFailure(record);
		if (record.status !== 'interrupted') return this.asked.show([], messages);
		const { state: { execution_meta: meta } } = await get(this.where('/state'), this.service.signal);
		return this.asked.show(meta.interrupts || (meta.interrupt ? [meta.interrupt] : []), messages);
	}

	// Shows below the messages how the last run failed, and offers to try it again.
	async readFailure(record) {
		const { error } = await get(this.where(`/runs/${path(record.run_id)}`), this.service.signal).catch(() => ({})); // the run may be gone
		const asked = this.messages.findLastIndex((message) => message?.role === 'user');
		const again = asked >= 0 && (before(this.tree, asked) || asked === 0) && button('Try again', () => this.askAgain(asked));
		const look = error && link('Look at the run', `#/runs/${path(record.thread_id, record.run_id)}`);
		this.list.change(() => this.list.add(make('div.failure', make('span.failed', error?.message || 'The last run failed.'), ' ', look, ' ', again)));
	}

	// ---- What was said

	actsOf(message, place) {
		const asked = message.role === 'user' ? place : this.askedBefore(place);
		const possible = asked >= 0 && (before(this.tree, asked) || asked === 0);
		if (message.role === 'user') return { edit: possible && ((node) => this.edit(node, place)), branches: this.branches(place) };
		const ends = !this.messages[place + 1] || this.messages[place + 1].role === 'user';
		return { again: message.role === 'assistant' && possible && ends && (() => this.askAgain(asked)) };
	}

	askedBefore(place) {
		do place--; while (this.messages[place] && this.messages[place].role !== 'user');
		return this.messages[place] ? place : -1;
	}

	branches(place) {
		const { ends, present } = waysFrom(this.tree, place);
		if (ends.length < 2 || present < 0) return undefined;
		const go = (by) => button(by < 0 ? 'Previous branch' : 'Next branch', () => this.goTo(ends[present + by]), { disabled: !ends[present + by] });
		return make('span.ways', go(-1), ` ${present + 1} of ${ends.length} `, go(1));
	}

	async goTo(point) {
		await call('POST', this.where('/rewind'), { checkpoint_id: point.checkpoint_id }, this.service.signal);
		await this.showWay(await this.readHistory());
		say('Another branch is shown');
	}

	edit(node, place) {
		const message = this.messages[place];
		ask(node, 'Edited message', 'Save', textOf(message), (text) => this.askAgain(place, text), { lines: 4 });
	}

	// Branches off right before the message at this place.  Nothing comes before the first message, unless the
	// thread was made here.
	async askAgain(place, text) {
		if (this.running) throw new Error('A run goes on here. Wait for its end, or stop it.');
		const old = this.messages[place];
		const content = text === undefined ? old.content : [{ type: 'text', text }, ...old.content.filter((block) => block.type !== 'text')];
		const message = { message_id: text === undefined ? old.message_id : newId(), role: 'user', content };
		const point = before(this.tree, place);
		if (!point) {
			await this.makeThread();
			this.messages = [];
		} else {
			this.messages = this.messages.slice(0, place);
		}
		await this.turn({ messages: [message], config: { thread_id: this.thread, checkpoint_id: point?.checkpoint_id } }, message);
	}

	// ---- What is said now

	// Whoever has left and comes back, before or after the file, finds it beside what was typed.
	async attach(given, signal) {
		this.uploads++;
		const stored = await upload(given, signal).finally(() => { this.uploads--; });
		const here = latest.thread === this.thread ? latest : this;
		if (here.service.signal.aborted) {
			const { text = '', files = [] } = unsent.get(this.thread) || {};
			unsent.set(this.thread, { text, files: [...files, stored] });
			return;
		}
		here.files.push(stored);
		here.showFiles();
	}

	showFiles() {
		this.chips.replaceChildren(...this.files.map((stored) => make('li', stored.filename, ' ', button(`Remove ${stored.filename}`, () => {
			this.files = this.files.filter((other) => other !== stored);
			this.showFiles();
			this.field.focus();
		}))));
	}

	async send() {
		const text = this.field.value.trim();
		if (this.running || (!text && !this.files.length && !this.uploads)) return;
		if (this.uploads) throw new Error('A file is still being uploaded. Send when it is there, or cancel it.');
		const content = [...(text ? [{ type: 'text', text }] : []),
			...this.files.map((stored) => ({ type: kindOf(stored.mime_type), file_id: stored.file_id, mime_type: stored.mime_type }))];
		const message = { message_id: newId(), role: 'user', content }, { files } = this;
		if (this.asked.comesFirst()) throw new Error(answerFirst);
		this.unheard = message;
		unsent.delete(this.thread);
		try {
			this.field.value = '';
			this.files = [];
			this.showFiles();
			if (!this.thread) {
				this.running = true; // a second Enter sends nothing
				say('A conversation begins');
				await this.makeThread().finally(() => { this.running = false; });
			}
			await this.turn({ messages: [message], config: { thread_id: this.thread } }, message);
			if (!this.asked.questions.length || this.messages.some(({ message_id: id }) => id === message.message_id)) return;
			this.unheard = message; // the agent asked its question meanwhile, elsewhere
			throw new Error(answerFirst);
		} finally {
			if (this.unheard === message && !this.service.signal.aborted) this.keep(text, files);
			this.takeBack();
		}
	}

	keep(text, files) {
		if (text.trim() || files.length) unsent.set(this.thread, { text, files });
		else unsent.delete(this.thread);
	}

	// Puts what was not sent, or not taken, back into the field, unless something else has been typed since.
	takeBack() {
		const { text, files } = unsent.get(this.thread) || {};
		if (text === undefined || this.field.value || this.files.length) return;
		this.field.value = text;
		this.files = files;
		this.showFiles();
	}

	// Makes a thread with a checkpoint before its first message, so that this message can be edited, too.  Who may not make
	// one can still talk: then the first run makes it.
	async makeThread() {
		const { signal, may } = this.service;
		const made = may('checkpointer:write') && await call('POST', 'v1/threads', {}, signal).catch((error) => {
			if (error.code !== 'PERMISSION_ERROR') throw error;
		});
		const record = made ? made.thread_data : { thread_id: newId() };
		if (made) await call('PUT', `v1/threads/${path(record.thread_id)}/state`, { state: {} }, signal);
		this.thread = record.thread_id;
		this.unnamed = Boolean(made);
		history.replaceState(null, '', `#/chat/${path(this.thread)}`);
		const { history: points } = made ? await get(this.where('/history?limit=10'), signal) : { history: [] };
		this.tree = treeOf(points);
		this.record = made ? record : undefined;
		this.showName(record);
	}

	async turn(body, message) {
		const from = this.messages.length;
		if (message) {
			this.messages.push({ ...message, content: message.content.map((block) => (block.type === 'text' || block.media ? block : { ...block, media: block })),
				timestamp: Date.now() / 1000 });
			this.list.show(this.messages, from);
		}
		if (this.asked.node.contains(document.activeElement)) this.field.focus();
		else if (document.activeElement === document.body) this.log.focus({ preventScroll: true }); // what had it is gone
		this.asked.node.replaceChildren();
		this.list.goToEnd();
		await this.during((heard) => this.run(body, heard), Math.max(0, from - (body.resume === undefined ? 0 : 1)));
		if (this.unnamed) await this.nameIt();
	}

	// Runs the graph with the body.  If another run has the thread, this one waits for it, and that one is shown
	// meanwhile.
	async run(body, heard) {
		const { signal } = this.service;
		let own;
		const look = async () => {
			const { thread_data: record } = await get(this.where(), signal);
			const other = !own && record.status === 'running' && await get(this.where(`/runs/${path(record.run_id)}`), signal);
			if (!other || own) return;
			say('Another run goes on here; this one waits for its turn');
			await follow(other, signal, (chunk) => { if (chunk.run_id !== own) heard(chunk); });
		};
		const waiting = setTimeout(() => look().catch(() => {}), patience); // what is wrong is told by the run itself
		await run(body, signal, (chunk, request) => {
			own = chunk.run_id;
			heard(chunk, request);
		}).finally(() => clearTimeout(waiting));
	}

	// Names the thread by what was said first, if no generator gave it a name.
	async nameIt() {
		this.unnamed = false;
		let { thread_data: record } = await get(this.where(), this.service.signal);
		const words = textOf(this.messages[0] || { content: [] }).replace(/[\s\p{Cc}]+/gu, ' ').trim();
		if (!record.thread_name && words)
			({ thread_data: record } = await call('PATCH', this.where(), { thread_name: words.slice(0, 60) }, this.service.signal));
		this.showName(record);
	}

	async takeUp(record) {
		const { signal } = this.service;
		this.followed = record.run_id;
		await this.during(async (heard) => {
			const running = await get(this.where(`/runs/${path(record.run_id)}`), signal);
			await follow(running, signal, heard, (now) => this.lookAt(now));
		}, Math.max(0, this.messages.length - 20));
	}

	// Shows a run that another tab has started, maybe while this one was busy with its own.
	async join() {
		let record;
		this.missed = false;
		this.showRunning(true);
		try {
			({ thread_data: record } = await get(this.where(), this.service.signal)); // before the messages: it may end meanwhile
			await this.refresh(Math.min(this.unsure, this.messages.length));
			this.unsure = Infinity;
		} finally {
			this.showRunning(false);
		}
		if (!this.running && record.status === 'running') await this.takeUp(record);
	}

	// Shows a run that other clients have started, or that was due in the background, while somebody looks.
	async lookElsewhere() {
		const { record } = this;
		if (!this.thread || record?.thread_id !== this.thread || this.running || document.hidden) return;
		const { thread_data: now } = await get(this.where(), this.service.signal).catch((error) => {
			if (error.status !== 404) throw error;
			return { thread_data: record }; // the next message tells that it was deleted
		});
		if (this.record !== record || now.thread_id !== this.thread || this.running) return;
		if (now.status === 'running' || now.status !== record.status || now.run_id !== record.run_id) await this.join();
	}

	// Shows a run whose chunks are not kept: what it said, after each step.
	async lookAt({ node, step, run_id: id }) {
		if (this.looked === `${id} ${step}`) return;
		this.looked = `${id} ${step}`;
		this.light(node);
		await this.refresh(this.messages.length);
		say(`A run that began elsewhere goes on: ${node}, step ${step}`);
	}

	// Shows a turn while go runs it.  Messages from the place unsure on may not be in the thread; they are read
	// again after it.
	async during(go, from) {
		const said = new Map();
		let failed = false;
		this.unsure = Math.min(this.unsure, from);
		this.showRunning(true);
		try {
			await go((chunk, request) => {
				this.unheard = undefined;
				if (request && chunk.metadata?.is_new_thread && this.unsure > 0) {
					this.unsure = 0;
					this.unnamed = true;
					complain(new Error('This conversation was deleted elsewhere; here it began anew.'));
				}
				this.hear(chunk, said, request);
			});
		} catch (error) {
			failed = true;
			complain(error);
		}
		if (this.service.signal.aborted) return;
		this.light();
		try {
			await this.refresh(Math.min(this.unsure, this.messages.length));
			this.unsure = Infinity;
		} catch (error) {
			if (!failed) throw error;
			return; // what failed first is told; maybe there is no thread yet
		} finally {
			this.showRunning(false); // only now: before, a message would meet questions of the last turn
		}
		// a run that has waited for this one, unless it is taken up already
		if (!this.running && this.record.status === 'running' && this.record.run_id !== this.followed) await this.takeUp(this.record);
	}

	hear({ event, message, data, metadata, run_id: id }, said, request) {
		this.followed = id;
		if (metadata?.node) this.light(metadata.node);
		if (event === 'message' && (said.has(message.message_id) || !this.messages.some((one) => one.message_id === message.message_id)))
			this.hearMessage(message, said);
		if (event === 'updates' && data.status === 'invoking_node') say(`${data.node}, step ${data.step}`);
		if (event === 'updates' && data.status === 'stopped') say('Stopped');
		if (event === 'updates' && data.status === 'restarted') say(`Taken up again, attempt ${data.attempt}`);
		if (event === 'error') complain(Object.assign(new Error(data.reason), { request }));
	}

	hearMessage(message, said) {
		const place = said.get(message.message_id);
		if (place && message.delta) return place.add(message);
		const change = (act) => this.list.change(act);
		const fresh = message.delta ? growing(message, change) : { node: showMessage(message), add() {} };
		if (message.delta) fresh.add(message);
		said.set(message.message_id, fresh);
		return change(() => { if (place) place.node.remove(); this.list.add(fresh.node); });
	}

	async halt() {
		if (!this.running) return;
		await call('POST', 'v1/graph/stop', { thread_id: this.thread }, this.service.signal);
		say('Stopping after this step');
	}

	showRunning(running) {
		this.running = running;
		this.stirred = Date.now();
		if (!running && document.activeElement === this.stop) this.field.focus();
		this.stop.disabled = !running;
		this.sender.setAttribute('aria-disabled', running);
		this.log.setAttribute('aria-busy', running);
		this.main.classList.toggle('running', running);
		if (running) return;
		say('');
		if (this.missed) this.join().catch(complain);
	}
}

export async function show(main, [thread], service) {
	const conversation = new Conversation(main, thread, service);
	try {
		await conversation.open();
	} catch (error) {
		if (error.status !== 404) throw error;
		main.replaceChildren(make('p.empty', 'This conversation is not there. ', link('New conversation', '#/chat')));
		complain(error);
	}
}
