/* SPDX-License-Identifier: ISC */
/*
 * Reports of evaluations as they are shown: an input is two files, separated by a line "%%".
 * Whatever they are, the list and each run in it can be shown, and are text.
 */
#include "service/evals/evals.h"
#include "base/json/json.h"
#include "base/log/log.h"
#include "base/utf8.h"
#include "replay.h"
#include "scratch.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char between[] = "\n%%\n";
static char dir[SCRATCH_SIZE];

static void remove_dir(void)
{
	scratch_remove(dir);
}

static void make_dir(void)
{
	if (*dir)
		return;
	scratch_make(dir);
	atexit(remove_dir);
	log_init("fuzz", LOG_ERROR);
}

/* Goes to the working directory, where the reports are; returns the one before, where the corpus
 * is. */
static int enter(void)
{
	int before = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	make_dir();
	require(before >= 0 && chdir(dir) == 0);
	mkdir(EVAL_DIRECTORY, 0700);
	return before;
}

static void leave(int before)
{
	require(fchdir(before) == 0);
	close(before);
}

static void write_report(const char *name, const char *text, size_t len)
{
	FILE *file = fopen(name, "we");
	require(file && fwrite(text, 1, len, file) == len && fclose(file) == 0);
}

static void check_text(const cJSON *item)
{
	char *text = json_print(item);
	require(utf8_valid(text, strlen(text)));
	free(text);
}

static void show(struct service *service, const char *run_id)
{
	struct call call;
	call_init(&call, service, "fuzz");
	cJSON *data = run_id ? evals_read(&call, run_id) : evals_list(&call);
	require((data != NULL) != error_is_set(&call.error));
	if (data)
		check_text(data);
	call_release(&call);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct config config;
	struct service service = {.config = &config};
	const char *text = (const char *)data;
	const char *next = memmem(text, size, between, sizeof(between) - 1);
	size_t first = next ? (size_t)(next - text) : size;
	size_t rest = next ? first + sizeof(between) - 1 : size;
	int before = enter();
	service.anonymous = cJSON_CreateObject();
	service.evals = eval_cache_new();
	write_report(EVAL_DIRECTORY "/a_20260101_000000.json", text, first);
	write_report(EVAL_DIRECTORY "/a_20260102_000000.json", text + rest, size - rest);
	show(&service, NULL);
	show(&service, "a_20260101_000000");
	show(&service, "a_20260102_000000");
	eval_cache_free(service.evals);
	cJSON_Delete(service.anonymous);
	leave(before);
	return 0;
}
