/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "x3d_join.h"

#include "own_digest.h"
#include "text/num.h"
#include "util/utf8.h"
#include "x3d_fields.h"
#include "x3d_scene.h"

#include <assert.h>
#include <ctype.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HUE_STEPS 8 /* keys from one colour to the next, when the interpolator works in HSV */

/* ---- values ---- */

static bool same_numbers(const struct x3d_numbers *a, const struct x3d_numbers *b)
{
	if (a->count != b->count)
		return false;
	for (size_t i = 0; i < a->count; i++)
		if (a->values[i] < b->values[i] || a->values[i] > b->values[i])
			return false;
	return true;
}

/* ---- the fields that move ---- */

/*
 * Limit of the numbers in all values of all moving fields: 64 MiB. A text of that many numbers is
 * about as long as a view can be.
 */
#define NUMBERS_MAX ((size_t)16 << 20)

struct move {
	size_t node;
	const struct x3d_field *field;
	size_t width;  /* numbers in one value of the whole field */
	float *values; /* the field's value in each still */
	size_t before; /* index of the node's previous move, plus 1; 0: none */
};

struct x3d_joined {
	struct buf text; /* text of the first still */
	struct x3d_scene first;
	uint32_t count, added; /* number of stills; number of those that were added */
	struct move *moves;    /* fields that differ, in the order in which they were found */
	size_t move_count, move_room;
	size_t *node_moves; /* by node: index of its last move, plus 1 */
	size_t numbers;     /* numbers in all values of all moves */
};

/* A still that is compared with the first. */
struct joining {
	struct x3d_joined *j;
	const struct x3d_scene *first;
	struct x3d_scene other;
	struct x3d_numbers a, b; /* values of a field in the first still, and in this one */
	struct err *err;
};

/* Refuses something at a place in the text of the compared still. */
static bool x3d_join_refuse(struct joining *c, size_t at, size_t length, const char *accepted,
			    const char *format, ...) __attribute__((format(printf, 5, 6)));

static bool x3d_join_refuse(struct joining *c, size_t at, size_t length, const char *accepted,
			    const char *format, ...)
{
	char message[300];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(message, sizeof(message), format, arguments);
	va_end(arguments);
	return xml_refuse(&c->other.xml, at, length, accepted, "frame %u: %s",
			  (unsigned)c->j->added, message);
}

#define STRUCTURE "frames that have the same nodes, in the same order, with the same names"

/* The start of a name, as much as a message has room for: whole characters, of one line. */
struct shown_name {
	char text[64];
};

static struct shown_name shown_name(struct bytes name)
{
	struct shown_name shown;
	size_t size = 0, next;

	while (size < name.size && (next = utf8_length(name.data + size, name.size - size)) > 0 &&
	       size + next < sizeof(shown.text)) {
		memcpy(shown.text + size, name.data + size, next);
		if (name.data[size] < ' ')
			shown.text[size] = ' ';
		size += next;
	}
	shown.text[size] = '\0';
	return shown;
}

/* A node as messages name it: `Transform "hips"`, or Coordinate if it has no DEF. */
struct node_name {
	char text[2 * sizeof(struct shown_name) + 4];
};

static struct node_name x3d_join_name_of(const struct x3d_node *node)
{
	struct node_name name;

	if (node->def.data)
		snprintf(name.text, sizeof(name.text), "%s \"%s\"", shown_name(node->name).text,
			 shown_name(node->def).text);
	else
		snprintf(name.text, sizeof(name.text), "%s", shown_name(node->name).text);
	return name;
}

static bool refuse_field(struct joining *c, size_t node, struct bytes field, const char *accepted,
			 const char *why)
{
	const struct x3d_node *other = &c->other.nodes[node];
	const struct x3d_attribute *attribute = x3d_attribute_find(&c->other, other, field);
	struct node_name name = x3d_join_name_of(other);

	return x3d_join_refuse(c, attribute ? attribute->at : other->begin,
			       attribute ? attribute->length : other->end - other->begin, accepted,
			       "%s of %s %s", shown_name(field).text, name.text, why);
}

