// SPF policies (RFC 7208).

/** Terms whose evaluation needs DNS queries; at most ten are allowed (RFC 7208 §4.6.4). */
const QUERIES = /^[+\-~?]?(?:include:|a(?:[:/]|$)|mx(?:[:/]|$)|ptr(?::|$)|exists:)|^redirect=/i;
export const MOST_LOOKUPS = 10;

export type SpfAll = '~all' | '-all';

export function isSpf(text: string): boolean {
  return /^v=spf1(?: |$)/i.test(text);
}

function termsOf(policy: string): string[] {
  return policy.trim().split(/\s+/).slice(1);
}

/** Returns the terms other than `all`: mechanisms and modifiers. */
export function spfTerms(policies: readonly string[]): string[] {
  const seen = new Set<string>();
  return policies.flatMap(termsOf).filter((term) => {
    const lower = term.toLowerCase();
    if (isAll(term) || seen.has(lower)) return false;
    seen.add(lower);
    return true;
  });
}

/** Returns the qualifier of a policy: `~all` unless it is strict. */
export function spfAllOf(policies: readonly string[]): SpfAll {
  return policies.flatMap(termsOf).some((term) => term.toLowerCase() === '-all') ? '-all' : '~all';
}

/** True if a policy handles other servers like `all`, or leaves that to the policy of its `redirect=`. */
export function endsAs(policy: string, all: SpfAll): boolean {
  const terms = termsOf(policy.toLowerCase());
  return (
    terms.includes(all) ||
    (all === '~all' && !terms.some(isAll) && terms.some((term) => /^redirect=/.test(term)))
  );
}

/**
 * Merges mechanisms into existing policies, because a domain has one SPF record (RFC 7208 §3.2). A modifier comes after the
 * mechanisms. `redirect=` is dropped, because `all` would make it ineffective (§6.1): its policy is included instead.
 */
export function mergeSpf(
  policies: readonly string[],
  added: readonly string[],
  { all, without = [] }: { readonly all: SpfAll; readonly without?: readonly string[] },
): string {
  const dropped = new Set(without.map((term) => term.toLowerCase()));
  const kept = spfTerms(policies)
    .filter((term) => !dropped.has(term.toLowerCase()))
    .map((term) => term.replace(/^redirect=/i, 'include:'));
  const terms = spfTerms([['v=spf1', ...kept, ...added].join(' ')]);
  const isModifier = (term: string) => /^[a-z][\w.-]*=/i.test(term);
  const mechanisms = terms.filter((term) => !isModifier(term));
  return ['v=spf1', ...mechanisms, all, ...terms.filter(isModifier)].join(' ');
}

/** Counts the terms that need queries. The policies that they include may need more, which only the DNS knows. */
export function lookupsOf(policy: string): number {
  return termsOf(policy).filter((term) => QUERIES.test(term)).length;
}

function isAll(term: string): boolean {
  return /^[+\-~?]?all$/i.test(term);
}
