/* SPDX-License-Identifier: ISC */
/* Parsing request and answer line by line, and keys and what accepts them. */
#include "ws-bridge/relay/relay_handshake.h"

#include "access/ticket/ticket.h"
#include "base/http/header_list.h"
#include "base/http/http_head.h"
#include "base/id.h"

#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define GUID "258EAFA5-E914-47DA-95CA-C5AB0DC85B11" /* RFC 6455, 1.3 */

/* What the header lines of a handshake say. */
struct fields {
	const char *host, *key, *version, *ticket, *accept, *length; /* each may come once only */
	bool upgrade, connection; /* these lists have the words that they must have */
	bool coded;               /* there is a Transfer-Encoding */
};

static bool relay_handshake_take_field(struct fields *fields, const char *name, const char *value)
{
	if (strcasecmp(name, "Upgrade") == 0)
		fields->upgrade |= header_list_has(value, "websocket");
	else if (strcasecmp(name, "Connection") == 0)
		fields->connection |= header_list_has(value, "upgrade");
	else if (strcasecmp(name, "Transfer-Encoding") == 0)
		fields->coded = true;
	else if (strcasecmp(name, "Host") == 0)
		return http_head_once(&fields->host, value);
	else if (strcasecmp(name, "Content-Length") == 0)
		return http_head_once(&fields->length, value);
	else if (strcasecmp(name, "Sec-WebSocket-Key") == 0)
		return http_head_once(&fields->key, value);
	else if (strcasecmp(name, "Sec-WebSocket-Version") == 0)
		return http_head_once(&fields->version, value);
	else if (strcasecmp(name, "Sec-WebSocket-Accept") == 0)
		return http_head_once(&fields->accept, value);
	else if (strcasecmp(name, TICKET_HEADER) == 0)
		return http_head_once(&fields->ticket, value);
	return true;
}

/* Reads the header lines up to the blank one, which ends the head; false when one is malformed. */
static bool relay_handshake_take_fields(struct fields *fields, char *rest)
{
	char *line;
	*fields = (struct fields){0};
	while ((line = http_head_line(&rest))) {
		/* "Name: value", without blanks around the value */
		size_t name = http_token_length(line);
		if (name == 0 || line[name] != ':')
			return false;
		line[name] = '\0';
		char *value = line + name + 1;
		value += strspn(value, " \t");
		for (char *end = value + strlen(value); end > value && strchr(" \t", end[-1]);)
			*--end = '\0';
		if (!relay_handshake_take_field(fields, line, value))
			return false;
	}
	return strcmp(rest, "\r") == 0;
}

/* The path of a request line, without its query; NULL when it is no request that may come. */
static const char *relay_handshake_take_path(char *line)
{
	static const char method[] = "GET ", version[] = " HTTP/1.1";
	size_t len = strlen(line);
	if (strncmp(line, method, strlen(method)) != 0 || len < strlen(method) + strlen(version))
		return NULL;
	char *path = line + strlen(method);
	char *end = line + len - strlen(version);
	if (*path != '/' || strcmp(end, version) != 0)
		return NULL;
	*end = '\0';
	if (strpbrk(path, " \t"))
		return NULL;
	path[strcspn(path, "?")] = '\0';
	return path;
}

/* The first line of the head, whose last byte becomes a NUL so that it is a string; NULL when the
 * head has bytes that it may not have. */
static char *relay_handshake_first_line(char *head, size_t len, char **rest)
{
	if (len == 0 || http_head_length(head, len) != len)
		return NULL;
	/* CR and LF end lines together, and stand nowhere else; no other control character than the
	 * tab may come */
	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)head[i];
		if (c == '\r'       ? i + 1 == len || head[i + 1] != '\n'
			: c == '\n' ? i == 0 || head[i - 1] != '\r'
				    : (c < 0x20 && c != '\t') || c == 0x7f)
			return NULL;
	}
	head[len - 1] = '\0';
	*rest = head;
	return http_head_line(rest);
}

enum handshake_fault handshake_parse(char *head, size_t len, struct handshake *handshake)
{
	static const char digits[] =
	    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	struct fields fields;
	char *rest;
	char *line = relay_handshake_first_line(head, len, &rest);
	*handshake = (struct handshake){0};
	if (!line || !(handshake->path = relay_handshake_take_path(line)) ||
	    !relay_handshake_take_fields(&fields, rest) || !fields.host || fields.coded ||
	    (fields.length && strcmp(fields.length, "0") != 0))
		return HANDSHAKE_MALFORMED;
	if (!fields.upgrade || !fields.connection)
		return HANDSHAKE_NO_UPGRADE;
	if (!fields.version || strcmp(fields.version, "13") != 0)
		return HANDSHAKE_VERSION;
	/* 16 bytes in base64 */
	if (!fields.key || strlen(fields.key) != HANDSHAKE_KEY_SIZE - 1 ||
	    strspn(fields.key, digits) != 22 || strcmp(fields.key + 22, "==") != 0 ||
	    !strchr("AQgw", fields.key[21]))
		return HANDSHAKE_MALFORMED;
	handshake->key = fields.key;
	handshake->ticket = fields.ticket;
	return HANDSHAKE_OK;
}

int handshake_answer(char *head, size_t len, const char *accept, bool *good)
{
	struct fields fields;
	char *rest;
	char *line = relay_handshake_first_line(head, len, &rest);
	int status = 0;
	*good = false;
	if (!line || strncmp(line, "HTTP/1.1 ", 9) != 0 || strspn(line + 9, "0123456789") != 3 ||
	    !relay_handshake_take_fields(&fields, rest))
		return 0;
	status = atoi(line + 9);
	*good = status == 101 && fields.upgrade && fields.connection && fields.accept &&
	    strcmp(fields.accept, accept) == 0;
	return status;
}

void handshake_key(char key[HANDSHAKE_KEY_SIZE])
{
	unsigned char bytes[16];
	random_bytes(bytes, sizeof(bytes));
	EVP_EncodeBlock((unsigned char *)key, bytes, sizeof(bytes));
}

void handshake_accept(const char *key, char accept[HANDSHAKE_ACCEPT_SIZE])
{
	char text[HANDSHAKE_KEY_SIZE + sizeof(GUID)];
	unsigned char digest[20];
	int len = snprintf(text, sizeof(text), "%s" GUID, key);
	if (!EVP_Digest(text, (size_t)len, digest, NULL, EVP_sha1(), NULL))
		abort();
	EVP_EncodeBlock((unsigned char *)accept, digest, sizeof(digest));
}
