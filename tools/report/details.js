// What belongs to one row: its values, configuration, version, parameters; and the pictures.

/// A JSON value as a tree whose objects and lists open and close.
function jsonTree(value, key = null, open = true) {
  const name = key === null ? "" : make("span", { class: "key" }, `${key}: `);
  if (value === null || typeof value !== "object")
    return make("div", { class: "leaf" }, name, JSON.stringify(value));
  const isList = Array.isArray(value);
  const entries = Object.entries(value);
  if (entries.length === 0) return make("div", { class: "leaf" }, name, isList ? "[]" : "{}");
  const isPlainList = isList && value.every((entry) => entry === null || typeof entry !== "object");
  if (isPlainList) return make("div", { class: "leaf" }, name, JSON.stringify(value));
  return make("details", { open },
    make("summary", {}, name, isList ? `[${entries.length}]` : `{${entries.length}}`),
    ...entries.map(([inner, child]) => jsonTree(child, inner, open)));
}

function factTable(headings, rows) {
  return make("table", { class: "facts" },
    make("thead", {}, make("tr", {}, ...headings.map((text) => make("th", { scope: "col" }, text)))),
    make("tbody", {}, ...rows.map((cells) => make("tr", {}, ...cells.map((cell) => make("td", {}, cell))))));
}

/// Class of a parameter, told apart by its word and its outline.
function classBadge(name) {
  const known = ["datasheet", "measured", "calibrated", "assumed"].includes(name) ? name : "";
  return make("span", { class: `class ${known}` }, String(name));
}

class Details {
  constructor(data) {
    this.data = data;
    this.values = document.getElementById("row-values");
    this.config = document.getElementById("row-config");
    this.parameters = document.getElementById("row-parameters");
    this.name = document.getElementById("row-name");
    this.error = document.getElementById("row-error");
  }

  show(row) {
    const named = this.data.columns.filter((column) => (column.axis || column.key === "label") && !column.isMissing(row));
    const error = this.data.column("error");
    this.error.textContent = error && !error.isMissing(row) ? `Failed: ${error.cell(row)}` : "";
    this.error.hidden = this.error.textContent === "";
    this.name.textContent = named.map((column) => `${column.title}: ${column.describe(row)}`).join("  ·  ");
    this.values.replaceChildren(factTable(["what", "value", "key"],
      this.data.columns.filter((column) => !column.isMissing(row))
        .map((column) => [column.title, column.describe(row), column.key])));
    this.showConfig(row);
    this.showParameters(row);
  }

  showConfig(row) {
    const { version, key } = this.data.source(row);
    const config = this.data.config(row);
    this.config.replaceChildren(
      factTable(["program", "key"], [[`equarx-sim ${version}`, key]]),
      config === null ? make("p", {}, "The file does not have the configuration of this row.")
        : make("div", { class: "json" }, jsonTree(config, "configuration")));
  }

  showParameters(row) {
    const parameters = this.data.parameters(row);
    this.parameters.replaceChildren(parameters === null
      ? make("p", {}, "The file does not have the parameters of the chip; the configuration names it.")
      : factTable(["parameter", "value", "class", "source"],
        Object.entries(parameters).map(([name, parameter]) =>
          [name, String(parameter?.value), classBadge(parameter?.class), String(parameter?.source)])));
  }
}

/// The pictures of the topologies. As images, so that nothing in them can run.
class Pictures {
  constructor(pictures) {
    this.pictures = pictures;
    this.choice = document.getElementById("picture-choice");
    this.place = document.getElementById("picture");
    document.getElementById("picture-section").hidden = pictures.length === 0;
    if (pictures.length === 0) return;
    this.choice.append(...pictures.map(({ title }, index) => make("option", { value: index }, title)));
    this.choice.addEventListener("change", () => this.show(Number(this.choice.value)));
    this.show(0);
  }

  show(index) {
    const { title, svg } = this.pictures[index];
    this.choice.value = index;
    this.place.replaceChildren(
      make("img", { alt: `Topology: ${title}`, src: `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}` }));
  }

  showRow(row) {
    const index = this.pictures.findIndex((picture) => picture.row === row);
    if (index >= 0) this.show(index);
  }
}
