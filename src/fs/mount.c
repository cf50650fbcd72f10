/* SPDX-License-Identifier: GPL-3.0-or-later */
/* mount.c - the session: from a command line to a mounted tree, and its end. */
#include "entries.h"
#include "fs.h"

#include "confine.h"
#include "enclose.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/fuse.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/uio.h>
#include <syslog.h>
#include <unistd.h>

#define DEFAULT_CACHE ((size_t)256 << 20)
#define DEFAULT_EXTRA_MAX ((size_t)4 << 30)
#define RECENT_LIMIT ((size_t)8 << 20) /* a folder of some thousand bones */
#define TRY_HELP "Try 'animfs mount --help' for more information.\n"

/* ---- the session ---- */

/* Where nobody else is let in, and where all is shown as somebody's, modes say enough. */
static bool has_acls(const struct mount_options *o)
{
	return o->allow_other && o->uid < 0 && o->gid < 0 && o->umask < 0;
}

static void fs_init(void *userdata, struct fuse_conn_info *conn)
{
	struct fs *fs = userdata;
	bool heard = outside_is_heard(fs);

	conn->time_gran = 1;
	fs->unopened_folders = heard && (conn->capable & FUSE_CAP_NO_OPENDIR_SUPPORT);
	fs->unopened_files = heard && fs->read_only && (conn->capable & FUSE_CAP_NO_OPEN_SUPPORT);
	/* A pipe between costs every request two more calls, and saves a copy for large writes
	 * only. */
	conn->want &= ~(unsigned)FUSE_CAP_SPLICE_READ;
	/*
	 * What is read of an ordinary file goes from its pages to the kernel's, not through us.
	 * ThreadSanitizer would not see that its descriptor is closed after that.
	 */
#ifndef __SANITIZE_THREAD__
	conn->want |= conn->capable & FUSE_CAP_SPLICE_WRITE;
#endif
	fs->acls = has_acls(fs->options) && (conn->capable & FUSE_CAP_POSIX_ACL);
	if (fs->acls)
		conn->want |= FUSE_CAP_POSIX_ACL | FUSE_CAP_DONT_MASK;
	/*
	 * Otherwise the kernel asks for one name of a folder at a time, and whoever asks for any
	 * other waits while a file is decoded.
	 */
	conn->want |= conn->capable & FUSE_CAP_PARALLEL_DIROPS;
	fs->answering_init = conn->capable & FUSE_CAP_PARALLEL_DIROPS;
	/* Names "." and ".." are answered, for NFS. */
	conn->want |= conn->capable & FUSE_CAP_EXPORT_SUPPORT;
}

/*
 * libfuse before 3.17 says that FUSE_CAP_PARALLEL_DIROPS is its default, and never tells the
 * kernel: it is put into the answer on its way. Before 3.13 there is no way to do that.
 */
#if FUSE_VERSION >= FUSE_MAKE_VERSION(3, 13) && FUSE_VERSION < FUSE_MAKE_VERSION(3, 17)
static ssize_t send_answer(int fd, struct iovec *parts, int count, void *user)
{
	struct fs *fs = user;

	if (fs->answering_init) {
		fs->answering_init = false;
		if (count > 1 && parts[1].iov_len >= offsetof(struct fuse_init_out, unused))
			((struct fuse_init_out *)parts[1].iov_base)->flags |= FUSE_PARALLEL_DIROPS;
	}
	return writev(fd, parts, count);
}

static ssize_t receive(int fd, void *request, size_t size, void *user)
{
	(void)user;
	return read(fd, request, size);
}

static ssize_t splice_answer(int in, off_t *in_at, int out, off_t *out_at, size_t size,
			     unsigned flags, void *user)
{
	(void)user;
	return splice(in, in_at, out, out_at, size, flags);
}

static bool send_ourselves(struct fuse_session *session)
{
	static const struct fuse_custom_io io = {
		.writev = send_answer, .read = receive, .splice_send = splice_answer};

	return fuse_session_custom_io(session, &io, fuse_session_fd(session)) == 0;
}
#else
static bool send_ourselves(struct fuse_session *session)
{
	(void)session;
	return true;
}
#endif

