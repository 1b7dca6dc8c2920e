// Waiting for an AbortSignal together with thousands of others: one listener a signal, gone with its last waiter, so that
// neither a signal of the whole process nor one of a single check collects listeners.

interface Watch {
  readonly callbacks: Set<() => void>;
  readonly listener: () => void;
}

const watches = new WeakMap<AbortSignal, Watch>();

/** `callback` runs once when the signal aborts; the signal must not be aborted yet. */
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
