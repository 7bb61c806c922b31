/* SPDX-License-Identifier: ISC */
/* Child processes: their lines, their input, their end. */
#include "base/os/process/process.h"

#include "base/buf.h"
#include "base/memory.h"
#include "base/os/clock.h"
#include "unit.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define MIB (1u << 20)
#define SOON 60000 /* ms: far below the 300 s that children here would sleep */

/* What a child wrote: its lines, each ended by '|'. */
struct output {
	struct buf text;
	size_t lines;
	size_t bytes;
	bool refuse; /* the next line */
};

static struct process_result result;
static struct output output;

static bool on_line(const char *line, size_t len, void *arg)
{
	struct output *out = arg;
	out->lines++;
	out->bytes += len;
	if (out->text.len < 4096) {
		buf_add(&out->text, line, len);
		buf_putc(&out->text, '|');
	}
	return !out->refuse;
}

/* A shell script as a child, with 200 s, and no input. */
static struct process script(const char *text)
{
	static char *argv[4];
	argv[0] = "sh";
	argv[1] = "-c";
	argv[2] = (char *)text;
	return (struct process){.path = "/bin/sh",
	    .argv = argv,
	    .deadline_ms = clock_monotonic_ms() + 200000,
	    .max_line = MIB,
	    .max_output = 16 * MIB,
	    .on_line = on_line,
	    .arg = &output};
}

static const char *run(const struct process *p)
{
	buf_release(&output.text);
	output.lines = output.bytes = 0;
	process_run(p, &result);
	return buf_str(&output.text);
}

static const char *run_script(const char *text)
{
	struct process p = script(text);
	return run(&p);
}

/* Runs and says how many milliseconds that took. */
static int64_t timed(const struct process *p)
{
	int64_t before = clock_monotonic_ms();
	run(p);
	return clock_monotonic_ms() - before;
}

/* Gives it ms, and three times as much again and again until it says what is wanted: a busy machine
 * may take long to begin a child.  Says how many milliseconds the last one took; ms is what it had.
 */
static int64_t timed_when_begun(struct process *p, int64_t *ms, const char *wanted)
{
	int64_t took;
	for (;;) {
		p->deadline_ms = clock_monotonic_ms() + *ms;
		took = timed(p);
		if (*ms > 10000 || strcmp(buf_str(&output.text), wanted) == 0)
			break;
		*ms *= 3;
	}
	CU_ASSERT_STRING_EQUAL(buf_str(&output.text), wanted);
	CU_ASSERT_EQUAL(result.end, PROCESS_TIMED_OUT);
	return took;
}

static void lines_arrive_in_order(void)
{
	CU_ASSERT_STRING_EQUAL(
	    run_script("echo one; echo; printf 'two\\nthree'"), "one||two|three|");
	CU_ASSERT_EQUAL(result.end, PROCESS_EXITED);
	CU_ASSERT_EQUAL(result.code, 0);
}

static void the_input_arrives(void)
{
	struct process p = script("cat; echo end");
	p.input = "a\nb\n";
	p.input_len = 4;
	CU_ASSERT_STRING_EQUAL(run(&p), "a|b|end|");
}

static void without_input_there_is_an_end_at_once(void)
{
	CU_ASSERT_STRING_EQUAL(run_script("wc -c"), "0|");
}

static void zero_bytes_do_not_end_a_line(void)
{
	run_script("printf 'a\\000b\\n'");
	CU_ASSERT_EQUAL(output.bytes, 3);
	CU_ASSERT_EQUAL(output.lines, 1);
}

static void an_exit_status_is_told(void)
{
	char text[100];
	run_script("exit 3");
	CU_ASSERT_EQUAL(result.end, PROCESS_EXITED);
	CU_ASSERT_EQUAL(result.code, 3);
	CU_ASSERT_STRING_EQUAL(
	    process_describe(&result, text, sizeof(text)), "exited with status 3");
	CU_ASSERT_STRING_EQUAL(
	    process_complaint(&result, text, sizeof(text)), "exited with status 3");
}

