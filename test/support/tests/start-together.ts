// Starts several things concurrently. If one fails, all others are stopped.

interface Stoppable {
  stop(): Promise<void>;
}

export async function startTogether<T extends readonly (Stoppable | undefined)[]>(
  starting: {
    [K in keyof T]: Promise<T[K]> | T[K];
  },
): Promise<T> {
  const settled = await Promise.allSettled(starting);
  const failed = settled.find((one) => one.status === 'rejected');
  const started = settled.map((one) => (one.status === 'fulfilled' ? one.value : undefined));
  if (failed === undefined) return started as unknown as T;
  await Promise.all(started.map((one) => (one as Stoppable | undefined)?.stop()));
  throw failed.reason;
}
