// Records in the console's format.

import type { KeptRecord } from '../../../console/src/screens/records/typed.ts';

export function someRecord(set: Partial<KeptRecord>): KeptRecord {
  return {
    id: 1,
    name: 'www',
    type: 'A',
    destination: '192.0.2.1',
    ttl: 300,
    proxied: false,
    captcha: false,
    scheme: 'Default',
    port: 443,
    monitor: false,
    timeout: 15,
    dns_content: '192.0.2.1',
    editable: true,
    ...set,
  };
}

export function recordsById(records: readonly KeptRecord[]): ReadonlyMap<string, KeptRecord> {
  return new Map(records.map((record) => [String(record.id), record]));
}
