// Describes the delegation of a domain in one line.

import { domains } from '../../words/domains.ts';
import type { DelegationLine } from './domain-query.ts';

export function sentenceOf({ kind, servers, reason }: DelegationLine): string {
  const { delegation } = domains;
  if (kind === 'reason') return reason ?? '';
  if (kind === 'elsewhere') return delegation.elsewhere(servers[0] ?? '', servers.length - 1);
  return delegation[kind];
}
