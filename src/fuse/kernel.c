/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "kernel.h"

#include "lowlevel.h"

#include <errno.h>

static struct fuse_session *session_of(void *closure)
{
	return *(struct fuse_session **)closure;
}

static int inval_node(void *closure, uint64_t node, bool pages)
{
	return -fuse_lowlevel_notify_inval_inode(session_of(closure), node, pages ? 0 : -1, 0);
}

static int inval_name(void *closure, uint64_t folder, const char *name)
{
	return -fuse_lowlevel_notify_inval_entry(session_of(closure), folder, name, strlen(name));
}

/*
 * Makes the kernel look the name up again. Invalidating the name instead would break getcwd() in
 * processes whose working directory it is; kernels before 6.2 can only invalidate. From libfuse
 * 3.16 on the call has no argument for flags.
 */
static int expire_name(void *closure, uint64_t folder, const char *name)
{
	struct fuse_session *session = session_of(closure);
#if FUSE_VERSION < FUSE_MAKE_VERSION(3, 16)
	int error = -fuse_lowlevel_notify_expire_entry(session, folder, name, strlen(name),
						       FUSE_LL_EXPIRE_ONLY);
#else
	int error = -fuse_lowlevel_notify_expire_entry(session, folder, name, strlen(name));
#endif

	return error == ENOSYS ? inval_name(closure, folder, name) : error;
}

static int kernel_store(void *closure, uint64_t node, struct bytes text)
{
	struct fuse_bufvec pages = FUSE_BUFVEC_INIT(text.size);

	pages.buf[0].mem = (void *)(uintptr_t)text.data;
	return -fuse_lowlevel_notify_store(session_of(closure), node, 0, &pages, 0);
}

struct kernel kernel_of(struct fuse_session **session)
{
	return (struct kernel){inval_node, inval_name, expire_name, kernel_store, session};
}
