// Without this script the page says the same, and its links and forms work. With it the page keeps itself up to date,
// and shows workers and IDs in place.
"use strict";

(() => {
	const main = document.querySelector("main[data-live]");
	if (!main) return;
	const every = 2000, patience = 8000;
	const byId = (id) => document.getElementById(id);
	const spoken = byId("spoken"), pause = byId("pause"), detail = byId("detail"), decoder = byId("decoder");
	let paused = false, heard = performance.now(), key = byId("part-state").dataset.key, current = "", opener = "";

	const ask = (url) => fetch(url, { signal: AbortSignal.timeout(patience) });

	// parsed makes nodes of an answer. Scripts in it do not run, and the server escapes what comes from outside.
	const parsed = (text) => {
		const holder = document.createElement("template");
		holder.innerHTML = text;
		return holder.content;
	};

	// local adds the reader's time to each instant of a part.
	const local = (part) => {
		for (const time of part.querySelectorAll("time")) {
			const utc = time.textContent, at = new Date(utc), here = document.createElement("span");
			if (!at.getTimezoneOffset()) continue;
			const all = at.toLocaleString("sv", { dateStyle: "short", timeStyle: "long" }); // the day first, as in UTC
			here.className = "here";
			here.textContent = `(${all.replace(utc.slice(0, 10) + " ", "")})`;
			time.after(" ", here);
		}
		return part;
	};

	// nameOf finds an element again after its part was replaced.
	const nameOf = (element) => {
		const href = element.getAttribute("href");
		if (element.id) return "#" + CSS.escape(element.id);
		if (href) return `${element.localName}[href="${CSS.escape(href)}"]`;
		const same = [...element.closest("section").querySelectorAll(element.localName)];
		return { tag: element.localName, index: same.indexOf(element) };
	};
	const find = (part, name) =>
		typeof name === "string" ? part.querySelector(name) : part.querySelectorAll(name.tag)[name.index];

	// replace puts a new part in place of an old one, if it differs. Focus, scrolling and what was opened stay.
	const shown = new Map();
	const replace = (fresh) => {
		const old = byId(fresh.id), text = fresh.outerHTML, focus = document.activeElement;
		if (!old || shown.get(fresh.id) === text) return;
		shown.set(fresh.id, text);
		const name = old.contains(focus) && focus !== old ? nameOf(focus) : "";
		for (const open of old.querySelectorAll("details[open]")) find(fresh, nameOf(open))?.setAttribute("open", "");
		const scrolled = [...old.querySelectorAll(".scroll, .map")].map((box) => [box.scrollLeft, box.scrollTop]);
		old.replaceWith(local(fresh));
		fresh.querySelectorAll(".scroll, .map").forEach((box, i) => scrolled[i] && box.scrollTo(...scrolled[i]));
		if (fresh.id === "part-map" && current) stopAt(find(fresh, current));
		if (name) find(fresh, name)?.focus({ preventScroll: true });
	};

	// say tells a screen reader of a new state, not of each second.
	const say = () => {
		if (byId("part-state").dataset.key === key) return;
		key = byId("part-state").dataset.key;
		spoken.textContent = main.querySelector("#sentence span:last-child").textContent +
			(byId("part-warnings").hidden ? "" : ". " + byId("warnings-title").textContent);
	};

	const refresh = async () => {
		if (!paused && !document.hidden) {
			try {
				const answer = await ask("/fragment");
				if (!answer.ok) throw new Error(answer.status);
				for (const part of [...parsed(await answer.text()).children]) replace(part);
				document.body.classList.remove("stale");
				heard = performance.now();
				say();
			} catch {
				if (!document.body.classList.contains("stale")) {
					document.body.classList.add("stale");
					spoken.textContent = "The proxy does not answer. What is shown is old.";
					key = "";
				}
			}
		}
		setTimeout(refresh, every);
	};
	setTimeout(refresh, every);
	setInterval(() => {
		const body = document.body.classList, why = body.contains("stale") ? "no answer: " : paused ? "paused: " : "";
		byId("age").textContent = `· ${why}as of ${Math.round((performance.now() - heard) / 1000)} s ago`;
	}, 1000);
	local(main);

	pause.hidden = false;
	pause.addEventListener("click", () => {
		paused = !paused;
		pause.setAttribute("aria-pressed", paused);
		document.body.classList.toggle("paused", paused);
	});

	// show puts the answer to a link or a form into a place that refresh leaves alone.
	const show = async (place, url) => {
		try {
			const answer = await ask(url + (url.includes("?") ? "&" : "?") + "part");
			place.replaceChildren(local(parsed(await answer.text())));
		} catch {
			location.href = url; // the browser says what is wrong
		}
	};
	const showDetail = async (url) => {
		byId("workers").open = true;
		opener = detail.contains(document.activeElement) ? opener : url;
		await show(detail, url);
		const close = document.createElement("button");
		Object.assign(close, { type: "button", className: "button close", textContent: "Close" });
		detail.firstElementChild?.append(close);
		detail.focus({ preventScroll: true });
		detail.scrollIntoView({ block: "nearest" });
	};
	const closeDetail = () => {
		detail.replaceChildren();
		(main.querySelector(`a[href="${CSS.escape(opener)}"]`) ?? byId("number")).focus();
	};

	main.addEventListener("click", (event) => {
		if (event.target.closest(".close")) return closeDetail();
		if (event.target.matches(".copy")) {
			// It needs no permission, and works without TLS. The command stays selected.
			getSelection().selectAllChildren(event.target.previousElementSibling);
			event.target.textContent = spoken.textContent = document.execCommand("copy") ? "Copied" : "Press Ctrl-C";
			return;
		}
		const link = event.target.closest('a[href^="/worker"]');
		if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
		event.preventDefault();
		if (link.matches("#part-map .cell")) stopAt(link);
		showDetail(link.getAttribute("href"));
	});
	main.addEventListener("submit", async (event) => {
		event.preventDefault();
		const form = event.target, url = form.getAttribute("action") + "?" + new URLSearchParams(new FormData(form));
		if (!form.matches("[data-decoder]")) return showDetail(url);
		await show(decoder, url);
		byId("id").focus();
	});

	// The map is one stop of the tabulator; arrow keys move in it.
	const stopAt = (cell) => {
		if (!cell) return;
		for (const other of cell.parentElement.querySelectorAll('a:not([tabindex="-1"])')) other.tabIndex = -1;
		cell.tabIndex = 0;
		if (cell.closest("#part-map")) current = nameOf(cell);
	};
	main.addEventListener("keydown", (event) => {
		if (event.key === "Escape" && detail.contains(event.target)) return closeDetail();
		const cell = event.target.closest(".map .cell");
		if (!cell) return;
		const cells = [...cell.parentElement.children], at = cells.indexOf(cell);
		const row = cells.filter((other) => other.offsetTop === cell.offsetTop).length;
		const steps = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -row, ArrowDown: row, Home: -at };
		const next = event.key === "End" ? cells.at(-1) : cells[at + steps[event.key]];
		if (!next) return;
		event.preventDefault();
		stopAt(next);
		next.focus();
	});
})();
