// The signing thread gives the same results as the main thread, and an error ends only its own job.

import type { ResourceLimits } from 'node:worker_threads';
import { describe, expect, it } from 'vitest';
import { type Name, parseName } from '../../../src/dns/name.ts';
import type { SigningJob } from '../../../src/store/keys/signing-job.ts';
import { type JobRecords, SigningLane } from '../../../src/store/keys/signing-lane.ts';
import { planChange } from '../../../src/zone/signing/plan-change.ts';
import type { OwnerRows } from '../../../src/zone/signing/plan-rows.ts';
import type { Needed } from '../../../src/zone/signing/plan-signing.ts';
import { signSet } from '../../../src/zone/signing/sign-set.ts';
import type { DenialKind } from '../../../src/zone/signing/signed-types.ts';
import { SIGNING_ALGORITHM } from '../../../src/zone/signing/signing-key.ts';
import { recordsByOwner } from '../../../src/zone/signing/standing.ts';
import type { ZoneRecord } from '../../../src/zone/zone.ts';
import { dnskeyRecords, testKey } from '../../support/dnssec/zone-keys.ts';
import { recordsOf } from '../../support/zone/zone-text.ts';

const APEX = parseName('zone.example.');
const NOW = 1_800_000_000;
const TIMES = { inception: NOW - 10_000, expiration: NOW + 1_000_000 };
const LIMITS: ResourceLimits = { maxOldGenerationSizeMb: 256 };
/** Ed25519 signatures are deterministic (RFC 8032). */
const CSK = testKey(SIGNING_ALGORITHM.ED25519);
const KEYS = { entry: [CSK], data: [CSK] };

const lane = new SigningLane({ waiting: 1, limits: LIMITS });

function zone(names: number): ZoneRecord[] {
  const lines = Array.from(
    { length: names },
    (_, i) => `${i % 5 === 0 ? `n${i}.ent` : `n${i}`} 300 A 192.0.2.1`,
  );
  const apex = ['@ 3600 SOA ns h 1 2 3 4 900', '@ 3600 NS ns', 'cut 300 NS ns.cut', 'ns.cut 300 A 192.0.2.2'];
  return [...recordsOf([...apex, ...lines].join('\n'), 'zone.example.'), ...dnskeyRecords(APEX, [CSK])];
}

function jobOf(denial: DenialKind, { isWhole = true, gone = [] as Name[] } = {}): SigningJob {
  const work = { kind: 'change', isWhole, gone, missing: undefined } as const;
  return { apex: APEX, denial, keys: KEYS, remakeBefore: NOW, times: TIMES, work };
}

function inPlace(
  denial: DenialKind,
  wanted: Map<Name, ZoneRecord[]>,
  standing: readonly ZoneRecord[],
  whole: boolean,
) {
  const planning = planChange({ apex: APEX, denial, keys: KEYS, remakeBefore: NOW, wanted, whole });
  let step = planning.next();
  while (!step.done) step = planning.next(standing);
  const { toSign, rows } = step.value;
  return rows(toSign.map((one) => signSet(one, { zone: APEX, times: TIMES })));
}

async function taken(pieces: AsyncIterable<OwnerRows[]>): Promise<OwnerRows[]> {
  const all: OwnerRows[] = [];
  for await (const piece of pieces) all.push(...piece);
  return all;
}

const records = (given: readonly ZoneRecord[], standing: readonly ZoneRecord[] = []): JobRecords => ({
  given: [given],
  async *read() {
    yield standing;
  },
});

const bytes = (rows: readonly OwnerRows[]) =>
  rows.map(({ owner, types, records: all }) => ({
    owner,
    types,
    records: all.map(({ type, ttl, rdata }) => `${type} ${ttl} ${Buffer.from(rdata).toString('hex')}`),
  }));

