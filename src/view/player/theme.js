// SPDX-License-Identifier: GPL-3.0-or-later
// theme.js - light or dark.

const darkness = matchMedia("(prefers-color-scheme: dark)");
const NAMES = ["stage", "panel", "text", "faint", "line", "grid", "accent", "trail"];

function theme() {
	return document.documentElement.dataset.theme;
}

// The style sheet's colours; a new object if they have changed.
theme.colours = () => {
	if (!theme.known) {
		const style = getComputedStyle(document.documentElement);
		theme.known = Object.fromEntries(
			NAMES.map((name) => [name, style.getPropertyValue(`--${name}`).trim()]),
		);
		theme.known.bone = colour(TINTS[theme()][0], 1);
	}
	return theme.known;
};

function setTheme(name) {
	document.documentElement.dataset.theme = name === "dark" ? "dark" : "light";
	theme.known = null;
	dispatchEvent(new Event("themechange"));
}

function themeButton() {
	const title = "Light or dark";
	const turn = () => setTheme(theme() === "dark" ? "light" : "dark");
	return make("button", { type: "button", text: "◐", title, "aria-label": title, onclick: turn });
}

function beginTheme() {
	setTheme(darkness.matches ? "dark" : "light");
	on(darkness, "change", () => setTheme(darkness.matches ? "dark" : "light"));
}
