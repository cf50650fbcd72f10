/* SPDX-License-Identifier: GPL-3.0-or-later */
/* stills.c - any texts as the stills of a clip, each ended by a byte 0. */
#include "fuzz.h"
#include "view/own_digest.h"
#include "view/stills_figure.h"

#define STILLS_AT_ONCE 4
/* clang-format off: markup */
static const char moved[] =
	"<X3D><Scene><Transform DEF='a' translation='0 1 0' center='1 0 0'><Shape>"
	"<Appearance><Material DEF='m' diffuseColor='1 0 0'/></Appearance>"
	"<IndexedFaceSet coordIndex='0 1 2 -1'><Coordinate point='0 0 0 1 0 0 1 1 0'/>"
	"</IndexedFaceSet></Shape></Transform></Scene></X3D>\0"
	"<X3D><Scene><Transform DEF='a' translation='0 2 0' center='1 1 0'><Shape>"
	"<Appearance><Material DEF='m' diffuseColor='0 0 1'/></Appearance>"
	"<IndexedFaceSet coordIndex='0 1 2 -1'><Coordinate point='0 0 1 1 0 0 1 1 0'/>"
	"</IndexedFaceSet></Shape></Transform></Scene></X3D>";
static const char used[] =
	"<X3D><Scene><Group DEF='g'><Shape DEF='s'><Cone height='3'/></Shape></Group>"
	"<Switch whichChoice='0'><Group USE='g'/></Switch><LOD><Shape USE='s'/></LOD>"
	"<Inline url='\"a.x3d\" \"b\"'/>"
	"<Shape><PointSet><Coordinate point='1 2 3'/></PointSet></Shape></Scene></X3D>\0"
	"<frame><X3D><Scene><Group/></Scene></X3D></frame>";
/* clang-format on */

static void write_stills(const char *folder)
{
	fuzz_seed(folder, NULL, (struct bytes){(const uint8_t *)moved, sizeof(moved)});
	fuzz_seed(folder, NULL, (struct bytes){(const uint8_t *)used, sizeof(used)});
}

FUZZ_INITIALIZE(write_stills(seeds))

static void page_of(const struct view *view, const struct shown *at)
{
	struct buf page = BUF_INIT;
	uint64_t size;

	if (view->present(at)) {
		view->render(at, &page);
		if (page.failed || !view->size(at, &size) || size != page.size)
			fuzz_broken("the size of a page is known", NULL);
	}
	buf_release(&page);
}

static void draw(const struct x3d_joined *j, const struct still *times, uint32_t count)
{
	struct sample_stills {
		struct anim anim;
		struct clip clip;
		struct format format;
	} made = {.format = {.name = "kanim", .stills = true},
		  .clip = {.label = "a", .frames = count, .stills = times}};
	const struct shown_stills stills = {.joined = j, .folder = "../../"};
	const struct shown at = {.anim = &made.anim, .file_name = "a.kanim", .stills = &stills};

	made.anim = (struct anim){.format = &made.format, .clips = &made.clip, .clip_count = 1};
	page_of(&view_stills_html, &at);
	page_of(&view_file_html, &at);
}

/* Checks that joined stills are a scene that can be read, with a valid digest. */
static void write_and_read(const struct x3d_joined *j, const struct still *times)
{
	const struct x3d_play play = {
		.stills = times, .loop = true, .backwards = true, .folder = ""};
	struct x3d_joined *again = x3d_join_new(1);
	struct buf text = BUF_INIT;
	struct err err = {.code = ERR_NONE};
	struct x3d_still still = {.framed = false};

	x3d_join_write(j, &play, &text);
	still.text = buf_bytes(&text);
	if (!own_digest_valid(still.text) || !x3d_join_add(again, &still, &err))
		fuzz_broken("what was joined is a scene", &err);
	x3d_join_free(again);
	buf_release(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bytes parts[STILLS_AT_ONCE];
	struct still times[STILLS_AT_ONCE];
	uint32_t count = 0, added = 0;
	struct x3d_joined *j;

	for (size_t at = 0, end; at < size && count < STILLS_AT_ONCE; at = end + 1) {
		for (end = at; end < size && data[end]; end++)
			;
		times[count] = (struct still){.time = (float)(count * count)};
		parts[count++] = (struct bytes){data + at, end - at};
	}
	if (count == 0)
		return 0;
	j = x3d_join_new(count);
	for (bool fine = true; fine && added < count; added += fine) {
		const bool framed =
			parts[added].size > 6 && memcmp(parts[added].data, "<frame", 6) == 0;
		const struct x3d_still still = {parts[added], framed};
		struct err err = {.code = ERR_NONE};

		fine = x3d_join_add(j, &still, &err);
		if (!fine)
			fuzz_refused(&err, fuzz_size(parts[added]));
	}
	if (added == count) {
		write_and_read(j, times);
		draw(j, times, count);
	}
	x3d_join_free(j);
	return 0;
}
