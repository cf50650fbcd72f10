/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * burst.c - what people do below one file in quick succession belongs together, and is finished
 * when it is over: clips whose folders were removed leave the file, at once for all; views that
 * were removed are there again.
 *
 * A folder that was copied out, edited in one text and copied back says in all its other texts what
 * was there before. In the burst in which that one is saved these are passed over, whatever their
 * order; but a text that was saved in the burst is taken at its word, since going back is an edit.
 */
#include "fs.h"

#include <stdio.h>
#include <string.h>

/* ---- texts ---- */

/* In the file's folder; NULL when out of memory, or when the view has no name any more. */
static const char *path_in_file(struct fs *fs, const struct node *parent, const char *name,
				struct buf *out)
{
	struct buf top = BUF_INIT;
	size_t length;
	int error = fs_path(fs, parent, name, out);

	nodes_lock(&fs->nodes);
	if (!error)
		error = node_path(parent->file->node, &top);
	nodes_unlock(&fs->nodes);
	length = top.size; /* with its NUL, where the other has a slash */
	buf_release(&top);
	return error || out->size <= length ? NULL : (const char *)out->data + length;
}

void burst_begin(struct fs *fs, struct file *file)
{
	struct snap *now;

	if (file->before && burst_is_over(file, clock_ms()))
		file_end_burst(file);
	if (file->before || fs_snap(fs, file, &now) != 0)
		return;
	file_begin_burst(file, now);
	snap_put(now);
}

void burst_saved(struct fs *fs, const struct node *parent, const char *name)
{
	struct buf path = BUF_INIT;
	const char *in_file = path_in_file(fs, parent, name, &path);

	if (in_file)
		file_note_saved(parent->file, in_file);
	buf_release(&path);
}

static bool says(const struct tree *tree, const struct place *place, const struct buf *text)
{
	struct buf was = BUF_INIT;
	bool same;

	tree_render(tree, place, &was);
	same = !was.failed && bytes_equal(buf_bytes(&was), buf_bytes(text));
	buf_release(&was);
	return same;
}

/* Does the view say this now? Then there is nothing to pass over. */
static bool says_now(struct fs *fs, struct node *parent, const char *name, const struct buf *text)
{
	struct tree tree = {NULL, parent->file->name};
	struct place place;
	struct snap *now;
	bool same;

	if (fs_snap(fs, parent->file, &now) != 0)
		return true;
	tree.snap = now;
	same = now->generation == parent->file->before->generation ||
	       (fs_is_view(fs, now, parent, name, &place) && says(&tree, &place, text));
	snap_put(now);
	return same;
}

bool burst_passes_over(struct fs *fs, struct node *parent, const char *name, const struct buf *text)
{
	struct file *file = parent->file;
	struct tree before = {file->before, file->name};
	struct buf path = BUF_INIT;
	const char *in_file;
	struct place place;
	bool stale;

	if (!file->before || !text->size)
		return false;
	in_file = path_in_file(fs, parent, name, &path);
	stale = in_file && !file_was_saved(file, in_file) &&
		fs_is_view(fs, file->before, parent, name, &place) && place.kind == PLACE_VIEW &&
		!says_now(fs, parent, name, text) && says(&before, &place, text);
	buf_release(&path);
	file->passed += stale;
	return stale;
}

static void note_passed(struct fs *fs, struct file *file)
{
	char text[120];

	if (!file->passed)
		return;
	snprintf(text, sizeof(text),
		 "%u text%s, saved together with an edit, said what was there before it",
		 file->passed, file->passed == 1 ? "" : "s");
	file_note(fs, file, NULL, "passed over", text);
}

/* ---- names ---- */

/* The folder beside the file was removed: it is a view of a file that is still there. */
static bool whole_folder_is_away(const struct file *file)
{
	for (const struct away *away = file->away; away; away = away->next) {
		if (!node_is_virtual(away->parent))
			return true;
	}
	return false;
}

static void come_back(struct fs *fs, struct file *file, struct away *away)
{
	if (!node_is_virtual(away->parent)) {
		/* The kernel takes the folder that it removed for dead: another one stands there.
		 */
		nodes_lock(&fs->nodes);
		nodes_unlink(&fs->nodes, away->parent, away->name);
		nodes_unlock(&fs->nodes);
	}
	notify_entry(fs, away->parent, away->name);
	notify_listing(fs, away->parent);
	file_clear_away(file, &fs->nodes, away->parent, away->name);
}

void file_come_back(struct fs *fs, struct file *file)
{
	while (file->away)
		come_back(fs, file, file->away);
}

int burst_finish(struct fs *fs, struct file *file, struct changes *changes)
{
	int error = 0;

	if (file->away && !whole_folder_is_away(file))
		error = clips_take_out(fs, file, changes);
	file_come_back(fs, file);
	note_passed(fs, file);
	file_end_burst(file);
	return error;
}

bool burst_is_over(const struct file *file, int64_t now)
{
	return now - file->burst >= BURST_MS;
}

bool burst_end(struct fs *fs, struct file *file, int64_t now, struct changes *changes)
{
	if (!file->away && !file->before)
		return false;
	if (!burst_is_over(file, now))
		return true;
	burst_finish(fs, file, changes);
	return false;
}
