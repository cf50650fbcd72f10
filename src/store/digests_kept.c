/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "digests_kept.h"

#include "create.h"

#include <errno.h>

struct digests *digests_load(struct state *state, const struct history_file *file)
{
	struct buf blob = BUF_INIT;
	struct digests *d = NULL;
	int error = history_blob_get(state, file, &blob);

	if (!error && !blob.failed)
		d = digests_read(buf_bytes(&blob));
	if (!d)
		d = digests_new();
	if (d && ((error && error != ENODATA) || blob.failed))
		digests_set_partial(d);
	buf_release(&blob);
	return d;
}

int digests_store(struct state *state, const struct history_file *file, const struct digests *d)
{
	struct buf blob = BUF_INIT;
	int error;

	if (digests_is_partial(d))
		return EIO;
	digests_write(d, &blob);
	error = blob.failed ? ENOMEM : history_blob_put(state, file, buf_bytes(&blob));
	buf_release(&blob);
	return error;
}

/* ---- versions of the history ---- */

#define LEARN_MAX 16 /* limit of versions to learn, since each must be decoded */

static void learn_version(struct digests *d, const struct where *where, struct source *source,
			  const struct history_book *book, size_t i)
{
	const struct history_digest *whole = &book->log.list[i].digest;
	struct buf bytes = BUF_INIT;
	struct version *v = NULL;

	if (digests_of_file(d, (struct digest){whole->low, whole->high}))
		return;
	i = history_kept(&book->log, i);
	if (i != SIZE_MAX && history_bytes(book, i, &bytes, NULL) == 0)
		v = source_decode(source, where, buf_bytes(&bytes), NULL);
	buf_release(&bytes);
	if (v)
		(void)digests_add(d, v, NULL);
	version_put(v);
}

void digests_learn(struct digests *d, struct state *state, const struct where *where,
		   struct source *source)
{
	const struct history_file file = where_file(where);
	struct history_book book = HISTORY_BOOK_INIT;
	size_t first;

	if (history_open_end(state, &file, &book) == 0) {
		first = book.log.count < LEARN_MAX ? 0 : book.log.count - LEARN_MAX;
		for (size_t i = first; i < book.log.count; i++)
			learn_version(d, where, source, &book, i);
	}
	history_release(&book);
}
