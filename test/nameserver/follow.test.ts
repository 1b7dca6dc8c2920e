import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { beforeAll, describe, expect, it, test } from 'vitest';
import { decodeMessage } from '../../src/dns/message/message.ts';
import { type Name, parseName } from '../../src/dns/name.ts';
import { TYPE } from '../../src/dns/type-codes.ts';
import { Answerer } from '../../src/nameserver/answer/answer-query.ts';
import { QueryCounters } from '../../src/nameserver/answer/query-counters.ts';
import { AskedZones } from '../../src/nameserver/follow/asked-zones.ts';
import { fillCountryTable } from '../../src/nameserver/follow/fill-country-table.ts';
import { findRejection } from '../../src/nameserver/follow/follow-state.ts';
import { FollowedEdgeSets } from '../../src/nameserver/follow/followed-edge-sets.ts';
import { FollowedZones } from '../../src/nameserver/follow/followed-zones.ts';
import { RemovalHold } from '../../src/nameserver/follow/hold-removals.ts';
import { ZoneIds } from '../../src/nameserver/follow/zone-ids.ts';
import { ZoneWatch } from '../../src/nameserver/follow/zone-watch.ts';
import { findImageFault } from '../../src/nameserver/image/check/check-image.ts';
import {
  COUNTRY_TABLE_BYTES,
  CountryTable,
  countryNumber,
} from '../../src/nameserver/image/find/country-table.ts';
import { createImage, Image, ReaderSlot } from '../../src/nameserver/image/image.ts';
import { ImageWriter } from '../../src/nameserver/image/write-image.ts';
import { openCountryDb } from '../../src/process/country-db.ts';
import type { Connection } from '../../src/store/postgres/connection.ts';
import type { CountryOf } from '../../src/zone/records/country.ts';
import { queryFor } from '../support/answer/queries.ts';
import { ask } from '../support/answer/test-node.ts';
import { smallZone } from '../support/processes/follow.ts';
import { randomFrom } from '../support/random/random-zones.ts';

const ids = (from: number, count: number) => Array.from({ length: count }, (_, i) => from + i);

describe('the edge sets of regions', () => {
  const SETS = '{"version":1,"regions":[],"countries":{}}';
  const follow = async (directory: string) => {
    const failures: unknown[] = [];
    const edgeSets = new FollowedEdgeSets({
      writer: new ImageWriter(new Image(createImage(1 << 20, 1))),
      log: { debug() {}, info() {}, warn() {}, error() {} },
      directory,
      onUnwritten: (error) => failures.push(error),
      countries: undefined,
      countryDb: undefined,
    });
    await edgeSets.follow({ query: async () => [[SETS]] } as unknown as Connection);
    return failures;
  };

  it("are stored in a file that only the node's user can read", async () => {
    const parent = mkdtempSync(join(tmpdir(), 'zf-sets-'));
    const directory = join(parent, 'a');
    expect(await follow(directory)).toEqual([]);
    const file = join(directory, 'edge-sets.json');
    expect([readFileSync(file, 'utf8'), statSync(file).mode & 0o777]).toEqual([SETS, 0o600]);
    expect(statSync(directory).mode & 0o777).toBe(0o700);
    rmSync(parent, { recursive: true });
  });

  it('report a file that cannot be written', async () => {
    expect(await follow('/dev/null/a')).toEqual([expect.objectContaining({ code: 'ENOTDIR' })]);
  });
});

it('a start fails only after Postgres has rejected the password for half a minute', () => {
  const state = { rejectedSinceMs: 5, fault: 'password authentication failed' };
  expect(findRejection(state, 5 + 29_999)).toBeUndefined();
  expect(findRejection(state, 5 + 30_000)).toBe('password authentication failed');
  expect(findRejection({ ...state, rejectedSinceMs: undefined }, 100_000)).toBeUndefined();
  expect(findRejection(undefined, 100_000)).toBeUndefined();
});

