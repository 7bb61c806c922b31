/* SPDX-License-Identifier: ISC */
/*
 * The floor that the service is measured against: a FastCGI program that does nothing but answer,
 * as people write it with libfcgi.
 *
 *     floor SOCKET PROCESSES THREADS
 *
 * It ends with the process that started it.
 */
#include <fcgiapp.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define BACKLOG 1024

static int listener;

static void *serve(void *unused)
{
	(void)unused;
	FCGX_Request request;
	FCGX_InitRequest(&request, listener, 0);
	while (FCGX_Accept_r(&request) == 0) {
		FCGX_PutS("Content-Type: application/json\r\n\r\n"
			  "{\"success\":true,\"data\":\"pong\",\"message\":\"OK\"}",
		    request.out);
		FCGX_Finish_r(&request);
	}
	return NULL;
}

static void run(int threads)
{
	pthread_t thread;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (int i = 1; i < threads; i++)
		pthread_create(&thread, NULL, serve, NULL);
	serve(NULL);
}

int main(int argc, char **argv)
{
	if (argc != 4) {
		fprintf(stderr, "usage: floor SOCKET PROCESSES THREADS\n");
		return 2;
	}
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	FCGX_Init();
	umask(077);
	listener = FCGX_OpenSocket(argv[1], BACKLOG);
	if (listener < 0)
		return 1;
	signal(SIGTERM, SIG_DFL); /* libfcgi's handler would only note it */
	for (int i = atoi(argv[2]); i > 0; i--)
		if (fork() == 0)
			run(atoi(argv[3]));
	while (wait(NULL) > 0)
		continue;
	return 0;
}
