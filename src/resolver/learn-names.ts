// Which other names a record of a domain speaks of. Pure. Whoever made the record may want it to be work: only so much is read.

import { TextError } from '../dns/errors.ts';
import { foldCase, isWithin, type Name, parseName, printName, ROOT } from '../dns/name.ts';
import { rdataNames } from '../dns/rdata.ts';
import { TYPE } from '../dns/type-codes.ts';
import { TXT } from '../dns/types/txt.ts';
import { WireReader } from '../dns/wire-reader.ts';
import { proofHosts } from './scan-selectors.ts';

/** Octets of a text that are read, and hosts in it: more than any that is of use to its owner. */
const MAX_TEXT = 4096;
const MAX_HOSTS = 100;

/** Folded, inside `domain` and not the domain itself. Text says it by SPF (RFC 7208 §5) and by addresses for reports. */
export function learnNames(domain: Name, type: number, rdata: Uint8Array): Name[] {
  const names =
    type === TYPE.TXT
      ? hostsInText(joinedText(rdata)).flatMap((host) => nameOf(host))
      : rdataNames(type, rdata).map(foldCase);
  return [...new Set(names)].filter((name) => name !== domain && isWithin(name, domain));
}

/** The hosts that a mail domain's records point to, in lower case without a final dot: what shows its providers. */
export function mailHosts(type: number, rdata: Uint8Array): string[] {
  if (type === TYPE.TXT) {
    const text = joinedText(rdata);
    return isSpf(text) ? hostsInText(text) : [];
  }
  if (type !== TYPE.MX) return [];
  return rdataNames(type, rdata).map((name) => printName(foldCase(name)).slice(0, -1));
}

/** Hosts that show any provider: those of its mail, where an alias leads, and whom a text proves the domain to. */
export function providerHosts(type: number, rdata: Uint8Array): string[] {
  if (type === TYPE.CNAME)
    return rdataNames(type, rdata).map((name) => printName(foldCase(name)).slice(0, -1));
  const hosts = mailHosts(type, rdata);
  return type === TYPE.TXT ? [...hosts, ...proofHosts(joinedText(rdata))] : hosts;
}

/** Mail comes to its name, or from it. */
export function isOfMail(type: number, rdata: Uint8Array): boolean {
  return type === TYPE.MX || (type === TYPE.TXT && isSpf(joinedText(rdata)));
}

/** RFC 7208 §3.3. */
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
    // with a macro (RFC 7208 §7) it is no one name
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