describe('a node', () => {
  it('reports a zone once, and again after half a minute if it receives further queries', () => {
    const asked = new AskedZones();
    asked.note([1], 0);
    asked.note([1], 1);
    expect(asked.hasNext(1)).toBe(true);
    expect(asked.take(1)).toEqual([1]);
    expect([asked.hasNext(2), asked.take(2)]).toEqual([false, []]);
    asked.note([1], 10_000);
    expect([asked.hasNext(10_000), asked.take(10_000)]).toEqual([false, []]);
    // A client whose resolver caches the answer does not query again, so the report waits.
    expect(asked.take(30_001)).toEqual([1]);
    expect([asked.reported, asked.dropped]).toEqual([2, 0]);
  });

  it('reports at most one hundred zones per ten seconds, and the others later', () => {
    const asked = new AskedZones();
    asked.note(ids(1, 250), 0);
    const first = asked.take(0);
    expect(first.length).toBe(100);
    for (let now = 250; now < 10_000; now += 250) {
      expect(asked.hasNext(now)).toBe(false);
      expect(asked.take(now)).toEqual([]);
    }
    const second = asked.take(10_000);
    const third = asked.take(20_000);
    expect(new Set([...first, ...second, ...third]).size).toBe(250);
  });

  it('reports a zone without recent reports before those with constant queries', () => {
    const asked = new AskedZones(randomFrom(1));
    for (let now = 0; now < 240_000; now += 1000) {
      asked.note(ids(1, 1500), now);
      const taken = asked.take(now);
      // At any time, because repeated reports never use a whole window.
      if (now < 200_000) continue;
      expect(taken.length).toBeLessThanOrEqual(50);
      asked.note([9000 + now], now);
      expect(asked.take(now)).toEqual([9000 + now]);
    }
  });

  it('eventually reports every zone, even if there are more new zones than it may report', () => {
    let reported = 0;
    for (let seed = 1; seed <= 50; seed++) {
      const asked = new AskedZones(randomFrom(seed));
      // The attacker's zones are always first.
      asked.note(ids(1, 400), 0);
      asked.note([9999], 1);
      if (asked.take(1).includes(9999)) reported++;
    }
    expect(reported).toBeGreaterThan(3);
    expect(reported).toBeLessThan(30);
  });

  it('drops reports that failed for a minute, and counts them', () => {
    const asked = new AskedZones();
    asked.note([1, 2], 0);
    expect(asked.take(60_000)).toEqual([]);
    expect([asked.reported, asked.dropped]).toEqual([0, 2]);
  });

  it('keeps at most two thousand waiting zones, for any clients', () => {
    const asked = new AskedZones();
    for (let at = 0; at < 20; at++) asked.note(ids(1 + 1000 * at, 1000), at);
    expect(asked.dropped).toBe(18_000);
    expect(asked.take(100).every((id) => id > 18_000)).toBe(true);
  });

  it('reports zones again if the store had no space, and counts lost reports', () => {
    const asked = new AskedZones();
    asked.note([1, 2], 0);
    expect(asked.take(0).length).toBe(2);
    asked.putBack([2], 1);
    expect([asked.reported, asked.take(2)]).toEqual([1, [2]]);
    asked.lose(1);
    expect([asked.reported, asked.dropped]).toEqual([1, 1]);
  });
});

const table = new CountryTable(new SharedArrayBuffer(COUNTRY_TABLE_BYTES));
let countryOf: CountryOf;

beforeAll(async () => {
  countryOf = (await openCountryDb('shipped')) as CountryOf;
  expect(table.isReady).toBe(false);
  expect(fillCountryTable(table)).toBe(true);
  expect(table.isReady).toBe(true);
});

const random = randomFrom(1);
const randomWord = () => Math.floor((random() - 0.5) * 2 ** 32);
const numberOf = (address: string) => countryNumber(countryOf(address) ?? '');

it('returns the country in the database for any IPv4 address', () => {
  const wrong = [0, -1, ...Array.from({ length: 1000 }, randomWord)].filter((address) => {
    table.find4(address);
    return table.country !== numberOf([24, 16, 8, 0].map((shift) => (address >>> shift) & 255).join('.'));
  });
  expect(wrong).toEqual([]);
});

