// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/system/interrupt.h"

#include <signal.h>
#include <stddef.h>
#include <time.h>

#include "base/alloc.h"

static const int signals[] = { SIGINT, SIGTERM, SIGHUP };

#define N_SIGNALS ARRAY_SIZE(signals)

static struct sigaction before[N_SIGNALS]; /* former handlers; zero: the default */
static sigset_t mask_before;
static volatile sig_atomic_t caught, count;
static volatile pid_t forward_to;

static void note(int sig)
{
	count = sig == caught ? count + 1 : 1;
	caught = sig;
}

static void on_signal(int sig, siginfo_t *info, void *context)
{
	(void)context;
	note(sig);
	if (forward_to > 0 && info->si_code <= 0)
		kill(forward_to, sig);
}

void interrupt_catch(void)
{
	const struct sigaction action = { .sa_sigaction = on_signal, .sa_flags = SA_SIGINFO };

	for (size_t i = 0; i < N_SIGNALS; i++) {
		sigaction(signals[i], NULL, &before[i]);
		if (before[i].sa_handler != SIG_IGN)
			sigaction(signals[i], &action, NULL);
	}
	signal(SIGPIPE, SIG_IGN);
}

void interrupt_default(void)
{
	for (size_t i = 0; i < N_SIGNALS; i++)
		sigaction(signals[i], &before[i], NULL);
	interrupt_release();
}

int interrupt_signal(void)
{
	return caught;
}

unsigned int interrupt_count(void)
{
	return (unsigned int)count;
}

static void fill(sigset_t *set)
{
	sigemptyset(set);
	for (size_t i = 0; i < N_SIGNALS; i++)
		sigaddset(set, signals[i]);
}

void interrupt_hold(void)
{
	sigset_t set;

	fill(&set);
	sigprocmask(SIG_BLOCK, &set, &mask_before);
}

void interrupt_release(void)
{
	sigprocmask(SIG_SETMASK, &mask_before, NULL);
}

int interrupt_poll(struct pollfd *pfds, nfds_t n, int timeout_ms)
{
	const struct timespec timeout = { .tv_sec = timeout_ms / 1000,
					  .tv_nsec = timeout_ms % 1000 * 1000000l };

	return ppoll(pfds, n, timeout_ms < 0 ? NULL : &timeout, &mask_before);
}

void interrupt_forward(pid_t child)
{
	const struct timespec now = { 0 };
	sigset_t set;
	int sig;

	forward_to = child;
	fill(&set);
	while (child > 0 && (sig = sigtimedwait(&set, NULL, &now)) > 0) {
		note(sig);
		kill(child, sig);
	}
}
