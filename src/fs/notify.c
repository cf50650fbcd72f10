/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * notify.c - one thread that tells the kernel what it must forget, and ends what time ends: text
 * that stayed half-written, bursts.
 *
 * Dropping pages or names can wait for a request that waits for us, so nothing in here is done by a
 * thread that answers requests, and nothing waits for it. It holds no lock while it tells.
 *
 * It does not decode either, or one file would keep it from all others: what is to be looked at and
 * is not known yet is loaded by a thread of its own, and looked at afterwards.
 */
#include "fs.h"
#include "memo.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define TICK_MS 200     /* how often files in a burst are looked at, */
#define LOOK_MS 40      /* and those that others may have changed */
#define LOCK_MS 20      /* how long it waits, once in a look, for a file that others work on */
#define LOADERS_MAX 256 /* files that are loaded at a time */

struct notice {
	struct notice *next;
	fuse_ino_t node;
	bool done;   /* nobody waits for it any more: it was held back */
	bool drop;   /* the name is to be found no more, and what is below it goes with it */
	char name[]; /* "" when it is the node's attributes and pages */
};

struct notifier {
	struct fs *fs;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t wake;
	bool ending;
	bool silent; /* the kernel is told no more */
	struct notice *first, **last;
	/* How many notices there were, and how many of them are done, or held back for now. */
	uint64_t asked, done;
	pthread_cond_t progress;
	struct notice *held, **held_last; /* names in folders that are held */
	struct held_folder {
		fuse_ino_t node;
		unsigned count;
	} * folders;
	size_t folder_count, folder_room;
	struct file *watched;  /* by next_watched; each node referenced */
	bool look;             /* one of them is to be looked at soon */
	_Atomic bool fillings; /* there are folders to look after */
	unsigned loaders;
	pthread_cond_t less; /* there is one less */
};

static void enqueue(struct notifier *n, fuse_ino_t node, const char *name, bool drop)
{
	size_t size = strlen(name) + 1;
	struct notice *notice = malloc(sizeof(*notice) + size);

	if (!notice)
		return;
	notice->next = NULL;
	notice->node = node;
	notice->done = false;
	notice->drop = drop;
	memcpy(notice->name, name, size);
	pthread_mutex_lock(&n->lock);
	*n->last = notice;
	n->last = &notice->next;
	n->asked++;
	pthread_cond_signal(&n->wake);
	pthread_mutex_unlock(&n->lock);
}

void notify_data(struct fs *fs, const struct node *node)
{
	enqueue(fs->notifier, node->id, "", false);
}

void notify_entry(struct fs *fs, const struct node *parent, const char *name)
{
	enqueue(fs->notifier, parent->id, name, false);
}

void notify_drop(struct fs *fs, fuse_ino_t parent, const char *name)
{
	enqueue(fs->notifier, parent, name, true);
}

void notifier_wait(struct notifier *n)
{
	struct timespec until;
	uint64_t asked;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_nsec += DROP_WAIT_MS * 1000000L;
	until.tv_sec += until.tv_nsec / 1000000000L;
	until.tv_nsec %= 1000000000L;
	if (pthread_equal(n->thread, pthread_self()))
		return;
	pthread_mutex_lock(&n->lock);
	asked = n->asked;
	while (n->done < asked && !n->ending &&
	       pthread_cond_timedwait(&n->progress, &n->lock, &until) != ETIMEDOUT)
		;
	pthread_mutex_unlock(&n->lock);
}

/* NULL where it is not held. Wants the lock. */
static struct held_folder *find_held(const struct notifier *n, fuse_ino_t node)
{
	for (size_t i = 0; i < n->folder_count; i++) {
		if (n->folders[i].node == node)
			return &n->folders[i];
	}
	return NULL;
}

