import { describe, expect, it } from 'vitest';
import { addRow, NO_DRAFT } from '../../../../console/src/screens/records/draft.ts';
import { applyDifferences } from '../../../../console/src/screens/records/record-plan.ts';
import { NO_FILTER, rowsOf } from '../../../../console/src/screens/records/rows.ts';
import {
  TEMPLATE_IDS,
  type TemplateId,
  templateDifferences,
  templateFields,
} from '../../../../console/src/screens/templates/zone-templates.ts';
import { templates } from '../../../../console/src/words/en/templates.ts';
import { recordsById, someRecord } from '../../../support/console/records.ts';

const DOMAIN = 'shop.example';
const there = [
  someRecord({ id: 1, name: '@', type: 'A', destination: '192.0.2.1', proxied: true }),
  someRecord({ id: 2, name: 'www', type: 'A', destination: '192.0.2.1' }),
  someRecord({ id: 3, name: 'www', type: 'TXT', destination: 'text' }),
  someRecord({ id: 4, name: '@', type: 'MX', destination: 'mail.test', mx_priority: 10 }),
];
const differences = (id: TemplateId, values: Record<string, string>, draft = NO_DRAFT) =>
  templateDifferences(rowsOf(there, draft, NO_FILTER), id, values, DOMAIN);
const changes = (id: TemplateId, values: Record<string, string>) =>
  differences(id, values).map(({ op, before, after }) => {
    const { name, type, destination } = (after ?? before)!;
    return `${op} ${name} ${type} ${destination}`;
  });

describe('a template', () => {
  it('replaces addresses and aliases, and everything next to a CNAME', () => {
    expect(changes('website', { address: '192.0.2.1', address6: '2001:db8::1' })).toEqual([
      'delete www A 192.0.2.1',
      'delete www TXT text',
      'create @ AAAA 2001:db8::1',
      'create www CNAME shop.example',
    ]);
    expect(changes('host', { host: 'a.host.test' })).toEqual([
      'delete @ A 192.0.2.1',
      'delete www A 192.0.2.1',
      'delete www TXT text',
      'create @ ANAME a.host.test',
      'create www CNAME a.host.test',
    ]);
  });

  it('keeps the settings of records that get another address', () => {
    expect(differences('website', { address: '192.0.2.9' })[0]).toMatchObject({
      op: 'update',
      fields: ['destination'],
      after: { destination: '192.0.2.9', proxied: true },
    });
  });

  it('ends the mail of a parked domain', () => {
    expect(changes('parked', {})).toEqual([
      'delete @ MX mail.test',
      'create @ CAA 0 issue ";"',
      'create @ MX .',
      'create @ TXT v=spf1 -all',
      'create _dmarc TXT v=DMARC1; p=reject',
    ]);
  });

  it('needs its values, except optional ones', () => {
    const problems = (values: Record<string, string>) =>
      templateFields('website', values, DOMAIN).map(({ problem }) => problem);
    expect(problems({})).toEqual(['needed', undefined]);
    expect(problems({ address: '192.0.2', address6: 'x' })).toEqual(['wrong', 'wrong']);
    expect(problems({ address: '192.0.2.1' })).toEqual([undefined, undefined]);
  });

  it('has texts for all its fields', () => {
    for (const id of TEMPLATE_IDS)
      for (const { key } of templateFields(id, {}, DOMAIN)) expect(templates.fields).toHaveProperty(key);
  });

  it('is added to the draft, in its order and above older rows', () => {
    const before = addRow(NO_DRAFT, { name: 'old' });
    const values = { address: '192.0.2.9', address6: '2001:db8::1' };
    const after = applyDifferences(before, differences('website', values, before), recordsById(there));
    expect(after.creates.map(({ typed }) => `${typed.name} ${typed.type}`)).toEqual([
      '@ AAAA',
      'www CNAME',
      'old A',
    ]);
    expect(Object.entries(after.edits).map(([key, { now }]) => [key, now?.destination])).toEqual([
      ['1', '192.0.2.9'],
      ['2', undefined],
      ['3', undefined],
    ]);
  });
});
