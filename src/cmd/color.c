/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "color.h"

#include <stdlib.h>
#include <unistd.h>

static enum when { AUTO, ALWAYS, NEVER } chosen;

bool color_choose(const char *when, struct err *err)
{
	static const char *const names[] = {
		[AUTO] = "auto", [ALWAYS] = "always", [NEVER] = "never"};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (strcmp(when ? when : "always", names[i]) == 0) {
			chosen = (enum when)i;
			return true;
		}
	}
	return err_set(err, ERR_TEXT, "expected always, never or auto");
}

static bool is_colored(FILE *out)
{
	const char *no = getenv("NO_COLOR"), *term = getenv("TERM");

	if (chosen != AUTO)
		return chosen == ALWAYS;
	return !(no && *no) && term && strcmp(term, "dumb") != 0 && isatty(fileno(out));
}

const char *color_begin(FILE *out, enum color color)
{
	static const char *const codes[] = {
		[COLOR_HEAD] = "\033[1m",       [COLOR_ADDED] = "\033[32m",
		[COLOR_REMOVED] = "\033[31m",   [COLOR_ABOUT] = "\033[36m",
		[COLOR_FOLDER] = "\033[01;34m", [COLOR_ERROR] = "\033[1;31m",
	};

	return is_colored(out) ? codes[color] : "";
}

const char *color_end(FILE *out)
{
	return is_colored(out) ? "\033[0m" : "";
}
