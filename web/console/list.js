/* SPDX-License-Identifier: ISC */
// The messages of a conversation, however many: those at the end are built at once, and earlier ones when somebody
// scrolls near, a few in each frame.
import { button, complain, make } from './dom.js';
import { show as showMessage } from './message.js';

const budget = 8; // ms of building before the browser has its turn
const close = 120; // pixels from the end that count as being there
const least = 200; // messages that are always built
const part = 25; // messages that are laid out together: browsers look at each part whenever they scroll

export class MessageList {
	// acts(message, place) says what can be done with a message (message.js); load(end) reads messages before that
	// place into the array.
	constructor(acts, load) {
		Object.assign(this, { acts, load, messages: [], first: 0, nodes: [], said: [], edited: new Map(), atEnd: true });
		this.node = make('div.log', { role: 'log', 'aria-label': 'Conversation', tabIndex: 0 });
		this.earlier = button('Earlier messages', () => this.grow());
		this.node.addEventListener('scroll', () => { this.atEnd = this.isAtEnd(); this.approach(); }, { passive: true });
		// a reader at the end stays there, also when a question takes some of the room, or a part is not as high as
		// the browser guessed
		this.sizes = new ResizeObserver(() => { if (this.atEnd) this.goToEnd(); });
		this.sizes.observe(this.node);
	}

	isAtEnd() {
		return this.node.scrollHeight - this.node.scrollTop - this.node.clientHeight < close;
	}

	goToEnd() {
		this.atEnd = true;
		this.node.scrollTop = this.node.scrollHeight;
	}

	// Changes the list; a reader at its end stays there.
	change(act) {
		const atEnd = this.isAtEnd();
		act();
		if (atEnd) this.goToEnd();
	}

	build(place) {
		const message = this.messages[place], edited = this.edited.get(place);
		this.edited.delete(place);
		if (edited?.id !== message.message_id) return showMessage(message, this.acts(message, place));
		// by then it is in the page
		queueMicrotask(() => { if (document.activeElement === document.body) edited.had?.focus({ preventScroll: true }); });
		return edited.node;
	}

	// Shows these messages.  Those before from are as they were; what was being said is among the others.  Messages that
	// are being edited stay as they are, also those that are not built before the next call.
	show(messages, from) {
		this.change(() => {
			const kept = Math.max(0, from - this.first), old = this.nodes.splice(kept);
			old.forEach((node, i) => {
				const place = this.first + kept + i;
				if (node.querySelector('form.ask')) this.edited.set(place, { node, id: this.messages[place].message_id, had: node.querySelector(':focus') });
			});
			for (const gone of [...old, ...this.said.splice(0), ...this.node.querySelectorAll('.empty')]) gone.remove();
			for (const node of [...this.node.querySelectorAll('.part:empty')]) node.remove();
			this.messages = messages;
			if (!this.nodes.length) this.first = messages.length;
			for (let place = this.first + this.nodes.length; place < messages.length; place++) this.append(place);
			if (!messages.length) this.node.append(make('p.empty', 'This thread has no messages.'));
			this.showEarlier();
		});
		this.approach();
	}

	append(place) {
		this.nodes.push(this.build(place));
		this.put(this.nodes.at(-1));
	}

	// Adds what is being said, until show has it as a message.
	add(node) {
		this.said.push(node);
		this.put(node);
	}

	partOf(...nodes) {
		const made = make('div.part', ...nodes);
		this.sizes.observe(made);
		return made;
	}

	// Puts a node after all others.
	put(node) {
		const last = this.node.lastElementChild;
		if (last?.className === 'part' && last.children.length < part) last.append(node);
		else this.node.append(this.partOf(node));
	}

	showEarlier() {
		if (this.first === 0) return this.earlier.remove();
		this.earlier.textContent = `Earlier messages (${this.first})`;
		return this.earlier.isConnected || this.node.prepend(this.earlier);
	}

	// Builds a few more of the earlier messages.  It may be called while another call is still loading.
	async grow() {
		const { messages } = this;
		if (this.first > 0 && !messages[this.first - 1]) await this.load(this.first);
		if (messages !== this.messages || !messages[this.first - 1]) return;
		const fresh = [];
		const end = performance.now() + budget;
		while (messages[this.first - 1] && fresh.length < part && (!fresh.length || performance.now() < end)) fresh.unshift(this.build(--this.first));
		// browsers keep what is seen in its place, but not when scrolled to the very top
		this.change(() => {
			if (this.node.scrollTop === 0) this.node.scrollTop = 1;
			this.earlier.after(this.partOf(fresh));
			this.nodes.unshift(...fresh);
			this.showEarlier();
		});
	}

	// Builds more if few messages are built, or less than two screens of them are above what is seen.
	approach() {
		const enough = this.nodes.length >= least && this.node.scrollTop > 2 * this.node.clientHeight;
		if (this.growing || this.first === 0 || enough) return;
		this.growing = true;
		requestAnimationFrame(() => this.grow().catch(complain).finally(() => { this.growing = false; if (this.node.isConnected) this.approach(); }));
	}
}
