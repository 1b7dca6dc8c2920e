// Checks up to the save. The parent's replies are given as text, and everything after that is real.

import { judgeName } from '../../../src/checks/claims/judge-name.ts';
import { type Name, parentOf } from '../../../src/dns/name.ts';
import type { CheckOrder } from '../../../src/store/checks/check-outcome.ts';
import { gatherChecks, gatherNames } from '../../../src/store/checks/gather-checks.ts';
import type { CheckedName } from '../../../src/store/checks/load-checked-name.ts';
import { nameOrder } from '../../../src/store/checks/name-order.ts';
import type { NameOrder, SavedCheck } from '../../../src/store/checks/save-check.ts';
import type { Database } from '../../../src/store/postgres/database.ts';
import { evidenceOf } from '../world/check-evidence.ts';
import { RULES } from '../world/made-claims.ts';

export const HOUR_MS = 3_600_000;
export const DAY_MS = 24 * HOUR_MS;

export { RULES };

interface Wanted {
  readonly kind?: CheckOrder['kind'];
  readonly request?: string;
  /** When the check ends, in milliseconds. Defaults to now. */
  readonly at?: number;
  readonly frozen?: boolean;
  readonly parent?: Name;
}

/** Loads a name like a process that makes only this check. */
export async function loadCheckedName(db: Database, domainId: number): Promise<CheckedName | undefined> {
  return await gatherNames(db)(domainId);
}

/** Saves a check like a process that makes only this one. */
export async function saveOne(db: Database, order: NameOrder): Promise<SavedCheck> {
  return await gatherChecks(db)(order);
}

/** Does everything but the save. `said` as in `evidenceOf`; a single text is the reply of two addresses. */
export async function judgedCheck(
  db: Database,
  domainId: number,
  said: string,
  { kind = 'background', request, at = Date.now(), frozen = false, parent }: Wanted = {},
): Promise<NameOrder> {
  const name = await loadCheckedName(db, domainId);
  if (name === undefined) throw new Error(`domain ${domainId} is not checked`);
  const evidence = evidenceOf(said.includes(';') ? said : `${said}; ${said}`, {
    domain: name.name,
    parent: parent ?? parentOf(name.name),
    startedAt: at - 20,
    finishedAt: at,
  });
  const judged = judgeName(name.claims, evidence, {
    asked: domainId,
    rules: RULES,
    isFrozen: frozen,
    random: () => 0.5,
  });
  return nameOrder(name, { domainId, kind, request }, evidence, judged, new Map());
}

/** Returns the order of the domain itself. */
export async function judgedOrder(...args: Parameters<typeof judgedCheck>): Promise<CheckOrder> {
  return (await judgedCheck(...args)).orders[0];
}

export async function checkOnce(
  db: Database,
  domainId: number,
  said: string,
  wanted: Wanted = {},
): Promise<SavedCheck> {
  return await saveOne(db, await judgedCheck(db, domainId, said, wanted));
}
