// Records new observations in the machine and begins the next step if one is due.

import type { DsEvidence } from './ds-evidence.ts';
import {
  pruned,
  refreshed,
  withPositions,
  withServing,
  withShown,
  withTheirs,
  withWritten,
} from './keep-ledger.ts';
import {
  foreignKeys,
  type Machine,
  NO_FOREIGN_KEYS,
  ownIds,
  ownKeys,
  type Preflight,
  type ShownOurs,
  sepKeys,
  sharedKeys,
} from './machine.ts';
import { isSep, type KeyId, ownersOf } from './machine-key.ts';
import { nextStep, rulesFor } from './next-keys.ts';
import { isAtEveryNode, type NodePosition } from './node-positions.ts';
import { forgetRuns, isGap, keysShown, remembered, shownNow } from './parent-memory.ts';
import type { MachineRules } from './rules.ts';
import { isSameSet, union, without } from './serving.ts';
import type { Delegation, Next, Step } from './step.ts';

export interface Facts {
  /** By the clock of Postgres. */
  readonly at: number;
  /** Changes when the database is restored. */
  readonly epoch: string;
  readonly nodes: readonly NodePosition[];
  /** Largest TTL of the zone since the last call, including negative answers, in seconds. */
  readonly dataTtl: number;
  readonly delegation: Delegation;
  /** Only new observations. */
  readonly ds?: DsEvidence;
  readonly preflight?: Preflight;
  /** Our keys that every server of another operator shows, and the TTL there in seconds. */
  readonly theirs?: Pick<ShownOurs, 'keys' | 'ttl' | 'hasOthers'>;
}

export interface Advanced {
  readonly machine: Machine;
  /** A step to be written. After writing it, call `written` with the zone version. */
  readonly step: Step | undefined;
}

/**
 * Call this again before the transaction that ends a long write: `machine` then has the observations made meanwhile, and
 * the write continues only if `machine.serving` is unchanged.
 */
export function advance(before: Machine, facts: Facts, rules: MachineRules): Advanced {
  const seen = takeIn(before, facts, rulesFor(before, rules));
  const next = nextStep(seen, facts.delegation, facts.at, rules);
  if (next.kind === 'step') return { machine: begin(seen, next.step, facts, rules), step: next.step };
  return { machine: { ...seen, ...afterWait(seen, next, facts.at) }, step: undefined };
}

/** `version`: the first version of the zone that contains the whole step. */
export function written(machine: Machine, version: number): Machine {
  return { ...machine, version, ledger: withWritten(machine.ledger, machine.serving, version) };
}

function takeIn(before: Machine, facts: Facts, rules: MachineRules): Machine {
  const timely = withTime(before, facts, rules);
  const observed = facts.ds === undefined ? timely : withDs(timely, facts.ds, facts.at, rules);
  const tried = facts.preflight === undefined ? observed : withPreflight(observed, facts.preflight, facts.at);
  return withForeign(withNodes(tried, facts, rules), facts, rules);
}

/** After a restore or a backward clock step it is unknown what was served and seen when. */
function withTime(machine: Machine, { at, epoch }: Facts, rules: MachineRules): Machine {
  const isRestored = machine.epoch !== null && machine.epoch !== epoch;
  const isBack = at < machine.clock - rules.clockBackMs;
  const clock = isBack ? at : Math.max(at, machine.clock);
  if (!isRestored && !isBack) return { ...machine, epoch, clock };
  const parent = forgetRuns(machine.parent, at);
  const ledger = refreshed(machine.ledger, at, isRestored);
  const again = { ...machine, epoch, clock, parent, ledger, preflight: null, servedAt: null, toldAt: null };
  if (!isRestored) return { ...again, hold: machine.hold ?? { cause: 'clock', until: null } };
  // any DS requested since the backup is for a key that the backup serves: DS of newer keys are not requested
  const keys = sepKeys(machine);
  return {
    ...again,
    ledger: withShown(ledger, perhapsShown(machine, keys), at),
    atLarge: union(machine.atLarge, keys),
    hold: { cause: 'restore', until: null },
  };
}

/** Returns the DS of these keys: the parent may have shown each of them unobserved. */
function perhapsShown({ ledger }: Machine, keys: readonly KeyId[]) {
  const ttl = Math.max(UNKNOWN_DS_TTL, ...ledger.ds.map((version) => version.ttl));
  return keys.map((id) => ({ ds: [id], ttl }));
}

/** Seconds. Large parents use no higher TTL. */
const UNKNOWN_DS_TTL = 86_400;

function withDs(machine: Machine, evidence: DsEvidence, at: number, rules: MachineRules): Machine {
  const parent = remembered(machine.parent, evidence, machine.keys, at, rules);
  // an address may have shown its last DS set until now
  const shown = [...shownNow(machine.parent, rules), ...shownNow(parent, rules)].map(({ ds, ttl }) => ({
    ds: ownersOf(ds, ownKeys(machine)),
    ttl,
  }));
  const unseen = isGap(machine.parent, at, rules)
    ? perhapsShown(machine, ownIds(machine, machine.atLarge))
    : [];
  const shownKeys = keysShown(parent, machine.keys, rules);
  const kept = machine.atLarge.filter(
    (id) => machine.serving.keys.includes(id) || machine.asked.includes(id),
  );
  return {
    ...machine,
    parent,
    ledger: withShown(machine.ledger, [...shown, ...unseen], at),
    atLarge: union(kept, shownKeys),
  };
}

