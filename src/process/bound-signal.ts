// Abort signals that follow another one. They replace `AbortSignal.any`, which has two faults in Node 20. Each call adds an
// entry to its signals that is never removed, so a signal that lives as long as the process grows. A timeout that only the
// result references is garbage-collected, so it never aborts.

import { setMaxListeners } from 'node:events';

/** Aborts `controller` when `signal` does, with its reason. Returns a function that removes the listener. */
export function abortWith(controller: AbortController, signal: AbortSignal): () => void {
  const abort = () => controller.abort(signal.reason);
  setMaxListeners(0, signal); // Node would warn about more than ten
  if (signal.aborted) abort();
  else signal.addEventListener('abort', abort, { once: true });
  return () => signal.removeEventListener('abort', abort);
}

/** Aborts when `signal` does, with its reason, or after `ms` with a TimeoutError. Does not keep the process alive. */
export function boundSignal(signal: AbortSignal, ms: number): AbortSignal {
  const bounded = new AbortController();
  const timer = setTimeout(
    () => bounded.abort(new DOMException('the time limit was exceeded', 'TimeoutError')),
    ms,
  );
  timer.unref();
  bounded.signal.addEventListener('abort', () => clearTimeout(timer), { once: true });
  const detach = abortWith(bounded, signal);
  bounded.signal.addEventListener('abort', detach, { once: true });
  return bounded.signal;
}
