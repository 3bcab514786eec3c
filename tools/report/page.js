// Puts the parts of the page together.

function plural(count, one) {
  return `${count.toLocaleString("en")} ${one}${count === 1 ? "" : "s"}`;
}

function drawHeader(data) {
  document.getElementById("title").textContent = data.title;
  const versions = [...new Set(data.sources.map(({ version }) => version))];
  document.getElementById("summary").textContent = [
    plural(data.rows, "row"), plural(data.sources.length, "configuration"),
    `computed by equarx-sim ${versions.join(", ")}`].join(" · ");
  const failures = data.column("error");
  const failed = failures ? data.rowSources.filter((_, row) => !failures.isMissing(row)).length : 0;
  const notes = failed ? [...data.notes, `${plural(failed, "point")} failed; the column "failed" says why`] : data.notes;
  document.getElementById("notes").append(...notes.map((note) => make("p", { class: "note" }, note)));
  document.getElementById("about").textContent = `Made by equarx-sim ${data.version} report. ` +
    "This file needs nothing else: it can be mailed, archived and opened without a network.";
}

function drawColumnChoices(data, table) {
  const choices = data.columns.map((column) => {
    const box = make("input", { type: "checkbox", onchange: () => { column.shown = box.checked; table.drawHead(); } });
    box.checked = column.shown;
    return make("label", {}, box, ` ${column.title}`);
  });
  document.querySelector("#columns .choices").append(...choices);
}

function start() {
  const data = new Data(JSON.parse(document.getElementById("data").textContent));
  drawHeader(data);
  const filter = new Filter(data);
  const details = new Details(data);
  const pictures = new Pictures(data.pictures);
  const onSelect = (row) => { details.show(row); pictures.showRow(row); };
  const table = new Table(data, {
    onSelect,
    onFilter: (column, text) => { const isValid = filter.setColumn(column, text); apply(); return isValid; },
  });
  const chart = new Chart(data, { onSelect: (row) => table.select(row, { reveal: true }) });
  const search = document.getElementById("search");
  const reset = document.getElementById("reset");

  function apply() {
    const rows = filter.rows();
    table.show(rows);
    chart.show(rows);
    document.getElementById("count").textContent = rows.length === data.rows
      ? plural(data.rows, "row") : `${rows.length.toLocaleString("en")} of ${plural(data.rows, "row")}`;
    reset.disabled = !filter.isActive;
  }

  search.addEventListener("input", () => { filter.words = search.value; apply(); });
  reset.addEventListener("click", () => { filter.clear(); search.value = ""; table.clearInputs(); apply(); search.focus(); });
  drawColumnChoices(data, table);
  apply();
  if (data.rows > 0) table.select(table.visible[0]);
}

start();