void notify_hold_names(struct fs *fs, fuse_ino_t folder)
{
	struct notifier *n = fs->notifier;
	struct held_folder *held;

	pthread_mutex_lock(&n->lock);
	held = find_held(n, folder);
	if (!held) {
		held = array_room(n->folders, n->folder_count, &n->folder_room, sizeof(*held));
		if (held) {
			n->folders = held;
			held += n->folder_count++;
			*held = (struct held_folder){folder, 0};
		}
	}
	if (held)
		held->count++;
	pthread_mutex_unlock(&n->lock);
}

/*
 * What was held back is next, in the order in which it was asked for; what must wait longer is held
 * back again. Wants the lock.
 */
static void put_back(struct notifier *n)
{
	*n->held_last = n->first;
	if (!n->first)
		n->last = n->held_last;
	n->first = n->held;
	n->held = NULL;
	n->held_last = &n->held;
	pthread_cond_signal(&n->wake);
}

void notify_release_names(struct fs *fs, fuse_ino_t folder)
{
	struct notifier *n = fs->notifier;
	struct held_folder *held;

	pthread_mutex_lock(&n->lock);
	held = find_held(n, folder);
	if (held && --held->count == 0) {
		*held = n->folders[--n->folder_count];
		if (n->held)
			put_back(n);
	}
	pthread_mutex_unlock(&n->lock);
}

/* For those who wait: it is told, or cannot be for as long as a folder is held. Wants the lock. */
static void count_done(struct notifier *n, bool done)
{
	if (done)
		return;
	n->done++;
	pthread_cond_broadcast(&n->progress);
}

/* The next one to be told. Wants the lock. */
static struct notice *take_notice(struct notifier *n)
{
	struct notice *notice;

	while ((notice = n->first)) {
		n->first = notice->next;
		if (!n->first)
			n->last = &n->first;
		if (!*notice->name || !find_held(n, notice->node))
			break;
		notice->next = NULL;
		*n->held_last = notice;
		n->held_last = &notice->next;
		count_done(n, notice->done);
		notice->done = true;
	}
	return notice;
}

/* Wants the nodes' lock. */
static void tell_names(struct fs *fs, const struct node *node, bool gone)
{
	for (const struct link *link = node_link(node); link; link = node_next_link(node, link))
		enqueue(fs->notifier, link->parent->id, link->name, gone);
}

void notify_names_of(struct fs *fs, const struct node *node)
{
	tell_names(fs, node, false);
}

/* Puts the file on the list of those that look_after looks at. */
static void watch_file(struct notifier *n, struct file *file, bool look)
{
	bool listed;

	pthread_mutex_lock(&n->lock);
	listed = file->watched;
	file->look |= look;
	n->look |= look;
	if (look)
		pthread_cond_signal(&n->wake);
	if (!listed) {
		file->watched = true;
		file->next_watched = n->watched;
		n->watched = file;
		pthread_cond_signal(&n->wake);
	}
	pthread_mutex_unlock(&n->lock);
	if (!listed)
		fs_reference(n->fs, file->node, 1);
}

void file_watch(struct fs *fs, struct file *file)
{
	watch_file(fs->notifier, file, false);
}

void file_touch(struct fs *fs, struct file *file)
{
	file->burst = clock_ms();
	file_watch(fs, file);
}

void notify_fillings(struct fs *fs)
{
	struct notifier *n = fs->notifier;

	if (n->fillings)
		return;
	pthread_mutex_lock(&n->lock);
	n->fillings = true;
	pthread_cond_signal(&n->wake);
	pthread_mutex_unlock(&n->lock);
}

void notify_listing(struct fs *fs, const struct node *folder)
{
	fuse_lowlevel_notify_inval_inode(fs->session, folder->id, 0, 0);
}

void file_tell_again(struct fs *fs, struct file *file)
{
	file->tell_folders = 2;
	watch_file(fs->notifier, file, false);
}

void file_look(struct fs *fs, struct file *file)
{
	watch_file(fs->notifier, file, true);
}

