/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * kanim_write.c - writes a model into the text that it was read from; and the codec. Changed parts
 * are replaced in the style of the text. A new file is an edit of the shortest possible text.
 */
#include "codecs.h"
#include "kanim_read.h"

#include "text/num.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct writer {
	struct kanim k; /* the old text, parsed */
	bool blank;     /* there is no old file: all frames are new */
	struct buf text;
	size_t at; /* offset in the old text: everything before has been copied or left out */
	struct err *err;
};

static const uint8_t *old_text(const struct writer *w)
{
	return w->k.xml.text.data;
}

static void copy_to(struct writer *w, size_t end)
{
	buf_add(&w->text, old_text(w) + w->at, end - w->at);
	w->at = end;
}

static void copy_part(struct writer *w, size_t begin, size_t end)
{
	buf_add(&w->text, old_text(w) + begin, end - begin);
}

/* Returns the beginning of the spaces that end at `end`. */
static size_t spaces_begin(const struct writer *w, size_t end)
{
	while (end > 0 && xml_is_space(old_text(w)[end - 1]))
		end--;
	return end;
}

static const char *name_of_clip(const struct clip *clip)
{
	return clip->label ? clip->label : clip->name;
}

static bool kanim_write_text(struct writer *w, const char *text, char quote)
{
	if (xml_escape(&w->k.xml, text, quote, &w->text))
		return true;
	err_set(w->err, ERR_STORE, "a character of \"%s\" cannot stand in XML", text);
	return err_accept(w->err, "UTF-8 without control characters");
}

static bool refuse_scene(struct writer *w, const struct still *still)
{
	err_set(w->err, ERR_STORE, "the scene of the frame at %g s would be lost or missing",
		(double)still->time);
	return err_accept(w->err, "a url for each frame but those that hold their scene");
}

/* ---- attributes of <animation> ---- */

static bool kanim_write_value_same(enum kanim_attribute which, const struct kanim_values *a,
				   const struct kanim_values *b)
{
	switch (which) {
	case KANIM_NAME:
		return strcmp(a->name, b->name) == 0;
	case KANIM_LOOP:
		return a->loop == b->loop;
	case KANIM_BACKWARDS:
		return a->backwards == b->backwards;
	case KANIM_SCENES:
		return a->scenes == b->scenes;
	case KANIM_EPSILON:
		return f32_bits(a->epsilon) == f32_bits(b->epsilon);
	}
	return true;
}

static bool kanim_write_value(struct writer *w, enum kanim_attribute which,
			      const struct kanim_values *values, char quote)
{
	switch (which) {
	case KANIM_NAME:
		return kanim_write_text(w, values->name, quote);
	case KANIM_LOOP:
		buf_text(&w->text, values->loop ? "true" : "false");
		break;
	case KANIM_BACKWARDS:
		buf_text(&w->text, values->backwards ? "true" : "false");
		break;
	case KANIM_SCENES:
		buf_format(&w->text, "%d", (int)values->scenes);
		break;
	case KANIM_EPSILON:
		buf_f32_text(&w->text, values->epsilon);
		break;
	}
	return true;
}

/*
 * Returns the next attribute in the text, after the part already written, whose value has changed;
 * or none.
 */
static enum kanim_attribute next_changed(const struct writer *w, const struct kanim_animation *a,
					 const struct kanim_values *now)
{
	enum kanim_attribute next = KANIM_ATTRIBUTES;

	for (enum kanim_attribute i = 0; i < KANIM_ATTRIBUTES; i++) {
		size_t at = a->attribute[i].at;

		if (at >= w->at && at && !kanim_write_value_same(i, now, &a->values) &&
		    (next == KANIM_ATTRIBUTES || at < a->attribute[next].at))
			next = i;
	}
	return next;
}

/* Adds a missing attribute in the style of the last one. */
static bool add_attribute(struct writer *w, const struct kanim_animation *a,
			  enum kanim_attribute which, const struct kanim_values *now)
{
	const struct kanim_place *last = &a->last;
	char quote = last->at ? (char)old_text(w)[last->at - 1] : '"';
	size_t name = last->begin;

