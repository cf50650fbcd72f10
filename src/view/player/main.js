// SPDX-License-Identifier: GPL-3.0-or-later
// main.js - starts the page of a clip, a file or a site.

function begin() {
	beginTheme();
	try {
		const page = readPage(document.getElementById("data").textContent);
		if ("CS".includes(page.kind)) new Player(page);
		else new Gallery(page);
	} catch (error) {
		document.body.append(
			make("p", { role: "alert", text: `This page cannot be shown: ${error.message}` }),
		);
		throw error;
	}
}

begin();
