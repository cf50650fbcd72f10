# SPDX-License-Identifier: GPL-3.0-or-later
# minify.awk - prints JavaScript without comments and what else a browser does not need. Statements
# end in semicolons; no name has a '$', begins with '_' and goes on, or is a capital letter.
#
#   awk -v short='one two' -f minify.awk FILE...    the names `one` and `two` become A and B
#
# The names that are used most become the shortest ones: A to Z, then $0 to $Z, _0 to _Z, $00 to $ZZ.
# Names in strings stay; those in the ${} of templates are code.

function fail(why) {
	print "minify.awk: " why > "/dev/stderr"
	failed = 1
	exit 1
}

# What may be left out before a closing bracket waits for what comes next.
function settle(begin) {
	if (waiting && !(waiting == ";" ? begin == "}" : begin ~ /[\]})]/))
		line = line waiting
	waiting = ""
}

# A ';' behind the head of a loop is its body.
function is_body() {
	return last == ")" && heads[brackets + 1] ~ /^(for|while|if)$/
}

function put(token,  begin, body) {
	begin = substr(token, 1, 1)
	body = token == ";" && is_body()
	settle(begin)
	if (last ~ /[A-Za-z0-9_$]/ && begin ~ /[A-Za-z0-9_$]/ || spaced && (last == "+" || last == "-") && begin == last)
		line = line " "
	else if (length(line) > 500 && (last == ";" || last == "}" && begin != "}")) {
		print line
		line = ""
	}
	if (token == "(")
		heads[++brackets] = before
	else if (token == ")")
		brackets--
	if (token == "," || token == ";" && !body)
		waiting = token
	else
		line = line token
	last = substr(token, length(token))
	before = token
	spaced = 0
}

# The length of a string that begins at `at`, with its quotes.
function string_length(at, quote,  i, c) {
	for (i = at + 1; (c = substr(text, i, 1)) != quote; i++) {
		if (c == "\\")
			i++
		if (c == "\n" || c == "")
			fail("a string without an end")
	}
	return i - at + 1
}

# A '/' that begins a regular expression stands where a value can.
function is_value_place() {
	return before == "return" || last ~ /[(,=:\[!&|?{};]/ || last == ""
}

function regex_length(at,  i, c, class) {
	for (i = at + 1; (c = substr(text, i, 1)) != "/" || class; i++) {
		if (c == "\\")
			i++
		else if (c == "[")
			class = 1
		else if (c == "]")
			class = 0
		else if (c == "\n" || c == "")
			fail("a regular expression without an end")
	}
	return i - at + 1
}

# Up to the end of a template or to the code in it. The place behind.
function take_template(at,  i, c) {
	settle("")
	for (i = at; (c = substr(text, i, 1)) != "`"; i++) {
		if (c == "\\")
			i++
		if (c == "")
			fail("a template without an end")
		if (substr(text, i, 2) == "${") {
			line = line substr(text, at, i + 2 - at)
			last = before = "{"
			braces[++depth] = 0
			return i + 2
		}
	}
	line = line substr(text, at, i + 1 - at)
	last = before = "`"
	return i + 1
}

function take_word(at) {
	match(substr(text, at, 80), /^[A-Za-z0-9_$]+/)
	word = substr(text, at, RLENGTH)
	put(word == "const" ? "let" : word in shorter ? shorter[word] : word)
	return at + RLENGTH
}

function take_code(at, c,  length_) {
	if (c ~ /[ \t\n]/) {
		spaced = 1
		return at + 1
	}
	if (substr(text, at, 2) == "//")
		return at + index(substr(text, at), "\n")
	if (substr(text, at, 2) == "/*")
		return at + index(substr(text, at), "*/") + 1
	if (c ~ /[A-Za-z0-9_]/)
		return take_word(at)
	if (c == "`") {
		put(c)
		return take_template(at + 1)
	}
	length_ = 1
	if (c == "\"" || c == "'")
		length_ = string_length(at, c)
	else if (c == "/" && is_value_place())
		length_ = regex_length(at)
	if (depth && c == "}" && braces[depth] == 0) {
		depth--
		settle(c)
		line = line c
		return take_template(at + 1)
	}
	if (depth)
		braces[depth] += (c == "{") - (c == "}")
	put(substr(text, at, length_))
	return at + length_
}

{ text = text $0 "\n" }

# The code of the number-th name.
function code(number,  letters) {
	letters = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	if (number < 26)
		return substr(letters, 37 + number, 1)
	number -= 26
	if (number < 124)
		return (number < 62 ? "$" : "_") substr(letters, number % 62 + 1, 1)
	number -= 124
	return "$" substr(letters, int(number / 62) + 1, 1) substr(letters, number % 62 + 1, 1)
}

# The names of `short`, those that are used most first; then in their own order.
function shorten(  words, uses, count, rest, i, k, word) {
	count = split(short, words, " ")
	for (i = 1; i <= count; i++)
		uses[words[i]] = 0
	for (rest = text; match(rest, /[A-Za-z0-9_]+/); rest = substr(rest, RSTART + RLENGTH))
		if ((word = substr(rest, RSTART, RLENGTH)) in uses)
			uses[word]++
	for (i = 2; i <= count; i++) {
		word = words[i]
		for (k = i - 1; k > 0 && uses[words[k]] < uses[word]; k--)
			words[k + 1] = words[k]
		words[k + 1] = word
	}
	for (i = 1; i <= count; i++)
		shorter[words[i]] = code(i - 1)
}

END {
	if (failed)
		exit 1
	shorten()
	for (at = 1; at <= length(text);)
		at = take_code(at, substr(text, at, 1))
	settle("")
	print line
}
