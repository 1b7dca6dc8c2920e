// Extracts the other names that a record of a domain mentions. A zone's owner may want to cause work, so the amount of text
// is limited.

import { TextError } from '../../dns/errors.ts';
import { foldCase, isWithin, type Name, parseName, printName, ROOT } from '../../dns/name.ts';
import { rdataNames } from '../../dns/record/rdata.ts';
import { TXT } from '../../dns/record/types/texts.ts';
import { WireReader } from '../../dns/record/wire-reader.ts';
import { TYPE } from '../../dns/type-codes.ts';
import { proofHosts } from './scan-selectors.ts';

/** Maximum number of octets of a text, and of hosts in it. Useful texts have fewer. */
const MAX_TEXT = 4096;
const MAX_HOSTS = 100;

/** Returns folded names below `domain`. Texts mention names in SPF (RFC 7208 §5) and in report addresses. */
export function learnNames(domain: Name, type: number, rdata: Uint8Array): Name[] {
  const names =
    type === TYPE.TXT
      ? hostsInText(joinedText(rdata)).flatMap((host) => nameOf(host))
      : rdataNames(type, rdata).map(foldCase);
  return [...new Set(names)].filter((name) => name !== domain && isWithin(name, domain));
}

/**
 * Returns the hosts in the domain's MX and SPF records, in lower case without a trailing dot. They identify its mail
 * providers.
 */
function mailHosts(type: number, rdata: Uint8Array): string[] {
  if (type === TYPE.TXT) {
    const text = joinedText(rdata);
    return isSpf(text) ? hostsInText(text) : [];
  }
  if (type !== TYPE.MX) return [];
  return rdataNames(type, rdata).map((name) => printName(foldCase(name)).slice(0, -1));
}

/**
 * Returns the hosts that identify any provider: those of the domain's mail, the target of an alias, and the provider to
 * which a text proves the domain.
 */
export function providerHosts(type: number, rdata: Uint8Array): string[] {
  if (type === TYPE.CNAME)
    return rdataNames(type, rdata).map((name) => printName(foldCase(name)).slice(0, -1));
  const hosts = mailHosts(type, rdata);
  return type === TYPE.TXT ? [...hosts, ...proofHosts(joinedText(rdata))] : hosts;
}

/** True if the record means that its name receives or sends mail. */
export function isOfMail(type: number, rdata: Uint8Array): boolean {
  return type === TYPE.MX || (type === TYPE.TXT && isSpf(joinedText(rdata)));
}

/** Joins the character-strings (RFC 7208 §3.3). */
function joinedText(rdata: Uint8Array): string {
  const { strings } = TXT.decode(new WireReader(rdata));
  return Buffer.concat(strings).toString('latin1', 0, MAX_TEXT).toLowerCase();
}

function isSpf(text: string): boolean {
  return /^v=spf1( |$)/.test(text);
}

function hostsInText(text: string): string[] {
  return allHostsInText(text).slice(0, MAX_HOSTS);
}

function allHostsInText(text: string): string[] {
  if (isSpf(text)) {
    const terms = text
      .split(/ +/)
      .map((term) => /^[-+?~]?(?:a|mx|include|exists|ptr)[:]([^/]+)|^redirect=(.+)/.exec(term));
    // with a macro (RFC 7208 §7) it is not a single name
    return terms.flatMap((term) => term?.[1] ?? term?.[2] ?? []).filter((host) => !host.includes('%'));
  }
  if (!/^v=(dmarc1|tlsrptv1)\b/.test(text)) return [];
  return [...text.matchAll(/mailto:[^@,; ]{1,64}@([^!,; ]{1,255})/g)].map(([, host]) => host as string);
}

function nameOf(host: string): Name[] {
  try {
    return [foldCase(parseName(host, ROOT))];
  } catch (error) {
    if (error instanceof TextError) return [];
    throw error;
  }
}
