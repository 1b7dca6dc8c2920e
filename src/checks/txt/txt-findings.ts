// Findings for a name in external mode for which two accounts have published TXT records. The codes are those of delegation
// findings. The sentences are not part of the public API.

import { type Name, printName } from '../../dns/name.ts';
import type { Finding } from '../delegation/finding.ts';

export const TXT_FINDINGS = {
  /** A domain in managed mode, or one that is leaving it, holds the name. */
  NAME_IN_USE: (): Finding => ({
    code: 'NAME_IN_USE',
    message:
      'The TXT record is there, but another account uses this name here. It passes to your account when your registrar shows the nameservers of your domain in managed mode.',
  }),
  /** Another account proved the name by TXT, and its record still exists. */
  RECORD_IN_USE: (): Finding => ({
    code: 'NAME_IN_USE',
    message:
      'The TXT record is there, but so is the record of another account that uses this name here. If the other record is not yours, remove it where you manage the DNS of this domain. The name then passes to your account.',
  }),
  TAKEOVER_WAITS: (): Finding => ({
    code: 'TAKEOVER_WAITS',
    message:
      'The TXT record is there, and the record of the account that uses this name here has been removed. A second check, at least ten minutes later, must see the same. You do not need to change anything; we check again automatically.',
  }),
  TAKEOVER_SEEN: (host: Name, value: string): Finding => ({
    code: 'TAKEOVER_SEEN',
    message: `The DNS of this domain has another account’s TXT record but no longer yours, and the next check will give that account the name. If this was not you, secure your account at your DNS provider now and add your record again: name ${printName(host).slice(0, -1)}, value ${value}`,
  }),
  CLAIM_LOST: (): Finding => ({
    code: 'CLAIM_LOST',
    message:
      'The DNS of this domain has another account’s TXT record but no longer had yours, so the name has passed to that account. Your configuration is kept here. If this was not you, add your record again and enable this domain.',
  }),
};
