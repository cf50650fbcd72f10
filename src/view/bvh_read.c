/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bvh_read.h"

#include "text/num.h"

#include <math.h>
#include <string.h>
#include <strings.h>

#define QUOTED_MAX 60 /* messages quote at most this many bytes of a word */

/* ---- words ---- */

static bool bvh_read_is_line_end(uint8_t c)
{
	return c == '\n' || c == '\r';
}

static bool bvh_read_is_space(uint8_t c)
{
	return c == ' ' || c == '\t' || c == '\v' || c == '\f' || bvh_read_is_line_end(c);
}

/* Skips white space; with `in_line`, only up to the end of the line. */
static void skip_spaces(struct bvh *b, bool in_line)
{
	while (b->at < b->text.size && bvh_read_is_space(b->text.data[b->at]) &&
	       !(in_line && bvh_read_is_line_end(b->text.data[b->at])))
		b->at++;
}

/*
 * Reads the next word. Returns an empty one at the end of the text or, with `in_line`, of the line.
 */
static struct bytes next_word(struct bvh *b, bool in_line)
{
	struct bytes word;

	skip_spaces(b, in_line);
	word.data = b->text.data + b->at;
	while (b->at < b->text.size && !bvh_read_is_space(b->text.data[b->at]))
		b->at++;
	word.size = (size_t)(b->text.data + b->at - word.data);
	return word;
}

static bool word_is(struct bytes word, const char *keyword)
{
	return word.size == strlen(keyword) &&
	       strncasecmp((const char *)word.data, keyword, word.size) == 0;
}

static size_t bvh_read_place_of(const struct bvh *b, struct bytes word)
{
	return (size_t)(word.data - b->text.data);
}

/* Refuses a word that is not `wanted`: ERR_EARLY if the text ends within or before it. */
static bool refuse_word(const struct bvh *b, struct bytes word, const char *wanted)
{
	bool early = bvh_read_place_of(b, word) + word.size == b->text.size;

	if (word.size == 0)
		err_at(b->err, early ? ERR_EARLY : ERR_TEXT, bvh_read_place_of(b, word), 0,
		       early ? "the text ends where there is to be %s"
			     : "the line ends where there is to be %s",
		       wanted);
	else
		err_at(b->err, early ? ERR_EARLY : ERR_TEXT, bvh_read_place_of(b, word), word.size,
		       "\"%.*s%s\" stands where there is to be %s",
		       (int)(word.size < QUOTED_MAX ? word.size : QUOTED_MAX),
		       (const char *)word.data, word.size < QUOTED_MAX ? "" : "...", wanted);
	return err_accept(b->err, "%s", wanted);
}

static bool read_keyword(struct bvh *b, const char *keyword)
{
	struct bytes word = next_word(b, false);

	return word_is(word, keyword) || refuse_word(b, word, keyword);
}

/* Reads a label that ends in a colon. A number may follow without a space. */
static bool read_label(struct bvh *b, const char *label)
{
	struct bytes word = next_word(b, false);
	size_t length = strlen(label);

	if (word.size < length || strncasecmp((const char *)word.data, label, length) != 0)
		return refuse_word(b, word, label);
	b->at -= word.size - length;
	return true;
}

static bool bvh_read_take_number(const struct bvh *b, struct bytes word, struct bvh_cell *out)
{
	*out = (struct bvh_cell){NAN, bvh_read_place_of(b, word), word.size};
	return (num_parse((const char *)word.data, word.size, '.', &out->value) &&
		isfinite((float)out->value)) ||
	       refuse_word(b, word, "a decimal number such as 12.5");
}

static bool bvh_read_number(struct bvh *b, struct bvh_cell *out)
{
	return bvh_read_take_number(b, next_word(b, false), out);
}

static bool read_count(struct bvh *b, uint32_t *out, struct bytes *word)
{
	*word = next_word(b, false);
	return num_parse_frame((const char *)word->data, word->size, '.', out) ||
	       refuse_word(b, *word, "a number of them such as 6");
}

/* ---- the hierarchy ---- */

static bool bvh_read_offset(struct bvh *b, struct bvh_cell out[3])
{
	return read_keyword(b, "OFFSET") && bvh_read_number(b, &out[0]) &&
	       bvh_read_number(b, &out[1]) && bvh_read_number(b, &out[2]);
}

static bool bvh_read_channel(struct bvh *b, struct bvh_joint *joint)
{
	static const char *const names[BVH_CHANNELS] = {"Xposition", "Yposition", "Zposition",
							"Xrotation", "Yrotation", "Zrotation"};
	struct bytes word = next_word(b, false);
	uint8_t channel = 0;

	while (channel < BVH_CHANNELS && !word_is(word, names[channel]))
		channel++;
	if (channel == BVH_CHANNELS)
		return refuse_word(b, word,
				   "a channel: Xposition to Zposition, Xrotation to Zrotation");
	if (memchr(joint->channels, channel, joint->count))
		return err_at(b->err, ERR_TEXT, bvh_read_place_of(b, word), word.size,
			      "the bone has %s twice", names[channel]);
	joint->channels[joint->count++] = channel;
	return true;
}

static bool bvh_read_channels(struct bvh *b, struct bvh_joint *joint)
{
	struct bytes word;
	uint32_t count;

	if (!read_keyword(b, "CHANNELS") || !read_count(b, &count, &word))
		return false;
	if (count > BVH_CHANNELS)
		return refuse_word(b, word, "a number of channels from 0 to 6");
	joint->first = b->cells;
	b->cells += count;
	while (joint->count < count)
		if (!bvh_read_channel(b, joint))
			return false;
	return true;
}

