// Tickets: their states, their limits, and the mail about an answer.

import { sql } from 'kysely';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Letter } from '../../../../src/mail/mailer.ts';
import { createMailSender } from '../../../../workers/jobs/send-mail.ts';
import { PUBLIC_URL, sharedTestApi } from '../../../support/api/api.ts';
import { Browser, givePassword } from '../../../support/api/people.ts';

const api = sharedTestApi();
let operator: Browser;
beforeAll(async () => {
  await givePassword(api, 'operator');
  operator = new Browser(api);
  await operator.login('operator');
});
beforeEach(async () => {
  await sql`truncate tickets, mails cascade`.execute(api.db);
});

const ask = (method: string, path: string, body?: object, as = 'owner') =>
  api.ask(method, path, { as, ...(body !== undefined && { body }) });

async function open(as = 'owner'): Promise<number> {
  const { status, body } = await ask('POST', '/tickets', { subject: 'Help', message: 'It is\nbroken.' }, as);
  if (status !== 200) throw new Error(JSON.stringify(body));
  return body.id;
}

describe('a ticket', () => {
  it('is answered if staff wrote last, and open if the account did', async () => {
    const id = await open();
    const told = { id, subject: 'Help', created_at: expect.any(String), updated_at: expect.any(String) };
    expect((await ask('GET', '/tickets')).body).toEqual([{ ...told, status: 'open', message_count: 1 }]);
    const answered = await operator.ask('POST', `/admin/tickets/${id}/messages`, { message: 'Which one?' });
    const written = { id: expect.any(Number), created_at: expect.any(String) };
    const theirs = { ...written, author: 'staff', message: 'Which one?' };
    expect(answered.body).toEqual({ ...theirs, user_id: api.accountIds.operator });
    expect((await operator.ask('GET', `/admin/tickets/${id}`)).body).toMatchObject({
      status: 'answered',
      user_id: api.accountIds.owner,
      priority: false,
      message_count: 2,
    });
    expect((await ask('GET', '/tickets?status=answered')).body).toHaveLength(1);
    expect((await ask('GET', '/tickets?status=open')).body).toEqual([]);
    const again = await ask('POST', `/tickets/${id}/messages`, { message: 'All of them.' });
    const ours = { ...written, author: 'account' };
    expect(again.body).toEqual({ ...ours, message: 'All of them.' });
    expect((await ask('GET', `/tickets/${id}`)).body).toEqual({ ...told, status: 'open', message_count: 3 });
    expect((await ask('GET', `/tickets/${id}/messages`)).body).toEqual([
      { ...ours, message: 'It is\nbroken.' },
      theirs,
      again.body,
    ]);
    const byStaff = (await operator.ask('GET', `/admin/tickets/${id}/messages`)).body;
    expect(byStaff.map((each: { user_id: number }) => each.user_id)).toEqual([
      api.accountIds.owner,
      api.accountIds.operator,
      api.accountIds.owner,
    ]);
  });

  it('has its messages page by page, and is returned without them', async () => {
    const id = await open();
    const path = `/tickets/${id}/messages`;
    const text = 'x'.repeat(9_000);
    for (let i = 0; i < 6; i++) await ask('POST', path, { message: i + text });
    const starts = (body: { message: string }[]) => body.map(({ message }) => message.slice(0, 1));
    const first = await ask('GET', `${path}?limit=2&sort=-id&count=true`);
    expect([starts(first.body), first.headers['x-total-count']]).toEqual([['5', '4'], '7']);
    const [, next] = /^<(.*)>; rel="next"$/.exec(first.headers.link as string) ?? [];
    expect(starts((await ask('GET', next as string)).body)).toEqual(['3', '2']);
    const [{ id: seen }] = (await ask('GET', `${path}?limit=1&offset=4`)).body;
    expect(starts((await ask('GET', `${path}?after=${seen}`)).body)).toEqual(['4', '5']);
    expect(starts((await ask('GET', path)).body)).toEqual(['I', '0', '1', '2', '3', '4', '5']);
    for (const answer of [
      await ask('POST', path, { message: 'y' }),
      await ask('GET', `/tickets/${id}`),
      await ask('PATCH', `/tickets/${id}`, { status: 'closed' }),
      await operator.ask('GET', `/admin/tickets/${id}`),
    ])
      expect([answer.status, JSON.stringify(answer.body).length < 1000]).toEqual([200, true]);
    const wrong = await ask('GET', `${path}?cursor=none`);
    expect([wrong.status, wrong.body.fields]).toEqual([
      400,
      [{ field: 'cursor', error: 'is not one of this list' }],
    ]);
  });

  it('is closed and reopened by both sides, and accepts no message while closed', async () => {
    const id = await open();
    expect((await ask('PATCH', `/tickets/${id}`, { status: 'closed' })).body.status).toBe('closed');
    for (const refused of [
      await ask('POST', `/tickets/${id}/messages`, { message: 'Still broken.' }),
      await operator.ask('POST', `/admin/tickets/${id}/messages`, { message: 'Is it?' }),
    ])
      expect([refused.status, refused.body.error]).toEqual([409, 'the ticket is closed: open it again']);
    expect((await operator.ask('PATCH', `/admin/tickets/${id}`, { status: 'open' })).body.status).toBe(
      'open',
    );
    const wrong = await ask('PATCH', `/tickets/${id}`, { status: 'answered' });
    expect([wrong.status, wrong.body.code]).toEqual([400, 'validation_failed']);
  });

  it('of another account is not found', async () => {
    const id = await open('stranger');
    for (const [method, path, body] of [
      ['GET', `/tickets/${id}`, undefined],
      ['GET', `/tickets/${id}/messages`, undefined],
      ['POST', `/tickets/${id}/messages`, { message: 'Hello' }],
      ['PATCH', `/tickets/${id}`, { status: 'closed' }],
    ] as const) {
      const theirs = await ask(method, path, body);
      expect([theirs.status, theirs.body]).toEqual([404, { error: 'ticket not found' }]);
      expect((await ask(method, path.replace(String(id), '999999'), body)).body).toEqual(theirs.body);
    }
    expect((await ask('GET', '/tickets')).body).toEqual([]);
    expect((await ask('GET', `/tickets/${id}/messages`, undefined, 'stranger')).body).toHaveLength(1);
  });

  it.each<[string, object]>([
    ['no subject', { message: 'x' }],
    ['an empty message', { subject: 'x', message: ' \n' }],
    ['a subject of two lines', { subject: 'a\nb', message: 'x' }],
    ['a subject that is too long', { subject: 'x'.repeat(201), message: 'x' }],
    ['a message that is too long', { subject: 'x', message: 'x'.repeat(10_001) }],
    ['a control character', { subject: 'x', message: 'a\u001b[2Jb' }],
    ['a bidirectional override', { subject: 'x', message: 'a\u202eb' }],
    ['an unknown member', { subject: 'x', message: 'x', priority: true }],
  ])('is rejected with %s', async (_, body) => {
    const answer = await ask('POST', '/tickets', body);
    expect([answer.status, answer.body.code]).toEqual([400, 'validation_failed']);
  });
});

