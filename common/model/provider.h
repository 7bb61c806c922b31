/* SPDX-License-Identifier: ISC */
/*
 * What the files of this room share: one model that can be asked (a target), the making of its
 * request, and the putting together of its answer.  Each provider is one struct of functions.
 */
#ifndef AGENTGRAPH_MODEL_PROVIDER_H
#define AGENTGRAPH_MODEL_PROVIDER_H

#include "base/buf.h"
#include "base/http/http.h"
#include "base/metrics/metrics.h"
#include "model/chat.h"

struct chat_answer;
struct chat_build;
struct chat_media_list;

struct chat_provider {
	const char *name;
	const char *home;        /* base URL of its own service */
	const char *url_env;     /* variable that names another one */
	const char *key_envs[3]; /* variables that hold the key, ended by NULL */
	const char *key_header;
	const char *key_prefix;    /* before the key in that header */
	struct http_header header; /* one more, or NULLs */
	enum metric failures;      /* counts attempts that failed */

	/* The URL to post to, malloc'd. */
	char *(*url)(const char *base_url, const char *model, bool stream);

	/* Fills body from what is asked. */
	void (*build)(const struct chat_build *b, cJSON *body);

	/* Takes one event of a streamed answer, and a whole one. */
	void (*take_event)(struct chat_answer *a, const char *name, const cJSON *data);
	void (*take_whole)(struct chat_answer *a, const cJSON *body);

	/* Whether it reads the bytes of such a medium. */
	bool (*takes)(const cJSON *block, const char *mime_type);
	bool assistant_media; /* also in what the assistant has said */

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
	cJSON *settings; /* checked; owned, as all below */
	const char *model;
	char *base_url;
	bool at_home; /* base_url is the provider's own service */
	char *key;    /* NULL: none */
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
	bool of_results; /* ROLE_USER: nobody said it, it has the images of the tool turn before */
};

struct chat_turns {
	struct chat_turn *items;
	size_t count;
	bool images; /* those in results are shown, as a user's; else they are a part of the text */
	cJSON *made_up; /* array of results and other blocks */
};

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

/* Copies a setting, where it is given, under the provider's name for it. */
void chat_copy_setting(const struct chat_build *b, const char *key, cJSON *to, const char *name);

/* ---- Media (media.c) */

/* What is sent for the block of a medium; all of it is borrowed. */
struct chat_part_media {
	enum { MEDIA_BYTES, MEDIA_URL, MEDIA_TEXT, MEDIA_LEFT_OUT } kind;
	const char *text; /* base64; the URL; or the text; "" of what the provider does not take */
	const char *mime_type; /* never NULL; "" when unknown */
	const char *filename;  /* never NULL */
};

/*
 * What is sent for all media of the turns, found out from the newest on: those that come to more
 * than 64 MiB with the newer ones are left out.  Files are had once, and those alone that the
 * provider takes.  Where one cannot be had *b->problem says so.
 */
struct chat_media_list *chat_media_list_new(const struct chat_build *b);
void chat_media_list_free(struct chat_media_list *list);

/* What it is for the next block of a medium: each is asked for once, in the order of the turns. */
struct chat_part_media chat_media_next(const struct chat_build *b, const cJSON *block);

/* Whether it is bytes or a URL, which the provider may take as what they are. */
bool chat_media_is_whole(const struct chat_part_media *media);

/* The text that is sent in its place where it is not, or where the provider does not take it;
 * malloc'd. */
char *chat_media_note(const cJSON *block, const struct chat_part_media *media);

/* ---- Blocks */

/* Whether block is of that type, and whether it is a call of either kind. */
bool chat_block_is(const cJSON *block, const char *type);
bool chat_block_is_call(const cJSON *block);
bool chat_block_is_media(const cJSON *block);

/* The text of a tool_result's output: a string as it is, other JSON compact; malloc'd. */
char *chat_output_text(const cJSON *block);

/* The first of a reasoning block's details, JSON texts that a client may send many of;
 * NULL: none. */
const cJSON *chat_details(const cJSON *block);

/* The first of those from *at on that this provider wrote, as a tree; NULL when there is none.  *at
 * is moved behind it. */
cJSON *chat_details_next(const cJSON **at, const char *provider);