static void a_complaint_is_the_last_line_of_standard_error(void)
{
	char text[100];
	run_script("printf 'first\\nno such\\tthing \\377\\n\\n' >&2; exit 1");
	CU_ASSERT_STRING_EQUAL(process_complaint(&result, text, sizeof(text)), "no such?thing ?");
	CU_ASSERT_STRING_EQUAL(process_complaint(&result, text, 8), "no such");
}

static void death_by_a_signal_is_told(void)
{
	char text[100];
	run_script("echo complaint >&2; kill -SEGV $$");
	CU_ASSERT_EQUAL(result.end, PROCESS_SIGNALLED);
	CU_ASSERT_EQUAL(result.code, SIGSEGV);
	process_complaint(&result, text, sizeof(text));
	CU_ASSERT_STRING_EQUAL(text, "died of signal 11 (Segmentation fault)");
}

static void a_child_whose_time_is_up_is_ended(void)
{
	struct process p = script("echo begun; sleep 300; echo late");
	int64_t ms = 200, took = timed_when_begun(&p, &ms, "begun|");
	CU_ASSERT_TRUE(took >= ms && took < SOON);
}

static void a_deadline_in_the_past_ends_the_child_at_once(void)
{
	struct process p = script("sleep 300");
	p.deadline_ms = clock_monotonic_ms() - 1;
	CU_ASSERT_TRUE(timed(&p) < SOON);
	CU_ASSERT_EQUAL(result.end, PROCESS_TIMED_OUT);
}

static void a_child_that_ignores_sigterm_is_killed(void)
{
	struct process p = script("trap '' TERM; echo deaf; while :; do sleep 0.1; done");
	int64_t ms = 100, took = timed_when_begun(&p, &ms, "deaf|");
	CU_ASSERT_TRUE(took >= PROCESS_GRACE_MS && took < SOON);
}

static void a_child_that_left_its_group_is_killed(void)
{
	struct process p = script("");
	int64_t ms = 500;
	char *argv[] = {"python3", "-c",
	    "import os,signal,time; os.setpgid(0, os.getpgid(os.getppid())); "
	    "signal.signal(signal.SIGTERM, signal.SIG_IGN); print('left', flush=True); "
	    "time.sleep(300)",
	    NULL};
	char *python = process_find("/usr/bin/python3", "/"); /* no script that looks for one */
	if (!python)
		python = process_find("python3", "/");
	if (!python)
		return;
	p.path = python;
	p.argv = argv;
	CU_ASSERT_TRUE(timed_when_begun(&p, &ms, "left|") < SOON);
	free(python);
}

static void ten_mebibytes_of_output_arrive(void)
{
	run_script("yes 0123456789012345678901234567890 | head -c 10485760");
	CU_ASSERT_EQUAL(result.end, PROCESS_EXITED);
	CU_ASSERT_EQUAL(output.lines, 10 * MIB / 32);
	CU_ASSERT_EQUAL(output.bytes, 10 * MIB / 32 * 31);
}

static void a_line_of_the_greatest_length_passes(void)
{
	struct process p = script("head -c 1000 /dev/zero; echo");
	p.max_line = 1000;
	run(&p);
	CU_ASSERT_EQUAL(result.end, PROCESS_EXITED);
	CU_ASSERT_EQUAL(output.bytes, 1000);
}

static void a_longer_line_ends_the_child(void)
{
	struct process p = script("head -c 1001 /dev/zero; echo; sleep 300");
	p.max_line = 1000;
	CU_ASSERT_TRUE(timed(&p) < SOON);
	CU_ASSERT_EQUAL(result.end, PROCESS_LINE_TOO_LONG);
	CU_ASSERT_EQUAL(output.lines, 0);
}

static void endless_output_ends_the_child(void)
{
	struct process p = script("yes");
	p.max_output = MIB;
	CU_ASSERT_TRUE(timed(&p) < SOON);
	CU_ASSERT_EQUAL(result.end, PROCESS_TOO_MUCH_OUTPUT);
	CU_ASSERT_TRUE(output.bytes <= MIB);
}

