// Abort signals that end with another one. `AbortSignal.any` has two faults in Node 20: it leaves an entry in a signal for
// each call, and so grows one that lives as long as the process, and a timeout that only it references never aborts,
// because it is garbage-collected.

import { setMaxListeners } from 'node:events';

/** Aborts `controller` when `signal` does, with its reason. Returns a function that ends this. */
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
