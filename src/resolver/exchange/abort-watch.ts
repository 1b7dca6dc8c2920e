// Lets thousands of tasks wait for one AbortSignal with one listener for each signal. The listener is removed with its
// last waiter, so that no signal collects listeners.

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
