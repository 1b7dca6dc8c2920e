// Settings of the certificate authority (ACME).

import { resolve } from 'node:path';
import { NONE, setting } from './setting.ts';
import { matching, shape } from './shapes.ts';

/**
 * Requires TLS, because an attacker on the network could impersonate the authority over plain HTTP. Loopback addresses are
 * exempt.
 */
const directory = shape('a URL like https://acme.example/directory', (text) => {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isHere = url !== undefined && /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(url.hostname);
  if (url === undefined || url.username !== '' || url.hash !== '') return undefined;
  return url.protocol === 'https:' || (url.protocol === 'http:' && isHere) ? url.href : undefined;
});

/** The key is base64url (RFC 8555 §7.3.4). */
const binding = shape('KID:KEY, the key in base64url', (text) => {
  const [, kid, hmacKey] = /^([^\s:]{1,255}):([A-Za-z0-9_-]{16,512}=*)$/.exec(text) ?? [];
  return kid === undefined || hmacKey === undefined ? undefined : { kid, hmacKey };
});

export const ACME_SETTINGS = {
  /** Undefined if no certificates are issued. */
  acmeDirectory: setting({
    name: 'ACME_DIRECTORY',
    readers: ['API', 'workers'],
    schema: directory,
    byDefault: NONE,
    is: 'the directory URL of a certificate authority (ACME). By setting it you accept the terms of the authority',
  }),
  acmeBinding: setting({
    name: 'ACME_EAB',
    readers: ['workers'],
    schema: binding,
    byDefault: NONE,
    is: '`KID:KEY`: the external account binding that some authorities require, with its key in base64url',
    isSecret: true,
  }),
  acmeContact: setting({
    name: 'ACME_CONTACT',
    readers: ['workers'],
    schema: matching(/^[^\s@,?]+@[^\s@,?]+$/, 'an email address'),
    byDefault: NONE,
    is: 'the email address of the account at the authority',
  }),
  /** Undefined for Node's own roots. */
  acmeCaFile: setting({
    name: 'ACME_CA_FILE',
    readers: ['workers'],
    schema: shape('a file', (text) => resolve(text)),
    byDefault: NONE,
    is: 'a file with root certificates (PEM) that the directory URL is verified with, for a private authority',
  }),
};
