// The DNSSEC status of a domain, derived from what is served, requested and seen (see the diagram in machine.ts).

import { foreignKeys, type Machine, wantedIds } from '../machine.ts';
import { isEverywhere } from '../parent-memory.ts';
import type { MachineRules } from '../rules.ts';
import { isSigned, without } from '../serving.ts';
import { viewParent } from './parent-view.ts';

export const DNSSEC_STATUSES = [
  'off',
  'signing',
  'waiting',
  'ds_wanted',
  'secure',
  'rolling',
  'ds_removal',
  'unsigning',
  'broken',
  'verbatim',
] as const;
/** `verbatim` applies to zones that were loaded with their signatures. They have no machine. */
export type DnssecStatus = (typeof DNSSEC_STATUSES)[number];

export function dnssecStatus(machine: Machine, rules: MachineRules): DnssecStatus {
  const { goal, serving, version, wanted, asked, atLarge, parent } = machine;
  if (!isSigned(serving)) {
    if (goal === 'signed') return 'signing';
    return version === null ? 'unsigning' : 'off';
  }
  const { records } = viewParent(machine, rules);
  const isCovered = records.some(({ meaning }) => meaning !== 'other' && meaning !== 'mistyped');
  if (records.length > 0 && !isCovered) return 'broken';
  if (goal === 'unsigned') return 'ds_removal';
  if (version === null && isFirst(machine)) return 'signing';
  const wantedOnes = wantedIds(machine);
  const theirs = foreignKeys(machine).map(({ id }) => id);
  const isLeaving = without([...serving.keys, ...atLarge], [...wantedOnes, ...theirs]).length > 0;
  if (isLeaving) return 'rolling';
  if (wanted === null || !asked.includes(wanted.sep)) return 'waiting';
  return isEverywhere(parent, wanted.sep, rules) ? 'secure' : 'ds_wanted';
}

/** True if nodes may still serve the zone unsigned. */
function isFirst({ ledger }: Machine): boolean {
  return ledger.data.some(({ signers }) => signers.length === 0);
}
