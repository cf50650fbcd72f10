/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "member.h"

#include "model/names.h"
#include "skeleton/find_model.h"

#include <stdlib.h>
#include <strings.h>

static const struct member *member_at(const struct member_of *m)
{
	return &m->archive->members[m->contents->entries[m->entry].member];
}

const struct container *store_container(const struct store *s, const char *file_name)
{
	const struct codec *codec;
	bool probe;

	/* --type may claim the name for a format. */
	return store_claims(s, file_name, &codec, &probe) && codec ? NULL
								   : container_for_name(file_name);
}

const struct container *member_container(const struct store *s, const struct member_of *m)
{
	return store_container(s, member_at(m)->name);
}

bool member_claims(const struct store *s, const struct member_of *m, const struct codec **codec,
		   bool *probe)
{
	return store_claims(s, member_at(m)->name, codec, probe) &&
	       !(*codec && ((*codec)->format->stills || (*codec)->format->parts));
}

/* ---- the skeleton ---- */

/* A member of this archive, or of one in it, that may be the skeleton. */
struct beside_file {
	const struct archive *archive;
	uint32_t member;
};

struct beside {
	struct beside_file *files;
	size_t count, room;
	struct inner {
		struct archive *archive;
		struct buf bytes;
	} * inner; /* the archives that were opened */
	size_t inner_count, inner_room;
};

static const char *member_beside_name(void *closure, size_t i)
{
	const struct beside_file *f = &((const struct beside *)closure)->files[i];

	return f->archive->members[f->member].name;
}

static bool beside_read(void *closure, size_t i, size_t limit, struct buf *out, struct err *err)
{
	const struct beside_file *f = &((const struct beside *)closure)->files[i];

	return archive_read(f->archive, f->member, limit, out, err);
}

static bool member_add_file(struct beside *b, const struct archive *archive, uint32_t member)
{
	struct beside_file *files = array_room(b->files, b->count, &b->room, sizeof(*files));

	if (!files)
		return false;
	b->files = files;
	files[b->count++] = (struct beside_file){archive, member};
	return true;
}

static bool same_stem(const char *a, const char *b)
{
	size_t size = name_stem(a);

	return size == name_stem(b) && strncasecmp(a, b, size) == 0;
}

/* Adds the models in an inner archive. An archive that cannot be read contributes none. */
static bool add_inner(struct beside *b, const struct archive *outer, uint32_t member,
		      const struct container *container)
{
	struct inner *inner = array_room(b->inner, b->inner_count, &b->inner_room, sizeof(*inner));
	struct archive *archive;
	struct input in;

	if (!inner)
		return false;
	b->inner = inner;
	inner += b->inner_count++;
	*inner = (struct inner){NULL, BUF_INIT};
	if (!archive_input(outer, member, MODEL_LIMIT, &inner->bytes, &in, NULL))
		return true;
	inner->archive = archive = archive_open(container, &in, MODEL_LIMIT, NULL);
	for (uint32_t i = 0; archive && i < archive->count; i++) {
		const char *name = archive->members[i].name;

		if (name && model_has_name(name) && !member_add_file(b, archive, i))
			return false;
	}
	return true;
}

static bool find_beside(struct beside *b, const struct member_of *m)
{
	const struct contents_entry *entries = m->contents->entries;
	const char *own = member_at(m)->name;
	size_t length;

	for (uint32_t i = entries[entries[m->entry].parent].first; i != CONTENTS_NONE;
	     i = entries[i].next) {
		uint32_t member = entries[i].member;
		const char *name = member == CONTENTS_NONE ? "" : m->archive->members[member].name;
		const struct container *container = container_for_name(name);

		if (i == m->entry || !*name)
			continue;
		if (container && same_stem(name, own) &&
		    !add_inner(b, m->archive, member, container))
			return false;
		if ((skeleton_is_shared_name(name) || skeleton_is_own_name(name, &length)) &&
		    !member_add_file(b, m->archive, member))
			return false;
	}
	return true;
}

static void beside_release(struct beside *b)
{
	for (size_t i = 0; i < b->inner_count; i++) {
		archive_close(b->inner[i].archive);
		buf_release(&b->inner[i].bytes);
	}
	free(b->inner);
	free(b->files);
}

static void member_pass_fault(void *closure, const char *name, const char *fault)
{
	store_report_skeleton(closure, name, fault);
}

/* ---- the animation ---- */

/* Returns the name of the member as a file name. NULL when out of memory. */
static const char *file_name_of(const struct member_of *m, struct buf *room)
{
	name_escape(member_at(m)->name, NAME_LIMIT, room);
	buf_char(room, '\0');
	return room->failed ? NULL : (const char *)room->data;
}

