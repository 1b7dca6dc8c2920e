// Runs a whole service as `npm start` does, performs everything that people do, with and without errors, and logs as
// much as possible. Then nothing that it wrote contains a secret: no table, log, error response, file or process.

import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readKeySecrets } from '../../../src/process/settings/read-key-secrets.ts';
import { generateKey } from '../../../src/store/accounts/api-keys.ts';
import { makeSecretText } from '../../../src/store/accounts/hashed-secrets.ts';
import { type Database, openDatabase } from '../../../src/store/postgres/database.ts';
import { findDatabaseUrl } from '../../../src/store/postgres/database-url.ts';
import { KeyBoxes } from '../../../src/store/secrets/key-boxes.ts';
import { printPrivateKey } from '../../../src/zone/signing/private-key.ts';
import { makeKey } from '../../../src/zone/signing/signing-key.ts';
import type { Answer, TestApi } from '../../support/api/api.ts';
import { appCode, Browser } from '../../support/api/people.ts';
import { runCli } from '../../support/cli/run-cli.ts';
import { startSmtp, type TestSmtp } from '../../support/mail/smtp.ts';
import { FreshClone, type StartedClone } from '../../support/processes/fresh-clone.ts';
import {
  findInMemory,
  formsInMemory,
  keepPrivatePart,
  privateParts,
} from '../../support/secrets/private-parts.ts';
import { Secrets } from '../../support/secrets/secrets.ts';
import { until } from '../../support/tests/until.ts';

// What all users of this machine can read about its processes while a test runs: their arguments, sampled repeatedly.

const EVERY_MS = 50;

class SeenProcesses {
  readonly #arguments = new Set<string>();
  readonly #open = new Set<string>();
  readonly #looking = setInterval(() => this.look(), EVERY_MS);

  look(): void {
    for (const pid of readdirSync('/proc')) {
      if (!/^\d+$/.test(pid)) continue;
      try {
        this.#arguments.add(readFileSync(`/proc/${pid}/cmdline`, 'latin1').replaceAll('\0', ' '));
        // Its environment has the passwords of its databases.
        if ((statSync(`/proc/${pid}/environ`).mode & 0o077) !== 0) this.#open.add(pid);
      } catch {
        // the process has ended
      }
    }
  }

