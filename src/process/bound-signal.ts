// A signal with a deadline of its own. Node 20 forgets an `AbortSignal.timeout` that only `AbortSignal.any` has, once garbage is
// collected: then nothing ends what waits.

/** Aborts when `signal` does, with its reason, or after `ms`, with a TimeoutError. It keeps no process alive. */
export function boundSignal(signal: AbortSignal, ms: number): AbortSignal {
  const bounded = new AbortController();
  const stop = () => bounded.abort(signal.reason);
  const timer = setTimeout(() => bounded.abort(new DOMException('it takes too long', 'TimeoutError')), ms);
  timer.unref();
  signal.addEventListener('abort', stop, { once: true });
  bounded.signal.addEventListener('abort', () => {
    clearTimeout(timer);
    signal.removeEventListener('abort', stop);
  });
  if (signal.aborted) stop();
  return bounded.signal;
}
