import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { LETTERS } from '../../../src/features/every-feature.ts';
import type { Letter } from '../../../src/mail/mailer.ts';
import { createMailSender } from '../../../workers/jobs/send-mail.ts';
import { PUBLIC_URL, sharedTestApi } from '../../support/api/api.ts';
import { type Browser, signIn } from '../../support/api/people.ts';

const api = sharedTestApi();
let operator: Browser;
beforeAll(async () => {
  operator = await signIn(api, 'operator');
});
beforeEach(async () => {
  await api.query`truncate tickets, mails cascade`;
});

const ask = (method: string, path: string, body?: object, as = 'owner') =>
  api.ask(method, path, { as, ...(body !== undefined && { body }) });
const post = (as = 'owner') => ask('POST', '/tickets', { subject: 'Help', message: 'It is\nbroken.' }, as);
const write = (id: number, message = 'x') => ask('POST', `/tickets/${id}/messages`, { message });
const answer = (id: number, message = 'x') =>
  operator.ask('POST', `/admin/tickets/${id}/messages`, { message });
const setStatus = (id: number, status: string) => ask('PATCH', `/tickets/${id}`, { status });

async function open(as = 'owner'): Promise<number> {
  const { status, body } = await post(as);
  if (status !== 200) throw new Error(JSON.stringify(body));
  return body.id;
}

describe('a ticket', () => {
  it('is answered if staff wrote last, and open if the account did', async () => {
    const id = await open();
    const told = { id, subject: 'Help', created_at: expect.any(String), updated_at: expect.any(String) };
    expect((await ask('GET', '/tickets')).body).toEqual([{ ...told, status: 'open', message_count: 1 }]);
    const answered = await answer(id, 'Which one?');
    const written = { id: expect.any(Number), created_at: expect.any(String) };
    const theirs = { ...written, author: 'staff', message: 'Which one?' };
    const { owner, operator: staff } = api.accountIds;
    expect(answered.body).toEqual({ ...theirs, user_id: staff });
    expect((await operator.ask('GET', `/admin/tickets/${id}`)).body).toMatchObject({
      status: 'answered',
      user_id: owner,
      priority: false,
      message_count: 2,
    });
    expect((await ask('GET', '/tickets?status=answered')).body).toHaveLength(1);
    expect((await ask('GET', '/tickets?status=open')).body).toEqual([]);
    const again = await write(id, 'All of them.');
    const ours = { ...written, author: 'account' };
    expect(again.body).toEqual({ ...ours, message: 'All of them.' });
    expect((await ask('GET', `/tickets/${id}`)).body).toEqual({ ...told, status: 'open', message_count: 3 });
    const messages = [{ ...ours, message: 'It is\nbroken.' }, theirs, again.body];
    expect((await ask('GET', `/tickets/${id}/messages`)).body).toEqual(messages);
    const byStaff = (await operator.ask('GET', `/admin/tickets/${id}/messages`)).body;
    expect(byStaff.map((each: { user_id: number }) => each.user_id)).toEqual([owner, staff, owner]);
  });

  it('has its messages page by page, and is returned without them', async () => {
    const id = await open();
    const path = `/tickets/${id}/messages`;
    for (let i = 0; i < 6; i++) await write(id, i + 'x'.repeat(9_000));
    const starts = (body: { message: string }[]) => body.map(({ message }) => message.slice(0, 1));
    const first = await ask('GET', `${path}?limit=2&sort=-id&count=true`);
    expect([starts(first.body), first.headers['x-total-count']]).toEqual([['5', '4'], '7']);
    const [, next] = /^<(.*)>; rel="next"$/.exec(first.headers.link as string) ?? [];
    expect(starts((await ask('GET', next as string)).body)).toEqual(['3', '2']);
    const [{ id: seen }] = (await ask('GET', `${path}?limit=1&offset=4`)).body;
    expect(starts((await ask('GET', `${path}?after=${seen}`)).body)).toEqual(['4', '5']);
    expect(starts((await ask('GET', path)).body)).toEqual(['I', '0', '1', '2', '3', '4', '5']);
    for (const { status, text } of [
      await write(id),
      await ask('GET', `/tickets/${id}`),
      await setStatus(id, 'closed'),
      await operator.ask('GET', `/admin/tickets/${id}`),
    ])
      expect([status, text.length < 1000]).toEqual([200, true]);
    const wrong = await ask('GET', `${path}?cursor=none`);
    expect(wrong).toMatchObject({ status: 400, body: { fields: [{ field: 'cursor' }] } });
  });

  it('is closed and reopened by both sides, and accepts no message while closed', async () => {
    const id = await open();
    expect((await setStatus(id, 'closed')).body.status).toBe('closed');
    for (const refused of [await write(id), await answer(id)])
      expect([refused.status, refused.body.error]).toEqual([409, 'the ticket is closed: reopen it first']);
    const opened = await operator.ask('PATCH', `/admin/tickets/${id}`, { status: 'open' });
    expect(opened.body.status).toBe('open');
    expect(await setStatus(id, 'answered')).toMatchObject({
      status: 400,
      body: { code: 'validation_failed' },
    });
  });

  it.each<[string, object]>([
    ['no subject', { subject: undefined }],
    ['an empty message', { message: ' \n' }],
    ['a subject of two lines', { subject: 'a\nb' }],
    ['a subject that is too long', { subject: 'x'.repeat(201) }],
    ['a message that is too long', { message: 'x'.repeat(10_001) }],
    ['a control character', { message: 'a\u001b[2Jb' }],
    ['a bidirectional override', { message: 'a\u202eb' }],
    ['an unknown member', { priority: true }],
  ])('is rejected with %s', async (_, wrong) => {
    const { status, body } = await ask('POST', '/tickets', { subject: 'x', message: 'x', ...wrong });
    expect([status, body.code]).toEqual([400, 'validation_failed']);
  });
});

