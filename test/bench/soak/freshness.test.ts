import { describe, expect, it } from 'vitest';
import { Freshness } from '../../../bench/soak/freshness.ts';

const LAG_MS = 15_000;

describe('Freshness', () => {
  it('requires every edit that is older than the usual lag', () => {
    expect(new Freshness(LAG_MS).freshMs('ns1', 100_000)).toBe(100_000 - LAG_MS);
  });

  it('requires only edits before the fault of a node while it lasts, and for queries sent before its end', () => {
    const freshness = new Freshness(LAG_MS);
    freshness.disturb(['ns1'], 100_000);
    freshness.disturb(['ns1'], 150_000);
    expect(freshness.freshMs('ns1', 200_000)).toBe(100_000 - LAG_MS);
    expect(freshness.freshMs('ns2', 200_000)).toBe(200_000 - LAG_MS);
    freshness.recovered(250_000);
    expect(freshness.freshMs('ns1', 249_000)).toBe(100_000 - LAG_MS);
    expect(freshness.freshMs('ns1', 251_000)).toBe(251_000 - LAG_MS);
  });

  it('reports a node as disturbed until its recovery', () => {
    const freshness = new Freshness(LAG_MS);
    freshness.disturb(['ns1'], 100);
    expect([freshness.isDisturbed('ns1', 200), freshness.isDisturbed('ns2', 200)]).toEqual([true, false]);
    freshness.recovered(300);
    expect([freshness.isDisturbed('ns1', 299), freshness.isDisturbed('ns1', 301)]).toEqual([true, false]);
  });
});
