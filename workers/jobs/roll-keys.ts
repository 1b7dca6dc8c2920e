// One look at the keys of a domain: what the parent shows, what our nodes and servers answer, and the step that follows.
//
//   load ─▶ observe: nodes, DS at the parent, our own servers ─▶ advance ─▶ save ─▶ saved
//     ├ a step is being written ─▶ its next pieces                        └ somebody else saved ─▶ conflict
//     └ the domain is deleted ─▶ absent

import { advance, type Facts } from '../../src/checks/dnssec/advance.ts';
import { type DnssecStatus, dnssecStatus } from '../../src/checks/dnssec/dnssec-status.ts';
import type { DsEvidence } from '../../src/checks/dnssec/ds-evidence.ts';
import { heldDs } from '../../src/checks/dnssec/held-ds.ts';
import type { Preflight, Waiting } from '../../src/checks/dnssec/machine.ts';
import type { Delegation, StepKind } from '../../src/checks/dnssec/next-keys.ts';
import { isDsDue, isForeignDue, isPreflightDue, nextLookIn } from '../../src/checks/dnssec/next-look.ts';
import { judgePreflight } from '../../src/checks/dnssec/preflight.ts';
import type { MachineRules } from '../../src/checks/dnssec/rules.ts';
import { type Name, printName } from '../../src/dns/name.ts';
import type { RunJob } from '../../src/queue/job-worker.ts';
import type { KeyJob } from '../../src/queue/jobs.ts';
import type { Resolver } from '../../src/resolver/resolver.ts';
import { postponeStep } from '../../src/store/dnssec/claim-due-steps.ts';
import { saveImport } from '../../src/store/dnssec/foreign-keys.ts';
import { loadDelegation } from '../../src/store/dnssec/load-delegation.ts';
import { type KeyWork, loadKeyWork } from '../../src/store/dnssec/load-key-work.ts';
import { loadServing } from '../../src/store/dnssec/nodes-serving.ts';
import { resignInPieces } from '../../src/store/dnssec/resign-in-pieces.ts';
import { saveKeyStep, saveWritten } from '../../src/store/dnssec/save-key-step.ts';
import type { Database } from '../../src/store/postgres/database.ts';
import { loadHeldZone } from '../../src/store/zones/load-held-zone.ts';
import { MAX_TTL_SECONDS } from '../../src/zone/records/customer-types.ts';
import { DatabaseWatch } from '../rounds/database-watch.ts';
import { fetchTheirKeys, seenAtTheirs } from './foreign-keys.ts';

export type KeyOutcome =
  | {
      readonly kind: 'saved';
      readonly name: string;
      readonly status: DnssecStatus;
      readonly step: StepKind | undefined;
      readonly waiting: Waiting | null;
      /** Undefined: the domain's servers were not asked. */
      readonly preflight: Preflight | undefined;
    }
  | { readonly kind: 'writing' | 'conflict' | 'absent' };

interface KeyRollerOptions {
  readonly db: Database;
  readonly resolver: Pick<Resolver, 'observeDs' | 'observeSigned' | 'observeTheirKeys'>;
  readonly rules: MachineRules;
  readonly onOutcome: (outcome: KeyOutcome) => void;
  /** Added to the time of Postgres, in milliseconds. */
  readonly ahead?: () => number;
}

/** A deleted domain may be restored. */
const ABSENT_SECONDS = 3600;
const WRITING_SECONDS = 5;

export function createKeyRoller(options: KeyRollerOptions): RunJob<KeyJob> {
  const database = new DatabaseWatch(options.db);
  return async (job, { signal }) => {
    options.onOutcome(await database.steadily(signal, () => look(options, job, signal)));
  };
}

