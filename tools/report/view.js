// The user's choices, kept in the address of the page: they can be shared, and Back undoes them.

class View {
  /// Each part has save(choices) and restore(choices), with URLSearchParams; show() then updates the page.
  constructor(parts, show) {
    this.parts = parts;
    this.show = show;
    this.last = null;
    for (const event of ["popstate", "hashchange"]) addEventListener(event, () => this.restore());
  }

  /// The choices in the format of the address; slashes of column keys stay readable.
  get hash() {
    const choices = new URLSearchParams();
    for (const part of this.parts) part.save(choices);
    const text = choices.toString().replaceAll("%2F", "/").replaceAll("%3A", ":");
    return text && `#${text}`;
  }

  /// To be called when `control` was changed. Repeated changes of it, as when typing, share one entry of the
  /// history.
  changed(control) {
    const { hash } = this;
    if (hash === location.hash) return;
    const isRepeated = control === this.last;
    this.last = control;
    const address = hash || location.href.split("#")[0];
    if (isRepeated) history.replaceState(null, "", address);
    else history.pushState(null, "", address);
  }

  /// Restores the choices of the address. Unknown columns and rows are ignored.
  restore() {
    if (location.hash === this.hash) return;
    this.last = null;
    const choices = new URLSearchParams(location.hash.slice(1));
    for (const part of this.parts) part.restore(choices);
    this.show();
  }
}