static void a_refused_line_ends_the_child(void)
{
	struct process p = script("echo one; echo two; sleep 300");
	output.refuse = true;
	CU_ASSERT_TRUE(timed(&p) < SOON);
	output.refuse = false;
	CU_ASSERT_EQUAL(result.end, PROCESS_REFUSED);
	CU_ASSERT_STRING_EQUAL(buf_str(&output.text), "one|");
}

static void input_to_a_child_that_closed_it_is_no_failure(void)
{
	struct process p = script("exec 0<&-; echo closed; sleep 0.2; echo end");
	p.input_len = 8 * MIB;
	p.input = xcalloc(1, p.input_len);
	CU_ASSERT_STRING_EQUAL(run(&p), "closed|end|");
	CU_ASSERT_EQUAL(result.end, PROCESS_EXITED);
	CU_ASSERT_EQUAL(result.code, 0);
	free((char *)p.input);
}

static void input_that_is_not_read_does_not_block(void)
{
	struct process p = script("sleep 0.2; head -c 1000000 /dev/zero; echo; echo end");
	p.input_len = 8 * MIB;
	p.input = xcalloc(1, p.input_len);
	CU_ASSERT_TRUE(timed(&p) < SOON);
	CU_ASSERT_EQUAL(result.end, PROCESS_EXITED);
	CU_ASSERT_EQUAL(output.bytes, 1000003);
	free((char *)p.input);
}

static void much_goes_in_and_out_at_the_same_time(void)
{
	struct process p = script("cat");
	char *input = xmalloc(4 * MIB);
	for (size_t i = 0; i < 4 * MIB; i++)
		input[i] = i % 64 == 63 ? '\n' : 'x';
	p.input = input;
	p.input_len = 4 * MIB;
	run(&p);
	CU_ASSERT_EQUAL(output.lines, 4 * MIB / 64);
	CU_ASSERT_EQUAL(output.bytes, 4 * MIB / 64 * 63);
	free(input);
}

static bool alive(long pid)
{
	char path[64], state = 0;
	snprintf(path, sizeof(path), "/proc/%ld/stat", pid);
	FILE *file = fopen(path, "re");
	if (!file)
		return false;
	if (fscanf(file, "%*d (%*[^)]) %c", &state) != 1)
		state = 0;
	fclose(file);
	return state != 'Z' && state != 0;
}

/* Waits for a process to be gone; init may take a moment to reap it. */
static bool gone(long pid)
{
	for (int i = 0; i < 3000 && alive(pid); i++)
		clock_sleep_ms(20);
	return !alive(pid);
}

static void a_grandchild_that_holds_the_output_is_killed(void)
{
	struct process p = script("sleep 300 & echo $!");
	CU_ASSERT_TRUE(timed(&p) < SOON);
	CU_ASSERT_EQUAL(result.end, PROCESS_EXITED);
	long pid = atol(buf_str(&output.text));
	CU_ASSERT_TRUE(pid > 1 && gone(pid));
}

static void a_grandchild_that_left_the_group_is_not_waited_for(void)
{
	struct process p = script("setsid sh -c 'echo $$; : >\"$0\"; exec sleep 300' \"$0\" & "
				  "until [ -e \"$0\" ]; do sleep 0.02; done");
	char *argv[] = {"sh", "-c", p.argv[2], (char *)unit_path("left"), NULL};
	p.argv = argv;
	CU_ASSERT_TRUE(timed(&p) < SOON);
	CU_ASSERT_EQUAL(result.end, PROCESS_EXITED);
	long pid = atol(buf_str(&output.text));
	CU_ASSERT_TRUE_FATAL(pid > 1);
	CU_ASSERT_TRUE(alive(pid));
	kill((pid_t)pid, SIGKILL);
}

static void a_child_that_closes_its_output_is_waited_for(void)
{
	struct process p = script("exec >&- 2>&-; sleep 0.3; exit 7");
	CU_ASSERT_TRUE(timed(&p) >= 300);
	CU_ASSERT_EQUAL(result.end, PROCESS_EXITED);
	CU_ASSERT_EQUAL(result.code, 7);
}

