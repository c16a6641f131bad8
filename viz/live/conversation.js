// What a person changes in the browser, until Python has heard of it.
//
// Python sends its settings with every run and says up to which turn it has heard. What was changed
// or told after that turn stays as the person left it; everything else is as Python says.

const QUIET_MS = 250; // how long a person must rest before Python hears of a change
const MOST_TOLD = 50; // values of a setting that Python may still answer to

export class Conversation {
  constructor(tell, quiet = QUIET_MS) {
    this.tell = tell;
    this.quiet = quiet;
    this.changes = {}; // {value, turn}; no turn until it was told
    this.told = {}; // the values told of each setting, the last one last
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
    // Python may be behind: what it has now may have been told some changes ago.
    return isNew && !this.told[name]?.some((value) => same(settings[name], value));
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
    for (const [name, value] of Object.entries(this.untold()))
      this.told[name] = [...(this.told[name] ?? []), value].slice(-MOST_TOLD);
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
