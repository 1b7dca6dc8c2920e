// Reads fixtures/validated: zones, and what a validator has to say of questions to them.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Name, parseName, ROOT } from '../../../src/dns/name.ts';
import { typeCode } from '../../../src/dns/type-codes.ts';
import type { ZoneText } from '../peers/peers.ts';
import { type Network, subjectName } from './signed-world.ts';

interface ValidatedQuestion {
  readonly name: Name;
  readonly type: number;
  readonly rcode: string;
  readonly security: 'secure' | 'insecure' | 'opt-out';
  /** The row of the table of answers that it is of. */
  readonly row: string;
}

const FOLDER = join(import.meta.dirname, '../../../fixtures/validated');

export function validatedZoneNames(): string[] {
  return readdirSync(FOLDER)
    .filter((file) => file.endsWith('.zone'))
    .map((file) => file.slice(0, -'.zone'.length));
}

export function readValidatedZone(zone: string, apex: string, network: Network): ZoneText {
  const tld = `${apex.split('.').at(-2)}.`;
  const text = readFileSync(join(FOLDER, `${zone}.zone`), 'utf8')
    .replaceAll(/\bSERVERNAME\b/g, subjectName(tld))
    .replaceAll(/\bSERVER\b/g, network.subject)
    .replaceAll(/\bCHILD\b/g, network.children);
  return { apex, text };
}

export function readValidatedQuestions(zone: string, apex: string): ValidatedQuestion[] {
  const origin = parseName(apex, ROOT);
  let row = '';
  const questions: ValidatedQuestion[] = [];
  for (const line of readFileSync(join(FOLDER, `${zone}.questions`), 'utf8').split('\n')) {
    if (line.startsWith(';')) row = line.slice(2);
    if (line === '' || line.startsWith(';')) continue;
    const [name = '', type = '', rcode = '', security = ''] = line.split(' ');
    const code = type === 'ANY' ? 255 : typeCode(type);
    if (code === undefined || !/^(secure|insecure|opt-out)$/.test(security))
      throw new Error(`fixtures/validated/${zone}.questions: ${line}`);
    questions.push({
      name: parseName(name === '@' ? apex : name, origin),
      type: code,
      rcode,
      security: security as ValidatedQuestion['security'],
      row,
    });
  }
  return questions;
}
