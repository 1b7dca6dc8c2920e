import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { judgeCertificate } from '../../../src/edge/certificates/judge-certificate.ts';
import { addCertificateCommands } from '../../../src/features/certificates/cli.ts';
import { requestCertificateFor, uploadCertificate } from '../../../src/features/certificates/sql.ts';
import { KeyBoxes, useKeyBoxes } from '../../../src/store/secrets/key-boxes.ts';
import { TEST_KEY_SECRETS } from '../../support/api/api.ts';
import { makeCertificate } from '../../support/certificates/make-certificate.ts';
import { runCommands } from '../../support/cli/run-commands.ts';
import { newAccount, newDomain } from '../../support/database/domains.ts';
import { keptDatabase } from '../../support/tests/shared-database.ts';

const DAY_MS = 86_400_000;

const { db, url, query } = keptDatabase();
let key: string;
const ids = new Map<string, number>();
beforeAll(async () => {
  useKeyBoxes(db, new KeyBoxes(TEST_KEY_SECRETS));
  const accountId = await newAccount(db, 'ann@example.org');
  for (const name of ['bare', 'brought', 'ends', 'failed', 'asked'])
    ids.set(name, (await newDomain(db, accountId, `${name}.example.`)).id);
  await query`update domains set status = 'active'`;
});

const idOf = (name: string) => ids.get(name) as number;

async function bring(name: string, notAfter: Date): Promise<void> {
  const made = await makeCertificate({ names: [`${name}.example`], notAfter });
  key = made.key;
  const judgement = judgeCertificate({
    certificate: made.pem,
    privateKey: made.key,
    domain: `${name}.example`,
    now: new Date(),
    roots: undefined,
  });
  if (judgement.kind === 'refused') throw new Error(JSON.stringify(judgement.problems));
  await uploadCertificate(db, { domainId: idOf(name), judged: judgement.judged });
}

beforeEach(async () => {
  await query`truncate certificates, acme_orders, acme_asks, audit_log`;
  await bring('brought', new Date(Date.now() + 80 * DAY_MS));
  await bring('ends', new Date(Date.now() + DAY_MS / 12));
  for (const name of ['asked', 'failed']) await requestCertificateFor(db, { domainId: idOf(name) });
  await query`
    update acme_orders set attempts = 3, wanted = false, failed_at = now(), last_error = 'no way' || chr(27) || '[2J',
      due_at = '2031-01-02T03:04:05Z', findings = '[{"code": "CAA_FORBIDS", "message": "add a record"}]'
    where domain_id = ${idOf('failed')}`;
});

const run = (...args: string[]) =>
  runCommands(addCertificateCommands, ['certificates', ...args], url, {
    keySecrets: TEST_KEY_SECRETS,
  });
const listed = async (...args: string[]) =>
  JSON.parse((await run('list', '--json', ...args)).stdout).certificates;
const namesOf = (list: readonly { domain: string }[]) => list.map(({ domain }) => domain.split('.')[0]);

describe('certificates list', () => {
  it('shows ongoing, failed and expiring certificates, and what comes next', async () => {
    const { code, stdout } = await run('list');
    expect(code).toBe(0);
    const [heads, ...rows] = stdout.trimEnd().split('\n');
    expect(heads).toMatch(/^DOMAIN +STATUS +ENDS +NEXT +FAILED +ACCOUNT +LAST ERROR$/);
    expect(rows.map((row) => row.split(/ +/).slice(0, 2))).toEqual([
      ['asked.example', 'pending'],
      ['ends.example', 'expiring'],
      ['failed.example', 'failed'],
    ]);
    expect(rows[2]).toMatch(/ {2}2031-01-02T03:04Z +3 {2}ann@example\.org {2}no way\ufffd\[2J$/);
  });

  it('lists everything as JSON without keys, with filters for failed ones and for all', async () => {
    const [, , failed] = await listed();
    expect(failed).toMatchObject({
      domain: 'failed.example',
      status: 'failed',
      account: { email: 'ann@example.org' },
      not_after: null,
      order: { step: 'resting', attempts: 3, next_at: '2031-01-02T03:04:05.000Z' },
    });
    const { stdout } = await run('list', '--all', '--json');
    expect(stdout).not.toContain(key.split('\n')[1]);
    expect(namesOf(await listed('--failed'))).toEqual(['failed']);
    expect(namesOf(await listed('--all'))).toEqual(['asked', 'brought', 'ends', 'failed']);
    await query`update acme_orders set renew_at = now() - interval '1 hour', wanted = false where domain_id = ${idOf('asked')}`;
    expect(namesOf(await listed())).toContain('asked');
    await query`
      insert into acme_orders (domain_id, account_id)
      select id, account_id from domains where name = 'bare.example.'`;
    expect(namesOf(await listed('--all'))).toEqual(['asked', 'bare', 'brought', 'ends', 'failed']);
  });
});

describe('certificates show', () => {
  it('shows the certificate and its order, and fails without a certificate or a domain', async () => {
    const { code, stdout } = await run('show', 'Failed.Example');
    expect(code).toBe(1);
    expect(stdout).toMatch(/^failed\.example\n/);
    expect(stdout).toMatch(/status +failed\n/);
    expect(stdout).toMatch(/failures +3 in a row\n/);
    expect(stdout).toMatch(/finding +CAA_FORBIDS: add a record\n/);
    expect(stdout).not.toContain('\u001b');
    const brought = await run('show', 'brought.example', '--json');
    expect([brought.code, JSON.parse(brought.stdout)]).toEqual([
      0,
      expect.objectContaining({ domain: 'brought.example', status: 'custom', order: null }),
    ]);
    expect((await run('show', 'bare.example')).stdout).toMatch(/status +none/);
    expect(await run('show', 'nobody.example')).toMatchObject({ code: 1, stdout: '' });
    expect((await run('show', 'no name')).code).toBe(2);
  });
});

describe('certificates issue', () => {
  const orders = async () => await query`select domain_id from acme_orders where wanted order by domain_id`;

  it('requests a certificate immediately, even after a failure, without limits, but not twice, and writes a row to the audit log', async () => {
    const { code, stdout } = await run('issue', 'asked.example', '--json');
    expect([code, JSON.parse(stdout)]).toEqual([0, { domain: 'asked.example', outcome: 'under_way' }]);
    expect(await query`select from audit_log`).toEqual([]);
    expect(await run('issue', 'failed.example')).toEqual({
      code: 0,
      stdout: 'failed.example: requested: workers will order it\n',
      stderr: '',
    });
    expect(await orders()).toHaveLength(2);
    expect(await query`select action, actor_kind, domain_id, target_name from audit_log`).toEqual([
      { action: 'ssl.issue', actor_kind: 'cli', domain_id: idOf('failed'), target_name: 'failed.example' },
    ]);
    await query`
      insert into acme_asks (account_id, name)
      select account_id, name from domains, generate_series(1, 300) where name = 'bare.example.'`;
    expect((await run('issue', 'bare.example')).code).toBe(0);
  });

  it('reports why it cannot request one', async () => {
    await query`update domains set status = 'pending' where id = ${idOf('bare')}`;
    const { code, stderr } = await run('issue', 'bare.example');
    await query`update domains set status = 'active' where id = ${idOf('bare')}`;
    expect([code, stderr]).toEqual([
      1,
      'bare.example: certificates are issued only for active domains: this one is not active yet\n',
    ]);
    const bare = await runCommands(addCertificateCommands, ['certificates', 'issue', 'bare.example'], url);
    expect([bare.code, bare.stderr]).toEqual([2, expect.stringContaining('KEY_SECRETS')]);
  });
});
