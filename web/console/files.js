/* SPDX-License-Identifier: ISC */
// Files: those uploaded in this session, and any other by its id.
import { bytes, get, path, upload, uploaded } from './api.js';
import { button, chooser, complain, guarded, input, make, more, pre, table, when } from './dom.js';
import { view } from './message.js';

const most = 20000; // bytes of a text that are shown

// What shows the file until signal ends.
async function preview({ file_id: id, mime_type: type, filename }, signal) {
	const data = await bytes(id, signal), address = URL.createObjectURL(data);
	signal.addEventListener('abort', () => URL.revokeObjectURL(address));
	return [...view(address, type, filename), /^text\/|json/.test(type) ? pre(`${await data.slice(0, most).text()}${data.size > most ? ' …' : ''}`) : ''];
}

export async function show(main, parts, { signal }) {
	const place = make('div'), shown = make('section', { 'aria-label': 'File' });
	let latest = 0;

	async function open(id) {
		const mine = ++latest;
		const info = await get(`v1/files/${path(id)}/info`, signal), seen = await preview(info, signal);
		if (mine !== latest) return;
		shown.replaceChildren(make('h3', info.filename), make('p', `${info.mime_type}, ${info.size_bytes} bytes, `, when(info.created_at)), ...seen,
			info.extracted_text ? more('Extracted text', () => pre(info.extracted_text)) : '');
	}

	function list() {
		place.replaceChildren(table('Files', ['Name', 'Type', 'Bytes', 'Look'], uploaded().map((one) => [one.filename, one.mime_type, String(one.size_bytes),
			button(`Open ${one.filename}`, () => open(one.file_id))]), 'Nothing was uploaded in this session.'));
	}

	async function take(given, until) {
		const stored = await upload(given, until);
		list();
		open(stored.file_id).catch(complain); // who leaves the view, or cannot see this one, uploads the next all the same
	}

	const [label, id] = input('File id');
	const form = make('form.tools', ...chooser('Upload', take), label, make('button', 'Open'));
	form.addEventListener('submit', (event) => {
		event.preventDefault();
		guarded(form, () => id.value.trim() && open(id.value.trim()));
	});
	main.replaceChildren(make('h2', 'Files'), form, place, shown);
	list();
}
