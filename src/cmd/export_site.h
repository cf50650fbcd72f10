/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * export_site.h - what makes the pages of an export a site: the player, which they share, and an
 * index of all that have been exported, for any web server or from disk.
 */
#ifndef ANIMFS_CMD_EXPORT_SITE_H
#define ANIMFS_CMD_EXPORT_SITE_H

#include "animfs/base.h"

/* Puts player.js, player.css and index.html into the folder, over all file.html below it. */
bool export_site(int dir, struct err *err);

#endif
