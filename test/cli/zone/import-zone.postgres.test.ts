// Imports of zones from a server, whose answer the tests choose.

import { describe, expect, it } from 'vitest';
import type { Audited } from '../../../src/cli/terminal/cli.ts';
import { INTERRUPTED } from '../../../src/cli/terminal/output.ts';
import { importZone } from '../../../src/cli/zone/import-zone.ts';
import { storedKey } from '../../../src/cli/zone/transfer-key.ts';
import { parseName } from '../../../src/dns/name.ts';
import { audited } from '../../../src/store/audit/write-audit.ts';
import type { Database } from '../../../src/store/postgres/database.ts';
import { createKey, importKey, revokeKey } from '../../../src/store/transfers/keys.ts';
import { loadZone } from '../../../src/store/zones/load-zones.ts';
import type { SerialRule } from '../../../src/store/zones/save-zones.ts';
import type { TransferResult } from '../../../src/zone/transfer/read-transfer.ts';
import { listed, newAccount, newDomain } from '../../support/database/domains.ts';
import { captureOutput } from '../../support/tests/captured-output.ts';
import { sharedDatabase } from '../../support/tests/shared-database.ts';
import { recordsOf } from '../../support/zone/zone-text.ts';

const { db, value } = sharedDatabase();
const FROM = '192.0.2.1:53';
const TEXT =
  '@ 60 SOA ns host 7 2 3 4 5\n@ 60 NS ns\nns 60 A 192.0.2.1\nwww 60 CNAME ns\nwww2 60 TYPE65280 \\# 0\n';

const zone = (text: string, dropped = 0): TransferResult => {
  return { kind: 'zone', serial: 7, dropped, records: recordsOf(text, 'example.com.') };
};

interface Run {
  readonly accountId?: number;
  readonly isDryRun?: boolean;
  readonly serialRule?: SerialRule;
  readonly json?: boolean;
}

async function run(result: TransferResult | Error, { accountId, json = false, ...more }: Run = {}) {
  const captured = captureOutput(json);
  const abort = new AbortController();
  const order = {
    apex: parseName('example.com.'),
    from: FROM,
    async transfer() {
      if (!(result instanceof Error)) return result;
      abort.abort(result);
      throw result;
    },
    owner: accountId === undefined ? {} : { accountId },
    isDryRun: false,
    serialRule: 'newer' as const,
    at: 1_800_000_000,
    by: { by: { kind: 'cli', name: 'tester' }, source: 'cli' } as const,
    actor: 'tester',
    signal: abort.signal,
    audited: <T>(on: Database, work: Audited<T>) =>
      audited(on, { action: 'zone.load', by: { kind: 'cli', name: 'tester' } }, work),
    ...more,
  };
  const code = await importZone(db, order, captured.output);
  return { code, out: captured.out.trimEnd().split('\n'), err: captured.err.trimEnd().split('\n') };
}

const stored = async () => (await loadZone(db, parseName('example.com.')))?.records.length;

