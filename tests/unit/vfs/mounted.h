/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * mounted.h - a mount of a scratch folder without libfuse and a kernel, for tests of the code below
 * the requests. The folder has one animation file, w.canm.
 */
#ifndef ANIMFS_TESTS_UNIT_VFS_MOUNTED_H
#define ANIMFS_TESTS_UNIT_VFS_MOUNTED_H

#include "load.h"
#include "scratch.h"
#include "store/create.h"
#include "util/clock.h"
#include "vfs/animation.h"
#include "vfs/diagnostics.h"
#include "vfs/handle.h"
#include "vfs/kernel.h"
#include "vfs/mount_options.h"
#include "vfs/program.h"
#include "vfs/vfs.h"

#include <sys/wait.h>

#define MOUNTED_FILE "w.canm"
#define MOUNTED_MEMORY ((size_t)64 << 20)

/*
 * Set it before mounted_begin_in: changes by others are then noticed only when a request looks, and
 * no timer runs.
 */
static bool mounted_unwatched;

static struct mounted {
	struct buf sample;
	struct mount_options options;
	struct state *state;
	struct vfs *v;
	struct target folder; /* the folder of the animation file */
	struct animation *a;
} mounted;

/* The kernel's answer to a notification that drops attributes or pages of a node. NULL: success. */
static int (*mounted_drops)(uint64_t node);

static inline int mounted_inval_node(void *closure, uint64_t node, bool pages)
{
	(void)closure, (void)pages;
	return mounted_drops ? mounted_drops(node) : 0;
}

static inline int mounted_name(void *closure, uint64_t folder, const char *name)
{
	(void)closure, (void)folder, (void)name;
	return 0;
}

static inline int mounted_store(void *closure, uint64_t node, struct bytes text)
{
	(void)closure, (void)node, (void)text;
	return 0;
}

static const struct kernel mounted_kernel = {mounted_inval_node, mounted_name, mounted_name,
					     mounted_store, NULL};

static inline void mounted_quiet(const char *line)
{
	(void)line;
}

/* Sets up the mount on the present contents of the scratch folder. */
static inline void mounted_up(void)
{
	const struct request who = {.uid = getuid(), .pid = getpid()};
	struct err err = {.code = ERR_NONE};
	struct entry entry;

	mounted.state = state_new(scratch_root, NULL, false, &err);
	ck_assert_msg(mounted.state != NULL, "%s", err.message);
	mounted.v = vfs_new(&mounted.options, &mounted_kernel, scratch_root, mounted.state, false);
	ck_assert_ptr_nonnull(mounted.v);
	if (!mounted_unwatched)
		ck_assert(vfs_watch(mounted.v));
	ck_assert_int_eq(vfs_lookup(mounted.v, &who, NODE_ROOT, MOUNTED_FILE, &entry), 0);
	ck_assert_int_eq(target_get(mounted.v, entry.node, &mounted.folder), 0);
	mounted.a = mounted.folder.thing->animation;
	ck_assert_ptr_nonnull(mounted.a);
}

static inline void mounted_down(void)
{
	target_put(mounted.v, &mounted.folder);
	vfs_silence(mounted.v);
	vfs_finish(mounted.v);
	vfs_free(mounted.v);
	state_free(mounted.state);
}

static inline void mounted_put(const char *name, struct bytes bytes)
{
	FILE *file = fopen(name, "wb");

	ck_assert_ptr_nonnull(file);
	ck_assert_uint_eq(fwrite(bytes.data, 1, bytes.size, file), bytes.size);
	ck_assert_int_eq(fclose(file), 0);
}

/* Replaces the file, as another program, by an edit of this version. */
static inline void mounted_replace(struct version *was, const struct anim *edited)
{
	struct version *made;
	struct site site;

	ck_assert_int_eq(site_open(mounted.v, mounted.a, &site), 0);
	made = source_edited(mounted.a->source, &site.where, was, edited, NULL);
	ck_assert_ptr_nonnull(made);
	mounted_put("outside", buf_bytes(&made->bytes));
	ck_assert_int_eq(rename("outside", MOUNTED_FILE), 0);
	version_put(made);
	site_close(mounted.v, &site);
}

static inline void mounted_begin_in(const char *sample)
{
	/* so that no rule's time passes during a test, on the slowest machine either */
	clock_stop();
	log_write = mounted_quiet;
	mounted.sample = load_file(sample);
	scratch_begin();
	mounted_put(MOUNTED_FILE, buf_bytes(&mounted.sample));
	mounted.options = (struct mount_options){.source = scratch_path,
						 .listed = VIEW_SET_ALL,
						 .store = {.cache = MOUNTED_MEMORY,
							   .max_file = MOUNTED_MEMORY,
							   .history = MOUNTED_MEMORY},
						 .max_text = MOUNTED_MEMORY,
						 .upper_max = MOUNTED_MEMORY,
						 .drafts_max = MOUNTED_MEMORY,
						 .rejected_max = MOUNTED_MEMORY,
						 .pinned_max = MOUNTED_MEMORY,
						 .uid = -1,
						 .gid = -1,
						 .umask = -1};
	mounted_up();
}

static inline void mounted_end(void)
{
	mounted_down();
	buf_release(&mounted.sample);
	scratch_end();
}

/* ---- programs ---- */

/* Starts a process that runs until mounted_kill. */
static inline pid_t mounted_process(void)
{
	pid_t child = fork();

	ck_assert_int_ge(child, 0);
	if (!child) {
		pause();
		_exit(0);
	}
	return child;
}

static inline void mounted_kill(pid_t child)
{
	ck_assert_int_eq(kill(child, SIGKILL), 0);
	ck_assert_int_eq(waitpid(child, NULL, 0), child);
}

static inline struct program *mounted_program(pid_t pid)
{
	const struct request who = {.uid = getuid(), .pid = pid};
	struct program *p = program_of(mounted.v, &who);

	ck_assert_ptr_nonnull(p);
	return p;
}

#endif
