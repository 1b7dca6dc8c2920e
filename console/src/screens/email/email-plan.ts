// Computes the records of the email setup, and warnings about them.

import type { Difference } from '../records/diff.ts';
import { relativeName } from '../records/owner-name.ts';
import { fill } from '../records/recipe.ts';
import { RecordPlan } from '../records/record-plan.ts';
import type { Row } from '../records/rows.ts';
import {
  type Answers,
  chosenProviders,
  ownServerRecords,
  policyServerRecord,
  textsAt,
  tlsAddressOf,
  valuesOf,
} from './answers.ts';
import { dmarcPolicyOf, dmarcText, isDmarc, reportConsentName } from './dmarc.ts';
import { endsAs, isSpf, lookupsOf, MOST_LOOKUPS, mergeSpf, spfTerms } from './spf.ts';

export interface Warning {
  readonly kind: 'rejectWithoutDkim' | 'tooManyLookups' | 'policyListsServers' | 'reportConsent' | 'noMx';
  /** The name of a record, or a number. */
  readonly text: string;
}

export interface EmailPlan {
  readonly differences: readonly Difference[];
  /** The SPF record after the changes. */
  readonly spf: string | undefined;
  readonly warnings: readonly Warning[];
  /** The MTA-STS policy to serve. Undefined unless MTA-STS is set up. */
  readonly policyFile: string | undefined;
}

/** Returns the rows with relative names. */
export function withRelativeNames(rows: readonly Row[], domain: string): Row[] {
  return rows.map((row) => ({
    ...row,
    typed: { ...row.typed, name: relativeName(row.typed.name, domain) },
  }));
}

/** `rows` have relative names. `now` is for the id of the MTA-STS policy. */
export function emailPlan(rows: readonly Row[], answers: Answers, domain: string, now: Date): EmailPlan {
  const plan = new RecordPlan(rows, domain);
  const hasMail = answers.mailbox !== 'none';
  if (hasMail) {
    setServers(plan, answers, domain);
    setSpf(plan, (policies) => spfText(policies, answers));
    setDmarc(plan, answers);
  } else endMail(plan);
  const hosts = plan.after().flatMap((each) => (isMx(each) ? [policyName(each.destination)] : []));
  const policyFile = hasMail ? setMtaSts(plan, answers, domain, hosts, now) : undefined;
  if (hasMail && answers.tlsAddress.trim() !== '') setTlsReports(plan, answers.tlsAddress.trim());
  const after = plan.after();
  const spf = after.find(
    ({ name, type, destination }) => name === '@' && type === 'TXT' && isSpf(destination),
  )?.destination;
  const differences = plan.differences();
  const warnings = hasMail ? warningsOf(rows, after, differences, answers, domain, spf) : [];
  return { differences, spf, warnings, policyFile };
}

/** Adds a null MX record (RFC 7505), and policies that reject all mail from the domain. */
export function endMail(plan: RecordPlan): void {
  plan.replace('@', ['MX'], [{ name: '@', type: 'MX', mx_priority: '0', destination: '.' }]);
  setSpf(plan, () => 'v=spf1 -all');
  setDmarc(plan, { dmarc: 'reject', dmarcAddress: undefined });
}

function isMx({ name, type }: { readonly name: string; readonly type: string }): boolean {
  return name === '@' && type === 'MX';
}

/** Returns the name as A-labels without the trailing dot, as policies list it (RFC 8461 §3.2). */
function policyName(host: string): string {
  const name = host.toLowerCase().replace(/\.$/, '');
  return URL.canParse(`https://${name}`) ? new URL(`https://${name}`).hostname : name;
}

function setServers(plan: RecordPlan, answers: Answers, domain: string): void {
  const own = answers.mailbox === 'own' ? ownServerRecords(answers.ownServers, domain) : [];
  const provided = chosenProviders(answers).flatMap(
    (provider) => fill(provider.records, valuesOf(provider, answers, domain), domain).lines,
  );
  const servers = [...own, ...provided.filter(isMx)];
  if (servers.length > 0) plan.replace('@', ['MX'], servers);
  for (const record of provided) {
    if (isMx(record)) continue;
    if (record.name === '@') plan.add(record);
    else plan.replace(record.name, ['TXT', 'CNAME'], [record]);
  }
}

/** A domain has one SPF record (RFC 7208 §3.2). */
function setSpf(plan: RecordPlan, textFor: (policies: readonly string[]) => string | undefined): void {
  const [first, ...others] = plan.at('@', 'TXT').filter(({ typed }) => isSpf(typed.destination));
  const policies = [first, ...others].flatMap((row) => row?.typed.destination ?? []);
  const text = textFor(policies);
  if (text === undefined) return;
  for (const row of others) plan.remove(row);
  if (first === undefined) plan.add({ name: '@', type: 'TXT', destination: text });
  else plan.update(first, { destination: text });
}

