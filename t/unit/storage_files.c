/* SPDX-License-Identifier: ISC */
/* Records of files, and their bytes in a directory and in memory. */
#include "base/memory.h"
#include "engines_fixture.h"
#include "storage/files.h"
#include "storage/sql/db/db.h"
#include "storage/storage.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define ID "0123456789abcdef0123456789abcdef"
#define ID2 "01ffffffffffffffffffffffffffffff"

static struct shared *shared;
static struct storage *storage;
static struct files *files;
static struct arena *arena;
static struct config config;
static struct error err;

/* What was put on the disk, in its order: 'f' for a file that has one name yet, 'F' for one with a
 * second name, 'd' for a directory. */
static char on_disk[16];

/* Takes the place of libc's. */
int fsync(int fd)
{
	struct stat st;
	size_t len = strlen(on_disk);
	if (fstat(fd, &st) == 0 && len + 1 < sizeof(on_disk))
		on_disk[len] = S_ISDIR(st.st_mode) ? 'd' : st.st_nlink > 1 ? 'F' : 'f';
	return (int)syscall(SYS_fsync, fd);
}

/* "<dir>/<name>" in one of two static buffers. */
static const char *below(const char *dir, const char *name)
{
	static char paths[2][512];
	static unsigned next;
	char *path = paths[next++ % 2];
	snprintf(path, sizeof(paths[0]), "%s/%s", dir, name);
	return path;
}

static struct files *open_files(const char *type)
{
	config.env.media_storage_type = (char *)type;
	struct files *f = files_open(&config, storage, shared, &err);
	if (!f)
		printf("# %s (%s)\n", err.detail, err.cause);
	CU_ASSERT_PTR_NOT_NULL_FATAL(f);
	return f;
}

/* How many regular files there are below a directory. */
static int count_files(const char *path)
{
	DIR *dir = opendir(path);
	const struct dirent *entry;
	int count = 0;
	while (dir && (entry = readdir(dir))) {
		char *below = xasprintf("%s/%s", path, entry->d_name);
		struct stat st;
		if (entry->d_name[0] != '.' && stat(below, &st) == 0)
			count += S_ISDIR(st.st_mode) ? count_files(below) : 1;
		free(below);
	}
	if (dir)
		closedir(dir);
	return count;
}

static struct blob_upload *begin(struct blobs *b, const char *id, const char *text)
{
	struct blob_upload *u = b->ops->begin(b, id, &err);
	CU_ASSERT_PTR_NOT_NULL_FATAL(u);
	CU_ASSERT_TRUE(b->ops->write(u, text, strlen(text), &err));
	return u;
}

static struct file_record record_of(const char *id, const char *backend, const char *key)
{
	return (struct file_record){.file_id = id,
	    .owner = "alice",
	    .filename = "a.txt",
	    .mime_type = "text/plain",
	    .size = 5,
	    .sha256 = "00",
	    .created_at = 1234567,
	    .backend = backend,
	    .key = key,
	    .text_state = TEXT_EXTRACTED,
	    .text = "some text"};
}

/* A file with the bytes hello. */
static void put(struct files *f, const char *id)
{
	struct blobs *b = files_store(f, NULL, &err);
	struct blob_upload *u = begin(b, id, "hello");
	char key[BLOB_KEY_SIZE];
	CU_ASSERT_TRUE(b->ops->publish(u, 1000000000LL * 1000000, key, &err));
	struct file_record r = record_of(id, b->ops->name, key);
	CU_ASSERT_TRUE(files_add(f, NULL, &r, &err));
	b->ops->end(u, true);
}

