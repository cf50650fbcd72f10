/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * export_site.h - turns the pages of an export into a site, for a web server or from disk: with a
 * shared player, and an index of all exported files.
 */
#ifndef ANIMFS_CMD_EXPORT_SITE_H
#define ANIMFS_CMD_EXPORT_SITE_H

#include "animfs/base.h"

/* Puts player.js, player.css and index.html into the folder, over all file.html below it. */
bool export_site(int dir, struct err *err);

#endif