/* ---- Answers (answer.c) */

enum chat_part_kind { PART_TEXT, PART_REASONING, PART_CALL };

/* A block in the making. */
struct chat_part {
	enum chat_part_kind kind;
	int64_t index;   /* the provider's number of it */
	struct buf text; /* text, summary, or arguments */
	char *id, *name; /* of a call; malloc'd or NULL */
	cJSON *details;  /* of reasoning: array of strings, or NULL */
};

struct chat_usage {
	int64_t prompt, completion, total, reasoning, cache_creation, cache_read, image, audio;
};

struct chat_answer {
	const struct chat_target *target;
	const struct chat_request *request;
	int64_t started; /* by clock_monotonic_ms */
	struct chat_part *parts;
	size_t count;
	size_t latest; /* the part that text was added to last */
	size_t bytes;  /* in all parts */
	struct chat_usage usage;
	cJSON *kept;  /* array of pieces that the provider wants back, or NULL */
	char *model;  /* as the provider names it */
	char *finish; /* why it ended, in our words */

	struct buf held; /* text of one kind that has come and is to be handed on */
	enum chat_part_kind held_kind;

	bool ended;        /* the provider said that it is complete */
	bool handed_on;    /* the caller got some of it */
	bool unwanted;     /* a callback said false */
	char *fault;       /* what is wrong with it */
	bool fault_passes; /* and whether another try may help */
	int64_t first_piece_ms;
};

void chat_answer_init(
    struct chat_answer *a, const struct chat_target *t, const struct chat_request *request);
void chat_answer_release(struct chat_answer *a);

/* The part of that kind and number, made at the end when there is none. */
struct chat_part *chat_answer_part(struct chat_answer *a, enum chat_part_kind kind, int64_t index);

/* Another part, which has that number from now on. */
struct chat_part *chat_answer_part_new(
    struct chat_answer *a, enum chat_part_kind kind, int64_t index);

/* Adds text to a part, to be handed on with what follows at once.  NULL and "" are fine. */
void chat_answer_add(
    struct chat_answer *a, enum chat_part_kind kind, int64_t index, const char *text);

/* The same for the part that stands at that place. */
void chat_answer_append(struct chat_answer *a, size_t part, const char *text, size_t len);

/* Hands on what is held: nothing more has come yet. */
void chat_answer_hand_on(struct chat_answer *a);

/* An id for a call that came without one of its own; returns out. */
#define CHAT_CALL_ID (5 + 33)
char *chat_call_id(char out[CHAT_CALL_ID]);

/* Sets what is neither NULL nor empty. */
void chat_part_name(struct chat_part *part, const char *id, const char *name);

/* Adds a copy of a piece to kept; they count as a part of the answer. */
void chat_answer_keep(struct chat_answer *a, const cJSON *piece);

/* Adds to the reasoning of that number what the provider wants back, which is taken over and counts
 * as a part of the answer. */
void chat_answer_detail(struct chat_answer *a, int64_t index, cJSON *detail);

/* Sets the reason of the end; known is pairs of the provider's word and ours, ended by NULL. */
void chat_answer_finish(struct chat_answer *a, const char *word, const char *const known[][2]);

/* The first fault stays. */
void chat_answer_fault(struct chat_answer *a, bool passes, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* An {"error": …} of the provider as a fault of the stream; false when data has none. */
bool chat_answer_error(struct chat_answer *a, const cJSON *data);

/* What an error body of any provider says, malloc'd; NULL when it says nothing. */
char *chat_error_message(const cJSON *body);

/* A usage number, where it is given. */
void chat_usage_take(int64_t *number, const cJSON *object, const char *key);

/* What the model calls itself, copied; the first that says something stays. */
void chat_answer_model(struct chat_answer *a, const char *model);

/* The message of chat_result; with calls only when the answer is complete. */
cJSON *chat_answer_message(const struct chat_answer *a);

/* The value of the variable that is named, where none is, of the first of names (up to a NULL) that
 * has one; or NULL. */
const char *provider_key(const char *named, const char *const *names);

/* JSON from a provider: invalid UTF-8, U+0000 and lone surrogates are replaced.  text is changed.
 * NULL when it is no JSON. */
cJSON *chat_parse(char *text, size_t len);

#endif
