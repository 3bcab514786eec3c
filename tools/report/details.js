// Details of one row: its values, time breakdown, configuration, version and parameters.

/// Prefix of the keys of columns for groups of a step's tasks.
const kGroups = "groups/";

/// A JSON value as a tree with collapsible objects and lists.
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

/// A small table. Columns with indices in `numeric` are right-aligned. With the class "cards" it becomes a list
/// of cards on a narrow page; explicit roles keep it a table for screen readers.
function factTable(headings, rows, numeric = [], looks = "facts cards") {
  const classOf = (index) => (numeric.includes(index) ? "number" : null);
  const head = headings.map((text, index) => make("th", { scope: "col", role: "columnheader", class: classOf(index) }, text));
  const body = rows.map((cells) => make("tr", { role: "row" }, ...cells.map((cell, index) =>
    make("td", { role: "cell", class: classOf(index), "data-heading": headings[index] }, cell))));
  return make("table", { class: looks, role: "table" },
    make("thead", { role: "rowgroup" }, make("tr", { role: "row" }, ...head)),
    make("tbody", { role: "rowgroup" }, ...body));
}

/// A table that scrolls horizontally on a narrow page.
function wideTable(caption, headings, rows, numeric) {
  return make("div", {}, make("p", { class: "hint" }, caption, make("span", { class: "narrow" }, " (scroll sideways)")),
    make("div", { class: "scroll", role: "region", "aria-label": caption, tabindex: 0 }, factTable(headings, rows, numeric, "facts")));
}

/// Badge with the class of a parameter, distinguished by text and outline.
function classBadge(name) {
  const known = ["datasheet", "measured", "calibrated", "assumed"].includes(name) ? name : "";
  return make("span", { class: `class ${known}` }, String(name));
}

/// Formats seconds in a suitable unit.
function timeText(seconds) {
  const [unit, size] = chooseUnit("time", [seconds]);
  return `${formatNumber(seconds / size)} ${unit}`;
}

