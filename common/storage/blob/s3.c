/* SPDX-License-Identifier: ISC */
/* Checking the settings, URLs of objects, and putting, reading, removing and signing them. */
#include "storage/blob/s3.h"

#include "base/memory.h"
#include "base/os/clock.h"
#include "storage/blob/s3_call.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define ATTEMPTS 4
#define READ_MS 60000
#define SLOWEST 256 /* bytes a millisecond that a long answer may take */
#define WRITE_MS 120000
#define SMALL_MS 30000
#define REMOVE_MS 5000

#define LETTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
#define LOWER "abcdefghijklmnopqrstuvwxyz"
#define DIGITS "0123456789"

/* ---- settings ---- */

/* Whose servers there are without MEDIA_CLOUD_ENDPOINT. */
enum provider {
	AMAZON,
	GOOGLE, /* its XML API, which takes S3's signatures with HMAC keys */
	UNKNOWN
};

static enum provider s3_provider_of(const struct environment *env)
{
	if (strcasecmp(env->media_cloud_provider, "aws") == 0)
		return AMAZON;
	return strcasecmp(env->media_cloud_provider, "gcp") == 0 ? GOOGLE : UNKNOWN;
}

static bool s3_is_name(const char *s, const char *of)
{
	return *s && s[strspn(s, of)] == '\0';
}

static bool s3_check_endpoint(const char *endpoint, struct error *err)
{
	const char *host = endpoint ? strstr(endpoint, "://") : NULL;
	bool http = endpoint &&
	    (strncasecmp(endpoint, "http://", 7) == 0 || strncasecmp(endpoint, "https://", 8) == 0);
	if (endpoint &&
	    (!host || !http || strpbrk(host, "@?#") || !host[3] || host[3] == '/' ||
		endpoint[strspn(endpoint, LETTERS DIGITS ":/.-_~%[]!$&'()*+,;=")]))
		return error_set(err, ERR_STORAGE,
		    "MEDIA_CLOUD_ENDPOINT: expected a URL like https://host:9000, without a user, "
		    "found %s",
		    strpbrk(endpoint, "@") ? "one with a user" : endpoint);
	return true;
}

bool s3_check(const struct environment *env, struct error *err)
{
	const char *bucket = env->media_cloud_bucket, *prefix = env->media_cloud_prefix;
	if (s3_provider_of(env) == UNKNOWN)
		return error_set(err, ERR_STORAGE,
		    "MEDIA_CLOUD_PROVIDER: expected aws or gcp (any other server of S3's protocol "
		    "is aws with MEDIA_CLOUD_ENDPOINT), found %.100s",
		    env->media_cloud_provider);
	if (!s3_is_name(bucket, LETTERS DIGITS ".-_") || strlen(bucket) > 255 || bucket[0] == '.')
		return error_set(err, ERR_STORAGE,
		    "MEDIA_CLOUD_BUCKET: expected a bucket's name, because MEDIA_STORAGE_TYPE is "
		    "cloud, found %s",
		    *bucket ? bucket : "nothing");
	if (!s3_is_name(env->media_cloud_region, LETTERS DIGITS "-"))
		return error_set(err, ERR_STORAGE,
		    "MEDIA_CLOUD_REGION: expected a region's name like eu-central-1, found %s",
		    *env->media_cloud_region ? env->media_cloud_region : "nothing");
	if (!s3_check_endpoint(env->media_cloud_endpoint, err))
		return false;
	/* a path that a client or server could take for a shorter one is refused */
	if (strlen(prefix) > 200 || strstr(prefix, "//") || strstr(prefix, "./") ||
	    prefix[strspn(prefix, LETTERS DIGITS "/-_.!*'()")])
		return error_set(err, ERR_STORAGE,
		    "MEDIA_CLOUD_PREFIX: expected at most 200 letters, digits, slashes and "
		    "-_.!*'(), with no empty part and none that ends in a dot, found %.200s",
		    prefix);
	if (!env->media_cloud_key_id || !env->media_cloud_key_id[0])
		return error_set(err, ERR_STORAGE,
		    "MEDIA_CLOUD_ACCESS_KEY_ID: expected the id of an access key, because files "
		    "are kept in a cloud, found nothing%s",
		    env->media_cloud_credentials
			? "; MEDIA_CLOUD_CREDENTIALS_JSON has none, an HMAC key is needed"
			: "");
	if (!env->media_cloud_secret || !env->media_cloud_secret[0])
		return error_set(err, ERR_STORAGE,
		    "MEDIA_CLOUD_SECRET_ACCESS_KEY: expected the secret of the access key, because "
		    "files are kept in a cloud, found nothing");
	return true;
}