static void a_missing_executable_is_named(void)
{
	char text[200];
	struct process p = script("");
	p.path = "/nowhere/agent.sh";
	run(&p);
	CU_ASSERT_EQUAL(result.end, PROCESS_NOT_STARTED);
	CU_ASSERT_EQUAL(result.code, ENOENT);
	process_describe(&result, text, sizeof(text));
	CU_ASSERT_STRING_EQUAL(
	    text, "could not be started: /nowhere/agent.sh: No such file or directory");
}

static void a_missing_directory_is_named(void)
{
	struct process p = script("echo here");
	p.cwd = "/nowhere";
	CU_ASSERT_STRING_EQUAL(run(&p), "");
	CU_ASSERT_EQUAL(result.end, PROCESS_NOT_STARTED);
	CU_ASSERT_STRING_EQUAL(result.tail, "/nowhere: No such file or directory");
}

/* An executable file in the test's directory. */
static const char *executable(const char *name, const char *text)
{
	const char *path = unit_path(name);
	FILE *file = fopen(path, "we");
	CU_ASSERT_PTR_NOT_NULL_FATAL(file);
	fputs(text, file);
	fclose(file);
	chmod(path, 0755);
	return path;
}

static void a_missing_interpreter_is_told_from_a_missing_file(void)
{
	struct process p = script("");
	p.path = executable("bad", "#!/nowhere/python\n");
	run(&p);
	CU_ASSERT_EQUAL(result.end, PROCESS_NOT_STARTED);
	CU_ASSERT_PTR_NOT_NULL(strstr(result.tail, "interpreter"));
}

static void the_directory_and_the_environment_are_those_given(void)
{
	struct process p = script("pwd; env | grep -v -e ^PWD= -e ^SHLVL= -e ^_= -e ^OLDPWD=");
	char *env[] = {"ONE=1", "PATH=/usr/bin:/bin", NULL};
	p.cwd = "/";
	p.envp = env;
	const char *text = run(&p);
	CU_ASSERT_TRUE(strcmp(text, "/|ONE=1|PATH=/usr/bin:/bin|") == 0 ||
	    strcmp(text, "/|PATH=/usr/bin:/bin|ONE=1|") == 0);
}

static void only_the_end_of_standard_error_is_kept(void)
{
	run_script("head -c 100000 /dev/zero | tr '\\000' x >&2; printf 'the end' >&2");
	CU_ASSERT_EQUAL(strlen(result.tail), PROCESS_TAIL);
	CU_ASSERT_STRING_EQUAL(result.tail + PROCESS_TAIL - 8, "xthe end");
}

static size_t open_descriptors(void)
{
	size_t count = 0;
	DIR *dir = opendir("/proc/self/fd");
	while (readdir(dir))
		count++;
	closedir(dir);
	return count;
}

static void no_descriptor_and_no_zombie_stays(void)
{
	size_t before = open_descriptors();
	struct process p = script("sleep 300");
	p.deadline_ms = clock_monotonic_ms() + 50;
	run(&p);
	run_script("exit 1");
	p.path = "/nowhere";
	run(&p);
	CU_ASSERT_EQUAL(open_descriptors(), before);
	CU_ASSERT_EQUAL(waitpid(-1, NULL, WNOHANG), -1);
	CU_ASSERT_EQUAL(errno, ECHILD);
}

static void a_child_has_only_its_standard_streams(void)
{
	int kept = open("/dev/null", O_RDONLY); /* as a library without O_CLOEXEC would */
	int high = fcntl(kept, F_DUPFD, 200);
	const char *text = run_script("for fd in /proc/$$/fd/*; do echo ${fd##*/}; done");
	CU_ASSERT_PTR_NULL(strstr(text, "200|"));
	CU_ASSERT_PTR_NOT_NULL(strstr(text, "0|1|2|"));
	CU_ASSERT_TRUE(output.lines <= 4); /* the shell may open one itself */
	close(high);
	close(kept);
}

