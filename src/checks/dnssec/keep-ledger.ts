// Updates the ledger with the DS sets that the parent showed, the steps written to the zone, and the versions that nodes
// serve.

import type { DataVersion, DsVersion, KeySetVersion, Ledger } from './ledger.ts';
import { dsGoneAt, servedGoneAt } from './ledger.ts';
import type { KeyId } from './machine-key.ts';
import type { MachineRules } from './rules.ts';
import { isSameSet, type Serving } from './serving.ts';

/** Returns the ledger of a zone that was never signed. */
export function firstLedger(at: number, ttl: number): Ledger {
  const version = { lastAt: at, ttl, until: null, isEnded: false };
  return {
    ds: [],
    keySets: [{ keys: [], signers: [], ...version }],
    data: [{ signers: [], ...version }],
  };
}

/** Records which DS records of this fleet's keys the parent showed, or may have shown, until now. */
export function withShown(
  ledger: Ledger,
  shown: readonly { readonly ds: readonly KeyId[]; readonly ttl: number }[],
  at: number,
): Ledger {
  const ds: DsVersion[] = [...ledger.ds];
  for (const each of shown) {
    if (each.ds.length === 0) continue;
    const i = ds.findIndex((version) => isSameSet(version.ds, each.ds));
    const before = ds[i];
    if (before === undefined) ds.push({ ds: each.ds, lastAt: at, ttl: each.ttl });
    else ds[i] = { ...before, lastAt: at, ttl: Math.max(before.ttl, each.ttl) };
  }
  return { ...ledger, ds };
}

/** Records `serving` before it is written: resolvers may see part of it as soon as the first record has changed. */
export function withServing(
  ledger: Ledger,
  { keys, keySigners, dataSigners }: Serving,
  at: number,
  ttls: { readonly keys: number; readonly data: number },
): Ledger {
  const current = (ttl: number) => ({ lastAt: at, ttl, until: null, isEnded: false });
  const keySet = ledger.keySets.find(
    (version) =>
      version.isTheirs !== true && isSameSet(version.keys, keys) && isSameSet(version.signers, keySigners),
  );
  const data = ledger.data.find(
    (version) => version.isTheirs !== true && isSameSet(version.signers, dataSigners),
  );
  const keyTtl = Math.max(keySet?.ttl ?? 0, keys.length === 0 ? ttls.data : ttls.keys);
  const dataTtl = Math.max(data?.ttl ?? 0, ttls.data);
  return {
    ds: ledger.ds,
    keySets: [
      ...ledger.keySets.filter((version) => version !== keySet),
      { keys, signers: keySigners, ...current(keyTtl) },
    ],
    data: [
      ...ledger.data.filter((version) => version !== data),
      { signers: dataSigners, ...current(dataTtl) },
    ],
  };
}

/** Records that the zone has all of `serving` since `version`. */
export function withWritten(ledger: Ledger, serving: Serving, version: number): Ledger {
  const end = <V extends KeySetVersion | DataVersion>(each: V, isCurrent: boolean): V =>
    each.until === null && !isCurrent && each.isTheirs !== true ? { ...each, until: version } : each;
  return {
    ds: ledger.ds,
    keySets: ledger.keySets.map((each) =>
      end(each, isSameSet(each.keys, serving.keys) && isSameSet(each.signers, serving.keySigners)),
    ),
    data: ledger.data.map((each) => end(each, isSameSet(each.signers, serving.dataSigners))),
  };
}

/**
 * Records which versions the nodes currently serve. `dataTtl` is the largest TTL of the zone since the last call. A node
 * that starts from its snapshot may serve an earlier version again.
 */
export function withPositions(
  ledger: Ledger,
  hasAll: (version: number) => boolean,
  at: number,
  dataTtl: number,
): Ledger {
  const mark = <V extends KeySetVersion | DataVersion>(version: V, ttl: number): V => {
    if (version.isTheirs === true) return version;
    const isInForce = version.until === null || !hasAll(version.until);
    // A version that ended since the last call was served until then, with the TTL that the zone had.
    return version.isEnded && !isInForce
      ? version
      : { ...version, lastAt: at, ttl: Math.max(version.ttl, ttl), isEnded: !isInForce };
  };
  return {
    ds: ledger.ds,
    keySets: ledger.keySets.map((version) => mark(version, version.keys.length === 0 ? dataTtl : 0)),
    data: ledger.data.map((version) => mark(version, dataTtl)),
  };
}

/** DNSKEY sets and data signers that another operator's servers may answer with. */
interface Theirs {
  readonly keySets: readonly Pick<KeySetVersion, 'keys' | 'signers'>[];
  readonly data: readonly Pick<DataVersion, 'signers'>[];
}

/**
 * Records the possible answers of another operator's servers. The lists are empty if resolvers no longer query these
 * servers.
 */
export function withTheirs(
  ledger: Ledger,
  { keySets, data }: Theirs,
  { at, ttl }: { readonly at: number; readonly ttl: number },
): Ledger {
  const current = { lastAt: at, ttl, until: null, isEnded: false, isTheirs: true } as const;
  const noted = <V extends KeySetVersion | DataVersion>(
    all: readonly V[],
    asked: readonly V[],
    isSame: (a: V, b: V) => boolean,
  ): V[] => {
    const ours = all.filter(({ isTheirs }) => isTheirs !== true);
    const before = all.filter(({ isTheirs }) => isTheirs === true);
    const ended = before
      .filter((version) => !asked.some((each) => isSame(each, version)))
      .map((version) => (version.isEnded ? version : { ...version, lastAt: at, isEnded: true }));
    const now = asked.map((version) => {
      const known = before.find((each) => isSame(each, version));
      return { ...version, ttl: Math.max(known?.ttl ?? 0, ttl) };
    });
    return [...ours, ...ended, ...now];
  };
  return {
    ds: ledger.ds,
    keySets: noted<KeySetVersion>(
      ledger.keySets,
      keySets.map((version) => ({ ...version, ...current })),
      (a, b) => isSameSet(a.keys, b.keys) && isSameSet(a.signers, b.signers),
    ),
    data: noted<DataVersion>(
      ledger.data,
      data.map((version) => ({ ...version, ...current })),
      (a, b) => isSameSet(a.signers, b.signers),
    ),
  };
}

/**
 * Treats all versions as seen now, because the clock or the database went back. `isRestored` is true if the database was
 * restored, in which case the zone's version numbers are used again.
 */
export function refreshed(ledger: Ledger, at: number, isRestored: boolean): Ledger {
  const now = <V extends KeySetVersion | DataVersion>(version: V): V => {
    const until = isRestored && version.until !== null ? 0 : version.until;
    return { ...version, lastAt: at, until, isEnded: version.isEnded && !isRestored };
  };
  return {
    ds: ledger.ds.map((version) => ({ ...version, lastAt: at })),
    keySets: ledger.keySets.map(now),
    data: ledger.data.map(now),
  };
}

/** Removes versions that no cache can still have. */
export function pruned(
  ledger: Ledger,
  at: number,
  rules: Pick<MachineRules, 'nodeSlackMs' | 'parentSlackMs' | 'backupAfterMs'>,
): Ledger {
  return {
    ds: ledger.ds.filter((version) => at <= dsGoneAt(version, rules)),
    keySets: ledger.keySets.filter((version) => at <= servedGoneAt(version, rules)),
    data: ledger.data.filter((version) => at <= servedGoneAt(version, rules)),
  };
}