/* Reads a joint up to its children. */
static bool read_joint(struct bvh *b, uint32_t parent, struct bvh_joint *joint)
{
	*joint = (struct bvh_joint){.name = next_word(b, false), .parent = parent};
	if (joint->name.size == 0)
		return refuse_word(b, joint->name, "a name");
	return read_keyword(b, "{") && bvh_read_offset(b, joint->offset) &&
	       bvh_read_channels(b, joint);
}

/* Reads an End Site; some programs give it a name. */
static bool bvh_read_end(struct bvh *b, struct bvh_joint *joint)
{
	struct bvh_cell offset[3];
	struct bytes word;

	if (!read_keyword(b, "Site"))
		return false;
	word = next_word(b, false);
	if (word.size == 0)
		return refuse_word(b, word, "{");
	if (!word_is(word, "{") && !read_keyword(b, "{"))
		return false;
	if (!bvh_read_offset(b, offset) || !read_keyword(b, "}"))
		return false;
	joint->has_end = true;
	for (unsigned axis = 0; axis < 3; axis++)
		joint->end[axis] = offset[axis].value;
	return true;
}

/* Reads the next item inside the braces of joint *open, or at top level. Sets *done at "MOTION". */
static bool read_item(struct bvh *b, struct bvh_joint *joints, uint32_t *open, bool *done)
{
	struct bytes word = next_word(b, false);
	bool outside = *open == BVH_NONE;

	if (word_is(word, outside ? "ROOT" : "JOINT")) {
		if (!read_joint(b, *open, &joints[b->count]))
			return false;
		*open = b->count++;
		return true;
	}
	if (outside) {
		*done = b->count > 0 && word_is(word, "MOTION");
		return *done || refuse_word(b, word, b->count > 0 ? "ROOT or MOTION" : "ROOT");
	}
	if (word_is(word, "End"))
		return bvh_read_end(b, &joints[*open]);
	if (!word_is(word, "}"))
		return refuse_word(b, word, "JOINT, End Site or }");
	*open = joints[*open].parent;
	return true;
}

/* Returns an upper bound on the number of joints: the number of words that could begin one. */
static uint64_t most_joints(struct bvh b)
{
	uint64_t count = 0;

	for (;;) {
		struct bytes word = next_word(&b, false);

		if (word.size == 0)
			return count;
		count += word_is(word, "ROOT") || word_is(word, "JOINT");
	}
}

static bool read_hierarchy(struct bvh *b)
{
	struct bvh_joint *joints;
	uint64_t most = most_joints(*b);
	uint32_t open = BVH_NONE;
	bool done = false;

	if (!read_keyword(b, "HIERARCHY"))
		return false;
	joints = most < BVH_NONE ? arena_alloc(b->arena, (size_t)most, sizeof(*joints)) : NULL;
	if (!joints)
		return err_memory(b->err);
	b->joints = joints;
	while (!done)
		if (!read_item(b, joints, &open, &done))
			return false;
	return true;
}

/* ---- the rows ---- */

static void skip_mark(struct bvh *b)
{
	if (b->text.size >= 3 && memcmp(b->text.data, "\xef\xbb\xbf", 3) == 0)
		b->at = 3;
}

bool bvh_open(struct bvh *b, struct bytes text, struct arena *arena, struct err *err)
{
	*b = (struct bvh){.arena = arena, .err = err, .text = text};
	skip_mark(b);
	skip_spaces(b, false);
	if (b->at == text.size) {
		err_set(err, ERR_EMPTY, "the text is empty");
		return err_accept(err, "a whole BVH, from HIERARCHY to the last frame");
	}
	return read_hierarchy(b) && read_label(b, "Frames:") &&
	       read_count(b, &b->frames, &b->frames_text) && read_keyword(b, "Frame") &&
	       read_label(b, "Time:") && bvh_read_number(b, &b->frame_time);
}

static bool refuse_length(const struct bvh *b, struct bytes word, size_t cells)
{
	bool early = word.size == 0 && b->at == b->text.size;

	if (cells == 0)
		err_at(b->err, ERR_EARLY, b->at, 0, "the text ends before frame %u of %u",
		       (unsigned)b->row, (unsigned)b->frames);
	err_at(b->err, early ? ERR_EARLY : ERR_TEXT, bvh_read_place_of(b, word), word.size,
	       word.size ? "the row of frame %u has more than %zu numbers"
			 : "the row of frame %u ends after %zu numbers",
	       (unsigned)b->row, cells);
	return err_accept(b->err, "%zu numbers in a line: those of all channels, in their order",
			  b->cells);
}

/* Reads a row. A row is one line, so that a missing number is reported where it should be. */
bool bvh_row(struct bvh *b, struct bvh_cell *cells)
{
	struct bytes word;

	if (b->cells == 0)
		return true;
	skip_spaces(b, false);
	for (size_t i = 0; i < b->cells; i++) {
		word = next_word(b, true);
		if (word.size == 0)
			return refuse_length(b, word, i);
		if (!bvh_read_take_number(b, word, &cells[i]))
			return false;
	}
	word = next_word(b, true);
	if (word.size > 0)
		return refuse_length(b, word, b->cells);
	b->row++;
	return true;
}

bool bvh_close(struct bvh *b)
{
	struct bytes word = next_word(b, false);

	if (word.size == 0)
		return true;
	err_at(b->err, ERR_TEXT, bvh_read_place_of(b, word), word.size,
	       "there are more rows than the %u that \"Frames:\" says", (unsigned)b->frames);
	return err_accept(b->err, "no more rows");
}
