// Sets the signing goals of customers' domains, the same goals that owners can set. Workers pursue them step by step.

import type { ForeignKeyFields } from '../../checks/dnssec/foreign-key.ts';
import { RULES } from '../../checks/dnssec/rules.ts';
import { registrarAction } from '../../checks/dnssec/told/registrar-action.ts';
import {
  abortDnssec,
  type ChangedGoal,
  disableDnssec,
  enableDnssec,
  rollDnssec,
} from '../../store/dnssec/change-goal.ts';
import { loadToldDnssec } from '../../store/dnssec/dnssec-state.ts';
import { askLook } from '../../store/dnssec/due-steps.ts';
import { importForeignKeys, replaceForeignKeys } from '../../store/dnssec/foreign-keys.ts';
import type { Database } from '../../store/postgres/database.ts';
import type { DenialKind } from '../../store/postgres/tables/schema.ts';
import { type ChangedDenial, changeDenial } from '../../store/signing/change-denial.ts';
import type { EnableOrder } from '../../store/signing/enable-signing.ts';
import type { Cli } from '../terminal/cli.ts';

export type DomainGoal =
  | ({ readonly kind: 'enable' } & EnableOrder)
  | { readonly kind: 'disable'; readonly now: boolean }
  | {
      readonly kind: 'roll';
      readonly compromised: boolean;
      readonly keyId: number | undefined;
      readonly algorithm?: EnableOrder['algorithm'];
      readonly split?: boolean;
    }
  | { readonly kind: 'denial'; readonly denial: DenialKind }
  | { readonly kind: 'abort' }
  | { readonly kind: 'foreign'; readonly keys: readonly ForeignKeyFields[] }
  | { readonly kind: 'import' }
  | { readonly kind: 'check' };

export type Changed =
  | { readonly outcome: string; readonly told?: string }
  | { readonly refused: string; readonly code: string };

export async function setDomainGoal(
  db: Database,
  domainId: number,
  goal: DomainGoal,
  cli: Cli,
): Promise<Changed> {
  if (goal.kind === 'check') {
    const { kind } = await askLook(db, domainId);
    return kind === 'asked' ? { outcome: 'asked' } : { code: 'wrong_state', refused: 'it has no keys' };
  }
  const changed = await change(db, domainId, goal, cli);
  if (changed.kind === 'absent') return { code: 'not_found', refused: 'the domain no longer exists' };
  if (changed.kind === 'refused') return { code: changed.code, refused: changed.message };
  const machine = (await loadToldDnssec(db, domainId))?.machine;
  return {
    outcome: changed.changeId === undefined ? 'unchanged' : OUTCOMES[goal.kind],
    ...(machine && { told: registrarAction(machine, RULES).message }),
  };
}

const OUTCOMES = {
  enable: 'signing',
  disable: 'disabling',
  roll: 'rolling',
  denial: 'changing',
  abort: 'aborted',
  foreign: 'changed',
  import: 'importing',
} as const;

async function change(
  db: Database,
  domainId: number,
  goal: Exclude<DomainGoal, { kind: 'check' }>,
  cli: Cli,
): Promise<ChangedGoal | ChangedDenial> {
  const order = { ...cli.changedBy(), domainId };
  switch (goal.kind) {
    case 'enable': {
      const { denial, algorithm, split } = goal;
      return await enableDnssec(db, { ...order, denial, algorithm, split });
    }
    case 'disable':
      return await disableDnssec(db, { ...order, now: goal.now });
    case 'roll': {
      const { kind: _, ...rolled } = goal;
      return await rollDnssec(db, { ...order, ...rolled });
    }
    case 'denial':
      return await changeDenial(db, { domainId }, { ...cli.changedBy(), denial: goal.denial });
    case 'abort':
      return await abortDnssec(db, order);
    case 'foreign':
      return await replaceForeignKeys(db, { ...order, keys: goal.keys });
    case 'import':
      return await importForeignKeys(db, order);
    default:
      return goal satisfies never;
  }
}
