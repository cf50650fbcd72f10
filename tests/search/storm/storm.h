/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * storm.h - shared by the parts of the storm, which storm.c describes.
 *
 * The parent deals each round in `round` before it forks the round's workers, so workers only read
 * it. Workers report in `shared`, a mapping that all processes have.
 */
#ifndef ANIMFS_TESTS_SEARCH_STORM_STORM_H
#define ANIMFS_TESTS_SEARCH_STORM_STORM_H

#include <limits.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/types.h>

#define TEXT_MAX 65536
#define CURVES_MAX 64
#define TASKS_MAX 16
#define WORKERS_MAX 32
#define COUNTS_MAX 512
#define PREFIXES_MAX 8

/* ---- text.c: the value in a text ---- */

#define NO_VALUE 0L
#define MIXED_VALUE (-1L)

struct text {
	size_t length;
	char bytes[TEXT_MAX];
};

/* The value of `bone` (NULL: of all bones) if complete rows have one; else NO_VALUE, MIXED_VALUE.
 */
long text_value(const struct text *text, const char *bone);
/* How many places `text` has for a value. */
unsigned text_slots(const struct text *text, const char *bone);
/* `from` with `value` in each of its places. */
void text_set(struct text *to, const struct text *from, long value);

/* ---- model.c: the values that the views must hold ---- */

enum kind { KIND_CSV, KIND_JSON, KIND_CURVES, KINDS };

/* A translation curve, of one bone in one clip. Its x is `value` in every row. */
struct curve {
	unsigned clip;
	char bone[NAME_MAX + 1];
	char path[KINDS][PATH_MAX];   /* the views that show it; KIND_CURVES is its clip's */
	char second[KINDS][PATH_MAX]; /* the same by the second mount, if there is one */
	struct text *text[KINDS];     /* as they were at the start */
};

struct clip {
	unsigned file;
	char path[PATH_MAX];
	char *names; /* in bones/ at the start, each between newlines */
};

extern struct curve curves[CURVES_MAX];
extern struct clip clips[CURVES_MAX];
extern char files[CURVES_MAX][PATH_MAX];
extern unsigned curve_count, clip_count, file_count;

/* Finds the files, clips and bones below `top`, and saves a first value in each curve. */
void model_find(const char *top);
/* Reports each error in a quiet moment; returns their number. */
unsigned model_check(void);
/* The same for a mount of which only the output of model_write() is known. */
void model_write(const char *path);
unsigned model_verify(const char *path, const char *top);
/* Some curve that `path` shows; NULL: none. */
struct curve *curve_shown_by(const char *path);
bool known_name(const char *path);
bool read_text(const char *path, struct text *text);

/* ---- the round ---- */

enum habit_flag {
	GAP = 1,      /* the name is missing for a moment */
	IN_PLACE = 2, /* readers may see part of the text, and less than they have mapped */
	REPLACES = 4, /* a rename onto the view */
	EVENTUAL = 8, /* no call reports to the program that the text is saved */
	UNSURE = 16,  /* intermediate states may be refused, and the outcome is unknown */
	ROWS = 32,    /* only for texts that consist of rows (CSV) */
};

struct habit {
	const char *name;
	/* Saves `text` at `path`; false: some call that the program looks at failed. */
	bool (*save)(const char *path, const struct text *text);
	unsigned flags;
};

struct reader {
	const char *name;
	void (*read)(void); /* once */
};

struct structure {
	const char *name;
	bool (*deal)(void);   /* chooses its next change; false: there is nothing to change */
	void (*change)(void); /* once, and back again */
	void (*end)(void);    /* after the round; may be NULL */
	bool both;            /* may savers use the second mount? Not where it moves their names. */
};

extern const struct habit habits[];
extern const struct reader readers[];
extern const struct structure structures[];

/* programs.c */
bool deal_tree_back(void);
void change_tree_back(void);
bool deal_undo(void);
void change_undo(void);

struct task { /* of a saver */
	const struct habit *habit;
	enum kind kind;
	unsigned curve; /* with KIND_CURVES: the first of its clip */
	bool second;    /* by the second mount */
};

struct prefixes {
	unsigned count;
	char path[PREFIXES_MAX][PATH_MAX];
};

struct round {
	unsigned number;
	const struct structure *structure;
	struct task tasks[TASKS_MAX];
	unsigned task_count;
	bool both;              /* some of the tasks are by the second mount */
	struct prefixes moved;  /* names that come and go because of the structure */
	struct prefixes onto;   /* views that the structure renames other views onto */
	struct prefixes voided; /* a save there may be refused or undone by the structure */
	/*
	 * Where a copy of all texts comes back, a save may be refused, or gone until the whole copy
	 * is there.
	 */
	struct prefixes stirred;
};