static void a_file_comes_back_as_it_was_stored(void)
{
	struct file_record r;
	struct stat st;
	memset(on_disk, 0, sizeof(on_disk));
	put(files, ID);
	/* the directory of uploads in its own, the bytes, and only then what names them */
	CU_ASSERT_STRING_EQUAL(on_disk, "dfdd");
	CU_ASSERT_TRUE_FATAL(files_get(files, NULL, arena, ID, &r, &err));
	CU_ASSERT_STRING_EQUAL(r.owner, "alice");
	CU_ASSERT_STRING_EQUAL(r.filename, "a.txt");
	CU_ASSERT_STRING_EQUAL(r.mime_type, "text/plain");
	CU_ASSERT_EQUAL(r.size, 5);
	CU_ASSERT_EQUAL(r.created_at, 1234567);
	CU_ASSERT_STRING_EQUAL(r.key, "01/" ID);
	CU_ASSERT_EQUAL(r.text_state, TEXT_EXTRACTED);
	char *text = files_text(files, NULL, ID, &err);
	CU_ASSERT_STRING_EQUAL(text, "some text");
	free(text);
	char *data = files_read(files, &r, 5, &err);
	CU_ASSERT_STRING_EQUAL_FATAL(data, "hello");
	free(data);
	CU_ASSERT_EQUAL(stat(below(config.env.media_storage_path, "01/" ID), &st), 0);
	CU_ASSERT_EQUAL(st.st_mtime, 1000000000);
	CU_ASSERT_EQUAL(st.st_nlink, 1);
	CU_ASSERT_EQUAL(count_files(config.env.media_storage_path), 1);
}

static void an_unknown_file_is_no_error(void)
{
	struct file_record r;
	CU_ASSERT_FALSE(files_get(files, NULL, arena, ID2, &r, &err));
	CU_ASSERT_PTR_NULL(files_text(files, NULL, ID2, &err));
	CU_ASSERT_FALSE(error_is_set(&err));
}

static void more_than_is_wanted_is_not_read(void)
{
	struct file_record r;
	CU_ASSERT_TRUE_FATAL(files_get(files, NULL, arena, ID, &r, &err));
	CU_ASSERT_PTR_NULL(files_read(files, &r, 4, &err));
	CU_ASSERT_EQUAL(err.kind, ERR_FILE_TOO_LARGE);
	error_release(&err);
}

static void bytes_that_are_gone_are_a_failure(void)
{
	struct file_record r = record_of(ID2, BLOBS_LOCAL, "01/" ID2);
	CU_ASSERT_PTR_NULL(files_read(files, &r, 5, &err));
	CU_ASSERT_EQUAL(err.kind, ERR_STORAGE);
	error_release(&err);
	r.backend = "elsewhere";
	CU_ASSERT_PTR_NULL(files_read(files, &r, 5, &err));
	CU_ASSERT_EQUAL(err.kind, ERR_STORAGE);
	error_release(&err);
}

static void no_other_path_is_opened(void)
{
	static const char *const keys[] = {"../state/files.db", "/etc/passwd", "", "01",
	    "incoming/" ID, "02/" ID, "01/../01/" ID, "01/0123456789ABCDEF0123456789abcdef"};
	struct blobs *b = files_store(files, NULL, &err);
	for (size_t i = 0; i < UNIT_COUNT(keys); i++) {
		CU_ASSERT_PTR_NULL(b->ops->open(b, keys[i], &err));
		CU_ASSERT_EQUAL(err.kind, ERR_STORAGE);
		error_release(&err);
	}
}

static void an_upload_that_ends_leaves_nothing(void)
{
	struct blobs *b = files_store(files, NULL, &err);
	struct blob_upload *u = begin(b, ID2, "half");
	char key[BLOB_KEY_SIZE], text[8] = "";
	CU_ASSERT_EQUAL(pread(u->fd, text, sizeof(text) - 1, 0), 4);
	CU_ASSERT_STRING_EQUAL(text, "half");
	b->ops->end(u, false);
	CU_ASSERT_EQUAL(count_files(config.env.media_storage_path), 1);
	u = begin(b, ID2, "whole");
	CU_ASSERT_TRUE(b->ops->publish(u, 0, key, &err));
	CU_ASSERT_EQUAL(count_files(config.env.media_storage_path), 3);
	b->ops->end(u, false);
	CU_ASSERT_EQUAL(count_files(config.env.media_storage_path), 1);
}

/* A process that dies after writing, and after publishing where that is asked for. */
static void die_with(const char *id, bool published)
{
	pid_t pid = fork();
	if (pid == 0) {
		struct blobs *b = files_store(files, NULL, &err);
		struct blob_upload *u = b->ops->begin(b, id, &err);
		char key[BLOB_KEY_SIZE];
		b->ops->write(u, "dead", 4, &err);
		if (published)
			b->ops->publish(u, 0, key, &err);
		_exit(0);
	}
	waitpid(pid, NULL, 0);
}

