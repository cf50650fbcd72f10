/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * main.c - runs the unit tests: the suites of all tests/test_*.c, which the Makefile lists in
 * suites.h. CK_RUN_SUITE=base runs one of them, CK_FORK=no lets a debugger follow.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>

#define SUITE(name) Suite *name##_suite(void);
#include "suites.h"
#undef SUITE

static Suite *(*const suites[])(void) = {
#define SUITE(name) name##_suite,
#include "suites.h"
#undef SUITE
};

int main(void)
{
	SRunner *runner = srunner_create(NULL);
	int run, failed;

	/* The time limit is against hanging only: the machine may be slow. */
	setenv("CK_DEFAULT_TIMEOUT", "900", 0);
	for (size_t i = 0; i < sizeof(suites) / sizeof(suites[0]); i++)
		srunner_add_suite(runner, suites[i]());
	srunner_run_all(runner, CK_ENV);
	run = srunner_ntests_run(runner);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	printf("unit: %d passed, %d failed\n", run - failed, failed);
	return failed || !run;
}
