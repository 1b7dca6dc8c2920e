import { describe, expect, it } from 'vitest';
import {
  type Answers,
  initialAnswers,
  providerFields,
  serverLines,
  serversProblem,
} from '../../../../console/src/screens/email/answers.ts';
import { emailPlan, withRelativeNames } from '../../../../console/src/screens/email/email-plan.ts';
import { PROVIDERS, providerOfServer } from '../../../../console/src/screens/email/providers.ts';
import { isStepDone, stepsOf } from '../../../../console/src/screens/email/steps.ts';
import { addRow, NO_DRAFT } from '../../../../console/src/screens/records/draft.ts';
import { fieldsOf, fill } from '../../../../console/src/screens/records/recipe.ts';
import { NO_FILTER, rowsOf } from '../../../../console/src/screens/records/rows.ts';
import type { KeptRecord } from '../../../../console/src/screens/records/typed.ts';
import { someRecord } from '../../../support/console/records.ts';

const DOMAIN = 'shop.example';
const NOW = new Date('2026-12-01T10:20:30Z');
const records = (...all: Partial<KeptRecord>[]) => all.map((each, i) => someRecord({ id: i + 1, ...each }));
const mx = (destination: string, mx_priority = 10) => ({ name: '@', type: 'MX', destination, mx_priority });
const txt = (destination: string, name = '@') => ({ name, type: 'TXT', destination });
const rowsFor = (there: readonly KeptRecord[], draft = NO_DRAFT) =>
  withRelativeNames(rowsOf(there, draft, NO_FILTER), DOMAIN);

function planOf(there: readonly KeptRecord[], answers: Partial<Answers>) {
  const rows = rowsFor(there);
  return emailPlan(rows, { ...initialAnswers(rows), ...answers }, DOMAIN, NOW);
}

/** `+ @ MX 10 mail`, `- …`, and `~` with the new value. */
function changes(there: readonly KeptRecord[], answers: Partial<Answers>): string[] {
  const signs = { create: '+', update: '~', delete: '-' };
  return planOf(there, answers).differences.map(({ op, before, after }) => {
    const { name, type, mx_priority, destination } = (after ?? before)!;
    return [signs[op], name, type, mx_priority, destination].filter(Boolean).join(' ');
  });
}