describe('bounds', () => {
  it('an account has 20 open tickets, reopened ones included, also for concurrent calls', async () => {
    const many = await Promise.all(
      Array.from({ length: 24 }, () => ask('POST', '/tickets', { subject: 'Help', message: 'x' })),
    );
    expect(many.filter(({ status }) => status === 200)).toHaveLength(20);
    const refused = many.filter(({ status }) => status !== 200);
    expect(new Set(refused.map(({ status, body }) => `${status} ${body.error}`))).toEqual(
      new Set(['409 20 tickets are open: close one first']),
    );
    const [{ id }] = (await ask('GET', '/tickets')).body;
    await ask('PATCH', `/tickets/${id}`, { status: 'closed' });
    const another = await ask('POST', '/tickets', { subject: 'Help', message: 'x' });
    expect([another.status, another.body.error]).toEqual([
      409,
      '20 tickets were opened in 24 hours: write into one',
    ]);
    await sql`update tickets set created_at = created_at - interval '25 hours'`.execute(api.db);
    expect((await ask('POST', '/tickets', { subject: 'Help', message: 'x' })).status).toBe(200);
    const reopened = await ask('PATCH', `/tickets/${id}`, { status: 'open' });
    expect([reopened.status, reopened.body.error]).toEqual([409, '20 tickets are open: close one first']);
    await open('stranger');
  });

  it('a ticket has 200 messages', async () => {
    const id = await open();
    await sql`update tickets set messages = 199`.execute(api.db);
    const [last, more] = [
      await ask('POST', `/tickets/${id}/messages`, { message: 'x' }),
      await ask('POST', `/tickets/${id}/messages`, { message: 'x' }),
    ];
    expect([last.status, more.status]).toEqual([200, 409]);
  });

  it('an account writes 200 messages a day in all tickets; staff can still answer', async () => {
    const ids = [await open(), await open()];
    await sql`
      insert into invite_windows (subject, count, ends_at)
      values (${`messages:${api.accountIds.owner}`}, 198, now() + interval '1 hour')
      on conflict (subject) do update set count = excluded.count, ends_at = excluded.ends_at`.execute(api.db);
    try {
      const statuses = await Promise.all(
        Array.from({ length: 6 }, async (_, i) => {
          const { status } = await ask('POST', `/tickets/${ids[i % 2]}/messages`, { message: 'x' });
          return status;
        }),
      );
      expect(statuses.sort()).toEqual([200, 200, 429, 429, 429, 429]);
      const refused = await ask('POST', `/tickets/${ids[0]}/messages`, { message: 'x' });
      expect(Number(refused.headers['retry-after'])).toBeGreaterThan(3000);
      const answered = await operator.ask('POST', `/admin/tickets/${ids[0]}/messages`, { message: 'x' });
      expect(answered.status).toBe(200);
    } finally {
      await sql`delete from invite_windows`.execute(api.db);
    }
  });
});

