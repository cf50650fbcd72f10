/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "document.h"

#include "skeleton/find_model.h"
#include "skeleton/find_skeleton.h"
#include "skeleton/naming.h"
#include "store/encoded.h"
#include "store/tree.h"
#include "store/typed.h"
#include "text/table.h"
#include "view/json.h"

#include <errno.h>
#include <stdlib.h>

struct document_file {
	char *name;
	struct buf bytes;
};

/* What is known of the file besides its bytes. */
struct document_aids {
	const struct codec *codec;
	struct naming_table *names;       /* may be NULL */
	struct shared_skeleton *skeleton; /* may be NULL */
};

struct document {
	char *name;
	struct document_file *files;
	size_t count, room;
	struct version *version; /* NULL until it is open */
	struct document_aids aids;
	struct buf notices;
	bool is_skeleton_faulty; /* the last search found one that cannot be read */
};

static void document_drop_aids(struct document_aids *aids)
{
	naming_table_put(aids->names);
	shared_skeleton_put(aids->skeleton);
	*aids = (struct document_aids){.codec = NULL};
}

struct document *document_new(const char *name)
{
	struct document *d = calloc(1, sizeof(*d));

	if (!d)
		return NULL;
	d->name = strdup(name);
	if (d->name)
		return d;
	free(d);
	return NULL;
}

void document_free(struct document *d)
{
	if (!d)
		return;
	for (size_t i = 0; i < d->count; i++) {
		free(d->files[i].name);
		buf_release(&d->files[i].bytes);
	}
	version_put(d->version);
	document_drop_aids(&d->aids);
	buf_release(&d->notices);
	free(d->files);
	free(d->name);
	free(d);
}

const char *document_name(const struct document *d)
{
	return d->name;
}

/* ---- the files beside it ---- */

static struct document_file *document_find(const struct document *d, const char *name)
{
	for (size_t i = 0; i < d->count; i++) {
		if (strcmp(d->files[i].name, name) == 0)
			return &d->files[i];
	}
	return NULL;
}

static struct document_file *document_new_file(struct document *d, const char *name)
{
	struct document_file *files = array_room(d->files, d->count, &d->room, sizeof(*files));
	char *copy = files ? strdup(name) : NULL;

	if (files)
		d->files = files;
	if (!copy)
		return NULL;
	files[d->count] = (struct document_file){copy, BUF_INIT};
	return &files[d->count++];
}

bool document_add(struct document *d, const char *name, struct buf *bytes)
{
	struct document_file *file = document_find(d, name);

	if (!file)
		file = document_new_file(d, name);
	if (!file)
		return false;
	buf_release(&file->bytes);
	file->bytes = *bytes;
	*bytes = (struct buf)BUF_INIT;
	return true;
}

struct bytes document_beside(const struct document *d, const char *name)
{
	const struct document_file *file = document_find(d, name);

	return file ? buf_bytes(&file->bytes) : (struct bytes){NULL, 0};
}

static const char *document_file_name(void *closure, size_t i)
{
	return ((const struct document *)closure)->files[i].name;
}

static bool document_read_file(void *closure, size_t i, size_t limit, struct buf *out,
			       struct err *err)
{
	const struct bytes bytes = buf_bytes(&((const struct document *)closure)->files[i].bytes);

	if (bytes.size > limit)
		return err_set(err, ERR_SYSTEM, "%s", strerror(EFBIG));
	buf_add(out, bytes.data, bytes.size);
	return !out->failed || err_memory(err);
}

static struct skeleton_files document_beside_files(const struct document *d)
{
	return (struct skeleton_files){d->count, document_file_name, document_read_file,
				       (void *)(uintptr_t)d};
}

static bool document_neighbour(void *closure, const char *name, struct bytes *out, struct err *err)
{
	const struct document_file *file = document_find(closure, name);

	if (!file)
		return err_set(err, ERR_SYSTEM, "%s", strerror(ENOENT));
	*out = buf_bytes(&file->bytes);
	return true;
}

/* ---- decoding ---- */

static void document_note(struct document *d, const char *name, const char *fault)
{
	buf_line(&d->notices, "%s: not used: %s", name, fault);
	buf_char(&d->notices, '\n');
}

