/* SPDX-License-Identifier: ISC */
// The checkpoints of a thread as a tree.  Going back adds a checkpoint equal to the one gone back to: here the two are
// one.
export function treeOf(history) {
	const byId = new Map(history.map((point) => [point.checkpoint_id, point]));
	const real = (point) => {
		while (point && point.source === 'rewind') point = byId.get(point.parent_checkpoint_id);
		return point;
	};
	const parentOf = (point) => real(byId.get(point.parent_checkpoint_id));
	const children = new Map();
	for (const point of [...history].reverse()) {
		if (point.source === 'rewind') continue;
		const parent = parentOf(point);
		if (parent) children.set(parent, [...(children.get(parent) || []), point]);
	}
	const head = real(history[0]);
	const chain = new Set(), before = new Map(), latest = new Map();
	for (let point = history[0], least = Infinity; point; point = byId.get(point.parent_checkpoint_id)) {
		chain.add(point);
		if (point.source === 'rewind') continue;
		if (point.message_count < least) before.set(point.message_count, point);
		least = Math.min(least, point.message_count);
	}
	// children are later than their parents
	for (const point of history)
		latest.set(point, (children.get(point) || []).map((child) => latest.get(child)).reduce((best, one) => (one?.checkpoint_id > best.checkpoint_id ? one : best), point));
	return { head, chain, before, latest, real, parentOf, children: (point) => children.get(point) || [] };
}

// The checkpoint on the present branch right before the message at this place; undefined if there is none exactly
// there.
export function before(tree, place) {
	return tree.before.get(place);
}

// The branches that begin right before the message at this place: where each ends, and which is the present one.
export function waysFrom(tree, place) {
	const point = before(tree, place);
	if (!point) return { ends: [], present: -1 };
	const kids = tree.children(point).filter((child) => tree.latest.get(child).message_count > place);
	return { ends: kids.map((child) => tree.latest.get(child)), present: kids.findIndex((child) => tree.chain.has(child)) };
}
