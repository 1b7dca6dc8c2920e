// Counts by duration how long changes took from their transaction to the image of this node.

export const DELAY_BOUNDS_SECONDS = [0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10, 30, 60, 300, 3600];

export interface PublishDelays {
  /** Changed zones per bucket of DELAY_BOUNDS_SECONDS. The last bucket has those above all bounds. */
  readonly buckets: Float64Array;
  sum: number;
}

export function noPublishDelays(): PublishDelays {
  return { buckets: new Float64Array(DELAY_BOUNDS_SECONDS.length + 1), sum: 0 };
}

/** Changes from before the start of the node are not counted: they were late because it was down. */
export function countPublishDelay(
  delays: PublishDelays,
  { zones, delaySeconds }: { readonly zones: number; readonly delaySeconds: number },
  uptimeSeconds: number,
): void {
  if (delaySeconds > uptimeSeconds) return;
  const bucket = DELAY_BOUNDS_SECONDS.findIndex((bound) => delaySeconds <= bound);
  const index = bucket === -1 ? DELAY_BOUNDS_SECONDS.length : bucket;
  delays.buckets[index] = (delays.buckets[index] as number) + zones;
  delays.sum += zones * delaySeconds;
}