it('returns the country in the database for any IPv6 address in use', () => {
  const wrong = Array.from({ length: 1000 }, () => {
    const [high, low] = [0x20000000 | (randomWord() >>> 3), randomWord()];
    const groups = [high >>> 16, high & 0xffff, low >>> 16, low & 0xffff];
    table.find6(high, low);
    const address = `${groups.map((group) => group.toString(16)).join(':')}::`;
    return table.country === numberOf(address) ? undefined : address;
  });
  expect(wrong.filter((address) => address !== undefined)).toEqual([]);
});

it('returns a prefix in which all addresses have the same country', () => {
  for (let i = 0; i < 1000; i++) {
    const address = randomWord();
    table.find4(address);
    const { country, bits } = table;
    const mask = bits === 0 ? 0 : -1 << (32 - bits);
    for (const end of [address & mask, address | ~mask]) {
      table.find4(end);
      if (table.country !== country || table.bits !== bits) expect.unreachable(`${address}`);
    }
  }
});

const FILLER = Array.from({ length: 28 }, (_, i) => `n${i} 300 IN TXT "${'x'.repeat(100)}"`).join('\n');

function fullNode() {
  const image = new Image(createImage(128 << 10, 7));
  const writer = new ImageWriter(image);
  const followed = new FollowedZones(writer);
  const apply = (id: number, apex: string, extra = '') => {
    const { apex: name, records } = smallZone(apex, id, extra);
    const zone = { id, apex: name, version: id, mark: 0, deleted: false, partial: false, records, gone: [] };
    return followed.apply(zone).kind;
  };
  for (let id = 1; id < 50; id++) apply(id, `z${id}.example.`, FILLER);
  const counters = new QueryCounters();
  const settings = {
    nodeName: 'n',
    version: 'v',
    cookieSecrets: [new Uint8Array(16)],
    rateLimit: undefined,
    amplificationLimit: undefined,
    tcpIdleTimeoutMs: 1,
  };
  const failures: unknown[] = [];
  const answerer = new Answerer(image, settings, counters, (error) => failures.push(error));
  const node = { image, settings, answerer, reader: new ReaderSlot(image, 0), counters, failures };
  const rcodeOf = (name: string, type: number = TYPE.A) => {
    const answer = decodeMessage(ask(queryFor({ name: parseName(name), type, udpPayloadSize: 1232 }), node));
    const error = answer.edns?.options.find(({ code }) => code === 15)?.value;
    expect(failures).toEqual([]);
    return [answer.rcode, error === undefined ? undefined : Buffer.from(error).readUInt16BE()];
  };
  return { image, writer, followed, apply, rcodeOf };
}

const [NOERROR, SERVFAIL, REFUSED] = [0, 2, 5];
const [NOT_READY, NOT_AUTHORITATIVE] = [14, 20];

