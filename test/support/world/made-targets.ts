// Lookups of ANAME targets in an internet described in a few words: everything from the evidence on is real. It has its own
// clock, by which due targets are looked up.

import { sql } from 'kysely';
import { TARGET_RULES } from '../../../src/checks/aname/next-target.ts';
import type { FamilyEvidence, TargetEvidence } from '../../../src/checks/aname/target-evidence.ts';
import { foldCase, isWithin, type Name, parseName, printName } from '../../../src/dns/name.ts';
import {
  createFlattener,
  type FlattenerOptions,
  type FlattenOutcome,
} from '../../../src/features/aname/job.ts';
import type { Database } from '../../../src/store/postgres/database.ts';

/** `192.0.2.1 2001:db8::1 for 300`, `none`, or the reason of a failure. A `→ name` prefix means an alias. */
type SaidOfTarget = string;

export function targetEvidence(target: Name, said: SaidOfTarget, at: number): TargetEvidence {
  const [, alias, text] = /^(?:→ (\S+) )?(.*)$/.exec(said) as unknown as [string, string | undefined, string];
  const names = [foldCase(target), ...(alias === undefined ? [] : [parseName(alias)])];
  const [addresses, ttl = '300'] = text.split(' for ') as [string, string | undefined];
  const list = addresses.split(' ').filter((one) => /[.:]/.test(one));
  const family = (isOurs: (address: string) => boolean): FamilyEvidence => {
    if (text === 'unreachable' || text === 'lame') return { kind: 'failed', reason: text, message: text };
    const own = list.filter(isOurs);
    return own.length > 0 ? { kind: 'found', addresses: own, ttl: Number(ttl) } : { kind: 'none', ttl: 900 };
  };
  const isV6 = (address: string) => address.includes(':');
  return {
    names,
    v4: family((address) => !isV6(address)),
    v6: family(isV6),
    queries: 2,
    startedAt: at,
    finishedAt: at,
  };
}

interface MadeTargets {
  readonly clock: { now: number };
  /** Answer for each name and the names below it. Others are `unreachable`. */
  readonly said: Map<string, SaidOfTarget>;
  readonly lookedUp: string[];
  /** Looks up all targets that are due now. */
  round(): Promise<FlattenOutcome[]>;
  /** Looks up targets one after the other at their times, for this duration. */
  runFor(seconds: number, each?: () => Promise<void>): Promise<void>;
}

export function madeTargets(db: Database, options: Partial<FlattenerOptions> = {}): MadeTargets {
  const clock = { now: Date.now() };
  const said: MadeTargets['said'] = new Map();
  const lookedUp: string[] = [];
  let outcomes: FlattenOutcome[] = [];
  const run = createFlattener({
    db,
    resolver: {
      async observeAddresses(target) {
        lookedUp.push(printName(target));
        const found = [...said].find(([name]) => isWithin(foldCase(target), parseName(name)));
        return targetEvidence(target, found?.[1] ?? 'unreachable', clock.now);
      },
    },
    rules: TARGET_RULES,
    now: () => clock.now,
    onOutcome: (outcome) => void outcomes.push(outcome),
    ...options,
  });
  const due = async (at: number) => {
    const { rows } = await sql<{ id: number; at: Date }>`
      select id, due_at as at from aname_targets where due_at <= ${new Date(at)} order by due_at, id`.execute(
      db,
    );
    return rows;
  };
  const round = async () => {
    outcomes = [];
    // A new target is due by the database's clock.
    for (const { id } of await due(Math.max(clock.now, Date.now() + 1))) {
      await run({ targetId: id }, { signal: new AbortController().signal, again: false });
    }
    return outcomes;
  };
  return {
    clock,
    said,
    lookedUp,
    round,
    async runFor(seconds, each = async () => {}) {
      const end = clock.now + seconds * 1000;
      for (;;) {
        const [next] = await due(end);
        if (next === undefined) break;
        clock.now = Math.max(clock.now, next.at.getTime());
        await round();
        await each();
      }
      clock.now = end;
    },
  };
}
