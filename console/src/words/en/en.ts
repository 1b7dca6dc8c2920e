// The texts of the console in English, except those that are loaded with their screens (words/*.ts). A text that contains a
// value is a function of that value. Files have the names of the folders in screens/.

import * as account from './account.ts';
import * as cache from './cache.ts';
import * as certificates from './certificates.ts';
import * as common from './common.ts';
import * as delegation from './delegation.ts';
import * as dnssec from './dnssec.ts';
import * as domain from './domain.ts';
import * as domainSettings from './domain-settings.ts';
import * as domains from './domains.ts';
import * as history from './history.ts';
import * as plan from './plan.ts';
import * as records from './records.ts';
import * as secondaries from './secondaries.ts';
import * as sharing from './sharing.ts';
import * as signIn from './sign-in.ts';
import * as tickets from './tickets.ts';
import * as traffic from './traffic.ts';
import * as uptime from './uptime.ts';
import * as wallet from './wallet.ts';

export const en = {
  locale: 'en-GB',
  ...account,
  ...cache,
  ...certificates,
  ...common,
  ...delegation,
  ...dnssec,
  ...domain,
  ...domainSettings,
  ...domains,
  ...history,
  ...plan,
  ...records,
  ...secondaries,
  ...sharing,
  ...signIn,
  ...tickets,
  ...traffic,
  ...uptime,
  ...wallet,
};
