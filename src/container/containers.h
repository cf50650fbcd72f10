/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Layer container: archives. Each kind is a const struct container (include/animfs/container.h) in
 * a file or family of its own: it lists the members of an archive and unpacks them. contents.c
 * shows the list as folders and files with valid file names. A container opens no file and trusts
 * no byte. It knows no format and no view. skel.c is the template of a new one.
 *
 * Start reading in animfs/container.h; then skel.c.
 *
 * May use: util text model
 */
/*
 * containers.h - declares the entries of containers[], one for each kind; each is at the end of X.c
 * or X_write.c.
 */
#ifndef ANIMFS_CONTAINER_CONTAINERS_H
#define ANIMFS_CONTAINER_CONTAINERS_H

#include "animfs/container.h"

extern const struct container cpk_container;
extern const struct container rab_container;
extern const struct container zip_container;
/* The template for a new container; not listed in containers[]. */
extern const struct container skel_container;

/*
 * Converts a member's error `why`, whose place counts from the member's first byte, to an error of
 * the archive. Returns false.
 */
bool member_fault(struct err *err, const struct err *why, const struct member *m);

#endif