describe('staff', () => {
  it('lists all tickets, oldest first, or those with dedicated support', async () => {
    const first = await open();
    await sql`update plans set dedicated_support_enabled = true where slug = 'pro'`.execute(api.db);
    await api.makeDomain('supported.test');
    const second = await open();
    const third = await open('stranger');
    const ids = async (query: string) =>
      (await operator.ask('GET', `/admin/tickets${query}`)).body.map(({ id }: { id: number }) => id);
    expect(await ids('')).toEqual([first, second, third]);
    expect(await ids('?priority=true')).toEqual([second]);
    expect(await ids(`?user=${api.accountIds.stranger}`)).toEqual([third]);
    expect(await ids('?status=closed')).toEqual([]);
    expect((await operator.ask('GET', `/admin/tickets/${third}`)).body).toMatchObject({
      email: 'stranger@zonefleet.test',
      user_id: api.accountIds.stranger,
    });
    const audit = (await operator.ask('GET', '/admin/audit?action=ticket.open&limit=1')).body;
    expect(audit).toMatchObject([{ target: { kind: 'ticket', id: third, name: 'Help' } }]);
  });

  it('notifies the owner of answers by mail, once an hour per ticket', async () => {
    const id = await open();
    const answer = (message: string) => operator.ask('POST', `/admin/tickets/${id}/messages`, { message });
    const mails = async () =>
      (await sql<{ id: number }>`select id, kind, email from mails`.execute(api.db)).rows;
    for (const text of ['the secret answer', 'and another']) expect((await answer(text)).status).toBe(200);
    const [mail, ...more] = await mails();
    expect([mail, more]).toEqual([
      { id: expect.any(Number), kind: 'ticket', email: 'owner@zonefleet.test' },
      [],
    ]);
    const sent: Letter[] = [];
    const send = createMailSender({
      db: api.db,
      mailer: { send: async (letter: Letter) => void sent.push(letter) } as never,
      publicUrl: PUBLIC_URL,
      onOutcome: () => {},
    });
    await send({ mailId: mail?.id as number }, { signal: new AbortController().signal } as never);
    expect(sent).toMatchObject([{ to: 'owner@zonefleet.test', subject: `Your ticket ${id} is answered` }]);
    expect(sent[0]?.text).toContain(PUBLIC_URL);
    expect(sent[0]?.text).not.toContain('secret');
    expect(await mails()).toEqual([]);
    await sql`update tickets set mailed_at = mailed_at - interval '61 minutes'`.execute(api.db);
    await answer('later');
    expect(await mails()).toHaveLength(1);
  });
});
