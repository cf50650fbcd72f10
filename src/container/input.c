/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "animfs/container.h"

#include <assert.h>
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

bool input_of_file(int fd, struct input *out, struct err *err)
{
	struct stat st;

	if (fstat(fd, &st) != 0)
		return err_system(err, errno, "fstat");
	if (!S_ISREG(st.st_mode))
		return err_system(err, S_ISDIR(st.st_mode) ? EISDIR : EINVAL, "open");
	*out = (struct input){.fd = fd, .size = (uint64_t)st.st_size};
	return true;
}

struct input input_of_bytes(struct bytes bytes)
{
	return (struct input){.fd = -1, .data = bytes.data, .size = bytes.size};
}

bool input_holds(const struct input *in, uint64_t at, uint64_t size)
{
	return at <= in->size && size <= in->size - at;
}

struct input input_range(const struct input *in, uint64_t at, uint64_t size)
{
	struct input range = *in;

	assert(input_holds(in, at, size));
	if (in->fd < 0)
		range.data = in->data ? in->data + at : NULL;
	else
		range.at += at;
	range.size = size;
	return range;
}

static bool input_read_file(const struct input *in, uint64_t at, uint8_t *out, size_t size,
			    struct err *err)
{
	while (size > 0) {
		ssize_t got = pread(in->fd, out, size, (off_t)(in->at + at));

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return err_system(err, errno, "read");
		if (got == 0)
			return err_at(err, ERR_FORMAT, (size_t)at, 0,
				      "the file became shorter while it was read");
		out += got;
		at += (uint64_t)got;
		size -= (size_t)got;
	}
	return true;
}

bool input_read(const struct input *in, uint64_t at, void *out, size_t size, struct err *err)
{
	if (!input_holds(in, at, size))
		return err_at(err, ERR_FORMAT, (size_t)at, 0,
			      "%zu bytes from here on are not in the file, which has %llu", size,
			      (unsigned long long)in->size);
	if (in->fd >= 0)
		return input_read_file(in, at, out, size, err);
	if (size > 0)
		memcpy(out, in->data + at, size);
	return true;
}
