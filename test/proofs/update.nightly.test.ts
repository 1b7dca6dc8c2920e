// Random updates of the same zone by the pure functions and by BIND (RFC 2136 §2.4, §2.5): the same rcode, and the same
// zone afterwards, except for the listed differences.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { decodeMessage } from '../../src/dns/message/message.ts';
import { RCODE, rcodeMnemonic } from '../../src/dns/message/rcodes.ts';
import { readUpdate, type Update, type UpdateRecord } from '../../src/dns/message/update.ts';
import { foldCase, isWildcard, isWithin, parseName } from '../../src/dns/name.ts';
import { CLASS, TYPE } from '../../src/dns/type-codes.ts';
import { judgePrerequisites } from '../../src/zone/update/judge-prerequisites.ts';
import { namesOfZoneEdit, planZoneEdit } from '../../src/zone/update/plan-zone-edit.ts';
import { prescan } from '../../src/zone/update/prescan.ts';
import { runUpdate } from '../../src/zone/update/run-update.ts';
import { recordKey } from '../../src/zone/update/sets-by-name.ts';
import { operatorZone } from '../../src/zone/update/updated-zone.ts';
import type { ZoneRecord } from '../../src/zone/zone.ts';
import { encodeUpdate, updateOf } from '../support/answer/update-text.ts';
import { startDaemon } from '../support/peers/daemon.ts';
import { askTcp, isInstalled } from '../support/peers/peers.ts';
import { freePort } from '../support/processes/free-port.ts';
import { distorted, linesOfZone, randomUpdate, UPDATED_ZONE } from '../support/random/random-updates.ts';
import { randomFrom } from '../support/random/random-zones.ts';
import { scale } from '../support/tests/scale.ts';

const needs = isInstalled('named') ? '' : ' (skipped: needs named)';
const APEX = parseName('example.com.');
const ALL = [{ match: 'subtree', owner: APEX, types: null, editsOrigin: false }] as const;
const WKS = 11;

interface Outcome {
  readonly rcode: number;
  readonly records: readonly ZoneRecord[];
}

interface Case extends Update {
  readonly before: readonly ZoneRecord[];
  readonly ours: Outcome;
  readonly bind: Outcome;
}

const isOfClass =
  (...classes: number[]) =>
  (record: UpdateRecord) =>
    classes.includes(record.class);

/** The reasons why BIND may have another rcode or zone. */
const DIFFERENCES: Readonly<Record<string, (of: Case) => boolean>> = {
  'BIND checks the form of all records before anything else': ({ prerequisites, updates, bind }) => {
    const alone = (record: UpdateRecord) => [{ ...record, owner: APEX }];
    const faults = [
      ...prerequisites.map((one) => judgePrerequisites(APEX, alone(one), new Map())),
      ...updates.map((one) => prescan(APEX, alone(one))),
    ];
    return bind.rcode === RCODE.FORMERR && faults.some((fault) => fault?.rcode === RCODE.FORMERR);
  },
  'BIND checks the update section before the prerequisites, unlike RFC 2136 §3': ({ updates, ours, bind }) =>
    ours.rcode !== RCODE.NOERROR && bind.rcode === prescan(APEX, updates)?.rcode,
  'BIND compares a prerequisite set with its duplicates': ({ prerequisites, bind }) => {
    const tested = prerequisites.filter(isOfClass(CLASS.IN));
    const keys = tested.map(({ owner, type, rdata }) => `${type} ${owner}${recordKey(type, rdata)}`);
    return bind.rcode === RCODE.NXRRSET && new Set(keys).size < keys.length;
  },
  'WKS rdata is opaque to Zonefleet, as of any other type without a text form': ({
    prerequisites,
    updates,
    bind,
  }) =>
    bind.rcode === RCODE.FORMERR &&
    [...prerequisites, ...updates].some(({ type, rdata }) => type === WKS && rdata.length === 0),
  'BIND ignores NS and DNAME at a wildcard, which RFC 4592 §4.2 and RFC 6672 §3.3 discourage': ({
    updates,
    bind,
  }) =>
    bind.rcode === RCODE.NOERROR &&
    updates.some(({ owner, type }) => (type === TYPE.DNAME || type === TYPE.NS) && isWildcard(owner)),
  'Zonefleet refuses zones that it does not load: names below a DNAME, DNAME and NS': ({
    ours,
    bind,
    before,
  }) => {
    const isBroken = (records: readonly ZoneRecord[]) =>
      records.some(
        ({ owner, type }) =>
          type === TYPE.DNAME &&
          records.some(
            (other) =>
              (isWithin(other.owner, owner) && other.owner !== owner) ||
              (other.owner === owner && owner !== APEX && other.type === TYPE.NS),
          ),
      );
    return ours.rcode === RCODE.REFUSED && !isBroken(before) && isBroken(bind.records);
  },
};

