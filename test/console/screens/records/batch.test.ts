// The call that a draft becomes, and problems back at their rows.

import { describe, expect, it } from 'vitest';
import { batchOf, isEmptyBatch, problemsOf } from '../../../../console/src/screens/records/batch.ts';
import { addRow, deleteRows, editRow, NO_DRAFT } from '../../../../console/src/screens/records/draft.ts';
import { typedOfRow } from '../../../../console/src/screens/records/rows.ts';
import { recordsById, someRecord } from '../../../support/console/records.ts';

const one = someRecord({ id: 1 });
const two = someRecord({ id: 2, name: 'mail', type: 'MX', destination: 'mx.example.net', mx_priority: 10 });

describe('the batch of a draft', () => {
  it('says only the fields that differ', () => {
    const draft = editRow(NO_DRAFT, '2', two, { mx_priority: '20' });
    expect(batchOf(draft).body).toEqual({ delete: [], update: [{ id: 2, mx_priority: 20 }], create: [] });
  });

  it('says the destination with another type', () => {
    const draft = editRow(NO_DRAFT, '1', one, { type: 'ANAME' });
    expect(batchOf(draft).body.update).toEqual([{ id: 1, type: 'ANAME', destination: '192.0.2.1' }]);
  });

  it('creates in the order in which rows were added, with the apex for no name', () => {
    const typed = { destination: '192.0.2.9' };
    const draft = addRow(addRow(NO_DRAFT, { ...typed, name: '' }), { ...typed, name: 'b', ttl: '60' });
    expect(batchOf(draft).body.create).toEqual([
      { name: '@', type: 'A', destination: '192.0.2.9' },
      { name: 'b', type: 'A', destination: '192.0.2.9', ttl: 60 },
    ]);
    expect(batchOf(draft).rows.create).toEqual(['n1', 'n2']);
  });

  it('says how the edge reaches the origin of proxied records only', () => {
    const proxied = addRow(NO_DRAFT, { name: 'w', destination: '192.0.2.9', proxied: true, port: '8443' });
    expect(batchOf(proxied).body.create[0]).toMatchObject({ proxied: true, port: 8443, timeout: 15 });
    const direct = addRow(NO_DRAFT, { name: 'w', destination: '192.0.2.9', port: '8443' });
    expect(batchOf(direct).body.create[0]).not.toHaveProperty('port');
  });

  it('leaves to the API what is no number', () => {
    const draft = editRow(NO_DRAFT, '1', one, { ttl: '5 min' });
    expect(batchOf(draft).body.update).toEqual([{ id: 1, ttl: '5 min' }]);
  });

  it('leaves out rows without a value', () => {
    expect(isEmptyBatch(batchOf(addRow(NO_DRAFT)))).toBe(true);
  });
});

describe('problems of items', () => {
  it('come to their rows, fields and boxes', () => {
    const added = addRow(NO_DRAFT, { name: 's', type: 'SRV', destination: '1 2 x host.example.net' });
    const draft = deleteRows(editRow(added, '2', two, { ttl: '1' }), ['1'], recordsById([one, two]));
    const items = [
      { list: 'create', index: 0, field: 'destination', error: 'port: a number is needed' },
      { list: 'update', index: 0, field: 'ttl', error: 'too small' },
      { list: 'delete', index: 0, error: 'is needed' },
      { list: 'create', index: 9, error: 'is nobody’s' },
    ];
    const found = problemsOf(items, batchOf(draft), (key) => typedOfRow(draft, key));
    expect([...found]).toEqual([
      ['n1', [{ field: 'destination', part: 'port', message: 'a number is needed' }]],
      ['2', [{ field: 'ttl', message: 'too small' }]],
      ['1', [{ message: 'is needed' }]],
    ]);
  });
});
