/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "shard.h"

#include <errno.h>
#include <stdlib.h>
#include <xxhash.h>

/* Decimal digits and no more, up to `end`; moves *text behind it. */
static bool number(const char **text, char end, uint32_t *out)
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

	if (number(&at, '/', &s->index) && number(&at, '\0', &s->count) && s->index <= s->count)
		return true;
	return err_set(err, ERR_TEXT, "\"%s\" is no part; I/N is wanted, as in 1/4, up to 4/4",
		       value);
}

bool shard_has(const struct shard *s, const char *path)
{
	return !s->count || XXH64(path, strlen(path), 0) % s->count == s->index - 1;
}
