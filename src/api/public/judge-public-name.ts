// Which names anybody may have looked at: those that can be delegated by somebody else than the root.

import type { Name } from '../../dns/name.ts';
import { judgeDomainName, parseDomainName } from '../../zone/domain/domain-name.ts';

type PublicName =
  | { readonly kind: 'name'; readonly name: Name; readonly unicode: string }
  | { readonly kind: 'problem'; readonly message: string };

/**
 * `allowReserved`: names such as `example.com` and `test` (RFC 6761), which a lab may have. A name that no public zone can
 * delegate is refused, so that no walk tells other people's servers of it (RFC 7686 §2, RFC 6761 §6.3).
 */
export function judgePublicName(text: string, allowReserved: boolean): PublicName {
  const read = parseDomainName(text);
  if (read.kind === 'problem') return read;
  const refused = judgeDomainName(read.name, { allowReserved, dnsMode: 'managed' });
  return refused === undefined ? read : { kind: 'problem', message: refused.message };
}
