// What a person changes in the browser, until Python has heard of it.
//
// Python sends its settings with every run and says up to which turn it has heard. What was changed
// or told after that turn stays as the person left it; everything else is as Python says.

const QUIET_MS = 250; // how long a person must rest before Python hears of a change

export class Conversation {
  constructor(tell, quiet = QUIET_MS) {
    this.tell = tell;
    this.quiet = quiet;
    this.changes = {}; // {value, turn}; no turn until it was told
    this.told = {}; // the value last told of each setting
    this.facts = {};
  }

  /** Python's settings with what it has not heard yet. */
  merged({ settings, heard }) {
    this.turn ??= heard;
    for (const [name, { turn }] of Object.entries(this.changes)) {
      if (turn <= heard || this.isNews(name, settings)) delete this.changes[name];
    }
    this.last = settings;
    return { ...settings, ...this.untold() };
  }

  /** Whether Python has a value that is neither its last one nor one we told: chosen elsewhere. */
  isNews(name, settings) {
    const isNew = this.last && !same(settings[name], this.last[name]);
    return isNew && !same(settings[name], this.told[name]);
  }

  /** A person changed settings. */
  change(changes) {
    for (const [name, value] of Object.entries(changes)) this.changes[name] = { value };
    this.tellSoon();
  }

  /** Something found out here that Python should know; told when it is new. */
  report(name, value) {
    if (same(this.facts[name], value)) return;
    this.facts[name] = value;
    this.tellSoon();
  }

  tellSoon() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.tellNow(), this.quiet);
  }

  tellNow() {
    this.turn += 1;
    for (const change of Object.values(this.changes)) change.turn ??= this.turn;
    Object.assign(this.told, this.untold());
    this.tell({ turn: this.turn, changes: this.untold(), ...this.facts });
  }

  untold() {
    return Object.fromEntries(
      Object.entries(this.changes).map(([name, { value }]) => [name, value]),
    );
  }
}

/** Whether two settings are alike as JSON. */
export function same(a, b) {
  return JSON.stringify(a) === JSON.stringify(b);
}
