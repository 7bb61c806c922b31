/* SPDX-License-Identifier: ISC */
/* multipart/form-data, fed in every way that bytes can be cut. */
#include "fcgi/request/multipart.h"
#include "unit.h"

#include <stdio.h>
#include <string.h>

/* What came out, as one text: [name|filename|type]data for each part. */
struct collector {
	struct multipart_sink sink; /* first */
	struct buf text;
	int parts_wanted; /* after so many the sink stops; 0: never */
	int parts;
};

static const char *or_none(const char *text)
{
	return text ? text : "-";
}

static bool take_part(struct multipart_sink *sink, const struct multipart_part *part)
{
	struct collector *c = (struct collector *)sink;
	buf_printf(&c->text, "[%s|%s|%s]", or_none(part->name), or_none(part->filename),
	    or_none(part->content_type));
	return ++c->parts != c->parts_wanted;
}

static bool take_data(struct multipart_sink *sink, const char *data, size_t len)
{
	struct collector *c = (struct collector *)sink;
	CU_ASSERT(len > 0);
	buf_add(&c->text, data, len);
	return true;
}

/* Feeds the text in two pieces; the state that it ends in, and in out what came. */
static enum multipart_state feed(const char *type, const char *body, size_t cut, struct buf *out)
{
	struct collector c = {.sink = {take_part, take_data}};
	struct multipart mp;
	CU_ASSERT_FATAL(multipart_init(&mp, type, &c.sink));
	if (multipart_feed(&mp, body, cut))
		multipart_feed(&mp, body + cut, strlen(body) - cut);
	enum multipart_state state = mp.state;
	CU_ASSERT_EQUAL(state == MULTIPART_MALFORMED, mp.fault != NULL);
	multipart_release(&mp);
	*out = c.text;
	return state;
}

#define TYPE "multipart/form-data; boundary=AaB"
#define PART(disposition) "Content-Disposition: form-data; " disposition "\r\n\r\n"

/* The body comes out as expected, wherever it is cut in two. */
static void check(const char *body, enum multipart_state state, const char *expected)
{
	for (size_t cut = 0; cut <= strlen(body); cut++) {
		struct buf out;
		CU_ASSERT_EQUAL(feed(TYPE, body, cut, &out), state);
		if (strcmp(buf_str(&out), expected) != 0)
			printf("# cut at %zu: %s\n", cut, buf_str(&out));
		CU_ASSERT_STRING_EQUAL(buf_str(&out), expected);
		buf_release(&out);
	}
}

static void parts_come_out_whole(void)
{
	check("--AaB\r\n" PART("name=a") "x\r\n--AaB\r\n" PART(
		  "name=\"file\"; filename=\"f.txt\"") "line\r\nline\r\n\r\n--AaB--\r\n",
	    MULTIPART_END, "[a|-|-]x[file|f.txt|-]line\r\nline\r\n");
}

static void byte_by_byte_is_the_same(void)
{
	static const char body[] =
	    "pre\r\n--AaB \t\r\n" PART("name=a") "\r\r\n--Aa\r\n-\r\n--AaB--";
	struct collector c = {.sink = {take_part, take_data}};
	struct multipart mp;
	CU_ASSERT_FATAL(multipart_init(&mp, TYPE, &c.sink));
	for (const char *at = body; *at; at++)
		CU_ASSERT(multipart_feed(&mp, at, 1));
	CU_ASSERT_EQUAL(mp.state, MULTIPART_END);
	CU_ASSERT_STRING_EQUAL(buf_str(&c.text), "[a|-|-]\r\r\n--Aa\r\n-");
	multipart_release(&mp);
	buf_release(&c.text);
}

static void what_resembles_a_delimiter_is_data(void)
{
	check("--AaB\r\n" PART("name=a") "--AaX\r\n--Aa\r\r\n-\r\n\r\n--A\r\n--AaB--",
	    MULTIPART_END, "[a|-|-]--AaX\r\n--Aa\r\r\n-\r\n\r\n--A");
	check("--AaB\r\n" PART("name=a") "x--AaB--\n--AaB--\r--AaB--", MULTIPART_DATA,
	    "[a|-|-]x--AaB--\n--AaB--\r--AaB--");
}

static void preamble_and_epilogue_are_ignored(void)
{
	check("a preamble\r\n--Aa\r\n--AaB\r\n" PART("name=a") "x\r\n--AaB--and\r\n--AaB\r\nmore",
	    MULTIPART_END, "[a|-|-]x");
}

