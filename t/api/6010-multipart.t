#!/bin/sh
# SPDX-License-Identifier: ISC
# Broken multipart bodies of every kind, of which nothing stays.
set -u
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
. "$TOP_SRCDIR/t/api/files.sh"

export MEDIA_MAX_SIZE_MB=1.5
api_start

file='; name="file"; filename="a.txt"'
printf hello | part "$file" text/plain | form >good
send good
is "$STATUS" 200 'a good body'
raw_send drip good
is "$STATUS $(data .size_bytes)" '200 5' 'the same a byte at a time'
before=$(stored)

# typed CONTENT-TYPE EXPECTED NAME: the good body, announced as this.
typed() {
	api_body good "Content-Type: $1"
	is "$(said)" "$2" "$3"
}
required='400 BAD_REQUEST file is required'
typed multipart/form-data "$required" 'no boundary'
typed 'multipart/form-data; boundary=' "$required" 'an empty boundary'
typed 'multipart/form-data; boundary="AaB03x' "$required" 'a boundary with one quote'
typed "multipart/form-data; boundary=$(printf '%010240d' 0)" "$required" 'a boundary of 10 kB'
typed 'multipart/form-data; boundary=other' "$required" 'a boundary that never comes'
typed 'multipart/mixed; boundary=AaB03x' "$required" 'another kind of multipart'
typed application/octet-stream "$required" 'another type'
typed '' "$required" 'no type'
api_body good 'Content-Type: Multipart/Form-Data; charset=x; BOUNDARY="AaB03x"'
is "$STATUS" 200 'names in any case, and a quoted boundary'
before=$((before + 1))

# broken EXPECTED NAME: the file body.
broken() {
	send body
	is "$(said)" "$1" "$2"
	raw_send whole body
	is "$(said)" "$1" "$2, in pieces"
}
incomplete='400 BAD_REQUEST Request body is incomplete'
line_end='400 BAD_REQUEST a boundary must be followed by the end of its line'
header='400 BAD_REQUEST a part'"'"'s header lines must be "Name: value"'
printf hello | part "$file" >body
broken "$incomplete" 'no end'
printf hello | part "$file" | head -c -2 >body
broken "$incomplete" 'no end and no newline'
{ printf hello | part "$file"; printf -- '--AaB03x'; } >body
broken "$incomplete" 'an end that is half there'
printf -- '--AaB03x\r\nContent-Dispo' >body
broken "$required" 'an end in the first header'
{ printf hello | part "$file"; printf -- '--AaB03xy\r\n\r\n'; } | form >body
broken "$line_end" 'a boundary that goes on'
printf -- '--AaB03x\nContent-Disposition: form-data; name=file; filename=a\n\nx\n--AaB03x--\n' >body
broken "$line_end" 'newlines without carriage returns'
printf -- '--AaB03x\r\nnonsense\r\n\r\nx\r\n' | form >body
broken "$header" 'a header that is none'
for byte in 000 012 015; do
	printf -- "--AaB03x\r\nContent-Disposition: form-data; name=file; filename=a\\${byte}b\r\n\r\nx\r\n" | form >body
	broken "$header" "a header with the byte $byte"
done
printf -- '--AaB03x\r\nContent-Disposition: form-data; name=file; filename="\001\033\177"\r\n\r\nx\r\n' | form >body
broken '400 BAD_REQUEST filename is required' 'a name of control characters'
{
	printf -- '--AaB03x\r\nX: '
	head -c 1000000 /dev/zero | tr '\0' x
	printf '\r\nContent-Disposition: form-data%s\r\n\r\nhello\r\n' "$file"
} | form >body
broken '400 BAD_REQUEST a part'"'"'s header lines must not have more than 16384 bytes' 'a header of 1 MB'
printf 'AaB03x' >body
broken "$required" 'anything else'
form </dev/null >body
broken "$required" 'an end and nothing before it'
is "$(stored)" "$before" 'nothing of all this was stored'
printf -- '--AaB03x\r\nContent-Disposition: form-data; name=file; filename="a\001b\177.txt"\r\n\r\nx\r\n' | form >body
raw_send whole body
is "$(said) $(json .data.filename "$BODY")" '200 ab.txt' 'control characters of a name are dropped'

inner=$(printf -- '--in\r\nContent-Disposition: file; filename=x\r\n\r\ny\r\n--in--\r\n')
printf '%s' "$inner" | part "$file" 'multipart/mixed; boundary=in' | form >body
send body
is "$STATUS $(data .mime_type)" '200 multipart/mixed; boundary=in' 'a nested body is a file'
{ printf 'preamble\r\n'; printf x | part "$file" text/plain; } | form >body
printf 'epilogue' >>body
send body
is "$STATUS $(data .size_bytes)" '200 1' 'preamble and epilogue are no data'
head -c 100000 /dev/urandom >random
printf '\r\n--AaB03\r\n--AaB03y\n\r\n\r\n--' >>random
{ printf x | part '; name=z'; part "$file" a/b <random; } | form >body
raw_send whole body
is "$(data .size_bytes)" "$(wc -c <random | tr -d ' ')" 'bytes of any kind come whole'
api GET "$(data .url)"
sed "1,/^\r\{0,1\}\$/d" "$RAW" >got
ok 'cmp -s random got' 'and go out again as they were'

# ---- other people's clients ----

before=$(stored)
raw_send cut good
is "$(said)" "$incomplete" 'a client that vanishes behind the last byte is not believed'
head -c 300000 /dev/urandom | part "$file" a/b >body
raw_send cut body
is "$(said)" "$incomplete" 'nor one that vanishes in the middle'
is "$(stored)" "$before" 'and nothing stays of either'
python3 - <<'PYTHON' >body
import email.message, email.policy, sys
outer = email.message.EmailMessage(policy=email.policy.HTTP)
outer.add_header("Content-Type", "multipart/form-data", boundary="AaB03x")
inner = email.message.EmailMessage(policy=email.policy.HTTP)
inner.set_content(b"from python", "image", "png", cte="binary")
del inner["Content-Disposition"], inner["MIME-Version"]
inner.add_header("Content-Disposition", "form-data", name="file", filename="é%s.png" % ("x" * 60))
outer.set_payload([inner])
sys.stdout.buffer.write(outer.as_bytes().split(b"\r\n\r\n", 1)[1])
PYTHON
send body
is "$(data '[.filename, .mime_type, .size_bytes] | tojson')" \
	"[\"é$(printf '%060d' 0 | tr 0 x).png\",\"image/png\",11]" "python's body, with folded headers and an escaped name"
done_testing