bool member_decoding(const struct store *s, const struct member_of *m, const struct codec *codec,
		     struct bytes bytes, struct decoding *how)
{
	struct beside b = {.files = NULL};
	struct skeleton_files found = {0, member_beside_name, beside_read, &b};
	const char *stored = member_at(m)->name;
	bool fine = !codec || find_beside(&b, m);

	found.count = b.count;
	if (fine && codec) {
		if (!how->hints.bones && codec->incomplete && codec->incomplete(bytes))
			how->hints.bones = model_bones_in(&found, stored);
		how->skeleton =
			find_skeleton_in(&found, stored, format_stored(codec->format),
					 store_reports_skeletons(s) ? member_pass_fault : NULL,
					 (void *)(uintptr_t)s);
	}
	beside_release(&b);
	return fine;
}

/* Finds the folder with a stored path, in any case; CONTENTS_NONE: none. */
static uint32_t folder_of_path(const struct contents *c, const char *path)
{
	uint32_t at = CONTENTS_TOP;

	while (*path && at != CONTENTS_NONE) {
		const size_t size = strcspn(path, "/");

		at = c->entries[at].first;
		while (at != CONTENTS_NONE && (c->entries[at].member != CONTENTS_NONE ||
					       c->entries[at].stored_size != size ||
					       strncasecmp(c->entries[at].stored, path, size) != 0))
			at = c->entries[at].next;
		path += size + (path[size] == '/');
	}
	return at;
}

struct shared_skeleton *member_model(const struct store *s, const struct member_of *top,
				     const char *folder, const char *name,
				     const struct format *format)
{
	const struct contents_entry *entries = top->contents->entries;
	uint32_t at = folder_of_path(top->contents, folder);
	struct beside b = {.files = NULL};
	struct skeleton_files found = {0, member_beside_name, beside_read, &b};
	struct shared_skeleton *skeleton = NULL;
	bool fine = at != CONTENTS_NONE;

	for (at = fine ? entries[at].first : at; fine && at != CONTENTS_NONE;
	     at = entries[at].next) {
		const uint32_t member = entries[at].member;
		const struct container *container =
			member == CONTENTS_NONE ? NULL : container_for_name(entries[at].stored);

		if (container && same_stem(entries[at].stored, name))
			fine = add_inner(&b, top->archive, member, container);
	}
	found.count = b.count;
	if (fine)
		skeleton = find_skeleton_in(&found, name, format,
					    store_reports_skeletons(s) ? member_pass_fault : NULL,
					    (void *)(uintptr_t)s);
	beside_release(&b);
	return skeleton;
}

static struct version *decode(struct store *s, const struct member_of *m, const struct codec *codec,
			      struct buf *bytes, struct err *err)
{
	struct decoding how = store_decoding(s, member_at(m)->name, codec);
	struct version *version = NULL;
	struct buf room = BUF_INIT;
	const char *name = file_name_of(m, &room);

	if (name && member_decoding(s, m, codec, buf_bytes(bytes), &how))
		version = version_of_bytes(codec, bytes, name, &how, err);
	else
		err_memory(err);
	shared_skeleton_put(how.skeleton);
	naming_table_put(how.names);
	buf_release(&room);
	return version;
}

bool member_can_be(const struct codec *codec, struct err *err)
{
	return !codec || !(codec->format->stills || codec->format->parts) ||
	       err_set(err, ERR_UNKNOWN,
		       "a %s file lists others beside it and cannot be read in "
		       "an archive",
		       codec->format->name);
}

void member_stat(const struct member_of *m, struct stat *st)
{
	const struct member *member = member_at(m);
	uint64_t size;

	/* The size of a damaged member must not be 0: a program must read it to get the error. */
	if (!archive_measure(m->archive, m->contents->entries[m->entry].member, &size, NULL))
		size = member->stored ? member->stored : 1;
	*st = *m->st;
	st->st_mode = S_IFREG | (st->st_mode & 0444);
	st->st_nlink = 1;
	st->st_size = size <= INT64_MAX ? (off_t)size : INT64_MAX;
	if (member->time)
		st->st_mtim = (struct timespec){.tv_sec = (time_t)member->time};
}

struct version *member_version(struct store *s, const struct member_of *m, struct err *err)
{
	const struct codec *codec = NULL;
	struct version *version = NULL;
	struct buf bytes = BUF_INIT;
	struct stat st;
	bool probe;

	if (archive_read(m->archive, m->contents->entries[m->entry].member,
			 store_settings(s)->max_file, &bytes, err)) {
		if (!store_claims(s, member_at(m)->name, &codec, &probe) || probe)
			codec = codec_probe(buf_bytes(&bytes));
		if (member_can_be(codec, err))
			version = decode(s, m, codec, &bytes, err);
	}
	member_stat(m, &st);
	if (version)
		version_settle_ages(version, st.st_mtim, NULL, NULL);
	buf_release(&bytes);
	return version;
}