static void what_the_dead_left_is_swept(void)
{
	struct blobs *b = files_store(files, NULL, &err);
	struct blob_upload *alive = begin(b, "02ffffffffffffffffffffffffffffff", "alive");
	die_with("03ffffffffffffffffffffffffffffff", false);
	die_with("04ffffffffffffffffffffffffffffff", true);
	CU_ASSERT_EQUAL(count_files(config.env.media_storage_path), 5);
	files_close(open_files(BLOBS_LOCAL));
	CU_ASSERT_EQUAL(count_files(config.env.media_storage_path), 2);
	b->ops->end(alive, false);
	CU_ASSERT_EQUAL(count_files(config.env.media_storage_path), 1);
}

static void what_is_recorded_survives_the_sweep(void)
{
	/* as if its writer had died right before it took the first name away */
	CU_ASSERT_EQUAL(link(below(config.env.media_storage_path, "01/" ID),
			    below(config.env.media_storage_path, "incoming/" ID)),
	    0);
	files_close(open_files(BLOBS_LOCAL));
	CU_ASSERT_EQUAL(access(below(config.env.media_storage_path, "incoming/" ID), F_OK), -1);
	CU_ASSERT_EQUAL(access(below(config.env.media_storage_path, "01/" ID), F_OK), 0);
}

static void a_full_disk_is_told(void)
{
	struct blobs *b = files_store(files, NULL, &err);
	struct blob_upload *u = begin(b, ID2, "begin");
	struct rlimit before, small;
	getrlimit(RLIMIT_FSIZE, &before);
	small = before;
	small.rlim_cur = 6;
	setrlimit(RLIMIT_FSIZE, &small);
	CU_ASSERT_FALSE(b->ops->write(u, "too much", 8, &err));
	setrlimit(RLIMIT_FSIZE, &before);
	CU_ASSERT_EQUAL(err.kind, ERR_TRANSIENT_STORAGE);
	error_release(&err);
	b->ops->end(u, false);
	CU_ASSERT_EQUAL(count_files(config.env.media_storage_path), 1);
}

static void memory_is_bounded(void)
{
	_Atomic int64_t used = 0;
	struct blobs *b = blobs_memory(unit_path("bounded"), &used, 10);
	struct blob_upload *u = begin(b, ID, "12345"), *v = begin(b, ID2, "1234");
	CU_ASSERT_FALSE(b->ops->write(v, "xx", 2, &err));
	CU_ASSERT_EQUAL(err.kind, ERR_TRANSIENT_STORAGE);
	error_release(&err);
	CU_ASSERT_EQUAL(atomic_load(&used), 9);
	b->ops->end(v, false);
	CU_ASSERT_EQUAL(atomic_load(&used), 5);
	CU_ASSERT_TRUE(b->ops->write(u, "12345", 5, &err));
	b->ops->end(u, false);
	CU_ASSERT_EQUAL(atomic_load(&used), 0);
	b->ops->close(b);
}

/* A new life of the instance: the shared region is made anew when nobody has it. */
static void live_anew(void)
{
	files_close(files);
	storage_close(storage);
	shared_close(shared);
	shared = shared_open(config.state_dir, &err);
	storage = open_chosen(&config, shared, &err);
	CU_ASSERT_PTR_NOT_NULL_FATAL(storage);
}

static void memory_is_forgotten_and_the_rest_stays(void)
{
	struct file_record r;
	struct files *f = open_files(BLOBS_MEMORY);
	put(f, ID2);
	CU_ASSERT_EQUAL(count_files(below(config.state_dir, "memory")), 1);
	struct files *other = open_files(BLOBS_MEMORY);
	CU_ASSERT_TRUE(files_get(other, NULL, arena, ID2, &r, &err));
	files_close(other);
	files_close(f);
	live_anew();
	files = open_files(BLOBS_LOCAL);
	CU_ASSERT_EQUAL(count_files(below(config.state_dir, "memory")), 0);
	CU_ASSERT_FALSE(files_get(files, NULL, arena, ID2, &r, &err));
	CU_ASSERT_TRUE(files_get(files, NULL, arena, ID, &r, &err));
}

