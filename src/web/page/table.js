// SPDX-License-Identifier: GPL-3.0-or-later
// table.js - a CSV text as a table with the keys of a spreadsheet.

const ROW_HEIGHT = 24;

// Rows of cells. The texts that a file is shown as have commas, and quotes only where a name needs them.
function readCsv(text) {
	const rows = [];
	let row = [];
	const cell = /("((?:[^"]|"")*)"|[^,\r\n]*)(,|\r?\n|$)/y;
	while (cell.lastIndex < text.length) {
		const found = cell.exec(text);
		if (!found) break;
		row.push(found[2] === undefined ? found[1] : found[2].replaceAll('""', '"'));
		if (found[3] === ",") {
			if (cell.lastIndex < text.length) continue;
			row.push("");
		}
		rows.push(row);
		row = [];
	}
	return rows;
}

const quoted = (cell) => (/[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell);
const writeCsv = (rows) => rows.map((row) => `${row.map(quoted).join(",")}\n`).join("");

const writeTabs = (cells) => cells.map((row) => row.join("\t")).join("\n");

// Where the decimal mark is a comma, the plain text "1.5" becomes a text or a date. From HTML, LibreOffice takes a
// number by sdval, and Excel by x:num.
function writeHtml(cells) {
	const isNumber = (text) => text.trim() && finite(Number(text));
	const cell = (text) =>
		make("td", { text, ...(isNumber(text) && { sdval: text, sdnum: "1033;", "x:num": text }) });
	const rows = cells.map((row) => make("tr", {}, ...row.map(cell)));
	return make("html", { "xmlns:x": "urn:schemas-microsoft-com:office:excel" }, make("table", {}, ...rows))
		.outerHTML;
}

// What LibreOffice and Excel give and people type where the decimal mark is a comma.
const pointed = (cell) => (/^[-+]?\d*,\d+(e[-+]?\d+)?$/i.test(cell) ? cell.replace(",", ".") : cell);

// "C12" as the column and row behind the header, from 0.
function placeOfCell(name) {
	const [, letters, number] = /^([A-Z]+)([0-9]+)$/.exec(name) || [];
	if (!letters) return null;
	let column = 0;
	for (const letter of letters) column = column * 26 + letter.charCodeAt(0) - 64;
	return { row: Number(number) - 2, column: column - 1 };
}

class Table {
	// save: takes the whole text; promises {text} of the file then, or {refusal}. revert: shows again what
	// the file says.
	constructor(save, revert) {
		this.save = save;
		this.revert = revert;
		this.header = [];
		this.rows = [];
		this.at = { row: 0, column: 0 };
		this.from = this.at;
		this.fault = null;
		this.commits = 0;
		this.shown = new Map();
		this.head = make("div", { class: "head", role: "row" });
		this.sheet = make("div", { class: "sheet", role: "rowgroup" });
		this.input = make("input", { class: "cell-input", "aria-label": "Cell", hidden: "" });
		this.element = make(
			"div",
			{ class: "table", role: "grid", tabindex: 0, "aria-label": "Keys" },
			this.head,
			this.sheet,
		);
		this.listen();
	}

	// Another text follows: what was asked for of this one is of no interest.
	clear() {
		this.commits++;
		this.input.hidden = true;
	}

	show(text, label) {
		const [header = [], ...rows] = readCsv(text);
		const same = header.join() === this.header.join();
		Object.assign(this, { header, rows, label, fault: null });
		this.element.setAttribute("aria-label", label);
		this.element.setAttribute("aria-rowcount", rows.length + 1);
		this.element.setAttribute("aria-colcount", header.length);
		if (!same) {
			this.head.replaceChildren(
				...header.map((name) => make("span", { role: "columnheader", text: name })),
			);
			this.at = this.from = { row: 0, column: min(2, header.length - 1) };
		}
		this.move(this.at.row, this.at.column, true);
	}

	// ---- drawing: only the rows in sight are elements ----

	draw() {
		const { element, sheet, rows } = this;
		sheet.style.height = `${rows.length * ROW_HEIGHT}px`;
		const first = max(0, floor(element.scrollTop / ROW_HEIGHT) - 4);
		const last = min(rows.length, first + ceil((element.clientHeight || 600) / ROW_HEIGHT) + 8);
		for (const [number, row] of this.shown)
			if (number < first || number >= last) {
				row.remove();
				this.shown.delete(number);
			}
		for (let number = first; number < last; number++) this.drawRow(number);
		element.setAttribute("aria-activedescendant", this.idOf(this.at));
	}

	idOf({ row, column }) {
		return `cell-${row}-${column}`;
	}

	drawRow(number) {
		const cells = this.rows[number];
		let row = this.shown.get(number);
		if (!row || row.children.length !== this.header.length) {
			if (row) row.remove();
			row = make(
				"div",
				{ class: "row", role: "row", "aria-rowindex": number + 2 },
				...this.header.map((_, column) =>
					make("span", { role: "gridcell", id: this.idOf({ row: number, column }) }),
				),
			);
			row.style.top = `${number * ROW_HEIGHT}px`;
			this.shown.set(number, row);
			this.sheet.append(row);
		}
		const [top, left, bottom, right] = this.range();
		[...row.children].forEach((cell, column) => {
			const text = cells[column] || "";
			const inside = number >= top && number <= bottom && column >= left && column <= right;
			const wrong = this.fault && this.fault.row === number && this.fault.column === column;
			const here = number === this.at.row && column === this.at.column;
			const drawn = `${text} ${inside} ${here} ${wrong && this.fault.message}`;
			if (cell.drawn === drawn) return;
			cell.drawn = drawn;
			cell.textContent = text;
			cell.setAttribute("aria-selected", inside);
			cell.classList.toggle("here", here);
			if (wrong) cell.setAttribute("aria-invalid", "true");
			else cell.removeAttribute("aria-invalid");
			cell.title = wrong ? this.fault.message : "";
		});
	}

	range() {
		const { at, from } = this;
		return [
			min(at.row, from.row),
			min(at.column, from.column),
			max(at.row, from.row),
			max(at.column, from.column),
		];
	}

	move(row, column, keep) {
		this.at = {
			row: max(0, min(this.rows.length - 1, row)),
			column: max(0, min(this.header.length - 1, column)),
		};
		if (!keep) this.from = this.at;
		this.reveal();
		this.draw();
	}

	reveal() {
		const { element, at } = this;
		const top = at.row * ROW_HEIGHT;
		const room = (element.clientHeight || 600) - 2 * ROW_HEIGHT;
		if (top < element.scrollTop) element.scrollTop = top;
		else if (top > element.scrollTop + room) element.scrollTop = top - room;
	}

	// ---- changes ----

	// Puts cells in from the corner on, and saves the whole text.
	put(cells, row, column) {
		const before = this.rows;
		this.rows = before.map((r) => r.slice());
		cells.forEach((line, i) => {
			while (this.rows.length <= row + i) this.rows.push(this.header.map(() => ""));
			line.forEach((text, k) => {
				if (column + k < this.header.length) this.rows[row + i][column + k] = text;
			});
		});
		this.commit();
	}

	// The answer to all but the last of several is of no interest: each has the whole text.
	async commit() {
		const number = ++this.commits;
		this.fault = null;
		this.draw();
		const { text, refusal } = await this.save(writeCsv([this.header, ...this.rows]));
		if (number !== this.commits) return;
		if (!refusal) {
			this.show(text, this.label);
			return;
		}
		this.fault = { ...(placeOfCell(refusal.cell || "") || this.at), message: refusal.message };
		if (this.input.hidden) this.move(this.fault.row, this.fault.column);
		else this.draw();
	}

	// The cell of a curve's key, which `was` another number; false if there is none.
	putKey({ curve, key, axis, was, value, scale: [least, most] }) {
		const column = this.header.indexOf("trs"[curve.role] + "xyz"[axis]);
		const frame = keyFrame(curve, key);
		// Of several keys in a frame, the one with as many before it.
		let after = 0;
		while (key > after && keyFrame(curve, key - after - 1) === frame) after++;
		const row = this.rows.findIndex((cells) => Number(cells[0]) === frame && !after--);
		if (column < 0 || row < 0) return false;
		// The picture rounds a frame between two, and makes a turn's length 1.
		if (!(abs(Number(this.rows[row][column]) - was) <= (most - least) / 100)) return false;
		this.move(row, column);
		this.put([[value]], row, column);
		return true;
	}

	empty() {
		const [top, left, bottom, right] = this.range();
		const line = Array(right - left + 1).fill("");
		this.put(Array(bottom - top + 1).fill(line), top, left);
	}

	// The first row of the range, or the one above a single cell, in all of it.
	fill() {
		const [top, left, bottom, right] = this.range();
		const source = top === bottom ? max(0, top - 1) : top;
		const line = this.rows[source].slice(left, right + 1);
		this.put(Array(bottom - top + 1).fill(line), top, left);
	}

	cells() {
		const [top, left, bottom, right] = this.range();
		return this.rows.slice(top, bottom + 1).map((row) => row.slice(left, right + 1));
	}

	copy(data) {
		const cells = this.cells();
		data.setData("text/plain", writeTabs(cells));
		data.setData("text/html", writeHtml(cells));
	}

	// Tabs and lines, as spreadsheets put them on the clipboard. One cell fills the whole range.
	paste(text) {
		const cells = text
			.replace(/\r?\n$/, "")
			.split(/\r?\n/)
			.map((line) => line.split("\t").map((cell) => pointed(cell.trim())));
		const [top, left, bottom, right] = this.range();
		if (cells.length === 1 && cells[0].length === 1) {
			const line = Array(right - left + 1).fill(cells[0][0]);
			this.put(Array(bottom - top + 1).fill(line), top, left);
			return;
		}
		this.put(cells, top, left);
	}

	// ---- typing ----

	edit(text) {
		const cell = document.getElementById(this.idOf(this.at));
		if (!cell) return;
		const { input, at } = this;
		this.editing = at;
		input.hidden = false;
		input.value = text === null ? this.rows[at.row][at.column] || "" : text;
		input.setAttribute("aria-label", `${this.header[at.column]}, row ${at.row + 2}`);
		input.style.left = `${cell.offsetLeft}px`;
		input.style.width = `${cell.offsetWidth}px`;
		input.style.top = `${at.row * ROW_HEIGHT}px`;
		this.sheet.append(input);
		input.focus();
		if (text === null) input.select();
	}

	// Ends typing, and moves on.
	leave(take, rows, columns) {
		const { input, editing: at } = this;
		const text = pointed(input.value.trim());
		input.hidden = true;
		this.element.focus({ preventScroll: true });
		if (take && text !== (this.rows[at.row][at.column] || "")) this.put([[text]], at.row, at.column);
		if (!this.fault) this.move(at.row + rows, at.column + columns);
	}

	typing(event) {
		const back = event.shiftKey ? -1 : 1;
		const moves = {
			Enter: [true, back, 0],
			Tab: [true, 0, back],
			Escape: [false, 0, 0],
			ArrowDown: [true, 1, 0],
			ArrowUp: [true, -1, 0],
		}[event.key];
		event.stopPropagation();
		if (!moves) return;
		event.preventDefault();
		this.leave(...moves);
	}

	key(event) {
		const { at } = this;
		const page = max(1, floor((this.element.clientHeight || 600) / ROW_HEIGHT) - 2);
		const whole = event.ctrlKey || event.metaKey;
		const moves = {
			ArrowUp: [-1, 0],
			ArrowDown: [1, 0],
			ArrowLeft: [0, -1],
			ArrowRight: [0, 1],
			PageUp: [-page, 0],
			PageDown: [page, 0],
			Home: whole ? [-Infinity, -Infinity] : [0, -Infinity],
			End: whole ? [Infinity, Infinity] : [0, Infinity],
		}[event.key];
		if (event.altKey || !this.rows.length) return;
		if (moves) this.move(at.row + moves[0], at.column + moves[1], event.shiftKey);
		else if (event.key === "Enter") this.move(at.row + (event.shiftKey ? -1 : 1), at.column);
		// At the edge of the table the focus goes on.
		else if (event.key === "Tab" && at.column + (event.shiftKey ? -1 : 1) in this.header)
			this.move(at.row, at.column + (event.shiftKey ? -1 : 1));
		else if (event.key === "F2") this.edit(null);
		else if (event.key === "Delete" || event.key === "Backspace") this.empty();
		else if (whole && event.key === "d") this.fill();
		else if (whole && event.key === "a") {
			this.from = { row: 0, column: 0 };
			this.move(Infinity, Infinity, true);
		} else if (event.key === "Escape" && this.fault) this.revert();
		else if (!whole && event.key.length === 1) this.edit(event.key);
		else return; // undo and redo are the page's
		event.preventDefault();
	}

	listen() {
		const { element, input } = this;
		const cellOf = (event) => {
			const [, row, column] = /^cell-(\d+)-(\d+)$/.exec(event.target.id) || [];
			return row && { row: Number(row), column: Number(column) };
		};
		on(element, "scroll", () => this.draw());
		new ResizeObserver(() => this.draw()).observe(element);
		on(element, "keydown", (event) => event.target === element && this.key(event));
		on(input, "keydown", (event) => this.typing(event));
		on(input, "blur", () => !input.hidden && this.leave(true, 0, 0));
		on(element, "pointerdown", (event) => {
			const cell = cellOf(event);
			if (cell) this.move(cell.row, cell.column, event.shiftKey);
		});
		on(element, "pointermove", (event) => {
			const cell = event.buttons & 1 && cellOf(event);
			if (cell) this.move(cell.row, cell.column, true);
		});
		on(element, "dblclick", (event) => cellOf(event) && this.edit(null));
		const clipboard = (act) => (event) => {
			if (event.target === input) return;
			event.preventDefault();
			act(event.clipboardData);
		};
		on(
			element,
			"copy",
			clipboard((data) => this.copy(data)),
		);
		on(
			element,
			"cut",
			clipboard((data) => {
				this.copy(data);
				this.empty();
			}),
		);
		on(
			element,
			"paste",
			clipboard((data) => this.paste(data.getData("text/plain"))),
		);
	}
}
