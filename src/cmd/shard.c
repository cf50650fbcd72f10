/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "shard.h"

#include <errno.h>
#include <stdlib.h>
#include <xxhash.h>

/* Reads decimal digits up to `end`, and moves *text after that. */
static bool shard_read_number(const char **text, char end, uint32_t *out)
{
	char *stop;
	unsigned long n;

	if (**text < '0' || **text > '9')
		return false;
	errno = 0;
	n = strtoul(*text, &stop, 10);
	if (errno || *stop != end || n < 1 || n > UINT32_MAX)
		return false;
	*out = (uint32_t)n;
	*text = stop + 1;
	return true;
}

bool shard_parse(struct shard *s, const char *value, struct err *err)
{
	const char *at = value;

	if (!at || (shard_read_number(&at, '/', &s->index) &&
		    shard_read_number(&at, '\0', &s->count) && s->index <= s->count))
		return true;
	return err_set(err, ERR_TEXT, "--shard=%s is not a part; expected I/N, such as 1/4 to 4/4",
		       value);
}

uint32_t shard_of(const char *path, uint32_t count)
{
	return (uint32_t)(XXH64(path, strlen(path), 0) % count) + 1;
}

bool shard_has(const struct shard *s, const char *path)
{
	return !s->count || shard_of(path, s->count) == s->index;
}