describe('limits', () => {
  it('an account has 20 open tickets, reopened ones included, also for concurrent calls', async () => {
    const full = '409 20 tickets are open: close one first';
    const told = ({ status, body }: Awaited<ReturnType<typeof post>>) =>
      status === 200 ? '200' : `${status} ${body.error}`;
    const many = (await Promise.all(Array.from({ length: 24 }, () => post()))).map(told);
    expect(many.sort()).toEqual([...Array(20).fill('200'), ...Array(4).fill(full)]);
    const [{ id }] = (await ask('GET', '/tickets')).body;
    await setStatus(id, 'closed');
    expect(told(await post())).toBe('409 20 tickets were opened in 24 hours: write to one of them');
    await api.query`update tickets set created_at = created_at - interval '25 hours'`;
    expect(told(await post())).toBe('200');
    expect(told(await setStatus(id, 'open'))).toBe(full);
    await open('stranger');
  });

  it('a ticket has 200 messages', async () => {
    const id = await open();
    await api.query`update tickets set messages = 199`;
    expect([(await write(id)).status, (await write(id)).status]).toEqual([200, 409]);
  });

  it('an account can write 200 messages per day in all its tickets; staff can still answer', async () => {
    const ids = [await open(), await open()];
    await api.query`
      insert into invite_windows (subject, count, ends_at)
      values (${`messages:${api.accountIds.owner}`}, 198, now() + interval '1 hour')
      on conflict (subject) do update set count = excluded.count, ends_at = excluded.ends_at`;
    try {
      const answers = await Promise.all(Array.from({ length: 6 }, (_, i) => write(ids[i % 2] as number)));
      const statuses = answers.map(({ status }) => status);
      expect(statuses.sort()).toEqual([200, 200, 429, 429, 429, 429]);
      const refused = await write(ids[0] as number);
      expect(Number(refused.headers['retry-after'])).toBeGreaterThan(3000);
      expect((await answer(ids[0] as number)).status).toBe(200);
    } finally {
      await api.query`delete from invite_windows`;
    }
  });
});

describe('staff', () => {
  it('lists all tickets, oldest first, or those with dedicated support', async () => {
    const first = await open();
    await api.query`update plans set dedicated_support_enabled = true where slug = 'pro'`;
    await api.makeDomain('supported.test');
    const second = await open();
    const third = await open('stranger');
    const ids = async (query: string) =>
      (await operator.ask('GET', `/admin/tickets${query}`)).body.map(({ id }: { id: number }) => id);
    const { stranger } = api.accountIds;
    expect(await ids('')).toEqual([first, second, third]);
    expect(await ids('?priority=true')).toEqual([second]);
    expect(await ids(`?user=${stranger}`)).toEqual([third]);
    expect(await ids('?status=closed')).toEqual([]);
    expect((await operator.ask('GET', `/admin/tickets/${third}`)).body).toMatchObject({
      email: 'stranger@zonefleet.test',
      user_id: stranger,
    });
    const audit = (await operator.ask('GET', '/admin/audit?action=ticket.open&limit=1')).body;
    expect(audit).toMatchObject([{ target: { kind: 'ticket', id: third, name: 'Help' } }]);
  });

  it('notifies the owner of answers by mail, once an hour per ticket', async () => {
    const id = await open();
    const mails = async () => await api.query<{ id: number }>`select id, kind, email from mails`;
    for (const text of ['the secret answer', 'and another'])
      expect((await answer(id, text)).status).toBe(200);
    const ordered = await mails();
    expect(ordered).toEqual([{ id: expect.any(Number), kind: 'ticket', email: 'owner@zonefleet.test' }]);
    const sent: Letter[] = [];
    const send = createMailSender({
      db: api.db,
      mailer: { send: async (letter: Letter) => void sent.push(letter) } as never,
      publicUrl: PUBLIC_URL,
      letters: LETTERS,
      onOutcome: () => {},
    });
    await send({ mailId: ordered[0]?.id as number }, { signal: new AbortController().signal } as never);
    expect(sent).toMatchObject([{ to: 'owner@zonefleet.test', subject: `Your ticket ${id} was answered` }]);
    expect(sent[0]?.text).toContain(PUBLIC_URL);
    expect(sent[0]?.text).not.toContain('secret');
    expect(await mails()).toEqual([]);
    await api.query`update tickets set mailed_at = mailed_at - interval '61 minutes'`;
    await answer(id, 'later');
    expect(await mails()).toHaveLength(1);
  });
});