static void fs_lookup_request(fuse_req_t req, fuse_ino_t parent, const char *name)
{
	struct fuse_entry_param entry;
	struct fs *fs = fs_of(req);
	int error;

	if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
		error = fs_lookup_handle(fs, parent, name[1] == '.', &entry);
	else if (strlen(name) > NAME_MAX)
		error = ENAMETOOLONG;
	else
		error = fs_lookup(fs, fs_node(fs, parent), name, &entry);
	if (!error) {
		asker_asked(fs->asker, fuse_req_ctx(req)->pid, fs_node(fs, entry.ino));
		*fs_looked_up(req) = entry.ino;
	}
	if (error)
		fuse_reply_err(req, error);
	else
		fuse_reply_entry(req, &entry);
}

/* Releases and what is forgotten are loop.c's. */
static const struct fuse_lowlevel_ops operations = {
	.init = fs_init,
	.lookup = fs_lookup_request,
	.getattr = fs_getattr,
	.setattr = fs_setattr,
	.readlink = fs_readlink,
	.mknod = fs_mknod,
	.mkdir = fs_mkdir,
	.unlink = fs_unlink,
	.rmdir = fs_rmdir,
	.symlink = fs_symlink,
	.rename = fs_rename,
	.link = fs_link,
	.open = fs_open,
	.read = fs_read,
	.write_buf = fs_write_buf,
	.flush = fs_flush,
	.fsync = fs_fsync,
	.opendir = fs_opendir,
	.readdir = fs_readdir,
	.readdirplus = fs_readdirplus,
	.fsyncdir = fs_fsyncdir,
	.statfs = fs_statfs,
	.setxattr = fs_setxattr,
	.getxattr = fs_getxattr,
	.listxattr = fs_listxattr,
	.removexattr = fs_removexattr,
	.create = fs_create,
	.fallocate = fs_fallocate,
	.lseek = fs_lseek,
	.copy_file_range = fs_copy_file_range,
};

static struct fs *the_fs; /* the one mount of this process: nodes have no way back to it */

static void node_gone(struct node *node)
{
	handles_free(node);
	node_leave_file(&the_fs->nodes, node);
	if (node->folder) {
		folder_forget(&the_fs->folders, node);
		outside_forget(the_fs, node);
	}
	draft_free(node->draft);
	memo_free(node_memo(node));
	snap_put(node_version(node));
	free(node_last(node));
	if (node->kind != NODE_FILE)
		return;
	while (node->file->members)
		node_leave_file(&the_fs->nodes, node->file->members);
	file_free(node->file);
}

static void note_names(void *fs, const char *fault)
{
	journal_note(fs, NAMING_FILE, "not used", fault);
}

static void note_rest(void *fs, const char *path, const char *fault)
{
	journal_note(fs, path, "not used", fault);
}

static bool fs_start(struct fs *fs)
{
	struct stat st;
	struct identity id;

	the_fs = fs;
	fs->journal = journal_new();
	fs->fillings = fillings_new();
	fs->extras = extras_new();
	fs->listings = listings_new();
	fs->sharing = sharing_new();
	fs->recent = recent_new(RECENT_LIMIT);
	fs->asker = asker_new();
	if (!fs->journal || !fs->fillings || !fs->extras || !fs->listings || !fs->sharing ||
	    !fs->recent || !fs->asker || !nodes_init(&fs->nodes, node_gone) ||
	    getrandom(&fs->stamp, sizeof(fs->stamp), 0) < 0)
		return false;
	fs->nodes.keeps = fs->options->noforget;
	folders_init(&fs->folders, &fs->nodes, fs->root);
	if (identity_at(fs->root, ".", &id, &st) == 0) {
		fs->root_identity = id;
		if (!nodes_identify(&fs->nodes, nodes_by_id(&fs->nodes, NODE_ROOT), &id))
			return false;
	}
	fs->store = store_new(&fs->options->store, fs->state);
	if (!fs->store)
		return false;
	store_rests(fs->store, note_rest, fs);
	store_keep_replaced(fs->store);
	access_start(fs);
	return store_names(fs->store, fs->root, note_names, fs);
}

