/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * bench_chars.cpp - the floats of tables through C++17's std::to_chars and std::from_chars, to
 * measure the program's own number code against:
 *
 *   bench_chars render|parse < TABLES
 *
 * render writes every number of the tables as the shortest text of its float32, and what stood
 * between them as it was; parse reads them all. Prints millions of bytes of text a second.
 */
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <iostream>
#include <string>
#include <vector>

static const double SECONDS = 0.4;

struct number {
	float value;
	char after; /* the separator */
};

static bool begins_number(char c)
{
	return (c >= '0' && c <= '9') || c == '-';
}

/* Calls each(value, c) for each number of the text and the character behind it; words are passed. */
template <typename each_number> static void scan(const std::string &text, each_number each)
{
	const char *at = text.data(), *end = at + text.size();

	while (at < end) {
		float value;

		if (!begins_number(*at)) {
			at++;
			continue;
		}
		at = std::from_chars(at, end, value).ptr;
		each(value, at < end ? *at : '\n');
		at++;
	}
}

static size_t render(const std::vector<number> &numbers, std::vector<char> &out)
{
	char *at = out.data(), *end = at + out.size();

	for (const number &n : numbers) {
		at = std::to_chars(at, end, n.value).ptr;
		*at++ = n.after;
	}
	return (size_t)(at - out.data());
}

static size_t parse(const std::string &text, std::vector<float> &out)
{
	size_t count = 0;

	scan(text, [&](float value, char) { out[count++] = value; });
	return text.size();
}

template <typename work> static void measure(work pass)
{
	auto begin = std::chrono::steady_clock::now();
	double taken;
	size_t done = 0;

	do {
		done += pass();
		taken = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
	} while (taken < SECONDS);
	std::printf("%.1f\n", (double)done / taken / 1e6);
}

int main(int argc, char **argv)
{
	std::string text{std::istreambuf_iterator<char>(std::cin), {}};
	std::vector<number> numbers;

	if (argc != 2)
		return 2;
	scan(text, [&](float value, char after) { numbers.push_back({value, after}); });
	if (std::strcmp(argv[1], "render") == 0) {
		std::vector<char> out(numbers.size() * 32);

		measure([&] { return render(numbers, out); });
	} else {
		std::vector<float> out(numbers.size());

		measure([&] { return parse(text, out); });
	}
	return 0;
}
