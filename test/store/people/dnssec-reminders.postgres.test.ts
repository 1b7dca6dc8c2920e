// The mails that remind owners of DS records: to those who can do something, once in 30 days for a domain, 20 a day for an account.

import { sql } from 'kysely';
import { beforeEach, expect, test } from 'vitest';
import { openMailer } from '../../../src/mail/mailer.ts';
import { enableDnssec } from '../../../src/store/dnssec/change-goal.ts';
import { loadDnssec } from '../../../src/store/dnssec/load-dnssec.ts';
import { orderDnssecReminder } from '../../../src/store/people/dnssec-reminders.ts';
import { claimDueMails } from '../../../src/store/people/mails.ts';
import { openDatabase } from '../../../src/store/postgres/database.ts';
import { createMailSender } from '../../../workers/jobs/send-mail.ts';
import { asRole } from '../../support/database/database.ts';
import { BY, newAccount, newDomain } from '../../support/database/domains.ts';
import { saveMembership } from '../../support/database/memberships.ts';
import { useSecrets } from '../../support/database/signed-zones.ts';
import { startSmtp } from '../../support/mail/smtp.ts';
import { sharedDatabase } from '../../support/tests/shared-database.ts';

const database = sharedDatabase();
let ann: number;
beforeEach(async () => {
  useSecrets(database.db);
  ann = await newAccount(database.db, 'ann@example.org');
});

const signedZone = async (name: string) => {
  const { id: domainId } = await newDomain(database.db, ann, name);
  expect((await enableDnssec(database.db, { ...BY, domainId })).kind).toBe('updated');
  const signedZoneId = (await loadDnssec(database.db, domainId))?.signed.id as number;
  return { domainId, signedZoneId };
};
/** As a worker orders it. */
const order = async (signedZoneId: number, message = 'Enter this DS.') => {
  const db = openDatabase(asRole(database.url, 'zonefleet_worker'));
  try {
    return await orderDnssecReminder(db, { signedZoneId, message });
  } finally {
    await db.destroy();
  }
};
const mails = async () => {
  const { rows } = await sql<{ to: string }>`
      select split_part(email, '@', 1) as to from mails where kind = 'dnssec' order by id`.execute(
    database.db,
  );
  return rows.map(({ to }) => to);
};
const longAgo = (days: number) =>
  sql`update signed_zones set reminded_at = reminded_at - make_interval(days => ${days}::integer)`.execute(
    database.db,
  );

test('one in thirty days goes to the owner and the admins of a domain, and to nobody else', async () => {
  const { domainId, signedZoneId } = await signedZone('a.example.com.');
  for (const [name, role] of [
    ['dan', 'admin'],
    ['eve', 'editor'],
    ['fay', 'admin'],
  ] as const)
    await saveMembership(database.db, domainId, await newAccount(database.db, `${name}@example.org`), role);
  await sql`update accounts set active = false where email = 'fay@example.org'`.execute(database.db);
  expect(await order(signedZoneId)).toBe(true);
  expect(await mails()).toEqual(['ann', 'dan']);
  expect(await order(signedZoneId)).toBe(false);
  await longAgo(29);
  expect(await order(signedZoneId)).toBe(false);
  await longAgo(1);
  expect(await order(signedZoneId)).toBe(true);
  expect(await mails()).toHaveLength(4);
});

test('an account with many domains gets twenty a day, and the rest on other days', async () => {
  const [one, two] = [await signedZone('a.example.com.'), await signedZone('b.example.com.')];
  expect(await order(one.signedZoneId)).toBe(true);
  await sql`update dnssec_reminders set mails = 20`.execute(database.db);
  expect(await order(two.signedZoneId)).toBe(false);
  await sql`update dnssec_reminders set day = day - 1`.execute(database.db);
  expect(await order(two.signedZoneId)).toBe(true);
  const { rows } = await sql<{ mails: number }>`select mails from dnssec_reminders`.execute(database.db);
  expect(rows).toEqual([{ mails: 1 }]);
});

test('the letter says which domain it is, and what to enter', async () => {
  const { signedZoneId } = await signedZone('a.example.com.');
  await order(signedZoneId, 'Enter this DS record: key tag 7.');
  const smtp = await startSmtp();
  const kinds: string[] = [];
  const mailer = openMailer(smtp.url, 'zonefleet@dns.zonefleet.test');
  const run = createMailSender({
    db: database.db,
    mailer,
    publicUrl: 'https://dns.zonefleet.test',
    onOutcome: ({ kind }) => kinds.push(kind),
  });
  for (const job of await claimDueMails(database.db, 10))
    await run(job, { signal: new AbortController().signal, again: false });
  mailer.close();
  await smtp.stop();
  expect(kinds).toEqual(['sent']);
  expect(smtp.taken).toMatchObject([{ to: 'ann@example.org' }]);
  expect(smtp.taken[0]?.raw).toMatch(/^Subject: a\.example\.com: DNSSEC waits for your registrar\r$/m);
  expect(smtp.taken[0]?.text).toContain('Enter this DS record: key tag 7.');
});
