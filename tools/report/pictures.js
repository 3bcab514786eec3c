/// Pictures of topologies and of the streams of steps; shown as images, so that scripts in them cannot run.
class Pictures {
  constructor(data) {
    this.data = data;
    this.pictures = data.pictures;
    this.choice = document.getElementById("picture-choice");
    this.container = document.getElementById("picture");
    document.getElementById("picture-section").hidden = this.pictures.length === 0;
    this.choice.append(...this.pictures.map(({ title }, index) => make("option", { value: index }, title)));
    this.choice.addEventListener("change", () => this.show(Number(this.choice.value)));
  }

  show(index) {
    const { title, svg } = this.pictures[index];
    this.choice.value = index;
    this.container.replaceChildren(
      make("img", { alt: `Picture: ${title}`, src: `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}` }));
  }

  /// Shows links or streams of a row, or else its topology. null: no row is selected.
  showRow(row) {
    if (this.pictures.length === 0) return;
    const source = row === null ? null : this.data.rowSources[row];
    const own = this.pictures.findIndex((picture) => row !== null && picture.row === row);
    const shared = this.pictures.findIndex((picture) => picture.row === null && picture.sources.includes(source));
    const found = own >= 0 ? own : shared >= 0 ? shared : this.pictures.findIndex((picture) => picture.sources.includes(source));
    if (found >= 0) return this.show(found);
    this.choice.value = "";
    this.container.replaceChildren(make("p", {}, row === null
      ? "No row is selected; choose a picture by name." : "There is no picture of this row's topology."));
  }
}
