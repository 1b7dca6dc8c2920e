// Why an operator's check of a domain would look at nothing.

import type { DnsMode, DomainStatus, Served } from './domain-status.ts';

interface State {
  readonly status: DomainStatus;
  readonly dnsMode: DnsMode;
  readonly served: Served;
}

/** Undefined: it is checked. A domain that has gone to external mode is checked while it is served. */
export function whyUnchecked({ status, dnsMode, served }: State): string | undefined {
  if (status === 'disabled' || status === 'banned') return `the domain is ${status}: it is not checked`;
  if (dnsMode === 'external' && served === 'none') return 'the domain is in external mode: it is not checked';
  return undefined;
}