	while (last->at && xml_is_space(old_text(w)[name]))
		name++;
	if (last->at)
		copy_part(w, last->begin, name);
	else
		buf_char(&w->text, ' ');
	buf_format(&w->text, "%s=%c", kanim_names[which], quote);
	if (!kanim_write_value(w, which, now, quote))
		return false;
	buf_char(&w->text, quote);
	return true;
}

static bool kanim_write_attributes(struct writer *w, const struct kanim_animation *a,
				   const struct kanim_values *now)
{
	enum kanim_attribute which;

	while ((which = next_changed(w, a, now)) != KANIM_ATTRIBUTES) {
		const struct kanim_place *p = &a->attribute[which];

		copy_to(w, p->at);
		if (!kanim_write_value(w, which, now, (char)old_text(w)[p->at - 1]))
			return false;
		w->at = p->at + p->length;
	}
	copy_to(w, a->attributes_end);
	for (which = 0; which < KANIM_ATTRIBUTES; which++) {
		if (!a->attribute[which].at && !kanim_write_value_same(which, now, &a->values) &&
		    !add_attribute(w, a, which, now))
			return false;
	}
	return true;
}

/* ---- frames ---- */

/* The frames of one animation. */
struct frames {
	const struct clip *clip;
	const struct kanim_frame *old;
	uint32_t old_count;
	bool *kept; /* for each old frame: it is kept */
	bool some_kept;
	uint32_t next; /* index of the next of the clip's stills */
};

static bool kanim_write_is_new(const struct writer *w, const struct still *still)
{
	return w->blank || still->origin == ANIM_NEW;
}

static bool kanim_write_time(struct writer *w, const struct still *still)
{
	buf_f32_text(&w->text, still->time);
	return true;
}

/* Writes a url or time in its old place. */
static bool write_replaced(struct writer *w, const struct kanim_place *p, bool url,
			   const struct still *still)
{
	copy_to(w, p->at);
	w->at = p->at + p->length;
	return url ? kanim_write_text(w, still->url, (char)old_text(w)[p->at - 1])
		   : kanim_write_time(w, still);
}

/* Writes an old frame with its present values, at any place of the new text. */
static bool write_kept(struct writer *w, const struct kanim_frame *f, const struct still *still)
{
	bool url = strcmp(f->still.url, still->url) != 0;
	bool time = f32_bits(f->still.time) != f32_bits(still->time);
	bool url_first = f->url.at < f->time.at;

	w->at = f->begin;
	if ((url && url_first && !write_replaced(w, &f->url, true, still)) ||
	    (time && !write_replaced(w, &f->time, false, still)) ||
	    (url && !url_first && !write_replaced(w, &f->url, true, still)))
		return false;
	copy_to(w, f->end);
	return true;
}

/* Writes an attribute with a new value in the style of an existing one. */
static bool write_like(struct writer *w, const struct kanim_place *p, bool url,
		       const struct still *still)
{
	char quote = (char)old_text(w)[p->at - 1];

	copy_part(w, p->begin, p->at);
	if (url ? !kanim_write_text(w, still->url, quote) : !kanim_write_time(w, still))
		return false;
	buf_char(&w->text, quote);
	return true;
}

static bool is_inline(const struct still *still)
{
	return !*still->url;
}

/* Writes the only frame of a text without other content. */
static bool write_only(struct writer *w, const struct still *still)
{
	const struct kanim_frame *f = &w->k.frames[0];

	if (is_inline(still) != is_inline(&f->still))
		return refuse_scene(w, still);
	return write_kept(w, f, still);
}

/* Writes a frame that an earlier version had, with its old bytes. */
static bool write_again(struct writer *w, const struct still *still)
{
	struct writer once = {.text = BUF_INIT, .err = w->err};
	struct buf text = BUF_INIT;
	bool fine;

	buf_text(&text, "<animation>");
	buf_add(&text, still->written.data, still->written.size);
	buf_text(&text, "</animation>");
	fine = text.failed
		       ? err_memory(w->err)
		       : kanim_read(&once.k, buf_bytes(&text), w->err) && write_only(&once, still);
	buf_add(&w->text, once.text.data, once.text.size);
	w->text.failed |= once.text.failed;
	kanim_release(&once.k);
	buf_release(&once.text);
	buf_release(&text);
	return fine;
}

