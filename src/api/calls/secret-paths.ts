// Paths that have a secret in them: the token of an invite. In a log line, an error or a kept answer something else takes its place.

import { createHash } from 'node:crypto';

/** Decoded as the router decodes it, so that another spelling is hidden too. */
const INVITE = /^((?:\/reseller\/v1)?\/invites\/)([^/]+)/i;

/** `url` is one that the router takes: its escapes can be decoded. */
function replaceSecret(url: string, replace: (secret: string) => string): string {
  const path = url.split(/[?#]/, 1)[0] as string;
  const decoded = decodeURI(path);
  if (!INVITE.test(decoded)) return url;
  const hidden = decoded.replace(INVITE, (_, before: string, secret: string) => before + replace(secret));
  return hidden + url.slice(path.length);
}

/** For people. */
export function hideSecret(url: string): string {
  return replaceSecret(url, () => '***');
}

/** Tells one call from another. */
export function digestSecret(url: string): string {
  return replaceSecret(url, (secret) => createHash('sha256').update(secret).digest('hex'));
}
