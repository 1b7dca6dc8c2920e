// Decides whether a certificate and its key may be used for a domain, and builds the chain.

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

/**
 * The first certificate is the leaf. `roots`: subjects of the roots that browsers have, which need not be sent. If it is
 * undefined, any issuer may be omitted.
 */
function buildChain(given: readonly X509Certificate[], roots: ReadonlySet<string> | undefined): Chain {
  const [leaf, ...rest] = given;
  if (leaf === undefined) return problem('it contains no certificate');
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
    if (!issuer.ca) return problem(`${commonName(issuer.subject)} is not the certificate of an authority`);
    left.delete(issuer);
    chain.push(issuer);
    last = issuer;
  }
  const [stray] = left;
  if (stray !== undefined)
    return problem(`${commonName(stray.subject)} is not part of the first certificate's chain`);
  return { kind: 'chain', chain };
}

function isSelfSigned(certificate: X509Certificate): boolean {
  return certificate.subject === certificate.issuer && certificate.verify(certificate.publicKey);
}

function problem(message: string): Chain {
  return { kind: 'problem', message };
}

/** Returns the part of a subject or issuer that describes it best. */
function commonName(subject: string): string {
  const parts = subject.split('\n');
  const named = parts.find((part) => part.startsWith('CN=')) ?? parts.find((part) => part.startsWith('O='));
  return (named ?? parts.at(-1) ?? '').replace(/^[A-Z]+=/, '').slice(0, 200) || 'unnamed';
}

export interface JudgedCertificate {
  /** PEM, starting with the leaf, without a self-signed root. */
  readonly chain: string;
  /** PEM (PKCS #8). */
  readonly privateKey: string;
  readonly names: readonly string[];
  readonly notBefore: Date;
  readonly notAfter: Date;
  readonly issuer: string;
  /** SHA-256 of the leaf in hexadecimal. */
  readonly fingerprint: string;
}

interface CertificateProblem {
  readonly field: 'certificate' | 'private_key';
  readonly message: string;
}

interface Judging {
  readonly certificate: string;
  readonly privateKey: string;
  /** Name without the trailing dot. */
  readonly domain: string;
  readonly now: Date;
  /** Subjects of the roots that browsers have. If undefined, a chain may end anywhere. */
  readonly roots: ReadonlySet<string> | undefined;
}

type Judgement =
  | { readonly kind: 'accepted'; readonly judged: JudgedCertificate }
  | { readonly kind: 'refused'; readonly problems: readonly CertificateProblem[] };

const MAX_NAMES = 100;
const SERVER_AUTHENTICATION = '1.3.6.1.5.5.7.3.1'; // RFC 5280 §4.2.1.12
/** Form of names as servers compare them: a wildcard is a whole label, and the first one (RFC 6125 §6.4.3). */
const HOST = /^(?:\*\.)?(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?\.)+[a-z0-9-]{1,63}$/;
/** Maximum number of foreign names in a message. */
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
    const message = judgeKey(certificate.publicKey); // before signatures are verified with it
    if (message !== undefined)
      return refused('certificate', `${commonName(certificate.subject)}: ${message}`);
  }
  if (!leaf.checkPrivateKey(key.key)) refuse('private_key', 'it is not the key of the first certificate');
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
  if (pem.blocks.length === 0) return { problem: 'it has no -----BEGIN CERTIFICATE----- block' };
  const certificates: X509Certificate[] = [];
  for (const block of pem.blocks) {
    if (block.label.includes('PRIVATE KEY'))
      return { problem: 'it contains a private key, which belongs in private_key' };
    if (block.label !== 'CERTIFICATE') return { problem: `a ${block.label} block is not allowed here` };
    try {
      const certificate = new X509Certificate(block.text);
      void certificate.publicKey; // throws if the key cannot be read
      certificates.push(certificate);
    } catch {
      return { problem: `block ${certificates.length + 1} is not a readable certificate` };
    }
  }
  return { certificates };
}

function readPrivateKey(text: string): { key: KeyObject } | { problem: string } {
  const pem = decodePem(text);
  if ('problem' in pem) return pem;
  // OpenSSL writes the parameters of an EC key into a separate block
  const blocks = pem.blocks.filter(({ label }) => label !== 'EC PARAMETERS');
  const [block] = blocks;
  if (block === undefined) return { problem: 'it has no -----BEGIN PRIVATE KEY----- block' };
  if (blocks.length > 1) return { problem: 'it has more than one block' };
  if (block.label === 'ENCRYPTED PRIVATE KEY' || block.text.includes('ENCRYPTED'))
    return { problem: 'it is encrypted: provide it without a passphrase' };
  if (!block.label.endsWith('PRIVATE KEY')) return { problem: 'it contains no private key' };
  try {
    return { key: createPrivateKey(block.text) };
  } catch {
    return { problem: 'it is not a readable private key' };
  }
}

function judgeDates(certificate: X509Certificate, now: Date): string | undefined {
  const name = commonName(certificate.subject);
  const from = new Date(certificate.validFrom);
  const to = new Date(certificate.validTo);
  if (Number.isNaN(from.getTime()) || Number.isNaN(to.getTime())) return `${name} has invalid dates`;
  if (to <= now) return `${name} has expired, on ${to.toISOString()}`;
  if (from > now) return `${name} is not valid yet, until ${from.toISOString()}`;
  return undefined;
}

/** The signature of a root is never verified. */
function judgeSignature(certificate: X509Certificate, leaf: X509Certificate): string | undefined {
  if (certificate !== leaf && certificate.subject === certificate.issuer) return undefined;
  const algorithm = findRefusedAlgorithm(certificate.raw);
  if (algorithm === undefined) return undefined;
  return `${commonName(certificate.subject)} is signed with ${algorithm}, which browsers do not accept`;
}

/** Browsers reject a certificate with an unknown critical extension (RFC 5280 §4.2). */
function judgeExtensions(certificate: X509Certificate): string | undefined {
  const unknown = findUnknownCritical(certificate.raw);
  if (unknown === undefined) return undefined;
  return `${commonName(certificate.subject)} has ${unknown}, which browsers do not accept`;
}

function judgeNames(names: readonly string[], others: readonly string[], domain: string): string | undefined {
  if (names.length > MAX_NAMES) return `it is for more than ${MAX_NAMES} names`;
  const odd = names.find((name) => isWithin(name, domain) && (!HOST.test(name) || name.length > 253));
  if (odd !== undefined) return `it is also for ${odd.slice(0, 260)}, which is not a host name`;
  const foreign = [...names.filter((name) => !isWithin(name, domain)), ...others];
  if (foreign.length === 0)
    return names.length > 0 ? undefined : 'it has no names: browsers require a subjectAltName';
  const told = foreign.slice(0, TOLD_NAMES).map((name) => name.slice(0, 260));
  const more = foreign.length - told.length;
  return `it is also for ${told.join(', ')}${more > 0 ? ` and ${more} more` : ''}, which are not in the domain ${domain}`;
}

function isWithin(name: string, domain: string): boolean {
  const plain = name.startsWith('*.') ? name.slice(2) : name;
  return plain === domain || plain.endsWith(`.${domain}`);
}

function judgeUse({ keyUsage }: X509Certificate): string | undefined {
  const uses = keyUsage as readonly string[] | undefined; // Node's keyUsage has the extended key usages
  if (uses === undefined || uses.includes(SERVER_AUTHENTICATION)) return undefined;
  return 'it is not for servers: its extended key usage lacks serverAuth';
}
