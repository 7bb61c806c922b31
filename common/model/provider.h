/* SPDX-License-Identifier: ISC */
/*
 * What the files of this module share: one model that can be asked (a target), the making of its
 * request, and the putting together of its answer.  Each provider is one struct of functions.
 */
#ifndef AGENTGRAPH_MODEL_PROVIDER_H
#define AGENTGRAPH_MODEL_PROVIDER_H

#include "base/buf.h"
#include "base/http/http.h"
#include "base/metrics/metrics.h"
#include "model/chat.h"
#include "model/names.h"

struct chat_answer;
struct chat_build;
struct chat_media_list;

struct chat_provider {
	const char *name;
	const char *home;        /* base URL of its own service */
	const char *url_env;     /* variable that names the base URL of another one */
	const char *key_envs[3]; /* variables that hold the key, ended by NULL */
	const char *key_header;
	const char *key_prefix;    /* before the key in that header */
	struct http_header header; /* one more, or NULLs */
	enum metric failures;      /* what counts attempts that failed */

	/* The URL to post to, malloc'd. */
	char *(*url)(const char *base_url, const char *model, bool stream);

	/* Fills body from what is asked. */
	void (*build)(const struct chat_build *b, cJSON *body);

	/* Takes one event of a streamed answer, and a whole one. */
	void (*take_event)(struct chat_answer *a, const char *name, const cJSON *data);
	void (*take_whole)(struct chat_answer *a, const cJSON *body);

	/* Whether it reads the bytes of a medium of that type. */
	bool (*takes)(const cJSON *block, const char *mime_type);
	bool assistant_media; /* it does so in what the assistant has said, too */

	/* Keys that lead to the text which an event adds; arrays on the way have one element. Ended
	 * by NULL, empty where no two events are alike. */
	const char *text_path[5];

	/* Whether the messages must begin and end with the user, and system prompts stand apart. */
	bool user_first_and_last;
};

extern const struct chat_provider chat_openai, chat_openai_responses, chat_anthropic, chat_gemini;

/* ---- Targets (settings.c) */

struct chat_times {
	int64_t connect, first_byte, idle, total; /* milliseconds */
};

/* Which of a provider's interfaces is spoken, where it has several. */
enum chat_api { CHAT_API_COMPLETIONS, CHAT_API_RESPONSES };

/* What response_format asks for. */
enum chat_format { CHAT_FORMAT_TEXT, CHAT_FORMAT_OBJECT, CHAT_FORMAT_SCHEMA };

/* One model: the settings of the first or of a fallback. */
struct chat_target {
	const struct chat_provider *provider;
	enum chat_api api;
	cJSON *settings; /* checked; owned, as is all below */
	const char *model;
	char *base_url;
	bool at_home; /* base_url is the provider's own service */
	char *key;    /* the API key, or NULL */
	struct http_header *headers;
	size_t header_count;
	struct chat_times times;
	int64_t retries;
	bool stream;
	enum chat_format format;
};

struct chat_model {
	struct chat_target *targets;
	size_t count;
};

/* ---- Requests (turns.c, request.c) */

enum chat_role { ROLE_SYSTEM, ROLE_USER, ROLE_ASSISTANT, ROLE_TOOL };

/*
 * The messages in an order that every provider takes: each assistant turn with calls is followed by
 * one tool turn, which has a result for each of them in their order (a made-up one where there is
 * none); results without a call are left out.
 */
struct chat_turn {
	enum chat_role role;
	const cJSON **blocks; /* borrowed from the messages, or from made_up */
	size_t count;
	/* ROLE_USER: no user has said it, it shows the images of the tool turn before */
	bool of_results;
};

struct chat_turns {
	struct chat_turn *items;
	size_t count;
	/* images in results are shown in a user's turn; else they are part of the text */
	bool images;
	cJSON *made_up; /* array of blocks that no message has in this form */
};

/* Sorts the blocks of messages, an array that outlives the turns, into turns; a result comes right
 * behind the turn that made its call. */