/* Writes a new frame in the style of another. */
static bool kanim_write_new(struct writer *w, const struct kanim_frame *like,
			    const struct still *still)
{
	bool url_first = like->url.at < like->time.at;
	bool empty = old_text(w)[like->head - 2] == '/';

	if (still->written.data)
		return write_again(w, still);
	buf_text(&w->text, "<frame");
	if (!like->url.at) {
		char quote = (char)old_text(w)[like->time.at - 1];

		buf_format(&w->text, " url=%c", quote);
		if (!kanim_write_text(w, still->url, quote))
			return false;
		buf_char(&w->text, quote);
	} else if (url_first && !write_like(w, &like->url, true, still)) {
		return false;
	}
	if (!write_like(w, &like->time, false, still) ||
	    (like->url.at && !url_first && !write_like(w, &like->url, true, still)))
		return false;
	if (empty)
		copy_part(w, like->attributes_end, like->head);
	else
		buf_text(&w->text, "/>");
	return true;
}

static bool next_is_new(const struct writer *w, const struct frames *f)
{
	return f->next < f->clip->frames && kanim_write_is_new(w, &f->clip->stills[f->next]);
}

/*
 * Fills the place of old frame `i`, which is kept or is the only place there is: with the new
 * frames that come first, then a kept one (another one if times were exchanged), then the new ones
 * after it.
 */
static bool fill_place(struct writer *w, struct frames *f, uint32_t i)
{
	const struct kanim_frame *here = &f->old[i];
	size_t gap = spaces_begin(w, here->begin);

	copy_to(w, here->begin);
	while (next_is_new(w, f)) {
		if (!kanim_write_new(w, here, &f->clip->stills[f->next++]))
			return false;
		if (f->next < f->clip->frames)
			copy_part(w, gap, here->begin);
	}
	if (f->kept[i]) {
		const struct still *still = &f->clip->stills[f->next++];

		if (!write_kept(w, &f->old[still->origin], still))
			return false;
	}
	while (next_is_new(w, f)) {
		copy_part(w, gap, here->begin);
		if (!kanim_write_new(w, here, &f->clip->stills[f->next++]))
			return false;
	}
	w->at = here->end;
	return true;
}

/* Removes the frame, and its line if nothing else is on it. */
static void remove_frame(struct writer *w, const struct kanim_frame *f)
{
	size_t begin = spaces_begin(w, f->begin), line = f->begin;

	while (line > begin && old_text(w)[line - 1] != '\n')
		line--;
	if (line > begin)
		begin = line - 1 - (line > begin + 1 && old_text(w)[line - 2] == '\r');
	copy_to(w, begin);
	w->at = f->end;
}

static bool kanim_write_frames(struct writer *w, struct frames *f)
{
	for (uint32_t i = 0; i < f->old_count; i++) {
		if (!f->kept[i] && (f->some_kept || i > 0))
			remove_frame(w, &f->old[i]);
		else if (!fill_place(w, f, i))
			return false;
	}
	return true;
}

/* ---- refusals ---- */

static bool check_still(struct writer *w, struct frames *f, uint32_t i)
{
	const struct still *still = &f->clip->stills[i];
	const char *name = name_of_clip(f->clip);
	bool new = kanim_write_is_new(w, still);

	if (!isfinite(still->time) || (i > 0 && !(still->time > still[-1].time))) {
		err_set(w->err, ERR_STORE, "the time of frame %u of %s is not after the one before",
			i, name);
		return err_accept(w->err, "times that ascend, to be told apart as float32");
	}
	if (!new && (still->origin >= f->old_count || f->kept[still->origin]))
		return err_set(w->err, ERR_STORE, "frame %u of %s is no frame of the file", i,
			       name);
	if (new ? is_inline(still) && !still->written.data
		: is_inline(still) != is_inline(&f->old[still->origin].still))
		return refuse_scene(w, still);
	if (!new)
		f->kept[still->origin] = f->some_kept = true;
	return true;
}

