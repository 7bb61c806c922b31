/* SPDX-License-Identifier: ISC */
// A message as a person sees it: its blocks, who said it, and what can be done with it.
import { file } from './api.js';
import { button, complain, count, longestLine, make, more, pre, say, when } from './dom.js';
import { markdown, plain } from './text.js';

const names = { user: 'You', assistant: 'Agent', tool: 'Tool', system: 'System' };

export function textOf(message) {
	return message.content.filter((block) => block.type === 'text').map((block) => block.text).join('\n\n');
}

function reasoningOf(message) {
	return message.content.filter((block) => block.type === 'reasoning').map((block) => block.summary || '').join('');
}

// What shows a file, as far as a browser can, and a link to its bytes.
export function view(address, type, name) {
	const way = make('a', { href: address, download: name }, `Download ${name}`);
	if (/^image\/(png|jpeg|gif|webp|avif|bmp)$/.test(type)) return [make('img', { src: address, alt: name }), way];
	if (/^(audio|video)\//.test(type)) return [make(type.split('/')[0], { src: address, controls: true, 'aria-label': name }), way];
	return [way];
}

// Shows media that the service has.  Media elsewhere are only named, as fetching them would tell others of it.
function media(block) {
	const { media: { file_id: id, mime_type: type = '', filename, url, data_base64: data } = {} } = block;
	const name = filename || block.alt_text || `${block.type}${type ? `, ${type}` : ''}`;
	const place = make('div.media');
	const put = (address) => place.append(...view(address, type, name));
	if (id) file(id).then(put, complain);
	else if (data) put(URL.createObjectURL(new Blob([Uint8Array.from(atob(data), (sign) => sign.charCodeAt(0))], { type })));
	else place.append(make('span', `${name}: ${url || 'no source'}`));
	return place;
}

const blocks = {
	text: (block) => markdown(block.text),
	reasoning: (block) => more('Reasoning', () => [markdown(block.summary || ''), ...(block.details || []).map((part) => markdown(part))]),
	tool_call: (block) => more(`Calls ${block.name}`, () => pre(block.args)),
	remote_tool_call: (block) => more(`Calls ${block.name}, here`, () => pre(block.args)),
	tool_result: (block) => make('div.result', { role: block.is_error ? 'note' : undefined }, make('span', block.is_error ? 'Failed: ' : 'Result: '),
		typeof block.output === 'string' ? plain('span', block.output) : pre(block.output)),
	image: media, audio: media, video: media, document: media, data: media,
	annotation: (block) => make('p', `${block.kind}: ${(block.refs || []).map((ref) => ref.title || ref.url || ref.file_id).join(', ')}`),
	error: (block) => make('p.failed', block.message),
};

export function content(message) {
	const thought = message.reasoning && !message.content.some((block) => block.type === 'reasoning')
		? [more('Reasoning', () => markdown(message.reasoning))] : [];
	return [...thought, ...message.content.map((block) => (blocks[block.type] || pre)(block))];
}

async function copy(text) {
	if (navigator.clipboard) {
		await navigator.clipboard.writeText(text);
	} else {
		const area = make('textarea', { value: text });
		document.body.append(area);
		area.select();
		document.execCommand('copy');
		area.remove();
	}
	say('Copied');
}

// acts is {edit, again}, where either may be missing; branches is what switches between the branches that begin here.
export function show(message, { edit, again, branches } = {}) {
	const node = make(`article.message.${message.role}`, { 'aria-label': names[message.role] });
	const text = textOf(message);
	node.append(make('header', make('b', names[message.role]), ' ', when(message.timestamp),
		message.usages ? make('small', ` ${count(message.usages.total_tokens, 'token')}`) : ''),
	make('div.content', ...content(message)),
	make('footer', edit && button('Edit', () => edit(node)), again && button('Again', again),
		text && button('Copy', () => copy(text)), branches));
	return node;
}

const pace = 50; // ms between additions: each makes the browser lay out the text again

// A message that is being said, or still thought about.  Its pieces are added as they come, those of a moment together,
// inside a call of change.
export function growing(message, change) {
	const thought = make('div.plain'), said = make('div.content.plain');
	const thinking = make('details', { open: true, hidden: true }, make('summary', 'Reasoning'), thought);
	const node = make(`article.message.${message.role}.growing`, { 'aria-label': names[message.role] }, make('header', make('b', names[message.role])), thinking, said);
	const parts = [{ place: thought, of: reasoningOf }, { place: said, of: textOf }].map((part) => ({ ...part, waiting: '', size: 0 }));
	let due = false;
	const put = () => {
		due = false;
		change(() => {
			for (const part of parts.filter(({ waiting }) => waiting)) {
				part.size += part.waiting.length;
				part.place.classList.toggle('long', part.size > longestLine);
				part.place.append(part.waiting);
				part.waiting = '';
			}
			thinking.hidden = !parts[0].size;
		});
	};
	return {
		node,
		add(piece) {
			for (const part of parts) part.waiting += part.of(piece);
			if (due) return;
			due = true;
			setTimeout(put, pace);
		},
	};
}
