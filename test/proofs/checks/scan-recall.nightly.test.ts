// What a scan finds of made zones of many kinds of owners, over sockets: nearly all that can be known or guessed, nothing
// that is not there, and not by asking for everything.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Name } from '../../../src/dns/name.ts';
import { type CorpusZone, makeCorpus } from '../../support/corpus/scan-corpus.ts';
import { scanWorld } from '../../support/corpus/scan-internet.ts';
import { type Scanned, scanEach, startScanning } from '../../support/corpus/scan-run.ts';
import { exactKey, ScanTally } from '../../support/corpus/scan-tally.ts';
import { proves, scale } from '../../support/tests/scale.ts';
import { FakeInternet } from '../../support/world/fake-internet.ts';

/** In full another corpus each time, with words that the reduced one never shows; reduced the same one. */
const SEED = Number(process.env.ZONEFLEET_SEED ?? scale(Math.floor(Math.random() * 2 ** 20), 1));
const ZONES = scale(500, 25);
const AT_ONCE = 8;
/** Silence costs the same questions either way. */
const TIMEOUT_MS = 1000;

let corpus: readonly CorpusZone[];
let internet: FakeInternet;
const scanned: Scanned[] = [];
const tally = new ScanTally();

beforeAll(
  async () => {
    corpus = makeCorpus({ seed: SEED, zones: ZONES, fold: proves ? 'held-out' : 'developing' });
    internet = await FakeInternet.start(scanWorld(corpus));
    const { route } = internet;
    const { resolver } = startScanning({ rootServers: internet.rootServers(), route, timeoutMs: TIMEOUT_MS });
    try {
      await scanEach(resolver, corpus, AT_ONCE, (one) => {
        scanned.push(one);
        internet.seen.length = 0; // in full a million questions
        tally.add(
          one.zone,
          new Set(one.scan.records.map((record) => exactKey({ ...record, owner: record.name }))),
        );
      });
    } finally {
      await resolver.close();
    }
    console.log(
      [`seed ${SEED}`, ...tally.lines(), `packets: ${spread(scanned.map(({ scan }) => scan.queries))}`].join(
        '\n',
      ),
    );
  },
  scale(20 * 60_000, 60_000),
);
afterAll(() => internet?.close());

const spread = (values: readonly number[]): string => {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (part: number) => sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))];
  return `median ${at(0.5)}, p95 ${at(0.95)}, most ${at(1)}`;
};

describe(`a scan of ${ZONES} made zones, seed ${SEED}`, () => {
  it('finds at least 95 in 100 records whose names are learnable or common', () => {
    const missed = tally.missed.map(
      ({ zone, record }) => `${zone.kind}, ${record.sort}: ${exactKey(record).slice(0, 100)}`,
    );
    expect(tally.recall, missed.slice(0, 100).join('\n')).toBeGreaterThanOrEqual(0.95);
  });

  it('finds nothing that the zone does not have: neither what a wildcard makes nor what lies below a cut', () => {
    expect(tally.foreign).toEqual([]);
  });

  it('gives the TTLs that the zones have', () => {
    for (const { zone, scan } of scanned) {
      const ttls = new Map(
        zone.records.flatMap((record) => (record.sort === 'cut' ? [] : [[exactKey(record), record.ttl]])), // the zone below says another
      );
      const others = scan.records.filter((record) => {
        const ttl = ttls.get(exactKey({ ...record, owner: record.name }));
        return ttl !== undefined && ttl !== record.ttl;
      });
      expect(others, zone.domain).toEqual([]);
    }
  });

  it('says that it is complete where nothing was in the way, and names the wildcards', () => {
    for (const { zone, scan } of scanned) {
      expect(scan.failure, zone.domain).toBeUndefined();
      if (zone.fault === undefined) expect(scan.shortfalls, zone.domain).toEqual([]);
      const own = new Set<Name>(
        zone.records.filter(({ sort }) => sort === 'wildcard').map(({ owner }) => owner.slice(2) as Name),
      );
      for (const name of scan.wildcards) expect(own.has(name), `${zone.domain}: *.${name}`).toBe(true);
    }
  });

  it('asks as a resolver may, at most 4,000 packets a zone', () => {
    expect(internet.violations).toEqual([]);
    for (const { zone, scan } of scanned) expect(scan.queries, zone.domain).toBeLessThanOrEqual(4000);
  });
});

describe('the count of what was found', () => {
  it('sees a record that is missing, one that a wildcard made, one from below a cut, and one from nowhere', () => {
    const zone = corpus.find(
      ({ kind, records }) => kind === 'wildcards' && records.some(isWildcardA),
    ) as CorpusZone;
    const made = zone.records.find(isWildcardA) as CorpusZone['records'][number];
    const keys = zone.records.map(exactKey).sort();
    const all = new ScanTally();
    all.add(
      zone,
      new Set([
        ...keys,
        exactKey({ ...made, owner: `\x05ghost${made.owner.slice(2)}` as Name }),
        'x. A 192.0.2.1',
      ]),
    );
    expect(all.foreign.map(({ why }) => why).sort()).toEqual(['a wildcard made it', 'no server said it']);
    expect(all.recall).toBe(1);
    const few = new ScanTally();
    few.add(zone, new Set(keys.filter((key) => !key.includes(' TXT '))));
    expect(few.recall).toBeLessThan(1);
    expect(new Set(few.missed.map(({ record }) => exactKey(record).split(' ')[1]))).toEqual(new Set(['TXT']));

    const above = corpus.find(({ children }) => children.length > 0) as CorpusZone;
    const below = new ScanTally();
    const child = above.children[0]?.zone as CorpusZone['zone'];
    const www = [...child.nodes.values()].find(({ name }) => name.startsWith('\x03www'))?.sets.get(1);
    below.add(
      above,
      new Set([exactKey({ owner: www?.owner as Name, type: 1, ttl: 0, rdata: www?.rdata[0] as Uint8Array })]),
    );
    expect(below.foreign.map(({ why }) => why)).toEqual(['it belongs to a zone below']);
  });
});

function isWildcardA({ sort, type }: CorpusZone['records'][number]): boolean {
  return sort === 'wildcard' && type === 1;
}
