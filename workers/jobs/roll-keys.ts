// One check of the keys of a domain: what the parent publishes, what nodes and servers answer, and the step that
// follows.
//
//   load ─▶ observe: nodes, DS at the parent, our own servers ─▶ advance ─▶ save ─▶ saved
//     ├ a step is being written ─▶ its next pieces                        └ another process saved ─▶ conflict
//     └ the domain is deleted ─▶ absent

import { advance, type Facts } from '../../src/checks/dnssec/advance.ts';
import type { DsEvidence } from '../../src/checks/dnssec/ds-evidence.ts';
import { heldDs } from '../../src/checks/dnssec/held-ds.ts';
import type { Machine, Preflight, Waiting } from '../../src/checks/dnssec/machine.ts';
import { isDsDue, isForeignDue, isPreflightDue, nextLookIn } from '../../src/checks/dnssec/next-look.ts';
import { isAtEveryNode } from '../../src/checks/dnssec/node-positions.ts';
import { judgePreflight } from '../../src/checks/dnssec/preflight.ts';
import type { MachineRules } from '../../src/checks/dnssec/rules.ts';
import { oldZsk } from '../../src/checks/dnssec/scheduled-roll.ts';
import type { Delegation, StepKind } from '../../src/checks/dnssec/step.ts';
import { dnssecFindings } from '../../src/checks/dnssec/told/dnssec-findings.ts';
import { type DnssecStatus, dnssecStatus } from '../../src/checks/dnssec/told/dnssec-status.ts';
import { isReminderDue, ownersDuty } from '../../src/checks/dnssec/told/reminder.ts';
import { type Name, printName } from '../../src/dns/name.ts';
import type { AccountShares } from '../../src/jobs/account-shares.ts';
import { DatabaseWatch } from '../../src/jobs/database-watch.ts';
import type { RunJob } from '../../src/jobs/job-worker.ts';
import type { KeyJob } from '../../src/jobs/jobs.ts';
import { runInTurn } from '../../src/jobs/run-in-turn.ts';
import type { Resolver } from '../../src/resolver/resolver.ts';
import { rollDnssec } from '../../src/store/dnssec/change-goal.ts';
import { type KeyWork, loadKeyWorks } from '../../src/store/dnssec/dnssec-state.ts';
import { postponeStep } from '../../src/store/dnssec/due-steps.ts';
import { saveImport } from '../../src/store/dnssec/foreign-keys.ts';
import { loadDelegations, loadHeldDsVersion, loadServing } from '../../src/store/dnssec/key-facts.ts';
import { resignInPieces, saveKeyStep, saveWritten } from '../../src/store/dnssec/save-key-step.ts';
import { orderDnssecReminder } from '../../src/store/people/mails.ts';
import type { Database } from '../../src/store/postgres/database.ts';
import { loadHeldZone } from '../../src/store/zones/load-zones.ts';
import { MAX_TTL_SECONDS } from '../../src/zone/records/customer-types.ts';
import { fetchTheirKeys, seenAtTheirs } from './foreign-keys.ts';

export type KeyOutcome =
  | {
      readonly kind: 'saved';
      readonly name: string;
      readonly status: DnssecStatus;
      readonly step: StepKind | undefined;
      readonly waiting: Waiting | null;
      /** Undefined if the domain's servers were not queried. */
      readonly preflight: Preflight | undefined;
    }
  | { readonly kind: 'writing' | 'conflict' | 'absent' };

export interface KeyRollerOptions {
  readonly db: Database;
  readonly resolver: Pick<Resolver, 'observeDs' | 'observeSigned' | 'observeTheirKeys'>;
  readonly rules: MachineRules;
  readonly onOutcome: (outcome: KeyOutcome) => void;
  /** Records what accounts use. */
  readonly shares?: Pick<AccountShares, 'begin'>;
  /** Maximum age of the ZSK of a split zone. Undefined if ZSKs are replaced only on request. */
  readonly rollZskEveryMs?: number | undefined;
  /** True if owners are reminded by mail of their tasks. */
  readonly sendsMail?: boolean;
  /** Returns milliseconds that are added to the time of Postgres. */
  readonly ahead?: () => number;
}

/** A deleted domain may be restored. */
const ABSENT_SECONDS = 3600;
const WRITING_SECONDS = 5;

export function createKeyRoller(options: KeyRollerOptions): RunJob<KeyJob> {
  const { db } = options;
  const database = new DatabaseWatch(db);
  return async ({ signedZoneId, others = [] }, { signal }) => {
    const ids = [signedZoneId, ...others];
    const works = await database.steadily(signal, () => loadWorks(db, ids));
    const lookAt = async (id: number) => {
      const outcome = await database.steadily(signal, async (again) => {
        const work = again ? (await loadWorks(db, [id])).get(id) : works.get(id);
        return await look(options, id, work, signal);
      });
      options.onOutcome(outcome);
    };
    await runInTurn(ids, lookAt, signal);
  };
}

interface Work extends KeyWork {
  readonly delegation: Delegation;
}

async function loadWorks(db: Database, signedZoneIds: readonly number[]): Promise<Map<number, Work>> {
  const works = await loadKeyWorks(db, signedZoneIds);
  const domainIds = [...works.values()].map(({ domainId }) => domainId);
  const delegations = await loadDelegations(db, domainIds);
  return new Map(
    [...works].map(([id, work]) => [
      id,
      { ...work, delegation: delegations.get(work.domainId) ?? { kind: 'not_ours' } },
    ]),
  );
}

