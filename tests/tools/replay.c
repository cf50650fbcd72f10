/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * replay.c [TARGET...] - runs every input below tests/search/fuzz/corpus through its target,
 * without libFuzzer. A broken law ends the program, as in a fuzzer, after a line that names the
 * input.
 */
#include "../unit/load.h"

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define CORPUS "tests/search/fuzz/corpus"

/* Declares a target by TARGET(name); every file of tests/search/fuzz is one. */
#define TARGET(name)                                                                               \
	int replay_##name##_Initialize(int *argc, char ***argv);                                   \
	int replay_##name##_TestOneInput(const uint8_t *data, size_t size);
#include "targets.h"
#undef TARGET

static const struct target {
	const char *name;
	int (*initialize)(int *argc, char ***argv);
	int (*run)(const uint8_t *data, size_t size);
} targets[] = {
#define TARGET(name) {#name, replay_##name##_Initialize, replay_##name##_TestOneInput},
#include "targets.h"
#undef TARGET
};

static char doing[1024];

static void on_crash(int number)
{
	(void)!write(STDERR_FILENO, doing, strlen(doing));
	(void)!write(STDERR_FILENO, ": broken\n", 9);
	signal(number, SIG_DFL);
	raise(number);
}

/*
 * Runs an input from a heap block of exactly its size, so that a sanitizer notices reads beyond it.
 */
static void replay(const struct target *t, const char *file)
{
	struct buf input;
	uint8_t *exact;

	snprintf(doing, sizeof(doing), "%s/%s/%s", CORPUS, t->name, file);
	input = load_file(doing);
	exact = malloc(input.size ? input.size : 1);
	if (!exact || input.failed)
		exit(1);
	if (input.size)
		memcpy(exact, input.data, input.size);
	t->run(exact, input.size);
	free(exact);
	buf_release(&input);
}

static unsigned replay_all(const struct target *t)
{
	unsigned count = 0;
	struct dirent *entry;
	DIR *folder;

	snprintf(doing, sizeof(doing), "%s/%s", CORPUS, t->name);
	folder = opendir(doing);
	while (folder && (entry = readdir(folder))) {
		if (entry->d_name[0] == '.')
			continue;
		replay(t, entry->d_name);
		count++;
	}
	if (folder)
		closedir(folder);
	if (count == 0)
		fprintf(stderr, "%s/%s: no inputs\n", CORPUS, t->name);
	return count;
}

static bool is_asked_for(const char *name, int argc, char **argv)
{
	bool asked = argc <= 1;

	for (int i = 1; i < argc; i++)
		asked |= strcmp(argv[i], name) == 0;
	return asked;
}

int main(int argc, char **argv)
{
	unsigned passed = 0, failed = 0;

	signal(SIGSEGV, on_crash);
	signal(SIGABRT, on_crash);
	for (size_t i = 0; i < ARRAY_SIZE(targets); i++) {
		unsigned count;

		if (!is_asked_for(targets[i].name, argc, argv))
			continue;
		targets[i].initialize(&argc, &argv);
		count = replay_all(&targets[i]);
		passed += count;
		failed += count == 0;
	}
	printf("replay: %u passed, %u failed\n", passed, failed);
	return failed > 0;
}