static void fs_end(struct fs *fs)
{
	outside_end(fs);
	notifier_free(fs->notifier);
	nodes_release(&fs->nodes);
	folders_release(&fs->folders);
	store_free(fs->store);
	journal_free(fs->journal);
	fillings_free(fs->fillings);
	extras_free(fs->extras);
	listings_free(fs->listings);
	sharing_free(fs->sharing);
	recent_free(fs->recent);
	free(fs->asker);
}

static void log_to_syslog(enum fuse_log_level level, const char *format, va_list args)
{
	vsyslog((int)level, format, args);
}

/* Those that end the session are for the main thread, where it waits for them. */
static void hold_signals(sigset_t *before)
{
	sigset_t held;

	sigemptyset(&held);
	sigaddset(&held, SIGHUP);
	sigaddset(&held, SIGINT);
	sigaddset(&held, SIGTERM);
	pthread_sigmask(SIG_BLOCK, &held, before);
}

/*
 * Any thread may decode and save a large file: with a heap for each, what one freed would be of no
 * use to the next, and the memory would grow with their number.
 */
static void keep_one_heap(void)
{
#ifdef M_ARENA_MAX
	mallopt(M_ARENA_MAX, 1);
#endif
}

static int out_of_memory(void)
{
	fprintf(stderr, "animfs: out of memory\n");
	return 1;
}

/* libfuse says why, if there is memory for that. */
static int not_mounted(const struct fs *fs)
{
	fprintf(stderr, "animfs: %s: not mounted\n", fs->options->mountpoint);
	return 1;
}

static int run_session(struct fs *fs, const struct fuse_cmdline_opts *cmdline)
{
	sigset_t before;
	int result;

	if (fuse_daemonize(cmdline->foreground) != 0)
		return 1;
	enclose_settle(!cmdline->foreground);
	if (!cmdline->foreground)
		fuse_set_log_func(log_to_syslog);
	keep_one_heap();
	hold_signals(&before);
	if (fs->unmounter >= 0)
		unmounter_watch(fs->unmounter);
	fs->notifier = notifier_new(fs);
	if (!fs->notifier)
		return out_of_memory();
	outside_start(fs);
	fillings_resume(fs);
	fs->threads = cmdline->singlethread ? 1 : cmdline->max_threads;
	result = fs_loop(fs, &before);
	notifier_silence(fs->notifier);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	fs_commit_all(fs);
	return result < 0 ? 1 : 0;
}

static int serve(struct fs *fs, struct fuse_args *args, const struct fuse_cmdline_opts *cmdline)
{
	int status = 1;

	fs->session = fuse_session_new(args, &operations, sizeof(operations), fs);
	if (!fs->session)
		return not_mounted(fs);
	if (fuse_set_signal_handlers(fs->session) == 0) {
		if (fuse_session_mount(fs->session, fs->options->mountpoint) != 0) {
			not_mounted(fs);
		} else {
			if (send_ourselves(fs->session) && fs_confine(fs, !cmdline->foreground))
				status = run_session(fs, cmdline);
			if (fs->unmounter >= 0) {
				unmounter_end(fs->session, fs->unmounter);
				/* Or it writes to what is opened under the session's number. */
				notifier_stop(fs->notifier);
			}
			fuse_session_unmount(fs->session);
		}
		fuse_remove_signal_handlers(fs->session);
	}
	fs_end(fs);
	fuse_session_destroy(fs->session);
	return status;
}

/* ---- the command line ---- */