static void signals_are_as_usual_in_the_child(void)
{
	sigset_t blocked, before;
	sigemptyset(&blocked);
	sigaddset(&blocked, SIGTERM);
	sigprocmask(SIG_BLOCK, &blocked, &before);
	signal(SIGHUP, SIG_DFL);
	signal(SIGINT, SIG_DFL);
	signal(SIGQUIT, SIG_DFL);
	void (*handler)(int) = signal(SIGPIPE, SIG_IGN);
	/* Whoever was started by glibc's posix_spawn, as under make, ignores one or both of its two
	 * inner signals for good; one that was started in the background by a shell or by nohup,
	 * three more. */
	const char *text = run_script("grep -E '^Sig(Blk|Ign):' /proc/self/status | cut -f 2 | "
				      "sed 's/^0000000[01][08]0000000$/0000000000000000/'");
	printf("# blocked and ignored: %s\n", text);
	CU_ASSERT_STRING_EQUAL(text, "0000000000000000|0000000000000000|");
	signal(SIGPIPE, handler);
	sigprocmask(SIG_SETMASK, &before, NULL);
}

static void it_works_with_closed_standard_streams(void)
{
	pid_t pid = fork();
	if (pid == 0) {
		close(0);
		close(1);
		close(2);
		run_script("cat; echo fine; echo bad >&2");
		_exit(strcmp(buf_str(&output.text), "fine|") != 0 ||
		    strcmp(result.tail, "bad\n") != 0);
	}
	int status = -1;
	waitpid(pid, &status, 0);
	CU_ASSERT_EQUAL(status, 0);
}

/* Waits for a file with a number in it. */
static long number_in(const char *path)
{
	long number = 0;
	for (int i = 0; i < 3000 && number == 0; i++) {
		FILE *file = fopen(path, "re");
		if (file && fscanf(file, "%ld", &number) != 1)
			number = 0;
		if (file)
			fclose(file);
		clock_sleep_ms(20);
	}
	return number;
}

static void a_child_does_not_outlive_its_starter(void)
{
	char text[600];
	const char *path = unit_path("pid");
	snprintf(text, sizeof(text), "echo $$ >%s; exec sleep 300", path);
	pid_t starter = fork();
	if (starter == 0) {
		run_script(text);
		_exit(0);
	}
	long child = number_in(path);
	CU_ASSERT_TRUE_FATAL(child > 1);
	CU_ASSERT_TRUE(alive(child));
	kill(starter, SIGKILL);
	waitpid(starter, NULL, 0);
	CU_ASSERT_TRUE(gone(child));
}

/* One of many threads: each child repeats what it is given. */
static void *repeat(void *arg)
{
	bool *ok = arg;
	char input[32];
	*ok = true;
	for (int i = 0; i < 20; i++) {
		struct output heard = {0};
		struct process_result ended;
		struct process p = {.path = "/bin/cat",
		    .argv = (char *[]){"cat", NULL},
		    .deadline_ms = clock_monotonic_ms() + 20000,
		    .max_line = MIB,
		    .max_output = MIB,
		    .on_line = on_line,
		    .arg = &heard};
		p.input = input;
		p.input_len = (size_t)snprintf(input, sizeof(input), "%p %d|", arg, i);
		process_run(&p, &ended);
		*ok = *ok && ended.end == PROCESS_EXITED && ended.code == 0 &&
		    strncmp(buf_str(&heard.text), input, p.input_len) == 0;
		buf_release(&heard.text);
	}
	return NULL;
}

static void many_threads_run_children_at_once(void)
{
	pthread_t threads[8];
	bool ok[8];
	for (int i = 0; i < 8; i++)
		CU_ASSERT_EQUAL_FATAL(pthread_create(&threads[i], NULL, repeat, &ok[i]), 0);
	for (int i = 0; i < 8; i++) {
		pthread_join(threads[i], NULL);
		CU_ASSERT_TRUE(ok[i]);
	}
}

static void an_executable_is_found(void)
{
	const char *path = executable("found", "#!/bin/sh\n");
	char *by_slash = process_find("./found", unit_dir());
	char *by_path = process_find("sh", unit_dir());
	char *absolute = process_find(path, "/nowhere");
	CU_ASSERT_PTR_NOT_NULL_FATAL(by_slash);
	CU_ASSERT_EQUAL(access(by_slash, X_OK), 0);
	CU_ASSERT_PTR_NOT_NULL_FATAL(by_path);
	CU_ASSERT_PTR_NOT_NULL(strstr(by_path, "/sh"));
	CU_ASSERT_STRING_EQUAL(absolute, path);
	free(by_slash);
	free(by_path);
	free(absolute);
}