/* ---- the bucket ---- */

/* Addresses the bucket in the path. */
static void s3_use_endpoint(struct s3 *s3, const char *url, const char *bucket)
{
	const char *host = strstr(url, "://");
	size_t len = strcspn(host + 3, "/");
	const char *path = host + 3 + len;
	s3->scheme = xstrndup(url, (size_t)(host - url));
	s3->authority = xstrndup(host + 3, len);
	s3->base = xasprintf("%s/%s/", path, bucket);
	/* clients leave the usual port out of the header Host */
	const char *usual = strcasecmp(s3->scheme, "https") == 0 ? ":443" : ":80";
	size_t n = strlen(usual);
	if (len > n && strcmp(s3->authority + len - n, usual) == 0)
		s3->authority[len - n] = '\0';
}

/* Addresses the bucket in the host's name, unless no certificate could be valid for that. */
static void s3_use_amazon(struct s3 *s3, const struct environment *env)
{
	const char *region = env->media_cloud_region, *bucket = env->media_cloud_bucket;
	const char *domain = strncmp(region, "cn-", 3) == 0 ? "amazonaws.com.cn" : "amazonaws.com";
	s3->scheme = xstrdup("https");
	if (!s3_is_name(bucket, LOWER DIGITS "-")) {
		s3->authority = xasprintf("s3.%s.%s", region, domain);
		s3->base = xasprintf("/%s/", bucket);
	} else {
		s3->authority = xasprintf("%s.s3.%s.%s", bucket, region, domain);
		s3->base = xstrdup("/");
	}
}

struct s3 *s3_new(const struct environment *env)
{
	struct s3 *s3 = xcalloc(1, sizeof(*s3));
	s3->id = xstrdup(env->media_cloud_key_id);
	s3->secret = xstrdup(env->media_cloud_secret);
	if (env->media_cloud_session_token && env->media_cloud_session_token[0])
		s3->token = xstrdup(env->media_cloud_session_token);
	s3->region = xstrdup(env->media_cloud_region);
	if (env->media_cloud_endpoint)
		s3_use_endpoint(s3, env->media_cloud_endpoint, env->media_cloud_bucket);
	else if (s3_provider_of(env) == GOOGLE)
		s3_use_endpoint(s3, "https://storage.googleapis.com", env->media_cloud_bucket);
	else
		s3_use_amazon(s3, env);
	return s3;
}

void s3_free(struct s3 *s3)
{
	if (!s3)
		return;
	secret_free(s3->secret);
	free(s3->scheme);
	free(s3->authority);
	free(s3->base);
	free(s3->id);
	free(s3->token);
	free(s3->region);
	free(s3);
}

/* ---- objects ---- */

int64_t s3_size(struct s3 *s3, const char *key, struct error *err)
{
	struct http_response response = {0};
	const struct s3_call call = {
	    .method = "HEAD",
	    .key = key,
	    .deadline_ms = clock_monotonic_ms() + SMALL_MS,
	    .attempts = ATTEMPTS,
	};
	bool answered = s3_run(s3, &call, &response, err);
	char *text = answered ? http_response_header(&response, "Content-Length") : NULL;
	int64_t size = text && s3_is_name(text, DIGITS) ? strtoll(text, NULL, 10) : -1;
	free(text);
	http_response_release(&response);
	if (size < 0 && !error_is_set(err)) {
		error_set(err, ERR_TRANSIENT_STORAGE, NULL);
		error_cause(err, "the bucket's server does not tell the size of %s", key);
	}
	return size;
}

bool s3_put(struct s3 *s3, const char *key, int fd, int64_t size, struct error *err)
{
	bool sent;
	if (size <= S3_PART) {
		struct http_response response = {0};
		const struct s3_call call = {
		    .method = "PUT",
		    .key = key,
		    .fd = fd,
		    .len = (size_t)size,
		    .deadline_ms = clock_monotonic_ms() + WRITE_MS,
		    .attempts = ATTEMPTS,
		};
		bool ok = s3_run(s3, &call, &response, err);
		char *tag = ok ? http_response_header(&response, "ETag") : NULL;
		if (ok && !tag) { /* somebody on the way may have answered */
			error_set(err, ERR_TRANSIENT_STORAGE, NULL);
			ok = error_cause(
			    err, "the bucket's server answered PUT %s without an ETag", key);
		}
		free(tag);
		http_response_release(&response);
		return ok;
	}
	if (s3_put_parts(s3, key, fd, size, &sent, err))
		return true;
	/* where the answer was lost, the second one is that there is no such upload: the object
	 * tells */
	struct error ignored = {0};
	bool there = sent && s3_size(s3, key, &ignored) == size;
	error_release(&ignored);
	if (there)
		error_release(err);
	return there;
}

