/* SPDX-License-Identifier: GPL-3.0-or-later */
/* html.h - what the pages clip.html and file.html share. */
#ifndef ANIMFS_VIEW_HTML_H
#define ANIMFS_VIEW_HTML_H

#include "animfs/view.h"
#include "page.h"

/*
 * Writes the start of the page's data: kind ('C' for a clip of curves, 'S' for a clip of stills,
 * 'F' for a file of curves, 'G' for a file of stills), layout, names.
 */
void html_begin(struct page *p, char kind, const struct shown *at);

#endif
