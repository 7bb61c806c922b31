// SPDX-License-Identifier: ISC
// Reports facts about clients that others wrote: prints "ok NAME" or "failed NAME" for each, which tap_report reads.

export function report(name, good, found) {
	console.log(`${good ? 'ok' : 'failed'} ${name.replaceAll('\n', ' ')}`);
	if (!good) console.log(`found ${(typeof found === 'string' ? found : JSON.stringify(found) ?? String(found)).slice(0, 2000).replaceAll('\n', '\nfound ')}`);
}

// Reports whether two values are the same as JSON.
export const is = (name, found, expected) => report(name, JSON.stringify(found) === JSON.stringify(expected), found);

// The error that the call throws, or null.
export async function failure(run) {
	try {
		await run();
	} catch (error) {
		return error;
	}
	return null;
}
