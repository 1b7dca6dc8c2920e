import { beforeEach, describe, expect, it, test } from 'vitest';
import { LETTERS } from '../../src/features/every-feature.ts';
import type { Letter } from '../../src/mail/mailer.ts';
import { enableDnssec } from '../../src/store/dnssec/change-goal.ts';
import { loadDnssec } from '../../src/store/dnssec/dnssec-state.ts';
import { claimDueMails, orderDnssecReminder } from '../../src/store/people/mails.ts';
import { confirmTotp, saveTotp, takeRecoveryCode, takeStep } from '../../src/store/people/totp.ts';
import { openDatabase } from '../../src/store/postgres/database.ts';
import { KeyBoxes } from '../../src/store/secrets/key-boxes.ts';
import { createMailSender } from '../../workers/jobs/send-mail.ts';
import { asRole } from '../support/database/database.ts';
import { BY, newAccount, newDomain } from '../support/database/domains.ts';
import { saveMembership } from '../support/database/memberships.ts';
import { useSecrets } from '../support/database/signed-zones.ts';
import { sharedDatabase } from '../support/tests/shared-database.ts';

const { db, url, query, column } = sharedDatabase();

describe('dnssec-reminders', () => {
  // Reminders to add DS records go to the owner and admins: once in 30 days per domain, 20 per day and account.
  let ann: number;
  beforeEach(async () => {
    useSecrets(db);
    ann = await newAccount(db, 'ann@example.org');
  });

  const signedZone = async (name: string) => {
    const { id: domainId } = await newDomain(db, ann, name);
    expect((await enableDnssec(db, { ...BY, domainId })).kind).toBe('updated');
    const signedZoneId = (await loadDnssec(db, domainId))?.signed.id as number;
    return { domainId, signedZoneId };
  };
  /** Orders the mail as a worker does. */
  const order = async (signedZoneId: number, message = 'Enter this DS.') => {
    const db = openDatabase(asRole(url, 'zonefleet_worker'));
    try {
      return await orderDnssecReminder(db, { signedZoneId, message });
    } finally {
      await db.destroy();
    }
  };
  const mails = () => column<string>`
      select split_part(email, '@', 1) as to from mails where kind = 'dnssec' order by id`;
  const longAgo = (days: number) =>
    query`update signed_zones set reminded_at = reminded_at - make_interval(days => ${days}::integer)`;

  test('sends one in thirty days only to the owner and the admins of a domain', async () => {
    const { domainId, signedZoneId } = await signedZone('a.example.com.');
    for (const [name, role] of [
      ['dan', 'admin'],
      ['eve', 'editor'],
      ['fay', 'admin'],
    ] as const)
      await saveMembership(db, domainId, await newAccount(db, `${name}@example.org`), role);
    await query`update accounts set active = false where email = 'fay@example.org'`;
    expect(await order(signedZoneId)).toBe(true);
    expect(await mails()).toEqual(['ann', 'dan']);
    expect(await order(signedZoneId)).toBe(false);
    await longAgo(29);
    expect(await order(signedZoneId)).toBe(false);
    await longAgo(1);
    expect(await order(signedZoneId)).toBe(true);
    expect(await mails()).toHaveLength(4);
  });

  test('an account with many domains gets twenty per day, and the rest on other days', async () => {
    const [one, two] = [await signedZone('a.example.com.'), await signedZone('b.example.com.')];
    expect(await order(one.signedZoneId)).toBe(true);
    await query`update dnssec_reminders set mails = 20`;
    expect(await order(two.signedZoneId)).toBe(false);
    await query`update dnssec_reminders set day = day - 1`;
    expect(await order(two.signedZoneId)).toBe(true);
    expect(await query<{ mails: number }>`select mails from dnssec_reminders`).toEqual([{ mails: 1 }]);
  });

  test('the mail names the domain and what to enter', async () => {
    const { signedZoneId } = await signedZone('a.example.com.');
    await order(signedZoneId, 'Enter this DS record: key tag 7.');
    const letters: Letter[] = [];
    const run = createMailSender({
      db,
      mailer: { send: async (letter) => void letters.push(letter), close() {} },
      publicUrl: 'https://dns.zonefleet.test',
      letters: LETTERS,
      onOutcome: ({ kind }) => expect(kind).toBe('sent'),
    });
    for (const job of await claimDueMails(db, 10))
      await run(job, { signal: new AbortController().signal, again: false });
    expect(letters).toMatchObject([
      { to: 'ann@example.org', subject: 'a.example.com: DNSSEC requires a step at your registrar' },
    ]);
    expect(letters[0]?.text).toContain('Enter this DS record: key tag 7.');
  });
});

describe('totp', () => {
  let accountId: number;
  beforeEach(async () => {
    accountId = await newAccount(db, 'ann@shop.example');
    const boxes = new KeyBoxes([{ name: 'k', secret: Buffer.alloc(32, 1) }]);
    await saveTotp(db, accountId, await boxes.seal(db, ['totp', String(accountId)], Buffer.from('secret')));
  });

  it('only one of several concurrent calls with the same code or recovery code is accepted, and no earlier code after it', async () => {
    const taken = await Promise.all(Array.from({ length: 8 }, () => takeStep(db, accountId, 7)));
    expect(taken.filter(Boolean)).toHaveLength(1);
    expect(await takeStep(db, accountId, 6)).toBe(false);
    expect(await takeStep(db, accountId, 8)).toBe(true);
    await confirmTotp(db, accountId, [Buffer.from('a'), Buffer.from('b')]);
    const recovered = await Promise.all(
      Array.from({ length: 8 }, () => takeRecoveryCode(db, accountId, Buffer.from('a'))),
    );
    expect(recovered.filter(Boolean)).toHaveLength(1);
    expect(await takeRecoveryCode(db, accountId, Buffer.from('b'))).toBe(true);
  });
});
