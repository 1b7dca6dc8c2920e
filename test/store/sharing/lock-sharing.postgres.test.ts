// Rights, invites and counts that were checked before the lock may have changed by the time it is held.

import { sql } from 'kysely';
import { beforeEach, describe, expect, it } from 'vitest';
import { deleteDomain } from '../../../src/store/change/save-domain.ts';
import type { Database } from '../../../src/store/postgres/database.ts';
import { acceptInvite } from '../../../src/store/sharing/accept-invite.ts';
import {
  createInvite,
  resendInvite,
  revokeInvite,
  type SentInvite,
} from '../../../src/store/sharing/invites.ts';
import { removeMember, setMember } from '../../../src/store/sharing/members.ts';
import { BY, newAccount, newDomain } from '../../support/database/domains.ts';
import { deleteMembership, saveMembership } from '../../support/database/memberships.ts';
import { sharedDatabase } from '../../support/tests/shared-database.ts';
import { until } from '../../support/tests/until.ts';

const { db, query, value } = sharedDatabase();
let domainId: number;
let admin: number;
let viewer: number;
beforeEach(async () => {
  ({ id: domainId } = await newDomain(db, await newAccount(db, 'owner@shop.example')));
  admin = await newAccount(db, 'admin@shop.example');
  viewer = await newAccount(db, 'viewer@shop.example');
  await saveMembership(db, domainId, admin, 'admin');
  await saveMembership(db, domainId, viewer, 'viewer');
});

const by = () => ({ accountId: admin, isAdmin: false });
const inviter = () => ({ sharer: by(), mails: false });
/** Runs a statement in the transaction that holds the domain. */
const run = (statement: string) => (trx: Database) => sql.raw(statement).execute(trx);
const inviteBy = async (sharer: Parameters<typeof createInvite>[1]['inviter']['sharer'], email: string) =>
  sentOf(await createInvite(db, { domainId, email, role: 'editor', inviter: { sharer, mails: false } }));

function sentOf(came: SentInvite): Extract<SentInvite, { kind: 'sent' }> {
  if (came.kind === 'refused') throw new Error(came.message);
  return came;
}

/** Starts `act` while another transaction holds the domain, which then does `meanwhile` and commits. */
async function during<T>(act: () => Promise<T>, meanwhile: (trx: Database) => Promise<unknown>): Promise<T> {
  let coming: Promise<T> | undefined;
  await db.transaction().execute(async (trx) => {
    await sql`select from domains where id = ${domainId} for update`.execute(trx);
    let isDone = false;
    coming = act().finally(() => {
      isDone = true;
    });
    coming.catch(() => {});
    await until(async () => {
      const rows = await query`
        select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
      return isDone || rows.length > 0;
    }, 'it waits for the domain');
    await meanwhile(trx);
  });
  return await (coming as Promise<T>);
}

describe('a caller whose rights were removed in the meantime', () => {
  it.each([
    [
      'changes no role',
      (db: Database) => setMember(db, { domainId, accountId: viewer, sharer: by(), role: 'editor' }),
    ],
    ['removes no member', (db: Database) => removeMember(db, { domainId, accountId: viewer, sharer: by() })],
    [
      'creates no invite',
      (db: Database) =>
        createInvite(db, { domainId, email: 'a@b.example', role: 'viewer', inviter: inviter() }),
    ],
    [
      'resends no invite',
      async (db: Database, inviteId: number) => resendInvite(db, { domainId, inviteId, inviter: inviter() }),
    ],
    [
      'revokes no invite',
      async (db: Database, inviteId: number) => revokeInvite(db, { domainId, inviteId, sharer: by() }),
    ],
  ] as const)('%s', async (_what, act) => {
    const { invite } = await inviteBy('operator', 'bob@shop.example');
    const before = await states();
    for (const [role, code] of [
      ['viewer', 'forbidden'],
      [undefined, 'no_domain'],
    ] as const) {
      await saveMembership(db, domainId, admin, 'admin');
      const came = await during<unknown>(
        () => act(db, invite.id),
        (trx) =>
          role === undefined
            ? deleteMembership(trx, domainId, admin)
            : saveMembership(trx, domainId, admin, role),
      );
      expect(came).toMatchObject({ kind: 'refused', code });
    }
    expect(await states()).toEqual(before);
  });

  async function states(): Promise<unknown> {
    return await query`
      select (select role from memberships where account_id = ${viewer}) as role,
        (select json_agg(i order by i.id) from invites i)::text as invites,
        (select count(*) from invite_tokens)::integer as tokens,
        (select coalesce(sum(count), 0) from invite_windows)::integer as counted`;
  }
});

describe('an invite', () => {
  const accepts = async (token: string) =>
    acceptInvite(db, token, { id: viewer, email: 'viewer@shop.example', isEmailConfirmed: true });

  it.each([
    ['revoked', run("update invites set status = 'revoked', ended_at = clock_timestamp()")],
    ['sent again', run('delete from invite_tokens')],
    ['too old', run('update invites set expires_at = clock_timestamp()')],
    ['from an account that may no longer invite', run("delete from memberships where role = 'admin'")],
    ['for a deleted domain', (trx: Database) => deleteDomain(trx, { ...BY, domainId })],
  ])('is not accepted once it is %s', async (_what, change) => {
    const { token } = await inviteBy(by(), 'viewer@shop.example');
    const came = await during<unknown>(() => accepts(token), change);
    expect(came).toMatchObject({ kind: 'refused', code: 'absent' });
    expect(await value`select role from memberships where account_id = ${viewer}`).toBe('viewer');
  });

  it('is accepted by only one account if there is space for one more', async () => {
    await query`
      with made as (
        insert into accounts (email, email_key) select m || '@many.example', m || '@many.example'
        from generate_series(1, 197) m returning id)
      insert into memberships (domain_id, account_id, role) select ${domainId}, id, 'viewer' from made`;
    const comers = await Promise.all(
      ['x', 'y', 'z'].map(async (name) => {
        const email = `${name}@shop.example`;
        const { token } = await inviteBy('operator', email);
        return { token, account: { id: await newAccount(db, email), email, isEmailConfirmed: true } };
      }),
    );
    expect(
      (await Promise.all(comers.map(({ token, account }) => acceptInvite(db, token, account))))
        .map((each) => (each.kind === 'refused' ? each.code : each.kind))
        .sort(),
    ).toEqual(['accepted', 'full', 'full']);
  });
});

it('concurrent invites of one address leave one open, and of two admins who remove each other one stays', async () => {
  const made = await Promise.all(
    Array.from({ length: 5 }, (_, i) =>
      inviteBy(by(), i % 2 === 0 ? 'bob@shop.example' : 'BOB@shop.example'),
    ),
  );
  expect(made).toHaveLength(5);
  expect(await query`select from invites where status = 'open'`).toHaveLength(1);
  await saveMembership(db, domainId, viewer, 'admin');
  const came = await Promise.all([
    removeMember(db, { domainId, accountId: viewer, sharer: by() }),
    removeMember(db, { domainId, accountId: admin, sharer: { accountId: viewer, isAdmin: false } }),
  ]);
  expect(came.map(({ kind }) => kind).sort()).toEqual(['refused', 'removed']);
});
