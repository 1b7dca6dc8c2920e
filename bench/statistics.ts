// Statistics of results.

export function median(values: readonly number[]): number {
  return percentile(values, 0.5);
}

/** Takes values in any order, and interpolates between the two nearest. NaN if there are none. */
export function percentile(values: readonly number[], part: number): number {
  const sorted = Float64Array.from(values).sort();
  if (sorted.length === 0) return Number.NaN;
  const place = (sorted.length - 1) * part;
  const low = sorted[Math.floor(place)] as number;
  const high = sorted[Math.ceil(place)] as number;
  return low + (high - low) * (place - Math.floor(place));
}
