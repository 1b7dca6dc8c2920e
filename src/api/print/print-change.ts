// Prints changes, with the number of nameservers that have loaded each. Only roles that manage the members of the
// domain see the address and the key of a request, except those of operators and those from when the domain belonged
// to another account.

import type { z } from 'zod';
import type { Name } from '../../dns/name.ts';
import { type InSync, inSync } from '../../store/feed/in-sync.ts';
import type { Database } from '../../store/postgres/database.ts';
import type { ChangeSource, Role } from '../../store/postgres/tables/schema.ts';
import type { DomainChange } from '../../store/records/load-changes.ts';
import { mayDo } from '../callers/caller.ts';
import type { Change } from '../schemas/change.ts';
import { mayTrace, printActor, type Viewer } from './print-account.ts';
import { printChangedRecord } from './print-record.ts';
import { printRuleOperation } from './print-rule.ts';

type Printed = z.input<typeof Change>;

/** A change with the caller's role in its domain. */
export interface SeenChange {
  readonly change: DomainChange;
  readonly apex: Name;
  readonly role: Role;
  readonly viewer: Viewer;
}

export async function printChanges(db: Database, seen: readonly SeenChange[]): Promise<Printed[]> {
  const states = await inSync(
    db,
    seen.map(({ change }) => change.id),
  );
  return seen.map((one) => printChange(one, states.get(one.change.id) ?? NO_NODES));
}

const NO_NODES: InSync = { inSync: false, nodes: { seen: 0, live: 0 } };

export function printChange(
  { change, apex, role, viewer }: SeenChange,
  { inSync, nodes }: InSync = NO_NODES,
): Printed {
  const { id, domainId, serial, at, actor, source, ops, rules, status, reverts } = change;
  return {
    id,
    domain_id: domainId,
    serial,
    at: at.toISOString(),
    actor: printActor(actor, mayDo(role, 'members.manage') && mayTrace(change, viewer)),
    source: publicSource(source),
    records: ops.map(({ op, before, after }) => ({
      op,
      ...(before !== undefined && { before: printChangedRecord(before, apex) }),
      ...(after !== undefined && { after: printChangedRecord(after, apex) }),
    })),
    ...(rules.length > 0 && { rules: rules.map(printRuleOperation) }),
    ...(status !== undefined && { status: printStatus(status) }),
    ...(reverts !== undefined && { reverts }),
    in_sync: inSync,
    nodes,
  };
}

/** Shows changes by `migrate`, the demo, tests and re-signing as changes by the command line. */
export function publicSource(source: ChangeSource): Printed['source'] {
  return isHidden(source) ? 'cli' : source;
}

const HIDDEN_SOURCES = [
  'migrate',
  'demo',
  'test',
  'signing',
  'transfer',
  'catalog',
] as const satisfies readonly ChangeSource[];

function isHidden(source: ChangeSource): source is (typeof HIDDEN_SOURCES)[number] {
  return (HIDDEN_SOURCES as readonly ChangeSource[]).includes(source);
}

/** Returns all sources that are shown as this one. */
export function storedSources(source: Printed['source']): ChangeSource[] {
  return source === 'cli' ? ['cli', ...HIDDEN_SOURCES] : [source];
}

function printStatus({ from, to, checkId }: NonNullable<DomainChange['status']>): Printed['status'] {
  return {
    ...(from !== null && { from }),
    ...(to !== null && { to }),
    ...(checkId !== null && { check_id: checkId }),
  };
}
