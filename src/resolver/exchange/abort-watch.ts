// Lets thousands of tasks wait for an AbortSignal with a single listener per signal, which is removed with the last task.

interface Watch {
  readonly callbacks: Set<() => void>;
  readonly listener: () => void;
}

const watches = new WeakMap<AbortSignal, Watch>();

/** Calls `callback` once when the signal aborts. The signal must not be aborted yet. */
export function watchAbort(signal: AbortSignal, callback: () => void): void {
  let watch = watches.get(signal);
  if (watch === undefined) {
    const callbacks = new Set<() => void>();
    const listener = () => {
      for (const each of callbacks) each();
      watches.delete(signal);
    };
    watch = { callbacks, listener };
    watches.set(signal, watch);
    signal.addEventListener('abort', listener, { once: true });
  }
  watch.callbacks.add(callback);
}

export function unwatchAbort(signal: AbortSignal, callback: () => void): void {
  const watch = watches.get(signal);
  if (watch === undefined) return;
  watch.callbacks.delete(callback);
  if (watch.callbacks.size > 0) return;
  watches.delete(signal);
  signal.removeEventListener('abort', watch.listener);
}
