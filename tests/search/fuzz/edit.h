/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * edit.h - targets that edit a file: it is decoded, a view of it rendered, one place of that text
 * changed, and the result encoded and decoded again, under the laws of saving.
 *
 * The input is the bytes of `struct choice`, and then the file.
 */
#ifndef ANIMFS_TESTS_SEARCH_FUZZ_EDIT_H
#define ANIMFS_TESTS_SEARCH_FUZZ_EDIT_H

#include "fuzz.h"

#include <ctype.h>
#include <math.h>

enum edit_kind { EDIT_NUMBER, EDIT_OTHER, EDIT_BLANK, EDIT_CUT_LINE, EDIT_TWICE, EDIT_END, EDITS };

/* The choices that an input makes, each taken modulo the number of possibilities. */
struct choice {
	uint8_t form; /* the form in which rotations are shown */
	uint8_t view; /* index among the views that can be saved */
	uint8_t clip, track;
	uint8_t place[2]; /* index of a number in the text, high and low byte */
	uint8_t kind;     /* the change: an enum edit_kind */
	uint8_t value;
};

/*
 * Limits of a file that is edited. A larger file is only decoded: its texts are long and
 * repetitive.
 */
#define EDIT_FRAMES 64
#define EDIT_TRACKS 32
#define EDIT_CLIPS 16
#define EDIT_TEXT 32768

static const char *const edit_numbers[] = {
	"0",     "1",          "-0",     "0.5",  "-1.25",  "90",     "179.9999", "360",
	"-540",  "2",          "1e-3",   "1e30", "-1e-40", "3.4e38", "1e39",     "65535",
	"65536", "100",        "nan",    "inf",  "0,5",    "0.3333", "7",        "12.75",
	"3",     "0.70710677", "-17.25", "4095", "256",    "x",
};

static inline const struct view *edit_view(uint8_t number)
{
	static const struct view *const savable[] = {
		&view_bone_csv,  &view_bone_json, &view_curves_csv,
		&view_clip_json, &view_file_json, &view_frames_csv,
		&view_kanim,     &view_gltf,      &view_bvh,
	};

	return savable[number % ARRAY_SIZE(savable)];
}

/* ---- places in a text ---- */

static inline bool edit_in_number(char c)
{
	return isdigit((unsigned char)c) || c == '.' || c == '-';
}

/* Returns the first number at or after `at`; an empty one at the end of the text. */
static inline struct bytes edit_next(struct bytes text, size_t at)
{
	size_t begin = at, end;

	if (!text.size)
		return text;
	while (begin < text.size && !isdigit(text.data[begin]) && text.data[begin] != '-')
		begin++;
	for (end = begin; end < text.size && edit_in_number((char)text.data[end]);)
		end++;
	return (struct bytes){text.data + begin, end - begin};
}

static inline struct bytes edit_number(struct bytes text, size_t which)
{
	struct bytes found = edit_next(text, 0);
	size_t count = 0;

	for (struct bytes n = found; n.size;
	     n = edit_next(text, (size_t)(n.data - text.data) + n.size))
		count++;
	for (size_t i = count ? which % count : 0; i > 0; i--)
		found = edit_next(text, (size_t)(found.data - text.data) + found.size);
	return found;
}

static inline struct bytes edit_line(struct bytes text, const uint8_t *at)
{
	const uint8_t *begin = at, *end = memchr(at, '\n', (size_t)(text.data + text.size - at));

	while (begin > text.data && begin[-1] != '\n')
		begin--;
	return (struct bytes){begin, (size_t)((end ? end + 1 : text.data + text.size) - begin)};
}

static inline void edit_replace(struct bytes text, struct bytes was, struct bytes is,
				struct buf *out)
{
	size_t before = (size_t)(was.data - text.data);

	buf_add(out, text.data, before);
	buf_add(out, is.data, is.size);
	buf_add(out, was.data + was.size, text.size - before - was.size);
}

