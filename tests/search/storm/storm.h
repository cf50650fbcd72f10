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

/*
 * Returns the value of `bone` (NULL: of all bones) in complete rows; NO_VALUE if there is none,
 * MIXED_VALUE if there are several.
 */
long text_value(const struct text *text, const char *bone);
/* Returns how many places a text has for a value. */
unsigned text_slots(const struct text *text, const char *bone);
/* Makes `to` a copy of `from` with `value` in each place for a value. */
void text_set(struct text *to, const struct text *from, long value);

/* ---- model.c: the values that the views must hold ---- */

enum kind { KIND_CSV, KIND_JSON, KIND_CURVES, KINDS };

/* A translation curve: of one bone in one clip. The x is `value` in every row. */
struct curve {
	unsigned clip;
	char bone[NAME_MAX + 1];
	/* the views that show the curve; that of KIND_CURVES shows all curves of the clip */
	char path[KINDS][PATH_MAX];
	char second[KINDS]
		   [PATH_MAX];    /* paths of the same views in the second mount, if there is one */
	struct text *text[KINDS]; /* texts of these views at the start */
};

struct clip {
	unsigned file;
	char path[PATH_MAX];
	char *names; /* names in bones/ at the start, each between newlines */
};

extern struct curve curves[CURVES_MAX];
extern struct clip clips[CURVES_MAX];
extern char files[CURVES_MAX][PATH_MAX];
extern unsigned curve_count, clip_count, file_count;

/* Finds the files, clips and bones below `top`, and saves a first value in each curve. */
void model_find(const char *top);
/* Reports each error in a quiet moment; returns their number. */
unsigned model_check(void);
/*
 * model_write saves the final values to a file; model_verify checks a mount, perhaps in another
 * process, against that file.
 */
void model_write(const char *path);
unsigned model_verify(const char *path, const char *top);
/* Returns a curve that `path` shows; NULL if there is none. */
struct curve *curve_shown_by(const char *path);
bool known_name(const char *path);
bool read_text(const char *path, struct text *text);

/* ---- the round ---- */

enum habit_flag {
	GAP = 1,      /* readers may find the name missing for a moment */
	IN_PLACE = 2, /* readers may see part of the text, and less than they have mapped */
	REPLACES = 4, /* the save ends with a rename onto the view */
	EVENTUAL = 8, /* no call reports to the program that the text is saved */
	/* texts that are closed on the way may be refused, and the result is unknown */
	UNSURE = 16,
	ROWS = 32, /* only for texts that consist of rows (CSV) */
};

struct habit {
	const char *name;
	/*
	 * Saves `text` at `path`. Returns false if a call failed whose result the program checks.
	 */
	bool (*save)(const char *path, const struct text *text);
	unsigned flags;
};

struct reader {
	const char *name;
	void (*read)(void); /* reads once, like the program */
};

struct structure {
	const char *name;
	bool (*deal)(
		void); /* chooses the next change; returns false if there is nothing to change */
	void (*change)(void); /* makes the change once, and takes it back */
	void (*end)(void);    /* cleans up after the round; may be NULL */
	bool both; /* savers may use the second mount, since no names of theirs are moved */
};

extern const struct habit habits[];
extern const struct reader readers[];
extern const struct structure structures[];

/* implemented in programs.c */
bool deal_tree_back(void);
void change_tree_back(void);
bool deal_undo(void);
void change_undo(void);

struct task { /* The task of a saver in a round: what to save, and how. */
	const struct habit *habit;
	enum kind kind;
	unsigned curve; /* index of the curve; with KIND_CURVES, of the first curve of the clip */
	bool second;    /* the saver uses the second mount */
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
	bool both;              /* some tasks use the second mount */
	struct prefixes moved;  /* names that come and go because of the structure */
	struct prefixes onto;   /* views that the structure renames other views onto */
	struct prefixes voided; /* where saves may be refused or undone by the structure */
	/*
	 * where a copy of all texts comes back: saves may be refused there, or gone until the whole
	 * copy is there
	 */
	struct prefixes stirred;
};

