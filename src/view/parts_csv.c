/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * parts.csv: the files that a clip was joined from, in order; where each begins in the clip, and
 * how many frames it has.
 *
 *	file,frame,time,frames
 *	jump1.anm,0,0,30
 *	jump2.anm,30,1,12
 */
#include "csv.h"
#include "views.h"

static void parts_csv_write_file(const void *row, unsigned what, struct buf *out);
static void parts_csv_write_place(const void *row, unsigned what, struct buf *out);
static void parts_csv_write_frames(const void *row, unsigned what, struct buf *out);

static const struct column columns[] = {
	{"file", NULL, parts_csv_write_file, 0},
	{"frame,time", NULL, parts_csv_write_place, 0},
	{"frames", NULL, parts_csv_write_frames, 0},
};

static const struct table_form form = {columns, ARRAY_SIZE(columns), 0, 7, 0};

struct row {
	const struct clip_part *part;
	double seconds_per_frame;
};

static void parts_csv_write_file(const void *row, unsigned what, struct buf *out)
{
	(void)what;
	csv_write_text(((const struct row *)row)->part->file, out);
}

static void parts_csv_write_place(const void *row, unsigned what, struct buf *out)
{
	const struct row *r = row;
	char text[CSV_TIME_MAX];

	(void)what;
	buf_add(out, text, csv_put_time(text, r->part->first, r->seconds_per_frame));
}

static void parts_csv_write_frames(const void *row, unsigned what, struct buf *out)
{
	(void)what;
	buf_unsigned(out, ((const struct row *)row)->part->frames);
}

static bool parts_present(const struct shown *at)
{
	return at->anim->format->parts != NULL;
}

static void parts_render(const struct shown *at, struct buf *out)
{
	const struct anim *a = at->anim;

	table_write_names(&form, ",", out);
	buf_char(out, '\n');
	for (uint32_t i = 0; i < a->part_count && !out->failed; i++) {
		const struct row row = {&a->parts[i], anim_seconds_per_frame(a, &a->clips[0])};

		table_write_row(&form, &row, out);
	}
}

const struct view view_parts_csv = {
	.name = "parts",
	.place = VIEW_OF_FILE,
	.file = "parts.csv",
	.present = parts_present,
	.render = parts_render,
};
