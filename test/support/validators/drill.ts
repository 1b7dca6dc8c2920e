// ldns's drill -S: it chases the signatures of one answer up to a key that it trusts. A tool to look with, not a resolver:
// what it cannot judge is left out (`canJudge`).

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { printName } from '../../../src/dns/name.ts';
import { TYPE, typeMnemonic } from '../../../src/dns/type-codes.ts';
import { eachOf, runProgram } from './run-program.ts';
import type { JudgedQuestion, Validator } from './validator.ts';

const JUDGED = ['positive', 'NODATA at a name', 'NXDOMAIN', 'from a wildcard', 'wildcard NODATA'];

/**
 * It follows no chain, wants a wildcard's proof at empty non-terminals, and finds no way to what is insecure, or owned by no
 * record that it was sent (ANY, the CNAME of a DNAME).
 */
function judges({ row, type }: JudgedQuestion): boolean {
  return JUDGED.includes(row) && type !== TYPE.DS;
}

/** `port`: of a server on 127.0.0.1 that has all that is asked for, or finds it. */
export async function startDrill(anchor: string, port: number): Promise<Validator> {
  const directory = await mkdtemp(join(tmpdir(), 'zonefleet-drill-'));
  const key = join(directory, 'anchor.key');
  await writeFile(key, `${anchor}\n`);
  return {
    name: 'drill',
    judges,
    ask: (questions) =>
      eachOf(questions, async ({ name, type }) => {
        const args = ['-S', '-k', key, '-p', String(port), '-b', '1232', '-a', '-o', 'CD'];
        const { code, text } = await runProgram('drill', [
          ...args,
          printName(name),
          '@127.0.0.1',
          typeMnemonic(type),
        ]);
        if (code === 0 && text.includes('Chase successful')) return { security: 'secure', rcode: '' };
        return { security: 'bogus', rcode: '', reason: text.trim().split('\n').slice(-3).join(' ') };
      }),
    async forget() {}, // each question is a process of its own
    stop: () => rm(directory, { recursive: true, force: true }),
  };
}
