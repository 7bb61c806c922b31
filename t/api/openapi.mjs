// SPDX-License-Identifier: ISC
// Validates recorded requests and answers against an OpenAPI document.
//
//	node openapi.mjs PEERS DOCUMENT [--seen] RECORDS...
//
// PEERS is the directory with node_modules; a record is a line of JSON: method, uri, request, status, type, body.  Prints
// a line for each mistake, and last how much was looked at.  Answers must not have members that the document does not
// know, and what the service accepted must be what the document lets clients send.  With --seen the operations are printed
// that gave an answer of success.
import { createRequire } from 'node:module';
import { readFileSync } from 'node:fs';

const [peers, documentFile, ...rest] = process.argv.slice(2);
const showSeen = rest[0] === '--seen';
const recordFiles = showSeen ? rest.slice(1) : rest;
const require = createRequire(`${peers}/package.json`);
const Ajv = require('ajv/dist/2020').default;
const addFormats = require('ajv-formats').default;

const document = JSON.parse(readFileSync(documentFile, 'utf8'));
const methods = new Set(['get', 'put', 'post', 'patch', 'delete']);

// Closes every object whose members are listed.
function close(node) {
	if (Array.isArray(node)) return node.map(close);
	if (node === null || typeof node !== 'object') return node;
	const closed = Object.fromEntries(Object.entries(node).map(([key, value]) => [key, close(value)]));
	if (closed.properties && closed.type && closed.additionalProperties === undefined) closed.additionalProperties = false;
	return closed;
}

function validator(root) {
	const ajv = new Ajv({ strict: false, allErrors: false, validateFormats: true });
	addFormats(ajv);
	ajv.addSchema({ ...root, $id: 'document' });
	const compiled = new Map();
	return (schema, value) => {
		const key = JSON.stringify(schema);
		if (!compiled.has(key)) {
			const absolute = JSON.parse(key.replaceAll('"$ref":"#/', '"$ref":"document#/'));
			compiled.set(key, ajv.compile(absolute));
		}
		const check = compiled.get(key);
		return check(value) ? null : ajv.errorsText(check.errors);
	};
}

const answerError = validator(close(document));
const requestError = validator(document);
const follow = (item) => (item?.$ref ? item.$ref.slice(2).split('/').reduce((at, key) => at[key], document) : item);

const templates = Object.keys(document.paths).map((path) => ({
	path,
	names: (path.match(/\{/g) || []).length,
	pattern: new RegExp(`^${path.replace(/[.*+?^$()|[\]\\]/g, '\\$&').replace(/\{[^}]*\}/g, '[^/]*')}$`),
}));
templates.sort((a, b) => a.names - b.names);

// The path as templates are written: dots resolved, segments decoded, but a slash in one stays encoded.
function plainPath(uri) {
	try {
		const { pathname } = new URL(uri, 'http://service');
		return pathname.split('/').map((part) => decodeURIComponent(part).replaceAll('/', '%2F')).join('/');
	} catch {
		return uri;
	}
}

function operationOf(record) {
	const method = record.method === 'HEAD' ? 'get' : record.method.toLowerCase();
	const path = plainPath(record.uri);
	const found = templates.filter((t) => t.pattern.test(path)).map((t) => ({ t, operation: document.paths[t.path][method] }));
	return found.find((f) => f.operation && methods.has(method));
}

function linesError(schema, body) {
	for (const line of body.split('\n')) {
		if (line === '' || line === 'data: [DONE]') continue;
		const error = answerError(schema, JSON.parse(line.replace(/^data: /, '')));
		if (error) return error;
	}
	return null;
}

function bodyError(content, record) {
	const type = record.type.replace(/;.*$/, '').trim();
	if (!content) return record.body === '' ? null : `a body of ${type} where none is described`;
	const media = content[type] || content['*/*'];
	if (!media) return `type ${type} is not described`;
	if (record.method === 'HEAD') return null;
	if (media.schema?.contentSchema) return linesError(media.schema.contentSchema, record.body);
	return type === 'application/json' ? answerError(media.schema, JSON.parse(record.body)) : null;
}

// What errors of a path look like, whatever the method; all below /lg is one protocol's.
function errorSchema(uri) {
	const path = plainPath(uri), below = path?.startsWith('/lg/');
	const known = templates.find((t) => t.pattern.test(path) || (below && t.path.startsWith('/lg/')));
	const described = known && follow(Object.values(document.paths[known.path])[0].responses['400']);
	return described?.content['application/json'].schema ?? { $ref: '#/components/schemas/Error' };
}

// An answer that no operation gives: unknown path, wrong method, preflight.
function strayError(record) {
	if (record.method === 'OPTIONS' || record.method === 'HEAD') return null;
	if (record.status < 400) return `${record.status} from a route that is not described`;
	return answerError(errorSchema(record.uri), JSON.parse(record.body));
}

const seen = new Set();

function recordError(record) {
	const found = operationOf(record);
	if (!found || [404, 405].includes(record.status) && !found.operation.responses[record.status]) return strayError(record);
	const { operation } = found;
	const response = follow(operation.responses[record.status]);
	if (!response) return `status ${record.status} is not described`;
	seen.add(`${operation.operationId} ${record.status}`);
	const request = operation.requestBody?.content['application/json']?.schema;
	if (record.status < 300 && request && record.request.trim() !== '') {
		const error = requestError(request, JSON.parse(record.request));
		if (error) return `the service accepted what is not described: ${error}: ${record.request.slice(0, 300)}`;
	}
	return bodyError(response.content, record);
}

let count = 0;
let mistakes = 0;
for (const file of recordFiles) {
	const fields = readFileSync(file, 'utf8').split('\0');
	for (let at = 0; at + 6 <= fields.length; at += 6) {
		const [method, uri, status, headers, request, body] = fields.slice(at, at + 6);
		const type = /^Content-Type: *(.*)/im.exec(headers)?.[1] ?? '';
		const record = { method, uri, status: Number(status), type, request, body };
		count++;
		let error;
		try {
			error = recordError(record);
		} catch (problem) {
			error = String(problem);
		}
		if (!error) continue;
		mistakes++;
		console.log(`${file.replace(/.*\//, '')}: ${record.method} ${record.uri} ${record.status}: ${error}`);
	}
}
if (showSeen) {
	for (const kind of seen) if (/ [12]/.test(kind)) console.log(kind.replace(/ .*/, ''));
	process.exit(0);
}
console.log(`${count} answers, ${seen.size} kinds, ${mistakes} mistakes`);
process.exit(mistakes || !count ? 1 : 0);