describe('zone import', () => {
  it('loads an operator zone, with its warnings and an entry in the audit log', async () => {
    const text = `${TEXT}mail 60 MX 10 nowhere\n`;
    expect(await run(zone(text, 2), { isDryRun: true })).toEqual({
      code: 0,
      out: [`transferred example.com. serial 7 records 6 from ${FROM}`, 'would load example.com.'],
      err: [
        `${FROM}: warning: 2 records outside the zone are left out`,
        expect.stringMatching(/^192\.0\.2\.1:53: warning: .*nowhere\.example\.com/),
      ],
    });
    expect(await stored()).toBeUndefined();
    const { code, out } = await run(zone(text));
    expect([code, out[1]]).toEqual([
      0,
      expect.stringMatching(/^loaded example\.com\. version \d+ records 6 \(created\)$/),
    ]);
    expect(await stored()).toBe(6);
    const [json] = (await run(zone(TEXT), { json: true })).out;
    expect(JSON.parse(json as string)).toMatchObject({
      zone: 'example.com.',
      outcome: 'replaced',
      from: FROM,
      serial: 7,
      transferred: 5,
      dropped: 0,
      zonemd: 'absent',
      warnings: [],
    });
    expect(await value`select count(*)::integer from audit_log where action = 'zone.load'`).toBe(2);
  });

  it('refuses a zone that is not valid, not equal to its digest or not transferred, and changes nothing', async () => {
    const digest = `${TEXT}@ 60 ZONEMD 7 1 1 ${'00'.repeat(48)}\n`;
    const message = `${FROM} answered REFUSED to AXFR`;
    for (const [result, ...problems] of [
      [zone(`${TEXT}www 60 A 192.0.2.2\n`), /CNAME/],
      [zone(digest), /^192\.0\.2\.1:53: the ZONEMD of example\.com\. does not match/],
      [
        { kind: 'failed', code: 'PRIMARY_REFUSED', message },
        /^192\.0\.2\.1:53: the server answered REFUSED to AXFR$/,
      ],
    ] as [TransferResult, ...RegExp[]][]) {
      const { code, err } = await run(result);
      expect([code, err]).toEqual([1, problems.map((each) => expect.stringMatching(each))]);
    }
    const [json] = (await run(zone(digest), { json: true })).out;
    expect(JSON.parse(json as string)).toMatchObject({
      outcome: 'refused',
      problems: [{ code: 'ZONEMD_INVALID' }],
    });
    expect((await run(new Error('stopped'))).code).toBe(INTERRUPTED);
    expect(await stored()).toBeUndefined();
  });

  it('imports into the domain of the given account, and only if an account is given', async () => {
    const accountId = await newAccount(db, 'owner@a.example');
    const domain = await newDomain(db, accountId);
    expect(await run(zone(TEXT))).toMatchObject({
      code: 1,
      err: ["example.com: this is a customer's domain; add --account to import into it"],
    });
    const other = await newAccount(db, 'other@a.example');
    expect((await run(zone(TEXT), { accountId: other })).err[0]).toContain('this account has no such domain');
    const dry = await run(zone(TEXT), { accountId, isDryRun: true });
    expect(dry).toMatchObject({
      code: 0,
      out: [
        {},
        'would import into example.com: created 3 overwritten 0 removed 0 errors 0 skipped 2 failed 0 warnings 0',
      ],
    });
    expect(await listed(db, domain.id)).toEqual([]);
    const done = await run(zone(TEXT, 1), { accountId });
    expect(done.err).toEqual([
      `${FROM}: warning: 1 records outside the zone are left out`,
      '@ SOA: skipped: the service creates the SOA',
      '@ NS: skipped: the nameservers of the domain itself are set by the service',
    ]);
    expect(await listed(db, domain.id)).toHaveLength(3);
    const [json] = (await run(zone(TEXT), { accountId, json: true })).out;
    expect(JSON.parse(json as string)).toMatchObject({
      domain: 'example.com',
      outcome: 'imported',
      transferred: 5,
      dropped: 0,
      skipped: [{ name: '@', type: 'SOA' }, {}],
    });
    expect(json).not.toContain('"line"');
  });
});

it('the key of an import is one of the operator that is not revoked', async () => {
  const secrets = [{ name: 'a', secret: new Uint8Array(32).fill(1) }];
  const secret = new Uint8Array(32).fill(7);
  const imported = { accountId: null, algorithm: 'hmac-sha384', name: 'key.', secret } as const;
  const first = await importKey(db, secrets, imported);
  if (first.kind !== 'stored') throw new Error(first.kind);
  expect(await storedKey(db, secrets, 'KEY')).toEqual({
    name: parseName('key.'),
    algorithm: 'hmac-sha384',
    secret: Buffer.from(secret),
  });
  const elsewhere = [{ name: 'b', secret: new Uint8Array(32) }];
  await expect(storedKey(db, elsewhere, 'key')).rejects.toThrow('needs the secret "a" of TSIG_SECRETS');
  await revokeKey(db, null, first.key.id);
  await expect(storedKey(db, secrets, 'key')).rejects.toThrow('--key: "key" is not a key');
  const accountId = await newAccount(db, 'keys@a.example');
  const owned = await createKey(db, secrets, { accountId, label: 'owned', algorithm: 'hmac-sha256' });
  const name = owned.kind === 'stored' ? owned.key.name : '';
  await expect(storedKey(db, secrets, name)).rejects.toThrow('is not a key');
});
