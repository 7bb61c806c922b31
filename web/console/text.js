/* SPDX-License-Identifier: ISC */
// Markdown of agents and people, if the library that reads it is there; else the plain text.  The library only says
// what is what: the elements are made here, of these kinds alone, and HTML stays text.  So nothing needs to be cleaned.
import { longestLine, make } from './dom.js';

const entities = { '&amp;': '&', '&lt;': '<', '&gt;': '>', '&quot;': '"', '&#39;': "'", '&nbsp;': '\u00a0' };
const longest = 200000; // a text that is longer, or has a very long line, stays plain
const longestPart = 5000, budget = 200; // so does a paragraph that is longer, or read after so many ms

const decode = (text) => text.replace(/&(?:amp|lt|gt|quot|#39|nbsp);/g, (entity) => entities[entity]);

// A link leads elsewhere only if a person follows it.  An image becomes a link, too, because fetching it would tell
// others.
function link(href, title, inside) {
	if (!/^(https?:|mailto:)/i.test(href)) return make('span', ...inside);
	return make('a', { href, title: title || '', target: '_blank', rel: 'noopener noreferrer nofollow' }, ...inside);
}

function tableOf({ header, rows }) {
	const cells = (name, row) => make('tr', row.map((cell) => make(name, ...all(cell.tokens))));
	return make('table', { tabIndex: 0 }, make('thead', cells('th', header)), make('tbody', rows.map((row) => cells('td', row))));
}

const itemOf = (item) => make('li', item.task ? `${item.checked ? '☑' : '☐'} ` : '', ...all(item.tokens));

const elements = {
	blockquote: (token) => make('blockquote', ...all(token.tokens)),
	br: () => make('br'),
	code: (token) => make('pre', { tabIndex: 0 }, make('code', token.text)),
	codespan: (token) => make('code', decode(token.text)),
	del: (token) => make('del', ...all(token.tokens)),
	em: (token) => make('em', ...all(token.tokens)),
	heading: (token) => make(`h${Math.min(6, token.depth + 2)}`, ...all(token.tokens)),
	hr: () => make('hr'),
	image: (token) => link(token.href, token.title, [decode(token.text) || token.href]),
	link: (token) => link(token.href, token.title, all(token.tokens)),
	list: (token) => make(token.ordered ? 'ol' : 'ul', token.ordered && token.start > 1 ? { start: token.start } : {}, ...token.items.map(itemOf)),
	paragraph: (token) => make('p', ...all(token.tokens)),
	space: () => '',
	def: () => '',
	strong: (token) => make('strong', ...all(token.tokens)),
	table: tableOf,
	text: (token) => (token.tokens ? make('span', ...all(token.tokens)) : decode(token.text)),
	escape: (token) => decode(token.text),
};

function all(tokens) {
	return tokens.map((token) => (elements[token.type] || (() => token.raw))(token));
}

// Resolves when the library is there, if it ever is: it is loaded after the page.
export const ready = new Promise((resolve) => {
	if (document.readyState === 'complete') resolve();
	else window.addEventListener('load', resolve, { once: true });
});

// Bounds the library's work: for each sign of emphasis it looks at all others in the paragraph, and for each level of
// quotes at all that is inside.
function tokensOf(text) {
	const lexer = new window.marked.Lexer({ gfm: true, breaks: true }), { inlineTokens } = lexer;
	const end = performance.now() + budget;
	lexer.inlineTokens = (part, tokens = []) => {
		if (part.length <= longestPart && performance.now() < end) return inlineTokens.call(lexer, part, tokens);
		tokens.push({ type: 'plain', raw: part });
		return tokens;
	};
	return lexer.lex(text);
}

const hasLongLine = (text) => text.split('\n').some((line) => line.length > longestLine);

// An element with text as it is.
export function plain(name, text) {
	return make(`${name}.plain${hasLongLine(text) ? '.long' : ''}`, text);
}

export function markdown(text) {
	if (!window.marked || text.length > longest || hasLongLine(text)) return plain('div', text);
	try {
		return make('div.markdown', ...all(tokensOf(text)));
	} catch {
		return plain('div', text); // nested too deeply for the stack
	}
}
