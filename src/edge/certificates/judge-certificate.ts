// Decides whether a certificate and its key may be used for a domain, and builds its chain.

import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import {
  decodeAlternativeNames,
  decodePem,
  findRefusedAlgorithm,
  findUnknownCritical,
  judgeKey,
} from './decode-certificate.ts';

type Chain =
  | { readonly kind: 'chain'; readonly chain: readonly X509Certificate[] }
  | { readonly kind: 'problem'; readonly message: string };

/** The first is the leaf. `roots`: the subjects of roots that browsers have themselves, so that they need not be sent; undefined: any issuer may be left out. */
function buildChain(given: readonly X509Certificate[], roots: ReadonlySet<string> | undefined): Chain {
  const [leaf, ...rest] = given;
  if (leaf === undefined) return problem('it has no certificate');
  const chain = [leaf];
  const left = new Set(rest);
  for (let last = leaf; ; ) {
    if (isSelfSigned(last)) break;
    const issuer = [...left].find((one) => last.checkIssued(one) && last.verify(one.publicKey));
    if (issuer === undefined) {
      if (roots === undefined || roots.has(last.issuer)) break;
      return problem(
        `the certificate of the issuer of ${commonName(last.subject)} is missing: append the intermediate certificates`,
      );
    }
    if (!issuer.ca) return problem(`${commonName(issuer.subject)} is no certificate of an authority`);
    left.delete(issuer);
    chain.push(issuer);
    last = issuer;
  }
  const [stray] = left;
  if (stray !== undefined)
    return problem(`${commonName(stray.subject)} has no place in the chain of the first certificate`);
  return { kind: 'chain', chain };
}

function isSelfSigned(certificate: X509Certificate): boolean {
  return certificate.subject === certificate.issuer && certificate.verify(certificate.publicKey);
}

function problem(message: string): Chain {
  return { kind: 'problem', message };
}

/** The last part of a subject or issuer, which names it best, for people. */
function commonName(subject: string): string {
  const parts = subject.split('\n');
  const named = parts.find((part) => part.startsWith('CN=')) ?? parts.find((part) => part.startsWith('O='));
  return (named ?? parts.at(-1) ?? '').replace(/^[A-Z]+=/, '').slice(0, 200) || 'unnamed';
}

export interface JudgedCertificate {
  /** PEM, the leaf first, without a root that signed itself. */
  readonly chain: string;
  /** PEM (PKCS #8). */
  readonly privateKey: string;
  readonly names: readonly string[];
  readonly notBefore: Date;
  readonly notAfter: Date;
  readonly issuer: string;
  /** The SHA-256 of the leaf in hexadecimal. */
  readonly fingerprint: string;
}

interface CertificateProblem {
  readonly field: 'certificate' | 'private_key';
  readonly message: string;
}

interface Judging {
  readonly certificate: string;
  readonly privateKey: string;
  /** Its name, without the final dot. */
  readonly domain: string;
  readonly now: Date;
  /** The subjects of the roots that browsers have. Undefined: any chain may end anywhere. */
  readonly roots: ReadonlySet<string> | undefined;
}

type Judgement =
  | { readonly kind: 'accepted'; readonly judged: JudgedCertificate }
  | { readonly kind: 'refused'; readonly problems: readonly CertificateProblem[] };

const MAX_NAMES = 100;
const SERVER_AUTHENTICATION = '1.3.6.1.5.5.7.3.1'; // RFC 5280 §4.2.1.12
/** As servers compare them with what a visitor asks for: a star is a whole label, and the first (RFC 6125 §6.4.3). */
const HOST = /^(?:\*\.)?(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?\.)+[a-z0-9-]{1,63}$/;
/** How many foreign names a message repeats. */
const TOLD_NAMES = 3;

export function judgeCertificate(judging: Judging): Judgement {
  const problems: CertificateProblem[] = [];
  const refuse = (field: CertificateProblem['field'], message: string) => problems.push({ field, message });
  const key = readPrivateKey(judging.privateKey);
  if ('problem' in key) refuse('private_key', key.problem);
  const given = readCertificates(judging.certificate);
  if ('problem' in given) refuse('certificate', given.problem);
  if ('problem' in key || 'problem' in given) return { kind: 'refused', problems };

  const [leaf] = given.certificates as [X509Certificate];
  const keyProblem = judgeKey(leaf.publicKey);
  if (keyProblem !== undefined) return refused('certificate', keyProblem);
  for (const certificate of given.certificates.slice(1)) {
    const message = judgeKey(certificate.publicKey); // before its signatures are verified with it
    if (message !== undefined)
      return refused('certificate', `${commonName(certificate.subject)}: ${message}`);
  }
  if (!leaf.checkPrivateKey(key.key))
    refuse('private_key', 'it is not the key of the certificate: the first certificate has another one');
  const built = buildChain(given.certificates, judging.roots);
  if (built.kind === 'problem') refuse('certificate', built.message);
  const chain = built.kind === 'chain' ? built.chain : [leaf];
  for (const certificate of chain) {
    const message =
      judgeDates(certificate, judging.now) ??
      judgeSignature(certificate, leaf) ??
      judgeExtensions(certificate);
    if (message !== undefined) refuse('certificate', message);
  }
  const { names, others } = decodeAlternativeNames(leaf.subjectAltName);
  const message = judgeNames(names, others, judging.domain) ?? judgeUse(leaf);
  if (message !== undefined) refuse('certificate', message);
  if (problems.length > 0) return { kind: 'refused', problems };
  const sent = chain.filter((one, at) => at === 0 || one.subject !== one.issuer);
  return {
    kind: 'accepted',
    judged: {
      chain: sent.map((one) => one.toString()).join(''),
      privateKey: key.key.export({ type: 'pkcs8', format: 'pem' }) as string,
      names,
      notBefore: new Date(leaf.validFrom),
      notAfter: new Date(leaf.validTo),
      issuer: commonName(leaf.issuer),
      fingerprint: leaf.fingerprint256.replaceAll(':', '').toLowerCase(),
    },
  };
}

