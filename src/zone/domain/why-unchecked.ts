// Explains why an operator's check of a domain would not query anything.

import type { DnsMode, DomainStatus, Served } from './domain-status.ts';

interface State {
  readonly status: DomainStatus;
  readonly dnsMode: DnsMode;
  readonly served: Served;
}

/** Returns undefined if the domain is checked. A domain that changed to external mode is checked while it is served. */
export function whyUnchecked({ status, dnsMode, served }: State): string | undefined {
  if (status === 'disabled' || status === 'banned') return `the domain is ${status}: it is not checked`;
  if (dnsMode === 'external' && served === 'none') return 'the domain is in external mode: it is not checked';
  return undefined;
}
