// SPDX-License-Identifier: GPL-3.0-or-later
// tree.js - the list of bones as a tree, and small helpers for elements.

// Names are never markup: they are only set as text.
function make(tag, more = {}, ...children) {
	const element = document.createElement(tag);
	for (const [name, value] of Object.entries(more)) {
		if (name.startsWith("on")) on(element, name.slice(2), value);
		else if (name === "text") element.textContent = value;
		else if (value !== false) element.setAttribute(name, value);
	}
	element.append(...children);
	return element;
}

const on = (target, name, act, how) => target.addEventListener(name, act, how);

// Takes what is dropped anywhere on the page: a DataTransfer.
function onDrop(take) {
	const mark = (over) => document.body.classList.toggle("drop", over);
	on(window, "dragover", (event) => {
		event.preventDefault();
		mark(true);
	});
	on(window, "dragleave", () => mark(false));
	on(window, "drop", (event) => {
		event.preventDefault();
		mark(false);
		take(event.dataTransfer);
	});
}

class Tree {
	constructor(clip, choose) {
		this.clip = clip;
		this.choose = choose;
		this.folded = new Set();
		this.search = make("input", {
			type: "search",
			placeholder: "Search bones",
			"aria-label": "Search bones",
			oninput: () => this.filter(),
		});
		this.list = make("ul", { role: "tree", "aria-label": "Bones", onkeydown: (e) => this.key(e) });
		this.items = [];
		for (const i of clip.order) this.list.append(this.item(i));
		this.filter();
	}

	item(i) {
		const node = this.clip.nodes[i];
		const fold =
			node.children.length &&
			make("span", {
				class: "fold",
				text: "▾",
				"aria-hidden": "true",
				onclick: (e) => this.fold(i, e),
			});
		const keys = node.curves.map((c, role) => (c && c.varies ? "TRS"[role] : "")).join("");
		const item = make(
			"li",
			{
				role: "treeitem",
				tabindex: -1,
				"aria-level": node.depth + 1,
				"aria-selected": "false",
				title: node.name,
				onclick: () => this.choose(i),
			},
			fold || make("span", { class: "fold" }),
			make("span", { class: "name", text: node.name || "%" }),
			make("small", { text: keys, title: "what is animated" }),
		);
		if (i < this.clip.bones && !this.clip.foreign)
			item.append(
				make("a", {
					href: `bones/${encodeURIComponent(node.name)}.csv`,
					text: "CSV",
					title: "the keys as a table",
					tabindex: -1,
					onclick: (e) => e.stopPropagation(),
				}),
			);
		item.style.paddingLeft = `${min(node.depth, 12) * 12 + 4}px`;
		this.items[i] = item;
		return item;
	}

	fold(i, event) {
		if (event) event.stopPropagation();
		if (!this.folded.delete(i)) this.folded.add(i);
		this.filter();
	}

	filter() {
		const { nodes } = this.clip;
		const wanted = this.search.value.trim().toLowerCase();
		const hidden = [];
		for (const i of this.clip.order) {
			const above = nodes[i].parent;
			hidden[i] = above >= 0 && (hidden[above] || this.folded.has(above));
			this.items[i].hidden = wanted ? !nodes[i].name.toLowerCase().includes(wanted) : hidden[i];
			if (!nodes[i].children.length) continue;
			const open = !this.folded.has(i);
			this.items[i].setAttribute("aria-expanded", open);
			this.items[i].firstChild.textContent = open ? "▾" : "▸";
		}
		this.mark(this.chosen);
	}

	// Exactly one item can be reached with the Tab key, and its table after it.
	mark(i) {
		const first = this.clip.order.find((n) => !this.items[n].hidden);
		const stop = i >= 0 && !this.items[i].hidden ? i : first;
		this.items.forEach((item, n) => {
			item.setAttribute("aria-selected", n === i);
			item.tabIndex = n === stop ? 0 : -1;
			if (item.lastChild.href) item.lastChild.tabIndex = item.tabIndex;
		});
		if (i !== this.chosen && i >= 0) this.reveal(this.items[i]);
		this.chosen = i;
	}

	// Scrolls the list, and not the page.
	reveal(item) {
		const { list } = this;
		const top = item.offsetTop - list.offsetTop;
		list.scrollTop = max(min(list.scrollTop, top), top + item.offsetHeight - list.clientHeight);
	}

	key(event) {
		const at = this.items.indexOf(document.activeElement);
		if (at < 0 || event.ctrlKey || event.altKey || event.metaKey) return;
		const seen = this.clip.order.filter((i) => !this.items[i].hidden);
		const now = seen.indexOf(at);
		const { children, parent } = this.clip.nodes[at];
		const open = children.length && !this.folded.has(at);
		let to = at;
		if (event.key === "ArrowDown") to = seen[now + 1];
		else if (event.key === "ArrowUp") to = seen[now - 1];
		else if (event.key === "Home") [to] = seen;
		else if (event.key === "End") to = seen[seen.length - 1];
		else if (event.key === "ArrowLeft") open ? this.fold(at) : (to = parent >= 0 ? parent : at);
		else if (event.key === "ArrowRight")
			children.length && !open ? this.fold(at) : ([to = at] = children);
		else if (event.key !== "Enter" && event.key !== " ") return;
		event.preventDefault();
		event.stopPropagation();
		if (to === undefined) return;
		this.choose(to);
		this.items[to].focus();
	}
}