/* libfuse 3.16 took the flags away. */
static int expire_name(struct fuse_session *session, const struct notice *notice, size_t size)
{
#if FUSE_VERSION < FUSE_MAKE_VERSION(3, 16)
	return fuse_lowlevel_notify_expire_entry(session, notice->node, notice->name, size,
						 FUSE_LL_EXPIRE_ONLY);
#else
	return fuse_lowlevel_notify_expire_entry(session, notice->node, notice->name, size);
#endif
}

/*
 * A name is mostly made to be looked up again: dropping it would take the ground from under those
 * who have the folder as their working directory. Kernels before 6.2 know no other way.
 */
static void tell(struct notifier *n, const struct notice *notice)
{
	struct fuse_session *session = n->fs->session;
	size_t size = strlen(notice->name);

	if (!size)
		fuse_lowlevel_notify_inval_inode(session, notice->node, 0, 0);
	else if (notice->drop || expire_name(session, notice, size) == -ENOSYS)
		fuse_lowlevel_notify_inval_entry(session, notice->node, notice->name, size);
}

enum news file_news(struct fs *fs, struct file *file)
{
	struct stat st = {.st_ino = 0};
	uint64_t generation = 0, names = 0;
	struct snap *snap;
	enum news news;

	if (fs_look(fs, file, &snap, &st) == 0) {
		generation = snap->generation;
		names = tree_names(snap);
		snap_put(snap);
	}
	if (!generation)
		news = file->generation ? NEWS_GONE : NEWS_NONE;
	else if (names != file->names || file->damaged != file->told_damaged)
		news = NEWS_NAMES;
	else if (generation != file->generation)
		news = NEWS_TEXTS;
	else if (st.st_ino != file->ino || st.st_ctim.tv_sec != file->ctime.tv_sec ||
		 st.st_ctim.tv_nsec != file->ctime.tv_nsec)
		news = NEWS_ATTRIBUTES;
	else
		news = NEWS_NONE;
	file->generation = generation;
	file->names = names;
	file->told_damaged = file->damaged;
	file->ino = st.st_ino;
	file->ctime = st.st_ctim;
	return news;
}

/*
 * Where the mount sees no handles, a node that the kernel knows counts as open until it is
 * forgotten. False where its version is not at hand. Wants the nodes' lock.
 */
static bool hold_version(struct node *node)
{
	struct snap *said = node_version(node);

	if (said)
		return true;
	said = source_replaced(node->file->source, node->generation);
	if (said && node_need_more(node)) {
		node->more->version = said;
		return true;
	}
	snap_put(said);
	return false;
}

/* Does the view say something else in the version that the kernel is told of now? */
static bool says_another(const struct node *node, const struct handle *opened)
{
	uint32_t now = node_generation(node->file->generation);

	return opened ? node_generation(opened->version->generation) != now
		      : node->generation != now;
}

/*
 * What was given to the view stays with its name: it is of the node that is found there from now
 * on. Wants the nodes' lock.
 */
static bool hand_over(struct fs *fs, struct node *node, struct node *parent, const char *name)
{
	struct node *now = nodes_add(&fs->nodes, NODE_VIEW, name);

	if (!now)
		return false;
	now->references++;
	node_become_view(now, node->file, node_view(node));
	now->shown_ino = node->shown_ino;
	if (node_need_more(now) && nodes_link(&fs->nodes, now, parent, name)) {
		now->more->memo = node->more->memo;
		node->more->memo = NULL;
	}
	nodes_drop(&fs->nodes, now, 0, 1);
	return !node_memo(node);
}

/* Its name is another node's. Wants the nodes' lock. */
static bool retire(struct fs *fs, struct node *node)
{
	struct node *parent = node_link(node) ? node_link(node)->parent : NULL;
	char name[NAME_MAX + 1];

	if (parent)
		strcpy(name, node_link(node)->name);
	nodes_retire(&fs->nodes, node);
	return !parent || !node_memo(node) || hand_over(fs, node, parent, name);
}

