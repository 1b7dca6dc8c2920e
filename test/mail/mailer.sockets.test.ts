import { afterEach, expect, it } from 'vitest';
import { writeLetter } from '../../src/mail/letters.ts';
import { type Mailer, openMailer } from '../../src/mail/mailer.ts';
import { startSmtp, type TestSmtp } from '../support/mail/smtp.ts';

let smtp: TestSmtp;
let mailer: Mailer;
afterEach(async () => {
  mailer?.close();
  await smtp?.stop();
});

async function start(options?: Parameters<typeof startSmtp>[0]): Promise<void> {
  smtp = await startSmtp(options);
  mailer = openMailer(smtp.url, 'zonefleet@dns.zonefleet.test');
}

const LINK = `https://dns.zonefleet.test/console/#reset=lnk_${'a'.repeat(43)}`;
const letter = (to: string) => writeLetter('reset', to, LINK);

it('a letter arrives complete at its only address, marked as automatically generated', async () => {
  await start();
  await mailer.send(letter('ann@shop.example'));
  expect(smtp.taken).toEqual([
    expect.objectContaining({ to: 'ann@shop.example', from: 'zonefleet@dns.zonefleet.test' }),
  ]);
  expect(smtp.taken[0]?.text).toContain(`\n${LINK}\n`);
  expect(smtp.taken[0]?.raw).toMatch(/^Auto-Submitted: auto-generated\r$/m);
});

it('an address cannot add headers or recipients', async () => {
  await start();
  await mailer.send(letter('ann@shop.example\r\nBcc: eve@evil.test, eve@evil.test')).catch(() => {});
  expect(smtp.taken.filter(({ to }) => to.includes('evil') && !to.includes('ann'))).toEqual([]);
  expect(smtp.taken.filter(({ raw }) => /^Bcc:/m.test(raw))).toEqual([]);
});

it.each([
  [550, true],
  [451, false],
])('the response %i of the server is final: %s', async (code, isFinal) => {
  await start({ refuse: () => code });
  const fault = await mailer.send(letter('ann@shop.example')).catch((error: unknown) => error);
  expect(fault).toMatchObject({ name: 'MailFault', isFinal, message: expect.stringContaining(String(code)) });
  expect(JSON.stringify([fault, String(fault), (fault as Error).stack])).not.toMatch(/lnk_|ann@/);
});

it('an unavailable server is not a final failure', async () => {
  await start();
  await smtp.stop();
  await expect(mailer.send(letter('ann@shop.example'))).rejects.toMatchObject({
    name: 'MailFault',
    isFinal: false,
  });
});

it('a wrong password is reported without the password', async () => {
  smtp = await startSmtp({
    authOptional: false,
    allowInsecureAuth: true,
    onAuth: (_auth, _session, done) => done(new Error('no')),
  });
  mailer = openMailer(`smtp://ann:hunter2@127.0.0.1:${smtp.port}`, 'zonefleet@dns.zonefleet.test');
  const fault = await mailer.send(letter('ann@shop.example')).catch((error: unknown) => error);
  expect(fault).toMatchObject({ name: 'MailFault', isFinal: false });
  expect(JSON.stringify([fault, String(fault), (fault as Error).stack])).not.toMatch(/hunter2|aHVudGVyM/);
});