/* The operations of the engine, but for what a full disk does. */
static const struct file_record_ops *real_ops;
static struct file_record_ops full_ops;
static bool disk_is_full;

static bool prepare_on_full_disk(
    struct file_records *records, const struct storage_context *ctx, bool make, struct error *e)
{
	return disk_is_full ? error_set(e, ERR_TRANSIENT_STORAGE, "the disk is full")
			    : real_ops->prepare(records, ctx, make, e);
}

static struct file_records *open_on_full_disk(struct storage *st)
{
	struct file_records *records = real_ops->open(st);
	full_ops = *records->ops;
	full_ops.prepare = prepare_on_full_disk;
	records->ops = &full_ops;
	return records;
}

static void what_comes_after_a_full_disk_is_kept(void)
{
	const struct file_record_ops ops = {.open = open_on_full_disk};
	const struct storage_engine *real = storage->engine;
	struct file_record r;
	live_anew();
	struct storage_engine engine = *storage->engine;
	real_ops = engine.file_records;
	engine.file_records = &ops;
	storage->engine = &engine;
	disk_is_full = true;
	files = open_files(BLOBS_MEMORY);
	CU_ASSERT_PTR_NULL(files_store(files, NULL, &err));
	CU_ASSERT_EQUAL(err.kind, ERR_TRANSIENT_STORAGE);
	error_release(&err);
	disk_is_full = false;
	put(files, ID2);
	CU_ASSERT_TRUE_FATAL(files_get(files, NULL, arena, ID2, &r, &err));
	CU_ASSERT_TRUE(files_here(files, &r));
	CU_ASSERT_TRUE(files_remove(files, NULL, &r, &err));
	CU_ASSERT_FALSE(files_here(files, &r));
	storage->engine = real;
	files_close(files);
	files = open_files(BLOBS_LOCAL);
}

static void a_directory_is_checked_before_it_is_made(void)
{
	FILE *f = fopen(unit_path("plain"), "w");
	CU_ASSERT_FATAL(f && fclose(f) == 0);
	CU_ASSERT_TRUE(blobs_local_check(config.env.media_storage_path, &err));
	CU_ASSERT_TRUE(blobs_local_check(unit_path("a/b/c"), &err));
	CU_ASSERT_FALSE(blobs_local_check(unit_path("plain"), &err));
	CU_ASSERT_PTR_NOT_NULL(strstr(err.detail, "MEDIA_STORAGE_PATH: expected a directory"));
	error_release(&err);
	CU_ASSERT_FALSE(blobs_local_check(unit_path("plain/below"), &err));
	error_release(&err);
}

static void a_cloud_without_a_key_is_refused(void)
{
	config.env.media_storage_type = "cloud";
	config.env.media_cloud_provider = "aws";
	config.env.media_cloud_bucket = "b";
	config.env.media_cloud_region = "us-east-1";
	config.env.media_cloud_prefix = "";
	CU_ASSERT_PTR_NULL(files_open(&config, storage, shared, &err));
	CU_ASSERT_PTR_NOT_NULL(strstr(err.detail, "MEDIA_CLOUD_ACCESS_KEY_ID: expected"));
	error_release(&err);
}

static void a_text_is_found_again_by_its_bytes(void)
{
	char *text = files_same_text(files, NULL, "00", "text/plain");
	CU_ASSERT_STRING_EQUAL_FATAL(text, "some text");
	free(text);
	CU_ASSERT_PTR_NULL(files_same_text(files, NULL, "00", "text/csv"));
	CU_ASSERT_PTR_NULL(files_same_text(files, NULL, "01", "text/plain"));
}