  /** One command per line. */
  get text(): string {
    return [...this.#arguments].join('\n');
  }

  /** Processes with an environment that other users can read. */
  get withOpenEnvironment(): readonly string[] {
    return [...this.#open];
  }

  stop(): void {
    clearInterval(this.#looking);
  }
}

const ADMIN = 'admin@localhost';
const ANN = 'ann@shop.example';
const NEW_ANN = 'ann@new.example';
/** Public texts. Finding them proves that the search works. */
const MARKER = `marker-${Math.random().toString(36).slice(2)}-${process.pid}`;

const marker = new Secrets();
marker.keep('marker', MARKER);
const secrets = new Secrets();
/** Returns what an error response must not repeat of its request. */
const refusals: string[] = [];
let clone: FreshClone;
let started: StartedClone;
let smtp: TestSmtp;
let url: string;
let dataDirectory: string;
let seen: SeenProcesses;
let keyOfStart: string;
let ann: Browser;
let metricsPort: number;
/** The private parts of the keys of signed zones. */
let parts: Awaited<ReturnType<typeof privateParts>> = [];

let passwords = 0;
/** Characters that URLs, JSON and SQL escape. */
const newPassword = () =>
  secrets.keep('password', `Pä5s "w&rd's/${++passwords}+${makeSecretText('dev_').slice(4)}\\`);

const ask: TestApi['ask'] = async (method, path, { as = null, body, headers = {} } = {}) => {
  const sent = body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body);
  const response = await fetch(url + path, {
    method,
    headers: {
      ...(as !== null && { authorization: `Bearer ${as}` }),
      ...(sent !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(sent !== undefined && { body: sent }),
  });
  const text = await response.text();
  const { status } = response;
  if (status >= 400) refusals.push(`${text} ${JSON.stringify([...response.headers])}`);
  const answered = { ...Object.fromEntries(response.headers), 'set-cookie': response.headers.getSetCookie() };
  return {
    status,
    text,
    headers: answered as Answer['headers'],
    body:
      /json/.test(response.headers.get('content-type') ?? '') && text !== '' ? JSON.parse(text) : undefined,
  };
};

/** A browser, whose cookies are secrets. */
async function asked(
  browser: Browser,
  method: string,
  path: string,
  body?: object,
  more = {},
): Promise<Answer> {
  const answer = await browser.ask(method, path, body, more);
  for (const value of browser.cookies.values()) secrets.keep('cookie', value);
  return answer;
}

async function done(
  browser: Browser,
  method: string,
  path: string,
  body?: object,
  more = {},
): Promise<Answer['body']> {
  const { status, body: told } = await asked(browser, method, path, body, more);
  expect([method, path, status, status === 200 ? undefined : told]).toEqual([method, path, 200, undefined]);
  return told;
}

const cli = (args: readonly string[], input?: string) =>
  runCli(args, { dataDirectory, ...(input !== undefined && { input }), env: { PUBLIC_URL: url } });

beforeAll(async () => {
  const smtpPassword = secrets.keep('SMTP password', makeSecretText('dev_').slice(4));
  smtp = await startSmtp({
    authOptional: false,
    allowInsecureAuth: true,
    onAuth: ({ password }, _, done) =>
      password === smtpPassword ? done(null, { user: 'zonefleet' }) : done(new Error('another password')),
    refuse: (address) => (address === 'gone@shop.example' ? 550 : undefined),
  });
  clone = await FreshClone.make();
  url = `http://${clone.environment.API_LISTEN}`;
  metricsPort = Number(clone.environment.METRICS_LISTEN?.split(':')[1]);
  dataDirectory = join(clone.directory, 'data');
  seen = new SeenProcesses();
  started = clone.start({
    LOG_LEVEL: 'trace',
    IMAGE_BYTES: '32M',
    REGISTRATION: 'on',
    ALLOW_RESERVED_NAMES: 'on',
    TRUSTED_PROXIES: '127.0.0.1/32',
    SMTP_URL: `smtp://zonefleet:${smtpPassword}@127.0.0.1:${smtp.port}`,
  });
  await started.ready();
  ann = new Browser({ ask }, url);
  const [, ...databasePassword] = /:\/\/[^:]+:([^@]+)@/.exec(findDatabaseUrl(dataDirectory) ?? '') ?? [];
  secrets.keep('password of the database', databasePassword.join());
  for (const file of ['keys', 'tsig-keys']) {
    const keySecret = readFileSync(join(dataDirectory, file), 'utf8').trim().split(':')[1] as string;
    secrets.keep(`secret in ${file}`, keySecret);
    secrets.keepOctets(`secret in ${file}`, Buffer.from(keySecret, 'base64'));
  }
  for (const pid of clone.processes()) {
    const environment = readFileSync(`/proc/${pid}/environ`, 'utf8');
    const [, password] = /DATABASE_URL=[^\0]*?:\/\/[^:\0]+:([^@\0]+)@/.exec(environment) ?? [];
    if (password !== undefined) secrets.keep('password of a process', password);
  }
});
afterAll(async () => {
  seen?.stop();
  await clone?.remove();
  await smtp?.stop();
});

describe('what people do', () => {
  it('the first admin signs in by the link, and sets a password', async () => {
    keyOfStart = secrets.keep('first key', /svc_\w{40}/.exec(started.output)?.[0] as string);
    const token = secrets.keep('first link', /lnk_\w{43}/.exec(started.output)?.[0] as string);
    const admin = new Browser({ ask }, url);
    await done(admin, 'POST', '/auth/login', { token });
    expect((await asked(admin, 'POST', '/auth/login', { token })).status).toBe(401);
    const password = newPassword();
    await done(admin, 'PUT', '/users/me/password', { password });
    await done(admin, 'POST', '/auth/confirm', { password });
    const { token: session } = await done(admin, 'POST', '/auth/login', {
      email: ADMIN,
      password,
      bearer: true,
    });
    secrets.keep('session', session);
    expect((await ask('GET', '/whoami', { as: session })).body.email).toBe(ADMIN);
    await done(admin, 'POST', '/auth/logout');
  });

  it('a person registers, enables two-step sign-in, and creates keys', async () => {
    await done(ann, 'POST', '/auth/register', { email: ANN });
    const token = secrets.keep('link', await smtp.tokenFor(ANN));
    const password = newPassword();
    await done(ann, 'POST', '/auth/register', { token, password, name: MARKER });

    const { secret, uri } = await done(ann, 'POST', '/auth/otp/enable');
    secrets.keep('TOTP secret', secret);
    secrets.keep('TOTP address', uri);
    secrets.keepOctets('TOTP secret', base32Octets(secret));
    const { recovery_codes: codes } = await done(ann, 'POST', '/auth/otp/confirm', { otp: appCode(secret) });
    for (const code of codes) {
      secrets.keep('recovery code', code);
      secrets.keep('recovery code', code.replaceAll('-', ''));
    }
    const other = new Browser({ ask }, url);
    const login = (more: object) => asked(other, 'POST', '/auth/login', { email: ANN, password, ...more });
    expect((await login({})).body.code).toBe('otp_required');
    expect((await login({ otp: codes[0] })).status).toBe(200);
    expect((await login({ otp: codes[0] })).status).toBe(401);
    expect((await login({ otp: appCode(secret, Date.now(), 1) })).status).toBe(200);

    const once = { headers: { 'idempotency-key': 'k1' } };
    const made = await done(ann, 'POST', '/users/me/keys', { name: MARKER }, once);
    const key = secrets.keep('key', made.key);
    expect((await done(ann, 'POST', '/users/me/keys', { name: MARKER }, once)).key).toBeUndefined();
    const tsig = await done(ann, 'POST', '/tsig-keys/', { label: 'canary' });
    secrets.keepOctets('TSIG key', Buffer.from(secrets.keep('TSIG key', tsig.secret), 'base64'));
    const domain = await ask('POST', '/domains/', { as: key, body: { name: 'canary.example', scan: false } });
    expect(domain.status).toBe(200);
    const record = await ask('POST', '/domains/canary.example/records/', {
      as: key,
      body: { name: '@', type: 'TXT', destination: MARKER },
      headers: { 'idempotency-key': 'r1' },
    });
    expect(record.status).toBe(200);
    await done(ann, 'DELETE', `/users/me/keys/${made.id}`);
    expect((await ask('GET', '/whoami', { as: key })).status).toBe(401);
    expect((await asked(ann, 'POST', '/auth/otp/disable', { otp: codes[1] })).status).toBe(200);
  });

  it('a person forgets the password, and changes the email', async () => {
    const mailsBefore = smtp.taken.length;
    await done(ann, 'POST', '/auth/password/forgot', { email: ANN });
    await until(() => smtp.taken.length > mailsBefore, 'the mail');
    const token = secrets.keep('link', await smtp.tokenFor(ANN));
    const password = newPassword();
    await done(ann, 'POST', '/auth/password/reset', { token, password });
    await done(ann, 'POST', '/auth/login', { email: ANN, password });
    await done(ann, 'PUT', '/users/me/email', { email: NEW_ANN });
    const link = secrets.keep('link', await smtp.tokenFor(NEW_ANN));
    await done(ann, 'POST', '/users/me/email/confirm', { token: link });
    await done(ann, 'POST', '/auth/register', { email: 'gone@shop.example' });
    await until(() => /server response 550/.test(started.output), 'a mail is rejected');
  });

  it('wrong input is rejected', async () => {
    const bodies = [
      { email: ANN, password: newPassword() },
      { email: 'nobody@shop.example', password: newPassword() },
      { email: ANN, passwort: newPassword() },
      { email: ANN, password: { text: newPassword() } },
      { email: newPassword(), password: newPassword() },
      { token: secrets.keep('wrong link', makeSecretText('lnk_')), password: newPassword() },
      { email: ANN, password: newPassword().repeat(9) },
      [newPassword()],
      newPassword(),
    ];
    for (const path of ['/auth/login', '/auth/register', '/auth/password/reset', '/auth/password/forgot']) {
      for (const body of bodies) await asked(new Browser({ ask }, url), 'POST', path, body as object);
      const { status } = await ask('POST', path, { body: `{"password": ${JSON.stringify(newPassword())}` });
      expect(status).toBe(400);
      expect((await ask('POST', `${path}?password=${encodeURIComponent(newPassword())}`)).status).toBe(400);
      await ask('PATCH', path, { as: newPassword() });
    }
    const [key, session] = [
      secrets.keep('wrong key', generateKey()),
      secrets.keep('wrong session', makeSecretText('ses_')),
    ];
    const basic = `Basic ${Buffer.from(`ann:${newPassword().replaceAll('ä', 'a')}`).toString('base64')}`;
    secrets.keep('basic', basic.slice(6));
    for (const headers of [
      { authorization: `Bearer ${key}` },
      { 'x-api-key': key },
      { authorization: `Bearer ${session}` },
      { cookie: `session=${session}` },
      { authorization: basic },
      { authorization: `Bearer ${key}`, 'x-api-key': session },
    ]) {
      expect((await ask('GET', '/whoami', { headers })).status).toBe(401);
      expect((await ask('POST', `/auth/reset`, { headers, body: { key } })).status).toBe(401);
    }
    const admin = { as: keyOfStart };
    expect((await ask('GET', `/whoami?key=${key}`, admin)).status).toBe(400);
    expect((await ask('GET', `/domains/${session}`, admin)).status).toBe(404);
    expect(
      (await ask('PUT', '/domains/canary.example', { ...admin, body: { password: newPassword() } })).status,
    ).toBe(400);
  });

  it('the operator creates links and keys, and revokes keys', async () => {
    const out = async (args: readonly string[], input?: string) => {
      const { code, stdout, stderr } = await cli(args, input);
      expect([args, code, stderr.replace(/^(for|key \d+ of) .*\n/, '')]).toEqual([args, 0, '']);
      refusals.push(stderr);
      return stdout;
    };
    secrets.keep('link', /lnk_\w{43}/.exec(await out(['account', 'sign-in', ADMIN]))?.[0] as string);
    secrets.keep('link', JSON.parse(await out(['account', 'reset', ADMIN, '--json'])).token);
    const key = secrets.keep('key', (await out(['key', 'create', ADMIN, '--name', MARKER])).trim());
    const other = secrets.keep('key', JSON.parse(await out(['key', 'create', ADMIN, '--json'])).key);
    refusals.push(await out(['key', 'list']));
    refusals.push(
      await out(['key', 'revoke', '-'], `${key}\n`),
      await out(['key', 'revoke', other.slice(0, 10)]),
    );
    for (const as of [key, other]) expect((await ask('GET', '/whoami', { as })).status).toBe(401);
  });
});

describe('changes of signed zones', () => {
  let db: Database;
  const corrupt = () =>
    sql`update signing_keys set sealed = set_byte(sealed, 40, get_byte(sealed, 40) # 1) where sealed is not null`.execute(
      db,
    );
  const api = async (method: string, path: string, status: number, body?: object) => {
    const answer = await ask(method, path, { as: keyOfStart, ...(body && { body }) });
    expect([path, answer.status, answer.text]).toEqual([path, status, expect.any(String)]);
    refusals.push(answer.text);
    return answer;
  };
  const command = async (code: number, ...args: string[]) => {
    const run = await cli(args);
    refusals.push(run.stdout, run.stderr);
    expect([args, run.code, run.stderr]).toEqual([args, code, expect.any(String)]);
    return run.stderr;
  };
  const zoneFile = (serial: number) => {
    const path = join(clone.directory, 'op.canary.zone');
    const lines = [`@ 60 SOA ns host ${serial} 1 1 9 60`, '@ 60 NS ns', 'ns 60 A 192.0.2.1'];
    writeFileSync(path, `$ORIGIN op.canary.\n${lines.join('\n')}\n@ 60 TXT ${MARKER}\n`);
    return path;
  };

  beforeAll(() => {
    db = openDatabase(findDatabaseUrl(dataDirectory) as string);
  });
  afterAll(() => db?.destroy());

  it('keys are imported and exported, and wrong ones are rejected', async () => {
    const { dnskey, secret } = makeKey(13, 257);
    const text = printPrivateKey(dnskey, secret, 'bind');
    const path = '/domains/imported.canary.example/dnssec';
    await api('POST', '/domains/', 200, { name: 'imported.canary.example', scan: false });
    const importing = (private_key: string, status: number) =>
      api('POST', `${path}/import-private-keys`, status, { keys: [{ flags: 257, private_key }] });
    await importing(text.replace('13 (', '8 ('), 400);
    await importing(`${text}${text}`, 400);
    await importing(printPrivateKey(dnskey, secret, 'pem').replace('PRIVATE', 'SECRET'), 400);
    await importing(text, 200);
    await importing(text, 200); // changes nothing
    for (const format of ['bind', 'pem']) {
      const { status, body } = await ask('POST', `${path}/export-private-keys`, {
        as: keyOfStart,
        body: { format },
      });
      expect([status, body.keys.length]).toEqual([200, 1]);
    }
    const run = await cli(['dnssec', 'export-key', 'imported.canary.example']);
    expect([run.code, run.stdout, run.stderr]).toEqual([0, text, '']);
    const other = makeKey(13, 257);
    const refused = await cli(
      ['dnssec', 'import-key', 'imported.canary.example', '-', '--flags', '257'],
      printPrivateKey(other.dnskey, other.secret, 'bind'),
    );
    refusals.push(refused.stdout, refused.stderr);
    expect(refused.code).toBe(1);
  });

  it('zones are signed, shown, verified, exported, answered and rolled', async () => {
    await command(0, 'zone', 'load', zoneFile(1));
    await command(0, 'dnssec', 'enable', 'op.canary', '--split');
    await api('POST', '/domains/canary.example/dnssec/enable', 200, { algorithm: 15 });
    await api('POST', '/domains/canary.example/dnssec/rollover', 200, { reason: 'compromised' });
    await api('GET', '/domains/canary.example/dnssec', 200);
    await api('GET', '/domains/canary.example/records/export?view=published', 200);
    for (const words of ['show', 'keys', 'verify']) await cli(['dnssec', words, 'op.canary', '--json']);
    await command(0, 'dnssec', 'list');
    await command(0, 'dnssec', 'check-keys', '--json');
    await command(0, 'zone', 'export', 'op.canary');
    const boxes = new KeyBoxes(readKeySecrets(readFileSync(join(dataDirectory, 'keys'), 'utf8').trim()));
    parts = await privateParts(db, boxes);
    expect(parts.length).toBeGreaterThan(2);
    for (const [i, part] of parts.entries()) keepPrivatePart(secrets, `private part ${i}`, part);
  });

  it('unreadable keys are reported, and nothing is written', async () => {
    await corrupt();
    const unreadable = 'cannot be opened';
    expect(await command(1, 'dnssec', 'check-keys')).toContain(unreadable);
    expect(await command(2, 'zone', 'load', zoneFile(2))).toContain(unreadable);
    const record = { name: '@', type: 'TXT', destination: 'another' };
    process.kill(pidOf(/api\/main/), 'SIGKILL'); // it holds the decrypted keys
    await until(
      () =>
        fetch(`${url}/readyz`).then(
          ({ ok }) => ok,
          () => false,
        ),
      'the API is back',
    );
    const { body } = await api('POST', '/domains/canary.example/records/', 503, record);
    expect(body.code).toBe('dnssec_unavailable');
    await corrupt();
    await command(0, 'dnssec', 'check-keys');
  });
});

describe('no secret is in', () => {
  it('the memory of the nameserver, or the public data of any process', async () => {
    for (const port of [metricsPort, metricsPort + 1, metricsPort + 2])
      refusals.push(await (await fetch(`http://127.0.0.1:${port}/metrics`)).text());
    const wanted = new Map<string, Buffer>([['marker', Buffer.from(MARKER)]]);
    for (const [i, part] of parts.entries())
      for (const [name, form] of formsInMemory(`private part ${i}`, part)) wanted.set(name, form);
    const keySecret = readFileSync(join(dataDirectory, 'keys'), 'utf8').trim().split(':')[1] as string;
    wanted.set('KEY_SECRETS', Buffer.from(keySecret));
    wanted.set('KEY_SECRETS as octets', Buffer.from(keySecret, 'base64'));
    expect(findInMemory(pidOf(/nameserver\/main/), wanted)).toEqual(['marker']);
  });

  it('any table', async () => {
    const db = openDatabase(findDatabaseUrl(dataDirectory) as string);
    const texts = new Map<string, string>();
    try {
      const { rows: tables } = await sql<{ name: string }>`
        select format('%I.%I', schemaname, tablename) as name from pg_tables
        where schemaname not in ('pg_catalog', 'information_schema')`.execute(db);
      for (const { name } of tables) {
        const { rows } = await sql.raw<{ line: string }>(`select t::text as line from ${name} t`).execute(db);
        texts.set(name, rows.map(({ line }) => line).join('\n'));
      }
    } finally {
      await db.destroy();
    }
    expect([...texts.keys()].some((name) => name.startsWith('bullmq.'))).toBe(true);
    const marked = [...texts].flatMap(([name, text]) => (marker.findIn(text).length > 0 ? [name] : []));
    for (const name of ['accounts', 'api_keys', 'records', 'idempotency_keys', 'domain_changes'])
      expect(marked).toContain(`public.${name}`);
    expect(secrets.count).toBeGreaterThan(70);
    expect(
      [...texts].flatMap(([name, text]) => secrets.findIn(text).map((what) => `${what} in ${name}`)),
    ).toEqual([]);
  });

  it('any error response or output of the command line, except the secret itself', () => {
    expect(refusals.length).toBeGreaterThan(60);
    expect(refusals.flatMap((text) => secrets.findIn(text).map((what) => `${what} in ${text}`))).toEqual([]);
  });

  it('any log, except for the first key and link, which are shown once', async () => {
    started.npm.kill('SIGTERM');
    await started.ended;
    const { output } = started;
    for (const of of ['api', 'workers', 'nameserver']) expect(output).toContain(`"process":"${of}"`);
    const isForPeople = (line: string) =>
      /^ +(API key +svc_|sign in +http|curl -H "Authorization: Bearer svc_)/.test(line);
    const lines = output.split('\n').filter((line) => !isForPeople(line));
    expect(output.split('\n').length - lines.length).toBe(3);
    expect(secrets.findIn(lines.join('\n'))).toEqual([]);
  });

  it('the arguments of any process, and no other user can read an environment', () => {
    expect(seen.text).toContain('key revoke svc_');
    expect(secrets.findIn(seen.text)).toEqual([]);
    expect(seen.withOpenEnvironment).toEqual([]);
  });

  it('any file, including the log and the write-ahead log of Postgres; files that store a secret are readable only by their user', () => {
    const folders = [dataDirectory, clone.databaseDirectory];
    expect(folders.flatMap((folder) => marker.filesWith(folder)).some((path) => /pg_wal/.test(path))).toBe(
      true,
    );
    const found = folders.flatMap((folder) => secrets.filesWith(folder));
    const names = [...new Set(found)].map((path) => path.slice(path.lastIndexOf('/') + 1));
    expect(
      names.filter((name) => !['keys', 'tsig-keys', 'npm-start.json', 'superuser'].includes(name)),
    ).toEqual([]);
    for (const path of found) expect([path, statSync(path).mode & 0o077]).toEqual([path, 0]);
    expect(names).toContain('keys');
  });
});

function pidOf(words: RegExp): number {
  const pids = clone.processes();
  const pid = pids.find((each) => words.test(readFileSync(`/proc/${each}/cmdline`, 'utf8')));
  if (pid === undefined) throw new Error(`no process is ${words}`);
  return pid;
}

function base32Octets(text: string): Buffer {
  const bits = [...text].map((letter) =>
    'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'.indexOf(letter).toString(2).padStart(5, '0'),
  );
  return Buffer.from((bits.join('').match(/.{8}/g) ?? []).map((octet) => Number.parseInt(octet, 2)));
}