enum key {
	KEY_SOURCE,
	KEY_VIEWS,
	KEY_RATE,
	KEY_TYPE,
	KEY_ROTATIONS,
	KEY_BONES,
	KEY_BVH,
	KEY_BACKUP,
	KEY_CACHE,
	KEY_MAX_FILE,
	KEY_MAX_TEXT,
	KEY_EXTRA_MAX,
	KEY_STATE,
	KEY_BESIDE,
	KEY_READ_ONLY,
	KEY_NONEMPTY,
	KEY_NOFORGET,
	KEY_UNCONFINED,
	KEY_ALLOW_OTHER,
	KEY_UID,
	KEY_GID,
	KEY_UMASK,
};

/* As FUSE_OPT_KEY, whose constant clang finds too narrow. */
#define OPTION(name, key)                                                                          \
	{                                                                                          \
		name, (unsigned long)UINT_MAX, key                                                 \
	}
#define LONG_AND_O(name, key) OPTION("--" name, key), OPTION(name, key)

static const struct fuse_opt option_keys[] = {
	LONG_AND_O("views=", KEY_VIEWS),
	LONG_AND_O("rate=", KEY_RATE),
	LONG_AND_O("type=", KEY_TYPE),
	LONG_AND_O("rotations=", KEY_ROTATIONS),
	LONG_AND_O("bones=", KEY_BONES),
	LONG_AND_O("bvh=", KEY_BVH),
	LONG_AND_O("backup=", KEY_BACKUP),
	LONG_AND_O("cache=", KEY_CACHE),
	LONG_AND_O("max-file=", KEY_MAX_FILE),
	LONG_AND_O("max-text=", KEY_MAX_TEXT),
	LONG_AND_O("extra-max=", KEY_EXTRA_MAX),
	LONG_AND_O("state=", KEY_STATE),
	LONG_AND_O("beside", KEY_BESIDE),
	OPTION("ro", KEY_READ_ONLY),
	OPTION("nonempty", KEY_NONEMPTY),
	OPTION("noforget", KEY_NOFORGET),
	OPTION("unconfined", KEY_UNCONFINED),
	OPTION("allow_other", KEY_ALLOW_OTHER),
	OPTION("uid=", KEY_UID),
	OPTION("gid=", KEY_GID),
	OPTION("umask=", KEY_UMASK),
	FUSE_OPT_END,
};

/* Options that take a value, which may stand in the next argument. */
static const char *const valued[] = {"--views",    "--rate",     "--type",      "--rotations",
				     "--bones",    "--bvh",      "--backup",    "--cache",
				     "--max-file", "--max-text", "--extra-max", "--state"};

struct parsing {
	struct mount_options *options;
	bool nonempty;
};