describe('a zone that does not fit into the image', () => {
  it('is answered SERVFAIL with "not ready" for every name and type; other zones are answered as before', () => {
    const { followed, rcodeOf, writer } = fullNode();
    expect(followed.withoutRoom).toBeGreaterThan(15);
    expect(writer.zones + followed.withoutRoom).toBe(49);
    expect(rcodeOf('www.z1.example.')).toEqual([NOERROR, undefined]);
    for (const type of [TYPE.A, TYPE.SOA, TYPE.NS, TYPE.DS, TYPE.ANY]) {
      expect(rcodeOf('z49.example.', type)).toEqual([SERVFAIL, NOT_READY]);
      expect(rcodeOf('a.b.z49.example.', type)).toEqual([SERVFAIL, NOT_READY]);
    }
    expect(rcodeOf('z50.example.')).toEqual([REFUSED, NOT_AUTHORITATIVE]);
    expect(rcodeOf('example.')).toEqual([REFUSED, NOT_AUTHORITATIVE]);
  });

  it("is answered once it fits, and is no longer the fleet's after its removal", () => {
    const { followed, apply, rcodeOf, writer } = fullNode();
    followed.remove([parseName('z1.example.')]);
    expect(apply(49, 'z49.example.')).toBe('served');
    expect(rcodeOf('www.z49.example.')).toEqual([NOERROR, undefined]);
    followed.markGone(parseName('z48.example.'));
    expect(rcodeOf('www.z48.example.')).toEqual([REFUSED, NOT_AUTHORITATIVE]);
    for (let id = 1; id < 50; id++) followed.remove([parseName(`z${id}.example.`)]);
    expect([writer.zones, writer.records, followed.withoutRoom]).toEqual([0, 0, 0]);
    expect([...writer.notServed()]).toEqual([]);
  });

  it('keeps its older version if there is one', () => {
    const { apply, rcodeOf } = fullNode();
    expect(apply(1, 'z1.example.', `${FILLER.repeat(1).replaceAll('n', 'm')}\n${FILLER}`)).toBe('full');
    expect(rcodeOf('www.z1.example.')).toEqual([NOERROR, undefined]);
  });

  it('is the same after a restart from the snapshot', () => {
    const { image, writer, followed } = fullNode();
    const buffer = new SharedArrayBuffer(image.buffer.byteLength);
    new Uint8Array(buffer).set(new Uint8Array(image.buffer));
    const free = writer.exportFree();
    const again = new Image(buffer);
    expect(findImageFault(again, free)).toBeUndefined();
    const adopted = new FollowedZones(new ImageWriter(again, free));
    adopted.adopt();
    expect([adopted.withoutRoom, adopted.zones]).toEqual([followed.withoutRoom, followed.zones]);
    expect(adopted.apexOf(49)).toBe(parseName('z49.example.'));
    adopted.markGone(parseName('z49.example.'));
    expect(adopted.withoutRoom).toBe(followed.withoutRoom - 1);
  });

  it('prevents the child from denying DS queries if a zone above it delegates', () => {
    const { apply, rcodeOf, followed } = fullNode();
    followed.remove([parseName('z1.example.')]);
    expect(apply(100, 'sub.z49.example.')).toBe('served');
    expect(rcodeOf('sub.z49.example.', TYPE.DS)).toEqual([SERVFAIL, NOT_READY]);
    expect(rcodeOf('www.sub.z49.example.')).toEqual([NOERROR, undefined]);
  });
});

const apexes = (from: number, to: number): Name[] =>
  Array.from({ length: to - from }, (_, i) => parseName(`z${from + i}.example.`));

function holdAt() {
  const clock = { ms: 1_000_000 };
  return { clock, hold: new RemovalHold(() => clock.ms) };
}

describe('removals', () => {
  test.each([
    [99, 99, false],
    [100, 199, true],
    [100, 200, false],
    [101, 200, true],
    [5000, 10_000, false],
    [5001, 10_000, true],
  ])('%i of %i in one step are held: %s', (removed, served, held) => {
    const { hold } = holdAt();
    expect(hold.admit(apexes(0, removed), served)).toHaveLength(held ? 0 : removed);
    expect(hold.state()?.zones).toBe(held ? removed : undefined);
  });

  test('within 60 s, many small removals count as one large one; earlier ones remain in effect', () => {
    const { hold, clock } = holdAt();
    let served = 300;
    for (let i = 0; i < 15; i++) {
      served -= hold.admit(apexes(i * 10, i * 10 + 10), served).length;
      clock.ms += 3999;
    }
    expect(served).toBe(150);
    expect(hold.admit(apexes(150, 151), served)).toEqual([]);
    expect(hold.state()?.zones).toBe(1);
  });

  test('over a longer time they do not count together', () => {
    const { hold, clock } = holdAt();
    let served = 300;
    for (let i = 0; i < 28; i++) {
      served -= hold.admit(apexes(i * 10, i * 10 + 10), served).length;
      clock.ms += 10_000;
    }
    expect(served).toBe(20);
  });

  test('zones that reappear do not count, however often they are removed', () => {
    const { hold } = holdAt();
    for (let round = 0; round < 20; round++) {
      expect(hold.admit(apexes(0, 60), 150)).toHaveLength(60);
      for (const apex of apexes(0, 60)) hold.dissolve(apex);
    }
  });

  test('during a hold, every further removal is held, once each', () => {
    const { hold } = holdAt();
    hold.admit(apexes(0, 120), 150);
    expect(hold.admit(apexes(100, 121), 150)).toEqual([]);
    expect(hold.state()?.zones).toBe(121);
  });

  test('only the confirmed hold is released, and no longer counts', () => {
    const { hold } = holdAt();
    hold.admit(apexes(0, 120), 150);
    const id = hold.state()?.id as string;
    expect(hold.confirm(null)).toEqual([]);
    expect(hold.confirm('another')).toEqual([]);
    hold.dissolve(parseName('z3.example.'));
    expect(hold.confirm(id)).toHaveLength(119);
    expect(hold.state()).toBeUndefined();
    expect(hold.admit(apexes(120, 125), 31)).toHaveLength(5);
    hold.admit(apexes(0, 120), 150);
    expect(hold.state()?.id).not.toBe(id);
  });

  test('the hold ends if its last zone reappears', () => {
    const { hold } = holdAt();
    hold.admit(apexes(0, 120), 150);
    for (const apex of apexes(0, 120)) hold.dissolve(apex);
    expect(hold.state()).toBeUndefined();
    expect(hold.admit(apexes(0, 5), 150)).toHaveLength(5);
  });
});