static void empty_parts(void)
{
	check("--AaB\r\n" PART("name=a") "\r\n--AaB--", MULTIPART_END, "[a|-|-]");
	/* by the grammar a part may end right behind its headers */
	check("--AaB\r\n" PART("name=a") "--AaB--", MULTIPART_END, "[a|-|-]");
	check("--AaB\r\n\r\nx\r\n--AaB--", MULTIPART_END, "[-|-|-]x");
	check("--AaB--", MULTIPART_END, "");
}

static void nested_bodies_are_data(void)
{
	check("--AaB\r\nContent-Disposition: form-data; name=file\r\nContent-Type: "
	      "multipart/mixed; boundary=x\r\n\r\n--x\r\n\r\ny\r\n--x--\r\n--AaB--",
	    MULTIPART_END, "[file|-|multipart/mixed; boundary=x]--x\r\n\r\ny\r\n--x--");
}

static void a_missing_end_is_seen(void)
{
	check("", MULTIPART_DATA, "");
	check("no boundary at all", MULTIPART_DATA, "");
	check("--AaB\r\n" PART("name=a") "x", MULTIPART_DATA, "[a|-|-]x");
	check("--AaB\r\n" PART("name=a") "x\r\n--AaB", MULTIPART_DELIMITER, "[a|-|-]x");
	check("--AaB\r\n" PART("name=a") "x\r\n--AaB-", MULTIPART_CLOSE, "[a|-|-]x");
	check("--AaB\r\nContent-Dis", MULTIPART_HEAD, "");
}

static void malformed_bodies_are_told(void)
{
	check("--AaBC\r\n", MULTIPART_MALFORMED, "");
	check("--AaB\n", MULTIPART_MALFORMED, "");
	check("--AaB\rx", MULTIPART_MALFORMED, "");
	check("--AaB-x", MULTIPART_MALFORMED, "");
	check("--AaB\r\nno colon\r\n\r\n", MULTIPART_MALFORMED, "");
	check("--AaB\r\n: x\r\n\r\n", MULTIPART_MALFORMED, "");
	check("--AaB\r\nA: x\ny\r\n\r\n", MULTIPART_MALFORMED, "");
	check("--AaB\r\nA: \ry\r\n\r\n", MULTIPART_MALFORMED, "");
	check("--AaB\r\n" PART("name=a") "x\r\n--AaBC", MULTIPART_MALFORMED, "[a|-|-]x");
}

static void long_headers_are_refused(void)
{
	struct collector c = {.sink = {take_part, take_data}};
	struct multipart mp;
	static const char head[] = "--AaB\r\nA: ";
	CU_ASSERT_FATAL(multipart_init(&mp, TYPE, &c.sink));
	CU_ASSERT(multipart_feed(&mp, head, strlen(head)));
	size_t fed = 0;
	while (multipart_feed(&mp, "x", 1))
		fed++;
	CU_ASSERT_EQUAL(mp.state, MULTIPART_MALFORMED);
	CU_ASSERT_EQUAL(fed, MULTIPART_HEAD_MAX - strlen("A: ") - 1);
	multipart_release(&mp);
}

static void a_sink_can_stop(void)
{
	struct collector c = {.sink = {take_part, take_data}, .parts_wanted = 1};
	struct multipart mp;
	static const char body[] = "--AaB\r\n" PART("name=a") "x\r\n--AaB--";
	CU_ASSERT_FATAL(multipart_init(&mp, TYPE, &c.sink));
	CU_ASSERT_FALSE(multipart_feed(&mp, body, strlen(body)));
	CU_ASSERT_EQUAL(mp.state, MULTIPART_STOPPED);
	CU_ASSERT_FALSE(multipart_feed(&mp, body, strlen(body)));
	CU_ASSERT_STRING_EQUAL(buf_str(&c.text), "[a|-|-]");
	multipart_release(&mp);
	buf_release(&c.text);
}

/* ---- heads ---- */

static void check_head(const char *head, const char *expected)
{
	struct multipart_part part;
	struct buf text = {0}, out = {0};
	buf_puts(&text, head);
	buf_puts(&text, "\r\n");
	if (multipart_head(&text, &part))
		buf_printf(&out, "%s|%s|%s", or_none(part.name), or_none(part.filename),
		    or_none(part.content_type));
	CU_ASSERT_STRING_EQUAL(buf_str(&out), expected);
	buf_release(&text);
	buf_release(&out);
}

#define DISPOSITION "Content-Disposition: form-data; "

