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
	if (run->answers)
		cJSON_AddItemReferenceToObject(out, "answers", (cJSON *)run->answers);
	if (run->question)
		cJSON_AddItemReferenceToObject(out, "question", (cJSON *)run->question);
	cJSON_AddItemToObject(out, "before", entered_thread(run->before));
	char *text = arena_print(run->setup.arena, out);
	cJSON_Delete(out);
	return text;
}

/* ---- read ---- */

static int64_t entered_int(const cJSON *object, const char *key)
{
	int64_t value = 0;
	json_integer(json_get(object, key), &value);
	return value;
}

static void entered_read_thread(ag_run *run, const cJSON *stored)
{
	struct thread *t = arena_alloc(run->setup.arena, sizeof(*t));
	*t = *run->setup.thread;
	t->run_id = json_str(stored, "run_id");
	t->status = (enum run_status)entered_int(stored, "status");
	t->stop = (enum stop_state)entered_int(stored, "stop");
	t->node = json_str(stored, "node");
	t->next = json_str(stored, "next");
	t->step = entered_int(stored, "step");
	t->pause_json = json_str(stored, "pause");
	t->waiting_json = json_str(stored, "waiting");
	t->fields_json = json_str(stored, "fields");
	t->summary = json_str(stored, "summary");
	t->view = (struct thread_view){entered_int(stored, "after"), entered_int(stored, "until"),
	    entered_int(stored, "last"), entered_int(stored, "plain") != 0};
	if (!json_get(stored, "last")) /* it began before threads had branches */
		t->view.last = t->view.until;
	run->before = t;
}

void entered_restore(ag_run *run)
{
	cJSON *kept = arena_json(run->setup.arena, json_parse_own(run->setup.background->entered));
	run->entry = (enum run_entry)entered_int(kept, "entry");
	run->asked = json_str(kept, "asked");
	run->thread.step = run->setup.thread->step;
	run->step = (int)run->thread.step;
	run->spent = run->step;
	/* the node that had them has ended, or has not */
	run->answers = run->step == 0 ? json_get(kept, "answers") : NULL;
	run->question = run->step == 0 ? json_get(kept, "question") : NULL;
	run->record = *run->setup.background->record;
	run->record.claims = run->setup.background->claims;
	run->begun = true;
	entered_read_thread(run, json_get(kept, "before"));
}
