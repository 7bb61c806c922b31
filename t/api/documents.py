# SPDX-License-Identifier: ISC
"""Makes the documents of 6080-documents.t in the current directory."""

import random
import struct
import zipfile
import zlib

W = 'xmlns:w="w" xmlns:mc="mc" xmlns:m="m"'


def write(name, data):
    with open(name, "wb") as f:
        f.write(data if isinstance(data, bytes) else data.encode())


def package(name, *parts, method=zipfile.ZIP_DEFLATED):
    with zipfile.ZipFile(name, "w", method) as z:
        for part, text in parts:
            z.writestr(part, text)


def docx(name, body, *parts, **how):
    package(name, ("[Content_Types].xml", "<Types/>"),
            ("word/document.xml", f'<?xml version="1.0" encoding="UTF-8"?><w:document {W}><w:body>{body}</w:body></w:document>'),
            *parts, **how)


def run(text):
    return f'<w:r><w:t xml:space="preserve">{text}</w:t></w:r>'


def pdf(name, pages, trailer=""):
    kids = " ".join(f"{4 + 2 * i} 0 R" for i in range(pages))
    objects = ["<< /Type /Catalog /Pages 2 0 R >>", f"<< /Type /Pages /Kids [{kids}] /Count {pages} >>",
               "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"]
    for i in range(pages):
        stream = f"BT /F1 12 Tf 72 720 Td (Page {i + 1} of the book) Tj ET"
        objects.append("<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] "
                       f"/Contents {5 + 2 * i} 0 R /Resources << /Font << /F1 3 0 R >> >> >>")
        objects.append(f"<< /Length {len(stream)} >>\nstream\n{stream}\nendstream")
    out, places = bytearray(b"%PDF-1.4\n"), []
    for number, text in enumerate(objects, 1):
        places.append(len(out))
        out += f"{number} 0 obj\n{text}\nendobj\n".encode()
    start = len(out)
    out += f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n".encode()
    out += b"".join(b"%010d 00000 n \n" % place for place in places)
    out += f"trailer\n<< /Size {len(objects) + 1} /Root 1 0 R {trailer}>>\nstartxref\n{start}\n%%EOF\n".encode()
    write(name, bytes(out))


# ---- of people ----

docx("letter.docx",
     '<w:p><w:pPr><w:tabs><w:tab w:val="left"/></w:tabs></w:pPr>' + run("Dear ") + run("World,")
     + "<w:r><w:tab/><w:t>x</w:t><w:instrText>PAGE</w:instrText><w:delText>gone</w:delText></w:r></w:p>"
     + f"<w:p>{run('Zwei &amp; 2 – ©')}</w:p>"
     + f"<w:tbl><w:tr><w:tc><w:p>{run('cell one')}</w:p></w:tc><w:tc><w:p>{run('cell two')}</w:p></w:tc></w:tr></w:tbl>"
     + "<w:p><w:r><w:t>a</w:t><w:br/><w:t>b</w:t></w:r></w:p>"
     + f"<w:p><mc:AlternateContent><mc:Choice>{run('once')}</mc:Choice><mc:Fallback>{run('twice')}</mc:Fallback>"
     + "</mc:AlternateContent></w:p>",
     ("word/footnotes.xml", f"<w:footnotes {W}><w:footnote><w:p>{run('note')}</w:p></w:footnote></w:footnotes>"),
     ("word/styles.xml", f"<w:styles {W}><w:t>style</w:t></w:styles>"))
docx("empty.docx", "")
package("slides.pptx", *((f"ppt/slides/slide{n}.xml",
                          f'<p:sld xmlns:p="p" xmlns:a="a"><a:p><a:r><a:t>Slide {n}</a:t></a:r></a:p></p:sld>')
                         for n in (10, 2, 1)),
        ("ppt/slides/_rels/slide1.xml.rels", "<x/>"))
package("table.xlsx",
        ("xl/worksheets/sheet2.xml", '<worksheet><sheetData><row><c t="str"><v>end</v></c></row></sheetData></worksheet>'),
        ("xl/worksheets/sheet1.xml",
         '<worksheet xmlns="m"><sheetData><row r="1"><c r="A1" t="s"><v>0</v></c>'
         '<c r="C1" t="inlineStr"><is><t>inline</t></is></c><c r="D1" t="s"><v>99</v></c></row>'
         '<row r="2"><c r="B2"><f>6*7</f><v>42</v></c><c><v>7</v></c></row></sheetData></worksheet>'),
        ("xl/sharedStrings.xml",
         '<sst xmlns="m"><si><r><t>sha</t></r><r><t>red</t></r><rPh><t>no</t></rPh></si></sst>'))
package("letter.odt", ("mimetype", "application/vnd.oasis.opendocument.text"),
        ("content.xml", '<o:document-content xmlns:o="o" xmlns:t="t"><o:body><o:text><t:tracked-changes><t:p>gone</t:p>'
         '</t:tracked-changes><t:h>Head</t:h><t:p>a<t:s t:c="3"/>b <t:span>c</t:span><t:tab/>d<t:line-break/>e</t:p>'
         "</o:text></o:body></o:document-content>"))
write("page.html", "<!DOCTYPE html><title>Title</title><style>p {}</style><p>Hi <b>you</b>!</p><script>var x = '<p>';</script>"
      "<p>a &amp; b&eacute; c<ul><li>1<li>2</ul><table><tr><td>x<td>y</table><pre>kept  as\n  it is</pre><!-- no -->")
