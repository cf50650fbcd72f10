/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "encoded.h"

/* A larger file would be a plain file from then on: nothing could take the edit back here. */
static bool encoded_check_size(const struct encoding *e, const struct buf *bytes, struct err *err)
{
	return bytes->size <= e->max ||
	       err_set(err, ERR_STORE, "the file would have %zu bytes; --max-file allows %zu",
		       bytes->size, e->max);
}

struct version *encoded_given(const struct encoding *e, struct buf *bytes, struct err *err)
{
	if (encoded_check_size(e, bytes, err))
		return e->decode(e->closure, bytes, err);
	buf_release(bytes);
	return NULL;
}

struct version *encoded_decode(const struct encoding *e, struct buf *bytes, struct err *err)
{
	struct err why = {.code = ERR_NONE};
	struct version *result = NULL;

	if (encoded_check_size(e, bytes, err)) {
		result = e->decode(e->closure, bytes, &why);
		if (!result && why.code == ERR_MEMORY)
			err_memory(err);
		else if (!result)
			err_set(err, ERR_STORE,
				"the format cannot hold this edit exactly: the result does not "
				"decode: %s",
				why.message);
	}
	buf_release(bytes);
	return result;
}

/* A model that was read from several files is never written: refuses any change of it. */
static struct version *encoded_parts(const struct encoding *e, const struct anim *model,
				     struct err *err)
{
	const struct anim *anim = e->current->anim;

	if (anim_stored(model, anim, anim, NULL))
		return version_get(e->current);
	err_set(err, ERR_STORE, "%s", anim->read_only);
	return NULL;
}

/* Takes the bytes over. */
static struct version *encoded_result(const struct encoding *e, struct buf *bytes, struct err *err)
{
	struct version *result;

	if (bytes_equal(buf_bytes(bytes), buf_bytes(&e->current->bytes))) {
		buf_release(bytes);
		return version_get(e->current);
	}
	result = encoded_decode(e, bytes, err);
	if (result)
		result->lineage = e->current->lineage;
	return result;
}

struct version *encoded_edit(const struct encoding *e, const struct anim *model, struct err *err)
{
	struct version *result;
	struct buf bytes = BUF_INIT;

	if (e->codec->format->parts)
		return encoded_parts(e, model, err);
	if (!e->codec->encode(model, buf_bytes(&e->ground->bytes), &bytes, err)) {
		if (bytes.failed)
			err_memory(err);
		buf_release(&bytes);
		return NULL;
	}
	result = encoded_result(e, &bytes, err);
	if (result && anim_stored(model, e->ground->anim, result->anim, err))
		return result;
	version_put(result);
	return NULL;
}
