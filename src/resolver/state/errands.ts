// Errands: work that several checks need at the same time and one of them does, while the others wait. An errand may
// need another one, and so on. Avoids deadlock: a task never waits for one that depends on it.

import { Stopped, type Work } from './work.ts';

export interface Errand {
  readonly key: string;
  /** The errand that needs this one; undefined: a check itself needs it. */
  readonly within: Errand | undefined;
  /** The errand that this one waits for now. An errand does one thing at a time. */
  waitsFor: Errand | undefined;
}

/**
 * `isForAll`: the result does not depend on what the errand was needed for. If it does, those who waited begin again.
 */
interface Done<T> {
  readonly value: T;
  readonly isForAll: boolean;
}

type Ended<T> = { readonly kind: 'done'; readonly value: T } | { readonly kind: 'nothing' };

interface Running {
  readonly errand: Errand;
  readonly ended: Promise<Ended<unknown>>;
}

export class Errands {
  readonly #running = new Map<string, Running>();

  /** True when the errand would be needed for itself. */
  static isLoop(key: string, within: Errand | undefined): boolean {
    for (let above = within; above !== undefined; above = above.within) if (above.key === key) return true;
    return false;
  }

  /**
   * Gives what `perform` gives, to all who ask for `key` meanwhile: equal keys must mean equal work. `look` says
   * whether another task has done the work in the meantime. When the task that does it must stop, the next one begins
   * again.
   */
  async run<T>(
    key: string,
    { work, within, look }: { work: Work; within: Errand | undefined; look: () => T | undefined },
    perform: (errand: Errand) => Promise<Done<T>>,
  ): Promise<T> {
    for (;;) {
      const known = look();
      if (known !== undefined) return known;
      const running = this.#running.get(key);
      if (running === undefined || wouldWaitForItself(running.errand, within)) {
        return this.#begin(key, within, perform, running === undefined);
      }
      const ended = await this.#waitFor(running, work, within);
      if (ended.kind === 'done') return ended.value as T;
    }
  }

  async #waitFor(running: Running, work: Work, within: Errand | undefined): Promise<Ended<unknown>> {
    if (within !== undefined) within.waitsFor = running.errand;
    try {
      return await work.race(running.ended);
    } finally {
      if (within !== undefined) within.waitsFor = undefined;
    }
  }

  async #begin<T>(
    key: string,
    within: Errand | undefined,
    perform: (errand: Errand) => Promise<Done<T>>,
    isShared: boolean,
  ): Promise<T> {
    const errand: Errand = { key, within, waitsFor: undefined };
    if (within !== undefined) within.waitsFor = errand;
    const promise = perform(errand);
    if (isShared) this.#running.set(key, { errand, ended: endOf(promise) });
    try {
      return (await promise).value;
    } finally {
      if (isShared) this.#running.delete(key);
      if (within !== undefined) within.waitsFor = undefined;
    }
  }
}

function endOf<T>(promise: Promise<Done<T>>): Promise<Ended<T>> {
  const ended = promise.then(
    ({ value, isForAll }): Ended<T> => (isForAll ? { kind: 'done', value } : { kind: 'nothing' }),
    (error): Ended<T> => {
      if (error instanceof Stopped) return { kind: 'nothing' };
      throw error;
    },
  );
  ended.catch(() => {}); // whoever performs it sees the fault; nobody else may be waiting
  return ended;
}

function wouldWaitForItself(wanted: Errand, within: Errand | undefined): boolean {
  for (let waits: Errand | undefined = wanted; waits !== undefined; waits = waits.waitsFor) {
    for (let above = within; above !== undefined; above = above.within) if (above === waits) return true;
  }
  return false;
}
