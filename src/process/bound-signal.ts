// An abort signal with its own deadline. Node 20 garbage-collects an `AbortSignal.timeout` that only `AbortSignal.any`
// references, so it would never abort.

/** Aborts when `signal` does, with its reason, or after `ms` with a TimeoutError. Does not keep the process alive. */
export function boundSignal(signal: AbortSignal, ms: number): AbortSignal {
  const bounded = new AbortController();
  const stop = () => bounded.abort(signal.reason);
  const timer = setTimeout(
    () => bounded.abort(new DOMException('the time limit was exceeded', 'TimeoutError')),
    ms,
  );
  timer.unref();
  signal.addEventListener('abort', stop, { once: true });
  bounded.signal.addEventListener('abort', () => {
    clearTimeout(timer);
    signal.removeEventListener('abort', stop);
  });
  if (signal.aborted) stop();
  return bounded.signal;
}
