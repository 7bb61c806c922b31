/* SPDX-License-Identifier: ISC */
/* A list of runs and the thread that ends them. */
#include "runner/follow.h"

#include "base/log/log.h"
#include "base/memory.h"
#include "base/os/chore.h"
#include "service/run/halt.h"
#include "service/run/records.h"
#include "service/run/stream/replay.h"

#include <stdlib.h>

struct mend {
	struct mend *next;
	char *thread_id, *run_id;
	bool cancels;
};

struct follow_mender {
	struct chore thread; /* its lock guards the list */
	struct service *service;
	struct mend *first, **end;
};

static void mend_free(struct mend *mend)
{
	free(mend->thread_id);
	free(mend->run_id);
	free(mend);
}

static bool mend_run(struct call *call, const struct mend *mend)
{
	struct run_record record;
	struct thread thread;
	return record_now(call, mend->thread_id, mend->run_id, &record) &&
	    !run_status_goes_on(record.status) && call_thread(call, mend->thread_id, &thread) &&
	    replay_end(call, &record, &thread);
}

static void mend_one(struct follow_mender *mender, struct mend *mend)
{
	struct call call;
	call_init(&call, mender->service, NULL);
	bool ok = mend->cancels ? halt_one(&call, mend->thread_id, mend->run_id, ORDER_STOP)
				: mend_run(&call, mend);
	if (!ok && error_is_set(&call.error))
		log_warning("run %s %s: %s", mend->run_id,
		    mend->cancels ? "cannot be stopped" : "has no end, and gets none",
		    error_why(&call.error));
	call_release(&call);
	mend_free(mend);
}

static void *mender_run(void *arg)
{
	struct follow_mender *mender = arg;
	pthread_mutex_lock(&mender->thread.lock);
	while (!mender->thread.stopping) {
		struct mend *mend = mender->first;
		if (!mend) {
			chore_sleep(&mender->thread, -1);
			continue;
		}
		mender->first = mend->next;
		if (!mender->first)
			mender->end = &mender->first;
		pthread_mutex_unlock(&mender->thread.lock);
		mend_one(mender, mend);
		pthread_mutex_lock(&mender->thread.lock);
	}
	pthread_mutex_unlock(&mender->thread.lock);
	return NULL;
}

struct follow_mender *follow_mender_new(struct service *service, struct error *err)
{
	struct follow_mender *mender = xcalloc(1, sizeof(*mender));
	mender->service = service;
	mender->end = &mender->first;
	if (chore_start(&mender->thread, mender_run, mender, err))
		return mender;
	free(mender);
	return NULL;
}

void follow_mender_free(struct follow_mender *mender)
{
	struct mend *mend;
	if (!mender)
		return;
	chore_stop(&mender->thread);
	while ((mend = mender->first)) {
		mender->first = mend->next;
		mend_free(mend);
	}
	free(mender);
}

static void mender_add(
    struct follow_mender *mender, const char *thread_id, const char *run_id, bool cancels)
{
	struct mend *mend = xcalloc(1, sizeof(*mend));
	mend->cancels = cancels;
	mend->thread_id = xstrdup(thread_id);
	mend->run_id = xstrdup(run_id);
	pthread_mutex_lock(&mender->thread.lock);
	*mender->end = mend;
	mender->end = &mend->next;
	pthread_cond_signal(&mender->thread.wake);
	pthread_mutex_unlock(&mender->thread.lock);
}

void follow_mend(struct follow_mender *mender, const char *thread_id, const char *run_id)
{
	mender_add(mender, thread_id, run_id, false);
}

void follow_cancel(struct follow_mender *mender, const char *thread_id, const char *run_id)
{
	mender_add(mender, thread_id, run_id, true);
}