static int parse_option(void *data, const char *arg, int key, struct fuse_args *out)
{
	struct parsing *p = data;
	const char *value = strchr(arg, '=');
	struct err err = {.code = ERR_NONE};

	(void)out;
	value = value ? value + 1 : "";
	switch (key) {
	case FUSE_OPT_KEY_NONOPT:
		if (p->options->source)
			return 1; /* the mountpoint is libfuse's */
		p->options->source = strdup(arg);
		return p->options->source ? 0 : -out_of_memory();
	case KEY_BESIDE:
		p->options->beside = true;
		return 0;
	case KEY_READ_ONLY:
		p->options->read_only = true;
		return 1;
	case KEY_NONEMPTY:
		p->nonempty = true;
		return 0;
	case KEY_NOFORGET:
		p->options->noforget = true;
		return 0;
	case KEY_ALLOW_OTHER:
		p->options->allow_other = true;
		return 1;
	case KEY_UNCONFINED:
		p->options->unconfined = true;
		return 0;
	case KEY_UID:
		if (option_number(value, 10, &p->options->uid, &err))
			return 0;
		break;
	case KEY_GID:
		if (option_number(value, 10, &p->options->gid, &err))
			return 0;
		break;
	case KEY_UMASK:
		if (option_number(value, 8, &p->options->umask, &err))
			return 0;
		break;
	case KEY_VIEWS:
		if (view_set_parse(value, &p->options->listed, &err))
			return 0;
		break;
	case KEY_RATE:
		if (option_rate(&p->options->store, value, &err))
			return 0;
		break;
	case KEY_TYPE:
		if (option_type(&p->options->store, value, &err))
			return 0;
		break;
	case KEY_ROTATIONS:
		if (option_rotations(&p->options->store, value, &err))
			return 0;
		break;
	case KEY_BONES:
		if (option_bones(&p->options->store, value, &err))
			return 0;
		break;
	case KEY_BVH:
		if (option_bvh(&p->options->store, value, &err))
			return 0;
		break;
	case KEY_BACKUP:
		if (option_backup(&p->options->store, value, &err))
			return 0;
		break;
	case KEY_CACHE:
		if (option_size(value, &p->options->store.cache, &err))
			return 0;
		break;
	case KEY_MAX_FILE:
		if (option_size(value, &p->options->store.max_file, &err))
			return 0;
		break;
	case KEY_MAX_TEXT:
		if (option_max_text(value, &p->options->max_text, &err))
			return 0;
		break;
	case KEY_EXTRA_MAX:
		if (option_size(value, &p->options->extra_max, &err))
			return 0;
		break;
	case KEY_STATE:
		p->options->state = strdup(value);
		return p->options->state ? 0 : -out_of_memory();
	default:
		/* libfuse knows short ones, and those of -o. */
		if (strncmp(arg, "--", 2) != 0 || !arg[2] || strcmp(arg, "--debug") == 0)
			return 1;
		err_set(&err, ERR_TEXT, "there is no such option");
		break;
	}
	fprintf(stderr, "animfs: %s: %s\n" TRY_HELP, arg, err.message);
	return -1;
}

/* "--rate canm=30" as "--rate=canm=30". The list has room for all arguments. */
static bool join_values(int argc, char **argv, struct fuse_args *out)
{
	for (int i = 0; i < argc; i++) {
		char *joined = NULL;

		for (size_t j = 0; j < ARRAY_SIZE(valued) && i + 1 < argc && !joined; j++) {
			if (strcmp(argv[i], valued[j]) == 0 &&
			    asprintf(&joined, "%s=%s", argv[i], argv[i + 1]) < 0)
				return false;
		}
		if (fuse_opt_add_arg(out, joined ? joined : argv[i]) != 0)
			return false;
		i += joined != NULL;
		free(joined);
	}
	return true;
}

static int usage_error(const char *message)
{
	fprintf(stderr, "animfs: %s\n" TRY_HELP, message);
	return 2;
}

/* A folder that cannot be read counts as empty. */
static bool is_empty(DIR *dir)
{
	struct dirent *entry;
	bool empty = true;

	while (dir && (entry = readdir(dir)))
		empty &= strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0;
	return empty;
}

/* MOUNTPOINT may be SOURCE itself, and nothing below it. */
static int check_mountpoint(const struct mount_options *o, bool nonempty)
{
	char source[PATH_MAX], mountpoint[PATH_MAX];
	size_t length;
	bool empty;
	DIR *dir;

	if (!realpath(o->source, source)) {
		fprintf(stderr, "animfs: %s: %s\n", o->source, strerror(errno));
		return 1;
	}
	if (!realpath(o->mountpoint, mountpoint)) {
		fprintf(stderr, "animfs: %s: %s\n", o->mountpoint, strerror(errno));
		return 1;
	}
	if (strcmp(source, mountpoint) == 0)
		return 0;
	length = strcmp(source, "/") == 0 ? 0 : strlen(source);
	if (strncmp(source, mountpoint, length) == 0 && mountpoint[length] == '/') {
		fprintf(stderr,
			"animfs: %s: the mountpoint lies inside %s; use that itself, or a folder "
			"outside\n",
			o->mountpoint, o->source);
		return 1;
	}
	dir = opendir(mountpoint);
	if (!dir && errno == ENOTDIR) {
		fprintf(stderr, "animfs: %s: %s\n", o->mountpoint, strerror(ENOTDIR));
		return 1;
	}
	empty = is_empty(dir);
	if (dir)
		closedir(dir);
	if (!nonempty && !empty) {
		fprintf(stderr,
			"animfs: %s: the mountpoint is not empty (-o nonempty mounts over it)\n",
			o->mountpoint);
		return 1;
	}
	return 0;
}

