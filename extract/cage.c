/* SPDX-License-Identifier: ISC */
/* The limits, the list of system calls, and the files that programs may still load. */
#include "extract/cage.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <linux/landlock.h>
#include <seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* ---- resources ---- */

/* No file can be opened for writing, but standard output may be a file. */
#define OUTPUT_LIMIT (64 << 20)

/* The shadow memory of a sanitizer takes more address space than any limit. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define MEMORY_LIMIT RLIM_INFINITY
#else
#define MEMORY_LIMIT CAGE_MEMORY
#endif

static bool cage_limit_resources(void)
{
	static const struct {
		int resource;
		rlim_t max;
	} limits[] = {
	    {RLIMIT_CPU, CAGE_CPU_SECONDS},
	    {RLIMIT_AS, MEMORY_LIMIT},
	    {RLIMIT_FSIZE, OUTPUT_LIMIT},
	    {RLIMIT_NOFILE, 16},
	    {RLIMIT_NPROC, 0},
	    {RLIMIT_CORE, 0},
	    {RLIMIT_MEMLOCK, 0},
	    {RLIMIT_MSGQUEUE, 0},
	};
	for (size_t i = 0; i < COUNT(limits); i++) {
		const struct rlimit limit = {limits[i].max, limits[i].max};
		struct rlimit now;
		if (getrlimit(limits[i].resource, &now) != 0 || now.rlim_max <= limit.rlim_max)
			continue;
		if (setrlimit(limits[i].resource, &limit) != 0)
			return false;
	}
	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0;
}

/* ---- system calls ---- */

/* For computing, and for using the descriptors at hand. */
static const int plain_calls[] = {SCMP_SYS(brk), SCMP_SYS(clock_getres), SCMP_SYS(clock_gettime),
    SCMP_SYS(close), SCMP_SYS(exit), SCMP_SYS(exit_group), SCMP_SYS(fstat), SCMP_SYS(futex),
    SCMP_SYS(getpid), SCMP_SYS(getrandom), SCMP_SYS(gettid), SCMP_SYS(gettimeofday),
    SCMP_SYS(lseek), SCMP_SYS(madvise), SCMP_SYS(mmap), SCMP_SYS(mprotect), SCMP_SYS(mremap),
    SCMP_SYS(munmap), SCMP_SYS(newfstatat), SCMP_SYS(pread64), SCMP_SYS(read),
    SCMP_SYS(restart_syscall), SCMP_SYS(rt_sigaction), SCMP_SYS(rt_sigprocmask),
    SCMP_SYS(rt_sigreturn), SCMP_SYS(sched_yield), SCMP_SYS(sigaltstack), SCMP_SYS(time),
    SCMP_SYS(write), SCMP_SYS(writev)};

/* For starting as a program.  Landlock decides what can be opened and executed. */
static const int program_calls[] = {SCMP_SYS(access), SCMP_SYS(arch_prctl), SCMP_SYS(execve),
    SCMP_SYS(faccessat), SCMP_SYS(faccessat2), SCMP_SYS(fcntl), SCMP_SYS(getcwd),
    SCMP_SYS(getdents64), SCMP_SYS(getegid), SCMP_SYS(geteuid), SCMP_SYS(getgid),
    SCMP_SYS(getrlimit), SCMP_SYS(getuid), SCMP_SYS(lstat), SCMP_SYS(readlink),
    SCMP_SYS(readlinkat), SCMP_SYS(rseq), SCMP_SYS(sched_getaffinity), SCMP_SYS(set_robust_list),
    SCMP_SYS(set_tid_address), SCMP_SYS(stat), SCMP_SYS(statx), SCMP_SYS(sysinfo), SCMP_SYS(uname)};

static bool cage_allow(scmp_filter_ctx filter, const int *calls, size_t count)
{
	int code = 0;
	for (size_t i = 0; code == 0 && i < count; i++)
		code = seccomp_rule_add(filter, SCMP_ACT_ALLOW, calls[i], 0);
	errno = -code;
	return code == 0;
}

/* Allows what a program needs to start: also to open files for reading, and to ask for limits
 * without setting any. */
