// Adjusts the machine that is shown to an owner after a restore. The restored database requests the DS of its backup,
// although the domain may have been moved or disabled since. Until the next examination, only a DS that was at the parent
// counts as requested.

import type { Machine } from '../machine.ts';
import { keysShown } from '../parent-memory.ts';
import type { MachineRules } from '../rules.ts';

/** `epoch`: the current one of the database. */
export function asTold(machine: Machine, epoch: string, rules: MachineRules): Machine {
  if (machine.epoch === null || machine.epoch === epoch) return machine;
  const shown = keysShown(machine.parent, machine.keys, rules);
  return { ...machine, asked: machine.asked.filter((id) => shown.includes(id)) };
}
