// Random edits of random domains: every result is valid, and does not depend on irrelevant differences.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isWildcard, isWithin } from '../../src/dns/name.ts';
import { buildZone } from '../../src/zone/build-zone.ts';
import { type Edit, idsTouched, NO_EDIT, namesTouched } from '../../src/zone/edit/edit.ts';
import { formerHosts, possibleGlue } from '../../src/zone/edit/glue-needed.ts';
import type { RecordText } from '../../src/zone/edit/parse-edit.ts';
import { planRevert } from '../../src/zone/edit/plan-revert.ts';
import { apexRecords, publishName } from '../../src/zone/publish/publish.ts';
import { type CustomerRecord, type RecordValue, setKey } from '../../src/zone/records/customer-record.ts';
import { API_TYPES, type ApiType, isAddressLike } from '../../src/zone/records/customer-types.ts';
import { rdataKey, targetOf } from '../../src/zone/records/rdata-key.ts';
import { namesBetween } from '../../src/zone/records/record-name.ts';
import {
  anything,
  delegations,
  domainAndEditOf,
  domainOf,
  parsed,
  redirections,
  stateOf,
} from '../support/random/random-edits.ts';
import { watchReads } from '../support/tests/count-reads.ts';
import { scale } from '../support/tests/scale.ts';
import { APEX, applied, EDGES, showRecord } from '../support/zone/customer-records.ts';
import { planEdit } from '../support/zone/plan-edit.ts';
import { publishRecords } from '../support/zone/publish-records.ts';

const runs = scale(20_000, 600);
const domain = fc.array(anything.record, { minLength: 4, maxLength: 24 }).map(domainOf);

const domainAndEdit = fc.oneof(
  domainAndEditOf(anything),
  domainAndEditOf(delegations),
  domainAndEditOf(redirections),
);

/** The rules of docs/rules.md "Published records" and "Records", implemented a second time. */
function faultsOf(records: readonly RecordValue[]): string[] {
  const faults: string[] = [];
  const at = grouped(records, ({ name }) => name);
  const delegations = records.filter(({ type }) => type === 'NS');
  const cuts = new Set(delegations.map(({ name }) => name));
  const hosts = new Set(delegations.map(({ rdata }) => targetOf('NS', rdata)));
  for (const [name, list] of at) {
    const has = (...wanted: ApiType[]) => list.filter(({ type }) => wanted.includes(type)).length;
    const proxied = list.filter((r) => r.proxied).length;
    if (list.some((r) => r.proxied && !isAddressLike(r.type))) faults.push('proxied type');
    if (proxied > 0 && proxied < has('A', 'AAAA', 'CNAME', 'ANAME')) faults.push('proxied mix');
    if (has('CNAME', 'ANAME') > 1) faults.push('aliases');
    if (has('CNAME') && proxied === 0 && list.length > 1) faults.push('CNAME and other');
    if (has('ANAME') && proxied === 0 && has('A', 'AAAA')) faults.push('ANAME and address');
    if (name === APEX && (has('NS', 'DS') || (has('CNAME') && proxied === 0))) faults.push('apex');
    if (isWildcard(name) && has('NS', 'DS', 'DNAME')) faults.push('wildcard');
    if (has('DNAME') > 1) faults.push('DNAMEs');
    if (has('DNAME') && has('NS')) faults.push('DNAME and NS');
    if (records.some((r) => r.type === 'DNAME' && r.name !== name && isWithin(name, r.name)))
      faults.push('below a DNAME');
    if (has('DS') && !has('NS')) faults.push('DS');
    if (new Set(list.map((r) => `${r.type} ${rdataKey(r.type, r.rdata)}`)).size < list.length)
      faults.push('twice');
    const cut = [name, ...namesBetween(name, APEX)].filter((above) => cuts.has(above)).at(-1);
    if (cut !== undefined) {
      for (const r of list) {
        const isOwn = name === cut && (r.type === 'NS' || r.type === 'DS');
        const isGlue = (r.type === 'A' || r.type === 'AAAA') && !r.proxied && hosts.has(name);
        if (!isOwn && !isGlue) faults.push('below a delegation');
      }
    }
    for (const set of grouped(list, ({ type }) => type).values()) {
      if (new Set(set.map((r) => r.ttl)).size > 1) faults.push('TTLs');
    }
  }
  return faults;
}

