import { beforeAll, expect, it } from 'vitest';
import { addTicketCommands } from '../../../src/features/tickets/cli.ts';
import { openTicket } from '../../../src/features/tickets/sql-write.ts';
import { runCommands } from '../../support/cli/run-commands.ts';
import { newAccount } from '../../support/database/domains.ts';
import { keptDatabase } from '../../support/tests/shared-database.ts';

const { db, url, query, column } = keptDatabase();
let id = '';
beforeAll(async () => {
  const accountId = await newAccount(db, 'ann@shop.test');
  const order = { accountId, subject: 'Help', message: 'one\ntwo\u001b[2J' };
  const opened = await openTicket(db, order);
  if (opened.kind !== 'opened') throw new Error(opened.message);
  id = String(opened.ticket.id);
});

const run = (...args: string[]) => runCommands(addTicketCommands, ['ticket', ...args], url);
const mails = async () => await query`select kind from mails`;

it('lists, shows, answers and closes tickets with audit rows, and prints no control characters', async () => {
  expect((await run('list', '--status', 'open')).stdout).toContain('ann@shop.test');
  expect(JSON.parse((await run('list', '--priority', '--json')).stdout)).toEqual({ tickets: [] });
  expect((await run('answer', id, 'Which one?')).stdout).toBe(`answered ${id}\n`);
  expect(await mails()).toEqual([]); // no mail is sent here
  const settings = { smtpUrl: 'smtp://127.0.0.1' };
  await runCommands(addTicketCommands, ['ticket', 'answer', id, 'Well?'], url, settings);
  expect(await mails()).toEqual([{ kind: 'ticket' }]);
  const { stdout } = await run('show', id);
  expect(stdout).toContain('  one\n  two\ufffd[2J');
  expect(stdout).toContain('staff\n  Which one?');
  expect(JSON.parse((await run('show', id, '--json')).stdout)).toMatchObject({
    status: 'answered',
    messages: [{ author: 'account' }, { author: 'staff' }, {}],
  });
  expect((await run('close', id)).stdout).toBe(`closed ${id}\n`);
  expect((await run('close', id)).code).toBe(0);
  const refused = await run('answer', id, 'Still there?');
  expect([refused.code, refused.stderr]).toEqual([1, `${id}: the ticket is closed: reopen it first\n`]);
  const actions = await column<string>`select action from audit_log order by id`;
  expect(actions).toEqual(['ticket.answer', 'ticket.answer', 'ticket.status']);
});

it('fails for an unknown ticket, and rejects invalid input', async () => {
  expect((await run('show', '999999')).code).toBe(1);
  expect((await run('close', '999999')).stderr).toBe('999999: no such ticket\n');
  for (const args of [
    ['show', 'x'],
    ['answer', id, ' '],
    ['list', '--status', 'gone'],
  ])
    expect((await run(...args)).code).toBe(2);
});
