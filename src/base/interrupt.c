// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/interrupt.h"

#include <signal.h>
#include <stddef.h>

static const int signals[] = { SIGINT, SIGTERM, SIGHUP };

static volatile sig_atomic_t caught;
static volatile pid_t forward_to;

static void on_signal(int sig, siginfo_t *info, void *context)
{
	(void)context;
	caught = sig;
	if (forward_to > 0 && info->si_code <= 0)
		kill(forward_to, sig);
}

static void set_action(const struct sigaction *action)
{
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		sigaction(signals[i], action, NULL);
}

void interrupt_catch(void)
{
	const struct sigaction action = { .sa_sigaction = on_signal, .sa_flags = SA_SIGINFO };

	set_action(&action);
}

void interrupt_default(void)
{
	const struct sigaction action = { .sa_handler = SIG_DFL };

	set_action(&action);
}

int interrupt_signal(void)
{
	return caught;
}

void interrupt_forward(pid_t child)
{
	forward_to = child;
}
