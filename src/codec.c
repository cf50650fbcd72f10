/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "codec/codecs.h"

#include <fnmatch.h>
#include <string.h>

const struct codec *const codecs[] = {
	&canm_codec, &cas_codec, &ribbon_codec, &owanim_codec, &ff9anim_codec, &kanim_codec, NULL,
};

const struct codec *codec_named(const char *name)
{
	const struct codec *const *c;

	for (c = codecs; *c; c++)
		if (strcmp((*c)->format->name, name) == 0)
			return *c;
	return NULL;
}

static bool codec_claims(const struct codec *c, const char *file_name)
{
	const char *const *pattern;

	for (pattern = c->patterns; *pattern; pattern++)
		if (fnmatch(*pattern, file_name, FNM_CASEFOLD) == 0)
			return true;
	return false;
}

const struct codec *codec_for_name(const char *file_name)
{
	const struct codec *const *c;

	for (c = codecs; *c; c++)
		if (codec_claims(*c, file_name))
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
