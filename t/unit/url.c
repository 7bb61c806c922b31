/* SPDX-License-Identifier: ISC */
/* URLs, in the one form that is compared. */
#include "base/http/url.h"
#include "base/http/percent.h"
#include "unit.h"

#include <stdlib.h>
#include <string.h>

static const struct {
	const char *text, *normal;
} rows[] = {
    {"https://hooks.example.com", "https://hooks.example.com/"},
    {"HTTPS://Hooks.Example.COM/In", "https://hooks.example.com/In"},
    {"https://a:443/x", "https://a/x"},
    {"http://a:80", "http://a/"},
    {"https://a:80/x", "https://a:80/x"},
    {"http://a:08080/", "http://a:8080/"},
    {"http://a:/", "http://a/"},
    {"http://[::1]:81/x", "http://[::1]:81/x"},
    {"http://127.0.0.1:8080/hook?a=1&b=%7e", "http://127.0.0.1:8080/hook?a=1&b=~"},
    {"http://a?q=/../", "http://a/?q=/../"},
    {"http://a/b/../c/./d/.", "http://a/c/d/"},
    {"http://a/team/../admin", "http://a/admin"},
    {"http://a/team/%2e%2E/admin", "http://a/admin"},
    {"http://a/../../b", "http://a/b"},
    {"http://a/b/..", "http://a/"},
    {"http://a//b", "http://a//b"},
    {"http://a/%2f%41%zz", NULL},
    {"http://a/%2f%41", "http://a/%2FA"},
    {"http://a/%00", "http://a/%00"},
    {"http://a/x#part", "http://a/x"},
    {"http://a/%", NULL},
    {"http://a/%4", NULL},
    {"", NULL},
    {"http:", NULL},
    {"http://", NULL},
    {"https:///x", NULL},
    {"https://../", NULL},
    {"https://.a/", NULL},
    {"https://a..b/", NULL},
    {"https://a./", "https://a./"},
    {"ftp://a/", NULL},
    {"//a/x", NULL},
    {"a/x", NULL},
    {"https://user@a/", NULL},
    {"https://user:word@a/", NULL},
    {"https://good.example@evil.example/", NULL},
    {"https://a\\@b/", NULL},
    {"https://a b/", NULL},
    {"https://a/b c", NULL},
    {"https://a/\x7f", NULL},
    {"https://a/\xc3\xa9", NULL},
    {"https://\xc3\xa9/", NULL},
    {"https://a%2eb/", NULL},
    {"https://a:x/", NULL},
    {"https://a:65536/", NULL},
    {"https://a:0/", NULL},
    {"https://a:1:2/", NULL},
    {"https://:81/", NULL},
    {"http://[]/", NULL},
    {"http://[::1/", NULL},
    {"http://[::1]x/", NULL},
    {"https://a/\r\nHost: b", NULL},
};

static void one_way_to_write_each(void)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		unit_row(rows[i].text);
		char *normal = url_normal(rows[i].text);
		CU_ASSERT_EQUAL(normal == NULL, rows[i].normal == NULL);
		CU_ASSERT_EQUAL(url_valid(rows[i].text), rows[i].normal != NULL);
		if (normal && rows[i].normal) {
			CU_ASSERT_STRING_EQUAL(normal, rows[i].normal);
		}
		free(normal);
	}
}

static void what_is_normal_stays(void)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		if (!rows[i].normal)
			continue;
		unit_row(rows[i].text);
		char *again = url_normal(rows[i].normal);
		CU_ASSERT_PTR_NOT_NULL_FATAL(again);
		CU_ASSERT_STRING_EQUAL(again, rows[i].normal);
		free(again);
	}
}

static void the_site_is_what_stands_before_the_path(void)
{
	static const struct {
		const char *text, *site;
	} sites[] = {{"https://a", "https://a"}, {"HTTPS://A:443/b//c", "https://a"},
	    {"http://a:443?b=/c", "http://a:443"}, {"http://[::1]:80/a", "http://[::1]"},
	    {"ftp://a/", NULL}, {"https://user@a/", NULL}};
	for (size_t i = 0; i < sizeof(sites) / sizeof(*sites); i++) {
		unit_row(sites[i].text);
		char *site = url_site(sites[i].text);
		CU_ASSERT_STRING_EQUAL(
		    site ? site : "none", sites[i].site ? sites[i].site : "none");
		free(site);
	}
}

static void some_server_finds_dots(void)
{
	static const char *const climbs[] = {"http://a/..", "http://a/b/./c", "http://a/b%2F..",
	    "http://a/..%5Cb?c", "https://a/b%2f.;c/d"};
	static const char *const stays[] = {"http://a", "http://a?b/../c", "http://../b",
	    "http://a/..b/b../...", "http://a/b?c=%2F.."};
	for (size_t i = 0; i < sizeof(climbs) / sizeof(*climbs); i++) {
		unit_row(climbs[i]);
		CU_ASSERT_TRUE(url_climbs(climbs[i]));
	}
	for (size_t i = 0; i < sizeof(stays) / sizeof(*stays); i++) {
		unit_row(stays[i]);
		CU_ASSERT_FALSE(url_climbs(stays[i]));
	}
}

static void what_is_not_plain_is_escaped(void)
{
	struct buf out = {0};
	percent_add(&out, "aZ09-._~ %/\xc3\xa9", "");
	CU_ASSERT_STRING_EQUAL(buf_str(&out), "aZ09-._~%20%25%2F%C3%A9");
	buf_reset(&out);
	percent_add(&out, "a/b c", "/");
	CU_ASSERT_STRING_EQUAL(buf_str(&out), "a/b%20c");
	buf_release(&out);
}

static const struct unit_test tests[] = {
    {"one way to write each", one_way_to_write_each},
    {"what is normal stays", what_is_normal_stays},
    {"the site is what stands before the path", the_site_is_what_stands_before_the_path},
    {"some server finds dots in it", some_server_finds_dots},
    {"what is not plain is escaped", what_is_not_plain_is_escaped},
};

int main(void)
{
	return unit_main("url", tests, UNIT_COUNT(tests));
}
