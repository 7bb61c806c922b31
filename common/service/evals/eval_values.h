/* SPDX-License-Identifier: ISC */
/* Reading members of a report: a value of a wrong type counts as the default
 * (doc/protocol-evals.md#files), and numbers are always finite. */
#ifndef AGENTGRAPH_SERVICE_EVALS_EVAL_VALUES_H
#define AGENTGRAPH_SERVICE_EVALS_EVAL_VALUES_H

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stdint.h>

const char *eval_text(const cJSON *object, const char *key); /* default "" */
double eval_number(const cJSON *object, const char *key);    /* default 0 */

/* The first element of an array that is a member; NULL when there is none.  The others are its
 * next. */
const cJSON *eval_first(const cJSON *object, const char *key);

/* value with this many decimals, rounded as printf does. */
double eval_round(double value, int decimals);

/* ---- how the views word numbers (doc/protocol-evals.md#terms) ---- */

#define EVAL_TEXT_SIZE 400 /* the largest double has 309 digits */

/* Each writes into out and returns it. */
char *eval_seconds(double seconds, char out[EVAL_TEXT_SIZE]);  /* "1.2s" */
char *eval_tokens(int64_t tokens, char out[EVAL_TEXT_SIZE]);   /* "640 tok", "1.7k tok" */
char *eval_ago(double age_seconds, char out[EVAL_TEXT_SIZE]);  /* "just now", "5m ago" */
char *eval_moment(double timestamp, char out[EVAL_TEXT_SIZE]); /* "2026-09-02 10:30" in UTC; "" */

/* "pass" or "fail". */
const char *eval_status(bool passed);

#endif
