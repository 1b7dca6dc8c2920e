// BIND's delv: it validates by itself, with one trust anchor, what any server tells it.

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { printName } from '../../../src/dns/name.ts';
import { typeMnemonic } from '../../../src/dns/type-codes.ts';
import { bindAnchors } from './named.ts';
import { eachOf, runProgram } from './run-program.ts';
import {
  DNAME_CNAME_ROW,
  NSEC_AT_ALIAS_ROW,
  type Validator,
  type Verdict,
  WILDCARD_NAME_ROW,
} from './validator.ts';

/** The anchors are those of one zone. `port`: of a server on 127.0.0.1 that has all that is asked for, or finds it. */
export async function startDelv(zoneAnchors: readonly string[], port: number): Promise<Validator> {
  const directory = await mkdtemp(join(tmpdir(), 'zonefleet-delv-'));
  const anchors = join(directory, 'anchors');
  await writeFile(anchors, bindAnchors(zoneAnchors));
  const root = zoneAnchors[0]?.split(' ')[0] as string;
  const fixed = ['@127.0.0.1', '-p', String(port), '-a', anchors, `+root=${root}`, '+nocrypto'];
  return {
    name: 'delv',
    // Unbound, which it asks, may remember such an answer as bogus.
    judges: ({ row }) => ![WILDCARD_NAME_ROW, DNAME_CNAME_ROW, NSEC_AT_ALIAS_ROW].includes(row),
    ask: (questions) =>
      eachOf(questions, async ({ name, type }) => {
        const { text } = await runProgram('delv', [
          ...fixed,
          '-q',
          printName(name),
          '-t',
          typeMnemonic(type),
        ]);
        return verdictOf(text);
      }),
    async forget() {}, // each question is a process of its own
    stop: () => rm(directory, { recursive: true, force: true }),
  };
}

function verdictOf(text: string): Verdict {
  const isNegative = /^; negative response|resolution failed: ncache/m.test(text);
  const rcode = /ncache nxdomain/.test(text) ? 'NXDOMAIN' : 'NOERROR';
  if (/^; (negative response, )?fully validated/m.test(text)) {
    const isMixed = /^; (negative response, )?unsigned answer/m.test(text);
    return { security: isMixed ? 'insecure' : 'secure', rcode };
  }
  if (/^; (negative response, )?unsigned answer/m.test(text)) return { security: 'insecure', rcode };
  return {
    security: 'bogus',
    rcode: isNegative ? rcode : 'SERVFAIL',
    reason: text.trim().split('\n')[0] ?? '',
  };
}