static void document_note_skeleton(void *closure, const char *name, const char *fault)
{
	struct document *d = closure;

	d->is_skeleton_faulty = fault != NULL;
	if (fault)
		document_note(d, name, fault);
}

/* A name that says no format is that of any file: then its content decides. */
static const struct codec *document_codec(const struct document *d, struct bytes bytes)
{
	const struct codec *codec = codec_for_name(d->name);

	for (unsigned i = 0; !codec && codecs[i]; i++) {
		if (!codecs[i]->format->stills && codecs[i]->probe(bytes))
			codec = codecs[i];
	}
	return codec;
}

static bool document_find_codec(const struct document *d, struct bytes bytes,
				const struct codec **codec, struct err *err)
{
	*codec = document_codec(d, bytes);
	if (!*codec)
		return err_set(err, ERR_UNKNOWN, "this is not a known animation format");
	/* They are XML, and libxml2 is not here. */
	if ((*codec)->format->stills)
		return err_set(err, ERR_UNKNOWN,
			       "a %s file is XML, which is not read here, but in a mount and by "
			       "animfs cat",
			       (*codec)->format->name);
	return true;
}

static struct naming_table *document_names(struct document *d, const struct format *format)
{
	const struct bytes text = document_beside(d, NAMING_FILE);
	struct err err = {.code = ERR_NONE};
	struct naming_table *names = NULL;
	struct buf fault = BUF_INIT;

	if (text.data && naming_concerns(format))
		names = naming_table_read(text, format, &err);
	if (err.code) {
		buf_format(&fault, "line %zu: %s%s%s%c", err_locate(text, err.at).line, err.message,
			   err.accepted[0] ? "; accepted: " : "", err.accepted, '\0');
		document_note(d, NAMING_FILE, fault.failed ? "" : (const char *)fault.data);
	}
	buf_release(&fault);
	return names;
}

static struct document_aids document_find_aids(struct document *d, const struct codec *codec)
{
	const struct skeleton_files files = document_beside_files(d);
	const struct format *format = format_stored(codec->format);

	buf_clear(&d->notices);
	d->is_skeleton_faulty = false;
	return (struct document_aids){
		.codec = codec,
		.names = document_names(d, format),
		.skeleton = find_skeleton_in(&files, d->name, format, document_note_skeleton, d)};
}

static struct version *document_decode_with(const struct document *d,
					    const struct document_aids *aids, struct buf *bytes,
					    struct err *err)
{
	const struct neighbours neighbours = {document_neighbour, (void *)(uintptr_t)d};
	const struct skeleton_files files = document_beside_files(d);
	struct decoding how = {
		.names = aids->names, .skeleton = aids->skeleton, .rotations = ROTATIONS_IN_TABLES};

	how.hints.bone_names = naming_table_names(aids->names);
	how.hints.neighbours = &neighbours;
	if (aids->codec->incomplete && aids->codec->incomplete(buf_bytes(bytes)))
		how.hints.bones = model_bones_in(&files, d->name);
	return version_of_bytes(aids->codec, bytes, d->name, &how, err);
}

static struct version *document_decode(void *closure, struct buf *bytes, struct err *err)
{
	const struct document *d = closure;

	return document_decode_with(d, &d->aids, bytes, err);
}

bool document_open(struct document *d, struct buf *bytes, struct err *err)
{
	struct document_aids aids;
	struct version *version;
	const struct codec *codec;

	if (bytes->size > DOCUMENT_MAX) {
		buf_release(bytes);
		return err_set(err, ERR_FORMAT, "the file is larger than %zu bytes, the limit",
			       DOCUMENT_MAX);
	}
	if (!document_find_codec(d, buf_bytes(bytes), &codec, err)) {
		buf_release(bytes);
		return false;
	}
	aids = document_find_aids(d, codec);
	version = document_decode_with(d, &aids, bytes, err);
	if (!version) {
		document_drop_aids(&aids);
		return false;
	}
	version_put(d->version);
	document_drop_aids(&d->aids);
	d->version = version;
	d->aids = aids;
	return true;
}

struct bytes document_notices(const struct document *d)
{
	return buf_bytes(&d->notices);
}

