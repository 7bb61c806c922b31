#!/bin/sh
# SPDX-License-Identifier: ISC
# A rate limit of one's own, which a container registers; and files that are no container.
set -u
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
. "$TOP_SRCDIR/t/api/auth.sh"
. "$TOP_SRCDIR/t/api/limit.sh"

# plugin NAME: builds standard input, which begins with the header, as NAME.so.
plugin() {
	{
		echo '#include <agentgraph.h>'
		echo '#include <string.h>'
		echo 'AG_PLUGIN;'
		cat
	} >"$1.c"
	# shellcheck disable=SC2086 # words
	${CC:-cc} ${CPPFLAGS:-} -I"$TOP_SRCDIR/common" -shared -fPIC -o "$1.so" "$1.c" || tap_bail "$1.c does not compile"
}

plugin limits <<'C'
static int opened(void **data)
{
	static int limit = 7;
	*data = &limit;
	return 0;
}

static ag_result check(const char *key, int64_t requests, int64_t window, struct ag_rate_verdict *verdict, void *data)
{
	if (strcmp(key, "192.0.2.66") == 0)
		return AG_ERROR;
	verdict->allowed = strcmp(key, "192.0.2.1") != 0;
	verdict->remaining = strcmp(key, "192.0.2.2") == 0 ? 1000 : *(int *)data;
	verdict->reset_after = strcmp(key, "192.0.2.2") == 0 ? -5 : window - requests;
	return AG_OK;
}

static const struct ag_rate_limit limit = {check};
const struct ag_container container = {AG_CONTAINER, opened, &limit, NULL};
const struct ag_container empty = {.kind = AG_CONTAINER};
const struct ag_auth other = {.kind = AG_AUTH};

static int refuses(void **data)
{
	return 1;
}
const struct ag_container unwilling = {AG_CONTAINER, refuses, &limit, NULL};
C

custom='"backend":"custom","requests":10,"window":30'
limit "$custom" '"injectq":"limits.so:container"'
api GET /v1/graph
is "$STATUS $(counts)" '200 10 7 20 ' 'the backend of the container is asked, with key, limit and window'
API_ADDRESS=192.0.2.1
api GET /v1/graph
is "$STATUS $(counts)" '429 10 0 20 20' 'and may refuse'
API_ADDRESS=192.0.2.2
api GET /v1/graph
is "$STATUS $(counts)" '200 10 10 1 ' 'what it says is kept in its range'
API_ADDRESS=192.0.2.66
api GET /v1/graph
is "$(left)" '200 ' 'when it fails the request is let in'
unset API_ADDRESS

limit "$custom,\"fail_open\":false" '"injectq":"limits.so:container"'
api_start
API_ADDRESS=192.0.2.66
api GET /v1/graph
is "$STATUS $(counts)" '429 10 0 1 1' 'or refused, with fail_open false'
unset API_ADDRESS

limit '"requests":10' '"injectq":"limits.so:container"'
api_start
api GET /v1/graph
is "$(left)" '200 9' 'a container does nothing unless it is asked for'

# refused TEXT [INJECTQ]
refused() {
	limit "$custom" "${2:+\"injectq\":\"$2\"}"
	"$AGENTGRAPH" check >out 2>&1
	is $? 1 "refused: $1"
	like "$(cat out)" "$1" 'with a sentence'
}
refused 'expects a container with the backend in injectq'
refused 'injectq: .*nowhere.so' nowhere.so:container
refused "injectq: .*expected it to export the struct ag_container 'nothing'" limits.so:nothing
refused 'injectq: .*to be a struct ag_container' limits.so:other
refused "injectq: 'limits.so:unwilling' refused to open" limits.so:unwilling
refused '"custom" expects a rate_limit in the container' limits.so:empty

done_testing
