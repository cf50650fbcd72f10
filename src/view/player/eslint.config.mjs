// SPDX-License-Identifier: GPL-3.0-or-later
// The scripts are one program: they are read one behind the other, as a page has them.
const browser =
	"window document location performance console atob matchMedia requestAnimationFrame getComputedStyle " +
	"dispatchEvent Event TextDecoder URLSearchParams ResizeObserver IntersectionObserver " +
	"TextEncoder WebAssembly URL Blob setTimeout Worker WorkerGlobalScope postMessage";

export default [
	{
		languageOptions: {
			sourceType: "script",
			globals: Object.fromEntries(browser.split(" ").map((name) => [name, "readonly"])),
		},
		rules: {
			"no-undef": "error",
			"no-unused-vars": "error",
			"no-var": "error",
			"no-redeclare": "error",
			"no-unreachable": "error",
			"no-dupe-keys": "error",
			"no-dupe-class-members": "error",
			"no-eval": "error",
			"prefer-const": "error",
			eqeqeq: "error",
		},
	},
];
