#!/bin/sh
# SPDX-License-Identifier: ISC
# The text of documents of every type; and malicious documents, which are stored without one.
set -u
. "${top_srcdir:-$(dirname "$0")/../..}/t/lib.sh"
. "$TOP_SRCDIR/t/api/files.sh"

for tool in pdftotext catdoc; do
	command -v $tool >/dev/null || tap_skip_all "$tool is not installed"
done

python3 "$TOP_SRCDIR/t/api/documents.py" || tap_bail 'the documents could not be made'

OFFICE=application/vnd.openxmlformats-officedocument
DOCX=$OFFICE.wordprocessingml.document
PPTX=$OFFICE.presentationml.presentation
XLSX=$OFFICE.spreadsheetml.sheet
ODT=application/vnd.oasis.opendocument.text

# offer FILE TYPE: uploads it; sets TEXT to the text as JSON, null where there is none.
offer() {
	part "; name=\"file\"; filename=\"$1\"" "$2" <"$1" | form >form
	send form
	TEXT=$(data '.extracted_text | tojson')
	FILE=$(data .file_id)
}

# gives FILE TYPE JSON: what its text is, as a whole.
gives() {
	offer "$1" "$2"
	is "$STATUS $TEXT" "200 $3" "$1 as $2"
}

# refused FILE TYPE WORDS: it is stored without a text, and the log has one line that says why.
refused() {
	before=$(wc -l <"$SERVE_ERR")
	offer "$1" "$2"
	is "$STATUS $TEXT" '200 null' "$1 has no text"
	like "$(tail -n +$((before + 1)) "$SERVE_ERR" | grep WARNING)" "no text was extracted from a file of type $2: .*$3" \
		"the log says why"
}

export MEDIA_MAX_SIZE_MB=60
api_start

# ---- documents of people ----

gives letter.docx $DOCX '"Dear World,\tx\nZwei & 2 – ©\ncell one\ncell two\na\nb\nonce\nnote\n"'
gives slides.pptx $PPTX '"Slide 1\nSlide 2\nSlide 10\n"'
gives table.xlsx $XLSX '"shared\t\tinline\n\t42\t7\nend\n"'
gives letter.odt $ODT '"Head\na   b c\td\ne\n"'
gives page.html text/html '"Title\nHi you!\na & bé c\n1\n2\nx\ty\nkept  as\n  it is\n"'
gives russian.html text/html '"Привет\n"'
gives japanese.html text/html '"日本\n"'
gives hebrew.html text/html '"שלום\n"'
gives broken.html text/html '"של�ום .\n"'
gives vietnamese.html text/html '"Việt Nam\n"'
gives feed.xml text/xml '"one\ntwo and three\n<four>\n"'
gives feed.xml application/xml '"one\ntwo and three\n<four>\n"'
gives russian.xml text/xml '"При\n"'
gives wide.xml text/xml '"wide é\n"'
gives plain.txt text/plain '"grüße\r\n"'
gives windows.txt text/plain '"grüße €"'
gives utf16.txt text/plain '"grüße"'
gives half-pairs.txt text/plain '"a�bc�d�"'
gives mark.csv text/csv '"a;ü\n"'
gives list.json application/json '"{\"a\": [1, 2]}\n"'
gives readme.md text/markdown '"# Head\n\n* point\n"'
gives letter.rtf application/rtf '"Hello World\né café\n"'
gives letter.rtf application/msword '"Hello World\né café\n"'
offer one.pdf application/pdf
like "$TEXT" 'Page 1 of the book' 'a PDF'
offer book.pdf application/pdf
like "$TEXT" 'Page 1 of .*Page 300 of the book' 'a PDF of 300 pages'
gives web.docx $DOCX '"from the web\n"'
gives empty.docx $DOCX '""'
offer long.txt text/plain
is "$(data '.extracted_text | length')" 1000000 'a long text is cut'
offer long.docx $DOCX
is "$(data '.extracted_text | length')" 1000000 'in a package, too'
api GET "/v1/files/$FILE"
is "$STATUS $(header Content-Length)" "200 $(wc -c <long.docx)" 'the file is whole'

# ---- documents that mean harm ----

