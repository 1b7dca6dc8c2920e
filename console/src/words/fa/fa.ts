// All Persian texts, with the members of the English ones.

import type { Words } from '../words.ts';
import * as common from './common.ts';
import * as domain from './domain.ts';
import * as sharing from './sharing.ts';
import * as signIn from './sign-in.ts';

export * from './account.ts';
export * from './cache.ts';
export * from './certificates.ts';
export * from './delegation.ts';
export * from './dnssec.ts';
export * from './domain-settings.ts';
export * from './domains.ts';
export * from './email.ts';
export * from './history.ts';
export * from './operator.ts';
export * from './plan.ts';
export * from './quick-add.ts';
export * from './records.ts';
export * from './reseller.ts';
export * from './rules.ts';
export * from './secondaries.ts';
export * from './templates.ts';
export * from './tickets.ts';
export * from './traffic.ts';
export * from './uptime.ts';
export * from './wallet.ts';

export const words: Words = {
  language: 'fa',
  locale: 'fa-IR',
  ...common,
  ...domain,
  ...sharing,
  ...signIn,
};