function grouped<T, K>(list: readonly T[], keyOf: (item: T) => K): Map<K, T[]> {
  const groups = new Map<K, T[]>();
  for (const item of list) groups.set(keyOf(item), [...(groups.get(keyOf(item)) ?? []), item]);
  return groups;
}

function shown(records: readonly CustomerRecord[]): string[] {
  return records.map((r) => showRecord(r)).sort();
}

const isLoadedAbove = (type: ApiType) => type === 'NS' || type === 'DNAME';

/** Only the records that the store would load for this edit. */
function scoped(all: readonly CustomerRecord[], edit: Edit): CustomerRecord[] {
  const ids = new Set(idsTouched(edit));
  const found = all.filter((r) => ids.has(r.id));
  const needed = namesTouched(edit, APEX, found);
  const { at, cutsAt, below } = needed;
  const touched = all.filter(
    ({ name, type }) =>
      at.includes(name) ||
      (isLoadedAbove(type) && cutsAt.includes(name)) ||
      below.some((above) => name !== above && isWithin(name, above)),
  );
  const hosts = formerHosts(needed, APEX, touched);
  const aboveHosts = hosts.flatMap((host) => [...namesBetween(host, APEX)]);
  const judged = all.filter(
    (r) =>
      touched.includes(r) || hosts.includes(r.name) || (isLoadedAbove(r.type) && aboveHosts.includes(r.name)),
  );
  const naming = possibleGlue(needed, APEX, judged).map((host) =>
    all.find((r) => r.type === 'NS' && targetOf('NS', r.rdata) === host && !below.includes(r.name)),
  );
  return all.filter((r) => judged.includes(r) || naming.includes(r));
}

describe('a random edit', () => {
  it('results in a valid domain, or is rejected', () => {
    let changes = 0;
    fc.assert(
      fc.property(domainAndEdit, ([before, text]) => {
        const plan = planEdit(stateOf(before), parsed(text));
        if (plan.kind === 'problems') {
          expect(plan.problems.length).toBeGreaterThan(0);
          return;
        }
        changes++;
        const after = applied(before, plan.ops);
        expect(faultsOf(after)).toEqual([]);
        expect(after.length).toBe(plan.recordCount);
        const service = apexRecords({
          apex: APEX,
          nameservers: [APEX],
          serial: 1,
          rname: APEX,
        });
        expect(buildZone(APEX, [...service, ...publishRecords(after, EDGES)]).kind).toBe('built');
      }),
      { numRuns: runs },
    );
    expect(changes).toBeGreaterThan(runs / 5);
  });

  it('has the same result in any order of its items', () => {
    const shuffled = domainAndEdit.chain(([before, text]) =>
      fc.tuple(
        fc.constant(before),
        fc.constant(text),
        fc.shuffledSubarray([...(text.create ?? [])], { minLength: text.create?.length ?? 0 }),
        fc.shuffledSubarray([...(text.update ?? [])], { minLength: text.update?.length ?? 0 }),
        fc.shuffledSubarray([...(text.replace ?? [])], { minLength: text.replace?.length ?? 0 }),
        fc.shuffledSubarray([...(text.delete ?? [])], { minLength: text.delete?.length ?? 0 }),
      ),
    );
    fc.assert(
      fc.property(shuffled, ([before, text, create, update, replace, deletes]) => {
        const turned = replace.map((r) => ({ ...r, records: [...r.records].reverse() }));
        const one = planEdit(stateOf(before), parsed(text));
        const other = planEdit(stateOf(before), parsed({ create, update, replace: turned, delete: deletes }));
        expect(other.kind).toBe(one.kind);
        if (one.kind === 'change' && other.kind === 'change') {
          expect(shown(applied(before, other.ops))).toEqual(shown(applied(before, one.ops)));
        }
      }),
      { numRuns: runs },
    );
  });

  it('needs only the records that it requests', () => {
    fc.assert(
      fc.property(domainAndEdit, ([all, text]) => {
        const edit = parsed(text);
        const records = scoped(all, edit);
        expect(planEdit({ ...stateOf(all), records }, edit)).toEqual(planEdit(stateOf(all), edit));
      }),
      { numRuns: runs },
    );
  });

  it('is reverted without a trace', () => {
    fc.assert(
      fc.property(domainAndEdit, ([before, text]) => {
        const plan = planEdit(stateOf(before), parsed(text));
        if (plan.kind === 'problems') return;
        const after = applied(before, plan.ops);
        const kept = new Set(before.map((r) => r.id));
        const made = after.filter((r) => !kept.has(r.id));
        const saved = plan.ops.map((op) =>
          op.op === 'create' ? { op: op.op, after: made.shift() as CustomerRecord } : op,
        );
        const revert = planRevert(saved, after);
        if (revert.kind === 'conflict') throw new Error(revert.message);
        const back = planEdit({ ...stateOf(after), records: scoped(after, revert.edit) }, revert.edit);
        if (back.kind === 'problems') throw new Error(JSON.stringify(back.problems));
        const byId = (list: readonly CustomerRecord[]) => [...list].sort((a, b) => a.id - b.id);
        expect(applied(after, back.ops)).toEqual(byId(before));
      }),
      { numRuns: runs },
    );
  });

  it('changes only the published names that it reports', () => {
    fc.assert(
      fc.property(domainAndEdit, ([before, text]) => {
        const plan = planEdit(stateOf(before), parsed(text));
        if (plan.kind === 'problems') return;
        const after = applied(before, plan.ops);
        const was = grouped(publishRecords(before, EDGES), ({ owner }) => owner);
        for (const name of plan.touched) {
          const published = publishName(
            after.filter((r) => r.name === name),
            EDGES,
          );
          if (published.length > 0) was.set(name, published);
          else was.delete(name);
        }
        const text1 = [...was.values()]
          .flat()
          .map((r) => JSON.stringify(r))
          .sort();
        const text2 = publishRecords(after, EDGES)
          .map((r) => JSON.stringify(r))
          .sort();
        expect(text1).toEqual(text2);
      }),
      { numRuns: runs },
    );
  });
});

