// The findings of a name in external mode that two accounts prove by TXT, in the words of TXT. Their codes are those of
// delegations; the sentences are not public.

import { type Name, printName } from '../../dns/name.ts';
import type { Finding } from '../delegation/finding.ts';

export const TXT_FINDINGS = {
  /** A domain in managed mode holds the name, or one that is leaving it. */
  NAME_IN_USE: (): Finding => ({
    code: 'NAME_IN_USE',
    message:
      'The TXT record is there, but another account uses this name here. It becomes yours when your registrar shows the nameservers of a domain of yours in managed mode.',
  }),
  /** Another account proved it by TXT, and its record is still there. */
  RECORD_IN_USE: (): Finding => ({
    code: 'NAME_IN_USE',
    message:
      'The TXT record is there, but so is that of another account, which uses this name here. If the other record is not yours, remove it where you manage the DNS of this domain: then the name becomes yours.',
  }),
  TAKEOVER_WAITS: (): Finding => ({
    code: 'TAKEOVER_WAITS',
    message:
      'The TXT record is there, and that of the account which uses this name here is gone. A second look must see the same, at least ten minutes later. There is nothing to change; we look again automatically.',
  }),
  TAKEOVER_SEEN: (host: Name, value: string): Finding => ({
    code: 'TAKEOVER_SEEN',
    message: `Another account has its TXT record at the DNS of this domain, yours is gone, and the name passes to that account with the next look. If this was not you, secure your account at your DNS provider now and add your record again: name ${printName(host).slice(0, -1)}, value ${value}`,
  }),
  CLAIM_LOST: (): Finding => ({
    code: 'CLAIM_LOST',
    message:
      'The DNS of this domain has the TXT record of another account, and yours was gone, so the name is that account’s. Your configuration is kept here. If this was not you, add your record again and enable this domain.',
  }),
};