describe('the email setup', () => {
  it('changes nothing at first in a domain with mail', () => {
    const there = records(
      mx('mail.other.test'),
      txt('v=spf1 mx -all'),
      txt('v=DMARC1; p=none', '_dmarc'),
      txt('v=TLSRPTv1;rua=mailto:a@b.test,mailto:c@d.test', '_smtp._tls'),
    );
    expect(changes(there, {})).toEqual([]);
    expect(initialAnswers(rowsFor(there))).toMatchObject({ mailbox: 'keep', tlsAddress: 'a@b.test' });
    expect(initialAnswers(rowsFor(records(mx('.', 0)))).mailbox).toBe('');
  });

  it('adds all records of a provider', () => {
    expect(changes([], { mailbox: 'fastmail', dmarcAddress: 'd@shop.example' })).toEqual([
      '+ @ MX 10 in1-smtp.messagingengine.com',
      '+ @ MX 20 in2-smtp.messagingengine.com',
      '+ fm1._domainkey CNAME fm1.shop.example.dkim.fmhosted.com',
      '+ fm2._domainkey CNAME fm2.shop.example.dkim.fmhosted.com',
      '+ fm3._domainkey CNAME fm3.shop.example.dkim.fmhosted.com',
      '+ @ TXT v=spf1 include:spf.messagingengine.com ~all',
      '+ _dmarc TXT v=DMARC1; p=none; rua=mailto:d@shop.example',
    ]);
  });

  it('replaces the servers and keys of the old provider, and merges SPF and DMARC', () => {
    const there = records(
      mx('old.test'),
      mx('SMTP.Google.com.', 1),
      { name: 'google._domainkey.shop.example.', type: 'CNAME', destination: 'old.test' },
      txt('v=spf1 include:old.test -all'),
      txt('other=1'),
      txt('v=spf1 a -all'),
      txt('v=DMARC1; p=none; pct=50', '_dmarc'),
    );
    const answers = {
      mailbox: 'google',
      values: { 'google dkim': '"v=DKIM1; p=AB" "CD"', 'google verification': 'google-site-verification=x' },
      spfWithout: ['include:old.test'],
      dmarc: 'quarantine' as const,
    };
    expect(changes(there, answers)).toEqual([
      '- @ MX 10 old.test',
      '- google._domainkey CNAME old.test',
      '~ @ TXT v=spf1 a include:_spf.google.com -all',
      '- @ TXT v=spf1 a -all',
      '~ _dmarc TXT v=DMARC1; p=quarantine; pct=50',
      '+ google._domainkey TXT v=DKIM1; p=ABCD',
      '+ @ TXT google-site-verification=x',
    ]);
  });

  it('adds sending services to the current SPF record, and omits records that lack a value', () => {
    const there = records(mx('mail.other.test'), txt('v=spf1 mx ~all'), txt('v=DMARC1; p=none', '_dmarc'));
    expect(changes(there, { senders: ['mailgun', 'mailchimp'] })).toEqual([
      '~ @ TXT v=spf1 mx include:mailgun.org ~all',
      '+ k2._domainkey CNAME dkim2.mcsv.net',
      '+ k3._domainkey CNAME dkim3.mcsv.net',
    ]);
  });

  it('accepts a selector with the rest of its name', () => {
    const values = {
      'infomaniak selector': '2026._domainkey.shop.example',
      'infomaniak dkim': 'v=DKIM1; p=AB',
    };
    expect(changes([], { mailbox: 'infomaniak', values })).toContain('+ 2026._domainkey TXT v=DKIM1; p=AB');
  });

  it('ends all mail of a domain that has none (RFC 7505)', () => {
    const there = records(mx('old.test'), txt('v=spf1 include:old.test ~all'));
    expect(changes(there, { mailbox: 'none', senders: ['mailgun'], tlsAddress: 'a@b.test' })).toEqual([
      '- @ MX 10 old.test',
      '~ @ TXT v=spf1 -all',
      '+ @ MX 0 .',
      '+ _dmarc TXT v=DMARC1; p=reject',
    ]);
  });

  it('accepts own servers', () => {
    expect(serverLines('mail\n\n5 mx.other.test ')).toEqual(['@ MX 10 mail', '@ MX 5 mx.other.test']);
    expect(changes([], { mailbox: 'own', ownServers: 'mail', dmarc: 'keep' })).toEqual([
      '+ @ MX 10 mail.shop.example',
      '+ @ TXT v=spf1 mx ~all',
    ]);
    const problem = (ownServers: string) =>
      serversProblem({ ...initialAnswers([]), mailbox: 'own', ownServers }, DOMAIN);
    for (const servers of ['mail', 'mail.bücher.example']) expect(problem(servers)).toBeUndefined();
    expect(problem('')).toBe('needed');
    for (const servers of ['192.0.2.1', 'x mail', '{domain}', '{constructor}', `${'a'.repeat(100_000)}!`])
      expect(problem(servers)).toBe('wrong');
  });

  it('adds MTA-STS with its policy, and TLS reports (RFC 8461, 8460)', () => {
    const there = records(mx('mail.other.test.'), txt('v=STSv1; id=1', '_mta-sts'));
    const answers = {
      mailbox: 'keep',
      dmarc: 'keep' as const,
      mtaSts: 'enforce' as const,
      mtaStsHost: '192.0.2.7',
      tlsAddress: 'https://reports.test/tls',
    };
    expect(changes(there, answers)).toEqual([
      '- _mta-sts TXT v=STSv1; id=1',
      '+ _mta-sts TXT v=STSv1; id=20261201102030',
      '+ mta-sts A 192.0.2.7',
      '+ _smtp._tls TXT v=TLSRPTv1; rua=https://reports.test/tls',
    ]);
    expect(planOf(there, answers).policyFile).toBe(
      'version: STSv1\r\nmode: enforce\r\nmx: mail.other.test\r\nmax_age: 604800\r\n',
    );
    const byName = { ...answers, mtaStsHost: 'web.other.test', tlsAddress: '' };
    expect(changes([], byName)).toContain('+ mta-sts CNAME web.other.test');
    const wrong = { ...byName, mtaStsHost: 'TXT web.other.test' };
    expect(changes([], wrong).filter((text) => text.startsWith('+ mta-sts'))).toEqual([]);
  });

  it('lists mail servers as A-labels in the policy for MTA-STS', () => {
    const { policyFile } = planOf(records(mx('mail.bücher.example')), { mtaSts: 'testing' });
    expect(policyFile).toContain('\r\nmx: mail.xn--bcher-kva.example\r\n');
  });

  it('changes an SPF record that handles other servers in a way that cannot be chosen', () => {
    const there = (policy: string) => records(mx('a.test'), txt(policy), txt('v=DMARC1; p=none', '_dmarc'));
    expect(changes(there('v=spf1 mx +all'), {})).toEqual(['~ @ TXT v=spf1 mx ~all']);
    expect(changes(there('v=spf1 redirect=b.test'), {})).toEqual([]);
  });

  it.each([
    [{ mailbox: 'google', dmarc: 'reject' }, ['rejectWithoutDkim']],
    [{ mailbox: 'fastmail', dmarc: 'reject' }, []],
    [{ mailbox: 'keep', senders: ['mailchimp'] }, ['noMx']],
    [{ mailbox: 'fastmail', dmarcAddress: 'a@other.test' }, ['reportConsent']],
    [{ mailbox: 'none' }, []],
  ] as const)('%j has the warnings %j', (answers, kinds) =>
    expect(planOf([], answers).warnings.map(({ kind }) => kind)).toEqual(kinds));

  it('warns about an SPF record with too many lookups, and an MTA-STS policy with the old servers', () => {
    const includes = Array.from({ length: 10 }, (_, i) => `include:${i}.test`).join(' ');
    const there = records(mx('old.test'), txt(`v=spf1 ${includes} ~all`), txt('v=STSv1; id=1', '_mta-sts'));
    expect(planOf(there, { mailbox: 'fastmail' }).warnings).toEqual([
      { kind: 'tooManyLookups', text: '11' },
      { kind: 'policyListsServers', text: DOMAIN },
    ]);
  });

  it('considers unsaved records, and ignores managed ones', () => {
    const draft = addRow(NO_DRAFT, { ...mx('draft.test'), mx_priority: '5', name: 'shop.example.' });
    const rows = rowsFor(records({ ...mx('managed.test'), editable: false }), draft);
    const { differences } = emailPlan(rows, { ...initialAnswers(rows), mailbox: 'none' }, DOMAIN, NOW);
    expect(differences[0]).toMatchObject({ op: 'delete', key: 'n1' });
    expect(differences.map(({ before }) => before?.destination)).not.toContain('managed.test');
  });
});