static struct move *find_move(const struct x3d_joined *j, size_t node,
			      const struct x3d_field *field)
{
	for (size_t i = j->node_moves[node]; i > 0; i = j->moves[i - 1].before)
		if (j->moves[i - 1].field == field)
			return &j->moves[i - 1];
	return NULL;
}

static void x3d_join_put_values(struct move *move, uint32_t still, const struct x3d_numbers *from)
{
	for (size_t i = 0; i < move->width; i++)
		move->values[still * move->width + i] = (float)from->values[i];
}

/*
 * Records a field that differs between stills. Every still begins with the first still's value;
 * note_field sets the values of the stills in which the field differs.
 */
static struct move *add_move(struct joining *c, size_t node, const struct x3d_field *field)
{
	struct x3d_joined *j = c->j;
	const size_t width = c->a.count;
	struct move *move = array_room(j->moves, j->move_count, &j->move_room, sizeof(*move));

	if (!move) {
		err_memory(c->err);
		return NULL;
	}
	j->moves = move;
	move += j->move_count;
	*move = (struct move){.node = node, .field = field, .width = width};
	move->values = calloc((size_t)j->count * width, sizeof(*move->values));
	if (!move->values) {
		err_memory(c->err);
		return NULL;
	}
	j->numbers += (size_t)j->count * width;
	move->before = j->node_moves[node];
	j->node_moves[node] = ++j->move_count;
	for (uint32_t i = 0; i < j->count; i++)
		x3d_join_put_values(move, i, &c->a);
	return move;
}

/*
 * Records the numbers of a field, which are in c->a for the first still and in c->b for the
 * compared one.
 */
static bool note_field(struct joining *c, size_t node, const struct x3d_field *field)
{
	const struct x3d_node *first = &c->first->nodes[node];
	struct bytes name = bytes_of(field->name);
	struct move *move = find_move(c->j, node, field);

	if (!move && same_numbers(&c->a, &c->b))
		return true;
	if (c->a.count != c->b.count || c->a.count % field->interpolator->width ||
	    (!field->interpolator->many && c->a.count != field->interpolator->width))
		return refuse_field(c, node, name, "as many numbers in each frame",
				    "has not as many numbers as in frame 0, or as it must have");
	if (first->in_prototype)
		return refuse_field(c, node, name, "the same value in each frame",
				    "differs from frame 0 in a prototype");
	if (first->shares_def)
		return refuse_field(c, node, name, "a name that one node has",
				    "differs from frame 0, and another node has its name");
	if (!move && c->a.count > (NUMBERS_MAX - c->j->numbers) / c->j->count)
		return refuse_field(
			c, node, name, "16777216 numbers in all moving fields",
			"differs from frame 0, and with all other moving fields is too much");
	if (!move)
		move = add_move(c, node, field);
	if (move)
		x3d_join_put_values(move, c->j->added, &c->b);
	return move != NULL;
}

/* ---- comparing ---- */

/* Compares two texts word by word; all white space between words counts as equal. */
static bool same_words(struct bytes a, struct bytes b)
{
	size_t i = 0, k = 0;

	for (;;) {
		while (i < a.size && xml_is_space(a.data[i]))
			i++;
		while (k < b.size && xml_is_space(b.data[k]))
			k++;
		while (i < a.size && k < b.size && !xml_is_space(a.data[i]) &&
		       a.data[i] == b.data[k])
			i++, k++;
		if (i == a.size || k == b.size)
			break;
		if (!xml_is_space(a.data[i]) || !xml_is_space(b.data[k]))
			return false;
	}
	while (i < a.size && xml_is_space(a.data[i]))
		i++;
	while (k < b.size && xml_is_space(b.data[k]))
		k++;
	return i == a.size && k == b.size;
}

static bool x3d_join_same_value(struct joining *c, struct bytes a, struct bytes b)
{
	return same_words(a, b) ||
	       (x3d_numbers_read(a, &c->a, c->err) && x3d_numbers_read(b, &c->b, c->err) &&
		same_numbers(&c->a, &c->b));
}

