/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "confinement.h"

#include "disk/dirfd.h"
#include "sandbox/confine.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Returns the path of an open folder in our mount namespace. False if the path is not known. */
static bool confinement_path_of(int fd, char path[PATH_MAX])
{
	char link[DIRFD_PROC_SIZE];
	ssize_t size = -1;

	if (dirfd_proc_path(fd, NULL, link, sizeof(link)) == 0)
		size = readlink(link, path, PATH_MAX);
	if (size < 0 || size >= PATH_MAX)
		return false;
	path[size] = '\0';
	return true;
}

/*
 * Returns whether the state directory's parent is in SOURCE; `below` gets the path of that parent
 * from SOURCE.
 */
static bool confinement_is_in_source(int root, const struct state *state, char below[PATH_MAX])
{
	char source[PATH_MAX], path[PATH_MAX];
	size_t length;

	if (!confinement_path_of(root, source) || !confinement_path_of(state_above(state), path))
		return false;
	length = strcmp(source, "/") == 0 ? 0 : strlen(source);
	if (strncmp(path, source, length) != 0 || (path[length] && path[length] != '/'))
		return false;
	snprintf(below, PATH_MAX, "%s", path + length + (path[length] == '/'));
	return true;
}

/* How the process reaches the state directory once it is confined. */
struct state_route {
	bool in_source;
	char below[PATH_MAX]; /* path of the state directory's parent, from SOURCE */
	/*
	 * -1 if in SOURCE; else the descriptor of the state directory (`itself` is set) or of its
	 * parent
	 */
	int fd;
	bool itself;
};

/*
 * Finds how the state directory is reached. In SOURCE it is reached through SOURCE, so that files
 * can be renamed from one to the other. Elsewhere the directory is made now, since the confined
 * process cannot make it. A read-only mount does not make it, and opens its parent instead, since
 * another process may make the directory later.
 */
static int find_route(int root, struct state *state, struct state_route *route)
{
	int error;

	*route = (struct state_route){
		.fd = -1, .in_source = confinement_is_in_source(root, state, route->below)};
	if (route->in_source)
		return 0;
	error = state_make(state, &route->fd);
	route->itself = !error;
	if (error != ENOENT)
		return error;
	route->fd = fcntl(state_above(state), F_DUPFD_CLOEXEC, 0);
	return route->fd < 0 ? errno : 0;
}

/* Reopens the state directory in the confined tree: a descriptor from outside would lead out. */
static int move_state(int root, struct state *state, const struct state_route *route)
{
	int fd, error;

	if (!route->in_source)
		return state_move(state, route->fd, route->itself);
	error = dirfd_walk(root, route->below, O_PATH | O_DIRECTORY, &fd);
	if (error)
		return error;
	error = dirfd_same_file(fd, state_above(state)) ? state_move(state, fd, false) : ESTALE;
	close(fd);
	return error;
}

/*
 * Warns a user who mounts as root if the process did not get a file tree of its own, which only
 * mounts by root are promised.
 */
static void warn_of_tree(const char *source, unsigned confined)
{
	if (geteuid() == 0 && !(confined & CONFINED_TREE) && !CONFINE_SANITIZED)
		fprintf(stderr,
			"animfs: warning: the process keeps its view of folders other than %s; see "
			"SECURITY in animfs-mount(1)\n",
			source);
}

bool mount_confine(const struct mount_options *o, int root, struct state *state, int overlay,
		   unsigned *confined, struct err *err)
{
	struct confine_place places[CONFINE_PLACES_MAX];
	struct state_route route;
	int error = find_route(root, state, &route);
	bool fine;

	if (error)
		return err_system(err, error, o->state);
	places[0] = (struct confine_place){root, !o->read_only};
	places[1] = (struct confine_place){route.fd, !o->read_only};
	places[2] = (struct confine_place){overlay, !o->read_only};
	fine = confine(places, ARRAY_SIZE(places), confined, err);
	if (fine && *confined & CONFINED_TREE) {
		error = move_state(root, state, &route);
		fine = !error || err_system(err, error, "the state directory");
	}
	if (route.fd >= 0)
		close(route.fd);
	if (fine)
		warn_of_tree(o->source, *confined);
	return fine;
}
