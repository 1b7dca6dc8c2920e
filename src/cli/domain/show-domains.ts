// `domain show`: prints all stored details of domains. If no domain has the name, shows the most recently deleted one.

import { loadAccount } from '../../store/accounts/accounts.ts';
import type { Domain } from '../../store/domains/domain.ts';
import { findDomain } from '../../store/domains/load-domains.ts';
import type { Database } from '../../store/postgres/database.ts';
import { printWithoutDot } from '../../zone/name-text.ts';
import type { BadDomainName, WantedDomain } from '../terminal/collect-domain-names.ts';
import { findOneDomain, type Owner } from '../terminal/one-domain.ts';
import { Listing, type Output } from '../terminal/output.ts';
import type { DomainOutcome } from '../terminal/work-on-domains.ts';
import { domainJson } from './domain-json.ts';

type Refused = Extract<DomainOutcome, { kind: 'refused' }>;

export async function showDomains(
  db: Database,
  domains: Iterable<WantedDomain | BadDomainName>,
  owner: Owner,
  output: Output,
): Promise<number> {
  const listing = new Listing(output, 'domains');
  let absent = 0;
  const refuse = async (
    name: string,
    place: string | undefined,
    { code: outcome, message, lines = [], members }: Pick<Refused, 'code' | 'message' | 'lines' | 'members'>,
  ) => {
    absent++;
    const where = place === undefined ? '' : `${place}: `;
    await listing.add({
      json: { domain: name, outcome, message, ...(place !== undefined && { place }), ...members },
      problems: [`${where}${name}: ${message}`, ...lines],
    });
  };
  for (const wanted of domains) {
    if (wanted.kind === 'bad') {
      await refuse(wanted.text, wanted.place, { code: 'refused', message: wanted.message });
      continue;
    }
    const found = await findOneDomain(db, wanted.name, owner);
    const isGone = found.kind === 'refused' && found.members === undefined;
    const domain =
      found.kind === 'found'
        ? found.domain
        : isGone
          ? await findDomain(db, wanted.name, { deleted: true })
          : undefined;
    if (domain === undefined) {
      await refuse(printWithoutDot(wanted.name), wanted.place, found as Refused);
      continue;
    }
    const email = (await loadAccount(db, domain.accountId))?.email ?? String(domain.accountId);
    await listing.add({ json: domainJson(domain, email), lines: linesOf(domain, email) });
  }
  await listing.end({});
  return absent > 0 ? 1 : 0;
}

function linesOf(domain: Domain, email: string): string[] {
  const { plan, verification, findings } = domain;
  const name = printWithoutDot(domain.name);
  const names = (list: Domain['nameserverSets'][number]) => list.map(printWithoutDot).join(' ');
  const limit =
    plan === null ? 'no active plan' : plan.maxRecords === null ? 'no limit' : `of ${plan.maxRecords}`;
  const rows: [string, string | undefined][] = [
    ['id', String(domain.id)],
    ['account', `${email} (${domain.accountId})`],
    [
      'status',
      `${domain.status}${domain.suspended ? `, suspended by ${domain.suspendedBy.join(' and ')}` : ''}`,
    ],
    ['mode', domain.dnsMode],
    ['served', domain.served],
    ['serial', String(domain.serial)],
    ['records', `${domain.recordCount} (${limit})`],
    ['plan', plan?.slug ?? 'none'],
    ['nameservers', names(domain.nameserverSets[0] ?? [])],
    ...domain.nameserverSets.slice(1).map((set): [string, string] => ['also proved by', names(set)]),
    ['delegated to', domain.currentNs === null ? undefined : names(domain.currentNs)],
    [
      'verification',
      verification === null ? undefined : `${printWithoutDot(verification.host)} TXT ${verification.value}`,
    ],
    ...findings.map(({ code, message }): [string, string] => ['finding', `${code}: ${message}`]),
    ['next check', time(domain.nextCheckAt)],
    ['created', time(domain.createdAt)],
    ['updated', time(domain.updatedAt)],
    ['deleted', time(domain.deletedAt)],
  ];
  const shown = rows.filter(([, value]) => value !== undefined);
  const title = name === domain.unicode ? name : `${name} (${domain.unicode})`;
  return [title, ...shown.map(([head, value]) => `  ${head.padEnd(13)} ${value}`)];
}

function time(at: Date | null): string | undefined {
  return at?.toISOString().replace(/\.\d+Z$/, 'Z');
}