bool view_replaced(struct fs *fs, struct node *node, struct changes *changes)
{
	const struct handle *opened = handles_version(node);
	const struct draft *draft = node->draft;

	if (node->kind != NODE_VIEW)
		return false;
	if (node_is_retired(node))
		return opened || node_version(node);
	if (!(opened || fs->unopened_files) || !says_another(node, opened))
		return false;
	/* A number that others keep stands for the view, whatever it says. */
	if (fs->options->noforget ||
	    (draft && (draft->writers || draft->dirty || draft->pending)) ||
	    (!opened && !hold_version(node))) {
		handles_follow(node);
		return false;
	}
	changes_drop_names(changes, node);
	if (!retire(fs, node))
		memo_forget_locked(node); /* there is no memory for it */
	return true;
}

static void tell_news(struct fs *fs, struct node *node, enum news news, struct changes *changes)
{
	/* What is open says what it said; where that is not known, the kernel's pages do. */
	bool keep = news == NEWS_GONE && fs->unopened_files;

	/* Attributes of all before the pages of any: who sees one text changed sees all. */
	if (!keep)
		changes_add(changes, node);
	if (!keep && news != NEWS_ATTRIBUTES)
		notify_data(fs, node);
	if (news >= NEWS_NAMES ||
	    (news == NEWS_TEXTS && node->kind == NODE_VIEW && node_view(node)->present))
		notify_names_of(fs, node);
}

/* told: the generation that is news no more. Wants the file's lock. */
static void prune_mirrors(struct fs *fs, struct file *file, uint64_t told)
{
	struct node *parent = fs_parent(fs, file->node, 0, NULL);
	struct snap *before = source_replaced(file->source, (uint32_t)told), *now = NULL;
	struct stat st;

	if (parent && fs_source_stat(fs, file, &st) == ENOENT)
		mirrors_of_file(fs, file, parent);
	else if (parent && before && fs_snap(fs, file, &now) == 0)
		mirrors_of_clips(fs, file, parent, before, now);
	snap_put(now);
	snap_put(before);
	if (parent)
		fs_reference(fs, parent, -1);
}

/* The file as it is now, if that is news to the kernel: every view of it may say something else. */
static void look_at(struct fs *fs, struct file *file, struct changes *changes)
{
	uint64_t told = file->generation;
	enum news news = file_news(fs, file);

	if (news == NEWS_NONE)
		return;
	if (news >= NEWS_NAMES)
		file->tell_names = 2;
	nodes_lock(&fs->nodes);
	for (struct node *node = file->members; node; node = node->next_in_file) {
		bool texts = news >= NEWS_TEXTS && news < NEWS_GONE;

		if (!texts || !view_replaced(fs, node, changes))
			tell_news(fs, node, news, changes);
	}
	tell_news(fs, file->node, news, changes);
	nodes_unlock(&fs->nodes);
	if (news >= NEWS_NAMES)
		prune_mirrors(fs, file, told);
	source_told(file->source, file->generation);
}

void file_look_now(struct fs *fs, struct file *file)
{
	struct changes changes = CHANGES_NONE;
	bool again;

	file_lock(file);
	look_at(fs, file, &changes);
	again = file->tell_names;
	file_unlock(file);
	changes_tell(fs, &changes);
	if (again)
		file_look(fs, file); /* to tell the names once more */
}

static bool is_any(const struct node *node, const void *user)
{
	(void)node;
	(void)user;
	return true;
}

/*
 * The names of all nodes, once more. What is no more by now has gone for good, with all that is in
 * it and the attributes that were given to it; the kernel would keep it as long as it has memory.
 * Wants the file's lock.
 */
