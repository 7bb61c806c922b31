/* SPDX-License-Identifier: ISC */
/* How the views of evaluations word numbers (doc/protocol-evals.md#terms). */
#ifndef AGENTGRAPH_SERVICE_EVALS_EVAL_TEXT_H
#define AGENTGRAPH_SERVICE_EVALS_EVAL_TEXT_H

#include <stdbool.h>
#include <stdint.h>

#define EVAL_TEXT_SIZE 400 /* the largest double has 309 digits */

/* Each writes into out and returns it. */
char *eval_seconds(double seconds, char out[EVAL_TEXT_SIZE]);  /* "1.2s" */
char *eval_tokens(int64_t tokens, char out[EVAL_TEXT_SIZE]);   /* "640 tok", "1.7k tok" */
char *eval_ago(double age_seconds, char out[EVAL_TEXT_SIZE]);  /* "just now", "5m ago" */
char *eval_moment(double timestamp, char out[EVAL_TEXT_SIZE]); /* "2026-09-02 10:30" in UTC; "" */

/* "pass" or "fail". */
const char *eval_status(bool passed);

#endif
