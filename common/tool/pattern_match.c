/* SPDX-License-Identifier: ISC */
/* All ways through a pattern at once (Thompson): a text is read once, and at each of its places a
 * set holds the steps that may be next. */
#include "base/memory.h"
#include "tool/pattern_internal.h"

#include <stdlib.h>

/* Steps that are reached at one place of the text, each once. */
struct reached {
	size_t *steps;
	size_t count;
};

struct machine {
	const struct pattern *pattern;
	struct reached now, next;
	unsigned *marked; /* by step: the round in which it was reached */
	unsigned round;
	size_t *open; /* steps still to be followed */
	size_t *budget;
	uint32_t before, after; /* the characters around the place; 0 at an end */
	bool done;
};

static bool pattern_match_border(const struct machine *m)
{
	return is_word(m->before) != is_word(m->after);
}

static void machine_open_step(struct machine *m, size_t *open, size_t at)
{
	if (m->marked[at] == m->round)
		return;
	m->marked[at] = m->round;
	m->open[(*open)++] = at;
}

/* Adds all that is reached from step `at` without reading. */
static void pattern_match_reach(struct machine *m, struct reached *set, size_t at)
{
	size_t open = 0;
	machine_open_step(m, &open, at);
	while (open > 0) {
		size_t i = m->open[--open];
		const struct step *step = &m->pattern->steps[i];
		*m->budget -= *m->budget > 0;
		bool passes = false; /* a step that reads nothing and holds at this place */
		switch (step->kind) {
		case STEP_CLASS:
			set->steps[set->count++] = i;
			break;
		case STEP_DONE:
			m->done = true;
			break;
		case STEP_SPLIT:
			machine_open_step(m, &open, i + (size_t)step->to);
			machine_open_step(m, &open, i + (size_t)step->or_to);
			break;
		case STEP_JUMP:
			machine_open_step(m, &open, i + (size_t)step->to);
			break;
		case STEP_BEGIN:
			passes = m->before == 0;
			break;
		case STEP_END:
			passes = m->after == 0;
			break;
		case STEP_BORDER:
			passes = pattern_match_border(m);
			break;
		case STEP_NO_BORDER:
			passes = !pattern_match_border(m);
			break;
		}
		if (passes)
			machine_open_step(m, &open, i + 1);
	}
}

static bool class_has(const struct class *class, uint32_t c)
{
	size_t low = 0, high = class->count;
	while (low < high) {
		size_t middle = (low + high) / 2;
		if (c > class->spans[middle].last)
			low = middle + 1;
		else
			high = middle;
	}
	return low < class->count && c >= class->spans[low].first;
}

bool pattern_matches(const struct pattern *pattern, const char *text, size_t *budget)
{
	size_t count = pattern->count;
	size_t *steps = xcalloc(3 * count, sizeof(*steps));
	struct machine m = {.pattern = pattern,
	    .now = {steps, 0},
	    .next = {steps + count, 0},
	    .open = steps + 2 * count,
	    .marked = xcalloc(count, sizeof(*m.marked)),
	    .budget = budget,
	    .after = utf8_take(&text),
	    .round = 1};
	pattern_match_reach(&m, &m.now, 0);
	while (!m.done && m.after && *budget > 0) {
		m.before = m.after;
		m.after = utf8_take(&text);
		m.round++;
		m.next.count = 0;
		for (size_t i = 0; i < m.now.count; i++) {
			size_t at = m.now.steps[i];
			*budget -= *budget > 0;
			if (class_has(&pattern->classes[pattern->steps[at].class], m.before))
				pattern_match_reach(&m, &m.next, at + 1);
		}
		struct reached swap = m.now;
		m.now = m.next;
		m.next = swap;
		pattern_match_reach(&m, &m.now, 0); /* it may begin anywhere */
	}
	free(steps);
	free(m.marked);
	return m.done;
}
