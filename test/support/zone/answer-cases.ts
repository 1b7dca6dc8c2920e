// Reads fixtures/answers: each folder contains zones (`<apex>.zone`) and cases.txt with dig-like blocks separated by empty
// lines. The first comment of a block is the rule and its RFC. A missing section is empty. After `tc`, sections are not
// compared.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Name, parseName } from '../../../src/dns/name.ts';
import { typeCode } from '../../../src/dns/type-codes.ts';
import { linesOf, type Observed } from '../answer/observed-answer.ts';
import type { ZoneText } from '../peers/peers.ts';
import { recordsOf } from './zone-text.ts';

export interface AnswerCase {
  readonly rule: string;
  readonly name: Name;
  readonly type: number;
  /** UDP payload size of the OPT record. Undefined if the query has none. */
  readonly udpPayloadSize: number | undefined;
  readonly expected: Observed;
}

interface AnswerCases {
  readonly folder: string;
  readonly zones: readonly ZoneText[];
  readonly cases: readonly AnswerCase[];
}

const ROOT_FOLDER = join(import.meta.dirname, '../../../fixtures/answers');
const DEFAULT_UDP_PAYLOAD_SIZE = 1232;

export function readAnswerCases(): AnswerCases[] {
  return readdirSync(ROOT_FOLDER, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => readFolder(entry.name));
}

function readFolder(folder: string): AnswerCases {
  const path = join(ROOT_FOLDER, folder);
  const files = readdirSync(path).filter((file) => file.endsWith('.zone'));
  const zones = files.map((file) => ({
    apex: file === 'root.zone' ? '.' : `${file.slice(0, -'.zone'.length)}.`,
    text: readFileSync(join(path, file), 'utf8'),
  }));
  const blocks = readFileSync(join(path, 'cases.txt'), 'utf8').split(/\n{2,}/);
  const cases = blocks.filter((block) => block.trim() !== '').map((block) => parseCase(block, folder));
  return { folder, zones, cases };
}

const KEYS = ['QUESTION', 'EDNS', 'STATUS', 'ANSWER', 'AUTHORITY', 'ADDITIONAL'];

function parseCase(block: string, folder: string): AnswerCase {
  const fail = (why: string): never => {
    throw new Error(`fixtures/answers/${folder}/cases.txt: ${why} in\n${block}`);
  };
  const values = new Map<string, string>();
  let rule = '';
  let section = '';
  for (const line of block.trim().split('\n')) {
    const [, key, value] = /^;; ([A-Z]+):(.*)$/.exec(line) ?? [];
    if (key !== undefined) {
      if (!KEYS.includes(key) || values.has(key)) fail(`"${key}" is unknown or twice`);
      section = key;
      values.set(key, (value ?? '').trim());
    } else if (line.startsWith(';; ')) {
      if (rule !== '') fail('two rules');
      rule = line.slice(3);
    } else {
      values.set(section, `${values.get(section)}\n${line}`);
    }
  }
  if (!/RFC \d+/.test(rule)) fail('no rule with its RFC');
  const [nameText = '', typeText = ''] = (values.get('QUESTION') ?? '').split(' ');
  const [rcode = '', ...flags] = (values.get('STATUS') ?? '').split(' ');
  const type = typeCode(typeText);
  if (type === undefined || rcode === '') throw fail('no type or no status');
  const size = values.get('EDNS') ?? String(DEFAULT_UDP_PAYLOAD_SIZE);
  const lines = (key: string) => linesOf(recordsOf(values.get(key) ?? ''));
  return {
    rule,
    name: parseName(nameText),
    type,
    udpPayloadSize: size === 'none' ? undefined : Number(size),
    expected: {
      rcode,
      aa: flags.includes('aa'),
      tc: flags.includes('tc'),
      answer: lines('ANSWER'),
      authority: lines('AUTHORITY'),
      additional: lines('ADDITIONAL'),
      octets: 0,
    },
  };
}
