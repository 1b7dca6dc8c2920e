// Runs several concurrent clients, each of which begins its next piece of work when the previous one has ended.

export interface Repeated {
  /** Time that each piece of work took. */
  readonly ms: readonly number[];
  readonly perSecond: number;
}

/** Runs the work for the given time. Each call gets another number. */
export async function repeat(
  work: (n: number) => Promise<void>,
  { clients, seconds }: { readonly clients: number; readonly seconds: number },
): Promise<Repeated> {
  const startedMs = performance.now();
  const endMs = startedMs + seconds * 1000;
  const ms: number[] = [];
  let next = 0;
  const client = async () => {
    for (let nowMs = performance.now(); nowMs < endMs; ) {
      await work(next++);
      const endedMs = performance.now();
      ms.push(endedMs - nowMs);
      nowMs = endedMs;
    }
  };
  await Promise.all(Array.from({ length: clients }, client));
  return { ms, perSecond: (ms.length * 1000) / (performance.now() - startedMs) };
}
