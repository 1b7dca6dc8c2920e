// Runs one piece of the soak: starts the fleet, disturbs it while it is edited, queried and checked, and compares
// everything at the end.

import { setTimeout as pause } from 'node:timers/promises';
import { sql } from 'kysely';
import { createAccount } from '../../src/store/accounts/accounts.ts';
import { createApiKey } from '../../src/store/accounts/api-keys.ts';
import { findLost } from './audit.ts';
import { Delegations } from './check-delegations.ts';
import { Editor, measureLag } from './edit-names.ts';
import { EditedNames } from './edited-names.ts';
import { CACHE_SECONDS, type Fleet, NODES, startFleet } from './fleet.ts';
import { type FleetState, saveState } from './fleet-state.ts';
import { Freshness } from './freshness.ts';
import { Faults } from './inject-faults.ts';
import { type Journal, openJournal } from './journal.ts';
import { passLives, prepareDomains } from './live-domains.ts';
import { planFaults } from './plan-faults.ts';
import { sampleFleet } from './sample-fleet.ts';
import type { LagSample } from './samples.ts';
import { Watch } from './watch-names.ts';

export interface PiecePlan {
  readonly directory: string;
  readonly durationMs: number;
  readonly faultEveryMs: number;
  readonly sampleEveryMs: number;
  readonly editsPerSecond: number;
  /** Queries to each node, and to the resolver. */
  readonly queriesPerSecond: number;
  readonly usualLagMs: number;
  readonly state: FleetState;
  readonly piece: number;
  /** Ends the piece early. */
  readonly signal: AbortSignal;
}

/** One of this many edits is measured. */
const MEASURED = 4;
const CHECKED_AT_ONCE = 3;
const AUDIT_MS = 120_000;
const LIFE_PAUSE_MS = 20_000;

/** Returns the number of failures. */
export async function runPiece(plan: PiecePlan): Promise<number> {
  const { directory, state, piece } = plan;
  const journal = openJournal(directory, state.ranMs);
  // Ctrl-C in a terminal also ends the programs.
  const onCrash = (label: string, reason: string) => {
    if (!plan.signal.aborted) journal.event('crash', `${label} ${reason}`);
  };
  journal.event('piece', `piece ${piece} begins, seed ${state.seed}`);
  const fleet = await startFleet({ directory, state, onCrash });
  if (piece === 1) await prepare(fleet, state, plan.signal);
  const startedMs = performance.now();
  journal.start();
  const names = new EditedNames(state);
  const lost = await findLost(names, fleet.askers, AUDIT_MS);
  for (const each of lost) journal.event('lost', `at the start of the piece: ${each}`);
  await disturb(plan, fleet, names, journal);
  state.ranMs += performance.now() - startedMs;
  saveState(directory, state);
  await fleet.close();
  return journal.failures;
}

async function prepare(fleet: Fleet, state: FleetState, signal: AbortSignal): Promise<void> {
  const created = await createAccount(fleet.db, { email: 'owner@example.org', planSlug: 'pro' });
  if (created.kind !== 'created') throw new Error(created.message);
  await createApiKey(fleet.db, state.ownerKey, { name: 'owner', accountId: created.account.id });
  await prepareDomains({ fleet, signal }, state.domains);
}

