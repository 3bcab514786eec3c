// What a reader has chosen on the page, kept in its address: so it can be shared, and Back undoes it.

class View {
  /// Each part has `save(choices)` and `restore(choices)` of URLSearchParams; `show()` then brings the page
  /// up to date.
  constructor(parts, show) {
    this.parts = parts;
    this.show = show;
    this.last = null;
    for (const event of ["popstate", "hashchange"]) addEventListener(event, () => this.restore());
  }

  /// The choices as the address has them: of columns by their keys, whose slashes may be read.
  get hash() {
    const choices = new URLSearchParams();
    for (const part of this.parts) part.save(choices);
    const text = choices.toString().replaceAll("%2F", "/").replaceAll("%3A", ":");
    return text && `#${text}`;
  }

  /// To be called when something was chosen. What is chosen again, as when somebody types, makes no further
  /// entry in the history.
  changed(what) {
    const { hash } = this;
    if (hash === location.hash) return;
    const isAgain = what === this.last;
    this.last = what;
    const address = hash || location.href.split("#")[0];
    if (isAgain) history.replaceState(null, "", address);
    else history.pushState(null, "", address);
  }

  /// Brings back what the address says. What it says of columns or rows that are not there is left out.
  restore() {
    if (location.hash === this.hash) return;
    this.last = null;
    const choices = new URLSearchParams(location.hash.slice(1));
    for (const part of this.parts) part.restore(choices);
    this.show();
  }
}
