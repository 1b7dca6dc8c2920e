// @ts-check
// Serves the challenges of a certificate authority (HTTP-01, RFC 8555 §8.3).

import { isHostName, quote } from './quote.mjs';

/** @typedef {import('../../src/edge/edge-config.ts').EdgeConfig} EdgeConfig */

/** Applies before all rules, and to suspended domains. @param {EdgeConfig} config */
export function printChallenges(config) {
  const known = config.http01.filter(
    ({ host, token, key_authorization: answer }) =>
      isHostName(host) && /^[A-Za-z0-9_-]{1,256}$/.test(token) && /^[A-Za-z0-9_.-]{1,512}$/.test(answer),
  );
  if (known.length === 0) return '';
  const answers = known.map(
    ({ host, token, key_authorization: answer }) =>
      `  if ($zf_place = ${quote(`${host}/.well-known/acme-challenge/${token}`)}) { return 200 ${quote(answer)}; }\n`,
  );
  return `  default_type text/plain;\n  set $zf_place "$host$uri";\n${answers.join('')}`;
}
