// An account that loses its rights to a domain takes the members it added with it.

import { beforeEach, expect, it } from 'vitest';
import { loadAccount, setProvider, setReseller } from '../../../src/store/accounts/accounts.ts';
import { changeAccount } from '../../../src/store/people/change-account.ts';
import { acceptInvite } from '../../../src/store/sharing/accept-invite.ts';
import { createInvite, listOpenInvites } from '../../../src/store/sharing/invites.ts';
import { listMembers, setMember } from '../../../src/store/sharing/members.ts';
import { newAccount, newDomain } from '../../support/database/domains.ts';
import { keptDatabase } from '../../support/tests/shared-database.ts';

const { db } = keptDatabase();
let runs = 0;
let [clientId, resellerId, domainId] = [0, 0, 0];

beforeEach(async () => {
  runs++;
  clientId = await newAccount(db, `client${runs}@example.org`);
  resellerId = await newAccount(db, `reseller${runs}@example.org`);
  await setReseller(db, resellerId, true);
  domainId = (await newDomain(db, clientId, `shop${runs}.test.`)).id;
});

const by = (accountId: number) => ({ accountId, isAdmin: false, isReseller: accountId === resellerId });

async function invite(inviterId: number, email: string, role: 'admin' | 'viewer' = 'viewer') {
  const inviter = { sharer: by(inviterId), mails: false };
  const sent = await createInvite(db, { domainId, email, role, inviter });
  if (sent.kind !== 'sent') throw new Error(sent.message);
  return sent.token;
}

/** Returns the id of the account. */
async function join(inviterId: number, name: string, role: 'admin' | 'viewer' = 'viewer'): Promise<number> {
  const email = `${name}${runs}@example.org`;
  const account = await loadAccount(db, await newAccount(db, email));
  if (account === undefined) throw new Error(email);
  const accepted = await acceptInvite(db, await invite(inviterId, email, role), account);
  if (accepted.kind !== 'accepted') throw new Error(accepted.kind);
  return account.id;
}

/** Without the owner and its provider. */
const members = async () =>
  (await listMembers(db, domainId))
    .filter(({ role, isProvider }) => role !== 'owner' && !isProvider)
    .map(({ accountId }) => accountId);

it('members added by the former reseller and by these members end, and those of the owner and the operator stay', async () => {
  const own = await join(clientId, 'own');
  const operators = await newAccount(db, `operators${runs}@example.org`);
  await setMember(db, { domainId, accountId: operators, sharer: 'operator', role: 'editor' });
  await setProvider(db, clientId, resellerId);
  const next = await join(await join(resellerId, 'theirs', 'admin'), 'next', 'admin');
  await join(next, 'last');
  await invite(next, `open${runs}@example.org`);
  expect(await members()).toHaveLength(5);
  expect((await setProvider(db, clientId, null)).kind).toBe('updated');
  expect(await members()).toEqual([own, operators]);
  expect(await listOpenInvites(db, domainId)).toEqual([]);
});

it('a role that the former reseller gave to the owner’s member ends too', async () => {
  const own = await join(clientId, 'own');
  await setProvider(db, clientId, resellerId);
  await setMember(db, { domainId, accountId: own, sharer: by(resellerId), role: 'admin' });
  await setProvider(db, clientId, null);
  expect(await members()).toEqual([]);
});

it('a member of the reseller’s own domain stays', async () => {
  const { id: elsewhere } = await newDomain(db, resellerId, `own${runs}.test.`);
  const shop = domainId;
  domainId = elsewhere;
  const own = await join(resellerId, 'own');
  domainId = shop;
  await setProvider(db, clientId, resellerId);
  await setProvider(db, clientId, null);
  domainId = elsewhere;
  expect(await members()).toEqual([own]);
});

it('setting the same provider again ends no membership', async () => {
  await setProvider(db, clientId, resellerId);
  const theirs = await join(resellerId, 'theirs');
  await setProvider(db, clientId, resellerId);
  expect(await members()).toEqual([theirs]);
});

it('changes of related accounts wait for each other without deadlock', async () => {
  // The two changes lock the accounts in opposite orders.
  const pairs = await Promise.all(
    Array.from({ length: 4 }, async (_, i) => [
      await newAccount(db, `a${runs}-${i}@example.org`),
      await newAccount(db, `b${runs}-${i}@example.org`),
    ]),
  );
  for (const [, b] of pairs) await setReseller(db, b as number, true);
  for (const [a = 0, b = 0] of pairs)
    for (let i = 0; i < 4; i++) {
      const came = await Promise.all([
        changeAccount(db, b, { name: `b ${i}`, providerId: a }),
        changeAccount(db, a, { name: `a ${i}`, providerId: b }),
        changeAccount(db, a, { name: `a ${i}.`, providerId: null, active: true }),
      ]);
      expect(came.map(({ kind }) => kind)).toEqual(['refused', 'changed', 'changed']);
    }
});
