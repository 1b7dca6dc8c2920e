// Format of KEY_SECRETS, in the setting and in the file that `npm start` keeps.

import { list, type Shape, shape } from './shapes.ts';

interface NamedSecret {
  readonly name: string;
  readonly secret: Uint8Array;
}

const SECRET_OCTETS = 32;

const keySecret: Shape<NamedSecret> = shape(
  'a comma list of name:base64 of 32 octets, each name once',
  (text) => {
    const [, name, base64] = /^([a-z0-9-]{1,32}):([A-Za-z0-9+/]{43}=)$/.exec(text) ?? [];
    const secret = Buffer.from(base64 ?? '', 'base64');
    return name !== undefined && secret.length === SECRET_OCTETS ? { name, secret } : undefined;
  },
);

export const keySecrets = list(keySecret);
