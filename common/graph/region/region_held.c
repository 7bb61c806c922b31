/* SPDX-License-Identifier: ISC */
/* What subgraphs that may run again have said: it is held back until they have ended, and dropped
 * when another attempt follows. */
#include "graph/region/region_branch.h"

bool held_keep(struct branch *holder, ag_run *run, const struct run_event *event)
{
	if (!holder || holder->said)
		return false;
	struct held_message *held = arena_alloc(run->setup.arena, sizeof(*held));
	*held = (struct held_message){.run = run, .event = *event};
	held->event.again = true;
	*holder->held_end = held;
	holder->held_end = &held->next;
	return true;
}

static void held_show(struct branch *holder)
{
	struct run_observer *observer = holder->run.side->root->setup.observer;
	const struct held_message *held = holder->held;
	holder->held = NULL;
	holder->held_end = &holder->held;
	for (; held; held = held->next)
		observer->event(observer, held->run, &held->event);
}

/* Shows what all of them hold back, the outermost first, since that was said before. */
static void held_show_outwards(struct branch *holder)
{
	if (!holder || holder->said)
		return;
	holder->said = true;
	held_show_outwards(holder->outer_holder);
	held_show(holder);
}

void held_show_all(struct branch *b)
{
	struct run_side *side = b->run.side;
	if (!b->holder || b->run.apart)
		return;
	pthread_mutex_lock(&side->lock);
	held_show_outwards(b->holder);
	pthread_mutex_unlock(&side->lock);
}

void held_hand_on(struct branch *b)
{
	struct branch *outer = b->outer_holder;
	struct run_side *side = b->run.side;
	if (b->holder != b)
		return;
	pthread_mutex_lock(&side->lock);
	if (b->held && outer && !outer->said) {
		*outer->held_end = b->held;
		outer->held_end = b->held_end;
		b->held = NULL;
	} else {
		held_show(b);
	}
	pthread_mutex_unlock(&side->lock);
}
