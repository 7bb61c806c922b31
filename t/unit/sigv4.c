/* SPDX-License-Identifier: ISC */
/* Signatures, against the examples that AWS publishes for S3. */
#include "storage/blob/s3_call.h"
#include "unit.h"

#include <string.h>

#define HOST "examplebucket.s3.amazonaws.com"
#define DATE "20130524T000000Z"
/* SHA-256 of no bytes at all. */
#define EMPTY "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

static const struct sigv4_key key = {
    "AKIAIOSFODNN7EXAMPLE", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "us-east-1"};

static const struct http_header plain[] = {
    {"host", HOST}, {"x-amz-content-sha256", EMPTY}, {"x-amz-date", DATE}};

static void signature_is(const struct sigv4_request *request, const char *expected)
{
	char got[SIGV4_HASH_SIZE];
	sigv4_signature(&key, request, got);
	CU_ASSERT_STRING_EQUAL(got, expected);
}

static void a_get_of_a_range_is_signed(void)
{
	const struct http_header headers[] = {{"host", HOST}, {"range", "bytes=0-9"},
	    {"x-amz-content-sha256", EMPTY}, {"x-amz-date", DATE}};
	const struct sigv4_request request = {
	    "GET", "/test.txt", "", headers, UNIT_COUNT(headers), EMPTY, DATE};
	signature_is(&request, "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41");
	struct buf header = {0};
	sigv4_authorization(&header, &key, &request);
	CU_ASSERT_STRING_EQUAL(buf_str(&header),
	    "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request,"
	    "SignedHeaders=host;range;x-amz-content-sha256;x-amz-date,"
	    "Signature=f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41");
	buf_release(&header);
}

static void a_put_with_a_body_is_signed(void)
{
	char hash[SIGV4_HASH_SIZE];
	struct buf path = {0};
	sigv4_hash("Welcome to Amazon S3.", strlen("Welcome to Amazon S3."), hash);
	CU_ASSERT_STRING_EQUAL(
	    hash, "44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072");
	sigv4_encode(&path, "/test$file.text", true);
	const struct http_header headers[] = {{"date", "Fri, 24 May 2013 00:00:00 GMT"},
	    {"host", HOST}, {"x-amz-content-sha256", hash}, {"x-amz-date", DATE},
	    {"x-amz-storage-class", "REDUCED_REDUNDANCY"}};
	const struct sigv4_request request = {
	    "PUT", buf_str(&path), "", headers, UNIT_COUNT(headers), hash, DATE};
	signature_is(&request, "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd");
	buf_release(&path);
}

static void a_parameter_without_a_value_is_signed(void)
{
	const struct sigv4_request request = {
	    "GET", "/", "lifecycle", plain, UNIT_COUNT(plain), EMPTY, DATE};
	signature_is(&request, "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543");
}

static void parameters_are_signed(void)
{
	const struct sigv4_request request = {
	    "GET", "/", "max-keys=2&prefix=J", plain, UNIT_COUNT(plain), EMPTY, DATE};
	signature_is(&request, "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7");
}

static void a_url_is_signed(void)
{
	static const struct http_header host[] = {{"host", HOST}};
	struct sigv4_request request = {
	    "GET", "/test.txt", "", host, UNIT_COUNT(host), "UNSIGNED-PAYLOAD", DATE};
	struct buf credential = {0}, query = {0};
	sigv4_credential(&credential, &key, &request);
	buf_puts(&query, "X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=");
	sigv4_encode(&query, buf_str(&credential), false);
	buf_puts(&query, "&X-Amz-Date=" DATE "&X-Amz-Expires=86400&X-Amz-SignedHeaders=host");
	request.query = buf_str(&query);
	signature_is(&request, "aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404");
	buf_release(&credential);
	buf_release(&query);
}

static void dates_are_in_utc(void)
{
	char date[SIGV4_DATE_SIZE];
	sigv4_date(1369353600, date);
	CU_ASSERT_STRING_EQUAL(date, DATE);
}

static void all_but_unreserved_characters_are_encoded(void)
{
	struct buf out = {0};
	sigv4_encode(&out, "a/b c+~\xc3\xa9&=", false);
	CU_ASSERT_STRING_EQUAL(buf_str(&out), "a%2Fb%20c%2B~%C3%A9%26%3D");
	buf_release(&out);
}

static const struct unit_test tests[] = {
    {"a GET of a range is signed", a_get_of_a_range_is_signed},
    {"a PUT with a body is signed", a_put_with_a_body_is_signed},
    {"a parameter without a value is signed", a_parameter_without_a_value_is_signed},
    {"parameters are signed", parameters_are_signed},
    {"a URL is signed", a_url_is_signed},
    {"dates are in UTC", dates_are_in_utc},
    {"all but unreserved characters are encoded", all_but_unreserved_characters_are_encoded},
};

int main(void)
{
	return unit_main("sigv4", tests, UNIT_COUNT(tests));
}
