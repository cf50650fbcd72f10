/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * export_hive.h - the clips of an animation file as one long table in partitions, as Spark, DuckDB,
 * Trino and pandas read them:
 *
 *	DIR/format=canm/file=object%2Fe0000%2Franger.canm/clip=walk/part.csv
 *
 * A part is the clip's curves.csv. `file` is the path from SOURCE, `clip` the name that all texts
 * use; both are escaped as by Hive.
 */
#ifndef ANIMFS_CMD_EXPORT_HIVE_H
#define ANIMFS_CMD_EXPORT_HIVE_H

#include "export_folder.h"
#include "text/pack.h"

/* Exports a file as partitions; `parent` and `name` of x are ignored. */
bool export_hive(struct folder_export *x, int dir, const char *path, enum packing packing,
		 struct err *err);
/* Was the export made from exactly these inputs? */
bool export_hive_is_current(int dir, const char *path, const struct format *format,
			    const char *made_of);

/* Appends a value, escaped for the name of a partition. */
void hive_escape(const char *value, struct buf *out);

#endif
