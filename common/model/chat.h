/* SPDX-License-Identifier: ISC */
/*
 * Chat models: one call to a provider, with its tries and fallbacks.
 *
 * Providers are openai (chat completions, as most services and local servers speak them, or
 * responses), anthropic (messages) and gemini (generateContent).  Messages go in and come out in
 * the project's own form (doc/protocol-messages.md#messages).  A model is made at start-up, is
 * immutable, and serves any number of threads.  Keys come from the environment only; no error, log
 * line or message holds one.
 */
#ifndef AGENTGRAPH_MODEL_CHAT_H
#define AGENTGRAPH_MODEL_CHAT_H

#include "base/fields.h"
#include "base/http/traceparent.h"

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct chat_model;

/* Told of each mistake in the settings: path is "temperature" or "fallbacks/1/timeouts/idle", ""
 * for the settings themselves; text is a sentence part ("expected a number from 0 to 2"). */
struct chat_reporter {
	void (*problem)(const char *path, const char *text, void *arg);
	void *arg;
};

/*
 * Makes a model from settings (borrowed).  `model` is required; everything else has a default:
 *
 *   provider           "openai", "anthropic" or "gemini"; default "openai"
 *   api                of openai: "chat_completions" (the default) or "responses", which knows no
 *                      top_k, presence_penalty, frequency_penalty, seed and stop
 *   model              the provider's name of it
 *   base_url           default OPENAI_BASE_URL, ANTHROPIC_BASE_URL or GEMINI_BASE_URL, else the
 *                      provider's own service; for openai it ends in /v1, as servers document it
 *   api_key_env        variable that holds the key; default OPENAI_API_KEY, ANTHROPIC_API_KEY,
 *                      GEMINI_API_KEY (else GOOGLE_API_KEY).  A service other than the provider's
 *                      own is asked without a key when the default variable is not set
 *   temperature, top_p, top_k, presence_penalty, frequency_penalty, max_tokens, seed
 *   stop               a string or an array of strings
 *   reasoning_effort   "none", "minimal", "low", "medium", "high"
 *   reasoning_tokens   how many tokens reasoning may take (anthropic, gemini)
 *   response_format    {"type": "text" | "json_object"}, or {"type": "json_schema", "schema": {…},
 *                      "name": "answer", "strict": true}
 *   parallel_tool_calls  boolean
 *   tool_images       boolean: images in results of tools are sent as images (true)
 *   stream             whether the provider is asked to stream; default true
 *   extra              object merged into the provider's request; null takes a member out
 *   headers            object of strings, in which $NAME stands for an environment variable
 *   timeouts           seconds: connect (10), first_byte (300), idle (120), total (600: for all
 *                      tries of one model)
 *   retries            0 to 10; default 2
 *   fallbacks          array of objects like this one without fallbacks, asked in turn when a model
 *                      fails.  Members that are not given are taken from this object; but where
 *                      provider or base_url is given, api, base_url, api_key_env, headers and extra
 *                      are not taken over, because they belong to the other service
 *
 * Every mistake is reported, a key that is not in the list too; NULL when there was one.
 */
struct chat_model *chat_model_new(const cJSON *settings, const struct chat_reporter *reporter);

/* The table of these keys, for whoever finds them among keys of his own and has them checked there:
 * read it without a target. */
extern const struct field_row chat_model_rows[];

void chat_model_free(struct chat_model *m);

/* Whether the model, or a fallback of it, is asked for JSON. */
bool chat_model_wants_json(const struct chat_model *m);

/*
 * What a file that a block refers to holds, filled in by the media callback.  It is asked once what
 * the file is (max 0), and where it has no text and the provider takes such bytes, for them.
 * Pointers are malloc'd and freed by the call.
 */
struct chat_media {
	size_t max; /* set before: how many bytes are wanted at most; 0: none, but all the rest */
	char *data; /* NULL when the file has more than max */
	size_t len;
	char *mime_type; /* or NULL: as the block has it */
	char *text;      /* extracted text, which is then sent instead; or NULL */
	char *filename;  /* or NULL: as the block has it */
};

struct chat_tool {
	const char *name;
	const char *description; /* or NULL */
	const cJSON *parameters; /* JSON Schema of an object; NULL: no arguments */
};

enum chat_choice {
	CHAT_TOOLS_AUTO,
	CHAT_TOOLS_NONE,
	CHAT_TOOLS_REQUIRED, /* at least one, whichever */
	CHAT_TOOLS_NAMED     /* the one called tool_name */
};

/* What is asked.  All of it is borrowed for the time of the call. */
struct chat_request {
	const char *system;    /* system prompt, or NULL */
	const cJSON *messages; /* array of messages in output form, the oldest first */
	const struct chat_tool *tools;
	size_t tool_count;
	enum chat_choice choice;
	const char *tool_name;
	bool plain;                 /* text is wanted, whatever response_format says */
	struct trace_headers trace; /* sent along */
	int64_t deadline_ms; /* by clock_monotonic_ms, beside the model's own times; 0: none */

	/* Called on the caller's thread with the text, and that of a reasoning summary, as it
	 * arrives: valid UTF-8, never empty.  What has arrived together is one piece, however many
	 * events it came in.  False ends the call (CHAT_STOPPED).  With `stream` false, or from a
	 * server that does not stream, one piece.  May be NULL. */
	bool (*on_text)(const char *piece, void *arg);
	bool (*on_reasoning)(const char *piece, void *arg);

	/* Fills out for a media object with a file_id; false when there is no such file, which
	 * fails the call.  NULL: files are named to the model, but left out. */
	bool (*media)(const cJSON *media, struct chat_media *out, void *arg);

	/* Asked several times a second; true ends the call (CHAT_STOPPED).  May be NULL. */
	bool (*stop)(void *arg);
	void *arg;
};

enum chat_end { CHAT_DONE, CHAT_FAILED, CHAT_TIMED_OUT, CHAT_STOPPED };

struct chat_result {
	enum chat_end end;

	/*
	 * CHAT_DONE: the answer, {role, content, usages, metadata, parsed_content};
	 * message_normalise adds the rest.  content holds text, reasoning and tool_call blocks in
	 * the order they came; a reasoning block's details hold what the provider wants back in the
	 * next turn. metadata: model, provider, finish_reason ("stop", "length", "tool_calls",
	 * "content_filter", or the provider's word), and invalid_arguments where the model wrote
	 * arguments that are no JSON object: {call id: what it wrote}; such a call has args {} and
	 * is to be answered with an error result instead of being run.
	 *
	 * CHAT_STOPPED: what had been handed on until then, without calls; NULL when that is
	 * nothing.  Otherwise NULL.
	 */
	cJSON *message;

	/* CHAT_DONE: response_format of the model that answered, where it asks for JSON; borrowed
	 * from the model.  NULL: the answer is text. */
	const cJSON *format;

	/* Otherwise: why, for people ("openai model gpt-x: answered 401: …"), UTF-8 in one line,
	 * no keys, malloc'd; one part a model when several were asked. */
	char *error;
	int status;     /* HTTP status of the last answer of a provider; 0: there was none */
	unsigned tries; /* requests that were made */
	int64_t first_piece_ms; /* from the start to the first piece of the answer; -1: none */
};

/* Asks the model, blocking, and fills result, which is to be released whatever its end. */
enum chat_end chat_call(
    const struct chat_model *m, const struct chat_request *request, struct chat_result *result);
void chat_result_release(struct chat_result *result);

/* Gives a call of a message, or of an answer, a new id wherever the message names it. */
void chat_call_renew(cJSON *message, cJSON *call);

#endif