static void tell_names_again(struct fs *fs, struct file *file)
{
	struct node **list = file_members(fs, file, is_any, NULL);
	struct snap *snap = NULL;
	struct place place;
	int error = fs_snap(fs, file, &snap);

	for (size_t i = 0; list && list[i]; i++) {
		struct node *node = list[i];
		bool gone =
			error == ENOENT || (!error && fs_place(fs, snap, node, &place) == ENOENT);

		if (gone && node->kind != NODE_REAL && node_memo(node))
			memo_forget(fs, node);
		nodes_lock(&fs->nodes);
		tell_names(fs, node, gone);
		nodes_unlock(&fs->nodes);
		fs_reference(fs, node, -1);
	}
	nodes_lock(&fs->nodes);
	tell_names(fs, file->node, error == ENOENT);
	nodes_unlock(&fs->nodes);
	snap_put(snap);
	free(list);
}

static void tell_folders_again(struct fs *fs, const struct file *file)
{
	nodes_lock(&fs->nodes);
	for (const struct node *node = file->members; node; node = node->next_in_file) {
		if (node->folder)
			notify_data(fs, node);
	}
	notify_data(fs, file->node);
	nodes_unlock(&fs->nodes);
}

/*
 * What was asked for just before a change may reach the kernel after it was told to forget it: it
 * is told again at the look after next. True while that is to come.
 */
static bool tell_again(struct fs *fs, struct file *file)
{
	bool names = file->tell_names == 1, folders = names || file->tell_folders == 1;

	file->tell_names -= file->tell_names > 0;
	file->tell_folders -= file->tell_folders > 0;
	if (folders)
		tell_folders_again(fs, file);
	if (names)
		tell_names_again(fs, file);
	return file->tell_names || file->tell_folders;
}

/* Wants the nodes' lock. */
static void end_text(struct fs *fs, struct node *node)
{
	if (!node->draft->pending) {
		draft_expire(node->draft);
		return;
	}
	draft_give_up(node->draft);
	view_settle(fs, node);
	notify_data(fs, node);
}

/* Text, half-written or saved, that nobody went on with. True while there is some to wait for. */
static bool end_texts(struct fs *fs, struct file *file, int64_t now)
{
	bool waiting = false;

	nodes_lock(&fs->nodes);
	for (struct node *node = file->members; node; node = node->next_in_file) {
		const struct draft *draft = node->draft;

		if (!draft || !(draft->pending || draft_awaits_more(draft)))
			continue;
		if (draft->writers || now - draft->closed < BURST_MS)
			waiting = true;
		else
			end_text(fs, node);
	}
	nodes_unlock(&fs->nodes);
	return waiting;
}

/* ---- files that are not known yet ---- */

struct loading {
	struct notifier *notifier;
	struct file *file; /* its node is referenced */
};

/* Once more where what was read may be older than what is there. */
static void load_file(struct fs *fs, struct file *file)
{
	const struct timespec tick = {.tv_nsec = 25000000};
	struct folder folder;

	if (fs_source_folder(fs, file, &folder) != 0)
		return;
	snap_put(source_get(file->source, folder.fd, NULL));
	if (!source_is_known(file->source, folder.fd)) {
		nanosleep(&tick, NULL);
		snap_put(source_get(file->source, folder.fd, NULL));
	}
	folder_close(&fs->folders, &folder);
}

static void end_loading(struct notifier *n)
{
	pthread_mutex_lock(&n->lock);
	n->loaders--;
	pthread_cond_signal(&n->less);
	pthread_mutex_unlock(&n->lock);
}

static void *load(void *closure)
{
	struct loading *loading = closure;
	struct notifier *n = loading->notifier;
	struct file *file = loading->file;

	free(loading);
	load_file(n->fs, file);
	file->loaded = true;
	file->loading = false;
	file_look(n->fs, file);
	fs_reference(n->fs, file->node, -1);
	end_loading(n);
	return NULL;
}

static bool start_thread(struct notifier *n, struct file *file)
{
	struct loading *loading = malloc(sizeof(*loading));
	pthread_t thread;

	if (!loading)
		return false;
	*loading = (struct loading){n, file};
	if (pthread_create(&thread, NULL, load, loading) == 0)
		return pthread_detach(thread) == 0;
	free(loading);
	return false;
}

