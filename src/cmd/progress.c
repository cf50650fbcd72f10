/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "progress.h"

#include "util/clock.h"

#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#define BAR_STEP 100    /* milliseconds between two updates of the bar */
#define LINE_STEP 10000 /* milliseconds between two lines */

static volatile sig_atomic_t interrupted;
static const int signals[] = {SIGINT, SIGTERM, SIGHUP};

static void note_signal(int number)
{
	interrupted = number;
}

/* Catches signals, except those that are ignored (nohup, a shell's background). */
static void catch_signals(void)
{
	struct sigaction action = {.sa_handler = note_signal, .sa_flags = (int)SA_RESETHAND}, was;

	interrupted = 0;
	for (size_t i = 0; i < ARRAY_SIZE(signals); i++) {
		if (sigaction(signals[i], NULL, &was) == 0 && was.sa_handler != SIG_IGN)
			sigaction(signals[i], &action, NULL);
	}
}

void progress_begin(struct progress *p, const char *verb, size_t count)
{
	*p = (struct progress){.verb = verb, .count = count, .terminal = isatty(STDERR_FILENO)};
	pthread_mutex_init(&p->lock, NULL);
	p->began = p->shown = clock_real_ms();
	catch_signals();
}

/* Prints the progress: "export: 120 of 1000 files, 85.2 MB/s, 0:12 left". */
static void print_progress(const struct progress *p, int64_t now)
{
	double seconds = (double)(now - p->began + 1) / 1000;
	long left = (long)(seconds / (double)p->done * (double)(p->count - p->done) + 0.5);

	fprintf(stderr, "%s: %zu of %zu files, %.1f MB/s, %ld:%02ld left", p->verb, p->done,
		p->count, (double)p->bytes / 1e6 / seconds, left / 60, left % 60);
}

#define BAR_WIDTH 20

static void draw_bar(const struct progress *p, int64_t now)
{
	size_t full = p->done * BAR_WIDTH / p->count;
	char bar[BAR_WIDTH + 1];

	memset(bar, '#', full);
	memset(bar + full, '.', BAR_WIDTH - full);
	bar[BAR_WIDTH] = '\0';
	fprintf(stderr, "\r[%s] ", bar);
	print_progress(p, now);
	fputs("\033[K", stderr);
	fflush(stderr);
}

static void wipe_bar(const struct progress *p)
{
	if (p->terminal)
		fputs("\r\033[K", stderr);
}

void progress_step(struct progress *p, size_t bytes)
{
	int64_t now = clock_real_ms();

	pthread_mutex_lock(&p->lock);
	p->done++;
	p->bytes += bytes;
	if (now - p->shown >= (p->terminal ? BAR_STEP : LINE_STEP) && p->done < p->count) {
		p->shown = now;
		if (p->terminal) {
			draw_bar(p, now);
		} else {
			print_progress(p, now);
			fputc('\n', stderr);
		}
	}
	pthread_mutex_unlock(&p->lock);
}

void progress_print(struct progress *p, struct bytes lines)
{
	pthread_mutex_lock(&p->lock);
	wipe_bar(p);
	fwrite(lines.data, 1, lines.size, stderr);
	pthread_mutex_unlock(&p->lock);
}

void progress_output(struct progress *p, struct bytes lines)
{
	pthread_mutex_lock(&p->lock);
	if (lines.size) {
		wipe_bar(p);
		fflush(stderr);
		fwrite(lines.data, 1, lines.size, stdout);
	}
	pthread_mutex_unlock(&p->lock);
}

void progress_message(struct progress *p, const char *message)
{
	struct buf line = BUF_INIT;

	buf_format(&line, "animfs: %s\n", message);
	progress_print(p, buf_bytes(&line));
	buf_release(&line);
}

void progress_stop(struct progress *p)
{
	p->stop = true;
}

bool progress_stopped(const struct progress *p)
{
	return p->stop || interrupted;
}

bool progress_end(struct progress *p)
{
	wipe_bar(p);
	fflush(stderr);
	pthread_mutex_destroy(&p->lock);
	return interrupted;
}