/* Applies the chosen change to the text. False if the text has no place where it can be made. */
static inline bool edit_text(struct bytes text, const struct choice *c, struct buf *out)
{
	struct bytes number = edit_number(text, get_u16(c->place)), line, to = {NULL, 0};

	if (number.size == 0)
		return false;
	line = edit_line(text, number.data);
	switch ((enum edit_kind)(c->kind % EDITS)) {
	case EDIT_NUMBER:
		to = bytes_of(edit_numbers[c->value % ARRAY_SIZE(edit_numbers)]);
		break;
	case EDIT_OTHER:
		to = edit_number(text, get_u16(c->place) + 1u + c->value);
		break;
	case EDIT_CUT_LINE:
		number = line;
		break;
	case EDIT_TWICE:
		number.size = 0;
		number.data = line.data;
		to = line;
		break;
	case EDIT_END:
		number.size = (size_t)(text.data + text.size - number.data);
		break;
	default:
		break;
	}
	edit_replace(text, number, to, out);
	return !out->failed;
}

/* ---- laws ---- */

static inline bool edit_same_track(const struct track *a, const struct track *b)
{
	bool same = strcmp(a->label, b->label) == 0 && keyframes_same(a->keyframes, b->keyframes);

	for (int role = 0; same && role < ROLE_COUNT; role++)
		same = curve_same(a->curve[role], b->curve[role]);
	return same;
}

/* Returns whether two clips have the same fields. Derived ones follow from the edited bone, too. */
static inline bool edit_same_fields(const struct clip *a, const struct clip *b)
{
	bool same = a->field_count == b->field_count;

	for (uint32_t i = 0; same && i < a->field_count; i++)
		same = (a->fields[i].derived && !strcmp(a->fields[i].name, b->fields[i].name)) ||
		       fields_same(&a->fields[i], 1, &b->fields[i], 1);
	return same;
}

/*
 * Returns whether two clips are the same except for bone `except` (UINT32_MAX: no exception).
 * `ends`: the clip ends with its last key.
 */
static inline bool edit_same_clip(const struct clip *a, const struct clip *b, uint32_t but,
				  bool ends)
{
	bool same = (a->frames == b->frames || (ends && but != UINT32_MAX)) && a->loop == b->loop &&
		    !strcmp(a->name, b->name) &&
		    f32_bits(a->frame_time) == f32_bits(b->frame_time) &&
		    f32_bits(a->duration) == f32_bits(b->duration) &&
		    a->track_count == b->track_count && edit_same_fields(a, b);

	for (uint32_t i = 0; same && i < a->track_count; i++)
		same = i == but || edit_same_track(&a->tracks[i], &b->tracks[i]);
	return same;
}

/* Checks that everything the view does not show is unchanged. */
static inline void edit_locality(const struct view *view, const struct shown *at,
				 const struct anim *stored)
{
	const struct anim *old = at->anim;
	bool same = view->place == VIEW_OF_FILE || old->clip_count == stored->clip_count;

	for (uint32_t i = 0; same && view->place != VIEW_OF_FILE && i < old->clip_count; i++)
		same = (i == at->clip && view->place == VIEW_OF_CLIP) ||
		       edit_same_clip(&old->clips[i], &stored->clips[i],
				      i == at->clip ? at->track : UINT32_MAX, old->format->timed);
	if (!same)
		fuzz_broken("a save changes only what the view is of", NULL);
}

/* Returns the cell of a table with as many lines and commas before it as `place` has. */
static inline struct bytes edit_same_cell(struct bytes text, const uint8_t *place,
					  struct bytes other)
{
	const uint8_t *p = other.data, *end = other.data + other.size;
	size_t lines = 0, commas = 0, size = 0;

	for (const uint8_t *q = text.data; q < place; q++) {
		lines += *q == '\n';
		commas = *q == '\n' ? 0 : commas + (*q == ',');
	}
	for (; p < end && lines; p++)
		lines -= *p == '\n';
	for (; p < end && commas && *p != '\n'; p++)
		commas -= *p == ',';
	while (p + size < end && p[size] != ',' && p[size] != '\n')
		size++;
	return (struct bytes){p, size};
}

