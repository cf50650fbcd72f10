/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * image_recorder.c - image_recorder SIZE LOG MOUNTPOINT: a folder with one file, "image", of SIZE
 * bytes, for a loop device; writes to it are also appended to LOG, in order:
 *
 *   "W" OFFSET LENGTH BYTES   a write
 *   "B"                       a barrier: all writes before it last
 *
 * with numbers of 64 bits in the machine's own order. So one can make the image that a power cut
 * would have left at any moment. It runs in the foreground until it is unmounted.
 */
#define FUSE_USE_VERSION 31
#include <errno.h>
#include <fuse.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME "/image"

static char *image;
static size_t image_size;
static FILE *record;

static int get_attributes(const char *path, struct stat *st, struct fuse_file_info *fi)
{
	(void)fi;
	memset(st, 0, sizeof(*st));
	st->st_nlink = 1;
	st->st_mode = S_IFDIR | 0700;
	if (strcmp(path, "/") == 0)
		return 0;
	st->st_mode = S_IFREG | 0600;
	st->st_size = (off_t)image_size;
	return strcmp(path, NAME) == 0 ? 0 : -ENOENT;
}

static int list(const char *path, void *buffer, fuse_fill_dir_t fill, off_t at,
		struct fuse_file_info *fi, enum fuse_readdir_flags flags)
{
	(void)path, (void)at, (void)fi, (void)flags;
	fill(buffer, &NAME[1], NULL, 0, 0);
	return 0;
}

/* Returns how many bytes of a range from `at` on are within the image. */
static size_t within(size_t size, off_t at)
{
	size_t left = (uint64_t)at < image_size ? image_size - (size_t)at : 0;

	return size < left ? size : left;
}

static int read_some(const char *path, char *data, size_t size, off_t at, struct fuse_file_info *fi)
{
	(void)path, (void)fi;
	size = within(size, at);
	memcpy(data, image + at, size);
	return (int)size;
}

static int write_some(const char *path, const char *data, size_t size, off_t at,
		      struct fuse_file_info *fi)
{
	uint64_t place[2] = {(uint64_t)at, size};

	(void)path, (void)fi;
	if (within(size, at) < size)
		return -ENOSPC;
	memcpy(image + at, data, size);
	fputc('W', record);
	fwrite(place, sizeof(place), 1, record);
	fwrite(data, size, 1, record);
	fflush(record);
	return (int)size;
}

static int sync_all(const char *path, int data_only, struct fuse_file_info *fi)
{
	(void)path, (void)data_only, (void)fi;
	fputc('B', record);
	fflush(record);
	return ferror(record) ? -EIO : 0;
}

/* Punches a hole: nothing is freed, but the hole is filled with zeros. */
static int punch(const char *path, int mode, off_t at, off_t size, struct fuse_file_info *fi)
{
	(void)path, (void)mode, (void)at, (void)size, (void)fi;
	return -EOPNOTSUPP;
}

static const struct fuse_operations operations = {
	.getattr = get_attributes,
	.readdir = list,
	.read = read_some,
	.write = write_some,
	.fsync = sync_all,
	.fallocate = punch,
};

int main(int argc, char **argv)
{
	char *arguments[] = {argv[0], "-f", "-s", argc == 4 ? argv[3] : NULL, NULL};

	if (argc != 4) {
		fprintf(stderr, "image_recorder SIZE LOG MOUNTPOINT\n");
		return 2;
	}
	image_size = strtoul(argv[1], NULL, 10);
	image = calloc(1, image_size);
	record = fopen(argv[2], "wbe");
	if (!image || !record) {
		perror(argv[2]);
		return 1;
	}
	return fuse_main(4, arguments, &operations, NULL);
}
