// Decisions about certificates: which are accepted, which names are ordered, when they are renewed.

import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import {
  backoffIn,
  certificateStatus,
  nextLookIn,
  nextRenewal,
  renewalIn,
} from '../../src/edge/certificates/certificate-status.ts';
import { decodeAlternativeNames, decodePem } from '../../src/edge/certificates/decode-certificate.ts';
import { judgeCertificate } from '../../src/edge/certificates/judge-certificate.ts';
import { areCovered, planHosts, planWildcards } from '../../src/edge/certificates/plan-names.ts';
import { type Issued, makeCertificate, makeChain } from '../support/certificates/make-certificate.ts';

const DOMAIN = 'shop.example';
const DAY_MS = 86_400_000;
const NO_ROOTS: ReadonlySet<string> = new Set();

let chain: { root: Issued; middle: Issued; leaf: Issued };

beforeAll(async () => {
  chain = await makeChain([DOMAIN, `*.${DOMAIN}`]);
});

function judge(certificate: string, privateKey: string, now = new Date()) {
  return judgeCertificate({ certificate, privateKey, domain: DOMAIN, now, roots: NO_ROOTS });
}

/** Returns the messages of the refusal, each preceded by its field. */
function told(certificate: string, privateKey: string, now?: Date): string {
  const judgement = judge(certificate, privateKey, now);
  if (judgement.kind === 'accepted') return 'accepted';
  return judgement.problems.map(({ field, message }) => `${field}: ${message}`).join('; ');
}

const whole = () => chain.leaf.pem + chain.middle.pem + chain.root.pem;

async function toldOf(wanted: Parameters<typeof makeCertificate>[0]): Promise<string> {
  const leaf = await makeCertificate({ names: [DOMAIN], ...wanted });
  return told(leaf.pem, leaf.key);
}

