"use strict";
// Shows the document of `tflock list --format json`. All content is inserted as text nodes, so no name can become markup.
(() => {
  const STATES = {
    current: { word: "Current", says: "the newest that the constraints allow", weight: 0 },
    held: { word: "Held back", says: "the newest allowed; the constraints exclude newer ones", weight: 1 },
    outdated: { word: "Outdated", says: "the constraints allow a newer one", weight: 4 },
    "out-of-range": { word: "Out of range", says: "the constraints do not allow what is locked", weight: 6 },
    "not-locked": { word: "Not locked", says: "required, and not in the lock file", weight: 5 },
    "not-required": { word: "Not required", says: "in the lock file, and not required", weight: 3 },
    fits: { word: "Newest unknown", says: "allowed; the registry could not be reached for newer ones", weight: 2 },
  };
  const BEHIND = ["", "a patch", "a minor version", "a major version"];
  const PAGE_ROWS = 400;
  const $ = (id) => document.getElementById(id);
  const element = (name, properties = {}, ...children) => {
    const made = Object.assign(document.createElement(name), properties);
    made.append(...children);
    return made;
  };
  const plural = (count, one, many) => `${count.toLocaleString("en")} ${count === 1 ? one : many}`;

  const data = JSON.parse($("data").textContent);
  const numbers = (version) => version.split("+")[0].split("-")[0].split(".").map(Number);
  const newer = (a, b) => {
    const [x, y] = [numbers(a || "0"), numbers(b || "0")];
    const differing = x.findIndex((number, index) => number !== y[index]);
    return differing < 0 ? 0 : x[differing] - (y[differing] ?? 0);
  };
  // How far the locked version is behind: 3 for a major version, 2 for a minor version, 1 for less.
  const behind = (from, to) => {
    if (!from || !to) return 1;
    const [x, y] = [numbers(from), numbers(to)];
    return x[0] !== y[0] ? 3 : x[1] !== y[1] ? 2 : 1;
  };
  const stateOf = (cell) =>
    cell.state === "current" && cell.newest && newer(cell.newest, cell.newest_allowed) > 0 ? "held" : cell.state;

  const rows = data.directories
    .filter((directory) => directory.providers.length > 0 && directory.role !== "module")
    .map((directory) => {
      const cells = new Map(directory.providers.map((cell) => [cell.address, { ...cell, state: stateOf(cell) }]));
      const drift = [...cells.values()].reduce((sum, cell) => sum + (STATES[cell.state]?.weight ?? 0), 0);
      return { path: directory.path, engine: directory.engine, cells, drift };
    });
  // The providers that most directories use come first.
  const users = new Map();
  for (const row of rows) for (const address of row.cells.keys()) users.set(address, (users.get(address) ?? 0) + 1);
  const columns = [...users.keys()].sort((a, b) => users.get(b) - users.get(a) || (a < b ? -1 : 1));
  const failed = data.directories.filter((directory) => directory.role === "failed").map((directory) => directory.path);

  // The address of the page contains the filters, so that links and reloads keep them.
  const initial = { directory: "", provider: "", order: "path", column: "", state: "" };
  const view = { ...initial };
  let limit = PAGE_ROWS;
  let cursor = { row: 0, column: -1 };

  const fromAddress = () => {
    const parameters = new URLSearchParams(location.hash.slice(1));
    for (const name of Object.keys(initial)) view[name] = parameters.get(name) ?? initial[name];
    if (!(view.state in STATES)) view.state = "";
  };
  const toAddress = () => {
    const changed = Object.entries(view).filter(([name, value]) => value !== initial[name]);
    const text = new URLSearchParams(changed).toString();
    history.replaceState(null, "", text ? `#${text}` : location.pathname + location.search);
  };

  const visible = () => {
    const wanted = view.directory.toLowerCase();
    const provider = view.provider.toLowerCase();
    const matches = (row, address) => {
      const cell = row.cells.get(address);
      return cell && (!view.state || cell.state === view.state);
    };
    let shownColumns = columns.filter((address) => address.toLowerCase().includes(provider));
    const shownRows = rows
      .filter((row) => row.path.toLowerCase().includes(wanted))
      .filter((row) => shownColumns.some((address) => matches(row, address)));
    shownColumns = shownColumns.filter((address) => shownRows.some((row) => matches(row, address)));
    const byPath = (a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0);
    const weight = (row) => STATES[row.cells.get(view.column)?.state]?.weight ?? -1;
    const orders = {
      path: byPath,
      drift: (a, b) => b.drift - a.drift || byPath(a, b),
      column: (a, b) =>
        weight(b) - weight(a) ||
        newer(a.cells.get(view.column)?.locked, b.cells.get(view.column)?.locked) ||
        byPath(a, b),
    };
    shownRows.sort(orders[view.order] ?? byPath);
    return { shownRows, shownColumns };
  };

  const short = (address) => address.replace(/^registry\.(terraform\.io|opentofu\.org)\//, "");
  // The newest release of each provider.
  const newest = new Map();
  for (const row of rows) for (const [address, cell] of row.cells) if (cell.newest) newest.set(address, cell.newest);
  const columnHead = (address, shownRows) => {
    const parts = address.split("/");
    const versions = new Set(shownRows.map((row) => row.cells.get(address)?.locked).filter(Boolean));
    const isSorted = view.order === "column" && view.column === address;
    const name = element("span", { className: "name" }, parts[2], " ", element("small", {}, short(address).split("/").slice(0, -1).join("/")));
    const head = element("th", { className: "column", scope: "col", tabIndex: -1, title: `${address}, in ${plural(users.get(address), "directory", "directories")}: sort by it` }, name,
      element("span", { className: "spread" }, versions.size > 1 ? `${versions.size} versions` : versions.size ? "1 version" : "none"),
      element("span", { className: "newest" }, newest.has(address) ? `newest ${newest.get(address)}` : "\u00a0"));
    head.setAttribute("aria-sort", isSorted ? "descending" : "none");
    head.addEventListener("click", () => sortBy(address));
    return head;
  };
  const label = (row, address, cell) => {
    const state = STATES[cell.state];
    return `${short(address)} in ${row.path}: ${cell.locked ?? "no version"}, ${state.word.toLowerCase()}`;
  };
  const mark = { outdated: "↑", "out-of-range": "✕", held: "•" };
  const cellOf = (row, address) => {
    const cell = row.cells.get(address);
    const made = element("td", { tabIndex: -1 });
    made.setAttribute("role", "gridcell");
    if (!cell) {
      made.setAttribute("aria-label", `${short(address)} in ${row.path}: not used`);
      return made;
    }
    made.dataset.state = cell.state;
    if (cell.state === "outdated") made.dataset.behind = behind(cell.locked, cell.newest_allowed);
    if (view.state && cell.state !== view.state) made.className = "dim";
    made.setAttribute("aria-label", label(row, address, cell));
    const text = [cell.locked ?? "none", mark[cell.state]].filter(Boolean).join(" ");
    made.append(element("span", { className: "cell version" }, text));
    return made;
  };
  const rowOf = (row, shownColumns) => {
    const cut = row.path.lastIndexOf("/") + 1;
    const head = element("th", { className: "path", scope: "row", title: row.path, tabIndex: -1 },
      element("span", { className: "above" }, row.path.slice(0, cut)),
      element("span", { className: "last" }, row.path.slice(cut)));
    if (row.engine === "tofu") head.append(element("span", { className: "engine" }, "tofu"));
    return element("tr", {}, head, ...shownColumns.map((address) => cellOf(row, address)));
  };

  let shown = { shownRows: [], shownColumns: [] };
  const draw = () => {
    shown = visible();
    const { shownRows, shownColumns } = shown;
    const corner = element("th", { className: "corner", scope: "col" }, "Directory");
    $("head").replaceChildren(corner, ...shownColumns.map((address) => columnHead(address, shownRows)));
    $("body").replaceChildren(...shownRows.slice(0, limit).map((row) => rowOf(row, shownColumns)));
    const hidden = shownRows.length - limit;
    $("more").hidden = hidden <= 0;
    $("more").textContent = `Show ${plural(Math.min(hidden, PAGE_ROWS), "more directory", "more directories")} of ${hidden.toLocaleString("en")}`;
    $("nothing").hidden = shownRows.length > 0;
    $("matrix").hidden = shownRows.length === 0;
    const all = shownRows.length === rows.length && shownColumns.length === columns.length;
    $("shown").textContent = all
      ? "everything is shown"
      : `${shownRows.length.toLocaleString("en")} of ${plural(rows.length, "directory", "directories")}, ${shownColumns.length} of ${plural(columns.length, "provider", "providers")}`;
    for (const tile of document.querySelectorAll(".tile")) tile.setAttribute("aria-pressed", String(tile.dataset.state === view.state));
    for (const name of ["directory", "provider", "order"]) if ($(name).value !== view[name]) $(name).value = view[name];
    cursor = { row: 0, column: -1 };
    select(null);
    const first = document.querySelector("#head .column");
    if (first) first.tabIndex = 0;
    toAddress();
  };
  const change = (next) => {
    Object.assign(view, next);
    limit = PAGE_ROWS;
    draw();
  };
  const sortBy = (address) => {
    const again = view.order === "column" && view.column === address;
    change(again ? { order: "path", column: "" } : { order: "column", column: address });
    focus(-1, shown.shownColumns.indexOf(address));
  };

  // The tab key stops once at the grid, and the arrow keys move within it. Row -1 is the header with the providers.
  const at = (row, column) => (row < 0 ? $("head").children[column + 1] : $("body").children[row]?.children[column + 1]);
  const focus = (row, column) => {
    const target = at(row, column);
    if (!target) return;
    const old = at(cursor.row, cursor.column);
    if (old) old.tabIndex = -1;
    for (const other of document.querySelectorAll("#matrix [tabindex='0']")) other.tabIndex = -1;
    cursor = { row, column };
    target.tabIndex = 0;
    target.focus({ preventScroll: true });
    target.scrollIntoView({ block: "nearest", inline: "nearest" });
    // Scrolls so that the sticky header and column do not cover the cell.
    const [box, area] = [target.getBoundingClientRect(), $("scroll").getBoundingClientRect()];
    if (column >= 0) $("scroll").scrollLeft -= Math.max(0, area.left + at(-1, -1).offsetWidth - box.left);
    if (row >= 0) $("scroll").scrollTop -= Math.max(0, area.top + $("head").offsetHeight - box.top);
    select(row >= 0 && column >= 0 ? { row: shown.shownRows[row], address: shown.shownColumns[column], target } : null);
  };
  $("matrix").addEventListener("keydown", (event) => {
    const place = event.target.closest("th, td");
    if (!place) return;
    const row = place.closest("thead") ? -1 : [...$("body").children].indexOf(place.parentElement);
    const column = [...place.parentElement.children].indexOf(place) - 1;
    const [lastRow, lastColumn] = [$("body").children.length - 1, shown.shownColumns.length - 1];
    const steps = {
      ArrowUp: [row - 1, column], ArrowDown: [row + 1, column], ArrowLeft: [row, column - 1], ArrowRight: [row, column + 1],
      PageUp: [Math.max(0, row - 15), column], PageDown: [Math.min(lastRow, row + 15), column],
      Home: [event.ctrlKey ? 0 : row, 0], End: [event.ctrlKey ? lastRow : row, lastColumn],
    };
    if (event.key in steps) {
      event.preventDefault();
      focus(...steps[event.key]);
    } else if ((event.key === "Enter" || event.key === " ") && row < 0 && column >= 0) {
      event.preventDefault();
      sortBy(shown.shownColumns[column]);
    } else if (event.key === "Escape") select(null);
  });
  $("body").addEventListener("click", (event) => {
    const place = event.target.closest("td");
    if (place) focus([...$("body").children].indexOf(place.parentElement), [...place.parentElement.children].indexOf(place) - 1);
  });

  const commandFor = (row, address, cell) => {
    const path = /^[\w./@+=:,-]+$/.test(row.path) ? row.path : `'${row.path.replaceAll("'", "'\\''")}'`;
    const options = { outdated: ` --upgrade=${address}`, "not-required": " --prune", "out-of-range": "", "not-locked": "" }[cell.state];
    return options === undefined ? null : `tflock lock${options} ${path}`;
  };
  // Lets a long name break after its slashes, without changing the text that a user copies.
  const breakable = (text) => text.split(/(?<=\/)/).flatMap((part) => [part, element("wbr")]);
  const select = (choice) => {
    for (const old of document.querySelectorAll("td.selected")) old.classList.remove("selected");
    const cell = choice?.row.cells.get(choice.address);
    $("detail").hidden = !cell;
    if (!cell) return;
    choice.target.classList.add("selected");
    $("detail-provider").replaceChildren(...breakable(choice.address));
    $("detail-directory").replaceChildren(...breakable(choice.row.path));
    $("detail-state").dataset.state = cell.state;
    const distance = cell.state === "outdated" ? `, by ${BEHIND[behind(cell.locked, cell.newest_allowed)]}` : "";
    $("detail-state").textContent = `${STATES[cell.state].word}: ${STATES[cell.state].says}${distance}`;
    const facts = [["Constraints", cell.constraints ?? "none"], ["Locked", cell.locked ?? "none"],
      ["Newest allowed", cell.newest_allowed ?? "not known"], ["Newest", cell.newest ?? "not known"]];
    $("detail-facts").replaceChildren(...facts.flatMap(([name, value]) => [element("dt", {}, name), element("dd", { className: "version" }, value)]));
    const command = commandFor(choice.row, choice.address, cell);
    $("detail-command").hidden = !command;
    $("detail-command").firstElementChild.textContent = command ?? "";
  };
  $("detail-command").lastElementChild.addEventListener("click", async (event) => {
    const button = event.target;
    await navigator.clipboard?.writeText($("detail-command").firstElementChild.textContent);
    button.textContent = "Copied";
    setTimeout(() => { button.textContent = "Copy"; }, 1500);
  });

  const tiles = () => {
    const cells = rows.flatMap((row) => [...row.cells.values()].map((cell) => ({ cell, row })));
    const made = Object.entries(STATES).map(([state, { word, says }]) => {
      const here = cells.filter(({ cell }) => cell.state === state);
      const directories = new Set(here.map(({ row }) => row)).size;
      const tile = element("button", { type: "button", className: here.length ? "tile" : "tile none", title: says },
        element("b", {}, here.length.toLocaleString("en")), element("span", {}, word),
        element("small", {}, here.length ? `in ${plural(directories, "directory", "directories")}` : "\u00a0"));
      tile.dataset.state = state;
      tile.disabled = !here.length;
      tile.addEventListener("click", () => change({ state: view.state === state ? "" : state }));
      return element("li", {}, tile);
    });
    $("tiles").replaceChildren(...made);
  };

  for (const name of ["directory", "provider"]) $(name).addEventListener("input", () => change({ [name]: $(name).value }));
  $("order").addEventListener("change", () => {
    const order = $("order").value;
    change(order === "column" ? { order, column: view.column || shown.shownColumns[0] || "" } : { order, column: "" });
  });
  $("reset").addEventListener("click", () => change(initial));
  $("more").addEventListener("click", () => { limit += PAGE_ROWS; draw(); });
  document.addEventListener("keydown", (event) => {
    if (event.key === "/" && !/INPUT|SELECT/.test(event.target.tagName)) {
      event.preventDefault();
      $("directory").focus();
    }
  });
  const isDark = () => (document.documentElement.dataset.theme ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
  const nameTheme = () => { $("theme").textContent = isDark() ? "Light" : "Dark"; };
  $("theme").addEventListener("click", () => { document.documentElement.dataset.theme = isDark() ? "light" : "dark"; nameTheme(); });
  addEventListener("hashchange", () => { fromAddress(); draw(); });

  // The document contains no date, so that equal trees give equal pages. The date is that of the file.
  const made = new Date(document.lastModified);
  const day = Number.isNaN(made.getTime()) ? "" : ` on ${made.toLocaleDateString("en-CA")}`;
  $("subtitle").textContent = `${plural(rows.length, "root directory", "root directories")}, ${plural(columns.length, "provider", "providers")}; made by tflock list${day}`;
  $("failed").hidden = failed.length === 0;
  $("failed").textContent = `Could not be read: ${failed.slice(0, 20).join(", ")}${failed.length > 20 ? ` and ${failed.length - 20} more` : ""}`;
  nameTheme();
  tiles();
  fromAddress();
  draw();
})();
