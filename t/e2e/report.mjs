// SPDX-License-Identifier: ISC
// What clients that others wrote have to tell: a line "ok NAME" or "failed NAME" for each fact, which tap_report reads.

export function report(name, good, found) {
	console.log(`${good ? 'ok' : 'failed'} ${name.replaceAll('\n', ' ')}`);
	if (!good) console.log(`found ${(typeof found === 'string' ? found : JSON.stringify(found) ?? String(found)).slice(0, 2000).replaceAll('\n', '\nfound ')}`);
}

// The same as JSON.
export const is = (name, found, expected) => report(name, JSON.stringify(found) === JSON.stringify(expected), found);

// What the call throws, or null.
export async function failure(run) {
	try {
		await run();
	} catch (error) {
		return error;
	}
	return null;
}