describe('a certificate', () => {
  it('is accepted with its key and its chain, and the root is removed from what edges send', () => {
    const judgement = judge(whole(), chain.leaf.key);
    if (judgement.kind === 'refused') throw new Error(JSON.stringify(judgement.problems));
    const { judged } = judgement;
    expect(judged.names).toEqual([DOMAIN, `*.${DOMAIN}`]);
    expect(judged.issuer).toBe('Test Intermediate');
    expect(judged.chain.match(/BEGIN CERTIFICATE/g)).toHaveLength(2);
    expect(judged.fingerprint).toMatch(/^[0-9a-f]{64}$/);
    expect(judged.privateKey).toMatch(/^-----BEGIN PRIVATE KEY-----/);
  });

  it('may be followed by its chain in any order', () => {
    const given = chain.leaf.pem + chain.root.pem + chain.middle.pem;
    expect(told(given, chain.leaf.key)).toBe('accepted');
  });

  it('does not need a root that browsers have', () => {
    const judging = { privateKey: chain.leaf.key, domain: DOMAIN, now: new Date() };
    const certificate = chain.leaf.pem + chain.middle.pem;
    const roots = new Set(['CN=Test Root']);
    expect(judgeCertificate({ ...judging, certificate, roots }).kind).toBe('accepted');
  });

  it("without its issuer's certificate is rejected", () => {
    expect(told(chain.leaf.pem, chain.leaf.key)).toBe(
      'certificate: the certificate of the issuer of shop.example is missing: append the intermediate certificates',
    );
    expect(told(chain.leaf.pem + chain.middle.pem, chain.leaf.key)).toMatch(
      /issuer of Test Intermediate is missing/,
    );
  });

  it('with an unrelated certificate after it is rejected', async () => {
    const stray = await makeCertificate({ name: 'Stray', isAuthority: true });
    expect(told(whole() + stray.pem, chain.leaf.key)).toMatch(
      /Stray is not part of the first certificate's chain/,
    );
  });

  it('whose issuer is not an authority is rejected', async () => {
    const issuer = await makeCertificate({ name: 'Nobody', issuer: chain.root });
    const leaf = await makeCertificate({ names: [DOMAIN], issuer });
    expect(told(leaf.pem + issuer.pem + chain.root.pem, leaf.key)).toMatch(
      /Nobody is not the certificate of an/,
    );
  });

  it("with another certificate's key is rejected, at the key", async () => {
    const other = await makeCertificate({ names: [DOMAIN] });
    expect(told(whole(), other.key)).toMatch(/^private_key: it is not the key of the first certificate/);
  });

  it('that has expired or is not yet valid is rejected, also within the chain', async () => {
    const later = new Date(Date.now() + 90 * DAY_MS);
    expect(told(whole(), chain.leaf.key, later)).toMatch(/certificate: shop.example has expired/);
    expect(told(whole(), chain.leaf.key, later)).toMatch(/Test Intermediate has expired/);
    expect(told(whole(), chain.leaf.key, new Date(Date.now() - 2 * DAY_MS))).toMatch(/is not valid yet/);
  });

  it("for other domains' names is rejected, and these are listed", async () => {
    expect(await toldOf({ names: [DOMAIN, 'other.example', 'shop.example.org'] })).toBe(
      'certificate: it is also for other.example, shop.example.org, which are not in the domain shop.example',
    );
    expect(await toldOf({ names: ['xshop.example'] })).toMatch(/also for xshop.example/);
    const many = Array.from({ length: 5 }, (_, i) => `www${i}.other.example`);
    expect(await toldOf({ names: many })).toMatch(/ and 2 more, which/);
  });

  it('for no name, or for more than a hundred, is rejected', async () => {
    expect(await toldOf({ names: [], name: DOMAIN })).toMatch(/it has no names/);
    const many = Array.from({ length: 101 }, (_, i) => `www${i}.${DOMAIN}`);
    expect(await toldOf({ names: many })).toMatch(/more than 100 names/);
  });

  it('has an RSA key of 2048 to 8192 bits, or one on P-256, P-384 or P-521', async () => {
    for (const kind of ['P-256', 'P-384', 'P-521', { rsa: 2048 }] as const)
      expect([kind, await toldOf({ kind })]).toEqual([kind, 'accepted']);
    expect(await toldOf({ kind: { rsa: 1024 } })).toMatch(
      /must have 2048 to 8192 bits, but this one has 1024/,
    );
  });

  it('with a key that browsers do not accept is rejected: DSA, Ed25519', async () => {
    const pem = (name: string) => readFileSync(`fixtures/certificates/dsa.${name}`, 'utf8');
    expect(told(pem('crt'), pem('key'))).toMatch(/browsers do not accept keys of type dsa/);
    expect(await toldOf({ kind: 'ed25519' })).toMatch(/browsers do not accept keys of type ed25519/);
  });

  it('with a critical extension unknown to browsers is rejected, anywhere in the chain', async () => {
    expect(await toldOf({ critical: ['1.3.6.1.4.1.55555.1'] })).toMatch(
      /shop\.example has the unknown critical extension 1\.3\.6\.1\.4\.1\.55555\.1, which browsers/,
    );
    expect(await toldOf({ critical: ['2.999.7'] })).toMatch(/unknown critical extension 2\.999\.7,/);
    expect(await toldOf({ critical: ['1.3.6.1.4.1.11129.2.4.3'] })).toMatch(/the precertificate extension/);
    const many = Array.from({ length: 101 }, (_, at) => `1.3.6.1.4.1.55555.${at + 1}`);
    expect(await toldOf({ uncritical: many })).toMatch(/more than 100 extensions/);
    const root = await makeCertificate({ name: 'Root', isAuthority: true });
    const middle = await makeCertificate({
      name: 'Middle',
      isAuthority: true,
      issuer: root,
      critical: ['1.2.3.4'],
    });
    const leaf = await makeCertificate({ names: [DOMAIN], issuer: middle });
    expect(told(leaf.pem + middle.pem + root.pem, leaf.key)).toMatch(
      /Middle has the unknown critical extension 1\.2\.3\.4/,
    );
  });

  it('may have unknown non-critical extensions, and critical ones that browsers know', async () => {
    expect(await toldOf({ uncritical: ['1.3.6.1.4.1.55555.1'], critical: ['2.5.29.32'] })).toBe('accepted');
  });

  it('that is signed with SHA-1 is rejected', async () => {
    expect(await toldOf({ kind: { rsa: 2048 }, hash: 'SHA-1' })).toMatch(
      /is signed with SHA-1 with RSA, which browsers do not accept/,
    );
    for (const hash of ['SHA-384', 'SHA-512'] as const) expect(await toldOf({ hash })).toBe('accepted');
  });

  it('that is not for servers is rejected', async () => {
    expect(await toldOf({ usage: '1.3.6.1.5.5.7.3.2' })).toMatch(/lacks serverAuth/);
    expect(await toldOf({ usage: '1.3.6.1.5.5.7.3.1' })).toBe('accepted');
  });

  it('that is not PEM is rejected, with a message per field', () => {
    expect(told('x', 'y')).toBe(
      'private_key: it has no -----BEGIN PRIVATE KEY----- block; certificate: it has no -----BEGIN CERTIFICATE----- block',
    );
    expect(told(chain.leaf.key, chain.leaf.key)).toMatch(
      /contains a private key, which belongs in private_key/,
    );
    expect(told(whole(), chain.leaf.pem)).toBe('private_key: it contains no private key');
    const broken = whole().replace(/\n[A-Za-z0-9+/]{20}/, '\nAAAAAAAAAAAAAAAAAAAA');
    expect(told(broken, chain.leaf.key)).toMatch(/^certificate: /);
    const encrypted = chain.leaf.key.replaceAll('PRIVATE', 'ENCRYPTED PRIVATE');
    expect(told(whole(), encrypted)).toMatch(/it is encrypted/);
  });
});

