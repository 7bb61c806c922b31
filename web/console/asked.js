/* SPDX-License-Identifier: ISC */
// What the agent asks for: answers to its questions, and results of tools that are to be run here.
import { button, guarded, make, more, newId, pre, sendByEnter } from './dom.js';
import { plain } from './text.js';

// What was typed: JSON if it is that, else text.
function valueOf(text) {
	try {
		return JSON.parse(text);
	} catch {
		return text;
	}
}

// Tool calls that are to be run here, and have no result yet.
function waitingCalls(messages) {
	const done = new Set(messages.flatMap((message) => message.content).filter((block) => block.type === 'tool_result').map((block) => block.call_id));
	const last = messages.findLastIndex((message) => message?.role === 'user');
	return messages.slice(last + 1).flatMap((message) => message.content).filter((block) => block.type === 'remote_tool_call' && !done.has(block.id));
}

// A group with a form, which calls act when it is sent.
function group(name, act, ...inside) {
	const form = make('form', ...inside);
	form.addEventListener('submit', (event) => {
		event.preventDefault();
		guarded(form, act);
	});
	return make('div.question', { role: 'group', 'aria-label': name }, form);
}

export class Asked {
	// turn(body) goes on with an answer or a result; message is the field that gets the focus when nothing is asked for.
	constructor(turn, message) {
		Object.assign(this, { turn, message, questions: [], node: make('div.asked') });
	}

	// Whether a question has to be answered before anything else is said.
	comesFirst() {
		return this.questions.some(({ reason }) => !/^interrupt_(before|after)$/.test(reason));
	}

	// Questions that stay open keep what was typed.  The focus goes to the first one, unless another message has
	// been begun.
	show(interrupts, messages) {
		this.questions = interrupts.map((one) => this.questions.find(({ id }) => id === one.id) || this.questionOf(one));
		const had = this.node.contains(document.activeElement) && document.activeElement;
		const several = this.questions.length > 1 && button('Answer all', () => this.answer(this.questions));
		this.node.replaceChildren(...this.questions.map(({ node }) => node), ...[several].filter(Boolean),
			...(interrupts.length ? [] : waitingCalls(messages).map((one) => this.toolOf(one))));
		if (had) (this.node.contains(had) ? had : this.message).focus();
		if ([this.message, document.body].includes(document.activeElement) && !this.message.value) this.node.querySelector('textarea')?.focus();
	}

	// If several questions are open, each answer names the one that it is for.
	async answer(questions) {
		const values = questions.map((question) => question.value());
		await this.turn({ resume: this.questions.length > 1 ? Object.fromEntries(questions.map(({ id }, i) => [id, values[i]])) : values[0] });
	}

	questionOf({ id, data, message, reason, response_schema: schema }) {
		const words = typeof data.question === 'string' ? data.question : message;
		const asksJson = schema && schema.type !== 'string', approves = reason === 'tool_approval';
		const field = sendByEnter(make('textarea', { rows: 2, 'aria-label': 'Answer' }));
		const question = { id, reason, value: () => (asksJson ? JSON.parse(field.value) : approves ? valueOf(field.value) : field.value) };
		const quick = (name, value) => button(name, () => this.answer([{ id, value: () => value }]));
		question.node = group('Question', () => this.answer([question]), plain('p', words || `The agent waits (${reason}).`),
			words && Object.keys(data).length <= 1 ? '' : pre(data), schema ? more('What fits', () => pre(schema)) : '',
			field, make('div.actions', ...(approves ? [quick('Approve', true), quick('Decline', false)] : []), make('button.primary', 'Answer')));
		return question;
	}

	toolOf({ id, name, args }) {
		const result = sendByEnter(make('textarea', { rows: 2, 'aria-label': 'Result' }));
		const give = () => this.turn({ messages: [{ message_id: newId(), role: 'tool', content: [{ type: 'tool_result', call_id: id, output: valueOf(result.value) }] }] });
		return group(`Tool ${name}`, give, make('p', `The agent calls ${name} and waits for its result.`), pre(args), result,
			make('div.actions', make('button.primary', 'Return')));
	}
}