/* Whether Content-Range, "bytes 0-9/20", is of the Range "bytes=0-9". */
static bool s3_is_range(const char *given, const char *asked)
{
	size_t unit = strlen("bytes="), len = strlen(asked);
	return strncasecmp(given, asked, unit - 1) == 0 && given[unit - 1] == ' ' &&
	    strncmp(given + unit, asked + unit, len - unit) == 0 && given[len] == '/';
}

bool s3_get(
    struct s3 *s3, const char *key, int64_t offset, char *out, size_t len, struct error *err)
{
	struct http_response response = {0};
	char *range = xasprintf("bytes=%" PRId64 "-%" PRId64, offset, offset + (int64_t)len - 1);
	const struct s3_call call = {
	    .method = "GET",
	    .key = key,
	    .range = range,
	    .out = out,
	    .out_len = len,
	    .deadline_ms = clock_monotonic_ms() + READ_MS + (int64_t)len / SLOWEST,
	    .attempts = ATTEMPTS,
	};
	bool ok = s3_run(s3, &call, &response, err);
	char *given = ok ? http_response_header(&response, "Content-Range") : NULL;
	if (ok && response.status != 206) {
		error_set(err, ERR_TRANSIENT_STORAGE, NULL);
		ok = error_cause(err, "the bucket's server knows no ranges");
	} else if (given && !s3_is_range(given, range)) {
		error_set(err, ERR_TRANSIENT_STORAGE, NULL);
		ok = error_cause(err,
		    "the bucket's server answered GET %s with another range, %.60s", key, given);
	}
	http_response_release(&response);
	free(given);
	free(range);
	return ok;
}

bool s3_remove(struct s3 *s3, const char *key, struct error *err)
{
	return s3_delete(s3, key, NULL, REMOVE_MS, err) && s3_abort_parts(s3, key, err);
}

/* ---- URLs ---- */

static void s3_add_parameter(struct buf *query, const char *name, const char *value)
{
	buf_printf(query, "%s%s=", query->len ? "&" : "", name);
	sigv4_encode(query, value, false);
}

const char *s3_sign(struct s3 *s3, const char *key, const struct s3_answer *answer, int64_t seconds,
    struct arena *arena)
{
	const struct sigv4_key signer = s3_signer(s3);
	const struct http_header host = {"host", s3->authority};
	struct buf path = {0}, query = {0}, credential = {0};
	char signature[SIGV4_HASH_SIZE];
	s3_path(s3, key, &path);
	struct sigv4_request request = {.method = "GET",
	    .path = buf_str(&path),
	    .query = "",
	    .headers = &host,
	    .header_count = 1,
	    .payload = "UNSIGNED-PAYLOAD",
	    .date = ""};
	sigv4_date(clock_now() / 1000000, request.date);
	sigv4_credential(&credential, &signer, &request);
	/* in the order that the signature wants: capitals come first */
	s3_add_parameter(&query, "X-Amz-Algorithm", "AWS4-HMAC-SHA256");
	s3_add_parameter(&query, "X-Amz-Credential", buf_str(&credential));
	s3_add_parameter(&query, "X-Amz-Date", request.date);
	buf_printf(&query, "&X-Amz-Expires=%" PRId64, seconds);
	if (s3->token)
		s3_add_parameter(&query, "X-Amz-Security-Token", s3->token);
	s3_add_parameter(&query, "X-Amz-SignedHeaders", "host");
	s3_add_parameter(&query, "response-content-disposition", answer->disposition);
	s3_add_parameter(&query, "response-content-type", answer->type);
	request.query = buf_str(&query);
	sigv4_signature(&signer, &request, signature);
	const char *url = arena_printf(arena, "%s://%s%s?%s&X-Amz-Signature=%s", s3->scheme,
	    s3->authority, buf_str(&path), buf_str(&query), signature);
	buf_release(&path);
	buf_release(&query);
	buf_release(&credential);
	return url;
}