describe('PEM', () => {
  it('with more than ten blocks or 64 KiB is rejected before it is parsed', () => {
    const block = '-----BEGIN CERTIFICATE-----\nAA==\n-----END CERTIFICATE-----\n';
    expect(decodePem(block.repeat(11))).toEqual({ problem: 'it has more than 10 blocks' });
    expect(decodePem(block.repeat(10))).toMatchObject({ blocks: { length: 10 } });
    expect(decodePem('x'.repeat(65_537))).toEqual({ problem: 'it has more than 64 KiB' });
    expect(decodePem('-----BEGIN '.repeat(5000))).toEqual({ problem: 'a BEGIN line is incomplete' });
    expect(decodePem('-----BEGIN A-----\nAA==')).toEqual({ problem: 'the line -----END A----- is missing' });
    expect(decodePem(block.replace('AA==', '!'))).toEqual({ problem: 'a block is not base64' });
  });
});

describe('alternative names', () => {
  it('are read in lower case, and a quoted name is not split in two', () => {
    const { names, others } = decodeAlternativeNames(
      'DNS:A.example, DNS:"x, DNS:b.example", IP Address:192.0.2.1',
    );
    expect(names).toEqual(['a.example']);
    expect(others).toEqual(['DNS:"x, DNS:b.example"', 'IP Address:192.0.2.1']);
  });
});

