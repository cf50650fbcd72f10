// SPDX-License-Identifier: GPL-3.0-or-later
// browser.mjs - browsers for tests: without a network, and pages that must say nothing.

const BROWSERS = {
	chromium: {
		executablePath: "/usr/bin/chromium",
		args: [
			"--no-sandbox",
			"--disable-gpu",
			"--disable-accelerated-2d-canvas",
			"--proxy-server=127.0.0.1:1",
		],
	},
	firefox: {
		browser: "firefox",
		executablePath: "/usr/bin/firefox-esr",
		extraPrefsFirefox: {
			"network.proxy.type": 1,
			"network.proxy.http": "127.0.0.1",
			"network.proxy.http_port": 1,
			"network.proxy.ssl": "127.0.0.1",
			"network.proxy.ssl_port": 1,
		},
	},
};

// The only limit, against hanging: the tests wait for what happens, however long a busy machine takes.
export const LIMIT = 30 * 60 * 1000;

// launch and open of this browser, by puppeteer-core in this folder.
export async function browserOf(puppeteerPath, name) {
	const { default: puppeteer } = await import(`${puppeteerPath}/lib/esm/puppeteer/puppeteer-core.js`);

	const launch = (more = {}) => {
		const browser = BROWSERS[name];
		return puppeteer.launch({
			headless: true,
			timeout: LIMIT,
			protocolTimeout: LIMIT,
			...browser,
			extraPrefsFirefox: { ...browser.extraPrefsFirefox, ...more.prefs },
			args: [...(browser.args || []), ...(more.args || [])],
		});
	};

	// A page that must say nothing to the console, ask for nothing but itself, and ask nobody anything.
	async function open(browser, url, size = { width: 1010, height: 860 }, allowed = /^(file|data):/) {
		const page = await browser.newPage();
		page.setDefaultTimeout(LIMIT);
		const said = [];
		// Of the test's own reading of pictures chromium has something to say.
		page.on(
			"console",
			(message) =>
				/getImageData/.test(message.text()) ||
				said.push(`console: ${message.text()}`),
		);
		page.on("pageerror", (error) => said.push(`error: ${error.message}`));
		page.on("dialog", (dialog) => (said.push(`dialog: ${dialog.message()}`), dialog.dismiss()));
		page.on(
			"request",
			(request) => allowed.test(request.url()) || said.push(`request: ${request.url()}`),
		);
		await page.setViewport(size);
		await page.goto(url);
		return { page, said };
	}

	return { launch, open, LIMIT };
}
