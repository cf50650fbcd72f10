/* SPDX-License-Identifier: GPL-3.0-or-later */
/* mount.c - starts and ends a mount. */
#include "access.h"
#include "archive.h"
#include "batches.h"
#include "control.h"
#include "diagnostics.h"
#include "disk/history.h"
#include "disk/refusal.h"
#include "end.h"
#include "entries.h"
#include "given.h"
#include "handle.h"
#include "looked_up.h"
#include "outside.h"
#include "pinned.h"
#include "program.h"
#include "sharing.h"
#include "skeleton/naming.h"
#include "staging.h"
#include "store/recent.h"
#include "upper.h"
#include "watching.h"

#include <stdio.h>
#include <stdlib.h>

/* memory for the texts rendered last; enough for a folder of a few thousand bones */
#define RECENT_LIMIT ((size_t)8 << 20)

/* ---- when things are made and freed ---- */

static void thing_made(void *vfs, struct thing *thing) REQUIRES(vfs_class)
{
	struct animation *a = thing->animation;

	(void)vfs;
	animation_get(a);
	if (thing->kind == THING_ANIMATION) {
		thing->beside = a->beside;
		a->folder = thing;
		return;
	}
	thing->next_member = a->members;
	thing->back_member = &a->members;
	if (a->members)
		a->members->back_member = &thing->next_member;
	a->members = thing;
}

static void mount_leave_animation(struct vfs *v, struct thing *thing) REQUIRES(vfs_class)
{
	struct animation *a = thing->animation;

	if (!a)
		return;
	if (a->folder == thing)
		a->folder = NULL;
	if (thing->back_member)
		*thing->back_member = thing->next_member;
	if (thing->next_member)
		thing->next_member->back_member = thing->back_member;
	animation_put(v, a);
}

static void thing_gone(void *vfs, struct thing *thing) REQUIRES(vfs_class)
{
	struct vfs *v = vfs;

	if (thing->kind == THING_PLAIN) {
		free(thing->plain.last);
		source_free(thing->plain.source);
		if (thing->folder)
			folder_forget(v, thing);
	} else if (thing->kind == THING_VIEW) {
		draft_free(thing->view.draft);
		program_put(thing->view.program);
		view_unpin(v, thing);
	}
	if (thing->kind == THING_CLIP)
		version_put(thing->removal.base);
	if (thing->kind == THING_ARCHIVE)
		shown_archive_put(thing->archive);
	mount_leave_animation(v, thing);
}

static void node_gone(void *vfs, struct node *node) REQUIRES(vfs_class)
{
	handles_free(node);
	if (node->thing->kind == THING_PLAIN && node->thing->folder)
		folder_unwatch(vfs, node->id, node->thing);
}

/* ---- the start ---- */

static void mount_report_names(void *vfs, const char *fault)
{
	diagnose(vfs, NAMING_FILE, "not used", fault);
}

static void report_skeleton(void *vfs, const char *path, const char *fault)
{
	diagnose(vfs, path, "not used", fault);
}

/* Identifies SOURCE by its inode, so that it is found like any other plain folder. */
static bool identify_root(struct vfs *v)
{
	struct thing *thing;
	struct stat st;

	if (identity_at(v->root, ".", &v->root_identity, &st) != 0)
		return true;
	vfs_lock(v);
	thing = thing_plain(&v->nodes, AREA_SOURCE, true, &v->root_identity);
	if (thing)
		node_point(&v->nodes, nodes_by_id(&v->nodes, NODE_ROOT), thing);
	thing_put(&v->nodes, thing);
	vfs_unlock(v);
	return thing != NULL;
}

static UNSHARED bool make_nodes(struct vfs *v)
{
	if (!nodes_init(&v->nodes))
		return false;
	v->nodes.thing_made = thing_made;
	v->nodes.thing_gone = thing_gone;
	v->nodes.node_gone = node_gone;
	v->nodes.closure = v;
	return identify_root(v);
}

static bool mount_make_parts(struct vfs *v)
{
	return (v->folders = folders_new(v->root)) && (v->deadlines = deadlines_new(v)) &&
	       (v->programs = programs_new(v->deadlines, descriptors_end(v->folders))) &&
	       (v->invalidator = invalidator_new(v->kernel)) &&
	       (v->diagnostics = diagnostics_new()) &&
	       (v->pinned = pinned_new(v->options->pinned_max, v->options->store.cache)) &&
	       (v->control = control_new()) && (v->sharing = sharing_new()) &&
	       (v->stagings = stagings_new()) && (v->upper = upper_new()) &&
	       (v->looked_ups = looked_ups_new()) && (v->listings = listings_new()) &&
	       (v->recent = recent_new(RECENT_LIMIT)) &&
	       (v->refusals = refusals_new(v->state, v->options->rejected_max));
}

