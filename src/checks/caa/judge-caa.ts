// Checks if CAA records allow a certificate authority to issue for a name (RFC 8659) with this challenge and account (RFC
// 8657).

export interface CaaRecord {
  readonly flags: number;
  readonly tag: string;
  readonly value: string;
}

/** CAA records at the name, or at the closest ancestor that has any (RFC 8659 §3). */
export type CaaEvidence =
  | { readonly kind: 'found'; readonly at: string; readonly records: readonly CaaRecord[] }
  | { readonly kind: 'none' }
  | { readonly kind: 'failed'; readonly message: string };

interface Issuer {
  /** Names that identify the authority in CAA records. */
  readonly identities: readonly string[];
  readonly method: 'dns-01' | 'http-01';
  readonly accountUrl: string | undefined;
}

const CRITICAL = 0x80;
const KNOWN_TAGS = ['issue', 'issuewild', 'iodef', 'issuemail', 'contactemail', 'contactphone', 'issuevmc'];

/** Returns why the authority will not issue for the name. Returns undefined if it may, or if the lookup failed. */
export function judgeCaa(name: string, evidence: CaaEvidence, issuer: Issuer): string | undefined {
  if (evidence.kind !== 'found' || issuer.identities.length === 0) return undefined;
  const { at, records } = evidence;
  const unknown = records.find(
    ({ flags, tag }) => (flags & CRITICAL) !== 0 && !KNOWN_TAGS.includes(tag.toLowerCase()),
  );
  if (unknown !== undefined)
    return `the CAA records at ${at} have a critical property ${unknown.tag}, which forbids all issuance: remove that record`; // RFC 8659 §4.1
  const withTag = (tag: string) => records.filter((record) => record.tag.toLowerCase() === tag);
  const wild = name.startsWith('*.') ? withTag('issuewild') : [];
  const deciding = wild.length > 0 ? wild : withTag('issue'); // RFC 8659 §4.3
  if (deciding.length === 0) return undefined;
  if (deciding.some(({ value }) => allows(value, issuer))) return undefined;
  const [identity] = issuer.identities;
  const property = wild.length > 0 ? 'issuewild' : 'issue';
  return `the CAA records at ${at} do not let ${identity} issue for ${name}: add CAA 0 ${property} "${identity}"`;
}

/**
 * Parses a value such as `letsencrypt.org; validationmethods=dns-01`. A value that cannot be parsed allows nothing (RFC
 * 8659 §4.2).
 */
function allows(value: string, { identities, method, accountUrl }: Issuer): boolean {
  const [domain = '', ...parameters] = value.split(';').map((part) => part.trim());
  if (!identities.some((identity) => identity.toLowerCase() === domain.toLowerCase())) return false;
  for (const parameter of parameters.filter((part) => part !== '')) {
    const [, tag, text = ''] = /^([A-Za-z0-9-]+)\s*=\s*([\x21-\x3a\x3c-\x7e]*)$/.exec(parameter) ?? [];
    if (tag === undefined) return false;
    if (tag.toLowerCase() === 'validationmethods' && !text.toLowerCase().split(',').includes(method))
      return false;
    if (tag.toLowerCase() === 'accounturi' && text !== accountUrl) return false;
  }
  return true;
}

/** Returns the names to query for CAA: the name without a wildcard label, and its ancestors up to the top-level domain. */
export function caaNames(name: string): string[] {
  const labels = name.replace(/^\*\./, '').split('.');
  return labels.map((_, at) => labels.slice(at).join('.'));
}
