// The names of a certificate, from the text that Node makes of its subjectAltName.

interface AlternativeNames {
  /** DNS names in lower case. */
  readonly names: readonly string[];
  /** What else stands there: addresses, mailboxes. */
  readonly others: readonly string[];
}

/** A name with an odd character stands in quotes, as JSON, so that it cannot look like two (CVE-2021-44532). */
export function decodeAlternativeNames(text: string | undefined): AlternativeNames {
  const names: string[] = [];
  const others: string[] = [];
  for (const [, kind = '', quoted, plain = ''] of (text ?? '').matchAll(ENTRY)) {
    if (kind === 'DNS' && quoted === undefined) names.push(plain.toLowerCase().replace(/\.$/, ''));
    else others.push(`${kind}:${quoted ?? plain}`);
  }
  return { names: [...new Set(names)], others };
}

const ENTRY = /(?:^|, )([A-Za-z ]+):(?:("(?:[^"\\]|\\.)*")|([^,]*))/g;