function refused(field: CertificateProblem['field'], message: string): Judgement {
  return { kind: 'refused', problems: [{ field, message }] };
}

function readCertificates(text: string): { certificates: readonly X509Certificate[] } | { problem: string } {
  const pem = decodePem(text);
  if ('problem' in pem) return pem;
  if (pem.blocks.length === 0) return { problem: 'it has no block -----BEGIN CERTIFICATE-----' };
  const certificates: X509Certificate[] = [];
  for (const block of pem.blocks) {
    if (block.label.includes('PRIVATE KEY'))
      return { problem: 'it has a private key: that belongs into private_key' };
    if (block.label !== 'CERTIFICATE') return { problem: `a block ${block.label} does not belong here` };
    try {
      const certificate = new X509Certificate(block.text);
      void certificate.publicKey; // a key that cannot be read shows here
      certificates.push(certificate);
    } catch {
      return { problem: `block ${certificates.length + 1} is no certificate that can be read` };
    }
  }
  return { certificates };
}

function readPrivateKey(text: string): { key: KeyObject } | { problem: string } {
  const pem = decodePem(text);
  if ('problem' in pem) return pem;
  // OpenSSL writes the parameters of an EC key into a block of their own
  const blocks = pem.blocks.filter(({ label }) => label !== 'EC PARAMETERS');
  const [block] = blocks;
  if (block === undefined) return { problem: 'it has no block -----BEGIN PRIVATE KEY-----' };
  if (blocks.length > 1) return { problem: 'it has more than one block' };
  if (block.label === 'ENCRYPTED PRIVATE KEY' || block.text.includes('ENCRYPTED'))
    return { problem: 'it is encrypted: it is needed without a passphrase' };
  if (!block.label.endsWith('PRIVATE KEY')) return { problem: 'it has no private key' };
  try {
    return { key: createPrivateKey(block.text) };
  } catch {
    return { problem: 'it is no private key that can be read' };
  }
}

function judgeDates(certificate: X509Certificate, now: Date): string | undefined {
  const name = commonName(certificate.subject);
  const from = new Date(certificate.validFrom);
  const to = new Date(certificate.validTo);
  if (Number.isNaN(from.getTime()) || Number.isNaN(to.getTime())) return `${name} has no valid dates`;
  if (to <= now) return `${name} has expired, on ${to.toISOString()}`;
  if (from > now) return `${name} is not valid yet, until ${from.toISOString()}`;
  return undefined;
}

/** What signed a root is asked by nobody. */
function judgeSignature(certificate: X509Certificate, leaf: X509Certificate): string | undefined {
  if (certificate !== leaf && certificate.subject === certificate.issuer) return undefined;
  const algorithm = findRefusedAlgorithm(certificate.raw);
  if (algorithm === undefined) return undefined;
  return `${commonName(certificate.subject)} is signed by ${algorithm}, which browsers do not accept`;
}

/** A visitor's browser refuses a certificate with a critical extension that it does not know (RFC 5280 §4.2). */
function judgeExtensions(certificate: X509Certificate): string | undefined {
  const unknown = findUnknownCritical(certificate.raw);
  if (unknown === undefined) return undefined;
  return `${commonName(certificate.subject)} has ${unknown}, which browsers do not accept`;
}

function judgeNames(names: readonly string[], others: readonly string[], domain: string): string | undefined {
  if (names.length > MAX_NAMES) return `it is for more than ${MAX_NAMES} names`;
  const odd = names.find((name) => isWithin(name, domain) && (!HOST.test(name) || name.length > 253));
  if (odd !== undefined) return `it is also for ${odd.slice(0, 260)}, which is no name of a host`;
  const foreign = [...names.filter((name) => !isWithin(name, domain)), ...others];
  if (foreign.length === 0)
    return names.length > 0 ? undefined : 'it is for no name: it needs a subjectAltName, as browsers do';
  const told = foreign.slice(0, TOLD_NAMES).map((name) => name.slice(0, 260));
  const more = foreign.length - told.length;
  return `it is also for ${told.join(', ')}${more > 0 ? ` and ${more} more` : ''}, which the domain ${domain} does not have`;
}

function isWithin(name: string, domain: string): boolean {
  const plain = name.startsWith('*.') ? name.slice(2) : name;
  return plain === domain || plain.endsWith(`.${domain}`);
}

function judgeUse({ keyUsage }: X509Certificate): string | undefined {
  const uses = keyUsage as readonly string[] | undefined; // the extended ones, whatever its name says
  if (uses === undefined || uses.includes(SERVER_AUTHENTICATION)) return undefined;
  return 'it is not for servers: its extended key usage lacks serverAuth';
}