function carriedOut(update: Update, before: readonly ZoneRecord[]): Outcome {
  const result = runUpdate(operatorZone(APEX, before), update, ALL);
  if (result.kind === 'refused') return { rcode: result.rcode, records: before };
  const { below } = namesOfZoneEdit(APEX, result.sets);
  const isTouched = (record: ZoneRecord) => result.sets.some(({ owner }) => owner === record.owner);
  const others = before.filter((record) => !isTouched(record));
  const parents = new Set(below.filter((name) => others.some(({ owner }) => isWithin(owner, name))));
  const plan = planZoneEdit({ apex: APEX, records: before, parents, isSignedHere: false }, result.sets);
  if (plan.kind === 'refused') return { rcode: plan.rcode, records: before };
  const edited = new Set(plan.owners.map(({ owner }) => owner));
  const kept = before.filter(({ owner }) => !edited.has(owner));
  return { rcode: RCODE.NOERROR, records: [...kept, ...plan.owners.flatMap(({ all }) => all)] };
}

describe.skipIf(needs !== '')(`random updates by BIND and by Zonefleet${needs}`, () => {
  let port: number;
  let bind: Awaited<ReturnType<typeof startDaemon>>;

  beforeAll(async () => {
    port = await freePort();
    bind = await startDaemon({
      program: 'named',
      files: (directory) => ({
        'example.zone': `$ORIGIN example.com.\n${UPDATED_ZONE}\n`,
        'named.conf': `
options {
  directory "${directory}"; pid-file none; session-keyfile "${directory}/session.key"; lock-file none;
  listen-on port ${port} { 127.0.0.1; }; listen-on-v6 { none; }; recursion no; dnssec-validation no;
  notify no; empty-zones-enable no; allow-transfer { any; }; check-names master ignore; check-integrity no;
};
controls { };
zone "example.com" { type master; file "example.zone"; allow-update { any; }; serial-update-method increment; };`,
      }),
      args: (directory) => ['-f', '-n', '1', '-c', `${directory}/named.conf`],
      isReady: async () => (await transferred().catch(() => [])).length > 0,
    });
  });
  afterAll(() => bind.stop());

  async function transferred(): Promise<ZoneRecord[]> {
    const query = Buffer.from(encodeUpdate(APEX, { prerequisites: [], updates: [] }));
    query.writeUInt16BE(0, 2); // opcode QUERY
    query.writeUInt16BE(TYPE.AXFR, 12 + APEX.length);
    const { answers } = decodeMessage(await askTcp(port, query));
    // The last record is the SOA again.
    return answers.slice(0, -1).map((record) => ({ ...record, owner: foldCase(record.owner) }));
  }

  /** Makes BIND's zone as it was, except for the SOA: Zonefleet never serves a zone like BIND's. */
  async function restored(before: readonly ZoneRecord[], now: readonly ZoneRecord[]): Promise<ZoneRecord[]> {
    const keyOf = ({ owner, type, ttl, rdata }: ZoneRecord) => `${owner} ${type} ${ttl} ${rdata.join()}`;
    const without = (records: readonly ZoneRecord[], others: readonly ZoneRecord[]) =>
      records.filter((one) => one.type !== TYPE.SOA && !others.some((other) => keyOf(one) === keyOf(other)));
    const added = without(before, now).map((record) => ({ ...record, class: CLASS.IN }));
    const removed = without(now, before).map((record) => ({ ...record, class: CLASS.NONE, ttl: 0 }));
    // The apex must have NS records at any time.
    const updates = [...added.filter(({ owner }) => owner === APEX), ...removed, ...added];
    await askTcp(port, encodeUpdate(APEX, { prerequisites: [], updates }));
    return await transferred();
  }

  it('have the same rcode and lead to the same zone', async () => {
    const random = randomFrom(2136);
    const seen = new Map<string, number>();
    let before = await transferred();
    for (let i = scale(20_000, 1500); i > 0; i--) {
      const text = randomUpdate(random, before);
      const { prerequisites, updates } = updateOf(APEX, text);
      const octets = encodeUpdate(APEX, {
        prerequisites: random() < 0.1 ? distorted(random, prerequisites) : prerequisites,
        updates: random() < 0.1 ? distorted(random, updates) : updates,
      });
      const read = readUpdate(octets);
      const ours =
        read.kind === 'refused' ? { rcode: read.rcode, records: before } : carriedOut(read, before);
      const { rcode } = decodeMessage(await askTcp(port, octets));
      const bindsOutcome = { rcode, records: await transferred() };
      const [left, right] = [ours, bindsOutcome].map((outcome) =>
        [rcodeMnemonic(outcome.rcode), ...linesOfZone(outcome.records)].join('\n'),
      );
      if (left !== right) {
        const of = { ...(read as Update), before, ours, bind: bindsOutcome };
        const explains = read.kind === 'refused' ? [] : Object.entries(DIFFERENCES);
        const reason = explains.find(([, applies]) => applies(of))?.[0];
        if (reason === undefined) expect(left, `${text}\n${Buffer.from(octets).toString('hex')}`).toBe(right);
        seen.set(reason ?? '', (seen.get(reason ?? '') ?? 0) + 1);
      }
      const isBroken = ours.rcode === RCODE.REFUSED && rcode === RCODE.NOERROR;
      before = isBroken ? await restored(before, bindsOutcome.records) : bindsOutcome.records;
    }
    expect([...seen.keys()].sort()).toEqual(Object.keys(DIFFERENCES).sort());
  });
});