extern struct round now;

void add_prefix(struct prefixes *prefixes, const char *path);
/* Paths by the second mount are below what they are below by the first. */
bool below_any(const struct prefixes *prefixes, const char *path);
/* `path` by the first mount; valid until the next call. */
const char *first_path(const char *path);
const struct task *task_of(const char *path);
static inline const char *task_path(const struct task *task)
{
	const struct curve *curve = &curves[task->curve];

	return task->second ? curve->second[task->kind] : curve->path[task->kind];
}
unsigned below(unsigned limit);

struct options {
	const char *top, *source; /* source NULL: nothing is replaced there */
	const char *second;       /* another mount of the same; NULL: there is none */
	const char *habits, *readers, *structures;
	const char *on_hang, *state, *animfs;
	unsigned seed, hang, savers, each, first, rounds, seconds;
	int kind; /* a kind of view; -1: any */
	bool bare, forget;
	unsigned long saves;
	pid_t daemon;
};

extern struct options options;

/* ---- calls.c: calls that are watched and accounted for ---- */

enum op {
	OP_OPEN,
	OP_STAT,
	OP_RENAME,
	OP_UNLINK,
	OP_LINK,
	OP_SYMLINK,
	OP_MKDIR,
	OP_OPENDIR,
	OP_CHMOD,
	OP_XATTR,
	OP_BY_HANDLE, /* those below have a handle */
	OP_READ = OP_BY_HANDLE,
	OP_WRITE,
	OP_TRUNCATE,
	OP_FSTAT,
	OP_CLOSE,
	OP_MMAP,
	OP_MAPPED,
	OP_READDIR,
	OP_LOCK,
	OP_FCHMOD,
	OP_UTIMES,
	OP_SYNC,
	OPS
};

struct worker {
	pid_t pid;
	char role[64];
	atomic_long since; /* when the call began that it is in; 0: none */
	atomic_int op;
	char path[PATH_MAX];
};

struct count {
	char who[96];
	enum op op;
	int number;
	bool wrong; /* a bare filesystem would not give it */
	unsigned long times;
	unsigned round;
	char path[256]; /* of the first */
};

struct shared {
	atomic_bool stop, dead;
	struct worker workers[WORKERS_MAX];
	atomic_flag lock;
	unsigned count_count;
	struct count counts[COUNTS_MAX];
	atomic_long least[CURVES_MAX]; /* the newest acknowledged value */
	atomic_long sure[CURVES_MAX];  /* the newest that must be there in the end */
	atomic_long issued[CURVES_MAX];
	/*
	 * A copy took so long that it is none of one batch, or was mixed with a saver's text in the
	 * same place: other saves may be undone.
	 */
	atomic_bool slow;
	atomic_bool copies_in_place;
	/* By task: how often the structure has begun or ended to save the view of that saver. */
	atomic_ulong crossed[TASKS_MAX];
	atomic_ulong saved[64], acknowledged[64], reads[16];
	atomic_ulong changes[16];
	atomic_ulong calls[OPS];
	atomic_ulong complaints;
};

extern struct shared *shared;
extern struct worker *me;            /* NULL in the parent */
extern const struct habit *my_habit; /* NULL: not a saver */
extern bool my_text_is_partial;      /* the text closed now is incomplete, and may be refused */

#define NUMBER_SIGBUS 1000

void call_begins(enum op op, const char *path);
void call_ends(enum op op, const char *path, long result);
/* The value of EXPRESSION, a system call; errno stays. */
#define CALL(op, path, expression)                                                                 \
	({                                                                                         \
		call_begins(op, path);                                                             \
		long result_ = (long)(expression);                                                 \
		call_ends(op, path, result_);                                                      \
		result_;                                                                           \
	})
void account(enum op op, const char *path, int number);
/* May a text saved there be refused because of the structure's changes? */
bool may_refuse(const char *path);
/* May a reader see part of a saver's text? */
bool is_written_in_place(const struct task *task);
const char *op_name(enum op op);
const char *number_name(int number);
long milliseconds(void);
__attribute__((format(printf, 1, 2))) void complain(const char *format, ...);
__attribute__((noreturn, format(printf, 1, 2))) void die(const char *format, ...);

/* Runs body(context); false if it touched a page of a mapping that is no more. */
bool without_sigbus(void (*body)(void *), void *context);

#endif