struct bytes document_bytes(const struct document *d)
{
	return d->version ? buf_bytes(&d->version->bytes) : (struct bytes){NULL, 0};
}

/* ---- reading ---- */

static struct tree document_tree(const struct document *d)
{
	return (struct tree){d->version, d->name};
}

static bool document_resolve(const struct document *d, const char *path, struct place *out,
			     struct err *err)
{
	const struct tree tree = document_tree(d);

	return d->version ? tree_resolve(&tree, path, out, err)
			  : err_set(err, ERR_OPERAND, "no file is open");
}

/* clip.kanim is XML (document_find_codec). */
static bool document_is_editable(const struct view *view)
{
	return !typed_is_generated(view) && strcmp(view->name, "kanim") != 0;
}

struct document_listing {
	struct buf *out;
	bool first;
};

static bool document_add_name(void *closure, const char *name, const struct place *place)
{
	struct document_listing *l = closure;

	json_write_comma(l->out, &l->first, "\n");
	buf_text(l->out, "{\"name\": ");
	json_write_name(l->out, name);
	if (place->kind == PLACE_VIEW)
		buf_format(l->out, ", \"type\": \"view\", \"view\": \"%s\", \"editable\": %s}",
			   place->view->name, document_is_editable(place->view) ? "true" : "false");
	else
		buf_text(l->out, ", \"type\": \"folder\"}");
	return true;
}

bool document_list(const struct document *d, const char *path, struct buf *out, struct err *err)
{
	const struct tree tree = document_tree(d);
	struct document_listing l = {out, true};
	struct place place;

	if (!document_resolve(d, path, &place, err))
		return false;
	if (place.kind == PLACE_VIEW)
		return err_set(err, ERR_OPERAND, "%s", strerror(ENOTDIR));
	buf_char(out, '[');
	if (!tree_list(&tree, &place, VIEW_SET_ALL, document_add_name, &l))
		return err_memory(err);
	buf_text(out, "]\n");
	return !out->failed || err_memory(err);
}

static bool document_view(const struct document *d, const char *path, struct place *out,
			  struct err *err)
{
	return document_resolve(d, path, out, err) &&
	       (out->kind == PLACE_VIEW ||
		err_set(err, ERR_OPERAND, "a folder; expected a view in it"));
}

bool document_text(const struct document *d, const char *path, struct buf *out, struct err *err)
{
	const struct tree tree = document_tree(d);
	struct place place;
	int error;

	if (!document_view(d, path, &place, err))
		return false;
	error = tree_render(&tree, &place, out);
	return !error || err_set(err, ERR_SYSTEM, "%s", strerror(error));
}

/* ---- saving ---- */

static struct encoding document_encoding(struct document *d)
{
	return (struct encoding){.codec = d->aids.codec,
				 .ground = d->version,
				 .current = d->version,
				 .max = DOCUMENT_MAX,
				 .decode = document_decode,
				 .closure = d};
}

/* Takes the reference over; NULL: it was refused. */
static enum document_saved document_take(struct document *d, struct version *result)
{
	enum document_saved saved = !result                ? DOCUMENT_REFUSED
				    : result == d->version ? DOCUMENT_SAME
							   : DOCUMENT_SAVED;

	if (!result)
		return saved;
	version_put(d->version);
	d->version = result;
	return saved;
}

static enum document_saved document_save_whole(struct document *d, struct bytes whole,
					       struct err *err)
{
	const struct encoding e = document_encoding(d);
	const struct anim *anim = d->version->anim;
	struct buf bytes = BUF_INIT;
	struct version *result = NULL;

	if (bytes_equal(whole, document_bytes(d)))
		return DOCUMENT_SAME;
	if (anim->format->parts) {
		err_set(err, ERR_STORE, "%s", anim->read_only);
		return DOCUMENT_REFUSED;
	}
	buf_add(&bytes, whole.data, whole.size);
	if (bytes.failed)
		err_memory(err);
	else
		result = encoded_given(&e, &bytes, err);
	buf_release(&bytes);
	return document_take(d, result);
}

