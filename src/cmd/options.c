/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "options.h"

#include "store/tree.h"
#include "text/json.h"
#include "text/num.h"
#include "util/nearest.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool refuse_format(const char *name, size_t length, struct err *err)
{
	struct nearest near = nearest_to(name, length);
	char meant[128], all[128] = "";
	size_t used = 0;

	for (unsigned i = 0; codecs[i]; i++) {
		nearest_offer(&near, codecs[i]->format->name);
		if (used < sizeof(all))
			used += (size_t)snprintf(all + used, sizeof(all) - used, "%s%s",
						 used ? ", " : "", codecs[i]->format->name);
	}
	nearest_text(&near, meant, sizeof(meant));
	return err_set(err, ERR_TEXT, "\"%.*s\" is not a format%s the formats are %s",
		       (int)(length < 32 ? length : 32), name, *meant ? meant : ";", all);
}

bool option_rate(struct store_options *o, const char *value, struct err *err)
{
	const char *equals = strchr(value, '=');
	char name[32] = "";
	const struct codec *codec;
	double hz;

	if (equals && (size_t)(equals - value) < sizeof(name))
		memcpy(name, value, (size_t)(equals - value));
	codec = codec_named(name);
	if (!equals)
		return err_set(err, ERR_TEXT, "expected FORMAT=HZ, such as canm=30");
	if (!codec)
		return refuse_format(value, (size_t)(equals - value), err);
	if (!num_parse(equals + 1, strlen(equals + 1), '.', &hz) || !(hz > 0 && hz <= 1e6))
		return err_set(err, ERR_TEXT,
			       "\"%s\" is not a rate; expected a number of frames per second",
			       equals + 1);
	if (codec->format->rate == 0)
		return err_set(err, ERR_TEXT, "%s stores its own rate", name);
	if (o->rate_count == ARRAY_SIZE(o->rates))
		return err_set(err, ERR_TEXT, "more rates than there are formats");
	o->rates[o->rate_count++] = (struct rate){codec->format, hz};
	return true;
}

/* Parses a format of --type: "canm", "ff9anim:24", "auto". */
static bool read_format(const char *value, struct pattern *pattern, struct err *err)
{
	size_t length = strcspn(value, ":");
	char name[32] = "";
	int bones = 0;

	if (length < sizeof(name))
		memcpy(name, value, length);
	pattern->codec = codec_named(name);
	if (!pattern->codec && strcmp(value, "auto") != 0)
		return refuse_format(value, length, err);
	if (!pattern->codec || value[length] == '\0')
		return true;
	if (!pattern->codec->format->bones_counted)
		return err_set(err, ERR_TEXT, "%s files store their number of bones", name);
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
		return err_set(err, ERR_TEXT, "expected GLOB=FORMAT, such as '*.bin=canm'");
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
	else if (strcmp(value, "stored") == 0)
		o->rotations = ROTATIONS_STORED;
	else
		return err_set(err, ERR_TEXT,
			       "\"%s\" is not a form; expected euler, quaternion or stored", value);
	return true;
}

bool option_base(struct store_options *o, const char *value, struct err *err)
{
	const char *equals = strrchr(value, '=');
	struct base_rule *rule = &o->bases[o->base_count];

	if (!*value || equals == value || (equals && !equals[1]))
		return err_set(err, ERR_TEXT,
			       "expected CLIP, or PATTERN=CLIP such as '*_add=idle'");
	if (o->base_count == ARRAY_SIZE(o->bases))
		return err_set(err, ERR_TEXT, "more than %zu bases", ARRAY_SIZE(o->bases));
	rule->pattern = equals ? strndup(value, (size_t)(equals - value)) : strdup("*");
	rule->clip = strdup(equals ? equals + 1 : value);
	o->base_count++;
	return (rule->pattern && rule->clip) || err_memory(err);
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

bool option_gltf(struct store_options *o, const char *value, struct err *err)
{
	o->style.plain_gltf = strcmp(value, "plain") == 0;
	return o->style.plain_gltf || strcmp(value, "figure") == 0 ||
	       err_set(err, ERR_TEXT, "a glTF is a figure or plain, not \"%s\"", value);
}

bool option_gltf_rate(struct store_options *o, const char *value, struct err *err)
{
	o->style.resample = strcmp(value, "resample") == 0;
	return o->style.resample || strcmp(value, "match") == 0 ||
	       err_set(err, ERR_TEXT, "frame rates are to match, or to resample, not \"%s\"",
		       value);
}

bool option_hand(struct store_options *o, const char *value, struct err *err)
{
	o->style.left_hand = strcmp(value, "left") == 0;
	return o->style.left_hand || strcmp(value, "right") == 0 ||
	       err_set(err, ERR_TEXT, "a hand is left or right, not \"%s\"", value);
}

bool option_size(const char *value, size_t *out, struct err *err)
{
	char *end;
	unsigned long long n;
	unsigned shift = 0;

	if (*value < '0' || *value > '9')
		return err_set(err, ERR_TEXT, "expected a size, such as 256M");
	n = strtoull(value, &end, 10);
	if (*end == 'K' || *end == 'k')
		shift = 10;
	else if (*end == 'M' || *end == 'm')
		shift = 20;
	else if (*end == 'G' || *end == 'g')
		shift = 30;
	if (end[shift ? 1 : 0] || n > SIZE_MAX >> shift)
		return err_set(err, ERR_TEXT, "expected a size, such as 256M");
	*out = (size_t)n << shift;
	return true;
}

bool option_max_text(const char *value, size_t *out, struct err *err)
{
	if (!option_size(value, out, err))
		return false;
	json_limit(*out > SIZE_MAX / 4 ? SIZE_MAX : 4 * *out);
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
			       base == 8 ? "expected an octal number, such as 022"
					 : "expected a number, such as 1000");
	*out = (int)n;
	return true;
}

bool option_jobs(const char *value, int *out, struct err *err)
{
	if (!value || (option_number(value, 10, out, NULL) && *out > 0))
		return true;
	return err_set(err, ERR_TEXT, "--jobs=%s: expected a number from 1 on", value);
}

void option_release(struct store_options *o)
{
	for (unsigned i = 0; i < o->pattern_count; i++)
		free(o->patterns[i].glob);
	free(o->patterns);
	for (unsigned i = 0; i < o->base_count; i++) {
		free(o->bases[i].pattern);
		free(o->bases[i].clip);
	}
}
