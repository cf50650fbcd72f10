/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "handle.h"
#include "entries.h"
#include "folder.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

UNSHARED void handle_free(struct handle *h)
{
	if (h->fd >= 0)
		close(h->fd);
	program_put(h->program);
	listing_free(h->listing);
	buf_release(&h->text);
	member_bytes_release(&h->member.bytes);
	catalog_put(h->member.of);
	free(h->who);
	free(h);
}

UNSHARED static struct handle *make(struct vfs *v, const struct request *who, int flags, int fd)
{
	struct handle *h = calloc(1, sizeof(*h));

	if (!h) {
		if (fd >= 0)
			close(fd);
		return NULL;
	}
	h->flags = flags;
	h->fd = fd;
	if (!handle_writes(h) && !(flags & O_TRUNC))
		return h;
	h->program = program_of(v, who);
	if (h->program)
		return h;
	handle_free(h);
	return NULL;
}

struct handle *handle_new(struct vfs *v, const struct request *who, struct node *node, int flags,
			  int fd)
{
	struct handle *h = make(v, who, flags, fd);

	if (!h)
		return NULL;
	vfs_lock(v);
	h->node = node_get(node);
	h->next_of_node = node->handles;
	node->handles = h;
	vfs_unlock(v);
	return h;
}

int handle_spot(struct vfs *v, const struct handle *h, struct spot *out)
{
	vfs_lock(v);
	*out = (struct spot){h->member.of, h->member.entry, false};
	if (out->of)
		catalog_get(out->of);
	vfs_unlock(v);
	return out->of ? 0 : EIO;
}

void handle_leave(struct vfs *v, struct handle *h)
{
	struct handle **at = &h->node->handles;

	while (*at != h)
		at = &(*at)->next_of_node;
	*at = h->next_of_node;
	node_put(&v->nodes, h->node);
}

void handles_free(struct node *node)
{
	while (node->handles) {
		struct handle *next = node->handles->next_of_node;

		handle_free(node->handles);
		node->handles = next;
	}
}

int handle_keep(struct vfs *v, int *fd)
{
	if (*fd < descriptors_end(v->folders))
		return 0;
	close(*fd);
	*fd = -1;
	return EMFILE;
}

void handle_target(struct vfs *v, const struct handle *h, struct target *out)
{
	vfs_lock(v);
	*out = (struct target){node_get(h->node), thing_get(h->node->thing)};
	vfs_unlock(v);
}

void view_save_for(struct view_state *view, const struct handle *h)
{
	if (!h->program || view->program == h->program)
		return;
	program_put(view->program);
	view->program = program_get(h->program);
}

unsigned node_writers(const struct node *node)
{
	unsigned writers = 0;

	for (const struct handle *h = node->handles; h; h = h->next_of_node)
		writers += handle_writes(h);
	return writers;
}
