/* SPDX-License-Identifier: ISC */
/* Finding a text among those of all branches, outwards. */
#include "graph/others.h"

#include <stdlib.h>
#include <string.h>

static int branch_text_order(const void *left, const void *right)
{
	const struct branch_text *a = left, *b = right;
	int order = strcmp(a->text, b->text);
	return order ? order : (a->branch > b->branch) - (a->branch < b->branch);
}

void branch_texts_sort(struct branch_texts *texts)
{
	if (texts->count)
		qsort(texts->items, texts->count, sizeof(*texts->items), branch_text_order);
}

/* The first item with this text, or the place where it would stand. */
static size_t branch_texts_find(const struct branch_texts *texts, const char *text)
{
	const struct branch_text wanted = {text, 0};
	size_t low = 0, high = texts->count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (branch_text_order(&texts->items[middle], &wanted) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

bool others_have(const struct others *others, const char *text)
{
	for (; others; others = others->outer) {
		const struct branch_texts *all = others->of_all;
		size_t i = branch_texts_find(all, text);
		for (; i < all->count && strcmp(all->items[i].text, text) == 0; i++)
			if (all->items[i].branch != others->own)
				return true;
	}
	return false;
}

bool others_have_any(const struct others *others)
{
	for (; others; others = others->outer)
		for (size_t i = 0; i < others->of_all->count; i++)
			if (others->of_all->items[i].branch != others->own)
				return true;
	return false;
}
