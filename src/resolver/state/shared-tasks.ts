// Work that several checks need at the same time: one of them performs it while the others wait. A task may need another
// one, and so on. Deadlocks are avoided: a task never waits for one that depends on it.

import { Stopped, type Work } from './work.ts';

export interface SharedTask {
  readonly key: string;
  /** The task that needs this one. Undefined if a check needs it directly. */
  readonly within: SharedTask | undefined;
  /** The task that this one is waiting for. A task waits for one other task at a time. */
  waitsFor: SharedTask | undefined;
}

/** `isReusable`: the result does not depend on the caller. If it does, the waiting callers perform the task themselves. */
interface Done<T> {
  readonly value: T;
  readonly isReusable: boolean;
}

type Ended<T> = { readonly kind: 'done'; readonly value: T } | { readonly kind: 'nothing' };

interface Running {
  readonly task: SharedTask;
  readonly ended: Promise<Ended<unknown>>;
}

export class SharedTasks {
  readonly #running = new Map<string, Running>();

  /** True if the task would depend on itself. */
  static isLoop(key: string, within: SharedTask | undefined): boolean {
    for (let above = within; above !== undefined; above = above.within) if (above.key === key) return true;
    return false;
  }

  /**
   * Returns the result of `perform` to all concurrent callers with the same `key`: equal keys must mean equal work.
   * `look` returns the result if another task has already provided it. If the performing task must stop, the next
   * caller starts again.
   */
  async run<T>(
    key: string,
    { work, within, look }: { work: Work; within: SharedTask | undefined; look: () => T | undefined },
    perform: (task: SharedTask) => Promise<Done<T>>,
  ): Promise<T> {
    for (;;) {
      const known = look();
      if (known !== undefined) return known;
      const running = this.#running.get(key);
      if (running === undefined || wouldWaitForItself(running.task, within)) {
        return this.#begin(key, within, perform, running === undefined);
      }
      const ended = await this.#waitFor(running, work, within);
      if (ended.kind === 'done') return ended.value as T;
    }
  }

  async #waitFor(running: Running, work: Work, within: SharedTask | undefined): Promise<Ended<unknown>> {
    if (within !== undefined) within.waitsFor = running.task;
    try {
      return await work.race(running.ended);
    } finally {
      if (within !== undefined) within.waitsFor = undefined;
    }
  }

  async #begin<T>(
    key: string,
    within: SharedTask | undefined,
    perform: (task: SharedTask) => Promise<Done<T>>,
    isShared: boolean,
  ): Promise<T> {
    const task: SharedTask = { key, within, waitsFor: undefined };
    if (within !== undefined) within.waitsFor = task;
    const promise = perform(task);
    if (isShared) this.#running.set(key, { task, ended: endOf(promise) });
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
    ({ value, isReusable }): Ended<T> => (isReusable ? { kind: 'done', value } : { kind: 'nothing' }),
    (error): Ended<T> => {
      if (error instanceof Stopped) return { kind: 'nothing' };
      throw error;
    },
  );
  ended.catch(() => {}); // the performing caller handles the error; no other caller may be waiting
  return ended;
}

function wouldWaitForItself(wanted: SharedTask, within: SharedTask | undefined): boolean {
  for (let waits: SharedTask | undefined = wanted; waits !== undefined; waits = waits.waitsFor) {
    for (let above = within; above !== undefined; above = above.within) if (above === waits) return true;
  }
  return false;
}
