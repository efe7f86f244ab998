// Work in slices so short that the page answers to its user between them.

const SLICE_MILLIS = 10;
const MOST_STEPS = 60;
const WAIT_MILLIS = 100;

const whenIdle = globalThis.requestIdleCallback
  ? (work) => requestIdleCallback(work, { timeout: WAIT_MILLIS })
  : (work) => setTimeout(work); // Safari has none

export class Slices {
  /** @param after called after each slice, with whether it was the last one */
  constructor(after) {
    this.after = after;
  }

  /** Does the steps of an iterator, the first of them at once; what was begun before is left. */
  start(steps) {
    this.steps = steps;
    this.slice(steps);
  }

  /** Leaves what was begun. */
  stop() {
    this.steps = null;
  }

  slice(steps) {
    if (steps !== this.steps) {
      return; // it was left
    }
    const end = performance.now() + SLICE_MILLIS;
    let done = false;
    for (let i = 0; i < MOST_STEPS && !done && performance.now() < end; i++) {
      done = steps.next().done;
    }
    this.after(done);
    if (!done) {
      whenIdle(() => this.slice(steps));
    }
  }
}