void chat_turns_init(struct chat_turns *turns, const cJSON *messages, bool images);
void chat_turns_release(struct chat_turns *turns);

struct chat_build {
	const struct chat_target *target;
	const struct chat_request *request;
	const struct chat_turns *turns;
	const char *system; /* the system prompt, "" when there is none; with the system messages
			     * where the provider takes none among the others */
	struct chat_media_list *media;
	char **problem; /* set when the request cannot be made */
};

/* The body to be posted, malloc'd; NULL with *problem set (malloc'd). */
char *chat_request_body(
    const struct chat_target *t, const struct chat_request *request, char **problem);

/* chat_names_new of the request's tools. */
cJSON *chat_request_names(const struct chat_request *request);

/* Copies a setting, where it is given, under the provider's name for it. */
void chat_copy_setting(const struct chat_build *b, const char *key, cJSON *to, const char *name);

/* The array called name of the last message in list, if that has the role, else of a new message:
 * some providers refuse two messages of one role in a row. */
cJSON *chat_parts_for(cJSON *list, const char *role, const char *name);

/* ---- Media (media.c) */

/* What is sent for the block of a medium; all of it is borrowed. */
struct chat_part_media {
	enum { MEDIA_BYTES, MEDIA_URL, MEDIA_TEXT, MEDIA_LEFT_OUT } kind;
	const char *text; /* base64; the URL; or the text; "" of what the provider does not take */
	const char *mime_type; /* never NULL; "" when unknown */
	const char *filename;  /* never NULL */
};

/*
 * Decides what is sent for each medium of the turns, from the newest on: what makes more than 64
 * MiB together with the newer ones is left out.  A file is asked for once, and only where the
 * provider takes it.  Where one cannot be had, *b->problem says so.
 */
struct chat_media_list *chat_media_list_new(const struct chat_build *b);
void chat_media_list_free(struct chat_media_list *list);

/* What is sent for the next medium.  To be called once for each, in the order of the turns. */
struct chat_part_media chat_media_next(const struct chat_build *b, const cJSON *block);

/* Whether it is bytes or a URL, to be sent as a medium if the provider takes that. */
bool chat_media_is_whole(const struct chat_part_media *media);

/* The text that is sent in its place where it is neither, or where the provider does not take it;
 * malloc'd. */
char *chat_media_note(const cJSON *block, const struct chat_part_media *media);

/* ---- Blocks */

/* Whether block is of that type, whether it is a call of either kind, and whether it is a
 * medium. */
bool chat_block_is(const cJSON *block, const char *type);
bool chat_block_is_call(const cJSON *block);
bool chat_block_is_media(const cJSON *block);

/* The text of a tool_result's output: a string as it is, other JSON compact; malloc'd. */
char *chat_output_text(const cJSON *block);

/* The first of a reasoning block's details, JSON texts that a client may send many of;
 * NULL: none. */
const cJSON *chat_details(const cJSON *block);

/* The first detail from *at on that this provider wrote, as a tree, or NULL. *at is moved behind
 * it. */
cJSON *chat_details_next(const cJSON **at, const char *provider);

/* ---- Answers (answer.c) */

enum chat_part_kind { PART_TEXT, PART_REASONING, PART_CALL };

/* A block in the making. */
struct chat_part {
	enum chat_part_kind kind;
	int64_t index;   /* the number that the provider gives it */
	struct buf text; /* the text, summary or arguments */
	char *id, *name; /* of a call; malloc'd or NULL */
	cJSON *details;  /* of reasoning: array of strings, or NULL */
};

/* Whether another try may help against a fault of an answer. */
enum chat_fault { FAULT_PASSES, FAULT_STAYS };

struct chat_usage {
	int64_t prompt, completion, total, reasoning, cache_creation, cache_read, image, audio;
};

