/* SPDX-License-Identifier: ISC */
/*
 * agentgraph-extract TYPE: the text of the document on standard input, in UTF-8 on standard output;
 * TYPE is its media type, in lower case and without parameters.
 *
 * Exits with status 0 when there is a text, be it empty; else with 1 and a line on standard error.
 * What it reads is hostile until proved otherwise, so it reads in a cage.
 */
#include "base/memory.h"
#include "base/options.h"
#include "base/utf8.h"
#include "extract/cage.h"
#include "extract/charset.h"
#include "extract/document.h"

#include <libxml/parser.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define PROGRAM "agentgraph-extract"
#define COPY_SIZE 65536

/* Bytes of a text beyond these cannot matter: its characters have four bytes at most. */
#define PLAIN_SIZE ((size_t)PROSE_CHARACTERS * 4)

/* For so many bytes of markup there is one more second of processor time. */
#define MARKUP_EACH_SECOND ((size_t)8 << 20)

enum form {
	PACKAGE, /* an archive */
	PLAIN,   /* a text that does not name its character set */
	MARKUP,  /* a text that may name it */
	PDF,
	WORD
};

static const struct kind {
	const char *type;
	enum form form;
	document_reader *read;
} kinds[] = {
    {"application/pdf", PDF, NULL},
    {"application/msword", WORD, NULL},
    {"application/rtf", WORD, NULL},
    {"application/vnd.openxmlformats-officedocument.wordprocessingml.document", PACKAGE,
	document_docx},
    {"application/vnd.openxmlformats-officedocument.presentationml.presentation", PACKAGE,
	document_pptx},
    {"application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", PACKAGE, document_xlsx},
    {"application/vnd.oasis.opendocument.text", PACKAGE, document_odt},
    {"text/html", MARKUP, document_html},
    {"text/xml", MARKUP, document_xml},
    {"application/xml", MARKUP, document_xml},
    {"text/markdown", PLAIN, document_plain},
    {"text/csv", PLAIN, document_plain},
    {"text/plain", PLAIN, document_plain},
    {"application/json", PLAIN, document_plain},
};

static char usage[] = "usage: " PROGRAM " TYPE <DOCUMENT\n";
static char version_text[] = PROGRAM " " AGENTGRAPH_VERSION "\n";

static int extract_main_fail(const char *why)
{
	fprintf(stderr, PROGRAM ": %s\n", why);
	return 1;
}

/* ---- what comes in ---- */

static const char *extract_main_map_input(size_t *len)
{
	struct stat st;
	if (fstat(STDIN_FILENO, &st) != 0)
		return NULL;
	if (!S_ISREG(st.st_mode)) {
		/* input that cannot be mapped is copied to where it can be */
		static char piece[COPY_SIZE];
		int copy = memfd_create("document", MFD_CLOEXEC);
		size_t total = 0;
		for (ssize_t n; (n = read(STDIN_FILENO, piece, sizeof(piece))) > 0;
		     total += (size_t)n)
			if (total > DOCUMENT_UNPACKED || write(copy, piece, (size_t)n) != n)
				return NULL;
		if (copy < 0 || dup2(copy, STDIN_FILENO) != STDIN_FILENO ||
		    fstat(STDIN_FILENO, &st) != 0)
			return NULL;
	}
	*len = (size_t)st.st_size;
	if (*len == 0)
		return "";
	void *data = mmap(NULL, *len, PROT_READ, MAP_PRIVATE, STDIN_FILENO, 0);
	return data == MAP_FAILED ? NULL : data;
}

/* Reads the document in this process, in the cage.  Nothing is freed, because the process ends
 * then. */
static int extract_main_read_here(const struct kind *kind, const char *data, size_t len)
{
	struct prose out = {0};
	struct buf text = {0};
	if (kind->form == PLAIN && len > PLAIN_SIZE)
		len = utf8_cut(data, PLAIN_SIZE);
	if (kind->form == MARKUP && len > DOCUMENT_UNPACKED)
		return extract_main_fail("the document has more than 50 MiB");
	struct charset charset = {CHARSET_NONE, 1};
	if (kind->form != PACKAGE)
		charset = charset_open(data, len, kind->form == MARKUP);
	/*
	 * Tags with thousands of attributes, declared defaults and wrong ends are quadratic work in
	 * libxml2, deep inside.  What people write takes less than a tenth of this time: whatever
	 * takes more is cut off, in time that grows with the size of the markup and no faster.
	 */
	size_t markup = kind->form == PACKAGE ? DOCUMENT_UNPACKED : len;
	const rlim_t seconds = 2 + markup / MARKUP_EACH_SECOND;
	const struct rlimit limit = {seconds, seconds};
	if ((kind->form != PLAIN && setrlimit(RLIMIT_CPU, &limit) != 0) || !cage_close())
		return extract_main_fail("the kernel offers no cage (seccomp is needed)");
	if (kind->form != PACKAGE) {
		charset_convert(&charset, data, len, &text);
		data = buf_str(&text);
		len = text.len;
	}
	const char *why = kind->read(&out, data, len);
	if (why)
		return extract_main_fail(why);
	for (size_t at = 0; at < out.out.len;) {
		ssize_t n = write(STDOUT_FILENO, out.out.data + at, out.out.len - at);
		if (n <= 0)
			return 1;
		at += (size_t)n;
	}
	return 0;
}

static int extract_main_run(const char *type)
{
	const struct kind *kind = NULL;
	size_t len;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (strcmp(kinds[i].type, type) == 0)
			kind = &kinds[i];
	if (!kind)
		return extract_main_fail("no text can be extracted from that type");
	const char *data = extract_main_map_input(&len);
	if (!data)
		return extract_main_fail("standard input cannot be read, or is too large");
	if (kind->form == PDF)
		return extract_main_fail(helper_pdf());
	if (kind->form == WORD)
		return extract_main_fail(helper_word(data, len));
	return extract_main_read_here(kind, data, len);
}

static const char *extract_main_parse_options(int argc, char **argv)
{
	const struct option_spec specs[] = {
	    {"--help", OPTION_ANSWER, usage, 0, 0},
	    {"--version", OPTION_ANSWER, version_text, 0, 0},
	    OPTION_END,
	};
	struct error err = {0};
	int operands = options_parse(specs, argc, argv, &err);
	if (operands == 1)
		return argv[0];
	if (operands < 0)
		extract_main_fail(err.detail);
	fputs(usage, stderr);
	exit(EXIT_USAGE);
}

int main(int argc, char **argv)
{
	const char *type = extract_main_parse_options(argc, argv);
	/* nothing is left that would be of use to somebody who takes this process over */
	close_range(STDERR_FILENO + 1, ~0U, 0);
	clearenv();
	prctl(PR_SET_DUMPABLE, 0);
	memory_init();
	xmlInitParser();
	int status = extract_main_run(type);
	fflush(NULL);
	_exit(status); /* exit handlers would ask for more than the cage allows */
}
