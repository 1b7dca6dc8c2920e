// DMARC policies (RFC 7489).

export type DmarcPolicy = 'none' | 'quarantine' | 'reject';
const POLICIES: readonly DmarcPolicy[] = ['none', 'quarantine', 'reject'];

export function isDmarc(text: string): boolean {
  return /^v\s*=\s*DMARC1\s*(?:;|$)/.test(text); // the version is case-sensitive (RFC 7489 §6.4)
}

function tagsOf(policy: string): Map<string, string> {
  const tags = policy.split(';').flatMap((tag) => {
    const [, name, value] = /^\s*(\w+)\s*=\s*(.*?)\s*$/.exec(tag) ?? [];
    return name === undefined || value === undefined ? [] : [[name.toLowerCase(), value] as const];
  });
  return new Map(tags);
}

export function dmarcPolicyOf(policy: string): DmarcPolicy | undefined {
  const value = tagsOf(policy).get('p')?.toLowerCase();
  return POLICIES.find((each) => each === value);
}

/** Returns the first address for aggregate reports. */
export function dmarcAddressOf(policy: string): string {
  return /mailto:([^,!\s;]+)/i.exec(tagsOf(policy).get('rua') ?? '')?.[1] ?? '';
}

/** Sets the policy and the report address, and keeps the other tags. `v` and `p` come first (RFC 7489 §6.4). */
export function dmarcText(existing = '', policy: DmarcPolicy, address = dmarcAddressOf(existing)): string {
  const { v: _v, p: _p, rua: reports, ...others } = Object.fromEntries(tagsOf(existing));
  const isKept = address.trim() === dmarcAddressOf(existing); // there may be more than one address
  const rua = isKept ? reports : address.trim() === '' ? undefined : `mailto:${address.trim()}`;
  const tags = { v: 'DMARC1', p: policy, ...(rua !== undefined && { rua }), ...others };
  return Object.entries(tags)
    .map(([name, value]) => `${name}=${value}`)
    .join('; ');
}

/**
 * Returns the name at which the owner of a report address in another domain must allow the reports. Returns undefined for an address
 * in this domain, a subdomain or a parent domain, which have the same owner (RFC 7489 §7.1).
 */
export function reportConsentName(address: string, domain: string): string | undefined {
  const host = address.trim().toLowerCase().split('@')[1] ?? '';
  if (host === '' || `.${host}`.endsWith(`.${domain}`) || domain.endsWith(`.${host}`)) return undefined;
  return `${domain}._report._dmarc.${host}`;
}