/** Returns undefined if nothing is to be changed. */
function spfText(policies: readonly string[], answers: Answers): string | undefined {
  const added = [
    ...(answers.mailbox === 'own' ? ['mx'] : []),
    ...chosenProviders(answers).flatMap(({ spf }) => spf ?? []),
  ];
  const there = new Set(spfTerms(policies).map((term) => term.toLowerCase()));
  const isKept =
    policies.length <= 1 &&
    added.every((term) => there.has(term)) &&
    answers.spfWithout.every((term) => !there.has(term.toLowerCase())) &&
    policies.every((policy) => endsAs(policy, answers.spfAll));
  if (isKept) return undefined;
  return mergeSpf(policies, added, { all: answers.spfAll, without: answers.spfWithout });
}

/** Keeps the report address if it is undefined. Several DMARC records have no effect (RFC 7489 §6.6.3). */
function setDmarc(
  plan: RecordPlan,
  { dmarc, dmarcAddress }: { dmarc: Answers['dmarc']; dmarcAddress: string | undefined },
): void {
  if (dmarc === 'keep') return;
  const [first, ...others] = plan.at('_dmarc', 'TXT').filter(({ typed }) => isDmarc(typed.destination));
  const text = dmarcText(first?.typed.destination, dmarc, dmarcAddress);
  for (const row of others) plan.remove(row);
  if (first === undefined) plan.add({ name: '_dmarc', type: 'TXT', destination: text });
  else plan.update(first, { destination: text });
}

/** Adds the record of RFC 8461 §3.1, and returns the policy of §3.2. */
function setMtaSts(
  plan: RecordPlan,
  { mtaSts, mtaStsHost }: Answers,
  domain: string,
  hosts: readonly string[],
  now: Date,
): string | undefined {
  if (mtaSts === 'keep') return undefined;
  const id = now.toISOString().replaceAll(/\D/g, '').slice(0, 14);
  const text = `v=STSv1; id=${id}`;
  plan.replace('_mta-sts', ['TXT'], [{ name: '_mta-sts', type: 'TXT', destination: text }]);
  const server = policyServerRecord(mtaStsHost, domain);
  if (server !== undefined) plan.replace('mta-sts', ['A', 'AAAA', 'CNAME', 'ANAME'], [server]);
  const lines = [
    'version: STSv1',
    `mode: ${mtaSts}`,
    ...hosts.map((each) => `mx: ${each}`),
    'max_age: 604800',
  ];
  return `${lines.join('\r\n')}\r\n`;
}

/** RFC 8460 §3. */
function setTlsReports(plan: RecordPlan, address: string): void {
  const there = plan.at('_smtp._tls', 'TXT').map(({ typed }) => tlsAddressOf(typed.destination));
  if (there.includes(address)) return;
  const target = address.startsWith('https://') ? address : `mailto:${address}`;
  const destination = `v=TLSRPTv1; rua=${target}`;
  plan.replace('_smtp._tls', ['TXT'], [{ name: '_smtp._tls', type: 'TXT', destination }]);
}

type After = ReturnType<RecordPlan['after']>;

function warningsOf(
  rows: readonly Row[],
  after: After,
  differences: readonly Difference[],
  answers: Answers,
  domain: string,
  spf: string | undefined,
): Warning[] {
  const warnings: Warning[] = [];
  const dmarc = after.find(({ name, destination }) => name === '_dmarc' && isDmarc(destination))?.destination;
  const hasDkim = after.some(({ name }) => name.endsWith('._domainkey'));
  if (!after.some(isMx)) warnings.push({ kind: 'noMx', text: '' });
  if (dmarcPolicyOf(dmarc ?? '') === 'reject' && !hasDkim)
    warnings.push({ kind: 'rejectWithoutDkim', text: '' });
  const lookups = lookupsOf(spf ?? '');
  if (lookups > MOST_LOOKUPS) warnings.push({ kind: 'tooManyLookups', text: String(lookups) });
  const hasPolicy = textsAt(rows, '_mta-sts').length > 0 && answers.mtaSts === 'keep';
  const changesServers = differences.some(({ before, after: then }) =>
    [before, then].some((typed) => typed?.type === 'MX'),
  );
  if (hasPolicy && changesServers) warnings.push({ kind: 'policyListsServers', text: domain });
  const consent = reportConsentName(answers.dmarcAddress, domain);
  if (consent !== undefined && answers.dmarc !== 'keep')
    warnings.push({ kind: 'reportConsent', text: consent });
  return warnings;
}
