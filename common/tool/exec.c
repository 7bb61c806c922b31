/* SPDX-License-Identifier: ISC */
/* Running the executable, and a result from its output or an error from its last line. */
#include "tool/command.h"

#include "base/buf.h"
#include "base/json/json.h"

#include <stdlib.h>
#include <string.h>

static bool exec_collect(const char *line, size_t len, void *arg)
{
	struct buf *output = arg;
	buf_add(output, line, len);
	buf_putc(output, '\n');
	return true;
}

static ag_result exec_finish(
    ag_run *run, const struct process_result *result, struct buf *output, cJSON **value)
{
	char complaint[512];
	if (result->end != PROCESS_EXITED || result->code != 0)
		return ag_fail(run, "%s", process_complaint(result, complaint, sizeof(complaint)));
	*value = json_parse(buf_str(output), output->len, JSON_REQUEST_DEPTH, NULL);
	if (*value)
		return AG_OK;
	while (output->len > 0 && output->data[output->len - 1] == '\n')
		output->data[--output->len] = '\0';
	if (!utf8_valid(buf_str(output), output->len))
		return ag_fail(run, "wrote output that is not UTF-8 text");
	*value = cJSON_CreateString(buf_str(output));
	return AG_OK;
}

ag_result exec_tool(ag_run *run, const cJSON *args, cJSON **output, void *data)
{
	const struct command *command = data;
	struct process_result result;
	struct buf written = {0};
	char *input = json_print(args);
	struct command_call call = {.run = run,
	    .input = input,
	    .input_len = strlen(input),
	    .on_line = exec_collect,
	    .arg = &written};
	command_run(command, &call, &result);
	free(input);
	ag_result outcome = exec_finish(run, &result, &written, output);
	buf_release(&written);
	return outcome;
}