/* False where that cannot be now. */
static bool start_loading(struct notifier *n, struct file *file)
{
	bool may;

	pthread_mutex_lock(&n->lock);
	may = n->loaders < LOADERS_MAX;
	n->loaders += may;
	pthread_mutex_unlock(&n->lock);
	if (!may)
		return false;
	file->loading = true;
	fs_reference(n->fs, file->node, 1);
	if (start_thread(n, file))
		return true;
	file->loading = false;
	fs_reference(n->fs, file->node, -1);
	end_loading(n);
	return false;
}

static bool is_ending(struct notifier *n)
{
	bool ending;

	pthread_mutex_lock(&n->lock);
	ending = n->ending;
	pthread_mutex_unlock(&n->lock);
	return ending;
}

/*
 * Can it be said without waiting what the file is now? Otherwise it is loaded, and looked at again
 * after that; but when the mount ends, there is no later.
 */
static bool is_loaded(struct notifier *n, struct file *file)
{
	struct folder folder;
	bool known;

	if (file->loading)
		return false;
	if (file->loaded || is_ending(n) || fs_source_folder(n->fs, file, &folder) != 0)
		return true;
	known = source_is_known(file->source, folder.fd);
	folder_close(&n->fs->folders, &folder);
	if (!known)
		start_loading(n, file);
	return known;
}

/*
 * Looks after one file; true while there is something to wait for. *look: others may have changed
 * it, which stays so until it is looked at. Wants the file's lock.
 */
static bool look_after_file(struct notifier *n, struct file *file, bool *look, int64_t now,
			    struct changes *changes)
{
	bool waiting;

	*look |= file_is_replaced(file);
	if ((*look || file->tell_names == 1) && !is_loaded(n, file))
		return true;
	file->loaded = false;
	if (*look)
		look_at(n->fs, file, changes);
	*look = false;
	waiting = tell_again(n->fs, file);
	waiting |= end_texts(n->fs, file, now);
	waiting |= burst_end(n->fs, file, now, changes);
	return waiting;
}

/* Takes a file off the list. True: it is to be looked at. */
static bool take_watched(struct notifier *n, struct file *file, struct file **next)
{
	bool look;

	pthread_mutex_lock(&n->lock);
	*next = file->next_watched;
	look = file->look;
	file->look = false;
	pthread_mutex_unlock(&n->lock);
	return look;
}

/* True where it is on the list again. */
static bool put_watched(struct notifier *n, struct file *file, bool waiting, bool look)
{
	pthread_mutex_lock(&n->lock);
	file->look |= look;
	waiting |= file->look;
	file->watched = waiting;
	if (waiting) {
		file->next_watched = n->watched;
		n->watched = file;
	}
	pthread_mutex_unlock(&n->lock);
	return waiting;
}

/* Looks after every file in a burst once; those with nothing left to wait for are let go. */
static void look_after(struct notifier *n)
{
	int64_t now = clock_ms();
	unsigned patience = LOCK_MS;
	struct file *list, *next;

	pthread_mutex_lock(&n->lock);
	list = n->watched;
	n->watched = NULL;
	n->look = false;
	pthread_mutex_unlock(&n->lock);
	for (; list; list = next) {
		struct changes changes = CHANGES_NONE;
		struct file *file = list;
		bool look = take_watched(n, file, &next), waiting = true;
		bool locked = file_lock_within(file, patience);

		if (locked)
			waiting = look_after_file(n, file, &look, now, &changes);
		else
			patience = 0;
		waiting = put_watched(n, file, waiting, look);
		if (locked)
			file_unlock(file);
		changes_tell(n->fs, &changes);
		if (!waiting)
			fs_reference(n->fs, file->node, -1);
	}
}