/* Reads the letter and the axis in the heading of a column of a bone's table. */
static inline bool edit_column(struct bytes text, struct bytes cell, enum role *role,
			       unsigned *axis)
{
	struct bytes line = edit_line(text, cell.data);
	const char *letters = "trs", *axes = "xyz", *p;
	const uint8_t *head = text.data;
	size_t commas = 0;

	for (const uint8_t *q = line.data; q < cell.data; q++)
		commas += *q == ',';
	for (; commas; head++)
		commas -= *head == ',';
	p = strchr(letters, head[0]);
	if (line.data == text.data || !p || !strchr(axes, head[1]) || head[1] == 'i')
		return false;
	*role = (enum role)(p - letters);
	*axis = (unsigned)(strchr(axes, head[1]) - axes);
	return true;
}

/* Checks that a typed number is read back as the nearest number that the file can hold. */
static inline void edit_put_get(const struct shown *now, struct bytes saved, struct bytes cell,
				double typed)
{
	const struct track *track = &now->anim->clips[now->clip].tracks[now->track];
	struct buf read = BUF_INIT;
	const struct lane *lane;
	enum role role;
	unsigned axis;
	double got, apart;

	if (!edit_column(saved, cell, &role, &axis) || !track->curve[role] ||
	    track->curve[role]->kind == CURVE_QUATERNION)
		return;
	lane = &track->curve[role]->lane[axis];
	view_bone_csv.render(now, &read);
	cell = edit_same_cell(saved, cell.data, buf_bytes(&read));
	got = cell.size ? strtod((const char *)cell.data, NULL) : NAN;
	apart = fabs(got - typed);
	if (lane->turn > 0)
		apart = fmin(fmod(apart, lane->turn), lane->turn - fmod(apart, lane->turn));
	if (!(apart <=
	      (lane->form == LANE_GRID ? fabs(lane->unit * (double)lane->step) : 0) * 0.5001 +
		      fabs(typed) * 2.5e-7 + 1e-43))
		fuzz_broken("what is read is what was saved", NULL);
	buf_release(&read);
}

/* ---- one save ---- */

struct edit {
	const struct view *view;
	const struct version *old;
	struct shown at;
	const struct choice *choice;
	struct bytes own;
	struct buf saved;
};

/*
 * Checks that saving the same text again asks for what can be stored. Exception: the only remaining
 * difference is the time of a row whose frame was edited.
 */
static inline void edit_again(const struct edit *e, const struct shown *now)
{
	struct buf out = BUF_INIT;
	struct err err = {0};
	struct anim *again = e->view->parse(now, buf_bytes(&e->saved), &err);

	if (again ? !e->old->codec->encode(again, now->raw, &out, &err)
		  : !strstr(err.message, "only the time was changed"))
		fuzz_broken("a text that was saved can be saved again", &err);
	anim_free(again);
	buf_release(&out);
}

static inline void edit_stored(const struct edit *e, const struct anim *edited, struct bytes stored)
{
	struct err err = {0};
	struct version *s = fuzz_version(e->old->codec, stored, &err);
	struct shown now = e->at;
	struct bytes cell = edit_number(e->own, get_u16(e->choice->place));
	double typed;

	if (!s)
		fuzz_broken("what was encoded can be decoded", &err);
	/*
	 * The number of frames of an Overwatch file is deduced from its content: an edit may change
	 * the deduced number, and then it is refused.
	 */
	if (e->old->codec == codec_named("owanim") &&
	    !anim_stored(edited, e->old->anim, s->anim, &err)) {
		version_put(s);
		return;
	}
	s->anim->rotations = e->at.anim->rotations;
	now.anim = s->anim;
	now.raw = buf_bytes(&s->bytes);
	fuzz_laws(e->view, e->old, &e->at, edited, stored);
	edit_locality(e->view, &e->at, s->anim);
	if (e->view->place == VIEW_OF_BONE)
		edit_again(e, &now);
	if (e->view == &view_bone_csv && e->choice->kind % EDITS == EDIT_NUMBER &&
	    !e->at.anim->format->keyframes && e->at.anim->rotations == ROTATIONS_STORED) {
		typed = strtod(edit_numbers[e->choice->value % ARRAY_SIZE(edit_numbers)], NULL);
		if (isfinite((float)typed))
			edit_put_get(&now, buf_bytes(&e->saved),
				     (struct bytes){e->saved.data + (cell.data - e->own.data), 1},
				     typed);
	}
	version_put(s);
}