/* Returns the default value of a missing field; an empty one if it is not known. */
static const char *usual_value(const struct x3d_node *node, struct bytes name,
			       const struct x3d_field *field)
{
	if (xml_is(name, "containerField"))
		return x3d_container(node->name);
	return field ? field->usual : NULL;
}

/* Compares a field; a or b is NULL if it is missing in that still. */
static bool compare_field(struct joining *c, size_t node, struct bytes name,
			  const struct x3d_attribute *a, const struct x3d_attribute *b)
{
	const struct x3d_field *field = x3d_field_find(c->first->nodes[node].name, name);
	const char *usual = usual_value(&c->first->nodes[node], name, field);
	struct bytes one, other;

	if ((!a || !b) && !usual)
		return refuse_field(c, node, name, "the attribute in each frame, or in none",
				    a ? "is left out, and in frame 0 it is not"
				      : "is given, and in frame 0 it is left out");
	one = a ? a->value : bytes_of(usual);
	other = b ? b->value : bytes_of(usual);
	if (bytes_equal(one, other) && !(field && find_move(c->j, node, field)))
		return true;
	if (field && x3d_numbers_read(one, &c->a, c->err) && x3d_numbers_read(other, &c->b, c->err))
		return note_field(c, node, field);
	if (!c->err->code && x3d_join_same_value(c, one, other))
		return true;
	/* This does nothing if err already reports a failed allocation. */
	return refuse_field(c, node, name, "the same value in each frame",
			    "differs from frame 0, and no interpolator can change it");
}

static bool compare_attributes(struct joining *c, size_t node)
{
	const struct x3d_node *a = &c->first->nodes[node], *b = &c->other.nodes[node];

	for (size_t i = 0; i < a->count; i++) {
		const struct x3d_attribute *one = &c->first->attributes[a->first + i];

		if (!compare_field(c, node, one->name, one,
				   x3d_attribute_find(&c->other, b, one->name)))
			return false;
	}
	for (size_t i = 0; i < b->count; i++) {
		const struct x3d_attribute *other = &c->other.attributes[b->first + i];

		if (!x3d_attribute_find(c->first, a, other->name) &&
		    !compare_field(c, node, other->name, NULL, other))
			return false;
	}
	return true;
}

static bool compare_node(struct joining *c, size_t i)
{
	const struct x3d_node *a = &c->first->nodes[i], *b = &c->other.nodes[i];
	const bool named = a->def.data && b->def.data;
	struct node_name one, other;

	if (a->depth == b->depth && bytes_equal(a->name, b->name) && !a->def.data == !b->def.data &&
	    (!named || bytes_equal(a->def, b->def)))
		return compare_attributes(c, i);
	one = x3d_join_name_of(a);
	other = x3d_join_name_of(b);
	return x3d_join_refuse(c, b->begin, b->end - b->begin, STRUCTURE,
			       "%s stands where frame 0 has %s%s", other.text, one.text,
			       a->depth == b->depth ? "" : ", in another node");
}

static bool compare_scenes(struct joining *c)
{
	size_t a = c->first->node_count, b = c->other.node_count;
	const struct x3d_node *last = &c->other.nodes[b - 1];
	struct node_name name;

	for (size_t i = 0; i < a && i < b; i++)
		if (!compare_node(c, i))
			return false;
	if (a == b)
		return true;
	if (a > b)
		name = x3d_join_name_of(&c->first->nodes[b]);
	else
		name = x3d_join_name_of(last = &c->other.nodes[a]);
	return x3d_join_refuse(c, last->begin, last->end - last->begin, STRUCTURE,
			       a > b ? "%s of frame 0 is not there" : "%s is not in frame 0",
			       name.text);
}

/* ---- the text ---- */

#define PREFIX "join"

/* Returns the N of a DEF that begins with joinN_, 1 for join_, and 0 for any other DEF. */
static uint64_t prefix_number(struct bytes def)
{
	size_t at = strlen(PREFIX);
	uint64_t number = 0;

	if (def.size < at || memcmp(def.data, PREFIX, at) != 0)
		return 0;
	for (; at < def.size && isdigit(def.data[at]) && number < UINT64_MAX / 20; at++)
		number = 10 * number + (uint64_t)(def.data[at] - '0');
	if (at == def.size || def.data[at] != '_')
		return 0;
	return at == strlen(PREFIX) ? 1 : number;
}

