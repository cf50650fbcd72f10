/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * statement.h - the values in a text as digests by unit (digests.h): enough to find versions that
 * have the same values, and texts that contradict it.
 */
#ifndef ANIMFS_STORE_STATEMENT_H
#define ANIMFS_STORE_STATEMENT_H

#include "digests.h"
#include "tree.h"

struct said_unit {
	unit_id unit;
	struct digest digest; /* mapped to the file's form (digests_in_form) */
	/*
	 * Clip and bone of the unit; NULL: the whole clip's, or the file's. They belong to the
	 * base, the whole file, or the statement.
	 */
	const char *clip, *bone;
	bool changed;   /* the text's value differs from the base's */
	bool overtaken; /* another program changed the unit after the text was opened (batch.c) */
};

/* The values in a text; {0} is empty. */
struct statement {
	struct said_unit *units; /* values, sorted by unit */
	size_t count, room;
	struct arena names; /* names of bones that the base lacks */
};
void statement_release(struct statement *s);

/*
 * Makes the statement of a text of the view at `place` in `base`, which was parsed into `edited`
 * against base. `number`: that of base. Unchanged values are not hashed. False when out of memory.
 */
bool statement_of_text(struct statement *s, const struct digests *known, const struct version *base,
		       uint32_t number, const struct place *place, const struct anim *edited);
/* Like statement_of_text, for the text that the view had in version `then` (digests_of_text). */
bool statement_of_noted(struct statement *s, const struct digests *known,
			const struct version *base, uint32_t number, const struct place *place,
			uint32_t then);
/* Like statement_of_text, for a whole file (raw.*) that is saved over version `number`. */
bool statement_of_version(struct statement *s, const struct digests *known, uint32_t number,
			  const struct version *whole);

/* Returns the text's value of the unit; NULL: the text has none. */
const struct said_unit *statement_find(const struct statement *s, unit_id unit);
/* Does `b` have a value for every unit that `a` has one for? */
bool statement_covers(const struct statement *b, const struct statement *a);

#endif
