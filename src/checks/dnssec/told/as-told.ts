// What an owner may be told of a key machine. A restored database asks for what its backup asked for, though the domain may have
// been moved or disabled since: before the next look, only a DS that was at the parent counts as asked for.

import type { Machine } from '../machine.ts';
import { keysShown } from '../parent-memory.ts';
import type { MachineRules } from '../rules.ts';

/** `epoch`: of the database now. */
export function asTold(machine: Machine, epoch: string, rules: MachineRules): Machine {
  if (machine.epoch === null || machine.epoch === epoch) return machine;
  const shown = keysShown(machine.parent, machine.keys, rules);
  return { ...machine, asked: machine.asked.filter((id) => shown.includes(id)) };
}
