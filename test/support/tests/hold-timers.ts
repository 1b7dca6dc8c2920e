// Timers of one length that fire when the test says so: what ends before that was ended by something else than the time.

import { vi } from 'vitest';

export interface HeldTimers {
  /** Fires all that were set since. */
  fire(): void;
  /** From now on timers are as they were; those that are held never fire. */
  release(): void;
}

export function holdTimers(lengthMs: number): HeldTimers {
  const held = new Map<NodeJS.Timeout, () => void>();
  const { setTimeout: set, clearTimeout: clear } = globalThis;
  const setting = vi.spyOn(globalThis, 'setTimeout').mockImplementation(((
    run: (...args: unknown[]) => void,
    ms?: number,
    ...args: unknown[]
  ) => {
    if (ms !== lengthMs) return set(run, ms, ...args);
    const timer = set(() => {}, 2 ** 31 - 1).unref();
    held.set(timer, () => run(...args));
    return timer;
  }) as typeof setTimeout);
  const clearing = vi.spyOn(globalThis, 'clearTimeout').mockImplementation((timer) => {
    held.delete(timer as NodeJS.Timeout);
    clear(timer);
  });
  return {
    fire() {
      for (const [timer, run] of [...held]) {
        clearTimeout(timer);
        run();
      }
    },
    release() {
      setting.mockRestore();
      clearing.mockRestore();
      for (const timer of held.keys()) clear(timer);
    },
  };
}