static bool make_store(struct vfs *v)
{
	v->store = store_new(&v->options->store, v->state);
	if (!v->store)
		return false;
	store_report_skeletons(v->store, report_skeleton, v);
	access_start(v);
	return store_names(v->store, v->root, mount_report_names, v);
}

static bool make_overlay(struct vfs *v)
{
	struct err err = {.code = ERR_NONE};

	v->overlay = overlay_new(v->state, v->options->overlay, &err);
	if (!v->overlay)
		fprintf(stderr, "animfs: %s\n", err.message);
	return v->overlay != NULL;
}

int vfs_overlay_above(const struct vfs *v)
{
	return overlay_above(v->overlay);
}

static struct vfs *mount_out_of_memory(void)
{
	fprintf(stderr, "animfs: out of memory\n");
	return NULL;
}

UNSHARED struct vfs *vfs_new(const struct mount_options *options, const struct kernel *kernel,
			     int fd, struct state *state, bool read_only)
{
	struct vfs *v = calloc(1, sizeof(*v));

	if (!v)
		return mount_out_of_memory();
	v->options = options;
	v->kernel = kernel;
	if (options->stopped_clock)
		clock_stop();
	v->since = clock_wall_ns();
	v->root = fd;
	v->state = state;
	v->read_only = read_only;
	v->drafts.limit = options->drafts_max;
	v->given.limit = GIVEN_ALL_MAX;
	v->given_free = given_free;
	v->animation_ends = end_due;
	v->animation_looks = outside_due;
	if (!read_only && history_recover(state) == EBUSY)
		log_warning("another process holds the lock of the state directory: what a kill "
			    "left half done there is completed by the next mount");
	lock_init(&v->lock);
	lock_condition_init(&v->gate.moved);
	if (!make_overlay(v)) {
		vfs_free(v);
		return NULL;
	}
	if (mount_make_parts(v) && make_nodes(v) && make_store(v))
		return v;
	vfs_free(v);
	return mount_out_of_memory();
}

bool vfs_watch(struct vfs *v)
{
	if (!invalidator_start(v->invalidator) || !deadlines_start(v->deadlines) ||
	    !programs_watch(v->programs))
		return false;
	outside_start(v);
	return true;
}

void vfs_resume(struct vfs *v)
{
	stagings_resume(v);
}

/* ---- the end ---- */

void vfs_silence(struct vfs *v)
{
	invalidator_silence(v->invalidator);
}

/*
 * Ends the drafts and removals of an animation, at the end of the mount, without waiting for its
 * deadline.
 */
static void end_animation(struct vfs *v, struct animation *a)
{
	struct changes changes = CHANGES_INIT;

	writer_lock(a);
	end_finish(v, a, &changes);
	batches_end(v, a, BATCHES_LAST);
	writer_unlock(a);
	changes_discard(&changes);
}

/*
 * Stops all threads: first the deadlines, whose functions may use the programs and the watch until
 * they return.
 */
static void stop_threads(struct vfs *v)
{
	if (v->deadlines)
		deadlines_stop(v->deadlines);
	if (v->programs)
		programs_stop(v->programs);
	outside_end(v);
}

void vfs_finish(struct vfs *v)
{
	struct deadline *deadline;

	stop_threads(v);
	drafts_commit_all(v);
	stagings_end(v);
	while ((deadline = deadlines_take(v->deadlines))) {
		if (deadline->due == v->animation_ends)
			end_animation(v, deadline->user);
		if (deadline->due != v->animation_ends && deadline->due != v->animation_looks)
			continue;
		vfs_lock(v);
		animation_put(v, deadline->user);
		vfs_unlock(v);
	}
}

/* Frees a mount, also one that is only partly made. */
UNSHARED void vfs_free(struct vfs *v)
{
	stop_threads(v);
	invalidator_free(v->invalidator);
	nodes_release(&v->nodes);
	deadlines_free(v->deadlines);
	store_free(v->store);
	folders_free(v->folders);
	stagings_free(v->stagings);
	programs_free(v->programs);
	upper_free(v->upper);
	looked_ups_free(v->looked_ups);
	sharing_free(v->sharing);
	listings_free(v->listings);
	recent_free(v->recent);
	refusals_free(v->refusals);
	control_free(v->control);
	pinned_free(v->pinned);
	diagnostics_free(v->diagnostics);
	overlay_free(v->overlay);
	pthread_cond_destroy(&v->gate.moved);
	lock_destroy(&v->lock);
	free(v);
}
