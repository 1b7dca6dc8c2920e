// Mails that warn the holder of a name: once per occurrence, to its owner and admins, and at most four per day and
// domain, regardless of other accounts' actions.

import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { LETTERS } from '../../../src/features/every-feature.ts';
import { migrate } from '../../../src/features/migrate.ts';
import type { Letter } from '../../../src/mail/mailer.ts';
import { handOver } from '../../../src/store/change/hand-over.ts';
import { loadDomainById } from '../../../src/store/domains/load-domains.ts';
import { claimDueMails, orderTakeoverMails } from '../../../src/store/people/mails.ts';
import { createMailSender, type MailOutcome } from '../../../workers/jobs/send-mail.ts';
import { newAccount, newDomain } from '../../support/database/domains.ts';
import { saveMembership } from '../../support/database/memberships.ts';
import { newPoolAccount, POOL } from '../../support/database/pool-accounts.ts';
import { checkOnce } from '../../support/database/saved-checks.ts';
import { sharedDatabase } from '../../support/tests/shared-database.ts';

const ANNS = 'referral ns1.a.example ns1.b.example';
const BOBS = 'referral ns2.a.example ns2.b.example';
const MINUTE_MS = 60_000;

const { db, query, column } = sharedDatabase();
let ann: number;
let bob: number;
let id: number;
let claim: number;
let now: number;

beforeAll(() => migrate(db, POOL));
beforeEach(async () => {
  ann = await newPoolAccount(db, 'ann@example.org', 1);
  bob = await newPoolAccount(db, 'bob@example.org', 2);
  ({ id } = await newDomain(db, ann, 'example.com.', { exempt: false }));
  now = Date.now();
  await look(ANNS, id);
  claim = await waits(bob);
});

const waits = async (accountId: number) =>
  (await newDomain(db, accountId, 'example.com.', { exempt: false, transfer: true })).id;
/** Checks the name, a little later than the previous check. */
const look = async (said: string, domainId = claim, minutes = 0.2) => {
  now += minutes * MINUTE_MS;
  await checkOnce(db, domainId, said, { at: now });
};
const mails = () => column<string>`
  select split_part(email, '@', 1) from mails where kind = 'takeover' order by id`;
const codes = async () => (await loadDomainById(db, id))?.findings.map(({ code }) => code);

test('one mail is ordered when the finding starts, and none while it lasts', async () => {
  await look(ANNS);
  expect(await mails()).toEqual([]);
  await look(BOBS);
  expect(await codes()).toContain('TAKEOVER_SEEN');
  expect(await mails()).toEqual(['ann']);
  await look(BOBS);
  await look('timeout');
  await look(BOBS);
  expect(await mails()).toEqual(['ann']);
  await look(BOBS, claim, 2);
  expect((await loadDomainById(db, claim))?.status).toBe('active');
  expect(await mails()).toEqual(['ann']);
});

test('repeated changes of the delegation cause at most four mails per day', async () => {
  const toggle = async () => {
    await look(BOBS);
    await look(ANNS);
  };
  for (let i = 0; i < 6; i++) await toggle();
  expect(await mails()).toHaveLength(4);
  await query`update takeover_mails set at = at - interval '1 day'`;
  for (let i = 0; i < 6; i++) await toggle();
  expect(await mails()).toHaveLength(8);
});

test('an account with many domains receives at most fifty mails per day', async () => {
  const domains = [id];
  for (const name of ['b', 'c', 'd']) domains.push((await newDomain(db, ann, `${name}.example.com.`)).id);
  await query`insert into takeover_mails (domain_id, account_id) select ${domains[3]}, ${ann} from generate_series(1, 48)`;
  const ordered = [];
  for (const domainId of [...domains, ...domains])
    ordered.push(
      await db.transaction().execute((trx) => orderTakeoverMails(trx, { domainId, message: 'x' })),
    );
  expect(ordered.filter((isOrdered) => isOrdered)).toHaveLength(2);
});

test('admins of the domain get the mail too, but not other members or deactivated accounts', async () => {
  for (const [name, role] of [
    ['dan', 'admin'],
    ['eve', 'editor'],
    ['fay', 'admin'],
  ] as const)
    await saveMembership(db, id, await newAccount(db, `${name}@example.org`), role);
  await query`update accounts set active = false where email = 'fay@example.org'`;
  await look(BOBS);
  expect(await mails()).toEqual(['ann', 'dan']);
});

test('the owner of a domain in external mode is warned too', async () => {
  await query`update domains set dns_mode = 'external', status = 'active' where id = ${id}`;
  await look(BOBS);
  await look(BOBS);
  expect(await query`select email, domain_id as "domainId", message from mails`).toEqual([
    {
      email: 'ann@example.org',
      domainId: id,
      message: expect.stringContaining('set your own nameservers'),
    },
  ]);
});

describe('a mail that is sent later', () => {
  const send = async () => {
    const outcomes: MailOutcome[] = [];
    const taken: Letter[] = [];
    const run = createMailSender({
      db,
      mailer: { send: async (letter) => void taken.push(letter), close() {} },
      publicUrl: 'https://dns.zonefleet.test',
      letters: LETTERS,
      onOutcome: (outcome) => outcomes.push(outcome),
    });
    for (const job of await claimDueMails(db, 10))
      await run(job, { signal: new AbortController().signal, again: false });
    return { taken, kinds: outcomes.map(({ kind }) => kind) };
  };

  test('is not sent to an account that has transferred the domain in the meantime', async () => {
    await look(BOBS);
    const by = { by: { kind: 'cli' }, source: 'cli' } as const;
    const dan = await newAccount(db, 'dan@example.org');
    expect(await handOver(db, { ...by, domainId: id, accountId: dan })).toMatchObject({ kind: 'passed' });
    const { taken, kinds } = await send();
    expect([taken, kinds]).toEqual([[], []]);
  });

  test('is sent to the account that has lost the name in the meantime', async () => {
    await look(BOBS);
    await look(BOBS, claim, 2);
    expect((await send()).kinds).toEqual(['sent']);
  });
});