static void names_are_read(void)
{
	check_head("content-disposition:FORM-DATA;NAME=file ; FileName=a.txt\r\n", "file|a.txt|-");
	check_head(DISPOSITION "name=\"a;b\"; filename=\"c=\\\"d\\\\e\"\r\n", "a;b|c=\"d\\e|-");
	check_head(
	    DISPOSITION "name=file; filename=\"C:\\dir\\a.txt\"\r\n", "file|C:\\dir\\a.txt|-");
	check_head(DISPOSITION "name=file; filename=\"\"\r\n", "file||-");
	check_head(DISPOSITION "name=file; filename=\r\n", "file||-");
	check_head(DISPOSITION "name=file; filename\r\n", "file||-");
	check_head(DISPOSITION "name=file; filename=\"open\r\n", "file|-|-");
	check_head(DISPOSITION "name=\"n\"; filename=a; name=b; filename=c\r\n", "n|a|-");
	check_head(DISPOSITION "filename=a\r\n", "-|a|-");
	check_head("Content-Disposition: attachment; name=file\r\n", "-|-|-");
	check_head(DISPOSITION "name=file;\r\n filename=folded\r\n", "file|folded|-");
}

static void extended_names_win(void)
{
	check_head(DISPOSITION "name=file; filename=a; filename*=UTF-8''%c3%A9%20b\r\n",
	    "file|\xc3\xa9 b|-");
	check_head(DISPOSITION "name=file; filename*=utf-8'de'x%zz%4\r\n", "file|x%zz%4|-");
	check_head(DISPOSITION "name=file; filename=a; filename*=latin1''x\r\n", "file|a|-");
	check_head(DISPOSITION "name=file; filename=a; filename*=nothing\r\n", "file|a|-");
	check_head(DISPOSITION "name=file; filename*=UTF-8''a%00b\r\n", "file|a%00b|-");
}

static void types_are_read(void)
{
	check_head(
	    "X: y\r\nContent-Type:  text/plain \t\r\ncontent-type: b/c\r\n", "-|-|text/plain");
	check_head("Content-Type:\r\n", "-|-|");
	check_head("Content-Types: a/b\r\nXContent-Type: a/b\r\n", "-|-|-");
}

static void check_boundary(const char *type, const char *expected)
{
	char boundary[MULTIPART_BOUNDARY_MAX + 1] = "";
	CU_ASSERT_EQUAL(multipart_boundary(type, boundary), expected != NULL);
	CU_ASSERT_STRING_EQUAL(boundary, expected ? expected : "");
}

#define SEVENTY "0123456789012345678901234567890123456789012345678901234567890123456789"

static void boundaries_are_read(void)
{
	check_boundary("multipart/form-data; boundary=abc", "abc");
	check_boundary("Multipart/Form-Data;charset=utf-8;BOUNDARY=\"a b;c\"; x=y", "a b;c");
	check_boundary("multipart/form-data; boundary=" SEVENTY, SEVENTY);
	check_boundary("multipart/form-data; boundary=" SEVENTY "0", NULL);
	check_boundary("multipart/form-data", NULL);
	check_boundary("multipart/form-data; boundary", NULL);
	check_boundary("multipart/form-data; boundary=", NULL);
	check_boundary("multipart/form-data; boundary=\"\"", NULL);
	check_boundary("multipart/form-data; boundary=\"a", NULL);
	check_boundary("multipart/form-data; boundary=\"a \"", NULL);
	check_boundary("multipart/form-data; boundary=\xc3\xa9", NULL);
	check_boundary("multipart/form-database; boundary=a", NULL);
	check_boundary("multipart/mixed; boundary=a", NULL);
	check_boundary("application/json", NULL);
	check_boundary("", NULL);
}

static const struct unit_test tests[] = {
    {"parts come out whole, wherever the bytes are cut", parts_come_out_whole},
    {"byte by byte is the same", byte_by_byte_is_the_same},
    {"what resembles a delimiter is data", what_resembles_a_delimiter_is_data},
    {"preamble and epilogue are ignored", preamble_and_epilogue_are_ignored},
    {"parts may be empty", empty_parts},
    {"nested bodies are data", nested_bodies_are_data},
    {"a missing end is seen", a_missing_end_is_seen},
    {"malformed bodies are told", malformed_bodies_are_told},
    {"long headers are refused", long_headers_are_refused},
    {"a sink can stop", a_sink_can_stop},
    {"names are read from a part's head", names_are_read},
    {"extended names win", extended_names_win},
    {"types are read from a part's head", types_are_read},
    {"boundaries are read from a Content-Type", boundaries_are_read},
};

int main(void)
{
	return unit_main("multipart", tests, UNIT_COUNT(tests));
}