describe.each(['nsec', 'nsec3'] as const)('with %s', (denial) => {
  it('gives the same result in pieces as a plan in the main thread', async () => {
    const given = zone(1200);
    const pieces: OwnerRows[][] = [];
    for await (const piece of lane.run(jobOf(denial), records(given))) pieces.push(piece);
    expect(pieces.length).toBeGreaterThan(5);
    expect(bytes(pieces.flat())).toEqual(bytes(inPlace(denial, recordsByOwner(given), [], true)));
  });

  it('requests what it needs, and repairs a broken chain', async () => {
    const given = zone(30);
    const signed = inPlace(denial, recordsByOwner(given), [], true);
    const denials = signed.filter(({ records: all }) => all.some(({ type }) => type === 47 || type === 50));
    const lost = denials.at(-4)?.owner; // neither the first nor the last
    const standing = signed.flatMap(({ owner, records: all }) =>
      all.filter(({ type }) => owner !== lost || ![46, 47, 50].includes(type)),
    );
    const wanted = recordsByOwner(given.filter(({ owner }) => owner === APEX));
    const gone = [...new Set(given.map(({ owner }) => owner))].filter((owner) => owner !== APEX).slice(0, 12);
    for (const name of gone) wanted.set(name, []);
    const asked: Needed[] = [];
    const from: JobRecords = {
      given: [given.filter(({ owner }) => owner === APEX)],
      async *read(needed) {
        asked.push(needed);
        yield standing;
      },
    };
    const told = await taken(lane.run(jobOf(denial, { isWhole: false, gone }), from));
    expect(bytes(told)).toEqual(bytes(inPlace(denial, wanted, standing, false)));
    expect(asked[0]?.owners).toContain(gone[0]);
  });
});

it('runs jobs one after the other, and rejects one too many', async () => {
  const jobs = [300, 20].map((names) => taken(lane.run(jobOf('nsec'), records(zone(names)))));
  await expect(taken(lane.run(jobOf('nsec'), records(zone(1))))).rejects.toThrow('too many large zones wait');
  const [first, second] = await Promise.all(jobs);
  expect(first).toHaveLength(303); // with the apex, the zone cut and the names below it
  expect(second).toHaveLength(23);
});

it('reports errors of the thread, and runs the next job', async () => {
  const bare = zone(3).filter(({ type }) => type !== 6);
  await expect(taken(lane.run(jobOf('nsec'), records(bare)))).rejects.toThrow(
    'the signing thread failed: the apex and its SOA are required',
  );
  expect(await taken(lane.run(jobOf('nsec'), records(zone(3))))).toHaveLength(6);
});

it('rethrows errors of reading unchanged', async () => {
  const from: JobRecords = {
    given: [zone(3)],
    // biome-ignore lint/correctness/useYield: nothing can be read
    async *read() {
      throw new Error('the connection is gone');
    },
  };
  await expect(taken(lane.run(jobOf('nsec', { isWhole: false }), from))).rejects.toThrow(
    'the connection is gone',
  );
  expect(await taken(lane.run(jobOf('nsec'), records(zone(3))))).toHaveLength(6);
});

it('a zone that needs too much memory ends the thread, and the next job gets another one', async () => {
  const small = new SigningLane({
    waiting: 1,
    limits: { maxOldGenerationSizeMb: 40, maxYoungGenerationSizeMb: 4 },
  });
  const part = zone(1000);
  const parts = function* () {
    for (;;) yield part;
  };
  const endless: JobRecords = { ...records([]), given: parts() };
  await expect(taken(small.run(jobOf('nsec'), endless))).rejects.toThrow(
    'the zone is too large: signing it takes more than 40 MiB of memory',
  );
  expect(await taken(small.run(jobOf('nsec'), records(zone(3))))).toHaveLength(6);
});

it('an abort ends the job with its reason at any point', async () => {
  const stopping = new AbortController();
  const never: JobRecords = {
    given: [zone(3)],
    async *read() {
      stopping.abort(new Error('the process stops'));
      yield [];
    },
  };
  const running = taken(lane.run(jobOf('nsec', { isWhole: false }), never, stopping.signal));
  await expect(running).rejects.toThrow('the process stops');
  await expect(taken(lane.run(jobOf('nsec'), records(zone(3)), stopping.signal))).rejects.toThrow(
    'the process stops',
  );
  expect(await taken(lane.run(jobOf('nsec'), records(zone(3))))).toHaveLength(6);
});

it('a consumer that stops early leaves the lane to other jobs', async () => {
  for await (const piece of lane.run(jobOf('nsec'), records(zone(1200)))) {
    expect(piece.length).toBeGreaterThan(0);
    break;
  }
  expect(await taken(lane.run(jobOf('nsec'), records(zone(3))))).toHaveLength(6);
});
