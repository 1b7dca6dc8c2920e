// Puts certificates that were given in any order into the order in which a server sends them, from the leaf upwards.

import type { X509Certificate } from 'node:crypto';

type Chain =
  | { readonly kind: 'chain'; readonly chain: readonly X509Certificate[] }
  | { readonly kind: 'problem'; readonly message: string };

/** The first is the leaf. `roots`: the subjects of roots that browsers have themselves, so that they need not be sent; undefined: any issuer may be left out. */
export function buildChain(given: readonly X509Certificate[], roots: ReadonlySet<string> | undefined): Chain {
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
export function commonName(subject: string): string {
  const parts = subject.split('\n');
  const named = parts.find((part) => part.startsWith('CN=')) ?? parts.find((part) => part.startsWith('O='));
  return (named ?? parts.at(-1) ?? '').replace(/^[A-Z]+=/, '').slice(0, 200) || 'unnamed';
}
