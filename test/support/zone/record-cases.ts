// The cases of fixtures/records: valid and invalid text of every record type.

import { readdirSync, readFileSync } from 'node:fs';
import { typeCode } from '../../../src/dns/type-codes.ts';

const RECORDS = new URL('../../../fixtures/records/', import.meta.url);
export const UNKNOWN_TYPE = 65280; // its cases are in generic.*.txt

const tables = readdirSync(RECORDS)
  .filter((file) => file.endsWith('.txt'))
  .map((file) => {
    const [stem, kind] = file.split('.') as [string, string];
    const type = stem === 'generic' ? UNKNOWN_TYPE : (typeCode(stem) as number);
    return { type, kind, cases: readCases(file) };
  });
export const validRecords = tables
  .filter(({ kind }) => kind === 'valid')
  .flatMap(({ type, cases }) => cases.map((line) => ({ type, ...splitValid(line) })));
export const invalidRecords = tables
  .filter(({ kind }) => kind === 'invalid')
  .flatMap(({ type, cases }) => cases.map((line) => ({ type, ...splitInvalid(line) })));

function readCases(file: string): string[] {
  const lines = readFileSync(new URL(file, RECORDS), 'utf8').split('\n');
  return lines.filter((line) => line !== '' && !line.startsWith('# '));
}

function splitValid(line: string) {
  const [, text = '', canonical = '', wire = ''] = /^(.*) => (.*) \| ([0-9A-F]*)$/.exec(line) ?? refuse(line);
  return { text, canonical, wire: Uint8Array.from(Buffer.from(wire, 'hex')) };
}

function splitInvalid(line: string) {
  const [, text = '', field = '', message = ''] = /^(.*) => (\w+): (.*)$/.exec(line) ?? refuse(line);
  return { text, field, message };
}

function refuse(line: string): never {
  throw new Error(`not a case: ${line}`);
}
