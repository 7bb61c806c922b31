/* SPDX-License-Identifier: ISC */
/* Digits and an exponent read from text, compared, and divided with remainder. */
#include "tool/decimal.h"

#include "base/json/json.h"
#include "base/memory.h"

#include <ctype.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPONENT_LIMIT 1000000000L

/* digits × 10^exponent; the digits neither begin nor end with 0, and zero has none. */
struct decimal {
	bool negative;
	char *digits;
	size_t len;
	long exponent;
};

/* Reads the grammar of JSON, which text is known to follow. */
static struct decimal decimal_read(const char *text)
{
	struct decimal d = {.negative = *text == '-', .digits = xmalloc(strlen(text) + 1)};
	bool fraction = false;
	for (; *text && *text != 'e' && *text != 'E'; text++) {
		if (*text == '.')
			fraction = true;
		if (!isdigit((unsigned char)*text))
			continue;
		d.digits[d.len++] = *text;
		d.exponent -= fraction;
	}
	d.digits[d.len] = '\0';
	long exponent = *text ? strtol(text + 1, NULL, 10) : 0;
	if (exponent > EXPONENT_LIMIT)
		exponent = EXPONENT_LIMIT;
	if (exponent < -EXPONENT_LIMIT)
		exponent = -EXPONENT_LIMIT;
	d.exponent += exponent;
	size_t lead = strspn(d.digits, "0");
	d.len -= lead;
	memmove(d.digits, d.digits + lead, d.len + 1);
	for (; d.len > 0 && d.digits[d.len - 1] == '0'; d.len--)
		d.exponent++;
	if (d.len == 0)
		d.negative = false;
	return d;
}

static struct decimal decimal_of(const cJSON *number)
{
	char text[40];
	if (!cJSON_IsNumber(number))
		return decimal_read(number->valuestring);
	snprintf(text, sizeof(text), "%.15g", number->valuedouble);
	if (strtod(text, NULL) != number->valuedouble)
		snprintf(text, sizeof(text), "%.17g", number->valuedouble);
	return decimal_read(text);
}

static int decimal_compare_magnitude(const struct decimal *a, const struct decimal *b)
{
	long a_top = (long)a->len + a->exponent, b_top = (long)b->len + b->exponent;
	if (!a->len || !b->len)
		return (a->len > 0) - (b->len > 0);
	if (a_top != b_top)
		return a_top < b_top ? -1 : 1;
	int order = memcmp(a->digits, b->digits, a->len < b->len ? a->len : b->len);
	return order ? order : (a->len > b->len) - (a->len < b->len);
}

int decimal_compare(const cJSON *a, const cJSON *b)
{
	if (cJSON_IsNumber(a) && cJSON_IsNumber(b))
		return (a->valuedouble > b->valuedouble) - (a->valuedouble < b->valuedouble);
	struct decimal x = decimal_of(a), y = decimal_of(b);
	int order = decimal_compare_magnitude(&x, &y);
	if (x.negative != y.negative)
		order = x.negative ? -1 : 1;
	else if (x.negative)
		order = -order;
	free(x.digits);
	free(y.digits);
	return order;
}

bool decimal_is_integer(const cJSON *number)
{
	int64_t value;
	if (json_integer(number, &value))
		return true;
	struct decimal d = decimal_of(number);
	free(d.digits);
	return d.exponent >= 0;
}

__extension__ typedef unsigned __int128 wide;

static uint64_t decimal_times(uint64_t a, uint64_t b, uint64_t modulus)
{
	return (uint64_t)((wide)a * b % modulus);
}

static uint64_t decimal_power(long exponent, uint64_t modulus)
{
	uint64_t result = 1 % modulus, square = 10 % modulus;
	for (; exponent > 0; exponent /= 2) {
		if (exponent % 2)
			result = decimal_times(result, square, modulus);
		square = decimal_times(square, square, modulus);
	}
	return result;
}

#define DIGITS_OF_64_BITS 19

static bool decimal_divides(const struct decimal *divisor, const struct decimal *value)
{
	if (!value->len)
		return true;
	if (value->exponent < divisor->exponent)
		return false; /* its last digit, not 0, lies below those of any multiple */
	uint64_t modulus = strtoull(divisor->digits, NULL, 10);
	uint64_t scale = decimal_power(value->exponent - divisor->exponent, modulus), rest = 0;
	for (size_t i = 0; i < value->len; i++)
		rest = (uint64_t)(((wide)rest * 10 + (unsigned)(value->digits[i] - '0')) % modulus);
	return decimal_times(rest, scale, modulus) == 0;
}

bool decimal_is_multiple(const cJSON *value, const cJSON *divisor)
{
	struct decimal v = decimal_of(value), d = decimal_of(divisor);
	bool multiple;
	double x, y;
	if (d.len > 0 && d.len <= DIGITS_OF_64_BITS)
		multiple = decimal_divides(&d, &v);
	else
		multiple = json_number(value, &x) && json_number(divisor, &y) && fmod(x, y) == 0;
	free(v.digits);
	free(d.digits);
	return multiple;
}