struct chat_answer {
	const struct chat_target *target;
	const struct chat_request *request;
	int64_t started; /* by clock_monotonic_ms */
	struct chat_part *parts;
	size_t count;
	size_t latest; /* the part that got text last */
	size_t bytes;  /* in all parts */
	size_t named;  /* bytes of ids, names, finish and model, which are bounded, too */
	struct chat_usage usage;
	cJSON *kept;  /* array of pieces that the provider wants back, or NULL */
	char *model;  /* as the provider names it */
	char *finish; /* why it ended, in our words */

	struct buf held; /* text of one kind that has come and was not handed on yet */
	enum chat_part_kind held_kind;

	bool ended;     /* the provider said that it is complete */
	bool refused;   /* its text is a refusal */
	bool handed_on; /* the caller got some of it */
	bool unwanted;  /* a callback said false */
	char *fault;    /* what is wrong with it */
	enum chat_fault fault_kind;
	int64_t first_piece_ms;
};

/* An answer of which nothing has come; target and request outlive it. */
void chat_answer_init(
    struct chat_answer *a, const struct chat_target *t, const struct chat_request *request);
void chat_answer_release(struct chat_answer *a);

/* The part of that kind and number; a new one at the end when there is none. */
struct chat_part *chat_answer_part(struct chat_answer *a, enum chat_part_kind kind, int64_t index);

/* Another part, which has that number from now on. */
struct chat_part *chat_answer_part_new(
    struct chat_answer *a, enum chat_part_kind kind, int64_t index);

/* Adds text to a part; it is handed on together with what comes at the same moment.  NULL and ""
 * are fine. */
void chat_answer_add(
    struct chat_answer *a, enum chat_part_kind kind, int64_t index, const char *text);

/* Adds text that refuses to answer; such an answer ends with content_filter, whatever is said. */
void chat_answer_refuse(struct chat_answer *a, int64_t index, const char *text);

/* The same for the part at that place of parts. */
void chat_answer_append(struct chat_answer *a, size_t part, const char *text, size_t len);

/* Hands on what is held, when nothing more has come yet. */
void chat_answer_hand_on(struct chat_answer *a);

/* An id for a call that came without one of its own; returns out. */
#define CHAT_CALL_ID (5 + 33)
char *chat_call_id(char out[CHAT_CALL_ID]);

/* Sets id and name of a part, where they are neither NULL nor empty. */
void chat_part_name(
    struct chat_answer *a, struct chat_part *part, const char *id, const char *name);

/* Adds a copy of a piece to kept; its bytes count as the answer's. */
void chat_answer_keep(struct chat_answer *a, const cJSON *piece);

/* Adds what the provider wants back to the reasoning of that number.  detail is taken over, and its
 * bytes count as the answer's. */
void chat_answer_detail(struct chat_answer *a, int64_t index, cJSON *detail);

/* Sets why the answer ended; known is pairs of the provider's word and ours, ended by NULL. */
void chat_answer_finish(struct chat_answer *a, const char *word, const char *const known[][2]);

/* Notes a fault, unless there is one already. */
void chat_answer_fault(struct chat_answer *a, enum chat_fault kind, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* Notes an {"error": …} of the provider as a fault of the stream, or an object that says it is one,
 * as vLLM's; false when data is neither. */
bool chat_answer_error(struct chat_answer *a, const cJSON *data);

/* What an error body of any provider says, malloc'd; NULL when it says nothing. */
char *chat_error_message(const cJSON *body);

/* Sets a number of the usage, where object has it and it is a count. */
void chat_usage_take(int64_t *number, const cJSON *object, const char *key);

/* Sets what the model calls itself, unless that is known already. */
void chat_answer_model(struct chat_answer *a, const char *model);

/* The message of chat_result.  It has calls only when the answer is complete. */
cJSON *chat_answer_message(const struct chat_answer *a);

/* The value of the variable called named; where that is NULL, of the first of names (up to a NULL)
 * that has one; or NULL. */
const char *provider_key(const char *named, const char *const *names);

/* JSON from a provider: invalid UTF-8, U+0000 and lone surrogates are replaced.  text is changed.
 * NULL when it is no JSON. */
cJSON *chat_parse(char *text, size_t len);

#endif