describe('the steps', () => {
  it('are only the provider and the review if the domain has no mail', () => {
    const answers = initialAnswers([]);
    expect(stepsOf({ ...answers, mailbox: 'none' })).toEqual(['provider', 'review']);
    expect(stepsOf(answers)).toHaveLength(6);
  });

  it('are complete when their values are', () => {
    const answers = { ...initialAnswers([]), mailbox: 'workmail' };
    expect(isStepDone('provider', initialAnswers([]), DOMAIN)).toBe(false);
    expect(isStepDone('values', answers, DOMAIN)).toBe(false);
    expect(isStepDone('values', { ...answers, values: { 'workmail region': 'eu-west-1' } }, DOMAIN)).toBe(
      true,
    );
    expect(isStepDone('dmarc', { ...answers, dmarcAddress: 'no address' }, DOMAIN)).toBe(false);
    const isTransportDone = (changes: Partial<Answers>) =>
      isStepDone('transport', { ...answers, mtaSts: 'testing', ...changes }, DOMAIN);
    for (const tlsAddress of ['', 'https://a.test', 'a@b.test'])
      expect(isTransportDone({ tlsAddress })).toBe(true);
    expect(isTransportDone({ tlsAddress: 'https://a.test/;x' })).toBe(false);
    for (const mtaStsHost of ['', '192.0.2.1', '2001:db8::1', 'web', 'web.bücher.example'])
      expect([mtaStsHost, isTransportDone({ mtaStsHost })]).toEqual([mtaStsHost, true]);
    for (const mtaStsHost of ['192.0.2.300', 'https://a.test/', 'A 192.0.2.1', 'a b', ';x'])
      expect([mtaStsHost, isTransportDone({ mtaStsHost })]).toEqual([mtaStsHost, false]);
  });
});

describe('the providers', () => {
  it('have records that can be read, and known placeholders', () => {
    for (const { records: lines, id } of PROVIDERS) {
      const values = Object.fromEntries(
        fieldsOf(lines).map(({ key }) => [key, key === 'mx' ? 'mx.a.test' : key]),
      );
      expect([id, fill(lines, values, DOMAIN).wrong]).toEqual([id, []]);
      expect(fill(lines, values, DOMAIN).lines).toHaveLength(lines.length);
    }
  });

  it('have unique ids', () => expect(new Set(PROVIDERS.map(({ id }) => id)).size).toBe(PROVIDERS.length));

  it('are found by their mail servers', () => {
    const names = [
      'ASPMX.L.google.com.',
      'shop-example.mail.protection.outlook.com',
      'mx2.zoho.eu',
      'mail.a.test',
    ];
    expect(names.map((name) => providerOfServer(name)?.id)).toEqual([
      'google',
      'microsoft',
      'zoho-eu',
      undefined,
    ]);
  });

  it('suggest the server of Microsoft 365', () => {
    const [field] = providerFields({ ...initialAnswers([]), mailbox: 'microsoft' }, DOMAIN);
    expect(field).toMatchObject({ key: 'mx', value: 'shop-example.mail.protection.outlook.com' });
  });
});