const id = fc.oneof(fc.integer({ min: 1, max: 60 }), fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }));
const step = fc.record({ id, ref: fc.integer({ min: 1, max: 2 ** 31 - 1 }), gone: fc.boolean() });

test('the table equals a Map after any sequence of changes', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 3000 }), (steps) => {
      const ids = new ZoneIds();
      const map = new Map<number, number>();
      for (const { id, ref, gone } of steps) {
        if (gone) {
          ids.delete(id);
          map.delete(id);
        } else {
          ids.set(id, ref);
          map.set(id, ref);
        }
        expect(ids.get(id)).toBe(map.get(id) ?? 0);
      }
      expect(ids.size).toBe(map.size);
      expect(new Set(ids.ids())).toEqual(new Set(map.keys()));
      for (const [id, ref] of map) expect(ids.get(id)).toBe(ref);
    }),
    { numRuns: 60 },
  );
});

test('a hundred thousand sequential ids are found, and are absent after all were removed', () => {
  const ids = new ZoneIds();
  for (let id = 1; id <= 100_000; id++) ids.set(id, id * 3);
  for (let id = 2; id <= 100_000; id += 2) ids.delete(id);
  expect(ids.size).toBe(50_000);
  for (let id = 1; id <= 100_000; id++)
    if (ids.get(id) !== (id % 2 === 1 ? id * 3 : 0)) throw new Error(`${id}`);
  ids.clear();
  expect([ids.size, ids.get(1)]).toEqual([0, 0]);
});

describe('the zones reported to the transfer thread', () => {
  const zoneAt = (id: number) => ({ id, apex: parseName(`z${id}.example.`) });
  const nextTurn = () => new Promise((done) => setImmediate(done));

  test('are those that changed before it asked, each once, in batches, and later ones while it needs them', async () => {
    const batches: number[][] = [];
    const watch = new ZoneWatch((zones) => batches.push(zones.map(({ id }) => id)));
    for (const id of [...ids(0, 1500), ...ids(0, 10)]) watch.add(zoneAt(id));
    await nextTurn();
    expect(batches).toEqual([]);
    watch.watch(true);
    await nextTurn();
    expect(batches).toEqual([ids(0, 1000), ids(1000, 500)]);
    for (const id of [7, 8]) watch.add(zoneAt(id));
    await nextTurn();
    expect(batches.slice(2)).toEqual([[7, 8]]);
    watch.watch(false);
    watch.add(zoneAt(9));
    watch.watch(true);
    await nextTurn();
    expect(batches.length).toBe(3);
  });

  test('are at most 100,000 before it asks', async () => {
    let reported = 0;
    const watch = new ZoneWatch((zones) => {
      reported += zones.length;
    });
    for (const id of ids(0, 100_001)) watch.add({ id, apex: String(id) as Name });
    watch.watch(true);
    await nextTurn();
    expect(reported).toBe(100_000);
  });
});
