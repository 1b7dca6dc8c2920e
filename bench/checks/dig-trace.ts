// `dig +trace` for the same task, started once per name: from the root down to the domain's own nameservers.

import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BenchOptions } from '../part.ts';
import { runProgram } from '../program.ts';
import { OUR_NAMESERVERS, parentedName, rootAddresses } from './parents.ts';

export interface Traced {
  readonly checks: number;
  readonly seconds: number;
  /** Total of all processes. */
  readonly cpuSeconds: number;
}

const TICKS_PER_SECOND = 100;

export async function traceWithDig(
  order: { first: number; names: number; atOnce: number; port: number },
  options: BenchOptions,
): Promise<Traced> {
  const namesFile = join(options.directory, 'dig-names');
  const outputFile = join(options.directory, 'dig-output');
  const names = Array.from({ length: order.names }, (_, i) => parentedName(order.first + i));
  writeFileSync(namesFile, names.join('\n'));
  const dig = `dig @${rootAddresses()[0]} -p ${order.port} +trace +nodnssec NAME NS`;
  // All are descendants that the shell waits for, so they are counted in the shell's stat.
  const script = `xargs -a ${namesFile} -P ${order.atOnce} -I NAME ${dig}; cat /proc/$$/stat >&2`;
  const startedMs = performance.now();
  const program = runProgram(['bash', '-c', script], { cpu: options.serverCpu, outputFile });
  await program.ended;
  const seconds = (performance.now() - startedMs) / 1000;
  const output = readFileSync(outputFile, 'latin1');
  rmSync(outputFile);
  // The delegation by the parent, and the answer of the domain's own nameserver.
  const shown =
    output.match(new RegExp(`\\tNS\\t${OUR_NAMESERVERS[0].replaceAll('.', '\\.')}\\.\\n`, 'g')) ?? [];
  if (shown.length !== 2 * order.names) {
    throw new Error(`dig showed ${shown.length / 2} delegations of ${order.names}: ${output.slice(-1000)}`);
  }
  return { checks: order.names, seconds, cpuSeconds: childSeconds(program.output()) };
}

/** cutime and cstime: of the children that have ended, and theirs (proc(5)). */
export function childSeconds(stat: string): number {
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[13]) + Number(fields[14])) / TICKS_PER_SECOND;
}
