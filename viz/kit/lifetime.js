// What must be released when an instrument is taken off the page: timers, frames asked for,
// observers, and listeners outside its own elements. Nothing may start any of these but through here.
//
// And whether anything is awaited: then, and only then, the part's root says `data-busy`. It is at rest
// without.

/** How much is awaited at a root. @type {WeakMap<HTMLElement, number>} */
const awaited = new WeakMap();

export class Lifetime {
  /** @type {Set<() => void>} */
  #releases = new Set();
  isOver = false;

  /**
   * @param {AbortSignal} [signal] ends it, too
   * @param {HTMLElement} [root] of the part
   */
  constructor(signal, root) {
    this.root = root;
    signal?.addEventListener("abort", () => this.end());
  }

  /**
   * Have the part say that it is busy until something is done.
   *
   * @template T
   * @param {Promise<T>} work
   */
  async busy(work) {
    this.#count(1);
    try {
      return await work;
    } finally {
      this.#count(-1);
    }
  }

  /** Ends once nothing is awaited at the root. */
  async idle() {
    while (this.root?.hasAttribute("data-busy") && !this.isOver)
      await new Promise((resolve) => this.frame(() => resolve(null)));
  }

  /** @param {number} more */
  #count(more) {
    if (!this.root) return;
    const n = (awaited.get(this.root) ?? 0) + more;
    awaited.set(this.root, n);
    this.root.toggleAttribute("data-busy", n > 0);
  }

  /**
   * Have something released at the end.
   *
   * @param {() => void} release
   * @returns {() => void} releases it sooner; a second call does nothing
   */
  keep(release) {
    const once = () => {
      if (this.#releases.delete(once)) release();
    };
    this.#releases.add(once);
    if (this.isOver) once();
    return once;
  }

  /**
   * Do something after a while.
   *
   * @param {() => void} act
   * @param {number} ms
   * @returns {() => void} takes it back
   */
  timeout(act, ms) {
    if (this.isOver) return () => {};
    const cancel = this.keep(() => clearTimeout(timer));
    const timer = setTimeout(() => {
      cancel();
      act();
    }, ms);
    return cancel;
  }

  /**
   * Do something again and again.
   *
   * @param {() => void} act
   * @param {number} ms
   * @returns {() => void} ends it
   */
  interval(act, ms) {
    if (this.isOver) return () => {};
    const timer = setInterval(act, ms);
    return this.keep(() => clearInterval(timer));
  }

  /**
   * A moment in which the browser has nothing else to do, or the end of a while.
   *
   * @param {number} ms
   */
  async rest(ms) {
    await new Promise((resolve) => {
      const asked = requestIdleCallback(() => release(), { timeout: ms });
      const release = this.keep(() => {
        cancelIdleCallback(asked);
        resolve(null);
      });
    });
  }

  /**
   * Do something before the next frame is painted.
   *
   * @param {() => void} act
   * @returns {() => void} takes it back
   */
  frame(act) {
    if (this.isOver) return () => {};
    const cancel = this.keep(() => cancelAnimationFrame(frame));
    const frame = requestAnimationFrame(() => {
      cancel();
      act();
    });
    return cancel;
  }

  /**
   * Listen to something that outlives the instrument, such as the window.
   *
   * @param {EventTarget} target
   * @param {string} type
   * @param {(event: any) => void} listener
   * @param {AddEventListenerOptions} [options]
   * @returns {() => void} stops listening
   */
  listen(target, type, listener, options = {}) {
    if (this.isOver) return () => {};
    /** @param {Event} event */
    const handle = (event) => {
      if (options.once) stop();
      listener(event);
    };
    const stop = this.keep(() => target.removeEventListener(type, handle, options));
    target.addEventListener(type, handle, options);
    return stop;
  }

  /**
   * Act on the size of an element, now and when it changes.
   *
   * @param {Element} element
   * @param {() => void} act
   */
  watchSize(element, act) {
    if (this.isOver) return;
    const observer = new ResizeObserver(act);
    observer.observe(element);
    this.keep(() => observer.disconnect());
  }

  /**
   * A lifetime within this one, over with it at the latest.
   *
   * @returns {Lifetime}
   */
  child() {
    const child = new Lifetime(undefined, this.root);
    child.keep(this.keep(() => child.end()));
    return child;
  }

  /** Release everything. */
  end() {
    this.isOver = true;
    for (const release of [...this.#releases]) release();
  }
}
