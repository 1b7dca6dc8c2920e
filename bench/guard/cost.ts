// Measures the cost of the work of one tree: the processor time of its programs and of Postgres, and the SQL.

import { cpuOf, type MeteredProgram } from './tree.ts';

export interface Cost {
  readonly cpuSeconds: number;
  readonly statements: number;
  readonly octets: number;
}

/** Returns the cost of one repetition, of which `work` makes `times`. */
export async function costOf(
  programs: readonly MeteredProgram[],
  times: number,
  work: () => Promise<unknown>,
): Promise<Cost> {
  const before = await totalsOf(programs);
  await work();
  const after = await totalsOf(programs);
  return {
    cpuSeconds: (after.cpuSeconds - before.cpuSeconds) / times,
    statements: (after.statements - before.statements) / times,
    octets: (after.octets - before.octets) / times,
  };
}

async function totalsOf(programs: readonly MeteredProgram[]): Promise<Cost> {
  const sql = programs.map((program) => program.sql.counts());
  return {
    cpuSeconds: await cpuOf(...programs),
    statements: sql.reduce((sum, { statements }) => sum + statements, 0),
    octets: sql.reduce((sum, { octets }) => sum + octets, 0),
  };
}
