# SPDX-License-Identifier: GPL-3.0-or-later
# check-circles.awk FILE.[ch]... - prints each circle in which the files use each other, with what ties
# it, and fails if there is one. X.c and X.h are one file, X. It uses Y if it includes Y.h, or if its
# functions, initializers or macros name what Y.c defines with external linkage.
#
# A name counts where a header declares it that the file includes, directly or through others, so that
# other files' names for members and locals do not. (A local that hides such a name does.) Inline
# functions in include/ do not count: what they use is defined by whoever implements the header.
# Expects the layout of clang-format: a definition and its closing brace begin in the first column.

FNR == 1 {
	files[++file_count] = FILENAME
	given[FILENAME]
	inside = comment = ""
}

/^#[ \t]*include[ \t]*"/ {
	split($0, part, "\"")
	included[FILENAME, part[2]]
	next
}

# Comments, strings, members and tags are not names.
{
	line = $0
	if (comment && !sub(/^.*\*\//, "", line))
		next
	gsub(/\\./, "", line)
	gsub(/"[^"]*"|'[^']*'|\/\*([^*]|\*+[^*\/])*\*+\//, "", line)
	comment = sub(/\/\*.*/, "", line)
	gsub(/(->|\.)[a-z_0-9]+|(struct|union|enum) [a-z_0-9]+/, "", line)
}

inside != "macro" && /^#/ {
	inside = /^#[ \t]*define/ ? "macro" : ""
}

/^[A-Za-z_]/ {
	head = line
	inside = $0 ~ /^[a-z_ 0-9]* \{$/ ? "type" : ""
	if (line ~ /^[^{=]* =( |$)/)
		define("[A-Za-z_0-9]+(\\)\\(.*|\\[.*)? =")
}

/^\{/ {
	inside = "function"
	define("[a-z_0-9]+\\(")
}

inside != "type" {
	count = split(line, word, /[^A-Za-z_0-9]+/)
	for (i = 1; i <= count; i++)
		if (FILENAME ~ /\.h$/ && inside == "")
			declared[word[i]] = declared[word[i]] " " FILENAME
		else if (FILENAME !~ /^include\//)
			used[word[i], FILENAME]
}

inside == "macro" && !/\\$/ || /^\}/ {
	inside = ""
}

# Notes where the name is defined that has this form in `head`.
function define(form, name)
{
	if (head ~ /^([A-Z].* )?static / || !match(head, form))
		return
	name = substr(head, RSTART)
	sub(/[^A-Za-z_0-9].*/, "", name)
	place[name] = plain(FILENAME)
}

function plain(path)
{
	sub(/^(src|include)\//, "", path)
	sub(/\.[ch]$/, "", path)
	return path
}

# The file that `from` includes by this name.
function resolve(from, name)
{
	sub(/[^\/]*$/, name, from)
	return from in given ? from : (("src/" name) in given ? "src/" : "include/") name
}

function tie(from, to, by)
{
	if (from == to)
		return
	if (!((from, to) in ties))
		targets[from] = targets[from] " " to
	ties[from, to] = ties[from, to] " " by
}

# Notes all that `start` leads to.
function reach(start, from, list, count, i)
{
	count = split(targets[from], list, " ")
	for (i = 1; i <= count; i++)
		if (!((start, list[i]) in reached)) {
			reached[start, list[i]]
			reach(start, list[i])
		}
}

function in_circle(a, b)
{
	return (a, b) in reached && (b, a) in reached
}

END {
	for (i in included) {
		split(i, part, SUBSEP)
		to = resolve(part[1], part[2])
		tie(part[1], to)
		tie(plain(part[1]), plain(to), "#include")
	}
	for (i in given)
		reach(i, i)
	for (i in used) {
		split(i, part, SUBSEP)
		count = part[1] in place ? split(declared[part[1]], list, " ") : 0
		for (j = 1; j <= count; j++)
			if (list[j] == part[2] || (part[2], list[j]) in reached) {
				tie(plain(part[2]), place[part[1]], part[1])
				break
			}
	}
	for (i = 1; i <= file_count; i++) {
		files[i] = plain(files[i])
		reach(files[i], files[i])
	}
	for (i = 1; i <= file_count; i++) {
		if (!in_circle(files[i], files[i]) || files[i] in shown)
			continue
		print "files that use each other in a circle:"
		for (j in ties) {
			split(j, part, SUBSEP)
			if (in_circle(files[i], part[1]) && in_circle(files[i], part[2])) {
				shown[part[1]]
				print "  " part[1] " uses " part[2] ":" ties[j] | "sort"
			}
		}
		close("sort")
		bad = 1
	}
	exit bad
}