/// Quotes a text for a POSIX shell.
function shellQuoted(text) {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

/// True if a configuration has an integer that JavaScript cannot represent, such as a seed beyond 2^53.
function isRounded(value) {
  if (typeof value === "number") return Number.isInteger(value) && !Number.isSafeInteger(value);
  return value !== null && typeof value === "object" && Object.values(value).some(isRounded);
}

class Details {
  constructor(data) {
    this.data = data;
    const get = (id) => document.getElementById(id);
    this.none = get("row-none");
    this.facts = get("row-facts");
    this.name = get("row-name");
    this.error = get("row-error");
    this.parts = {
      values: get("row-values"), time: get("row-time"), command: get("row-command"),
      config: get("row-config"), parameters: get("row-parameters"),
    };
    this.saveButton = get("save-config");
    this.saveButton.addEventListener("click", () => save(fileName(`${data.title}_${this.data.source(this.row).key.slice(0, 8)}`, ".json"), "application/json", this.configText));
    copyButton(get("copy-command"), get("row-copied"), () => this.parts.command.textContent);
    copyButton(get("copy-config"), get("row-copied"), () => this.configText);
    this.copyConfig = get("copy-config");
  }

  /// Shows a row; null: no row is selected. `passing`: number of rows that pass the filters.
  show(row, passing) {
    this.row = row;
    this.facts.hidden = row === null;
    this.none.hidden = row !== null;
    this.none.textContent = passing === 0 ? "No row passes the filters." : "No row is selected. Select one in the table or in the chart.";
    if (row === null) return;
    this.showName(row);
    this.parts.values.replaceChildren(make("dl", {}, ...this.data.columns
      .filter((column) => !column.isMissing(row) && !column.key.startsWith(kGroups))  // groups have a table of their own
      .map((column) => make("div", {}, make("dt", {}, column.title, " ", make("code", {}, column.key)), make("dd", {}, column.describe(row))))));
    this.showTime(row);
    this.showConfig(row);
    this.showParameters(row);
  }

  showName(row) {
    const named = this.data.columns.filter((column) => (column.axis || column.key === "label") && !column.isMissing(row));
    const absence = this.data.absence(row) ?? "";
    this.error.textContent = absence.charAt(0).toUpperCase() + absence.slice(1);
    this.error.hidden = this.error.textContent === "";
    this.name.textContent = named.map((column) => `${column.title}: ${column.describe(row)}`).join("  ·  ");
  }

  /// Shows the time breakdown of a workload or step.
  showTime(row) {
    const parts = [...this.workloadTables(row), ...this.stepTables(row)];
    document.getElementById("time-details").hidden = parts.length === 0;
    this.parts.time.replaceChildren(...parts);
  }

  /// Tables of a workload: parts of its time, and the operations of each chip if the file has them.
  workloadTables(row) {
    const total = this.data.column("time_s");
    const parts = ["matrix_s", "attention_s", "elementwise_s", "exposed_s"]
      .map((key) => this.data.column(key)).filter((column) => column && !column.isMissing(row));
    const operations = this.data.operations(row) ?? [];
    if (parts.length === 0 && operations.length === 0) return [];
    const share = (part, whole) => (whole > 0 ? `${(100 * part / whole).toFixed(1)} %` : "");
    const split = parts.map((column) => [column.title, column.describe(row), share(column.numbers[row], total.numbers[row])]);
    const words = { matrix: "matrix unit", vector: "vector unit", hbm: "HBM" };
    const compute = operations.reduce((sum, { time_s }) => sum + time_s, 0);
    const table = operations.map(({ name, kind, count, time_s, flops, hbm_bytes, roof }) =>
      [name.replaceAll("_", " "), kind, kGrouped.format(count), timeText(time_s), share(time_s, compute), formatNumber(flops / 1e9), bytesLabel(hbm_bytes), words[roof] ?? roof]);
    return [
      factTable(["part of the time", "time", "share"], split, [1, 2]),
      table.length === 0 ? make("p", { class: "hint" }, "Results of “equarx-sim run --json” also list the operations.")
        : wideTable("Operations (per chip)", ["operation", "kind", "count", "time", "of compute", "GFLOP", "HBM", "bound by"], table, [2, 3, 4, 5, 6])];
  }

  /// Table of a step: its groups of tasks, as printed by `run`.
  stepTables(row) {
    const last = "/isolated_s";
    const names = this.data.columns.filter((column) => column.key.startsWith(kGroups) && column.key.endsWith(last) && !column.isMissing(row))
      .map(({ key }) => key.slice(kGroups.length, -last.length));
    if (names.length === 0) return [];
    const table = names.map((name) => {
      const cell = (key) => this.data.column(`${kGroups}${name}/${key}`);
      const kind = cell("kind").cell(row);
      const [alone, total, exposed, critical] = ["isolated_s", "total_s", "exposed_s", "critical_s"].map((key) => cell(key).numbers[row]);
      const computes = kind === "computation";
      return [name, kind, kGrouped.format(cell("tasks").numbers[row]), timeText(alone), timeText(total),
        computes ? "" : timeText(total - exposed), computes ? "" : timeText(exposed), timeText(critical)];
    });
    return [wideTable("Groups of tasks. Isolated: sum of task times when run alone. Overlapped, exposed: wall time with and without concurrent compute",
      ["group", "kind", "tasks", "isolated", "wall time", "overlapped", "exposed", "critical path"], table, [2, 3, 4, 5, 6, 7])];
  }

  showConfig(row) {
    const { version, key } = this.data.source(row);
    const config = this.data.config(row);
    this.configText = `${JSON.stringify(config, null, 2)}\n`;
    this.copyConfig.disabled = this.saveButton.disabled = config === null;
    this.parts.command.textContent = this.commandText(row, config);
    this.parts.config.replaceChildren(
      factTable(["program", "key"], [[`equarx-sim ${version}`, key]]),
      config === null ? make("p", {}, "The file lacks the configuration of this row.")
        : make("div", { class: "json" }, jsonTree(config, "configuration")));
  }

  /// Shell command that recomputes a row: with its complete configuration or, if that is missing, as for a
  /// failed point, with its axes on top of the original configuration.
  commandText(row, config) {
    const warning = isRounded(config) ? "# The page rounded an integer beyond 2^53, such as a seed: correct it.\n" : "";
    if (config !== null) {
      const verb = config.serving ? "serve" : "run";
      return `${warning}equarx-sim ${verb} /dev/stdin <<'END'\n${this.configText}END\n`;
    }
    const sets = Object.entries(this.data.source(row).axes ?? {}).map(([pointer, value]) =>
      `--set ${shellQuoted(`${pointer}=${typeof value === "string" ? value : JSON.stringify(value)}`)}`);
    return ["equarx-sim run CONFIG.json", ...sets].join(" \\\n  ");
  }

  showParameters(row) {
    const parameters = this.data.parameters(row);
    this.parts.parameters.replaceChildren(parameters === null
      ? make("p", {}, "The file lacks the parameters of the chip, which the configuration names.")
      : factTable(["parameter", "value", "class", "source"],
        Object.entries(parameters).map(([name, parameter]) =>
          [name, String(parameter?.value), classBadge(parameter?.class), String(parameter?.source)])));
  }
}
