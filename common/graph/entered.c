/* SPDX-License-Identifier: ISC */
/* What a background run entered the graph with, as JSON beside its first write, and back. */
#include "base/json/json.h"
#include "graph/run_internal.h"

/* ---- written ---- */

/* What a rollback puts back. */
static cJSON *entered_thread(const struct thread *t)
{
	cJSON *out = cJSON_CreateObject();
	json_add_str(out, "run_id", t->run_id);
	json_add_int(out, "status", t->status);
	json_add_int(out, "stop", t->stop);
	json_add_str(out, "node", t->node);
	json_add_str(out, "next", t->next);
	json_add_int(out, "step", t->step);
	json_add_str(out, "pause", t->pause_json);
	json_add_str(out, "waiting", t->waiting_json);
	json_add_str(out, "fields", t->fields_json);
	json_add_str(out, "summary", t->summary);
	json_add_int(out, "after", t->view.after);
	json_add_int(out, "until", t->view.until);
	json_add_int(out, "last", t->view.last);
	json_add_int(out, "plain", t->view.plain);
	return out;
}

const char *entered_text(ag_run *run)
{
	cJSON *out = cJSON_CreateObject();
	json_add_int(out, "entry", run->entry);
	json_add_str(out, "asked", run->asked);
	json_refer(out, "answers", run->answers);
	json_refer(out, "question", run->question);
	cJSON_AddItemToObject(out, "before", entered_thread(run->before));
	char *text = arena_print(run->setup.arena, out);
	cJSON_Delete(out);
	return text;
}

/* ---- read ---- */

static void entered_read_thread(ag_run *run, const cJSON *stored)
{
	struct thread *t = arena_alloc(run->setup.arena, sizeof(*t));
	*t = *run->setup.thread;
	t->run_id = json_str(stored, "run_id");
	t->status = (enum run_status)json_int(stored, "status", 0);
	t->stop = (enum stop_state)json_int(stored, "stop", 0);
	t->node = json_str(stored, "node");
	t->next = json_str(stored, "next");
	t->step = json_int(stored, "step", 0);
	t->pause_json = json_str(stored, "pause");
	t->waiting_json = json_str(stored, "waiting");
	t->fields_json = json_str(stored, "fields");
	t->summary = json_str(stored, "summary");
	t->view = (struct thread_view){json_int(stored, "after", 0), json_int(stored, "until", 0),
	    json_int(stored, "last", 0), json_int(stored, "plain", 0) != 0};
	if (!json_get(stored, "last")) /* it began before threads had branches */
		t->view.last = t->view.until;
	run->before = t;
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
	entered_read_thread(run, json_get(kept, "before"));
}
