/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sandbox/caller.h"

#include <check.h>
#include <endian.h>
#include <linux/posix_acl.h>
#include <linux/posix_acl_xattr.h>
#include <stdlib.h>

#define ENTRIES 40

/* Rights with an ACL. The first entries are added in the order that the kernel keeps. */
struct made {
	struct {
		struct posix_acl_xattr_header header;
		struct posix_acl_xattr_entry entries[ENTRIES];
	} acl;
	struct rights rights;
};

static void begin(struct made *m, uid_t uid, gid_t gid, mode_t mode)
{
	*m = (struct made){.rights = {uid, gid, mode, {NULL, 0}}};
}

static void add(struct made *m, unsigned tag, unsigned id, unsigned perm)
{
	size_t size = m->rights.acl.size ? m->rights.acl.size : sizeof(m->acl.header);
	size_t at = (size - sizeof(m->acl.header)) / sizeof(m->acl.entries[0]);

	ck_assert_uint_lt(at, ENTRIES);
	m->acl.header.a_version = htole32(POSIX_ACL_XATTR_VERSION);
	m->acl.entries[at] = (struct posix_acl_xattr_entry){htole16((uint16_t)tag),
							    htole16((uint16_t)perm), htole32(id)};
	m->rights.acl = (struct bytes){(const uint8_t *)&m->acl, size + sizeof(m->acl.entries[0])};
}

static bool may(uid_t uid, gid_t gid, gid_t more, const struct rights *r, unsigned what)
{
	struct caller *c = caller_new(uid, gid, &more, 1);
	bool lets;

	ck_assert_ptr_nonnull(c);
	lets = caller_may(c, r, what);
	free(c);
	return lets;
}

START_TEST(one_class_of_a_mode_counts)
{
	struct made m;

	begin(&m, 1, 10, 0142);
	ck_assert(may(1, 10, 9, &m.rights, MAY_SEARCH));
	ck_assert(!may(1, 10, 9, &m.rights, MAY_READ));
	ck_assert(may(2, 10, 9, &m.rights, MAY_READ));
	ck_assert(may(2, 9, 10, &m.rights, MAY_READ));
	ck_assert(!may(2, 9, 10, &m.rights, MAY_WRITE));
	ck_assert(may(2, 9, 8, &m.rights, MAY_WRITE));
	ck_assert(!may(2, 9, 8, &m.rights, MAY_WRITE | MAY_READ));
	ck_assert(may(0, 0, 0, &m.rights, MAY_WRITE | MAY_READ | MAY_SEARCH));
}
END_TEST

START_TEST(an_acl_counts_as_in_the_kernel)
{
	struct made m;

	begin(&m, 1, 10, 0664);
	add(&m, ACL_USER_OBJ, 0, 6);
	add(&m, ACL_USER, 2, 4);
	add(&m, ACL_USER, 3, 0);
	add(&m, ACL_GROUP_OBJ, 0, 0);
	add(&m, ACL_GROUP, 11, 6);
	add(&m, ACL_MASK, 0, 6);
	add(&m, ACL_OTHER, 0, 4);
	ck_assert(may(2, 11, 11, &m.rights, MAY_READ));
	/* the user's own entry counts, not the group's */
	ck_assert(!may(2, 11, 11, &m.rights, MAY_WRITE));
	ck_assert(!may(3, 11, 11, &m.rights, MAY_READ));
	/* member of a group with an entry, so not one of the others */
	ck_assert(!may(4, 10, 10, &m.rights, MAY_READ));
	ck_assert(may(4, 10, 11, &m.rights, MAY_WRITE));
	ck_assert(may(4, 12, 12, &m.rights, MAY_READ));
	m.rights.mode = 0644; /* the group bits are the mask */
	ck_assert(!may(4, 10, 11, &m.rights, MAY_WRITE));
}
END_TEST

/* Computes rights_cover literally: for every user there may be, in every set of groups. */
static bool covers(const struct rights *other, const struct rights *file)
{
	static const uid_t users[] = {1, 2, 3, 4};
	static const gid_t groups[] = {10, 11, 12, 13};

	for (size_t u = 0; u < ARRAY_SIZE(users); u++) {
		for (unsigned set = 0; set < 1U << ARRAY_SIZE(groups); set++) {
			gid_t has[ARRAY_SIZE(groups)];
			size_t count = 0;
			struct caller *c;
			bool lost;

			for (unsigned g = 0; g < ARRAY_SIZE(groups); g++) {
				if (set & (1U << g))
					has[count++] = groups[g];
			}
			c = caller_new(users[u], 99, has, count);
			ck_assert_ptr_nonnull(c);
			lost = caller_may(c, file, MAY_READ) && !caller_may(c, other, MAY_READ);
			free(c);
			if (lost)
				return false;
		}
	}
	return true;
}

static uint32_t next(uint32_t *state)
{
	*state = *state * 1664525 + 1013904223;
	return *state >> 16;
}

/* Makes random rights that never name user 4 and group 13. */
static void make_any(struct made *m, uint32_t *state)
{
	begin(m, 1 + next(state) % 3, 10 + next(state) % 3, next(state) & 0444);
	if (next(state) % 3 == 0)
		return;
	add(m, ACL_USER_OBJ, 0, (m->rights.mode >> 6) & 7);
	for (unsigned id = 1; id <= 3; id++) {
		if (next(state) % 2)
			add(m, ACL_USER, id, next(state) & MAY_READ);
	}
	add(m, ACL_GROUP_OBJ, 0, next(state) & MAY_READ);
	for (unsigned id = 10; id <= 12; id++) {
		if (next(state) % 2)
			add(m, ACL_GROUP, id, next(state) & MAY_READ);
	}
	add(m, ACL_MASK, 0, (m->rights.mode >> 3) & 7);
	add(m, ACL_OTHER, 0, m->rights.mode & 7);
}

START_TEST(rights_cover_others_as_asking_everybody_says)
{
	uint32_t state = 1;
	unsigned yes = 0;

	for (unsigned i = 0; i < 20000; i++) {
		struct made file, other;
		bool want;

		make_any(&file, &state);
		make_any(&other, &state);
		want = covers(&other.rights, &file.rights);
		yes += want;
		ck_assert_msg(rights_cover(&other.rights, &file.rights) == want,
			      "pair %u: the answer should be %d", i, want);
	}
	ck_assert_uint_gt(yes, 1000);
	ck_assert_uint_lt(yes, 19000);
}
END_TEST

START_TEST(long_acls_cover_only_what_all_may_read)
{
	struct made file, other;

	begin(&file, 1, 10, 0600);
	begin(&other, 1, 10, 0644);
	for (unsigned i = 0; i < ENTRIES; i++)
		add(&other, ACL_USER, 100 + i, MAY_READ);
	ck_assert(rights_cover(&other.rights, &file.rights));
	other.rights.mode = 0640;
	ck_assert(!rights_cover(&other.rights, &file.rights));
}
END_TEST

Suite *caller_suite(void);
Suite *caller_suite(void)
{
	Suite *s = suite_create("caller");
	TCase *t = tcase_create("caller");

	tcase_add_test(t, one_class_of_a_mode_counts);
	tcase_add_test(t, an_acl_counts_as_in_the_kernel);
	tcase_add_test(t, rights_cover_others_as_asking_everybody_says);
	tcase_add_test(t, long_acls_cover_only_what_all_may_read);
	suite_add_tcase(s, t);
	return s;
}