async function look(
  options: KeyRollerOptions,
  { signedZoneId }: KeyJob,
  signal: AbortSignal,
): Promise<KeyOutcome> {
  const { db, rules } = options;
  const work = await loadKeyWork(db, signedZoneId);
  if (work === undefined) {
    await postponeStep(db, signedZoneId, ABSENT_SECONDS);
    return { kind: 'absent' };
  }
  const { machine, signed } = work;
  if (signed.phase === 'signing' || signed.phase === 'unsigning') {
    await postponeStep(db, signedZoneId, WRITING_SECONDS); // another job writes the pieces
    return { kind: 'writing' };
  }
  if (machine.version === null) {
    await resignInPieces(db, work.domainId, signal);
    const saved = await saveWritten(db, work, rules);
    return { kind: saved === 'saved' ? 'writing' : 'conflict' };
  }
  if ((machine.foreign?.importAskedAt ?? null) !== null) {
    await importKeys(options, work, signal);
    return { kind: 'writing' };
  }
  const facts = await observe(options, work, signal);
  signal.throwIfAborted(); // an aborted run has no outcome
  const advanced = advance(machine, facts, rules);
  const dueInMs = nextLookIn(advanced.machine, facts.at);
  const saved = await saveKeyStep(db, work, advanced, { dueInMs, rules });
  if (saved.kind === 'conflict') return saved;
  return {
    kind: 'saved',
    name: printName(work.name),
    status: dnssecStatus(saved.machine, rules),
    step: advanced.step?.kind,
    waiting: saved.machine.waiting,
    preflight: facts.preflight,
  };
}

async function importKeys(
  { db, resolver }: KeyRollerOptions,
  work: KeyWork,
  signal: AbortSignal,
): Promise<void> {
  const ds = await observeDs(db, resolver, work.name, signal);
  const isHeld = ds.answers.some(({ address }) => address === '' && ds.parentIsSecure === undefined);
  const imported = await fetchTheirKeys(resolver, work, ds, { isHeld, signal });
  signal.throwIfAborted();
  await saveImport(db, work.domainId, imported);
}

async function observe(
  { db, resolver, rules, ahead = () => 0 }: KeyRollerOptions,
  work: KeyWork,
  signal: AbortSignal,
): Promise<Facts> {
  const { machine, name } = work;
  const delegation = await loadDelegation(db, work.domainId);
  const before = await loadServing(db, work.zoneId);
  const now = () => before.at.getTime() + ahead();
  const ds = isDsDue(machine, now()) ? await observeDs(db, resolver, name, signal) : undefined;
  const isWanted = isPreflightDue(machine, now(), rules);
  const preflight = isWanted
    ? { at: now(), ...(await runPreflight(resolver, work, delegation, signal)) }
    : undefined;
  const theirs = isForeignDue(machine) ? await seenAtTheirs(resolver, work, signal) : undefined;
  // what was seen is older than the positions of the nodes that it is judged with
  const { at, epoch, nodes } = await loadServing(db, work.zoneId);
  return {
    at: at.getTime() + ahead(),
    epoch,
    nodes,
    dataTtl: MAX_TTL_SECONDS,
    delegation,
    ...(ds !== undefined && { ds }),
    ...(preflight !== undefined && { preflight }),
    ...(theirs !== undefined && { theirs }),
  };
}

/** Where this fleet serves the parent, its own answer would show nothing: Postgres has the DS set. */
async function observeDs(
  db: Database,
  resolver: Pick<Resolver, 'observeDs'>,
  name: Name,
  signal: AbortSignal,
): Promise<DsEvidence> {
  const held = await loadHeldZone(db, name);
  if (held === undefined || (held.cut !== undefined && held.cut !== name))
    return await resolver.observeDs(name, { signal });
  return heldDs(name, held, Date.now());
}

/** A domain that the parent delegates elsewhere, or not at all, is asked at the servers that it would have here. */
async function runPreflight(
  resolver: Pick<Resolver, 'observeSigned'>,
  { name, keys, nameservers }: KeyWork,
  delegation: Delegation,
  signal: AbortSignal,
): Promise<Omit<Preflight, 'at'>> {
  const known = keys.map(({ id, dnskey, role, origin }) => ({
    id: String(id),
    dnskey,
    isSep: role !== 'zsk' && origin === 'ours',
  }));
  const given = delegation.kind === 'ours' ? undefined : { ns: nameservers, glue: [] };
  return judgePreflight(await resolver.observeSigned(name, { keys: known, given, signal }));
}