/* Waits for something to tell, or for the next look at the files. Wants the lock. */
static void wait_for_work(struct notifier *n)
{
	struct timespec until;

	if (!n->watched && !n->fillings) {
		pthread_cond_wait(&n->wake, &n->lock);
		return;
	}
	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_nsec += (n->look ? LOOK_MS : TICK_MS) * 1000000L;
	until.tv_sec += until.tv_nsec / 1000000000L;
	until.tv_nsec %= 1000000000L;
	pthread_cond_timedwait(&n->wake, &n->lock, &until);
}

static void *run(void *closure)
{
	struct notifier *n = closure;
	int64_t looked = 0;

	pthread_mutex_lock(&n->lock);
	while (!n->ending) {
		struct notice *notice = take_notice(n);
		bool silent, done;

		if (notice) {
			silent = n->silent;
			done = notice->done;
			pthread_mutex_unlock(&n->lock);
			if (!silent)
				tell(n, notice);
			free(notice);
			pthread_mutex_lock(&n->lock);
			count_done(n, done);
			continue;
		}
		if ((n->watched || n->fillings) &&
		    clock_ms() - looked >= (n->look ? LOOK_MS : TICK_MS)) {
			n->fillings = false;
			pthread_mutex_unlock(&n->lock);
			look_after(n);
			if (fillings_end(n->fs, clock_ms()))
				notify_fillings(n->fs);
			looked = clock_ms();
			pthread_mutex_lock(&n->lock);
			continue;
		}
		wait_for_work(n);
	}
	pthread_mutex_unlock(&n->lock);
	return NULL;
}

struct notifier *notifier_new(struct fs *fs)
{
	struct notifier *n = calloc(1, sizeof(*n));
	pthread_condattr_t attr;

	if (!n)
		return NULL;
	n->fs = fs;
	n->last = &n->first;
	n->held_last = &n->held;
	pthread_mutex_init(&n->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&n->wake, &attr);
	pthread_cond_init(&n->progress, &attr);
	pthread_cond_init(&n->less, NULL);
	pthread_condattr_destroy(&attr);
	if (pthread_create(&n->thread, NULL, run, n) == 0)
		return n;
	free(n);
	return NULL;
}

void notifier_silence(struct notifier *n)
{
	pthread_mutex_lock(&n->lock);
	n->silent = true;
	pthread_mutex_unlock(&n->lock);
}

/* What time did not come to end, at the end of the mount. */
static void end_bursts(struct notifier *n)
{
	while (n->watched) {
		struct changes changes = CHANGES_NONE;
		struct file *file = n->watched;

		n->watched = file->next_watched;
		burst_finish(n->fs, file, &changes);
		changes_release(&changes); /* nobody is there to be told */
		fs_reference(n->fs, file->node, -1);
	}
}

void notifier_stop(struct notifier *n)
{
	if (!n || n->ending)
		return;
	pthread_mutex_lock(&n->lock);
	n->ending = true;
	pthread_cond_signal(&n->wake);
	pthread_cond_broadcast(&n->progress);
	pthread_mutex_unlock(&n->lock);
	pthread_join(n->thread, NULL);
	pthread_mutex_lock(&n->lock);
	while (n->loaders)
		pthread_cond_wait(&n->less, &n->lock);
	pthread_mutex_unlock(&n->lock);
}

static void free_notices(struct notice *first)
{
	while (first) {
		struct notice *next = first->next;

		free(first);
		first = next;
	}
}

void notifier_free(struct notifier *n)
{
	if (!n)
		return;
	notifier_stop(n);
	fillings_finish(n->fs, NULL);
	end_bursts(n);
	free_notices(n->first);
	free_notices(n->held);
	free(n->folders);
	pthread_cond_destroy(&n->wake);
	pthread_cond_destroy(&n->progress);
	pthread_cond_destroy(&n->less);
	pthread_mutex_destroy(&n->lock);
	free(n);
}