static bool check_values(struct writer *w, const struct clip *clip,
			 const struct kanim_values *values)
{
	if (!isfinite(values->epsilon))
		return err_set(w->err, ERR_STORE, "the equality_epsilon of %s is not finite",
			       name_of_clip(clip));
	if (clip->frames > 0)
		return true;
	err_set(w->err, ERR_STORE, "%s has no frame", name_of_clip(clip));
	return err_accept(w->err, "at least one frame in each animation");
}

static bool kanim_write_animation(struct writer *w, const struct clip *clip,
				  const struct kanim_animation *a)
{
	struct frames f = {clip, w->k.frames + a->first_frame, a->frame_count, NULL, false, 0};
	struct kanim_values now = kanim_values_of(clip);
	bool fine = check_values(w, clip, &now);

	f.kept = calloc(a->frame_count, sizeof(*f.kept));
	if (!f.kept)
		return err_memory(w->err);
	for (uint32_t i = 0; fine && i < clip->frames; i++)
		fine = check_still(w, &f, i);
	fine = fine && kanim_write_attributes(w, a, &now) && kanim_write_frames(w, &f);
	free(f.kept);
	return fine;
}

/* ---- the whole text ---- */

static bool kanim_write_check_clips(const struct writer *w, const struct anim *a)
{
	bool same = a->clip_count == w->k.animation_count;

	for (uint32_t i = 0; same && !w->blank && i < a->clip_count; i++)
		same = a->clips[i].origin == i;
	if (same)
		return true;
	err_set(w->err, ERR_STORE, "animations cannot be added, removed or moved here");
	return err_accept(w->err, "the animations that are there; raw.* can be any text");
}

static bool kanim_write_all(struct writer *w, const struct anim *a, struct buf *out)
{
	if (!kanim_write_check_clips(w, a))
		return false;
	for (uint32_t i = 0; i < a->clip_count; i++)
		if (!kanim_write_animation(w, &a->clips[i], &w->k.animations[i]))
			return false;
	copy_to(w, w->k.xml.text.size);
	buf_char(&w->text, '\0');
	if (!w->text.failed && !xml_encode(&w->k.xml, (const char *)w->text.data, out))
		return err_set(w->err, ERR_STORE, "a scene has characters that ISO-8859-1 has not");
	return (!w->text.failed && !out->failed) || err_memory(w->err);
}

/*
 * Writes a text with as many animations as the model has; each has one frame, as a pattern for
 * others.
 */
static void blank_text(const struct anim *a, struct buf *out)
{
	bool many = a->clip_count != 1;
	const char *indent = many ? "  " : "";

	buf_text(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
	if (many)
		buf_text(out, "<animations>\n");
	for (uint32_t i = 0; i < a->clip_count; i++)
		buf_format(out,
			   "%s<animation>\n%s  <frame url=\"-\" time=\"0\"/>\n%s</animation>\n",
			   indent, indent, indent);
	if (many)
		buf_text(out, "</animations>\n");
}

static bool kanim_encode(const struct anim *a, struct bytes old, struct buf *out, struct err *err)
{
	struct writer w = {.blank = old.size == 0, .text = BUF_INIT, .err = err};
	struct buf blank = BUF_INIT;
	bool fine;

	if (w.blank) {
		blank_text(a, &blank);
		old = buf_bytes(&blank);
	}
	fine = blank.failed ? err_memory(err)
			    : kanim_read(&w.k, old, err) && kanim_write_all(&w, a, out);
	kanim_release(&w.k);
	buf_release(&w.text);
	buf_release(&blank);
	return fine;
}

static const char *const kanim_patterns[] = {"*.kanim", "*.castle-anim-frames", NULL};

const struct codec kanim_codec = {
	.format = &kanim_format,
	.patterns = kanim_patterns,
	.probe = kanim_probe,
	.decode = kanim_decode,
	.encode = kanim_encode,
};
