# SPDX-License-Identifier: GPL-3.0-or-later
# help.awk - prints the targets of the Makefile by group: each has a line "## GROUP TEXT" above it.
BEGIN {
	count = split("use test prove search measure release", groups)
}
/^## / {
	group = $2
	text = substr($0, length($2) + 5)
	next
}
text != "" {
	if (match($0, /^\$\(call suite,[^,]+/))
		target = substr($0, 14, RLENGTH - 13)
	else if (match($0, /^[a-z][a-z_.-]*/) && $0 ~ /^[a-z_. -]+:/)
		target = substr($0, 1, RLENGTH)
	else
		next
	lines[group] = lines[group] sprintf("  make %-21s %s\n", target, text)
	text = ""
}
END {
	for (i = 1; i <= count; i++)
		printf "%s%s:\n%s", (i > 1 ? "\n" : ""), groups[i], lines[groups[i]]
}
