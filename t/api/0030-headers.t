#!/bin/sh
# SPDX-License-Identifier: ISC
# Security headers, and the environment that they follow.
set -u
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"

# carries HEADER VALUE
carries() { is "$(header "$1")" "$2" "$1 is '$2'"; }

api GET /ping
carries X-Content-Type-Options nosniff
carries X-Frame-Options DENY
carries X-XSS-Protection '1; mode=block'
carries Referrer-Policy strict-origin-when-cross-origin
carries Permissions-Policy 'geolocation=(), microphone=(), camera=(), payment=(), usb=(), magnetometer=(), gyroscope=(), accelerometer=()'
carries Content-Security-Policy "default-src 'self'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; media-src 'self' data: blob:; font-src 'self' data:; connect-src 'self'; frame-ancestors 'none'; base-uri 'self'; form-action 'self'"
carries Strict-Transport-Security ''

api GET /nope '' 'X-Forwarded-Proto: https'
carries Strict-Transport-Security 'max-age=31536000; includeSubDomains'
carries X-Frame-Options DENY
api OPTIONS /ping
carries X-Frame-Options DENY
serve_stop

export FRAME_OPTIONS='' REFERRER_POLICY=no-referrer HSTS_PRELOAD=true HSTS_MAX_AGE=60
api GET /ping '' 'X-Forwarded-Proto: https'
carries X-Frame-Options ''
carries Referrer-Policy no-referrer
carries Strict-Transport-Security 'max-age=60; includeSubDomains; preload'
serve_stop

# Below a path of somebody's site, what binds the whole host is for its owner to ask for.
unset HSTS_PRELOAD HSTS_MAX_AGE
export ROOT_PATH=/agent
api GET /ping '' 'X-Forwarded-Proto: https'
carries Strict-Transport-Security ''
carries Referrer-Policy no-referrer
serve_stop
HSTS_ENABLED=true api GET /ping '' 'X-Forwarded-Proto: https'
carries Strict-Transport-Security 'max-age=31536000'
serve_stop
HSTS_INCLUDE_SUBDOMAINS=true api GET /ping '' 'X-Forwarded-Proto: https'
carries Strict-Transport-Security 'max-age=31536000; includeSubDomains'
serve_stop
unset ROOT_PATH

export SECURITY_HEADERS_ENABLED=false
api GET /ping '' 'X-Forwarded-Proto: https'
unlike "$HEADERS" '^(X-Content|X-Frame|X-XSS|Referrer|Permissions|Content-Security|Strict)' 'all of them can be dropped'
like "$HEADERS" '^X-Request-ID: ' 'the request id stays'

done_testing
