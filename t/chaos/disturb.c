/* SPDX-License-Identifier: ISC */
/*
 * A disturbed machine, for LD_PRELOAD: the wall clock is off, and the disk is slow, as the file
 * says that CHAOS_CONTROL names.  The file is mapped, so what is written there counts at once, in
 * all processes.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

struct control {
	int64_t clock_seconds; /* added to CLOCK_REALTIME */
	int64_t sync_us;       /* how much longer an fsync takes */
	int64_t write_us;      /* how much longer a write to a place in a file takes */
};

static const struct control quiet;
static const volatile struct control *control = &quiet;

static int (*real_clock)(clockid_t, struct timespec *);
static int (*real_fsync)(int), (*real_fdatasync)(int);
static ssize_t (*real_pwrite)(int, const void *, size_t, off64_t);

/* Also called by the functions below: the constructor of another library may call them before this
 * one's has run. */
static void find_real(void)
{
	if (real_clock)
		return;
	real_fsync = (int (*)(int))dlsym(RTLD_NEXT, "fsync");
	real_fdatasync = (int (*)(int))dlsym(RTLD_NEXT, "fdatasync");
	real_pwrite = (ssize_t(*)(int, const void *, size_t, off64_t))dlsym(RTLD_NEXT, "pwrite64");
	real_clock = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
}

__attribute__((constructor)) static void attach(void)
{
	const char *path = getenv("CHAOS_CONTROL");
	int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	void *p = fd >= 0 ? mmap(NULL, sizeof(*control), PROT_READ, MAP_SHARED, fd, 0) : MAP_FAILED;
	find_real();
	if (fd >= 0)
		close(fd);
	if (p != MAP_FAILED)
		control = p;
}

/* Not usleep, which a test of cancelled threads would have to think about. */
static void wait_us(int64_t us)
{
	struct timespec left = {us / 1000000, us % 1000000 * 1000};
	if (us > 0)
		nanosleep(&left, NULL);
}

int clock_gettime(clockid_t id, struct timespec *out)
{
	find_real();
	int status = real_clock(id, out);
	if (status == 0 && (id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE))
		out->tv_sec += control->clock_seconds;
	return status;
}

int gettimeofday(struct timeval *restrict out, void *restrict zone)
{
	struct timespec now;
	(void)zone;
	clock_gettime(CLOCK_REALTIME, &now);
	*out = (struct timeval){now.tv_sec, now.tv_nsec / 1000};
	return 0;
}

time_t time(time_t *out)
{
	struct timespec now;
	clock_gettime(CLOCK_REALTIME, &now);
	if (out)
		*out = now.tv_sec;
	return now.tv_sec;
}

int fsync(int fd)
{
	find_real();
	wait_us(control->sync_us);
	return real_fsync(fd);
}

int fdatasync(int fd)
{
	find_real();
	wait_us(control->sync_us);
	return real_fdatasync(fd);
}

ssize_t pwrite64(int fd, const void *data, size_t size, off64_t at)
{
	find_real();
	wait_us(control->write_us);
	return real_pwrite(fd, data, size, at);
}

ssize_t pwrite(int fd, const void *data, size_t size, off_t at)
{
	return pwrite64(fd, data, size, at);
}