extern struct round now;

void add_prefix(struct prefixes *prefixes, const char *path);
/*
 * Returns whether a path is below one of the prefixes. A path in the second mount counts as the
 * same path in the first.
 */
bool below_any(const struct prefixes *prefixes, const char *path);
/* Returns the path of the same file in the first mount; valid until the next call. */
const char *first_path(const char *path);
const struct task *task_of(const char *path);
static inline const char *task_path(const struct task *task)
{
	const struct curve *curve = &curves[task->curve];

	return task->second ? curve->second[task->kind] : curve->path[task->kind];
}
unsigned below(unsigned limit);

struct options {
	/* TOP, and the folder of the binaries; source NULL: no binary is replaced */
	const char *top, *source;
	const char *second; /* another mount of the same SOURCE; NULL: there is none */
	const char *habits, *readers, *structures;
	const char *on_hang, *state, *animfs;
	unsigned seed, hang, savers, each, first, rounds, seconds;
	int kind; /* the kind of view that savers use; -1: any */
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
	OP_BY_HANDLE, /* the calls from here on take a handle, not a path */
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
	/* time in ms at which the worker's current call began; 0: it is in no call */
	atomic_long since;
	atomic_int op;
	char path[PATH_MAX];
};

struct count {
	char who[96];
	enum op op;
	int number;
	bool wrong; /* a bare filesystem would not return the errno */
	unsigned long times;
	unsigned round;
	char path[256]; /* path of the first such call */
};

struct shared {
	atomic_bool stop, dead;
	struct worker workers[WORKERS_MAX];
	atomic_flag lock;
	unsigned count_count;
	struct count counts[COUNTS_MAX];
	atomic_long least[CURVES_MAX]; /* by curve: the newest acknowledged value */
	atomic_long sure[CURVES_MAX]; /* by curve: the newest value that must be there in the end */
	atomic_long issued[CURVES_MAX];
	/*
	 * A copy took longer than a batch lasts, or was mixed with a saver's text in the same
	 * place: other saves may be undone.
	 */
	atomic_bool slow;
	atomic_bool copies_in_place;
	/* by task: how often the structure has begun or ended to save the saver's view */
	atomic_ulong crossed[TASKS_MAX];
	atomic_ulong saved[64], acknowledged[64], reads[16];
	atomic_ulong changes[16];
	atomic_ulong calls[OPS];
	atomic_ulong complaints;
};

extern struct shared *shared;
extern struct worker *me;            /* the running worker; NULL in the parent */
extern const struct habit *my_habit; /* the worker's habit; NULL: it is no saver */
extern bool my_text_is_partial; /* the text that is closed next is incomplete, and may be refused */

#define NUMBER_SIGBUS 1000

void call_begins(enum op op, const char *path);
void call_ends(enum op op, const char *path, long result);
/* Evaluates EXPRESSION, a system call, watched and counted. errno stays as the call set it. */
#define CALL(op, path, expression)                                                                 \
	({                                                                                         \
		call_begins(op, path);                                                             \
		long result_ = (long)(expression);                                                 \
		call_ends(op, path, result_);                                                      \
		result_;                                                                           \
	})
void account(enum op op, const char *path, int number);
/* Returns whether a text saved at the path may be refused because of the structure's changes. */
bool may_refuse(const char *path);
/* Returns whether readers may see part of the saver's text. */
bool is_written_in_place(const struct task *task);
const char *op_name(enum op op);
const char *number_name(int number);
long milliseconds(void);
__attribute__((format(printf, 1, 2))) void complain(const char *format, ...);
__attribute__((noreturn, format(printf, 1, 2))) void die(const char *format, ...);

/*
 * Runs body(context). Returns false if body touched a page beyond the end of a mapped file
 * (SIGBUS).
 */
bool without_sigbus(void (*body)(void *), void *context);

#endif
