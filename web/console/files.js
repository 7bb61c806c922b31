/* SPDX-License-Identifier: ISC */
// Files: those uploaded in this session, and any other by its id.
import { bytes, get, path, upload, uploaded } from './api.js';
import { button, chooser, input, make, more, table, when } from './dom.js';

async function preview({ file_id: id, mime_type: type, filename }) {
	const data = await bytes(id);
	const address = URL.createObjectURL(data);
	const parts = [make('a', { href: address, download: filename }, `Download ${filename}`)];
	if (/^image\/(png|jpeg|gif|webp|avif|bmp)$/.test(type)) parts.push(make('img', { src: address, alt: filename }));
	if (/^(audio|video)\//.test(type)) parts.push(make(type.split('/')[0], { src: address, controls: true, 'aria-label': filename }));
	if (/^text\/|json/.test(type)) parts.push(make('pre', { tabIndex: 0 }, (await data.text()).slice(0, 20000)));
	return parts;
}

export async function show(main, parts, { signal }) {
	const place = make('div'), shown = make('section', { 'aria-label': 'File' });

	async function open(id) {
		const info = await get(`v1/files/${path(id)}/info`, signal);
		shown.replaceChildren(make('h3', info.filename), make('p', `${info.mime_type}, ${info.size_bytes} bytes, `, when(info.created_at)), ...await preview(info),
			info.extracted_text ? more('Extracted text', () => make('pre', { tabIndex: 0 }, info.extracted_text)) : '');
	}

	function list() {
		place.replaceChildren(table('Files', ['Name', 'Type', 'Bytes', 'Look'], uploaded().map((one) => [one.filename, one.mime_type, String(one.size_bytes),
			button(`Open ${one.filename}`, () => open(one.file_id))]), 'Nothing was uploaded in this session.'));
	}

	async function take(given) {
		const stored = await upload(given);
		list();
		await open(stored.file_id);
	}

	const [label, id] = input('File id');
	main.replaceChildren(make('h2', 'Files'), make('div.tools', ...chooser('Upload', take), label, button('Open', () => id.value.trim() && open(id.value.trim()))), place, shown);
	list();
}