it('a replacement leaves exactly the listed records', () => {
  fc.assert(
    fc.property(domain, fc.array(anything.replacement, { minLength: 1, maxLength: 3 }), (before, replace) => {
      const edit = parsed({ replace });
      const plan = planEdit(stateOf(before), edit);
      if (plan.kind === 'problems') return;
      const sets = grouped(applied(before, plan.ops), ({ name, type }) => setKey(name, type));
      for (const { name, type, ttl: wanted, records } of edit.replaces) {
        const set = sets.get(setKey(name, type)) ?? [];
        const keys = (list: readonly { rdata: Uint8Array }[]) =>
          list.map((r) => rdataKey(type, r.rdata)).sort();
        expect(keys(set)).toEqual(keys(records));
        if (wanted !== undefined) for (const { ttl: is } of set) expect(is).toBe(wanted);
      }
    }),
    { numRuns: runs },
  );
});

it('plans 10,000 items, and reads each existing record only a few times', () => {
  const create = Array.from({ length: 10_000 }, (_, i): RecordText => {
    const type = API_TYPES[i % 2] as ApiType;
    return { name: `h${i}.d${i % 100}`, type, destination: type === 'A' ? '192.0.2.1' : '2001:db8::1' };
  });
  const edit = parsed({ create });
  const state = stateOf([]);
  const plan = planEdit(state, edit);
  if (plan.kind === 'problems') throw new Error('refused');
  const all = applied([], plan.ops);
  let reads = 0;
  const full = stateOf(all.map((record) => watchReads(record, () => reads++)));
  const updated = planEdit(full, {
    ...NO_EDIT,
    updates: all.map((r) => ({ id: r.id, set: { ttl: 60 } })),
  });
  const cut = planEdit(full, parsed({ create: [{ name: 'd1', type: 'NS', destination: 'ns.example.net' }] }));
  expect(updated.kind === 'change' && updated.ops.length).toBe(10_000);
  expect(cut.kind).toBe('problems');
  expect(reads).toBeGreaterThan(10_000);
  expect(reads).toBeLessThan(200 * 10_000);
});
