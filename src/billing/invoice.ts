// What invoices and the ledger say of a purchase.

interface BoughtTerm {
  readonly planName: string;
  readonly days: number;
  /** As people read it: without the final dot. */
  readonly domain: string;
}

export function describeTerm({ planName, days, domain }: BoughtTerm): string {
  return `${planName} for ${days} ${days === 1 ? 'day' : 'days'}: ${domain}`;
}