write("russian.html", "<meta charset=windows-1251><p>Привет".encode("cp1251"))
write("japanese.html", '<meta http-equiv="Content-Type" content="text/html; charset=Shift_JIS"><p>日本'.encode("shift_jis"))
# letters that a converter holds back for a mark: at the end, and before a byte that is none
write("hebrew.html", b"<meta charset=windows-1255><p>\xf9\xec\xe5\xed")
write("broken.html", b"<meta charset=windows-1255><p>\xf9\xec\xff\xe5\xed .")
write("vietnamese.html", b"<meta charset=windows-1258><p>Vi\xea\xf2t Nam")
write("feed.xml", '<?xml version="1.0"?><a x="no"><b>one</b>\n <b>two <i>and</i> three</b><!-- no --><c><![CDATA[<four>]]></c></a>')
write("russian.xml", '<?xml version="1.0" encoding="windows-1251"?><a>При</a>'.encode("cp1251"))
write("wide.xml", '<?xml version="1.0" encoding="UTF-16"?><a>wide é</a>'.encode("utf-16"))
write("plain.txt", "grüße\r\n")
write("windows.txt", "grüße €".encode("cp1252"))
write("utf16.txt", "grüße".encode("utf-16"))
write("half-pairs.txt", "\ufeffa\ud83dbc\ude00d\ud83d".encode("utf-16-be", "surrogatepass"))
write("mark.csv", "\ufeffa;ü\n")
write("list.json", '{"a": [1, 2]}\n')
write("readme.md", "# Head\n\n* point\n")
write("letter.rtf", rb"{\rtf1\ansi Hello \b World\b0\par \u233? caf\'e9}")
write("long.txt", "é" * 1500000)
random.seed(1)
words = " ".join(f"{random.getrandbits(40):x}" for _ in range(150000))
docx("long.docx", f"<w:p>{run(words)}</w:p>")
pdf("one.pdf", 1)
pdf("book.pdf", 300)

# ---- of enemies ----

docx("bomb.docx", " " * 60_000_000)
docx("beside.docx", "", ("media/x", b"\0" * 60_000_000))
docx("ratio.docx", f"<w:p>{run('a' * 1_000_000)}</w:p>")
docx("many.docx", "", *((f"x{i}", "") for i in range(10001)))
docx("other.docx", "")
package("other.docx", ("somewhere/document.xml", "<x/>"))
package("web.docx", ("word/document2.xml", f'<w:document xmlns:w="urn:w"><w:body><w:p>{run("from the web")}</w:p></w:body></w:document>'))
docx("broken.docx", "<w:p>")
package("entity.docx", ("word/document.xml",
                        f'<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]><w:document {W}><w:p>{run("&e;")}</w:p></w:document>'))
whole = open("letter.docx", "rb").read()
write("cut.docx", whole[: len(whole) // 2])
noise = bytearray(whole)
for at in range(0, len(noise), 37):
    noise[at] = random.getrandbits(8)
write("noise.docx", bytes(noise))
package("repeats.xlsx", ("xl/sharedStrings.xml", f"<sst><si><t>{chr(0x1F600) * 999000}</t></si></sst>"),
        *((f"xl/worksheets/sheet{i}.xml", '<worksheet><sheetData><row><c t="s"><v>0</v></c></row></sheetData></worksheet>')
          for i in range(1, 241)), ("pad", random.randbytes(60000)))

# One that says it is small: 60 MB in an entry of 100 bytes.
packer = zlib.compressobj(9, zlib.DEFLATED, -15)
text = f'<w:document {W}>'.encode() + b" " * 60_000_000
packed = packer.compress(text) + packer.flush()
name = b"word/document.xml"
fields = struct.pack("<HHHHHIII", 20, 0, 8, 0, 0, zlib.crc32(text), len(packed), 100)
local = b"PK\3\4" + fields + struct.pack("<HH", len(name), 0) + name + packed
central = b"PK\1\2" + struct.pack("<H", 20) + fields + struct.pack("<HHHHHII", len(name), 0, 0, 0, 0, 0, 0) + name
write("liar.docx", local + central + b"PK\5\6" + struct.pack("<HHHHIIH", 0, 0, 1, 1, len(central), len(local), 0))

# One that says it is encrypted.
locked = bytearray(whole)
for mark, offset in ((b"PK\3\4", 6), (b"PK\1\2", 8)):
    at = locked.find(mark)
    while at >= 0:
        locked[at + offset] |= 1
        at = locked.find(mark, at + 4)
write("locked.docx", bytes(locked))

entities = "".join(f'<!ENTITY a{i} "{f"&a{i - 1};" * 10}">' for i in range(1, 10))
write("laughs.xml", f'<!DOCTYPE x [<!ENTITY a0 "ha">{entities}]><x>&a9;</x>')
write("passwd.xml", '<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]><x>&e;</x>')
write("parameter.xml", '<!DOCTYPE x [<!ENTITY % p SYSTEM "http://127.0.0.1:9/x.dtd"> %p;]><x>text</x>')
write("remote.xml", '<!DOCTYPE x SYSTEM "http://127.0.0.1:9/x.dtd"><x>text</x>')
write("deep.xml", "<x>" * 200_000 + "text" + "</x>" * 200_000)
write("deep.html", "<div>" * 200_000 + "text")
pdf("thick.pdf", 10000)
write("cut.pdf", open("one.pdf", "rb").read()[:200])
pdf("locked.pdf", 1, "/ID [<00112233445566778899aabbccddeeff> <00112233445566778899aabbccddeeff>] /Encrypt << /Filter /Standard "
    f"/V 1 /R 2 /P -4 /O <{'41' * 32}> /U <{'42' * 32}> >> ")
