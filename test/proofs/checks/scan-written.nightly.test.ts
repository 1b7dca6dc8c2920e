// Recall of a scan over sockets: zones written by three authors who did not know the scanner, its word lists or each other.
// The reduced proof scans a tenth of each author's zones.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { HANDS, readWrittenZones } from '../../support/corpus/scan-corpus.ts';
import { scanWorld } from '../../support/corpus/scan-internet.ts';
import { type Scanned, scanEach, startScanning } from '../../support/corpus/scan-run.ts';
import { exactKey, ScanTally } from '../../support/corpus/scan-tally.ts';
import { scale } from '../../support/tests/scale.ts';
import { FakeInternet } from '../../support/world/fake-internet.ts';

const EVERY = scale(1, 10);
const AT_ONCE = 8;
const all = new ScanTally();

describe.each(HANDS)('zones of the author %s', (hand) => {
  const zones = readWrittenZones(hand).filter((_, i) => i % EVERY === 0);
  const tally = new ScanTally();
  const scanned: Scanned[] = [];
  let internet: FakeInternet;

  beforeAll(async () => {
    internet = await FakeInternet.start(scanWorld(zones));
    const { route } = internet;
    const { resolver } = startScanning({ rootServers: internet.rootServers(), route, timeoutMs: 1000 });
    try {
      await scanEach(resolver, zones, AT_ONCE, (one) => {
        scanned.push(one);
        internet.seen.length = 0;
        const found = one.scan.records.map((record) => exactKey({ ...record, owner: record.name }));
        for (const count of [tally, all]) count.add(one.zone, new Set(found));
      });
    } finally {
      await resolver.close();
    }
  }, 600_000);
  afterAll(() => internet?.close());

  it('almost all names are known from other records', () => {
    const { found, all: there } = tally.of('learnable');
    expect(found / there).toBeGreaterThan(scale(0.98, 0.95));
  });

  it('the scan returns no records that the zones do not have', () => {
    expect(tally.foreign).toEqual([]);
  });

  it('the scan completes within its query limit', () => {
    for (const { zone, scan } of scanned) {
      expect(scan, zone.domain).toMatchObject({ failure: undefined, shortfalls: [], complete: true });
      expect(scan.queries, zone.domain).toBeLessThanOrEqual(4000);
    }
    expect(internet.violations).toEqual([]);
  });

  it('records are reported with their own TTLs and wildcards', () => {
    for (const { zone, scan } of scanned) {
      const own = zone.records.filter(({ sort }) => sort !== 'cut'); // the child zone has its own TTLs
      const ttls = new Map(own.map((record) => [exactKey(record), record.ttl]));
      for (const record of scan.records) {
        const key = exactKey({ ...record, owner: record.name });
        if (ttls.has(key)) expect(record.ttl, `${zone.domain} ${key}`).toBe(ttls.get(key));
      }
      const wildcards = own.filter(({ sort }) => sort === 'wildcard').map(({ owner }) => owner.slice(2));
      for (const name of scan.wildcards) expect(wildcards, zone.domain).toContain(name);
    }
  });
});

it('finds 95 % of all records that can be known', () => {
  const missed = all.missed.map(({ zone, record }) => `${zone.domain} ${exactKey(record).slice(0, 100)}`);
  expect(all.recall, missed.join('\n')).toBeGreaterThanOrEqual(0.95);
});
