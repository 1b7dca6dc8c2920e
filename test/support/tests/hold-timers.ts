// Timers of one duration that fire when the test decides: anything that ends earlier had another cause than time.

import { vi } from 'vitest';

export interface HeldTimers {
  /** Fires all timers set since. */
  fire(): void;
  /** Restores normal timers. Held ones never fire. */
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
