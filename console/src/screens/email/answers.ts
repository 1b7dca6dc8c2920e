// The input of the email setup, and its problems.

import { type QuickRecord, readQuickLine } from '../records/quick-add.ts';
import { fieldsOf, fill, type RecipeField, type Values } from '../records/recipe.ts';
import type { Row } from '../records/rows.ts';
import { type DmarcPolicy, dmarcAddressOf, dmarcPolicyOf, isDmarc } from './dmarc.ts';
import { type Provider, providerOf } from './providers.ts';
import { isSpf, type SpfAll, spfAllOf } from './spf.ts';

export interface Answers {
  /** Id of a provider. `keep`: the current servers stay. `own`: other servers. `none`: the domain has no mail. */
  readonly mailbox: string;
  readonly senders: readonly string[];
  /** Values of the account, by provider and field: `google dkim`. */
  readonly values: Values;
  /** One mail server per line. */
  readonly ownServers: string;
  /** Terms to remove from the SPF record. */
  readonly spfWithout: readonly string[];
  readonly spfAll: SpfAll;
  readonly dmarc: 'keep' | DmarcPolicy;
  readonly dmarcAddress: string;
  readonly mtaSts: 'keep' | 'testing' | 'enforce';
  /** Address or name of the web server of the MTA-STS policy. */
  readonly mtaStsHost: string;
  readonly tlsAddress: string;
}

/** Returns the text records at a name that the draft does not delete. `rows` have relative names. */
export function textsAt(rows: readonly Row[], name: string): string[] {
  return rows
    .filter(({ state, typed }) => state !== 'deleted' && typed.type === 'TXT' && typed.name === name)
    .map(({ typed }) => typed.destination);
}

/** Returns the mail servers. A null MX (RFC 7505) is none. */
export function currentServers(rows: readonly Row[]): string[] {
  return rows
    .filter(({ state, typed }) => state !== 'deleted' && typed.type === 'MX' && typed.name === '@')
    .map(({ typed }) => typed.destination)
    .filter((host) => host !== '.');
}

/** Returns the first address or URL of a record for TLS reports (RFC 8460 §3). */
export function tlsAddressOf(text: string): string | undefined {
  return /^v=TLSRPTv1\s*;.*rua=(?:mailto:)?([^,;\s]+)/.exec(text)?.[1];
}

/** Returns the answers that change nothing, as far as possible. */
export function initialAnswers(rows: readonly Row[]): Answers {
  const dmarc = textsAt(rows, '_dmarc').find(isDmarc);
  const [tlsAddress = ''] = textsAt(rows, '_smtp._tls').flatMap((text) => tlsAddressOf(text) ?? []);
  return {
    mailbox: currentServers(rows).length > 0 ? 'keep' : '',
    senders: [],
    values: {},
    ownServers: '',
    spfWithout: [],
    spfAll: spfAllOf(textsAt(rows, '@').filter(isSpf)),
    dmarc: dmarc !== undefined && dmarcPolicyOf(dmarc) !== undefined ? 'keep' : 'none',
    dmarcAddress: dmarcAddressOf(dmarc ?? ''),
    mtaSts: 'keep',
    mtaStsHost: '',
    tlsAddress,
  };
}

/** Returns the selected providers: first that of the mailboxes. */
export function chosenProviders({ mailbox, senders }: Answers): Provider[] {
  if (mailbox === 'none') return [];
  return [mailbox, ...senders].flatMap((id) => providerOf(id) ?? []);
}

/** Returns the values for a provider. A selector or token may be pasted with the rest of the record's name. */
export function valuesOf({ id, defaults = {} }: Provider, { values }: Answers, domain: string): Values {
  const own = Object.entries(values).filter(([key]) => key.startsWith(`${id} `));
  const usual = Object.entries(defaults).map(([key, text]) => [
    key,
    text.replace('{dashes}', domain.replaceAll('.', '-')),
  ]);
  const given = own.map(([key, text = '']) => {
    const field = key.slice(id.length + 1);
    return [field, /^(?:selector|token)/.test(field) ? text.replace(/\._domainkey.*$/i, '') : text];
  });
  return Object.fromEntries([...usual, ...given]);
}