/* Chooses a prefix for our DEFs that no DEF of the first still has. */
static void choose_prefix(const struct x3d_scene *s, char prefix[32])
{
	uint64_t last = 0;

	for (size_t i = 0; i < s->node_count; i++) {
		uint64_t number = s->nodes[i].def.data ? prefix_number(s->nodes[i].def) : 0;

		last = number > last ? number : last;
	}
	if (last == 0)
		strcpy(prefix, PREFIX "_");
	else
		snprintf(prefix, 32, PREFIX "%" PRIu64 "_", last + 1);
}

struct writing {
	const struct x3d_joined *j;
	const struct x3d_play *play;
	char prefix[32];
	size_t done; /* number of bytes of the first still's text that were copied */
	struct buf *out;
};

static void write_until(struct writing *w, size_t at)
{
	buf_add(w->out, w->j->first.xml.text.data + w->done, at - w->done);
	w->done = at;
}

/* Returns whether a URL is relative, and not only a fragment ("#name"). */
static bool is_relative(struct bytes url)
{
	size_t i = 0;

	if (url.size == 0 || url.data[0] == '/' || url.data[0] == '#')
		return false;
	while (i < url.size && (isalnum(url.data[i]) || strchr("+.-", url.data[i])))
		i++;
	return i == url.size || url.data[i] != ':';
}

/* Returns the length of a quotation mark (or its escape) at this place; 0 if there is none. */
static size_t quote_at(struct bytes text, size_t at)
{
	static const char entity[] = "&quot;";

	if (at < text.size && text.data[at] == '"')
		return 1;
	return text.size - at >= strlen(entity) &&
			       memcmp(text.data + at, entity, strlen(entity)) == 0
		       ? strlen(entity)
		       : 0;
}

static void x3d_join_write_folder(const struct writing *w)
{
	if (!xml_escape(&w->j->first.xml, w->play->folder, '"', w->out))
		w->out->failed = true;
}

/*
 * Writes an attribute with its relative URLs prefixed. The value is one URL, or a list of quoted
 * ones.
 */
static void write_urls(struct writing *w, const struct x3d_attribute *attribute)
{
	const struct bytes text = {w->j->first.xml.text.data + attribute->at, attribute->length};
	bool open = false, quoted = false;

	for (size_t i = 0; i < text.size;) {
		size_t quote = quote_at(text, i);

		if (!quote && !quoted && !open && !xml_is_space(text.data[i])) {
			write_until(w, attribute->at + i);
			if (is_relative((struct bytes){text.data + i, text.size - i}))
				x3d_join_write_folder(w);
			return;
		}
		quoted |= quote > 0;
		i += quote ? quote : 1;
		if (!quote)
			continue;
		open = !open;
		write_until(w, attribute->at + i);
		if (open && !quote_at(text, i) &&
		    is_relative((struct bytes){text.data + i, text.size - i}))
			x3d_join_write_folder(w);
	}
}

static bool needs_level3(const struct x3d_joined *j)
{
	for (size_t i = 0; i < j->move_count; i++)
		if (j->moves[i].field->interpolator->level3)
			return true;
	return false;
}

/*
 * Declares the component for interpolators that only the profile Full has, if the scene does not
 * declare it.
 */
static void x3d_join_write_component(struct writing *w)
{
	const struct x3d_interpolation *have = &w->j->first.interpolation;

	if (have->level3 || !needs_level3(w->j))
		return;
	if (have->level_size > 0) {
		write_until(w, have->level);
		buf_char(w->out, '3');
		w->done += have->level_size;
		return;
	}
	write_until(w, have->head);
	buf_format(w->out, "%s<component name=\"Interpolation\" level=\"3\"/>%s",
		   have->in_head ? "" : "<head>", have->in_head ? "" : "</head>");
	w->done += have->head_size;
}

