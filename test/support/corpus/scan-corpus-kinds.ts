// What organizations of a kind have in their zones. A zone begins with what nearly all have, and goes on by its kind.

import { pick } from '../random/random-zones.ts';
import type { ZoneDraft } from './scan-corpus-draft.ts';
import { drawMailboxes, drawSender, type ProviderName, TEN_PROVIDERS } from './scan-corpus-mail.ts';
import { obscureName } from './scan-corpus-names.ts';
import {
  addCompounds,
  addDeepHost,
  addDepartment,
  addHostedMail,
  addHosts,
  addMadeUp,
  addMail,
  addMailgun,
  addOwnMail,
  addService,
  addShadows,
  addSite,
  addWildcard,
  type Setting,
} from './scan-corpus-parts.ts';
import { SERVICES } from './scan-corpus-srv.ts';

export type Kind =
  | 'small business'
  | 'shop'
  | 'SaaS'
  | 'university'
  | 'parked'
  | 'wildcards'
  | 'deep'
  | 'mail'
  | 'services'
  | 'delegated';

type Recipe = (draft: ZoneDraft, setting: Setting) => void;

export const RECIPES: Readonly<Record<Kind, Recipe>> = {
  'small business': (draft, setting) => {
    addSite(draft);
    if (draft.chance(0.65)) addMail(draft, [drawMailboxes(draft.random)]);
    else addHostedMail(draft);
    addHosts(draft, setting, ['web', 'mail', 'office', 'office', 'hosting', 'hosting', 'language'], 2, 8);
    addMadeUp(draft, 0, 2);
  },
  shop: (draft, setting) => {
    addSite(draft);
    const senders = [drawSender(draft.random), drawSender(draft.random)];
    addMail(draft, [drawMailboxes(draft.random), ...senders]);
    addHosts(draft, setting, ['shop', 'shop', 'shop', 'web', 'press', 'language'], 5, 14);
    addCompounds(draft, 0, 1);
    addMadeUp(draft, 0, 3);
  },
  SaaS: (draft, setting) => {
    addSite(draft);
    addMail(draft, [drawMailboxes(draft.random), drawSender(draft.random), drawSender(draft.random)]);
    addHosts(draft, setting, ['product', 'product', 'product', 'operations', 'web', 'language'], 10, 28);
    addCompounds(draft, 1, 5);
    if (draft.chance(0.3)) addMailgun(draft);
    if (draft.chance(0.3))
      addWildcard(draft, pick(draft.random, ['app', 'dev', 'staging', 'preview', 'tenants']));
    if (draft.chance(0.2))
      draft.cut(pick(draft.random, ['dev', 'internal', 'k8s']), 'elsewhere', 'common', setting.ns);
    addMadeUp(draft, 2, 8);
  },
  university: (draft, setting) => {
    addSite(draft);
    addOwnMail(draft, ['mx1', 'mx2', 'mx3'].slice(0, draft.between(1, 3)));
    addHosts(draft, setting, ['campus', 'campus', 'campus', 'campus', 'mail', 'press', 'operations'], 20, 45);
    for (let i = draft.between(1, 4); i > 0; i--) addDepartment(draft, setting);
    addService(draft, 'directory');
    draft.add('_kerberos TXT "REALM.EXAMPLE"', 'SRV');
    draft.add('@ NAPTR 100 10 "s" "x-eduroam:radius.tls" "" _radsec._tcp.eduroam.de.', 'apex');
    draft.add('lb._dns-sd._udp PTR @', 'SRV', 'obscure');
    addMadeUp(draft, 8, 20);
  },
  parked: (draft) => {
    draft.addresses('@', 'apex');
    if (draft.chance(0.7)) draft.add('www CNAME @', 'host');
    else addWildcard(draft, '');
    draft.add('@ TXT "v=spf1 -all"', 'apex');
    draft.add('@ MX 0 .', 'apex'); // RFC 7505
    draft.add('_dmarc TXT "v=DMARC1; p=reject"', 'mail policy');
    if (draft.chance(0.5)) draft.add('*._domainkey TXT "v=DKIM1; p="', 'wildcard');
    draft.add('_domainconnect CNAME _domainconnect.gd.domaincontrol.com.', 'verification');
  },
  wildcards: (draft, setting) => {
    addSite(draft);
    addWildcard(draft, '');
    if (draft.chance(0.4)) draft.add(`* MX 10 mail.${draft.domain}`, 'wildcard');
    addMail(draft, [drawMailboxes(draft.random)]);
    addHosts(draft, setting, ['web', 'mail', 'product'], 3, 8, 'beside a wildcard');
    addShadows(draft, setting);
    for (const name of ['dev', 'app', 'shop'].slice(0, draft.between(0, 3))) addWildcard(draft, name);
    addMadeUp(draft, 1, 3);
  },
  deep: (draft, setting) => {
    addSite(draft);
    addMail(draft, [drawMailboxes(draft.random)]);
    addCompounds(draft, 6, 14);
    for (let i = draft.between(6, 16); i > 0; i--) addDeepHost(draft, setting);
    addHosts(draft, setting, ['product', 'operations'], 4, 10);
  },
  mail: (draft, { number }) => {
    addSite(draft);
    const ten = Object.keys(TEN_PROVIDERS) as ProviderName[];
    addMail(
      draft,
      [0, 1, 2].map((i) => ten[(number * 3 + i) % ten.length] as ProviderName),
    );
    if (draft.chance(0.5)) addMailgun(draft);
  },
  services: (draft, setting) => {
    addSite(draft);
    addOwnMail(draft, ['mail']);
    const names = Object.keys(SERVICES);
    for (let i = draft.between(3, 5); i > 0; i--) addService(draft, pick(draft.random, names));
    addHosts(draft, setting, ['office', 'mail'], 2, 6);
    addMadeUp(draft, 1, 3);
  },
  delegated: (draft, setting) => {
    addSite(draft);
    addMail(draft, [drawMailboxes(draft.random)]);
    const names = ['dev', 'lab', 'email', 'cloud', 'intranet', 'staging', 'shop', 'k8s'];
    for (let i = draft.between(2, 5); i > 0; i--) {
      const how = pick(draft.random, ['elsewhere', 'elsewhere', 'below', 'same servers'] as const);
      draft.cut(pick(draft.random, names), how, 'common', setting.ns);
    }
    draft.cut(obscureName(draft.random), 'elsewhere', 'obscure', setting.ns);
    addHosts(draft, setting, ['web', 'office', 'product'], 3, 8);
  },
};
