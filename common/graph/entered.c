/* SPDX-License-Identifier: ISC */
/* What a background run entered the graph with, as JSON beside its first write, and back. */
#include "base/json/json.h"
#include "graph/run_internal.h"

const char *entered_text(ag_run *run)
{
	const struct thread *t = run->before;
	cJSON *out = cJSON_CreateObject();
	json_add_int(out, "entry", run->entry);
	json_add_str(out, "asked", run->asked);
	json_refer(out, "answers", run->answers);
	json_refer(out, "question", run->question);
	cJSON *before = cJSON_AddObjectToObject(out, "before"); /* what a rollback puts back */
	json_add_str(before, "run_id", t->run_id);
	json_add_int(before, "status", t->status);
	json_add_int(before, "stop", t->stop);
	json_add_str(before, "node", t->node);
	json_add_str(before, "next", t->next);
	json_add_int(before, "step", t->step);
	json_add_str(before, "pause", t->pause_json);
	json_add_str(before, "waiting", t->waiting_json);
	json_add_str(before, "fields", t->fields_json);
	json_add_str(before, "summary", t->summary);
	json_add_int(before, "after", t->view.after);
	json_add_int(before, "until", t->view.until);
	json_add_int(before, "last", t->view.last);
	json_add_int(before, "plain", t->view.plain);
	char *text = arena_print(run->setup.arena, out);
	cJSON_Delete(out);
	return text;
}

void entered_restore(ag_run *run)
{
	cJSON *kept = arena_json(run->setup.arena, json_parse_own(run->setup.background->entered));
	run->entry = (enum run_entry)json_int(kept, "entry", 0);
	run->asked = json_str(kept, "asked");
	run->thread.step = run->setup.thread->step;
	run->step = (int)run->thread.step;
	run->spent = run->step;
	/* they are for the first node, which has ended once there was a step */
	run->answers = run->step == 0 ? json_get(kept, "answers") : NULL;
	run->question = run->step == 0 ? json_get(kept, "question") : NULL;
	run->record = *run->setup.background->record;
	run->record.claims = run->setup.background->claims;
	run->begun = true;
	const cJSON *before = json_get(kept, "before");
	struct thread *t = arena_alloc(run->setup.arena, sizeof(*t));
	*t = *run->setup.thread;
	t->run_id = json_str(before, "run_id");
	t->status = (enum run_status)json_int(before, "status", 0);
	t->stop = (enum stop_state)json_int(before, "stop", 0);
	t->node = json_str(before, "node");
	t->next = json_str(before, "next");
	t->step = json_int(before, "step", 0);
	t->pause_json = json_str(before, "pause");
	t->waiting_json = json_str(before, "waiting");
	t->fields_json = json_str(before, "fields");
	t->summary = json_str(before, "summary");
	t->view = (struct thread_view){.after = json_int(before, "after", 0),
	    .until = json_int(before, "until", 0),
	    .last = json_int(before, "last", 0),
	    .plain = json_int(before, "plain", 0) != 0};
	if (!json_get(before, "last")) /* it began before threads had branches */
		t->view.last = t->view.until;
	run->before = t;
}