static void x3d_join_write_nodes(struct writing *w)
{
	const struct x3d_scene *s = &w->j->first;

	for (size_t i = 0; i < s->node_count; i++) {
		const struct x3d_node *node = &s->nodes[i];

		if (!node->def.data && w->j->node_moves[i]) {
			write_until(w, node->name_end);
			buf_format(w->out, " DEF=\"%s%zu\"", w->prefix, i);
		}
		for (size_t k = 0; k < node->count; k++)
			if (xml_is(s->attributes[node->first + k].name, "url"))
				write_urls(w, &s->attributes[node->first + k]);
	}
}

/*
 * Returns the number of steps between the stills that are played: forward and, if asked for,
 * backward.
 */
static uint32_t step_count(const struct writing *w)
{
	return w->play->backwards ? 2 * w->j->count - 1 : w->j->count;
}

static uint32_t step_still(const struct writing *w, uint32_t step)
{
	return step < w->j->count ? step : 2 * w->j->count - 2 - step;
}

/* Returns the seconds from the first still to this one. */
static double seconds_to(const struct writing *w, uint32_t still)
{
	return (double)w->play->stills[still].time - (double)w->play->stills[0].time;
}

static double step_key(const struct writing *w, uint32_t step)
{
	double key = seconds_to(w, step_still(w, step)) / seconds_to(w, w->j->count - 1);

	if (!w->play->backwards)
		return key;
	return step < w->j->count ? key / 2 : 1 - key / 2;
}

static void write_float(double v, struct buf *out)
{
	buf_char(out, ' ');
	buf_f32_text(out, (float)v);
}

static double between(double a, double b, double part)
{
	return a + (b - a) * part;
}

/* Writes the times of all keys: `parts` keys for each step to the next still. */
static void x3d_join_write_keys(const struct writing *w, unsigned parts)
{
	for (uint32_t step = 0; step < step_count(w); step++) {
		double key = step_key(w, step), next;

		write_float(key, w->out);
		if (step + 1 == step_count(w))
			break;
		next = step_key(w, step + 1);
		for (unsigned part = 1; part < parts; part++)
			write_float(between(key, next, (double)part / parts), w->out);
	}
}

static void x3d_join_write_values(const struct writing *w, const struct move *m, unsigned parts)
{
	for (uint32_t step = 0; step < step_count(w) && !w->out->failed; step++) {
		const float *v = m->values + step_still(w, step) * m->width, *next = v;

		if (step + 1 < step_count(w))
			next = m->values + step_still(w, step + 1) * m->width;
		for (unsigned part = 0; part < (next == v ? 1 : parts); part++)
			for (size_t i = 0; i < m->width; i++)
				write_float(between(v[i], next[i], (double)part / parts), w->out);
	}
}

static void write_def(const struct writing *w, size_t node)
{
	const struct x3d_node *n = &w->j->first.nodes[node];

	if (!n->def.data)
		buf_format(w->out, "%s%zu", w->prefix, node);
	else if (!xml_escape(&w->j->first.xml, (const char *)n->def.data, '"', w->out))
		w->out->failed = true;
}

static void write_move(const struct writing *w, size_t i)
{
	const struct move *m = &w->j->moves[i];
	const struct x3d_interpolator *interpolator = m->field->interpolator;
	const unsigned parts = interpolator->hues ? HUE_STEPS : 1;

	buf_format(w->out, "<%s DEF=\"%smove%zu\" key=\"", interpolator->name, w->prefix, i);
	x3d_join_write_keys(w, parts);
	buf_text(w->out, "\" keyValue=\"");
	x3d_join_write_values(w, m, parts);
	buf_format(w->out,
		   "\"/>\n<ROUTE fromNode=\"%sclock\" fromField=\"fraction_changed\" "
		   "toNode=\"%smove%zu\" toField=\"set_fraction\"/>\n"
		   "<ROUTE fromNode=\"%smove%zu\" fromField=\"value_changed\" toNode=\"",
		   w->prefix, w->prefix, i, w->prefix, i);
	write_def(w, m->node);
	buf_format(w->out, "\" toField=\"set_%s\"/>\n", m->field->name);
}

