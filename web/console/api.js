/* SPDX-License-Identifier: ISC */
// Talks to the service: requests with the token, streams of chunks, files, sockets.
const root = new URL(document.body.dataset.root, location.href.split('#')[0]);
const kept = 'agentgraph-token', files = 'agentgraph-files';

export const token = {
	get: () => sessionStorage.getItem(kept) || '',
	set: (value) => value ? sessionStorage.setItem(kept, value) : sessionStorage.removeItem(kept),
};

const addresses = new Map(); // of files, by their ids

let person = new AbortController(); // whose end ends what goes on for the person

// By thread: text that was typed there and not sent, or that the service did not take.
export const unsent = new Map();

// Drops whatever is kept here of a person, the token and more; next is the token of the next one.
export function forget(next = '') {
	person.abort();
	person = new AbortController();
	unsent.clear();
	for (const address of addresses.values()) address.then(URL.revokeObjectURL, () => {});
	addresses.clear();
	for (const storage of [sessionStorage, localStorage])
		Object.keys(storage).filter((key) => key.startsWith('agentgraph-')).forEach((key) => storage.removeItem(key));
	history.replaceState(null, '');
	token.set(next);
}

// What tabs share outlives one that forgets it: another one puts it back, unless it has no token either.
window.addEventListener('storage', ({ key, oldValue, newValue }) => {
	if (key?.startsWith('agentgraph-') && newValue === null && token.get()) localStorage.setItem(key, oldValue);
});

class ApiError extends Error {
	constructor(status, code, message, request) {
		super(message);
		Object.assign(this, { status, code, request });
	}
}

// Called when the service does not know the token (any more); resolves to whether to send the refused request again.
let refused = () => false;
export function onRefused(act) {
	refused = act;
}

const credentials = ['REVOKED_TOKEN', 'EXPIRED_TOKEN', 'INVALID_TOKEN', 'JWT_SETTINGS_NOT_CONFIGURED', 'AUTHENTICATION_FAILED', 'USER_ACCOUNT_DISABLE'];

async function failure(answer) {
	const body = await answer.json().catch(() => ({}));
	return new ApiError(answer.status, body.error_code, body.detail || `The service answered ${answer.status}`, answer.headers.get('X-Request-ID'));
}

export function path(...parts) {
	return parts.map(encodeURIComponent).join('/');
}

// Resolves to the answer if the request succeeds.  If the token is refused it waits for another one, unless it is there
// to try a token (once).
export async function request(method, where, { body, signal, headers = {}, once = false } = {}) {
	const all = new Headers(headers);
	if (token.get()) all.set('Authorization', `Bearer ${token.get()}`);
	if (body !== undefined && !(body instanceof FormData)) all.set('Content-Type', 'application/json');
	let answer;
	try {
		answer = await fetch(new URL(where, root), { method, headers: all, signal, body: body === undefined || body instanceof FormData ? body : JSON.stringify(body) });
	} catch (error) {
		if (error.name === 'AbortError') throw error;
		throw new ApiError(0, 'UNREACHABLE', 'The service cannot be reached');
	}
	if (answer.ok) return answer;
	const error = await failure(answer);
	if (!once && credentials.includes(error.code) && document.body.dataset.tokens && await refused(error)) return request(method, where, { body, signal, headers });
	signal?.throwIfAborted();
	throw error;
}

// Resolves to the data of the answer.
export async function call(method, where, body, signal) {
	const answer = await request(method, where, { body, signal });
	const { data } = await answer.json().catch((error) => {
		throw error.name === 'SyntaxError' ? new ApiError(answer.status, 'FOREIGN', 'Something else than the service answered') : error;
	});
	return data;
}

export const get = (where, signal) => call('GET', where, undefined, signal);

export function query(values) {
	const given = Object.entries(values).filter(([, value]) => value !== '' && value !== undefined && value !== null);
	return given.length ? `?${new URLSearchParams(given)}` : '';
}

// Reads the messages of a thread from this place on.
export async function messagesFrom(thread, from, signal) {
	const all = [], limit = 1000; // the most that the service gives at once
	for (let more = true; more;) {
		const { messages } = await get(`v1/threads/${path(thread)}/messages${query({ limit, offset: from + all.length })}`, signal);
		all.push(...messages);
		more = messages.length === limit;
	}
	return all;
}

const silence = 20000; // ms; nobody tells a browser that its connection is dead, as after a sleep or in another network

// Calls onChunk with each chunk as it comes, and with the request's id.  Resolves to whether the terminator came, which
// it does not if the connection breaks, or is silent for long where the stream can be taken up again.
export async function chunks(method, where, body, signal, onChunk) {
	const dead = new AbortController();
	let rest = '', done = false, resumable = method === 'GET';
	const heard = async (act) => {
		const timer = resumable && setTimeout(() => dead.abort(), silence);
		try {
			return await act();
		} catch (error) {
			if (signal.aborted || !dead.signal.aborted) throw error;
			return undefined;
		} finally {
			clearTimeout(timer);
		}
	};
	const answer = await heard(() => request(method, where, { body, signal: AbortSignal.any([signal, dead.signal]), headers: { Accept: 'application/x-ndjson' } }));
	const reader = answer?.body.pipeThrough(new TextDecoderStream()).getReader();
	const next = () => heard(() => reader.read()).catch((error) => {
		if (error.name === 'AbortError') throw error;
		return undefined;
	});
	for (let piece = answer && await next(); piece && !piece.done; piece = await next()) {
		const lines = (rest + piece.value).split('\n');
		rest = lines.pop();
		for (const line of lines) {
			if (!line) continue;
			const chunk = JSON.parse(line);
			done = done || (chunk.event === 'updates' && chunk.data?.status === 'done');
			resumable = Boolean(chunk.metadata?.seq);
			onChunk(chunk, answer.headers.get('X-Request-ID'));
		}
	}
	return done;
}

export async function bytes(id, signal) {
	return (await request('GET', `v1/files/${path(id)}`, { signal })).blob();
}

// Makes the bytes of a file an address within this page, because an <img> cannot carry a token.  A file that several
// messages show, or one that is shown anew after a turn, is fetched once.
export function file(id) {
	if (!addresses.has(id)) addresses.set(id, bytes(id).then((data) => URL.createObjectURL(data)));
	addresses.get(id).catch(() => addresses.delete(id));
	return addresses.get(id);
}

// The files uploaded in this session, the latest first.
export const uploaded = () => JSON.parse(sessionStorage.getItem(files) || '[]');

export async function upload(given, signal) {
	const body = new FormData();
	body.append('file', given);
	const answer = await request('POST', 'v1/files/upload', { body, signal: AbortSignal.any([signal, person.signal]) });
	const { extracted_text: text, ...stored } = (await answer.json()).data;
	sessionStorage.setItem(files, JSON.stringify([stored, ...uploaded()].slice(0, 200)));
	return stored;
}

export function socket(where) {
	const address = new URL(where, root);
	address.protocol = address.protocol.replace('http', 'ws');
	return new WebSocket(address, token.get() ? ['service-bearer', token.get()] : []);
}