describe('the names of an order', () => {
  it('are the apex, the wildcard below it, and one per deeper proxied level', () => {
    const levels = ['shop.example', 'api.shop.example', 'eu.api.shop.example', 'example'];
    expect(planWildcards(DOMAIN, levels)).toEqual({
      names: ['shop.example', '*.shop.example', '*.api.shop.example', '*.eu.api.shop.example'],
      left: [],
    });
  });

  it('are at most a hundred, starting with the shortest, and omitted ones are listed', () => {
    const levels = Array.from({ length: 120 }, (_, i) => `n${i}.${i % 2 ? 'deep.' : ''}shop.example`);
    const { names, left } = planWildcards(DOMAIN, levels);
    expect(names).toHaveLength(100);
    expect(left).toHaveLength(22);
    expect(left.every(({ name, why }) => name.includes('.deep.') && why === 'too_many')).toBe(true);
  });

  it('contain only letters, digits and hyphens', () => {
    expect(planWildcards(DOMAIN, ['a_b.shop.example']).left).toEqual([
      { name: '*.a_b.shop.example', why: 'characters' },
    ]);
  });

  it('for a domain with external DNS are the proxied ones, without wildcards', () => {
    expect(planHosts(['www.shop.example', '*.shop.example', 'shop.example']).names).toEqual([
      'shop.example',
      'www.shop.example',
    ]);
  });

  it('are covered by a wildcard at their level', () => {
    expect(areCovered(['a.shop.example', '*.shop.example'], ['*.shop.example'])).toBe(true);
    expect(areCovered(['shop.example'], ['*.shop.example'])).toBe(false);
    expect(areCovered(['*.a.shop.example'], ['*.shop.example'])).toBe(false);
  });
});

describe('renewal', () => {
  const lifetime = { notBefore: new Date(0), notAfter: new Date(90 * DAY_MS) };

  it('is at two thirds of the lifetime, or up to a twentieth earlier', () => {
    expect(nextRenewal(lifetime, 0)).toEqual(new Date(60 * DAY_MS));
    expect(nextRenewal(lifetime, 1)).toEqual(new Date(55.5 * DAY_MS));
  });

  it('is within the window that the authority suggests, also after it has passed', () => {
    const window = { start: new Date(10 * DAY_MS), end: new Date(12 * DAY_MS) };
    expect(renewalIn(window, lifetime, 0.5)).toEqual(new Date(11 * DAY_MS));
    expect(renewalIn({ start: window.end, end: window.start }, lifetime, 0.9)).toEqual(window.end);
    const late = { start: new Date(95 * DAY_MS), end: new Date(99 * DAY_MS) };
    expect(renewalIn(late, lifetime, 0.5).getTime()).toBeLessThan(lifetime.notAfter.getTime());
  });

  it('is requested again when the authority says, between an hour and a day', () => {
    expect([undefined, 0, 7_200_000, 10 * DAY_MS].map(nextLookIn)).toEqual([
      21_600_000, 3_600_000, 7_200_000, 86_400_000,
    ]);
  });

  it('is retried less and less often after failures, finally once a day', () => {
    const minutes = [1, 2, 3, 4, 9, 1000].map((failures) => backoffIn(failures, 0) / 60_000);
    expect(minutes).toEqual([5, 15, 45, 135, 1440, 1440]);
  });
});

describe('the status', () => {
  const now = new Date(100 * DAY_MS);
  const valid = { kind: 'acme' as const, notBefore: new Date(50 * DAY_MS), notAfter: new Date(140 * DAY_MS) };
  const ending = { ...valid, notAfter: new Date(101 * DAY_MS) };
  const ended = { ...valid, notAfter: now };
  const of = (certificate: typeof valid | undefined, order?: 'pending' | 'failed') =>
    certificateStatus({ certificate, order, now });

  it('shows the current certificate before the state of the next order', () => {
    expect([of(undefined), of(undefined, 'pending'), of(undefined, 'failed')]).toEqual([
      'none',
      'pending',
      'failed',
    ]);
    expect([of(valid), of(valid, 'failed'), of(ending, 'failed'), of(ended), of(ended, 'failed')]).toEqual([
      'issued',
      'issued',
      'expiring',
      'expiring',
      'failed',
    ]);
    expect(certificateStatus({ certificate: { ...valid, kind: 'custom' }, order: undefined, now })).toBe(
      'custom',
    );
  });
});
