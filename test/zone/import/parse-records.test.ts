import { describe, expect, it } from 'vitest';
import { type Name, parseName } from '../../../src/dns/name.ts';
import { inOneGo } from '../../../src/dns/zone-file/in-one-go.ts';
import type { RecordText } from '../../../src/zone/edit/parse-edit.ts';
import { parseRecords } from '../../../src/zone/import/parse-records.ts';
import { readImport } from '../../../src/zone/import/read-import.ts';
import { parseRecordName } from '../../../src/zone/records/record-name.ts';
import {
  PROVIDER_FORMS,
  type ProviderForm,
  providerZone,
  rdataOf,
} from '../../support/zone/provider-forms.ts';

const DOMAIN = 'shop.example';
const APEX = parseName(`${DOMAIN}.`);
const ZONE = providerZone(DOMAIN, 120);

function parse({ write, addDots }: ProviderForm, zone = ZONE) {
  const text = write(zone);
  return { text, ...inOneGo(parseRecords(text, APEX, { addDots })) };
}

const key = (name: Name, type: string, ttl: number | undefined, rdata: Uint8Array, proxied = false) =>
  `${Buffer.from(name, 'latin1').toString('hex')} ${type} ${ttl} ${Buffer.from(rdata).toString('hex')} ${proxied}`;

/** Reads the records like an import into the domain. */
function imported(records: readonly RecordText[], { saysProxied }: ProviderForm): string[] {
  const { entries, unread } = inOneGo(readImport(records, APEX));
  expect([...unread]).toEqual([]);
  return entries
    .map(({ name, type, ttl, rdata, proxied }) => {
      if (!saysProxied) expect(proxied).toBeUndefined();
      return key(name, type, ttl, rdata, proxied);
    })
    .sort();
}

function expected({ saysProxied }: ProviderForm): string[] {
  return ZONE.records
    .map((record) => {
      const owner = parseRecordName(record.name, APEX);
      if (owner.kind === 'problem') throw new Error(owner.message);
      const proxied = saysProxied && record.proxied === true;
      return key(owner.name, record.type, record.ttl, rdataOf(record), proxied);
    })
    .sort();
}

describe.each(PROVIDER_FORMS)('a zone of 120 records in the form of $provider', (form) => {
  it('is read with every record, and without warnings', () => {
    const { records, errors, skipped, warnings } = parse(form);
    expect([errors, warnings]).toEqual([[], []]);
    expect(skipped).toHaveLength(form.others);
    const unexplained = skipped.filter(
      ({ line, name, reason }) => !(name === '@' && /\S/.test(reason) && line > 1),
    );
    expect(unexplained).toEqual([]);
    expect(records).toHaveLength(120);
    expect(imported(records, form)).toEqual(expected(form));
  });

  it('has an error or a skipped record for each record that cannot be read, at its line', () => {
    const isBad = (i: number) => i % 7 === 3;
    const broken = ZONE.records.map((record, i) =>
      record.type === 'A' && isBad(i) ? { ...record, words: ['192.0.2.999'] } : record,
    );
    const { text, records, errors, skipped } = parse(form, { ...ZONE, records: broken });
    const bad = broken.filter(({ words }) => words[0] === '192.0.2.999').length;
    expect([bad > 2, errors.length, skipped.length]).toEqual([true, bad, form.others]);
    expect(records).toHaveLength(120 - bad);
    const lines = text.split(/\r?\n/);
    for (const { line, error } of errors) {
      expect(error).toContain('192.0.2.999');
      // the element of a JSON list begins some lines before its value
      expect(lines.slice(line - 1, line + 9).join('\n')).toContain('192.0.2.999');
      if (form.provider !== 'Route 53') expect(lines[line - 1]).toContain('192.0.2.999');
    }
  });
});