/** Converts lines such as `mail` or `10 mail.example.net` to lines of MX records. */
export function serverLines(text: string): string[] {
  return text
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .filter(([first]) => first !== '')
    .map((words, i) => `@ MX ${words.length > 1 ? words.join(' ') : `${10 * (i + 1)} ${words[0]}`}`);
}

function readRecord(line: string, domain: string): QuickRecord | undefined {
  const read = readQuickLine(line, domain);
  return read !== undefined && 'record' in read ? read.record : undefined;
}

/** Returns the MX records of the person's own servers. Lines that are not MX records are omitted. */
export function ownServerRecords(text: string, domain: string): QuickRecord[] {
  return serverLines(text).flatMap((line) => readRecord(line, domain) ?? []);
}

/** Returns the record of the MTA-STS web server, or undefined if the text is neither an address nor a name. */
export function policyServerRecord(text: string, domain: string): QuickRecord | undefined {
  const host = text.trim();
  if (/\s/.test(host)) return undefined;
  const address = readRecord(`mta-sts ${host}`, domain);
  if (address !== undefined) return address;
  const alias = readRecord(`mta-sts CNAME ${host}`, domain);
  return alias !== undefined && isHost(alias.destination) ? alias : undefined;
}

/** Returns false for an IP address. */
function isHost(text: string): boolean {
  return /^[\p{L}\p{M}\p{N}._-]+$/u.test(text) && /[\p{L}_-]/u.test(text);
}

export type Problem = 'needed' | 'wrong' | 'noAddress' | 'noServer';

export interface ProviderField extends RecipeField {
  readonly provider: Provider;
  /** Key in `Answers.values`. */
  readonly valueKey: string;
  readonly value: string;
  readonly problem: Problem | undefined;
}

/** Only the mail server is required. Other values can be added later. */
export function providerFields(answers: Answers, domain: string): ProviderField[] {
  return chosenProviders(answers).flatMap((provider) => {
    const values = valuesOf(provider, answers, domain);
    const { wrong } = fill(provider.records, values, domain);
    return fieldsOf(provider.records).map((field) => {
      const value = values[field.key] ?? '';
      const isNeeded = field.type === 'MX' && value.trim() === '';
      const problem = isNeeded ? 'needed' : wrong.includes(field.key) ? 'wrong' : undefined;
      return { ...field, provider, valueKey: `${provider.id} ${field.key}`, value, problem };
    });
  });
}

export function serversProblem({ mailbox, ownServers }: Answers, domain: string): Problem | undefined {
  if (mailbox !== 'own') return undefined;
  const lines = serverLines(ownServers);
  if (lines.length === 0) return 'needed';
  const read = ownServerRecords(ownServers, domain);
  // an address is not allowed (RFC 5321 §5.1)
  return read.length === lines.length && read.every(({ destination }) => isHost(destination))
    ? undefined
    : 'wrong';
}

export function addressProblem(text: string): Problem | undefined {
  return text.trim() === '' || /^[^\s@;,!]+@[^\s@;,!]+\.[^\s@;,!]+$/.test(text.trim())
    ? undefined
    : 'noAddress';
}

/** TLS reports can also be posted to a URL, in which these separators must be escaped (RFC 8460 §3). */
export function tlsAddressProblem(text: string): Problem | undefined {
  return /^https:\/\/[^\s,;!]+$/.test(text.trim()) ? undefined : addressProblem(text);
}

/** The web server is optional, because its record may exist. */
export function policyServerProblem({ mtaSts, mtaStsHost }: Answers, domain: string): Problem | undefined {
  const isGiven = mtaSts !== 'keep' && mtaStsHost.trim() !== '';
  return isGiven && policyServerRecord(mtaStsHost, domain) === undefined ? 'noServer' : undefined;
}