static enum document_saved document_save_edit(struct document *d, const struct anim *edited,
					      struct err *err)
{
	const struct encoding e = document_encoding(d);
	const struct anim *anim = d->version->anim;
	struct version *result = NULL;
	struct anim *merged;

	if (anim_is_unedited(edited, anim))
		return DOCUMENT_SAME;
	merged = anim_merge(anim, edited, NULL, anim, NULL, err);
	if (merged)
		result = encoded_edit(&e, merged, err);
	anim_free(merged);
	return document_take(d, result);
}

/* As a commit checks the text that it would write (commit_skeleton.c). */
static bool document_check_skeleton(const struct document *d, const char *name,
				    const struct buf *text, struct err *err)
{
	if (text->failed)
		return err_memory(err);
	if (text->size > SKELETON_TEXT_MAX)
		return err_set(err, ERR_STORE, "the text of all bones is longer than %zu bytes",
			       SKELETON_TEXT_MAX);
	if (!d->is_skeleton_faulty || !document_find(d, name))
		return true;
	err_set(err, ERR_CONFLICT, "%.120s, which is there, cannot be read", name);
	return err_accept(err, "the same save once that file is mended or removed");
}

/* Reads the file again, with another skeleton beside it. */
static bool document_open_again(struct document *d, struct err *err)
{
	const struct bytes now = document_bytes(d);
	struct buf bytes = BUF_INIT;

	buf_add(&bytes, now.data, now.size);
	return bytes.failed ? err_memory(err) : document_open(d, &bytes, err);
}

static enum document_saved document_save_skeleton(struct document *d, const struct skeleton *edited,
						  char *beside, struct err *err)
{
	struct buf text = BUF_INIT;
	bool fine;

	if (skeleton_same(edited, shared_skeleton(d->version->skeleton)))
		return DOCUMENT_SAME;
	fine = skeleton_own_name(d->name, beside) ||
	       err_set(err, ERR_STORE, "the name of its file, %.80s..., would be too long", beside);
	if (fine) {
		skeleton_text(edited, d->version->anim, &text);
		fine = document_check_skeleton(d, beside, &text, err) &&
		       (document_add(d, beside, &text) || err_memory(err)) &&
		       document_open_again(d, err);
	}
	buf_release(&text);
	return fine ? DOCUMENT_SAVED_BESIDE : DOCUMENT_REFUSED;
}

/* The edit points into the version that it is of, which `base` keeps. */
static enum document_saved document_store(struct document *d, struct version *base,
					  const struct place *place, struct bytes text,
					  char *beside, struct err *err)
{
	const struct tree tree = {base, d->name};
	const struct shown at = tree_shown(&tree, place);
	enum document_saved saved = DOCUMENT_REFUSED;
	struct skeleton *skeleton = NULL;
	struct anim *edited = NULL;
	enum typed typed = typed_read(place->view, &at, text, &edited, err);

	if (typed == TYPED_NOTHING)
		saved = DOCUMENT_SAME;
	else if (typed == TYPED_EDIT && edited)
		saved = document_save_edit(d, edited, err);
	else if (typed == TYPED_EDIT && place->view->whole)
		saved = document_save_whole(d, text, err);
	else if (typed == TYPED_EDIT)
		skeleton = place->view->parse_skeleton(&at, text, err);
	if (skeleton)
		saved = document_save_skeleton(d, skeleton, beside, err);
	skeleton_free(skeleton);
	anim_free(edited);
	return saved;
}

enum document_saved document_save(struct document *d, const char *path, struct bytes text,
				  char *beside, const char **ignored, struct err *err)
{
	enum document_saved saved;
	struct version *base;
	struct place place;

	*ignored = NULL;
	if (!document_view(d, path, &place, err))
		return DOCUMENT_REFUSED;
	if (!typed_is_generated(place.view) && !document_is_editable(place.view)) {
		err_set(err, ERR_UNKNOWN, "this text is XML, which is not read here");
		err_accept(err, "edits of the bones' tables, curves.csv or clip.json");
		return DOCUMENT_REFUSED;
	}
	base = version_get(d->version);
	saved = document_store(d, base, &place, text, beside, err);
	version_put(base);
	if (saved != DOCUMENT_REFUSED)
		*ignored = table_ignored(place.view->file, text);
	return saved;
}
