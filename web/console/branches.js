/* SPDX-License-Identifier: ISC */
// The checkpoints of a thread as a tree.  Going back adds a checkpoint that is the same as the one gone back to: here they
// are one.
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
	const chain = [];
	for (let point = head; point; point = parentOf(point)) chain.push(point);
	return { head, chain, children: (point) => children.get(point) || [], parentOf };
}

// The checkpoint of the present way before the message at this place; none where no checkpoint is exactly there.
export function before(tree, place) {
	const point = tree.chain.find((one) => one.message_count <= place);
	return point && point.message_count === place ? point : undefined;
}

// The latest that came of a checkpoint.
function latest(tree, point) {
	return tree.children(point).map((child) => latest(tree, child)).reduce((best, one) => (one.checkpoint_id > best.checkpoint_id ? one : best), point);
}

// The ways that were gone from before the message at this place: where each of them ends, and which is the present one.
export function waysFrom(tree, place) {
	const point = before(tree, place);
	if (!point) return { ends: [], present: -1 };
	const kids = tree.children(point).filter((child) => latest(tree, child).message_count > place);
	return { ends: kids.map((child) => latest(tree, child)), present: kids.findIndex((child) => tree.chain.includes(child)) };
}