static bool add_mount_options(struct fuse_args *args, const struct mount_options *o)
{
	char *list = NULL;
	char *name = NULL;
	bool fine = asprintf(&name, "fsname=%s", o->source) >= 0 &&
		    fuse_opt_add_opt(&list, "default_permissions") == 0 &&
		    fuse_opt_add_opt(&list, "subtype=animfs") == 0 &&
		    fuse_opt_add_opt_escaped(&list, name) == 0 &&
		    (!o->read_only || fuse_opt_add_opt(&list, "ro") == 0) &&
		    fuse_opt_add_arg(args, "-o") == 0 && fuse_opt_add_arg(args, list) == 0;

	free(name);
	free(list);
	return fine;
}

static void raise_descriptor_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
}

static int mount_source(struct mount_options *o, struct fuse_args *args,
			const struct fuse_cmdline_opts *cmdline)
{
	struct err err = {.code = ERR_NONE};
	struct fs fs = {.options = o, .unmounter = -1};
	int status = 1;

	if (!o->unconfined && !confine_descriptors(&err)) {
		fprintf(stderr, "animfs: %s\n", err.message);
		return 1;
	}
	fs.root = open(o->source, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fs.root < 0) {
		fprintf(stderr, "animfs: %s: %s\n", o->source, strerror(errno));
		return 1;
	}
	fs.state = state_new(fs.root, o->state, o->read_only, &err);
	if (!fs.state) {
		fprintf(stderr, "animfs: %s\n", err.message);
		goto done;
	}
	if (!o->read_only && state_writable(fs.state) != 0) {
		fprintf(stderr,
			"animfs: %s cannot be written (%s) and there is no --state: the mount is "
			"read-only\n",
			o->source, strerror(state_writable(fs.state)));
		o->read_only = true;
	}
	fs.read_only = o->read_only;
	umask(0);
	raise_descriptor_limit();
	if (!fs_start(&fs) || !add_mount_options(args, o))
		out_of_memory();
	else
		status = serve(&fs, args, cmdline);
done:
	state_free(fs.state);
	close(fs.root);
	return status;
}

static void options_release(struct mount_options *o)
{
	option_release(&o->store);
	free(o->source);
	free(o->mountpoint);
	free(o->state);
}

int mount_main(int argc, char **argv)
{
	struct mount_options o = {.listed = VIEW_SET_ALL,
				  .store = {.cache = DEFAULT_CACHE, .max_file = DEFAULT_MAX_FILE},
				  .max_text = DEFAULT_MAX_TEXT,
				  .extra_max = DEFAULT_EXTRA_MAX,
				  .uid = -1,
				  .gid = -1,
				  .umask = -1};
	struct parsing parsing = {.options = &o};
	struct fuse_args args = FUSE_ARGS_INIT(0, NULL);
	struct fuse_cmdline_opts cmdline = {.mountpoint = NULL};
	int status = 2;

	if (!join_values(argc, argv, &args) ||
	    fuse_opt_parse(&args, &parsing, option_keys, parse_option) != 0 ||
	    fuse_parse_cmdline(&args, &cmdline) != 0)
		goto done;
	if (!o.source)
		status = usage_error("no SOURCE given");
	else if (!cmdline.mountpoint)
		status = usage_error("no MOUNTPOINT given");
	else {
		o.mountpoint = strdup(cmdline.mountpoint);
		status = o.mountpoint ? check_mountpoint(&o, parsing.nonempty) : out_of_memory();
		if (status == 0)
			status = mount_source(&o, &args, &cmdline);
	}
done:
	free(cmdline.mountpoint);
	fuse_opt_free_args(&args);
	options_release(&o);
	return status;
}
