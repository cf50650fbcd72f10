/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "options.h"

#include "json_load.h"
#include "num.h"
#include "store/tree.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

bool option_rate(struct store_options *o, const char *value, struct err *err)
{
	const char *equals = strchr(value, '=');
	char name[32] = "";
	const struct codec *codec;
	double hz;

	if (equals && (size_t)(equals - value) < sizeof(name))
		memcpy(name, value, (size_t)(equals - value));
	codec = codec_named(name);
	if (!equals || !codec)
		return err_set(err, ERR_TEXT,
			       "no format of that name; FORMAT=HZ is wanted, as in canm=30");
	if (!num_parse(equals + 1, strlen(equals + 1), '.', &hz) || !(hz > 0 && hz <= 1e6))
		return err_set(err, ERR_TEXT,
			       "\"%s\" is not a rate; a number of frames a second is wanted",
			       equals + 1);
	if (codec->format->rate == 0)
		return err_set(err, ERR_TEXT, "%s stores its own rate", name);
	if (o->rate_count == ARRAY_SIZE(o->rates))
		return err_set(err, ERR_TEXT, "more rates than there are formats");
	o->rates[o->rate_count++] = (struct rate){codec->format, hz};
	return true;
}

/* "canm", "ff9anim:24", "auto" */
static bool read_format(const char *value, struct pattern *pattern, struct err *err)
{
	size_t length = strcspn(value, ":");
	char name[32] = "";
	int bones = 0;

	if (length < sizeof(name))
		memcpy(name, value, length);
	pattern->codec = codec_named(name);
	if (!pattern->codec && strcmp(value, "auto") != 0)
		return err_set(err, ERR_TEXT, "\"%s\" is not a format", value);
	if (!pattern->codec || value[length] == '\0')
		return true;
	if (!pattern->codec->format->bones_counted)
		return err_set(err, ERR_TEXT, "%s files say themselves how many bones they have",
			       name);
	if (!option_number(value + length + 1, 10, &bones, NULL) || bones < 1)
		return err_set(err, ERR_TEXT, "\"%s\" is not a number of bones",
			       value + length + 1);
	pattern->bones = (uint32_t)bones;
	return true;
}

bool option_type(struct store_options *o, const char *value, struct err *err)
{
	const char *equals = strrchr(value, '=');
	struct pattern *patterns, pattern = {NULL, NULL, 0};

	if (!equals || equals == value)
		return err_set(err, ERR_TEXT, "GLOB=FORMAT is wanted, as in '*.bin=canm'");
	if (!read_format(equals + 1, &pattern, err))
		return false;
	patterns = realloc(o->patterns, (o->pattern_count + 1) * sizeof(*patterns));
	if (!patterns)
		return err_memory(err);
	o->patterns = patterns;
	pattern.glob = strndup(value, (size_t)(equals - value));
	if (!pattern.glob)
		return err_memory(err);
	patterns[o->pattern_count++] = pattern;
	return true;
}

bool option_rotations(struct store_options *o, const char *value, struct err *err)
{
	if (strcmp(value, "euler") == 0)
		o->rotations = ROTATIONS_EULER;
	else if (strcmp(value, "quaternion") == 0)
		o->rotations = ROTATIONS_QUATERNION;
	else
		return err_set(err, ERR_TEXT, "\"%s\" is no form; euler or quaternion is wanted",
			       value);
	return true;
}

bool option_bones(struct store_options *o, const char *value, struct err *err)
{
	o->style.lines = strcmp(value, "lines") == 0;
	return o->style.lines || strcmp(value, "octahedra") == 0 ||
	       err_set(err, ERR_TEXT, "bones are drawn as octahedra or lines, not as \"%s\"",
		       value);
}

bool option_bvh(struct store_options *o, const char *value, struct err *err)
{
	o->style.lossy_bvh = strcmp(value, "lossy") == 0;
	return o->style.lossy_bvh || strcmp(value, "lossless") == 0 ||
	       err_set(err, ERR_TEXT, "a BVH is lossless or lossy, not \"%s\"", value);
}

bool option_backup(struct store_options *o, const char *value, struct err *err)
{
	static const char *const modes[] = {
		[BACKUP_SIMPLE] = "simple", [BACKUP_NUMBERED] = "numbered", [BACKUP_NONE] = "none"};

	for (size_t i = 0; i < ARRAY_SIZE(modes); i++) {
		if (strcmp(value, modes[i]) == 0) {
			o->backup = (enum backup_mode)i;
			return true;
		}
	}
	return err_set(err, ERR_TEXT, "\"%s\" is no way to back up; none, simple or numbered is",
		       value);
}

bool option_size(const char *value, size_t *out, struct err *err)
{
	char *end;
	unsigned long long n;
	unsigned shift = 0;

	if (*value < '0' || *value > '9')
		return err_set(err, ERR_TEXT, "a size is wanted, as in 256M");
	n = strtoull(value, &end, 10);
	if (*end == 'K' || *end == 'k')
		shift = 10;
	else if (*end == 'M' || *end == 'm')
		shift = 20;
	else if (*end == 'G' || *end == 'g')
		shift = 30;
	if (end[shift ? 1 : 0] || n > SIZE_MAX >> shift)
		return err_set(err, ERR_TEXT, "a size is wanted, as in 256M");
	*out = (size_t)n << shift;
	return true;
}

bool option_max_text(const char *value, size_t *out, struct err *err)
{
	if (!option_size(value, out, err))
		return false;
	json_load_limit(*out > SIZE_MAX / 4 ? SIZE_MAX : 4 * *out);
	tree_text_limit(*out > DEFAULT_MAX_TEXT ? *out : DEFAULT_MAX_TEXT);
	return true;
}

bool option_number(const char *value, int base, int *out, struct err *err)
{
	char *end;
	long n;

	errno = 0;
	n = strtol(value, &end, base);
	if (end == value || *end || errno || *value < '0' || n > INT_MAX)
		return err_set(err, ERR_TEXT,
			       base == 8 ? "an octal number is wanted, as in 022"
					 : "a number is wanted, as in 1000");
	*out = (int)n;
	return true;
}

void option_release(struct store_options *o)
{
	for (unsigned i = 0; i < o->pattern_count; i++)
		free(o->patterns[i].glob);
	free(o->patterns);
}