/* Stored long ago; a use makes it young again, and what is old can go. */
static void what_nobody_used_is_found_and_removed(void)
{
	struct file_record record;
	const char *ids[2];
	struct untouched old = {2000000, 0, ids, 2};
	CU_ASSERT_TRUE(files_untouched(files, NULL, arena, &old, &err));
	CU_ASSERT_TRUE_FATAL(old.count > 0);
	CU_ASSERT_TRUE_FATAL(files_get(files, NULL, arena, ids[0], &record, &err));
	const char *id = record.file_id;
	files_touch(files, NULL, &record);
	CU_ASSERT_TRUE_FATAL(files_get(files, NULL, arena, id, &record, &err));
	CU_ASSERT_TRUE(record.touched_at > record.created_at);
	CU_ASSERT_TRUE(files_remove(files, NULL, &record, &err));
	CU_ASSERT_FALSE(files_get(files, NULL, arena, id, &record, &err));
	CU_ASSERT_TRUE(files_remove(files, NULL, &record, &err));
	CU_ASSERT_FALSE(error_is_set(&err));
}

static void every_statement_was_used(void)
{
	check_statements("files");
}

static const struct unit_test of_any_engine[] = {
    {"a file comes back as it was stored", a_file_comes_back_as_it_was_stored},
    {"an unknown file is no error", an_unknown_file_is_no_error},
    {"more than is wanted is not read", more_than_is_wanted_is_not_read},
    {"bytes that are gone are a failure", bytes_that_are_gone_are_a_failure},
    {"no other path is opened", no_other_path_is_opened},
    {"an upload that ends leaves nothing", an_upload_that_ends_leaves_nothing},
    {"what the dead left is swept, what the living write is not", what_the_dead_left_is_swept},
    {"what is recorded survives the sweep", what_is_recorded_survives_the_sweep},
    {"a full disk is told, and leaves nothing", a_full_disk_is_told},
    {"memory is bounded", memory_is_bounded},
    {"memory is forgotten at a restart, and the rest stays",
	memory_is_forgotten_and_the_rest_stays},
    {"what comes after a full disk is kept", what_comes_after_a_full_disk_is_kept},
    {"a directory is checked before it is made", a_directory_is_checked_before_it_is_made},
    {"a text is found again by its bytes", a_text_is_found_again_by_its_bytes},
    {"a cloud without a key is refused", a_cloud_without_a_key_is_refused},
    {"what nobody used is found, and removed", what_nobody_used_is_found_and_removed},
};

static const struct unit_test of_sqlite[] = {
    {"every statement was used", every_statement_was_used},
};

/* What follows is of another instance, with nothing in it. */
static void in_memory(void)
{
	files_close(files);
	storage_close(storage);
	shared_close(shared);
	free(config.state_dir);
	free(config.env.media_storage_path);
	config.state_dir = xstrdup(unit_path("memory"));
	config.env.media_storage_path = xstrdup(unit_path("memory-uploads"));
	mkdir(config.state_dir, 0700);
	chosen_engine = &memory_engine;
	shared = shared_open(config.state_dir, &err);
	CU_ASSERT_PTR_NOT_NULL_FATAL(shared);
	storage = open_chosen(&config, shared, &err);
	CU_ASSERT_PTR_NOT_NULL_FATAL(storage);
	files = open_files(BLOBS_LOCAL);
}

int main(void)
{
	config.state_dir = xstrdup(unit_path("state"));
	config.env.media_storage_path = xstrdup(unit_path("uploads"));
	signal(SIGXFSZ, SIG_IGN);
	mkdir(config.state_dir, 0700);
	arena = arena_new();
	shared = shared_open(config.state_dir, &err);
	if (!shared) {
		printf("Bail out! %s\n", err.detail);
		return 1;
	}
	config.env.media_storage_type = BLOBS_LOCAL;
	storage = open_chosen(&config, shared, &err);
	if (!storage) {
		printf("Bail out! %s\n", err.detail);
		return 1;
	}
	files = files_open(&config, storage, shared, &err);
	if (!files) {
		printf("Bail out! %s (%s)\n", err.detail, err.cause);
		return 1;
	}
	int rc = storage_main("storage_files", of_any_engine, UNIT_COUNT(of_any_engine), of_sqlite,
	    UNIT_COUNT(of_sqlite), in_memory);
	files_close(files);
	storage_close(storage);
	shared_close(shared);
	arena_free(arena);
	free(config.state_dir);
	free(config.env.media_storage_path);
	return rc;
}
