/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests of where the loose file of a member goes. tests/mount/overlay.sh has the edits. */
#include "store/overlay.h"

#include "container/containers.h"
#include "disk/dirfd.h"
#include "scratch.h"

/* An archive of one kind of container with the given members, without bytes. */
struct made {
	struct archive archive;
	struct contents *contents;
	struct state *state;
	struct overlay *overlay;
	struct archive_place place;
	struct member members[3];
};

static void make_file(const char *path)
{
	char folder[PATH_MAX];
	char *slash;

	snprintf(folder, sizeof(folder), "%s", path);
	for (slash = strchr(folder, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		ck_assert(mkdir(folder, 0700) == 0 || errno == EEXIST);
		*slash = '/';
	}
	close(open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
}

static void make_archive(struct made *m, const char *path, const char *given,
			 const char *const paths[3])
{
	struct err err = {.code = ERR_NONE};

	*m = (struct made){.archive = {.container = &cpk_container,
				       .arena = ARENA_INIT,
				       .limit = (size_t)1 << 20,
				       .members = m->members}};
	for (unsigned i = 0; i < 3 && paths[i]; i++) {
		const char *bar = strchr(paths[i], '|');

		m->members[i].folder =
			arena_text(&m->archive.arena, paths[i], (size_t)(bar - paths[i]));
		m->members[i].name = bar + 1;
		m->archive.count = i + 1;
	}
	m->contents = contents_new(&m->archive, &err);
	m->state = state_new(scratch_root, NULL, false, &err);
	m->overlay = m->state ? overlay_new(m->state, given, &err) : NULL;
	ck_assert_msg(m->contents && m->overlay, "%s", err.message);
	m->place = (struct archive_place){.dir = scratch_root, .path = path};
	archive_place_settle(&m->place, m->overlay);
}

static void release_archive(struct made *m)
{
	overlay_free(m->overlay);
	state_free(m->state);
	contents_free(m->contents);
	arena_release(&m->archive.arena);
}

/* Returns the entry of a member. */
static struct member_of member_of(const struct made *m, uint32_t member)
{
	for (uint32_t i = 1;; i++) {
		ck_assert_uint_lt(i, m->contents->count);
		if (m->contents->entries[i].member == member)
			return (struct member_of){&m->archive, m->contents, i, 0};
	}
}

/*
 * Writes "FOLDER|NAME", the place of the first member's loose file, whether it exists or not; or
 * the reason why it can have none.
 */
static void where_is(const struct made *m, bool *is_there, char out[PATH_MAX])
{
	const struct member_of of = member_of(m, 0);
	struct err err = {.code = ERR_NONE};
	struct loose l;
	bool found = loose_find(&l, m->overlay, &m->place, &of, &err);

	*is_there = found && l.is_there;
	if (found && loose_check(&l, &err))
		snprintf(out, PATH_MAX, "%s|%s", l.folder, l.name);
	else
		snprintf(out, PATH_MAX, "%s", err.message);
	loose_release(&l);
}

static void check_place(const char *path, const char *member, const char *expected, bool there)
{
	const char *const paths[3] = {member};
	char where[PATH_MAX];
	struct made m;
	bool is_there;

	make_archive(&m, path, NULL, paths);
	where_is(&m, &is_there, where);
	ck_assert_msg(strncmp(where, expected, strlen(expected)) == 0, "%s: %s", member, where);
	ck_assert_int_eq(is_there, there);
	release_archive(&m);
}

START_TEST(a_game_is_known_by_its_program_and_archive)
{
	static const char *const programs[] = {"EDF41.exe", "EDF5.exe", "edf6.EXE"};

	check_place("Root.cpk", "OBJECT|X.CAS", "Root.cpk/OBJECT|X.CAS", false);
	for (unsigned i = 0; i < ARRAY_SIZE(programs); i++) {
		make_file(programs[i]);
		check_place("Root.cpk", "OBJECT|X.CAS", "Root.cpk/OBJECT|X.CAS", false);
		make_file("root.CPK");
		check_place("Root.cpk", "OBJECT|X.CAS", "Mods/OBJECT|X.CAS", false);
		check_place("Games/dx11.cpk", "OBJECT|X.CAS", "Games/Mods/OBJECT|X.CAS", false);
		check_place("Other.cpk", "OBJECT|X.CAS", "Other.cpk/OBJECT|X.CAS", false);
		unlink("root.CPK");
		unlink(programs[i]);
	}
}
END_TEST

static void make_game(void)
{
	make_file("EDF6.exe");
	make_file("Root.cpk");
}

START_TEST(what_is_there_is_used_whatever_its_case)
{
	make_game();
	check_place("Root.cpk", "|X.CAS", "Mods|X.CAS", false);
	ck_assert_int_eq(mkdir("mods", 0700), 0);
	check_place("Root.cpk", "OBJECT|X.CAS", "mods/OBJECT|X.CAS", false);
	ck_assert_int_eq(mkdir("mods/Object", 0700), 0);
	check_place("Root.cpk", "OBJECT/A|X.CAS", "mods/Object/A|X.CAS", false);
	make_file("mods/Object/x.Cas");
	check_place("Root.cpk", "OBJECT|X.CAS", "mods/Object|x.Cas", true);
	/* A folder with the exact spelling has no preference; the file decides. */
	ck_assert_int_eq(mkdir("mods/OBJECT", 0700), 0);
	check_place("Root.cpk", "OBJECT|X.CAS", "mods/Object|x.Cas", true);
	check_place("Root.cpk", "OBJECT|Y.CAS", "mods/OBJECT|Y.CAS", false);
	make_file("mods/OBJECT/X.CAS");
	check_place("Root.cpk", "OBJECT|X.CAS",
		    "mods/OBJECT/X.CAS and mods/Object/x.Cas are both there", true);
}
END_TEST

START_TEST(a_folder_is_no_loose_file)
{
	make_game();
	make_file("Mods/OBJECT/X.CAS/y");
	check_place("Root.cpk", "OBJECT|X.CAS", "Mods/OBJECT|X.CAS", false);
}
END_TEST

START_TEST(links_are_not_followed)
{
	make_game();
	ck_assert_int_eq(mkdir("Mods", 0700), 0);
	ck_assert_int_eq(symlink("/tmp", "Mods/Object"), 0);
	check_place("Root.cpk", "OBJECT|X.CAS", "Mods/Object is a symbolic link", false);
}
END_TEST

START_TEST(hostile_names_are_refused)
{
	static const char *const names[] = {
		"..|X.CAS",
		"../..|X.CAS",
		".|X.CAS",
		"/|X.CAS",
		"/etc|X.CAS",
		"A//B|X.CAS",
		"A/|X.CAS",
		"A|..",
		"A|.",
		"A|",
		"A|b/../../X.CAS",
		"A\\..\\..|X.CAS",
		"A|..\\X.CAS",
		"C:|X.CAS",
		"A|X.CAS:stream",
		"A|X.CAS ",
		"A.|X.CAS",
		"A|con",
		"A|Aux.CAS",
		"A|lpt1.x.CAS",
		"A|a\x01.CAS",
		"A|a?.CAS",
		"A|\"X\".CAS",
		"plugins|X.CAS",
		"PATCHES/A|X.CAS",
		".git|X.CAS",
		"|.X.CAS",
	};
	make_game();
	for (unsigned i = 0; i < ARRAY_SIZE(names); i++)
		check_place("Root.cpk", names[i], "it cannot be a loose file: ", false);
	check_place("Root.cpk", "A|plugins", "Mods/A|plugins", false);
	check_place("Root.cpk", "A|console.CAS", "Mods/A|console.CAS", false);
	check_place("Root.cpk", "A,B#1|-x=;%.CAS", "Mods/A,B#1|-x=;%.CAS", false);
}
END_TEST

START_TEST(elsewhere_names_are_labels)
{
	check_place("a/b/mod.zip", "..|X.CAS", "a/b/mod.zip/%2E%2E|X.CAS", false);
	check_place("mod.zip", "/etc|..", "mod.zip/%/etc|%2E%2E", false);
	make_file(".animfs/overlay/mod.zip/OBJECT/X.CAS");
	check_place("mod.zip", "OBJECT|X.CAS", "mod.zip/OBJECT|X.CAS", true);
	check_place("mod.zip", "object|X.CAS", "mod.zip/object|X.CAS", false);
}
END_TEST

START_TEST(twins_of_a_game_are_refused)
{
	static const char *const paths[3] = {"OBJECT|X.CAS", "OBJECT|Y.CAS", "Object|x.cas"};
	char where[PATH_MAX];
	bool is_there;
	struct made m;

	make_game();
	make_archive(&m, "Root.cpk", NULL, paths);
	where_is(&m, &is_there, where);
	ck_assert_msg(strstr(where, "Object/x.cas is there, too") != NULL, "%s", where);
	release_archive(&m);
	make_archive(&m, "mod.zip", NULL, paths);
	where_is(&m, &is_there, where);
	ck_assert_str_eq(where, "mod.zip/OBJECT|X.CAS");
	release_archive(&m);
}
END_TEST

START_TEST(a_given_folder_is_used_for_games_too)
{
	static const char *const paths[3] = {"OBJECT|X.CAS"};
	const struct member_of *of;
	struct member_of first;
	struct err err = {.code = ERR_NONE};
	struct loose l;
	struct made m;
	struct stat st;
	int fd;

	make_game();
	make_archive(&m, "Root.cpk", "mod/", paths);
	first = member_of(&m, 0);
	of = &first;
	ck_assert(loose_find(&l, m.overlay, &m.place, of, &err));
	ck_assert_str_eq(l.folder, "Root.cpk/OBJECT");
	ck_assert_int_eq(loose_folder(&l, false, &fd), ENOENT);
	ck_assert_int_ne(stat("mod", &st), 0);
	ck_assert_int_eq(loose_folder(&l, true, &fd), 0);
	close(fd);
	ck_assert_int_eq(stat("mod/Root.cpk/OBJECT", &st), 0);
	/* The state directory has it under the same path. */
	ck_assert_int_eq(state_walk(m.state, "Root.cpk/OBJECT", &fd), 0);
	close(fd);
	loose_release(&l);
	release_archive(&m);
}
END_TEST

static bool add_path(void *closure, const char *path, const struct stat *st)
{
	ck_assert(S_ISREG(st->st_mode));
	strcat(closure, path);
	strcat(closure, "\n");
	return true;
}

START_TEST(all_are_listed)
{
	struct err err = {.code = ERR_NONE};
	char all[1024] = "";
	struct state *state = state_new(scratch_root, NULL, false, &err);
	struct overlay *o = overlay_new(state, NULL, &err);

	make_file("Mods/none.txt"); /* a file that is no member of a game's archive */
	make_file("EDF5/EDF5.exe");
	make_file("EDF5/Root.cpk");
	make_file("EDF5/Mods/OBJECT/b.CAS");
	make_file("EDF5/Mods/OBJECT/A.CAS");
	make_file("EDF5/Mods/Plugins/x.dll");
	make_file("EDF5/Mods/patches/x.txt");
	make_file("EDF5/Mods/.tool/x");
	make_file("EDF5/Mods/OBJECT/Plugins/c.CAS");
	make_file(".animfs/overlay/mod.zip/d.canm");
	ck_assert(overlay_for_each(o, scratch_root, add_path, all, &err));
	ck_assert_str_eq(all, "EDF5/Mods/OBJECT/A.CAS\nEDF5/Mods/OBJECT/Plugins/c.CAS\n"
			      "EDF5/Mods/OBJECT/b.CAS\n.animfs/overlay/mod.zip/d.canm\n");
	overlay_free(o);
	state_free(state);
}
END_TEST

Suite *overlay_suite(void);

Suite *overlay_suite(void)
{
	Suite *s = suite_create("overlay");
	TCase *t = tcase_create("overlay");

	tcase_add_checked_fixture(t, scratch_begin, scratch_end);
	tcase_add_test(t, a_game_is_known_by_its_program_and_archive);
	tcase_add_test(t, what_is_there_is_used_whatever_its_case);
	tcase_add_test(t, a_folder_is_no_loose_file);
	tcase_add_test(t, links_are_not_followed);
	tcase_add_test(t, hostile_names_are_refused);
	tcase_add_test(t, elsewhere_names_are_labels);
	tcase_add_test(t, twins_of_a_game_are_refused);
	tcase_add_test(t, a_given_folder_is_used_for_games_too);
	tcase_add_test(t, all_are_listed);
	suite_add_tcase(s, t);
	return s;
}