refused bomb.docx $DOCX 'unpacks to more than'
refused beside.docx $DOCX 'unpacks to more than'
refused liar.docx $DOCX '(damaged|unpacks)'
refused ratio.docx $DOCX '100 times its size'
refused many.docx $DOCX '10000 entries'
refused cut.docx $DOCX 'no ZIP archive, or a damaged one'
refused locked.docx $DOCX 'encrypted'
refused other.docx $DOCX 'no such document'
refused page.html $DOCX 'no ZIP archive'
refused broken.docx $DOCX 'not well-formed'
refused entity.docx $DOCX 'declares entities'
refused laughs.xml text/xml 'declares entities'
refused passwd.xml text/xml 'declares entities'
refused parameter.xml application/xml 'declares entities'
refused deep.xml text/xml 'nested too deeply'
refused page.html application/pdf 'no PDF'
refused locked.pdf application/pdf 'encrypted'
refused thick.pdf application/pdf '10000 pages'
refused cut.pdf application/pdf 'no PDF'
refused page.html application/msword 'neither RTF nor a Word'
refused letter.docx application/rtf 'neither RTF nor a Word'
offer deep.html text/html
is "$STATUS" 200 'a page of 200000 nested elements'
offer remote.xml text/xml
is "$STATUS $TEXT" '200 "text\n"' 'a document type elsewhere is not fetched'
is "$("$TOP_BUILDDIR/agentgraph-extract" "$XLSX" <repeats.xlsx 2>&1 | wc -c | tr -d ' ')" 3999997 \
	'a workbook that says one long string in each of 240 sheets fits into memory'
offer noise.docx $DOCX
is "$STATUS $TEXT" '200 null' 'noise'
unlike "$BODY" 'root:' 'nothing of this machine is in a text'
unlike "$(cat "$SERVE_ERR")" 'signal' 'nothing crashed'
unlike "$(cat "$SERVE_ERR")" ' ERROR ' 'and nothing else went wrong'

# ---- markup that is much work ----

# Bytes that people would send are read within a second; these took more than 30, as long as they were given, when they
# were quadratic.  In processor time, which other programs on the machine do not lengthen.
python3 - <<'PYTHON'
n = 6 << 20


def write(name, *pieces):
    open(name, "w").write("".join(pieces))


numbers = range(n // 11)
write("attributes.html", "<a ", " ".join("a%d=1" % i for i in numbers), ">x")
write("ends.html", "<b>" * (n // 6), "</i>" * (n // 8))
write("nested.html", "<x>" * (n // 3))
write("open.html", '<a b="' * (n // 6))
write("entities.html", "&lt" * (n // 3))
write("attributes.xml", "<r ", " ".join('a%d="1"' % i for i in numbers), "/>")
write("namespaces.xml", "<r ", " ".join('xmlns:a%d="u%d"' % (i, i) for i in range(n // 20)), "/>")
write("defaults.xml", "<!DOCTYPE r [", "".join('<!ATTLIST x a%d CDATA "x">' % i for i in range(4000)), "]><r>", "<x/>" * (n // 4), "</r>")
write("open.xml", "<r>", "<!--", "-a" * (n // 2))
write("page-large.html", "<html><body>", '<p class="a">some words of a page</p>\n' * (n // 36))
PYTHON

# spent FILE TYPE: seconds of processor time that the extractor took, rounded up.
spent() {
	python3 -c 'import math, os, subprocess, sys
child = subprocess.Popen(sys.argv[1:3], stdin=open(sys.argv[3]), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
usage = os.wait4(child.pid, 0)[2]
print(math.ceil(usage.ru_utime + usage.ru_stime))' "$TOP_BUILDDIR/agentgraph-extract" "$2" "$1"
}
for file in attributes ends nested open entities; do
	ok "[ $(spent $file.html text/html) -le 5 ]" "$file.html ends soon"
done
for file in attributes namespaces defaults open; do
	ok "[ $(spent $file.xml text/xml) -le 5 ]" "$file.xml ends soon"
done
offer attributes.html text/html
is "$STATUS $TEXT" '200 null' 'what takes too long is stored without its text'
offer page-large.html text/html
like "$TEXT" '^"some words of a page\\n' 'a large page has its text'
serve_stop
done_testing
