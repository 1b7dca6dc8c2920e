// Mutated zone files: for any file, the parser returns records or problems, reads each character only a few times,
// and retains no memory.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { checkRdata } from '../../src/dns/record/rdata.ts';
import { parseZoneFile } from '../../src/dns/zone-file/parse-zone-file.ts';
import { printZoneFile } from '../../src/dns/zone-file/print-zone-file.ts';
import type { ZoneFile } from '../../src/dns/zone-file/zone-file.ts';
import { randomOf } from '../support/billing/random.ts';
import { countReads } from '../support/tests/count-reads.ts';
import { heapOctets } from '../support/tests/heap-octets.ts';
import { scale } from '../support/tests/scale.ts';

const FIXTURES = join(import.meta.dirname, '../../fixtures/zones');
const FILES = readdirSync(FIXTURES);
const TEXTS = FILES.filter((name) => name.endsWith('.zone')).map((name) =>
  readFileSync(join(FIXTURES, name), 'utf8'),
);
/** Maximum number of reads per character of the file and of its includes. Wrong lines are read twice. */
const MAX_READS = 20;
const MAX_GROWTH_OCTETS = 24 * 2 ** 20;

/**
 * Texts that break parsers, one JSON string per line: brackets, quotes, escapes, line ends, directives, extreme
 * numbers and long words.
 */
const FRAGMENTS = readFileSync(join(FIXTURES, '../zone-file-fragments.txt'), 'utf8')
  .trimEnd()
  .split('\n')
  .map((line): string => JSON.parse(line));

function mutate(seed: number): string {
  const random = randomOf(seed);
  const pick = <T>(list: readonly T[]): T => list[random(list.length)] as T;
  let text = pick(TEXTS);
  for (let rounds = 1 + random(1 + random(12)); rounds > 0; rounds--) {
    const at = random(text.length + 1);
    const end = Math.min(text.length, at + random(40));
    const kind = random(6);
    if (kind === 0) text = text.slice(0, at) + pick(FRAGMENTS) + text.slice(at);
    else if (kind === 1) text = text.slice(0, at) + text.slice(end);
    else if (kind === 2) text = text.slice(0, at) + pick(FRAGMENTS) + text.slice(end);
    else if (kind === 3) text = text.slice(0, at) + String.fromCharCode(random(256)) + text.slice(at + 1);
    else if (kind === 4) text = text.slice(0, end) + text.slice(at);
    else text = text.slice(0, at) + pick(TEXTS).slice(random(500), 500 + random(2000)) + text.slice(at);
  }
  return text;
}

const include = (path: string): string | { error: string } =>
  FILES.includes(path) ? readFileSync(join(FIXTURES, path), 'utf8') : { error: 'no such file' };

/** The output of $GENERATE is read too, up to this much per record. */
const GENERATED_CHARACTERS = 1000;

/** Returns the records and problems, and how often each character, including those of included files, was read. */
function parsed(text: string): { zone: ZoneFile; reads: number } {
  let characters = text.length;
  const including = (path: string) => {
    const included = include(path);
    if (typeof included === 'string') characters += included.length;
    return included;
  };
  let zone = parseZoneFile('');
  const reads = countReads(() => {
    zone = parseZoneFile(text, { include: including, file: 'mutated.zone' });
  });
  if (text.includes('$GENERATE')) characters += GENERATED_CHARACTERS * (zone.records.length + 1);
  return { zone, reads: reads / (characters + 1) };
}

it(
  'returns records or located problems for mutated zone files, reads each character a few times, and retains no memory',
  () => {
    const count = scale(10_000, 1000);
    let accepted = 0;
    for (let seed = 0; seed < 200; seed++) parsed(mutate(seed)); // warm-up
    const before = heapOctets();
    for (let seed = 1; seed <= count; seed++) {
      const { zone, reads } = parsed(mutate(seed));
      expect(reads, `seed ${seed}`).toBeLessThan(MAX_READS);
      for (const { line, column, message } of zone.problems) {
        const isPlaced = line >= 1 && column >= 1 && message.length > 0 && message.length < 500;
        if (!isPlaced) expect.fail(`seed ${seed}: a problem without a place: ${message}`);
      }
      for (const { type, rdata } of zone.records) checkRdata(type, rdata);
      if (zone.problems.length > 0) continue;
      accepted++;
      if (seed % 10 > 0) continue;
      const again = parseZoneFile(printZoneFile(zone.origin, zone.records), { origin: zone.origin });
      expect(again.problems, `seed ${seed}`).toEqual([]);
    }
    expect(heapOctets() - before).toBeLessThan(MAX_GROWTH_OCTETS);
    expect(accepted).toBeGreaterThan(count / 50); // otherwise only the lexer would be tested
    expect(accepted).toBeLessThan((2 * count) / 3);
  },
  scale(30, 3) * 60_000,
);
