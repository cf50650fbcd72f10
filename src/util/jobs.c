/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "jobs.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

struct jobs {
	atomic_size_t next;
	size_t count;
	void (*one)(void *closure, size_t i);
	void *closure;
};

static void *jobs_run_worker(void *data)
{
	struct jobs *jobs = data;
	size_t i;

	while ((i = atomic_fetch_add(&jobs->next, 1)) < jobs->count)
		jobs->one(jobs->closure, i);
	return NULL;
}

static unsigned processor_count(void)
{
	cpu_set_t set;

	return sched_getaffinity(0, sizeof(set), &set) == 0 ? (unsigned)CPU_COUNT(&set) : 1;
}

bool jobs_run(unsigned threads, size_t count, void (*one)(void *closure, size_t i), void *closure)
{
	struct jobs jobs = {.count = count, .one = one, .closure = closure};
	size_t wanted = threads ? threads : processor_count(), started = 0;
	pthread_t *helpers;

	if (wanted > count)
		wanted = count;
	helpers = calloc(wanted + 1, sizeof(*helpers));
	if (!helpers)
		return false;
	while (started + 1 < wanted &&
	       pthread_create(&helpers[started], NULL, jobs_run_worker, &jobs) == 0)
		started++;
	jobs_run_worker(&jobs);
	while (started > 0)
		pthread_join(helpers[--started], NULL);
	free(helpers);
	return true;
}