static void what_cannot_be_executed_is_not_found(void)
{
	chmod(executable("plain", "text"), 0644);
	CU_ASSERT_PTR_NULL(process_find("no-such-program-anywhere", "/"));
	CU_ASSERT_EQUAL(errno, ENOENT);
	CU_ASSERT_PTR_NULL(process_find("./absent", unit_dir()));
	CU_ASSERT_EQUAL(errno, ENOENT);
	CU_ASSERT_PTR_NULL(process_find("./plain", unit_dir()));
	CU_ASSERT_EQUAL(errno, EACCES);
	CU_ASSERT_PTR_NULL(process_find("./", unit_dir()));
	CU_ASSERT_EQUAL(errno, EACCES);
	CU_ASSERT_PTR_NULL(process_find("", unit_dir()));
}

static const struct unit_test tests[] = {
    {"lines arrive in order, empty ones and an unfinished last one too", lines_arrive_in_order},
    {"the input arrives", the_input_arrives},
    {"without input standard input is at its end at once", without_input_there_is_an_end_at_once},
    {"a zero byte does not end a line", zero_bytes_do_not_end_a_line},
    {"an exit status is told", an_exit_status_is_told},
    {"a complaint is the last line of standard error, made printable",
	a_complaint_is_the_last_line_of_standard_error},
    {"death by a signal is told, whatever was complained before", death_by_a_signal_is_told},
    {"a child whose time is up is ended", a_child_whose_time_is_up_is_ended},
    {"a deadline in the past ends the child at once",
	a_deadline_in_the_past_ends_the_child_at_once},
    {"a child that ignores SIGTERM is killed after the grace",
	a_child_that_ignores_sigterm_is_killed},
    {"a child that left its group is killed, too", a_child_that_left_its_group_is_killed},
    {"ten mebibytes of output arrive", ten_mebibytes_of_output_arrive},
    {"a line of the greatest length passes", a_line_of_the_greatest_length_passes},
    {"a longer line ends the child", a_longer_line_ends_the_child},
    {"endless output ends the child", endless_output_ends_the_child},
    {"a refused line ends the child", a_refused_line_ends_the_child},
    {"input to a child that closed it is no failure",
	input_to_a_child_that_closed_it_is_no_failure},
    {"input that is not read does not block", input_that_is_not_read_does_not_block},
    {"much goes in and out at the same time", much_goes_in_and_out_at_the_same_time},
    {"a grandchild that holds the output open is killed",
	a_grandchild_that_holds_the_output_is_killed},
    {"a grandchild that left the group is not waited for",
	a_grandchild_that_left_the_group_is_not_waited_for},
    {"a child that closes its output is waited for", a_child_that_closes_its_output_is_waited_for},
    {"a missing executable is named", a_missing_executable_is_named},
    {"a missing directory is named", a_missing_directory_is_named},
    {"a missing interpreter is told from a missing file",
	a_missing_interpreter_is_told_from_a_missing_file},
    {"the directory and the environment are those given",
	the_directory_and_the_environment_are_those_given},
    {"only the end of standard error is kept", only_the_end_of_standard_error_is_kept},
    {"no descriptor and no zombie stays behind", no_descriptor_and_no_zombie_stays},
    {"a child has only its standard streams", a_child_has_only_its_standard_streams},
    {"signals are as usual in the child", signals_are_as_usual_in_the_child},
    {"it works in a service with closed standard streams", it_works_with_closed_standard_streams},
    {"a child does not outlive its starter", a_child_does_not_outlive_its_starter},
    {"many threads run children at once", many_threads_run_children_at_once},
    {"an executable is found by path, in PATH, and relative to a directory",
	an_executable_is_found},
    {"what is absent or cannot be executed is not found", what_cannot_be_executed_is_not_found},
};

int main(void)
{
	memory_init();
	int status = unit_main("process", tests, UNIT_COUNT(tests));
	buf_release(&output.text);
	return status;
}
