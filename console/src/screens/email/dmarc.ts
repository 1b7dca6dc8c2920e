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
export function dmarcText(existing: string | undefined, policy: DmarcPolicy, address: string): string {
  const tags = tagsOf(existing ?? '');
  const others = [...tags].filter(([name]) => !['v', 'p', 'rua'].includes(name));
  const rua = address.trim() === '' ? [] : [['rua', `mailto:${address.trim()}`] as const];
  const all = [['v', 'DMARC1'], ['p', policy], ...rua, ...others] as const;
  return all.map(([name, value]) => `${name}=${value}`).join('; ');
}

/**
 * Returns the name at which the owner of a report address in another domain must allow the reports (RFC 7489 §7.1). Undefined if
 * the address is in this domain.
 */
export function reportConsentName(address: string, domain: string): string | undefined {
  const host = address.trim().toLowerCase().split('@')[1] ?? '';
  if (host === '' || host === domain || host.endsWith(`.${domain}`)) return undefined;
  return `${domain}._report._dmarc.${host}`;
}