static inline void edit_save(struct edit *e)
{
	struct buf out = BUF_INIT;
	struct err err = {0};
	struct anim *edited;

	edited = e->view->parse(&e->at, buf_bytes(&e->saved), &err);
	if (!edited) {
		fuzz_refused(&err, fuzz_size(buf_bytes(&e->saved)));
		return;
	}
	if (e->old->codec->encode(edited, e->at.raw, &out, &err))
		edit_stored(e, edited, buf_bytes(&out));
	else
		fuzz_refused(&err, SIZE_MAX);
	buf_release(&out);
	anim_free(edited);
}

/* Saves the text of a view, first as it is and then with the chosen change. */
static inline void edit_view_of(const struct version *s, const struct choice *c,
				const struct shown *at)
{
	struct edit e = {edit_view(c->view), s, *at, c, {NULL, 0}, BUF_INIT};
	struct buf own = {.limit = EDIT_TEXT};

	if (!e.view->present || e.view->present(at))
		e.view->render(at, &own);
	e.own = buf_bytes(&own);
	if (!own.failed && edit_text(e.own, c, &e.saved))
		edit_save(&e);
	buf_release(&e.saved);
	buf_release(&own);
}

static inline bool edit_small(const struct anim *a)
{
	bool small = a->clip_count > 0 && a->clip_count <= EDIT_CLIPS;

	for (uint32_t i = 0; small && i < a->clip_count; i++)
		small = a->clips[i].frames <= EDIT_FRAMES && a->clips[i].track_count <= EDIT_TRACKS;
	return small;
}

static inline int edit_file(const char *codec, const uint8_t *data, size_t size)
{
	struct err err = {0};
	struct choice c;
	struct version *s;
	struct shown at;
	uint32_t tracks;

	if (size < sizeof(c))
		return 0;
	memcpy(&c, data, sizeof(c));
	s = fuzz_version(codec_named(codec), (struct bytes){data + sizeof(c), size - sizeof(c)},
			 &err);
	if (s && edit_small(s->anim)) {
		s->anim->rotations = (enum rotations)(c.form % 3);
		at = fuzz_shown(s, c.clip % s->anim->clip_count, 0);
		tracks = s->anim->clips[at.clip].track_count;
		at.track = tracks ? c.track % tracks : 0;
		if (tracks || edit_view(c.view)->place != VIEW_OF_BONE)
			edit_view_of(s, &c, &at);
	}
	version_put(s);
	return 0;
}

/* Writes seeds: each file with an edit of each view. */
static inline void edit_seeds(const char *pattern, const char *folder)
{
	glob_t found;

	if (glob(pattern, 0, NULL, &found))
		return;
	for (size_t i = 0; i < found.gl_pathc; i++) {
		struct buf bytes = load_file(found.gl_pathv[i]), input = BUF_INIT;

		for (uint8_t view = 0; view < 9 && bytes.size <= 3000; view++) {
			buf_clear(&input);
			buf_add(&input, (uint8_t[]){0, view, 0, view, view, 0, view, view}, 8);
			buf_add(&input, bytes.data, bytes.size);
			fuzz_seed(folder, NULL, buf_bytes(&input));
		}
		buf_release(&input);
		buf_release(&bytes);
	}
	globfree(&found);
}

#define FUZZ_EDIT(codec, pattern)                                                                  \
	FUZZ_INITIALIZE(edit_seeds(pattern, seeds))                                                \
                                                                                                   \
	int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)                               \
	{                                                                                          \
		return edit_file(codec, data, size);                                               \
	}

#endif
