// Settings of the identity provider (OpenID Connect) with which people may sign in.

import { NONE, NOTHING_LISTED, setting } from './setting.ts';
import { list, matching, oneOf, onOrOff, orOff, shape } from './shapes.ts';

/** Requires TLS, because the client secret and the identities of people are sent. Loopback addresses are exempt. */
const issuer = shape(
  'a URL like https://id.example.net, without /.well-known, query and fragment',
  (text) => {
    const url = URL.canParse(text) ? new URL(text) : undefined;
    if (url === undefined || url.username !== '' || url.password !== '') return undefined;
    if (url.search !== '' || url.hash !== '' || url.pathname.includes('/.well-known')) return undefined;
    const isHere = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(url.hostname);
    return url.protocol === 'https:' || (url.protocol === 'http:' && isHere) ? text : undefined;
  },
);

const domainList = 'a comma list of email domains like example.com,example.net, or off';
const emailDomain = shape(domainList, (text) =>
  /^(?=.{1,253}$)[^\s@,*]+\.[^\s@,*]+$/.test(text) ? text.normalize('NFC').toLowerCase() : undefined,
);
const emailDomains = orOff(list(emailDomain), domainList);

/** `CLAIM=VALUE`. */
const claim = shape('CLAIM=VALUE, like groups=dns-operators', (text) => {
  const [, name, value] = /^([^\s=]{1,200})=(\S.{0,199})$/.exec(text) ?? [];
  return name === undefined || value === undefined ? undefined : { name, value };
});

export const OIDC_SETTINGS = {
  /** Undefined if people sign in with passwords only. */
  oidcIssuer: setting({
    name: 'OIDC_ISSUER',
    readers: ['API', 'CLI'],
    schema: issuer,
    byDefault: NONE,
    is: 'the issuer URL of an identity provider (OpenID Connect) with which people may sign in, like `https://id.example.net/realms/staff`',
  }),
  oidcClientId: setting({
    name: 'OIDC_CLIENT_ID',
    readers: ['API'],
    schema: matching(/^\S{1,255}$/, 'the id of a client'),
    byDefault: NONE,
    is: 'the id of the client that is registered for Zonefleet at the provider',
  }),
  oidcClientSecret: setting({
    name: 'OIDC_CLIENT_SECRET',
    readers: ['API'],
    schema: matching(/^\S{8,1024}$/, '8 to 1024 characters without spaces'),
    byDefault: NONE,
    is: 'the secret of this client',
    isSecret: true,
  }),
  oidcScopes: setting({
    name: 'OIDC_SCOPES',
    readers: ['API'],
    schema: matching(
      /^(?=(.* )?openid( |$))[\x21\x23-\x5b\x5d-\x7e ]{6,500}$/,
      'scopes separated by spaces, with openid',
    ),
    byDefault: 'openid email profile',
    is: 'the scopes to request, separated by spaces',
  }),
  oidcName: setting({
    name: 'OIDC_NAME',
    readers: ['API'],
    schema: matching(/^[^\p{C}]{1,40}$/u, 'a name of 1 to 40 characters'),
    byDefault: 'single sign-on',
    is: 'the name of the provider on the sign-in page',
  }),
  oidcLink: setting({
    name: 'OIDC_LINK',
    readers: ['API'],
    schema: emailDomains,
    byDefault: { ...NOTHING_LISTED, words: '`off`' },
    is: 'comma list of email domains: a person whose verified address is in one of them signs in to the existing account with this address',
  }),
  oidcCreate: setting({
    name: 'OIDC_CREATE',
    readers: ['API'],
    schema: emailDomains,
    byDefault: { ...NOTHING_LISTED, words: '`off`' },
    is: 'comma list of email domains: a person whose verified address is in one of them gets a new account at the first sign-in',
  }),
  oidcOperators: setting({
    name: 'OIDC_OPERATORS',
    readers: ['API'],
    schema: claim,
    byDefault: NONE,
    is: '`CLAIM=VALUE`, like `groups=dns-operators`: each sign-in and confirmation makes the account a global admin if the claim has this value, and otherwise ends these rights',
  }),
  oidcConfirm: setting({
    name: 'OIDC_CONFIRM',
    readers: ['API'],
    schema: onOrOff,
    byDefault: 'on',
    is: '`off`: sensitive changes are confirmed with the password only, for providers such as Google that do not authenticate a person again on request',
  }),
  /** `operators`: the passwords of global admins are refused. */
  oidcRequired: setting({
    name: 'OIDC_REQUIRED',
    readers: ['API'],
    schema: oneOf(['off', 'operators'], 'off or operators'),
    byDefault: 'off',
    is: '`operators`: global admins sign in with the provider only; their passwords are refused',
  }),
};
