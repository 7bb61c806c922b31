/* SPDX-License-Identifier: ISC */
/* Making and writing files on their way into a store, and what failures mean. */
#include "storage/blob/blob_file.h"

#include "storage/blob/blob.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define ATTEMPTS 5

bool blob_id_valid(const char *text)
{
	return strspn(text, "0123456789abcdef") == BLOB_ID_DIGITS && text[BLOB_ID_DIGITS] == '\0';
}

/* Between open and lock, a sweeper may take the file for a dead one's. */
int blob_file_create(int root, const char *name, mode_t mode)
{
	for (int i = 0; i < ATTEMPTS; i++) {
		int fd = openat(root, name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode);
		struct stat st;
		if (fd < 0)
			return -1;
		if (flock(fd, LOCK_EX) == 0 && fstat(fd, &st) == 0 && st.st_nlink > 0)
			return fd;
		close(fd);
	}
	errno = EAGAIN;
	return -1;
}

bool blob_file_write(int fd, const char *data, size_t len)
{
	while (len > 0) {
		ssize_t n = write(fd, data, len);
		if (n < 0 && errno != EINTR)
			return false;
		data += n > 0 ? n : 0;
		len -= n > 0 ? (size_t)n : 0;
	}
	return true;
}

bool blob_file_failed(const char *what, const char *directory, const char *name, struct error *err)
{
	int code = errno;
	bool full =
	    code == ENOSPC || code == EDQUOT || code == EFBIG || code == EMFILE || code == ENFILE;
	error_set(err, full ? ERR_TRANSIENT_STORAGE : ERR_STORAGE, NULL);
	return error_cause(err, "cannot %s %s/%s: %s", what, directory, name, strerror(code));
}