static void x3d_join_write_motion(const struct writing *w)
{
	double seconds = seconds_to(w, w->j->count - 1);

	buf_format(w->out, "<TimeSensor DEF=\"%sclock\" cycleInterval=\"", w->prefix);
	buf_f32_text(w->out, (float)(w->play->backwards ? 2 * seconds : seconds));
	buf_format(w->out, "\" loop=\"%s\"/>\n", w->play->loop ? "true" : "false");
	for (size_t i = 0; i < w->j->move_count; i++)
		write_move(w, i);
}

/*
 * Finds the start of the end tag </Scene>. There is such a tag, since the scene has nodes that
 * change.
 */
static size_t scene_end(const struct x3d_scene *s)
{
	size_t at = s->scene_end;

	while (s->xml.text.data[at - 1] != '<')
		at--;
	return at - 1;
}

/* ---- all together ---- */

static bool begin(struct x3d_joined *j, const struct x3d_still *still, struct err *err)
{
	buf_add(&j->text, still->text.data, still->text.size);
	if (j->text.failed)
		return err_memory(err);
	if (!x3d_scene_read(&j->first, buf_bytes(&j->text), still->framed, err))
		return false;
	j->node_moves = calloc(j->first.node_count, sizeof(*j->node_moves));
	if (!j->node_moves || !x3d_scene_mark_shared(&j->first))
		return err_memory(err);
	j->first.xml.err = NULL;
	return true;
}

static bool view_x3d_join_add(struct x3d_joined *j, const struct x3d_still *still, struct err *err)
{
	struct joining c = {.j = j, .first = &j->first, .err = err};
	bool fine = x3d_scene_read(&c.other, still->text, still->framed, err) && compare_scenes(&c);

	x3d_scene_release(&c.other);
	free(c.a.values);
	free(c.b.values);
	return fine;
}

struct x3d_joined *x3d_join_new(uint32_t count)
{
	struct x3d_joined *j = calloc(1, sizeof(*j));

	if (j)
		j->count = count;
	return j;
}

bool x3d_join_add(struct x3d_joined *j, const struct x3d_still *still, struct err *err)
{
	struct err ignored = {.code = ERR_NONE};
	struct err *why = err ? err : &ignored;

	assert(j->added < j->count);
	if (!(j->added == 0 ? begin(j, still, why) : view_x3d_join_add(j, still, why)))
		return false;
	j->added++;
	return true;
}

void x3d_join_free(struct x3d_joined *j)
{
	if (!j)
		return;
	x3d_scene_release(&j->first);
	for (size_t i = 0; i < j->move_count; i++)
		free(j->moves[i].values);
	free(j->moves);
	free(j->node_moves);
	buf_release(&j->text);
	free(j);
}

size_t x3d_join_size(const struct x3d_joined *j)
{
	return sizeof(*j) + j->text.capacity + x3d_scene_size(&j->first) +
	       j->first.node_count * sizeof(*j->node_moves) + j->move_room * sizeof(*j->moves) +
	       j->numbers * sizeof(float);
}

void x3d_join_write(const struct x3d_joined *j, const struct x3d_play *play, struct buf *out)
{
	struct writing w = {.j = j, .play = play, .done = j->first.begin, .out = out};

	assert(j->added == j->count);
	choose_prefix(&j->first, w.prefix);
	buf_text(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
	x3d_join_write_component(&w);
	x3d_join_write_nodes(&w);
	if (j->move_count > 0) {
		write_until(&w, scene_end(&j->first));
		x3d_join_write_motion(&w);
	}
	write_until(&w, j->first.end);
	buf_char(out, '\n');
	own_digest_add(out);
}

const struct x3d_scene *x3d_join_scene(const struct x3d_joined *j)
{
	return &j->first;
}

const float *x3d_join_values(const struct x3d_joined *j, size_t node, const char *field,
			     size_t *width)
{
	const struct x3d_field *known = x3d_field_find(j->first.nodes[node].name, bytes_of(field));
	const struct move *move = known ? find_move(j, node, known) : NULL;

	*width = move ? move->width : 0;
	return move ? move->values : NULL;
}