async function disturb(plan: PiecePlan, fleet: Fleet, names: EditedNames, journal: Journal): Promise<void> {
  const { state, piece, durationMs } = plan;
  const ending = new AbortController();
  const { signal } = ending;
  const end = () => ending.abort();
  const timer = setTimeout(end, durationMs);
  plan.signal.addEventListener('abort', end);
  if (plan.signal.aborted) end(); // the signal came during the start
  const freshness = new Freshness(plan.usualLagMs);
  let lags: LagSample[] = [];
  let stored = 0;
  // Edits are not cut off at the end of the piece: they wait for their outcome.
  const editor = new Editor({
    names,
    owner: fleet.owner,
    journal,
    perSecond: plan.editsPerSecond,
    signal,
    onStored: ({ name }, value, sentMs) => {
      if (value === undefined || stored++ % MEASURED > 0) return;
      for (const node of NODES)
        void measureLag(fleet.askers[node], { name, value, sentMs }).then((ms) => {
          if (ms !== undefined) lags.push({ node, ms, isDisturbed: freshness.isDisturbed(node, sentMs) });
        });
    },
  });
  const shared = { names, freshness, journal, signal };
  const watches = Object.fromEntries([
    ...NODES.map((node) => [
      node,
      new Watch({
        ...shared,
        label: node,
        nodes: [node],
        asker: fleet.askers[node],
        cacheMs: 0,
        perSecond: plan.queriesPerSecond,
        incarnation: () => fleet.programs[node].incarnation,
      }),
    ]),
    [
      'resolver',
      new Watch({
        ...shared,
        label: 'resolver',
        nodes: NODES,
        asker: fleet.resolver,
        cacheMs: CACHE_SECONDS * 1000,
        perSecond: plan.queriesPerSecond / 2,
        incarnation: () => 0,
      }),
    ],
  ]) as Record<string, Watch>;
  const delegations = new Delegations(fleet, state.domains, journal);
  const faults = new Faults({ fleet, names, editor, freshness, journal, signal });
  const sampling = (async () => {
    while (!signal.aborted) {
      await pause(plan.sampleEveryMs, undefined, { signal }).catch(() => {});
      for (const program of Object.values(fleet.programs)) program.startIfEnded();
      await delegations.makeDue(CHECKED_AT_ONCE).catch(() => {}); // Postgres may be unavailable
      await delegations.evaluate().catch(() => {});
      journal.sample({
        piece,
        faults: [...faults.active],
        processes: sampleFleet(fleet),
        answers: Object.fromEntries(
          Object.entries(watches).map(([label, { counts }]) => [label, { ...counts }]),
        ),
        edits: editor.edits,
        repeats: fleet.owner.repeats,
        lags,
        checks: delegations.counts,
        databaseBytes: await databaseBytes(fleet),
      });
      lags = [];
    }
  })();
  const faultPlan = {
    seed: state.seed + piece,
    everyMs: plan.faultEveryMs,
    without: fleet.disk.canFill ? [] : (['disk'] as const),
  };
  await Promise.all([
    faults.run(planFaults(faultPlan)),
    passLives({ fleet, signal }, state, journal, LIFE_PAUSE_MS),
    sampling,
    ...Object.values(watches).map(({ running }) => running),
  ]);
  clearTimeout(timer);
  await editor.stop();
  await audit(fleet, names, editor, delegations, journal);
}

/** Compares everything once more: nodes, the API and the log of changes with the confirmed edits. */
async function audit(
  fleet: Fleet,
  names: EditedNames,
  editor: Editor,
  delegations: Delegations,
  journal: Journal,
): Promise<void> {
  const lost = await findLost(names, fleet.askers, AUDIT_MS);
  for (const each of lost) journal.event('lost', each);
  const { rows } = await sql<{ missing: number }>`
    select count(*)::integer as missing from unnest(${editor.changeIds}::bigint[]) as confirmed (id)
    where not exists (select from domain_changes c where c.id = confirmed.id)`.execute(fleet.db);
  if (rows[0]?.missing !== 0)
    journal.event('lost', `${rows[0]?.missing} confirmed changes are not in the log`);
  for (const { name, owner, domain, history } of names.all) {
    const path = `/domains/${domain.label}.zz/records/?name=${owner}&type=TXT`;
    const { body } = await fleet.owner.call({ method: 'GET', path });
    const expected = history.stored === undefined ? [] : [`n${history.stored}`];
    const seen = body.map(({ destination }: { destination: string }) => destination);
    if (JSON.stringify(seen) !== JSON.stringify(expected))
      journal.event(
        'lost',
        `the API has ${JSON.stringify(seen)} at ${name}, not ${JSON.stringify(expected)}`,
      );
  }
  await delegations.evaluate();
}

async function databaseBytes({ db }: Fleet): Promise<number> {
  try {
    const { rows } = await sql<{ bytes: number }>`
      select pg_database_size(current_database())::float8 as bytes`.execute(db);
    return rows[0]?.bytes ?? 0;
  } catch {
    return 0;
  }
}
