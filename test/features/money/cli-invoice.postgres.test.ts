import { beforeAll, expect, it } from 'vitest';
import { addInvoiceCommands } from '../../../src/features/money/cli-invoice.ts';
import { runCommands } from '../../support/cli/run-commands.ts';
import { newAccount } from '../../support/database/domains.ts';
import { keptDatabase } from '../../support/tests/shared-database.ts';

const { db, url, query } = keptDatabase();
beforeAll(async () => {
  const accountId = await newAccount(db, 'ann@shop.test');
  await query`update accounts set name = ${'Ann\u001b[2J'} where id = ${accountId}`;
  const lines = JSON.stringify([{ description: 'Team for 30 days: shop.test', amount_rials: 70 }]);
  await query`
    select issue_invoice(${accountId}, null, null, 0, ${lines}::jsonb, 70, null, null, '2026-05-01T12:00:00Z')`;
});

const run = (...args: string[]) => runCommands(addInvoiceCommands, ['invoice', ...args], url);

it('lists the invoices of an account and shows one, without control characters', async () => {
  expect((await run('list', 'ann@shop.test')).stdout).toContain('2026-000001');
  const { code, stdout } = await run('show', '2026-000001');
  expect(code).toBe(0);
  expect(stdout).toContain('Team for 30 days: shop.test');
  expect(stdout).toContain('Ann\ufffd[2J <ann@shop.test>');
  const shown = JSON.parse((await run('show', '2026-000001', '--json')).stdout);
  expect(shown).toMatchObject({ number: '2026-000001', buyer_email: 'ann@shop.test', total_rials: 70 });
  const { invoices } = JSON.parse((await run('list', 'ann@shop.test', '--json')).stdout);
  expect(invoices).toEqual([shown]);
});

it('fails for an unknown account or invoice, and rejects an invalid number', async () => {
  const absent = await run('show', '2026-000002');
  expect([absent.code, absent.stderr]).toEqual([1, '2026-000002: no such invoice\n']);
  expect((await run('show', '7')).code).toBe(2);
});