async function look(
  options: KeyRollerOptions,
  signedZoneId: number,
  work: Work | undefined,
  signal: AbortSignal,
): Promise<KeyOutcome> {
  const { db, rules } = options;
  if (work === undefined) {
    await postponeStep(db, signedZoneId, ABSENT_SECONDS);
    return { kind: 'absent' };
  }
  const { machine, signed } = work;
  // a step that re-signs the whole zone ignores a chain that no answer uses yet
  const isOthers = signed.denialChange === 'adding' && machine.version !== null;
  if (signed.phase === 'signing' || signed.phase === 'unsigning' || isOthers) {
    await postponeStep(db, signedZoneId, WRITING_SECONDS); // another job writes the pieces
    return { kind: 'writing' };
  }
  if (machine.version === null) {
    await resignInPieces(db, work.domainId, signal);
    const saved = await saveWritten(db, work, rules);
    return { kind: saved === 'saved' ? 'writing' : 'conflict' };
  }
  if ((machine.foreign?.importAskedAt ?? null) !== null) {
    await counted(options, work, () => importKeys(options, work, signal));
    return { kind: 'writing' };
  }
  const facts = await counted(options, work, () => observe(options, work, signal));
  signal.throwIfAborted(); // an aborted run has no outcome
  const advanced = advance(machine, facts, rules);
  const dueInMs = nextLookIn(advanced.machine, facts.at);
  const duty = ownersDuty(dnssecFindings(advanced.machine, work.delegatedTo, facts.at, rules));
  const wantedSince = duty === undefined ? null : (work.wantedSince?.getTime() ?? facts.at);
  const saved = await saveKeyStep(db, work, advanced, { dueInMs, rules, wantedSince });
  if (saved.kind === 'conflict') return saved;
  const wanted = wantedSince !== null && { wantedSince, remindedAt: work.remindedAt?.getTime() };
  if (options.sendsMail === true && duty !== undefined && wanted && isReminderDue(duty, wanted, facts.at))
    await orderDnssecReminder(db, { signedZoneId, message: duty.message });
  if (advanced.step === undefined) await rollOldZsk(options, work, saved.machine, facts.at);
  return {
    kind: 'saved',
    name: printName(work.name),
    status: dnssecStatus(saved.machine, rules),
    step: advanced.step?.kind,
    waiting: saved.machine.waiting,
    preflight: facts.preflight,
  };
}

/** The roll is rejected if another change was saved meanwhile. The next check tries again. */
async function rollOldZsk(
  { db, rollZskEveryMs: everyMs }: KeyRollerOptions,
  { domainId, signed, keys }: KeyWork,
  machine: Machine,
  at: number,
): Promise<void> {
  if (everyMs === undefined) return;
  const madeAt = (id: string) => keys.find((key) => String(key.id) === id)?.madeAt.getTime();
  const old = oldZsk(machine, { everyMs, signedZoneId: signed.id, madeAt }, at);
  if (old === undefined) return;
  const by = { by: { kind: 'system' }, source: 'status' } as const;
  await rollDnssec(db, { ...by, domainId, keyId: Number(old), compromised: false });
}

async function counted<T>(options: KeyRollerOptions, work: KeyWork, observing: () => Promise<T>): Promise<T> {
  const end = options.shares?.begin(work.accountId);
  try {
    return await observing();
  } finally {
    end?.();
  }
}

async function importKeys(options: KeyRollerOptions, work: KeyWork, signal: AbortSignal): Promise<void> {
  const { db, resolver } = options;
  const ds = await observeDs(options, work.name, signal);
  const isHeld = ds.answers.some(({ address }) => address === '' && ds.parentIsSecure === undefined);
  const imported = await fetchTheirKeys(resolver, work, ds, { isHeld, signal });
  signal.throwIfAborted();
  await saveImport(db, work.domainId, imported);
}

async function observe(options: KeyRollerOptions, work: Work, signal: AbortSignal): Promise<Facts> {
  const { db, resolver, rules, ahead = () => 0 } = options;
  const { machine, name, delegation } = work;
  const now = () => work.loadedAt.getTime() + ahead();
  const isAsked = work.isDsDue || isDsDue(machine, now());
  const ds = isAsked ? await observeDs(options, name, signal) : undefined;
  const isWanted = isPreflightDue(machine, now(), rules);
  const preflight = isWanted ? { at: now(), ...(await runPreflight(resolver, work, signal)) } : undefined;
  const theirs = isForeignDue(machine, delegation.kind === 'ours')
    ? await seenAtTheirs(resolver, work, signal)
    : undefined;
  // observations must be older than the positions of the nodes that they are compared with
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

/** If this fleet serves the parent, its own answer would prove nothing, so the DS set is read from Postgres. */
async function observeDs(
  { db, resolver, rules }: KeyRollerOptions,
  name: Name,
  signal: AbortSignal,
): Promise<DsEvidence> {
  const held = await loadHeldZone(db, name);
  if (held === undefined || (held.cut !== undefined && held.cut !== name))
    return await resolver.observeDs(name, { signal });
  const isServed = await isHeldDsServed(db, held.zone, name, rules);
  return heldDs(name, held, { isServed, observedAt: Date.now() });
}

async function isHeldDsServed(db: Database, zone: Name, name: Name, rules: MachineRules): Promise<boolean> {
  const held = await loadHeldDsVersion(db, zone, name);
  if (held === undefined) return false;
  const { nodes, at } = await loadServing(db, held.zoneId);
  return isAtEveryNode(nodes, held.version, at.getTime(), rules);
}

/** If the parent delegates the domain elsewhere or not at all, the fleet's nameservers for the domain are queried. */
async function runPreflight(
  resolver: Pick<Resolver, 'observeSigned'>,
  { name, keys, nameservers, delegation }: Work,
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
