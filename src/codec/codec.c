/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "codecs.h"

#include "model/names.h"

#include <string.h>

const struct codec *const codecs[] = {
	&canm_codec,    &cas_codec,   &ribbon_codec,   &owanim_codec, &ff9anim_codec,
	&ff9clip_codec, &kanim_codec, &sequence_codec, NULL,
};

const struct codec *codec_named(const char *name)
{
	const struct codec *const *c;

	for (c = codecs; *c; c++)
		if (strcmp((*c)->format->name, name) == 0)
			return *c;
	return NULL;
}

/*
 * Matches the end of a file name. This runs for every name in a mount and for each of its changes;
 * fnmatch takes ten times as long.
 */
static const char *find_end(const struct codec *c, const char *file_name, uint32_t dots)
{
	const char *end = NULL;

	for (const char *const *pattern = c->patterns; *pattern && !end; pattern++)
		end = name_end(file_name, dots, *pattern + 1);
	return end;
}

const struct codec *codec_for_name(const char *file_name)
{
	const uint32_t dots = name_dots(file_name);
	const struct codec *const *c;

	for (c = codecs; *c; c++)
		if (find_end(*c, file_name, dots))
			return *c;
	return NULL;
}

const struct codec *codec_probe(struct bytes src)
{
	const struct codec *const *c;

	for (c = codecs; *c; c++)
		if ((*c)->probe(src))
			return *c;
	return NULL;
}

size_t codec_stem(const struct codec *codec, const char *file_name)
{
	const char *end = find_end(codec, file_name, name_dots(file_name));

	return end && end != file_name ? (size_t)(end - file_name) : name_stem(file_name);
}