static bool cage_allow_program(scmp_filter_ctx filter)
{
	const scmp_datum_t writing = O_ACCMODE | O_CREAT | O_TRUNC | O_APPEND;
	int code = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(openat), 1,
	    SCMP_A2(SCMP_CMP_MASKED_EQ, writing, O_RDONLY));
	if (code == 0)
		code = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(open), 1,
		    SCMP_A1(SCMP_CMP_MASKED_EQ, writing, O_RDONLY));
	if (code == 0)
		code = seccomp_rule_add(
		    filter, SCMP_ACT_ALLOW, SCMP_SYS(prlimit64), 1, SCMP_A2(SCMP_CMP_EQ, 0));
	errno = -code;
	return code == 0 && cage_allow(filter, program_calls, COUNT(program_calls));
}

/* Allows the plain calls, and those of a program that is to start.  All others fail as if they were
 * forbidden, which libraries take better than being killed. */
static bool cage_filter_calls(bool program)
{
	scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ERRNO(EPERM));
	if (!filter) {
		errno = ENOMEM;
		return false;
	}
	bool ok = cage_allow(filter, plain_calls, COUNT(plain_calls));
	if (ok) { /* a signal to itself, by which abort ends a process */
		int code = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(tgkill), 1,
		    SCMP_A0(SCMP_CMP_EQ, (scmp_datum_t)getpid()));
		errno = -code;
		ok = code == 0;
	}
	if (ok && program)
		ok = cage_allow_program(filter);
	if (ok) {
		int code = seccomp_load(filter);
		errno = -code;
		ok = code == 0;
	}
	seccomp_release(filter);
	return ok;
}

/* ---- files ---- */

#define READ_RIGHTS (LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR)
#define EXECUTE_RIGHTS (LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_EXECUTE)
#define ALL_RIGHTS ((LANDLOCK_ACCESS_FS_MAKE_SYM << 1) - 1) /* of the first version */

/* Permits what rights say at path; a path that is not there needs no permission. */
static bool cage_permit(int rules, const char *path, uint64_t rights)
{
	struct landlock_path_beneath_attr rule = {.allowed_access = rights};
	rule.parent_fd = open(path, O_PATH | O_CLOEXEC);
	if (rule.parent_fd < 0)
		return true;
	long done = syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &rule, 0);
	close(rule.parent_fd);
	return done == 0;
}

static bool cage_hide_files(const char *program)
{
	static const char *const directories[] = {"/lib", "/lib64", "/usr/lib", "/usr/lib64",
	    "/usr/local/lib", "/usr/share/poppler", "/usr/share/catdoc"};
	static const char *const loaders[] = {"/lib*/ld-*.so*", "/lib/*/ld-*.so*"};
	static const char *const files[] = {"/etc/ld.so.cache", "/etc/catdocrc"};
	const struct landlock_ruleset_attr all = {.handled_access_fs = ALL_RIGHTS};
	int rules = (int)syscall(SYS_landlock_create_ruleset, &all, sizeof(all), 0);
	if (rules < 0)
		return false;
	bool ok = cage_permit(rules, program, EXECUTE_RIGHTS);
	/* the program loader, which the kernel executes beside the program */
	for (size_t p = 0; ok && p < COUNT(loaders); p++) {
		glob_t found;
		if (glob(loaders[p], 0, NULL, &found) != 0)
			continue;
		for (size_t i = 0; ok && i < found.gl_pathc; i++)
			ok = cage_permit(rules, found.gl_pathv[i], EXECUTE_RIGHTS);
		globfree(&found);
	}
	for (size_t i = 0; ok && i < COUNT(directories); i++)
		ok = cage_permit(rules, directories[i], READ_RIGHTS);
	for (size_t i = 0; ok && i < COUNT(files); i++)
		ok = cage_permit(rules, files[i], LANDLOCK_ACCESS_FS_READ_FILE);
	ok = ok && syscall(SYS_landlock_restrict_self, rules, 0) == 0;
	close(rules);
	return ok;
}

bool cage_close(void)
{
	return cage_limit_resources() && cage_filter_calls(false);
}

bool cage_close_for(const char *path)
{
	return cage_limit_resources() && cage_hide_files(path) && cage_filter_calls(true);
}