/** The fault ended at an unknown time before the first preflight without it. */
function withPreflight(machine: Machine, preflight: Preflight, at: number): Machine {
  const isFailed = preflight.failure !== undefined || machine.preflight?.failure !== undefined;
  return { ...machine, preflight, failedAt: isFailed ? at : machine.failedAt };
}

function withNodes(machine: Machine, { nodes, at, dataTtl }: Facts, rules: MachineRules): Machine {
  const hasAll = (version: number) => isAtEveryNode(nodes, version, at, rules);
  const ledger = withPositions(machine.ledger, hasAll, at, dataTtl);
  const isServed = machine.version !== null && hasAll(machine.version);
  const servedAt = isServed ? (machine.servedAt ?? at) : null;
  const toldAt = machine.toldAt ?? servedAt;
  const { hold } = machine;
  if (hold === null || servedAt === null) return { ...machine, ledger, servedAt, toldAt };
  const ttl = Math.max(...[...ledger.keySets, ...ledger.data].map((version) => version.ttl));
  const until = hold.until ?? at + Math.max(ttl * 1000, rules.backupAfterMs) + rules.nodeSlackMs;
  return { ...machine, ledger, servedAt, toldAt, hold: at < until ? { ...hold, until } : null };
}

/** Another operator's servers are queried while the parent or a cache may list any nameservers but ours. */
function withForeign(machine: Machine, { at, delegation, theirs }: Facts, rules: MachineRules): Machine {
  const { foreign = NO_FOREIGN_KEYS, keys } = machine;
  if (machine.foreign === undefined && keys.every(({ shared }) => shared === undefined)) return machine;
  const isAsked =
    delegation.kind === 'not_ours' ||
    (!delegation.isFirst && at < delegation.since + delegation.ttl * 1000 + rules.oldServersMs);
  const answers = isAsked ? theirAnswers(machine) : { keySets: [], data: [] };
  const ledger = withTheirs(machine.ledger, answers, { at, ttl: UNKNOWN_DATA_TTL });
  if (theirs === undefined) return { ...machine, ledger };
  const { shows } = foreign;
  const { hasOthers } = theirs;
  const isSame = shows !== null && isSameSet(shows.keys, theirs.keys);
  const since = isSame ? shows.since : at;
  const ttl = Math.max(isSame ? shows.ttl : 0, theirs.ttl);
  const seen = { keys: theirs.keys, since, ttl, ...(hasOthers !== undefined && { hasOthers }) };
  return { ...machine, ledger, foreign: { ...foreign, shows: seen } };
}

/**
 * Returns the possible answers of another operator. It signs data with any of its own keys and of those shared with us. Its
 * DNSKEY set has all of these, but after a rollover here only one of the shared keys that sign it, the old or the new one.
 */
function theirAnswers(machine: Machine): Parameters<typeof withTheirs>[1] {
  const theirs = foreignKeys(machine).filter(({ id }) => machine.serving.keys.includes(id));
  const shared = sharedKeys(machine);
  const signing = [...theirs, ...shared.filter(({ role }) => role !== 'ksk')];
  const others = [...theirs, ...shared.filter((key) => !isSep(key))].map(({ id }) => id);
  return {
    keySets: shared.filter(isSep).map(({ id }) => ({ keys: union([id], others), signers: [id] })),
    data: signing.map(({ id }) => ({ signers: [id] })),
  };
}

/** Seconds. Common resolvers cache nothing for longer. */
const UNKNOWN_DATA_TTL = 86_400;

function begin(machine: Machine, step: Step, { at, dataTtl }: Facts, rules: MachineRules): Machine {
  const { serving, asked } = step;
  const unasked = without(machine.asked, asked);
  const isAskedNew = unasked.length > 0 || asked.length !== machine.asked.length;
  const isTheirs = (version: { readonly isTheirs?: true }) => version.isTheirs === true;
  const { ds, keySets, data } = pruned(machine.ledger, at, rules);
  const ledger = step.isNewStart
    ? { ds, keySets: keySets.filter(isTheirs), data: data.filter(isTheirs) }
    : { ds, keySets, data };
  // ignore DS of withdrawn keys
  const going = without(machine.serving.keys, serving.keys);
  return {
    ...machine,
    serving,
    version: null,
    servedAt: null,
    asked,
    askedAt: isAskedNew ? at : machine.askedAt,
    toldAt: isAskedNew ? null : machine.toldAt,
    atLarge: without(union(machine.atLarge, asked), going),
    ledger: withServing(ledger, serving, at, { keys: rules.keyTtl, data: dataTtl }),
    waiting: null,
  };
}

/** Returns the fields to store for a wait, or that the goal is reached. */
function afterWait(machine: Machine, next: Exclude<Next, { kind: 'step' }>, at: number): Partial<Machine> {
  if (next.kind === 'rest') return { waiting: null, urgent: false, before: null };
  const { kind: _, ...wait } = next;
  const since = machine.waiting?.cause === next.cause ? machine.waiting.since : at;
  return { waiting: { ...wait, since } };
}
